"""Find schemas of texts that no text satisfies: too long or too short for their pattern, or with patterns that share no text."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations, product

from instrc.jsonvalue import Json, Location, listing
from instrc.schema.bounds import size
from instrc.schema.kinds import own_kinds

_TELLING = frozenset({"pattern", "allOf"})


def impossible_texts(nodes: Sequence[tuple[Location, Json]]) -> Iterator[tuple[Location, tuple[str, ...]]]:
    """Yield the paths of such schemas with the keywords that exclude each other, of those given with their paths."""
    for path, node in nodes:
        if not isinstance(node, dict) or _TELLING.isdisjoint(node) or own_kinds(node) != {"string"}:
            continue
        from instrc.schema.extents import Extent, extent  # few schemas have patterns

        members = [("", node), *(("allOf", each) for each in listing(node.get("allOf")) if isinstance(each, dict))]
        patterns: list[tuple[str, Extent]] = []
        lengths: list[tuple[str, Extent]] = []
        for holder, member in members:
            if isinstance(pattern := member.get("pattern"), str) and (found := extent(pattern)) is not None:
                patterns.append((holder or "pattern", found))
            limits = size(member, "string")
            if limits.low > 0:
                lengths.append((holder or "minLength", Extent(int(limits.low), math.inf)))
            if limits.high < math.inf:
                lengths.append((holder or "maxLength", Extent(0, limits.high)))
        pairs = (*combinations(patterns, 2), *product(patterns, lengths))
        if isinstance(own := node.get("pattern"), str) and own.startswith("/^"):  # nothing stands before the beginning of a text
            yield path, ("pattern",)
            continue
        wrong = next(((one, other) for (one, first), (other, second) in pairs if first.disjoint(second)), None)
        if wrong is not None:
            yield path, tuple(dict.fromkeys(wrong))
