"""Convert TaskBench records to plans and back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from msgspec import Struct, structs

from instrc.problems import plans
from instrc.problems.errors import CompileError
from instrc.problems.suggest import nearest
from instrc.taskbench.arguments import Linked, TaskArguments, arguments, arguments_of, link_tasks, resolve
from instrc.text.arguments import takes_plain_values
from instrc.text.jsontext import dumps, loads
from instrc.text.jsonvalue import Json, as_object, equal, pointer
from instrc.tools import taskbench as records
from instrc.tools.plan_check import check_read, check_tasks, tool_set
from instrc.tools.plan_tools import ToolSet
from instrc.tools.taskbench import Bench, read_bench
from instrc.tools.tasks import PlanTask, Reference


class ImportedPlan(Struct, frozen=True):
    """The result of importing a record."""

    plan: list[Json] | None
    """Tasks of the plan; `None` if there is an error among the problems."""
    problems: tuple[plans.PlanProblem, ...]
    """Problems, with repairs as warnings named `repaired-plan`."""
    record: records.TaskRecord | None
    shape: records.PlanShape = "single"

    @property
    def repairs(self) -> tuple[plans.RepairedPlan, ...]:
        """The parts that were read differently than written."""
        return tuple(problem for problem in self.problems if isinstance(problem, plans.RepairedPlan))


BenchLike = Bench | dict[str, Json] | list[Json]


@takes_plain_values
def import_plan(record: Json, tools: BenchLike, *, repair: bool = False) -> ImportedPlan:
    """Return the plan of a TaskBench record with its problems; no input raises.

        tools = {"nodes": [{"id": "find", "desc": "Find it.", "parameters": [{"name": "text", "type": "string", "desc": ""}]}]}
        node = {"task": "find", "arguments": [{"name": "text", "value": "a bank"}]}
        imported = instrc.import_plan({"task_steps": [], "task_nodes": [node], "task_links": []}, tools)

    With `repair`, known mistakes are read as their most likely meaning, each reported among the problems.
    """
    return _importer(to_bench(tools), bool(repair)).read(record)


@lru_cache(maxsize=16)
def _importer(bench: Bench, repair: bool) -> PlanImporter:  # noqa: FBT001  -- a key of the cache
    return PlanImporter(bench, repair=repair)


@takes_plain_values
def export_plan(plan: Json, tools: BenchLike, record: Json = None) -> Json:
    """Return a plan as a TaskBench record; `record`, its origin, provides what a plan lacks.

        tools = {"nodes": [{"id": "find", "desc": "Find it.", "parameters": [{"name": "text", "type": "string", "desc": ""}]}]}
        record = instrc.export_plan([{"tool": "Find", "id": "n0", "arguments": {"text": "a bank"}}], tools)

    Raise `CompileError` if the plan is invalid, or cannot be expressed in that format.
    """
    bench = to_bench(tools)
    tasks, problems = check_tasks(plan, tool_set(records.tools_map(bench)))
    if problems:
        raise CompileError(problems)
    places = {task.id: number for number, task in enumerate(tasks)}
    used = [bench.by_name[task.tool] for task in tasks]
    problems = tuple(_unsayable(tasks, used, places))
    if problems:
        raise CompileError(problems)
    nodes: list[Json] = [
        _node(task, tool, used, places, bare=_bare(record, number))
        for number, (task, tool) in enumerate(zip(tasks, used, strict=True))
    ]
    links: list[Json] = [
        {"source": used[places[need]].id, "target": used[number].id}
        for number, task in enumerate(tasks)
        for need in dict.fromkeys(_needs_in_order(task, used[number]))
    ]
    problems = tuple(_misread(nodes, links, tasks, bench))
    if problems:
        raise CompileError(problems)
    return _as_recorded(nodes, links, record)


def to_bench(tools: BenchLike) -> Bench:
    """Return the tools of a file, cached, or none if it is unreadable."""
    if isinstance(tools, Bench):
        return tools
    try:
        return _remembered(dumps(tools, indent=False))
    except (TypeError, ValueError, RecursionError):
        return Bench(())


@lru_cache(maxsize=8)
def _remembered(text: str) -> Bench:
    return read_bench(loads(text), lambda _path, _reason: None)


class PlanImporter:
    """Reads records with the tools of one file."""

    def __init__(self, bench: records.Bench, *, repair: bool = False) -> None:
        self.bench = bench
        self.repair = repair
        self.tools: ToolSet = tool_set(records.tools_map(bench))
        self._names = records.ToolNames(bench)

    def read(self, value: Json) -> ImportedPlan:
        """Return the plan of one record; no input raises."""
        record = records.read_record(value)
        if record is None:
            return ImportedPlan(None, (plans.InvalidPlan(reason="there are no `task_nodes` or `tool_nodes` here"),), None)
        named = records.NamedRecord(self._names, record, self.repair)
        tasks, problems = self._tasks(named)
        if record.within:
            problems.insert(0, named.mistake(plans.PlanInText(pointer=pointer(record.place)), "a text", "the JSON in it"))
        failed = any(problem.severity == "error" for problem in problems)
        plan: list[Json] | None = None if failed else [task.to_json() for task in tasks]
        return ImportedPlan(plan, tuple(problems), record, record.shape or _shape(tasks))

    def _tasks(self, record: records.NamedRecord) -> tuple[list[PlanTask], list[plans.PlanProblem]]:
        """Return the readable tasks, and their problems."""
        nodes = record.record.nodes
        if not isinstance(nodes, list):
            return [], [plans.InvalidPlan(pointer=record.place(), reason="the tasks are not a list")]
        record, problems = records.name_tools(record, nodes)
        written = [arguments_of(record, node, number) for number, node in enumerate(nodes)]
        given, of_references = resolve(record, [item for item, _ in written])
        placed = [arguments(record, number, item) for number, item in enumerate(given)]
        names = [word if tool is None else tool.name for word, tool in zip(record.words, record.tools, strict=True)]
        tasks = [PlanTask(names[number], f"n{number}", item.values) for number, item in enumerate(placed)]
        linked = link_tasks(record, tasks)
        problems += [problem for _, result in written for problem in result]
        problems += of_references
        problems += [problem for item in placed for problem in item.problems]
        problems += linked.problems
        problems += self._check(record, linked, placed, {(problem.name, problem.pointer) for problem in problems})
        steps = record.record.steps
        if isinstance(steps, list) and len(steps) != len(nodes):
            place = pointer((*record.record.place, f"{record.record.prefix}_steps"))
            problems.append(plans.StepsDiffer(pointer=place, steps=len(steps), tasks=len(nodes)))
        return linked.tasks, problems

    def _check(
        self, record: records.NamedRecord, linked: Linked, placed: Sequence[TaskArguments], told: set[tuple[str, str]]
    ) -> Iterator[plans.PlanProblem]:
        """Check the tasks like any plan; places and names are those of the record."""
        for problem in check_read(list(enumerate(linked.tasks)), self.tools):
            at = _translated(problem.pointer, record, linked, placed)
            if (problem.name, at) in told:
                continue  # an argument of the wrong type
            match problem:
                case plans.UnknownTool():
                    word = record.words[int(problem.pointer.split("/")[1])]
                    if word:
                        ids = record.names.ids
                        yield structs.replace(problem, pointer=at, known=ids, nearest=nearest(word, ids))
                case plans.MissingArgument() | plans.UnknownArgument() | plans.WrongArgument() if (
                    problem.callee in self.bench.by_name
                ):
                    yield structs.replace(problem, pointer=at, callee=self.bench.by_name[problem.callee].id)
                case _:
                    yield structs.replace(problem, pointer=at)


def _shape(tasks: Sequence[PlanTask]) -> records.PlanShape:
    edges = frozenset((int(need[1:]), number) for number, task in enumerate(tasks) for need in task.needs if need[1:].isdecimal())
    return records.shape_of(len(tasks), edges)


def _translated(place: str, record: records.NamedRecord, linked: Linked, placed: Sequence[TaskArguments]) -> str:
    """Return the record's place for a place in the plan."""
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


