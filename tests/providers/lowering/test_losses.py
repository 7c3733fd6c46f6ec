"""The report of losses names what is lost, all of it, and nothing else."""

from __future__ import annotations

from typing import Any

from every_case import every_case
from objects import closed

from instrc import lift, lower, lower_all

OPEN = ["gemini-schema", "gigachat", "ollama"]
"""Targets whose objects cannot be closed."""


def lost(schema: Any, target: str) -> set[tuple[str, str]]:
    """Return the constraints that a target is said not to enforce, by place and keyword."""
    return {(loss.pointer, loss.keyword) for loss in lower(schema, target).losses if loss.kind in {"unenforced", "part"}}


@every_case("target", OPEN)
def test_an_object_that_cannot_be_closed_loses_that_and_no_more(target: str) -> None:
    schema = closed(name={"type": "string"}, inner=closed(kind={"type": "boolean"}))
    assert lost(schema, target) == {("", "additionalProperties"), ("/properties/inner", "additionalProperties")}


@every_case("target", OPEN)
def test_where_an_object_is_closed_by_a_contradiction_its_parts_are_lost(target: str) -> None:
    schema = {**closed(name={"type": "string"}), "additionalProperties": {"allOf": [{"type": "integer"}, {"type": "object"}]}}
    assert lost(schema, target) == {
        ("", "additionalProperties"),
        ("/additionalProperties", "allOf"),
        ("/additionalProperties/allOf/0", "type"),
        ("/additionalProperties/allOf/1", "type"),
    }


def test_a_contradiction_behind_a_reference_is_found_where_it_is_written() -> None:
    schema = {
        **closed(list={"type": "array", "items": {"$ref": "#/$defs/none"}}),
        "$defs": {"none": {"allOf": [{"type": "integer"}, {"type": "object"}]}},
    }
    found = lost(schema, "gigachat")
    assert {("/properties/list", "items"), ("/$defs/none/allOf/0", "type"), ("/$defs/none/allOf/1", "type")} <= found


def test_a_forbidden_property_is_told_with_its_place() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}, "b": False}, "required": ["a"]}
    assert ("/properties/b", "false") in lost(schema, "ollama")
    assert lost(schema, "openai") == set()


def test_a_forbidden_property_beside_alternatives_is_told_where_it_is_forbidden() -> None:
    forbidden, needed = {"type": "object", "properties": {"a": False}}, {"type": "object", "required": ["b"]}
    beside = {**forbidden, "anyOf": [needed, {"type": "object", "minProperties": 1}]}
    inside = {**needed, "anyOf": [forbidden, {"type": "object", "required": ["c"]}]}
    assert {place for place, word in lost(closed(x=beside), "ollama") if word == "false"} == {"/properties/x/properties/a"}
    assert {place for place, word in lost(closed(x=inside), "ollama") if word == "false"} == {
        "/properties/x/anyOf/0/properties/a"
    }


@every_case("target", OPEN)
def test_unevaluated_keywords_are_lost_under_their_own_names(target: str) -> None:
    schema = {**closed(name={"type": "string"}), "unevaluatedProperties": False}
    del schema["additionalProperties"]
    assert lost(schema, target) == {("", "unevaluatedProperties")}


@every_case("target", OPEN)
def test_what_is_said_of_keys_that_cannot_be_is_lost_where_they_may_come(target: str) -> None:
    nothing = {"type": "object", "additionalProperties": False, "propertyNames": {"pattern": "^a"}}
    assert {("/properties/v", word) for word in ("additionalProperties", "propertyNames")} <= lost(closed(v=nothing), target)
    misnamed = {**closed(v={"type": "string"}), "propertyNames": {"maxLength": 0}, "required": []}
    assert ("/properties/v", "type") in lost(misnamed, target)


def test_a_list_that_is_always_empty_loses_how_long_it_may_be() -> None:
    schema = closed(v={"type": "array", "items": False, "maxItems": 1})
    assert lost(schema, "ollama") >= {("/properties/v", "items"), ("/properties/v", "maxItems")}
    assert lost(schema, "openai") == set()


def test_names_that_cannot_be_are_lost_where_keys_are_renamed() -> None:
    schema = closed(v={"type": "object", "propertyNames": False}, ключ={"type": "string"})
    assert ("/properties/v", "false") in lost(schema, "anthropic")


