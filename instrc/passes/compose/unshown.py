"""Results that are carried out after a person has decided, but that this person was not shown.

A result is shown to a person if it is given to a step of one, or if something is that was made from it.
There is no problem where a person was shown something else that the same activity is given,
where every answer leads to the same result, and where the result is only made after the decision.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator

import msgspec

from instrc.ir.blocks import Test, When, regions_of, tests_of
from instrc.ir.graph import FlatGraph, Step
from instrc.ir.paths import Local, Path, reading_paths
from instrc.jsontext import dumps
from instrc.jsonvalue import Json
from instrc.passes.compose.decisions import is_decision, only_decides
from instrc.passes.compose.sources import Origins, Sources


class Unshown(msgspec.Struct, frozen=True):
    """A decision about what the person does not see."""

    person: Step
    result: Step
    activity: Step
    """It is given the result after the decision."""


class UnshownActivity(msgspec.Struct, frozen=True):
    """An activity with a result that no person is shown."""

    activity: Step
    result: Step
    found: Origins


def unshown_results(flat: FlatGraph) -> Iterator[Unshown]:
    """Yield the decisions of people that lead to what they are not shown: one for each person, in order."""
    if {"server", "user"} <= {step.executor for step in flat.graph.awaited()}:
        yield from _DecisionSearch(flat).results()


class _DecisionSearch:
    def __init__(self, flat: FlatGraph) -> None:
        self.steps, self.schemas = flat.graph.steps, flat.schemas
        self.sources = Sources(flat.graph)
        people = [step for step in self.steps.values() if step.executor == "user"]
        self.bits = {step.number: 1 << place for place, step in enumerate(people)}
        self.seen = self.sources.ancestors(path for step in people for path in step.reads)
        self.shown = {path.origin for step in people for path in self.sources.find(*step.reads).paths}

    def results(self) -> Iterator[Unshown]:
        candidates = list(self._candidates())
        if not candidates:
            return
        after = self._decided()
        carried: dict[tuple[int, int], set[Hashable]] = {}
        """The decisions of a person on which a result is carried out: with two, it is one of several ways."""
        for each in candidates:
            for person, decision in self._decisions(each.activity):
                carried.setdefault((person, each.result.number), set()).add(decision)
        found: dict[int, Unshown] = {}
        for each in candidates:
            for number in self._deciders(each, carried):
                if number in found or self._is_another_way(each.result, number):
                    continue
                if not after[each.result.number] & self.bits[number]:
                    found[number] = Unshown(self.steps[number], each.result, each.activity)
                    break
        yield from (found[number] for number in sorted(found))

    def _candidates(self) -> Iterator[UnshownActivity]:
        """Yield activities with a result of the model that no person is shown, nor anything else that would explain it."""
        for step in self.steps.values():
            if step.executor != "server" or step.fail:
                continue
            found = self._given(step)
            for path in found.paths:
                result = self.steps[path.origin] if isinstance(path.origin, int) else None
                if result is None or result.executor != "model" or result.number in self.seen:
                    continue
                if not self._explained(found, {each.origin for each in self.sources.find(*result.reads).paths}):
                    yield UnshownActivity(step, result, found)

    def _given(self, step: Step) -> Origins:
        """Return what an activity is given; its preparation stands for what that reads."""
        found = self.sources.find(*step.reads)
        for path in found.paths:
            made = self.steps[path.origin] if isinstance(path.origin, int) else None
            if made is not None and made.executor == "model" and made.base_name == step.base_name:
                return self.sources.find(*made.reads)
        return found

    def _explained(self, found: Origins, made_from: set[int | str | Local]) -> bool:
        """Tell whether an activity is given something that was shown, other than what the result was made from."""
        for path in (*found.paths, *found.elements):
            origin = path.origin
            if isinstance(origin, int) and self.steps[origin].fail:
                continue
            if origin in self.seen and origin not in made_from:
                return True
        return any(path.origin in self.shown for path in found.paths)

    def _whens(self, step: Step) -> Iterator[tuple[Step, int]]:
        """Yield the `when` blocks that a step stands in, from the innermost out, with the number of the branch."""
        region = self.sources.regions.get(step.number)
        while region is not None:
            block = self.sources.holders[region]
            if isinstance(block.content, When):
                yield block, region
            region = self.sources.regions.get(block.number)

    def _is_another_way(self, result: Step, person: int) -> bool:
        """Tell whether a result decides that a person is asked, or is made where that one is not."""
        asked = {block.number: (block, region) for block, region in self._whens(self.steps[person])}
        tests = [test for block, _ in asked.values() for test in tests_of(block.content)]
        if any(path.origin == result.number for test in tests for path in self.sources.find(test.path).paths):
            return True
        return any(block.number in asked and asked[block.number][1] != region for block, region in self._whens(result))

    def _decisions(self, activity: Step) -> Iterator[tuple[int, Hashable]]:
        """Yield the people whose decision leads to a step, each with what tells that from their other decisions."""
        found: dict[int, Hashable] = {}
        for block, region in self._whens(activity):
            branches = block.content.branches if isinstance(block.content, When) else ()
            for number, branch in enumerate(branches):
                if branch.body.number == region:
                    asked = tuple((test.path, dumps(test.schema, indent=False)) for test in branch.condition)
                    for person in self._asked(tests_of(block.content)):
                        found[person] = asked or (block.number, number)  # the outermost decides
        yield from found.items()

    def _deciders(self, each: UnshownActivity, carried: dict[tuple[int, int], set[Hashable]]) -> Iterator[int]:
        """Yield the people on whose decision it depends that a result is carried out."""
        for path in each.found.paths:
            if isinstance(path.origin, int) and not path.tail and only_decides(self._answer(path.origin)):
                yield path.origin
        for loop in each.found.rounds:
            yield from self._asked(loop.until)
        for person, _ in self._decisions(each.activity):
            if len(carried[person, each.result.number]) == 1:
                yield person

    def _asked(self, tests: tuple[Test, ...]) -> Iterator[int]:
        """Yield the people whose decision is asked for in conditions."""
        for test in tests:
            for path in self.sources.find(test.path).paths:
                if isinstance(path.origin, int):
                    answer = self._answer(path.origin)
                    if only_decides(answer) and (not path.tail or is_decision(answer, path.tail[0])):
                        yield path.origin

    def _answer(self, number: int) -> Json:
        return self.schemas.get(number, True) if number in self.bits else True

    def _decided(self) -> dict[int, int]:
        """Return for each step the people, as bits, whose answers have to be there before it; earlier rounds do not count."""
        found: dict[int, int] = {}
        inside: dict[int | None, int] = {None: 0}

        def before(path: Path) -> int:
            while isinstance(path.origin, Local):
                behind = self.sources.behind(path) if path.origin.kind == "item" else None
                if not behind:
                    return 0
                (path,) = behind
            return found.get(path.origin, 0) if isinstance(path.origin, int) else 0

        def around(region: int | None) -> int:
            chain: list[int] = []
            while region is not None and region not in inside:
                chain.append(region)
                region = self.sources.regions.get(self.sources.holders[region].number)
            for each in reversed(chain):
                block = self.sources.holders[each]
                asked = tests_of(block.content) if isinstance(block.content, When) else ()
                made = inside[self.sources.regions.get(block.number)]
                for test in asked:
                    made |= before(test.path)
                inside[each] = made
            return inside[chain[0] if chain else region]

        for number, step in self.steps.items():
            made = self.bits.get(number, 0) | around(self.sources.regions.get(number))
            values = (path for region in regions_of(step.content) for path in reading_paths(region.value))
            tests = (test.path for test in tests_of(step.content))
            for path in (*step.reads, *step.needs, *values, *tests):
                made |= before(path)
            found[number] = made
        return found
