"""Find out which properties and items a schema looks at, for `unevaluatedProperties` and `unevaluatedItems`.

What always applies (`allOf`, `$ref`) counts as certain, what depends on the instance (`anyOf`, `if`, …) as possible.
If everything possible is certain anyway, "unevaluated" means the same as "additional".
"""

from __future__ import annotations

from msgspec import Struct, field

from instrc.jsonvalue import Json, JsonObject
from instrc.schema.resources import DynamicScope
from instrc.schema.store import SchemaStore


class Evaluated(Struct):
    """What is looked at: names, patterns and the length of the listed items; `all_…` if nothing is left over."""

    names: dict[str, None] = field(default_factory=dict)
    patterns: dict[str, None] = field(default_factory=dict)
    all_properties: bool = False
    items: int = 0
    all_items: bool = False
    some_items: bool = False
    """Whether `contains` looks at items that no one can list."""

    def covers_properties(self, other: Evaluated) -> bool:
        """Tell whether every property that the other looks at is looked at here."""
        if self.all_properties:
            return True
        return (
            not other.all_properties and other.names.keys() <= self.names.keys() and other.patterns.keys() <= self.patterns.keys()
        )

    def covers_items(self, other: Evaluated) -> bool:
        """Tell whether every item that the other looks at is looked at here."""
        if self.all_items:
            return True
        return not other.all_items and not other.some_items and other.items <= self.items


_POSSIBLE_LISTS = ("anyOf", "oneOf")
_POSSIBLE = ("if", "then", "else")


def evaluated(
    store: SchemaStore, schema: JsonObject, scope: DynamicScope, *, skip_own: bool = True, conjunct: bool = False
) -> tuple[Evaluated, Evaluated]:
    """Return what is certainly and what is possibly looked at by a schema.

    With `skip_own` it is asked on behalf of the schema's own `unevaluated…`, which are left out,
    and only what matters to them is looked for.  With `conjunct` the schema's `allOf` and references are left out.
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
            stack.extend((branch, scope, into, False) for branch in _list(view.get("allOf")))
        conjunct = False
        for keyword in _POSSIBLE_LISTS:
            branches = _list(view.get(keyword))
            where = into if len(branches) == 1 else possible
            stack.extend((branch, scope, where, False) for branch in branches)
        if "if" in view:
            stack.extend((view[keyword], scope, possible, False) for keyword in _POSSIBLE if keyword in view)
        for keyword in ("dependentSchemas", "dependencies"):
            value = view.get(keyword)
            if value.__class__ is dict:
                stack.extend((branch, scope, possible, False) for branch in value.values())
    return certain, possible


_MARKING = frozenset(
    {
        *("properties", "patternProperties", "additionalProperties", "unevaluatedProperties"),
        *("prefixItems", "items", "additionalItems", "contains", "unevaluatedItems"),
        *("allOf", "anyOf", "oneOf", "if", "dependentSchemas", "dependencies", "$ref", "$dynamicRef", "$recursiveRef"),
    }
)


def marks_nothing(schema: Json) -> bool:
    """Tell whether a schema is seen to look at no property and no item."""
    return schema.__class__ is not dict or _MARKING.isdisjoint(schema)


def _is_decided(found: Evaluated, *, properties: bool, items: bool) -> bool:
    """Tell whether nothing more can be found that matters."""
    return (found.all_properties or not properties) and (found.all_items or not items)


def _take(view: dict[str, Json], into: Evaluated, possible: Evaluated, *, own: bool) -> None:
    """Record what the keywords of one schema look at."""
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


def _list(value: Json) -> list[Json]:
    return value if value.__class__ is list else []
