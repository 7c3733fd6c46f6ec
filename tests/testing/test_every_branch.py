"""A rehearsal takes every branch that made answers can lead to, and says which it did not reach and why."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from every_case import every_case
from hunting import examples
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

import instrc
from instrc.cli import main

EXAMPLES = Path(__file__).parents[2] / "examples"
STEP = '@{ title: "Draft", type: "object", properties: { go: { type: "boolean" }, count: { type: "integer" } } }'

OF_SUSPICIOUS_PROGRAMS = pytest.mark.filterwarnings("ignore::instrc.CompileWarning")


def _nested(first: str, second: str, kind: int) -> str:
    if kind == 0:
        return f"when d.go {{ {first} }} else {{ {second} }}"
    if kind == 1:
        return f"try {{ {first} }} else {{ {second} }}"
    return f"repeat {{ const e = d | {STEP}; {first} }} until e.go max 3"


@every_case(
    ("program", "branches", "ends"),
    [
        ("support-triage/triage.aug", 8, {"done", "failed"}),
        ("meeting-with-approval/meeting.aug", 5, {"done"}),
        ("tool-agent/agent.aug", 3, {"done"}),
        ("plan-and-report/trip.aug", 2, {"done"}),
        ("agents/tool-calling-agent/tool-calling-agent.aug", 8, {"done", "failed"}),
        ("agents/code-agent/code-agent.aug", 10, {"done"}),
    ],
)
def test_every_branch_of_an_example_is_taken(program: str, branches: int, ends: set[str]) -> None:
    found = instrc.rehearse(EXAMPLES / program)
    assert found.missed == ()
    assert found.branches == branches
    assert found.sound
    assert {run.outcome["status"] for run in found.runs} == ends
    taken = [branch for run in found.runs for branch in run.branches]
    assert len(taken) == len(set(taken)) == branches
    assert len(found.runs) <= 5


def branches(program: str, given: object = None) -> tuple[set[str], dict[str, str]]:
    """Return the branches that a rehearsal takes, and those that it does not, with the reasons."""
    found = instrc.rehearse(program, given)
    assert found.sound
    return {branch for run in found.runs for branch in run.branches}, {each.branch: each.reason for each in found.missed}


@every_case(
    "member",
    [
        '{ type: "string", pattern: "^[A-Z]{2}-[0-9]{4}$" }',
        '{ type: "array", items: { type: "integer" }, minItems: 2, uniqueItems: true }',
    ],
)
def test_answers_are_made_for_what_their_schema_asks_beside_the_type(member: str) -> None:
    step = (
        f'@{{ title: "Draft", type: "object", properties: {{ go: {{ type: "boolean" }}, code: {member} }}, required: ["code"] }}'
    )
    taken, missed = branches(f"const d = prompt | {step};\nwhen d.go {{ d | {STEP} }} else {{ d | {STEP} }}\n")
    assert taken == {"whenContext1 branch 1", "whenContext1 else"}
    assert missed == {}


def test_each_branch_of_a_when_and_none_of_them() -> None:
    taken, missed = branches(f"const d = prompt | {STEP};\nwhen d.count is 7 {{ d | {STEP} }}\n")
    assert taken == {"whenContext1 branch 1", "whenContext1 without a branch"}
    assert missed == {}


@every_case("document", [{}, {"type": "object"}, {"properties": {}}])
def test_a_tool_without_steps_has_no_choice(document: dict[str, object]) -> None:
    [run] = instrc.rehearse(document, "a letter").runs
    assert run.outcome["status"] == "done"


def test_an_input_that_is_given_is_no_choice() -> None:
    program = f'input kind @ {{ enum: ["new", "old"] }};\nwhen kind is "old" {{ prompt | {STEP} }} else {{ prompt | {STEP} }}\n'
    assert branches(program) == ({"whenContext1 branch 1", "whenContext1 else"}, {})
    taken, missed = branches(program, {"kind": "new"})
    assert taken == {"whenContext1 else"}
    assert missed == {"whenContext1 branch 1": "nothing that is made up decides it"}


@OF_SUSPICIOUS_PROGRAMS
def test_a_value_that_no_schema_allows_is_told_as_the_reason() -> None:
    taken, missed = branches(f'const d = prompt | {STEP};\nwhen d.count is "seven" {{ d | {STEP} }}\n')
    assert taken == {"whenContext1 without a branch"}
    assert list(missed) == ["whenContext1 branch 1"]
    assert missed["whenContext1 branch 1"].startswith("no value that its schema allows leads there")


@OF_SUSPICIOUS_PROGRAMS
def test_what_lies_in_a_branch_that_was_not_reached_says_so() -> None:
    inner = f"when d.go {{ d | {STEP} }} else {{ d | {STEP} }}"
    _, missed = branches(f'const d = prompt | {STEP};\nwhen d.count is "seven" {{ {inner} }}\n')
    assert missed["whenContext1.whenContext2 else"] == "whenContext1 branch 1 was not reached"


def test_a_loop_ends_by_its_condition_and_after_all_rounds_however_many() -> None:
    taken, missed = branches(f"repeat {{ const d = prompt | {STEP}; d }} until d.go max 100000\n")
    assert taken == {"repeatContext1 ends by its condition", "repeatContext1 ends after all rounds"}
    assert missed == {}


def test_a_condition_on_an_element_of_a_list_is_reached() -> None:
    people = '@{ title: "Find", type: "object", properties: { all: { type: "array", items: { enum: ["a", "b"] } } } }'
    program = (
        f'const p = prompt | {people};\neach one in p.all {{ when one is "b" {{ one | {STEP} }} else {{ one | {STEP} }} }}\n'
    )
    taken, missed = branches(program)
    assert missed == {}
    assert "eachContext1.whenContext1 branch 1" in taken


@pytest.mark.parametrize(
    "condition",
    ["x.n > order.least", "x.n <= order.least", "x.name is order.name"],
)
def test_an_element_that_another_value_selects_is_reached(condition: str) -> None:
    line = {"type": "object", "properties": {"name": {"type": "string"}, "n": {"type": "number"}}, "required": ["name", "n"]}
    order = {"least": {"type": "number"}, "name": {"type": "string"}, "lines": {"type": "array", "items": line}}
    vibes = {"Order": {"type": "object", "properties": order, "required": [*order]}, "Note": line}
    program = f"const order = Order(prompt); each x in order.lines when {condition} {{ Note(x) }}"
    assert not instrc.rehearse(instrc.artefacts(program, vibes=vibes)[0].documents["process"], "x").missed


def test_an_element_of_a_block_is_selected_by_the_step_that_gives_it() -> None:
    judge = {"type": "object", "properties": {"score": {"type": "integer"}}, "required": ["score"]}
    program = """const all = each i in 3 { const t = Think(i); const j = Judge(t); { t, j } };
        each x in all when x.j.score >= 7 first 2 { Judge(x) }"""
    vibes = {"Think": {"type": "object", "properties": {"idea": {"type": "string"}}}, "Judge": judge}
    assert not instrc.rehearse(instrc.artefacts(program, vibes=vibes)[0].documents["process"], "x").missed


def test_a_refusal_that_no_condition_reads_is_a_branch() -> None:
    decision = '{ decision: { enum: ["Approve", "Reject"] } }'
    ask = f'@{{ title: "Ask_User", type: "object", properties: {decision}, required: ["decision"] }}'
    found = instrc.rehearse(f"const d = prompt | {STEP};\nd | {ask}\n")
    assert [run.outcome["status"] for run in found.runs][-1] == "stopped"
    assert found.missed == ()


def test_a_program_without_a_branch_runs_once() -> None:
    found = instrc.rehearse(STEP)
    assert (len(found.runs), found.branches, found.missed) == (1, 0, ())


def test_the_same_program_is_rehearsed_in_the_same_way() -> None:
    program = EXAMPLES / "support-triage" / "triage.aug"
    assert str(instrc.rehearse(program)) == str(instrc.rehearse(program))


def test_the_command_prints_a_line_for_each_run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(EXAMPLES / "meeting-with-approval")
    assert main(["run", "meeting.aug", "--rehearse", "--every-branch"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "5 of 5 branches in 3 runs"
    assert lines[1] == '2. done | step3_approve.decision = "Reject" | whenContext1 else'
    assert main(["run", "meeting.aug", "--every-branch", "--json"]) == 0
    runs = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [run["sound"] for run in runs] == [True, True, True]
    assert runs[1]["choices"] == ['step3_approve.decision = "Reject"']


@every_case(("option", "value"), [("--id", "x"), ("--model", "sample"), ("--requests", "0")])
def test_options_that_say_nothing_here_are_refused(
    option: str, value: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(EXAMPLES / "meeting-with-approval")
    assert main(["run", "meeting.aug", "--every-branch", option, value]) == 2
    assert f"{option} has no effect beside --every-branch" in capsys.readouterr().err


def test_an_input_that_does_not_fit_is_a_problem() -> None:
    with pytest.raises(instrc.InputError) as raised:
        instrc.rehearse(EXAMPLES / "support-triage" / "triage.aug", {"customer": 7})
    assert raised.value.problems[0].name == "invalid-input"


@examples(15, without=list(HealthCheck))
@given(st.recursive(st.just(f"d | {STEP}"), lambda inner: st.builds(_nested, inner, inner, st.integers(0, 2)), max_leaves=4))
def test_blocks_in_blocks_are_taken_whole(body: str) -> None:
    found = instrc.rehearse(f"const d = prompt | {STEP};\n{body}\n")
    assert found.sound
    assert len({branch for run in found.runs for branch in run.branches}) + len(found.missed) == found.branches


@pytest.mark.slow
def test_branches_deep_inside_loops_are_reached() -> None:
    found = instrc.rehearse(EXAMPLES / "agents/console-agent/console-agent.aug")
    assert (found.missed, found.branches) == ((), 45)


@OF_SUSPICIOUS_PROGRAMS
def test_an_object_that_may_be_null_is_null_in_one_run() -> None:
    call = '{ type: ["object", "null"], properties: { name: { enum: ["add"] } }, required: ["name"] }'
    step = f'@{{ title: "Draft", type: "object", properties: {{ call: {call} }}, required: ["call"] }}'
    taken, missed = branches(f'const d = prompt | {step};\nwhen d.call.name is "add" {{ d | {STEP} }}\n')
    assert taken == {"whenContext1 branch 1", "whenContext1 without a branch"}
    assert missed == {}


def test_a_branch_that_only_a_late_round_reaches_is_reached() -> None:
    program = f"repeat {{ const d = prompt | {STEP}; when round is 9 {{ d | {STEP} }} }} until d.go max 20\n"
    assert branches(program)[1] == {}


def test_a_search_that_is_cut_short_says_so_and_on_what_the_branch_depends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("instrc.testing.rehearsal.REHEARSED_RUNS", 1)
    _, missed = branches(f"const d = prompt | {STEP};\nwhen d.count is 7 {{ d | {STEP} }}\n")
    reason = "a rehearsal ends after 1 runs, and none of its runs went there; it depends on `step1_draft.count`; runs: 1"
    assert missed == {"whenContext1 branch 1": reason}


@every_case(
    ("body", "expected"),
    [
        (
            "when d.go { Fail(d) }",
            {"tryContext1.whenContext1.step2_fail fails, which tryContext1 catches", "tryContext1.whenContext1 without a branch"},
        ),
        (
            f"try {{ d | {STEP} }} else {{ Fail(error) }}",
            {"tryContext1.tryContext2.step3_fail fails, which tryContext1 catches", "tryContext1.tryContext2 else"},
        ),
        ("try { Fail(d) } else { null }", {"tryContext1.tryContext2.step2_fail fails, which tryContext1.tryContext2 catches"}),
    ],
)
@every_case("otherwise", ["null", "d", '"lost"'])
def test_a_failure_that_is_caught_by_a_body_without_steps_is_seen(body: str, expected: set[str], otherwise: str) -> None:
    program = f"const d = prompt | {STEP};\nconst s = try {{ {body} }} else {{ {otherwise} }};\ns | {STEP}\n"
    taken, missed = branches(program)
    assert expected <= taken
    assert not [name for name in missed if "fail" in name]


def test_a_document_that_holds_itself_is_refused() -> None:
    document: Any = {"type": "object"}
    document["properties"] = {"again": document}
    with pytest.raises(TypeError, match="a JSON value cannot contain itself"):
        instrc.rehearse(document)


def an(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


TEXT = {"type": "string"}
VIBES: dict[str, Any] = {
    "Find": an(items={"type": "array", "items": an(kind={"enum": ["a", "b"]}, name=TEXT)}),
    "Draft": an(ok={"type": "boolean"}, text=TEXT, score={"type": "number"}),
    "Write": an(text=TEXT),
    "Act": an(plan={}),
    "Search_Activity": {"type": "object", "properties": {"q": TEXT, "output": {"type": "array", "items": TEXT}}},
    "Book_Activity": {"type": "object", "properties": {"q": TEXT, "output": an(no={"type": "number"})}},
}
DRAFTS = "const all = each i in 3 { Draft(i) }; "
FOUND = "const f = Find(prompt); "
SEEN = "const act = Act(prompt, { plan: Plan(Search_Activity, Book_Activity) }); const seen = RunPlan_Activity(act.plan); "
OK = '{ properties: { ok: { const: true } }, required: ["ok"] }'


@every_case(
    "program",
    [
        DRAFTS + f"when all @ {{ contains: {OK} }} {{ Write(all) }} else {{ Draft(all) }}",
        DRAFTS + f"when all @ {{ items: {OK} }} {{ Write(all) }} else when all @ {{ contains: {OK} }} {{ Draft }} else {{ Act }}",
        DRAFTS + "each d in all { when d.ok { Write(d) } else { Draft(prompt) } }",
        "const all = each i in 3 { Draft(i).score }; when all @ { contains: { minimum: 8 } } { Write(all) } else { Draft }",
        FOUND + 'const all = each x in f.items { when x.kind is "a" { Draft(x) } }; each y in all { when y @ {} { Write(y) } }',
        FOUND + "const all = each x in f.items { Draft(x) }; when all @ { minItems: 3 } { Write(all) } else { Draft(all) }",
        FOUND + "when f.items @ { minItems: 2 } { Write(f) } else { Draft(f) }",
        SEEN + "when seen @ { minItems: 2 } { Write(seen) } else { Draft(seen) }",
        SEEN
        + 'each t in seen { when t.status is "failed" { Draft(t) } else when t.status is "skipped" { Write(t) } else { Draft } }',
        SEEN + 'when seen @ { contains: { properties: { tool: { const: "Book_Activity" } } } } { Write(seen) }',
        "repeat { " + SEEN + "act } until act.plan @ { maxItems: 0 } max 3 else { Write(rounds) }",
        "const d = Draft(prompt); when d.text @ { allOf: [{ minLength: 8 }, { maxLength: 9 }] } { Write(d) }",
    ],
)
@OF_SUSPICIOUS_PROGRAMS
def test_elements_and_plans_are_varied(program: str) -> None:
    assert instrc.rehearse(program, vibes=VIBES).missed == ()


def test_what_was_not_reached_is_said_with_what_was_tried() -> None:
    program = 'const d = Draft(prompt); when d.text is "x" { when d.text is "y" { Write(d) } }'
    [missed] = instrc.rehearse(program, vibes=VIBES).missed
    assert "it depends on `step1_draft.text`; only these were tried: " in missed.reason
    assert '"y"' in missed.reason
    assert "schema" not in missed.reason
