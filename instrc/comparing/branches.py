"""Find for the branches of a union those that they stood for in an older one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection

from instrc.jsontext import dumps
from instrc.jsonvalue import Json, listing, mapping
from instrc.schema.kinds import types_of

UNIONS = ("anyOf", "oneOf")


def union_of(schema: Json) -> str:
    """Return the keyword of the union that a schema is; empty if it is not one."""
    return next((word for word in UNIONS if listing(mapping(schema).get(word))), "")


def paired(old: list[Json], new: list[Json]) -> list[tuple[int, int]]:
    """Return places of old and new branches that stand for each other: equal ones, then those with equal signs."""
    found: dict[int, int] = {}
    taken: set[int] = set()
    for sign in _SIGNS:
        before, after = _by_sign(old, sign, taken), _by_sign(new, sign, found.keys())
        for mark, places in after.items():
            if mark and len(places) == len(before[mark]) == 1:
                found[places[0]] = before[mark][0]
                taken.add(before[mark][0])
    return sorted((was, now) for now, was in found.items())


def constants_of(branch: Json) -> dict[str, Json]:
    """Return the properties of an object that can have one value only: they say which branch it is."""
    properties = mapping(mapping(branch).get("properties"))
    return {name: each["const"] for name, each in properties.items() if isinstance(each, dict) and "const" in each}


def _by_sign(branches: list[Json], sign: Callable[[Json], str], taken: Collection[int]) -> defaultdict[str, list[int]]:
    found: defaultdict[str, list[int]] = defaultdict(list)
    for place, branch in enumerate(branches):
        if place not in taken:
            found[sign(branch)].append(place)
    return found


def _written(branch: Json) -> str:
    return dumps(branch, indent=False)


def _constants(branch: Json) -> str:
    found = constants_of(branch)
    return dumps({name: found[name] for name in sorted(found)}, indent=False) if found else ""


def _named(branch: Json) -> str:
    found = mapping(branch)
    return str(found.get("$ref") or found.get("title") or "")


def _typed(branch: Json) -> str:
    return " ".join(types_of(mapping(branch).get("type")) or ())


_SIGNS: tuple[Callable[[Json], str], ...] = (_written, _constants, _named, _typed)
