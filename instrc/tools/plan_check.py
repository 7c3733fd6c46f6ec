"""Check a plan before execution: its form, its references, the order of its tasks, its arguments.

Tasks with equal ids are renamed to `a_2`, `a_3`, … if no other task refers to that id; otherwise they are
a `duplicate-task`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

import orjson

from instrc.problems import plans
from instrc.problems.plans import PlanProblem
from instrc.problems.suggest import nearest
from instrc.schema.relations import disjoint
from instrc.schema.validation import json_fault
from instrc.text.arguments import takes_plain_values
from instrc.text.jsontext import STRICTLY
from instrc.text.jsonvalue import Json, as_texts, pointer
from instrc.text.visible import shortened
from instrc.tools import plan_tools
from instrc.tools.tasks import ID, PlanTask, Reference, ReferenceKind, parse_reference

SUGGESTED_PROBLEMS: Final = 50
"""Maximum problems for which similar names are looked up."""
PLAN_KEY: Final = 32
"""Maximum characters of a step's key in a plan."""


def circles(tasks: Mapping[str, PlanTask]) -> Iterator[tuple[str, ...]]:
    """Yield one cycle for each group of tasks that wait for each other, by the position of its first task."""
    needs = {id_: task.needs for id_, task in tasks.items()}
    order = {id_: number for number, id_ in enumerate(tasks)}
    if all(order.get(other, -1) < number for number, those in enumerate(needs.values()) for other in those):
        return  # most plans list each task after those that it waits for
    found = [group for group in _components(needs) if len(group) > 1 or group[0] in needs[group[0]]]
    for group in sorted(found, key=lambda group: min(map(order.__getitem__, group))):
        yield _circle(min(group, key=order.__getitem__), frozenset(group), needs)


def _components(needs: Mapping[str, tuple[str, ...]]) -> Iterator[list[str]]:
    """Yield the strongly connected components (Kosaraju), with an explicit stack, as chains may be long."""
    waiting: dict[str, list[str]] = {id_: [] for id_ in needs}
    for id_, those in needs.items():
        for other in filter(needs.__contains__, those):
            waiting[other].append(id_)
    seen: set[str] = set()
    done: list[str] = []
    for root in needs:
        work = [] if root in seen else [(root, iter(needs[root]))]
        seen.add(root)
        while work:
            onward = next((item for item in work[-1][1] if item in needs and item not in seen), None)
            if onward is None:
                done.append(work.pop()[0])
            else:
                seen.add(onward)
                work.append((onward, iter(needs[onward])))
    for root in reversed(done):
        group = [root] if root in seen else []
        seen.difference_update(group)
        for here in group:
            fresh = [item for item in dict.fromkeys(waiting[here]) if item in seen]
            seen.difference_update(fresh)
            group += fresh
        if group:
            yield group


