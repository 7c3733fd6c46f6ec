"""What is seen at once to satisfy a schema satisfies it by the library as well."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from instrc.schema.plain_checks import satisfies_plainly

SCALARS = st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from([0.0, 1.0, 0.5]) | st.sampled_from(["", "a", "b"])
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner), max_leaves=6
)
WORDS = st.sampled_from(["string", "integer", "number", "object", "array", "null", "boolean"])


def schemas(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries(
        {},
        optional={
            "type": WORDS | st.lists(WORDS, min_size=1, max_size=2, unique=True),
            "enum": st.lists(SCALARS, min_size=1, max_size=3),
            "const": SCALARS,
            "properties": st.dictionaries(st.sampled_from("abc"), inner, max_size=2),
            "required": st.lists(st.sampled_from("abc"), max_size=2, unique=True),
            "additionalProperties": st.booleans() | inner,
            "items": inner,
            "minLength": st.just(1),
            "not": inner,
            "title": st.just("T"),
        },
    )


@given(VALUES, st.recursive(st.booleans(), schemas, max_leaves=5))
def test_what_satisfies_a_schema_plainly_satisfies_it(value: Any, schema: Any) -> None:
    if satisfies_plainly(value, schema):
        assert Draft202012Validator(schema).is_valid(value)


def test_the_usual_answers_are_seen_at_once() -> None:
    step = {"type": "object", "properties": {"text": {"type": "string"}, "tone": {"enum": ["a", "b"]}}, "required": ["text"]}
    schema = {"type": "object", "properties": {"step1": step, "list": {"type": "array", "items": step}}, "required": ["step1"]}
    assert satisfies_plainly({"step1": {"text": "x", "tone": "a"}, "list": [{"text": "y"}]}, schema)
    for wrong in ({}, {"step1": {"text": 1}}, {"step1": {"text": "x", "tone": "c"}}, {"step1": {"text": "x"}, "list": [1]}, []):
        assert not satisfies_plainly(wrong, schema)


def test_a_schema_in_a_circle_of_python_ends() -> None:
    around: dict[str, Any] = {"type": "object", "properties": {}}
    around["properties"]["a"] = around
    value: dict[str, Any] = {}
    value["a"] = value
    assert not satisfies_plainly(value, around)
