"""What a schema becomes for a target."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

from instrc.ir.dialect import Dialect
from instrc.jsonvalue import Json, JsonObject, Payload
from instrc.lowering.account import Account
from instrc.lowering.grouped_losses import grouped_losses
from instrc.lowering.losses import WHOLE, Loss
from instrc.problems.problem import CompileError, Problem
from instrc.problems.report import Report
from instrc.problems.targets import LossyStrict, LossyTarget


@dataclass(frozen=True, eq=False, repr=False)
class Lowering:  # noqa: PLW1641  -- it holds lists and objects, which have no hash
    """What a schema becomes for a target."""

    payload: Payload
    """The schema in the exact envelope of the target, ready to be sent."""
    map: JsonObject
    """The way back for answers, as plain JSON: give it to `lift`."""
    schema: Json
    """The payload's schema in standard JSON Schema, whatever the target's spelling."""
    dialect: Dialect
    """The rules that the payload follows, with its envelope."""
    account: Account | tuple[Loss, ...] = field(repr=False)
    """The losses, or what they are told of."""
    over_budget: tuple[Problem, ...] = ()
    """The budgets that were exceeded, and what was done about it."""
    strict: bool = False
    """Whether each grave loss is an error."""

    @cached_property
    def losses(self) -> tuple[Loss, ...]:
        """Whatever the payload does not say as the schema said it.

        It is told when it is first asked for: leave the schema that was given as it is until then.
        """
        return self.account.losses() if isinstance(self.account, Account) else self.account

    @cached_property
    def problems(self) -> tuple[Problem, ...]:
        """Warnings: grave losses, budgets that were exceeded and what was done about it."""
        kind = LossyStrict if self.strict else LossyTarget
        lossy = [
            kind(
                target=self.dialect.name,
                keyword=loss.keyword,
                pointer=loss.pointer,
                reason=loss.reason,
                tool=loss.tool,
                tools_of_plan=tools,
                whole=loss.keyword == WHOLE and loss.kind == "unenforced",
            )
            for loss, tools in grouped_losses((loss for loss in self.losses if loss.grave), self.map["schema"])
        ]
        return (*self.over_budget, *lossy)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Lowering) and self._said() == other._said()

    def _said(self) -> tuple[object, ...]:
        return self.payload, self.map, self.losses, self.problems, self.schema

    def __repr__(self) -> str:
        said = f"payload={self.payload!r}, map={self.map!r}, losses={self.losses!r}, problems={self.problems!r}"
        return f"Lowering({said})"

    def __reduce__(self) -> tuple[object, ...]:
        """Give copies the losses and not what they are told of."""
        return Lowering, (self.payload, self.map, self.schema, self.dialect, self.losses, self.over_budget, self.strict)


def report_losses(result: Lowering, *, strict: bool, report: Report | None) -> Lowering:
    """Make problems of grave losses, and raise or report them."""
    if strict:
        result = replace(result, strict=True)
    if report is not None:
        for problem in result.problems:
            report.add(problem)
    elif strict and any(loss.grave for loss in result.losses):
        raise CompileError(result.problems)
    return result
