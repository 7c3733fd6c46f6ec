"""When a schema whose `unevaluated…` depends on the instance can be merged with others, and when it stays a branch."""

from __future__ import annotations

import copy
from typing import Any

import orjson
from every_case import every_case
from judges import verdicts
from making import Maker

from instrc.schema.flattening.flatten import flatten

CHOICE = {"anyOf": [{"properties": {"a": {"minimum": 1}}}, True]}
"""Looks at `a`, or at nothing."""
LISTED = {"prefixItems": [True], "anyOf": [{"prefixItems": [True, {"minimum": 1}]}, True]}
"""Looks at the first item, and perhaps at the second."""
PLAIN = {**CHOICE, "unevaluatedProperties": False}
TUPLE = {**LISTED, "unevaluatedItems": False}

MERGED: dict[str, tuple[Any, Any, Any]] = {
    "items are nothing to unevaluated properties": (
        {"items": {"minimum": 1}, "contains": {"minimum": 2}},
        PLAIN,
        {"items": {"minimum": 1}, "contains": {"minimum": 2}, **PLAIN},
    ),
    "properties are nothing to unevaluated items": (
        {"properties": {"a": {"minimum": 1}}, "additionalProperties": False},
        TUPLE,
        {"properties": {"a": {"minimum": 1}}, **TUPLE, "additionalProperties": False},
    ),
    "one for properties and one for items": (
        PLAIN,
        {"prefixItems": [True], "contains": {"minimum": 2}, "unevaluatedItems": False},
        {**PLAIN, "prefixItems": [True], "contains": {"minimum": 2}, "unevaluatedItems": False},
    ),
    "what is never seen has to satisfy it": (
        {"properties": {"b": {"minimum": 1}}},
        {**CHOICE, "unevaluatedProperties": {"type": "integer"}},
        {"properties": {"b": {"minimum": 1, "type": "integer"}}, **CHOICE, "unevaluatedProperties": {"type": "integer"}},
    ),
    "what is never seen is forbidden if all of that is": (
        {"properties": {"b": {"minimum": 1}}},
        PLAIN,
        {"properties": {"b": False}, **PLAIN},
    ),
    "what is always seen does not": (
        {"properties": {"b": {"minimum": 1}}},
        {"properties": {"b": True}, **PLAIN},
        {"properties": {"b": {"minimum": 1}}, **PLAIN},
    ),
    "what a pattern always sees does not either": (
        {"properties": {"b": {"minimum": 1}}},
        {"patternProperties": {"^b": True}, **PLAIN},
        {"properties": {"b": {"minimum": 1}}, "patternProperties": {"^b": True}, **PLAIN},
    ),
    "additional properties of which nothing is said are left out": (
        {"additionalProperties": True, "maxProperties": 2},
        PLAIN,
        {"maxProperties": 2, **PLAIN},
    ),
    "what may be seen is closed away": (
        {"properties": {"b": {"minimum": 1}, "c": True}, "additionalProperties": False},
        {"properties": {"b": True}, **CHOICE, "unevaluatedProperties": {"type": "integer"}},
        {"properties": {"b": {"minimum": 1}, "c": {"type": "integer"}}, "additionalProperties": False, **CHOICE},
    ),
    "what may be seen is none of what a closed schema names": (
        {"properties": {"b": {"minimum": 1}}, "patternProperties": {"^x": {"minimum": 2}}, "additionalProperties": False},
        {"properties": {"b": True}, **PLAIN},
        {"properties": {"b": {"minimum": 1}}, "additionalProperties": False, **CHOICE},
    ),
    "there are no properties": (
        {"type": "string", "patternProperties": {"a": {"minimum": 1}}},
        PLAIN,
        {"type": "string", "patternProperties": {"a": {"minimum": 1}}, **CHOICE},
    ),
    "there are no items": (
        {"type": ["string", "null"], "contains": {"minimum": 1}},
        TUPLE,
        {"type": ["string", "null"], "contains": {"minimum": 1}, **LISTED},
    ),
    "items of which nothing is said are left out": ({"items": True, "minItems": 1}, TUPLE, {"minItems": 1, **TUPLE}),
    "a shorter list of items is always seen": (
        {"prefixItems": [{"minimum": 1}]},
        TUPLE,
        {"prefixItems": [{"minimum": 1}], "anyOf": LISTED["anyOf"], "unevaluatedItems": False},
    ),
    "there is no item that may be unseen": (
        {"maxItems": 1, "items": {"minimum": 1}},
        TUPLE,
        {"maxItems": 1, "prefixItems": [{"minimum": 1}], "items": {"minimum": 1}, "anyOf": LISTED["anyOf"]},
    ),
    "the list of items ends before any that may be unseen": (
        {"prefixItems": [{"minimum": 1}], "items": False},
        TUPLE,
        {"prefixItems": [{"minimum": 1}], "items": False, "anyOf": LISTED["anyOf"]},
    ),
}

