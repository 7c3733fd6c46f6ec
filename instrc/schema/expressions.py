"""Regular expressions of ECMA 262, as JSON Schema has them, matched in time that grows with the text only.

A pattern is translated for RE2, which needs no backtracking.  What RE2 cannot express (lookaround, back references, bounds over
1,000) is left to an engine that backtracks, under a limit of time and size; where that is not enough the answer is "unknown".
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache, partial

from msgspec import Struct

from instrc.limits.schemas import REGEX_PATTERN, REGEX_SECONDS, REGEX_TEXT, REGEX_WRITTEN_OUT
from instrc.schema.repeats import written_out


class _Clock(Struct):
    left: float = REGEX_SECONDS


_TOO_LARGE = "it is too large"
"""How the reason begins why a large pattern is not read."""
_CLOCK: ContextVar[_Clock | None] = ContextVar("_CLOCK", default=None)


@contextmanager
def time_limit() -> Iterator[None]:
    """Let all searches inside share one limit of time; without it each has its own."""
    token = _CLOCK.set(_CLOCK.get() or _Clock())
    try:
        yield
    finally:
        _CLOCK.reset(token)


def search(pattern: str, text: str) -> bool | None:
    """Tell whether a pattern is found anywhere in a text.

    `None` if nobody can say: the pattern is no regular expression, or it takes too long on this text.
    """
    found = _matcher(pattern)
    return None if isinstance(found, str) else found(text)


def may_match(pattern: str, text: str) -> bool:
    """Say whether a regular expression finds something in a text; one that nobody can decide finds everything."""
    return search(pattern, text) is not False


def why_unreadable(pattern: str) -> str | None:
    """Return why a pattern cannot be read; `None` if it can."""
    found = _matcher(pattern)
    return found if isinstance(found, str) else None


def too_large(pattern: str) -> str | None:
    """Return how a pattern is too large to be read; `None` if that is not why it cannot be read, or it can."""
    if len(pattern) <= REGEX_PATTERN and written_out(pattern) <= REGEX_WRITTEN_OUT:
        return None  # most are small, and need no engine to tell
    why = why_unreadable(pattern)
    return why if why is not None and why.startswith(_TOO_LARGE) else None


def for_re2(pattern: str) -> str | None:
    """Return a pattern in the words of RE2; `None` if it cannot be read, or RE2 has no words for it."""
    from instrc.schema.ecmascript import Unreadable, translate  # few schemas have patterns

    try:
        translated = translate(pattern) if len(pattern) <= REGEX_PATTERN else None
    except Unreadable:
        return None
    return None if translated is None or translated.backtracks else translated.re2


@lru_cache(maxsize=2048)
def _matcher(pattern: str) -> Callable[[str], bool | None] | str:
    """Return what matches texts against a pattern, or why it cannot be read."""
    if len(pattern) > REGEX_PATTERN:
        return f"{_TOO_LARGE}: it is longer than {REGEX_PATTERN:,} characters"
    import re2  # 10 ms, needed where patterns are only

    from instrc.schema.ecmascript import Unreadable, translate  # as above

    try:
        translated = translate(pattern)
    except Unreadable as error:
        return str(error)
    if not translated.backtracks:
        options = re2.Options()
        options.log_errors = False  # else RE2 writes to standard error itself
        try:
            return _Linear(re2.compile(translated.re2, options))
        except re2.error:
            pass  # a bound over 1,000, or a script that RE2 does not know
    if written_out(translated.regex) > REGEX_WRITTEN_OUT:
        return f"{_TOO_LARGE}: with its counts written out it has over {REGEX_WRITTEN_OUT:,} parts"
    import regex

    try:
        return _Backtracking(regex.compile(translated.regex, regex.VERSION0).search)
    except (regex.error, RecursionError, OverflowError, ValueError) as error:
        return str(getattr(error, "msg", error))


@lru_cache(maxsize=256)
def beginnings(pattern: str) -> Callable[[str], bool | None] | None:
    """Return what tells whether a match at the start may begin with a text; `None` for a pattern that nobody reads.

    It says `True` of some texts that no match begins with, and `None` if it takes too long.
    """
    import regex

    from instrc.schema.ecmascript import Unreadable, translate

    if len(pattern) > REGEX_PATTERN:
        return None
    try:
        translated = translate(pattern).regex
        if written_out(translated) > REGEX_WRITTEN_OUT:
            return None
        compiled = regex.compile(f"(?:{translated.replace(_NOT_AT_END, '')})(?s:.*)", regex.VERSION0)
    except (Unreadable, regex.error, RecursionError, OverflowError, ValueError):
        return None
    return _Backtracking(partial(compiled.fullmatch, partial=True))


_NOT_AT_END = r"(?!\Z)"
"""What a text does not satisfy that ends there, though a longer one may."""


class _Linear:
    """Match by RE2."""

    def __init__(self, compiled: object) -> None:
        self._search: Callable[[str], object] = compiled.search  # type: ignore[attr-defined]  # RE2 has no types

    def __call__(self, text: str) -> bool | None:
        try:
            return self._search(text) is not None
        except UnicodeEncodeError:  # half of a surrogate pair: no character
            return self._search(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")) is not None


class _Backtracking:
    """Match by the second engine, which is stopped when the time is over."""

    def __init__(self, matcher: Callable[..., object]) -> None:
        """`matcher` is a bound method of a compiled pattern, which takes the text and `timeout`."""
        self._search = matcher

    def __call__(self, text: str) -> bool | None:
        clock = _CLOCK.get() or _Clock()
        if len(text) > REGEX_TEXT or clock.left <= 0:
            return None
        start = time.monotonic()
        try:
            return self._search(text, timeout=clock.left) is not None
        except (TimeoutError, MemoryError):
            return None
        finally:
            clock.left -= time.monotonic() - start
