"""What a target refuses is said in the description, one sentence a keyword."""

from __future__ import annotations

from typing import Any

import pytest

from instrc.providers.lowering.context import DESCRIBED_VALUE, join_notes, note  # one step of a lowering


@pytest.mark.parametrize(
    ("keyword", "value", "sentence"),
    [
        ("uniqueItems", True, "No two items are equal."),
        ("additionalProperties", False, "No other keys."),
        ("unevaluatedProperties", False, "No other keys."),
        ("items", False, "No further items."),
        ("unevaluatedItems", False, "No further items."),
        ("items", {"type": "string"}, 'Further items match {"type":"string"}.'),
        ("unevaluatedItems", {"type": "string"}, 'Other items match {"type":"string"}.'),
        ("default", False, "Default: false."),
        ("format", "uri", "Format: uri."),
        ("default", {"a": [1]}, 'Default: {"a":[1]}.'),
        ("title", "A title", ""),
    ],
)
def test_a_keyword_is_said_in_a_sentence(keyword: str, value: Any, sentence: str) -> None:
    assert note(keyword, value) == sentence


@pytest.mark.parametrize(("length", "cut"), [(DESCRIBED_VALUE, False), (DESCRIBED_VALUE + 1, True)])
def test_a_long_value_is_cut_where_it_becomes_too_long(length: int, cut: bool) -> None:  # noqa: FBT001  # a parameter of a test
    said = note("format", "x" * length)
    assert said == f"Format: {'x' * DESCRIBED_VALUE}{'…' if cut else ''}."


def test_equal_notes_are_joined_once_and_nothing_is_no_note() -> None:
    assert join_notes("a", None, "b", "", "a") == "a\nb"
    assert join_notes(None, "") is None
