"""Start what has become ready, and return the commands for the engine."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Literal, cast

from instrc.process.flow import Read, Step, Value
from instrc.runtime.interpreter.documents import (
    COUNTED,
    ActivityCommand,
    Asking,
    Command,
    Entry,
    Failure,
    FireCommand,
    ModelCommand,
    SpendingLimits,
    bare_instruction,
)
from instrc.runtime.interpreter.v1 import blocks, tasks
from instrc.runtime.interpreter.v1.progress import fail, finish, is_rescued, stop
from instrc.runtime.interpreter.v1.runnable import PlanUnit, durations_of, replace_property
from instrc.runtime.interpreter.v1.state import (
    ROOT,
    FailedError,
    Machine,
    failure,
    give_up,
    kind_of_failure,
    scoped_id,
    unit_name,
)
from instrc.runtime.interpreter.v1.values import context_of, evaluate, resolve, without_own
from instrc.schema.walk import map_schemas
from instrc.text.durations import seconds
from instrc.text.jsonvalue import Json, JsonObject, as_integer, as_text, listing, optional_text


def issue(machine: Machine) -> list[Command]:
    """Start everything that is ready; return the commands, in plan order among those that became ready together."""
    return [command_of(machine, queued) if isinstance(queued, str) else queued for queued in advance(machine)]


def advance(machine: Machine) -> list[str | FireCommand]:
    """Start everything that is ready; return the ids of the commands, or those that need no result, in the same order."""
    state = machine.state
    while state["ready"]:
        ready, state["ready"] = state["ready"], []
        for item in ready:
            scope, number = as_text(item[0]), as_integer(item[1])
            if state["outcome"] is not None:
                break
            if scope not in state["scopes"]:
                continue  # another concurrent step has failed
            unit = machine.unit(scope, number)
            try:
                _begin(machine, scope, unit, delayed=len(item) > 2)
            except blocks.StoppedError as stopped:
                stop(machine, stopped.step)
            except FailedError as error:
                fail(machine, scope, error.failure)
    queue, state["queue"] = state["queue"], []
    if machine.cancelled:
        state["withdrawn"] = machine.withdrawn
    return [queued for queued in queue if not isinstance(queued, str) or queued in state["open"]]


def _begin(machine: Machine, scope: str, unit: PlanUnit, *, delayed: bool) -> None:
    here = scoped_id(scope, unit.id)
    waits = unit.timed and machine.program.options.get("pauses", True)
    if waits and not delayed and (delay := _span(unit, "delay", max)) is not None:
        machine.open_command(f"{here}!delay", {"scope": scope, "unit": unit.index, "as": "delay", "after": delay})
        return
    if unit.timed and (within := _span(unit, "within", min)) is not None:
        machine.open_command(f"{here}!within", {"scope": scope, "unit": unit.index, "as": "within", "after": within})
    match unit.kind:
        case "block":
            done = blocks.begin(machine, scope, unit)
            if done is not None:
                finish(machine, scope, unit, *done)
        case "branch":
            won = blocks.begin_branch(machine, scope, unit)
            finish(machine, scope, unit, None)
            if won is not None:
                finish(machine, scope, machine.unit(scope, unit.race), *won)
        case "fail":
            raise FailedError(_error(evaluate(machine, scope, unit.steps[0].engine.arguments), unit.steps[0]))
        case "plan":
            result = tasks.begin(machine, scope, unit)
            if result is not None:
                tasks.conclude(machine, scope, unit, result)
        case "fire":
            step = unit.steps[0]
            name, given = step.engine.activity or step.key, _input(machine, scope, unit, step)
            machine.state["queue"].append({"kind": "fire", "id": here, "step": step.key, "activity": name, "input": given})
            finish(machine, scope, unit, {})
        case "model":
            ask(machine, scope, unit, new_round(1, None))
        case _:
            if unit.among:
                answer_schema(machine, scope, unit)  # fail now if there is nothing to choose from
            if unit.kind == "user":
                blocks.look(machine, unit, blocks.ASKED)
            machine.open_command(here, {"scope": scope, "unit": unit.index, "as": "run"})


def _span(unit: PlanUnit, word: Literal["within", "delay"], choose: Callable[..., str]) -> str | None:
    """Return the deadline or delay of a unit: of several steps the shortest deadline, the longest delay."""
    spans = durations_of(unit, word)
    try:
        return choose(spans, key=seconds) if spans else None
    except ValueError as error:
        give_up("failed", str(error), unit_name(unit), "not-a-duration")


def _error(given: Json, step: Step) -> Failure:
    """Return a failure with the values that `Fail` reads."""
    candidates = [given, *(given.values() if isinstance(given, dict) else given if isinstance(given, list) else ())]
    text = next((item for item in candidates if isinstance(item, str)), f"`{step.key}` ends the run")
    errors = (item for item in candidates if isinstance(item, dict) and isinstance(item.get("message"), str))
    known: JsonObject = next(errors, {"message": text})
    key, code = optional_text(known.get("step")), optional_text(known.get("code"))
    return failure(kind_of_failure(known), as_text(known["message"]), step.key if key is None else key, code)


def _input(machine: Machine, scope: str, unit: PlanUnit, step: Step) -> Json:
    if step.engine.arguments is None:
        return context_of(machine, scope, unit, unit.references if len(unit.steps) == 1 else step.references)
    return evaluate(machine, scope, step.engine.arguments)


def pending(machine: Machine, among: Collection[str]) -> list[Command]:
    """Return the issued, unanswered commands among some, for an engine that continues a run."""
    queued = {item for item in machine.state["queue"] if isinstance(item, str)}
    return [command_of(machine, name) for name in machine.state["open"] if name in among and name not in queued]


def ask(machine: Machine, scope: str, unit: PlanUnit, entry: Asking) -> None:
    """Request a chunk from a model, for the first time or again."""
    if unit.among:
        answer_schema(machine, scope, unit)
    if (reached := reached_limit(machine)) is not None:
        if "stalled" not in machine.state or is_rescued(machine, scope):
            give_up("limit", reached[1], unit_name(unit), reached[0])
        machine.state["stalled"].append({**entry, "scope": scope, "unit": unit.index})
        return
    machine.state["spent"]["requests"] += 1
    command = scoped_id(scope, unit.id)
    command += f"@{entry['round']}" if entry["round"] > 1 else ""
    command += f"#{entry['asks'] + 1}" if entry["asks"] else ""
    machine.open_command(command, cast("Entry", {"scope": scope, "unit": unit.index, "as": "run", **entry}))


def new_round(number: int, previous: Json) -> Asking:
    """Return the progress of a chunk at the beginning of a round, after the answer of the previous one."""
    return {"round": number, "asks": 0, "previous": previous, "rejected": None, "complaints": [], "attempts": []}


def reached_limit(machine: Machine) -> tuple[str, str] | None:
    """Return the limit that the run has reached, with a message, or `None` if models may be called."""
    spent, options, raised = machine.state["spent"], machine.program.options, machine.state.get("limits", {})
    for what in COUNTED:
        most = raised.get(what, options.get(what))
        if most is not None and spent[what] >= most:
            return what, f"the run may spend {most} {what if most != 1 else what[:-1]} on models, and has spent {spent[what]}"
    return None


def raise_limits(machine: Machine, limits: SpendingLimits | None) -> None:
    """Request the chunks held by a limit; without `limits` they fail."""
    held_ones = machine.state.pop("stalled", None)
    if limits is not None:
        machine.state["limits"] = {**machine.state.get("limits", {}), **limits}
        if held_ones is not None:
            machine.state["stalled"] = []
    for held in held_ones or ():
        scope = held["scope"]
        if machine.state["outcome"] is None and scope in machine.state["scopes"]:
            entry = cast("Asking", {name: value for name, value in held.items() if name not in {"scope", "unit"}})
            try:
                ask(machine, scope, machine.unit(scope, held["unit"]), entry)
            except FailedError as error:
                fail(machine, scope, error.failure)


def command_of(machine: Machine, command: str) -> Command:
    """Return an open command in the engine's form."""
    entry = machine.state["open"][command]
    scope = entry["scope"]
    unit = machine.unit(scope, entry["unit"])
    if entry["as"] in {"delay", "within"}:
        return {"kind": "timer", "id": command, "after": entry["after"]}
    if entry["as"] == "task":
        return tasks.task_command(machine, command, scope, unit, entry)
    if unit.kind == "model":
        return _model_command(machine, command, scope, unit, entry)
    if unit.kind == "user":
        return {
            "kind": "user",
            "id": command,
            "chunk": unit.context,
            "steps": [step.key for step in unit.steps],
            "show": _shown_to_person(machine, scope, unit),
            "schema": answer_schema(machine, scope, unit),
        }
    step = unit.steps[0]
    name = step.engine.activity or step.key
    called: ActivityCommand = {
        "kind": "activity",
        "id": command,
        "step": step.key,
        "activity": name,
        "process": None,
        "called": name,
        "input": _input(machine, scope, unit, step),
        "schema": unit.schema,
    }
    given = step.engine.arguments  # a single path that does not lead to the activity's own prefilled input is not labelled
    unlabelled = isinstance(given, Read) and bare_instruction(given.first) != bare_instruction(name)
    if unlabelled and machine.program.options.get("labels") and isinstance(called["input"], dict | list):
        called["whole"] = True
    return called


