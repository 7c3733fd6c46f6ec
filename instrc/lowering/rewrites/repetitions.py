"""Write a pattern that repeats a part many times as several repetitions, where an engine bears only so many at once.

    split("^[a-z]{1,255}$", 128)    # "^[a-z]{1,128}[a-z]{0,127}$"

Both match the same texts.
"""

from __future__ import annotations

import re

from instrc.limits.payloads import SPLIT_PATTERN
from instrc.schema.repeats import ATOM, REPEATS

_DIGITS = 18
"""Of a number that is read: Python refuses to read some thousands."""


def split_repetitions(pattern: str, most: int) -> str:
    """Return a pattern that repeats nothing more than `most` times at once; as it is, if that would become too long."""
    greatest = max(counts(pattern), default=0)
    if not most < greatest < most * SPLIT_PATTERN:
        return pattern
    out: list[str] = []
    groups: list[int] = []
    """Where the groups that are open begin in what is written."""
    atom = place = 0
    while place < len(pattern):
        repeats = REPEATS.match(pattern, place)
        if repeats is not None and atom < len(out):
            repeated = "".join(out[atom:])
            if len(repeated) > SPLIT_PATTERN:
                return pattern
            out[atom:] = [f"{repeated}{{{range_}}}{repeats[4]}" for range_ in _ranges(repeats, most)] or [""]
            place = repeats.end()
            continue
        found = ATOM.match(pattern, place)
        assert found is not None
        text = found[0]
        atom = groups.pop() if text == ")" and groups else len(out)
        if text.startswith("("):
            groups.append(len(out))
        out.append(text)
        place = found.end()
    result = "".join(out)
    return result if len(result) <= SPLIT_PATTERN else pattern


def repeats_over(pattern: str, most: int) -> bool:
    """Say whether a pattern repeats a part more than `most` times at once."""
    return any(count > most for count in counts(pattern))


def pieces(pattern: str) -> list[str]:
    """Return the signs, escapes, character classes, beginnings of groups and counts in braces that a pattern consists of."""
    found: list[str] = []
    place = 0
    while place < len(pattern):
        piece = REPEATS.match(pattern, place) if found else None
        piece = piece or ATOM.match(pattern, place)
        assert piece is not None  # an atom is any sign
        found.append(piece[0])
        place = piece.end()
    return found


def counts(pattern: str) -> list[int]:
    """Return the numbers in a pattern's counts; more digits are beyond any limit as well."""
    if "{" not in pattern:
        return []
    counts = [piece for piece in pieces(pattern) if piece.startswith("{")]
    return [int(number[:_DIGITS]) for piece in counts for number in re.findall(r"\d+", piece)]


def _ranges(repeats: re.Match[str], most: int) -> list[str]:
    """Return what stands in the braces of each repetition that one becomes."""
    least = int(repeats[1])
    found: list[str] = []
    if repeats[2] and not repeats[3]:
        while least > most:
            found.append(str(most))
            least -= most
        return [*found, f"{least},"]
    greatest = int(repeats[3] or least)
    if greatest <= most:
        return [f"{least},{greatest}" if repeats[2] else str(least)]
    while greatest:
        high = min(greatest, most)
        low = min(least, high)
        found.append(str(low) if low == high else f"{low},{high}")
        least, greatest = least - low, greatest - high
    return found
