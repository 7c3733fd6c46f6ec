"""Compute the position of everything in a picture: one column in writing order, blocks as frames around their contents."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from msgspec import Struct

from instrc.process.picture import Box, Picture, PictureRead, PictureStep, shorten_to_width
from instrc.text.visible import columns


class Area(Struct, frozen=True):
    """A rectangle."""

    x: float
    y: float
    width: float
    height: float


class Text(Struct, frozen=True):
    """A line of text: a path that is read, with the id of its source."""

    x: float
    y: float
    line: PictureRead


class PlacedTitle(Struct, frozen=True):
    """The heading of a block, or over one of its bodies, in lines."""

    lines: tuple[str, ...]
    whole: str
    x: float
    y: float


class PlacedNode(Struct, frozen=True):
    """A step."""

    node: PictureStep
    area: Area
    reads: tuple[Text, ...]


class PlacedBox(Struct, frozen=True):
    """A chunk or a block."""

    box: Box
    area: Area
    titles: tuple[PlacedTitle, ...]
    """Its heading, then one for each body that has one."""
    inside: tuple[PlacedBox | PlacedNode, ...]


class Layout(Struct, frozen=True):
    """A picture with positions."""

    picture: Picture
    width: float
    height: float
    boxes: tuple[PlacedBox, ...]
    arrows: tuple[tuple[float, float, float], ...]
    """Lines from an item to the one that follows it in the same body: their `x`, and where they begin and end."""


MARGIN = 16
WIDTH = 400
"""Width of a step in the innermost block, in pixels."""
INSET = 12
"""Indentation of a block inside the enclosing one, in pixels."""
TOP = 54
"""Height of the legend and the inputs, in pixels."""
LINE = 17
"""Height of one line of text, in pixels."""
PAD = 8
GAP = 18
"""Height of the line from an item to the next, in pixels."""
HEAD = 24
"""Height of the heading of a chunk, in pixels."""
LETTER = 7.25
"""Width of a letter of the font, in pixels; wide characters take two."""
SMALL = 6.65
LINES = 3
"""Maximum lines of a heading."""


def layout(picture: Picture) -> Layout:
    """Return the positions of everything in a picture."""
    depth = _depth(picture.boxes)
    placer = _Placer(min(INSET, 240 / max(depth, 1)))
    width = WIDTH + 2 * PAD + 2 * depth * placer.inset
    top = MARGIN + TOP + (LINE + PAD if picture.title else 0)
    boxes, bottom = placer.items(picture.boxes, MARGIN, top, width)
    placed = tuple(each for each in boxes if isinstance(each, PlacedBox))
    return Layout(picture, width + 2 * MARGIN, bottom + MARGIN, placed, tuple(placer.arrows))


def _depth(boxes: tuple[Box, ...]) -> int:
    """Return the maximum nesting of blocks."""
    deepest = 0
    waiting = [(box, 0) for box in boxes]
    while waiting:
        box, depth = waiting.pop()
        deepest = max(deepest, depth + (box.lane is None))
        waiting.extend((item, depth + 1) for section in box.sections for item in section.items if isinstance(item, Box))
    return deepest


class _Placer:
    """Places items below each other."""

    def __init__(self, inset: float) -> None:
        self.inset = inset
        self.arrows: list[tuple[float, float, float]] = []

    def items(
        self, items: Sequence[Box | PictureStep], x: float, y: float, width: float
    ) -> tuple[list[PlacedBox | PlacedNode], float]:
        """Place the items of a body; return them with their bottom."""
        placed: list[PlacedBox | PlacedNode] = []
        for item in items:
            if placed:
                gap = GAP if isinstance(item, Box) else PAD / 2
                if isinstance(item, Box):
                    self.arrows.append((x + width / 2, y, y + gap))
                y += gap
            placed.append(self.box(item, x, y, width) if isinstance(item, Box) else self.step(item, x, y, width))
            y = placed[-1].area.y + placed[-1].area.height
        return placed, y

    def box(self, box: Box, x: float, y: float, width: float) -> PlacedBox:
        top, titles, inside = y, [], []
        pad = PAD if box.lane else self.inset
        if box.lane:
            y += HEAD
        elif box.folded or box.sections[0].title is None:
            titles.append(_title(box.title, x + PAD, y + 3, width - 2 * PAD))
            y += PAD + LINE * len(titles[0].lines)
        for section in box.sections:
            if section.title is not None:
                titles.append(_title(section.title, x + PAD, y + 2, width - 2 * PAD))
                y += PAD + LINE * len(titles[-1].lines)
            placed, y = self.items(section.items, x + pad, y, width - 2 * pad)
            inside += placed
            y += PAD
        if box.folded:
            y += PAD
        return PlacedBox(box, Area(x, top, width, y - top), tuple(titles), tuple(inside))

    def step(self, step: PictureStep, x: float, y: float, width: float) -> PlacedNode:
        head = LINE * (1 + len(step.notes)) + 8
        reads = tuple(Text(x + PAD, y + head + LINE * index, line) for index, line in enumerate(step.reads))
        return PlacedNode(step, Area(x, y, width, head + LINE * len(reads) + 4), reads)


def _title(text: str, x: float, y: float, width: float) -> PlacedTitle:
    """Divide a heading into lines; the last one is shortened."""
    text = " ".join(text.split())
    room = int(width / LETTER / (1 if columns(text) <= len(text) else 2))
    lines = textwrap.wrap(text, room, break_on_hyphens=False) or [""]
    if len(lines) > LINES:
        lines[LINES - 1 :] = [" ".join(lines[LINES - 1 :])]
    return PlacedTitle(tuple(shorten_to_width(line, width, LETTER) for line in lines), text, x, y)
