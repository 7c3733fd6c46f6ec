"""Give everything in a picture its place: lanes are columns, time runs down.

Contexts stand one below the other, so at any height at most one lane has something in it.
Lines therefore run level through the other lanes without crossing a step, and down in the gutters between lanes.
All that one step hands on runs down a gutter in one line, from which each reader branches off;
what is read stands as text inside the reader, beside the arrow's head, so no label can lie on another.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import heappop, heappush

from instrc.ir.picture import Box, Lane, Line, Node, Picture, Section

WIDTH = 300
"""Of a lane, in pixels."""
MARGIN = 16
HEAD = 26
"""Height of the line that names a chunk or a block."""
LINE = 17
"""Height of one line of text in a step."""
PAD = 8
GAP = 14
INSET = 12
"""How far a block lies inside the one around it."""
TRACK = 7
"""Between two lines in a gutter."""
MOST_TRACKS = 40
"""Lines side by side in a gutter; more would be wider than anybody can follow, so they share."""
GUTTER = 22
"""Of a gutter without lines."""
TOP = 44
"""Height of the names of lanes."""
_INNER = "-in"
"""Behind the id of a block: the names that it gives to what is in it, which leave it at its top."""


@dataclass(frozen=True, slots=True)
class Area:
    """A rectangle."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Text:
    """A line of text in a box or a step: what is read, with the id of where it comes from."""

    x: float
    y: float
    line: Line


@dataclass(frozen=True, slots=True)
class PlacedNode:
    """A step."""

    node: Node
    area: Area
    reads: tuple[Text, ...]


@dataclass(frozen=True, slots=True)
class PlacedTitle:
    """The words over one body of a block."""

    title: str | None
    x: float
    y: float
    reads: tuple[Text, ...]


@dataclass(frozen=True, slots=True)
class PlacedBox:
    """A chunk or a block."""

    box: Box
    area: Area
    reads: tuple[Text, ...]
    titles: tuple[PlacedTitle, ...]
    inside: tuple[PlacedBox | PlacedNode, ...]


@dataclass(frozen=True, slots=True)
class Arrow:
    """From one thing to another: the corners of its line, the last at the reader."""

    source: str
    target: str
    points: tuple[tuple[float, float], ...]
    lane: Lane | None
    """Of the source."""


@dataclass(frozen=True, slots=True)
class Layout:
    """A picture with places."""

    picture: Picture
    width: float
    height: float
    lanes: tuple[tuple[Lane, float], ...]
    """The left edge of each lane."""
    boxes: tuple[PlacedBox, ...]
    arrows: tuple[Arrow, ...]


def layout(picture: Picture) -> Layout:
    """Return the places of everything in a picture."""
    return _Layouter(picture).layout()


@dataclass(slots=True)
class _Port:
    """Where an arrow ends, before it is known where its gutter lies."""

    source: str
    target: str
    lane: int
    """The lane of the reader; -1 for a block, whose text begins at the left of everything."""
    y: float
    x: float


