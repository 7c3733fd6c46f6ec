"""Graph to plan: cut the steps into chunks, each for one executor, and assign every step its key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

import msgspec

from instrc import problems
from instrc.compiler import ir
from instrc.compiler.bind.scopes import GIVEN
from instrc.compiler.bind.values import group_reads, step_numbers
from instrc.compiler.compose.conditions import regions_around
from instrc.compiler.partition.effects import NONE, EffectOrder, Kind, Waits, kinds_of_steps
from instrc.compiler.partition.sequence import sequence
from instrc.problems.problem import Problem
from instrc.problems.report import Report
from instrc.process.flow import Executor
from instrc.process.process_json import is_context
from instrc.schema.strip import is_meta
from instrc.text.jsonvalue import Json, mapping
from instrc.text.names import camel, free_name, snake
from instrc.text.source import Span

ROOT = 0
"""Region of the program itself."""
ORDER: tuple[Executor | Literal["block"], ...] = ("model", "server", "user", "block")
PLACE: dict[str, int] = {executor: place for place, executor in enumerate(ORDER)}
"""Position of each executor in this order."""


def partition(flat: ir.FlatGraph, report: Report, *, naming: str = "step") -> ir.Plan | None:
    """Return the plan of a graph, or `None` if it was cut by hand against its data flow."""
    graph = flat.graph
    regions = {region.number: region.units for step in graph.blocks() for region in ir.regions_of(step.content)}
    kinds = kinds_of_steps(graph)
    after: dict[int, tuple[int, ...]] = {}
    cut: dict[int, tuple[CutChunk, ...]] = {}
    for number, units in (*regions.items(), (ROOT, graph.units)):
        by_hand = number == ROOT and graph.contexts is not None
        region = UnitsOfRegion(graph, units, kinds, graph.lines.get(number, ()))
        found = region.cut(report, by_hand=by_hand)
        if found is None:
            return None
        cut[number] = found
        after |= region.after(found)
    chunks, inside = _number_chunks(graph, cut.pop(ROOT), cut)
    shape = _shape(graph, chunks)
    if shape != "process":
        report_members(graph, report)
        report_deadlines(graph, report)
    bare = shape == "tool" and not graph.keyed and _is_single(graph, flat.schemas)
    keys, elements = number_steps(flat, chunks, inside, naming=naming, bare=bare)
    return ir.Plan(flat, shape, chunks, keys, bare, inside, elements, after)


class CutChunk(msgspec.Struct, frozen=True, gc=False):
    """A chunk without its number: its executor's place in `ORDER` and its contents."""

    executor: int
    units: tuple[ir.Unit, ...]
    answers: frozenset[int] = frozenset()
    """Steps whose server results belong to this chunk."""
    annotations: tuple[Json, ...] = ()


Home: TypeAlias = dict[int | str | ir.Local, int]
"""Unit of a region that contains each step, including steps in slots and mixins."""


