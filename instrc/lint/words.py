"""Find what is suspicious in a sound schema: words that nobody knows or that do nothing, bounds and values that leave nothing."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from instrc.jsonvalue import Json, Location, pointer
from instrc.limits.programs import TOLD_OF_A_KIND
from instrc.lint.idle import idle_keywords
from instrc.lint.impossible import impossible
from instrc.lint.reading import ReadNode, SpanOf, read_nodes
from instrc.lint.values import refused_values
from instrc.lint.vocabularies import FORMATS, KNOWN, OFFERED
from instrc.problems.problem import Problem
from instrc.schema.expressions import too_large
from instrc.schema.laws.bounds import empty_ranges
from instrc.schema.patterns import patterns_in
from instrc.schema.vocabulary import is_extension
from instrc.source import Span


def suspicious_words(schema: Json, span_of: SpanOf, allowed: frozenset[str] = frozenset()) -> Iterator[Problem]:
    """Yield keywords and formats that nobody has defined, empty ranges, idle keywords and refused values, each in written order.

    `allowed` are the keywords that a project has for itself.
    """
    nodes = list(read_nodes(schema))
    found = (
        _unknown(nodes, span_of, allowed),
        idle_keywords(nodes, span_of, allowed),
        refused_values(schema, nodes, span_of, allowed),
    )
    for kind in (*found, impossible(schema, nodes, span_of)):
        yield from islice(kind, TOLD_OF_A_KIND)
        if (further := next(kind, None)) is not None:
            from instrc.problems.files import FurtherProblems  # only where there are so many

            yield FurtherProblems(at=further.at, kind=further.name, limit=TOLD_OF_A_KIND)


def _unknown(nodes: list[ReadNode], span_of: SpanOf, allowed: frozenset[str]) -> Iterator[Problem]:
    for read in nodes:
        path, node = read.path, read.schema
        if not node.keys() <= KNOWN:
            for keyword in node:
                if read.of_process and not path and keyword in {"inputs", "value"}:
                    continue
                if keyword not in KNOWN and keyword not in allowed and not is_extension(keyword):
                    yield _unknown_keyword(keyword, span_of(pointer((*path, keyword)), key=True))
        written = node.get("format")
        if written.__class__ is str and written not in FORMATS and written not in allowed and not is_extension(written):
            yield _unknown_format(written, span_of(pointer((*path, "format"))))
        yield from _ranges(path, node, span_of)
        if _OF_PATTERNS.isdisjoint(node):
            continue
        for below, pattern in patterns_in(node):
            if (why := too_large(pattern)) is not None:
                from instrc.problems.files import PatternTooLarge  # only where there is one

                yield PatternTooLarge(at=span_of(pointer((*path, *below))), why=why)


_OF_PATTERNS = frozenset({"pattern", "patternProperties"})


def _unknown_keyword(keyword: str, at: Span | None) -> Problem:
    from instrc.problems.schemas import UnknownKeyword
    from instrc.problems.suggest import nearest  # only where something is wrong, as the problems below

    return UnknownKeyword(at=at, word=keyword, nearest=_OF_OTHERS.get(keyword) or nearest(keyword, OFFERED))


_OF_OTHERS = {
    "min": ("minimum", "minLength", "minItems"),
    "max": ("maximum", "maxLength", "maxItems"),
    "regex": ("pattern",),
    "match": ("pattern",),
    **dict.fromkeys(("values", "choices", "allowed"), ("enum",)),
    **dict.fromkeys(("fields", "props", "attributes"), ("properties",)),
    "reference": ("references",),
    "activty": ("activity",),
    "argument": ("arguments",),
}
"""Keywords of other systems and of our own engine, and what says the same."""


def _unknown_format(written: str, at: Span | None) -> Problem:
    from instrc.problems.schemas import UnknownFormat
    from instrc.problems.suggest import nearest

    return UnknownFormat(at=at, word=written, nearest=nearest(written, tuple(sorted(FORMATS))))


def _ranges(path: Location, node: dict[str, Json], span_of: SpanOf) -> Iterator[Problem]:
    """Yield pairs of bounds between which there is nothing."""
    for lower, upper, _ in empty_ranges(node):
        from instrc.problems.schemas import EmptyRange

        yield EmptyRange(
            at=span_of(pointer((*path, lower))),
            lower=lower,
            upper=upper,
            low=str(node[lower])[:40],
            high=str(node[upper])[:40],
            other=span_of(pointer((*path, upper))),
        )
