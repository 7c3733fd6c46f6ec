"""Problems with JSON Schemas and the references in them, wherever the schema comes from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from instrc.problems.edits import renamings
from instrc.problems.problem import Fix, Label, Problem, Severity
from instrc.problems.suggest import did_you_mean
from instrc.source import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class InvalidSchema(Problem):
    """A keyword of a JSON Schema has a value that it cannot have.

    ```json schemas/letter.vibe.json
    { "type": "object", "properties": { "body": { "type": "text" } } }
    ```

    Correct the keyword, here `"type": "string"`.
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
        where = self.pointer if len(self.pointer) <= 60 else "…" + self.pointer[-59:]
        return f"`{where}` is not valid: {self.reason}" if where else f"this is not a JSON Schema: {self.reason}"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
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
    """A `$schema` names a dialect that is not read.

    Read are JSON Schema 2020-12, 2019-09, drafts 7, 6 and 4, and the schemas of OpenAPI 3.0 and 3.1.
    A schema without `$schema` counts as 2020-12.

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
        return f"the dialect `{self.uri}` is not known"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "name a dialect that is read, as `https://json-schema.org/draft/2020-12/schema`, or leave `$schema` out"


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where a keyword was written: a document, a JSON Pointer in it, and the value there in short.

    It is shown by file and place where that is known.
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
class Contradiction(Problem):
    """Two schemas that must hold together leave nothing.

    Under `allOf` and beside a `$ref` both sides count.
    Here one asks for a text and the other for an object, and nothing is both.
    Taken by itself a schema may say so: the part, such as an optional property, is then forbidden, and the rest still stands.
    What a program composes has to be filled in by somebody, so there the same is an error, not a warning.

    ```json letter.json
    { "properties": { "body": { "allOf": [{ "type": "string" }, { "type": "object" }] } } }
    ```
    ```console
    $ instrc flatten letter.json
    ```

    Change one of the two places shown, or drop the part.
    """

    name: ClassVar[str] = "contradiction"

    left: Origin
    right: Origin
    fatal: bool = False
    """It stands in the way of a program."""

    @property
    def severity(self) -> Severity:  # type: ignore[override]  # it weighs more in one place than in another
        """A warning about a schema, an error about a program."""
        return "error" if self.fatal else "warning"

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
        found = [(self.left.at, f"this asks for {self.left.value}"), (self.right.at, f"this asks for {self.right.value}")]
        return tuple(Label(at, text) for at, text in found if at is not None and at != self.at)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosedAway(Problem):
    """A closed schema forbids a property that another one beside it describes.

    `additionalProperties: false` sees the properties written in its own schema only, not those of its neighbours under `allOf`.
    Where the property is required as well, nothing satisfies the two: in what a program composes that is an error, not a warning.

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

    Take it away and write `"unevaluatedProperties": false` beside the `allOf`: that sees all branches.
    """

    name: ClassVar[str] = "closed-away"

    key: str
    closed: Origin
    """The keyword that closes."""
    described: Origin
    """The property that is lost."""
    required: bool = False
    """Whether it is required as well, so that nothing is left."""
    fatal: bool = False
    """It stands in the way of a program."""

    @property
    def severity(self) -> Severity:  # type: ignore[override]  # it weighs more in a program, as a contradiction does
        """A warning about a schema, an error about a program in which nobody can fill in the whole."""
        return "error" if self.fatal else "warning"

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
class SlotConflict(Problem):
    """A mixin and what is put into it define one property differently.

    Both definitions then hold, one after the other, which is seldom meant.

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
    severity: ClassVar[Severity] = "warning"

    key: str
    mixin: str
    """How the mixin defines it, as JSON in short."""
    filling: str
    """How what is put in defines it."""
    applied: str = ""
    """The mixin, as it is referred to; empty if that is not known."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        mixin = f"`{self.applied}`" if self.applied else "the mixin"
        return f"{mixin} and what is put into it both define `{self.key}`: {self.mixin} and {self.filling}"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "rename one of the two"
