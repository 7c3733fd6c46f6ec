"""Say of an annotation that contradicts its instruction where both were written: in the vibe, and behind the `@`."""

from __future__ import annotations

from dataclasses import replace

from instrc import problems
from instrc.ir.graph import Instruction
from instrc.problems.problem import Problem
from instrc.source import Span
from instrc.syntax.places import annotations_behind, place_in
from instrc.vibes.registry import Registry

_VIBE = "/allOf/0"
_ANNOTATION = "/allOf/1"


def with_places(problem: Problem, instruction: Instruction, registry: Registry, at: Span, *, slots: bool = False) -> Problem:
    """Return a contradiction of an instruction and what is written behind it with their places; any other problem as it is.

    That is an annotation, or with `slots` what fills its slots.
    """
    if not isinstance(problem, problems.schemas.Contradiction) or problem.at is not None:
        return problem
    spans = () if slots else annotations_behind(at)
    left, right = (_placed(each, instruction, registry, at, spans) for each in (problem.left, problem.right))
    shown = next((each.at for each in (right, left) if each.at is not None and each.at.source is at.source), at)
    sign = next((each for each in spans if each.start <= shown.start < each.end), None)
    caret = shown if sign is None else Span(sign.source, sign.start, sign.start + 1)
    return replace(problem, left=left, right=right, at=caret)


def _placed(
    origin: problems.schemas.Origin, instruction: Instruction, registry: Registry, at: Span, spans: tuple[Span, ...]
) -> problems.schemas.Origin:
    if origin.uri:
        return origin
    if origin.pointer.startswith(_VIBE) and instruction.uri is not None:
        pointer = origin.pointer.removeprefix(_VIBE)
        uri = instruction.uri.partition("#")[0]
        return replace(origin, uri=uri, pointer=pointer, at=registry.locate(uri, pointer))
    if origin.pointer.startswith(_ANNOTATION):
        pointer = origin.pointer.removeprefix(_ANNOTATION)
        places = [place_in(each, pointer) for each in spans if "{" in each.text]
        said = next((each for each in places if _says(each, origin.value)), places[0] if places else None)
        return replace(origin, uri=at.source.name, pointer=pointer, at=said)
    return replace(origin, uri=instruction.name)


def _says(place: Span, value: str) -> bool:
    return "".join(place.text.split()) == "".join(value.split())
