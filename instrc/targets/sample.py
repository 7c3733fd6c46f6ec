"""Make one small instance of a payload's schema, to show an engine."""

from __future__ import annotations

from typing import Any

from instrc.jsonvalue import Json

_TEXTS = {
    "date-time": "2026-01-02T03:04:05Z",
    "date": "2026-01-02",
    "time": "03:04:05Z",
    "duration": "P1D",
    "email": "a@example.org",
    "hostname": "example.org",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uuid": "123e4567-e89b-12d3-a456-426614174000",
    "uri": "https://example.org/a",
}
_DEEP = 4


def sample(schema: Json, definitions: Json = None, level: int = 0) -> Json:
    """Return an instance, with optional properties near the root and without them further down; a guess where a pattern rules."""
    if not isinstance(schema, dict) or not schema:
        return "a"
    definitions = schema.get("$defs", definitions) or {}
    if "$ref" in schema:
        return sample(definitions.get(schema["$ref"].rsplit("/", 1)[-1], {}), definitions, level + 1)
    if "const" in schema:
        return schema["const"]
    if schema.get("enum"):
        return schema["enum"][0]
    if schema.get("anyOf"):
        branches = schema["anyOf"]
        if level > _DEEP:
            branches = sorted(branches, key=lambda branch: "$ref" in branch or branch.get("type") in {"object", "array"})
        return sample(branches[0], definitions, level + 1)
    types = schema.get("type")
    kind = types[0] if isinstance(types, list) and types else types
    match kind:
        case "object":
            return _object(schema, definitions, level)
        case "array":
            return _array(schema, definitions, level)
        case "integer" | "number":
            return _number(schema)
        case "boolean":
            return True
        case "null":
            return None
        case _:
            return _text(schema)


def _object(schema: dict[str, Any], definitions: Json, level: int) -> Json:
    required = schema.get("required", ())
    properties = schema.get("properties", {})
    result = {
        name: sample(child, definitions, level + 1) for name, child in properties.items() if name in required or level < _DEEP
    }
    rest = schema.get("additionalProperties")
    for number in range(int(schema.get("minProperties", 0)) - len(result)):
        result[f"k{number}"] = sample(rest, definitions, level + 1)
    return result


def _array(schema: dict[str, Any], definitions: Json, level: int) -> Json:
    prefix = schema.get("prefixItems", [])
    least = int(schema.get("minItems", 0))
    items = [sample(child, definitions, level + 1) for child in prefix[: max(least, len(prefix))]]
    rest = schema.get("items", {})
    wanted = max(least, 1 if level < _DEEP and not prefix and schema.get("maxItems", 1) > 0 else 0)
    while len(items) < wanted and rest is not False:
        items.append(sample(rest, definitions, level + 1))
    return items


def _number(schema: dict[str, Any]) -> Json:
    step = schema.get("multipleOf", 1)
    low = schema.get("minimum", schema["exclusiveMinimum"] + step if "exclusiveMinimum" in schema else None)
    high = schema.get("maximum", schema["exclusiveMaximum"] - step if "exclusiveMaximum" in schema else None)
    start = low if low is not None else min(high, 0) if high is not None else 0
    value = -(-start // step) * step
    if "exclusiveMinimum" in schema and value <= schema["exclusiveMinimum"]:
        value += step
    return value


def _text(schema: dict[str, Any]) -> str:
    if schema.get("format") in _TEXTS:
        return _TEXTS[schema["format"]]
    pattern = schema.get("pattern")
    text = "a" * max(int(schema.get("minLength", 1)), 1)
    if schema.get("maxLength", len(text)) < len(text):
        text = ""
    if pattern is None:
        return text
    import re

    guesses = (
        text,
        "",
        "a",
        "ab",
        "abc",
        "1",
        "12",
        "123",
        "A",
        "AB",
        "ABC",
        "a1",
        "2026-01-02",
        "a@b.cd",
        "+123456789",
        "#aabbcc",
    )
    return next((guess for guess in guesses if re.search(pattern, guess)), text)


def reordered(value: Json, schema: Json, definitions: Json = None) -> Json:
    """Return an instance with two required properties of one object swapped; `None` if there is no such object."""
    if not isinstance(schema, dict):
        return None
    definitions = schema.get("$defs", definitions) or {}
    if "$ref" in schema:
        return reordered(value, definitions.get(schema["$ref"].rsplit("/", 1)[-1], {}), definitions)
    if isinstance(value, dict) and isinstance(schema.get("properties"), dict):
        names = [name for name in value if name in schema.get("required", ())]
        if len(names) > 1:
            order = [names[1] if name == names[0] else names[0] if name == names[1] else name for name in value]
            return {name: value[name] for name in order}
        for name, child in schema["properties"].items():
            if name in value and (swapped := reordered(value[name], child, definitions)) is not None:
                return {**value, name: swapped}
    if isinstance(value, list) and value and isinstance(schema.get("items"), dict):
        swapped = reordered(value[0], schema["items"], definitions)
        return None if swapped is None else [swapped, *value[1:]]
    return None
