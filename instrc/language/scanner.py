"""Tokens of a malformed source: mistakes in characters and words are named and repaired.

A repaired token has its probably intended value, so that the rest is parsed as usual.
Operators of other languages become the tokens `ARROW`, `COMPARISON` and `OPERATOR`, which no rule of the grammar accepts:
their intended meaning depends on their context.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from instrc.language.lexer import Token, is_name, is_space_in_number, why_no_number
from instrc.language.tables import END, Tables
from instrc.problems.blocks import BadDuration
from instrc.problems.habits import MissingScheme, NestedQuotes
from instrc.problems.problem import Problem
from instrc.problems.statements import BadName, BadNumber
from instrc.problems.text import (
    HashComment,
    MarkdownFence,
    SmartQuote,
    StrayCharacter,
    TemplateString,
    UnclosedComment,
    UnclosedString,
)
from instrc.text.durations import from_words
from instrc.text.limits import REPORTED_MISTAKES
from instrc.text.source import Source, Span


class Scanner:
    """The tokens and comments of a source from an offset on, with the problems found."""

    def __init__(self, source: Source, automaton: Tables) -> None:
        self.source = source
        self.text: str = source.text
        self.automaton = automaton
        self.position: int = 0
        self.done: bool = False
        self.tokens: list[Token] = []
        self.comments: list[Span] = []
        self.problems: list[Problem] = []
        self.spoilt: list[tuple[int, int]] = []
        """Ranges whose structure is lost in a string or comment that does not end: further complaints there are idle."""

    def need(self, count: int) -> None:
        """Scan until there are `count` tokens, or until `END`."""
        while len(self.tokens) < count and not self.done:
            self.position = _SPACE.match(self.text, self.position).end()  # type: ignore[union-attr]  # matches everywhere
            if self.position >= len(self.text) or len(self.problems) > REPORTED_MISTAKES:
                self.done = True
                self._take(END, len(self.text), len(self.text))
            else:
                self.position = self._next(self.position)

    def back_to(self, index: int, place: int) -> None:
        """Discard the lookahead: tokens from an index on, and the text from an offset on."""
        del self.tokens[index:]
        self.comments[:] = [span for span in self.comments if span.start < place]
        self.problems[:] = [problem for problem in self.problems if problem.at is not None and problem.at.start < place]
        if self.problems and isinstance(last := self.problems[-1], StrayCharacter):
            self.problems[-1] = last.before(place)
        self.spoilt[:] = [(start, end) for start, end in self.spoilt if end > place]
        self.position = place
        self.done = False

    def forget(self, start: int, end: int) -> None:
        """Remove the mistakes between two offsets."""
        self.problems[:] = [problem for problem in self.problems if problem.at is None or not start <= problem.at.start < end]

    def finish(self, index: int) -> None:
        """End the source before a token."""
        del self.tokens[index:]
        self.done = True
        self._take(END, len(self.text), len(self.text))

    def _next(self, start: int) -> int:
        """Scan one token; return its end."""
        if self.text.startswith("<!--", start):
            self.problems.append(HashComment(at=self.source.span(start, start + 4)))
            end = self.text.find("-->", start)
            return end + 3 if end >= 0 else line_end_of(self.text, start)
        if path := _FILE_LIKE.match(self.text, start):
            return self._path(start, path.end())
        if foreign := FOREIGN_OPERATOR.match(self.text, start):
            self._take(foreign.lastgroup or "", start, foreign.end())
            return foreign.end()
        if self.text.startswith("--", start) and not self.text[start + 2 : start + 3].isalnum():
            return self._hash(start, "--")
        kind, _, end = self.automaton.token(self.text, start)
        match kind:
            case "COMMENT":
                self.comments.append(self.source.span(start, end))
            case "NAME":
                return self._name(start, end)
            case "STRAY":
                return self._stray(start)
            case "DOT" if (number := _NUMBER_LIKE.match(self.text, start)) and not self._touches(start):
                return self._number(start, number.end())
            case _:
                self._take(kind, start, end)
        return end

    def _touches(self, start: int) -> bool:
        """Return whether a value ends where another token starts."""
        return bool(self.tokens) and self.tokens[-1].end == start and self.tokens[-1].kind in _VALUES

    def _take(self, kind: str, start: int, end: int, value: str | None = None) -> None:
        self.tokens.append(Token(kind, start, end, value))

    def _name(self, start: int, end: int) -> int:
        """Scan a name, or the part of the run that is one."""
        run = self.text[start:end]
        if not run[0].isidentifier():
            return self._stray(start)
        if not is_name(run):
            length = next((index for index, letter in enumerate(run) if not f"a{letter}".isidentifier()), len(run))
            end = start + length
        if path := _PATH_LIKE.match(self.text, start):
            return self._path(start, path.end())
        if slip := _NAME_LIKE.match(self.text, end):
            written = self.text[start : slip.end()]
            instead = written.replace("-", "_")
            self.problems.append(BadName(at=self.source.span(start, slip.end()), written=written, instead=instead))
            self._take("NAME", start, slip.end(), instead)
            return slip.end()
        self._take("NAME", start, end)
        return end

    def _path(self, start: int, end: int) -> int:
        """Scan a file path as the name of the vibe in it."""
        self.problems.append(MissingScheme(at=self.source.span(start, end), path=self.text[start:end]))
        self._take("NAME", start, end, "path")
        return end

    def _stray(self, start: int) -> int:
        """Handle a character that begins no token."""
        letter = self.text[start]
        at = self.source.span(start, start + 1)
        if letter in "\"'":
            return self._string(start, open_string(self.source, start, self.tokens))
        if letter in QUOTES:
            return self._string(start, smart_string(self.source, start))
        if self.text.startswith(("```", "~~~"), start):
            return self._fence(start)
        if letter == "`":
            return self._string(start, string_in_backticks(self.source, start))
        if letter == "#" or (letter == "№" and self.text[start + 1 : line_end_of(self.text, start)].strip()):
            return self._hash(start, letter)
        if self.text.startswith("/*", start):
            self.problems.append(UnclosedComment(at=self.source.span(start, start + 2)))
            self.spoilt.append((start, len(self.text)))
            return len(self.text)
        if number := _NUMBER_LIKE.match(self.text, start):
            return self._number(start, number.end())
        instead = LOOKALIKES.get(letter)
        if instead is not None and (instead != "." or self._joins_words(start)):
            self._lookalike(StrayCharacter(at=at, instead=instead))
            self._take(SIGN_KINDS[instead], start, start + 1)
            return start + 1
        if letter in DASHES and self.text[start + 1 : start + 2].isdecimal() and not self._touches(start):
            self.problems.append(StrayCharacter(at=at, instead="-"))
            return start + 1
        if letter in OPERATORS:
            self._take("OPERATOR", start, start + 1)
            return start + 1
        self.problems.append(StrayCharacter(at=at))
        end = start + 1
        while end < len(self.text) and self._is_stray(self.text[end]):
            end += 1
        self.spoilt.append((start, end))
        return end

    def _joins_words(self, start: int) -> bool:
        """Return whether a character is inside a path, between a value and a name."""
        return self._touches(start) and self.text[start + 1 : start + 2].isidentifier()

    def _lookalike(self, sign: StrayCharacter) -> None:
        """Report a sign that resembles one of the language; several on one line are one mistake."""
        last = self.problems[-1] if self.problems else None
        joined = last.joined_with(sign) if isinstance(last, StrayCharacter) else None
        if joined is None:
            self.problems.append(sign)
        else:
            self.problems[-1] = joined

    def _is_stray(self, letter: str) -> bool:
        """Return whether a character only continues a run of stray ones."""
        known = letter.isspace() or letter in QUOTES or letter in LOOKALIKES or (letter.isascii() and letter.isprintable())
        return not known and not letter.isidentifier()

    def _string(self, start: int, found: ReadString) -> int:
        """Scan a malformed string."""
        self.problems += found.problems
        if found.spoils_line:
            line_start = max(self.text.rfind("\n", 0, start), self.text.rfind("\r", 0, start)) + 1
            self.spoilt.append((line_start, line_end_of(self.text, start)))
        self._take("STRING", start, found.end, found.value)
        return found.end

    def _fence(self, start: int) -> int:
        """Skip the line of a Markdown fence; several of them are one mistake."""
        if not any(isinstance(problem, MarkdownFence) for problem in self.problems):
            self.problems.append(MarkdownFence(at=self.source.span(start, start + 3)))
        return line_end_of(self.text, start)

    def _hash(self, start: int, sign: str = "#") -> int:
        """Skip a comment and its continuation lines: a block of them is one mistake."""
        self.problems.append(HashComment(at=self.source.span(start, start + len(sign))))
        while True:
            end = line_end_of(self.text, start)
            start = _SPACE.match(self.text, end).end()  # type: ignore[union-attr]  # matches everywhere
            if not self.text.startswith(sign, start):
                return end

    def _number(self, start: int, end: int) -> int:
        run = self.text[start:end]
        at = self.source.span(start, end)
        digits = run.lstrip("+-")
        before = [token.kind for token in self.tokens[-2:]]
        if run[0].isdigit() and before in (["NAME", "DOT"], ["RPAR", "DOT"]):  # `people.0.name`, `Identify(x).0.name`
            end = start + len(run) - len(run.lstrip("0123456789"))
            self._take("NUMBER", start, end, "0")
            return end
        if self._touches(start) and run[0] in "+-":  # an operator
            self._take("OPERATOR", start, start + 1)
            return start + 1
        if re.fullmatch(r"\d+(?![xXbBoO_])[^\W\d]\w*", digits) and not re.fullmatch(r"\d+[eE]\d*", digits):
            if before and before[-1] in _BEFORE_DURATION and (duration := from_words(run)):
                self.problems.append(BadDuration(at=at, written=run, instead=duration))
                self._take("STRING", start, end, duration)
                return end
            self.problems.append(BadName(at=at, written=run))
            self._take("NAME", start, end, f"_{digits}")
            return end
        if self.tokens and self.tokens[-1].kind == "NUMBER" and is_space_in_number(self.text, self.tokens[-1].end, start):
            first = self.tokens.pop().start
            self.problems.append(BadNumber(at=self.source.span(first, end), reason="has a space in it"))
            self._take("NUMBER", first, end, "0")
            return end
        self.problems.append(BadNumber(at=at, reason=why_no_number(run)))
        self._take("NUMBER", start, end, "0")
        return end


STRING_LINES: Final = 20
"""Maximum lines in which the end of an open string is looked for."""


LOOKALIKES = dict(zip("（）［］｛｝，；：｜＝＠．、。∣❘❙❚¦│┃⎮⏐‖", "()[]{},;:|=@.,.||||||||||", strict=True))
"""Characters that resemble a sign of the language."""
SIGN_KINDS = {"(": "LPAR", ")": "RPAR", "[": "LSQB", "]": "RSQB", "{": "LBRACE", "}": "RBRACE"}
SIGN_KINDS |= {",": "COMMA", ";": "SEMICOLON", ":": "COLON", "|": "VBAR", "=": "EQUAL", "@": "AT", ".": "DOT"}
DASHES = "−–—‐‑‒―"
"""Signs that resemble `-`: of a number, of a list, between two stages."""
OPERATORS = frozenset("-+*/%<>!?&^~$\\.,≥≤≠") | frozenset(DASHES)
"""Characters that are operators in other languages."""
FOREIGN_OPERATOR = re.compile(
    r"(?P<COMPARISON>===?|!==?|:=)|(?P<ARROW>--?>|=>|<-|\|>|>>|[→⇒➔➜⟶⟹])|"
    r"(?P<OPERATOR>&&|\?\?|\?\.(?!\d)|\.\.\.?|\+\+|\*\*|::)"
)
"""Operator of another language that consists of several signs, or of one that the language lacks."""


DOUBLE = "“”„‟«»〝〞「」『』＂"
_LIKE_SINGLE = "‘’‚‛‹›＇"
QUOTES = frozenset(DOUBLE + _LIKE_SINGLE)
"""Typographic quotes."""
DOUBLE_END = re.compile(rf'[^{DOUBLE}"\r\n]*[{DOUBLE}"]')
DOUBLE_SMART = re.compile(rf"[^{DOUBLE}\r\n]*[{DOUBLE}]")
_APOSTROPHE = r"(?<=\w)’(?=\w)"
SINGLE_SMART = re.compile(rf"[^{_LIKE_SINGLE}\r\n]*(?:{_APOSTROPHE}[^{_LIKE_SINGLE}\r\n]*)*[{_LIKE_SINGLE}]")
SINGLE_END = re.compile(rf"[^{_LIKE_SINGLE}'\r\n]*(?:{_APOSTROPHE}[^{_LIKE_SINGLE}'\r\n]*)*[{_LIKE_SINGLE}']")
_LINE_END = re.compile(r"[\r\n]|\Z")


def line_end_of(text: str, position: int) -> int:
    """Return the end of the line that contains an offset."""
    return _LINE_END.search(text, position).start()  # type: ignore[union-attr]  # end of the text


def later_end(text: str, quote: str, line_end: int) -> int | None:
    """Return the end of a multi-line string; a later quote ends it if it has no partner on its own line."""
    for _ in range(STRING_LINES):
        start = line_end + (2 if text.startswith("\r\n", line_end) else 1)
        line_end = line_end_of(text, start) if start < len(text) else start
        line = text[start:line_end]
        if quote in line:
            return start + line.index(quote) + 1 if line.count(quote) % 2 else None
        if not line.strip():
            return None
    return None


_ENDS_WITH_SIGN = re.compile(r"[:,({\[|=]\s*[\"']\Z")
_AFTER_STRINGS = " \t)]};,"
"""Characters that close the brackets around an unterminated string."""


class ReadString(NamedTuple):
    """A string with its probably intended value."""

    end: int
    value: str
    problems: tuple[Problem, ...]
    spoils_line: bool = False
    """Whether its end on the line is unknown, so that further problems there are not reported."""


def open_string(source: Source, start: int, before: Sequence[Token]) -> ReadString:
    """Scan a string without an end on its line: up to a typographic quote, a later line, or this line's closing brackets.

    `before` has the preceding tokens.
    """
    text = source.text
    quote = text[start]
    smart = DOUBLE_SMART if quote == '"' else SINGLE_SMART
    if found := smart.match(text, start + 1):
        last = found.end() - 1
        return ReadString(last + 1, text[start + 1 : last], (SmartQuote(at=source.span(last, last + 1)),))
    line_end = line_end_of(text, start)
    if nested := _ending_quote(source, start, before):
        return ReadString(line_end, text[start + 1 : line_end], (NestedQuotes(at=nested),), spoils_line=True)
    if end := later_end(text, quote, line_end):
        return ReadString(end, text[start + 1 : end - 1], (UnclosedString(at=source.span(start, line_end), goes_on=True),))
    end = _end_on_line(text, start, line_end)
    return ReadString(end, text[start + 1 : end], (UnclosedString(at=source.span(start, end)),), spoils_line=True)


def smart_string(source: Source, start: int) -> ReadString:
    """Scan a string that begins with a typographic quote, up to any similar quote."""
    text = source.text
    at = source.span(start, start + 1)
    closer = DOUBLE_END if text[start] in DOUBLE else SINGLE_END
    if found := closer.match(text, start + 1):
        last = found.end() - 1
        closing = source.span(last, last + 1) if text[last] in QUOTES else None
        return ReadString(found.end(), text[start + 1 : last], (SmartQuote(at=at, closing=closing),))
    end = _end_on_line(text, start, line_end_of(text, start))
    return ReadString(end, text[start + 1 : end], (SmartQuote(at=at),), spoils_line=True)


def string_in_backticks(source: Source, start: int) -> ReadString:
    """Scan a string in backticks, up to the next backtick, or else to the end of its line."""
    text = source.text
    problem = TemplateString(at=source.span(start, start + 1))
    if end := text.find("`", start + 1) + 1:
        return ReadString(end, text[start + 1 : end].rstrip("`"), (problem,))
    end = line_end_of(text, start)
    return ReadString(end, text[start + 1 : end].rstrip("`"), (problem,), spoils_line=True)


def _end_on_line(text: str, start: int, line_end: int) -> int:
    """Return where an unterminated string stops: before the brackets and signs that close its line."""
    return start + 1 + len(text[start + 1 : line_end].rstrip(_AFTER_STRINGS))


def _ending_quote(source: Source, start: int, before: Sequence[Token]) -> Span | None:
    """Return the quote that ended a string too early, such as the second one of `'it's'`."""
    if len(before) < 2:
        return None
    text = source.text
    string, name = before[-2:]
    quoted = string.kind == "STRING" and name.kind == "NAME" and string.end == name.start
    if quoted and _ENDS_WITH_SIGN.search(text, string.start, string.end):  # `"x, b: "y"`: a quote is missing
        return None
    same = quoted and text[string.end - 1] == text[start] and "\n" not in text[name.end : start]
    return source.span(string.end - 1, string.end) if same else None


_SPACE = re.compile(r"\s*")
_BEFORE_DURATION = {"COLON", "NAME", "AT", "COMMA"}
"""Tokens before `5m` where it is a duration and not a name."""
_NUMBER_LIKE = re.compile(r"[-+]?\.?\d(?:[eE][-+]\d|[\w.])*")
_NAME_LIKE = re.compile(r"(?:-\w+)+")
_FILE_LIKE = re.compile(r"\.{1,2}/[\w./-]*\w")
_PATH_LIKE = re.compile(r"[^\W\d][\w-]*(?:/[\w-]+(?:\.[\w-]+)*)+(?::[\w.]+)?")
_VALUES = {"NAME", "AUG_URI", "NUMBER", "STRING", "RPAR", "RSQB", "RBRACE"}
