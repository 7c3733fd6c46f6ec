"""Mistakes that only follow from another one before them, and are not told: to repair that one takes them away."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from instrc.problems.blocks import BracesAfterName, IncompleteBlock, MissingBraces, MissingElse, StrayBraces, StrayElse, StrayWord
from instrc.problems.brackets import (
    ExtraClosingBracket,
    ExtraComma,
    MismatchedBracket,
    MissingClosingBracket,
    MissingComma,
    SemicolonInBrackets,
)
from instrc.problems.conditions import BadCondition
from instrc.problems.deadlines import BadDuration
from instrc.problems.keys import MissingColon, MissingKey
from instrc.problems.keywords import KeywordAsName
from instrc.problems.notation import NotPlainData, RepeatedKey, StrayColon, UnexpectedText
from instrc.problems.problem import Problem
from instrc.problems.statements import MissingValue
from instrc.problems.words import BadName, ForeignStatement
from instrc.syntax.spelling import HANDLING
from instrc.syntax.tokens import Token
from instrc.syntax.view import CLOSING, OPENING

_CLEAR = 3
"""Tokens that must be read between two mistakes on one line for the second to be one of its own."""
_CLEAR_ON_NEXT_LINE = 2
"""The same for a mistake on another line."""
_OF_PARTS = (IncompleteBlock, StrayElse, ExtraClosingBracket, MismatchedBracket, MissingClosingBracket)
"""Mistakes about the parts of a block and of a pair of brackets: another mistake can hide the part that is missed."""
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
    """What the mistakes of a statement say about those behind them."""

    def __init__(self) -> None:
        self._unsure: bool = False
        self._unbalanced: bool = False
        """Whether a mistake of this statement was about a bracket."""
        self._lines: set[int] = set()
        """On which mistakes have been repaired."""

    def begin_statement(self) -> None:
        """Be at a statement that no mistake before it can reach."""
        self._unsure = self._unbalanced = False

    def is_consequence(self, line: int, since: int) -> bool:
        """Tell whether a mistake is part of the one before it; `since` tokens have been read between them."""
        return since < (_CLEAR if line in self._lines else _CLEAR_ON_NEXT_LINE)

    def follows(self, problem: Problem) -> bool:
        """Tell whether a mistake may only follow from one before it in the same statement."""
        return self._unsure and isinstance(problem, _OF_PLACES if self._unbalanced else _OF_PARTS)

    def remember(self, problem: Problem, line: int, repaired: Iterable[Token]) -> None:
        """Note a mistake and the tokens that were read in place of others, or passed over."""
        if isinstance(problem, ExtraClosingBracket) and not self._unsure:
            return  # without it all brackets are right
        self._unsure = True
        self._unbalanced = self._unbalanced or any(token.kind in _BRACKETS for token in repaired)
        self._lines.add(line)

    def caused(self, problem: Problem) -> bool:
        """Tell whether keys or data are wrong only because of what was repaired on their line."""
        return isinstance(problem, NotPlainData | RepeatedKey) and problem.at is not None and problem.at.line in self._lines


def without_handlers(found: list[Problem], told: list[Problem]) -> list[Problem]:
    """Return problems without the `except` and `finally` of a `try:` that is told, whose hint shows the braces of both."""
    if not any(isinstance(problem, IncompleteBlock) and problem.word == "try" for problem in told):
        return found
    return [problem for problem in found if not (isinstance(problem, ForeignStatement) and problem.word in HANDLING)]


def durations_with_words(found: list[Problem]) -> list[Problem]:
    """Return problems in which a duration behind a word that begins no block, `timeout 5m { … }`, is told with the word."""
    durations = {
        problem.at.start: problem for problem in found if isinstance(problem, BadDuration | BadName) and problem.at is not None
    }
    told: set[int] = set()
    kept: list[Problem] = []
    for problem in found:
        if durations and isinstance(problem, BracesAfterName) and problem.at is not None:
            text, behind = problem.at.source.text, problem.at.end
            while text[behind : behind + 1].isspace() or text[behind : behind + 1] == "(":
                behind += 1
            if (duration := durations.get(behind)) is not None:
                told.add(behind)
                if not problem.duration:
                    problem = replace(problem, duration=duration.instead or "")  # noqa: PLW2901  -- the same problem, with one fact more
        kept.append(problem)
    return [
        each for each in kept if not (isinstance(each, BadDuration | BadName) and each.at is not None and each.at.start in told)
    ]


def each_word_once(found: list[Problem]) -> Iterator[Problem]:
    """Yield problems without the further uses of a word of the language as a name: to rename it repairs them all."""
    told: set[str] = set()
    for problem in found:
        if isinstance(problem, KeywordAsName):
            if problem.word in told:
                continue
            told.add(problem.word)
        yield problem
