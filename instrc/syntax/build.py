"""Turn what the automaton recognises into the nodes of the surface: one method a rule of the grammar.

Here are statements, blocks and conditions; `instrc.syntax.expressions` has what they hold.
"""

# ruff: noqa: ARG002, D102  -- every rule's method has one shape, and the grammar says what each is about
from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, cast

from instrc.ir.surface import (
    Access,
    Anonymous,
    Binding,
    Body,
    Branch,
    Condition,
    Do,
    Each,
    Equals,
    Input,
    Literal,
    Matches,
    Name,
    Object,
    Program,
    Repeat,
    Statement,
    Test,
    Truth,
    Try,
    When,
)
from instrc.source import Source, Span
from instrc.syntax.expressions import ExpressionBuilder, Values
from instrc.syntax.tables import Rule
from instrc.syntax.tokens import Token, normal

Action: TypeAlias = Callable[[Values, int, int], object]
_WRAPPED = frozenset({"argument", "arguments"})
"""Rules that hand a single symbol on: an argument without a label is made with its call, as most calls have just one."""


class Builder(ExpressionBuilder):
    """The statements of one source, as far as they have been recognised, and the problems met in them."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.statements: list[Statement] = []
        self.comments: list[Span] = []
        self.hopeless = False
        """Whether mending has been given up."""
        self.word: Callable[[str, int, int], object] = Token
        """What stands for a word of this kind and range in the values of a rule."""
        self.named: Callable[[str, int, int], object] = lambda written, start, end: Name(
            written if written.isascii() else normal(written), Span(source, start, end)
        )
        """What stands for a name that is written like this, in this range; a method of this object would keep it alive."""
        self.signs = False
        """Whether signs stand there like words; the surface has no use for signs."""

    def program(self) -> Program:
        """Return what has been built."""
        return Program(self.source, tuple(self.statements), tuple(self.comments))

    def actions(self, rules: list[Rule]) -> list[Action | None]:
        """Return what to do for each rule; `None` hands the value of its first symbol on."""
        return [None if rule.length == 1 and rule.name in _WRAPPED else getattr(self, rule.name, None) for rule in rules]

    def given(self, token: Token) -> object:
        """Return what stands for a token that may have been repaired."""
        return Name(self.text(token), Span(self.source, token.start, token.end)) if token.kind == "NAME" else token

    # ---- statements

    def open(self, values: Values, start: int, end: int) -> None:
        """Keep a statement."""
        self.statements.append(values[1])

    def closed(self, values: Values, start: int, end: int) -> None:
        """Pass over a `;`."""

    def binding(self, values: Values, start: int, end: int) -> Binding:
        exported = len(values) > 3 and values[0].kind == "TOOL"
        return Binding(values[-3], values[-1], exported, Span(self.source, start, end))

    def input(self, values: Values, start: int, end: int) -> Input:
        return Input(values[1], values[2].value if len(values) > 2 else None, Span(self.source, start, end))

    def anonymous(self, values: Values, start: int, end: int) -> Anonymous:
        return Anonymous(values[0], Span(self.source, start, end))

    # ---- blocks

    def bound(self, values: Values, start: int, end: int) -> list[Binding | Anonymous]:
        statements: list[Binding | Anonymous] = values[0] or []
        statements.append(values[1])
        return statements

    def valued(self, values: Values, start: int, end: int) -> list[Binding | Anonymous]:
        statements: list[Binding | Anonymous] = values[0] or []
        statements.append(Anonymous(values[1], values[1].span))
        return statements

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
        return Each(values[1], values[3], self._number_after(values, "MAX"), values[-1], Span(self.source, start, end))

    def count(self, values: Values, start: int, end: int) -> Literal:
        return self.literal(values, start, end)

    def do(self, values: Values, start: int, end: int) -> Do:
        return Do(values[1], Span(self.source, start, end))

    def attempt(self, values: Values, start: int, end: int) -> Try:
        return Try(values[1], values[3], Span(self.source, start, end))

    def rounds(self, values: Values, start: int, end: int) -> Repeat:
        name, subject = (values[1], values[3]) if len(values) > 2 else (None, None)
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

    def _number_after(self, values: Values, word: str) -> Literal | None:
        """Return the number after a word."""
        for at, value in enumerate(values):
            if isinstance(value, Token) and value.kind == word:
                number = values[at + 1]
                return self.literal([number], number.start, number.end)
        return None

    # ---- conditions

    def stop(self, values: Values, start: int, end: int) -> tuple[object, Values]:
        return values[0], values[1] if len(values) > 1 else []

    def bounds(self, values: Values, start: int, end: int) -> Values:
        return list(values)

    def condition(self, values: Values, start: int, end: int) -> Condition:
        return self._condition(values[0])

    def _condition(self, tests: object) -> Condition:
        listed: list[Test] = [self._test(test) for test in (tests if isinstance(tests, list) else [tests])]
        return Condition(tuple(listed), Span(self.source, listed[0].span.start, listed[-1].span.end))

    def _test(self, test: object) -> Test:
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
