"""Collect the schemas that apply to one value: a schema with those of its `allOf`, its references and its branches.

A shape gathers the schemas that `allOf`, `anyOf`, `oneOf`, conditions and references bring together at one place,
so that a name may be looked for in all of them.  It does not compute what they mean together; `flatten` does.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from instrc.jsonvalue import Json, listing
from instrc.limits.schemas import MATCHED_AT_ONCE
from instrc.problems.problem import CompileError
from instrc.schema.expressions import may_match
from instrc.schema.resources import DynamicScope
from instrc.schema.store import SchemaStore
from instrc.schema.vocabulary import IN_PLACE
from instrc.schema.walk import subschemas

_IN_PLACE = IN_PLACE - {"not"}
_BELOW = ("additionalProperties", "unevaluatedProperties", "items", "contains", "unevaluatedItems", "additionalItems")


class ScopedSchema(NamedTuple):
    """One schema of a shape, with the scope that its references are read in."""

    node: Json
    scope: DynamicScope


class Shape:
    """The schemas that hold for one instance."""

    __slots__ = ("complete", "parts")

    def __init__(self, parts: tuple[ScopedSchema, ...], *, complete: bool) -> None:
        self.parts: tuple[ScopedSchema, ...] = parts
        self.complete: bool = complete
        """Whether all references in it lead somewhere, so that nothing is missing from `parts`."""

    def objects(self) -> Iterator[tuple[dict[str, Json], DynamicScope]]:
        """Yield the schemas that are objects, not booleans."""
        for node, scope in self.parts:
            if node.__class__ is dict:
                yield node, scope

    def is_open(self) -> bool:
        """Tell whether further properties are invited in so many words."""
        keywords = ("additionalProperties", "unevaluatedProperties")
        return any(node.get(keyword, False) is not False for node, _ in self.objects() for keyword in keywords)


class Shapes:
    """The shapes of one document of a library."""

    def __init__(self, library: SchemaStore) -> None:
        self.library = library
        self._pairs = MATCHED_AT_ONCE

    def of(self, parts: list[ScopedSchema]) -> Shape:
        """Return the shape that some schemas for one instance make with all that they apply to it."""
        found: dict[int, ScopedSchema] = {}
        complete = True
        stack = list(reversed(parts))
        while stack:
            part = stack.pop()
            if id(part.node) in found:
                continue
            found[id(part.node)] = part
            node, scope = part
            if node.__class__ is not dict:
                continue
            below = list(self._in_place(node, scope))
            try:
                view = self.library.view(node, scope)
                below += [ScopedSchema(target.node, target.scope) for target in self.library.references(view, scope)]
            except CompileError:
                complete = False
            stack.extend(reversed(below))
        return Shape(tuple(found.values()), complete=complete)

    def describe(self, shape: Shape, name: str) -> bool:
        """Tell whether some pattern of a shape speaks about a property name, or may: so many of them were asked already."""
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
            properties = node.get("properties")
            for name, child in properties.items() if properties.__class__ is dict else ():
                found.setdefault(name, []).append(self._part(child, scope))
        return found

    def spliced(self, shape: Shape) -> dict[str, list[ScopedSchema]]:
        """Return the same with what stands in a `default` slot in its place, as composing will put it."""
        found: dict[str, list[ScopedSchema]] = {}
        for name, parts in self.named(shape).items():
            inner = self.named(self.of(parts)) if name == "default" else {}
            for key, values in (inner or {name: parts}).items():
                found.setdefault(key, []).extend(values)
        return found

    def below(self, shape: Shape) -> Iterator[list[ScopedSchema]]:
        """Yield the schemas for each kind of instance below: properties, items and so on."""
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
            patterns = node.get("patternProperties")
            for pattern, child in patterns.items() if patterns.__class__ is dict else ():
                groups.setdefault(("patternProperties", pattern), []).append(self._part(child, scope))
        yield from groups.values()

    def _in_place(self, node: dict[str, Json], scope: DynamicScope) -> Iterator[ScopedSchema]:
        for _, child in subschemas(node, _IN_PLACE):
            yield self._part(child, scope)

    def _part(self, node: Json, scope: DynamicScope) -> ScopedSchema:
        return ScopedSchema(node, self.library.below(node, scope))
