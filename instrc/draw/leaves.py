"""Divide a picture into sheets of paper, between steps: a printed page never cuts through a step or the head of a box."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, pairwise

from instrc.draw.places import HEAD, LINE, Layout, PlacedBox

_TALL = 1.3
"""How tall a sheet is for its width: with margins, the narrower one of A4 and Letter."""
_FULL = 0.6
"""How full a sheet is at least, where it ends between two chunks instead of two steps."""


def leaves(value: Layout) -> tuple[float, ...]:
    """Return where each sheet begins and, as the last one, where the picture ends; a step that is too tall has a taller sheet."""
    chunks = _merged(chain.from_iterable(_solid(box, whole=True) for box in value.boxes))
    steps = _merged(chain.from_iterable(_solid(box, whole=False) for box in value.boxes))
    tall = value.width * _TALL
    cuts = [0.0]
    while value.height - cuts[-1] > tall:
        most = cuts[-1] + tall
        least = cuts[-1] + tall * _FULL
        cuts.append(_before(chunks, most, least) or _before(steps, most, cuts[-1]) or _after(steps, most))
        if value.height - cuts[-1] < 1:
            return (*cuts[:-1], value.height)
    return (*cuts, value.height)


def _solid(placed: PlacedBox, *, whole: bool) -> Iterator[tuple[float, float]]:
    """Yield what is not cut: chunks, or their heads and steps; of blocks the head and the words over their bodies."""
    area = placed.area
    if placed.box.lane is not None and whole:
        yield area.y, area.y + area.height
        return
    heads = [(area.y, area.y + HEAD + LINE * len(placed.reads))]
    heads += [(title.y, title.y + LINE + 4 + LINE * len(title.reads)) for title in placed.titles]
    for begin, end in heads:  # words stay with what they are about
        yield begin, min((inner.area.y + 1 for inner in placed.inside if inner.area.y >= end), default=end)
    for inner in placed.inside:
        if isinstance(inner, PlacedBox):
            yield from _solid(inner, whole=whole)
        else:
            yield inner.area.y, inner.area.y + inner.area.height


def _merged(spans: Iterator[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return spans in order, those that overlap as one."""
    merged: list[tuple[float, float]] = []
    for begin, end in sorted(spans):
        if merged and begin < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((begin, end))
    return merged


def _before(spans: list[tuple[float, float]], most: float, least: float) -> float | None:
    """Return the middle of the last gap that ends a sheet no lower than `most`, and lower than `least`."""
    ends = ((one[1] + other[0]) / 2 for one, other in pairwise(spans))
    return max((end for end in ends if least < end <= most), default=None)


def _after(spans: list[tuple[float, float]], most: float) -> float:
    """Return the end of what is too tall for a sheet."""
    return next((end for begin, end in spans if begin <= most < end), most)
