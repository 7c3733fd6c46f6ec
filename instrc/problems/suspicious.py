"""Problems with valid schemas that probably do not express what their author wanted, and with documents of other kinds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from instrc.problems.misspelt import MisspeltWord
from instrc.problems.problem import Label, Problem, Severity
from instrc.problems.suggest import did_you_mean
from instrc.problems.wording import CHOSEN_FOR_RUNS, OF_RUNS
from instrc.source import Span

_DEADLINES = frozenset({"timeout", "timeOut", "time_limit", "timeLimit", "deadline", "ttl", "expires", "expiresIn"})
"""Names of other systems for the time limit of a step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownKeyword(MisspeltWord):
    """A keyword of a schema is not known.

    JSON Schema ignores unknown keywords, so a misspelt keyword has no effect, and no validator reports it.

    ```json schemas/letter.vibe.json
    { "type": "object", "properties": { "body": { "type": "string", "minLenght": 1 } } }
    ```

    Correct the spelling.
    Keywords of JSON Schema, of OpenAPI and of well-known tools are known, and those that begin with `x-`.
    List your own keywords in the settings: `[tool.instrc] keywords = ["unit"]`.
    """

    name: ClassVar[str] = "unknown-keyword"
    severity: ClassVar[Severity] = "warning"

    annotating: bool = False
    """Whether it is at the top level of an annotation, where the author may have wanted a property."""
    inline: bool = False
    """Whether it is at the top level of a schema that is written in a program."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.word}` is not a keyword of JSON Schema: it has no effect"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        if self.word in _DEADLINES:
            return 'write the deadline of a step of a person or a server with `within`: `@ { within: "P2D" }`'
        if self.word in OF_RUNS:
            return CHOSEN_FOR_RUNS
        if self.word == "optional":
            return "remove it: a property that is not named in `required` is optional"
        if self.word in {"solution", "input"}:
            return f'put the schema under `schema`: `{{ "schema": {{ … }}, "{self.word}": … }}`'
        if self.inline and not self.nearest:
            return f'write properties under `properties`: `@ {{ type: "object", properties: {{ {self.word}: {{ … }} }} }}`'
        if self.annotating and not self.nearest:
            return (
                f"to say more of a property write `@ {{ properties: {{ {self.word}: {{ … }} }} }}`, to fix it `A({self.word}: …)`"
            )
        return did_you_mean(self.nearest) or "remove it, begin it with `x-`, or list it: `[tool.instrc] keywords = […]`"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownFormat(MisspeltWord):
    """A `format` is not known.

    No validator checks a format that is not defined.

    ```json schemas/letter.vibe.json
    { "type": "object", "properties": { "date": { "type": "string", "format": "datetime" } } }
    ```

    Use a format of JSON Schema or of the OpenAPI registry, such as `date-time`, `date`, `email`, `uri` or `uuid`,
    or use a `pattern`.
    Begin the name of your own format with `x-`, or list it under `[tool.instrc] keywords`.
    """

    name: ClassVar[str] = "unknown-format"
    severity: ClassVar[Severity] = "warning"

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.word}` is not a known format: nothing checks it"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return did_you_mean(self.nearest) or "use a `pattern`, or list it: `[tool.instrc] keywords = […]`"


@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarProperty(MisspeltWord):
    """An annotation adds a property whose name is almost the name of an existing property.

    The annotation adds the new property and does not change the existing one.

    ```aug letter.aug
    Loop_Mixin(Draft) @ { properties: { iteration: { maximum: 5 } } }
    ```

    ```json schemas/draft.vibe.json
    { "type": "object", "properties": { "text": { "type": "string" } } }
    ```

    Write the name as it is spelled there, here `_iteration`, or choose one that cannot be confused with it.
    """

    name: ClassVar[str] = "similar-property"
    severity: ClassVar[Severity] = "warning"

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.word}` becomes a new property beside `{self.nearest[0]}`"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return did_you_mean(self.nearest)


@dataclass(frozen=True, slots=True, kw_only=True)
class EmptyRange(Problem):
    """A lower bound is above the upper bound, so no value of that type is valid.

    ```json schemas/letter.vibe.json
    { "type": "object", "properties": { "pages": { "minimum": 5, "maximum": 1 } } }
    ```

    Exchange the two, or correct one of them.
    """

    name: ClassVar[str] = "empty-range"
    severity: ClassVar[Severity] = "warning"

    lower: str
    upper: str
    low: str
    high: str
    other: Span | None = None
    """Where the upper bound is written."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"no value is between `{self.lower}: {self.low}` and `{self.upper}: {self.high}`"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "exchange the two bounds, or correct one of them"

    @property
    def labels(self) -> tuple[Label, ...]:
        """Other places that belong to the problem."""
        return () if self.other is None else (Label(self.other, "the upper bound"),)


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignDocument(Problem):
    """A file is named like a vibe but contains something other than a JSON Schema.

    Tools of OpenAI, of Anthropic and of MCP servers, OpenAPI documents and bare maps of properties are recognised.
    As a JSON Schema, each of them would accept every answer.

    ```json schemas/find-slot.vibe.json
    { "name": "find_slot", "description": "Find a free hour.", "input_schema": { "type": "object", "properties": {} } }
    ```

    `instrc import` converts tools to vibes; around a map of properties write `{ "type": "object", "properties": { … } }`.
    """

    name: ClassVar[str] = "foreign-document"

    kind: str
    """What it is, with its article: `an OpenAI tool`."""
    way_out: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"this is {self.kind}, not a JSON Schema"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return self.way_out


@dataclass(frozen=True, slots=True, kw_only=True)
class EmptySlot(Problem):
    """A required slot of a mixin is not filled.

    The mixin requires a property that it does not describe, so the model may write anything there.

    ```aug letter.aug
    Page_Mixin(Body)
    ```
    ```json schemas/page_Mixin.vibe.json
    { "type": "object", "properties": { "header": {}, "default": {} }, "required": ["header"] }
    ```
    ```json schemas/body.vibe.json
    { "type": "object", "properties": { "text": { "type": "string" } } }
    ```

    Fill it by its name, `Page_Mixin(Body, { header: Header })`, or remove it from `required` of the mixin.
    """

    name: ClassVar[str] = "empty-slot"
    severity: ClassVar[Severity] = "warning"

    word: str
    mixin: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"the slot `{self.word}` of `{self.mixin}` is required but not filled"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return f"fill it by its name: `{{ {self.word}: … }}`"
