"""Convert a document of an older dialect to 2020-12, and expand OpenAPI discriminators.

With an expanded discriminator, each alternative requires its own value of the property.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from instrc.problems.errors import CompileError
from instrc.schema.references import SchemaStore
from instrc.schema.scopes import DynamicScope
from instrc.schema.walk import conjuncts, definition_named_by, map_schemas, subschemas, unescaped, walk, with_parts, without
from instrc.text.jsonvalue import LATEST_DRAFT, Json, Location, as_object, as_text, equal, pointer, tokens


def upgrade(schema: Json, documents: Mapping[str, Json] | None = None, *, nullable: bool = False) -> Json:
    """Return a document in 2020-12: `$schema` determines its dialect, and its references are updated.

    `documents` may contain the meta-schema that `$schema` names.  `nullable` enables that OpenAPI keyword in
    documents without a `$schema` too.  A 2020-12 document is returned unchanged.
    An unknown `$schema` raises a `CompileError`.
    """
    if schema.__class__ is not dict:
        return schema
    store = SchemaStore(documents, nullable=nullable)
    scope = store.add("", schema)
    if not any(resource.dialect.old for resource in (scope.resource, *store.nested.values())):
        return schema
    return _Upgrade(store, schema, scope).document()


_RECURSIVE = "recursive"
"""Name of the `$dynamicAnchor` that replaces `$recursiveAnchor: true`."""


class _Upgrade:
    """Rewrites one document."""

    def __init__(self, store: SchemaStore, schema: Json, scope: DynamicScope) -> None:
        self.store = store
        self.root = schema
        self.scope = scope
        self.renamed: dict[int, dict[str, Json]] = {}
        self.places: dict[int, Location] = {}
        """Where each schema will stand in the document."""

    def document(self) -> Json:
        """Return the whole document, rewritten."""
        order: list[tuple[Json, DynamicScope]] = []
        stack: list[tuple[Json, DynamicScope, Location]] = [(self.root, self.scope, ())]
        while stack:
            node, scope, path = stack.pop()
            if node.__class__ is not dict or id(node) in self.places:
                continue
            scope = self.store.below(node, scope)
            self.places[id(node)] = path
            order.append((node, scope))
            view = self.renamed[id(node)] = self.named_anew(self.store.view(node, scope), node, scope)
            stack.extend((child, scope, (*path, *step)) for step, child in subschemas(view))
        done: dict[int, Json] = {}
        for node, scope in reversed(order):
            done[id(node)] = self.built(self.renamed[id(node)], scope, done)
        return done[id(self.root)]

    def named_anew(self, view: dict[str, Json], node: dict[str, Json], scope: DynamicScope) -> dict[str, Json]:
        """Return a schema with the 2020-12 names of identifiers and definitions."""
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
        """Return a schema with its parts and reference rewritten."""
        out = as_object(with_parts(view, done))
        return {**out, "$ref": self.moved(as_text(view["$ref"]), scope)} if view.get("$ref").__class__ is str else out

    def moved(self, reference: str, scope: DynamicScope) -> str:
        """Return a reference with the new pointer of its target."""
        base, _, fragment = reference.partition("#")
        if not fragment.startswith("/"):
            return reference
        try:
            target, _ = self.store.find(reference, scope.resource, None)
            start, _ = self.store.find(f"{base}#", scope.resource, None)
        except CompileError:
            return reference  # outside the document or dangling: unchanged
        place, above = self.places.get(id(target)), self.places.get(id(start), ())
        if place is None:
            return reference
        after = place[len(above) :] if place[: len(above)] == above else place
        return reference if tokens(unescaped(fragment)) == [*map(str, after)] else f"{base}#{pointer(after)}"


KEYWORD = "discriminator"
_FILE = re.compile(r"[^#]*\.(json|ya?ml)")


def name_in(reference: str) -> str:
    """Return the name of the schema that a reference leads to: its last step, or that of a file without its ending."""
    whole = reference.rpartition(".")[0] if _FILE.fullmatch(reference) else reference
    return whole.rpartition("/")[2]


def expand_discriminators(
    schema: Json, definitions: Mapping[str, Json], written: Mapping[str, str], tell: Callable[[Location], None]
) -> Json:
    """Return a schema without discriminators.

    `definitions` are the targets of `#/$defs/…`, `written` their names in the document.
    `tell` is called with the path of each discriminator that no keyword can express, such as that of a parent.
    """
    result = spelt_out(schema, definitions, written)
    for path, node in walk(result):
        if isinstance(node, dict) and KEYWORD in node:
            tell((*path, KEYWORD))
    return map_schemas(result, lambda node: without(node, KEYWORD))


def spelt_out(schema: Json, definitions: Mapping[str, Json], written: Mapping[str, str]) -> Json:
    """Return a schema that keeps only the discriminators that no keyword can express."""
    return map_schemas(schema, _Discriminators(definitions, written).spell)


class _Discriminators:
    """The properties that distinguish the definitions of one document."""

    def __init__(self, definitions: Mapping[str, Json], written: Mapping[str, str]) -> None:
        self.definitions = definitions
        self.written = written

    def spell(self, node: Json) -> Json:
        """Return one schema with its discriminator expanded, or unchanged if that is impossible."""
        if not isinstance(node, dict):
            return node
        said = node.get(KEYWORD)
        name = said.get("propertyName") if isinstance(said, dict) else None
        mapping = said.get("mapping") if isinstance(said, dict) else None
        for keyword in ("oneOf", "anyOf"):
            branches = node.get(keyword)
            if isinstance(name, str) and isinstance(branches, list):
                values = mapping if isinstance(mapping, dict) else {}
                result = [self._branch(branch, name, values) for branch in branches]
                if None not in result:
                    return {**without(node, KEYWORD), keyword: result}
        return node

    def _branch(self, branch: Json, name: str, mapping: Mapping[str, Json]) -> Json:
        """Return an alternative with its discriminator value, or `None` if it has none or conflicting ones."""
        parts = list(conjuncts(branch, self.definitions))
        said = next((found for part in parts if (found := _values(part, name))), [])
        target = definition_named_by(branch)
        own = self.written.get(target, target)
        values: list[Json] = [value for value, leads_to in mapping.items() if own and name_in(str(leads_to)) == own]
        if said and not all(any(equal(value, item) for item in said) for value in values):
            return None
        if said and len(values) in {0, len(said)}:
            is_required = any(isinstance(listed := part.get("required"), list) and name in listed for part in parts)
            return branch if is_required else {"allOf": [branch, {"type": "object", "required": [name]}]}
        if not own:
            return None
        wanted: Json = {"const": own} if not values else {"const": values[0]} if len(values) == 1 else {"enum": values}
        return {"allOf": [branch, {"type": "object", "properties": {name: wanted}, "required": [name]}]}


def _values(part: dict[str, Json], name: str) -> list[Json]:
    """Return the values that a schema lists for a property, if it does."""
    match part.get("properties"):
        case {**properties}:
            match properties.get(name):
                case {"const": value}:
                    return [value]
                case {"enum": [*values]}:
                    return values
    return []
