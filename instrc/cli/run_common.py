"""Common parts of the commands about runs: engines, inputs, and results."""

from __future__ import annotations

import os
import re
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, TypeVar

import typer

from instrc import problems
from instrc.cli.options import NAMED_INPUT, EngineGroup, one_stdin, refuse_use
from instrc.cli.output import FINE, PROBLEMS, Format, deliver_text, refuse, refuse_place, show
from instrc.cli.run_display import Watcher
from instrc.cli.terminal import write_error
from instrc.problems.errors import InstrcError, SettingsError, codes_of
from instrc.problems.report import Report as Problems
from instrc.runtime.traces import Sink
from instrc.schema.kinds import own_kinds
from instrc.text.files import MOST_BYTES, is_inherited_stream, read_whole, reason
from instrc.text.jsontext import dumps, loads
from instrc.text.jsonvalue import Json, JsonObject, as_object, mapping
from instrc.text.visible import visible
from instrc.vibes.find_files import STDIN, read_bytes, shown_path

if TYPE_CHECKING:
    from instrc.engines.hosts import Host
    from instrc.engines.prepare import Prepared
    from instrc.runtime.engine_protocol import Engine, EngineOptions, WorkerOptions
    from instrc.runtime.models.partial import AnswerPart
    from instrc.runtime.questions import Question
    from instrc.runtime.run_report import RunReport

_T = TypeVar("_T")
_opened: list[Engine | Host] = []
"""Engines of this command; those that own a store release it when the command ends."""


def engine(
    at: EngineGroup,
    *,
    run: str | None = None,
    watch: Sink | None = None,
    parts: Callable[[AnswerPart], object] | None = None,
    worker: WorkerOptions | None = None,
) -> Engine:
    """Return the engine of a command: from the option, the run, the project's settings, or `durable` if installed."""
    from instrc.engines.folder import keeps
    from instrc.engines.hosts import engine_of
    from instrc.vibes.settings import read_settings

    folder, name = Path(at.place), at.engine_name
    if name is None and run is not None and keeps(folder, run):
        name = "memory"
    more: EngineOptions = {"watch": watch, "parts": parts, "traces": read_settings(Path()).run.get("traces")}
    if worker is not None:
        more["worker"] = worker
    made = engine_of(_engine_name(name, keeps_all=True), folder, **more)
    _opened.append(made)
    return made


def host_of_items(at: EngineGroup) -> Host:
    """Return the host for a stream of items.

    Only waiting ones are stored, so they run in memory unless the store is a database.
    """
    from instrc.engines.hosts import Host
    from instrc.engines.places import scheme_of

    folder = Path(at.place)
    host = Host(_engine_name(at.engine_name, keeps_all=bool(scheme_of(folder))), folder, keep="open")
    _opened.append(host)
    return host


def _engine_name(name: str | None, *, keeps_all: bool) -> str:
    from instrc.engines.projects import serve_project
    from instrc.vibes.settings import read_settings

    serve_project(Path())
    usual = "durable" if keeps_all and find_spec("dbos") is not None else "memory"
    return name or read_settings(Path()).run.get("engine", usual)


def run_to_end(work: Coroutine[object, object, _T]) -> _T:
    """Run a coroutine to its end, and release what its engine holds."""
    import asyncio  # not needed for the help of commands

    from instrc.runtime.models.clients import closing_all

    try:
        return asyncio.run(closing_all(work))
    finally:
        while _opened:
            close = getattr(_opened.pop(), "close", None)
            if close is not None:
                close()


async def audited(
    kept: object, work: Awaitable[_T], action: str, run: str | None, question: str | None = None, sent: Json = None
) -> _T:
    """Do something with a run, and record it in the audit log of its store; `memory` and Temporal have none of their own.

    What is interrupted is recorded too: it may have been done, and its run may go on.
    """
    table = getattr(kept, "table", None)  # of a `TableEngine`, whose module loads the database
    try:
        return await work
    except InstrcError:
        table = None
        raise
    finally:
        if table is not None:
            table().audit("local", "command", action, run, question=question, sent=sent)


