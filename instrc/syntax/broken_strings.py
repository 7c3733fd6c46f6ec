"""Strings that are not well written: where each of them ends, its value, and what is wrong with it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from instrc.problems.habits import NestedQuotes
from instrc.problems.problem import Problem
from instrc.problems.strings import SmartQuote, TemplateString, UnclosedString
from instrc.source import Source, Span
from instrc.syntax.quotes import DOUBLE, DOUBLE_END, DOUBLE_SMART, QUOTES, SINGLE_END, SINGLE_SMART, later_end, line_end_of
from instrc.syntax.tokens import Token

_ENDS_WITH_SIGN = re.compile(r"[:,({\[|=]\s*[\"']\Z")
_AFTER_STRINGS = " \t)]};,"
"""What closes the brackets around a string that has no end."""


class ReadString(NamedTuple):
    """A string with the value that it was probably meant to have."""

    end: int
    value: str
    problems: tuple[Problem, ...]
    spoils_line: bool = False
    """Whether nobody knows where it ends on its line, so that further complaints there are idle."""


def open_string(source: Source, start: int, before: Sequence[Token]) -> ReadString:
    """Read a string without an end on its line: up to a typographic quote, a later line, or this line's closing brackets.

    `before` are the tokens before it.
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
    """Read a string that begins with a typographic quote, up to any quote like it."""
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
    """Read a string in backticks, up to the next backtick, else to the end of its line."""
    text = source.text
    problem = TemplateString(at=source.span(start, start + 1))
    if end := text.find("`", start + 1) + 1:
        return ReadString(end, text[start + 1 : end].rstrip("`"), (problem,))
    end = line_end_of(text, start)
    return ReadString(end, text[start + 1 : end].rstrip("`"), (problem,), spoils_line=True)


def _end_on_line(text: str, start: int, line_end: int) -> int:
    """Return where a string without an end stops: before the brackets and signs that close its line."""
    return start + 1 + len(text[start + 1 : line_end].rstrip(_AFTER_STRINGS))


def _ending_quote(source: Source, start: int, before: Sequence[Token]) -> Span | None:
    """Return the quote that ended a string too early, as the second one of `'it's'` does."""
    if len(before) < 2:
        return None
    text = source.text
    string, name = before[-2:]
    quoted = string.kind == "STRING" and name.kind == "NAME" and string.end == name.start
    if quoted and _ENDS_WITH_SIGN.search(text, string.start, string.end):  # `"x, b: "y"`: a quote is missing
        return None
    same = quoted and text[string.end - 1] == text[start] and "\n" not in text[name.end : start]
    return source.span(string.end - 1, string.end) if same else None
