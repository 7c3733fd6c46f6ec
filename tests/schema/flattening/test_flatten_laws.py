"""Flattening changes no verdict: laws over schemas with every keyword, under `allOf` and with references."""

from __future__ import annotations

import copy
from typing import Any

import jsonschema_rs
import orjson
import pytest
from hunting import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from judges import change
from making import Maker

from instrc.schema.flattening.flatten import flatten
from instrc.schema.walk import walk

SEEDS = st.integers(0, 2**48)
A_HUNDRED = 100


@examples(200)
@given(SEEDS)
def test_no_verdict_changes(seed: int) -> None:
    changes = [change(seed + offset) for offset in range(A_HUNDRED)]
    assert [found for found in changes if found] == []


@pytest.mark.slow
@settings(max_examples=5000)
@given(SEEDS)
def test_no_verdict_changes_in_a_long_run(seed: int) -> None:
    changes = [change(seed + offset, instances=20, thoroughly=5) for offset in range(A_HUNDRED)]
    assert [found for found in changes if found] == []


@examples(30)
@given(SEEDS)
def test_the_input_is_never_mutated(seed: int) -> None:
    for offset in range(A_HUNDRED):
        schema = Maker(seed + offset).document()
        before = copy.deepcopy(schema)
        flatten(schema)
        assert schema == before


def rest(maker: Maker, schemas: list[Any]) -> list[list[bool]]:
    """Judge instances by several schemas."""
    values = [maker.value() for _ in range(8)]
    judges = [jsonschema_rs.Draft202012Validator(schema) for schema in schemas]
    return [[judge.is_valid(value) for value in values] for judge in judges]


@examples(30)
@given(SEEDS)
def test_the_order_and_the_nesting_of_branches_change_no_assertion(seed: int) -> None:
    for offset in range(A_HUNDRED):
        maker = Maker(seed + offset)
        a, b, c = (maker.schema(2) for _ in range(3))
        forms = (
            {"allOf": [a, b, c]},
            {"allOf": [c, b, a]},
            {"allOf": [{"allOf": [a, b]}, c]},
            {"allOf": [a, flatten({"allOf": [b, c]})]},
            {"allOf": [a, b, c, a]},
        )
        first, *others = rest(maker, [flatten(form) for form in forms])
        assert all(other == first for other in others)


def plain(seed: int) -> Any:
    """Make a schema without `allOf` and references."""
    schema = Maker(seed).schema(3)
    return None if any(isinstance(node, dict) and "allOf" in node for _, node in walk(schema)) else schema


@examples(30)
@given(SEEDS)
def test_a_schema_with_nothing_to_fold_stays_the_same_object(seed: int) -> None:
    schemas = [schema for offset in range(A_HUNDRED) if (schema := plain(seed + offset)) is not None]
    assert all(flatten(schema) is schema for schema in schemas)
    assert schemas


@examples(30)
@given(SEEDS)
def test_flattening_twice_is_flattening_once(seed: int) -> None:
    for offset in range(A_HUNDRED):
        maker = Maker(seed + offset)
        schema = {"allOf": [maker.schema(2), maker.schema(2)]}
        once = flatten(schema)
        assert orjson.dumps(flatten(once)) == orjson.dumps(once), seed + offset


@examples(10)
@given(SEEDS)
def test_all_of_is_gone_from_nearly_all_pairs(seed: int) -> None:
    left = 0
    for offset in range(A_HUNDRED):
        maker = Maker(seed + offset)
        flat = flatten({"allOf": [maker.schema(1), maker.schema(1)]})
        left += any(isinstance(node, dict) and "allOf" in node for _, node in walk(flat))
    assert left < A_HUNDRED // 5
