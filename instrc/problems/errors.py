"""Errors of this library: one class for each kind of reaction that a caller can have, and one table of their codes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from traceback import extract_tb, format_list
from typing import Final, NamedTuple

from instrc import problems
from instrc.problems.problem import Problem, shorten_values
from instrc.text.jsonvalue import JsonObject


class InstrcError(Exception):
    """Base class of all errors; `problems` has the reasons, warnings included, in order of place.

    Its text, which a traceback shows, has the place, the message and the hint of each problem.
    """

    problems: tuple[Problem, ...]

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__(self.problems)

    @property
    def http_status(self) -> int:
        """The HTTP status of a response that reports the error."""
        return codes_of(type(self)).http

    def __str__(self) -> str:
        """Return two lines per problem: the place, the name and the message; then the hint."""
        more = len(self.problems) - LISTED_PROBLEMS
        lines = [*map(_listed, self.problems[:LISTED_PROBLEMS]), *([f"… and {more} more problems"] if more > 0 else [])]
        return "\n".join(lines).encode("utf-8", "backslashreplace").decode()  # a name may contain half of a surrogate pair

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"

    def _render_traceback_(self) -> list[str]:
        """Return what a notebook shows in place of a traceback: the calling lines, and the problems."""
        frames = [frame for frame in extract_tb(self.__traceback__) if not any(part in frame.filename for part in _LIBRARIES)]
        cause = [] if self.__cause__ is None else [f"caused by: {self.__cause__}"]
        return [*map(str.rstrip, format_list(frames[-FRAMES:])), f"{type(self).__name__}: {self}", *cause]


class CompileError(InstrcError):
    """A program, a vibe, a schema or another document cannot be read or compiled."""


class InputError(InstrcError):
    """The input of a run, or an argument that refers to something in it, is invalid."""


class RequestError(InputError):
    """A request to a server is malformed."""


class AnswerError(InstrcError):
    """The answer of a model or a person is invalid, or does not fit the requested class."""


class SettingsError(InstrcError):
    """An option or a setting is invalid, or a package that it needs is not installed."""


def unusable(what: str, word: str, reason: str, nearest: tuple[str, ...] = ()) -> SettingsError:
    """Return the error for a setting of a kind, such as `model`, that cannot be used."""
    return SettingsError([problems.runs.UnusableSetting(what=what, word=word, reason=reason, nearest=nearest)])


class LimitError(InstrcError):
    """A request exceeds a limit of a server."""


class RateLimitError(LimitError):
    """There were too many requests; a later one may succeed."""


class AccessError(InstrcError):
    """The caller is not allowed to do this."""


class AuthenticationError(AccessError):
    """The caller is not authenticated."""


class NotFoundError(InstrcError):
    """There is no such run, question or program."""


class GoneError(NotFoundError):
    """The requested object existed, but was deleted or has expired."""


class ConflictError(InstrcError):
    """The request conflicts with the current state of a run, a question or a store."""


class StaleError(ConflictError):
    """The request was made for an older state than the current one."""


class UnavailableError(InstrcError):
    """A store or a server is currently unavailable."""


class UnreachableError(UnavailableError):
    """The server of an engine does not respond; a later attempt may succeed."""


class RunError(InstrcError):
    """A run has no result; `outcome` has the reason if it has ended."""

    def __init__(self, reason: str, outcome: JsonObject | None = None) -> None:
        super().__init__(())
        self.args = (reason, outcome)
        self.outcome = outcome

    def __str__(self) -> str:
        return str(self.args[0])


class RunFailedError(RunError):
    """The run has failed.

    If the code of an activity failed, `__cause__` shows its traceback.
    """


class RunStoppedError(RunFailedError):
    """The program has stopped the run with `fail`."""


class RunWaitingError(RunError):
    """The run has not ended: it is running, or waits for an answer."""


class RunHeldError(RunWaitingError):
    """The run is held until an operator decides how it continues."""


class RunCancelledError(RunError):
    """The run was cancelled."""


class Codes(NamedTuple):
    """The codes of an error: the HTTP status of a response, and the exit code of a command."""

    http: int
    exit: int


CODES: Final[Mapping[type[InstrcError], Codes]] = {
    InstrcError: Codes(422, 1),
    RequestError: Codes(400, 1),
    AuthenticationError: Codes(401, 1),
    AccessError: Codes(403, 1),
    NotFoundError: Codes(404, 1),
    ConflictError: Codes(409, 1),
    GoneError: Codes(410, 1),
    StaleError: Codes(412, 1),
    LimitError: Codes(413, 1),
    RateLimitError: Codes(429, 1),
    UnavailableError: Codes(503, 1),
    RunWaitingError: Codes(409, 3),
    RunHeldError: Codes(409, 4),
    RunStoppedError: Codes(422, 5),
    RunCancelledError: Codes(409, 6),
}
"""Exit and HTTP codes by error class; a class that is not listed uses those of its base class."""
FRAMES: Final = 3
"""Maximum frames of the caller that a notebook shows."""
_LIBRARIES: Final = (
    __file__.removesuffix(f"problems{os.sep}errors.py"),
    f"{os.sep}site-packages{os.sep}",
    f"{os.sep}asyncio{os.sep}",
)
LISTED_PROBLEMS: Final = 20
"""Maximum problems listed in the text of an exception; `problems` has all of them."""


def codes_of(error: type[InstrcError]) -> Codes:
    """Return the codes of a class of errors."""
    return next(CODES[base] for base in error.__mro__ if base in CODES)


class CompileWarning(UserWarning):
    """A problem that does not stop the compilation, issued as a Python warning if no report is passed."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        note = ": ".join(part for part in (_place(problem), shorten_values(problem.hint) if problem.hint else "") if part)
        super().__init__(f"{problem.name}: {problem}" + (f" ({note})" if note else ""))


def _listed(problem: Problem) -> str:
    """Return the place, the name and the message of a problem on one line, and its hint on another."""
    place = _place(problem)
    line = f"{place}: {problem.name}: {problem}" if place else f"{problem.name}: {problem}"
    return f"{line}\n  hint: {shorten_values(problem.hint)}" if problem.hint else line


def _place(problem: Problem) -> str:
    """Return the place of a problem as `FILE:LINE:COLUMN`, or the empty string without source text."""
    at = problem.at
    return "" if at is None else f"{at.source.name}:{at.line}:{at.column}"
