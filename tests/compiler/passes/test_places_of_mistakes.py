"""Mistakes are shown where they were written, each once, and those behind them as well."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from marked_mistakes import problems_of
from objects import an_object

from instrc.text.jsontext import dumps

TEXT = {"type": "string"}


VIBES = {
    "read-letter": an_object(wish=TEXT, age={"type": "integer", "maximum": 5}),
    "write-reply": an_object(text=TEXT),
    "wrap": an_object(inner=TEXT),
    "send_Activity": an_object(id=TEXT),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, schema in VIBES.items():
        (tmp_path / f"{name}.vibe.json").write_text(dumps(schema), encoding="utf-8")
    return tmp_path


def found(text: str, folder: Path) -> list[Any]:
    return problems_of(text, roots=[folder])


@pytest.mark.parametrize(
    ("annotation", "in_vibe", "in_program"),
    [
        ('@ { type: "string" }', '"object"', '"string"'),
        ('@ { properties: { wish: { type: "integer" } } }', '"string"', '"integer"'),
        ('@ "Read it." @ { properties: { wish: { type: "integer" } } }', '"string"', '"integer"'),
        ("@ { properties: { age: { minimum: 10 } } }", "5", "10"),
    ],
)
def test_a_contradiction_names_both_files_and_stands_at_the_sign(
    annotation: str, in_vibe: str, in_program: str, folder: Path
) -> None:
    text = f"const letter = ReadLetter {annotation};\nWriteReply(letter)"
    [problem] = found(text, folder)
    assert problem.name == "contradiction"
    assert problem.at.text == "@"
    assert text[: problem.at.start].count("@") == annotation[: annotation.rindex("@")].count("@")
    assert "allOf" not in problem.message
    assert "read-letter.vibe.json:" in problem.message
    assert "program.aug:1:" in problem.message
    shown = {label.span.text: label.span.source.name for label in problem.labels}
    assert shown.keys() == {in_vibe, in_program}
    assert shown[in_vibe].endswith("read-letter.vibe.json")
    assert shown[in_program] == "program.aug"


OWN_ALL_OF = {"allOf": [an_object(wish=TEXT), {"properties": {"wish": {"maxLength": 5}}}]}
RECURSIVE = {**an_object(wish=TEXT), "properties": {"wish": TEXT, "more": {"$ref": "#"}}}


@pytest.mark.parametrize(
    ("vibe", "program"),
    [
        (OWN_ALL_OF, 'Letter(prompt) @ { properties: { wish: { type: "integer" } } }'),
        (OWN_ALL_OF, 'Introspect_Mixin(Letter(prompt)) @ { properties: { wish: { type: "integer" } } }'),
        ({"$ref": "aug:plain"}, 'Letter(prompt) @ { properties: { wish: { type: "integer" } } }'),
        (RECURSIVE, 'Letter(prompt) @ { properties: { wish: { type: "integer" } } }'),
    ],
)
def test_a_contradiction_shows_where_a_vibe_has_it_though_that_is_not_flat(vibe: Any, program: str, tmp_path: Path) -> None:
    (tmp_path / "letter.vibe.json").write_text(dumps(vibe), encoding="utf-8")
    (tmp_path / "plain.vibe.json").write_text(dumps(an_object(wish=TEXT)), encoding="utf-8")
    [problem] = found(program, tmp_path)
    assert problem.name == "contradiction"
    assert problem.at.text == "@"
    assert "#/" not in problem.message
    shown = {label.span.text: Path(label.span.source.name).name for label in problem.labels}
    assert shown == {
        '"string"': "plain.vibe.json" if "$ref" in vibe else "letter.vibe.json",
        '"integer"': "program.aug",
    }


def test_a_contradiction_inside_of_an_inline_schema_shows_both_sides(folder: Path) -> None:
    inner = '{ allOf: [{ type: "integer" }, { type: "string" }] }'
    text = f'ReadLetter | @{{ type: "object", properties: {{ a: {inner} }}, required: ["a"] }}'
    [problem] = found(text, folder)
    assert problem.name == "contradiction"
    assert problem.at.text == '"string"'
    assert [label.span.text for label in problem.labels] == ['"integer"']


def test_what_fills_a_slot_is_told_from_the_vibe_that_has_it(folder: Path) -> None:
    [problem] = found("Wrap({ inner: ReadLetter })", folder)
    assert problem.name == "contradiction"
    assert "wrap.vibe.json:5:15" in problem.message
    assert "allOf" not in problem.message


@pytest.mark.parametrize(
    ("program", "in_program"),
    [
        ("const a = WriteReply(prompt, { text: Plan(Send_Activity) }); RunPlan_Activity(a.text)", "Plan(Send_Activity)"),
        ("WriteReply({ text: 5 })", "text"),
    ],
)
def test_what_fills_a_slot_is_shown_where_it_is_written(program: str, in_program: str, folder: Path) -> None:
    problem = found(program, folder)[0]
    assert problem.name == "contradiction"
    assert problem.at.text == in_program
    assert "write-reply.vibe.json:" in problem.message
    assert "program.aug:1:" in problem.message
    assert "#/" not in problem.message
    assert [label.span.source.name for label in problem.labels] == [str(folder / "write-reply.vibe.json")]


def test_a_vibe_that_fills_a_slot_is_shown_where_that_says_what_does_not_fit(folder: Path) -> None:
    [problem] = found("Wrap({ inner: Wrap })", folder)
    assert [(label.span.text, Path(label.span.source.name).name) for label in problem.labels] == [
        ('"string"', "wrap.vibe.json"),
        ('"object"', "wrap.vibe.json"),
    ]


def test_a_process_reports_the_mistakes_of_all_its_contexts(folder: Path) -> None:
    text = "Process(LLM_Context({ a: Foo }), Server_Context({ b: Bar_Activity(a) }), User_Context({ c: Baz_User(b, a.x) }))"
    assert [problem.word for problem in found(text, folder)] == ["Foo", "Bar_Activity", "Baz_User"]


def test_an_unknown_name_does_not_make_those_who_read_it_unknown(folder: Path) -> None:
    text = "const foo = Foo(prompt); { x: Zoo, y: WriteReply({ x }), z: WriteReply(foo, foo.member) } | Send_Activity"
    assert sorted(problem.word for problem in found(text, folder)) == ["Foo", "Zoo"]


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("ReadLetter WriteReply", "WriteReply"),
        ('"Answer" | ReadLetter WriteReply(prompt) | Send_Activity', "WriteReply(prompt)"),
        ("const a = ReadLetter(prompt) WriteReply(a)", "WriteReply(a)"),
        ("do { ReadLetter(prompt) WriteReply(prompt) }", "WriteReply(prompt)"),
    ],
)
def test_a_bar_that_was_forgotten_is_told(text: str, at: str, folder: Path) -> None:
    told = [problem for problem in found(text, folder) if problem.name == "missing-separator"]
    assert [problem.at.text for problem in told] == [at]
    assert [fix.title for fix in told[0].fixes] == ["put `|` between them", "put `;` between them"]


@pytest.mark.parametrize(
    "text",
    [
        "ReadLetter\nWriteReply",
        "ReadLetter; WriteReply",
        "const a = ReadLetter(prompt); WriteReply(a)",
        "tool a = ReadLetter tool b = WriteReply",
    ],
)
def test_statements_that_are_told_apart_are_not_blamed(text: str, folder: Path) -> None:
    assert "missing-separator" not in [problem.name for problem in found(text, folder)]


def test_two_names_on_one_line_that_are_both_unknown_are_both_told(folder: Path) -> None:
    told = found("ReadLettre WriteRepli", folder)
    assert [(problem.name, problem.at.text) for problem in told] == [
        ("unknown-name", "ReadLettre"),
        ("unknown-name", "WriteRepli"),
    ]
