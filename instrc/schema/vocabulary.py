"""The keywords of JSON Schema, one row each, and the keywords and formats of other systems.

Every module that reads schemas uses this table.  Sources: the meta-schemas of drafts 3 to 2020-12; the OpenAPI 3.0
and 3.1 specifications and the OpenAPI format registry (spec.openapis.org/registry/format); the schema reference of VS Code;
and the documentation of the packages named below.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal, TypeAlias

from msgspec import Struct

ValueShape: TypeAlias = Literal[
    "schema",  # one schema
    "schemas",  # a list of schemas
    "named",  # schemas by name
    "schema or schemas",  # `items` before 2020-12
    "named or names",  # `dependencies`: schemas by name, or lists of names
    "value",  # any JSON value
    "values",  # a list of values
    "text",
    "pattern",
    "number",
    "step",  # a number above zero
    "count",
    "flag",
    "flags",  # flags by name
    "types",  # the name of a type, or a list of such
    "names",  # a list of texts
    "names by name",
]
Role: TypeAlias = Literal[
    "assertion",  # an instance satisfies it or does not
    "applicator",  # applies schemas to the instance, or to parts of it
    "annotation",  # describes instances and rejects none
    "identifier",  # names a schema, or holds referenced schemas
    "reference",  # stands for another schema
]
Vocabulary: TypeAlias = Literal[
    "core", "applicator", "unevaluated", "validation", "meta-data", "format-annotation", "content", "older"
]
Family: TypeAlias = Literal["values", "numbers", "strings", "arrays", "objects", "combining", "conditions"]


class Keyword(Struct, frozen=True):
    """The facts about a keyword."""

    name: str
    shape: ValueShape
    role: Role
    group: Vocabulary
    """Vocabulary of 2020-12 that defines the keyword; `older` if 2020-12 no longer has it."""
    speaks_of: frozenset[str] = frozenset()
    """Types to which it applies: instances of other types satisfy it.  Empty: all types."""
    since: int = 4
    """First draft that has the keyword: 4, 6, 7, 2019, 2020."""
    until: int = 2020
    """Last draft that has the keyword."""
    in_place: bool = False
    """Whether its schemas apply to the same instance as the schema that holds it."""
    laws: Family | None = None
    """Module of `schema/laws/` that defines how the keyword is combined, implied and satisfied."""
    leader: str = ""
    """Keyword without which it has no meaning."""


STRING: Final = frozenset({"string"})
NUMBER: Final = frozenset({"integer", "number"})
ARRAY: Final = frozenset({"array"})
OBJECT: Final = frozenset({"object"})


def _identifier(name: str, shape: ValueShape, since: int = 4, group: Vocabulary = "core", until: int = 2020) -> Keyword:
    return Keyword(name, shape, "identifier", group, since=since, until=until)


def _annotation(name: str, shape: ValueShape, since: int = 4, group: Vocabulary = "meta-data") -> Keyword:
    return Keyword(name, shape, "annotation", group, since=since)


def _assertion(name: str, shape: ValueShape, of: frozenset[str], laws: Family, since: int = 4, leader: str = "") -> Keyword:
    return Keyword(name, shape, "assertion", "validation", of, since, laws=laws, leader=leader)


def _below(name: str, shape: ValueShape, of: frozenset[str], laws: Family, since: int = 4) -> Keyword:
    return Keyword(name, shape, "applicator", "applicator", of, since, laws=laws)


def _unevaluated(name: str, of: frozenset[str]) -> Keyword:
    return Keyword(name, "schema", "applicator", "unevaluated", of, 2019)


def _in_place(name: str, shape: ValueShape, laws: Family = "combining", since: int = 4, leader: str = "") -> Keyword:
    return Keyword(name, shape, "applicator", "applicator", since=since, in_place=True, laws=laws, leader=leader)


_ROWS: Final = (
    _identifier("$schema", "text"),
    _identifier("$id", "text", 6),
    _identifier("$anchor", "text", 2019),
    _identifier("$dynamicAnchor", "text", 2020),
    _identifier("$recursiveAnchor", "flag", 2019, "older", 2019),
    _identifier("$vocabulary", "flags", 2019),
    _identifier("$defs", "named"),
    _identifier("definitions", "named", 4, "older"),
    Keyword("$ref", "text", "reference", "core", laws="combining"),
    Keyword("$dynamicRef", "text", "reference", "core", since=2020),
    Keyword("$recursiveRef", "text", "reference", "older", since=2019, until=2019),
    _annotation("$comment", "text", 7, "core"),
    _annotation("title", "text"),
    _annotation("description", "text"),
    _annotation("default", "value"),
    _annotation("examples", "values", 6),
    _annotation("example", "value", 4, "older"),  # OpenAPI
    _annotation("deprecated", "flag", 2019),
    _annotation("readOnly", "flag", 7),
    _annotation("writeOnly", "flag", 7),
    _annotation("contentEncoding", "text", 7, "content"),
    _annotation("contentMediaType", "text", 7, "content"),
    _annotation("contentSchema", "schema", 2019, "content"),
    # formats are open: some apply to numbers, so `speaks_of` tells nothing
    Keyword("format", "text", "assertion", "format-annotation", laws="strings"),
    _assertion("type", "types", frozenset(), "values"),
    _assertion("enum", "values", frozenset(), "values"),
    _assertion("const", "value", frozenset(), "values", 6),
    _assertion("minimum", "number", NUMBER, "numbers"),
    _assertion("exclusiveMinimum", "number", NUMBER, "numbers"),
    _assertion("maximum", "number", NUMBER, "numbers"),
    _assertion("exclusiveMaximum", "number", NUMBER, "numbers"),
    _assertion("multipleOf", "step", NUMBER, "numbers"),
    _assertion("pattern", "pattern", STRING, "strings"),
    _assertion("minLength", "count", STRING, "strings"),
    _assertion("maxLength", "count", STRING, "strings"),
    _assertion("minItems", "count", ARRAY, "arrays"),
    _assertion("maxItems", "count", ARRAY, "arrays"),
    _assertion("uniqueItems", "flag", ARRAY, "arrays"),
    _assertion("minContains", "count", ARRAY, "arrays", 2019, "contains"),
    _assertion("maxContains", "count", ARRAY, "arrays", 2019, "contains"),
    _assertion("minProperties", "count", OBJECT, "objects"),
    _assertion("maxProperties", "count", OBJECT, "objects"),
    _assertion("required", "names", OBJECT, "objects"),
    _assertion("dependentRequired", "names by name", OBJECT, "objects", 2019),
    _below("properties", "named", OBJECT, "objects"),
    _below("patternProperties", "named", OBJECT, "objects"),
    _below("additionalProperties", "schema", OBJECT, "objects"),
    _below("propertyNames", "schema", OBJECT, "objects", 6),
    _unevaluated("unevaluatedProperties", OBJECT),
    _below("prefixItems", "schemas", ARRAY, "arrays", 2020),
    _below("items", "schema or schemas", ARRAY, "arrays"),
    Keyword("additionalItems", "schema", "applicator", "older", until=2019),
    _below("contains", "schema", ARRAY, "arrays", 6),
    _unevaluated("unevaluatedItems", ARRAY),
    _in_place("allOf", "schemas"),
    _in_place("anyOf", "schemas"),
    _in_place("oneOf", "schemas"),
    _in_place("not", "schema"),
    _in_place("if", "schema", "conditions", 7),
    _in_place("then", "schema", "conditions", 7, "if"),
    _in_place("else", "schema", "conditions", 7, "if"),
    Keyword("dependentSchemas", "named", "applicator", "applicator", OBJECT, 2019, in_place=True, laws="objects"),
    Keyword("dependencies", "named or names", "applicator", "older", until=7, in_place=True),
)
KEYWORDS: Final[dict[str, Keyword]] = {row.name: row for row in _ROWS}


def _names(which: Callable[[Keyword], bool]) -> frozenset[str]:
    return frozenset(row.name for row in _ROWS if which(row))


ONE: Final = _names(lambda row: row.shape in {"schema", "schema or schemas"})
"""Keywords that hold one schema; before 2020-12 `items` may hold a list of them."""
MANY: Final = _names(lambda row: row.shape in {"schemas", "schema or schemas"})
"""Keywords that hold a list of schemas."""
NAMED: Final = _names(lambda row: row.shape in {"named", "named or names"})
"""Keywords that hold schemas by name; values of `dependencies` may be lists of names instead."""
HOLDERS: Final = ONE | MANY | NAMED
IN_PLACE: Final = _names(lambda row: row.in_place)
"""Keywords whose schemas apply to the same instance as the schema that holds them."""
ANNOTATIONS: Final = _names(lambda row: row.role == "annotation")
"""Keywords that describe an instance and never reject one."""
IDENTIFIERS: Final = _names(lambda row: row.role == "identifier")
"""Keywords that only serve references."""
NO_ASSERTIONS: Final = ANNOTATIONS | IDENTIFIERS
"""Keywords that never make an instance invalid."""
COUNTS: Final = _names(lambda row: row.shape == "count")
FOLLOWERS: Final = _names(lambda row: row.leader != "")
"""Keywords that have a meaning only next to their leader."""
SPEAKS_OF: Final[dict[str, frozenset[str]]] = {row.name: row.speaks_of for row in _ROWS if row.speaks_of}
"""Types to which a keyword applies; every instance of another type satisfies it."""
BY_TYPE: Final[dict[str, frozenset[str]]] = {
    "object": _names(lambda row: row.speaks_of == OBJECT),
    "array": _names(lambda row: row.speaks_of == ARRAY),
    "string": _names(lambda row: row.speaks_of == STRING) | {"format"},
    "number": _names(lambda row: row.speaks_of == NUMBER),
}
"""Keywords by the type that authors imply when they omit `type`."""


def is_extension(word: str) -> bool:
    """Return whether a keyword or a format is an extension of a project: `x-order`, `X-Internal`."""
    return word.startswith(("x-", "X-"))


APPROVAL = ("x-approvers", "x-needed", "x-veto", "x-not", "x-claim", "x-links")
"""Keywords of a person's step that say who approves; `instrc serve` counts answers by them."""
WORDINGS = "x-wordings"
"""Alternative texts next to a description that `instrc tune` may choose; the model does not see them."""
TEMPERATURE = "x-temperature"
"""Keyword that sets the sampling temperature of a model's step; the engine reads it, and the model does not see it."""


