"""Rules of lowering that no other test would miss: each was found by a change of the code that nothing noticed."""

from __future__ import annotations

from typing import Any

import pytest
from objects import closed

from instrc.lifting.lift import lift
from instrc.lowering.encode import encode
from instrc.lowering.lower import lower

TEXT: Any = {"type": "string"}


def assert_comes_back(value: Any, result: Any) -> None:
    assert lift(encode(value, result.map), result.map).value == value


def test_what_is_read_otherwise_is_told_in_a_schema_of_an_older_draft_too() -> None:
    old = {"type": "number", "minimum": 3, "exclusiveMinimum": True}  # which is no loss
    schema = {"$schema": "http://json-schema.org/draft-04/schema#", **closed(a=old, b={**TEXT, "minLength": "3"})}
    told = [(loss.pointer, loss.keyword) for loss in lower(schema, "openai").losses]
    assert told == [("/properties/b", "minLength")]


@pytest.mark.parametrize("target", ["openai", "gemini", "vllm", "gigachat"])
def test_a_whole_number_written_with_a_point_is_a_count(target: str) -> None:
    written, counted = (lower(closed(a={**TEXT, "minLength": count}), target) for count in (3.0, 3))
    assert written.payload == counted.payload
    assert [str(loss) for loss in written.losses] == [str(loss) for loss in counted.losses]


@pytest.mark.parametrize(
    ("other", "both"),
    [({"enum": ["a", None]}, True), ({"enum": ["a"]}, False), ({"const": "a"}, False), ({"const": None}, True)],
)
def test_where_null_is_a_value_too_leaving_out_has_a_word_of_its_own(other: Any, both: bool) -> None:  # noqa: FBT001
    node = {"anyOf": [other, closed(next={"$ref": "#/$defs/node"})]}
    schema = {**closed(a=TEXT, b={"$ref": "#/$defs/node"}), "required": ["a"], "$defs": {"node": node}}
    result = lower(schema, "openai")
    assert ({"type": "string", "enum": ["<null>"]} in result.schema["properties"]["b"]["anyOf"]) == both
    assert_comes_back({"a": "x"}, result)
    if both:
        assert_comes_back({"a": "x", "b": None}, result)


def test_values_by_the_pattern_of_their_keys_come_back_as_they_were() -> None:
    values = {"type": "object", "patternProperties": {"^x": {"enum": [1, "1", None, [2]]}}, "additionalProperties": False}
    result = lower(closed(m=values), "mistral")
    assert "patternProperties" in result.schema["properties"]["m"]
    value = {"m": {"xa": [2], "xb": 1, "xc": "1", "xd": None}}
    assert encode(value, result.map) == {"m": {"xa": "[2]", "xb": 1, "xc": "1", "xd": None}}
    assert_comes_back(value, result)


def test_values_that_are_written_alike_have_a_word_each_and_equal_ones_share_theirs() -> None:
    union = [{"enum": ["true", "a"]}, {"type": "boolean"}, {"enum": ["a", "b"]}]
    result = lower(closed(m={"anyOf": union}), "gigachat")
    assert result.schema["properties"]["m"]["enum"] == ["true", "a", "b", "true_2", "false"]
    for value in ("true", True, False, "a", "b"):
        assert_comes_back({"m": value}, result)


def test_long_constants_count_as_characters() -> None:
    short, long = (closed(**{f"p{index}": {"const": "x" * size} for index in range(100)}) for size in (1_100, 1_300))
    assert not lower(short, "openai").problems
    [size, strictness] = lower(long, "openai").problems
    assert "130290 characters" in str(size)
    assert strictness.name == "lossy-target"
