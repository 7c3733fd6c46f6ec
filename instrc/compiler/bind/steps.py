"""The steps of one export during binding: equal expressions are one step."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

import msgspec
from msgspec.structs import replace

from instrc.compiler import ir
from instrc.compiler.bind.identities import Identities
from instrc.compiler.bind.scopes import Scope
from instrc.compiler.bind.values import (
    BoundValue,
    BraceNames,
    Brackets,
    StepResult,
    TakenUnit,
    slot_reads,
    step_numbers,
    units_held,
)
from instrc.compiler.ir import BodyLine, Lines
from instrc.compiler.partition.effects import WRITES, Kind
from instrc.process.flow import Constant, Executor
from instrc.text.jsonvalue import Json
from instrc.text.source import Span


class Foreseen(msgspec.Struct, frozen=True):
    """Results of a previous evaluation of the same expressions; regions are identified by labels, which are stable."""

    steps: frozenset[tuple[int, int]]
    """Steps that an outer region will have, by region and identity; an equal step in a block is the same one."""
    blocks: Mapping[int, int]
    """Outer regions that blocks belong to, by the label of their place in the source."""


NOTHING_FORESEEN = Foreseen(frozenset(), MappingProxyType({}))


class EvaluationContext(msgspec.Struct, frozen=True, gc=False):
    """The context of an expression."""

    scope: Scope
    """Visible names."""
    region: int = 0
    """Body or program to whose steps a call belongs."""
    piped: BoundValue | None = None
    """Value piped into the enclosing stage."""
    own: bool = False
    """Whether it is the stage's own call, whose first argument is the piped value."""
    keys: BraceNames | None = None
    brackets: Brackets | None = None
    """Innermost enclosing brackets that place steps."""
    direct: bool = False
    """Whether it is a direct argument of such brackets, where a local name stands for its expression."""
    annotations: tuple[Json, ...] = ()
    """Annotations written after it with `@`, innermost first."""
    timing: ir.Timing = ir.NO_TIMING
    """Deadline and delay from its annotations."""
    braces: int = 0
    """Number of the enclosing braces, shared by braces of equal expressions; keys in different braces are different steps."""
    key: str | None = None
    """Key assigned by braces."""
    filling: bool = False
    """It is what a mixin is put around: the key is that of a call here, or of the mixin with an object, but not of the object."""
    placing: bool = False
    """Whether an object here is part of an artefact, so that its constants become properties."""
    exported: bool = False
    """Whether it is the exported expression itself."""
    by_hand: bool = False
    """Whether it is inside `Process`, where nothing is inserted."""

    def inside(self) -> EvaluationContext:
        """Return the context of an argument, without what belongs to the call itself."""
        own = self.own or self.direct or self.filling or self.placing or self.exported or self.annotations
        if not own and self.key is None and self.timing is ir.NO_TIMING:
            return self
        return EvaluationContext(
            self.scope, self.region, self.piped, keys=self.keys, brackets=self.brackets, braces=self.braces, by_hand=self.by_hand
        )

    def given_to(self, brackets: Brackets) -> EvaluationContext:
        """Return the context of an argument in placing brackets."""
        return replace(self, brackets=brackets, direct=True, annotations=(), exported=False)

    def alone(self, brackets: Brackets | None, home: Scope) -> EvaluationContext:
        """Return the context of a local's expression, as if written at the name; keys of braces are not visible in it."""
        if not self.own and self.scope is home and self.keys is home.keys and self.brackets is brackets:
            return self  # the usual case
        return replace(self, own=False, keys=home.keys, brackets=brackets, scope=home)

    def at_home(self, home: Scope) -> EvaluationContext:
        """Return the context of a local's expression that an inner block reads: it is evaluated in its own scope."""
        return EvaluationContext(home, home.region, home.piped, keys=home.keys)

    def find(self, name: str) -> BoundValue | None:
        """Return the value that enclosing braces bind to a name."""
        return self.keys.find(name) if self.keys else None


PRIVATE = "\0"
"""Key of a call that is composed into a slot; it equals no other step."""


