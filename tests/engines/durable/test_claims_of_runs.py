"""A run is carried once in a process, whoever asks for it, in whatever order that meets with DBOS."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import sqlalchemy as sa
from dbos._core import execute_dequeued_workflow  # `runner.begin_queued` says why
from dbos._sys_db import SystemDatabase  # as above
from written_processes import DECISION, call, chunk, process, step

from instrc import Activities, Sample, current_call
from instrc.engines.dbos import runner, store  # its queue is read at moments that no run can choose
from instrc.engines.dbos.durable_engine import DurableEngine  # the engine itself, with effects of the test
from instrc.engines.dbos.runner import Rest, Runner  # moments of a carrier that no run can choose
from instrc.engines.dbos.sqlite import SqliteStore  # its tables
from instrc.engines.dbos.store import enqueue  # as another process does
from instrc.problems.errors import ConflictError, InstrcError
from instrc.runtime.activities import Activity  # a process that serves one
from instrc.runtime.effects import Effects
from instrc.runtime.engine_protocol import WorkerOptions
from instrc.runtime.plan import plan_of
from instrc.runtime.run_config import Launch
from instrc.runtime.run_report import RunReport

ASK = process(userContext1=chunk(step1_confirm=step(DECISION, "prompt")))
CALL = process(serverContext1=chunk(step1_send=call("Send", "prompt")))


class Stage:
    """A store, and an activity that lasts until it is let go."""

    def __init__(self, folder: Path, slots: int | None = None, serves: Any = None) -> None:
        self.serves = serves
        self.keys: list[str] = []
        self.released = threading.Event()
        self.engine = DurableEngine(folder, self._equip, worker=WorkerOptions(slots=slots))

    def _equip(self, run: str, _plan: Any, _how: Any, sink: Any) -> Effects:
        activities = Activities({"Send": self._send})
        if self.serves is not None:
            activities.add("Trip", Activity("Trip", None, json.loads(json.dumps(self.serves))))
        return Effects(run, Sample(), activities, sink)

    def _send(self, given: Any) -> Any:
        self.keys.append(current_call().key)
        self.released.wait(60)
        return given if isinstance(given, dict) else {"text": given}

    @property
    def runner(self) -> Runner:
        runner = self.engine._runner
        assert runner is not None
        return runner

    def release_after(self, seconds: float) -> None:
        threading.Timer(seconds, self.released.set).start()


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    """A store that this process carries, with a run that waits."""
    made = Stage(tmp_path)
    assert go(made.engine.start(launch("r1", ASK))).status == "waiting"
    yield made
    made.engine.close()


def launch(run: str, document: Any, prompt: str = "go") -> Launch:
    return Launch(run, "test", plan_of(document), {"prompt": prompt})


def until(fits: Callable[[], object]) -> None:
    limit = time.monotonic() + 60
    while not fits():
        assert time.monotonic() < limit, "it takes too long"
        time.sleep(0.05)


def go(work: Any) -> Any:
    return asyncio.run(asyncio.wait_for(work, 240))


def test_a_run_that_dbos_takes_while_it_is_asked_for_is_begun_once(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """The queue is read while `resume` has seen the run there, and has not put it there yet."""
    real = stage.runner.client.list_workflows

    def seen(**how: Any) -> Any:
        rows = real(**how)
        if rows:
            time.sleep(1)
        return rows

    with stage.engine.asker.db().begin() as connection:
        enqueue(stage.engine.asker.client(), connection, launch("r2", CALL).to_json())
    monkeypatch.setattr(stage.runner.client, "list_workflows", seen)
    stage.release_after(3)
    assert go(stage.engine.resume("r2")).status == "done"
    assert stage.keys == ["r2/serverContext1.step1_send"]


def test_a_run_that_dbos_has_just_taken_is_not_put_back_into_the_queue(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run is recorded as taken by this process, which has not begun it yet."""
    taken = threading.Event()

    def begin_later(*given: Any) -> None:
        taken.set()
        threading.Timer(1, execute_dequeued_workflow, given).start()

    monkeypatch.setattr(runner, "execute_dequeued_workflow", begin_later)
    with stage.engine.asker.db().begin() as connection:
        enqueue(stage.engine.asker.client(), connection, launch("r2", CALL).to_json())
    assert taken.wait(60)
    stage.release_after(2)
    assert go(stage.engine.resume("r2")).status == "done"
    assert stage.keys == ["r2/serverContext1.step1_send"]


