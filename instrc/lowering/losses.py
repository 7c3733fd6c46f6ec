"""What a lowering could not say in the target's words, as facts with their places; and the constraints that may be lost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

from instrc.jsonvalue import Json, JsonObject, pointer
from instrc.schema.vocabulary import NO_ASSERTIONS
from instrc.schema.walk import walk

WHOLE = "schema"
"""Stands for a keyword where a schema is lost with all that is in it."""
LossKind = Literal["unenforced", "part", "narrowed", "convention", "annotation", "order", "contradiction"]
"""`unenforced`: the target lets through what the schema forbids; it is said in the description and checked by `lift`.
`part`: a constraint inside of a keyword or a schema that is unenforced.
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


def constraints(schema: Json, *, falsity: bool = False) -> Iterator[tuple[str, str, Json]]:
    """Yield the constraints of a schema and their places; with `falsity` schemas that are `false`, too, under that word."""
    for path, node in walk(schema):
        if falsity and node is False:
            yield pointer(path), "false", False
        if node.__class__ is dict:
            place = pointer(path)
            yield from ((place, keyword, value) for keyword, value in node.items() if keyword not in NO_ASSERTIONS)


def mentions(schema: Json, keyword: str) -> bool:
    """Say whether a keyword stands anywhere in a schema."""
    return any(node.__class__ is dict and keyword in node for _, node in walk(schema))
