"""The layout of a part of the tree, before it is put into the layout of the part around it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace

from instrc.format.comments import Comment
from instrc.format.line_breaking import Doc
from instrc.format.lists import Item


class Made(Struct, frozen=True, gc=False):
    """What has been laid out of a part of the tree, with the comments that still have to find a line."""

    kind: str
    item: Item
    raw: Doc | None = None
    """The document without its own group, for what breaks together with what is around it."""
    within: Made | None = None
    """Of a value in brackets, the value."""
    body: tuple[tuple[Item, ...], tuple[Comment, ...]] | None = None
    """Of a program or a block's braces, the statements and the comments behind them."""
    blocks: bool = False
    """Whether a block is in it."""
    parts: tuple[Made, ...] = ()
    """Of what holds blocks, what it was made of."""


def without_brackets(part: Made, kinds: frozenset[str] | None = None) -> Made:
    """Return what stands in idle brackets, without them; with `kinds`, only if it is one of those."""
    while part.within is not None and (kinds is None or part.within.kind in kinds):
        part = part.within
    return part


def comments_beside(parts: Sequence[Made]) -> tuple[tuple[Comment, ...], tuple[Comment, ...]]:
    """Return the comments above a row and those behind it."""
    lead: tuple[Comment, ...] = parts[0].item.lead
    for before, part in pairwise(parts):
        if not (before.item.trail or part.item.lead):
            continue
        lead += tuple(replace(comment, blank=False) for comment in (*before.item.trail, *part.item.lead))
    return lead, parts[-1].item.trail
