"""Budgets are counted before anything is sent, and what gives way is said aloud."""

from __future__ import annotations

from typing import Any

import pytest
from every_case import every_case
from generate import schema_of
from judges import breaches
from msgspec.structs import replace
from objects import closed

from instrc import CompileError, Report, encode, lift, lower, lower_all, targets
from instrc.problems.errors import SettingsError
from instrc.providers.dialect import Limits
from instrc.providers.lowering.build import count, exceeded  # one step of a lowering, on budgets that no target has
from instrc.providers.lowering.context import LoweringOptions  # one step of a lowering
from instrc.providers.lowering.rebuild import rebuild  # one step of a lowering, on budgets that no target has
from instrc.text.jsontext import dumps


def flat(number: int, *, required: bool = True, kind: str = "string") -> Any:
    names = [f"p{index}" for index in range(number)]
    schema = {"type": "object", "properties": {name: {"type": kind} for name in names}, "additionalProperties": False}
    return {**schema, "required": names} if required else schema


def nested(levels: int) -> Any:
    schema: Any = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"in": schema}, "required": ["in"], "additionalProperties": False}
    return schema


def names(problems: Any) -> list[str]:
    return [
        f"{problem.what} {problem.count}/{problem.limit} {problem.offender}"
        for problem in problems
        if problem.name == "budget-exceeded"
    ]


def test_too_many_properties_are_sent_without_strictness() -> None:
    result = lower(flat(5001), "openai", "wide")
    assert names(result.problems) == ["properties 5001/5000 wide"]
    assert result.payload["function"]["strict"] is False
    assert any(loss.keyword == "strict" for loss in result.losses)
    assert not breaches(result.payload, "openai")


def test_too_many_characters_name_the_tool_and_the_count() -> None:
    wide = {
        "type": "object",
        "properties": {f"{index:0200}": {"type": "string"} for index in range(601)},
        "additionalProperties": False,
    }
    result = lower(wide, "openai-responses", "long")
    assert names(result.problems) == ["characters of names and values 120200/120000 long"]
    assert result.payload["strict"] is False


def test_what_is_nested_below_ten_levels_is_written_as_text() -> None:
    result = lower(nested(14), "openai")
    assert count(result.schema).depth == 10
    assert result.payload["function"]["strict"] is True
    assert any("nested too deeply" in loss.reason for loss in result.losses)


def test_levels_are_counted_anew_in_a_definition_and_the_deepest_place_is_named() -> None:
    schema = {**nested(12), "$defs": {"a": nested(11)}}
    assert names(exceeded(schema, targets()["openai"], "deep")) == [f"levels of nesting 12/10 deep{'/properties/in' * 11}"]
    schema = {**nested(11), "$defs": {"a": nested(12)}}
    assert names(exceeded(schema, targets()["openai"], "deep")) == [
        f"levels of nesting 12/10 deep/$defs/a{'/properties/in' * 11}"
    ]


def test_an_enum_beyond_the_thousandth_value_becomes_its_type() -> None:
    schema = {
        "type": "object",
        "properties": {
            "many": {"enum": [f"v{index}" for index in range(900)]},
            "more": {"enum": [f"w{index}" for index in range(200)]},
        },
        "required": ["many", "more"],
    }
    result = lower(schema, "openai-output")
    assert count(result.schema).enum_values == 900
    assert [loss.pointer for loss in result.losses if loss.keyword == "enum"] == ["/properties/more"]


@every_case("target", ["gemini", "gemini-output", "gemini-schema"])
def test_lists_beyond_the_sum_of_a_target_have_their_bound_in_words(target: str) -> None:
    bounded = {"type": "array", "items": {"type": "string"}, "maxItems": 500}
    schema: Any = {"type": "object", "properties": {"a": bounded, "b": bounded, "c": {**bounded, "maxItems": 400}}}
    result = lower(schema, target)
    sent = dumps(result.payload, indent=False)
    assert [sent.count(f'"maxItems":{most}') for most in (500, 400)] == [1, 1]
    [loss] = [loss for loss in result.losses if loss.keyword == "maxItems"]
    assert loss.pointer == "/properties/b"
    assert "the sum of maxItems to 1000, and the target takes 900" in loss.reason
    assert "500" in dumps(result.schema["properties"]["b"]["description"])
    assert not lift({"b": ["x"] * 501}, result).ok


def test_a_long_enum_of_long_words_becomes_a_string() -> None:
    schema = {"type": "object", "properties": {"a": {"enum": [f"{index:060}" for index in range(251)]}}, "required": ["a"]}
    assert lower(schema, "openai").schema["properties"]["a"]["type"] == "string"
    assert "enum" not in lower(schema, "openai").schema["properties"]["a"]