class UnitsOfRegion:
    """The units of one region, and what they wait for: the values they read, and the effects of earlier lines."""

    def __init__(self, graph: ir.Graph, units: tuple[ir.Unit, ...], kinds: Mapping[int, Kind], lines: ir.Lines) -> None:
        self.graph = graph
        self.units = units
        self.lines = lines
        self.steps = [[graph.steps[number] for number in _numbers(graph, (unit,))] for unit in units]
        self.home: Home = {step.number: index for index, inside in enumerate(self.steps) for step in inside}
        self.needs = needs_of(units, self.steps, self.home)
        self.kinds: list[Kind] = [max((kinds.get(step.number, NONE) for step in inside), default=NONE) for inside in self.steps]
        self.waits: Waits = [set() for _ in units]
        self.order: list[int] = []

    def cut(self, report: Report, *, by_hand: bool) -> tuple[CutChunk, ...] | None:
        """Cut the units, `by_hand` as the program says; return `None` after reporting a cut against the data flow."""
        order = topological_order(self.needs)
        if order is None:
            report.add(problem_of_circle(self.graph, self.units, self.needs))
            return None
        effects = EffectOrder(self.kinds, self.needs)
        if by_hand:
            chunks = divided_by_hand(self.graph, _nodes(self.units, self.steps, order, self.needs, self.home), report)
            if chunks is None:
                return None
            numbers = {unit: place for place, unit in enumerate(self.units)}
            self.waits = effects.in_order({numbers[unit]: line for line, chunk in enumerate(chunks) for unit in chunk.units})
            self.order = topological_order(self._all_needs(self.waits)) or order
            return chunks
        self.order = order
        own = [[] if steps[-1].fail else needs for steps, needs in zip(self.steps, self.needs, strict=True)]
        effects = EffectOrder(self.kinds, own)  # a `Fail` waits for all lines, and needs none of them
        for waits in effects.of_lines(self.lines, self.home):  # type: ignore[arg-type]  # only steps are looked up
            joined = [one | other for one, other in zip(self.waits, waits, strict=True)]
            found = topological_order(self._all_needs(joined)) if any(waits) else None
            if found is not None:  # otherwise two called programs contain the same effects in opposite order
                self.waits, self.order = joined, found
        return _cut_into_chunks(_nodes(self.units, self.steps, self.order, self.needs, self.home, self.waits))

    def _all_needs(self, waits: Waits) -> list[list[int]]:
        return [sorted({*needs, *others}) for needs, others in zip(self.needs, waits, strict=True)]

    def after(self, chunks: tuple[CutChunk, ...]) -> dict[int, tuple[int, ...]]:
        """Return which effects and blocks have to end before an effect begins that reads nothing of them, by step."""
        if not any(self.waits):
            return {}
        followed = [
            []
            if steps and isinstance(content := steps[-1].content, ir.Race | ir.Repeat) and len(ir.parts_of(content)) > 1
            else needs
            for steps, needs in zip(self.steps, self.needs, strict=True)
        ]  # what one branch of a race or the `else` of a `repeat` needs does not delay the others
        last = [step_numbers((unit,))[-1] for unit in self.units]
        forms = {unit: place for place, chunk in enumerate(chunks) if chunk.executor == PLACE["user"] for unit in chunk.units}
        form = [forms.get(unit, -1 - place) for place, unit in enumerate(self.units)]
        left = EffectOrder(self.kinds, self.needs).left_to_say(self.waits, followed, self.order)
        said = {unit: sorted(last[other] for other in others if form[other] != form[unit]) for unit, others in enumerate(left)}
        return {last[unit]: tuple(steps) for unit, steps in said.items() if steps}


class PartitionNode(msgspec.Struct, frozen=True, gc=False):
    """A part that is never cut: a unit, or the server's half of one."""

    unit: ir.Unit
    executor: int
    """Position of its executor in `ORDER`."""
    answer: bool
    reads: tuple[int, ...] = ()
    """Indexes of nodes that come first."""
    apart: tuple[int, ...] = ()
    """Indexes of those that cannot be in the same chunk."""


def _nodes(
    units: tuple[ir.Unit, ...],
    steps: list[list[ir.Step]],
    order: list[int],
    needs: list[list[int]],
    home: Home,
    waits: Waits | None = None,
) -> list[PartitionNode]:
    """Return the nodes to cut, each after those it reads."""
    place: dict[int, int] = {}
    answers: dict[int, int] = {}
    nodes: list[PartitionNode] = []
    any_chosen = any(step.chosen for inside in steps for step in inside)
    for index in order:
        unit = units[index]
        step = steps[index][-1] if isinstance(unit, int) else None
        executor = PLACE[step.executor] if step else 0
        needed = needs[index]
        reads = tuple([answers.get(need, place[need]) for need in needed]) if needed else ()
        effects = tuple([answers.get(each, place[each]) for each in sorted(waits[index])]) if waits and waits[index] else ()
        if not (step is not None and step.output and step.executor == "model"):
            reads = tuple(dict.fromkeys((*reads, *effects))) if effects else reads
        apart: tuple[int, ...] = ()
        if any_chosen:
            lists = {home[path.origin] for inside in steps[index] for path in inside.chosen if path.origin in home}
            apart = tuple([place[need] for need in needed if need in lists and nodes[place[need]].executor == executor])
        place[index] = len(nodes)
        nodes.append(PartitionNode(unit, executor, answer=False, reads=reads, apart=apart))
        if step is not None and step.output and step.executor == "model":
            answers[index] = len(nodes)
            nodes.append(PartitionNode(unit, PLACE["server"], answer=True, reads=(place[index], *effects)))
    return nodes


