"""From a record of TaskBench to a plan, with what is wrong in it and, if that is wished, repaired."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from instrc.ir.bench import Bench
from instrc.ir.tasks import PlanTask
from instrc.jsonvalue import Json, pointer
from instrc.plans.check import check_read, tool_set
from instrc.plans.taskbench.arguments import TaskArguments, arguments
from instrc.plans.taskbench.links import Linked, link_tasks
from instrc.plans.taskbench.named_record import NamedRecord, ToolNames, name_tools, repaired
from instrc.plans.taskbench.records import PlanShape, TaskRecord, read_record, shape_of
from instrc.plans.taskbench.referring import resolve
from instrc.plans.taskbench.tools import tools_map
from instrc.plans.taskbench.written import arguments_of
from instrc.plans.tools import ToolSet
from instrc.problems.plans import (
    InvalidPlan,
    MissingArgument,
    PlanInText,
    PlanProblem,
    RepairedPlan,
    StepsDiffer,
    UnknownArgument,
    UnknownTool,
    WrongArgument,
)
from instrc.problems.suggest import nearest


@dataclass(frozen=True, slots=True)
class ImportedPlan:
    """What became of a record."""

    plan: list[Json] | None
    """The tasks; `None` if an error is among the problems."""
    problems: tuple[PlanProblem, ...]
    """With repairs, as warnings of the name `repaired-plan`."""
    record: TaskRecord | None
    shape: PlanShape = "single"

    @property
    def repairs(self) -> tuple[RepairedPlan, ...]:
        """What was read as something else than what is written."""
        return tuple(problem for problem in self.problems if isinstance(problem, RepairedPlan))


class PlanImporter:
    """Reads records with the tools of one file."""

    def __init__(self, bench: Bench, *, repair: bool = False) -> None:
        self.bench = bench
        self.repair = repair
        self.tools: ToolSet = tool_set(tools_map(bench))
        self._names = ToolNames(bench)

    def read(self, value: Json) -> ImportedPlan:
        """Return the plan of one record; nothing is raised, whatever is given."""
        record = read_record(value)
        if record is None:
            return ImportedPlan(None, (InvalidPlan(reason="there are no `task_nodes` or `tool_nodes` here"),), None)
        problems = self._read_from_text(record)
        tasks, further = self._tasks(NamedRecord(self._names, record, self.repair))
        problems += further
        failed = any(problem.severity == "error" for problem in problems)
        plan: list[Json] | None = None if failed else [task.to_json() for task in tasks]
        return ImportedPlan(plan, tuple(problems), record, record.shape or _shape(tasks))

    def _read_from_text(self, record: TaskRecord) -> list[PlanProblem]:
        """Return that a record was found in a text, if it was."""
        if not record.within:
            return []
        place = pointer(record.place)
        return [repaired("plan-in-text", place, "a text", "the JSON in it") if self.repair else PlanInText(pointer=place)]

    def _tasks(self, record: NamedRecord) -> tuple[list[PlanTask], list[PlanProblem]]:
        """Return the tasks, as far as they can be read, and what is wrong with them."""
        nodes = record.record.nodes
        if not isinstance(nodes, list):
            return [], [InvalidPlan(pointer=record.place(), reason="the tasks are not a list")]
        record, problems = name_tools(record, nodes)
        written = [arguments_of(record, node, number) for number, node in enumerate(nodes)]
        given, of_references = resolve(record, [each for each, _ in written])
        placed = [arguments(record, number, each) for number, each in enumerate(given)]
        names = [word if tool is None else tool.name for word, tool in zip(record.words, record.tools, strict=True)]
        tasks = [PlanTask(names[number], f"n{number}", each.values) for number, each in enumerate(placed)]
        linked = link_tasks(record, tasks)
        problems += [problem for _, found in written for problem in found]
        problems += of_references
        problems += [problem for each in placed for problem in each.problems]
        problems += linked.problems
        problems += self._check(record, linked, placed, {(problem.name, problem.pointer) for problem in problems})
        steps = record.record.steps
        if isinstance(steps, list) and len(steps) != len(nodes):
            place = pointer((*record.record.place, f"{record.record.prefix}_steps"))
            problems.append(StepsDiffer(pointer=place, steps=len(steps), tasks=len(nodes)))
        return linked.tasks, problems

    def _check(
        self, record: NamedRecord, linked: Linked, placed: Sequence[TaskArguments], told: set[tuple[str, str]]
    ) -> Iterator[PlanProblem]:
        """Check the tasks as any plan is checked; places and names are those of the record."""
        for problem in check_read(list(enumerate(linked.tasks)), self.tools):
            at = _translated(problem.pointer, record, linked, placed)
            if (problem.name, at) in told:
                continue  # an argument of the wrong type
            match problem:
                case UnknownTool():
                    word = record.words[int(problem.pointer.split("/")[1])]
                    if word:
                        ids = record.names.ids
                        yield replace(problem, pointer=at, known=ids, nearest=nearest(word, ids))
                case MissingArgument() | UnknownArgument() | WrongArgument() if problem.callee in self.bench.by_name:
                    yield replace(problem, pointer=at, callee=self.bench.by_name[problem.callee].id)
                case _:
                    yield replace(problem, pointer=at)


def _translated(place: str, record: NamedRecord, linked: Linked, placed: Sequence[TaskArguments]) -> str:
    """Return the place in the record for one in the plan."""
    _, number, *rest = place.split("/")
    match rest:
        case ["arguments", key]:
            position = placed[int(number)].positions.get(key.replace("~1", "/").replace("~0", "~"))
            return record.place(int(number)) if position is None else record.place(int(number), "arguments", position)
        case ["after", position]:
            links = pointer((*record.record.place, f"{record.record.prefix}_links"))
            return linked.places.get((int(number), int(position)), links)
        case ["tool"]:
            return record.place(int(number), "task")
        case ["arguments"]:
            return record.place(int(number), "arguments")
    return record.place(int(number))


def _shape(tasks: Sequence[PlanTask]) -> PlanShape:
    edges = frozenset((int(need[1:]), number) for number, task in enumerate(tasks) for need in task.needs if need[1:].isdecimal())
    return shape_of(len(tasks), edges)
