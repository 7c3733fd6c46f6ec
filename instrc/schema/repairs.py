"""How each keyword of a schema is read: a sound value stays, a slip is read as what it most likely means, the rest is left out.

`READERS` is a table of small functions.  Each gets a keyword, its path and the schema that it stands in, and returns a
`KeywordReading`: the keywords that stand for it, and the notes on what is read otherwise.  The schemas below are left to
`normalize`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

from instrc.jsontext import dumps
from instrc.jsonvalue import Json, Location, as_object, as_texts
from instrc.schema.kinds import TYPES, is_number
from instrc.schema.notes import KeywordReading, Note, Schema, describe_value, kept_as_written, left_out, read_as
from instrc.schema.type_words import any_of, schema_of
from instrc.schema.vocabulary import KEYWORDS, ValueShape
from instrc.schema.walk import is_schema

KeywordReader: TypeAlias = Callable[[str, Location, Schema], KeywordReading]

_LONG = 10**15
"""A number from here on is no title."""
_NUMBER = re.compile(r"\s*-?\d{1,30}(\.\d{1,30})?\s*")


def _type(keyword: str, path: Location, schema: Schema) -> KeywordReading:
    value = schema[keyword]
    if value.__class__ is str and value in TYPES:
        return kept_as_written(keyword, schema)
    if value.__class__ is list and value and all(item.__class__ is str and item in TYPES for item in value):
        names = list(dict.fromkeys(value))
        return kept_as_written(keyword, schema) if names == value else read_as({keyword: names}, path, keyword, "each type once")
    if value.__class__ is dict:
        return read_as({"allOf": [value]}, path, keyword, "a schema")
    each = value if value.__class__ is list else [value]
    types = [_one_type(item) for item in each]
    if not types or None in types:
        said = describe_value(value)
        reason = f"{dumps(said) if isinstance(value, str) else said} is not a type"
        return left_out(path, keyword, "it is empty" if value in ("", []) else reason)
    found = any_of([one for one in types if one is not None])
    keywords = {word: part for word, part in found.items() if word == keyword or word not in schema}
    return read_as(keywords, path, value, _type_in_words(found), "word" if value.__class__ is str else "repair")


def _one_type(item: Json) -> Schema | None:
    if item is None:
        return {"type": "null"}
    if item.__class__ is dict:
        return dict(item)  # a union of draft 3
    return schema_of(item) if item.__class__ is str else None


def _type_in_words(schema: Schema) -> str:
    if schema.keys() <= {"type", "uniqueItems"} and schema:
        names = schema["type"] if schema["type"].__class__ is list else [schema["type"]]
        return " or ".join(f"`{name}`" for name in names)
    return "a schema of its own" if schema else "any type"


def _text(keyword: str, path: Location, schema: Schema) -> KeywordReading:
    value = schema[keyword]
    if value.__class__ is str:
        return kept_as_written(keyword, schema)
    if keyword == "description" and value.__class__ is list and all(item.__class__ is str for item in value):
        return read_as({keyword: "\n".join(as_texts(value))}, path, keyword, "a text of several lines")
    if keyword in {"description", "title"} and is_number(value) and abs(value) < _LONG:
        return read_as({keyword: str(value)}, path, value, "a text")
    return left_out(path, keyword, "it is not a text")


def _enum(keyword: str, path: Location, schema: Schema) -> KeywordReading:
    value = schema[keyword]
    if value.__class__ is list and value:
        return kept_as_written(keyword, schema)
    if value.__class__ is dict and value:
        return read_as({keyword: list(value)}, path, keyword, "its keys")
    return left_out(path, keyword, "it lists no values")


def _number(keyword: str, path: Location, schema: Schema) -> KeywordReading:
    value = schema[keyword]
    number = _as_number(value)
    bound = {"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"}.get(keyword)
    if bound is not None and value.__class__ is bool:
        limit = _as_number(schema.get(bound))
        if value and limit is not None:
            return read_as({keyword: limit}, path, keyword, f"the bound of `{bound}`, left out itself", "dialect")
        return read_as({}, path, keyword, f"nothing beyond `{bound}`", "dialect")
    if keyword in {"minimum", "maximum"} and schema.get("exclusiveM" + keyword[1:]) is True and number is not None:
        return read_as({}, path, keyword, "a bound that is left out itself", "dialect")
    if number is None or (keyword == "multipleOf" and number <= 0):
        return left_out(path, keyword, "it is not a number" if number is None else "it is not above zero")
    return (
        kept_as_written(keyword, schema) if number is value else read_as({keyword: number}, path, value, f"the number {number}")
    )


def _count(keyword: str, path: Location, schema: Schema) -> KeywordReading:
    value = schema[keyword]
    number = _as_number(value)
    if number is None or number < 0 or number != int(number):
        return left_out(path, keyword, "it is not a count")
    if value.__class__ is int:
        return kept_as_written(keyword, schema)
    return read_as({keyword: int(number)}, path, value, f"the number {int(number)}")


def _as_number(value: Json) -> int | float | None:
    if is_number(value):
        return value
    if value.__class__ is str and _NUMBER.fullmatch(value):
        return float(value) if "." in value else int(value)
    return None


def _flag(keyword: str, path: Location, schema: Schema) -> KeywordReading:
    value = schema[keyword]
    if value.__class__ is bool:
        return kept_as_written(keyword, schema)
    if value.__class__ is str and value.lower() in {"true", "false"}:
        return read_as({keyword: value.lower() == "true"}, path, value, f"`{value.lower()}`")
    return left_out(path, keyword, "it is neither true nor false")


def _examples(keyword: str, path: Location, schema: Schema) -> KeywordReading:
    value = schema[keyword]
    if keyword == "example":
        found: Schema = {} if "examples" in schema else {"examples": [value]}
        return read_as(found, path, keyword, "one of `examples`", "dialect")
    if value.__class__ is list:
        return kept_as_written(keyword, schema)
    if value.__class__ is dict and value and all(item.__class__ is dict and "value" in item for item in value.values()):
        named: Schema = {keyword: [as_object(item)["value"] for item in value.values()]}
        return read_as(named, path, keyword, "a list of the values that are named", "dialect")  # as OpenAPI has them
    return read_as({keyword: [value]}, path, keyword, "a list of one")


def _schema(keyword: str, path: Location, schema: Schema) -> KeywordReading:
    value = schema[keyword]
    if value.__class__ is str and value.strip().lower() in {"true", "false"}:
        return read_as({keyword: value.strip().lower() == "true"}, path, value, f"`{value.strip().lower()}`")
    return kept_as_written(keyword, schema)


def _items(keyword: str, path: Location, schema: Schema) -> KeywordReading:
    value = schema[keyword]
    if value.__class__ is not list:
        return _schema(keyword, path, schema)
    if not value or "prefixItems" in schema:
        return left_out(path, keyword, "it is an empty list" if not value else "`prefixItems` stands beside it")
    rest = schema.get("additionalItems")
    following = {"items": rest} if is_schema(rest) else {}
    return read_as({"prefixItems": list(value), **following}, path, keyword, "`prefixItems`", "dialect")


def _additional_items(keyword: str, path: Location, _schema: Schema) -> KeywordReading:
    return read_as({}, path, keyword, "`items` behind a list of them, and as nothing elsewhere", "dialect")


def _read_named_schemas(keyword: str, path: Location, schema: Schema) -> KeywordReading:
    return (
        kept_as_written(keyword, schema)
        if schema[keyword].__class__ is dict
        else left_out(path, keyword, "it is not an object of schemas")
    )


def _several(keyword: str, path: Location, schema: Schema) -> KeywordReading:
    value = schema[keyword]
    if value.__class__ is list and value:
        return kept_as_written(keyword, schema)
    if value.__class__ is dict and value:
        return read_as({keyword: [value]}, path, keyword, "a list of one")
    return left_out(path, keyword, "it is not a list of schemas")


def _dependencies(keyword: str, path: Location, schema: Schema) -> KeywordReading:
    value = schema[keyword]
    if value.__class__ is not dict:
        return left_out(path, keyword, "it is not an object")
    names: Schema = {
        key: [needs] if needs.__class__ is str else needs for key, needs in value.items() if needs.__class__ in {str, list}
    }
    schemas = {key: needs for key, needs in value.items() if is_schema(needs)}
    found: Schema = {**({"dependentRequired": names} if names else {}), **({"dependentSchemas": schemas} if schemas else {})}
    reading = read_as(found, path, keyword, " and ".join(f"`{word}`" for word in found) or "nothing", "dialect")
    lost = tuple(
        Note((*path, key), key, "left-out", "it is neither a list of names nor a schema")
        for key in value
        if key not in names and key not in schemas
    )
    return KeywordReading(reading.keywords, (*reading.notes, *lost))


def _place(keyword: str, _path: Location, _schema: Schema) -> KeywordReading:
    """Keep the place of a keyword that `parameters.described` reads, because it needs the properties."""
    return KeywordReading({keyword: []})


def _draft(keyword: str, path: Location, schema: Schema) -> KeywordReading:
    return read_as({}, path, schema[keyword], "what it says of the schema; the result is 2020-12", "dialect")


_BY_SHAPE: dict[ValueShape, KeywordReader] = {
    "text": _text,
    "pattern": _text,
    "number": _number,
    "step": _number,
    "count": _count,
    "flag": _flag,
    "schema": _schema,
    "schemas": _several,
    "named": _read_named_schemas,
    "schema or schemas": _items,
    "named or names": _dependencies,
    "values": _examples,
    "types": _type,
}
_KEPT = frozenset({"$id", "$anchor", "$dynamicAnchor", "$dynamicRef", "$recursiveRef", "$recursiveAnchor", "$vocabulary"})
"""Keywords that serve references; whoever takes a schema over sees to them."""
READERS: dict[str, KeywordReader] = {
    **{name: _BY_SHAPE[row.shape] for name, row in KEYWORDS.items() if row.shape in _BY_SHAPE and name not in _KEPT},
    "enum": _enum,
    "example": _examples,
    "required": _place,
    "additionalItems": _additional_items,
    "$schema": _draft,
}


def read_keyword(keyword: str, path: Location, schema: Schema) -> KeywordReading:
    """Read one keyword of a schema."""
    if keyword not in READERS:
        return kept_as_written(keyword, schema)
    value = schema[keyword]
    if value is None and keyword not in {"example", "required", "additionalItems", "type"}:
        return left_out(path, keyword, "it is null")
    if value is None and keyword == "type":
        return left_out(path, keyword, "it is null, which is not a type")
    return READERS[keyword](keyword, path, schema)
