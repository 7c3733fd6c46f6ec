"""Find required names that no schema describes, or that a closed schema rejects; collect the schemas that apply to one value."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from instrc.problems.errors import CompileError
from instrc.problems.suggest import NearestNames
from instrc.schema.impossible import is_written_false
from instrc.schema.patterns import may_match
from instrc.schema.references import SchemaStore
from instrc.schema.scopes import DynamicScope
from instrc.schema.vocabulary import IN_PLACE
from instrc.schema.walk import subschemas, walk
from instrc.text.jsonvalue import Json, Location, listing, mapping
from instrc.text.limits import MATCHED_AT_ONCE

EXAMINED_PARTS: Final = 300_000
"""Maximum schemas and names examined in one document, about a second; beyond it nothing is certain, so nothing is reported."""
_IN_PLACE = IN_PLACE - {"not"}
_TOGETHER = frozenset({"allOf"})
_BRANCHES = ("then", "else", "dependentSchemas", "dependencies", "anyOf", "oneOf")
"""Keywords whose schemas apply to some of the values of the enclosing schema."""
_BELOW = ("additionalProperties", "unevaluatedProperties", "items", "contains", "unevaluatedItems", "additionalItems")


class ScopedSchema(NamedTuple):
    """One schema of a shape, with the scope in which its references are resolved."""

    node: Json
    scope: DynamicScope


class Shape(NamedTuple):
    """The schemas that apply to one instance."""

    parts: tuple[ScopedSchema, ...]
    complete: bool
    """Whether all references in it lead somewhere, so that nothing is missing from `parts`."""

    def objects(self) -> Iterator[tuple[dict[str, Json], DynamicScope]]:
        """Yield the schemas that are objects, not booleans."""
        for node, scope in self.parts:
            if node.__class__ is dict:
                yield node, scope

    def is_open(self) -> bool:
        """Return whether additional properties are explicitly allowed."""
        keywords = ("additionalProperties", "unevaluatedProperties")
        return any(node.get(keyword, False) is not False for node, _ in self.objects() for keyword in keywords)


class Shapes:
    """The shapes of one document of a library."""

    def __init__(self, library: SchemaStore) -> None:
        self.library = library
        self.left = EXAMINED_PARTS
        """How many schemas and names may still be examined."""
        self._pairs = MATCHED_AT_ONCE

    def of(self, parts: list[ScopedSchema], words: frozenset[str] = _IN_PLACE) -> Shape:
        """Return the shape of some schemas for one instance, with all subschemas that some keywords apply to it.

        It is empty once too much was examined.
        """
        found: dict[int, ScopedSchema] = {}
        complete = self.left >= 0
        stack = list(reversed(parts)) if complete else []
        while stack:
            part = stack.pop()
            if id(part.node) in found:
                continue
            found[id(part.node)] = part
            node, scope = part
            if node.__class__ is not dict:
                continue
            below = list(self.in_place(node, scope, words))
            try:
                view = self.library.view(node, scope)
                below += [ScopedSchema(target.node, target.scope) for target in self.library.references(view, scope)]
            except CompileError:
                complete = False
            stack.extend(reversed(below))
        self.left -= len(found)
        return Shape(tuple(found.values()), complete)

    def describe(self, shape: Shape, name: str) -> bool:
        """Return whether a pattern of a shape matches a property name; true as well if there are too many patterns to tell."""
        for node, _ in shape.objects():
            patterns = node.get("patternProperties")
            if patterns.__class__ is dict:
                self._pairs -= len(patterns)
                if self._pairs < 0 or any(may_match(pattern, name) for pattern in patterns):
                    return True
        return False

    def named(self, shape: Shape) -> dict[str, list[ScopedSchema]]:
        """Return the schemas of each property, in order of first appearance."""
        found: dict[str, list[ScopedSchema]] = {}
        for node, scope in shape.objects():
            for name, child in mapping(node.get("properties")).items():
                found.setdefault(name, []).append(self._part(child, scope))
        return found

    def spliced(self, shape: Shape) -> dict[str, list[ScopedSchema]]:
        """Return the schema with the content of a `default` slot in place, as composition will put it."""
        found: dict[str, list[ScopedSchema]] = {}
        for name, parts in self.named(shape).items():
            inner = self.named(self.of(parts)) if name == "default" else {}
            for key, values in (inner or {name: parts}).items():
                found.setdefault(key, []).extend(values)
        return found

    def below(self, shape: Shape) -> Iterator[list[ScopedSchema]]:
        """Yield the schemas for each kind of child instance: properties, items and so on."""
        yield from self.named(shape).values()
        groups: dict[tuple[str, str | int], list[ScopedSchema]] = {}
        for node, scope in shape.objects():
            for keyword in _BELOW:
                child = node.get(keyword)
                if child.__class__ is dict:
                    groups.setdefault((keyword, ""), []).append(self._part(child, scope))
                elif child.__class__ is list:  # `items` of older drafts
                    for index, item in enumerate(child):
                        groups.setdefault((keyword, index), []).append(self._part(item, scope))
            for index, item in enumerate(listing(node.get("prefixItems"))):
                groups.setdefault(("prefixItems", index), []).append(self._part(item, scope))
            for pattern, child in mapping(node.get("patternProperties")).items():
                groups.setdefault(("patternProperties", pattern), []).append(self._part(child, scope))
        yield from groups.values()

    def in_place(self, node: dict[str, Json], scope: DynamicScope, words: Iterable[str]) -> Iterator[ScopedSchema]:
        """Yield the schemas that some keywords of a schema contain."""
        for _, child in subschemas(node, frozenset(words)):
            yield self._part(child, scope)

    def _part(self, node: Json, scope: DynamicScope) -> ScopedSchema:
        self.left -= 1
        return ScopedSchema(node, self.library.below(node, scope))


class OwnSchemas:
    """The schemas of a document with their paths; the document keeps them all alive, so that no `id` is reused."""

    def __init__(self, document: Json) -> None:
        self.schemas: tuple[tuple[Location, dict[str, Json]], ...] = tuple(
            (path, node) for path, node in walk(document) if node.__class__ is dict
        )
        """In written order."""
        self._paths = {id(node): path for path, node in self.schemas}

    def path(self, node: Json) -> Location | None:
        """Return the path of a schema (the last one, if it occurs several times), or `None` if it is in another document."""
        return self._paths.get(id(node))

    def have(self, parts: Iterable[ScopedSchema]) -> bool:
        """Return whether any of several schemas belongs to this document."""
        return any(id(part.node) in self._paths for part in parts)


class Missing(NamedTuple):
    """The place of a required name, and the names that may have been intended."""

    path: Location
    name: str
    nearest: tuple[str, ...]


def misspelt_names(schema: Json, scope: DynamicScope, shapes: Shapes, *, mixin: bool) -> Iterator[Missing]:
    """Yield the required names of a schema that are certainly slips, in source order.

    A name counts as described if any schema that applies to the same instance describes it, in any branch.
    A schema used in several places is at fault only if it is at fault in all of them.
    In a `mixin`, other properties come from elsewhere, so only a name similar to one of its own is a slip.
    """
    own = OwnSchemas(schema)
    offers = NearestNames()
    faults = _faults(schema, scope, shapes, own, offers, mixin=mixin)
    for path, node in own.schemas:
        known = own.path(node) or path
        for place, name in _names(node):
            candidates = faults.get((known, place))
            if candidates:
                found = offers.nearest(name, candidates)
                if found or not mixin:
                    yield Missing((*path, *place), name, found)


def _faults(
    schema: Json, scope: DynamicScope, shapes: Shapes, own: OwnSchemas, offers: NearestNames, *, mixin: bool
) -> dict[tuple[Location, Location], tuple[str, ...]]:
    """Return, for each required name, the names described instead where it is missing, or none if it is not missing everywhere.

    A required name is identified by the path of its schema and its place in it.
    """
    faults: dict[tuple[Location, Location], tuple[str, ...]] = {}
    seen: set[frozenset[int]] = set()
    used: set[int] = set()
    queue: deque[tuple[list[ScopedSchema], bool]] = deque([([ScopedSchema(schema, scope)], mixin)])
    unused = (ScopedSchema(node, shapes.library.below(node, scope)) for path, node in walk(schema) if _is_definition(path))
    while queue:
        parts, lenient = queue.popleft()
        key = frozenset(id(part.node) for part in parts)
        if key not in seen and own.have(parts):
            if shapes.left < 0:
                return {}
            seen.add(key)
            shape = shapes.of(parts)
            used.update(id(node) for node, _ in shape.objects())
            _judge(shape, shapes, own, faults, offers if lenient else None)
            queue.extend((below, False) for below in shapes.below(shape))
        if not queue:  # unreferenced definitions are checked as schemas of their own
            part = next((part for part in unused if id(part.node) not in used), None)
            if part is not None:
                queue.append(([part], True))
    return faults


def _is_definition(path: Location) -> bool:
    return len(path) >= 2 and path[-2] in {"$defs", "definitions"}


def _judge(
    shape: Shape,
    shapes: Shapes,
    own: OwnSchemas,
    faults: dict[tuple[Location, Location], tuple[str, ...]],
    only_near: NearestNames | None,
) -> None:
    described = dict.fromkeys([*shapes.spliced(shape), *shapes.named(shape)])
    names = tuple(described)
    certain = bool(described) and shape.complete and not shape.is_open()
    closed = certain and any(node.get("additionalProperties") is False for node, _ in shape.objects())
    patterned = Shape(tuple(part for part in shape.parts if "patternProperties" in mapping(part.node)), shape.complete)
    for node, _ in shape.objects():
        path = own.path(node)
        if path is None:
            continue
        for place, name in _names(node):
            shapes.left -= 1
            sure = certain if place[0] == "required" else closed
            missing = sure and name not in described and not shapes.describe(patterned, name)
            before = faults.get((path, place))
            if not missing or before == ():
                faults[path, place] = ()
            elif only_near is None or only_near.nearest(name, names):
                faults[path, place] = before or names


def _names(node: dict[str, Json]) -> Iterator[tuple[Location, str]]:
    """Yield the names that a schema requires, always or conditionally, with their places in it."""
    lists: list[tuple[Location, Json]] = [(("required",), node.get("required"))] if "required" in node else []
    for word in ("dependentRequired", "dependencies"):
        if word in node:
            lists += [((word, name), names) for name, names in mapping(node[word]).items()]
    for place, listed in lists:
        for index, name in enumerate(listing(listed)):
            if isinstance(name, str):
                yield (*place, index), name


class Hidden(NamedTuple):
    """A property described by a branch, the schemas that describe and forbid it, and the keyword of the branch."""

    name: str
    holder: ScopedSchema
    closer: ScopedSchema
    branches: str


_CLOSED_TOGETHER = frozenset({"additionalProperties", "allOf", "$ref", "$dynamicRef"})
"""Keywords one of which every schema has that is closed, or contains or refers to a closed one."""


def hidden_properties(schema: Json, scope: DynamicScope, shapes: Shapes) -> Iterator[Hidden]:
    """Yield the properties in conditions and alternatives that `additionalProperties: false` does not see.

    Those that concern only an `allOf` are reported when it is flattened.
    """
    told: set[tuple[int, int, str]] = set()
    for _, node in OwnSchemas(schema).schemas:
        if not (_CLOSED_TOGETHER & node.keys()):
            continue
        together = shapes.of([ScopedSchema(node, shapes.library.below(node, scope))], _TOGETHER)
        closers = [ScopedSchema(*part) for part in together.objects() if part[0].get("additionalProperties") is False]
        branches = [
            (word, branch)
            for part, where in (together.objects() if closers else ())
            for word in _BRANCHES
            if word in part
            for branch in shapes.in_place(part, where, (word,))
        ]
        for word, branch in branches:
            inside = shapes.of([branch], _IN_PLACE - {"if"})
            for holder, where in inside.objects():
                for name, described in mapping(holder.get("properties")).items():
                    shapes.left -= len(closers)
                    if shapes.left < 0:
                        return
                    for closer in closers:
                        key = (id(closer.node), id(holder), name)
                        if key not in told and not is_written_false(described) and not _sees(closer, name, shapes):
                            told.add(key)
                            yield Hidden(name, ScopedSchema(holder, where), closer, word)


def _sees(closer: ScopedSchema, name: str, shapes: Shapes) -> bool:
    """Return whether a closed schema describes a name itself, or possibly by a pattern."""
    return name in mapping(mapping(closer.node).get("properties")) or shapes.describe(Shape((closer,), complete=True), name)