def test_a_run_that_another_process_has_put_into_the_queue_goes_on(stage: Stage) -> None:
    """DBOS begins it a second time, and records nothing more of the first."""
    stage.released.set()
    queue = stage.runner.lock.queue
    stage.runner.client.resume_workflow("r1", queue_name=queue)
    until(lambda: stage.runner.client.list_workflows(workflow_ids=["r1"])[0].status == "PENDING")
    assert go(stage.engine.answer("r1", "userContext1", {"decision": "Approve"})).status == "done"


def test_a_run_that_has_ended_is_not_cancelled_by_who_would_carry_it(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may have been begun again by a retry since its end was read."""
    stage.released.set()
    assert go(stage.engine.answer("r1", "userContext1", {"decision": "Approve"})).status == "done"
    cancelled: list[str] = []

    async def cancel(run: str) -> None:
        cancelled.append(run)

    monkeypatch.setattr(stage.runner.claims, "cancel", cancel)
    go(stage.runner.away(stage.runner.resume("r1")))
    assert cancelled == []


def test_a_folder_has_as_many_runs_at_once_as_slots(tmp_path: Path) -> None:
    """Those that only wait take none."""
    stage = Stage(tmp_path, slots=2)
    go(stage.engine.claim())
    for run, document in (("asks", ASK), ("r1", CALL), ("r2", CALL), ("r3", CALL)):
        assert go(stage.engine.start(launch(run, document))).status == "running"
        if run == "asks":
            until(lambda: go(stage.engine.show("asks")).status == "waiting")
    until(lambda: len(stage.keys) == 2)
    time.sleep(1)
    assert sorted(stage.keys) == ["r1/serverContext1.step1_send", "r2/serverContext1.step1_send"]
    stage.released.set()
    until(lambda: go(stage.engine.show("r3")).status == "done")
    assert go(stage.engine.answer("asks", "userContext1", {"decision": "Approve"})).status == "done"
    stage.engine.close()


@pytest.fixture
def narrow(tmp_path: Path) -> Iterator[Stage]:
    """A folder that carries one run at once, whose effects end at once."""
    made = Stage(tmp_path, slots=1)
    made.released.set()
    go(made.engine.claim())
    yield made
    made.engine.close()


def test_runs_that_are_answered_at_once_do_not_wait_for_each_other(narrow: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """More of them than there are slots: those in the queue take none."""
    runs = [f"r{number}" for number in range(4)]
    with monkeypatch.context() as patch:
        patch.setattr(runner, "PARK_AFTER", 0.0)
        for run in runs:
            go(narrow.engine.start(launch(run, ASK)))
        until(lambda: narrow.runner.rest.parked.keys() == {*runs})

    async def answered() -> set[str]:
        given = [narrow.engine.answer(run, "userContext1", {"decision": "Approve"}) for run in runs]
        return {report.status for report in await asyncio.gather(*given)}

    assert go(answered()) == {"done"}


def test_runs_that_go_on_with_their_processes_do_not_wait_for_each_other(tmp_path: Path) -> None:
    """After a restart, each of them waits for a process that is in the queue, behind other runs."""
    plan = plan_of(process(serverContext1=chunk(a=call("Trip", "prompt", {}))))
    runs = [f"r{number}" for number in range(2)]
    for slots in (2, 1):
        made = Stage(tmp_path, slots=slots, serves=CALL)
        go(made.engine.claim())
        if slots == 2:
            for run in runs:
                go(made.engine.start(Launch(run, run, plan, {"prompt": "go"})))
            until(lambda keys=made.keys: len(keys) == 2)  # type: ignore[misc]  # a default is not inferred
        else:
            made.released.set()
            for run in runs:
                go(made.runner.away(made.runner.resume(run)))
            until(lambda engine=made.engine: all(go(engine.show(run)).status == "done" for run in runs))  # type: ignore[misc]  # as above
        made.engine.close()
        made.released.set()


def test_a_run_that_is_left_as_it_is_taken_leaves_its_slot(narrow: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run above it is parked just then; it is continued like others that were left."""
    real, left = Runner.leaves, list[str]()

    def leaves(self: Runner, run: str) -> bool:
        if run == "r1" and not left:
            left.append(run)
            return True
        return real(self, run)

    monkeypatch.setattr(Runner, "leaves", leaves)
    for run in ("r1", "r2"):
        go(narrow.engine.start(launch(run, CALL)))
    until(lambda: go(narrow.engine.show("r2")).status == "done")
    assert (left, go(narrow.engine.resume("r1")).status) == (["r1"], "done")


def test_a_run_that_parks_itself_is_not_taken_for_one_that_is_carried(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """After an error of the store; it is asked for before its task has ended."""
    asked: list[asyncio.Task[Any]] = []

    async def ask(_run: str) -> None:
        asked.append(asyncio.ensure_future(stage.runner.resume("r1")))
        for _ in range(5):  # until it waits
            await asyncio.sleep(0)

    async def erring() -> None:
        await stage.runner.claims.carried_by("r1")
        await stage.runner.park("r1", time.time() + 60)
        raise asyncio.CancelledError

    async def body() -> bool:
        task = asyncio.ensure_future(erring())
        await asyncio.wait([task])
        return (await asked[0]).task is not task

    monkeypatch.setattr(stage.runner, "_end_tasks", ask)
    assert go(stage.runner.away(body()))
    monkeypatch.undo()
    assert go(stage.engine.answer("r1", "userContext1", {"decision": "Approve"})).status == "done"


def test_a_run_that_is_cancelled_as_it_is_taken_leaves_its_slot(narrow: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """DBOS begins no such run."""
    real = SystemDatabase.get_workflow_statuses

    def cancelled_before(self: Any, runs: list[str]) -> Any:
        if "r1" in runs:
            narrow.runner.client.cancel_workflow("r1")
        return real(self, runs)

    monkeypatch.setattr(SystemDatabase, "get_workflow_statuses", cancelled_before)
    for run in ("r1", "r2"):
        go(narrow.engine.start(launch(run, CALL)))
    until(lambda: go(narrow.engine.show("r2")).status == "done")
    assert go(narrow.engine.show("r1")).status == "cancelled"


def test_a_run_that_ends_while_others_are_taken_leaves_its_slot(narrow: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    def ended(*given: Any) -> None:
        execute_dequeued_workflow(*given)
        until(lambda: given[1]["workflow_uuid"] in {key.partition("/")[0] for key in narrow.keys})
        until(lambda: not narrow.runner.live)

    monkeypatch.setattr(runner, "execute_dequeued_workflow", ended)
    for run in ("r1", "r2"):
        go(narrow.engine.start(launch(run, CALL)))
        until(lambda run=run: go(narrow.engine.show(run)).status == "done")  # type: ignore[misc]  # a default is not inferred


def test_a_run_that_is_put_into_the_queue_amid_an_effect_goes_on(stage: Stage) -> None:
    async def both() -> RunReport:
        begun = asyncio.ensure_future(stage.engine.start(launch("r2", CALL)))
        await asyncio.to_thread(until, lambda: stage.keys)
        await asyncio.to_thread(stage.runner.client.resume_workflow, "r2", queue_name=stage.runner.lock.queue)
        await asyncio.to_thread(until, lambda: len(stage.keys) > 1)
        stage.released.set()
        return await begun

    assert go(both()).status == "done"
    assert stage.keys == ["r2/serverContext1.step1_send"] * 2
    repeated = [event["key"] for event in stage.engine.trace_from("r2")[0] if event["event"] == "repeated"]
    assert repeated == ["r2/serverContext1.step1_send"]


@pytest.mark.parametrize("in_threads", [False, True], ids=["tasks", "threads"])
def test_a_run_begun_several_times_at_once_is_one(stage: Stage, *, in_threads: bool) -> None:
    stage.release_after(1)

    async def begun() -> list[RunReport]:
        work = [stage.engine.start(launch("r2", CALL)) for _ in range(4)]
        return await asyncio.gather(*([asyncio.to_thread(go, each) for each in work] if in_threads else work))

    assert [report.status for report in go(begun())] == ["done"] * 4
    assert stage.keys == ["r2/serverContext1.step1_send"]


def test_of_two_runs_of_one_name_begun_at_once_one_is_refused(stage: Stage) -> None:
    stage.released.set()

    async def begun() -> list[RunReport | BaseException]:
        both = (stage.engine.start(launch("r2", CALL, prompt)) for prompt in ("one", "other"))
        return await asyncio.gather(*both, return_exceptions=True)

    said = [
        each.problems[0].name if isinstance(each, InstrcError) else getattr(each, "status", repr(each)) for each in go(begun())
    ]
    assert sorted(said) == ["done", "run-exists"]
    assert len(stage.keys) == 1


def test_a_run_that_is_cancelled_while_it_is_put_into_the_queue_stays_so(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    stage.engine.close()
    other = DurableEngine(stage.engine.location.folder, stage._equip)
    other._open()
    carrier = other._runner
    assert carrier is not None
    real = carrier.client.resume_workflow

    def cancelled_before(run: str, **how: Any) -> Any:
        carrier.loop.wait(carrier.claims.cancel(run))
        return real(run, **how)

    monkeypatch.setattr(carrier.client, "resume_workflow", cancelled_before)
    assert go(other.resume("r1")).status == "cancelled"
    other.close()


def test_a_run_that_is_cancelled_is_not_gone_on_with(stage: Stage) -> None:
    assert go(stage.engine.cancel("r1")).status == "cancelled"
    with pytest.raises(ConflictError, match="`r1` cannot continue: it was cancelled"):
        go(stage.engine.resume("r1"))


def test_a_run_is_cancelled_by_a_program_that_does_not_carry_the_runs_too(stage: Stage) -> None:
    other = DurableEngine(stage.engine.location.folder, stage._equip)
    assert go(other.cancel("r1")).status == "cancelled"
    assert go(stage.engine.show("r1")).status == "cancelled"
    other.close()


def test_a_run_that_is_carried_after_all_may_be_lost_as_others(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only a run that this process cannot carry is left as it is."""

    def cannot(*_: object) -> Effects:
        raise ConflictError([])

    with monkeypatch.context() as once:
        once.setattr(stage.engine, "equip", cannot)
        with pytest.raises(ConflictError):
            go(stage.engine.start(launch("r2", ASK)))
    assert stage.runner.claims.unable == {"r2"}
    assert go(stage.engine.resume("r2")).status == "waiting"
    assert not stage.runner.claims.unable


def test_a_run_that_nobody_recorded_is_not_carried(stage: Stage) -> None:
    claims = stage.runner.claims
    assert go(claims.take_up("nobody", None)).task is None
    assert "nobody" not in claims.live


def test_a_worker_reads_no_message_to_a_run_of_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of a project whose workers are away may be many and long, and are asked for several times a second."""
    engine = SqliteStore(str(tmp_path)).open()
    store.create(engine)
    for run in ("theirs", "mine/child"):
        store.send(engine, store.Letter(run, run, {"answer": "a", "data": "x"}))
    dealt: list[str] = []
    read: list[store.Letter] = []

    def unread(place: sa.Engine, run: str | None = None) -> list[store.Letter]:
        read.extend(found := known(place, run))
        return found

    async def body() -> None:
        async def deal(letter: store.Letter) -> None:
            dealt.append(letter.id)
            await asyncio.Event().wait()

        monkeypatch.setattr(rest, "_deal_with", deal)
        for _ in range(2):
            await rest._read()
            await asyncio.sleep(0)

    known = store.unread
    monkeypatch.setattr(store, "unread", unread)
    shared = SimpleNamespace(own=lambda runs, _projects: runs & {"mine"})
    claims = SimpleNamespace(parked={})
    rest = Rest(cast("Runner", SimpleNamespace(engine=engine, shared=shared, claims=claims, options=WorkerOptions())))
    asyncio.run(body())
    assert dealt == [letter.id for letter in read] == ["mine/child"]
    store.close_engine(engine)
