"""A run that this process carries."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from instrc.runtime.drivers.dbos.port import DurablePort
from instrc.runtime.interpreter.documents import Outcome


@dataclass(slots=True)
class Live:
    """A run that this process carries."""

    port: DurablePort | None = None
    task: asyncio.Task[Outcome | None] | None = None
    rest: asyncio.Event = field(default_factory=asyncio.Event)
    """Set while it waits for people, and when it has ended."""
    change: asyncio.Event = field(default_factory=asyncio.Event)
    over: bool = False
    error: BaseException | None = None

    def resting(self, rests: bool) -> None:  # noqa: FBT001  -- a callback
        """Note whether it waits for people."""
        (self.rest.set if rests else self.rest.clear)()
        self.change.set()

    def end(self) -> None:
        """Note that it is not carried any more."""
        task = self.task
        if task is not None and self.error is None and not task.cancelled() and (error := task.exception()) is not None:
            self.error = error
        self.over = True
        self.resting(True)  # noqa: FBT003  -- what the callback takes

    @property
    def due(self) -> float | None:
        """When its next timer ends."""
        return None if self.port is None else self.port.next_due
