"""Many patterns beside many texts: what is asked of all at once is what is asked of each."""

from __future__ import annotations

from every_case import every_case

from instrc.schema.patterns import PATTERNS_AT_ONCE, candidates, search, with_candidates  # one expression without a schema

TEXTS = ["", "p1", "p77", "xp12", "ab", "aab", "Ω", "\ud800", "p1\n", "\x00", "p" * 5_000]
ODD = [
    "^p1$",
    "p1",
    "",
    "^$",
    ".",
    r"\p{Script=Greek}",
    "(?!p)a",  # looks around: RE2 has no words for it
    "(a)\\1b",
    "([a-z",  # cannot be read
    "^p{1001}$",  # more than RE2 counts to
    "(?:[a-z]{1,60}x){3}",
    "p" * 21_000,  # too long to be read
    "\\ufffd",
]
MANY = [*ODD, *(f"^p{number}$" for number in range(3 * PATTERNS_AT_ONCE))]


@every_case("patterns", [ODD, MANY], ids=["few", "many"])
@every_case("text", TEXTS, ids=repr)
def test_a_pattern_that_is_no_candidate_is_not_found(patterns: list[str], text: str) -> None:
    likely = list(candidates(patterns, text))
    assert likely == [pattern for pattern in patterns if pattern in set(likely)]
    assert all(search(pattern, text) is False for pattern in patterns if pattern not in likely)


def test_of_many_patterns_only_those_of_a_text_are_candidates() -> None:
    plain = MANY[len(ODD) :]
    assert list(candidates(plain, "p77")) == ["^p77$"]
    assert {pattern: list(texts) for pattern, texts in with_candidates(plain, ["p1", "p77", "q"]) if texts} == {
        "^p1$": ["p1"],
        "^p77$": ["p77"],
    }


def test_all_are_candidates_where_they_are_too_large_together() -> None:
    large = [f"[a-m]*{number}[a-z]{{1,200}}\\p{{L}}{{1,30}}x" for number in range(PATTERNS_AT_ONCE)]
    assert list(candidates(large, "abc")) == large


def test_patterns_that_are_looked_for_apart_keep_all_texts() -> None:
    assert [list(texts) for _, texts in with_candidates(["a", "b"], ["x", "y"])] == [["x", "y"], ["x", "y"]]
