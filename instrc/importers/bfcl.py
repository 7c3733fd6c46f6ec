"""Function lists of data sets in the manner of the Berkeley Function Calling Leaderboard: JSON or JSON Lines.

Types are words of Python, Java and JavaScript (`dict`, `float`, `tuple`, `any`, `String`, `HashMap`, `ArrayList`).
Lists nest or are written as text; parameters come as an object, as a list or as two lists.
"""

from __future__ import annotations

from collections.abc import Iterator

from instrc.importers.functions import ListFormat, functions
from instrc.importers.given import Given
from instrc.importers.tools import ImportedTool
from instrc.schema.normalize import Rules

FORMAT = ListFormat(rules=Rules(plain_words=True), silent=frozenset({"type", "strict", "id"}))


def tools(given: Given) -> Iterator[ImportedTool]:
    """Yield the functions of a data set, those of all its entries."""
    return functions(given, FORMAT)