class Steps:
    """The steps of a program and all its blocks, in evaluation order."""

    def __init__(self, identities: Identities, foreseen: Foreseen = NOTHING_FORESEEN) -> None:
        self.table: list[ir.Step] = []
        self.regions = Regions()
        self.log = LineLog(self.regions.home)
        self.places = BlockPlaces(self.regions, identities, foreseen.blocks)
        self._expected = foreseen.steps
        self.late: set[tuple[int, int]] = set()
        """Steps that an outer region turned out to have after an equal one had been met in a block of it."""
        self.homes: set[int] = set()
        """Steps that lie in a mixin or in a slot."""
        self.inside: set[int] = set()
        """Those of them that lie in a slot or in a group, so that they are not a unit of their own."""
        self.dissolved: set[int] = set()
        """Steps that turned out to be the content of a slot, or that lie in a block that is equal to another."""
        self.dropped: set[int] = set()
        """The regions of these blocks."""
        self.groups: dict[int, ir.MixinGroup] = {}
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
        self._filled: dict[Hashable, tuple[ir.Unit, ...]] = {}

    def add(
        self,
        context: EvaluationContext,
        *,
        base_name: str,
        executor: Executor,
        content: ir.Filling,
        arguments: tuple[ir.Argument, ...],
        reads: list[ir.Path],
        span: Span,
        output: bool = False,
        activity: str | None = None,
        fail: bool = False,
        needs: tuple[ir.Path, ...] = (),
        chosen: tuple[ir.Path, ...] = (),
    ) -> int:
        """Return the number of a step, reusing that of an equal expression in this or an enclosing block.

        The values it `reads` have no duplicates.
        """
        identities, timing = self.identities, context.timing
        given = identities.arguments(arguments)
        read = () if reads == [each.value for each in arguments] else tuple(map(identities.path, reads))
        ident = identities.of(base_name, executor, activity, identities.content(content), given)
        if read or needs or timing is not ir.NO_TIMING:
            ident = identities.of(ident, read, timing, tuple(map(identities.path, needs)))
        key = None if context.key == PRIVATE else context.key
        number, paths = len(self.table), tuple(reads)
        step = ir.Step(
            number, base_name, key, executor, output, content, arguments, paths, activity, span, timing, fail, None, needs, chosen
        )
        number = self.one(step, ident, context)
        if context.brackets is not None:
            held = executor == "model" and not output and self.regions.home(number) == context.region
            context.brackets.note(number, identities.steps[number], held=held)
        return number

    def one(self, step: ir.Step, ident: int, context: EvaluationContext) -> int:
        """Return the number of a step equal to this one, adding it if there is none."""
        number = self._one(step, ident, context)
        self.log.note(number, step.span)
        return number

    def _one(self, step: ir.Step, ident: int, context: EvaluationContext) -> int:
        region = context.region
        if context.key == PRIVATE:
            return self._take(step, region, ident)
        known = ident if context.key is None else self.identities.of("keyed", context.braces, context.key, ident)
        if step.executor == "block":
            self.places.note_names(step)
        held = (
            context.brackets is not None and context.direct and step.executor == "model"
        )  # inside a mixin it is a different step
        places = self._known.get(known)
        if places is not None and (number := self._find(places, step, region, only_here=held)) is not None:
            return number
        if ident != known and step.executor in {"server", "user"}:
            number = self._find(self._known.get(ident, {}), step, region, only_here=False)
            if number is not None and self.table[number].key is None:  # an equal call without a key is the same step
                self.table[number] = replace(self.table[number], key=step.key)
                self._known.setdefault(known, {}).setdefault(self.regions.home(number), []).append(number)
                return number
        if self._expected and not held:
            region = self._expecting(known, step, region)
        number = self._take(step, region, known)
        self._know(ident, number, region)
        if ident != known:
            self._know(known, number, region)
        return number

    def _take(self, step: ir.Step, region: int, ident: int) -> int:
        self.table.append(step)
        self.places.note_names(step)
        self.regions.take(step.number, region)
        self.identities.steps.append(ident)
        return step.number

    def _know(self, ident: int, number: int, region: int) -> None:
        """Record that a region has a step of an identity."""
        places = self._known.get(ident)
        if places is None:
            self._known[ident] = {region: [number]}
            return
        if self._last.get(ident, next(iter(places))) > region:  # regions created while this one is read are inside it
            self.late.add((self.regions.labels[region], ident))
        else:
            self._last[ident] = region
        places.setdefault(region, []).append(number)

    def _find(self, places: dict[int, list[int]], step: ir.Step, region: int, *, only_here: bool) -> int | None:
        """Return an equal step of a region or an enclosing one; `places` are those of its identity."""
        while region >= 0:
            found = next((number for number in places.get(region, ()) if self._alike(self.table[number], step)), None)
            if found is not None or only_here:
                return found
            region = self.regions.outer[region]
        return None

    def _alike(self, known: ir.Step, step: ir.Step) -> bool:
        """Return whether two steps of one identity read the same values, as mixins may have made the first one read more."""
        if step.executor == "block":  # it may read a step of an enclosing block that is inside the other block
            return self.places.names(known) == self.places.names(step)
        return known.arguments == step.arguments and known.reads[: len(step.reads)] == step.reads

    def _expecting(self, known: int, step: ir.Step, region: int) -> int:
        """Return the outermost region that expects a step and sees all that it reads, or else the current one."""
        best = region
        while region >= 0:
            if (self.regions.labels[region], known) in self._expected and self._sees(region, step):
                best = region
            region = self.regions.outer[region]
        return best

    def _sees(self, region: int, step: ir.Step) -> bool:
        """Return whether everything that a step reads exists in a region."""
        return all(self.regions.around(self.regions.home_of(path), region) for path in (*step.reads, *step.needs))

    def among(self, region: int) -> list[int]:
        """Return the steps of a region that are independent or nested in one of these."""
        return [number for number in self.regions.steps[region] if number not in self.dissolved]

    def open_region(self, outer: int, written: Span) -> int:
        """Return the number of a new region, written at some place, inside another one."""
        return self.regions.open(outer, self.places.label(outer, written))

    def identity(self, region: ir.Region) -> int:
        """Return the number shared by bodies with equal source, even if one reads what another contains."""
        return self.identities.of(
            "region",
            self.places.carried.get(region.number, ()),
            tuple(self._mixed.get(region.number, ())),
            self.identities.reading(region.value),
        )

    def drop(self, regions: Iterable[int]) -> None:
        """Remove the steps of regions and nested regions, for a block that equals another one."""
        for region in self.regions.within(regions):
            self.dropped.add(region)
            self.dissolved.update(self.regions.steps[region])

    def is_dropped(self, path: ir.Path) -> bool:
        """Return whether a path leads to a removed step, or to a name of a removed block."""
        origin = path.origin
        return origin.block in self.dropped if isinstance(origin, ir.Local) else origin in self.dissolved

    def apply(self, application: ir.Application, brackets: Brackets, region: int, *, whole: bool) -> tuple[ir.Unit, ...]:
        """Put a mixin around the contents of brackets in a region and return the result, or nothing if they are empty.

        Around a single step it becomes part of that step, unless it received a `whole` object.
        """
        ident = (self.identities.application(application), brackets.state(), whole)
        self._mixed.setdefault(region, []).append((ident[0], tuple(brackets.mentioned), whole))
        taken = self._applied.get(ident)
        if taken is None:
            units = units_held(brackets, self.table, self.homes)
            if whole or len(units) != 1 or not isinstance(units[0], int):  # otherwise it becomes part of the step
                units = self._free(units)
            if not units:
                return ()
            if len(units) == 1 and isinstance(units[0], int) and not whole:
                taken = (self._wrap(units[0], application, brackets),)
            else:
                group = ir.MixinGroup(application, units, tuple(step_numbers(units)), self._groups)
                self._groups += 1
                self.identities.enter(group)
                self._forget(units)
                self.groups[group.numbers[0]] = group
                depth = 1 + max(brackets.inner[n].depth if n in brackets.inner else 0 for n in brackets.written)
                taken = (TakenUnit(group, depth),)
            self._applied[ident] = taken
        for each in taken:
            for number in step_numbers((each.unit,)):
                brackets.inner[number] = each
                self.homes.add(number)
                if isinstance(each.unit, ir.MixinGroup):
                    self.inside.add(number)
        return tuple(each.unit for each in taken)

    def _wrap(self, number: int, application: ir.Application, brackets: Brackets) -> TakenUnit:
        step = self.table[number]
        assert isinstance(step.content, ir.Fusion)  # anything else inside a mixin is an object
        self.table[number] = replace(
            step,
            content=replace(step.content, mixins=(*step.content.mixins, application)),
            reads=tuple(dict.fromkeys((*step.reads, *(path for path in slot_reads(application.slots) if path.origin != number)))),
        )
        depth = brackets.inner[number].depth if number in brackets.inner else 0
        return TakenUnit(number, depth + 1)

    def fill(self, brackets: Brackets, context: EvaluationContext) -> tuple[ir.Unit, ...]:
        """Return the contents of brackets for a slot, the same for the same slot of an equal expression."""
        ident = (context.braces, brackets.state())
        units = self._filled.get(ident)
        if units is None:
            units = self._filled[ident] = self._free(units_held(brackets, self.table, self.homes))
        return units

    def _free(self, units: tuple[ir.Unit, ...]) -> tuple[ir.Unit, ...]:
        """Return the units in no group or slot: an equal mixin may have been moved into one elsewhere."""
        return tuple(
            unit
            for unit in units
            if (unit not in self.inside if isinstance(unit, int) else self.groups.get(unit.numbers[0]) is unit)
        )

    def dissolve(self, number: int, brackets: Brackets) -> None:
        """Record that a step has become the content of a slot."""
        self.dissolved.add(number)
        self.inside.add(number)
        brackets.written.discard(number)
        brackets.inner.pop(number, None)

    def parts(self, value: BoundValue) -> dict[str, BoundValue]:
        """Return the sources of a step's slots by name, for the step whose result a value is."""
        if not isinstance(value, StepResult) or not isinstance(value.path.origin, int) or value.path.tail:
            return {}
        content = self.table[value.path.origin].content
        if not isinstance(content, ir.Fusion):
            return {}
        return {
            slot.name: StepResult(ir.Path(value.path.origin, (slot.name,)))
            for slot in content.all_slots
            if not isinstance(slot.content, Constant)
        }

    def take_in(self, units: Iterable[ir.Unit]) -> None:
        """Record that units are now in a slot."""
        units = tuple(units)
        self.homes.update(step_numbers(units))
        self.inside.update(step_numbers(units))
        self._forget(units)

    def _forget(self, units: Iterable[ir.Unit]) -> None:
        for unit in units:
            if isinstance(unit, ir.MixinGroup):
                self.groups.pop(unit.numbers[0], None)

    def units(self, among: Iterable[int] | None = None, region: int = 0) -> tuple[ir.Unit, ...]:
        """Return the independent steps and groups of a region, in evaluation order."""
        chosen = self.regions.steps[region] if among is None else sorted(set(among))
        if not self.groups and not self.inside:
            return tuple(chosen)
        found: list[ir.Unit] = []
        for number in chosen:
            if number in self.groups:
                found.append(self.groups[number])
            elif number not in self.inside:
                found.append(number)
        return tuple(found)


