"""What a run gives is what its program says: an evaluator of the source, written apart from the compiler, comes to the same.

Every answer is made of the name of the call and of what the call was given, so a value that is handed on wrongly,
a branch that is not taken or a round too many changes what comes out.
"""

from __future__ import annotations

import re
from hashlib import sha256
from typing import Any

from blocks_at_random import Block, Body, Call, Expression, bodies, settled, write
from hunting import examples
from hypothesis import event, given
from hypothesis import strategies as st
from meaning import compiled

from instrc.jsontext import dumps
from instrc.runtime.interpreter import versions
from instrc.runtime.plan import plan_of
from instrc.vibes.registry import Registry

QUICK = examples(150)
MEMBERS = {
    "ma": "a",
    "mb": "b",
    "mc": "c",
    "fetch": "who",
    "fetch_Activity": "slots",
    "log_Activity": "id",
    "confirm_User": "decision",
}
"""The only member of what each call gives."""


class FailedError(Exception):
    """The run, or the body of a `try`, has failed."""


def answer(name: str, given_: Any) -> Any:
    """Return what a call gives for what it is given."""
    said = sha256(dumps([name, comparable(given_)], indent=False).encode()).hexdigest()[:12]
    if name == "get_Activity":
        return {"$cost": 1}
    if name == "find_user":
        return {"query": said}
    if name == "find_user output":
        return said
    return {MEMBERS[name]: said}


def comparable(value: Any) -> Any:
    """Return a value in which rounds do not show the keys of their steps, nor errors their texts."""
    if isinstance(value, list):
        return [comparable(each) for each in value]
    if not isinstance(value, dict):
        return value
    if set(value) == {"step", "kind", "code", "message"}:
        return "an error"
    if value and all(re.match(r"step\d+_", key) for key in value):
        given_ = [each["output"] if isinstance(each, dict) and "output" in each else each for each in value.values()]
        return sorted({dumps(comparable(each), indent=False) for each in given_})
    return {key: comparable(each) for key, each in value.items()}


class Evaluator:
    """Carries out a program as it is written: names are places for values, and statements come one after the other."""

    def __init__(self, broken: frozenset[str]) -> None:
        self.broken = broken
        self.effects: set[str] = set()
        self.failures = 0

    def body(self, body: Body, names: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """Return the value of a body, and what its own names stand for."""
        names, own = dict(names), {}
        for name, expression in body.statements:
            names[name] = own[name] = self.value(expression, names)
        return self.value(body.value, names), own

    def value(self, expression: Expression, names: dict[str, Any]) -> Any:
        match expression:
            case str():
                return self.read(expression, names)
            case Call(name, arguments, _):
                read = [self.read(each, names) for each in arguments]
                return self.call(name, read[0] if len(read) == 1 else read)
            case Block():
                return self.block(expression, names)
        raise TypeError(expression)

    def read(self, path: str, names: dict[str, Any]) -> Any:
        head, _, member = path.partition(".")
        value = names[head]
        if not member or member == "output":
            return value
        return value.get(member) if isinstance(value, dict) else None

    def call(self, name: str, given_: Any) -> Any:
        match name:
            case "FindUser":
                return self.effect("find_user", answer("find_user", given_))
            case "Fetch_Activity":
                return self.effect("fetch_Activity", answer("fetch", given_))
            case "Log_Activity":
                return self.effect("log_Activity", given_)
            case "Get_Activity":
                self.effect("get_Activity", given_)
                return {}
            case "Confirm_User":
                return answer("confirm_User", given_)
            case _:
                return answer(name.lower(), given_)

    def effect(self, name: str, given_: Any) -> Any:
        if name in self.broken:
            self.failures += 1
            raise FailedError
        self.effects.add(dumps([name, comparable(given_)], indent=False))
        return answer("find_user output" if name == "find_user" else name, given_)

    def block(self, block: Block, names: dict[str, Any]) -> Any:
        first, *others = block.bodies
        match block.opening.split():
            case ["when", *_]:
                chosen = [first] if names["prompt"] == "a" else others
                return self.body(chosen[0], names)[0] if chosen else None
            case ["each", name, "in", "2"]:
                return [self.body(first, {**names, name: each})[0] for each in (1, 2)]
            case ["each", name, "in", _]:
                return [self.body(first, {**names, name: each})[0] for each in self.listed(names["prompt"])]
            case ["repeat", name, "in", _]:
                return self.rounds(first, [{**names, name: each} for each in self.listed(names["prompt"])])
            case ["repeat"]:
                return self.rounds(first, [names, names])[-1]
            case ["try"]:
                try:
                    return self.body(first, names)[0]
                except FailedError:
                    error = {"step": None, "kind": "failed", "code": None, "message": ""}
                    return self.body(others[0], {**names, "error": error})[0]
            case _:
                return self.body(first, names)[0]

    def rounds(self, body: Body, each_with: list[dict[str, Any]]) -> list[Any]:
        made: list[Any] = []
        rounds: list[Any] = []
        for number, names in enumerate(each_with, 1):
            about = {"round": number, "previous": rounds[-1] if rounds else None, "rounds": list(rounds)}
            value, own = self.body(body, {**names, **about})
            made.append(value)
            rounds.append({f"step0_{name}": each for name, each in own.items()})
        return made

    def listed(self, value: Any) -> list[Any]:
        if value is None:
            return []
        if not isinstance(value, list):
            self.failures += 1
            raise FailedError
        return value


class Player:
    """Carries a process out from its JSON, with the same answers."""

    def __init__(self, document: Any, broken: frozenset[str]) -> None:
        self.document, self.broken = document, broken
        self.effects: set[str] = set()

    def play(self, inputs: Any, data: st.DataObject) -> Any:
        """Return the outcome; what is open is answered in any order."""
        plan = plan_of(self.document)
        state = versions.begin(plan, inputs)
        waiting: list[Any] = []
        while True:
            waiting += versions.issue(plan, state)
            if (outcome := versions.outcome(plan, state)) is not None:
                return outcome
            command = waiting.pop(data.draw(st.integers(0, len(waiting) - 1)))
            gone = set(versions.apply(plan, state, command["id"], self.answered(command)))
            waiting = [each for each in waiting if each["id"] not in gone]

    def answered(self, command: Any) -> Any:
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
            found[key] = answer("confirm_User" if command["kind"] == "user" else named(key), read)
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
    body=bodies(rounds=True),
    request=st.sampled_from([["x", "y"], "a", "other", [], None]),
    broken=st.frozensets(st.sampled_from(["log_Activity", "fetch_Activity", "find_user"]), max_size=1),
    data=st.data(),
)
def test_a_run_gives_what_its_program_says(
    body: Body, request: Any, broken: frozenset[str], data: st.DataObject, known: Registry
) -> None:
    body = settled(body)
    made = compiled(write(body, top=True), known)
    assert not isinstance(made, set), made
    if "process" not in made[0].documents:
        return
    player, evaluator = Player(made[0].documents["process"], broken), Evaluator(broken)
    outcome = player.play({"prompt": request}, data)
    event(outcome["status"])
    try:
        value, _ = evaluator.body(body, {"prompt": request})
    except FailedError:
        assert outcome["status"] == "failed"
        return
    assert outcome["status"] == "done", outcome
    assert comparable(outcome["value"]) == comparable(value)
    if not evaluator.failures:
        assert player.effects == evaluator.effects
