"""Which further groups of a keyword need no branch of their own."""

from __future__ import annotations

from typing import Any

import orjson
from every_case import every_case
from judges import verdicts
from making import Maker

from instrc import Report
from instrc.problems.schemas import Contradiction  # the class of one problem
from instrc.schema.flattening.flatten import flatten
from instrc.schema.flattening.residual import COMPARED_BRANCHES  # the limit that is tried here

A, B, C = {"minimum": 1}, {"maxLength": 2}, {"required": ["a"]}
LONG, SHORT = {"minLength": 5}, {"maxLength": 2}
OBJECT, TEXT, NULL = {"type": "object"}, {"type": "string"}, {"type": "null"}

GONE: dict[str, tuple[list[Any], Any]] = {
    "a type leaves nothing for them to speak about": (
        [{"type": "string"}, {"contains": A}, {"contains": B}, {"multipleOf": 0.1}, {"multipleOf": 0.3}],
        {"type": "string", "contains": A, "multipleOf": 0.1},
    ),
    "a choice further on, where one condition stands before it": (
        [{"if": A, "then": {"maximum": 9}, "anyOf": [LONG, SHORT]}, {"anyOf": [{"minLength": 6}, SHORT]}],
        {"if": A, "then": {"maximum": 9}, "anyOf": [{"minLength": 6}, SHORT]},
    ),
    "a choice that is left to nothing": (
        [{"anyOf": [A, B]}, {"anyOf": [C, True]}],
        {"anyOf": [A, B]},
    ),
    "a choice that is said anyway": (
        [{"type": ["string", "null"], "anyOf": [LONG, SHORT]}, {"anyOf": [{"type": ["null", "string"]}, C]}],
        {"type": ["string", "null"], "anyOf": [LONG, SHORT]},
    ),
    "a choice that a narrower one makes": (
        [{"anyOf": [A, B, C]}, {"anyOf": [{"minimum": 2}, C]}],
        {"anyOf": [{"minimum": 2}, C]},
    ),
    "choices in another order": ([{"oneOf": [A, B]}, {"oneOf": [B, A]}], {"oneOf": [A, B]}),
    "a choice of which one is left": (
        [{"type": "string", "anyOf": [LONG, SHORT]}, {"anyOf": [{"type": "null"}, {"type": "string", "minLength": 1}]}],
        {"type": "string", "anyOf": [LONG, SHORT], "minLength": 1},
    ),
    "one of two of which one is left": (
        [{"oneOf": [False, B]}, {"oneOf": [A, C]}],
        {"oneOf": [A, C], "maxLength": 2},
    ),
    "any of some that exclude each other is one of them": (
        [{"anyOf": [{"enum": ["a", {}]}, {"enum": [{}, 1]}]}, {"anyOf": [TEXT, OBJECT]}],
        {"anyOf": [{"enum": ["a", {}]}, {"enum": [{}, 1]}], "oneOf": [TEXT, OBJECT]},
    ),
    "one of some that exclude each other is any of them": (
        [{"oneOf": [TEXT, NULL]}, {"oneOf": [A, B]}],
        {"oneOf": [A, B], "anyOf": [TEXT, NULL]},
    ),
    "a condition that holds": (
        [{"if": LONG, "then": False}, {"type": "string", "if": {"type": "string"}, "then": {"minLength": 1}}],
        {"if": LONG, "then": False, "type": "string", "minLength": 1},
    ),
    "a condition that cannot hold": (
        [{"if": LONG, "then": False}, {"type": "string", "if": NULL, "then": False, "else": {"minLength": 1}}],
        {"if": LONG, "then": False, "type": "string", "minLength": 1},
    ),
    "the first of two conditions holds": (
        [{"if": True, "then": B}, {"if": A, "else": C}],
        {"if": A, "else": C, "maxLength": 2},
    ),
    "conditions of which one holds at most": (
        [{"if": NULL, "then": False}, {"if": {"type": "integer"}, "then": A}, {"if": TEXT, "then": C}],
        {"if": NULL, "then": False, "else": {"if": {"type": "integer"}, "then": A, "else": {"if": TEXT, "then": C}}},
    ),
    "a chain of conditions and one more": (
        [{"if": NULL, "then": False, "else": {"if": TEXT, "then": C}}, {"if": {"type": "integer"}, "then": A}],
        {"if": NULL, "then": False, "else": {"if": TEXT, "then": C, "else": {"if": {"type": "integer"}, "then": A}}},
    ),
    "conditions about a name that must be there": (
        [
            {"type": "object", "required": ["k"]},
            {"if": {"properties": {"k": {"const": 1}}}, "then": {"required": ["a"]}},
            {"if": {"properties": {"k": {"const": 2}}}, "then": {"required": ["b"]}},
        ],
        {
            "type": "object",
            "required": ["k"],
            "if": {"properties": {"k": {"const": 1}}},
            "then": {"required": ["a"]},
            "else": {"if": {"properties": {"k": {"const": 2}}}, "then": {"required": ["b"]}},
        },
    ),
    "conditions about a name that they ask for": (
        [
            {"type": "object"},
            {"if": {"properties": {"k": {"const": 1}}, "required": ["k"]}, "then": {"required": ["a"]}},
            {"if": {"properties": {"k": {"const": 2}}}, "then": {"required": ["b"]}},
        ],
        {
            "type": "object",
            "if": {"properties": {"k": {"const": 1}}, "required": ["k"]},
            "then": {"required": ["a"]},
            "else": {"if": {"properties": {"k": {"const": 2}}}, "then": {"required": ["b"]}},
        },
    ),
    "conditions about a name in a property, that it must have": (
        [
            {"type": "object", "properties": {"c": {"type": "object", "required": ["k"]}}, "required": ["c"]},
            {"if": {"properties": {"c": {"properties": {"k": {"const": 1}}}}}, "then": {"required": ["a"]}},
            {"if": {"properties": {"c": {"properties": {"k": {"const": 2}}}}}, "then": {"required": ["b"]}},
        ],
        {
            "type": "object",
            "properties": {"c": {"type": "object", "required": ["k"]}},
            "required": ["c"],
            "if": {"properties": {"c": {"properties": {"k": {"const": 1}}}}},
            "then": {"required": ["a"]},
            "else": {"if": {"properties": {"c": {"properties": {"k": {"const": 2}}}}}, "then": {"required": ["b"]}},
        },
    ),
    "conditions that all hold without a name, and ask for it": (
        [
            {"type": "object"},
            {"if": {"properties": {"k": {"const": 1}}}, "then": {"required": ["k", "a"]}},
            {"if": {"properties": {"k": {"const": 2}}, "type": "object"}, "then": {"required": ["b"]}},
        ],
        {
            "type": "object",
            "if": {"properties": {"k": {"const": 1}}},
            "then": {"required": ["k", "a"]},
            "else": {"if": {"properties": {"k": {"const": 2}}, "type": "object"}, "then": {"required": ["b"]}},
            "required": ["k"],
        },
    ),
    "conditions that all hold without a name, though what follows cannot": (
        [
            {"type": "object"},
            {"if": {"properties": {"k": {"const": 1}}}, "then": {"properties": {"a": TEXT}, "required": ["a"]}},
            {"if": {"properties": {"k": {"const": 2}}}, "then": {"properties": {"a": NULL}, "required": ["a"]}},
        ],
        {
            "type": "object",
            "if": {"properties": {"k": {"const": 1}}},
            "then": {"properties": {"a": TEXT}, "required": ["a"]},
            "else": {"if": {"properties": {"k": {"const": 2}}}, "then": {"properties": {"a": NULL}, "required": ["a"]}},
            "required": ["k"],
        },
    ),
    "conditions that ask for the same name, one for nothing else": (
        [
            {"type": "object"},
            {"if": {"required": ["a"]}, "then": {"required": ["b"]}},
            {"if": {"required": ["a"], "minProperties": 3}, "then": False},
        ],
        {
            "type": "object",
            "if": {"required": ["a"], "minProperties": 3},
            "then": False,
            "dependentSchemas": {"a": {"required": ["b"]}},
        },
    ),
    "conditions about different names that may be missing": (
        [
            {"if": {"required": ["a"]}, "then": {"minProperties": 2}},
            {"if": {"properties": {"k": {"const": 1}}, "required": ["k"]}, "then": {"required": ["a"]}},
            {"if": {"properties": {"k": {"const": 2}}, "required": ["k"]}, "then": {"required": ["b"]}},
            {"type": "object", "if": {"not": {"properties": {"n": NULL}}}, "then": {"maxProperties": 3}},
        ],
        {
            "type": "object",
            "dependentSchemas": {
                "a": {"minProperties": 2},
                "k": {
                    "if": {"properties": {"k": {"const": 1}}},
                    "then": {"required": ["a"]},
                    "else": {"if": {"properties": {"k": {"const": 2}}}, "then": {"required": ["b"]}},
                },
                "n": {"if": {"not": {"properties": {"n": NULL}}}, "then": {"maxProperties": 3}},
            },
        },
    ),
    "a condition about a name that may be missing, beside one about values of any kind": (
        [{"if": A, "then": B, "else": {"minimum": 0}}, {"if": {"required": ["a", "b"]}, "then": {"maxProperties": 3}}],
        {
            "if": A,
            "then": B,
            "else": {"minimum": 0},
            "dependentSchemas": {"a": {"if": {"required": ["b"]}, "then": {"maxProperties": 3}}},
        },
    ),
    "a choice that says no more than that a name may be missing": (
        [{"anyOf": [A, B]}, {"anyOf": [{"not": {"required": ["k"]}}, {"properties": {"k": TEXT}}]}],
        {"anyOf": [A, B], "properties": {"k": TEXT}},
    ),
    "a condition with an else, and one that holds in it only": (
        [{"if": TEXT, "then": B}, {"if": NULL, "then": False, "else": {"minimum": 0}}, {"if": {"type": "integer"}, "then": A}],
        {
            "if": NULL,
            "then": False,
            "else": {"minimum": 0, "if": TEXT, "then": B, "else": {"if": {"type": "integer"}, "then": A}},
        },
    ),
    "a condition that decides nothing": (
        [{"if": A, "then": B}, {"if": NULL, "then": {"properties": {}}, "else": {"patternProperties": {}, "properties": {}}}],
        {"if": A, "then": B},
    ),
    "conditions that ask the same": (
        [{"if": A, "then": B, "else": C}, {"if": A, "then": {"minLength": 1}}],
        {"if": A, "then": {"maxLength": 2, "minLength": 1}, "else": C},
    ),
    "conditions that ask the same and decide one way only": (
        [{"if": A, "then": B}, {"if": A, "then": {"minLength": 1}}],
        {"if": A, "then": {"maxLength": 2, "minLength": 1}},
    ),
    "containing anything is a length": (
        [{"contains": True, "maxContains": 4}, {"contains": A, "minContains": 2}, {"minItems": 3}],
        {"contains": A, "minContains": 2, "minItems": 3, "maxItems": 4},
    ),
    "one of two of which one always holds is not the other": (
        [{"oneOf": [A, B]}, {"oneOf": [True, {"minimum": 9}]}],
        {"oneOf": [A, B], "not": {"minimum": 9}},
    ),
    "one of several of which one always holds is none of the others": (
        [
            {"not": {"multipleOf": 4}, "oneOf": [A, {"maximum": 2}]},
            {"type": "number", "oneOf": [{"minimum": 9}, {"type": "number"}, {"maximum": 0}]},
        ],
        {
            "not": {"anyOf": [{"multipleOf": 4}, {"minimum": 9}, {"maximum": 0}]},
            "oneOf": [A, {"maximum": 2}],
            "type": "number",
        },
    ),
    "no list can contain more than it may": (
        [{"contains": A}, {"contains": B, "maxContains": 0}, {"contains": C}],
        {"contains": B, "maxContains": 0},
    ),
    "a list contains none of several things": (
        [{"contains": each, "minContains": 0, "maxContains": 0} for each in (A, B)],
        {"contains": {"anyOf": [A, B]}, "minContains": 0, "maxContains": 0},
    ),
    "what the listed values say anyway": (
        [{"enum": ["a-b", "a-c", {}]}, {"pattern": "^a"}, {"pattern": "-"}],
        {"enum": ["a-b", "a-c", {}], "pattern": "^a"},
    ),
    "what a property says anyway": (
        [
            {"properties": {"a": {"type": "integer"}}, "required": ["a"], "if": A, "then": B},
            {"if": {"required": ["b"]}, "then": {"required": ["a"]}},
        ],
        {"properties": {"a": {"type": "integer"}}, "required": ["a"], "if": A, "then": B},
    ),
    "a pattern that is forbidden beside closed ones": (
        [{"patternProperties": {"^a": A}, "additionalProperties": False}, {"patternProperties": {"b$": False}}],
        {"patternProperties": {"^a": A, "b$": False}, "additionalProperties": False},
    ),
    "a pattern that is forbidden beside properties and others of a kind": (
        [
            {"properties": {"ab": A, "c": C}, "patternProperties": {"^a": A}, "additionalProperties": B},
            {"patternProperties": {"b$": False}, "properties": {"d": C}},
        ],
        {
            "properties": {"ab": A, "c": C, "d": {"required": ["a"], "maxLength": 2}},
            "patternProperties": {"^a": A, "b$": False},
            "additionalProperties": B,
        },
    ),
    "a pattern that is forbidden, though it cannot be told where it matches": (
        [
            {"properties": {"a": {}}, "patternProperties": {"(?<=x)a": False}, "additionalProperties": False},
            {"properties": {"a": TEXT, "x-b": {}}, "additionalProperties": False},
        ],
        {"properties": {"a": TEXT}, "patternProperties": {"(?<=x)a": False}, "additionalProperties": False},
    ),
    "a pattern that asks nothing": (
        [{"patternProperties": {"^a": A}, "additionalProperties": False}, {"patternProperties": {"b$": {}}}],
        {"patternProperties": {"^a": A}, "additionalProperties": False},
    ),
    "containing the same is counted once": (
        [{"contains": A, "minContains": 2, "maxContains": 5}, {"contains": A, "maxContains": 4}, {"contains": A}],
        {"contains": A, "minContains": 2, "maxContains": 4},
    ),
    "what contains more than is asked": (
        [{"contains": A}, {"contains": {"minimum": 2}, "minContains": 2}],
        {"contains": {"minimum": 2}, "minContains": 2},
    ),
}

