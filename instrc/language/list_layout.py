"""Lay out lists and chains: bracketed items, statements, stages and alternatives, with their comments.

Each comment belongs to a word:

* One on its own line belongs to the following word and stays above it.
* One at the end of a line belongs to the preceding word and stays on its line.
* `/* … */` directly before a word stays there; before a closing sign it belongs to the preceding word.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from msgspec import Struct, structs

from instrc.language.concrete_tree import Leaf, Tree, Trivia
from instrc.language.line_breaking import Broken, Doc, Group, Line, Nest
from instrc.language.tables import CONTEXTUAL

_CLOSERS = frozenset({"RPAR", "RSQB", "RBRACE", "COMMA", "SEMICOLON", "VBAR", "COLON", "EQUAL", "DOT"})


class Comment(Struct, frozen=True, gc=False):
    """A printed comment: directly before its word (`inline`) or on its own line, optionally after an empty one."""

    text: str
    inline: bool = False
    blank: bool = False


class WordComments(Struct, gc=False):
    """The trivia of one word: comments above and directly before it, and at the end of its line."""

    lead: tuple[Comment, ...] = ()
    blank: bool = False
    """Whether an empty line precedes the word and the comments directly before it."""
    trail: tuple[Comment, ...] = ()


def comments_of_words(tree: Tree) -> tuple[dict[int, WordComments], tuple[Comment, ...]]:
    """Return the trivia of words by offset, and the comments after the last line of the program."""
    found: dict[int, WordComments] = {}
    last: Leaf | None = None
    for leaf in tree.leaves():
        before, found[leaf.start] = found[last.start] if last else WordComments(), WordComments()
        _share(leaf.before, last, leaf, before, found[leaf.start])
        last = leaf
    end = WordComments()
    _share(tree.behind, last, None, found[last.start] if last else WordComments(), end)
    return found, end.lead


def _share(gap: tuple[Trivia, ...], last: Leaf | None, leaf: Leaf | None, before: WordComments, here: WordComments) -> None:
    """Assign the comments between two words to one of them."""
    same_line = last is not None
    lines = 0
    lead, trail = list[Comment](), list[Comment]()
    ends = (number for number, each in enumerate(gap) if each.text.startswith("//") or _line_ends(each.text))
    last_end = max(ends, default=-1)
    for number, trivia in enumerate(gap):
        if trivia.kind == "space":
            lines += _line_ends(trivia.text)
            continue
        same_line = same_line and not lines
        blank, lines = lines > 1, 0
        text = "\n".join(line.rstrip() for line in trivia.text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
        alone = text.startswith("/*") and "\n" not in text and number > last_end
        if alone and leaf is not None and leaf.kind not in _CLOSERS:
            lead.append(Comment(text, inline=True))
            here.blank = here.blank or blank
        elif same_line:
            trail.append(Comment(text))
        else:
            lead.append(Comment(text, blank=blank or here.blank))
            here.blank = False
    here.blank = here.blank or lines > 1
    here.lead += tuple(lead)
    before.trail += tuple(trail)


def _line_ends(text: str) -> int:
    return text.replace("\r\n", "\n").replace("\r", "\n").count("\n")


GOES_ON = frozenset({"(", "@"}) | {word.lower() for word in CONTEXTUAL}
"""Tokens that a statement may not begin with directly after another one, as they would continue it."""


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
    """Whether it ends with a block's brace, so that a statement needs no `;`."""
    bracketed: bool = False
    """Whether it is a single pair of brackets: `{ … }`, `[ … ]`, `@ { … }`."""

    @property
    def above(self) -> tuple[Comment, ...]:
        """Comments on their own lines, including an inline one that another one follows."""
        if not self.lead:
            return ()
        last = max((at + 1 for at, comment in enumerate(self.lead) if not comment.inline), default=0)
        return self.lead[:last]

    def behind(self, comments: tuple[Comment, ...]) -> Item:
        """Return the item with comments at the end of its line; if a line comment is among several, only the last stays there."""
        trail = self.trail + comments
        if len(trail) < 2:
            return structs.replace(self, trail=trail) if comments else self
        if any("\n" in comment.text or comment.text.startswith("//") for comment in trail[:-1]):
            return structs.replace(self, lead=self.lead + trail[:-1], trail=trail[-1:])
        return structs.replace(self, trail=trail)

    @property
    def apart(self) -> bool:
        """Whether an empty line precedes it."""
        return self.lead[0].blank if self.above else self.blank

    @property
    def inner(self) -> Doc:
        """The document with the comments directly before it."""
        if not self.lead:
            return self.doc
        return (*(f"{comment.text} " for comment in self.lead[len(self.above) :]), self.doc)

    @property
    def loose(self) -> bool:
        """Whether it must have a line of its own."""
        return self.hard or bool(self.above or self.trail)


