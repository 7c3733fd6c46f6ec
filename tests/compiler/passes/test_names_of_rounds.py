"""Rounds of a `repeat` are read by the names of its body, wherever blocks pass them on."""

from __future__ import annotations

from typing import Any

import pytest
from every_case import every_case

import instrc
from instrc import Report

TEXT = {"type": "string"}
VIBES: dict[str, Any] = {
    name: {"type": "object", "properties": {key: TEXT}, "required": [key]}
    for name, key in {"Ma": "a", "Mb": "b", "Mc": "c", "Log_Activity": "id"}.items()
}
READ = "each r in «» { Mb(r.c.a) }"


def compiled(text: str) -> Any:
    [artefact] = instrc.artefacts(text, vibes=VIBES, report=Report())
    return artefact.documents["process"]["$defs"]


def arguments(text: str, step: str) -> Any:
    definitions = compiled(text)
    return next(
        each["properties"][key]["arguments"]
        for each in definitions.values()
        for key in each.get("properties", {})
        if key.rpartition("_")[2] == step
    )


@every_case(
    "body",
    [
        "each r in rounds { Mb(r.c.a) };",
        "const l = rounds; each r in l { Mb(r.c.a) };",
        "const l = do { rounds }; each r in l { Mb(r.c.a) };",
        "const l = do { { all: rounds } }; each r in l.all { Mb(r.c.a) };",
        'const l = when prompt is "x" { rounds } else { do { rounds } }; each r in l { Mb(r.c.a) };',
        "const l = each r in rounds { r }; each r in l { Mb(r.c.a) };",
        "const l = each r in rounds { { it: r } }; each r in l { Mb(r.it.c.a) };",
        "const l = try { rounds } else { rounds }; repeat r in l { Mb(r.c.a) };",
    ],
)
def test_a_list_of_rounds_keeps_their_names(body: str) -> None:
    text = f'repeat {{ const c = Ma(prompt); {body} c }} until c.a is "x"'
    path = arguments(text, "mb")
    assert path.endswith(("r.step1_ma.a", "r_2.step1_ma.a", "r.it.step1_ma.a", "r_2.it.step1_ma.a"))


def test_the_round_before_keeps_its_names() -> None:
    text = 'repeat { const c = Ma(prompt); const p = do { previous }; const d = Mb(p.c.a); c } until c.a is "x"'
    assert arguments(text, "mb") == "step1_do.step3_ma.a"


def test_names_are_kept_in_the_else() -> None:
    text = 'repeat { const c = Ma(prompt); c } until c.a is "x" else { const l = do { rounds }; each r in l { Mb(r.c.a) } }'
    assert arguments(text, "mb") == "r.step1_ma.a"


@every_case("source", ["rounds", "l"])
def test_a_name_that_no_round_has_is_a_problem(source: str) -> None:
    body = f"const c = Ma(prompt); const l = do {{ rounds }}; {{ c, told: each r in {source} {{ Mb(r.d) }} }}"
    text = f'repeat {{ {body} }} until c.a is "x"'
    with pytest.raises(instrc.CompileError) as raised:
        compiled(text)
    [problem] = raised.value.problems
    assert (problem.name, problem.at and problem.at.text) == ("unknown-member", "d")


@pytest.mark.parametrize(
    ("named", "given"),
    [
        ("{ x: c }", {"x": "«».step1_ma"}),
        ("{ x: c.a, y: { z: c } }", {"x": "«».step1_ma.a", "y.z": "«».step1_ma"}),
        ('{ x: c, y: { z: c, w: 3 }, v: "lit" }', {"x": "«».step1_ma", "y.z": "«».step1_ma", "y.w": 3, "v": "lit"}),
        ("{ x: c, y: i }", {"x": "«».step1_ma", "y.x": "«».step1_ma"}),
        ("{ x: Mc(prompt), y: { z: Mc(c) } }", {"x": "«».x", "y": "«».y"}),
        ("{ x: c, y: { z: Mc(c), w: c } }", {"x": "«».step1_ma", "y.z": "«».y.z", "y.w": "«».step1_ma"}),
    ],
)
@pytest.mark.parametrize("whole", ["previous", "r"])
def test_an_object_of_values_stands_for_its_members_in_other_rounds(named: str, given: dict[str, Any], whole: str) -> None:
    read = "Log_Activity(previous.o)" if whole == "previous" else "each r in rounds { Log_Activity(r.o) }"
    text = f'repeat {{ const c = Ma(prompt); const i = {{ x: c }}; const o = {named}; Mc(i, o.x); {read}; c }} until c.a is "x"'
    found = arguments(text, "log")
    expected = {
        name: value.replace("«»", whole) if isinstance(value, str) and "«»" in value else {"const": value}
        for name, value in given.items()
    }
    assert found == expected


def test_a_member_of_a_nested_object_is_read_in_other_rounds() -> None:
    text = 'repeat { const c = Ma(prompt); const o = { y: { z: c } }; Log_Activity(previous.o.y.z.a); c } until c.a is "x"'
    assert arguments(text, "log") == "previous.step1_ma.a"


SUMMARY = {
    "Sum": {
        "type": "object",
        "properties": {"_why": TEXT, "text": TEXT, "$score": {"type": "number"}},
        "required": ["_why", "text", "$score"],
    }
}


@every_case(
    ("marked", "way_out"),
    [
        ('repeat { const s = Sum(prompt, previous.s.«_why»); s } until s.text is "x"', "const why = do { step._why }"),
        ('repeat { const s = Sum(prompt); const l = each r in rounds { Ma(r.s.«$score») }; s } until s.text is "x"', "do {"),
        ("const o = do { Sum(prompt) }; Ma(o.«_why»)", "do { step._why }"),
        ("const o = each i in 2 { Sum(i) }; each s in o { Ma(s.«_why») }", "do { step._why }"),
    ],
)
def test_a_thought_that_no_block_hands_on_is_a_problem(marked: str, way_out: str) -> None:
    with pytest.raises(instrc.CompileError) as raised:
        instrc.artefacts(marked.replace("«", "").replace("»", ""), vibes={**VIBES, **SUMMARY}, report=Report())
    [problem] = raised.value.problems
    assert (problem.name, problem.at and problem.at.start) == ("unknown-member", marked.index("«"))
    assert way_out in (problem.hint or "")


@every_case(
    "text",
    [
        'repeat { const s = Sum(prompt, previous.why); const why = do { s._why }; s } until s.text is "x"',
        "const o = do { const s = Sum(prompt); { s, why: s._why } }; Ma(o.why, o.s)",
        "const s = Sum(prompt); do { Ma(s._why, s.$score) }",
        'repeat { const s = Sum(prompt); s } until s.$score @ { minimum: 8 } or s._why is "x"',
    ],
)
def test_a_thought_is_read_where_its_step_stands(text: str) -> None:
    instrc.artefacts(text, vibes={**VIBES, **SUMMARY}, report=Report())
