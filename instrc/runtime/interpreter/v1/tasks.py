"""Execute a plan: each task is an effect of its own, concurrent as far as dependencies allow."""

from __future__ import annotations

from collections import deque
from itertools import islice, product
from math import prod
from typing import Final

from msgspec import Struct

from instrc.process.flow import value_of
from instrc.runtime.activities import complaints
from instrc.runtime.interpreter.documents import ActivityCommand, Entry, FailureKind, Fault, PlanState, TaskState, placed
from instrc.runtime.interpreter.v1.progress import finish
from instrc.runtime.interpreter.v1.runnable import PlanUnit
from instrc.runtime.interpreter.v1.state import Came, Machine, error_value, give_up, scoped_id
from instrc.runtime.interpreter.v1.values import evaluate
from instrc.text.jsonvalue import Json, JsonObject, as_array, as_object, at_or, listing, pointer
from instrc.tools.plan_check import check_tasks, tool_set
from instrc.tools.tasks import PlanTask, Reference

TASK_COPIES: Final = 1000
"""Maximum copies of one task of a plan."""


def copy_counts(task: PlanTask, state: PlanState) -> list[int] | str:
    """Return the lengths of the lists over which a task is copied, or the reason why there are none."""
    counts: list[int] = []
    for name, reference in task.references():
        if reference.kind == "each":
            listed = _resolve_reference(reference, state)
            if listed is not None and not isinstance(listed, list):
                return f"`{reference}` is not a list, so there is nothing for each element of which `{name}` could be given"
            counts.append(len(listed or ()))
    return counts


def _resolve_reference(reference: Reference, state: PlanState) -> Json:
    """Return the value of a reference to the output of a finished task, or `null` if it is unresolvable."""
    return at_or(state["tasks"][reference.task].get("output"), pointer(reference.steps))


def number_of_copies(counts: list[int]) -> int:
    """Return the number of copies for lists of given lengths: those of equal length are zipped, others are combined."""
    return counts[0] if len(set(counts)) == 1 else prod(counts)


def arguments_of(task: PlanTask, state: PlanState, copy: int | None) -> dict[str, Json]:
    """Return the arguments of a task or one of its copies, with the results of other tasks."""
    counts = copy_counts(task, state) if copy is not None else ""
    chosen = iter(() if isinstance(counts, str) or copy is None else _chosen(counts, copy))
    given: dict[str, Json] = {}
    for name, value in task.arguments.items():
        given[name] = _resolve_reference(value, state) if isinstance(value, Reference) else value
        if isinstance(value, Reference) and value.kind == "each":
            given[name] = (listing(given[name]) or [None])[next(chosen, 0)]
    return given


def _chosen(counts: list[int], copy: int) -> tuple[int, ...]:
    """Return the index of each list for a copy of a task; the last list varies fastest."""
    combined = zip(*map(range, counts), strict=True) if len(set(counts)) == 1 else product(*map(range, counts))
    return next(islice(combined, copy, None))


def begin(machine: Machine, scope: str, unit: PlanUnit) -> Json:
    """Check a plan and start the tasks without dependencies; return the result if there is nothing to do."""
    step = unit.steps[0]
    plan = evaluate(machine, scope, step.engine.arguments)
    tasks, problems = check_tasks(plan, tool_set(step.plan))
    if problems:
        first = problems[0]
        more = f", and {len(problems) - 1} more" if len(problems) > 1 else ""
        give_up("plan", f"at `{first.pointer or '/'}`: {first.message}{more}", step.key, first.name)
    if not tasks:
        return []
    noted: dict[str, TaskState] = {task.id: {"status": "waiting", "waits": len(task.needs)} for task in tasks}
    machine.scope(scope)["blocks"][unit.id] = {"plan": plan, "tasks": noted, "left": len(tasks)}
    _start(machine, scope, unit, _read_plan(unit, plan), [task.id for task in tasks if not task.needs])
    return _result(machine, scope, unit, tasks)


class _ReadPlan(Struct, frozen=True):
    """A parsed plan, and the values it was parsed from."""

    unit: PlanUnit
    plan: Json
    tasks: dict[str, PlanTask]
    followers: dict[str, list[PlanTask]]
    """Tasks that wait for each task, in plan order."""


def _start(machine: Machine, scope: str, unit: PlanUnit, read: _ReadPlan, ids: list[str]) -> None:
    """Start tasks whose dependencies are done, and right after one that has nothing to do those that it makes ready."""
    state, waiting = machine.plan(scope, unit.id), ids[::-1]
    while waiting:
        id_ = waiting.pop()
        task, noted = read.tasks[id_], state["tasks"][id_]
        if noted["status"] != "waiting":
            continue
        noted["status"] = "running"
        counts = copy_counts(task, state) if task.copied else [1]
        copies = 0 if isinstance(counts, str) else number_of_copies(counts)
        most, made = machine.program.options.get("calls"), state.get("calls", 0) + copies
        if isinstance(counts, str):
            noted["error"] = _fault("failed", counts)
        elif copies > TASK_COPIES:
            noted["error"] = _fault("limit", f"a task has a limit of {TASK_COPIES} copies, and there are {copies}")
        elif most is not None and made > most:
            noted["error"] = _fault("limit", f"a plan has a limit of {most} calls, and with this task there are {made}")
        if "error" in noted:
            waiting += _end_task(state, read, id_, "failed")[::-1]
            continue
        noted["left"] = copies
        if most is not None:
            state["calls"] = made
        if task.copied:
            noted["output"] = [None] * copies
        for copy in range(copies) if task.copied else (None,):
            command = f"{scoped_id(scope, unit.id)}[{id_ if copy is None else f'{id_}[{copy}]'}]"
            machine.open_command(command, {"scope": scope, "unit": unit.index, "as": "task", "task": id_, "copy": copy})
        if not copies:
            waiting += _end_task(state, read, id_, "ok")[::-1]


