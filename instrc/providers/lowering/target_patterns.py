"""Translate regular expressions to forms that a target accepts and that every engine interprets alike."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from instrc.providers.dialect import CLASS_OPERATIONS, COMMON_ESCAPES, ESCAPED_IN_CLASSES, WORD_ENDS, Dialect
from instrc.schema.patterns import ATOM, REPEATS, too_large

SPLIT_PATTERN: Final = 4000
"""Maximum characters of a pattern whose repetitions are split; a longer result is reported as a loss."""
_DIGITS = 18
"""Maximum digits of a number that is parsed: Python refuses some thousands."""


def split_repetitions(pattern: str, most: int) -> str:
    """Return a pattern without repetitions of more than `most` times, or the same pattern if that would be too long."""
    greatest = max(counts(pattern), default=0)
    if not most < greatest < most * SPLIT_PATTERN:
        return pattern
    out: list[str] = []
    groups: list[int] = []
    """Starts of the open groups in the output."""
    atom = 0
    for piece in pieces(pattern):
        if repeats := REPEATS.fullmatch(piece):
            repeated = "".join(out[atom:])
            if len(repeated) > SPLIT_PATTERN:
                return pattern
            out[atom:] = [f"{repeated}{{{range_}}}{repeats[4]}" for range_ in _ranges(repeats, most)] or [""]
            continue
        atom = groups.pop() if piece == ")" and groups else len(out)
        if piece.startswith("("):
            groups.append(len(out))
        out.append(piece)
    result = "".join(out)
    return result if len(result) <= SPLIT_PATTERN else pattern


def _ranges(repeats: re.Match[str], most: int) -> list[str]:
    """Return the bounds of the repetitions that replace one."""
    least = int(repeats[1])
    result: list[str] = []
    if repeats[2] and not repeats[3]:
        while least > most:
            result.append(str(most))
            least -= most
        return [*result, f"{least},"]
    greatest = int(repeats[3] or least)
    if greatest <= most:
        return [f"{least},{greatest}" if repeats[2] else str(least)]
    while greatest:
        high = min(greatest, most)
        low = min(least, high)
        result.append(str(low) if low == high else f"{low},{high}")
        least, greatest = least - low, greatest - high
    return result


def repeats_over(pattern: str, most: int) -> bool:
    """Return whether a pattern repeats a part more than `most` times at once."""
    return any(count > most for count in counts(pattern))


def pieces(pattern: str) -> list[str]:
    """Return the elements of a pattern: signs, escapes, character classes, beginnings of groups, and counts in braces."""
    result: list[str] = []
    place = 0
    while place < len(pattern):
        piece = REPEATS.match(pattern, place) if result else None
        piece = piece or ATOM.match(pattern, place)
        assert piece is not None  # an atom may be any character
        result.append(piece[0])
        place = piece.end()
    return result


def counts(pattern: str) -> list[int]:
    """Return the numbers in a pattern's counts; overlong ones are beyond any limit as well."""
    if "{" not in pattern:
        return []
    counts = [piece for piece in pieces(pattern) if piece.startswith("{")]
    return [int(number[:_DIGITS]) for piece in counts for number in re.findall(r"\d+", piece)]


_QUANTIFIERS = frozenset("*+?{")
_ESCAPE = re.compile(r"\\.", re.DOTALL)
_BY_NUMBER = re.compile(r"\\(?:x(?P<two>[0-9a-fA-F]{2})|u(?P<four>[0-9a-fA-F]{4})|.)", re.DOTALL)
"""Any escape: a character by its number, or the sign after the backslash."""


def pattern_for(pattern: str, dialect: Dialect, kind: str | None = None) -> str | None:
    """Return a regular expression in the target's form, or `None` if the target does not accept it."""
    kind, plain = kind or dialect.patterns, _plain_classes(pattern)
    if kind != "any":
        plain = _BY_NUMBER.sub(_letter, plain)
    if kind == "spelled":
        plain = spelled(plain) or ""
    if not accepts_pattern(plain, kind, dialect.most_repeated):
        return None
    at_once = dialect.most_repeated_at_once
    if at_once is None:
        return plain
    several = split_repetitions(plain, at_once)
    return None if repeats_over(several, at_once) else several


