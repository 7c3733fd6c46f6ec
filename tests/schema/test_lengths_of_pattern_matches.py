"""How long the texts are that a pattern finds itself in, and which keywords about texts leave none."""

from __future__ import annotations

import re
from typing import Any

from every_case import every_case
from hypothesis import given
from hypothesis import strategies as st

from instrc.schema.laws.strings import extent, without_texts  # the laws of one keyword by themselves


@every_case(
    ("keywords", "words"),
    [
        ({"pattern": "/^a"}, ("pattern",)),  # nothing stands before the beginning of a text
        ({"pattern": r"^\d{5}$", "maxLength": 4}, ("pattern", "maxLength")),
        ({"pattern": "^(a|bc)$", "minLength": 3}, ("pattern", "minLength")),
        ({"maxLength": 2, "allOf": [{"pattern": "^.{3}$"}]}, ("allOf", "maxLength")),
        ({"pattern": "^a+$", "maxLength": 0}, ("pattern", "maxLength")),
        ({"pattern": "abc", "allOf": [True, {"maxLength": 2}]}, ("pattern", "allOf")),
        ({"pattern": "^[a-f]", "allOf": [{"pattern": "^[0-9]+$"}]}, ("pattern", "allOf")),
        ({"allOf": [{"pattern": "^a"}, {"pattern": "^b"}]}, ("allOf",)),
        ({"pattern": r"^[\d.]+$", "allOf": [{"pattern": "^[a-c]"}]}, ("pattern", "allOf")),
    ],
)
def test_a_pattern_that_leaves_no_text_is_found_with_its_opponent(keywords: dict[str, Any], words: tuple[str, ...]) -> None:
    assert without_texts({"type": "string", **keywords}) == words
    assert without_texts({"type": ["string", "null"], **keywords}) is None  # null satisfies it


@every_case(
    "keywords",
    [
        {},
        {"minLength": 3, "maxLength": 2},  # told by `bounds`, for all types
        {"pattern": r"^\d{5}$", "maxLength": 5},
        {"pattern": "^a|b", "minLength": 5},
        {"pattern": "^a+$", "maxLength": 1},
        {"pattern": "^(?=a)b$", "maxLength": 1},  # not read here
        {"pattern": 3, "maxLength": 1},
        {"allOf": [{"pattern": "^a"}, {"pattern": "b$"}]},
        {"allOf": 3, "pattern": "^a$"},
    ],
)
def test_keywords_that_leave_texts_are_not_found(keywords: dict[str, Any]) -> None:
    assert without_texts({"type": "string", **keywords}) is None


@every_case("pattern", ["(", "[a", "a{2", "^a$b", "(?i)a", "*", "[a[b]", "\\1", "(" * 100, "a" * 2_000])
def test_the_extent_of_what_is_hard_to_read_is_not_known(pattern: str) -> None:
    assert extent(pattern) is None or pattern == "a{2"


ATOMS = st.sampled_from(["a", "b", "[ab]", "[^a]", ".", r"\d", r"\w", r"[\d.-]", r"[^\w]", "1", "-", r"\."])
PATTERNS = st.recursive(
    ATOMS,
    lambda inner: (
        st.lists(inner, min_size=1, max_size=3).map("".join)
        | st.lists(inner, min_size=2, max_size=3).map(lambda parts: f"({'|'.join(parts)})")
        | st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{1,2}"])).map(lambda pair: f"(?:{pair[0]}){pair[1]}")
    ),
    max_leaves=6,
)


@given(PATTERNS, st.sampled_from(["", "^"]), st.sampled_from(["", "$"]), st.text("ab1-. \u00e9", max_size=6))
def test_every_text_that_a_pattern_finds_is_within_its_extent(pattern: str, begin: str, end: str, text: str) -> None:
    found = extent(f"{begin}(?:{pattern}){end}")
    assert found is not None
    if re.search(f"{begin}(?:{pattern}){end}", text):
        assert found.low <= len(text) <= found.high
        assert not text or found.first >> min(ord(text[0]), 128) & 1
