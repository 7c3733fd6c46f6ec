"""The steps of one export while it is bound: equal expressions are one step."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import replace

from instrc.ir.graph import Application, Argument, Constant, Content, Executor, Fusion, Group, Path, Slot, Step, Unit
from instrc.passes.holding import Frame, Taken, held, numbers
from instrc.passes.identity import Identities
from instrc.passes.values import Place, Result, Value
from instrc.source import Span

PRIVATE = "\0"
"""The key of a call that is composed into a slot: it is equal to no other step."""


class Steps:
    """A table of steps in evaluation order."""

    def __init__(self) -> None:
        self.table: list[Step] = []
        self.homes: set[int] = set()
        """Steps that lie in a mixin or in a slot."""
        self.inside: set[int] = set()
        """Those of them that lie in a slot or in a group, so that they are no unit of their own."""
        self.dissolved: set[int] = set()
        """Steps that turned out to be the content of a slot."""
        self.groups: dict[int, Group] = {}
        """Groups that lie in no other, by their first step."""
        self.identities = Identities()
        self._known: dict[Hashable, int] = {}
        self._applied: dict[Hashable, tuple[Taken, ...]] = {}
        self._filled: dict[Hashable, tuple[Unit, ...]] = {}

    def add(
        self,
        place: Place,
        *,
        stem: str,
        executor: Executor,
        content: Content,
        arguments: tuple[Argument, ...],
        reads: Iterable[Path],
        span: Span,
        output: bool = False,
        activity: str | None = None,
    ) -> int:
        """Return the number of a step, a new one unless an equal expression has one already."""
        reads = tuple(dict.fromkeys(reads))
        same = self.identities
        ident = same.of(stem, executor, same.content(content), tuple(map(same.argument, arguments)), reads, activity)
        private = place.key == PRIVATE
        known = ident if place.key is None else (place.scope, place.key, ident)
        number = None if private else self._known.get(known)
        if number is None:
            number = len(self.table)
            key = None if private else place.key
            self.table.append(Step(number, stem, key, executor, output, content, arguments, reads, activity, span))
            if not private:
                self._known.setdefault(ident, number)
                self._known[known] = number
        if place.frame is not None:
            if executor == "model" and not output:
                place.frame.written.add(number)
            else:
                place.frame.barriers.add(number)
        return number

    def apply(self, application: Application, frame: Frame, *, whole: bool) -> tuple[Unit, ...]:
        """Put a mixin around what a frame holds and return that; nothing if it holds nothing.

        Around one step it becomes part of that step, unless it was given a `whole` object.
        """
        ident = (self.identities.application(application), frame.state(), whole)
        taken = self._applied.get(ident)
        if taken is None:
            units = held(frame, self.table, self.homes)
            if not units:
                return ()
            if len(units) == 1 and isinstance(units[0], int) and not whole:
                taken = (self._wrap(units[0], application, frame),)
            else:
                group = Group(application, units, tuple(numbers(units)))
                self._forget(units)
                self.groups[_numbers(group)[0]] = group
                depth = 1 + max(frame.inner[n].depth if n in frame.inner else 0 for n in frame.written)
                taken = (Taken(group, depth),)
            self._applied[ident] = taken
        for each in taken:
            for number in _numbers(each.unit):
                frame.inner[number] = each
                self.homes.add(number)
                if isinstance(each.unit, Group):
                    self.inside.add(number)
        return tuple(each.unit for each in taken)

    def _wrap(self, number: int, application: Application, frame: Frame) -> Taken:
        step = self.table[number]
        content = step.content
        if isinstance(content, Fusion):
            content = replace(content, mixins=(*content.mixins, application))
            self.table[number] = replace(
                step,
                content=content,
                reads=tuple(
                    dict.fromkeys((*step.reads, *(path for path in slot_reads(application.slots) if path.origin != number)))
                ),
            )
        depth = frame.inner[number].depth if number in frame.inner else 0
        return Taken(number, depth + 1)

    def fill(self, frame: Frame, place: Place) -> tuple[Unit, ...]:
        """Return what a frame holds, for a slot; the same for the same slot of an equal expression."""
        ident = (place.scope, frame.state())
        units = self._filled.get(ident)
        if units is None:
            units = self._filled[ident] = held(frame, self.table, self.homes)
        return units

    def dissolve(self, number: int, frame: Frame) -> None:
        """Note that a step is none of its own any more: it has become the content of a slot."""
        self.dissolved.add(number)
        self.inside.add(number)
        frame.written.discard(number)
        frame.inner.pop(number, None)

    def parts(self, value: Value) -> dict[str, Value]:
        """Return what the slots of the step that a value is the result of are read as, by name."""
        if not isinstance(value, Result) or not isinstance(value.path.origin, int) or value.path.tail:
            return {}
        content = self.table[value.path.origin].content
        if not isinstance(content, Fusion):
            return {}
        slots = [*content.slots, *(slot for application in content.mixins for slot in application.slots)]
        return {
            slot.name: Result(Path(value.path.origin, (slot.name,))) for slot in slots if not isinstance(slot.content, Constant)
        }

    def take_in(self, units: Iterable[Unit]) -> None:
        """Note that units lie in a slot now."""
        units = tuple(units)
        for unit in units:
            for number in _numbers(unit):
                self.homes.add(number)
                self.inside.add(number)
        self._forget(units)

    def _forget(self, units: Iterable[Unit]) -> None:
        for unit in units:
            if isinstance(unit, Group):
                self.groups.pop(_numbers(unit)[0], None)

    def units(self, among: Iterable[int] | None = None) -> tuple[Unit, ...]:
        """Return the steps and groups that stand on their own, in evaluation order."""
        chosen = range(len(self.table)) if among is None else sorted(set(among))
        found: list[Unit] = []
        for number in chosen:
            if number in self.groups:
                found.append(self.groups[number])
            elif number not in self.inside:
                found.append(number)
        return tuple(found)


def _numbers(unit: Unit) -> tuple[int, ...]:
    return (unit,) if isinstance(unit, int) else unit.numbers


def slot_reads(slots: tuple[Slot, ...]) -> tuple[Path, ...]:
    """Return what the calls fused into some slots read."""
    return tuple(path for slot in slots for path in slot.reads)
