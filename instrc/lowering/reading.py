"""Read function schemas as they are met: Python's words for types, older drafts, shorthands.

A schema that is JSON Schema 2020-12 already is returned as the same object.
Everything that is read in another way than it is written is reported.
"""

from __future__ import annotations

from typing import Any

from instrc.codecs.positions import MANY, NAMED, ONE
from instrc.jsonvalue import AnyJson as Json
from instrc.jsonvalue import pointer
from instrc.lowering.losses import Loss
from instrc.problems.problem import CompileError
from instrc.schema.wellformed import problems_of

_DEEPEST = 200
_TYPES = frozenset({"string", "integer", "number", "boolean", "object", "array", "null"})
_MEANT: dict[str, str | None] = {
    "str": "string",
    "text": "string",
    "char": "string",
    "date": "string",
    "datetime": "string",
    "enum": "string",
    "bytes": "string",
    "path": "string",
    "int": "integer",
    "long": "integer",
    "int32": "integer",
    "int64": "integer",
    "short": "integer",
    "byte": "integer",
    "float": "number",
    "double": "number",
    "decimal": "number",
    "bool": "boolean",
    "dict": "object",
    "hashmap": "object",
    "map": "object",
    "mapping": "object",
    "record": "object",
    "list": "array",
    "tuple": "array",
    "set": "array",
    "arraylist": "array",
    "sequence": "array",
    "none": "null",
    "nonetype": "null",
    "nil": "null",
    "void": "null",
}
_ANY = frozenset({"any", "anytype", "unknown", "mixed", "value", "jsonvalue", "file", "object?", "undefined"})
"""Words that say no type."""
_COUNTS = frozenset(
    {"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains"}
)
_NUMBERS = frozenset({"minimum", "maximum", "multipleOf"})
_LISTS_OF_ANYTHING = frozenset({"examples"})
_FLAGS = frozenset({"deprecated", "readOnly", "writeOnly", "uniqueItems"})
_ARRAYS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_ANY_VALUE = frozenset({"const", "default", "enum", "examples", "example"})


def read(schema: Json) -> tuple[Json, list[Loss]]:
    """Return a schema in the words of 2020-12, and what had to be read in another way than it is written.

    What cannot be read so is a `CompileError` with `invalid-schema` problems.
    """
    losses: list[Loss] = []
    readable = _read(schema, (), losses)
    if wrong := problems_of(readable):
        raise CompileError(wrong)
    return readable, losses


def _read(schema: Json, path: tuple[str | int, ...], losses: list[Loss]) -> Json:
    if len(path) > _DEEPEST or schema is True or schema is False:
        return schema
    if schema is None:
        return True
    if isinstance(schema, str):
        return _read({"type": schema}, path, losses)
    if not isinstance(schema, dict):
        return schema  # the check of the whole says so
    result: dict[str, Any] | None = None
    for keyword, value in schema.items():
        new = _keyword(schema, keyword, value, path, losses)
        if new is not value:
            result = dict(schema) if result is None else result
            if new is _GONE:
                del result[keyword]
            else:
                result[keyword] = new
    return _older(schema if result is None else result, path, losses)


_GONE: Any = object()