KEPT: dict[str, list[Any]] = {
    "two choices": [{"anyOf": [A, B]}, {"anyOf": [B, C]}],
    "two of one each": [{"oneOf": [A, B]}, {"oneOf": [B, C]}],
    "exclusive choices where both places are taken": [{"oneOf": [A, B]}, {"oneOf": [TEXT, NULL]}, {"anyOf": [A, C]}],
    "two conditions": [{"if": A, "then": B}, {"if": C, "then": B}],
    "two conditions about a name that may be missing": [
        {"if": {"properties": {"k": {"const": 1}}}, "then": {"required": ["a"]}},
        {"if": {"properties": {"k": {"const": 2}}}, "then": {"required": ["b"]}},
    ],
    "two conditions about names that ask for values of a kind": [
        {"if": {"required": ["a"]}, "then": TEXT},
        {"if": {"required": ["b"]}, "then": A},
    ],
    "two conditions about a name of which schemas depend": [
        {"type": "object", "dependentSchemas": {"a": C}},
        {"if": {"required": ["a"]}, "then": {"required": ["b"]}},
        {"if": {"required": ["a"], "minProperties": 2}, "then": {"required": ["c"]}},
    ],
    "a choice with words in each branch": [
        {"anyOf": [LONG, {"pattern": "b"}]},
        {"anyOf": [{"const": "a", "title": "A"}, TEXT]},
    ],
    "two conditions that also decide when they do not hold": [
        {"if": TEXT, "then": B, "else": A},
        {"if": NULL, "then": False, "else": C},
    ],
    "two conditions, one of which asks further when it does not hold": [
        {"if": TEXT, "then": B},
        {"if": NULL, "then": False, "else": {"if": C, "then": A, "minProperties": 1}},
    ],
    "two that are contained": [{"contains": A}, {"contains": B}],
    "the more general is contained more often": [{"contains": A, "minContains": 3}, {"contains": {"minimum": 2}}],
    "the more general is bounded": [{"contains": A, "maxContains": 3}, {"contains": {"minimum": 2}}],
    "malformed choices": [{"anyOf": {}}, {"anyOf": [A, {"minimum": 2}]}],
    "malformed choices further on": [{"anyOf": [A, {"minimum": 2}]}, {"anyOf": {}}],
    "malformed bounds": [{"contains": True, "minContains": "a"}, {"contains": A}],
    "a malformed length": [{"contains": True, "minContains": 2}, {"contains": A}, {"minItems": "a"}],
}

