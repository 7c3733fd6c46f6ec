"""An activity that lists what it takes: names that it excludes, probable slips and inputs that are left out are told."""

from __future__ import annotations

import json
from typing import Any

import pytest
from objects import an_object

import instrc
from instrc import CompileError, Problem, Report

TEXT = {"type": "string"}
WHOLE = {"type": "integer"}
TAKES = {"who": TEXT, "days": WHOLE, "output": TEXT}


def problems(call: str, taken: dict[str, Any] | None = None, **more: Any) -> list[Problem]:
    """Return what is told of a call of an activity with these properties."""
    activity = {"type": "object", "properties": taken or TAKES, "required": ["who"], **more}
    vibes = {"Ask": an_object(who=TEXT, count=WHOLE), "Find_Activity": activity, "Write": an_object(text=TEXT)}
    report = Report()
    try:
        instrc.artefacts(f"const asked = Ask(prompt); Write({call}, asked)", vibes=vibes, report=report)
    except CompileError as error:
        return list(error.problems)
    return report.problems


@pytest.mark.parametrize(
    "call",
    [
        "Find_Activity(who: asked.who)",
        "Find_Activity(who: asked.who, days: asked.count)",
        "Find_Activity({ who: asked.who })",
        "Find_Activity(asked)",
        "Find_Activity(asked.who, days: asked.count)",
        "Find_Activity",
    ],
)
def test_a_call_that_gives_what_is_needed_is_right(call: str) -> None:
    assert problems(call) == []


CLOSED = {"additionalProperties": False}


@pytest.mark.parametrize(
    "call", ["Find_Activity(who: asked.who, dayz: asked.count)", "Find_Activity({ who: asked.who, dayz: 3 })"]
)
def test_a_name_that_resembles_an_input_is_a_warning_where_it_stands(call: str) -> None:
    [problem] = problems(call)
    assert (problem.name, problem.at and problem.at.text) == ("similar-label", "dayz")
    assert problem.message == "`Find_Activity` is called with the label `dayz`, but its input is `days`"


def test_a_name_that_the_schema_excludes_is_an_error() -> None:
    [problem] = problems("Find_Activity(who: asked.who, dayz: asked.count)", **CLOSED)
    assert (problem.name, problem.hint) == ("unknown-argument", "did you mean `days`?")
    [problem] = problems("Find_Activity(who: asked.who, urgent: true)", **CLOSED)
    assert (problem.name, problem.hint) == ("unknown-argument", "it has `who`, `days`")


def test_a_name_that_resembles_a_required_input_is_told_alone() -> None:
    for more in ({}, CLOSED):
        [problem] = problems("Find_Activity(woh: asked.who)", **more)
        assert (problem.name, problem.hint) == ("unknown-argument", "did you mean `who`?")


NAMED = "write the name of the argument before the value, as in `NAME: {}`; it has `who`, `days`"
WHOLE_OBJECT = "bind the object as the value of a block, as in `const whole = do { … }`, then `NAME: whole`"


@pytest.mark.parametrize(
    ("bound", "at", "hint"),
    [
        ("asked.count", "asked.count", NAMED.format("asked.count")),
        ("Ask(prompt)", "Ask(prompt)", NAMED.format("Ask(prompt)")),
        ("who: pair", "who", WHOLE_OBJECT),
        ("{ who: { name: asked.who } }", "who", WHOLE_OBJECT),
        ("dayz: asked.count", "dayz", "did you mean `days`?"),
    ],
)
def test_a_value_that_a_plan_binds_has_an_argument_of_its_own(bound: str, at: str, hint: str) -> None:
    """Else the model is offered the argument that the program meant to set."""
    find = {"type": "object", "properties": TAKES, "required": ["who"]}
    vibes = {"Ask": an_object(who=TEXT, count=WHOLE), "Find_Activity": find, "Act": an_object(plan={})}
    pair = "const pair = { name: asked.who };" if "pair" in bound else ""
    program = f"const asked = Ask(prompt); {pair} Act(prompt, asked, {{ plan: Plan(Find_Activity({bound})) }})"
    with pytest.raises(CompileError) as caught:
        instrc.compile(program, vibes=vibes)
    [problem] = caught.value.problems
    assert (problem.name, problem.hint) == ("unknown-argument", hint)
    assert problem.at is not None
    assert problem.at.text == at
    assert problem.fixes == () or problem.at.text == "dayz"


