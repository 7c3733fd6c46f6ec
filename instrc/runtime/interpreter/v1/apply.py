"""Apply the result of a command to the state of a run."""

from __future__ import annotations

from instrc.runtime.activities import complaints, complaints_by
from instrc.runtime.interpreter.documents import Asking, Attempt, Complaint, Entry, Result, bare_name, may_fire, placed
from instrc.runtime.interpreter.v1 import blocks, tasks
from instrc.runtime.interpreter.v1.issue import answer_schema, ask, new_round
from instrc.runtime.interpreter.v1.progress import fail, finish, stop
from instrc.runtime.interpreter.v1.runnable import PlanUnit
from instrc.runtime.interpreter.v1.state import (
    Came,
    FailedError,
    Machine,
    came_of,
    failure,
    give_up,
    give_up_by,
    scoped_id,
    unit_name,
)
from instrc.runtime.interpreter.v1.values import shown_of
from instrc.text.jsonvalue import Json, as_object, at_or, mapping, pointer
from instrc.tools.plan_check import check_plan


def apply(machine: Machine, command: str, result: Result) -> None:
    """Apply the result of a command, if it is open."""
    entry = machine.state["open"].get(command)
    if entry is None or machine.state["outcome"] is not None:
        return
    machine.state["looked"] = max(machine.state.get("looked", 0) - blocks.LOOKED_AT_AGAIN, 0)
    scope = entry["scope"]
    unit = machine.unit(scope, entry["unit"])
    try:
        if entry["as"] == "run" and unit.kind == "user":
            _apply_person_answer(machine, command, scope, unit, came_of(result))
            return
        machine.close_command(command)
        match entry["as"]:
            case "delay":
                machine.state["ready"].append([scope, unit.index, True])
            case "within":
                _overdue(machine, scope, unit, entry["after"])
            case "task":
                tasks.apply(machine, entry, came_of(result))
            case _ if unit.kind == "model":
                _apply_model_answer(machine, scope, unit, entry, came_of(result))
            case _:
                _apply_activity_result(machine, scope, unit, came_of(result))
    except FailedError as error:
        fail(machine, scope, error.failure)


def _overdue(machine: Machine, scope: str, unit: PlanUnit, span: str) -> None:
    error = failure("timeout", f"`{unit_name(unit)}` was not done within {span}", unit_name(unit))
    inner = scoped_id(scope, unit.context)
    fail(machine, inner if unit.block is not None and inner in machine.state["scopes"] else scope, error)


def _apply_model_answer(machine: Machine, scope: str, unit: PlanUnit, entry: Entry, came: Came) -> None:
    """Accept a model's answer, ask again, or give up."""
    machine.state["spent"]["tokens"] += came.tokens
    if came.error is not None:
        give_up_by(came.error, unit_name(unit))
    answer = came.value
    plans, tasks = _plan_faults(machine, unit, answer, alone=False)
    misfits = [] if answer is None and came.complaints else _misfits(machine, scope, unit, answer)  # no answer to check
    wrong = [*came.complaints, *(_elsewhere(tasks, misfits) if tasks else misfits)]
    if wrong or plans:
        _again(machine, scope, unit, entry, answer, [*wrong, *plans], planned=not wrong)
        return
    if _goes_round(unit, entry, answer):
        ask(machine, scope, unit, new_round(entry["round"] + 1, answer))
        return
    _fire(machine, scope, unit, answer)
    finish(machine, scope, unit, answer)


def _plan_faults(machine: Machine, unit: PlanUnit, answer: Json, *, alone: bool) -> tuple[list[Complaint], set[str]]:
    """Return the errors of the plans in an answer, and the places of the invalid tasks."""
    result: list[Complaint] = []
    tasks: set[str] = set()
    most = machine.program.options.get("calls")
    for step, planned in unit.plans:
        place = pointer(planned.place if alone else (step.key, *planned.place))
        part = at_or(answer, place)
        if most is not None and isinstance(part, list) and len(part) > most:
            result.append({"pointer": place, "message": f"a plan has a limit of {most} calls: use fewer tasks"})
            continue
        for problem in check_plan(part, planned.tools)[:20]:
            result.append({"pointer": place + problem.pointer, "message": problem.with_hint})
            tasks.add(place + "/".join(problem.pointer.split("/")[:2]))
    return result, tasks


def _misfits(machine: Machine, scope: str, unit: PlanUnit, value: Json) -> list[Complaint]:
    """Return the violations of a unit's schema by a value, with the choices known so far."""
    schema = answer_schema(machine, scope, unit)
    return complaints_by(unit.validator, value) if schema is unit.schema else complaints(value, schema)


def _elsewhere(tasks: set[str], wrong: list[Complaint]) -> list[Complaint]:
    """Return the schema errors outside tasks, which have clearer errors of their own."""
    return [item for item in wrong if not any(f"{item['pointer']}/".startswith(f"{task}/") for task in tasks)]


