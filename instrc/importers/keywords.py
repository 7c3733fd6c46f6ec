"""How each keyword of a schema is read: a sound value stays, a slip is read as it is meant, the rest is noted and left out.

`READERS` is a table of small functions.  Each gets a keyword with its value and returns the keywords that stand for it.
Containers of schemas come out as copies, their schemas untouched.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

from instrc.importers.given import Given, shown
from instrc.importers.type_words import any_of, schema_of
from instrc.jsonvalue import Json
from instrc.schema.laws import TYPES, is_number
from instrc.schema.walk import Path, is_schema

_LONG = 10**15
"""A number from here on is no title."""
_OF_THE_ENGINE = "a vibe keeps this word for the engine"
UNREAD: dict[str, str] = {
    **dict.fromkeys(("references", "arguments", "activity", "when", "each"), _OF_THE_ENGINE),
    "discriminator": "JSON Schema tells alternatives apart by their properties",
    "xml": "answers are JSON",
    "$vocabulary": "it belongs to a meta-schema",
}
"""Keywords that have no place in a vibe, and why."""


class Words:
    """Where to note what, and how words for types are read."""

    def __init__(self, given: Given, plain: bool) -> None:  # noqa: FBT001  -- it is the kind's word on types
        self.given = given
        self.plain = plain

    def type_of(self, text: str) -> dict[str, Json] | None:
        """Return the schema that a word for a type stands for."""
        return schema_of(text)


Reader: TypeAlias = Callable[[str, Json, Path, Words, dict[str, Json]], dict[str, Json]]


def _type(_keyword: str, value: Json, path: Path, words: Words, node: dict[str, Json]) -> dict[str, Json]:
    if value.__class__ is str and value in TYPES:
        return {"type": value}
    if value is None:
        return {}
    if value.__class__ is list and value and all(item.__class__ is str and item in TYPES for item in value):
        return {"type": list(dict.fromkeys(value))}
    if value.__class__ is dict:
        words.given.read_as(path, "type", "a schema")
        return {"allOf": [value]}
    each = value if value.__class__ is list else [value]
    meant = [_one_type(item, words) for item in each]
    if not meant or None in meant:
        words.given.left_out(path, "type", "it is empty" if value in ("", []) else f"{shown(value)!r} is no type")
        return {}
    schema = any_of([one for one in meant if one is not None])
    if not words.plain or value.__class__ is not str:
        words.given.read_as(path, value, _said(schema))
    return {keyword: part for keyword, part in schema.items() if keyword == "type" or keyword not in node}


def _one_type(item: Json, words: Words) -> dict[str, Json] | None:
    if item is None:
        return {"type": "null"}
    if item.__class__ is dict:
        return dict(item)  # a union of draft 3
    return words.type_of(item) if item.__class__ is str else None


def _said(schema: dict[str, Json]) -> str:
    if schema.keys() <= {"type", "uniqueItems"} and schema:
        names = schema["type"] if schema["type"].__class__ is list else [schema["type"]]
        return " or ".join(f"`{name}`" for name in names)
    return "a schema of its own" if schema else "any type"


def _text(keyword: str, value: Json, path: Path, words: Words, _node: dict[str, Json]) -> dict[str, Json]:
    if value.__class__ is str:
        return {keyword: value}
    if value is None:
        return {}
    if keyword == "description" and value.__class__ is list and all(item.__class__ is str for item in value):
        return {keyword: "\n".join(value)}
    if keyword in {"description", "title"} and is_number(value) and abs(value) < _LONG:
        return {keyword: str(value)}
    words.given.left_out(path, keyword, "it is no text")
    return {}


def _enum(_keyword: str, value: Json, path: Path, words: Words, _node: dict[str, Json]) -> dict[str, Json]:
    if value is None:
        return {}
    if value.__class__ is list and value:
        return {"enum": value}
    if value.__class__ is dict and value:
        words.given.read_as(path, "enum", "its keys")
        return {"enum": list(value)}
    words.given.left_out(path, "enum", "it lists no values")
    return {}


def _number(keyword: str, value: Json, path: Path, words: Words, node: dict[str, Json]) -> dict[str, Json]:
    number = _as_number(value)
    bound = {"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"}.get(keyword)
    if bound is not None and value.__class__ is bool:  # draft 4
        limit = _as_number(node.get(bound))
        return {keyword: limit} if value and limit is not None else {}
    if keyword in {"minimum", "maximum"} and node.get("exclusiveM" + keyword[1:]) is True:
        return {}
    if number is None or (keyword == "multipleOf" and number <= 0):
        if value is not None:
            words.given.left_out(path, keyword, "it is no number" if number is None else "it is not above zero")
        return {}
    return {keyword: number}


def _count(keyword: str, value: Json, path: Path, words: Words, _node: dict[str, Json]) -> dict[str, Json]:
    number = _as_number(value)
    if number is None or number < 0 or number != int(number):
        if value is not None:
            words.given.left_out(path, keyword, "it is no count")
        return {}
    return {keyword: int(number)}


def _as_number(value: Json) -> int | float | None:
    if is_number(value):
        return value
    if value.__class__ is str and re.fullmatch(r"\s*-?\d{1,30}(\.\d{1,30})?\s*", value):
        return float(value) if "." in value else int(value)
    return None


def _flag(keyword: str, value: Json, path: Path, words: Words, _node: dict[str, Json]) -> dict[str, Json]:
    if value.__class__ is str and value.lower() in {"true", "false"}:
        value = value.lower() == "true"
    if value.__class__ is bool:
        return {keyword: value}
    if value is not None:
        words.given.left_out(path, keyword, "it is neither true nor false")
    return {}


def _examples(keyword: str, value: Json, _path: Path, _words: Words, node: dict[str, Json]) -> dict[str, Json]:
    if keyword == "example":
        return {} if "examples" in node else {"examples": [value]}
    if value.__class__ is list:
        return {"examples": value}
    if value is None:
        return {}
    if value.__class__ is dict and value and all(item.__class__ is dict and "value" in item for item in value.values()):
        return {"examples": [item["value"] for item in value.values()]}  # named ones, as OpenAPI has them
    return {"examples": [value]}


def _schema(keyword: str, value: Json, _path: Path, _words: Words, _node: dict[str, Json]) -> dict[str, Json]:
    if value.__class__ is str and value.strip().lower() in {"true", "false"}:
        value = value.strip().lower() == "true"
    return {} if value is None else {keyword: value}


def _items(keyword: str, value: Json, path: Path, words: Words, node: dict[str, Json]) -> dict[str, Json]:
    if value.__class__ is not list:
        return _schema(keyword, value, path, words, node)
    if not value or "prefixItems" in node:
        words.given.left_out(path, "items", "it is an empty list" if not value else "`prefixItems` stands beside it")
        return {}
    rest = node.get("additionalItems")
    following = {"items": rest} if is_schema(rest) else {}
    return {"prefixItems": list(value), **following}


def _named(keyword: str, value: Json, path: Path, words: Words, _node: dict[str, Json]) -> dict[str, Json]:
    if value.__class__ is dict:
        return {keyword: dict(value)}
    if value is not None:
        words.given.left_out(path, keyword, "it is no object of schemas")
    return {}


def _several(keyword: str, value: Json, path: Path, words: Words, _node: dict[str, Json]) -> dict[str, Json]:
    if value.__class__ is list and value:
        return {keyword: list(value)}
    if value.__class__ is dict and value:
        words.given.read_as(path, keyword, "a list of one")
        return {keyword: [value]}
    if value is not None:
        words.given.left_out(path, keyword, "it is no list of schemas")
    return {}


def _dependencies(_keyword: str, value: Json, path: Path, words: Words, _node: dict[str, Json]) -> dict[str, Json]:
    if value.__class__ is not dict:
        if value is not None:
            words.given.left_out(path, "dependencies", "it is no object")
        return {}
    names = {key: [needs] if needs.__class__ is str else needs for key, needs in value.items() if needs.__class__ in {str, list}}
    schemas = {key: needs for key, needs in value.items() if is_schema(needs)}
    return {**({"dependentRequired": names} if names else {}), **({"dependentSchemas": schemas} if schemas else {})}


def _nothing(_keyword: str, _value: Json, _path: Path, _words: Words, _node: dict[str, Json]) -> dict[str, Json]:
    return {}


def _place(keyword: str, _value: Json, _path: Path, _words: Words, _node: dict[str, Json]) -> dict[str, Json]:
    """Keep the place of a keyword that `objects.described` reads, because it needs the properties."""
    return {keyword: []}


READERS: dict[str, Reader] = {
    "type": _type,
    "enum": _enum,
    "items": _items,
    "dependencies": _dependencies,
    "required": _place,
    "additionalItems": _nothing,  # `items` reads it
    "$schema": _nothing,  # a vibe is 2020-12
    **dict.fromkeys(
        ("title", "description", "format", "pattern", "$ref", "$comment", "contentEncoding", "contentMediaType"), _text
    ),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"), _number),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"), _count),
    **dict.fromkeys(("minContains", "maxContains"), _count),
    **dict.fromkeys(("uniqueItems", "deprecated", "readOnly", "writeOnly"), _flag),
    **dict.fromkeys(("example", "examples"), _examples),
    **dict.fromkeys(("$defs", "definitions", "patternProperties", "dependentSchemas"), _named),
    **dict.fromkeys(("allOf", "anyOf", "oneOf", "prefixItems"), _several),
    **dict.fromkeys(("additionalProperties", "unevaluatedProperties", "unevaluatedItems", "propertyNames", "contains"), _schema),
    **dict.fromkeys(("not", "if", "then", "else", "contentSchema"), _schema),
}
