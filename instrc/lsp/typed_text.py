"""What a text shows at the place where somebody types, before the grammar reads it."""

from __future__ import annotations

import re
from collections import deque

_BRACKET = re.compile(r"[(){}\[\]]")
_CALLED = re.compile(r"([^\W\d]\w*|aug:[^\s()\[\]{},;|@\"']+)\s*\Z")
_SILENT = re.compile(r"""//[^\n]*|/\*.*?(?:\*/|\Z)|"(?:[^"\\\n]|\\.)*(?:"|\n|\Z)|'(?:[^'\\\n]|\\.)*(?:'|\n|\Z)""", re.DOTALL)
"""A comment or a string, also one that has no end yet."""


def is_silent(before: str) -> bool:
    """Tell whether a text ends in a comment or in a string."""
    last = next(iter(deque(_SILENT.finditer(before), maxlen=1)), None)
    if last is None or last.end() < len(before):
        return False
    found = last.group()
    return found.startswith("//") or not (len(found) > 1 and found.endswith(("*/", found[0], "\n")))


def name_of_closed_call(before: str) -> str:
    """Return the name before the bracket that the last `)` closes."""
    level = 0
    for sign in reversed(list(_BRACKET.finditer(before))):
        level += 1 if sign.group() in ")}]" else -1
        if not level:
            found = _CALLED.search(before[: sign.start()])
            return found.group(1) if found else ""
    return ""


def name_of_open_call(before: str) -> str | None:
    """Return the name of the call in whose brackets, or in braces in them, a text ends; `None` anywhere else."""
    level, in_braces = 0, False
    for sign in reversed(list(_BRACKET.finditer(before))):
        if sign.group() in ")}]":
            level += 1
        elif level:
            level -= 1
        elif sign.group() == "{" and not in_braces:
            in_braces = True
        elif sign.group() == "(":
            found = _CALLED.search(before[: sign.start()])
            return found.group(1) if found else None
        else:
            return None
    return None


def without_silent(text: str) -> str:
    """Return a text with spaces in place of its comments and strings."""
    return _SILENT.sub(lambda found: " " * len(found.group()), text)
