"""The functions for users refuse what is no schema, as the commands of their names do; those inside answer on any keyword."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import pytest

import instrc
from instrc.flattening.flatten import flatten

WRONG: list[tuple[Any, str, str]] = [
    ({"type": "strng"}, "/type", "is not a type"),
    ({"properties": {"a": {"type": ["object", "strng"]}}}, "/properties/a/type/1", "is not a type"),
    ({"properties": ["a"]}, "/properties", "an array is not an object"),
    ({"minLength": "3"}, "/minLength", "is not a whole number"),
    ({"pattern": "(["}, "/pattern", "it is no regular expression"),
    ("{}", "", "a string is no schema"),
    ([{}], "", "a list is no schema"),
    (5, "", "a number is no schema"),
]
FUNCTIONS: dict[str, Callable[[Any], object]] = {
    "flatten": instrc.flatten,
    "flatten with a trace": lambda schema: instrc.flatten(schema, trace=True),
    "flatten by name": lambda schema: instrc.flatten(schema=schema),
    "split": lambda schema: instrc.split({"a": 1}, schema),
    "split by name": lambda schema: instrc.split({"a": 1}, schema=schema),
    "strip": lambda schema: instrc.strip(schema, "thoughts"),
    "subsumes, the wide one": lambda schema: instrc.subsumes(schema, {}),
    "subsumes, the narrow one": lambda schema: instrc.subsumes({}, b=schema),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize(("schema", "place", "words"), WRONG)
def test_what_is_no_schema_is_refused(name: str, schema: Any, place: str, words: str) -> None:
    with pytest.raises(instrc.CompileError) as refused:
        FUNCTIONS[name](schema)
    (problem,) = refused.value.problems
    assert problem.name == "invalid-schema"
    assert getattr(problem, "pointer", None) == place
    assert words in str(problem)


def test_nothing_is_no_schema_but_for_an_answer_that_is_split_by_names() -> None:
    assert instrc.split({"a": 1, "_b": 2}, None)["thoughts"] == {"_b": 2}
    for call in (instrc.flatten, lambda schema: instrc.subsumes(schema, {})):
        with pytest.raises(instrc.CompileError, match="null is no schema"):
            call(None)  # type: ignore[operator]


def test_an_older_draft_is_judged_by_its_own_words() -> None:
    old = {"$schema": "http://json-schema.org/draft-04/schema#", "minimum": 1, "exclusiveMinimum": True}
    assert instrc.flatten(old) == old
    with pytest.raises(instrc.CompileError, match="exclusiveMinimum"):
        instrc.flatten({"minimum": 1, "exclusiveMinimum": True})


def test_a_schema_that_holds_itself_or_a_part_very_often_is_looked_at_once() -> None:
    circle: dict[str, Any] = {}
    circle["properties"] = {"a": circle}
    assert instrc.flatten(circle) is circle
    shared: Any = {"type": "string"}
    for _ in range(60):
        shared = {"properties": {"a": shared, "b": shared}}
    assert instrc.flatten(shared) is shared
    with pytest.raises(TypeError, match="this holds itself"):
        instrc.flatten({"type": "strng", "properties": {"a": circle}})


def test_the_function_inside_answers_on_malformed_keywords() -> None:
    assert flatten({"type": "strng"}) == {"type": "strng"}


@pytest.mark.parametrize(
    ("option", "value"), [("limit", "many"), ("limit", 1.5), ("distribute", -1), ("base", 3), ("documents", []), ("trace", 1)]
)
def test_an_option_that_is_given_something_else_is_refused_by_its_name(option: str, value: Any) -> None:
    for schema in ({}, {"allOf": [{}]}):
        with pytest.raises((TypeError, ValueError), match=f"`{option}` takes"):
            instrc.flatten(schema, **{option: value})


@dataclass
class Letter:
    text: str


def test_a_class_is_told_where_its_schema_is() -> None:
    with pytest.raises(instrc.CompileError, match="`Letter` is not a schema but has one") as raised:
        instrc.flatten(cast("Any", Letter))
    schema = instrc.lower(Letter, target="jsonschema").schema
    assert 'give `instrc.lower(Letter, target="jsonschema").schema`' in str(raised.value)
    assert instrc.flatten(schema) == schema


def test_an_object_of_python_is_told_as_one() -> None:
    with pytest.raises(instrc.CompileError, match=r"an object of Python \(object\) is no schema"):
        instrc.strip(cast("Any", object()), {"thoughts"})
