"""The port of a durable run: commands as tasks of asyncio, and nothing is told to the loop that is not recorded."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from time import time
from typing import TypeAlias

from instrc.durations import seconds
from instrc.jsonvalue import Json
from instrc.runtime.drive import Cancellable
from instrc.runtime.drivers.dbos.journal import Journal, JournalEntry
from instrc.runtime.drivers.memory import MemoryPort
from instrc.runtime.drivers.recording import as_recorded
from instrc.runtime.effects import Effects
from instrc.runtime.interpreter.commands import Command, FireCommand, Result
from instrc.runtime.questions import People

Record: TypeAlias = Callable[[JournalEntry], Awaitable[None]]


class DurablePort(MemoryPort):
    """Records results before the loop applies them; those that come at the same time as one entry."""

    def __init__(
        self, effects: Effects, people: People | None, journal: Journal, record: Record, rest: Callable[[bool], None]
    ) -> None:
        """`rest` is told whether all that is open waits for people."""
        super().__init__(effects, people, patient=True, due=journal.due, later=journal.later)
        self.record = record
        self.rest = rest
        self.resting = 0
        """Children that wait for people."""
        self.begun: set[str] = set()
        """Effects that have begun before a restart and were not recorded: those that begin again are reported."""
        self._known_due = set(journal.due)
        self._known_later = set(journal.later)
        self.letters: set[str] = journal.letters
        """What was read and recorded."""
        self._letters: dict[str, tuple[str, asyncio.Future[bool]]] = {}
        self._fired_now: list[str] = []
        self._calls: set[str] = set()

    def start(self, command: Command) -> Cancellable:
        """Begin a command; a timer ends at a moment that is fixed now."""
        self._report(command)
        if command["kind"] == "timer":
            self.due.setdefault(command["id"], time() + seconds(command["after"]))
        elif command["kind"] == "activity":
            self._calls.add(command["id"])
        return super().start(command)

    def take(self, command: str, data: Json, letter: str) -> asyncio.Future[bool] | None:
        """Deliver what somebody answers; `None` if nobody asks.

        The future says whether it was recorded: before that, the letter must not be thrown away.
        """
        recorded: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        if letter in self.letters:
            recorded.set_result(True)
            return recorded
        if command not in self.later or self.overdue:
            return None
        self._letters[command] = (letter, recorded)
        self.effects.tell("told", command, answer=data)
        self.rest(False)  # noqa: FBT003  -- it is the word of the callback
        self.give(command, {"ok": data})
        return recorded

    async def wait_first(self, tasks: Mapping[str, Cancellable]) -> Sequence[tuple[str, Result]]:
        """Wait for results and record them."""
        if self.due.keys() - self._known_due:
            await self._keep({"due": {name: at for name, at in self.due.items() if name not in self._known_due}})
        results = [(name, as_recorded(result)) for name, result in await super().wait_first(tasks)]
        await self._keep({"results": results} if results else {})
        for command in [name for name in self._letters if name not in tasks]:
            self._letters.pop(command)[1].set_result(False)  # it was withdrawn in between
        return results

    def want_handoff(self) -> bool:
        """Go on as long as this process lives; say when only people are waited for."""
        if not self.busy and (self.later or self.resting) and not self._done and not self.overdue:
            self.rest(True)  # noqa: FBT003  -- what the callback takes
        return False

    @contextmanager
    def child_rests(self) -> Iterator[None]:
        """Hold that a child waits for people: the run rests too where nothing else is being done."""
        self.busy, self.resting = self.busy - 1, self.resting + 1
        self.deliver("", {})
        try:
            yield
        finally:
            self.busy, self.resting = self.busy + 1, self.resting - 1
        self.rest(False)  # noqa: FBT003  -- what the callback takes

    async def drain(self) -> None:
        """Wait for what was fired, and record that it was."""
        await super().drain()
        await self._keep({})

    async def _keep(self, entry: JournalEntry) -> None:
        """Record an entry, with what else is to be known of the run after a restart."""
        self._known_due |= self.due.keys()
        later = sorted((self.later & self._calls) - self._known_later)
        self._known_later |= set(later)
        answered = [self._letters.pop(command) for command, _ in entry.get("results", ()) if command in self._letters]
        if later:
            entry["later"] = later
        if answered:
            entry["letters"] = [letter for letter, _ in answered]
        if self._fired_now:
            entry["fired"], self._fired_now = self._fired_now, []
        if entry:
            await self.record(entry)
        for letter, recorded in answered:
            self.letters.add(letter)
            recorded.set_result(True)

    def _report(self, command: Command) -> None:
        if command["id"] in self.begun and command["id"] not in self.later:
            self.effects.tell("repeated", command["id"], key=f"{self.effects.run}/{command['id']}")

    async def _fire(self, command: FireCommand) -> None:
        self._report(command)
        await super()._fire(command)
        self._fired_now.append(command["id"])
