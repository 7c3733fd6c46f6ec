"""Convert paths and values of a plan to those of a process: step numbers become keys."""

from __future__ import annotations

from collections.abc import Container, Sequence
from functools import cached_property
from typing import cast

from instrc.compiler import ir
from instrc.compiler.bind.values import step_numbers
from instrc.compiler.compose.outcomes import Outcomes, non_null_paths
from instrc.compiler.compose.shown import shown_in_rounds
from instrc.compiler.rounds import Rounds, bodies_by_number
from instrc.process.flow import Condition, Constant, Listed, Named, Read, Segment, Value
from instrc.schema.strip import is_meta
from instrc.text.names import is_plain

_WORDS = ("item", "round", "previous", "rounds", "error")
"""Names that one block defines, in the order in which they are listed."""


class Paths:
    """The paths of one plan."""

    def __init__(self, plan: ir.Plan) -> None:
        self.plan = plan
        graph = plan.flat.graph
        self.steps: dict[int, ir.Step] = graph.steps
        self.quoted: bool = graph.has_flow
        """Whether a name that is not an identifier is written as a JSON string, as in all programs with paths or blocks."""
        self._inputs = {name: place for place, name in enumerate(graph.inputs)}
        self._rounds: dict[int, ir.Repeat] = {
            step.content.body.number: step.content for step in graph.blocks() if type(step.content) is ir.Repeat
        }
        self._found = Rounds(bodies_by_number(graph))
        self._shown = shown_in_rounds(graph)

    @cached_property
    def _order(self) -> dict[int, int]:
        """The index of each step among all keys; most documents need none."""
        return {number: place for place, number in enumerate(self.plan.keys)}

    @cached_property
    def _outcomes(self) -> Outcomes | None:
        """The values of paths, for a program in which a value outside the model's sight may be `null`."""
        graph = self.plan.flat.graph
        return Outcomes(graph, self.plan.flat.schemas) if graph.block_numbers or graph.accesses else None

    @cached_property
    def _non_null(self) -> dict[int, set[ir.Path]]:
        return non_null_paths(self.plan.flat.graph)

    def may_be_null(self, path: ir.Path, step: int) -> bool:
        """Return whether a path may be `null` or unresolvable where a step reads it, by the schemas."""
        if self._outcomes is None:
            return False
        there = self._non_null.get(step, ())
        return path not in there and self._outcomes.may_be_null(path, there)

    def read(self, path: ir.Path, item: int | None = None, *, optional: bool = False) -> Read:
        """Return a path in process notation: `prompt`, `step1_identify.organizer`, `step4_find_user.output`."""
        read = self._read(self.segments(path, item))
        return Read(read.segments, optional) if optional else read

    def text(self, path: ir.Path, item: int | None = None) -> str:
        """Return a path as text."""
        return self._read(self.segments(path, item)).text

    @cached_property
    def _blocks(self) -> dict[int, str]:
        """The names of the contexts of blocks."""
        return {
            chunk.block: f"{chunk.executor}Context{chunk.index}"
            for chunk in self.plan.walk()
            if chunk.block is not None and chunk.executor != "else"
        }

    def after(self, step: int, item: int | None) -> tuple[str, ...]:
        """Return what must end before a step that does not read it: keys, or contexts of blocks without one."""
        names = [self.plan.keys.get(each) or self._blocks[each] for each in self.plan.after.get(step, ())]
        return tuple([suffixed(name, item) for name in names])

    def _read(self, names: tuple[str, ...]) -> Read:
        if self.quoted or all(map(is_plain, names)):
            return Read(tuple([Segment(name, not is_plain(name)) for name in names]))
        return Read.parse(".".join(names))

    def segments(self, path: ir.Path, item: int | None = None) -> tuple[str, ...]:
        """Return the segments of a path."""
        origin = path.origin
        match origin:
            case int():
                key = suffixed(self.plan.keys[origin], item)
                if path.tail and (tail := self._tail(path, item)):
                    return (key, *tail)
                return (key, "output") if self.steps[origin].output else (key,)
            case ir.Local():
                name = self.plan.elements.get(origin.block, origin.name) if origin.kind == "item" else origin.name
                return (name, *self._tail(path, item))
            case name:
                return (suffixed(name, item), *path.tail)

    def _tail(self, path: ir.Path, item: int | None) -> tuple[str, ...]:
        """Return the members of a path, with names of rounds replaced by the keys of their values."""
        if not self._rounds:
            return path.tail
        found: list[str] = []
        place = 0
        while place < len(path.tail):
            body = self._found.body_of(ir.Path(path.origin, path.tail[:place]))
            if body is None:
                found.append(path.tail[place])
                place += 1
                continue
            way, rest = self._path_into_round(self._rounds[body], path.tail[place:], item)
            found += way
            place = len(path.tail) - len(rest)
        return tuple(found)

    def _path_into_round(
        self, block: ir.Repeat, tail: tuple[str, ...], item: int | None
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the path to the value of a block's name in another round, and the rest."""
        reading, rest = ir.member_of(dict(block.names).get(tail[0]), tail[1:])
        if not isinstance(reading, ir.Path):
            return tail, ()
        if reading.origin.__class__ is int and self.steps[reading.origin].output and not reading.tail and rest[:1] == ("output",):
            rest = rest[1:]
        return self.segments(reading, item), rest

    def references(self, reads: Sequence[ir.Path], item: int | None) -> list[str]:
        """Return the paths read as text, without duplicates."""
        return [self.text(path, item) for path in self.ordered(reads, item)]

    def ordered(self, reads: Sequence[ir.Path], item: int | None, kept: Container[tuple[str, ...]] = ()) -> Sequence[ir.Path]:
        """Return the paths read: inputs, names of blocks from outside in, then steps in execution order.

        A path below another one is left out, unless it is `kept`, or leads to a thought or metric.
        """
        ordered = {self.segments(path, item): path for path in sorted(reads, key=self._place)}
        return [path for each, path in ordered.items() if not self.quoted or each in kept or not _is_below(each, ordered)]

    def _place(self, path: ir.Path) -> tuple[int, int, int]:
        match path.origin:
            case str(name):
                return 0, self._inputs.get(name, 0), 0
            case ir.Local(_, level, kind, _):
                return 1, level, _WORDS.index(kind)
            case number:
                return 2, self._order.get(number, 0), 0

    def arguments(self, given: tuple[ir.Argument, ...], item: int | None, step: int | None = None) -> Value:
        """Return the sources of arguments: one path, a list of unnamed ones, or an object of named ones."""
        if len(given) == 1 and given[0].label is None:  # as most are
            only = given[0].value
            return self.read(only, item) if isinstance(only, ir.Path) else only
        optional = self.plan.flat.optional
        values: list[Value] = [
            self.read(each.value, item, optional=each.label is not None and (step, each.label) in optional)
            if isinstance(each.value, ir.Path)
            else each.value
            for each in given
        ]
        if all(each.label is None for each in given):
            return Listed(tuple(values))
        named: dict[str, Value] = {}
        plain = 0
        for each, value in zip(given, values, strict=True):
            if each.label is None:
                named[str(plain)] = value
                plain += 1
            else:
                named[each.label] = value
        return Named(named)

    def value(self, reading: ir.Reading, item: int | None = None) -> Value:
        """Return the value of a body."""
        match reading:
            case ir.Path():
                return self.read(reading, item)
            case Constant():
                return reading
            case ir.ObjectReading(members):
                return Named({name: self.value(member, item) for name, member in members})

    def shown(self, region: ir.Region, item: int | None = None) -> Value | None:
        """Return the part of a body's value that rounds show, or `None` if all of it."""
        left = self._shown.values.get(region.number)
        return None if left is None else self.value(left, item)

    def condition(self, tests: tuple[ir.Test, ...], item: int | None = None) -> Condition | None:
        """Return a condition, or `None` without tests."""
        if not tests:
            return None
        joined = frozenset(number for number, test in enumerate(tests) if test.joined)
        compared = {n: test.compared for n, test in enumerate(tests) if test.compared is not None and test.compared != "other"}
        return Condition(tuple((self.read(test.path, item), test.schema) for test in tests), joined, compared)

    def first(self, block: ir.Repeat, item: int | None = None) -> Value | None:
        """Return the value of `previous` in the first round, by key as in the others."""
        if block.first is None:
            return None
        whole: dict[str, Value] = {}
        for each in block.first:
            *way, last = self.segments(each.target, item)
            members = whole
            for name in way:
                inner = members.setdefault(name, Named({}))
                members = cast("dict[str, Value]", inner.members)  # type: ignore[union-attr]  # created here
            members[last] = self.value(each.value, item)
        return Named(whole)

    def hands(self, block: ir.Repeat, item: int | None = None) -> tuple[str, ...]:
        """Return the keys that `previous` and `rounds` show: those of steps and blocks that have a name in the body."""
        found: dict[int, None] = {}
        inside = step_numbers([unit for chunk in self.plan.inside[block.body.number] for unit in chunk.units])
        waiting: list[ir.Reading] = [reading for _, reading in reversed(block.names)]
        while waiting:
            match waiting.pop():
                case ir.Path(origin) if isinstance(origin, int) and origin in inside and origin not in self._shown.hidden:
                    found[origin] = None
                case ir.ObjectReading(members):
                    waiting.extend(member for _, member in reversed(members))
                case _:
                    pass
        ordered = sorted(found, key=lambda each: self._order.get(each, 0))
        return tuple(suffixed(self.plan.keys[number], item) for number in ordered)


def _is_below(segments: tuple[str, ...], others: Container[tuple[str, ...]]) -> bool:
    above = next((size for size in range(1, len(segments)) if segments[:size] in others), None)
    return above is not None and not any(map(is_meta, segments[above:]))  # which only paths that name them read


def suffixed(name: str, item: int | None) -> str:
    """Return the name of one item of a batch."""
    return name if item is None else f"{name}_item{item}"
