"""The tool-calling agent does what smolagents does with one scripted model and the same tools; where ours differs is stated."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

import instrc
from instrc.sandbox.tools import smolagents_tool

smolagents = pytest.importorskip("smolagents")

FOLDER = Path(__file__).parents[2] / "examples" / "agents" / "tool-calling-agent"
_spec = spec_from_file_location("tool_calling_agent", FOLDER / "agent.py")
assert _spec is not None
assert _spec.loader is not None
agent = module_from_spec(_spec)
sys.modules[_spec.name] = agent
_spec.loader.exec_module(agent)

SCHEMAS = {name: json.loads((FOLDER / "schemas" / f"{name}.vibe.json").read_text(encoding="utf-8")) for name in agent.TOOLS}


@dataclass(frozen=True)
class Call:
    tool: str
    arguments: dict[str, Any]


def weather(city: str, **more: str) -> Call:
    return Call("weather_Activity", {"city": city, **more})


def multiply(a: Any, b: Any) -> Call:
    return Call("multiply_Activity", {"a": a, "b": b})


def answer(value: Any) -> Call:
    return Call("final_answer", {"answer": value})


Round = list[Call] | str
"""The calls of one answer of the model, or a text that is none."""


@dataclass
class Played:
    answer: Any = None
    calls: list[tuple[str, str]] = field(default_factory=list)
    """What was really called; in order of their text, because a round's calls run at the same time."""
    observed: list[list[str]] = field(default_factory=list)
    """A list a round."""
    asked: int = 0


