"""The laws of the keywords about objects: properties by name, required ones, and counts.

`additionalProperties` depends on the names and patterns next to it: these three keywords are one group.
Two groups are merged where that is exact; otherwise (closed groups with different patterns,
patterns that validators may read differently) the second stays separate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from itertools import chain
from math import inf
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from msgspec import Struct, field

from instrc.schema.laws.law import (
    NO_LAW,
    Answer,
    InstanceEvaluation,
    KeywordLaws,
    Kinds,
    Relations,
    Schema,
    Verdict,
    all_satisfied,
    opposite,
)
from instrc.schema.laws.numbers import Range, bound, laws_of_sizes
from instrc.schema.patterns import matches
from instrc.schema.scopes import Term
from instrc.schema.walk import TRIVIAL, of_property, required_names
from instrc.text.jsonvalue import Json, JsonArray, as_array, as_object, listing, mapping
from instrc.text.limits import MATCHED_AT_ONCE

if TYPE_CHECKING:
    from instrc.schema.laws.law import InstanceEvaluation, Relations

_LISTS = frozenset({list})
_TEXTS = frozenset({str})


def size(schema: Schema) -> Range:
    """Return the range of property counts that a schema allows."""
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
    """Return whether no object satisfies the object keywords of two schemas.

    A required property is impossible, or there are too many of them.
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
    """Return the properties that two schemas require together, with their dependent ones."""
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
    """Return whether a schema refuses one of some property names."""
    return "propertyNames" in schema and any(
        question.disjoint({"const": name}, schema["propertyNames"], depth + 1) for name in names
    )


_LEAST, _MOST = laws_of_sizes(size)


def _required_satisfied(_evaluation: InstanceEvaluation, value: Json, _keyword: str, schema: Schema, _depth: int) -> Answer:
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
    names = as_array(right[keyword])
    return all(name.__class__ is str for name in names) and set(names) <= set(required_names(left))


def _dependent_required_satisfied(
    _evaluation: InstanceEvaluation, value: Json, keyword: str, schema: Schema, _depth: int
) -> Answer:
    held, parts = schema[keyword], as_object(value)
    if not _lists_by_name(held):
        return None
    return all(need in parts for name, needs in as_object(held).items() if name in parts for need in as_array(needs))


def _dependent_required(left: Json, right: Json) -> Json | Verdict:
    """Merge the dependent names of each name."""
    return _dependent_required_all([left, right])


def _dependent_required_all(maps: list[Json]) -> Json | Verdict:
    """Merge the dependent names of each name from many places at once."""
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
    held, parts = as_object(schema[keyword]), as_object(value)
    return all_satisfied(evaluation.of(value, below, depth + 1) for name, below in held.items() if name in parts)


def _dependent_schemas_implied(question: Relations, left: Schema, keyword: str, right: Schema, depth: int, _kinds: Kinds) -> bool:
    own = mapping(left.get(keyword))
    return all(
        False in of_property(left, name)
        or question.implies(left, below, depth + 1)
        or (name in own and question.implies(own[name], below, depth + 1))
        for name, below in as_object(right[keyword]).items()
    )


def _names_satisfied(evaluation: InstanceEvaluation, value: Json, keyword: str, schema: Schema, depth: int) -> Answer:
    return all_satisfied(evaluation.of(name, schema[keyword], depth + 1) for name in as_object(value))


def _names_implied(question: Relations, left: Schema, keyword: str, right: Schema, depth: int, _kinds: Kinds) -> bool:
    if keyword in left and question.implies(left[keyword], right[keyword], depth + 1):
        return True
    closed = left.get("additionalProperties") is False and not left.get("patternProperties")
    names: list[Json] = [name for name, below in mapping(left.get("properties")).items() if below is not False]
    return closed and question.implies({"enum": names}, right[keyword], depth + 1) if names else closed


def _united(lists: list[Json]) -> Json:
    names = list(chain.from_iterable(cast("list[JsonArray]", lists)))
    return [*dict.fromkeys(names if _TEXTS.issuperset(map(type, names)) else [name for name in names if name.__class__ is str])]


def _lists_by_name(value: Json) -> bool:
    return value.__class__ is dict and all(names.__class__ is list for names in value.values())


Terms: TypeAlias = list[Term]
"""Schemas that must hold together, each with its scope."""


class PropertyRules(Struct):
    """The property keywords of one or more schemas."""

    properties: dict[str, Terms] = field(default_factory=dict)
    patterns: dict[str, Terms] = field(default_factory=dict)
    extra: Terms | None = None
    """Schemas for every other property; `None` if anything is allowed."""
    closed: bool = False
    """Whether `extra` is `false`."""
    origin: int = -1
    """Index of the conjunct that closes the object."""


class ForbiddenProperty(Struct):
    """A property that a closed schema forbids: its name, the conjunct that closes, and the property's schema."""

    name: str
    closer: int
    terms: Terms


