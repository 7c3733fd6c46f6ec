"""Find names in `required` that nothing describes."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from instrc.jsonvalue import Json, Location
from instrc.limits.programs import REQUIRED_VARIANTS
from instrc.lint.own_schemas import OwnSchemas
from instrc.lint.shapes import ScopedSchema, Shape, Shapes
from instrc.problems.suggest import NearestNames
from instrc.schema.resources import DynamicScope
from instrc.schema.walk import walk


class Missing(NamedTuple):
    """A name in `required`, by the path of the schema and its place in the list, and names that it may have meant."""

    path: Location
    place: int
    name: str
    nearest: tuple[str, ...]


def misspelt_names(schema: Json, scope: DynamicScope, shapes: Shapes, *, mixin: bool) -> Iterator[Missing]:
    """Yield the required names of a schema that are certainly slips, in written order.

    A name counts as described if any schema that applies to the same instance describes it, in whatever branch.
    A schema that is used in several places is at fault only if it is in each.
    In a `mixin` the other properties come from elsewhere, so only what resembles one of its own is a slip.
    """
    own = OwnSchemas(schema)
    offers = NearestNames()
    faults = _faults(schema, scope, shapes, own, offers, mixin=mixin)
    for path, node in own.schemas:
        known = own.path(node) or path
        for index, name in enumerate(_names(node)):
            candidates = faults.get((known, index))
            if candidates:
                found = offers.nearest(name, candidates)
                if found or not mixin:
                    yield Missing(path, index, name, found)


def _faults(
    schema: Json, scope: DynamicScope, shapes: Shapes, own: OwnSchemas, offers: NearestNames, *, mixin: bool
) -> dict[tuple[Location, int], tuple[str, ...]]:
    """Return, for each required name, the names described instead where it is missing; empty if it is not everywhere missing.

    A required name goes by the path of its schema and its place in the list.
    """
    faults: dict[tuple[Location, int], tuple[str, ...]] = {}
    seen: set[frozenset[int]] = set()
    used: set[int] = set()
    queue: deque[tuple[list[ScopedSchema], bool]] = deque([([ScopedSchema(schema, scope)], mixin)])
    unused = (ScopedSchema(node, shapes.library.below(node, scope)) for path, node in walk(schema) if _is_definition(path))
    while queue:
        parts, lenient = queue.popleft()
        key = frozenset(id(part.node) for part in parts)
        if key not in seen and own.have(parts):
            if len(seen) >= REQUIRED_VARIANTS:
                return {}
            seen.add(key)
            shape = shapes.of(parts)
            used.update(id(node) for node, _ in shape.objects())
            _judge(shape, shapes, own, faults, offers if lenient else None)
            queue.extend((below, False) for below in shapes.below(shape))
        if not queue:  # definitions that nothing refers to are schemas by themselves
            part = next((part for part in unused if id(part.node) not in used), None)
            if part is not None:
                queue.append(([part], True))
    return faults


def _judge(
    shape: Shape,
    shapes: Shapes,
    own: OwnSchemas,
    faults: dict[tuple[Location, int], tuple[str, ...]],
    only_near: NearestNames | None,
) -> None:
    described = dict.fromkeys([*shapes.spliced(shape), *shapes.named(shape)])
    names = tuple(described)
    certain = bool(described) and shape.complete and not shape.is_open()
    for node, _ in shape.objects():
        path = own.path(node)
        if path is None:
            continue
        for index, name in enumerate(_names(node)):
            missing = certain and name not in described and not shapes.describe(shape, name)
            before = faults.get((path, index))
            if not missing or before == ():
                faults[path, index] = ()
            elif only_near is None or only_near.nearest(name, names):
                faults[path, index] = before or names


def _is_definition(path: Location) -> bool:
    return len(path) >= 2 and path[-2] in {"$defs", "definitions"}


def _names(node: Json) -> list[str]:
    required = node.get("required") if node.__class__ is dict else None
    return [name for name in required if name.__class__ is str] if required.__class__ is list else []
