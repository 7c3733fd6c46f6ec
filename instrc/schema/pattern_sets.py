"""Match many regular expressions with many texts, as `patternProperties` needs it: all patterns are searched at once.

RE2 searches fifty patterns in one walk over a text, in about the time that one takes.  It finds only candidates: patterns that
it cannot read are always among them.  `expressions.search` decides for each candidate.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from typing import Any

from msgspec import Struct

from instrc.limits.schemas import PATTERNS_AT_ONCE
from instrc.schema.expressions import for_re2


def candidates(patterns: Collection[str], text: str) -> Iterable[str]:
    """Return those of some patterns that may be found in a text, in order; the others surely are not."""
    if len(patterns) < PATTERNS_AT_ONCE:
        return patterns
    return [pattern for group in _groups(tuple(patterns)) for pattern in group.candidates(text)]


def with_candidates(patterns: Collection[str], texts: Collection[str]) -> Iterator[tuple[str, Iterable[str]]]:
    """Yield each of some patterns with those of some texts that it may be found in."""
    if len(patterns) < PATTERNS_AT_ONCE:
        yield from ((pattern, texts) for pattern in patterns)
        return
    found: dict[str, list[str]] = {pattern: [] for pattern in patterns}
    for text in texts:
        for pattern in candidates(patterns, text):
            found[pattern].append(text)
    yield from found.items()


class _Group(Struct):
    """Patterns that one automaton looks for."""

    always: set[str]
    """Those that it cannot read."""
    patterns: list[str]
    automaton: Any  # RE2 has no types
    """A `re2.Set` of the readable patterns and of a last one, which every text has; `None` if all together are too large.

    Where the last one is not found, the walk was given up.
    """
    readable: list[str]

    def candidates(self, text: str) -> list[str]:
        """Return the patterns that may be found in a text."""
        try:
            numbers = self.automaton.Match(text) if self.automaton is not None else None
        except UnicodeEncodeError:  # half of a surrogate pair
            return self.patterns
        if numbers is None or len(self.readable) not in numbers:
            return self.patterns
        found = self.always.union(self.readable[number] for number in numbers if number < len(self.readable))
        return [pattern for pattern in self.patterns if pattern in found] if found else []


@lru_cache(maxsize=8)
def _groups(patterns: tuple[str, ...]) -> list[_Group]:
    return [_group(patterns[at : at + PATTERNS_AT_ONCE]) for at in range(0, len(patterns), PATTERNS_AT_ONCE)]


def _group(patterns: tuple[str, ...]) -> _Group:
    import re2  # 10 ms, needed where many patterns are only

    options = re2.Options()
    options.log_errors = False
    automaton = re2.Set.SearchSet(options)
    readable: list[str] = []
    for pattern in patterns:
        words = for_re2(pattern)
        try:
            if words is not None and automaton.Add(words) == len(readable):
                readable.append(pattern)
        except re2.error:
            pass  # a bound over 1,000, or a script that RE2 does not know
    automaton.Add("")
    try:
        automaton.Compile()
    except re2.error:
        automaton = None
    return _Group(set(patterns).difference(readable), list(patterns), automaton, readable)
