"""Show a run while it goes on: a tree on a terminal, plain lines elsewhere, events as JSON for programs."""

from __future__ import annotations

import re
import sys
from contextlib import AbstractContextManager, nullcontext
from time import time
from typing import TYPE_CHECKING

from instrc.cli.terminal import is_terminal, write, write_error
from instrc.jsontext import dumps
from instrc.runtime.events import Event, Sink, steps_of
from instrc.visible import visible

if TYPE_CHECKING:
    from rich.live import Live
    from rich.tree import Tree

_MARKS = {"running": "…", "done": "✓", "failed": "✗", "waiting": "?"}


class Watcher:
    """Takes events in and shows them."""

    def __init__(self, *, as_json: bool = False, quiet: bool = False) -> None:
        self.as_json = as_json
        self.quiet = quiet
        self.began: float | None = None
        self.run: str = ""
        self.rows: dict[str, CommandRow] = {}
        self._live: Live | None = None

    def __enter__(self) -> Sink:
        if not self.as_json and not self.quiet and is_terminal(sys.stderr):
            from rich.console import Console
            from rich.live import Live

            self._live = Live(console=Console(stderr=True), refresh_per_second=8, get_renderable=self.tree)
            self._live.start()
        return self.saw

    def __exit__(self, *_error: object) -> None:
        if self._live is not None:
            self._live.stop()

    def paused(self) -> AbstractContextManager[None]:
        """Leave the terminal alone for a while."""
        return nullcontext() if self._live is None else _Pause(self._live)

    def saw(self, event: Event) -> None:
        """Take an event in."""
        if self.as_json:
            write(f"{dumps(event, indent=False)}\n")
            return
        if self.began is None:
            self.began, self.run = event["at"], event["run"].partition("/")[0]
        line = self._line(event)
        if not self.quiet and self._live is None and line:
            write_error(f"{event['at'] - self.began:8.2f}  {line}\n")

    def _line(self, event: Event) -> str:
        """Update the row of a command; return the event in one line."""
        id_ = event.get("id", "")
        child = event["run"].partition("/")[2]
        where = f"{child}/{id_}" if child else id_
        row = self.rows.setdefault(where, CommandRow(where)) if id_ else CommandRow("")
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
            branches[row.blocks].add(Text(visible(row.text()), style=style, no_wrap=True, overflow="ellipsis"))
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
            if len(kept) + len(used | blocks) + 1 > lines:
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


class _Pause(AbstractContextManager[None]):
    def __init__(self, live: Live) -> None:
        self.live = live

    def __enter__(self) -> None:
        self.live.stop()

    def __exit__(self, *_error: object) -> None:
        self.live.start()


_BLOCK = re.compile(r"(when|each|repeat|else|try|do)Context\d+(.*)")
_CHUNK = re.compile(r"(llm|server|user)Context\d+.*")


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

    def saw(self, event: Event) -> str:
        """Take an event in; return it in one line."""
        match event["event"]:
            case "asked":
                self.name, self.about = ", ".join(steps_of(event)) or self.name, "model"
                self.state = "running"
                return f"{self.id}  asks the model for {', '.join(steps_of(event)) or 'the answer'}"
            case "answered":
                self.state, self.seconds = ("failed" if event["complaints"] else "done"), event["seconds"]
                self.tokens += sum(count for count in event["usage"].values() if isinstance(count, int))
                return f"{self.id}  answered{_cost(event)}"
            case "rejected":
                self.state = "failed"
                return f"{self.id}  was not accepted: {event['complaints'][0]['message']}"
            case "called":
                self.about = str(event["activity"])
                return f"{self.id}  calls {event['activity']}"
            case "returned":
                self.state, self.seconds = "failed" if "error" in event else "done", event["seconds"]
                return f"{self.id}  returned in {event['seconds']:.2f} s"
            case "launched":
                self.about = "process"
                return f"{self.id}  begins {event['child']}"
            case "retried":
                self.retries += 1
                return f"{self.id}  attempt {event['attempt']} failed: {event['error']}"
            case "failed":
                self.state, self.seconds = "failed", event["seconds"]
                return f"{self.id}  failed: {event['error']}"
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
                return f"the run is {'open' if outcome is None else outcome['status']}"
            case other:
                return f"{self.id}  {other}"

    def text(self) -> str:
        """Return the row as it is shown."""
        parts = [_MARKS[self.state], self.name, self.about]
        running = f"{time() - self.began:.1f} s …" if self.state == "running" else ""
        parts += [f"{self.seconds:.2f} s"] if self.seconds is not None and not running else [running]
        parts += [f"{self.tokens} tokens"] if self.tokens else []
        parts += [f"{self.retries} retries"] if self.retries else []
        return "  ".join(part for part in parts if part)


def _cost(event: Event) -> str:
    tokens = sum(count for count in event["usage"].values() if isinstance(count, int))
    return f" in {event['seconds']:.2f} s" + (f", {tokens} tokens" if tokens else "")
