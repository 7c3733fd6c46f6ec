"""Exports that were checked and found right, so that a text that is checked after each edit is bound only where it has changed.

An export is made of statements: its own, those whose names stand in it, those whose names stand in these, and the inputs.
As long as the vibes are the same, the texts of these statements decide all that can be told of it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable
from typing import TypeAlias

from msgspec import Struct

from instrc.ir.surface import Binding, Statement
from instrc.passes.bind.scopes import ProgramNames
from instrc.problems.problem import Problem
from instrc.source import Span
from instrc.syntax.lexer import normal

_Slice: TypeAlias = tuple[str, ...]
"""What decides all that is told of an export: the texts of its statements in their order, after what all exports depend on."""
_ASCII_WORDS = r"(?a)[A-Za-z_]\w*"  # patterns are compiled when they are needed
_WORDS = r"[^\s!-/:-@\[-^`{-~]+"
"""Every name in a text and more: other words, and beyond ASCII signs that no name has."""


class BoundExport(Struct, frozen=True):
    """What the rest of a program has to know of an export that was bound."""

    read: frozenset[str]
    """Local names and inputs of the program that were looked up for it."""
    steps: int


class SettledExports:
    """The exports of one program about which nothing was told, from one check to the next."""

    def __init__(self) -> None:
        self._settled: dict[_Slice, BoundExport] = {}
        self._words: dict[str, frozenset[str]] = {}
        """What may be a name in a statement, by its text."""
        self._slices: ExportSlices | None = None

    def slices(self, names: ProgramNames) -> ExportSlices:
        """Return the exports of a program as it is now, which is about to be bound."""
        self._slices = ExportSlices(names, self._settled, self._words)
        return self._slices

    def settle(self, told: Iterable[Problem]) -> None:
        """Keep the exports about which nothing was told by any stage; what the program no longer has is forgotten."""
        if self._slices is not None:
            self._settled, self._words = self._slices.settled(told), self._slices.words
            self._slices = None


class ExportSlices:
    """The exports of a program as it is now: the statements that each is made of, and what is known of it."""

    def __init__(self, names: ProgramNames, known: dict[_Slice, BoundExport], words: dict[str, frozenset[str]]) -> None:
        self._names = names
        self._known = known
        self._known_words = words
        self.words: dict[str, frozenset[str]] = {}
        """What may be a name in the statements that exports need, by their texts."""
        self._around = (*(each.span.text for each in names.declared), *sorted(names.survey.refused))
        """What all exports depend on."""
        self._needed: dict[int, list[Binding]] = {}
        """The statements whose names stand in a statement, by its place."""
        self._found: dict[_Slice, BoundExport] = {}
        self._bound: list[tuple[_Slice, list[Span], BoundExport]] = []

    def find(self, export: Statement) -> BoundExport | None:
        """Return what is known of an export; `None` if something may have to be told of it."""
        key = self._key(self._spans(export))
        found = self._known.get(key)
        if found is not None:
            self._found[key] = found
        return found

    def note(self, export: Statement, bound: BoundExport) -> None:
        """Note an export that was bound without a problem."""
        spans = self._spans(export)
        self._bound.append((self._key(spans), spans, bound))

    def settled(self, told: Iterable[Problem]) -> dict[_Slice, BoundExport]:
        """Return what is known of these exports now.

        A problem may be one of any export that has a statement around its place; one that lies in a vibe, of any at all.
        """
        places = [(problem.at.source, problem.at.start) if problem.at else (None, 0) for problem in told]
        source = self._names.program.source
        if any(place[0] is not source for place in places):
            return self._found
        starts = sorted(start for _, start in places)
        right = {
            key: bound
            for key, spans, bound in self._bound
            if all(bisect_left(starts, span.start) == bisect_left(starts, span.end) for span in spans)
        }
        return self._found | right

    def _spans(self, export: Statement) -> list[Span]:
        """Return the places of the statements that an export is made of, in order."""
        found: dict[int, Span] = {}
        waiting = [export]
        while waiting:
            statement = waiting.pop()
            if statement.span.start not in found:
                found[statement.span.start] = statement.span
                waiting += self._needs(statement.span)
        return [found[start] for start in sorted(found)]

    def _needs(self, span: Span) -> list[Binding]:
        """Return the statements whose names stand in a statement."""
        needed = self._needed.get(span.start)
        if needed is None:
            words = self._words(span.text)
            needed = self._needed[span.start] = [self._names.locals[word] for word in words if word in self._names.locals]
        return needed

    def _words(self, text: str) -> frozenset[str]:
        found = self._known_words.get(text)
        if found is None:
            found = frozenset(re.findall(_ASCII_WORDS, text) if text.isascii() else map(normal, re.findall(_WORDS, text)))
        self.words[text] = found
        return found

    def _key(self, spans: list[Span]) -> _Slice:
        return (*self._around, *(span.text for span in spans))
