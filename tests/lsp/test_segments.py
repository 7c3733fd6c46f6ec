"""Reading what has changed finds what reading everything finds."""

from __future__ import annotations

import pytest
from hunting import examples
from hypothesis import example, given
from hypothesis import strategies as st
from printing import print_program
from programs import programs

from instrc import Report, Source
from instrc.language.formatter import format_source
from instrc.language.parser import parse
from instrc.language.program_places import moved
from instrc.language.surface import Program
from instrc.lsp import session  # questions to a session without a client
from instrc.lsp.completion import expected  # questions to a session without a client
from instrc.lsp.session import KEPT_RUNS, TextDocument, changed_range, edited, read_segments  # a session without a client

TYPED = [
    ";",
    "(",
    ")",
    "{",
    "}",
    '"',
    "'",
    "//",
    "/*",
    "*/",
    "\n",
    " ",
    "a",
    "const x = ",
    "|",
    "@",
    "Draft(prompt);\n",
    "é😀",
    "\r",
]
WORDS = (
    "const",
    "tool",
    "input",
    "when",
    "each",
    "repeat",
    "try",
    "do",
    "race",
    "else",
    "until",
    "max",
    "keep",
    "is",
    "or",
    "in",
)
Edits = list[tuple[int, int, str]]
"""Where each edit begins, in thousandths of the text, how much it takes away, and what it puts there."""


@examples(40)
@given(
    programs(most=3),
    st.lists(st.tuples(st.integers(0, 1000), st.sampled_from([0, 0, 1, 2, 40]), st.sampled_from([*TYPED, ""])), max_size=4),
)
def test_edit_by_edit_the_slips_are_those_of_the_whole(program: Program, edits: Edits) -> None:
    text = print_program(program)
    known = read_segments(Source("a.aug", text))
    for place, gone, added in edits:
        at = place * len(text) // 1000
        text = text[:at] + added + text[at + gone :]
        known = edited(known, Source("a.aug", text))
        whole = read_segments(Source("a.aug", text))
        assert bool(known.slips) == bool(whole.slips), text
        if known.whole:
            assert repr(known.outside) == repr(whole.outside), text
    for start, end in zip((0, *known.cuts), (*known.cuts, len(text)), strict=True):
        inside = known.broken is not None and known.broken[0] <= start and end <= known.broken[1]
        assert inside or not read_segments(Source("a.aug", text[start:end])).slips, (text, start, end)


@examples(40)
@given(programs(most=3), st.lists(st.tuples(st.integers(0, 9), st.booleans()), max_size=8), st.sampled_from([0, 1, KEPT_RUNS]))
def test_statements_that_are_asked_for_late_stand_where_they_stand(
    program: Program, edits: list[tuple[int, bool]], kept: int
) -> None:
    text = "".join(f"// {number}\n{print_program(program)};\n" for number in range(3))
    known = read_segments(Source("a.aug", text))
    if known.slips:
        return
    for place, wrong in [*edits, (0, False)]:
        at = (0, *known.cuts)[place % (len(known.cuts) + 1)]
        texts = [text[:at] + "\nconst added = ( ;" + text[at:]] if wrong else []
        text = text[:at] + "\nDraft(prompt) /* added */ @ 'é😀';" + text[at:]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(session, "KEPT_RUNS", kept)
            for each in (*texts, text):
                known = edited(known, Source("a.aug", each))
    assert repr(known.outside) == repr(read_segments(Source("a.aug", text)).outside)


@given(programs(most=3), st.integers(0, 5))
def test_a_statement_that_is_moved_is_as_it_is_read_there(program: Program, by: int) -> None:
    text = print_program(program)
    here, there = (Source("a.aug", blank + text) for blank in ("", "\n" * by))
    assert repr(moved(parse(here, Report()).statements, there, by)) == repr(list(parse(there, Report()).statements))


@pytest.mark.parametrize("deep", ["(" * 300 + "Draft(prompt)" + ")" * 300, "Draft(prompt)" + ' @ "Be brief."' * 300])
def test_a_statement_that_nests_deep_is_moved_as_well(deep: str) -> None:
    text = f"const a = {deep};\nDraft(a);\n"
    moved_by_one = edited(read_segments(Source("a.aug", text)), Source("a.aug", f"Draft(prompt);{text}"))
    whole = parse(Source("a.aug", f"Draft(prompt);{text}"), Report())
    assert [(each.span.start, each.span.end) for each in moved_by_one.outside.statements] == [
        (each.span.start, each.span.end) for each in whole.statements
    ]
    assert moved_by_one.outside.statements[1].span.source is moved_by_one.source


