"""What has changed from one process to another, and for whom it breaks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from instrc.process.flow import EXECUTORS, Block, Step, Value
from instrc.process.pairs import (
    Pairs,
    PlacedStep,
    answer_schema,
    ascending,
    described_without_reads,
    direct_steps,
    facts,
    free_names,
    needs,
    pair,
    place,
    plannable_tools_of,
    plans,
    shown_text,
    value_as_text,
)
from instrc.process.process import Process
from instrc.schema.differences import compare
from instrc.schema.inclusion import Inclusion, includes
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import equal

# What has changed in the cut of a process: its steps, the chunks that they stand in, its blocks.


@dataclass(frozen=True, slots=True)
class CutChange:
    """One difference: at a step, a context or a block."""

    at: str
    what: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class CutChanges:
    """All differences between two processes, and what they mean for those who serve them."""

    changes: tuple[CutChange, ...]
    refused: str
    """An answer that was accepted from a person or an activity and is refused; empty if there is none."""
    unproven: str
    """A step of which it is not proven that it gives and takes what it did; empty if there is none."""


def cut_changes(old: Process, new: Process, pairs: Pairs) -> CutChanges:
    """Return what has changed from one process to another, whose steps and blocks are paired."""
    differ = _Differ(old, new, pairs)
    changes = (*differ.steps(), *differ.contexts(), *differ.blocks())
    return CutChanges(changes, differ.refused, differ.unproven)


class _Differ:
    """Finds the differences; what they mean is gathered while they are found."""

    def __init__(self, old: Process, new: Process, pairs: Pairs) -> None:
        self.processes = old, new
        self.pairs = pairs
        self.kept = frozenset(pairs.blocks.values())
        """The old blocks that are still there."""
        self.refused = ""
        self.unproven = ""

    # --- steps --------------------------------------------------------------------------------------------------------------

    def steps(self) -> Iterator[CutChange]:
        kept = set(self.pairs.steps.values())
        for index, placed in enumerate(self.pairs.old.steps):
            if index not in kept:
                yield CutChange(placed.step.key, "removed", EXECUTORS[placed.executor])
        for index, placed in enumerate(self.pairs.new.steps):
            was = self.pairs.steps.get(index)
            if was is None:
                yield CutChange(placed.step.key, "added", self.added(placed))
            else:
                yield from self.step(self.pairs.old.steps[was], placed)

    def added(self, placed: PlacedStep) -> str:
        if placed.executor != "model" and not placed.step.fail:
            self.unproven = self.unproven or f"`{placed.step.key}` is new"
        return EXECUTORS[placed.executor]

    def step(self, was: PlacedStep, now: PlacedStep) -> Iterator[CutChange]:
        key, old, new = now.step.key, was.step, now.step
        if was.name != now.name:
            yield CutChange(key, "renamed", f"from `{old.key}`")
        if was.executor != now.executor:
            yield CutChange(key, "moved", f"from {EXECUTORS[was.executor]} to {EXECUTORS[now.executor]}")
        if self.moved(was.parent, was.branch, now.parent, now.branch):
            yield CutChange(key, "moved", f"from {place(self.pairs.old, was)} to {place(self.pairs.new, now)}")
        if old.activity != new.activity:
            yield CutChange(key, "activity", f"{old.activity or 'none'} → {new.activity or 'none'}")
        yield from self.reading(was, now)
        yield from _timing(key, old, new)
        if old.fail != new.fail:
            yield CutChange(key, "fails" if new.fail else "fails no longer")
        if [(each.place, self.pairs.path(each.choices)) for each in old.among] != [
            (each.place, each.choices.text) for each in new.among
        ]:
            yield CutChange(key, "choices", ", ".join(each.choices.text for each in new.among))
        if not equal(plans(old), plans(new)):
            yield CutChange(key, "tools of the plan", ", ".join(sorted(plannable_tools_of(new))))
        yield from self.schema(was, now)

    def reading(self, was: PlacedStep, now: PlacedStep) -> Iterator[CutChange]:
        """Say what a step reads now and did not read before, and what fills its arguments."""
        key = now.step.key
        before, after = {self.pairs.path(read) for read in was.step.references}, {read.text for read in now.step.references}
        yield from (CutChange(key, "reads no longer", path) for path in sorted(before - after))
        yield from (CutChange(key, "reads", path) for path in sorted(after - before))
        filled, fills = self.value(was.step.arguments), value_as_text(now.step.arguments)
        if filled != fills and (before == after or now.executor != "model"):
            yield CutChange(key, "arguments", f"{shown_text(filled)} → {shown_text(fills)}")
        if now.executor != "model" and (before, filled) != (after, fills):
            self.unproven = self.unproven or f"`{key}` gets other arguments"

    def moved(self, was: int | None, branch: int, now: int | None, branch_now: int) -> bool:
        """Tell whether a part stands in another block; one that is added or removed says itself what it holds."""
        if was is None or now is None:
            lone = now if was is None else was
            return lone is not None and lone in (self.pairs.blocks if was is None else self.kept)
        if now not in self.pairs.blocks or was not in self.kept:
            return False
        return self.pairs.blocks[now] != was or branch != branch_now

    def schema(self, was: PlacedStep, now: PlacedStep) -> Iterator[CutChange]:
        """Say what has changed in the schema of a step, and remember what that means."""
        old, new = answer_schema(was.step, self.processes[0]), answer_schema(now.step, self.processes[1])
        if dumps(old) == dumps(new):  # the order of properties counts: the model answers in it
            return
        found = compare(old, new)
        for change in found.changes:
            if (
                change.what != "described"
                or change.pointer
                or described_without_reads(was.step) != described_without_reads(now.step)
            ):
                yield CutChange(f"{now.step.key}{change.pointer}", change.what, change.detail)
        served = was.executor == now.executor != "model"
        if served and found.writers == "no" and not self.refused:
            self.refused = f"`{now.step.key}` refuses {dumps(found.refused, indent=False)}"
        if (served and found.writers != "yes") or found.readers != "yes":
            self.unproven = self.unproven or f"`{now.step.key}` has another schema"

    def value(self, value: Value | None) -> str:
        """Return a value of the old process as the new one writes it."""
        return value_as_text(value, self.pairs)

    # --- contexts -----------------------------------------------------------------------------------------------------------

    def contexts(self) -> Iterator[CutChange]:
        """Say which chunks were split, joined, or put in another order, by the steps that stayed with their executor."""
        heirs: defaultdict[int, dict[int, None]] = defaultdict(dict)
        origins: defaultdict[int, dict[int, None]] = defaultdict(dict)
        orders: defaultdict[int, list[int]] = defaultdict(list)
        for index, now in enumerate(self.pairs.new.steps):
            was = self.pairs.steps.get(index)
            if was is None or self.pairs.old.steps[was].executor != now.executor:
                continue
            heirs[self.pairs.old.steps[was].chunk][now.chunk] = None
            origins[now.chunk][self.pairs.old.steps[was].chunk] = None
            orders[now.chunk].append(was)
        old, new = self.pairs.old.chunks, self.pairs.new.chunks
        for chunk, parts in heirs.items():
            if len(parts) > 1:
                yield CutChange(old[chunk].name, "split", ", ".join(new[each].name for each in parts))
        for chunk, parts in origins.items():
            if len(parts) > 1:
                yield CutChange(new[chunk].name, "joined", ", ".join(old[each].name for each in parts))
            elif not ascending(orders[chunk]):
                yield CutChange(new[chunk].name, "reordered", ", ".join(step.key for step in new[chunk].steps))

    # --- blocks -------------------------------------------------------------------------------------------------------------

    def blocks(self) -> Iterator[CutChange]:
        for index, placed in enumerate(self.pairs.old.blocks):
            if index not in self.kept:
                yield CutChange(placed.block.name, "block removed", direct_steps(self.pairs.old, index))
        for index, placed in enumerate(self.pairs.new.blocks):
            was = self.pairs.blocks.get(index)
            if was is None:
                yield CutChange(placed.block.name, "block added", direct_steps(self.pairs.new, index))
                continue
            other = self.pairs.old.blocks[was]
            if self.moved(other.parent, other.branch, placed.parent, placed.branch):
                yield CutChange(
                    placed.block.name, "moved", f"from {place(self.pairs.old, other)} to {place(self.pairs.new, placed)}"
                )
            yield from self.block(other.block, placed.block)
        before, after = self.processes[0].body.value, self.processes[1].body.value
        if self.value(before) != value_as_text(after):
            yield CutChange("process", "gives", f"{shown_text(self.value(before))} → {shown_text(value_as_text(after))}")

    def block(self, old: Block, new: Block) -> Iterator[CutChange]:
        before, after = facts(old, self.pairs), facts(new)
        for name in dict.fromkeys([*before, *after]):
            was, now = before.get(name), after.get(name)
            if was != now:
                yield CutChange(new.name, name, f"{was or 'none'} → {now or 'none'}")
        yield from _timing(new.name, old, new)


def _timing(at: str, old: Step | Block, new: Step | Block) -> Iterator[CutChange]:
    for name, what in (("within", "deadline"), ("delay", "delay")):
        was, now = getattr(old, name, None), getattr(new, name, None)
        if was != now:
            yield CutChange(at, what, f"{was or 'none'} → {now or 'none'}")


# For whom a new process breaks: those who start it, and those who serve its activities and its people.
#
# As with schemas, `yes` is proven, `no` is shown, and everything else is `unknown`.


_HARMLESS = frozenset(
    {
        *("described", "default", "renamed", "split", "joined", "reordered", "removed", "reads", "reads no longer", "arguments"),
    }
)
"""Changes after which those who serve the process get nothing new; of their own steps, what is read is looked at apart."""
_OF_SCHEMAS = frozenset({"narrowed", "widened", "changed", "equivalent", "added", "required", "optional"})
"""Changes of a step's schema; the verdicts on the schemas say what they mean."""


