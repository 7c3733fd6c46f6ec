"""Equal expressions are one step or block; whatever tells them apart counts, whether a name, a slot or a place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from usual_vibes import TEXT, compiled, problems

from instrc.compiler.bind.evaluation import Evaluation  # how often an export is evaluated is seen nowhere else
from instrc.problems.calls import UnchosenExport  # the class of one problem
from instrc.text.jsontext import dumps

PAIR = "{ a: A(prompt), b: B(prompt) }"


def test_a_step_may_have_the_key_const_where_no_value_is_written(folder: Path) -> None:
    assert list(compiled("{ const: A }", folder).documents["tool"]["properties"]) == ["const"]


def test_constants_in_slots_tell_steps_apart(folder: Path) -> None:
    text = 'const p = Own({ part: "x" }); const q = Own({ part: "y" }); const r = Own({ part: "x" }); Judge(p, q, r)'
    made = compiled(text.replace("Own", "Slot"), folder).documents["tool"]["properties"]
    assert [made[key]["properties"]["part"] for key in list(made)[:-1]] == [{"const": "x"}, {"const": "y"}]


def test_blocks_in_whose_slots_different_values_are_read_are_two(folder: Path) -> None:
    named = "const a = A(prompt); const b = B(prompt); "
    equal = compiled(
        named + "const c = do { Slot({ part: Own(a) }) }; const d = do { Slot({ part: Own(a) }) }; Judge(a, b, c, d)", folder
    )
    other = compiled(
        named + "const c = do { Slot({ part: Own(a) }) }; const d = do { Slot({ part: Own(b) }) }; Judge(a, b, c, d)", folder
    )
    blocks = [[name for name in made.documents["result"]["properties"] if "do" in name] for made in (equal, other)]
    assert blocks == [["step3_do_slot"], ["step4_do_slot", "step6_do_slot"]]


def test_blocks_that_read_the_failures_of_different_tries_are_two(folder: Path) -> None:
    inner = "try { Get_Activity(a) } else { const b = do { A(error) }; B(a, b) }"
    made = compiled(f"try {{ Get_Activity(prompt) }} else {{ const a = do {{ A(error) }}; {inner} }}", folder)
    assert made.documents["process"]["$defs"]["LLM_3"]["properties"]["step7_b"]["references"] == ["step3_do_a", "step6_do_a"]


def test_instructions_written_in_place_are_told_apart_by_their_content(folder: Path) -> None:
    text = "const {0} = prompt | @{{ title: 'Odd', type: 'object', properties: {{ x: {{ type: '{1}' }} }} }}; "
    made = compiled(text.format("p", "string") + text.format("q", "integer") + "Judge(p, q)", folder).documents["tool"][
        "properties"
    ]
    assert [made[key]["properties"] for key in ("step1_odd", "step2_odd")] == [{"x": TEXT}, {"x": {"type": "integer"}}]


@pytest.mark.parametrize("given", [f"{{ default: {PAIR} }}", "aug:pair({ of: prompt })", "pair", "Rated_Mixin(pair)"])
def test_under_two_keys_an_object_has_steps_of_its_own_twice(folder: Path, given: str) -> None:
    before = f"const pair = {PAIR}; " if given.endswith(("pair", "pair)")) else ""
    tool = compiled(f"{before}{{ one: Noted_Mixin({given}), two: Noted_Mixin({given}) }}", folder).documents["tool"]
    found = [set(slot["properties"]) - {"note", "rate"} for slot in tool["properties"].values()]
    assert found == [{"a", "b"}, {"a_2", "b_2"}]


def test_several_tools_of_a_program_are_listed(folder: Path) -> None:
    (folder / "three.aug").write_text("tool a = A(prompt);\nconst b = B(prompt);\ntool c = Get_Activity(b)", encoding="utf-8")
    [problem] = problems("aug:three(prompt)", folder)
    assert isinstance(problem, UnchosenExport)
    assert problem.known == ("a", "c")


def test_every_line_of_a_called_program_runs_before_the_lines_below_the_call(folder: Path) -> None:
    (folder / "both.aug").write_text("Get_Activity(x: prompt);\nconst b = B(prompt)", encoding="utf-8")
    process = compiled("const both = Both(prompt); Get_Activity(x: both.y)", folder).documents["process"]
    first, second = [step for name, chunk in process["$defs"].items() if "SERVER" in name for step in chunk["properties"].items()]
    assert (first[1]["arguments"], second[1].get("after")) == ({"x": "prompt"}, [first[0]])


def test_a_block_with_a_called_program_that_is_written_twice_is_one(folder: Path) -> None:
    block = "do { const a = A(prompt); Team(prompt, of: a.x) }"
    once, twice = (compiled(text, folder) for text in (f"const d = {block}; B(d, d)", f"B({block}, {block})"))
    assert dumps(once.documents) == dumps(twice.documents)


@pytest.mark.parametrize("condition", ["V.x is null", "p.y is null"])
def test_nested_blocks_need_no_more_evaluations_the_deeper_they_are(
    condition: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def evaluations(depth: int) -> int:
        inner = "V"
        for _ in range(depth):
            inner = f"when {condition} {{ {inner} }} else {{ V }}"
        made.clear()
        problems(f"const p = B(prompt); const V = A; {inner}", folder)
        return len(made)

    made: list[object] = []

    def counted(*given: Any) -> Evaluation:
        made.append(given)
        return Evaluation(*given)

    monkeypatch.setattr("instrc.compiler.bind.bind.Evaluation", counted)
    assert evaluations(40) == evaluations(5) > 0
