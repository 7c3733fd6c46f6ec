"""Lines down the gutters between lanes: one for each source, as near to its readers as there is room."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import NamedTuple

from instrc.draw.heights import EdgeEnd, Heights
from instrc.limits.programs import PICTURED_TRACKS

TRACK = 7
"""Between two lines in a gutter."""
GUTTER = 22
"""Of a gutter without lines."""


class Way(NamedTuple):
    """Where all that a source hands on to one side of a gutter runs down."""

    gutter: int
    """0 at the far left for blocks, else that beside the reader's lane."""
    to_left: bool
    """Whether the readers stand to the left of the gutter."""
    source: str


@dataclass(frozen=True, slots=True)
class Tracks:
    """How many lines run down each gutter, and which of them, from the left, is that of a way."""

    counts: list[int]
    chosen: dict[Way, int]


def tracks_of(heights: Heights, lanes: int) -> Tracks:
    """Give each way a line of its own: those to the left count from the left of their gutter, the others from the right."""
    spans: dict[Way, tuple[float, float]] = {}
    for port in heights.ports:
        way = way_of(heights, port)
        low, high = spans.get(way, (heights.tops[port.source], heights.tops[port.source]))
        spans[way] = (min(low, port.y), max(high, port.y))
    counts = [0] * (lanes + 2)
    chosen: dict[Way, int] = {}
    for gutter in range(len(counts)):
        leftward, rightward = (
            _side({way: span for way, span in spans.items() if way.gutter == gutter and way.to_left is side})
            for side in (True, False)
        )
        counts[gutter] = len(set(leftward.values())) + len(set(rightward.values()))
        chosen |= leftward | {way: counts[gutter] - 1 - track for way, track in rightward.items()}
    return Tracks(counts, chosen)


def way_of(heights: Heights, port: EdgeEnd) -> Way:
    """Return the way that an arrow takes."""
    if port.lane < 0:
        return Way(0, to_left=False, source=port.source)
    to_left = heights.lane_of[port.source] > port.lane
    return Way(port.lane + (2 if to_left else 1), to_left, port.source)


def _side(spans: Mapping[Way, tuple[float, float]]) -> dict[Way, int]:
    """Return the track of each way, the lowest that is free along all of it; where there are very many, some are shared."""
    chosen: dict[Way, int] = {}
    free: list[int] = []
    busy: list[tuple[float, int]] = []
    used = 0
    for way, (start, end) in sorted(spans.items(), key=lambda item: (item[1], item[0])):
        while busy and busy[0][0] < start - 2:
            heappush(free, heappop(busy)[1])
        if free:
            track = heappop(free)
        elif used < PICTURED_TRACKS:
            track, used = used, used + 1
        else:
            track = len(chosen) % PICTURED_TRACKS
        chosen[way] = track
        heappush(busy, (end, track))
    return chosen
