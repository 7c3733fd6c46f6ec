"""Count what providers count, before anything is sent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from instrc.ir.dialect import Dialect, Limits
from instrc.jsontext import dumps
from instrc.jsonvalue import Json, JsonObject
from instrc.lowering.places import PathChain, pointer_of
from instrc.problems.targets import BudgetExceeded
from instrc.schema.members import required_names
from instrc.schema.vocabulary import HOLDERS
from instrc.schema.walk import schemas_under, subschemas

_LEVELS = "levels of nesting"
_COUNTED = HOLDERS | {"enum", "const"}


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


def count(schema: Json) -> Counts:
    """Count a schema in the payload's words; definitions are counted once each, references are not followed."""
    properties = enum_values = characters = optional = unions = depth = 0
    stack: list[tuple[Json, int, bool]] = [(schema, 0, False)]
    while stack:
        node, level, defined = stack.pop()
        if not isinstance(node, dict):
            continue
        if _is_level(node):
            level += 1
            depth = max(level, depth)
        if _COUNTED.isdisjoint(node):
            continue
        for keyword, value in node.items():
            if keyword not in _COUNTED:
                continue
            if keyword == "properties" and isinstance(value, dict):
                properties += len(value)
                characters += len("".join(value))
                if not defined:
                    optional += len(value.keys() - set(required_names(node)))
                    unions += sum([_is_union(child) for child in value.values()])
            elif keyword == "enum" and isinstance(value, list):
                enum_values += len(value)
                characters += sum(len(each) for each in value if isinstance(each, str))
            elif keyword == "const":
                enum_values += "enum" in node
                characters += len(value) if isinstance(value, str) else 0
            elif keyword == "$defs" and isinstance(value, dict):
                characters += sum(map(len, value))
                stack.extend((child, 0, True) for child in value.values())
                continue
            stack.extend((child, level, defined) for child in schemas_under(keyword, value))
    return Counts(properties, depth, enum_values, characters, optional, unions)


def _is_level(node: JsonObject) -> bool:
    return node.get("type") in ("object", "array")


def deepest(schema: Json) -> str:
    """Return the pointer of the deepest object or array."""
    depth, found = 0, ""
    stack: list[tuple[Json, int, PathChain]] = [(schema, 0, None)]
    while stack:
        node, level, place = stack.pop()
        if not isinstance(node, dict):
            continue
        level += _is_level(node)
        if level > depth:
            depth, found = level, pointer_of(place)
        stack.extend((child, 0 if path[0] == "$defs" else level, (place, path)) for path, child in subschemas(node))
    return found


def _is_union(schema: Json) -> bool:
    return schema.__class__ is dict and ("anyOf" in schema or schema.get("type").__class__ is list)


def exceeded(schema: Json, dialect: Dialect, name: str) -> list[BudgetExceeded]:
    """Return what is too large about one tool for a target."""
    limits = dialect.limits
    if not dialect.budgeted or _is_short(dumps(schema, indent=False), limits):
        return []
    sizes = count(schema)
    found = [
        ("properties", sizes.properties, limits.properties, name),
        (_LEVELS, sizes.depth, limits.depth, name),
        ("enum values", sizes.enum_values, limits.enum_values, name),
        ("characters of names and values", sizes.characters, limits.characters, name),
        ("optional parameters", sizes.optional, limits.optional, name),
        ("union-typed parameters", sizes.unions, limits.unions, name),
    ]
    return [
        BudgetExceeded(
            target=dialect.name,
            what=what,
            count=number,
            limit=limit,
            offender=f"{offender}{deepest(schema)}" if what == _LEVELS else offender,
        )
        for what, number, limit, offender in found
        if limit is not None and number > limit
    ]


def _is_short(text: str, limits: Limits) -> bool:
    """Say whether the text of a schema is too short to exceed anything: whatever is counted takes its signs.

    Most schemas are, and to count in a text takes a quarter of the time.
    """
    size = len(text)
    return (
        (limits.properties is None or size // len('"":{}') <= limits.properties)
        and (limits.enum_values is None or size // len("1,") <= limits.enum_values)
        and (limits.characters is None or size <= limits.characters)
        and (limits.depth is None or text.count('"type":"object"') + text.count('"type":"array"') <= limits.depth)
        and (limits.unions is None or text.count('"anyOf":') + text.count('"type":[') <= limits.unions)
        and (limits.optional is None or text.count('":{') + text.count('":true') + text.count('":false') <= limits.optional)
    )


def too_many_tools(names: Sequence[str], dialect: Dialect) -> Iterator[BudgetExceeded]:
    """Yield what is wrong with the number of tools of a request, where a target limits it: no spelling makes them fewer."""
    most = dialect.limits.tools
    if most is not None and len(names) > most:
        yield BudgetExceeded(target=dialect.name, what="tools", count=len(names), limit=most, offender=names[most])


class BudgetUse(NamedTuple):
    """What the strict tools of a request take of its common budgets."""

    strict_tools: int = 0
    optional: int = 0
    unions: int = 0

    def with_tool(self, schema: Json) -> BudgetUse:
        """Return what is spent when a tool joins."""
        sizes = count(schema)
        return BudgetUse(self.strict_tools + 1, self.optional + sizes.optional, self.unions + sizes.unions)

    def over(self, dialect: Dialect, name: str) -> Iterable[BudgetExceeded]:
        """Yield the budgets that are exceeded, with the tool that joined last as the offender."""
        limits = dialect.limits
        for what, number, limit in (
            ("strict tools", self.strict_tools, limits.strict_tools),
            ("optional parameters", self.optional, limits.optional),
            ("union-typed parameters", self.unions, limits.unions),
        ):
            if limit is not None and number > limit:
                yield BudgetExceeded(target=dialect.name, what=what, count=number, limit=limit, offender=name)
