"""Regular expressions of ECMA 262: what they match, in what time, and which are none."""

from __future__ import annotations

import re
import time

import pytest
from every_case import every_case
from hypothesis import given
from hypothesis import strategies as st

from instrc.schema.ecmascript import is_ecmascript, translate  # one expression without a schema
from instrc.schema.patterns import (  # one expression without a schema
    REGEX_PATTERN,
    REGEX_TEXT,
    search,
    time_limit,
    why_unreadable,
)

SPACES = "\t\n\v\f\r \xa0\u1680\u2000\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"


@every_case(
    ("pattern", "found", "missed"),
    [
        ("b", ["abc", "b"], ["", "a"]),
        ("^a$", ["a"], ["a\n", "aa", "b\na"]),
        (r"^\d$", ["0", "9"], ["०", "a"]),
        (r"^\D$", ["०", "a"], ["5"]),
        (r"^\w$", ["a", "_", "5"], ["é", "-"]),
        (r"^\W$", ["é", "-"], ["Z", "_"]),
        (r"^\s$", list(SPACES), ["a", "\x85", "\u200b"]),
        (r"^\S$", ["a", "\x85", "\u200b"], list(SPACES)),
        (r"^[^\s]$", ["a", "\x85"], list(SPACES)),
        (r"^[\S]$", ["a", "\x85", "\U0001f432"], list(SPACES)),
        (r"^[\W\d]$", ["é", "5"], ["a"]),
        ("^.$", ["a", "\x85", "\U0001f432"], ["\n", "\r", "\u2028", "\u2029", "ab"]),
        ("(?s)^.$", ["\n"], []),
        ("(?i)^ab$", ["AB", "ab"], ["a"]),
        ("(?i:a)b", ["Ab"], ["AB"]),
        ("(?m)^b$", ["a\nb\nc"], ["ab"]),
        (r"\bfoo\b", ["a foo!", "éfoo"], ["foobar"]),
        (r"^\Bx|a\B", ["ab"], ["x a"]),
        (r"[\b]", ["\b"], ["b"]),
        (r"^\cA$", ["\x01"], ["cA"]),
        (r"^[\cA\x41\u0042\u{43}]+$", ["\x01ABC"], ["D"]),
        (r"^\0\f\n\r\t\v$", ["\0\f\n\r\t\v"], ["0fnrtv"]),
        (r"^\uD83D\uDC32$", ["\U0001f432"], ["\ud83d"]),
        (r"^\u{1F432}+$", ["\U0001f432\U0001f432"], [""]),
        (r"^\/\-\.\$\^\{\}\[\]\(\)\|\*\+\?\\$", ["/-.$^{}[]()|*+?\\"], [""]),
        (r"^[/\-.$^{}[(|*+?\\]+$", ["/-.$^{}[(|*+?\\"], ["]"]),
        ("[[:alpha:]]", ["a]", ":]"], ["a", "z]"]),
        ("^[a&&b]+$", ["a&b"], ["c"]),
        (r"^[\d-x]+$", ["1-x"], ["y"]),
        (r"^[a-\d]+$", ["a-5"], ["b"]),
        ("^[a-]+$", ["a-"], ["b"]),
        ("^[]$|^b$", ["b"], ["", "]"]),
        ("^[^]$", ["\n", "a"], [""]),
        ("^a{2}$", ["aa"], ["a", "aaa"]),
        ("^a{2,}$", ["aa", "aaa"], ["a"]),
        ("^a{1,2}?$", ["aa"], ["aaa"]),
        ("^a{,3}$", ["a{,3}"], ["aa"]),
        ("^{a}$", ["{a}"], ["a"]),
        ("^a{0,1500}$", ["a" * 1500], ["a" * 1501]),
        (r"^\p{L}+$", ["жa"], ["1"]),
        (r"^\pL$", ["ж"], ["1"]),
        (r"^\P{L}$", ["1"], ["ж"]),
        (r"^\p{Letter}\p{Lowercase_Letter}\p{digit}$", ["Жж१"], ["1ж1"]),
        (r"^[\p{Lu}\p{Nd}]+$", ["Ж1"], ["ж"]),
        (r"^\p{Script=Greek}\p{sc=Cyrillic}$", ["αж"], ["жα"]),
        (r"^\p{General_Category=Lu}\p{gc=Ll}$", ["Жж"], ["жЖ"]),
        (r"^\p{Alphabetic}$", ["ж"], ["1"]),
        (r"^(?=.*\d)(?!.*x).{2,}$", ["a1"], ["ax1", "ab"]),
        (r"(?<=a)b(?<!ab)|(?<=\$)\d", ["$5"], ["ab", "5"]),
        (r"^(a|b)\1$", ["aa", "bb"], ["ab"]),
        (r"^(?<q>['\"])x\k<q>$", ["'x'", '"x"'], ["'x\""]),
        (r"\Ab\Z", ["b"], ["ab", "b\n"]),
        ("^(?P<n>a)(?:b)(?>c)$", ["abc"], ["ab"]),
        (r"(?=x)\bfoo|^\w\b", ["a"], ["é", "ab"]),
        ("^a++b$", ["aab"], ["b"]),
        ("(?u)(?a:a)", ["a"], ["b"]),
        ("", ["", "a"], []),
        ("a|", ["", "b"], []),
        ("(?:)*", [""], []),
    ],
)
def test_a_pattern_is_found_as_ecma_262_says(pattern: str, found: list[str], missed: list[str]) -> None:
    assert why_unreadable(pattern) is None
    assert [text for text in found if search(pattern, text) is not True] == []
    assert [text for text in missed if search(pattern, text) is not False] == []


