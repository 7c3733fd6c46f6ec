"""A called program reads a literal like any other value: what it decides is decided when it is compiled."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from objects import an_object

import instrc
from instrc import Report

TEXT = {"type": "string"}


VIBES = {
    "Draft": an_object(text=TEXT),
    "Style": an_object(tone=TEXT, text=TEXT),
    "Log_Activity": an_object(id=TEXT),
    "Find": an_object(query=TEXT),
    "Find_Activity": an_object(items={"type": "array", "items": TEXT}),
    "Pick": an_object(choice=TEXT),
    "Act": an_object(plan={}),
}
PROGRAMS = {
    "plain": "input tone; Draft(prompt, tone)",
    "named": "input tone; Draft(prompt, tone: tone)",
    "styled": "input tone; Style(prompt, { tone })",
    "logged": "input level; Log_Activity({ prompt, level })",
    "found": "input place; Find_Activity(place)",
    "listed": "input names; each n in names { Draft(n) }",
    "member": "input order; Draft(order.lines.first, order.note)",
    "chosen": "input ids; Pick(prompt, { choice: OneOf(ids) })",
    "deep": "input order; Draft(order.lines)",
    "asked": 'input level; when level is "high" { Log_Activity(prompt) } '
    'else when level is "low" or prompt is "x" { Draft(prompt) }',
    "either": 'input level; when level is "high" or prompt is "now" { Log_Activity(prompt) } else { Draft(prompt) }',
    "nested": "input mood; Plain(prompt, tone: mood)",
    "typed": 'input level @ { enum: ["high", "low"] }; Log_Activity(level)',
    "piped": "prompt | Draft",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("programs")
    for name, text in PROGRAMS.items():
        (made / f"{name}.aug").write_text(text, encoding="utf-8")
    return made


def made(text: str, folder: Path) -> dict[str, Any]:
    report = Report()
    [artefact] = instrc.artefacts(text, vibes=VIBES, roots=[folder], report=report)
    assert report.problems == []
    return artefact.documents


def definitions(text: str, folder: Path) -> Any:
    return made(text, folder)["process"]["$defs"]


@pytest.mark.parametrize(
    ("text", "told", "read"),
    [
        ('Plain(prompt, tone: "warm")', 'tone: "warm"', True),
        ('Named(prompt, tone: "warm")', 'tone: "warm"', True),
        ('Nested(prompt, mood: "warm")', 'tone: "warm"', True),
        ("Plain(prompt, tone: { a: [1, null] })", 'tone: {"a":[1,null]}', True),
        ('Piped("a text")', 'prompt: "a text"', False),
        ("Member(order: { lines: { first: 3 } })", "order.lines.first: 3", False),
    ],
)
def test_a_model_is_told_a_literal_for_which_it_has_no_property(text: str, told: str, read: bool, folder: Path) -> None:  # noqa: FBT001
    tool = made(text, folder)["tool"]
    assert told in tool["description"].splitlines()
    assert ("Use prompt." in tool["description"]) is read
    assert list(tool["properties"]) == ["text"]


def test_what_the_literal_leaves_out_is_null(folder: Path) -> None:
    tool = made("Member(order: { lines: { first: 3 } })", folder)["tool"]
    assert "order.note: null" in tool["description"]


def test_a_property_of_that_name_has_the_literal_as_its_value(folder: Path) -> None:
    assert made('Styled(prompt, tone: "warm")', folder)["tool"]["properties"]["tone"]["const"] == "warm"


def test_an_activity_is_given_a_literal_as_a_constant(folder: Path) -> None:
    found = definitions('Logged(prompt, level: "high")', folder)
    assert found["SERVER_1"]["properties"]["step1_log"]["arguments"] == {"prompt": "prompt", "level": {"const": "high"}}


def test_the_preparation_of_an_activity_is_told_the_literal(folder: Path) -> None:
    found = definitions('const f = Found(place: "Paris"); Draft(f)', folder)
    assert 'place: "Paris"' in found["LLM_1"]["properties"]["step1_find"]["description"]
    assert found["SERVER_1"]["properties"]["step2_find"]["arguments"] == "step1_find"


def test_a_list_that_is_written_is_gone_through(folder: Path) -> None:
    found = definitions('Listed(names: ["a", "b"])', folder)
    assert found["DO_1"]["do"]["value"] == {"const": ["a", "b"]}
    assert found["EACH_1"]["each"]["in"] == found["DO_1"]["do"]["key"]


def test_one_of_a_written_list_is_chosen(folder: Path) -> None:
    found = definitions('Chosen(prompt, ids: ["a", "b"])', folder)
    assert found["LLM_1"]["properties"]["step2_pick"]["properties"]["choice"]["among"] == found["DO_1"]["do"]["key"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('Asked(prompt, level: "high")', ["DO_1", "SERVER_1"]),
        ('Asked(prompt, level: "low")', ["DO_1", "LLM_1"]),
        ('Asked(prompt, level: "other")', ["WHEN_1", "LLM_1"]),
        ('Either(prompt, level: "high")', ["DO_1", "SERVER_1"]),
        ('Either(prompt, level: "low")', ["WHEN_1", "SERVER_1", "LLM_1"]),
    ],
)
def test_a_condition_about_a_literal_is_decided_by_the_compiler(text: str, names: list[str], folder: Path) -> None:
    found = definitions(text, folder)
    assert list(found) == names
    if "WHEN_1" in found:
        assert "high" not in str(found["WHEN_1"])


@pytest.mark.parametrize(
    ("text", "name", "at"),
    [
        ('Typed(level: "huge")', "wrong-argument", "level"),
        ('Deep(order: "abc")', "unknown-member", "lines"),
        ("Typed(level: 3)", "wrong-argument", "level"),
    ],
)
def test_a_literal_that_cannot_be_is_one_problem(text: str, name: str, at: str, folder: Path) -> None:
    with pytest.raises(instrc.CompileError) as raised:
        instrc.artefacts(text, vibes=VIBES, roots=[folder])
    assert [(each.name, each.at.text if each.at else None) for each in raised.value.problems] == [(name, at)]


def test_what_is_written_runs(folder: Path) -> None:
    process = made('Listed(names: ["a", "b"])', folder)["process"]
    ended = instrc.run(process, "p", model="sample")
    assert (ended.status, len(ended.output)) == ("done", 2)