@dataclass(frozen=True, slots=True)
class Claim:
    """Whether something still holds, and why not or why nobody knows."""

    verdict: Inclusion
    why: str = ""


def start_claim(old_process: Process, new_process: Process, pairs: Pairs) -> Claim:
    """Say whether the inputs that started the old process start the new one."""
    old, new = old_process.inputs, new_process.inputs
    if new is None:
        fresh = sorted(free_names(pairs.new) - (free_names(pairs.old) if old is None else set(old)))
        return Claim("unknown", f"it reads `{fresh[0]}`, which nobody gave before") if fresh else Claim("yes")
    unknown = "" if old is not None else "the old process does not list its inputs"
    known = free_names(pairs.old) if old is None else set(old)
    for name in sorted({*new, *known}):
        if name == "prompt":  # a run starts with and without it
            unknown = unknown or ("" if name in known or name not in free_names(pairs.new) else "it reads `prompt` now")
        elif name not in known:
            return Claim("no", f"the input `{name}` is new")
        if name not in new:
            return Claim("no", f"the input `{name}` is gone")
    for name, schema in new.items():
        verdict, instance = includes(schema, (old or {}).get(name, {}))
        if verdict == "no":
            return Claim("no", f"the input `{name}` refuses {dumps(instance, indent=False)}")
        if verdict == "unknown":
            unknown = unknown or f"the input `{name}` has another schema"
    return Claim("unknown", unknown) if unknown else Claim("yes")


