"""A source as it was typed: every word, sign, space and comment of it.

True of this form: the texts of its leaves with what stands before each, and what stands behind the last, are the source,
character by character, also where the source is no program.
Where it is one, each phrase is a rule of the grammar over the range of a node of `instrc.ir.surface`: the surface is
the same tree seen as a program, without quotes, brackets, separators and comments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple, TypeAlias, TypeVar

import msgspec

from instrc.source import Source

T = TypeVar("T")


class Trivia(NamedTuple):
    """What stands between two words: white space, a comment, or characters that mean nothing (`stray`)."""

    kind: Literal["space", "comment", "stray"]
    text: str


class Leaf(msgspec.Struct, frozen=True, gc=False):
    """A word or a sign, with what stands before it; `kind` is the grammar's name for it."""

    kind: str
    text: str
    start: int
    before: tuple[Trivia, ...] = ()

    @property
    def end(self) -> int:
        """The offset behind its last character."""
        return self.start + len(self.text)


class Phrase(msgspec.Struct, frozen=True, gc=False):
    """What a rule of the grammar covers; lists (arguments, fields, stages, statements) stand in it flat, with their separators.

    The rule `broken` covers words of a source that is no program, up to a `;`.
    """

    rule: str
    children: tuple[Node, ...]
    start: int
    end: int


Node: TypeAlias = Phrase | Leaf


class Tree(msgspec.Struct, frozen=True):
    """A whole source: `root` holds its statements and the `;` between them, `behind` what follows its last word."""

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
        """The source, put together from the parts."""
        parts = [part for leaf in self.leaves() for part in (*(trivia.text for trivia in leaf.before), leaf.text)]
        return "".join([*parts, *(trivia.text for trivia in self.behind)])

    def path(self, offset: int) -> list[Node]:
        """Return the nodes around an offset, the root first; between two words that touch, it is the second one's."""
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
