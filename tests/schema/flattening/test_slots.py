"""Slots of mixins: what is put in stands in their place, in order, and nothing else changes."""

# ruff: noqa: FBT001, FBT003  -- booleans are schemas and instances here

from __future__ import annotations

from typing import Any

import jsonschema_rs
import orjson
import pytest
from every_case import every_case

from instrc import CompileError, Report
from instrc.schema.flattening.flatten import flatten
from instrc.schema.flattening.parts import splice  # slots without a vibe
from instrc.schema.validation import is_valid

OUTER = {
    "title": "Outer",
    "description": "About the outer mixin.",
    "type": "object",
    "properties": {"before": {"type": "string"}, "default": {"type": "object"}, "after": {"type": "string"}},
    "required": ["before", "default", "after"],
}
INNER = {"properties": {"first": {}, "default": {}, "header": {"type": "object"}, "last": {}}}
STEP = {
    "description": "About the step.",
    "type": "object",
    "properties": {"x": {"type": "integer"}, "y": {}},
    "additionalProperties": False,
}
LIBRARY = {"aug:outer_Mixin": OUTER, "aug:/lib/inner_Mixin:2": INNER, "aug:step": STEP}


def text(schema: Any) -> str:
    return orjson.dumps(schema).decode()


def test_the_slot_is_replaced_in_place() -> None:
    assert text(splice(OUTER, STEP)) == text(
        {
            "description": "About the step.",
            "type": "object",
            "properties": {"before": {"type": "string"}, "x": {"type": "integer"}, "y": {}, "after": {"type": "string"}},
            "required": ["before", "x", "y", "after"],
            "additionalProperties": False,
        }
    )


def test_an_unfilled_slot_disappears() -> None:
    empty = splice(OUTER)
    assert list(empty["properties"]) == ["before", "after"]
    assert empty["required"] == ["before", "after"]
    assert "title" not in empty
    assert splice(OUTER, True) == empty
    assert splice(OUTER, {}) == empty


def test_a_mixin_without_the_slot_comes_first() -> None:
    plain = {"properties": {"a": {}}, "required": ["a"]}
    assert splice(plain, STEP)["properties"] == {"a": {}, "x": {"type": "integer"}, "y": {}}
    assert splice(plain, STEP)["required"] == ["a"]


@every_case(
    ("slot", "own", "required"),
    [(True, None, ["x", "y"]), (True, ["y"], ["y"]), (True, [], None), (False, None, None), (False, ["y"], ["y"])],
)
def test_required_follows_the_slot_unless_what_is_put_in_says_itself(slot: bool, own: Any, required: Any) -> None:
    mixin = {"properties": {"default": {}}, "required": ["default"] if slot else []}
    step = {"properties": {"x": {}, "y": {}}} | ({} if own is None else {"required": own})
    assert splice(mixin, step).get("required") == required


def test_what_is_required_stays_so_where_no_property_describes_it() -> None:
    mixin = {"properties": {"default": {}}, "required": ["mine", "default"]}
    assert splice(mixin, {"properties": {"x": {}}, "required": ["x", "theirs"]})["required"] == ["x", "mine", "theirs"]


def test_the_result_is_closed_if_what_is_put_in_is() -> None:
    closed = {**OUTER, "additionalProperties": False}
    assert "additionalProperties" not in splice(closed, {"properties": {"x": {}}})
    assert splice(closed)["additionalProperties"] is False
    assert splice(OUTER, {"properties": {"x": {}}, "unevaluatedProperties": False})["unevaluatedProperties"] is False
    judge = jsonschema_rs.Draft202012Validator(splice(closed, STEP))
    assert judge.is_valid({"before": "", "x": 1, "y": 1, "after": ""})
    assert not judge.is_valid({"before": "", "x": 1, "y": 1, "after": "", "z": 1})