def join_properties(left: PropertyRules, right: PropertyRules, lost: list[ForbiddenProperty]) -> bool:
    """Merge the right group into `left`; if there is no exact way, change nothing and return false.

    The lists of terms in `left` grow in place, since a conjunction of a thousand closed branches adds a thousand times to each.
    """
    if left.extra is None and right.extra is None:
        _unite(left.properties, right.properties)
        _unite(left.patterns, right.patterns)
        return True
    if names_to_match(left, right) > MATCHED_AT_ONCE:
        return False
    idle = _idle(left, right) | _idle(right, left)
    if not _joinable(left, right, idle) or not _joinable(right, left, idle):
        return False
    dropped = _patterns_lost(left, right) | _patterns_lost(right, left)
    properties: dict[str, Terms] = {}
    for name, terms in left.properties.items():
        kept = terms if name in right.properties else _seen_by(right, name, terms, lost)
        if kept is not None:
            properties[name] = kept
    for name, terms in right.properties.items():
        if name in left.properties:
            properties[name] += terms
        else:
            kept = _seen_by(left, name, terms, lost)
            if kept is not None:
                properties[name] = kept
    patterns = _joined_patterns(left, right, properties, dropped, idle)
    if right.closed and not left.closed:
        left.origin = right.origin
    left.properties = properties
    left.patterns = patterns
    left.extra = (left.extra or []) + (right.extra or [])
    left.closed = left.closed or right.closed
    return True


def _unite(into: dict[str, Terms], more: dict[str, Terms]) -> None:
    for name, terms in more.items():
        if name in into:
            into[name] += terms
        else:
            into[name] = terms


def _idle(one: PropertyRules, other: PropertyRules) -> set[str]:
    """Return the patterns that require and exempt nothing, in a group next to one that covers every name."""
    if one.extra is not None or other.extra is None:
        return set()
    return {regex for regex, terms in one.patterns.items() if regex not in other.patterns and all(s in TRIVIAL for s, _ in terms)}


def _joinable(closing: PropertyRules, other: PropertyRules, idle: set[str]) -> bool:
    """Return whether the schema of `closing` for additional names can be applied to the other's names and patterns."""
    if closing.extra is None:
        return True
    for regex, terms in other.patterns.items():
        if regex in closing.patterns or regex in idle or _forbids(terms):
            continue
        if closing.patterns:
            return False
        for name in closing.properties:
            found = matches(regex, name)
            if found is None or (found and not closing.closed):
                return False
    return all(
        _forbids(terms) or matches(regex, name) is not None
        for regex, terms in closing.patterns.items()
        for name in other.properties
        if name not in closing.properties
    )


def _forbids(terms: Terms) -> bool:
    """Return whether a pattern with these schemas forbids its names, whatever else applies."""
    return any(schema is False for schema, _ in terms)


def _patterns_lost(closing: PropertyRules, other: PropertyRules) -> set[str]:
    """Return the patterns whose names are all forbidden, except those that `closing` lists."""
    if not closing.closed or closing.patterns:
        return set()
    return {regex for regex in other.patterns if all(matches(regex, name) is not None for name in closing.properties)}


def _seen_by(other: PropertyRules, name: str, terms: Terms, lost: list[ForbiddenProperty]) -> Terms | None:
    """Return the schema of a property under a group that does not list it, or `None` if it is forbidden."""
    if other.extra is None or any(matches(regex, name) for regex in other.patterns):
        return terms
    if other.closed:
        lost.append(ForbiddenProperty(name, other.origin, terms))
        return None
    terms += other.extra
    return terms


def _joined_patterns(
    left: PropertyRules, right: PropertyRules, properties: dict[str, Terms], dropped: set[str], idle: set[str]
) -> dict[str, Terms]:
    """Return the merged patterns of two groups; dropped ones are applied to the listed properties."""
    patterns: dict[str, Terms] = {}
    for one, other in ((left, right), (right, left)):
        for regex, terms in one.patterns.items():
            if regex in idle:
                continue
            if regex in dropped:
                for name in other.properties:
                    if name in properties and matches(regex, name):
                        properties[name] += terms
            elif regex in patterns:
                patterns[regex] += terms
            else:
                patterns[regex] = terms
                if regex not in other.patterns:
                    terms.extend(other.extra or ())
    return patterns


def names_to_match(one: PropertyRules, other: PropertyRules) -> int:
    """Return the number of name and pattern pairs that merging two groups must check."""
    if one.extra is None and other.extra is None:
        return 0
    return len(one.patterns) * len(other.properties) + len(other.patterns) * len(one.properties)


def without_idle_patterns(group: PropertyRules) -> None:
    """Drop patterns for which a closed group forbids all names: it forbids them anyway, except listed ones.

    If another pattern allows some, nothing is dropped: a name may match both.
    """
    if not group.closed or not all(map(_forbids, group.patterns.values())) or names_to_match(group, group) > MATCHED_AT_ONCE:
        return
    for regex, terms in list(group.patterns.items()):
        found = {name: matches(regex, name) for name in group.properties}
        if None in found.values():
            continue
        del group.patterns[regex]
        for name, match in found.items():
            if match:
                group.properties[name] += terms


