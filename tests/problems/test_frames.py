"""Frames show the place, whatever the text looks like."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from instrc import Label, Problem, Source, Span
from instrc.problems.render import (  # the width of a frame
    SENTENCE_LENGTH,
    SHOWN_OF_A_KIND,
    WINDOW,
    first_of_each,
    frame,
    render_text,
    summary,
)


class Odd(Problem):
    message = "{said}"

    said: str = "this is odd"
    way_out: str | None = None
    others: tuple[Label, ...] = ()

    @property
    def hint(self) -> str | None:
        return self.way_out

    @property
    def labels(self) -> tuple[Label, ...]:
        return self.others


class Slight(Odd):
    severity = "warning"


def shown(text: str, start: int, end: int, name: str = "a.aug") -> str:
    return render_text([Odd(at=Source(name, text).span(start, end))])


def test_a_frame_has_place_sentence_name_line_and_marks() -> None:
    assert shown("one\ntwo three\n", 8, 13) == (
        "a.aug:2:5: error: this is odd [odd]\n"
        "  2 | two three\n"
        "    |     ^^^^^\n"
    )  # fmt: skip


def test_a_problem_without_a_place_is_one_line_and_its_hint() -> None:
    assert render_text([Odd(way_out="do this")]) == "error: this is odd [odd]\n  hint: do this\n"


def test_labels_show_other_places_in_other_files_too() -> None:
    first, second = Source("a.aug", "left right"), Source("b.vibe.json", '{\n  "x": 1\n}')
    problem = Odd(at=first.span(5, 10), others=(Label(second.span(4, 7), "first defined here"),), way_out="choose one")
    assert render_text([problem]) == (
        "a.aug:1:6: error: this is odd [odd]\n"
        "  1 | left right\n"
        "    |      ^^^^^\n"
        "  b.vibe.json:2:3: first defined here\n"
        '  2 |   "x": 1\n'
        "    |   ^^^\n"
        "  hint: choose one\n"
    )


def test_tabs_take_four_columns() -> None:
    assert shown("\tab\tcd", 4, 6).splitlines()[1:] == ["  1 |     ab    cd", "    |           ^^"]


def test_wide_letters_take_two_columns_and_combining_ones_none() -> None:
    assert shown("会議 x", 3, 4).splitlines()[1:] == ["  1 | 会議 x", "    |      ^"]
    assert shown("会議 x", 0, 2).splitlines()[2] == "    | ^^^^"
    decomposed = unicodedata.normalize("NFD", "йй x")
    assert shown(decomposed, 5, 6).splitlines()[2] == "    |    ^"


def test_a_mark_stands_where_the_text_ends() -> None:
    assert shown("abc", 3, 3).splitlines()[1:] == ["  1 | abc", "    |    ^"]
    assert shown("abc\n", 4, 4).splitlines()[0].startswith("a.aug:2:1:")
    assert shown("", 0, 0) == "a.aug:1:1: error: this is odd [odd]\n"


def test_a_line_break_of_windows_is_no_part_of_the_line() -> None:
    assert shown("one\r\ntwo\r\n", 0, 3).splitlines()[1:] == ["  1 | one", "    | ^^^"]


def test_a_very_long_line_is_cut_around_the_mistake() -> None:
    text = "x" * 5_000_000 + "HERE" + "y" * 5_000_000
    lines = shown(text, 5_000_000, 5_000_004).splitlines()
    assert lines[0].startswith("a.aug:1:5000001:")
    assert len(lines[1]) <= WINDOW + 10
    code, marks = lines[1][6:], lines[2][6:]
    assert code[marks.index("^") : marks.rindex("^") + 1] == "HERE"
    assert code.startswith("…")
    assert code.endswith("…")


def test_a_long_span_shows_its_first_lines() -> None:
    text = "f(\n  a,\n  b,\n  c,\n)"
    assert shown(text, 0, len(text)).splitlines()[1:] == [
        "  1 | f(",
        "    | ^^",
        "  2 |   a,",
        "    |   ^^",
        "  3 |   b,",
        "    |   ^^",
        "    | …",
    ]


def test_control_characters_cannot_drive_the_terminal() -> None:
    text = "\x1b[31mred\x07\u202e\x9b2J"
    out = render_text([Odd(at=Source("a\x1b]0;t.aug", text).span(0, 3), said=f"bad `{text}`", way_out=text)])
    assert not [letter for letter in out if letter != "\n" and unicodedata.category(letter) in {"Cc", "Cf", "Cs"}]
    assert "␛[31mred␇" in out


def test_odd_bytes_of_a_file_name_can_be_written() -> None:
    assert shown("x", 0, 1, name="a\udcff.aug").encode()


def test_an_endless_message_is_cut() -> None:
    assert len(render_text([Odd(said="long " * 100_000)])) < SENTENCE_LENGTH + 100


def test_the_summary_counts_in_words() -> None:
    assert summary([Odd(), Odd(), Slight()]) == "2 errors, 1 warning"
    assert summary([Odd()]) == "1 error"
    assert summary([Slight(), Slight()]) == "2 warnings"
    assert summary([]) == ""


@given(st.text(alphabet=st.sampled_from("ab \t\n\r会\u0301\x1b😀"), max_size=400), st.data())
def test_marks_stand_under_the_text_of_the_span(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    lines = ["".join(piece.text for piece in line) for line in frame(Odd(at=Span(Source("a", text), start, end)))]
    assert lines[0].startswith("a:")
    assert all("\n" not in line and "\r" not in line for line in lines)
    assert not text or any("^" in line for line in lines)


def test_of_very_many_problems_of_one_name_the_first_are_shown_and_the_others_counted() -> None:
    many = [Odd(said=str(number)) for number in range(SHOWN_OF_A_KIND + 1234)]
    first, more = first_of_each([Slight(), *many, Slight(said="last")])
    assert [problem.message for problem in first] == [
        "this is odd",
        *(problem.message for problem in many[:SHOWN_OF_A_KIND]),
        "last",
    ]
    assert more == "… 1,234 more of [odd]; `--format json` shows them all\n"
    assert first_of_each(many[:SHOWN_OF_A_KIND]) == (many[:SHOWN_OF_A_KIND], "")
