"""A plan of many tools is legal on every target, inside its budgets, and comes back in its typed spelling."""

from __future__ import annotations

from random import Random
from typing import Any

import llguidance
import pytest
from every_case import every_case
from hunting import examples
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from judges import breaches
from test_engine_answers import answers

import instrc
from instrc import check_plan, encode, lift, lower, lower_all, targets
from instrc.providers.lowering.build import exceeded  # one step of a lowering, on budgets that no target has
from instrc.providers.targets import dialect
from instrc.text.jsontext import dumps

QUICKLY = (Phase.explicit, Phase.reuse, Phase.generate)
"""To make fifty arguments simpler takes minutes."""
BUDGETED = ("anthropic-strict", "anthropic-output", "bedrock-strict")
"""Targets that take sixteen union-typed parameters, and no plan of ten tools in its typed spelling."""

VALUES: list[tuple[Any, Any]] = [
    ({"type": "string"}, "12"),
    ({"type": "string", "format": "date"}, "2026-11-22"),
    ({"type": "integer", "minimum": 1, "maximum": 9}, 3),
    ({"type": "number"}, 2.5),
    ({"type": "boolean"}, True),
    ({"enum": ["north", "south"]}, "north"),
    ({"enum": [1, 2]}, 2),
    ({"const": "fixed"}, "fixed"),
    ({"type": ["string", "null"]}, None),
    ({"type": ["string", "null"]}, "null"),
    ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, "7"),
    ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, 7),
    ({"type": "array", "items": {"type": "string"}}, ["a", "b"]),
    ({"type": "array", "items": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}}, [{"n": 1}]),
    ({"type": "object", "properties": {"lat": {"type": "number"}, "lon": {"type": "number"}}, "required": ["lat"]}, {"lat": 1.5}),
    ({"type": "object", "additionalProperties": {"type": "string"}}, {"a": "b"}),
    ({}, ["anything", 1]),
]
"""Schemas of arguments, each with a value of it."""


def arguments() -> st.SearchStrategy[list[tuple[str, Any, Any, bool]]]:
    """Name, schema, a value of it, and whether it is required: null for what may be left out says on some targets that it is."""
    one = st.tuples(st.sampled_from(VALUES), st.booleans()).map(lambda each: (*each[0], each[1] or each[0][1] is None))
    return st.lists(one, min_size=5, max_size=5).map(lambda each: [(f"arg{n}", *of) for n, of in enumerate(each)])


def toolsets(size: int) -> st.SearchStrategy[list[list[tuple[str, Any, Any, bool]]]]:
    return st.lists(arguments(), min_size=size, max_size=size)


def compiled(tools: list[list[tuple[str, Any, Any, bool]]]) -> tuple[Any, Any]:
    """Return what a model is shown of a plan of these tools, and the tools as `check_plan` takes them."""
    vibes: dict[str, Any] = {"Act": {"type": "object", "properties": {"plan": {"type": "array"}}, "required": ["plan"]}}
    for number, given_ in enumerate(tools):
        vibes[f"tool{number}_Activity"] = {
            "description": f"Do {number}.",
            "type": "object",
            "properties": {**{name: schema for name, schema, _, _ in given_}, "output": {}},
            "required": [*(name for name, _, _, needed in given_ if needed), "output"],
        }
    named = ", ".join(f"tool{number}_Activity" for number in range(len(tools)))
    [made] = instrc.artefacts(f"RunPlan_Activity(Act(prompt, {{ plan: Plan({named}) }}).plan)", vibes=vibes)
    process = made.documents["process"]
    step = process["$defs"]["LLM_1"]["properties"]["step1_act"]
    return made.documents["tool"], step["properties"]["plan"]["plan"]["tools"]


def sound(tools: list[list[tuple[str, Any, Any, bool]]]) -> Any:
    """Return a plan that calls each tool once, with all its arguments; the last takes what the first gives."""
    tasks: list[Any] = [
        {"tool": f"tool{number}_Activity", "id": f"t{number}", "arguments": {name: value for name, _, value, _ in given_}}
        for number, given_ in enumerate(tools)
    ]
    tasks[-1]["arguments"]["arg0"] = {"from": "t0.result.0"}
    tasks[-1]["arguments"]["arg1"] = {"each": "t0"}
    tasks[-1]["after"] = ["t1"]
    return tasks


