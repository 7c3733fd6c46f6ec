"""Visit the subschemas of a schema, and the constraints of one property or item.

All walks use the table of keywords in `vocabulary`, so data that looks like a schema (in `const`, `enum`, `default`,
`examples`, unknown keywords) is never visited.  They keep their own stack: depth costs memory, never a crash.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeVar, cast

from instrc.schema.vocabulary import HOLDERS, IN_PLACE, MANY, NAMED, ONE
from instrc.text.jsonvalue import Json, JsonObject, Location, as_object, at_or, listing, mapping, put, tokens
from instrc.text.names import free_name


def walk(schema: Json) -> Iterator[tuple[Location, Json]]:
    """Yield a schema and every schema below it with their paths, parents first, in written order."""
    stack: list[tuple[Location, Json]] = [((), schema)]
    while stack:
        path, node = stack.pop()
        yield path, node
        stack += [((*path, *step), child) for step, child in subschemas(node)][::-1]


REFERENCES_IN_A_ROW: Final = 20
"""Maximum chained references that are followed within a document."""
PATTERNS_OF_A_NAME: Final = 50
"""Maximum patterns of `patternProperties` examined for one property; beyond it the result is uncertain."""
TRIVIAL: tuple[Json, ...] = (True, {})
"""Schemas that every value satisfies."""


def schemas_under(keyword: str, value: Json) -> Collection[Json]:
    """Return the subschemas in a keyword's value, or nothing for other keywords and for invalid values."""
    if value.__class__ is dict:
        return value.values() if keyword in NAMED else (value,) if keyword in ONE else ()
    return value if value.__class__ is list and keyword in MANY else ()


def every_schema(schema: Json) -> list[Json]:
    """Return a schema and all subschemas below it, whatever their form, for questions about the whole."""
    result: list[Json] = []
    stack = [schema]
    while stack:
        node = stack.pop()
        result.append(node)
        if node.__class__ is dict and not HOLDERS.isdisjoint(node):
            for keyword, value in node.items():
                if keyword in HOLDERS:
                    stack.extend(schemas_under(keyword, value))
    return result


def subschemas(node: Json, into: frozenset[str] = HOLDERS) -> Iterator[tuple[Location, Json]]:
    """Yield the schemas directly below a schema with their paths: `("properties", "a")`, `("anyOf", 0)`, `("not",)`.

    `into` restricts the keywords that are followed.
    """
    if node.__class__ is not dict or into.isdisjoint(node):  # most schemas are at the end of their path
        return
    for keyword, value in node.items():
        if keyword not in into:
            continue
        if value.__class__ is dict:
            if keyword in NAMED:
                for name, schema in value.items():
                    if is_schema(schema):
                        yield (keyword, name), schema
            elif keyword in ONE:
                yield (keyword,), value
        elif value.__class__ is list:
            if keyword in MANY:
                for index, schema in enumerate(value):
                    if is_schema(schema):
                        yield (keyword, index), schema
        elif value.__class__ is bool and keyword in ONE:
            yield (keyword,), value


def objects_below(node: Json) -> list[JsonObject]:
    """Return the object schemas directly below a schema as a list, for the walks that must be fast."""
    if node.__class__ is not dict or HOLDERS.isdisjoint(node):  # most schemas are at the end of their path
        return []
    below = (schemas_under(keyword, value) for keyword, value in node.items() if keyword in HOLDERS)
    return [child for children in below for child in children if child.__class__ is dict]


def nodes(*schemas: Json) -> Iterator[JsonObject]:
    """Yield the object schemas in some schemas, themselves included, without duplicates, parents first."""
    return reached(schemas, objects_below)


def reached(schemas: Iterable[Json], below: Callable[[JsonObject], Iterable[Json]]) -> Iterator[JsonObject]:
    """Yield object schemas and, transitively, those that `below` returns for each; without duplicates."""
    stack, seen = list(schemas), set[int]()
    while stack:
        node = stack.pop()
        if node.__class__ is dict and id(node) not in seen:
            seen.add(id(node))
            yield node
            stack.extend(below(node))


