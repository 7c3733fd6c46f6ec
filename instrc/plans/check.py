"""Tell what is wrong with a plan before anything of it runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from instrc.ir.tasks import PlanTask, Reference
from instrc.jsontext import dumps, loads
from instrc.jsonvalue import Json, pointer
from instrc.limits.runs import REMEMBERED_FITS, SUGGESTED_PROBLEMS
from instrc.plain_values import takes_plain_values
from instrc.plans.order import circles
from instrc.plans.output_parts import elements, is_no_list, part
from instrc.plans.reading import read_tasks
from instrc.plans.tools import PlanTool, ToolSet, fault_of_tools, tools_by_name, why_undescribed
from instrc.problems.plans import (
    CircularPlan,
    DanglingTask,
    DuplicateTask,
    InvalidTools,
    MissingArgument,
    PlanProblem,
    UnknownArgument,
    UnknownTool,
    WrongArgument,
)
from instrc.problems.suggest import nearest
from instrc.schema.relations import disjoint

_SUFFIX = "_Activity"


@takes_plain_values
def check_plan(plan: Json, tools: Json | Mapping[str, object] | Sequence[object]) -> tuple[PlanProblem, ...]:
    """Return what is wrong with a plan, in its order; nothing is raised, whatever is given.

        def find(text: str) -> str:
            return text

        plan = [{"tool": "find", "id": "found", "arguments": {"text": "a bank"}}]
        assert not instrc.check_plan(plan, [find])

    `plan` is a list of tasks in either spelling; `null` and `[]` are plans without any.
    `tools` is `{NAME: {"activity" | "process", "arguments", "output", "bound"?}}`, as in `plan.tools` of a process,
    or tools as a model is shown them, in a list or by name: `Tool`, an annotated function, a model, or JSON as a provider
    takes it, with `name` and `parameters`, `input_schema` or `inputSchema`.
    The `pointer` of a problem leads into the plan.
    """
    undescribed = why_undescribed(tools)
    fault = fault_of_tools(tools) if undescribed is None else (None, "undescribed")
    if fault is not None:
        return (InvalidTools(tool=fault[0], fault=fault[1], reason=undescribed),)
    return check_tasks(plan, tool_set(tools))[1]


def check_tasks(plan: Json, tools: ToolSet) -> tuple[tuple[PlanTask, ...], tuple[PlanProblem, ...]]:
    """Return the tasks of a plan, and what is wrong with them: to be carried out only if nothing is."""
    check = _Check(tools)
    return check.run(plan), tuple(check.problems)


def check_read(tasks: list[tuple[int, PlanTask]], tools: ToolSet) -> tuple[PlanProblem, ...]:
    """Return what is wrong with tasks that have been read, each with its place."""
    check = _Check(tools)
    check.tasks(tasks)
    return tuple(check.problems)


def tool_set(tools: object) -> ToolSet:
    """Return the tools of a map; the last few maps are remembered by what they say."""
    if isinstance(tools, ToolSet):
        return tools
    try:
        return _remembered(dumps(tools_by_name(tools), indent=False)) if tools.__class__ is dict else ToolSet(tools)
    except (TypeError, ValueError, RecursionError):  # no JSON: what is in it is looked at as far as it goes
        return ToolSet(tools)


@lru_cache(maxsize=16)
def _remembered(text: str) -> ToolSet:
    return ToolSet(loads(text))


class _Check:
    """The check of one plan."""

    def __init__(self, tools: ToolSet) -> None:
        self.tools = tools
        self.problems: list[PlanProblem] = []
        self.suggested = 0

    def run(self, plan: Json) -> tuple[PlanTask, ...]:
        found = read_tasks(plan, self.tools, self.problems.append)
        self.tasks(found)
        self.problems.sort(key=lambda problem: int(problem.pointer.split("/")[1]) if problem.pointer else -1)
        return tuple(task for _, task in found)

    def tasks(self, tasks: list[tuple[int, PlanTask]]) -> None:
        by_id: dict[str, PlanTask] = {}
        places: dict[str, int] = {}
        for index, task in tasks:
            if task.id in by_id:
                self.problems.append(DuplicateTask(pointer=f"/{index}/id", id=task.id, first=f"/{places[task.id]}/id"))
            else:
                by_id[task.id], places[task.id] = task, index
        for index, task in tasks:
            self._task(task, index, by_id)
        for circle in circles(by_id):
            self.problems.append(CircularPlan(pointer=f"/{places[circle[0]]}", ids=circle))

    def _task(self, task: PlanTask, index: int, by_id: Mapping[str, PlanTask]) -> None:
        for number, other in enumerate(task.after):
            if other not in by_id:
                self._dangling(other, f"/{index}/after/{number}", by_id)
        for name, reference in task.references():
            if reference.task not in by_id:
                self._dangling(reference.task, pointer((index, "arguments", name)), by_id)
        tool = self.tools.get(task.tool)
        if tool is None:
            bare = {name.removesuffix(_SUFFIX): name for name in self.tools.names}  # which most have: it makes none alike
            near = tuple(bare[each] for each in self._nearest(task.tool.removesuffix(_SUFFIX), tuple(bare)))
            self.problems.append(UnknownTool(pointer=f"/{index}/tool", tool=task.tool, known=self.tools.names, nearest=near))
            return
        for name in tool.required:
            if name not in task.arguments and name not in task.unread:
                self.problems.append(MissingArgument(pointer=f"/{index}/arguments", callee=tool.name, argument=name))
        for name, value in task.arguments.items():
            self._argument(tool, name, value, index, by_id)
        if tool.whole is not None and next(task.references(), None) is None:
            fault = tool.whole.fault({name: value for name, value in task.arguments.items() if not isinstance(value, Reference)})
            if fault is not None:
                self.problems.append(WrongArgument(pointer=f"/{index}/arguments", callee=tool.name, argument="", reason=fault))

    def _argument(self, tool: PlanTool, name: str, value: Json | Reference, index: int, by_id: Mapping[str, PlanTask]) -> None:
        schema = tool.schema(name)
        if schema is None:
            bound = name in tool.bound
            near = () if bound else self._nearest(name, tool.names)
            place = pointer((index, "arguments", name))
            self.problems.append(UnknownArgument(pointer=place, callee=tool.name, argument=name, nearest=near, bound=bound))
            return
        if isinstance(value, Reference):
            source = by_id.get(value.task)
            fault = None if source is None else self._mismatch(value, source, tool, name)
        else:
            fault = tool.validator(name).fault(value)
        if fault is not None:
            place = pointer((index, "arguments", name))
            self.problems.append(WrongArgument(pointer=place, callee=tool.name, argument=name, reason=fault))

    def _mismatch(self, reference: Reference, source: PlanTask, taker: PlanTool, argument: str) -> str | None:
        """Return why the output of a task can never be what an argument takes; `None` if it may be."""
        tool = self.tools.get(source.tool)
        if tool is None:
            return None
        read = (source.tool, source.copied, reference.kind, reference.steps, taker.name, argument)
        if read not in self.tools.fitting:
            if len(self.tools.fitting) > REMEMBERED_FITS:
                self.tools.fitting.clear()
            self.tools.fitting[read] = self._fitting(reference, source, tool, taker.schema(argument))
        fault = self.tools.fitting[read]
        return None if fault is None else f"`{reference}` {fault}"

    @staticmethod
    def _fitting(reference: Reference, source: PlanTask, tool: PlanTool, target: Json) -> str | None:
        given: Json = {"type": "array", "items": tool.output} if source.copied else tool.output
        for step in reference.steps:
            given = part(given, step)
        if reference.kind == "each":
            if is_no_list(given):
                return "is not a list"
            given = elements(given)
            if given is False:  # a list without elements: there will be no copy
                return None
        return "gives something else" if disjoint(given, target) else None

    def _dangling(self, id_: str, place: str, by_id: Mapping[str, PlanTask]) -> None:
        near = self._nearest(id_, tuple(by_id)) if self.suggested < SUGGESTED_PROBLEMS else ()
        self.problems.append(DanglingTask(pointer=place, id=id_, nearest=near))

    def _nearest(self, word: str, names: tuple[str, ...]) -> tuple[str, ...]:
        self.suggested += 1
        return nearest(word, names) if self.suggested <= SUGGESTED_PROBLEMS else ()
