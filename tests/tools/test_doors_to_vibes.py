"""A property with a meaning by its name is told alike by every door that tools and types come in by, at every depth."""

from __future__ import annotations

import dataclasses
import json
import typing
import warnings
from collections.abc import Callable
from typing import Annotated, Any

import pydantic
import pytest
from pydantic import Field

from instrc import check, compile, import_tools, instruction  # noqa: A004  -- its public name

Alias = Annotated[str, Field(alias="_id")]


class Model(pydantic.BaseModel):
    id: str = Field(alias="_id")


class Choice(pydantic.BaseModel):
    id: str = Field(validation_alias=pydantic.AliasChoices("_id", "id"))


class Around(pydantic.BaseModel):
    inner: list[Model]


@pydantic.dataclasses.dataclass
class OfPydantic:
    id: str = Field(alias="_id")


@dataclasses.dataclass
class OfPython:
    id: Alias


class Keys(typing.TypedDict):
    id: Alias


def function(id: Alias) -> str:  # noqa: A002  -- what it is
    """Take one."""
    return id


SCHEMA = {"type": "object", "properties": {"_id": {"type": "string"}}, "required": ["_id"]}
NESTED = {"type": "object", "properties": {"inner": {"type": "array", "items": SCHEMA}}}
TYPES: list[Any] = [Model, Choice, Around, OfPydantic, OfPython, Keys, function]
TOOLS: list[tuple[str, Any]] = [
    (kind, tool)
    for schema in (SCHEMA, NESTED)
    for kind, tool in (
        ("mcp", {"name": "draft", "inputSchema": schema}),
        ("anthropic", {"name": "draft", "input_schema": schema}),
        ("openai", {"type": "function", "function": {"name": "draft", "parameters": schema}}),
        ("openai", {"type": "function", "name": "draft", "parameters": schema}),
    )
]
GIVEN = [("pydantic", each) for each in TYPES] + TOOLS
TOLD = ["property-with-meaning: `_id` is a thought by its name, so results leave it out"]


def _compiled(source: str, vibes: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        compile(source, vibes=vibes)
    return [str(each.message) for each in caught]


def _listed(_kind: str, value: Any) -> list[str]:
    return TOLD if isinstance(value, dict) else _compiled("Draft(prompt)", [instruction(name="Draft")(value)])


DOORS: dict[str, Callable[[str, Any], list[str]]] = {
    "compile": lambda _, value: _compiled("Draft(prompt)", {"Draft": value}),
    "compile a step of a person": lambda _, value: _compiled("Draft_User(prompt)", {"Draft_User": value}),
    "compile a step of the server": lambda _, value: _compiled("Draft_Activity(prompt)", {"Draft_Activity": value}),
    "a list of types": _listed,
    "a JSON text": lambda _, value: _compiled(
        "Draft(prompt)", {"Draft": json.dumps(value) if isinstance(value, dict) else value}
    ),
    "check": lambda _, value: [f"{problem.name}: {problem.message}" for problem in check(vibes={"Draft": value})],
    "import": lambda kind, value: [f"{each.name}: {each.message}" for each in import_tools(kind, value).problems],
    "import with results": lambda kind, value: [
        f"{each.name}: {each.message}" for each in import_tools(kind, value, results="output").problems
    ],
}


@pytest.mark.parametrize("door", DOORS)
def test_a_property_with_a_meaning_is_told_at_every_door(door: str) -> None:
    assert {str(value): DOORS[door](kind, value) for kind, value in GIVEN} == {str(value): TOLD for _, value in GIVEN}


@dataclasses.dataclass
class Thinking:
    _id: str


@pytest.mark.parametrize("door", [door for door in DOORS if "import" not in door])
def test_a_name_that_the_author_of_a_type_or_schema_chose_is_not_told(door: str) -> None:
    def thinking(_id: str) -> str:
        return _id

    for value in (Thinking, thinking):
        assert DOORS[door]("pydantic", value) == []
    if door != "a list of types":
        assert DOORS[door]("", SCHEMA) == []
