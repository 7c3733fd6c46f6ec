"""Make one small instance of a payload's schema, to show an engine."""

from __future__ import annotations

from typing import Any

from instrc.jsonvalue import Json, at

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


_DEEPEST = 120
_MOST = 5000
"""Values of one sample: of a schema that asks for itself in its own place there is no whole one."""


def sample(schema: Json) -> Json:
    """Return an instance, with optional properties near the root and without them further down; a guess where a pattern rules."""
    return _Sampler(schema).make(schema, 0)


class _Sampler:
    """The making of one sample."""

    def __init__(self, root: Json) -> None:
        self._root = root
        self._left = _MOST

    def make(self, schema: Json, level: int) -> Json:
        """Return an instance of a schema somewhere in the document; null where it has become too large."""
        self._left -= 1
        if self._left < 0 or level > _DEEPEST:
            return None
        if not isinstance(schema, dict) or not schema:
            return "a"
        if "$ref" in schema:
            return self.make(referred(self._root, schema["$ref"]), level + 1)
        if "const" in schema:
            return schema["const"]
        if schema.get("enum"):
            return schema["enum"][0]
        if schema.get("anyOf"):
            branches = schema["anyOf"]
            if level > _DEEP:
                branches = sorted(branches, key=lambda branch: "$ref" in branch or branch.get("type") in {"object", "array"})
            return self.make(branches[0], level + 1)
        types = schema.get("type")
        match types[0] if isinstance(types, list) and types else types:
            case "object":
                return self._object(schema, level)
            case "array":
                return self._array(schema, level)
            case "integer" | "number":
                return _number(schema)
            case "boolean":
                return True
            case "null":
                return None
            case _:
                return _text(schema)

    def _object(self, schema: dict[str, Any], level: int) -> Json:
        required = schema.get("required", ())
        result = {
            name: self.make(child, level + 1)
            for name, child in schema.get("properties", {}).items()
            if name in required or level < _DEEP
        }
        rest = schema.get("additionalProperties")
        for number in range(min(int(schema.get("minProperties", 0)), _MOST) - len(result)):
            result[f"k{number}"] = self.make(rest, level + 1)
        return result

    def _array(self, schema: dict[str, Any], level: int) -> Json:
        prefix = schema.get("prefixItems", [])
        least = min(int(schema.get("minItems", 0)), _MOST)
        items = [self.make(child, level + 1) for child in prefix[: max(least, len(prefix))]]
        rest = schema.get("items", {})
        wanted = max(least, 1 if level < _DEEP and not prefix and schema.get("maxItems", 1) > 0 else 0)
        while len(items) < wanted and rest is not False:
            items.append(self.make(rest, level + 1))
        return items


def referred(root: Json, reference: str) -> Json:
    """Return what a local reference of a payload stands for; the schema that allows everything if it leads nowhere."""
    from urllib.parse import unquote

    try:
        return at(root, unquote(reference.removeprefix("#")))
    except (LookupError, ValueError):
        return {}


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


def reordered(value: Json, schema: Json) -> Json:
    """Return an instance with two required properties of one object swapped; `None` if there is no such object."""
    return _swapped(value, schema, schema, 0)


def _swapped(value: Json, schema: Json, root: Json, level: int) -> Json:
    if not isinstance(schema, dict) or level > _DEEPEST:
        return None
    if "$ref" in schema:
        return _swapped(value, referred(root, schema["$ref"]), root, level + 1)
    if isinstance(value, dict) and isinstance(schema.get("properties"), dict):
        names = [name for name in value if name in schema.get("required", ())]
        if len(names) > 1:
            order = [names[1] if name == names[0] else names[0] if name == names[1] else name for name in value]
            return {name: value[name] for name in order}
        for name, child in schema["properties"].items():
            if name in value and (inner := _swapped(value[name], child, root, level + 1)) is not None:
                return {**value, name: inner}
    if isinstance(value, list) and value and isinstance(schema.get("items"), dict):
        inner = _swapped(value[0], schema["items"], root, level + 1)
        return None if inner is None else [inner, *value[1:]]
    return None
