"""What the schema of an output says of its parts: a member, the elements of a list.

Schemas are flat; where one says too little, or something that is not looked at here, anything may fit.
"""

from __future__ import annotations

from collections.abc import Iterator

from instrc.jsonvalue import Json, JsonArray, as_object
from instrc.limits.runs import RELATED_BRANCHES, RELATED_LEVELS
from instrc.schema.kinds import ALL, own_kinds
from instrc.schema.name_patterns import matches
from instrc.schema.relations import disjoint

NULL: Json = {"type": "null"}


def part(schema: Json, step: str) -> Json:
    """Return the schema of what a step leads to in a value of a schema; `null` is among it where there may be nothing."""
    return _union([each for branch in alternatives(schema) for each in _parts(branch, step)])


def elements(schema: Json) -> Json:
    """Return the schema of the elements of a list; `False` if there are none."""
    found: list[Json] = []
    for branch in alternatives(schema):
        names = _types(branch)
        if names is None or "array" in names:
            prefix = branch.get("prefixItems") if branch.__class__ is dict else None
            found += prefix if prefix.__class__ is list else []
            found.append(branch.get("items", True) if branch.__class__ is dict else branch)
    return _union([each for each in found if each is not False])


def is_no_list(schema: Json) -> bool:
    """Tell whether a value of a schema is certainly no list; one that is `null` has no elements either."""
    types = [_types(branch) for branch in alternatives(schema)]
    return all(names is not None and "array" not in names for names in types)


def alternatives(schema: Json, depth: int = 0) -> Iterator[Json]:
    """Yield schemas one of which holds for each value of a schema; each may say less than it does, never more."""
    branches: JsonArray | None = None
    if isinstance(schema, dict) and depth < RELATED_LEVELS:
        branches = next((found for word in ("anyOf", "oneOf") if isinstance(found := schema.get(word), list)), None)
    if not isinstance(schema, dict) or branches is None or len(branches) > RELATED_BRANCHES:
        yield schema
        return
    rest = {key: value for key, value in schema.items() if key not in {"anyOf", "oneOf"}}
    for branch in branches:
        if branch is True or branch == {}:
            yield rest
        elif branch.__class__ is dict and not disjoint(rest, branch):
            for inner in alternatives(branch, depth + 1):
                bare = "type" in rest and isinstance(inner, dict) and "type" not in inner
                yield {**as_object(inner), "type": rest["type"]} if bare else inner


def _parts(schema: Json, step: str) -> Iterator[Json]:
    """Yield what a step leads to in one alternative."""
    if schema.__class__ is not dict:
        yield True
        return
    names = _types(schema)
    if names is None or "object" in names:
        yield from _member(schema, step)
    if (names is None or "array" in names) and step.isdecimal():
        yield from _element(schema, int(step[:9]))
    elif names is not None and "array" in names:
        yield NULL
    if names is not None and not {"object", "array"}.issuperset(names):
        yield NULL


def _member(schema: dict[str, Json], name: str) -> Iterator[Json]:
    properties, patterns, required = (schema.get(word) for word in ("properties", "patternProperties", "required"))
    if patterns.__class__ is dict and any(matches(pattern, name) is not False for pattern in patterns):
        yield True
        return
    if properties.__class__ is dict and name in properties:
        yield properties[name]
    else:
        rest = schema.get("additionalProperties", True)
        if rest is not False:
            yield rest
    if required.__class__ is not list or name not in required:
        yield NULL


def _element(schema: dict[str, Json], index: int) -> Iterator[Json]:
    prefix, least = schema.get("prefixItems"), schema.get("minItems", 0)
    if prefix.__class__ is list and index < len(prefix):
        yield prefix[index]
    else:
        yield schema.get("items", True)
    if least.__class__ is not int or least <= index:
        yield NULL


def _types(schema: Json) -> frozenset[str] | None:
    kinds = own_kinds(schema) if schema.__class__ is dict else ALL
    return None if kinds == ALL else kinds


def _union(schemas: list[Json]) -> Json:
    return schemas[0] if len(schemas) == 1 else {"anyOf": schemas} if schemas else False
