"""Every budget of every target against a plan that exceeds it: what is too much is told, with its numbers and the way out.

Where another legal spelling says the same, that is sent, and what it gives up is told.
The targets and their budgets are read from the data, so a new one without a plan here fails.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from judges import breaches
from msgspec.structs import fields

import instrc
from instrc import lower, lower_all, targets
from instrc.providers.dialect import Limits
from instrc.text.jsontext import dumps

TEXT = {"type": "string"}
EITHER = {"type": ["string", "integer"]}
BUDGETS = [
    (name, field.name) for name, found in targets().items() for field in fields(Limits) if getattr(found.limits, field.name)
]


def planning(tools: list[dict[str, Any]], beside: dict[str, Any] | None = None, *, optional: bool = False, **words: Any) -> Any:
    """Return what a model is shown of a plan of tools with these arguments; `beside` stands beside the plan."""
    own = {"plan": {"type": "array"}, **(beside or {})}
    vibes: dict[str, Any] = {"Act": {**words, "type": "object", "properties": own, "required": ["plan"] if optional else [*own]}}
    for number, arguments in enumerate(tools):
        vibes[f"tool{number}_Activity"] = {
            "type": "object",
            "properties": {**arguments, "output": {}},
            "required": [*arguments, "output"],
        }
    named = ", ".join(f"tool{number}_Activity" for number in range(len(tools)))
    program = f"RunPlan_Activity(Act(prompt, {{ plan: Plan({named}) }}).plan)"
    [made] = instrc.artefacts(program, vibes=vibes)
    return made.documents["tool"]


def nested(levels: int) -> Any:
    schema: Any = TEXT
    for _ in range(levels):
        schema = {"type": "object", "properties": {"in": schema}, "required": ["in"], "additionalProperties": False}
    return schema


def named(count: int, schema: Any = TEXT, *, letters: int = 1) -> dict[str, Any]:
    return {f"{'n' * letters}{number}": schema for number in range(count)}


UNIFORM: dict[str, tuple[Callable[[int], Any], str]] = {
    "properties": (lambda most: planning([named(50)] * (most // 150 + 1)), "properties"),
    "characters": (lambda most: planning([named(most // 1000, letters=100)] * 10), "characters of names and values"),
    "optional": (lambda most: planning([named(most + 1)]), "union-typed parameters"),
    "unions": (lambda most: planning([named(most + 1, EITHER)]), "union-typed parameters"),
}
"""Plans that are sent in their uniform spelling: the budget is told, with its number, and to name fewer tools.

