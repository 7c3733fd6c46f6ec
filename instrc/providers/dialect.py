"""The dialect of a target: what it accepts, and constants that several targets share."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Literal, NamedTuple

from msgspec import Struct, field, structs

from instrc.text.jsontext import loads
from instrc.text.jsonvalue import Json, JsonObject, at, pointer


def tool_message() -> Json:
    """Return the message with a result in the format of OpenAI and compatible providers."""
    return {"role": "tool", "tool_call_id": "@id", "content": "@text"}


class Spelling(Struct, frozen=True, kw_only=True):
    """Differences in spelling between a target's payload and JSON Schema."""

    capitals: bool = False
    """Whether type names are upper case."""
    nullable: bool = False
    """Whether null is only written as `nullable: true` next to another type."""
    inputs: frozenset[str] = frozenset()
    """Types of inputs, where the root's properties replace the schema: each has a type and a description.

    Optional ones are `nullable`.  Empty if the schema itself is sent.
    """


class Limits(Struct, frozen=True, kw_only=True):
    """Limits beyond which a request is refused; `None` if unknown."""

    properties: int | None = None
    """Maximum properties of all objects in one schema."""
    depth: int | None = None
    """Maximum nesting of objects and arrays, the root included."""
    enum_values: int | None = None
    """Maximum values of all enums in one schema."""
    long_enum: tuple[int, int] | None = None
    """An enum with more strings than the first number may hold at most the second number of characters."""
    items: int | None = None
    """Maximum sum of `maxItems` in one schema."""
    characters: int | None = None
    """Maximum total characters of property names, definition names, enum values and constants in one schema."""
    description: int | None = None
    """Maximum characters of a tool's description."""
    tools: int | None = None
    """Maximum number of tools in one request, strict or not."""
    strict_tools: int | None = None
    """Maximum number of strict tools in one request; other tools may be added."""
    optional: int | None = None
    """Maximum number of optional properties in one request."""
    unions: int | None = None
    """Maximum number of properties in one request whose own schema is a union."""