@pytest.mark.long
@settings(examples(2), phases=QUICKLY)
@given(tools=toolsets(10))
def test_every_plan_of_ten_tools_of_five_arguments_is_legal_and_comes_back(tools: list[Any]) -> None:
    tool, known = compiled(tools)
    plan = sound(tools)
    assert not check_plan(plan, known)
    for target in targets():
        lowering = lower(tool, target, "act")
        assert not list(breaches(lowering.payload, target)), target
        assert not [problem for problem in lowering.problems if problem.name == "budget-exceeded"], target
        assert lowering.payload.get("strict", True) is not False, target
        answer = {"step1_act": {"plan": plan}}
        lifted = lift(encode(answer, lowering.map), lowering.map)
        assert lifted.status == "ok", (target, lifted.problems)
        assert lifted.value == answer, target


@settings(examples(4), phases=QUICKLY)
@given(tools=toolsets(10))
def test_the_uniform_spelling_is_that_of_the_library(tools: list[Any]) -> None:
    tool, known = compiled(tools)
    plan = sound(tools)
    lowering = lower(tool, "anthropic-strict", "act")
    [sent] = encode({"step1_act": {"plan": plan}}, lowering.map).values()
    assert instrc.typed_plan(sent["plan"], known) == instrc.typed_plan(plan, known)
    assert not check_plan(sent["plan"], known)
    uniform = instrc.uniform_plan(plan, known)
    assert lift({"step1_act": {"plan": uniform}}, lowering.map).value["step1_act"]["plan"] == [
        {**task, "after": task.get("after", [])} for task in plan
    ]


@every_case("target", BUDGETED)
def test_a_plan_that_the_budget_takes_is_sent_in_its_typed_spelling(target: str) -> None:
    few = [[("query", {"type": "string"}, "boats", True)], [("city", {"type": "string"}, "Bonn", True)]]
    lowering = lower(compiled(few)[0], target, "act")
    assert '"is"' not in dumps(lowering.payload)
    assert lowering.problems == ()


@every_case("target", BUDGETED)
def test_the_uniform_spelling_tells_the_model_what_each_tool_takes_and_the_author_what_is_lost(target: str) -> None:
    tools = [[(f"arg{n}", *VALUES[n], n < 3) for n in range(5)] for _ in range(10)]
    lowering = lower(compiled(tools)[0], target, "act")
    task = lowering.schema["properties"]["step1_act"]["properties"]["plan"]["items"]
    assert list(task["properties"]) == ["tool", "id", "arguments", "after"]
    assert [name for name, schema in task["properties"].items() if "anyOf" in schema] == ["after"]  # null for what is left out
    told = task["properties"]["tool"]["description"]
    assert 'tool3_Activity: Do 3. Arguments: arg0 {"type":"string"}; ' in told
    assert 'arg4 (may be left out) {"type":"boolean"}.' in told
    spelled = [loss for loss in lowering.losses if "names and texts" in loss.reason]
    assert [(loss.pointer, loss.kind) for loss in spelled] == [("/properties/step1_act/properties/plan", "unenforced")]
    assert not exceeded(lowering.schema, dialect(target), "act")


def test_the_budget_of_a_whole_request_asks_for_the_uniform_spelling_as_well() -> None:
    six = [[(f"arg{n}", {"type": "string"}, "x", True) for n in range(2)] for _ in range(6)]
    tool = compiled(six)[0]
    assert '"is"' not in dumps(lower(tool, "anthropic-strict", "act").payload)
    both = lower_all([("first", tool), ("second", tool)], "anthropic-strict")
    assert ['"is"' in dumps(each) for each in both.payload] == [False, True]
    assert all(each["strict"] for each in both.payload)
    answer = {"step1_act": {"plan": sound(six)}}
    for each in both.lowerings:
        assert lift(encode(answer, each.map), each.map).value == answer


@every_case(
    ("arguments", "status"),
    [
        ([{"name": "arg0", "is": "value", "text": "x"}], "ok"),
        ([{"name": "arg0", "is": "value", "text": "x"}, {"name": "arg0", "is": "value", "text": "y"}], "invalid"),
        ([{"name": "arg0", "is": "guess", "text": "x"}], "invalid"),
        ([{"name": "arg0"}], "invalid"),
        (["arg0"], "invalid"),
        ({"arg0": "x"}, "ok"),
        ([{"name": "arg1", "is": "value", "text": "many"}], "invalid"),
        ([{"name": "arg1", "is": "value", "text": "4"}], "ok"),
        ("[]", "ok"),
    ],
)
def test_arguments_that_are_not_well_written_are_found_and_others_read(arguments: Any, status: str) -> None:
    tools = [[("arg0", {"type": "string"}, "x", False), ("arg1", {"type": "integer"}, 1, False)] for _ in range(10)]
    lowering = lower(compiled(tools)[0], "anthropic-strict", "act")
    task = {"tool": "tool1_Activity", "id": "t1", "arguments": arguments}
    assert lift({"step1_act": {"plan": [task]}}, lowering.map).status == status


