"""The parts of a process: contexts, blocks and conditions.

True of this form: contexts stand in an order in which they can run; a `repeat` stands before its `else`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import msgspec

from instrc.ir.reads import Read, Value
from instrc.ir.steps import Chunk
from instrc.jsonvalue import Json, JsonObject


class Condition(msgspec.Struct, frozen=True, gc=False):
    """Holds if one of its tests does: the value of the path satisfies the schema."""

    tests: tuple[tuple[Read, Json], ...]


class Body(msgspec.Struct, frozen=True, gc=False):
    """Contexts that run together, once or once a round."""

    contexts: tuple[Context, ...]
    value: Value | None = None
    """What the body gives; `None` if nobody reads it."""
    frame: JsonObject | None = None
    """The schema around the contexts; `None` if it is an object that requires them all."""


class Branch(msgspec.Struct, frozen=True, gc=False):
    """One case of a `when`."""

    condition: Condition | None
    """`None` for the `else`."""
    body: Body


class When(msgspec.Struct, frozen=True, gc=False):
    """The first branch whose condition holds."""

    name: str
    branches: tuple[Branch, ...]
    key: str | None = None
    within: str | None = None
    delay: str | None = None
    about: JsonObject | None = None
    definition: str | None = None


class Each(msgspec.Struct, frozen=True, gc=False):
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
    about: JsonObject | None = None
    definition: str | None = None
    least: int | None = None
    """Of a number of rounds: all of them."""


class Repeat(msgspec.Struct, frozen=True, gc=False):
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
    about: JsonObject | None = None
    definition: str | None = None
    least: int | None = None
    """One round, or none where there is a list."""


class Else(msgspec.Struct, frozen=True, gc=False):
    """What runs when a `repeat` has ended in vain."""

    name: str
    of: str
    body: Body
    about: JsonObject | None = None
    definition: str | None = None


class Try(msgspec.Struct, frozen=True, gc=False):
    """The first body, and the second when the first has failed for good."""

    name: str
    body: Body
    otherwise: Body
    key: str | None = None
    within: str | None = None
    delay: str | None = None
    about: JsonObject | None = None
    definition: str | None = None


class Do(msgspec.Struct, frozen=True, gc=False):
    """The body, once."""

    name: str
    body: Body
    key: str | None = None
    within: str | None = None
    delay: str | None = None
    about: JsonObject | None = None
    definition: str | None = None


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


def all_contexts(body: Body) -> Iterator[Context]:
    """Yield all contexts of a body and of the blocks in it, each block before what is in it."""
    waiting = list(reversed(body.contexts))
    while waiting:
        context = waiting.pop()
        yield context
        for inner in reversed(bodies_of(context)):
            waiting.extend(reversed(inner.contexts))
