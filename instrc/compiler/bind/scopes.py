"""The names that a program defines: a scope for the whole, and one for the body of each block."""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Iterator, Mapping
from typing import TypeAlias

import msgspec
from msgspec import Struct

from instrc import problems
from instrc.compiler.bind.values import BoundValue, BraceNames
from instrc.compiler.instructions import InstructionTable
from instrc.compiler.ir import TIMING, Instruction
from instrc.language import surface
from instrc.language.surface import Program as Parsed
from instrc.problems.report import Report
from instrc.problems.suggest import NearestNames
from instrc.text.jsonvalue import Json
from instrc.text.source import Span
from instrc.vibes.registry import ProgramFile

GIVEN = ("round", "previous", "rounds", "error")
"""Names that blocks define."""


class BodyNames(msgspec.Struct):
    """The names of each body, by the offset at which it starts."""

    locals: dict[int, dict[str, surface.Binding]] = msgspec.field(default_factory=dict)
    read: dict[int, set[str]] = msgspec.field(default_factory=dict)
    """Names of the body that each expression mentions."""
    mentioned: set[str] = msgspec.field(default_factory=set)
    """Every bare name in an expression of the program."""

    places: dict[str, Span] = msgspec.field(default_factory=dict)
    """By name, where a block first defines it."""
    elements: dict[str, Span] = msgspec.field(default_factory=dict)
    """Elements that blocks name, with the first span of each name."""

    others: list[tuple[str, Span, Span]] = msgspec.field(default_factory=list)
    """Blocks whose `else` cannot see definitions of the first body: their keyword and the spans of both bodies."""

    repeated: set[str] = msgspec.field(default_factory=set)
    """Names that a block defines although they are already visible."""
    refused: set[str] = msgspec.field(default_factory=set)
    """Reserved names that the program tries to define; their uses are not reported again."""

    def other_body(self, at: Span, defined: Span) -> str:
        """Return the keyword of the block whose `else` contains a place, if its first body defines the name."""
        found = [word for word, body, other in self.others if _holds(body, defined) and _holds(other, at)]
        return found[-1] if found else ""

    def is_in_vain(self, at: Span) -> bool:
        """Return whether a place is in the `else` of a `repeat`."""
        return any(word == "repeat" and _holds(other, at) for word, _, other in self.others)

    def defined(self, name: str) -> Span | None:
        """Return the place where a block defines a name or its element of that name, or `None`."""
        return self.places.get(name, self.elements.get(name))


def _holds(body: Span, at: Span) -> bool:
    return body.start <= at.start and at.end <= body.end


def survey(program: surface.Program, known: dict[str, Span | None], reserved: frozenset[str], report: Report) -> BodyNames:
    """Return the names of all bodies of a program; `known` are the names defined by the program itself."""
    found = BodyNames()

    def mention(name: str, visible: ChainMap[str, _Visible]) -> None:
        found.mentioned.add(name)
        home = visible.get(name)
        if home is not None and home.body is not None:
            found.read[home.body].add(name)

    def look(node: surface.Expression, visible: ChainMap[str, _Visible]) -> None:
        if isinstance(node, surface.Name):
            mention(node.text, visible)
        elif not isinstance(node, surface.Block):
            for name in (each.key for each in node.fields if each.value is None) if isinstance(node, surface.Object) else ():
                mention(name, visible)
            for child in surface.children(node):
                look(child, visible)
        else:
            if isinstance(node, surface.Repeat | surface.Try):
                found.others += _others(node)
            for part in surface.parts(node):
                for each in part.before:
                    look(each, visible)
                inside = visible.new_child()
                _open(part, inside, found, reserved, report)
                for each in (*part.inside, *part.after):
                    look(each, inside)

    whole = ChainMap({name: _Visible(None, span) for name, span in known.items()})
    for statement in program.statements:
        if not isinstance(statement, surface.Input):
            look(statement.value, whole)
    return found


