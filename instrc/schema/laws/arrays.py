"""The laws of the keywords about arrays.

`items`, `prefixItems`, `contains` with `minContains` and `maxContains`, `minItems`, `maxItems`, `uniqueItems`.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from instrc.schema.kinds import EqualityKeys, is_number, listed_values, own_kinds, unique
from instrc.schema.laws.law import NO_LAW, Answer, KeywordLaws, Kinds, Relation, Schema, Verdict, all_satisfied, decided_elsewhere
from instrc.schema.laws.numbers import Range, bound, greater, laws_of_sizes, lesser
from instrc.schema.scopes import Term
from instrc.schema.walk import all_items, of_item
from instrc.text.jsonvalue import Json, as_array, listing

if TYPE_CHECKING:
    from instrc.schema.laws.law import InstanceEvaluation, Relations

POSITIONS: Final = 200
"""Maximum items of an array that are examined one by one."""


class ItemRules(Struct):
    """The items of one schema: the first ones individually, and all further ones (`None` if anything is allowed)."""

    prefix: list[Term]
    items: Term | None


def join_items(parts: list[ItemRules]) -> tuple[list[list[Term]], list[Term]]:
    """Return the schemas of each listed position and of every further item.

    A position that one schema lists and another does not falls under the other's `items`.
    Beyond the end of a closed list there are no items, so none is listed.
    """
    length = max(len(part.prefix) for part in parts)
    ends = [len(part.prefix) for part in parts if part.items is not None and part.items[0] is False]
    if ends:
        length = min(length, *ends)
    prefix: list[list[Term]] = [[] for _ in range(length)]
    for part in parts:
        for position in range(length):
            if position < len(part.prefix):
                prefix[position].append(part.prefix[position])
            elif part.items is not None:
                prefix[position].append(part.items)
    return prefix, [part.items for part in parts if part.items is not None]


def length(schema: Schema) -> Range:
    """Return the lengths of an array that a schema allows."""
    high: int | float = inf
    if schema.get("items") is False:
        prefix = schema.get("prefixItems", [])
        high = len(prefix) if prefix.__class__ is list else inf
    most = bound(schema, "maxItems")
    return Range(low=max(bound(schema, "minItems") or 0, 0), high=high if most is None else min(most, high))


def disjoint(question: Relations, left: Schema, right: Schema, depth: int) -> bool:
    """Return whether no array satisfies the array keywords of two schemas.

    A required item is impossible or not allowed, or too few items can differ.
    """
    lengths = length(left).and_(length(right))
    if lengths.is_empty():
        return True
    at_least = max(lengths.low, _contained(left), _contained(right))
    if at_least > min(lengths.high, _different(left, right)) or any(
        _contained(item) > _most_contained(item) for item in (left, right)
    ):
        return True
    listed = max(len(all_items(left)), len(all_items(right)))
    for position in range(int(min(at_least, listed, POSITIONS))):
        if question.disjoint(of_item(left, position), of_item(right, position), depth + 1):
            return True
    return any(
        _uncontained(question, one, other, depth) for one, other in ((left, right), (right, left), (left, left), (right, right))
    )


def _contained(schema: Schema) -> int | float:
    """Return how many items `contains` requires."""
    at_least = schema.get("minContains", 1)
    return at_least if "contains" in schema and is_number(at_least) else 0


def _different(left: Schema, right: Schema) -> int | float:
    """Return the maximum number of different items, if all of them must differ."""
    if left.get("uniqueItems") is not True and right.get("uniqueItems") is not True:
        return inf
    return min(_values(schema.get("items")) if not schema.get("prefixItems") else inf for schema in (left, right))


_FEW = {"null": 1, "boolean": 2}
"""Number of values of the types that have few."""


def _values(schema: Json) -> int | float:
    """Return the maximum number of values that a schema allows."""
    if not isinstance(schema, dict):
        return 0 if schema is False else inf
    values = listed_values(schema)
    kinds = own_kinds(schema)
    return sum(_FEW.get(kind, inf) for kind in kinds) if values is None else len(unique(values))


def _most_contained(schema: Schema) -> int | float:
    most = schema.get("maxContains")
    return most if is_number(most) else inf


def _uncontained(question: Relations, left: Schema, right: Schema, depth: int) -> bool:
    """Return whether a schema requires an item that no item of another schema can be."""
    if _contained(left) <= 0 or len(all_items(right)) > POSITIONS:
        return False
    return all(question.disjoint(left["contains"], item, depth + 1) for item in all_items(right))


def stricter(one: Schema, other: Schema) -> Schema:
    """Return a `contains` with the stricter bounds of two with equal schemas."""
    joined = dict(one)
    if "minContains" in one or "minContains" in other:
        joined["minContains"] = max(_contained(one), _contained(other))
    if "maxContains" in one or "maxContains" in other:
        joined["maxContains"] = min(_most_contained(one), _most_contained(other))
    return joined


def contains_more(implies: Relation, one: Schema, other: Schema) -> bool:
    """Return whether a `contains` requires everything that another requires."""
    unbounded = _most_contained(other) == inf
    return _contained(one) >= _contained(other) and unbounded and implies(one["contains"], other["contains"])


def contains_impossible(group: Schema) -> bool:
    """Return whether a `contains` requires more items than it allows."""
    return _contained(group) > _most_contained(group)


def none_of_several(groups: list[Schema]) -> Schema:
    """Return one `contains` for several of which a list must contain no item."""
    return {"contains": {"anyOf": [group["contains"] for group in groups]}, "minContains": 0, "maxContains": 0}


def contained_by_length(group: Schema, around: Schema) -> Schema | None:
    """Return the length of lists that contain so many items of any kind, next to that of `around`, or `None` if it has no law."""
    sizes = {"minItems": group.get("minContains", 1)}
    if "maxContains" in group:
        sizes["maxItems"] = group["maxContains"]
    joined: Schema = {}
    for word, size in sizes.items():
        law = greater if word == "minItems" else lesser
        found = law(around[word], size) if word in around else size
        if isinstance(found, Verdict):
            return None
        joined[word] = found
    return joined


_LEAST, _MOST = laws_of_sizes(length)


def _contains_implied(question: Relations, left: Schema, _keyword: str, right: Schema, depth: int, _kinds: Kinds) -> bool:
    """Decide implication for `contains`, `minContains` and `maxContains` together."""
    if "contains" not in right:
        return True
    least, most = right.get("minContains", 1), right.get("maxContains")
    if not is_number(least) or not (most is None or is_number(most)):
        return False
    lengths = length(left)
    at_most = most is None or lengths.high <= most
    at_least = least <= 0 or (
        lengths.low >= least and all(question.implies(item, right["contains"], depth + 1) for item in all_items(left))
    )
    own_least = left.get("minContains", 1)
    if not at_least and "contains" in left and is_number(own_least) and own_least >= least:
        at_least = question.implies(left["contains"], right["contains"], depth + 1)
    return at_least and at_most


_COUNT = KeywordLaws(decided_elsewhere, implied=_contains_implied, beside=("contains", "minContains", "maxContains"))


def _items_satisfied(evaluation: InstanceEvaluation, value: Json, keyword: str, schema: Schema, depth: int) -> Answer:
    if schema[keyword].__class__ is list:
        return None
    start = len(listing(schema.get("prefixItems")))
    return all_satisfied(evaluation.of(item, schema[keyword], depth + 1) for item in as_array(value)[start:])


def _items_implied(question: Relations, left: Schema, keyword: str, right: Schema, depth: int, _kinds: Kinds) -> bool:
    start = len(listing(right.get("prefixItems")))
    listed = len(listing(left.get("prefixItems")))
    if right[keyword].__class__ is list or listed > POSITIONS:
        return False
    if length(left).high <= start:
        return True
    positions = range(start, max(start, listed) + 1)
    return all(question.implies(of_item(left, position), right[keyword], depth + 1) for position in positions)


def _prefix_satisfied(evaluation: InstanceEvaluation, value: Json, keyword: str, schema: Schema, depth: int) -> Answer:
    pairs = zip(as_array(value), as_array(schema[keyword]), strict=False)
    return all_satisfied(evaluation.of(item, below, depth + 1) for item, below in pairs)


def _prefix_implied(question: Relations, left: Schema, keyword: str, right: Schema, depth: int, _kinds: Kinds) -> bool:
    asked, longest = as_array(right[keyword]), length(left).high
    return all(
        position >= longest or question.implies(of_item(left, position), below, depth + 1) for position, below in enumerate(asked)
    )


def _contains_satisfied(evaluation: InstanceEvaluation, value: Json, keyword: str, schema: Schema, depth: int) -> Answer:
    """Count the items that `contains` accepts."""
    items = as_array(value)
    least, most = schema.get("minContains", 1), schema.get("maxContains", len(items))
    if not is_number(least) or not is_number(most):
        return None
    answers = [evaluation.of(item, schema[keyword], depth + 1) for item in items]
    sure, possible = answers.count(True), len(answers) - answers.count(False)
    if sure >= least and possible <= most:
        return True
    return False if possible < least or sure > most else None


def _unique_satisfied(_evaluation: InstanceEvaluation, value: Json, keyword: str, schema: Schema, _depth: int) -> Answer:
    key_of, items = EqualityKeys(), as_array(value)
    return not schema[keyword] or len({key_of(item) for item in items}) == len(items)


def _unique_items(left: Json, right: Json) -> Json | Verdict:
    """Require uniqueness if either does."""
    return left or right if left.__class__ is bool and right.__class__ is bool else NO_LAW


def _unique_implied(_question: Relations, left: Schema, keyword: str, right: Schema, _depth: int, _kinds: Kinds) -> bool:
    return not right[keyword] or length(left).high <= 1


LAWS: Final = {
    "items": KeywordLaws(_items_satisfied, implied=_items_implied, beside=("prefixItems",)),
    "prefixItems": KeywordLaws(_prefix_satisfied, implied=_prefix_implied, shape=list),
    "contains": KeywordLaws(_contains_satisfied, implied=_contains_implied, beside=("minContains", "maxContains")),
    "minContains": _COUNT,
    "maxContains": _COUNT,
    "minItems": _LEAST,
    "maxItems": _MOST,
    "uniqueItems": KeywordLaws(_unique_satisfied, _unique_items, implied=_unique_implied, shape=bool),
}
