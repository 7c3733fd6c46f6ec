"""`instrc verify`: what the rules of a target and the engines that are installed say of a tool."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from instrc.cli.documents import Emit, exports
from instrc.cli.options import LockedOption, ProblemFormat, Roots, Shared, Strict, one_stdin
from instrc.cli.show import Format, show, verdict
from instrc.cli.targeting import LoweredTool, one_by_one
from instrc.cli.terminal import write
from instrc.files import shown_path
from instrc.jsontext import dumps
from instrc.jsonvalue import Json
from instrc.problems.problem import CompileError, Problem
from instrc.problems.report import Report
from instrc.source import Source, Span
from instrc.workspace import OptionOverrides, Workspace

if TYPE_CHECKING:
    from instrc.lowering.verify import Verification


def command(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A program (.aug), a vibe (.vibe.json), or - for a program.")],
    target: Annotated[list[str], typer.Option("--target", metavar="NAME", help="See `instrc targets`. Repeatable.")],
    flat: Annotated[bool, typer.Option("--flat", help="Verify the flat view of a process instead of its tool.")] = False,
    strict: Strict = False,
    locked: LockedOption = False,
    root: Roots = None,
    shared: Shared = None,
    shape: ProblemFormat = Format.TEXT,
) -> None:
    """Check that a target accepts a tool and keeps its order.

    The installed grammar engines and our own rules decide.
    """
    one_stdin(file)
    report = Report()
    results: list[Json] = []
    try:
        compiled = Workspace(root or (), shared or (), locked=locked).compile(file, OptionOverrides(), report)
    except CompileError as error:
        report.take(error)
        compiled = ()
    view = Emit.FLAT if flat else Emit.TOOL
    for each in one_by_one(list(exports((file, artefact) for artefact in compiled)), target, view, report, strict=strict):
        from instrc.lowering.verify import verify  # engines are large

        found = verify(each.payload, each.target)
        results.append({"name": each.stem, **found.to_json()})
        report.problems.extend(_problems(each, found, Source(shown_path(file), "").whole()))
    if results:
        write(f"{dumps(results[0] if len(results) == 1 else results)}\n")
    problems = report.once()
    show(problems, shape)
    raise typer.Exit(verdict(problems, strict=strict))


def _problems(lowered: LoweredTool, found: Verification, at: Span) -> Iterator[Problem]:
    """Yield what speaks against sending a tool."""
    from instrc.problems.settings import MissingExtra
    from instrc.problems.targets import PayloadRefused

    for breach in found.breaches:
        yield PayloadRefused(at=at, tool=lowered.stem, target=lowered.target, judge="its rules", reason=str(breach))
    if found.accepted is None:
        absent = ", ".join(opinion.engine for opinion in found.opinions if opinion.binding)
        yield MissingExtra(at=at, feature=f"asking what {lowered.target} runs on", extra="verify", package=absent)
    for opinion in found.opinions:
        if opinion.binding and opinion.accepted is False:
            reason = opinion.reason or "it gives no reason"
            yield PayloadRefused(at=at, tool=lowered.stem, target=lowered.target, judge=opinion.engine, reason=reason)
