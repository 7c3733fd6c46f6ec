"""What a program puts together must be fillable: a schema that refuses everything is one problem, at its place."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import pytest

import instrc
from instrc import Report

VIBES = {
    "Draft": {"type": "object", "properties": {"text": {"type": "string"}}},
    "Page": {"type": "object", "properties": {"body": {"type": "object"}}},
}


@pytest.mark.parametrize(
    ("program", "where", "keys"),
    [
        ('Page({ body: { text: Draft } @ { additionalProperties: false, required: ["tone"] } })', "{ text:", "`text`"),
        ("Process(LLM_Context({ a: Draft, b: Draft }) @ { properties: { a: false } })", "Draft, b:", "`a`, `b`"),
        ("Process(LLM_Context({ a: Draft, b: Draft }) @ { maxProperties: 1 })", "Draft, b:", "`a`, `b`"),
        ("Process(LLM_Context({ a: Draft, b: Draft }) @ { not: {} })", "Draft, b:", "`a`, `b`"),
        ('Process(LLM_Context({ a: Draft, b: Draft }) @ { propertyNames: { pattern: "^x" } })', "Draft, b:", "`a`, `b`"),
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


NOBODY = "{ type: 'string', minLength: 5, maxLength: 3 }"
SMALL = {"type": "object", "properties": {"a": {"type": "string", "minLength": 5, "maxLength": 3}}, "required": ["a"]}


def test_what_nobody_can_fill_in_is_shown_where_it_is_written(tmp_path: Path) -> None:
    program = f"@{{ title: 'Q', type: 'object', properties: {{ a: {NOBODY} }}, required: ['a'] }}"
    [problem] = instrc.check(written(tmp_path, program))
    assert problem.at is not None
    assert (problem.name, problem.at.text) == ("impossible-schema", NOBODY)


def test_what_nobody_can_fill_in_is_shown_in_its_vibe(tmp_path: Path) -> None:
    program = written(tmp_path, "Letter(prompt)")
    (tmp_path / "schemas").mkdir()
    (tmp_path / "schemas" / "letter.vibe.json").write_text(json.dumps(SMALL))
    report = Report()
    with pytest.raises(instrc.CompileError):
        instrc.compile(program, report=report)
    found = [problem for problem in report.once() if problem.name == "impossible-schema" and problem.at]
    assert [problem.at.text for problem in found if problem.at] == ["Letter(prompt)"]
    assert [(label.span.source.name.endswith("letter.vibe.json"), label.span.text) for label in found[0].labels] == [
        (True, "5"),
        (True, "3"),
    ]


def test_a_contradiction_inside_a_mixin_is_one_problem() -> None:
    with pytest.raises(instrc.CompileError) as caught:
        instrc.compile("Introspect_Mixin(Draft @ { properties: { text: { type: 'integer' } } })", vibes=VIBES)
    [problem] = caught.value.problems
    assert problem.at is not None
    assert (problem.name, problem.at.text) == ("contradiction", "@")


def written(folder: Path, program: str) -> Path:
    (folder / "letter.aug").write_text(program)
    return folder / "letter.aug"
