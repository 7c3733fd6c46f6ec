"""An evaluator of programs as they are written, apart from the compiler: it says what a run must give.

Every answer is made of the name of the call and of what the call was given.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any

from bodies import Block, Body, Call, Expression

from instrc.text.jsontext import dumps

MEMBERS = {
    "ma": "a",
    "mb": "b",
    "mc": "c",
    "fetch": "who",
    "fetch_Activity": "slots",
    "log_Activity": "id",
    "confirm_User": "decision",
    "choose": "id",
    "use_Activity": "done",
}
"""The only member of what each call gives."""
ARGUMENTS = {
    "fetch_Activity": ("who",),
    "log_Activity": (),
    "get_Activity": ("key",),
    "list_Activity": ("about",),
    "use_Activity": ("more",),
}
"""What the model gives to each tool of a plan."""
LISTED = "names"
"""The member of what `list_Activity` gives: a list, of which each element makes a copy of a task."""


CONDITIONS: dict[str, Callable[[Any, Any], bool]] = {
    'is "a"': lambda value, _: value == "a",
    '@ { type: "string" }': lambda value, _: isinstance(value, str),
    'is not "a"': lambda value, _: value not in (None, "a"),
    "is null": lambda value, _: value is None,
    "is not null": lambda value, _: value is not None,
    "is prompt": lambda value, prompt: None is not value == prompt,
    "is not prompt": lambda value, prompt: None not in (value, prompt) and value != prompt,
    '@ { type: "string" } and prompt is not "a"': lambda value, prompt: isinstance(value, str) and prompt not in (None, "a"),
    'is "a" or prompt is "other" and prompt is not null': lambda value, prompt: value == "a" or prompt == "other",
}
"""Conditions behind a path, and whether they hold for its value; the second is the request."""
CONDITIONS_OF_ROUNDS: dict[str, Callable[[Any, Any], bool]] = {
    ">= 2": lambda value, _: value >= 2,
    "< 2": lambda value, _: value < 2,
    "is not 1": lambda value, _: value != 1,
    '> 1 or prompt is "a"': lambda value, prompt: value > 1 or prompt == "a",
}


class FailedError(Exception):
    """The run, or the body of a `try`, has failed."""


def answer(name: str, given_: Any, tools: Sequence[str] = ()) -> Any:
    """Return what a call gives for what it is given; a model that plans may use `tools`."""
    said = sha256(dumps([name, comparable(given_)], indent=False).encode()).hexdigest()[:12]
    if name == "get_Activity":
        return {"$cost": 1}
    if name == "find_user":
        return {"query": said}
    if name == "find_user output":
        return said
    if name in {"ml", "list_Activity"}:
        return {"names": [f"{said}{number}" for number in range(int(said[0], 16) % 4)]}
    if name == "act":
        return {"answer": said, "plan": plan(said, sorted(tools))}
    return {MEMBERS[name]: said}


def plan(said: str, tools: Sequence[str]) -> list[Any]:
    """Return a plan of up to five tasks that read each other; some are written before those that they read.

    Ids name the plan, so that a task tells what it waits for.
    """
    digits = [int(digit, 16) for digit in said]
    tasks: list[Any] = []
    for number, digit in enumerate(digits[: digits[-1] % 6]):
        tool = tools[digit % len(tools)]
        task: Any = {"tool": tool, "id": f"t{number}_{said}", "arguments": dict.fromkeys(ARGUMENTS[tool], f"x{number}")}
        if tasks:
            other = tasks[digits[number + 4] % number]
            member, kind = (LISTED, "each") if other["tool"] == "list_Activity" else (MEMBERS.get(other["tool"]), "from")
            copied = any("each" in value for value in other["arguments"].values() if isinstance(value, dict))
            if digit % 3 and member and not copied:
                task["arguments"] = {name: {kind: f"{other['id']}.{member}"} for name in ARGUMENTS[tool]}
            elif digit % 3:
                task["after"] = [other["id"]]
            if digit % 2:
                task["after"] = list(dict.fromkeys([*task.get("after", ()), tasks[-1]["id"]]))
        tasks.append(task)
    return tasks if digits[-2] % 2 else tasks[::-1]


def comparable(value: Any) -> Any:
    """Return a value in which rounds do not show the keys of their steps, nor errors their texts."""
    if isinstance(value, list):
        return [comparable(each) for each in value]
    if not isinstance(value, dict):
        return value
    if {"kind", "code", "message"} <= set(value) <= {"step", "kind", "code", "message"}:
        return "an error"
    if value and all(re.match(r"step\d+_", key) for key in value):
        given_ = [each["output"] if isinstance(each, dict) and "output" in each else each for each in value.values()]
        return sorted({dumps(comparable(each), indent=False) for each in given_})
    return {key: comparable(each) for key, each in value.items()}


def needed(task: Any) -> set[str]:
    """Return the tasks that a task waits for."""
    references = [value for value in task["arguments"].values() if isinstance(value, dict)]
    return {*task.get("after", ()), *(path.partition(".")[0] for each in references for path in each.values())}


class PlannedTasks(list[Any]):
    """A plan, with what the program gives to its tools."""

    def __init__(self, tasks: list[Any], bound: dict[str, list[Any]]) -> None:
        super().__init__(tasks)
        self.bound = bound


def _tool(call: str) -> str:
    return call[0].lower() + call[1:]


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
            case Call(name, arguments, tools):
                read = [self.read(each, names) for each in arguments]
                if tools:
                    bound = {_tool(each.name): [self.read(path, names) for path in each.arguments] for each in tools}
                    made = answer("act", read[0] if len(read) == 1 else read, tuple(bound))
                    return {**made, "plan": PlannedTasks(made["plan"], bound)}
                if name == "RunPlan_Activity":
                    return self.carried_out(read[0])
                if name in {"Inner", "Outer"}:
                    return self.program(name, *read)
                if name == "Fail" or (expression.among and not self.read(expression.among, names)):
                    self.failures += 1
                    raise FailedError
                made = self.call(name, read[0] if len(read) == 1 else read)
                return {"id": self.read(expression.among, names)[0]} if expression.among else made
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

    def program(self, name: str, prompt: Any, who: Any) -> Any:
        """Return what one of the called programs of `meaning` gives."""
        if name == "Inner":
            done = self.call("Ma", [prompt, who])
            try:
                return self.call("Log_Activity", done["a"])
            except FailedError:
                return self.call("Mc", [done, who])
        inner = self.program("Inner", who, prompt)
        return [self.call("Mb", [each, inner]) if prompt == "a" else self.call("Confirm_User", each) for each in (1, 2)]

    def effect(self, name: str, given_: Any, *, fatal: bool = True) -> Any:
        """Return what an activity gives; a task of a plan that fails ends nothing else."""
        if name in self.broken:
            self.failures += fatal
            raise FailedError
        self.effects.add(dumps([name, comparable(given_)], indent=False))
        return answer("find_user output" if name == "find_user" else name, given_)

    def carried_out(self, plan: PlannedTasks | None) -> list[Any]:
        """Return what the tasks of a plan give, in its order."""
        if plan is None:
            return []
        waiting, done = list(plan), dict[str, Any]()
        while waiting:
            task = next(each for each in waiting if needed(each) <= done.keys())
            waiting.remove(task)
            done[task["id"]] = self.task(task, done, plan.bound[task["tool"]])
        return [done[task["id"]] for task in plan]

    def task(self, task: Any, done: dict[str, Any], bound: list[Any]) -> Any:
        """Carry out one task, once for each element of a list that it is given."""
        entry = {"id": task["id"], "tool": task["tool"]}
        if any(done[other]["status"] != "ok" for other in needed(task)):
            return {**entry, "status": "skipped", "error": "an error"}
        given_, listed = dict.fromkeys(task["arguments"]), None
        for name, value in task["arguments"].items():
            given_[name] = value
            if isinstance(value, dict):
                [(kind, path)] = value.items()
                other, _, member = path.partition(".")
                given_[name] = done[other]["output"][member]
                listed = given_[name] if kind == "each" else listed
        more = {"given": bound[0]} if bound else {}
        copies = [given_] if listed is None else [dict.fromkeys(given_, element) for element in listed]
        made: list[Any] = []
        failed = False
        for copy in copies:
            try:
                made.append(self.effect(task["tool"], {**copy, **more}, fatal=False))
            except FailedError:
                made.append(None)
                failed = True
        if failed:
            return {**entry, "status": "failed", **({} if listed is None else {"output": made}), "error": "an error"}
        return {**entry, "status": "ok", "output": made[0] if listed is None else made}

    def block(self, block: Block, names: dict[str, Any]) -> Any:
        first, *others = block.bodies
        over = self.read(block.over, names)
        match block.opening.split():
            case ["when", *test]:
                condition = " ".join(test[1:]).replace("{{", "{").replace("}}", "}")
                holds = [(CONDITIONS | CONDITIONS_OF_ROUNDS)[condition](over, names["prompt"])]
                if " when " in block.between[0]:
                    holds.append(names["prompt"] == "other")
                chosen = next((body for body, held in itertools.zip_longest(block.bodies, holds, fillvalue=True) if held), None)
                return self.body(chosen, names)[0] if isinstance(chosen, Body) else None
            case ["each", name, "in", "2"]:
                return [self.body(first, {**names, name: each})[0] for each in (1, 2)]
            case ["each", name, "in", _]:
                return [self.body(first, {**names, name: each})[0] for each in self.listed(over)]
            case ["repeat", name, "in", _]:
                elements = self.listed(over)[: 2 if block.closing else None]
                return self.rounds(first, [{**names, name: each} for each in elements], before=self.before(block, names))[0]
            case ["repeat"]:
                return self.again(block, names)
            case ["try"]:
                try:
                    return self.body(first, names)[0]
                except FailedError:
                    error = {"step": None, "kind": "failed", "code": None, "message": ""}
                    return self.body(others[0], {**names, "error": error})[0]
            case _:
                return self.body(first, names)[0]

    def again(self, block: Block, names: dict[str, Any]) -> Any:
        """Return what a `repeat … until round is …` gives."""
        words = (block.closing or block.between[0]).split()
        counts = {word: int(words[words.index(word) + 1]) for word in ("is", "max", "keep") if word in words}
        most, keep = counts.get("max", 3), counts.get("keep")
        made, rounds = self.rounds(block.bodies[0], [names] * min(counts["is"], most), keep, self.before(block, names))
        if counts["is"] <= most or len(block.bodies) == 1:
            return made[-1]
        return self.body(block.bodies[1], {**names, "rounds": rounds[-keep:] if keep else rounds})[0]

    def before(self, block: Block, names: dict[str, Any]) -> Any:
        """Return what `previous` is in the first round of a block."""
        return {f"step0_{name}": self.read(path, names) for name, path in block.first} or None

    def rounds(
        self, body: Body, each_with: list[dict[str, Any]], keep: int | None = None, before: Any = None
    ) -> tuple[list[Any], list[Any]]:
        made: list[Any] = []
        rounds: list[Any] = []
        for number, names in enumerate(each_with, 1):
            about = {
                "round": number,
                "previous": rounds[-1] if rounds else before,
                "rounds": rounds[-keep:] if keep else list(rounds),
            }
            value, own = self.body(body, {**names, **about})
            made.append(value)
            rounds.append({f"step0_{name}": each for name, each in own.items()})
        return made, rounds

    def listed(self, value: Any) -> list[Any]:
        if value is None:
            return []
        if not isinstance(value, list):
            self.failures += 1
            raise FailedError
        return value
