"""Find names in `required` of what is written in a program that no schema of the step describes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from msgspec import Struct, field

from instrc import problems
from instrc.ir.fusion import Fusion
from instrc.ir.graph import Context
from instrc.jsonvalue import Json, JsonObject, Location, pointer
from instrc.problems.suggest import nearest
from instrc.schema.vocabulary import IN_PLACE
from instrc.schema.walk import subschemas
from instrc.source import Span
from instrc.syntax.places import annotations_behind, place_in

if TYPE_CHECKING:
    from instrc.problems.vibes import MissingFromProperties

_OPEN = frozenset({"$ref", "$dynamicRef", "patternProperties", "propertyNames", "dependentSchemas"})
"""Keywords that may describe properties that are not looked for here."""
_ON_THE_SAME_OBJECT = IN_PLACE - _OPEN - {"not"}


class _Described(Struct):
    """What the schemas of one object say about its properties."""

    names: dict[str, list[Json]] = field(default_factory=dict)
    open: bool = False
    """Whether further properties may be described, or are invited."""


def missing_names(content: Fusion, schemas: Iterable[Json]) -> Iterator[MissingFromProperties]:
    """Yield the names that the annotations of a step require, or its inline schema, and that nothing describes.

    `schemas` are those that the step is made of, its annotations left aside.
    """
    beside = [*content.annotations, *(each for use in content.mixins for each in use.annotations)]
    own = content.instruction.schema if content.instruction.uri is None else None
    written = [each for each in (own, *beside) if isinstance(each, dict)]
    if not any("required" in each or "properties" in each for each in written):
        return
    slots: JsonObject = {slot.name: {"additionalProperties": True} for slot in content.slots}
    whole: list[Json] = [*schemas, *written, {"properties": slots}]
    for part in written:
        places = [content.span] if part is own else annotations_behind(content.span)
        for path, index, name, close in _missing(part, whole, ()):
            at = _place(places, (*path, "required", index), name, content.span)
            yield problems.vibes.MissingFromProperties(at=at, word=name, nearest=close)


def missing_in_context(context: Context, schema: Json) -> Iterator[MissingFromProperties]:
    """Yield the names that the annotations of a context require and nothing in it describes; `schema` is that of its steps."""
    whole: list[Json] = [schema, *context.annotations]
    for part in context.annotations:
        for path, index, name, close in _missing(part, whole, ()):
            at = _place(annotations_behind(context.span), (*path, "required", index), name, context.span)
            yield problems.vibes.MissingFromProperties(at=at, word=name, nearest=close)


def _missing(part: Json, whole: list[Json], path: Location) -> Iterator[tuple[Location, int, str, tuple[str, ...]]]:
    """Yield the path of a schema, the place in its list, the name, and nearest names; `whole` is all there is of the object."""
    if not isinstance(part, dict):
        return
    described = _described(whole)
    names, required = described.names, part.get("required")
    if names and not described.open and isinstance(required, list):
        for index, name in enumerate(required):
            if isinstance(name, str) and name not in names:
                yield path, index, name, nearest(name, names)
    if isinstance(properties := part.get("properties"), dict):
        for name, below in properties.items():
            yield from _missing(below, names[name], (*path, "properties", name))


def _described(schemas: list[Json]) -> _Described:
    found = _Described()
    stack = list(schemas)
    while stack:
        node = stack.pop()
        if not isinstance(node, dict):
            continue
        found.open |= not _OPEN.isdisjoint(node)
        found.open |= any(node.get(word, False) is not False for word in ("additionalProperties", "unevaluatedProperties"))
        if isinstance(properties := node.get("properties"), dict):
            for name, below in properties.items():
                found.names.setdefault(name, []).append(below)
        stack.extend(below for _, below in subschemas(node, _ON_THE_SAME_OBJECT))
    return found


def _place(spans: Iterable[Span], path: Location, name: str, whole: Span) -> Span:
    """Return where a name is written, in whichever annotation has it there."""
    places = (place_in(each, pointer(path)) for each in spans if "{" in each.text)
    return next((each for each in places if each.text[1:-1] == name), whole)
