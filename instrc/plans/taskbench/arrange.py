"""Which argument belongs to which input of a tool that tells its inputs by type alone."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

from instrc.jsonvalue import Json
from instrc.limits.runs import ORDERED_ARGUMENTS

_ENDINGS = {
    "image": (".jpg", ".png", ".jpeg", ".gif", ".bmp", ".tiff", ".svg", ".ico"),
    "audio": (".mp3", ".wav", ".wma", ".ogg", ".aac", ".flac", ".aiff", ".au"),
    "video": (".mp4", ".avi", ".mov", ".flv", ".wmv", ".mkv", ".webm", ".m4v", ".mpg", ".mpeg"),
}


def content_type(text: str) -> str:
    """Return what a text is the name of: the first of image, audio and video whose ending occurs in it, else text."""
    if "." not in text:
        return "text"
    return next((kind for kind, endings in _ENDINGS.items() if any(ending in text for ending in endings)), "text")


def fits(kinds: Sequence[str] | None, slot: str) -> bool:
    """Tell whether an argument may stand for an input: `kinds` are the types of a task's output, `None` is a literal."""
    return kinds is None or slot.lower() in {kind.lower() for kind in kinds}


def arranged(given: Sequence[tuple[Sequence[str] | None, Json]], slots: Sequence[str]) -> tuple[int, ...]:
    """Return for each argument the input it belongs to: the order it is given in, unless another one fits better."""
    order = tuple(range(len(given)))
    if len(given) > len(slots) or len(slots) > ORDERED_ARGUMENTS or len(slots) < 2:
        return order
    scores = [[_score(kinds, value, slot) for slot in slots] for kinds, value in given]
    if all(scores[number][number] for number in order):
        return order
    return max(
        permutations(range(len(slots)), len(given)), key=lambda way: sum(scores[each][slot] for each, slot in enumerate(way))
    )


def _score(kinds: Sequence[str] | None, value: Json, slot: str) -> bool:
    """Tell whether an argument is seen to be of the type of an input."""
    if kinds is not None:
        return fits(kinds, slot)
    kind = content_type(value) if value.__class__ is str else "text"
    return kind == slot.lower() or (kind == "text" and slot.lower() not in _ENDINGS)
