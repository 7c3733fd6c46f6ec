"""Find the shortest sequence of executors that can process a graph of nodes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

BLOCK = 3
"""Executor number of a block."""


def sequence(
    executors: Sequence[int], reads: Sequence[Sequence[int]], apart: Sequence[Sequence[int]] = ()
) -> tuple[list[int], dict[int, int]]:
    """Return the executor of each chunk and the chunk of each block; `apart` are reads that need a separate earlier chunk.

    The fewest chunks win, then the smallest executors earliest; among interchangeable blocks, the first in the source.
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


BORDER = 4
"""Executor number of a chunk boundary; it is processed alone, after the chunk that it waits for."""


def _with_borders(
    executors: Sequence[int], reads: Sequence[Sequence[int]], apart: Sequence[Sequence[int]]
) -> tuple[list[int], dict[int, int]]:
    """Return the sequence with a boundary between some nodes and those that they read."""
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
    """Return the blocks that only other such blocks wait for, which come last."""
    held = [False] * len(executors)
    for node in range(len(executors) - 1, -1, -1):
        if executors[node] != BLOCK or held[node]:
            for need in reads[node]:
                held[need] = True
    return {node for node, executor in enumerate(executors) if executor == BLOCK and not held[node]}


ORDERED_BLOCKS: Final = 24
"""Maximum awaited blocks for which every order is tried."""
EXECUTORS = 3


def _with_blocks(executors: Sequence[int], reads: Sequence[Sequence[int]]) -> tuple[list[int], dict[int, int]]:
    """Return the sequence for nodes some of which wait for blocks."""
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


class Frontier(NamedTuple):
    """The nodes that are done and those that can be done next, by executor."""

    done: int
    ready: tuple[tuple[int, ...], ...]
    waits: dict[int, int]
    blocks: dict[int, int]
    """The chunk of each block that is done."""


SEARCHED_CHUNKS: Final = 20_000
"""Maximum chunks tried before the best result so far is used; handwritten programs need about one try per chunk."""


class SequenceSearch:
    """Searches depth first for the shortest sequence, with a lower bound that never overestimates."""

    def __init__(self, executors: Sequence[int], reads: Sequence[Sequence[int]]) -> None:
        self.executors = executors
        self.readers: list[list[int]] = [[] for _ in executors]
        self.needs = [len(set(each)) for each in reads]
        for node, each in enumerate(reads):
            for need in set(each):
                self.readers[need].append(node)
        self.height = [1] * len(executors)
        """How many chunks there are at least from a node's own on; blocks are not counted."""
        for node in range(len(executors) - 1, -1, -1):
            for reader in self.readers[node]:
                change = 0 if executors[node] in (executors[reader], BLOCK, BORDER) else 1
                self.height[node] = max(self.height[node], self.height[reader] + change)
        first = [node for node, count in enumerate(self.needs) if count == 0]
        self.start = Frontier(0, _by_executor(first, executors), {}, {})
        self.tried = 0
        self._least: dict[object, int] = {}

    def ahead(self, state: Frontier) -> int:
        """Return a lower bound for the number of remaining chunks, without blocks."""
        tallest = [max((self.height[node] for node in nodes), default=0) for nodes in state.ready[:EXECUTORS]]
        top = max(tallest)
        # the first chunk cannot serve two executors at the same distance from the end
        return top + 1 if top and tallest.count(top) > 1 else top

    def step(self, state: Frontier, executor: int, *, closing: bool = False) -> Frontier:
        """Take all units that an executor can process now without a break, and with `closing` the blocks that can follow them."""
        done, waits = state.done, dict(state.waits)
        ready = [list(nodes) for nodes in state.ready]
        open_ = ready[executor]
        ready[executor] = []
        together: tuple[int, ...] = (executor,)
        while open_:
            node = open_.pop()
            done += 1
            for reader in self.readers[node]:
                left = waits.pop(reader, self.needs[reader]) - 1
                if left:
                    waits[reader] = left
                elif self.executors[reader] in together:
                    open_.append(reader)
                else:
                    ready[self.executors[reader]].append(reader)
            if not open_ and (closing or ready[BORDER]):
                together = (BORDER, BLOCK) if closing else (BORDER,)
                for each in together:
                    open_ += ready[each]
                    ready[each] = []
        return Frontier(done, tuple(tuple(sorted(nodes)) for nodes in ready), waits, state.blocks)

    def closed(self, state: Frontier) -> Frontier:
        """Do all blocks that can be done."""
        return self.step(state, BLOCK) if state.ready[BLOCK] else state

    def block(self, state: Frontier, node: int, chunk: int) -> Frontier:
        """Do one block."""
        others = tuple(each for each in state.ready[BLOCK] if each != node)
        waits = dict(state.waits)
        ready = [list(nodes) for nodes in (*state.ready[:BLOCK], others, *state.ready[BORDER:])]
        for reader in self.readers[node]:
            left = waits.pop(reader, self.needs[reader]) - 1
            if left:
                waits[reader] = left
            else:
                ready[self.executors[reader]].append(reader)
        return Frontier(state.done + 1, tuple(tuple(sorted(nodes)) for nodes in ready), waits, {**state.blocks, node: chunk})

    def least(self, state: Frontier) -> int:
        """Return the minimum number of remaining chunks, without blocks."""
        key = state.done, state.ready
        if key not in self._least:
            self._least[key] = len(self.from_(self.closed(state)))
        return self._least[key]

    def from_(self, state: Frontier) -> list[int]:
        """Return the first of the shortest sequences from a state on, in which blocks are done as soon as possible."""
        length = self.ahead(state)
        while True:
            found = self.within(length, state)
            if found is not None:
                return found
            length += 1

    def within(self, length: int, start: Frontier) -> list[int] | None:
        """Return the first sequence of at most `length` chunks, if any."""
        total = len(self.executors)
        path: list[int] = []
        states = [start]
        choices = [iter(range(EXECUTORS))]
        seen: set[tuple[int, object]] = set()
        while choices:
            state = states[-1]
            if state.done == total:
                return path
            for executor in choices[-1]:
                if not state.ready[executor]:
                    continue
                self.tried += 1
                after = self.step(state, executor, closing=True)
                if len(path) + 1 + self.ahead(after) > length and self.tried < SEARCHED_CHUNKS:
                    continue
                key = (len(path), after.ready)
                if key in seen:
                    continue
                seen.add(key)
                path.append(executor)
                states.append(after)
                choices.append(iter(range(EXECUTORS)))
                break
            else:
                choices.pop()
                states.pop()
                if path:
                    path.pop()
        return None


def _blocks_at_once(search: SequenceSearch) -> tuple[list[int], dict[int, int]]:
    """Return a sequence in which each block is done as soon as possible."""
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


SEARCHED_STATES: Final = 64
"""Maximum states with the same sequence that are followed."""


def _distinct(states: Iterable[Frontier]) -> list[Frontier]:
    kept: dict[object, Frontier] = {}
    for state in states:
        kept.setdefault(state.ready, state)
        if len(kept) == SEARCHED_STATES:
            break
    return list(kept.values())


def shortest_sequence(executors: Sequence[int], reads: Sequence[Sequence[int]]) -> list[int]:
    """Return the executor of each chunk if there are no blocks: fewest chunks first, then the smallest numbers earliest.

    Node `i` is processed by `executors[i]` after the nodes `reads[i]`, all of which have smaller indexes.
    """
    search = SequenceSearch(executors, reads)
    return search.from_(search.start)


def _by_executor(nodes: Sequence[int], executors: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(node for node in nodes if executors[node] == each) for each in range(EXECUTORS + 2))
