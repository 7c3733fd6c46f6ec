"""Tell what leaves nothing of a schema that was possible: an annotation behind it, or what fills its slots."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeAlias

from instrc import problems
from instrc.jsonvalue import Json, Location, at, listing, mapping, pointer
from instrc.problems.problem import Problem
from instrc.schema.maybe_impossible import may_hold_impossible
from instrc.schema.walk import walk
from instrc.source import Span
from instrc.syntax.places import place_in

if TYPE_CHECKING:
    from instrc.schema.impossible import Impossible


Locate: TypeAlias = Callable[[str], Span | None]
"""The place of a part of a vibe, by its JSON Pointer."""


def impossible(schema: Json, place: Span, locate: Locate) -> Iterator[Problem]:
    """Yield why nobody can fill in a step with a flat schema, which is used at a place.

    `locate` finds a part of it in its vibe; `None` for a schema that is written at the place itself.
    """
    for part in _parts(schema):
        if _is_impossible(schema):
            written = tuple(locate(pointer((*part.path, word))) for word in part.words)
            others = tuple(dict.fromkeys(each for each in written if each is not None))
            inline = not others and "{" in place.text  # the whole of the part is shown: warnings inside say the same
            yield _problem(part, place_in(place, pointer(part.path)) if inline else place, fatal=True, others=others)


def newly_impossible(before: Json, schema: Json, added: Json, place: Span, *, fatal: bool = False) -> Iterator[Problem]:
    """Yield the parts of a flat schema that nothing satisfies since something was added, which is written at a place.

    That is `fatal` wherever it is, or where nothing satisfies the whole.
    What was impossible before, or is so by what is added alone and may be left out, is told where it is written.
    """
    found = _parts(schema)
    if not found:
        return
    known = {part.path for part in _parts(before)}
    alone = {part.path for part in _parts(added)}
    for part in found:
        needed = _is_needed(schema, part.path)
        if part.path not in known and (needed or part.path not in alone):
            # where what is added leaves nothing by itself, the whole of it is shown: warnings inside say the same
            at = place_in(place, pointer(part.path)) if part.path in alone and "{" in place.text else _place(part, added, place)
            yield _problem(part, at, fatal=fatal or needed or _is_impossible(schema))


def _is_needed(schema: Json, path: Location) -> bool:
    """Tell whether a part of a schema stands where every object has a value: each property on the way is required."""
    names = iter(path)
    for word in names:
        if word == "properties" and isinstance(schema, dict):
            name = next(names, None)
            if name not in listing(schema.get("required")) or schema.get("type", "object") != "object":
                return False
            schema = mapping(schema["properties"]).get(str(name), True)
        elif word == "allOf" and isinstance(schema, dict):
            index = next(names, None)
            schema = listing(schema["allOf"])[index] if isinstance(index, int) else True
        else:
            return False
    return True


def _parts(schema: Json) -> list[Impossible]:
    """Return the innermost parts of a schema that nothing satisfies."""
    nodes = list(walk(schema))
    if not may_hold_impossible(node for _, node in nodes):
        return []
    from instrc.schema.impossible import impossible_parts  # few schemas need this look

    return list(impossible_parts(schema, nodes))


def _is_impossible(schema: Json) -> bool:
    from instrc.schema.relations import disjoint  # as above

    return disjoint(schema, schema)


def _problem(part: Impossible, at: Span, *, fatal: bool, others: tuple[Span, ...] = ()) -> Problem:
    return problems.schemas.ImpossibleSchema(
        at=at, words=part.words, names=part.names, endless=part.endless, inside=pointer(part.path), fatal=fatal, others=others
    )


def _place(part: Impossible, added: Json, place: Span) -> Span:
    """Return where one of the words that leave nothing is written, or the innermost part around it."""
    if "{" not in place.text:
        return place
    try:
        written = at(added, pointer(part.path))
    except (LookupError, ValueError):
        written = None
    word = next((word for word in part.words if isinstance(written, dict) and word in written), None)
    return place_in(place, pointer(part.path)) if word is None else place_in(place, pointer((*part.path, word)), key=True)
