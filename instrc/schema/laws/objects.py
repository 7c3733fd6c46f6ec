"""The laws of the other keywords about objects.

`required`, `dependentRequired`, `dependentSchemas`, `propertyNames`, `minProperties`, `maxProperties`.
Those about properties by their names are in `properties`.
"""

from __future__ import annotations

from itertools import chain
from math import inf
from typing import TYPE_CHECKING, Final, cast

from instrc.schema.laws.law import NO_LAW, Answer, KeywordLaws, Kinds, Schema, Verdict, all_satisfied
from instrc.schema.laws.numbers import Range, bound, laws_of_sizes
from instrc.schema.walk import of_property, required_names
from instrc.text.jsonvalue import Json, JsonArray, as_array, as_object, listing, mapping

if TYPE_CHECKING:
    from instrc.schema.laws.law import InstanceEvaluation, Relations

_LISTS = frozenset({list})
_TEXTS = frozenset({str})


def size(schema: Schema) -> Range:
    """Return how many properties an object may have, as far as a schema says."""
    names = schema.get("required")
    required = len({name for name in names if name.__class__ is str}) if names.__class__ is list else 0
    high: int | float = inf
    if schema.get("additionalProperties") is False and not schema.get("patternProperties"):
        properties = schema.get("properties", {})
        high = sum(child is not False for child in properties.values()) if properties.__class__ is dict else inf
    most = bound(schema, "maxProperties")
    return Range(low=max(bound(schema, "minProperties") or 0, required), high=high if most is None else min(most, high))


_OBJECT = frozenset({"object"})


def disjoint(question: Relations, left: Schema, right: Schema, depth: int) -> bool:
    """Return whether no object satisfies two schemas by their own keywords about objects.

    One of the properties that must be there cannot be, or there is no room for all of them.
    """
    if size(left).and_(size(right)).is_empty():
        return True
    names = _asked_for(left, right)
    if len(names) > min(size(left).high, size(right).high):
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


def _asked_for(left: Schema, right: Schema) -> list[str]:
    """Return the properties that two schemas require together, with those that come with them."""
    names = dict.fromkeys([*required_names(left), *required_names(right)])
    dependent = [mapping(schema["dependentRequired"]) for schema in (left, right) if "dependentRequired" in schema]
    waiting = list(names) if dependent else []
    while waiting:
        name = waiting.pop()
        more = [item for needs in dependent for item in listing(needs.get(name)) if item.__class__ is str and item not in names]
        names.update(dict.fromkeys(more))
        waiting += more
    return list(names)


def _misnamed(question: Relations, names: list[str], schema: Schema, depth: int) -> bool:
    """Return whether a schema refuses one of some names of properties."""
    return "propertyNames" in schema and any(
        question.disjoint({"const": name}, schema["propertyNames"], depth + 1) for name in names
    )


_LEAST, _MOST = laws_of_sizes(size)


def _required_satisfied(_evaluation: InstanceEvaluation, value: Json, keyword: str, schema: Schema, _depth: int) -> Answer:
    if schema[keyword].__class__ is not list:
        return None
    parts = as_object(value)
    return all(name in parts for name in required_names(schema))


def _required(left: Json, right: Json) -> Json | Verdict:
    """Unite names in order of appearance."""
    if left.__class__ is not list or right.__class__ is not list:
        return NO_LAW
    names = _united([left, right])
    return left if names == left else names


def _required_all(lists: list[Json]) -> Json | Verdict:
    """Unite many lists of names at once."""
    return _united(lists) if _LISTS.issuperset(map(type, lists)) else NO_LAW


def _required_implied(_question: Relations, left: Schema, keyword: str, right: Schema, _depth: int, _kinds: Kinds) -> bool:
    names = right[keyword]
    if names.__class__ is not list or not all(name.__class__ is str for name in names):
        return False
    return set(names) <= set(required_names(left))


def _dependent_required_satisfied(
    _evaluation: InstanceEvaluation, value: Json, keyword: str, schema: Schema, _depth: int
) -> Answer:
    held, parts = schema[keyword], as_object(value)
    if not _lists_by_name(held):
        return None
    return all(need in parts for name, needs in as_object(held).items() if name in parts for need in as_array(needs))


def _dependent_required(left: Json, right: Json) -> Json | Verdict:
    """Unite the names that each name asks for."""
    return _dependent_required_all([left, right])


def _dependent_required_all(maps: list[Json]) -> Json | Verdict:
    """Unite the names that each name asks for in many places at once."""
    if not all(map(_lists_by_name, maps)):
        return NO_LAW
    lists: dict[str, list[Json]] = {}
    for asked in maps:
        for name, names in as_object(asked).items():
            lists.setdefault(name, []).append(names)
    return {name: result[0] if len(result) == 1 else _united(result) for name, result in lists.items()}


def _dependent_required_implied(
    _question: Relations, left: Schema, keyword: str, right: Schema, _depth: int, _kinds: Kinds
) -> bool:
    asked = right[keyword]
    if not _lists_by_name(asked):
        return False
    required, own = set(required_names(left)), mapping(left.get(keyword))
    return all(
        need in required or need in listing(own.get(name)) or False in of_property(left, name)
        for name, needs in as_object(asked).items()
        for need in as_array(needs)
    )


def _dependent_schemas_satisfied(evaluation: InstanceEvaluation, value: Json, keyword: str, schema: Schema, depth: int) -> Answer:
    held, parts = schema[keyword], as_object(value)
    if held.__class__ is not dict:
        return None
    return all_satisfied(evaluation.of(value, below, depth + 1) for name, below in held.items() if name in parts)


def _dependent_schemas_implied(question: Relations, left: Schema, keyword: str, right: Schema, depth: int, _kinds: Kinds) -> bool:
    asked, own = right[keyword], mapping(left.get(keyword))
    return asked.__class__ is dict and all(
        False in of_property(left, name)
        or question.implies(left, below, depth + 1)
        or (name in own and question.implies(own[name], below, depth + 1))
        for name, below in asked.items()
    )


def _names_satisfied(evaluation: InstanceEvaluation, value: Json, keyword: str, schema: Schema, depth: int) -> Answer:
    return all_satisfied(evaluation.of(name, schema[keyword], depth + 1) for name in as_object(value))


def _names_implied(question: Relations, left: Schema, keyword: str, right: Schema, depth: int, _kinds: Kinds) -> bool:
    if keyword in left and question.implies(left[keyword], right[keyword], depth + 1):
        return True
    closed = left.get("additionalProperties") is False and not left.get("patternProperties")
    names: list[Json] = [name for name, below in mapping(left.get("properties")).items() if below is not False]
    return closed and question.implies({"enum": names}, right[keyword], depth + 1) if names else closed


LAWS: Final = {
    "required": KeywordLaws(_required_satisfied, _required, _required_all, _required_implied),
    "dependentRequired": KeywordLaws(
        _dependent_required_satisfied, _dependent_required, _dependent_required_all, _dependent_required_implied
    ),
    "dependentSchemas": KeywordLaws(_dependent_schemas_satisfied, implied=_dependent_schemas_implied),
    "propertyNames": KeywordLaws(_names_satisfied, implied=_names_implied),
    "minProperties": _LEAST,
    "maxProperties": _MOST,
}


def _united(lists: list[Json]) -> Json:
    names = list(chain.from_iterable(cast("list[JsonArray]", lists)))
    return [*dict.fromkeys(names if _TEXTS.issuperset(map(type, names)) else [name for name in names if name.__class__ is str])]


def _lists_by_name(value: Json) -> bool:
    return value.__class__ is dict and all(names.__class__ is list for names in value.values())
