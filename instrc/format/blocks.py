"""Statements in a file or in the braces of a block, each on its line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from instrc.format.comments import Comment
from instrc.format.line_breaking import Doc, Line, Nest
from instrc.format.lists import Item, statement_rows
from instrc.format.parts import Made, without_brackets


def statements(parts: Iterable[Made]) -> tuple[list[Item], tuple[Comment, ...]]:
    """Return the statements of a file or a block; what belongs to a `;` belongs to the statement before it, or is left over."""
    items: list[Item] = []
    waiting: tuple[Comment, ...] = ()
    for part in parts:
        bare = without_brackets(part).item
        if part.kind != "SEMICOLON":
            items.append((replace(bare, lead=waiting + bare.lead) if waiting else bare).behind(()))
            waiting = ()
            continue
        waiting += tuple(comment for comment in bare.lead if not comment.inline)
        trail = (*bare.trail, *(comment for comment in bare.lead if comment.inline))
        if items:
            items[-1] = items[-1].behind(trail)
        else:
            waiting += trail
    if items:
        items[-1] = items[-1].behind(waiting)
        waiting = ()
    return items, waiting


def file_lines(items: Sequence[Item], behind: tuple[Comment, ...]) -> Doc:
    """Return the lines of a file."""
    rows = statement_rows(items, behind, end=";")
    return (*rows, "\n") if rows else ""


def braces_of_block(parts: Sequence[Made]) -> Made:
    """Lay out the braces of a block; only a single value without a block in it may stand in their line."""
    opening, *inner, closing = parts
    items, _ = statements(inner)
    items[0] = replace(items[0], lead=opening.item.trail + items[0].lead)
    blocks = any(part.blocks for part in inner)
    return _braces(opening, items, closing.item.lead, closing, blocks=blocks)


def _braces(opening: Made, items: Sequence[Item], behind: tuple[Comment, ...], closing: Made, *, blocks: bool) -> Made:
    hard = blocks or len(items) > 1 or bool(behind) or any(item.loose for item in items)
    doc: Doc = ("{", Nest((Line(), *statement_rows(items, behind, end=""))), Line(), "}")
    item = Item(doc, opening.item.lead, closing.item.trail, opening.item.blank, hard, "{", closed=True)
    return Made("block", item, raw=doc, body=(tuple(items), behind), blocks=blocks)


def with_comments_of_else(parts: Sequence[Made]) -> list[Made]:
    """Move comments around an `else` into the block behind it, where they stay beside what they speak of."""
    found = list(parts)
    for at in range(1, len(found) - 1):
        before, word, block = found[at - 1], found[at], found[at + 1]
        if word.kind != "ELSE" or block.body is None:
            continue
        moved = (*before.item.trail, *word.item.lead, *word.item.trail, *block.item.lead)
        if not moved:
            continue
        items, behind = block.body
        first = replace(items[0], lead=tuple(replace(comment, inline=False, blank=False) for comment in moved) + items[0].lead)
        found[at - 1] = replace(before, item=replace(before.item, trail=()))
        found[at] = replace(word, item=replace(word.item, lead=(), trail=()))
        bare = replace(block, item=replace(block.item, lead=()))
        found[at + 1] = _braces(bare, [first, *items[1:]], behind, bare, blocks=block.blocks)
    return found
