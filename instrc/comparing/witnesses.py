"""Think of instances that tell two schemas apart in one part, and are ordinary in all others.

`flattening.instances` looks around the root of a schema.  What has changed far down is found here: the way goes from the roots
to the parts that differ, and what is thought of for such a part is put into a sample of what stands around it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple, TypeAlias

from instrc.comparing.branches import paired
from instrc.flattening.instances import instances
from instrc.jsonvalue import Json, JsonObject, equal, listing, mapping
from instrc.limits.schemas import BRANCHES_OF_A_PLACE, COMPARED_LEVELS, COMPARED_PARTS, INSTANCES_OF_A_PART, SHALLOW
from instrc.lowering.sample import referred, sample
from instrc.lowering.sample_texts import text_of
from instrc.schema.members import of_property
from instrc.schema.relations import Answering, disjoint
from instrc.schema.walk import refers

_Place: TypeAlias = tuple[str | int, Json]
"""The name or number of a part, and a sample of what it is a part of."""


class _Pair(NamedTuple):
    """Two schemas about one place, and the way to it."""

    narrow: Json
    wide: Json
    way: tuple[_Place, ...] = ()


def differing_in_a_part(narrow: Json, wide: Json) -> Iterator[Json]:
    """Yield instances that `narrow` may accept and `wide` may refuse, for the sake of a part below the root or of a branch."""
    search = _PartSearch(narrow, wide)
    waiting = deque([_Pair(narrow, wide)])
    for number in range(COMPARED_PARTS):
        if not waiting:
            return
        pair = waiting.popleft()
        parts = search.alone(pair)
        yield _in_place(sample(parts.narrow), pair.way)
        if number:  # the roots have been looked at
            for value in islice(instances(parts.narrow, parts.wide), INSTANCES_OF_A_PART):
                yield _in_place(value, pair.way)
        waiting += search.below(pair)


class _PartSearch:
    """The way from the roots of two documents to parts that differ, each pair of them once."""

    def __init__(self, narrow: Json, wide: Json) -> None:
        self.roots = mapping(narrow), mapping(wide)
        self.definitions = tuple(mapping(root.get("$defs")) for root in self.roots)
        self.same_definitions = equal(*self.definitions)
        self.answering = Answering(None)
        """It remembers what it was asked of parts when it was asked of what is around them."""
        self.seen: dict[tuple[int, int], _Pair] = {}
        """By the `id`s of the schemas, which are kept alive."""

    def below(self, pair: _Pair) -> Iterator[_Pair]:
        """Yield the pairs of parts, and of branches, of two schemas in which they may differ."""
        for part in self._parts(self._followed(pair)):
            found = self._followed(part)
            key = id(found.narrow), id(found.wide)
            if key not in self.seen and len(found.way) <= COMPARED_LEVELS and self._differs(found):
                self.seen[key] = found
                yield found

    def alone(self, pair: _Pair) -> _Pair:
        """Return two schemas as documents of their own."""
        narrow, wide = (
            {**schema, "$defs": named} if isinstance(schema, dict) and named and refers(schema) else schema
            for schema, named in zip(pair[:2], self.definitions, strict=True)
        )
        return _Pair(narrow, wide)

    def _differs(self, pair: _Pair) -> bool:
        """Tell whether it is not certain that one schema accepts all that the other does."""
        self.answering.steps = 0
        certain = self.answering.implies(pair.narrow, pair.wide, SHALLOW)
        return not certain or not (self.same_definitions or not refers(pair.narrow))

    def _followed(self, pair: _Pair) -> _Pair:
        """Return what two schemas stand for, if they are references with nothing beside them that asserts."""
        narrow, wide = (
            referred(root, str(schema["$ref"])) if isinstance(schema, dict) and "$ref" in schema else schema
            for schema, root in zip(pair[:2], self.roots, strict=True)
        )
        return _Pair(narrow, wide, pair.way)

    def _parts(self, pair: _Pair) -> Iterator[_Pair]:
        narrow, wide, way = pair
        branches, others = _branches(narrow), _branches(wide)
        if branches or others:
            yield from (_Pair(branch, other, way) for branch, other in _pairs_of_branches(branches or [narrow], others or [wide]))
        left, right = mapping(narrow), mapping(wide)
        names = dict.fromkeys([*_names(left), *_names(right)])
        if not names and "items" not in left and "prefixItems" not in left:
            return
        kind = "object" if names else "array"
        around = sample({**mapping(self.alone(pair).narrow), "type": kind})
        if isinstance(around, dict):
            for name in names:
                yield _Pair(_member(left, name), _member(right, name), (*way, (name, around)))
        elif isinstance(around, list):
            first, other = listing(left.get("prefixItems")), listing(right.get("prefixItems"))
            for number in range(len(first) + 1):
                yield _Pair(_item(left, first, number), _item(right, other, number), (*way, (number, around)))


def _branches(schema: Json) -> list[Json]:
    """Return the schemas of which an instance satisfies one."""
    return [branch for word in ("anyOf", "oneOf") for branch in listing(mapping(schema).get(word))]


def _pairs_of_branches(branches: list[Json], others: list[Json]) -> Iterator[tuple[Json, Json]]:
    """Yield branches with those that they stand for; the first of the rest with all that have something in common with them."""
    pairs = paired(others, branches)
    yield from ((branches[now], others[was]) for was, now in pairs)
    known, taken = {now for _, now in pairs}, {was for was, _ in pairs}
    rest = [branch for place, branch in enumerate(branches) if place not in known][:BRANCHES_OF_A_PLACE]
    left = [other for place, other in enumerate(others) if place not in taken][:BRANCHES_OF_A_PLACE]
    for branch in rest:
        near = [other for other in left if not disjoint(branch, other)]
        yield from ((branch, other) for other in near or [False])


def _names(schema: JsonObject) -> Iterator[str]:
    """Yield names of properties that a schema speaks of, one for each pattern."""
    yield from mapping(schema.get("properties"))
    for pattern in mapping(schema.get("patternProperties")):
        name = text_of({"pattern": pattern})
        if name.sure:
            yield name.value


def _member(schema: JsonObject, name: str) -> Json:
    """Return what a schema says of a property."""
    found = of_property(schema, name)
    return {"allOf": found} if len(found) > 1 else found[0] if found else True


def _item(schema: JsonObject, first: list[Json], number: int) -> Json:
    return first[number] if number < len(first) else schema.get("items", True)


def _in_place(value: Json, way: tuple[_Place, ...]) -> Json:
    """Return the sample around the first part of a way, with a value at its end."""
    for name, around in reversed(way):
        if isinstance(around, dict):
            value = {**around, str(name): value}
        elif isinstance(around, list) and isinstance(name, int):
            value = [*around[:name], value, *around[name + 1 :]]
    return value
