"""What a lowering could not say in the target's words, as facts with their places in the schema."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from instrc.jsonvalue import Json, JsonObject

LossKind = Literal["unenforced", "part", "narrowed", "convention", "annotation", "order", "contradiction"]
"""`unenforced`: the target lets through what the schema forbids; it is said in the description and checked by `lift`.
`part`: a constraint inside of a keyword that is unenforced.
`narrowed`: some values the schema allows cannot be written.  `convention`: as that, for values nobody means:
properties an object does not declare and does not speak of, null beside a default of null.
`annotation`: a keyword without force moved into the description or left out, or a name that is sent in another spelling.
`order`: the order of answers is not kept.
`contradiction`: a property that no value satisfies is left out."""


class Loss(Struct, frozen=True, gc=False):
    """One thing of the schema that the payload does not say as it was said."""

    pointer: str
    """Where the keyword stands, as a JSON Pointer into the flat schema (`map["schema"]`)."""
    keyword: str
    value: Json
    kind: LossKind
    reason: str
    """A clause that says what became of it."""
    tool: str | None = None
    """Of several tools that are lowered together: the name of the one whose schema it is."""

    @property
    def grave(self) -> bool:
        """Whether strictness should mind: whatever changes the set of answers, save by convention, and what cannot be."""
        return self.kind in {"unenforced", "narrowed", "order", "contradiction"}

    def to_json(self) -> JsonObject:
        """Return the loss as plain JSON, for reports read by programs; `tool` is there if the loss is of one of several."""
        said: JsonObject = {
            "pointer": self.pointer,
            "keyword": self.keyword,
            "value": self.value,
            "kind": self.kind,
            "reason": self.reason,
        }
        return said if self.tool is None else {"tool": self.tool, **said}

    @staticmethod
    def of_name(own: str, sent: str) -> tuple[Loss, ...]:
        """Return the loss of a tool that is sent under another name, nothing if it keeps its own."""
        return () if own == sent else (Loss("", "name", own, "annotation", f"is sent as `{sent}`"),)

    def __str__(self) -> str:
        tool = "" if self.tool is None else f"`{self.tool}`: "
        return f"{tool}{self.pointer or '/'}: {self.keyword}: {self.reason}"
