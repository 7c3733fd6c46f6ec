"""The keywords of JSON Schema, one row each: what they hold, what they speak of, what they do, since when, and their law.

Every part that looks into schemas goes by this table, so that no two parts can differ on what a keyword is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from instrc.jsonvalue import Json
from instrc.schema import laws
from instrc.schema.laws import Law, Verdict

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
    "annotation",  # says something about instances and refuses none
    "identifier",  # gives a schema a name, or holds schemas that are referred to
    "reference",  # stands for another schema
]
Vocabulary: TypeAlias = Literal[
    "core", "applicator", "unevaluated", "validation", "meta-data", "format-annotation", "content", "older"
]


class Keyword(Struct, frozen=True):
    """What is to be known of a keyword."""

    name: str
    shape: ValueShape
    role: Role
    group: Vocabulary
    """The vocabulary of 2020-12 that it belongs to; `older` for what 2020-12 has no more."""
    speaks_of: frozenset[str] = frozenset()
    """The types it speaks about: every instance of another type satisfies it.  Empty: all types."""
    since: int = 4
    """The draft that brought it: 4, 6, 7, 2019, 2020."""
    until: int = 2020
    """The last draft that has it."""
    in_place: bool = False
    """Whether its schemas are about the same instance as the schema that holds it."""
    law: Law | None = None
    """What two occurrences say together; `None` for keywords that act in groups (see `flattening`) and for annotations."""


STRING: Final = frozenset({"string"})
NUMBER: Final = frozenset({"integer", "number"})
ARRAY: Final = frozenset({"array"})
OBJECT: Final = frozenset({"object"})


def _assertion(name: str, shape: ValueShape, of: frozenset[str], law: Law, since: int = 4) -> Keyword:
    return Keyword(name, shape, "assertion", "validation", of, since, law=law)


def _below(name: str, shape: ValueShape, of: frozenset[str], since: int = 4, group: Vocabulary = "applicator") -> Keyword:
    return Keyword(name, shape, "applicator", group, of, since)


def _in_place(name: str, shape: ValueShape, since: int = 4, of: frozenset[str] = frozenset()) -> Keyword:
    return Keyword(name, shape, "applicator", "applicator", of, since, in_place=True)


def _annotation(name: str, shape: ValueShape, since: int = 4, group: Vocabulary = "meta-data") -> Keyword:
    return Keyword(name, shape, "annotation", group, since=since)


def _identifier(name: str, shape: ValueShape, since: int = 4, group: Vocabulary = "core", until: int = 2020) -> Keyword:
    return Keyword(name, shape, "identifier", group, since=since, until=until)


_ROWS: Final = (
    _identifier("$schema", "text"),
    _identifier("$id", "text", 6),
    _identifier("$anchor", "text", 2019),
    _identifier("$dynamicAnchor", "text", 2020),
    _identifier("$recursiveAnchor", "flag", 2019, "older", 2019),
    _identifier("$vocabulary", "flags", 2019),
    _identifier("$defs", "named"),
    _identifier("definitions", "named", 4, "older"),
    Keyword("$ref", "text", "reference", "core", law=laws.same),
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
    # formats are open: some speak of numbers, so `speaks_of` says nothing
    Keyword("format", "text", "assertion", "format-annotation", law=laws.same),
    _assertion("type", "types", frozenset(), laws.type_),
    _assertion("enum", "values", frozenset(), laws.enum),
    _assertion("const", "value", frozenset(), laws.const, 6),
    _assertion("minimum", "number", NUMBER, laws.greater),
    _assertion("exclusiveMinimum", "number", NUMBER, laws.greater),
    _assertion("maximum", "number", NUMBER, laws.lesser),
    _assertion("exclusiveMaximum", "number", NUMBER, laws.lesser),
    _assertion("multipleOf", "step", NUMBER, laws.multiple_of),
    _assertion("pattern", "pattern", STRING, laws.same),
    _assertion("minLength", "count", STRING, laws.greater),
    _assertion("maxLength", "count", STRING, laws.lesser),
    _assertion("minItems", "count", ARRAY, laws.greater),
    _assertion("maxItems", "count", ARRAY, laws.lesser),
    _assertion("uniqueItems", "flag", ARRAY, laws.unique_items),
    Keyword("minContains", "count", "assertion", "validation", ARRAY, 2019),
    Keyword("maxContains", "count", "assertion", "validation", ARRAY, 2019),
    _assertion("minProperties", "count", OBJECT, laws.greater),
    _assertion("maxProperties", "count", OBJECT, laws.lesser),
    _assertion("required", "names", OBJECT, laws.required),
    _assertion("dependentRequired", "names by name", OBJECT, laws.dependent_required, 2019),
    _below("properties", "named", OBJECT),
    _below("patternProperties", "named", OBJECT),
    _below("additionalProperties", "schema", OBJECT),
    _below("propertyNames", "schema", OBJECT, 6),
    _below("unevaluatedProperties", "schema", OBJECT, 2019, "unevaluated"),
    _below("prefixItems", "schemas", ARRAY, 2020),
    _below("items", "schema or schemas", ARRAY),
    Keyword("additionalItems", "schema", "applicator", "older", until=2019),
    _below("contains", "schema", ARRAY, 6),
    _below("unevaluatedItems", "schema", ARRAY, 2019, "unevaluated"),
    _in_place("allOf", "schemas"),
    _in_place("anyOf", "schemas"),
    _in_place("oneOf", "schemas"),
    _in_place("not", "schema"),
    _in_place("if", "schema", 7),
    _in_place("then", "schema", 7),
    _in_place("else", "schema", 7),
    _in_place("dependentSchemas", "named", 2019, OBJECT),
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
DATA: Final = _names(lambda row: row.shape in {"value", "values"})
"""Keywords that hold values, whatever these look like."""
IN_PLACE: Final = _names(lambda row: row.in_place)
"""Keywords whose schemas are about the same instance as the schema that holds them."""
ANNOTATIONS: Final = _names(lambda row: row.role == "annotation")
"""Keywords that refuse no instance and say something about it."""
IDENTIFIERS: Final = _names(lambda row: row.role == "identifier")
"""Keywords that only serve references."""
NO_ASSERTIONS: Final = ANNOTATIONS | IDENTIFIERS
"""Keywords that never make an instance invalid."""
COUNTS: Final = _names(lambda row: row.shape == "count")
LAWS: Final[dict[str, Law]] = {row.name: row.law for row in _ROWS if row.law is not None}
_MANY_AT_ONCE: Final[dict[Law, Callable[[list[Json]], Json | Verdict]]] = {
    laws.required: laws.required_by_all,
    laws.dependent_required: laws.dependent_required_by_all,
    laws.greater: laws.greatest,
    laws.lesser: laws.least,
}
JOINS: Final = {name: _MANY_AT_ONCE[law] for name, law in LAWS.items() if law in _MANY_AT_ONCE}
"""Laws for any number of occurrences at once, where doing them one by one would take long."""
SPEAKS_OF: Final[dict[str, frozenset[str]]] = {row.name: row.speaks_of for row in _ROWS if row.speaks_of}
"""The types that a keyword speaks about; every instance of another type satisfies it."""
BY_TYPE: Final[dict[str, frozenset[str]]] = {
    "object": _names(lambda row: row.speaks_of == OBJECT),
    "array": _names(lambda row: row.speaks_of == ARRAY),
    "string": _names(lambda row: row.speaks_of == STRING) | {"format"},
    "number": _names(lambda row: row.speaks_of == NUMBER),
}
"""Keywords by the type that somebody who writes them without a `type` means."""


def unknown_before(draft: int) -> frozenset[str]:
    """Return the keywords of today that a draft does not know, so that they must not begin to mean something."""
    return _names(lambda row: row.since > draft and (row.role != "annotation" or row.name in HOLDERS))


def gone_after(draft: int) -> frozenset[str]:
    """Return the keywords of earlier drafts that a draft has no more."""
    return _names(lambda row: row.until < draft)


def of_group(group: Vocabulary) -> frozenset[str]:
    """Return the keywords of a vocabulary."""
    return _names(lambda row: row.group == group)
