"""Durations as ISO 8601 writes them: `PT30S`, `P2D`, `P1DT12H`, `P2W`."""

from __future__ import annotations

import re

from instrc.ir.graph import TIMING
from instrc.jsonvalue import Json

_NUMBER = r"\d{1,9}(?:\.\d{1,6})?"
_DURATION = rf"P(?=[\dT])(?:{_NUMBER}W|(?:{_NUMBER}D)?(?:T(?=\d)(?:{_NUMBER}H)?(?:{_NUMBER}M)?(?:{_NUMBER}S)?)?)"


def is_fixed_duration(text: str) -> bool:
    """Tell whether a text is a duration; months and years are of no fixed length, so they are none."""
    return re.fullmatch(_DURATION, text) is not None


def is_no_time(text: str) -> bool:
    """Tell whether a duration is zero."""
    return re.search("[1-9]", text) is None


def timing_words(annotation: str | dict[str, Json] | None) -> tuple[str, ...]:
    """Return the words of an annotation that give a deadline or a delay."""
    return tuple(word for word in TIMING if isinstance(annotation, dict) and word in annotation)
