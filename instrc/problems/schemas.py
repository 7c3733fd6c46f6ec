"""Problems with JSON Schemas."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from msgspec import Struct

from instrc.problems.problem import Fix, Label, Problem, ProblemWarning, Severity, did_you_mean, listed
from instrc.problems.suggest import CHOSEN_FOR_RUNS, OF_RUNS, MisspeltWord, one_of, renamings, types_in_words
from instrc.text.source import Span

NAMED_VALUES: Final = 3
"""Maximum idle values named in a problem."""


class SchemaProblem(Problem):
    """A mistake in a schema: a warning about the schema, an error in a program that cannot work with it."""

    fatal: bool = False
    """Whether a program cannot work with the schema."""

    @property
    def severity(self) -> Severity:  # type: ignore[override]  # for all other problems the class alone determines it
        """Warning for a schema, error for a program, whose step could not be completed."""
        return "error" if self.fatal else "warning"


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
"""What to write in place of type names from other languages."""


class InvalidSchema(Problem):
    pointer: str
    """JSON Pointer to the invalid value."""
    reason: str
    """Short clause, such as `"text" is not a type`."""

    @property
    def message(self) -> str:
        where = self.pointer if len(self.pointer) <= 60 else "…" + self.pointer[-59:]
        return f"`{where}` is not valid: {self.reason}" if where else f"this is not a JSON Schema: {self.reason}"

    @property
    def hint(self) -> str | None:
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
        return renamings(self.at, self.characters.strip("\"'"), self.nearest)


class UnknownDialect(Problem):
    message = "the dialect `{uri}` is not supported"
    hint = "name a supported dialect, such as `https://json-schema.org/draft/2020-12/schema`, or leave `$schema` out"

    uri: str


class Origin(Struct, frozen=True, kw_only=True):
    """Where a keyword was written: a document, a JSON Pointer in it, and the shortened value.

    Displayed as file and place if these are known.
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


class Contradiction(SchemaProblem):
    message = "nothing satisfies both {left} and {right}"
    hint = "change one of the two"

    left: Origin
    right: Origin

    @property
    def labels(self) -> tuple[Label, ...]:
        found = [(self.left.at, f"this requires {self.left.value}"), (self.right.at, f"this requires {self.right.value}")]
        return tuple(Label(at, text) for at, text in found if at is not None and at != self.at)


class ClosedAway(SchemaProblem):
    hint = "write `unevaluatedProperties: false` beside the `{branches}` instead: it sees the properties of all branches"

    branches: str = "allOf"
    """Keyword whose branch describes the property."""
    key: str
    closed: Origin
    """Origin of the keyword that closes the object."""
    described: Origin
    """Origin of the forbidden property."""
    required: bool = False
    """Whether the property is also required, so that no value is valid."""

    @property
    def message(self) -> str:
        so = ", and it is required: nothing satisfies the two" if self.required else ""
        return f"the property `{self.key}` at {self.described} is forbidden by {self.closed}{so}"

    @property
    def labels(self) -> tuple[Label, ...]:
        found = [(self.described.at, "described here"), (self.closed.at, "closed here")]
        return tuple(Label(at, text) for at, text in found if at is not None and at != self.at)


class SlotConflict(SchemaProblem):
    hint = "rename one of the two"

    key: str
    mixin: str
    """Definition in the mixin, as shortened JSON."""
    filling: str
    """Definition in the argument, as shortened JSON."""
    applied: str = ""
    """Reference to the mixin; empty if unknown."""
    impossible: bool = False
    """Whether no value satisfies both definitions."""

    @property
    def message(self) -> str:
        mixin = f"`{self.applied}`" if self.applied else "the mixin"
        so = ": nothing satisfies the two" if self.impossible else ""
        return f"{mixin} and its argument both define `{self.key}`: {self.mixin} and {self.filling}{so}"


