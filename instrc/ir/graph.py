"""A program as a graph: its steps, and which step reads the result of which.

True of this form: every name is resolved, equal expressions are one step, inserted preparations are there,
every step knows its executor, what it reads and how its schema is to be made.
No schema is composed yet, no step has its final key, nothing is cut into chunks.

`FlatGraph` is the same with every schema composed: fused, flat, in order.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Literal

import msgspec

from instrc.ir.blocks import Content, Repeat, regions_of, tests_of
from instrc.ir.executors import Executor
from instrc.ir.fusion import Argument, StepObject, Unit
from instrc.ir.paths import Local, Path, Reading, reading_paths
from instrc.ir.reads import Constant
from instrc.jsonvalue import Json
from instrc.source import Source, Span


class Timing(msgspec.Struct, frozen=True, gc=False):
    """A deadline and a delay, as ISO 8601 durations."""

    within: str | None = None
    delay: str | None = None

    @property
    def words(self) -> tuple[str, ...]:
        """The words of an annotation that give it."""
        return tuple(word for word in TIMING if getattr(self, word) is not None)


TIMING = ("within", "delay")
NO_TIMING = Timing()


class Step(msgspec.Struct, frozen=True, gc=False):
    """One call, carried out once."""

    number: int
    """Its place in evaluation order, from 0; what it reads has lower numbers."""
    base_name: str
    """The name of what it calls without its suffix, or the word of a block."""
    key: str | None
    """The key written by hand in braces, if there is one."""
    executor: Executor | Literal["block"]
    output: bool
    """It gives back its property `output` only; with the model as executor the server is called for it."""
    content: Content
    arguments: tuple[Argument, ...]
    reads: tuple[Path, ...]
    """All it reads: its arguments and those of the calls fused into it, each once."""
    activity: str | None
    span: Span
    timing: Timing = NO_TIMING
    fail: bool = False
    """It ends its block, or the run, as failed."""
    about: str | None = None
    """The description of a block."""
    needs: tuple[Path, ...] = ()
    """What has to be there before it although nobody is shown it."""
    chosen: tuple[Path, ...] = ()
    """Lists of which it chooses: they cannot be made in the same chunk."""


class Context(msgspec.Struct, frozen=True, gc=False):
    """A chunk cut by hand, or a block that stands among these."""

    executor: Executor | Literal["block"]
    units: tuple[Unit, ...]
    annotations: tuple[Json, ...]
    span: Span


class Graph(msgspec.Struct, frozen=True, gc=False):
    """One export of a program."""

    name: str
    """The stem of its file names."""
    goal: str | None
    """The string its pipe begins with."""
    tool: str | None
    """The name that `tool` gives it."""
    steps: dict[int, Step]
    """By number, in evaluation order."""
    units: tuple[Unit, ...]
    """Steps and groups that stand in a chunk of their own right; the other steps lie inside the slots of these."""
    inputs: dict[str, Json]
    """The schemas of `prompt` and the declared inputs, in order."""
    contexts: tuple[Context, ...] | None
    """The cut, if it was made by hand."""
    inner: dict[int, tuple[int, ...]]
    """Steps inside the slots of a step, or of the mixin around a group whose first step it is; in the order of filling."""
    keyed: bool
    """Its steps keep their keys even if there is only one."""
    value: Reading | None
    """What it gives; `None` where a single key does not say it."""
    accesses: tuple[Reached, ...] = ()
    """The members that paths of the program name, to be looked for in the schemas."""
    compound: frozenset[int] = frozenset()
    """The steps that are more than an instruction alone: something fills them or stands around them, or they are blocks."""
    block_numbers: tuple[int, ...] = ()
    """Those of them that are blocks."""
    awaited_numbers: tuple[int, ...] = ()
    """The steps whose result, or `output`, the server or a person gives."""
    labels: dict[tuple[int, str], Span] = {}
    """Where the arguments of steps of the server are named, by step."""
    passed: tuple[TypedArgument, ...] = ()
    """What the program gives to inputs of called programs and to tools of plans."""
    calls: dict[Source, Span] = {}
    """The call that each called program was read for."""

    def compounds(self) -> list[Step]:
        """Return the steps that are more than an instruction alone, in evaluation order."""
        return [self.steps[number] for number in sorted(self.compound)]

    def blocks(self) -> list[Step]:
        """Return the steps that are blocks, in evaluation order."""
        return [self.steps[number] for number in self.block_numbers]

    def awaited(self) -> list[Step]:
        """Return the steps whose result, or `output`, the server or a person gives, in evaluation order."""
        return [self.steps[number] for number in self.awaited_numbers]

    def origins(self) -> set[str | int | Local]:
        """Return what a step, a condition, a list, the value of a body or the export reads, or a part of."""
        paths = [] if self.value is None else reading_paths(self.value)
        for step in self.blocks():
            paths += [test.path for test in tests_of(step.content)]
            for region in regions_of(step.content):
                paths += reading_paths(region.value)
            if type(step.content) is Repeat and step.content.handed:
                paths += [path for _, reading in step.content.names for path in reading_paths(reading)]
        for step in self.steps.values():
            paths += step.reads + step.needs
        return {path.origin for path in paths}

    @property
    def has_flow(self) -> bool:
        """Whether it has paths or blocks."""
        return (
            bool(self.accesses or self.block_numbers)
            or any(step.chosen for step in self.compounds())
            or any(step.activity == "RunPlan_Activity" for step in self.awaited())
        )


class Reached(msgspec.Struct, frozen=True, gc=False):
    """A member that a path names: the path up to it, and its place."""

    path: Path
    span: Span


class TypedArgument(msgspec.Struct, frozen=True, gc=False):
    """A value that is given under a name whose schema is known."""

    callee: str
    label: str
    value: Path | Constant
    schema: Json
    """What the argument takes."""
    within: Span
    """The call, or as much of it as has the value."""
    named: Span
    """Where the argument is named."""


class Placed(msgspec.Struct, frozen=True):
    """A block that stands in a property of a step's schema, to be filled in when keys are known."""

    slots: tuple[str, ...]
    block: StepObject


class FlatGraph(msgspec.Struct, frozen=True, gc=False):
    """A graph with its schemas composed."""

    graph: Graph
    schemas: dict[int, Json]
    """By step: flat, without engine properties, `output` included; of a block what it gives."""
    placed: dict[int, tuple[Placed, ...]]
    """Blocks inside steps, by step."""
    mixins: dict[int, Json]
    """The composed schema of each group's mixin, by the number of the group."""
    around: dict[int, tuple[Placed, ...]]
    """Blocks inside the mixins of groups, by the number of the group."""
    read: AbstractSet[str | int | Local]
    """What something reads, or a part of which: inputs by name, steps by number, names of blocks."""
    referring: frozenset[int] = frozenset()
    """Steps with recursive schemas: definitions and references are in them."""
    optional: frozenset[tuple[int, str]] = frozenset()
    """Named arguments that are left out where they are `null`, by step."""