KEPT = {
    "openai": set(),
    "mistral": set(),
    "vllm": set(),
    "gemini": {"pattern"},
    "ollama-output": {"pattern"},
    "anthropic-strict": {"pattern", "required", "arguments"},
}
"""Of each target what an engine cannot hold a plan to; `arguments` are texts in the uniform spelling, of any kind."""


@pytest.mark.long
@every_case("target", KEPT)
def test_what_an_engine_writes_is_a_plan_but_for_what_is_told_as_lost(target: str) -> None:
    random = Random(10)  # noqa: S311  -- reproducible, not secret
    tool, known = compiled([[(f"arg{n}", *random.choice(VALUES), n < 3) for n in range(5)] for _ in range(10)])
    lowering = lower(tool, target, "act")
    lost = {loss.keyword for loss in lowering.losses if loss.kind in {"unenforced", "part"}}
    assert KEPT[target] - {"arguments"} <= lost
    written = list(answers(lowering.schema, random, 20))
    assert len(written) >= 10
    for answer in written:
        lifted = lift(answer, lowering.map)
        for violation in lifted.invalid:
            in_arguments = "arguments" in KEPT[target] and "/arguments/" in violation.instance
            assert in_arguments or violation.keyword in KEPT[target], (violation, answer)
        if lifted.status == "ok":
            assert "invalid-plan" not in {problem.name for problem in check_plan(lifted.value["step1_act"]["plan"], known)}


@pytest.mark.long
@every_case("target", ["openai", "anthropic-strict", "gemini", "mistral", "vllm"])
@every_case("size", [2, 10])
def test_an_engine_takes_every_sound_plan_and_what_it_writes_is_lifted_and_checked(target: str, size: int) -> None:
    random = Random(size)  # noqa: S311  -- reproducible, not secret
    tools = [[(f"arg{n}", *random.choice(VALUES), n < 3) for n in range(5)] for _ in range(size)]
    tool, known = compiled(tools)
    lowering = lower(tool, target, "act")
    plan = {"step1_act": {"plan": sound(tools)}}
    grammar = llguidance.LLMatcher.grammar_from_json_schema(dumps(lowering.schema, indent=False))
    assert not llguidance.LLMatcher.validate_grammar(grammar)
    matcher = llguidance.LLMatcher(llguidance.LLTokenizer("byte"), grammar)
    assert matcher.try_consume_tokens(list(dumps(encode(plan, lowering.map), indent=False).encode())) > 0
    assert matcher.is_accepting()
    written = 0
    for answer in answers(lowering.schema, random, 25):
        lifted = lift(answer, lowering.map)
        if lifted.status != "ok":
            assert lifted.problems
            continue
        tasks = lifted.value["step1_act"]["plan"]
        written += 1
        found = {problem.name for problem in check_plan(tasks, known)}
        assert "invalid-plan" not in found, tasks
        assert bool(found) == (not _is_sound(tasks, known)), (found, tasks)
    assert written


def _is_sound(tasks: Any, known: Any) -> bool:
    """Decide by the words of the language alone whether a valid plan may run; its tools give anything."""
    ids = [task["id"] for task in tasks]
    waits: dict[str, set[str]] = {}
    for task in tasks:
        given_ = task["arguments"]
        schema = known[task["tool"]]["arguments"]
        read = [value for name, value in given_.items() if _refers(value, schema["properties"].get(name))]
        waits[task["id"]] = {next(iter(value.values())).partition(".")[0] for value in read} | set(task.get("after", ()))
        if set(schema.get("required", ())) - given_.keys() or given_.keys() - schema["properties"].keys():
            return False
    if len(set(ids)) < len(ids) or any(needed - set(ids) for needed in waits.values()):
        return False
    while ready := [task for task, needed in waits.items() if not needed]:
        for task in ready:
            del waits[task]
        for needed in waits.values():
            needed -= set(ready)
    return not waits


def _refers(value: Any, schema: Any) -> bool:
    if not isinstance(value, dict) or value.keys() not in ({"from"}, {"each"}):
        return False
    return not schema or not Draft202012Validator(schema).is_valid(value)


@every_case("target", [*BUDGETED, "bedrock-output"])
def test_a_plan_that_is_not_sent_in_full_says_which_budget_it_exceeds_and_what_to_leave_out(target: str) -> None:
    tools = [[(f"arg{n}", {"type": "string"}, "x", True) for n in range(5)] for _ in range(10)]
    [said] = [loss.reason for loss in lower(compiled(tools)[0], target, "act").losses if "names and texts" in loss.reason]
    assert f"60 union-typed parameters, and `{target}` takes at most 16" in said
    assert "name fewer tools in `Plan(…)`" in said
    few = lower(compiled(tools[:2])[0], target, "act")
    assert not [loss for loss in few.losses if "names and texts" in loss.reason], "as it advises"