UNSATISFIABLE: dict[str, list[Any]] = {
    "a choice that is ruled out": [{"type": "string"}, {"anyOf": [A, B]}, {"anyOf": [NULL, OBJECT]}],
    "one of none": [{"oneOf": [A, B]}, {"oneOf": [False, False]}],
    "a pattern that no listed value has": [{"enum": ["a", "b"]}, {"pattern": "a|b"}, {"pattern": "^c"}],
    "a group of properties that are closed against what is required": [
        {"type": "object", "required": ["ab"], "patternProperties": {"^a": A}, "additionalProperties": False},
        {"patternProperties": {"^b": A}, "additionalProperties": False},
    ],
    "one of two that both hold": [{"type": "string"}, {"oneOf": [A, C]}, {"oneOf": [TEXT, {"type": ["string", "null"]}]}],
}


def same_verdicts(schema: Any, flat: Any) -> bool:
    maker = Maker(2)
    values = [maker.value() for _ in range(300)]
    return verdicts(schema, values, thoroughly=30) == verdicts(flat, values, thoroughly=30)


@every_case("what", GONE)
def test_what_need_not_stay_apart(what: str) -> None:
    branches, wanted = GONE[what]
    flat = flatten({"allOf": branches})
    assert orjson.dumps(flat) == orjson.dumps(wanted)
    assert same_verdicts({"allOf": branches}, flat)
    turned = flatten({"allOf": branches[::-1]})
    assert "allOf" not in turned
    assert same_verdicts(flat, turned)


