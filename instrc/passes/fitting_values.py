"""What fits an argument and was probably meant by what does not: the same value as another kind, or a member beside it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from instrc.jsontext import dumps, loads
from instrc.jsonvalue import Json, listing, mapping, tokens
from instrc.limits.programs import LISTED_VALUES
from instrc.problems.suggest import FOREIGN_VALUES, nearest
from instrc.schema.evaluation import satisfies
from instrc.schema.literals import literal_fault
from instrc.schema.relations import disjoint
from instrc.schema.walk import walk


def fitting_literals(value: Json, schema: Json, place: str) -> tuple[str, ...]:
    """Return what may stand at a place of a literal, a JSON Pointer, so that the whole is valid, as a program writes it."""
    around: list[tuple[Json, str | int]] = []
    part = value
    for step in tokens(place):
        key = int(step) if isinstance(part, list) else step
        around.append((part, key))
        part = part[key] if isinstance(part, list) and isinstance(key, int) else mapping(part)[step]
    for each in _readings(part, schema):
        whole = each
        for holder, key in reversed(around):
            whole = _with(holder, key, whole)
        if literal_fault(whole, schema) is None:
            return (dumps(each, indent=False),)
    return ()


def fitting_members(value: Json, schema: Json) -> tuple[str, ...]:
    """Return which members of a value fit a schema, by their own schemas; none of which nothing is known."""
    members = mapping(mapping(value).get("properties")) if isinstance(value, dict) else {}
    return tuple(name for name, own in members.items() if own not in (True, {}) and not disjoint(own, schema))[:LISTED_VALUES]


def _readings(value: Json, schema: Json) -> Iterator[Json]:
    """Yield what a value was probably meant to be: without quotes or in quotes, a listed one that is near, a list of it."""
    if isinstance(value, str):
        with suppress(ValueError):
            yield loads(FOREIGN_VALUES.get(value, value).lower())
        listed = (text for _, node in walk(schema) if isinstance(node, dict) for text in listing(node.get("enum")))
        yield from nearest(value, (text for text in listed if isinstance(text, str)))
    elif isinstance(value, int | float):
        yield dumps(value, indent=False)
    if not isinstance(value, list | dict) and satisfies([], schema) is not False:
        yield [value]


def _with(holder: Json, key: str | int, part: Json) -> Json:
    """Return a list or an object with another part under a key."""
    if isinstance(holder, list):
        return [part if place == key else each for place, each in enumerate(holder)]
    return {name: part if name == key else each for name, each in mapping(holder).items()}
