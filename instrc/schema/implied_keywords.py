"""When a schema says what one keyword of another schema says: one law a keyword.

Each law gets the schema that may say it (`left`), the one that has the keyword (`right`), and the kinds of values asked about.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TypeAlias

from instrc.jsonvalue import Json, as_array, equal, listing, mapping
from instrc.limits.schemas import POSITIONS
from instrc.schema.bounds import numbers, size
from instrc.schema.kinds import NUMBERS, kinds_of_types
from instrc.schema.laws import is_number, types_of
from instrc.schema.members import all_items, of_item, of_property, required_names
from instrc.schema.name_patterns import matches
from instrc.schema.question import Relations
from instrc.schema.vocabulary import LAWS
from instrc.schema.walk import TRIVIAL

Schema: TypeAlias = dict[str, Json]
Kinds: TypeAlias = frozenset[str]
Implication: TypeAlias = Callable[[Relations, Schema, str, Schema, int, Kinds], bool]

_TOGETHER: dict[str, tuple[str, ...]] = {
    "additionalProperties": ("properties", "patternProperties"),
    "items": ("prefixItems",),
    **dict.fromkeys(("contains", "minContains", "maxContains"), ("contains", "minContains", "maxContains")),
    **dict.fromkeys(("if", "then", "else"), ("if", "then", "else")),
}
"""What must be equal too for two equal occurrences of a keyword to say the same."""


def is_implied(question: Relations, left: Schema, keyword: str, right: Schema, depth: int, kinds: Kinds) -> bool:
    """Tell whether the keywords of `left` by themselves, its combinators aside, say what a keyword of `right` says."""
    if keyword in left and question.are_equal(left[keyword], right[keyword], depth):
        beside = _TOGETHER.get(keyword, ())
        if all((word in left) == (word in right) and equal(left.get(word), right.get(word)) for word in beside):
            return True
    law = _IMPLIED.get(keyword)
    return law is not None and law(question, left, keyword, right, depth, kinds)


def _type(_question: Relations, _left: Schema, keyword: str, right: Schema, _depth: int, kinds: Kinds) -> bool:
    return types_of(right[keyword]) is not None and kinds <= kinds_of_types(right[keyword])


def _bound_implied(_question: Relations, left: Schema, keyword: str, right: Schema, _depth: int, kinds: Kinds) -> bool:
    value = right[keyword]
    if not is_number(value):
        return False
    asked: Schema = {keyword: value}
    return all(numbers(left, integers=kind == "integer").is_within(numbers(asked, integers=False)) for kind in kinds & NUMBERS)


def _size(_question: Relations, left: Schema, keyword: str, right: Schema, _depth: int, _kinds: Kinds) -> bool:
    kind = {"Length": "string", "Items": "array", "Properties": "object"}[keyword[3:]]
    return is_number(right[keyword]) and size(left, kind).is_within(size({keyword: right[keyword]}, kind))


def _step(_question: Relations, left: Schema, keyword: str, right: Schema, _depth: int, kinds: Kinds) -> bool:
    value = right[keyword]
    if not is_number(value) or value <= 0:
        return False
    if "fraction" not in kinds and value == 1:
        return True
    own = left.get(keyword)
    return is_number(own) and LAWS[keyword](own, value) == own


def _unique(_question: Relations, left: Schema, keyword: str, right: Schema, _depth: int, _kinds: Kinds) -> bool:
    return right[keyword] is False or (right[keyword] is True and size(left, "array").high <= 1)


def _required(_question: Relations, left: Schema, keyword: str, right: Schema, _depth: int, _kinds: Kinds) -> bool:
    names = right[keyword]
    if names.__class__ is not list or not all(name.__class__ is str for name in names):
        return False
    return set(names) <= set(required_names(left))


def _dependent_required(_question: Relations, left: Schema, keyword: str, right: Schema, _depth: int, _kinds: Kinds) -> bool:
    asked = right[keyword]
    if asked.__class__ is not dict or not all(needs.__class__ is list for needs in asked.values()):
        return False
    required, own = set(required_names(left)), mapping(left.get(keyword))
    return all(
        need in required or need in listing(own.get(name)) or False in of_property(left, name)
        for name, needs in asked.items()
        for need in as_array(needs)
    )


def _dependent_schemas(question: Relations, left: Schema, keyword: str, right: Schema, depth: int, _kinds: Kinds) -> bool:
    asked, own = right[keyword], mapping(left.get(keyword))
    return asked.__class__ is dict and all(
        False in of_property(left, name)
        or question.implies(left, below, depth + 1)
        or (name in own and question.implies(own[name], below, depth + 1))
        for name, below in asked.items()
    )


def _any_implies(question: Relations, conjuncts: Iterable[Json], right: Json, depth: int) -> bool:
    """Tell whether one of some schemas that hold together implies another schema, or nothing satisfies it."""
    return right in TRIVIAL or any(question.implies(one, right, depth + 1) for one in conjuncts)


def _properties(question: Relations, left: Schema, keyword: str, right: Schema, depth: int, _kinds: Kinds) -> bool:
    asked = right[keyword]
    return asked.__class__ is dict and all(
        _any_implies(question, of_property(left, name), below, depth) for name, below in asked.items()
    )


def _patterns(question: Relations, left: Schema, keyword: str, right: Schema, depth: int, _kinds: Kinds) -> bool:
    asked, own = right[keyword], mapping(left.get(keyword))
    return asked.__class__ is dict and all(
        below in TRIVIAL
        or (regex in own and question.implies(own[regex], below, depth + 1))
        or _all_properties(question, left, below, partial(_unmatched, regex), depth)
        for regex, below in asked.items()
    )


def _unmatched(regex: str, name: str) -> bool:
    return matches(regex, name) is False


def _additional(question: Relations, left: Schema, keyword: str, right: Schema, depth: int, _kinds: Kinds) -> bool:
    listed, patterns = mapping(right.get("properties")), mapping(right.get("patternProperties"))
    return right[keyword] in TRIVIAL or _all_properties(
        question,
        left,
        right[keyword],
        lambda name: name in listed or any(matches(regex, name) for regex in patterns),
        depth,
        patterns,
    )


def _all_properties(
    question: Relations,
    left: Schema,
    right: Json,
    passed_over: Callable[[str], bool],
    depth: int,
    patterns: Iterable[str] = (),
) -> bool:
    """Tell whether all properties of `left` satisfy a schema, save those that are passed over."""
    further = left.get("additionalProperties", True)
    names = [name for name in mapping(left.get("properties")) if not passed_over(name)]
    below = [schema for regex, schema in mapping(left.get("patternProperties")).items() if regex not in patterns]
    return all(question.implies(schema, right, depth + 1) for schema in (further, *below)) and all(
        _any_implies(question, of_property(left, name), right, depth) for name in names
    )


def _names(question: Relations, left: Schema, keyword: str, right: Schema, depth: int, _kinds: Kinds) -> bool:
    if keyword in left and question.implies(left[keyword], right[keyword], depth + 1):
        return True
    closed = left.get("additionalProperties") is False and not left.get("patternProperties")
    names: list[Json] = [name for name, below in mapping(left.get("properties")).items() if below is not False]
    return closed and question.implies({"enum": names}, right[keyword], depth + 1) if names else closed


def _items(question: Relations, left: Schema, keyword: str, right: Schema, depth: int, _kinds: Kinds) -> bool:
    start = len(listing(right.get("prefixItems")))
    listed = len(listing(left.get("prefixItems")))
    if right[keyword].__class__ is list or listed > POSITIONS:
        return False
    if size(left, "array").high <= start:
        return True
    positions = range(start, max(start, listed) + 1)
    return all(question.implies(of_item(left, position), right[keyword], depth + 1) for position in positions)


def _prefix(question: Relations, left: Schema, keyword: str, right: Schema, depth: int, _kinds: Kinds) -> bool:
    asked, longest = right[keyword], size(left, "array").high
    return asked.__class__ is list and all(
        position >= longest or question.implies(of_item(left, position), below, depth + 1) for position, below in enumerate(asked)
    )


def _contains(question: Relations, left: Schema, _keyword: str, right: Schema, depth: int, _kinds: Kinds) -> bool:
    """Answer for `contains`, `minContains` and `maxContains` together."""
    if "contains" not in right:
        return True
    least, most = right.get("minContains", 1), right.get("maxContains")
    if not is_number(least) or not (most is None or is_number(most)):
        return False
    length = size(left, "array")
    at_most = most is None or length.high <= most
    at_least = least <= 0 or (
        length.low >= least and all(question.implies(item, right["contains"], depth + 1) for item in all_items(left))
    )
    own_least = left.get("minContains", 1)
    if not at_least and "contains" in left and is_number(own_least) and own_least >= least:
        at_least = question.implies(left["contains"], right["contains"], depth + 1)
    return at_least and at_most


def _all_of(question: Relations, left: Schema, keyword: str, right: Schema, depth: int, kinds: Kinds) -> bool:
    branches = right[keyword]
    return branches.__class__ is list and all(question.implies(left, branch, depth + 1, kinds) for branch in branches)


def _any_of(question: Relations, left: Schema, keyword: str, right: Schema, depth: int, kinds: Kinds) -> bool:
    branches = right[keyword]
    if branches.__class__ is not list:
        return False
    if any(question.implies(left, branch, depth + 1, kinds) for branch in branches):
        return True
    return 1 < len(kinds) < _MANY_KINDS and all(
        any(question.implies(left, branch, depth + 1, frozenset({kind})) for branch in branches) for kind in kinds
    )


_MANY_KINDS = 7


def _one_of_implied(question: Relations, left: Schema, keyword: str, right: Schema, depth: int, kinds: Kinds) -> bool:
    branches = right[keyword]
    if branches.__class__ is not list:
        return False
    implied = [question.implies(left, branch, depth + 1, kinds) for branch in branches]
    others = [branch for branch, chosen in zip(branches, implied, strict=True) if not chosen]
    return implied.count(True) == 1 and all(question.disjoint(left, branch, depth + 1, kinds) for branch in others)


def _not(question: Relations, left: Schema, keyword: str, right: Schema, depth: int, kinds: Kinds) -> bool:
    return question.disjoint(left, right[keyword], depth + 1, kinds)


def _if(question: Relations, left: Schema, keyword: str, right: Schema, depth: int, kinds: Kinds) -> bool:
    """Answer for `if`, `then` and `else` together."""
    if keyword != "if":
        return "if" not in right or _if(question, left, "if", right, depth, kinds)
    then, other = right.get("then", True), right.get("else", True)
    return (question.implies(left, then, depth + 1, kinds) or question.disjoint(left, right["if"], depth + 1, kinds)) and (
        question.implies(left, other, depth + 1, kinds) or question.implies(left, right["if"], depth + 1, kinds)
    )


def _reference(question: Relations, left: Schema, keyword: str, right: Schema, depth: int, kinds: Kinds) -> bool:
    target = question.target(right[keyword])
    return target is not None and question.implies(left, target, depth + 1, kinds)


_IMPLIED: dict[str, Implication] = {
    "type": _type,
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _bound_implied),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"), _size),
    "multipleOf": _step,
    "uniqueItems": _unique,
    "required": _required,
    "dependentRequired": _dependent_required,
    "dependentSchemas": _dependent_schemas,
    "properties": _properties,
    "patternProperties": _patterns,
    "additionalProperties": _additional,
    "propertyNames": _names,
    "items": _items,
    "prefixItems": _prefix,
    **dict.fromkeys(("contains", "minContains", "maxContains"), _contains),
    "allOf": _all_of,
    "anyOf": _any_of,
    "oneOf": _one_of_implied,
    "not": _not,
    **dict.fromkeys(("if", "then", "else"), _if),
    "$ref": _reference,
}