class _Visible(msgspec.Struct, frozen=True, gc=False):
    """The scope that defines a visible name: the body, `None` for the program itself and for values of blocks, and the place."""

    body: int | None
    at: Span | None
    names: Mapping[str, surface.Binding] = {}
    """Statements by defined name, for a body."""

    def place(self, name: str) -> Span | None:
        """Return where it defines a name."""
        return self.names[name].name.span if name in self.names else self.at


def _open(
    part: surface.WrittenPart, visible: ChainMap[str, _Visible], found: BodyNames, reserved: frozenset[str], report: Report
) -> None:
    start = part.body.span.start
    found.read[start] = set()
    names: dict[str, surface.Binding] = {}
    home = _Visible(start, None, names)
    for name, span in part.names:
        if span is not None:
            if name in reserved or name in visible:
                _refuse(name, span, visible, reserved, found, report)
            found.elements.setdefault(name, span)
        visible[name] = _Visible(None, span)
    for statement in part.body.statements:
        if isinstance(statement, surface.Binding):
            name = statement.name.text
            if name in reserved or name in visible:
                _refuse(name, statement.name.span, visible, reserved, found, report)
            else:
                names[name] = statement
                found.places.setdefault(name, statement.name.span)
                visible[name] = home
    found.locals[start] = names


def _refuse(
    name: str, span: Span, visible: ChainMap[str, _Visible], reserved: frozenset[str], found: BodyNames, report: Report
) -> None:
    """Report a name that already has a meaning."""
    if name in reserved:
        found.refused.add(name)
        report.add(problems.names.ReservedName(at=span, word=name))
    elif name not in found.repeated:
        found.repeated.add(name)
        report.add(problems.names.RepeatedName(at=span, word=name, first=visible[name].place(name), defined=True))


def _others(block: surface.Repeat | surface.Try) -> Iterator[tuple[str, Span, Span]]:
    """Yield the parts after the first body of a block that do not see its names, each with its keyword and that body."""
    first = block.first if isinstance(block, surface.Repeat) else None
    word = "repeat" if isinstance(block, surface.Repeat) else "try"
    for name, other in ((word, block.otherwise), ("from", first)):
        if other is not None:
            yield name, block.body.span, other.span


class LocalName(msgspec.Struct, frozen=True, gc=False):
    """A local name: its statement and its scope."""

    binding: surface.Binding
    scope: Scope

    @property
    def key(self) -> tuple[int, str]:
        """The key that identifies it in the program."""
        return self.scope.number, self.binding.name.text


