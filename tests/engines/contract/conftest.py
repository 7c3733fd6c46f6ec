"""The engines that the contract is held against: each is made from a folder for its store and a way to make effects."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from secrets import token_hex
from typing import Any

import pytest

from instrc import Activities, ModelError, Reply, Request, Retry
from instrc.engines.dbos.durable_engine import DurableEngine  # the engine itself, with effects of the test
from instrc.engines.folder import FolderEngine  # the engine itself, with effects of the test
from instrc.engines.temporal.temporal_engine import TemporalEngine  # the engine itself, with effects of the test
from instrc.runtime.activities import Activity  # one that is registered as it is
from instrc.runtime.effects import Check, Effects
from instrc.runtime.engine_protocol import Engine, Equip
from instrc.runtime.plan import plan_of
from instrc.runtime.retry import RetryOptions
from instrc.runtime.run_config import Launch, OnFailure, RunConfig
from instrc.runtime.run_report import RunReport
from instrc.runtime.traces import Event
from instrc.text.jsonvalue import Json


def on_server(folder: Path, equip: Equip, **more: Any) -> TemporalEngine:
    """Return an engine whose runs have names of their own on the server of all tests."""
    name = token_hex(4)
    return TemporalEngine(folder, equip, queue=f"contract-{name}", prefix=f"{name}-", **more)


ENGINES: dict[str, Callable[..., Engine]] = {
    "memory": FolderEngine,
    "durable": DurableEngine,
    "postgres": DurableEngine,
    "temporal": on_server,
}
"""A driver that is added here has to pass every test beside this file."""
QUICK = Retry(attempts=3, pause=0.001)
SETTLED = {"held", "done", "failed", "stopped", "cancelled", "waiting"}


class Written:
    """A model that is a function from requests to answers."""

    def __init__(self, answer: Callable[[Request], Json]) -> None:
        self._answer = answer

    async def answer(self, request: Request) -> Reply:
        given = self._answer(request)
        if isinstance(given, Exception):
            raise given
        return Reply(given, usage={"input_tokens": 2, "output_tokens": 3})


class Stage:
    """An engine, and what the runs on it are made of."""

    def __init__(self, name: str, folder: Path | str) -> None:
        self.events: list[Event] = []
        self.calls: list[tuple[str, str, Json]] = []
        """Each attempt at an activity: its name, its key, its input."""
        self.model: Callable[[Request], Json] = lambda _request: ModelError("nobody answers")
        self.handlers: dict[str, Any] = {}
        """Functions, each attempt at which is noted; activities as they are; processes."""
        self.checks: dict[str, Check] = {}
        self.watch: Callable[[Event], object] = self.events.append
        self.engine = ENGINES[name](folder, self.equip, watch=self._tell)

    def equip(self, run: str, _plan: Json, config: RunConfig, sink: Any) -> Effects:
        activities = Activities()
        for name, value in self.handlers.items():
            activities.add(name, value if isinstance(value, dict | Activity) else self._noted(name, value), retry=QUICK)
        model = Written(self.model)
        return Effects(run, model, activities, sink, self.checks, model_retry=QUICK, others=lambda _: model, chosen=config.chosen)

    def _tell(self, event: Event) -> None:
        self.watch(event)

    def _noted(self, name: str, handler: Any) -> Any:
        from instrc.runtime.activities import current_call

        async def call(given: Json) -> Json:
            self.calls.append((name, current_call().key, given))
            made = handler(given) if callable(handler) else handler
            return await made if isinstance(made, Awaitable) else made

        return call

    async def start(
        self, document: Json, inputs: Json = None, run: str = "r1", failed: OnFailure | None = None, **options: Any
    ) -> RunReport:
        """Begin a run, and wait until it ends or waits."""
        plan = plan_of(document, activities=list(self.handlers), **options)
        await self.engine.start(Launch(run, "test", plan, inputs or {"prompt": "go"}, RunConfig(failed=failed)))
        return await self.settled(run)

    async def retry(self, step: str | None = None, run: str = "r1", **more: Any) -> RunReport:
        """Retry a run, and wait until it ends or waits."""
        await self.engine.retry(run, RetryOptions(step, **more))
        return await self.settled(run)

    async def answer(self, step: str, data: Json, run: str = "r1") -> RunReport:
        """Answer a question, and wait until the run ends or waits again."""
        await self.engine.answer(run, step, data)
        return await self.settled(run)

    async def settled(self, run: str) -> RunReport:
        """Wait until a run ends or waits."""
        return await self.shown(lambda report: report.status in SETTLED, run)

    async def shown(self, holds: Callable[[RunReport], bool], run: str = "r1") -> RunReport:
        """Wait until something holds for a run."""
        for _ in range(2000):
            report = await self.engine.show(run)
            if holds(report):
                return report
            await asyncio.sleep(0.01)
        pytest.fail(f"{run} goes on for ever")


@pytest.fixture(params=list(ENGINES))
def stage(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    """Return an engine with an empty store."""
    if request.param == "temporal":
        monkeypatch.setenv("TEMPORAL_ADDRESS", request.getfixturevalue("temporal_server").address)
    place: Path | str = tmp_path / "store"
    if request.param == "postgres":
        monkeypatch.chdir(tmp_path)
        server = request.getfixturevalue("postgres_server")
        place = server.fresh(request.getfixturevalue("prepared_database"))
    stage = Stage(request.param, place)
    yield stage
    close = getattr(stage.engine, "close", None)
    if close is not None:
        close()
