"""Results that reach nobody although a later step would be expected to have them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from instrc.ir.blocks import Repeat, regions_of, tests_of
from instrc.ir.graph import FlatGraph, Graph, Step
from instrc.ir.paths import Path, reading_paths
from instrc.passes.compose.decisions import only_decides


def unread_results(flat: FlatGraph) -> Iterator[tuple[Step, Step]]:
    """Yield steps that get less than they need, each with the step whose result is not passed on to it.

    Either a statement of a block is read by nobody, and the step is its own;
    or an activity is given only what a person has decided, and what the person was shown is not passed on.
    """
    graph = flat.graph
    readers = _readers(graph) if graph.awaited_numbers else {}
    unread = graph.steps.keys() - flat.read - {unit for unit in graph.units if isinstance(unit, int)}
    idle = unread & _in_blocks(graph) if unread else unread
    for number in sorted({*idle, *graph.awaited_numbers}):
        step = graph.steps[number]
        if number in idle and _only_answers(graph, step):
            yield step, step
        if step.executor != "server" or step.fail:
            continue
        origins = _steps_read(graph, step)
        if len(origins) != 1:
            continue
        (person,) = origins
        if person.executor != "user" or not only_decides(flat.schemas.get(person.number)):
            continue
        for path in person.reads:
            shown = graph.steps.get(path.origin) if isinstance(path.origin, int) else None
            if shown is not None and shown.executor == "model" and readers.get(shown.number) == {person.number}:
                yield step, shown
                break


def _only_answers(graph: Graph, step: Step) -> bool:
    """Tell whether a step, or all that is in a block, is only written by the model: without readers it is for nothing."""
    waiting = [step]
    while waiting:
        each = waiting.pop()
        regions = regions_of(each.content)
        if not regions and (each.executor != "model" or each.output):
            return False
        waiting += [graph.steps[unit] for region in regions for unit in region.units if isinstance(unit, int)]
    return True


def _in_blocks(graph: Graph) -> set[int]:
    return {
        unit for step in graph.blocks() for region in regions_of(step.content) for unit in region.units if isinstance(unit, int)
    }


def _steps_read(graph: Graph, step: Step) -> list[Step]:
    """Return the steps that a step reads; its preparation stands for what that reads."""
    origins = [path.origin for path in step.reads]
    if len(origins) == 1 and isinstance(origins[0], int) and graph.steps[origins[0]].base_name == step.base_name:
        origins = [path.origin for path in graph.steps[origins[0]].reads]
    found = [graph.steps[origin] for origin in origins if isinstance(origin, int)]
    return found if len(found) == len(origins) else []


def _readers(graph: Graph) -> dict[int, set[int]]:
    """Return who reads each step: steps by number, `-1` for the export, the value of a body and a condition."""
    found: defaultdict[int, set[int]] = defaultdict(set)

    def note(paths: Iterable[Path], reader: int) -> None:
        for path in paths:
            if isinstance(path.origin, int):
                found[path.origin].add(reader)

    if graph.value is not None:
        note(reading_paths(graph.value), -1)
    for number, step in graph.steps.items():
        for path in step.reads + step.needs:
            if isinstance(path.origin, int):
                found[path.origin].add(number)
    for step in graph.blocks():
        note([test.path for test in tests_of(step.content)], -1)
        for region in regions_of(step.content):
            note(reading_paths(region.value), -1)
        if type(step.content) is Repeat and step.content.handed:
            note([path for _, reading in step.content.names for path in reading_paths(reading)], -1)
    return found
