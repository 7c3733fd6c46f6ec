"""Bring a document of an older dialect to 2020-12, references included."""

from __future__ import annotations

from collections.abc import Mapping

from instrc.jsonvalue import LATEST_DRAFT, Json, as_text, pointer, tokens
from instrc.problems.problem import CompileError
from instrc.schema.resources import DynamicScope, Resource
from instrc.schema.store import SchemaStore
from instrc.schema.uris import unescaped
from instrc.schema.walk import put_part, subschemas

_RECURSIVE = "recursive"
"""The name that `$recursiveAnchor: true` gets as a `$dynamicAnchor`."""


def upgrade(schema: Json, documents: Mapping[str, Json] | None = None, *, nullable: bool = False) -> Json:
    """Return a document in 2020-12: `$schema` decides what it is read as, and its references are moved along.

    `documents` may hold the meta-schema that `$schema` names.  `nullable` reads that keyword of OpenAPI in
    documents without a `$schema` too.  A document that is 2020-12 already is returned as it is.
    An unknown `$schema` raises a `CompileError`.
    """
    if schema.__class__ is not dict:
        return schema
    store = SchemaStore(documents, nullable=nullable)
    scope = store.add("", schema)
    if not any(resource.dialect.old for resource in (scope.resource, *store.nested.values())):
        return schema
    return _Upgrade(store, schema, scope).document()


class _Upgrade:
    """The rewriting of one document."""

    def __init__(self, store: SchemaStore, schema: Json, scope: DynamicScope) -> None:
        self.store = store
        self.root = schema
        self.scope = scope
        self.renamed: dict[int, dict[str, Json]] = {}
        self.places: dict[int, tuple[Resource, tuple[str | int, ...]]] = {}
        """Where each schema will stand, within its resource."""

    def document(self) -> Json:
        """Return the whole document, rewritten."""
        order: list[tuple[Json, DynamicScope]] = []
        stack: list[tuple[Json, DynamicScope, tuple[str | int, ...]]] = [(self.root, self.scope, ())]
        while stack:
            node, scope, path = stack.pop()
            if node.__class__ is not dict or id(node) in self.places:
                continue
            below = self.store.below(node, scope)
            if below is not scope:
                scope, path = below, path if below.resource.holder is not None else ()
            self.places[id(node)] = (scope.resource, path)
            order.append((node, scope))
            view = self.renamed[id(node)] = self.named_anew(self.store.view(node, scope), node, scope)
            stack.extend((child, scope, (*path, *step)) for step, child in subschemas(view))
        done: dict[int, Json] = {}
        for node, scope in reversed(order):
            done[id(node)] = self.built(self.renamed[id(node)], scope, done)
        return done[id(self.root)]

    def named_anew(self, view: dict[str, Json], node: dict[str, Json], scope: DynamicScope) -> dict[str, Json]:
        """Return a schema with the names that 2020-12 has for identifiers and definitions."""
        dialect = scope.resource.dialect
        out: dict[str, Json] = {}
        for keyword, value in node.items() if dialect.year == 4 else ():
            if keyword == "id" and value.__class__ is str:
                out["$anchor" if value.startswith("#") else "$id"] = value.removeprefix("#")
        for keyword, value in view.items():
            if keyword == "$schema":
                out[keyword] = LATEST_DRAFT
            elif keyword == "$id" and dialect.year < 2019 and value.__class__ is str and "#" in value:
                base, _, anchor = value.partition("#")
                if base:
                    out["$id"] = base
                if anchor:
                    out["$anchor"] = anchor
            elif keyword == "definitions" and "$defs" not in view:
                out["$defs"] = value
            elif keyword == "$recursiveRef" and dialect.year == 2019:
                anchored = scope.resource.dynamic
                out["$dynamicRef" if anchored else "$ref"] = f"#{_RECURSIVE}" if anchored else "#"
            else:
                out[keyword] = value
        if node.get("$recursiveAnchor") is True and dialect.year == 2019 and node is scope.resource.root:
            out["$dynamicAnchor"] = _RECURSIVE
        return out

    def built(self, view: dict[str, Json], scope: DynamicScope, done: dict[int, Json]) -> dict[str, Json]:
        """Return a schema with its parts and its reference rewritten."""
        out = dict(view)
        for path, child in subschemas(view):
            new = done.get(id(child), child) if child.__class__ is dict else child
            if new is not child:
                put_part(out, path, new, view)
        if view.get("$ref").__class__ is str:
            out["$ref"] = self.moved(as_text(view["$ref"]), scope)
        return out

    def moved(self, reference: str, scope: DynamicScope) -> str:
        """Return a reference with the pointer that its target has now."""
        base, _, fragment = reference.partition("#")
        if not fragment.startswith("/"):
            return reference
        try:
            target, _ = self.store.find(reference, scope.resource, None)
        except CompileError:
            return reference  # it leads out of the document or nowhere: as before
        place = self.places.get(id(target))
        if place is None:
            return reference
        before = tokens(unescaped(fragment))
        after = [str(step) for step in place[1]]
        return reference if before == after else f"{base}#{pointer(place[1])}"
