"""An argument that is certainly of another kind than its activity takes is a problem where it is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from every_case import every_case
from objects import an_object

import instrc
from instrc import CompileError, Report

TEXT = {"type": "string"}
WHOLE = {"type": "integer"}
VIBES: dict[str, Any] = {
    "Find": an_object(text=TEXT, count=WHOLE, share={"type": "number"}, maybe={"type": ["string", "null"]}, any={}),
    "Act": an_object(plan={}),
    "Book_Activity": {
        "type": "object",
        "properties": {"seats": WHOLE, "name": TEXT, "output": an_object(id=TEXT)},
        "required": ["seats"],
    },
    "Draft": an_object(text=TEXT),
    "People": an_object(names={"type": "array", "items": TEXT}),
}


def problems(text: str, *roots: Path) -> list[Any]:
    report = Report()
    try:
        instrc.artefacts(text, vibes=VIBES, roots=roots, report=report)
    except CompileError as error:
        return list(error.problems)
    return report.problems


@every_case(
    "call",
    [
        "Book_Activity(seats: found.text)",
        "Book_Activity({ seats: found.text })",
        "Book_Activity(seats: found.count, name: found.count)",
        'when found.text is "x" { Book_Activity(seats: found.text) }',
        "RunPlan_Activity(Act(prompt, { plan: Plan(Book_Activity(seats: found.text)) }).plan)",
    ],
)
def test_a_path_to_another_kind_is_one_problem_at_its_place(call: str) -> None:
    [problem] = problems(f"const found = Find(prompt); {call}")
    assert problem.name == "wrong-argument"
    assert problem.at.text in {"text", "count"}
    assert "it receives the type" in problem.message


@every_case(
    ("call", "reason"),
    [
        ('Book_Activity(seats: "x")', '"x" is not of type "integer"'),
        ('Book_Activity({ seats: "x" })', '"x" is not of type "integer"'),
        ('Book_Activity(prompt, { seats: "x" })', '"x" is not of type "integer"'),
        ('const n = "x"; Book_Activity(seats: n)', '"x" is not of type "integer"'),
        ("Book_Activity(name: [1], seats: 1)", '[1] is not of type "string"'),
        ("Book_Activity(seats: null)", 'null is not of type "integer"'),
        ("Book_Activity(seats: 1, name: null)", 'null is not of type "string"'),
        ('each person in found.names { Book_Activity(seats: "x") }', '"x" is not of type "integer"'),
    ],
)
def test_a_literal_of_another_kind_is_one_problem_where_it_is_named(call: str, reason: str) -> None:
    [problem] = problems(f"const found = People(prompt); {call}" if "found" in call else call)
    assert problem.name == "wrong-argument"
    assert problem.at.text in {"seats", "name"}
    assert reason in problem.message


@pytest.mark.parametrize(
    ("before", "given"),
    [
        ('input text @ { type: "string" }', "text"),
        ("const found = People(prompt)", "found.names"),
        ("const found = People(prompt)", "found"),
        ("const found = do { { a: People(prompt) } }", "found"),
        ('const text = do { "x" }', "text"),
        ("const list = each i in 3 { Draft(prompt) }", "list"),
    ],
)
def test_a_name_of_what_is_of_another_kind_is_one_problem(before: str, given: str) -> None:
    [problem] = problems(f"{before}; Book_Activity(seats: {given})")
    assert problem.name == "wrong-argument"
    assert problem.at.text in {"seats", "names"}


@every_case(
    "program",
    [
        "each i in 3 { Book_Activity(seats: 1, name: i) }",
        "const found = People(prompt); each one in found.names { Book_Activity(seats: one) }",
        'repeat { const made = Book_Activity(seats: 1, name: round); Draft(made) } until made.id is "x"',
    ],
)
def test_a_name_of_a_block_is_judged_like_any_other(program: str) -> None:
    [problem] = problems(program)
    assert (problem.name, problem.at.text) == ("wrong-argument", "name" if "name:" in program else "seats")


@pytest.mark.parametrize(
    ("before", "given", "at"),
    [
        ("const found = Find(prompt);", "found.text", "text"),
        ('input text @ { type: "string" };', "text", "text"),
        ("const found = People(prompt); each one in found.names {", "one", "one"),
    ],
)
def test_an_input_of_a_called_program_takes_what_its_schema_says(before: str, given: str, at: str, tmp_path: Path) -> None:
    (tmp_path / "inner.aug").write_text('input n @ { type: "integer" }; Draft(n)', encoding="utf-8")
    [problem] = problems(f"{before} Inner(n: {given})" + ("}" if "{" in before and "each" in before else ""), tmp_path)
    assert (problem.name, problem.at.text) == ("wrong-argument", at)
    assert "it receives the type string, and takes integer" in problem.message


def test_a_called_program_passes_a_wrong_literal_on_to_where_it_is_read(tmp_path: Path) -> None:
    (tmp_path / "inner.aug").write_text("input n; Book_Activity(seats: n)", encoding="utf-8")
    [problem] = problems('Inner(n: "x")', tmp_path)
    assert (problem.name, problem.at.text) == ("wrong-argument", "seats")
    assert problem.at.source.name.endswith("inner.aug")


def test_a_null_that_a_program_is_called_with_is_left_out_where_it_is_optional(tmp_path: Path) -> None:
    (tmp_path / "inner.aug").write_text("input who; input n; Book_Activity(name: who, seats: n)", encoding="utf-8")
    made = instrc.artefacts("Inner(who: null, n: 2)", vibes=VIBES, roots=[tmp_path])
    process: Any = made[0].documents["process"]
    assert process["$defs"]["SERVER_1"]["properties"]["step1_book"]["arguments"] == {"seats": {"const": 2}}


def test_a_literal_that_a_preparation_excludes_is_shown_where_it_is_named() -> None:
    vibes = VIBES | {"Look": an_object(limit=WHOLE), "Look_Activity": an_object(hits=TEXT)}
    with pytest.raises(CompileError) as raised:
        instrc.artefacts('Look_Activity(limit: "x")', vibes=vibes)
    [problem] = raised.value.problems
    assert problem.at is not None
    assert (problem.name, problem.at.text) == ("contradiction", "limit")


@pytest.mark.parametrize(
    "given",
    ["found.count", "found.share", "found.any", "found.any.deep"],
)
def test_what_may_fit_is_left_alone(given: str) -> None:
    assert problems(f"const found = Find(prompt); Book_Activity(seats: {given})") == []


def test_what_may_be_null_is_left_to_the_rules_of_that() -> None:
    assert "wrong-argument" not in {each.name for each in problems("const f = Find(prompt); Book_Activity(seats: f.maybe)")}


@every_case(
    "program",
    [
        'Draft(Fail(code: "x"))',
        'const v = Fail(code: "x"); Draft(v)',
        'Fail(code: "x") | Draft',
        'const v = Fail(code: "x"); when v.code is "x" { Draft(prompt) }',
        'const v = Fail(code: "x"); each e in v { Draft(e) }',
        'const p = People(prompt); each e in p.names { const v = Fail(code: "x"); Draft(v) }',
        'const v = { a: Fail(code: "x"), b: Find }; Draft(v)',
    ],
)
def test_what_reads_a_fail_never_runs(program: str) -> None:
    [problem] = problems(program)
    assert (problem.name, problem.at.text) == ("not-a-value", 'Fail(code: "x")')
    assert "has no value" in problem.message


@every_case(
    "program",
    [
        '{ a: Fail(code: "x"), b: Draft }',
        'const v = do { Fail(code: "x") }; Draft(v)',
        'const f = Find(prompt); const v = when f.text is "x" { f } else { Fail(code: "x") }; Draft(v)',
    ],
)
def test_a_block_may_end_in_a_fail(program: str) -> None:
    assert problems(program) == []


@every_case("wrong", ["Nope", "aug:nope", "round"])
@every_case("reader", ["each e in v { Draft(e) }", "each e in v.tags { Draft(e) }", "when v.ok { Draft }"])
def test_a_name_of_what_is_not_there_is_reported_once(wrong: str, reader: str) -> None:
    [problem] = problems(f"const v = {wrong}; {reader}")
    assert problem.name in {"unknown-name", "unresolved-reference"}


def test_a_condition_on_a_member_that_is_not_there_is_that_mistake_alone() -> None:
    [problem] = problems("const f = Find(prompt); repeat { Draft(f) } until f.okay")
    assert problem.name == "unknown-member"


@every_case("exported", ["input a; { x: a }", "(when prompt { Draft })"])
def test_an_annotation_on_a_program_that_exports_no_step_is_shown_where_it_is_written(exported: str, tmp_path: Any) -> None:
    (tmp_path / "inner.aug").write_text(exported, encoding="utf-8")
    call = "Inner(a: Draft)" if "input" in exported else "Inner"
    with pytest.raises(CompileError) as raised:
        instrc.artefacts(f'{call} @ {{ required: ["q"] }}', vibes=VIBES, roots=[tmp_path])
    [problem] = raised.value.problems
    assert problem.name == "misplaced-annotation"
    assert problem.at is not None
    assert problem.at.text == '@ { required: ["q"] }'


def test_a_program_with_several_tools_says_how_to_name_one(tmp_path: Any) -> None:
    (tmp_path / "inner.aug").write_text("tool a = Draft; tool b = Find", encoding="utf-8")
    with pytest.raises(CompileError) as raised:
        instrc.artefacts("Inner", vibes=VIBES, roots=[tmp_path])
    [problem] = raised.value.problems
    assert problem.name == "unchosen-export"
    assert problem.hint == "name one after the reference: `#a`, `#b`"


DATED = an_object(text=TEXT, due={"type": "string", "format": "date"}, by={"type": ["string", "null"], "format": "x-mine"})
OF_DATES: dict[str, Any] = {
    "Plan_Activity": {**DATED, "properties": {**DATED["properties"], "output": TEXT}},
    "Note": DATED,
    **VIBES,
}


@every_case("value", ['"tomorrow"', '"2026-02-30"'])
@every_case(
    "call",
    [
        "Note(«due»: {})",
        "Note({{ «due»: {} }})",
        "do {{ Note(prompt, {{ «due»: {} }}) }}",
        "Plan_Activity(prompt, «due»: {})",
        "Plan_Activity(prompt, {{ «due»: {} }})",
        "RunPlan_Activity(Act(prompt, {{ plan: Plan(Plan_Activity(«due»: {})) }}).plan)",
        "Inner(«due»: {})",
        'Note({{ by: "nobody knows this format", «due»: {} }})',
    ],
)
def test_a_text_without_the_format_of_its_argument_is_one_problem_as_no_run_takes_it(
    call: str, value: str, tmp_path: Path
) -> None:
    (tmp_path / "inner.aug").write_text('input due @ { type: "string", format: "date" }; Draft(prompt, due)', encoding="utf-8")
    text = call.format(value)
    with pytest.raises(CompileError) as caught:
        instrc.artefacts(text.replace("«", "").replace("»", ""), vibes=OF_DATES, roots=[tmp_path])
    [problem] = caught.value.problems
    assert (problem.name, problem.at.start, problem.at.text) == ("wrong-argument", text.index("«"), "due")
    assert f'{value} is not a "date"' in problem.message
    dated = call.replace("«", "").replace("»", "").format('"2026-01-01"')
    assert instrc.artefacts(dated, vibes=OF_DATES, roots=[tmp_path])


@every_case(
    ("call", "advice"),
    [
        ('Book_Activity(seats: "3")', "write `3`"),
        ("Book_Activity(seats: 1, name: 7)", 'write `"7"`'),
        ("Book_Activity(seats: 1, name: true)", 'write `"true"`'),
        ("Book_Activity(seats: found.text)", "write `count`"),
        ("Book_Activity(seats: found.count, name: found.share)", "write `text` or `maybe`"),
        ('Book_Activity(seats: "three")', "a value that the schema of `seats` allows"),
        ("const text = found.text; Book_Activity(seats: text)", "a path to one: `seats: NAME.MEMBER`"),
        ("try { Draft(prompt) } else { Fail(code: 404) }", 'write `"404"`'),
        ('try { Draft(prompt) } else { Fail(kind: "time_out") }', 'write `"timeout"`'),
    ],
)
def test_an_argument_that_never_fits_is_told_what_to_write(call: str, advice: str) -> None:
    [problem] = [each for each in problems(f"const found = Find(prompt); {call}") if each.name == "wrong-argument"]
    assert advice in problem.hint
