"""Real disks: one that is full between two effects, and one that may only be read."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
from collections.abc import Callable, Coroutine, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from written_processes import ASK, TEXT, call, chunk, process, step

from instrc import Activities, Sample, current_call
from instrc.engines.dbos.durable_engine import DurableEngine  # the engine itself, with effects of the test
from instrc.engines.folder import FolderEngine  # the engine itself, with effects of the test
from instrc.problems.errors import InstrcError
from instrc.runtime.effects import Effects
from instrc.runtime.plan import plan_of
from instrc.runtime.run_config import Launch

WORK = process(
    serverContext1=chunk(step1_a=call("Send", "prompt")),
    llmContext1=chunk(step2_b=step(TEXT, "step1_a")),
    serverContext2=chunk(step3_c=call("Send", "step2_b.text")),
)


class Disk:
    """A file system of its own, with little room."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def fill(self) -> None:
        with suppress(OSError), (self.folder / "ballast").open("wb") as file:
            while True:
                file.write(b"x" * 4096)
                file.flush()

    def empty(self) -> None:
        (self.folder / "ballast").unlink()

    def mount(self, *options: str) -> bool:
        done = subprocess.run(["mount", *options, str(self.folder)], check=False, capture_output=True)
        return done.returncode == 0


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    made = Disk(tmp_path / "disk")
    made.folder.mkdir()
    if shutil.which("mount") is None or not made.mount("-t", "tmpfs", "-o", "size=4m", "tmpfs"):
        pytest.skip("no disk of four megabytes: `mount` is not allowed here")
    yield made
    subprocess.run(["umount", "--lazy", str(made.folder)], check=True)


pytestmark = pytest.mark.filterwarnings("ignore:the trace of:RuntimeWarning")


@pytest.fixture(params=[DurableEngine, FolderEngine])
def maker(request: pytest.FixtureRequest) -> Any:
    return request.param


def made(maker: Any, folder: Path, send: Callable[[Any], Any]) -> Any:
    def equip(run: str, _plan: Any, _how: Any, sink: Any) -> Effects:
        return Effects(run, Sample(), Activities({"Send": send}), sink)

    return maker(folder, equip)


def go(work: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(asyncio.wait_for(work, 240))


def refused(work: Coroutine[Any, Any, Any]) -> None:
    with pytest.raises(InstrcError) as raised:
        go(work)
    [problem] = raised.value.problems
    assert problem.name in {"unusable-store", "unwritable-output"}


def close(engine: Any) -> None:
    getattr(engine, "close", lambda: None)()


def test_a_disk_that_is_full_leaves_a_question_open(disk: Disk, maker: Any) -> None:
    calls: list[str] = []

    def send(_given: Any) -> Any:
        calls.append(current_call().key)
        return {"text": "sent"}

    engine = made(maker, disk.folder / "kept", send)
    assert go(engine.start(Launch("r1", "test", plan_of(ASK), {"prompt": "go"}))).status == "waiting"
    disk.fill()
    refused(engine.answer("r1", "confirm", {"decision": "Approve"}))
    refused(engine.start(Launch("r2", "test", plan_of(ASK), {"prompt": "x" * 100_000})))
    close(engine)
    disk.empty()
    again = made(maker, disk.folder / "kept", send)
    report = go(again.show("r1"))
    if report.status == "waiting":
        report = go(again.answer("r1", "confirm", {"decision": "Approve"}))
    assert report.status == "done"
    assert len(set(calls)) == 1
    close(again)


def test_a_disk_that_is_full_between_two_effects_loses_nothing(disk: Disk) -> None:
    calls: list[str] = []

    def send(given: Any) -> Any:
        calls.append(current_call().key)
        if given == "go":
            disk.fill()
        return {"text": "x" * 20_000}

    engine = made(DurableEngine, disk.folder / "kept", send)
    refused(engine.start(Launch("r1", "test", plan_of(WORK), {"prompt": "go"})))
    close(engine)
    disk.empty()
    calm = made(DurableEngine, disk.folder / "kept", lambda _given: {"text": "y"})
    assert go(calm.resume("r1")).status == "done"
    assert calls == ["r1/serverContext1.step1_a"]
    close(calm)


def test_a_disk_that_may_only_be_read_is_a_problem_and_can_still_be_looked_at(disk: Disk, maker: Any) -> None:
    def send(_given: Any) -> Any:
        return {"text": "sent"}

    engine = made(maker, disk.folder / "kept", send)
    go(engine.start(Launch("r1", "test", plan_of(ASK), {"prompt": "go"})))
    close(engine)
    assert disk.mount("-o", "remount,ro")
    reader = made(maker, disk.folder / "kept", send)
    refused(reader.answer("r1", "confirm", {"decision": "Approve"}))
    refused(reader.start(Launch("r2", "test", plan_of(ASK), {"prompt": "go"})))
    close(reader)
    assert disk.mount("-o", "remount,rw")
    again = made(maker, disk.folder / "kept", send)
    assert go(again.answer("r1", "confirm", {"decision": "Approve"})).status == "done"
    close(again)