def _unsayable(tasks: tuple[PlanTask, ...], tools: list[records.BenchTool], places: dict[str, int]) -> list[plans.PlanProblem]:
    result: list[plans.PlanProblem] = []
    for number, (task, tool) in enumerate(zip(tasks, tools, strict=True)):
        for name, reference in task.references():
            source = tools[places[reference.task]]
            place = f"/{number}/arguments/{name}"
            if reference.kind == "each":
                result.append(
                    plans.UnexportablePlan(pointer=place, reason="there are no copies of a task for every element of a list")
                )
            elif reference.steps and not (len(reference.steps) == 1 and len(source.outputs) > 1):
                result.append(plans.UnexportablePlan(pointer=place, reason=f"`{reference}` is a part of an output"))
        waits = [other for other in task.after if other not in {reference.task for _, reference in task.references()}]
        if waits and tool.kind == "resource":
            result.append(
                plans.UnexportablePlan(
                    pointer=f"/{number}/after", reason="a task with inputs by type cannot wait without reading"
                )
            )
    return result


def _node(task: PlanTask, tool: records.BenchTool, tools: list[records.BenchTool], places: dict[str, int], *, bare: bool) -> Json:
    def written(value: Json | Reference) -> Json:
        if not isinstance(value, Reference):
            return value
        source = tools[places[value.task]]
        by_name = tool.kind != "resource" and sum(item is source for item in tools) == 1
        return source.id if by_name else f"<node-{places[value.task]}>"

    if tool.kind == "resource":
        return {"task": tool.id, "arguments": [written(task.arguments[slot.key]) for slot in tool.slots]}
    if bare and not task.arguments and not tool.slots:
        return {"task": tool.id}
    return {"task": tool.id, "arguments": [{"name": name, "value": written(value)} for name, value in task.arguments.items()]}


