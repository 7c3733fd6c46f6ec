"""Which tools a plan may call: those of the `Plan(…)` that fills what a path leads to, through blocks and their branches."""

from __future__ import annotations

from instrc.ir.blocks import Content, Each, Repeat, regions_of
from instrc.ir.fusion import Among, Fusion, PlannableTool, Planned, Slot, is_lone_instruction
from instrc.ir.graph import Graph, Step
from instrc.ir.paths import Local, ObjectReading, Path, Reading
from instrc.ir.reads import Constant
from instrc.limits.programs import PLANNED_PLACES

RUN_PLAN = "RunPlan_Activity"


def choices_of(content: Content) -> list[tuple[tuple[str, ...], Planned | Among]]:
    """Return what fills a step's properties by choice, each with the names that lead to it."""
    found: list[tuple[tuple[str, ...], Planned | Among]] = []
    if is_lone_instruction(content):
        return found
    waiting: list[tuple[tuple[str, ...], Content]] = [((), content)]
    while waiting:
        way, each = waiting.pop()
        if isinstance(each, Fusion):
            for slot in _slots(each):
                if slot.engine is not None:
                    found.append(((*way, slot.name), slot.engine))
                waiting.append(((*way, slot.name), slot.content))
    return found


def files_of_processes(graph: Graph) -> list[tuple[str, str]]:
    """Return the address and the file of each process that plans of a program may call."""
    engines = [engine for step in graph.compounds() for _, engine in choices_of(step.content)]
    tools = [tool for engine in engines if isinstance(engine, Planned) for tool in engine.tools]
    return list(dict.fromkeys((tool.target, tool.file) for tool in tools if tool.file is not None))


def _slots(content: Fusion) -> list[Slot]:
    return [*content.slots, *(slot for use in content.mixins for slot in use.slots)]


def plannable_tools(graph: Graph, step: Step) -> tuple[PlannableTool, ...] | None:
    """Return the tools of the plan that a step of `RunPlan_Activity` carries out; `None` if it is not given one plan alone."""
    plans = plans_of(graph, step)
    return None if plans is None else tuple({tool.name: tool for planned in plans for tool in planned.tools}.values())


def plans_of(graph: Graph, step: Step) -> tuple[Planned, ...] | None:
    """Return each `Plan(…)` that may fill what a step of `RunPlan_Activity` is given; `None` if it is not given one plan alone.

    With a label, or with anything beside it, what the engine is given would be an object or a list that holds the plan.
    """
    given = [argument.value for argument in step.arguments if argument.label is None and isinstance(argument.value, Path)]
    if len(given) != len(step.arguments) or len(given) != 1:
        return None
    found: list[Planned] = []
    waiting: list[tuple[Reading, tuple[str, ...]]] = [(path, ()) for path in given]
    for _ in range(PLANNED_PLACES):
        if not waiting:
            break
        reading, tail = waiting.pop()
        match reading:
            case ObjectReading(members):
                if tail:
                    waiting.extend((member, tail[1:]) for name, member in members if name == tail[0])
            case Path(origin, own):
                planned, below = _behind(graph, origin, (*own, *tail))
                waiting.extend(below)
                if planned is not None:
                    found.append(planned)
            case Constant():
                pass
    return tuple(found) or None


def _behind(
    graph: Graph, origin: str | int | Local, tail: tuple[str, ...]
) -> tuple[Planned | None, list[tuple[Reading, tuple[str, ...]]]]:
    """Return the plan that a path leads to, or what else it leads to."""
    if isinstance(origin, Local):
        for step in graph.steps.values():
            content = step.content
            if isinstance(content, Each | Repeat) and content.body.number == origin.block:
                if origin.kind == "item" and isinstance(content.source, Path):
                    return None, [(content.source, tail)]
                if origin.kind == "previous" and isinstance(content, Repeat) and tail:
                    return None, [(reading, tail[1:]) for name, reading in content.names if name == tail[0]]
        return None, []
    if isinstance(origin, str):
        return None, []
    content = graph.steps[origin].content
    regions = regions_of(content)
    if regions:
        return None, [(region.value, tail) for region in regions]
    fits = (engine for way, engine in choices_of(content) if way == tail and isinstance(engine, Planned))
    return next(fits, None), []
