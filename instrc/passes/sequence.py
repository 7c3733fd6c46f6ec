"""The shortest sequence of executors in which a graph of pieces can be done.

Each chunk does all that can be done by its executor without a break; doing more can never make the rest longer.
So a sequence of executors decides the cut, and the shortest one is looked for depth first,
with the longest chain of changes that is still ahead as a bound that is never too high.
"""

from __future__ import annotations

from collections.abc import Sequence

EXECUTORS = 3
_PATIENCE = 20_000
"""Chunks tried before the search settles for what it has; programs that people write need as many as they have chunks."""


def shortest_sequence(executors: Sequence[int], reads: Sequence[Sequence[int]]) -> list[int]:
    """Return the executor of each chunk: fewest chunks first, then the smallest numbers earliest.

    Node `i` is done by `executors[i]` after the nodes `reads[i]`, all of which have smaller indexes.
    """
    search = _Search(executors, reads)
    length = search.ahead(search.start)
    while True:
        found = search.within(length)
        if found is not None:
            return found
        length += 1


class _State:
    """What is done and what can be done next, by executor."""

    __slots__ = ("done", "ready", "waits")

    def __init__(self, done: int, ready: tuple[tuple[int, ...], ...], waits: dict[int, int]) -> None:
        self.done = done
        self.ready = ready
        self.waits = waits


class _Search:
    def __init__(self, executors: Sequence[int], reads: Sequence[Sequence[int]]) -> None:
        self.executors = executors
        self.readers: list[list[int]] = [[] for _ in executors]
        self.needs = [len(set(each)) for each in reads]
        for node, each in enumerate(reads):
            for need in set(each):
                self.readers[need].append(node)
        self.height = [1] * len(executors)
        for node in range(len(executors) - 1, -1, -1):
            for reader in self.readers[node]:
                change = 0 if executors[reader] == executors[node] else 1
                self.height[node] = max(self.height[node], self.height[reader] + change)
        first = [node for node, count in enumerate(self.needs) if count == 0]
        self.start = _State(0, _by_executor(first, executors), {})
        self.failed: set[tuple[int, int, int]] = set()
        self.tried = 0

    def ahead(self, state: _State) -> int:
        """Return a number of chunks that the rest takes at least."""
        tallest = [max((self.height[node] for node in nodes), default=0) for nodes in state.ready]
        top = max(tallest)
        # two executors as far from the end as each other cannot both be served by the first chunk
        return top + 1 if top and tallest.count(top) > 1 else top

    def step(self, state: _State, executor: int) -> _State:
        """Do all that an executor can do now without a break."""
        done, waits = state.done, dict(state.waits)
        ready = [list(nodes) for nodes in state.ready]
        open_ = list(state.ready[executor])
        ready[executor] = []
        while open_:
            node = open_.pop()
            done += 1
            for reader in self.readers[node]:
                left = waits.pop(reader, self.needs[reader]) - 1
                if left:
                    waits[reader] = left
                elif self.executors[reader] == executor:
                    open_.append(reader)
                else:
                    ready[self.executors[reader]].append(reader)
        return _State(done, tuple(tuple(sorted(nodes)) for nodes in ready), waits)

    def within(self, length: int) -> list[int] | None:
        """Return the first sequence of at most `length` chunks, if there is one."""
        total = len(self.executors)
        path: list[int] = []
        states = [self.start]
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
                after = self.step(state, executor)
                if len(path) + 1 + self.ahead(after) > length and self.tried < _PATIENCE:
                    continue
                key = (len(path) + 1, after.ready)
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
    return tuple(tuple(node for node in nodes if executors[node] == each) for each in range(EXECUTORS))
