"""Match the regular expressions of schemas in time linear in the text."""

from __future__ import annotations

import re
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import lru_cache, partial
from typing import Final, TypeVar

from msgspec import Struct

from instrc.text.jsonvalue import Json, Location

_T = TypeVar("_T")
REGEX_SECONDS: Final = 0.5
"""Time limit of the backtracking engine within one `time_limit`, and of all texts made for one sample, in seconds."""


SEARCH_SECONDS: Final = 4
"""Time limit of reading and searching all patterns within one `time_limit`, in seconds of the processor."""


PATTERN_TEXT: Final = 2_000
"""Maximum characters of a text generated for a pattern."""


PATTERN_CHARACTERS: Final = 1_000_000
"""Maximum characters of all prefixes tried for one pattern."""


REGEX_TEXT: Final = 100_000
"""Maximum characters of a text matched by the backtracking engine."""


REGEX_PATTERN: Final = 20_000
"""Maximum characters of a pattern that is parsed."""


REGEX_WRITTEN_OUT: Final = 200_000
"""Maximum atoms of a pattern with its counts expanded, as the backtracking engine stores it: about 60 MB."""


LINEAR_WRITTEN_OUT: Final = 2_000
"""Maximum atoms of a pattern with its counts expanded to their maximum for RE2, whose compiler takes quadratic time."""


SEARCH_STEPS: Final = 200_000_000
"""Maximum steps of one search by RE2, which cannot be stopped: instructions times characters, at most about a second."""


JUDGED_PATTERN: Final = 10_000
"""Maximum characters of a pattern whose syntax error is explained."""


MATCHED_NAME: Final = 200
"""Maximum characters of a property name that is matched against patterns."""


MATCHED_PATTERN: Final = 400
"""Maximum characters of a pattern that is matched against property names."""


