r"""How long a regular expression becomes if what it repeats is written out: engines do so, and nested counts multiply.

written_out("^(ab{3}){10}$")    # 42: `b` thrice, with `a` ten times, `^` and `$`
"""

from __future__ import annotations

import re

ATOM = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\((?:\?:|\?<?[=!])?|.", re.DOTALL)
"""One character, escape or class, or the beginning of a group."""
REPEATS = re.compile(r"\{(\d+)(,?)(\d*)\}(\??)")
"""Counts in braces: the least, the comma, the greatest, and whether as few as possible."""
_DIGITS = 9
"""A number with more digits is beyond any limit."""


def written_out(pattern: str) -> int:
    """Return how many atoms a pattern has with each part as often as it must stand there at least."""
    if "{" not in pattern:
        return len(pattern)
    lengths = [0]
    """Of the pattern and of each group that is open."""
    last = place = 0
    while place < len(pattern):
        if (repeats := REPEATS.match(pattern, place)) is not None:
            least = int(repeats[1][-_DIGITS:]) + 10**_DIGITS * (len(repeats[1]) > _DIGITS)
            lengths[-1] += last * max(0, least - 1)
            last *= max(1, least)
            place = repeats.end()
            continue
        found = ATOM.match(pattern, place)
        assert found is not None  # it takes any character
        place = found.end()
        if found[0].startswith("("):
            lengths.append(0)
            continue
        last = lengths.pop() if found[0] == ")" and len(lengths) > 1 else 1
        lengths[-1] += last
    return sum(lengths)
