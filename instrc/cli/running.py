"""What the commands about runs share: options, reading what is given, showing how a run stands."""

from __future__ import annotations

import os
from collections.abc import Coroutine, Iterable
from importlib.util import find_spec
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, TypeAlias, TypeVar

import typer

from instrc.cli import begin_long_work
from instrc.cli.show import PROBLEMS, Format, deliver_text, refuse, show, verdict
from instrc.cli.terminal import write_error
from instrc.files import STDIN, read_bytes, reason, shown_path
from instrc.jsontext import dumps, loads
from instrc.jsonvalue import Json, JsonObject, without_type
from instrc.problems.problem import CompileError
from instrc.problems.report import Report as Problems
from instrc.regular import MOST_BYTES, is_inherited_stream, read_whole

if TYPE_CHECKING:
    from instrc.launching.preparing import Prepared
    from instrc.runtime.engine import Engine, Keep, RunReport
    from instrc.runtime.events import Sink
    from instrc.runtime.questions import People
    from instrc.vibes.settings import Settings

_T = TypeVar("_T")

Store: TypeAlias = Annotated[
    Path | None, typer.Option("--store", metavar="DIR", help="The folder of the runs; .instrc by default.")
]
EngineName: TypeAlias = Annotated[
    str | None,
    typer.Option("--engine", metavar="NAME", help="The engine of the run: durable (the default if installed), memory, temporal."),
]
ResultOption: TypeAlias = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the result to a file instead.")
]
RunId: TypeAlias = Annotated[str, typer.Argument(metavar="RUN", help="The id of a run; `instrc runs` lists them.")]


def engine(
    store: Path | None,
    name: str | None,
    *,
    run: str | None = None,
    people: People | None = None,
    watch: Sink | None = None,
    keep: Keep = "all",
) -> Engine:
    """Return the engine of a command: as it is said, the one that keeps the run, as the project has set it, else the usual one.

    Usual is `durable` where it is installed; of a stream of items only those that wait are kept, so they are carried in memory.
    """
    from instrc.launching.engines import STORE, engine_of
    from instrc.runtime.folder import keeps
    from instrc.vibes.project import read_settings

    settings = read_settings(Path()).run
    folder = store or Path(settings.get("store", STORE))
    usual = "memory" if keep == "open" or find_spec("dbos") is None else "durable"
    if name is None and run is not None and keeps(folder, run):
        name = "memory"
    made = engine_of(name or settings.get("engine", usual), folder, people=people, watch=watch, keep=keep)
    _engines.append(made)
    return made


_engines: list[Engine] = []
"""Engines of this command; those that hold a store give it free when the command ends."""


def run_to_end(work: Coroutine[object, object, _T]) -> _T:
    """Run a coroutine to its end, and give free what its engine holds."""
    import asyncio  # the help of all commands does without it

    begin_long_work()
    try:
        return asyncio.run(work)
    finally:
        while _engines:
            close = getattr(_engines.pop(), "close", None)
            if close is not None:
                close()


def exit_with(error: CompileError, shape: Format) -> typer.Exit:
    """Show problems; return what ends the command."""
    show(error.problems, shape)
    return typer.Exit(verdict(error.problems))


def given_value(text: str, *, data: bool = False) -> Json:
    """Read what is given on the command line: `@FILE`, `-`, JSON if it looks like it (or must be `data`), else a text."""
    given = text
    if text == STDIN or text.startswith("@"):
        path = text.removeprefix("@")
        try:
            given = _content(path).decode("utf-8-sig")
        except (OSError, ValueError) as error:
            reason = error.strerror.lower() if isinstance(error, OSError) and error.strerror else error
            message = f"`{shown_path(path)}` cannot be read: {reason}"
            raise typer.BadParameter(message) from None
    if data or given.lstrip()[:1] in {"{", "["}:
        try:
            return loads(given)
        except ValueError as error:
            if data and not given.lstrip().startswith(("{", "[", '"')):
                return given
            message = f"this is not JSON: {error}"
            raise typer.BadParameter(message) from None
    return given.rstrip("\n") if text == "-" or text.startswith("@") else given


def _content(path: str) -> bytes:
    if path != STDIN:
        return read_whole(path)
    found = Problems()
    data = read_bytes(path, MOST_BYTES, found)
    if data is None or len(data) > MOST_BYTES:
        reason = found.problems[0].message if data is None else f"it has over {MOST_BYTES:,} bytes"
        raise ValueError(reason)
    return data


def report_as_json(report: RunReport, *, record: bool = False) -> JsonObject:
    """Return how a run stands as JSON."""
    made: JsonObject = {"run": report.run, "name": report.name, "status": report.status}
    if report.outcome is not None:
        made |= {key: value for key, value in without_type(report.outcome).items() if key not in {"status", "value"}}
    if report.questions:
        made["questions"] = [
            {
                "id": question.id,
                "steps": list(question.steps),
                "by": question.by,
                "show": question.show,
                "schema": question.schema,
            }
            for question in report.questions
        ]
    if record:
        made["record"] = report.record
    return made


def warn_of_made_up_answers(model: str | None, settings: Settings, *, rehearse: bool) -> None:
    """Tell, before anything runs, that no model is chosen: what `sample` makes up looks like answers."""
    if not rehearse and model is None and not settings.run.get("model") and not settings.models:
        write_error(
            "no model is chosen: its answers are made up from their schemas (`--model`, or `model` in `[tool.instrc.run]`)\n"
        )


def show_warnings(programs: Iterable[Prepared], shape: Format, *, quiet: bool = False) -> None:
    """Show, before anything runs, what is suspicious in programs that can be run."""
    found = [] if quiet else [problem for program in programs for problem in program.warnings]
    if found:
        show(found, shape)


def files_of(given: str | None) -> list[str]:
    """Return the file that a value given as `@FILE` is read from."""
    return [given[1:]] if given is not None and given.startswith("@") else []


def refuse_output(output: Path | None, sources: Iterable[object]) -> None:
    """Refuse, before anything runs, to write where something must not be replaced: a source, a link, a pipe."""
    if output is None:
        return
    from instrc.cli.outputs import refuse_place  # not needed to print

    try:
        if not is_inherited_stream(str(output)):
            refuse_place(output, [str(each) for each in sources])
    except OSError as error:
        raise typer.Exit(refuse(str(output), reason(error))) from None


def deliver(
    report: RunReport,
    *,
    as_json: bool = False,
    quiet: bool = False,
    output: Path | None = None,
    store: Path | None = None,
    engine_name: str | None = None,
) -> int:
    """Print or write how a run stands, and what to do next if it waits, in the store and engine that were said.

    Return the exit code.
    """
    text = f"{dumps(report_as_json(report), indent=not as_json)}\n"
    if unwritten := deliver_text(text, output):
        show(unwritten, Format.TEXT)
        return PROBLEMS
    if report.status == "waiting" and not quiet:
        step = report.questions[0].steps[0] if report.questions[0].steps else report.questions[0].id
        said = {"--store": store, "--engine": engine_name}
        where = "".join(f" {option} {quote(os.fspath(value))}" for option, value in said.items() if value is not None)
        write_error(f"{report.run} waits for an answer: instrc answer {report.run} {step}{where} --data …\n")
    return PROBLEMS if report.status == "failed" else 0
