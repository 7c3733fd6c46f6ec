"""Values that are written once, however often they occur."""

from __future__ import annotations

from typing import Any

from instrc.process.picture_page import SharedJson  # values of a page without the page


def test_equal_values_have_one_number_and_those_that_differ_in_type_or_order_do_not() -> None:
    table = SharedJson()
    different = [1, 1.0, True, "1", [1], {"1": 1}, {"a": 1, "b": 2}, {"b": 2, "a": 1}, {}, [], None, "[", ["["], "null"]
    numbers = [table.number_of(value) for value in different]
    assert len(set(numbers)) == len(different)
    assert [table.number_of(value) for value in different] == numbers


def test_values_that_nest_as_deep_as_they_like_have_numbers() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep, deep]
    table = SharedJson()
    assert table.number_of(deep) == 100_000
    assert table.number_of([deep, deep]) == 100_001
