"""People agree on the data that they were shown: no answer counts for a request that has changed since, whatever happens."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from time import time
from typing import Any

import pytest
from msgspec.structs import replace
from serving import ANSWER, BOSS, asking, client, go, on, person, service
from written_processes import DECISION, TEXT, call, chunk, process, race, step

from instrc import ActivityError, Retry
from instrc.engines import equip  # what a run has
from instrc.engines.approvals import Vote  # what is recorded
from instrc.engines.dbos.store_client import StoreClient  # what reads runs
from instrc.engines.launch import Launcher  # of what is asked
from instrc.engines.operating import AuditFilter, audit_log  # what is noted of it
from instrc.engines.prepare import Prepared
from instrc.problems.errors import StaleError, UnavailableError
from instrc.runtime.activities import Activities
from instrc.runtime.answers import find_question  # what engines do
from instrc.runtime.interpreter import versions  # the pure interpreter, without an engine
from instrc.runtime.journal import JournalEntry, rebuild_journal
from instrc.runtime.plan import plan_of
from instrc.runtime.questions import Question
from instrc.runtime.retry import ForkOptions, RetryOptions, fork_of, retry_of
from instrc.server.exchange import standings  # what protocols share
from instrc.server.run_service import RunService  # the service itself
from instrc.server.streams import NumberedEvent  # what is told
from instrc.vibes.settings import Settings

ANN = person("ann", "answerer")
TWO = asking(**{"x-approvers": ["ann", "bob"], "x-needed": 2})
RACING = process(
    raceContext1=race(
        (process(serverContext1=chunk(step1_small=call("Small", "prompt"))), "step1_small"),
        (process(serverContext2=chunk(step2_large=call("Large", "prompt"))), "step2_large"),
        key="step3_amount",
    ),
    userContext1=chunk(step4_approve=step(DECISION, "step3_amount")),
    serverContext3=chunk(step5_pay=call("Pay", "step3_amount", TEXT, "step4_approve")),
)

PAYING = process(
    serverContext1=chunk(step1_amount=call("Amount", "prompt")),
    userContext1=chunk(step2_approve=step(DECISION, "step1_amount")),
    userContext2=chunk(step3_go=step(DECISION, "prompt")),
    serverContext2=chunk(step4_fail=call("Fail", "step3_go")),
    serverContext3=chunk(step5_pay=call("Pay", "step1_amount", TEXT, "step2_approve")),
)
OP = person("op", "operator", "answerer")


class Paying:
    """A program that asks for an amount, which a retry changes, and what it has paid."""

    def __init__(self, place: Path, name: str) -> None:
        self.amounts = iter(["ten", "a million"])
        self.begun, self.fails = asyncio.Event(), asyncio.Event()
        self.paid: list[Any] = []
        given = Activities({"Amount": lambda _: {"text": next(self.amounts)}, "Pay": self.pay})
        given.add("Fail", self.fail, retry=Retry(attempts=1))
        self.made = service(place, name=name, records=None if name == "memory" else str(place))
        local = equip.LocalObjects(activities=given)
        self.made.launchers["pay"] = Launcher(Prepared("pay", PAYING, Path(), Settings()), local=local)
        self.made.engine.equip = partial(equip.equip, local=local)  # type: ignore[attr-defined]  # as the process that starts a run has it

    async def fail(self, _given: Any) -> Any:
        if self.begun.is_set():
            return {"text": "well"}
        self.begun.set()
        await self.fails.wait()
        raise ActivityError("down", code="7")

    def pay(self, amount: Any) -> Any:
        self.paid.append(amount)
        return {"text": "paid"}


def test_an_answer_that_waits_behind_a_retry_is_not_one_to_what_the_retry_asks(tmp_path: Path) -> None:
    """An operator makes a run fail in a moment of their choice, and has asked for a retry before the person answers."""

    async def body() -> None:
        case = Paying(tmp_path, "memory")
        made, waits = case.made, waiting(case.made)
        run = (await made.start(BOSS, "pay", "p", wait=20)).report.run
        shown = (await made.question(ANN, run, "userContext1")).question
        doing = [asyncio.ensure_future(made.answer(OP, run, "userContext2", ANSWER))]
        await case.begun.wait()
        waits.clear()
        doing.append(asyncio.ensure_future(made.retry(OP, run, RetryOptions(step="step1_amount"))))
        await waits.wait()
        waits.clear()
        doing.append(asyncio.ensure_future(made.answer(ANN, run, "userContext1", ANSWER, tags=[shown.tag])))
        await waits.wait()
        case.fails.set()
        with pytest.raises(StaleError, match="changed since you saw it"):
            await doing[2]
        await asyncio.gather(*doing[:2])
        assert (await made.question(ANN, run, "userContext1")).question.show == {"step1_amount": {"text": "a million"}}
        assert (case.paid, made.records.votes(run).get("userContext1")) == ([], None)
        noted = audit_log(made.records, AuditFilter(run, "ann"), 9)
        assert [each.action for each in noted] == ["take back", "answer"]
        made.records.close()

    go(body())


def test_an_answer_with_a_secret_that_is_sent_twice_is_not_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run records it masked: the two were compared, found different, and the answer of the run was taken back."""

    async def body() -> None:
        case = Paying(tmp_path, "memory")
        run = (await case.made.start(BOSS, "pay", "p", wait=20)).report.run
        monkeypatch.setenv("SHOP_TOKEN", "open-sesame-7")
        given = {**ANSWER, "comment": "as open-sesame-7 says"}
        sent = [case.made.answer(ANN, run, "userContext1", given, comment="open-sesame-7!") for _ in range(3)]
        await asyncio.gather(*sent, return_exceptions=True)
        [vote] = case.made.records.votes(run)["userContext1"]
        assert (vote.data, vote.comment) == ({**ANSWER, "comment": "as *** says"}, "***!")
        assert await case.made._is_recorded(run, "userContext1", vote.data, {"who": "nobody", "means": "key"})
        assert await case.made._is_recorded(run, "userContext1", "masked by another process", {"who": "ann", "means": "key"})
        noted = audit_log(case.made.records, AuditFilter(run, "ann"), 9)
        assert "take back" not in [each.action for each in noted]
        case.made.records.close()

    go(body())


