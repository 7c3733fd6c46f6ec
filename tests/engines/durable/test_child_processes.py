"""A process that serves an activity ends with the step that waits for it, even if that step ends while the process is started."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from threading import Event
from time import time
from types import SimpleNamespace
from typing import Any, cast

import pytest
import sqlalchemy as sa
from dbos import DBOS
from dbos._error import DBOSWorkflowConflictIDError  # it has no public name
from dbos._sys_db import SystemDatabase  # where the end of a run is recorded
from written_processes import DECISION, call, chunk, process, step

from instrc import Activities, Sample
from instrc.engines.dbos import carrying  # where the store is written
from instrc.engines.dbos import store as dbos_store  # how another process answers
from instrc.engines.dbos.carrying import (  # a child is begun at a moment that no run can choose
    DurablePort,
    Live,
    child_of,
)
from instrc.engines.dbos.durable_engine import DurableEngine  # the engine itself, with effects of the test
from instrc.problems.errors import UnavailableError
from instrc.runtime.activities import Activity  # a process that serves one
from instrc.runtime.effects import Effects
from instrc.runtime.plan import plan_of
from instrc.runtime.run_config import Launch
from instrc.text.jsonvalue import Json

ASKING = process(userContext1=chunk(step1_confirm=step(DECISION, "prompt")))
COMMAND: Any = {
    "kind": "activity", "id": "a1", "step": "step1_trip", "activity": "Trip", "process": None,
    "called": "Trip", "input": "now", "schema": {},
}  # fmt: skip


class Host:
    """Carries runs that take as long to start as a test says."""

    def __init__(self, *, known: bool, leaving: bool = False, fails: bool = False, is_left: bool = False) -> None:
        self._leaving, self._fails, self.is_left = leaving, fails, is_left
        self.ready, self.asked = asyncio.Event(), asyncio.Event()
        self.started: list[str] = []
        self.cancelled: list[str] = []
        self._known = known
        self.claims: Any = self

    def leaves(self, run: str) -> bool:
        assert run
        return self._leaving

    async def row(self, run: str) -> Any:
        assert run
        return SimpleNamespace(status="PENDING", output=None) if self._known else None

    async def begin(self, launch: Any) -> Live:
        return await self._start(launch["run"])

    async def resume(self, run: str) -> Live:
        return await self._start(run)

    async def _start(self, run: str) -> Live:
        self.asked.set()
        await self.ready.wait()
        if self._fails:
            raise OSError(28, "the disk is full")
        self.started.append(run)
        return Live()

    async def cancel(self, run: str) -> None:
        assert run in self.started, "there is nothing to cancel yet"
        self.cancelled.append(run)


async def stopped_early(host: Host) -> None:
    """Begin a child, end the step that waits for it, and only then let the child be started."""
    launch: Any = {"run": "r1", "name": "r1", "plan": plan_of(json.loads(json.dumps(ASKING))), "inputs": {}, "how": {}}
    parent = Live(port=None if host.is_left else cast("DurablePort", host))
    waiting = asyncio.ensure_future(
        child_of(host, launch, dbos_store.journal_of(launch, []), parent, Activities({}))("r1.1", ASKING, COMMAND)
    )
    await host.asked.wait()
    waiting.cancel()
    await asyncio.sleep(0)
    host.ready.set()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await asyncio.sleep(0)


@pytest.mark.parametrize("known", [False, True])
def test_a_child_whose_step_ends_while_it_is_started_is_cancelled_once_it_is_there(*, known: bool) -> None:
    async def check() -> Host:
        host = Host(known=known)
        await stopped_early(host)
        return host

    host = asyncio.run(check())
    assert host.started == host.cancelled == ["r1.1"]


@pytest.mark.parametrize("how", ["leaving", "is_left"])
def test_a_host_that_leaves_its_runs_or_this_one_leaves_the_child_too(how: str) -> None:
    async def check() -> Host:
        host = Host(known=True, leaving=how == "leaving", is_left=how == "is_left")
        await stopped_early(host)
        return host

    assert asyncio.run(check()).cancelled == []


def test_a_child_that_could_not_be_started_needs_no_cancelling() -> None:
    async def check() -> Host:
        host = Host(known=False, fails=True)
        await stopped_early(host)
        return host

    assert asyncio.run(check()).cancelled == []


@pytest.mark.parametrize("retries", [0, 1])
def test_a_process_that_an_operator_has_cancelled_goes_on_only_if_its_caller_is_retried(retries: int) -> None:
    async def check() -> Host:
        host = Host(known=True, leaving=True)
        host.ready.set()

        async def row(_run: str) -> Any:
            return SimpleNamespace(status="CANCELLED", output=None, completed_at=None)

        host.row = row  # type: ignore[method-assign]
        launch: Any = {"run": "r1", "name": "r1", "plan": plan_of(json.loads(json.dumps(ASKING))), "inputs": {}, "how": {}}
        journal = dbos_store.journal_of(launch, [])
        journal.retries = retries
        parent = Live(port=cast("DurablePort", host))
        asked = asyncio.ensure_future(child_of(host, launch, journal, parent, Activities({}))("r1.1", ASKING, COMMAND))
        if retries:
            await host.asked.wait()
            asked.cancel()
        else:
            assert (await asked)["error"]["code"] == "cancelled"  # type: ignore[index,typeddict-item]
        await asyncio.wait({asked})
        return host

    assert asyncio.run(check()).started == ["r1.1"] * retries


ACTING = process(serverContext1=chunk(step1_send=call("Send", "prompt")))


@pytest.mark.parametrize(("place", "served"), [("r1", ASKING), ("r1/serverContext1.a", ACTING), ("r1/serverContext1.a", ASKING)])
@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("folder", sa.exc.OperationalError("", {}, Exception("canceling statement due to statement timeout"))),
        ("folder", DBOSWorkflowConflictIDError("r1")),
        ("postgres", sa.exc.OperationalError("", {}, Exception("canceling statement due to statement timeout"))),
    ],
)
def test_an_error_of_the_store_neither_fails_nor_cancels_what_it_meets(
    kind: str,
    error: BaseException,
    place: str,
    served: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    """A statement that takes too long, or a new owner: the run and the process of its activity are continued."""
    plan = plan_of(process(serverContext1=chunk(a=call("Trip", "prompt", {}), b=call("Wait", "prompt"))))
    store = request.getfixturevalue("postgres_server").fresh() if kind == "postgres" else str(tmp_path)
    asked, failed, record = Event(), Event(), carrying._record

    async def wait(_given: Json) -> Json:
        await asyncio.to_thread(asked.wait, 30)
        return {"text": "b"}

    async def failing(entry: Any) -> None:
        if DBOS.workflow_id == place and not failed.is_set():
            failed.set()
            raise error
        await record(entry)

    def equip(run: str, _plan: Any, _how: Any, sink: Any) -> Effects:
        activities = Activities({"Wait": wait, "Send": lambda _given: {"text": "sent"}})
        activities.add("Trip", Activity("Trip", None, json.loads(json.dumps(served))))

        def tell(event: Any) -> None:
            sink(event)
            if event["event"] == "question":
                asked.set()

        return Effects(run, Sample(), activities, tell)

    async def body() -> None:
        engine = DurableEngine(store, equip)
        answer: Json = {"decision": "Approve"}
        status = ""
        begun = engine.start(Launch("r1", "r1", plan, {"prompt": "x"}))
        while status != "done":
            with suppress(UnavailableError):  # until the failed tasks have ended
                status = (await begun).status
                assert status in (
                    {"done", "waiting"} if isinstance(error, sa.exc.OperationalError) else {"done", "waiting", "running"}
                )
                status = (await engine.answer("r1", "step1_confirm", answer)).status if status == "waiting" else status
            begun = engine.resume("r1")
        begun.close()
        assert failed.is_set()
        engine.close()

    if served is ACTING:
        asked.set()
    monkeypatch.setattr(carrying, "_record", failing)
    monkeypatch.setattr(carrying, "_PATIENCE", 0.01)
    monkeypatch.setattr("instrc.engines.dbos.runner.SERVER_PAUSE", 0.01)
    asyncio.run(asyncio.wait_for(body(), 60))


@pytest.mark.parametrize("place", ["r1", "r1/serverContext1.a"])
@pytest.mark.parametrize("what", ["result", "outcome"])
@pytest.mark.parametrize("kind", ["folder", "postgres"])
def test_a_run_goes_on_by_itself_after_an_error_of_the_store(
    kind: str, what: str, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """Nobody resumes it: a disk was full for a moment, as a result was recorded or the run had ended."""
    plan = plan_of(process(serverContext1=chunk(a=call("Trip", "prompt", {}))))
    store = request.getfixturevalue("postgres_server").fresh() if kind == "postgres" else str(tmp_path)
    error, failed = sa.exc.OperationalError("", {}, Exception("database or disk is full")), list[str]()
    record, end = carrying._record, SystemDatabase.update_workflow_outcome

    def fail(run: str) -> None:
        if run == place and len(failed) < (2 if what == "outcome" else 1):  # DBOS tries twice to record an outcome
            failed.append(run)
            raise error

    async def recorded(entry: Any) -> None:
        fail(str(DBOS.workflow_id))
        await record(entry)

    def ended(database: SystemDatabase, run: str, *rest: Any, **more: Any) -> bool:
        fail(run)
        return end(database, run, *rest, **more)

    def equip(run: str, _plan: Any, _how: Any, sink: Any) -> Effects:
        activities = Activities({"Send": lambda _given: {"text": "sent"}})
        activities.add("Trip", Activity("Trip", None, json.loads(json.dumps(ACTING))))
        return Effects(run, Sample(), activities, sink)

    async def body() -> None:
        engine = DurableEngine(store, equip)
        with pytest.raises(UnavailableError):
            await engine.start(Launch("r1", "r1", plan, {"prompt": "x"}))
        while (report := await engine.show("r1")).status == "running":  # noqa: ASYNC110  -- the run has no event for it
            await asyncio.sleep(0.02)
        assert report.status == "done"
        engine.close()

    for module in ("carrying", "runner"):
        monkeypatch.setattr(f"instrc.engines.dbos.{module}.SERVER_PAUSE", 0.01)
    if what == "result":
        monkeypatch.setattr(carrying, "_record", recorded)
    else:
        monkeypatch.setattr(SystemDatabase, "update_workflow_outcome", ended)
    asyncio.run(asyncio.wait_for(body(), 15))
    assert failed


@pytest.mark.parametrize("kind", ["folder", "postgres"])
def test_the_pause_after_errors_of_the_store_grows(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """A call whose result is never recorded is repeated: on a disk that stays full, it would be paid for every second."""
    plan = plan_of(process(serverContext1=chunk(a=call("Send", "prompt", {}))))
    store = request.getfixturevalue("postgres_server").fresh() if kind == "postgres" else str(tmp_path)
    calls, record = list[float](), carrying._record

    def send(_given: Json) -> Json:
        calls.append(time())
        return {"text": "sent"}

    async def failing(entry: Any) -> None:
        if len(calls) < 4:
            raise sa.exc.OperationalError("", {}, Exception("database or disk is full"))
        await record(entry)

    async def body() -> None:
        engine = DurableEngine(store, lambda run, _plan, _how, sink: Effects(run, Sample(), Activities({"Send": send}), sink))
        with pytest.raises(UnavailableError):
            await engine.start(Launch("r1", "r1", plan, {"prompt": "x"}))
        while (await engine.show("r1")).status == "running":  # noqa: ASYNC110  -- the run has no event for it
            await asyncio.sleep(0.02)
        engine.close()

    monkeypatch.setattr(carrying, "SERVER_PAUSE", 0.2)
    monkeypatch.setattr(carrying, "_record", failing)
    monkeypatch.setattr("instrc.engines.dbos.runner.SERVER_PAUSE", 0.01)
    asyncio.run(asyncio.wait_for(body(), 60))
    pauses = [later - earlier for earlier, later in pairwise(calls)]
    assert len(pauses) == 3 and all(pause > 0.2 * 2**place for place, pause in enumerate(pauses))  # noqa: PT018  -- one fact


@pytest.mark.parametrize("kind", ["folder", "postgres"])
def test_an_answer_that_meets_an_error_of_the_store_is_kept(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """Another process sends it while the run has failed, and is not continued yet: it asks no question just then."""
    asking = {
        "userContext1": chunk(step1_confirm=step(DECISION, "prompt")),
        "serverContext1": chunk(step2_wait=call("Wait", "prompt")),
    }
    plan = plan_of(process(**asking))
    place = request.getfixturevalue("postgres_server").fresh() if kind == "postgres" else str(tmp_path)
    asked, failed, record = Event(), Event(), carrying._record
    letter = dbos_store.Letter("l1", "r1", {"answer": "userContext1", "data": {"step1_confirm": {"decision": "Approve"}}})

    async def wait(_given: Json) -> Json:
        await asyncio.to_thread(asked.wait, 30)
        return {"text": "b"}

    async def failing(entry: Any) -> None:
        if "results" in entry and not failed.is_set():
            await asyncio.to_thread(dbos_store.send, engine.asker.db(), letter)
            failed.set()
            raise sa.exc.OperationalError("", {}, Exception("database or disk is full"))
        await record(entry)

    def equip(run: str, _plan: Any, _how: Any, sink: Any) -> Effects:
        def tell(event: Any) -> None:
            sink(event)
            if event["event"] == "question":
                asked.set()

        return Effects(run, Sample(), Activities({"Wait": wait}), tell)

    async def body() -> str:
        with suppress(UnavailableError):
            await engine.start(Launch("r1", "r1", plan, {"prompt": "x"}))
        assert failed.is_set()
        while (verdict := dbos_store.verdict_of(engine.asker.db(), "l1")) == "open":  # noqa: ASYNC110  -- as in another process
            await asyncio.sleep(0.02)
        return verdict

    monkeypatch.setattr(carrying, "_record", failing)
    monkeypatch.setattr(carrying, "SERVER_PAUSE", 0.01)
    monkeypatch.setattr("instrc.engines.dbos.runner.SERVER_PAUSE", 0.5)
    engine = DurableEngine(place, equip)
    assert asyncio.run(asyncio.wait_for(body(), 60)) == "taken"
    engine.close()
