"""Find definitions in a form that the language no longer has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from instrc import problems
from instrc.language import surface
from instrc.text.source import Span

if TYPE_CHECKING:
    from instrc.problems.statements import WrongDefinition


def wrong_definitions(program: surface.Program) -> Iterator[WrongDefinition]:
    """Yield the definitions, also in blocks, that begin with anything but `const` or `tool`."""
    for row in surface.rows(program):
        for statement in row:
            if isinstance(statement, surface.Binding):
                yield from _wrong_definition(statement)


def _wrong_definition(binding: surface.Binding) -> Iterator[WrongDefinition]:
    source, name = binding.span.source, binding.name.span
    words = source.text[binding.span.start : name.start].split()
    if not words and source.text[: name.start].split()[-1:] in (["const"], ["tool"]):
        return  # a dot before the word has made it a member, which is the mistake
    if words[:1] not in (["const"], ["tool"]) or (words[-1] in {"const", "let"} and len(words) > 1):
        word = words[-1] if words else ""
        start = binding.span.start + source.text[binding.span.start : name.start].rfind(word) if word else name.start
        at = Span(source, start, start + len(word)) if word else name
        yield problems.statements.WrongDefinition(at=at, word=word, exported=len(words) > 1, before=name)
