"""Find template placeholders in the texts of a program or a vibe; walk through all nodes of a program."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from operator import attrgetter

import msgspec

from instrc import problems
from instrc.language.program_places import place_in
from instrc.language.surface import Annotated, Binding, Each, Inline, Input, Literal, Name, Program, Repeat
from instrc.problems.problem import Problem
from instrc.schema.walk import walk
from instrc.text.jsonvalue import Json, pointer
from instrc.text.source import Span
from instrc.vibes.vibe import Vibe

_PATH = r"\s*[^\W\d]\w*(?:\.\w+)*\s*"
_MARKED = rf"\{{?\{{\{{{_PATH}\}}\}}\}}?|\$\{{{_PATH}\}}|<%=?{_PATH}%>"
_BRACED = rf"(?<![{{$\\\w])\{{({_PATH})\}}(?!\}})"


def placeholders(written: list[object]) -> Iterator[Problem]:
    """Yield each `{{name}}`, `${name}` and `<%= name %>` in the texts of a program, and each `{name}` that names a value."""
    known = set(_values(written))
    for text, at in _texts(written):
        if "{" not in text and "<%" not in text:
            continue
        found = [match.group() for match in re.finditer(_MARKED, text)]
        found += [match.group() for match in re.finditer(_BRACED, text) if match[1].strip().partition(".")[0] in known]
        for word in dict.fromkeys(found):
            yield problems.text.Placeholder(at=_place(word, at), word=word)


def _values(written: list[object]) -> Iterator[str]:
    """Yield the names of the values of a program."""
    yield "prompt"
    for node in written:
        match node:
            case Binding(name=Name(text)) | Input(name=Name(text)) | Each(name=Name(text)) | Repeat(name=Name(text)):
                yield text
            case _:
                pass


def _texts(written: list[object]) -> Iterator[tuple[str, Span]]:
    for node in written:
        match node:
            case Literal(str() as text, at) | Annotated(annotation=str() as text, annotation_span=at):
                yield text, at
            case Input(annotation=str() as text, span=at):
                yield text, at
            case Annotated(annotation=dict() as schema, annotation_span=at) | Input(annotation=dict() as schema, span=at):
                yield from _descriptions(schema, at)
            case Inline(schema, at):
                yield from _descriptions(schema, at)
            case _:
                pass


_TEXTS = ("title", "description")
"""Keywords that hold texts for a model."""


def _descriptions(schema: Json, at: Span) -> Iterator[tuple[str, Span]]:
    for path, part in walk(schema):
        for keyword in _TEXTS:
            text = part.get(keyword) if isinstance(part, dict) else None
            if isinstance(text, str) and ("{" in text or "<%" in text):
                yield text, place_in(at, pointer((*path, keyword)))


def _place(word: str, at: Span) -> Span:
    """Return the place of a word in a string, or that of the whole string if it has escapes."""
    start = at.source.text.find(word, at.start, at.end)
    return at if start < 0 else at.source.span(start, start + len(word))


def program_nodes(program: Program) -> Iterator[object]:
    """Yield each node of a program in source order; names, places and annotations do not count as nodes."""
    stack: list[object] = [program.statements]
    while stack:
        node = stack.pop()
        kind = node.__class__
        if kind is tuple:
            stack += node[::-1]  # type: ignore[index]  # of nodes
        elif (parts := _parts(kind)) is not None:  # type: ignore[arg-type]  # classes can be hashed
            yield node
            stack += parts(node)


@cache
def _parts(kind: type) -> Callable[[object], tuple[object, ...]] | None:
    """Return a function that returns the parts of a node, last first, or `None` for a value that is not a node."""
    if not issubclass(kind, msgspec.Struct):
        return None
    fields = kind.__struct_fields__
    names = [each for each in reversed(fields) if not (each.endswith("span") or each in {"annotation", "schema"})]
    return attrgetter(*names) if len(names) > 1 else lambda node: tuple(getattr(node, name) for name in names)


_QUOTES = "`'\"\u201c\u201d\u00ab\u00bb"


def placeholders_in_vibe(vibe: Vibe) -> Iterator[Problem]:
    """Yield each `{{name}}`, `${name}` and `<%= name %>` in the texts of a vibe, except those in quotes."""
    if not re.search(r"\{\{|\$\{|<%", vibe.source.text):
        return
    for path, part in walk(vibe.schema):
        for keyword in _TEXTS:
            text = part.get(keyword) if isinstance(part, dict) else None
            if not isinstance(text, str):
                continue
            found = [match.group() for match in re.finditer(_MARKED, text) if not _is_quoted(match)]
            for word in dict.fromkeys(found):
                yield problems.text.Placeholder(at=_place(word, vibe.span(pointer((*path, keyword)))), word=word, in_vibe=True)


def _is_quoted(match: re.Match[str]) -> bool:
    text, before, after = match.string, match.start() - 1, match.end()
    return before >= 0 and text[before] in _QUOTES and text[after : after + 1] in _QUOTES and after < len(text)
