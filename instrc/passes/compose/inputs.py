"""Arguments by name of an activity that lists what it takes: names that it excludes, probable slips, and what is left out."""

from __future__ import annotations

from collections.abc import Iterator

from instrc.ir.graph import FlatGraph, Step
from instrc.passes.compose.nulls import inputs_of
from instrc.problems.problem import Problem
from instrc.problems.report import Report


def check_inputs(flat: FlatGraph, report: Report) -> None:
    """Report calls of activities without an input that is required, or with a name that is none.

    What an activity takes is listed beside its `output`.  A label needs no property, so another name is an error only
    where the schema excludes it, and a warning where it resembles an input that is not given.  A plain argument may
    bring any input, so none is missing beside it.
    """
    for step in flat.graph.awaited():
        if step.executor != "server" or not step.output or not step.arguments:
            continue
        schema = flat.schemas.get(step.number)
        properties, required = inputs_of(step, schema)
        given = [argument.label for argument in step.arguments if argument.label is not None]
        if not properties or not given:
            continue
        plain = len(given) < len(step.arguments)
        needed = () if plain else tuple(name for name in required if name in properties)
        others = [name for name in given if name not in properties]
        if others or not set(needed) <= set(given):
            closed = isinstance(schema, dict) and schema.get("additionalProperties") is False
            for problem in _faults(flat, step, given, tuple(properties), needed, closed=closed):
                report.add(problem)


def _faults(
    flat: FlatGraph, step: Step, given: list[str], known: tuple[str, ...], needed: tuple[str, ...], *, closed: bool
) -> Iterator[Problem]:
    from instrc.passes.argument_names import missing_arguments, unknown_argument  # most calls are right
    from instrc.problems.habits import SimilarLabel
    from instrc.problems.suggest import nearest

    callee = step.activity or step.base_name
    missing = {name for name in needed if name not in given}
    for name in given:
        if name in known:
            continue
        at = flat.graph.labels.get((step.number, name), step.span)
        near = nearest(name, tuple(each for each in known if each not in given))
        if closed or not missing.isdisjoint(near):
            yield unknown_argument(name, at, callee, known)
        elif near:
            yield SimilarLabel(at=at, label=name, callee=callee, other=near[0])
    if (found := missing_arguments(given, step.span, callee, known, needed)) is not None:
        yield found