def test_what_is_put_in_speaks_of_its_own_properties_only() -> None:
    step = {
        "properties": {"x": {}},
        "minProperties": 1,
        "maxProperties": 2,
        "propertyNames": {"maxLength": 2},
        "anyOf": [{"properties": {"x": {"const": 1}}, "additionalProperties": False}, {"required": ["z"]}],
        "patternProperties": {"^z": {"type": "null"}},
    }
    mixed = splice(OUTER, step)
    judge = jsonschema_rs.Draft202012Validator(mixed)
    around = {"before": "", "after": ""}
    for inside, good in (
        ({"x": 1}, True),
        ({}, False),
        ({"x": 2}, False),
        ({"x": 2, "z": None}, True),
        ({"x": 1, "zz": None}, False),
    ):
        assert judge.is_valid(around | inside) is good, inside
    assert not judge.is_valid(around | {"x": 2, "z": None, "zz": None})
    assert not judge.is_valid({"after": "", "x": 1})


def test_patterns_of_the_content_do_not_speak_of_properties_of_the_mixin() -> None:
    mixin = {"type": "object", "properties": {"_note": {"type": "string"}, "$size|": {"type": "string"}, "default": {}}}
    patterns = {"^[a-z_]+$": {"type": "integer"}, "[$]": {"type": "null"}, "^x": {"type": "null"}}
    table = {"type": "object", "patternProperties": patterns, "additionalProperties": False}
    mixed = splice(mixin, table)
    assert list(mixed["patternProperties"]) == [
        r"^(?!(?:_note)$)[\s\S]*(?:^[a-z_]+$)",
        r"^(?!(?:\$size\|)$)[\s\S]*(?:[$])",
        "^x",
    ]
    for inside, good in (
        ({"_note": "n", "$size|": "s", "word": 1, "a$": None}, True),
        ({"_note": 1}, False),
        ({"_notes": "n"}, False),
        ({"$size": "s"}, False),
        ({"B": 1}, False),
        ({"xy": 1}, False),
    ):
        assert is_valid(inside, mixed) is good, inside


def test_further_keywords_of_the_mixin_hold_too() -> None:
    mixin = {"type": "object", "properties": {"default": {}}, "minProperties": 2, "x-mixin": 1}
    assert splice(mixin, {"title": "t", "minProperties": 3}) == {
        "title": "t",
        "minProperties": 3,
        "type": "object",
        "properties": {},
        "x-mixin": 1,
    }


def test_what_is_no_object_fills_the_property_itself() -> None:
    for value in ({"type": "string"}, {"enum": [{}]}, {"const": {}}, {"type": ["string", "null"]}):
        assert splice(OUTER, value)["properties"]["default"] == value
        assert "title" not in splice(OUTER, value)
    assert "default" not in splice(OUTER, {"type": ["object", "null"], "properties": {"x": {}}})["properties"]


def test_what_cannot_be_leaves_nothing() -> None:
    assert splice(OUTER, False) is False
    assert splice(False, STEP) is False
    assert splice({"type": "array", "properties": {"default": {}}}, STEP) is False
    assert splice(True, STEP)["properties"] == STEP["properties"]


def test_a_key_that_both_define_is_reported_and_means_both() -> None:
    report = Report()
    mixed = splice(
        OUTER, {"properties": {"after": {"minLength": 1}, "before": {"type": "string"}}}, report=report, applied="aug:outer_Mixin"
    )
    assert mixed["properties"] == {"before": {"type": "string"}, "after": {"minLength": 1, "type": "string"}} or mixed[
        "properties"
    ] == {
        "before": {"type": "string"},
        "after": {"type": "string", "minLength": 1},
    }
    (problem,) = report.problems
    assert problem.name == "slot-conflict"
    assert problem.severity == "warning"
    assert "`after`" in problem.message
    assert "aug:outer_Mixin" in problem.message
    assert '{"minLength":1}' in problem.message
    assert problem.hint


