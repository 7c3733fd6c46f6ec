"""Bytes to source, and text to words: the tokens of a source, all matched at once, each with one letter for its kind.

The text between two signs is so written as a short string of letters, as `CN=N(N);` for `const a = Draft(b);`,
and the parser's action for equal ones is looked up by it (`instrc.language.parser`).
"""

from __future__ import annotations

import math
import re
import unicodedata
from functools import cache
from itertools import accumulate
from operator import sub

import msgspec

from instrc.language.tables import END, FOLLOWED, Tables, is_followed, tables
from instrc.problems.problem import Problem
from instrc.problems.report import Report
from instrc.text.limits import INTEGER_DIGITS, PROGRAM_BYTES, REPORTED_MISTAKES
from instrc.text.source import Source


class Token(msgspec.Struct, frozen=True, gc=False):
    """A word or a sign: the grammar's name for it and the range of its characters."""

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
    """Return a name in the normal form NFC, in which names are compared and kept."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def is_name(text: str) -> bool:
    """Return whether a run of characters is a name: a Unicode identifier."""
    return normal(text).isidentifier()


def string_value(source: Source, token: Token, problems: list[Problem]) -> str:
    """Return the value of a string token; its escapes are those of JSON and a quoted apostrophe."""
    if token.value is not None:
        return token.value
    start = token.start + 1
    body = source.text[start : token.end - 1]
    if (body.isprintable() and "\\" not in body) or not re.search(_SUSPECT, body):
        return body
    from instrc.problems.text import BadEscape, LoneSurrogate, StrayCharacter  # problems are imported where there is one

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
    """Return the value of a number token: an exact integer, or a float if it has a fraction or an exponent."""
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
        from instrc.problems.statements import BadNumber  # as above

        problems.append(BadNumber(at=source.span(token.start, token.end), reason="is larger than a number can be here"))
        return 0
    return value


def is_space_in_number(text: str, end: int, start: int) -> bool:
    """Return whether a space is all between a number and its last three digits: `1 000`."""
    return start - end == 1 and text[end] not in "\r\n" and re.match(r"\d{3}(?!\w)", text[start : start + 4]) is not None


def why_no_number(run: str) -> str:
    """Return what is wrong with characters that look like a number."""
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


_BOM = b"\xef\xbb\xbf"


def decode_source(name: str, data: bytes, report: Report, limit: int = PROGRAM_BYTES) -> Source | None:
    """Return the text of a file without its byte order mark; `None` with a problem if it is too large or not UTF-8.

    To find out that a file is too large, it is enough to pass one byte more than the limit.
    """
    if len(data) > limit:
        from instrc.problems.files import TooLarge  # problems are imported where there is one

        start = Source(name, data[:200].decode("utf-8-sig", "replace"))
        report.add(TooLarge(at=start.whole(), what="the source", limit=limit, unit="bytes", setting="source"))
        return None
    text = data.removeprefix(_BOM)
    try:
        return Source(name, text.decode())
    except UnicodeDecodeError as error:
        from instrc.problems.text import NotUtf8  # as above

        shown = Source(name, text.decode("utf-8", "replace"))
        place = len(text[: error.start].decode())
        report.add(NotUtf8(at=shown.span(place, place + 1)))
        return None


COMMENT = "/"
"""Letter for a comment."""
SIGNS = {"LPAR": 1, "LSQB": 1, "LBRACE": 1, "RPAR": -1, "RSQB": -1, "RBRACE": -1}
SIGNS |= dict.fromkeys(("SEMICOLON", "EQUAL", "VBAR", "AT", "COMMA", "COLON", "DOT"), 0)
"""Tokens whose text says nothing more than their kind, with the levels of nesting they open."""
_FIRST = {
    '"': "STRING",
    "'": "STRING",
    "/": "COMMENT",
    "$": "METRIC",
    **dict.fromkeys("-0123456789", "NUMBER"),
    "<": "COMPARE",
    ">": "COMPARE",
}
"""Kinds of tokens that their first character determines."""
_SMALL = "abcdefghijklmnopqrstuvwxyz"  # to import `string` compiles the pattern of its templates


class Words(msgspec.Struct, frozen=True, gc=False):
    """The words of a part of a source."""

    letters: str
    """Letters of their kinds."""
    written: list[str]
    starts: list[int]
    ends: list[int]
    """End offsets: of the word before the first one, then of each word."""

    @property
    def runs(self) -> list[str]:
        """The letters as they are matched at once: up to a sign that ends a construct, a comment alone."""
        letters = self.letters.replace(COMMENT, f" {COMMENT} ")
        for sign in ";,|{})":
            letters = letters.replace(sign, f"{sign} ")
        return letters.replace(") ;", ");").replace(") ,", "),").split()


@cache
def letters() -> dict[str, str]:
    """Return the letter of each kind of token: a sign is its own."""
    automaton = tables()
    signs = {kind: written for written, kind in automaton.fixed.items() if kind in SIGNS}
    others = sorted({*automaton.fixed.values(), *automaton.patterns, END} - signs.keys() - {"COMMENT"})
    return {**signs, **dict(zip(others, _SMALL + _SMALL.upper(), strict=False)), "COMMENT": COMMENT, "STRAY": "?"}


@cache
def _followed() -> dict[str, str]:
    """Return the words that are names unless something certain comes next, by their letters."""
    return {letters()[kind]: kind for kind in FOLLOWED}


class _Letters(dict[str, str]):
    """The letter of each word's kind, in written order."""

    def __init__(self, automaton: Tables) -> None:
        self._patterns = automaton.patterns
        self._of = letters()
        self._name = self._of["NAME"]
        super().__init__({written: self._of[kind] for written, kind in automaton.fixed.items()})

    def __missing__(self, written: str) -> str:
        letter = self[written] = self._name if written.isidentifier() else self._of[self._kind(written)]
        return letter

    def _kind(self, written: str) -> str:
        """Return the kind of a token that is neither a keyword nor an ordinary name."""
        if not written:
            return END
        kind = _FIRST.get(written[0])
        if kind is None:
            if is_name(written):
                return "NAME"
            kind = "AUG_URI"
        return kind if re.fullmatch(self._patterns[kind], written) else "STRAY"


