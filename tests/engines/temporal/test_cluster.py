"""Runs on a real Temporal server: workers and the server are killed, histories are begun anew and replayed."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import time
from base64 import b64decode
from collections.abc import Callable, Coroutine, Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from secrets import token_hex
from typing import Any

import pytest
import sqlalchemy as sa
from applications import run_in_app
from msgspec import structs
from temporal_server import Server, started
from temporalio.client import WorkflowExecutionStatus, WorkflowHandle, WorkflowHistory, WorkflowUpdateFailedError
from temporalio.service import RPCError, RPCStatusCode
from temporalio.worker import Replayer
from working import MEETING, ROUNDS, equipped
from written_processes import ASK, DECISION, TEXT, HalfTold, call, chunk, process, step

import instrc
from instrc import Activities, ActivityError, InstrcError, Scripted
from instrc.engines.approvals import Opening, Vote  # written as by a service
from instrc.engines.retention import sweep  # what a service does each hour
from instrc.engines.run_table import questions_query
from instrc.engines.schedules import Clock
from instrc.engines.service_tables import RUNS  # a row is made old
from instrc.engines.temporal import documents  # the wire, and a workflow without a server
from instrc.engines.temporal.connection import converter, trouble  # what is kept beside a history, and words for failures
from instrc.engines.temporal.temporal_engine import ServerClient, TemporalEngine  # the engine itself, with effects of the test
from instrc.engines.temporal.worker import runner  # a history is replayed as workers do
from instrc.engines.temporal.workflow import RunWorkflow  # a workflow without a server
from instrc.problems.errors import ConflictError, NotFoundError, UnreachableError
from instrc.runtime.effects import Effects
from instrc.runtime.interpreter import versions
from instrc.runtime.plan import plan_of
from instrc.runtime.retry import RetryOptions
from instrc.runtime.run_config import Launch, RunConfig
from instrc.runtime.traces import trace_file
from instrc.server.access import Caller  # who deletes
from instrc.server.records import Records  # written as by a service
from instrc.server.run_service import RunService  # what lies beside a run is its
from instrc.vibes.service_settings import RetentionSettings  # without a file

GOLDEN = Path(__file__).with_name("golden.json")
"""A history that an earlier version of this project has written."""


def go(work: Coroutine[Any, Any, Any], span: float = 240) -> Any:
    return asyncio.run(asyncio.wait_for(work, span))


class Cluster:
    """A server, a task queue, and workers in processes of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.queue = f"cluster-{token_hex(4)}"
        self.workers: dict[str, subprocess.Popen[bytes]] = {}

    def engine(self, **more: Any) -> TemporalEngine:
        return TemporalEngine(self.folder / "client", equipped(self.folder, "free"), queue=self.queue, prefix=self.queue, **more)

    def work(self, name: str, *more: str) -> None:
        program = Path(__file__).with_name("working.py")
        command = [sys.executable, str(program), str(self.folder), self.queue, self.queue, name, *more]
        self.workers[name] = subprocess.Popen(command)

    def kill(self, name: str) -> None:
        worker = self.workers.pop(name)
        worker.kill()
        worker.wait()

    def log(self) -> list[list[str]]:
        file = self.folder / "log"
        return [line.split(" ", 2) for line in file.read_text().splitlines()] if file.exists() else []

    def until(self, seen: Callable[[list[list[str]]], bool]) -> None:
        deadline = time.monotonic() + 60
        while not seen(self.log()):
            assert time.monotonic() < deadline, self.log()
            time.sleep(0.05)


