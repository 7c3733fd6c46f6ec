"""Parse a source that is not a program: name each mistake, repair it, and continue.

The automaton is the grammar's own.  If it has no action for a token, `instrc.language.mistakes` names the mistake
and its repair: insert tokens before it, replace it, or skip the statement.
A second mistake at the same place is repaired or skipped without a report.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from msgspec.structs import replace

from instrc.language.builder import Builder
from instrc.language.habits import duration_behind, without_handlers
from instrc.language.lexer import Token
from instrc.language.mistakes import diagnose
from instrc.language.scanner import Scanner
from instrc.language.stack import Stack
from instrc.language.tables import CLOSING, CONTEXTUAL, END, FOLLOWED, OPENING, Tables
from instrc.language.view import GIVE_UP, View, begins_statement, may_begin_statement
from instrc.problems.blocks import (
    BadCondition,
    BadDuration,
    BracesAfterName,
    IncompleteBlock,
    MissingBraces,
    MissingElse,
    StrayBraces,
    StrayElse,
    StrayWord,
)
from instrc.problems.problem import Problem
from instrc.problems.punctuation import (
    ExtraClosingBracket,
    ExtraComma,
    MismatchedBracket,
    MissingClosingBracket,
    MissingColon,
    MissingComma,
    MissingKey,
    NotPlainData,
    RepeatedKey,
    SemicolonInBrackets,
    StrayColon,
    UnexpectedText,
)
from instrc.problems.statements import BadName, ForeignStatement, KeywordAsName, MissingValue
from instrc.problems.text import TooDeep
from instrc.text.limits import BRACKET_DISTANCE, BRACKET_LEVELS, REPORTED_MISTAKES
from instrc.text.source import Source

PASSED_OVER: Final = 20_000
"""Number of tokens without a clear end of statement after which the rest of the source is skipped."""
RECOVERED_MISTAKES: Final = 2_000
"""Maximum mistakes repaired in one source."""
LINE_DISTANCE: Final = 200
"""Maximum number of characters between the start of a line and a word in it."""


class StatementStack(Stack):
    """The stack of the parser, with the statement that it is in."""

    def __init__(self, automaton: Tables, builder: Builder) -> None:
        super().__init__(automaton, builder)
        self.read: list[Token] = []
        """The tokens of this statement so far."""
        self.open: list[tuple[Token, bool]] = []
        """Brackets around this place, and whether each is that of a call."""
        self.bodies: list[bool] = []
        """Whether each of them opens the body of a block."""

    def feed(self, token: Token) -> bool:
        """Parse a token and return true, or leave the state unchanged and return false."""
        if not self.accepts(token.kind):
            return False
        self.shift(token)
        if len(self.states) == 3:  # between statements
            self.read.clear()
        if token.kind in OPENING:
            called = bool(self.read) and self.read[-1].kind in {"NAME", "AUG_URI"} and token.kind == "LPAR"
            self.open.append((token, called))
            self.bodies.append(token.kind == "LBRACE" and self.accepts("CONST", "NAME", "EQUAL"))
        elif token.kind in CLOSING and self.open:
            self.open.pop()
            self.bodies.pop()
        self.read.append(token)
        return True

    def begin_anew(self) -> None:
        """Reset to the state between statements."""
        self.states = [0]
        self.values.clear()
        self.starts.clear()
        self.read.clear()
        self.open.clear()
        self.bodies.clear()

    def back_to_body(self) -> int | None:
        """Reset to the state after the last complete part of the innermost block body; outside blocks, to the beginning.

        Return the number of open brackets.
        """
        level = next((at for at in range(len(self.bodies), 0, -1) if self.bodies[at - 1]), None)
        if level is None:
            return None
        size = len(self.states)
        while not self.automaton.accept(self.states[:size], "CONST", "NAME", "EQUAL"):
            size -= 1
        if size <= len(self.starts):
            cut = self.starts[size - 1]
            self.read[:] = [token for token in self.read if token.start < cut]
        del self.states[size:], self.values[size - 1 :], self.starts[size - 1 :]
        del self.open[level:], self.bodies[level:]
        return level


def behind_statement(scanner: Scanner, index: int, opened: list[str]) -> int:
    """Return the index of the token that ends the body of a block or begins its next statement.

    `opened` are the kinds of the brackets that the statement has opened so far, outermost first.
    A `;` or a definition on its own line ends the statement even if brackets are open, but not inside braces:
    these may be blocks with their own statements.
    """
    first = index
    while True:
        if index - first > PASSED_OVER:
            scanner.finish(index)
        scanner.need(index + 3)
        token = scanner.tokens[index]
        kind = token.kind
        if kind == END:
            return index
        if "LBRACE" not in opened:
            if index > first and begins_statement(scanner.source, scanner.tokens, index):
                return index
            if kind == "SEMICOLON":
                return index + 1
            if kind == "RBRACE":
                return index
        if kind in OPENING:
            opened.append(kind)
        elif kind in CLOSING and CLOSING[kind] in opened:
            while opened.pop() != CLOSING[kind]:
                pass
        index += 1


def empty_statement(place: Token) -> list[Token]:
    """Return the tokens that replace a skipped statement before the following token."""
    return [Token("NAME", place.start, place.start, "missing"), Token("SEMICOLON", place.start, place.start)]


_CLEAR_ON_LINE = 3
"""Minimum tokens read between two mistakes on one line for the second to be reported separately."""
_CLEAR_ON_NEXT_LINE = 2
"""The same minimum for a mistake on another line."""
_OF_PARTS = (IncompleteBlock, StrayElse, ExtraClosingBracket, MismatchedBracket, MissingClosingBracket)
"""Mistakes about parts of a block or a pair of brackets: another mistake can hide the missing part."""
_OF_PLACES = (
    *_OF_PARTS,
    BadCondition,
    ExtraComma,
    MissingBraces,
    MissingColon,
    MissingComma,
    MissingElse,
    MissingKey,
    MissingValue,
    SemicolonInBrackets,
    StrayBraces,
    StrayColon,
    StrayWord,
    UnexpectedText,
)
"""Mistakes that depend on which brackets are open."""
_BRACKETS = OPENING.keys() | CLOSING.keys()


class Consequences:
    """Tracks the consequences of a statement's mistakes for later ones."""

    def __init__(self) -> None:
        self._unsure: bool = False
        self._unbalanced: bool = False
        """Whether a mistake of this statement was about a bracket."""
        self._lines: set[int] = set()
        """Lines on which mistakes have been repaired."""

    def begin_statement(self) -> None:
        """Start a statement that no earlier mistake can affect."""
        self._unsure = self._unbalanced = False

    def is_consequence(self, line: int, since: int) -> bool:
        """Return whether a mistake is part of the previous one; `since` tokens have been parsed between them."""
        return since < (_CLEAR_ON_LINE if line in self._lines else _CLEAR_ON_NEXT_LINE)

    def follows(self, problem: Problem) -> bool:
        """Return whether a mistake may only follow from an earlier one in the same statement."""
        return self._unsure and isinstance(problem, _OF_PLACES if self._unbalanced else _OF_PARTS)

    def remember(self, problem: Problem, line: int, repaired: Iterable[Token]) -> None:
        """Record a mistake and the tokens that were replaced or skipped."""
        if isinstance(problem, ExtraClosingBracket) and not self._unsure:
            return  # without it all brackets match
        self._unsure = True
        self._unbalanced = self._unbalanced or any(token.kind in _BRACKETS for token in repaired)
        self._lines.add(line)

    def caused(self, problem: Problem) -> bool:
        """Return whether keys or data are wrong only because of a repair on their line."""
        return isinstance(problem, NotPlainData | RepeatedKey) and problem.at is not None and problem.at.line in self._lines


