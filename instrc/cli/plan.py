"""`instrc plan`: check, convert and score models' plans, also in TaskBench format."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from msgspec.structs import replace

from instrc.cli.inputs import are_records, each_record, plans_in, read_json, read_records
from instrc.cli.options import OutputFile, ProblemFormat, one_stdin, reported
from instrc.cli.output import Format, deliver_text
from instrc.problems.errors import InstrcError
from instrc.problems.report import Report
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json, Location, as_object, tokens

if TYPE_CHECKING:
    from instrc.problems.plans import PlanProblem
    from instrc.tools.sources import Given
    from instrc.tools.taskbench import Bench

plan_group = typer.Typer(
    help="Check, convert and score the plans that models make of tools.", no_args_is_help=True, rich_markup_mode=None
)
ToolsFile = Annotated[
    str,
    typer.Option("--tools", metavar="TOOLS", help="The tools by name, as in a process; or a tool file of TaskBench."),
]
BenchFile = Annotated[str, typer.Option("--tools", metavar="TOOLS", help="A tool file of TaskBench.")]


@plan_group.command()
def check(
    plan: Annotated[
        str, typer.Argument(metavar="PLAN", help="A list of tasks, or records of TaskBench, as JSON or JSON Lines; or -.")
    ],
    tools: ToolsFile,
    shape: ProblemFormat = Format.TEXT,
) -> None:
    """Report problems in plans; the exit code is 1 if there are errors."""
    one_stdin(plan, tools)
    with reported(shape, product=True) as report:
        given, known = read_records(plan, report), read_json(tools, report)
        if given is None or known is None:
            return
        from instrc.problems.plans import InvalidTools
        from instrc.tools.plan_check import check_plan  # imports the validator
        from instrc.tools.taskbench import is_bench, tools_map

        bench = _bench_of(known.value, report) if is_bench(known.value) else None
        if bench is not None and are_records(given.value):
            for path, record in each_record(given.value):
                _report_problems(_imported(record, bench, repair=False)[1], given, path, report)
        else:
            found = check_plan(given.value, known.value if bench is None else tools_map(bench))
            report.problems += [replace(each, at=known.locate()) for each in found if isinstance(each, InvalidTools)]
            _report_problems([each for each in found if not isinstance(each, InvalidTools)], given, (), report)


def _report_problems(problems: tuple[PlanProblem, ...] | list[PlanProblem], given: Given, path: Location, report: Report) -> None:
    for problem in problems:
        steps = [int(token) if token.isdecimal() else token for token in tokens(problem.pointer)]
        report.add(replace(problem, at=given.locate((*path, *steps))))


def _imported(record: Json, bench: Bench, *, repair: bool) -> tuple[Json, tuple[PlanProblem, ...]]:
    from instrc.taskbench.convert import import_plan

    found = import_plan(record, bench, repair=repair)
    return found.plan, found.problems


@plan_group.command("import")
def import_(
    records: Annotated[str, typer.Argument(metavar="RECORDS", help="Records of TaskBench, as JSON or JSON Lines; or -.")],
    tools: BenchFile,
    repair: Annotated[
        bool, typer.Option("--repair", help="Repair known mistakes according to their most likely meaning, and list them.")
    ] = False,
    output: OutputFile = None,
    shape: ProblemFormat = Format.TEXT,
) -> None:
    """Turn records of TaskBench into plans.

    One plan is printed alone, several as one `{id, plan}` per line.
    """
    with _delivered(output, (records, tools), shape) as (report, lines):
        given, bench = read_records(records, report), _read_bench_file(tools, report)
        if given is not None and bench is not None:
            several = given.value.__class__ is list
            for path, record in each_record(given.value):
                plan, problems = _imported(record, bench, repair=repair)
                _report_problems(problems, given, path, report)
                id_ = record.get("id") if record.__class__ is dict else None
                lines.append(dumps({"id": id_, "plan": plan}, indent=False) if several else dumps(plan))


@contextmanager
def _delivered(output: Path | None, sources: tuple[str, ...], shape: Format) -> Iterator[tuple[Report, list[str]]]:
    """Collect problems and lines, and print the lines or write them: a failed plan is `null`, others are kept."""
    one_stdin(*sources)
    with reported(shape) as report:
        yield report, (lines := list[str]())
        report.problems += deliver_text("".join(f"{line}\n" for line in lines), output, lambda: sources) if lines else ()


@plan_group.command()
def export(
    plans: Annotated[str, typer.Argument(metavar="PLANS", help="A plan, or the output of `plan import` or `plan sample`; or -.")],
    tools: BenchFile,
    output: OutputFile = None,
    shape: ProblemFormat = Format.TEXT,
) -> None:
    """Turn plans into records of TaskBench."""
    from instrc.problems.plans import PlanProblem
    from instrc.taskbench.convert import export_plan

    with _delivered(output, (plans, tools), shape) as (report, lines):
        given, bench = read_records(plans, report), _read_bench_file(tools, report)
        if given is not None and bench is not None:
            several, found = plans_in(given.value)
            for path, id_, plan in found:
                try:
                    record = as_object(export_plan(plan, bench))
                except InstrcError as error:
                    wrong = [problem for problem in error.problems if isinstance(problem, PlanProblem)]
                    _report_problems(wrong, given, path, report)
                    continue
                lines.append(dumps({"id": id_, **record} if id_ is not None else record, indent=not several))


@plan_group.command()
def score(
    gold: Annotated[str, typer.Argument(metavar="GOLD", help="Correct records of TaskBench, as JSON or JSON Lines.")],
    predictions: Annotated[str, typer.Argument(metavar="PREDICTIONS", help="A model's records for the same ids; or -.")],
    tools: BenchFile,
    output: OutputFile = None,
    shape: ProblemFormat = Format.TEXT,
) -> None:
    """Compare plans with correct plans.

    The scores are n-F1, e-F1, t-F1, v-F1 and NED; overall, by shape, by number of tasks.
    """
    with _delivered(output, (gold, predictions, tools), shape) as (report, lines):
        right, said, bench = read_records(gold, report), read_records(predictions, report), _read_bench_file(tools, report)
        if right is not None and said is not None and bench is not None:
            from instrc.taskbench.score import score_plans

            known, predicted = ([record for _, record in each_record(given.value)] for given in (right, said))
            lines.append(dumps(score_plans(known, predicted, bench).to_json()))


@plan_group.command()
def sample(
    tools: BenchFile,
    count: Annotated[int, typer.Option("--count", "-n", min=1, max=1_000_000, help="Number of plans.")] = 10,
    seed: Annotated[int, typer.Option("--seed", help="Random seed; the same seed gives the same plans.")] = 0,
    form: Annotated[Literal["single", "chain", "dag"] | None, typer.Option("--shape", help="Plans of one shape only.")] = None,
    largest: Annotated[int, typer.Option("--largest", min=2, max=1000, help="Maximum number of tasks per plan.")] = 8,
    output: OutputFile = None,
    shape: ProblemFormat = Format.TEXT,
) -> None:
    """Generate valid plans for the tools, one per line."""
    with _delivered(output, (tools,), shape) as (report, lines):
        bench = _read_bench_file(tools, report)
        if bench is not None:
            from instrc.taskbench.sample import sample_plans

            made = sample_plans(bench, count, seed=seed, shape=form, largest=largest)
            lines.extend(dumps(plan, indent=False) for plan in made)


def _read_bench_file(path: str, report: Report) -> Bench | None:
    """Read a TaskBench tool file; return `None`, with a problem, if it is not JSON."""
    known = read_json(path, report)
    return None if known is None else _bench_of(known.value, report)


def _bench_of(value: Json, report: Report) -> Bench:
    """Return the tools of a TaskBench tool file; report entries that are not tools, and a file without any."""
    from instrc.problems.importing import NotATool, NoTools
    from instrc.tools.taskbench import read_bench

    bench = read_bench(value, lambda _path, reason: report.add(NotATool(reason=reason)))
    if not bench.tools:
        report.add(NoTools(kind="taskbench"))
    return bench