def _keyword(schema: dict[str, Json], keyword: str, value: Json, path: tuple[str | int, ...], losses: list[Loss]) -> Json:  # noqa: ARG001  -- one shape for all
    """Return the value of a keyword as 2020-12 writes it, or `_GONE`."""
    if value is None and keyword not in _ANY_VALUE:
        return _GONE
    if keyword == "type":
        return _type(value, path, losses)
    if keyword in NAMED:
        if not isinstance(value, dict):
            return value  # the check of the whole says so
        return _named(keyword, value, path, losses)
    if keyword in MANY:
        if not isinstance(value, list) or not value:
            _lose(losses, path, keyword, value, "is not a list of schemas and is left out")
            return _GONE
        return _many(keyword, value, path, losses)
    if keyword in ONE:
        if keyword == "items" and isinstance(value, list):
            return _many(keyword, value, path, losses)
        return _read(value, (*path, keyword), losses)
    if keyword in _COUNTS and (isinstance(value, bool) or not isinstance(value, int | float) or value < 0 or value != int(value)):
        _lose(losses, path, keyword, value, "is no count and is left out")
        return _GONE
    if keyword in _NUMBERS and (isinstance(value, bool) or not isinstance(value, int | float)):
        _lose(losses, path, keyword, value, "is no number and is left out")
        return _GONE
    if keyword == "enum" and (not isinstance(value, list) or not value):
        _lose(losses, path, keyword, value, "lists no values and is left out")
        return _GONE
    if keyword in _LISTS_OF_ANYTHING and not isinstance(value, list):
        _lose(losses, path, keyword, value, "is no list and is left out")
        return _GONE
    if keyword in _FLAGS and not isinstance(value, bool):
        _lose(losses, path, keyword, value, "is neither true nor false and is left out")
        return _GONE
    if keyword == "required" and isinstance(value, str):
        _lose(losses, path, keyword, value, "is read as a list of one name")
        return [value]
    if keyword == "required" and isinstance(value, list) and not all(isinstance(name, str) for name in value):
        return [name for name in value if isinstance(name, str)]
    if keyword == "required" and isinstance(value, list) and len(set(value)) < len(value):
        return list(dict.fromkeys(value))
    if keyword in {"pattern", "format", "description", "title", "$comment", "$schema"} and not isinstance(value, str):
        _lose(losses, path, keyword, value, "is no text and is left out")
        return _GONE
    if keyword == "pattern" and _broken(value):
        _lose(losses, path, keyword, value, "is no regular expression that can be read here")
        return _GONE
    if keyword == "pattern":
        return _plain_classes(value)
    if keyword == "uniqueItems" and not isinstance(value, bool):
        return _GONE
    return value


def _broken(pattern: str) -> bool:
    import re

    try:
        re.compile(_plain_classes(pattern))
    except (re.error, RecursionError, OverflowError):
        return True
    return False


_SETS = ("&&", "||", "~~")
_ENDS_OF_WORDS = ("\\<", "\\>")
"""Signs as ECMA 262 reads them, ends of words to the engines in Rust."""


def _plain_classes(pattern: str) -> str:
    r"""Return a pattern whose character classes hold no bare `[`, `&&`, `||` or `~~`, and that has no needless `\<` and `\>`.

    To ECMA 262 they are characters; to the engines in Rust they begin a class inside the class, or an operation on it,
    and Python warns that one day they will to it.
    """
    if not any(mark in pattern for mark in ("[", "\\<", "\\>", *_SETS)):
        return pattern
    out: list[str] = []
    inside, place = False, 0
    while place < len(pattern):
        step = pattern[place : place + 2] if pattern[place] == "\\" else pattern[place]
        if step in _ENDS_OF_WORDS:
            out.append(step[1])
            place += 2
            continue
        if inside and (step == "[" or (pattern[place : place + 2] in _SETS and out[-1][-1:] != "\\")):
            step = f"\\{step}"
            place -= 1
        elif step == "[":
            inside = True
        elif step == "]":
            inside = False
        out.append(step)
        place += len(step)
    plain = "".join(out)
    return pattern if plain == pattern else plain


def _type(value: Json, path: tuple[str | int, ...], losses: list[Loss]) -> Json:
    if isinstance(value, str):
        if value in _TYPES:
            return value
        meant = _MEANT.get(value.lower(), value.lower() if value.lower() in _TYPES else None)
        if meant is None and value.lower() not in _ANY:
            return value  # no word for a type: the check of the whole says so
        _lose(losses, path, "type", value, f"is read as {meant or 'any type'}")
        return meant if meant is not None else _GONE
    if isinstance(value, list):
        if value and all(isinstance(item, str) and item in _TYPES for item in value) and len(set(value)) == len(value):
            return value
        words = [item.lower() for item in value if isinstance(item, str)]
        meant_all = [_MEANT.get(word, word) for word in words]
        kept = [word for word in dict.fromkeys(meant_all) if word in _TYPES]
        _lose(losses, path, "type", value, f"is read as {kept or 'any type'}")
        return kept if kept and len(kept) == len(set(meant_all)) else _GONE
    _lose(losses, path, "type", value, "is no type and is left out")
    return _GONE