@every_case(
    "pattern",
    [
        "(",
        ")",
        "(a",
        "a)",
        "*",
        "+a",
        "a**",
        "^*",
        "a|*",
        "{1}",
        "[",
        "[a",
        "\\",
        "[\\",
        "[z-a]",
        "a{2,1}",
        "(?",
        "(?<a",
        "(?#x)a",
        r"\u{110000}",
        r"(?P=a)",
        r"\k<a>",
        r"\p{NoSuch}",
        "(?(1)a|b)",
        "a" * (REGEX_PATTERN + 1),
    ],
)
def test_what_is_no_regular_expression_says_why_and_decides_nothing(pattern: str) -> None:
    assert why_unreadable(pattern)
    assert search(pattern, "a") is None


def test_only_what_needs_it_backtracks() -> None:
    long = "b" * (REGEX_TEXT + 1)  # too long for the engine that backtracks
    assert search(r"^(a+)+$", long) is False
    assert search(r"^[^\s@]+@[^\s@]+\.[^\s@]+$", long) is False
    assert search(r"^(?!a)", long) is None
    assert search(r"a{0,1001}", long) is None


@every_case("pattern", ["(?=a)", "(?<!a)b", "(?>a)", "a++", r"(a)\1", r"(?<n>a)\k<n>", r"\p{scx=Greek}"])
def test_a_translation_says_that_the_linear_engine_has_no_words_for_it(pattern: str) -> None:
    assert translate(pattern).backtracks


@every_case("pattern", ["^(a+)+$", "(a*)*b", "^(a|aa)+$", "(.*)*x{30}", "^(([a-z])+.)+[A-Z]([a-z])+$"])
def test_time_grows_with_the_text_only(pattern: str) -> None:
    start = time.process_time()
    assert search(pattern, "a" * 100_000 + "!") is False
    assert time.process_time() - start < 3


@every_case("pattern", ["^" + "a{0,999}" * 40 + "b$", "^" + "[a-c]{0,900}" * 30 + "b$"])
def test_a_pattern_of_many_counts_takes_little_time(pattern: str) -> None:
    """The linear engine would take seconds to read one, in which no other thread runs."""
    start = time.process_time()
    assert search(pattern, "a" * 20_000) is not True
    assert search(pattern, "aab") is True
    assert time.process_time() - start < 2


def test_a_search_of_too_many_steps_can_be_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("instrc.schema.patterns.SEARCH_STEPS", 10_000)
    slow = "^(?:a|a)*[ab]{9}$"
    assert search(slow, "a" * 12) is True
    assert search(slow, "a" * 5_000 + "!") is None  # by the other engine, at its limit


@pytest.mark.long
def test_backtracking_ends_after_half_a_second_and_many_share_a_limit() -> None:
    slow = r"^(?:(a|a)*)*\1$"
    start = time.process_time()  # the second engine counts it too: the clock on the wall goes on while others work
    assert search(slow, "a" * 40 + "!") is None
    with time_limit():
        assert [search(slow, "a" * 40 + "!") for _ in range(100)] == [None] * 100
    assert time.process_time() - start < 5
    assert search("^(?!b)a", "a" * REGEX_TEXT) is True
    assert search("^(?!b)a", "a" * (REGEX_TEXT + 1)) is None


def test_half_a_surrogate_pair_is_one_odd_character() -> None:
    assert search("^.$", "\ud800") is True
    assert search("^a.b$", "a\udfffb") is True
    assert search("[a-z]", "\ud800") is False
    assert search("^(?!a).$", "\ud800") is True


def test_words_of_other_languages_are_told_from_ecma_262() -> None:
    assert all(map(is_ecmascript, [r"^\d+$", "(?<a>b)", r"\p{L}", "(?i:a)", r"\/\-", "a{1,2}?"]))
    assert not any(map(is_ecmascript, [r"\a", r"\Z", "(?i)a", "a++", "(?>a)", r"\_", "(", "(?a:b)"]))


PIECES = st.sampled_from(
    ["a", "b", ".", "[ab]", "[^a]", "(?:a|b)", "(ab)", r"\d", r"\w", "^", "$", "|", r"\.", "[a-c]", "(?:x{2})", "(?:)"]
)
REPEATS = st.sampled_from(["", "", "*", "+", "?", "{1,2}", "*?"])


@given(
    st.lists(st.tuples(PIECES, REPEATS), max_size=6).map(
        lambda parts: "".join(part + ("" if part in {"^", "$", "|"} else repeat) for part, repeat in parts)
    ),
    st.text("abcx1. ", max_size=8),
)
def test_what_both_know_python_finds_as_well(pattern: str, text: str) -> None:
    assert search(pattern, text) is (re.search(pattern, text, re.ASCII) is not None)


@given(st.text("ab(|)[]{}*+?^$\\.,-:=!<>k1dwsDWSpPLu0cx\ud800é", max_size=12), st.text(max_size=6))
def test_no_pattern_raises(pattern: str, text: str) -> None:
    assert search(pattern, text) in {True, False, None}
    assert (why_unreadable(pattern) is None) or search(pattern, text) is None


@every_case(
    ("pattern", "text"),
    [
        ("^[а-я]+$", "где"),
        (r"^[\u0430-я]+$", "где"),
        (r"^[\x41-Z]+$", "QED"),
        ("^[ -~]+$", "a b"),
        ("^[😀-🙏]$", "😁"),
        ("^[-а]$", "-"),
    ],
)
def test_a_range_of_characters_of_any_script_is_read(pattern: str, text: str) -> None:
    assert search(pattern, text) is True
    assert search(pattern, "\u4e00") is False
