"""The names that a program defines: a scope for the whole of it, and one for the body of each block."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from instrc.ir.surface import Annotated, Binding, Call, Expression, Input, Literal, Name, Program, Uri
from instrc.jsonvalue import Json
from instrc.passes.bind.survey import BodyNames
from instrc.passes.bind.values import BoundValue, BraceNames
from instrc.passes.instructions import InstructionTable
from instrc.problems.suggest import NearestNames
from instrc.source import Span
from instrc.vibes.programs import ProgramFile


class ProgramNames(msgspec.Struct, frozen=True, eq=False):
    """The names that one program defines.

    True of this form: none is defined twice, none is reserved.
    """

    program: Program
    locals: Mapping[str, Binding]
    inputs: Mapping[str, Span | None]
    """`prompt` and the declared inputs."""
    declared: tuple[Input, ...]
    survey: BodyNames
    """Those of the bodies of its blocks."""
    taken: frozenset[str]
    """Every name that means something in it, wherever that is defined: any other is one of the registry, or none."""
    instructions: InstructionTable
    """What its names and references are looked up in."""
    calls: tuple[ProgramFile, ...] = ()
    """The programs whose calls have led here, for one that another calls."""
    offers: NearestNames = msgspec.field(default_factory=NearestNames)
    """How many names its unknown ones may still be compared with."""

    @property
    def root(self) -> Scope:
        """The scope of the program itself, outside of all blocks."""
        return Scope(0, self.locals, self.inputs, self)

    def schemas(self) -> dict[str, Json]:
        """Return the schema of each input, in order; one without a schema takes anything."""
        found: dict[str, Json] = {"prompt": {}}
        for statement in self.declared:
            said = statement.annotation
            found[statement.name.text] = {"description": said} if isinstance(said, str) else said or {}
        return found


class Scope(msgspec.Struct, frozen=True, eq=False):
    """Names, and where their expressions are evaluated.

    True of this form: no name is defined twice in a scope and those around it, but for names that blocks give.
    """

    number: int
    locals: Mapping[str, Binding]
    inputs: Mapping[str, Span | None]
    """`prompt` and the declared inputs of the program."""
    program: ProgramNames
    """The program that it belongs to."""
    outer: Scope | None = None
    given: Mapping[str, BoundValue] = msgspec.field(default_factory=dict)
    """Names that the block gives: the element, `round`, `previous`, `rounds`, `error`."""
    region: int = 0
    """The steps among which calls of this scope stand."""
    level: int = 0
    """How many blocks lie around it."""
    keys: BraceNames | None = None
    """Keys of the braces around the block."""
    piped: BoundValue | None = None
    """What a call in it reads that is given nothing."""

    def look_up(self, name: str) -> LocalName | BoundValue | None:
        """Return the definition of a local name, or what a block gives under it, here or further out."""
        scope: Scope | None = self
        while scope is not None:
            binding = scope.locals.get(name)
            if binding is not None:
                return LocalName(binding, scope)
            if name in scope.given:
                return scope.given[name]
            scope = scope.outer
        return None

    def find(self, name: str) -> LocalName | None:
        """Return the definition of a local name."""
        found = self.look_up(name)
        return found if isinstance(found, LocalName) else None

    def value(self, name: str) -> BoundValue | None:
        """Return what a block around this place gives under a name."""
        found = self.look_up(name)
        return None if isinstance(found, LocalName) else found

    def outwards(self) -> Iterator[Scope]:
        """Yield this scope and those around it, from the inside."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.outer

    def visible(self) -> dict[str, Binding]:
        """Return every local name that can be seen here, with its statement."""
        found: dict[str, Binding] = {}
        for scope in self.outwards():
            found = {**scope.locals, **found}
        return found

    def count(self) -> int:
        """Return how many names of values can be seen here."""
        return len(self.inputs) + sum(len(scope.locals) + len(scope.given) for scope in self.outwards())

    def all_given(self) -> tuple[str, ...]:
        """Return every name of a value that a block around this place gives, the innermost first."""
        return tuple(dict.fromkeys(name for scope in self.outwards() for name in scope.given if self.value(name) is not None))

    def is_input(self, name: str) -> bool:
        """Tell whether a name stands for an input."""
        return name in self.inputs and self.value(name) is None


class LocalName(msgspec.Struct, frozen=True, gc=False):
    """A local name: its statement and the scope it stands in."""

    binding: Binding
    scope: Scope

    @property
    def key(self) -> tuple[int, str]:
        """What tells it from all others of the program."""
        return self.scope.number, self.binding.name.text


class Ends:
    """Where names lead that only stand for names."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, str], tuple[Expression, Scope]] = {}

    def end(self, expression: Expression, scope: Scope) -> tuple[Expression, Scope]:
        """Return what an expression leads to through names of nothing but names, and where; one of its names if it goes round."""
        way: list[tuple[int, str]] = []
        while isinstance(expression, Name):
            found = scope.find(expression.text)
            if found is None:
                break
            known = self._known.get(found.key)
            if known is not None:
                expression, scope = known
                break
            way.append(found.key)
            self._known[found.key] = expression, scope  # until we know better: who comes here again has gone round
            expression, scope = found.binding.value, found.scope
        self._known.update(dict.fromkeys(way, (expression, scope)))
        return expression, scope

    def is_alias(self, found: LocalName) -> bool:
        """Tell whether a local name is another name of an instruction, without looking that up."""
        value = found.binding.value
        if isinstance(value, Call) or not isinstance(value, Name | Uri):
            return False
        end, scope = self.end(value, found.scope)
        return isinstance(end, Uri) or (isinstance(end, Name) and not is_defined(end.text, scope))


def is_defined(name: str, scope: Scope) -> bool:
    """Tell whether a name is defined, whatever it stands for."""
    return name in scope.inputs or scope.value(name) is not None or scope.find(name) is not None


def goal(expression: Expression, scope: Scope) -> str | None:
    """Return the goal that an expression states as the first stage of a pipe: a string, or a local name of one."""
    seen: set[tuple[int, str]] = set()
    while True:
        match expression:
            case Annotated(value):
                expression = value
            case Literal(value):
                return value if isinstance(value, str) else None
            case Name(text):
                found = scope.find(text)
                if found is None or found.key in seen:
                    return None
                seen.add(found.key)
                expression, scope = found.binding.value, found.scope
            case _:
                return None