@every_case("what", KEPT)
def test_what_has_to(what: str) -> None:
    flat = flatten({"allOf": KEPT[what]})
    assert "allOf" in flat
    assert orjson.dumps(flatten(flat)) == orjson.dumps(flat)


@every_case("what", UNSATISFIABLE)
def test_a_choice_of_which_nothing_is_left_leaves_nothing_and_shows_both_sides(what: str) -> None:
    report = Report()
    assert flatten({"allOf": UNSATISFIABLE[what]}, report=report) is False
    (problem,) = report.problems
    assert isinstance(problem, Contradiction)
    assert same_verdicts({"allOf": UNSATISFIABLE[what]}, flat=False)


LOOKED_AT = {"properties": {"a": True}}


@every_case(
    "branches",
    [
        [{"anyOf": [A, B]}, {"anyOf": [LOOKED_AT, True]}],
        [{"anyOf": [{"minimum": 2, **LOOKED_AT}, B]}, {"anyOf": [{**A, **LOOKED_AT}, B]}],
        [{"if": A, "then": B}, {"if": LOOKED_AT}],
        [
            {"if": {"minProperties": 2}, "then": False},
            {"type": "object", "if": {**LOOKED_AT, "type": "object"}, "then": {"properties": {"b": {}}}},
        ],
    ],
)
def test_what_marks_a_property_as_evaluated_stays_where_that_is_seen(branches: list[Any]) -> None:
    schema = {"allOf": branches, "unevaluatedProperties": False}
    flat = flatten(schema)
    assert "allOf" in flat
    assert same_verdicts(schema, flat)