class Scope(msgspec.Struct, frozen=True, eq=False):
    """Names, and where their expressions are evaluated.

    Invariant: no name is defined twice in nested scopes, except for names that blocks define.
    """

    number: int
    locals: Mapping[str, surface.Binding]
    inputs: Mapping[str, Span | None]
    """`prompt` and the declared inputs of the program."""
    program: ProgramNames
    """Program that contains the scope."""
    outer: Scope | None = None
    given: Mapping[str, BoundValue] = msgspec.field(default_factory=dict)
    """Names that the block defines: the element, `round`, `previous`, `rounds`, `error`."""
    region: int = 0
    """Region of the steps that calls in this scope create."""
    level: int = 0
    """Number of enclosing blocks."""
    keys: BraceNames | None = None
    """Keys of the braces around the block."""
    piped: BoundValue | None = None
    """Value read by a call without arguments."""

    def look_up(self, name: str) -> LocalName | BoundValue | None:
        """Return the definition of a local name, or the value that a block binds to it, in this or an outer scope."""
        for scope in self.outwards():
            if name in scope.locals:
                return LocalName(scope.locals[name], scope)
            if name in scope.given:
                return scope.given[name]
        return None

    def find(self, name: str) -> LocalName | None:
        """Return the definition of a local name."""
        found = self.look_up(name)
        return found if isinstance(found, LocalName) else None

    def value(self, name: str) -> BoundValue | None:
        """Return the value that an enclosing block binds to a name."""
        found = self.look_up(name)
        return None if isinstance(found, LocalName) else found

    def outwards(self) -> Iterator[Scope]:
        """Yield this scope and the enclosing ones, from inside out."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.outer

    def visible(self) -> dict[str, surface.Binding]:
        """Return every visible local name with its statement."""
        found: dict[str, surface.Binding] = {}
        for scope in self.outwards():
            found = {**scope.locals, **found}
        return found

    def count(self) -> int:
        """Return the number of visible names of values."""
        return len(self.inputs) + sum(len(scope.locals) + len(scope.given) for scope in self.outwards())

    def all_given(self) -> tuple[str, ...]:
        """Return every name bound by an enclosing block, innermost first."""
        return tuple(dict.fromkeys(name for scope in self.outwards() for name in scope.given if self.value(name) is not None))

    def is_input(self, name: str) -> bool:
        """Return whether a name is that of an input."""
        return name in self.inputs and self.value(name) is None


class ProgramNames(msgspec.Struct, frozen=True, eq=False):
    """The names that one program defines.

    Invariant: none is defined twice, and none is reserved.
    """

    program: surface.Program
    locals: Mapping[str, surface.Binding]
    inputs: Mapping[str, Span | None]
    """`prompt` and the declared inputs."""
    declared: tuple[surface.Input, ...]
    survey: BodyNames
    """Names in the bodies of its blocks."""
    taken: frozenset[str]
    """Every name that has a meaning in the program; any other is a registry name or undefined."""
    instructions: InstructionTable
    """Table in which its names and references are looked up."""
    calls: tuple[ProgramFile, ...] = ()
    """Chain of calls that led to this program."""
    offers: NearestNames = msgspec.field(default_factory=NearestNames)
    """Remaining comparisons for suggestions on unknown names."""

    @property
    def root(self) -> Scope:
        """The scope of the program itself, outside of all blocks."""
        return Scope(0, self.locals, self.inputs, self)

    def schemas(self) -> dict[str, Json]:
        """Return the schema of each input, in order; one without a schema accepts anything."""
        found: dict[str, Json] = {"prompt": {}}
        for statement in self.declared:
            said = statement.annotation
            found[statement.name.text] = {"description": said} if isinstance(said, str) else said or {}
        return found


class Ends:
    """Resolves aliases to their definitions."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, str], tuple[surface.Expression, Scope]] = {}

    def end(self, expression: surface.Expression, scope: Scope) -> tuple[surface.Expression, Scope]:
        """Return the end of a chain of aliases, and its scope; for a cycle, one of its names."""
        way: list[tuple[int, str]] = []
        while isinstance(expression, surface.Name):
            found = scope.find(expression.text)
            if found is None:
                break
            known = self._known.get(found.key)
            if known is not None:
                expression, scope = known
                break
            way.append(found.key)
            self._known[found.key] = expression, scope  # provisional: an evaluation that reads it again is cyclic
            expression, scope = found.binding.value, found.scope
        self._known.update(dict.fromkeys(way, (expression, scope)))
        return expression, scope

    def is_alias(self, found: LocalName) -> bool:
        """Return whether a local name is an alias of an instruction, without looking that up."""
        value = found.binding.value
        if isinstance(value, surface.Call) or not isinstance(value, surface.Name | surface.Uri):
            return False
        end, scope = self.end(value, found.scope)
        return isinstance(end, surface.Uri) or (isinstance(end, surface.Name) and not is_defined(end.text, scope))


def is_defined(name: str, scope: Scope) -> bool:
    """Return whether a name is defined, whatever its value."""
    return name in scope.inputs or scope.value(name) is not None or scope.find(name) is not None


def goal(expression: surface.Expression, scope: Scope) -> str | None:
    """Return the goal in the first stage of a pipe: a string, or a local name of one."""
    seen: set[tuple[int, str]] = set()
    while True:
        match expression:
            case surface.Annotated(value):
                expression = value
            case surface.Literal(value):
                return value if isinstance(value, str) else None
            case surface.Name(text):
                found = scope.find(text)
                if found is None or found.key in seen:
                    return None
                seen.add(found.key)
                expression, scope = found.binding.value, found.scope
            case _:
                return None


