"""Find unread results, and results that a deciding person is not shown."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping
from typing import Final

import msgspec

from instrc.compiler import ir
from instrc.compiler.bind.steps import PROGRAM
from instrc.compiler.bind.values import step_numbers
from instrc.compiler.partition.effects import WRITES, Kind, kinds_of_steps
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json, as_texts, mapping
from instrc.text.source import Span

FOLLOWED_PATHS: Final = 60
"""Maximum paths to which one path is followed; values from more sources are not examined."""


def only_decides(schema: Json | None) -> bool:
    """Return whether an answer is only a decision with at most a remark, without the shown values."""
    properties = [mapping(each) for each in mapping(mapping(schema).get("properties")).values()]
    others = [each for each in properties if not _decides(each)]
    return len(others) < len(properties) and len(others) <= 1 and all("string" in _types(each) for each in others)


def _decides(schema: dict[str, Json]) -> bool:
    return "enum" in schema or "const" in schema or "boolean" in _types(schema)


def _types(schema: dict[str, Json]) -> list[str]:
    types = schema.get("type", [])
    return [types] if isinstance(types, str) else as_texts(types)


def is_decision(schema: Json | None, name: str) -> bool:
    """Return whether a property of an answer is a decision."""
    return _decides(mapping(mapping(mapping(schema).get("properties")).get(name)))


def unread_results(flat: ir.FlatGraph) -> Iterator[tuple[ir.Step, ir.Step]]:
    """Yield steps that receive too little, each with the step whose result is not passed to it.

    Either a line of a body is unread, and the step stands alone;
    or an activity receives only a person's decision, without what the person was shown.
    """
    graph = flat.graph
    readers: defaultdict[int | str | ir.Local, set[int]] = defaultdict(set)
    for path, reader in graph.readings() if graph.awaited_numbers else ():
        readers[path.origin].add(reader)
    unread = graph.steps.keys() - flat.read - {path.origin for path in ir.reading_paths(graph.value or ir.ObjectReading(()))}
    idle = unread & (_in_blocks(graph) | graph.unread) if unread else unread
    for number in sorted({*idle, *graph.awaited_numbers}):
        step = graph.steps[number]
        if number in idle and _only_answers(graph, step):
            yield step, step
        if step.executor != "server" or step.fail:
            continue
        origins = _steps_read(graph, step)
        if len(origins) != 1:
            continue
        (person,) = origins
        if person.executor != "user" or not only_decides(flat.schemas.get(person.number)):
            continue
        for path in person.reads:
            shown = graph.steps.get(path.origin) if isinstance(path.origin, int) else None
            if shown is not None and shown.executor == "model" and readers.get(shown.number) == {person.number}:
                yield step, shown
                break


def _in_blocks(graph: ir.Graph) -> set[int]:
    return {
        unit
        for step in graph.blocks()
        for region in ir.regions_of(step.content)
        for unit in region.units
        if isinstance(unit, int)
    }


def _only_answers(graph: ir.Graph, step: ir.Step) -> bool:
    """Return whether only the model writes a step, or all steps of a block: without readers it has no effect."""
    waiting = [step]
    while waiting:
        each = waiting.pop()
        regions = ir.regions_of(each.content)
        if not regions and (each.executor != "model" or each.output):
            return False
        waiting += [graph.steps[unit] for region in regions for unit in region.units if isinstance(unit, int)]
    return True


def _steps_read(graph: ir.Graph, step: ir.Step) -> list[ir.Step]:
    """Return the steps that a step reads; a preparation is replaced by the steps it reads."""
    origins = [path.origin for path in step.reads]
    if len(origins) == 1 and isinstance(origins[0], int) and graph.steps[origins[0]].base_name == step.base_name:
        origins = [path.origin for path in graph.steps[origins[0]].reads]
    found = [graph.steps[origin] for origin in origins if isinstance(origin, int)]
    return found if len(found) == len(origins) else []


def unread_choices(flat: ir.FlatGraph) -> Iterator[tuple[ir.Step, str, Span | None]]:
    """Yield the questions with a choice that nothing reads although an effect follows, each with the name of the choice.

    If a line has an effect before the first one that reads the choice, the place of that effect is the third value.
    A "Reject" that nothing reads ends the run, and thus takes effect.
    """
    graph = flat.graph
    people = [step for step in graph.awaited() if step.executor == "user"]
    if not people:
        return
    read: defaultdict[int | str | ir.Local, set[str | None]] = defaultdict(set)
    blocks = graph.blocks()
    paths = [path for path, _ in graph.readings(given=False)]
    for block in (None, *reversed(blocks)):  # an enclosing one has the smaller number
        if block is not None:
            values = [region.value for region in ir.regions_of(block.content) if read[block.number]]
            paths = [path for value in values for path in ir.reading_paths(value)]
        for path in paths:
            read[path.origin].add(path.tail[0] if path.tail else None)
    kinds = kinds_of_steps(graph)
    sources = Sources(graph)

    def followed(number: int) -> bool:
        region = sources.regions.get(number, PROGRAM)
        if _is_followed(graph.lines.get(region, ()), number, kinds):
            return True
        return region in sources.holders and followed(sources.holders[region].number)

    for step in people:
        schema = flat.schemas.get(step.number)
        properties = mapping(mapping(schema).get("properties"))
        decisions = [name for name in properties if is_decision(schema, name)]
        names = [name for name in decisions if _ways(name, mapping(properties[name])) > 1]
        if names and read[step.number].isdisjoint({None, *names}):
            if followed(step.number):
                yield step, names[0], None
        elif decisions and (early := _before_reading(graph, sources.regions.get(step.number, PROGRAM), step.number, kinds)):
            yield step, decisions[0], early


def _ways(name: str, schema: Mapping[str, Json]) -> int:
    """Return the number of answers to a choice that let the run continue."""
    values = schema.get("enum")
    if isinstance(values, list):
        return len([value for value in values if (name, value) != ("decision", "Reject")])
    return 1 if "const" in schema else 2


def _before_reading(graph: ir.Graph, region: int, question: int, kinds: Mapping[int, Kind]) -> Span | None:
    """Return the first effect of the server on a line between that of a question and the first one that reads it."""
    early, asked = None, False
    for line in graph.lines.get(region, ()):
        steps = [graph.steps[number] for number in line.steps]
        tests = [test for step in steps for test in ir.tests_of(step.content)]
        paths = [*(path for step in steps for path in (*step.reads, *step.needs)), *(test.path for test in tests)]
        if asked and any(path.origin == question for path in paths):
            return early
        if asked and early is None:
            changes = (step.span for step in steps if step.executor == "server" and kinds.get(step.number) == WRITES)
            early = next(changes, None)
        asked = asked or question in line.steps
    return None


def _is_followed(lines: ir.Lines, number: int, kinds: Mapping[int, Kind]) -> bool:
    """Return whether a line below that of a step has an effect."""
    for place, line in enumerate(lines):
        if number in line.steps:
            later = any(step in kinds for below in lines[place + 1 :] for step in below.steps)
            return later or any(_is_followed(body, number, kinds) for body in line.bodies)
    return False


class Origins(msgspec.Struct):
    """The sources of a path."""

    paths: list[ir.Path] = msgspec.field(default_factory=list)
    """Inputs and plain steps, with the part of them that is read."""
    elements: list[ir.Path] = msgspec.field(default_factory=list)
    """Lists of which one element is read."""
    rounds: list[ir.Repeat] = msgspec.field(default_factory=list)
    """Loops that must end first."""


class Sources:
    """The steps of a graph, with their enclosing blocks and regions."""

    def __init__(self, graph: ir.Graph) -> None:
        self.steps = graph.steps
        self.holders: dict[int, ir.Step] = {}
        """The block of each region."""
        self.regions: dict[int, int] = {}
        """Region of each step that is in one."""
        self.inner = graph.inner
        for block in graph.blocks():
            for region in ir.regions_of(block.content):
                self.holders[region.number] = block
                waiting = step_numbers(region.units)
                while waiting:
                    number = waiting.pop()
                    self.regions[number] = region.number
                    waiting.extend(self.inner.get(number, ()))

    def find(self, *paths: ir.Path) -> Origins:
        """Return the sources of paths, through values and names of blocks, or nothing if there are too many."""
        found, seen = Origins(), set()
        waiting = [(path, False) for path in reversed(paths)]
        while waiting:
            path, element = waiting.pop()
            if (path, element) in seen:
                continue
            seen.add((path, element))
            if len(seen) > FOLLOWED_PATHS:
                return Origins()
            below = self.behind(path)
            if below is None:
                (found.elements if element else found.paths).append(path)
                continue
            element = element or (isinstance(path.origin, ir.Local) and path.origin.kind == "item")
            waiting.extend((each, element) for each in reversed(below))
            content = self.steps[path.origin].content if isinstance(path.origin, int) else None
            if isinstance(content, ir.Repeat):
                found.rounds.append(content)
        return found

    def behind(self, path: ir.Path) -> list[ir.Path] | None:
        """Return the source of a block or its name, or `None` if the path begins with an input or another step."""
        origin = path.origin
        if isinstance(origin, ir.Local):
            block = self.holders[origin.block].content
            if origin.kind == "item":
                source = block.source if isinstance(block, ir.Each | ir.Repeat) else None
                return [source] if isinstance(source, ir.Path) else []
            if origin.kind in {"previous", "rounds"} and isinstance(block, ir.Repeat):
                tail = path.tail if origin.kind == "previous" else ()
                return [each for name, reading in block.names if tail[:1] in {(), (name,)} for each in _within(reading, tail[1:])]
            return []
        if not isinstance(origin, int) or self.steps[origin].executor != "block":
            return None
        return [each for region in ir.regions_of(self.steps[origin].content) for each in _within(region.value, path.tail)]

    def ancestors(self, paths: Iterator[ir.Path]) -> set[int | str]:
        """Return the steps and inputs that a value is derived from; for a block, all of its values."""
        found: set[int | str] = set()
        met: set[ir.Path] = set()
        waiting = list(paths)
        while waiting:
            path = waiting.pop()
            origin = path.origin
            if origin in found or path in met:
                continue
            below = self.behind(path if isinstance(origin, ir.Local) else ir.Path(origin))
            if isinstance(origin, ir.Local):
                met.add(path)
            else:
                found.add(origin)
                if below is None and isinstance(origin, int):
                    below = [*self.steps[origin].reads, *map(ir.Path, self.inner.get(origin, ()))]
            waiting.extend(below or ())
        return found


def _within(reading: ir.Reading, tail: tuple[str, ...]) -> list[ir.Path]:
    """Return the sources of a member of a value."""
    member, rest = ir.member_of(reading, tail)
    if isinstance(member, ir.Path):
        return [ir.Path(member.origin, member.tail + rest)]
    return [] if member is None else ir.reading_paths(member)


class Unshown(msgspec.Struct, frozen=True):
    """A decision about a value that the person does not see."""

    person: ir.Step
    result: ir.Step
    activity: ir.Step
    """Activity that receives the result after the decision."""


class UnshownActivity(msgspec.Struct, frozen=True):
    """An activity with a result that no person is shown."""

    activity: ir.Step
    result: ir.Step
    found: Origins


def unshown_results(flat: ir.FlatGraph) -> Iterator[Unshown]:
    """Yield people's decisions that lead to results they are not shown: one per person, in order."""
    if {"server", "user"} <= {step.executor for step in flat.graph.awaited()}:
        yield from _DecisionSearch(flat).results()


