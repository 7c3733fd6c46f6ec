"""Write several conditions of which at most one holds as one: each in the `else` of the one before.

Where one of two conditions rules the other one out, `[{"if": A, "then": B}, {"if": C, "then": D}]` says the same as
`{"if": A, "then": B, "else": {"if": C, "then": D}}`.
If the first has an `else` of its own, both hold there: `"else": {"allOf": [E, {"if": C, "then": D}]}`, which is to be folded.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import TypeAlias

from instrc.jsonvalue import Json, JsonObject, mapping
from instrc.limits.schemas import CHAINED_CONDITIONS, DEPTH
from instrc.schema.relations import disjoint

IfThenElse: TypeAlias = dict[str, Json]
"""The keywords `if`, `then` and `else` of a schema."""
_WORDS = frozenset({"if", "then", "else"})


def chained(around: dict[str, Json], conditions: list[IfThenElse]) -> IfThenElse | None:
    """Return one condition that decides what several decide in a schema that also says `around`; `None` if it is not certain.

    Where one of them holds, no other does, so nothing that the others decide is lost.
    At most one of them may have an `else`: it comes first, and its `else` is an `allOf` that is to be folded.
    """
    links = [link for condition in conditions for link in links_of(condition)]
    first, *others = sorted(links, key=lambda link: "else" not in link)
    if len(links) > CHAINED_CONDITIONS or any("else" in link for link in others) or _asks(first.get("else")):
        return None
    asked = [_beside(around, link["if"]) for link in links]
    if not all(disjoint(one, other) for one, other in combinations(asked, 2)):
        return None
    chain = others[-1]
    for link in reversed(others[:-1]):
        chain = {**link, "else": chain}
    return {**first, "else": {"allOf": [first["else"], chain]} if "else" in first else chain}


def _asks(schema: Json) -> bool:
    """Tell whether a schema has a condition itself, beside which a further one would stay apart."""
    return isinstance(schema, dict) and "if" in schema


def links_of(condition: IfThenElse) -> Iterator[IfThenElse]:
    """Yield the conditions of a chain one by one; what else stands in an `else` stays with its condition."""
    while True:
        following = condition.get("else")
        if not isinstance(following, dict) or "if" not in following or not following.keys() <= _WORDS:
            yield condition
            return
        yield {word: value for word, value in condition.items() if word != "else"}
        condition = following


def _beside(around: Json, asked: Json, depth: int = 0) -> Json:
    """Return an `if` with the kind of values and the names that the schema around it demands, in its properties as well."""
    if not isinstance(asked, dict) or not isinstance(around, dict) or depth > DEPTH:
        return asked
    demanded, own = around.get("required", []), asked.get("required", [])
    if not isinstance(demanded, list) or not isinstance(own, list):
        return asked
    kind = {"type": around["type"]} if "type" in around else {}
    known, asked_of = mapping(around.get("properties")), mapping(asked.get("properties"))
    below = {name: _beside(known[name], schema, depth + 1) for name, schema in asked_of.items() if name in known}
    properties: JsonObject = {"properties": {**asked_of, **below}} if below else {}
    return {**kind, **asked, **properties, "required": [*own, *demanded]}
