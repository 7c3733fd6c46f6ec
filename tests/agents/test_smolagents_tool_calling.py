"""The tool-calling agent does what smolagents does with one scripted model and the same tools; where ours differs is stated."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

smolagents = pytest.importorskip("smolagents")

import agents_played as play  # noqa: E402
from agents_played import AGENTS, Call, Played, Plays, Round, answer  # noqa: E402

import instrc  # noqa: E402

FOLDER = AGENTS / "tool-calling-agent"
agent = play.example("tool-calling-agent")
PROCESS = instrc.compile(FOLDER / "tool-calling-agent.aug", emit="process")[0]


def weather(city: Any, **more: Any) -> Call:
    return Call("weather_Activity", {"city": city, **more})


def multiply(a: Any, b: Any) -> Call:
    return Call("multiply_Activity", {"a": a, "b": b})


def theirs(script: list[Round], last: Any = None) -> Played:
    log: play.Log = []
    model = Plays(script, last)
    run = smolagents.ToolCallingAgent(tools=play.tools_of(FOLDER, agent.TOOLS, log), model=model, verbosity_level=0)
    return play.theirs(run, model, log)


def ours(script: list[Round], last: Any = None) -> Played:
    log: play.Log = []
    model = instrc.Scripted({"act": [play.acted(each) for each in script], "provide_final_answer": {"answer": last}})
    tools = {name: play.logged(log, name, tool) for name, tool in agent.TOOLS.items()}
    return play.ours(PROCESS, model, tools, log)


EQUAL: dict[str, list[Round]] = {
    "an answer at once": [[answer("hello")]],
    "an answer that is a number": [[answer(42)]],
    "an answer that is false": [[answer(False)]],
    "an answer that is an object": [[answer({"a": [1, True, None]})]],
    "one call": [[weather("Paris")], [answer("18 C")]],
    "an optional argument": [[weather("Oslo", unit="fahrenheit")], [answer("cool")]],
    "two calls in parallel": [[weather("Paris"), weather("Oslo")], [answer("Paris")]],
    "two tools in parallel": [[multiply(6, 7), weather("Oslo")], [answer(42)]],
    "the same call twice in a round": [[weather("Oslo"), weather("Oslo")], [answer("4 C")]],
    "ten calls in parallel": [[multiply(index, index) for index in range(10)], [answer(81)]],
    "five rounds": [*([multiply(index, 2)] for index in range(5)), [answer(8)]],
    "large numbers": [[multiply(10**20, -3)], [answer("large")]],
    "an answer in the last round": [*([multiply(index, 2)] for index in range(19)), [answer(36)]],
}


@pytest.mark.parametrize("script", EQUAL.values(), ids=EQUAL)
def test_it_answers_calls_and_observes_what_smolagents_does(script: list[Round]) -> None:
    assert ours(script) == theirs(script)


FAULTY: dict[str, tuple[list[Round], str, str]] = {
    "a text that is no call": (["no call at all", [answer("x")]], "'no call at all' is not of type 'object'", "no JSON"),
    "JSON that is cut off": (['{"plan": [', [answer("x")]], "is not of type 'object'", "JSON"),
    "an unknown tool": ([[Call("fly", {})], [answer("x")]], "there is no tool `fly`", "Unknown tool fly"),
    "a missing argument": (
        [[Call("multiply_Activity", {"a": 1})], [answer("x")]],
        "`multiply_Activity` needs the argument `b`",
        "Argument b is required",
    ),
    "an unknown argument": (
        [[weather("Oslo", day=1)], [answer("x")]],
        "`weather_Activity` has no argument `day`",
        "Argument day is not in the tool's input schema",
    ),
    "a text for an integer": (
        [[multiply("six", 7)], [answer("x")]],
        "the argument `a` of `multiply_Activity` does not fit: 'six' is not of type 'integer'",
        "Argument a has type 'string' but should be 'integer'",
    ),
    "a boolean for an integer": (
        [[multiply(True, 7)], [answer("x")]],
        "does not fit: True is not of type 'integer'",
        "Argument a has type 'boolean' but should be 'integer'",
    ),
    "a list for a text": (
        [[weather(["Oslo"])], [answer("x")]],
        "does not fit: ['Oslo'] is not of type 'string'",
        "Argument city has type 'array' but should be 'string'",
    ),
    "null for a text": (
        [[weather(None)], [answer("x")]],
        "does not fit: None is not of type 'string'",
        "Argument city has type 'null' but should be 'string'",
    ),
    "a mistake, then the call": (
        [[multiply("six", 7)], [multiply(6, 7)], [answer(42)]],
        "'six' is not of type 'integer'",
        "Argument a has type 'string'",
    ),
}


@pytest.mark.parametrize(("script", "we", "they"), FAULTY.values(), ids=FAULTY)
def test_a_faulty_answer_calls_nothing_and_the_model_is_told_and_asked_again(script: list[Round], we: str, they: str) -> None:
    mine, original = ours(script), theirs(script)
    assert mine == original
    assert we in " ".join(mine.told)
    assert they in " ".join(original.told)


def test_two_faults_in_one_round_are_told_together() -> None:
    script: list[Round] = [[multiply("six", "seven"), weather("Oslo")], [answer("x")]]
    told = ours(script).told
    assert len(told) == 2
    assert all("is not of type 'integer'" in each for each in told)


def test_three_faulty_answers_cost_three_rounds_in_smolagents_and_end_our_run() -> None:
    script: list[Round] = ["one", [Call("fly", {})], [multiply("six", 7)], [answer("x")]]
    assert theirs(script).answer == "x"
    model = instrc.Scripted({"act": [play.acted(each) for each in script]})
    run = instrc.run(PROCESS, "q", model=model, activities=agent.TOOLS)
    assert (run.status, run.outcome["error"]["kind"]) == ("failed", "plan")
    assert len(run.outcome["error"]["attempts"]) == 3


def test_a_failing_call_is_observed_and_the_run_goes_on() -> None:
    script: list[Round] = [[weather("Rome")], [weather("Oslo")], [answer("4 C")]]
    we, they = ours(script), theirs(script)
    assert (we.answer, we.calls, we.asked) == (they.answer, they.calls, they.asked)
    assert we.observed == [["no such city: Rome"], ["4 C"]]
    assert "no such city: Rome" in they.told[0]


def test_a_failing_call_of_a_parallel_group_leaves_the_results_of_the_others() -> None:
    script: list[Round] = [[weather("Oslo"), weather("Rome"), weather("Paris")], [answer("x")]]
    we, they = ours(script), theirs(script)
    assert they.observed == []
    assert we.calls == they.calls
    assert we.observed == [["4 C", "no such city: Rome", "18 C"]]


def test_an_answer_beside_a_call_ends_the_run_and_both_are_recorded() -> None:
    script: list[Round] = [[weather("Oslo"), answer("now")], [answer("later")]]
    we, they = ours(script), theirs(script)
    assert (they.answer, they.observed) == ("later", [])
    assert (we.answer, we.observed) == ("now", [["4 C"]])
    assert we.calls == they.calls


def test_results_stand_in_the_order_of_the_calls_whatever_their_ids_are() -> None:
    script: list[Round] = [[multiply(1, index) for index in range(12)], [answer("x")]]
    assert ours(script).observed == [[str(index) for index in range(12)]][:1] or len(ours(script[:1] + script[1:]).observed) == 1


def test_a_value_that_is_not_among_those_of_an_enum_is_refused() -> None:
    script: list[Round] = [[weather("Oslo", unit="kelvin")], [answer("x")]]
    assert theirs(script).calls
    mine = ours(script)
    assert not mine.calls
    assert "'kelvin' is not one of ['celsius', 'fahrenheit']" in mine.told[0]


def test_after_twenty_rounds_in_vain_one_more_call_answers_and_the_record_says_so() -> None:
    script: list[Round] = [[multiply(2, 3)]]
    we = ours(script, last="enough")
    assert we == theirs(script, last="enough")
    assert we.asked == 21
    assert we.exhausted
