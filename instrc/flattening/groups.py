"""Merge the groups of keywords that speak about properties, and those that speak about items.

`unevaluatedProperties` and `unevaluatedItems` become part of these groups where what they see is certain.
"""

from __future__ import annotations

from instrc.flattening import unevaluated
from instrc.flattening.conjunction import Term
from instrc.flattening.contradictions import report_lost
from instrc.flattening.evaluated import evaluated
from instrc.flattening.placing import Placing
from instrc.jsonvalue import AnyJson as Json
from instrc.schema import arrays, objects
from instrc.schema.walk import TRIVIAL

PROPERTIES = frozenset({"properties", "patternProperties", "additionalProperties", "unevaluatedProperties"})
_BY_NAME_FIRST = ("properties", "patternProperties", "additionalProperties", "unevaluatedProperties")
"""Pieces that list properties come first, in the order in which they list them."""
ITEMS = frozenset({"prefixItems", "items", "unevaluatedItems"})
_LISTED_FIRST = ("prefixItems", "items", "unevaluatedItems")
"""Sets have no order that is the same in every run."""


def properties(merger: Placing) -> None:
    """Join what is said about properties."""
    objects_of: list[objects.Group] = []
    order = list(dict.fromkeys(place for keyword in _BY_NAME_FIRST for place in merger.groups.get(keyword, ())))
    kept_unevaluated: list[Term] = []
    open_extra: Json = None
    lost: list[objects.Lost] = []
    views = [conjunct.view for conjunct in merger.conjuncts]
    for place in order:
        conjunct = merger.conjuncts[place]
        view, scope = conjunct.view, conjunct.scope
        found = objects.Group(origin=place)
        for keyword, into in (("properties", found.properties), ("patternProperties", found.patterns)):
            value = view.get(keyword)
            if value.__class__ is dict:
                for name, schema in value.items():
                    into[name] = [(schema, scope)]
            elif keyword in view:
                merger.todo.apart.setdefault(keyword, []).append({keyword: value})  # whatever it is meant to say
        if "additionalProperties" in view:
            extra = view["additionalProperties"]
            if extra in TRIVIAL:
                open_extra = extra
            else:
                found.extra = [(extra, scope)]
                found.closed = extra is False
        objects.without_idle_patterns(found)
        objects_of.append(found)
        if "unevaluatedProperties" in view:
            value = view["unevaluatedProperties"]
            certain, possible = evaluated(merger.run.store, conjunct.node, scope)
            if value in TRIVIAL:
                if open_extra is None:
                    open_extra = value
            elif certain.all_properties or unevaluated.excluded("object", views):
                pass
            elif certain.covers_properties(possible) or unevaluated.properties_void(views, certain, possible, value):
                objects_of.append(
                    objects.Group(
                        {name: [] for name in (*certain.names, *possible.names)},
                        {regex: [] for regex in (*certain.patterns, *possible.patterns)},
                        [(value, scope)],
                        value is False,
                        place,
                    )
                )
            else:
                kept_unevaluated.append((value, scope))
                names = unevaluated.never_seen(merger.conjuncts, certain, possible)
                objects_of.append(objects.Group({name: [(value, scope)] for name in names}))
                if value is False:
                    lost += [
                        objects.Lost(name, place, [(by.view["properties"][name], by.scope)])
                        for name in names
                        for by in merger.conjuncts
                        if by.view.get("properties").__class__ is dict and name in by.view["properties"]
                    ]
    if kept_unevaluated:
        open_extra = None  # it would have them see everything
    merger.todo.shares = True  # one schema for further properties may come to stand at many names
    main = objects_of[0]
    apart: list[objects.Group] = []
    for further in objects_of[1:]:
        if objects.join(main, further, lost):
            continue
        if not any(objects.join(other, further, lost) for other in apart):
            apart.append(further)
    while made_room := next((other for other in apart if objects.join(main, other, lost)), None):
        apart.remove(made_room)  # what has been joined since may have made room for it
    merger.todo.may_close = bool(apart) and not main.closed
    for item in lost:
        report_lost(merger.run, merger.conjuncts, item)
    write(merger, merger.out, main, open_extra)
    for other in apart:
        container: dict[str, Json] = {}
        merger.todo.apart.setdefault("properties", []).append(container)
        write(merger, container, other, None)
    if kept_unevaluated:
        merger.todo.may_simplify = True
        merger.place_child(merger.out, "unevaluatedProperties", kept_unevaluated)
    else:
        merger.out.pop("unevaluatedProperties", None)


