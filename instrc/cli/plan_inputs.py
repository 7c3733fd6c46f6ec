"""What the commands about plans are given: plans, records and tool files of TaskBench."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from instrc.cli.inputs import read_json
from instrc.files import read_text
from instrc.jsonvalue import Json, Location, listing
from instrc.problems.problem import CompileError
from instrc.problems.report import Report

if TYPE_CHECKING:
    from instrc.importers.given import Given
    from instrc.ir.bench import Bench


def read_records(path: str, report: Report) -> Given | None:
    """Read JSON or JSON Lines from a file or the standard input; `None` with a problem if there is none."""
    source = read_text(path, report)
    if source is None:
        return None
    from instrc.importers.given import of_text  # it knows places in both

    try:
        given = of_text(source)
    except CompileError as error:
        report.take(error)
        return None
    for problem in given.problems:  # lines that are broken, beside others that are not
        report.add(problem)
    return given


def read_bench_file(path: str, report: Report) -> Bench | None:
    """Read a tool file of TaskBench; `None` with a problem if it is not JSON."""
    known = read_json(path, report)
    return None if known is None else bench_of(known.value, report)


def bench_of(value: Json, report: Report) -> Bench:
    """Return the tools of a tool file of TaskBench; entries that are none are reported, and so is a file without tools."""
    from instrc.plans.taskbench.tools import read_bench
    from instrc.problems.importing import NotATool, NoTools

    bench = read_bench(value, lambda _path, reason: report.add(NotATool(reason=reason)))
    if not bench.tools:
        report.add(NoTools(kind="taskbench"))
    return bench


def are_records(value: Json) -> bool:
    """Tell whether something is records of TaskBench, not a list of tasks."""
    first = value[0] if value.__class__ is list and value else value
    return first.__class__ is dict and "tool" not in first


def each_record(value: Json) -> Iterator[tuple[Location, Json]]:
    """Yield the records in a file with their places: one, or a list."""
    if value.__class__ is list:
        yield from (((number,), record) for number, record in enumerate(value))
    else:
        yield (), value


def plans_in(value: Json) -> tuple[bool, list[tuple[Location, Json, Json]]]:
    """Return whether a file holds several plans, and each with its place and id: bare ones, or `{id, plan}`."""
    if value.__class__ is dict and "plan" in value:
        return False, [(("plan",), value.get("id"), value["plan"])]
    if value.__class__ is list and value and all(each.__class__ is list for each in value):
        return True, [((number,), None, plan) for number, plan in enumerate(value)]
    named = [each for each in listing(value) if isinstance(each, dict) and "plan" in each]
    if named and len(named) == len(listing(value)):
        return True, [((number, "plan"), each.get("id"), each["plan"]) for number, each in enumerate(named)]
    return False, [((), None, value)]
