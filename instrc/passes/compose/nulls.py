"""Values that may be `null` where an argument excludes it: an optional one is left out, a required one is a warning."""

from __future__ import annotations

from collections.abc import Iterator

from instrc.ir.blocks import Region, When, regions_of
from instrc.ir.fusion import Fusion
from instrc.ir.graph import Graph, Step
from instrc.ir.paths import Path
from instrc.jsonvalue import Json, mapping
from instrc.passes.bind.holding import step_numbers
from instrc.passes.compose.outcomes import Outcomes
from instrc.schema.evaluation import satisfies
from instrc.schema.members import required_names


def optional_arguments(graph: Graph, outcomes: Outcomes) -> frozenset[tuple[int, str]]:
    """Return the named arguments that are left out where they are `null`, by step."""
    found = (each for each in excluding(graph, outcomes) if not each[2])
    return frozenset((step.number, label) for step, label, _ in found)


def excluding(graph: Graph, outcomes: Outcomes) -> Iterator[tuple[Step, str, bool]]:
    """Yield the arguments that may be `null` although their schema excludes it, and whether they are required."""
    for step in graph.awaited():
        if step.executor != "server" or not step.output:
            continue
        properties, required = inputs_of(step, outcomes.schemas.get(step.number))
        for argument in step.arguments:
            label, value = argument.label, argument.value
            schema = properties.get(label) if label is not None else None
            if label is None or schema is None or not isinstance(value, Path):
                continue
            if satisfies(None, schema) is False and outcomes.may_be_null(value):
                yield step, label, label in required


def non_null_paths(graph: Graph) -> dict[int, list[Path]]:
    """Return the paths that do not lead to `null` where a step runs: the conditions of the `when` around it see to that."""
    found: dict[int, list[Path]] = {}
    for block in graph.blocks():
        nulls: list[Path] = []
        """What was `null` in an earlier branch."""
        for branch in block.content.branches if isinstance(block.content, When) else ():
            paths = {test.path for test in branch.condition}
            values = [test for test in branch.condition if satisfies(None, test.schema) is False]
            sure = [*nulls, *(paths if len(paths) == 1 and len(values) == len(branch.condition) else ())]
            for number in _steps_in(graph, branch.body) if sure else ():
                found.setdefault(number, []).extend(sure)
            nulls += [test.path for test in branch.condition if satisfies(None, test.schema) is True]
    return found


def _steps_in(graph: Graph, body: Region) -> Iterator[int]:
    """Yield the steps of a body and of the blocks in it."""
    waiting = [body]
    while waiting:
        for number in step_numbers(waiting.pop().units):
            yield number
            waiting += regions_of(graph.steps[number].content)


def inputs_of(step: Step, schema: Json | None) -> tuple[dict[str, Json], list[str]]:
    """Return what an activity that is called directly takes: its own properties beside `output`."""
    if not isinstance(step.content, Fusion) or not isinstance(schema, dict):
        return {}, []
    properties = {name: each for name, each in mapping(schema.get("properties")).items() if name != "output"}
    return properties, required_names(schema)
