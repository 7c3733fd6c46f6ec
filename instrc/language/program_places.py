"""Find the place of a part of the JSON in `@ { … }`.

The surface keeps the value of an annotation but not the places in it; they are found again when a problem needs one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from instrc.language.lexer import Token, normal, string_value
from instrc.language.tables import tables
from instrc.text.jsonvalue import tokens as parts_of
from instrc.text.source import Span

ANNOTATION_DISTANCE: Final = 20_000
"""Maximum characters after an expression in which its annotations are looked for."""
_OPEN = {"LBRACE": "RBRACE", "LSQB": "RSQB"}
_CLOSE = frozenset(_OPEN.values())


def place_in(data: Span, pointer: str, *, key: bool = False) -> Span:
    """Return the place of a value in the object or array of a span, or of its key.

    If the pointer leads too far, return the innermost existing part.
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


def _tokens(data: Span) -> Iterator[Token]:
    """Yield the tokens in a span, without comments."""
    for kind, start, end in tables().tokens(data.source.text, data.start):
        if start >= data.end:
            return
        if kind != "COMMENT" and end <= data.end:
            yield Token(kind, start, end)


def _members(tokens: list[Token], start: int, data: Span) -> Iterator[tuple[str, tuple[Span, int, int]]]:
    """Yield the members of a container by key or index: the span of the key, and the first and last token of the value."""
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


def _key(token: Token, data: Span) -> str:
    if token.kind == "STRING":
        return string_value(data.source, token, [])
    return normal(data.source.text[token.start : token.end])


def _end(tokens: list[Token], index: int) -> int:
    """Return the last token of the value that starts at a token."""
    depth = 0
    for position in range(index, len(tokens)):
        kind = tokens[position].kind
        depth += (kind in _OPEN) - (kind in _CLOSE)
        if depth <= 0:
            return position
    return len(tokens) - 1


def place_of_value(named: Span, pointer: str) -> Span:
    """Return the place of a part of a literal: in the span itself, or after the name in it, `dates: ["x"]`.

    Return the name's span if the literal is elsewhere, or as a whole.
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
    return named if value.start == colon.end else value  # a literal of another name is not a container


def _end_of_next(tokens: Iterator[Token]) -> int | None:
    """Return the end offset of the value at the next tokens, or `None` if there are no more."""
    depth, end = 0, None
    for token in tokens:
        end = token.end
        depth += (token.kind in _OPEN) - (token.kind in _CLOSE)
        if depth <= 0:
            break
    return end


def annotations_behind(call: Span) -> tuple[Span, ...]:
    """Return the annotations after an expression, each from its `@`; enclosing brackets may close in between."""
    found: list[Span] = []
    rest = _tokens(Span(call.source, call.end, min(len(call.source.text), call.end + ANNOTATION_DISTANCE)))
    for token in rest:  # stop at the annotations, which are followed by the rest of the program
        if token.kind == "RPAR":
            continue
        if token.kind != "AT" or (end := _end_of_next(rest)) is None:
            break
        found.append(Span(call.source, token.start, end))
    return tuple(found)
