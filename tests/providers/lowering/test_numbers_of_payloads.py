"""Numbers of payloads: bounds that a target has no word for, and numbers that are sampled."""

from __future__ import annotations

from typing import Any

import pytest

from instrc import lower
from instrc.schema.relations import satisfies
from instrc.schema.samples import sample


@pytest.mark.parametrize(
    ("bounds", "sent"),
    [
        ({"exclusiveMaximum": 5}, {"maximum": 4}),
        ({"exclusiveMaximum": 5.5}, {"maximum": 5}),
        ({"exclusiveMaximum": 5, "maximum": 9}, {"maximum": 4}),
        ({"exclusiveMaximum": 5, "maximum": 3}, {"maximum": 3}),
        ({"exclusiveMinimum": 5}, {"minimum": 6}),
        ({"exclusiveMinimum": 4.5}, {"minimum": 5}),
        ({"exclusiveMinimum": 5, "minimum": 2}, {"minimum": 6}),
        ({"exclusiveMinimum": 5, "minimum": 8}, {"minimum": 8}),
    ],
)
def test_an_exclusive_bound_of_an_integer_is_the_next_inclusive_one_where_only_that_is_known(bounds: Any, sent: Any) -> None:
    made = lower({"type": "object", "properties": {"n": {"type": "integer", **bounds}}, "required": ["n"]}, "gemini")
    assert made.payload["parametersJsonSchema"]["properties"]["n"] == {"type": "integer", **sent}  # type: ignore[index,call-overload]


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "integer", "exclusiveMinimum": 3, "maximum": 4},
        {"type": "integer", "exclusiveMinimum": 3, "minimum": 3, "maximum": 4},
        {"type": "integer", "exclusiveMaximum": 3, "minimum": 2},
        {"type": "number", "exclusiveMinimum": 3, "multipleOf": 2, "maximum": 7},
        {"type": "number", "minimum": 4, "exclusiveMinimum": 4, "multipleOf": 0.5, "maximum": 4.5},
        {"type": "number", "maximum": -2, "multipleOf": 2, "minimum": -3},
    ],
)
def test_a_sampled_number_lies_within_its_bounds(schema: Any) -> None:
    assert satisfies(sample(schema), schema) is True
