"""A process as something to look at: steps in lanes, chunks and blocks as boxes, and who reads whom.

True of this form: every line that reads a part of the process names it by its id, ids are unique,
and boxes stand in the order in which they run.  Nothing has a place on paper yet.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from instrc.ir.executors import Executor
from instrc.jsonvalue import Json

LANES: dict[Executor, str] = {"model": "Model", "server": "Server", "user": "Person"}
"""The lanes from left to right, as they are headed."""


@dataclass(frozen=True, slots=True)
class PictureRead:
    """Something that is read: the path as it is written, and the id of the step or block it comes from."""

    text: str
    source: str | None
    """`None` for `prompt`, for inputs, and for what leads nowhere."""
    inner: bool = False
    """A name that a block gives to what is in it, such as its element; else the value of a block, when it is done."""


@dataclass(frozen=True, slots=True)
class PictureStep:
    """A step."""

    id: str
    key: str
    lane: Executor
    reads: tuple[PictureRead, ...]
    notes: tuple[str, ...]
    """What else is to be said in a few words: its activity, a deadline."""
    schema: Json
    source: str | None
    """Where the program says it, as `meeting.aug:3`, with the text of the line."""


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a box: all of a chunk, or one body of a block."""

    title: str | None
    reads: tuple[PictureRead, ...]
    """What the condition of a branch reads."""
    items: tuple[PictureStep | Box, ...]


@dataclass(frozen=True, slots=True)
class Box:
    """A chunk or a block."""

    id: str
    name: str
    """As in the process: `llmContext1`, `eachContext2`."""
    kind: str
    """`chunk`, or what the block does: `when`, `each`, `repeat`, `else`, `try`, `do`."""
    title: str
    lane: Executor | None
    """Of a chunk."""
    entry: bool
    """The tool that starts the process."""
    reads: tuple[PictureRead, ...]
    sections: tuple[Section, ...]
    schema: Json
    """Of a chunk: as it stands in the process."""
    key: str | None = None
    """Of a block whose value is read."""


@dataclass(frozen=True, slots=True)
class Picture:
    """One export."""

    name: str
    title: str | None
    inputs: tuple[str, ...]
    boxes: tuple[Box, ...]

    def all(self) -> Iterator[Box | PictureStep]:
        """Yield every box and step, each box before what is in it."""
        waiting: list[Box | PictureStep] = list(reversed(self.boxes))
        while waiting:
            item = waiting.pop()
            yield item
            if isinstance(item, Box):
                waiting.extend(reversed([each for section in item.sections for each in section.items]))

    def nodes(self) -> Iterator[PictureStep]:
        """Yield every step, in order."""
        return (item for item in self.all() if isinstance(item, PictureStep))

    def lanes(self) -> tuple[Executor, ...]:
        """Return the lanes that have something in them, from left to right."""
        used = {node.lane for node in self.nodes()} | {box.lane for box in self.all() if isinstance(box, Box)}
        return tuple(lane for lane in LANES if lane in used) or ("model",)


def reads_of(item: PictureStep | Box) -> list[PictureRead]:
    """Return all that a step or a box reads."""
    if isinstance(item, PictureStep):
        return list(item.reads)
    return [*item.reads, *(line for section in item.sections for line in section.reads)]
