"""Lay out text on lines of a bounded width.

A document says where a line may end; a group of it stands on one line if it fits there, else all its own lines end.
This is the printer of Wadler's "A prettier printer" with an explicit stack, so depth is no limit.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

WIDTH = 100
"""Columns of a line, as far as it can be broken."""
_INDENT = 2


class Line(NamedTuple):
    """A place where a line ends if the group around it is broken; `flat` stands there if it is not."""

    flat: str = " "
    blank: bool = False
    """Whether an empty line follows."""


class Nest(NamedTuple):
    """A document whose lines are indented one step further."""

    doc: Doc


class Group(NamedTuple):
    """A document that stands on one line if it fits; `broken` where it must not."""

    doc: Doc
    broken: bool = False


class Broken(NamedTuple):
    """A text that stands only in a broken group."""

    text: str


Doc: TypeAlias = "str | Line | Nest | Group | Broken | tuple[Doc, ...]"
_Task: TypeAlias = tuple[int, bool, Doc]
"""A document to print, with its indentation and whether the group around it is broken."""


def layout(doc: Doc, width: int = WIDTH) -> str:
    """Return the text of a document; lines end without spaces."""
    written: list[str] = []
    column = 0
    stack: list[_Task] = [(0, True, doc)]
    while stack:
        indent, broken, part = stack.pop()
        match part:
            case str():
                written.append(part)
                column = len(part) - part.rfind("\n") - 1 if "\n" in part else column + len(part)
            case Line(flat, blank):
                if broken:
                    written.append("\n\n" if blank else "\n")
                    written.append(" " * indent)
                    column = indent
                else:
                    written.append(flat)
                    column += len(flat)
            case Nest(inner):
                stack.append((indent + _INDENT, broken, inner))
            case Group(inner, must):
                stack.append((indent, must or not _fits(inner, width - column, stack), inner))
            case Broken(text):
                if broken:
                    written.append(text)
                    column += len(text)
            case _:
                stack.extend((indent, broken, each) for each in reversed(part))
    return "".join(written)


def _fits(doc: Doc, left: int, behind: list[_Task]) -> bool:
    """Tell whether a document and what follows it up to the next line end takes no more columns than are left."""
    todo: list[tuple[bool, Doc]] = [(False, doc)]
    following = len(behind)
    while left >= 0:
        if not todo:
            if not following:
                return True
            following -= 1
            todo.append(behind[following][1:])
            continue
        broken, part = todo.pop()
        match part:
            case str():
                left -= len(part)
            case Line(flat):
                if broken:
                    return True
                left -= len(flat)
            case Nest(inner):
                todo.append((broken, inner))
            case Group(inner, must):
                todo.append((broken or must, inner))
            case Broken(text):
                left -= len(text) if broken else 0
            case _:
                todo.extend((broken, each) for each in reversed(part))
    return False