def durations_with_words(found: list[Problem]) -> list[Problem]:
    """Return problems where a duration after a word that begins no block, `timeout 5m { … }`, is reported with the word."""
    words = {problem.at.line: problem.at for problem in found if isinstance(problem, BracesAfterName) and problem.at}

    def is_told(problem: Problem) -> bool:
        at = problem.at
        word = words.get(at.line) if at and isinstance(problem, BadDuration | BadName) else None
        return bool(at and word and word.end <= at.start and not at.source.text[word.end : at.start].strip(" \t("))

    return [
        replace(problem, duration=problem.duration or duration_behind(problem.at))
        if isinstance(problem, BracesAfterName) and problem.at
        else problem
        for problem in found
        if not is_told(problem)
    ]


def each_word_once(found: list[Problem]) -> Iterator[Problem]:
    """Yield problems without repeated uses of a keyword as a name: renaming it repairs them all."""
    told: set[str] = set()
    for problem in found:
        if isinstance(problem, KeywordAsName):
            if problem.word in told:
                continue
            told.add(problem.word)
        yield problem


_CLEAR = 2
"""Tokens that must be read after a mistake before the next one is another."""
_BEGINNINGS = frozenset({"CONST", "LET", "TOOL", "INPUT"})


def recover(source: Source, automaton: Tables) -> Builder:
    """Build what is possible of a source, and report its mistakes."""
    builder = Builder(source)
    scanner = Scanner(source, automaton)
    machine = RecoveringAutomaton(automaton, builder, scanner)
    machine.run()
    builder.comments = scanner.comments
    builder.problems.extend(scanner.problems)
    if not builder.problems:  # every mistake gets a message
        builder.problems.append(UnexpectedText(at=source.whole(), what="this"))
    builder.problems[:] = [each for each in builder.problems if not machine.consequences.caused(each)]
    builder.problems.sort(key=lambda problem: problem.at.start if problem.at else -1)
    builder.problems[:] = each_word_once(durations_with_words(without_handlers(builder.problems, builder.problems)))
    builder.hopeless = machine.repairs >= RECOVERED_MISTAKES
    return builder


