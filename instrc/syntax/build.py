"""Turn what the automaton recognises into the nodes of the surface: one method a rule of the grammar.

A method gets the values of its rule's symbols (tokens are `Token`s) and the offsets where its text starts and ends.
Mistakes inside single tokens (a bad escape, an unusable number) and doubled keys are found here.
"""

# ruff: noqa: ARG002, D102  -- every rule's method has one shape, and the grammar says what each is about
from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias, cast

from instrc.ir.surface import (
    Access,
    Annotated,
    Anonymous,
    Argument,
    Array,
    Binding,
    Body,
    Branch,
    Call,
    Condition,
    Do,
    Each,
    Equals,
    Expression,
    Field,
    Inline,
    Input,
    Literal,
    Matches,
    Name,
    Object,
    Pipe,
    Program,
    Repeat,
    Segment,
    Statement,
    Test,
    Truth,
    Try,
    Uri,
    When,
)
from instrc.jsonvalue import Json
from instrc.problems.problem import Problem
from instrc.source import Source, Span
from instrc.syntax.tables import Rule
from instrc.syntax.tokens import Token, normal, number_value, string_value

Values: TypeAlias = list[Any]
Action: TypeAlias = Callable[[Values, int, int], Any]


class _Raw(NamedTuple):
    """What an `@` adds."""

    value: str | dict[str, Json]
    start: int
    end: int