def is_schema(value: Json) -> bool:
    """Return whether a value is an object or a boolean, the forms of a schema."""
    return value.__class__ is dict or value.__class__ is bool


_S = TypeVar("_S")


def without(schema: _S, *words: str) -> _S:
    """Return a schema without some keywords, or the same object if it has none of them."""
    if not isinstance(schema, dict) or schema.keys().isdisjoint(words):
        return schema
    return cast("_S", {keyword: value for keyword, value in schema.items() if keyword not in words})


def without_property(schema: dict[str, Json], name: str) -> dict[str, Json]:
    """Return the schema of an object without one of its properties."""
    properties = {each: below for each, below in mapping(schema.get("properties")).items() if each != name}
    required = [each for each in listing(schema.get("required")) if each != name]
    result: dict[str, Json] = {**schema, "properties": properties, "required": required}
    return result if required else without(result, "required")


def of_other_members(schema: JsonObject, name: str) -> JsonObject:
    """Return what the schema of an object says of its members other than `name`, which it has with any value.

    Conditions on that value are dropped, and of alternatives that differ in it several may apply.
    """

    def change(node: JsonObject) -> tuple[JsonObject, bool]:
        is_looser = mapping(node.get("properties")).get(name, True) not in ({}, True)
        made = node
        if name in mapping(made.get("properties")) or name in listing(made.get("required")):
            made = without_property(made, name)
        dependent = mapping(made.get("dependentRequired"))
        if any(name in listing(names) for names in dependent.values()):
            left: JsonObject = {each: [other for other in listing(names) if other != name] for each, names in dependent.items()}
            made = {**made, "dependentRequired": left}
        if isinstance(least := made.get("minProperties"), int) and least > 0:
            made = {**made, "minProperties": least - 1}
        return made, is_looser

    return as_object(loosened(schema, change, IN_PLACE))


def loosened(schema: Json, change: Callable[[JsonObject], tuple[JsonObject, bool]], into: frozenset[str] = HOLDERS) -> Json:
    """Return a schema with `change` applied as by `map_schemas`; it also returns whether its result accepts more.

    The whole schema rejects nothing that it accepted: an `if` or `not` that accepts more is dropped,
    and a `oneOf` of such branches becomes an `anyOf`.
    """
    loose: dict[int, Json] = {}
    sees = any("unevaluatedProperties" in node for node in nodes(schema))
    """Whether it matters which members a condition has described."""

    def changed(node: Json) -> Json:
        if not isinstance(node, dict):
            return node
        holders = {path[0] for path, part in subschemas(node, into) if id(part) in loose}
        made = without(node, *(word for part, words in _CONDITIONS.items() if part in holders for word in words))
        if sees and "if" in holders:
            cases: list[Json] = [{}, {"allOf": [node["if"], node.get("then", True)]}, node.get("else", True)]
            made = {**made, "allOf": [*listing(made.get("allOf")), {"anyOf": cases}]}
        if "oneOf" in holders:
            made = {**without(made, "oneOf"), "allOf": [*listing(made.get("allOf")), {"anyOf": made["oneOf"]}]}
        made, is_looser = change(made)
        if is_looser or holders:
            loose[id(made)] = made
        return made

    return map_schemas(schema, changed, into)


_CONDITIONS: Final = {"if": ("if", "then", "else"), "not": ("not",)}
"""Keywords that say nothing any more if a part of them accepts more than before."""


def map_schemas(schema: Json, change: Callable[[Json], Json], into: frozenset[str] = HOLDERS) -> Json:
    """Return a schema with `change` applied to all its schemas, inner ones first; equal results keep the same object.

    `change` receives a schema with changed parts, and returns it or a new one; it must not mutate it.
    Parts shared in the input are changed once and stay shared.  `into` restricts the keywords that are followed.
    """
    done: dict[int, Json] = {}
    stack = [schema]
    while stack:
        node = stack[-1]
        if id(node) in done:
            stack.pop()
            continue
        waiting = [child for _, child in subschemas(node, into) if child.__class__ is dict and id(child) not in done]
        if waiting:
            stack += reversed(waiting)
        else:
            done[id(stack.pop())] = change(with_parts(node, done, into))
    return done[id(schema)]


