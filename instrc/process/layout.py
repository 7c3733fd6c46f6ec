"""Compute the position of everything in a picture: lanes are columns, time runs down."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from heapq import heappop, heappush
from itertools import chain, pairwise
from typing import Final, NamedTuple

from msgspec import Struct, field

from instrc.process.flow import Executor
from instrc.process.picture import Box, Picture, PictureRead, PictureStep, Section


class Area(Struct, frozen=True):
    """A rectangle."""

    x: float
    y: float
    width: float
    height: float


class Text(Struct, frozen=True):
    """A line of text in a box or step: the path read, with the id of its source."""

    x: float
    y: float
    line: PictureRead


class PlacedTitle(Struct, frozen=True):
    """The heading over one body of a block."""

    title: str | None
    x: float
    y: float
    reads: tuple[Text, ...]


class PlacedNode(Struct, frozen=True):
    """A step."""

    node: PictureStep
    area: Area
    reads: tuple[Text, ...]


class PlacedBox(Struct, frozen=True):
    """A chunk or a block."""

    box: Box
    area: Area
    reads: tuple[Text, ...]
    titles: tuple[PlacedTitle, ...]
    inside: tuple[PlacedBox | PlacedNode, ...]


class Edge(Struct, frozen=True):
    """A line between two items: its corners, the last one at the reader."""

    source: str
    target: str
    points: tuple[tuple[float, float], ...]
    lane: Executor | None
    """Lane of the source."""


class Layout(Struct, frozen=True):
    """A picture with positions."""

    picture: Picture
    width: float
    height: float
    lanes: tuple[tuple[Executor, float], ...]
    """Lanes with their left edges, in pixels."""
    boxes: tuple[PlacedBox, ...]
    arrows: tuple[Edge, ...]


INSET = 12
"""Indentation of a block inside the enclosing one, in pixels."""
GUTTER = 22
"""Width of a gutter without lines, in pixels."""
TRACK = 7
"""Distance between two lines in a gutter, in pixels."""
MARGIN = 16
WIDTH = 300
"""Width of a lane, in pixels."""


def layout(picture: Picture) -> Layout:
    """Return the positions of everything in a picture."""
    lanes = picture.lanes()
    depth = _depth(picture.boxes)
    inset = min(INSET, 240 / max(depth, 1))
    heights = Heights()
    heights.measure(picture, lanes)
    tracks = tracks_of(heights, len(lanes))
    widths = [GUTTER + TRACK * count for count in tracks.counts]
    left = MARGIN + widths[0] + depth * inset
    edges: list[float] = []
    gutters = [MARGIN + 8.0]
    x = left
    for index in range(len(lanes)):
        gutters.append(x + 8)
        x += widths[index + 1]
        edges.append(x)
        x += WIDTH
    gutters.append(x + 8)
    right = x + widths[-1]
    width = right + depth * inset + MARGIN
    placer = _Placer(heights, dict(zip(lanes, edges, strict=True)), inset, MARGIN + widths[0], width - MARGIN)
    boxes = placer.boxes(picture.boxes, 0)
    arrows = tuple(_arrows(picture, placer, edges, gutters, tracks))
    return Layout(picture, width, heights.y + MARGIN, tuple(zip(lanes, edges, strict=True)), boxes, arrows)


def _depth(boxes: tuple[Box, ...]) -> int:
    """Return the maximum nesting of blocks."""
    deepest = 0
    waiting = [(box, 0) for box in boxes]
    while waiting:
        box, depth = waiting.pop()
        deepest = max(deepest, depth + (box.lane is None))
        waiting.extend((item, depth + 1) for section in box.sections for item in section.items if isinstance(item, Box))
    return deepest


class EdgeEnd(Struct):
    """The end of an arrow before the position of its gutter is known."""

    source: str
    target: str
    lane: int
    """Lane of the reader; -1 for a block, whose text begins at the left edge."""
    y: float
    x: float


TOP = 44
"""Height of the lane headings, in pixels."""
LINE = 17
"""Height of one line of text in a step, in pixels."""
PAD = 8
GAP = 14
HEAD = 26
"""Height of the heading of a chunk or block, in pixels."""
INNER = "-in"
"""Suffix of a block's id for the names that it defines; their lines start at its top."""


