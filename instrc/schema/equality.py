"""Compare many parts of the same values, each pair of them once."""

from __future__ import annotations

from collections.abc import Iterable

from instrc.jsonvalue import Json, freeze


class Equality:
    """Tells equal values from others, as `jsonvalue.equal` does, and remembers which parts differ.

    Who goes down two deep values and asks again at every level needs as many steps as there are levels, not their square.
    """

    def __init__(self, *, ordered: bool = False) -> None:
        """Ask for objects with their members in the same order if `ordered`."""
        self._ordered = ordered
        self._different: dict[tuple[int, int], tuple[Json, Json]] = {}
        """Kept alive, since they are known by identity."""

    def __call__(self, left: Json, right: Json) -> bool:
        """Tell whether two values are equal as JSON."""
        stack: list[tuple[Json, Json, bool]] = [(left, right, True)]
        path: list[tuple[Json, Json]] = []
        seen: set[tuple[int, int]] = set()
        while stack:
            a, b, entering = stack.pop()
            if not entering:
                path.pop()
                continue
            if a is b:
                continue
            pair = (id(a), id(b))
            if isinstance(a, dict | list):
                if pair in seen:
                    continue  # parts may be shared, many times over
                seen.add(pair)
                path.append((a, b))
                stack.append((a, b, False))
            below = None if pair in self._different else _below(a, b, ordered=self._ordered)
            if below is None:
                self._different |= {(id(one), id(other)): (one, other) for one, other in path}
                return False
            stack.extend((one, other, True) for one, other in below)
        return True


def _below(a: Json, b: Json, *, ordered: bool) -> list[tuple[Json, Json]] | None:
    """Return the pairs of parts that have to be equal; `None` if two values differ by themselves."""
    if isinstance(a, bool) or isinstance(b, bool):
        return [] if a is b else None
    if isinstance(a, dict) and isinstance(b, dict):
        alike = list(a) == list(b) if ordered else a.keys() == b.keys()
        return [(item, b[key]) for key, item in a.items()] if alike else None
    if isinstance(a, list) and isinstance(b, list):
        return list(zip(a, b, strict=True)) if len(a) == len(b) else None
    return [] if a == b else None


class EqualityKeys:
    """Gives values keys that are equal exactly if the values are equal as JSON; parts that are shared are read once."""

    __slots__ = ("_known", "_numbers")

    def __init__(self) -> None:
        self._known: dict[int, tuple[Json, object]] = {}
        """Keys by the `id` of the value, which is kept alive."""
        self._numbers: dict[object, tuple[str, int]] = {}
        """What stands for a list or an object, by what it holds."""

    def __call__(self, value: Json) -> object:
        """Return the key of a value."""
        known, numbers = self._known, self._numbers
        stack = [value]
        while stack:
            whole = stack[-1]
            if (whole.__class__ is not dict and whole.__class__ is not list) or id(whole) in known:
                stack.pop()
                continue
            parts = whole.values() if whole.__class__ is dict else whole
            open_parts = [part for part in parts if (part.__class__ is dict or part.__class__ is list) and id(part) not in known]
            if open_parts:
                stack += open_parts
                continue
            held: object = (
                frozenset([(name, self._part(part)) for name, part in whole.items()])
                if whole.__class__ is dict
                else tuple([self._part(part) for part in whole])
            )
            known[id(whole)] = (whole, numbers.setdefault(held, ("whole", len(numbers))))
        return self._part(value)

    def _part(self, value: Json) -> object:
        found = self._known.get(id(value))
        return freeze(value) if found is None else found[1]


def unique(values: Iterable[Json]) -> list[Json]:
    """Return values without those that equal an earlier one."""
    found: dict[object, Json] = {}
    key_of = EqualityKeys()
    for value in values:
        found.setdefault(key_of(value), value)
    return list(found.values())