def test_a_condition_under_the_name_it_asks_for_marks_what_it_marked() -> None:
    branches: list[Any] = [
        {"if": {**LOOKED_AT, "required": ["a", "b"]}, "then": {"properties": {"b": {}}}},
        {"type": "object", "if": {**LOOKED_AT, "minProperties": 3}, "then": {"properties": {"c": {}}}},
    ]
    schema = {"allOf": branches, "unevaluatedProperties": False}
    flat = flatten(schema)
    assert "allOf" not in flat
    assert same_verdicts(schema, flat)


def test_what_marks_nothing_goes_even_then() -> None:
    schema = {"allOf": [{"anyOf": [LOOKED_AT, B]}, {"anyOf": [A, True]}, {"if": A}], "unevaluatedProperties": False}
    assert flatten(schema) == {"anyOf": [LOOKED_AT, B], "unevaluatedProperties": False}


def test_many_choices_are_not_compared() -> None:
    many = [{"const": number} for number in range(150)]
    assert "allOf" in flatten({"allOf": [{"anyOf": [*many, True]}, {"anyOf": [*many[::-1], True]}]})


def test_few_that_are_contained_are_compared_and_many_are_not() -> None:
    few, many = ({"allOf": [{"contains": {"minimum": number}} for number in range(count)]} for count in (10, 60))
    assert flatten(few) == {"contains": {"minimum": 9}}
    kept = flatten(many)
    assert [kept["contains"], *(branch["contains"] for branch in kept["allOf"])] == [{"minimum": number} for number in range(60)]


def test_more_that_are_contained_than_any_are_compared_stay_each_in_a_branch() -> None:
    each = [{"contains": {"minimum": number}} for number in range(COMPARED_BRANCHES + 1)]
    assert flatten({"allOf": each}) == {**each[0], "allOf": each[1:]}
    counted = flatten({"allOf": [{"contains": True, "maxContains": 4}, *each]})
    assert counted == {"minItems": 1, "maxItems": 4, **each[0], "allOf": each[1:]}


def test_equal_contains_with_only_one_bound() -> None:
    both = flatten({"allOf": [{"contains": {"minimum": 1}}, {"contains": {"minimum": 1}, "minContains": 2}]})
    assert both == {"contains": {"minimum": 1}, "minContains": 2}
