"""The file of cases beside a program, as it is read: headings of the second level, and fenced blocks below them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from instrc.problems.suggest import did_you_mean, nearest

ENDING = ".cases.md"
GIVEN = frozenset({"answer", "answers", "input"})
EXPECTED = ("output", "thoughts", "metrics", "problems", "value", "error")
_WORDS = (*sorted(GIVEN), *EXPECTED)
_HEADING = re.compile(r"^## +(.+?)\s*$", re.MULTILINE)
_FENCE = re.compile(r"^ {0,3}(```+|~~~+)(json[ \t]+)?(\w+)([^\n]*)\n(.*?)^ {0,3}\1[ \t]*\r?$", re.MULTILINE | re.DOTALL)
_MARKS = re.compile(r"^ {0,3}(```+|~~~+)(.*)$", re.MULTILINE)
_NO_HEADING = "before the first case"
"""Instead of a title: what stands before the first heading."""


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: its word, what stands behind that, its text and where that stands."""

    word: str
    rest: tuple[str, ...]
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Case:
    """One case of a file."""

    title: str
    line: int
    blocks: tuple[Block, ...]
    mistake: str | None = None
    """Why the case cannot be carried out, if its blocks alone tell."""

    def block(self, word: str) -> Block | None:
        """Return the block of a word."""
        return next((block for block in self.blocks if block.word == word), None)

    @property
    def export(self) -> str | None:
        """The export that is meant."""
        said = [word.removeprefix("export=") for block in self.blocks for word in block.rest if word.startswith("export=")]
        return said[0] if said else None


def read_cases(text: str) -> list[Case]:
    """Return the cases of a file, in order; blocks before the first heading are a case that cannot be carried out."""
    heads = list(_HEADING.finditer(text))
    cases = []
    stray = next((found for found in _fences(text, 0, heads[0].start() if heads else len(text)) if found[3] in _WORDS), None)
    if stray is not None:
        reason = "a block belongs to no case: write a heading `## …` before it"
        cases.append(Case(_NO_HEADING, _line(text, stray.start()), (), reason))
    for head, following in zip(heads, [*heads[1:], None], strict=False):
        end = following.start() if following else len(text)
        fences = _fences(text, head.end(), end)
        blocks = tuple(
            Block(found[3], tuple(found[4].split()), found[5], found.start(5), found.end(5))
            for found in fences
            if found[3] in _WORDS
        )
        unknown = [found for found in fences if found[3] not in _WORDS and (found[2] or _is_like_a_word(found[3]))]
        mistake = _mistake(blocks, unknown) or _unclosed(text, head.end(), end)
        cases.append(Case(head[1], _line(text, head.start()), blocks, mistake))
    return cases


def _fences(text: str, start: int, end: int) -> list[re.Match[str]]:
    return list(_FENCE.finditer(text, start, end))


def _line(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1


def _is_like_a_word(language: str) -> bool:
    """Tell whether the language of a fence is one of our words but for its number or its case, as `problem` and `Output` are."""
    return language.lower().removesuffix("s") in {word.removesuffix("s") for word in _WORDS}


def _mistake(blocks: tuple[Block, ...], unknown: list[re.Match[str]]) -> str | None:
    """Say what is wrong with the blocks of a case: one that means nothing, or that another one leaves without effect."""
    if unknown:
        word = unknown[0][3]
        hint = did_you_mean(nearest(word, _WORDS)) or f"there are {', '.join(f'`{word}`' for word in _WORDS)}"
        return f"a block `{'json ' if unknown[0][2] else ''}{word}` says nothing: {hint}"
    words = [block.word for block in blocks]
    for word in sorted(GIVEN):
        if words.count(word) > 1:
            return f"it has two blocks `json {word}`: make two cases of it"
    if "answer" in words and "answers" in words:
        return "it has both `json answer` and `json answers`: make two cases of it"
    if "answer" in words and "input" in words:
        return "`json input` is for a whole run, with `json answers`: remove it"
    return None


def _unclosed(text: str, start: int, end: int) -> str | None:
    """Say which block of a case has no last line."""
    opened: re.Match[str] | None = None
    for marks in _MARKS.finditer(text, start, end):
        if opened is None:
            opened = marks
        elif marks[1] == opened[1] and not marks[2].strip():
            opened = None
    return (
        None
        if opened is None
        else f"the block of line {_line(text, opened.start())} is not closed: write ```` {opened[1]} ```` after it"
    )
