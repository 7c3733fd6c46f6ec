"""The driver without any store: a run lives as long as this process, and is handed off when it only waits for people."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from inspect import isawaitable
from time import time

from instrc.durations import seconds
from instrc.runtime.drive import Cancellable
from instrc.runtime.effects import Effects
from instrc.runtime.interpreter.commands import Command, FireCommand, Result, TimerCommand, UserCommand
from instrc.runtime.questions import People

_PATIENCE = 3
"""Wrong answers to one question; after them it stays open."""


class MemoryPort:
    """Commands as tasks of asyncio."""

    def __init__(
        self,
        effects: Effects,
        people: People | None = None,
        *,
        patient: bool = False,
        due: dict[str, float] | None = None,
        later: set[str] | None = None,
    ) -> None:
        """`patient` waits for answers in this process instead of handing off.

        `due` and `later` are kept for a run that is handed off and goes on: when its timers end, and what was begun already.
        """
        self.effects = effects
        self.people = people
        self.patient = patient
        self.due: dict[str, float] = due if due is not None else {}
        """When timers end."""
        self.later: set[str] = later if later is not None else set()
        """Commands that somebody answers later, questions among them."""
        self.busy = 0
        """Commands that will have a result without anybody's help, deadlines left out."""
        self._timing = set(self.due)
        """Timers that somebody waits for."""
        self._done: list[tuple[str, Result]] = []
        self._changed: asyncio.Future[None] | None = None
        """Ends when there is something in `_done`."""
        self._fired: set[asyncio.Task[None]] = set()
        self._asked: dict[str, int] = {}
        """How often people were asked: a command comes again when its answer was wrong."""

    def start(self, command: Command) -> Cancellable:
        """Begin a task for a command."""
        return _MemoryWork(self, command)

    async def wait_first(self, tasks: Mapping[str, Cancellable]) -> Sequence[tuple[str, Result]]:
        """Wait for one result."""
        while True:
            if not self._done:
                self._changed = asyncio.get_running_loop().create_future()
                await self._changed
            found, self._done = self._done, []
            known = [each for each in found if each[0] in tasks]
            if known or any(each[0] == "" for each in found):
                return known

    async def fire(self, command: FireCommand) -> None:
        """Begin a task that nobody waits for."""
        task = asyncio.ensure_future(self._fire(command))
        self._fired.add(task)
        task.add_done_callback(self._fired.discard)

    def want_handoff(self) -> bool:
        """Tell whether all that is open waits for people."""
        return not self.patient and not self.busy and bool(self.later) and not self._done and not self.overdue

    @property
    def next_due(self) -> float | None:
        """When the next timer ends."""
        return min((self.due[name] for name in self._timing if name in self.due), default=None)

    @property
    def overdue(self) -> bool:
        """Tell whether a timer should have ended by now."""
        return (due := self.next_due) is not None and due <= time()

    async def drain(self) -> None:
        """Wait for what was fired."""
        while self._fired:
            await asyncio.wait(set(self._fired))

    def give(self, command: str, result: Result) -> None:
        """Deliver the result of a command that somebody answers."""
        self.later.discard(command)
        self.deliver(command, result)

    def deliver(self, command: str, result: Result) -> None:
        """Let the loop know of a result; of no command, only that something has changed."""
        self._done.append((command, result))
        if self._changed is not None and not self._changed.done():
            self._changed.set_result(None)

    def forget(self, command: str) -> None:
        """Wait no more for a timer; when it ends is still known, for a run that goes on later."""
        self._timing.discard(command)

    async def _fire(self, command: FireCommand) -> None:
        await self.effects.call(command)

    async def carry_out(self, command: Command) -> Result | None:
        """Return the result of a command; `None` if somebody gives it later."""
        match command["kind"]:
            case "model":
                return await self.effects.ask(command)
            case "activity":
                return await self.effects.call(command)
            case "timer":
                return await self._sleep(command)
            case "user":
                return await self._ask(command)
            case _:
                return None

    async def _ask(self, command: UserCommand) -> Result | None:
        asked = self._asked[command["id"]] = self._asked.get(command["id"], 0) + 1
        answer = self.people(command) if self.people is not None and asked <= _PATIENCE else None
        if isawaitable(answer):
            answer = await answer
        if answer is not None:
            self.effects.tell("told", command["id"], answer=answer, steps=list(command["steps"]))
            return {"ok": answer}
        self.effects.tell("question", command["id"], steps=list(command["steps"]), show=command["show"], schema=command["schema"])
        return None

    async def _sleep(self, command: TimerCommand) -> Result:
        until = self.due.setdefault(command["id"], time() + seconds(command["after"]))
        self._timing.add(command["id"])
        await asyncio.sleep(max(until - time(), 0))
        self.due.pop(command["id"], None)
        return {"ok": None}


class _MemoryWork:
    """One command that is being carried out."""

    def __init__(self, port: MemoryPort, command: Command) -> None:
        self.port = port
        self.command = command
        self.counts = not command["id"].endswith("!within")
        port.busy += self.counts
        self.task = asyncio.create_task(self._carry_out())

    async def _carry_out(self) -> None:
        port, command = self.port, self.command
        try:
            result = None if command["id"] in port.later else await port.carry_out(command)
            if result is None:
                port.later.add(command["id"])
                given: tuple[str, Result] = ("", {})
            else:
                given = (command["id"], result)
        except asyncio.CancelledError:
            port.deliver("", {})  # what it still did while it was cancelled may be all that the run was busy with
            raise
        except Exception as error:  # noqa: BLE001  -- a defect of ours must end the run, not hang it
            said = f"{type(error).__name__}: {error}"
            given = (command["id"], {"error": {"kind": "failed", "code": "defect", "message": said}})
        finally:
            port.busy -= self.counts
        port.deliver(*given)

    def cancel(self) -> None:
        """Stop carrying it out."""
        self.port.forget(self.command["id"])
        self.task.cancel()
