"""A program as it was typed: every word, sign, space and comment of it.

The texts of the leaves with their trivia, and the trivia after the last one, are the source, character by character.
Each phrase is a rule of the grammar with the range of a node of `instrc.language.surface`:
the surface is the same tree without quotes, brackets, separators and comments.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple, TypeAlias, TypeVar, cast

import msgspec

from instrc.language.builder import Builder, Values
from instrc.language.lexer import Token
from instrc.language.parser import recognise
from instrc.language.tables import Rule, tables
from instrc.text.source import Source

T = TypeVar("T")


class Trivia(NamedTuple):
    """The text between two words: white space or a comment."""

    kind: Literal["space", "comment"]
    text: str


class Leaf(msgspec.Struct, frozen=True, gc=False):
    """A word or a sign with the trivia before it; `kind` is its name in the grammar."""

    kind: str
    text: str
    start: int
    before: tuple[Trivia, ...] = ()

    @property
    def end(self) -> int:
        """The offset after its last character."""
        return self.start + len(self.text)


class Phrase(msgspec.Struct, frozen=True, gc=False):
    """The extent of a rule of the grammar; lists (arguments, fields, stages, statements) are flat, with their separators."""

    rule: str
    children: tuple[Node, ...]
    start: int
    end: int


Node: TypeAlias = Phrase | Leaf


class Tree(msgspec.Struct, frozen=True):
    """A whole program: `root` has its statements and the `;` between them, `behind` the trivia after its last word."""

    root: Phrase
    behind: tuple[Trivia, ...]

    def leaves(self) -> Iterator[Leaf]:
        """Yield all words and signs in order."""
        pending: list[Node] = [self.root]
        while pending:
            node = pending.pop()
            if node.__class__ is Leaf:
                yield node
            elif node.__class__ is Phrase:
                pending += node.children[::-1]

    def fold(self, make: Callable[[Phrase, list[T]], T], leaf: Callable[[Leaf], T]) -> T:
        """Compute a value from the leaves upwards, without recursion: depth is no limit."""
        phrase, rest = self.root, iter(self.root.children)
        values: list[T] = []
        around: list[tuple[Phrase, Iterator[Node], list[T]]] = []
        """The phrases around, each with the children that follow and the values of those before."""
        while True:
            for child in rest:
                if child.__class__ is Leaf:
                    values.append(leaf(child))
                elif child.__class__ is Phrase:
                    around.append((phrase, rest, values))
                    phrase, rest, values = child, iter(child.children), []
                    break
            else:
                value = make(phrase, values)
                if not around:
                    return value
                phrase, rest, values = around.pop()
                values.append(value)


_TRIVIA = re.compile(r"(?P<space>\s+)|(?P<comment>//[^\r\n]*|/\*[^*]*\*+(?:[^/*][^*]*\*+)*/)")
_FLAT = frozenset({"arguments", "fields", "items", "stages", "bound", "valued", "bounds", "stop"})
"""Rules of lists, whose items are placed directly in the enclosing phrase."""

_Parsed: TypeAlias = "Node | list[Node] | None"
"""Result of a symbol: a node, a list of nodes, or nothing."""


def read_tree(source: Source) -> Tree:
    """Return the tree of a source; raise `ValueError` if it is not a program."""
    collector = _Collector(source)
    if not recognise(source, tables(), collector):
        raise ValueError("this is not a program")
    root = Phrase("program", tuple(collector.kept), 0, collector.end)
    return Tree(root, _trivia(source.text[collector.end :]))


class _Collector(Builder):
    """Collects the words of each rule where the builder creates a surface node."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.end = 0
        """Of the last word so far."""
        self.kept: list[Node] = []
        """What has been recognised: the statements, and each `;` between them."""

    def given(self, token: Token) -> Leaf:
        """Return the next word or sign, with the trivia before it."""
        text = self.source.text
        leaf = Leaf(token.kind, text[token.start : token.end], token.start, _trivia(text[self.end : token.start]))
        self.end = token.end
        return leaf

    def actions(self, rules: list[Rule]) -> list[Callable[[Values, int, int], object] | None]:
        """Return the action of each rule; rules without a surface node are passed on here too."""
        return [self._action(rule) for rule in rules]

    def _action(self, rule: Rule) -> Callable[[list[_Parsed], int, int], _Parsed] | None:
        named = rule.name == "name" or getattr(Builder, rule.name, None) is not None  # a bare name is a phrase of one word
        if rule.length == 1 and not named:
            return None
        if rule.name in {"open", "closed"}:
            return self._statement
        if rule.name == "language":
            return self._version
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

    def _version(self, values: list[_Parsed], start: int, end: int) -> None:
        word, number, *sign = self._nodes(values)
        self.kept += [Phrase("language", (word, number), start, end), *sign]

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
        """Return the contents of a rule, with lists flattened."""
        found: list[Node] = []
        for value in values:
            if value.__class__ is Leaf or value.__class__ is Phrase:  # as most are
                found.append(value)
            elif value.__class__ is list:
                found += value
        return found


def _trivia(text: str) -> tuple[Trivia, ...]:
    return tuple(Trivia(cast("Literal['space', 'comment']", found.lastgroup), found.group()) for found in _TRIVIA.finditer(text))
