"""What the meta-schema refuses is taken out at its place and told; what is left is sound."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from instrc.schema.normalize import describe_value, drop_invalid_keywords
from instrc.schema.wellformed import problems_of


@pytest.mark.parametrize(
    ("schema", "sound", "told"),
    [
        ({"type": "string", "minLength": 1}, {"type": "string", "minLength": 1}, []),
        ({"title": "t", "type": 5}, {"title": "t"}, [(("type",), "type")]),
        (
            {"anyOf": [{"type": "string"}, {"minLength": -1}]},
            {"anyOf": [{"type": "string"}, {}]},
            [(("anyOf", "1", "minLength"), "minLength")],
        ),
        (
            {"properties": {"a": {"properties": 5}}},
            {"properties": {"a": {}}},
            [(("properties", "a", "properties"), "properties")],
        ),
        ({"anyOf": ["no schema"]}, {}, [(("anyOf", "0"), "anyOf")]),
        (5, {}, [((), "this schema")]),
    ],
)
def test_what_is_refused_is_left_out_where_it_stands(schema: Any, sound: Any, told: list[Any]) -> None:
    made = drop_invalid_keywords(copy.deepcopy(schema))
    assert made.schema == sound
    assert not problems_of(made.schema)
    assert [(note.path, note.what) for note in made.notes] == told
    assert {note.kind for note in made.notes} <= {"left-out"}


def test_a_place_is_told_below_that_of_the_schema() -> None:
    [note] = drop_invalid_keywords({"type": 5}, ("properties", "a")).notes
    assert note.path == ("properties", "a", "type")


class Shy:
    def __repr__(self) -> str:
        raise ValueError


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"a": 1}, "{…}"),
        ({}, "{}"),
        ([1], "[…]"),
        ((), "[]"),
        (True, "true"),
        (2**200, "a long number"),
        (2**199, str(2**199)[:39]),
        ("a\n b", "a b"),
        (Shy(), "Shy"),
    ],
)
def test_a_value_is_said_in_a_few_words(value: object, words: str) -> None:
    said = describe_value(value)
    assert said.startswith(words)
    assert len(said) <= 80
