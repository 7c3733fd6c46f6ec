"""What an expression comes to while a program is bound, and where it stands."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from instrc.ir.graph import NO_TIMING, Context, Path, Timing
from instrc.jsonvalue import AnyJson as Json
from instrc.passes.bind.holding import Frame

if TYPE_CHECKING:
    from instrc.passes.bind.scopes import Scope


class Result(NamedTuple):
    """The result of a step, or an input."""

    path: Path


class Inner(NamedTuple):
    """What an earlier field of the same braces is filled with: the model has it before its eyes, nothing is read."""


class Members(NamedTuple):
    """An object of values."""

    fields: tuple[tuple[str, Value], ...]
    size: int
    """How many values there are in it, at any depth."""


class Data(NamedTuple):
    """A literal."""

    value: Json


class Cut(NamedTuple):
    """A process cut by hand."""

    contexts: tuple[Context, ...]


Value: TypeAlias = Result | Inner | Members | Data | Cut


class Keys(NamedTuple):
    """Names given by braces to what is in them; inner ones first."""

    fields: dict[str, Value]
    outer: Keys | None
    parts: dict[str, Value]
    """Names of slots in what the keys were given to: they are names, too, where nothing else is called so."""

    @classmethod
    def within(cls, outer: Keys | None) -> Keys:
        """Return keys of new braces inside others."""
        return cls({}, outer, {})

    def part(self, name: str) -> Value | None:
        """Return what a slot of that name is read as."""
        keys: Keys | None = self
        while keys is not None:
            if name in keys.parts:
                return keys.parts[name]
            keys = keys.outer
        return None

    def find(self, name: str) -> Value | None:
        """Return what a name was given to."""
        keys: Keys | None = self
        while keys is not None:
            if name in keys.fields:
                return keys.fields[name]
            keys = keys.outer
        return None


@dataclass(frozen=True, slots=True)
class EvaluationContext:
    """Where an expression stands."""

    names: Scope
    """The names that can be seen."""
    region: int = 0
    """The body, or the program, among whose steps a call is."""
    piped: Value | None = None
    """What is piped into the stage around it."""
    own: bool = False
    """It is the stage's own call: the piped value is its first argument."""
    keys: Keys | None = None
    frame: Frame | None = None
    """The innermost brackets around it that place steps."""
    direct: bool = False
    """It is itself what such brackets are given: a local name here stands for its expression."""
    annotations: tuple[Json, ...] = ()
    """What was written behind it with `@`, innermost first."""
    timing: Timing = NO_TIMING
    """The deadline and the delay that were written there."""
    scope: int = 0
    """The braces around it, by a number that braces of equal expressions share; keys in different braces are different steps."""
    key: str | None = None
    """The key that braces give to it."""
    placing: bool = False
    """An object here stands in an artefact: its constants become properties."""
    exported: bool = False
    """It is itself what is exported."""
    by_hand: bool = False
    """Inside `Process`: nothing is inserted."""

    def inside(self) -> EvaluationContext:
        """Return the place of an argument: nothing that belongs to the call itself goes down to it."""
        return replace(self, own=False, direct=False, annotations=(), timing=NO_TIMING, key=None, placing=False, exported=False)

    def given_to(self, frame: Frame) -> EvaluationContext:
        """Return the place of what placing brackets are given."""
        return replace(self, frame=frame, direct=True, annotations=(), exported=False)

    def alone(self, frame: Frame | None, home: Scope) -> EvaluationContext:
        """Return the place of a local's own expression, as if it stood where the name does; keys of braces are no names in it."""
        return replace(self, own=False, keys=home.keys, frame=frame, names=home)

    def at_home(self, home: Scope) -> EvaluationContext:
        """Return the place of a local's own expression where the name is read in a block further in: it is evaluated at home."""
        return EvaluationContext(home, home.region, home.piped, keys=home.keys)

    def find(self, name: str) -> Value | None:
        """Return what braces around this place gave a name to."""
        return self.keys.find(name) if self.keys else None


def paths(value: Value) -> list[Path]:
    """Return everything that reading a value reads, in order."""
    match value:
        case Result(path):
            return [path]
        case Members(fields):
            return [path for _, member in fields for path in paths(member)]
        case _:
            return []
