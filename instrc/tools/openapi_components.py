"""Resolve the shared parts of an OpenAPI document to the definitions of one tool.

Properties of responses only (`readOnly`), or of requests only (`writeOnly`), are left out of the other direction.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final
from urllib.parse import unquote

from instrc.problems.errors import InstrcError
from instrc.schema.drafts import LATEST, OPENAPI_3_0, Draft
from instrc.schema.flattening.definitions import ascii_name
from instrc.schema.normalize import Rules
from instrc.schema.upgrade import expand_discriminators, name_in
from instrc.schema.vocabulary import is_extension
from instrc.schema.walk import conjuncts, is_schema, map_schemas, without
from instrc.text.jsonvalue import Json, JsonObject, Location, at_or, listing, mapping, pointer, tokens
from instrc.text.names import free_name
from instrc.tools.sources import DISCRIMINATOR, File, Given, localize_references, sound

COMPONENT_HOPS: Final = 50
"""Maximum chained references followed in an OpenAPI document."""


CHILDREN: Final = 40
"""Maximum subschemas of one discriminator that a tool describes."""


READ, WRITE = "readOnly", "writeOnly"
_BESIDE: Final = frozenset({"$ref", "summary", "description"})
"""Members of a reference to something other than a schema."""


class Marks:
    """The marked properties in the definitions of one document.

    `definitions` are the targets of `#/$defs/…`, before anything is left out.
    """

    def __init__(self, definitions: Mapping[str, Json], mark: str) -> None:
        self.definitions = definitions
        self.mark = mark

    def without(self, schema: Json) -> Json:
        """Return a schema without the marked properties, which are no longer required either."""
        return map_schemas(map_schemas(schema, self._unrequire), self._remove)

    def are_on(self, schema: Json) -> bool:
        """Return whether a schema, or one that it consists of, has the mark."""
        return isinstance(schema, dict) and any(part.get(self.mark) is True for part in conjuncts(schema, self.definitions))

    def _unrequire(self, node: Json) -> Json:
        """Return one schema that requires no marked property, directly or in its parts."""
        if not isinstance(node, dict) or node.keys().isdisjoint(("required", "dependentRequired", *_PARTS)):
            return node
        gone = {name for part in conjuncts(node, self.definitions) for name in self._marked(part)}
        return map_schemas(node, lambda part: _not_required(part, gone), _PARTS) if gone else node

    def _remove(self, node: Json) -> Json:
        """Return one schema without its own marked properties."""
        gone = set(self._marked(node)) if isinstance(node, dict) else set()
        if not gone or not isinstance(node, dict) or not isinstance(properties := node.get("properties"), dict):
            return node
        return {**node, "properties": {name: item for name, item in properties.items() if name not in gone}}

    def _marked(self, node: dict[str, Json]) -> Iterator[str]:
        properties = node.get("properties")
        for name, item in properties.items() if isinstance(properties, dict) else ():
            if self.are_on(item):
                yield name


_PARTS: Final = frozenset({"allOf", "anyOf", "then", "else", "dependentSchemas"})
"""Keywords whose schemas apply to the same value; not `oneOf`, which refuses alternatives that all require nothing."""


def _not_required(node: Json, gone: set[str]) -> Json:
    """Return a schema that does not require removed properties."""
    if not isinstance(node, dict) or node.keys().isdisjoint(("required", "dependentRequired")):
        return node
    others: JsonObject = {
        name: [each for each in listing(names) if each not in gone]
        for name, names in mapping(node.get("dependentRequired")).items()
    }
    kept: list[Json] = [name for name in listing(node.get("required")) if name not in gone]
    changed: JsonObject = {"required": kept, "dependentRequired": others}
    return {key: changed.get(key, value) for key, value in node.items() if changed.get(key, True)}


_ELSEWHERE = "nothing is fetched from elsewhere"


_OUTSIDE = "it lies outside of the folder of the source"


class Components:
    """The components that the schemas of one operation refer to, collected under `$defs`."""

    def __init__(self, given: Given, *, leave: str = READ) -> None:
        """`leave` is the mark of the properties to leave out, by default those of responses."""
        self.given = given
        self._leave = leave
        self.definitions: dict[str, Json] = {}
        self._names: dict[Location, str] = {}
        self._waiting: list[tuple[str, Json, Location]] = []
        self._children: dict[str, tuple[JsonObject, list[str]]] = {}
        """Of each definition that is a parent: its discriminator, and the definitions of its children."""
        self._rules = Rules(dialect=dialect_of(given.value), refer=self._refer, shorthand=False)

    def follow(self, value: Json, path: Location, *, is_item: bool = False) -> tuple[Json, Location]:
        """Return the target of an object that may be a reference, and its place, or `None` if it is unresolvable.

        Sibling annotations of a reference apply since OpenAPI 3.1, and in a path item all members do; others are noted.
        """
        chain = self.chain(value, path)
        if not chain:
            return None, path
        result, place = chain[-1]
        for holder, holder_at in reversed(chain[:-1] if is_item or self.reads_siblings else []):
            for word, item in mapping(holder).items():
                if isinstance(result, dict) and (word in _BESIDE or (is_item and file_of(holder_at) == file_of(place))):
                    result = result if word == "$ref" else {**result, word: item}
                elif not is_extension(word):
                    self.given.left_out((*holder_at, word), word, "it does not count beside this `$ref`")
        return result, place

    def chain(self, value: Json, path: Location) -> list[tuple[Json, Location]]:
        """Return an object and, if it is a reference, its successive targets with their places; `[]` if one is unresolvable."""
        result = [(value, path)]
        while isinstance(reference := mapping(result[-1][0]).get("$ref"), str):
            if len(result) > COMPONENT_HOPS:
                self.given.left_out(result[-1][1], "$ref", "it is cyclic")
                return []
            target, target_at = self._find(reference, result[-1][1])
            if target is None:
                return []
            result.append((target, target_at))
        return result

    @property
    def reads_siblings(self) -> bool:
        """Whether the siblings of a `$ref` apply, which they do since OpenAPI 3.1."""
        return self._rules.dialect is LATEST

    def schema(self, raw: Json, path: Location) -> Json:
        """Return a normalized schema; the targets of its references become definitions."""
        schema = sound(raw, path, self.given, self._rules)
        while self._waiting:
            name, definition, place = self._waiting.pop(0)
            self.definitions[name] = sound(definition, place, self.given, self._rules)
            self._find_children(name, mapping(definition), place)
        return schema

    def _find_children(self, name: str, parent: JsonObject, place: Location) -> None:
        """Find the children of a parent for description: those named by its discriminator, and those that extend it."""
        written = parent.get("discriminator")
        said: JsonObject = {"propertyName": written} if isinstance(written, str) else mapping(written)
        if not isinstance(said.get("propertyName"), str) or {"oneOf", "anyOf"} & parent.keys():
            return
        inside = place[1:] if place[0].__class__ is File else place
        around, _ = self._find(f"#{pointer(inside[:-1])}", place)
        siblings = {f"#{pointer((*inside[:-1], name))}": schema for name, schema in mapping(around).items()}
        values = [value for value in mapping(said.get("mapping")).values() if isinstance(value, str)]
        plain = {value: f"#{pointer((*inside[:-1], value))}" for value in values}
        told = [own if own in siblings or not set("#/.") & {*value} else value for value, own in plain.items()]
        found = list(dict.fromkeys([*told, *_extending(f"#{pointer(inside)}", siblings)]))
        if len(found) > CHILDREN:
            reason = f"it tells {len(found):,} schemas apart, which are too many for one tool"
            self.given.left_out((*place, "discriminator"), "discriminator", reason)
            self.definitions[name] = without(self.definitions[name], "discriminator")
            return
        led = [self._refer(reference, (*place, "discriminator")) for reference in found]
        if children := [reference.removeprefix("#/$defs/") for reference in led if reference is not None]:
            self._children[name] = said, children

    def _divide_parents(self) -> dict[str, str]:
        """Replace each parent by a union of its children, which extend the original; return the names of the originals."""
        result = {name: free_name(f"{name}_base", lambda each: each in self.definitions) for name in self._children}
        concrete = {child for _, children in self._children.values() for child in children}
        values = [pair for said, _ in self._children.values() for pair in mapping(said.get("mapping")).items()]
        for name, (_, children) in self._children.items():
            for child in {*children} - {name}:
                self.definitions[child] = _extended(self.definitions[child], name, result[name])
        for name, (said, children) in self._children.items():
            parent = mapping(self.definitions[name])
            words: JsonObject = {word: parent[word] for word in ("title", "description") if word in parent}
            alternatives = [*dict.fromkeys([*([name] if name in concrete else []), *children])]
            branches: list[Json] = [{"$ref": f"#/$defs/{result.get(each, each)}"} for each in alternatives]
            self.definitions[result[name]] = {word: each for word, each in parent.items() if word != "discriminator"}
            by_value = {value: each for value, each in values if ascii_name(name_in(str(each))) == name}  # as its own parent says
            told = {**said, "mapping": {**by_value, **mapping(said.get("mapping"))}}
            self.definitions[name] = {**words, "anyOf": branches, "discriminator": told}
        self._children = {}
        return result

    def spelt_out(self, schema: Json, path: Location) -> Json:
        """Return a schema with these definitions, with OpenAPI discriminators expanded."""
        places = {name: place for place, name in self._names.items()}
        places |= {base: places[name] for name, base in self._divide_parents().items()}
        written = {name: name_in(str(place[-1])) for name, place in places.items()}

        def spelt(part: Json, start: Location) -> Json:
            return expand_discriminators(
                part,
                self.definitions,
                written,
                lambda inner: self.given.left_out((*start, *inner), "discriminator", DISCRIMINATOR),
            )

        definitions = {name: spelt(definition, places[name]) for name, definition in self.definitions.items()}
        result = spelt(schema, path)
        self.definitions = definitions
        return result

    def is_left(self, schema: Json) -> bool:
        """Return whether a property belongs to the other direction only."""
        return Marks(self.definitions, self._leave).are_on(schema)

    def directed(self, schemas: dict[str, Json]) -> dict[str, Json]:
        """Return schemas with these definitions, without properties of the other direction."""
        marks = Marks(self.definitions, self._leave)
        self.definitions = {name: marks.without(item) for name, item in self.definitions.items()}
        return {name: marks.without(item) for name, item in schemas.items()}

    def whole(self, raw: Json, path: Location) -> Json:
        """Return a normalized schema with its definitions."""
        schema = self.directed({"": self.spelt_out(self.schema(raw, path), path)})[""]
        if schema.__class__ is dict and self.definitions:
            schema = {**schema, "$defs": self.definitions}
        localize_references(schema, path, self.given)
        return schema

    def _refer(self, reference: str, path: Location) -> str | None:
        target, place = self._find(reference, path)
        if target is None:
            return None
        name = self._names.get(place)
        if name is None:
            if not is_schema(target):
                self.given.left_out(path, reference, "it leads to no schema")
                return None
            wanted = ascii_name(name_in(str(place[-1]))) or "schema"
            name = self._names[place] = free_name(wanted, lambda each: each in self._names.values())
            self._waiting.append((name, target, place))
        return f"#/$defs/{name}"

    def _find(self, reference: str, path: Location) -> tuple[Json, Location]:
        """Return the target of a reference, resolved in its file, and its path.

        Return `None`, with a note, if there is none.
        """
        name, _, fragment = reference.partition("#")
        here = file_of(path)
        file = _beside(here, unquote(name)) if name else here
        try:
            if file is None or (file and self.given.neighbours is None):
                self.given.left_out(path, reference, _OUTSIDE if file is None and _is_relative(name) else _ELSEWHERE)
                return None, ()
            document = self.given.neighbours.given(file).value if file and self.given.neighbours else self.given.value
            pointer = unquote(fragment)
            target = at_or(document, pointer) if pointer.startswith("/") or not pointer else None
        except InstrcError as error:
            self.given.left_out(path, reference, error.problems[0].message)
            return None, ()
        if target is None or not (file or fragment):
            self.given.left_out(path, reference, "it leads nowhere")
            return None, ()
        return target, (*((File(file),) if file else ()), *tokens(pointer))


def file_of(path: Location) -> str:
    """Return the name of the file that a path leads into; `""` for the source itself."""
    return str(path[0]) if path and path[0].__class__ is File else ""


def _extending(reference: str, schemas: JsonObject) -> list[str]:
    """Return references to the schemas that extend one by `allOf`, directly or through others."""
    heirs: dict[str, list[str]] = {}
    for heir, schema in schemas.items():
        for item in listing(mapping(schema).get("allOf")):
            heirs.setdefault(str(mapping(item).get("$ref")), []).append(heir)
    found = [reference]
    for each in found:  # the list grows
        found += heirs.pop(each, ())
    return found[1:]


def _extended(schema: Json, name: str, base: str) -> Json:
    """Return a schema whose `allOf` refers to the original of a parent instead of the parent."""
    branches = mapping(schema).get("allOf")
    if not isinstance(branches, list):
        return schema
    parent = f"#/$defs/{name}"
    changed: list[Json] = [
        {**branch, "$ref": f"#/$defs/{base}"} if isinstance(branch, dict) and branch.get("$ref") == parent else branch
        for branch in branches
    ]
    return {**mapping(schema), "allOf": changed}


def _beside(here: str, name: str) -> str | None:
    """Return a file name relative to the source's folder, or `None` if the file is outside it."""
    if not _is_relative(name):
        return None
    steps: list[str] = []
    for step in [*here.split("/")[:-1], *name.replace("\\", "/").split("/")]:
        if step == "..":
            if not steps:
                return None
            steps.pop()
        elif step not in {"", "."}:
            steps.append(step)
    return "/".join(steps) or None


def _is_relative(name: str) -> bool:
    return ":" not in name.partition("/")[0] and not name.startswith(("/", "\\")) and "\0" not in name


def dialect_of(document: Json) -> Draft:
    """Return the dialect of a document's schemas."""
    version = document.get("openapi", document.get("swagger")) if document.__class__ is dict else None
    return OPENAPI_3_0 if str(version).startswith(("3.0", "2.")) else LATEST
