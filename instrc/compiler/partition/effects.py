"""The order of effects: one begins when those of earlier lines of its body have ended."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final, Literal, TypeAlias

from instrc.compiler import ir
from instrc.compiler.bind.values import step_numbers

Kind: TypeAlias = Literal[0, 1, 2]
NONE: Final[Kind] = 0
READS: Final[Kind] = 1
WRITES: Final[Kind] = 2
"""Effect of a step: none, as for a model; it reads; it writes, or possibly so."""


def kinds_of_steps(graph: ir.Graph) -> Mapping[int, Kind]:
    """Return the kind of each effect, and of each block that holds one; other steps are left out."""
    kinds: dict[int, Kind] = {}
    for step in graph.awaited():
        kinds[step.number] = READS if step.number in graph.only_reading else WRITES
    for block in graph.blocks():  # an enclosing one has the smaller number
        held = [step for region in ir.regions_of(block.content) for step in step_numbers(region.units)]
        if kind := max((kinds.get(step, NONE) for step in held), default=NONE):
            kinds[block.number] = kind
    return {number: kind for number, kind in kinds.items() if not graph.steps[number].fail}


Waits: TypeAlias = list[set[int]]
"""Units that each unit of a body must wait for."""


class EffectOrder:
    """The order of the effects among the units of one body, which are known by their places."""

    def __init__(self, kinds: Sequence[Kind], needs: Sequence[Sequence[int]]) -> None:
        self._kinds = kinds
        self._needs = needs

    def of_lines(self, lines: ir.Lines, home: Mapping[int, int]) -> Iterator[Waits]:
        """Yield the orders of units by the lines of the body, then by those of each called program in them.

        A unit belongs to the first line that writes it or needs it; to one of a called program if the call is in that line.
        """
        waiting: list[tuple[ir.Lines, Collection[int] | None]] = [(lines, None)]
        while waiting:
            body, among = waiting.pop()
            place = self._places(body, home)
            if among is not None:
                place = {unit: line for unit, line in place.items() if unit in among}
            yield self.in_order(place)
            free = dict(place)
            inner: list[tuple[ir.Lines, Collection[int]]] = []
            for number, line in enumerate(body):
                for called in line.bodies:
                    steps = [step for each in called for step in each.steps]
                    own = {home[step] for step in steps if step in home and free.get(home[step]) == number}
                    for unit in own:
                        del free[unit]
                    inner.append((called, own))
            waiting.extend(reversed(inner))

    def _places(self, lines: ir.Lines, home: Mapping[int, int]) -> dict[int, int]:
        """Return the line of each unit: the first that writes it, or needs it for a value it reads."""
        place: dict[int, int] = {}
        for number, line in enumerate(lines):
            waiting = [home[step] for step in line.steps if step in home]
            while waiting:
                unit = waiting.pop()
                if unit not in place:
                    place[unit] = number
                    waiting.extend(self._needs[unit])
        return place

    def in_order(self, place: Mapping[int, int]) -> Waits:
        """Return the units that each unit waits for, by the lines of units."""
        waits: Waits = [set() for _ in self._kinds]
        lines: dict[int, list[int]] = {}
        for unit in sorted(place, key=place.__getitem__):
            if self._kinds[unit]:
                lines.setdefault(place[unit], []).append(unit)
        written: list[int] = []
        looked: list[int] = []
        for units in lines.values():
            for unit in units:
                waits[unit].update(written)
                if self._kinds[unit] == WRITES:
                    waits[unit].update(looked)
            writing = [unit for unit in units if self._kinds[unit] == WRITES]
            looking = [unit for unit in units if self._kinds[unit] == READS]
            written, looked = (writing, looking) if writing else (written, [*looked, *looking])
        return waits

    def left_to_say(self, waits: Waits, followed: Sequence[Sequence[int]], order: Sequence[int]) -> Waits:
        """Return the orders that do not follow from the data, from `followed`, or through another unit.

        `order` has all units, each after those it waits for.
        """
        place = {unit: index for index, unit in enumerate(order)}
        left: Waits = []
        for unit, others in enumerate(waits):
            needless: set[int] = set()
            if others:
                first = min(place[other] for other in others)
                behind = [*followed[unit], *(each for other in others for each in (*followed[other], *waits[other]))]
                met: set[int] = set()
                while behind:
                    other = behind.pop()
                    if other in met or place[other] < first:
                        continue
                    met.add(other)
                    behind += [*followed[other], *waits[other]]
                needless = met & others
            left.append(others - needless)
        return left
