"""Tokens of a source that is not well written: mistakes in characters and words get their names and are repaired.

A repaired token carries the value it was probably meant to have, so that what follows is read as if nothing had happened.
Operators of other languages become the tokens `ARROW`, `COMPARISON` and `OPERATOR`, which no rule of the grammar takes:
what they were meant to be depends on where they stand.
"""

from __future__ import annotations

import re

from instrc.durations import from_words
from instrc.limits.programs import REPORTED_MISTAKES
from instrc.problems.deadlines import BadDuration
from instrc.problems.habits import MissingScheme
from instrc.problems.problem import Problem
from instrc.problems.text import HashComment, MarkdownFence, StrayCharacter, UnclosedComment
from instrc.problems.words import BadName, BadNumber
from instrc.source import Source, Span
from instrc.syntax.broken_strings import ReadString, open_string, smart_string, string_in_backticks
from instrc.syntax.characters import DASHES, FOREIGN_OPERATOR, LOOKALIKES, OPERATORS, SIGN_KINDS
from instrc.syntax.quotes import QUOTES, line_end_of
from instrc.syntax.tables import END, Tables
from instrc.syntax.tokens import Token, is_name, is_space_in_number, why_no_number

_SPACE = re.compile(r"\s*")
_BEFORE_DURATION = {"COLON", "NAME", "AT", "COMMA"}
"""What stands before `5m` where it is a time and no name."""
_NUMBER_LIKE = re.compile(r"[-+]?\.?\d(?:[eE][-+]\d|[\w.])*")
_NAME_LIKE = re.compile(r"(?:-\w+)+")
_FILE_LIKE = re.compile(r"\.{1,2}/[\w./-]*\w")
_PATH_LIKE = re.compile(r"[^\W\d][\w-]*(?:/[\w-]+(?:\.[\w-]+)*)+(?::[\w.]+)?")
_VALUES = {"NAME", "AUG_URI", "NUMBER", "STRING", "RPAR", "RSQB", "RBRACE"}


class Scanner:
    """The tokens and comments of a source from a place on, with the problems met on the way."""

    def __init__(self, source: Source, automaton: Tables, start: int = 0) -> None:
        self.source = source
        self.text: str = source.text
        self.automaton = automaton
        self.position: int = start
        self.done: bool = False
        self.tokens: list[Token] = []
        self.comments: list[Span] = []
        self.problems: list[Problem] = []
        self.spoilt: list[tuple[int, int]] = []
        """Ranges whose structure is lost in a string or comment that does not end: further complaints there are idle."""

    def need(self, count: int) -> None:
        """Read on until there are so many tokens, or the source ends: then `END` is the last one."""
        while len(self.tokens) < count and not self.done:
            self.position = _SPACE.match(self.text, self.position).end()  # type: ignore[union-attr]  # matches everywhere
            if self.position >= len(self.text) or len(self.problems) > REPORTED_MISTAKES:
                self.done = True
                self._take(END, len(self.text), len(self.text))
            else:
                self.position = self._next(self.position)

    def scan_all(self) -> None:
        """Read to the end of a source that is known to be correct: its tokens are what the grammar's patterns say."""
        text, fixed, take = self.text, self.automaton.fixed, self.tokens.append
        for found in self.automaton.lexer.finditer(text, self.position):
            kind: str = found.lastgroup  # type: ignore[assignment]  # the lexer matches everywhere, always by a group
            start, self.position = found.span(kind)
            kind = fixed.get(text[start : self.position], kind)
            if kind == "COMMENT":
                self.comments.append(Span(self.source, start, self.position))
            else:
                take(Token(kind, start, self.position))
        self.done = True

    def back_to(self, index: int, place: int) -> None:
        """Forget what was read ahead: tokens from an index on, and all that stands from a place on."""
        del self.tokens[index:]
        self.comments[:] = [span for span in self.comments if span.start < place]
        self.problems[:] = [problem for problem in self.problems if problem.at is not None and problem.at.start < place]
        if self.problems and isinstance(last := self.problems[-1], StrayCharacter):
            self.problems[-1] = last.before(place)
        self.spoilt[:] = [(start, end) for start, end in self.spoilt if end > place]
        self.position = place
        self.done = False

    def forget(self, start: int, end: int) -> None:
        """Forget the mistakes between two places."""
        self.problems[:] = [problem for problem in self.problems if problem.at is None or not start <= problem.at.start < end]

    def finish(self, index: int) -> None:
        """Take the source to end before a token."""
        del self.tokens[index:]
        self.done = True
        self._take(END, len(self.text), len(self.text))

    def _next(self, start: int) -> int:
        """Take one token; return where it ends."""
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
        """Tell whether a value ends where another token starts."""
        return bool(self.tokens) and self.tokens[-1].end == start and self.tokens[-1].kind in _VALUES

    def _take(self, kind: str, start: int, end: int, value: str | None = None) -> None:
        self.tokens.append(Token(kind, start, end, value))

    def _name(self, start: int, end: int) -> int:
        """Take a name, or the part of the run that is one."""
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
        """Take the path of a file as the name of what is in it."""
        self.problems.append(MissingScheme(at=self.source.span(start, end), path=self.text[start:end]))
        self._take("NAME", start, end, "path")
        return end

    def _stray(self, start: int) -> int:
        """Make something of a character with which no token begins."""
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
        """Tell whether a character stands in a path, between a value and a name."""
        return self._touches(start) and self.text[start + 1 : start + 2].isidentifier()

    def _lookalike(self, sign: StrayCharacter) -> None:
        """Report a sign that only looks like one of the language; several in one line are one mistake."""
        last = self.problems[-1] if self.problems else None
        joined = last.joined_with(sign) if isinstance(last, StrayCharacter) else None
        if joined is None:
            self.problems.append(sign)
        else:
            self.problems[-1] = joined

    def _is_stray(self, letter: str) -> bool:
        """Tell whether a character only continues a run of meaningless ones."""
        known = letter.isspace() or letter in QUOTES or letter in LOOKALIKES or (letter.isascii() and letter.isprintable())
        return not known and not letter.isidentifier()

    def _string(self, start: int, found: ReadString) -> int:
        """Take a string that is not well written."""
        self.problems += found.problems
        if found.spoils_line:
            line_start = max(self.text.rfind("\n", 0, start), self.text.rfind("\r", 0, start)) + 1
            self.spoilt.append((line_start, line_end_of(self.text, start)))
        self._take("STRING", start, found.end, found.value)
        return found.end

    def _fence(self, start: int) -> int:
        """Pass over the line of a Markdown fence; several of them are one mistake."""
        if not any(isinstance(problem, MarkdownFence) for problem in self.problems):
            self.problems.append(MarkdownFence(at=self.source.span(start, start + 3)))
        return line_end_of(self.text, start)

    def _hash(self, start: int, sign: str = "#") -> int:
        """Pass over a comment, and over its further lines: a block of them is one mistake."""
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
