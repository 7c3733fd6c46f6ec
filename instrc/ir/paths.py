"""What is read in a program: inputs, steps and blocks by number, names of blocks, and members of these."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from instrc.ir.reads import Constant

BlockName: TypeAlias = Literal["item", "round", "previous", "rounds", "error"]


class Local(msgspec.Struct, frozen=True, gc=False):
    """A name that a block gives to what is in it."""

    block: int
    """The number of the region that it is for."""
    level: int
    """How many blocks lie around it."""
    kind: BlockName
    name: str
    """As it is read: `person`, `round`."""


class Path(msgspec.Struct, frozen=True, gc=False):
    """Something that is read: an input by name, a step or a block by number, a name of a block, or a part of one of these."""

    origin: str | int | Local
    tail: tuple[str, ...] = ()


class ObjectReading(msgspec.Struct, frozen=True, gc=False):
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
