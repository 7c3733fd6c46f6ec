"""Patterns of `patternProperties` and the names that they are for."""

from __future__ import annotations

import re
from functools import lru_cache

from instrc.limits.schemas import MATCHED_NAME, MATCHED_PATTERN

_PLAIN_PATTERN = (
    r"(?:[\w \-/:@,;<>=!\"'#%&~`^$.*+?|)]|\((?!\?)|\(\?[:=!]|\{\d+(?:,\d*)?\}|\\[dDwWsSbB.\-/^$*+?()\[\]{}|]"
    r"|\[\^?(?:[\w /:@,;<>=!\"'#%.*+?|(){}$]|-|\\[dDwWsS.\-/^$*+?()\[\]{}|])+\])*"
)
_DOUBLED = r"--|&&|~~|\|\|.*\]"


@lru_cache(maxsize=4096)
def matches(pattern: str, name: str) -> bool | None:
    """Tell whether a pattern is found in a name; `None` if judges may disagree on that, or if it takes too long."""
    if not (name.isascii() and name.isprintable()) or len(name) > MATCHED_NAME:
        return None
    if not _read_alike(pattern):
        return None
    from instrc.schema.expressions import search  # few schemas have patterns of names

    return search(pattern, name)


@lru_cache(maxsize=1024)
def _read_alike(pattern: str) -> bool:
    """Tell whether all judges read a pattern in the same way."""
    if len(pattern) > MATCHED_PATTERN or not re.fullmatch(_PLAIN_PATTERN, pattern, re.ASCII):
        return False
    return not re.search(_DOUBLED, pattern)
