"""Give every step its key, in the order in which the steps run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache

from instrc.compiler.bind.values import step_numbers
from instrc.compiler.ir import Chunk, Each, FlatGraph, Graph, Path, Repeat, Step, Unit, regions_in, regions_of
from instrc.text.names import camel, free_name, snake

_GIVEN = ("round", "previous", "rounds", "error")
"""Names that blocks give: a key that is called so would hide one."""


def number_steps(
    flat: FlatGraph, chunks: tuple[Chunk, ...], inside: Mapping[int, tuple[Chunk, ...]], *, naming: str, bare: bool
) -> tuple[dict[int, str], dict[int, str]]:
    """Return the key of each step, `step3_find_slot`, or `findSlot` or `find_slot` by `naming`; and the names of elements.

    Keys written by hand stay and use up a number; a key that would be taken, by a step or an input, gets `_2`, `_3`.
    A single step without a key around it uses up none, nor does a block that nothing reads.
    """
    graph = flat.graph
    steps = graph.steps
    order = _in_order(flat, chunks, inside)
    taken = {step.key for step in steps.values() if step.key is not None}
    unread = set(graph.block_numbers).difference(flat.read)
    if graph.contexts is not None:
        unread.difference_update([unit for unit in graph.units if isinstance(unit, int)])
    keys: dict[int, str] = {}
    used: set[str] = set(graph.inputs) | (set(_GIVEN) if naming == "plain" else set())
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
    return keys, _elements(graph, used)


def _in_order(flat: FlatGraph, chunks: tuple[Chunk, ...], inside: Mapping[int, tuple[Chunk, ...]]) -> list[int]:
    """Return all steps in the order in which they are numbered: a block after what is in it."""
    graph = flat.graph
    nested = graph.inner or flat.mixins
    order: list[int] = []
    twice = False
    """Whether a step may be in two chunks."""
    waiting: list[Chunk | int] = list(reversed(chunks))
    while waiting:
        chunk = waiting.pop()
        if isinstance(chunk, int):
            order.append(chunk)
            continue
        units, block = chunk.units, chunk.block
        if block is None:
            order.extend(_numbers(graph, units) if nested else units)  # type: ignore[arg-type]  # without mixins there are no groups
            twice = twice or bool(chunk.answers)
            continue
        content = graph.steps[block].content
        if not (type(content) is Repeat and content.otherwise is not None and chunk.executor != "else"):
            waiting.append(block)  # a `repeat` with an `else` after that
        for region in reversed(regions_in(graph, chunk)):
            waiting.extend(reversed(inside[region.number]))
    return list(dict.fromkeys(order)) if twice else order


def _numbers(graph: Graph, units: tuple[Unit, ...]) -> list[int]:
    """Return the steps of some units, those in their slots before them."""
    return [each for number in step_numbers(units) for each in (*graph.inner.get(number, ()), number)]


def _name_of_block(graph: Graph, step: Step) -> str:
    """Return the words of a block's key: its own, and the name of the step in which all its branches end."""
    base_names: set[str | None] = set()
    for region in regions_of(step.content):
        path = region.value
        last = graph.steps.get(path.origin) if isinstance(path, Path) and isinstance(path.origin, int) and not path.tail else None
        base_names.add(None if last is None or last.executor == "block" else last.base_name)
    (base_name,) = base_names if len(base_names) == 1 else (None,)
    return step.base_name if base_name is None else f"{step.base_name}_{snake(base_name)}"


def _elements(graph: Graph, used: set[str]) -> dict[int, str]:
    """Return what the element of each block is called.

    One called like a step, an input or the element of a block around it, as in a program that is called there, gets `_2`.
    """
    loops = {step.number: step.content for step in graph.blocks() if type(step.content) is Each or type(step.content) is Repeat}
    around = _regions_around(graph) if loops else {}
    found: dict[int, str] = {}
    for _, content in sorted(loops.items(), reverse=True, key=lambda each: each[0]):  # a block before those in it
        if content.item is not None:
            region = content.body.number
            taken = used | {found[outer] for outer in _outwards(region, around) if outer in found}
            found[region] = free_name(content.item, taken.__contains__)
    return found


def _regions_around(graph: Graph) -> dict[int, int]:
    """Return the body around each body."""
    home: dict[int, int] = {}
    blocks = graph.blocks()
    for step in blocks:
        for region in regions_of(step.content):
            home.update((number, region.number) for number in step_numbers(region.units))
    return {region.number: home[step.number] for step in blocks for region in regions_of(step.content) if step.number in home}


def _outwards(region: int, around: Mapping[int, int]) -> Iterator[int]:
    while (outer := around.get(region)) is not None:
        yield outer
        region = outer


def _key(base_name: str, count: int, naming: str) -> str:
    if naming == "camel":
        return camel(base_name) or "step"
    if naming == "plain":
        return snake(base_name) or "step"
    return f"step{count}{_ending(base_name)}"


@lru_cache(maxsize=4096)
def _ending(base_name: str) -> str:
    """Return what a key has behind its number."""
    return f"_{snake(base_name)}".rstrip("_")
