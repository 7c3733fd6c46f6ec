"""Look for what is read of the round before and is not passed on: only steps and blocks of the body are."""

from __future__ import annotations

from collections.abc import Iterator

from instrc import problems
from instrc.flattening.strip import is_meta
from instrc.ir.blocks import Region, Repeat, regions_of, tests_of
from instrc.ir.graph import Graph
from instrc.ir.paths import Local, ObjectReading, Path, Reading, reading_paths
from instrc.ir.rounds import Rounds, bodies_by_number
from instrc.passes.bind.holding import step_numbers
from instrc.problems.report import Report
from instrc.source import Span


def check_names_of_rounds(graph: Graph, report: Report) -> None:
    """Report names of the round before that are neither a step nor a block, where they are read."""
    blocks = [step.content for step in graph.blocks() if isinstance(step.content, Repeat)]
    rounds = {block.body.number: dict(block.names) for block in blocks}
    bodies = {block.body.number: numbers_in(graph, block.body) for block in blocks}
    written = {access.path: access.span for access in graph.accesses}
    if not rounds:
        return
    found = Rounds(bodies_by_number(graph))
    for path, span in _reads(graph):
        for place in range(len(path.tail)):
            shown = found.body_of(Path(path.origin, path.tail[:place]))
            if shown is None:
                mixed = found.mixed(Path(path.origin, path.tail[:place]))
                if any(path.tail[place] in rounds.get(body, {}) for body in mixed):
                    at = written.get(path, span)
                    report.add(problems.steps.UnknownMember(at=at, word=path.tail[place], mixed=True))
                    break
                continue
            names, body = rounds[shown], bodies[shown]
            if not _is_handed(names.get(path.tail[place]), path.tail[place + 1 :], body):
                known = tuple(name for name, reading in names.items() if _is_handed(reading, (), body))
                at = written.get(path, span)
                passed = path.tail[place] if path.tail[place] in names else ""
                report.add(problems.steps.UnknownMember(at=at, word=path.tail[-1], known=known, passed=passed))


def numbers_in(graph: Graph, body: Region) -> set[int | str | Local]:
    """Return the steps of a body, those inside others included."""
    found: set[int | str | Local] = set(step_numbers(body.units))
    return found | {inner for number in step_numbers(body.units) for inner in graph.inner.get(number, ())}


def _reads(graph: Graph) -> Iterator[tuple[Path, Span]]:
    for step in graph.steps.values():
        for path in (*step.reads, *step.needs):
            yield path, step.span
        for region in regions_of(step.content):
            for path in reading_paths(region.value):
                yield path, region.span
        for test in tests_of(step.content):
            yield test.path, test.span


def _is_handed(reading: Reading | None, rest: tuple[str, ...], body: set[int | str | Local]) -> bool:
    """Tell whether a member of a name is, or lies in, what a step or a block of a body passes on: no thoughts and no metrics."""
    while isinstance(reading, ObjectReading) and rest:
        reading, rest = dict(reading.members).get(rest[0]), rest[1:]
    if reading is None:
        return True  # there is no such member, which is reported by itself
    return isinstance(reading, Path) and reading.origin in body and not any(map(is_meta, reading.tail))
