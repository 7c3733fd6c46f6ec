"""Give everything in a picture its place: lanes are columns, time runs down.

Contexts stand one below the other, so at any height at most one lane has something in it.
Lines therefore run level through the other lanes without crossing a step, and down in the gutters between lanes.
All that one step passes on runs down a gutter in one line, from which each reader branches off;
what is read stands as text inside the reader, beside the arrow's head, so no label can lie on another.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from instrc.draw.gutters import GUTTER, TRACK, Tracks, tracks_of, way_of
from instrc.draw.heights import INNER, Heights
from instrc.draw.places import HEAD, LINE, MARGIN, PAD, WIDTH, Area, Edge, Layout, PlacedBox, PlacedNode, PlacedTitle, Text
from instrc.ir.executors import Executor
from instrc.ir.picture import Box, Picture, PictureRead, PictureStep

INSET = 12
"""How far a block lies inside the one around it."""


def layout(picture: Picture) -> Layout:
    """Return the places of everything in a picture."""
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


@dataclass(slots=True)
class _Placer:
    """Rectangles, once the widths are known."""

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


def _depth(boxes: tuple[Box, ...]) -> int:
    """Return how many blocks lie inside each other at most."""
    deepest = 0
    waiting = [(box, 0) for box in boxes]
    while waiting:
        box, depth = waiting.pop()
        deepest = max(deepest, depth + (box.lane is None))
        waiting.extend((item, depth + 1) for section in box.sections for item in section.items if isinstance(item, Box))
    return deepest
