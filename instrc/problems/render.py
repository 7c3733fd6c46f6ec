"""Show problems to people: place, message, the lines with the mistake underlined, and the hint.

A frame consists of pieces with style names, so the same text can be shown with or without colours.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from instrc.problems.problem import Problem, shorten_values
from instrc.text.source import Span
from instrc.text.visible import columns, shortened, visible

SHOWN_LINES: Final = 3
"""Maximum lines of a long span that are shown; an ellipsis replaces the rest."""
SHOWN_OF_A_KIND: Final = 100
"""Maximum number of problems of one name shown in full; the others are only counted."""
SENTENCE_LENGTH: Final = 600
"""Maximum characters of a message: a name in it may be as long as the input."""


WINDOW = 100
"""Characters of a very long line that are shown around the mistake."""
BEFORE = 40
"""Characters of that window before the mistake."""


class Styled(NamedTuple):
    """A run of text in one style: `path`, `error`, `warning`, `name`, `gutter`, `mark`, `hint` or nothing."""

    text: str
    style: str = ""


def render_text(problems: Iterable[Problem]) -> str:
    """Return all frames as text without colours; each line ends with a line break."""
    return "".join(f"{''.join(part.text for part in line)}\n" for problem in problems for line in frame(problem))


def first_of_each(problems: Iterable[Problem]) -> tuple[list[Problem], str]:
    """Return the first problems of each name, in their order, and a line that counts the others, if there are any."""
    met: Counter[str] = Counter()
    first: list[Problem] = []
    for problem in problems:
        met[problem.name] += 1
        if met[problem.name] <= SHOWN_OF_A_KIND:
            first.append(problem)
    more = [f"{count - SHOWN_OF_A_KIND:,} more of [{name}]" for name, count in met.most_common() if count > SHOWN_OF_A_KIND]
    return first, f"… {', '.join(more)}; `--format json` shows them all\n" if more else ""


def summary(problems: Iterable[Problem]) -> str:
    """Return the counts as text: `2 errors, 1 warning`; empty if there are no problems."""
    severities = [problem.severity for problem in problems]
    counts = ((severities.count("error"), "error"), (severities.count("warning"), "warning"))
    return ", ".join(f"{count} {word}{'' if count == 1 else 's'}" for count, word in counts if count)


def place(span: Span) -> str:
    """Return `path:line:column`, counted from 1 in code points."""
    line, column = span.source.locate(min(span.start, len(span.source.text)))
    return f"{visible(span.source.name)}:{line}:{column}"


def frame(problem: Problem) -> Iterator[list[Styled]]:
    """Yield the lines that show one problem."""
    head = [] if problem.at is None else [Styled(place(problem.at), "path"), Styled(": ")]
    yield [
        *head,
        Styled(f"{problem.severity}: ", problem.severity),
        Styled(f"{_sentence(problem.message)} "),
        Styled(f"[{problem.name}]", "name"),
    ]
    if problem.at is not None:
        yield from _snippet(problem.at, problem.severity)
    for label in problem.labels:
        yield [Styled("  "), Styled(place(label.span), "path"), Styled(f": {_sentence(label.text)}")]
        yield from _snippet(label.span, "mark")
    for call in problem.calls:
        yield [Styled("  "), Styled(place(call), "path"), Styled(": the program is called here")]
        yield from _snippet(call, "mark")
    if problem.hint is not None:
        yield [Styled("  hint: ", "hint"), Styled(_sentence(problem.hint))]


def _sentence(text: str) -> str:
    return visible(shortened(shorten_values(text), SENTENCE_LENGTH))


def _snippet(span: Span, style: str) -> Iterator[list[Styled]]:
    """Yield the lines of a span with marks under it."""
    text = span.source.text
    if not text:
        return
    start = min(span.start, len(text))
    end = max(start + 1, span.end)
    number, column = span.source.locate(start)
    line_start = start - column + 1
    last = number + text.count("\n", start, min(end, len(text)) - 1)
    width = len(str(min(last, number + SHOWN_LINES - 1)))
    for shown in range(SHOWN_LINES):
        line_end = text.find("\n", start)
        line_end = len(text) if line_end < 0 else line_end
        yield from _line(text, line_start, line_end, start, end, f"{number + shown:>{width}}", style)
        if number + shown >= last:
            return
        line_start = start = line_end + 1
        while text[start : start + 1] in {" ", "\t"}:  # the indentation of continuation lines is not part of the mistake
            start += 1
    yield [Styled(f"  {'':{width}} | ", "gutter"), Styled("…")]


def _line(text: str, line_start: int, line_end: int, start: int, end: int, number: str, style: str) -> Iterator[list[Styled]]:
    """Yield a source line and its marks; a very long line is cut to the part around the marks."""
    stop = line_end - 1 if line_end > line_start and text[line_end - 1] == "\r" else line_end
    left, right = line_start, stop
    if right - left > WINDOW + BEFORE:
        left = max(line_start, min(start - BEFORE, stop - WINDOW))
        right = min(stop, left + WINDOW)
    before, under = text[left:start], text[start : min(end, right)]
    shown = f"{'…' if left > line_start else ''}{_expanded(text[left:right])}{'…' if right < stop else ''}"
    indent = columns(_expanded(before)) + (1 if left > line_start else 0)
    yield [Styled(f"  {number} | ", "gutter"), Styled(shown)]
    carets = "^" * max(1, columns(_expanded(under)))
    if under or start >= right:
        yield [Styled(f"  {'':{len(number)}} | ", "gutter"), Styled(" " * indent), Styled(carets, style)]


def _expanded(text: str) -> str:
    return visible(text.replace("\t", "    "))
