"""Statements in a file or in the braces of a block, each on its line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from instrc.format.comments import Comment
from instrc.format.line_breaking import Doc, Group, Line, Nest
from instrc.format.lists import Item, statement_rows
from instrc.format.parts import Made, comments_beside, without_brackets


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


def block_with_head(rule: str, parts: Sequence[Made]) -> Made:
    """Lay out what begins with a word and holds blocks: their braces break together."""
    parts = _comments_in_blocks(parts)
    docs: list[Doc] = []
    for part in parts:
        docs += [" ", part.item.doc if part.raw is None else part.raw]
    whole: Doc = tuple(docs[1:])
    hard = any(part.item.hard for part in parts)
    first, last = parts[0].item, parts[-1].item
    item = Item(Group(whole, hard), *comments_beside(parts), first.blank, hard, first.first, last.closed)
    return Made(rule, item, raw=whole, blocks=True, parts=tuple(parts))


def _comments_in_blocks(parts: Sequence[Made]) -> list[Made]:
    """Move comments beside `else` into the block behind it, those beside `until` into the block before it.

    So they stay near what they speak of, however long the blocks are.
    """
    found = list(parts)
    at = next((number for number, part in enumerate(found) if part.kind == "ELSE"), None)
    if at is not None:
        before, word, behind = found[at - 1 : at + 2]
        moved = (*before.item.trail, *word.item.lead, *word.item.trail, *behind.item.lead)
        if moved:
            found[at - 1], found[at] = _without(before, trail=True), _without(word, lead=True, trail=True)
            found[at + 1] = _at_beginning(behind, moved)
    if found[0].parts:  # of a `repeat`, with what follows it
        last = len(found) if at is None else at
        moved = found[0].item.trail
        for number in range(1, last):
            trail = number + 1 < last or at is not None
            moved += found[number].item.lead + (found[number].item.trail if trail else ())
            found[number] = _without(found[number], lead=True, trail=trail)
        if moved:
            found[0] = _at_end(found[0], moved)
    return found


def _without(part: Made, *, lead: bool = False, trail: bool = False) -> Made:
    """Return a part without the comments before it, or behind it."""
    item = part.item
    if not ((lead and item.lead) or (trail and item.trail)):
        return part
    return replace(part, item=replace(item, lead=() if lead else item.lead, trail=() if trail else item.trail))


def _at_beginning(part: Made, comments: tuple[Comment, ...]) -> Made:
    """Return a block, or a `when` behind `else`, with comments only at the beginning of its first block."""
    if part.body is None:
        at = next(number for number, each in enumerate(part.parts) if each.body is not None)
        head = [_without(each, lead=True, trail=True) for each in part.parts[:at]]
        return block_with_head(part.kind, [*head, _at_beginning(part.parts[at], comments), *part.parts[at + 1 :]])
    items, behind = part.body
    first = replace(items[0], lead=_on_lines(comments) + items[0].lead)
    bare = _without(part, lead=True)
    return _braces(bare, [first, *items[1:]], behind, bare, blocks=part.blocks)


def _at_end(part: Made, comments: tuple[Comment, ...]) -> Made:
    """Return a `repeat` with comments at the end of its block and none behind that."""
    *head, block = part.parts
    assert block.body is not None
    items, behind = block.body
    bare = _without(block, trail=True)
    return block_with_head(part.kind, [*head, _braces(bare, items, behind + _on_lines(comments), bare, blocks=block.blocks)])


def _on_lines(comments: tuple[Comment, ...]) -> tuple[Comment, ...]:
    return tuple(replace(comment, inline=False, blank=False) for comment in comments)
