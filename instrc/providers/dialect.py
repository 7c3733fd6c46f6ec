"""The dialect of a target: what it accepts, and constants that several targets share."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cached_property
from typing import Literal, NamedTuple

from msgspec import Struct, field, structs

from instrc.text.jsontext import loads
from instrc.text.jsonvalue import Json, JsonObject, at, pointer


def _tool_message() -> Json:
    return {"role": "tool", "tool_call_id": "@id", "content": "@text"}


class Spelling(Struct, frozen=True, kw_only=True):
    """How the payload of a target differs in spelling from JSON Schema."""

    capitals: bool = False
    """Whether the names of types are written in capitals."""
    nullable: bool = False
    """Whether null is written as `nullable: true` beside another type only."""
    inputs: frozenset[str] = frozenset()
    """The types of inputs, where the properties of the root stand for the schema: each has one, and a description.

    Optional ones are `nullable`.  None are named where the schema stands itself.
    """


class Limits(Struct, frozen=True, kw_only=True):
    """Limits beyond which a request is refused; `None` for an unknown one."""

    properties: int | None = None
    """Properties of all objects of one schema."""
    depth: int | None = None
    """Objects and arrays inside one another, the root counted."""
    enum_values: int | None = None
    """Values of all enums of one schema."""
    long_enum: tuple[int, int] | None = None
    """An enum of more strings than the first number may hold no more characters than the second."""
    items: int | None = None
    """The sum of `maxItems` in one schema."""
    characters: int | None = None
    """Names of properties and definitions, enum values and constants of one schema together."""
    description: int | None = None
    """Characters of a tool's description."""
    tools: int | None = None
    """Tools of one request, strict or not."""
    strict_tools: int | None = None
    """Strict tools of one request: others may stand beside them."""
    optional: int | None = None
    """Properties of one request that are not required."""
    unions: int | None = None
    """Properties of one request whose own schema is a union."""


