"""Programs written by hand with what the generated ones lack: called programs, choices, deadlines, `Fail`, bound arguments.

Any run of one, whatever is answered, however long the lists are and whichever activities fail, ends as it may,
and the record of one that is done validates against its process.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
import test_runs_of_programs as generated
from jsonschema import Draft202012Validator
from objects import an_object

import instrc

TEXT = {"type": "string"}
WHOLE = {"type": "integer"}
RUNS = 15
VIBES: dict[str, Any] = {
    "People": an_object(names={"type": "array", "items": TEXT}, all={"type": "array", "items": an_object(name=TEXT, age=WHOLE)}),
    "Act": an_object(plan={}, answer={"type": ["string", "null"]}),
    "Draft": an_object(text=TEXT),
    "Ask": an_object(q=TEXT, output=an_object(a=TEXT)),
    "Confirm_User": an_object(decision={"enum": ["Approve", "Reject"]}, comment=TEXT),
    "Send_Activity": an_object(sent={"type": "boolean"}),
    "Note_Activity": an_object(ok={"type": "boolean"}),
    "Search": an_object(query=TEXT, limit=WHOLE),
    "Search_Activity": an_object(hits={"type": "array", "items": TEXT}),
    "Book_Activity": {
        "type": "object",
        "properties": {"seats": WHOLE, "name": TEXT, "output": an_object(id=TEXT)},
        "required": ["seats", "output"],
    },
}
CALLED = {
    "inner": "input who; input note; const d = Draft(who, note); "
    "try { Send_Activity(d) } else { const n = Note_Activity({ d, error }); n }",
    "asks": 'const a = Confirm_User(prompt); when a.decision is "Approve" { Draft(a) } else { Fail(code: "refused") }',
    "gives": 'input list @ { type: "array", items: { type: "string" } }; each x in list { Inner(who: x, note: "hi") }',
}
ACT = "const a = Act(prompt, { plan: Plan(Search_Activity, Book_Activity(seats: 2)) }); "
PROGRAMS = [
    ACT + "RunPlan_Activity(a.plan)",
    ACT + "const s = RunPlan_Activity(a.plan); "
    'each t in s { when t.status is "ok" { Draft(t.output) } else { Note_Activity(t.error) } }',
    (
        "repeat { const a = Act(prompt, rounds, { plan: Plan(Search_Activity) }); const seen = RunPlan_Activity(a.plan); a } "
        'until a.answer @ { type: "string" } max 3 keep 2 else { Draft(prompt, rounds) }'
    ),
    (
        "const a = Act(prompt, { plan: Plan(Asks, Search_Activity(query: prompt)) }); "
        "try { RunPlan_Activity(a.plan) } else { Fail(error) }"
    ),
    (
        'const w = when prompt is "a" { Act(prompt, { plan: Plan(Search_Activity) }) } '
        "else { Act(prompt, { plan: Plan(Book_Activity) }) }; RunPlan_Activity(w.plan)"
    ),
    (
        "each i in 2 { const a = Act(i, { plan: Plan(Search_Activity(limit: i)) }); const s = RunPlan_Activity(a.plan); "
        "{ a: a.answer, s } }"
    ),
    "const p = People(prompt); const c = Draft(prompt, { text: OneOf(p.names) }); Note_Activity(c)",
    (
        "const p = People(prompt); each x in p.all { const c = Confirm_User(x, { comment: OneOf(p.names) }); "
        'when c.decision is "Approve" { Send_Activity(c) } }'
    ),
    "const p = People(prompt); Inner(who: p.names, note: p)",
    "const p = People(prompt); Gives(list: p.names)",
    "Asks(prompt) | Draft",
    (
        'try { (repeat { const k = Confirm_User(prompt, previous) @ { delay: "PT1H", within: "P1D" }; k } '
        'until k.decision is "Approve" max 2) @ { within: "P2D" } } else { Fail(error, code: "late") }'
    ),
    (
        "try { try { Send_Activity(prompt) } else { const n = Note_Activity(error); Fail(error) } } "
        "else { Draft(error.step, error.code) }"
    ),
    '(try { Send_Activity(prompt) } else { Draft(error) }) @ { within: "PT5S" }',
    "const l = each i in 3 { try { Book_Activity(seats: i) } else { { id: error.code } } }; Draft(l)",
    (
        "const p = People(prompt); const r = repeat n in p.names { const b = try { Book_Activity(seats: round, name: n) } "
        "else { null }; { b, before: previous.b } } until round is 2; Draft(r)"
    ),
    "const p = People(prompt); const o = { first: p.names, all: p }; do { const q = o.first; each x in q { Draft(x) } }",
    'const u = Ask(prompt); when u.a is "x" { { u, text: u.a } } else when prompt @ { minLength: 2 } { "nothing" }',
]


def varied(schema: Any, choose: Callable[[int], int]) -> Any:
    """Return a value that satisfies a schema: any branch, lists of up to two elements, `null` where it may be."""
    if isinstance(schema, dict) and not {"const", "anyOf"} & schema.keys():
        kind = schema.get("type")
        if "enum" in schema:
            return schema["enum"][choose(len(schema["enum"]))]
        if isinstance(kind, list):
            return varied({**schema, "type": kind[choose(len(kind))]}, choose)
        if kind == "null":
            return None
        if kind == "array" and "anyOf" not in schema.get("items", {}):
            return [varied(schema.get("items", {}), choose) for _ in range(choose(3))]
        if kind == "object":
            return {name: varied(each, choose) for name, each in schema.get("properties", {}).items()}
    return ORDINARY(schema, choose)


ORDINARY = generated.filled


@pytest.mark.parametrize("program", PROGRAMS)
def test_any_run_ends_and_its_record_validates(program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in CALLED.items():
        (tmp_path / f"{name}.aug").write_text(text, encoding="utf-8")
    [made] = instrc.artefacts(program, vibes=VIBES, roots=[tmp_path])
    document = made.documents["process"]
    monkeypatch.setattr(generated, "filled", varied)
    ended = set()
    for seed in range(RUNS):
        random = Random(seed)  # noqa: S311
        broken = frozenset(name for name in VIBES if name.endswith("_Activity") and random.random() < 0.3)
        outcome, record = generated.play(document, {"prompt": random.choice(["a", "bcd"])}, random.randrange, broken)
        ended.add(outcome["status"])
        if outcome["status"] == "done":
            Draft202012Validator(document).validate(record)
    assert "done" in ended
