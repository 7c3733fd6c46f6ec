"""The problem of a keyword that has no effect."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from instrc.problems.problem import Problem, Severity
from instrc.problems.wording import one_of, types_in_words

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
    The schema of `default` in a mixin is replaced by the instruction that fills this slot.
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
        """One short sentence: the way out."""
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
