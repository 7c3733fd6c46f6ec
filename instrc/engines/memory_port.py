"""Execute the commands of a run as asyncio tasks in this process."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from itertools import chain
from time import time

from instrc.runtime.boundary import said_by
from instrc.runtime.effects import Effects
from instrc.runtime.interpreter import documents
from instrc.runtime.journal import Hold, JournalEntry
from instrc.runtime.plan import Cancellable
from instrc.text.durations import seconds
from instrc.text.jsonvalue import Json


class MemoryPort:
    """Executes commands as asyncio tasks."""

    def __init__(
        self,
        effects: Effects,
        state: documents.State,
        *,
        patient: bool = False,
        due: dict[str, float] | None = None,
        later: set[str] | None = None,
        held: dict[str, Json] | None = None,
        hold: Hold | None = None,
    ) -> None:
        """`patient` waits for answers in this process instead of handing off.

        `due`, `later` and `held` are kept for a run that is handed off and continues: the end times of its timers, its commands
        in flight, and what holds it.  `hold` returns the reason to hold; without it nothing is held.
        """
        self.effects = effects
        self.state = state
        self.patient = patient
        self.due: dict[str, float] = due if due is not None else {}
        """When timers end."""
        self.later: set[str] = later if later is not None else set()
        """Commands that are answered later, including questions."""
        self.held: dict[str, Json] = held if held is not None else {}
        """Commands that hold the run, with their errors."""
        self.entries: list[JournalEntry] | None = None
        """Where results are recorded."""
        self.hold = hold
        self.final: set[str] = set()
        """Commands that the operator allows to fail the run."""
        self.busy = 0
        """The number of commands, except timers, that get a result without outside help."""
        self._timing = set(self.due)
        """Timers that are waited for."""
        self._done: list[tuple[str, documents.Result]] = []
        self._changed: asyncio.Future[None] | None = None
        """Ends when there is something in `_done`."""
        self._fired: set[asyncio.Task[None]] = set()
        self.shown: set[str] = set()
        """Questions asked before this process carried the run, which the trace already contains."""

    def start(self, command: documents.Command) -> Cancellable:
        """Start a task for a command; the end time of a timer is fixed now."""
        if command["kind"] == "timer":
            self.due.setdefault(command["id"], time() + seconds(command["after"]))
            self._timing.add(command["id"])
        return MemoryWork(self, command)

    async def wait_first(self, tasks: Mapping[str, Cancellable]) -> Sequence[tuple[str, documents.Result]]:
        """Wait for one result."""
        while True:
            if not self._done:
                self._changed = asyncio.get_running_loop().create_future()
                await self._changed
            found, self._done = self._done, []
            known = [each for each in found if each[0] in tasks and not self._holds(*each)]
            if known and self.entries is not None:
                self.entries.append({"results": known})
            if known or any(each[0] == "" or each[0] in self.held for each in found):
                return known

    async def fire(self, command: documents.FireCommand) -> None:
        """Start a task without waiting for its result."""
        task = asyncio.ensure_future(self._fire(command))
        self._fired.add(task)
        task.add_done_callback(self._fired.discard)

    def want_handoff(self) -> bool:
        """Return whether the run only waits for people."""
        return not self.patient and self.only_waits

    @property
    def only_waits(self) -> bool:
        """Return whether only people, systems that answer later, or the operator can continue the run."""
        waits = any(command in self.state["open"] for command in chain(self.later, self.held)) or self.state.get("stalled")
        return bool(waits) and not self.busy and not self._done and not self.overdue

    def _holds(self, command: str, result: documents.Result) -> bool:
        """Return whether the run is held instead of applying a result."""
        if self.hold is None or command in self.final or not self.hold.takes(command, result):
            return False
        self.held[command] = result["error"]
        self.effects.tell("held", command, error=result["error"])
        return True

    @property
    def next_due(self) -> float | None:
        """The end time of the next timer."""
        return min((self.due[name] for name in self._timing if name in self.due), default=None)

    @property
    def overdue(self) -> bool:
        """Return whether a timer should have ended by now."""
        return (due := self.next_due) is not None and due <= time()

    async def drain(self) -> None:
        """Wait for detached tasks."""
        while self._fired:
            await asyncio.wait(set(self._fired))

    def give(self, command: str, result: documents.Result) -> None:
        """Deliver the answer to a command."""
        self.later.discard(command)
        self.deliver(command, result)

    def deliver(self, command: str, result: documents.Result) -> None:
        """Notify the loop of a result, or without a command, of a change."""
        self._done.append((command, result))
        if self._changed is not None and not self._changed.done():
            self._changed.set_result(None)

    def forget(self, command: str) -> None:
        """Stop waiting for a command; the end time of a timer is kept for a run that continues later, also by a retry."""
        self._timing.discard(command)
        if command not in self.state["open"] and self.state["outcome"] is None:
            self.due.pop(command, None)

    async def _fire(self, command: documents.FireCommand) -> None:
        await self.effects.call(command)

    async def carry_out(self, command: documents.Command) -> documents.Result | None:
        """Return the result of a command, or `None` if it comes later."""
        match command["kind"]:
            case "model":
                return await self.effects.ask(command)
            case "activity":
                return await self.effects.call(command)
            case "timer":
                return await self._sleep(command)
            case "user":
                self._ask(command)
        return None

    def _ask(self, command: documents.UserCommand) -> None:
        """Note in the trace that a person is asked, unless an earlier process has."""
        if command["id"] in self.shown:
            self.shown.discard(command["id"])
        else:
            steps, show, schema = list(command["steps"]), command["show"], command["schema"]
            self.effects.tell("question", command["id"], steps=steps, show=show, schema=schema)

    async def _sleep(self, command: documents.TimerCommand) -> documents.Result:
        await asyncio.sleep(max(self.due[command["id"]] - time(), 0))
        self.due.pop(command["id"], None)
        return {"ok": None}


class MemoryWork:
    """A command in execution."""

    def __init__(self, port: MemoryPort, command: documents.Command) -> None:
        self.port = port
        self.command = command
        self.counts = command["kind"] != "timer"
        port.busy += self.counts
        self.task = asyncio.create_task(self._carry_out())

    async def _carry_out(self) -> None:
        port, command = self.port, self.command
        try:
            waits = command["id"] in port.later or command["id"] in port.held
            result = None if waits else await port.carry_out(command)
            if result is None:
                port.later |= {command["id"]} - port.held.keys()
                given: tuple[str, documents.Result] = ("", {})
            else:
                given = (command["id"], result)
        except asyncio.CancelledError:
            port.deliver("", {})  # the run may have waited only for its cleanup
            raise
        except Exception as error:  # noqa: BLE001  -- an internal error must end the run, not hang it
            given = (command["id"], {"error": {"kind": "failed", "code": "defect", "message": said_by(error)}})
        finally:
            port.busy -= self.counts
        port.deliver(*given)

    def restart(self) -> None:
        """Execute it again, after it held the run."""
        self.port.busy += self.counts
        self.task = asyncio.create_task(self._carry_out())

    def cancel(self) -> None:
        """Cancel its execution."""
        self.port.forget(self.command["id"])
        self.task.cancel()
