"""The commands that carry runs: `run`, `chat`, `resume`, `answer`, `worker`."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Final, TypedDict, cast

import typer

from instrc.cli import options, running
from instrc.cli.output import FINE, PROBLEMS, Format, deliver_text, item_counter, show, try_to_write
from instrc.cli.running import engine
from instrc.cli.terminal import is_terminal, write, write_error, write_report
from instrc.problems.errors import CompileError, InstrcError, SettingsError
from instrc.problems.files import UnwritableOutput
from instrc.problems.render import render_text
from instrc.text.durations import is_duration, seconds
from instrc.text.files import is_inherited_stream, is_regular, read_whole, refuse_irregular
from instrc.text.jsontext import dumps, loads
from instrc.text.jsonvalue import Json, as_object
from instrc.vibes.find_files import STDIN, reason, unreadable

if TYPE_CHECKING:
    import asyncio

    from instrc.engines.launch import Launcher, RehearseMode
    from instrc.engines.prepare import Prepared
    from instrc.runtime.engine_protocol import Engine, Serving
    from instrc.runtime.interpreter.documents import UserCommand
    from instrc.runtime.models.partial import AnswerPart
    from instrc.runtime.run_launch import Launch
    from instrc.runtime.session import Session

Input = Annotated[
    str | None, typer.Option("--input", "-i", metavar="INPUT", help="The prompt, or an object of inputs; @FILE or - to read it.")
]
EveryBranch = Annotated[
    bool, typer.Option("--every-branch", help="Rehearse the program until each branch was taken; print a line for each run.")
]
Items = Annotated[
    str | None,
    typer.Option("--items", metavar="FILE", help="Run once for each line of JSON (- reads them), print a line for each."),
]
Batch = Annotated[int, typer.Option("--batch", min=1, metavar="N", help="Chunks of one kind that share a call of the model.")]
Concurrency = Annotated[
    int | None, typer.Option("--concurrency", min=1, metavar="N", help="With --items, calls at the same time; 4 unless given.")
]
_EACH_LINE: Final = "each line is the input of a run of its own, and one line is printed for it"


def run_command(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A program (.aug), a vibe, a compiled document (.json), or -.")],
    given: Input = None,
    model: options.Model = None,
    engine_name: options.EngineName = None,
    export: Annotated[str | None, typer.Option("--export", metavar="NAME", help="Which of several programs in the file.")] = None,
    rehearse: options.Rehearse = False,
    with_activities: options.WithActivities = False,
    every_branch: EveryBranch = False,
    ask: Annotated[bool, typer.Option("--ask", help="Ask questions to people in this terminal.")] = False,
    run_id: Annotated[str | None, typer.Option("--id", metavar="RUN", help="The id of the run; generated unless given.")] = None,
    requests: Annotated[int | None, typer.Option("--requests", min=0, metavar="N", help="How often models may be asked.")] = None,
    tokens: Annotated[int | None, typer.Option("--tokens", min=0, metavar="N", help="How many tokens models may use.")] = None,
    budget: options.Budget = None,
    cache: options.Cache = None,
    set_: options.Set = None,
    items: Items = None,
    batch: Batch = 1,
    concurrency: Concurrency = None,
    as_json: options.Events = False,
    quiet: options.Quiet = False,
    output: options.ResultOption = None,
    store: options.Store = None,
    locked: options.LockedOption = False,
    root: options.Roots = None,
    shared: options.Shared = None,
    shape: options.ProblemFormat = Format.TEXT,
) -> None:
    """Run a program: a tool, a direct call, or a process."""
    from instrc.engines.launch import Launcher, new_id
    from instrc.engines.prepare import prepare
    from instrc.runtime.models.cache import AnswerCache

    with options.exit_on_problems(shape):
        prompt = None if given is None else running.given_value(given)
        prepared = prepare(file, export=export, project=options.project_of(root, shared, locked=locked))
        running.refuse_output(output, [*prepared.sources(), *running.files_of(given), *([] if items is None else [items])])
        running.show_warnings([prepared], shape, quiet=quiet)
        if every_branch:
            idle: dict[str, object] = {"--engine": engine_name, "--items": items, "--id": run_id, "--set": set_ or None}
            idle |= {"--requests": requests, "--tokens": tokens, "--budget": budget, "--cache": cache, "--batch": batch > 1}
            idle |= {"--rehearse-with-activities": with_activities, "--ask": ask, "--model": model, "--concurrency": concurrency}
            idle |= {"--store": store}
            raise typer.Exit(rehearse_all(prepared, prompt, idle, as_json=as_json, output=output))
        if items is not None:
            _refuse_beside("--items", _EACH_LINE, {"--input": given, "--ask": ask, "--json": as_json})
        elif concurrency is not None:
            options.refuse_use("--concurrency belongs to --items")
        limits: _RunLimits = {"requests": requests, "tokens": tokens, "budget": budget, "batch": batch}
        how: _How = {"rehearse": options.rehearse_mode(rehearse, with_activities), "given": options.settings_of(set_)}
        launcher = Launcher(prepared, model=model, cache=None if cache is None else AnswerCache(cache), **how, **limits)
        if items is not None:
            open_, of_all = engine(store, engine_name, keep="open"), run_id or new_id(prepared.name)
            raise typer.Exit(_run_items(items, launcher, of_all, open_, batch * (concurrency or 4), output=output, quiet=quiet))
        _tell_no_prompt(prepared, prompt, quiet=quiet or rehearse or with_activities)
        begun, watcher = launcher.launch(prompt, run_id), running.Watcher(as_json=as_json, quiet=quiet)
        with running.shown(watcher, begun.run, store, engine_name) as sink:
            kept = engine(store, engine_name, people=_asked(watcher) if ask else None, watch=sink, parts=watcher.part)
            report = running.run_to_end(running.lasting(kept, lambda _again: kept.start(begun)))
    raise typer.Exit(running.deliver(report, as_json=as_json, quiet=quiet, output=output, store=store, engine_name=engine_name))


def _refuse_beside(option: str, why: str, others: dict[str, object]) -> None:
    """Refuse options that say nothing beside another one."""
    for name, value in others.items():
        if value is not None and value is not False:  # 0 is said as well
            options.refuse_use(f"{name} says nothing beside {option}: {why}")


class _RunLimits(TypedDict):
    """What a run may use."""

    requests: int | None
    tokens: int | None
    budget: str | None
    batch: int


class _How(TypedDict):
    """How a run is made."""

    rehearse: RehearseMode
    given: dict[str, Json]


def _run_items(
    items: str, launcher: Launcher, of_all: str, open_: Engine, window: int, *, output: Path | None, quiet: bool
) -> int:
    """Run a program for each line of a file, and return the exit code."""

    def begin(number: int, value: Json) -> Launch:
        return launcher.launch(value, f"{of_all}.{number}")

    work = stream(items, begin, open_, window=window, output=output, quiet=quiet)
    return PROBLEMS if running.run_to_end(work) else FINE


def _tell_no_prompt(prepared: Prepared, given: Json, *, quiet: bool) -> None:
    """Tell that a program reads `prompt`, where nothing is given at all."""
    from instrc.engines.prepare import inputs_schema

    if given is None and not quiet and "prompt" in as_object(inputs_schema(prepared)["properties"]):
        running.tell_line("no input is given: what reads `prompt` gets null; `--input TEXT` gives it one")


class _asked:  # noqa: N801  -- reads as what it does: questions asked here
    """Asks a person in this terminal; an empty line leaves the question open."""

    def __init__(self, watcher: running.Watcher) -> None:
        self.watcher = watcher

    def __call__(self, command: UserCommand) -> Json:
        """Show what is asked, and read the answer as JSON."""
        with self.watcher.paused():
            write_error(f"\n{command['id']} ({', '.join(command['steps'])})\n{dumps(command['show'])}\n")
            write_error(f"The answer follows this schema:\n{dumps(command['schema'])}\n> ")
            try:
                line = input()
            except EOFError:
                return None
        if not line.strip():
            return None
        try:
            return loads(line)
        except ValueError:
            return line


STANDBY_PAUSE: Final = 1.0
"""Seconds between two attempts of a worker that stands by to take the runs over."""


async def stream(
    path: str,
    begin: Callable[[int, Json], Launch],
    engine: Engine,
    *,
    window: int,
    output: Path | None,
    quiet: bool = False,
) -> int:
    """Run a program for every line of a file or of the standard input; return how many have failed."""
    from instrc.runtime.session import streamed

    async def work(number: int, line: str) -> dict[str, Json]:
        try:
            report = await engine.start(begin(number, loads(line)))
        except ValueError as error:
            return {"item": number, "status": "failed", "error": {"kind": "invalid", "message": f"this is not JSON: {error}"}}
        except InstrcError as error:
            return {
                "item": number,
                "status": "failed",
                "error": {"kind": "invalid", "message": render_text(error.problems).strip()},
            }
        made = running.report_as_json(report)
        del made["name"]
        return {"item": number, **made}

    failed = 0
    with item_counter("Running", quiet=quiet) as done, _line_writer(output) as say:
        async for result in streamed(_lines(path), work, window=window):
            say(f"{dumps(result, indent=False)}\n")
            failed += result["status"] == "failed"
            done()
    return failed


@contextmanager
def _line_writer(output: Path | None) -> Iterator[Callable[[str], object]]:
    """Give what lines are written with: to the standard output, or to a file."""
    if output is None:
        yield write
        return
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        if output.is_symlink() or (output.exists() and not is_regular(str(output))):
            raise OSError(0, "only a regular file is replaced", str(output))  # noqa: TRY301  -- told below like the others
        file = output.open("w", encoding="utf-8")
    except (OSError, ValueError) as error:
        options.refuse_use(f"`{output}` cannot be written: {error}")

    def say(line: str) -> None:
        try:
            file.write(line)
            file.flush()  # what is done is kept, whatever ends the run
        except OSError as error:
            raise SettingsError([UnwritableOutput(path=str(output), reason=reason(error))]) from None

    try:
        yield say
    finally:
        with suppress(OSError):
            file.close()


async def _lines(path: str) -> AsyncIterator[str]:
    """Yield the lines that say something, as they arrive."""
    from instrc.text.streams import LineTooLongError, read_lines  # as below: they need an event loop

    try:
        if path != "-" and not is_inherited_stream(path):
            refuse_irregular(path, os.stat(path).st_mode)  # noqa: PTH116  -- a string: a `Path` would tidy what the user wrote
        opened: AbstractContextManager[IO[bytes] | None]
        opened = nullcontext() if path == "-" else Path(path).open("rb")  # noqa: ASYNC230, SIM115  -- it never waits; closed below
    except (OSError, ValueError) as error:
        reason = error.strerror.lower() if isinstance(error, OSError) and error.strerror else error
        options.refuse_use(f"`{path}` cannot be read: {reason}")
    with opened as file:
        try:
            async for line in read_lines(file):
                if said := line.removeprefix("\ufeff").strip():
                    yield said
        except UnicodeDecodeError as error:
            options.refuse_use(f"`{path}` is not UTF-8: {error}")
        except LineTooLongError as error:
            options.refuse_use(f"`{path}` cannot be read: {error}")


def rehearse_all(prepared: Prepared, given: Json, idle: dict[str, object], *, as_json: bool, output: Path | None) -> int:
    """Show a run for each branch, and the branches that none was found for; return the exit code. Refuse `idle` options."""
    _refuse_beside("--every-branch", "all answers are invented, and no run is kept", idle)
    from instrc.api.runs import rehearsal

    found = rehearsal(prepared, given)
    text = "".join(f"{dumps(each, indent=False)}\n" for each in found.to_json()) if as_json else f"{found}\n"
    unwritten = deliver_text(text, output)
    show(unwritten, Format.TEXT)
    return FINE if found.sound and not unwritten else PROBLEMS


def chat_command(
    files: Annotated[list[str], typer.Argument(metavar="FILE", help="Programs or vibes; each export is a tool of the model.")],
    model: options.Model = None,
    engine_name: options.EngineName = None,
    rehearse: options.Rehearse = False,
    with_activities: options.WithActivities = False,
    session_id: Annotated[str, typer.Option("--id", metavar="SESSION", help="Continue this session, or begin it.")] = "chat",
    store: options.Store = None,
    locked: options.LockedOption = False,
    root: options.Roots = None,
    shared: options.Shared = None,
    shape: options.ProblemFormat = Format.TEXT,
) -> None:
    """Talk with a model that has the programs as tools.

    It fills in tools, makes direct calls, and starts processes, which then run separately.
    """
    from instrc.engines.session_tools import offers_of, session_model
    from instrc.engines.stores import USUAL_FOLDER
    from instrc.runtime.session import Session
    from instrc.vibes.settings import read_settings

    with options.exit_on_problems(shape):
        kept = engine(store, engine_name)
        mode = options.rehearse_mode(rehearse, with_activities)
        chosen = session_model(model, Path(files[0]), rehearse=bool(mode))
        project = options.project_of(root, shared, locked=locked)
        found = [offer for file in files for offer in offers_of(file, kept, model, rehearse=mode, project=project)]
        place = (store or Path(USUAL_FOLDER)) / "sessions" / f"{Path(session_id).name}.json"
        said = read_settings(Path(files[0]).parent).sentences
        running.run_to_end(_talk(Session(session_id, chosen, tuple(found), _read(place), sentences=said), place))


async def _talk(session: Session, file: Path) -> None:
    from instrc.runtime.models.model import ModelError
    from instrc.text.streams import LineTooLongError, read_lines  # they need an event loop, the help does not

    _ask()
    try:
        async for line in read_lines():
            if line.strip():
                try:
                    await _answered(session, line.strip())
                except ModelError as error:
                    write_error(f"the model gave no answer: {error}\n")
                if found := try_to_write({file: dumps(session.turns)}):
                    raise SettingsError(found)
            _ask()
    except UnicodeDecodeError:
        raise CompileError([unreadable(STDIN, "it is not UTF-8")]) from None
    except LineTooLongError as error:
        raise CompileError([unreadable(STDIN, str(error))]) from None


def _ask() -> None:
    if is_terminal(sys.stdin):
        write_error("> ")


async def _answered(session: Session, line: str) -> None:
    """Tell the model something, and show what it says as soon as it says it; what goes on meanwhile is shown beside."""
    with (watcher := running.Watcher(passing=True)) as session.watch:
        async for turn in session.say(line):
            with watcher.paused():
                if text := turn.get("text"):
                    write_report(f"{text}\n")
                if "use" in turn:
                    write_error(f"uses {turn['use']}\n")
                if "note" in turn:
                    write_error(f"{turn['note']}\n")


def _read(file: Path) -> list[Json]:
    try:
        turns = loads(read_whole(str(file)))
    except (OSError, ValueError):
        return []
    return turns if isinstance(turns, list) else []


def resume_command(
    run: options.RunId,
    store: options.Store = None,
    engine_name: options.EngineName = None,
    as_json: options.Events = False,
    quiet: options.Quiet = False,
    shape: options.ProblemFormat = Format.TEXT,
) -> None:
    """Continue a run that was interrupted, or whose timers have ended."""
    watcher = running.Watcher(as_json=as_json, quiet=quiet)
    with options.exit_on_problems(shape), running.shown(watcher, run, store, engine_name) as sink:
        kept = engine(store, engine_name, run=run, watch=sink, parts=watcher.part)
        report = running.run_to_end(running.lasting(kept, lambda _again: kept.resume(run)))
    raise typer.Exit(running.deliver(report, as_json=as_json, quiet=quiet, store=store, engine_name=engine_name))


def answer_command(
    run: options.RunId,
    step: Annotated[str, typer.Argument(metavar="STEP", help="The question: its id, a step, or the name of a step.")],
    data: Annotated[str, typer.Option("--data", "-d", metavar="JSON", help="The answer; @FILE or - to read it.")],
    output: options.ResultOption = None,
    store: options.Store = None,
    engine_name: options.EngineName = None,
    as_json: options.Events = False,
    quiet: options.Quiet = False,
    shape: options.ProblemFormat = Format.TEXT,
) -> None:
    """Answer a question of a run.

    Who answers is a person, or a system that answers later.
    """
    running.refuse_output(output, running.files_of(data))
    with options.exit_on_problems(shape), running.Watcher(as_json=as_json, quiet=quiet) as sink:
        from instrc.runtime.reconnect import answer_or_resume

        given = running.given_value(data, data=True)
        kept = engine(store, engine_name, run=run, watch=sink)
        work = running.lasting(kept, lambda again: answer_or_resume(kept, run, step, given, again=again))
        report = running.run_to_end(work)
    code = running.deliver(report, as_json=as_json, quiet=quiet, output=output, store=store, engine_name=engine_name)
    raise typer.Exit(code)


_LAST_ATTEMPT = 5.0
"""Seconds that an attempt to reach a server may take when the worker is told to stop."""
_LAST_MOMENT = 0.1
"""Seconds for the threads of a library to end after an attempt: one that still runs when Python ends aborts the process."""


def worker_command(
    store: options.Store = None,
    engine_name: options.EngineName = None,
    retry_held: Annotated[
        str | None, typer.Option("--retry-held", metavar="EVERY", help="Retry runs that are held, so often: PT5M.")
    ] = None,
    as_json: options.Events = False,
    quiet: options.Quiet = False,
    shape: options.ProblemFormat = Format.TEXT,
) -> None:
    """Carry out the runs of a store or a Temporal task queue.

    It continues interrupted runs too, and works until SIGTERM or Ctrl-C.
    """
    from instrc.runtime.engine_protocol import Serving

    with options.exit_on_problems(shape), running.Watcher(as_json=as_json, quiet=quiet, several=True) as sink:
        carrier = engine(store, engine_name, watch=sink, parts=_heard_elsewhere)
        if not isinstance(carrier, Serving):
            carried = "the engine `memory` has no workers: a run on it is carried out by the command that starts it"
            options.refuse_use(f'{carried}; `durable` (`pip install "instrc[durable]"`) and `temporal` have workers', "--engine")
        if retry_held is not None and not is_duration(retry_held):
            options.refuse_use(f"`{retry_held[:80]}` is not a span of time, as `PT5M`", "--retry-held")
        location = getattr(carrier, "location", None)  # of a store of runs; a Temporal server has none
        note = ""
        if location is not None and not location.exists():
            note = f"no run was ever started in `{location.shown}`: is this the folder of the project?\n"
        running.run_to_end(_worked(carrier, None if retry_held is None else seconds(retry_held), note, quiet=quiet))


def _heard_elsewhere(part: AnswerPart) -> None:
    """Take a part of an answer that nobody follows here: a service of the same store may."""


async def _worked(carrier: Serving, every: float | None, note: str, *, quiet: bool) -> None:
    """Serve, and retry meanwhile what is held."""
    import asyncio  # the help of all commands does without it

    retrying = asyncio.ensure_future(_retried(cast("Engine", carrier), max(every, 1.0))) if every is not None else None
    try:
        await _served(carrier, note, quiet=quiet)
    finally:
        if retrying is not None:
            retrying.cancel()


async def _retried(carrier: Engine, every: float) -> None:
    """Retry all runs that are held, now and then; one that a limit holds stays so."""
    from asyncio import ensure_future, gather, sleep  # as above

    from instrc.runtime.retry import RetryOptions

    while True:
        await sleep(every)
        with suppress(InstrcError):  # the server may be away: the worker itself says so
            held = [report.run for report in await carrier.runs() if report.status == "held"]
            await gather(*(ensure_future(carrier.retry(run, RetryOptions())) for run in held), return_exceptions=True)


async def _served(carrier: Serving, note: str, *, quiet: bool) -> None:
    import asyncio  # the help of all commands does without it

    from instrc.problems.errors import UnreachableError

    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(name, stop.set)
    while not stop.is_set():
        reaching = asyncio.ensure_future(_reached(carrier, stop))
        stopping = asyncio.ensure_future(stop.wait())
        await asyncio.wait({reaching, stopping}, return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        if not reaching.done():
            await asyncio.wait({reaching}, timeout=_LAST_ATTEMPT)
        if not reaching.done():
            reaching.cancel()
            return
        await reaching
        try:
            if not await _claimed(carrier, stop, quiet=quiet):
                return
            if not quiet:
                write_error(f"the worker is ready\n{note}")
            await carrier.serve(stop)
        except UnreachableError as error:
            running.tell_line(f"{error.problems[0].message}; its runs stay as they are, and go on when it answers")
        else:
            return


async def _reached(carrier: Serving, stop: asyncio.Event) -> None:
    """Return as soon as the server of an engine answers, which a worker may be started before, or soon after `stop` is set."""
    from asyncio import sleep  # as above

    from instrc.runtime.reconnect import wait_for_server

    await wait_for_server(carrier, running.tell_line, stop=stop)
    await sleep(_LAST_MOMENT if stop.is_set() else 0)


async def _claimed(carrier: Serving, stop: asyncio.Event, *, quiet: bool) -> bool:
    """Wait until no other process carries the runs; `False` if the worker is told to stop before that."""
    from asyncio import wait_for  # as above

    stands_by = False
    while not stop.is_set():
        if await carrier.claim():
            return True
        if not stands_by and not quiet:
            write_error("another process carries the runs of this store: the worker stands by\n")
        stands_by = True
        with suppress(TimeoutError):
            await wait_for(stop.wait(), STANDBY_PAUSE)
    return False
