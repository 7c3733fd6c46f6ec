"""Texts that are no program at all, or a program with something around it: YAML, JSON, prose, marks of lines, Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence

from instrc import problems
from instrc.jsontext import loads
from instrc.limits.programs import GUESSED_LINES
from instrc.problems.problem import Problem
from instrc.source import Source

_JSON = r"\s*\{\s*\"[^\"\n]*\"\s*:\s*(?:[\"\[{\d-]|(?:true|false|null)\b|\Z)"
_WORDS_OF_BLOCKS = r"(?:try|else|finally|loop|begin|do|default)"
_OTHER_FILES = (
    (r"\s*---[ \t]*(\r?\n|\Z)", "YAML"),
    (rf"\s*(?!aug:|{_WORDS_OF_BLOCKS}:)[\w-]+:[ \t]*([a-z0-9-][^({{|\r\n]*)?(\r?\n|\Z)", "YAML"),
    (rf"\s*(?!aug:|{_WORDS_OF_BLOCKS}:)[\w-]+:[ \t]+[^=({{|;\r\n]*[^=({{|;,\r\n]\r?\n(?:[ \t]+- |[\w-]+:[ \t])", "YAML"),
    (r"\s*\[[\w.-]+\][ \t]*\r?\n\s*[\w-]+[ \t]*=", "TOML"),
    (_JSON, "JSON"),
    (r"\s*<(?i:!doctype|html|\?xml|svg)", "HTML or XML"),
    (r"\s*#!", "a script"),
    (r"\s*(?:[$%>] +)?(?:instrc|pip|python3?|npm|npx|uv|cat|curl|sudo|cd|echo) +[\w./~-]", "a command for a terminal"),
    (r"\s*\w+(?:,? \w+){4,}[.!?,]", "plain text"),
    (r"\s*\w+[!,.]?(?: \w+){2,}:[ \t]*(\r?\n|\Z)", "plain text"),
)
_MARK = r"[ \t]*(>>>|>|\$|[-*•‣▪◦]|\d+[.:)]|\d+(?=[ \t]+(?:\w|\"|')))[ \t]+\S"
_COMMENT = r"\s*(//|/\*|\Z)"


def other_file(source: Source) -> Problem | None:
    """Return the problem of a source that is no program at all; it is asked about sources with a mistake only."""
    kind = next((kind for pattern, kind in _OTHER_FILES if re.match(pattern, source.text)), None)
    return _line_marks(source) if kind is None else problems.habits.NotAProgram(at=source.whole(), kind=kind)


def is_json(source: Source) -> bool:
    """Tell whether a source is JSON, which the grammar takes for braces without a step in them."""
    if not source.text.lstrip().startswith("{") or not re.match(_JSON, source.text):
        return False
    try:
        loads(source.text)
    except ValueError:
        return False
    return True


def inside_fences(found: Sequence[Problem], source: Source) -> list[Problem]:
    """Return some problems without those of the text around the fences of Markdown, which go with the fences."""
    fence = next((each for each in found if isinstance(each, problems.text.MarkdownFence) and each.at), None)
    if fence is None or fence.at is None:
        return list(found)
    start = source.text.find("\n", fence.at.end)
    end = source.text.find(f"\n{fence.at.text}", start)
    end = len(source.text) if end < 0 else end
    return [
        each
        for each in found
        if each is fence or each.at is None or each.at.source is not source or start <= each.at.start <= end
    ]


def _line_marks(source: Source) -> Problem | None:
    """Return the problem of lines that begin with the marks of a list, of a terminal, or with their own numbers."""
    found = []
    place = 0
    for line in source.text.splitlines(keepends=True)[:GUESSED_LINES]:
        if mark := re.match(_MARK, line):
            found.append(source.span(place + mark.start(1), place + mark.end(1)))
        elif not re.match(_COMMENT, line) and not (found and found[0].text in {">>>", "$", ">"}):
            return None
        place += len(line)
    if not found or (found[0].text.isdigit() and [each.text for each in found[:2]] != ["1", "2"]):
        return None
    return problems.text.LineMarks(at=found[0])
