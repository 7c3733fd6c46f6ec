"""Objects of one union tell themselves apart where a target asks for it, and come back without what was added."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest
from every_case import every_case
from judges import breaches
from objects import closed

from instrc import encode, lift, lower
from instrc.schema.walk import walk

TEXT: Any = {"type": "string"}


@every_case("target", ["openai", "openai-responses", "openai-output"])
@every_case(
    "union",
    [
        [closed(a=TEXT, x=TEXT), closed(a=TEXT, y=TEXT), closed(b=TEXT, x=TEXT), closed(b=TEXT, y=TEXT)],
        [closed(kind=TEXT, x=TEXT), closed(_t=TEXT, kind={"const": "a"}), closed(_t=TEXT, kind={"const": "b"})],
        [closed(option=TEXT, x=TEXT), closed(option=TEXT, y=TEXT), closed(option_2=TEXT, x=TEXT)],
    ],
    ids=["two keys shared by two each", "a constant put before one that stands first elsewhere", "the name of the tag is taken"],
)
def test_objects_of_a_union_differ_in_their_first_keys(target: str, union: list[Any]) -> None:
    result = lower(closed(choice={"anyOf": union}), target)
    assert not breaches(result.payload, target)
    for branch in union:
        value = {"choice": {key: schema.get("const", "z") for key, schema in branch["properties"].items()}}
        assert lift(encode(value, result.map), result.map).value == value


def test_a_choice_that_comes_without_what_it_names_is_reported() -> None:
    schema = {"anyOf": [closed(a=TEXT), {"properties": {"b": TEXT}, "required": ["b"]}]}
    result = lower(closed(value=schema), "gigachat")
    broken = {violation.keyword for violation in lift({"value": {"choice": "object"}}, result.map).invalid}
    assert broken
    assert broken <= {loss.keyword for loss in result.losses}


def test_null_beside_values_that_share_a_string_has_an_answer() -> None:
    union = {"oneOf": [{"type": ["string", "null"]}, {"const": False}]}
    for target in ("gemini-schema", "openai", "anthropic-strict", "gigachat"):
        result = lower(closed(id=union), target)
        for value in (None, False, "false", "null", "x"):
            assert lift(encode({"id": value}, result.map), result.map).value == {"id": value}


MAP = {"type": "object", "additionalProperties": {"type": "integer"}}


@every_case("target", ["openai", "anthropic-strict", "gemini", "gemini-schema", "gigachat", "ollama", "mistral", "vllm"])
@every_case(
    ("union", "values"),
    [
        (
            [{"type": "array", "items": TEXT}, {"type": "array"}],
            [["x"], [], [{"a": [1]}], ["{}", None]],
        ),
        (
            [MAP, {"type": "object", "additionalProperties": {"type": "null"}}, {"type": "array", "items": TEXT}],
            [{}, {"a": 1}, {"a": None}, [], ["a"]],
        ),
        (
            [closed(a=TEXT), closed(a={})],
            [{"a": "x"}, {"a": "[1]"}, {"a": [1]}, {"a": None}],
        ),
        (
            [{**closed(a=TEXT), "required": []}, {**closed(a={"type": ["string", "null"]}), "required": []}],
            [{}, {"a": "x"}, {"a": None}, {"a": "<null>"}],
        ),
        (
            [{"type": "array", "prefixItems": [TEXT, TEXT], "minItems": 2, "items": False}, closed(item_1={}, item_2=TEXT)],
            [["a", "b"], {"item_1": "a", "item_2": "b"}, {"item_1": [1], "item_2": "b"}],
        ),
    ],
    ids=["lists", "maps", "objects", "optional and nullable", "a tuple and what it is written as"],
)
def test_alternatives_that_are_sent_alike_are_told_apart(target: str, union: list[Any], values: list[Any]) -> None:
    result = lower(closed(id={"anyOf": union}), target)
    assert not breaches(result.payload, target)
    narrowed = any(loss.kind == "narrowed" for loss in result.losses)
    for value in values:
        if narrowed and value == {"a": None}:
            continue  # GigaChat: null is not told from what is left out
        assert lift(encode({"id": value}, result.map), result.map).value == {"id": value}


@every_case("target", ["anthropic-strict", "gemini", "gemini-schema", "ollama", "mistral", "vllm"])
def test_alternatives_that_types_and_constants_tell_apart_get_no_name(target: str) -> None:
    union = [closed(kind={"const": "a"}, x={}), closed(kind={"const": "b"}, x=TEXT), closed(y={}), closed(y=TEXT, z=TEXT)]
    assert "option" not in str(lower(closed(id={"anyOf": union}), target).payload)


@every_case("target", ["openai", "mistral", "vllm"])
def test_null_beside_a_recursive_union_has_an_answer(target: str) -> None:
    tree = {"anyOf": [closed(leaf={}), closed(kids={"type": "array", "items": {"$ref": "#/$defs/tree"}})]}
    schema = {**closed(tree={"anyOf": [{"$ref": "#/$defs/tree"}, {"type": "null"}]}), "$defs": {"tree": tree}}
    result = lower(schema, target)
    for value in (None, {"leaf": 1}, {"kids": [{"leaf": None}, {"kids": []}]}):
        assert lift(encode({"tree": value}, result.map), result.map).value == {"tree": value}


def test_an_object_beside_a_reference_to_what_it_is_part_of_begins_with_another_key() -> None:
    node: Any = closed(
        _reasoning=TEXT, next={"anyOf": [{"$ref": "#/$defs/node"}, closed(_reasoning=TEXT, end={"type": "boolean"})]}
    )
    result = lower({**closed(node={"$ref": "#/$defs/node"}), "$defs": {"node": node}}, "openai")
    assert not breaches(result.payload, "openai")
    value = {"node": {"_reasoning": "a", "next": {"_reasoning": "b", "next": {"_reasoning": "c", "end": True}}}}
    assert lift(encode(value, result.map), result.map).value == value


def wrapping(schema: Any) -> Any:
    return {"type": "object", "properties": {"a": schema}, "required": ["a"], "additionalProperties": False}


def test_what_no_keyword_says_of_both_is_a_loss() -> None:
    result = lower(wrapping({"type": "number", "allOf": [{"multipleOf": 0.5}, {"multipleOf": 0.3}]}), "openai")
    assert result.schema["properties"]["a"]["multipleOf"] == 0.5
    assert "0.3" in result.schema["properties"]["a"]["description"]
    assert [loss.keyword for loss in result.losses if loss.kind == "unenforced"] == ["multipleOf"]


@every_case(
    ("left", "right"),
    [
        ({"type": "integer"}, {"const": 1.5}),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, {"type": "integer"}),
        ({"type": "integer", "maximum": 3}, {"type": "integer", "minimum": 4}),
        (wrapping({"const": "x"}), {"type": "object", "properties": {"a": {"const": "y"}}, "additionalProperties": False}),
    ],
)
def test_branches_that_cannot_both_hold_are_said_as_anyof_without_a_loss(left: Any, right: Any) -> None:
    losses = lower(wrapping({"oneOf": [left, right]}), "openai").losses
    assert not [loss for loss in losses if loss.keyword == "oneOf"]


def either(*names: str) -> Any:
    """Return an `anyOf` that asks for one of some names."""
    return {"anyOf": [{"required": [name]} for name in names]}


@pytest.mark.long
@every_case("target", ["openai", "vllm", "gigachat"])
@every_case("pairs", [9, 12, 60])
def test_unions_that_multiply_each_other_to_many_are_partly_told_as_lost(target: str, pairs: int) -> None:
    names = [(f"a{number}", f"b{number}") for number in range(pairs)]
    properties = {name: TEXT for pair in names for name in pair}
    schema = {
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
        "allOf": [either(*each) for each in names],
    }
    result = lower(schema, target)
    lost = [loss for loss in result.losses if "more alternatives" in loss.reason]
    assert {loss.keyword for loss in lost} == {"anyOf", "required"}
    assert all(loss.pointer == "" or loss.pointer.split("/")[1] in {"anyOf", "allOf"} for loss in lost)
    assert len(str(result.payload)) < 50 * len(str(schema))
    value = {a: "x" for a, _ in names}
    assert lift(encode(value, result.map), result.map).value == value
    less = dict.fromkeys(list(value)[:-1], "x")
    lifted = lift(encode(less, result.map, check=False), result.map)
    assert not lifted.ok


def test_unions_that_leave_few_alternatives_are_kept_whole() -> None:
    kinds = [closed(kind={"const": f"k{number}"}, value=TEXT) for number in range(20)]
    result = lower(
        closed(a={"allOf": [{"oneOf": kinds}, {"oneOf": [*reversed(kinds), closed(kind={"const": "other"})]}]}), "openai"
    )
    assert result.losses == ()


def in_all_orders(names: list[str]) -> Any:
    """Return a schema of as many unions of the same objects as there are orders of these; each object leads to such a union."""
    unions: list[Any] = [{"anyOf": [{"$ref": f"#/$defs/{name}"} for name in order]} for order in permutations(names)]
    definitions = {name: closed(text=TEXT, **{f"in_{name[0]}": unions[-1 - at]}) for at, name in enumerate(names)}
    return {**closed(**{f"u{at}": union for at, union in enumerate(unions)}), "$defs": definitions}


def test_an_object_has_one_label_in_all_unions_whatever_their_order() -> None:
    """Numbered anew in each union, there would be a copy of it for each number."""
    sent = lower(in_all_orders(["A", "B", "C"]), "openai").schema
    labels: dict[str, set[str]] = {"in_A": set(), "in_B": set(), "in_C": set()}
    for _, node in walk(sent):
        properties = node.get("properties", {}) if isinstance(node, dict) else {}
        for name in labels.keys() & properties.keys() if "option" in properties else ():
            labels[name].add(properties["option"]["const"])
    assert [len(found) for found in labels.values()] == [1, 1, 1]
    assert len(sent["$defs"]) <= 9


def test_the_name_of_a_definition_has_at_most_64_letters_with_its_label_too() -> None:
    result = lower(in_all_orders(["A" * 70, "B" * 70, "C" * 70]), "openai")
    assert max(map(len, result.schema["$defs"])) == 64
    assert not breaches(result.payload, "openai")


def test_each_alternative_keeps_its_description_beside_what_holds_for_all_of_them() -> None:
    union = {
        "anyOf": [{"type": "string", "description": "A word."}, {"type": "integer", "description": "A count."}],
        "minimum": 3,
    }
    sent = lower(closed(a=union), "openai").schema["properties"]["a"]["anyOf"]
    assert [each["description"] for each in sent] == ["A word.", "A count."]


def test_an_element_that_may_be_null_is_a_text_where_no_union_can_be_sent() -> None:
    elements = {"type": "array", "items": {"type": ["string", "null"]}}
    lowered = lower({"type": "object", "properties": {"a": elements}, "required": ["a"]}, "gigachat", name="note")
    assert lowered.schema["properties"]["a"]["items"]["type"] == "string"
    assert lift({"a": ["x", "null", '"null"']}, lowered.map).value == {"a": ["x", None, "null"]}


def assert_comes_back(value: Any, result: Any) -> None:
    assert lift(encode(value, result.map), result.map).value == value


@every_case(
    ("other", "both"),
    [({"enum": ["a", None]}, True), ({"enum": ["a"]}, False), ({"const": "a"}, False), ({"const": None}, True)],
)
def test_where_null_is_a_value_too_leaving_out_has_a_word_of_its_own(other: Any, both: bool) -> None:  # noqa: FBT001
    node = {"anyOf": [other, closed(next={"$ref": "#/$defs/node"})]}
    schema = {**closed(a=TEXT, b={"$ref": "#/$defs/node"}), "required": ["a"], "$defs": {"node": node}}
    result = lower(schema, "openai")
    assert ({"type": "string", "enum": ["<null>"]} in result.schema["properties"]["b"]["anyOf"]) == both
    assert_comes_back({"a": "x"}, result)
    if both:
        assert_comes_back({"a": "x", "b": None}, result)


def test_values_by_the_pattern_of_their_keys_come_back_as_they_were() -> None:
    values = {"type": "object", "patternProperties": {"^x": {"enum": [1, "1", None, [2]]}}, "additionalProperties": False}
    result = lower(closed(m=values), "mistral")
    assert "patternProperties" in result.schema["properties"]["m"]
    value = {"m": {"xa": [2], "xb": 1, "xc": "1", "xd": None}}
    assert encode(value, result.map) == {"m": {"xa": "[2]", "xb": 1, "xc": "1", "xd": None}}
    assert_comes_back(value, result)


def test_values_that_are_written_alike_have_a_word_each_and_equal_ones_share_theirs() -> None:
    union = [{"enum": ["true", "a"]}, {"type": "boolean"}, {"enum": ["a", "b"]}]
    result = lower(closed(m={"anyOf": union}), "gigachat")
    assert result.schema["properties"]["m"]["enum"] == ["true", "a", "b", "true_2", "false"]
    for value in ("true", True, False, "a", "b"):
        assert_comes_back({"m": value}, result)
