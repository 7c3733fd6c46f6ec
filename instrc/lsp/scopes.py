"""What each name of a program stands for, as far as its text says: where it is defined, where it is read.

Unlike binding, this works on programs with mistakes, and remembers every place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from msgspec import Struct

from instrc.ir.children import subjects
from instrc.ir.surface import (
    Access,
    Annotated,
    Anonymous,
    Array,
    Binding,
    Body,
    Call,
    Do,
    Each,
    Expression,
    Field,
    Inline,
    Input,
    Name,
    Object,
    Pipe,
    Program,
    Repeat,
    Statement,
    Try,
    Uri,
    When,
)
from instrc.ir.surface import Literal as Constant
from instrc.source import Span

DefinitionKind: TypeAlias = Literal["const", "tool", "input", "element", "key", "round"]
_PLACES = frozenset({"Process", "LLM_Context", "Server_Context", "User_Context", "StartProcess"})
"""Calls whose keys are names for what comes after them."""


class Definition(Struct, frozen=True, gc=False):
    """A name that a program defines: the place of the name, and what it stands for."""

    name: str
    kind: DefinitionKind
    span: Span
    whole: Span
    value: Expression | None = None
    of_list: bool = False
    """Whether it stands for one element of its value."""


class Mention(Struct, frozen=True, gc=False):
    """A name or reference that is read; without a definition it is an instruction, `prompt`, or a mistake."""

    text: str
    span: Span
    called: bool
    definition: Definition | None
    short: bool = False
    """Whether it is a key at the same time: `{ a }`."""


@dataclass(slots=True)
class VisibleNames:
    """The names that are visible in one place."""

    names: dict[str, Definition] = field(default_factory=dict)
    outer: VisibleNames | None = None

    def find(self, name: str) -> Definition | None:
        """Return what a name stands for."""
        scope: VisibleNames | None = self
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            scope = scope.outer
        return None

    def visible(self) -> Iterator[Definition]:
        """Yield all definitions, the innermost first."""
        scope: VisibleNames | None = self
        while scope is not None:
            yield from scope.names.values()
            scope = scope.outer


@dataclass(slots=True)
class SymbolIndex:
    """The names of one program."""

    definitions: list[Definition] = field(default_factory=list)
    mentions: list[Mention] = field(default_factory=list)
    by_start: dict[int, Mention] = field(default_factory=dict)
    """The mentions by the offset of their first letter."""
    rounds: dict[int, VisibleNames] = field(default_factory=dict)
    """What is visible in the bodies of loops, by the offset at which each begins, as `previous` and `rounds` do there."""
    scopes: list[tuple[Span, VisibleNames]] = field(default_factory=list)
    """Ranges with what is visible in them, outer ones first."""
    calls: list[Call] = field(default_factory=list)
    accesses: list[Access] = field(default_factory=list)

    def scope(self, offset: int) -> VisibleNames:
        """Return what is visible at an offset."""
        found = self.scopes[0][1]
        for span, scope in self.scopes:
            if span.start <= offset <= span.end:
                found = scope
        return found

    def mention(self, offset: int) -> Mention | None:
        """Return the name that is read at an offset."""
        return next((each for each in self.mentions if each.span.start <= offset <= each.span.end), None)

    def definition(self, offset: int) -> Definition | None:
        """Return the definition of the name at an offset, whether it is defined or read there."""
        here = next(
            (each for each in self.definitions if each.kind != "round" and each.span.start <= offset <= each.span.end), None
        )
        mention = self.mention(offset)
        return here or (mention.definition if mention else None)

    def of_round(self, definition: Definition | None) -> VisibleNames | None:
        """Return the names of the body that `previous`, or an element of `rounds`, has as members."""
        word = "previous"
        if definition is not None and definition.kind == "element" and isinstance(definition.value, Name):
            mention = self.by_start.get(definition.value.span.start)
            definition = mention.definition if mention else None
            word = "rounds"
        if definition is None or definition.kind != "round" or definition.name != word:
            return None
        return self.rounds.get(definition.span.start)

    def places(self, definition: Definition) -> list[Mention]:
        """Return where a definition is read."""
        return [mention for mention in self.mentions if mention.definition is definition]


def index_of(program: Program) -> SymbolIndex:
    """Return the names of a program."""
    index = SymbolIndex()
    root = VisibleNames()
    index.scopes.append((program.source.span(0, len(program.source.text)), root))
    _Walk(index).statements(program.statements, root)
    return index


_Task: TypeAlias = tuple[Expression, VisibleNames]


class _Walk:
    """Goes through a program with a stack of its own, for it nests deeper than Python calls."""

    def __init__(self, index: SymbolIndex) -> None:
        self.index = index
        self.pending: list[_Task] = []

    def statements(self, statements: Iterable[Statement], scope: VisibleNames) -> None:
        self.pending.extend(self._row(statements, scope))
        while self.pending:
            self._visit(*self.pending.pop())

    def _row(self, statements: Iterable[Statement], scope: VisibleNames) -> list[_Task]:
        tasks: list[_Task] = []
        for statement in statements:
            match statement:
                case Binding(name, value, exported, span):
                    self._define(scope, Definition(name.text, "tool" if exported else "const", name.span, span, value))
                    tasks.append((value, scope))
                case Input(name, _, span):
                    self._define(scope, Definition(name.text, "input", name.span, span))
                case Anonymous(value):
                    tasks.append((value, scope))
        return tasks[::-1]

    def _define(self, scope: VisibleNames, definition: Definition) -> None:
        scope.names.setdefault(definition.name, definition)
        self.index.definitions.append(definition)

    def _visit(self, node: Expression, scope: VisibleNames) -> None:
        match node:
            case Name(text, span) | Uri(text, span):
                self._mention(text, span, scope, called=False)
            case Constant() | Inline():
                pass
            case Call(callee, arguments):
                self.index.calls.append(node)
                self._mention(callee.text, callee.span, scope, called=True)
                shares = isinstance(callee, Name) and callee.text in _PLACES
                for argument in reversed(arguments):
                    inner = argument.value
                    if isinstance(inner, Object):
                        self._fields(inner.fields, scope if shares else self._inside(inner.span, scope))
                    else:
                        self.pending.append((inner, scope))
            case Object(fields, span):
                self._fields(fields, self._inside(span, scope))
            case Array(items):
                self.pending.extend((item, scope) for item in reversed(items))
            case Annotated(value):
                self.pending.append((value, scope))
            case Pipe(stages):
                self.pending.extend((stage, scope) for stage in reversed(stages))
            case Access(base, members):
                self.index.accesses.append(node)
                self.pending.append((base, scope))
                body = self.index.of_round(scope.find(base.text)) if isinstance(base, Name) else None
                found = body.names.get(members[0].text) if body is not None else None
                if found is not None and found.kind == "const":  # `previous.draft` is `draft`, one round before
                    span = members[0].span
                    self.index.mentions.append(Mention(found.name, span, called=False, definition=found))
            case When() | Each() | Repeat() | Try() | Do():
                self._block(node, scope)

    def _mention(self, text: str, span: Span, scope: VisibleNames, *, called: bool, short: bool = False) -> None:
        mention = Mention(text, span, called, scope.find(text), short)
        self.index.mentions.append(mention)
        self.index.by_start[span.start] = mention

    def _inside(self, span: Span, outer: VisibleNames) -> VisibleNames:
        scope = VisibleNames(outer=outer)
        self.index.scopes.append((span, scope))
        return scope

    def _fields(self, fields: tuple[Field, ...], scope: VisibleNames) -> None:
        tasks: list[_Task] = []
        for each in fields:
            if each.value is None:
                self._mention(each.key, each.key_span, scope, called=False, short=True)
                continue
            tasks.append((each.value, scope))
            if isinstance(each.value, Call):
                whole = each.key_span.to(each.value.span)
                self._define(scope, Definition(each.key, "key", each.key_span, whole, each.value))
        self.pending.extend(reversed(tasks))

    def _block(self, node: When | Each | Repeat | Try | Do, scope: VisibleNames) -> None:
        tasks: list[_Task] = []
        match node:
            case When(branches, otherwise):
                for branch in branches:
                    tasks += [(subject, scope) for subject in subjects(branch.condition)]
                    tasks += self._body(branch.body, VisibleNames(outer=scope))
                if otherwise is not None:
                    tasks += self._body(otherwise, VisibleNames(outer=scope))
            case Each(name, source, _, body, span):
                inner = VisibleNames(outer=scope)
                self._define(inner, Definition(name.text, "element", name.span, span, source, of_list=True))
                tasks += [(source, scope), *self._body(body, inner)]
            case Repeat():
                tasks += self._repeat(node, scope)
            case Try(body, otherwise):
                tasks += self._body(body, VisibleNames(outer=scope))
                last = VisibleNames(outer=scope)
                self._define(last, Definition("error", "round", body.span, body.span))
                tasks += self._body(otherwise, last)
            case Do(body):
                tasks += self._body(body, VisibleNames(outer=scope))
        self.pending.extend(reversed(tasks))

    def _repeat(self, node: Repeat, scope: VisibleNames) -> list[_Task]:
        inner = VisibleNames(outer=scope)
        if node.name is not None and node.source is not None:
            self._define(inner, Definition(node.name.text, "element", node.name.span, node.span, node.source, of_list=True))
        for word in ("round", "previous", "rounds"):
            self._define(inner, Definition(word, "round", node.body.span, node.span))
        self.index.rounds[node.body.span.start] = inner
        tasks: list[_Task] = [] if node.source is None else [(node.source, scope)]
        tasks += self._body(node.body, inner)
        if node.until is not None:
            self.index.scopes.append((Span(node.span.source, node.body.span.end, node.span.end), inner))
            tasks += [(subject, inner) for subject in subjects(node.until)]
        if node.otherwise is not None:
            last = VisibleNames(outer=scope)
            self._define(last, Definition("rounds", "round", node.body.span, node.span))
            tasks += self._body(node.otherwise, last)
        return tasks

    def _body(self, body: Body, scope: VisibleNames) -> list[_Task]:
        self.index.scopes.append((body.span, scope))
        return [*reversed(self._row(body.statements, scope)), (body.value, scope)]
