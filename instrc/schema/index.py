"""Read a document once: note its resources, their anchors, and which schemas have something to change at or below them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from instrc.jsonvalue import Json
from instrc.schema.dialects import LATEST, RECURSIVE, known, modern
from instrc.schema.resources import Resource
from instrc.schema.uris import is_mixin, join
from instrc.schema.vocabulary import HOLDERS
from instrc.schema.walk import held

if TYPE_CHECKING:
    from instrc.schema.store import SchemaStore  # it calls us with itself

_IDENTIFIERS = frozenset({"$id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$schema", "id", "$vocabulary"})
_REFERENCES = frozenset({"$ref", "$dynamicRef", "$recursiveRef"})
_SPECIAL = _IDENTIFIERS | _REFERENCES
_UNEVALUATED = frozenset({"unevaluatedItems", "unevaluatedProperties"})
_TELLING = HOLDERS | _SPECIAL
"""Keywords without any of which a schema of today's dialect has nothing to note."""


def index(store: SchemaStore, root: Json, resource: Resource) -> None:
    """Note resources and anchors at and below a schema, and what has something to change."""
    indexed = store.indexed
    if root.__class__ is not dict or id(root) in indexed:
        return
    home = store.main.root if store.main is not None else None  # it alone keeps its identity
    plain = 0
    dirty_at: list[int] = []
    order: list[tuple[int, int]] = []  # id of a schema, place of the one above it
    further: dict[int, list[int]] = {}  # further places above a schema that stands at several
    stack: list[tuple[dict[str, Json], Resource, int]] = [(root, resource, -1)]
    pop, push, note_down, tells_nothing = stack.pop, stack.append, indexed.add, _TELLING.isdisjoint
    while stack:
        node, within, above = pop()
        key = id(node)
        if key in indexed:
            store.aliased = True
            if key in store.needs_flattening:
                dirty_at.append(above)
            else:
                further.setdefault(key, []).append(above)
            continue
        note_down(key)
        place = len(order)
        order.append((key, above))
        if not _SPECIAL.isdisjoint(node):
            within = identify(store, node, within, is_root=above < 0 and node is within.root)
            if is_mixin(node.get("$ref")):
                store.mixins = True
            if not _REFERENCES.isdisjoint(node):
                store.to_fold = True
                dirty_at.append(place)
            elif node is not home and not _IDENTIFIERS.isdisjoint(node):
                dirty_at.append(place)
        dialect = within.dialect
        old = dialect.old
        if old and modern(node, dialect) is not node:
            dirty_at.append(place)
        for keyword, value in node.items():
            if keyword not in HOLDERS:
                continue
            if keyword == "allOf" and value.__class__ is list:
                store.to_fold = True
                dirty_at.append(place)
            if keyword in _UNEVALUATED:
                store.unevaluated = True
            for child in held(keyword, value):
                if child.__class__ is dict:
                    if old or not tells_nothing(child) or id(child) in indexed:
                        push((child, within, place))
                    else:  # most schemas are leaves
                        note_down(id(child))
                        plain += 1
    store.count += len(order) + plain
    mark(store.needs_flattening, dirty_at, order, further)


def mark(needs_flattening: set[int], dirty_at: list[int], order: list[tuple[int, int]], further: dict[int, list[int]]) -> None:
    """Mark the schemas at some places, and all that hold them."""
    while dirty_at:
        place = dirty_at.pop()
        while place >= 0:
            key, above = order[place]
            if key in needs_flattening:
                break
            needs_flattening.add(key)
            if key in further:
                dirty_at += further[key]
            place = above


def identify(store: SchemaStore, node: dict[str, Json], within: Resource, *, is_root: bool) -> Resource:
    """Take down identifiers of a schema; return the resource that what is below it belongs to."""
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
            dialect = within.dialect if named is None or is_root else store.dialect(named)
            if is_root:
                if uri != within.uri:
                    within.uri = uri
                    store.resources.setdefault(uri, within)
            else:
                resource = Resource(uri, node, within.document, dialect)
                store.resources.setdefault(uri, resource)
                store.nested[id(node)] = resource
            if fragment and year < 2019:
                resource.anchors.setdefault(fragment, node)
    if resource is within and named is not None and not is_root:
        spoken = known(named)
        if spoken is not None and spoken is not within.dialect and (spoken.old or within.dialect.year < LATEST.year):
            resource = store.nested[id(node)] = within.in_dialect(spoken)
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
