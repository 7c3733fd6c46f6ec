"""Let functions call each other as deep as the input goes.

A function that may recurse is written as a generator: `value = yield work` stands for `value = work()`.
Where generators would cost much, a function returns `Then(work, then)` instead, which stands for `then(work())`,
or, if it needs to wait for nothing, its value.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from types import GeneratorType
from typing import Any, Generic, TypeAlias, TypeVar, overload

import msgspec

T_co = TypeVar("T_co", covariant=True)
_Untyped: TypeAlias = Any  # what work waits for is of another type each time


class Then(msgspec.Struct, Generic[T_co], frozen=True, gc=False):
    """What is worked out of the value of other work."""

    work: Work[_Untyped]
    then: Callable[[_Untyped], Work[T_co]]


Task: TypeAlias = Generator["Work[object]", _Untyped, T_co]
"""What may ask for others."""
Work: TypeAlias = "Task[T_co] | Then[T_co] | T_co"
"""What has to be carried out, or the value of what has been."""

PENDING = frozenset({GeneratorType, Then})
"""The types of work that has to be carried out: no value is of these."""


@overload
def run_task(work: Task[T_co]) -> T_co: ...
@overload
def run_task(work: Work[T_co]) -> T_co: ...
def run_task(work: Work[T_co]) -> T_co:
    """Carry work out on a stack of our own and return its value."""
    waiting: list[_Untyped] = []
    """The tasks and the functions that wait for the value of the one behind them, or of the work at hand."""
    at_hand: _Untyped = work
    while True:
        while type(at_hand) is Then:
            waiting.append(at_hand.then)
            at_hand = at_hand.work
        task, value = at_hand, None
        if type(at_hand) is not GeneratorType:
            if not waiting:
                found: T_co = at_hand
                return found
            task, value = waiting.pop(), at_hand
            if type(task) is not GeneratorType:
                at_hand = task(value)
                continue
        try:
            at_hand = task.send(value)
        except StopIteration as done:
            at_hand = done.value
        else:
            waiting.append(task)
