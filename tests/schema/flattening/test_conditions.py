"""Several conditions under one `allOf`, about keys that may be missing, against the verdicts of validators."""

from __future__ import annotations

from itertools import product
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from judges import verdicts

from instrc.schema.flattening.flatten import flatten
from instrc.text.jsonvalue import listing, mapping

KEYS = ("a", "b", "k")
OBJECTS: list[Any] = [
    {key: value for key, value in zip(KEYS, values, strict=True) if value != "missing"}
    for values in product(["missing", 1, 2, None], repeat=len(KEYS))
]
VALUES: list[Any] = [*OBJECTS, None, 1, "text", []]


def asked(chance: Random) -> dict[str, Any]:
    """Return an `if` about one key or two, as people write them: the key is named, required, or both."""
    key = chance.choice(KEYS)
    value = {"const": chance.choice([1, 2, None])}
    made: dict[str, Any] = chance.choice(
        [
            {"properties": {key: value}},
            {"properties": {key: value}, "required": [key]},
            {"properties": {key: value}, "required": chance.sample(KEYS, 2)},
            {"required": [key]},
            {"not": {"properties": {key: value}}},
            {"properties": {key: {"not": value}}},
            {"properties": {key: False}},
            {"minProperties": 2, "required": [key]},
        ]
    )
    return {**made, "type": "object"} if chance.random() < 0.2 else made


def consequence(chance: Random) -> dict[str, Any] | bool:
    """Return a `then` or an `else`."""
    key, other = chance.sample(KEYS, 2)
    return chance.choice(
        [
            {"required": [key]},
            {"required": [key, other]},
            {"properties": {key: {"type": "null"}}, "required": [key]},
            {"properties": {key: {"type": "integer"}}, "required": [key]},
            {"not": {"required": [key]}},
            {"maxProperties": 1},
            {"type": ["object", "string"]},
            False,
        ]
    )


def conditions(seed: int) -> dict[str, Any]:
    chance = Random(seed)  # noqa: S311  -- repeatable
    branches: list[Any] = []
    for _ in range(chance.randrange(2, 5)):
        branches.append({"if": asked(chance), "then": consequence(chance)})
        last = branches[-1]
        while chance.random() < 0.15:
            last["else"] = {"if": asked(chance), "then": consequence(chance)}
            last = last["else"]
        if chance.random() < 0.2:
            last["else"] = consequence(chance)
    around = [{"type": "object"}, {"required": ["k"]}, {"dependentSchemas": {"a": {"required": ["b"]}}}]
    schema: dict[str, Any] = {"allOf": [each for each in around if chance.random() < 0.4] + branches}
    return {**schema, "unevaluatedProperties": False} if chance.random() < 0.2 else schema


@given(st.integers(min_value=0, max_value=10**9))
def test_no_verdict_changes_where_keys_may_be_missing(seed: int) -> None:
    schema = conditions(seed)
    flat = flatten(schema)
    assert verdicts(schema, VALUES, thoroughly=10) == verdicts(flat, VALUES, thoroughly=10), flat


def test_the_else_of_a_chain_holds_only_where_none_of_its_conditions_does() -> None:
    def case(value: int) -> dict[str, Any]:
        return {"properties": {"k": {"const": value}}, "required": ["k"]}

    chain = {"if": case(1), "then": True, "else": {"if": case(2), "then": {"required": ["a"]}, "else": {"required": ["b"]}}}
    schema: dict[str, Any] = {"type": "object", "allOf": [chain, {"if": case(3), "then": {"maxProperties": 1}}]}
    flat = flatten(schema)
    assert "allOf" not in flat
    assert verdicts(schema, VALUES, thoroughly=10) == verdicts(flat, VALUES, thoroughly=10), flat


def test_all_the_forms_are_met() -> None:
    flat = [flatten(conditions(seed)) for seed in range(400)]
    dependent = [each for each in flat if len(mapping(mapping(each).get("dependentSchemas"))) > 1]
    assert len(dependent) > 40
    assert sum("else" in mapping(each) for each in flat) > 20
    assert sum("allOf" in mapping(each) for each in flat) < 300


MANY: list[Any] = [
    {"if": {"required": [f"k{n}"]}, "then": {"minProperties": n % 3}, "else": {"maxProperties": 9}} for n in range(41)
]


@pytest.mark.parametrize(
    "schema",
    [
        {"dependentSchemas": 5, "allOf": MANY[:2]},
        {"dependentSchemas": {"k0": 5}, "allOf": [{"if": {"required": ["k0"]}, "then": {"required": 5}}, *MANY[:2]]},
        {"required": 5, "allOf": [{"if": {"required": ["a"]}, "then": False}, {"if": {"required": 5}, "then": False}]},
        {"allOf": [{"if": {"required": ["a"]}, "then": False, "else": {"if": True, "then": {"required": ["b"]}}}, MANY[1]]},
    ],
    ids=str,
)
def test_what_no_law_reads_has_a_flat_form_that_is_its_own(schema: Any) -> None:
    flat = flatten(schema)
    assert flatten(flat) == flat


def test_more_conditions_than_are_compared_stay_each_in_a_branch() -> None:
    flat = mapping(flatten({"type": "object", "allOf": MANY}))
    assert len(listing(flat["allOf"])) == 40
    assert verdicts({"type": "object", "allOf": MANY}, VALUES, thoroughly=10) == verdicts(flat, VALUES, thoroughly=10)


def test_a_consequence_that_describes_no_property_says_nothing() -> None:
    one, two = ({"properties": {"k": {"const": number}}, "required": ["k"]} for number in (1, 2))
    nothing: dict[str, Any] = {"properties": {}, "patternProperties": {}}
    idle = {"if": one, "then": {"required": ["x"]}, "else": nothing}
    for beside in ({"if": two, "then": {"required": ["y"]}}, {"if": two, "then": {"required": ["y"]}, "else": nothing}):
        assert flatten({"allOf": [idle, beside]}) == flatten(
            {"allOf": [{"if": one, "then": {"required": ["x"]}}, {"if": two, "then": {"required": ["y"]}}]}
        )


def test_a_condition_that_asks_for_an_object_is_one_on_its_key_whatever_follows() -> None:
    conditions = [
        {"if": {"type": "object", "properties": {key: {"const": 1}}, "required": [key]}, "then": {keyword: 3}}
        for key, keyword in (("j", "minimum"), ("k", "maximum"))
    ]
    dependents = flatten({"allOf": conditions})["dependentSchemas"]
    assert {key: list(schema["then"]) for key, schema in dependents.items()} == {"j": ["minimum"], "k": ["maximum"]}
