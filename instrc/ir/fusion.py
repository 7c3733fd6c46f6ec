"""How the schema of a step is made: an instruction, what fills its slots, annotations, mixins around it."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal, TypeAlias, TypeGuard

import msgspec

from instrc.ir.paths import Path
from instrc.ir.reads import Constant
from instrc.jsonvalue import Json
from instrc.source import Span

InstructionKind: TypeAlias = Literal["model", "server", "user", "mixin"]

SUFFIXES: dict[str, InstructionKind] = {"_Activity": "server", "_User": "user", "_Human": "user", "_Mixin": "mixin"}
"""The end of an instruction's name that decides who carries it out."""


class Instruction(msgspec.Struct, frozen=True, gc=False):
    """What a call calls: a vibe of the registry, or a schema written on the spot."""

    name: str
    """The last segment of the vibe's path as spelled there, or the title of an inline schema."""
    uri: str | None
    schema: dict[str, Json] | None
    """Only where there is no vibe: inline schemas and sketches."""
    home: int = 0
    """Whose roots it was found in: 0 for those of the program that is compiled."""

    @property
    def kind(self) -> InstructionKind:
        """Who carries it out, by the suffix of its name."""
        return instruction_kind(self.name)

    @property
    def base_name(self) -> str:
        """The name without its suffix."""
        return self.name.removesuffix(suffix_of(self.name))


@lru_cache(maxsize=4096)
def suffix_of(name: str) -> str:
    """Return the end of a name that decides who carries it out; nothing if the model does."""
    return next((suffix for suffix in SUFFIXES if name.endswith(suffix)), "")


@lru_cache(maxsize=4096)
def instruction_kind(name: str) -> InstructionKind:
    """Return who carries out what has a name."""
    return SUFFIXES.get(suffix_of(name), "model")


class Argument(msgspec.Struct, frozen=True, gc=False):
    """What a call is given: under a label, or plain."""

    label: str | None
    value: Path | Constant


class PlannableTool(msgspec.Struct, frozen=True):
    """An activity or a process that a plan may call."""

    name: str
    kind: Literal["activity", "process"]
    target: str
    """The activity's name, or the reference of the process."""
    arguments: dict[str, Json]
    output: Json
    bound: tuple[Argument, ...]
    """What the program gives to it; the model cannot."""
    file: str | None = None
    """The file that the reference of a process leads to from the program which names it."""


class Planned(msgspec.Struct, frozen=True, gc=False):
    """A property that is filled with a plan for these tools."""

    tools: tuple[PlannableTool, ...]


class Among(msgspec.Struct, frozen=True, gc=False):
    """A property that is filled with one of a list that an earlier step gave."""

    choices: Path
    span: Span


class Slot(msgspec.Struct, frozen=True, gc=False):
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


class Application(msgspec.Struct, frozen=True, gc=False):
    """One use of a mixin: its filled slots besides `default`, and the annotations written where it is applied."""

    mixin: Instruction
    slots: tuple[Slot, ...]
    annotations: tuple[Json, ...]
    span: Span


class Fusion(msgspec.Struct, frozen=True, gc=False):
    """How one schema is made: an instruction, what fills its slots, annotations, and mixins around it, innermost first."""

    instruction: Instruction
    slots: tuple[Slot, ...]
    annotations: tuple[Json, ...]
    mixins: tuple[Application, ...]
    span: Span


def is_lone_instruction(content: object) -> bool:
    """Tell whether a content is an instruction alone, as most are: nothing fills it, nothing stands around it."""
    return type(content) is Fusion and not content.slots and not content.mixins


def is_bare_instruction(content: object) -> TypeGuard[Fusion]:
    """Tell whether a content is an instruction alone without annotations, so that its schema is that of the instruction."""
    return type(content) is Fusion and not (content.slots or content.annotations or content.mixins)


class MixinGroup(msgspec.Struct, frozen=True, gc=False):
    """A mixin around several steps: they stand between its properties and are never cut apart."""

    application: Application
    members: tuple[Unit, ...]
    numbers: tuple[int, ...]
    """The steps of all members, in order."""
    number: int
    """Its own among the groups of the graph."""


Unit: TypeAlias = int | MixinGroup
"""What stands in a chunk or a slot: a step by number, or a group of units."""


class StepObject(msgspec.Struct, frozen=True, gc=False):
    """An object of steps inside a slot or under a key."""

    units: tuple[Unit, ...]
    annotations: tuple[Json, ...]
    span: Span


Filling: TypeAlias = Fusion | Constant | StepObject
"""What a step or a slot is filled with."""
