"""Find what references lead to: documents, `$id` bases, anchors, pointers, dynamic scopes.

A `SchemaStore` reads each document once and notes its resources (parts with a base URI of their own), their anchors,
and which schemas have something to resolve or fold at or below them.  Nothing is ever fetched.

URIs under `aug:` are opaque: they are split at `#`, never joined.  In their documents a fragment that is neither a
pointer nor an anchor names the one property of that name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from instrc import problems
from instrc.jsonvalue import Json, JsonObject, Location, as_text, tokens
from instrc.limits.schemas import REFERENCES_AT_ONCE
from instrc.problems.problem import CompileError
from instrc.schema.drafts import LATEST, NULLABLE, RECURSIVE, Draft, modern
from instrc.schema.located import Locate, Located
from instrc.schema.named_properties import properties_named
from instrc.schema.resources import Anchors, DynamicScope, Resource, SchemaDocument, Target
from instrc.schema.uris import is_mixin, join, metaschema, unescaped
from instrc.schema.walk import subschemas


class SchemaStore(Located):
    """The documents of one run."""

    def __init__(
        self,
        documents: Mapping[str, Json] | None = None,
        *,
        nullable: bool = False,
        locate: Locate | None = None,
    ) -> None:
        super().__init__(documents, NULLABLE if nullable else LATEST, locate)
        self.no_anchors: Anchors = {}
        self.interned: dict[frozenset[tuple[str, int]], Anchors] = {frozenset(): self.no_anchors}
        self.targets: dict[tuple[str, int], Target] = {}
        self.originals: dict[int, JsonObject] = {}
        """Rewritten schemas by the `id` of the old one (which the documents keep alive)."""
        self.scanned_all: bool = False

    # Reading documents

    def add(self, uri: str, root: Json, dialect: Draft | None = None) -> DynamicScope:
        """Take a document in and return the scope of its root."""
        document = SchemaDocument(uri, root)
        self.documents.append(document)
        named = root.get("$schema") if root.__class__ is dict else None
        speaks = self.dialect(named) if named is not None else dialect or self.default
        resource = Resource(uri, root, document, speaks)
        if self.main is None:
            self.main = resource
        self.resources.setdefault(uri, resource)
        self.index(root, resource)
        return self.enter(resource, self.no_anchors)

    def view(self, node: dict[str, Json], scope: DynamicScope) -> dict[str, Json]:
        """Return a schema in the keywords of 2020-12."""
        dialect = scope.resource.dialect
        if not dialect.old:
            return node
        found = self.originals.get(id(node))
        if found is None:
            found = modern(node, dialect)
            self.originals[id(node)] = found
            if dialect.nullable and "nullable" in node:
                self._note_alternative(found)
        return found

    def _note_alternative(self, view: dict[str, Json]) -> None:
        """Note the schema that `nullable` has made an alternative beside null: it was made here, and nobody has read it."""
        branches = view.get("anyOf")
        made = branches[0] if branches.__class__ is list and len(branches) == 2 else None
        if made.__class__ is dict and id(made) not in self.indexed:
            self.indexed.add(id(made))
            self.needs_flattening.add(id(made))

    def references(self, view: dict[str, Json], scope: DynamicScope) -> list[Target]:
        """Return what the references of one schema lead to, in written order."""
        names = scope.resource.dialect.references
        return [self.target(name, view, scope) for name, value in view.items() if name in names and value.__class__ is str]

    def target(self, keyword: str, view: dict[str, Json], scope: DynamicScope) -> Target:
        """Return what one of the reference keywords of a schema leads to."""
        if keyword == "$ref":
            return self.resolve(as_text(view["$ref"]), scope, view)
        if keyword == "$dynamicRef":
            return self.resolve_dynamic(as_text(view["$dynamicRef"]), scope, view)
        return self.resolve_recursive(scope)

    # Scopes

    def enter(self, resource: Resource, anchors: Anchors) -> DynamicScope:
        """Return the scope of a resource that is reached with dynamic anchors of outer ones."""
        if not resource.dynamic.keys() <= anchors.keys():
            merged = dict(anchors)
            for name, node in resource.dynamic.items():
                merged.setdefault(name, (node, resource))
            key = frozenset((name, id(node)) for name, (node, _) in merged.items())
            anchors = self.interned.setdefault(key, merged)
        scope = resource.scopes.get(id(anchors))
        if scope is None:
            scope = resource.scopes[id(anchors)] = DynamicScope(resource, anchors)
        return scope

    def below(self, node: Json, scope: DynamicScope) -> DynamicScope:
        """Return the scope of a schema below one that has `scope`."""
        resource = self.nested.get(id(node))
        return scope if resource is None or resource is scope.resource else self.enter(resource, scope.anchors)

    def walk(self, schema: Json, scope: DynamicScope) -> Iterator[tuple[Location, JsonObject, DynamicScope]]:
        """Yield the schemas below one that are objects, with the scope that each is read in, in written order."""
        stack: list[tuple[Location, Json, DynamicScope]] = [((), schema, scope)]
        while stack:
            path, node, within = stack.pop()
            if node.__class__ is dict:
                yield path, node, within
                below = [((*path, *step), child, self.below(child, within)) for step, child in subschemas(node)]
                stack.extend(reversed(below))

    # References

    def resolve(self, reference: str, scope: DynamicScope, holder: Json = None) -> Target:
        """Return what a `$ref` in a scope leads to; a `CompileError` if nothing."""
        key = (reference, id(scope))
        target = self.targets.get(key)
        if target is None:
            node, resource = self.find(reference, scope.resource, holder)
            if node.__class__ is not dict and node.__class__ is not bool:
                raise self.not_a_schema(node, reference, holder)
            target = self.targets[key] = Target(node, self.enter(resource, scope.anchors))
        return target

    def referred(self, node: Json, scope: DynamicScope) -> tuple[Json, DynamicScope]:
        """Return what a schema leads to that is a reference and nothing else; itself if it is not one."""
        for _ in range(REFERENCES_AT_ONCE):
            if node.__class__ is not dict or len(node) > 1 or id(node) not in self.needs_flattening:
                break
            reference = node.get("$ref")
            if reference.__class__ is not str or not scope.resource.dialect.references:
                break
            if self.mixins and is_mixin(reference):
                break
            target = self.resolve(reference, self.below(node, scope) if self.nested else scope, node)
            node, scope = target.node, target.scope
        return node, scope

    def resolve_dynamic(self, reference: str, scope: DynamicScope, holder: Json = None) -> Target:
        """Return what a `$dynamicRef` leads to: the outermost anchor of that name on the way here, if it begins at one."""
        found = self.resolve(reference, scope, holder)
        anchor = reference.partition("#")[2]
        if anchor and found.scope.resource.dynamic.get(anchor) is found.node:
            outer = scope.anchors.get(anchor)
            if outer is not None:
                return Target(outer[0], self.enter(outer[1], scope.anchors))
        return found

    def resolve_recursive(self, scope: DynamicScope) -> Target:
        """Return what a `$recursiveRef` of 2019-09 leads to: its resource, or the outermost that also says `$recursiveAnchor`."""
        resource = scope.resource
        if RECURSIVE in resource.dynamic and (outer := scope.anchors.get(RECURSIVE)) is not None:
            return Target(outer[0], self.enter(outer[1], scope.anchors))
        return Target(resource.root, scope)

    def find(self, reference: str, resource: Resource, holder: Json) -> tuple[Json, Resource]:
        """Return the value a reference in a resource leads to, with the resource that it lies in."""
        base, _, fragment = reference.partition("#")
        if base:
            uri = base if reference.startswith("aug:") else join(resource.uri, base)
            found = self.resources.get(uri)
            resource = found if found is not None else self.load(uri, reference, resource, holder)
        resource = resource.holder or resource
        if not fragment:
            return resource.root, resource
        if fragment.startswith(("/", "%2F", "%2f")):
            return self.follow(unescaped(fragment), resource, reference, holder)
        name = unescaped(fragment)
        node = resource.anchors.get(name)
        if node is not None:
            return node, self.nested.get(id(node), resource)
        if resource.document.uri.startswith("aug:"):
            return self.property_named(name, resource, reference, holder)
        raise self.unresolved(reference, holder, tuple(resource.anchors))

    def follow(self, fragment: str, resource: Resource, reference: str, holder: Json) -> tuple[Json, Resource]:
        """Walk a JSON Pointer from the root of a resource, noting where it crosses into another."""
        value = resource.root
        outermost = value
        for token in tokens(fragment):
            if value.__class__ is dict and token in value:
                value = value[token]
            elif value.__class__ is list and token.isdecimal() and token.isascii() and (token == "0" or token[0] != "0"):
                if int(token) >= len(value):
                    raise self.unresolved(reference, holder)
                value = value[int(token)]
            else:
                names = tuple(value) if value.__class__ is dict else ()
                raise self.unresolved(reference, holder, names, token)
            if value is not outermost and id(value) in self.nested:
                resource = self.nested[id(value)]
        if value.__class__ is dict and id(value) not in self.indexed:
            self.index(value, resource)  # a place no keyword holds a schema at, until it is referred to
        return value, resource

    def property_named(self, name: str, resource: Resource, reference: str, holder: Json) -> tuple[Json, Resource]:
        """Return the only property of a name anywhere in a document of the registry."""
        document = resource.document
        named = properties_named(name, document.root, self.resources.get(document.uri, resource), self.nested)
        if len(named.found) == 1:
            _, node, within = named.found[0]
            return node, within
        if named.found:
            pointers = tuple(sorted(place for place, _, _ in named.found))
            places = tuple(span for place in pointers if (span := self.place(document.uri, place)) is not None)
            ambiguous = problems.vibes.AmbiguousFragment
            raise CompileError([ambiguous(at=self.at(holder), reference=reference, pointers=pointers, places=places)])
        known = {*named.properties, *resource.anchors}
        definitions = {each: place for each, place in named.definitions.items() if each not in known}
        raise self.unresolved(reference, holder, (*resource.anchors, *named.properties, *definitions), name, definitions)

    def load(self, uri: str, reference: str, referrer: Resource, holder: Json) -> Resource:
        """Return the resource of a URI, from the caller's documents or the meta-schemas that everybody knows."""
        try:
            document = self.given_document(uri)
        except CompileError as error:  # a mapping may know what is wrong with it, but not where it is referred to
            raise CompileError(replace(problem, at=problem.at or self.at(holder)) for problem in error.problems) from None
        if document is None and not uri.startswith("aug:"):
            document = self.given_document(uri + "#")
            if document is None:
                document = metaschema(uri)
            if document is None and self.given.__class__ is dict and not self.scanned_all:
                self.scanned_all = True  # some document may be known by an `$id` in it
                for name, root in self.given.items():
                    if name not in self.resources:
                        self.add(name, root, referrer.dialect)
                found = self.resources.get(uri)
                if found is not None:
                    return found
        if document is None:
            raise self.missing(uri, reference, holder)
        known = next((each for each in self.documents if each.root is document), None) if uri.startswith("aug:") else None
        if known is not None and known.uri in self.resources:  # another spelling of the same
            self.resources[uri] = self.resources[known.uri]
            return self.resources[uri]
        self.add(uri, document, referrer.dialect if not uri.startswith("aug:") else None)
        return self.resources[uri]