def waiting(made: RunService) -> asyncio.Event:
    """Return what is set whenever a change of a run waits for the one under way."""
    waits, wait = asyncio.Event(), made.engine._left  # type: ignore[attr-defined]  # where it waits

    async def left(run: str) -> None:
        waits.set()
        await wait(run)

    made.engine._left = left  # type: ignore[attr-defined]  # as above
    return waits


@pytest.mark.long  # a run in a database
def test_an_answer_that_its_carrier_reads_after_a_retry_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def body() -> None:
        case = Paying(tmp_path, "durable")
        made, is_open = case.made, StoreClient.is_open
        run = (await made.start(BOSS, "pay", "p", wait=20)).report.run
        shown = (await made.question(ANN, run, "userContext1")).question

        async def late(self: StoreClient, *given: Any) -> bool:
            found = await is_open(self, *given)
            monkeypatch.setattr(StoreClient, "is_open", is_open)
            case.fails.set()
            await made.engine.answer(run, "userContext2", ANSWER)
            await made.engine.retry(run, RetryOptions(step="step1_amount"))
            return found

        monkeypatch.setattr(StoreClient, "is_open", late)
        with pytest.raises(StaleError, match="changed since you saw it"):
            await made.answer(ANN, run, "userContext1", ANSWER, tags=[shown.tag])
        assert case.paid == []

    go(body())


def test_an_answer_is_lost_if_a_retry_or_a_fork_asks_for_another_amount() -> None:
    """Both branches of a race were recorded, as by a worker that is stopped: without the first, the second one wins."""
    plan, given = plan_of(RACING), {"prompt": "p"}
    begun = rebuild_journal(plan, given, [])
    small, large = [command["id"] for command in versions.issue(plan, begun.state)]
    failed: Any = {"error": {"kind": "failed", "code": "7", "message": "down"}}
    entries: list[JournalEntry] = [
        {"results": [(small, {"ok": {"text": "ten"}}), (large, {"ok": {"text": "a million"}})]},
        {"results": [("userContext1", {"ok": ANSWER, "by": {"who": "ann", "means": "key"}})]},
        {"results": [("serverContext3.step5_pay", failed)]},
    ]
    again = retry_of("r", rebuild_journal(plan, given, entries), RetryOptions(step="step1_small"))
    forked = fork_of("r", rebuild_journal(plan, given, entries), ForkOptions(step="step1_small"), plan, given).entries
    for made in ([*entries, JournalEntry(again=again)], forked):
        journal = rebuild_journal(plan, given, made)
        versions.issue(plan, journal.state)
        [asked] = versions.pending(plan, journal.state)
        assert asked["kind"] == "user"
        assert asked["show"] == {"step3_amount": {"text": "a million"}}