def bracketed(
    opening: str, items: Sequence[Item], behind: tuple[Comment, ...], closing: str, *, spaced: bool
) -> tuple[Doc, bool]:
    """Return a list in brackets, and whether it must be broken."""
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
    """Return whether the brackets of a call break together with those of its only argument: `Draft({` and `})`."""
    return opening == "(" and item.bracketed and not (item.lead or item.trail or behind)


def filled(items: Sequence[Doc]) -> list[Doc]:
    """Return numbers separated by commas, filling the lines, or an empty list if there is anything else."""
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
    """Return the comments after the last item; `first` if there is none."""
    rows: list[Doc] = []
    for number, comment in enumerate(comments):
        if number or not first:
            rows.append(Line(blank=comment.blank))
        rows.append(comment.text)
    return rows


def statement_rows(items: Sequence[Item], behind: tuple[Comment, ...], *, end: str) -> list[Doc]:
    """Return statements, one per line, with `end` after the last one."""
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


class Made(Struct, frozen=True, gc=False):
    """The layout of a part of the tree, with comments that are still unplaced."""

    kind: str
    item: Item
    raw: Doc | None = None
    """The document without its own group, for parts that break together with their surroundings."""
    within: Made | None = None
    """The value inside brackets, for a bracketed value."""
    body: tuple[tuple[Item, ...], tuple[Comment, ...]] | None = None
    """Statements and trailing comments, for a program or a block's braces."""
    blocks: bool = False
    """Whether it contains a block."""
    parts: tuple[Made, ...] = ()
    """Components of a document that contains blocks."""


def without_brackets(part: Made, kinds: frozenset[str] | None = None) -> Made:
    """Return the content of redundant brackets; with `kinds`, only if it is one of those."""
    while part.within is not None and (kinds is None or part.within.kind in kinds):
        part = part.within
    return part


def comments_beside(parts: Sequence[Made]) -> tuple[tuple[Comment, ...], tuple[Comment, ...]]:
    """Return the comments above a row and those after it."""
    lead: tuple[Comment, ...] = parts[0].item.lead
    for before, part in pairwise(parts):
        if not (before.item.trail or part.item.lead):
            continue
        lead += tuple(structs.replace(comment, blank=False) for comment in (*before.item.trail, *part.item.lead))
    return lead, parts[-1].item.trail


class _Sign(Struct, frozen=True):
    kind: str
    text: str
    outside: int
    """Indentation steps of the lines that begin with it."""
    inside: int
    """Additional indentation steps of the lines that follow it."""


_SIGNS = {
    "pipe": _Sign("VBAR", "| ", outside=1, inside=1),
    "either": _Sign("OR", "or ", outside=2, inside=0),  # the block that follows is indented by one step
}
"""Separators of the parts, by the rule that covers them."""


def chain(rule: str, parts: Sequence[Made]) -> Made:
    """Lay out parts with separators; a comment next to a separator belongs to the following part."""
    sign = _SIGNS[rule]
    items: list[Item] = []
    waiting: tuple[Comment, ...] = ()
    for part in parts:
        if part.kind == sign.kind:
            waiting = (*part.item.lead, *part.item.trail)
            continue
        item = part.item
        items.append((structs.replace(item, lead=waiting + item.lead) if waiting else item).behind(()))
        waiting = ()
    first, *rest = items
    hard = bool(first.trail) or any(item.hard for item in items) or any(item.above for item in rest)
    hard = hard or any(item.trail for item in rest[:-1])
    rows: list[Doc] = []
    for number, item in enumerate(rest):
        rows += [Line(), *lines_above(structs.replace(item, blank=False)), sign.text, _nested(item.inner, sign.inside)]
        if number < len(rest) - 1:
            rows += line_end(item)
    doc = Group((first.doc, *line_end(first), _nested(tuple(rows), sign.outside)), hard)
    whole = Item(doc, first.lead, items[-1].trail, first.blank, hard, first.first)
    return Made(rule, whole, blocks=any(part.blocks for part in parts))


def _nested(doc: Doc, steps: int) -> Doc:
    for _ in range(steps):
        doc = Nest(doc)
    return doc
