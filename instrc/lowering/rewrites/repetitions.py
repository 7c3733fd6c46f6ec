"""Write a pattern that repeats a part many times as several repetitions, where an engine bears only so many at once.

    split("^[a-z]{1,255}$", 128)    # "^[a-z]{1,128}[a-z]{0,127}$"

Both match the same texts.
"""

from __future__ import annotations

import re

from instrc.limits.payloads import SPLIT_PATTERN

_ATOM = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\((?:\?:|\?<?[=!])?|.", re.DOTALL)
_REPEATS = re.compile(r"\{(\d+)(,?)(\d*)\}(\??)")
REPEATED = re.compile(r"[{,](\d+)(?=[,}])")
"""The numbers of a pattern's repetitions."""


def split(pattern: str, most: int) -> str:
    """Return a pattern that repeats nothing more than `most` times at once; as it is, if that would become too long."""
    if not any(int(number) > most for number in REPEATED.findall(pattern)):
        return pattern
    out: list[str] = []
    groups: list[int] = []
    """Where the groups that are open begin in what is written."""
    atom = place = 0
    while place < len(pattern):
        repeats = _REPEATS.match(pattern, place)
        if repeats is not None and atom < len(out):
            repeated = "".join(out[atom:])
            out[atom:] = [f"{repeated}{{{range_}}}{repeats[4]}" for range_ in _ranges(repeats, most)] or [""]
            place = repeats.end()
            continue
        found = _ATOM.match(pattern, place)
        assert found is not None
        text = found[0]
        atom = groups.pop() if text == ")" and groups else len(out)
        if text.startswith("("):
            groups.append(len(out))
        out.append(text)
        place = found.end()
    result = "".join(out)
    return result if len(result) <= SPLIT_PATTERN else pattern


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
