"""Convert names between styles, and to file names."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache

_PLAIN = r"\$?[^\W\d]\w*"  # patterns are compiled on first use
_SEPARATOR = r"[\W_]+"
_NOT_IN_FILES = r'[<>:"/\\|?*\x00-\x1f\x7f\ud800-\udfff]'
_RESERVED = r"(?i:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])"
"""Names that Windows reserves for devices, with any extension."""
_MOST_RESERVED = len("conout$")
_MOST_IN_FILES = 160
"""Maximum length of a file name without its extension, in bytes: file systems allow 255, and extensions follow."""


def is_plain(name: str) -> bool:
    """Return whether a name needs no quotes in a path: an identifier, optionally after the sign of a metric."""
    return (name.isascii() and name.isidentifier()) or re.fullmatch(_PLAIN, name) is not None


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: `1 run`, `2 runs`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def words(name: str) -> list[str]:
    """Split a name into lower-case words; a name of punctuation only has none."""
    result: list[str] = []
    for part in re.split(_SEPARATOR, unicodedata.normalize("NFC", name)):
        start = 0
        for i in range(1, len(part)):
            before, here = part[i - 1], part[i]
            after = part[i + 1] if i + 1 < len(part) else ""
            if here.isupper() and (not before.isupper() or after.islower()):
                result.append(part[start:i].lower())
                start = i
        if part:
            result.append(part[start:].lower())
    return result


@lru_cache(maxsize=4096)
def snake(name: str) -> str:
    """Return `find_slot` for `FindSlot`, `find-slot` and `findSlot`."""
    return "_".join(words(name))


def camel(name: str) -> str:
    """Return the name in camel case: `findSlot`."""
    first, *rest = words(name) or [""]
    return first + "".join(map(_capital, rest))


def _capital(word: str) -> str:
    return word[:1].upper() + word[1:]


def pascal(name: str) -> str:
    """Return `FindSlot`."""
    return "".join(map(_capital, words(name)))


def readable(name: str) -> str:
    """Return the name of a member as a label: `Order id` for `orderId` and `order_id`; other names are unchanged."""
    return _capital(" ".join(words(name))) if name.isidentifier() and name[0].islower() else name


def file_name(name: str) -> str:
    """Return a file name, without an extension, that every file system accepts; a long one is cut and ends in a digest.

    Characters that Windows refuses become `_`, and one is appended to its reserved names: `con` becomes `con_`.
    """
    plain = name.replace("-", "").replace("_", "").isalnum()  # avoids a pattern for ordinary names
    text = name if plain else re.sub(_NOT_IN_FILES, "_", name).rstrip(". ") or "_"
    data = text.encode()
    if len(data) > _MOST_IN_FILES:
        from hashlib import sha256  # it loads a library of cryptography

        digest = sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
        text = f"{data[: _MOST_IN_FILES - 9].decode(errors='ignore')}-{digest}"
    first, dot, rest = text.partition(".")
    return f"{first}_{dot}{rest}" if is_reserved(text) else text


def is_reserved(name: str) -> bool:
    """Return whether Windows reserves a name for a device, with any extension."""
    stem = name.partition(".")[0]
    return len(stem) <= _MOST_RESERVED and re.fullmatch(_RESERVED, stem) is not None


def free_name(name: str, is_taken: Callable[[str], bool], joint: str = "_", tried: dict[str, int] | None = None) -> str:
    """Return a name that is not taken: itself, else the first of `name_2`, `name_3` and so on.

    `tried` remembers the last number of each name, which keeps many requests for the same name linear.
    """
    free, number = name, 1 if tried is None else tried.get(name, 1)
    while is_taken(free):
        number += 1
        free = f"{name}{joint}{number}"
    if tried is not None and number > 1:
        tried[name] = number
    return free
