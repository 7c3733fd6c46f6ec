"""A program that needs a value which its vibe's own `type` and list exclude is refused, as one with an empty range is."""

from __future__ import annotations

from typing import Any

import pytest

import instrc


def program_with(part: Any, *, required: bool = True) -> Any:
    schema = {"type": "object", "properties": {"a": part}, "required": ["a"] if required else []}
    return instrc.compile("Draft(prompt)", vibes={"Draft": schema})


IMPOSSIBLE = [
    {"type": "integer", "const": "x"},
    {"type": "integer", "enum": ["a", "b"]},
    {"type": "string", "enum": []},
    {"enum": []},
]


@pytest.mark.parametrize("part", IMPOSSIBLE, ids=str)
def test_a_needed_value_that_cannot_be_is_an_error(part: Any) -> None:
    with pytest.raises(instrc.CompileError) as caught:
        program_with(part)
    assert [problem.name for problem in caught.value.problems] == ["impossible-schema"]


@pytest.mark.parametrize("part", IMPOSSIBLE, ids=str)
def test_one_that_may_be_left_out_keeps_nobody_from_anything(part: Any) -> None:
    assert program_with(part, required=False)


@pytest.mark.parametrize(
    "part", [{"type": "number", "const": 2}, {"type": ["string", "null"], "enum": ["a", None]}, {"enum": ["a", 1]}], ids=str
)
def test_a_list_with_one_value_of_the_type_is_possible(part: Any) -> None:
    assert program_with(part)