def write(merger: Placing, container: dict[str, Json], found: objects.Group, open_extra: Json) -> None:
    """Write a group of property keywords."""
    for keyword, by_name in (("properties", found.properties), ("patternProperties", found.patterns)):
        if by_name or (
            keyword in container and all(merger.conjuncts[place].view[keyword] == {} for place in merger.groups[keyword])
        ):
            schemas: dict[str, Json] = {}
            container[keyword] = schemas
            for name, terms in by_name.items():
                merger.place_child(schemas, name, terms)
        else:
            container.pop(keyword, None)
    if found.extra is not None:
        rename(container, "unevaluatedProperties", "additionalProperties")
        merger.place_child(container, "additionalProperties", found.extra)
    elif open_extra is not None:
        rename(container, "unevaluatedProperties", "additionalProperties")
        container["additionalProperties"] = open_extra
    else:
        container.pop("additionalProperties", None)


def rename(container: dict[str, Json], old: str, new: str) -> None:
    """Give a place in the order of keywords to another keyword, if that has none."""
    if old in container and new not in container:
        items = [(new if key == old else key, value) for key, value in container.items()]
        container.clear()
        container.update(items)


def items(merger: Placing) -> None:
    """Join what is said about items."""
    parts: list[arrays.Part] = []
    kept: list[Term] = []
    trivial: Json = None
    views = [conjunct.view for conjunct in merger.conjuncts]
    for place in dict.fromkeys(place for keyword in _LISTED_FIRST for place in merger.groups.get(keyword, ())):
        conjunct = merger.conjuncts[place]
        view, scope = conjunct.view, conjunct.scope
        prefix = view.get("prefixItems")
        if "prefixItems" in view and prefix.__class__ is not list:
            merger.todo.apart.setdefault("prefixItems", []).append({"prefixItems": prefix})
        parts.append(
            arrays.Part(
                [(schema, scope) for schema in prefix] if prefix.__class__ is list else [],
                (view["items"], scope) if "items" in view else None,
            )
        )
        if "unevaluatedItems" in view:
            value = view["unevaluatedItems"]
            certain, possible = evaluated(merger.run.store, conjunct.node, scope)
            if value in TRIVIAL:
                trivial = value
            elif certain.all_items or unevaluated.items_void(merger.run.store, views, certain, value):
                pass
            elif certain.covers_items(possible):
                parts.append(arrays.Part([(True, scope)] * certain.items, (value, scope)))
            else:
                kept.append((value, scope))
    merger.todo.shares = True
    prefix_terms, items_terms = arrays.join(parts)
    if kept:
        items_terms = [term for term in items_terms if term[0] not in TRIVIAL]  # they would have them see everything
    out = merger.out
    if prefix_terms or "prefixItems" in merger.groups:
        if "prefixItems" not in out:
            rename(out, "items", "prefixItems")
        out["prefixItems"] = schemas = [None] * len(prefix_terms)
        for index, terms in enumerate(prefix_terms):
            merger.place_child(schemas, index, terms)
        if not schemas:
            del out["prefixItems"]
    if items_terms:
        rename(out, "unevaluatedItems", "items")
        merger.place_child(out, "items", items_terms)
    else:
        out.pop("items", None)
    if kept:
        merger.todo.may_simplify = True
        merger.place_child(out, "unevaluatedItems", kept)
    elif trivial is not None and "items" not in out:
        out["unevaluatedItems"] = trivial
    else:
        out.pop("unevaluatedItems", None)
