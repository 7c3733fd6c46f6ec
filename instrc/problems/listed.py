"""Problems with values in a schema: members of an `enum`, constants, defaults, examples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from instrc.limits.programs import NAMED_VALUES
from instrc.problems.problem import Problem, Severity
from instrc.problems.wording import types_in_words


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatedValue(Problem):
    """An `enum` has the same value twice.

    The second one has no effect, and some providers refuse such a list.
    Probably one of them is a slip for another value.

    ```json schemas/letter.vibe.json
    { "type": "object", "properties": { "tone": { "enum": ["warm", "formal", "warm"] } } }
    ```

    Correct one of them, or remove it.
    """

    name: ClassVar[str] = "repeated-value"
    severity: ClassVar[Severity] = "warning"

    value: str
    """The value, as shortened JSON."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"this `enum` has `{self.value}` twice"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "correct one of them, or remove it"


@dataclass(frozen=True, slots=True, kw_only=True)
class FormatExcludesValue(Problem):
    """A `const` or a member of an `enum` does not have the `format` beside it.

    Answers are checked against formats, so this value can never be given.

    ```json schemas/letter.vibe.json
    { "type": "object", "properties": { "day": { "type": "string", "format": "date", "enum": ["2026-02-30"] } } }
    ```

    Correct the value, or change the `format`.
    """

    name: ClassVar[str] = "format-excludes-value"
    severity: ClassVar[Severity] = "warning"

    word: str
    """`const` or `enum`."""
    value: str
    """The value, as shortened JSON."""
    format: str
    every: bool = False
    """Whether nothing is left."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        so = ": no value is valid" if self.every else ""
        return f"the format `{self.format}` excludes `{self.value}` of this `{self.word}`{so}"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "correct the value, or change the `format`"


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedDefault(Problem):
    """A `default` or an example is not valid by the schema that it belongs to.

    Whoever follows the example writes an answer that is refused.

    ```json schemas/letter.vibe.json
    { "type": "object", "properties": { "pages": { "type": "integer", "default": "one" } } }
    ```

    Correct the value or the schema.
    A property that may be left empty allows `null`: `"type": ["integer", "null"]`.
    """

    name: ClassVar[str] = "refused-default"
    severity: ClassVar[Severity] = "warning"

    word: str
    """The keyword that holds the value: `default`, `examples`, `example`."""
    reason: str
    """A short clause, such as `'one' is not of type 'integer'`."""
    null: bool = False
    """Whether the value is `null`."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        what = "this `default`" if self.word == "default" else "this example"
        return f"{what} is refused by its own schema: {self.reason}"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        if self.null and self.word == "default":
            return "allow `null` in the schema, or remove the `default`: it need not say that there is none"
        return "correct the value or the schema"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExcludedValue(Problem):
    """A `const` or a member of an `enum` has a type that the `type` beside it excludes.

    No value satisfies the two, so a `const` leaves nothing, and such a member of an `enum` can never be chosen.

    ```json schemas/letter.vibe.json
    { "type": "object", "properties": { "pages": { "type": "integer", "enum": ["1", "2"] } } }
    ```

    Write the value as the type requires, `1`, or change the `type`.
    """

    name: ClassVar[str] = "excluded-value"
    severity: ClassVar[Severity] = "warning"

    word: str
    """`const` or `enum`."""
    values: tuple[str, ...]
    """The values that are excluded, as shortened JSON."""
    types: tuple[str, ...]
    every: bool = False
    """Whether nothing is left."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        shown = ", ".join(f"`{value}`" for value in self.values[:NAMED_VALUES]) + (
            ", …" if len(self.values) > NAMED_VALUES else ""
        )
        so = ": no value is valid" if self.every else ""
        return f"`type` excludes {shown} of this `{self.word}`{so}"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        if self.types == ("array",) and self.every and self.word == "enum":
            return "to list the values of the items, write the `enum` under `items`"
        return f"write {types_in_words(self.types)} here, or change the `type`"


@dataclass(frozen=True, slots=True, kw_only=True)
class EmptyEnum(Problem):
    """An `enum` lists no values, so no value is valid.

    ```json schemas/letter.vibe.json
    { "type": "object", "properties": { "tone": { "type": "string", "enum": [] } } }
    ```

    List the values that are allowed, or remove the keyword.
    """

    name: ClassVar[str] = "empty-enum"
    severity: ClassVar[Severity] = "warning"

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "this `enum` is empty: no value is valid"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "list the values that are allowed, or remove it"
