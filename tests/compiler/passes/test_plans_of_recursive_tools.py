"""Tools whose arguments or outputs hold themselves can be planned with, and are checked as deep as they go."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator
from judges import breaches

import instrc
from instrc import check_plan, encode, lift, lower, targets

ACT = {"type": "object", "properties": {"plan": {"type": "array"}}, "required": ["plan"]}


def tree(label: str) -> dict[str, Any]:
    """Return a tree whose nodes have a text under a label."""
    kids = {"type": "array", "items": {"$ref": "#/$defs/node"}}
    return {"type": "object", "properties": {label: {"type": "string"}, "kids": kids}, "required": [label]}


def activity(label: str, **more: Any) -> dict[str, Any]:
    properties = {"root": {"$ref": "#/$defs/node"}, "output": {"$ref": "#/$defs/node"}, **more}
    return {"type": "object", "properties": properties, "required": ["root", "output"], "$defs": {"node": tree(label)}}


VIBES = {"Act": ACT, "edit_Activity": activity("name"), "draw_Activity": activity("title", again={"$ref": "#"})}
PROGRAM = "RunPlan_Activity(Act(prompt, { plan: Plan(Edit_Activity, Draw_Activity) }).plan)"
NAMES = {"name": "x", "kids": [{"name": "y", "kids": [{"name": "z"}]}]}
TITLES = {"title": "x", "kids": [{"title": "y"}]}


@pytest.fixture(scope="module")
def made() -> tuple[Any, Any]:
    """Return what a model is shown, and the tools as `check_plan` takes them."""
    [artefact] = instrc.artefacts(PROGRAM, vibes=VIBES)
    process = artefact.documents["process"]
    step = process["$defs"]["LLM_1"]["properties"]["step1_act"]
    return artefact.documents["tool"], step["properties"]["plan"]["plan"]["tools"]


def task(tool: str, name: str, **arguments: Any) -> dict[str, Any]:
    return {"tool": f"{tool}_Activity", "id": name, "arguments": arguments}


SOUND = [
    task("edit", "a", root=NAMES),
    task("draw", "b", root=TITLES, again={"root": TITLES}),
    task("edit", "c", root={"from": "a"}),
]


def test_each_tool_keeps_its_own_definitions(made: tuple[Any, Any]) -> None:
    tool, known = made
    Draft202012Validator.check_schema(tool)
    validator = Draft202012Validator(tool)
    assert validator.is_valid({"step1_act": {"plan": SOUND}})
    assert not validator.is_valid({"step1_act": {"plan": [task("draw", "a", root=NAMES)]}})
    assert not validator.is_valid({"step1_act": {"plan": [task("draw", "a", root=TITLES, again={"root": NAMES})]}})
    for each in known.values():
        for part in ("arguments", "output"):
            Draft202012Validator(each[part]).is_valid(NAMES)


@pytest.mark.parametrize(
    ("plan", "expected"),
    [
        (SOUND, set()),
        ([task("edit", "a", root=TITLES)], {"wrong-argument"}),
        ([task("edit", "a", root={"name": "x", "kids": [{"name": 3}]})], {"wrong-argument"}),
    ],
)
def test_plans_are_checked_as_deep_as_they_go(plan: Any, expected: set[str], made: tuple[Any, Any]) -> None:
    assert {problem.name for problem in check_plan(plan, made[1])} == expected


@pytest.mark.parametrize("target", targets())
def test_a_plan_comes_back_from_every_target(target: str, made: tuple[Any, Any]) -> None:
    lowering = lower(made[0], target, "act")
    assert not list(breaches(lowering.payload, target))
    answer = {"step1_act": {"plan": SOUND}}
    lifted = lift(encode(answer, lowering.map), lowering.map)
    assert lifted.status == "ok", lifted.problems
    assert lifted.value == answer
