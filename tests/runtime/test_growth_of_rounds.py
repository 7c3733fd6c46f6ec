"""No round holds those before it: what `rounds` shows grows by the values of one round, however the body passes rounds on."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from objects import an_object

import instrc
from instrc.text.jsontext import dumps

TEXT = {"type": "string"}
VIBES = {name: an_object(text=TEXT, ok={"type": "boolean"}) for name in ("Draft", "Ask", "Log_Activity")}
DRAFT = "const d = Draft(prompt, rounds); "
ROUNDS = 8

BODIES = [
    # the value is a round, or a list of rounds
    ("const e = do { rounds }; ", None),
    ("const e = do { previous }; ", None),
    ("const e = each r in rounds { r }; ", None),
    ("const e = each r in rounds { { it: r } }; ", None),
    ("const e = do { do { rounds } }; ", None),
    ('const e = when prompt is "x" { rounds } else { do { rounds } }; ', None),
    ("const e = try { rounds } else { previous }; ", None),
    ("const e = each i in 2 { each r in rounds { r } }; ", None),
    ("const e = do { rounds }; const f = do { e }; const g = do { { f } }; ", None),
    ("const a = do { rounds }; const e = repeat x in a { { x, p: previous } }; ", []),
    # a member is
    ("const e = do { { d, h: rounds } }; ", ["d"]),
    ("const e = do { { d, o: { h: rounds, t: d.text } } }; ", ["d", "o"]),
    ("const e = do { { d, o: { h: rounds } } }; ", ["d"]),
    ('const e = when prompt is "x" { { a: d, b: rounds } } else { { a: rounds, b: d } }; ', ["b"]),
    ('const w = when prompt is "x" { { b: d } } else { { a: rounds, b: d } }; const e = do { { w } }; ', ["w"]),
    # what a name had before leads back to the name
    ("const e = do { { d, old: previous.e } }; ", ["d"]),
    ("const e = do { { d, old: f } }; const f = do { { d, old: previous.e } }; ", ["d", "old"]),
    ("const e = do { { d, o: previous.f } }; const f = do { { d, o: previous.e } }; ", ["d"]),
    ("const e = do { { d, all: each r in rounds { r.e } } }; ", ["d"]),
    # and what is no circle, or is carried on as it is, is shown
    ("const e = when round is 1 { { d, n: round } } else { previous.e }; ", ["d", "n"]),
    ("const e = when round is 1 { { d, n: round } } else { do { previous.e } }; ", ["d", "n"]),
    ("const e = when round is 1 { { d } } else { { d, h: do { previous.e } } }; ", ["d"]),
    ("const e = do { { d, old: previous.d } }; ", ["d", "old"]),
    ("const e = Ask(rounds, previous.e); ", ["ok", "text"]),
    ("const e = each r in rounds { Ask(r) }; ", None),
]


def sizes(body: str) -> tuple[list[int], Any]:
    """Return the length of what the model reads of `rounds` in each round, and the last round that is shown."""
    text = f"repeat {{ {DRAFT}{body}d }} until d.ok max {ROUNDS}"
    no = [{"text": f"t{n}", "ok": False} for n in range(100)]
    model = instrc.Scripted({"draft": no, "ask": no})
    run = instrc.run(text, "go", vibes=VIBES, model=model)
    assert run.status == "done", run.outcome
    Draft202012Validator(run.plan["process"]).validate(run.record)
    commands = [request.command for request in model.sent if "draft" in str(request.command["steps"])]
    shown = [command["context"]["rounds"] for command in commands]
    return [len(dumps(each, indent=False)) for each in shown], shown[-1]


@pytest.mark.parametrize(("body", "members"), BODIES)
def test_rounds_grow_by_one_round_at_a_time(body: str, members: Any) -> None:
    found, rounds = sizes(body)
    steps = [after - before for before, after in pairwise(found)]
    if "each r in rounds { Ask" not in body:  # one step for each round: these are values of their own
        assert max(steps[2:]) - min(steps[2:]) <= 60
    named = [value for key, value in rounds[-1].items() if not re.search(r"_draft$", key)]
    if members is None:
        assert named == [] or "Ask" in body
    elif members:
        assert sorted(named[-1]) == members