BLOCK = PLACE["block"]


def _cut_into_chunks(nodes: list[PartitionNode]) -> tuple[CutChunk, ...]:
    """Cut nodes into the fewest chunks."""
    carried = [node.executor for node in nodes]
    apart = [node.apart for node in nodes]
    if len(set(carried)) == 1 and carried[0] != BLOCK and not any(apart):
        return (chunk_of(carried[0], nodes),)
    reads = [node.reads for node in nodes]
    executors, blocks = sequence(carried, reads, apart)
    where = _as_late_as_possible(carried, reads, apart, executors, blocks)
    inside: list[list[PartitionNode]] = [[] for _ in executors]
    for node, chunk in zip(nodes, where, strict=True):
        inside[chunk].append(node)
    return tuple(chunk_of(executor, each) for executor, each in zip(executors, inside, strict=True))


def _as_late_as_possible(
    executors: list[int],
    reads: list[tuple[int, ...]],
    apart: list[tuple[int, ...]],
    chunks: list[int],
    blocks: dict[int, int],
) -> list[int]:
    """Return the chunk of each node: the last one of its executor that those who read it allow; blocks have theirs."""
    last_of = [[-1] * (len(chunks) + 1) for _ in ORDER]
    for executor in {*executors} - {BLOCK}:
        for i, each in enumerate(chunks):
            last_of[executor][i + 1] = i if each == executor else last_of[executor][i]
    limit = [len(chunks)] * len(executors)
    where = [0] * len(executors)
    for index in range(len(executors) - 1, -1, -1):
        executor = executors[index]
        where[index] = blocks[index] if index in blocks else last_of[executor][limit[index]]
        for need in reads[index]:
            same = executors[need] == executor and need not in blocks and need not in apart[index]
            limit[need] = min(limit[need], where[index] + 1 if same else where[index])
    return where


def _number_chunks(
    graph: ir.Graph, root: tuple[CutChunk, ...], chunks: dict[int, tuple[CutChunk, ...]]
) -> tuple[tuple[ir.Chunk, ...], dict[int, tuple[ir.Chunk, ...]]]:
    """Assign numbers to chunks in one walk: a block before its contents, these before what comes after."""
    counts: dict[str, int] = {}
    made: dict[int, list[ir.Chunk]] = {number: [] for number in (ROOT, *chunks)}

    def take(region: int, chunk: CutChunk, *, otherwise: bool = False) -> None:
        units = chunk.units
        block = units[0] if chunk.executor == BLOCK and isinstance(units[0], int) else None
        word: str = ORDER[chunk.executor]
        content = None if block is None else graph.steps[block].content
        if content is not None:
            word = "else" if otherwise else ir.word_of(content)  # type: ignore[arg-type]  # a block, by its executor
        counts[word] = counts.get(word, 0) + 1
        numbered = ir.Chunk(word, counts[word], units, chunk.answers, chunk.annotations, block)  # type: ignore[arg-type]  # as above
        made[region].append(numbered)
        for each in ir.regions_in(graph, numbered) if block is not None else ():
            for below in chunks[each.number]:
                take(each.number, below)
        if isinstance(content, ir.Repeat) and content.otherwise is not None and not otherwise:
            take(region, chunk, otherwise=True)

    for chunk in root:
        take(ROOT, chunk)
    whole = {number: tuple(chunks) for number, chunks in made.items()}
    return whole.pop(ROOT), whole


