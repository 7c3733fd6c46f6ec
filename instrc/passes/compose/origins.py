"""Say where both sides of a contradiction were written: in the vibe, and behind the `@` or in what fills a slot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from instrc import problems
from instrc.flattening.flatten import flatten
from instrc.ir.fusion import Instruction
from instrc.jsonvalue import Json
from instrc.jsonvalue import pointer as pointer_to
from instrc.passes.instructions import PART
from instrc.problems.problem import CompileError, Problem
from instrc.source import Span
from instrc.syntax.places import annotations_behind, place_in
from instrc.vibes.registry import Registry

FoundInstruction: TypeAlias = tuple[Instruction, Registry]
"""An instruction, and the registry that has its vibe."""

_VIBE = "/allOf/0"
_ANNOTATION = "/allOf/1"


class Filled(Struct, frozen=True):
    """What fills a slot: where it is written, its instruction if it has one, and its address if it goes in by reference."""

    at: Span
    written: FoundInstruction | None
    part: str | None


Fillings: TypeAlias = Mapping[str, Filled]
"""What fills slots by their names."""


def with_places(problem: Problem, written: Sequence[FoundInstruction], at: Span, fillings: Fillings | None = None) -> Problem:
    """Return a contradiction of an instruction and what is written behind it with their places; any other problem as it is.

    That is an annotation, or `fillings` of its slots.  `written` are the instruction, and what mixins stand around.
    """
    if not isinstance(problem, problems.schemas.Contradiction) or problem.at is not None:
        return problem
    spans = () if fillings is not None else annotations_behind(at)
    left, right = (_place_origin(each, written, at, spans, fillings or {}) for each in (problem.left, problem.right))
    shown = next((each.at for each in (right, left) if each.at is not None and each.at.source is at.source), at)
    sign = next((each for each in spans if each.start <= shown.start < each.end), None)
    caret = shown if sign is None else Span(sign.source, sign.start, sign.start + 1)
    return replace(problem, left=left, right=right, at=caret)


def _place_origin(
    origin: problems.schemas.Origin, written: Sequence[FoundInstruction], at: Span, spans: tuple[Span, ...], fillings: Fillings
) -> problems.schemas.Origin:
    part = origin.uri.startswith(PART)
    for name, filled in fillings.items():
        slot = _ANNOTATION + pointer_to(("properties", name))
        if part and origin.uri.partition("#")[0] == filled.part:
            return _in_filling(origin, origin.pointer, filled)
        if not part and not origin.uri and (origin.pointer == slot or origin.pointer.startswith(f"{slot}/")):
            return _in_filling(origin, origin.pointer.removeprefix(slot), filled)
    if origin.uri and not part:
        return origin
    if (part or origin.pointer.startswith(_VIBE)) and any(instruction.uri is not None for instruction, _ in written):
        pointer = origin.pointer.removeprefix(_VIBE)
        found = [_in_vibe(origin, instruction.uri, pointer, registry) for instruction, registry in written if instruction.uri]
        earlier = next((each for each in _places_in(spans, pointer) if _says(each, origin.value)), None)
        otherwise = replace(origin, uri=at.source.name if earlier else written[0][0].name, pointer=pointer, at=earlier)
        return next((each for each in found if each is not None), otherwise)
    if origin.pointer.startswith(_ANNOTATION):
        pointer = origin.pointer.removeprefix(_ANNOTATION)
        places = _places_in(spans, pointer)
        said = next((each for each in places if _says(each, origin.value)), places[0] if places else None)
        return replace(origin, uri=at.source.name, pointer=pointer, at=said)
    return replace(origin, uri=written[0][0].name)


def _places_in(annotations: tuple[Span, ...], pointer: str) -> list[Span]:
    return [place_in(each, pointer) for each in annotations if "{" in each.text]


def _in_filling(origin: problems.schemas.Origin, pointer: str, filled: Filled) -> problems.schemas.Origin:
    """Return where what fills a slot says a keyword: in its vibe, else in the program."""
    found = None
    if filled.written is not None and filled.written[0].uri is not None:
        found = _in_vibe(origin, filled.written[0].uri, pointer, filled.written[1])
    return found or replace(origin, uri=filled.at.source.name, pointer=pointer, at=filled.at)


def _in_vibe(origin: problems.schemas.Origin, uri: str, pointer: str, registry: Registry) -> problems.schemas.Origin | None:
    """Return where a keyword of a flat instruction was written, in its vibe or in one that this refers to; `None` if nowhere."""
    base, _, fragment = uri.partition("#")
    try:
        schema: Json = {"$ref": uri} if fragment else registry.load(base).schema
        flat = flatten(schema, registry.documents, base="" if fragment else base, nullable=True, trace=True)
    except CompileError:
        return None
    found = [
        replace(origin, uri=each.uri, pointer=each.pointer, at=registry.locate(each.uri, each.pointer))
        for each in flat.origins.get(pointer, ())
        if each.uri
    ]
    saying = (each for each in found if each.at is not None and _says(each.at, origin.value))
    return next(saying, found[0] if found else None)


def _says(place: Span, value: str) -> bool:
    return "".join(place.text.split()) == "".join(value.split())
