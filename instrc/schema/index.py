"""Read a document once: note its resources, their anchors, and which schemas have something to change at or below them."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from instrc.jsonvalue import Json, as_object
from instrc.limits.schemas import LEVELS_AT_ONCE, MANY_AT_ONCE
from instrc.plain_values import as_plain
from instrc.schema.drafts import (
    LATEST,
    NULLABLE,
    RECURSIVE,
    Draft,
    dialect_of_uri,
    left_out_by,
    modern,
    unknown,
    without_keywords,
)
from instrc.schema.resources import Resource, SchemaDocument
from instrc.schema.uris import is_mixin, join
from instrc.schema.vocabulary import HOLDERS
from instrc.schema.walk import next_level, objects_of, schemas_under

_IDENTIFIERS = frozenset({"$id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$schema", "id", "$vocabulary"})
_REFERENCES = frozenset({"$ref", "$dynamicRef", "$recursiveRef"})
FOLDED = _REFERENCES | {"allOf"}
"""Keywords without any of which a schema of today's dialect has nothing to resolve or fold."""
_UNEVALUATED = frozenset({"unevaluatedItems", "unevaluatedProperties"})
_NOTED = _IDENTIFIERS | FOLDED | _UNEVALUATED
_TELLING = HOLDERS | _IDENTIFIERS | _REFERENCES
"""Keywords without any of which a schema of today's dialect has nothing to note."""


class Index:
    """What has been read: documents, the resources in them, and marks on their schemas."""

    def __init__(self, documents: Mapping[str, Json] | None, default: Draft) -> None:
        self.given: Mapping[str, Json] = documents if documents is not None else {}
        self.default = default
        self.resources: dict[str, Resource] = {}
        self.nested: dict[int, Resource] = {}
        """Resources by the `id` of their root, for those that are parts of others."""
        self.needs_flattening: set[int] = set()
        """`id`s of schemas that have something to change at or below them."""
        self.aliased: bool = False
        """Whether one object stands at several places of the input."""
        self.to_fold: bool = False
        """Whether some schema has something to resolve or fold."""
        self.unevaluated: bool = False
        """Whether some schema speaks of what others leave unevaluated."""
        self.mixins: bool = False
        """Whether some reference applies a mixin."""
        self.count: int = 0
        """How many schemas have been read."""
        self.documents: list[SchemaDocument] = []
        self.main: Resource | None = None
        """The resource of the schema that is flattened: it alone keeps its identity."""
        self.indexed: set[int] = set()

    def dialect(self, uri: Json) -> Draft:
        """Return the dialect of a `$schema`; a meta-schema among the documents may leave vocabularies out."""
        seen: set[str] = set()
        name = uri
        left_out: frozenset[str] = frozenset()
        while True:
            found = dialect_of_uri(name)
            if found is not None:
                if found is LATEST and self.default is NULLABLE and name != uri:
                    found = NULLABLE
                return without_keywords(found, left_out) if left_out else found
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
        """Return a document of the caller's, or `None`."""
        try:
            return as_plain(self.given[uri])
        except KeyError:
            return None

    def index(self, root: Json, resource: Resource) -> None:
        """Note resources and anchors at and below a schema, and what has something to change."""
        indexed = self.indexed
        if root.__class__ is not dict or id(root) in indexed:
            return
        home = self.main.root if self.main is not None else None  # it alone keeps its identity
        plain = 0
        needing: list[int] = []
        order: list[tuple[int, int]] = []  # id of a schema, place of the one above it
        further: dict[int, list[int]] = {}  # further places above a schema that stands at several
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
                if within.holder is not None:  # words of another draft than the document's
                    self.to_fold = True
            for keyword, value in node.items():
                if keyword in HOLDERS:
                    children = schemas_under(keyword, value)
                    for child in children if old or len(children) < MANY_AT_ONCE else self._to_read(children):
                        if child.__class__ is dict:
                            if old or not _TELLING.isdisjoint(child) or id(child) in indexed:
                                stack.append((child, within, place))
                            else:  # most schemas are leaves
                                indexed.add(id(child))
                                plain += 1
        self.count += len(order) + plain
        mark(self.needs_flattening, needing, order, further)

    def _to_read(self, schemas: Collection[Json]) -> Collection[Json]:
        """Return which of very many schemas are to be read one by one: none if nothing is to be noted of any, or below them.

        They are looked at level by level, as what all schemas of one say together is found in a few calls.
        """
        found: set[int] = set()
        count = 0
        level = list(schemas)
        for _ in range(LEVELS_AT_ONCE):
            nodes = objects_of(level)
            words = frozenset().union(*nodes)
            found.update(map(id, nodes))
            count += len(nodes)
            if len(found) < count or not words.isdisjoint(_NOTED):  # a part that stands in several places would be read in each
                return schemas
            level = next_level(nodes, words)
            if not level:
                break
        if level or not found.isdisjoint(self.indexed):
            return schemas
        self.indexed |= found
        self.count += count
        return ()

    def _note(self, node: dict[str, Json]) -> bool:
        """Note what keywords a schema has that reach beyond it; tell whether it has something to resolve or to fold."""
        if not _UNEVALUATED.isdisjoint(node):
            self.unevaluated = True
        if node.get("allOf").__class__ is not list and _REFERENCES.isdisjoint(node):
            return False
        self.to_fold = True
        self.mixins = self.mixins or is_mixin(node.get("$ref"))
        return True

    def _identify(self, node: dict[str, Json], within: Resource, *, is_root: bool) -> Resource:
        """Record the identifiers of a schema; return the resource that what is below it belongs to."""
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
    """Mark the schemas at some places, and all that hold them."""
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
