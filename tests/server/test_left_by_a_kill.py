"""What a kill leaves behind is mended by whoever goes on: each test writes it into the store, begins a service, and looks."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from pathlib import Path
from time import time
from typing import Any, NoReturn

import pytest
import sqlalchemy as sa
from postgres_server import Database
from serving import ANN, ANSWER, BOB, BOSS, RunService, asking, go, on, service, settled
from written_processes import DECISION, chunk, process, step

from instrc.engines.approvals import Opening, Vote, digest_of  # written as by a process that has ended then
from instrc.engines.dbos.durable_engine import DurableEngine  # what a kill stops
from instrc.engines.hosts import engine_of
from instrc.engines.operating import AuditFilter, audit_log  # what is noted of it
from instrc.engines.run_table import runs_query  # what it leaves
from instrc.problems.errors import AnswerError, ConflictError, GoneError, UnavailableError, UnreachableError
from instrc.problems.runs import RejectedAnswer, UnusableStore
from instrc.runtime.questions import Question
from instrc.runtime.run_config import RunConfig
from instrc.runtime.run_report import RunFilter, RunReport
from instrc.runtime.traces import trace_file  # a kill loses lines of it
from instrc.server.operators import act_on_runs  # what erases it
from instrc.server.records import Records  # the same
from instrc.text.jsonvalue import Json

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")
TWO = process(
    userContext1=chunk(step1_approve=step(DECISION, "prompt")), userContext2=chunk(step2_confirm=step(DECISION, "step1_approve"))
)
"""Two people are asked, one after the other."""
FIRST, SECOND = "userContext1", "userContext2"
Work = Callable[[RunService], Coroutine[Any, Any, Any]]


def killed(*_given: object) -> NoReturn:
    """Do what comes after it no more."""
    raise OSError("the process is killed here")


def durable(folder: Path) -> RunService:
    """Return a service whose runs and records outlive it."""
    return service(folder, name="durable", records=str(folder), two=TWO)


async def asked(made: RunService, question: str, run: str) -> None:
    """Wait until a run asks a question."""
    for _ in range(1000):
        if [each.id for each in (await made.run(BOSS, run)).report.questions] == [question]:
            return
        await asyncio.sleep(0.01)
    raise AssertionError(question)


async def begun(made: RunService) -> str:
    run = (await made.start(ANN, "two", "x", wait=30)).report.run
    await asked(made, FIRST, run)
    return run


async def told(made: RunService, run: str) -> list[tuple[str, str]]:
    """Return which answers the trace has, and of whom."""
    return [
        (event["id"], event["by"]["who"]) for event in (await made.event_streams.trace(BOSS, run))[0] if event["event"] == "told"
    ]


def changes(made: RunService, run: str) -> list[tuple[str, Any]]:
    """Return what the feed tells of the questions of a run."""
    return [
        (each.kind, each.body.get("who"))
        for each in made.records.feed(0)
        if each.run == run and each.kind.startswith("question.") and each.body["question"] == FIRST
    ]


@pytest.mark.parametrize("lost", ["told", "settled", ""])
def test_a_trace_has_each_answer_once_whatever_a_kill_has_lost_of_it(tmp_path: Path, lost: str) -> None:
    """The mark of an answer is lost with the end of the trace; or it is there, and the answer was not recorded."""

    async def before(made: RunService) -> str:
        run = await begun(made)
        await made.answer(ANN, run, FIRST, ANSWER)
        await asked(made, SECOND, run)
        return run

    async def after(made: RunService) -> None:
        await made.answer(BOB, run, SECOND, ANSWER)
        await settled(made, run, "done")
        assert await told(made, run) == [(FIRST, "ann"), (SECOND, "bob")]

    run = on(durable(tmp_path), before)
    file = trace_file(tmp_path, run)
    lines = file.read_text().splitlines(keepends=True)
    [place] = [place for place, line in enumerate(lines) if '"told"' in line]
    kept = {"told": lines[:place], "settled": lines[: place + 1], "": lines}[lost]
    file.write_text("".join(kept))
    on(durable(tmp_path), after)


def test_an_answer_that_was_told_and_not_recorded_is_told_once(tmp_path: Path) -> None:
    async def before(made: RunService) -> tuple[str, str]:
        answered, run = await begun(made), await begun(made)
        await made.answer(ANN, answered, FIRST, ANSWER)
        return answered, run

    async def after(made: RunService) -> None:
        await made.answer(ANN, run, FIRST, ANSWER)
        await asked(made, SECOND, run)
        assert await told(made, run) == [(FIRST, "ann")]

    answered, run = on(durable(tmp_path), before)
    [line] = [line for line in trace_file(tmp_path, answered).read_text().splitlines() if '"told"' in line]
    with trace_file(tmp_path, run).open("a") as file:
        file.write(line.replace(answered, run) + "\n")
    on(durable(tmp_path), after)


def test_an_answer_is_told_of_though_its_service_was_killed(tmp_path: Path) -> None:
    """Its run has taken the answer in; nobody has noted that the question is closed, and by whom."""

    async def after(made: RunService) -> None:
        for _ in range(2):
            await made.run(BOSS, run)
            assert changes(made, run) == [("question.opened", None), ("question.answered", ["ann"]), ("question.closed", None)]

    run = on(durable(tmp_path), begun)
    records = Records(str(tmp_path))
    shown = records.question(run, FIRST)
    assert shown is not None
    records.vote(run, FIRST, Vote("ann", "key", time(), ANSWER), shown.opened, None)
    records.close()
    engine = engine_of("durable", tmp_path)
    go(engine.answer(run, FIRST, ANSWER, {"who": "ann", "means": "key"}))
    engine.close()
    on(durable(tmp_path), after)


def test_a_vote_that_decides_nothing_is_looked_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a question shows may be long, and it may wait for weeks."""
    monkeypatch.setattr("instrc.server.run_service._LEFT", 0.0)
    monkeypatch.setattr("instrc.server.run_service._APART", 0.0)

    async def body(made: RunService) -> None:
        run = (await made.start(ANN, "pay", "x", wait=30)).report.run
        made._looking.cancel()  # it would look at the vote first
        await made.answer(ANN, run, FIRST, ANSWER)
        read, rows = made.records.question, list[str]()
        made.records.question = lambda *place: rows.append(place[1]) or read(*place)  # type: ignore[method-assign, func-returns-value]  # noted
        for _ in range(3):
            await made._finish_votes()
        assert rows == [FIRST]
        await made.answer(BOB, run, FIRST, ANSWER)
        await settled(made, run, "done")

    on(service(tmp_path, pay=asking(**{"x-approvers": ["ann", "bob"], "x-needed": 2})), body)


