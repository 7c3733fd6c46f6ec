"""What a schema says about one member of its instances, and about the elements of a list."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from instrc.jsonvalue import Json, JsonObject, equal
from instrc.limits.schemas import MEMBERS_LOOKED_AT
from instrc.schema.expressions import search
from instrc.schema.laws import types_of
from instrc.schema.members import listing, mapping
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
        if node is None or node is True:
            return MemberSchema(ANYTHING)
        if not isinstance(node, dict):
            continue
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
        if node is None or node is True:
            return ANYTHING
        if not isinstance(node, dict):
            continue
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


def _alternatives(schema: Json) -> Iterator[Json | None]:
    """Yield the branches of a schema, references followed; `None` where it is too large to look at."""
    definitions = mapping(schema.get("$defs")) if isinstance(schema, dict) else {}
    waiting: list[Json] = [schema]
    for _ in range(MEMBERS_LOOKED_AT):
        if not waiting:
            return
        node = waiting.pop()
        if not isinstance(node, dict):
            yield node
            continue
        reference = node.get("$ref")
        if reference == "#":
            waiting.append(schema)
        elif isinstance(reference, str) and reference.startswith("#/$defs/"):
            waiting.append(definitions.get(reference.removeprefix("#/$defs/"), True))
        elif "allOf" in node or reference is not None:
            merged = _merge_all_of(node, definitions)
            if merged is None:
                yield None
            else:
                waiting.append(merged)
        elif "anyOf" in node or "oneOf" in node:
            rest = {keyword: value for keyword, value in node.items() if keyword not in {"anyOf", "oneOf"}}
            branches = [*listing(node.get("anyOf")), *listing(node.get("oneOf"))]
            waiting.extend(_beside(rest, branch, definitions) for branch in reversed(branches))
        else:
            yield node
    yield None


def _merge_all_of(node: JsonObject, definitions: JsonObject) -> Json | None:
    """Return a schema with the properties of its `allOf` beside its own; `None` if it refers elsewhere."""
    if "$ref" in node:
        return None
    made = {keyword: value for keyword, value in node.items() if keyword != "allOf"}
    for part in listing(node["allOf"]):
        joined = _beside(made, part, definitions)
        if not isinstance(joined, dict):
            return joined
        made = joined
    return made


def _beside(rest: JsonObject, branch: Json, definitions: JsonObject) -> Json:
    """Return a branch together with what stands beside the union, as far as members are concerned."""
    for _ in range(20):
        reference = branch.get("$ref") if isinstance(branch, dict) else None
        if not isinstance(reference, str) or not reference.startswith("#/$defs/"):
            break
        branch = definitions.get(reference.removeprefix("#/$defs/"), True)
    if branch is False:
        return False
    if not isinstance(branch, dict):
        return rest or True
    properties = {**mapping(branch.get("properties")), **mapping(rest.get("properties"))}
    return {**rest, **branch, **({"properties": properties} if properties else {})}


def _own_member(node: JsonObject, name: str) -> Json | None:
    """Return what one object schema says about a member; `None` if it has none."""
    properties = mapping(node.get("properties"))
    if name in properties:
        return properties[name] if properties[name] is not False else None
    for pattern, schema in mapping(node.get("patternProperties")).items():
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
