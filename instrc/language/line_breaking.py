"""Lay out text on lines of a bounded width.

A document marks possible line ends; a group is printed on one line if it fits there, and otherwise breaks all its own lines.
This is the printer of Wadler's "A prettier printer" with an explicit stack, so depth is no limit.
"""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

WIDTH = 100
"""Maximum width of a line in columns, if it can be broken."""
_INDENT = 2


class Line(Struct, frozen=True, gc=False):
    """A line end if the enclosing group is broken; otherwise `flat` is printed."""

    flat: str = " "
    blank: bool = False
    """Whether an empty line follows."""


Doc: TypeAlias = "str | Line | Nest | Group | Broken | tuple[Doc, ...]"


class Nest(Struct, frozen=True, gc=False):
    """A document whose lines are indented one step further."""

    doc: Doc


class Group(Struct, frozen=True, gc=False):
    """A document printed on one line if it fits; `broken` forces it and every enclosing group to break."""

    doc: Doc
    broken: bool = False


class Broken(Struct, frozen=True, gc=False):
    """A text that is printed only in a broken group."""

    text: str


_Task: TypeAlias = tuple[int, Doc]
"""A document to print with its indentation; all enclosing groups are broken."""


def in_lines(doc: Doc, width: int = WIDTH) -> str:
    """Return the text of a document, without trailing spaces."""
    written: list[str] = []
    column = 0
    stack: list[_Task] = [(0, doc)]
    while stack:
        indent, part = stack.pop()
        if part.__class__ is str:
            written.append(part)
            column = len(part) - part.rfind("\n") - 1 if "\n" in part else column + len(part)
        elif part.__class__ is tuple:
            stack += [(indent, each) for each in part[::-1]]
        elif part.__class__ is Line:
            written.append(("\n\n" if part.blank else "\n") + " " * indent)
            column = indent
        elif part.__class__ is Nest:
            stack.append((indent + _INDENT, part.doc))
        elif part.__class__ is Group:
            line = None if part.broken else _on_one_line(part.doc, width - column, stack)
            stack.append((indent, part.doc if line is None else line))
        elif part.__class__ is Broken:
            written.append(part.text)
            column += len(part.text)
    return "".join(written)


def _on_one_line(doc: Doc, left: int, behind: list[_Task]) -> str | None:
    """Return a document on one line, or `None` if it does not fit together with what follows."""
    texts: list[str] = []
    todo: list[Doc] = [doc]
    while todo:
        part = todo.pop()
        if part.__class__ is str:
            left -= len(part)
            if left < 0:
                return None
            texts.append(part)
        elif part.__class__ is tuple:
            todo += part[::-1]
        elif part.__class__ is Line:
            left -= len(part.flat)
            texts.append(part.flat)
        elif part.__class__ is Nest:
            todo.append(part.doc)
        elif part.__class__ is Group:
            if part.broken:
                return None
            todo.append(part.doc)
    return "".join(texts) if _rest_fits(left, behind) else None


def _rest_fits(left: int, behind: list[_Task]) -> bool:
    """Return whether the text up to the next line end fits into the remaining columns."""
    for _, doc in reversed(behind):
        todo = [doc]
        while todo and left >= 0:
            part = todo.pop()
            if part.__class__ is str:
                left -= len(part)
            elif part.__class__ is tuple:
                todo += part[::-1]
            elif part.__class__ is Line:
                return True
            elif part.__class__ is Nest or part.__class__ is Group:
                todo.append(part.doc)
            elif part.__class__ is Broken:
                left -= len(part.text)
        if left < 0:
            return False
    return True
