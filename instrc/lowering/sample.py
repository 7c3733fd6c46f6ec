"""Make one small instance of a payload's schema, to show an engine."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

from instrc.codecs.judge import accepts
from instrc.jsonvalue import AnyJson as Json
from instrc.jsonvalue import at, pointer
from instrc.limits import SAMPLE_LEVELS, SAMPLE_VALUES

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


def sample(schema: Json) -> Json:
    """Return an instance, with optional properties near the root and without them further down; a guess where a pattern rules."""
    return _Sampler(schema).make(schema, 0)


class _Sampler:
    """The making of one sample."""

    def __init__(self, root: Json) -> None:
        self._root = root
        self._left = SAMPLE_VALUES

    def make(self, schema: Json, level: int) -> Json:
        """Return an instance of a schema somewhere in the document; null where it has become too large."""
        self._left -= 1
        if self._left < 0 or level > SAMPLE_LEVELS:
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
        for number in range(min(int(schema.get("minProperties", 0)), SAMPLE_VALUES) - len(result)):
            result[f"k{number}"] = self.make(rest, level + 1)
        return result

    def _array(self, schema: dict[str, Any], level: int) -> Json:
        prefix = schema.get("prefixItems", [])
        least = min(int(schema.get("minItems", 0)), SAMPLE_VALUES)
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
    return int(value) if isinstance(value, float) and value.is_integer() else value  # llguidance knows no `2.0` beside multipleOf


def _text(schema: dict[str, Any]) -> str:
    if schema.get("format") in _TEXTS:
        return _TEXTS[schema["format"]]
    pattern = schema.get("pattern")
    text = "a" * max(int(schema.get("minLength", 1)), 1)
    if schema.get("maxLength", len(text)) < len(text):
        text = ""
    if pattern is None:
        return text
    from instrc.codecs.patterns import matches

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
    return next((guess for guess in guesses if matches(pattern, guess)), text)


class Swap(NamedTuple):
    """An instance in which two neighbours that a schema declares have changed places."""

    value: Json
    place: str
    """Of the object, as a JSON Pointer into the instance."""
    keys: tuple[str, str]


def swaps(value: Json, schema: Json) -> Iterator[Swap]:
    """Yield an instance with each pair of declared neighbours swapped, one pair at a time; undeclared keys have no order."""
    yield from _swaps(value, schema, schema, (), 0)


def _swaps(value: Json, schema: Json, root: Json, path: tuple[str | int, ...], level: int) -> Iterator[Swap]:
    if not isinstance(schema, dict) or level > SAMPLE_LEVELS:
        return
    if "$ref" in schema:
        yield from _swaps(value, referred(root, schema["$ref"]), root, path, level + 1)
    elif "anyOf" in schema:
        meant = (branch for branch in schema["anyOf"] if accepts(branch, value, root.get("$defs")))
        yield from _swaps(value, next(meant, None), root, path, level + 1)
    elif isinstance(value, dict):
        properties = schema.get("properties", {})
        names = list(value)
        for first, second in pairwise(names):
            if first in properties and second in properties:
                order = [second if name == first else first if name == second else name for name in names]
                yield Swap({name: value[name] for name in order}, pointer(path), (first, second))
        for name, item in value.items():
            child = properties.get(name, schema.get("additionalProperties"))
            for found in _swaps(item, child, root, (*path, name), level + 1):
                yield found._replace(value={**value, name: found.value})
    elif isinstance(value, list):
        prefix = schema.get("prefixItems", [])
        for index, item in enumerate(value):
            child = prefix[index] if index < len(prefix) else schema.get("items")
            for found in _swaps(item, child, root, (*path, index), level + 1):
                yield found._replace(value=[*value[:index], found.value, *value[index + 1 :]])
