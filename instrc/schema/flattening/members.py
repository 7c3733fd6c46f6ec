"""Merge the keywords about properties, and those about items, in one conjunction.

`unevaluatedProperties` and `unevaluatedItems` join these groups where the members that they apply to are certain.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from msgspec import Struct, field

from instrc.schema.flattening import unevaluated
from instrc.schema.flattening.conjunction import Remainder
from instrc.schema.flattening.contradictions import report_lost
from instrc.schema.flattening.run import MergeState
from instrc.schema.flattening.unevaluated import evaluated, items_void, properties_void
from instrc.schema.laws.arrays import ItemRules, join_items
from instrc.schema.laws.objects import ForbiddenProperty, PropertyRules, join_properties, names_to_match, without_idle_patterns
from instrc.schema.scopes import Term
from instrc.schema.walk import TRIVIAL
from instrc.text.jsonvalue import Json, JsonArray, JsonObject, mapping
from instrc.text.limits import MATCHED_AT_ONCE


def merged_properties(state: MergeState) -> Remainder:
    """Join the keywords about properties."""
    said = _Said()
    for place in dict.fromkeys(place for keyword in _BY_NAME_FIRST for place in state.groups.get(keyword, ())):
        _read(state, place, said)
        if "unevaluatedProperties" in state.conjuncts[place].view:
            _read_unevaluated(state, place, said)
    if said.unevaluated:
        said.open_extra = None  # it would make them apply to everything
    main, apart = _join_groups(said, state.run.spend)
    for item in said.lost[:TOLD_LOST]:
        report_lost(state.run, state.conjuncts, item)
    write_properties(state, state.out, main, said.open_extra)
    for other in apart:
        container: JsonObject = {}
        said.apart.setdefault("properties", []).append(container)
        write_properties(state, container, other, None)
    if said.unevaluated:
        state.place_child(state.out, "unevaluatedProperties", said.unevaluated)
    else:
        state.out.pop("unevaluatedProperties", None)
    return Remainder(
        said.apart,
        shares=True,  # one schema for additional properties may then apply to many names
        may_simplify=bool(said.unevaluated),
        may_close=bool(apart) and not main.closed,
    )


TOLD_LOST: Final = 100
"""Maximum warnings of forbidden properties of one schema, each of which looks through all its parts."""


TERMS_AT_ONCE: Final = 4000
"""Maximum terms that branches add to each other's names by `additionalProperties` in one pass, or twice the names."""


TERMS_OF_A_TRY: Final = 10
"""How many terms the comparison of two separate groups counts."""


COMPARED_GROUPS: Final = 50
"""Maximum separate values of a keyword, or groups of property keywords, that a new one is tried against."""


_BY_NAME_FIRST = ("properties", "patternProperties", "additionalProperties", "unevaluatedProperties")
"""Keywords that list properties, in the order in which their names are taken."""


_LISTED_FIRST = ("prefixItems", "items", "unevaluatedItems")
"""Fixed order of array keywords: the order of a set differs between runs."""


class _Said(Struct):
    """The keywords of the conjuncts about properties, in reading order."""

    groups: list[PropertyRules] = field(default_factory=list)
    unevaluated: list[Term] = field(default_factory=list)
    """Values of `unevaluatedProperties` that must stay as they are."""
    open_extra: Json = None
    lost: list[ForbiddenProperty] = field(default_factory=list)
    apart: dict[str, list[JsonObject]] = field(default_factory=dict)
    """Keywords that stay in separate branches."""


def _read(state: MergeState, place: int, said: _Said) -> None:
    """Read the keywords of one conjunct about properties: by name, by pattern, and additional ones."""
    conjunct = state.conjuncts[place]
    view, scope = conjunct.view, conjunct.scope
    found = PropertyRules(origin=place)
    for keyword, into in (("properties", found.properties), ("patternProperties", found.patterns)):
        value = view.get(keyword)
        if value.__class__ is dict:
            for name, schema in value.items():
                into[name] = [(schema, scope)]
        elif keyword in view:
            said.apart.setdefault(keyword, []).append({keyword: value})  # malformed: it stays as it is
    if "additionalProperties" in view:
        extra = view["additionalProperties"]
        if extra in TRIVIAL:
            said.open_extra = extra
        else:
            found.extra = [(extra, scope)]
            found.closed = extra is False
    without_idle_patterns(found)
    said.groups.append(found)


def _read_unevaluated(state: MergeState, place: int, said: _Said) -> None:
    """Read an `unevaluatedProperties` as properties if its subject is certain; otherwise keep it."""
    conjuncts = state.conjuncts
    value, scope = conjuncts[place].view["unevaluatedProperties"], conjuncts[place].scope
    certain, possible = evaluated(state.run.store, conjuncts[place].node, scope)
    if value in TRIVIAL:
        if said.open_extra is None:
            said.open_extra = value
    elif certain.all_properties or state.siblings.forbid_objects:
        pass
    elif certain.covers_properties(possible) or properties_void(state.siblings, certain, possible, value):
        said.groups.append(
            PropertyRules(
                {name: [] for name in (*certain.names, *possible.names)},
                {regex: [] for regex in (*certain.patterns, *possible.patterns)},
                [(value, scope)],
                value is False,
                place,
            )
        )
    else:
        said.unevaluated.append((value, scope))
        names = unevaluated.never_evaluated(conjuncts, certain, possible)
        said.groups.append(PropertyRules({name: [(value, scope)] for name in names}))
        if value is False:
            said.lost += [
                ForbiddenProperty(name, place, [(listed[name], by.scope)])
                for name in names
                for by in conjuncts
                if name in (listed := mapping(by.view.get("properties")))
            ]


