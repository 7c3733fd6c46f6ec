"""`instrc lift`: a model's answer, back in our names and shapes, checked and divided."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from msgspec.structs import replace

from instrc.cli.inputs import read_json
from instrc.cli.options import ProblemFormat, one_stdin
from instrc.cli.show import Format, show, verdict
from instrc.cli.terminal import write
from instrc.files import read_text
from instrc.jsontext import dumps
from instrc.jsonvalue import Json
from instrc.problems.problem import CompileError
from instrc.problems.report import Report

if TYPE_CHECKING:
    from instrc.lifting.lift import Lifted, LiftedCall


def command(
    answer: Annotated[str, typer.Argument(metavar="ANSWER", help="What the provider returned, or - for the standard input.")],
    way_back: Annotated[
        str, typer.Option("--map", metavar="MAP", help="The reverse map of the payload that the model received.")
    ],
    shape: ProblemFormat = Format.TEXT,
) -> None:
    """Convert the answer of a model back, in any envelope.

    The exit code is 1 if it cannot be used.

    ANSWER is a response, its message, one call, bare arguments, or the pieces of a stream
    (JSON, JSON Lines, server-sent events).
    Calls that open models wrote into their text are found for targets whose servers do not parse them.

    `status` in the output is ok, invalid, ambiguous, refused, cut, empty, malformed or failed; `repairs` lists what was repaired
    (`instrc explain invalid-answer`).
    """
    one_stdin(answer, way_back)
    report = Report()
    known, source = read_json(way_back, report), read_text(answer, report)
    if known is not None and source is not None:
        from instrc.lifting.lift import lift  # brings the validator

        try:
            lifted = lift(source.text, known.value)
        except CompileError as error:
            at = known.source.whole()  # all that raises is in the map: which of the two files it is has to be said
            report.problems.extend(replace(problem, at=at) if problem.at is None else problem for problem in error.problems)
        else:
            write(f"{dumps(_document(lifted))}\n")
            report.problems.extend(lifted.problems_at(source.whole()))
    problems = report.once()
    show(problems, shape)
    raise typer.Exit(verdict(problems))


def _document(lifted: Lifted) -> Json:
    """Return all that is known about an answer, each call divided into output, thoughts and metrics."""
    return {**lifted.to_json(), "calls": [_call_with_parts(call) for call in lifted.calls]}


def _call_with_parts(call: LiftedCall) -> Json:
    return {**call.to_json(), "output": call.output, "thoughts": call.thoughts, "metrics": call.metrics}
