"""Look up the laws of a keyword in the module that `vocabulary` names, which is imported on first use.

>>> LAWS["minimum"].intersect(1, 2)
2
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

from instrc.schema.laws.law import KeywordLaws, Kinds, Schema
from instrc.schema.vocabulary import KEYWORDS
from instrc.text.jsonvalue import Json

if TYPE_CHECKING:
    from instrc.schema.laws.law import Relations

_NONE: Final = KeywordLaws()


class _LawsByKeyword(dict[str, KeywordLaws]):
    """Cache of keyword laws; keywords without assertions, and unknown ones, have none."""

    def __missing__(self, keyword: str) -> KeywordLaws:
        row = KEYWORDS.get(keyword)
        if row is None or row.laws is None:
            return _NONE
        self |= import_module(f"instrc.schema.laws.{row.laws}").LAWS
        return self[keyword]


LAWS: Final = _LawsByKeyword()


def disjoint_in(question: Relations, kind: str, left: Schema, right: Schema, depth: int) -> bool:
    """Return whether no value of a type satisfies both schemas, by the keywords for that type."""
    match kind:
        case "integer" | "fraction":
            from instrc.schema.laws import numbers

            return numbers.disjoint(left, right, integers=kind == "integer")
        case "string":
            from instrc.schema.laws import strings

            return strings.disjoint(left, right)
        case "array":
            from instrc.schema.laws import arrays

            return arrays.disjoint(question, left, right, depth)
        case "object":
            from instrc.schema.laws import objects

            return objects.disjoint(question, left, right, depth)
    return False


def disjoint_by_branches(question: Relations, left: Schema, right: Schema, depth: int, kinds: Kinds) -> bool:
    """Return whether no value of some types satisfies both schemas, by their in-place subschemas."""
    from instrc.schema.laws import combining

    return combining.disjoint(question, left, right, depth, kinds)


def cases(question: Relations, schema: Schema) -> list[list[Json]]:
    """Return lists of schemas: every instance of a schema satisfies one of each list."""
    from instrc.schema.laws import combining

    return combining.cases(question, schema)