class NameRule(Struct, frozen=True, dict=True):
    """An alphabet for names: `first` and `rest` are the contents of character classes, `most` the maximum length."""

    first: str
    rest: str
    most: int
    words: frozenset[str] = frozenset()
    """Reserved names, such as the keywords of Python."""
    identifier: bool = False
    """Whether the name must be a Python identifier, which is slightly stricter than the alphabet."""

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The whole rule as a regular expression for `fullmatch`."""
        return re.compile(f"[{self.first}][{self.rest}]{{0,{self.most - 1}}}")

    @cached_property
    def refused(self) -> re.Pattern[str]:
        """A pattern for characters that are invalid after the first position."""
        return re.compile(f"(?![{self.rest}]).", re.DOTALL)

    @property
    def joint(self) -> str:
        """The separator of the parts of a name: an underscore, or nothing if that is invalid."""
        return "" if self.refused.match("_") else "_"

    def allows(self, name: str) -> bool:
        """Return whether a name is valid."""
        if name in self.words or (self.identifier and not name.isidentifier()):
            return False
        return self.pattern.fullmatch(name) is not None


Order = Literal["schema", "required-first", "hinted", "free"]
"""Property order in answers: as in `properties`; required ones first; as in `propertyOrdering`; unspecified."""


class Fact(NamedTuple):
    """A fact about a target, with its source and the date of the lookup (ISO 8601)."""

    what: str
    source: str
    date: str
    fields: tuple[str, ...] = ()
    """Fields of `Dialect` that express the fact; empty for facts that are documentation only."""


_WORDS = re.compile(r"@[a-z-]+")


class Dialect(Struct, frozen=True, kw_only=True, dict=True):
    """A target: its envelope, its rules for names, its keywords, and its spelling."""

    name: str
    title: str
    envelope: Json
    """Payload template with the placeholders `@name`, `@description`, `@schema` or `@schema-text`, and `@map`."""
    plain: Json = None
    """Envelope without strictness, used when a budget of the strict one is exceeded; `None` if there is none."""
    example: Json = None
    """Template of one example in `@examples`, with the placeholders `@value` and `@request`; `None` if unsupported."""
    where: tuple[str | int, ...] = ()
    """Path of the schema in the envelope."""
    tool: bool = True
    """Whether the payload is a tool; otherwise it is a response format."""
    result: Json = field(default_factory=tool_message)
    """Template of the message with the result of a call.

    Its placeholders are `@id`, `@name`, `@text`, `@words` (a text that is never empty), `@json`, `@object`,
    and for errors `@error` (true) or `@status` (`error`).
    """
    tool_name: NameRule
    key: NameRule | None = None
    """Rule for property keys; `None` if any key may be sent."""
    keys_at_root_only: bool = False
    structure: Literal["pass_through", "rebuild"] = "rebuild"
    """Whether a schema is passed through with new keys only, or rebuilt from the keywords that the target accepts."""
    keywords: frozenset[str] = frozenset()
    """Keywords allowed in a rebuilt payload."""
    root: Literal["any", "object", "plain"] = "plain"
    """Allowed roots: any schema; `type: object` with other keywords; `type: object` without combinators."""
    every_required: bool = False
    """Whether each property must be required, so that optional ones are nullable."""
    order: Order = "schema"
    closed: bool = True
    """Whether each object has `additionalProperties: false`."""
    maps: Literal["keep", "pairs"] = "keep"
    tuples: Literal["keep", "object"] = "keep"
    anything: Literal["keep", "text"] = "keep"
    """Form of an unconstrained value: the empty schema, or JSON text."""
    recursion: Literal["keep", "unroll", "refuse"] = "keep"
    shares: bool = False
    """Whether repeated parts of a large payload are sent once, as a definition."""
    unions: Literal["anyOf", "choice"] = "anyOf"
    """Form of unions; `choice`: without combinators, an object that names the alternative and holds its value."""
    first_keys: bool = False
    """Whether objects of one union must differ in their first key or in its value."""
    null: bool = True
    type_lists: bool = True
    enums: frozenset[str] = frozenset({"string", "integer", "number", "boolean", "null"})
    """JSON types allowed in an enum."""
    formats: frozenset[str] = frozenset()
    patterns: Literal["any", "plain", "anchored", "spelled"] = "any"
    """Accepted regular expressions: all; without look-around, back-references and `\\b`; those, enclosed in `^…$`;
    or only those that name each accepted character (no `.`, no `[^a]`, nothing that JSON escapes)."""
    lengths_beside_patterns: bool = True
    bounded: frozenset[str] = frozenset({"integer", "number"})
    """JSON types whose bounds are enforced, if keywords for bounds are accepted at all."""
    most_bound: int | None = None
    """Maximum absolute value of a numeric bound."""
    most_listed: int | None = None
    """Maximum absolute value of an integer in `enum` or `const`."""
    single_bound: int | None = None
    """Maximum lower bound of integers without an upper bound; a negative upper bound may not stand alone either."""
    other_bound: int = 10**16 - 1
    """Bound sent as the other one if it is large enough; otherwise `most_bound` is sent."""
    fine_steps: bool = True
    """Whether `multipleOf` may be a fraction with several digits and decimals, such as 0.25."""
    most_items: int | None = None
    """Maximum `maxItems`, if lower than the limit of other repetitions."""
    most_count: int | None = None
    """Maximum number of characters, items or properties in a keyword."""
    most_repeated: int | None = None
    """Maximum number of repetitions by `{n}` in a pattern."""
    most_repeated_at_once: int | None = None
    """Maximum number in one `{n}`; more repetitions are split into several."""
    empty_words: bool = True
    """Whether an enum may contain the empty string."""
    comments: bool = True
    """Whether `$comment` and `x-` keywords are sent; they are for people, not for models."""
    empty_schema: bool = True
    """Whether the schema of a tool without parameters is sent; otherwise its member of the envelope is omitted."""
    most_min_items: int | None = None
    """Maximum value of `minItems`."""
    counts_optional: bool = True
    """Whether property counts are allowed next to optional declared properties."""
    described: bool = False
    """Whether each property needs a description."""
    fold: bool = False
    """Whether answers may change the case of enum values."""
    described_inside: bool = True
    """Whether `described` also applies to properties below the root."""
    null_type: bool = True
    """Whether null may be the only type; a target that marks null next to another type has no such type."""
    null_leaves_out: bool = False
    """Whether null may be answered for an optional property of the root, which is then omitted."""
    false_items: bool = False
    """Whether `items: false` closes a tuple."""
    typed_enums: bool = True
    """Whether the values of an enum must match the type next to it, null included."""
    spelling: Spelling = field(default_factory=Spelling)
    """Spelling of the finished schema."""
    extracts_calls: bool = False
    """Whether the provider itself extracts calls from the model's text."""
    enforced: bool = True
    """Whether the target constrains decoding by the schema, or only shows the schema to the model."""
    limits: Limits = field(default_factory=Limits)
    facts: tuple[Fact, ...] = ()

    @cached_property
    def words(self) -> frozenset[str]:
        """The placeholders of the envelope."""
        return frozenset(_WORDS.findall(str(self.envelope)))

    @property
    def named(self) -> bool:
        """Whether the envelope contains the name of the tool."""
        return self.envelope != "@schema"

    @property
    def describable(self) -> bool:
        """Whether the envelope has a member for the tool's description."""
        return "@description" in self.words

    @property
    def reorders(self) -> bool:
        """Whether optional properties move in answers, so that preserving the order requires making them required."""
        return self.order in {"required-first", "hinted"}

    @property
    def rooted(self) -> bool:
        """Whether the payload contains the schema itself, so that its root can be described and checked."""
        return not self.spelling.inputs

    @property
    def budgeted(self) -> bool:
        """Whether a single schema may exceed a limit."""
        most = self.limits
        return any((most.properties, most.depth, most.enum_values, most.characters, most.optional, most.unions))

    @property
    def shown_to_model(self) -> bool:
        """Whether the model sees the schema: servers write tools into the prompt, but only compile a response format."""
        return self.tool

    @property
    def items_limit(self) -> int | None:
        """The maximum `maxItems`, if any."""
        return self.most_count if self.most_items is None else self.most_items

    def takes_step(self, step: float) -> bool:
        """Return whether numbers may be multiples of `step`; integers always may."""
        if self.fine_steps:
            return True
        decimals = 0
        while step != int(step):  # as the engine reads it, with what floats add: 0.07 has 16 digits
            step, decimals = step * 10, decimals + 1
        return decimals < 2 or step < 10