def with_parts(node: Json, done: Mapping[int, Json], into: frozenset[str] = HOLDERS) -> Json:
    """Return a schema with its direct subschemas replaced, by `id`, or the same object if none changed."""
    out: JsonObject | None = None
    for path, child in subschemas(node, into):
        new = done.get(id(child), child) if child.__class__ is dict else child
        if new is not child:
            if out is None:
                out = as_object(node).copy()
            put_part(out, path, new, as_object(node))
    return node if out is None else out


def put_part(out: JsonObject, path: Location, part: Json, original: JsonObject) -> None:
    """Put a direct subschema into a copy of a schema; containers shared with the original are copied first."""
    keyword = str(path[0])
    if len(path) == 1:
        out[keyword] = part
        return
    held = out[keyword]
    if held.__class__ is dict or held.__class__ is list:
        if held is original[keyword]:
            held = out[keyword] = held.copy()
        put(held, path[1], part)


def refers(schema: Json) -> bool:
    """Return whether a schema holds a `$ref`; a flat one does only where it is recursive."""
    return any("$ref" in node for node in nodes(schema))


def required_names(schema: dict[str, Json]) -> list[str]:
    """Return the properties that a schema requires."""
    return [name for name in listing(schema.get("required")) if name.__class__ is str]


def of_property(schema: dict[str, Json], name: str) -> list[Json]:
    """Return all schemas that a property of a name certainly must satisfy."""
    properties, patterns = mapping(schema.get("properties")), mapping(schema.get("patternProperties"))
    result = [properties[name]] if name in properties else []
    if len(patterns) > PATTERNS_OF_A_NAME:
        return result
    matched: list[tuple[bool | None, Json]] = []
    if patterns:
        from instrc.schema.patterns import matches  # few schemas have any

        matched = [(matches(regex, name), below) for regex, below in patterns.items()]
    result += [below for match, below in matched if match]
    if name not in properties and "additionalProperties" in schema and all(match is False for match, _ in matched):
        result.append(schema["additionalProperties"])
    if schema.get("not") == {"required": [name]}:
        result.append(False)
    return result


def of_item(schema: dict[str, Json], position: int) -> Json:
    """Return the schema of the item at a position."""
    prefix = listing(schema.get("prefixItems"))
    return prefix[position] if position < len(prefix) else schema.get("items", True)


def all_items(schema: dict[str, Json]) -> list[Json]:
    """Return the schemas one of which each item must satisfy: those listed, and that of additional items."""
    return [*listing(schema.get("prefixItems")), schema.get("items", True)]


def conjuncts(schema: Json, definitions: Mapping[str, Json]) -> Iterator[dict[str, Json]]:
    """Yield a schema and those that apply next to it: its reference among `definitions`, and its `allOf`; without duplicates."""
    return reached([schema], lambda part: [definitions.get(definition_named_by(part)), *reversed(listing(part.get("allOf")))])


def in_place(schemas: Sequence[Json], root: Json, keywords: frozenset[str] = IN_PLACE) -> Iterator[JsonObject]:
    """Yield schemas and those that apply to the same value, following references within a document and every alternative."""
    return reached(
        reversed(schemas),
        lambda node: [local_target(root, node.get("$ref")), *(schema for _, schema in subschemas(node, keywords))],
    )


def local_target(root: Json, reference: Json) -> Json:
    """Return the target of a reference within a document by its JSON Pointer, or `None` if it is unresolvable or external.

    This is for flat schemas and payloads; `references` follows all others: between documents, by `$id` and anchors.
    """
    if not isinstance(reference, str) or (reference and not reference.startswith("#")):
        return None
    return at_or(root, unescaped(reference[1:]))


