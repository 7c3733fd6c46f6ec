"""Reads a plan in HuggingGPT's own form, `[{"task", "id", "dep", "args"}]`, as one of ours, with problems and notes.

A tag, `<GENERATED>-i`, `<GENERATED-i>`, or several with commas between them, is the whole of an argument
or of an item of a list; nothing else is one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import instrc

_TAG = re.compile(r"<GENERATED>-(\d{1,9})|<GENERATED-(\d{1,9})>")
_TAGS = re.compile(rf"\s*(?:{_TAG.pattern})(?:\s*,\s*(?:{_TAG.pattern}))*\s*")
_MOST = 1000
"""Tasks of a plan, copies among them."""


@dataclass(frozen=True)
class Read:
    """What was read: to be carried out only if there are no problems."""

    plan: list[dict[str, Any]]
    problems: list[str]
    notes: list[str]


def read(given: object, tools: Mapping[str, Any]) -> Read:
    """Read a plan, as text or as JSON."""
    reading = _Reading(tools)
    tasks = reading.tasks(given)
    plan = reading.converted(tasks)
    if not reading.problems:
        reading.problems += [f"{problem.name}: {problem.message}" for problem in instrc.check_plan(plan, dict(tools))]
    return Read(plan, reading.problems, reading.notes)


@dataclass
class _Task:
    """One task of the original, with the ids of its copies."""

    number: int
    tool: str
    dep: list[int]
    arguments: dict[str, list[Any]]
    """The values of each argument; more than one makes copies."""
    ids: list[str] = field(default_factory=list)
    copies: list[tuple[Any, ...]] = field(default_factory=list)
    """The arguments of each copy."""


class _Reading:
    def __init__(self, tools: Mapping[str, Any]) -> None:
        self.tools = tools
        self.problems: list[str] = []
        self.notes: list[str] = []
        self.known: dict[int, _Task] = {}

    def tasks(self, given: object) -> list[_Task]:
        """Return the tasks of a text or a list; whatever has another form is a problem."""
        if isinstance(given, str):
            try:
                given = json.loads(given)
            except (ValueError, RecursionError) as error:
                self.problems.append(f"no-plan: this is not JSON: {error}")
                return []
        if not isinstance(given, list):
            self.problems.append(f"no-plan: a plan is a list of tasks, not {type(given).__name__}")
            return []
        return [task for place, item in enumerate(given) if (task := self.task(place, item)) is not None]

    def task(self, place: int, item: Any) -> _Task | None:
        """Read one task."""
        if not isinstance(item, dict) or not isinstance(item.get("task"), str) or not isinstance(item.get("args", {}), dict):
            self.problems.append(f"no-task: item {place} is not an object with `task`, `id`, `dep` and `args`")
            return None
        number = item.get("id", place)
        dep = item.get("dep", [-1])
        dep = dep if isinstance(dep, list) else [dep]
        if not _number(number) or not all(_number(each) or each == -1 for each in dep):
            self.problems.append(f"no-task: the id and the dependencies of item {place} are whole numbers")
            return None
        where = f"task {number}"
        arguments = {str(name): self.values(f"{where}, {name}", value) for name, value in item.get("args", {}).items()}
        made = _Task(number, f"{item['task'].strip()}_Activity", [each for each in dep if each != -1], arguments)
        if number in self.known:
            self.problems.append(f"duplicate-task: two tasks have the id {number}")
        self.known[number] = made
        return made

    def values(self, where: str, value: Any) -> list[Any]:
        """Return the values of an argument: numbers of tasks for tags, else texts."""
        if value == []:
            self.problems.append(f"wrong-argument: {where}: the list is empty")
        if isinstance(value, list):
            self.notes.append(f"{where}: a list is read as one copy for each item")
            return [each for item in value for each in self.values(where, item)]
        if isinstance(value, str):
            if _TAGS.fullmatch(value):
                if "<GENERATED-" in value:
                    self.notes.append(f"{where}: `{value.strip()}` is read as `<GENERATED>-i`")
                return [int(old or new) for old, new in _TAG.findall(value)]
            if _TAG.search(value):
                self.problems.append(f"tag-in-text: {where}: a tag in the middle of a text is not filled in")
            return [value]
        if value is None or isinstance(value, dict):
            self.problems.append(f"wrong-argument: {where}: this is not a text")
            return []
        text = json.dumps(value)
        self.notes.append(f"{where}: {text} is read as a text")
        return [text]

    def converted(self, tasks: list[_Task]) -> list[dict[str, Any]]:
        """Return the tasks as ours; a task that reads copies has copies of its own."""
        self.count(tasks)
        return [] if self.problems else [copy for task in tasks for copy in self.copies(task)]

    def count(self, tasks: list[_Task]) -> None:
        """Give all copies their ids, those that are read before those that read them."""
        waiting, total = list(tasks), 0
        while waiting:
            ready = [task for task in waiting if not any(other.number in {*task.dep, *self.reads(task)} for other in waiting)]
            for task in ready or waiting:  # a circle: `check_plan` tells
                task.copies = self.combined(task)
                copies = len(task.copies)
                total += copies
                if total > _MOST:
                    self.problems.append(f"too-many-tasks: with its copies the plan has more than {_MOST} tasks")
                    return
                task.ids = [f"t{task.number}"] if copies == 1 else [f"t{task.number}_{n}" for n in range(1, copies + 1)]
            done = {id(task) for task in ready or waiting}
            waiting = [task for task in waiting if id(task) not in done]

    @staticmethod
    def reads(task: _Task) -> set[int]:
        """Return the numbers of the tasks that a task reads."""
        return {value for values in task.arguments.values() for value in values if isinstance(value, int)}

    def combined(self, task: _Task) -> list[tuple[Any, ...]]:
        """Return the arguments of each copy: lists of one length pair up, else every pair."""
        spread = [[each for value in values for each in self.spread(value, name)] for name, values in task.arguments.items()]
        lists = [values for values in spread if len(values) != 1]
        if len({len(values) for values in lists}) == 1:
            length = len(lists[0])
            return list(zip(*(values * length if len(values) == 1 else values for values in spread), strict=True))
        size = 1
        for values in spread:
            size *= len(values)
        if size > _MOST:
            self.problems.append(f"too-many-tasks: task {task.number} has {size} copies")
            return []
        return list(product(*spread))

    def spread(self, value: Any, kind: str) -> list[Any]:
        """Return a value, or the outputs of all copies of a task."""
        if not isinstance(value, int):
            return [value]
        return [{"from": path} for path in self.sources(value, kind, set())]

    def sources(self, number: int, kind: str, seen: set[int]) -> list[str]:
        """Return where a kind comes from: the task, else its nearest dependency that gives it."""
        task = self.known.get(number)
        if task is None:
            return [f"t{number}.{kind}"]  # `check_plan` tells that there is none
        layer = [task]
        while layer:
            found = [each for each in layer if kind in self.gives(each)]
            if found:
                if found[0] is not task:
                    self.notes.append(f"task {number} gives no {kind}: that of task {found[0].number} is taken")
                return [f"{each}.{kind}" for each in found[0].ids or [f"t{found[0].number}"]]
            seen |= {each.number for each in layer}
            numbers = dict.fromkeys(n for each in layer for n in [*each.dep, *sorted(self.reads(each))])
            layer = [self.known[n] for n in numbers if n in self.known and n not in seen]
        if task.tool in self.tools:
            self.problems.append(f"no-such-kind: task {number}, and what it depends on, give no {kind}")
        return [f"t{number}.{kind}"]

    def gives(self, task: _Task) -> set[str]:
        """Return the kinds of output of a task."""
        output = self.tools.get(task.tool, {}).get("output", {})
        return set(output.get("properties", {})) - {"model", "reason"}

    def copies(self, task: _Task) -> list[dict[str, Any]]:
        """Return the copies of a task."""
        after = [copy for each in dict.fromkeys([*task.dep, *sorted(self.reads(task))]) for copy in self.ids(each)]
        made = []
        for copy, values in zip(task.ids, task.copies, strict=True):
            arguments = dict(zip(task.arguments, values, strict=True))
            read = {value["from"].partition(".")[0] for value in arguments.values() if isinstance(value, dict)}
            direct = set(task.dep)
            kept = [each for each in after if each not in read and (self.owner(each) in direct or not self.siblings(each, read))]
            made.append({"tool": task.tool, "id": copy, "arguments": arguments, **({"after": kept} if kept else {})})
        return made

    def ids(self, number: int) -> list[str]:
        """Return the ids of the copies of a task."""
        return self.known[number].ids if number in self.known else [f"t{number}"]

    @staticmethod
    def owner(copy: str) -> int:
        """Return the number of the task of a copy."""
        return int(copy[1:].partition("_")[0])

    def siblings(self, copy: str, read: set[str]) -> bool:
        """Tell whether another copy of the same task is read."""
        return any(self.owner(each) == self.owner(copy) for each in read)


def _number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
