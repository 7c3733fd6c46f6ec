"""`instrc eval`: programs, or two versions of one, on cases with expected results."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Final, Literal, NamedTuple, TypeAlias, cast

import typer
from msgspec import Struct, structs

from instrc.cli import options, run_common
from instrc.cli.output import PROBLEMS, WRONG_USE, Format, deliver_text, report_written, show, try_to_write
from instrc.cli.terminal import is_terminal, write_error
from instrc.problems.errors import InstrcError, SettingsError
from instrc.problems.report import Report
from instrc.process.request_settings import WORDS_LEVELS
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json, JsonObject
from instrc.text.visible import visible
from instrc.vibes.find_files import beside

if TYPE_CHECKING:
    from instrc.engines.prepare import Prepared
    from instrc.testing.evaluation.checks import CheckFunction
    from instrc.testing.evaluation.dataset import DataSet
    from instrc.testing.evaluation.judge import JudgeReport
    from instrc.testing.evaluation.report import Gate, ReportTable
    from instrc.testing.evaluation.results import CaseResult, EvaluationResult
    from instrc.testing.evaluation.runner import Budget, EvalOptions
    from instrc.testing.evaluation.variants import Changes, Part, Version
    from instrc.vibes.project import Project


EvalFormat: TypeAlias = Literal["text", "json", "junit", "markdown", "html", "answers"]
Paths: TypeAlias = Annotated[
    list[str] | None, typer.Argument(metavar="PATH", help="Programs, data sets, folders; by default the current folder.")
]
Repeat: TypeAlias = Annotated[int | None, typer.Option("--n", "-n", min=1, metavar="N", help="Number of runs per case.")]
DataFile: TypeAlias = Annotated[
    str | None, typer.Option("--data", metavar="FILE", help="The data set; of a Python file, what its function `cases` returns.")
]
Chosen: TypeAlias = Annotated[str, typer.Option("-k", metavar="TEXT", help="Only cases whose id or tags contain this text.")]
Functions: TypeAlias = Annotated[
    list[str] | None, typer.Option("--check", metavar="NAME=MODULE:FUNCTION", help="A function that checks each run.")
]
Minimum: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--min", metavar="[CHECK=]RATE", help="Fail unless the interval of a rate is above: 0.85, label=0.9."),
]
Fresh: TypeAlias = Annotated[bool, typer.Option("--fresh", help="Ask again, even for cached runs.")]
Record: TypeAlias = Annotated[
    bool, typer.Option("--record", help="Write NAME.eval.cases.md, which `instrc test` replays without a model.")
]
Shape: TypeAlias = Annotated[EvalFormat, typer.Option("--format", help="Output format of the report.")]
Reports: TypeAlias = Annotated[
    list[Path] | None,
    typer.Option("--output", "-o", metavar="FILE", help="Write .html, .md, .json, .xml (JUnit), .txt, .yaml, or answers.json."),
]


class EvalGroup(options.LockedFolderGroup, frozen=True):
    """Options of `eval` and `tune`."""

    model: options.Model = None
    export: options.Export = None
    set_: options.Set = None
    tokens: options.Tokens = None
    cost: Annotated[str | None, typer.Option("--max-cost", metavar="DOLLARS", help="Maximum total cost of models.")] = None
    concurrency: Annotated[int, typer.Option("--concurrency", min=1, metavar="N", help="Number of concurrent runs.")] = 4
    store: options.Store = None
    quiet: options.Quiet = False
    problems: options.ProblemsOption = Format.TEXT


def eval_command(
    group: EvalGroup,
    versions: VersionGroup,
    paths: Paths = None,
    repeat: Repeat = None,
    data: DataFile = None,
    chosen: Chosen = "",
    check: Functions = None,
    least: Minimum = None,
    requests: options.Requests = None,
    fresh: Fresh = False,
    record: Record = False,
    shape: Shape = "text",
    outputs: Reports = None,
) -> None:
    """Run programs on cases, and measure how many pass.

    The cases of NAME.aug are in NAME.eval.jsonl (or .yaml) next to it, one a line:

    \b
    {"id": "late", "input": "My parcel is late", "expected": {"label": "delivery"}, "tags": ["short"]}

    Of `expected` the members that are written count; a first line without `input` may name other `checks`.
    Finished cases are kept in .instrc/eval: an evaluation that was interrupted continues, and asks nothing twice.
    Activities are not called: their results come from `answers` of a case, or are generated from their schemas.

    Exit codes: 0 the gate of `--min` is reached, or there is none; 1 it is missed, or a program has problems; 2 wrong use;
    3 too few cases for a verdict; 4 not all cases ran, as the budget was used up or the model gave no answer.
    """  # noqa: D301  -- the mark that preserves the line breaks of the example
    asked = structs.replace(eval_options(group, requests), repeats=repeat, checks=_functions(check), fresh=fresh)
    written = _written(outputs)
    comparing = comparing_of(versions)
    jobs = eval_jobs(data_sets(paths, data), chosen, _minimum(least), group)
    run_common.show_warnings([job.prepared for job in jobs], Format.TEXT, quiet=group.quiet)
    answers = "answers" in {shape, *written.values()}
    if answers and len(jobs) > 1:
        options.refuse_use("a file of answers is of one program: name one")
    if comparing is None:
        code = _measure(jobs, asked, shape, written, record=record, quiet=group.quiet)
    else:
        if record or least or answers:
            what = "--record" if record else "--min" if least else "a file of answers"
            options.refuse_use(f"{what} belongs to one version: leave it out, or the other version")
        code = _compare(jobs, comparing, asked, group, shape, written)
    raise typer.Exit(code)


FOLDER: Final = "eval"
"""Subfolder of the store for finished runs and their traces."""


def eval_options(group: EvalGroup, requests: int | None) -> EvalOptions:
    """Return the options for running the data sets."""
    from instrc.api.evaluation import evaluation_checks
    from instrc.engines.places import require_place
    from instrc.engines.stores import USUAL_FOLDER
    from instrc.testing.evaluation.runner import Budget, EvalOptions  # not needed for the help of commands

    require_place(store := group.store or Path(USUAL_FOLDER))
    return EvalOptions(
        group.model,
        concurrency=group.concurrency,
        settings=options.settings_of(group.set_),
        kinds=evaluation_checks(),
        budget=Budget(requests, group.tokens, _dollars(group.cost)),
        folder=store / FOLDER,
    )


def _functions(said: list[str] | None) -> dict[str, CheckFunction]:
    from instrc.engines.prepare import imported

    pairs = options.pairs_of(said, "--check takes NAME=MODULE:FUNCTION")
    return {name: imported("check", words, Path()) for name, words in pairs.items()}


def _dollars(said: str | None) -> float | None:
    """Return a number of US dollars; an invalid one ends the command."""
    try:
        found = None if said is None else float(said.removeprefix("$"))
    except ValueError:
        found = -1.0
    if found is not None and not 0 <= found < float("inf"):
        options.refuse_use(f"--max-cost takes a number of US dollars, not `{said}`")
    return found


_ENDINGS: Final[dict[str, EvalFormat]] = {".json": "json", ".xml": "junit", ".md": "markdown", ".html": "html", ".txt": "text"}
_ANSWERS: Final = "answers.json"


def _written(outputs: list[Path] | None) -> dict[Path, EvalFormat]:
    """Return the format of each written report, by its file extension."""
    for output in outputs or ():
        if output.suffix.lower() not in _ENDINGS:
            options.refuse_use(f"`{output}`: a report ends in {', '.join(_ENDINGS)}")
        run_common.refuse_output(output, ())
    return {output: "answers" if output.name.endswith(_ANSWERS) else _ENDINGS[output.suffix.lower()] for output in outputs or ()}


class _Job(NamedTuple):
    """A program with its cases."""

    program: str
    prepared: Prepared
    data: DataSet
    export: str | None = None
    """The export, if it was named."""


def eval_jobs(sets: list[tuple[str, str]], chosen: str, demanded: dict[str, float], group: EvalGroup) -> list[_Job]:
    """Return the programs with their cases; without any, the command ends."""
    from instrc.engines.prepare import prepare
    from instrc.testing.evaluation.dataset import read_data_set

    report, jobs = Report(), list[_Job]()
    for program, file in sets:
        data = read_data_set(file, report)
        cases = () if data is None else tuple(case for case in data.cases if chosen in " ".join((case.id, *case.tags)))
        if data is not None and cases:
            data = structs.replace(data, cases=cases, minimum={**data.minimum, **demanded})
            prepared = prepare(program, export=group.export, project=group.project, model=group.model)
            jobs.append(_Job(program, prepared, data, group.export and prepared.name))
    report.stop_if_failed()
    if not jobs:
        none = "there are no cases: write some into NAME.eval.jsonl beside NAME.aug (`instrc eval -h` shows one)\n"
        write_error(f"no case has `{chosen}` in its id or its tags\n" if chosen and sets else none)
        raise typer.Exit(WRONG_USE)
    return jobs


def data_sets(paths: list[str] | None, data: str | None) -> list[tuple[str, str]]:
    """Return the programs with the files of their data sets."""
    from instrc.testing.evaluation.dataset import data_sets_at

    if data is not None:
        if paths is None or len(paths) != 1 or not paths[0].endswith((".aug", ".json")):
            options.refuse_use("--data belongs to one program")
        return [(paths[0], data)]
    report = Report()
    found = [each for path in (["."] if paths is None else paths) for each in data_sets_at(path, report)]
    report.stop_if_failed()
    return found


def _minimum(said: list[str] | None) -> dict[str, float]:
    """Return the required rates, by check."""
    from instrc.testing.evaluation.dataset import minimum_of
    from instrc.testing.evaluation.report import ALL

    found: dict[str, float] = {}
    for each in said or []:
        name, _, number = each.rpartition("=")
        try:
            share = float(number.removesuffix("%")) / (100 if number.endswith("%") else 1)
            found |= minimum_of({name or ALL: share})
        except ValueError:
            options.refuse_use(f"--min takes [CHECK=]RATE with a rate from 0 to 1 (or in %), not `{each}`")
    return found


def _measure(
    jobs: list[_Job], asked: EvalOptions, shape: EvalFormat, written: dict[Path, EvalFormat], *, record: bool, quiet: bool
) -> int:
    """Run each program, and report the results; return the exit code."""
    from instrc.testing.evaluation.report import exit_code

    folder = asked.folder or Path(FOLDER)
    done = _evaluated(jobs, asked, quiet=quiet)
    for each in done if record else ():
        _record(each.job, each.found, folder)
    _deliver(partial(_rendered, done, folder=folder), shape, written)
    if not quiet and (failed := next((run for each in done for run in each.found.results if not run.passed), None)):
        write_error(f"how a run went: instrc trace {folder / 'traces' / failed.trace}.jsonl\n")
    return exit_code([each.found for each in done], [gate for each in done for gate in each.gates])


class _Done(NamedTuple):
    """The results of a program."""

    job: _Job
    found: EvaluationResult
    gates: list[Gate]
    judges: list[JudgeReport]
    settings: JsonObject
    """Request settings as given."""


def _evaluated(jobs: list[_Job], asked: EvalOptions, *, quiet: bool) -> list[_Done]:
    """Return the results of each program, with its gate."""
    from instrc.testing.evaluation.judge import calibrated_gates

    total = sum(len(job.data.cases) * (asked.repeats or job.data.repeat) for job in jobs)
    with _progress(total, asked.budget, quiet=quiet) as told:
        found = run_common.run_to_end(_evaluate_all(jobs, structs.replace(asked, progress=told)))
    pairs = zip(jobs, found, strict=True)
    given = cast("JsonObject", dict(asked.settings))
    done = [_Done(job, each, *run_common.run_to_end(calibrated_gates(each, job.data, asked)), given) for job, each in pairs]
    _say(line for each in done for judge in each.judges for line in judge.remarks)
    return done


_LINE: Final = 10.0
"""Seconds between two lines of progress without a terminal."""


@contextmanager
def _progress(total: int, budget: Budget, *, quiet: bool) -> Iterator[Callable[[CaseResult], object] | None]:
    """Yield the callback that shows progress for each result, or `None` if `quiet`."""
    if quiet:
        yield None
        return
    from instrc.api.batch import progress_bar
    from instrc.text.names import counted

    last = monotonic()
    done = passed = 0

    def write_line(text: str) -> None:
        nonlocal last
        if monotonic() - last > _LINE:
            last = monotonic()
            write_error(f"{done}/{total} runs, {text}\n")

    with progress_bar(total) if is_terminal(sys.stderr) else nullcontext(write_line) as show_text:

        def tell(result: CaseResult) -> None:
            nonlocal done, passed
            done, passed = done + 1, passed + result.passed
            price = f", ${budget.used_cost:,.4f}" if budget.used_cost else ""
            show_text(f"{passed} passed, {counted(budget.used_requests, 'request')}, {budget.used_tokens:,} tokens{price}")

        yield tell


async def _evaluate_all(jobs: list[_Job], asked: EvalOptions) -> list[EvaluationResult]:

    from instrc.testing.evaluation.runner import evaluated

    found = [(job.program, await evaluated(job.prepared, job.data, asked)) for job in jobs]
    return [structs.replace(each, program=program) for program, each in found]


def _record(job: _Job, found: EvaluationResult, folder: Path) -> None:
    """Write the answers of models as cases that can be replayed without one."""
    from instrc.testing.cases import RECORDED
    from instrc.testing.evaluation.export import recorded_cases
    from instrc.text.names import counted

    [file] = beside(job.program, (RECORDED,))
    text, left = recorded_cases(found, folder, job.export)
    if wrong := try_to_write({file: text}):
        raise SettingsError(wrong)
    _say([f"not recorded, as the first run did not come to an end: {counted(left, 'case')}"] if left else [])
    report_written([file], Format.TEXT)


def _deliver(render: Callable[[EvalFormat], str], shape: EvalFormat, written: dict[Path, EvalFormat]) -> None:
    """Print the report, and write it in other formats."""
    wanted = {output: render(form) for output, form in written.items()}
    unwritten = [*(try_to_write(wanted) if wanted else ()), *deliver_text(render(shape), None)]
    show(unwritten, Format.TEXT)
    if unwritten:
        raise typer.Exit(PROBLEMS)
    report_written(wanted, Format.TEXT)


def _rendered(done: list[_Done], shape: EvalFormat, folder: Path) -> str:
    from instrc.testing.evaluation import report
    from instrc.testing.evaluation.judge import judges_table

    found = [each.found for each in done]
    if shape == "answers":
        from instrc.testing.evaluation.export import recorded_answers

        lost = sum(run.error is not None for run in done[0].found.results)
        _say([f"{lost} runs did not come to their end: the file lacks what they have no answer for"] if lost else [])
        return recorded_answers(done[0].found, folder, done[0].settings)
    if shape == "json":
        return f"{dumps(report.as_json(found, (each.gates for each in done)))}\n"
    judges = [[judges_table(each.judges)] if each.judges else [] for each in done]
    reports = [
        VersionReport([each.found], [], [*report.tables_of(each.found, each.gates), *more], {})
        for each, more in zip(done, judges, strict=True)
    ]
    return rendered(reports, shape, folder)


def _compare(
    jobs: list[_Job], changes: Comparing, asked: EvalOptions, group: EvalGroup, shape: EvalFormat, written: dict[Path, EvalFormat]
) -> int:
    """Run the versions of each program, and report how they differ; return the exit code."""
    from instrc.testing.evaluation.report import NOT_RUN

    progress = partial(_progress, budget=asked.budget, quiet=group.quiet)
    at = group.project, group.export
    found = [run_versions(job.program, job.data, changes, asked, *at, progress) for job in jobs]
    folder = asked.folder or Path(FOLDER)
    _deliver(lambda form: rendered(found, form, folder), shape, written)
    if any(each.stopped is not None for report in found for each in report.versions):
        return NOT_RUN
    codes = {each.code for each in found}
    return 1 if 1 in codes else max(codes)


Progress: TypeAlias = Callable[[int], "AbstractContextManager[Callable[[CaseResult], object] | None]"]
"""Shows progress over the given number of runs."""


class VersionGroup(Struct, frozen=True):
    """Options that name another version of a program."""

    against: Annotated[
        str | None, typer.Option("--against", metavar="REV|FILE", help="Compare with a revision of git, or with another program.")
    ] = None
    vibe: Annotated[
        list[str] | None, typer.Option("--vibe", metavar="A=B", help="Compare with vibe B (a name or a file) in place of A.")
    ] = None
    mixin: Annotated[list[str] | None, typer.Option("--mixin", metavar="NAME=off", help="Compare with this mixin left out.")] = (
        None
    )
    against_model: Annotated[str | None, typer.Option("--against-model", metavar="MODEL", help="Compare with this model.")] = None
    against_set: Annotated[
        list[str] | None,
        typer.Option("--against-set", metavar="NAME=VALUE", help="Compare with this setting, written as for --set."),
    ] = None
    ablate: Annotated[
        bool,
        typer.Option(
            "--ablate", help="Omit each mixin, thought and description in turn, reverse each order, try other wordings."
        ),
    ] = False
    drop: Annotated[
        str | None,
        typer.Option("--fail-on-drop", metavar="2%", help="Fail if the whole interval of the difference lies below this."),
    ] = None
    judge: Annotated[
        str | None, typer.Option("--judge", metavar="FILE", help="A judge that decides which of two versions answers better.")
    ] = None
    judge_model: Annotated[str | None, typer.Option("--judge-model", metavar="MODEL", help="The model of --judge.")] = None


class Comparing(NamedTuple):
    """The versions to compare, or without changes, the program without each of its parts."""

    changes: Changes | None
    drop: float | None = None
    """Minimum drop in score at which the comparison fails."""
    judge: str | None = None
    """File of a pairwise judge."""
    judge_model: str | None = None


def comparing_of(group: VersionGroup) -> Comparing | None:
    """Return the comparison that the options ask for; wrong use ends the command."""
    if not (group.against or group.vibe or group.mixin or group.against_model or group.against_set):
        for option, given in (("--fail-on-drop", group.drop is not None), ("--judge", group.judge or group.judge_model)):
            if given:
                options.refuse_use(f"{option} needs another version, such as `--against main` or `--vibe A=B`")
        return Comparing(None) if group.ablate else None
    if group.ablate:
        options.refuse_use("--ablate makes its own versions: leave the other one out")
    if group.judge_model and not group.judge:
        options.refuse_use("--judge-model needs --judge: the file of a judge of pairs")
    from instrc.testing.evaluation.variants import Changes  # most evaluations compare nothing

    vibes = options.pairs_of(group.vibe, "--vibe takes A=B: a vibe, and the name or the file of another one")
    off = options.pairs_of(group.mixin, "--mixin takes NAME=off")
    if wrong := [other for other in off.values() if other != "off"]:
        options.refuse_use(f"--mixin takes NAME=off, not `{wrong[0]}`")
    settings = tuple(options.settings_of(group.against_set).items())
    changes = Changes(group.against, tuple(vibes.items()), tuple(off), group.against_model, settings)
    return Comparing(changes, None if group.drop is None else _share(group.drop), group.judge, group.judge_model)


def _share(said: str) -> float:
    try:
        share = float(said.removesuffix("%")) / (100 if said.endswith("%") else 1)
    except ValueError:
        share = -1.0
    if not 0 <= share < 1:
        options.refuse_use(f"--fail-on-drop takes a share, such as 2% or 0.02, not `{said}`")
    return share


class VersionReport(NamedTuple):
    """The contents of the report on the versions of one program."""

    versions: list[EvaluationResult]
    lines: list[str]
    tables: list[ReportTable]
    figures: JsonObject
    code: int = 0
    """Exit code of the gate."""


def run_versions(
    program: str,
    data: DataSet,
    comparing: Comparing,
    asked: EvalOptions,
    project: Project,
    export: str | None,
    progress: Progress,
) -> VersionReport:
    """Run the versions of a program on the same cases, after printing the difference that these can show."""
    if comparing.changes is None:
        return _ablated(program, data, asked, project, export, progress)
    from instrc.testing.evaluation import comparison
    from instrc.testing.evaluation.judge import calibrations, preferences, require_pairs, without_checks
    from instrc.testing.evaluation.variants import versions_of

    drop = comparing.drop
    if comparing.judge is not None:
        require_pairs(comparing.judge)
    before, after = versions_of(program, comparing.changes, export=export, project=project, model=asked.asks)
    runs = len(data.cases) * (asked.repeats or data.repeat) * (1 if before.is_like(after) else 2)
    _say(comparison.foresight(len(data.cases), runs, drop))
    with progress(runs) as told:
        work = comparison.compared_versions(before, after, data, structs.replace(asked, progress=told))
        found = run_common.run_to_end(work)
    old, new = (structs.replace(each, program=program) for each in (found.before, found.after))
    found = structs.replace(found, before=old, after=new)
    more: list[str] = []
    if comparing.judge is not None and not found.same:
        models, by = frozenset({old.model, new.model}), structs.replace(asked, model=comparing.judge_model or asked.model)
        said = run_common.run_to_end(preferences(comparing.judge, old, new, by, models))
        if said.scores:
            found = comparison.with_preferences(found, said.report.check, said.scores)
        more = (
            [f"{said.unanswered} pairs were not judged, as the judge gave no answer: they are left out."]
            if said.unanswered
            else []
        )
        more += said.report.remarks
    judges = [] if drop is None else run_common.run_to_end(calibrations(data, asked, frozenset({old.model, new.model})))
    left = frozenset(judge.check for judge in judges if not judge.counts)
    gate = comparison.compared(*(without_checks(each, left) for each in (old, new)), same=found.same) if left else found
    code, verdict = (0, None) if drop is None or found.same else comparison.gate_of(gate, drop)
    lines = [
        *comparison.conclusion(found),
        *([] if verdict is None else [verdict]),
        *(line for judge in judges for line in judge.remarks),
        *more,
    ]
    figures: JsonObject = {**found.to_json(), "verdict": None if drop is None else gate.verdict(drop)}
    return VersionReport([old, new], lines, [*comparison.comparison_tables(found)], figures, code)


def _ablated(
    program: str, data: DataSet, asked: EvalOptions, project: Project, export: str | None, progress: Progress
) -> VersionReport:
    from instrc.engines.prepare import prepare
    from instrc.testing.evaluation import comparison
    from instrc.testing.evaluation.report import percent
    from instrc.testing.evaluation.runner import ProgramRunner
    from instrc.testing.evaluation.variants import Part, Version, parts_of, without

    whole = Version("whole", prepare(program, export=export, project=project, model=asked.asks))
    versions: list[tuple[Part, Version]] = []
    impossible: list[tuple[Part, str]] = []
    used = ProgramRunner(whole.prepared, asked).words
    levels = [level for level in WORDS_LEVELS if used not in (None, level)]
    for part in [*parts_of(program, export=export, project=project), *(Part("words", level) for level in levels)]:
        try:
            changed = without(program, part, export=export, project=project, model=asked.asks)
            settings = {"words": part.name} if part.kind == "words" else None
            versions.append((part, Version(f"without {part.kind} {part.name}", changed, settings=settings)))
        except InstrcError as error:
            impossible.append((part, error.problems[0].message))
    runs = len(data.cases) * (asked.repeats or data.repeat) * (len(versions) + 1)
    _say([f"{len(versions)} parts.", *comparison.foresight(len(data.cases), runs)])
    with progress(runs) as told:
        compared = [whole, *(version for _, version in versions)]
        work = comparison.evaluated_versions(compared, data, structs.replace(asked, progress=told))
        first, *others = (structs.replace(each, program=program) for each in run_common.run_to_end(work))
    found = comparison.ablations(first, [(part, each) for (part, _), each in zip(versions, others, strict=True)], impossible)
    table, passes = comparison.ablation_table(found), list(first.passes().values())
    line = f"The whole program passes {percent(sum(passes) / max(len(passes), 1))} of the cases."
    figures: list[Json] = [dict(zip(table.header, row, strict=True)) for row in table.rows]
    return VersionReport([first, *others], [line], [table], {"parts": figures})


def _say(lines: Iterable[str]) -> None:
    write_error("".join(f"{visible(line)}\n" for line in lines))


def rendered(found: list[VersionReport], form: str, folder: Path) -> str:
    """Return the report on several programs in a form of `instrc eval`; traces of failed runs are in a folder."""
    from instrc.testing.evaluation import report

    if form == "json":
        comparisons: list[Json] = [
            {**each.figures, "conclusion": [*each.lines], "versions": [version.to_json() for version in each.versions]}
            for each in found
        ]
        return f"{dumps({'comparisons': comparisons})}\n"
    if form == "junit":
        return report.as_junit(version for each in found for version in each.versions)
    if form == "html":
        from instrc.testing.evaluation.page import page_of

        return page_of([(each.versions[:2], each.lines, each.tables) for each in found], folder)
    shown = [each.versions[-1] if len(each.versions) == 2 else each.versions[0] for each in found]
    write = report.as_markdown if form == "markdown" else report.as_text
    return "\n".join(write(version, each.lines, each.tables) for version, each in zip(shown, found, strict=True))
