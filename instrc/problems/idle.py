"""Problems with keywords of valid schemas that do nothing, and with values that their own schema refuses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from instrc.limits.programs import NAMED_VALUES
from instrc.problems.problem import Label, Problem, Severity
from instrc.problems.schema_problem import SchemaProblem
from instrc.source import Span

Cause: TypeAlias = Literal["type", "alone", "items", "dialect", "reference", "value", "slot"]
_INSTEAD = {
    "additionalItems": "write the first items under `prefixItems` and the schema of all further ones under `items`",
    "dependencies": "write `dependentRequired` for lists of names and `dependentSchemas` for schemas",
    "nullable": 'write the type as a list: `"type": ["string", "null"]`',
    "extends": "write `allOf`",
    "disallow": "write `not`",
    "divisibleBy": "write `multipleOf`",
    "$recursiveRef": "write `$dynamicRef`",
    "$recursiveAnchor": "write `$dynamicAnchor`",
}
"""What says today what words of other dialects say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IdleKeyword(Problem):
    """A keyword of JSON Schema has no effect where it stands.

    Most keywords apply to values of one type: `maxItems` limits arrays and lets every text pass.
    Others need a second keyword: `then` needs `if`, and `minContains` needs `contains`.
    Others again belong to a different draft than the one that `$schema` names.
    What the property `default` of a mixin says is replaced by what is put into the mixin.
    No validator reports any of these.

    ```json schemas/letter.vibe.json
    { "type": "object", "properties": { "body": { "type": "string", "maxItems": 3 } } }
    ```

    Write the keyword that was intended, here `maxLength`, or remove it.
    A keyword that is listed in the settings is not reported: `[tool.instrc] keywords = ["maxItems"]`.
    """

    name: ClassVar[str] = "idle-keyword"
    severity: ClassVar[Severity] = "warning"

    word: str
    cause: Cause
    applies_to: tuple[str, ...] = ()
    """The types of the values that the keyword looks at, or the keywords one of which it needs."""
    allowed: tuple[str, ...] = ()
    """The types of the values that are allowed where it stands."""
    dialect: str = ""
    instead: str | None = None
    """The keyword that says the same of the allowed type, if there is one."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        head = f"`{self.word}` has no effect"
        match self.cause:
            case "type":
                return f"{head}: it applies to {_types(self.applies_to)}, and only {_types(self.allowed)} is allowed here"
            case "alone":
                return f"{head} without {_words(self.applies_to)}"
            case "items":
                return f"{head} unless `items` is a list"
            case "dialect":
                return f"{head}: {self.dialect} does not have it"
            case "reference":
                return f"{head}: in {self.dialect} a `$ref` stands alone"
            case "value":
                return f"{head}: its value is `true` or `false`"
            case "slot":
                return f"{head}: what is put into the mixin stands in place of its `default`"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        match self.cause:
            case "type":
                return f"write `{self.instead}`, or correct the `type`" if self.instead else "correct the `type`, or remove it"
            case "alone":
                return f"write {_words(self.applies_to)} beside it, or remove it"
            case "dialect":
                return _INSTEAD.get(self.word, "name a newer dialect in `$schema`, or remove it")
            case "reference":
                return 'write both under `"allOf": [{ "$ref": … }, { … }]`, or name a newer dialect in `$schema`'
            case "items":
                return "to refuse further items write `maxItems`, or remove it"
            case "value":
                return "write `true` or `false`, without quotes"
            case "slot":
                return "write it where the mixin is used, after `@`, or remove it"


def _types(names: tuple[str, ...]) -> str:
    """Return types as the object of a sentence: `an array`, `a number or a string`."""
    shown = ["null" if name == "null" else f"{'an' if name[0] in 'aio' else 'a'} {name}" for name in names]
    return " or ".join(shown)


def _words(names: tuple[str, ...]) -> str:
    return " or ".join(f"`{name}`" for name in names)


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
        return f"write {_types(self.types)} here, or change the `type`"


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


@dataclass(frozen=True, slots=True, kw_only=True)
class ImpossibleSchema(SchemaProblem):
    """Nothing satisfies a schema.

    Its keywords are sound one by one, but together they leave no value: a text cannot match a pattern and be shorter than that,
    and an object cannot have four properties of which one is allowed.
    A property with such a schema can never be given; if it is required, neither can the object.
    In a program it is an error, because nobody can fill in the step.

    ```json schemas/letter.vibe.json
    { "type": "object", "properties": { "body": {} }, "required": ["body"], "maxProperties": 0 }
    ```

    Correct one of the keywords.
    To forbid a property on purpose, write `false` as its schema: that is not reported.
    """

    name: ClassVar[str] = "impossible-schema"

    words: tuple[str, ...]
    """The keywords that leave nothing together."""
    names: tuple[str, ...] = ()
    """The required properties that it is about."""
    endless: bool = False
    """Whether each value had to hold another one of its kind."""
    others: tuple[Span, ...] = ()
    """Where the other keywords are written."""
    inside: str = ""
    """The place in the schema of a step, as a JSON Pointer, where the keywords come from more than one place."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        where = f" at `{self.inside}`" if self.inside else ""
        if self.endless:
            what = (
                f"each value needs a further one in {_words(self.names)}"
                if self.names
                else "each value needs a further one inside"
            )
            return f"nothing satisfies this schema{where}: {what}, without end"
        if len(self.words) == 1:
            return f"nothing satisfies this schema{where}: its `{self.words[0]}` excludes every value"
        shown = ", ".join(f"`{word}`" for word in self.words[:-1]) + f" and `{self.words[-1]}`"
        about = f" (of `{'`, `'.join(self.names)}`)" if 0 < len(self.names) <= NAMED_VALUES else ""
        return f"nothing satisfies this schema{where}: {shown} exclude each other{about}"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        if self.endless:
            return "remove the name from `required`, or allow `null` there"
        if self.words == ("pattern",):
            return "write the pattern without `/` around it"
        if self.words == ("oneOf",):
            return "each value that satisfies one of its schemas satisfies another one too: write `anyOf`"
        return "correct one of them"

    @property
    def labels(self) -> tuple[Label, ...]:
        """Other places that belong to the problem."""
        return tuple(Label(span, "together with this") for span in self.others)
