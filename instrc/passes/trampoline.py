"""Let functions call each other as deep as the input goes.

A function that may recurse is written as a generator: `value = yield task` stands for `value = task()`.
What has its value already is `Done`, which costs less than a generator that gives it at once.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, Generic, TypeAlias, TypeVar, cast

T = TypeVar("T")


class Done(Generic[T]):
    """What has its value already."""

    __slots__ = ("value",)

    def __init__(self, value: T) -> None:
        self.value = value


Task: TypeAlias = Generator[Any, Any, T]  # what is asked for, and given, has a type of its own each time
"""What may ask for others."""
Work: TypeAlias = Task[T] | Done[T]
"""A task, or one that is done."""


def run(task: Work[T]) -> T:
    """Carry a task out on a stack of our own and return its value."""
    if isinstance(task, Done):
        return task.value
    stack: list[Task[Any]] = [task]
    value: Any = None
    while stack:
        try:
            called = stack[-1].send(value)
        except StopIteration as done:
            stack.pop()
            value = done.value
            continue
        if called.__class__ is Done:
            value = called.value
        else:
            stack.append(called)
            value = None
    return cast("T", value)