@pytest.mark.long
def test_a_plan_of_too_many_properties_says_so() -> None:
    tools = [[(f"arg{n}", {"type": "string"}, "x", True) for n in range(60)] for _ in range(90)]
    [said] = [loss.reason for loss in lower(compiled(tools)[0], "openai", "act").losses if "names and texts" in loss.reason]
    assert "properties, and `openai` takes at most 5000" in said


@every_case("target", [*BUDGETED, "bedrock-output"])
def test_what_stands_beside_a_plan_and_is_too_large_in_both_spellings_says_which_budget_and_what_to_leave_out(
    target: str,
) -> None:
    tools = [[(f"arg{n}", {"type": "string"}, "x", True) for n in range(5)] for _ in range(10)]
    tool = compiled(tools)[0]
    step = tool["properties"]["step1_act"]
    step["properties"] |= {f"beside{n}": {"type": ["string", "integer"]} for n in range(17)}
    step["required"] += [f"beside{n}" for n in range(17)]
    [over] = [problem for problem in lower(tool, target, "act").problems if problem.name == "budget-exceeded"]
    assert f"there are 17 union-typed parameters, and `{target}` takes at most 16" in over.message, "those beside it"
    assert over.hint.startswith("require more of them, give them one type each, ")


@pytest.mark.long
def test_a_plan_of_more_tools_than_alternatives_are_kept_apart_is_sent_in_its_uniform_spelling() -> None:
    tools = [[(f"arg{n}", {"type": "string"}, "x", True) for n in range(2)] for _ in range(301)]
    lowering = lower(compiled(tools)[0], "openai", "act")
    [said] = [loss.reason for loss in lowering.losses if loss.grave]
    assert "301 alternatives, of which at most 300 are kept apart" in said
    assert "name fewer tools in `Plan(…)`" in said
    answer = {"step1_act": {"plan": sound(tools)}}
    assert lift({"name": "act", "arguments": encode(answer, lowering.map)}, lowering.map).value == answer
    in_full = lower(compiled(tools[:300])[0], "openai", "act")
    assert not [loss for loss in in_full.losses if loss.grave], "as it advises"


def test_what_is_lost_of_all_tools_of_a_plan_is_told_once_with_their_names() -> None:
    tools = [[("arg0", {"type": "string", "minLength": number % 2 or 2}, "x", True)] for number in range(12)]
    lowering = lower(compiled(tools)[0], "anthropic-strict", "act")
    [short] = [problem.message for problem in lowering.problems if "minLength" in problem.message]
    named = ", ".join(f"`tool{number}_Activity`" for number in range(10))
    assert short.startswith("`minLength` at `/properties/step1_act/properties/plan/items/anyOf/0/properties/arguments/")
    assert f"(in a plan, of {named} and 2 more) is not kept" in short
    assert len([loss for loss in lowering.losses if loss.keyword == "minLength"]) == 12, "each is in the report"


@every_case("target", ["gemini", "gigachat", "ollama"])
def test_what_is_lost_of_the_output_of_another_task_is_told_once_with_all_tools_that_take_one(target: str) -> None:
    tools = [[("arg0", {"type": "string"}, "x", True), ("arg1", {"type": "integer"}, 1, True)], [], [("n", {}, 1, True)]]
    told = [problem for problem in lower(compiled(tools)[0], target, "act").problems if problem.keyword == "pattern"]
    by_key = {problem.pointer.rpartition("/")[2]: problem.tools_of_plan for problem in told}
    takers = ("tool0_Activity", "tool2_Activity")
    assert by_key == {"id": ("tool0_Activity", "tool1_Activity", "tool2_Activity"), "from": takers, "each": takers}
    assert len(told) == len(by_key)


def test_unions_of_lists_that_are_no_plans_are_told_place_by_place() -> None:
    texts = [{"type": "string", "minLength": 2, "format": word} for word in ("date", "email")]
    schema = {"type": "object", "properties": {"all": {"type": "array", "items": {"anyOf": texts}}}, "required": ["all"]}
    told = [problem.message for problem in lower(schema, "anthropic-strict").problems if "minLength" in problem.message]
    assert [message.partition(" is ")[0] for message in told] == [
        "`minLength` at `/properties/all/items/anyOf/0`",
        "`minLength` at `/properties/all/items/anyOf/1`",
    ]
