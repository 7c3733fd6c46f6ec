"""Merge the keywords of several conjuncts into one schema.

Laws for single keywords are in `schema/laws/`.  `groups.py` has the keywords that speak about properties and about items
together, `separate.py` those that hold only side by side, `annotations.py` titles and
descriptions, `reconciling.py` the last look.
What has no exact law goes into further branches, which end up in a residual `allOf`.
"""

from __future__ import annotations

from instrc.flattening.annotations import OF_CONTENT, description, encoded_content, title
from instrc.flattening.conjunction import NO_REMAINDER, Remainder
from instrc.flattening.merge_state import MergeState
from instrc.flattening.reconciling import clash, in_order_of_properties
from instrc.flattening.separate import conditions, contains, keep_alternatives_separate, keep_separate
from instrc.jsonvalue import Json
from instrc.limits.schemas import REMEMBERED_LISTS
from instrc.schema.equality import unique
from instrc.schema.kinds import types_of
from instrc.schema.laws.law import NO_LAW, UNSATISFIABLE, Intersect, Verdict, same
from instrc.schema.laws.table import LAWS
from instrc.schema.resources import Term
from instrc.schema.vocabulary import FOLLOWERS

_PROPERTIES = frozenset({"properties", "patternProperties", "additionalProperties", "unevaluatedProperties"})
_CLOSING = frozenset({"additionalProperties", "unevaluatedProperties"})
_ITEMS = frozenset({"prefixItems", "items", "unevaluatedItems"})


def merge_keywords(state: MergeState) -> list[Remainder] | None:
    """Fill the frame and return what is left to do; `None` if nothing satisfies the conjunction."""
    out, by_keyword, conjuncts = state.out, state.groups, state.conjuncts
    if state.run.store.unevaluated:
        state.watched = state.watch()
    remainders: list[Remainder] = []
    properties = items = False
    for keyword, places in by_keyword.items():
        if len(places) == 1 and keyword not in _ARRANGED:
            out[keyword] = conjuncts[places[0]].view[keyword]
        elif (law := LAWS[keyword].intersect) is not None:
            if (left := _by_law(state, keyword, places, law)) is None:
                return None
            if left is not NO_REMAINDER:
                remainders.append(left)
        elif keyword in _PROPERTIES:
            if _CLOSING.isdisjoint(by_keyword):
                if (left := _named(state, keyword, places)) is not NO_REMAINDER:
                    remainders.append(left)
            else:
                out[keyword] = None
                properties = True
        elif keyword in _ITEMS:
            if _has_simple_items(state):
                state.carry(out, keyword, conjuncts[places[0]])
            else:
                out[keyword] = None
                items = True
        elif keyword in _BY_KEYWORD:
            if (left := _BY_KEYWORD[keyword](state, keyword, places)) is not NO_REMAINDER:
                remainders.append(left)
        elif keyword not in FOLLOWERS:
            out[keyword] = conjuncts[places[-1]].view[keyword]  # an annotation or unknown: the last wins
    if properties or items:
        remainders += _joined_groups(state, properties=properties, items=items)
    return remainders if _reconcile(state) else None


def _reconcile(state: MergeState) -> bool:
    """Let keywords that speak of the same things agree; false if nothing satisfies them."""
    in_order_of_properties(state.out)
    found = clash(state.out)
    if found is not None:
        from instrc.flattening.contradictions import report_contradiction  # for a mistake

        left, right = [(state.conjuncts[state.groups[keyword][-1]], keyword) for keyword in found]
        report_contradiction(state.run, left, right)
    return found is None


def _joined_groups(state: MergeState, *, properties: bool, items: bool) -> list[Remainder]:
    """Join what several conjuncts say about properties, and about items."""
    from instrc.flattening.groups import items as items_of  # most conjunctions leave their properties and items open
    from instrc.flattening.groups import properties as properties_of

    joined = [properties_of(state)] if properties else []
    if items:
        joined.append(items_of(state))
    if len(state.pending) > 1:
        _in_written_order(state)
    return joined


def _has_simple_items(state: MergeState) -> bool:
    """Tell whether one conjunct alone speaks of items, so that nothing has to be joined."""
    by_keyword = state.groups
    return "unevaluatedItems" not in by_keyword and len({*by_keyword.get("prefixItems", ()), *by_keyword.get("items", ())}) == 1


def _in_written_order(state: MergeState) -> None:
    """Have the parts done in the order in which they will stand, as they would be if they were read again."""
    out = state.out
    rank: dict[int | str, int] = {}
    for place, (keyword, value) in enumerate(out.items()):
        rank[keyword] = place
        if value.__class__ is dict or value.__class__ is list:
            rank[id(value)] = place
    last = len(out)
    state.pending.sort(key=lambda part: rank.get(part.slot if part.container is out else id(part.container), last))


