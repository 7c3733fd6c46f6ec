"""Words of the language that are going out of use: one table of them, and where a program has one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from instrc.problems.suggest import applied
from instrc.text.source import Source

if TYPE_CHECKING:
    from instrc.language.concrete_tree import Node
    from instrc.problems.statements import DeprecatedWord


class Deprecation(NamedTuple):
    """A deprecated word: it works for at least two minor releases after `since`."""

    word: str
    """The word in the grammar."""
    since: str
    """Release that deprecates it."""
    instead: str
    """Replacement; empty if the word is to be removed."""


DEPRECATIONS: Final[tuple[Deprecation, ...]] = ()
"""All deprecated words, in the order of their releases."""

_NAMING = frozenset({"argument", "field", "member"})
"""Rules in which a word is a name, whatever else it means."""


def deprecated_words(source: Source) -> Iterator[DeprecatedWord]:
    """Yield the deprecated words of a program in the order of the text; names that are so called are not meant."""
    by_kind = {each.word.upper(): each for each in DEPRECATIONS if each.word in source.text}
    if not by_kind:
        return
    from instrc.language.concrete_tree import Leaf, read_tree  # hardly a program needs it
    from instrc.problems.statements import DeprecatedWord

    pending: list[tuple[Node, str]] = [(read_tree(source).root, "")]
    while pending:
        node, rule = pending.pop()
        if not isinstance(node, Leaf):
            pending += ((child, node.rule) for child in reversed(node.children))
        elif (found := by_kind.get(node.kind)) is not None and rule not in _NAMING:
            at = source.span(node.start, node.end)
            yield DeprecatedWord(at=at, word=found.word, since=found.since, instead=found.instead)


def upgraded(source: Source) -> Source:
    """Return a program with the words of today in the place of deprecated ones."""
    text, _ = applied(source.text, (fix for each in deprecated_words(source) for fix in each.fixes))
    return Source(source.name, text)
