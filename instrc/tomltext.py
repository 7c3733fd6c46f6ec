"""Read TOML text; the reader of the standard library, with its limits said in our words."""

from __future__ import annotations

import re

_PART = r"""(?:[\w-]+|"[^"\n]*"|'[^'\n]*')"""
_DOTTED = rf"{_PART}(?:[ \t]*\.[ \t]*{_PART}){{9,}}"
_MOST_STEPS = 10_000_000
"""About a third of a second; the reader takes a step for each part of a key and each part before it."""


class TomlError(ValueError):
    """A text that cannot be read as TOML: `reason` is a clause, `line` and `column` count from 1 where the place is known."""

    def __init__(self, reason: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line
        self.column = column


def read_toml(text: str) -> dict[str, object]:
    """Return what a text says; a `TomlError` if it is not TOML, or cannot be read in a moment."""
    import tomllib  # few runs need it

    dotted = "\n".join(line for line in text.split("\n") if line.count(".") >= 9)
    if dotted and sum((found[0].count(".") + 1) ** 2 for found in re.finditer(_DOTTED, dotted)) > _MOST_STEPS:
        reason = "it has keys of too many parts"
        raise TomlError(reason)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _placed(text, str(error)) from None
    except (RecursionError, ValueError) as error:
        reason = "it nests too deeply" if isinstance(error, RecursionError) else "it holds a number that is too long"
        raise TomlError(reason) from None


def _placed(text: str, message: str) -> TomlError:
    place = re.search(r" \(at (?:line (\d+), column (\d+)|end of document)\)$", message)
    reason = message[: place.start()] if place else message
    reason = reason[:1].lower() + reason[1:]
    if place is None:
        return TomlError(reason)
    if place[1]:
        return TomlError(reason, int(place[1]), int(place[2]))
    lines = text.split("\n")
    return TomlError(reason, len(lines), len(lines[-1]) + 1)
