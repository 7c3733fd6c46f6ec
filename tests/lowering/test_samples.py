"""A sample of a schema is small, however much the schema asks for."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from instrc.jsontext import dumps
from instrc.lowering.sample import sample, swaps


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "minLength": 10**10},
        {"type": "string", "minLength": 1e300},
        {"type": "array", "minItems": 10**9, "items": {"type": "string", "minLength": 4}},
        {"type": "object", "minProperties": 10**8},
    ],
)
def test_what_asks_for_too_much_gets_less(schema: Any) -> None:
    assert len(dumps(sample(schema))) < 1_000_000


@pytest.mark.parametrize(
    "itself",
    [
        {"$ref": "#"},
        {"type": "object", "properties": {"next": {"$ref": "#"}}, "required": ["next"]},
        {"type": "array", "items": {"$ref": "#"}, "minItems": 1},
    ],
)
def test_a_sample_of_a_schema_that_leads_to_itself_ends_with_the_alternative_that_does_not(itself: Any) -> None:
    schema = {"type": "object", "properties": {"next": {"anyOf": [itself, {"type": "string"}]}}, "required": ["next"]}
    assert Draft202012Validator(schema).is_valid(sample(schema))


def test_a_long_text_is_as_long_as_it_must_be() -> None:
    assert sample({"type": "string", "minLength": 500}) == "a" * 500


def test_keys_of_objects_in_a_list_change_places_as_well() -> None:
    pair = {"type": "object", "properties": {"a": {}, "b": {}}}
    schema = {"type": "array", "prefixItems": [{}, pair], "items": pair}
    found = [(swap.place, swap.value) for swap in swaps([1, {"a": 1, "b": 2}, {"a": 3, "b": 4}], schema)]
    assert found == [("/1", [1, {"b": 2, "a": 1}, {"a": 3, "b": 4}]), ("/2", [1, {"a": 1, "b": 2}, {"b": 4, "a": 3}])]
    assert [list(value[int(place[1])]) for place, value in found if isinstance(value, list)] == [["b", "a"], ["b", "a"]]