@dataclass(slots=True)
class _Layouter:
    picture: Picture
    y: float = 0
    heights: dict[str, Area] = field(default_factory=dict)
    """Vertical extent of every box and step."""
    ports: list[_Port] = field(default_factory=list)
    lane_of: dict[str, int] = field(default_factory=dict)
    tops: dict[str, float] = field(default_factory=dict)
    """Where lines leave a box or a step."""

    def layout(self) -> Layout:
        lanes = self.picture.lanes()
        depth = _depth(self.picture.boxes)
        inset = min(INSET, 240 / max(depth, 1))
        self.measure(lanes)
        tracks = self.tracks(lanes)
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
        placer = _Placer(self, dict(zip(lanes, edges, strict=True)), inset, MARGIN + widths[0], width - MARGIN)
        boxes = placer.boxes(self.picture.boxes, 0)
        arrows = tuple(self.arrows(placer, edges, gutters, tracks))
        return Layout(self.picture, width, self.y + MARGIN, tuple(zip(lanes, edges, strict=True)), boxes, arrows)

    # --- heights: they do not depend on widths

    def measure(self, lanes: tuple[Lane, ...]) -> None:
        self.y = MARGIN + TOP + (LINE + PAD if self.picture.title else 0)
        column = {lane: index for index, lane in enumerate(lanes)}
        for box in self.picture.boxes:
            self.box(box, column)
            self.y += GAP

    def box(self, box: Box, column: dict[Lane, int]) -> None:
        top = self.y
        self.lane_of[box.id] = -1 if box.lane is None else column[box.lane]
        self.y += HEAD
        self.texts(box.id, box.reads, -1)
        self.tops[box.id] = top + HEAD / 2
        self.tops[box.id + _INNER] = self.tops[box.id]
        self.lane_of[box.id + _INNER] = self.lane_of[box.id]
        for section in box.sections:
            self.section(box, section, column)
        self.y += PAD if box.lane is not None else 4
        self.heights[box.id] = Area(0, top, 0, self.y - top)
        if box.key is not None:
            self.tops[box.id] = self.y - 6  # its value is there when all in it is done

    def section(self, box: Box, section: Section, column: dict[Lane, int]) -> None:
        if section.title is not None:
            self.y += LINE + 4
            self.texts(box.id, section.reads, -1)
        self.y += PAD / 2
        for index, item in enumerate(section.items):
            if isinstance(item, Box):
                self.box(item, column)
                self.y += GAP / 2 if index < len(section.items) - 1 else PAD / 2
            else:
                top = self.y
                self.lane_of[item.id] = column[item.lane]
                self.y += LINE + 8
                self.tops[item.id] = top + LINE / 2 + 4
                self.y += LINE * len(item.notes)
                self.texts(item.id, item.reads, column[item.lane])
                self.y += 4
                self.heights[item.id] = Area(0, top, 0, self.y - top)
                self.y += PAD / 2

    def texts(self, target: str, reads: tuple[Line, ...], lane: int) -> None:
        for line in reads:
            if line.source is not None:
                self.ports.append(_Port(line.source + (_INNER if line.inner else ""), target, lane, self.y + LINE / 2, 0))
            self.y += LINE

    # --- lines down the gutters

    def gutter(self, port: _Port) -> int:
        """Return the gutter that an arrow runs down: 0 at the far left for blocks, else the one beside the reader's lane."""
        if port.lane < 0:
            return 0
        source = self.lane_of[port.source]
        return port.lane + 2 if source > port.lane else port.lane + 1

    def tracks(self, lanes: tuple[Lane, ...]) -> _Tracks:
        """Give each source in each gutter a line of its own, as near to the readers as there is room."""
        spans: dict[tuple[int, str], tuple[float, float]] = {}
        for port in self.ports:
            key = (self.gutter(port), port.source)
            low, high = spans.get(key, (self.tops[port.source], self.tops[port.source]))
            spans[key] = (min(low, port.y), max(high, port.y))
        counts = [0] * (len(lanes) + 2)
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
                elif used < MOST_TRACKS:
                    track, used = used, used + 1
                else:
                    track = len(chosen) % MOST_TRACKS
                chosen[gutter, source] = track
                heappush(busy, (end, track))
            counts[gutter] = used
        return _Tracks(counts, chosen)

    def arrows(self, placer: _Placer, edges: list[float], gutters: list[float], tracks: _Tracks) -> list[Arrow]:
        lanes = self.picture.lanes()
        found = []
        for port in self.ports:
            gutter = self.gutter(port)
            track = tracks.chosen[gutter, port.source]
            source_lane = self.lane_of[port.source]
            area = placer.areas[port.source.removesuffix(_INNER)]
            from_right = gutter > source_lane + 1 and source_lane >= 0
            x = gutters[gutter] + TRACK * (track if gutter == port.lane + 2 else tracks.counts[gutter] - 1 - track)
            start = area.x + area.width if from_right else area.x
            if port.lane < 0:
                end = placer.areas[port.target].x
            else:
                end = edges[port.lane] + PAD if gutter == port.lane + 1 else edges[port.lane] + WIDTH - PAD
            y = self.tops[port.source]
            points = ((start, y), (x, y), (x, port.y), (end, port.y))
            found.append(
                Arrow(port.source.removesuffix(_INNER), port.target, points, lanes[source_lane] if source_lane >= 0 else None)
            )
        return found


@dataclass(frozen=True, slots=True)
class _Tracks:
    counts: list[int]
    chosen: dict[tuple[int, str], int]


@dataclass(slots=True)
class _Placer:
    """Rectangles, once the widths are known."""

    measured: _Layouter
    edges: dict[Lane, float]
    inset: float
    left: float
    right: float
    areas: dict[str, Area] = field(default_factory=dict)

    def boxes(self, boxes: tuple[Box, ...], depth: int) -> tuple[PlacedBox, ...]:
        return tuple(self.box(box, depth) for box in boxes)

    def box(self, box: Box, depth: int) -> PlacedBox:
        tall = self.measured.heights[box.id]
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

    def node(self, node: Node) -> PlacedNode:
        tall = self.measured.heights[node.id]
        area = Area(self.edges[node.lane] + PAD, tall.y, WIDTH - 2 * PAD, tall.height)
        self.areas[node.id] = area
        return PlacedNode(node, area, _texts(node.reads, area.x + PAD, area.y + LINE + 8 + LINE * len(node.notes)))


def _texts(reads: tuple[Line, ...], x: float, y: float) -> tuple[Text, ...]:
    return tuple(Text(x, y + LINE * index, line) for index, line in enumerate(reads))


def _depth(boxes: tuple[Box, ...]) -> int:
    """Return how many blocks lie inside each other at most."""
    deepest = 0
    waiting = [(box, 0) for box in boxes]
    while waiting:
        box, depth = waiting.pop()
        deepest = max(deepest, depth + (box.lane is None))
        waiting.extend((item, depth + 1) for section in box.sections for item in section.items if isinstance(item, Box))
    return deepest