def test_a_question_that_shows_another_value_has_no_earlier_answers(tmp_path: Path) -> None:
    """A run was retried before its failure was written, so the row of the question was never closed."""

    async def body() -> None:
        made = service(tmp_path, pay=TWO)
        run = (await made.start(BOSS, "pay", "ten", wait=20)).report.run
        assert (await made.answer(ANN, run, "userContext1", ANSWER)).report.status == "waiting"
        report = (await made.run(BOSS, run)).report
        [question] = report.questions
        changed = replace(report, questions=(replace(question, show="a million"),))
        write = made.records.note
        assert not made.records.is_noted(changed)
        assert [each.kind for each in write(changed, partial(made.visibility.opening, "pay"))] == [
            "question.closed",
            "question.opened",
        ]
        row = made.records.question(run, question.id)
        assert row is not None
        assert row.question.show == "a million"
        assert [people.votes for people in made.records.people_of([row])] == [()]
        assert write(changed, partial(made.visibility.opening, "pay")) == []
        assert made.records.is_noted(changed)
        made.records.close()

    go(body())


def test_an_approval_counts_while_no_worker_can_report_what_a_run_asks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As after a bad deploy on Temporal; both approve the same value, before and after it is mended."""

    async def body() -> None:
        made = service(tmp_path, pay=TWO)
        run = (await made.start(BOSS, "pay", "ten", wait=20)).report.run
        report = (await made.answer(ANN, run, "userContext1", ANSWER)).report
        bob = person("bob", "operator", "answerer")
        await made.claim(bob, run, "userContext1")
        told = made.records.feed(0)
        with monkeypatch.context() as bad:

            async def show(*_given: object, **_named: object) -> Any:
                return replace(report, status="running", questions=(), unknown=("",))

            bad.setattr(made.engine, "show", show)
            assert (await made.run(BOSS, run)).report.status == "running"
            with pytest.raises(UnavailableError, match="no worker can continue the run"):
                await made.answer(bob, run, "userContext1", ANSWER)
            row = made.records.run(run)
            assert row is not None
            assert (row.status, made.records.feed(0)) == ("waiting", told)
        assert (await made.question(BOSS, run, "userContext1")).claimed_by == "bob"
        assert (await made.answer(bob, run, "userContext1", ANSWER)).report.status == "done"
        made.records.close()

    go(body())


def test_an_approval_is_kept_that_a_run_which_no_worker_can_continue_does_not_take(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def body() -> None:
        made = service(tmp_path, pay=TWO)
        run = (await made.start(BOSS, "pay", "ten", wait=20)).report.run
        report = (await made.answer(ANN, run, "userContext1", ANSWER)).report
        stuck = replace(report, status="running", questions=(), unknown=("",))
        with monkeypatch.context() as bad:

            async def show(*_given: object, **_named: object) -> Any:
                return stuck

            async def answer(*_given: object) -> Any:
                bad.setattr(made.engine, "show", show)
                return find_question([], "userContext1", run, stuck)

            bad.setattr(made.engine, "answer", answer)
            with pytest.raises(UnavailableError):
                await made.answer(person("bob", "answerer"), run, "userContext1", ANSWER)
        assert {each.who for each in made.records.votes(run)["userContext1"]} == {"ann", "bob"}
        made.records.close()

    go(body())


@pytest.mark.parametrize("ends", [False, True])
def test_a_state_that_was_read_earlier_and_is_written_later_changes_nothing(
    ends: bool,  # noqa: FBT001  -- a row
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Several services read the same run: votes and claims would end, and its end would be told twice."""

    async def body() -> None:
        made = service(tmp_path, pay=TWO)
        run = (await made.start(BOSS, "pay", "ten", wait=20)).report.run
        report = (await made.answer(ANN, run, "userContext1", ANSWER)).report
        if ends:
            assert (await made.answer(person("bob", "answerer"), run, "userContext1", ANSWER)).report.status == "done"
        earlier = [report if ends else replace(report, status="running", questions=())]
        told, now = made.records.feed(0), made.engine.show

        async def show(run: str, **named: Any) -> Any:
            return earlier.pop() if earlier else await now(run, **named)

        monkeypatch.setattr(made.engine, "show", show)
        await made.run(BOSS, run)
        assert (earlier, made.records.feed(0)) == ([], told)
        made.records.close()

    go(body())