def test_recursive_steps_and_mixins_keep_their_definitions_apart() -> None:
    def tree(kind: str) -> Any:
        return {
            "title": "Tree",
            "properties": {kind: {"items": {"$ref": "#"}}, kind * 2: {"$ref": "#/$defs/T"}},
            "$defs": {"T": {"type": kind, "items": {"$ref": "#/$defs/T"}}, "unused": {}},
        }

    mixed = splice({**tree("array"), "properties": {**tree("array")["properties"], "default": {}}}, tree("null"))
    assert set(mixed["$defs"]) == {"T", "T_2", "Tree", "Tree_2"}
    judge = jsonschema_rs.Draft202012Validator(mixed)
    assert judge.is_valid({"arrayarray": [[]], "nullnull": None, "null": [{"nullnull": None}]})
    assert not judge.is_valid({"nullnull": []})
    assert not judge.is_valid({"arrayarray": None})
    assert not judge.is_valid({"array": [{"arrayarray": None}]})
    assert not judge.is_valid({"null": [{"nullnull": []}]})


def test_a_list_of_mixins_nests_outermost_first() -> None:
    listed = {
        "allOf": [
            {"$ref": "aug:outer_Mixin"},
            {"$ref": "aug:/lib/inner_Mixin:2"},
            {"properties": {"default": {"$ref": "aug:step"}}},
        ]
    }
    nested = {
        "$ref": "aug:outer_Mixin",
        "properties": {"default": {"$ref": "aug:/lib/inner_Mixin:2", "properties": {"default": {"$ref": "aug:step"}}}},
    }
    flat = flatten(listed, LIBRARY)
    assert list(flat["properties"]) == ["before", "first", "x", "y", "header", "last", "after"]
    assert flat["additionalProperties"] is False
    assert flat["description"] == "About the step."
    assert text(flatten(nested, LIBRARY)) == text(flat)
    assert flat == splice(OUTER, splice(INNER, STEP))
    assert text(flatten(flat)) == text(flat)


def test_words_beside_the_reference_reach_the_result() -> None:
    flat = flatten(
        {
            "allOf": [{"$ref": "aug:outer_Mixin", "description": "Here."}, {"properties": {"default": {"$ref": "aug:step"}}}],
            "title": "T",
        },
        LIBRARY,
    )
    assert flat["description"] == "About the step.\nHere."
    assert flat["title"] == "T"


def test_other_slots_are_filled_by_name_and_other_properties_added() -> None:
    flat = flatten(
        {
            "$ref": "aug:/lib/inner_Mixin:2",
            "properties": {"header": {"required": ["h"]}, "more": {}},
            "required": ["default", "more"],
        },
        LIBRARY,
    )
    assert flat == {
        "properties": {"first": {}, "header": {"type": "object", "required": ["h"]}, "last": {}, "more": {}},
        "required": ["more"],
    }


def test_a_mixin_by_itself_or_below_is_a_mixin_too() -> None:
    assert list(flatten({"$ref": "aug:outer_Mixin"}, LIBRARY)["properties"]) == ["before", "after"]
    flat = flatten({"properties": {"p": {"$ref": "aug:outer_Mixin#"}}, "anyOf": [{"$ref": "aug:outer_Mixin"}, {}]}, LIBRARY)
    assert list(flat["properties"]["p"]["properties"]) == ["before", "after"]
    assert flat["anyOf"][0] == flat["properties"]["p"]


def test_a_part_of_a_mixin_is_only_that_part() -> None:
    assert flatten({"$ref": "aug:/lib/inner_Mixin:2#header"}, LIBRARY) == {"type": "object"}


def test_elsewhere_the_name_means_nothing() -> None:
    schema = {"$ref": "https://e.com/outer_Mixin", "properties": {"default": {"minProperties": 1}}}
    assert flatten(schema, {"https://e.com/outer_Mixin": OUTER})["properties"]["default"] == {
        "type": "object",
        "minProperties": 1,
    }


def test_unevaluated_properties_see_what_has_been_put_in() -> None:
    flat = flatten(
        {"$ref": "aug:outer_Mixin", "properties": {"default": {"properties": {"q": {}}}}, "unevaluatedProperties": False}, LIBRARY
    )
    assert list(flat["properties"]) == ["before", "q", "after"]
    assert flat["additionalProperties"] is False


