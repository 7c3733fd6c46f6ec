"""Build surface nodes from what the parser recognizes: one method per rule of the grammar.

A method receives the values of its rule's symbols (a name is a `Name`, another word its `Token`)
and the start and end offsets of its text.
Mistakes inside single tokens (a bad escape, an unusable number) and duplicate keys are reported here.
"""

# ruff: noqa: ARG002, D102  -- every rule's method has one shape, and the grammar says what each is about

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, TypeAlias, cast

import msgspec
from msgspec.structs import replace

from instrc import problems
from instrc.language import surface
from instrc.language.lexer import Token, normal, number_value, string_value
from instrc.language.tables import Rule
from instrc.problems.problem import Problem
from instrc.text.jsonvalue import Json
from instrc.text.limits import PATH_MEMBERS
from instrc.text.source import Source, Span

Values: TypeAlias = list[Any]  # depends on the grammar rule, so it has no static type
"""Results of the symbols of a rule."""


class _Raw(msgspec.Struct, frozen=True, gc=False):
    """The content of an `@`."""

    value: str | dict[str, Json]
    start: int
    end: int


class ExpressionBuilder:
    """Builds the expressions of one source, and collects their problems."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.problems: list[Problem] = []

    def text(self, token: Token) -> str:
        """Return a word in NFC."""
        if token.value is not None:
            return token.value
        return normal(self.source.text[token.start : token.end])

    def string(self, token: Token) -> str:
        """Return the value of a string token."""
        return string_value(self.source, token, self.problems)

    def pipe(self, values: Values, start: int, end: int) -> surface.Pipe:
        return surface.Pipe((values[0], *values[1]), Span(self.source, start, end))

    def stages(self, values: Values, start: int, end: int) -> list[surface.Expression]:
        return _list(values)

    def annotated(self, values: Values, start: int, end: int) -> surface.Annotated:
        value, raw = values
        return surface.Annotated(value, raw.value, Span(self.source, raw.start, raw.end), Span(self.source, start, end))

    def annotation(self, values: Values, start: int, end: int) -> _Raw:
        value = values[1]
        return _Raw(self.string(value) if isinstance(value, Token) else self.as_json(value), start, end)

    def group(self, values: Values, start: int, end: int) -> surface.Expression:
        return cast("surface.Expression", values[1])

    def inline(self, values: Values, start: int, end: int) -> surface.Inline:
        return surface.Inline(self.as_json(values[1]), Span(self.source, start, end))

    def uri(self, values: Values, start: int, end: int) -> surface.Uri:
        return surface.Uri(self.source.text[start:end], Span(self.source, start, end))

    def literal(self, values: Values, start: int, end: int) -> surface.Literal:
        token = values[0]
        kind = token.kind
        value: str | float | bool | None
        if kind == "STRING":
            value = self.string(token)
        elif kind == "NUMBER":
            value = number_value(self.source, token, self.problems)
        else:
            value = None if kind == "NULL" else kind == "TRUE"
        return surface.Literal(value, Span(self.source, start, end))

    def access(self, values: Values, start: int, end: int) -> surface.Access:
        return surface.Access(values[0], (values[2],), Span(self.source, start, end))

    def deeper(self, values: Values, start: int, end: int) -> surface.Access:
        path: surface.Access = values[0]
        members = path.members if len(path.members) > PATH_MEMBERS else (*path.members, values[2])
        return surface.Access(path.base, members, Span(self.source, start, end))

    def member(self, values: Values, start: int, end: int) -> surface.Segment:
        return surface.Segment(self._key(values[0]), Span(self.source, start, end))

    def call(self, values: Values, start: int, end: int) -> surface.Call:
        if len(values) == 3:
            return surface.Call(values[0], (), Span(self.source, start, end))
        given = values[2]
        if type(given) is not list:
            return surface.Call(values[0], (_argument(given),), Span(self.source, start, end))
        arguments = tuple(map(_argument, given))
        if len(arguments) > 1:
            self._refuse_repeated([(arg.label, arg.label_span) for arg in arguments if arg.label is not None and arg.label_span])
        return surface.Call(values[0], arguments, Span(self.source, start, end))

    def arguments(self, values: Values, start: int, end: int) -> list[surface.Argument | surface.Expression]:
        listed: list[surface.Argument | surface.Expression] = values[0] if type(values[0]) is list else [values[0]]
        listed.append(values[2])
        return listed

    def argument(self, values: Values, start: int, end: int) -> surface.Argument:
        return surface.Argument(self._key(values[0]), self._place(values[0]), values[2])

    def object(self, values: Values, start: int, end: int) -> surface.Object:
        fields = tuple(values[1]) if len(values) > 2 else ()
        if len(fields) > 1:
            self._refuse_repeated([(field.key, field.key_span) for field in fields])
        return surface.Object(fields, Span(self.source, start, end))

    def fields(self, values: Values, start: int, end: int) -> list[surface.Field]:
        return _list(values)

    def field(self, values: Values, start: int, end: int) -> surface.Field:
        return surface.Field(self._key(values[0]), self._place(values[0]), values[2])

    def short_field(self, values: Values, start: int, end: int) -> surface.Field:
        return surface.Field(values[0].text, values[0].span, None)

    def array(self, values: Values, start: int, end: int) -> surface.Array:
        return surface.Array(tuple(values[1]) if len(values) > 2 else (), Span(self.source, start, end))

    def items(self, values: Values, start: int, end: int) -> list[surface.Expression]:
        return _list(values)

    def _key(self, word: surface.Name | Token) -> str:
        """Return the key that a name, a string or a keyword spells."""
        if isinstance(word, surface.Name):
            return word.text
        return self.string(word) if word.kind == "STRING" else self.text(word)

    def _place(self, word: surface.Name | Token) -> Span:
        return word.span if isinstance(word, surface.Name) else Span(self.source, word.start, word.end)

    def _refuse_repeated(self, keys: list[tuple[str, Span]]) -> None:
        if len({key for key, _ in keys}) == len(keys):
            return
        first: dict[str, Span] = {}
        for key, span in keys:
            if first.setdefault(key, span) is not span:
                self.problems.append(problems.punctuation.RepeatedKey(at=span, key=key, first=first[key]))

    def as_json(self, node: surface.Object) -> dict[str, Json]:
        """Return the JSON of an object after `@`; names and calls are not allowed there."""
        return {field.key: self._plain(field.content) for field in node.fields}

    def _plain(self, value: surface.Expression) -> Json:
        match value:
            case surface.Literal():
                return value.value
            case surface.Object():
                return self.as_json(value)
            case surface.Array():
                return list(map(self._plain, value.items))
        if value.span.start != value.span.end:  # otherwise it replaces a missing value, which has been reported
            self.problems.append(problems.punctuation.NotPlainData(at=value.span))
        return None


Action: TypeAlias = Callable[[Values, int, int], object]
_WRAPPED = frozenset({"argument", "arguments"})
"""Rules that return a single symbol as is: an argument without a label is built with its call, as most calls have only one."""
_BEFORE_STATEMENTS = r"\ufeff?(?:\s|//[^\r\n]*|/\*[^*]*\*+(?:[^/*][^*]*\*+)*/)*+"
"""Text allowed before the version of a program."""
LANGUAGE: Final = 1
"""Newest known version of the language."""


class Builder(ExpressionBuilder):
    """Builds the statements of one source, and collects their problems."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.statements: list[surface.Statement] = []
        self.version: surface.Literal | None = None
        self.comments: list[Span] = []
        self.hopeless = False
        """Whether repair has been abandoned."""

    def program(self) -> surface.Program:
        """Return the statements built so far."""
        return surface.Program(self.source, tuple(self.statements), tuple(self.comments), self.version)

    def actions(self, rules: list[Rule]) -> list[Action | None]:
        """Return the action of each rule; `None` passes on the value of its first symbol."""
        return [None if rule.length == 1 and rule.name in _WRAPPED else getattr(self, rule.name, None) for rule in rules]

    def given(self, token: Token) -> object:
        """Return the value of a token, possibly a repaired one."""
        return surface.Name(self.text(token), Span(self.source, token.start, token.end)) if token.kind == "NAME" else token

    def open(self, values: Values, start: int, end: int) -> None:
        """Add a statement."""
        self.statements.append(values[1])

    def closed(self, values: Values, start: int, end: int) -> None:
        """Skip a `;`."""

    def language(self, values: Values, start: int, end: int) -> None:
        """Store the declared language version."""
        self.version = self.literal([values[1]], values[1].start, values[1].end)
        version, at = self.version.value, Span(self.source, start, self.version.span.end)
        if not re.fullmatch(_BEFORE_STATEMENTS, self.source.text[:start]):
            self.problems.append(problems.statements.MisplacedLanguage(at=at))
        elif re.fullmatch(r"0\d+", self.version.span.text):
            pass  # reported with the number itself
        elif not isinstance(version, int) or version < 1:
            self.problems.append(problems.statements.MisplacedLanguage(at=at, first=True))
        elif version > LANGUAGE:
            self.problems.append(problems.statements.NewerLanguage(at=at, version=version, known=LANGUAGE))

    def binding(self, values: Values, start: int, end: int) -> surface.Binding:
        exported = len(values) > 3 and values[0].kind == "TOOL"
        return surface.Binding(values[-3], values[-1], exported, Span(self.source, start, end))

    def input(self, values: Values, start: int, end: int) -> surface.Input:
        return surface.Input(values[1], values[2].value if len(values) > 2 else None, Span(self.source, start, end))

    def anonymous(self, values: Values, start: int, end: int) -> surface.Anonymous:
        return surface.Anonymous(values[0], Span(self.source, start, end))

    def bound(self, values: Values, start: int, end: int) -> list[surface.Binding | surface.Anonymous]:
        statements: list[surface.Binding | surface.Anonymous] = values[0] or []
        statements.append(values[1])
        return statements

    def valued(self, values: Values, start: int, end: int) -> list[surface.Binding | surface.Anonymous]:
        statements: list[surface.Binding | surface.Anonymous] = values[0] or []
        statements.append(surface.Anonymous(values[1], values[1].span))
        return statements

    def block(self, values: Values, start: int, end: int) -> surface.Body:
        *statements, last = values[1]
        return surface.Body(tuple(statements), last.value, Span(self.source, start, end))

    def when(self, values: Values, start: int, end: int) -> surface.When:
        otherwise = values[4] if len(values) > 3 else None
        return surface.When((surface.Branch(values[1], values[2]),), otherwise, Span(self.source, start, end))

    def when_chain(self, values: Values, start: int, end: int) -> surface.When:
        following: surface.When = values[4]
        branch = surface.Branch(values[1], values[2])
        return surface.When((branch, *following.branches), following.otherwise, Span(self.source, start, end))

    def each(self, values: Values, start: int, end: int) -> surface.Each:
        selection = values[4] if len(values) > 5 else surface.Selection()
        return surface.Each(values[1], values[3], selection, values[-1], Span(self.source, start, end))

    def selection(self, values: Values, start: int, end: int) -> surface.Selection:
        chosen = values[-1] if isinstance(values[-1], surface.Selection) else surface.Selection()
        return chosen if values[0] is chosen else replace(chosen, condition=values[1])

    def amount(self, values: Values, start: int, end: int) -> surface.Selection:
        return surface.Selection(None, *((values[1], None) if values[0].kind == "MAX" else (None, values[1])))

    def each_until(self, values: Values, start: int, end: int) -> surface.Each:
        each: surface.Each = values[0]
        return replace(each, until=self._condition(values[2]), span=Span(self.source, start, end))

    def count(self, values: Values, start: int, end: int) -> surface.Literal:
        return self.literal(values, start, end)

    def do(self, values: Values, start: int, end: int) -> surface.Do:
        return surface.Do(values[1], Span(self.source, start, end))

    def attempt(self, values: Values, start: int, end: int) -> surface.Try:
        return surface.Try(values[1], values[3], Span(self.source, start, end))

    def race(self, values: Values, start: int, end: int) -> surface.Race:
        return surface.Race((values[1], values[3]), Span(self.source, start, end))

    def more_race(self, values: Values, start: int, end: int) -> surface.Race:
        return surface.Race((*values[0].branches, values[2]), Span(self.source, start, end))

    def rounds(self, values: Values, start: int, end: int) -> surface.Repeat:
        first = values[-1] if isinstance(values[-1], surface.Object) else None
        values = values if first is None else values[:-2]
        name, subject = (values[1], values[3]) if len(values) > 2 else (None, None)
        selection = values[4] if len(values) > 5 else surface.Selection()
        return surface.Repeat(name, subject, values[-1], None, None, None, None, Span(self.source, start, end), first, selection)

    def repeat(self, values: Values, start: int, end: int) -> surface.Repeat:
        rounds: surface.Repeat = values[0]
        tests, bounds = values[2] if isinstance(values[2], tuple) else (values[2], [])
        return surface.Repeat(
            rounds.name,
            rounds.source,
            rounds.body,
            self._condition(tests),
            self._number_after(bounds, "MAX"),
            self._number_after(bounds, "KEEP"),
            values[4] if len(values) > 3 else None,
            Span(self.source, start, end),
            rounds.first,
            rounds.selection,
        )

    def _number_after(self, values: Values, word: str) -> surface.Literal | None:
        """Return the number after a word."""
        for at, value in enumerate(values):
            if isinstance(value, Token) and value.kind == word:
                number = values[at + 1]
                return self.literal([number], number.start, number.end)
        return None

    def stop(self, values: Values, start: int, end: int) -> tuple[object, Values]:
        return values[0], values[1] if len(values) > 1 else []

    def bounds(self, values: Values, start: int, end: int) -> Values:
        return list(values)

    def condition(self, values: Values, start: int, end: int) -> surface.Condition:
        return self._condition(values[0])

    def _condition(self, tests: object) -> surface.Condition:
        pairs = tests if isinstance(tests, list) else [(False, tests)]
        listed: list[surface.Test] = [self._test(test) for _, test in pairs]
        joined = tuple(number for number, (together, _) in enumerate(pairs) if together)
        return surface.Condition(tuple(listed), Span(self.source, listed[0].span.start, listed[-1].span.end), joined)

    def _test(self, test: object) -> surface.Test:
        return surface.Truth(test, test.span) if isinstance(test, surface.Name | surface.Access) else cast("surface.Test", test)

    def either(self, values: Values, start: int, end: int) -> Values:
        """Return tests, each with whether `and` joins it to the previous one."""
        first, second = (each if isinstance(each, list) else [(False, each)] for each in (values[0], values[2]))
        return [*first, *second]

    def both(self, values: Values, start: int, end: int) -> Values:
        first = values[0] if isinstance(values[0], list) else [(False, values[0])]
        return [*first, (True, values[2])]

    def equals(self, values: Values, start: int, end: int) -> surface.Equals:
        return surface.Equals(values[0], values[2], Span(self.source, start, end))

    def differs(self, values: Values, start: int, end: int) -> surface.Equals:
        return surface.Equals(values[0], values[3], Span(self.source, start, end), negated=True)

    def compares(self, values: Values, start: int, end: int) -> surface.Compares:
        limit = values[2]
        if not isinstance(limit, surface.Name | surface.Access):
            limit = self.literal([limit], limit.start, limit.end)
        return surface.Compares(values[0], self.text(values[1]), limit, Span(self.source, start, end))

    def matches(self, values: Values, start: int, end: int) -> surface.Matches:
        written: surface.Object = values[2]
        return surface.Matches(values[0], self.as_json(written), written.span, Span(self.source, start, end))


def _list(values: Values) -> Values:
    """Start a list, or append to one; a leading `|` is skipped."""
    if len(values) < 3:
        return [values[-1]]
    begun: Values = values[0]
    begun.append(values[-1])
    return begun


def _argument(written: surface.Argument | surface.Expression) -> surface.Argument:
    return written if type(written) is surface.Argument else surface.Argument(None, None, written)  # type: ignore[arg-type]  # it is none
