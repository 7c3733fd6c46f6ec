"""A text that has not the format of its place is told wherever it stands: deep in a literal, and in a condition."""

from __future__ import annotations

from typing import Any

import pytest
from every_case import every_case
from objects import an_object

import instrc
from instrc import CompileError, Report

DAY = {"type": "string", "format": "date"}
DAYS = {"type": "array", "items": DAY}
STAY = an_object(day=DAY, room={"type": "string"})
VIBES: dict[str, Any] = {
    "Book_Activity": {
        "type": "object",
        "properties": {"days": DAYS, "stay": STAY, "by_room": {"type": "object", "additionalProperties": DAY}, "output": {}},
    },
    "Draft": an_object(days=DAYS, stay=STAY),
    "Act": an_object(plan={}),
    "Find": an_object(day=DAY, perhaps={"anyOf": [DAY, {"type": "null"}]}, days=DAYS),
}


def problems(text: str) -> list[Any]:
    report = Report()
    try:
        instrc.artefacts(text, vibes=VIBES, report=report)
    except CompileError as error:
        return list(error.problems)
    return report.problems


CALLS = [
    "Book_Activity(days: [«D»])",
    'Book_Activity({ days: ["2026-01-31", «D», «D»] })',
    'Book_Activity(prompt, stay: { room: "x", day: «D» })',
    'Book_Activity(by_room: { "a b": «D» })',
    "Draft({ days: [«D»] })",
    'Draft(stay: { "day": «D», room: "x" })',
    "RunPlan_Activity(Act(prompt, { plan: Plan(Book_Activity(days: [«D»])) }).plan)",
]


@every_case("call", CALLS)
def test_the_text_is_one_problem_where_it_is_written(call: str) -> None:
    [problem] = problems(call.replace("«D»", '"2026-13-01"'))
    assert (problem.name, problem.at.text) == ("wrong-argument", '"2026-13-01"')
    assert problem.message.endswith('does not fit: "2026-13-01" is not a "date"')


@every_case("call", CALLS)
def test_a_text_with_the_format_is_none(call: str) -> None:
    assert problems(call.replace("«D»", '"2026-12-01"')) == []


@pytest.mark.parametrize(("given", "at"), [("[1]", "1"), ('["2026-01-01", null]', "null")])
def test_a_value_of_another_type_is_shown_in_the_same_place(given: str, at: str) -> None:
    [problem] = problems(f"Book_Activity(days: {given})")
    assert (problem.name, problem.at.text) == ("wrong-argument", at)


def test_a_literal_that_has_a_name_is_told_where_it_is_given() -> None:
    [problem] = problems('const days = ["soon"]; Book_Activity(days: days)')
    assert (problem.name, problem.at.text) == ("wrong-argument", "days")


@every_case(
    "condition",
    ['f.day is "soon"', 'f.perhaps is "soon"', 'f.day @ { const: "soon" }', 'f.day @ { enum: ["soon", "never"] }'],
)
@every_case("block", ["when {} {{ Draft(f) }}", "repeat {{ const f = Find(prompt); f }} until {}"])
def test_a_condition_on_a_text_that_the_format_excludes_never_holds(condition: str, block: str) -> None:
    [problem] = problems(("const f = Find(prompt); " if "when" in block else "") + block.format(condition))
    assert (problem.name, problem.at.text) == ("never-true", condition)
    assert problem.hint == '"soon" is not a "date"; write a value that is one'


@every_case("condition", ['f.day is "2026-12-01"', 'f.day @ { enum: ["soon", "2026-12-01"] }', "f.days @ { contains: {} }"])
def test_a_condition_that_the_format_admits_may_hold(condition: str) -> None:
    assert problems(f"const f = Find(prompt); when {condition} {{ Draft(f) }}") == []
