"""What is not for the reader is taken out at every depth, and nothing else."""

# ruff: noqa: FBT003  -- booleans are schemas and instances here

from __future__ import annotations

from typing import Any

import pytest

import instrc
from instrc.problems.errors import SettingsError
from instrc.schema.strip import strip
from instrc.schema.validation import is_valid

FULL: dict[str, Any] = {
    "type": "object",
    "properties": {
        "_note": {"type": "string"},
        "$score": {"type": "number"},
        "references": {"type": "array", "references": ["prompt"]},
        "deep": {"items": {"properties": {"_n": {}, "m": {}}, "required": ["_n", "m"]}, "activity": "send"},
    },
    "required": ["_note", "$score", "references"],
    "dependentRequired": {"_note": ["deep"], "deep": ["_note", "references"], "references": ["$score"]},
    "dependentSchemas": {"_note": {}, "deep": {"properties": {"$x": {}}}},
    "anyOf": [{"required": ["_note"]}, {"properties": {"_a": {}}}],
    "$defs": {"d": {"properties": {"_d": {}}}},
    "default": {"_note": 1, "references": 2},
    "const": {"properties": {"_note": {}}},
    "references": ["prompt"],
    "arguments": "prompt",
    "when": "x",
}


def test_thoughts_go() -> None:
    bare = strip(FULL, {"thoughts"})
    assert list(bare["properties"]) == ["$score", "references", "deep"]
    assert bare["properties"]["deep"]["items"] == {"properties": {"m": {}}, "required": ["m"]}
    assert bare["required"] == ["$score", "references"]
    assert bare["dependentRequired"] == {"deep": ["references"], "references": ["$score"]}
    assert bare["dependentSchemas"] == {"deep": {"properties": {"$x": {}}}}
    assert bare["anyOf"] == [{}, {"properties": {}}]
    assert bare["$defs"] == {"d": {"properties": {}}}
    assert bare["default"] == FULL["default"]
    assert bare["const"] == FULL["const"]
    assert bare["references"] == ["prompt"]


def test_metrics_go() -> None:
    bare = strip(FULL, {"metrics"})
    assert list(bare["properties"]) == ["_note", "references", "deep"]
    assert bare["required"] == ["_note", "references"]
    assert bare["dependentRequired"] == {"_note": ["deep"], "deep": ["_note", "references"]}


def test_engine_keywords_go_and_properties_of_that_name_stay() -> None:
    bare = strip(FULL, {"engine"})
    assert "references" not in bare
    assert "arguments" not in bare
    assert "when" not in bare
    assert bare["properties"]["references"] == {"type": "array"}
    assert "activity" not in bare["properties"]["deep"]
    assert bare["required"] == FULL["required"]


def test_engine_keywords_go_together_whichever_is_named() -> None:
    assert strip(FULL, {"references"}) == strip(FULL, {"activity"}) == strip(FULL, {"engine"})


def test_all_is_everything() -> None:
    assert strip(FULL, {"all"}) == strip(strip(strip(FULL, {"thoughts"}), {"metrics"}), {"engine"})
    assert strip(FULL, {"thoughts", "metrics", "engine"}) == strip(FULL, ["all"])


def test_what_has_nothing_to_strip_stays_the_same_object() -> None:
    schema = {"properties": {"a": {"items": {"properties": {"b": {}}}}}, "required": ["a"], "dependentRequired": {"a": []}}
    assert strip(schema, {"all"}) is schema
    assert strip(FULL, set()) is FULL
    both = {"properties": {"a": schema, "_b": {}}}
    assert strip(both, {"thoughts"})["properties"]["a"] is schema


def test_booleans_and_odd_things_are_left_alone() -> None:
    assert strip(True, {"all"}) is True
    odd = {"properties": [], "required": "_a", "dependentRequired": {"a": "_b"}, "": 1}
    assert strip(odd, {"all"}) is odd
    assert strip({"required": ["", 3, "_a"]}, {"all"}) == {"required": ["", 3]}


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(SettingsError, match="wishes"):
        strip({}, {"wishes"})
    assert strip({}, {"thoughts"}) == {}


def test_lists_that_become_empty_go() -> None:
    assert strip({"required": ["_a"], "dependentSchemas": {"_a": {}}, "dependentRequired": {"_a": []}}, {"all"}) == {}


@pytest.mark.parametrize(
    ("schema", "stripped"),
    [
        ({"if": {"properties": {"_k": {"const": 1}}, "required": ["_k"]}, "then": {"required": ["a"]}}, {}),
        ({"if": {"properties": {"k": {"const": 1}}}, "then": {"required": ["_a", "b"]}}, None),
        ({"properties": {"a": {}}, "not": {"required": ["_x"]}}, {"properties": {"a": {}}}),
        ({"oneOf": [{"required": ["_a", "c"]}, {"required": ["_b"]}]}, {"allOf": [{"anyOf": [{"required": ["c"]}, {}]}]}),
        ({"properties": {"a": {}, "_m": {}}, "minProperties": 2}, {"properties": {"a": {}}, "minProperties": 1}),
        ({"not": {"properties": {"a": {"required": ["_x"]}}}}, {}),
    ],
)
def test_what_depends_on_a_thought_rejects_no_answer_without_it(schema: Any, stripped: Any) -> None:
    """A condition on what is removed would always hold, or never."""
    if stripped is None:
        stripped = {**schema, "then": {"required": ["b"]}}
    assert strip(schema, {"all"}) == stripped


def test_a_condition_on_a_thought_still_says_which_members_are_known() -> None:
    schema: Any = {
        "properties": {"_kind": {}, "text": {}},
        "if": {"properties": {"_kind": {"const": "refund"}}, "required": ["_kind"]},
        "then": {"properties": {"amount": {}}, "required": ["amount"]},
        "unevaluatedProperties": False,
    }
    stripped = strip(schema, {"all"})
    assert is_valid({"text": "x", "amount": 3}, stripped)
    assert is_valid({"text": "x"}, stripped)
    assert not is_valid({"text": "x", "other": 3}, stripped)


def test_a_schema_that_contains_itself_is_refused() -> None:
    schema: Any = {"properties": {"a": {}}}
    schema["not"] = schema
    with pytest.raises(TypeError, match="cannot contain itself"):
        instrc.strip(schema, {"all"})
