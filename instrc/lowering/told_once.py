"""Tell a loss that all tools of a plan have in one place once, with the names of the tools."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

from instrc.jsonvalue import Json, at, mapping, pointer, tokens
from instrc.lowering.losses import Loss
from instrc.lowering.rewrites.plans import branches_of, tool_of

_ToolNames: TypeAlias = list[str] | None
"""The names of the tools of a plan, in the order of its alternatives; `None` for what is no plan."""


class LossOfTools(NamedTuple):
    """A loss, with the tools of a plan that have it in the same place of their own tasks: none if it is of no plan."""

    loss: Loss
    tools: tuple[str, ...] = ()


def told_once(losses: Iterable[Loss], schema: Json) -> list[LossOfTools]:
    """Return losses in their order, the first for each that the tools of a plan have in common."""
    plans: dict[tuple[str, ...], _ToolNames] = {}
    found: dict[tuple[object, ...], tuple[Loss, dict[str, None]]] = {}
    for number, loss in enumerate(losses):
        path = tuple(tokens(loss.pointer))
        place = _alternative_of_plan(path, schema, plans)
        names = None if place is None else plans[path[:place]]
        if place is None or names is None:
            found[number,] = loss, {}
            continue
        alike = path[:place], path[place + 3 :], loss.keyword, loss.kind, loss.reason, loss.tool
        found.setdefault(alike, (loss, {}))[1][names[int(path[place + 2])]] = None
    return [LossOfTools(loss, tuple(tools)) for loss, tools in found.values()]


def _alternative_of_plan(path: tuple[str, ...], schema: Json, plans: dict[tuple[str, ...], _ToolNames]) -> int | None:
    """Return where on a path a plan stands of which the path leads into one alternative; `None` if it leads into none."""
    for place in range(len(path) - 2):
        if path[place : place + 2] != ("items", "anyOf") or not path[place + 2].isdecimal():
            continue
        if path[:place] not in plans:
            plans[path[:place]] = _tools_at(path[:place], schema)
        names = plans[path[:place]]
        if names is not None and int(path[place + 2]) < len(names):
            return place
    return None


def _tools_at(path: tuple[str, ...], schema: Json) -> _ToolNames:
    try:
        node = mapping(at(schema, pointer(path)))
    except LookupError:
        return None
    branches = branches_of(node)
    return None if branches is None else [tool_of(branch) for branch in branches]
