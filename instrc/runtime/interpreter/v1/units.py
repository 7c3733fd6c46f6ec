"""What a plan is made of when it is interpreted: units, the bodies they stand in, and what they read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

from instrc.ir.flow import Block, Condition, Each, Repeat, When
from instrc.ir.reads import Read, Value, reads_of, value_of
from instrc.ir.steps import Among, Chunk, Loop, Planned, Step
from instrc.jsonvalue import Json
from instrc.schema.validation import SchemaValidator

UnitKind: TypeAlias = Literal["model", "user", "activity", "fire", "fail", "plan", "block"]
NameSource: TypeAlias = Literal["name", "key", "context", "input"]


class LocatedPath(NamedTuple):
    """What a path begins with: found so many `levels` outwards, and the members that are left of the path."""

    levels: int
    source: NameSource
    name: str
    rest: tuple[str, ...]
    quoted: tuple[bool, ...]


class ShownPath(NamedTuple):
    """A path, and the names under which its value is shown: none for an object whose members are shown."""

    place: LocatedPath
    names: tuple[str, ...]


@dataclass(slots=True)
class PlanUnit:
    """What is begun and done as a whole."""

    index: int
    id: str
    kind: UnitKind
    context: str
    steps: tuple[Step, ...] = ()
    chunk: Chunk | None = None
    block: Block | None = None
    regions: tuple[int, ...] = ()
    """The bodies of a block."""
    model: str | None = None
    called: str | None = None
    """Of a tool whose properties are no steps: what it is called in errors."""
    timed: bool = False
    """Has a deadline or a delay."""
    needs: int = 0
    """How many units of its region it waits for."""
    dependents: list[int] = field(default_factory=list)
    unread: frozenset[str] = frozenset()
    """Steps of a person whose `decision` no condition reads."""
    schema: Json = None
    """What is filled in, without engine properties, with its definitions."""
    validator: SchemaValidator = field(default_factory=lambda: SchemaValidator(True))  # noqa: FBT003  -- the schema that takes everything
    """Holds answers against the schema."""
    wrapped: bool = False
    """Of one step: its value is the member `output` of what is recorded."""
    meta: frozenset[str] = frozenset()
    """Steps that may hold thoughts or metrics."""
    references: tuple[Read, ...] = ()
    """What its steps read."""
    among: tuple[tuple[Step, Among], ...] = ()
    """The properties whose value is one of a list."""
    plans: tuple[tuple[Step, Planned], ...] = ()
    """The properties that are filled with a plan."""
    loops: tuple[Loop, ...] = ()
    """The parts of a model's answer that may ask for another round."""
    view: tuple[ShownPath, ...] | None = None
    """What it is shown of what its steps read, once that has been asked for."""


@dataclass(slots=True)
class PlanRegion:
    """One body."""

    index: int
    parent: int | None
    owner: int
    """The unit of the parent that this is a body of."""
    names: frozenset[str]
    value: Value | None
    until: Condition | None = None
    units: list[PlanUnit] = field(default_factory=list)
    keys: dict[str, list[int]] = field(default_factory=dict)
    """The units that give a key, in order."""
    contexts: dict[str, list[int]] = field(default_factory=dict)
    places: dict[Read, LocatedPath] = field(default_factory=dict)
    """Where paths lead, as they are asked for."""


def reads(unit: PlanUnit) -> Iterator[Read]:
    """Yield the paths that must lead somewhere before a unit can begin."""
    match unit.block:
        case When(branches=branches):
            yield from (read for branch in branches if branch.condition for read, _ in branch.condition.tests)
        case Each(source=source):
            yield from reads_of(source)
        case Repeat(source=own):
            yield from reads_of(own)
        case _:
            pass
    for step in unit.steps:
        yield from step.references
        yield from reads_of(step.arguments)
        yield from (among.choices for among in step.among)
        if isinstance(step.plan, dict):
            yield from (read for tool in step.plan.values() for read in _bound(tool))


def _bound(tool: Json) -> Iterator[Read]:
    if isinstance(tool, dict) and tool.get("bound") is not None:
        yield from reads_of(value_of(tool["bound"]))
