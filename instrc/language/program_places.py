"""Places in a program: find that of a part of plain data in `@ { … }`, and move those of statements that stand elsewhere now.

The surface keeps the value of an annotation but not the places in it; they are read again where a problem needs one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, TypeAlias, TypeVar

from instrc.language.lexer import Token, normal, string_value
from instrc.language.parser import parse
from instrc.language.surface import (
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
from instrc.language.tables import END, tables
from instrc.problems.report import Report
from instrc.text.jsonvalue import tokens as parts_of
from instrc.text.source import Source, Span

ANNOTATION_DISTANCE: Final = 20_000
"""Characters behind an expression in which its annotations are looked for."""
MOVED_LEVELS: Final = 100
"""Brackets and `@` of a statement that is moved to its place in a later text; one with more is read again there."""


_OPEN = {"LBRACE": "RBRACE", "LSQB": "RSQB"}
_CLOSE = frozenset(_OPEN.values())


def place_in(data: Span, pointer: str, *, key: bool = False) -> Span:
    """Return the place of a value in the object or array that a span holds, or of its key.

    Where the pointer leads further than what is written, it is the innermost part on the way that exists.
    """
    tokens = list(_tokens(data))
    start = next((index for index, token in enumerate(tokens) if token.kind in _OPEN), None)
    if start is None:
        return data
    found, named = Span(data.source, tokens[start].start, data.end), data
    for step in parts_of(pointer):
        members = dict(_members(tokens, start, data))
        member = members.get(step)
        if member is None:
            return found
        named, first, last = member
        found = Span(data.source, tokens[first].start, tokens[last].end)
        start = first
        if tokens[first].kind not in _OPEN:
            break
    return named if key else found


def place_of_value(named: Span, pointer: str) -> Span:
    """Return the place of a part of a literal: of the span itself, or behind the name in it, `dates: ["x"]`.

    It is the name where the literal stands elsewhere, or is meant as a whole.
    """
    if not pointer:
        return named
    if named.text[:1] in ("[", "{"):
        return place_in(named, pointer)
    source = named.source
    rest = _tokens(Span(source, named.end, min(len(source.text), named.end + ANNOTATION_DISTANCE)))
    colon = next(rest, None)
    if colon is None or colon.kind != "COLON" or (end := _end_of_next(rest)) is None:
        return named
    value = place_in(Span(source, colon.end, end), pointer)
    return named if value.start == colon.end else value  # a literal of another name is no container


def annotations_behind(call: Span) -> tuple[Span, ...]:
    """Return the annotations behind an expression, each from its `@` on; brackets around it may close in between."""
    found: list[Span] = []
    rest = _tokens(Span(call.source, call.end, min(len(call.source.text), call.end + ANNOTATION_DISTANCE)))
    for token in rest:  # read no further than the annotations: behind them stands all the rest of the program
        if token.kind == "RPAR":
            continue
        if token.kind != "AT" or (end := _end_of_next(rest)) is None:
            break
        found.append(Span(call.source, token.start, end))
    return tuple(found)


def _end_of_next(tokens: Iterator[Token]) -> int | None:
    """Return where the value ends that the next tokens are; `None` if there are no more."""
    depth, end = 0, None
    for token in tokens:
        end = token.end
        depth += (token.kind in _OPEN) - (token.kind in _CLOSE)
        if depth <= 0:
            break
    return end


def _tokens(data: Span) -> Iterator[Token]:
    """Yield the tokens that lie in a span without its comments."""
    for kind, start, end in tables().tokens(data.source.text, data.start):
        if kind == END or start >= data.end:
            return
        if kind != "COMMENT" and end <= data.end:
            yield Token(kind, start, end)


def _members(tokens: list[Token], start: int, data: Span) -> Iterator[tuple[str, tuple[Span, int, int]]]:
    """Yield the members of a container by key or index: the place of the key, and the first and last token of the value."""
    is_object = tokens[start].kind == "LBRACE"
    index, count = start + 1, 0
    while index < len(tokens) and tokens[index].kind not in _CLOSE:
        name, named = str(count), tokens[index]
        if is_object:
            name = _key(named, data)
            index += 2  # the key and its colon
        last = _end(tokens, index)
        if last < index:
            return
        place = Span(data.source, named.start, named.end)
        yield name, (place, index, last)
        count += 1
        index = last + 1
        if index < len(tokens) and tokens[index].kind == "COMMA":
            index += 1


def _end(tokens: list[Token], index: int) -> int:
    """Return the last token of the value that begins with a token."""
    depth = 0
    for position in range(index, len(tokens)):
        kind = tokens[position].kind
        depth += (kind in _OPEN) - (kind in _CLOSE)
        if depth <= 0:
            return position
    return len(tokens) - 1


def _key(token: Token, data: Span) -> str:
    if token.kind == "STRING":
        return string_value(data.source, token, [])
    return normal(data.source.text[token.start : token.end])


T = TypeVar("T")
_Moves: TypeAlias = dict[type, Callable[[Any], Any]]  # each takes and returns nodes of its own class


def moved(statements: Iterable[Statement], source: Source, by: int) -> list[Statement]:
    """Return statements as a source has them, in which they stand `by` characters further on; what nests deep is read again."""
    move = _mover(source, by)
    return [move(each) if _is_shallow(each.span.text) else _read_again(each.span, source, by) for each in statements]


def _is_shallow(text: str) -> bool:
    """Tell whether a statement nests no deeper than Python calls may, by the signs that let it nest."""
    return text.count("(") + text.count("{") + text.count("[") + text.count("@") <= MOVED_LEVELS


def _read_again(span: Span, source: Source, by: int) -> Statement:
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
