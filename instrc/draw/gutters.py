"""Lines down the gutters between lanes: one for each source, as near to its readers as there is room."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush

from instrc.draw.heights import EdgeEnd, Heights
from instrc.limits.programs import PICTURED_TRACKS

TRACK = 7
"""Between two lines in a gutter."""
GUTTER = 22
"""Of a gutter without lines."""


@dataclass(frozen=True, slots=True)
class Tracks:
    """How many lines run down each gutter, and which of them is that of a source there."""

    counts: list[int]
    chosen: dict[tuple[int, str], int]


def tracks_of(heights: Heights, lanes: int) -> Tracks:
    """Give each source in each gutter a line of its own, as near to the readers as there is room."""
    spans: dict[tuple[int, str], tuple[float, float]] = {}
    for port in heights.ports:
        key = (gutter_of(heights, port), port.source)
        low, high = spans.get(key, (heights.tops[port.source], heights.tops[port.source]))
        spans[key] = (min(low, port.y), max(high, port.y))
    counts = [0] * (lanes + 2)
    chosen: dict[tuple[int, str], int] = {}
    for gutter in range(len(counts)):
        mine = sorted((span, source) for (where, source), span in spans.items() if where == gutter)
        free: list[int] = []
        busy: list[tuple[float, int]] = []
        used = 0
        for (start, end), source in mine:
            while busy and busy[0][0] < start - 2:
                heappush(free, heappop(busy)[1])
            if free:
                track = heappop(free)
            elif used < PICTURED_TRACKS:
                track, used = used, used + 1
            else:
                track = len(chosen) % PICTURED_TRACKS
            chosen[gutter, source] = track
            heappush(busy, (end, track))
        counts[gutter] = used
    return Tracks(counts, chosen)


def gutter_of(heights: Heights, port: EdgeEnd) -> int:
    """Return the gutter that an arrow runs down: 0 at the far left for blocks, else the one beside the reader's lane."""
    if port.lane < 0:
        return 0
    source = heights.lane_of[port.source]
    return port.lane + 2 if source > port.lane else port.lane + 1
