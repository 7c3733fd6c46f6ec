"""The laws of the keywords about any value: `type`, `enum`, `const`.

Implication and disjointness of listed values are decided value by value, in `relations`.
"""

from __future__ import annotations

from typing import Final

from instrc.schema.kinds import EqualityKeys, kind_of_value, kinds_of_types, types_of
from instrc.schema.laws.law import (
    NO_LAW,
    UNSATISFIABLE,
    Answer,
    InstanceEvaluation,
    KeywordLaws,
    Kinds,
    Relations,
    Schema,
    Verdict,
)
from instrc.text.jsonvalue import Json, as_array, equal


def _type_satisfied(_evaluation: InstanceEvaluation, value: Json, keyword: str, schema: Schema, _depth: int) -> Answer:
    held = schema[keyword]
    return None if types_of(held) is None else kind_of_value(value) in kinds_of_types(held)


def _type(left: Json, right: Json) -> Json | Verdict:
    """Intersect types, where every integer is a number."""
    a, b = types_of(left), types_of(right)
    if a is None or b is None:
        return NO_LAW
    kept = [
        "integer" if name == "number" and "number" not in b else name
        for name in a
        if name in b or (name == "integer" and "number" in b) or (name == "number" and "integer" in b)
    ]
    kept = list(dict.fromkeys(kept))
    if not kept:
        return UNSATISFIABLE
    if tuple(kept) == a:
        return left
    return kept[0] if len(kept) == 1 else [*kept]


def _type_implied(_question: Relations, _left: Schema, keyword: str, right: Schema, _depth: int, kinds: Kinds) -> bool:
    return types_of(right[keyword]) is not None and kinds <= kinds_of_types(right[keyword])


def _enum_satisfied(evaluation: InstanceEvaluation, value: Json, keyword: str, schema: Schema, _depth: int) -> Answer:
    return evaluation.lists(as_array(schema[keyword]), value)


def _enum(left: Json, right: Json) -> Json | Verdict:
    """Keep the common members of both lists, in the order of the first."""
    if left.__class__ is not list or right.__class__ is not list:
        return NO_LAW
    key_of = EqualityKeys()
    keys = {key_of(value) for value in right}
    kept = [value for value in left if key_of(value) in keys]
    if not kept:
        return UNSATISFIABLE
    return left if len(kept) == len(left) else kept


def _const_satisfied(evaluation: InstanceEvaluation, value: Json, keyword: str, schema: Schema, _depth: int) -> Answer:
    return evaluation.key_of(value) == evaluation.key_of(schema[keyword])


def _const(left: Json, right: Json) -> Json | Verdict:
    """Keep a constant if both are equal."""
    return left if equal(left, right) else UNSATISFIABLE


LAWS: Final = {
    "type": KeywordLaws(_type_satisfied, _type, implied=_type_implied),
    "enum": KeywordLaws(_enum_satisfied, _enum, shape=list),
    "const": KeywordLaws(_const_satisfied, _const),
}