def _properties_satisfied(evaluation: InstanceEvaluation, value: Json, keyword: str, schema: Schema, depth: int) -> Answer:
    held, parts = as_object(schema[keyword]), as_object(value)
    return all_satisfied(evaluation.of(parts[name], below, depth + 1) for name, below in held.items() if name in parts)


def _properties_implied(question: Relations, left: Schema, keyword: str, right: Schema, depth: int, _kinds: Kinds) -> bool:
    asked = as_object(right[keyword])
    return all(_any_implies(question, of_property(left, name), below, depth) for name, below in asked.items())


def _patterns_satisfied(evaluation: InstanceEvaluation, value: Json, keyword: str, schema: Schema, depth: int) -> Answer:
    held, parts = as_object(schema[keyword]), as_object(value)
    pairs = [(matches(regex, name), parts[name], below) for regex, below in held.items() for name in parts]
    return all_satisfied(_if_matched(evaluation, *pair, depth) for pair in pairs)


def _patterns_implied(question: Relations, left: Schema, keyword: str, right: Schema, depth: int, _kinds: Kinds) -> bool:
    own = mapping(left.get(keyword))
    return all(
        below in TRIVIAL
        or (regex in own and question.implies(own[regex], below, depth + 1))
        or _all_properties(question, left, below, partial(_unmatched, regex), depth)
        for regex, below in as_object(right[keyword]).items()
    )


def _additional_satisfied(evaluation: InstanceEvaluation, value: Json, keyword: str, schema: Schema, depth: int) -> Answer:
    listed, patterns = mapping(schema.get("properties")), mapping(schema.get("patternProperties"))
    further = [(name, part) for name, part in as_object(value).items() if name not in listed]
    return all_satisfied(
        _if_matched(evaluation, opposite(_any_matches(patterns, name)), part, schema[keyword], depth) for name, part in further
    )


def _additional_implied(question: Relations, left: Schema, keyword: str, right: Schema, depth: int, _kinds: Kinds) -> bool:
    listed, patterns = mapping(right.get("properties")), mapping(right.get("patternProperties"))
    return right[keyword] in TRIVIAL or _all_properties(
        question,
        left,
        right[keyword],
        lambda name: name in listed or any(matches(regex, name) for regex in patterns),
        depth,
        patterns,
    )


LAWS: Final = {
    "required": KeywordLaws(_required_satisfied, _required, _required_all, _required_implied, list),
    "dependentRequired": KeywordLaws(
        _dependent_required_satisfied, _dependent_required, _dependent_required_all, _dependent_required_implied
    ),
    "dependentSchemas": KeywordLaws(_dependent_schemas_satisfied, implied=_dependent_schemas_implied, shape=dict),
    "propertyNames": KeywordLaws(_names_satisfied, implied=_names_implied),
    "minProperties": _LEAST,
    "maxProperties": _MOST,
    "properties": KeywordLaws(_properties_satisfied, implied=_properties_implied, shape=dict),
    "patternProperties": KeywordLaws(_patterns_satisfied, implied=_patterns_implied, shape=dict),
    "additionalProperties": KeywordLaws(
        _additional_satisfied, implied=_additional_implied, beside=("properties", "patternProperties")
    ),
}


def _any_implies(question: Relations, conjuncts: Iterable[Json], right: Json, depth: int) -> bool:
    """Return whether one of several conjoined schemas implies another schema, or is unsatisfiable."""
    return right in TRIVIAL or any(question.implies(one, right, depth + 1) for one in conjuncts)


def _if_matched(evaluation: InstanceEvaluation, match: Answer, part: Json, below: Json, depth: int) -> Answer:
    if match is False:
        return True
    result = evaluation.of(part, below, depth + 1)
    return result if match or result else None


def _all_properties(
    question: Relations,
    left: Schema,
    right: Json,
    passed_over: Callable[[str], bool],
    depth: int,
    patterns: Iterable[str] = (),
) -> bool:
    """Return whether all properties of `left`, except `passed_over`, satisfy a schema."""
    further = left.get("additionalProperties", True)
    names = [name for name in mapping(left.get("properties")) if not passed_over(name)]
    below = [schema for regex, schema in mapping(left.get("patternProperties")).items() if regex not in patterns]
    return all(question.implies(schema, right, depth + 1) for schema in (further, *below)) and all(
        _any_implies(question, of_property(left, name), right, depth) for name in names
    )


def _unmatched(regex: str, name: str) -> bool:
    return matches(regex, name) is False


def _any_matches(patterns: Iterable[str], name: str) -> Answer:
    """Return whether one of several patterns matches a name."""
    return opposite(all_satisfied(opposite(matches(regex, name)) for regex in patterns))
