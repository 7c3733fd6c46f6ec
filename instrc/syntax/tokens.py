"""Tokens, and what strings and numbers among them are worth."""

from __future__ import annotations

import math
import re
import unicodedata

import msgspec

from instrc.limits.programs import INTEGER_DIGITS, REPORTED_MISTAKES
from instrc.problems.problem import Problem
from instrc.source import Source


class Token(msgspec.Struct, frozen=True, gc=False):
    """A word or a sign: the grammar's name for it and the range of its characters."""

    kind: str
    start: int
    end: int
    value: str | None = None
    """What it stands for where its characters do not say it, as after the repair of a mistake."""


_ESCAPES = {'"': '"', "'": "'", "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_SUSPECT = "[\\\\\x00-\x08\x0a-\x1f\ud800-\udfff]"
"""What makes a string worth a second look; a tab is taken as it is."""
_PART = (
    r"\\u(?P<high>[Dd][89ABab][0-9A-Fa-f]{2})\\u(?P<low>[Dd][C-Fc-f][0-9A-Fa-f]{2})"
    r"|\\u(?P<code>[0-9A-Fa-f]{4})"
    r"|\\(?P<letter>.)"
    "|(?P<half>[\ud800-\udfff])"
    "|(?P<control>[\x00-\x08\x0a-\x1f])"
    "|(?P<plain>[^\\\\\x00-\x08\x0a-\x1f\ud800-\udfff]+)"
)


def normal(text: str) -> str:
    """Return a name as it is compared and kept, in NFC: one letter is one letter, however the keyboard made it."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def is_name(text: str) -> bool:
    """Tell whether a run of characters is a name: a Unicode identifier."""
    return normal(text).isidentifier()


def string_value(source: Source, token: Token, problems: list[Problem]) -> str:
    """Return what a string token says; its escapes are those of JSON and a quoted apostrophe."""
    if token.value is not None:
        return token.value
    start = token.start + 1
    body = source.text[start : token.end - 1]
    if (body.isprintable() and "\\" not in body) or not re.search(_SUSPECT, body):
        return body
    from instrc.problems.escapes import BadEscape, LoneSurrogate  # problems are imported where there is one
    from instrc.problems.text import StrayCharacter

    parts: list[str] = []
    for part in re.finditer(_PART, body, re.DOTALL):
        if len(problems) > REPORTED_MISTAKES:
            break
        text = part.group()
        at = source.span(start + part.start(), start + part.end())
        match part.lastgroup:
            case "low":
                high, low = int(part["high"], 16), int(part["low"], 16)
                parts.append(chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00)))
            case "code" if not 0xD800 <= (code := int(part["code"], 16)) <= 0xDFFF:
                parts.append(chr(code))
            case "code" | "half":
                problems.append(LoneSurrogate(at=at))
            case "letter" if text[1] in _ESCAPES:
                parts.append(_ESCAPES[text[1]])
            case "letter":
                problems.append(BadEscape(at=at))
            case "control":
                problems.append(StrayCharacter(at=at, in_string=True))
            case _:
                parts.append(text)
    return "".join(parts)


def number_value(source: Source, token: Token, problems: list[Problem]) -> int | float:
    """Return what a number token says: an exact integer, or a float if it has a fraction or an exponent."""
    if token.value is not None:
        return 0  # a mistake that has been reported
    text = source.text[token.start : token.end]
    if text.removeprefix("-").isdecimal():
        if len(text) <= INTEGER_DIGITS:
            return int(text)
        value = math.inf
    else:
        value = float(text)
    if math.isinf(value):
        from instrc.problems.words import BadNumber  # as above

        problems.append(BadNumber(at=source.span(token.start, token.end), reason="is larger than a number can be here"))
        return 0
    return value


def is_space_in_number(text: str, end: int, start: int) -> bool:
    """Tell whether a space is all between a number and its last three digits: `1 000`."""
    return start - end == 1 and text[end] not in "\r\n" and re.match(r"\d{3}(?!\w)", text[start : start + 4]) is not None


def why_no_number(run: str) -> str:
    """Say what is wrong with characters that look like a number."""
    digits = run.lstrip("+-")
    if not digits.isascii():
        return "has other digits than `0` to `9`, or letters, in it"
    if run.startswith("+"):
        return "has a `+` before it"
    if re.match(r"0[xXbBoO]", digits):
        return "is not decimal"
    if "_" in digits:
        return "has a `_` in it"
    if re.match(r"0\d", digits):
        return "begins with a zero"
    if digits.startswith("."):
        return "has no digit before its point"
    if digits.count(".") > 1:
        return "has two points"
    return "is not finished"