def test_a_service_goes_on_looking_after_its_engine_was_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a cluster is that begins anew: answers of services that have died are delivered all the same."""
    monkeypatch.setattr("instrc.server.run_service.LOOK", 0.01)

    async def body(made: RunService) -> None:
        looked, again = list[object](), asyncio.Event()

        async def away(*given: object) -> NoReturn:
            looked.append(given)
            if len(looked) > 1:
                again.set()
            raise UnreachableError([UnusableStore(store="cluster", reason="it begins anew")])

        monkeypatch.setattr(made.engine, "runs", away)
        seen = asyncio.create_task(again.wait())
        await asyncio.wait({made._looking, seen}, return_when=asyncio.FIRST_COMPLETED)
        assert again.is_set()

    on(service(tmp_path, pay=asking()), body)


def test_an_answer_that_its_run_refuses_after_a_kill_is_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise nobody else could give another one."""
    monkeypatch.setattr("instrc.server.run_service._LEFT", 0.0)

    async def body(made: RunService) -> None:
        run = (await made.start(ANN, "pay", "x", wait=30)).report.run
        made._looking.cancel()  # it would look at the vote first
        opened = (await made.question(BOSS, run, FIRST)).opened
        made.records.vote(run, FIRST, Vote("ann", "key", time(), ANSWER), opened, None)

        async def refuse(*_given: object) -> NoReturn:
            raise AnswerError([RejectedAnswer(step=FIRST, pointer="", reason="it does not fit")])

        with monkeypatch.context() as patched:
            patched.setattr(made.engine, "answer", refuse)
            await made._finish_votes()
        log = audit_log(made.records, AuditFilter(run), 9)
        assert [(row.who, row.action) for row in log][:2] == [("ann", "take back"), ("ann", "answer")]
        await made.answer(BOB, run, FIRST, {"decision": "Reject"})
        await settled(made, run, "stopped")

    on(service(tmp_path, pay=asking()), body)


@pytest.mark.parametrize("data", [ANSWER, {"decision": "Reject"}])
def test_an_answer_that_did_not_reach_its_run_is_sent_again(tmp_path: Path, data: dict[str, str]) -> None:
    """It was noted, and its service was killed: the same one reaches the run now, another one does not count."""

    async def body(made: RunService) -> None:
        run = (await made.start(ANN, "pay", "x", wait=30)).report.run
        opened = (await made.question(BOSS, run, FIRST)).opened
        made.records.vote(run, FIRST, Vote("ann", "key", time(), ANSWER), opened, None)
        if data == ANSWER:
            await made.answer(ANN, run, FIRST, data)
            await settled(made, run, "done")
            assert await told(made, run) == [(FIRST, "ann")]
        else:
            with pytest.raises(ConflictError) as raised:
                await made.answer(ANN, run, FIRST, data)
            assert raised.value.problems[0].name == "question-not-free"

    on(service(tmp_path, pay=asking()), body)


