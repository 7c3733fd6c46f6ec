"""Match regular expressions of schemas."""

from __future__ import annotations

import re


def matches(pattern: str, text: str) -> bool:
    """Say whether a regular expression finds something in a text; one that Python cannot read finds everything."""
    try:
        return re.search(pattern, text) is not None
    except (re.error, RecursionError, OverflowError):
        return True
