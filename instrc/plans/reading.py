"""From JSON to tasks, in either spelling; what is no task is a problem."""

from __future__ import annotations

from collections.abc import Callable

import orjson

from instrc.ir.tasks import ID, PlanTask, Reference, ReferenceKind, reference
from instrc.jsontext import STRICTLY, is_writable
from instrc.jsonvalue import Json, as_texts, pointer
from instrc.limits.runs import PLAN_LEVELS, PLAN_PARTS
from instrc.plans.spelling import uniform_value
from instrc.plans.tools import PlanTool, ToolSet
from instrc.problems.plans import InvalidPlan, PlanProblem, WrongArgument

Add = Callable[[PlanProblem], None]
_MEMBERS = frozenset({"tool", "id", "arguments", "after"})
_WAYS: dict[str, ReferenceKind] = {"from": "from", "each": "each"}


def read_tasks(plan: Json, tools: ToolSet, add: Add) -> list[tuple[int, PlanTask]]:
    """Return the tasks of a plan with their places in it; `null` is a plan without any."""
    if plan is None:
        return []
    if not _is_json(plan):
        add(InvalidPlan(reason="this plan is not JSON, or too large or too deep to be a plan"))
        return []
    if plan.__class__ is not list:
        add(InvalidPlan(reason="a plan is a list of tasks"))
        return []
    return [(index, task) for index, item in enumerate(plan) if (task := _task(item, index, tools, add)) is not None]


def _task(item: Json, index: int, tools: ToolSet, add: Add) -> PlanTask | None:
    if item.__class__ is not dict:
        add(InvalidPlan(pointer=f"/{index}", reason='a task is an object with "tool", "id" and "arguments"'))
        return None
    sound = True
    named, id_ = item.get("tool"), item.get("id")
    for key in ("tool", "id"):
        if item.get(key).__class__ is not str:
            reason = f"a task needs a text as its `{key}`"
            add(InvalidPlan(pointer=f"/{index}/{key}" if key in item else f"/{index}", reason=reason))
            sound = False
    for key in item:
        if key not in _MEMBERS and not key.startswith(("_", "$")):
            add(InvalidPlan(pointer=pointer((index, key)), reason=f"a task has no member `{key}`"))
    if not sound or not isinstance(named, str) or not isinstance(id_, str):
        return None
    if ID.fullmatch(id_) is None:
        reason = f"`{id_}` is not an id: it begins with a letter, up to 31 letters, digits and `_` follow"
        add(InvalidPlan(pointer=f"/{index}/id", reason=reason))
    unread: set[str] = set()
    arguments = _arguments(item.get("arguments"), index, tools.get(named), add, unread)
    return PlanTask(named, id_, arguments, _after(item.get("after"), index, add), frozenset(unread))


def _after(value: Json, index: int, add: Add) -> tuple[str, ...]:
    if value is None:
        return ()
    if value.__class__ is not list or not all(each.__class__ is str for each in value):
        add(InvalidPlan(pointer=f"/{index}/after", reason="`after` is a list of ids"))
        return ()
    return tuple(as_texts(value))


def _arguments(value: Json, index: int, tool: PlanTool | None, add: Add, unread: set[str]) -> dict[str, Json | Reference]:
    if value is None:
        return {}
    if value.__class__ is list:
        return _uniform(value, index, tool, add, unread)
    if value.__class__ is not dict:
        add(InvalidPlan(pointer=f"/{index}/arguments", reason="the arguments of a task are an object"))
        unread.update(tool.required if tool is not None else ())
        return {}
    return {name: _read_argument(name, given, tool) for name, given in value.items()}


def _read_argument(name: str, value: Json, tool: PlanTool | None) -> Json | Reference:
    """Return an argument of the typed spelling: a reference to a task, or the value itself."""
    if value.__class__ is not dict or len(value) != 1:
        return value
    [(kind, text)] = value.items()
    way = _WAYS.get(kind)
    if way is None or text.__class__ is not str or (tool is not None and tool.takes_itself(name, value)):
        return value
    return reference(way, text) or value  # what is written otherwise is a value, most likely a wrong one


def _uniform(entries: list[Json], index: int, tool: PlanTool | None, add: Add, unread: set[str]) -> dict[str, Json | Reference]:
    """Return the arguments of the uniform spelling: `{ name, is, text }`, one an entry; those with a mistake are `unread`."""
    found: dict[str, Json | Reference] = {}
    for number, entry in enumerate(entries):
        place = f"/{index}/arguments/{number}"
        parts = [entry.get(key) for key in ("name", "is", "text")] if entry.__class__ is dict else []
        texts = [part for part in parts if isinstance(part, str)]
        if len(texts) < 3:
            add(InvalidPlan(pointer=place, reason='an argument is an object with the texts "name", "is" and "text"'))
            named = parts[0] if parts else None
            unread.update([named] if isinstance(named, str) else tool.required if tool is not None else ())
            continue
        name, kind, text = texts
        if name in found:
            add(InvalidPlan(pointer=place, reason=f"the argument `{name}` is given twice"))
        elif kind == "value":
            found[name] = uniform_value(text, name, tool)
        elif (way := _WAYS.get(kind)) is None:
            add(InvalidPlan(pointer=f"{place}/is", reason='"is" is "value", "from" or "each"'))
            unread.add(name)
        elif (read := reference(way, text)) is None:
            add(_malformed(text, name, f"{place}/text", tool))
            unread.add(name)
        else:
            found[name] = read
    return found


def _malformed(text: str, name: str, place: str, tool: PlanTool | None) -> PlanProblem:
    shown = text if len(text) <= 60 else f"{text[:59]}…"
    reason = f"`{shown}` is not written like `ID` or `ID.path`"
    return WrongArgument(pointer=place, callee=tool.name if tool else "?", argument=name, reason=reason)


def _is_json(value: Json) -> bool:
    """Tell whether a value is plain JSON of a size that can be looked at."""
    try:
        orjson.dumps(value, option=STRICTLY)
    except (orjson.JSONEncodeError, RecursionError):
        return _is_odd_json(value)  # over 64 bits, over 254 levels, or none
    return True


def _is_odd_json(value: Json) -> bool:
    stack: list[tuple[Json, int]] = [(value, 0)]
    for _ in range(PLAN_PARTS):
        if not stack:
            return True
        item, level = stack.pop()
        if level > PLAN_LEVELS:
            return False
        if item.__class__ is dict:
            if not all(key.__class__ is str and is_writable(key) for key in item):
                return False
            stack += [(part, level + 1) for part in item.values()]
        elif item.__class__ is list:
            stack += [(part, level + 1) for part in item]
        elif item is not None and item.__class__ not in {bool, int, float} and not (item.__class__ is str and is_writable(item)):
            return False
    return False
