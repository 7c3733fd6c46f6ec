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


def run(task: Work[T_co]) -> T_co:
    """Carry a task out on a stack of our own and return its value."""
    if isinstance(task, Finished):
        return task.value
    stack: list[Task[object]] = [task]
    value: object = None
    while stack:
        try:
            called = stack[-1].send(value)
        except StopIteration as done:
            stack.pop()
            value = done.value
            continue
        if type(called) is Finished:
            value = called.value
        else:
            stack.append(called)
            value = None
    return cast("T_co", value)