class Heights(Struct):
    """The heights of a picture's items."""

    y: float = 0
    areas: dict[str, Area] = field(default_factory=dict)
    """Vertical extent of each box and step."""
    ports: list[EdgeEnd] = field(default_factory=list)
    lane_of: dict[str, int] = field(default_factory=dict)
    tops: dict[str, float] = field(default_factory=dict)
    """Vertical positions where lines leave a box or step."""

    def measure(self, picture: Picture, lanes: tuple[Executor, ...]) -> None:
        """Assign every box and step of a picture its vertical extent."""
        self.y = MARGIN + TOP + (LINE + PAD if picture.title else 0)
        column = {lane: index for index, lane in enumerate(lanes)}
        for box in picture.boxes:
            self._box(box, column)
            self.y += GAP

    def _box(self, box: Box, column: dict[Executor, int]) -> None:
        top = self.y
        self.lane_of[box.id] = -1 if box.lane is None else column[box.lane]
        self.y += HEAD
        self._texts(box.id, box.reads, -1)
        self.tops[box.id] = top + HEAD / 2
        self.tops[box.id + INNER] = self.tops[box.id]
        self.lane_of[box.id + INNER] = self.lane_of[box.id]
        for section in box.sections:
            self._section(box, section, column)
        self.y += PAD if box.lane is not None else 4
        self.areas[box.id] = Area(0, top, 0, self.y - top)
        if box.key is not None:
            self.tops[box.id] = self.y - 6  # its value exists once everything in it is done

    def _section(self, box: Box, section: Section, column: dict[Executor, int]) -> None:
        if section.title is not None:
            self.y += LINE + 4
            self._texts(box.id, section.reads, -1)
        self.y += PAD / 2
        for index, item in enumerate(section.items):
            if isinstance(item, Box):
                self._box(item, column)
                self.y += GAP / 2 if index < len(section.items) - 1 else PAD / 2
            else:
                top = self.y
                self.lane_of[item.id] = column[item.lane]
                self.y += LINE + 8
                self.tops[item.id] = top + LINE / 2 + 4
                self.y += LINE * len(item.notes)
                self._texts(item.id, item.reads, column[item.lane])
                self.y += 4
                self.areas[item.id] = Area(0, top, 0, self.y - top)
                self.y += PAD / 2

    def _texts(self, target: str, reads: tuple[PictureRead, ...], lane: int) -> None:
        for line in reads:
            if line.source is not None:
                self.ports.append(EdgeEnd(line.source + (INNER if line.inner else ""), target, lane, self.y + LINE / 2, 0))
            self.y += LINE


class _Placer(Struct):
    """Computes rectangles once the widths are known."""

    heights: Heights
    edges: dict[Executor, float]
    inset: float
    left: float
    right: float
    areas: dict[str, Area] = field(default_factory=dict)

    def boxes(self, boxes: tuple[Box, ...], depth: int) -> tuple[PlacedBox, ...]:
        return tuple(self.box(box, depth) for box in boxes)

    def box(self, box: Box, depth: int) -> PlacedBox:
        tall = self.heights.areas[box.id]
        if box.lane is not None:
            area = Area(self.edges[box.lane], tall.y, WIDTH, tall.height)
        else:
            x = self.left + depth * self.inset
            area = Area(x, tall.y, self.right - depth * self.inset - x, tall.height)
        self.areas[box.id] = area
        y = area.y + HEAD
        reads = _texts(box.reads, area.x + PAD, y)
        y += LINE * len(box.reads)
        titles: list[PlacedTitle] = []
        inside: list[PlacedBox | PlacedNode] = []
        for section in box.sections:
            if section.title is not None:
                if section.items and inside:
                    last = self.areas[inside[-1].box.id if isinstance(inside[-1], PlacedBox) else inside[-1].node.id]
                    y = last.y + last.height + PAD / 2
                titles.append(PlacedTitle(section.title, area.x + PAD, y, _texts(section.reads, area.x + PAD + 8, y + LINE + 4)))
                y += LINE + 4 + LINE * len(section.reads)
            y += PAD / 2
            for item in section.items:
                placed = self.box(item, depth + 1) if isinstance(item, Box) else self.node(item)
                inside.append(placed)
                y = self.areas[item.id].y + self.areas[item.id].height
        return PlacedBox(box, area, reads, tuple(titles), tuple(inside))

    def node(self, node: PictureStep) -> PlacedNode:
        tall = self.heights.areas[node.id]
        area = Area(self.edges[node.lane] + PAD, tall.y, WIDTH - 2 * PAD, tall.height)
        self.areas[node.id] = area
        return PlacedNode(node, area, _texts(node.reads, area.x + PAD, area.y + LINE + 8 + LINE * len(node.notes)))


def _texts(reads: tuple[PictureRead, ...], x: float, y: float) -> tuple[Text, ...]:
    return tuple(Text(x, y + LINE * index, line) for index, line in enumerate(reads))


