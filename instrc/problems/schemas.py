"""Problems with JSON Schemas and the references in them, from any source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from instrc.problems.edits import renamings
from instrc.problems.problem import Fix, Label, Problem
from instrc.problems.schema_problem import SchemaProblem
from instrc.problems.suggest import did_you_mean
from instrc.source import Span

_TYPES = {
    **dict.fromkeys(("dict", "map", "record", "struct"), "write `object`"),
    **dict.fromkeys(("float", "double", "decimal"), "write `number`"),
    **dict.fromkeys(("list", "tuple", "set"), "write `array`"),
    "enum": "leave the `type` out: the `enum` alone says which values there are",
    "any": "leave the `type` out: then any value is allowed",
    **dict.fromkeys(("date", "time", "email", "uuid"), 'write `"type": "string"` and the rest as a `format`'),
    **dict.fromkeys(("datetime", "date-time"), 'write `"type": "string", "format": "date-time"`'),
    **dict.fromkeys(("url", "uri"), 'write `"type": "string", "format": "uri"`'),
    "file": 'write `"type": "string"`',
}
"""What to write in place of types of other languages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InvalidSchema(Problem):
    """A keyword of a JSON Schema has a value that is not allowed.

    ```json schemas/letter.vibe.json
    { "type": "object", "properties": { "body": { "type": "text" } } }
    ```

    Correct the keyword, here `"type": "string"`.
    The dialect is JSON Schema 2020-12; schemas that name an older draft in `$schema` are checked against that draft,
    and `nullable` of OpenAPI is understood.
    """

    name: ClassVar[str] = "invalid-schema"

    pointer: str
    """The JSON Pointer of the value that is wrong."""
    reason: str
    """A short clause, such as `"text" is not a type`."""
    nearest: tuple[str, ...] = ()

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        where = self.pointer if len(self.pointer) <= 60 else "…" + self.pointer[-59:]
        return f"`{where}` is not valid: {self.reason}" if where else f"this is not a JSON Schema: {self.reason}"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        last = self.pointer.rpartition("/")[2]
        if last == "required" and self.reason.startswith(("true", "false")):
            return 'name the required properties beside `properties`: `"required": ["NAME"]`'
        if self.characters in {'"true"', '"false"'} or self.characters in {"'true'", "'false'"}:
            return "write `true` or `false`, without quotes"
        if (word := self.characters.strip("\"'").casefold()) in _TYPES and self.reason.endswith("is not a type"):
            return _TYPES[word]
        if self.reason.endswith("is not a whole number") and word.isdecimal():
            return "write the number without quotes"
        if self.reason.endswith("is not an array"):
            return "write a list in square brackets, `[…]`"
        if self.reason.endswith("is not an object or a boolean"):
            return 'write a schema in braces: `{ "type": "string" }`, or `{ "const": … }` for one value'
        return did_you_mean(self.nearest)

    @property
    def fixes(self) -> tuple[Fix, ...]:
        """Ways out that a machine can take."""
        return renamings(self.at, self.characters.strip("\"'"), self.nearest)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownDialect(Problem):
    """A `$schema` names a dialect that is not supported.

    Supported are JSON Schema 2020-12, 2019-09, drafts 7, 6 and 4, and the schemas of OpenAPI 3.0 and 3.1.
    A schema without `$schema` is read as 2020-12.

    ```json schemas/letter.vibe.json
    { "$schema": "https://example.org/my-own-dialect", "allOf": [{ "type": "object" }] }
    ```

    Name the dialect that the schema is written in, or leave `$schema` out.
    """

    name: ClassVar[str] = "unknown-dialect"

    uri: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"the dialect `{self.uri}` is not supported"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "name a supported dialect, such as `https://json-schema.org/draft/2020-12/schema`, or leave `$schema` out"


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where a keyword was written: a document, a JSON Pointer in it, and the shortened value.

    It is shown as file and place if these are known.
    """

    uri: str
    """Absolute URI of the document; empty for the schema itself."""
    pointer: str
    value: str = ""
    at: Span | None = None

    def __str__(self) -> str:
        at = self.at
        place = f"`{self.uri}#{self.pointer}`" if at is None else f"`{at.source.name}:{at.line}:{at.column}`"
        return f"{place} ({self.value})" if self.value else place


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradiction(SchemaProblem):
    """Two schemas apply to the same value, but no value satisfies both.

    All branches of an `allOf` apply, and so do a `$ref` and the keywords beside it.
    Here one requires a text and the other an object, and no value is both.
    In a schema alone this is a warning: the part, such as an optional property, is then forbidden, and the rest stays valid.
    In a program somebody must fill in the composed schema, so there it is an error.

    ```json letter.json
    { "properties": { "body": { "allOf": [{ "type": "string" }, { "type": "object" }] } } }
    ```
    ```console
    $ instrc flatten letter.json
    ```

    Change one of the two places shown, or remove the part.
    """

    name: ClassVar[str] = "contradiction"

    left: Origin
    right: Origin

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"nothing satisfies both {self.left} and {self.right}"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "change one of the two"

    @property
    def labels(self) -> tuple[Label, ...]:
        """Other places that belong to the problem."""
        found = [(self.left.at, f"this requires {self.left.value}"), (self.right.at, f"this requires {self.right.value}")]
        return tuple(Label(at, text) for at, text in found if at is not None and at != self.at)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosedAway(SchemaProblem):
    """A closed schema forbids a property that another branch describes.

    `additionalProperties: false` sees only the properties of its own schema, not those of the other branches of an `allOf`.
    If the property is also required, no value satisfies the two schemas; in a program that is an error, not a warning.

    ```json letter.json
    {
      "allOf": [
        { "properties": { "body": { "type": "string" } }, "additionalProperties": false },
        { "properties": { "tone": { "type": "string" } } }
      ]
    }
    ```
    ```console
    $ instrc flatten letter.json
    ```

    Remove it and write `"unevaluatedProperties": false` beside the `allOf`: that keyword sees all branches.
    """

    name: ClassVar[str] = "closed-away"

    key: str
    closed: Origin
    """The keyword that closes."""
    described: Origin
    """The property that is forbidden."""
    required: bool = False
    """Whether it is also required, so that no value is valid."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        so = ", and it is required: nothing satisfies the two" if self.required else ""
        return f"the property `{self.key}` at {self.described} is forbidden by {self.closed}{so}"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "write `unevaluatedProperties: false` beside the `allOf` instead: it sees the properties of all branches"

    @property
    def labels(self) -> tuple[Label, ...]:
        """Other places that belong to the problem."""
        found = [(self.described.at, "described here"), (self.closed.at, "closed here")]
        return tuple(Label(at, text) for at, text in found if at is not None and at != self.at)


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotConflict(SchemaProblem):
    """A mixin and its argument define the same property differently.

    Both definitions then apply, which is rarely intended.
    It is an error in a program if no value satisfies both.

    ```json schemas/polite_Mixin.vibe.json
    { "type": "object", "properties": { "tone": { "type": "string" }, "default": {} } }
    ```
    ```json schemas/letter.vibe.json
    {
      "allOf": [
        { "$ref": "aug:polite_Mixin" },
        { "properties": { "default": { "type": "object", "properties": { "tone": { "enum": ["warm", "cool"] } } } } }
      ]
    }
    ```
    ```console
    $ instrc check schemas/letter.vibe.json
    ```

    Rename one of the two.
    """

    name: ClassVar[str] = "slot-conflict"

    key: str
    mixin: str
    """How the mixin defines it, as shortened JSON."""
    filling: str
    """How the argument defines it."""
    applied: str = ""
    """The reference to the mixin; empty if it is not known."""
    impossible: bool = False
    """Whether no value satisfies both."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        mixin = f"`{self.applied}`" if self.applied else "the mixin"
        so = ": nothing satisfies the two" if self.impossible else ""
        return f"{mixin} and its argument both define `{self.key}`: {self.mixin} and {self.filling}{so}"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "rename one of the two"