def unknown_before(draft: int) -> frozenset[str]:
    """Return current keywords that a draft does not know, so that they must not gain a meaning."""
    return _names(lambda row: row.since > draft and (row.role != "annotation" or row.name in HOLDERS))


def removed_keywords(draft: int) -> frozenset[str]:
    """Return the keywords of earlier drafts that a draft no longer has."""
    return _names(lambda row: row.until < draft)


def of_group(group: Vocabulary) -> frozenset[str]:
    """Return the keywords of a vocabulary."""
    return _names(lambda row: row.group == group)


JSON_SCHEMA = frozenset(KEYWORDS) - {"example"} | {"id"}
"""Keywords of drafts 4 to 2020-12."""
DRAFT_3 = frozenset({"extends", "disallow", "divisibleBy"})
OPENAPI = frozenset({"nullable", "discriminator", "example", "externalDocs", "xml"})


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ENGINE = _words(
    """
    references arguments activity when each repeat try race do else fail after within delay plan among takes instrc
    """
)
"""Engine properties of steps and blocks."""
TOOLS = _words(
    """
    propertyOrdering cache_control strict markdownDescription markdownEnumDescriptions enumDescriptions enumNames
    enumItemLabels enumDeprecated enumDetails defaultSnippets errorMessage patternErrorMessage deprecationMessage
    doNotSuggest suggestSortText allowComments allowTrailingCommas completionDetail tsType tsEnumNames tsImport
    javaType existingJavaType javaInterfaces customTypes instanceof typeof range exclusiveRange regexp transform
    uniqueItemProperties allRequired anyRequired oneRequired patternRequired prohibited deepProperties deepRequired
    dynamicDefaults select selectCases selectDefault formatMinimum formatMaximum formatExclusiveMinimum
    formatExclusiveMaximum options propertyOrder headerTemplate links media $data $async meta:enum meta:license
    """
)
"""Keywords of Gemini and other providers, VS Code, `json-schema-to-typescript`, `jsonschema2pojo`, `ajv-keywords` and editors."""
OF_VIBES = JSON_SCHEMA | DRAFT_3 | OPENAPI | TOOLS
KNOWN = OF_VIBES | ENGINE
OFFERED = tuple(sorted(JSON_SCHEMA | {"nullable"}))
"""Candidates for the correction of a misspelt keyword."""
FORMATS = _words(
    """
    date-time date time duration email idn-email hostname idn-hostname ipv4 ipv6 uri uri-reference iri iri-reference
    uuid uri-template json-pointer relative-json-pointer regex color ip-address host-name phone style utc-millisec
    base64url binary byte char commonmark date-time-local decimal decimal128 double double-int float html http-date
    int8 int16 int32 int64 media-range password sf-binary sf-boolean sf-decimal sf-integer sf-string sf-token
    time-local uint8 uint16 uint32 uint64 unixtime unix-time enum google-datetime google-duration google-fieldmask
    cidr ipv4network ipv6network ipvanyaddress ipv4interface ipv6interface ipvanyinterface ipvanynetwork file-path
    directory-path path file data-url json-string multi-host-uri url uri-ref unknown country currency language
    decimal-string iso-date-time iso-time
    """
)
"""Formats of JSON Schema, draft 3, the OpenAPI registry, Google's discovery documents, pydantic and `ajv-formats`."""