class Way(NamedTuple):
    """The vertical line from a source on one side of a gutter."""

    gutter: int
    """Index of the gutter: 0 at the far left for blocks, otherwise the one next to the reader's lane."""
    to_left: bool
    """Whether the readers are to the left of the gutter."""
    source: str


class Tracks(Struct, frozen=True):
    """The number of lines in each gutter, and the index of each line from the left."""

    counts: list[int]
    chosen: dict[Way, int]


def _arrows(picture: Picture, placer: _Placer, edges: list[float], gutters: list[float], tracks: Tracks) -> list[Edge]:
    lanes = picture.lanes()
    heights = placer.heights
    found = []
    for port in heights.ports:
        way = way_of(heights, port)
        source_lane = heights.lane_of[port.source]
        area = placer.areas[port.source.removesuffix(INNER)]
        from_right = way.gutter > source_lane + 1 and source_lane >= 0
        x = gutters[way.gutter] + TRACK * tracks.chosen[way]
        start = area.x + area.width if from_right else area.x
        end = placer.areas[port.target].x if port.lane < 0 else edges[port.lane] + (WIDTH - PAD if way.to_left else PAD)
        y = heights.tops[port.source]
        points: tuple[tuple[float, float], ...] = ((start, y), (x, y), (x, port.y), (end, port.y))
        bottom = area.y + area.height
        if y > area.y + HEAD and source_lane < 0 and area.x < x < area.x + area.width:
            points = ((x, bottom), (x, port.y), (end, port.y))  # a line along the bottom edge would look like a second edge
        found.append(Edge(port.source.removesuffix(INNER), port.target, points, lanes[source_lane] if source_lane >= 0 else None))
    return found


PICTURED_TRACKS: Final = 40
"""Maximum parallel lines between two rows of a picture; beyond it they share tracks, to stay legible."""


def tracks_of(heights: Heights, lanes: int) -> Tracks:
    """Assign each way its own track: those to the left count from the left of their gutter, the others from the right."""
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


def _side(spans: Mapping[Way, tuple[float, float]]) -> dict[Way, int]:
    """Return the track of each way, the lowest free one; where there are very many, tracks are shared."""
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


def way_of(heights: Heights, port: EdgeEnd) -> Way:
    """Return the gutter line that an arrow uses."""
    if port.lane < 0:
        return Way(0, to_left=False, source=port.source)
    to_left = heights.lane_of[port.source] > port.lane
    return Way(port.lane + (2 if to_left else 1), to_left, port.source)


_TALL = 1.3
"""Height of a sheet relative to its width: the narrower of A4 and Letter, without margins."""
_FULL = 0.6
"""Minimum fill of a sheet that ends between two chunks instead of two steps."""


def leaves(value: Layout) -> tuple[float, ...]:
    """Return where each sheet begins and, last, where the picture ends; a step that is too tall gets a taller sheet."""
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


def _merged(spans: Iterator[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return spans in order, with overlapping ones merged."""
    merged: list[tuple[float, float]] = []
    for begin, end in sorted(spans):
        if merged and begin < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((begin, end))
    return merged


def _solid(placed: PlacedBox, *, whole: bool) -> Iterator[tuple[float, float]]:
    """Yield the parts that are not cut: chunks, or their headings and steps; for blocks the heading and body labels."""
    area = placed.area
    if placed.box.lane is not None and whole:
        yield area.y, area.y + area.height
        return
    heads = [(area.y, area.y + HEAD + LINE * len(placed.reads))]
    heads += [(title.y, title.y + LINE + 4 + LINE * len(title.reads)) for title in placed.titles]
    for begin, end in heads:  # labels stay with their subjects
        yield begin, min((inner.area.y + 1 for inner in placed.inside if inner.area.y >= end), default=end)
    for inner in placed.inside:
        if isinstance(inner, PlacedBox):
            yield from _solid(inner, whole=whole)
        else:
            yield inner.area.y, inner.area.y + inner.area.height


def _before(spans: list[tuple[float, float]], most: float, least: float) -> float | None:
    """Return the middle of the last gap between `least` and `most` at which a sheet can end, or `None`."""
    ends = ((one[1] + other[0]) / 2 for one, other in pairwise(spans))
    return max((end for end in ends if least < end <= most), default=None)


def _after(spans: list[tuple[float, float]], most: float) -> float:
    """Return the end of a part that is too tall for a sheet."""
    return next((end for begin, end in spans if begin <= most < end), most)
