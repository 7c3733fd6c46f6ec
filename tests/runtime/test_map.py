"""Many items through one program of an application."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

import instrc

PROGRAM = '@{ title: "Read", type: "object", properties: { text: { type: "string" } }, required: ["text"] }'


class Echo:
    """Answers with the number in the message, which also says how long that takes."""

    def __init__(self) -> None:
        self.open = self.most = self.asked = 0

    async def answer(self, request: instrc.Request) -> instrc.Reply:
        self.asked += 1
        self.open += 1
        self.most = max(self.most, self.open)
        command = request.command
        assert command is not None
        prompt: Any = command["context"]["prompt"]  # type: ignore[index,call-overload]  # an object with it
        await asyncio.sleep(float(prompt) / 100)
        self.open -= 1
        if prompt == "3":
            message = "no"
            raise instrc.ModelError(message, code="refused")
        return instrc.Reply({"text": prompt})


async def collected(app: instrc.App, inputs: Any, **options: Any) -> list[instrc.ItemResult]:
    return [item async for item in app.map(PROGRAM, inputs, **options)]


def test_results_come_as_they_are_done_with_failures_beside_them() -> None:
    model = Echo()
    told: list[instrc.ItemResult] = []
    inputs: list[Any] = ["9", "1", {"other": 1}, "3", "5"]
    items = asyncio.run(collected(instrc.App(model=model), inputs, concurrency=5, progress=told.append))
    assert items == told
    assert [item.number for item in items] == [2, 1, 3, 4, 0]
    assert [item.ok for item in items] == [False, True, False, True, True]
    assert [item.value for item in items if item.ok] == [{"text": "1"}, {"text": "5"}, {"text": "9"}]
    wrong, failed = items[0], items[2]
    assert (wrong.run, wrong.input) == (None, {"other": 1})
    assert isinstance(wrong.error, instrc.InputError)
    with pytest.raises(instrc.InputError):
        _ = wrong.value
    with pytest.raises(instrc.RunFailedError, match="no"):
        _ = failed.value
    assert failed.run is not None
    assert [item.to_json() for item in items if not item.ok or item.number == 1] == [
        {"item": 2, "status": "failed", "error": {"kind": "invalid", "message": str(wrong.error)}},
        {"item": 1, "run": items[1].run.id, "status": "done", "output": {"text": "1"}},
        {"item": 3, "run": failed.run.id, "status": "failed", "error": failed.run.outcome["error"]},
    ]


def test_no_more_than_wanted_work_at_the_same_time_and_inputs_are_read_when_there_is_room() -> None:
    read: list[int] = []

    async def inputs() -> AsyncIterator[str]:
        for number in range(12):
            read.append(number)
            yield "0.5"

    async def work() -> None:
        model = Echo()
        done = 0
        async for _ in instrc.App(model=model).map(PROGRAM, inputs(), concurrency=3):
            done += 1
            assert len(read) <= done + 3
        assert (done, model.most) == (12, 3)

    asyncio.run(work())


def test_a_rate_spreads_the_beginnings() -> None:
    began = time.monotonic()
    asyncio.run(collected(instrc.App(model=Echo()), ["0"] * 5, concurrency=5, rate=40))
    assert time.monotonic() - began >= 4 / 40


def test_leaving_the_loop_ends_what_is_begun() -> None:
    model = Echo()

    async def work() -> None:
        results = instrc.App(model=model).map(PROGRAM, ["0", *["99000"] * 3], concurrency=4)
        async for item in results:
            assert item.ok
            break
        await results.aclose()  # type: ignore[attr-defined]  # a generator

    asyncio.run(asyncio.wait_for(work(), 60))


@pytest.mark.parametrize("rate", [0, -1, "fast", True, float("nan")])
def test_a_rate_is_a_number_above_zero(rate: Any) -> None:
    with pytest.raises(TypeError, match="rate"):
        instrc.App().map(PROGRAM, [], rate=rate)


@pytest.mark.parametrize("concurrency", [0, -1, True, 2.5])
def test_a_concurrency_is_a_whole_number_from_one(concurrency: Any) -> None:
    with pytest.raises(TypeError, match="`concurrency` takes a whole number"):
        instrc.App().map(PROGRAM, [], concurrency=concurrency)


@pytest.mark.parametrize("inputs", ["a text", b"bytes", {"a": 1}, 5, None])
def test_inputs_are_several(inputs: Any) -> None:
    with pytest.raises(TypeError, match="`inputs` takes an iterable of inputs"):
        instrc.App().map(PROGRAM, inputs)


def test_a_mistake_in_the_program_or_the_settings_is_raised_once() -> None:
    model = Echo()
    for app, program, error in (
        (instrc.App(model=model), "Read(prompt", instrc.CompileError),
        (instrc.App(), PROGRAM, instrc.SettingsError),
        (instrc.App(model=model, engine="steam"), PROGRAM, instrc.SettingsError),  # type: ignore[arg-type]  # a mistake
    ):

        async def work(app: instrc.App = app, program: str = program) -> None:
            _ = [item async for item in app.map(program, ["1"] * 3)]

        with pytest.raises(error):
            asyncio.run(work())
    assert model.asked == 0


def test_a_bar_shows_the_progress(capsys: pytest.CaptureFixture[str]) -> None:
    asyncio.run(collected(instrc.App(model=Echo()), ["0", "3"], progress=True))
    printed = capsys.readouterr().err
    assert "2/2" in printed
    assert "1 not done" in printed


DYING = """
import asyncio, os, sys
import instrc

class Dying:
    async def answer(self, request):
        with open("asked", "a") as file:
            file.write("x")
        if os.path.getsize("asked") == 3:
            os._exit(9)
        return instrc.Reply({"text": "a"})

async def main():
    async with instrc.App(model=Dying(), engine="durable", store="kept") as app:
        items = [item async for item in app.map(PROGRAM, ["a"] * 6, concurrency=1, id="batch")]
        print(sorted((item.number, item.run.id, item.ok) for item in items))

asyncio.run(main())
"""


@pytest.mark.long
def test_a_batch_continues_after_a_kill(tmp_path: Path) -> None:
    pytest.importorskip("dbos")
    script = f"PROGRAM = {PROGRAM!r}\n{DYING}"
    first = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert first.returncode == 9, first.stderr
    second = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert second.stdout.strip() == str([(number, f"batch.{number}", True) for number in range(6)]), second.stderr
    assert len((tmp_path / "asked").read_text()) == 7, "the two that were done are not repeated"