An argument that may be the output of another task is a union, so unions are too many before optional parameters are.
"""
TOO_MUCH: dict[str, tuple[Callable[[int], Any], str]] = {
    "properties": (lambda most: planning([{}], named(most)), "properties"),
    "characters": (lambda most: planning([{}], named(most // 200, letters=200)), "characters of names and values"),
    "optional": (lambda most: planning([{}], named(most + 1), optional=True), "optional parameters"),
    "unions": (lambda most: planning([{}], named(most + 1, EITHER)), "union-typed parameters"),
}
"""Plans that no spelling makes small enough, as what stands beside them is too much: to name fewer tools is no way."""
PARTS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], str]]] = {
    "depth": (
        lambda most: planning([{"a": nested(most)}]),
        lambda most: f"this is level {most + 1}, and the target takes {most}",
    ),
    "enum_values": (
        lambda most: planning([{"a": {"enum": [f"v{number}" for number in range(most)]}}]),
        lambda most: f"in an enum, and the target takes {most}",
    ),
    "items": (
        lambda most: planning([{"a": {"type": "array", "items": TEXT, "maxItems": most + 1}}]),
        lambda most: f"the sum of maxItems to {most + 1}, and the target takes {most}",
    ),
    "long_enum": (
        lambda most: planning([{"a": {"enum": [f"{number:0{most[1] // most[0]}}" for number in range(most[0] + 1)]}}]),
        lambda most: f"more than {most[0]} may have {most[1]}",
    ),
}
"""Plans with an argument that is sent as a text, and what is told of it."""


def budgets(*kinds: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(("target", "budget"), [(target, budget) for target, budget in BUDGETS if budget in kinds])


def most_of(target: str, budget: str) -> Any:
    return getattr(targets()[target].limits, budget)


def test_there_is_a_plan_for_every_budget_of_every_target() -> None:
    assert {budget for _, budget in BUDGETS} == {*UNIFORM, *PARTS, "description", "tools", "strict_tools"}


@pytest.mark.long
@budgets(*UNIFORM)
def test_a_plan_that_exceeds_a_budget_is_sent_in_its_uniform_spelling_and_says_which_and_what_to_leave_out(
    target: str, budget: str
) -> None:
    plan_of, counted = UNIFORM[budget]
    lowering = lower(plan_of(most_of(target, budget)), target, "act")
    assert not list(breaches(lowering.payload, target))
    assert lowering.payload.get("strict", True) is not False
    [told] = [problem.message for problem in lowering.problems if "names and texts" in problem.message]
    assert f" {counted}, and `{target}` takes at most " in told
    assert "to send it in full, name fewer tools in `Plan(…)`" in told


@budgets(*TOO_MUCH)
def test_what_is_too_large_in_every_spelling_says_which_budget_its_number_and_what_to_do(target: str, budget: str) -> None:
    plan_of, counted = TOO_MUCH[budget]
    lowering = lower(plan_of(most_of(target, budget)), target, "act")
    [told] = [problem for problem in lowering.problems if problem.name == "budget-exceeded"]
    assert f" {counted}, and `{target}` takes at most " in told.message
    assert told.count > told.limit
    assert told.hint in {
        "declare fewer properties, or split the tool",
        "shorten names and listed values, or split the tool",
        "require more of them, split the tool, or send fewer tools in one request",
        "require more of them, give them one type each, split the tool, or send fewer tools in one request",
    }
    if targets()[target].plain is None:
        assert [breach.rule for breach in breaches(lowering.payload, target)] == ["budget"]
    else:
        assert told.message.endswith("; it is sent without strictness")
        assert not list(breaches(lowering.payload, target))


@budgets(*PARTS)
def test_an_argument_that_exceeds_a_budget_is_sent_as_a_text_and_says_which_of_which_tool(target: str, budget: str) -> None:
    plan_of, said = PARTS[budget]
    most = most_of(target, budget)
    lowering = lower(plan_of(most), target, "act")
    assert not list(breaches(lowering.payload, target))
    told = [problem for problem in lowering.problems if said(most) in problem.message]
    assert told
    assert {problem.tools_of_plan for problem in told} == {("tool0_Activity",)}


@budgets("depth")
def test_an_argument_that_is_much_too_deep_is_one_problem_that_says_what_to_leave_out(target: str, budget: str) -> None:
    lowering = lower(planning([{"a": nested(2 * most_of(target, budget))}] * 3), target, "act")
    [told] = lowering.problems
    assert "/arguments/properties/a/" in told.message
    assert (
        told.hint
        == "make this argument simpler, give it in the program, as in `Plan(Book_Activity(person))`, or leave the tool out"
    )
    assert told.tools_of_plan == ("tool0_Activity", "tool1_Activity", "tool2_Activity")


@budgets("description")
def test_a_description_that_is_too_long_goes_on_in_the_schema(target: str, budget: str) -> None:
    sentence = "It says what is to be planned. "
    text = (sentence * (most_of(target, budget) // len(sentence) + 2)).strip()
    lowering = lower(planning([{}], description=text), target, "act", description=text)
    assert not list(breaches(lowering.payload, target))
    assert lowering.problems == ()
    assert text in dumps(lowering.schema)


@budgets("tools")
def test_more_tools_than_a_request_takes_are_one_problem(target: str, budget: str) -> None:
    most = most_of(target, budget)
    tool = planning([{}])
    [told] = lower_all([(f"act{number}", tool) for number in range(most + 3)], target).problems
    assert told.message == f"with `act{most}` there are {most + 3} tools, and `{target}` takes at most {most}"
    assert told.hint == "send fewer tools in one request"
    assert lower_all([(f"act{number}", tool) for number in range(most)], target).problems == ()


@budgets("strict_tools")
def test_more_strict_tools_than_a_request_takes_are_sent_without_strictness(target: str, budget: str) -> None:
    most = most_of(target, budget)
    result = lower_all([(f"act{number}", {"type": "object", "properties": {}}) for number in range(most + 1)], target)
    [told] = [problem for problem in result.problems if problem.name == "budget-exceeded"]
    assert told.message == (
        f"with `act{most}` there are {most + 1} strict tools, and `{target}` takes at most {most}; it is sent without strictness"
    )
    assert told.hint == "send fewer tools in one request"
