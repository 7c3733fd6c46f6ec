"""A schema in lines made for reading: its properties in order, with types, bounds and descriptions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

from instrc.text.jsonvalue import Json, JsonObject

OUTLINE_LEVELS: Final = 12
"""Levels of a schema that its outline shows."""
_SHORT: Final = 60
"""Characters of a value, and values of an enum, that a short outline shows of each."""
_SHORT_ENUM: Final = 8
_SAID = (
    *("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "pattern", "format"),
    *("minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties", "const", "default"),
)


def outline(schema: Json, *, whole: bool = False) -> list[str]:
    """Return a line for each property of a schema: its name (`?` if it may be left out), its type, bounds and description.

    A `whole` outline says all that a reader needs who does not see the schema: its own description, every value of an enum,
    descriptions of several lines as they are, and the definitions that are referred to.
    """
    lines: list[str] = []
    if whole and isinstance(schema, dict) and isinstance(text := schema.get("description"), str):
        lines += [*text.strip().splitlines(), ""]
    lines += _members(schema, 0, whole)
    definitions = schema.get("$defs") if whole and isinstance(schema, dict) else None
    for name, part in definitions.items() if isinstance(definitions, dict) else ():
        lines += ["", *_entry(f"{name} is", part, 0, whole), *_below(part, 1, whole)]
    return lines


def _members(schema: Json, depth: int, whole: bool) -> Iterator[str]:  # noqa: FBT001  -- as told to `outline`
    if not isinstance(schema, dict) or depth > OUTLINE_LEVELS:
        return
    properties, required = schema.get("properties"), schema.get("required")
    names = required if isinstance(required, list) else []
    for name, part in properties.items() if isinstance(properties, dict) else ():
        mark = "" if name in names else "?"
        yield from _entry(f"{' '.join(name.split())}{mark}:", part, depth, whole)
        yield from _below(part, depth + 1, whole)
    values = schema.get("additionalProperties")
    if whole and isinstance(values, dict):
        yield from _entry("(any other key):", values, depth, whole)
        yield from _below(values, depth + 1, whole)
    for word in ("anyOf", "oneOf", "allOf"):
        branches = schema.get(word)
        for index, branch in enumerate(branches) if isinstance(branches, list) else ():
            inner = list(_members(branch, depth + 1, whole))
            if inner:
                yield f"{'  ' * depth}({word} {index + 1})"
                yield from inner


def _entry(head: str, part: Json, depth: int, whole: bool) -> Iterator[str]:  # noqa: FBT001  -- as told to `outline`
    """Yield the line of one schema; the lines of its description below it, where a whole one has several."""
    text = part.get("description") if isinstance(part, dict) else None
    lines = text.strip().splitlines() if isinstance(text, str) else []
    inset = "  " * depth
    if len(lines) > 1 and whole:
        yield f"{inset}{head} {_describe(part, whole)}"
        yield from (f"{inset}  {line}".rstrip() for line in lines)
    else:
        said = f" — {' '.join(' '.join(lines).split())}" if lines else ""
        yield f"{inset}{head} {_describe(part, whole)}{said}"


def _below(part: Json, depth: int, whole: bool) -> Iterator[str]:  # noqa: FBT001  -- as told to `outline`
    yield from _members(part, depth, whole)
    items = part.get("items") if isinstance(part, dict) else None
    yield from _members(items, depth, whole)


def _describe(part: Json, whole: bool) -> str:  # noqa: FBT001  -- as told to `outline`
    if not isinstance(part, dict):
        return "anything" if part else "nothing"
    words = [_kind(part, whole)]
    words += [f"{keyword} {_value(part[keyword], whole)}" for keyword in _SAID if keyword in part and keyword != "const"]
    return ", ".join(words)


def _kind(part: JsonObject, whole: bool) -> str:  # noqa: FBT001  -- as told to `outline`
    """Return the type of a value in a few words."""
    if "const" in part:
        return f"always {_value(part['const'], whole)}"
    if isinstance(values := part.get("enum"), list):
        shown = values if whole else values[:_SHORT_ENUM]
        return "one of " + ", ".join(_value(each, whole) for each in shown) + (", …" if len(values) > len(shown) else "")
    if isinstance(part.get("$ref"), str):
        return str(part["$ref"]).rpartition("/")[2]
    said = part.get("type")
    names = said if isinstance(said, list) else [said] if isinstance(said, str) else []
    if not names:
        branches = next((found for word in ("anyOf", "oneOf") if isinstance(found := part.get(word), list)), None)
        kinds = [_kind(each, whole) if isinstance(each, dict) else "anything" for each in branches or ()]
        return " or ".join(dict.fromkeys(kinds)) if whole and kinds else " or ".join(kinds) if kinds else "anything"
    items = part.get("items")
    return " or ".join(
        f"list of {_kind(items, whole)}" if name == "array" and isinstance(items, dict) else str(name) for name in names
    )


def _value(value: Json, whole: bool) -> str:  # noqa: FBT001  -- as told to `outline`
    text = json.dumps(value, ensure_ascii=False)
    return " ".join((text if whole or len(text) <= _SHORT else f"{text[: _SHORT - 1]}…").split())
