"""Find the laws of a keyword: `vocabulary` names the file that has them, which is loaded when the first of them is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, assert_never

from instrc.schema.laws.law import KeywordLaws, Kinds, Schema
from instrc.schema.vocabulary import KEYWORDS, Family
from instrc.text.jsonvalue import Json

if TYPE_CHECKING:
    from instrc.schema.laws.law import Relations

_NONE: Final = KeywordLaws()


class _LawsByKeyword(dict[str, KeywordLaws]):
    """The laws of the keywords that have been asked for; keywords that assert nothing, and unknown words, have none."""

    def __missing__(self, keyword: str) -> KeywordLaws:
        row = KEYWORDS.get(keyword)
        if row is None or row.laws is None:
            return _NONE
        self |= _laws_of(row.laws)
        return self[keyword]


LAWS: Final = _LawsByKeyword()


def _laws_of(family: Family) -> dict[str, KeywordLaws]:
    match family:
        case "values":
            from instrc.schema.laws import values

            return values.LAWS
        case "numbers":
            from instrc.schema.laws import numbers

            return numbers.LAWS
        case "strings":
            from instrc.schema.laws import strings

            return strings.LAWS
        case "arrays":
            from instrc.schema.laws import arrays

            return arrays.LAWS
        case "properties":
            from instrc.schema.laws import properties

            return properties.LAWS
        case "objects":
            from instrc.schema.laws import objects

            return objects.LAWS
        case "combining":
            from instrc.schema.laws import combining

            return combining.LAWS
        case "conditions":
            from instrc.schema.laws import conditions

            return conditions.LAWS
        case _:
            assert_never(family)


def disjoint_in(question: Relations, kind: str, left: Schema, right: Schema, depth: int) -> bool:
    """Tell whether no value of a kind satisfies both schemas, by their own keywords about such values."""
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
    """Tell whether no value of some kinds satisfies both schemas, by the schemas that they apply to the value itself."""
    from instrc.schema.laws import combining

    return combining.disjoint(question, left, right, depth, kinds)


def cases(question: Relations, schema: Schema) -> list[list[Json]]:
    """Return lists of schemas: whatever satisfies a schema satisfies one of each list."""
    from instrc.schema.laws import combining

    return combining.cases(question, schema)
