"""Derive flat schemas from parts: a member, the slots of a mixin, an intersection."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

from msgspec import Struct

from instrc.problems.report import Report
from instrc.schema.flattening.definitions import Gathering
from instrc.schema.flattening.flattener import Flattener, intersect
from instrc.schema.flattening.mixing import splice_parts
from instrc.schema.flattening.run import FlattenOptions
from instrc.schema.kinds import types_of
from instrc.schema.references import SchemaStore
from instrc.schema.walk import definition_named_by, refers, walk
from instrc.text.jsonvalue import Json, JsonObject, equal, listing, mapping
from instrc.text.source import Span

NOTED_SOURCES: Final = 200
"""Maximum schemas recorded as sources of one keyword of an intersection."""
MEMBERS_LOOKED_AT: Final = 2_000
"""Maximum schemas that are examined; beyond it any member is possible."""
ANYTHING: Json = {}


class MemberSchema(Struct, frozen=True):
    """The schema of a member: `None` where it certainly does not exist."""

    schema: Json | None
    known: tuple[str, ...] = ()
    """Existing members, if this one is not among them."""
    is_list: bool = False
    """Whether the value is a list."""
    optional: bool = False
    """Whether the member may be missing."""


def member(schema: Json, name: str) -> MemberSchema:
    """Return the schema of a member; open schemas allow any.

    In a union, one branch that has the member is enough.
    """
    result: list[Json] = []
    known: dict[str, None] = {}
    lists = others = 0
    optional = False
    for node in _alternatives(schema):
        if node is None:
            return MemberSchema(ANYTHING)
        types = _types(node)
        optional = optional or (types is not None and bool(types - {"object"}))  # a value that is not an object has no members
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
            result.append(_with_definitions(here, schema))
            optional = optional or name not in listing(node.get("required"))
    if result:
        return MemberSchema(either(result), optional=optional or bool(others - len(result)))
    return MemberSchema(None, tuple(known), is_list=bool(lists) and not others)


_OF_MEMBERS = frozenset(
    {"type", "const", "enum", "required", "properties", "patternProperties", "additionalProperties", "items", "prefixItems"}
)


def _alternatives(schema: Json) -> Iterator[JsonObject | None]:
    """Yield the member keywords of a schema for each way to satisfy it, or `None` if there are too many.

    `{"required": ["a"], "anyOf": [{"type": "object"}, {"$ref": "#/$defs/x"}]}` has two; the `required` holds in both.
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
        members: JsonObject = {keyword: value for keyword, value in first.items() if keyword in _OF_MEMBERS}
        together = intersect([own, members]) if own and members else own or members
        if isinstance(together, dict):
            beside = _beside(first, schema, definitions)
            ways = [(*beside, *way, *others) for way in _ways(first)]
            waiting += [_Alternative(together, way, {**seen, id(first): first}) for way in reversed(ways)]
    yield None


class _Alternative(NamedTuple):
    """One way to satisfy a schema, as far as examined."""

    own: JsonObject
    """Constraints on members from the examined schemas, as one schema."""
    rest: tuple[Json, ...]
    """Further schemas that also hold and were not examined."""
    seen: Mapping[int, Json] = MappingProxyType({})
    """Examined schemas by their `id`, since a schema may refer to itself; another one may get the `id` of one that is gone."""


def _beside(node: JsonObject, root: Json, definitions: JsonObject) -> Iterator[Json]:
    """Yield the schemas that apply next to the keywords of a schema: its reference, and its `allOf`."""
    if "$ref" in node:
        yield root if node["$ref"] == "#" else definitions.get(definition_named_by(node), True)
    yield from listing(node.get("allOf"))


def _ways(node: JsonObject) -> list[tuple[Json, ...]]:
    """Return the branches of the first union of a schema, each with the second union next to it, or one if it has none."""
    if "anyOf" not in node:
        return [(branch,) for branch in listing(node["oneOf"])] if "oneOf" in node else [()]
    second: tuple[Json, ...] = ({"oneOf": node["oneOf"]},) if "oneOf" in node else ()
    return [(branch, *second) for branch in listing(node["anyOf"])]


