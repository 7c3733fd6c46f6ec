"""Vibes as people new to JSON Schema write them: one problem each, with a way out."""

from __future__ import annotations

from pathlib import Path

import pytest
from every_case import every_case

import instrc
from instrc.cli import main

PROPERTY = '{"type": "object", "properties": {"a": %s}}'


def only_problem(folder: Path, text: str) -> tuple[str, str]:
    (folder / "schemas").mkdir()
    file = folder / "schemas" / "letter.vibe.json"
    file.write_text(text, encoding="utf-8")
    [problem] = instrc.check(str(file))
    return problem.name, problem.hint or ""


@every_case(
    ("word", "expected"), [("solutoin", "`solution`"), ("inputs", "`input`"), ("answers", "begin your own part with `x-`")]
)
def test_a_part_of_a_record_that_nothing_reads_is_told(tmp_path: Path, word: str, expected: str) -> None:
    name, hint = only_problem(tmp_path, f'{{"schema": {PROPERTY % "{}"}, "{word}": {{"a": 1}}}}')
    assert name == "unknown-part"
    assert expected in hint


def test_a_record_with_words_about_itself_is_fine(tmp_path: Path) -> None:
    file = tmp_path / "letter.vibe.json"
    file.write_text(f'{{"title": "T", "x-owner": "us", "schema": {PROPERTY % "{}"}, "solution": {{}}}}')
    assert instrc.check(str(file)) == ()


NEARLY_JSON = [
    ("{'type': 'object'}", "double quotes"),
    ('{"type": "object",}', "remove the `,`"),
    ('// mine\n{"type": "object"}', "comment"),
    ('{type: "object"}', "key in double quotes"),
    ("{\u201ctype\u201d: 5}", "straight quotes"),
    ('```json\n{"type": "object"}\n```', "fences"),
    ("type: object\nproperties: {}", "YAML"),
    ('{"default": None}', "`null`"),
    ('{"additionalProperties": False}', "`false`"),
    ('{"default": NaN}', "`null`"),
    ('{"type": "object", "properties": {', "brackets"),
]


@every_case(("text", "way_out"), NEARLY_JSON)
def test_what_is_nearly_json_is_told_how_it_becomes_json(tmp_path: Path, text: str, way_out: str) -> None:
    name, hint = only_problem(tmp_path, text)
    assert name == "invalid-vibe"
    assert way_out in hint


@every_case(("text", "way_out"), NEARLY_JSON)
def test_a_file_of_json_that_is_no_vibe_is_told_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, way_out: str
) -> None:
    file = tmp_path / "letter.json"
    file.write_text(text, encoding="utf-8")
    assert main(["flatten", str(file)]) == 1
    said = capsys.readouterr().err
    assert "[invalid-json]" in said
    assert way_out in said.partition("hint: ")[2]


@every_case(
    ("schema", "way_out"),
    [
        ('{"type": "dict"}', "`object`"),
        ('{"type": "float"}', "`number`"),
        ('{"type": "enum", "enum": ["x"]}', "leave the `type` out"),
        ('{"type": "date"}', "`format`"),
        ('{"type": "string", "required": true}', '`"required": ["NAME"]`'),
        ('{"type": "object", "additionalProperties": "false"}', "without quotes"),
        ('{"type": "string", "minLength": "5"}', "without quotes"),
        ('{"type": "number", "min": 5}', "`minimum`"),
        ('{"type": "number", "max": 5}', "`maximum`"),
        ('{"type": "string", "regex": "x"}', "`pattern`"),
        ('{"choices": ["x"]}', "`enum`"),
        ('{"type": "string", "optional": true}', "not named in `required`"),
        ('{"type": "string", "pattern": "/^a$/"}', "without `/`"),
    ],
)
def test_a_typical_slip_in_a_schema_has_a_way_out(tmp_path: Path, schema: str, way_out: str) -> None:
    assert way_out in only_problem(tmp_path, PROPERTY % schema)[1]


def test_a_solution_beside_keywords_is_told_where_the_schema_belongs(tmp_path: Path) -> None:
    assert "put the schema under `schema`" in only_problem(tmp_path, '{"type": "object", "solution": {}}')[1]


def test_an_output_beside_keywords_is_told_where_it_belongs(tmp_path: Path) -> None:
    assert "gives back is a property" in only_problem(tmp_path, '{"type": "object", "output": {}}')[1]
