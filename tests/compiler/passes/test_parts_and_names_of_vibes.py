"""A part of a vibe is an instruction like another, and so is a mixin under another name."""

from __future__ import annotations

from pathlib import Path

import pytest

import instrc
from instrc.text.jsontext import dumps

TEXT = {"type": "string"}
INNER = {"$anchor": "there", "type": "object", "properties": {"day": TEXT}, "required": ["day"]}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    folder = tmp_path / "schemas" / "instructions"
    folder.mkdir(parents=True)
    slot = {"type": "object", "properties": {"slot": TEXT}, "required": ["slot"], "$defs": {"inner": INNER}}
    (folder / "find-slot.vibe.json").write_text(dumps(slot))
    for name in ("A", "B", "C", "D", "E"):
        (folder / f"{name}.vibe.json").write_text(dumps({"type": "object", "properties": {name.lower(): TEXT}}))
    return tmp_path / "it.aug"


@pytest.mark.parametrize("part", ["/$defs/inner", "there", "day"])
@pytest.mark.parametrize("text", ["A | aug:instructions/find-slot#PART", "const i = aug:instructions/find-slot#PART; A | i"])
def test_a_part_of_a_vibe_is_a_step_of_a_program(place: Path, text: str, part: str) -> None:
    place.write_text(text.replace("PART", part))
    [tool] = instrc.compile(str(place))
    [_, step] = tool["properties"].values()
    assert step["description"] == "Use step1_a."
    assert step.get("properties", {"day": TEXT}) == {"day": TEXT}


@pytest.mark.parametrize(
    "name", ["Introspect_Mixin", "aug:/vibes/macros/Introspect_Mixin", "aug:/vibes/macros/Introspect_Mixin:1"]
)
def test_a_mixin_under_another_name_is_the_mixin(place: Path, name: str) -> None:
    place.write_text("Introspect_Mixin(A)")
    expected = instrc.compile(str(place))
    for text in (f"const M = {name}; M(A)", f"const M = {name}; const N = M; N(A)"):
        place.write_text(text)
        assert instrc.compile(str(place)) == expected


def test_two_mixins_that_need_each_other_are_one_problem(place: Path) -> None:
    place.write_text("const v = A(prompt); D(Loop_Mixin(C(B, v)), Loop_Mixin(E(Introspect_Mixin(v), B)))")
    with pytest.raises(instrc.CompileError) as raised:
        instrc.compile(str(place))
    [problem] = raised.value.problems
    assert (problem.name, problem.at and problem.at.text) == ("entangled-mixins", "Loop_Mixin(E(Introspect_Mixin(v), B))")


@pytest.mark.parametrize("text", ["A | 'aug:instructions/B'", 'A("aug:instructions/B")', 'A | "aug:instructions/B" | C'])
def test_a_reference_in_quotes_is_told_to_lose_them_wherever_it_stands(place: Path, text: str) -> None:
    place.write_text(text)
    with pytest.raises(instrc.CompileError) as raised:
        instrc.compile(str(place))
    [problem] = raised.value.problems
    assert (problem.name, problem.hint) == ("misplaced-data", "to make it a reference, remove the quotes")
