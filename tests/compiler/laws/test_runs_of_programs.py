"""What is compiled runs: the record of any simulated run validates, and each path leads somewhere or is null by a rule."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from blocks_at_random import whole
from bodies import Body, settled, write
from hunting import examples
from hypothesis import assume, event, given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from meaning import compiled

from instrc.process.process import Process
from instrc.runtime.interpreter import versions  # the pure interpreter, without an engine
from instrc.runtime.interpreter.v1 import values  # replaced or watched here
from instrc.runtime.plan import plan_of
from instrc.vibes.registry import Registry

QUICK = examples(120)
BLOCKS = ("when", "each", "repeat", "try", "race", "do")


def filled(schema: Any, choose: Callable[[int], int]) -> Any:
    """Return a value with every property, and no null where there is anything else; a plan has up to two tasks."""
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    if "anyOf" in schema:
        return filled(schema["anyOf"][0], choose)
    kind = schema.get("type", "object")
    kind = next(each for each in kind if each != "null") if isinstance(kind, list) else kind
    if kind == "array" and "tool" in (tasks := schema.get("items", {}).get("anyOf", [{}]))[0].get("properties", {}):
        return [_task(tasks[choose(len(tasks))]["properties"], f"t{number}", choose) for number in range(choose(3))]
    if kind == "object":
        return {name: filled(each, choose) for name, each in schema.get("properties", {}).items()}
    return {"string": "x", "integer": 1, "number": 1, "boolean": True, "array": ["x", "y"]}[kind]


def _task(parts: Any, name: str, choose: Callable[[int], int]) -> Any:
    """Return a task; the second one may wait for the first."""
    after = ["t0"] if name == "t1" and choose(2) else []
    arguments = filled(parts["arguments"], choose)
    return {"tool": parts["tool"]["const"], "id": name, "arguments": arguments, "after": after}


def play(
    document: Any,
    inputs: Any,
    choose: Callable[[int], int],
    broken: frozenset[str],
    watch: Callable[[Any], None] = lambda _: None,
) -> tuple[Any, Any]:
    """Carry a process out, the activities in `broken` failing; return its outcome and its record, and show each command."""
    plan = plan_of(document)
    state = versions.begin(plan, inputs)
    waiting: list[Any] = []
    while True:
        waiting += versions.issue(plan, state)
        if (outcome := versions.outcome(plan, state)) is not None:
            return outcome, versions.record(plan, state)
        assert waiting, "nothing is open, and the run has not ended"
        command = waiting.pop(choose(len(waiting)))
        watch(command)
        if command["kind"] == "activity" and command["activity"] in broken:
            answer = {"error": {"kind": "failed", "code": None, "message": "it is broken"}}
        else:
            answer = {"ok": filled(command.get("schema") or {}, choose)}
        gone = set(versions.apply(plan, state, command["id"], answer))
        waiting = [each for each in waiting if each["id"] not in gone]


def nothing_by_rule(document: Any) -> set[str]:
    """Return the names that may stand for null.

    These are a `when` without an `else`, elements that an `each` does not wait for,
    what gives such a value, `previous` in the first round, and what a person is asked
    for in the same form.
    """
    found = {"previous"}
    for name, definition in document["$defs"].items():
        if name.startswith("USER"):
            steps = definition["properties"]
            found |= {_head(path) for step in steps.values() for path in step["references"]} & steps.keys()
    engines = [node for definition in document["$defs"].values() for node in _engines(definition)]
    while True:
        more = {
            engine["key"] for kind, engine, empty in engines if "key" in engine and (empty or _reads(engine["values"], found))
        }
        more |= {engine["item"] for _, engine, _ in engines if "item" in engine and _head(engine.get("in")) in found}
        if more <= found:
            return found
        found |= more


def _engines(definition: Any) -> Iterator[tuple[str, Any, bool]]:
    """Yield the engine property of a block, the values of its branches beside it, and whether it may give nothing."""
    for kind in BLOCKS:
        if kind not in definition:
            continue
        branches = [each for each in definition.get("anyOf", []) if kind in each]
        empty = (kind == "when" and {"type": "null"} in definition["anyOf"]) or (kind == "each" and "until" in definition[kind])
        given_ = [definition[kind].get("value"), *(each[kind].get("value") for each in branches)]
        yield kind, {**definition[kind], "values": given_}, empty


def _reads(given_: list[Any], names: set[str]) -> bool:
    return any(_head(each) in names for each in given_)


def _head(path: Any) -> str | None:
    return path.partition(".")[0].strip('"') if isinstance(path, str) else None  # what rounds hand over is quoted


@QUICK
@given(
    body=whole(),
    request=st.sampled_from([["x", "y"], "a", "other", [], None]),
    broken=st.frozensets(st.sampled_from(["log_Activity", "fetch_Activity"])),
    data=st.data(),
)
def test_the_record_of_any_run_validates_and_every_path_leads_somewhere(
    body: Body, request: Any, broken: frozenset[str], data: st.DataObject, known: Registry
) -> None:
    text = write(settled(body), top=True)
    made = compiled(text, known)
    assume(made != {"same-effect"})  # two lines that would do the same
    assert not isinstance(made, set), made
    if "process" not in made[0].documents:
        return
    document = made[0].documents["process"]
    read: list[tuple[str, Any]] = []
    resolve = values.resolve

    def watched(machine: Any, scope: str, path: Any, **options: Any) -> Any:
        value = resolve(machine, scope, path, **options)
        read.append((path.text, value))
        return value

    with pytest.MonkeyPatch.context() as patched:
        for module in (values, *_users(resolve)):
            patched.setattr(module, "resolve", watched)
        outcome, record = play(document, {"prompt": request}, lambda count: data.draw(st.integers(0, count - 1)), broken)
    event(outcome["status"])
    if outcome["status"] == "done":
        Draft202012Validator(document).validate(record)
    else:
        assert request in ("a", "other") or broken or any(word in text for word in ("within", "OneOf", "Fail")), outcome
    empty = nothing_by_rule(document) | ({"prompt"} if request is None else set())
    for path, value in read:
        assert value is not None or _head(path) in empty, path
    assert Process.from_json(document).to_json() == document


def _users(function: Any) -> list[Any]:
    """Return the modules of the interpreter that have taken a function by its name."""
    import sys

    inside = [module for name, module in sys.modules.items() if name.startswith("instrc.runtime.interpreter.v1.")]
    return [module for module in inside if getattr(module, "resolve", None) is function and module is not values]