def timing_words(annotation: str | dict[str, Json] | None) -> tuple[str, ...]:
    """Return the keys of an annotation that set a deadline or a delay."""
    return tuple(word for word in TIMING if isinstance(annotation, dict) and word in annotation)


CONTEXTS = {"LLM_Context": "model", "Server_Context": "server", "User_Context": "user"}
SPECIAL = frozenset({"Process", "LaunchProcess", "Fail", "Plan", "OneOf", "RunPlan_Activity", *CONTEXTS})
RESERVED = frozenset({"StartProcess", "prompt", *SPECIAL})


class InputName(Struct, frozen=True):
    """The name of the request or of a declared input."""

    name: str


class Special(Struct, frozen=True):
    """A name with a special meaning: `Process` and its contexts, `LaunchProcess`, `Fail`."""

    name: str


class CalledProgram(Struct, frozen=True):
    """A program in the registry, called like an instruction."""

    file: ProgramFile
    export: str | None
    """Name of the export, if one is chosen."""
    instructions: InstructionTable
    """Instructions of its own roots."""

    @property
    def reference(self) -> str:
        """The reference to it."""
        return self.file.uri if self.export is None else f"{self.file.uri}#{self.export}"


Called: TypeAlias = Instruction | Special | CalledProgram
Meaning: TypeAlias = LocalName | InputName | Called


def define(program: Parsed, report: Report, instructions: InstructionTable, calls: tuple[ProgramFile, ...] = ()) -> ProgramNames:
    """Collect the names of a program; duplicate and reserved names are reported and left out."""
    locals_: dict[str, surface.Binding] = {}
    inputs: dict[str, Span | None] = {"prompt": None}
    declared: list[surface.Input] = []
    refused: set[str] = set()
    repeated: dict[str, tuple[Span, list[Span]]] = {}
    for statement in program.statements:
        if not isinstance(statement, surface.Binding | surface.Input):
            continue
        name = statement.name
        if name.text in RESERVED:
            report.add(problems.names.ReservedName(at=name.span, word=name.text))
            refused.add(name.text)
            continue
        first = inputs.get(name.text) or (locals_[name.text].name.span if name.text in locals_ else None)
        if first is not None:
            repeated.setdefault(name.text, (first, []))[1].append(name.span)
        elif isinstance(statement, surface.Input):
            for word in timing_words(statement.annotation):
                report.add(problems.blocks.MisplacedDeadline(at=statement.span, word=word, place="input"))
            inputs[name.text] = name.span
            declared.append(statement)
        else:
            locals_[name.text] = statement
        if first is None and _hides_instruction(statement, instructions):
            report.add(problems.names.HiddenInstruction(at=name.span, word=name.text))
    for word, (first, (second, *further)) in repeated.items():
        report.add(problems.names.RepeatedName(at=second, word=word, first=first, further=tuple(further), defined=True))
    known = {**{name: each.name.span for name, each in locals_.items()}, **inputs}
    surveyed = survey(program, known, RESERVED, report)
    surveyed.refused |= refused
    taken = frozenset().union(known, SPECIAL, GIVEN, surveyed.elements, *surveyed.locals.values())
    return ProgramNames(program, locals_, inputs, tuple(declared), surveyed, taken, instructions, calls)


def _hides_instruction(statement: surface.Binding | surface.Input, instructions: InstructionTable) -> bool:
    """Return whether a value has the name of an instruction, in a style used for instructions; aliases and tools may.

    If it is also called like an instruction, that is reported instead.
    """
    text, source = statement.name.text, statement.span.source.text
    if not text[0].isupper() or re.search(rf"\b{text}\s*\(|\|\s*{text}\b", source):
        return False
    if isinstance(statement, surface.Binding) and (
        statement.exported or isinstance(statement.value, surface.Name | surface.Uri | surface.Inline)
    ):
        return False
    return bool(instructions.named(text))