class ImpossibleSchema(SchemaProblem):
    marks = "others", "together with this"

    words: tuple[str, ...]
    """Keywords that together admit no value."""
    names: tuple[str, ...] = ()
    """Required properties involved."""
    others: tuple[Span, ...] = ()
    """Spans of the other keywords."""
    inside: str = ""
    """JSON Pointer into the schema of a step, where the keywords come from several places."""

    @property
    def message(self) -> str:
        where = f" at `{self.inside}`" if self.inside else ""
        if len(self.words) == 1:
            return f"nothing satisfies this schema{where}: its `{self.words[0]}` excludes every value"
        shown = ", ".join(f"`{word}`" for word in self.words[:-1]) + f" and `{self.words[-1]}`"
        about = f" (of `{'`, `'.join(self.names)}`)" if 0 < len(self.names) <= NAMED_VALUES else ""
        return f"nothing satisfies this schema{where}: {shown} exclude each other{about}"

    @property
    def hint(self) -> str | None:
        if self.words == ("pattern",):
            return "write the pattern without `/` around it"
        if self.words == ("oneOf",):
            return "every value that satisfies one of its schemas also satisfies another: write `anyOf`"
        return "correct one of them"


class RepeatedValue(ProblemWarning):
    message = "this `enum` has `{value}` twice"
    hint = "correct one of them, or remove it"

    value: str
    """The value, as shortened JSON."""


class InvalidApprovalRule(ProblemWarning):
    message = "`{word}` is not {wanted}: {follows}"

    word: str
    wanted: str
    follows: str
    """What the engine does instead, such as `no one can answer this step`."""


class FormatExcludesValue(ProblemWarning):
    hint = "correct the value, or change the `format`"

    word: str
    """`const` or `enum`."""
    value: str
    """The value, as shortened JSON."""
    format: str
    every: bool = False
    """Whether no value remains."""

    @property
    def message(self) -> str:
        so = ": no value is valid" if self.every else ""
        return f"the format `{self.format}` excludes `{self.value}` of this `{self.word}`{so}"


class RefusedDefault(ProblemWarning):
    word: str
    """Keyword that holds the value: `default`, `examples`, `example`."""
    reason: str
    """A short clause, such as `'one' is not of type 'integer'`."""
    null: bool = False
    """Whether the value is `null`."""

    @property
    def message(self) -> str:
        what = "this `default`" if self.word == "default" else "this example"
        return f"{what} is refused by its own schema: {self.reason}"

    @property
    def hint(self) -> str | None:
        if self.null and self.word == "default":
            return "allow `null` in the schema, or remove the `default`: without it the value is simply absent"
        return "correct the value or the schema"


class ExcludedValue(ProblemWarning):
    word: str
    """`const` or `enum`."""
    values: tuple[str, ...]
    """Excluded values, as shortened JSON."""
    types: tuple[str, ...]
    every: bool = False
    """Whether no value remains."""

    @property
    def message(self) -> str:
        so = ": no value is valid" if self.every else ""
        return f"`type` excludes {listed(self.values, NAMED_VALUES)} of this `{self.word}`{so}"

    @property
    def hint(self) -> str | None:
        if self.types == ("array",) and self.every and self.word == "enum":
            return "to list the values of the items, write the `enum` under `items`"
        return f"write {types_in_words(self.types)} here, or change the `type`"


class EmptyEnum(ProblemWarning):
    message = "this `enum` is empty: no value is valid"
    hint = "list the values that are allowed, or remove it"


_DEADLINES = frozenset({"timeout", "timeOut", "time_limit", "timeLimit", "deadline", "ttl", "expires", "expiresIn"})
"""Names that other systems use for a step's time limit."""


OF_PROGRAMS: Final = "is read only in a program"
"""What is wrong with an engine property in a vibe."""


