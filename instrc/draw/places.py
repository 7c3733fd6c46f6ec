"""A picture with places: the rectangles, lines of text and arrows that are drawn, and the sizes that they have in common."""

from __future__ import annotations

from dataclasses import dataclass

from instrc.ir.executors import Executor
from instrc.ir.picture import Box, Picture, PictureRead, PictureStep

WIDTH = 300
"""Of a lane, in pixels."""
MARGIN = 16
HEAD = 26
"""Height of the line that names a chunk or a block."""
LINE = 17
"""Height of one line of text in a step."""
PAD = 8


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
    line: PictureRead


@dataclass(frozen=True, slots=True)
class PlacedNode:
    """A step."""

    node: PictureStep
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
class Edge:
    """From one thing to another: the corners of its line, the last at the reader."""

    source: str
    target: str
    points: tuple[tuple[float, float], ...]
    lane: Executor | None
    """Of the source."""


@dataclass(frozen=True, slots=True)
class Layout:
    """A picture with places."""

    picture: Picture
    width: float
    height: float
    lanes: tuple[tuple[Executor, float], ...]
    """The left edge of each lane."""
    boxes: tuple[PlacedBox, ...]
    arrows: tuple[Edge, ...]
