"""The values of a schema that a rehearsal tries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

from instrc.runtime.models.model import instance_of
from instrc.schema.samples import instances
from instrc.schema.validation import is_valid
from instrc.schema.walk import dereferenced
from instrc.text.jsonvalue import Json, JsonObject, as_text, listing, mapping
from instrc.tools.plan_check import check_plan

TRIED_VALUES: Final = 10
"""Maximum values tried at one place of a rehearsal."""
PLANS_OF_ONE: Final = 3
"""Maximum single-task plans tried at one place."""
TOLD_APART: Final = 1_000
"""Maximum values searched for one that a test distinguishes."""


def values_of(schema: Json, root: Json, besides: Json = None) -> Iterator[Json]:
    """Yield values that satisfy a schema, and some that do not; `besides` is a schema that all must satisfy."""
    schema = dereference(schema, root)
    yield from listing(schema.get("enum"))
    if "const" in schema:
        yield schema["const"]
    for item in (*listing(schema.get("anyOf")), *listing(schema.get("oneOf")), schema.get("not")):
        if item is not None:
            yield from values_of(item, root, besides)
    kinds: Json = schema.get("type", "object" if "properties" in schema else [])
    for kind in listing(kinds) if not isinstance(kinds, str) else [kinds]:
        yield from _of_kind(as_text(kind), schema, root, besides)


def _of_kind(kind: str, schema: JsonObject, root: Json, besides: Json) -> Iterator[Json]:
    definitions = definitions_of(root)
    match kind:
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
            result = instance_of({**schema, "type": "object", "$defs": definitions})
            other = instance_of(besides) if isinstance(besides, dict) else None
            yield {**other, **result} if isinstance(other, dict) and isinstance(result, dict) else result
        case "array":
            items = schema.get("items", {})
            wanted = besides.get("items", {}) if isinstance(besides, dict) else {}
            inside = list(values_of(items, root, wanted))[:4] or [instance_of({**mapping(items), "$defs": definitions})]
            if items == {} and isinstance(wanted, dict):
                inside = [instance_of(wanted)]
            for item in inside:
                yield [item]
            yield inside
            yield []
        case _:
            yield instance_of({**schema, "type": kind, "$defs": definitions})
            if kind == "string":
                yield from ("other", "")


def definitions_of(root: Json) -> JsonObject:
    """Return the definitions of a schema."""
    return mapping(root.get("$defs")) if isinstance(root, dict) else {}


def plans_for(schema: Json, tools: JsonObject, root: Json) -> list[Json]:
    """Return plans for some tools: one task of each, all of them together, and one that waits for another."""
    definitions = definitions_of(root)
    items = dereference(dereference(schema, root).get("items", {}), root)
    tasks: list[JsonObject] = []
    for variant in listing(items.get("anyOf")) or [items]:
        built = instance_of({**dereference(variant, root), "$defs": definitions})
        if isinstance(built, dict):
            task: JsonObject = {word: item for word, item in built.items() if word != "after"} | {"id": f"t{len(tasks) + 1}"}
            tasks += [task] if not check_plan([task], tools) else []
    if not tasks:
        return []
    waiting: JsonObject = {**tasks[0], "id": f"t{len(tasks) + 1}", "after": ["t1"]}
    result: list[Json] = [[task] for task in tasks[:PLANS_OF_ONE]]
    together: list[Json] = [[*tasks]] if len(tasks) > 1 else []
    return [*result, *together, [tasks[0], waiting]]


def telling_values(schema: Json, test: Json, known: Iterable[Json]) -> Iterator[Json]:
    """Yield values of a schema that satisfy a test and values that do not, unless a `known` one already does."""
    left = {True, False} - {is_valid(value, test) for value in known if is_valid(value, schema)}
    for value in islice(instances(schema, test), TOLD_APART) if left else ():
        if is_valid(value, schema) and (verdict := is_valid(value, test)) in left:
            left.remove(verdict)
            yield value
            if not left:
                return


def schema_inside(schema: Json, tail: tuple[str, ...], root: Json) -> Json:
    """Return the part of a schema at the end of a path of names."""
    for name in tail:
        schema = dereference(schema, root)
        within = [schema, *listing(schema.get("anyOf"))] if isinstance(schema, dict) else []
        members = [mapping(dereference(item, root).get("properties")) for item in within]
        schema = next((member[name] for member in members if name in member), {})
    return schema


def object_part(schema: Json, root: Json) -> JsonObject:
    """Return the part of a schema that describes an object."""
    whole = dereference(schema, root)
    parts = (dereference(item, root) for item in (whole, *listing(whole.get("anyOf"))))
    usual: JsonObject = {"type": "object"}
    return {**next((item for item in parts if "properties" in item), usual), "$defs": definitions_of(root)}


def dereference(schema: Json, root: Json) -> JsonObject:
    """Resolve a reference to the definitions of a schema; a value that is not an object schema allows everything."""
    return mapping(dereferenced(schema, {"$defs": definitions_of(root)}))
