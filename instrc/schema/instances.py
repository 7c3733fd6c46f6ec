"""Think of instances that may tell two schemas apart: values near what their keywords speak of.

Not random, not complete: a bounded search from the leaves up, for witnesses.
They are many, of any schema, and most satisfy it or just fail to; `lowering.sample` makes the one that shall satisfy a payload.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

from msgspec import Struct, field

from instrc.schema.kinds import is_number, types_of
from instrc.schema.patterns import search as found_in
from instrc.schema.vocabulary import IN_PLACE
from instrc.schema.walk import required_names, subschemas
from instrc.text.jsonvalue import Json, JsonObject, at, freeze, listing, mapping
from instrc.text.limits import BRANCHES_OF_A_PLACE

INSTANCES: Final = 4000
"""Instances that are tried."""
INSTANCES_AT_A_PLACE: Final = 12
"""Values tried at one place inside a larger one."""
INSTANCE_DEPTH: Final = 6
"""Levels of an instance."""
LARGEST_INSTANCE: Final = 100
"""Properties or items of an instance that is made for its size."""
NAMED_DEPTH: Final = 2
"""Levels on which names are tried that a schema speaks of elsewhere."""
INSTANCE_NODES: Final = 200
"""Schemas that are looked through for values and names of witnesses."""


_OF_TYPE: dict[str, list[Json]] = {
    "null": [None],
    "boolean": [True, False],
    "integer": [0, 1, -1, 7],
    "number": [0.5, 0, 1, -1.5],
    "string": ["", "a", "0", "2026-01-01", "a@example.org"],
    "array": [[]],
    "object": [{}],
}


class _Search(Struct, frozen=True, eq=False):
    """What is the same for all places of one search."""

    root: Json
    extra: list[Json]
    """Values to try anywhere."""
    known: dict[tuple[int, ...], list[Json]] = field(default_factory=dict)
    """What was thought of for a place, by its level and the `id`s of the schemas about it: recursion meets them often."""

    def values_of(self, schema: Json, others: list[Json], depth: int) -> list[Json]:
        """Return the first instances for a schema inside another one."""
        key = (depth, id(schema), *map(id, others))
        found = self.known.get(key)
        if found is None:
            found = self.known[key] = list(islice(_of(schema, others, self, depth), INSTANCES_AT_A_PLACE))
        return found


def instances(*schemas: Json) -> Iterator[Json]:
    """Yield instances suggested by schemas, likelier ones first; the first schema leads, the others add values to try."""
    hints: list[Json] = []
    for schema in schemas:
        hints += _hints(schema)
    extra = _unique(hints)
    seen: set[object] = set()
    for value in islice(_of(schemas[0], schemas, _Search(schemas[0], extra), 0), INSTANCES):
        key = freeze(value)
        if key not in seen:
            seen.add(key)
            yield value


def _hints(schema: Json) -> list[Json]:
    """Return values that the keywords of a schema speak of, anywhere in it."""
    found: list[Json] = []
    for node in islice(nodes(schema), INSTANCE_NODES):
        found += _values(node)
    return found


def nodes(*schemas: Json) -> Iterator[JsonObject]:
    """Yield the schema objects in some schemas, each once."""
    stack, seen = list(schemas), set[int]()
    while stack:
        node = stack.pop()
        if not isinstance(node, dict) or id(node) in seen:
            continue
        seen.add(id(node))
        yield node
        stack.extend(child for _, child in subschemas(node))


def _names(*schemas: Json) -> list[str]:
    """Return names of properties that schemas speak of, anywhere in them, and names that their patterns may look for."""
    found: dict[str, None] = {}
    for node in islice(nodes(*schemas), INSTANCE_NODES):
        for keyword in ("properties", "dependentSchemas", "dependentRequired"):
            found.update(dict.fromkeys(mapping(node.get(keyword))))
        for regex in mapping(node.get("patternProperties")):
            found.update(dict.fromkeys(_texts(regex)))
    return list(found)[:20]


def _texts(pattern: str) -> list[str]:
    """Return a few texts in which a pattern is found, thought of from its letters."""
    plain = re.sub(r"\\(.)", lambda match: _OF_CLASS.get(match[1], match[1]), pattern)
    words = [*re.findall(r"\w+", plain), *_SHORT]
    spread = [*words, *(one + other for one in words[:4] for other in words[:4])]
    return list(islice((text for text in spread if found_in(pattern, text)), 3))


_WHOLE_FROM = 2**53
"""From here on a float has no halves; much further on it does not hold an integer at all."""
_OF_CLASS = {"d": "1", "w": "a", "s": " ", "S": "a", "D": "a", "W": "-"}
_SHORT = ["a", "b", "1", "A", "-", " ", "", "aa", "0"]


def _values(node: JsonObject) -> list[Json]:
    """Return values near those that one schema names."""
    found: list[Json] = []
    if "const" in node:
        found.append(node["const"])
    if isinstance(pattern := node.get("pattern"), str):
        found += _texts(pattern)
    found += listing(node.get("enum"))
    for keyword in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"):
        bound = node.get(keyword)
        if is_number(bound):
            found += [bound, bound + 1, bound - 1]
            if abs(bound) < _WHOLE_FROM:
                found.append(bound + 0.5)
    if is_number(factor := node.get("multipleOf")) and factor < _WHOLE_FROM:
        found += [factor * times for times in (0.5, 1.5, 30.5)]
    for keyword in ("minLength", "maxLength"):
        length = node.get(keyword)
        if is_number(length) and 0 <= length <= 1000:
            found += ["a" * int(length), "a" * (int(length) + 1), "a" * max(int(length) - 1, 0)]
    return found


def _of(schema: Json, holders: Iterable[Json], search: _Search, depth: int) -> Iterator[Json]:
    """Yield instances for one schema; `holders` are all schemas known to be about the same place."""
    if schema is False:
        return
    node = mapping(schema)
    target = _target(node, search.root)
    if target is not None:
        node = {**mapping(target), **{key: value for key, value in node.items() if key != "$ref"}}
    names = types_of(node.get("type")) or tuple(_OF_TYPE)
    around = _in_place(node, *holders)
    yield from _values(node)
    for holder in around[1:]:
        yield from _values(holder)
    yield from [_OF_TYPE[name][0] for name in names if name not in {"array", "object"}]
    if depth < INSTANCE_DEPTH:
        objects = _objects(node, around, search, depth) if "object" in names else iter(())
        arrays = _arrays(node, around, search, depth) if "array" in names else iter(())
        yield from _in_turn(objects, arrays)
    for name in names:
        yield from _OF_TYPE[name]
    for keyword in ("anyOf", "oneOf", "allOf"):
        for branch in listing(node.get(keyword)) if depth < INSTANCE_DEPTH else ():
            yield from _of(branch, around, search, depth + 1)
    yield from search.extra


def _in_turn(one: Iterator[Json], other: Iterator[Json]) -> Iterator[Json]:
    """Yield from two iterators in turn, then what is left of the longer one."""
    while True:
        try:
            yield next(one)
        except StopIteration:
            yield from other
            return
        one, other = other, one


def _in_place(node: JsonObject, *holders: Json) -> list[JsonObject]:
    """Return schemas about one place, and those in them that are about the same."""
    found = [node, *(holder for holder in holders if isinstance(holder, dict))]
    for holder in found[:BRANCHES_OF_A_PLACE]:
        below = [child for _, child in subschemas(holder, IN_PLACE) if isinstance(child, dict)]
        found += below[:BRANCHES_OF_A_PLACE]
    return found


def _objects(node: JsonObject, around: list[JsonObject], search: _Search, depth: int) -> Iterator[Json]:
    """Yield objects: the smallest that is required, then one property more or other at a time, then all of them."""
    properties: dict[str, list[Json]] = {}
    names = _names(*around) if depth < NAMED_DEPTH else []
    further: list[Json] = []
    for holder in around:
        further += [holder[keyword] for keyword in ("additionalProperties", "unevaluatedProperties") if keyword in holder]
        further += mapping(holder.get("patternProperties")).values()
        for name, schema in mapping(holder.get("properties")).items():
            properties.setdefault(name, []).append(schema)
    required = dict.fromkeys(required_names(node))
    listed = mapping(node.get("properties"))
    choices: dict[str, list[Json]] = {}
    for name in dict.fromkeys([*required, *properties, *names, "another", ""]):
        own = listed.get(name)
        lead = own if own is not None else node.get("additionalProperties", True)
        others = [*properties.get(name, []), *further]
        choices[name] = search.values_of(lead, others, depth + 1)
    least = {name: choices[name][0] for name in required if choices[name]}
    yield least
    for count in _sizes(around, "minProperties", "maxProperties"):
        yield {**least, **{f"p{number}": None for number in range(count - len(least))}}
    for name, values in choices.items():
        for value in values:
            yield {**least, name: value}
    for name in required:
        yield {key: value for key, value in least.items() if key != name}
    yield {name: values[0] for name, values in choices.items() if values}


def _arrays(node: JsonObject, around: list[JsonObject], search: _Search, depth: int) -> Iterator[Json]:
    """Yield arrays: none, one and a few items of each kind."""
    yield []
    others = [holder[word] for word in ("items", "contains", "unevaluatedItems") for holder in around if word in holder]
    others += [schema for holder in around for schema in listing(holder.get("prefixItems"))]
    prefix = listing(node.get("prefixItems"))
    firsts = [next(iter(search.values_of(schema, [], depth + 1)), None) for schema in prefix[:50]]
    items = search.values_of(node.get("items", True), others, depth + 1)
    least = node.get("minItems")
    count = int(least) if is_number(least) and 0 <= least <= 100 else 0
    for count in _sizes(around, "minItems", "maxItems"):
        yield [*firsts, *items, *range(count)][:count]
    for item in items:
        yield [*firsts, item]
        if count:
            yield [item] * count
        yield [item, item]
    yield items
    yield firsts


def _sizes(around: list[JsonObject], *keywords: str) -> Iterator[int]:
    """Yield sizes just within and beyond those that schemas ask for."""
    sizes = {size for holder in around for keyword in keywords if is_number(size := holder.get(keyword))}
    for size in sorted(sizes)[:4]:
        yield from (each for each in (int(size) + 1, int(size)) if 0 < size <= LARGEST_INSTANCE)


def _target(node: JsonObject, root: Json) -> Json:
    """Return what a reference within a flat schema leads to, if the schema is one."""
    reference = node.get("$ref")
    if not isinstance(reference, str) or not reference.startswith("#"):
        return None
    try:
        return at(root, reference[1:])
    except (LookupError, ValueError):
        return None


def _unique(values: list[Json]) -> list[Json]:
    seen: set[object] = set()
    kept = []
    for value in values:
        key = freeze(value)
        if key not in seen:
            seen.add(key)
            kept.append(value)
    return kept
