"""A source as it was typed: every word, sign, space and comment of it.

The texts of the leaves with their trivia, and the trivia after the last one, are the source, character by character,
even if the source is not a program.  If it is, each phrase is a rule of the grammar with the range of a node of
`instrc.language.surface`: the surface is the same tree without quotes, brackets, separators and comments.
A source that is not a program becomes `broken` phrases of its words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple, TypeAlias, TypeVar, cast

import msgspec

from instrc.language.builder import Builder, Values
from instrc.language.lexer import Token
from instrc.language.parser import recognise
from instrc.language.scanner import Scanner
from instrc.language.tables import Rule, Tables, tables
from instrc.text.source import Source

T = TypeVar("T")


class Trivia(NamedTuple):
    """The text between two words: white space, a comment, or characters without meaning (`stray`)."""

    kind: Literal["space", "comment", "stray"]
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
    """The extent of a rule of the grammar; lists (arguments, fields, stages, statements) are flat, with their separators.

    The rule `broken` covers the words of a source that is not a program, up to a `;`.
    """

    rule: str
    children: tuple[Node, ...]
    start: int
    end: int


Node: TypeAlias = Phrase | Leaf


class Tree(msgspec.Struct, frozen=True):
    """A whole source: `root` has its statements and the `;` between them, `behind` the trivia after its last word."""

    source: Source
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

    @property
    def text(self) -> str:
        """The source, assembled from its parts."""
        parts = [part for leaf in self.leaves() for part in (*(trivia.text for trivia in leaf.before), leaf.text)]
        return "".join([*parts, *(trivia.text for trivia in self.behind)])

    def path(self, offset: int) -> list[Node]:
        """Return the nodes around an offset, root first; between two adjacent words, those of the second one."""
        way: list[Node] = [self.root]
        while isinstance(node := way[-1], Phrase):
            touching = [child for child in node.children if child.start <= offset <= child.end]
            if not touching:
                break
            way.append(touching[-1])
        return way

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


_TRIVIA = re.compile(
    r"(?P<space>\s+)|(?P<comment>//[^\r\n]*|/\*[^*]*\*+(?:[^/*][^*]*\*+)*/)|(?P<stray>(?:(?!\s|//|/\*).)+|.)", re.DOTALL
)
_FLAT = frozenset({"arguments", "fields", "items", "stages", "bound", "valued", "bounds", "stop"})
"""Rules of lists, whose items are placed directly in the enclosing phrase."""

_Parsed: TypeAlias = "Node | list[Node] | None"
"""Result of a symbol: a node, a list of nodes, or nothing."""


def read_tree(source: Source) -> Tree:
    """Return the tree of any source."""
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
    """Collects the words of each rule where the builder creates a surface node."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.end = 0
        """Of the last word so far."""
        self.kept: list[Node] = []
        """What has been recognised: the statements, and each `;` between them."""

    def leaf(self, kind: str, start: int, end: int) -> Leaf:
        """Return the next word, with the trivia before it."""
        text = self.source.text
        leaf = Leaf(kind, text[start:end], start, _trivia(text[self.end : start]))
        self.end = end
        return leaf

    def given(self, token: Token) -> Leaf:
        """Return the next word or sign."""
        return self.leaf(token.kind, token.start, token.end)

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
    return tuple(
        Trivia(cast("Literal['space', 'comment', 'stray']", found.lastgroup), found.group()) for found in _TRIVIA.finditer(text)
    )
