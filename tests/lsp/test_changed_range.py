"""An edit leaves everything outside of the changed range as it was."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from instrc.lsp.session import changed_range  # a session without a client


@given(st.text("ab", max_size=8), st.text("ab", max_size=8))
@example("aaa", "aa")
def test_outside_of_the_changed_range_nothing_differs(old: str, new: str) -> None:
    start, end = changed_range(old, new)
    assert start <= end
    assert new[:start] == old[:start]
    assert new[start:].endswith(old[end:])