def _circle(start: str, group: frozenset[str], needs: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Return the shortest way from a task back to itself inside its group."""
    came_from: dict[str, str] = {}
    level = [start]
    while level:
        following: list[str] = []
        for here in level:
            for other in needs[here]:
                if other == start:
                    way = [here]
                    while way[-1] != start:
                        way.append(came_from[way[-1]])
                    return tuple(reversed(way))
                if other in group and other not in came_from:
                    came_from[other] = here
                    following.append(other)
        level = following
    raise AssertionError(start)  # each task of a group is part of a cycle


Add = Callable[[PlanProblem], None]
_MEMBERS = frozenset({"tool", "id", "arguments", "after"})
_WAYS: dict[str, ReferenceKind] = {"from": "from", "each": "each"}


def read_tasks(plan: Json, tools: plan_tools.ToolSet, add: Add) -> list[tuple[int, PlanTask]]:
    """Return the tasks of a plan with their positions; `null` is an empty plan."""
    if plan is None:
        return []
    if not _is_json(plan):
        add(plans.InvalidPlan(reason="this plan is not JSON, or too large or too deep to be a plan"))
        return []
    if plan.__class__ is not list:
        add(plans.InvalidPlan(reason="a plan is a list of tasks"))
        return []
    return [(index, task) for index, item in enumerate(plan) if (task := _task(item, index, tools, add)) is not None]


def _is_json(value: Json) -> bool:
    """Return whether a value is plain JSON of an acceptable size."""
    try:
        orjson.dumps(value, option=STRICTLY)
    except (orjson.JSONEncodeError, RecursionError):
        return json_fault(value) is None  # an integer over 64 bits, more than 254 levels, or not JSON
    return True


def _task(item: Json, index: int, tools: plan_tools.ToolSet, add: Add) -> PlanTask | None:
    if item.__class__ is not dict:
        add(plans.InvalidPlan(pointer=f"/{index}", reason='a task is an object with "tool", "id" and "arguments"'))
        return None
    sound = True
    named, id_ = item.get("tool"), item.get("id")
    for key in ("tool", "id"):
        if item.get(key).__class__ is not str:
            reason = f"a task needs a text as its `{key}`"
            add(plans.InvalidPlan(pointer=f"/{index}/{key}" if key in item else f"/{index}", reason=reason))
            sound = False
    for key in item:
        if key not in _MEMBERS and not key.startswith(("_", "$")):
            add(plans.InvalidPlan(pointer=pointer((index, key)), reason=f"a task has no member `{key}`"))
    if not sound or not isinstance(named, str) or not isinstance(id_, str):
        return None
    if ID.fullmatch(id_) is None:
        reason = f"`{id_}` is not an id: it begins with a letter, up to 31 letters, digits and `_` follow"
        add(plans.InvalidPlan(pointer=f"/{index}/id", reason=reason))
    unread: set[str] = set()
    arguments = _arguments(item.get("arguments"), index, tools.get(named), add, unread)
    return PlanTask(named, id_, arguments, _after(item.get("after"), index, add), frozenset(unread))


def _arguments(
    value: Json, index: int, tool: plan_tools.PlanTool | None, add: Add, unread: set[str]
) -> dict[str, Json | Reference]:
    if value is None:
        return {}
    if value.__class__ is list:
        return _uniform(value, index, tool, add, unread)
    if value.__class__ is not dict:
        add(plans.InvalidPlan(pointer=f"/{index}/arguments", reason="the arguments of a task are an object"))
        unread.update(tool.required if tool is not None else ())
        return {}
    return {name: _read_argument(name, given, tool) for name, given in value.items()}


def _uniform(
    entries: list[Json], index: int, tool: plan_tools.PlanTool | None, add: Add, unread: set[str]
) -> dict[str, Json | Reference]:
    """Return the arguments of the uniform spelling: one `{ name, is, text }` per entry; invalid ones are added to `unread`."""
    result: dict[str, Json | Reference] = {}
    for number, entry in enumerate(entries):
        place = f"/{index}/arguments/{number}"
        parts = [entry.get(key) for key in ("name", "is", "text")] if entry.__class__ is dict else []
        texts = [part for part in parts if isinstance(part, str)]
        if len(texts) < 3:
            add(plans.InvalidPlan(pointer=place, reason='an argument is an object with the texts "name", "is" and "text"'))
            named = parts[0] if parts else None
            unread.update([named] if isinstance(named, str) else tool.required if tool is not None else ())
            continue
        name, kind, text = texts
        if name in result:
            add(plans.InvalidPlan(pointer=place, reason=f"the argument `{name}` is given twice"))
        elif kind == "value":
            result[name] = plan_tools.uniform_value(text, name, tool)
        elif (way := _WAYS.get(kind)) is None:
            add(plans.InvalidPlan(pointer=f"{place}/is", reason='"is" is "value", "from" or "each"'))
            unread.add(name)
        elif (read := parse_reference(way, text)) is None:
            add(_malformed(text, name, f"{place}/text", tool))
            unread.add(name)
        else:
            result[name] = read
    return result


def _malformed(text: str, name: str, place: str, tool: plan_tools.PlanTool | None) -> PlanProblem:
    reason = f"`{shortened(text, 60)}` is not written like `ID` or `ID.path`"
    return plans.WrongArgument(pointer=place, callee=tool.name if tool else "?", argument=name, reason=reason)


def _read_argument(name: str, value: Json, tool: plan_tools.PlanTool | None) -> Json | Reference:
    """Return an argument of the typed spelling: a reference to a task, or the value itself."""
    if value.__class__ is not dict or len(value) != 1:
        return value
    [(kind, text)] = value.items()
    way = _WAYS.get(kind)
    if way is None or text.__class__ is not str or (tool is not None and tool.takes_itself(name, value)):
        return value
    return parse_reference(way, text) or value  # any other spelling is a value, most likely a wrong one


def _after(value: Json, index: int, add: Add) -> tuple[str, ...]:
    if value is None:
        return ()
    if value.__class__ is not list or not all(item.__class__ is str for item in value):
        add(plans.InvalidPlan(pointer=f"/{index}/after", reason="`after` is a list of ids"))
        return ()
    return tuple(as_texts(value))


_SUFFIX = "_Activity"


@takes_plain_values
def check_plan(plan: Json, tools: Json | Mapping[str, object] | Sequence[object]) -> tuple[PlanProblem, ...]:
    """Return the problems of a plan, in its order; no input raises.

        def find(text: str) -> str:
            return text

        plan = [{"tool": "find", "id": "found", "arguments": {"text": "a bank"}}]
        assert not instrc.check_plan(plan, [find])

    `plan` is a list of tasks in either spelling; `null` and `[]` are empty plans.
    `tools` is `{NAME: {"activity" | "process", "arguments", "output", "bound"?}}`, as in `plan.tools` of a process,
    or tools in the form for models, in a list or by name: `Tool`, an annotated function, a model, or a provider's JSON
    with `name` and `parameters`, `input_schema` or `inputSchema`.
    The `pointer` of a problem leads into the plan.
    """
    undescribed = plan_tools.why_undescribed(tools)
    fault = plan_tools.fault_of_tools(tools) if undescribed is None else (None, "undescribed")
    if fault is not None:
        return (plans.InvalidTools(tool=fault[0], fault=fault[1], reason=undescribed),)
    return check_tasks(plan, tool_set(tools))[1]


def check_tasks(plan: Json, tools: plan_tools.ToolSet) -> tuple[tuple[PlanTask, ...], tuple[PlanProblem, ...]]:
    """Return the tasks of a plan, and its problems: the tasks may run only if there are none."""
    check = _Check(tools)
    return check.run(plan), tuple(check.problems)


class _Check:
    """Checks one plan."""

    def __init__(self, tools: plan_tools.ToolSet) -> None:
        self.tools = tools
        self.problems: list[PlanProblem] = []
        self.suggested = 0

    def run(self, plan: Json) -> tuple[PlanTask, ...]:
        result = read_tasks(plan, self.tools, self.problems.append)
        self.tasks(result)
        self.problems.sort(key=lambda problem: int(problem.pointer.split("/")[1]) if problem.pointer else -1)
        return tuple(task for _, task in result)

    def tasks(self, tasks: list[tuple[int, PlanTask]]) -> None:
        by_id: dict[str, PlanTask] = {}
        places: dict[str, int] = {}
        for index, task in tasks:
            if task.id in by_id:
                self.problems.append(plans.DuplicateTask(pointer=f"/{index}/id", id=task.id, first=f"/{places[task.id]}/id"))
            else:
                by_id[task.id], places[task.id] = task, index
        for index, task in tasks:
            self._task(task, index, by_id)
        for circle in circles(by_id):
            self.problems.append(plans.CircularPlan(pointer=f"/{places[circle[0]]}", ids=circle))

    def _task(self, task: PlanTask, index: int, by_id: Mapping[str, PlanTask]) -> None:
        for number, other in enumerate(task.after):
            if other not in by_id:
                self._dangling(other, f"/{index}/after/{number}", by_id)
        for name, reference in task.references():
            if reference.task not in by_id:
                self._dangling(reference.task, pointer((index, "arguments", name)), by_id)
        tool = self.tools.get(task.tool)
        if tool is None:
            bare = {name.removesuffix(_SUFFIX): name for name in self.tools.names}  # the usual case: it makes no two equal
            near = tuple(bare[item] for item in self._nearest(task.tool.removesuffix(_SUFFIX), tuple(bare)))
            self.problems.append(
                plans.UnknownTool(pointer=f"/{index}/tool", tool=task.tool, known=self.tools.names, nearest=near)
            )
            return
        for name in tool.required:
            if name not in task.arguments and name not in task.unread:
                self.problems.append(plans.MissingArgument(pointer=f"/{index}/arguments", callee=tool.name, argument=name))
        for name, value in task.arguments.items():
            self._argument(tool, name, value, index, by_id)
        if tool.whole is not None and next(task.references(), None) is None:
            fault = tool.whole.fault({name: value for name, value in task.arguments.items() if not isinstance(value, Reference)})
            if fault is not None:
                self.problems.append(
                    plans.WrongArgument(pointer=f"/{index}/arguments", callee=tool.name, argument="", reason=fault)
                )

    def _argument(
        self, tool: plan_tools.PlanTool, name: str, value: Json | Reference, index: int, by_id: Mapping[str, PlanTask]
    ) -> None:
        schema = tool.schema(name)
        if schema is None:
            bound = name in tool.bound
            near = () if bound else self._nearest(name, tool.names)
            place = pointer((index, "arguments", name))
            self.problems.append(plans.UnknownArgument(pointer=place, callee=tool.name, argument=name, nearest=near, bound=bound))
            return
        if isinstance(value, Reference):
            source = by_id.get(value.task)
            fault = None if source is None else self._mismatch(value, source, tool, name)
        else:
            fault = tool.validator(name).fault(value)
        if fault is not None:
            place = pointer((index, "arguments", name))
            self.problems.append(plans.WrongArgument(pointer=place, callee=tool.name, argument=name, reason=fault))

    def _mismatch(self, reference: Reference, source: PlanTask, taker: plan_tools.PlanTool, argument: str) -> str | None:
        """Return why the output of a task can never be a valid argument, or `None` if it may be."""
        tool = self.tools.get(source.tool)
        if tool is None:
            return None
        fault = self._fitting(reference, source, tool, taker.schema(argument))
        return None if fault is None else f"`{reference}` {fault}"

    @staticmethod
    def _fitting(reference: Reference, source: PlanTask, tool: plan_tools.PlanTool, target: Json) -> str | None:
        given: Json = {"type": "array", "items": tool.output} if source.copied else tool.output
        if len(reference.steps) > plan_tools.RELATED_LEVELS:
            return None
        for step in reference.steps:
            given = plan_tools.part_of_output(given, step)
        if reference.kind == "each":
            if plan_tools.is_no_list(given):
                return "is not a list"
            given = plan_tools.elements(given)
            if given is False:  # an empty list makes no copy
                return None
        return "gives something else" if disjoint(given, target) else None

    def _dangling(self, id_: str, place: str, by_id: Mapping[str, PlanTask]) -> None:
        near = self._nearest(id_, tuple(by_id)) if self.suggested < SUGGESTED_PROBLEMS else ()
        self.problems.append(plans.DanglingTask(pointer=place, id=id_, nearest=near))

    def _nearest(self, word: str, names: tuple[str, ...]) -> tuple[str, ...]:
        self.suggested += 1
        return nearest(word, names) if self.suggested <= SUGGESTED_PROBLEMS else ()


def check_read(tasks: list[tuple[int, PlanTask]], tools: plan_tools.ToolSet) -> tuple[PlanProblem, ...]:
    """Return the problems of parsed tasks, each with its place."""
    check = _Check(tools)
    check.tasks(tasks)
    return tuple(check.problems)


def tool_set(tools: object) -> plan_tools.ToolSet:
    """Return the tools of a map."""
    return tools if isinstance(tools, plan_tools.ToolSet) else plan_tools.ToolSet(tools)


def with_unique_ids(answer: Json, schema: Json) -> tuple[Json, tuple[str, ...]]:
    """Return an answer with unique task ids in each of its plans, and the changes, one per line.

    The plans are located by the schema, through properties only.
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
            built = _renumber(part, properties[name], (*place, name), notes)
            if built is not part:
                changed[name] = built
    return {**value, **changed} if changed else value


def _renumber_plan(plan: list[Json], place: tuple[str, ...], notes: list[str]) -> Json:
    ids = [task["id"] for task in plan if isinstance(task, dict) and isinstance(task.get("id"), str)]
    read = _read(plan)
    used = {item for item in ids if isinstance(item, str)}
    seen: set[str] = set()
    counts: dict[str, int] = {}
    result: list[Json] = []
    told = len(notes)
    for index, task in enumerate(plan):
        if not isinstance(task, dict) or not isinstance(old := task.get("id"), str):
            result.append(task)
            continue
        if old in seen and old not in read:
            new = _free(old, used, counts)
            used.add(new)
            notes.append(f"{pointer((*place, str(index), 'id'))}: another task `{old}` is called `{new}`")
            result.append({**task, "id": new})
        else:
            seen.add(old)
            result.append(task)
    return result if len(notes) > told else plan


def _read(plan: list[Json]) -> set[str]:
    """Return the ids that tasks read or wait for, in either spelling."""
    result: set[str] = set()
    for task in plan:
        if not isinstance(task, dict):
            continue
        after, given = task.get("after"), task.get("arguments")
        result.update(item for item in (after if isinstance(after, list) else ()) if isinstance(item, str))
        values = given.values() if isinstance(given, dict) else given if isinstance(given, list) else ()
        for value in values:
            if isinstance(value, dict):
                paths = (value.get(word) for word in ("from", "each", "text"))
                result.update(path.partition(".")[0] for path in paths if isinstance(path, str))
    return result


def _free(old: str, used: set[str], counts: dict[str, int]) -> str:
    stem = old[: PLAN_KEY - 4]  # ids that only differ behind it get the same names, so that they are counted together
    while True:
        number = counts[stem] = counts.get(stem, 1) + 1
        new = f"{old[: PLAN_KEY - 1 - len(str(number))]}_{number}"
        if new not in used:
            return new


def _is_plan(schema: dict[str, Json]) -> bool:
    items = schema.get("items")
    branches = items.get("anyOf", [items]) if isinstance(items, dict) else []
    return isinstance(branches, list) and bool(branches) and all(map(_is_task, branches))


def _is_task(schema: Json) -> bool:
    properties = schema.get("properties") if isinstance(schema, dict) else None
    return isinstance(properties, dict) and {"tool", "id", "arguments"}.issubset(properties)


@takes_plain_values
def typed_plan(plan: Json, tools: Json | Mapping[str, object] | Sequence[object]) -> Json:
    """Return a plan with its arguments as an object.

        tools = {"find": {"activity": "find", "arguments": {"properties": {"text": {"type": "string"}}}}}
        task = {"tool": "find", "id": "found", "arguments": [{"name": "text", "is": "value", "text": "a bank"}]}
        [typed] = instrc.typed_plan([task], tools)
        assert typed["arguments"] == {"text": "a bank"}

    Invalid tasks are left out; `check_plan` reports them, and documents `tools`.
    """
    ignored: list[PlanProblem] = []
    return [task.to_json() for _, task in read_tasks(plan, plan_tools.ToolSet(tools), ignored.append)]


@takes_plain_values
def uniform_plan(plan: Json, tools: Json | Mapping[str, object] | Sequence[object]) -> Json:
    """Return a plan with its arguments as a list of `{ name, is, text }`.

        tools = {"find": {"activity": "find", "arguments": {"properties": {"text": {"type": "string"}}}}}
        [task] = instrc.uniform_plan([{"tool": "find", "id": "found", "arguments": {"text": "a bank"}}], tools)
        assert task["arguments"] == [{"name": "text", "is": "value", "text": "a bank"}]

    Invalid tasks are left out; `check_plan` reports them, and documents `tools`.
    """
    known = plan_tools.ToolSet(tools)
    ignored: list[PlanProblem] = []
    return [
        {
            "tool": task.tool,
            "id": task.id,
            "arguments": [_entry(name, value, known.get(task.tool)) for name, value in task.arguments.items()],
            "after": list(task.after),
        }
        for _, task in read_tasks(plan, known, ignored.append)
    ]


def _entry(name: str, value: Json | Reference, tool: plan_tools.PlanTool | None) -> Json:
    if isinstance(value, Reference):
        return {"name": name, "is": value.kind, "text": str(value)}
    return {"name": name, "is": "value", "text": plan_tools.uniform_text(value, name, tool)}
