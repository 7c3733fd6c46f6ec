"""The laws of `if` with `then` and `else`; several of them as one, or as schemas that depend on keys.

Where one of two conditions excludes the other, `[{"if": A, "then": B}, {"if": C, "then": D}]` means the same as
`{"if": A, "then": B, "else": {"if": C, "then": D}}`.
If the first has its own `else`, both apply there: `"else": {"allOf": [E, {"if": C, "then": D}]}`, which is then folded.

For objects, `{"if": {"required": ["a"]}, "then": B}` means the same as `{"dependentSchemas": {"a": B}}`,
and if the condition tests more than the key, it remains inside:
`{"dependentSchemas": {"a": {"if": {"properties": {"a": P}}, "then": B}}}`.
A schema has room for one `if`, but for any number of keys.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Final, TypeAlias

from msgspec import Struct

from instrc.schema.kinds import kinds_spoken_of, own_kinds
from instrc.schema.laws.law import Answer, InstanceEvaluation, KeywordLaws, Kinds, Relation, Relations, Schema, decided_elsewhere
from instrc.schema.vocabulary import NAMED, NO_ASSERTIONS, SPEAKS_OF
from instrc.schema.walk import TRIVIAL, required_names
from instrc.text.jsonvalue import Json, JsonObject, listing, mapping
from instrc.text.limits import DEPTH

CHAINED_CONDITIONS: Final = 40
"""Maximum conditions nested in the `else` of one another: validators recurse at each level."""
IfThenElse: TypeAlias = dict[str, Json]
"""The keywords `if`, `then` and `else` of a schema."""
_WORDS = frozenset({"if", "then", "else"})
_OBJECT = frozenset({"object"})


def refused(question: Relations, one: Schema, other: Schema, depth: int, kinds: Kinds) -> bool:
    """Return whether a condition whose outcome another schema decides contradicts that schema."""
    condition = one["if"]
    if "then" in one and question.implies(other, condition, depth + 1, kinds):
        return question.disjoint(one["then"], other, depth + 1, kinds)
    if "else" in one and question.disjoint(condition, other, depth + 1, kinds):
        return question.disjoint(one["else"], other, depth + 1, kinds)
    return False


def deciding(condition: IfThenElse) -> IfThenElse:
    """Return a condition without an ineffective `then` or `else`, such as `{"properties": {}}`."""
    idle = [word for word in ("then", "else") if word in condition and _is_idle(condition[word])]
    return {word: value for word, value in condition.items() if word not in idle} if idle else condition


def _is_idle(schema: Json) -> bool:
    return schema in TRIVIAL or (isinstance(schema, dict) and all(word in NAMED and schema[word] == {} for word in schema))


def with_one_question(one: IfThenElse, other: IfThenElse) -> tuple[IfThenElse, list[JsonObject]]:
    """Return the merged condition of two with the same `if`, and its schemas that still have to be folded."""
    joined: IfThenElse = {"if": one["if"]}
    result: list[JsonObject] = []
    for word in ("then", "else"):
        decided = [condition[word] for condition in (one, other) if word in condition]
        if len(decided) > 1:
            result.append({"allOf": decided})
            joined[word] = result[-1]
        elif decided:
            joined[word] = decided[0]
    return joined, result


def chained(disjoint: Relation, around: JsonObject, conditions: list[IfThenElse]) -> IfThenElse | None:
    """Return one condition equivalent to several in a schema with `around`, or `None` if uncertain.

    If one of them holds, no other does, so no requirement is lost.
    At most one chain may end in an `else`: it comes first, and its `else` becomes an `allOf` to be folded.
    """
    ordered = sorted(conditions, key=lambda condition: all("else" not in link for link in _links_of(condition)))
    links = [link for condition in ordered for link in _links_of(condition)]
    chain, *closed = [link for link in links if "else" in link] or [links[-1]]
    if len(links) > CHAINED_CONDITIONS or closed or _asks(chain.get("else")):
        return None
    asked = [_beside(around, link["if"]) for link in links]
    if not all(disjoint(one, other) for one, other in combinations(asked, 2)):
        return None
    chain = links.pop()
    for link in reversed(links):
        chain = {**link, "else": {"allOf": [link["else"], chain]} if "else" in link else chain}
    return chain


def _links_of(condition: IfThenElse) -> Iterator[IfThenElse]:
    """Yield the conditions of a chain one by one; other keywords in an `else` stay with its condition."""
    while True:
        following = condition.get("else")
        if not isinstance(following, dict) or "if" not in following or not following.keys() <= _WORDS:
            yield condition
            return
        yield {word: value for word, value in condition.items() if word != "else"}
        condition = following


def _asks(schema: Json) -> bool:
    """Return whether a schema already has a condition, so that a further one would stay separate."""
    return isinstance(schema, dict) and "if" in schema


def _beside(around: Json, asked: Json, depth: int = 0) -> Json:
    """Return an `if` with the types and names that the surrounding schema requires, in its properties as well."""
    if not isinstance(asked, dict) or not isinstance(around, dict) or depth > DEPTH:
        return asked
    kind = {"type": around["type"]} if "type" in around else {}
    known, asked_of = mapping(around.get("properties")), mapping(asked.get("properties"))
    below = {name: _beside(known[name], schema, depth + 1) for name, schema in asked_of.items() if name in known}
    properties: JsonObject = {"properties": {**asked_of, **below}} if below else {}
    return {**kind, **asked, **properties, "required": [*required_names(asked), *required_names(around)]}


class ByKey(Struct, frozen=True):
    """Conditions, divided."""

    dependents: dict[str, Json]
    """Schemas required next to each key."""
    condition: IfThenElse
    """Condition that does not depend on a key; empty if there is none."""


def keys_to_require(disjoint: Relation, around: JsonObject, conditions: list[IfThenElse]) -> list[str]:
    """Return the keys without which conditions would apply whose consequences exclude each other or require the key.

    `{"properties": {"k": P}}` holds wherever `k` is missing; several such conditions hold there at once.
    """
    if len(conditions) > CHAINED_CONDITIONS or not own_kinds(around) <= _OBJECT:
        return []
    consequences: dict[str, list[Json]] = {}
    for condition in conditions:
        key = _only_key(condition["if"])
        if key is not None and key not in required_names(around):
            consequences.setdefault(key, []).append(condition.get("then", True))
    return [key for key, result in consequences.items() if _together_need(disjoint, result, key)]


def _only_key(asked: Json) -> str | None:
    """Return the key that an `if` tests, if objects without it satisfy the `if`."""
    if not isinstance(asked, dict) or asked.keys() - NO_ASSERTIONS - {"type"} != {"properties"}:
        return None
    names = list(mapping(asked["properties"]))
    return names[0] if len(names) == 1 and "object" in own_kinds(asked) else None


def _together_need(disjoint: Relation, consequences: list[Json], key: str) -> bool:
    if any(isinstance(consequence, dict) and key in required_names(consequence) for consequence in consequences):
        return True
    objects = [
        {"type": "object", **consequence} if isinstance(consequence, dict) else consequence for consequence in consequences
    ]
    return any(disjoint(one, other) for one, other in combinations(objects, 2))


def by_key(disjoint: Relation, around: JsonObject, conditions: list[IfThenElse]) -> ByKey | None:
    """Group conditions by the keys without which they do not apply; return `None` if more than one is left over."""
    taken = around.get("dependentSchemas", {})
    if not isinstance(taken, dict) or len(conditions) > CHAINED_CONDITIONS:
        return None
    lists: dict[str, list[IfThenElse]] = {}
    dependents: dict[str, Json] = {}
    staying: list[IfThenElse] = []
    for condition in conditions:
        for key in _keys_of(around, condition):
            together = [*lists.get(key, []), condition]
            if key not in taken and (asked := _dependent(disjoint, around, key, together)) is not None:
                lists[key], dependents[key] = together, asked
                break
        else:
            staying.append(condition)
    one = chained(disjoint, around, staying) if len(staying) > 1 else next(iter(staying), {})
    return None if one is None else ByKey({**taken, **dependents}, one)


def _keys_of(around: JsonObject, condition: IfThenElse) -> list[str]:
    """Return the keys without which a condition, or a chain of them, requires nothing."""
    links = list(_links_of(condition))
    if any("else" in link or not _only_of_objects(around, link) for link in links):
        return []
    first, *others = [_demanded(link["if"]) for link in links]
    return [key for key in first if all(key in names for names in others)]


def _only_of_objects(around: JsonObject, link: IfThenElse) -> bool:
    """Return whether a condition constrains only objects: `dependentSchemas` ignores other values."""
    if own_kinds(around) <= _OBJECT or own_kinds(mapping(link["if"])) <= _OBJECT:
        return True
    then = link.get("then", True)
    return isinstance(then, dict) and all(
        word in NO_ASSERTIONS or (word in SPEAKS_OF and kinds_spoken_of(SPEAKS_OF[word]) <= _OBJECT) for word in then
    )


def _demanded(asked: Json) -> list[str]:
    """Return the keys that every object satisfying an `if` has; `not` about one key requires it."""
    known = mapping(asked)
    excluded = mapping(known.get("not"))
    names = list(mapping(excluded.get("properties"))) if excluded.keys() == {"properties"} else []
    return required_names(known) + (names if len(names) == 1 else [])


def _dependent(disjoint: Relation, around: JsonObject, key: str, conditions: list[IfThenElse]) -> Json:
    """Return the conditions' requirements on objects that have a key, as one schema, or `None` if there are none."""
    links = [_beside_key(key, link) for condition in conditions for link in _links_of(condition)]
    if len(links) > 1:
        return chained(disjoint, {**around, "type": "object", "required": [*required_names(around), key]}, links)
    return links[0].get("then", True) if links[0]["if"] == {} else links[0]