def test_what_may_not_be_inside_of_a_lost_keyword_is_lost_at_its_place() -> None:
    schema = closed(v={"type": "string", "not": {"properties": {"a": False, "b": {"minLength": 2}}}})
    assert {("/properties/v/not/properties/a", "false"), ("/properties/v/not/properties/b", "minLength")} <= lost(
        schema, "openai"
    )


def test_what_another_constraint_made_needless_is_lost_with_that() -> None:
    schema = closed(v={"type": "array", "items": {"type": "integer"}, "maxItems": 1, "uniqueItems": True})
    assert lost(schema, "ollama") >= {("/properties/v", "maxItems"), ("/properties/v", "uniqueItems")}
    assert lost(schema, "openai") == set()


def test_declared_properties_that_match_a_pattern_have_its_demands_so_that_nothing_is_lost() -> None:
    schema = {**closed(ab={"type": "integer"}), "patternProperties": {"^a": {"type": "integer", "minimum": 3}}}
    assert lost(closed(v=schema), "mistral") == set()


def test_a_pattern_of_keys_is_lost_under_the_name_it_has() -> None:
    schema = {"type": "object", "patternProperties": {"^a": {"type": "string"}}, "additionalProperties": False}
    found = lost(closed(v=schema), "gemini")
    assert ("/properties/v", "patternProperties") in found
    assert {keyword for _, keyword in found} <= {"patternProperties", "additionalProperties", "type"}


@every_case("target", ["mistral", "mistral-output"])
@every_case(
    ("kind", "step", "taken"),
    [
        *[("number", step, True) for step in (2, 12, 0.5, 2.5, 12.5, 0.01, 0.05, 0.005, 1e-9)],
        *[("number", step, False) for step in (0.25, 0.125, 0.15, 1.25, 0.07, 1.01)],
        *[("integer", step, True) for step in (0.25, 2.5, 7)],
    ],
)
def test_steps_that_the_grammar_reads_wrongly_are_said_in_words(target: str, kind: str, step: float, taken: bool) -> None:  # noqa: FBT001
    result = lower(closed(v={"type": kind, "multipleOf": step, "exclusiveMinimum": 0}), target)
    sent = result.schema["properties"]["v"]
    assert sent["exclusiveMinimum"] == 0
    assert ("multipleOf" in sent) is taken
    assert (str(step) in sent.get("description", "")) is not taken
    assert lost(closed(v={"type": [kind, "null"], "multipleOf": step}), target) == (
        set() if taken else {("/properties/v", "multipleOf")}
    )


