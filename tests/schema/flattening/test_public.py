"""The functions for users refuse what is not a schema, as the commands of their names do; those inside answer on any keyword."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, cast

import pytest
from every_case import every_case
from pydantic import BaseModel, Field, TypeAdapter
from typing_extensions import TypedDict

import instrc
from instrc.schema.flattening.flatten import flatten

WRONG: list[tuple[Any, str, str]] = [
    ({"type": "strng"}, "/type", "is not a type"),
    ({"properties": {"a": {"type": ["object", "strng"]}}}, "/properties/a/type/1", "is not a type"),
    ({"properties": ["a"]}, "/properties", "an array is not an object"),
    ({"minLength": "3"}, "/minLength", "is not a whole number"),
    ({"pattern": "(["}, "/pattern", "it is not a regular expression"),
    ("{}", "", "a string is not a schema"),
    ([{}], "", "a list is not a schema"),
    (5, "", "a number is not a schema"),
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


@every_case("name", FUNCTIONS)
@every_case(("schema", "place", "words"), WRONG)
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
        with pytest.raises(instrc.CompileError, match="null is not a schema"):
            call(None)  # type: ignore[arg-type]


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
    with pytest.raises(TypeError, match="a JSON value cannot contain itself"):
        instrc.flatten({"type": "strng", "properties": {"a": circle}})


def test_the_function_inside_answers_on_malformed_keywords() -> None:
    assert flatten({"type": "strng"}) == {"type": "strng"}


@every_case(("option", "value"), [("limit", "many"), ("limit", 1.5), ("base", 3), ("documents", []), ("trace", 1)])
def test_an_option_that_is_given_something_else_is_refused_by_its_name(option: str, value: Any) -> None:
    for schema in ({}, {"allOf": [{}]}):
        with pytest.raises((TypeError, ValueError), match=f"`{option}` takes"):
            instrc.flatten(schema, **{option: value})


@dataclass
class Letter:
    text: str


class Reply(BaseModel):
    asks: Letter
    note: str = Field(default="", alias="_note")


class Address(TypedDict):
    city: str


def send(letter: Letter, copies: int = 1) -> str:
    """Send a letter."""
    return letter.text * copies


@pytest.mark.parametrize("given", [Letter, Reply, Address, send, list[Letter], Letter | None])
def test_a_type_and_a_function_stand_for_their_schema(given: Any) -> None:
    schema = TypeAdapter(given).json_schema()
    for call in FUNCTIONS.values():
        assert call(given) == call(schema)
    assert instrc.subsumes(given, schema).verdict == instrc.subsumes(schema, given).verdict == "yes"


def test_a_mapping_is_a_schema() -> None:
    assert instrc.flatten(MappingProxyType({"allOf": [{"type": "integer"}]})) == {"type": "integer"}


def test_what_a_class_declares_is_what_is_taken_out() -> None:
    stripped = instrc.strip(Reply, {"thoughts"})
    assert isinstance(stripped, dict)
    assert instrc.flatten(stripped) == instrc.flatten(instrc.strip(instrc.flatten(Reply), "thoughts"))
    assert "_note" not in str(stripped)
    assert instrc.split({"_note": "short", "_more": 1}, Reply) == {
        "output": {"_more": 1},
        "thoughts": {"_note": "short"},
        "metrics": {},
    }
    assert instrc.strip(TypeAdapter(Reply), "all") == instrc.strip(Reply, "all")


def test_a_type_that_pydantic_cannot_describe_is_told_with_its_reason() -> None:
    for call in FUNCTIONS.values():
        with pytest.raises(TypeError, match="pydantic cannot describe `Odd`"):
            call(Odd)


class Odd:
    """A class that says nothing of its members."""


def test_an_object_of_python_is_told_as_one() -> None:
    with pytest.raises(instrc.CompileError, match=r"an object of Python \(object\) is not a schema"):
        instrc.strip(cast("Any", object()), {"thoughts"})
