"""The values of a body that `previous` and `rounds` show: all except rounds nested in these values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias

from msgspec import Struct, field

from instrc.compiler import ir
from instrc.compiler.rounds import ELEMENT, bodies_by_number, given_by
from instrc.process.flow import Constant


class Shown(Struct, frozen=True):
    """The values that rounds hide."""

    hidden: frozenset[int]
    """Blocks whose rounds are never shown."""
    values: Mapping[int, ir.Reading]
    """Visible part of a body's value, by region number, if not all of it."""

    def holds(self, graph: ir.Graph, number: int, way: tuple[str, ...]) -> bool:
        """Return whether a round shows the member of a step's value at the end of a path."""
        if number in self.hidden:
            return False
        regions = ir.regions_of(graph.steps[number].content)
        known = [self.values.get(region.number, region.value) for region in regions]
        members = [ir.member_of(reading, way)[0] for reading in known]
        return not way or not known or any(each is not None and each != Constant(None) for each in members)


FOLLOWED_VALUES: Final = 2_000
"""Maximum values followed from one name."""
_LEVELS: Final = 200
"""Maximum nesting of blocks from which parts are omitted."""
_Way: TypeAlias = "tuple[ir.Reading, tuple[str, ...], bool]"
"""A value, the members that lead into it (`[]` is a list element), and whether an object or list holds it."""


def shown_in_rounds(graph: ir.Graph) -> Shown:
    """Return the values hidden in the rounds of a graph."""
    repeats = [step.content for step in graph.blocks() if isinstance(step.content, ir.Repeat) and step.content.handed]
    hidden: set[int] = set()
    values: dict[int, ir.Reading] = {}
    for repeat in repeats:
        _Body(graph, repeat).look(hidden, values)
    return Shown(frozenset(hidden), values)


class _Reached(Struct):
    """The parts of a value that do not come from a step."""

    rounds: bool = False
    """Whether it contains rounds of the `repeat`."""
    names: set[str] = field(default_factory=set)
    """Names of the body whose values from other rounds it is or contains."""
    held: set[str] = field(default_factory=set)
    """Names whose values it contains."""