def test_an_object_among_the_words_of_an_enum_that_becomes_a_string_comes_back_as_an_object() -> None:
    words = [f"{index:060}" for index in range(251)]
    schema = {"type": "object", "properties": {"a": {"enum": [*words, {"x": 1}]}}, "required": ["a"]}
    result = lower(schema, "openai")
    assert result.schema["properties"]["a"]["type"] == "string"
    for value in (words[0], {"x": 1}):
        answer = encode({"a": value}, result.map)
        assert isinstance(answer["a"], str)
        assert lift(answer, result.map).value == {"a": value}


def test_optional_properties_come_last_before_strictness_goes() -> None:
    result = lower(flat(20, required=False), "anthropic-strict", "many")
    assert result.payload["strict"] is True
    assert count(result.schema).unions == 0
    assert [loss.kind for loss in result.losses if loss.kind == "order"] == ["order"]


def test_the_tools_of_a_request_give_up_the_order_of_optional_properties_one_by_one_and_say_so() -> None:
    tools = lower_all([(f"t{index}", flat(10, required=False)) for index in range(3)], "anthropic-strict")
    assert [tool.get("strict", False) for tool in tools.payload] == [True] * 3
    assert [[loss.kind for loss in lowering.losses] for lowering in tools.lowerings] == [[], ["order"], ["order"]]


def test_too_many_optional_parameters_are_sent_plain() -> None:
    result = lower(flat(25, required=False), "anthropic-strict", "many")
    assert "strict" not in result.payload
    assert {problem.count for problem in result.problems if problem.name == "budget-exceeded"} == {25}
    assert not breaches(result.payload, "anthropic-strict")


def test_the_twenty_first_strict_tool_is_sent_plain() -> None:
    tools = lower_all([(f"t{index}", flat(2)) for index in range(22)], "anthropic-strict")
    assert [tool.get("strict", False) for tool in tools.payload] == [True] * 20 + [False] * 2
    assert names(tools.problems) == ["strict tools 21/20 t20", "strict tools 21/20 t21"]


def test_unions_are_counted_over_the_whole_request() -> None:
    union = {"type": "object", "properties": {f"p{index}": {"type": ["string", "integer"]} for index in range(6)}}
    union["required"] = list(union["properties"])
    tools = lower_all([(f"t{index}", union) for index in range(4)], "anthropic-strict")
    assert [tool.get("strict", False) for tool in tools.payload] == [True, True, False, False]
    assert names(tools.problems)[0] == "union-typed parameters 18/16 t2"


def test_tools_of_one_name_get_numbers_and_come_back() -> None:
    tools = lower_all([("a.b", flat(1)), ("a_b", flat(1)), ("a b", flat(1))], "openai")
    assert [tool["function"]["name"] for tool in tools.payload] == ["a_b_2", "a_b", "a_b_3"]
    assert [record["tool"]["name"] for record in tools.map["tools"].values()] == ["a.b", "a_b", "a b"]


def test_a_long_description_goes_on_in_the_schema() -> None:
    text = "A sentence that says something. " * 60
    result = lower({"type": "object", "properties": {}}, "openai", description=text)
    sent = result.payload["function"]["description"]
    assert len(sent) <= 1024
    assert sent.endswith("something.")
    assert text in result.payload["function"]["parameters"]["description"]


def test_what_a_description_has_no_room_for_stands_above_what_the_schema_says_itself() -> None:
    text = "A sentence that says something. " * 60
    result = lower({"type": "object", "description": "About the arguments.", "properties": {}}, "openai", description=text)
    assert result.payload["function"]["parameters"]["description"] == f"{text}\nAbout the arguments."


def test_strict_makes_a_loss_an_error() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "array", "items": {"type": "string"}, "uniqueItems": True}},
        "required": ["a"],
    }
    assert [problem.name for problem in lower(schema, "openai").problems] == ["lossy-target"]
    with pytest.raises(CompileError) as caught:
        lower(schema, "openai", strict=True)
    assert [problem.severity for problem in caught.value.problems] == ["error"]
    alone, together = Report(), Report()
    lower(schema, "openai", strict=True, report=alone)
    lower_all([("tool", schema)], "openai", strict=True, report=together)
    assert alone.failed
    assert together.failed
    assert not lower(schema, "mcp", strict=True).problems


def test_recursion_can_be_refused() -> None:
    tree = {"type": "object", "properties": {"kids": {"type": "array", "items": {"$ref": "#"}}}}
    with pytest.raises(CompileError) as caught:
        lower(tree, "anthropic-strict", recursion="refuse")
    assert [problem.name for problem in caught.value.problems] == ["recursive-for-target"]
    assert lower(tree, "openai").schema["$defs"]
    assert "$defs" not in lower(tree, "anthropic-strict").schema


def test_an_unknown_target_is_a_problem_with_the_nearest() -> None:
    with pytest.raises(SettingsError) as caught:
        lower({}, "opneai")
    assert caught.value.problems[0].name == "unknown-target"
    assert "openai" in str(caught.value.problems[0].hint)


