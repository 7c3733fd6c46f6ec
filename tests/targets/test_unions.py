"""Objects of one union tell themselves apart where a target asks for it, and come back without what was added."""

from __future__ import annotations

from typing import Any

import pytest

from instrc.targets.lift import encode, lift
from instrc.targets.lower import lower
from instrc.targets.rules import breaches

TEXT: Any = {"type": "string"}


def closed(**properties: Any) -> Any:
    """Return the schema of an object that has these properties and no others."""
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


@pytest.mark.parametrize("target", ["openai", "openai-responses", "openai-output"])
@pytest.mark.parametrize(
    "union",
    [
        [closed(a=TEXT, x=TEXT), closed(a=TEXT, y=TEXT), closed(b=TEXT, x=TEXT), closed(b=TEXT, y=TEXT)],
        [closed(kind=TEXT, x=TEXT), closed(_t=TEXT, kind={"const": "a"}), closed(_t=TEXT, kind={"const": "b"})],
        [closed(option=TEXT, x=TEXT), closed(option=TEXT, y=TEXT), closed(option_2=TEXT, x=TEXT)],
    ],
    ids=["two keys shared by two each", "a constant put before one that stands first elsewhere", "the name of the tag is taken"],
)
def test_objects_of_a_union_differ_in_their_first_keys(target: str, union: list[Any]) -> None:
    result = lower(closed(choice={"anyOf": union}), target)
    assert not breaches(result.payload, target)
    for branch in union:
        value = {"choice": {key: schema.get("const", "z") for key, schema in branch["properties"].items()}}
        assert lift(encode(value, result.map), result.map).value == value


def test_a_choice_that_comes_without_what_it_names_is_reported() -> None:
    schema = {"anyOf": [closed(a=TEXT), {"properties": {"b": TEXT}, "required": ["b"]}]}
    result = lower(closed(value=schema), "gigachat")
    broken = {violation.keyword for violation in lift({"value": {"choice": "object"}}, result.map).invalid}
    assert broken
    assert broken <= {loss.keyword for loss in result.losses}


def test_null_beside_values_that_share_a_string_has_an_answer() -> None:
    union = {"oneOf": [{"type": ["string", "null"]}, {"const": False}]}
    for target in ("gemini-schema", "openai", "anthropic-strict", "gigachat"):
        result = lower(closed(id=union), target)
        for value in (None, False, "false", "null", "x"):
            assert lift(encode({"id": value}, result.map), result.map).value == {"id": value}
