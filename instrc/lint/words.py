"""Find words in a sound schema that say nothing to anybody, and bounds that leave nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

from instrc.ir.process import Process
from instrc.jsonvalue import Json, pointer
from instrc.lint.vocabularies import FORMATS, KNOWN, OFFERED
from instrc.problems.problem import Problem
from instrc.schema.laws import RANGES, is_number
from instrc.schema.walk import Path, walk
from instrc.source import Span

MOST = 20
"""Problems of this kind that are told of one schema."""


def suspicious_words(
    schema: Json, locate: Callable[[str, bool], Span | None], allowed: frozenset[str] = frozenset()
) -> Iterator[Problem]:
    """Yield keywords and formats that nobody has defined and ranges that are empty, in written order.

    `locate` gives the place of a JSON Pointer: of its key if the flag is true, else of its value.
    `allowed` are the keywords that a project has for itself.
    """
    yield from islice(_all(schema, locate, allowed), MOST)


def _all(schema: Json, locate: Callable[[str, bool], Span | None], allowed: frozenset[str]) -> Iterator[Problem]:
    of_process = Process.describes(schema)
    for path, node in walk(schema):
        if node.__class__ is not dict or (of_process and "of" in node and path[-1:] == ("else",)):  # of a `repeat`: no schema
            continue
        if not node.keys() <= KNOWN:
            for keyword in node:
                if of_process and not path and keyword in {"inputs", "value"}:
                    continue
                if keyword not in KNOWN and keyword not in allowed and not keyword.startswith(("x-", "X-")):
                    yield _unknown_keyword(keyword, locate(pointer((*path, keyword)), True))  # noqa: FBT003  -- what the callback takes
        written = node.get("format")
        if written.__class__ is str and written not in FORMATS and written not in allowed and not written.startswith("x-"):
            yield _unknown_format(written, locate(pointer((*path, "format")), False))  # noqa: FBT003  -- what the callback takes
        yield from _ranges(path, node, locate)


def _unknown_keyword(keyword: str, at: Span | None) -> Problem:
    from instrc.problems.suggest import nearest  # only where something is wrong, as the problems below
    from instrc.problems.suspicious import UnknownKeyword

    return UnknownKeyword(at=at, word=keyword, nearest=nearest(keyword, OFFERED))


def _unknown_format(written: str, at: Span | None) -> Problem:
    from instrc.problems.suggest import nearest
    from instrc.problems.suspicious import UnknownFormat

    return UnknownFormat(at=at, word=written, nearest=nearest(written, tuple(sorted(FORMATS))))


def _ranges(path: Path, node: dict[str, Json], locate: Callable[[str, bool], Span | None]) -> Iterator[Problem]:
    """Yield pairs of bounds between which there is nothing."""
    for lower, upper, _ in (*RANGES, ("minContains", "maxContains", ())):
        if lower in node and upper in node:
            low, high = node[lower], node[upper]
            if is_number(low) and is_number(high) and (low > high or (low == high and "exclusive" in lower + upper)):
                from instrc.problems.suspicious import EmptyRange

                yield EmptyRange(
                    at=locate(pointer((*path, lower)), False),  # noqa: FBT003  -- what the callback takes
                    lower=lower,
                    upper=upper,
                    low=str(low)[:40],
                    high=str(high)[:40],
                    other=locate(pointer((*path, upper)), False),  # noqa: FBT003  -- what the callback takes
                )
