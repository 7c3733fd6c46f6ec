"""Values to try where a schema stands: some that satisfy it, and some that do not."""

from __future__ import annotations

from collections.abc import Iterator

from instrc.jsonvalue import AnyJson as Json
from instrc.plans.check import check_plan
from instrc.runtime.models.sampling import instance_of


def values_of(schema: Json, root: Json, besides: Json = None) -> Iterator[Json]:
    """Yield values that satisfy a schema, and some that do not; `besides` is what they have to satisfy as well."""
    schema = dereference(schema, root)
    yield from schema.get("enum", ())
    if "const" in schema:
        yield schema["const"]
    for each in (*schema.get("anyOf", ()), *schema.get("oneOf", ()), schema.get("not")):
        if each is not None:
            yield from values_of(each, root, besides)
    kinds = schema.get("type", "object" if "properties" in schema else ())
    for kind in [kinds] if isinstance(kinds, str) else kinds:
        yield from _of_kind(kind, schema, root, besides)


def _of_kind(kind: str, schema: dict[str, Json], root: Json, besides: Json) -> Iterator[Json]:
    definitions = root.get("$defs", {}) if isinstance(root, dict) else {}
    match kind:
        case "array" if isinstance(schema.get("plan"), dict):
            yield from ([task] for task in _tasks(schema, definitions))
        case "boolean":
            yield from (True, False)
        case "null":
            yield None
        case "integer" | "number":
            for word in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"):
                if isinstance(schema.get(word), int | float):
                    yield from (schema[word], schema[word] - 1, schema[word] + 1)
            yield from (0, 1)
        case "object":
            made = instance_of({**schema, "type": "object", "$defs": definitions})
            other = instance_of(besides) if isinstance(besides, dict) else None
            yield {**other, **made} if isinstance(other, dict) and isinstance(made, dict) else made
        case "array":
            items = schema.get("items", {})
            wanted = besides.get("items", {}) if isinstance(besides, dict) else {}
            inside = list(values_of(items, root, wanted))[:4] or [instance_of({**items, "$defs": definitions})]
            if items == {} and isinstance(wanted, dict):
                inside = [instance_of(wanted)]
            yield from ([each] for each in inside)
            yield inside
            yield []
        case _:
            yield instance_of({**schema, "type": kind, "$defs": definitions})
            if kind == "string":
                yield from ("other", "")


def _tasks(schema: dict[str, Json], definitions: Json) -> Iterator[Json]:
    """Yield tasks for a plan that waits for nothing."""
    tools = schema["plan"].get("tools")
    items = dereference(schema.get("items", {}), {"$defs": definitions})
    for variant in items.get("anyOf") or [items]:
        made = instance_of({**dereference(variant, {"$defs": definitions}), "$defs": definitions})
        if not isinstance(made, dict):
            continue
        task = {name: [] if name != "arguments" and isinstance(value, list) else value for name, value in made.items()}
        for each in (task, {name: value for name, value in task.items() if value != []}):
            if not check_plan([each], tools):
                yield each
                return


def schema_inside(schema: Json, tail: tuple[str, ...], root: Json) -> Json:
    """Return the part of a schema that describes what a path of names leads to."""
    for name in tail:
        schema = dereference(schema, root)
        within = [schema, *schema.get("anyOf", ())] if isinstance(schema, dict) else []
        members = [each["properties"] for each in (dereference(each, root) for each in within) if "properties" in each]
        schema = next((member[name] for member in members if name in member), {})
    return schema


def object_part(schema: Json, root: Json) -> Json:
    """Return the part of a schema that describes an object."""
    whole = dereference(schema, root)
    parts = (dereference(each, root) for each in (whole, *whole.get("anyOf", ())))
    found = next((each for each in parts if "properties" in each), {"type": "object"})
    return {**found, "$defs": root.get("$defs", {})}


def dereference(schema: Json, root: Json) -> dict[str, Json]:
    """Follow a reference to the definitions of a schema; what is no schema by keywords allows everything."""
    for _ in range(20):
        if not isinstance(schema, dict) or not isinstance(schema.get("$ref"), str):
            break
        schema = root.get("$defs", {}).get(schema["$ref"].rpartition("/")[2], {}) if isinstance(root, dict) else {}
    return schema if isinstance(schema, dict) else {}