class Reader:
    """The words of one text."""

    def __init__(self, automaton: Tables, text: str) -> None:
        self._text = text
        self._position = 0
        self._pattern = re.compile(automaton.words)
        self._number = automaton.patterns["NUMBER"]
        self._letters = _Letters(automaton)

    def rest(self, position: int) -> Words:
        """Return all words from an offset on."""
        return self._words(self._pattern.findall(self._text, position), position, position)

    def name(self, words: Words, number: int) -> Words:
        """Return one of some words as a name: `aug` alone of what looks like a reference, so that the next word follows it."""
        start = words.starts[number]
        self._position = start + len("aug")
        return Words(letters()["NAME"], [self._text[start : self._position]], [start], [words.ends[number], self._position])

    def next(self, end: int) -> Words:
        """Return the next word; what was read before it ends at `end`."""
        found = self._pattern.match(self._text, self._position).group()  # type: ignore[union-attr]  # it matches everywhere
        words = self._words([found], self._position, end)
        self._position += len(found)
        return words

    def _words(self, found: list[str], position: int, end: int) -> Words:
        """Return adjacent words, with the white space before each."""
        written = list(map(str.lstrip, found))
        ends = list(accumulate(map(len, found), initial=position))
        starts = list(map(sub, ends[1:], map(len, written)))
        ends[0] = end
        kinds = "".join(map(self._letters.__getitem__, written))
        for letter, kind in _followed().items():
            if letter in kinds:
                places = [
                    at for at, each in enumerate(kinds) if each == letter and not is_followed(kind, self._text, ends[at + 1])
                ]
                kinds = "".join(letters()["NAME"] if at in places else each for at, each in enumerate(kinds))
        last = kinds.rstrip(letters()[END])
        if last.endswith(letters()["NUMBER"]) and not re.compile(self._number).match(self._text, starts[len(last) - 1]):
            kinds = last[:-1] + letters()["STRAY"]  # as in `find-2`: what follows a word directly is no number
        return Words(kinds, written, starts, ends)
