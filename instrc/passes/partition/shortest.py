"""The shortest sequence of executors where blocks cost nothing.

It is looked for depth first, with the longest chain of changes that is still ahead as a bound that is never too high.
"""

from __future__ import annotations

from collections.abc import Sequence

from instrc.limits.programs import SEARCHED_CHUNKS

EXECUTORS = 3
BLOCK = 3
"""The executor of a block."""
BORDER = 4
"""In the place of an executor: where a chunk ends; this is done by itself, after the chunk that it waits for."""


def shortest_sequence(executors: Sequence[int], reads: Sequence[Sequence[int]]) -> list[int]:
    """Return the executor of each chunk where there are no blocks: fewest chunks first, then the smallest numbers earliest.

    Node `i` is done by `executors[i]` after the nodes `reads[i]`, all of which have smaller indexes.
    """
    search = SequenceSearch(executors, reads)
    return search.from_(search.start)


class Frontier:
    """What is done and what can be done next, by executor."""

    __slots__ = ("blocks", "done", "ready", "waits")

    def __init__(self, done: int, ready: tuple[tuple[int, ...], ...], waits: dict[int, int], blocks: dict[int, int]) -> None:
        self.done = done
        self.ready = ready
        self.waits = waits
        self.blocks = blocks
        """The chunk of each block that is done."""


class SequenceSearch:
    """Looks for the shortest sequence depth first, with a bound that is never too high."""

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
        """Return a number of chunks that the rest takes at least, blocks not counted."""
        tallest = [max((self.height[node] for node in nodes), default=0) for nodes in state.ready[:EXECUTORS]]
        top = max(tallest)
        # two executors as far from the end as each other cannot both be served by the first chunk
        return top + 1 if top and tallest.count(top) > 1 else top

    def step(self, state: Frontier, executor: int, *, closing: bool = False) -> Frontier:
        """Do all that an executor can do now without a break; with `closing`, the blocks that can be done after that as well."""
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
        """Return how many chunks the rest takes, blocks not counted."""
        key = state.done, state.ready
        if key not in self._least:
            self._least[key] = len(self.from_(self.closed(state)))
        return self._least[key]

    def from_(self, state: Frontier) -> list[int]:
        """Return the first of the shortest sequences from a state on, in which blocks are done when they can be."""
        length = self.ahead(state)
        while True:
            found = self.within(length, state)
            if found is not None:
                return found
            length += 1

    def within(self, length: int, start: Frontier) -> list[int] | None:
        """Return the first sequence of at most `length` chunks, if there is one."""
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


def _by_executor(nodes: Sequence[int], executors: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(node for node in nodes if executors[node] == each) for each in range(EXECUTORS + 2))
