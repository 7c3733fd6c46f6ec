"""Values to try where a schema stands: some that satisfy it, and some that do not."""

from __future__ import annotations

from collections.abc import Iterator

from instrc.jsonvalue import Json, JsonObject, as_text, listing, mapping
from instrc.plans.check import check_plan
from instrc.runtime.models.sampling import instance_of


def values_of(schema: Json, root: Json, besides: Json = None) -> Iterator[Json]:
    """Yield values that satisfy a schema, and some that do not; `besides` is what they have to satisfy as well."""
    schema = dereference(schema, root)
    yield from listing(schema.get("enum"))
    if "const" in schema:
        yield schema["const"]
    for each in (*listing(schema.get("anyOf")), *listing(schema.get("oneOf")), schema.get("not")):
        if each is not None:
            yield from values_of(each, root, besides)
    kinds: Json = schema.get("type", "object" if "properties" in schema else [])
    for kind in listing(kinds) if not isinstance(kinds, str) else [kinds]:
        yield from _of_kind(as_text(kind), schema, root, besides)


def _of_kind(kind: str, schema: JsonObject, root: Json, besides: Json) -> Iterator[Json]:
    definitions = _definitions(root)
    match kind:
        case "array" if isinstance(schema.get("plan"), dict):
            for task in _tasks(schema, definitions):
                yield [task]
        case "boolean":
            yield from (True, False)
        case "null":
            yield None
        case "integer" | "number":
            for word in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"):
                limit = schema.get(word)
                if isinstance(limit, int | float):
                    yield from (limit, limit - 1, limit + 1)
            yield from (0, 1)
        case "object":
            made = instance_of({**schema, "type": "object", "$defs": definitions})
            other = instance_of(besides) if isinstance(besides, dict) else None
            yield {**other, **made} if isinstance(other, dict) and isinstance(made, dict) else made
        case "array":
            items = schema.get("items", {})
            wanted = besides.get("items", {}) if isinstance(besides, dict) else {}
            inside = list(values_of(items, root, wanted))[:4] or [instance_of({**mapping(items), "$defs": definitions})]
            if items == {} and isinstance(wanted, dict):
                inside = [instance_of(wanted)]
            for each in inside:
                yield [each]
            yield inside
            yield []
        case _:
            yield instance_of({**schema, "type": kind, "$defs": definitions})
            if kind == "string":
                yield from ("other", "")


def _tasks(schema: JsonObject, definitions: JsonObject) -> Iterator[Json]:
    """Yield tasks for a plan that waits for nothing."""
    tools = mapping(schema["plan"]).get("tools")
    items = dereference(schema.get("items", {}), {"$defs": definitions})
    for variant in listing(items.get("anyOf")) or [items]:
        made = instance_of({**dereference(variant, {"$defs": definitions}), "$defs": definitions})
        if not isinstance(made, dict):
            continue
        task: JsonObject = {
            name: [] if name != "arguments" and isinstance(value, list) else value for name, value in made.items()
        }
        for each in (task, {name: value for name, value in task.items() if value != []}):
            if not check_plan([each], tools):
                yield each
                return


def schema_inside(schema: Json, tail: tuple[str, ...], root: Json) -> Json:
    """Return the part of a schema that describes what a path of names leads to."""
    for name in tail:
        schema = dereference(schema, root)
        within = [schema, *listing(schema.get("anyOf"))] if isinstance(schema, dict) else []
        members = [mapping(dereference(each, root).get("properties")) for each in within]
        schema = next((member[name] for member in members if name in member), {})
    return schema


def object_part(schema: Json, root: Json) -> JsonObject:
    """Return the part of a schema that describes an object."""
    whole = dereference(schema, root)
    parts = (dereference(each, root) for each in (whole, *listing(whole.get("anyOf"))))
    usual: JsonObject = {"type": "object"}
    return {**next((each for each in parts if "properties" in each), usual), "$defs": _definitions(root)}


def _definitions(root: Json) -> JsonObject:
    return mapping(root.get("$defs")) if isinstance(root, dict) else {}


def dereference(schema: Json, root: Json) -> JsonObject:
    """Follow a reference to the definitions of a schema; what is no schema by keywords allows everything."""
    for _ in range(20):
        if not isinstance(schema, dict) or not isinstance(reference := schema.get("$ref"), str):
            break
        schema = _definitions(root).get(reference.rpartition("/")[2], {})
    return schema if isinstance(schema, dict) else {}
