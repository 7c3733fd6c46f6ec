"""Merge the keywords of several conjuncts into one schema.

The laws of single keywords are in `schema/laws/`; keywords about members are merged by `members`.
Keywords without an exact law become further branches, in a residual `allOf`.
"""

from __future__ import annotations

from typing import cast

from instrc.schema.flattening.conjunction import (
    NO_REMAINDER,
    NOTHING,
    SHARED,
    Expansion,
    Finalization,
    Merging,
    PendingPart,
    Remainder,
)
from instrc.schema.flattening.contradictions import report_contradiction
from instrc.schema.flattening.expand import expand, is_single
from instrc.schema.flattening.members import COMPARED_GROUPS, merged_items, merged_properties
from instrc.schema.flattening.run import Flattening, MergeState
from instrc.schema.flattening.unevaluated import marks_nothing, to_open
from instrc.schema.kinds import has_type, types_of, unique
from instrc.schema.laws.law import NO_LAW, UNSATISFIABLE, Intersect, Verdict, same
from instrc.schema.laws.numbers import BOUNDS, empty_range, redundant_bound
from instrc.schema.laws.table import LAWS
from instrc.schema.scopes import Term
from instrc.schema.vocabulary import APPROVAL, FOLLOWERS, of_group
from instrc.schema.walk import TRIVIAL
from instrc.text.jsonvalue import Json, JsonArray, JsonObject, equal


def merge(run: Flattening, terms: list[Term], expansion: Expansion) -> Merging | None:
    """Return the frame of a conjunction of several conjuncts, or `None` if it is unsatisfiable."""
    if expansion.units or "anyOf" in expansion.groups or "oneOf" in expansion.groups:
        opened = _opened(run, terms, expansion)
        if opened is None:
            return None
        expansion = opened
    frame = MergeState(run, expansion)
    remainders = merge_keywords(frame)
    if remainders is None:
        return None
    if not remainders and not expansion.units:
        frame.todo = SHARED if expansion.shares else NOTHING
        return frame
    units: JsonArray = [None] * len(expansion.units)
    frame.pending += [PendingPart(units, number, [term]) for number, term in enumerate(expansion.units)]
    frame.todo = Finalization.of(remainders, frame.watched, units, shares=expansion.shares)
    frame.idle = not frame.todo.anything()
    return frame


def _opened(run: Flattening, terms: list[Term], expansion: Expansion) -> Expansion | None:
    """Expand a conjunction further if a choice has a single branch, or a schema with `unevaluated…` may be merged."""
    fold: frozenset[str] = frozenset()
    opened: frozenset[int] = frozenset()
    while True:
        single = frozenset(keyword for keyword in ("anyOf", "oneOf") if _some_single(keyword, expansion))
        if not single <= fold:
            fold |= single
        elif (unit := to_open(run.store, expansion)) is not None:
            opened |= {unit}
        else:
            return expansion
        again = expand(run, terms, fold=fold, opened=opened)
        if again is None:
            return None
        again.shares |= expansion.shares
        expansion = again


def _some_single(keyword: str, expansion: Expansion) -> bool:
    """Return whether one of several `anyOf` or `oneOf` has a single branch, which can be merged as well."""
    places = expansion.groups.get(keyword, ())
    return len(places) > 1 and any(is_single(expansion.conjuncts[place].view, keyword) for place in places)


_TEXTS = frozenset({str})
OF_CONTENT = of_group("content")
"""Keywords that describe content together: the last conjunct with any of them provides all."""


def description(state: MergeState, keyword: str, places: list[int]) -> Remainder:
    """Join the descriptions."""
    state.out[keyword] = joined_texts([state.conjuncts[place].view[keyword] for place in places])
    return NO_REMAINDER


def joined_texts(texts: list[Json]) -> Json:
    """Join texts by newlines without duplicates; if descriptions are not texts, the last one is used."""
    if not _TEXTS.issuperset(map(type, texts)):
        return texts[-1]
    return "\n".join(filter(None, dict.fromkeys(cast("list[str]", texts))))


def title(state: MergeState, keyword: str, places: list[int]) -> Remainder:
    """Keep the outermost title."""
    conjuncts = [state.conjuncts[place] for place in places]
    state.out[keyword] = outermost([conjunct.view[keyword] for conjunct in conjuncts], [conjunct.depth for conjunct in conjuncts])
    return NO_REMAINDER


def outermost(titles: list[Json], depths: list[int]) -> Json:
    """Return the outermost of some titles; of several at the same depth, the last."""
    least = min(depths)
    return next(item for item, depth in zip(reversed(titles), reversed(depths), strict=True) if depth == least)