ORDINARY = closed(
    query={"type": "string", "description": "What to look for."},
    limit={"type": "integer", "minimum": 1, "maximum": 50},
    order={"type": "string", "enum": ["newest", "oldest"]},
    mode={"const": "fast"},
    tags={"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 5},
    note={"type": ["string", "null"]},
    pick={"anyOf": [closed(kind={"const": "a"}, x={"type": "number"}), closed(kind={"const": "b"}, when={"type": "boolean"})]},
)


@every_case("target", ["jsonschema", "mcp", "anthropic", "mistral", "vllm", "smolagents", "openai"])
def test_an_ordinary_tool_loses_nothing(target: str) -> None:
    assert lower(ORDINARY, target).losses == ()


@every_case(
    ("target", "expected"),
    [
        ("anthropic-strict", {("limit", "minimum"), ("limit", "maximum"), ("tags", "maxItems")}),
        ("gemini", set()),
        ("gemini-schema", {(place, "additionalProperties") for place in ("", "pick/anyOf/0", "pick/anyOf/1")}),
    ],
)
def test_an_ordinary_tool_loses_what_the_target_has_no_word_for(target: str, expected: set[tuple[str, str]]) -> None:
    assert lost(ORDINARY, target) == {(f"/properties/{place}" if place else "", keyword) for place, keyword in expected}


def test_what_a_condition_would_mark_as_evaluated_cannot_be_sent_and_that_is_told() -> None:
    schema = {
        "type": "object",
        "properties": {"name": {"type": "string"}},
        "required": ["name"],
        "unevaluatedProperties": False,
        "if": {"properties": {"name": {"const": "all"}}, "additionalProperties": True},
    }
    narrowed = {loss.keyword for loss in lower(schema, "mistral").losses if loss.kind == "narrowed"}
    assert narrowed == {"unevaluatedProperties"}


def test_what_is_said_of_other_keys_than_a_pattern_finds_is_lost_where_keys_are_renamed() -> None:
    schema = {
        "type": "object",
        "properties": {"$cost": {"type": "number"}},
        "patternProperties": {"^[a-z]+$": {}},
        "additionalProperties": {"type": "boolean"},
    }
    assert lost(schema, "anthropic") >= {("", "patternProperties"), ("", "additionalProperties"), ("", "type")}


@every_case(
    ("said", "told"),
    [
        ({"additionalProperties": {"type": "integer"}}, {("additionalProperties", "narrowed")}),
        (
            {"additionalProperties": True, "minProperties": 1},
            {("additionalProperties", "narrowed"), ("minProperties", "unenforced")},
        ),
        ({"patternProperties": {"^x-": {}}, "additionalProperties": False}, {("patternProperties", "narrowed")}),
        ({"additionalProperties": False}, set()),
        ({}, set()),
    ],
)
def test_what_a_root_says_beside_its_properties_has_no_place_among_inputs(said: Any, told: set[tuple[str, str]]) -> None:
    lowered = lower({"type": "object", "properties": {"a": {"type": "string"}}, **said}, "smolagents")
    assert {(loss.keyword, loss.kind) for loss in lowered.losses if loss.grave} == told


def test_a_name_that_is_sent_in_another_spelling_is_told() -> None:
    told = [loss for loss in lower({"type": "object"}, "openai", name="bad name!").losses if loss.keyword == "name"]
    assert [(loss.value, loss.reason, loss.grave) for loss in told] == [("bad name!", "is sent as `bad_name`", False)]
    twice = lower_all([("a", {"type": "object"}), ("a", {"type": "object"})], "openai")
    assert [loss.reason for loss in twice.losses if loss.keyword == "name"] == ["is sent as `a_2`"]
    assert "name" not in {loss.keyword for loss in lower({"type": "object"}, "openai", name="fine").losses}


def test_a_branch_that_no_value_satisfies_is_left_out_and_what_stands_in_it_is_no_loss() -> None:
    left_out = {
        "type": "object",
        "properties": {"a": {"type": "string"}},
        "patternProperties": {"b": {"type": "string", "pattern": "^x"}},
        "additionalProperties": False,
        "anyOf": [{"properties": {"C": {"type": "string"}}, "additionalProperties": {"type": "string"}, "required": ["C"]}],
    }
    result = lower({"type": "object", "properties": {"x": {"oneOf": [left_out, {"type": "null"}]}}, "required": ["x"]}, "ollama")
    assert result.schema["properties"]["x"] == {"type": "null"}
    assert not [loss for loss in result.losses if loss.grave]


def test_what_stands_in_a_branch_that_some_value_satisfies_is_told() -> None:
    branch = {
        "type": "object",
        "properties": {"a": {"type": "string"}, "C": {"type": "string"}},
        "additionalProperties": False,
        "anyOf": [{"required": ["C"], "if": {"required": ["a"]}, "then": {"maxProperties": 1}}],
    }
    result = lower({"type": "object", "properties": {"x": {"oneOf": [branch, {"type": "null"}]}}, "required": ["x"]}, "ollama")
    assert {"if", "then", "maxProperties"} <= {loss.keyword for loss in result.losses}


def test_a_loss_of_one_of_several_tools_names_it() -> None:
    limited = {"type": "integer", "multipleOf": 7}
    tools = {"find a room": closed(limit=limited), "book": closed(limit=limited)}
    lowered = lower_all(list(tools.items()), "gemini-schema")
    assert {loss.tool for loss in lowered.losses} == set(tools)
    assert [str(loss).split(": ")[:3] for loss in lowered.losses if loss.keyword == "multipleOf"] == [
        ["`find a room`", "/properties/limit", "multipleOf"],
        ["`book`", "/properties/limit", "multipleOf"],
    ]
    assert all(loss.to_json()["tool"] == loss.tool for loss in lowered.losses)


def test_the_problems_of_several_tools_are_told_of_each() -> None:
    limited = {"type": "integer", "multipleOf": 7}
    said = [str(each) for each in lower_all([("a", closed(x=limited)), ("b", closed(x=limited))], "gemini-schema").problems]
    assert sum("`multipleOf` at `/properties/x` of `a`" in each for each in said) == 1
    assert sum("`multipleOf` at `/properties/x` of `b`" in each for each in said) == 1


def test_the_loss_of_a_single_tool_names_none() -> None:
    lowered = lower(closed(limit={"type": "integer", "multipleOf": 7}), "gemini-schema")
    assert all(loss.tool is None and "tool" not in loss.to_json() and str(loss).startswith("/") for loss in lowered.losses)


def test_a_name_in_a_loss_is_written_as_in_the_schema() -> None:
    schema = {"type": "object", "properties": {"it's": False}, "required": ["it's"]}
    reasons = [loss.reason for loss in lower(schema, "openai").losses]
    assert """asks for "it's", which has no value""" in reasons


def test_texts_of_exactly_so_many_letters_and_empty_ones_are_asked_for_and_no_least_length_of_0() -> None:
    text = {"type": "string"}
    sent = lower(closed(a={**text, "minLength": 3, "maxLength": 3}, b={**text, "minLength": 0, "maxLength": 0}), "openai").schema
    assert sent["properties"] == {"a": {**text, "minLength": 3, "maxLength": 3}, "b": {**text, "maxLength": 0}}


@every_case(
    ("counts", "sent", "told"),
    [
        ({"minProperties": 1}, {"minItems": 1}, set()),
        ({"minProperties": 2, "maxProperties": 3}, {"minItems": 2, "maxItems": 3}, {"minProperties"}),
        ({"maxProperties": 3}, {"maxItems": 3}, set()),
    ],
)
def test_of_a_map_that_is_sent_as_a_list_a_least_number_is_exact_up_to_one(counts: Any, sent: Any, told: set[str]) -> None:
    lowered = lower(closed(v={"type": "object", "additionalProperties": {"type": "string"}, **counts}), "openai")
    entries = lowered.schema["properties"]["v"]
    assert {word: entries[word] for word in ("minItems", "maxItems") if word in entries} == sent
    assert {loss.keyword for loss in lowered.losses} == told


@every_case(
    ("following", "places"),
    [
        ({"items": {"type": "boolean"}}, ["item_1", "item_2", "more"]),
        ({"items": {"type": "boolean"}, "maxItems": 2}, ["item_1", "item_2"]),
        ({"items": False}, ["item_1", "item_2"]),
        ({}, ["item_1", "item_2"]),
        ({"minItems": 3}, ["item_1", "item_2", "more"]),
    ],
)
def test_what_follows_the_places_of_a_list_is_asked_for_where_it_is_described_or_needed(
    following: Any, places: list[str]
) -> None:
    pair = {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}]}
    lowered = lower(closed(v={**pair, **following}), "openai")
    assert list(lowered.schema["properties"]["v"]["properties"]) == places
    missing = set() if "minItems" in following else {"type"}  # the first place may be missing before the second
    assert {loss.keyword for loss in lowered.losses} == missing | (set() if following else {"items"})


