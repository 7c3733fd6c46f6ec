"""The order of a run in which every answer is there at once: time only passes where nothing else is left to do."""

from __future__ import annotations

from collections import deque
from heapq import heappop, heappush

from instrc.durations import seconds
from instrc.runtime.interpreter.commands import Command, TimerCommand


class OpenCommands:
    """What is to be answered: commands in their order, then the timer that is over first."""

    def __init__(self) -> None:
        self._commands: deque[Command] = deque()
        self._timers: list[tuple[float, int, TimerCommand]] = []
        self._now, self._count = 0.0, 0

    def add(self, commands: list[Command]) -> None:
        """Take in what has been issued; timers run from now on."""
        for command in commands:
            if command["kind"] == "timer":
                self._count += 1  # of equal times the first
                heappush(self._timers, (self._now + seconds(command["after"]), self._count, command))
            else:
                self._commands.append(command)

    def next(self) -> Command | None:
        """Return what is answered next; `None` if nothing is open."""
        if self._commands:
            return self._commands.popleft()
        if not self._timers:
            return None
        self._now, _, timer = heappop(self._timers)
        return timer
