"""From a plan to the form of TaskBench; a plan that was imported comes back as it was."""

from __future__ import annotations

from instrc.ir.bench import Bench, BenchTool
from instrc.ir.tasks import Reference, Task
from instrc.jsontext import dumps
from instrc.jsonvalue import AnyJson as Json
from instrc.jsonvalue import as_object
from instrc.plans.check import check_tasks, tools_of
from instrc.plans.taskbench.records import read_record
from instrc.plans.taskbench.tools import tools_map
from instrc.problems.plans import PlanProblem
from instrc.problems.problem import CompileError
from instrc.problems.taskbench import UnexportablePlan


def export_record(plan: Json, bench: Bench, record: Json = None) -> Json:
    """Return a plan as a record; `record`, the one that it was made of, gives what a plan does not say.

    A `CompileError` says what is wrong with the plan, or cannot be said in that form.
    """
    tasks, problems = check_tasks(plan, tools_of(tools_map(bench)))
    if problems:
        raise CompileError(problems)
    places = {task.id: number for number, task in enumerate(tasks)}
    tools = [bench.by_name[task.tool] for task in tasks]
    problems = tuple(_unsayable(tasks, tools, places))
    if problems:
        raise CompileError(problems)
    nodes = [
        _node(task, tool, tools, places, bare=_bare(record, number))
        for number, (task, tool) in enumerate(zip(tasks, tools, strict=True))
    ]
    links = [
        {"source": tools[places[need]].id, "target": tools[number].id}
        for number, task in enumerate(tasks)
        for need in dict.fromkeys(_needs_in_order(task, tools[number]))
    ]
    return _written(nodes, links, record)


def _unsayable(tasks: tuple[Task, ...], tools: list[BenchTool], places: dict[str, int]) -> list[PlanProblem]:
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


def _needs_in_order(task: Task, tool: BenchTool) -> list[str]:
    by_key = {name: reference.task for name, reference in task.references()}
    keys = [slot.key for slot in tool.slots if slot.key in by_key] or list(by_key)
    return [*(by_key[key] for key in keys), *task.after]


def _node(task: Task, tool: BenchTool, tools: list[BenchTool], places: dict[str, int], *, bare: bool) -> Json:
    def written(value: Json | Reference) -> Json:
        if value.__class__ is not Reference:
            return value
        source = tools[places[value.task]]
        by_name = tool.kind != "resource" and sum(each is source for each in tools) == 1
        return source.id if by_name else f"<node-{places[value.task]}>"

    if tool.kind == "resource":
        return {"task": tool.id, "arguments": [written(task.arguments[slot.key]) for slot in tool.slots]}
    if bare and not task.arguments:
        return {"task": tool.id}
    return {"task": tool.id, "arguments": [{"name": name, "value": written(value)} for name, value in task.arguments.items()]}


def _bare(record: Json, number: int) -> bool:
    """Tell whether a task stands in the record without any arguments."""
    given = read_record(record)
    nodes = given.nodes if given is not None else None
    if nodes.__class__ is not list or number >= len(nodes):
        return record is None
    return nodes[number].__class__ is dict and "arguments" not in nodes[number]


def _written(nodes: list[Json], links: list[Json], record: Json) -> Json:
    """Return the record with its own steps, spelling and order of links."""
    given = read_record(record)
    if given is None:
        steps = [f"Step {number}: {node['task']}" for number, node in enumerate(nodes, 1)]
        return {"task_steps": steps, "task_nodes": nodes, "task_links": links}
    if given.links.__class__ is list and _pairs(given.links) == _pairs(links):
        links = given.links
    new: dict[str, Json] = {f"{given.prefix}_nodes": nodes}
    if given.links is not None or not given.place:
        new[f"{given.prefix}_links"] = links
    for word in given.encoded:
        key = f"{given.prefix}_{word}"
        if key in new:
            new[key] = dumps(new[key], indent=False)
    if not given.place:
        return {**record, **{key: part for key, part in new.items() if key in record or key.endswith("_nodes")}}
    inner = record["result"]
    text = inner.__class__ is str
    holder = {**given_holder(inner), **new}
    return {**record, "result": dumps(holder, indent=False) if text else holder}


def given_holder(inner: Json) -> dict[str, Json]:
    """Return what an answer of a model holds."""
    from instrc.jsontext import loads  # a text in few data sets

    return as_object(loads(inner) if isinstance(inner, str) else inner)


def _pairs(links: list[Json]) -> set[tuple[str, str]]:
    return {(link["source"], link["target"]) for link in links}