def encoded_content(state: MergeState, keyword: str, _places: list[int]) -> Remainder:
    """Use the keywords about encoded content of the last conjunct that has any."""
    if keyword != next(first for first in state.groups if first in OF_CONTENT):
        return NO_REMAINDER
    last = max(place for keyword in OF_CONTENT for place in state.groups.get(keyword, ()))
    conjunct = state.conjuncts[last]
    for word, value in conjunct.view.items():
        if word == "contentSchema":
            state.place_child(state.out, word, [(value, conjunct.scope)])
        elif word in OF_CONTENT:
            state.out[word] = value
    return NO_REMAINDER


_VALUES = frozenset({"const", "enum"})
_BOUNDS = (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum"))


def clash(out: JsonObject) -> tuple[str, str] | None:
    """Reconcile keywords about the same values; return two contradictory ones, if any."""
    result = _values_agree(out) if not _VALUES.isdisjoint(out) else None
    return _bounds_agree(out) if result is None and not BOUNDS.isdisjoint(out) else result


def _values_agree(out: JsonObject) -> tuple[str, str] | None:
    """Keep the listed values that all keywords allow; return two keywords that together exclude all."""
    if "const" in out and "enum" in out and out["enum"].__class__ is list:
        if not any(equal(out["const"], value) for value in out["enum"]):
            return "const", "enum"
        del out["enum"]
    names = types_of(out["type"]) if "type" in out else None
    if names is None:
        return None
    if "const" in out and not has_type(out["const"], names):
        return "type", "const"
    if isinstance(listed := out.get("enum"), list) and listed:
        values = [value for value in listed if has_type(value, names)]
        if not values:
            return "type", "enum"
        if len(values) < len(listed):
            out["enum"] = values
    return None


def _bounds_agree(out: JsonObject) -> tuple[str, str] | None:
    """Keep the stricter of two bounds on one side; return two that leave nothing between them."""
    for inclusive, exclusive in _BOUNDS:
        if exclusive in out and inclusive in out:
            redundant = redundant_bound(out[inclusive], out[exclusive], upper=inclusive == "maximum")
            if redundant is not None:
                del out[inclusive if redundant == "inclusive" else exclusive]
    return empty_range(out)


def in_order_of_properties(out: JsonObject) -> None:
    """Sort `required` in the order of the properties."""
    wanted = out.get("required")
    if wanted.__class__ is list and len(wanted) > 1 and isinstance(properties := out.get("properties"), dict):
        rank = {name: index for index, name in enumerate(properties)}
        last = len(rank)
        ordered = sorted(wanted, key=lambda name: rank.get(name, last) if isinstance(name, str) else last)
        if ordered != wanted:
            out["required"] = ordered


def keep_separate(state: MergeState, keyword: str, places: list[int]) -> Remainder:
    """Keep the first occurrence of a keyword here and put each further one in a separate branch."""
    containers: list[JsonObject] = [state.out, *({} for _ in places[1:])]
    for container, place in zip(containers, places, strict=True):
        state.carry(container, keyword, state.conjuncts[place])
    return Remainder({keyword: containers[1:]}) if len(places) > 1 else NO_REMAINDER


def conditions(state: MergeState, _keyword: str, places: list[int]) -> Remainder:
    """Keep each `if` with its own `then` and `else`; drop one without both."""
    containers = [state.out]  # the last one belongs to the next
    for place in places:
        conjunct = state.conjuncts[place]
        follow = [word for word in ("then", "else") if word in conjunct.view and conjunct.view[word] not in TRIVIAL]
        seen = state.watched.properties or state.watched.items
        if not follow and (not seen or marks_nothing(conjunct.view["if"])):
            continue
        for word in conjunct.view:
            if word == "if" or word in {"then", "else"}:
                state.place_child(containers[-1], word, [(conjunct.view[word], conjunct.scope)])
        containers.append({})
    return Remainder({"if": containers[1:-1]}) if len(containers) > 1 else NO_REMAINDER


def contains(state: MergeState, _keyword: str, places: list[int]) -> Remainder:
    """Keep each `contains` with its own bounds; drop one with `minContains: 0` and no maximum."""
    containers = [state.out]
    for place in places:
        conjunct = state.conjuncts[place]
        view = conjunct.view
        least = view.get("minContains")
        if least == 0 and least is not False and "maxContains" not in view and not state.watched.items:
            continue
        for word in view:
            if word == "contains":
                state.place_child(containers[-1], word, [(view[word], conjunct.scope)])
            elif word in {"minContains", "maxContains"}:
                containers[-1][word] = view[word]
        containers.append({})
    return Remainder({"contains": containers[1:-1]}) if len(containers) > 1 else NO_REMAINDER


_PROPERTIES = frozenset({"properties", "patternProperties", "additionalProperties", "unevaluatedProperties"})
_CLOSING = frozenset({"additionalProperties", "unevaluatedProperties"})
_ITEMS = frozenset({"prefixItems", "items", "unevaluatedItems"})


def merge_keywords(state: MergeState) -> list[Remainder] | None:
    """Fill the frame and return the remaining work, or `None` if the conjunction is unsatisfiable."""
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


def _one_schema(state: MergeState, keyword: str, places: list[int]) -> Remainder:
    """Conjoin all schemas of a keyword."""
    state.place_child(
        state.out, keyword, [(state.conjuncts[place].view[keyword], state.conjuncts[place].scope) for place in places]
    )
    return NO_REMAINDER


def _named(state: MergeState, keyword: str, places: list[int]) -> Remainder:
    """Conjoin the schemas of each name."""
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
    """Combine negations: neither A nor B is the same as not any of A and B."""
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


def _unlike(state: MergeState, keyword: str, places: list[int]) -> Remainder:
    """Put different values of a single-valued keyword into separate branches."""
    first, *others = unique(state.conjuncts[place].view[keyword] for place in places)
    state.out[keyword] = first
    return Remainder({keyword: [{keyword: value} for value in others]}) if others else NO_REMAINDER


_BY_KEYWORD = {
    "description": description,
    "title": title,
    "propertyNames": _one_schema,
    "dependentSchemas": _named,
    "dependencies": _named,
    "anyOf": keep_separate,
    "oneOf": keep_separate,
    "not": _negations,
    "if": conditions,
    "contains": contains,
    **dict.fromkeys(OF_CONTENT, encoded_content),
    **dict.fromkeys(APPROVAL, _unlike),  # each says who may approve
}
_ARRANGED = (_BY_KEYWORD.keys() - {"title", "description"}) | _PROPERTIES | _ITEMS | FOLLOWERS
"""Keywords that need more than copying, even from a single conjunct."""


def _by_law(state: MergeState, keyword: str, places: list[int], law: Intersect) -> Remainder | None:
    """Merge a keyword by its law; the remainder becomes further branches.  Return `None` if the result is unsatisfiable."""
    if (law_for_all := LAWS[keyword].intersect_all) is not None:
        joined = law_for_all([state.conjuncts[place].view[keyword] for place in places])
        if not isinstance(joined, Verdict):
            state.out[keyword] = joined
            return NO_REMAINDER
    if law is same:
        return _unlike(state, keyword, places)
    kept: list[Json] = []
    since: list[int] = []
    for place in places:
        value = state.conjuncts[place].view[keyword]
        for index, other in enumerate(kept[:COMPARED_GROUPS]):
            if other is value:
                break
            result = law(other, value)
            if result is UNSATISFIABLE:
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


def _has_simple_items(state: MergeState) -> bool:
    """Return whether only one conjunct constrains items, so that nothing needs merging."""
    by_keyword = state.groups
    return "unevaluatedItems" not in by_keyword and len({*by_keyword.get("prefixItems", ()), *by_keyword.get("items", ())}) == 1


def _joined_groups(state: MergeState, *, properties: bool, items: bool) -> list[Remainder]:
    """Merge the keywords of several conjuncts about properties, and about items."""
    joined = [merged_properties(state)] if properties else []
    if items:
        joined.append(merged_items(state))
    if len(state.pending) > 1:
        _in_written_order(state)
    return joined


def _in_written_order(state: MergeState) -> None:
    """Sort the pending parts in the order of the result."""
    out = state.out
    rank: dict[int | str, int] = {}
    for place, (keyword, value) in enumerate(out.items()):
        rank[keyword] = place
        if value.__class__ is dict or value.__class__ is list:
            rank[id(value)] = place
    last = len(out)
    state.pending.sort(key=lambda part: rank.get(part.slot if part.container is out else id(part.container), last))


def _reconcile(state: MergeState) -> bool:
    """Reconcile related keywords; return false if they are unsatisfiable."""
    in_order_of_properties(state.out)
    result = clash(state.out)
    if result is not None:
        left, right = [(state.conjuncts[state.groups[keyword][-1]], keyword) for keyword in result]
        report_contradiction(state.run, left, right)
    return result is None
