"""A schema as lines for people: what a model fills in, in order, one property a line."""

from __future__ import annotations

import json
from collections.abc import Iterator

from instrc.draw.words import printable
from instrc.jsonvalue import Json
from instrc.limits.programs import OUTLINE_LEVELS

_SAID = (
    *("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "pattern", "format"),
    *("minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties", "const", "default"),
)


def outline(schema: Json) -> list[str]:
    """Return a line for each property of a schema: its name (`?` if it may be left out), its type, bounds and description."""
    return list(_members(schema, 0))


def _members(schema: Json, depth: int) -> Iterator[str]:
    if not isinstance(schema, dict) or depth > OUTLINE_LEVELS:
        return
    properties = schema.get("properties")
    required = schema.get("required")
    names = required if isinstance(required, list) else []
    for name, part in properties.items() if isinstance(properties, dict) else ():
        mark = "" if name in names else "?"
        yield f"{'  ' * depth}{printable(name)}{mark}: {_describe_schema(part)}"
        yield from _below(part, depth + 1)
    for word in ("anyOf", "oneOf", "allOf"):
        branches = schema.get(word)
        for index, branch in enumerate(branches) if isinstance(branches, list) else ():
            inner = list(_members(branch, depth + 1))
            if inner:
                yield f"{'  ' * depth}({word} {index + 1})"
                yield from inner


def _below(part: Json, depth: int) -> Iterator[str]:
    yield from _members(part, depth)
    items = part.get("items") if isinstance(part, dict) else None
    yield from _members(items, depth)


def _describe_schema(part: Json) -> str:
    if not isinstance(part, dict):
        return "anything" if part else "nothing"
    words = [_kind(part)]
    words += [f"{keyword} {_value(part[keyword])}" for keyword in _SAID if keyword in part and keyword != "const"]
    description = part.get("description")
    text = ", ".join(words)
    return f"{text} — {printable(description)}" if isinstance(description, str) and description else text


def _kind(part: dict[str, Json]) -> str:
    """Return the type of a value in a few words."""
    if "const" in part:
        return f"always {_value(part['const'])}"
    if isinstance(values := part.get("enum"), list):
        return "one of " + ", ".join(map(_value, values[:8])) + (", …" if len(values) > 8 else "")
    if isinstance(part.get("$ref"), str):
        return str(part["$ref"]).rpartition("/")[2]
    said = part.get("type")
    names = said if isinstance(said, list) else [said] if isinstance(said, str) else []
    if not names:
        branches = next((found for word in ("anyOf", "oneOf") if isinstance(found := part.get(word), list)), None)
        return " or ".join(_kind(each) if isinstance(each, dict) else "anything" for each in branches) if branches else "anything"
    items = part.get("items")
    return " or ".join(f"list of {_kind(items)}" if name == "array" and isinstance(items, dict) else str(name) for name in names)


def _value(value: Json) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return printable(text if len(text) <= 60 else f"{text[:59]}…")
