"""Give the definitions of a schema the names that they have in an older one: a name that is all that has changed is no change."""

from __future__ import annotations

from instrc.jsonvalue import Json, JsonObject, mapping
from instrc.schema.walk import map_schemas, subschemas

_INTO = "#/$defs/"


def named_alike(old: Json, new: Json) -> Json:
    """Return the new schema, whose definitions are called like those of the old one that are referred to in the same places."""
    before, after = (mapping(mapping(schema).get("$defs")) for schema in (old, new))
    names = _old_names(old, new, before, after)
    if all(name == was for name, was in names.items()):
        return new
    taken = {*names.values(), *(after.keys() - names.keys())}
    for name in after.keys() - names.keys():
        if name in names.values():  # it is another definition, which has the name that this one gets
            names[name] = next(fresh for number in range(2, len(taken) + 3) if (fresh := f"{name}_{number}") not in taken)
            taken.add(names[name])

    def renamed(schema: Json) -> Json:
        name = _referred(schema)
        return schema if name not in names else {**mapping(schema), "$ref": f"{_INTO}{names[name]}"}

    result = mapping(map_schemas(new, renamed))
    return {**result, "$defs": {names.get(name, name): each for name, each in mapping(result["$defs"]).items()}}


def _old_names(old: Json, new: Json, before: JsonObject, after: JsonObject) -> dict[str, str]:
    """Return names of new definitions with those of the old ones for which they stand, each once."""
    names: dict[str, str] = {}
    taken: set[str] = set()
    stack = [(old, new)]
    seen: set[tuple[int, int]] = set()
    while stack:
        left, right = stack.pop()
        if not isinstance(left, dict) or not isinstance(right, dict) or (id(left), id(right)) in seen:
            continue
        seen.add((id(left), id(right)))
        was, name = _referred(left), _referred(right)
        if was in before and name in after and name not in names and was not in taken:
            names[name] = was
            taken.add(was)
            stack.append((before[was], after[name]))
        others = dict(subschemas(right))
        stack += [(part, others[path]) for path, part in subschemas(left) if path in others and path[0] != "$defs"][::-1]
    return names


def _referred(schema: Json) -> str:
    """Return the name of the definition that a schema refers to; an empty one if it refers to none."""
    reference = mapping(schema).get("$ref")
    return reference.removeprefix(_INTO) if isinstance(reference, str) and reference.startswith(_INTO) else ""
