r"""Translate ECMA 262 regular expressions to RE2 and to the `regex` library.

Constructs that engines treat differently are expanded: `\s` and `.` know the spaces and line ends of Unicode, `$` is the
end of the text only, `[` in a class and `{` that repeats nothing are characters, and so are `\u0041`, `\cA` and surrogate
pairs; `\p{Letter}` and `\p{Script=Greek}` are abbreviated.
The anchors `\A` and `\Z` and flags such as `(?i)` from other languages are supported too.
"""

from __future__ import annotations

import re
from functools import lru_cache

from msgspec import Struct, field

SPACES = r"\x09-\x0d\x20\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
NO_SPACES = (
    r"\x00-\x08\x0e-\x1f\x21-\x9f\xa1-\u167f\u1681-\u1fff\u200b-\u2027\u202a-\u202e"
    r"\u2030-\u205e\u2060-\u2fff\u3001-\ufefe\uff00-\U0010ffff"
)
CLASSES = {
    "d": "0-9",
    "D": r"\x00-\x2f\x3a-\U0010ffff",
    "w": "0-9A-Z_a-z",
    "W": r"\x00-\x2f\x3a-\x40\x5b-\x5e\x60\x7b-\U0010ffff",
    "s": SPACES,
    "S": NO_SPACES,
}
NOT_A_LINE_END = r"[^\x0a\x0d\u2028\u2029]"
CONTROLS = {"f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "0": "\0"}
SYNTAX = frozenset("^$\\.*+?()[]{}|/-")
REPEAT = r"\{([0-9]{1,9})(?:(,)([0-9]{0,9}))?\}"
GROUP = (
    r"\(\?(?:(?P<atomic>>)|(?P<look><?[=!])|P?<(?P<name>[^\W\d]\w*)>"
    r"|(?P<flags>[aimsu]*(?:-[ims]+)?)(?P<open>[:)]))"
)
ESCAPE = (
    r"(?s)\\(?:u\{(?P<braced>[0-9A-Fa-f]{1,8})\}"
    r"|u(?P<pair>[dD][89abAB][0-9A-Fa-f]{2}\\u[dD][c-fC-F][0-9A-Fa-f]{2})|u(?P<four>[0-9A-Fa-f]{4})|x(?P<two>[0-9A-Fa-f]{2})"
    r"|c(?P<control>[A-Za-z])|(?P<sign>[pP])(?:\{(?P<property>\^?[\w=]{1,80})\}|(?P<letter>[A-Z]))"
    r"|k<(?P<named>[^\W\d]\w*)>|(?P<number>[1-9][0-9]*)|(?P<other>.))"
)
CATEGORIES: dict[str, str] = dict(
    re.findall(
        r"(\w+) (\w+)",
        """
        Letter L  Cased_Letter LC  Uppercase_Letter Lu  Lowercase_Letter Ll  Titlecase_Letter Lt  Modifier_Letter Lm
        Other_Letter Lo  Mark M  Combining_Mark M  Nonspacing_Mark Mn  Spacing_Mark Mc  Enclosing_Mark Me  Number N
        Decimal_Number Nd  digit Nd  Letter_Number Nl  Other_Number No  Punctuation P  punct P  Connector_Punctuation Pc
        Dash_Punctuation Pd  Open_Punctuation Ps  Close_Punctuation Pe  Initial_Punctuation Pi  Final_Punctuation Pf
        Other_Punctuation Po  Symbol S  Math_Symbol Sm  Currency_Symbol Sc  Modifier_Symbol Sk  Other_Symbol So  Separator Z
        Space_Separator Zs  Line_Separator Zl  Paragraph_Separator Zp  Other C  Control Cc  cntrl Cc  Format Cf
        Surrogate Cs  Private_Use Co  Unassigned Cn
        """,
    )
)
"""General categories of Unicode by their long names."""


class Unreadable(Exception):  # noqa: N818  -- a fact about a pattern, not a failure
    """A pattern that is not a regular expression; the text says why."""


class Translated(Struct, frozen=True):
    """One pattern for two engines."""

    re2: str
    regex: str
    backtracks: bool
    """Whether the pattern needs backtracking, which RE2 lacks."""


@lru_cache(maxsize=512)
def translate(pattern: str) -> Translated:
    """Translate a pattern to RE2 and to the `regex` library; raise `Unreadable` if it is not a regular expression."""
    return _Reader(pattern).read()


_END, _WORD_EDGE, _NO_WORD_EDGE = "\x00", "\x01", "\x02"
"""Placeholders in a text until its engine is known; the signs of a pattern are already written as escapes."""
_EDGE = "(?:(?<=[0-9A-Z_a-z])(?![0-9A-Z_a-z])|(?<![0-9A-Z_a-z])(?=[0-9A-Z_a-z]))"
"""Boundary of a word of ASCII letters, for engines whose `\b` follows Unicode."""


class _Reader(Struct):
    """Parses a pattern and writes it in the common syntax of both engines."""

    pattern: str
    at: int = 0
    out: list[str] = field(default_factory=list)
    depth: int = 0
    may_repeat: bool = False
    """Whether an expression precedes that a `*` can repeat."""
    backtracks: bool = False
    foreign: bool = False
    """Whether the pattern uses syntax that ECMA 262 lacks."""
    lines: bool = False
    """Whether `^` and `$` match at each line."""
    dot: str = NOT_A_LINE_END

    def read(self) -> Translated:
        """Return the translation."""
        while self.at < len(self.pattern):
            self._step(self.pattern[self.at])
        if self.depth:
            raise Unreadable("a parenthesis is not closed")
        text = "".join(self.out)
        for_regex = text.replace(_END, r"\Z").replace(_WORD_EDGE, _EDGE).replace(_NO_WORD_EDGE, f"(?!{_EDGE})")
        text = text.replace(_END, r"\z").replace(_WORD_EDGE, r"\b").replace(_NO_WORD_EDGE, r"\B")
        for_re2 = re.sub(_WIDE, lambda found: f"\\x{{{found[1] or found[2]}}}", text)
        return Translated(for_re2, for_regex, self.backtracks)

    def _put(self, text: str, length: int, *, may_repeat: bool = True) -> None:
        self.out.append(text)
        self.at += length
        self.may_repeat = may_repeat

    def _step(self, sign: str) -> None:
        match sign:
            case "\\":
                self._escape()
            case "[":
                self._class()
            case "(":
                self._open()
            case ")":
                if not self.depth:
                    raise Unreadable("a parenthesis is closed that was not opened")
                self.depth -= 1
                self._put(")", 1)
            case "." | "^" | "|":
                self._put(self.dot if sign == "." else sign, 1, may_repeat=sign == ".")
            case "$":
                self._put("$" if self.lines else _END, 1, may_repeat=False)
            case "*" | "+" | "?":
                self._repeat(sign)
            case "{" if found := re.compile(REPEAT).match(self.pattern, self.at):
                self._repeat(found[0])
            case _:
                self._put(_character(ord(sign)), 1)

    def _repeat(self, sign: str) -> None:
        if not self.may_repeat:
            raise Unreadable(f"there is nothing before `{sign}` that could be repeated")
        if (match := re.fullmatch(REPEAT, sign)) and match[3] and int(match[1]) > int(match[3]):
            raise Unreadable(f"the bounds in `{sign}` are in the wrong order")
        self._put(sign, len(sign), may_repeat=False)
        following = self.pattern[self.at : self.at + 1]
        if following == "?":
            self._put("?", 1, may_repeat=False)
        elif following == "+":  # possessive, from other languages
            self.foreign = self.backtracks = True
            self._put("+", 1, may_repeat=False)

    def _open(self) -> None:
        self.depth += 1
        if not self.pattern.startswith("(?", self.at):
            self._put("(", 1, may_repeat=False)
            return
        found = re.compile(GROUP).match(self.pattern, self.at)
        if found is None:
            raise Unreadable("a group in it begins with characters that ECMA 262 does not define")
        if found["atomic"]:
            self.foreign = self.backtracks = True
            self._put("(?>", 3, may_repeat=False)
        elif found["look"]:
            self.backtracks = True
            self._put(found[0], len(found[0]), may_repeat=False)
        elif found["name"]:
            self._put(f"(?P<{found['name']}>", len(found[0]), may_repeat=False)
        else:
            self._flags(found)

    def _flags(self, found: re.Match[str]) -> None:
        """Parse `(?:`, and flags for the rest or for a group: `(?i)`, `(?s-i:`."""
        flags = found["flags"].replace("a", "").replace("u", "")  # Python's words for whether Unicode counts
        self.foreign = self.foreign or found["open"] == ")" or flags != found["flags"]
        on = flags.partition("-")[0]
        self.lines = self.lines or "m" in on
        self.dot = r"(?s:.)" if "s" in on else self.dot
        if found["open"] == ")":
            self.depth -= 1
        self._put(f"(?{flags}{found['open']}" if flags or found["open"] == ":" else "", len(found[0]), may_repeat=False)

    def _escape(self) -> None:
        found = re.compile(ESCAPE).match(self.pattern, self.at)
        if found is None:
            raise Unreadable("it ends in a backslash")
        other = found["other"]
        length = len(found[0])
        if found["number"]:
            self.backtracks = True
            self._put(f"(?:\\{found['number']})", length)
        elif found["named"]:
            self.backtracks = True
            self._put(f"(?P={found['named']})", length)
        elif other in {"b", "B"}:
            self._put(_WORD_EDGE if other == "b" else _NO_WORD_EDGE, length, may_repeat=False)
        elif other in {"A", "Z", "z"}:
            self.foreign = True
            self._put(r"\A" if other == "A" else _END, length, may_repeat=False)
        elif other is not None and other in CLASSES:
            self._put(f"[{CLASSES[other]}]", length)
        else:
            self._put(self._one(found), length)

    def _one(self, found: re.Match[str]) -> str:
        """Return the character, or the character property, of an escape."""
        if number := found["braced"] or found["four"] or found["two"]:
            return _character(int(number, 16))
        if pair := found["pair"]:
            return _character(0x10000 + ((int(pair[:4], 16) - 0xD800) << 10) + int(pair[6:], 16) - 0xDC00)
        if control := found["control"]:
            return _character(ord(control) % 32)
        if found["sign"]:
            return self._property(found["sign"], found["property"] or found["letter"])
        other: str = found["other"]
        if other in CONTROLS:
            return _character(ord(CONTROLS[other]))
        self.foreign = self.foreign or other not in SYNTAX
        return _character(ord(other))

    def _property(self, sign: str, name: str) -> str:
        kind, equals, value = name.partition("=")
        self.foreign = self.foreign or name.startswith("^")
        if equals and kind in {"Script", "sc", "General_Category", "gc"}:
            name = value
        elif equals:
            self.backtracks = True  # `Script_Extensions`: the other engine may know it
        name = CATEGORIES.get(name, name)
        return f"\\{sign}{{{name}}}"

    def _class(self) -> None:
        """Parse a character class."""
        self.at += 1
        negated = self.pattern.startswith("^", self.at)
        self.at += negated
        items: list[str] = []
        while not self.pattern.startswith("]", self.at):
            items.append(self._item())
        if not items:
            self._put(r"[\x00-\U0010ffff]" if negated else r"[^\x00-\U0010ffff]", 1)
        else:
            self._put(f"[{'^' * negated}{''.join(items)}]", 1)

    def _item(self) -> str:
        """Return the next member of a class: a character, a range, or several for one escape."""
        first, is_one = self._member()
        if not is_one or not self.pattern.startswith("-", self.at) or self.pattern.startswith("-]", self.at):
            return first
        at = self.at
        self.at += 1
        last, is_one = self._member()
        if not is_one:  # `[a-\d]`: three members
            self.at = at
            return first
        if _code(first) > _code(last):
            raise Unreadable("a range in it is in the wrong order")
        return f"{first}-{last}"

    def _member(self) -> tuple[str, bool]:
        """Return one member of a class, and whether it is one character."""
        if self.at >= len(self.pattern):
            raise Unreadable("a character class is not closed")
        sign = self.pattern[self.at]
        if sign != "\\":
            self.at += 1
            return _character(ord(sign)), True
        found = re.compile(ESCAPE).match(self.pattern, self.at)
        if found is None:
            raise Unreadable("it ends in a backslash")
        self.at += len(found[0])
        other = found["other"]
        if other in CLASSES:
            return CLASSES[other], False
        if other == "b":
            return _character(8), True
        if found["number"] or found["named"]:
            self.foreign = True
            return "".join(_character(ord(item)) for item in found[0][1:]), False
        return self._one(found), not found["sign"]


_WIDE = r"\\u([0-9a-f]{4})|\\U([0-9a-f]{8})"


def _character(code: int) -> str:
    """Return a character in the syntax of both engines, inside and outside of a class."""
    if code > 0x10FFFF:
        raise Unreadable("it names a character beyond Unicode")
    if 0xD800 <= code <= 0xDFFF:
        code = 0xFFFD  # half of a pair is not a character
    if chr(code).isascii() and chr(code).isalnum():
        return chr(code)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _code(text: str) -> int:
    return ord(text) if len(text) == 1 else int(text.lstrip("\\xuU"), base=16)  # `\u0430`


def is_ecmascript(pattern: str) -> bool:
    """Return whether a pattern uses only ECMA 262 with the `u` flag: no escapes, flags and anchors of other languages."""
    reader = _Reader(pattern)
    try:
        reader.read()
    except Unreadable:
        return False
    return not reader.foreign
