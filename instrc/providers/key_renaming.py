"""Rename the keys of a value, and convert its shape, according to the schemas that apply to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from typing import Final, Literal, NamedTuple, TypeAlias

from msgspec import Struct, field

from instrc.schema.kinds import mentioned_values
from instrc.schema.patterns import may_match
from instrc.schema.walk import in_place, required_names
from instrc.text.jsonvalue import Json, JsonObject, Location, as_texts, equal, kind_of, listing, mapping

RENAMED_LEVELS: Final = 150
"""Maximum nesting of a value whose keys are renamed."""


ReadText: TypeAlias = Callable[[str], Json]
_SHAPED = frozenset({"array", "object"})


class KeyRenamer(Struct, frozen=True, eq=False):
    """Renames the keys of a value, and repairs the case of its strings, according to the schemas that apply to it."""

    root: Json
    rename: Callable[[str], str] = str
    """Applied to declared names."""
    back: dict[str, str] | None = None
    """Declared names by sent names, which are converted to them in place of `rename`."""
    fold: bool = False
    spare: bool = False
    """Whether null is left out if it is the default of an optional property."""
    read: ReadText | None = None
    """Parses the JSON in a text, so that objects and lists are converted to the expected shape."""
    places: dict[tuple[int, ...], Place] = field(default_factory=dict)
    """What was returned for schemas, by their identities: a place keeps them."""

    def converted(self, value: Json, schemas: list[Json], level: int = 0) -> Json:
        """Return the value in the names and shapes of the other side."""
        if level > RENAMED_LEVELS:
            return value
        nodes, types, declared, taken = self.place(schemas)
        if self.read is not None:
            value = shaped(value, types, self.read)[0] if types & _SHAPED and types <= _SHAPED | {"null"} else value
        if isinstance(value, dict):
            renamed_here = {self.back[key] for key in value if self.back.get(key) in declared} if self.back else set()
            result: JsonObject = {}
            for key, item in value.items():
                if key in renamed_here:
                    continue  # the name in this package for the name that was sent
                if self.spare and item is None and _is_null_by_default(nodes, key):
                    continue
                ours, sent = key, key
                if self.back is not None:
                    if self.back.get(key) in declared:
                        ours = self.back[key]
                    elif key[-1:] == "_" and key not in declared and self.back.get(key.rstrip("_")) in declared:
                        ours = key[:-1]
                    sent = ours
                elif key in declared:
                    sent = self.rename(key)
                elif key.rstrip("_") in taken:
                    sent = f"{key}_"  # its new name already stands for another key
                result[sent] = self.converted(item, list(schemas_of_key(nodes, ours)), level + 1)
            return result
        if isinstance(value, list):
            return [self.converted(item, list(schemas_of_item(nodes, index)), level + 1) for index, item in enumerate(value)]
        if self.fold and isinstance(value, str):
            known = (item for node in nodes for item in mentioned_values(node))
            return folded(value, [item for item in known if isinstance(item, str)])
        return value

    def place(self, schemas: list[Json]) -> Place:
        """Return what applies to the same place as some schemas."""
        key = tuple(map(id, schemas))
        if key not in self.places:
            nodes = list(in_place(schemas, self.root))
            types = frozenset(kind for node in nodes for kind in types_named(node, "") if kind)
            declared = frozenset(name for node in nodes for name in _names(node))
            taken = frozenset(new for name in declared if (new := self.rename(name)) != name)
            self.places[key] = Place(nodes, types, declared, taken)
        return self.places[key]


class Place(NamedTuple):
    """The schemas that apply to a value, with the types and the keys that they name."""

    nodes: list[JsonObject]
    types: frozenset[str]
    declared: frozenset[str]
    taken: frozenset[str]
    """New names of declared keys."""


def types_named(node: JsonObject, otherwise: str) -> list[str]:
    """Return the types of a schema, or `otherwise` if it has none."""
    types = node.get("type", otherwise)
    return [types] if isinstance(types, str) else as_texts(types)


def _names(node: JsonObject) -> Iterator[str]:
    yield from mapping(node.get("properties"))
    yield from required_names(node)
    for name, needs in mapping(node.get("dependentRequired")).items():
        yield name
        yield from (needed for needed in listing(needs) if isinstance(needed, str))
    yield from mapping(node.get("dependentSchemas"))


def _is_null_by_default(nodes: list[JsonObject], name: str) -> bool:
    """Return whether all schemas of a property default to null."""
    declared = [mapping(properties[name]) for node in nodes if name in (properties := mapping(node.get("properties")))]
    needed = any(name in required_names(node) for node in nodes)
    return bool(declared) and not needed and all("default" in item and item["default"] is None for item in declared)


def schemas_of_key(nodes: list[JsonObject], name: str) -> Iterator[Json]:
    """Yield the schemas of a property, from all schemas of its object."""
    for node in nodes:
        properties = mapping(node.get("properties"))
        by_pattern = mapping(node.get("patternProperties"))
        patterns = [by_pattern[pattern] for pattern in by_pattern if may_match(pattern, name)]
        yield from patterns
        if name in properties:
            yield properties[name]
        elif not patterns:
            yield from _held(node, "additionalProperties")
        yield from _held(node, "unevaluatedProperties")


def _held(node: JsonObject, keyword: str) -> list[Json]:
    return [node[keyword]] if keyword in node else []


def schemas_of_item(nodes: list[JsonObject], index: int) -> Iterator[Json]:
    """Yield the schemas of an item, from all schemas of its array."""
    for node in nodes:
        prefix = listing(node.get("prefixItems"))
        yield from [prefix[index]] if index < len(prefix) else _held(node, "items")
        yield from _held(node, "contains")
        yield from _held(node, "unevaluatedItems")


def folded(value: str, known: list[str]) -> str:
    """Return the known string that differs from a value only in case, or the value itself."""
    if value in known:
        return value
    plain = value.casefold()
    matching = {item for item in known if item.casefold() == plain}
    return matching.pop() if len(matching) == 1 else value


def likeness(schema: Json, value: Json) -> tuple[int, int]:
    """Return the similarity of a value to an alternative, by its constants and its keys."""
    held = mapping(value)
    declared = mapping(mapping(schema).get("properties"))
    right = 0
    for key, part in declared.items():
        if isinstance(part, dict) and key in held:
            values = [part["const"]] if "const" in part else listing(part.get("enum"))
            right += len(values) == 1 and equal(held[key], values[0])
    return right, len(held.keys() & declared.keys()) - len(held.keys() - declared.keys())


Shaping: TypeAlias = Literal["text-read", "listed", "unlisted"]
"""Conversions of a value: parse a text as JSON, wrap an object in a list, unwrap the only item of a list."""
_SHAPINGS: Final = 4
"""Maximum conversions of one value: a text, in a list, in a text, in a list."""


def shaped(value: Json, types: AbstractSet[str], read: ReadText) -> tuple[Json, tuple[Shaping, ...]]:
    """Return a value converted to one of some types, with the steps, or the value itself without steps if impossible.

    `read` parses the JSON in a text, or returns the text itself.
    """
    result, steps = value, list[Shaping]()
    step: Shaping
    while not is_one_of(result, types):
        held = read(result) if isinstance(result, str) else result
        if isinstance(result, str) and (isinstance(held, dict | list) or (not isinstance(held, str) and "array" not in types)):
            step, result = "text-read", held
        elif isinstance(result, list) and "array" not in types and len(result) == 1:
            step, result = "unlisted", result[0]
        elif isinstance(result, dict) and "array" in types:
            step, result = "listed", [result]
        else:
            return value, ()
        steps.append(step)
        if len(steps) > _SHAPINGS:
            return value, ()
    return result, tuple(steps)


def is_one_of(value: Json, types: AbstractSet[str]) -> bool:
    """Return whether a value has one of some types."""
    kind = kind_of(value)
    return kind in types or (kind == "integer" and "number" in types)


_SPEAKING_OF_OTHERS = frozenset(
    {"additionalProperties", "unevaluatedProperties", "patternProperties", "propertyNames", "dependentRequired"}
)
_ELSEWHERE = frozenset({"anyOf", "oneOf", "$ref"})
"""Keywords whose alternatives define the value."""
_UNDECIDED = frozenset({"$ref", "allOf", "if", "dependentSchemas", "const", "enum"})
"""Keywords next to which the type is undecided: the value may be sent as a text, which allows any key."""


def undeclared_key(value: Json, schema: Json, *, levels: int | None) -> Location | None:
    """Return the path of the first key that no schema at its place declares or permits, or `None`.

    `levels` is the depth to which objects are sent as objects.
    """
    return _first(value, [schema], KeyRenamer(schema), (), RENAMED_LEVELS if levels is None else levels)


def _first(value: Json, schemas: list[Json], renamer: KeyRenamer, path: Location, levels: int) -> Location | None:
    if levels <= 0 or not isinstance(value, dict | list):
        return None
    nodes = renamer.place(schemas).nodes
    for key in value if isinstance(value, dict) else ():
        if schemas and all(_is_closed_to(each, key, frozenset()) for each in schemas):
            return (*path, key)
    for step, item in value.items() if isinstance(value, dict) else enumerate(value):
        result = _first(item, _schemas_below(nodes, step), renamer, (*path, step), levels - 1)
        if result is not None:
            return result
    return None


def _is_closed_to(schema: Json, key: str, known: AbstractSet[str]) -> bool:
    """Return whether a schema declares only other properties; one without any is a map, which accepts any key."""
    if not isinstance(schema, dict):
        return schema is False
    if "object" not in types_named(schema, "object"):
        return True
    if not _UNDECIDED.isdisjoint(schema) or not _SPEAKING_OF_OTHERS.isdisjoint(schema):
        return False
    known = known | mapping(schema.get("properties")).keys() | set(required_names(schema))
    if key in known:
        return False
    union = [*listing(schema.get("anyOf")), *listing(schema.get("oneOf"))]
    return all(_is_closed_to(item, key, known) for item in union) if union else bool(known)


def _schemas_below(nodes: list[JsonObject], step: str | int) -> list[Json]:
    """Return the schemas of a property or item from all alternatives, or none if one of them is open."""
    kind = "object" if isinstance(step, str) else "array"
    result: list[Json] = []
    for node in nodes:
        below = schemas_of_key([node], step) if isinstance(step, str) else schemas_of_item([node], step)
        if said := list(below):
            result += said
        elif _ELSEWHERE.isdisjoint(node) and kind in types_named(node, kind):
            return []
    return result
