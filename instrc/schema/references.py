"""Resolve references: documents, `$id` bases, anchors, pointers and dynamic scopes.

A `SchemaStore` reads each document once and records its resources (parts with their own base URI), their anchors,
and which schemas need resolving or folding at or below them.  Nothing is ever fetched.

URIs under `aug:` are opaque: they are split at `#`, never joined.  In their documents a fragment that is neither a
pointer nor an anchor refers to the only property of that name.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import chain
from typing import Final, TypeAlias

from msgspec import Struct, structs

from instrc import problems
from instrc.problems.errors import CompileError
from instrc.problems.suggest import NearestNames
from instrc.schema.drafts import (
    LATEST,
    NULLABLE,
    RECURSIVE,
    Draft,
    dialect_of_uri,
    is_mixin,
    join,
    left_out_by,
    metaschema,
    modern,
    unknown,
    without_keywords,
)
from instrc.schema.scopes import Anchors, DynamicScope, Resource, SchemaDocument, Target
from instrc.schema.vocabulary import HOLDERS
from instrc.schema.walk import schemas_under, subschemas, unescaped
from instrc.text.arguments import as_plain
from instrc.text.jsonvalue import Json, JsonObject, Location, as_object, as_text, kind_in_words, listing, pointer, tokens
from instrc.text.source import Span

REFERENCES_AT_ONCE: Final = 100
"""Maximum chained references followed directly; longer chains may be cyclic, which the thorough method detects."""
MERGED_ANCHORS: Final = 1_000_000
"""Maximum dynamic anchors of all scopes that are entered, each time they are: rings of many resources multiply them."""


_IDENTIFIERS = frozenset({"$id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$schema", "id", "$vocabulary"})
_REFERENCES = frozenset({"$ref", "$dynamicRef", "$recursiveRef"})
FOLDED = _REFERENCES | {"allOf"}
"""Keywords without which a schema in the current dialect has nothing to resolve or fold."""
_UNEVALUATED = frozenset({"unevaluatedItems", "unevaluatedProperties"})
_NOTED = _IDENTIFIERS | FOLDED | _UNEVALUATED


class Index:
    """The documents read so far, the resources in them, and marks on their schemas."""

    def __init__(self, documents: Mapping[str, Json] | None, default: Draft) -> None:
        self.given: Mapping[str, Json] = documents if documents is not None else {}
        self.default = default
        self.resources: dict[str, Resource] = {}
        self.nested: dict[int, Resource] = {}
        """Resources by the `id` of their root, for those that are parts of others."""
        self.needs_flattening: set[int] = set()
        """`id`s of schemas that have something to change at or below them."""
        self.aliased: bool = False
        """Whether an object occurs at several places of the input."""
        self.to_fold: bool = False
        """Whether some schema has something to resolve or fold."""
        self.unevaluated: bool = False
        """Whether any schema refers to what others leave unevaluated."""
        self.mixins: bool = False
        """Whether some reference applies a mixin."""
        self.count: int = 0
        """How many schemas have been read."""
        self.documents: list[SchemaDocument] = []
        self.main: Resource | None = None
        """The resource of the schema that is flattened: it alone keeps its identity."""
        self.indexed: set[int] = set()

    def dialect(self, uri: Json) -> Draft:
        """Return the dialect of a `$schema`; a meta-schema among the documents may exclude vocabularies."""
        seen: set[str] = set()
        name = uri
        left_out: frozenset[str] = frozenset()
        while True:
            result = dialect_of_uri(name)
            if result is not None:
                if result is LATEST and self.default is NULLABLE and name != uri:
                    result = NULLABLE
                return without_keywords(result, left_out) if left_out else result
            meta = None
            if name.__class__ is str and name not in seen:
                seen.add(name)
                meta = self.given_document(name)
                if meta is None:
                    meta = self.given_document(name.rstrip("#"))
            if meta.__class__ is not dict:
                raise unknown(uri)
            if meta.get("$vocabulary").__class__ is dict:
                left_out |= left_out_by(as_object(meta["$vocabulary"]), uri)
            name = meta.get("$schema")

    def given_document(self, uri: str) -> Json:
        """Return a document passed by the caller, or `None`."""
        try:
            return as_plain(self.given[uri])
        except KeyError:
            return None

    def index(self, root: Json, resource: Resource) -> None:
        """Record resources, anchors and parts to change at and below a schema."""
        indexed = self.indexed
        if root.__class__ is not dict or id(root) in indexed:
            return
        home = self.main.root if self.main is not None else None  # only this one keeps its identity
        needing: list[int] = []
        order: list[tuple[int, int]] = []  # id of a schema, place of the one above it
        further: dict[int, list[int]] = {}  # further parents of a schema that occurs several times
        stack: list[tuple[dict[str, Json], Resource, int]] = [(root, resource, -1)]
        while stack:
            node, within, above = stack.pop()
            key = id(node)
            if key in indexed:
                self.aliased = True
                if key in self.needs_flattening:
                    needing.append(above)
                else:
                    further.setdefault(key, []).append(above)
                continue
            indexed.add(key)
            place = len(order)
            order.append((key, above))
            if not _NOTED.isdisjoint(node):
                if not _IDENTIFIERS.isdisjoint(node):
                    within = self._identify(node, within, is_root=above < 0 and node is within.root)
                    if node is not home:
                        needing.append(place)
                if self._note(node):
                    needing.append(place)
            old = within.dialect.old
            if old and modern(node, within.dialect) is not node:
                needing.append(place)
                if within.holder is not None:  # keywords of a draft other than the document's
                    self.to_fold = True
            for keyword, value in node.items():
                if keyword in HOLDERS:
                    stack += [(child, within, place) for child in schemas_under(keyword, value) if child.__class__ is dict]
        self.count += len(order)
        mark(self.needs_flattening, needing, order, further)

    def _note(self, node: dict[str, Json]) -> bool:
        """Record the keywords of a schema with references; return whether it has something to resolve or fold."""
        if not _UNEVALUATED.isdisjoint(node):
            self.unevaluated = True
        if node.get("allOf").__class__ is not list and _REFERENCES.isdisjoint(node):
            return False
        self.to_fold = True
        self.mixins = self.mixins or is_mixin(node.get("$ref"))
        return True

    def _identify(self, node: dict[str, Json], within: Resource, *, is_root: bool) -> Resource:
        """Record the identifiers of a schema; return the resource of its subschemas."""
        year = within.dialect.year
        named = node.get("$schema")
        own = node.get("$id") if year != 4 else node.get("id")
        if year == 4 and own is None and named is not None and not is_root:
            own = node.get("$id")
        resource = within
        if own.__class__ is str and not (year < 2019 and "$ref" in node and not is_root):
            if own.startswith("#"):
                if year < 2019 and len(own) > 1:
                    resource.anchors.setdefault(own[1:], node)
            else:
                base, _, fragment = own.partition("#")
                uri = join(within.uri, base)
                dialect = within.dialect if named is None or is_root else self.dialect(named)
                if is_root:
                    if uri != within.uri:
                        within.uri = uri
                        self.resources.setdefault(uri, within)
                else:
                    resource = Resource(uri, node, within.document, dialect)
                    self.resources.setdefault(uri, resource)
                    self.nested[id(node)] = resource
                if fragment and year < 2019:
                    resource.anchors.setdefault(fragment, node)
        if resource is within and named is not None and not is_root:
            declared = dialect_of_uri(named)
            if declared is not None and declared is not within.dialect and (declared.old or within.dialect.year < LATEST.year):
                resource = self.nested[id(node)] = within.in_dialect(declared)
        year = resource.dialect.year
        if year >= 2019:
            anchor = node.get("$anchor")
            if anchor.__class__ is str:
                resource.anchors.setdefault(anchor, node)
            if year >= 2020:
                anchor = node.get("$dynamicAnchor")
                if anchor.__class__ is str:
                    resource.anchors.setdefault(anchor, node)
                    resource.dynamic.setdefault(anchor, node)
            elif node.get("$recursiveAnchor") is True and node is resource.root:
                resource.dynamic[RECURSIVE] = node
        return resource


def mark(needs_flattening: set[int], needing: list[int], order: list[tuple[int, int]], further: dict[int, list[int]]) -> None:
    """Mark the schemas at some places, and all enclosing ones."""
    while needing:
        place = needing.pop()
        while place >= 0:
            key, above = order[place]
            if key in needs_flattening:
                break
            needs_flattening.add(key)
            if key in further:
                needing += further[key]
            place = above


Locate = Callable[[str, str], Span | None]
"""Function from a document's URI and a JSON Pointer to a span in a text."""


