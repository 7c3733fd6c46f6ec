"""Find keywords that do nothing where they stand: by the type beside them, for want of another keyword, by the dialect."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from instrc.jsonvalue import pointer
from instrc.lint.reading import ReadNode, SpanOf
from instrc.lint.vocabularies import DRAFT_3
from instrc.problems.problem import Problem
from instrc.schema.drafts import NULLABLE, Draft, ignored_words, silences_neighbours
from instrc.schema.formats import CHECKS
from instrc.schema.kinds import kinds_spoken_of
from instrc.schema.vocabulary import SPEAKS_OF, removed_keywords

if TYPE_CHECKING:
    from instrc.problems.schemas import Cause

_NEEDS = {
    "then": ("if",),
    "else": ("if",),
    "if": ("then", "else"),
    "minContains": ("contains",),
    "maxContains": ("contains",),
}
"""Keywords that do nothing unless one of some others stands beside them."""
_UNEVALUATED = frozenset({"unevaluatedProperties", "unevaluatedItems"})
_KINDS = {word: kinds_spoken_of(types) for word, types in SPEAKS_OF.items()}
_TELLING = _KINDS.keys() | _NEEDS.keys() | DRAFT_3 | removed_keywords(2020) | {"format", "nullable"}
"""Keywords without any of which a schema of today has nothing idle."""
_LIMIT = "(min|max)(imum|Length|Items|Properties)"  # compiled when it is needed
_LIMITED = {"number": "imum", "integer": "imum", "string": "Length", "array": "Items", "object": "Properties"}
"""The second half of the words that limit the values of a type."""


class _Idle(Struct, frozen=True):
    """Why a keyword does nothing, as its problem says it."""

    cause: Cause
    applies_to: tuple[str, ...] = ()
    allowed: tuple[str, ...] = ()
    dialect: str = ""
    instead: str | None = None


def idle_keywords(nodes: Sequence[ReadNode], span_of: SpanOf, allowed: frozenset[str]) -> Iterator[Problem]:
    """Yield the keywords of a sound schema that do nothing, in written order; `allowed` are those that a project permits."""
    is_asked: bool | None = None
    """Whether it matters what an `if` has evaluated, once one is met."""
    for node in nodes:
        old = node.dialect.old and node.dialect is not NULLABLE
        telling = node.schema.keys() if old else node.schema.keys() & _TELLING
        if not telling or telling <= allowed:
            continue
        kinds = node.kinds()
        for word in node.schema:
            if word not in telling or word in allowed or (not old and _applies(word, kinds)):
                continue
            idle = _by_dialect(word, node) or _alone(word, node) or _by_type(word, node, kinds)
            if idle is None:
                continue
            if word == "if":
                is_asked = _asks_what_was_evaluated(nodes) if is_asked is None else is_asked
                if is_asked:
                    continue
            from instrc.problems.schemas import IdleKeyword  # only where there is one

            yield IdleKeyword(
                at=span_of(pointer((*node.path, word)), key=True),
                word=word,
                cause=idle.cause,
                applies_to=idle.applies_to,
                allowed=idle.allowed,
                dialect=idle.dialect,
                instead=idle.instead,
            )


def _applies(word: str, kinds: frozenset[str]) -> bool:
    """Tell at once that a word needs no other word and looks at values of some kinds, as most do."""
    return word in _KINDS and word not in _NEEDS and not kinds.isdisjoint(_KINDS[word])


def _by_dialect(word: str, node: ReadNode) -> _Idle | None:
    """Find words that the dialect does not have, and values by which a word is not understood."""
    if word == "nullable":
        if not isinstance(node.schema[word], bool):
            return _Idle("value")
        return None if node.dialect.nullable or node.schema[word] is False else _Idle("dialect", dialect=_shown(node.dialect))
    if word in DRAFT_3:
        return _Idle("dialect", dialect=_shown(node.dialect))
    if word not in ignored_words(node.schema, node.dialect):
        return None
    beside = silences_neighbours(node.schema, node.dialect) and word not in node.dialect.unknown
    return _Idle("reference" if beside else "dialect", dialect=_shown(node.dialect))


def _shown(dialect: Draft) -> str:
    return "JSON Schema 2020-12" if dialect is NULLABLE else dialect.name if dialect.nullable else f"JSON Schema {dialect.name}"


def _alone(word: str, node: ReadNode) -> _Idle | None:
    """Find words that need another one beside them."""
    if word == "additionalItems" and not isinstance(node.schema.get("items"), list):
        return _Idle("items")
    needed = _NEEDS.get(word)
    if needed is None or not node.schema.keys().isdisjoint(needed) or (word == "else" and node.of_process):
        return None
    return _Idle("alone", needed)


def _asks_what_was_evaluated(nodes: Sequence[ReadNode]) -> bool:
    """Tell whether some schema asks what others have evaluated: an `if` that is alone answers that."""
    return any(not _UNEVALUATED.isdisjoint(node.schema) for node in nodes)


def _by_type(word: str, node: ReadNode, kinds: frozenset[str]) -> _Idle | None:
    """Find words that look only at values of types that do not get here."""
    kinds_of_word = _KINDS.get(word)
    if word == "format" and node.schema[word] in CHECKS:
        kinds_of_word = frozenset({"string"})
    if kinds_of_word is None or not kinds or not kinds.isdisjoint(kinds_of_word):
        return None
    allowed, limit = _types(kinds), re.fullmatch(_LIMIT, word)
    instead = None
    if limit is not None and len(allowed) == 1 and allowed[0] in _LIMITED:
        instead = limit[1] + _LIMITED[allowed[0]]
    return _Idle("type", _types(kinds_of_word), allowed, instead=None if instead in node.schema else instead)


def _types(kinds: frozenset[str]) -> tuple[str, ...]:
    """Return the names of types for some kinds, in alphabetical order."""
    whole = {"number" if kind == "fraction" else kind for kind in kinds}
    return tuple(sorted(whole - {"integer"} if "number" in whole else whole))
