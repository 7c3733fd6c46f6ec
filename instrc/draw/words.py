"""Words in a picture: what can be shown of them, and how much room they take."""

from __future__ import annotations

from unicodedata import combining, east_asian_width

from instrc.visible import visible


def printable(text: str) -> str:
    """Return a text in one line of visible characters."""
    return visible(" ".join(text.split()))


def wide(text: str) -> int:
    """Return how many letters wide a text is: wide ones count twice, marks on others not at all."""
    return sum(0 if combining(letter) else 2 if east_asian_width(letter) in "WF" else 1 for letter in text)


def shorten_to_width(text: str, width: float, letter: float) -> str:
    """Return a text cut in its middle to a width in pixels."""
    room = max(int(width / letter), 4)
    text = " ".join(text.split())
    if wide(text) <= room:
        return text
    half = (room - 1) // 2
    head, tail = text[:half], text[-half:]
    while wide(head) > half:
        head = head[:-1]
    while wide(tail) > half:
        tail = tail[1:]
    return f"{head}…{tail}"
