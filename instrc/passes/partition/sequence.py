"""The shortest sequence of executors in which a graph of nodes can be done.

Each chunk does all that can be done by its executor without a break; doing more can never make the rest longer.
So a sequence of executors decides the cut; `shortest` looks for the shortest one.

Blocks are done one by one, each in a chunk of its own.  They make no sequence shorter or longer, so the others are counted as if
blocks cost nothing; then each block stands as late as that allows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from instrc.limits.programs import ORDERED_BLOCKS, SEARCHED_STATES
from instrc.passes.partition.shortest import BLOCK, BORDER, EXECUTORS, Frontier, SequenceSearch, shortest_sequence


def sequence(
    executors: Sequence[int], reads: Sequence[Sequence[int]], apart: Sequence[Sequence[int]] = ()
) -> tuple[list[int], dict[int, int]]:
    """Return the executor of each chunk and the chunk of each block; `apart` are reads that need a chunk of their own before.

    Fewest chunks come first, then the smallest executors earliest; among blocks that could change places, the first written.
    """
    if any(apart):
        return _with_borders(executors, reads, apart)
    if BLOCK not in executors:
        return shortest_sequence(executors, reads), {}
    last = _only_read_by_blocks(executors, reads)
    kept = [node for node in range(len(executors)) if node not in last]
    index = {node: place for place, node in enumerate(kept)}
    few = [executors[node] for node in kept]
    fewer = [[index[need] for need in reads[node]] for node in kept]
    found, blocks = ([*shortest_sequence(few, fewer)], {}) if BLOCK not in few else _with_blocks(few, fewer)
    where = {kept[node]: chunk for node, chunk in blocks.items()}
    for node in sorted(last):
        where[node] = len(found)
        found.append(BLOCK)
    return found, where


def _with_borders(
    executors: Sequence[int], reads: Sequence[Sequence[int]], apart: Sequence[Sequence[int]]
) -> tuple[list[int], dict[int, int]]:
    """Return the sequence where some nodes need a border between them and what they read."""
    more: list[int] = []
    needs: list[list[int]] = []
    place: list[int] = []
    for node, executor in enumerate(executors):
        own = [place[need] for need in reads[node] if need not in apart[node]]
        if apart[node]:
            own.append(len(more))
            more.append(BORDER)
            needs.append([place[need] for need in apart[node]])
        place.append(len(more))
        more.append(executor)
        needs.append(own)
    found, where = sequence(more, needs)
    return found, {node: where[place[node]] for node, executor in enumerate(executors) if executor == BLOCK}


def _only_read_by_blocks(executors: Sequence[int], reads: Sequence[Sequence[int]]) -> set[int]:
    """Return the blocks that nothing but such blocks waits for: they come last."""
    held = [False] * len(executors)
    for node in range(len(executors) - 1, -1, -1):
        if executors[node] != BLOCK or held[node]:
            for need in reads[node]:
                held[need] = True
    return {node for node, executor in enumerate(executors) if executor == BLOCK and not held[node]}


def _with_blocks(executors: Sequence[int], reads: Sequence[Sequence[int]]) -> tuple[list[int], dict[int, int]]:
    """Return the sequence for nodes of which some wait for blocks."""
    search = SequenceSearch(executors, reads)
    if executors.count(BLOCK) > ORDERED_BLOCKS:
        return _blocks_at_once(search)
    left = search.least(search.start)
    states = [search.start]
    found: list[int] = []
    while states[0].done < len(executors):
        for executor in range(EXECUTORS):
            tried = (search.step(state, executor) for state in states if state.ready[executor])
            chosen = _distinct(state for state in tried if search.least(state) < left)
            if chosen:
                left -= 1
                found.append(executor)
                break
        else:
            chosen = _distinct(search.block(state, node, len(found)) for state in states for node in state.ready[BLOCK])
            found.append(BLOCK)
        states = chosen
    return found, states[0].blocks


def _blocks_at_once(search: SequenceSearch) -> tuple[list[int], dict[int, int]]:
    """Return a sequence in which each block is done as soon as that is possible."""
    found: list[int] = []
    state = search.start
    for executor in (*search.from_(search.closed(state)), BLOCK):
        while state.ready[BLOCK]:
            state = search.block(state, state.ready[BLOCK][0], len(found))
            found.append(BLOCK)
        if executor != BLOCK:
            state = search.step(state, executor)
            found.append(executor)
    return found, state.blocks


def _distinct(states: Iterable[Frontier]) -> list[Frontier]:
    kept: dict[object, Frontier] = {}
    for state in states:
        kept.setdefault(state.ready, state)
        if len(kept) == SEARCHED_STATES:
            break
    return list(kept.values())
