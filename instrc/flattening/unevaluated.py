"""Say what `unevaluatedProperties` and `unevaluatedItems` of one schema mean beside other schemas.

If it depends on the instance which members they apply to, they stay as they are, and no keyword may be put beside them that
evaluates further members.  So a schema with them can be merged with other schemas only if the others

* forbid every member of which this is uncertain (`…_void`), or
* constrain only members that are always evaluated, or
* constrain only members that are never evaluated; these must then satisfy `unevaluated…` too.
"""

from __future__ import annotations

from collections.abc import Iterable

from instrc.flattening.conjunction import Conjunct, Expansion
from instrc.flattening.evaluated import Evaluated, evaluated
from instrc.jsonvalue import Json, JsonObject
from instrc.schema.kinds import is_number, types_of
from instrc.schema.name_patterns import matches
from instrc.schema.relations import implies
from instrc.schema.resources import DynamicScope
from instrc.schema.store import SchemaStore
from instrc.schema.vocabulary import IN_PLACE
from instrc.schema.walk import TRIVIAL

PROPERTIES, ITEMS = "unevaluatedProperties", "unevaluatedItems"
BRANCHES = IN_PLACE - {"not"}
"""Keywords whose schemas are about the same instance, and make known what they look at."""


def to_open(store: SchemaStore, expansion: Expansion) -> int | None:
    """Return the `id` of a schema with `unevaluated…` that stays a branch and may be merged; `None` if there is none."""
    views = [conjunct.view for conjunct in expansion.conjuncts]
    for node, scope in expansion.units:
        scope = store.below(node, scope)  # noqa: PLW2901  -- a schema with a base of its own is read in that
        view = store.view(node, scope)
        certain, possible = evaluated(store, node, scope)
        others: list[tuple[JsonObject, DynamicScope, JsonObject | None]] = [
            (conjunct.node, conjunct.scope, conjunct.view) for conjunct in expansion.conjuncts
        ]
        others += [(other, where, None) for other, where in expansion.units if other is not node]
        all_views = [*views, view]
        properties = matters(view, PROPERTIES) and not properties_void(all_views, certain, possible, view[PROPERTIES])
        items = matters(view, ITEMS) and not items_void(store, all_views, certain, view[ITEMS])
        for other, where, beside in others:
            sure, perhaps = evaluated(store, other, where, skip_own=False, conjunct=beside is not None)
            if properties and not _keeps_properties(certain, possible, sure, perhaps, beside):
                break
            if items and not _keeps_items(certain, sure, perhaps, beside):
                break
        else:
            return id(node)
    return None


def matters(view: JsonObject, keyword: str) -> bool:
    """Tell whether a schema has an `unevaluated…` that says something."""
    return keyword in view and view[keyword] not in TRIVIAL


def properties_void(views: Iterable[JsonObject], certain: Evaluated, possible: Evaluated, value: Json) -> bool:
    """Tell whether schemas beside `unevaluatedProperties` forbid every property of which it is uncertain whether it sees it."""
    views = list(views)
    return excluded("object", views) or any(_closes(view, certain, possible, value) for view in views)


def _closes(view: JsonObject, certain: Evaluated, possible: Evaluated, value: Json) -> bool:
    """Tell whether one schema forbids every such property."""
    listed, patterns = view.get("properties", {}), view.get("patternProperties", {})
    if view.get("additionalProperties") is not False or listed.__class__ is not dict or patterns.__class__ is not dict:
        return False
    if patterns:
        if value is not False or certain.patterns or possible.patterns or possible.all_properties:
            return False
        unsure = possible.names.keys() - certain.names.keys()
        if any(matches(regex, name) is not False for regex in patterns for name in unsure):
            return False
    return all(is_evaluated(certain, possible, name) is not None for name in listed)


def items_void(store: SchemaStore, views: Iterable[JsonObject], certain: Evaluated, value: Json) -> bool:
    """Tell whether schemas beside `unevaluatedItems` forbid all items that it may apply to, or ask the same of them."""
    views = list(views)
    if excluded("array", views) or any(_longest(view) <= certain.items for view in views):
        return True
    for view in views:
        prefix = view.get("prefixItems", [])
        if "items" in view and prefix.__class__ is list:
            asked = [*prefix[certain.items :], view["items"]]
            if not any(id(schema) in store.needs_flattening for schema in (*asked, value)) and all(
                implies(one, value) for one in asked
            ):
                return True
    return False


def is_evaluated(certain: Evaluated, possible: Evaluated, name: str) -> bool | None:
    """Tell whether `unevaluatedProperties` always takes a property for evaluated, or never; `None` if that depends."""
    found = [matches(regex, name) for regex in certain.patterns]
    if certain.all_properties or name in certain.names or True in found:
        return True
    if possible.all_properties or name in possible.names or None in found:
        return None
    return False if all(matches(regex, name) is False for regex in possible.patterns) else None


def never_evaluated(conjuncts: list[Conjunct], certain: Evaluated, possible: Evaluated) -> list[str]:
    """Return the properties that conjuncts list and `unevaluatedProperties` of one of them never sees."""
    names = dict.fromkeys(name for conjunct in conjuncts for name in _names(conjunct.view) or ())
    return [name for name in names if is_evaluated(certain, possible, name) is False]


def _keeps_properties(
    certain: Evaluated, possible: Evaluated, sure: Evaluated, perhaps: Evaluated, beside: JsonObject | None
) -> bool:
    """Tell whether a schema beside `unevaluatedProperties` looks at no property of which it is uncertain whether that sees it."""
    if not certain.covers_properties(perhaps) or not sure.patterns.keys() <= certain.patterns.keys():
        return False
    if sure.all_properties and (beside is None or not _idle(beside, "additionalProperties", PROPERTIES)):
        return False
    listed = (_names(beside) if beside is not None else None) or ()
    return all(
        name in certain.names or (name in listed and is_evaluated(certain, possible, name) is not None) for name in sure.names
    )


def _keeps_items(certain: Evaluated, sure: Evaluated, perhaps: Evaluated, beside: JsonObject | None) -> bool:
    """Tell whether a schema beside `unevaluatedItems` looks at no item of which it is uncertain whether that sees it."""
    if not certain.covers_items(perhaps) or sure.items > certain.items:
        return False
    return not sure.all_items or (beside is not None and _idle(beside, "items", ITEMS))


def _idle(view: JsonObject, *keywords: str) -> bool:
    """Tell whether keywords that look at all that is left say nothing about it, so that they may go."""
    if not BRANCHES.isdisjoint(view):
        return False  # it may be they that look at all, or at more
    return all(view.get(keyword, True) in TRIVIAL for keyword in keywords)


def _names(view: JsonObject) -> list[str] | None:
    properties = view.get("properties", {})
    return list(properties) if properties.__class__ is dict else None


def excluded(name: str, views: Iterable[JsonObject]) -> bool:
    """Tell whether one of some schemas allows no instance of a type."""
    for view in views:
        names = types_of(view["type"]) if "type" in view else None
        if names is not None and name not in names:
            return True
    return False


def _longest(view: JsonObject) -> float:
    """Return how many items a schema allows at most."""
    most = view.get("maxItems")
    longest: float = most if is_number(most) else float("inf")
    prefix = view.get("prefixItems", [])
    if view.get("items") is False and prefix.__class__ is list:
        longest = min(longest, len(prefix))
    return longest