@pytest.fixture
def cluster(tmp_path: Path, temporal_server: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    monkeypatch.setenv("TEMPORAL_ADDRESS", temporal_server.address)
    made = Cluster(tmp_path)
    yield made
    for name in list(made.workers):
        made.kill(name)


async def begun(engine: TemporalEngine, document: Any, prompt: Any, run: str = "r1") -> None:
    """Begin a run without serving it."""
    attending = engine._attend

    async def nothing(run: str) -> Any:
        return None

    engine._attend = nothing  # type: ignore[method-assign]
    await engine.start(Launch(run, "test", plan_of(document), {"prompt": prompt}))
    engine._attend = attending  # type: ignore[method-assign]


async def shown(engine: TemporalEngine, status: str, run: str = "r1") -> Any:
    """Wait until a run stands so, without serving it."""
    while True:
        report = await engine.show(run)
        if report.status == status:
            return report
        assert report.status in {"running", "waiting"}, report
        await asyncio.sleep(0.2)


def test_two_workers_share_a_run_and_one_takes_over_when_the_other_is_killed(cluster: Cluster) -> None:
    (cluster.folder / "hold").touch()
    cluster.work("one")
    engine = cluster.engine(heartbeat=2.0)
    go(begun(engine, MEETING, [1, 2, 3, 4]))
    cluster.until(lambda log: any(what == "began" for what, *_ in log))
    cluster.kill("one")
    (cluster.folder / "hold").unlink()
    cluster.work("two")
    cluster.work("three")
    report = go(shown(engine, "waiting"))
    assert [question.steps for question in report.questions] == [("step3_confirm",)]

    async def approve() -> Any:
        engine.only_asks = True  # the workers carry the run, this process only asks
        report = await engine.answer("r1", "confirm", {"decision": "Approve"})
        engine.only_asks = False
        return report

    report = go(approve())
    assert report.outcome["value"] == ["1", "2", "3", "4"]
    done = [key for what, _, key in cluster.log() if what == "did"]
    assert sorted(set(done)) == sorted(done), "nothing that was recorded is done again"
    tried = [(name, key) for what, name, key in cluster.log() if what == "began" and key.endswith("step2_fetch")]
    assert tried[0][0] == "one"
    assert len(tried) == 2
    assert len({key for _, key in tried}) == 1, "a second attempt carries the same key"


@pytest.mark.long
def test_a_run_goes_on_when_the_server_was_killed_and_begins_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with started(tmp_path) as server:
        if server.kind != "temporal":
            pytest.skip(f"the server `{server.kind}` cannot be killed, or keeps nothing")
        monkeypatch.setenv("TEMPORAL_ADDRESS", server.address)
        cluster = Cluster(tmp_path)
        (tmp_path / "hold").touch()
        cluster.work("one")
        try:
            engine = cluster.engine()
            go(begun(engine, MEETING, [1, 2]))
            cluster.until(lambda log: any(what == "began" for what, *_ in log))
            server.kill()
            (tmp_path / "hold").unlink()
            cluster.until(lambda log: any(what == "did" and key.endswith("fetch") for what, _, key in log))
            with pytest.raises(InstrcError) as raised:
                go(engine.show("r1"))
            assert raised.value.problems[0].name == "unusable-store"
            server.begin()
            assert go(shown(cluster.engine(), "waiting")).questions
            report = go(cluster.engine().answer("r1", "confirm", {"decision": "Approve"}))
            assert report.outcome["value"] == ["1", "2"]
        finally:
            for name in list(cluster.workers):
                cluster.kill(name)


def test_a_history_is_begun_anew_and_answers_and_deadlines_go_along(cluster: Cluster) -> None:
    engine = cluster.engine(events=40)

    async def body() -> None:
        report = await engine.start(Launch("r1", "test", plan_of(ROUNDS), {"prompt": "go"}))
        assert {step for question in report.questions for step in question.steps} == {"step3_ask", "step4_ask"}
        handle = (await engine._client()).get_workflow_handle(cluster.queue + "r1")
        latest = await handle.describe()
        first = (await handle.fetch_history()).events[0].workflow_execution_started_event_attributes
        assert first.continued_execution_run_id, "the history was begun anew"
        assert latest.history_length < 60
        carried = (await (await engine._client()).data_converter.decode(first.input.payloads, [Any]))[0]["carried"]
        assert any(name.endswith("!within") for name in carried["due"]), "a deadline is a moment, not a span"
        report = await engine.answer("r1", "step3_ask", {"decision": "Approve"})
        with pytest.raises(InstrcError):
            await engine.answer("r1", "step3_ask", {"decision": "Approve"})
        report = await engine.answer("r1", "step4_ask", {"decision": "Approve"})
        assert report.status == "done"

    go(body())
    turns = [key for what, _, key in cluster.log() if what == "did"]
    assert len(turns) == len(set(turns)) == 30


def test_answers_that_are_not_read_yet_go_along(cluster: Cluster) -> None:
    engine = cluster.engine()

    async def body() -> None:
        plan = plan_of(ROUNDS)
        state = versions.begin(plan, {"prompt": "go"})
        versions.issue(plan, state)
        client = await engine._client()
        launch = {
            "run": "r9",
            "name": "t",
            "plan": plan,
            "inputs": {},
            "how": {},
            "digest": "d",
            "heartbeat": 5.0,
            "events": None,
            "attributes": False,
            "carried": {"state": state, "due": {}, "later": [], "unread": {"userContext1": {"ok": {"decision": "Approve"}}}},
        }
        memo = {"name": "t", "how": {}, "begun": ""}
        await client.start_workflow(documents.WORKFLOW, launch, id=cluster.queue + "r9", task_queue=cluster.queue, memo=memo)
        report = await engine.resume("r9")
        assert [question.id for question in report.questions] == ["userContext2"]

    go(body())


def test_large_values_are_kept_beside_the_history(cluster: Cluster) -> None:
    engine = cluster.engine()
    text = "long " * 600_000

    async def body() -> None:
        report = await engine.start(Launch("r1", "test", plan_of(MEETING), {"prompt": [text]}))
        report = await engine.answer("r1", "confirm", {"decision": "Approve"})
        assert report.outcome["value"] == [text]
        history = await (await engine._client()).get_workflow_handle(cluster.queue + "r1").fetch_history()
        assert sum(event.ByteSize() for event in history.events) < 100_000

    go(body())
    assert list((cluster.folder / "client" / "blobs").rglob("*"))


def test_a_golden_history_is_replayed_and_a_changed_interpreter_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    history = WorkflowHistory.from_json("golden", json.loads(GOLDEN.read_text()))

    async def replayed() -> None:
        replayer = Replayer(workflows=[RunWorkflow], workflow_runner=runner(), data_converter=converter(tmp_path))
        await replayer.replay_workflow(history)

    go(replayed())
    real = versions.issue

    def backwards(plan: Any, state: Any) -> Any:
        return [{**command, "id": f"{command['id']}x"} for command in real(plan, state)]

    monkeypatch.setattr(versions, "issue", backwards)
    with pytest.raises(Exception, match=r"(?i)nondeterminism"):
        go(replayed())


def test_a_history_whose_model_was_asked_again_in_other_words_is_replayed(tmp_path: Path) -> None:
    """The version that wrote it said what is wrong in Python's words: no replay compares them."""
    written = GOLDEN.with_name("golden-asked-again.json").read_text()
    inputs = [b64decode(text).decode() for text in re.findall(r'"data": "([^"]+)"', written)]
    assert any("None is not of type 'integer'" in each for each in inputs)
    history = WorkflowHistory.from_json("golden", json.loads(written))

    async def replayed() -> None:
        replayer = Replayer(workflows=[RunWorkflow], workflow_runner=runner(), data_converter=converter(tmp_path))
        await replayer.replay_workflow(history)

    go(replayed())


def test_a_secret_is_found_in_no_history(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = "sk-very-secret-456123"
    monkeypatch.setenv("PROVIDER_API_KEY", secret)
    engine = cluster.engine()

    async def body() -> bytes:
        await engine.start(Launch("r1", "test", plan_of(MEETING), {"prompt": [secret]}))
        with pytest.raises(InstrcError):
            await engine.answer("r1", "confirm", {"decision": secret})
        await engine.answer("r1", "confirm", {"decision": "Approve", "comment": secret})
        history = await (await engine._client()).get_workflow_handle(cluster.queue + "r1").fetch_history()
        return b"".join(event.SerializeToString() for event in history.events)

    assert secret.encode() not in go(body())
    for file in cluster.folder.rglob("*"):
        assert not file.is_file() or secret.encode() not in file.read_bytes(), file


def test_no_server_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEMPORAL_ADDRESS", "127.0.0.1:1")
    engine = TemporalEngine(tmp_path, equipped(tmp_path, "free"))
    with pytest.raises(UnreachableError) as raised:
        go(engine.runs())
    assert raised.value.problems[0].name == "unusable-store"


def test_parts_of_an_answer_are_told_in_the_process_that_asks_for_them(
    temporal_server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEMPORAL_ADDRESS", temporal_server.address)
    told: list[Any] = []

    program = '@{ title: "A", type: "object", properties: { text: { type: "string" } }, required: ["text"] }'
    store, parts = tmp_path / "runs", lambda part: told.append((part.value, part.complete))
    run = run_in_app(program, "a", model=HalfTold(), engine="temporal", store=store, parts=parts)
    instrc.close_stores()
    assert (run.status, told) == ("done", [({"text": "De"}, ()), ({"text": "Dear"}, ("text",))])


def test_parts_of_an_answer_come_from_another_worker(cluster: Cluster, postgres_server: Any, prepared_database: Any) -> None:
    place = postgres_server.fresh(prepared_database)
    (cluster.folder / "hold").touch()
    cluster.work("one", place)
    engine = cluster.engine(traces=place)
    go(begun(engine, MEETING, [1]))
    parts: list[Any] = []
    cluster.until(lambda _: bool(parts.extend(engine.parts_of(["r1"])) or parts))
    (cluster.folder / "hold").unlink()
    assert (parts[0].run, parts[0].steps, parts[0].value) == ("r1", ("step1_people",), {"step1_people": {"text": "half"}})
    assert engine.parts_of(["another"]) == []
    assert cluster.engine().parts_of(["r1"]) == []
    engine.close()


@pytest.mark.parametrize(
    ("times", "status"), [(1, RPCStatusCode.CANCELLED), (2, RPCStatusCode.CANCELLED), (3, RPCStatusCode.RESOURCE_EXHAUSTED)]
)
def test_a_worker_that_answers_late_is_asked_again(
    times: int, status: RPCStatusCode, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As is a server that has many queries of the run already."""
    late = [RPCError("Timeout expired", status, b"")] * times  # what the library says of its own limit of time
    query = WorkflowHandle.query

    async def slow(self: Any, *given: Any, **named: Any) -> Any:
        if late:
            raise late.pop()
        return await query(self, *given, **named)

    monkeypatch.setattr(WorkflowHandle, "query", slow)
    start = cluster.engine().start(Launch("r1", "test", plan_of(MEETING), {"prompt": [1]}))
    if times != 2:
        assert go(start).status == "waiting"
    else:
        with pytest.raises(UnreachableError, match="Timeout expired"):
            go(start)


def test_a_process_that_cannot_be_asked_leaves_the_questions_of_the_others_open(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A vote for what they show would not count any more."""
    inner = process(userContext1=chunk(step1_ask=step(DECISION, "prompt")))
    outer = process(serverContext1=chunk(step1_in=call("Inner", "prompt"), step2_in=call("Inner", "prompt")))

    def equip(run: str, _plan: Any, _how: Any, sink: Any) -> Effects:
        activities = Activities()
        activities.add("Inner", inner)
        return Effects(run, Scripted({}), activities, sink)

    engine = TemporalEngine(cluster.folder / "client", equip, queue=cluster.queue, prefix=cluster.queue)
    asked, answers = ServerClient._asked, [None, RPCError("workflow not found", RPCStatusCode.NOT_FOUND, b"")]

    async def other(self: ServerClient, workflow: str) -> Any:
        if not workflow.endswith("step1_in"):
            return await asked(self, workflow)
        if (answer := answers.pop()) is None:
            return None  # no worker can continue it
        raise answer  # the server is about to begin it

    async def body() -> None:
        async with engine._served(carry=True):
            report = await engine.start(Launch("r1", "test", plan_of(outer), {"prompt": "x"}))
            assert [each.id for each in report.questions] == [f"serverContext1.step{n}_in/userContext1" for n in (1, 2)]
            monkeypatch.setattr(ServerClient, "_asked", other)
            begins, stuck = await engine.show("r1"), await engine.show("r1")
            assert begins.questions == stuck.questions == report.questions[1:]
            assert (begins.unknown, stuck.unknown) == ((), ("serverContext1.step1_in/",))

    go(body())


def test_what_the_core_of_the_library_complains_of_is_said_in_a_few_words() -> None:
    told = 'Failed client connect: tonic::transport::Error(Transport, ConnectError("tcp", Os { message: "Connection refused" }))'
    with pytest.raises(UnreachableError, match="cannot be used: connection refused"), trouble():
        raise RuntimeError(told)


def test_an_answer_to_what_a_question_showed_before_is_refused_where_it_is_taken(cluster: Cluster) -> None:
    """Also if it has changed since the process that sends the answer has seen it."""
    engine = cluster.engine()

    async def body() -> None:
        report = await engine.start(Launch("r1", "test", plan_of(ASK), {"prompt": "x"}))
        [asked] = report.questions
        handle = (await engine._client()).get_workflow_handle(f"{cluster.queue}r1")
        letter: documents.AnswerMessage = {"answer": asked.id, "tag": "0" * 24, "data": {"decision": "Approve"}}
        async with engine._served(carry=True):
            with pytest.raises(WorkflowUpdateFailedError):
                await handle.execute_update(documents.ANSWER, letter)
            assert len((await engine.show("r1")).questions) == 1
        assert (await engine.answer("r1", asked.shown_id, {"decision": "Approve"})).status == "done"

    go(body())


def test_a_run_of_another_task_queue_is_missing(cluster: Cluster) -> None:
    """Services of two task queues share a server, but neither keys nor people."""
    engine, launch = cluster.engine(), Launch("r1", "test", plan_of(ASK), {"prompt": "x"})
    other = TemporalEngine(cluster.folder / "other", equipped(cluster.folder, "free"), queue="other", prefix=cluster.queue)

    async def body() -> None:
        async with engine._served(carry=True):  # else nobody could tell
            await refused()

    async def refused() -> None:
        [asked] = (await engine.start(launch)).questions
        await engine.schedule("daily", Clock("0 6 * * *"), launch)
        assert await other.runs() == []
        assert await other.schedules() == []
        assert [report.run for report in await engine.runs()] == ["r1"]
        for work in (
            other.show("r1"),
            other.answer("r1", asked.shown_id, {"decision": "Approve"}),
            other.cancel("r1"),
            other.journal("r1"),
            other.retry("r1", RetryOptions()),
            other.delete("r1"),
        ):
            with pytest.raises(NotFoundError, match="task queue `other`"):
                await work
        with pytest.raises(ConflictError, match="r1"):
            await other.start(launch)
        for change in (other.trigger("daily"), other.pause("daily", paused=True), other.unschedule("daily")):
            with pytest.raises(InstrcError, match="there is none with this name"):
                await change
        assert [each.due is None for each in await engine.schedules()] == [False]
        await engine.unschedule("daily")
        assert (await engine.answer("r1", asked.shown_id, {"decision": "Approve"})).status == "done"

    go(body())


def test_of_two_retries_of_a_failed_run_one_begins_it_again(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if the other has already ended: it would repeat what has been done since."""
    called: list[str] = []

    def work(given: Any) -> Any:
        called.append(given)
        if len(called) == 1:
            raise ActivityError("down", retry=False)
        return {"text": "done"}

    def equip(run: str, _plan: Any, _how: Any, sink: Any) -> Effects:
        activities = Activities()
        activities.add("Work", work)
        return Effects(run, Scripted({}), activities, sink)

    engines = [TemporalEngine(cluster.folder, equip, queue=cluster.queue, prefix=cluster.queue) for _ in range(2)]
    document = process(serverContext1=chunk(step1_a=call("Work", "prompt", TEXT)))

    async def body() -> None:
        launch = Launch("r1", "test", plan_of(document), {"prompt": "x"}, RunConfig(failed="fail"))
        assert (await engines[0].start(launch)).status == "failed"

        begin = engines[0]._begin_again

        async def late(*given: Any) -> None:
            assert (await engines[1].retry("r1", RetryOptions())).status == "done"
            await begin(*given)

        monkeypatch.setattr(engines[0], "_begin_again", late)
        first = (await engines[0].retry("r1", RetryOptions())).began
        assert (await engines[1].show("r1")).began == first
        assert called == ["x", "x"]

    go(body())


def test_a_passing_error_of_the_server_begins_no_process_anew(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[str] = []
    inner = process(serverContext1=chunk(step1_a=call("Book", "prompt"), step2_b=call("Pay", "step1_a.text")))

    def pay(given: Any) -> Any:
        if called.count("pay") == 0:
            called.append("pay")
            raise ActivityError("no", retry=False)
        return {"text": given}

    def equip(run: str, _plan: Any, _how: Any, sink: Any) -> Effects:
        activities = Activities()
        activities.add("Inner", inner)
        activities.add("Book", lambda _given: called.append("book") or {"text": "booked"})
        activities.add("Pay", pay)
        return Effects(run, Scripted({}), activities, sink)

    engine = TemporalEngine(cluster.folder, equip, queue=cluster.queue, prefix=cluster.queue)
    query = WorkflowHandle.query

    async def late(self: Any, *given: Any, **named: Any) -> Any:
        if "/" in self.id:
            raise RPCError("the server restarts", RPCStatusCode.UNAVAILABLE, b"")
        return await query(self, *given, **named)

    async def body() -> None:
        document = process(serverContext1=chunk(step1_in=call("Inner", "prompt")))
        launch = Launch("r1", "test", plan_of(document), {"prompt": "x"}, RunConfig(failed="fail"))
        assert (await engine.start(launch)).status == "failed"
        with monkeypatch.context() as restarting:
            restarting.setattr(WorkflowHandle, "query", late)
            with suppress(UnreachableError):
                await engine.retry("r1", RetryOptions())
        assert (await engine.resume("r1")).status == "done"
        assert called == ["book", "pay"]

    go(body())


@pytest.mark.long
def test_a_workflow_task_may_think_for_seconds(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    """As long as a condition needs that selects among very many elements: else the task would be tried again for ever."""
    real, turns = versions.issue, iter([2.5])

    def slowly(plan: Any, state: Any) -> Any:
        time.sleep(next(turns, 0))
        return real(plan, state)

    monkeypatch.setattr(versions, "issue", slowly)
    engine = cluster.engine()

    async def body() -> None:
        assert (await engine.start(Launch("r1", "test", plan_of(ASK), {"prompt": "x"}))).status == "waiting"
        history = await (await engine._client()).get_workflow_handle(f"{cluster.queue}r1").fetch_history()
        assert next(turns, None) is None
        assert not [event for event in history.events if event.HasField("workflow_task_failed_event_attributes")]

    go(body())


@pytest.mark.long
def test_a_run_that_no_worker_can_continue_is_terminated(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any) -> Any:
        raise RuntimeError("as after a change of the interpreter")

    engine = cluster.engine()

    async def body() -> None:
        monkeypatch.setattr(versions, "issue", fails)
        monkeypatch.setattr(documents, "TASK_TIME", timedelta(seconds=2))  # after which the server tries again
        begun = asyncio.create_task(engine.start(Launch("r1", "test", plan_of(ASK), {"prompt": "x"})))
        async with asyncio.timeout(120):
            while True:
                with suppress(InstrcError):
                    described = await (await engine._reader()).described("r1")
                    if described.raw_description.pending_workflow_task.attempt >= 3:
                        break
                await asyncio.sleep(0.05)
            assert (await engine.cancel("r1")).status == "cancelled"
            begun.cancel()
            await asyncio.gather(begun, return_exceptions=True)
            await engine.delete("r1")

    go(body())


@pytest.mark.long
@pytest.mark.parametrize("stuck", ["parent", "child"])
def test_an_operator_ends_a_run_that_no_worker_can_continue_with_its_children(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch, stuck: str
) -> None:
    inner = process(userContext1=chunk(step1_ask=step(DECISION, "prompt")))
    outer = process(
        serverContext1=chunk(step1_in=call("Inner", "prompt")), userContext1=chunk(step2_ask=step(DECISION, "prompt"))
    )
    issue = versions.issue

    def fails(plan: Any, state: Any) -> Any:
        if (plan["process"] == inner) is (stuck == "child"):
            raise RuntimeError("as after a change of the interpreter")
        return issue(plan, state)

    def equip(run: str, _plan: Any, _how: Any, sink: Any) -> Effects:
        activities = Activities()
        activities.add("Inner", inner)
        return Effects(run, Scripted({}), activities, sink)

    engine = TemporalEngine(cluster.folder / "client", equip, queue=cluster.queue, prefix=cluster.queue)
    made = RunService({}, engine, Records(str(engine.place)))
    boss = Caller("boss", roles={"*": frozenset({"operator"})}, by="key")

    async def body() -> None:
        monkeypatch.setattr(documents, "TASK_TIME", timedelta(seconds=2))  # after which the server tries again
        async with engine._served(carry=True), asyncio.timeout(60):
            report = await engine.start(Launch("r1", "test", plan_of(outer), {"prompt": "x"}))
            [below] = [each.id.rpartition("/")[0] for each in report.questions if "/" in each.id]
            client = await engine._client()
            parent, child = (client.get_workflow_handle(f"{cluster.queue}{name}") for name in ("r1", f"r1/{below}"))
            handle, asked = (child, "step1_ask") if stuck == "child" else (parent, "step2_ask")
            monkeypatch.setattr(versions, "issue", fails)
            [question] = [each.id.rpartition("/")[2] for each in report.questions if asked in each.steps]
            await handle.signal(f"{documents.ANSWER}-signal", {"answer": question, "data": {"decision": "Approve"}})
            while (await handle.describe()).raw_description.pending_workflow_task.attempt < 3:  # noqa: ASYNC110  -- of a server
                await asyncio.sleep(0.05)
            assert (await made.run(boss, "r1")).report.has_ended is False
            assert (await made.cancel(boss, "r1")).report.status == "cancelled"
            while (await child.describe()).status == WorkflowExecutionStatus.RUNNING:  # noqa: ASYNC110  -- of a server
                await asyncio.sleep(0.05)

    go(body())


@pytest.mark.parametrize("way", ["delete", "erase", "sweep"])
def test_of_a_run_whose_history_the_server_has_deleted_nothing_is_left(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """A server deletes histories after some days: the names, the answers and the trace are beside it."""
    engine = cluster.engine()
    records = Records(str(engine.place))
    made = RunService({}, engine, records)
    boss = Caller("boss", roles={"*": frozenset({"admin"})}, by="key")
    trace = trace_file(engine.place, "r1")

    async def ended() -> None:
        how = RunConfig(starter="ann", metadata={"customer": "4711"})
        report = await engine.start(Launch("r1", "test", plan_of(ASK), {"prompt": "x"}, how))
        records.note(report, lambda _question: Opening(["bob"]))
        vote = Vote("bob", "key", time.time(), {"decision": "Approve"}, "a comment")
        records.vote("r1", report.questions[0].id, vote, records.questions(questions_query(run="r1"))[0].opened, None)
        records.note(await engine.answer("r1", "confirm", {"decision": "Approve"}), lambda _question: Opening(["bob"]))

    async def body() -> None:
        await ended()
        assert trace.exists()
        monkeypatch.setattr(engine, "prefix", f"{cluster.queue}gone-")
        with pytest.raises(NotFoundError):
            await made.delete(Caller("zed", roles={"*": frozenset({"viewer"})}), "r1")
        with pytest.raises(NotFoundError):
            await engine.delete("r2")
        assert trace.exists()
        if way == "sweep":
            with records.engine.begin() as connection:
                connection.execute(sa.update(RUNS).values(ended=1.0))
            await sweep(engine, records, {**structs.asdict(RetentionSettings()), "runs": 3600.0})
        else:
            await made.delete(boss, "r1", action=way)
        assert not trace.exists()
        row = records.run("r1")
        assert row is not None
        assert (row.status, row.starter, row.metadata) == ("deleted", "erased:", {})
        assert records.votes("r1") == {}
        with pytest.raises(NotFoundError):
            await engine.delete("r1")

    go(body())
    records.close()
