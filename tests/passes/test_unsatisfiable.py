"""What a program puts together must be fillable: a schema that refuses everything is one problem, at its place."""

from __future__ import annotations

from contextlib import suppress

import pytest

import instrc
from instrc.problems.report import Report

VIBES = {
    "Draft": {"type": "object", "properties": {"text": {"type": "string"}}},
    "Page": {"type": "object", "properties": {"body": {"type": "object"}}},
}


@pytest.mark.parametrize(
    ("program", "where", "keys"),
    [
        ('Page({ body: { text: Draft } @ { additionalProperties: false, required: ["tone"] } })', "{ text:", "`text`"),
        ("Process(LLM_Context({ a: Draft, b: Draft }) @ { properties: { a: false } })", "Draft, b:", "`a`, `b`"),
    ],
)
def test_steps_beside_what_refuses_them_are_one_problem(program: str, where: str, keys: str) -> None:
    with pytest.raises(instrc.CompileError) as caught:
        instrc.artefacts(program, vibes=VIBES)
    [problem] = caught.value.problems
    assert problem.name == "unsatisfiable"
    assert keys in problem.message
    assert problem.at is not None
    assert program[problem.at.start :].startswith(where)


SHEET = {
    "Sheet": {"type": "object", "properties": {"seats": {"type": "integer", "minimum": 5}, "note": {"type": "string"}}},
    "Broken": {"type": "object", "properties": {"seats": {"type": "integer", "minimum": 5, "maximum": 3}}},
}


@pytest.mark.parametrize(
    ("program", "where", "severity"),
    [
        ("Sheet({ seats: 3 })", "seats", "error"),
        ('Sheet({ note: "a", seats: 3 })', "{ note", "error"),
        ("Sheet(prompt) @ { properties: { seats: { multipleOf: 9, maximum: 8 } } }", "multipleOf", "warning"),
        ('Sheet(prompt) @ { required: ["seats"], properties: { seats: { multipleOf: 9, maximum: 8 } } }', "multipleOf", "error"),
    ],
)
def test_what_nothing_can_fill_since_something_was_added_is_told_there(program: str, where: str, severity: str) -> None:
    report = Report()
    with suppress(instrc.CompileError):
        instrc.artefacts(program, vibes=SHEET, report=report)
    [problem] = report.problems
    assert (problem.name, problem.severity) == ("impossible-schema", severity)
    assert problem.at is not None
    assert program[problem.at.start :].startswith(where)


def test_what_nothing_could_fill_before_is_not_told_of_what_is_added() -> None:
    report = Report()
    instrc.artefacts('Broken(prompt) @ { properties: { note: { type: "string" } } }', vibes=SHEET, report=report)
    assert report.problems == []
