"""Let functions call each other as deep as the input goes.

A function that may recurse is written as a generator: `value = yield task` stands for `value = task()`.
What has its value already is `Finished`, which costs less than a generator that gives it at once.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, Generic, TypeAlias, TypeVar, cast, final

T_co = TypeVar("T_co", covariant=True)


@final
class Finished(Generic[T_co]):
    """What has its value already."""

    __slots__ = ("value",)

    def __init__(self, value: T_co) -> None:
        self.value = value


Task: TypeAlias = Generator["Work[object]", Any, T_co]  # each value that it is given is of another type
"""What may ask for others."""
Work: TypeAlias = "Task[T_co] | Finished[T_co]"
"""A task, or one that is done."""


def run_task(task: Work[T_co]) -> T_co:
    """Carry a task out on a stack of our own and return its value."""
    if isinstance(task, Finished):
        return task.value
    waiting: list[Task[object]] = []
    """Those that have asked for the value of the one behind them, or of the one that is at work."""
    work: Task[object] = task
    value: object = None
    while True:
        try:
            called = work.send(value)
        except StopIteration as done:
            value = done.value
            if not waiting:
                return cast("T_co", value)
            work = waiting.pop()
            continue
        if type(called) is Finished:
            value = called.value
        else:
            waiting.append(work)
            work, value = called, None
