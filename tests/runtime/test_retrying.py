"""When something is tried again, and after how long."""

from __future__ import annotations

import pytest

from instrc import Retry
from instrc.runtime.activities import ONCE, is_temporary  # one decision about a call


def test_by_default_there_are_three_attempts_with_pauses_of_one_second_and_of_two() -> None:
    policy = Retry()
    assert [policy.again(attempt, None) for attempt in (1, 2, 3)] == [True, True, False]
    assert [policy.wait(attempt) for attempt in (1, 2)] == [1.0, 2.0]
    assert not ONCE.again(1, None)


def test_pauses_grow_up_to_a_minute() -> None:
    policy = Retry(attempts=20)
    assert [policy.wait(attempt) for attempt in (3, 6, 7, 19, 5000)] == [4.0, 32.0, 60.0, 60.0, 60.0]


def test_only_errors_with_a_listed_code_are_tried_again_and_those_without_any() -> None:
    policy = Retry(codes=frozenset({"busy"}))
    assert [policy.again(1, code) for code in ("busy", "wrong", None)] == [True, False, True]


@pytest.mark.parametrize(
    ("status", "temporary"),
    [(400, False), (404, False), (408, True), (409, True), (425, True), (429, True), (499, False), (500, True), (503, True)],
)
def test_a_server_that_is_busy_or_broken_may_answer_later(status: int, *, temporary: bool) -> None:
    assert is_temporary(status) == temporary
