"""What a schema becomes for a target."""

from __future__ import annotations

from dataclasses import dataclass, field

from instrc.ir.dialect import Dialect
from instrc.jsonvalue import Json, JsonObject, Payload
from instrc.lowering.losses import Loss
from instrc.problems.problem import CompileError, Problem
from instrc.problems.report import Report
from instrc.problems.targets import LossyStrict, LossyTarget


@dataclass(frozen=True, slots=True)
class Lowering:
    """What a schema becomes for a target."""

    payload: Payload
    """The schema in the exact envelope of the target, ready to be sent."""
    map: JsonObject
    """The way back for answers, as plain JSON: give it to `lift`."""
    losses: tuple[Loss, ...]
    """Whatever the payload does not say as the schema said it."""
    problems: tuple[Problem, ...]
    """Warnings: grave losses, budgets that were exceeded and what was done about it."""
    schema: Json = field(repr=False)
    """The payload's schema in standard JSON Schema, whatever the target's spelling."""
    dialect: Dialect = field(repr=False, compare=False)
    """The rules that the payload follows, with its envelope."""


def report_losses(result: Lowering, dialect: Dialect, *, strict: bool, report: Report | None) -> Lowering:
    """Make problems of grave losses, and raise or report them."""
    kind = LossyStrict if strict else LossyTarget
    lossy = [
        kind(target=dialect.name, keyword=loss.keyword, pointer=loss.pointer, reason=loss.reason, tool=loss.tool)
        for loss in result.losses
        if loss.grave
    ]
    if lossy:
        told = (*result.problems, *lossy)
        result = Lowering(result.payload, result.map, result.losses, told, result.schema, result.dialect)
    if report is not None:
        for problem in result.problems:
            report.add(problem)
    elif strict and lossy:
        raise CompileError(result.problems)
    return result
