"""The one loop: from commands to results and back, on any engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from instrc.runtime.interpreter import versions
from instrc.runtime.interpreter.commands import Command, FireCommand, Result
from instrc.runtime.interpreter.documents import Outcome, PinnedPlan, State


class Cancellable(Protocol):
    """What stands for a command that is being carried out."""

    def cancel(self) -> object:
        """Stop carrying it out; nobody waits for the result."""


class Port(Protocol):
    """What an engine gives the loop."""

    def start(self, command: Command) -> Cancellable:
        """Begin to carry out a command; its id is the key by which it is idempotent."""

    async def wait_first(self, tasks: Mapping[str, Cancellable]) -> Sequence[tuple[str, Result]]:
        """Wait until at least one of the started commands has a result; return the results there are, by command."""

    async def fire(self, command: FireCommand) -> None:
        """Carry out a command whose result nobody waits for."""

    def want_handoff(self) -> bool:
        """Tell whether to leave the loop with the run unfinished: its state goes on elsewhere, or later."""


async def drive(plan: PinnedPlan, state: State, port: Port) -> Outcome | None:
    """Carry a run on to its end; return its outcome, or `None` if it is handed off."""
    tasks: dict[str, Cancellable] = {command["id"]: port.start(command) for command in versions.pending(plan, state)}
    try:
        while True:
            for command in versions.issue(plan, state):
                if command["kind"] == "fire":
                    await port.fire(command)
                else:
                    tasks[command["id"]] = port.start(command)
            if versions.outcome(plan, state) is not None or port.want_handoff():
                return versions.outcome(plan, state)
            for answered, result in await port.wait_first(tasks):
                tasks.pop(answered, None)
                for gone in versions.apply(plan, state, answered, result):
                    if (task := tasks.pop(gone, None)) is not None:
                        task.cancel()
    finally:
        for task in tasks.values():
            task.cancel()
