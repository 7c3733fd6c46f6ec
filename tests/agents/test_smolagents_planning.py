"""The planning agent plans when smolagents does, from what smolagents plans from, and does the same between the plans."""

from __future__ import annotations

import json
from typing import Any

import pytest

smolagents = pytest.importorskip("smolagents")

import agents_played as play  # noqa: E402
from agents_played import Call, Played, Plays, Round, answer  # noqa: E402
from example_agents import AGENTS, example  # noqa: E402

import instrc  # noqa: E402

FOLDER = AGENTS / "planning-agent"
agent = example("planning-agent")
PROCESS = instrc.compile(FOLDER / "planning-agent.aug", emit="process")[0]
PLANS = [f"plan {number}" for number in range(1, 8)]


def distance(start: Any, end: Any) -> Call:
    return Call("distance_Activity", {"start": start, "end": end})


def divide(a: Any, b: Any) -> Call:
    return Call("divide_Activity", {"a": a, "b": b})


LYON = distance("Paris", "Lyon")
TURIN = distance("Lyon", "Turin")


def theirs(script: list[Round], last: Any = None) -> tuple[Played, Plays]:
    log: play.Log = []
    model = Plays(script, last, PLANS)
    tools = play.tools_of(FOLDER, agent.TOOLS, log)
    run = smolagents.ToolCallingAgent(tools=tools, model=model, verbosity_level=0, planning_interval=3)
    return play.theirs(run, model, log), model


def ours(script: list[Round], last: Any = None) -> tuple[Played, instrc.Scripted]:
    log: play.Log = []
    plans = [{"facts": "", "steps": each} for each in PLANS]
    acts = [play.acted(each) for each in script]
    model = instrc.Scripted({"make_plan": plans, "act": acts, "provide_final_answer": {"answer": last}})
    tools = {name: play.logged(log, name, tool) for name, tool in agent.TOOLS.items()}
    return play.ours(PROCESS, model, {**agent.ACTIVITIES, **tools}, log), model


EQUAL: dict[str, list[Round]] = {
    "an answer at once": [[answer("hello")]],
    "one call": [[LYON], [answer("466")]],
    "an answer in the round before the second plan": [[LYON], [TURIN], [answer("779")]],
    "an answer in the round of the second plan": [[LYON], [TURIN], [divide(779, 90)], [answer("nine hours")]],
    "seven rounds, three plans": [*([divide(index, 2)] for index in range(6)), [answer("3")]],
    "parallel calls": [[LYON, TURIN, divide(1, 4)], [answer("x")]],
    "an integer for a number": [[divide(3, 2)], [answer("1.5")]],
    "a text that is no call": ["no call", [LYON], [answer("x")]],
    "an unknown tool": [[Call("fly", {})], [answer("x")]],
    "a text for a number": [[divide("one", 2)], [answer("x")]],
}


@pytest.mark.parametrize("script", EQUAL.values(), ids=EQUAL)
def test_it_plans_calls_observes_and_answers_what_smolagents_does(script: list[Round]) -> None:
    assert ours(script)[0] == theirs(script)[0]


def test_after_twenty_rounds_in_vain_it_has_planned_seven_times() -> None:
    script: list[Round] = [[divide(1, 2)]]
    we, _ = ours(script, last="enough")
    assert we == theirs(script, last="enough")[0]
    assert (len(we.plans), we.exhausted) == (7, True)


def test_a_failing_call_is_observed_and_the_plan_goes_on() -> None:
    script: list[Round] = [[distance("Paris", "Oslo")], [divide(1, 0)], [LYON], [answer("x")]]
    (we, _), (they, _) = ours(script), theirs(script)
    assert (we.answer, we.calls, we.plans, we.asked) == (they.answer, they.calls, they.plans, they.asked)
    assert we.observed == [["no road from Paris to Oslo"], ["division by zero"], ["466"]]


def test_a_later_plan_sees_the_calls_and_what_they_gave_but_no_earlier_plan() -> None:
    script: list[Round] = [[LYON], [TURIN], [divide(779, 90)], [answer("nine hours")]]
    (_, we), (_, they) = ours(script), theirs(script)
    original = str(they.sent[4])
    assert "466" in original
    assert "plan 1" not in original
    (request,) = (each for each in we.sent if "make_plan" in each.message and '"round": 4' in each.message)
    assert "466" in request.message
    assert "plan 1" not in request.message


def test_every_round_sees_the_plan_in_force_and_its_number_as_data() -> None:
    script: list[Round] = [[LYON], [TURIN], [divide(779, 90)], [answer("nine hours")]]
    _, we = ours(script)
    acts = [each for each in we.sent if any(key.endswith("_act") for key in each.schema["properties"])]
    for number, request in enumerate(acts):
        known = json.loads(request.message.split("-----")[1])
        (outline,) = (value for key, value in known.items() if key.endswith("_when"))
        assert outline["steps"] == ("plan 2" if number == 3 else "plan 1")
    for request in we.sent:
        assert "remaining_steps" not in request.message