def function_tool(*, strict: bool) -> JsonObject:
    """Return the function envelope of OpenAI's Chat Completions, which many providers share."""
    function: JsonObject = {"name": "@name", "description": "@description", "parameters": "@schema", "strict": strict}
    return {"type": "function", "function": function}


WORD = NameRule("a-zA-Z0-9_-", "a-zA-Z0-9_-", 64)
IDENTIFIER = NameRule("a-zA-Z_", "a-zA-Z0-9_", 64)
PRINTABLE = NameRule(r"^\x00-\x1f\x7f\"\\", r"^\x00-\x1f\x7f\"\\", 256)
"""Names without control characters, quotes or backslashes: several decoders write keys into their grammar unescaped."""
DEFINITION_NAME = NameRule("A-Za-z0-9_", "A-Za-z0-9_.-", 64)
"""Names of definitions: llguidance refuses others, and percent-encoding breaks xgrammar and outlines-core (run 2026-11-20)."""
NUMBERS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})
SIZES = frozenset({"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"})
CORE = frozenset({"type", "enum", "anyOf", "properties", "required", "items", "description"})
STRICT = CORE | {"title", "const", "$ref", "$defs", "additionalProperties", "pattern", "format"}
FORMATS = frozenset({"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"})
PRINTABLE_KEYS = Fact(
    "no alphabet of keys is published; a line break is refused by every provider, "
    "and some decoders write quotes and backslashes unescaped into their grammar",
    "harbor#1788; outlines-core 0.2.14 and lm-format-enforcer 0.11.3, run",
    "2026-11-20",
    ("key",),
)
NOT_ENFORCED = "without `strict` the schema is only shown to the model: any keyword passes, and answers keep no order"
_RUN = "llguidance 1.9.1, xgrammar 0.2.8 and outlines-core 0.2.14, run"
_DATE = "2026-11-23"
COMMON_ESCAPES = frozenset("dDsSwWnrtvf")
"""Letters that all engines accept after a backslash, inside and outside of a class; digits they do not."""
WORD_ENDS = ("\\<", "\\>")
"""Word boundaries in the Rust engines, and needless escapes in ECMA 262."""
CLASS_OPERATIONS = ("&&", "--", "~~")
"""Class operators in the Rust engines; in ECMA 262 they list or bound characters of a class."""
ESCAPED_IN_CLASSES = ("&&", "||", "~~")
"""Signs that are escaped in a class: Python warns that each will become an operator."""
PLAIN_PATTERNS = (
    Fact(
        r"all read \d \D \s \S \w \W \n \r \t \v \f, and ASCII characters after a backslash except \< and \>; "
        r"\b, \p, \0, back-references, other letters and characters after a backslash are refused by one or read otherwise",
        _RUN,
        _DATE,
        ("patterns",),
    ),
    Fact(
        r"characters by number such as \u0041 are not escapes to RE2, so letters are sent themselves",
        "google-re2 1.1.20251105, run",
        _DATE,
        ("patterns",),
    ),
    Fact(
        "look-around, an empty class, a bare `[` in a class, and anchors inside of a pattern are refused by one",
        _RUN,
        _DATE,
        ("patterns",),
    ),
    Fact(
        "`[a-c&&b-d]` is b and c, `[a-c--b]` a and c, `[a-c~~b-d]` a and d: operations on classes",
        "outlines-core 0.2.14, run",
        _DATE,
        ("patterns",),
    ),
)
"""Fact shared by all targets that accept only patterns of this kind."""