def _by_law(state: MergeState, keyword: str, places: list[int], law: Intersect) -> Remainder | None:
    """Merge a keyword by its law; what stays apart becomes further branches.  `None` if nothing satisfies it."""
    if (law_for_all := LAWS[keyword].intersect_all) is not None:
        joined = law_for_all([state.conjuncts[place].view[keyword] for place in places])
        if not isinstance(joined, Verdict):
            state.out[keyword] = joined
            return NO_REMAINDER
    if law is same:
        return _unlike(state, keyword, places)
    kept: list[Json] = []
    since: list[int] = []
    seen: set[str] = set()
    lists: list[Json] = []  # of names of types
    for place in places:
        value = state.conjuncts[place].view[keyword]
        if value.__class__ is str:
            if value in seen:
                continue  # the hundredth branch seldom says what none before has said
            seen.add(value)
        elif keyword == "type" and value.__class__ is list:
            if value in lists:
                continue
            if types_of(value) is not None and len(lists) < REMEMBERED_LISTS:
                lists.append(value)
        for index, other in enumerate(kept):
            if other is value:
                break
            result = law(other, value)
            if result is UNSATISFIABLE:
                from instrc.flattening.contradictions import report_contradiction  # as above

                report_contradiction(state.run, (state.conjuncts[since[index]], keyword), (state.conjuncts[place], keyword))
                return None
            if result is not NO_LAW:
                if result is not other:
                    since[index] = place
                kept[index] = result
                break
        else:
            kept.append(value)
            since.append(place)
    state.out[keyword] = kept[0]
    return Remainder({keyword: [{keyword: value} for value in kept[1:]]}) if len(kept) > 1 else NO_REMAINDER


def _unlike(state: MergeState, keyword: str, places: list[int]) -> Remainder:
    """Keep different values of a keyword that has room for one in branches of their own."""
    first, *others = unique(state.conjuncts[place].view[keyword] for place in places)
    state.out[keyword] = first
    return Remainder({keyword: [{keyword: value} for value in others]}) if others else NO_REMAINDER


def _one_schema(state: MergeState, keyword: str, places: list[int]) -> Remainder:
    """Let all schemas of a keyword hold together."""
    state.place_child(
        state.out, keyword, [(state.conjuncts[place].view[keyword], state.conjuncts[place].scope) for place in places]
    )
    return NO_REMAINDER


def _named(state: MergeState, keyword: str, places: list[int]) -> Remainder:
    """Let the schemas of each name hold together."""
    if len(places) == 1:
        state.carry(state.out, keyword, state.conjuncts[places[0]])
        return NO_REMAINDER
    by_name: dict[str, list[Term]] = {}
    lists = False
    for place in places:
        conjunct = state.conjuncts[place]
        value, scope = conjunct.view[keyword], conjunct.scope
        if value.__class__ is not dict:
            return keep_separate(state, keyword, places)
        for name, schema in value.items():
            if name in by_name:
                by_name[name].append((schema, scope))
            else:
                by_name[name] = [(schema, scope)]
            lists |= schema.__class__ is list
    if lists and any(len(found) > 1 and any(schema.__class__ is list for schema, _ in found) for found in by_name.values()):
        return keep_separate(state, keyword, places)  # `dependencies` of old may hold lists
    together: dict[str, Json] = {}
    state.out[keyword] = together
    for name, terms in by_name.items():
        state.place_child(together, name, terms)
    return NO_REMAINDER


def _negations(state: MergeState, keyword: str, places: list[int]) -> Remainder:
    """Take negations together: neither A nor B is not any of A and B."""
    if len(places) == 1:
        return _one_schema(state, keyword, places)
    branches: list[Json] = []
    for place in places:
        value, scope = state.conjuncts[place].view[keyword], state.conjuncts[place].scope
        inside = value["anyOf"] if value.__class__ is dict and len(value) == 1 and "anyOf" in value else [value]
        for schema in inside if inside.__class__ is list else [value]:
            state.place_branch(branches, [(schema, scope)])
    state.out[keyword] = {"anyOf": branches}
    return Remainder(new_not=True)


_BY_KEYWORD = {
    "description": description,
    "title": title,
    "propertyNames": _one_schema,
    "dependentSchemas": _named,
    "dependencies": _named,
    "anyOf": keep_alternatives_separate,
    "oneOf": keep_alternatives_separate,
    "not": _negations,
    "if": conditions,
    "contains": contains,
    **dict.fromkeys(OF_CONTENT, encoded_content),
}
_ARRANGED = (_BY_KEYWORD.keys() - {"title", "description"}) | _PROPERTIES | _ITEMS | FOLLOWERS
"""Keywords that take more than to write them down, also where one conjunct alone has them."""