def _beside_key(key: str, link: IfThenElse) -> IfThenElse:
    """Return a condition without its keywords for the presence of a key."""
    asked = {word: value for word, value in mapping(link["if"]).items() if (word, value) != ("type", "object")}
    names = [name for name in listing(asked.pop("required", [])) if name != key]
    return {**link, "if": {**asked, "required": names} if names else asked}


def _if_implied(question: Relations, left: Schema, _keyword: str, right: Schema, depth: int, kinds: Kinds) -> bool:
    """Decide implication for `if`, `then` and `else` together."""
    if "if" not in right:
        return True
    then, other = right.get("then", True), right.get("else", True)
    return (question.implies(left, then, depth + 1, kinds) or question.disjoint(left, right["if"], depth + 1, kinds)) and (
        question.implies(left, other, depth + 1, kinds) or question.implies(left, right["if"], depth + 1, kinds)
    )


_DECIDED = KeywordLaws(decided_elsewhere, implied=_if_implied, beside=("if", "then", "else"))


def _if_satisfied(evaluation: InstanceEvaluation, value: Json, keyword: str, schema: Schema, depth: int) -> Answer:
    chosen = evaluation.of(value, schema[keyword], depth + 1)
    then, other = (evaluation.of(value, schema.get(word, True), depth + 1) for word in ("then", "else"))
    return (then if then is other else None) if chosen is None else then if chosen else other


LAWS: Final = {
    "if": KeywordLaws(_if_satisfied, implied=_if_implied, beside=("then", "else")),
    "then": _DECIDED,
    "else": _DECIDED,
}