@examples(40)
@given(
    programs(most=3),
    st.lists(st.tuples(st.integers(0, 1000), st.sampled_from([0, 0, 1, 2, 40]), st.sampled_from([*TYPED, ""])), max_size=4),
    st.integers(0, 1000),
)
def test_edit_by_edit_the_same_words_can_stand_at_a_place(program: Program, edits: Edits, cursor: int) -> None:
    text = print_program(program)
    document = TextDocument("a.aug", text, "utf-16")
    for place, gone, added in edits:
        at = place * len(text) // 1000
        text = text[:at] + added + text[at + gone :]
        assert document.segments
        document = TextDocument("a.aug", text, "utf-16", earlier=document)
        here = cursor * len(text) // 1000
        typed, opened = (expected(each, here) for each in (document, TextDocument("a.aug", text, "utf-16")))
        assert (typed.instructions, typed.values) == (opened.instructions, opened.values), (text, here)
        assert [typed.word(word) for word in WORDS] == [opened.word(word) for word in WORDS], (text, here)


@examples(40)
@given(
    programs(most=3),
    st.lists(st.tuples(st.integers(0, 1000), st.sampled_from([0, 0, 1, 2, 40]), st.sampled_from([*TYPED, ""])), max_size=4),
)
def test_edit_by_edit_the_layout_is_that_of_the_whole(program: Program, edits: Edits) -> None:
    text = print_program(program)
    document = TextDocument("a.aug", text, "utf-16")
    for place, gone, added in [(0, 0, ""), *edits, (1000, 0, "\n")]:
        at = place * len(text) // 1000
        text = text[:at] + added + text[at + gone :]
        document = TextDocument("a.aug", text, "utf-16", earlier=document)
        assert document.formatted == format_source(Source("a.aug", text), Report()), text


def test_only_the_piece_of_an_edit_is_read() -> None:
    text = "".join(f"const s{number} = Draft(prompt);\n" for number in range(50))
    known = read_segments(Source("a.aug", text))
    assert len(known.cuts) == 50
    at = text.index("s20")
    broken = edited(known, Source("a.aug", text[:at] + "(" + text[at:]))
    assert broken.slips
    assert broken.broken is not None
    assert broken.broken[1] - broken.broken[0] < 80
    again = edited(broken, Source("a.aug", text))
    assert (again.slips, again.cuts) == ((), known.cuts)


def test_a_piece_grows_no_wider_while_it_is_broken() -> None:
    text = "".join(f"const s{number} = Draft(prompt);\n" for number in range(50))
    at = text.index("const s20")
    known = read_segments(Source("a.aug", text))
    for length in range(1, 10):
        known = edited(known, Source("a.aug", text[:at] + "when s19 {{{{{"[:length] + "\n" + text[at:]))
        if known.broken is not None:
            start, end = known.broken
            assert known.source.text[start:end].count(";") == 1, known.source.text[start:end]
    assert known.broken is not None
    assert edited(known, Source("a.aug", text)).slips == ()


@pytest.mark.parametrize("change", ["const a = Draft(prompt) // ;\n", 'const a = Draft("x;\n', "const a = /* ;", "", ";"])
def test_a_border_may_go_with_what_stood_before_it(change: str) -> None:
    first = "const a = Draft(prompt);"
    text = first + " const b = Draft(a);\nconst c = Draft(b);\nDraft(c)"
    new = change + text[len(first) :]
    found = edited(read_segments(Source("a.aug", text)), Source("a.aug", new))
    assert bool(found.slips) == bool(read_segments(Source("a.aug", new)).slips)


@given(st.text("ab", max_size=8), st.text("ab", max_size=8))
@example("aaa", "aa")
def test_outside_of_the_changed_range_nothing_differs(old: str, new: str) -> None:
    start, end = changed_range(old, new)
    assert start <= end
    assert new[:start] == old[:start]
    assert new[start:].endswith(old[end:])
