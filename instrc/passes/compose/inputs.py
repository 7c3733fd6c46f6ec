"""Arguments by name that an activity does not take, and those that it needs and is not given."""

from __future__ import annotations

from instrc.ir.graph import FlatGraph
from instrc.jsonvalue import Json
from instrc.passes.compose.nulls import inputs_of
from instrc.problems.report import Report

_OF_OTHER_NAMES = frozenset({"additionalProperties", "patternProperties", "unevaluatedProperties"})
"""Keywords that say something of names that an object does not list."""


def check_inputs(flat: FlatGraph, report: Report) -> None:
    """Report calls with names that are no inputs, or without one that is required.

    What an activity takes is listed beside its `output`; one that lists nothing takes anything, and a plain argument
    may bring any of them.
    """
    for step in flat.graph.awaited():
        if step.executor != "server" or not step.output or not step.arguments:
            continue
        schema = flat.schemas.get(step.number)
        properties, required = inputs_of(step, schema)
        given = [argument.label for argument in step.arguments if argument.label is not None]
        if not properties or len(given) < len(step.arguments):
            continue
        needed = tuple(name for name in required if name in properties)
        unknown = [name for name in given if name not in properties and _is_closed(schema)]
        if not unknown and set(needed) <= set(given):
            continue
        from instrc.passes.argument_names import missing_arguments, unknown_argument  # most calls are right

        callee, known = step.activity or step.base_name, tuple(properties)
        for name in unknown:
            at = flat.graph.labels.get((step.number, name), step.span)
            report.add(unknown_argument(name, at, callee, known))
        if (missing := missing_arguments(given, step.span, callee, known, needed)) is not None:
            report.add(missing)


def _is_closed(schema: Json | None) -> bool:
    """Tell whether an object takes only the names that it lists: it says so, or says nothing of others."""
    if not isinstance(schema, dict):
        return False
    return schema.get("additionalProperties") is False or _OF_OTHER_NAMES.isdisjoint(schema)
