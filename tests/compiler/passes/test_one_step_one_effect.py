"""An effect is carried out as often as the program says, through names, keys, annotations and called programs."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from every_case import every_case

import instrc

VIBES: dict[str, Any] = {
    "pay_Activity": {"properties": {"to": {}, "output": {}}},
    "log_Activity": {"properties": {"a": {}, "output": {}}},
    "look_Activity": {"properties": {"to": {}, "output": {}}, "x-reads-only": True},
    "approve_User": {"type": "object", "properties": {"decision": {"enum": ["Approve", "Reject"]}}},
}
PROGRAMS = {
    "charge": "input q; const z = Pay(to: q); Log(a: z); z",
    "renamed": "input q; const z = Pay(to: q); const y = z; Log(a: z); y",
    "tried": 'input q; const z = try { Pay(to: q) } else { "no" }; Log(a: z); z',
    "outer": "input q; Charge(q: q)",
    "consent": 'input q; const a = Approve(q); when a.decision is "Approve" { Pay(to: q) }; a',
    "fee": 'input q; const z = Pay(to: q); Log(a: "fee", b: z)',
    "tip": 'input q; const z = Pay(to: q); Log(a: "tip", b: z)',
}


def whole(program: str) -> str:
    """Return a program with the whole names of its steps."""
    return re.sub(r"\b(Pay|Log|Look)\(", r"\1_Activity(", program).replace("Approve(", "Approve_User(")


def made(folder: Path, program: str) -> Path:
    """Write a project with the program, and return its file."""
    folder.mkdir(exist_ok=True)
    (folder / "pyproject.toml").write_text("[tool.instrc]\n", encoding="utf-8")
    (folder / "schemas").mkdir()
    for name, vibe in VIBES.items():
        (folder / "schemas" / f"{name}.vibe.json").write_text(json.dumps(vibe), encoding="utf-8")
    for name, text in PROGRAMS.items():
        (folder / "schemas" / f"{name}.aug").write_text(whole(text), encoding="utf-8")
    (folder / "main.aug").write_text(whole(program), encoding="utf-8")
    return folder / "main.aug"


@every_case(
    "call",
    [
        'Charge(q: x) @ { within: "PT1H" }',
        'Charge(q: x) @ "Pay it."',
        "{ k: Charge(q: x) }",
        "{ k: Charge(q: x), l: x }",
        "{ k: Outer(q: x) }",
        'Outer(q: x) @ { within: "PT1H" }',
        'Renamed(q: x) @ { within: "PT1H" }',
        'Tried(q: x) @ { within: "PT1H" }',
    ],
)
def test_what_is_added_to_a_called_program_makes_no_second_step(tmp_path: Path, call: str) -> None:
    paid: list[Any] = []
    activities = {"Pay_Activity": lambda **given: paid.append(given), "Log_Activity": lambda **_: None}
    program = f'input x; const r = {call}; Log(a: "done", b: r)'
    run = instrc.run(made(tmp_path, program), {"x": "ann"}, activities=activities)
    assert (run.status, paid) == ("done", [{"to": "ann"}]), run.outcome


def test_a_rule_added_to_a_called_program_holds_for_what_the_program_does(tmp_path: Path) -> None:
    call = 'Consent(q: x) @ { "x-needed": 2 }'
    for name, program in (("read", f'input x; const r = {call}; Log(a: "done", b: r)'), ("last", f"input x; {call}")):
        [document] = instrc.compile(made(tmp_path / name, program), emit="process")
        text = json.dumps(document)
        assert text.count('"x-needed"') == 1
        assert text.count('"decision"') == 1
        assert '"path": "step1_approve.decision"' in text


@every_case(
    "program",
    [
        'const a = Approve(x); when a.decision is "Approve" { Log(a: 1); const b = Approve(x); Log(a: b) }',
        "const a = Pay(to: x); Log(a: a); repeat i in xs { const b = Pay(to: x); Log(b: b, i: i) }",
        "Pay(to: x); do { const p = Pay(to: x); Log(a: p) }",
        "Fee(q: x); Tip(q: x)",
        "Log(a: Pay(to: x)); { k: Pay(to: x) }",
        "repeat i in xs { Pay(to: i); const m = Look(to: x); Log(a: m) }; Log(a: Look(to: x))",
        "const l = Look(to: x); do { Pay(to: x); Log(a: Look(to: x)) }; Log(b: l)",
    ],
)
def test_an_effect_that_a_line_repeats_behind_a_name_is_an_error(tmp_path: Path, program: str) -> None:
    report = instrc.Report()
    try:
        instrc.compile(made(tmp_path, f"input x; input xs; {program}"), report=report)
    except instrc.CompileError as error:
        report.take(error)
    assert "same-effect" in [problem.name for problem in report.problems]


@every_case(
    "program",
    [
        "const l = Look(to: x); Log(a: l); const m = Look(to: xs); Log(b: m)",
        "const l = Look(to: x); { a: l, b: do { const m = Look(to: x); m } }",
        "const l = Look(to: x); when l is true { Pay(to: x) } else { Log(a: Look(to: x)) }",
        "const l = Look(to: x); Pay(to: Look(to: x)); Log(b: l)",
        "when x is true { const p = Pay(to: x); Log(a: p) } else { const p2 = Pay(to: x); Log(b: p2) }",
        "const c = Charge(q: x); { k: c, l: c }",
    ],
)
def test_what_is_done_once_or_only_read_is_no_error(tmp_path: Path, program: str) -> None:
    assert instrc.compile(made(tmp_path, f"input x; input xs; {program}"), report=instrc.Report())


@every_case(("call", "given"), [("Plan(Capped)", 100), ("Plan(Capped(limit: x))", 7), ("Plan(Capped(x.limit))", 8)])
def test_a_plan_starts_a_program_with_its_defaults_and_what_is_bound(tmp_path: Path, call: str, given: Any) -> None:
    logged: list[Any] = []
    tasks = [{"tool": "Capped", "id": "a", "arguments": {"prompt": "go"}}]
    run = instrc.run(
        planning(tmp_path, call),
        {"prompt": "p", "x": {"limit": 8} if "x.limit" in call else 7},
        model=instrc.Scripted({"act": {"plan": tasks}}),
        activities={"Log_Activity": lambda **said: logged.append(said)},
    )
    assert (run.status, logged) == ("done", [{"a": given}]), run.outcome


def test_a_value_that_a_program_of_a_plan_has_no_input_for_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(instrc.CompileError, match="unknown-argument"):
        instrc.compile(planning(tmp_path, "Plan(Capped(x))"))


def planning(folder: Path, call: str) -> Path:
    """Write a project whose model plans calls of the program `Capped`, and return its file."""
    main = made(folder, f"input x; const act = Act(x, {{ plan: {call} }}); RunPlan_Activity(act.plan)")
    vibe = {"type": "object", "properties": {"plan": {}}}
    (folder / "schemas" / "act.vibe.json").write_text(json.dumps(vibe), encoding="utf-8")
    capped = 'input limit @ { "type": "integer", "default": 100 }; Log_Activity(a: limit)'
    (folder / "schemas" / "capped.aug").write_text(capped, encoding="utf-8")
    return main
