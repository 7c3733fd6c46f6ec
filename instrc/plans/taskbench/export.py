"""From a plan to the form of TaskBench; a plan that was imported comes back as it was."""

from __future__ import annotations

from instrc.ir.bench import Bench, BenchTool
from instrc.ir.tasks import PlanTask, Reference
from instrc.jsontext import dumps
from instrc.jsonvalue import Json, as_object, equal
from instrc.plans.check import check_tasks, tool_set
from instrc.plans.taskbench.importing import PlanImporter
from instrc.plans.taskbench.records import read_record
from instrc.plans.taskbench.tools import tools_map
from instrc.problems.plans import PlanProblem, UnexportablePlan
from instrc.problems.problem import CompileError


def export_record(plan: Json, bench: Bench, record: Json = None) -> Json:
    """Return a plan as a record; `record`, the one that it was made of, gives what a plan does not say.

    A `CompileError` says what is wrong with the plan, or cannot be said in that form.
    """
    tasks, problems = check_tasks(plan, tool_set(tools_map(bench)))
    if problems:
        raise CompileError(problems)
    places = {task.id: number for number, task in enumerate(tasks)}
    tools = [bench.by_name[task.tool] for task in tasks]
    problems = tuple(_unsayable(tasks, tools, places))
    if problems:
        raise CompileError(problems)
    nodes: list[Json] = [
        _node(task, tool, tools, places, bare=_bare(record, number))
        for number, (task, tool) in enumerate(zip(tasks, tools, strict=True))
    ]
    links: list[Json] = [
        {"source": tools[places[need]].id, "target": tools[number].id}
        for number, task in enumerate(tasks)
        for need in dict.fromkeys(_needs_in_order(task, tools[number]))
    ]
    problems = tuple(_misread(nodes, links, tasks, bench))
    if problems:
        raise CompileError(problems)
    return _as_recorded(nodes, links, record)


def _misread(nodes: list[Json], links: list[Json], tasks: tuple[PlanTask, ...], bench: Bench) -> list[PlanProblem]:
    """Return where the record would be read as something else than the plan: a text that looks like a reference, say."""
    read = PlanImporter(bench).read({"task_nodes": nodes, "task_links": links})
    if read.plan is None:
        return [
            UnexportablePlan(pointer=_task_place(problem.pointer), reason=f"it would be read as {problem.name}")
            for problem in read.problems
            if problem.severity == "error"
        ]
    plan = _numbered(tasks)
    return [
        UnexportablePlan(pointer=f"/{number}", reason="this task would be read as another one")
        for number, (one, other) in enumerate(zip(plan, read.plan, strict=True))
        if one != other
    ]


def _task_place(pointer: str) -> str:
    """Return the place of a task in the plan for one in the record."""
    steps = pointer.split("/")
    return f"/{steps[2]}" if steps[1:2] == ["task_nodes"] and len(steps) > 2 else ""


def _numbered(tasks: tuple[PlanTask, ...]) -> list[Json]:
    """Return the tasks as a record says them: by number, and none waits twice for another."""
    ids = {task.id: f"n{number}" for number, task in enumerate(tasks)}
    made: list[Json] = []
    for task in tasks:
        read = {reference.task for _, reference in task.references()}
        arguments = {
            name: value._replace(task=ids[value.task]) if isinstance(value, Reference) else value
            for name, value in task.arguments.items()
        }
        after = tuple(dict.fromkeys(ids[each] for each in task.after if each not in read))
        made.append(PlanTask(task.tool, ids[task.id], arguments, after).to_json())
    return made


def _unsayable(tasks: tuple[PlanTask, ...], tools: list[BenchTool], places: dict[str, int]) -> list[PlanProblem]:
    found: list[PlanProblem] = []
    for number, (task, tool) in enumerate(zip(tasks, tools, strict=True)):
        for name, reference in task.references():
            source = tools[places[reference.task]]
            place = f"/{number}/arguments/{name}"
            if reference.kind == "each":
                found.append(UnexportablePlan(pointer=place, reason="there are no copies of a task for every element of a list"))
            elif reference.steps and not (len(reference.steps) == 1 and len(source.outputs) > 1):
                found.append(UnexportablePlan(pointer=place, reason=f"`{reference}` is a part of an output"))
        waits = [other for other in task.after if other not in {reference.task for _, reference in task.references()}]
        if waits and tool.kind == "resource":
            found.append(
                UnexportablePlan(pointer=f"/{number}/after", reason="a task with inputs by type cannot wait without reading")
            )
    return found


def _needs_in_order(task: PlanTask, tool: BenchTool) -> list[str]:
    by_key = {name: reference.task for name, reference in task.references()}
    keys = [slot.key for slot in tool.slots if slot.key in by_key] or list(by_key)
    return [*(by_key[key] for key in keys), *task.after]


def _node(task: PlanTask, tool: BenchTool, tools: list[BenchTool], places: dict[str, int], *, bare: bool) -> Json:
    def written(value: Json | Reference) -> Json:
        if not isinstance(value, Reference):
            return value
        source = tools[places[value.task]]
        by_name = tool.kind != "resource" and sum(each is source for each in tools) == 1
        return source.id if by_name else f"<node-{places[value.task]}>"

    if tool.kind == "resource":
        return {"task": tool.id, "arguments": [written(task.arguments[slot.key]) for slot in tool.slots]}
    if bare and not task.arguments and not tool.slots:
        return {"task": tool.id}
    return {"task": tool.id, "arguments": [{"name": name, "value": written(value)} for name, value in task.arguments.items()]}


def _bare(record: Json, number: int) -> bool:
    """Tell whether a task stands in the record without any arguments."""
    given = read_record(record)
    nodes = given.nodes if given is not None else None
    if not isinstance(nodes, list) or number >= len(nodes):
        return record is None
    node = nodes[number]
    return isinstance(node, dict) and "arguments" not in node


def _as_recorded(nodes: list[Json], links: list[Json], record: Json) -> Json:
    """Return the record with its own steps, spelling and order of links."""
    given = read_record(record)
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
        made: dict[str, Json] = {
            **given.holder,
            **{key: new[key] for key in new if key in given.holder or key.endswith("_nodes")},
        }
        return dumps(made, indent=False) if isinstance(record, str) else made
    whole = as_object(record)
    inner: Json = {**given.holder, **new}
    if isinstance(whole["result"], str):
        return whole if equal(inner, given.holder) and not given.within else {**whole, "result": dumps(inner, indent=False)}
    return {**whole, "result": inner}


def _pairs(links: list[Json]) -> set[tuple[Json, ...]] | None:
    """Return what links lead from and to; `None` if one of them is none."""
    found: set[tuple[Json, ...]] = set()
    for link in links:
        ends = tuple(link.get(key) for key in ("source", "target")) if isinstance(link, dict) else ()
        if len(ends) != 2 or not all(isinstance(end, str) for end in ends):
            return None
        found.add(ends)
    return found