KEPT: dict[str, tuple[Any, Any]] = {
    "a property that may be seen": ({"properties": {"a": {"minimum": 1}}}, PLAIN),
    "a property that the rest may see": ({"anyOf": [{"properties": {"b": True}}, True]}, PLAIN),
    "a pattern": ({"patternProperties": {"^b": {"minimum": 1}}}, PLAIN),
    "a pattern that no two judges need read alike": ({"properties": {"b": {}}}, {"patternProperties": {"(?i)B": True}, **PLAIN}),
    "a property that a pattern may see": (
        {"properties": {"b": {}}},
        {"anyOf": [{"patternProperties": {"^b": True}}, True], "unevaluatedProperties": False},
    ),
    "a property that anything may see": (
        {"properties": {"b": {"minimum": 1}}},
        {"anyOf": [{"additionalProperties": True}, True], "unevaluatedProperties": False},
    ),
    "additional properties": ({"additionalProperties": {"minimum": 1}}, PLAIN),
    "additional properties that a branch looks at": (
        {"additionalProperties": True, "anyOf": [{"properties": {"a": True}}, True]},
        PLAIN,
    ),
    "a closed schema that lists what may be seen": ({"properties": {"a": {"minimum": 1}}, "additionalProperties": False}, PLAIN),
    "a closed schema with a pattern": ({"patternProperties": {"^a": {}}, "additionalProperties": False}, PLAIN),
    "items": ({"items": {"minimum": 1}}, TUPLE),
    "a longer list of items": ({"prefixItems": [True, {"minimum": 1}]}, TUPLE),
    "a closed list that is longer": ({"prefixItems": [True, {"minimum": 1}], "items": False}, TUPLE),
    "contained items": ({"contains": {"minimum": 1}}, TUPLE),
    "two of them": (PLAIN, {"anyOf": [{"properties": {"c": True}}, True], "unevaluatedProperties": False}),
}


def same_verdicts(schema: Any, flat: Any) -> bool:
    """Judge many small objects and lists before and after."""
    maker = Maker(1)
    values = [maker.value() for _ in range(300)]
    return verdicts(schema, values, thoroughly=30) == verdicts(flat, values, thoroughly=30)


@every_case("what", MERGED)
def test_it_is_merged_where_that_changes_nothing(what: str) -> None:
    beside, schema, wanted = MERGED[what]
    flat = flatten({"allOf": [beside, schema]})
    assert flat == wanted
    assert orjson.dumps(flatten(flat)) == orjson.dumps(flat)
    assert same_verdicts({"allOf": [beside, schema]}, flat)
    turned = flatten({"allOf": [schema, beside]})
    assert turned == wanted
    assert same_verdicts({"allOf": [beside, schema]}, turned)


@every_case("what", KEPT)
def test_it_stays_a_branch_where_it_would_see_more(what: str) -> None:
    beside, schema = KEPT[what]
    flat = flatten({"allOf": [beside, schema]})
    assert schema in flat["allOf"]
    assert same_verdicts({"allOf": [beside, schema]}, flat)


def test_a_mark_stays_for_the_unevaluated_around_it() -> None:
    marks = {"allOf": [{"contains": {"minimum": 1}, "minContains": 0}, {"minItems": 1}]}
    assert flatten(marks) == {"minItems": 1}
    watched = {"anyOf": [marks, {"prefixItems": [True]}], "unevaluatedItems": False}
    kept = {"contains": {"minimum": 1}, "minContains": 0, "minItems": 1}
    assert flatten(watched) == {"anyOf": [kept, {"prefixItems": [True]}], "unevaluatedItems": False}
    through = {
        "anyOf": [{"$ref": "#/$defs/marks"}, {"prefixItems": [True]}],
        "unevaluatedItems": False,
        "$defs": {"marks": marks},
    }
    assert flatten(through) == flatten(watched)
    assert flatten({"not": watched, "items": copy.deepcopy(marks)}) == {"not": flatten(watched), "items": {"minItems": 1}}


def test_a_condition_without_consequences_stays_for_the_unevaluated_properties_around_it() -> None:
    question = {"if": {"properties": {"a": {"type": "null"}}}}
    marks = {"allOf": [question, {"minProperties": 1}]}
    assert flatten(marks) == {"minProperties": 1}
    watched = {"anyOf": [marks, {"properties": {"b": True}}], "unevaluatedProperties": False}
    assert flatten(watched)["anyOf"] == [{**question, "minProperties": 1}, {"properties": {"b": True}}]
    seen = {"properties": {"b": True}, "allOf": [marks], "unevaluatedProperties": {"type": "string"}}
    assert same_verdicts(seen, flatten(seen))


def test_a_dynamic_reference_leaves_open_what_is_watched() -> None:
    marks = {"allOf": [{"contains": {"minimum": 1}, "minContains": 0}, {"minItems": 1}], "$dynamicAnchor": "x"}
    flat = flatten(
        {"anyOf": [{"$dynamicRef": "#x"}, {"prefixItems": [True]}], "unevaluatedItems": False, "$defs": {"marks": marks}}
    )
    assert flat["anyOf"][0] == {"contains": {"minimum": 1}, "minContains": 0, "minItems": 1}


def test_a_reference_to_nowhere_that_is_never_needed_is_not_told() -> None:
    broken = {"anyOf": [{"$ref": "#/nowhere"}, {"properties": {"a": {}}}], "unevaluatedProperties": False}
    flat = flatten({"allOf": [{"minimum": 1}, {"maximum": 2}], "$defs": {"broken": broken}})
    assert flat == {"minimum": 1, "maximum": 2}
