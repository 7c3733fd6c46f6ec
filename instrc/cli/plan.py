"""`instrc plan`: what models decide to do, checked before anything of it runs."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from instrc.cli.inputs import read_json
from instrc.cli.options import ProblemFormat, one_stdin
from instrc.cli.show import Format, show, verdict
from instrc.problems.report import Report

group = typer.Typer(help="Check the plans that models make of tools.", no_args_is_help=True, rich_markup_mode=None)


@group.callback()
def plan() -> None:
    """Keep `check` a command of its own."""


@group.command()
def check(
    plan: Annotated[str, typer.Argument(metavar="PLAN", help="A list of tasks, as JSON, or - for the standard input.")],
    tools: Annotated[str, typer.Option("--tools", metavar="TOOLS", help="The tools by name, as they stand in a process.")],
    shape: ProblemFormat = Format.TEXT,
) -> None:
    """Say what is wrong with a plan; the exit code is 1 if anything is."""
    one_stdin(plan, tools)
    report = Report()
    given, known = read_json(plan, report), read_json(tools, report)
    if given is not None and known is not None:
        from instrc.plans.check import check_plan  # brings the judge

        for problem in check_plan(given.value, known.value):
            report.add(replace(problem, at=given.locate(problem.pointer)))
    problems = report.once()
    show(problems, shape, product=True)
    raise typer.Exit(verdict(problems))