class Located(Index):
    """The documents read so far, and the spans of their parts in their sources."""

    def __init__(self, documents: Mapping[str, Json] | None, default: Draft, locate: Locate | None) -> None:
        super().__init__(documents, default)
        self.locate = locate
        self.offers = NearestNames()
        """Similar names for all references that lead nowhere."""
        self.holders: dict[int, dict[int, tuple[int, str | int] | None]] = {}
        """By the `id` of a document, which is kept: what holds each of its parts."""

    def place(self, uri: str, at: str) -> Span | None:
        """Return the span of a pointer in a text, if the caller knows it."""
        return self.locate(uri, at) if self.locate is not None else None

    def at(self, holder: Json) -> Span | None:
        """Return the place of the `$ref` of a schema."""
        if self.locate is None or holder is None:
            return None
        found = self.where(holder)
        if found is None:
            return None
        uri, path = found
        keyword = next((key for key in ("$ref", "$dynamicRef") if key in as_object(holder)), None)
        return self.locate(uri, path if keyword is None else f"{path}/{keyword}")

    def where(self, node: Json) -> tuple[str, str] | None:
        """Return the document and the pointer of a schema, the first one if it is in several places."""
        for document in self.documents:
            above = self._above(document.root)
            if id(node) in above:
                path: list[str | int] = []
                at = above[id(node)]
                while at is not None:
                    path.append(at[1])
                    at = above[at[0]]
                return document.uri, pointer(path[::-1])
        return None

    def pointer_of(self, place: _Place) -> str:
        """Return the pointer of a schema that another one contains."""
        _, above = self.where(place[0]) or ("", "")
        return above + pointer(place[1])

    def _above(self, root: Json) -> dict[int, tuple[int, str | int] | None]:
        """Return the container of each object and list of a document, with its key, computed once."""
        known = self.holders.get(id(root))
        if known is not None:
            return known
        above: dict[int, tuple[int, str | int] | None] = {}
        stack: list[tuple[Json, tuple[int, str | int] | None]] = [(root, None)]
        while stack:
            value, holder = stack.pop()
            if id(value) in above:
                continue
            above[id(value)] = holder
            parts = value.items() if isinstance(value, dict) else enumerate(listing(value))
            below = [(child, (id(value), key)) for key, child in parts if child.__class__ in {dict, list}]
            stack += reversed(below)
        self.holders[id(root)] = above
        return above

    def unresolved(
        self, reference: str, holder: Json, *names: Collection[str], word: str = "", spelled: Callable[[str], str] = str
    ) -> CompileError:
        """Return the error for an unresolvable reference; `names` are those that it may mean, `spelled` as a reference."""
        word = word or reference.partition("#")[2]
        known = () if self.offers.over else tuple(dict.fromkeys(chain(*names)))
        near = self.offers.nearest(word, known) or [name for name in known if word and name.lower().startswith(word.lower())]
        nearest = tuple(map(spelled, near[:3]))
        return CompileError([problems.vibes.UnresolvedReference(at=self.at(holder), reference=reference, nearest=nearest)])

    def missing(self, uri: str, reference: str, holder: Json) -> CompileError:
        """Return the error for a missing document."""
        scheme = uri.partition(":")[0].lower() if ":" in uri else ""
        if scheme and scheme not in {"aug", "urn", "tag"}:
            reason = "nothing is fetched and no file is read; only documents that are given count"
            return CompileError([problems.vibes.ForbiddenReference(at=self.at(holder), reference=reference, reason=reason)])
        return self.unresolved(reference, holder)

    def not_a_schema(self, node: Json, reference: str, holder: Json) -> CompileError:
        """Return the error for a reference to a value that is not a schema."""
        path = reference.partition("#")[2] or ""
        reason = f"the reference `{reference}` leads to {kind_in_words(node)}, not to a schema"
        return CompileError([problems.schemas.InvalidSchema(at=self.at(holder), pointer=path, reason=reason)])