def _named(keyword: str, value: dict[str, Json], path: tuple[str | int, ...], losses: list[Loss]) -> Json:
    result: dict[str, Json] | None = None
    for name, child in value.items():
        if keyword == "patternProperties" and _broken(name):
            result = dict(value) if result is None else result
            del result[name]
            _lose(losses, path, keyword, name, "is no regular expression that can be read here")
            continue
        new = _read(child, (*path, keyword, name), losses)
        if new is not child:
            result = dict(value) if result is None else result
            result[name] = new
    return value if result is None else result


def _many(keyword: str, value: list[Json], path: tuple[str | int, ...], losses: list[Loss]) -> Json:
    new = [_read(child, (*path, keyword, index), losses) for index, child in enumerate(value)]
    return value if all(one is other for one, other in zip(new, value, strict=True)) else new


def _older(schema: dict[str, Json], path: tuple[str | int, ...], losses: list[Loss]) -> dict[str, Json]:
    """Read what older drafts, OpenAPI 3.0 and hand-written lists of parameters say otherwise."""
    result = schema
    if isinstance(items := result.get("items"), list):
        rest = {keyword: value for keyword, value in result.items() if keyword not in {"items", "additionalItems"}}
        following = {"items": result["additionalItems"]} if "additionalItems" in result else {}
        result = {**rest, **({"prefixItems": items} if items else {}), **following}
    for exclusive, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        value = result.get(exclusive)
        if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
            continue
        result = {keyword: item for keyword, item in result.items() if keyword != exclusive}
        if value is True and bound in result:
            result[exclusive] = result.pop(bound)
    if result.get("nullable") is True:
        result = {keyword: value for keyword, value in result.items() if keyword != "nullable"}
        types = result.get("type")
        if types is not None:
            result["type"] = list(dict.fromkeys([*([types] if isinstance(types, str) else types), "null"]))
            if "enum" in result and None not in result["enum"]:
                result["enum"] = [*result["enum"], None]
    return _required(_listed_items(result, path, losses), path, losses)


def _listed_items(schema: dict[str, Json], path: tuple[str | int, ...], losses: list[Loss]) -> dict[str, Json]:
    """Read an `enum` of values that are no lists beside `type: array` as what its items may be."""
    listed = schema.get("enum")
    if schema.get("type") != "array" or not listed or any(isinstance(value, list) for value in listed):
        return schema
    _lose(losses, path, "enum", listed, "is read as what the items may be")
    rest = {keyword: value for keyword, value in schema.items() if keyword != "enum"}
    items = rest.get("items")
    return {**rest, "items": {**(items if isinstance(items, dict) else {}), "enum": listed}}


def _required(schema: dict[str, Json], path: tuple[str | int, ...], losses: list[Loss]) -> dict[str, Json]:
    """Move `required: true` from a property to the object it belongs to, as drafts before the fourth have it."""
    properties = schema.get("properties")
    flagged: list[str] = []
    if isinstance(properties, dict):
        flagged = [name for name, child in properties.items() if isinstance(child, dict) and child.get("required") is True]
        odd = [
            name
            for name, child in properties.items()
            if isinstance(child, dict) and "required" in child and not isinstance(child["required"], list)
        ]
        if odd:
            cleaned = dict(properties)
            for name in odd:
                cleaned[name] = {keyword: value for keyword, value in properties[name].items() if keyword != "required"}
            schema = {**schema, "properties": cleaned}
    if flagged:
        given = schema.get("required")
        schema = {**schema, "required": list(dict.fromkeys([*(given if isinstance(given, list) else []), *flagged]))}
    if not path and "required" in schema and not isinstance(schema["required"], list):
        _lose(losses, path, "required", schema["required"], "is no list of names and is left out")
        schema = {keyword: value for keyword, value in schema.items() if keyword != "required"}
    return schema


def _lose(losses: list[Loss], path: tuple[str | int, ...], keyword: str, value: Json, reason: str) -> None:
    losses.append(Loss(pointer(path), keyword, value, "annotation", reason))