ATOM = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\((?:\?:|\?<?[=!])?|.", re.DOTALL)
"""One character, escape or class, or the beginning of a group."""


REPEATS = re.compile(r"\{(\d+)(,?)(\d*)\}(\??)")
"""Counts in braces: the minimum, the comma, the maximum, and the lazy mark."""


_DIGITS = 9
"""Maximum digits of a count: larger numbers exceed every limit."""


def written_out(pattern: str, *, to_most: bool = False) -> int:
    """Return the number of atoms of a pattern with all repetitions expanded: to their minimum, or `to_most` to their maximum."""
    if "{" not in pattern:
        return len(pattern)
    lengths = [0]
    """Of the pattern and of each group that is open."""
    last = place = 0
    while place < len(pattern):
        if (repeats := REPEATS.match(pattern, place)) is not None:
            count = (to_most and repeats[3]) or repeats[1]
            least = int(count[-_DIGITS:]) + 10**_DIGITS * (len(count) > _DIGITS)
            lengths[-1] += last * max(0, least - 1)
            last *= max(1, least)
            place = repeats.end()
            continue
        found = ATOM.match(pattern, place)
        assert found is not None  # it takes any character
        place = found.end()
        if found[0].startswith("("):
            lengths.append(0)
            continue
        last = lengths.pop() if found[0] == ")" and len(lengths) > 1 else 1
        lengths[-1] += last
    return sum(lengths)


class _Clock(Struct):
    left: float = REGEX_SECONDS
    searching: float = SEARCH_SECONDS


_TOO_LARGE = "it is too large"
"""Beginning of the reason why a large pattern is not read."""


_CLOCK: ContextVar[_Clock | None] = ContextVar("_CLOCK", default=None)


@contextmanager
def time_limit(searching: float = SEARCH_SECONDS) -> Iterator[None]:
    """Give all searches in the context one common time limit; outside, each has its own."""
    token = _CLOCK.set(_CLOCK.get() or _Clock(searching=searching))
    try:
        yield
    finally:
        _CLOCK.reset(token)


def search(pattern: str, text: str) -> bool | None:
    """Return whether a pattern matches anywhere in a text.

    Return `None` if the pattern is not a regular expression, or takes too long on this text.
    """
    return in_time(lambda: None if isinstance(matcher := _matcher(pattern), str) else matcher(text))


def in_time(ask: Callable[[], _T | None]) -> _T | None:
    """Return an answer, or `None` if the time of all searches is over."""
    clock = _CLOCK.get() or _Clock()
    if clock.searching <= 0:
        return None
    start = time.thread_time()
    result = ask()
    clock.searching -= time.thread_time() - start
    return result


def may_match(pattern: str, text: str) -> bool:
    """Return whether a regular expression may match in a text; true if that is undecidable."""
    return search(pattern, text) is not False


def why_unreadable(pattern: str) -> str | None:
    """Return why a pattern cannot be read, or `None` if it can."""
    result = _matcher(pattern)
    return result if isinstance(result, str) else None


def too_large(pattern: str) -> str | None:
    """Return in which respect a pattern is too large, or `None` if it is not."""
    if len(pattern) <= REGEX_PATTERN and written_out(pattern) <= REGEX_WRITTEN_OUT:
        return None  # most are small enough to decide without an engine
    why = why_unreadable(pattern)
    return why if why is not None and why.startswith(_TOO_LARGE) else None


@lru_cache(maxsize=2048)
def _matcher(pattern: str) -> Callable[[str], bool | None] | str:
    """Return a matcher of texts for a pattern, or the reason why the pattern is unreadable."""
    if len(pattern) > REGEX_PATTERN:
        return f"{_TOO_LARGE}: it is longer than {REGEX_PATTERN:,} characters"
    import re2  # takes 10 ms, only needed for patterns

    from instrc.schema.ecmascript import Unreadable, translate  # as above

    try:
        translated = translate(pattern)
    except Unreadable as error:
        return str(error)
    if not translated.backtracks and written_out(translated.re2, to_most=True) <= LINEAR_WRITTEN_OUT:
        options = re2.Options()
        options.log_errors = False  # otherwise RE2 writes to the standard error
        with suppress(re2.error):  # a count above 1,000, or a script unknown to RE2
            return _Linear(re2.compile(translated.re2, options), translated.regex)
    return _backtracking(translated.regex, REGEX_TEXT)


@lru_cache(maxsize=64)
def _backtracking(pattern: str, most: int) -> _Backtracking | str:
    if written_out(pattern) > REGEX_WRITTEN_OUT:
        return f"{_TOO_LARGE}: with its counts written out it has over {REGEX_WRITTEN_OUT:,} parts"
    import regex

    try:
        return _Backtracking(regex.compile(pattern, regex.VERSION0).search, most)
    except (regex.error, RecursionError, OverflowError, ValueError) as error:
        return str(getattr(error, "msg", error))


@lru_cache(maxsize=256)
def beginnings(pattern: str) -> Callable[[str], bool | None] | None:
    """Return a predicate for possible prefixes of a match, or `None` for an unreadable pattern.

    It may be true for other texts, and returns `None` if it takes too long.
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
"""Assertion that fails at the end of a text, which a longer text may satisfy."""


class _Linear:
    """Matches with RE2."""

    def __init__(self, compiled: object, regex: str) -> None:
        """`regex` is the pattern for the other engine, which can be stopped: it takes the texts that need too many steps."""
        self._search: Callable[[str], object] = compiled.search  # type: ignore[attr-defined]  # RE2 has no types
        self._longest = SEARCH_STEPS // compiled.programsize  # type: ignore[attr-defined]  # as above
        self._regex = regex

    def __call__(self, text: str) -> bool | None:
        if len(text) > self._longest:
            stoppable = _backtracking(self._regex, SEARCH_STEPS)
            return None if isinstance(stoppable, str) else stoppable(text)
        try:
            return self._search(text) is not None
        except UnicodeEncodeError:  # half of a surrogate pair: no character
            return self._search(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")) is not None


class _Backtracking:
    """Matches with the backtracking engine, within a time limit."""

    def __init__(self, matcher: Callable[..., object], most: int = REGEX_TEXT) -> None:
        """`matcher` is a bound method of a compiled pattern, which takes the text, of `most` characters, and `timeout`."""
        self._search, self._most = matcher, most

    def __call__(self, text: str) -> bool | None:
        clock = _CLOCK.get() or _Clock()
        if len(text) > self._most or clock.left <= 0:
            return None
        start = time.monotonic()
        try:
            return self._search(text, timeout=clock.left) is not None
        except (TimeoutError, MemoryError):
            return None
        finally:
            clock.left -= time.monotonic() - start


warnings.filterwarnings("ignore", category=FutureWarning, module=r"instrc\.schema\.")
"""Python warns that `[[` may get another meaning; a user who checks a schema can do nothing about it."""


_BROKEN = ("missing ), unterminated subpattern", "unbalanced parenthesis", "nothing to repeat", "unterminated character set")
"""Python's errors for patterns that ECMA 262 also refuses; its other errors may reflect differences between the two."""


@lru_cache(maxsize=1024)
def broken(pattern: str) -> str | None:
    """Return why no regular expression dialect accepts a pattern, or `None` if one may."""
    if len(pattern) > JUDGED_PATTERN or "[]" in pattern or "[^]" in pattern:
        return None
    try:
        re.compile(pattern)
    except re.error as error:
        return error.msg if error.msg in _BROKEN else None
    except (RecursionError, OverflowError, ValueError, FutureWarning, DeprecationWarning):  # a number may have 5,000 digits
        return None
    return None


def patterns_in(node: Json) -> Iterator[tuple[Location, str]]:
    """Yield the patterns of one schema with their paths."""
    if node.__class__ is not dict:
        return
    if (pattern := node.get("pattern")).__class__ is str:
        yield ("pattern",), pattern
    if (named := node.get("patternProperties")).__class__ is dict:
        yield from ((("patternProperties", name), name) for name in named)


_PLAIN_PATTERN = (
    r"(?:[\w \-/:@,;<>=!\"'#%&~`^$.*+?|)]|\((?!\?)|\(\?[:=!]|\{\d+(?:,\d*)?\}|\\[dDwWsSbB.\-/^$*+?()\[\]{}|]"
    r"|\[\^?(?:[\w /:@,;<>=!\"'#%.*+?|(){}$]|-|\\[dDwWsS.\-/^$*+?()\[\]{}|])+\])*"
)


_DOUBLED = r"--|&&|~~|\|\|.*\]"


@lru_cache(maxsize=4096)
def matches(pattern: str, name: str) -> bool | None:
    """Return whether a pattern matches in a name, or `None` if validators may disagree, or it may take long."""
    if not (name.isascii() and name.isprintable()) or len(name) > MATCHED_NAME or not _read_alike(pattern):
        return None
    matcher = _matcher(pattern)
    return matcher(name) if isinstance(matcher, _Linear) else None


@lru_cache(maxsize=1024)
def _read_alike(pattern: str) -> bool:
    """Return whether all validators interpret a pattern alike."""
    if len(pattern) > MATCHED_PATTERN or not re.fullmatch(_PLAIN_PATTERN, pattern, re.ASCII):
        return False
    return not re.search(_DOUBLED, pattern)


_CHARACTER = re.compile(r"\\x([0-9a-f]{2})|\\u([0-9a-f]{4})|\\U([0-9a-f]{8})|\\[pP]\{[^}]*\}|\(\?P?<\w+>|([0-9A-Za-z])")
"""A character as written by `ecmascript.translate`; properties and group names are skipped."""


_ORDINARY = "aA0b1B -.@/:_,яαאا世"
"""Sample characters of the classes that a pattern may require."""


def matching_texts(pattern: str, least: int = 0, most: int | None = None) -> Iterator[str]:
    """Yield different texts of `least` to `most` characters that match a pattern, or none if the search takes too long.

    The first one is short, but not always the shortest.  `expressions.time_limit` bounds the time for all patterns.
    """
    may_begin = beginnings(pattern)
    if may_begin is None or least > PATTERN_TEXT:
        return
    longest = PATTERN_TEXT if most is None else min(most, PATTERN_TEXT)
    signs = _characters(pattern)
    left = PATTERN_CHARACTERS
    waiting = [iter([""])]
    while waiting and left > 0:
        text = next(waiting[-1], None)
        if text is None:
            waiting.pop()
            continue
        left -= len(text) + 1
        begins = may_begin(text)
        if begins is None:
            return
        if not begins:
            continue
        if len(text) >= least and search(pattern, text) is True:
            yield text
        if len(text) < longest:
            waiting.append(_longer(text, signs))


def _longer(text: str, signs: list[str]) -> Iterator[str]:
    """Yield a text with one more character, rarest first, so that repeated parts come to an end."""
    return (text + sign for sign in sorted(signs, key=text.count))


def _characters(pattern: str) -> list[str]:
    """Return characters for generated texts, likeliest first: letters and digits, then those in the pattern."""
    from instrc.schema.ecmascript import translate

    found = (each.groups() for each in _CHARACTER.finditer(translate(pattern).regex))
    named = [sign or chr(int("".join(filter(None, codes)), 16)) for *codes, sign in found if sign or any(codes)]
    every = dict.fromkeys([*named, *_ORDINARY])
    return sorted(every, key=lambda sign: (not sign.isprintable(), not sign.isascii(), not sign.isalnum()))