def _shape(graph: ir.Graph, chunks: tuple[ir.Chunk, ...]) -> ir.ArtefactShape:
    if graph.contexts is not None or any(step.chosen for step in graph.compounds()):
        return "process"  # only an engine can put the values of a list into the schema of a choice
    if len(chunks) == 1 and chunks[0].executor == "model":
        return "tool"
    if len(chunks) == 2 and [chunk.executor for chunk in chunks] == ["model", "server"] and len(chunks[1].units) == 1:
        unit = chunks[1].units[0]
        step = graph.steps[unit] if isinstance(unit, int) else None
        shown = isinstance(graph.value, ir.ObjectReading) and any(each.origin == unit for each in ir.reading_paths(graph.value))
        if step is not None and not (shown or step.output or step.fail or step.activity == "RunPlan_Activity"):
            return "call"
    return "process"


def _is_single(graph: ir.Graph, schemas: Mapping[int, Json]) -> bool:
    """Return whether a program is one step without a key, whose properties cannot be mistaken for steps or chunks."""
    first = graph.units[0]
    if len(graph.units) > 1 or not isinstance(first, int) or graph.steps[first].key is not None:
        return False
    named = [name for name in mapping(mapping(schemas[first]).get("properties")) if not is_meta(name)]
    return not (named and all(ir.NUMBER.match(name) or is_context(name) for name in named))


def chunk_of(executor: int, nodes: list[PartitionNode], annotations: tuple[Json, ...] = ()) -> CutChunk:
    """Return the chunk of some nodes."""
    answers = frozenset([node.unit for node in nodes if node.answer and isinstance(node.unit, int)])
    return CutChunk(executor, tuple([node.unit for node in nodes]), answers, annotations)


def divided_by_hand(graph: ir.Graph, nodes: list[PartitionNode], report: Report) -> tuple[CutChunk, ...] | None:
    """Return the chunks that the contexts make; `None`, once it is reported, if they contradict the data flow."""
    contexts = graph.contexts or ()
    executors = [ORDER.index(context.executor) for context in contexts]
    chosen = {step_numbers((unit,))[0]: i for i, context in enumerate(contexts) for unit in context.units}
    where: list[int] = []
    for node in nodes:
        if node.answer:
            after = where[node.reads[0]]
            later = next((i for i in range(after + 1, len(contexts)) if executors[i] == node.executor), None)
            if later is None:
                reason = "waits for the server, and no `Server_Context` follows"
                report.add(_against_data_flow(_step(graph, node.unit), reason))
                return None
            where.append(later)
        else:
            where.append(chosen[step_numbers((node.unit,))[0]])
    for node, chunk in zip(nodes, where, strict=True):
        for need in node.reads:
            if where[need] > chunk:
                later_step = _step(graph, nodes[need].unit)
                reason = "reads what comes in a later context"
                report.add(_against_data_flow(_step(graph, node.unit), reason, later_step.span))
                return None
    inside: list[list[PartitionNode]] = [[] for _ in executors]
    for node, chunk in zip(nodes, where, strict=True):
        inside[chunk].append(node)
    for context, each in zip(contexts, inside, strict=True):
        if not each:
            report.add(problems.steps.NothingToDo(at=context.span))
            return None
    return tuple(
        chunk_of(executor, each, context.annotations) for executor, each, context in zip(executors, inside, contexts, strict=True)
    )


def _against_data_flow(step: ir.Step, reason: str, other: Span | None = None) -> problems.steps.CutAgainstDataFlow:
    """Return the problem of a step whose context contradicts the data flow; `other` is the step that it reads."""
    return problems.steps.CutAgainstDataFlow(at=step.span, word=step.key or step.base_name, reason=reason, other=other)


def _step(graph: ir.Graph, unit: ir.Unit) -> ir.Step:
    return graph.steps[step_numbers((unit,))[0]]


def report_deadlines(graph: ir.Graph, report: Report) -> None:
    """Warn of deadlines and delays on the steps of a tool or a direct call: only a process keeps them."""
    for step in graph.steps.values():
        if step.timing.words:
            report.add(problems.blocks.IdleDeadline(at=step.span, words=step.timing.words))


def report_members(graph: ir.Graph, report: Report) -> None:
    """Warn of member paths in an export without an engine: only a process extracts members from an answer."""
    places = {reached.path: reached.span for reached in graph.accesses}
    for path in [] if graph.value is None else ir.reading_paths(graph.value):
        if path.tail and isinstance(path.origin, int):
            step = graph.steps[path.origin]
            word, unwaited = step.key or step.base_name, step.executor == "server"
            at = places.get(path, step.span)
            report.add(problems.steps.MemberOfTool(at=at, word=word, member=path.tail, unwaited=unwaited))