@pytest.mark.parametrize(("name", "hint"), [("asked", NAMED.format("asked")), ("pair", WHOLE_OBJECT)])
def test_a_name_that_a_plan_binds_is_no_further_argument_of_a_closed_tool(name: str, hint: str) -> None:
    find = {"type": "object", "properties": TAKES, **CLOSED}
    vibes = {"Ask": an_object(who=TEXT, count=WHOLE), "Find_Activity": find, "Act": an_object(plan={})}
    pair = "const pair = { name: asked.who };" if name == "pair" else ""
    program = f"const asked = Ask(prompt); {pair} Act(prompt, asked, {{ plan: Plan(Find_Activity({name})) }})"
    with pytest.raises(CompileError) as caught:
        instrc.compile(program, vibes=vibes)
    [problem] = caught.value.problems
    assert (problem.name, problem.hint, problem.at and problem.at.text) == ("unknown-argument", hint, name)
    assert instrc.compile(program, vibes={**vibes, "Find_Activity": {**find, "additionalProperties": True}})


def test_a_path_that_a_plan_binds_needs_a_label_where_the_tool_lists_no_arguments() -> None:
    vibes = {"Ask": an_object(who=TEXT), "Find_Activity": an_object(output=TEXT), "Act": an_object(plan={})}
    program = "const asked = Ask(prompt); Act(prompt, asked, {{ plan: Plan(Find_Activity({})) }})"
    with pytest.raises(CompileError, match=r"as in `NAME: asked\.who`$"):
        instrc.compile(program.format("asked.who"), vibes=vibes)
    assert instrc.compile(program.format("whom: asked.who"), vibes=vibes)


@pytest.mark.parametrize(("bound", "offered"), [("asked.who", ["days"]), ("asked.who, days: asked.count", [])])
def test_a_model_is_not_offered_what_a_path_binds(bound: str, offered: list[str]) -> None:
    find = {"type": "object", "properties": TAKES, "required": ["who"]}
    vibes = {"Ask": an_object(who=TEXT, count=WHOLE), "Find_Activity": find, "Act": an_object(plan={})}
    program = f"const asked = Ask(prompt); Act(prompt, asked, {{ plan: Plan(Find_Activity({bound})) }})"
    text = json.dumps(instrc.compile(program, vibes=vibes))
    assert [name for name in ("who", "days") if f'"{name}": {{"anyOf"' in text] == offered


@pytest.mark.parametrize(
    "call", ["Find_Activity(who: asked.who, urgent: true)", "Find_Activity(who: asked.who, days: 2, dayz: 3)"]
)
def test_a_label_needs_no_property(call: str) -> None:
    assert problems(call) == []


def test_an_input_that_is_required_and_left_out_is_told_at_the_call() -> None:
    [problem] = problems("Find_Activity(days: asked.count)")
    assert (problem.name, problem.message) == ("missing-argument", "`Find_Activity` needs the argument `who`")
    assert problem.at is not None
    assert problem.at.text.startswith("Find_Activity")


def test_an_activity_that_lists_only_its_output_takes_any_names() -> None:
    assert problems("Find_Activity(label: asked.who)", {"output": TEXT}, required=["output"]) == []


def test_an_activity_without_output_is_what_comes_back() -> None:
    assert problems("Find_Activity(label: asked.who)", {"who": TEXT}) == []


def test_the_inputs_of_a_function_are_its_parameters() -> None:
    pytest.importorskip("pydantic")

    def find(who: str, days: int = 3) -> str: ...  # type: ignore[empty-body]

    vibes = {"Ask": an_object(who=TEXT), "Find_Activity": find}
    with pytest.raises(CompileError, match="`Find_Activity` has no argument `dayz`"):
        instrc.compile("const asked = Ask(prompt); Find_Activity(who: asked.who, dayz: 2)", vibes=vibes)


@pytest.mark.parametrize(
    "call", ['Find_Activity(whom: "ann")', 'Find_Activity(asked, whom: "ann")', 'Find_Activity(who: "ann", whom: "x")']
)
def test_a_constant_needs_a_name_that_the_function_has_too(call: str) -> None:
    pytest.importorskip("pydantic")

    def find(who: str, days: int = 3) -> str: ...  # type: ignore[empty-body]

    vibes = {"Ask": an_object(who=TEXT), "Find_Activity": find}
    with pytest.raises(CompileError, match="`Find_Activity` has no argument `whom`"):
        instrc.compile(f"const asked = Ask(prompt); {call}", vibes=vibes)
