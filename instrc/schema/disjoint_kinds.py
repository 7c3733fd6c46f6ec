"""When no value of a kind satisfies both of two schemas: one law a kind of values."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, TypeAlias

from instrc.jsonvalue import Json, listing, mapping
from instrc.limits.schemas import POSITIONS
from instrc.schema.bounds import numbers, size
from instrc.schema.kinds import listed_values, own_kinds
from instrc.schema.laws import is_number, unique
from instrc.schema.members import all_items, of_item, of_property, required_names

if TYPE_CHECKING:
    from instrc.schema.question import Relations

Schema: TypeAlias = dict[str, Json]


def disjoint_in(question: Relations, kind: str, left: Schema, right: Schema, depth: int) -> bool:
    """Tell whether no value of a kind satisfies both schemas, by their own keywords, combinators aside."""
    if kind in {"integer", "fraction"}:
        return _numbers(left, right, integers=kind == "integer")
    if kind in {"string", "array", "object"} and size(left, kind).and_(size(right, kind)).is_empty():
        return True
    if kind == "object":
        return _objects(question, left, right, depth)
    return kind == "array" and _arrays(question, left, right, depth)


def _numbers(left: Schema, right: Schema, *, integers: bool) -> bool:
    """Tell it of numbers: none is in the ranges of both, or none of these is a multiple of the steps."""
    within = numbers(left, integers=integers).and_(numbers(right, integers=integers))
    if within.is_empty():
        return True
    steps = [schema["multipleOf"] for schema in (left, right) if "multipleOf" in schema]
    return any(within.holds_no_multiple(step, integers=integers) for step in steps)


def _objects(question: Relations, left: Schema, right: Schema, depth: int) -> bool:
    """Tell it of objects: one of the properties that must be there cannot be, or there is no room for all of them."""
    names = _asked_for(left, right)
    if len(names) > min(size(left, "object").high, size(right, "object").high):
        return True
    for name in names:
        mine, theirs = of_property(left, name), of_property(right, name)
        if False in mine or False in theirs:
            return True
        if any(question.disjoint(one, other, depth + 1) for one in mine for other in theirs):
            return True
    for one, other in ((left, right), (right, left)):
        dependent = mapping(one.get("dependentSchemas"))
        if any(name in dependent and question.disjoint(dependent[name], other, depth + 1, _OBJECT) for name in names):
            return True
    return any(_misnamed(question, names, schema, depth) for schema in (left, right))


_OBJECT = frozenset({"object"})


def _asked_for(left: Schema, right: Schema) -> list[str]:
    """Return the properties that two schemas require together, with those that come with them."""
    names = dict.fromkeys([*required_names(left), *required_names(right)])
    dependent = [mapping(schema["dependentRequired"]) for schema in (left, right) if "dependentRequired" in schema]
    waiting = list(names) if dependent else []
    while waiting:
        name = waiting.pop()
        more = [each for needs in dependent for each in listing(needs.get(name)) if each.__class__ is str and each not in names]
        names.update(dict.fromkeys(more))
        waiting += more
    return list(names)


def _misnamed(question: Relations, names: list[str], schema: Schema, depth: int) -> bool:
    """Tell whether a schema refuses one of some names of properties."""
    return "propertyNames" in schema and any(
        question.disjoint({"const": name}, schema["propertyNames"], depth + 1) for name in names
    )


def _arrays(question: Relations, left: Schema, right: Schema, depth: int) -> bool:
    """Tell it of arrays: an item that must be there cannot be, one that is asked for is none, or too few of them differ."""
    length = size(left, "array").and_(size(right, "array"))
    least = max(length.low, _contained(left), _contained(right))
    if least > min(length.high, _different(left, right)) or any(
        _contained(each) > _most_contained(each) for each in (left, right)
    ):
        return True
    listed = max(len(all_items(left)), len(all_items(right)))
    for position in range(int(min(least, listed, POSITIONS))):
        if question.disjoint(of_item(left, position), of_item(right, position), depth + 1):
            return True
    return any(
        _uncontained(question, one, other, depth) for one, other in ((left, right), (right, left), (left, left), (right, right))
    )


def _contained(schema: Schema) -> int | float:
    """Return how many items must be as `contains` says."""
    least = schema.get("minContains", 1)
    return least if "contains" in schema and is_number(least) else 0


def _most_contained(schema: Schema) -> int | float:
    most = schema.get("maxContains")
    return most if is_number(most) else inf


def _different(left: Schema, right: Schema) -> int | float:
    """Return how many items can differ from each other, where all of them must."""
    if left.get("uniqueItems") is not True and right.get("uniqueItems") is not True:
        return inf
    return min(_values(schema.get("items")) if not schema.get("prefixItems") else inf for schema in (left, right))


def _values(schema: Json) -> int | float:
    """Return how many values a schema allows at most."""
    if not isinstance(schema, dict):
        return 0 if schema is False else inf
    values = listed_values(schema)
    kinds = own_kinds(schema)
    return sum(_FEW.get(kind, inf) for kind in kinds) if values is None else len(unique(values))


_FEW = {"null": 1, "boolean": 2}
"""How many values there are of kinds that have few."""


def _uncontained(question: Relations, left: Schema, right: Schema, depth: int) -> bool:
    """Tell whether a schema asks for an item that no item of another schema can be."""
    if _contained(left) <= 0 or len(all_items(right)) > POSITIONS:
        return False
    return all(question.disjoint(left["contains"], item, depth + 1) for item in all_items(right))
