"""What expressions stand for while a program is bound."""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from instrc.ir.graph import Context
from instrc.ir.paths import Path
from instrc.jsonvalue import Json


class StepResult(msgspec.Struct, frozen=True, gc=False):
    """The result of a step, or an input."""

    path: Path


class Inner(msgspec.Struct, frozen=True, gc=False):
    """What an earlier field of the same braces is filled with: the model has it before its eyes, nothing is read."""

    mistaken: bool = False
    """Whether it only stands for what a mistake has left out, so that no use of it is a mistake of its own."""


class Members(msgspec.Struct, frozen=True, gc=False):
    """An object of values."""

    fields: tuple[tuple[str, BoundValue], ...]
    size: int
    """How many values there are in it, at any depth."""


class Data(msgspec.Struct, frozen=True, gc=False):
    """A literal."""

    value: Json
    given: str = ""
    """The input that it stands for, in a program that is called with it: there it is read like any other value."""


class Cut(msgspec.Struct, frozen=True, gc=False):
    """A process cut by hand."""

    contexts: tuple[Context, ...]


BoundValue: TypeAlias = StepResult | Inner | Members | Data | Cut


class BraceNames(msgspec.Struct, frozen=True, gc=False):
    """Names given by braces to what is in them; inner ones first."""

    fields: dict[str, BoundValue]
    outer: BraceNames | None
    parts: dict[str, BoundValue]
    """Names of slots in what the keys were given to: they are names, too, where nothing else is called so."""

    @classmethod
    def within(cls, outer: BraceNames | None) -> BraceNames:
        """Return keys of new braces inside others."""
        return cls({}, outer, {})

    def part(self, name: str) -> BoundValue | None:
        """Return what a slot of that name is read as."""
        keys: BraceNames | None = self
        while keys is not None:
            if name in keys.parts:
                return keys.parts[name]
            keys = keys.outer
        return None

    def path_to_part(self, name: str) -> str | None:
        """Return the path to a slot of that name, as far as a key leads to it; `None` if there is no such slot."""
        part = self.part(name)
        if not isinstance(part, StepResult):
            return None
        whole = StepResult(Path(part.path.origin))
        keys: BraceNames | None = self
        while keys is not None:
            for key, value in keys.fields.items():
                if value == whole:
                    return f"{key}.{name}"
            keys = keys.outer
        return name

    def find(self, name: str) -> BoundValue | None:
        """Return what a name was given to."""
        keys: BraceNames | None = self
        while keys is not None:
            if name in keys.fields:
                return keys.fields[name]
            keys = keys.outer
        return None


def paths_read(value: BoundValue) -> list[Path]:
    """Return everything that reading a value reads, in order."""
    match value:
        case StepResult(path):
            return [path]
        case Members(fields):
            return [path for _, member in fields for path in paths_read(member)]
        case _:
            return []