async def lasting(kept: Engine, work: Callable[[bool], Awaitable[_T]]) -> _T:
    """Call a function with an engine, which may lose its server meanwhile, for as long as the settings allow."""
    from instrc.runtime.reconnect import RECONNECT_SECONDS, retry_after_reconnect
    from instrc.vibes.settings import read_settings

    return await retry_after_reconnect(kept, work, read_settings(Path()).run.get("reconnect", RECONNECT_SECONDS), tell_line)


@contextmanager
def shown(watcher: Watcher, run: str, at: EngineGroup) -> Iterator[Sink]:
    """Show the progress of a run with its partial answers; if it is interrupted, print how to continue it."""
    try:
        with watcher as sink:  # this process may carry other runs of the store at the same time
            yield lambda event: sink(event) if event["run"].partition("/")[0] == run.partition("/")[0] else None
    except KeyboardInterrupt:
        if watcher.began is not None:
            tell_line(f"interrupted; {run} is kept, and continues with: instrc resume {run}{_where(at)}")
        raise


def _where(at: EngineGroup) -> str:
    """Return the options that name the store and engine of a run."""
    from instrc.engines.places import scheme_of, store_of

    place = store_of(at.store).shown if at.store is not None and scheme_of(at.store) else at.store  # without the password
    options = {"--store": place, "--engine": at.engine_name}
    return "".join(f" {option} {quote(os.fspath(value))}" for option, value in options.items() if value is not None)


def tell_line(line: str) -> None:
    """Write one line for the user; a line break in it is made visible, so that a foreign text cannot imitate a line of ours."""
    write_error(f"{visible(line)}\n")


def given_value(text: str, *, data: bool = False, schema: Json = None) -> Json:
    """Read a value of the command line: `@FILE`, `-`, JSON if it looks like it (or must be `data`), otherwise a text.

    With a `schema` it is JSON if only the JSON value satisfies that; where no list and no object does, `[` begins a text.
    """
    given = text
    if text == STDIN or text.startswith("@"):
        path = text.removeprefix("@")
        try:
            given = _content(path).decode("utf-8-sig").rstrip("\r\n")
        except (OSError, ValueError) as error:
            refuse_use(f"`{shown_path(path)}` cannot be read: {reason(error)}")
    from instrc.runtime.activities import complaints  # not needed for the help

    kinds = own_kinds(mapping(schema))
    if schema is not None and kinds != {"string"} and complaints(given, schema):
        with suppress(ValueError):
            return loads(given)
    if data or (given.lstrip()[:1] in {"{", "["} and kinds & {"array", "object"}):
        try:
            return loads(given)
        except ValueError as error:
            if not data or given.lstrip().startswith(("{", "[", '"')):
                refuse_use(f"this is not JSON: {error}{'' if data else '; `prompt=…` takes any text'}")
    return given


def given_inputs(values: list[str] | None, prepared: Prepared, *sources: str | None) -> Json:
    """Read the inputs of a program: the prompt, an object of inputs, or `name=value` for several inputs.

    Refuse to read standard input for two of them, or for one of them and a source.
    """
    from instrc.engines.prepare import taken_inputs

    declared = taken_inputs(prepared)
    named = [match for text in values or () if (match := NAMED_INPUT.fullmatch(text)) is not None and match[1] in declared]
    one_stdin(*(text.removeprefix("@") for text in (*sources, *([match[2] for match in named] or values or ())) if text))
    if values is None or (len(values) == 1 and not named):
        return None if values is None else given_value(values[0])
    names = [match[1] for match in named]
    if len(named) < len(values) or len({*names}) < len(names):
        known = ", ".join(f"`{name}=…`" for name in declared)
        refuse_use(f"several inputs are given by name, each once; this program has {known or 'none'}", "--input")
    return {match[1]: given_value(match[2], schema=declared[match[1]]) for match in named}


