"""A program as steps and what they read.

True of this form: every name is resolved, equal expressions are one step, inserted preparations are there,
every step knows its executor, what it reads and how its schema is to be made.
No schema is composed yet, no step has its final key, nothing is cut into chunks.

`FlatGraph` is the same with every schema composed: fused, flat, in order.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal, NamedTuple, TypeAlias

import msgspec

from instrc.ir.reads import Constant
from instrc.jsonvalue import AnyJson as Json
from instrc.source import Span

Executor: TypeAlias = Literal["model", "server", "user"]
Kind: TypeAlias = Literal["model", "server", "user", "mixin"]
Word: TypeAlias = Literal["when", "each", "repeat", "try", "do"]
Given: TypeAlias = Literal["item", "round", "previous", "rounds", "error"]

SUFFIXES: dict[str, Kind] = {"_Activity": "server", "_User": "user", "_Human": "user", "_Mixin": "mixin"}
"""The end of an instruction's name that decides who carries it out."""


class Instruction(msgspec.Struct, frozen=True):
    """What a call calls: a vibe of the registry, or a schema written on the spot."""

    name: str
    """The last segment of the vibe's path as spelled there, or the title of an inline schema."""
    uri: str | None
    schema: dict[str, Json] | None
    """Only where there is no vibe: inline schemas and sketches."""
    home: int = 0
    """Whose roots it was found in: 0 for those of the program that is compiled."""

    @property
    def kind(self) -> Kind:
        """Who carries it out, by the suffix of its name."""
        return SUFFIXES.get(suffix_of(self.name), "model")

    @property
    def stem(self) -> str:
        """The name without its suffix."""
        return self.name.removesuffix(suffix_of(self.name))


@lru_cache(maxsize=4096)
def suffix_of(name: str) -> str:
    """Return the end of a name that decides who carries it out; nothing if the model does."""
    return next((suffix for suffix in SUFFIXES if name.endswith(suffix)), "")


class Local(NamedTuple):
    """A name that a block gives to what is in it."""

    block: int
    """The number of the region that it is for."""
    level: int
    """How many blocks lie around it."""
    kind: Given
    name: str
    """As it is read: `person`, `round`."""


class Path(NamedTuple):
    """Something that is read: an input by name, a step or a block by number, a name of a block, or a part of one of these."""

    origin: str | int | Local
    tail: tuple[str, ...] = ()


class ObjectReading(NamedTuple):
    """An object of readings."""

    members: tuple[tuple[str, Reading], ...]


Reading: TypeAlias = Path | Constant | ObjectReading
"""What a block gives: a path, a constant, or an object of these."""


def reading_paths(reading: Reading) -> list[Path]:
    """Return the paths in what a block gives."""
    found: list[Path] = []
    waiting: list[Reading] = [reading]
    while waiting:
        match waiting.pop():
            case Path() as path:
                found.append(path)
            case ObjectReading(members):
                waiting.extend(member for _, member in reversed(members))
            case Constant():
                pass
    return found


class Argument(NamedTuple):
    """What a call is given: under a label, or plain."""

    label: str | None
    value: Path | Constant


class Tool(NamedTuple):
    """An activity or a process that a plan may call."""

    name: str
    kind: Literal["activity", "process"]
    target: str
    """The activity's name, or the reference of the process."""
    arguments: dict[str, Json]
    output: Json
    bound: tuple[Argument, ...]
    """What the program gives to it; the model cannot."""


class Planned(NamedTuple):
    """A property that is filled with a plan for these tools."""

    tools: tuple[Tool, ...]


class Among(NamedTuple):
    """A property that is filled with one of a list that an earlier step gave."""

    choices: Path
    span: Span


class Slot(NamedTuple):
    """Something composed into a property of the same name."""

    name: str
    content: Filling
    reads: tuple[Path, ...]
    """What the calls in it read."""
    span: Span
    number: int
    """Contents that are equal share it."""
    engine: Planned | Among | None = None
    """What the engine has to know about it."""


class Application(msgspec.Struct, frozen=True):
    """One use of a mixin: its filled slots besides `default`, and the annotations written where it is applied."""

    mixin: Instruction
    slots: tuple[Slot, ...]
    annotations: tuple[Json, ...]
    span: Span


class Fusion(msgspec.Struct, frozen=True):
    """How one schema is made: an instruction, what fills its slots, annotations, and mixins around it, innermost first."""

    instruction: Instruction
    slots: tuple[Slot, ...]
    annotations: tuple[Json, ...]
    mixins: tuple[Application, ...]
    span: Span


class Group(msgspec.Struct, frozen=True):
    """A mixin around several steps: they stand between its properties and are never cut apart."""

    application: Application
    members: tuple[Unit, ...]
    numbers: tuple[int, ...]
    """The steps of all members, in order."""
    number: int
    """Its own among the groups of the graph."""


