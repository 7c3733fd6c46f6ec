"""Arguments that can never be what their schemas say: of activities that are called or bound for a plan, and of called programs.

The name of a step that gives an object may stand for any one of its values, so only what leads to another kind is looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from instrc import problems
from instrc.ir.fusion import Fusion
from instrc.ir.graph import FlatGraph, TypedArgument
from instrc.ir.paths import Path
from instrc.ir.reads import Constant
from instrc.jsonvalue import Json, mapping
from instrc.passes.compose.nulls import inputs_of
from instrc.passes.compose.outcomes import ERROR, Outcomes
from instrc.passes.fitting_values import fitting_literals, fitting_members
from instrc.problems.report import Report
from instrc.schema.kinds import ALL, own_kinds
from instrc.schema.literals import literal_fault
from instrc.schema.relations import disjoint
from instrc.source import Span
from instrc.syntax.places import place_of_value

_OF_FAIL = mapping(mapping(ERROR)["properties"])
"""What a `Fail` takes: a `null` is as good as nothing."""


def check_fitting(flat: FlatGraph, report: Report) -> None:
    """Report arguments of which no value can be valid; one that may be `null` is left to the rules of that."""
    given = list(_typed_arguments(flat))
    if not given:
        return
    outcomes = Outcomes(flat.graph, flat.schemas, recorded=True)
    for each in given:
        value = each.value
        found = _literal_fault(each, value) if isinstance(value, Constant) else _path_fault(flat, each, value, outcomes)
        if found is not None:
            at, reason, instead = found
            report.add(
                problems.plans.WrongArgument(
                    at=at, pointer="", callee=each.callee, argument=each.label, reason=reason, instead=instead
                )
            )


def _typed_arguments(flat: FlatGraph) -> Iterator[TypedArgument]:
    for step in flat.graph.awaited():
        if step.executor == "server" and (step.output or step.fail) and step.arguments:
            properties = _OF_FAIL if step.fail else inputs_of(step, flat.schemas.get(step.number))[0]
            callee = step.activity or step.base_name
            for argument in step.arguments:
                label = argument.label
                if label is not None and label in properties and not (step.fail and argument.value == Constant(None)):
                    named = flat.graph.labels.get((step.number, label), step.span)
                    yield TypedArgument(callee, label, argument.value, properties[label], step.span, named)
    yield from flat.graph.passed
    yield from _filled(flat)


def _filled(flat: FlatGraph) -> Iterator[TypedArgument]:
    """Yield the texts that fill properties of steps of the model and of people; what has another type is a contradiction."""
    for step in flat.graph.compounds():
        schema, content = flat.schemas.get(step.number), step.content
        if not isinstance(content, Fusion) or not isinstance(schema, dict):
            continue
        properties = mapping(schema.get("properties"))
        for slot in content.slots:
            if isinstance(slot.content, Constant) and slot.name in properties:
                yield TypedArgument(
                    content.instruction.name, slot.name, slot.content, properties[slot.name], slot.span, slot.span
                )


_Fault: TypeAlias = tuple[Span, str, tuple[str, ...]]
"""Where and why an argument does not fit, and what fits instead."""


def _literal_fault(given: TypedArgument, value: Constant) -> _Fault | None:
    """Return why a literal cannot be valid; `None` if it may be."""
    fault = literal_fault(value.value, given.schema)
    if fault is None:
        return None
    instead = fitting_literals(value.value, given.schema, fault.instance)
    return place_of_value(given.named, fault.instance), fault.message, instead


def _path_fault(flat: FlatGraph, given: TypedArgument, value: Path, outcomes: Outcomes) -> _Fault | None:
    """Return why no value that a path leads to can be valid; `None` if one may be."""
    found = outcomes.find(value).schema
    if found is None or outcomes.may_be_null(value) or not disjoint(found, given.schema):
        return None
    if not value.tail and not disjoint(found, _OBJECT):
        return None
    at = _place(flat, given)
    around = outcomes.find(Path(value.origin, value.tail[:-1])).schema if value.tail and at != given.named else None
    return at, _reason(found, given.schema), () if around is None else fitting_members(around, given.schema)


_OBJECT: Json = {"type": "object"}


def _place(flat: FlatGraph, given: TypedArgument) -> Span:
    """Return where a path is written in the call; the name of the argument, where the value has a name itself."""
    whole = given.within
    for access in flat.graph.accesses:
        span = access.span
        if access.path == given.value and span.source is whole.source and whole.start <= span.start and span.end <= whole.end:
            return span
    return given.named


def _reason(value: Json, taken: Json) -> str:
    """Return what is given and what is taken, where these are of different kinds."""
    kinds = [own_kinds(each) if isinstance(each, dict) else ALL for each in (value, taken)]
    if ALL in kinds or kinds[0] == kinds[1]:
        return "no value that it is given can be valid"
    given, wanted = (", ".join(sorted({"number" if each == "fraction" else each for each in kind})) for kind in kinds)
    return f"it is given what is of the type {given}, and takes {wanted}"