PROGRAM = 0
"""Region of the program itself."""


class Regions:
    """Tracks which steps and regions are in which region; outer regions are created first."""

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
        """Record that the next step is in a region."""
        self._home.append(region)
        self.steps[region].append(step)

    def home(self, origin: int | str) -> int:
        """Return the region of a step, or the program for an input."""
        return self._home[origin] if isinstance(origin, int) else PROGRAM

    def home_of(self, path: ir.Path) -> int:
        """Return the region in which a path begins: that of a step or a block's name, or the program for an input."""
        return path.origin.block if isinstance(path.origin, ir.Local) else self.home(path.origin)

    def around(self, outer: int, inner: int) -> bool:
        """Return whether one region contains another."""
        while inner > outer:
            inner = self.outer[inner]
        return inner == outer

    def within(self, regions: Iterable[int]) -> list[int]:
        """Return some regions and all nested ones."""
        found = list(regions)
        for region in found:  # grows during iteration
            found += self._inner[region]
        return found


class BlockPlaces:
    """The places of one export's blocks during binding."""

    def __init__(self, regions: Regions, identities: Identities, foreseen: Mapping[int, int]) -> None:
        self.carried: dict[int, tuple[object, ...]] = {}
        """What the statements of a region give that nothing reads."""
        self.moved: dict[int, int] = {}
        """Blocks that equal one further out than they were evaluated, by the label of their place: the label of its region."""
        self._regions = regions
        self._identities = identities
        self._foreseen = foreseen
        self._met: dict[int, int] = {}
        """How often a place was met."""
        self._names: dict[int, frozenset[ir.Local]] = {}
        """The names of blocks around it that a step depends on."""
        self._like: dict[int, list[tuple[int, int, int]]] = {}
        """By the identity of blocks: the label of each one's place, the region it was evaluated in, its step."""

    def note_carried(self, region: int, unread: Iterable[Hashable]) -> None:
        """Record values of lines that nothing reads, in a region or a program called in it."""
        self.carried[region] = (*self.carried.get(region, ()), *unread)

    def label(self, outer: int, written: Span) -> int:
        """Return the identity of a place in a region, stable across evaluations of the same expressions."""
        place = self._identities.of("place", self._regions.labels[outer], written)
        count = self._met[place] = self._met.get(place, 0) + 1
        return self._identities.of("placed", place, count)

    def region_of(self, place: int, region: int) -> int:
        """Return the region that a block belongs to, which may differ from where it is written."""
        label = self._foreseen.get(place)
        found = region if label is None else self._regions.labelled.get(label, region)
        return found if self._regions.around(found, region) else region

    def note(self, place: int, region: int, ident: int, step: ir.Step, *, new: bool) -> None:
        """Record that a block in a region became a step, which is `new` or already existed."""
        home = self._regions.home(step.number)
        if home != region:
            self.moved[place] = self._regions.labels[home]
        like = self._like.setdefault(ident, [])
        if new and like and any(inner > home for _, inner, _ in like):
            for other, inner, number in like:
                if inner > home and self._regions.around(home, inner) and self._names[number] == self._names[step.number]:
                    self.moved[other] = self._regions.labels[home]
        like.append((place, region, step.number))

    def names(self, step: ir.Step) -> frozenset[ir.Local]:
        """Return the names of enclosing blocks that a step depends on, directly or through the values it reads."""
        return self._names[step.number]

    def note_names(self, step: ir.Step) -> None:
        """Compute the block names on which a step depends."""
        found: set[ir.Local] = set()
        for path in step.reads + step.needs:
            if isinstance(path.origin, ir.Local):
                found.add(path.origin)
            elif isinstance(path.origin, int):
                found |= self._names[path.origin]
        own = {region.number for region in ir.regions_of(step.content)}
        self._names[step.number] = frozenset(each for each in found if each.block not in own)