Unit: TypeAlias = int | Group
"""What stands in a chunk or a slot: a step by number, or a group of units."""


class StepObject(msgspec.Struct, frozen=True):
    """An object of steps inside a slot or under a key."""

    units: tuple[Unit, ...]
    annotations: tuple[Json, ...]
    span: Span


class Test(NamedTuple):
    """Holds if what a path leads to satisfies a schema; the schema says by itself whether `null` does."""

    path: Path
    schema: Json
    span: Span


class Region(msgspec.Struct, frozen=True):
    """What stands in the braces of a block: it is cut by itself."""

    number: int
    units: tuple[Unit, ...]
    """In evaluation order."""
    value: Reading
    span: Span


class Branch(msgspec.Struct, frozen=True):
    """One case of a `when`; no condition is the `else`."""

    condition: tuple[Test, ...]
    body: Region


class When(msgspec.Struct, frozen=True):
    """The first branch whose condition holds."""

    branches: tuple[Branch, ...]


class Each(msgspec.Struct, frozen=True):
    """The body once an element, or once for 1, 2, 3."""

    item: str
    source: Path | int
    most: int
    body: Region
    at: Span
    """Where the list is written."""


class Repeat(msgspec.Struct, frozen=True):
    """The body again and again, or one element after the other."""

    item: str | None
    source: Path | None
    most: int
    keep: int | None
    body: Region
    until: tuple[Test, ...]
    otherwise: Region | None
    names: tuple[tuple[str, Reading], ...]
    """What `previous` has: the names that the body defines, with what they stand for."""
    handed: bool
    """Whether `previous` or `rounds` is read."""
    at: Span
    """Where the list is written, else the whole."""


class Try(msgspec.Struct, frozen=True):
    """The first body, and the second when the first has failed for good."""

    body: Region
    otherwise: Region


class Do(msgspec.Struct, frozen=True):
    """The body, once."""

    body: Region


Block: TypeAlias = When | Each | Repeat | Try | Do
Filling: TypeAlias = Fusion | Constant | StepObject
"""What a step or a slot is filled with."""
Content: TypeAlias = Fusion | Constant | StepObject | When | Each | Repeat | Try | Do


def regions_of(content: Content) -> tuple[Region, ...]:
    """Return the regions of a block, in order; anything else has none."""
    match content:
        case When(branches):
            return tuple(branch.body for branch in branches)
        case Each() | Do():
            return (content.body,)
        case Repeat():
            return (content.body,) if content.otherwise is None else (content.body, content.otherwise)
        case Try(body, otherwise):
            return body, otherwise
        case _:
            return ()


def tests_of(content: Content) -> tuple[Test, ...]:
    """Return the tests of a block's conditions, in order."""
    match content:
        case When(branches):
            return tuple(test for branch in branches for test in branch.condition)
        case Repeat():
            return content.until
        case _:
            return ()


def word_of(block: Block) -> Word:
    """Return the word that a block begins with."""
    match block:
        case When():
            return "when"
        case Each():
            return "each"
        case Repeat():
            return "repeat"
        case Try():
            return "try"
        case Do():
            return "do"


class Timing(NamedTuple):
    """A deadline and a delay, as ISO 8601 durations."""

    within: str | None = None
    delay: str | None = None


NO_TIMING = Timing()


class Step(msgspec.Struct, frozen=True):
    """One call, carried out once."""

    number: int
    """Its place in evaluation order, from 0; what it reads has lower numbers."""
    stem: str
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


class Context(NamedTuple):
    """A chunk cut by hand, or a block that stands among these."""

    executor: Executor | Literal["block"]
    units: tuple[Unit, ...]
    annotations: tuple[Json, ...]
    span: Span


class Graph(msgspec.Struct, frozen=True):
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

    @property
    def has_flow(self) -> bool:
        """Whether it has paths or blocks."""
        return bool(self.accesses) or any(
            step.executor == "block" or step.chosen or step.activity == "RunPlan_Activity" for step in self.steps.values()
        )


class Reached(NamedTuple):
    """A member that a path names: the path up to it, and its place."""

    path: Path
    span: Span


class Placed(NamedTuple):
    """A block that stands in a property of a step's schema, to be filled in when keys are known."""

    slots: tuple[str, ...]
    block: StepObject


class FlatGraph(msgspec.Struct, frozen=True):
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
    referring: frozenset[int] = frozenset()
    """Steps with recursive schemas: definitions and references are in them."""
    optional: frozenset[tuple[int, str]] = frozenset()
    """Named arguments that are left out where they are `null`, by step."""