class _Body:
    """The names of one body, and their values."""

    def __init__(self, graph: ir.Graph, repeat: ir.Repeat) -> None:
        self._graph = graph
        self._number = repeat.body.number
        self._names = dict(repeat.names)
        self._bodies = bodies_by_number(graph)
        inside = set(repeat.body.units)
        blocks = {number for number in graph.block_numbers if number in inside}
        self._blocks = {
            name: {path.origin for path in ir.reading_paths(reading) if isinstance(path.origin, int) and path.origin in blocks}
            for name, reading in repeat.names
        }
        """The blocks that each name leads to."""

    def look(self, hidden: set[int], values: dict[int, ir.Reading]) -> None:
        """Add the values that the rounds of this body hide."""
        reached = {number: self._reached((ir.Path(number), (), False)) for each in self._blocks.values() for number in each}
        for number, found in reached.items():
            circular = frozenset(name for name in found.held if self._leads_back(name, number, reached))
            if found.rounds or circular:
                self._leave_out((number, False), circular, hidden, values, 0)

    def _leads_back(self, name: str, number: int, reached: Mapping[int, _Reached]) -> bool:
        """Return whether the value of a name in another round depends on the value of a block."""
        waiting = list(self._blocks.get(name, ()))
        seen: set[int] = set()
        while waiting:
            each = waiting.pop()
            if each == number:
                return True
            if each not in seen:
                seen.add(each)
                waiting.extend(block for other in reached[each].names for block in self._blocks.get(other, ()))
        return False

    def _leave_out(
        self, block: tuple[int, bool], circular: frozenset[str], hidden: set[int], values: dict[int, ir.Reading], level: int
    ) -> None:
        """Remove hidden values from a block, in an object or list, and from those that it passes on."""
        number, held = block
        if self._is_out((ir.Path(number), (), held), circular, level):
            hidden.add(number)
            return
        regions = ir.regions_of(self._graph.steps[number].content)
        for region, (_, _, within) in zip(regions, self._below((ir.Path(number), (), held)), strict=True):
            left = self._left(region.value, circular, level, held=within)
            if left != region.value:
                values[region.number] = Constant(None) if left is None else left
            for path in () if left is None else ir.reading_paths(left):
                inner = path.origin
                if isinstance(inner, int) and inner in self._graph.block_numbers and level < _LEVELS:
                    self._leave_out((inner, within or left != path), circular, hidden, values, level + 1)

    def _left(self, reading: ir.Reading, circular: frozenset[str], level: int, *, held: bool) -> ir.Reading | None:
        """Return the remaining members of a value, or `None` if all are removed."""
        if self._is_out((reading, (), held), circular, level):
            return None
        if not isinstance(reading, ir.ObjectReading):
            return reading
        members = [(name, self._left(member, circular, level + 1, held=True)) for name, member in reading.members]
        return ir.ObjectReading(tuple((name, left) for name, left in members if left is not None))

    def _is_out(self, way: _Way, circular: frozenset[str], level: int) -> bool:
        """Return whether all of a value is hidden."""
        reading, _, held = way
        if level > _LEVELS:
            return False
        if isinstance(reading, ir.Path) and not isinstance(reading.origin, int):
            found = self._reached(way)
            return found.rounds or not (found.names if held else found.held).isdisjoint(circular)
        below = self._below(way)
        return bool(below) and all(self._is_out(each, circular, level + 1) for each in below)

    def _reached(self, way: _Way) -> _Reached:
        """Return the parts of a value that do not come from a step."""
        found = _Reached()
        seen: set[_Way] = set()
        waiting = [way]
        while waiting and len(seen) < FOLLOWED_VALUES:
            each = reading, rest, held = waiting.pop()
            if isinstance(reading, ir.Path):  # only paths can be cyclic; constants need not be hashable
                if each in seen:
                    continue
                seen.add(each)
            if isinstance(reading, ir.Path) and isinstance(reading.origin, ir.Local):
                waiting += self._behind_name(reading.origin, (*reading.tail, *rest), found, held=held)
            else:
                waiting += self._below(each)
        return found

    def _behind_name(self, origin: ir.Local, way: tuple[str, ...], found: _Reached, *, held: bool) -> list[_Way]:
        """Record the value of a block's name, or return where the path continues."""
        if origin.kind == "item":
            source = self._bodies.source(origin.block)
            return [] if source is None else [(source, (ELEMENT, *way), held)]
        if origin.kind not in {"previous", "rounds"}:
            return []
        rest = way[1:] if origin.kind == "rounds" and way[:1] == (ELEMENT,) else way
        if origin.block == self._number:
            found.rounds = found.rounds or not rest
            found.names.update(rest[:1])
            found.held.update(rest[:1] if held else ())
            return []
        names = self._bodies.names(origin.block)[1]
        if rest:
            return [(names[rest[0]], rest[1:], held)] if rest[0] in names else []
        return [(reading, (), True) for reading in names.values()]

    def _below(self, way: _Way) -> list[_Way]:
        """Return the values nested in a value that do not come from a step."""
        reading, rest, held = way
        match reading:
            case ir.ObjectReading(members):
                return [(member, rest[1:], held or not rest) for name, member in members if not rest or name == rest[0]]
            case ir.Path(int(number), tail):
                content, names = self._graph.steps[number].content, (*tail, *rest)
                if names:
                    return [(value, below, held) for value, below in given_by(content, names)]
                lists = isinstance(content, ir.Each) or (isinstance(content, ir.Repeat) and content.source is not None)
                return [(region.value, (), held or lists) for region in ir.regions_of(content)]
            case _:
                return []
