"""Tell which regular expressions a target takes, and spell them so that every engine reads the same."""

from __future__ import annotations

import re

from instrc.ir.dialect import Dialect
from instrc.lowering.rewrites.repetitions import repeats_over, split

_LOOKS = re.compile(r"\(\?[=!<>#aiLmsux&P(+|-]|\\[bBAZzGKkpPXRQE0-9uxcC]|[*+?}]\+|\[[^\]]*(?:\[|&&|--|~~)|(?<!\\)\[\^?\]")
_LITERAL_BRACE = re.compile(r"(?<!\\)\{(?!\d+(?:,\d*)?\})")


def pattern_for(pattern: str, dialect: Dialect, kind: str | None = None) -> str | None:
    """Return a regular expression as it is sent to a target; `None` if the target does not take it."""
    plain = _plain_classes(pattern)
    if not accepts_pattern(plain, kind or dialect.patterns, dialect.most_repeated):
        return None
    at_once = dialect.most_repeated_at_once
    if at_once is None:
        return plain
    several = split(plain, at_once)
    return None if repeats_over(several, at_once) else several


def accepts_pattern(pattern: str, kind: str, most_repeated: int | None = None) -> bool:
    """Say whether a target takes a regular expression, and Python reads it too."""
    if most_repeated is not None and repeats_over(pattern, most_repeated):
        return False
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError, ValueError):  # the last one for a number of 5,000 digits
        return False
    if kind == "any":
        return True
    if _LOOKS.search(pattern) or _LITERAL_BRACE.search(pattern) or _INNER_ANCHOR.search(_ATOMS.sub("a", pattern)):
        return False
    return kind == "plain" or _anchored(pattern)


_ATOMS = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
"""Escapes and character classes, in which signs stand for themselves."""
_INNER_ANCHOR = re.compile(r"(?<=.)(?<![|(])(?<!\(\?:)\^|\$(?![|)])(?=.)", re.DOTALL)
"""A beginning behind something, or an end before something: some engines know anchors around an alternative only."""


def _anchored(pattern: str) -> bool:
    """Say whether a pattern speaks of the whole text: `^…$` around it, alternatives within groups only, no anchor inside."""
    bones = _ATOMS.sub("a", pattern)
    if not bones.startswith("^") or not bones.endswith("$") or {"^", "$"} & set(bones[1:-1]):
        return False
    depth = 0
    for sign in bones:
        depth += (sign == "(") - (sign == ")")
        if sign == "|" and depth == 0:
            return False
    return True


_SETS = ("&&", "||", "~~")
_ENDS_OF_WORDS = ("\\<", "\\>")
"""Signs as ECMA 262 reads them, ends of words to the engines in Rust."""


def _plain_classes(pattern: str) -> str:
    r"""Return a pattern whose character classes hold no bare `[`, `&&`, `||` or `~~`, and that has no needless `\<` and `\>`.

    To ECMA 262 they are characters; to the engines in Rust they begin a class inside the class, or an operation on it,
    and Python warns that one day they will to it.
    """
    if not any(mark in pattern for mark in ("[", "\\<", "\\>", *_SETS)):
        return pattern
    out: list[str] = []
    inside, place = False, 0
    while place < len(pattern):
        step = pattern[place : place + 2] if pattern[place] == "\\" else pattern[place]
        if step in _ENDS_OF_WORDS:
            out.append(step[1])
            place += 2
            continue
        if inside and (step == "[" or pattern[place : place + 2] in _SETS):
            step = f"\\{step}"
            place -= 1
        elif step == "[":
            inside = True
        elif step == "]":
            inside = False
        out.append(step)
        place += len(step)
    plain = "".join(out)
    return pattern if plain == pattern else plain