@pytest.mark.parametrize("ends", [True, False])
def test_the_same_answer_of_the_same_person_again_changes_nothing(tmp_path: Path, ends: bool) -> None:  # noqa: FBT001  -- a row
    async def body(made: RunService) -> None:
        run = (await made.start(ANN, "pay" if ends else "two", "x", wait=30)).report.run
        for _ in range(3):
            assert (await made.answer(ANN, run, FIRST, ANSWER)).report.run == run
            await (settled(made, run, "done") if ends else asked(made, SECOND, run))
        assert await told(made, run) == [(FIRST, "ann")]
        assert [kind for kind, _ in changes(made, run)] == ["question.opened", "question.answered", "question.closed"]
        assert len(audit_log(made.records, AuditFilter(run, action="answer"), 9)) == 1
        for caller, data in ((BOSS, ANSWER), (ANN, {"decision": "Reject"})):
            with pytest.raises(ConflictError) as raised:
                await made.answer(caller, run, FIRST, data)
            assert raised.value.problems[0].name == "no-such-question"

    on(service(tmp_path, pay=asking(), two=TWO), body)


def test_an_answer_that_is_sent_twice_at_once_is_taken_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second request has seen the question open, and comes to the run when that has the answer of the first."""

    async def body(made: RunService) -> None:
        run = (await made.start(ANN, "two", "x", wait=30)).report.run
        deliver, seen = made.engine.answer, asyncio.Event()
        waiting: list[str] = []

        async def both(*given: Any) -> Any:
            waiting.append(given[1])
            if len(waiting) == 2:
                seen.set()
            await seen.wait()
            return await deliver(*given)

        monkeypatch.setattr(made.engine, "answer", both)
        found = await asyncio.gather(*(made.answer(ANN, run, FIRST, ANSWER) for _ in range(2)))
        assert [info.report.run for info in found] == [run, run]
        await asked(made, SECOND, run)
        assert await told(made, run) == [(FIRST, "ann")]
        assert [kind for kind, _ in changes(made, run)] == ["question.opened", "question.answered", "question.closed"]

    on(service(tmp_path, two=TWO), body)


def test_of_two_answers_at_once_the_first_counts_and_the_other_person_hears_of_it(tmp_path: Path) -> None:
    """The first one is noted, and its request has not come to the run yet."""

    async def body(made: RunService) -> None:
        run = (await made.start(ANN, "pay", "x", wait=30)).report.run
        opened = (await made.question(BOSS, run, FIRST)).opened
        made.records.vote(run, FIRST, Vote("ann", "key", time(), ANSWER), opened, None)
        with pytest.raises(ConflictError, match="answered already"):
            await made.answer(BOB, run, FIRST, {"decision": "Reject"})
        assert [vote.who for vote in made.records.votes(run)[FIRST]] == ["ann"]
        await made.answer(ANN, run, FIRST, ANSWER)
        assert (await settled(made, run, "done")).report.record["userContext1"] == {"step1_approve": ANSWER}

    on(service(tmp_path, pay=asking()), body)


def test_of_two_answers_under_one_name_at_once_one_is_taken(tmp_path: Path) -> None:
    """Where callers are not told apart, all have one name: the answer that does not count must not be told "taken"."""

    async def body(made: RunService) -> None:
        for number in range(4):
            run = (await made.start(ANN, "pay", "x", run=f"pay-{number}", wait=30)).report.run
            sent: list[Json] = [{"decision": "Approve"}, {"decision": "Reject"}]
            given = await asyncio.gather(*(made.answer(ANN, run, FIRST, data) for data in sent), return_exceptions=True)
            taken = [data for data, found in zip(sent, given, strict=True) if not isinstance(found, Exception)]
            assert [type(found) for found in given if isinstance(found, Exception)] == [ConflictError]
            [recorded] = [result["ok"] for command, result in (await made.engine.journal(run))[1].results if command == FIRST]
            assert taken == [recorded]

    on(service(tmp_path, pay=asking()), body)


def test_an_answer_that_came_by_another_way_is_not_taken_for_this_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command line answers after the request has seen the question open."""

    async def body(made: RunService) -> None:
        run = (await made.start(ANN, "pay", "x", wait=30)).report.run
        deliver = made.engine.answer

        async def later(*given: Any) -> Any:
            await deliver(run, FIRST, ANSWER)
            return await deliver(*given)

        monkeypatch.setattr(made.engine, "answer", later)
        with pytest.raises(ConflictError, match="no open question"):
            await made.answer(BOB, run, FIRST, {"decision": "Reject"})
        assert not made.records.votes(run)

    on(service(tmp_path, pay=asking()), body)


