"""Find the schemas that an `unevaluated…` around them looks at."""

from __future__ import annotations

from instrc.flattening.evaluated import evaluated
from instrc.flattening.unevaluated import BRANCHES, ITEMS, PROPERTIES, matters
from instrc.jsonvalue import Json, as_object
from instrc.problems.problem import CompileError
from instrc.schema.resources import DynamicScope
from instrc.schema.store import SchemaStore
from instrc.schema.walk import subschemas


class Watched:
    """Which schemas stand, directly or not, among the branches of one whose `unevaluated…` depends on the instance.

    In these nothing may go that only marks something as evaluated.
    """

    __slots__ = ("everything", "items", "properties")

    def __init__(self, store: SchemaStore) -> None:
        self.properties: set[int] = set()
        """`id`s of schemas of which an `unevaluatedProperties` outside sees what they look at."""
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
        """Record what the `unevaluated…` of one schema watches, and that it cannot be known if a reference is dynamic."""
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
        except CompileError:  # a reference leads nowhere: if it matters, it is told elsewhere
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
