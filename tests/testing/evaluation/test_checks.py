"""What each check says of what a program has brought."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import pytest
from every_case import every_case

import instrc

PROGRAM = '@{ title: "Answer", type: "object", properties: { x: {}, "$sure": { type: "number" } } }'
TOOLS = {
    "nodes": [
        {"id": "find", "desc": "Find it.", "parameters": [{"name": "text", "type": "string", "desc": ""}]},
        {"id": "send", "desc": "Send it.", "parameters": [{"name": "text", "type": "string", "desc": ""}]},
    ]
}


def plan(*names: str) -> list[Any]:
    return [{"tool": name, "id": f"n{number}", "arguments": {"text": "a"}} for number, name in enumerate(names)]


CASES: list[tuple[Any, Any, Any, float, bool]] = [
    # the check, what is expected, what came, the score, whether it passes
    ("equal", {"x": 1}, {"x": 1.0, "y": 2}, 1, True),
    ("equal", {"x": 1}, {"x": True}, 0, False),
    ("equal", {"x": {"a": [1, 2]}}, {"x": {"a": [1, 2], "b": 3}}, 1, True),
    ("equal", {"x": {"a": [1, 2]}}, {"x": {"a": [2, 1]}}, 0, False),
    ({"check": "equal", "at": "x", "whole": True}, {"x": {"a": 1}}, {"x": {"a": 1, "b": 3}}, 0, False),
    ({"check": "equal", "at": "x.a"}, {"x.a": 1}, {"x": {"a": 1}}, 1, True),
    ({"check": "equal", "at": "x.1"}, {"x.1": 5}, {"x": [4, 5]}, 1, True),
    ({"check": "equal", "at": "a.b"}, {"a.b": 5}, {"a.b": 5}, 1, True),
    ("equal", {"x": None}, {"x": None}, 1, True),
    ("equal", {"x": None}, {"y": None}, 0, False),
    ({"check": "number", "within": 0.5}, {"x": 3}, {"x": 3.4}, 1, True),
    ({"check": "number", "within": 0.5}, {"x": 3}, {"x": 3.6}, 0, False),
    ({"check": "number", "relative": 0.1}, {"x": -100}, {"x": -91}, 1, True),
    ({"check": "number"}, {"x": 3}, {"x": "3"}, 0, False),
    ({"check": "number"}, {"x": 1}, {"x": True}, 0, False),
    ("set", {"x": ["a", "b"]}, {"x": ["b", "a", "a"]}, 1, True),
    ("set", {"x": ["a", "b"]}, {"x": ["a", "c"]}, 0.5, False),
    ({"check": "set", "precision": 0.5, "recall": 0.5}, {"x": ["a", "b"]}, {"x": ["a", "c"]}, 0.5, True),
    ({"check": "set", "precision": 0}, {"x": ["a"]}, {"x": ["a", "b", "c"]}, 0.5, True),
    ("set", {"x": []}, {"x": []}, 1, True),
    ("set", {"x": [{"a": 1}]}, {"x": [{"a": 1.0}]}, 1, True),
    ("set", {"x": ["a"]}, {"x": "a"}, 0, False),
    ({"check": "schema", "at": "x", "schema": {"type": "string", "maxLength": 2}}, None, {"x": "ab"}, 1, True),
    ({"check": "schema", "at": "x", "schema": {"type": "string", "maxLength": 2}}, None, {"x": "abc"}, 0, False),
    ({"check": "metric", "metric": "$sure", "min": 5}, None, {"$sure": 5}, 1, True),
    ({"check": "metric", "metric": "$sure", "max": 5}, None, {"$sure": 6}, 0, False),
    ({"check": "metric", "metric": "$sure"}, None, {}, 0, False),
    ({"check": "plan", "tools": TOOLS}, {"x": plan("Find", "Send")}, {"x": plan("Find", "Send")}, 1, True),
    (
        {"check": "plan", "tools": TOOLS, "score": "n-F1", "min": 0.6},
        {"x": plan("Find", "Send")},
        {"x": plan("Find")},
        2 / 3,
        True,
    ),
    ({"check": "plan", "tools": TOOLS, "score": "NED"}, {"x": plan("Find")}, {"x": plan("Send")}, 0.0, False),
    ({"check": "plan", "tools": TOOLS}, {"x": plan("Find")}, {"x": plan("Fnd")}, 0, False),
    (lambda run: run.value["x"] == run.expected, 3, {"x": 3}, 1, True),
    (lambda _run: 0.25, None, {}, 0.25, False),
    (lambda _run: 0.5, None, {}, 0.5, True),
    (lambda _run: None, None, {}, 1, True),
    (lambda _run: "it is rude", None, {}, 0, False),
    (lambda run: run.step("answr"), None, {}, 0, False),
    (lambda _run: 7, None, {}, 0, False),
    (lambda _run: float("nan"), None, {}, 0, False),
    (lambda run: run.value.update(x=1) or True, None, {}, 1, True),
    (lambda _run: sys.exit(1), None, {}, 0, False),
    (lambda _run: asyncio.sleep(0, result=True), None, {}, 1, True),
]


@every_case(("check", "expected", "came", "score", "passed"), CASES)
def test_a_check_has_a_score_and_passes_or_not(check: Any, expected: Any, came: Any, score: float, passed: object) -> None:
    case = {"input": "?", **({} if expected is None else {"expected": expected})}
    [result] = instrc.evaluate(PROGRAM, [case], model=instrc.Scripted([came]), checks={"x": check}).results
    found = next(each for each in result.checks if each.name == "x")
    assert (found.score, found.passed) == (pytest.approx(score), passed), found.reason
    assert passed or found.reason


def test_a_check_with_the_name_of_a_member_stands_in_place_of_its_equality() -> None:
    cases = [{"input": "?", "expected": {"x": 1, "y": 2}}]
    for check in (lambda run: run.value["x"] > 0, {"check": "schema", "at": "x", "schema": {"type": "integer"}}):
        model = instrc.Scripted({"answer": {"x": 3, "y": 2}})
        [result] = instrc.evaluate(PROGRAM, cases, model=model, checks={"x": check}).results
        assert [(each.name, each.passed) for each in result.checks] == [("x", True), ("y", True)]
    head = {"checks": {"x": {"check": "schema", "schema": {}}}}
    with pytest.raises(instrc.CompileError, match="check `x`: a function that is given has the same name"):
        instrc.evaluate(PROGRAM, [head, *cases], model=instrc.Scripted([]), checks={"x": lambda _run: True})


def test_a_check_says_nothing_of_a_case_that_expects_nothing_there() -> None:
    cases = [{"input": "?", "expected": {"x": 1}}, {"input": "?", "expected": {"y": 2}}, {"input": "?"}]
    found = instrc.evaluate(PROGRAM, cases, model=instrc.Scripted({"answer": {"x": 1, "y": 2}}), checks={"z": lambda _run: True})
    assert [[check.name for check in result.checks] for result in found.results] == [["z", "x"], ["z", "y"], ["z"]]
    assert found.scores("x") == {"case 1": 1.0}


def test_a_member_of_the_value_comes_before_a_step_of_that_name() -> None:
    program = '@{ title: "Label", type: "object", properties: { label: { type: "string" } } }'
    found = instrc.evaluate(program, [{"input": "?", "expected": {"label": "a"}}], model=instrc.Scripted([{"label": "a"}]))
    assert found.scores() == {"case 1": 1.0}


def test_a_member_of_an_earlier_step_is_named_with_its_step() -> None:
    answer = {"step1_read_letter": {"tone": "calm"}, "step2_reply": {"text": "a"}}
    read, reply = ({"type": "object", "properties": {name: {"type": "string"}}} for name in ("tone", "text"))
    vibes = {"ReadLetter": read, "Reply": reply}
    model = instrc.Scripted([answer, answer])
    found = instrc.evaluate("ReadLetter | Reply", [{"input": "?", "expected": {"tone": "calm"}}], model=model, vibes=vibes)
    assert found.results[0].checks[0].reason == "there is no `tone`: did you mean `read_letter.tone`?"
    found = instrc.evaluate(
        "ReadLetter | Reply", [{"input": "?", "expected": {"read_letter.tone": "calm"}}], model=model, vibes=vibes
    )
    assert found.scores() == {"case 1": 1.0}
    assert [use.step for use in found.results[0].steps] == ["read_letter, reply"]


def test_a_name_that_nothing_has_fails_with_what_there_is() -> None:
    found = instrc.evaluate(PROGRAM, [{"input": "?", "expected": {"lable": 1}}], model=instrc.Scripted([{"label": 1}]))
    assert found.results[0].checks[0].reason == "there is no `lable`: did you mean `label`?"