class LineLog:
    """The steps encountered in each expression during evaluation, in nested frames."""

    def __init__(self, home: Callable[[int], int]) -> None:
        self._home = home
        """The region of a step."""
        self._steps: list[list[tuple[int, Span]]] = [[]]
        """The steps that each frame met, and where they are written there."""
        self._parts: list[list[int]] = [[]]
        """The frames in each frame: of expressions inside, and of names that are read."""
        self._bodies: dict[int, tuple[int, Sequence[int]]] = {}
        """The frames of called programs: their region, and a frame for each line."""
        self._named: set[int] = set()
        """The frames of names: what these hold is written where they are defined."""
        self._open = [0]

    def note(self, step: int, span: Span) -> None:
        """Record that a step was encountered, and where it is written."""
        self._steps[self._open[-1]].append((step, span))

    def new(self) -> int:
        """Return a new frame, inside the open one."""
        self._steps.append([])
        self._parts.append([])
        frame = len(self._steps) - 1
        self._parts[self._open[-1]].append(frame)
        return frame

    def new_name(self) -> int:
        """Return a new frame for the expression of a name, inside the open one."""
        frame = self.new()
        self._named.add(frame)
        return frame

    def read(self, frame: int) -> None:
        """Record that the values of a frame are also needed here."""
        self._parts[self._open[-1]].append(frame)

    def begin(self) -> int:
        """Start a new frame for the following steps, and return it."""
        frame = self.new()
        self.open(frame)
        return frame

    def open(self, frame: int) -> None:
        """Reopen a frame for the following steps."""
        self._open.append(frame)

    def close(self) -> None:
        """Return to the enclosing frame."""
        self._open.pop()

    def note_body(self, frame: int, region: int, lines: Sequence[int]) -> None:
        """Record that a frame is a called program with its own lines."""
        self._bodies[frame] = region, lines

    def lines(self, region: int, frames: Sequence[int]) -> Lines:
        """Return the lines of a body by their frames: the steps of its region that no earlier line contains."""
        met: set[int] = set()
        return tuple([self._line(region, frame, met) for frame in frames])

    def _line(self, region: int, frame: int, met: set[int]) -> BodyLine:
        steps: dict[int, None] = {}
        bodies: list[Lines] = []
        waiting = [frame]
        while waiting:
            here = waiting.pop()
            if here in met:
                continue
            met.add(here)
            steps.update(dict.fromkeys(step for step, _ in self._steps[here] if self._home(step) == region))
            if here in self._bodies and self._bodies[here][0] == region:
                bodies.append(self.lines(*self._bodies[here]))
            waiting.extend(reversed(self._parts[here]))
        return BodyLine(tuple(steps), tuple(bodies))

    def repeated(self, bodies: Iterable[Sequence[int]], kinds: Mapping[int, Kind]) -> Iterator[tuple[int, Span, Span]]:
        """Yield each effect that two lines of a body contain, with both places; reads may repeat if only reads are in between."""
        every = [*bodies, *(lines for _, lines in self._bodies.values())]
        body_of = {frame: number for number, frames in enumerate(every) for frame in frames}
        written = [[self._written(frame, every, body_of, kinds) for frame in frames] for frames in every]
        reads = [{step for steps, _ in lines for step in steps if kinds[step] != WRITES} for lines in written]
        outer: list[dict[int, tuple[Span, int]]] = [{} for _ in every]
        """What lines before each body read."""
        for lines in written:
            before: dict[int, Span] = {}
            for steps, inner in lines:
                for body in inner:
                    outer[body].update({step: (before[step], 0) for step in reads[body] if step in before})
                before = {**steps, **before}
        for known, lines in zip(outer, written, strict=True):
            changes = 0
            for steps, _ in lines:
                for step, span in steps.items():
                    first, then = known.setdefault(step, (span, changes))
                    if first is not span and (kinds[step] == WRITES or then != changes):
                        yield step, first, span
                changes += any(kinds[step] == WRITES for step in steps)

    def _written(
        self, line: int, bodies: Sequence[Sequence[int]], body_of: Mapping[int, int], kinds: Mapping[int, Kind]
    ) -> tuple[dict[int, Span], set[int]]:
        """Return the effects that a line contains, without those of names from outside of it, and the bodies in it."""
        steps: dict[int, Span] = {}
        inner: set[int] = set()
        waiting = [line]
        while waiting:
            here = waiting.pop()
            steps.update({step: span for step, span in self._steps[here] if step in kinds})
            body = body_of.get(here) if here != line else None
            if body is not None and body not in inner:
                inner.add(body)
                waiting.extend(part for part in bodies[body] if part in self._named)
            waiting.extend(part for part in reversed(self._parts[here]) if part not in self._named)
        return steps, inner
