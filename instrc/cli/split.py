"""`instrc split`: an answer divided into output, thoughts and metrics."""

from __future__ import annotations

from typing import Annotated

import typer

from instrc.cli.inputs import read_json, read_schema
from instrc.cli.options import ProblemFormat, one_stdin
from instrc.cli.show import Format, show, verdict
from instrc.cli.terminal import write
from instrc.jsontext import dumps
from instrc.problems.problem import CompileError
from instrc.problems.report import Report
from instrc.workspace import Workspace


def command(
    schema: Annotated[str, typer.Argument(metavar="SCHEMA", help="The schema the answer follows: a tool or a vibe. Or -.")],
    answer: Annotated[str, typer.Argument(metavar="ANSWER", help="A model's answer as JSON, or - for the standard input.")],
    shape: ProblemFormat = Format.TEXT,
) -> None:
    """Divide an answer into output, thoughts (_) and metrics ($).

    The last two are written by path.
    """
    one_stdin(schema, answer)
    report = Report()
    try:
        registry = Workspace().registry(schema)
        given, filled = read_schema(schema, registry, report), read_json(answer, report)
        if given is not None and filled is not None:
            from instrc.flattening.flatten import flatten  # after the files are known to be read
            from instrc.flattening.split import split

            flat = flatten(given.value, registry.documents, base=given.base, report=report, locate=given.locate)
            write(f"{dumps(split(filled.value, flat))}\n")
    except CompileError as error:
        report.take(error)
    problems = report.once()
    show(problems, shape)
    raise typer.Exit(verdict(problems))
