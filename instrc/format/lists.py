"""Lay out lists: what stands in brackets, and statements, each item with its comments."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from instrc.format.comments import Comment
from instrc.format.line_breaking import Broken, Doc, Group, Line, Nest
from instrc.syntax.tables import CONTEXTUAL

GOES_ON = frozenset({"(", "@"}) | {word.lower() for word in CONTEXTUAL}
"""With what a statement may not begin directly behind another: it would be taken for a part of that."""


class Item(Struct, frozen=True, gc=False):
    """One line of a list: a statement, an argument, a field, a stage."""

    doc: Doc
    lead: tuple[Comment, ...] = ()
    trail: tuple[Comment, ...] = ()
    blank: bool = False
    hard: bool = False
    """Whether it takes several lines."""
    first: str = ""
    """Its first word or sign."""
    closed: bool = False
    """Whether it ends with the brace of a block, as a statement needs no `;` then."""
    bracketed: bool = False
    """Whether it is one pair of brackets: `{ … }`, `[ … ]`, `@ { … }`."""

    @property
    def above(self) -> tuple[Comment, ...]:
        """Comments on lines of their own: a directly placed one too, if another follows it."""
        if not self.lead:
            return ()
        last = max((at + 1 for at, comment in enumerate(self.lead) if not comment.inline), default=0)
        return self.lead[:last]

    def behind(self, comments: tuple[Comment, ...]) -> Item:
        """Return the item with comments at the end of its line; where one of several ends the line, only the last stays there."""
        trail = self.trail + comments
        if len(trail) < 2:
            return replace(self, trail=trail) if comments else self
        if any("\n" in comment.text or comment.text.startswith("//") for comment in trail[:-1]):
            return replace(self, lead=self.lead + trail[:-1], trail=trail[-1:])
        return replace(self, trail=trail)

    @property
    def apart(self) -> bool:
        """Whether an empty line stands before all of it."""
        return self.lead[0].blank if self.above else self.blank

    @property
    def inner(self) -> Doc:
        """The document with the comments directly before it."""
        if not self.lead:
            return self.doc
        return (*(f"{comment.text} " for comment in self.lead[len(self.above) :]), self.doc)

    @property
    def loose(self) -> bool:
        """Whether it cannot stand in a line with others."""
        return self.hard or bool(self.above or self.trail)


def bracketed(
    opening: str, items: Sequence[Item], behind: tuple[Comment, ...], closing: str, *, spaced: bool
) -> tuple[Doc, bool]:
    """Return a list in brackets, and whether it cannot stand on one line."""
    if not items and not behind:
        return opening + closing, False
    if len(items) == 1 and _shares_brackets(opening, items[0], behind):
        return (opening, items[0].doc, closing), items[0].hard
    hard = bool(behind) or any(item.loose for item in items)
    edge = Line(" " if spaced else "")
    if opening == "[" and not (hard or any(item.lead or item.blank for item in items)):
        numbers = filled([item.doc for item in items])
        if numbers:
            return Group((opening, Nest((edge, *numbers, Broken(","))), edge, closing)), False
    rows: list[Doc] = [edge]
    for number, item in enumerate(items):
        last = number == len(items) - 1
        if number:
            rows.append(Line(blank=item.apart))
        rows += [*lines_above(item), item.inner, Broken(",") if last else ",", *line_end(item)]
    rows += remaining(behind, first=not items)
    return Group((opening, Nest(tuple(rows)), edge, closing), hard), hard


def _shares_brackets(opening: str, item: Item, behind: tuple[Comment, ...]) -> bool:
    """Tell whether the brackets of a call break together with those of its only argument: `Draft({` and `})`."""
    return opening == "(" and item.bracketed and not (item.lead or item.trail or behind)


def filled(items: Sequence[Doc]) -> list[Doc]:
    """Return numbers with commas between them, as many on a line as fit; nothing if there is anything but numbers."""
    if not all(item.__class__ is str and item.lstrip("-")[:1].isdecimal() for item in items):
        return []
    rows: list[Doc] = [items[0]]
    for item in items[1:]:
        rows += [",", Group((Line(), item))]
    return rows


def lines_above(item: Item) -> list[Doc]:
    """Return the comments above an item, each with its line end."""
    rows: list[Doc] = []
    above = item.above
    for number, comment in enumerate(above):
        following = above[number + 1].blank if number + 1 < len(above) else item.blank
        rows += [comment.text, Line(blank=following)]
    return rows


def line_end(item: Item) -> list[Doc]:
    """Return the comments at the end of an item's line."""
    return [f" {comment.text}" for comment in item.trail]


def remaining(comments: tuple[Comment, ...], *, first: bool) -> list[Doc]:
    """Return the comments behind the last item; `first` if there is none."""
    rows: list[Doc] = []
    for number, comment in enumerate(comments):
        if number or not first:
            rows.append(Line(blank=comment.blank))
        rows.append(comment.text)
    return rows


def statement_rows(items: Sequence[Item], behind: tuple[Comment, ...], *, end: str) -> list[Doc]:
    """Return statements, each on its line, with `end` behind the last one."""
    rows: list[Doc] = []
    for number, item in enumerate(items):
        if number:
            rows.append(Line(blank=item.apart))
        last = number == len(items) - 1
        following = end if last else ";"
        if item.closed and (last or items[number + 1].first not in GOES_ON):
            following = ""
        rows += [*lines_above(item), item.inner, following, *line_end(item)]
    return rows + remaining(behind, first=not items)
