"""The parts of a process: contexts of chunks and blocks, the steps in them, conditions.

True of this form: contexts stand in an order in which they can run; a `repeat` stands before its `else`;
a schema is the one that is written, engine properties included, and a reference at its top is followed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from instrc.ir.reads import Read, Value
from instrc.jsonvalue import AnyJson as Json

Executor: TypeAlias = Literal["model", "server", "user"]


@dataclass(frozen=True, slots=True)
class Among:
    """A property whose value is one of a list that an earlier step gave."""

    place: tuple[str, ...]
    """The names that lead to it from the step."""
    choices: Read


@dataclass(frozen=True, slots=True)
class Planned:
    """A property that is filled with a plan."""

    place: tuple[str, ...]
    tools: Json
    """The tools a plan may name, by name: `{ "activity" | "process", "arguments", "output", "bound"? }`."""


@dataclass(frozen=True, slots=True)
class Loop:
    """A part of a model's answer that may ask for another round."""

    place: tuple[str, ...]
    """The names that lead to the object with `_iteration` and `_continue` from the chunk."""
    maximum: int


@dataclass(frozen=True, slots=True)
class Step:
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


@dataclass(frozen=True, slots=True)
class Chunk:
    """What one executor does without a break."""

    name: str
    executor: Executor
    schema: Json
    steps: tuple[Step, ...]
    loops: tuple[Loop, ...] = ()


@dataclass(frozen=True, slots=True)
class Condition:
    """Holds if one of its tests does: the value of the path satisfies the schema."""

    tests: tuple[tuple[Read, Json], ...]


@dataclass(frozen=True, slots=True)
class Body:
    """Contexts that run together, once or once a round."""

    contexts: tuple[Context, ...]
    value: Value | None = None
    """What the body gives; `None` if nobody reads it."""


@dataclass(frozen=True, slots=True)
class Branch:
    """One case of a `when`."""

    condition: Condition | None
    """`None` for the `else`."""
    body: Body


@dataclass(frozen=True, slots=True)
class When:
    """The first branch whose condition holds."""

    name: str
    branches: tuple[Branch, ...]
    key: str | None = None
    within: str | None = None
    delay: str | None = None


@dataclass(frozen=True, slots=True)
class Each:
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


@dataclass(frozen=True, slots=True)
class Repeat:
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


@dataclass(frozen=True, slots=True)
class Else:
    """What runs when a `repeat` has ended in vain."""

    name: str
    of: str
    body: Body


@dataclass(frozen=True, slots=True)
class Try:
    """The first body, and the second when the first has failed for good."""

    name: str
    body: Body
    otherwise: Body
    key: str | None = None
    within: str | None = None
    delay: str | None = None


@dataclass(frozen=True, slots=True)
class Do:
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
