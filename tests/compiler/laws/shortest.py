"""The shortest cut, found by trying: every sequence of executors in turn, the shortest and first ones before others."""

from __future__ import annotations

import itertools

import pytest

BLOCK = 3
"""In the place of an executor: the node is a block."""


def assert_shortest(found: list[int], executors: list[int], reads: tuple[set[int], ...], letters: int) -> None:
    """Assert that a sequence of this many executors does everything, and none that is shorter or before it."""
    for length in range(len(found) + 1):
        for sequence in itertools.product(range(letters), repeat=length):
            if _does_all(executors, reads, sequence):
                assert found == list(sequence)
                return
    pytest.fail("the cut does not do everything")


def _does_all(executors: list[int], reads: tuple[set[int], ...], letters: tuple[int, ...]) -> bool:
    """Tell whether a sequence does everything, whichever block is done in each place of one."""
    states = {frozenset[int]()}
    for letter in letters:
        after: set[frozenset[int]] = set()
        for done in states:
            if letter == BLOCK:
                ready = [
                    node for node, each in enumerate(executors) if each == BLOCK and node not in done and reads[node] <= done
                ]
                after |= {done | {node} for node in ready}
                continue
            more = set(done)
            for node, each in enumerate(executors):  # what is read has smaller numbers, so one round does all
                if each == letter and reads[node] <= more:
                    more.add(node)
            after.add(frozenset(more))
        states = after
    return any(len(done) == len(executors) for done in states)
