"""Problems with JSON Schemas and the references in them, wherever the schema comes from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from instrc.problems.problem import Label, Problem
from instrc.source import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class UnresolvedReference(Problem):
    """A reference leads nowhere.

    `$ref` and `aug:` references name a vibe of the registry, or a part of one after `#`.
    There is no such vibe, or it has no such part.

    ```json schemas/letter.vibe.json
    { "type": "object", "properties": { "tone": { "$ref": "aug:instructions/tone" } } }
    ```

    Check the spelling: a path is written exactly as the folders and files below a registry root,
    without `.vibe.json`, and a version goes after a colon.
    If the vibe lies in another folder, make that folder a root with `--root` or in `[tool.instrc] roots`.
    """

    name: ClassVar[str] = "unresolved-reference"

    reference: str
    nearest: tuple[str, ...] = ()

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"the reference `{self.reference}` leads nowhere"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return did_you_mean(self.nearest)


@dataclass(frozen=True, slots=True, kw_only=True)
class ForbiddenReference(Problem):
    """A reference points to a place that the compiler does not read.

    Only vibes below the roots of the registry (`aug:…`) and parts of the same file (`#…`) may be referred to.
    Nothing is fetched from a network, and no spelling of a path leads out of the roots: not `..`, not an absolute path,
    not a symbolic link to another folder.

    ```json schemas/letter.vibe.json
    { "type": "object", "properties": { "sender": { "$ref": "https://example.org/person.json" } } }
    ```

    Save a copy of the schema as a vibe below one of the roots and refer to that.
    """

    name: ClassVar[str] = "forbidden-reference"

    reference: str
    reason: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"the reference `{self.reference}` is not allowed: {self.reason}"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "refer to a vibe of the registry as `aug:path/name`, or to a part of the same file as `#…`"


@dataclass(frozen=True, slots=True, kw_only=True)
class AmbiguousFragment(Problem):
    """A name after `#` fits several places.

    A fragment that is neither a JSON Pointer nor an `$anchor` names a property, which must be the only one of that name
    in the whole vibe.

    ```json schemas/letter.vibe.json
    {
      "type": "object",
      "properties": {
        "sender": { "type": "object", "properties": { "name": { "type": "string" } } },
        "reader": { "type": "object", "properties": { "name": { "type": "string" } } },
        "signed": { "$ref": "#name" }
      }
    }
    ```

    Write the JSON Pointer of the place that is meant, here `#/properties/sender/properties/name`,
    or give that place an `$anchor`.
    """

    name: ClassVar[str] = "ambiguous-fragment"

    reference: str
    pointers: tuple[str, ...]
    """JSON Pointers of the places that fit, in order."""
    places: tuple[Span, ...] = ()
    """Where they stand, as far as it is known."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"the reference `{self.reference}` fits {len(self.pointers)} properties"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "write a JSON Pointer: " + " or ".join(f"`#{pointer}`" for pointer in self.pointers[:3])

    @property
    def labels(self) -> tuple[Label, ...]:
        """Other places that belong to the problem."""
        return tuple(Label(place, "fits") for place in self.places[:5])


@dataclass(frozen=True, slots=True, kw_only=True)
class TooLarge(Problem):
    """Something is larger than the limit that keeps the compiler quick and small.

    Sources, vibes and composed schemas each have a limit, far above what a model could use.

    ```aug letter.aug
    const text = @{ type: "object", properties: { body: { type: "string" } } };
    ```
    ```toml pyproject.toml
    [tool.instrc]
    limits = { source = 40 }
    ```

    Split the file, or raise the limit under `[tool.instrc] limits`.
    """

    name: ClassVar[str] = "too-large"

    what: str
    """What is too large, as the subject of a sentence: `the source`, `the composed schema`."""
    limit: int
    unit: str
    """What is counted, in the plural: `bytes`, `nodes`, `levels`."""
    size: int | None = None
    """How much there is; `None` where counting stopped at the limit."""
    setting: str | None = None
    """The key under `[tool.instrc] limits` that raises the limit."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        if self.size is None:
            return f"{self.what} has over {self.limit:,} {self.unit}"
        return f"{self.what} has {self.size:,} {self.unit}, over the limit of {self.limit:,}"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        if self.setting is None:
            return None
        return f"split it, or raise the limit: `[tool.instrc] limits = {{ {self.setting} = … }}`"


@dataclass(frozen=True, slots=True, kw_only=True)
class InvalidSchema(Problem):
    """A keyword of a JSON Schema has a value that it cannot have.

    ```json schemas/letter.vibe.json
    { "type": "object", "properties": { "body": { "type": "text" } } }
    ```

    Mend the keyword, here `"type": "string"`.
    The dialect is JSON Schema 2020-12; schemas that name an older draft in `$schema` are checked by that draft,
    and `nullable` of OpenAPI is understood.
    """

    name: ClassVar[str] = "invalid-schema"

    pointer: str
    """The JSON Pointer of the value that is wrong."""
    reason: str
    """A short clause, such as `'text' is not a type`."""
    nearest: tuple[str, ...] = ()

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.pointer or '/'}` is not valid in a JSON Schema: {self.reason}"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return did_you_mean(self.nearest)


def did_you_mean(names: tuple[str, ...]) -> str | None:
    """Return the hint that offers the nearest names, if there are any."""
    if not names:
        return None
    *others, last = (f"`{name}`" for name in names)
    return f"did you mean {', '.join(others) + ' or ' if others else ''}{last}?"