@every_case(
    ("bounds", "empty"),
    [
        ({"minimum": 0, "exclusiveMaximum": 1}, False),
        ({"exclusiveMinimum": 0, "maximum": 1}, False),
        ({"exclusiveMinimum": 0, "exclusiveMaximum": 2}, False),
        ({"exclusiveMinimum": 0, "exclusiveMaximum": 1}, True),
        ({"minimum": 1.5, "exclusiveMaximum": 2}, True),
        ({"minimum": 3, "maximum": 5, "multipleOf": 5}, False),
        ({"minimum": 3, "maximum": 4, "multipleOf": 5}, True),
    ],
)
def test_bounds_that_leave_no_integer_are_told_and_those_that_leave_one_are_sent(bounds: Any, *, empty: bool) -> None:
    lowered = lower(closed(a={"anyOf": [{"type": "integer", **bounds}, {"type": "string"}]}), "openai")
    assert any("leaves no number" in loss.reason for loss in lowered.losses) == empty
    assert ("anyOf" in lowered.schema["properties"]["a"]) == (not empty)


@every_case("keyword", ["minProperties", "maxProperties"])
def test_how_many_of_the_optional_properties_come_is_lost_where_all_are_asked_for(keyword: str) -> None:
    pair = closed(a={"type": "string"}, b={"type": "string"}) | {"required": [], keyword: 1}
    lowered = lower(pair, "openai")
    assert [loss.keyword for loss in lowered.losses] == [keyword]
    assert "1" in lowered.schema["description"]
    assert [problem.keyword for problem in lift({"a": "x", "b": "y"}, lowered.map).calls[0].violations] == (
        ["maxProperties"] if keyword == "maxProperties" else []
    )


@every_case("schema", [True, {}, {"description": "Anything."}])
def test_that_arguments_are_an_object_is_told_where_nothing_is_said_of_them(schema: Any) -> None:
    [loss] = lower(schema, "anthropic").losses
    assert (loss.keyword, loss.reason) == ("type", "is not given: a tool's arguments are an object")
