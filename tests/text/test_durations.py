"""Spans of time: as ISO 8601 writes them, and as people do."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from instrc.text.durations import from_words, is_duration, seconds


@pytest.mark.parametrize(
    ("written", "duration", "length"),
    [
        ("5m", "PT5M", 300),
        ("30s", "PT30S", 30),
        ("2 days", "P2D", 172_800),
        ("1h", "PT1H", 3_600),
        ("1.5 hours", "PT1.5H", 5_400),
        ("10min", "PT10M", 600),
        ("1 Week", "P1W", 604_800),
    ],
)
def test_a_number_with_a_unit_of_time_is_a_duration_of_the_same_length(written: str, duration: str, length: float) -> None:
    assert from_words(written) == duration
    assert is_duration(duration)
    assert seconds(duration) == length


@pytest.mark.parametrize(
    "written", ["", "5", "m", "2 months", "5mm", "1h30m", "-5m", "5  m", "٥m", "9" * 10 + "s", "9" * 9 + " days"]
)
def test_what_has_no_fixed_length_or_is_written_otherwise_is_none(written: str) -> None:
    assert from_words(written) is None


def test_what_is_as_late_as_durations_can_say_has_a_date() -> None:
    longest = "P999999DT9999999H999999999M999999999S"
    assert is_duration(longest)
    assert datetime.fromtimestamp(4e9 + seconds(longest), UTC).year < 9999
    assert not is_duration("P9999999D")
    assert not is_duration("P999999W")