def _fault(kind: FailureKind, message: str, code: str | None = None) -> Fault:
    return {"kind": kind, "code": code, "message": message}


def _end_task(state: PlanState, read: _ReadPlan, id_: str, status: str) -> list[str]:
    """Record the end of a task; return those that become ready, and skip those that cannot."""
    ended = [(id_, status)]
    ready: list[str] = []
    while ended:
        one, how = ended.pop()
        state["tasks"][one]["status"] = how
        state["left"] -= 1
        for task in read.followers[one]:
            noted = state["tasks"][task.id]
            if noted["status"] != "waiting":
                continue
            if how == "ok":
                noted["waits"] -= 1
                if not noted["waits"]:
                    ready.append(task.id)
            else:
                why = "failed" if how == "failed" else "was skipped"
                noted["error"] = _fault("failed", f"it waits for `{one}`, which {why}", "skipped")
                noted["status"] = "skipping"
                ended.append((task.id, "skipped"))
    return ready


_read: deque[_ReadPlan] = deque(maxlen=16)
"""The most recent plans, looked up by the identity of their values: a state never changes its plan."""


def _read_plan(unit: PlanUnit, plan: Json) -> _ReadPlan:
    """Return the tasks of a plan, cached, since each task requests them."""
    known = next((item for item in tuple(_read) if item.plan is plan and item.unit is unit), None)
    if known is None:
        tasks = {task.id: task for task in check_tasks(plan, tool_set(unit.steps[0].plan))[0]}
        followers: dict[str, list[PlanTask]] = {id_: [] for id_ in tasks}
        for task in tasks.values():
            for other in task.needs:
                followers[other].append(task)
        known = _ReadPlan(unit, plan, tasks, followers)
        _read.append(known)
    return known


def _result(machine: Machine, scope: str, unit: PlanUnit, tasks: tuple[PlanTask, ...]) -> list[Json] | None:
    """Return the records of all tasks in plan order, or `None` while some are unfinished."""
    if unit.id not in machine.scope(scope)["blocks"] or (state := machine.plan(scope, unit.id))["left"]:
        return None
    listed: list[Json] = []
    for task in tasks:
        noted = state["tasks"][task.id]
        entry: JsonObject = {"id": task.id, "tool": task.tool, "status": noted["status"]}
        if "output" in noted:
            entry["output"] = noted["output"]
        if "error" in noted:
            entry["error"] = error_value(noted["error"])
        listed.append(entry)
    return listed


def conclude(machine: Machine, scope: str, unit: PlanUnit, result: Json) -> None:
    """Record all tasks as the value of the step."""
    machine.scope(scope)["blocks"].pop(unit.id, None)
    faults = complaints(result, unit.schema)
    if faults:
        give_up("invalid", placed(faults[0]), unit.steps[0].key)
    finish(machine, scope, unit, {unit.steps[0].key: result})


def apply(machine: Machine, entry: Entry, came: Came) -> None:
    """Apply the result of a task or one of its copies."""
    scope, unit = entry["scope"], machine.unit(entry["scope"], entry["unit"])
    state = machine.plan(scope, unit.id)
    read = _read_plan(unit, state["plan"])
    task, copy = read.tasks[entry["task"]], entry["copy"]
    noted = state["tasks"][task.id]
    error, output = came.error, came.value
    if error is None:
        faults = complaints(output, _tool(unit, task).get("output", True))
        if faults:
            error = _fault("invalid", placed(faults[0]))
    if error is not None:
        noted.setdefault("error", error)
    elif copy is None:
        noted["output"] = output
    else:
        as_array(noted["output"])[copy] = output
    noted["left"] -= 1
    if not noted["left"]:
        ready = _end_task(state, read, task.id, "failed" if "error" in noted else "ok")
        _start(machine, scope, unit, read, ready)
    listed = _result(machine, scope, unit, tuple(read.tasks.values()))
    if listed is not None:
        conclude(machine, scope, unit, listed)


def _tool(unit: PlanUnit, task: PlanTask) -> JsonObject:
    """Return the step's entry for the tool that a task calls."""
    return as_object((unit.steps[0].plan or {}).get(task.tool) or {})


def task_command(machine: Machine, command: str, scope: str, unit: PlanUnit, entry: Entry) -> ActivityCommand:
    """Return the command of a task or one of its copies."""
    state = machine.plan(scope, unit.id)
    task = _read_plan(unit, state["plan"]).tasks[entry["task"]]
    tool = _tool(unit, task)
    given = arguments_of(task, state, entry["copy"])
    bound = tool.get("bound")
    if bound is not None:
        program = evaluate(machine, scope, value_of(bound))
        given |= program if isinstance(program, dict) else {"prompt": program}
    activity, process = tool.get("activity"), tool.get("process")
    return {
        "kind": "activity",
        "id": command,
        "step": unit.steps[0].key,
        "activity": activity if isinstance(activity, str) else task.tool,
        "process": process if isinstance(process, str) else None,
        "called": task.tool,
        "input": given,
        "schema": tool.get("output", True),
    }