def _model_command(machine: Machine, command: str, scope: str, unit: PlanUnit, entry: Entry) -> ModelCommand:
    if machine.program.open and scope == ROOT and unit.index == 0:
        context = dict(machine.state["inputs"])
    else:
        context = context_of(machine, scope, unit, unit.references)
    return {
        "kind": "model",
        "id": command,
        "chunk": unit.context,
        "steps": [step.key for step in unit.steps] if not machine.program.whole else [],
        "schema": answer_schema(machine, scope, unit),
        "context": context,
        "previous": entry["previous"],
        "rejected": entry["rejected"],
        "complaints": entry["complaints"],
        "model": unit.model,
    }


def _shown_to_person(machine: Machine, scope: str, unit: PlanUnit) -> Json:
    """Return the values shown to a person: for several steps by key, without those requested now."""
    if len(unit.steps) == 1:
        return _input(machine, scope, unit, unit.steps[0])
    shown = {}
    for step in unit.steps:
        earlier = without_own(machine, scope, unit, step.engine.arguments)
        if step.engine.arguments is None:
            shown[step.key] = _input(machine, scope, unit, step)
        elif earlier is not None:
            shown[step.key] = evaluate(machine, scope, earlier)
    return shown


def answer_schema(machine: Machine, scope: str, unit: PlanUnit) -> Json:
    """Return the schema of an executor's answer, with the choices known so far."""
    schema = unit.schema
    alone = unit.kind == "user" and len(unit.steps) == 1
    for step, among in unit.among:
        choose = partial(_choosing, step, among.choices, _choices(resolve(machine, scope, among.choices)))
        choose({})  # the list is wrong wherever the place is
        schema = replace_property(schema, among.place if alone else (step.key, *among.place), choose)
    for step, arguments in unit.people:
        place, with_people = () if alone else (step.key,), partial(_with_people, machine, scope, arguments.members)
        schema = replace_property(schema, place, partial(map_schemas, change=with_people))
    return schema