class UnknownKeyword(MisspeltWord):
    severity = "warning"
    message = "`{word}` {lost}: it has no effect"

    annotating: bool = False
    """Whether it is at the top level of an annotation, where the author may have intended a property."""
    inline: bool = False
    """Whether it is at the top level of a schema written in a program."""
    lost: str = "is not a keyword of JSON Schema"
    """What is wrong with it, such as `does not say who approves` for a misspelt `x-needed`."""

    @property
    def hint(self) -> str | None:
        if self.lost == OF_PROGRAMS:
            return "remove it here, and write it where a program uses the step"
        if self.word == "x-temperature":
            return "write a number, such as `0.7`"
        if self.word in _DEADLINES:
            return 'write the deadline of a step of a person or a server with `within`: `@ { within: "P2D" }`'
        if self.word in OF_RUNS:
            return CHOSEN_FOR_RUNS
        if self.word == "optional":
            return "remove it: a property that is not named in `required` is optional"
        if self.word in {"solution", "input"}:
            return f'put the schema under `schema`: `{{ "schema": {{ … }}, "{self.word}": … }}`'
        if self.word == "output":
            return 'what a step gives back is a property: `"properties": { …, "output": { … } }`'
        if self.inline and not self.nearest:
            return f'write properties under `properties`: `@ {{ type: "object", properties: {{ {self.word}: {{ … }} }} }}`'
        if self.annotating and not self.nearest:
            return f"to describe a property write `@ {{ properties: {{ {self.word}: {{ … }} }} }}`, to fix it `A({self.word}: …)`"
        return did_you_mean(self.nearest) or "remove it, begin it with `x-`, or list it: `[tool.instrc] keywords = […]`"


class UnknownFormat(MisspeltWord):
    severity = "warning"
    message = "`{word}` is not a known format: nothing checks it"

    @property
    def hint(self) -> str | None:
        return did_you_mean(self.nearest) or "use a `pattern`, or list it: `[tool.instrc] keywords = […]`"


class SimilarProperty(MisspeltWord):
    severity = "warning"

    @property
    def message(self) -> str:
        return f"`{self.word}` becomes a new property beside `{self.nearest[0]}`"


class EmptyRange(ProblemWarning):
    message = "no value is between `{lower}: {low}` and `{upper}: {high}`"
    hint = "exchange the two bounds, or correct one of them"
    marks = "other", "the upper bound"

    lower: str
    upper: str
    low: str
    high: str
    other: Span | None = None
    """Span of the upper bound."""


class ForeignDocument(Problem):
    message = "this is {kind}, not a JSON Schema"
    hint = "{way_out}"

    kind: str
    """Kind of document, with its article: `an OpenAI tool`."""
    way_out: str


class EmptySlot(ProblemWarning):
    message = "the slot `{word}` of `{mixin}` is required but not filled"
    hint = "fill it by its name: `{ {word}: … }`"

    word: str
    mixin: str


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
"""Current equivalents of keywords from other dialects."""


class IdleKeyword(ProblemWarning):
    word: str
    cause: Cause
    applies_to: tuple[str, ...] = ()
    """Types to which the keyword applies, or keywords one of which it requires."""
    allowed: tuple[str, ...] = ()
    """Types allowed at this place."""
    dialect: str = ""
    instead: str | None = None
    """Equivalent keyword for the allowed type, if any."""

    @property
    def message(self) -> str:
        head = f"`{self.word}` has no effect"
        match self.cause:
            case "type":
                allowed = types_in_words(self.allowed)
                return f"{head}: it applies to {types_in_words(self.applies_to)}, and only {allowed} is allowed here"
            case "alone":
                return f"{head} without {one_of(self.applies_to)}"
            case "items":
                return f"{head} unless `items` is a list"
            case "dialect":
                return f"{head}: {self.dialect} does not have it"
            case "reference":
                return f"{head}: in {self.dialect} a `$ref` stands alone"
            case "value":
                return f"{head}: its value is `true` or `false`"
            case "slot":
                return f"{head}: the instruction that fills the mixin replaces its `default`"

    @property
    def hint(self) -> str | None:
        match self.cause:
            case "type":
                return f"write `{self.instead}`, or correct the `type`" if self.instead else "correct the `type`, or remove it"
            case "alone":
                return f"write {one_of(self.applies_to)} beside it, or remove it"
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
