"""When no value of a kind satisfies both of two schemas: one law a kind of values."""

from __future__ import annotations

from typing import TypeAlias

from instrc.jsonvalue import Json
from instrc.limits.schemas import POSITIONS
from instrc.schema.bounds import numbers, size
from instrc.schema.laws import is_number
from instrc.schema.members import all_items, of_item, of_property, required_names
from instrc.schema.question import Question

Schema: TypeAlias = dict[str, Json]


def disjoint_in(question: Question, kind: str, left: Schema, right: Schema, depth: int) -> bool:
    """Tell whether no value of a kind satisfies both schemas, by their own keywords, combinators aside."""
    if kind in {"integer", "fraction"}:
        integers = kind == "integer"
        return numbers(left, integers=integers).and_(numbers(right, integers=integers)).is_empty()
    if kind in {"string", "array", "object"} and size(left, kind).and_(size(right, kind)).is_empty():
        return True
    if kind == "object":
        return _objects(question, left, right, depth)
    return kind == "array" and _arrays(question, left, right, depth)


def _objects(question: Question, left: Schema, right: Schema, depth: int) -> bool:
    """Tell it of objects: a property that one of the schemas requires cannot be."""
    for name in dict.fromkeys([*required_names(left), *required_names(right)]):
        mine, theirs = of_property(left, name), of_property(right, name)
        if False in mine or False in theirs:
            return True
        if any(question.disjoint(one, other, depth + 1) for one in mine for other in theirs):
            return True
    return any(_misnamed(question, one, other, depth) for one, other in ((left, right), (right, left)))


def _misnamed(question: Question, left: Schema, right: Schema, depth: int) -> bool:
    """Tell whether a schema requires a property whose name another one refuses."""
    names = required_names(left)
    return "propertyNames" in right and any(
        question.disjoint({"const": name}, right["propertyNames"], depth + 1) for name in names
    )


def _arrays(question: Question, left: Schema, right: Schema, depth: int) -> bool:
    """Tell it of arrays: an item that must be there cannot be, or what one contains is not among the items of the other."""
    length = size(left, "array").and_(size(right, "array")).low
    listed = max(len(all_items(left)), len(all_items(right)))
    for position in range(int(min(length, listed, POSITIONS))):
        if question.disjoint(of_item(left, position), of_item(right, position), depth + 1):
            return True
    return any(
        _uncontained(question, one, other, depth) for one, other in ((left, right), (right, left), (left, left), (right, right))
    )


def _uncontained(question: Question, left: Schema, right: Schema, depth: int) -> bool:
    """Tell whether a schema asks for an item that no item of another schema can be."""
    least = left.get("minContains", 1)
    if "contains" not in left or not is_number(least) or least <= 0 or len(all_items(right)) > POSITIONS:
        return False
    return all(question.disjoint(left["contains"], item, depth + 1) for item in all_items(right))
