"""Patterns that repeat a part more often than an engine bears at once match the same texts when they are written as several."""

from __future__ import annotations

import pytest
import re2
from grammar_engines import binding
from hunting import examples
from hypothesis import given
from hypothesis import strategies as st
from judges import breaches

from instrc import lower
from instrc.providers.lowering.target_patterns import (  # one pattern without a schema around it
    SPLIT_PATTERN,
    counts,
    split_repetitions,
)

SAME = {
    "^[a-z]{1,255}$": "^[a-z]{1,128}[a-z]{0,127}$",
    "^[a-z]{129}$": "^[a-z]{128}[a-z]{1}$",
    "^[]x{300}]{200,}$": "^[]x{300}]{128}[]x{300}]{72,}$",
    r"^\\{(?:\\\\|[)]){130}?$": r"^\\{(?:\\\\|[)]){128}?(?:\\\\|[)]){2}?$",
    "^(a{130}b){2}$": "^(a{128}a{2}b){2}$",
    "^a{5}b{128}$": "^a{5}b{128}$",
}


@pytest.mark.parametrize("pattern", SAME)
def test_a_repetition_over_the_limit_becomes_several(pattern: str) -> None:
    assert split_repetitions(pattern, 128) == SAME[pattern]


ATOMS = st.sampled_from(["a", "b", "[ab]", "(?:ab|a)", "(b)", r"\(", "[)(]"])
COUNTS = st.integers(0, 9)
RANGES = st.one_of(
    COUNTS.map(lambda count: f"{{{count}}}"),
    COUNTS.map(lambda count: f"{{{count},}}"),
    st.tuples(COUNTS, COUNTS).map(lambda pair: f"{{{min(pair)},{max(pair)}}}"),
    st.just(""),
)
PIECES = st.lists(st.tuples(ATOMS, RANGES).map("".join), min_size=1, max_size=3).map("".join)
PATTERNS = st.one_of(PIECES, st.tuples(PIECES, RANGES).map(lambda pair: f"({pair[0]}){pair[1]}"))


@examples(300)
@given(pattern=PATTERNS, texts=st.lists(st.text("ab()", max_size=24), max_size=30), most=st.integers(1, 5))
def test_several_repetitions_match_what_one_does(pattern: str, texts: list[str], most: int) -> None:
    """RE2 is the judge, as `re` tries all ways to share the letters of a text among nested repetitions."""
    several = split_repetitions(pattern, most)
    assert len(several) > SPLIT_PATTERN or all(count <= most for count in counts(several))
    for text in [*texts, "a" * len(texts), "b" * len(texts), "ab" * (len(texts) // 2)]:
        assert bool(re2.fullmatch(several, text)) == bool(re2.fullmatch(pattern, text)), (pattern, several, text)


def test_a_pattern_that_would_become_too_long_is_told() -> None:
    pattern = "^(" * 4 + "a" + "{900})" * 4 + "$"
    assert split_repetitions(pattern, 128) == pattern
    lowered = lower({"type": "object", "properties": {"a": {"type": "string", "pattern": "^((a{900}){900}){900}$"}}}, "vllm")
    assert [loss.keyword for loss in lowered.losses] == ["pattern", "additionalProperties"]


def test_xgrammar_takes_long_repetitions() -> None:
    pytest.importorskip("xgrammar")
    texts = {"arn": {"type": "string", "pattern": "^arn:[a-z]{1,255}$"}, "id": {"type": "string", "pattern": "^[0-9]{300}$"}}
    lowered = lower({"type": "object", "properties": texts, "required": ["arn", "id"]}, "vllm")
    assert lowered.losses == ()
    assert not [*breaches(lowered.payload, "vllm")]
    assert [opinion.accepted for opinion in binding(lowered)] == [True, True]
