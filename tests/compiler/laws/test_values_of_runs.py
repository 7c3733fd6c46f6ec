"""What a run gives is what its program says: an evaluator of the source, written apart from the compiler, comes to the same.

Every answer is made of the name of the call and of what the call was given, so a value that is handed on wrongly,
a branch that is not taken or a round too many changes what comes out.
"""

from __future__ import annotations

import re
from typing import Any

from blocks_at_random import planning, whole
from bodies import Body, settled, write
from evaluator import ARGUMENTS, Evaluator, FailedError, answer, comparable, needed
from hunting import examples
from hypothesis import assume, event, given
from hypothesis import strategies as st
from meaning import compiled

from instrc.runtime.interpreter import versions  # the pure interpreter, without an engine
from instrc.runtime.plan import plan_of
from instrc.text.jsontext import dumps
from instrc.vibes.registry import Registry

QUICK = examples(150)
TASK = re.compile(r"(.*)\[(t\w+)(?:\[\d+\])?\]")
"""The id of the command of a task, or of a copy of it: that of the step and that of the task."""


class Player:
    """Carries a process out from its JSON, with the same answers."""

    def __init__(self, document: Any, broken: frozenset[str]) -> None:
        self.document, self.broken = document, broken
        self.effects: set[str] = set()
        self.needed: dict[str, set[str]] = {}
        """What each task of a plan waits for."""

    def play(self, inputs: Any, data: st.DataObject) -> Any:
        """Return the outcome; what is open is answered in any order."""
        plan = plan_of(self.document)
        state = versions.begin(plan, inputs)
        waiting: list[Any] = []
        while True:
            issued = versions.issue(plan, state)
            waiting += issued
            for command in issued:
                self.assert_nothing_left_before(command, waiting)
            if (outcome := versions.outcome(plan, state)) is not None:
                return outcome
            soon = [number for number, each in enumerate(waiting) if not each["id"].endswith("!within")]  # nothing is late
            command = waiting.pop(data.draw(st.sampled_from(soon)))
            gone = set(versions.apply(plan, state, command["id"], self.answered(command)))
            waiting = [each for each in waiting if each["id"] not in gone]

    def assert_nothing_left_before(self, command: Any, waiting: list[Any]) -> None:
        """Assert that a task of a plan begins when no copy of what it waits for is open."""
        if task := TASK.fullmatch(command["id"]):
            run, id_ = task.groups()
            left = {other[2] for each in waiting if (other := TASK.fullmatch(each["id"])) and other[1] == run}
            assert not left & self.needed[id_]

    def answered(self, command: Any) -> Any:
        if command["kind"] == "timer":
            return {"ok": None}
        if command["kind"] == "activity":
            return self.effect(command["activity"], command["input"])
        steps = self.document["$defs"][defined(command["chunk"])]["properties"]
        found: dict[str, Any] = {}
        for key in command["steps"]:
            step = steps[key]
            if command["kind"] == "model":
                read = filled(step["arguments"], found, lambda path: member(command["context"], path))
            else:
                shown = command["show"] if len(command["steps"]) == 1 else command["show"].get(key)
                left = iter(shown if len(outside(step["arguments"], steps)) > 1 else [shown])
                read = filled(step["arguments"], found, lambda _, left=left: next(left))
            tools = step["properties"].get("plan", {}).get("plan", {}).get("tools", ())
            found[key] = answer("confirm_User" if command["kind"] == "user" else named(key), read, tuple(tools))
            self.needed |= {task["id"]: needed(task) for task in found[key].get("plan", ())}
            if "among" in step["properties"].get("id", {}):
                asked = command["schema"]["properties"]
                found[key] = {"id": asked.get(key, {"properties": asked})["properties"]["id"]["enum"][0]}
        return {"ok": found[key] if command["kind"] == "user" and len(found) == 1 else found}

    def effect(self, name: str, read: Any) -> Any:
        if name in self.broken:
            return {"error": {"kind": "failed", "code": None, "message": "it is broken"}}
        self.effects.add(dumps([name, comparable(read)], indent=False))
        return {"ok": answer("find_user output" if name == "find_user" else name, read)}


def defined(context: str) -> str:
    """Return the definition of a context: `LLM_1` of `llmContext1`."""
    kind, _, number = context.partition("Context")
    return f"{kind.upper()}_{number}"


def named(key: str) -> str:
    """Return the name of a call by the key of its step."""
    return re.sub(r"^step\d+_|_\d+$", "", key)


def filled(arguments: Any, found: dict[str, Any], otherwise: Any) -> Any:
    """Return what the arguments of a step stand for: the steps of its chunk are `found`."""
    if isinstance(arguments, list):
        return [filled(each, found, otherwise) for each in arguments]
    return member(found, arguments) if arguments.partition(".")[0] in found else otherwise(arguments)


def outside(arguments: Any, steps: Any) -> list[str]:
    """Return the paths among some arguments that do not lead to steps of the same chunk."""
    return [each for each in (arguments if isinstance(arguments, list) else [arguments]) if each.partition(".")[0] not in steps]


def member(value: Any, path: str) -> Any:
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value


@QUICK
@given(
    body=st.one_of(whole(races=False), planning()),
    request=st.sampled_from([["x", "y"], "a", "other", [], None]),
    broken=st.frozensets(st.sampled_from([*ARGUMENTS, "find_user"]), max_size=1),
    data=st.data(),
)
def test_a_run_gives_what_its_program_says(
    body: Body, request: Any, broken: frozenset[str], data: st.DataObject, known: Registry
) -> None:
    body = settled(body)
    made = compiled(write(body, top=True), known)
    assume(made != {"same-effect"})  # two lines that would do the same
    assert not isinstance(made, set), made
    if "process" not in made[0].documents:
        return
    player, evaluator = Player(made[0].documents["process"], broken), Evaluator(broken)
    outcome = player.play({"prompt": request}, data)
    event(outcome["status"])
    event("plans" if "RunPlan_Activity" in dumps(made[0].documents["process"]) else "no plans")
    try:
        value, _ = evaluator.body(body, {"prompt": request})
    except FailedError:
        assert outcome["status"] == "failed"
        return
    assert outcome["status"] == "done", outcome
    assert comparable(outcome["value"]) == comparable(value)
    if not evaluator.failures:
        assert player.effects == evaluator.effects
