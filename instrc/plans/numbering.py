"""Number tasks apart that a model has given one id, where that changes nothing else.

The first of them keeps the id, the others are called `a_2`, `a_3`, …
Where another task reads or waits for that id nobody can tell which one is meant: it stays as it is, a `duplicate-task`.
"""

from __future__ import annotations

from instrc.jsonvalue import Json, pointer
from instrc.limits.runs import PLAN_KEY


def with_unique_ids(answer: Json, schema: Json) -> tuple[Json, tuple[str, ...]]:
    """Return an answer with an id of its own for each task of its plans, and what was done, a line each.

    The plans are found by the schema, which leads to them through properties only.
    """
    notes: list[str] = []
    return _renumber(answer, schema, (), notes), tuple(notes)


def _renumber(value: Json, schema: Json, place: tuple[str, ...], notes: list[str]) -> Json:
    if not isinstance(schema, dict):
        return value
    if isinstance(value, list):
        return _renumber_plan(value, place, notes) if _is_plan(schema) else value
    properties = schema.get("properties")
    if not isinstance(value, dict) or not isinstance(properties, dict):
        return value
    changed: dict[str, Json] = {}
    for name, part in value.items():
        if name in properties and (part.__class__ is dict or part.__class__ is list):
            made = _renumber(part, properties[name], (*place, name), notes)
            if made is not part:
                changed[name] = made
    return {**value, **changed} if changed else value


def _is_plan(schema: dict[str, Json]) -> bool:
    items = schema.get("items")
    branches = items.get("anyOf", [items]) if isinstance(items, dict) else []
    return isinstance(branches, list) and bool(branches) and all(map(_is_task, branches))


def _is_task(schema: Json) -> bool:
    properties = schema.get("properties") if isinstance(schema, dict) else None
    return isinstance(properties, dict) and {"tool", "id", "arguments"}.issubset(properties)


def _renumber_plan(plan: list[Json], place: tuple[str, ...], notes: list[str]) -> Json:
    ids = [task["id"] for task in plan if isinstance(task, dict) and isinstance(task.get("id"), str)]
    read = _read(plan)
    used = {each for each in ids if isinstance(each, str)}
    counts: dict[str, int] = {}
    found: list[Json] = []
    told = len(notes)
    for index, task in enumerate(plan):
        if not isinstance(task, dict) or not isinstance(old := task.get("id"), str):
            found.append(task)
            continue
        if old in counts and old not in read:
            new = _free(old, used, counts)
            used.add(new)
            notes.append(f"{pointer((*place, str(index), 'id'))}: another task `{old}` is called `{new}`")
            found.append({**task, "id": new})
        else:
            counts.setdefault(old, 1)
            found.append(task)
    return found if len(notes) > told else plan


def _free(old: str, used: set[str], counts: dict[str, int]) -> str:
    while True:
        counts[old] += 1
        new = f"{old[: PLAN_KEY - 1 - len(str(counts[old]))]}_{counts[old]}"
        if new not in used:
            return new


def _read(plan: list[Json]) -> set[str]:
    """Return the ids that tasks read or wait for, in either spelling of a plan."""
    found: set[str] = set()
    for task in plan:
        if not isinstance(task, dict):
            continue
        after, given = task.get("after"), task.get("arguments")
        found.update(each for each in (after if isinstance(after, list) else ()) if isinstance(each, str))
        values = given.values() if isinstance(given, dict) else given if isinstance(given, list) else ()
        for value in values:
            if isinstance(value, dict):
                paths = (value.get(word) for word in ("from", "each", "text"))
                found.update(path.partition(".")[0] for path in paths if isinstance(path, str))
    return found