def _content(path: str) -> bytes:
    if path != STDIN:
        return read_whole(path)
    found = Problems()
    data = read_bytes(path, MOST_BYTES, found)
    if data is None or len(data) > MOST_BYTES:
        raise ValueError(found.problems[0].message if data is None else f"it has over {MOST_BYTES:,} bytes")
    return data


def report_as_json(report: RunReport, *, record: bool = False) -> JsonObject:
    """Return the state of a run as JSON."""
    from instrc.runtime.run import state_as_json

    return {"run": report.run, "name": report.name, **state_as_json(report), **({"record": report.record} if record else {})}


def show_warnings(programs: Iterable[Prepared], shape: Format, *, quiet: bool = False) -> None:
    """Show the warnings of programs before running them."""
    found = [] if quiet else [problem for program in programs for problem in program.warnings]
    if found:
        show(found, shape)


def files_of(given: list[str] | None) -> list[str]:
    """Return the files that values given as `@FILE` are read from."""
    return [text.partition("@")[2] for text in given or () if re.match(r"(\w+=)?@", text)]


def refuse_output(output: Path | None, sources: Iterable[object]) -> None:
    """Refuse, before running, an output that must not be replaced: a source, a link, a pipe."""
    if output is None:
        return
    try:
        if not is_inherited_stream(str(output)):
            refuse_place(output, [str(each) for each in sources])
    except OSError as error:
        raise typer.Exit(refuse(str(output), reason(error))) from None


def deliver(report: RunReport, at: EngineGroup, *, as_json: bool = False, quiet: bool = False, output: Path | None = None) -> int:
    """Print or write the state of a run, and the next commands if it waits, with their store and engine.

    Return the exit code.
    """
    text = f"{dumps(report_as_json(report), indent=not as_json)}\n"
    if unwritten := deliver_text(text, output):
        show(unwritten, Format.TEXT)
        return PROBLEMS
    if not quiet:
        for line in _next_steps(report, _where(at)):
            tell_line(line)
    from instrc.runtime.run_report import RUN_ERRORS

    return FINE if report.status in {"done", "running"} else codes_of(RUN_ERRORS[report.status]).exit


def _next_steps(report: RunReport, where: str) -> Iterator[str]:
    """Yield the next commands for a run that has not ended."""
    from instrc.runtime.run_report import describe_outcome

    run, outcome = report.run, report.outcome
    if report.status == "failed":
        yield describe_outcome(outcome)
        if outcome is not None and outcome["status"] == "failed" and "place" in outcome["error"]:
            yield f"its traceback: instrc trace {run}{where}"
        yield f"once the cause is fixed, continue: instrc retry {run}{where}"
    for question in report.questions if report.status == "held" else report.questions[:1]:
        step = step_asked(question)
        if question.by != "operator":
            yield f"{run} waits for an answer: instrc answer {run} {step}{where} --data …"
            continue
        error = as_object(as_object(question.show)["error"])
        yield f"{run} is held by {step}: {error['message']}"
        if question.id == "limit":
            yield f"continue with a higher limit: instrc retry {run}{where} --requests N, or --tokens N"
        else:
            money = " --budget '… USD'" if error.get("code") == "budget" else ""
            yield f"start it again: instrc retry {run}{where}{money}"
            if "activity" not in as_object(question.show) and not money:
                yield f"or ask another model from now on: instrc retry {run}{where} --model MODEL"
            yield f"or decide: instrc answer {run} {step}{where} --data '{{\"result\": …}}', or '{{\"fail\": true}}'"


def step_asked(question: Question) -> str:
    """Return the name for answering a question: that of its step, if it has one."""
    return question.steps[0] if question.steps and question.id != "limit" else question.id


@contextmanager
def imports_of(command: str, extra: str = "serve") -> Iterator[None]:
    """Report the extra that installs a package that a command imports."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or command).partition(".")[0]
        extra = "lsp" if package in {"lsprotocol", "pygls", "attrs"} else extra
        raise SettingsError(
            [problems.settings.MissingExtra(feature=f"`instrc {command}`", extra=extra, package=package)]
        ) from None
