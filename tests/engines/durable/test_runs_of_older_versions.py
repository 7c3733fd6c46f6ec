"""Runs that a version with other words for wrong answers has begun go on: nothing that was answered is asked again."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest
from written_processes import DECISION, call, chunk, process, step

from instrc import Activities, Reply, Request
from instrc.engines.dbos.durable_engine import DurableEngine  # the engine itself, with effects of the test
from instrc.runtime.effects import Effects
from instrc.runtime.interpreter.v1 import apply as applying  # replaced or watched here
from instrc.runtime.plan import plan_of
from instrc.runtime.run_config import Launch

COUNT = {"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]}
COUNTING = process(
    llmContext1=chunk(step1_count=step(COUNT, "prompt")),
    userContext1=chunk(step2_confirm=step(DECISION, "step1_count")),
    serverContext1=chunk(step3_send=call("Send", "step1_count.count")),
)
WORDS_OF_BEFORE = "None is not of type 'integer'"


class Model:
    """Answers in turn; when it has no answer left, the process that asks is ended."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.asked: list[Request] = []

    async def answer(self, request: Request) -> Reply:
        self.asked.append(request)
        if not self.answers:
            await asyncio.sleep(300)
        return Reply({"step1_count": {"count": self.answers.pop(0)}})


def engine(folder: Path, model: Model) -> DurableEngine:
    def equip(run: str, _plan: Any, _how: Any, sink: Any) -> Effects:
        return Effects(run, model, Activities({"Send": lambda given: {"text": str(given)}}), sink)

    return DurableEngine(folder, equip)


def go(work: Coroutine[Any, Any, Any], span: float = 240) -> Any:
    return asyncio.run(asyncio.wait_for(work, span))


async def stop_when_asked(times: int, carrier: DurableEngine, model: Model) -> None:
    """Start the run, and cancel it while the model, which has no answer left, is asked."""
    started = asyncio.ensure_future(carrier.start(Launch("r1", "test", plan_of(COUNTING), {"prompt": "go"})))
    while len(model.asked) < times:  # noqa: ASYNC110  -- the model is asked in another event loop
        await asyncio.sleep(0.02)
    started.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await started


@pytest.fixture(params=[1, 2])
def store_of_before(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A store whose run was stopped while the model was asked again, for the first or the second time, in other words."""
    model = Model(*[None] * request.param)
    real = applying.complaints_by
    with monkeypatch.context() as before:
        before.setattr(
            applying, "complaints_by", lambda by, value: [{**each, "message": WORDS_OF_BEFORE} for each in real(by, value)]
        )
        carrier = engine(tmp_path, model)
        go(stop_when_asked(request.param + 1, carrier, model), 60)
        carrier.close()
    assert len(model.asked) == request.param + 1
    assert WORDS_OF_BEFORE in model.asked[-1].message
    return request.param


@pytest.mark.long
def test_a_run_that_asks_again_in_other_words_goes_on(store_of_before: int, tmp_path: Path) -> None:
    model = Model(7)
    carrier = engine(tmp_path, model)
    assert go(carrier.resume("r1")).status == "waiting"
    assert len(model.asked) == 1, "the answers that were recorded are not asked for again"
    assert model.asked[0].key == f"r1/llmContext1#{store_of_before + 1}"
    assert 'null is not of type "integer"' in model.asked[0].message
    report = go(carrier.answer("r1", "confirm", {"decision": "Approve"}))
    carrier.close()
    assert report.status == "done"
    assert report.record["serverContext1"]["step3_send"] == {"text": "7"}
