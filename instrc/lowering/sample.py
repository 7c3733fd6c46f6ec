"""Make one small instance of a payload's schema: to show an engine, and as the answer where a process is rehearsed.

It shall satisfy the schema, of which it reads the keywords that payloads keep; `flattening.instances` looks for many values
near the bounds of any schema, which may fail it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from instrc.codecs.acceptance import accepts
from instrc.jsonvalue import Json, JsonArray, JsonObject, at, listing, mapping, pointer
from instrc.limits.payloads import SAMPLE_CHARACTERS, SAMPLE_LEVELS, SAMPLE_OPTIONAL_LEVELS, SAMPLE_VALUES
from instrc.schema.laws.bounds import bound
from instrc.schema.members import required_names

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


def sample(schema: Json) -> Json:
    """Return an instance, with optional properties near the root and without them further down; a guess where a pattern rules."""
    return _made(schema, schema, 0, SAMPLE_VALUES).value


class _Made(NamedTuple):
    """A value, and how many more schemas may be looked at for the rest of the sample."""

    value: Json
    left: int


def _made(schema: Json, root: Json, level: int, left: int) -> _Made:
    """Return an instance of a schema somewhere in the document; null where it has become too large."""
    left -= 1
    if left < 0 or level > SAMPLE_LEVELS:
        return _Made(None, left)
    if not isinstance(schema, dict) or not schema:
        return _Made("a", left)
    if "$ref" in schema:
        return _made(referred(root, str(schema["$ref"])), root, level + 1, left)
    if "const" in schema:
        return _Made(schema["const"], left)
    if listed := listing(schema.get("enum")):
        return _Made(listed[0], left)
    if branches := listing(schema.get("anyOf")):
        first = min(branches, key=_holds_others) if level > SAMPLE_OPTIONAL_LEVELS else branches[0]
        return _made(first, root, level + 1, left)
    types = schema.get("type")
    match types[0] if isinstance(types, list) and types else types:
        case "object":
            return _object(schema, root, level, left)
        case "array":
            return _array(schema, root, level, left)
        case "integer" | "number":
            return _Made(_number(schema), left)
        case "boolean":
            return _Made(value=True, left=left)
        case "null":
            return _Made(None, left)
        case _:
            return _Made(_text(schema), left)


def _holds_others(branch: Json) -> bool:
    """Say whether values of a schema may hold others, so that an instance of it would go on."""
    return isinstance(branch, dict) and ("$ref" in branch or branch.get("type") in ("object", "array"))


def _object(schema: JsonObject, root: Json, level: int, left: int) -> _Made:
    required = required_names(schema)
    result: JsonObject = {}
    for name, child in mapping(schema.get("properties")).items():
        if name in required or level < SAMPLE_OPTIONAL_LEVELS:
            result[name], left = _made(child, root, level + 1, left)
    rest = schema.get("additionalProperties")
    for number in range(min(int(bound(schema, "minProperties") or 0), SAMPLE_VALUES) - len(result)):
        result[f"k{number}"], left = _made(rest, root, level + 1, left)
    return _Made(result, left)


def _array(schema: JsonObject, root: Json, level: int, left: int) -> _Made:
    prefix = listing(schema.get("prefixItems"))
    least, most = min(int(bound(schema, "minItems") or 0), SAMPLE_VALUES), bound(schema, "maxItems")
    items: JsonArray = []
    for child in prefix[: max(least, len(prefix))]:
        item, left = _made(child, root, level + 1, left)
        items.append(item)
    rest = schema.get("items", {})
    wanted = max(least, 1 if level < SAMPLE_OPTIONAL_LEVELS and not prefix and (most is None or most > 0) else 0)
    while len(items) < wanted and rest is not False:
        item, left = _made(rest, root, level + 1, left)
        items.append(item)
    return _Made(items, left)


def referred(root: Json, reference: str) -> Json:
    """Return what a local reference of a payload stands for; the schema that allows everything if it leads nowhere."""
    from urllib.parse import unquote

    try:
        return at(root, unquote(reference.removeprefix("#")))
    except (LookupError, ValueError):
        return {}


def _number(schema: JsonObject) -> Json:
    step = bound(schema, "multipleOf") or 1
    above, below = bound(schema, "exclusiveMinimum"), bound(schema, "exclusiveMaximum")
    low = bound(schema, "minimum") if "minimum" in schema else None if above is None else above + step
    high = bound(schema, "maximum") if "maximum" in schema else None if below is None else below - step
    start = low if low is not None else min(high, 0) if high is not None else 0
    value = -(-start // step) * step
    if above is not None and value <= above:
        value += step
    return int(value) if isinstance(value, float) and value.is_integer() else value  # llguidance knows no `2.0` beside multipleOf


def _text(schema: JsonObject) -> str:
    format_of, pattern = schema.get("format"), schema.get("pattern")
    if isinstance(format_of, str) and format_of in _TEXTS:
        return _TEXTS[format_of]
    least, most = bound(schema, "minLength"), bound(schema, "maxLength")
    text = "a" * max(1 if least is None else int(min(least, SAMPLE_CHARACTERS)), 1)
    if most is not None and most < len(text):
        text = ""
    if not isinstance(pattern, str):
        return text
    from instrc.codecs.patterns import may_match

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
    return next((guess for guess in guesses if may_match(pattern, guess)), text)


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
        yield from _swaps(value, referred(root, str(schema["$ref"])), root, path, level + 1)
    elif "anyOf" in schema:
        definitions = mapping(mapping(root).get("$defs"))
        fitting = (branch for branch in listing(schema["anyOf"]) if accepts(branch, value, definitions))
        yield from _swaps(value, next(fitting, None), root, path, level + 1)
    elif isinstance(value, dict):
        properties = mapping(schema.get("properties"))
        names = list(value)
        for first, second in pairwise(names):
            if first in properties and second in properties:
                order = [second if name == first else first if name == second else name for name in names]
                swapped: JsonObject = {name: value[name] for name in order}
                yield Swap(swapped, pointer(path), (first, second))
        for name, item in value.items():
            child = properties.get(name, schema.get("additionalProperties"))
            for found in _swaps(item, child, root, (*path, name), level + 1):
                around: JsonObject = {**value, name: found.value}
                yield found._replace(value=around)
    elif isinstance(value, list):
        prefix = listing(schema.get("prefixItems"))
        for index, item in enumerate(value):
            child = prefix[index] if index < len(prefix) else schema.get("items")
            for found in _swaps(item, child, root, (*path, index), level + 1):
                yield found._replace(value=[*value[:index], found.value, *value[index + 1 :]])