_Place: TypeAlias = tuple[Json, Location]
"""Where a schema is: the one that contains it, and the path from there; whole paths of a deep document have no room."""


class NamedSchemas(Struct, frozen=True):
    """The properties and definitions of a document by name."""

    properties: dict[str, list[tuple[_Place, Json, Resource]]]
    """The place of each property of a name, its schema, and the resource that contains it."""
    definitions: dict[str, _Place]
    ambiguous: dict[str, tuple[tuple[str, ...], tuple[Span, ...]]]
    """The pointers and spans of the properties of a name that several references mean."""


def schemas_by_name(root: Json, start: Resource, nested: Mapping[int, Resource]) -> NamedSchemas:
    """Return the properties and definitions of a document.

    `start` is the resource of the root, `nested` has those below it by the `id` of their roots.
    """
    result = NamedSchemas({}, {}, {})
    stack: list[tuple[Json, Resource]] = [(root, start)]
    while stack:
        node, outer = stack.pop()
        within = nested.get(id(node), outer)
        below = list(subschemas(node))
        for step, child in below:
            if step[0] == "properties":
                result.properties.setdefault(str(step[1]), []).append(((node, step), child, nested.get(id(child), within)))
            elif step[0] in {"$defs", "definitions"}:
                result.definitions[str(step[1])] = node, step
        stack.extend((child, within) for _, child in reversed(below))
    return result


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
        self.by_name: dict[int, NamedSchemas] = {}
        """The schemas of documents of the registry, by the `id` of the document."""
        self.merged_anchors: int = 0
        self.originals: dict[int, JsonObject] = {}
        """Rewritten schemas by the `id` of the old one (which the documents keep alive)."""
        self.scanned_all: bool = False

    def add(self, uri: str, root: Json, dialect: Draft | None = None) -> DynamicScope:
        """Add a document and return the scope of its root."""
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
        result = self.originals.get(id(node))
        if result is None:
            result = modern(node, dialect)
            self.originals[id(node)] = result
            if dialect.nullable and "nullable" in node:
                self._note_alternative(result)
        return result

    def _note_alternative(self, view: dict[str, Json]) -> None:
        """Record the schema that `nullable` moved to an alternative next to null, which is new and not yet indexed."""
        branches = view.get("anyOf")
        made = branches[0] if branches.__class__ is list and len(branches) == 2 else None
        if made.__class__ is dict and id(made) not in self.indexed:
            self.indexed.add(id(made))
            self.needs_flattening.add(id(made))

    def references(self, view: dict[str, Json], scope: DynamicScope) -> list[Target]:
        """Return the targets of the references of one schema, in written order."""
        names = scope.resource.dialect.references
        return [self.target(name, view, scope) for name, value in view.items() if name in names and value.__class__ is str]

    def target(self, keyword: str, view: dict[str, Json], scope: DynamicScope) -> Target:
        """Return the target of one of the reference keywords of a schema."""
        if keyword == "$ref":
            return self.resolve(as_text(view["$ref"]), scope, view)
        if keyword == "$dynamicRef":
            return self.resolve_dynamic(as_text(view["$dynamicRef"]), scope, view)
        return self.resolve_recursive(scope)

    def enter(self, resource: Resource, anchors: Anchors) -> DynamicScope:
        """Return the scope of a resource that is reached with dynamic anchors from outer ones."""
        if not resource.dynamic.keys() <= anchors.keys():
            merged = dict(anchors)
            for name, node in resource.dynamic.items():
                merged.setdefault(name, (node, resource))
            self.merged_anchors += len(merged)
            if self.merged_anchors > MERGED_ANCHORS:
                raise CompileError(
                    [problems.files.TooLarge(what="the schema", limit=MERGED_ANCHORS, unit="dynamic anchors in its scopes")]
                )
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
        """Yield the object schemas below one, with their scopes, in written order."""
        stack: list[tuple[Location, Json, DynamicScope]] = [((), schema, scope)]
        while stack:
            path, node, within = stack.pop()
            if node.__class__ is dict:
                yield path, node, within
                below = [((*path, *step), child, self.below(child, within)) for step, child in subschemas(node)]
                stack.extend(reversed(below))

    def resolve(self, reference: str, scope: DynamicScope, holder: Json = None) -> Target:
        """Return the target of a `$ref` in a scope; raise `CompileError` if there is none."""
        key = (reference, id(scope))
        target = self.targets.get(key)
        if target is None:
            node, resource = self.find(reference, scope.resource, holder)
            if node.__class__ is not dict and node.__class__ is not bool:
                raise self.not_a_schema(node, reference, holder)
            target = self.targets[key] = Target(node, self.enter(resource, scope.anchors))
        return target

    def referred(self, node: Json, scope: DynamicScope) -> tuple[Json, DynamicScope]:
        """Return the target of a schema that is only a reference; any other schema itself."""
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
        """Return the target of a `$dynamicRef`: the outermost anchor of that name on the path, if it starts at one."""
        result = self.resolve(reference, scope, holder)
        anchor = reference.partition("#")[2]
        if anchor and result.scope.resource.dynamic.get(anchor) is result.node:
            outer = scope.anchors.get(anchor)
            if outer is not None:
                return Target(outer[0], self.enter(outer[1], scope.anchors))
        return result

    def resolve_recursive(self, scope: DynamicScope) -> Target:
        """Return the target of a `$recursiveRef` of 2019-09: its resource, or the outermost with `$recursiveAnchor`."""
        resource = scope.resource
        if RECURSIVE in resource.dynamic and (outer := scope.anchors.get(RECURSIVE)) is not None:
            return Target(outer[0], self.enter(outer[1], scope.anchors))
        return Target(resource.root, scope)

    def find(self, reference: str, resource: Resource, holder: Json) -> tuple[Json, Resource]:
        """Return the value that a reference in a resource leads to, with the resource that contains it."""
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
        raise self.unresolved(reference, holder, resource.anchors)

    def follow(self, fragment: str, resource: Resource, reference: str, holder: Json) -> tuple[Json, Resource]:
        """Follow a JSON Pointer from the root of a resource, tracking when it enters another one."""
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
                raise self.unresolved(reference, holder, as_object(value) if value.__class__ is dict else (), word=token)
            if value is not outermost and id(value) in self.nested:
                resource = self.nested[id(value)]
        if value.__class__ is dict and id(value) not in self.indexed:
            self.index(value, resource)  # not a schema position until it is referenced
        return value, resource

    def property_named(self, name: str, resource: Resource, reference: str, holder: Json) -> tuple[Json, Resource]:
        """Return the only property of a name anywhere in a document of the registry."""
        document = resource.document
        start, known = self.resources.get(document.uri, resource), self.by_name.get(id(document.root))
        named = self.by_name[id(document.root)] = known or schemas_by_name(document.root, start, self.nested)
        found = named.properties.get(name, ())
        if len(found) == 1:
            _, node, within = found[0]
            return node, within
        if found:
            if name not in named.ambiguous:
                pointers = tuple(sorted(self.pointer_of(place) for place, _, _ in found))
                spans = (self.place(document.uri, place) for place in pointers)
                named.ambiguous[name] = pointers, tuple(span for span in spans if span is not None)
            pointers, places = named.ambiguous[name]
            ambiguous = problems.vibes.AmbiguousFragment
            raise CompileError([ambiguous(at=self.at(holder), reference=reference, pointers=pointers, places=places)])

        def spelled(near: str) -> str:
            is_found = near in named.properties or near in resource.anchors
            return near if is_found else f"#{self.pointer_of(named.definitions[near])}"

        offered = resource.anchors, named.properties, named.definitions
        raise self.unresolved(reference, holder, *offered, word=name, spelled=spelled)

    def load(self, uri: str, reference: str, referrer: Resource, holder: Json) -> Resource:
        """Return the resource of a URI, from the caller's documents or the standard meta-schemas."""
        try:
            document = self.given_document(uri)
        except CompileError as error:  # a mapping may know the error, but not the position of the reference
            raise CompileError(structs.replace(problem, at=problem.at or self.at(holder)) for problem in error.problems) from None
        if document is None and not uri.startswith("aug:"):
            document = self.given_document(uri + "#")
            if document is None:
                document = metaschema(uri)
            if document is None and self.given.__class__ is dict and not self.scanned_all:
                self.scanned_all = True  # some document may have an `$id` that matches
                for name, root in self.given.items():
                    if name not in self.resources:
                        self.add(name, root, referrer.dialect)
                result = self.resources.get(uri)
                if result is not None:
                    return result
        if document is None:
            raise self.missing(uri, reference, holder)
        known = next((item for item in self.documents if item.root is document), None) if uri.startswith("aug:") else None
        if known is not None and known.uri in self.resources:  # another spelling of the same
            self.resources[uri] = self.resources[known.uri]
            return self.resources[uri]
        self.add(uri, document, referrer.dialect if not uri.startswith("aug:") else None)
        return self.resources[uri]