def problem_of_circle(graph: ir.Graph, units: tuple[ir.Unit, ...], needs: list[list[int]]) -> Problem:
    """Return the problem of mixins, or of objects that contain mixins, that need each other's contents."""
    behind = _behind_circles(needs)
    way: dict[int, int] = {}
    index = min(behind)
    while index not in way:  # each of these needs another one, so following them leads back
        way[index] = len(way)
        index = next(need for need in needs[index] if need in behind)
    circle = [units[each] for each in way if way[each] >= way[index]]
    spans = [each.application.span for each in circle if isinstance(each, ir.MixinGroup)]
    thing = "mixin" if spans else "object"
    steps = [graph.steps[each] for each in circle if isinstance(each, int)]
    held = [step.span for step in steps if step.number in graph.inner] or [step.span for step in steps]
    first, *others = sorted(spans or held, key=lambda span: span.start)
    return problems.steps.EntangledMixins(at=others[0] if others else first, other=first, thing=thing)


def _behind_circles(needs: list[list[int]]) -> set[int]:
    """Return the units that can never begin: those in a circle, and those that need them."""
    behind, before = set(range(len(needs))), -1
    while len(behind) != before:  # most units come after those they need, so that a few passes suffice
        before = len(behind)
        for index in sorted(behind):
            if behind.isdisjoint(needs[index]):
                behind.discard(index)
    return behind


def needs_of(units: tuple[ir.Unit, ...], steps: list[list[ir.Step]], home: Home) -> list[list[int]]:
    """Return which units each unit needs."""
    needs: list[list[int]] = []
    fails: set[int] = set()
    for index, unit in enumerate(units):
        found = {home[path.origin] for step in steps[index] for path in step.reads + step.needs if path.origin in home}
        if not isinstance(unit, int):
            found.update(home[path.origin] for path in group_reads((unit,)) if path.origin in home)
        elif steps[index][-1].fail:
            fails.add(index)
        found.discard(index)
        needs.append(sorted(found))
    for index in fails:  # failing steps come after all others, so that a concurrent undo is completed
        needs[index] = [other for other in range(len(units)) if other not in fails]
    return needs


def topological_order(needs: list[list[int]]) -> list[int] | None:
    """Return the indexes, each after those it needs, otherwise in their order, or `None` if some need each other."""
    order: dict[int, None] = {}
    open_: set[int] = set()

    def finish(index: int) -> bool:
        open_.add(index)
        for need in needs[index]:
            if need not in order and need != index and (need in open_ or not finish(need)):
                return False
        order[index] = None
        return True

    return list(order) if all(index in order or finish(index) for index in range(len(needs))) else None


def may_cut_wrongly(flat: ir.FlatGraph) -> bool:
    """Return whether partitioning a graph, or emitting it, can report a problem: a mere check skips both otherwise.

    It can if mixins contain steps, if the program is divided manually, or if an export without blocks (which may become a tool)
    has deadlines or provides members.
    """
    graph = flat.graph
    if graph.contexts is not None or flat.mixins or flat.placed:
        return True
    if any(graph.steps[unit].executor == "block" for unit in graph.units if isinstance(unit, int)):
        return False
    given = () if graph.value is None else ir.reading_paths(graph.value)
    return any(path.tail for path in given) or any(step.timing.words for step in graph.steps.values())


