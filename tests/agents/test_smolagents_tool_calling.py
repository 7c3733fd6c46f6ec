"""The tool-calling agent does what smolagents does with one scripted model and the same tools; where ours differs is stated."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

smolagents = pytest.importorskip("smolagents")

import agents_played as play  # noqa: E402
from agents_played import Call, Played, Plays, Round, answer  # noqa: E402
from applications import run_in_app  # noqa: E402
from example_agents import AGENTS, example  # noqa: E402

import instrc  # noqa: E402

FOLDER = AGENTS / "tool-calling-agent"
agent = example("tool-calling-agent")
PROCESS = instrc.compile(FOLDER / "tool-calling-agent.aug", emit="process")[0]


def weather(city: Any, **more: Any) -> Call:
    return Call("weather_Activity", {"city": city, **more})


def multiply(a: Any, b: Any) -> Call:
    return Call("multiply_Activity", {"a": a, "b": b})


def theirs(script: list[Round], last: Any = None, stored: dict[str, Any] | None = None) -> Played:
    log: play.Log = []
    model = Plays(script, last)
    run = smolagents.ToolCallingAgent(tools=play.tools_of(FOLDER, agent.TOOLS, log), model=model, verbosity_level=0)
    return play.theirs(run, model, log, stored=stored)


def ours(script: list[Round], last: Any = None, stored: dict[str, Any] | None = None) -> Played:
    log: play.Log = []
    model = instrc.Scripted({"act": [play.acted(each) for each in script], "provide_final_answer": {"answer": last}})
    tools = {name: agent.with_stored_values(play.logged(log, name, tool)) for name, tool in agent.TOOLS.items()}
    return play.ours(PROCESS, model, tools, log, {"prompt": "q", **({"stored": stored} if stored else {})})


EQUAL: dict[str, list[Round]] = {
    "an answer at once": [[answer("hello")]],
    "an answer that is a number": [[answer(42)]],
    "an answer that is false": [[answer(value=False)]],
    "an answer that is an object": [[answer({"a": [1, True, None]})]],
    "one call": [[weather("Paris")], [answer("18 C")]],
    "an optional argument": [[weather("Oslo", unit="fahrenheit")], [answer("cool")]],
    "two calls in parallel": [[weather("Paris"), weather("Oslo")], [answer("Paris")]],
    "two tools in parallel": [[multiply(6, 7), weather("Oslo")], [answer(42)]],
    "the same call twice in a round": [[weather("Oslo"), weather("Oslo")], [answer("4 C")]],
    "ten calls in parallel": [[multiply(index, index) for index in range(10)], [answer(81)]],
    "five rounds": [*([multiply(index, 2)] for index in range(5)), [answer(8)]],
    "large numbers": [[multiply(10**20, -3)], [answer("large")]],
    "an answer in many letters": [[answer("Привет 🌊 \u2028")]],
    "an answer with keys in many letters": [[weather("Oslo", unit="celsius")], [answer({"ключ": "значение"})]],
    "an answer of 200,000 letters": [[answer("x" * 200_000)]],
    "an empty answer": [[answer("")]],
    "an answer that is zero": [[answer(0)]],
    "an answer that is an empty list": [[answer([])]],
    "an answer that looks like JSON": [[answer('{"a": 1}')]],
    "an answer of digits": [[answer("42")]],
    "an output of 4,000 digits": [[multiply(10**2000, 10**2000)], [answer("long")]],
    "zero and less": [[multiply(0, -5), multiply(-1, -1)], [answer("x")]],
    "a round that calls nothing": [[], [answer("x")]],
    "an answer in the last round": [*([multiply(index, 2)] for index in range(19)), [answer(36)]],
}


@pytest.mark.parametrize("script", EQUAL.values(), ids=EQUAL)
def test_it_answers_calls_and_observes_what_smolagents_does(script: list[Round]) -> None:
    assert ours(script) == theirs(script)


STORED: dict[str, Any] = {"home": "Oslo", "away": "Paris", "kelvin": "fahrenheit", "Paris": "Oslo"}


@pytest.mark.parametrize(
    "script",
    [
        [[weather("home")], [answer("4 C")]],
        [[weather("home"), weather("away")], [answer("18 C")]],
        [[weather("Paris")], [answer("one step only")]],
        [[weather("at home")], [answer("no name")]],
        [[weather("nobody"), multiply(2, 3)][1:], [answer("x")]],
    ],
    ids=["a name", "two names", "a value that is a name too", "a name within a text", "no text"],
)
def test_a_text_that_is_the_name_of_a_stored_value_stands_for_the_value(script: list[Round]) -> None:
    we, they = ours(script, stored=STORED), theirs(script, stored=STORED)
    assert we.calls == they.calls
    assert we.answer == they.answer
    assert they.told or we.observed == they.observed


def test_a_model_is_shown_the_stored_values_and_may_not_replace_them() -> None:
    call = {"tool": "weather_Activity", "id": "a", "arguments": {"city": "home", "stored": {"home": "Paris"}}}
    plan = {"_thought": "", "plan": [call], "answer": None}
    good = {"_thought": "", "plan": [{**call, "arguments": {"city": "home"}}], "answer": None}
    model = instrc.Scripted({"act": [plan, good, play.acted([answer("x")])]})
    given = {"prompt": "q", "stored": {"home": "Oslo"}}
    done = instrc.run(PROCESS, given, model=model, activities=agent.ACTIVITIES)
    assert json.loads(model.sent[0].message.split("-----")[1])["stored"] == {"home": "Oslo"}
    assert "stored" in " ".join(play.told(model.sent[1].message))
    assert [each["output"] for each in play.results(done.record["repeatContext1"][0])] == ["4 C"]


TWO_FAULTS: dict[str, list[Round]] = {
    "two texts in a row": ["one", "two", [answer("x")]],
    "an empty text": ["", [answer("x")]],
    "texts between calls": [[weather("Oslo")], "bad", [weather("Paris")], "bad again", [answer("x")]],
}


@pytest.mark.parametrize("script", TWO_FAULTS.values(), ids=TWO_FAULTS)
def test_texts_that_are_no_calls_cost_what_they_cost_in_smolagents(script: list[Round]) -> None:
    assert ours(script) == theirs(script)


OTHERWISE: dict[str, tuple[list[Round], list[str], list[str]]] = {
    "null for an optional text is not a text": ([[weather("Oslo", unit=None)], [answer("x")]], [], ["weather_Activity"]),
    "2.0 is an integer, as JSON Schema has it": ([[multiply(2.0, 3)], [answer("x")]], ["multiply_Activity"], []),
    "a wrong call keeps the others of its round back": (
        [[multiply("six", 7), weather("Oslo")], [answer("x")]],
        [],
        ["weather_Activity"],
    ),
}


@pytest.mark.parametrize(("script", "we", "they"), OTHERWISE.values(), ids=OTHERWISE)
def test_what_is_called_otherwise_on_purpose(script: list[Round], we: list[str], they: list[str]) -> None:
    assert [name for name, _ in ours(script).calls] == we
    assert [name for name, _ in theirs(script).calls] == they


FAULTY: dict[str, tuple[list[Round], str, str]] = {
    "a text that is no call": (["no call at all", [answer("x")]], '"no call at all" is not of type "object"', "any JSON blob"),
    "JSON that is cut off": (['{"plan": [', [answer("x")]], 'is not of type "object"', "JSON"),
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
        'the argument `a` of `multiply_Activity` does not fit: "six" is not of type "integer"',
        "Argument a has type 'string' but should be 'integer'",
    ),
    "a boolean for an integer": (
        [[multiply(a=True, b=7)], [answer("x")]],
        'does not fit: true is not of type "integer"',
        "Argument a has type 'boolean' but should be 'integer'",
    ),
    "a list for a text": (
        [[weather(["Oslo"])], [answer("x")]],
        'does not fit: ["Oslo"] is not of type "string"',
        "Argument city has type 'array' but should be 'string'",
    ),
    "null for a text": (
        [[weather(None)], [answer("x")]],
        'does not fit: null is not of type "string"',
        "Argument city has type 'null' but should be 'string'",
    ),
    "a mistake, then the call": (
        [[multiply("six", 7)], [multiply(6, 7)], [answer(42)]],
        '"six" is not of type "integer"',
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
    assert all('is not of type "integer"' in each for each in told)


def test_three_faulty_answers_and_more_are_shown_and_the_run_goes_on() -> None:
    script: list[Round] = ["one", [Call("fly", {})], [multiply("six", 7)], "four", [answer("x")]]
    we, they = ours(script), theirs(script)
    assert we == they
    assert len(they.told) == 4
    model = instrc.Scripted({"act": [play.acted(each) for each in script]})
    instrc.run(PROCESS, "q", model=model, activities=agent.TOOLS)
    shown = model.sent[3].message
    assert "was not accepted after 3 attempts" in shown
    assert r"is not of type \"integer\"" in shown, "the error is a value of the context, as JSON"


def test_an_error_of_the_service_of_the_model_ends_the_run_and_is_not_shown_to_it() -> None:
    class Down:
        asked = 0

        async def answer(self, _request: instrc.Request) -> instrc.Reply:
            self.asked += 1
            message = "out of order"
            raise instrc.ModelError(message, retry=False)

    model = Down()
    run = instrc.run(PROCESS, "q", model=model, activities=agent.TOOLS)
    assert (run.status, run.outcome["error"]["message"], model.asked) == ("failed", "out of order", 1)


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


def test_results_stand_in_the_order_of_the_calls() -> None:
    script: list[Round] = [[multiply(1, index) for index in range(12)], [answer("x")]]
    in_order = [str(index) for index in range(12)]
    assert theirs(script).observed == [sorted(in_order, key=lambda each: f"call_{each}")]
    assert theirs(script).observed != [in_order]
    assert ours(script).observed == [in_order]


def test_calls_with_one_id_are_numbered_apart_and_that_is_noted() -> None:
    calls = [weather("Oslo"), weather("Paris"), multiply(2, 3)]
    log: play.Log = []

    class Twice(Plays):
        def generate(self, messages: Any, **how: Any) -> Any:
            said = super().generate(messages, **how)
            said.tool_calls = play.calls_of(calls, ids=("a", "a", "b")) if self.asked == 1 else said.tool_calls
            return said

    run = smolagents.ToolCallingAgent(
        tools=play.tools_of(FOLDER, agent.TOOLS, log), model=Twice([calls, [answer("x")]], None), verbosity_level=0
    )
    assert run.run("q") == "x"
    assert len(log) == 2, "the first call has vanished"

    events: list[Any] = []
    model = instrc.Scripted({"act": [play.acted(calls, ids=("a", "a", "b")), play.acted([answer("x")])]})
    done = run_in_app(PROCESS, "q", model=model, activities=agent.TOOLS, watch=events.append)
    seen = play.results(done.record["repeatContext1"][0])
    assert [(each["id"], each["output"]) for each in seen] == [("a", "4 C"), ("a_2", "18 C"), ("b", 6)]
    assert any("another task `a` is called `a_2`" in str(each.get("repairs")) for each in events)


def test_an_id_that_another_call_reads_is_not_numbered_apart_but_told() -> None:
    plan = [
        {"tool": "multiply_Activity", "id": "a", "arguments": {"a": 2, "b": 3}},
        {"tool": "multiply_Activity", "id": "a", "arguments": {"a": 4, "b": 5}},
        {"tool": "multiply_Activity", "id": "b", "arguments": {"a": {"from": "a"}, "b": 5}},
    ]
    model = instrc.Scripted({"act": [{"_thought": "", "plan": plan, "answer": None}, play.acted([answer("x")])]})
    instrc.run(PROCESS, "q", model=model, activities=agent.TOOLS)
    assert "another task also has the id `a`" in model.sent[1].message


def test_two_pictures_of_one_round_have_a_name_each(tmp_path: Path) -> None:
    draw_ = smolagents.tool(_draw)
    run = smolagents.ToolCallingAgent(
        tools=[draw_],
        model=Plays([[Call("_draw", {"width": 1}), Call("_draw", {"width": 2})], [answer("x")]], None),
        verbosity_level=0,
    )
    run.run("q")
    assert [name for name in run.state if name.endswith(".png")] == ["image.png"], "one has overwritten the other"

    place = tmp_path / "agent"
    shutil.copytree(FOLDER, place, ignore=shutil.ignore_patterns("expected"))
    source = (place / "tool-calling-agent.aug").read_text("utf-8")
    (place / "tool-calling-agent.aug").write_text(source.replace("Weather_Activity", "Draw_Activity"), "utf-8")
    path = {"type": "string", "contentMediaType": "image/png"}
    vibe = {"type": "object", "properties": {"width": {"type": "integer"}, "output": path}, "required": ["width", "output"]}
    (place / "schemas" / "draw_Activity.vibe.json").write_text(json.dumps(vibe), "utf-8")
    calls = [Call("draw_Activity", {"width": 1}), Call("draw_Activity", {"width": 2})]
    model = instrc.Scripted({"act": [play.acted(calls), play.acted([answer("x")])]})
    tools = {"draw_Activity": lambda given: f"{tmp_path}/{given['width']}.png", "multiply_Activity": agent.multiply}
    done = instrc.run(place / "tool-calling-agent.aug", "q", model=model, activities=tools)
    seen = play.results(done.record["repeatContext1"][0])
    assert [(each["id"], each["output"]) for each in seen] == [("call_0", f"{tmp_path}/1.png"), ("call_1", f"{tmp_path}/2.png")]


def _draw(width: int) -> smolagents.AgentImage:
    """Draw a picture.

    Args:
        width: how wide it is
    """
    from PIL.Image import new
    from smolagents import AgentImage

    return AgentImage(new("RGB", (width, 1)))


def test_a_value_that_is_not_among_those_of_an_enum_is_refused() -> None:
    script: list[Round] = [[weather("Oslo", unit="kelvin")], [answer("x")]]
    assert theirs(script).calls
    mine = ours(script)
    assert not mine.calls
    assert '"kelvin" is not one of ["celsius","fahrenheit"]' in mine.told[0]


def test_after_twenty_rounds_in_vain_one_more_call_answers_and_the_record_says_so() -> None:
    script: list[Round] = [[multiply(2, 3)]]
    we = ours(script, last="enough")
    assert we == theirs(script, last="enough")
    assert we.asked == 21
    assert we.exhausted
