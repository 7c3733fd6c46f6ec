"""Look for steps that read the value of a `Fail`: it has none, because it ends its block."""

from __future__ import annotations

from collections.abc import Iterator

from instrc import problems
from instrc.ir.blocks import Each, Repeat, regions_of, tests_of
from instrc.ir.graph import Graph, Step
from instrc.ir.paths import Path, reading_paths
from instrc.problems.report import Report


def check_failing(graph: Graph, report: Report) -> None:
    """Report each `Fail` that something reads, but for the block that ends in it."""
    failing = {step.number for step in graph.awaited() if step.fail}
    if not failing:
        return
    read = {path.origin for step in graph.steps.values() for path in _read_by(step)}
    for number in sorted(failing & read):
        step = graph.steps[number]
        report.add(problems.steps.NotAValue(at=step.span, word=step.span.text, failing=True))


def _read_by(step: Step) -> Iterator[Path]:
    """Yield what a step waits for; of a block what it asks and goes through, and what its bodies give if that is from outside."""
    yield from (*step.reads, *step.needs, *step.chosen)
    for test in tests_of(step.content):
        yield test.path
    if isinstance(step.content, Each | Repeat) and isinstance(step.content.source, Path):
        yield step.content.source
    for region in regions_of(step.content):
        yield from (path for path in reading_paths(region.value) if path.origin not in region.units)
