"""`aug:` references: what they are made of, and which are refused."""

from __future__ import annotations

import pytest
from every_case import every_case
from hypothesis import given
from hypothesis import strategies as st

from instrc import CompileError
from instrc.vibes.uri import AugUri, parse, version_of  # a reference without a registry


@every_case(
    ("text", "expected"),
    [
        ("aug:find", AugUri(("find",))),
        ("aug:a/b", AugUri(("a", "b"))),
        ("aug:/a/b:1", AugUri(("a", "b"), shared=True, version="1")),
        ("aug:a/b:1.4#step", AugUri(("a", "b"), version="1.4", fragment="step")),
        ("aug:a/b?1#/properties/x~1y", AugUri(("a", "b"), range="1", fragment="/properties/x~1y")),
        ("aug:процессы/встреча", AugUri(("процессы", "встреча"))),
        ("aug:%D0%B0/b%20c", AugUri(("а", "b c"))),
        ("aug:и\u0306", AugUri(("й",))),
        ("AUG:a#", AugUri(("a",), fragment="")),
        ("aug:a#:2?3", AugUri(("a",), fragment=":2?3")),
    ],
)
def test_a_reference_is_taken_apart(text: str, expected: AugUri) -> None:
    assert parse(text) == expected


@every_case(
    "text",
    [
        *("aug:..", "aug:../a", "aug:a/../../b", "aug:%2e%2e/a", "aug:a/%2E%2e", "aug:.%2e/a"),
        *(
            "aug:C:/a",
            "aug:C%3A/a",
            "aug:a%3A1",
            "aug:a\\b",
            "aug:a%5Cb",
            "aug:a%2Fb",
            "aug:a%00",
            "aug:a\0",
            "aug:a\nb",
            "aug:a%0Ab",
        ),
        *("http://a/b", "file:///etc/passwd", "a/b", "/a/b", "", "ftp:a", "aug", "//a/b"),
        *("aug:~main/a", "aug:~"),
    ],
)
def test_a_reference_that_could_lead_elsewhere_is_forbidden(text: str) -> None:
    assert _name(text) == "forbidden-reference"


@every_case(
    "text",
    [
        *("aug:", "aug:/", "aug://host/a", "aug:a//b", "aug:a/", "aug:a/.", "aug:./a", "aug:#x", "aug:a:", "aug::1", "aug:?1"),
        *(
            "aug:a:",
            "aug:a?",
            "aug:a:latest",
            "aug:a:1?1",
            "aug:a?1:1",
            "aug:a:1.",
            "aug:a:-1",
            "aug:a:1:2",
            "aug:a:١",
            "aug:a@1",
        ),
        *("aug:a:" + "9" * 5000, "aug:" + "a/" * 100_000 + "b"),
    ],
)
def test_a_reference_that_is_written_wrongly_is_malformed(text: str) -> None:
    assert _name(text) == "malformed-reference"


def test_a_refusal_shows_no_more_than_a_line_of_a_long_reference() -> None:
    with pytest.raises(CompileError) as caught:
        parse("aug:a:" + "x" * 3000)
    assert len(caught.value.problems[0].message) < 300


_segments = st.text(
    st.characters(blacklist_categories=["Cs", "Cc", "Zl", "Zp"], blacklist_characters="/\\:@"), min_size=1
).filter(
    lambda text: text not in {".", ".."} and not text.startswith("~"),
)
_versions = st.none() | st.lists(st.integers(0, 10**6), min_size=1, max_size=3).map(lambda parts: ".".join(map(str, parts)))


@given(st.lists(_segments, min_size=1, max_size=3), st.booleans(), _versions, st.booleans(), st.none() | st.text(max_size=20))
def test_the_canonical_spelling_reads_back_as_the_same_reference(
    segments: list[str],
    shared: bool,  # noqa: FBT001  -- hypothesis passes by position
    number: str | None,
    ranged: bool,  # noqa: FBT001
    fragment: str | None,
) -> None:
    first = parse(str(AugUri(tuple(segments), shared, None if ranged else number, number if ranged else None, fragment)))
    assert parse(str(first)) == first
    assert (first.shared, first.version or first.range) == (shared, number)
    assert not set(str(first)) & set(" ()[]{},;|@\"'\t\n")


@given(st.text(max_size=40))
def test_any_text_is_a_reference_or_a_problem(text: str) -> None:
    found, problems = None, ()
    try:
        found = parse("aug:" + text)
    except CompileError as error:
        problems = error.problems
    assert (found is None) == bool(problems)
    assert found is None or all(part not in {"", ".", ".."} and not set(part) & set("/\\:\0") for part in found.segments)


def test_versions_compare_as_numbers() -> None:
    assert sorted(["1.10", "1.9", "10", "2", "1"], key=lambda text: version_of(text) or ()) == ["1", "1.9", "1.10", "2", "10"]


def _name(text: str) -> str:
    with pytest.raises(CompileError) as caught:
        parse(text)
    (problem,) = caught.value.problems
    return problem.name