def logged(log: list[tuple[str, str]], name: str, tool: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def call(given: Any) -> Any:
        log.append((name, json.dumps(given, sort_keys=True)))
        return tool(given)

    return call


def theirs(script: list[Round], last: Any = None, max_steps: int = 20) -> Played:
    """Play a script in smolagents."""
    played = Played()

    class Model(smolagents.Model):  # type: ignore[misc]
        def generate(self, _messages: Any, **how: Any) -> Any:
            at, played.asked = played.asked, played.asked + 1
            if not how.get("tools_to_call_from"):
                return smolagents.ChatMessage(role="assistant", content=str(last))
            now = script[min(at, len(script) - 1)]
            if isinstance(now, str):
                return smolagents.ChatMessage(role="assistant", content=now)
            calls = [
                smolagents.models.ChatMessageToolCall(
                    id=f"call_{index}",
                    type="function",
                    function=smolagents.models.ChatMessageToolCallFunction(name=call.tool, arguments=call.arguments),
                )
                for index, call in enumerate(now)
            ]
            return smolagents.ChatMessage(role="assistant", content="", tool_calls=calls)

    tools = [
        smolagents_tool(arguments_of(name), logged(played.calls, name, tool), name=name) for name, tool in agent.TOOLS.items()
    ]
    run = smolagents.ToolCallingAgent(tools=tools, model=Model(), max_steps=max_steps, verbosity_level=0)
    played.answer = run.run("q")
    for step in run.memory.steps:
        if isinstance(step, smolagents.ActionStep) and not step.is_final_answer and step.observations is not None:
            played.observed.append(step.observations.splitlines())
    played.calls.sort()
    return played


def arguments_of(name: str) -> dict[str, Any]:
    schema = SCHEMAS[name]
    return {
        **schema,
        "properties": {key: value for key, value in schema["properties"].items() if key != "output"},
        "required": [key for key in schema["required"] if key != "output"],
    }


def ours(script: list[Round], last: Any = None) -> Played:
    """Play a script on our runtime."""
    played = Played()
    model = instrc.Scripted({"act": [acted(each) for each in script], "provide_final_answer": {"answer": last}})

    tools = {name: logged(played.calls, name, tool) for name, tool in agent.TOOLS.items()}
    run = instrc.run(FOLDER / "tool-calling-agent.aug", "q", model=model, activities=tools)
    assert run.status == "done", run.outcome
    played.answer = run.value["answer"]
    played.asked = len(model.sent)
    for each in run.record["repeatContext1"]:
        seen = each["serverContext1"]["step2_run_plan"]
        if seen:
            played.observed.append([str(task["output"] if task["status"] == "ok" else task["error"]["message"]) for task in seen])
    played.calls.sort()
    return played


def acted(now: Round) -> Any:
    if isinstance(now, str):
        return now
    plan = [
        {"tool": call.tool, "id": f"call_{index}", "arguments": call.arguments}
        for index, call in enumerate(now)
        if call.tool != "final_answer"
    ]
    final = next((call.arguments["answer"] for call in now if call.tool == "final_answer"), None)
    return {"_thought": "", "plan": plan, "answer": final}


EQUAL: dict[str, list[Round]] = {
    "an answer at once": [[answer("hello")]],
    "an answer that is a number": [[answer(42)]],
    "an answer that is an object": [[answer({"a": [1, True, None]})]],
    "one call": [[weather("Paris")], [answer("18 C")]],
    "an optional argument": [[weather("Oslo", unit="fahrenheit")], [answer("cool")]],
    "two calls in parallel": [[weather("Paris"), weather("Oslo")], [answer("Paris")]],
    "two tools in parallel": [[multiply(6, 7), weather("Oslo")], [answer(42)]],
    "the same call twice in a round": [[weather("Oslo"), weather("Oslo")], [answer("4 C")]],
    "ten calls in parallel": [[multiply(index, index) for index in range(10)], [answer(81)]],
    "five rounds": [*([multiply(index, 2)] for index in range(5)), [answer(8)]],
    "large numbers": [[multiply(10**20, -3)], [answer("large")]],
}


@pytest.mark.parametrize("script", EQUAL.values(), ids=EQUAL)
def test_it_answers_calls_and_observes_what_smolagents_does(script: list[Round]) -> None:
    assert ours(script) == theirs(script)


FAULTY: dict[str, list[Round]] = {
    "a text that is no call": ["no call at all", [answer("x")]],
    "an unknown tool": [[Call("fly", {})], [answer("x")]],
    "a missing argument": [[Call("multiply_Activity", {"a": 1})], [answer("x")]],
    "a text for an integer": [[multiply("six", 7)], [answer("x")]],
    "a boolean for an integer": [[Call("multiply_Activity", {"a": True, "b": 7})], [answer("x")]],
    "a mistake, then the call": [[multiply("six", 7)], [multiply(6, 7)], [answer(42)]],
}


@pytest.mark.parametrize("script", FAULTY.values(), ids=FAULTY)
def test_a_faulty_answer_calls_nothing_and_the_model_is_asked_again(script: list[Round]) -> None:
    assert ours(script) == theirs(script)


def test_a_failing_call_is_observed_and_the_run_goes_on() -> None:
    script: list[Round] = [[weather("Rome")], [weather("Oslo")], [answer("4 C")]]
    we, they = ours(script), theirs(script)
    assert (we.answer, we.calls, we.asked) == (they.answer, they.calls, they.asked)
    assert "no such city: Rome" in we.observed[0][0]


def test_a_failing_call_of_a_parallel_group_leaves_the_results_of_the_others() -> None:
    script: list[Round] = [[weather("Oslo"), weather("Rome"), weather("Paris")], [answer("x")]]
    we, they = ours(script), theirs(script)
    assert they.observed == []
    assert we.calls == they.calls
    assert (we.observed[0][0], we.observed[0][2]) == ("4 C", "18 C")


def test_an_answer_beside_a_call_ends_the_run_and_both_are_recorded() -> None:
    script: list[Round] = [[weather("Oslo"), answer("now")], [answer("later")]]
    we, they = ours(script), theirs(script)
    assert (they.answer, they.observed) == ("later", [])
    assert (we.answer, we.observed) == ("now", [["4 C"]])
    assert we.calls == they.calls


def test_results_of_ten_parallel_calls_stand_in_the_order_of_the_calls() -> None:
    script: list[Round] = [[multiply(1, index) for index in range(10)], [answer("x")]]
    assert ours(script).observed == [[str(index) for index in range(10)]]


def test_a_value_that_is_not_among_those_of_an_enum_is_refused() -> None:
    script: list[Round] = [[weather("Oslo", unit="kelvin")], [answer("x")]]
    assert theirs(script).calls
    assert not ours(script).calls


def test_after_twenty_rounds_in_vain_one_more_call_answers() -> None:
    script: list[Round] = [[multiply(2, 3)]]
    assert ours(script, last="enough") == theirs(script, last="enough")
    assert ours(script, last="enough").asked == 21
