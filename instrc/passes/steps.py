"""The steps of one export while it is bound: equal expressions are one step."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import replace
from typing import TypeAlias

from instrc.ir.graph import (
    Application,
    Argument,
    Block,
    Constant,
    Content,
    Executor,
    Fusion,
    Group,
    Instruction,
    Path,
    Slot,
    Step,
    Unit,
)
from instrc.jsonvalue import Json, freeze
from instrc.passes.holding import Frame, Taken, held, numbers
from instrc.passes.values import Place
from instrc.source import Span

Ident: TypeAlias = Hashable

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
        self._known: dict[Ident, int] = {}
        self._applied: dict[Ident, tuple[Taken, ...]] = {}

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
        ident = (stem, executor, ident_of(content), tuple(map(_ident_of_argument, arguments)), reads, activity)
        private = place.key == PRIVATE
        number = None if private else self._known.get(ident if place.key is None else (place.key, ident))
        if number is None:
            number = len(self.table)
            key = None if private else place.key
            self.table.append(Step(number, stem, key, executor, output, content, arguments, reads, activity, span))
            if not private:
                self._known.setdefault(ident, number)
                self._known[key, ident] = number
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
        ident = (_ident_of_application(application), frame.state(), whole)
        taken = self._applied.get(ident)
        if taken is None:
            units = held(frame, self.table, self.homes)
            if not units:
                return ()
            if len(units) == 1 and isinstance(units[0], int) and not whole:
                taken = (self._wrap(units[0], application, frame),)
            else:
                group = Group(application, units)
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
                reads=tuple(dict.fromkeys((*step.reads, *slot_reads(application.slots)))),
            )
        depth = frame.inner[number].depth if number in frame.inner else 0
        return Taken(number, depth + 1)

    def dissolve(self, number: int, frame: Frame) -> None:
        """Note that a step is none of its own any more: it has become the content of a slot."""
        self.dissolved.add(number)
        self.inside.add(number)
        frame.written.discard(number)
        frame.inner.pop(number, None)

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


def _numbers(unit: Unit) -> list[int]:
    return [unit] if isinstance(unit, int) else numbers((unit,))


def slot_reads(slots: tuple[Slot, ...]) -> tuple[Path, ...]:
    """Return what the calls fused into some slots read."""
    return tuple(path for slot in slots for path in slot.reads)


def ident_of(content: Content) -> Ident:
    """Return a key that equal contents share, wherever they are written."""
    match content:
        case Constant(value):
            return ("constant", freeze(value))
        case Block(units, annotations):
            return ("block", tuple(map(_ident_of_unit, units)), freeze(list(annotations)))
        case Fusion(instruction, slots, annotations, mixins):
            return (
                _ident_of_instruction(instruction),
                tuple((slot.name, ident_of(slot.content)) for slot in slots),
                freeze(list(annotations)),
                tuple(map(_ident_of_application, mixins)),
            )


def _ident_of_unit(unit: Unit) -> Ident:
    if isinstance(unit, int):
        return unit
    return (_ident_of_application(unit.application), tuple(map(_ident_of_unit, unit.members)))


def _ident_of_instruction(instruction: Instruction) -> Ident:
    return (instruction.name, instruction.uri) if instruction.uri else (instruction.name, freeze(instruction.schema))


def _ident_of_application(application: Application) -> Ident:
    return (
        _ident_of_instruction(application.mixin),
        tuple((slot.name, ident_of(slot.content)) for slot in application.slots),
        freeze(list(application.annotations)),
    )


def _ident_of_argument(argument: Argument) -> Ident:
    value: Json = argument.value
    return (argument.label, freeze(value.value) if isinstance(value, Constant) else value)
