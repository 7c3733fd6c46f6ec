"""Whatever JSON comes in: a right answer or one of our problems; those for users refuse what the ones inside answer on."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import pytest
from hunting import examples
from hypothesis import given
from hypothesis import strategies as st

import instrc
from instrc import CompileError, subsumes
from instrc.schema.flattening.flatten import flatten
from instrc.schema.flattening.flattener import intersect  # compared with the thorough way, which users do not choose
from instrc.schema.relations import disjoint, implies, satisfies
from instrc.schema.strip import split, strip
from instrc.schema.upgrade import upgrade
from instrc.schema.vocabulary import KEYWORDS
from instrc.schema.wellformed import problems_of
from instrc.text.jsontext import dumps

WORDS = st.sampled_from(sorted(KEYWORDS)) | st.sampled_from(["nullable", "id", "a", "_t", "$m", "references", ""])
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3) | st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=3),
    st.sampled_from(["#", "#/$defs/a", "#a", "aug:a", "string", "(", "http://json-schema.org/draft-04/schema#", "/", "~"]),
    st.sampled_from(["https://json-schema.org/draft/2020-12/schema", "https://json-schema.org/draft/2019-09/schema"]),
)
ANY = st.recursive(LEAVES, lambda below: st.lists(below, max_size=3) | st.dictionaries(WORDS, below, max_size=5), max_leaves=30)


@examples(600)
@given(ANY)
def test_flatten_gives_json_or_a_problem(value: Any) -> None:
    before = dumps(value)
    for options in ({}, {"trace": True}, {"nullable": True}):
        with suppress(CompileError):
            found = flatten(value, **options)
            dumps(found.schema if "trace" in options else found)
    assert dumps(value) == before


@examples(300)
@given(ANY, ANY)
def test_views_take_any_json(answer: Any, schema: Any) -> None:
    assert split(answer, schema)["output"] is not NotImplemented
    strip(schema, ["all"])


def outcome(call: Callable[[Any], Any], schema: Any) -> str | list[str]:
    try:
        return dumps(call(schema))
    except CompileError as refused:
        return [each.name for each in refused.problems]


@examples(300)
@given(ANY, ANY)
def test_the_functions_for_users_answer_as_those_inside_or_refuse(answer: Any, schema: Any) -> None:
    sound = isinstance(schema, dict | bool) and not problems_of(schema)
    for call, inside in ((instrc.flatten, flatten), (partial(instrc.split, answer), partial(split, answer))):
        if sound or (schema is None and inside is not flatten):
            assert outcome(call, schema) == outcome(inside, schema)
        else:
            assert isinstance(outcome(call, schema), list)


@examples(300)
@given(ANY, ANY)
def test_the_kernel_takes_any_json(one: Any, other: Any) -> None:
    implies(one, other)
    disjoint(one, other)
    satisfies(one, other)
    problems_of(one)
    with suppress(CompileError):
        upgrade(one)
    with suppress(CompileError):
        intersect([one, other])


@examples(150)
@given(ANY, ANY)
def test_subsumes_takes_any_json(one: Any, other: Any) -> None:
    with suppress(CompileError):
        assert subsumes(one, other).verdict in {"yes", "no", "unknown"}


@pytest.mark.parametrize(
    "schema",
    [
        {"dependentRequired": True},
        {"items": {"required": 2}},
        {"dependentRequired": {"a": [{}]}},
        {"allOf": [{"dependentRequired": {"a": [{}]}}, {"dependentRequired": {"a": ["b"]}}]},
        {"allOf": [{"required": [{}]}, {"required": ["a"], "properties": {"a": {}}}]},
    ],
)
def test_malformed_keywords_have_an_answer(schema: Any) -> None:
    flat = flatten(schema)
    assert flatten(flat) == flat
    assert disjoint(schema, {"type": "string"}) in {True, False}
    strip(schema, ["all"])


@pytest.mark.parametrize("value", [{1: 2}, object(), {"a": object()}, (1,), b"", {"properties": {1: {}}}, {"allOf": ({},)}])
def test_what_is_no_json_has_an_answer_too(value: Any) -> None:
    for ask in (flatten, upgrade, problems_of):
        with suppress(CompileError):
            ask(value)
    implies(value, value)
    disjoint(value, {"type": "string"})
