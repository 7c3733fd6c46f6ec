"""The layout of a program of which most is known from before: an editor asks again after each edit.

A text is cut behind the lines on which statements end.  Statements stand on lines of their own, so what two cuts enclose has
the same layout whatever stands around it; `format_pieces` puts these layouts together.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from msgspec import Struct

from instrc.language.concrete_tree import Node, read_tree
from instrc.language.formatter import format_program, statements_of_tree
from instrc.language.line_breaking import in_lines
from instrc.language.list_layout import GOES_ON, Comment, Item, statement_rows
from instrc.text.source import Source

_LINE_END = re.compile(r"[ \t]*(?://[^\r\n]*)?(?=[\r\n])")
"""What may follow the `;` of a statement on its line; any other comment may belong to what is behind it."""


class Piece(Struct, frozen=True, gc=False):
    """The layout of some statements: `text` has no line end behind the last one."""

    text: str
    apart: bool
    """Whether an empty line stands before all of it."""
    first: str
    """Its first word or sign."""
    closed: bool
    """Whether it ends with the brace of a block and no `;`."""


class PiecewiseLayout(Struct, frozen=True):
    """The layout of a program, and of each of its pieces by their text."""

    text: str
    pieces: Mapping[str, Piece]


def format_pieces(source: Source, cuts: Sequence[int], known: Mapping[str, Piece]) -> PiecewiseLayout:
    """Return the canonical text of a program, which is what `format_program` returns; only pieces that are not known are read.

    `cuts` are offsets behind a `;` of the outermost statements.
    """
    texts = list(_texts(source.text, cuts))
    pieces = _laid_out(source.name, texts, known)
    row = [pieces[text] for text in texts if pieces[text].text] if pieces else []
    if not pieces or any(before.closed and after.first in GOES_ON for before, after in pairwise(row)):
        return PiecewiseLayout(format_program(source), {})
    written = "".join(f"{_line_ends(piece.apart) if number else ''}{piece.text}" for number, piece in enumerate(row))
    return PiecewiseLayout(f"{written}\n" if written else "", pieces)


def _texts(text: str, cuts: Iterable[int]) -> Iterator[str]:
    """Yield the pieces of a text."""
    start = 0
    for cut in cuts:
        found = _LINE_END.match(text, cut)
        if found is not None:
            yield text[start : found.end()]
            start = found.end()
    yield text[start:]


def _laid_out(name: str, texts: Sequence[str], known: Mapping[str, Piece]) -> dict[str, Piece]:
    """Return the pieces by their texts; nothing where a `;` stands alone, whose comments may belong to the piece before."""
    pieces: dict[str, Piece] = {}
    run: list[str] = []
    for text in (*texts, None):
        if text is not None and text not in known:
            run.append(text)
            continue
        if run:
            read = _read(name, run)
            if not read:
                return {}
            pieces |= zip(run, read, strict=True)
            run = []
        if text is not None:
            pieces[text] = known[text]
    return pieces


def _read(name: str, texts: Sequence[str]) -> list[Piece]:
    """Return pieces that follow each other, read as one text; none where a `;` stands alone."""
    tree = read_tree(Source(name, "".join(texts)))
    if _has_lone_semicolon(tree.root.children):
        return []
    items, behind = statements_of_tree(tree)
    starts = [child.start for child in tree.root.children if not _is_semicolon(child)]
    pieces: list[Piece] = []
    first = end = 0
    for number, text in enumerate(texts, 1):
        end += len(text)
        last = first
        while last < len(items) and starts[last] < end:
            last += 1
        pieces.append(_piece(items[first:last], behind if number == len(texts) else ()))
        first = last
    return pieces


def _has_lone_semicolon(children: Sequence[Node]) -> bool:
    """Tell whether a `;` stands where no statement is before it."""
    alone = True
    for child in children:
        if _is_semicolon(child):
            if alone:
                return True
            alone = True
        else:
            alone = False
    return False


def _is_semicolon(node: Node) -> bool:
    return getattr(node, "kind", "") == "SEMICOLON"


def _piece(items: Sequence[Item], behind: tuple[Comment, ...]) -> Piece:
    text = in_lines((*statement_rows(items, behind, end=";"), ""))
    if not items:
        return Piece(text, behind[0].blank if behind else False, "", closed=False)
    return Piece(text, items[0].apart, items[0].first, items[-1].closed and not behind)


def _line_ends(apart: bool) -> str:  # noqa: FBT001  -- what the field of a piece says
    return "\n\n" if apart else "\n"
