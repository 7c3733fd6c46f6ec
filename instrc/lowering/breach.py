"""A rule of a target that a payload breaks."""

from __future__ import annotations

from typing import NamedTuple


class Breach(NamedTuple):
    """A rule of a target that a payload breaks."""

    rule: str
    place: str
    """Where, as a JSON Pointer into the payload."""
    message: str

    def __str__(self) -> str:
        return f"{self.place or '/'}: {self.message} [{self.rule}]"