def _again(
    machine: Machine, scope: str, unit: PlanUnit, entry: Entry, answer: Json, wrong: list[Complaint], *, planned: bool
) -> None:
    attempts: list[Attempt] = [*entry["attempts"], {"answer": answer, "complaints": wrong}]
    if entry["asks"] < machine.program.options.get("asks", 2):
        again: Asking = {
            "round": entry["round"],
            "asks": entry["asks"] + 1,
            "previous": entry["previous"],
            "rejected": answer,
            "complaints": wrong,
            "attempts": attempts,
        }
        ask(machine, scope, unit, again)
        return
    first = wrong[0]["pointer"].split("/")
    steps = unit.steps if unit.called is None else ()
    step = next((step.key for step in steps if len(first) > 1 and step.key == first[1]), unit_name(unit))
    message = f"the answer was not accepted after {len(attempts)} attempts; {placed(wrong[0])}"
    raise FailedError({**failure("plan" if planned else "invalid", message, step), "attempts": attempts})


def _goes_round(unit: PlanUnit, entry: Entry, answer: Json) -> bool:
    """Return whether a loop in a chunk requests and may have another round."""
    loops = (loop for loop in unit.loops if mapping(at_or(answer, pointer(loop.place))).get("_continue") is True)
    return any(entry["round"] < loop.maximum for loop in loops)


def _fire(machine: Machine, scope: str, unit: PlanUnit, answer: Json) -> None:
    """Send the content of a step to the activity of the same name."""
    if not machine.program.fires or not isinstance(answer, dict):
        return
    for step in unit.steps:
        name = bare_name(step.key)
        if name in machine.program.fires and step.key in answer and may_fire(step):
            machine.state["queue"].append(
                {
                    "kind": "fire",
                    "id": scoped_id(scope, f"{unit.context}.{step.key}!fire"),
                    "step": step.key,
                    "activity": machine.program.options["fires"][name],
                    "input": shown_of(machine, unit, step.key, answer[step.key]),
                }
            )


def _apply_person_answer(machine: Machine, command: str, scope: str, unit: PlanUnit, came: Came) -> None:
    """Apply a person's answer; an invalid one leaves the question open."""
    if came.error is not None:
        machine.close_command(command)
        give_up_by(came.error, unit_name(unit))
    answer = came.value
    if _wrong(machine, scope, unit, answer):
        machine.state["queue"].append(command)
        return
    machine.close_command(command)
    record = {unit.steps[0].key: answer} if len(unit.steps) == 1 else as_object(answer)
    for step in unit.steps:
        part = record.get(step.key)
        if isinstance(part, dict) and part.get("decision") == "Reject":
            if step.key in unit.unread:
                as_object(machine.scope(scope)["record"].setdefault(unit.context, {})).update(record)
                stop(machine, step.key)
                return
            machine.scope(scope)["refused"].append([machine.region(scope).index, step.key])
    finish(machine, scope, unit, record)


def _wrong(machine: Machine, scope: str, unit: PlanUnit, value: Json) -> list[Complaint]:
    plans, tasks = _plan_faults(machine, unit, value, alone=len(unit.steps) == 1)
    return [*_elsewhere(tasks, _misfits(machine, scope, unit, value)), *plans]


def _apply_activity_result(machine: Machine, scope: str, unit: PlanUnit, came: Came) -> None:
    """Apply the result of an activity."""
    step = unit.steps[0]
    if came.error is not None:
        give_up_by(came.error, step.key)
    value, wrong = _fit_result(unit, came.value)
    if wrong:
        name = step.engine.activity or step.key
        give_up("invalid", f"`{name}` gave what does not fit, {placed(wrong[0])}", step.key)
    finish(machine, scope, unit, {} if machine.program.open else {step.key: value})  # nothing reads it in a direct call


def _fit_result(unit: PlanUnit, value: Json) -> tuple[Json, list[Complaint]]:
    """Return a result in its recorded form, and its errors: for a step with `output`, the value is its member."""
    wrapped: Json = {"output": value} if unit.wrapped else value
    wrong = complaints_by(unit.validator, wrapped)
    is_whole = unit.wrapped and isinstance(value, dict) and value.keys() == {"output"}
    if wrong and is_whole and not complaints_by(unit.validator, value):
        return value, []
    return wrapped, wrong


def faults(machine: Machine, command: str, value: Json) -> list[Complaint] | None:
    """Return the errors of an answer to an open command, or `None` if it is not open or takes no answer."""
    entry = machine.state["open"].get(command)
    if entry is None or entry["as"] not in {"run", "task"}:
        return None
    unit = machine.unit(entry["scope"], entry["unit"])
    if entry["as"] == "task":
        return complaints(value, tasks.task_command(machine, command, entry["scope"], unit, entry)["schema"])
    if unit.kind == "user":
        return _wrong(machine, entry["scope"], unit, value)
    return None if unit.kind == "model" else _fit_result(unit, value)[1]
