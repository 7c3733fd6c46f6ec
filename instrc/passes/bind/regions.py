"""The regions of one export: the program, and each body of a block as it is met."""

from __future__ import annotations

from collections.abc import Iterable

from instrc.ir.paths import Path

PROGRAM = 0
"""The region of the program itself."""


class Regions:
    """Which steps lie in which region, and which region in which; a region is met after those around it."""

    def __init__(self) -> None:
        self.steps: list[list[int]] = [[]]
        """The steps of each region, in evaluation order."""
        self.outer: list[int] = [-1]
        """The region around each; -1 around the program."""
        self._inner: list[list[int]] = [[]]
        """The regions directly in each."""
        self.labels: list[int] = [PROGRAM]
        """What each is known by, whenever the same expressions are read again."""
        self.labelled: dict[int, int] = {PROGRAM: PROGRAM}
        self._home: list[int] = []
        """The region of each step."""

    def open(self, outer: int, label: int = 0) -> int:
        """Return the number of a new region inside another."""
        number = len(self.steps)
        self.labels.append(label)
        self.labelled[label] = number
        self.steps.append([])
        self.outer.append(outer)
        self._inner[outer].append(number)
        self._inner.append([])
        return number

    def take(self, step: int, region: int) -> None:
        """Note that the next step lies in a region."""
        self._home.append(region)
        self.steps[region].append(step)

    def home(self, origin: int | str) -> int:
        """Return the region of a step; that of an input is the program."""
        return self._home[origin] if isinstance(origin, int) else PROGRAM

    def home_of(self, path: Path) -> int:
        """Return the region that a path begins in: of a step, of the block that gives a name; that of an input is the program."""
        origin = path.origin
        if isinstance(origin, int):
            return self._home[origin]
        return PROGRAM if isinstance(origin, str) else origin.block

    def around(self, outer: int, inner: int) -> bool:
        """Tell whether a region lies around another."""
        while inner > outer:
            inner = self.outer[inner]
        return inner == outer

    def within(self, regions: Iterable[int]) -> list[int]:
        """Return some regions and all regions in them."""
        found = list(regions)
        for region in found:  # grows while it is walked
            found += self._inner[region]
        return found