def _join_groups(said: _Said, spend: Callable[[int], None]) -> tuple[PropertyRules, list[PropertyRules]]:
    """Merge groups as far as possible; return the merged group and the remaining ones.

    Every name gets the schemas of other groups for additional names, unless these exceed the limit.
    Very many groups are merged in batches: a batch's schemas for additional names become one, and another pass merges batches.
    """
    at_once = max(TERMS_AT_ONCE, 2 * sum(len(group.properties) for group in said.groups))
    main = said.groups[0]
    apart: list[PropertyRules] = []
    joined: list[PropertyRules] = []
    here = matched = 0
    for further in said.groups[1:]:
        more = _terms_for_others(main, further) + _terms_for_others(further, main)
        matched += names_to_match(main, further)
        if here + more > at_once or matched > MATCHED_AT_ONCE:
            joined += _joined_again(main, apart, said.lost)
            main, apart, here, matched = further, [], 0, 0
            continue
        here += more
        spend(more + TERMS_OF_A_TRY * len(apart[:COMPARED_GROUPS]))
        if join_properties(main, further, said.lost):
            continue
        if not any(join_properties(other, further, said.lost) for other in apart[:COMPARED_GROUPS]):
            apart.append(further)
    joined += _joined_again(main, apart, said.lost)
    return joined[0], joined[1:]


def _terms_for_others(one: PropertyRules, other: PropertyRules) -> int:
    """Return how many terms one group adds to names that only the other lists; 0 for patterns and closed groups."""
    if not one.extra or one.closed or other.closed or one.patterns or other.patterns:
        return 0
    return len(one.extra) * len(other.properties.keys() - one.properties.keys())


def _joined_again(main: PropertyRules, apart: list[PropertyRules], lost: list[ForbiddenProperty]) -> list[PropertyRules]:
    """Return a group and the separate ones, merged again where later merges allow it."""
    while made_room := next((other for other in apart[:COMPARED_GROUPS] if join_properties(main, other, lost)), None):
        apart.remove(made_room)
    return [main, *apart]


def write_properties(state: MergeState, container: JsonObject, found: PropertyRules, open_extra: Json) -> None:
    """Write a group of property keywords."""
    for keyword, by_name in (("properties", found.properties), ("patternProperties", found.patterns)):
        if by_name or (
            keyword in container and all(state.conjuncts[place].view[keyword] == {} for place in state.groups[keyword])
        ):
            schemas: JsonObject = {}
            container[keyword] = schemas
            for name, terms in by_name.items():
                state.place_child(schemas, name, terms)
        else:
            container.pop(keyword, None)
    if found.extra is not None:
        rename_keyword(container, "unevaluatedProperties", "additionalProperties")
        state.place_child(container, "additionalProperties", found.extra)
    elif open_extra is not None:
        rename_keyword(container, "unevaluatedProperties", "additionalProperties")
        container["additionalProperties"] = open_extra
    else:
        container.pop("additionalProperties", None)


def rename_keyword(container: JsonObject, old: str, new: str) -> None:
    """Put a new keyword in the position of an old one, unless it is present."""
    if old in container and new not in container:
        items = [(new if key == old else key, value) for key, value in container.items()]
        container.clear()
        container.update(items)


def merged_items(state: MergeState) -> Remainder:
    """Merge the keywords about items."""
    parts: list[ItemRules] = []
    kept: list[Term] = []
    apart: dict[str, list[JsonObject]] = {}
    trivial: Json = None
    for place in dict.fromkeys(place for keyword in _LISTED_FIRST for place in state.groups.get(keyword, ())):
        conjunct = state.conjuncts[place]
        view, scope = conjunct.view, conjunct.scope
        prefix = view.get("prefixItems")
        if "prefixItems" in view and prefix.__class__ is not list:
            apart.setdefault("prefixItems", []).append({"prefixItems": prefix})
        parts.append(
            ItemRules(
                [(schema, scope) for schema in prefix] if prefix.__class__ is list else [],
                (view["items"], scope) if "items" in view else None,
            )
        )
        if "unevaluatedItems" in view:
            value = view["unevaluatedItems"]
            certain, possible = evaluated(state.run.store, conjunct.node, scope)
            if value in TRIVIAL:
                trivial = value
            elif certain.all_items or items_void(state.run.store, state.siblings, certain, value):
                pass
            elif certain.covers_items(possible):
                parts.append(ItemRules([(True, scope)] * certain.items, (value, scope)))
            else:
                kept.append((value, scope))
    prefix_terms, items_terms = join_items(parts)
    if kept:
        items_terms = [term for term in items_terms if term[0] not in TRIVIAL]  # they would make them apply to everything
    out = state.out
    if prefix_terms or "prefixItems" in state.groups:
        if "prefixItems" not in out:
            rename_keyword(out, "items", "prefixItems")
        schemas: JsonArray = []
        out["prefixItems"] = schemas
        for terms in prefix_terms:
            state.place_branch(schemas, terms)
        if not schemas:
            del out["prefixItems"]
    if items_terms:
        rename_keyword(out, "unevaluatedItems", "items")
        state.place_child(out, "items", items_terms)
    else:
        out.pop("items", None)
    if kept:
        state.place_child(out, "unevaluatedItems", kept)
    elif trivial is not None and "items" not in out:
        out["unevaluatedItems"] = trivial
    else:
        out.pop("unevaluatedItems", None)
    return Remainder(apart, shares=True, may_simplify=bool(kept))
