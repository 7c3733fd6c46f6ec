"""Bytes to source, and text to words: all tokens of a source are matched at once, with one letter for each kind.

The text between two signs thus becomes a short string of letters, such as `CN=N(N);` for `const a = Draft(b);`,
by which the parser looks up its action (`instrc.language.parser`).
"""

from __future__ import annotations

import math
import re
import unicodedata

import msgspec

from instrc import problems
from instrc.problems.problem import Problem
from instrc.problems.report import Report
from instrc.text.limits import INTEGER_DIGITS, PROGRAM_BYTES, REPORTED_MISTAKES
from instrc.text.source import Source


class Token(msgspec.Struct, frozen=True, gc=False):
    """A word or a sign: its name in the grammar and its range."""

    kind: str
    start: int
    end: int
    value: str | None = None
    """Its meaning if that differs from its characters, as after the repair of a mistake."""


_ESCAPES = {'"': '"', "'": "'", "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_SUSPECT = "[\\\\\x00-\x08\x0a-\x1f\ud800-\udfff]"
"""Characters that require a closer check of a string; a tab is allowed as is."""
_PART = (
    r"\\u(?P<high>[Dd][89ABab][0-9A-Fa-f]{2})\\u(?P<low>[Dd][C-Fc-f][0-9A-Fa-f]{2})"
    r"|\\u(?P<code>[0-9A-Fa-f]{4})"
    r"|\\(?P<letter>.)"
    "|(?P<half>[\ud800-\udfff])"
    "|(?P<control>[\x00-\x08\x0a-\x1f])"
    "|(?P<plain>[^\\\\\x00-\x08\x0a-\x1f\ud800-\udfff]+)"
)


def normal(text: str) -> str:
    """Return a name in NFC, the form in which names are compared and stored."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def is_name(text: str) -> bool:
    """Return whether a run of characters is a name: a Unicode identifier."""
    return normal(text).isidentifier()


def string_value(source: Source, token: Token, problems: list[Problem]) -> str:
    """Return the value of a string token, with JSON escapes and escaped apostrophes resolved."""
    if token.value is not None:
        return token.value
    start = token.start + 1
    body = source.text[start : token.end - 1]
    if (body.isprintable() and "\\" not in body) or not re.search(_SUSPECT, body):
        return body
    from instrc.problems.text import BadEscape, LoneSurrogate, StrayCharacter  # imported only to report a problem

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
    """Return the value of a number token: an exact integer, or a float for a fraction or exponent."""
    if token.value is not None:
        return 0  # already reported
    text = source.text[token.start : token.end]
    if text.removeprefix("-").isdecimal():
        if len(text) <= INTEGER_DIGITS:
            return int(text)
        value = math.inf
    else:
        value = float(text)
    if math.isinf(value):
        from instrc.problems.statements import BadNumber  # as above

        problems.append(BadNumber(at=source.span(token.start, token.end), reason="is too large"))
        return 0
    return value


def is_space_in_number(text: str, end: int, start: int) -> bool:
    """Return whether only a space separates a number from its last three digits: `1 000`."""
    return start - end == 1 and text[end] not in "\r\n" and re.match(r"\d{3}(?!\w)", text[start : start + 4]) is not None


def why_no_number(run: str) -> str:
    """Return what is wrong with a run of characters that looks like a number."""
    digits = run.lstrip("+-")
    if not digits.isascii():
        return "contains letters, or digits other than `0` to `9`"
    if run.startswith("+"):
        return "has a `+` before it"
    if re.match(r"0[xXbBoO]", digits):
        return "is not decimal"
    if "_" in digits:
        return "has a `_` in it"
    if re.match(r"0\d", digits):
        return "begins with a zero"
    if digits.startswith("."):
        return "has no digit before the point"
    if digits.count(".") > 1:
        return "has two points"
    return "is not finished"


_BOM = b"\xef\xbb\xbf"


def decode_source(name: str, data: bytes, report: Report, limit: int = PROGRAM_BYTES) -> Source | None:
    """Return the text of a file without its byte order mark, or `None` with a problem if it is too large or not UTF-8.

    To detect a file that is too large, pass one byte more than the limit.
    """
    if len(data) > limit:
        start = Source(name, data[:200].decode("utf-8-sig", "replace"))
        report.add(problems.files.TooLarge(at=start.whole(), what="the source", limit=limit, unit="bytes", setting="source"))
        return None
    text = data.removeprefix(_BOM)
    try:
        return Source(name, text.decode())
    except UnicodeDecodeError as error:
        shown = Source(name, text.decode("utf-8", "replace"))
        place = len(text[: error.start].decode())
        report.add(problems.text.NotUtf8(at=shown.span(place, place + 1)))
        return None
