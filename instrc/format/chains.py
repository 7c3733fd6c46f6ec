"""Lay out what a sign joins, stages of a pipe or alternatives of a condition: on one line, or each on a line of its own."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from instrc.format.comments import Comment
from instrc.format.line_breaking import Doc, Group, Line, Nest
from instrc.format.lists import Item, line_end, lines_above
from instrc.format.parts import Made


class _Sign(Struct, frozen=True):
    kind: str
    text: str
    outside: int
    """By how many steps the lines that begin with it are indented."""
    inside: int
    """By how many more the lines of what follows it are."""


_SIGNS = {
    "pipe": _Sign("VBAR", "| ", outside=1, inside=1),
    "either": _Sign("OR", "or ", outside=2, inside=0),  # the block that follows is indented by one step
}
"""What joins the parts, by the rule that covers them."""


def chain(rule: str, parts: Sequence[Made]) -> Made:
    """Lay out parts with signs between them; a comment beside a sign belongs to the part behind it."""
    sign = _SIGNS[rule]
    items: list[Item] = []
    waiting: tuple[Comment, ...] = ()
    for part in parts:
        if part.kind == sign.kind:
            waiting = (*part.item.lead, *part.item.trail)
            continue
        item = part.item
        items.append((replace(item, lead=waiting + item.lead) if waiting else item).behind(()))
        waiting = ()
    first, *rest = items
    hard = bool(first.trail) or any(item.hard for item in items) or any(item.above for item in rest)
    hard = hard or any(item.trail for item in rest[:-1])
    rows: list[Doc] = []
    for number, item in enumerate(rest):
        rows += [Line(), *lines_above(replace(item, blank=False)), sign.text, _nested(item.inner, sign.inside)]
        if number < len(rest) - 1:
            rows += line_end(item)
    doc = Group((first.doc, *line_end(first), _nested(tuple(rows), sign.outside)), hard)
    whole = Item(doc, first.lead, items[-1].trail, first.blank, hard, first.first)
    return Made(rule, whole, blocks=any(part.blocks for part in parts))


def _nested(doc: Doc, steps: int) -> Doc:
    for _ in range(steps):
        doc = Nest(doc)
    return doc
