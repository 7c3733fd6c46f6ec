"""Mixins around objects of values, and around what activities need."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from usual_vibes import compiled, problems

import instrc

PAIR = "{ a: A(prompt), b: B(prompt) }"


PLACES = {"alone": "%s", "under a key": "{ key: %s }", "in a slot": "Slot(prompt, { part: %s })"}


@pytest.mark.parametrize("text", ["Slot({ part: A(Get_Activity(B(prompt))) })", "Rated_Mixin(A(Get_Activity(B(prompt))))"])
def test_a_mixin_lets_out_what_an_activity_needs_that_is_read_further_in(folder: Path, text: str) -> None:
    steps = compiled(f"Noted_Mixin({text})", folder).documents["result"]["properties"]
    assert list(steps)[:2] == ["step1_b", "step2_get"]


def test_an_object_under_a_key_that_reads_a_key_before_it_hands_its_members_on(folder: Path) -> None:
    round_ = "const d = {{ k: {{ first: Base(prompt), {0} }} }}; const j = Judge(d, previous.d.k); j"
    for member in ("b: first", "b: { c: first }"):
        assert problems(f"repeat {{ {round_.format(member)} }} until j.good", folder) == []


def test_of_several_mixins_those_are_named_that_need_each_other(folder: Path) -> None:
    one, two = "Introspect_Mixin(A(B, own))", "Introspect_Mixin(B(SelfEvaluate_Mixin(own), B))"
    text = f"const own = Own(prompt); Judge(Introspect_Mixin(Slot(prompt)), {one}, {two}, Introspect_Mixin(Slot(own)))"
    [problem] = problems(text, folder)
    assert isinstance(problem, instrc.problems.steps.EntangledMixins)
    assert {problem.at and problem.at.text, problem.other and problem.other.text} == {one, two}


def test_of_mixins_that_need_each_other_in_a_circle_the_first_two_are_named(folder: Path) -> None:
    names = "const a = A(prompt); const b = B(prompt); const c = Own(prompt);"
    one = "Introspect_Mixin(Judge(SelfEvaluate_Mixin(a), c))"
    two = "Introspect_Mixin(Slot(SelfEvaluate_Mixin(b), a))"
    three = "Introspect_Mixin(Derived(SelfEvaluate_Mixin(c), b))"
    text = f"{names} {{ w: Introspect_Mixin(Base), x: {one}, y: {two}, z: {three}, last: Introspect_Mixin(Closed) }}"
    [problem] = problems(text, folder)
    assert isinstance(problem, instrc.problems.steps.EntangledMixins)
    assert (problem.other and problem.other.text, problem.at and problem.at.text) == (one, two)


def test_of_objects_that_hold_what_each_other_needs_two_are_named(folder: Path) -> None:
    """An object with a mixin around a name is not divided; with the call of the mixin outside of it, it can be."""
    names = "const v = B(B); const w = A;"
    one, two = "{ f: B(w, v) }", "{ g: SelfEvaluate_Mixin(v), h: B(w) }"
    [problem] = problems(f"{names} {{ a: {one}, b: {two} }}", folder)
    assert isinstance(problem, instrc.problems.steps.EntangledMixins)
    assert (problem.thing, problem.at == problem.other) == ("object", False)
    mended = problems(f"{names} const g = SelfEvaluate_Mixin(v); {{ a: {one}, b: {{ g: g, h: B(w) }} }}", folder)
    assert {problem.name for problem in mended} == {"member-of-tool"}


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize(
    "given",
    ["aug:pair({ of: prompt })", "pair", "aug:again(prompt)"],
    ids=["a called program", "by a name", "a program that calls another"],
)
def test_a_mixin_is_put_around_an_object_whoever_gives_it(folder: Path, place: str, given: str) -> None:
    (folder / "again.aug").write_text("aug:pair({ of: prompt })", encoding="utf-8")
    before = "const pair = aug:pair({ of: prompt }); " if given == "pair" else ""
    written = compiled(place % f"Noted_Mixin({{ default: {PAIR} }})", folder)
    assert compiled(before + place % f"Noted_Mixin({given})", folder).documents["tool"] == written.documents["tool"]


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_of_two_mixins_around_an_object_neither_is_lost(folder: Path, place: str) -> None:
    tool = compiled(place % f"Noted_Mixin(Rated_Mixin({{ default: {PAIR} }}))", folder).documents["tool"]
    found = next(iter(tool["properties"].values())) if place != "%s" else tool
    if place == PLACES["in a slot"]:
        found = tool["properties"]["part"]
    assert list(found["properties"]) == ["note", "a", "b", "rate"]


def test_what_no_steps_of_a_mixin_satisfy_is_told_at_the_mixin(folder: Path) -> None:
    text = "Process(LLM_Context(Noted_Mixin(B(A(prompt)))) @ { properties: { step1_a: false } })"
    [problem] = problems(text, folder)
    assert (problem.name, problem.at and problem.at.text) == ("unsatisfiable", "Noted_Mixin(B(A(prompt)))")


def test_in_a_batch_the_slot_of_a_mixin_reads_values_of_its_item() -> None:
    text = {"type": "string"}
    vibes: Any = {
        **{name: {"type": "object", "properties": {"text": text}} for name in ("Draft", "Check", "Look")},
        "Two_Mixin": {"properties": {"default": {}, "review": {"type": "object"}}},
    }
    for slot in ("Look(x)", "{ a: Look(x), b: Look(prompt) }"):
        [document] = instrc.compile(f"input x; Two_Mixin(Draft(prompt) | Check, {{ review: {slot} }})", vibes=vibes, batch=2)
        for item, other in ((1, 2), (2, 1)):
            review = json.dumps(document["properties"][f"review_item{item}"])
            assert f"x_item{item}" in review
            assert f"item{other}" not in review
