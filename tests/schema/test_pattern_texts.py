"""Texts that a pattern matches are found for the patterns that people write, and a hostile pattern ends the search."""

from __future__ import annotations

import time
from itertools import islice

from every_case import every_case

from instrc.schema.patterns import matching_texts, search, time_limit  # one expression without a schema

WRITTEN = [
    r"^[A-Z]{2}-\d{4}$",
    r"^\+[1-9]\d{1,14}$",
    r"^#[0-9a-fA-F]{6}$",
    r"^\d{4}-(0[1-9]|1[0-2])-([0-2]\d|3[01])$",
    r"^[^\s@]+@[^\s@]+\.[^\s@]+$",
    r"^https?://[^\s/$.?#].[^\s]*$",
    r"^(?!^[-+.]*$)[+-]?0*\d*\.?\d*$",
    r"^P(?!$)(\d+Y)?(\d+M)?(\d+D)?(T(?=\d)(\d+H)?(\d+M)?(\d+S)?)?$",
    r"^(?=.*[A-Z])(?=.*\d)(?=.*[!@#]).{8,}$",
    r"^(?:(?:25[0-5]|2[0-4]\d|[01]?\d\d?)\.){3}(?:25[0-5]|2[0-4]\d|[01]?\d\d?)$",
    r"^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$",
    r"^arn:aws:iam::\d{12}:role/[\w+=,.@-]{1,64}$",
    r"^(?<year>\d{4})W\k<year>$",
    r"^\p{Lu}\p{L}*$",
    r"^[\u0410-\u044f]+$",
    r"^[😀-😎]$",
    r"^\w{3}\d{3}(?<=456)$",
    r"item|service|access",
    r"\bfoo\b",
    r"(?i)^hello$",
    r"^(ab)*c$",
    r"^$",
]


@every_case("pattern", WRITTEN)
def test_a_pattern_that_people_write_is_found_in_what_is_made_for_it(pattern: str) -> None:
    found = list(islice(matching_texts(pattern), 3))
    assert found
    assert all(search(pattern, text) for text in found)
    assert len(set(found)) == len(found)


@every_case(("pattern", "least", "most"), [(r"^\d+$", 12, None), ("^x-", 5, 5), (r"^[a-z]+$", 0, 1), (r"^.*$", 300, 300)])
def test_it_is_as_long_as_it_may_be(pattern: str, least: int, most: int | None) -> None:
    text = next(matching_texts(pattern, least, most))
    assert search(pattern, text)
    assert least <= len(text) <= (most or len(text))


@every_case("pattern", ["^(a+)+$x", "^(a|aa)+$b", "(", "[z-a]", "^(?:a{1000}){1000}$", "(" * 3000, r"a^", r"$b"])
def test_what_has_no_text_or_hides_it_too_well_gives_none(pattern: str) -> None:
    start = time.process_time()
    with time_limit():
        assert list(matching_texts(pattern)) == []
    assert time.process_time() - start < 10


def test_the_same_pattern_gives_the_same_texts() -> None:
    assert list(islice(matching_texts(r"^[a-z]+\d$"), 5)) == list(islice(matching_texts(r"^[a-z]+\d$"), 5))
