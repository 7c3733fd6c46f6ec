"""What the commands about runs share: engines, inputs, results, and the display of a run while it goes on."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib.util import find_spec
from pathlib import Path
from shlex import quote
from threading import Event as Flag
from threading import Thread
from time import monotonic, time
from typing import TYPE_CHECKING, Final, TypeVar, cast

import typer

from instrc.cli import begin_long_work
from instrc.cli.options import refuse_use
from instrc.cli.output import FINE, PROBLEMS, Format, deliver_text, refuse, refuse_place, show
from instrc.cli.terminal import is_terminal, write, write_error
from instrc.problems.errors import codes_of
from instrc.problems.report import Report as Problems
from instrc.runtime.traces import Event, Sink, steps_of
from instrc.text.files import MOST_BYTES, is_inherited_stream, read_whole
from instrc.text.jsontext import dumps, loads
from instrc.text.jsonvalue import Json, JsonObject, as_object, without_type
from instrc.text.visible import visible
from instrc.vibes.find_files import STDIN, read_bytes, reason, shown_path

if TYPE_CHECKING:
    from rich.live import Live
    from rich.tree import Tree

    from instrc.engines.prepare import Prepared
    from instrc.runtime.engine_protocol import Engine, EngineOptions, Keep
    from instrc.runtime.models.partial import AnswerPart
    from instrc.runtime.questions import People, Question
    from instrc.runtime.run_report import RunReport

_T = TypeVar("_T")
_engines: list[Engine] = []
"""Engines of this command; those that hold a store give it free when the command ends."""


def engine(
    store: Path | None,
    name: str | None,
    *,
    run: str | None = None,
    people: People | None = None,
    watch: Sink | None = None,
    parts: Callable[[AnswerPart], object] | None = None,
    keep: Keep = "all",
) -> Engine:
    """Return the engine of a command: as it is said, the one that keeps the run, as the project has set it, else the usual one.

    Usual is `durable` where it is installed; of a stream of items only those that wait are kept, so they are carried in memory,
    unless the store is a database.
    """
    from instrc.engines.folder import keeps
    from instrc.engines.hosts import engine_of
    from instrc.engines.places import scheme_of
    from instrc.vibes.settings import read_settings

    settings = read_settings(Path()).run
    folder = Path(store_place(store))
    usual = "memory" if (keep == "open" and not scheme_of(folder)) or find_spec("dbos") is None else "durable"
    if name is None and run is not None and keeps(folder, run):
        name = "memory"
    more: EngineOptions = {"people": people, "watch": watch, "parts": parts, "keep": keep, "traces": settings.get("traces")}
    made = engine_of(name or settings.get("engine", usual), folder, **more)
    _engines.append(made)
    return made


def store_place(store: Path | None) -> str:
    """Return where runs are kept: as it is said, else as the project has set it."""
    from instrc.engines.stores import USUAL_FOLDER
    from instrc.vibes.settings import read_settings

    return os.fspath(store or read_settings(Path()).run.get("store", USUAL_FOLDER))


def run_to_end(work: Coroutine[object, object, _T]) -> _T:
    """Run a coroutine to its end, and give free what its engine holds."""
    import asyncio  # the help of all commands does without it

    from instrc.runtime.models.closing import closing_all

    begin_long_work()
    try:
        return asyncio.run(closing_all(work))
    finally:
        while _engines:
            close = getattr(_engines.pop(), "close", None)
            if close is not None:
                close()


async def lasting(kept: Engine, work: Callable[[bool], Awaitable[_T]]) -> _T:
    """Do something with an engine; its server may be lost meanwhile, for as long as the settings say."""
    from instrc.runtime.reconnect import RECONNECT_SECONDS, retry_after_reconnect
    from instrc.vibes.settings import read_settings

    return await retry_after_reconnect(kept, work, read_settings(Path()).run.get("reconnect", RECONNECT_SECONDS), tell_line)


_MARKS = {"running": "…", "done": "✓", "failed": "✗", "waiting": "?", "held": "!"}


class CommandRow:
    """What is known of one command."""

    def __init__(self, id_: str) -> None:
        self.id = id_
        self.blocks: tuple[str, ...] = blocks_of(id_)
        self.name: str = id_.rpartition("/")[2].rpartition(".")[2]
        self.state: str = "running"
        self.about: str = ""
        self.began: float = time()
        self.seconds: float | None = None
        self.tokens: int = 0
        self.retries: int = 0
        self.growing: str = ""
        """The answer of a model as far as it is written."""

    def saw(self, event: Event) -> str:
        """Take an event in; return it in one line."""
        match event["event"]:
            case "asked":
                self.name, self.about = ", ".join(steps_of(event)) or self.name, "model"
                self.state = "running"
                return f"{self.id}  asks the model for {', '.join(steps_of(event)) or 'the answer'}"
            case "answered":
                self.state, self.seconds, self.growing = ("failed" if event["complaints"] else "done"), event["seconds"], ""
                self.tokens += sum(count for count in event["usage"].values() if isinstance(count, int))
                notes = "".join(f"\n          ({note})" for note in event.get("notes", ()))
                return f"{self.id}  {_came('answered', event)}{_cost(event)}{notes}"
            case "rejected":
                self.state = "failed"
                return f"{self.id}  was not accepted: {event['complaints'][0]['message']}"
            case "called":
                self.about = str(event["activity"])
                return f"{self.id}  calls {event['activity']}"
            case "returned":
                self.state, self.seconds = "failed" if "error" in event else "done", event["seconds"]
                return f"{self.id}  {_came('returned', event)} in {event['seconds']:.2f} s"
            case "launched":
                self.about = "process"
                return f"{self.id}  begins {event['child']}"
            case "retried":
                self.retries += 1
                return f"{self.id}  attempt {event['attempt']} failed: {event['error']}"
            case "failed":
                self.state, self.seconds = "failed", event["seconds"]
                place = f" ({event['place']})" if "place" in event else ""
                return f"{self.id}  failed: {event['error']}{place}"
            case "held":
                self.state = "held"
                return f"{self.id}  holds the run"
            case "again":
                return f"{self.id.rstrip('/') or 'the run'} goes on"
            case "question" | "pending":
                self.state, self.about = "waiting", "waits for an answer"
                self.name = ", ".join(steps_of(event)) or self.name
                return f"{self.id}  waits for an answer"
            case "told":
                self.state, self.about = "done", "was answered"
                self.name = ", ".join(steps_of(event)) or self.name
                return f"{self.id}  was answered"
            case "ended":
                outcome = event["outcome"]
                return f"{self.id or 'the run'} is {'open' if outcome is None else outcome['status']}"
            case other:
                return f"{self.id or 'the run'}  {other}"

    def text(self) -> str:
        """Return the row as it is shown."""
        parts = [_MARKS[self.state], self.name, self.about]
        running = f"{time() - self.began:.1f} s …" if self.state == "running" else ""
        parts += [f"{self.seconds:.2f} s"] if self.seconds is not None and not running else [running]
        parts += [f"{self.tokens} tokens"] if self.tokens else []
        parts += [f"{self.retries} retries"] if self.retries else []
        return "  ".join(part for part in parts if part)


BEAT: Final = 1.0
"""Seconds between two looks whether there is one to give."""
SILENCE: Final = 15.0
"""Seconds without a word after which a run that has no terminal gives a sign of life."""


class Watcher:
    """Takes events in and shows them."""

    def __init__(self, *, as_json: bool = False, quiet: bool = False, passing: bool = False, several: bool = False) -> None:
        """Show all of it; what is `passing` leaves nothing on a terminal, and of `several` runs each line has the id."""
        self.as_json = as_json
        self.quiet = quiet
        self.passing = passing
        self.several = several
        self.began: float | None = None
        self.run: str = ""
        self.rows: dict[str, CommandRow] = {}
        self._live: Live | None = None
        self._ended = Flag()
        self._told = monotonic()

    def __enter__(self) -> Sink:
        if not self.as_json and not self.quiet and is_terminal(sys.stderr):
            from rich.console import Console
            from rich.live import Live

            self._live = Live(
                console=Console(stderr=True),
                refresh_per_second=8,
                get_renderable=self.tree,
                redirect_stdout=False,
                transient=self.passing,
            )
            self._live.start()
        elif not self.as_json and not self.quiet:
            Thread(target=self._beat, daemon=True).start()
        return self.saw

    def __exit__(self, *_error: object) -> None:
        self._ended.set()
        if self._live is not None:
            self._live.stop()

    @property
    def part(self) -> Callable[[AnswerPart], object] | None:
        """What shows the parts of answers; only a terminal has a place for them."""
        return None if self._live is None else self._grow

    def _grow(self, part: AnswerPart) -> None:
        """Show an answer as far as it is written."""
        where = part.key.partition("/")[2].partition("~")[0]
        if (row := self.rows.get(where)) is not None and row.state == "running":
            row.growing = dumps(part.value, indent=False)

    def _beat(self) -> None:
        """Say now and then, while nothing else is said, what is waited for."""
        while not self._ended.wait(BEAT):
            open_ = [row for row in list(self.rows.values()) if row.state == "running"]
            if open_ and monotonic() - self._told >= SILENCE:
                self._told = monotonic()
                names = ", ".join(row.name for row in open_[:5])
                write_error(f"{time() - (self.began or time()):8.2f}  still waits for {names}\n")

    def paused(self) -> AbstractContextManager[None]:
        """Leave the terminal alone for a while."""
        return nullcontext() if self._live is None else _Pause(self._live)

    def saw(self, event: Event) -> None:
        """Take an event in."""
        if self.began is None:
            self.began, self.run = event["at"], event["run"].partition("/")[0]
        if self.as_json:
            write(f"{dumps(event, indent=False)}\n")
            return
        line = self._line(event)
        self._told = monotonic()
        if not self.quiet and self._live is None and line:
            write_error(f"{event['at'] - self.began:8.2f}  {line}\n")

    def _line(self, event: Event) -> str:
        """Update the row of a command; return the event in one line."""
        id_ = event.get("id", "")
        run, _, child = event["run"].partition("/")
        where = "/".join(filter(None, (run if self.several else "", child, id_)))
        row = self.rows.setdefault(where, CommandRow(where)) if id_ else CommandRow(where)
        if self.several and event["event"] == "ended" and not child:
            self.rows = {name: each for name, each in self.rows.items() if not name.startswith(f"{run}/")}
        return row.saw(event)

    def tree(self) -> Tree:
        """Return the commands so far, each below the blocks that it stands in; of many, those that fit on the screen."""
        from rich.text import Text
        from rich.tree import Tree

        shown, left_out = self._fitting(self._live.console.height - 3 if self._live is not None else 50)
        tree = Tree(Text(self._head(left_out), style="bold"), guide_style="dim")
        branches: dict[tuple[str, ...], Tree] = {(): tree}
        for row in shown:
            for depth in range(1, len(row.blocks) + 1):
                if row.blocks[:depth] not in branches:
                    label = Text(visible(row.blocks[depth - 1]), style="cyan")
                    branches[row.blocks[:depth]] = branches[row.blocks[: depth - 1]].add(label)
            style = {"failed": "red", "waiting": "yellow", "done": "green"}.get(row.state, "")
            branch = branches[row.blocks].add(Text(visible(row.text()), style=style, no_wrap=True, overflow="ellipsis"))
            if row.state == "running" and row.growing:
                width = (self._live.console.width if self._live is not None else 80) - 4 * len(row.blocks) - 10
                end = f"…{row.growing[-width:]}" if len(row.growing) > width else row.growing
                branch.add(Text(visible(end), style="dim", no_wrap=True, overflow="ellipsis"))
        return tree

    def _fitting(self, lines: int) -> tuple[list[CommandRow], int]:
        """Return the rows for so many lines: what is open and what came last; and how many are left out."""
        rows = list(self.rows.values())
        open_ = [row.id for row in rows if row.state in {"running", "waiting"}]
        kept: list[CommandRow] = []
        used: set[tuple[str, ...]] = set()
        latest = [row for row in rows if row.id not in open_][::-1]
        for row in [*(self.rows[name] for name in open_), *latest]:
            blocks = {row.blocks[:depth] for depth in range(1, len(row.blocks) + 1)}
            if len(kept) + sum(bool(each.growing) for each in (*kept, row)) + len(used | blocks) + 1 > lines:
                break
            kept.append(row)
            used |= blocks
        chosen = {row.id for row in kept}
        return [row for row in rows if row.id in chosen], len(rows) - len(kept)

    def _head(self, left_out: int) -> str:
        """Return one line about the whole run."""
        rows = self.rows.values()
        parts = [self.run, "begins" if self.began is None else f"{time() - self.began:.1f} s"]
        tokens = sum(row.tokens for row in rows)
        parts += [f"{tokens} tokens"] if tokens else []
        parts += [f"{left_out} more above"] if left_out else []
        return "  ".join(part for part in parts if part)


@contextmanager
def shown(watcher: Watcher, run: str, store: Path | None, name: str | None) -> Iterator[Sink]:
    """Show a run that goes on, with its answers as they grow; of one that has begun and is interrupted say how it goes on."""
    try:
        with watcher as sink:
            yield sink
    except KeyboardInterrupt:
        if watcher.began is not None:
            tell_line(f"interrupted; {run} is kept, and goes on with: instrc resume {run}{_where(store, name)}")
        raise


def _where(store: Path | None, name: str | None) -> str:
    """Return the options that say again in which store and engine a run is."""
    said = {"--store": store, "--engine": name}
    return "".join(f" {option} {quote(os.fspath(value))}" for option, value in said.items() if value is not None)


def tell_line(line: str) -> None:
    """Tell a person something."""
    write_error(f"{line}\n")


def given_value(text: str, *, data: bool = False) -> Json:
    """Read what is given on the command line: `@FILE`, `-`, JSON if it looks like it (or must be `data`), else a text."""
    given = text
    if text == STDIN or text.startswith("@"):
        path = text.removeprefix("@")
        try:
            given = _content(path).decode("utf-8-sig")
        except (OSError, ValueError) as error:
            reason = error.strerror.lower() if isinstance(error, OSError) and error.strerror else error
            refuse_use(f"`{shown_path(path)}` cannot be read: {reason}")
    if data or given.lstrip()[:1] in {"{", "["}:
        try:
            return loads(given)
        except ValueError as error:
            if data and not given.lstrip().startswith(("{", "[", '"')):
                return given
            refuse_use(f"this is not JSON: {error}")
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
    if report.invented:
        made["invented"] = [*report.invented]
    if report.forked is not None:
        made["forked"] = cast("Json", report.forked)
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
    if not quiet:
        for line in _next_steps(report, _where(store, engine_name)):
            write_error(f"{line}\n")
    from instrc.runtime.run_report import RUN_ERRORS  # the help does without it

    return FINE if report.status in {"done", "running"} else codes_of(RUN_ERRORS[report.status]).exit


def _next_steps(report: RunReport, where: str) -> Iterator[str]:
    """Yield what can be done with a run that has not come to its end."""
    run = report.run
    if report.status == "failed":
        place = (
            report.outcome["error"].get("place") if report.outcome is not None and report.outcome["status"] == "failed" else None
        )
        if place is not None:
            yield f"{run} has failed at {place}; its traceback: instrc trace {run}{where}"
        yield f"when the cause is mended, go on: instrc retry {run}{where}"
    for question in report.questions if report.status == "held" else report.questions[:1]:
        step = step_asked(question)
        if question.by != "operator":
            yield f"{run} waits for an answer: instrc answer {run} {step}{where} --data …"
            continue
        error = as_object(as_object(question.show)["error"])
        yield f"{run} is held by {step}: {error['message']}"
        if question.id == "limit":
            yield f"go on with a higher limit: instrc retry {run}{where} --requests N, or --tokens N"
        else:
            money = " --budget '… USD'" if error.get("code") == "budget" else ""
            yield f"begin it again: instrc retry {run}{where}{money}"
            if "activity" not in as_object(question.show) and not money:
                yield f"or ask another model from now on: instrc retry {run}{where} --model MODEL"
            yield f"or decide: instrc answer {run} {step}{where} --data '{{\"result\": …}}', or '{{\"fail\": true}}'"


def step_asked(question: Question) -> str:
    """Return by which name a question is answered: that of its step, if it has one."""
    return question.steps[0] if question.steps and question.id != "limit" else question.id


class _Pause(AbstractContextManager[None]):
    def __init__(self, live: Live) -> None:
        self.live = live

    def __enter__(self) -> None:
        self.live.stop()

    def __exit__(self, *_error: object) -> None:
        self.live.start()


_BLOCK = re.compile(r"(when|each|repeat|else|try|do)Context\d+(.*)")


def blocks_of(id_: str) -> tuple[str, ...]:
    """Return the blocks that a command stands in, in words: `each 2`, `repeat, round 3`; a child process by its step."""
    *children, own = id_.split("/")
    found = [part.rpartition(".")[2] for part in children]
    for part in own.split("."):
        if (block := _BLOCK.fullmatch(part)) is not None:
            word, more = block.groups()
            number = more.strip("[]@")
            found.append(f"{word}, round {number}" if more.startswith("@") else f"{word} {number}".strip())
        elif part == "else":
            found.append("else")
    return tuple(found)


def _came(word: str, event: Event) -> str:
    return f"{word}, invented," if event.get("invented") else f"{word} from the cache" if event.get("cached") else word


def _cost(event: Event) -> str:
    tokens = sum(count for count in event["usage"].values() if isinstance(count, int))
    cost = f", ${event['cost']:.4f}" if event.get("cost") else ""
    return f" in {event['seconds']:.2f} s" + (f", {tokens} tokens" if tokens else "") + cost


def came(event: Event) -> str:
    """Return how long an answer took, its tokens and its cost."""
    return f"from the cache{_cost(event)}" if event.get("cached") else _cost(event).strip()