_NEEDS_PLAINER = ("[", *WORD_ENDS, *ESCAPED_IN_CLASSES)
"""Signs without which a pattern is sent unchanged."""


def _plain_classes(pattern: str) -> str:
    r"""Return a pattern without bare `[`, `&&`, `||` or `~~` in character classes, and without needless `\<` and `\>`.

    In ECMA 262 they are characters; in the Rust engines they begin a nested class or an operation,
    and Python warns that they will do so in the future.
    """
    if not any(mark in pattern for mark in _NEEDS_PLAINER):
        return pattern
    out: list[str] = []
    inside, place = False, 0
    while place < len(pattern):
        step = pattern[place : place + 2] if pattern[place] == "\\" else pattern[place]
        if step in WORD_ENDS:
            out.append(step[1])
            place += 2
            continue
        if inside and (step == "[" or pattern[place : place + 2] in ESCAPED_IN_CLASSES):
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


def _letter(escape: re.Match[str]) -> str:
    r"""Return the letter that `\x41` or `\u0041` escapes; any other escape unchanged."""
    if (number := escape["two"] or escape["four"]) is None:
        return escape[0]
    sign = chr(int(number, 16))
    return sign if sign.isalpha() else escape[0]  # a digit or character could have a special meaning there


def accepts_pattern(pattern: str, kind: str, most_repeated: int | None = None) -> bool:
    """Return whether both the target and Python accept a regular expression."""
    if too_large(pattern) is not None or (most_repeated is not None and repeats_over(pattern, most_repeated)):
        return False
    if kind == "spelled":
        return bool(pattern) and spelled(pattern) == pattern and _python_reads(pattern)
    if kind != "any":
        read = pieces(pattern)
        if not (_is_plain(read) and _anchors_stand_outside(read) and (kind == "plain" or _anchored(read))):
            return False
    return _python_reads(pattern)


@lru_cache(maxsize=2048)
def _python_reads(pattern: str) -> bool:
    """Return whether Python accepts a regular expression, with a cache for repeated questions, as Python's own holds 512."""
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError, ValueError):  # the last one for a number of 5,000 digits
        return False
    return True


def _is_plain(read: Sequence[str]) -> bool:
    """Return whether every engine accepts a pattern: no look-around, flags, possessive repetition, sets in classes."""
    for before, piece, after in zip(["", *read], read, [*read[1:], ""], strict=False):
        match piece[0]:
            case "\\":
                plain = _is_common_escape(piece)
            case "[" if len(piece) > 1:
                plain = _is_plain_class(piece)
            case "(":
                plain = piece in {"(", "(?:"} and after != "?"
            case "{":
                plain = len(piece) > 1  # otherwise it is a literal character
            case "+":
                plain = before[:1] not in _QUANTIFIERS
            case _:
                plain = True
        if not plain:
            return False
    return True


def _is_common_escape(escape: str) -> bool:
    """Return whether all engines interpret an escape alike: one of the common letters, or an ASCII sign."""
    sign = escape[1:]
    return sign in COMMON_ESCAPES or (sign.isascii() and not sign.isalnum() and escape not in WORD_ENDS)


def _is_plain_class(piece: str) -> bool:
    """Return whether a character class is read alike everywhere: it lists something, and no classes or operations on them."""
    listed = piece[1:-1].removeprefix("^")
    if not listed or listed.startswith("]") or not all(map(_is_common_escape, re.findall(_ESCAPE, listed))):
        return False
    bare = re.sub(_ESCAPE, "a", listed)
    return "[" not in bare and not any(sign in bare for sign in CLASS_OPERATIONS)


_MIRRORED = {"(": ")", "(?:": ")", ")": "("}


