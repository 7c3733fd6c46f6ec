"""Statements that stand at another place in a later text: the same trees, with all places in them moved."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias, TypeVar

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
    Field,
    Inline,
    Input,
    Literal,
    Matches,
    Name,
    Object,
    Pipe,
    Repeat,
    Segment,
    Statement,
    Truth,
    Try,
    Uri,
    When,
)
from instrc.limits.programs import MOVED_LEVELS
from instrc.problems.report import Report
from instrc.source import Source, Span
from instrc.syntax.parse import parse

T = TypeVar("T")
_Moves: TypeAlias = dict[type, Callable[[Any], Any]]  # each takes and returns nodes of its own class


def moved(statements: Iterable[Statement], source: Source, by: int) -> list[Statement]:
    """Return statements as a source has them, in which they stand `by` characters further on; what nests deep is read again."""
    move = _mover(source, by)
    return [move(each) if _is_shallow(each.span.text) else _read(each.span, source, by) for each in statements]


def _is_shallow(text: str) -> bool:
    """Tell whether a statement nests no deeper than Python calls may, by the signs that let it nest."""
    return text.count("(") + text.count("{") + text.count("[") + text.count("@") <= MOVED_LEVELS


def _read(span: Span, source: Source, by: int) -> Statement:
    """Read one statement where it stands now."""
    (statement,) = parse(source, Report(), span.start + by, span.end + by).statements
    return statement


def _mover(source: Source, by: int) -> Callable[[Statement], Statement]:
    """Return what moves a statement: it has many nodes, and each is built as its class has it."""

    def place(span: Span) -> Span:
        return Span(source, span.start + by, span.end + by)

    def row(nodes: tuple[T, ...]) -> tuple[T, ...]:
        return tuple([moves[type(node)](node) for node in nodes])

    def each(node: T) -> T:
        return node if node is None else moves[type(node)](node)

    moves: _Moves = {
        Name: lambda node: Name(node.text, place(node.span)),
        Uri: lambda node: Uri(node.text, place(node.span)),
        Literal: lambda node: Literal(node.value, place(node.span)),
        Inline: lambda node: Inline(node.schema, place(node.span)),
        Segment: lambda node: Segment(node.text, place(node.span)),
        Field: lambda node: Field(node.key, place(node.key_span), each(node.value)),
        Object: lambda node: Object(row(node.fields), place(node.span)),
        Array: lambda node: Array(row(node.items), place(node.span)),
        Argument: lambda node: Argument(node.label, node.label_span and place(node.label_span), each(node.value)),
        Call: lambda node: Call(each(node.callee), row(node.arguments), place(node.span)),
        Annotated: lambda node: Annotated(each(node.value), node.annotation, place(node.annotation_span), place(node.span)),
        Pipe: lambda node: Pipe(row(node.stages), place(node.span)),
        Access: lambda node: Access(each(node.base), row(node.members), place(node.span)),
        Truth: lambda node: Truth(each(node.subject), place(node.span)),
        Equals: lambda node: Equals(each(node.subject), each(node.value), place(node.span)),
        Matches: lambda node: Matches(each(node.subject), node.schema, place(node.schema_span), place(node.span)),
        Condition: lambda node: Condition(row(node.tests), place(node.span)),
        Body: lambda node: Body(row(node.statements), each(node.value), place(node.span)),
        Branch: lambda node: Branch(each(node.condition), each(node.body)),
        When: lambda node: When(row(node.branches), each(node.otherwise), place(node.span)),
        Each: lambda node: Each(each(node.name), each(node.source), each(node.most), each(node.body), place(node.span)),
        Repeat: lambda node: Repeat(
            each(node.name),
            each(node.source),
            each(node.body),
            each(node.until),
            each(node.most),
            each(node.keep),
            each(node.otherwise),
            place(node.span),
        ),
        Try: lambda node: Try(each(node.body), each(node.otherwise), place(node.span)),
        Do: lambda node: Do(each(node.body), place(node.span)),
        Binding: lambda node: Binding(each(node.name), each(node.value), node.exported, place(node.span)),
        Input: lambda node: Input(each(node.name), node.annotation, place(node.span)),
        Anonymous: lambda node: Anonymous(each(node.value), place(node.span)),
    }
    return each
