"""One slip is one problem, at the word to change."""

from __future__ import annotations

from typing import Any

import pytest
from every_case import every_case
from objects import an_object

import instrc
from instrc import Report

TEXT = {"type": "string"}


VIBES = {
    "Draft": an_object(text=TEXT),
    "Act": an_object(plan={}, answer=TEXT),
    "Search_Activity": an_object(found=TEXT),
}
ACT = "const act = Act(prompt, { plan: Plan(Search_Activity) }); "


@every_case(
    ("marked", "name"),
    [
        ("const «Plan» = Draft; Plan", "reserved-name"),
        ("do { const «Plan» = Draft; Plan }", "reserved-name"),
        ("const «OneOf» = Draft; Draft(OneOf(prompt))", "reserved-name"),
        ("const «Process» = Draft; Process(prompt)", "reserved-name"),
        ("const «LaunchProcess» = Draft(prompt); Draft(LaunchProcess)", "reserved-name"),
        ("input «Plan»; Draft(Plan)", "reserved-name"),
        ("const plan = { a: Draft }; «Plan(prompt)»", "misplaced-plan"),
        (ACT + "RunPlan_Activity(act.«pln»)", "unknown-member"),
        (ACT + "«RunPlan_Activity(act.answer)»", "not-a-plan"),
        ("Draft «prompt»", "nothing-to-do"),
        ("«process»(LLM_Context(Draft), LLM_Context(Act))", "unknown-name"),
        ("const all = «Workflow»(LLM_Context(Draft) @ { title: 'All' }); all", "unknown-name"),
        ('Process(LLM_Context(Draft) @ { additionalProperties: false, required: [«"zz"»] })', "missing-from-properties"),
        ('«Process(LLM_Context(Draft))» @ { required: ["zz"] }', "misplaced-annotation"),
        ('Process(LLM_Context({ a: Draft }) @ { required: ["a", «"b"»] })', "missing-from-properties"),
        ("Draft @ { properties: { text: «{ enum: [] }» } }", "impossible-schema"),
        ('Draft @ { properties: { text: { «pattern»: "^a$", minLength: 3 } } }', "impossible-schema"),
        ('Draft @ { properties: { text: «{ type: "string", pattern: "^a$", minLength: 3 }» } }', "impossible-schema"),
        ('input tone «{» type: "string" }; Draft(tone)', "unexpected-text"),
        ('repeat { const d = Draft(prompt); d } until d.text is "a" «is» max 3', "stray-word"),
        ('repeat { const d = Draft(prompt); d } until d.text is "a" «"a"» max 3', "repeated-word"),
        ('repeat { const d = Draft(prompt); d } until d.text is "a" max 3 «4»', "unexpected-text"),
        (f'repeat {{ {ACT} RunPlan_Activity(act.«pln»); act }} until act.answer is "x"', "unknown-member"),
    ],
)
def test_one_slip_is_one_problem(marked: str, name: str) -> None:
    with pytest.raises(instrc.CompileError) as raised:
        instrc.artefacts(marked.replace("«", "").replace("»", ""), vibes=VIBES)
    [problem] = raised.value.problems
    assert (problem.name, problem.at and problem.at.start) == (name, marked.index("«"))
    assert problem.at.text == marked.partition("«")[2].partition("»")[0]


@every_case("text", ["{ enum: [] }", '{ type: "string", pattern: "^a$", minLength: 3 }'])
def test_what_may_be_left_out_may_be_impossible_with_a_warning(text: str) -> None:
    report = Report()
    instrc.artefacts(f"Draft @ {{ properties: {{ tone: {text} }} }}", vibes=VIBES, report=report)
    assert [problem.severity for problem in report.ordered()] == ["warning"]


@every_case("annotation", ['required: ["step1_draft"]', 'properties: { b: {} }, required: ["b"]'])
def test_a_context_may_require_what_is_described(annotation: str) -> None:
    instrc.artefacts(f"Process(LLM_Context(Draft) @ {{ {annotation} }})", vibes=VIBES)


@every_case(
    ("key", "names"),
    [
        ("iteration", ["similar-property"]),
        ("_Iteration", ["similar-property"]),
        ("_itration", ["similar-property"]),
        ("_iteration", []),
        ("texts", []),
        ("TEXT", ["similar-property"]),
    ],
)
def test_a_new_property_beside_one_of_nearly_its_name_is_told(key: str, names: list[str]) -> None:
    report, count = Report(), an_object(text=TEXT, _iteration={"type": "integer"})
    instrc.artefacts(f"Count @ {{ properties: {{ {key}: {{}} }} }}", vibes={"Count": count}, report=report)
    assert [problem.name for problem in report.ordered()] == names
    assert all(problem.at and problem.at.text == key for problem in report.ordered())


CHECK = "const c = Check(prompt); "


@every_case(
    ("text", "hint"),
    [
        ("Called(prompt)", "write it in the brackets of the call: `who: …`"),
        (CHECK + "when c.issues.length is 0 { Draft(c) }", "`PATH @ { minItems: 1 }`"),
        (CHECK + 'when c.issues[0] is "x" { Draft(c) }', "each NAME in PATH"),
        (CHECK + 'when c.level is "a" | "b" { Draft(c) }', "or PATH is VALUE"),
        ("Act(prompt, { plan: Plan(Search_Activity, Search_Activity) })", "name each tool once"),
        ("repeat { " + CHECK + 'c } until c.level is "a" && c.level is "b"', "write `and`"),
    ],
)
def test_the_hint_says_what_to_write(text: str, hint: str, tmp_path: Any) -> None:
    (tmp_path / "called.aug").write_text("input who; Draft(who, prompt)", encoding="utf-8")
    check = {"Check": an_object(level=TEXT, issues={"type": "array", "items": TEXT})}
    with pytest.raises(instrc.CompileError) as raised:
        instrc.artefacts(text, vibes={**VIBES, **check}, roots=[tmp_path])
    [problem] = raised.value.problems
    assert hint in (problem.hint or "")


def test_what_the_hint_says_compiles() -> None:
    check = {"Check": an_object(level=TEXT, issues={"type": "array", "items": TEXT})}
    text = 'const done = when c.level is "a" { when c.issues @ { minItems: 1 } { true } }; c } until done'
    instrc.artefacts("repeat { " + CHECK + text, vibes={**VIBES, **check})


def test_a_dot_that_ends_a_line_is_named_where_the_next_line_is_taken_for_a_member() -> None:
    with pytest.raises(instrc.CompileError) as raised:
        instrc.artefacts("const a = Draft(prompt).\nconst b = Draft(a); b", vibes=VIBES)
    [problem] = raised.value.problems
    assert (problem.name, problem.at and problem.at.text) == ("unknown-member", "const")
    assert problem.hint == "remove the `.` that ends the line before, if it does not lead to this word"
