"""The steps of one export while it is bound: equal expressions are one step."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from msgspec.structs import replace

from instrc.ir.blocks import Region
from instrc.ir.executors import Executor
from instrc.ir.fusion import Application, Argument, Filling, Fusion, MixinGroup, Slot, Unit
from instrc.ir.graph import NO_TIMING, Step
from instrc.ir.paths import Local, Path
from instrc.ir.reads import Constant
from instrc.passes.bind.block_places import NOTHING_FORESEEN, BlockPlaces, Foreseen
from instrc.passes.bind.context import EvaluationContext
from instrc.passes.bind.holding import Brackets, TakenUnit, step_numbers, units_held
from instrc.passes.bind.identity import Identities
from instrc.passes.bind.regions import Regions
from instrc.passes.bind.values import BoundValue, StepResult
from instrc.source import Span

PRIVATE = "\0"
"""The key of a call that is composed into a slot: it is equal to no other step."""


class Steps:
    """A table of steps in evaluation order, of the program and of all its blocks."""

    def __init__(self, identities: Identities, foreseen: Foreseen = NOTHING_FORESEEN) -> None:
        self.table: list[Step] = []
        self.regions = Regions()
        self.places = BlockPlaces(self.regions, identities, foreseen.blocks)
        self._expected = foreseen.steps
        self.late: set[tuple[int, int]] = set()
        """Steps that an outer region turned out to have after an equal one had been met in a block of it."""
        self.homes: set[int] = set()
        """Steps that lie in a mixin or in a slot."""
        self.inside: set[int] = set()
        """Those of them that lie in a slot or in a group, so that they are no unit of their own."""
        self.dissolved: set[int] = set()
        """Steps that turned out to be the content of a slot, or that lie in a block that is equal to another."""
        self.dropped: set[int] = set()
        """The regions of these blocks."""
        self.groups: dict[int, MixinGroup] = {}
        """Groups that lie in no other, by their first step."""
        self.identities = identities
        identities.restart()
        self._groups = 0
        """How many groups there are."""
        self._known: dict[Hashable, dict[int, list[int]]] = {}
        """Steps by identity and region."""
        self._last: dict[int, int] = {}
        """The last region that has a step of an identity, where there are several such steps."""
        self._applied: dict[Hashable, tuple[TakenUnit, ...]] = {}
        self._mixed: dict[int, list[Hashable]] = {}
        """The uses of mixins in each region, with the steps that are written in their brackets."""
        self._filled: dict[Hashable, tuple[Unit, ...]] = {}

    def add(
        self,
        context: EvaluationContext,
        *,
        base_name: str,
        executor: Executor,
        content: Filling,
        arguments: tuple[Argument, ...],
        reads: list[Path],
        span: Span,
        output: bool = False,
        activity: str | None = None,
        fail: bool = False,
        needs: tuple[Path, ...] = (),
        chosen: tuple[Path, ...] = (),
        same: int | None = None,
    ) -> int:
        """Return the number of a step, a new one unless an equal expression has one already, here or in a block around.

        What it `reads` is there once each.  `same` is what `Identities.kind` gives for it, where that is known.
        """
        identities, timing = self.identities, context.timing
        given = identities.arguments(arguments)
        one = len(reads) == len(arguments) == 1 and reads[0] is arguments[0].value
        read = () if one or reads == [each.value for each in arguments] else tuple(map(identities.path, reads))
        kind = identities.kind(base_name, executor, activity, identities.content(content)) if same is None else same
        ident = identities.of(kind, given)
        if read or needs or timing is not NO_TIMING:
            ident = identities.of(ident, read, timing, tuple(map(identities.path, needs)))
        key = None if context.key == PRIVATE else context.key
        number, paths = len(self.table), tuple(reads)
        step = Step(
            number, base_name, key, executor, output, content, arguments, paths, activity, span, timing, fail, None, needs, chosen
        )
        number = self.one(step, ident, context)
        if context.brackets is not None:
            held = executor == "model" and not output and self.regions.home(number) == context.region
            context.brackets.note(number, identities.steps[number], held=held)
        return number

    def one(self, step: Step, ident: int, context: EvaluationContext) -> int:
        """Return the number of a step like the given one, which is taken into the table if there is none."""
        region = context.region
        if context.key == PRIVATE:
            return self._take(step, region, ident)
        known = ident if context.key is None else self.identities.of("keyed", context.braces, context.key, ident)
        if step.executor == "block":
            self.places.note_names(step)
        held = context.brackets is not None and context.direct and step.executor == "model"  # a mixin around it makes it another
        places = self._known.get(known)
        if places is not None and (number := self._find(places, step, region, only_here=held)) is not None:
            return number
        if self._expected and not held:
            region = self._expecting(known, step, region)
        number = self._take(step, region, known)
        self._know(ident, number, region)
        if ident != known:
            self._know(known, number, region)
        return number

    def _take(self, step: Step, region: int, ident: int) -> int:
        self.table.append(step)
        self.places.note_names(step)
        self.regions.take(step.number, region)
        self.identities.steps.append(ident)
        return step.number

    def _know(self, ident: int, number: int, region: int) -> None:
        """Note that a region has a step of an identity."""
        places = self._known.get(ident)
        if places is None:
            self._known[ident] = {region: [number]}
            return
        if self._last.get(ident, next(iter(places))) > region:  # a region after this one, while it is read, lies in it
            self.late.add((self.regions.labels[region], ident))
        else:
            self._last[ident] = region
        places.setdefault(region, []).append(number)

    def _find(self, places: dict[int, list[int]], step: Step, region: int, *, only_here: bool) -> int | None:
        """Return an equal step of a region or of one around it; `places` are those of its identity."""
        while region >= 0:
            found = next((number for number in places.get(region, ()) if self._alike(self.table[number], step)), None)
            if found is not None or only_here:
                return found
            region = self.regions.outer[region]
        return None

    def _alike(self, known: Step, step: Step) -> bool:
        """Tell whether two steps of one identity read the very same; mixins may have made the first one read more."""
        if step.executor == "block":  # what it reads may be a step of a block around it that the other has in itself
            return self.places.names(known) == self.places.names(step)
        return known.arguments == step.arguments and known.reads[: len(step.reads)] == step.reads

    def _expecting(self, known: int, step: Step, region: int) -> int:
        """Return the outermost region that is to have a step and sees all that it reads, else the one it was met in."""
        best = region
        while region >= 0:
            if (self.regions.labels[region], known) in self._expected and self._sees(region, step):
                best = region
            region = self.regions.outer[region]
        return best

    def _sees(self, region: int, step: Step) -> bool:
        """Tell whether everything that a step reads is there in a region."""
        return all(self.regions.around(self.regions.home_of(path), region) for path in (*step.reads, *step.needs))

    def among(self, region: int) -> list[int]:
        """Return the steps of a region that are steps of their own right or lie in one of these."""
        return [number for number in self.regions.steps[region] if number not in self.dissolved]

    def open_region(self, outer: int, written: Span) -> int:
        """Return the number of a new region, which is written at some place, inside another."""
        return self.regions.open(outer, self.places.label(outer, written))

    def identity(self, region: Region) -> int:
        """Return the number that bodies share that are written alike, even if one of them reads what another has in itself."""
        return self.identities.of(
            "region",
            self.places.carried.get(region.number, ()),
            tuple(self._mixed.get(region.number, ())),
            self.identities.reading(region.value),
        )

    def drop(self, regions: Iterable[int]) -> None:
        """Forget the steps of regions and of all in them, as of a block that is equal to another."""
        for region in self.regions.within(regions):
            self.dropped.add(region)
            self.dissolved.update(self.regions.steps[region])

    def is_dropped(self, path: Path) -> bool:
        """Tell whether a path leads to a step or a name of a block that has been forgotten."""
        origin = path.origin
        return origin.block in self.dropped if isinstance(origin, Local) else origin in self.dissolved

    def apply(self, application: Application, brackets: Brackets, region: int, *, whole: bool) -> tuple[Unit, ...]:
        """Put a mixin around what brackets in a region hold and return that; nothing if they hold nothing.

        Around one step it becomes part of that step, unless it was given a `whole` object.
        """
        ident = (self.identities.application(application), brackets.state(), whole)
        self._mixed.setdefault(region, []).append((ident[0], tuple(brackets.mentioned), whole))
        taken = self._applied.get(ident)
        if taken is None:
            units = units_held(brackets, self.table, self.homes)
            if not units:
                return ()
            if len(units) == 1 and isinstance(units[0], int) and not whole:
                taken = (self._wrap(units[0], application, brackets),)
            else:
                group = MixinGroup(application, units, tuple(step_numbers(units)), self._groups)
                self._groups += 1
                self.identities.enter(group)
                self._forget(units)
                self.groups[_numbers(group)[0]] = group
                depth = 1 + max(brackets.inner[n].depth if n in brackets.inner else 0 for n in brackets.written)
                taken = (TakenUnit(group, depth),)
            self._applied[ident] = taken
        for each in taken:
            for number in _numbers(each.unit):
                brackets.inner[number] = each
                self.homes.add(number)
                if isinstance(each.unit, MixinGroup):
                    self.inside.add(number)
        return tuple(each.unit for each in taken)

    def _wrap(self, number: int, application: Application, brackets: Brackets) -> TakenUnit:
        step = self.table[number]
        assert isinstance(step.content, Fusion)  # what else a mixin is put around is an object
        self.table[number] = replace(
            step,
            content=replace(step.content, mixins=(*step.content.mixins, application)),
            reads=tuple(dict.fromkeys((*step.reads, *(path for path in slot_reads(application.slots) if path.origin != number)))),
        )
        depth = brackets.inner[number].depth if number in brackets.inner else 0
        return TakenUnit(number, depth + 1)

    def fill(self, brackets: Brackets, context: EvaluationContext) -> tuple[Unit, ...]:
        """Return what brackets hold, for a slot; the same for the same slot of an equal expression."""
        ident = (context.braces, brackets.state())
        units = self._filled.get(ident)
        if units is None:
            units = self._filled[ident] = units_held(brackets, self.table, self.homes)
        return units

    def dissolve(self, number: int, brackets: Brackets) -> None:
        """Note that a step is none of its own any more: it has become the content of a slot."""
        self.dissolved.add(number)
        self.inside.add(number)
        brackets.written.discard(number)
        brackets.inner.pop(number, None)

    def parts(self, value: BoundValue) -> dict[str, BoundValue]:
        """Return what the slots of the step that a value is the result of are read as, by name."""
        if not isinstance(value, StepResult) or not isinstance(value.path.origin, int) or value.path.tail:
            return {}
        content = self.table[value.path.origin].content
        if not isinstance(content, Fusion):
            return {}
        slots = [*content.slots, *(slot for application in content.mixins for slot in application.slots)]
        return {
            slot.name: StepResult(Path(value.path.origin, (slot.name,)))
            for slot in slots
            if not isinstance(slot.content, Constant)
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
            if isinstance(unit, MixinGroup):
                self.groups.pop(_numbers(unit)[0], None)

    def units(self, among: Iterable[int] | None = None, region: int = 0) -> tuple[Unit, ...]:
        """Return the steps and groups of a region that stand on their own, in evaluation order."""
        chosen = self.regions.steps[region] if among is None else sorted(set(among))
        if not self.groups and not self.inside:
            return tuple(chosen)
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
