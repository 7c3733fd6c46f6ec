"""`instrc diff` of two processes says what is needed anew, and for whom it breaks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command_lines import Instrc

TEXT = {"type": "string"}


def obj(*required: str, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)}


CARD = {**obj("card", card={"$ref": "#/$defs/card"}), "$defs": {"card": obj("of", of={"items": {"$ref": "#/$defs/card"}})}}
VIBES = {
    "card": CARD,
    "draft": obj("text", text=TEXT),
    "pair": obj(a=TEXT, b=TEXT),
    "fix_User": obj("text", text=TEXT),
    "review": obj("text", text=TEXT),
    "propose": obj("plan", plan={}),
    "find": obj("names", names={"type": "array", "items": TEXT}),
    "send_Activity": obj("output", output=obj("id", id=TEXT)),
    "sign_Activity": obj("output", output=obj("id", id=TEXT)),
    "fix_Activity": obj("output", output=obj("text", text=TEXT)),
    "approve_User": obj("decision", decision={"enum": ["yes", "no"]}),
}
BASE = "const d = Draft(prompt); const a = Approve_User({ d }); const s = Send_Activity({ d, a }); Review(s)"


@pytest.fixture
def compared(instrc: Instrc, folder: Path) -> Any:
    """Compare two texts of a program."""

    def run(old: str, new: str, **changed: Any) -> Any:
        root = folder / "schemas"
        for side, vibes, text in (("old", VIBES, old), ("new", VIBES | changed, new)):
            for name, schema in vibes.items():
                (root / f"{name}.vibe.json").write_text(json.dumps(schema))
            (folder / f"{side}.aug").write_text(text)
            done = instrc("compile", f"{side}.aug", "--emit", "process")
            assert done.code == 0, done.err
            (folder / f"{side}.json").write_text(done.out)
        done = instrc("diff", "old.json", "new.json", "--format", "json")
        assert done.code == 0, done.err
        return json.loads(done.out)["process"]

    return run


def verdicts(found: Any) -> tuple[str, str]:
    return found["old_starts_accepted"]["verdict"], found["old_services_suffice"]["verdict"]


def test_a_process_has_not_changed_from_itself(compared: Any) -> None:
    found = compared(BASE, BASE)
    assert (found["needed"], found["spared"], verdicts(found)) == ([], [], ("yes", "yes"))


CASES = [
    pytest.param(
        "const d = Draft(prompt); const s = Send_Activity({ d }); Review(s)",
        "const d = Draft(prompt); const x = Sign_Activity({ d }); const s = Send_Activity({ d, x }); Review(s)",
        ["sign_Activity"],
        "no",
        id="an activity that is needed anew breaks",
    ),
    pytest.param(
        "const d = Draft(prompt); const x = Sign_Activity({ d }); const s = Send_Activity({ d, x }); Review(s)",
        "const d = Draft(prompt); const s = Send_Activity({ d }); Review(s)",
        [],
        "unknown",
        id="an activity that gets less is not claimed to be safe",
    ),
    pytest.param(
        "const d = Draft(prompt); const x = Sign_Activity({ d }); const s = Send_Activity({ d }); Review(s, x)",
        "const d = Draft(prompt); const s = Send_Activity({ d }); Review(s)",
        [],
        "unknown",
        id="an activity that nobody needs any more",
    ),
    pytest.param(
        "const d = Draft(prompt); const r = Review(d); Send_Activity({ r })",
        "const d = Draft(prompt); const a = Approve_User({ d }); const r = Review(d, a); Send_Activity({ r })",
        ["person: approve"],
        "no",
        id="a person between two steps of the model splits its chunk",
    ),
    pytest.param(
        "const d = Draft(prompt); const a = Approve_User({ d }); const r = Review(d, a); Send_Activity({ r })",
        "const d = Draft(prompt); const r = Review(d); Send_Activity({ r })",
        [],
        "unknown",
        id="without the person it is one chunk again",
    ),
    pytest.param(
        "const d = Draft(prompt); Send_Activity({ d })",
        'const d = Draft(prompt); Send_Activity({ d }) @ { within: "PT5M" }',
        [],
        "unknown",
        id="a deadline",
    ),
    pytest.param(
        BASE.replace("Review(s)", 'when a.decision is "yes" { Review(s) }'),
        BASE.replace("Review(s)", 'when a.decision is "no" { Review(s) }'),
        [],
        "unknown",
        id="a condition",
    ),
    pytest.param(
        "const f = Find(prompt); each n in f.names max 5 { Send_Activity({ n }) }",
        "const f = Find(prompt); each n in f.names max 9 { Send_Activity({ n }) }",
        [],
        "unknown",
        id="the most elements of an each",
    ),
    pytest.param(
        "const f = Find(prompt); each n in f.names { Send_Activity({ n }) }",
        "const f = Find(prompt); Send_Activity({ f })",
        [],
        "unknown",
        id="a block that is gone",
    ),
    pytest.param(
        BASE.replace("Review(s)", 'when a.decision is "yes" { Review(s) }'),
        BASE.replace("Review(s)", "when a.decision @ { minLength: 1 } { Review(s) }"),
        [],
        "unknown",
        id="a condition that asks for more than one value",
    ),
    pytest.param(
        BASE.replace("Review(s)", 'when a.decision is "yes" { Review(s) } else { Fix_Activity({ a }) }'),
        BASE.replace("Review(s)", 'when a.decision is "yes" { Fix_Activity({ a }) } else { Review(s) }'),
        [],
        "unknown",
        id="steps in the branch of each other",
    ),
    pytest.param(
        BASE.replace("Review(s)", "const b = do { Fix_Activity({ s }) }; const r = Sign_Activity({ s }); Review(b, r)"),
        BASE.replace(
            "Review(s)",
            "const f = do { Fix_User({ s }) }; const b = do { Fix_Activity({ f }); Sign_Activity({ s }) }; Review(b)",
        ),
        ["person: fix"],
        "no",
        id="a step that goes into a block that was there",
    ),
    pytest.param(
        BASE,
        BASE.replace("Send_Activity({ d, a })", "Send_Activity({ d, a, note: {} })"),
        [],
        "unknown",
        id="an argument that is empty",
    ),
    pytest.param(
        BASE,
        BASE.replace("Review(s)", "const t = Send_Activity({ s }); Review(s, t)"),
        [],
        "unknown",
        id="one more call of an activity that is there gives it other arguments",
    ),
    pytest.param(
        BASE,
        BASE.replace("Review(s)", "const r = Review(s); Find(r)"),
        [],
        "unknown",
        id="one more step of the model",
    ),
]


@pytest.mark.parametrize(("old", "new", "needed", "serve"), CASES)
def test_whom_a_change_affects_is_told(compared: Any, old: str, new: str, needed: Any, serve: str) -> None:
    found = compared(old, new)
    assert found["needed"] == needed
    assert found["old_services_suffice"]["verdict"] == serve, found


def test_an_answer_of_an_activity_that_may_be_another_is_told(compared: Any) -> None:
    found = compared(BASE, BASE, send_Activity=obj("output", output=obj("id", id={"type": ["string", "null"]})))
    assert verdicts(found) == ("yes", "unknown")


def test_an_answer_of_an_activity_that_is_only_described_otherwise_is_safe(compared: Any) -> None:
    found = compared(BASE, BASE, send_Activity=obj("output", output=obj("id", id={**TEXT, "description": "Of the letter."})))
    assert verdicts(found) == ("yes", "yes")


def test_another_name_of_a_person_is_needed_anew_and_one_of_the_model_is_not(compared: Any) -> None:
    found = compared(BASE, BASE.replace("Draft", "Sketch"), sketch=VIBES["draft"])
    assert verdicts(found) == ("yes", "unknown")
    asked = compared(BASE, BASE.replace("Approve_User", "Confirm_User"), confirm_User=VIBES["approve_User"])
    assert (asked["needed"], verdicts(asked)) == (["person: confirm"], ("yes", "no"))


def test_a_step_that_another_executor_takes_is_moved(compared: Any) -> None:
    tail = "const a = Approve_User({ e }); Send_Activity({ e, a })"
    person, server = (f"const d = Draft(prompt); const e = {step}({{ d }}); {tail}" for step in ("Fix_User", "Fix_Activity"))
    there, back = compared(person, server), compared(server, person)
    assert (there["needed"], there["spared"], verdicts(there)) == (["fix_Activity"], ["person: fix"], ("yes", "no"))
    assert (back["needed"], back["spared"], verdicts(back)) == (["person: fix"], ["fix_Activity"], ("yes", "no"))


def test_a_question_that_accepts_less_breaks_and_one_that_accepts_more_is_unknown(compared: Any) -> None:
    narrow = compared(BASE, BASE, approve_User=obj("decision", decision={"enum": ["yes"]}))
    assert verdicts(narrow) == ("yes", "no")
    assert narrow["old_services_suffice"]["why"] == '`step2_approve` refuses {"decision":"no"}'
    wide = compared(BASE, BASE, approve_User=obj("decision", decision={"enum": ["yes", "no", "later"]}))
    assert verdicts(wide) == ("yes", "unknown")  # an activity may get an answer that it never got


def test_an_input_that_is_new_breaks_for_who_starts_it(instrc: Instrc, folder: Path) -> None:
    step = {"properties": {"step1_a": {"type": "object", "references": ["prompt"]}}}
    process = {"type": "object", "properties": {"llmContext1": step}}
    for name, inputs in (
        ("a", {"x": TEXT}),
        ("b", {"x": TEXT, "y": TEXT}),
        ("c", {"x": {**TEXT, "maxLength": 2}}),
        ("d", {"x": TEXT, "prompt": {}}),
        ("e", {"x": {**TEXT, "pattern": "^a+$"}}),
        ("f", {"x": {**TEXT, "pattern": "^aa*$"}}),
    ):
        (folder / f"{name}.json").write_text(json.dumps({**process, "inputs": inputs}))
    for old, new, words in (
        ("a", "a", "who starts the process: safe"),
        ("a", "b", "who starts the process: breaks: the input `y` is new"),
        ("b", "a", "who starts the process: breaks: the input `y` is gone"),
        ("a", "c", "who starts the process: breaks: the input `x` refuses"),
        ("c", "a", "who starts the process: safe"),
        ("d", "d", "who starts the process: safe"),
        ("a", "d", "who starts the process: unknown: it reads `prompt` now"),
        ("e", "f", "who starts the process: unknown: the input `x` has another schema"),
    ):
        assert words in instrc("diff", f"{old}.json", f"{new}.json").out


def test_the_element_of_a_block_that_is_new_is_nothing_that_somebody_gives(instrc: Instrc, folder: Path) -> None:
    """Neither process lists its inputs, so they are the names that are read and that nothing in it has."""
    asked = {"properties": {"step1_a": {"type": "object"}}}
    told = {"properties": {"step2_b": {"type": "object", "references": ["one.name"], "activity": "b"}}}
    each = {"type": "array", "items": {"properties": {"serverContext1": told}}, "each": {"item": "one", "in": "step1_a.list"}}
    for file, contexts in (("old", {"llmContext1": asked}), ("new", {"llmContext1": asked, "eachContext1": each})):
        (folder / f"{file}.json").write_text(json.dumps({"type": "object", "properties": contexts}))
    assert "who starts the process: safe" in instrc("diff", "old.json", "new.json").out


def test_what_a_plan_may_call_is_needed(compared: Any) -> None:
    run = "const d = Propose(prompt, { plan: Plan(TOOLS) }); RunPlan_Activity(d.plan)"
    found = compared(run.replace("TOOLS", "Sign_Activity"), run.replace("TOOLS", "Sign_Activity, Fix_Activity"))
    assert (found["needed"], found["spared"]) == (["fix_Activity"], [])


@pytest.mark.parametrize("block", ["each", "repeat"])
def test_a_list_that_nobody_gave_before_is_not_claimed_to_be_there(instrc: Instrc, folder: Path, block: str) -> None:
    asked = {"properties": {"step1_a": {"type": "object"}}}
    told = {"properties": {"serverContext1": {"properties": {"step2_b": {"type": "object", "activity": "b"}}}}}
    new = {"llmContext1": asked, f"{block}Context1": {"type": "array", "items": told, block: {"item": "one", "in": "other.list"}}}
    for file, contexts in (("old", {"llmContext1": asked}), ("new", new)):
        (folder / f"{file}.json").write_text(json.dumps({"type": "object", "properties": contexts}))
    assert "who starts the process: unknown: it reads `other`" in instrc("diff", "old.json", "new.json").out


@pytest.mark.parametrize("name", ["prompt", "other"])
def test_what_nobody_gave_before_is_not_claimed_to_be_there(instrc: Instrc, folder: Path, name: str) -> None:
    asked = {"properties": {"step1_a": {"type": "object"}}}
    branch = {"properties": {"branch": {"const": 0}}, "when": {"path": f"{name}.x", "schema": {"const": 1}}}
    when = {"anyOf": [branch], "when": {}}
    for file, contexts in (("old", {"llmContext1": asked}), ("new", {"llmContext1": asked, "whenContext1": when})):
        (folder / f"{file}.json").write_text(json.dumps({"type": "object", "properties": contexts}))
    assert f"who starts the process: unknown: it reads `{name}`" in instrc("diff", "old.json", "new.json").out


def test_what_nobody_gave_before_may_end_a_loop(instrc: Instrc, folder: Path) -> None:
    asked = {"properties": {"step1_a": {"type": "object"}}}
    told = {"properties": {"llmContext1": asked}}
    for file, name in (("old", "step1_a"), ("new", "other")):
        loop = {"type": "array", "items": told, "repeat": {"until": {"path": f"{name}.done", "schema": {"const": True}}}}
        (folder / f"{file}.json").write_text(json.dumps({"type": "object", "properties": {"repeatContext1": loop}}))
    assert "who starts the process: unknown: it reads `other`" in instrc("diff", "old.json", "new.json").out


def test_services_are_not_claimed_to_suffice_where_nobody_knows_whether_a_run_starts(instrc: Instrc, folder: Path) -> None:
    process = {"type": "object", "properties": {"llmContext1": {"properties": {"step1_a": {"type": "object"}}}}}
    for file, inputs in (("old", {}), ("new", {"inputs": {}})):
        (folder / f"{file}.json").write_text(json.dumps(process | inputs))
    said = instrc("diff", "old.json", "new.json").out
    assert said.count("unknown: the old process does not list its inputs") == 2, said


def test_programs_say_it_too_and_a_tool_that_became_a_process_is_told(instrc: Instrc, folder: Path) -> None:
    for name, schema in VIBES.items():
        (folder / "schemas" / f"{name}.vibe.json").write_text(json.dumps(schema))
    (folder / "old.aug").write_text("tool it = Draft(prompt)")
    (folder / "new.aug").write_text("tool it = { const d = Draft(prompt); const a = Approve_User({ d }); Review(a) }")
    (folder / "p.aug").write_text(BASE)
    (folder / "q.aug").write_text(BASE.replace("Draft(prompt)", "Find(prompt)"))
    done = instrc("diff", "p.aug", "q.aug")
    assert done.code == 0, done.err
    assert "  who starts the process: safe" in done.out
    assert "  who serves the process: unknown: steps of the process have changed\n" in done.out
    assert instrc("diff", "p.aug", "p.aug", "--check").code == 0
    assert instrc("diff", "p.aug", "q.aug", "--check").code == 1
    (folder / "old.aug").write_text("Draft(prompt)")
    (folder / "new.aug").write_text(BASE)
    assert "it was a tool and is a process" in instrc("diff", "old.aug", "new.aug").out


def test_a_process_with_another_condition_is_not_said_to_be_unchanged(instrc: Instrc, folder: Path) -> None:
    (folder / "schemas" / "approve_User.vibe.json").write_text(json.dumps(VIBES["approve_User"]))
    for side, word in (("old", "yes"), ("new", "no")):
        (folder / f"{side}.aug").write_text(f'when prompt.a is "{word}" {{ Approve_User(prompt) }}')
    said = instrc("diff", "old.aug", "new.aug").out
    assert "its result has not changed" in said
    assert "steps of the process have changed" in said
    assert "nothing has changed" not in said
    assert "nothing has changed" in instrc("diff", "old.aug", "old.aug").out
