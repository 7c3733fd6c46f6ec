"""Where blocks are carried out: one that equals a block further out is that block, with all that is in it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import msgspec

from instrc.ir.blocks import regions_of
from instrc.ir.graph import Step
from instrc.ir.paths import Local
from instrc.passes.bind.identity import Identities
from instrc.passes.bind.regions import Regions
from instrc.source import Span

_NO_NAMES: frozenset[Local] = frozenset()


class Foreseen(msgspec.Struct, frozen=True):
    """What evaluating the same expressions before has shown; regions go by their labels, which are always the same."""

    steps: frozenset[tuple[int, int]]
    """Steps that an outer region will have, by region and identity: an equal one in a block is that one."""
    blocks: Mapping[int, int]
    """The regions further out that blocks belong to, by the label of the place where they are written."""


NOTHING_FORESEEN = Foreseen(frozenset(), MappingProxyType({}))


class BlockPlaces:
    """The places of the blocks of one export while it is bound."""

    def __init__(self, regions: Regions, identities: Identities, foreseen: Mapping[int, int]) -> None:
        self.carried: dict[int, tuple[object, ...]] = {}
        """What the statements of a region give that nothing reads."""
        self.moved: dict[int, int] = {}
        """Blocks that equal one further out than they were evaluated, by the label of their place: the label of its region."""
        self.name_anything = False
        """Whether a block was met that gives names."""
        self._regions = regions
        self._identities = identities
        self._foreseen = foreseen
        self._met: dict[int, int] = {}
        """How often a place was met."""
        self._names: dict[int, frozenset[Local]] = {}
        """The names of blocks around it that a step depends on, where there are any."""
        self._like: dict[int, list[tuple[int, int, int]]] = {}
        """By the identity of blocks: the label of each one's place, the region it was evaluated in, its step."""

    def label(self, outer: int, written: Span) -> int:
        """Return what tells a place in a region from all others, whenever the same expressions are read again."""
        place = self._identities.of("place", self._regions.labels[outer], written)
        count = self._met[place] = self._met.get(place, 0) + 1
        return self._identities.of("placed", place, count)

    def region_of(self, place: int, region: int) -> int:
        """Return the region that a block belongs to which is written in another."""
        label = self._foreseen.get(place)
        found = region if label is None else self._regions.labelled.get(label, region)
        return found if self._regions.around(found, region) else region

    def note(self, place: int, region: int, ident: int, step: Step, *, new: bool) -> None:
        """Note that a block written in a region came out as a step, which is `new` or was there already."""
        home = self._regions.home(step.number)
        if home != region:
            self.moved[place] = self._regions.labels[home]
        like = self._like.setdefault(ident, [])
        if new and like and any(inner > home for _, inner, _ in like):
            for other, inner, number in like:
                if inner > home and self._regions.around(home, inner) and self._names.get(number) == self._names.get(step.number):
                    self.moved[other] = self._regions.labels[home]
        like.append((place, region, step.number))

    def names(self, step: Step) -> frozenset[Local]:
        """Return the names of blocks around a step that it depends on, itself or through what it reads."""
        return self._names.get(step.number, _NO_NAMES)

    def note_names(self, step: Step) -> None:
        """Work out what names of blocks a step depends on."""
        if not self.name_anything:
            return
        found = _NO_NAMES
        for path in step.reads + step.needs:
            origin = path.origin
            more = self._names.get(origin) if type(origin) is int else frozenset((origin,)) if type(origin) is Local else None
            if more and not more <= found:
                found = more | found if found else more
        if not found:
            if self._names:
                self._names.pop(step.number, None)  # of a block that turned out to be another, so that its number is given again
            return
        own = {region.number for region in regions_of(step.content)}
        self._names[step.number] = frozenset(each for each in found if each.block not in own) if own else found
