"""Count what providers count, before anything is sent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from instrc.ir.dialect import Dialect
from instrc.jsonvalue import AnyJson as Json
from instrc.lowering.places import Steps, written
from instrc.problems.targets import BudgetExceeded
from instrc.schema.walk import subschemas


class Counts(NamedTuple):
    """The sizes of one schema."""

    properties: int
    depth: int
    enum_values: int
    characters: int
    optional: int
    """Properties that are not required, those behind a reference left out, as observed of Anthropic."""
    unions: int
    """Properties whose own schema is a union, likewise."""
    deepest: str
    """The pointer of the deepest object or array."""


def count(schema: Json) -> Counts:
    """Count a schema in the payload's words; definitions are counted once each, references are not followed."""
    properties = enum_values = characters = optional = unions = depth = 0
    deepest: Steps = None
    stack: list[tuple[Json, int, Steps, bool]] = [(schema, 0, None, False)]
    while stack:
        node, level, place, defined = stack.pop()
        if not isinstance(node, dict):
            continue
        kind = node.get("type")
        if not isinstance(kind, list) and kind in {"object", "array"}:
            level += 1
            if level > depth:
                depth, deepest = level, place
        if isinstance(members := node.get("properties"), dict):
            properties += len(members)
            characters += sum(map(len, members))
            if not defined:
                optional += len(members.keys() - set(node.get("required", ())))
                unions += sum(_is_union(child) for child in members.values())
        for value in _listed(node):
            enum_values += "enum" in node
            characters += len(value) if isinstance(value, str) else 0
        for path, child in subschemas(node):
            inside = path[0] == "$defs"
            if inside:
                characters += len(str(path[1]))
            stack.append((child, 0 if inside else level, (place, path), defined or inside))
    return Counts(properties, depth, enum_values, characters, optional, unions, written(deepest))


def _listed(node: dict[str, Any]) -> Iterator[Json]:
    yield from node.get("enum", ())
    if "const" in node:
        yield node["const"]


def _is_union(schema: Json) -> bool:
    return isinstance(schema, dict) and ("anyOf" in schema or isinstance(schema.get("type"), list))


def exceeded(schema: Json, dialect: Dialect, name: str) -> list[BudgetExceeded]:
    """Return what is too large about one tool for a target."""
    limits = dialect.limits
    if not any((limits.properties, limits.depth, limits.enum_values, limits.characters, limits.optional, limits.unions)):
        return []
    sizes = count(schema)
    found = [
        ("properties", sizes.properties, limits.properties, name),
        ("levels of nesting", sizes.depth, limits.depth, f"{name}{sizes.deepest}"),
        ("enum values", sizes.enum_values, limits.enum_values, name),
        ("characters of names and values", sizes.characters, limits.characters, name),
        ("optional parameters", sizes.optional, limits.optional, name),
        ("union-typed parameters", sizes.unions, limits.unions, name),
    ]
    return [
        BudgetExceeded(target=dialect.name, what=what, count=number, limit=limit, offender=offender)
        for what, number, limit, offender in found
        if limit is not None and number > limit
    ]


class Spent(NamedTuple):
    """What the tools of a request take of its common budgets."""

    tools: int = 0
    optional: int = 0
    unions: int = 0

    def with_tool(self, schema: Json) -> Spent:
        """Return what is spent when a tool joins."""
        sizes = count(schema)
        return Spent(self.tools + 1, self.optional + sizes.optional, self.unions + sizes.unions)

    def over(self, dialect: Dialect, name: str) -> Iterable[BudgetExceeded]:
        """Yield the budgets that are exceeded, with the tool that joined last as the offender."""
        limits = dialect.limits
        for what, number, limit in (
            ("strict tools" if dialect.plain is not None else "tools", self.tools, limits.tools),
            ("optional parameters", self.optional, limits.optional),
            ("union-typed parameters", self.unions, limits.unions),
        ):
            if limit is not None and number > limit:
                yield BudgetExceeded(target=dialect.name, what=what, count=number, limit=limit, offender=name)
