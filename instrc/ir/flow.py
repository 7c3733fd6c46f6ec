"""The parts of a process: contexts of chunks and blocks, the steps in them, conditions.

True of this form: contexts stand in an order in which they can run; a `repeat` stands before its `else`;
a schema is the one that is written, engine properties included, and a reference at its top is followed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias

import msgspec

from instrc.ir.reads import Read, Value
from instrc.jsonvalue import AnyJson as Json

Executor: TypeAlias = Literal["model", "server", "user"]


class Among(msgspec.Struct, frozen=True):
    """A property whose value is one of a list that an earlier step gave."""

    place: tuple[str, ...]
    """The names that lead to it from the step."""
    choices: Read


class Planned(msgspec.Struct, frozen=True):
    """A property that is filled with a plan."""

    place: tuple[str, ...]
    tools: Json
    """The tools a plan may name, by name: `{ "activity" | "process", "arguments", "output", "bound"? }`."""


class Loop(msgspec.Struct, frozen=True):
    """A part of a model's answer that may ask for another round."""

    place: tuple[str, ...]
    """The names that lead to the object with `_iteration` and `_continue` from the chunk."""
    maximum: int


class Step(msgspec.Struct, frozen=True):
    """One property of a chunk."""

    key: str
    schema: Json
    references: tuple[Read, ...] = ()
    """What it reads, those of its filled slots included; for a step without `references`, the paths in its `arguments`."""
    arguments: Value | None = None
    activity: str | None = None
    fail: bool = False
    within: str | None = None
    """A deadline, ISO 8601."""
    delay: str | None = None
    plan: Json = None
    """Of a step that carries a plan out: the tools it may call."""
    among: tuple[Among, ...] = ()
    plans: tuple[Planned, ...] = ()

    @property
    def output(self) -> bool:
        """Whether its value is the member `output` of what is recorded."""
        properties = self.schema.get("properties") if isinstance(self.schema, dict) else None
        return isinstance(properties, dict) and "output" in properties


class Chunk(msgspec.Struct, frozen=True):
    """What one executor does without a break."""

    name: str
    executor: Executor
    schema: Json
    steps: tuple[Step, ...]
    loops: tuple[Loop, ...] = ()


class Condition(msgspec.Struct, frozen=True):
    """Holds if one of its tests does: the value of the path satisfies the schema."""

    tests: tuple[tuple[Read, Json], ...]


class Body(msgspec.Struct, frozen=True):
    """Contexts that run together, once or once a round."""

    contexts: tuple[Context, ...]
    value: Value | None = None
    """What the body gives; `None` if nobody reads it."""


class Branch(msgspec.Struct, frozen=True):
    """One case of a `when`."""

    condition: Condition | None
    """`None` for the `else`."""
    body: Body


class When(msgspec.Struct, frozen=True):
    """The first branch whose condition holds."""

    name: str
    branches: tuple[Branch, ...]
    key: str | None = None
    within: str | None = None
    delay: str | None = None


class Each(msgspec.Struct, frozen=True):
    """The body once an element, concurrently."""

    name: str
    item: str
    source: Value
    """The list, or a number for 1, 2, 3, …"""
    body: Body
    most: int | None
    key: str | None = None
    within: str | None = None
    delay: str | None = None


class Repeat(msgspec.Struct, frozen=True):
    """The body again and again, or one element after the other."""

    name: str
    body: Body
    until: Condition | None
    item: str | None
    source: Value | None
    most: int | None
    keep: int | None = None
    hands: tuple[str, ...] | None = None
    """The keys that `previous` and `rounds` show; `None` for all there are."""
    otherwise: str | None = None
    """The name of the context with its `else`."""
    key: str | None = None
    within: str | None = None
    delay: str | None = None


class Else(msgspec.Struct, frozen=True):
    """What runs when a `repeat` has ended in vain."""

    name: str
    of: str
    body: Body


class Try(msgspec.Struct, frozen=True):
    """The first body, and the second when the first has failed for good."""

    name: str
    body: Body
    otherwise: Body
    key: str | None = None
    within: str | None = None
    delay: str | None = None


class Do(msgspec.Struct, frozen=True):
    """The body, once."""

    name: str
    body: Body
    key: str | None = None
    within: str | None = None
    delay: str | None = None


Block: TypeAlias = When | Each | Repeat | Else | Try | Do
Context: TypeAlias = Chunk | Block


def bodies_of(context: Context) -> tuple[Body, ...]:
    """Return the bodies of a block, in order; a chunk has none."""
    match context:
        case Chunk():
            return ()
        case When(branches=branches):
            return tuple(branch.body for branch in branches)
        case Try(body=first, otherwise=second):
            return first, second
        case _:
            return (context.body,)


def walk(body: Body) -> Iterator[Context]:
    """Yield all contexts of a body and of the blocks in it, each block before what is in it."""
    waiting = list(reversed(body.contexts))
    while waiting:
        context = waiting.pop()
        yield context
        for inner in reversed(bodies_of(context)):
            waiting.extend(reversed(inner.contexts))
