"""Lower the tools of one request together: names that differ, budgets that are shared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from instrc.codecs.reverse import VERSION
from instrc.dialects.catalogue import dialect
from instrc.ir.dialect import Dialect
from instrc.jsonvalue import Json
from instrc.lowering import budgets
from instrc.lowering.losses import Loss
from instrc.lowering.lower import UNROLL, Lowering, Tool, lower
from instrc.lowering.names import legal, unique
from instrc.problems.problem import Problem
from instrc.problems.report import Report
from instrc.problems.targets import BudgetExceeded


@dataclass(frozen=True, slots=True)
class LoweredTools:
    """What the tools of one request become for a target."""

    payload: list[Json]
    """The tools, in order, each in its envelope."""
    map: Json
    """The way back for answers to the request, parallel calls included."""
    lowerings: tuple[Lowering, ...]
    problems: tuple[Problem, ...] = ()

    @property
    def losses(self) -> tuple[Loss, ...]:
        """The losses of all tools, in order."""
        return tuple(loss for lowering in self.lowerings for loss in lowering.losses)


def lower_all(
    tools: Sequence[Tool | tuple[str, Json] | tuple[str, Json, str | None]],
    target: str | Dialect = "openai",
    *,
    ordered: bool = True,
    unroll: int = UNROLL,
    strict: bool = False,
    report: Report | None = None,
) -> LoweredTools:
    """Lower several tools for one request.

    Names that become equal get numbers.  A tool that would exceed a budget of the whole request is sent without strictness,
    where the target has such an envelope, and a `budget-exceeded` problem says so.
    """
    aimed = dialect(target)
    lowerings: list[Lowering] = []
    problems: list[Problem] = []
    spent = budgets.Spent()
    taken: set[str] = set()
    records: dict[str, Json] = {}
    wanted = [Tool(*tool) for tool in tools]
    legal_names = {tool.name for tool in wanted if aimed.tool_name.allows(tool.name)}
    for tool in wanted:
        own = tool.name in legal_names and tool.name not in taken
        sent = tool.name if own else unique(legal(tool.name, aimed.tool_name, "tool"), taken | legal_names, aimed.tool_name.most)
        taken.add(sent)

        def lowered(dialect_: Dialect, *, in_order: bool, tool: Tool = tool, sent: str = sent) -> Lowering:
            return lower(
                tool.schema,
                dialect_,
                sent,
                description=tool.description,
                ordered=in_order,
                unroll=unroll,
                strict=strict,
                report=report,
            )

        lowering = lowered(aimed, in_order=ordered)
        joined = spent.with_tool(lowering.schema)
        over = list(joined.over(aimed, tool.name))
        if over and ordered and aimed.order == "required-first" and aimed.plain is not None:
            other = lowered(aimed, in_order=False)  # optional properties may be too many for unions and few enough to be left out
            again = spent.with_tool(other.schema)
            if not list(again.over(aimed, tool.name)):
                loss = Loss(
                    "", "properties", None, "order", "is kept for required properties only, to stay within the request's unions"
                )
                lowering, joined, over = replace(other, losses=(*other.losses, loss)), again, []
        if any(loss.keyword == "strict" for loss in lowering.losses):
            pass  # too large by itself, and said so already
        elif over and aimed.plain is not None:
            told = [replace(problem, consequence="it is sent without strictness") for problem in over]
            problems += told
            relaxed = replace(aimed, envelope=aimed.plain, plain=None, limits=replace(aimed.limits, optional=None, unions=None))
            lowering = lowered(relaxed, in_order=ordered)
            loss = Loss(
                "", "strict", value=True, kind="unenforced", reason="is given up, because a budget of the request is exceeded"
            )
            lowering = replace(lowering, losses=(*lowering.losses, loss), problems=(*lowering.problems, *told))
        else:
            problems += over
            spent = joined
        record = {**lowering.map, "tool": {"name": tool.name, "sent": sent}}
        records[sent] = record
        lowerings.append(replace(lowering, map=record, payload=_with_map(lowering.payload, lowering.map, record)))
    if report is not None:
        for problem in problems:
            report.add(problem)
    everything = tuple(dict.fromkeys([*problems, *(each for lowering in lowerings for each in lowering.problems)]))
    merged = {"instrc": VERSION, "target": aimed.name, "tools": records}
    return LoweredTools([lowering.payload for lowering in lowerings], merged, tuple(lowerings), everything)


def _with_map(payload: Json, old: Json, new: Json) -> Json:
    """Put the map with the tool's own name into a payload that carries it."""
    if not isinstance(payload, dict):
        return payload
    return {
        key: {name: new if value is old else value for name, value in item.items()} if key == "_meta" else item
        for key, item in payload.items()
    }


__all__ = ["BudgetExceeded", "LoweredTools", "lower_all"]