def dereferenced(schema: Json, root: Json) -> Json:
    """Return the target of a schema that is a reference within a document; an unresolvable one becomes an always true schema."""
    for _ in range(REFERENCES_IN_A_ROW):
        if not isinstance(schema, dict) or not isinstance(reference := schema.get("$ref"), str):
            break
        target = local_target(root, reference)
        schema = True if target is None else target
    return schema


def redirected(schema: Json, moved: Mapping[str, str]) -> Json:
    """Return a schema with updated references: `moved` has the new target of each."""

    def change(node: Json) -> Json:
        reference = node.get("$ref") if isinstance(node, dict) else None
        if not isinstance(node, dict) or not isinstance(reference, str) or reference not in moved:
            return node
        return {**node, "$ref": moved[reference]}

    return map_schemas(schema, change)


def adopted(schema: Json, name: str, definitions: JsonObject) -> Json:
    """Return a schema as a part of a document, with its definitions moved to those of the document under unused names."""
    if not isinstance(schema, dict) or not refers(schema):
        return schema
    own = as_object(schema.get("$defs", {}))
    whole = free_name(name, definitions.__contains__)
    definitions[whole] = {}  # the schema itself, if it is recursive
    names: dict[str, str] = {}
    for each in own:
        names[each] = free_name(each, definitions.__contains__)
        definitions[names[each]] = {}
    moved = {"#": f"#/$defs/{whole}", **{f"#/$defs/{each}": f"#/$defs/{new}" for each, new in names.items()}}
    for each, definition in own.items():
        definitions[names[each]] = redirected(definition, moved)
    definitions[whole] = result = redirected(without(schema, "$defs"), moved)
    return result


def object_of_inputs(inputs: Mapping[str, Json]) -> JsonObject:
    """Return the schema of an object with inputs of these schemas; those without a default are required."""
    definitions: JsonObject = {}
    return {
        "type": "object",
        "properties": {name: adopted(schema, name, definitions) for name, schema in inputs.items()},
        "required": [name for name, schema in inputs.items() if not (isinstance(schema, dict) and "default" in schema)],
        **({"$defs": definitions} if definitions else {}),
    }


def unescaped(fragment: str) -> str:
    """Return the fragment of a URI without percent escapes."""
    if "%" not in fragment:
        return fragment
    from urllib.parse import unquote  # rare

    return unquote(fragment)


def definition_named_by(schema: Json) -> str:
    """Return the name of the definition under `$defs` that a schema refers to as a whole, or the empty string."""
    way = definition_path(schema)
    return way[0] if len(way) == 1 else ""


def definition_path(schema: Json) -> list[str]:
    """Return the name of the definition that a schema refers to, and the rest of the path, or empty ones."""
    reference = schema.get("$ref") if isinstance(schema, dict) else None
    return tokens(reference.removeprefix("#/$defs")) if isinstance(reference, str) and reference.startswith("#/$defs/") else []


def reached_definitions(schema: Json, definitions: Mapping[str, Json]) -> dict[str, Json]:
    """Return the definitions that a schema needs, in the order in which they are first referred to."""

    def names(node: Json) -> list[str]:
        return [name for name in definition_path(node)[:1] if name in definitions]

    def below(node: JsonObject) -> list[Json]:
        return [*(definitions[name] for name in names(node)), *reversed(objects_below(node))]

    found = dict.fromkeys(name for node in reached([schema], below) for name in names(node)) if definitions else ()
    return {name: definitions[name] for name in found}


def with_definitions(schema: Json, definitions: Mapping[str, Json]) -> Json:
    """Return a schema as a standalone document, with the definitions that it needs."""
    if not definitions or not isinstance(schema, dict):
        return schema
    needed = reached_definitions(schema, definitions)
    return {**schema, "$defs": {**needed, **mapping(schema.get("$defs"))}} if needed else schema