def number_steps(
    flat: ir.FlatGraph, chunks: tuple[ir.Chunk, ...], inside: Mapping[int, tuple[ir.Chunk, ...]], *, naming: str, bare: bool
) -> tuple[dict[int, str], dict[int, str]]:
    """Return the key of each step, `step3_find_slot`, or `findSlot` or `find_slot` by `naming`; and the names of elements.

    Manually written keys stay and use up a number; a key already taken by a step or an input gets `_2`, `_3`.
    A single step without a key around it uses up no number, and neither does a block that nothing reads.
    """
    graph = flat.graph
    steps = graph.steps
    order = _in_order(flat, chunks, inside)
    taken = {step.key for step in steps.values() if step.key is not None}
    unread = set(graph.block_numbers).difference(flat.read)
    if graph.contexts is not None:
        unread.difference_update([unit for unit in graph.units if isinstance(unit, int)])
    keys: dict[int, str] = {}
    given = _given_in(graph)  # a key of such a name would hide the block's value, or be hidden by it
    used: set[str] = {*graph.inputs, *(GIVEN if naming == "plain" else given)}
    count = 0
    last = order.pop() if bare else None
    for number in order:
        step = steps[number]
        name, key = step.base_name, step.key
        if step.executor == "block":
            if key is None and number in unread:
                continue
            name = _name_of_block(graph, step)
        count += 1
        if key is None:
            key = _key(name, count, naming)
            if key in used or key in taken:
                key = free_name(key, lambda each: each in used or each in taken)
        elif key in used:
            key = free_name(key, used.__contains__)
        used.add(key)
        keys[number] = key
    if last is not None:
        keys[last] = _key(steps[last].base_name, 1, naming)
    return keys, _elements(graph, used | given)


def _given_in(graph: ir.Graph) -> set[str]:
    """Return the words that the blocks of a program give a value."""
    kinds = {type(step.content) for step in graph.blocks()}
    return {word for word in GIVEN if (ir.Try if word == "error" else ir.Repeat) in kinds}


def _in_order(flat: ir.FlatGraph, chunks: tuple[ir.Chunk, ...], inside: Mapping[int, tuple[ir.Chunk, ...]]) -> list[int]:
    """Return all steps in the order in which they are numbered, with a block after its contents."""
    graph = flat.graph
    order: dict[int, None] = {}  # a step may be in two chunks

    def take(chunk: ir.Chunk) -> None:
        if chunk.block is None:
            order.update(dict.fromkeys(_numbers(graph, chunk.units)))
            return
        for region in ir.regions_in(graph, chunk):
            for each in inside[region.number]:
                take(each)
        content = graph.steps[chunk.block].content
        if not (isinstance(content, ir.Repeat) and content.otherwise is not None and chunk.executor != "else"):
            order[chunk.block] = None  # a `repeat` with an `else` after that

    for chunk in chunks:
        take(chunk)
    return list(order)


def _numbers(graph: ir.Graph, units: tuple[ir.Unit, ...]) -> list[int]:
    """Return the steps of some units in the order in which they are filled: those in slots before the steps that hold them."""
    return [each for number in step_numbers(units) for each in (*graph.inner.get(number, ()), number)]


def _name_of_block(graph: ir.Graph, step: ir.Step) -> str:
    """Return the words of a block's key: its own, and the name of the step in which all its branches end."""
    base_names: set[str | None] = set()
    for region in ir.regions_of(step.content):
        path = region.value
        last = (
            graph.steps.get(path.origin) if isinstance(path, ir.Path) and isinstance(path.origin, int) and not path.tail else None
        )
        base_names.add(None if last is None or last.executor == "block" else last.base_name)
    (base_name,) = base_names if len(base_names) == 1 else (None,)
    return step.base_name if base_name is None else f"{step.base_name}_{snake(base_name)}"


def _key(base_name: str, count: int, naming: str) -> str:
    if naming == "camel":
        return camel(base_name) or "step"
    if naming == "plain":
        return snake(base_name) or "step"
    return f"step{count}_{snake(base_name)}".rstrip("_")


def _elements(graph: ir.Graph, used: set[str]) -> dict[int, str]:
    """Return the name of the element of each block.

    A name already used by a step, an input or the element of an enclosing block, as in a called program, gets `_2`.
    """
    loops = {step.number: step.content for step in graph.blocks() if isinstance(step.content, ir.Each | ir.Repeat)}
    around = regions_around(graph) if loops else {}
    found: dict[int, str] = {}
    for number, content in sorted(loops.items(), reverse=True, key=lambda each: each[0]):  # a block before its contents
        if content.item is not None:
            taken = used | {found[outer] for outer in around[number] if outer in found}
            found[content.body.number] = free_name(content.item, taken.__contains__)
    return found