class _DecisionSearch:
    def __init__(self, flat: ir.FlatGraph) -> None:
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
        """Yield activities with a model result that no person is shown, nor anything else that would explain it."""
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

    def _given(self, step: ir.Step) -> Origins:
        """Return the values that an activity receives; a preparation is replaced by the values it reads."""
        found = self.sources.find(*step.reads)
        for path in found.paths:
            made = self.steps[path.origin] if isinstance(path.origin, int) else None
            if made is not None and made.executor == "model" and made.base_name == step.base_name:
                return self.sources.find(*made.reads)
        return found

    def _explained(self, found: Origins, made_from: set[int | str | ir.Local]) -> bool:
        """Return whether an activity receives a shown value, other than those its result was derived from."""
        for path in (*found.paths, *found.elements):
            origin = path.origin
            if isinstance(origin, int) and self.steps[origin].fail:
                continue
            if origin in self.seen and origin not in made_from:
                return True
        return any(path.origin in self.shown for path in found.paths)

    def _whens(self, step: ir.Step) -> Iterator[tuple[ir.Step, int]]:
        """Yield the enclosing `when` blocks of a step, from inside out, with the index of the branch."""
        region = self.sources.regions.get(step.number)
        while region is not None:
            block = self.sources.holders[region]
            if isinstance(block.content, ir.When):
                yield block, region
            region = self.sources.regions.get(block.number)

    def _is_another_way(self, result: ir.Step, person: int) -> bool:
        """Return whether a result decides that a person is asked, or exists only where that person is not asked."""
        asked = {block.number: (block, region) for block, region in self._whens(self.steps[person])}
        tests = [test for block, _ in asked.values() for test in ir.tests_of(block.content)]
        if any(path.origin == result.number for test in tests for path in self.sources.find(test.path).paths):
            return True
        return any(block.number in asked and asked[block.number][1] != region for block, region in self._whens(result))

    def _decisions(self, activity: ir.Step) -> Iterator[tuple[int, Hashable]]:
        """Yield the people whose decision leads to a step, each with the identity of the decision among their others."""
        found: dict[int, Hashable] = {}
        for block, region in self._whens(activity):
            branches = block.content.branches if isinstance(block.content, ir.When) else ()
            for number, branch in enumerate(branches):
                if branch.body.number == region:
                    asked = tuple(
                        (test.path, dumps(test.schema, indent=False), test.joined, test.compared) for test in branch.condition
                    )
                    for person in self._asked(ir.tests_of(block.content)):
                        found[person] = asked or (block.number, number)  # the outermost decides
        yield from found.items()

    def _deciders(self, each: UnshownActivity, carried: dict[tuple[int, int], set[Hashable]]) -> Iterator[int]:
        """Yield the people whose decision determines whether a result is executed."""
        for path in each.found.paths:
            if isinstance(path.origin, int) and not path.tail and only_decides(self._answer(path.origin)):
                yield path.origin
        for loop in each.found.rounds:
            yield from self._asked(loop.until)
        for person, _ in self._decisions(each.activity):
            if len(carried[person, each.result.number]) == 1:
                yield person

    def _asked(self, tests: tuple[ir.Test, ...]) -> Iterator[int]:
        """Yield the people whose decision is tested in conditions."""
        for test in tests:
            for path in self.sources.find(test.path).paths:
                if isinstance(path.origin, int):
                    answer = self._answer(path.origin)
                    if only_decides(answer) and (not path.tail or is_decision(answer, path.tail[0])):
                        yield path.origin

    def _answer(self, number: int) -> Json:
        return self.schemas.get(number, True) if number in self.bits else True

    def _decided(self) -> dict[int, int]:
        """Return for each step the people, as bits, whose answers must precede it; earlier rounds do not count."""
        found: dict[int, int] = {}
        inside: dict[int | None, int] = {None: 0}

        def before(path: ir.Path) -> int:
            while isinstance(path.origin, ir.Local):
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
                asked = ir.tests_of(block.content) if isinstance(block.content, ir.When) else ()
                made = inside[self.sources.regions.get(block.number)]
                for test in asked:
                    made |= before(test.path)
                inside[each] = made
            return inside[chain[0] if chain else region]

        for number, step in self.steps.items():
            made = self.bits.get(number, 0) | around(self.sources.regions.get(number))
            values = (path for region in ir.regions_of(step.content) for path in ir.reading_paths(region.value))
            tests = (test.path for test in ir.tests_of(step.content))
            for path in (*step.reads, *step.needs, *values, *tests):
                made |= before(path)
            found[number] = made
        return found
