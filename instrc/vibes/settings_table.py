"""Recognise a table that would hold our settings, were its name right: `[tools.instrc]`, `[tool.Instrc]`, `[tool.instrk]`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

_OURS = "instrc"
_HEADERS = r"(?m)^\s*\[\s*tools?\s*\.\s*[\"']?([\w-]+)"


def has_similar_header(text: str) -> bool:
    """Tell, without a reader of TOML, whether a header of a table may be ours with a letter wrong."""
    return any(map(_is_similar, re.findall(_HEADERS, text)))


def misplaced_table(document: Mapping[str, object]) -> str | None:
    """Return the name of a table that would be ours, were its name right; one that is similar only where ours is missing."""
    tools, plural = document.get("tool"), document.get("tools")
    for above, table in (("", document), ("tools.", plural), ("tool.", tools)):
        for name in _names(table):
            if name.lower() == _OURS and (above, name) != ("tool.", _OURS):
                return f"{above}{name}"
    if _OURS in _names(tools):
        return None
    return next((f"tool.{name}" for name in _names(tools) if _is_similar(name)), None)


def _is_similar(name: str) -> bool:
    if name == _OURS or abs(len(name) - len(_OURS)) > 1 or not set(name.lower()) & set(_OURS[:2]):
        return False
    from instrc.problems.suggest import is_a_slip_of  # few projects have a tool of such a name

    return is_a_slip_of(name.lower(), _OURS)


def _names(table: object) -> Iterable[str]:
    return table if isinstance(table, Mapping) else ()
