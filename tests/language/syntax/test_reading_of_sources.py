from __future__ import annotations

import pytest

from instrc import Problem, Report, Source
from instrc.language.lexer import decode_source
from instrc.text.limits import PROGRAM_BYTES


def taken(data: bytes, limit: int = PROGRAM_BYTES) -> Source:
    report = Report()
    source = decode_source("in.aug", data, report, limit)
    assert source is not None
    assert report.problems == []
    return source


def refused(data: bytes, limit: int = PROGRAM_BYTES) -> Problem:
    report = Report()
    assert decode_source("in.aug", data, report, limit) is None
    (problem,) = report.problems
    return problem


@pytest.mark.parametrize(("data", "text"), [(b"", ""), (b"A", "A"), (b"\xef\xbb\xbfA\r\nB", "A\r\nB"), ("Ё".encode(), "Ё")])
def test_utf8_is_taken_in_with_or_without_a_mark(data: bytes, text: str) -> None:
    assert taken(data).text == text


@pytest.mark.parametrize(
    ("data", "place"),
    [
        (b"\xff", (1, 1)),
        ("привет\nмир".encode() + b"\xe9A", (2, 4)),
        (b"\xef\xbb\xbfab\xc3", (1, 3)),
        ("A".encode("utf-16"), (1, 1)),
        (b"\xed\xa0\x80", (1, 1)),
    ],
)
def test_other_bytes_are_shown(data: bytes, place: tuple[int, int]) -> None:
    problem = refused(data)
    assert problem.name == "not-utf8"
    assert problem.at is not None
    assert (problem.at.line, problem.at.column) == place


def test_a_source_over_the_limit_is_refused_unread() -> None:
    assert taken(b" " * 40, limit=40).text == " " * 40
    assert refused(b"\xff" * 41, limit=40).name == "too-large"
    assert refused(b"A" * (PROGRAM_BYTES + 1)).name == "too-large"