def serve_claim(old: Process, new: Process, needed: tuple[str, ...], found: CutChanges, start: Claim) -> Claim:
    """Say whether activities and people that served the old process serve the new one."""
    if needed:
        return Claim("no", f"needed anew: {', '.join(needed)}")
    if found.refused:
        return Claim("no", found.refused)
    unknown = found.unproven
    for change in found.changes:
        if change.what not in _HARMLESS and not (change.what in _OF_SCHEMAS and not found.unproven):
            unknown = unknown or f"`{change.at}`: {change.what} {change.detail}".rstrip()
    if not unknown and not equal(dict(old.inputs or {}), dict(new.inputs or {})):
        unknown = "the inputs have changed"
    if not unknown and start.verdict != "yes":
        unknown = start.why
    return Claim("unknown", unknown) if unknown else Claim("yes")


# What has changed from one process to another, and for whom it breaks.


@dataclass(frozen=True, slots=True)
class CutComparison:
    """All differences between two processes, what is needed anew, and for whom it breaks."""

    changes: tuple[CutChange, ...]
    needed: tuple[str, ...]
    """Activities, and `person: STEP`, that the new process needs and the old one did not."""
    spared: tuple[str, ...]
    """Those that nobody needs any more."""
    start: Claim
    """Whether all that started the old process starts the new one."""
    serve: Claim
    """Whether all that served the old process serves the new one."""


def compare_processes(old: Process, new: Process) -> CutComparison:
    """Return what has changed from one process to another."""
    pairs = pair(old, new)
    found = cut_changes(old, new, pairs)
    before, after = needs(pairs.old), needs(pairs.new)
    needed = tuple(name for name in after if name not in before)
    start = start_claim(old, new, pairs)
    return CutComparison(
        changes=found.changes,
        needed=needed,
        spared=tuple(name for name in before if name not in after),
        start=start,
        serve=serve_claim(old, new, needed, found, start),
    )
