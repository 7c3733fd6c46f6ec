"""An edit leaves everything outside of the changed range as it was."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st
from lsprotocol import types

from instrc.lsp.session import Lines, applied, changed_range  # a session without a client
from instrc.text.source import Source


@given(st.text("ab", max_size=8), st.text("ab", max_size=8))
@example("aaa", "aa")
def test_outside_of_the_changed_range_nothing_differs(old: str, new: str) -> None:
    start, end = changed_range(old, new)
    assert start <= end
    assert new[:start] == old[:start]
    assert new[start:].endswith(old[end:])


PLACES = st.builds(types.Position, st.integers(0, 5), st.integers(0, 4))
EDITS = st.builds(
    types.TextDocumentContentChangePartial, st.builds(types.Range, PLACES, PLACES), st.text("a\r\n\U0001f600", max_size=3)
)


@given(st.text("ab\r\n\U0001f600", max_size=12), st.lists(EDITS, max_size=4), st.sampled_from(["utf-8", "utf-16", "utf-32"]))
@example("a\r", [types.TextDocumentContentChangePartial(types.Range(types.Position(1, 0), types.Position(1, 0)), "\n")], "utf-16")
def test_edits_of_the_rows_around_are_those_of_the_whole_text(
    text: str, edits: list[types.TextDocumentContentChangePartial], encoding: str
) -> None:
    whole = text
    for edit in edits:
        lines = Lines(Source("", whole), encoding)
        start, end = lines.offset(edit.range.start), lines.offset(edit.range.end)
        whole = whole[:start] + edit.text + whole[max(start, end) :]
    assert applied(text, edits, encoding) == whole
