"""Match regular expressions of schemas."""

from __future__ import annotations

from instrc.schema.expressions import search


def may_match(pattern: str, text: str) -> bool:
    """Say whether a regular expression finds something in a text; one that nobody can decide finds everything."""
    return search(pattern, text) is not False
