"""Find definitions in a form that the language no longer has."""

from __future__ import annotations

import re
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


_COMMENT = re.compile(r"//[^\r\n]*|/\*.*?\*/", re.DOTALL)


def _wrong_definition(binding: surface.Binding) -> Iterator[WrongDefinition]:
    source, name = binding.span.source, binding.name.span
    said = _COMMENT.sub(lambda found: " " * len(found[0]), source.text[binding.span.start : name.start])
    words = said.split()
    if not words and source.text[: name.start].rsplit(maxsplit=1)[-1:] in (["const"], ["tool"]):
        return  # a dot before the word has made it a member, which is the mistake
    if words[:1] not in (["const"], ["tool"]) or (words[-1] in {"const", "let"} and len(words) > 1):
        word = words[-1] if words else ""
        start = binding.span.start + said.rfind(word) if word else name.start
        at = Span(source, start, start + len(word)) if word else name
        yield problems.statements.WrongDefinition(at=at, word=word, exported=len(words) > 1, before=name)
