"""Determine which properties and items a schema evaluates, and the meaning of its `unevaluated…` next to others.

Keywords that always apply (`allOf`, `$ref`) count as certain, instance-dependent ones (`anyOf`, `if`, …) as possible.
If everything possible is certain, "unevaluated" means the same as "additional".  Otherwise the keywords are kept,
and a schema with them can be merged only with schemas that

* forbid every uncertain member (`…_void`), or
* constrain only members that are always evaluated, or
* constrain only members that are never evaluated; these must then satisfy `unevaluated…` too.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from msgspec import Struct, field

from instrc.problems.errors import CompileError
from instrc.schema.flattening.conjunction import Conjunct, Expansion
from instrc.schema.kinds import is_number, types_of
from instrc.schema.patterns import matches
from instrc.schema.references import SchemaStore
from instrc.schema.relations import implies
from instrc.schema.scopes import DynamicScope
from instrc.schema.vocabulary import IN_PLACE
from instrc.schema.walk import TRIVIAL, subschemas
from instrc.text.jsonvalue import Json, JsonObject, as_object, listing


class Evaluated(Struct):
    """The evaluated parts: names, patterns and the number of listed items; `all_…` if nothing is left over."""

    names: dict[str, None] = field(default_factory=dict)
    patterns: dict[str, None] = field(default_factory=dict)
    all_properties: bool = False
    items: int = 0
    all_items: bool = False
    some_items: bool = False
    """Whether `contains` evaluates items that cannot be listed."""

    def covers_properties(self, other: Evaluated) -> bool:
        """Return whether every property that the other evaluates is evaluated here."""
        if self.all_properties:
            return True
        return (
            not other.all_properties and other.names.keys() <= self.names.keys() and other.patterns.keys() <= self.patterns.keys()
        )

    def covers_items(self, other: Evaluated) -> bool:
        """Return whether every item that the other evaluates is evaluated here."""
        if self.all_items:
            return True
        return not other.all_items and not other.some_items and other.items <= self.items


_POSSIBLE_LISTS = ("anyOf", "oneOf")
_POSSIBLE = ("if", "then", "else")


def evaluated(
    store: SchemaStore, schema: JsonObject, scope: DynamicScope, *, skip_own: bool = True, conjunct: bool = False
) -> tuple[Evaluated, Evaluated]:
    """Return the members that a schema certainly and possibly evaluates.

    With `skip_own` the result is for the schema's own `unevaluated…`, which are left out,
    and only the parts that matter to them are computed.  With `conjunct`, the schema's `allOf` and references are left out.
    """
    certain, possible = Evaluated(), Evaluated()
    properties = not skip_own or "unevaluatedProperties" in schema
    items = not skip_own or "unevaluatedItems" in schema
    stack: list[tuple[Json, DynamicScope, Evaluated, bool]] = [(schema, scope, certain, skip_own)]
    seen: set[tuple[int, int, bool]] = set()
    while stack:
        node, scope, into, own = stack.pop()
        if node.__class__ is not dict or _is_decided(into, properties=properties, items=items):
            continue
        scope = store.below(node, scope)
        key = (id(node), id(scope), into is certain)
        if key in seen:
            continue
        seen.add(key)
        view = store.view(node, scope)
        _take(view, into, possible, own=own)
        if _is_decided(certain, properties=properties, items=items):
            break
        if not conjunct:
            stack.extend((target.node, target.scope, into, False) for target in store.references(view, scope))
            stack.extend((branch, scope, into, False) for branch in listing(view.get("allOf")))
        conjunct = False
        for keyword in _POSSIBLE_LISTS:
            branches = listing(view.get(keyword))
            where = into if len(branches) == 1 else possible
            stack.extend((branch, scope, where, False) for branch in branches)
        if "if" in view:
            stack.extend((view[keyword], scope, possible, False) for keyword in _POSSIBLE if keyword in view)
        for keyword in ("dependentSchemas", "dependencies"):
            value = view.get(keyword)
            if value.__class__ is dict:
                stack.extend((branch, scope, possible, False) for branch in value.values())
    return certain, possible


def _is_decided(found: Evaluated, *, properties: bool, items: bool) -> bool:
    """Return whether the search is complete, since nothing else can matter."""
    return (found.all_properties or not properties) and (found.all_items or not items)


def _take(view: dict[str, Json], into: Evaluated, possible: Evaluated, *, own: bool) -> None:
    """Record the members that the keywords of one schema evaluate."""
    for keyword, names in (("properties", into.names), ("patternProperties", into.patterns)):
        value = view.get(keyword)
        if value.__class__ is dict:
            names.update(dict.fromkeys(value))
    if "additionalProperties" in view or ("unevaluatedProperties" in view and not own):
        into.all_properties = True
    prefix = view.get("prefixItems")
    if prefix.__class__ is list:
        into.items = max(into.items, len(prefix))
    if "items" in view or ("unevaluatedItems" in view and not own):
        into.all_items = True
    if "contains" in view:
        possible.some_items = True


_MARKING = frozenset(
    {
        *("properties", "patternProperties", "additionalProperties", "unevaluatedProperties"),
        *("prefixItems", "items", "additionalItems", "contains", "unevaluatedItems"),
        *("allOf", "anyOf", "oneOf", "if", "dependentSchemas", "dependencies", "$ref", "$dynamicRef", "$recursiveRef"),
    }
)


def marks_nothing(schema: Json) -> bool:
    """Return whether a schema certainly evaluates no property or item."""
    return schema.__class__ is not dict or _MARKING.isdisjoint(schema)


PROPERTIES, ITEMS = "unevaluatedProperties", "unevaluatedItems"
BRANCHES = IN_PLACE - {"not"}
"""Keywords whose schemas apply to the same instance and count as evaluating it."""


def to_open(store: SchemaStore, expansion: Expansion) -> int | None:
    """Return the `id` of a branch with `unevaluated…` that may be merged, or `None` if there is none."""
    views = [conjunct.view for conjunct in expansion.conjuncts]
    for node, scope in expansion.units:
        scope = store.below(node, scope)  # noqa: PLW2901  -- a schema with its own base URI is resolved against that
        view = store.view(node, scope)
        certain, possible = evaluated(store, node, scope)
        others: list[tuple[JsonObject, DynamicScope, JsonObject | None]] = [
            (conjunct.node, conjunct.scope, conjunct.view) for conjunct in expansion.conjuncts
        ]
        others += [(other, where, None) for other, where in expansion.units if other is not node]
        siblings = Siblings([*views, view])
        properties = matters(view, PROPERTIES) and not properties_void(siblings, certain, possible, view[PROPERTIES])
        items = matters(view, ITEMS) and not items_void(store, siblings, certain, view[ITEMS])
        for other, where, beside in others:
            sure, perhaps = evaluated(store, other, where, skip_own=False, conjunct=beside is not None)
            if properties and not _keeps_properties(certain, possible, sure, perhaps, beside):
                break
            if items and not _keeps_items(certain, sure, perhaps, beside):
                break
        else:
            return id(node)
    return None


def _keeps_properties(
    certain: Evaluated, possible: Evaluated, sure: Evaluated, perhaps: Evaluated, beside: JsonObject | None
) -> bool:
    """Return whether a schema next to `unevaluatedProperties` only evaluates properties that it certainly sees or never sees."""
    if not certain.covers_properties(perhaps) or not sure.patterns.keys() <= certain.patterns.keys():
        return False
    if sure.all_properties and (beside is None or not _idle(beside, "additionalProperties", PROPERTIES)):
        return False
    listed = (_names(beside) if beside is not None else None) or ()
    return all(
        name in certain.names or (name in listed and is_evaluated(certain, possible, name) is not None) for name in sure.names
    )


def _idle(view: JsonObject, *keywords: str) -> bool:
    """Return whether keywords about remaining members are trivial, so that they may be dropped."""
    if not BRANCHES.isdisjoint(view):
        return False  # they may apply to everything, or more
    return all(view.get(keyword, True) in TRIVIAL for keyword in keywords)


def _names(view: JsonObject) -> list[str] | None:
    properties = view.get("properties", {})
    return list(properties) if properties.__class__ is dict else None


def _keeps_items(certain: Evaluated, sure: Evaluated, perhaps: Evaluated, beside: JsonObject | None) -> bool:
    """Return whether a schema next to `unevaluatedItems` only evaluates items that it certainly sees."""
    if not certain.covers_items(perhaps) or sure.items > certain.items:
        return False
    return not sure.all_items or (beside is not None and _idle(beside, "items", ITEMS))


def matters(view: JsonObject, keyword: str) -> bool:
    """Return whether a schema has an `unevaluated…` with an effect."""
    return keyword in view and view[keyword] not in TRIVIAL


class Siblings:
    """The schemas that apply to the same instance as one with `unevaluated…`, which is one of them."""

    def __init__(self, views: Iterable[JsonObject]) -> None:
        self.views = list(views)

    @cached_property
    def forbid_objects(self) -> bool:
        """Whether one of them allows no object."""
        return _excluded("object", self.views)

    @cached_property
    def forbid_arrays(self) -> bool:
        """Whether one of them allows no array."""
        return _excluded("array", self.views)

    @cached_property
    def closed(self) -> list[JsonObject]:
        """Those that forbid the properties that they do not list."""
        return [view for view in self.views if view.get("additionalProperties") is False]

    @cached_property
    def of_items(self) -> list[JsonObject]:
        """Those that describe items beyond the first ones."""
        return [view for view in self.views if "items" in view]

    @cached_property
    def longest(self) -> float:
        """Maximum number of items that all of them allow."""
        return min(map(_longest, self.views))


def properties_void(siblings: Siblings, certain: Evaluated, possible: Evaluated, value: Json) -> bool:
    """Return whether sibling schemas forbid every property whose evaluation for `unevaluatedProperties` is uncertain."""
    return siblings.forbid_objects or any(_closes(view, certain, possible, value) for view in siblings.closed)


def _closes(view: JsonObject, certain: Evaluated, possible: Evaluated, value: Json) -> bool:
    """Return whether a closed schema forbids every such property."""
    listed, patterns = view.get("properties", {}), view.get("patternProperties", {})
    if listed.__class__ is not dict or patterns.__class__ is not dict:
        return False
    if patterns:
        if value is not False or certain.patterns or possible.patterns or possible.all_properties:
            return False
        unsure = possible.names.keys() - certain.names.keys()
        if any(matches(regex, name) is not False for regex in patterns for name in unsure):
            return False
    return all(is_evaluated(certain, possible, name) is not None for name in listed)


def items_void(store: SchemaStore, siblings: Siblings, certain: Evaluated, value: Json) -> bool:
    """Return whether sibling schemas forbid all items that `unevaluatedItems` applies to, or imply its schema."""
    if siblings.forbid_arrays or siblings.longest <= certain.items:
        return True
    for view in siblings.of_items:
        prefix = view.get("prefixItems", [])
        if prefix.__class__ is list:
            asked = [*prefix[certain.items :], view["items"]]
            if not any(id(schema) in store.needs_flattening for schema in (*asked, value)) and all(
                implies(one, value) for one in asked
            ):
                return True
    return False


def _longest(view: JsonObject) -> float:
    """Return the maximum number of items that a schema allows."""
    most = view.get("maxItems")
    longest: float = most if is_number(most) else float("inf")
    prefix = view.get("prefixItems", [])
    if view.get("items") is False and prefix.__class__ is list:
        longest = min(longest, len(prefix))
    return longest


def is_evaluated(certain: Evaluated, possible: Evaluated, name: str) -> bool | None:
    """Return whether a property is always evaluated (true) or never (false), or `None` if it depends on the instance."""
    found = [matches(regex, name) for regex in certain.patterns]
    if certain.all_properties or name in certain.names or True in found:
        return True
    if possible.all_properties or name in possible.names or None in found:
        return None
    return False if all(matches(regex, name) is False for regex in possible.patterns) else None


def never_evaluated(conjuncts: list[Conjunct], certain: Evaluated, possible: Evaluated) -> list[str]:
    """Return the properties that conjuncts list and that the `unevaluatedProperties` of one of them never sees as evaluated."""
    names = dict.fromkeys(name for conjunct in conjuncts for name in _names(conjunct.view) or ())
    return [name for name in names if is_evaluated(certain, possible, name) is False]


def _excluded(name: str, views: Iterable[JsonObject]) -> bool:
    """Return whether one of some schemas allows no instance of a type."""
    for view in views:
        names = types_of(view["type"]) if "type" in view else None
        if names is not None and name not in names:
            return True
    return False


class Watched:
    """The schemas that are, directly or not, branches of one whose `unevaluated…` depends on the instance.

    In these schemas, parts that only mark members as evaluated must be kept.
    """

    __slots__ = ("everything", "items", "properties")

    def __init__(self, store: SchemaStore) -> None:
        self.properties: set[int] = set()
        """`id`s of schemas whose evaluated properties an outer `unevaluatedProperties` sees."""
        self.items: set[int] = set()
        self.everything: bool = len(store.documents) > 1
        """Whether it is not known, so that all schemas are taken for watched."""
        main = store.main
        stack = [(as_object(main.root), store.enter(main, store.no_anchors))] if main is not None else []
        while stack and not self.everything:
            node, scope = stack.pop()
            scope = store.below(node, scope)
            self._look(store, node, scope)
            stack += [(child, scope) for _, child in subschemas(node) if isinstance(child, dict)]

    def _look(self, store: SchemaStore, node: dict[str, Json], scope: DynamicScope) -> None:
        """Record what the `unevaluated…` of one schema watches, or that this is unknown because of a dynamic reference."""
        view = store.view(node, scope)
        if "$dynamicRef" in view or "$recursiveRef" in view:
            self.everything = True
        properties, items = matters(view, PROPERTIES), matters(view, ITEMS)
        if self.everything or not (properties or items):
            return
        try:
            certain, possible = evaluated(store, node, scope)
            if properties and not certain.covers_properties(possible):
                _mark(store, node, scope, self.properties)
            if items and not certain.covers_items(possible):
                _mark(store, node, scope, self.items)
        except CompileError:  # a dangling reference is reported elsewhere if it matters
            self.everything = True


def _mark(store: SchemaStore, node: Json, scope: DynamicScope, marked: set[int]) -> None:
    """Record all schemas whose marks a schema sees."""
    stack = [(node, scope)]
    while stack:
        node, scope = stack.pop()
        scope = store.below(node, scope)
        view = store.view(as_object(node), scope)
        below = [(child, scope) for _, child in subschemas(view, BRANCHES)]
        below += [(target.node, target.scope) for target in store.references(view, scope)]
        for child, where in below:
            if child.__class__ is dict and id(child) not in marked:
                marked.add(id(child))
                stack.append((child, where))