def test_a_key_that_was_kept_before_a_kill_begins_its_run(tmp_path: Path) -> None:
    """Its service was killed before the run had begun: whoever sends the key again gets the run that was meant."""

    async def body(made: RunService) -> None:
        sent: Json = ["pay", "x", None, {}]
        assert made.records.reserve(digest_of(["ann", "k"]), digest_of(sent), "pay-kept") == (digest_of(sent), "pay-kept")
        assert (await made.start(ANN, "pay", "x", key="k", wait=30)).report.run == "pay-kept"

    on(service(tmp_path, pay=asking()), body)


def at_once(url: str, work: Callable[[Records, str], Any]) -> list[Any]:
    """Do something in two servers on one database, the second while the first is held just before it is written; return both."""
    slow_one, go_on = threading.Event(), threading.Event()
    first, second = Records(url), Records(url)

    @sa.event.listens_for(first.engine, "commit")
    def wait(_connection: sa.Connection) -> None:
        slow_one.set()
        assert go_on.wait(60)

    with ThreadPoolExecutor() as pool:
        made = [pool.submit(work, first, "first")]
        assert slow_one.wait(60)
        made.append(pool.submit(work, second, "second"))
        assert not wait_for(made, timeout=0.2).done
        go_on.set()
        return [each.result() for each in made]


def test_two_requests_with_one_key_begin_one_run(postgres_server: Database) -> None:
    kept = at_once(postgres_server.fresh(), lambda records, run: records.reserve("ann|k", "digest", run))
    assert kept == [("digest", "first")] * 2


def test_two_servers_that_see_a_run_begin_tell_of_it_once(postgres_server: Database) -> None:
    question = Question(FIRST, ("step1_approve",), "x", DECISION, "person")
    report = RunReport("r1", "pay", "waiting", None, (question,), 1000.0, config=RunConfig(starter="ann"))

    def note(records: Records, _name: str) -> list[str]:
        opening = Opening(["*"])
        return [each.kind for each in records.note(report, lambda _question: opening)]

    first, second = at_once(postgres_server.fresh(), note)
    assert (first, second) == (["run.started", "question.opened", "run.waiting"], [])


@pytest.mark.parametrize("erases", [False, True])
@pytest.mark.parametrize(
    ("name", "step"),
    [
        ("memory", "folder.forget_beside"),
        ("durable", "dbos.store.forget"),
        ("durable", "run_table.RunTable.forget_all"),
    ],
)
def test_a_deletion_that_was_interrupted_is_begun_again(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    step: str,
    erases: bool,  # noqa: FBT001  -- a row
) -> None:
    """The engine has the run no more; its votes, its metadata and its trace are there."""

    async def body(made: RunService) -> None:
        run = (await made.start(ANN, "pay", "x", wait=30, metadata={"customer": "4711"})).report.run
        await asked(made, FIRST, run)
        await made.answer(ANN, run, FIRST, ANSWER)
        await settled(made, run, "done")
        with monkeypatch.context() as patched:
            patched.setattr(f"instrc.engines.{step}", killed)
            with pytest.raises((OSError, UnavailableError)):
                await made.delete(BOSS, run)
        if erases:
            chosen = RunFilter(metadata={"customer": "4711"})
            assert (await act_on_runs(made, BOSS, "erase", chosen, dry_run=False)).reasons == (None,)
        else:
            await made.delete(BOSS, run)
        assert not made.records.votes(run)
        assert not made.records.runs(runs_query())
        assert not trace_file(tmp_path, run).exists()
        with pytest.raises(GoneError):
            await made.delete(BOSS, run)

    on(service(tmp_path, name=name, records=str(tmp_path), pay=asking()), body)


def test_a_start_is_recorded_before_its_run_is_in_the_queue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder has the runs in one file and the audit log in another."""

    async def body(made: RunService) -> None:
        assert isinstance(made.engine, DurableEngine)
        made.engine.starts_by_queue = True  # as with `--carry 1`
        monkeypatch.setattr(made.engine.rows, "add", killed)
        with pytest.raises(UnavailableError):
            await made.start(ANN, "two", "x", run="kept")
        assert (await made.engine.show("kept")).status == "running"
        assert [(row.who, row.action) for row in audit_log(made.records, AuditFilter("kept"), 9)] == [("ann", "start")]

    on(durable(tmp_path), body)


def test_a_cancelled_run_asks_nobody_though_its_service_was_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def body(made: RunService) -> None:
        run = await begun(made)
        assert isinstance(made.engine, DurableEngine)
        with monkeypatch.context() as patched:
            patched.setattr(made.engine.rows, "note", killed)
            with pytest.raises(OSError, match="killed"):
                await made.cancel(BOSS, run)
        assert (await made.run(BOSS, run)).report.status == "cancelled"
        assert not (await made.questions(BOSS)).rows
        assert [row.status for row in (await made.runs(BOSS)).rows] == ["cancelled"]

    on(durable(tmp_path), body)
