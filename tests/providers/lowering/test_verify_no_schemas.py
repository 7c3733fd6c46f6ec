"""`verify` says what is not a schema, on every target, and raises nothing."""

from __future__ import annotations

import pytest

import instrc
from instrc.text.jsonvalue import Json

NO_SCHEMAS: tuple[Json, ...] = (
    {"pattern": None},
    {"type": "object", "properties": {"a": {"type": "string", "pattern": 5}}},
    {"type": "object", "properties": {"a": {"enum": 5}}},
    {"$ref": 5},
    {"required": [3]},
    {"type": [[]]},
    {"anyOf": 5},
    {"minItems": "3"},
    {"properties": 5},
)


@pytest.mark.parametrize("schema", NO_SCHEMAS, ids=str)
def test_what_is_no_schema_is_told_on_every_target(schema: Json) -> None:
    verified = [instrc.verify(schema, target) for target in instrc.targets()]
    assert not any(each.accepted for each in verified)
    assert all(each.breaches for each in verified)


def test_the_place_of_what_is_no_schema_is_that_in_the_payload() -> None:
    (breach,) = instrc.verify({"type": "object", "properties": {"a": {"pattern": None}}}, "openai").breaches
    assert (breach.rule, breach.place) == ("schema", "/function/parameters/properties/a/pattern")
