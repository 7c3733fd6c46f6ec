"""What the documents of a program say of its steps, its values and the values of its blocks."""

from __future__ import annotations

from typing import Any

import pytest

import instrc
from instrc.emit.vibes import emit_vibe
from instrc.flattening.flatten import flatten
from instrc.ir.artefact import Artefact
from instrc.problems.report import Report

TEXT = {"type": "string"}
A = {"type": "object", "properties": {"x": TEXT}, "required": ["x"]}
B = {"type": "object", "properties": {"y": TEXT}}
VIBES: dict[str, Any] = {
    "A": {"$schema": "https://json-schema.org/draft/2020-12/schema", **A},
    "B": B,
    "Judge": {"type": "object", "properties": {"good": {"type": "boolean"}}},
    "Get_Activity": B,
    "Search_Activity": {"type": "object", "properties": {"output": TEXT}},
    "Act": {"type": "object", "properties": {"plan": {}}, "required": ["plan"]},
}


def compiled(text: str) -> Artefact:
    [made] = instrc.artefacts(text, vibes=VIBES, hints=False, report=Report())  # warnings are no subject here
    return made


def test_a_step_does_not_repeat_the_dialect_of_its_vibe() -> None:
    made = compiled("const a = A(prompt); B(a)")
    assert made.documents["tool"]["properties"] == {"step1_a": A, "step2_b": B}


def test_the_number_of_a_counted_each_is_an_integer_up_to_the_count() -> None:
    [each] = compiled("each i in 3 { { number: i, a: A(i) } }").documents["result"]["properties"].values()
    assert each["items"]["properties"]["number"] == {"type": "integer", "minimum": 1, "maximum": 3}


@pytest.mark.parametrize(
    ("given", "value"),
    [("b", None), ("b.y", "step3_b.y"), ("{ what: a.x, b }", {"what": "step1_a.x", "b": "step3_b"}), ("{ b }", None)],
)
def test_a_process_says_what_it_gives_where_that_is_a_member(given: str, value: Any) -> None:
    made = compiled(f"const a = A(prompt); const s = Get_Activity(a); const b = B(s); {given}")
    assert made.documents["process"].get("value") == value


JUDGED = "const j = Judge(prompt); "


@pytest.mark.parametrize(
    ("block", "value"),
    [
        (JUDGED + "when j.good { A(prompt) }", {"anyOf": [A, {"type": "null"}]}),
        (JUDGED + "when j.good { A(prompt) } else { B(prompt) }", {"anyOf": [A, B]}),
        (JUDGED + "when j.good { A(prompt) } else { A(j) }", A),
        ("try { Get_Activity(prompt) } else { A(prompt) }", {"anyOf": [B, A]}),
        ("each p in prompt { A(p) }", {"type": "array", "items": A}),
        ("repeat { const j = Judge(prompt); j } until j.good", VIBES["Judge"]),
        ("repeat p in prompt { A(p) }", {"type": "array", "items": A}),
        ("do { A(prompt) }", A),
        ("do { const a = A(prompt); a.x }", TEXT),
        (
            'do { const a = A(prompt); { a, word: "done" } }',
            {"type": "object", "properties": {"a": A, "word": {"const": "done"}}, "required": ["a", "word"]},
        ),
    ],
)
def test_the_result_of_a_process_kept_as_a_vibe_says_what_its_blocks_give(block: str, value: Any) -> None:
    process = compiled(block).documents["process"]
    kept = emit_vibe(flatten(process), "kept", batch=1)
    assert list(kept.documents["result"]["properties"].values())[-1] == value


@pytest.mark.parametrize(
    ("tool", "bound"),
    [
        ("Search_Activity", None),
        ("Search_Activity(a.x)", {"0": "step1_a.x"}),
        ("Search_Activity(a.x, b.y)", {"0": "step1_a.x", "1": "step2_b.y"}),
        ("Search_Activity(a.x, b)", {"0": "step1_a.x", "b": "step2_b"}),
        ("Search_Activity(word: a.x)", {"word": "step1_a.x"}),
    ],
)
def test_what_a_program_gives_to_a_tool_of_a_plan_is_bound_by_name_else_by_number(tool: str, bound: Any) -> None:
    text = f"const a = A(prompt); const b = B(prompt); const act = Act(a, {{ plan: Plan({tool}) }}); RunPlan_Activity(act.plan)"
    process = compiled(text).documents["process"]
    [step] = process["$defs"]["SERVER_1"]["properties"].values()
    assert step["plan"]["tools"]["Search_Activity"].get("bound") == bound