class RecoveringAutomaton:
    """The automaton over a token list that is repaired during parsing."""

    def __init__(self, automaton: Tables, builder: Builder, scanner: Scanner) -> None:
        self.automaton = automaton
        self.builder = builder
        self.stack = StatementStack(automaton, builder)
        self.scanner = scanner
        self.source: Source = scanner.source
        self.tokens: list[Token] = scanner.tokens
        self.index: int = 0
        """Of the token to read next."""
        self.put_back: list[Token] = []
        """Tokens to read before it."""
        self.debt: int = 0
        """Closing brackets of an abandoned statement."""
        self.since: int = _CLEAR
        """Tokens of the source read since the last mistake."""
        self.last: type | None = None
        self.mended_at: int = -1
        self.repairs: int = 0
        self.given_up_at: int = -1
        self.consequences = Consequences()

    def run(self) -> None:
        """Parse all tokens."""
        while self.repairs < RECOVERED_MISTAKES and len(self.builder.problems) <= REPORTED_MISTAKES:
            if self.put_back:
                token = self.put_back[0]
                if not self.stack.feed(token):
                    self.put_back.clear()
                    self._give_up()
                elif self.put_back:
                    del self.put_back[0]
                continue
            self.scanner.need(self.index + 1)
            token = self.tokens[self.index]
            if (token.kind in CONTEXTUAL or token.kind in FOLLOWED) and not self.stack.accepts(token.kind):
                token = self.tokens[self.index] = replace(token, kind="NAME")
            elif token.kind == "COMPARE" and not self.stack.accepts(token.kind):
                token = self.tokens[self.index] = replace(token, kind="OPERATOR")
            if token.kind == END and self.stack.finish():
                return
            if not self.stack.open and self._is_at_margin(token):
                self.consequences.begin_statement()
            if self.stack.feed(token):
                if len(self.stack.open) > BRACKET_LEVELS:
                    self.builder.problems[:] = [TooDeep(at=self.source.span(token.start, token.end), limit=BRACKET_LEVELS)]
                    self.scanner.problems.clear()
                    return
                self.since += 1
                self.index += 1
            elif not self._split_uri(token):
                self._repair(token)

    def _begins_line(self, place: int) -> bool:
        """Return whether an index is the first token of its line, or follows a `;`."""
        before = self.source.text[max(0, place - LINE_DISTANCE) : place]
        return before.rstrip(" \t").endswith(("\n", ";"))

    def _is_at_margin(self, token: Token) -> bool:
        """Return whether a token is at a column where only top-level statements begin."""
        line = self.source.text[max(0, token.start - LINE_DISTANCE) : token.start + 1].rpartition("\n")[2]
        defines = token.kind in _BEGINNINGS and self._begins_line(token.start) and not line[0].isspace()
        return defines or may_begin_statement(self.source, self.tokens, self.index)

    def _begin_anew(self) -> None:
        """Reset to the state between statements."""
        self.stack.begin_anew()
        self.since = _CLEAR

    def _split_uri(self, token: Token) -> bool:
        """Parse `aug:x` as a key and a value where a reference is not allowed."""
        if token.kind != "AUG_URI" or not self.stack.accepts("NAME", "COLON") or "/" in self.source.text[token.start : token.end]:
            return False
        colon = token.start + len("aug")
        self.scanner.back_to(self.index, colon + 1)  # the rest is scanned again, because `#` starts a comment there
        self.tokens += [Token("NAME", token.start, colon), Token("COLON", colon, colon + 1)]
        return True

    def _repair(self, token: Token) -> None:
        """Name and repair the mistake at a token."""
        self.repairs += 1
        if self.debt and token.kind in CLOSING and not self.stack.open:
            self.debt -= 1
            self.index += 1
            return
        self.scanner.need(self.index + BRACKET_DISTANCE)
        view = View(self.source, self.tokens, self.index, self.stack.read, self.stack.open, self.stack.accepts)
        problem, repair = diagnose(view)
        line = self.source.span(token.start, token.end).line
        fresh = not self.consequences.is_consequence(line, self.since)
        again = self.index == self.mended_at
        follows = self.consequences.follows(problem) or self._spoilt(problem, token)
        if fresh and not follows and self.builder.problems[-1:] != [problem]:
            self.builder.problems.append(problem)
        dropped = self.tokens[self.index : self.index + max(1, repair.drop)]
        self.consequences.remember(problem, line, (*dropped, *repair.put))
        if repair is GIVE_UP or not (fresh or (type(problem) is self.last and not again)):
            self._give_up()
            if isinstance(problem, ForeignStatement):  # its contents belong to the other language as well
                self.scanner.forget(token.start, self.tokens[self.index].start)
            return
        self.mended_at = self.index
        self.index += repair.drop
        self.put_back = list(repair.put)
        self.since = 0
        self.last = type(problem)

    def _spoilt(self, problem: Problem, token: Token) -> bool:
        """Return whether a mistake only follows from one reported by the scanner, at its place or just before the token."""
        place = problem.at.start if problem.at else token.start
        last = self.stack.read[-1].end if self.stack.read else 0
        return any(start <= place <= end or (start <= token.start and last <= end) for start, end in self.scanner.spoilt)

    def _give_up(self) -> None:
        """Skip the rest of the statement; in a block, continue with the next statement of its body."""
        opened = [token.kind for token, _ in self.stack.open]
        level = None if self.index == self.given_up_at else self.stack.back_to_body()
        if level is None:
            self._pass_over()
        else:
            self.index = behind_statement(self.scanner, self.index, opened[level:])
            self.put_back = empty_statement(self.tokens[self.index])
            self.since = _CLEAR
        self.given_up_at = self.index

    def _pass_over(self) -> None:
        """Skip the rest of the statement outside blocks."""
        level = len(self.stack.open)
        stuck = not self.stack.read
        first = self.index
        while True:
            if self.index - first > PASSED_OVER:
                self.scanner.finish(self.index)
            self.scanner.need(self.index + 3)
            if (token := self.tokens[self.index]).kind == END:
                break
            if not stuck and begins_statement(self.source, self.tokens, self.index):
                break
            if not stuck and level <= 0 and may_begin_statement(self.source, self.tokens, self.index):
                break
            stuck = False
            self.index += 1
            if token.kind in OPENING:
                level += 1
            elif token.kind in CLOSING:
                level -= 1
            elif token.kind == "SEMICOLON" and (level <= 0 or self._ends_line(token)):
                break
        self.debt = max(0, level)
        self._begin_anew()

    def _ends_line(self, token: Token) -> bool:
        following = self.tokens[self.index]
        return following.kind == END or "\n" in self.source.text[token.end : following.start]
