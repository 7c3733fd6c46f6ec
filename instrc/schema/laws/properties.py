"""The laws of the keywords about properties by their names: `properties`, `patternProperties`, `additionalProperties`.

`additionalProperties` sees only the names and patterns beside it, so these three are one group.
Two groups join into one where that is exact; where it is not (closed groups with different patterns,
patterns that no two judges need read alike) the second stays apart.
That no object satisfies two such groups is in `objects`, with what is required.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Final, TypeAlias

from msgspec import Struct, field

from instrc.schema.laws.law import Answer, InstanceEvaluation, KeywordLaws, Kinds, Relations, Schema, all_satisfied, opposite
from instrc.schema.patterns import matches
from instrc.schema.scopes import Term
from instrc.schema.walk import TRIVIAL, of_property
from instrc.text.jsonvalue import Json, as_object, mapping
from instrc.text.limits import MATCHED_AT_ONCE

Terms: TypeAlias = list[Term]
"""Schemas that must hold together, each with the scope to read it in."""


class PropertyRules(Struct):
    """What one or more schemas say about properties."""

    properties: dict[str, Terms] = field(default_factory=dict)
    patterns: dict[str, Terms] = field(default_factory=dict)
    extra: Terms | None = None
    """What every other property must be; `None` if anything goes."""
    closed: bool = False
    """Whether `extra` is `false`."""
    origin: int = -1
    """The conjunct that closes."""


class ForbiddenProperty(Struct):
    """A property that a closed schema forbids: its name, the conjunct that closes, and the property's schema."""

    name: str
    closer: int
    terms: Terms


def join_properties(left: PropertyRules, right: PropertyRules, lost: list[ForbiddenProperty]) -> bool:
    """Make `left` mean both groups; if there is no exact way, change nothing and return false.

    The lists of terms in `left` grow in place: a conjunction of a thousand closed branches adds a thousand times to each.
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
    """Return the patterns that ask nothing, and exempt their names from nothing, in a group beside one that sees every name."""
    if one.extra is not None or other.extra is None:
        return set()
    return {regex for regex, terms in one.patterns.items() if regex not in other.patterns and all(s in TRIVIAL for s, _ in terms)}


def _joinable(closing: PropertyRules, other: PropertyRules, idle: set[str]) -> bool:
    """Return whether what `closing` says about names it does not mention can be said of the other's names and patterns."""
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
    """Return whether a pattern with these schemas forbids its names, whatever else is said about them."""
    return any(schema is False for schema, _ in terms)


def _patterns_lost(closing: PropertyRules, other: PropertyRules) -> set[str]:
    """Return the patterns whose names are all forbidden, save those that `closing` lists one by one."""
    if not closing.closed or closing.patterns:
        return set()
    return {regex for regex in other.patterns if all(matches(regex, name) is not None for name in closing.properties)}


def _seen_by(other: PropertyRules, name: str, terms: Terms, lost: list[ForbiddenProperty]) -> Terms | None:
    """Return what a property must be when a group that does not list it has its say too; `None` if it is forbidden."""
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
    """Return the patterns of two groups; what dropped ones ask of the properties that are listed is asked of these."""
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
    """Return how often a name of one group is checked against a pattern of the other when they are joined."""
    if one.extra is None and other.extra is None:
        return 0
    return len(one.patterns) * len(other.properties) + len(other.patterns) * len(one.properties)


def without_idle_patterns(group: PropertyRules) -> None:
    """Drop patterns under which a closed group forbids all names: it forbids them anyway, save those that it lists.

    Where it allows some by another pattern nothing is dropped: a name may have both.
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
    held, parts = schema[keyword], as_object(value)
    if held.__class__ is not dict:
        return None
    return all_satisfied(evaluation.of(parts[name], below, depth + 1) for name, below in held.items() if name in parts)


def _properties_implied(question: Relations, left: Schema, keyword: str, right: Schema, depth: int, _kinds: Kinds) -> bool:
    asked = right[keyword]
    return asked.__class__ is dict and all(
        _any_implies(question, of_property(left, name), below, depth) for name, below in asked.items()
    )


def _patterns_satisfied(evaluation: InstanceEvaluation, value: Json, keyword: str, schema: Schema, depth: int) -> Answer:
    held, parts = schema[keyword], as_object(value)
    if held.__class__ is not dict:
        return None
    pairs = [(matches(regex, name), parts[name], below) for regex, below in held.items() for name in parts]
    return all_satisfied(_if_matched(evaluation, *pair, depth) for pair in pairs)


def _patterns_implied(question: Relations, left: Schema, keyword: str, right: Schema, depth: int, _kinds: Kinds) -> bool:
    asked, own = right[keyword], mapping(left.get(keyword))
    return asked.__class__ is dict and all(
        below in TRIVIAL
        or (regex in own and question.implies(own[regex], below, depth + 1))
        or _all_properties(question, left, below, partial(_unmatched, regex), depth)
        for regex, below in asked.items()
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
    "properties": KeywordLaws(_properties_satisfied, implied=_properties_implied),
    "patternProperties": KeywordLaws(_patterns_satisfied, implied=_patterns_implied),
    "additionalProperties": KeywordLaws(
        _additional_satisfied, implied=_additional_implied, beside=("properties", "patternProperties")
    ),
}


def _any_implies(question: Relations, conjuncts: Iterable[Json], right: Json, depth: int) -> bool:
    """Return whether one of some schemas that hold together implies another schema, or nothing satisfies it."""
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
    """Return whether all properties of `left` satisfy a schema, save those that are passed over."""
    further = left.get("additionalProperties", True)
    names = [name for name in mapping(left.get("properties")) if not passed_over(name)]
    below = [schema for regex, schema in mapping(left.get("patternProperties")).items() if regex not in patterns]
    return all(question.implies(schema, right, depth + 1) for schema in (further, *below)) and all(
        _any_implies(question, of_property(left, name), right, depth) for name in names
    )


def _unmatched(regex: str, name: str) -> bool:
    return matches(regex, name) is False


def _any_matches(patterns: Iterable[str], name: str) -> Answer:
    """Return whether one of some patterns is found in a name."""
    return opposite(all_satisfied(opposite(matches(regex, name)) for regex in patterns))
