"""Equality that is asked of many parts of the same values is that of JSON."""

from __future__ import annotations

from copy import deepcopy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from instrc.schema.kinds import Equality  # the equality that laws share
from instrc.text.jsonvalue import Json, equal

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(0, 2) | st.sampled_from([0.0, 1.0, 0.5, "", "a"]),
    lambda parts: st.lists(parts, max_size=3) | st.dictionaries(st.sampled_from("ab"), parts, max_size=2),
    max_leaves=8,
)


@given(VALUES, VALUES)
def test_it_is_the_equality_of_json(left: Json, right: Json) -> None:
    equality = Equality()
    assert equality(left, right) == equal(left, right)
    assert equality(left, deepcopy(left))
    assert equality(left, right) == equal(left, right), "what it remembers changes nothing"


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        (1, 1.0, True),
        (1, True, False),
        (False, 0, False),
        ([1, 2], [1], False),
        ({"a": 1}, {"b": 1}, False),
        ({"a": [1]}, {"a": [1.0]}, True),
        ([], {}, False),
        (None, "", False),
    ],
)
def test_numbers_are_equal_by_value_and_no_boolean_is_one(left: Json, right: Json, *, same: bool) -> None:
    assert Equality()(left, right) is same


def test_parts_that_are_shared_many_times_are_compared_once() -> None:
    left: Json = ["a"]
    right: Json = ["a"]
    for _ in range(60):
        left, right = [left, left], [right, right]
    assert Equality()(left, right)


def test_what_stands_beside_a_part_that_was_compared_already_is_compared_too() -> None:
    one, other = {"p": 1}, {"p": 1}
    assert not Equality()({"x": 1, "a": one, "b": one}, {"x": 2, "a": other, "b": other})
    assert Equality()({"x": 1, "a": one, "b": one}, {"x": 1, "a": other, "b": other})
