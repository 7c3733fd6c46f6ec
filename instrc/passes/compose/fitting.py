"""Arguments of activities that can never be what their schemas say, called or bound for a plan.

Only paths are looked at: the name of a whole step may stand for it where any one of its values is meant.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from instrc import problems
from instrc.ir.fusion import Argument, Planned
from instrc.ir.graph import FlatGraph, Step
from instrc.ir.paths import Path
from instrc.jsonvalue import Json, mapping
from instrc.passes.compose.nulls import inputs_of
from instrc.passes.compose.outcomes import Outcomes
from instrc.passes.compose.planned import choices_of
from instrc.problems.report import Report
from instrc.schema.kinds import own_kinds
from instrc.schema.relations import disjoint
from instrc.source import Span


class _PathArgument(msgspec.Struct, frozen=True):
    """A value that an activity is given, or a tool of a plan."""

    step: Step
    callee: str
    label: str
    value: Path
    schema: Json


def check_fitting(flat: FlatGraph, report: Report) -> None:
    """Report arguments of which no value can be valid; one that may be `null` is left to the rules of that."""
    given = list(_path_arguments(flat))
    if not given:
        return
    outcomes = Outcomes(flat.graph, flat.schemas, recorded=True)
    for each in given:
        found = outcomes.find(each.value)
        if found.schema is None or outcomes.may_be_null(each.value) or not disjoint(found.schema, each.schema):
            continue
        report.add(
            problems.plan_arguments.WrongArgument(
                at=_place(flat, each),
                pointer="",
                callee=each.callee,
                argument=each.label,
                reason=_reason(found.schema, each.schema),
            )
        )


def _path_arguments(flat: FlatGraph) -> Iterator[_PathArgument]:
    for step in flat.graph.steps.values():
        if step.executor == "server" and step.output:
            properties, _ = inputs_of(step, flat.schemas.get(step.number))
            yield from _named(step, step.activity or step.base_name, step.arguments, properties)
        for _, chosen in choices_of(step.content):
            if isinstance(chosen, Planned):
                for tool in chosen.tools:
                    yield from _named(step, tool.name, tool.bound, mapping(tool.arguments.get("properties")))


def _named(step: Step, callee: str, arguments: tuple[Argument, ...], properties: dict[str, Json]) -> Iterator[_PathArgument]:
    for argument in arguments:
        label, value = argument.label, argument.value
        if label is not None and label in properties and isinstance(value, Path) and value.tail:
            yield _PathArgument(step, callee, label, value, properties[label])


def _place(flat: FlatGraph, given: _PathArgument) -> Span:
    """Return where a path is written in the call; the call, where the value has a name."""
    whole = given.step.span
    for access in flat.graph.accesses:
        span = access.span
        if access.path == given.value and span.source is whole.source and whole.start <= span.start and span.end <= whole.end:
            return span
    return whole


def _reason(value: Json, taken: Json) -> str:
    """Return what is given and what is taken, where these are of different kinds."""
    kinds = [", ".join(sorted(own_kinds(each))) for each in (value, taken) if isinstance(each, dict) and "type" in each]
    if len(kinds) == 2 and kinds[0] != kinds[1]:
        return f"it is given what is of the type {kinds[0]}, and takes {kinds[1]}"
    return "no value that it is given can be valid"
