"""Names as words: how one name is spelled in another style.

A word ends where a letter is followed by a capital, at a sign that is neither letter nor digit,
and before the last capital of a run that a small letter follows (`URLParser` is `URL`, `Parser`).
"""

from __future__ import annotations

import re
import unicodedata

_SEPARATOR = re.compile(r"[\W_]+")


def words(name: str) -> list[str]:
    """Return the words of a name in lower case; a name of signs only has none."""
    found: list[str] = []
    for part in _SEPARATOR.split(unicodedata.normalize("NFC", name)):
        start = 0
        for i in range(1, len(part)):
            before, here = part[i - 1], part[i]
            after = part[i + 1] if i + 1 < len(part) else ""
            if here.isupper() and (not before.isupper() or after.islower()):
                found.append(part[start:i].lower())
                start = i
        if part:
            found.append(part[start:].lower())
    return found


def snake(name: str) -> str:
    """Return `find_slot` for `FindSlot`, `find-slot` and `findSlot`."""
    return "_".join(words(name))


def camel(name: str) -> str:
    """Return `findSlot`."""
    first, *rest = words(name) or [""]
    return first + "".join(map(_capital, rest))


def pascal(name: str) -> str:
    """Return `FindSlot`."""
    return "".join(map(_capital, words(name)))


def _capital(word: str) -> str:
    return word[:1].upper() + word[1:]
