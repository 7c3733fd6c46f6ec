"""Let functions call each other as deep as the input goes.

A function that may recurse is written as a generator: `value = yield task` stands for `value = task()`.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, TypeAlias, TypeVar, cast

T = TypeVar("T")
Task: TypeAlias = Generator[Any, Any, T]


def run(task: Task[T]) -> T:
    """Carry a task out on a stack of our own and return its value."""
    stack: list[Task[Any]] = [task]
    value: Any = None
    while stack:
        try:
            called = stack[-1].send(value)
        except StopIteration as done:
            stack.pop()
            value = done.value
        else:
            stack.append(called)
            value = None
    return cast("T", value)


def finished(value: T) -> Task[T]:
    """Return a task that has its value already."""
    return value
    yield  # what makes it a task
