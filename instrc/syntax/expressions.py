"""Turn what the automaton recognises into expressions of the surface: values, paths, calls, brackets, pipes.

A method gets the values of its rule's symbols (a name is a `Name`, another word its `Token`)
and the offsets where its text starts and ends.
Mistakes inside single tokens (a bad escape, an unusable number) and doubled keys are found here.
"""

# ruff: noqa: ARG002, D102  -- every rule's method has one shape, and the grammar says what each is about
from __future__ import annotations

from typing import Any, TypeAlias, cast

import msgspec

from instrc.ir.surface import (
    Access,
    Annotated,
    Argument,
    Array,
    Call,
    Expression,
    Field,
    Inline,
    Literal,
    Name,
    Object,
    Pipe,
    Segment,
    Uri,
)
from instrc.jsonvalue import Json, JsonArray, JsonObject
from instrc.problems.problem import Problem
from instrc.source import Source, Span
from instrc.syntax.tokens import Token, normal, number_value, string_value

Values: TypeAlias = list[Any]  # the grammar says which, another for each rule: no type can follow it
"""What the symbols of a rule have become."""


class _Raw(msgspec.Struct, frozen=True, gc=False):
    """What an `@` adds."""

    value: str | dict[str, Json]
    start: int
    end: int


class ExpressionBuilder:
    """The expressions of one source, and the problems met in them."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.problems: list[Problem] = []

    def text(self, token: Token) -> str:
        """Return a word in its normal form."""
        if token.value is not None:
            return token.value
        return normal(self.source.text[token.start : token.end])

    def string(self, token: Token) -> str:
        """Return the value of a string token."""
        return string_value(self.source, token, self.problems)

    # ---- values and pipes

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
        return Access(values[0], (values[2],), Span(self.source, start, end))

    def deeper(self, values: Values, start: int, end: int) -> Access:
        path: Access = values[0]
        return Access(path.base, (*path.members, values[2]), Span(self.source, start, end))

    def member(self, values: Values, start: int, end: int) -> Segment:
        return Segment(self._key(values[0]), Span(self.source, start, end))

    # ---- calls

    def call(self, values: Values, start: int, end: int) -> Call:
        if len(values) == 3:
            return Call(values[0], (), Span(self.source, start, end))
        given = values[2]
        if type(given) is not list:
            return Call(values[0], (_argument(given),), Span(self.source, start, end))
        arguments = tuple(map(_argument, given))
        if len(arguments) > 1:
            self._refuse_repeated([(arg.label, arg.label_span) for arg in arguments if arg.label is not None and arg.label_span])
        return Call(values[0], arguments, Span(self.source, start, end))

    def arguments(self, values: Values, start: int, end: int) -> list[Argument | Expression]:
        listed: list[Argument | Expression] = values[0] if type(values[0]) is list else [values[0]]
        listed.append(values[2])
        return listed

    def argument(self, values: Values, start: int, end: int) -> Argument:
        return Argument(self._key(values[0]), self._place(values[0]), values[2])

    # ---- brackets

    def object(self, values: Values, start: int, end: int) -> Object:
        fields = tuple(values[1]) if len(values) > 2 else ()
        if len(fields) > 1:
            self._refuse_repeated([(field.key, field.key_span) for field in fields])
        return Object(fields, Span(self.source, start, end))

    def fields(self, values: Values, start: int, end: int) -> list[Field]:
        return _list(values)

    def field(self, values: Values, start: int, end: int) -> Field:
        return Field(self._key(values[0]), self._place(values[0]), values[2])

    def short_field(self, values: Values, start: int, end: int) -> Field:
        return Field(values[0].text, values[0].span, None)

    def array(self, values: Values, start: int, end: int) -> Array:
        return Array(tuple(values[1]) if len(values) > 2 else (), Span(self.source, start, end))

    def items(self, values: Values, start: int, end: int) -> list[Expression]:
        return _list(values)

    def _key(self, word: Name | Token) -> str:
        """Return what a name, a string or a word of the language says as a key."""
        if isinstance(word, Name):
            return word.text
        return self.string(word) if word.kind == "STRING" else self.text(word)

    def _place(self, word: Name | Token) -> Span:
        return word.span if isinstance(word, Name) else Span(self.source, word.start, word.end)

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
        pending: list[tuple[Object | Array, JsonObject | JsonArray]] = [(node, whole)]
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
                if isinstance(target, dict):
                    target[key] = plain
                else:
                    target.append(plain)
        return whole

    def _refuse_code(self, span: Span) -> None:
        if span.start == span.end:  # it stands for a value that is missing, which has been told
            return
        from instrc.problems.notation import NotPlainData  # as above

        self.problems.append(NotPlainData(at=span))


def _argument(written: Argument | Expression) -> Argument:
    return written if type(written) is Argument else Argument(None, None, written)  # type: ignore[arg-type]  # it is none


def _list(values: Values) -> Values:
    """Begin a list, or add the last value to one that has begun; a leading `|` is passed over."""
    if len(values) < 3:
        return [values[-1]]
    begun: Values = values[0]
    begun.append(values[-1])
    return begun
