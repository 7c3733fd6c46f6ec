"""People agree on the data that they were shown: no answer counts for a request that has changed since, whatever happens."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from time import time
from typing import Any

import pytest
from msgspec.structs import replace
from serving import ANSWER, BOSS, asking, go, on, person, service
from written_processes import DECISION, TEXT, call, chunk, process, race, step

from instrc.engines.approvals import Vote  # what is recorded
from instrc.problems.errors import StaleError
from instrc.runtime.interpreter import versions  # the pure interpreter, without an engine
from instrc.runtime.journal import JournalEntry, rebuild_journal
from instrc.runtime.plan import plan_of
from instrc.runtime.questions import Question
from instrc.runtime.retry import ForkOptions, RetryOptions, fork_of, retry_of
from instrc.server.run_service import RunService  # the service itself

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


@pytest.mark.parametrize("looks", [False, True])
def test_a_question_that_shows_another_value_has_no_earlier_answers(looks: bool, tmp_path: Path) -> None:  # noqa: FBT001
    """A run was retried before its failure was written, so the row of the question was never closed."""

    async def body() -> None:
        made = service(tmp_path, pay=TWO)
        run = (await made.start(BOSS, "pay", "ten", wait=20)).report.run
        assert (await made.answer(ANN, run, "userContext1", ANSWER)).report.status == "waiting"
        report = (await made.run(BOSS, run)).report
        [question] = report.questions
        changed = replace(report, questions=(replace(question, show="a million"),))
        write = made.records.note_changed if looks else made.records.note
        assert [each.kind for each in write(changed, partial(made.visibility.opening, "pay"))] == [
            "question.closed",
            "question.opened",
        ]
        row = made.records.question(run, question.id)
        assert row is not None
        assert row.question.show == "a million"
        assert [people.votes for people in made.records.people_of([row])] == [()]
        assert write(changed, partial(made.visibility.opening, "pay")) == []
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
