"""Look at what the program gives to the tools of a plan: one value a tool, which is there where the plan is carried out."""

from __future__ import annotations

from instrc import problems
from instrc.ir.blocks import regions_of
from instrc.ir.fusion import PlannableTool
from instrc.ir.graph import Graph, Step
from instrc.ir.paths import Local, Path
from instrc.passes.compose.planned import RUN_PLAN, plans_of
from instrc.passes.compose.round_names import numbers_in
from instrc.problems.report import Report


def check_bound(graph: Graph, report: Report) -> None:
    """Report plans of which one tool means two things, and bound values that no longer exist where a plan is carried out."""
    running = [(step, plans) for step in graph.awaited() if step.activity == RUN_PLAN and (plans := plans_of(graph, step))]
    if not running:
        return
    around = _regions_around(graph)
    for step, plans in running:
        given = [argument.value for argument in step.arguments if isinstance(argument.value, Path)]
        last = {path.origin.block for path in given if isinstance(path.origin, Local) and path.origin.kind == "previous"}
        tools: dict[str, PlannableTool] = {}
        for tool in (tool for planned in plans for tool in planned.tools):
            other = tools.setdefault(tool.name, tool)
            if tool != other:
                report.add(problems.plans.DifferentTools(at=step.span, word=tool.name))
            elif (label := _out_of_reach(tool, step, around, last)) is not None:
                report.add(problems.plans.BoundInBlock(at=step.span, word=tool.name, argument=label))


def _out_of_reach(tool: PlannableTool, step: Step, around: dict[int, tuple[int, ...]], last: set[int]) -> str | None:
    """Return the first argument of a tool that is bound to a value of a block which is over where a step runs.

    So is the round before of the bodies `last`, of which the step carries out a plan.
    """
    for argument in tool.bound:
        match argument.value:
            case Path(int(number)):
                needed = around[number][-1:]
            case Path(Local(block)):
                needed = (block,)
            case _:
                needed = ()
        if not set(needed) <= set(around[step.number]) - last:
            return argument.label or ""
    return None


def _regions_around(graph: Graph) -> dict[int, tuple[int, ...]]:
    """Return the regions that each step stands in, from the outermost in."""
    around: dict[int, tuple[int, ...]] = dict.fromkeys(graph.steps, ())
    for block in reversed(graph.blocks()):  # a block is numbered after what is in it
        for region in regions_of(block.content):
            for number in numbers_in(graph, region):
                if isinstance(number, int):
                    around[number] = (*around[block.number], region.number)
    return around
