"""Compute the height and the vertical position of everything in a picture: these do not depend on widths."""

from __future__ import annotations

from dataclasses import dataclass, field

from instrc.draw.places import HEAD, LINE, MARGIN, PAD, Area
from instrc.ir.executors import Executor
from instrc.ir.picture import Box, Picture, PictureRead, Section

GAP = 14
TOP = 44
"""Height of the names of lanes."""
INNER = "-in"
"""Behind the id of a block: the names that it gives to what is in it, which leave it at its top."""


@dataclass(slots=True)
class EdgeEnd:
    """Where an arrow ends, before it is known where its gutter lies."""

    source: str
    target: str
    lane: int
    """The lane of the reader; -1 for a block, whose text begins at the left of everything."""
    y: float
    x: float


@dataclass(slots=True)
class Heights:
    """What has been measured of a picture."""

    y: float = 0
    areas: dict[str, Area] = field(default_factory=dict)
    """Vertical extent of every box and step."""
    ports: list[EdgeEnd] = field(default_factory=list)
    lane_of: dict[str, int] = field(default_factory=dict)
    tops: dict[str, float] = field(default_factory=dict)
    """Where lines leave a box or a step."""

    def measure(self, picture: Picture, lanes: tuple[Executor, ...]) -> None:
        """Give every box and step of a picture its height, one below the other."""
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
            self.tops[box.id] = self.y - 6  # its value is there when all in it is done

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