class Builder:
    """The statements of one source, as far as they have been recognised, and the problems met in them."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.statements: list[Statement] = []
        self.comments: list[Span] = []
        self.problems: list[Problem] = []
        self.hopeless = False
        """Whether mending has been given up."""

    def program(self) -> Program:
        """Return what has been built."""
        return Program(self.source, tuple(self.statements), tuple(self.comments))

    def actions(self, rules: list[Rule]) -> list[Action | None]:
        """Return what to do for each rule; `None` hands the value of its single symbol on."""
        return [getattr(self, rule.name, None) for rule in rules]

    def text(self, token: Token) -> str:
        """Return a word in its normal form."""
        if token.value is not None:
            return token.value
        return normal(self.source.text[token.start : token.end])

    # ---- statements

    def open(self, values: Values, start: int, end: int) -> None:
        """Take a statement down."""
        self.statements.append(values[1])

    def closed(self, values: Values, start: int, end: int) -> None:
        """Pass over a `;`."""

    def binding(self, values: Values, start: int, end: int) -> Binding:
        token = values[-3]
        name = Name(self.text(token), Span(self.source, token.start, token.end))
        return Binding(name, values[-1], values[0].kind == "TOOL", Span(self.source, start, end))

    def input(self, values: Values, start: int, end: int) -> Input:
        token = values[1]
        name = Name(self.text(token), Span(self.source, token.start, token.end))
        return Input(name, values[2].value if len(values) > 2 else None, Span(self.source, start, end))

    def anonymous(self, values: Values, start: int, end: int) -> Anonymous:
        return Anonymous(values[0], Span(self.source, start, end))

    # ---- expressions

    def pipe(self, values: Values, start: int, end: int) -> Pipe:
        return Pipe((values[0], *values[1]), Span(self.source, start, end))

    def stages(self, values: Values, start: int, end: int) -> list[Expression]:
        return _list(values)

    def annotated(self, values: Values, start: int, end: int) -> Annotated:
        value, raw = values
        return Annotated(value, raw.value, Span(self.source, raw.start, raw.end), Span(self.source, start, end))

    def annotation(self, values: Values, start: int, end: int) -> _Raw:
        value = values[1]
        return _Raw(self.string(value) if isinstance(value, Token) else self.as_json(value), start, end)

    def group(self, values: Values, start: int, end: int) -> Expression:
        return cast("Expression", values[1])

    def inline(self, values: Values, start: int, end: int) -> Inline:
        return Inline(self.as_json(values[1]), Span(self.source, start, end))

    def name(self, values: Values, start: int, end: int) -> Name:
        return Name(self.text(values[0]), Span(self.source, start, end))

    def uri(self, values: Values, start: int, end: int) -> Uri:
        return Uri(self.source.text[start:end], Span(self.source, start, end))

    def literal(self, values: Values, start: int, end: int) -> Literal:
        token = values[0]
        kind = token.kind
        value: str | float | bool | None
        if kind == "STRING":
            value = self.string(token)
        elif kind == "NUMBER":
            value = number_value(self.source, token, self.problems)
        else:
            value = None if kind == "NULL" else kind == "TRUE"
        return Literal(value, Span(self.source, start, end))

    # ---- paths

    def access(self, values: Values, start: int, end: int) -> Access:
        base, member = values[0], values[2]
        if isinstance(base, Token):
            base = Name(self.text(base), Span(self.source, base.start, base.end))
        return Access(base, (member,), Span(self.source, start, end))

    def deeper(self, values: Values, start: int, end: int) -> Access:
        path: Access = values[0]
        return Access(path.base, (*path.members, values[2]), Span(self.source, start, end))

    def member(self, values: Values, start: int, end: int) -> Segment:
        token = values[0]
        text = self.string(token) if token.kind == "STRING" else self.text(token)
        return Segment(text, Span(self.source, start, end))

    # ---- blocks

    def shut(self, values: Values, start: int, end: int) -> list[Binding | Anonymous]:
        return cast("list[Binding | Anonymous]", values[0])

    def bound(self, values: Values, start: int, end: int) -> list[Binding | Anonymous]:
        statements: list[Binding | Anonymous] = values[0] or []
        statements.append(values[1])
        return statements

    def valued(self, values: Values, start: int, end: int) -> list[Binding | Anonymous]:
        statements: list[Binding | Anonymous] = values[0] or []
        statements.append(Anonymous(values[1], values[1].span))
        return statements

    def sealed(self, values: Values, start: int, end: int) -> list[Binding | Anonymous]:
        return cast("list[Binding | Anonymous]", values[0])

    def block(self, values: Values, start: int, end: int) -> Body:
        *statements, last = values[1]
        return Body(tuple(statements), last.value, Span(self.source, start, end))

    def when(self, values: Values, start: int, end: int) -> When:
        otherwise = values[4] if len(values) > 3 else None
        return When((Branch(values[1], values[2]),), otherwise, Span(self.source, start, end))

    def when_chain(self, values: Values, start: int, end: int) -> When:
        following: When = values[4]
        branch = Branch(values[1], values[2])
        return When((branch, *following.branches), following.otherwise, Span(self.source, start, end))

    def each(self, values: Values, start: int, end: int) -> Each:
        return Each(
            self._name(values[1]), values[3], self._number_after(values, "MAX"), values[-1], Span(self.source, start, end)
        )

    def count(self, values: Values, start: int, end: int) -> Literal:
        return self.literal(values, start, end)

    def do(self, values: Values, start: int, end: int) -> Do:
        return Do(values[1], Span(self.source, start, end))

    def attempt(self, values: Values, start: int, end: int) -> Try:
        return Try(values[1], values[3], Span(self.source, start, end))

    def rounds(self, values: Values, start: int, end: int) -> Repeat:
        name, subject = (self._name(values[1]), values[3]) if len(values) > 2 else (None, None)
        return Repeat(name, subject, values[-1], None, None, None, None, Span(self.source, start, end))

    def repeat(self, values: Values, start: int, end: int) -> Repeat:
        rounds: Repeat = values[0]
        tests, bounds = values[2] if isinstance(values[2], tuple) else (values[2], [])
        return Repeat(
            rounds.name,
            rounds.source,
            rounds.body,
            self._condition(tests),
            self._number_after(bounds, "MAX"),
            self._number_after(bounds, "KEEP"),
            values[4] if len(values) > 3 else None,
            Span(self.source, start, end),
        )

    def _name(self, token: Token) -> Name:
        return Name(self.text(token), Span(self.source, token.start, token.end))

    def _number_after(self, values: Values, word: str) -> Literal | None:
        """Return the number after a word."""
        for at, value in enumerate(values):
            if isinstance(value, Token) and value.kind == word:
                number = values[at + 1]
                return self.literal([number], number.start, number.end)
        return None

    # ---- conditions

    def stop(self, values: Values, start: int, end: int) -> tuple[Any, Values]:
        return values[0], values[1] if len(values) > 1 else []

    def bounds(self, values: Values, start: int, end: int) -> Values:
        return list(values)

    def condition(self, values: Values, start: int, end: int) -> Condition:
        return self._condition(values[0])

    def _condition(self, tests: Any) -> Condition:
        listed: list[Test] = [self._test(test) for test in (tests if isinstance(tests, list) else [tests])]
        return Condition(tuple(listed), Span(self.source, listed[0].span.start, listed[-1].span.end))

    def _test(self, test: Any) -> Test:
        return Truth(test, test.span) if isinstance(test, Name | Access) else cast("Test", test)

    def either(self, values: Values, start: int, end: int) -> Values:
        first = values[0] if isinstance(values[0], list) else [values[0]]
        first.append(values[2])
        return first

    def equals(self, values: Values, start: int, end: int) -> Equals:
        return Equals(values[0], values[2], Span(self.source, start, end))

    def matches(self, values: Values, start: int, end: int) -> Matches:
        written: Object = values[2]
        return Matches(values[0], self.as_json(written), written.span, Span(self.source, start, end))

    def string(self, token: Token) -> str:
        """Return the value of a string token."""
        return string_value(self.source, token, self.problems)

    # ---- calls

    def call(self, values: Values, start: int, end: int) -> Call:
        arguments = tuple(values[2]) if len(values) > 3 else ()
        if len(arguments) > 1:
            self._refuse_repeated([(arg.label, arg.label_span) for arg in arguments if arg.label is not None and arg.label_span])
        return Call(values[0], arguments, Span(self.source, start, end))

    def arguments(self, values: Values, start: int, end: int) -> list[Argument]:
        return _list(values)

    def argument(self, values: Values, start: int, end: int) -> Argument:
        if len(values) == 1:
            return Argument(None, None, values[0])
        token = values[0]
        return Argument(self.text(token), Span(self.source, token.start, token.end), values[2])

    # ---- brackets

    def object(self, values: Values, start: int, end: int) -> Object:
        fields = tuple(values[1]) if len(values) > 2 else ()
        if len(fields) > 1:
            self._refuse_repeated([(field.key, field.key_span) for field in fields])
        return Object(fields, Span(self.source, start, end))

    def fields(self, values: Values, start: int, end: int) -> list[Field]:
        return _list(values)

    def field(self, values: Values, start: int, end: int) -> Field:
        token = values[0]
        key = self.string(token) if token.kind == "STRING" else self.text(token)
        return Field(key, Span(self.source, token.start, token.end), values[2])

    def short_field(self, values: Values, start: int, end: int) -> Field:
        return Field(self.text(values[0]), Span(self.source, start, end), None)

    def array(self, values: Values, start: int, end: int) -> Array:
        return Array(tuple(values[1]) if len(values) > 2 else (), Span(self.source, start, end))

    def items(self, values: Values, start: int, end: int) -> list[Expression]:
        return _list(values)

    def _refuse_repeated(self, keys: list[tuple[str, Span]]) -> None:
        if len({key for key, _ in keys}) == len(keys):
            return
        from instrc.problems.notation import RepeatedKey  # problems are imported where there is one

        first: dict[str, Span] = {}
        for key, span in keys:
            if first.setdefault(key, span) is not span:
                self.problems.append(RepeatedKey(at=span, key=key, first=first[key]))

    # ---- plain data

    def as_json(self, node: Object) -> dict[str, Json]:
        """Return the JSON of an object after `@`; names and calls have no meaning there."""
        whole: dict[str, Json] = {}
        pending: list[tuple[Object | Array, Any]] = [(node, whole)]
        for container, target in pending:  # grows while it is walked
            members: list[tuple[str, Span, Expression | None]]
            if isinstance(container, Object):
                members = [(field.key, field.key_span, field.value) for field in container.fields]
            else:
                members = [("", item.span, item) for item in container.items]
            for key, span, value in members:
                plain: Json = None
                match value:
                    case Literal():
                        plain = value.value
                    case Object():
                        plain = {}
                        pending.append((value, plain))
                    case Array():
                        plain = []
                        pending.append((value, plain))
                    case None:
                        self._refuse_code(span)
                    case _:
                        self._refuse_code(value.span)
                if isinstance(container, Object):
                    target[key] = plain
                else:
                    target.append(plain)
        return whole

    def _refuse_code(self, span: Span) -> None:
        from instrc.problems.notation import NotPlainData  # as above

        self.problems.append(NotPlainData(at=span))


def _list(values: Values) -> list[Any]:
    """Begin a list, or add the last value to one that has begun; a leading `|` is passed over."""
    first = values[0]
    if isinstance(first, list):
        first.append(values[-1])
        return first
    return [values[-1]]
