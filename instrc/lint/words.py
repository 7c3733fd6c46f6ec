"""Find what is suspicious in a sound schema: words that nobody knows or that do nothing, bounds and values that leave nothing."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from instrc.jsonvalue import Json, pointer
from instrc.lint.idle import idle_keywords
from instrc.lint.impossible import impossible
from instrc.lint.reading import Locate, ReadNode, read_nodes
from instrc.lint.values import refused_values
from instrc.lint.vocabularies import FORMATS, KNOWN, OFFERED
from instrc.problems.problem import Problem
from instrc.schema.laws import RANGES, is_number
from instrc.schema.walk import Path
from instrc.source import Span

MOST = 20
"""Problems of each of these kinds that are told of one schema."""


def suspicious_words(schema: Json, locate: Locate, allowed: frozenset[str] = frozenset()) -> Iterator[Problem]:
    """Yield keywords and formats that nobody has defined, empty ranges, idle keywords and refused values, each in written order.

    `locate` gives the place of a JSON Pointer: of its key if the flag is true, else of its value.
    `allowed` are the keywords that a project has for itself.
    """
    nodes = list(read_nodes(schema))
    found = (
        _unknown(nodes, locate, allowed),
        idle_keywords(nodes, locate, allowed),
        refused_values(schema, nodes, locate, allowed),
    )
    for kind in found:
        yield from islice(kind, MOST)
    yield from islice(impossible(schema, nodes, locate), MOST)


def _unknown(nodes: list[ReadNode], locate: Locate, allowed: frozenset[str]) -> Iterator[Problem]:
    for path, node, _, _, of_process in nodes:
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


def _ranges(path: Path, node: dict[str, Json], locate: Locate) -> Iterator[Problem]:
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