def _types(node: JsonObject) -> set[str] | None:
    """Return the types that a schema names, or `None` if it names none."""
    if "const" in node or "enum" in node:
        values = listing(node.get("enum", [node.get("const")]))
        return {"object" if isinstance(value, dict) else "array" if isinstance(value, list) else "other" for value in values}
    types = types_of(node["type"]) if "type" in node else None
    return None if types is None else set(types)


def _own_member(node: JsonObject, name: str) -> Json | None:
    """Return the schema of a member in one object schema, or `None` if it has none."""
    properties = mapping(node.get("properties"))
    if name in properties:
        return properties[name] if properties[name] is not False else None
    for pattern, schema in mapping(node.get("patternProperties")).items():
        from instrc.schema.patterns import search  # few schemas have patterns of names

        if search(pattern, name) is not False:
            return schema
    rest = node.get("additionalProperties", ANYTHING if not properties else False)
    return None if rest is False else ANYTHING if rest is True or rest == {} else rest


def _with_definitions(node: Json, root: Json) -> Json:
    """Return a part of a schema with the definitions that it may refer to, or `True` if it refers to the whole."""
    if not isinstance(node, dict) or not isinstance(root, dict) or not refers(node) or "$defs" in node:
        return node
    if "$defs" not in root or any(isinstance(item, dict) and item.get("$ref") == "#" for _, item in walk(node)):
        return ANYTHING
    return {**node, "$defs": root["$defs"]}


def elements(schema: Json) -> Json | None:
    """Return the schema of the elements of a list, or `None` if the schema certainly admits no list."""
    result: list[Json] = []
    for node in _alternatives(schema):
        if node is None:
            return ANYTHING
        types = _types(node)
        if types is not None and "array" not in types:
            continue
        if types is None and "properties" in node:
            continue
        listed = [*listing(node.get("prefixItems")), node.get("items", ANYTHING)]
        result.append(either([_with_definitions(item, schema) for item in listed if item is not False]))
    return either(result) if result else None


def either(schemas: list[Json]) -> Json:
    """Return a schema that accepts what any of some schemas accepts; duplicates are removed."""
    kept: list[Json] = []
    for schema in schemas:
        parts = listing(schema["anyOf"]) if isinstance(schema, dict) and schema.keys() == {"anyOf"} else [schema]
        kept.extend(part for part in parts if not any(equal(part, other) for other in kept))
    if any(schema is True or schema == {} for schema in kept):
        return ANYTHING
    return kept[0] if len(kept) == 1 else {"anyOf": kept} if kept else False


def splice(
    mixin: Json,
    filling: Json = None,
    *,
    report: Report | None = None,
    applied: str = "",
    at: Span | None = None,
) -> Json:
    """Return a mixin with content spliced into its slot `default`; `None` removes the slot.

    The result has the title and description of the content rather than the mixin.  It is closed if the content is,
    over all its properties.  If the mixin requires the slot, the whole content is required, unless it has its own `required`.
    Without the slot, the mixin's properties come first.  A value that is not an object cannot be spliced: it becomes the property
    `default` unchanged.  `applied` is the reference to the mixin, for the warnings in `report`.
    """
    gathering = Gathering()
    body = splice_parts(intersect, gathering.take(mixin), gathering.take(filling), report=report, applied=applied, at=at)
    return gathering.give(body)


class Intersection(Struct, frozen=True):
    """One schema that accepts what all of several schemas accept."""

    schema: Json
    sources: tuple[tuple[Json, tuple[Json, ...]], ...]
    """Each new schema with the schemas whose keywords it combines."""


def intersection(schemas: Sequence[Json]) -> Intersection:
    """Return the intersection of flat schemas; references in them are kept, as in `intersect`."""
    flattener = Flattener(SchemaStore(), FlattenOptions(trace=True))
    schema = flattener.run([(item, flattener.flat) for item in schemas])
    return Intersection(schema, tuple(_sources(flattener)))


def _sources(flattener: Flattener) -> list[tuple[Json, tuple[Json, ...]]]:
    result: list[tuple[Json, tuple[Json, ...]]] = []
    for new, by_keyword in flattener.origins.values():
        nodes = {id(conjunct.node): conjunct.node for item in by_keyword.values() for conjunct, _ in item[:NOTED_SOURCES]}
        result.append((new, tuple(node for node in nodes.values() if node is not new)))
    return result
