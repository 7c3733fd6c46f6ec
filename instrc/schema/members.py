"""What a schema says of one property or of one item, its own keywords together; and the schemas that hold beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from instrc.jsonvalue import Json, listing, mapping, tokens
from instrc.limits.schemas import PATTERNS_OF_A_NAME


def required_names(schema: dict[str, Json]) -> list[str]:
    """Return the properties that a schema requires."""
    return [name for name in listing(schema.get("required")) if name.__class__ is str]


def of_property(schema: dict[str, Json], name: str) -> list[Json]:
    """Return the schemas that a property of a name must satisfy for sure: all of them hold together."""
    properties, patterns = mapping(schema.get("properties")), mapping(schema.get("patternProperties"))
    found = [properties[name]] if name in properties else []
    if len(patterns) > PATTERNS_OF_A_NAME:
        return found
    matched: list[tuple[bool | None, Json]] = []
    if patterns:
        from instrc.schema.name_patterns import matches  # few schemas have any

        matched = [(matches(regex, name), below) for regex, below in patterns.items()]
    found += [below for match, below in matched if match]
    if name not in properties and "additionalProperties" in schema and all(match is False for match, _ in matched):
        found.append(schema["additionalProperties"])
    if _excludes(schema.get("not"), name):
        found.append(False)
    return found


def _excludes(excluded: Json, name: str) -> bool:
    """Tell whether a `not` says that a property is missing: `{"required": [name]}`."""
    return isinstance(excluded, dict) and excluded == {"required": [name]}


def of_item(schema: dict[str, Json], position: int) -> Json:
    """Return what the item at a position must satisfy."""
    prefix = listing(schema.get("prefixItems"))
    return prefix[position] if position < len(prefix) else schema.get("items", True)


def all_items(schema: dict[str, Json]) -> list[Json]:
    """Return the schemas of which each item must satisfy one: those listed, and that of all further items."""
    return [*listing(schema.get("prefixItems")), schema.get("items", True)]


def conjuncts(schema: Json, definitions: Mapping[str, Json]) -> Iterator[dict[str, Json]]:
    """Yield a schema and those that hold beside it: what it refers to among `definitions`, and its `allOf`; each once."""
    stack, seen = [schema], set[int]()
    while stack:
        part = stack.pop()
        if not isinstance(part, dict) or id(part) in seen:
            continue
        seen.add(id(part))
        yield part
        stack.append(definitions.get(definition_named_by(part)))
        if isinstance(branches := part.get("allOf"), list):
            stack.extend(reversed(branches))


def definition_named_by(schema: Json) -> str:
    """Return the name of the definition under `$defs` that a schema refers to; empty if it refers to none, or into one."""
    way = definition_path(schema)
    return way[0] if len(way) == 1 else ""


def definition_path(schema: Json) -> list[str]:
    """Return the name of the definition that a schema refers to, and the way on from there; empty if it refers to none."""
    reference = schema.get("$ref") if isinstance(schema, dict) else None
    return tokens(reference.removeprefix("#/$defs")) if isinstance(reference, str) and reference.startswith("#/$defs/") else []
