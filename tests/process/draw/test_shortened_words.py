"""Words in a picture: a name that is too long loses its middle, and a line of the outline says what may stand there."""

from __future__ import annotations

import pytest

from instrc.process.picture import shorten_to_width  # what a picture shows of a long word
from instrc.schema.outline import outline
from instrc.text.jsonvalue import Json
from instrc.text.visible import columns


@pytest.mark.parametrize(
    ("width", "shown"),
    [(70, "abcdefg"), (60, "ab…fg"), (50, "ab…fg"), (40, "a…g"), (10, "a…g"), (0, "a…g")],
)
def test_a_text_loses_its_middle_and_keeps_as_much_of_both_ends(width: float, shown: str) -> None:
    assert shorten_to_width("abcdefg", width, 10) == shown


def test_a_text_of_four_letters_is_shown_however_narrow_its_place_is() -> None:
    assert (shorten_to_width("abcd", 0, 10), shorten_to_width("abcde", 0, 10)) == ("abcd", "a…e")


@pytest.mark.parametrize("width", [40, 50, 60, 70, 80])
def test_wide_letters_take_two_places(width: float) -> None:
    shown = shorten_to_width("漢字漢字漢字", width, 10)
    assert columns(shown) <= width / 10
    assert shown.startswith("漢") == shown.endswith("字") == (width >= 50)


def test_a_schema_that_is_true_or_false_is_said_in_a_word() -> None:
    assert outline({"properties": {"free": True, "closed": False}, "required": ["free"]}) == [
        "free: anything",
        "closed?: nothing",
    ]


def test_eight_values_of_a_list_and_sixty_letters_of_a_value_are_said() -> None:
    def said(schema: Json) -> str:
        [line] = outline({"properties": {"a": schema}, "required": ["a"]})
        return line.removeprefix("a: ")

    assert said({"enum": list(range(8))}) == "one of 0, 1, 2, 3, 4, 5, 6, 7"
    assert said({"enum": list(range(9))}) == "one of 0, 1, 2, 3, 4, 5, 6, 7, …"
    assert said({"const": "x" * 58}) == f'always "{"x" * 58}"'
    assert said({"const": "x" * 59}) == f'always "{"x" * 58}…'
