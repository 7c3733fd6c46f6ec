"""Say of an annotation that contradicts its instruction where both were written: in the vibe, and behind the `@`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

from instrc import problems
from instrc.flattening.flatten import flatten
from instrc.ir.fusion import Instruction
from instrc.jsonvalue import Json
from instrc.passes.instructions import PART
from instrc.problems.problem import CompileError, Problem
from instrc.source import Span
from instrc.syntax.places import annotations_behind, place_in
from instrc.vibes.registry import Registry

Written: TypeAlias = tuple[Instruction, Registry]
"""An instruction, and the registry that has its vibe."""

_VIBE = "/allOf/0"
_ANNOTATION = "/allOf/1"


def with_places(problem: Problem, written: Sequence[Written], at: Span, *, slots: bool = False) -> Problem:
    """Return a contradiction of an instruction and what is written behind it with their places; any other problem as it is.

    That is an annotation, or with `slots` what fills its slots.  `written` are the instruction, and what mixins stand around.
    """
    if not isinstance(problem, problems.schemas.Contradiction) or problem.at is not None:
        return problem
    spans = () if slots else annotations_behind(at)
    left, right = (_place_origin(each, written, at, spans) for each in (problem.left, problem.right))
    shown = next((each.at for each in (right, left) if each.at is not None and each.at.source is at.source), at)
    sign = next((each for each in spans if each.start <= shown.start < each.end), None)
    caret = shown if sign is None else Span(sign.source, sign.start, sign.start + 1)
    return replace(problem, left=left, right=right, at=caret)


def _place_origin(
    origin: problems.schemas.Origin, written: Sequence[Written], at: Span, spans: tuple[Span, ...]
) -> problems.schemas.Origin:
    part = origin.uri.startswith(PART)
    if origin.uri and not part:
        return origin
    if (part or origin.pointer.startswith(_VIBE)) and any(instruction.uri is not None for instruction, _ in written):
        pointer = origin.pointer.removeprefix(_VIBE)
        found = [_in_vibe(origin, instruction.uri, pointer, registry) for instruction, registry in written if instruction.uri]
        return next((each for each in found if each is not None), replace(origin, uri=written[0][0].name, pointer=pointer))
    if origin.pointer.startswith(_ANNOTATION):
        pointer = origin.pointer.removeprefix(_ANNOTATION)
        places = [place_in(each, pointer) for each in spans if "{" in each.text]
        said = next((each for each in places if _says(each, origin.value)), places[0] if places else None)
        return replace(origin, uri=at.source.name, pointer=pointer, at=said)
    return replace(origin, uri=written[0][0].name)


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