def _choices(listed: Json) -> dict[Json, None]:
    """Return the values of a list that can be chosen, in order."""
    usable = (item for item in listing(listed) if isinstance(item, str | int | float) and not isinstance(item, bool))
    return dict.fromkeys(usable)


def _choosing(step: Step, read: Read, choices: dict[Json, None], node: JsonObject) -> JsonObject:
    """Return the schema of a value that is chosen from a list: of its own `enum`, what the list has."""
    allowed = _choices(node["enum"]) if "enum" in node else choices
    if not (enum := [choice for choice in choices if choice in allowed]):
        reason = f"`{read.text}` is not a list of texts or numbers, is empty, or has nothing that the step's schema allows"
        give_up("failed", f"there is nothing to choose from: {reason}", step.key, "no-choice")
    return {**node, "enum": enum}


def _with_people(machine: Machine, scope: str, arguments: Mapping[str, Value], rule: Json) -> Json:
    """Return the approval rule of a step with the people of the argument that it names; no other value decides who approves.

    `starter` in `x-not` is who started the run, whatever an argument is called.
    """
    if not isinstance(rule, dict):
        return rule
    given = [(word, rule.get(word)) for word in ("x-approvers", "x-not") if (word, rule.get(word)) != ("x-not", "starter")]
    named = {word: arguments[name] for word, name in given if isinstance(name, str) and name in arguments}
    return {**rule, **{word: evaluate(machine, scope, value) for word, value in named.items()}} if named else rule