def _anchors_stand_outside(read: Sequence[str]) -> bool:
    """Return whether `^` occurs only at the beginning and `$` only at the end: some engines support no others."""
    if {"^", "$"}.isdisjoint(read):
        return True
    return _only_first(read, "^") and _only_first([_MIRRORED.get(piece, piece) for piece in reversed(read)], "$")


def _only_first(read: Sequence[str], anchor: str) -> bool:
    """Return whether an anchor occurs only at the beginning of alternatives, and in no repeated group."""
    groups: list[tuple[bool, bool]] = []
    """For each open group, whether nothing precedes it, and whether an anchor precedes it."""
    first, begins, met = True, True, False
    for piece, after in zip(read, [*read[1:], ""], strict=False):
        if piece == anchor:
            if not first:
                return False
            met = True
        elif piece.startswith("("):
            groups.append((begins, met))
            begins, met = first, False
        elif piece == "|":
            first = begins
        else:
            if piece == ")" and groups:
                if met and anchor == "^" and after[:1] in _QUANTIFIERS:
                    return False  # read from the end, a repetition comes before `$`
                begins, before = groups.pop()
                met = met or before
            first = False
    return True


def _anchored(read: Sequence[str]) -> bool:
    """Return whether a pattern covers the whole text: enclosed in `^…$`, alternatives only within groups, no inner anchor."""
    if len(read) < 2 or read[0] != "^" or read[-1] != "$" or {"^", "$"} & set(read[1:-1]):
        return False
    depth = 0
    for piece in read:
        depth += piece.startswith("(") - (piece == ")")
        if piece == "|" and depth == 0:
            return False
    return True


_IN_CLASS = re.compile(r"\\x[0-9a-f]{2}|\\.|.", re.DOTALL)
_SPELLED_CLASSES = {"\\d": "0-9", "\\w": "A-Za-z0-9_"}
_ESCAPED_BY_JSON = '"\\' + "".join(map(chr, range(32))) + "\ud800\udfff"


def spelled(pattern: str) -> str | None:
    r"""Return a whole-text pattern that lists the accepted characters, or `None` if that is impossible.

    `^\d+\.[a-z]+$` becomes `^[0-9]+[\x2e][a-z]+$`. For engines that match the JSON text rather than the string:
    nothing may match a quotation mark, a backslash or a control character, as `.` and `[^a]` would.
    """
    read = pieces(pattern)
    if len(read) < 3 or not _anchored(read):
        return None
    out: list[str] = ["^"]
    before = "^"
    for piece in read[1:-1]:
        if piece[0] in "()|":
            empty = piece[0] != "(" and before in {"(", "(?:", "|"}
            part = None if empty or piece not in {"(", "(?:", ")", "|"} else piece
        elif piece[0] in _QUANTIFIERS:
            part = None if before in {"^", "(", "(?:", "|"} or before[0] in _QUANTIFIERS or set(piece) <= set("{0,}") else piece
        elif piece.isascii() and piece.isalnum():
            part = piece
        else:
            part = _spelled_class(piece[1:-1] if len(piece) > 1 and piece[0] == "[" else "" if piece == "." else piece)
        if part is None:
            return None
        out.append(part)
        before = piece
    return "".join([*out, "$"])


def _spelled_class(listed: str) -> str | None:
    """Return the members of a class in brackets, or `None` if it is negated or contains characters that JSON escapes."""
    signs = [_SPELLED_CLASSES.get(sign, sign) for sign in re.findall(_IN_CLASS, listed)]
    if not signs or signs[0] == "^" or (signs[0] == "]" and len(signs) > 1):
        return None
    if any(re.fullmatch(r"\\(?:[a-zA-Z0-9]|[^\x00-\x7f])", sign) for sign in signs):
        return None
    result = "".join(sign if len(sign) != 2 and sign != "]" else f"\\x{ord(sign[-1]):02x}" for sign in signs)
    if any(sign in result for sign in CLASS_OPERATIONS):
        return None
    result = f"[{result}]"
    try:
        return None if any(re.fullmatch(result, sign) for sign in _ESCAPED_BY_JSON) else result
    except re.error:
        return None
