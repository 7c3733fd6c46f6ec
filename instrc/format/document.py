"""The one layout of JSON.

Keys keep their order, which is meaning in a vibe, and numbers their digits.
The outermost brackets stand on lines of their own; what fits on a line inside them stands on one.
Numbers in square brackets fill their lines.
"""

from __future__ import annotations

import re

from instrc.format.line_breaking import Doc, Group, Line, Nest, in_lines
from instrc.format.lists import filled
from instrc.jsontext import INDENTED

_TOKEN = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[\[\]{},:]|[^\s\[\]{},:"]+)', re.DOTALL)
_ESCAPE = re.compile(r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)", re.DOTALL)


def format_json(text: str) -> str:
    """Return the canonical text of a JSON text; it must be JSON."""
    open_: list[list[Doc]] = [[]]
    signs: list[str] = []
    for found in _TOKEN.finditer(text):
        match found[1]:
            case "{" | "[" as sign:
                signs.append(sign)
                open_.append([])
            case "}" | "]" as sign:
                inner = open_.pop()
                _add(open_[-1], _brackets(signs.pop(), inner, sign, level=len(signs)))
            case ",":
                last = open_[-1].pop()
                open_[-1] += [(last, ","), Line() if len(signs) <= INDENTED else " "]
            case ":":
                open_[-1][-1] = (open_[-1][-1], ": ")
            case word:
                _add(open_[-1], _string(word) if word.startswith('"') else word)
    return in_lines((*open_[0], "\n"))


def _add(docs: list[Doc], value: Doc) -> None:
    """Put a value behind its key, or as an element of its own."""
    if docs and isinstance(last := docs[-1], tuple) and type(last) is tuple and last[-1] == ": ":
        docs[-1] = (*last, value)
    else:
        docs.append(value)


def _brackets(opening: str, inner: list[Doc], closing: str, *, level: int) -> Doc:
    if not inner:
        return opening + closing
    space = " " if opening == "{" else ""
    if level >= INDENTED:
        return (opening, space, *inner, space, closing)
    edge = Line(space)
    if opening == "[" and (numbers := filled([part[0] if type(part) is tuple else part for part in inner[::2]])):
        inner = numbers
    return Group((opening, Nest((edge, *inner)), edge, closing), broken=level == 0)


def _string(word: str) -> str:
    """Return a string in which letters are written as themselves; what would not be seen stays as it was written."""
    return _ESCAPE.sub(_unescaped, word) if "\\" in word else word


def _unescaped(escape: re.Match[str]) -> str:
    written = escape[0]
    if written == "\\/":
        return "/"
    if not written.startswith("\\u"):
        return written
    character = bytes.fromhex(written.replace("\\u", "")).decode("utf-16-be", "replace")
    return character if character.isprintable() and character not in '"\\\ufffd' else written
