"""What tasks of a plan are given: outputs of other tasks, and of lists an element each, which makes copies of a task.

`{"day": {"each": "find.days"}, "city": {"each": "find.cities"}}` over three days and three cities makes three copies, day by day;
over three days and two cities it makes six, each day with each city.
"""

from __future__ import annotations

from math import prod

from instrc.ir.tasks import PlanTask, Reference
from instrc.jsonvalue import Json
from instrc.runtime.interpreter.documents import PlanState


def copy_counts(task: PlanTask, state: PlanState) -> list[int] | str:
    """Return the lengths of the lists whose elements make copies of a task; a text says why there are none."""
    counts: list[int] = []
    for name, reference in task.references():
        if reference.kind == "each":
            listed = _resolve_reference(reference, state)
            if listed is not None and not isinstance(listed, list):
                return f"`{reference}` is not a list, so there is nothing for each element of which `{name}` could be given"
            counts.append(len(listed or ()))
    return counts


def number_of_copies(counts: list[int]) -> int:
    """Return how many copies lists of such lengths make; equally long ones are gone through together."""
    return counts[0] if _is_in_step(counts) else prod(counts)


def _is_in_step(counts: list[int]) -> bool:
    """Tell whether lists are gone through together, as they are equally long; others are combined, each element with each."""
    return len(set(counts)) == 1


def _chosen(counts: list[int], copy: int) -> list[int]:
    """Return which element of each list a copy of a task takes; the last list changes first."""
    if _is_in_step(counts):
        return [copy] * len(counts)
    chosen: list[int] = []
    for count in reversed(counts):
        copy, index = divmod(copy, max(count, 1))
        chosen.append(index)
    return chosen[::-1]


def arguments_of(task: PlanTask, state: PlanState, copy: int | None) -> dict[str, Json]:
    """Return the arguments of a task, or of one copy of it, with what other tasks have given."""
    counts = copy_counts(task, state) if copy is not None else ""
    chosen = iter(() if isinstance(counts, str) or copy is None else _chosen(counts, copy))
    given: dict[str, Json] = {}
    for name, value in task.arguments.items():
        if not isinstance(value, Reference):
            given[name] = value
        elif value.kind == "from":
            given[name] = _resolve_reference(value, state)
        else:
            listed = _resolve_reference(value, state)
            given[name] = (listed if isinstance(listed, list) and listed else [None])[next(chosen, 0)]
    return given


def _resolve_reference(reference: Reference, state: PlanState) -> Json:
    """Return what a reference leads to in the output of a task that is done; `null` where it leads nowhere."""
    value = state["tasks"][reference.task].get("output")
    for step in reference.steps:
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list) and step.isdecimal() and len(step) < 10 and int(step) < len(value):
            value = value[int(step)]
        else:
            return None
    return value
