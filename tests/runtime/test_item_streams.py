"""Many items through one program: memory stays flat, the slowest stage holds the others back, results keep their order."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from instrc.api.batch import streamed  # when it reads is not seen from outside
from instrc.text.jsontext import loads

PROGRAM = 'prompt | @{ title: "Sum", type: "object", properties: { text: { type: "string" } }, required: ["text"] }\n'
MOST = 150 * 1024
"""Kilobytes that a stream may hold, whatever its length."""


def test_nothing_is_read_before_there_is_room_for_it() -> None:
    read: list[int] = []
    done: list[int] = []

    async def items() -> AsyncIterator[int]:
        for number in range(200):
            read.append(number)
            yield number

    async def work(number: int, item: int) -> int:
        await asyncio.sleep(0 if number % 7 else 0.002)
        done.append(number)
        return item

    async def consumed(results: AsyncIterator[int]) -> list[int]:
        seen: list[int] = []
        async for result in results:
            seen.append(result)
            assert len(read) - len(seen) <= 10, "a slow reader holds the stream back"
            if len(seen) % 50 == 0:
                await asyncio.sleep(0.01)
                assert len(read) - len(seen) <= 10
        return seen

    assert asyncio.run(consumed(streamed(items(), work, window=10, ordered=True))) == list(range(200))
    assert sorted(done) == list(range(200))


MEASURE = (
    "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL); "
    "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
)
"""Linux counts what the parent held when a child began as the child's: a small process stands between it and this one."""

SLOW = (pytest.mark.slow, pytest.mark.timeout(1800))


@pytest.mark.parametrize(
    ("few", "many"),
    [
        (200, 800),
        pytest.param(1_000, 6_000, marks=pytest.mark.long),
        pytest.param(10_000, 100_000, marks=SLOW),
    ],
)
def test_memory_does_not_grow_with_the_file(few: int, many: int, tmp_path: Path) -> None:
    """Until about a thousand items the process itself grows: 45.6 MB at 200 items, 49 at 1,000, 50 to 51 at 12,000."""
    (tmp_path / "sum.aug").write_text(PROGRAM)
    small, large = peak(tmp_path, few), peak(tmp_path, many)
    assert large < MOST
    assert large < small * 1.1
    last: Any = None
    with (tmp_path / "out.jsonl").open() as lines:
        for number, line in enumerate(lines):
            last = loads(line)
            assert (last["item"], last["status"]) == (number, "done")
    assert last["item"] == many - 1


def peak(folder: Path, count: int) -> int:
    """Return the most memory that a stream of so many items has held, in kilobytes."""
    with (folder / "items.jsonl").open("w") as file:
        file.writelines(f'"item {number}"\n' for number in range(count))
    words = ["run", "sum.aug", "--items", "items.jsonl", "--model", "sample", "--concurrency", "8", "-q"]
    command = [sys.executable, "-c", MEASURE, sys.executable, "-m", "instrc", *words, "-o", "out.jsonl"]
    return int(subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout)