def test_what_is_put_into_words_for_its_size_is_told_with_the_count_and_the_limit() -> None:
    def reasons(schema: Any) -> str:
        return " ".join(str(loss) for loss in lower(schema, "openai").losses)

    def holding(values: list[str]) -> Any:
        return {"type": "object", "properties": {"size": {"enum": values}}, "required": ["size"], "additionalProperties": False}

    assert not reasons(holding([f"v{number}" for number in range(1000)]))
    many = reasons(holding([f"v{number}" for number in range(1001)]))
    assert "/properties/size" in many
    assert "1001" in many
    assert "1000" in many
    assert not reasons(holding([f"{number:060}" for number in range(250)]))
    long = reasons(holding([f"{number:060}" for number in range(251)]))
    assert "15060" in long
    assert "15000" in long
    deep: Any = {"type": "object", "properties": {}, "additionalProperties": False}
    for _ in range(9):
        deep = {"type": "object", "properties": {"a": deep}, "required": ["a"], "additionalProperties": False}
    assert not reasons(deep)
    deep = {"type": "object", "properties": {"a": deep}, "required": ["a"], "additionalProperties": False}
    assert "/a: " in reasons(deep)
    assert "level 11" in reasons(deep)
    assert "10" in reasons(deep)


@every_case("seed", range(40))
def test_a_schema_whose_text_is_too_short_to_exceed_a_budget_exceeds_none(seed: int) -> None:
    """The text is looked at first, because that is quick; to count says the same."""
    schema = schema_of(seed)
    sizes = count(schema)
    for most in range(1, 9):
        each = {"properties": most, "depth": most, "enum_values": most, "optional": most, "unions": most, "characters": 20 * most}
        for what, limit in each.items():
            dialect = replace(targets()["openai"], limits=Limits(**{what: limit}))
            assert bool(exceeded(schema, dialect, "tool")) == (getattr(sizes, what) > limit)


@pytest.mark.long
def test_alternatives_inside_alternatives_that_would_double_at_each_level_end_as_json_text() -> None:
    schema: Any = {"type": "string"}
    for _ in range(40):
        needs = [{"required": ["inner"]}, {"required": ["other"]}]
        schema = {"type": "object", "properties": {"inner": schema, "other": {"type": "integer"}}, "oneOf": needs}
    result = lower(schema, "vllm")
    assert any("is in too many branches of unions" in loss.reason for loss in result.losses)
    assert len(dumps(result.payload)) < 1_000_000


def inner(letter: str) -> Any:
    return {"type": "object", "properties": {f"{letter}{index}": {"type": "string"} for index in range(9)}}


MANY_OPTIONAL = {
    "at the root": flat(17, required=False),
    "in objects": {"type": "object", "properties": {"one": inner("a"), "two": inner("b")}},
}


@every_case("schema", MANY_OPTIONAL.values(), ids=MANY_OPTIONAL.keys())
def test_what_cannot_keep_its_order_is_built_once(schema: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[LoweringOptions] = []

    def noting(seen: Any, dialect: Any, options: LoweringOptions) -> Any:
        built.append(options)
        return rebuild(seen, dialect, options)

    monkeypatch.setattr("instrc.providers.lowering.build.rebuild", noting)
    result = lower(schema, "bedrock-strict", "wide")
    assert [options.ordered for options in built] == [False]
    assert [loss.keyword for loss in result.losses if loss.kind == "order"] == ["properties"]


def test_nothing_is_said_of_order_where_no_value_satisfies_the_schema() -> None:
    schema = {**flat(17, required=False), "required": ["p0"]}
    schema["properties"] = {**schema["properties"], "p0": False}
    assert not [loss for loss in lower(schema, "bedrock-strict", "none").losses if loss.kind == "order"]


@every_case(
    ("schema", "target", "told", "way"),
    [
        (
            {"type": "object", "properties": {f"{'n' * 60}{n}": {} for n in range(2000)}},
            "openai",
            "there are 126890 characters of names and values, and `openai` takes at most 120000",
            "shorten names and listed values, or split the tool",
        ),
        (flat(5001), "openai", "there are 5001 properties", "declare fewer properties, or split the tool"),
        (
            {"type": "object", "properties": {f"p{n}": {"type": ["string", "integer"]} for n in range(17)}},
            "anthropic-strict",
            "there are 17 union-typed parameters",
            "require more of them, give them one type each, split the tool, or send fewer tools in one request",
        ),
    ],
    ids=["characters", "properties", "unions"],
)
def test_what_to_do_about_a_budget_goes_by_what_it_counts(schema: Any, target: str, told: str, way: str) -> None:
    [over] = lower(schema, target).problems[:1]
    assert told in over.message
    assert over.hint == way


def test_long_constants_count_as_characters() -> None:
    short, long = (closed(**{f"p{index}": {"const": "x" * size} for index in range(100)}) for size in (1_100, 1_300))
    assert not lower(short, "openai").problems
    [size, strictness] = lower(long, "openai").problems
    assert "130290 characters" in str(size)
    assert strictness.name == "lossy-target"
