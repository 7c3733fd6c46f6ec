"""An activity that lists what it takes is called with these names: others, and those that are left out, are told."""

from __future__ import annotations

from typing import Any

import pytest
from objects import an_object

import instrc
from instrc.problems.problem import CompileError, Problem
from instrc.problems.report import Report

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


@pytest.mark.parametrize(
    "call", ["Find_Activity(who: asked.who, dayz: asked.count)", "Find_Activity({ who: asked.who, dayz: 3 })"]
)
def test_a_name_that_is_no_input_is_told_where_it_stands(call: str) -> None:
    [problem] = problems(call)
    assert (problem.name, problem.at and problem.at.text) == ("unknown-argument", "dayz")
    assert problem.hint == "did you mean `days`?"


def test_a_name_that_resembles_a_required_one_is_told_alone() -> None:
    [problem] = problems("Find_Activity(woh: asked.who)")
    assert (problem.name, problem.hint) == ("unknown-argument", "did you mean `who`?")


def test_a_name_that_resembles_none_is_told_with_all_there_are() -> None:
    [problem] = problems("Find_Activity(who: asked.who, urgent: true)")
    assert (problem.name, problem.hint) == ("unknown-argument", "it has `who`, `days`")


def test_an_input_that_is_required_and_left_out_is_told_at_the_call() -> None:
    [problem] = problems("Find_Activity(days: asked.count)")
    assert (problem.name, problem.message) == ("missing-argument", "`Find_Activity` needs the argument `who`")
    assert problem.at is not None
    assert problem.at.text.startswith("Find_Activity")


@pytest.mark.parametrize(
    "more", [{"additionalProperties": True}, {"additionalProperties": TEXT}, {"patternProperties": {"^x": {}}}]
)
def test_an_activity_that_says_something_of_other_names_takes_them(more: dict[str, Any]) -> None:
    assert problems("Find_Activity(who: asked.who, label: asked.who)", **more) == []


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
