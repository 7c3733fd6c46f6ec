"""What a schema says about one member of its instances, and about the elements of a list."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from msgspec import Struct

from instrc.flattening.flattener import intersect
from instrc.jsonvalue import Json, JsonObject, equal, listing, mapping
from instrc.limits.schemas import MEMBERS_LOOKED_AT
from instrc.schema.kinds import types_of
from instrc.schema.members import definition_named_by
from instrc.schema.walk import refers, walk

ANYTHING: Json = {}


class MemberSchema(Struct, frozen=True):
    """What was found out about a member: `schema` is `None` where there is none for certain."""

    schema: Json | None
    known: tuple[str, ...] = ()
    """The members there are, where this one is not among them."""
    is_list: bool = False
    """It was looked for in a list."""
    optional: bool = False
    """It may be missing, as far as the schema says."""


def member(schema: Json, name: str) -> MemberSchema:
    """Return the schema of a member; where a schema is open or says nothing, anything may be there.

    In a union, it is enough that one branch has it.
    """
    found: list[Json] = []
    known: dict[str, None] = {}
    lists = others = 0
    optional = False
    for node in _alternatives(schema):
        if node is None:
            return MemberSchema(ANYTHING)
        types = _types(node)
        if types is not None and "object" not in types:
            lists += "array" in types
            continue
        others += 1
        here = _own_member(node, name)
        if here is True or here == {}:
            return MemberSchema(ANYTHING)
        if here is None:
            known.update(dict.fromkeys(mapping(node.get("properties"))))
        else:
            found.append(_with_definitions(here, schema))
            optional = optional or name not in listing(node.get("required"))
    if found:
        return MemberSchema(either(found), optional=optional or bool(others - len(found)))
    return MemberSchema(None, tuple(known), is_list=bool(lists) and not others)


def elements(schema: Json) -> Json | None:
    """Return the schema of the elements of a list; `None` where the schema admits no list for certain."""
    found: list[Json] = []
    for node in _alternatives(schema):
        if node is None:
            return ANYTHING
        types = _types(node)
        if types is not None and "array" not in types:
            continue
        if types is None and "properties" in node:
            continue
        listed = [*listing(node.get("prefixItems")), node.get("items", ANYTHING)]
        found.append(either([_with_definitions(each, schema) for each in listed if each is not False]))
    return either(found) if found else None


def either(schemas: list[Json]) -> Json:
    """Return a schema of what one of some schemas admits; equal ones stand once."""
    kept: list[Json] = []
    for schema in schemas:
        parts = listing(schema["anyOf"]) if isinstance(schema, dict) and schema.keys() == {"anyOf"} else [schema]
        kept.extend(part for part in parts if not any(equal(part, other) for other in kept))
    if any(schema is True or schema == {} for schema in kept):
        return ANYTHING
    return kept[0] if len(kept) == 1 else {"anyOf": kept} if kept else False


class _Alternative(NamedTuple):
    """One way to satisfy a schema, as far as it has been looked at."""

    own: JsonObject
    """What the schemas that have been looked at say of members, as one schema."""
    rest: tuple[Json, ...]
    """Schemas that hold as well and have not been looked at."""
    seen: frozenset[int] = frozenset()
    """The `id`s of those that have been: a schema may refer to itself."""


def _alternatives(schema: Json) -> Iterator[JsonObject | None]:
    """Yield what a schema says of members in each way to satisfy it; `None` if there are too many ways.

    `{"required": ["a"], "anyOf": [{"type": "object"}, {"$ref": "#/$defs/x"}]}` has two: what is required holds in both.
    """
    definitions = mapping(schema.get("$defs")) if isinstance(schema, dict) else {}
    waiting = [_Alternative({}, (schema,))]
    for _ in range(MEMBERS_LOOKED_AT):
        if not waiting:
            return
        own, rest, seen = waiting.pop()
        if not rest:
            yield own
            continue
        first, others = rest[0], rest[1:]
        if first is False:
            continue
        if not isinstance(first, dict) or id(first) in seen:
            waiting.append(_Alternative(own, others, seen))
            continue
        said: JsonObject = {keyword: value for keyword, value in first.items() if keyword in _OF_MEMBERS}
        together = intersect([own, said]) if own and said else own or said
        if isinstance(together, dict):
            beside = _beside(first, schema, definitions)
            ways = [(*beside, *way, *others) for way in _ways(first)]
            waiting += [_Alternative(together, way, seen | {id(first)}) for way in reversed(ways)]
    yield None


_OF_MEMBERS = frozenset(
    {"type", "const", "enum", "required", "properties", "patternProperties", "additionalProperties", "items", "prefixItems"}
)


def _beside(node: JsonObject, root: Json, definitions: JsonObject) -> Iterator[Json]:
    """Yield the schemas that hold beside the keywords of a schema: what it refers to, and its `allOf`."""
    if "$ref" in node:
        yield root if node["$ref"] == "#" else definitions.get(definition_named_by(node), True)
    yield from listing(node.get("allOf"))


def _ways(node: JsonObject) -> list[tuple[Json, ...]]:
    """Return the branches of the first union of a schema, each with the second union beside it; one way if it has none."""
    if "anyOf" not in node:
        return [(branch,) for branch in listing(node["oneOf"])] if "oneOf" in node else [()]
    second: tuple[Json, ...] = ({"oneOf": node["oneOf"]},) if "oneOf" in node else ()
    return [(branch, *second) for branch in listing(node["anyOf"])]


def _own_member(node: JsonObject, name: str) -> Json | None:
    """Return what one object schema says about a member; `None` if it has none."""
    properties = mapping(node.get("properties"))
    if name in properties:
        return properties[name] if properties[name] is not False else None
    for pattern, schema in mapping(node.get("patternProperties")).items():
        from instrc.schema.expressions import search  # few schemas have patterns of names

        if search(pattern, name) is not False:
            return schema
    rest = node.get("additionalProperties", ANYTHING if not properties else False)
    return None if rest is False else ANYTHING if rest is True or rest == {} else rest


def _types(node: JsonObject) -> set[str] | None:
    """Return the types that a schema names; `None` if it names none."""
    if "const" in node or "enum" in node:
        values = listing(node.get("enum", [node.get("const")]))
        return {"object" if isinstance(value, dict) else "array" if isinstance(value, list) else "other" for value in values}
    types = types_of(node["type"]) if "type" in node else None
    return None if types is None else set(types)


def _with_definitions(node: Json, root: Json) -> Json:
    """Return a part of a schema by itself, with the definitions that it may refer to; anything where it refers to the whole."""
    if not isinstance(node, dict) or not isinstance(root, dict) or not refers(node) or "$defs" in node:
        return node
    if "$defs" not in root or any(isinstance(each, dict) and each.get("$ref") == "#" for _, each in walk(node)):
        return ANYTHING
    return {**node, "$defs": root["$defs"]}