def _bare(record: Json, number: int) -> bool:
    """Return whether a task is in the record without any arguments."""
    given = records.read_record(record)
    nodes = given.nodes if given is not None else None
    if not isinstance(nodes, list) or number >= len(nodes):
        return record is None
    node = nodes[number]
    return isinstance(node, dict) and "arguments" not in node


def _needs_in_order(task: PlanTask, tool: records.BenchTool) -> list[str]:
    by_key = {name: reference.task for name, reference in task.references()}
    keys = [slot.key for slot in tool.slots if slot.key in by_key] or list(by_key)
    return [*(by_key[key] for key in keys), *task.after]


def _misread(nodes: list[Json], links: list[Json], tasks: tuple[PlanTask, ...], bench: records.Bench) -> list[plans.PlanProblem]:
    """Return where the record would be read differently from the plan, such as a text that looks like a reference."""
    read = PlanImporter(bench).read({"task_nodes": nodes, "task_links": links})
    if read.plan is None:
        return [
            plans.UnexportablePlan(pointer=_task_place(problem.pointer), reason=f"it would be read as {problem.name}")
            for problem in read.problems
            if problem.severity == "error"
        ]
    plan = _numbered(tasks)
    return [
        plans.UnexportablePlan(pointer=f"/{number}", reason="this task would be confused with another one")
        for number, (one, other) in enumerate(zip(plan, read.plan, strict=True))
        if one != other
    ]


def _task_place(pointer: str) -> str:
    """Return the plan's place of a task for a place in the record."""
    steps = pointer.split("/")
    return f"/{steps[2]}" if steps[1:2] == ["task_nodes"] and len(steps) > 2 else ""


def _numbered(tasks: tuple[PlanTask, ...]) -> list[Json]:
    """Return the tasks in record form: by number, without duplicate dependencies."""
    ids = {task.id: f"n{number}" for number, task in enumerate(tasks)}
    result: list[Json] = []
    for task in tasks:
        read = {reference.task for _, reference in task.references()}
        arguments = {
            name: value._replace(task=ids[value.task]) if isinstance(value, Reference) else value
            for name, value in task.arguments.items()
        }
        after = tuple(dict.fromkeys(ids[item] for item in task.after if item not in read))
        result.append(PlanTask(task.tool, ids[task.id], arguments, after).to_json())
    return result


def _as_recorded(nodes: list[Json], links: list[Json], record: Json) -> Json:
    """Return the record with the steps, spelling and order of links of its origin."""
    given = records.read_record(record)
    if given is None:
        steps: list[Json] = [f"Step {number}: {as_object(node)['task']}" for number, node in enumerate(nodes, 1)]
        return {"task_steps": steps, "task_nodes": nodes, "task_links": links}
    if isinstance(given.links, list) and _pairs(given.links) == _pairs(links):
        links = given.links
    new: dict[str, Json] = {f"{given.prefix}_nodes": nodes}
    if given.links is not None or not given.place:
        new[f"{given.prefix}_links"] = links
    for word in given.encoded:
        key = f"{given.prefix}_{word}"
        if key in new:
            said = given.nodes if word == "nodes" else given.links
            new[key] = given.holder[key] if equal(new[key], said) else dumps(new[key], indent=False)
    if not given.place:
        result: dict[str, Json] = {
            **given.holder,
            **{key: new[key] for key in new if key in given.holder or key.endswith("_nodes")},
        }
        return dumps(result, indent=False) if isinstance(record, str) else result
    whole = as_object(record)
    inner: Json = {**given.holder, **new}
    if isinstance(whole["result"], str):
        return whole if equal(inner, given.holder) and not given.within else {**whole, "result": dumps(inner, indent=False)}
    return {**whole, "result": inner}


def _pairs(links: list[Json]) -> set[tuple[str, str]] | None:
    """Return the ends of links, or `None` if one of them is invalid."""
    ends = list(map(records.ends_of, links))
    return None if None in ends else set(filter(None, ends))
