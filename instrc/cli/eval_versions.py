"""`instrc eval` with two versions of a program, or with each of its parts left out in turn."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple, TypeAlias

import typer
from msgspec import Struct, structs

from instrc.cli import options, run_common
from instrc.cli.options import settings_of
from instrc.cli.terminal import write_error
from instrc.problems.errors import InstrcError
from instrc.process.request_settings import WORDS_LEVELS
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json, JsonObject

if TYPE_CHECKING:
    from instrc.testing.evaluation.dataset import DataSet
    from instrc.testing.evaluation.report import ReportTable
    from instrc.testing.evaluation.results import CaseResult, EvaluationResult
    from instrc.testing.evaluation.runner import EvalOptions
    from instrc.testing.evaluation.variants import Changes, Part, Version
    from instrc.vibes.project import Project

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
        if group.drop is not None:
            options.refuse_use("--fail-on-drop needs another version, such as `--against main` or `--vibe A=B`")
        if group.judge or group.judge_model:
            options.refuse_use("--judge needs another version, such as `--against main` or `--vibe A=B`")
        return Comparing(None) if group.ablate else None
    if group.ablate:
        options.refuse_use("--ablate makes its own versions: leave the other one out")
    if group.judge_model and not group.judge:
        options.refuse_use("--judge-model needs --judge: the file of a judge of pairs")
    from instrc.testing.evaluation.variants import Changes  # most evaluations compare nothing

    vibes = [_pair(each, "--vibe takes A=B: a vibe, and the name or the file of another one") for each in group.vibe or ()]
    off = [_pair(each, "--mixin takes NAME=off") for each in group.mixin or ()]
    if wrong := [other for _, other in off if other != "off"]:
        options.refuse_use(f"--mixin takes NAME=off, not `{wrong[0]}`")
    settings = tuple(settings_of(group.against_set).items())
    changes = Changes(group.against, tuple(vibes), tuple(name for name, _ in off), group.against_model, settings)
    return Comparing(changes, None if group.drop is None else _share(group.drop), group.judge, group.judge_model)


def _pair(said: str, wanted: str) -> tuple[str, str]:
    name, _, other = said.partition("=")
    if not name.strip() or not other.strip():
        options.refuse_use(f"{wanted}, not `{said}`")
    return name.strip(), other.strip()


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
    worse: bool = False


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
    before, after = versions_of(program, comparing.changes, export=export, project=project)
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
    judges = [] if drop is None else run_common.run_to_end(calibrations(data, asked, new.model))
    left = frozenset(judge.check for judge in judges if not judge.counts)
    gate = comparison.compared(*(without_checks(each, left) for each in (old, new)), same=found.same) if left else found
    lines = [
        *comparison.conclusion(found),
        *comparison.gate_of(gate, drop),
        *(line for judge in judges for line in judge.remarks),
        *more,
    ]
    failed = drop is not None and gate.verdict(drop) == "worse"
    return VersionReport([old, new], lines, [*comparison.comparison_tables(found)], found.to_json(drop), failed)


def _ablated(
    program: str, data: DataSet, asked: EvalOptions, project: Project, export: str | None, progress: Progress
) -> VersionReport:
    from instrc.engines.prepare import prepare
    from instrc.testing.evaluation import comparison
    from instrc.testing.evaluation.report import percent
    from instrc.testing.evaluation.runner import ProgramRunner
    from instrc.testing.evaluation.variants import Part, Version, parts_of, without

    whole = Version("whole", prepare(program, export=export, project=project))
    versions: list[tuple[Part, Version]] = []
    impossible: list[tuple[Part, str]] = []
    used = ProgramRunner(whole.prepared, asked).words
    levels = [level for level in WORDS_LEVELS if used not in (None, level)]
    for part in [*parts_of(program, export=export, project=project), *(Part("words", level) for level in levels)]:
        try:
            changed = without(program, part, export=export, project=project)
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
    write_error("".join(f"{line}\n" for line in lines))


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
