"""Find what several conditions say about keys that may be missing: which keys have to be there, and what each asks for.

`{"if": {"required": ["a"]}, "then": B}` says the same of objects as `{"dependentSchemas": {"a": B}}`,
and where the condition asks for more than the key, it stays one there:
`{"dependentSchemas": {"a": {"if": {"properties": {"a": P}}, "then": B}}}`.
A schema has room for one `if`, but for as many keys as there are.
"""

from __future__ import annotations

from itertools import combinations

from msgspec import Struct

from instrc.flattening.chaining import IfThenElse, chained, links_of
from instrc.jsonvalue import Json, JsonObject, listing, mapping
from instrc.limits.schemas import CHAINED_CONDITIONS
from instrc.schema.kinds import kinds_spoken_of, own_kinds
from instrc.schema.members import required_names
from instrc.schema.relations import disjoint
from instrc.schema.vocabulary import NO_ASSERTIONS, SPEAKS_OF

_OBJECT = frozenset({"object"})


class ByKey(Struct, frozen=True):
    """Conditions, divided."""

    dependents: dict[str, Json]
    """What is asked for beside each key."""
    condition: IfThenElse
    """The one that is no matter of a key; empty if there is none."""


def keys_to_require(around: JsonObject, conditions: list[IfThenElse]) -> list[str]:
    """Return the keys without which conditions would hold whose consequences exclude each other, or ask for the key.

    `{"properties": {"k": P}}` holds wherever `k` is missing; several such conditions hold there together.
    """
    if len(conditions) > CHAINED_CONDITIONS or not own_kinds(around) <= _OBJECT:
        return []
    consequences: dict[str, list[Json]] = {}
    for condition in conditions:
        key = _only_key(condition["if"])
        if key is not None and key not in required_names(around):
            consequences.setdefault(key, []).append(condition.get("then", True))
    return [key for key, found in consequences.items() if _together_need(found, key)]


def _only_key(asked: Json) -> str | None:
    """Return the key that an `if` is about, where objects without it satisfy it."""
    if not isinstance(asked, dict) or asked.keys() - NO_ASSERTIONS - {"type"} != {"properties"}:
        return None
    names = list(mapping(asked["properties"]))
    return names[0] if len(names) == 1 and "object" in own_kinds(asked) else None


def _together_need(consequences: list[Json], key: str) -> bool:
    if any(isinstance(each, dict) and key in required_names(each) for each in consequences):
        return True
    objects = [{"type": "object", **each} if isinstance(each, dict) else each for each in consequences]
    return any(disjoint(one, other) for one, other in combinations(objects, 2))


def by_key(around: JsonObject, conditions: list[IfThenElse]) -> ByKey | None:
    """Divide conditions by the keys without which they do not hold; `None` if more than one finds no place."""
    taken = around.get("dependentSchemas", {})
    if not isinstance(taken, dict) or len(conditions) > CHAINED_CONDITIONS:
        return None
    lists: dict[str, list[IfThenElse]] = {}
    dependents: dict[str, Json] = {}
    staying: list[IfThenElse] = []
    for condition in conditions:
        for key in _keys_of(around, condition):
            together = [*lists.get(key, []), condition]
            if key not in taken and (asked := _dependent(around, key, together)) is not None:
                lists[key], dependents[key] = together, asked
                break
        else:
            staying.append(condition)
    one = chained(around, staying) if len(staying) > 1 else next(iter(staying), {})
    return None if one is None else ByKey({**taken, **dependents}, one)


def _keys_of(around: JsonObject, condition: IfThenElse) -> list[str]:
    """Return the keys without which a condition, or a chain of them, asks nothing of anything."""
    links = list(links_of(condition))
    if any("else" in link or not _only_of_objects(around, link) for link in links):
        return []
    first, *others = [_demanded(link["if"]) for link in links]
    return [key for key in first if all(key in names for names in others)]


def _only_of_objects(around: JsonObject, link: IfThenElse) -> bool:
    """Tell whether a condition asks nothing of values that are no objects: `dependentSchemas` passes them over."""
    if own_kinds(around) <= _OBJECT or own_kinds(mapping(link["if"])) <= _OBJECT:
        return True
    then = link.get("then", True)
    return isinstance(then, dict) and all(
        word in NO_ASSERTIONS or (word in SPEAKS_OF and kinds_spoken_of(SPEAKS_OF[word]) <= _OBJECT) for word in then
    )


def _demanded(asked: Json) -> list[str]:
    """Return the keys without which no object satisfies an `if`; `not` about one key says that it is there."""
    if not isinstance(asked, dict):
        return []
    excluded = mapping(asked.get("not"))
    names = list(mapping(excluded.get("properties"))) if excluded.keys() == {"properties"} else []
    return required_names(asked) + (names if len(names) == 1 else [])


def _dependent(around: JsonObject, key: str, conditions: list[IfThenElse]) -> Json:
    """Return what conditions ask of objects that have a key, as one schema; `None` if there is none."""
    links = [_beside_key(key, link) for condition in conditions for link in links_of(condition)]
    if len(links) > 1:
        return chained({**around, "type": "object", "required": [*required_names(around), key]}, links)
    return links[0].get("then", True) if links[0]["if"] == {} else links[0]


def _beside_key(key: str, link: IfThenElse) -> IfThenElse:
    """Return a condition without what it says of a key that is there."""
    asked = {word: value for word, value in mapping(link["if"]).items() if (word, value) != ("type", "object")}
    names = [name for name in listing(asked.pop("required", [])) if name != key]
    return {**link, "if": {**asked, "required": names} if names else asked}
