"""What a step of a run costs beside the work it does: `python tests/benchmarks/running.py`.

Figures are ratios and microseconds a step; a machine under load shows larger ones, so compare lines of one run.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import tracemalloc
from collections.abc import AsyncIterator
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))
from written_processes import TEXT, call, chunk, each, process, step

import instrc
from instrc.api.batch import streamed  # without the handles of runs that `App.map` yields


async def items(count: int) -> AsyncIterator[str]:
    """Yield so many items."""
    for number in range(count):
        yield f"item {number}"


class Constant:
    """A model that costs nothing."""

    async def answer(self, request: instrc.Request) -> instrc.Reply:
        return instrc.Reply({key: {"text": "x"} for key in request.schema["properties"]})


def chain(steps: int) -> Any:
    """A chain of model and server steps, each reading the one before."""
    contexts: dict[str, Any] = {}
    for number in range(1, steps + 1):
        before = f"step{number - 1}_a" if number > 1 else "prompt"
        key = f"step{number}_a"
        if number % 2:
            contexts[f"llmContext{number}"] = chunk(**{key: step(TEXT, before)})
        else:
            contexts[f"serverContext{number}"] = chunk(**{key: call("Work", before)})
    return process(**contexts)


def took(document: Any, given: Any = "go") -> float:
    """Return the seconds of processor time of a run, without the making of its plan."""

    async def work(_given: Any) -> Any:
        return {"text": "y"}

    async def go() -> float:
        from instrc.engines.equip import LocalObjects
        from instrc.engines.launch import Launcher
        from instrc.engines.memory import LiveRun
        from instrc.engines.prepare import prepare
        from instrc.runtime.interpreter import versions

        prepared = prepare(document)
        activities = instrc.Activities({"Work": work})
        launcher = Launcher(prepared, local=LocalObjects(Constant(), activities))
        launch = launcher.launch(given)
        state = versions.begin(launch.plan, launch.inputs)
        run = LiveRun(launch.plan, state, launcher.effects("r", None))
        began = process_time()
        await run.resume_async()
        assert run.status == "done", run.outcome
        return process_time() - began

    return asyncio.run(go())


def report() -> None:
    took(chain(100))
    for steps in (100, 1000, 10_000):
        seconds = min(took(chain(steps)) for _ in range(3 if steps < 5000 else 1))
        print(f"chain of {steps:>6} steps: {seconds / steps * 1e6:7.1f} µs a step")
    body = process(llmContext1=chunk(step1_a=step(TEXT, "x")))
    for count in (100, 1000, 10_000):
        seconds = took(
            process(eachContext1=each("x", "prompt", body, most=100_000, value="step1_a", key="s")), {"prompt": [1] * count}
        )
        print(f"each of {count:>7} elements: {seconds / count * 1e6:7.1f} µs an element")
    print(f"import instrc: {_import():.1f} ms above python itself")
    asyncio.run(_stream(5_000))


async def _stream(count: int) -> None:
    """Run a program for many items, and look at what memory is held at most."""
    from instrc.engines.equip import equip  # what a run is given, without a store
    from instrc.engines.folder import FolderEngine  # the engine itself, with effects of the test
    from instrc.engines.launch import Launcher  # what a run is given, without a store
    from instrc.engines.prepare import prepare

    prepared = prepare(process(llmContext1=chunk(step1_a=step(TEXT, "prompt"))))
    launcher = Launcher(prepared, model="sample")
    engine = FolderEngine(None, equip, keep="open")

    async def work(number: int, item: str) -> str:
        return (await engine.start(launcher.launch(item, f"r.{number}"))).status

    tracemalloc.start()
    peaks = []
    began = perf_counter()
    done = 0
    async for status in streamed(items(count), work, window=50, ordered=True):
        assert status == "done"
        done += 1
        if done % (count // 2) == 0:
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.reset_peak()
    each_ = (perf_counter() - began) / count * 1e6
    print(f"{count} items: {each_:.0f} µs an item, memory traced, peaks of both halves {[peak // 1024 for peak in peaks]} KiB")


def _import() -> float:
    """Return the milliseconds that importing takes, the least of several tries."""

    def once(line: str) -> float:
        began = perf_counter()
        subprocess.run([sys.executable, "-c", line], check=True)
        return perf_counter() - began

    return (min(once("import instrc") for _ in range(7)) - min(once("pass") for _ in range(7))) * 1000


if __name__ == "__main__":
    report()
