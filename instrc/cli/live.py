"""Show a run while it goes on: a tree on a terminal, plain lines elsewhere, events as JSON for programs."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from instrc.cli.terminal import is_terminal, tell, write
from instrc.jsontext import dumps
from instrc.jsonvalue import AnyJson as Json
from instrc.runtime.effects import Event, Sink

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
        self.rows: dict[str, Row] = {}
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
            self.began = event["at"]
        line = self._line(event)
        if not self.quiet and self._live is None and line:
            tell(f"{event['at'] - self.began:8.2f}  {line}\n")

    def _line(self, event: Event) -> str:
        """Update the row of a command; return the event in one line."""
        id_ = event.get("id", "")
        child = event["run"].partition("/")[2]
        where = f"{child}/{id_}" if child else id_
        row = self.rows.setdefault(where, Row(where)) if id_ else Row("")
        return row.saw(event)

    def tree(self) -> Tree:
        """Return the commands so far, those of a block below it."""
        from rich.text import Text
        from rich.tree import Tree

        tree = Tree("", hide_root=True)
        branches: dict[str, Tree] = {}
        for row in list(self.rows.values())[-200:]:
            around = row.id.rpartition(".")[0]
            if around and around not in branches and not around.startswith(("serverContext", "userContext", "llmContext")):
                branches[around] = tree.add(Text(around, style="bold"))
            style = {"failed": "red", "waiting": "yellow", "done": "green"}.get(row.state, "")
            branches.get(around, tree).add(Text(row.text(), style=style))
        return tree


class _Pause(AbstractContextManager[None]):
    def __init__(self, live: Live) -> None:
        self.live = live

    def __enter__(self) -> None:
        self.live.stop()

    def __exit__(self, *_error: object) -> None:
        self.live.start()


class Row:
    """What is known of one command."""

    def __init__(self, id_: str) -> None:
        self.id = id_
        self.state = "running"
        self.about = ""
        self.seconds: float | None = None
        self.tokens = 0
        self.retries = 0

    def saw(self, event: Event) -> str:
        """Take an event in; return it in one line."""
        match event["event"]:
            case "asked":
                self.about = f"model: {', '.join(event['steps']) or 'answer'}"
                return f"{self.id}  asks the model for {', '.join(event['steps']) or 'the answer'}"
            case "answered":
                self.state, self.seconds = ("failed" if event["complaints"] else "done"), event["seconds"]
                self.tokens += sum(count for count in event["usage"].values() if isinstance(count, int))
                return f"{self.id}  answered{_cost(event)}"
            case "rejected":
                self.state = "failed"
                return f"{self.id}  was not accepted: {event['complaints'][0]['message']}"
            case "called":
                self.about = f"calls {event['activity']}"
                return f"{self.id}  calls {event['activity']}"
            case "returned":
                self.state, self.seconds = "failed" if "error" in event else "done", event["seconds"]
                return f"{self.id}  returned in {event['seconds']:.2f} s"
            case "launched":
                self.about = f"runs {event['child']}"
                return f"{self.id}  begins {event['child']}"
            case "retried":
                self.retries += 1
                return f"{self.id}  attempt {event['attempt']} failed: {event['error']}"
            case "failed":
                self.state, self.seconds = "failed", event["seconds"]
                return f"{self.id}  failed: {event['error']}"
            case "question" | "pending":
                self.state, self.about = "waiting", "waits for an answer"
                return f"{self.id}  waits for an answer"
            case "told":
                self.state = "done"
                return f"{self.id}  was answered"
            case "ended":
                return f"the run is {event['outcome']['status']}"
            case other:
                return f"{self.id}  {other}"

    def text(self) -> str:
        """Return the row as it is shown."""
        parts = [_MARKS[self.state], self.id, self.about]
        parts += [f"{self.seconds:.2f} s"] if self.seconds is not None else []
        parts += [f"{self.tokens} tokens"] if self.tokens else []
        parts += [f"{self.retries} retries"] if self.retries else []
        return "  ".join(part for part in parts if part)


def _cost(event: Json) -> str:
    tokens = sum(count for count in event["usage"].values() if isinstance(count, int))
    return f" in {event['seconds']:.2f} s" + (f", {tokens} tokens" if tokens else "")
