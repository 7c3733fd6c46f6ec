"""Change the order of keys in an instance: what an engine has to refuse that keeps the declared order."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from instrc.codecs.acceptance import accepts
from instrc.jsonvalue import Json, JsonObject, listing, mapping, pointer
from instrc.limits.payloads import SAMPLE_LEVELS
from instrc.lowering.sample import referred


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
