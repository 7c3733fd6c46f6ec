from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from instrc.language.formatter import format_json  # a text without a file
from instrc.language.line_breaking import WIDTH  # the width that lines are held to

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=20,
)


def pairs(text: str) -> Any:
    """Return a value in which order and repeated keys show."""
    return json.loads(text, object_pairs_hook=lambda found: ["{}", *map(list, found)], parse_float=str, parse_int=str)


@given(value=VALUES, ascii_=st.booleans(), indent=st.sampled_from([None, 0, 3, "\t"]))
def test_the_layout_keeps_each_value_and_is_its_own_layout(value: Any, *, ascii_: bool, indent: int | str | None) -> None:
    text = json.dumps(value, ensure_ascii=ascii_, indent=indent)
    again = format_json(text)
    assert pairs(again) == pairs(text)
    assert format_json(again) == again


def test_short_values_stand_on_a_line_and_the_outermost_braces_do_not() -> None:
    assert format_json('{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}') == (
        '{\n  "type": "object",\n  "properties": { "a": { "type": "string" } },\n  "required": ["a"]\n}\n'
    )


def test_what_is_too_long_is_broken() -> None:
    text = format_json(json.dumps({"description": "x" * 60, "enum": ["y" * 30, "z" * 30, "w" * 60]}))
    assert text.count("\n") == 8
    assert max(map(len, text.splitlines())) <= WIDTH


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (r'"\u0436\u00e9"', '"жé"'),
        (r'"\ud83d\ude00"', '"😀"'),
        (r'"a\/b"', '"a/b"'),
        (r'"\u202e\u0000\u0022\u005c"', r'"\u202e\u0000\u0022\u005c"'),
        (r'"\\u0436"', r'"\\u0436"'),
        ("1.0", "1.0"),
        ("1E+5", "1E+5"),
        ("123456789012345678901234567890", "123456789012345678901234567890"),
        ("{ }", "{}"),
    ],
)
def test_letters_are_shown_and_numbers_stay(written: str, shown: str) -> None:
    assert format_json(written) == f"{shown}\n"


def test_depth_is_no_limit() -> None:
    assert format_json("[" * 20_000 + "]" * 20_000).count("\n") == 2_001


def test_the_deepest_brackets_stand_on_one_line_so_that_the_layout_grows_with_the_text_and_not_with_its_square() -> None:
    deep = format_json('{"a": [1, ' * 10_000 + "2" + "]}" * 10_000)
    assert len(deep) < 3_000_000
    assert format_json(deep) == deep
