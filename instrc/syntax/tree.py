"""Text to tree: nothing of the source is left out.

A program is recognised in one pass, the one of `instrc.syntax.parser`, here with all its signs.
What is no program becomes `broken` phrases of its words: nobody lays out a program with a mistake.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal, TypeAlias, cast

from instrc.ir.tree import Leaf, Node, Phrase, Tree, Trivia
from instrc.source import Source
from instrc.syntax.builder import Builder, Values
from instrc.syntax.parser import recognise
from instrc.syntax.scanner import Scanner
from instrc.syntax.tables import Rule, Tables, tables

_TRIVIA = re.compile(
    r"(?P<space>\s+)|(?P<comment>//[^\r\n]*|/\*[^*]*\*+(?:[^/*][^*]*\*+)*/)|(?P<stray>(?:(?!\s|//|/\*).)+|.)", re.DOTALL
)
_FLAT = frozenset({"arguments", "fields", "items", "stages", "bound", "valued", "bounds", "stop"})
"""Rules of lists: what they cover stands in the phrase around them, one after the other."""

_Parsed: TypeAlias = "Node | list[Node] | None"
"""What a symbol has been reduced to: a part of the tree, a list of them, nothing."""


def read_tree(source: Source) -> Tree:
    """Return the tree of a source, whatever is in it."""
    automaton = tables()
    collector = _Collector(source)
    if not recognise(source, automaton, collector):
        return _tree_with_mistakes(source, automaton)
    root = Phrase("program", tuple(collector.kept), 0, collector.end)
    return Tree(source, root, _trivia(source.text[collector.end :]))


def _tree_with_mistakes(source: Source, automaton: Tables) -> Tree:
    collector = _Collector(source)
    scanner = Scanner(source, automaton)
    scanner.need(len(source.text) + 1)
    leaves = [collector.leaf(token.kind, token.start, token.end) for token in scanner.tokens if token.start < token.end]
    root = Phrase("program", tuple(_broken_statements(leaves)), 0, collector.end)
    return Tree(source, root, _trivia(source.text[collector.end :]))


class _Collector(Builder):
    """Keeps the words of each rule where the builder makes a node of the surface."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.word = self.leaf
        self.signs = True
        self.named = lambda _written, start, end: self.leaf("NAME", start, end)
        self.end = 0
        """Of the last word so far."""
        self.kept: list[Node] = []
        """What has been recognised: the statements, and each `;` between them."""

    def leaf(self, kind: str, start: int, end: int) -> Leaf:
        """Return the next word, with what stands before it."""
        text = self.source.text
        leaf = Leaf(kind, text[start:end], start, _trivia(text[self.end : start]))
        self.end = end
        return leaf

    def actions(self, rules: list[Rule]) -> list[Callable[[Values, int, int], object] | None]:
        """Return what to keep of each rule; a rule that the surface passes on is passed on here too."""
        return [self._action(rule) for rule in rules]

    def _action(self, rule: Rule) -> Callable[[list[_Parsed], int, int], _Parsed] | None:
        named = rule.name == "name" or getattr(Builder, rule.name, None) is not None  # a bare name is a phrase of one word
        if rule.length == 1 and not named:
            return None
        if rule.name in {"open", "closed"}:
            return self._statement
        if rule.name in _FLAT or not named:
            return self._list
        if rule.name == "either":
            return self._either
        name = rule.name
        return lambda values, start, end: Phrase(name, tuple(self._nodes(values)), start, end)

    def _statement(self, values: list[_Parsed], _start: int, _end: int) -> None:
        kept = values[1]
        if kept.__class__ is Phrase or kept.__class__ is Leaf:
            self.kept.append(kept)

    def _list(self, values: list[_Parsed], _start: int, _end: int) -> list[Node]:
        first = values[0]
        if first.__class__ is not list:
            return self._nodes(values)
        first += self._nodes(values[1:])
        return first

    def _either(self, values: list[_Parsed], start: int, end: int) -> Phrase:
        first = values[0]
        if isinstance(first, Phrase) and first.rule == "either":
            return Phrase("either", (*first.children, *self._nodes(values[1:])), start, end)
        return Phrase("either", tuple(self._nodes(values)), start, end)

    def _nodes(self, values: list[_Parsed]) -> list[Node]:
        """Return what a rule holds, lists flat."""
        found: list[Node] = []
        for value in values:
            if value.__class__ is Leaf or value.__class__ is Phrase:  # as most are
                found.append(value)
            elif value.__class__ is list:
                found += value
        return found


def _broken_statements(leaves: list[Leaf]) -> list[Node]:
    """Return words as broken phrases, each up to a `;`."""
    children: list[Node] = []
    run: list[Node] = []
    for leaf in leaves:
        if leaf.kind != "SEMICOLON":
            run.append(leaf)
            continue
        if run:
            children.append(Phrase("broken", tuple(run), run[0].start, run[-1].end))
            run = []
        children.append(leaf)
    if run:
        children.append(Phrase("broken", tuple(run), run[0].start, run[-1].end))
    return children


def _trivia(text: str) -> tuple[Trivia, ...]:
    usual = _USUAL.get(text)
    if usual is not None:
        return usual
    if text.isspace():
        return (Trivia("space", text),)
    return tuple(
        Trivia(cast("Literal['space', 'comment', 'stray']", found.lastgroup), found.group()) for found in _TRIVIA.finditer(text)
    )


_USUAL: dict[str, tuple[Trivia, ...]] = {"": ()} | {space: (Trivia("space", space),) for space in (" ", "\n", "\n  ")}
"""What stands between most words, made once."""
