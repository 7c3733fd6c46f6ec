"""Show the progress of a run: its events as lines, or as a tree on a terminal."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from threading import Event as Flag
from threading import Thread
from time import monotonic, time
from typing import TYPE_CHECKING, Final

from instrc.cli.terminal import is_terminal, write, write_error
from instrc.runtime.traces import Event, Sink, steps_of
from instrc.text.jsontext import dumps
from instrc.text.visible import visible

if TYPE_CHECKING:
    from rich.live import Live
    from rich.tree import Tree

    from instrc.runtime.models.partial import AnswerPart

BEAT: Final = 1.0
"""Seconds between two checks whether a heartbeat is due."""
SILENCE: Final = 15.0
"""Seconds without output after which a run without a terminal prints a heartbeat."""


class Watcher:
    """Processes events and shows them."""

    def __init__(self, *, as_json: bool = False, quiet: bool = False, several: bool = False) -> None:
        """Show all events; for `several` runs, each line has the id."""
        self.as_json = as_json
        self.quiet = quiet
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
        """The listener for partial answers; only a terminal shows them."""
        return None if self._live is None else self._grow

    def _grow(self, part: AnswerPart) -> None:
        """Show an answer as it grows."""
        where = part.key.partition("/")[2].partition("~")[0]
        if (row := self.rows.get(where)) is not None and row.state == "running":
            row.growing = dumps(part.value, indent=False)

    def _beat(self) -> None:
        """Print periodically what the run waits for, while there is no other output."""
        while not self._ended.wait(BEAT):
            open_ = [row for row in list(self.rows.values()) if row.state == "running"]
            if open_ and monotonic() - self._told >= SILENCE:
                self._told = monotonic()
                names = ", ".join(row.name for row in open_[:5])
                write_error(f"{time() - (self.began or time()):8.2f}  still waits for {names}\n")

    def saw(self, event: Event) -> None:
        """Process an event."""
        if self.began is None:
            self.began, self.run = event["at"], event["run"].partition("/")[0]
        if self.as_json:
            write(f"{dumps(event, indent=False)}\n")
            return
        line = self._line(event)
        self._told = monotonic()
        if not self.quiet and self._live is None and line:
            notes = "".join(f"          ({visible(note)})\n" for note in event.get("notes", ()))
            write_error(f"{event['at'] - self.began:8.2f}  {visible(line)}\n{notes}")

    def _line(self, event: Event) -> str:
        """Update the row of a command; return the event as one line."""
        id_ = event.get("id", "")
        run, _, child = event["run"].partition("/")
        where = "/".join(filter(None, (run if self.several else "", child, id_)))
        row = self.rows.setdefault(where, CommandRow(where)) if id_ else CommandRow(where)
        if self.several and event["event"] == "ended" and not child:
            self.rows = {name: each for name, each in self.rows.items() if not name.startswith(f"{run}/")}
        return row.saw(event)

    def tree(self) -> Tree:
        """Return the commands so far, each below its enclosing blocks, limited to those that fit on the screen."""
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
        """Return the rows that fit into a number of lines, open ones and the latest first, and the number of omitted ones."""
        rows = list(self.rows.values())
        open_ = {row.id: row for row in rows if row.state in {"running", "waiting"}}
        kept: list[CommandRow] = []
        used: set[tuple[str, ...]] = set()
        latest = [row for row in rows if row.id not in open_][::-1]
        for row in [*open_.values(), *latest]:
            blocks = {row.blocks[:depth] for depth in range(1, len(row.blocks) + 1)}
            if len(kept) + sum(bool(each.growing) for each in (*kept, row)) + len(used | blocks) + 1 > lines:
                break
            kept.append(row)
            used |= blocks
        chosen = {row.id for row in kept}
        return [row for row in rows if row.id in chosen], len(rows) - len(kept)

    def _head(self, left_out: int) -> str:
        """Return a line about the whole run."""
        rows = self.rows.values()
        parts = [self.run, "begins" if self.began is None else f"{time() - self.began:.1f} s"]
        tokens = sum(row.tokens for row in rows)
        parts += [f"{tokens} tokens"] if tokens else []
        parts += [f"{left_out} more above"] if left_out else []
        return "  ".join(part for part in parts if part)


_MARKS = {"running": "…", "done": "✓", "failed": "✗", "waiting": "?", "held": "!"}


class CommandRow:
    """The facts about one command."""

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
        """Process an event; return it as one line."""
        match event["event"]:
            case "asked":
                self.name, self.about = ", ".join(steps_of(event)) or self.name, "model"
                self.state = "running"
                return f"{self.id}  asks the model for {', '.join(steps_of(event)) or 'the answer'}"
            case "answered":
                self.state, self.seconds, self.growing = ("failed" if event["complaints"] else "done"), event["seconds"], ""
                self.tokens += sum(count for count in event["usage"].values() if isinstance(count, int))
                return f"{self.id}  {_came('answered', event)}{_cost(event)}"
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
        """Return the row for display."""
        parts = [_MARKS[self.state], self.name, self.about]
        running = f"{time() - self.began:.1f} s …" if self.state == "running" else ""
        parts += [f"{self.seconds:.2f} s"] if self.seconds is not None and not running else [running]
        parts += [f"{self.tokens} tokens"] if self.tokens else []
        parts += [f"{self.retries} retries"] if self.retries else []
        return "  ".join(part for part in parts if part)


_BLOCK = re.compile(r"(when|each|repeat|else|try|do)Context\d+(.*)")


def blocks_of(id_: str) -> tuple[str, ...]:
    """Return the enclosing blocks of a command as text: `each 2`, `repeat, round 3`; a child process by its step."""
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
