"""The values of expressions during binding."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

import msgspec

from instrc.compiler.ir import Content, Context, Fusion, Path, Slot, Step, StepObject, Unit
from instrc.text.jsonvalue import Json


class StepResult(msgspec.Struct, frozen=True, gc=False):
    """The result of a step, or an input."""

    path: Path


class Inner(msgspec.Struct, frozen=True, gc=False):
    """The content of an earlier field of the same braces, which the model sees without a read."""

    mistaken: bool = False
    """Whether it replaces something omitted by a mistake, so that its uses are not reported again."""


class Members(msgspec.Struct, frozen=True, gc=False):
    """An object of values."""

    fields: tuple[tuple[str, BoundValue], ...]
    size: int
    """Number of values in it, at any depth."""


class Data(msgspec.Struct, frozen=True, gc=False):
    """A literal."""

    value: Json
    given: str = ""
    """Input that it replaces in a program called with it; there it is read like any other value."""


class Cut(msgspec.Struct, frozen=True, gc=False):
    """A process cut by hand."""

    contexts: tuple[Context, ...]


BoundValue: TypeAlias = StepResult | Inner | Members | Data | Cut


class BraceNames(msgspec.Struct, frozen=True, gc=False):
    """Names that braces bind for their contents, inner ones first."""

    outer: BraceNames | None
    fields: dict[str, BoundValue] = msgspec.field(default_factory=dict)
    parts: dict[str, BoundValue] = msgspec.field(default_factory=dict)
    """Names of slots in the keyed values, which are names too unless defined otherwise."""

    def outwards(self) -> Iterator[BraceNames]:
        """Yield these names and those of the enclosing braces, from inside out."""
        names: BraceNames | None = self
        while names is not None:
            yield names
            names = names.outer

    def part(self, name: str) -> BoundValue | None:
        """Return the source of a slot of that name."""
        return next((names.parts[name] for names in self.outwards() if name in names.parts), None)

    def path_to_part(self, name: str) -> str | None:
        """Return the path to a slot of that name, as far as keys lead to it, or `None`."""
        part = self.part(name)
        if not isinstance(part, StepResult):
            return None
        whole = StepResult(Path(part.path.origin))
        keys = (key for names in self.outwards() for key, value in names.fields.items() if value == whole)
        return next((f"{key}.{name}" for key in keys), name)

    def find(self, name: str) -> BoundValue | None:
        """Return the value bound to a name."""
        return next((names.fields[name] for names in self.outwards() if name in names.fields), None)


def paths_read(value: BoundValue) -> list[Path]:
    """Return everything that reading a value reads, in order."""
    match value:
        case StepResult(path):
            return [path]
        case Members(fields):
            return [path for _, member in fields for path in paths_read(member)]
        case _:
            return []


class TakenUnit(msgspec.Struct, frozen=True):
    """A unit taken by a mixin, and the current number of enclosing mixins."""

    unit: Unit
    depth: int


class Brackets(msgspec.Struct):
    """The brackets of a mixin, or of another construct that places steps, during evaluation.

    A mixin holds the model steps in its brackets, except those needed first by something it cannot hold:
    a step of the server or of a person, a piped value, a local name inside a call.
    """

    piped: frozenset[int]
    """Steps piped in from outside; they and what they need cannot be held."""
    written: set[int] = msgspec.field(default_factory=set)
    """Model steps written here."""
    barriers: set[int] = msgspec.field(default_factory=set)
    """Steps written here that cannot be held, nor can what they need; the enclosing brackets cannot hold them either."""
    mentioned: dict[int, None] = msgspec.field(default_factory=dict)
    """Identities of the steps written here, wherever they were placed."""
    inner: dict[int, TakenUnit] = msgspec.field(default_factory=dict)
    """Steps taken by mixins inside these brackets."""

    def note(self, number: int, identity: int, *, held: bool) -> None:
        """Record a step written here, and whether a mixin may hold it."""
        self.mentioned[identity] = None
        (self.written if held else self.barriers).add(number)

    def keep_out(self, paths: Iterable[Path]) -> None:
        """Keep everything needed by values read here out of groups."""
        self.barriers.update(path.origin for path in paths if isinstance(path.origin, int))

    def hand_to(self, outer: Brackets) -> None:
        """Pass the steps of these brackets on to the enclosing brackets."""
        outer.written |= self.written
        outer.mentioned |= self.mentioned
        outer.barriers |= self.barriers
        outer.inner |= self.inner

    def taken(self) -> tuple[Unit, ...]:
        """Return the units taken by mixins within these brackets, without duplicates."""
        units = (taken.unit for taken in self.inner.values())
        return tuple({("step", each) if isinstance(each, int) else ("group", each.number): each for each in units}.values())

    def state(self) -> tuple[object, ...]:
        """Return a key: brackets with equal keys hold the same contents."""
        inner = tuple(sorted((number, taken.depth) for number, taken in self.inner.items()))
        return tuple(sorted(self.written)), tuple(sorted(self.barriers | self.piped)), inner


def units_held(brackets: Brackets, steps: Sequence[Step], homes: set[int]) -> tuple[Unit, ...]:
    """Return the contents of brackets, as units in evaluation order.

    `homes` are steps that are already placed; only those taken by a mixin within the brackets can be moved.
    """
    if not brackets.written:
        return ()
    excluded = _needed_first(brackets.barriers | brackets.piped, steps, min(brackets.written))
    units: dict[int, Unit] = {}
    for number in brackets.written:
        if number in brackets.inner:
            unit = brackets.inner[number].unit
            members = step_numbers((unit,))
            if not excluded.intersection(members):
                units[members[0]] = unit
        elif number not in excluded and number not in homes:
            units[number] = number
    return tuple(units[first] for first in sorted(units))


def _needed_first(barriers: set[int], steps: Sequence[Step], floor: int) -> set[int]:
    """Return the barriers and everything they read, directly or not, with a number of at least `floor`."""
    found = {step for step in barriers if step >= floor}
    waiting = list(found)
    while waiting:
        for path in steps[waiting.pop()].reads:
            if isinstance(path.origin, int) and path.origin >= floor and path.origin not in found:
                found.add(path.origin)
                waiting.append(path.origin)
    return found


def step_numbers(units: Sequence[Unit]) -> list[int]:
    """Return the steps of some units, in order."""
    return [number for unit in units for number in ((unit,) if isinstance(unit, int) else unit.numbers)]


def slot_reads(slots: Iterable[Slot]) -> tuple[Path, ...]:
    """Return the values read by calls fused into slots."""
    return tuple(path for slot in slots for path in slot.reads)


def group_reads(units: Iterable[Unit]) -> list[Path]:
    """Return the values that the slots of mixins around several steps read, among some units and in them."""
    found: list[Path] = []
    waiting = list(units)
    while waiting:
        unit = waiting.pop()
        if not isinstance(unit, int):
            found += slot_reads(unit.application.slots)
            waiting.extend(unit.members)
    return found


def nested_steps(steps: Mapping[int, Step], units: Sequence[Unit]) -> dict[int, tuple[int, ...]]:
    """Return the steps in slots, by the step that holds them, or the first step of the group that does."""
    found: dict[int, tuple[int, ...]] = {}
    waiting: list[Unit] = list(units)
    while waiting:
        unit = waiting.pop()
        if not isinstance(unit, int):
            blocks = _blocks(slot.content for slot in unit.application.slots)
            first = unit.numbers[0]
            waiting.extend(unit.members)
        else:
            blocks = _blocks([steps[unit].content])
            first = unit
        inside = tuple(number for block in blocks for number in step_numbers(block.units))
        if inside:
            found[first] = (*found.get(first, ()), *inside)
        waiting.extend(inner for block in blocks for inner in block.units)
    return {holder: _all_inside(found, holder) for holder in found}


def _blocks(contents: Iterable[Content]) -> list[StepObject]:
    """Return the objects of steps in contents, at any depth of slots but not nested in each other."""
    found: list[StepObject] = []
    waiting = list(contents)
    while waiting:
        content = waiting.pop(0)
        if isinstance(content, StepObject):
            found.append(content)
        elif isinstance(content, Fusion):
            waiting.extend(slot.content for slot in content.all_slots)
    return found


def _all_inside(found: dict[int, tuple[int, ...]], holder: int) -> tuple[int, ...]:
    return tuple([each for number in found.get(holder, ()) for each in (*_all_inside(found, number), number)])
