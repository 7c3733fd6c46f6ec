"""The cut of a program that is too large for the best one: it is still a cut, only perhaps with more chunks."""

from __future__ import annotations

from random import Random

import pytest

from instrc.compiler.partition import sequence as blocks_module  # a limit is lowered here
from instrc.compiler.partition import sequence as search_module  # a limit is lowered here
from instrc.compiler.partition.sequence import BLOCK, Frontier, sequence  # compared with a search by brute force

PROGRAMS = range(60)
"""What stands for a program is a number: the pieces of it are drawn at random."""


def pieces(program: int) -> tuple[list[int], list[list[int]]]:
    """Return who does each piece, and which pieces before it each reads."""
    chance = Random(program)  # noqa: S311  # no secret
    executors = [chance.choice([0, 1, 2, BLOCK]) for _ in range(chance.randint(3, 12))]
    return executors, [sorted(chance.sample(range(node), chance.randint(0, min(2, node)))) for node in range(len(executors))]


def does_all(executors: list[int], reads: list[list[int]], found: list[int], blocks: dict[int, int]) -> bool:
    """Tell whether chunk after chunk everything is done, each block in the chunk that is said, after what it reads."""
    done: set[int] = set()
    for place, executor in enumerate(found):
        if executor == BLOCK:
            [block] = [node for node, chunk in blocks.items() if chunk == place]
            if not done.issuperset(reads[block]):
                return False
            done.add(block)
            continue
        for node, each in enumerate(executors):
            if each == executor and done.issuperset(reads[node]):
                done.add(node)
    return len(done) == len(executors)


@pytest.mark.parametrize("limit", ["ORDERED_BLOCKS", "SEARCHED_STATES", "SEARCHED_CHUNKS"])
def test_what_is_over_a_limit_of_the_search_is_cut_all_the_same(limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shortest = [len(sequence(*pieces(program))[0]) for program in PROGRAMS]
    module = search_module if limit == "SEARCHED_CHUNKS" else blocks_module
    monkeypatch.setattr(module, limit, 0 if limit == "ORDERED_BLOCKS" else 1)
    for program, least in zip(PROGRAMS, shortest, strict=True):
        executors, reads = pieces(program)
        found, blocks = sequence(executors, reads)
        assert does_all(executors, reads, found, blocks)
        assert least <= len(found) <= len(executors)
        assert sorted(blocks) == [node for node, executor in enumerate(executors) if executor == BLOCK]


def test_no_more_orders_are_followed_than_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks_module, "SEARCHED_STATES", 2)
    states = [Frontier(1, ((node,), ()), {}, {}) for node in (0, 1, 1, 2, 3)]
    assert [state.ready for state in blocks_module._distinct(states)] == [((0,), ()), ((1,), ())]