def test_a_mixed_schema_is_a_branch_like_others() -> None:
    applied = {"allOf": [{"$ref": "aug:outer_Mixin"}], "minProperties": 1}
    assert list(flatten({"allOf": [applied, {"properties": {"z": {}}}]}, LIBRARY)["properties"]) == ["before", "after", "z"]
    assert flatten({"allOf": [applied, {"$ref": "aug:step"}]}, LIBRARY) is False  # the step is closed
    assert flatten({"allOf": [{"allOf": [{"$ref": "aug:outer_Mixin"}, False]}]}, LIBRARY) is False
    assert flatten({"allOf": [{"allOf": [{"$ref": "aug:no_Mixin"}]}, {"minimum": 1}]}, {"aug:no_Mixin": False}) is False
    assert flatten(
        {"allOf": [{"allOf": [{"$ref": "aug:no_Mixin"}, {"minimum": 2}]}, {"minimum": 1}]}, {"aug:no_Mixin": True}
    ) == {
        "minimum": 2,
        "properties": {},
    }


def test_a_mixin_may_hold_what_applies_it() -> None:
    schema = {
        "properties": {
            "p": {"$ref": "aug:outer_Mixin", "properties": {"default": {"properties": {"again": {"$ref": "#/properties/p"}}}}}
        }
    }
    flat = flatten(schema, LIBRARY)
    (name,) = flat["$defs"]
    assert flat["$defs"][name]["properties"]["again"] == {"$ref": f"#/$defs/{name}"}
    assert flatten(flat) == flat


def test_a_recursive_step_is_spliced_by_what_it_is() -> None:
    library = {**LIBRARY, "aug:tree": {"title": "Tree", "properties": {"kids": {"items": {"$ref": "#"}}}}}
    flat = flatten({"$ref": "aug:outer_Mixin", "properties": {"default": {"$ref": "aug:tree"}}}, library)
    assert list(flat["properties"]) == ["before", "kids", "after"]
    assert len(flat["$defs"]) == 1


def test_conflicts_are_reported_with_the_reference() -> None:
    report = Report()
    flatten(
        {"$ref": "aug:outer_Mixin", "properties": {"default": {"properties": {"after": {"minLength": 2}}}}},
        LIBRARY,
        report=report,
    )
    assert ["aug:outer_Mixin" in problem.message for problem in report.problems] == [True]


def test_a_mixin_that_is_not_there_is_a_problem() -> None:
    with pytest.raises(CompileError):
        flatten({"allOf": [{"$ref": "aug:missing_Mixin"}]}, LIBRARY)


def test_thousands_of_nested_mixins_do_no_harm() -> None:
    schema: Any = STEP
    for _ in range(600):
        schema = {"$ref": "aug:/lib/inner_Mixin:2", "properties": {"default": schema}}
    assert list(flatten(schema, LIBRARY)["properties"]) == ["first", "x", "y", "header", "last"]


def test_properties_that_meet_in_a_slot_hold_together_without_a_report_too() -> None:
    mixin = {"properties": {"a": {"minimum": 1}, "default": {}}}
    assert splice(mixin, {"properties": {"a": {"maximum": 2}}}) == {"properties": {"a": {"minimum": 1, "maximum": 2}}}


@every_case("branches", [None, {}, "x", 1])
def test_beside_a_mixin_what_is_no_list_of_branches_is_told(branches: Any) -> None:
    document = {"$ref": "aug:A_Mixin", "allOf": branches}
    with pytest.raises(CompileError) as found:
        flatten(document, {"aug:A_Mixin": {"type": "object", "properties": {"default": {}}}})
    assert [problem.name for problem in found.value.problems] == ["invalid-schema"]


def test_required_slots_beside_others() -> None:
    library = {"aug:m_Mixin": {"properties": {"default": {}}}}
    flat = flatten(
        {"$ref": "aug:m_Mixin", "properties": {"default": {"properties": {"a": {}}}, "b": {}}, "required": ["default"]}, library
    )
    assert flat == {"properties": {"a": {}, "b": {}}}
    lifted = splice(
        {"properties": {"m": {}, "default": {}}}, {"properties": {"a": {}}, "not": True, "anyOf": [False, {"maxProperties": 1}]}
    )
    assert lifted["anyOf"] == [False, {"maxProperties": 2}]
