"""Report a loss that all tools of a plan have in the same place once, with the names of the tools."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

from instrc.jsonvalue import Json, JsonObject, at, mapping, pointer, tokens
from instrc.lowering.losses import Loss
from instrc.lowering.rewrites.plans import branches_of, is_output_reference, tool_name_of
from instrc.schema.walk import walk

_Branches: TypeAlias = list[JsonObject] | None
"""The alternatives of a plan, one for each tool; `None` for what is no plan."""


class LossOfTools(NamedTuple):
    """A loss, with the tools of a plan that have it in the same place of their own tasks: none if it is of no plan.

    All that can read the output of another task have what is lost of that in common, wherever in their arguments it stands.
    """

    loss: Loss
    tools: tuple[str, ...] = ()


def grouped_losses(losses: Iterable[Loss], schema: Json) -> list[LossOfTools]:
    """Return losses in their order, the first for each that the tools of a plan have in common."""
    plans: dict[tuple[str, ...], _Branches] = {}
    found: dict[tuple[object, ...], tuple[Loss, dict[str, None]]] = {}
    for number, loss in enumerate(losses):
        path = tuple(tokens(loss.pointer))
        place = _alternative_of_plan(path, schema, plans)
        branches = None if place is None else plans[path[:place]]
        if place is None or branches is None:
            found[number,] = loss, {}
            continue
        own = branches[int(path[place + 2])]
        inside, reference = _reference_on(path[place + 3 :], own)
        alike = path[:place], reference is not None, inside, loss.keyword, loss.kind, loss.reason, loss.tool
        if alike not in found:
            found[alike] = loss, {} if reference is None else dict.fromkeys(_tools_with(reference, branches))
        found[alike][1][tool_name_of(own)] = None
    return [LossOfTools(loss, tuple(tools)) for loss, tools in found.values()]


def _reference_on(path: tuple[str, ...], node: Json) -> tuple[tuple[str, ...], Json]:
    """Return the first schema on a path that stands for the output of another task, and the path inside it.

    Without one, return the path as it is and `None`.
    """
    for place in range(len(path) + 1):
        try:
            passed = at(node, pointer(path[:place]))
        except LookupError:
            break
        if is_output_reference(passed):
            return path[place:], passed
    return path, None


def _tools_with(reference: Json, branches: list[JsonObject]) -> list[str]:
    """Return the tools of which an argument may be the output of another task."""
    return [tool_name_of(branch) for branch in branches if any(part == reference for _, part in walk(branch))]


def _alternative_of_plan(path: tuple[str, ...], schema: Json, plans: dict[tuple[str, ...], _Branches]) -> int | None:
    """Return where on a path a plan stands of which the path leads into one alternative; `None` if it leads into none."""
    for place in range(len(path) - 2):
        if path[place : place + 2] != ("items", "anyOf") or not path[place + 2].isdecimal():
            continue
        if path[:place] not in plans:
            plans[path[:place]] = _branches_at(path[:place], schema)
        branches = plans[path[:place]]
        if branches is not None and int(path[place + 2]) < len(branches):
            return place
    return None


def _branches_at(path: tuple[str, ...], schema: Json) -> _Branches:
    try:
        return branches_of(mapping(at(schema, pointer(path))))
    except LookupError:
        return None