def in_envelope(rules: Dialect, outer: Dialect) -> Dialect:
    """Return the rules of one target with the envelope of another; if the rules enforce nothing, with its plain envelope."""
    lax = not rules.enforced and outer.plain is not None
    return structs.replace(
        rules,
        envelope=outer.plain if lax else outer.envelope,
        plain=None if lax or rules.plain is None else outer.plain,
        where=outer.where,
        tool=outer.tool,
        spelling=outer.spelling,
        keywords=rules.keywords | (outer.keywords & {"nullable"}),
        null_type=outer.null_type,
        typed_enums=outer.typed_enums,
        null_leaves_out=outer.null_leaves_out,
        example=outer.example,
        empty_schema=outer.empty_schema,
        result=outer.result,
        tool_name=outer.tool_name,
        limits=structs.replace(rules.limits, description=outer.limits.description, tools=outer.limits.tools),
    )


def schema_in(payload: Json, dialect: Dialect) -> Json:
    """Return the schema in a payload; raise `LookupError` or `ValueError` if there is none."""
    result = at(payload, pointer(dialect.where))
    return loads(result) if isinstance(result, str) and dialect.where else result


def relaxed(dialect: Dialect) -> Dialect:
    """Return a target with its non-strict envelope, if it has one."""
    return dialect if dialect.plain is None else structs.replace(dialect, envelope=dialect.plain, plain=None)


def fill_envelope(envelope: Json, values: dict[str, Json]) -> Json:
    """Return the envelope with its placeholders replaced; members whose value is `None` are left out."""
    if isinstance(envelope, dict):
        filled = {key: fill_envelope(part, values) for key, part in envelope.items()}
        return {key: part for key, part in filled.items() if part is not None}
    if isinstance(envelope, list):
        return [fill_envelope(part, values) for part in envelope]
    return values.get(envelope, envelope) if isinstance(envelope, str) else envelope
