"""What a block reads from outside of it."""

from __future__ import annotations

from collections.abc import Iterable

from instrc import problems
from instrc.ir import blocks
from instrc.ir.blocks import Region, Test, regions_of
from instrc.ir.paths import Local, Path, reading_paths
from instrc.passes.bind.evaluation import Evaluation
from instrc.passes.bind.steps import slot_reads


def reads_of_block(ev: Evaluation, content: blocks.Block, direct: Iterable[Path]) -> tuple[Path, ...]:
    """Return what a block reads from outside of it, each path once; what lies in blocks inside it is read nowhere else.

    What a `repeat` asks for after `until` comes from inside of it; anything else is reported.
    """
    bodies = regions_of(content)
    own = {region.number for region in bodies}
    found = list(direct)
    for region in bodies:
        found += _region_reads(ev, region)
    return tuple([path for path in dict.fromkeys(found) if ev.steps.regions.home_of(path) not in own])


def _region_reads(ev: Evaluation, region: Region) -> list[Path]:
    found: list[Path] = []
    waiting = [unit for unit in region.units if not isinstance(unit, int)]
    while waiting:
        group = waiting.pop()
        found += slot_reads(group.application.slots)
        waiting.extend([unit for unit in group.members if not isinstance(unit, int)])
    for number in ev.steps.among(region.number):
        step = ev.steps.table[number]
        found += step.reads
        found += step.needs
    return [*found, *reading_paths(region.value)]


def refuse_hidden(ev: Evaluation, region: Region, names: tuple[str, ...], tests: tuple[Test, ...] = ()) -> None:
    """Report what reads a name of a block around under which this body has one of its own: there is one word for both."""

    def hidden(reads: Iterable[Path]) -> str | None:
        origins = (path.origin for path in reads)
        found = (each for each in origins if isinstance(each, Local) and each.kind != "item" and each.block != region.number)
        return next((each.name for each in found if each.name in names), None)

    for number in ev.steps.among(region.number):
        step = ev.steps.table[number]
        if word := hidden((*step.reads, *step.needs)):
            ev.report.add(problems.names.HiddenName(at=step.span, word=word))
    if word := hidden([*reading_paths(region.value), *(test.path for test in tests)]):
        ev.report.add(problems.names.HiddenName(at=region.span, word=word))


def reads_rounds(ev: Evaluation, body: Region, otherwise: Region | None) -> bool:
    """Tell whether `previous` or `rounds` is read."""
    regions = [body] if otherwise is None else [body, otherwise]
    own = {region.number for region in regions}
    reads = (path for region in regions for path in _region_reads(ev, region))
    return any(
        isinstance(path.origin, Local) and path.origin.block in own and path.origin.kind in {"previous", "rounds"}
        for path in reads
    )