def test_an_answer_that_is_under_way_while_a_question_is_asked_anew_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def body() -> None:
        made = service(tmp_path, pay=TWO)
        run = (await made.start(BOSS, "pay", "ten", wait=20)).report.run
        take, report = made.records.vote, (await made.run(BOSS, run)).report

        def late(*given: Any) -> Any:
            changed: Question = replace(report.questions[0], show="a million")
            made.records.note(replace(report, questions=(changed,)), partial(made.visibility.opening, "pay"))
            return take(*given)

        monkeypatch.setattr(made.records, "vote", late)
        with pytest.raises(StaleError, match="changed since you saw it"):
            await made.answer(ANN, run, "userContext1", ANSWER)
        assert made.records.votes(run) == {}
        made.records.close()

    go(body())


@pytest.mark.long  # who reads it first waits a while for its carrier to write the row
def test_a_question_is_not_shown_with_the_answers_to_an_earlier_value(tmp_path: Path) -> None:
    """The row of the table is behind the journal, as its carrier was killed: who reads the question has the row written."""

    async def body(made: RunService) -> None:
        run = (await made.start(BOSS, "pay", "ten", wait=20)).report.run
        report = (await made.run(BOSS, run)).report
        [shown] = report.questions
        stale = replace(report, questions=(replace(shown, show="one"),))
        made.records.note(stale, partial(made.visibility.opening, "pay"))
        row = made.records.question(run, shown.id)
        assert row is not None
        made.records.vote(run, shown.id, Vote("ann", "key", max(time(), row.opened), ANSWER), row.opened, None)
        found = await made.question(BOSS, run, "userContext1")
        assert (found.question, found.votes) == (shown, ())

    on(service(tmp_path, name="durable", records=str(tmp_path), pay=TWO), body)


def test_a_question_that_shows_another_value_is_told_to_who_follows_the_run(tmp_path: Path) -> None:
    """Over MCP, A2A and AG-UI; its id is the same."""

    async def body() -> None:
        made = service(tmp_path, pay=TWO)
        info = await made.start(BOSS, "pay", "ten", wait=20)
        changed = replace(info.report, questions=(replace(info.report.questions[0], show="a million"),))
        stands = iter([info, info, replace(info, report=changed)])

        async def run(*_given: Any) -> Any:
            return next(stands)

        async def events(*_given: Any) -> Any:
            for _ in range(3):
                yield NumberedEvent(1, "question", {})

        made.run, made.event_streams.events = run, events  # type: ignore[method-assign,assignment]
        told = [each.report.questions[0].show async for each in standings(made, BOSS, info.report.run)]
        assert told == [info.report.questions[0].show, "a million"]
        made.records.close()

    go(body())


def test_an_answer_over_http_with_the_tag_in_a_list_is_for_what_was_listed(tmp_path: Path) -> None:
    async def body() -> None:
        made = service(tmp_path, pay=TWO)
        run = (await made.start(BOSS, "pay", "ten", wait=20)).report.run
        async with client(made, ANN) as http:
            [listed] = (await http.get("/v1/questions")).json()["items"]
            place = f"/v1/questions/{listed['id']}"
            assert (await http.get(place)).headers["ETag"] == f'"{listed["tag"]}"'
            for tag, status in (("0" * 24, 412), (listed["tag"], 200)):
                sent = await http.post(f"{place}/answer", json={"data": ANSWER}, headers={"If-Match": f'"{tag}"'})
                assert sent.status_code == status
        assert list(made.records.votes(run)) == ["userContext1"]

    go(body())
