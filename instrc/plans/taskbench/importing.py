"""From a record of TaskBench to a plan, with what is wrong in it and, if that is wished, repaired."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from instrc.ir.bench import Bench
from instrc.ir.tasks import Task
from instrc.jsonvalue import Json, pointer
from instrc.plans.check import check_read, tools_of
from instrc.plans.taskbench.draft import Draft, ToolNames
from instrc.plans.taskbench.links import Links
from instrc.plans.taskbench.placing import Placing
from instrc.plans.taskbench.records import Record, Shape, read_record, shape_of
from instrc.plans.taskbench.referring import resolve
from instrc.plans.taskbench.tools import tools_map
from instrc.plans.taskbench.written import arguments_of
from instrc.plans.tools import ToolSet
from instrc.problems.plan_arguments import MissingArgument, UnknownArgument, WrongArgument
from instrc.problems.plans import InvalidPlan, PlanProblem, UnknownTool
from instrc.problems.suggest import nearest
from instrc.problems.taskbench import PlanInText, RepairedPlan, StepsDiffer


@dataclass(frozen=True, slots=True)
class ImportedPlan:
    """What became of a record."""

    plan: list[Json] | None
    """The tasks; `None` if an error is among the problems."""
    problems: tuple[PlanProblem, ...]
    """With repairs, as warnings of the name `repaired-plan`."""
    record: Record | None
    shape: Shape = "single"

    @property
    def repairs(self) -> tuple[RepairedPlan, ...]:
        """What was read as something else than what is written."""
        return tuple(problem for problem in self.problems if isinstance(problem, RepairedPlan))


class PlanImporter:
    """Reads records with the tools of one file."""

    def __init__(self, bench: Bench, *, repair: bool = False) -> None:
        self.bench = bench
        self.repair = repair
        self.tools: ToolSet = tools_of(tools_map(bench))
        self._names = ToolNames(bench)

    def read(self, value: Json) -> ImportedPlan:
        """Return the plan of one record; nothing is raised, whatever is given."""
        record = read_record(value)
        if record is None:
            return ImportedPlan(None, (InvalidPlan(reason="there are no `task_nodes` or `tool_nodes` here"),), None)
        draft = Draft(self._names, record, repair=self.repair)
        if record.within and self.repair:
            draft.repaired("plan-in-text", pointer(record.place), "a text", "the JSON in it")
        elif record.within:
            draft.problems.append(PlanInText(pointer=pointer(record.place)))
        tasks = self._tasks(draft)
        failed = any(problem.severity == "error" for problem in draft.problems)
        plan: list[Json] | None = None if failed else [task.to_json() for task in tasks]
        return ImportedPlan(plan, tuple(draft.problems), record, record.shape or _shape(tasks))

    def _tasks(self, draft: Draft) -> list[Task]:
        """Return the tasks, as far as they can be read."""
        record = draft.record
        nodes = record.nodes
        if not isinstance(nodes, list):
            draft.problems.append(InvalidPlan(pointer=draft.place(), reason="the tasks are no list"))
            return []
        draft.name_tools(nodes)
        given = resolve(draft, [list(arguments_of(draft, node, number)) for number, node in enumerate(nodes)])
        placing = Placing(draft)
        names = [word if tool is None else tool.name for word, tool in zip(draft.words, draft.tools, strict=True)]
        tasks = [Task(names[number], f"n{number}", placing.placed(number, each)) for number, each in enumerate(given)]
        links = Links(self.bench, record, draft.words, draft.tools, repair=self.repair, spelled=draft.spelled)
        tasks = links.applied(tasks)
        draft.problems += links.problems
        self._check(tasks, draft, placing, links)
        steps = record.steps
        if isinstance(steps, list) and len(steps) != len(nodes):
            place = pointer((*record.place, f"{record.prefix}_steps"))
            draft.problems.append(StepsDiffer(pointer=place, steps=len(steps), tasks=len(nodes)))
        return tasks

    def _check(self, tasks: list[Task], draft: Draft, placing: Placing, links: Links) -> None:
        """Check the tasks as any plan is checked; places and names are those of the record."""
        told = {(problem.name, problem.pointer) for problem in draft.problems}
        for problem in check_read(list(enumerate(tasks)), self.tools):
            at = _translated(problem.pointer, draft, placing, links)
            if isinstance(problem, InvalidPlan) or (problem.name, at) in told:
                continue  # a task without a name, which has been told; an argument of the wrong type
            match problem:
                case UnknownTool():
                    word = draft.words[int(problem.pointer.split("/")[1])]
                    if word:
                        ids = draft.names.ids
                        draft.problems.append(replace(problem, pointer=at, known=ids, nearest=nearest(word, ids)))
                case MissingArgument() | UnknownArgument() | WrongArgument() if problem.callee in self.bench.by_name:
                    draft.problems.append(replace(problem, pointer=at, callee=self.bench.by_name[problem.callee].id))
                case _:
                    draft.problems.append(replace(problem, pointer=at))


def _translated(place: str, draft: Draft, placing: Placing, links: Links) -> str:
    """Return the place in the record for one in the plan."""
    _, number, *rest = place.split("/")
    match rest:
        case ["arguments", key]:
            return placing.place(int(number), key.replace("~1", "/").replace("~0", "~"))
        case ["after", position]:
            return links.place(int(number), int(position))
        case ["tool"]:
            return draft.place(int(number), "task")
        case ["arguments"]:
            return draft.place(int(number), "arguments")
    return draft.place(int(number))


def _shape(tasks: Sequence[Task]) -> Shape:
    edges = frozenset((int(need[1:]), number) for number, task in enumerate(tasks) for need in task.needs if need[1:].isdecimal())
    return shape_of(len(tasks), edges)
