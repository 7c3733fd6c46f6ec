"""Follow what is read through blocks to the steps and inputs that it comes from."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from instrc.ir.blocks import Each, Repeat, regions_of
from instrc.ir.graph import Graph, Step
from instrc.ir.paths import Local, ObjectReading, Path, Reading, reading_paths
from instrc.limits.programs import FOLLOWED_PATHS
from instrc.passes.bind.holding import step_numbers


class Origins(msgspec.Struct):
    """What a path comes from."""

    paths: list[Path] = msgspec.field(default_factory=list)
    """Inputs and steps that are no blocks, with what is read of them."""
    elements: list[Path] = msgspec.field(default_factory=list)
    """Likewise lists of which one element is read."""
    rounds: list[Repeat] = msgspec.field(default_factory=list)
    """Loops that have to end first."""


class Sources:
    """The steps of a graph, with the blocks and the regions they stand in."""

    def __init__(self, graph: Graph) -> None:
        self.steps = graph.steps
        self.holders: dict[int, Step] = {}
        """The block of each region."""
        self.regions: dict[int, int] = {}
        """The region of each step that stands in one."""
        self.inner = graph.inner
        for block in graph.blocks():
            for region in regions_of(block.content):
                self.holders[region.number] = block
                waiting = step_numbers(region.units)
                while waiting:
                    number = waiting.pop()
                    self.regions[number] = region.number
                    waiting.extend(self.inner.get(number, ()))

    def find(self, *paths: Path) -> Origins:
        """Return what paths come from, through the values of blocks and the names that these give; nothing if it is too much."""
        found, seen = Origins(), set()
        waiting = [(path, False) for path in reversed(paths)]
        while waiting:
            path, element = waiting.pop()
            if (path, element) in seen:
                continue
            seen.add((path, element))
            if len(seen) > FOLLOWED_PATHS:
                return Origins()
            below = self.behind(path)
            if below is None:
                (found.elements if element else found.paths).append(path)
                continue
            element = element or (isinstance(path.origin, Local) and path.origin.kind == "item")
            waiting.extend((each, element) for each in reversed(below))
            content = self.steps[path.origin].content if isinstance(path.origin, int) else None
            if isinstance(content, Repeat):
                found.rounds.append(content)
        return found

    def behind(self, path: Path) -> list[Path] | None:
        """Return what stands behind a block or a name of one; `None` if the path begins with an input or another step."""
        origin = path.origin
        if isinstance(origin, Local):
            block = self.holders[origin.block].content
            if origin.kind == "item":
                source = block.source if isinstance(block, Each | Repeat) else None
                return [source] if isinstance(source, Path) else []
            if origin.kind in {"previous", "rounds"} and isinstance(block, Repeat):
                tail = path.tail if origin.kind == "previous" else ()
                return [each for name, reading in block.names if tail[:1] in {(), (name,)} for each in _within(reading, tail[1:])]
            return []
        if not isinstance(origin, int) or self.steps[origin].executor != "block":
            return None
        return [each for region in regions_of(self.steps[origin].content) for each in _within(region.value, path.tail)]

    def ancestors(self, paths: Iterator[Path]) -> set[int | str]:
        """Return the steps and inputs that something is made from; of a block all that it gives."""
        found: set[int | str] = set()
        met: set[Path] = set()
        waiting = list(paths)
        while waiting:
            path = waiting.pop()
            origin = path.origin
            if origin in found or path in met:
                continue
            below = self.behind(path if isinstance(origin, Local) else Path(origin))
            if isinstance(origin, Local):
                met.add(path)
            else:
                found.add(origin)
                if below is None and isinstance(origin, int):
                    below = [*self.steps[origin].reads, *map(Path, self.inner.get(origin, ()))]
            waiting.extend(below or ())
        return found


def _within(reading: Reading, tail: tuple[str, ...]) -> list[Path]:
    """Return what a member of a value comes from."""
    while tail and isinstance(reading, ObjectReading):
        member = dict(reading.members).get(tail[0])
        if member is None:
            return []
        reading, tail = member, tail[1:]
    if isinstance(reading, Path):
        return [Path(reading.origin, reading.tail + tail)]
    return reading_paths(reading)