class NameRule(Struct, frozen=True, dict=True):
    """An alphabet for names: `first` and `rest` are the insides of character classes, `most` the greatest length."""

    first: str
    rest: str
    most: int
    words: frozenset[str] = frozenset()
    """Reserved names, such as the keywords of Python."""
    identifier: bool = False
    """Whether Python must take the name as an identifier, which is a little less than the alphabet says."""

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The whole rule as a regular expression for `fullmatch`."""
        return re.compile(f"[{self.first}][{self.rest}]{{0,{self.most - 1}}}")

    @cached_property
    def refused(self) -> re.Pattern[str]:
        """A pattern for characters that are illegal after the first."""
        return re.compile(f"(?![{self.rest}]).", re.DOTALL)

    @property
    def joint(self) -> str:
        """The separator of the parts of a name: an underscore, or nothing where that is illegal."""
        return "" if self.refused.match("_") else "_"

    @cached_property
    def several(self) -> re.Pattern[str] | None:
        """The rule for several names, each with a line break behind it; `None` where not the alphabet alone decides."""
        broken = re.match(f"[{self.first}]|[{self.rest}]", "\n") is not None
        if self.words or self.identifier or broken:
            return None
        return re.compile(f"(?:[{self.first}][{self.rest}]{{0,{self.most - 1}}}\n)*")

    def allows_all(self, names: Collection[str]) -> bool:
        """Return whether all names are legal; one match of all is much faster than one each."""
        if self.several is None:
            return all(map(self.allows, names))
        text = "\n".join([*names, ""])
        return text.count("\n") == len(names) and self.several.fullmatch(text) is not None

    def allows(self, name: str) -> bool:
        """Return whether a name is legal."""
        if name in self.words or (self.identifier and not name.isidentifier()):
            return False
        return self.pattern.fullmatch(name) is not None


Order = Literal["schema", "required-first", "hinted", "free"]
"""How answers are ordered: as `properties`; required properties first; as `propertyOrdering`; not at all."""


class Fact(NamedTuple):
    """One thing known about a target, where it is known from, and when that was looked up (ISO date)."""

    what: str
    source: str
    date: str
    fields: tuple[str, ...] = ()
    """The fields of `Dialect` that express it; none for facts that are only for readers."""


_WORDS = re.compile(r"@[a-z-]+")


class Dialect(Struct, frozen=True, kw_only=True, dict=True):
    """A target: its envelope, its rules for names, its keywords, and its spelling of the others."""

    name: str
    title: str
    envelope: Json
    """The payload with the words `@name`, `@description`, `@schema` or `@schema-text`, `@map` where they go."""
    plain: Json = None
    """The envelope without strictness, taken when a budget of the strict one is exceeded; `None` if there is none."""
    example: Json = None
    """One example in the field for them (`@examples` of the envelope), with the words `@value` and `@request`; `None` if none."""
    where: tuple[str | int, ...] = ()
    """The path of the schema in the envelope."""
    tool: bool = True
    """Whether the payload is a tool; otherwise it is the shape of an answer."""
    result: Json = field(default_factory=_tool_message)
    """The message with the result of a call.

    The words in it are `@id`, `@name`, `@text`, `@words` (a text that is never empty), `@json`, `@object`,
    and of an error `@error` (true) or `@status` (`error`).
    """
    tool_name: NameRule
    key: NameRule | None = None
    """The rule for property keys; `None` if any key may be sent."""
    keys_at_root_only: bool = False
    structure: Literal["pass_through", "rebuild"] = "rebuild"
    """Whether a schema is carried over with new keys only, or rebuilt of the keywords the target takes."""
    keywords: frozenset[str] = frozenset()
    """Keywords that may stand in a payload that is rebuilt."""
    root: Literal["any", "object", "plain"] = "plain"
    """What the root may be: any schema; `type: object` with anything beside it; `type: object` without combinators."""
    every_required: bool = False
    """Whether each property must be required, so that optional ones are nullable."""
    order: Order = "schema"
    closed: bool = True
    """Whether each object says `additionalProperties: false`."""
    maps: Literal["keep", "pairs"] = "keep"
    tuples: Literal["keep", "object"] = "keep"
    anything: Literal["keep", "text"] = "keep"
    """How an unconstrained value is written: as the empty schema, or as JSON text."""
    recursion: Literal["keep", "unroll", "refuse"] = "keep"
    shares: bool = False
    """Whether repeated parts of a large payload are sent once, as a definition."""
    unions: Literal["anyOf", "choice"] = "anyOf"
    """`choice`: no combinators at all, so one object names the alternative and holds it."""
    first_keys: bool = False
    """Whether objects of one union must differ in their first key, or tell themselves apart by its value."""
    null: bool = True
    type_lists: bool = True
    enums: frozenset[str] = frozenset({"string", "integer", "number", "boolean", "null"})
    """JSON types that may stand in an enum."""
    formats: frozenset[str] = frozenset()
    patterns: Literal["any", "plain", "anchored", "spelled"] = "any"
    """Regular expressions taken: all; without look-around, back-references and `\\b`; those, and `^…$` around;
    or such as name each character they take (no `.`, no `[^a]`, nothing that JSON escapes)."""
    lengths_beside_patterns: bool = True
    bounded: frozenset[str] = frozenset({"integer", "number"})
    """JSON types whose bounds are enforced, where keywords of bounds are taken at all."""
    most_bound: int | None = None
    """The greatest absolute value a bound of numbers may have."""
    most_listed: int | None = None
    """The greatest absolute value of an integer that `enum` or `const` may have."""
    single_bound: int | None = None
    """The greatest lower bound of integers that may stand without an upper one; nor may a negative upper one stand alone then."""
    other_bound: int = 10**16 - 1
    """What is sent as the other one, where it is no less; else `most_bound` is."""
    fine_steps: bool = True
    """Whether `multipleOf` may be a fraction of several digits and decimals, as 0.25 is."""
    most_items: int | None = None
    """The greatest `maxItems`, where it is less than other numbers of repetitions may be."""
    most_count: int | None = None
    """The greatest number of characters, items or properties a keyword may name."""
    most_repeated: int | None = None
    """The greatest number of times a pattern may repeat a part by `{n}`."""
    most_repeated_at_once: int | None = None
    """The greatest number of one `{n}`: what is repeated more often is written as several repetitions."""
    empty_words: bool = True
    """Whether an enum may hold the empty string."""
    comments: bool = True
    """Whether `$comment` and keywords that begin with `x-` are sent: they are for people, not for models."""
    empty_schema: bool = True
    """Whether the schema of a tool without parameters is sent; otherwise its member of the envelope is left out."""
    most_min_items: int | None = None
    """The greatest value `minItems` may have."""
    counts_optional: bool = True
    """Whether numbers of properties may stand beside declared properties that are optional."""
    described: bool = False
    """Whether each property needs a description."""
    fold: bool = False
    """Whether answers may change the case of enum values."""
    described_inside: bool = True
    """Whether `described` speaks of properties below the root, too."""
    null_type: bool = True
    """Whether null may stand alone: a target that says it as a mark beside another type has no such type."""
    null_leaves_out: bool = False
    """Whether null may be answered for a property of the root that is optional, which then is left out."""
    false_items: bool = False
    """Whether `items: false` closes a tuple."""
    typed_enums: bool = True
    """Whether the values of an enum must be of the type beside it, null included."""
    spelling: Spelling = field(default_factory=Spelling)
    """How the finished schema is written."""
    engines: tuple[str, ...] = ()
    """Modules of the grammar engines that the target is known to decode with, for `instrc verify`."""
    extracts_calls: bool = False
    """Whether the provider takes calls out of the text of the model itself."""
    enforced: bool = True
    """Whether the target constrains decoding by the schema, or only shows it to the model."""
    limits: Limits = field(default_factory=Limits)
    facts: tuple[Fact, ...] = ()

    @cached_property
    def words(self) -> frozenset[str]:
        """The placeholders of the envelope."""
        return frozenset(_WORDS.findall(str(self.envelope)))

    @property
    def named(self) -> bool:
        """Whether the envelope says the name of the tool."""
        return self.envelope != "@schema"

    @property
    def describable(self) -> bool:
        """Whether the envelope has a member for the description of the tool."""
        return "@description" in self.words

    @property
    def reorders(self) -> bool:
        """Whether optional properties leave their place in answers, so that order asks for them to be required."""
        return self.order in {"required-first", "hinted"}

    @property
    def rooted(self) -> bool:
        """Whether the schema itself stands in the payload, so that its root can be described and judged."""
        return not self.spelling.inputs

    @property
    def budgeted(self) -> bool:
        """Whether a schema may exceed a limit by itself."""
        most = self.limits
        return any((most.properties, most.depth, most.enum_values, most.characters, most.optional, most.unions))

    @property
    def shown_to_model(self) -> bool:
        """Whether the model reads the schema: servers write tools into the prompt, and compile the shape of an answer only."""
        return self.tool

    @property
    def items_limit(self) -> int | None:
        """The greatest `maxItems`, if there is one."""
        return self.most_count if self.most_items is None else self.most_items

    def takes_step(self, step: float) -> bool:
        """Return whether numbers may be multiples of `step`; integers may always."""
        if self.fine_steps:
            return True
        decimals = 0
        while step != int(step):  # as the engine reads it, with what floats add: 0.07 has 16 digits
            step, decimals = step * 10, decimals + 1
        return decimals < 2 or step < 10


def function_tool(*, strict: bool) -> JsonObject:
    """Return the envelope of a function as Chat Completions of OpenAI has it, and many after it."""
    function: JsonObject = {"name": "@name", "description": "@description", "parameters": "@schema", "strict": strict}
    return {"type": "function", "function": function}


WORD = NameRule("a-zA-Z0-9_-", "a-zA-Z0-9_-", 64)
IDENTIFIER = NameRule("a-zA-Z_", "a-zA-Z0-9_", 64)
PRINTABLE = NameRule(r"^\x00-\x1f\x7f\"\\", r"^\x00-\x1f\x7f\"\\", 256)
"""No control characters, quotes or backslashes: several decoders write keys into their grammar unescaped."""
DEFINITION_NAME = NameRule("A-Za-z0-9_", "A-Za-z0-9_.-", 64)
"""Names of definitions: llguidance refuses others, percent-encoding breaks xgrammar and outlines-core (run 2026-11-20)."""
NUMBERS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})
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
"""The letters that all read behind a backslash, in a class and outside of one; digits they do not."""
WORD_ENDS = ("\\<", "\\>")
"""Ends of words to the engines in Rust, and needless escapes of signs to ECMA 262."""
CLASS_OPERATIONS = ("&&", "--", "~~")
"""What joins two classes to the engines in Rust, and lists or bounds signs in a class to ECMA 262."""
ESCAPED_IN_CLASSES = ("&&", "||", "~~")
"""What is written with backslashes in a class: Python warns that each of them will be an operation."""
PLAIN_PATTERNS = (
    Fact(
        r"all read \d \D \s \S \w \W \n \r \t \v \f, and signs of ASCII behind a backslash but \< and \>; "
        r"\b, \p, \0, back-references, other letters and signs behind a backslash are refused by one or read otherwise",
        _RUN,
        _DATE,
        ("patterns",),
    ),
    Fact(
        r"characters by number such as \u0041 are no escapes to RE2, so letters are sent themselves",
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
"""Stands among the facts of each target that takes patterns of this kind only."""


def in_envelope(rules: Dialect, outer: Dialect) -> Dialect:
    """Return the rules of one target with the envelope of another; where the rules enforce nothing, the plain one."""
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
    )


def schema_in(payload: Json, dialect: Dialect) -> Json:
    """Return the schema in a payload; raise `LookupError` or `ValueError` if there is none."""
    result = at(payload, pointer(dialect.where))
    return loads(result) if isinstance(result, str) and dialect.where else result


def relaxed(dialect: Dialect) -> Dialect:
    """Return a target with its envelope without strictness, if it has one."""
    return dialect if dialect.plain is None else structs.replace(dialect, envelope=dialect.plain, plain=None)


def fill_envelope(envelope: Json, values: dict[str, Json]) -> Json:
    """Return the envelope with its words replaced; members whose value is `None` are left out."""
    if isinstance(envelope, str):
        return values.get(envelope, envelope)
    if isinstance(envelope, dict):
        filled: JsonObject = {}
        for key, part in envelope.items():
            value = values.get(part, part) if part.__class__ is str else fill_envelope(part, values)
            if value is not None:
                filled[key] = value
        return filled
    return envelope
