"""The service of runs: the same on every engine, whoever asks."""

from __future__ import annotations

import asyncio
from pathlib import Path
from time import time
from typing import Any

import pytest
import sqlalchemy as sa
from every_case import every_case
from serving import ANN, ANSWER, BOB, BOSS, CAT, RunService, asking, launcher, on, person, service, settled
from written_processes import DECISION, TEXT, chunk, is_, process, repeat, step

from instrc import AnswerError, find_run
from instrc.cli import main
from instrc.engines import service_tables  # rows are taken away
from instrc.engines.approvals import Vote  # written as by a process that has ended then
from instrc.engines.dbos.store_client import report_of  # of a row as another process leaves it
from instrc.engines.hosts import engine_of
from instrc.engines.launch import Launcher
from instrc.engines.operating import AuditFilter, audit_log  # what the commands read
from instrc.engines.prepare import Prepared
from instrc.engines.run_table import RunChange  # of another process
from instrc.problems.errors import NotFoundError, RateLimitError, StaleError
from instrc.problems.runs import RejectedAnswer
from instrc.runtime.questions import Question
from instrc.runtime.retry import ForkOptions, RetryOptions
from instrc.runtime.run_report import RunFilter
from instrc.server.operators import act_on_runs  # what an action does
from instrc.server.records import Records  # what is left in it is looked at
from instrc.vibes.service_settings import PeopleSettings, ServiceSettings  # without a file
from instrc.vibes.settings import Settings

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")


def test_a_run_that_goes_on_after_a_turn_has_not_ended(tmp_path: Path) -> None:
    async def body(made: RunService) -> None:
        run = (await made.start(ANN, "letter", "write", wait=30)).report.run
        asker: Any = made.engine.asker  # type: ignore[attr-defined]  # of this engine
        row = await asker.row(run)
        row.completed_at = 1_000
        report = await asker.ask(lambda client: report_of(client, row, whole=False))
        assert (report.status, report.ended) == ("waiting", None)

    on(service(tmp_path, name="durable"), body)


@pytest.mark.long
def test_a_run_is_started_found_and_answered_on_every_engine(store: tuple[str, Any]) -> None:
    name, place = store

    async def body(made: RunService) -> None:
        began = await made.start(ANN, "letter", "write", key="k", metadata={"case": "7"}, wait=30)
        run = began.report.run
        assert (began.report.status, began.starter, began.metadata) == ("waiting", "ann", {"case": "7"})
        assert [row.run for row in (await made.runs(ANN, RunFilter(metadata={"case": "7"}))).rows] == [run]  # type: ignore[union-attr]
        [asked] = (await made.questions(BOB, mine=True)).rows
        assert (asked.run, asked.question.steps) == (run, ("step2_approve",))  # type: ignore[union-attr]
        again = await made.start(ANN, "letter", "write", key="k", metadata={"case": "7"}, wait=30)
        assert again.report.run == run
        done = await made.answer(BOB, run, asked.question.id, ANSWER, comment="fine")  # type: ignore[union-attr]
        assert (await settled(made, run, "done")).report.outcome["status"] == "done", done
        assert (await made.questions(BOB)).rows == ()
        kinds = [change.kind for change in made.records.feed(0)]
        assert kinds[0] == "run.started"
        assert {"question.opened", "question.answered", "run.done"} <= {*kinds}
        await made.delete(BOSS, run)
        with pytest.raises(NotFoundError):
            await made.run(BOSS, run)

    on(service(place, name=name), body)


@every_case("name", ["memory", "durable"])
def test_a_start_that_is_repeated_after_its_run_was_cancelled_returns_it(name: str, tmp_path: Path) -> None:
    async def body(made: RunService) -> None:
        run = (await made.start(ANN, "letter", "write", key="k", wait=30)).report.run
        await made.cancel(BOSS, run)
        again = await made.start(ANN, "letter", "write", key="k", wait=30)
        assert (again.report.run, again.report.status) == (run, "cancelled")
        assert sorted(row.action for row in audit_log(made.records, AuditFilter(), 9)) == ["cancel", "start"]

    on(service(tmp_path / name, name=name, records=str(tmp_path / name)), body)


@pytest.mark.long
@pytest.mark.parametrize("store", ["memory", "temporal"], indirect=True)
def test_a_service_that_writes_the_table_finds_runs_of_other_processes(store: tuple[str, Any]) -> None:
    name, place = store
    others = engine_of(name, place)  # type: ignore[arg-type]  # one of two names

    async def body(made: RunService) -> None:
        async def reads(status: str, asked: int) -> None:
            for _ in range(600):
                rows = {row.run: row.status for row in (await made.runs(BOSS)).rows}  # type: ignore[union-attr]
                questions = (await made.questions(BOSS)).rows
                if (rows.get("theirs"), len(questions)) == (status, asked):
                    return
                await asyncio.sleep(0.1)
            raise AssertionError(rows, questions)

        await made.start(ANN, "ask", "x", run="ours", wait=20)
        await others.start(launcher("ask", asking()).launch("x", "theirs"))
        await reads("waiting", 2)
        await others.answer("theirs", "userContext1", ANSWER)
        await reads("done", 1)
        kinds = [change.kind for change in made.records.feed(0) if change.run == "theirs"]
        assert kinds == ["run.started", "question.opened", "run.waiting", "question.closed", "run.done"]

    try:
        on(service(place, name=name, ask=asking()), body)
    finally:
        close = getattr(others, "close", None)
        if close is not None:
            close()


def test_a_vote_that_decides_reaches_its_run_though_its_process_has_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("instrc.server.run_service._LEFT", 0.0)

    async def body(made: RunService) -> None:
        run = (await made.start(ANN, "pay", "x", wait=30)).report.run
        await made.answer(ANN, run, "userContext1", ANSWER)
        opened = (await made.question(BOSS, run, "userContext1")).opened
        made.records.vote(run, "userContext1", Vote("bob", "key", time(), ANSWER), opened, None)
        assert (await settled(made, run, "done")).report.status == "done"
        told = next(event for event in (await made.event_streams.trace(BOSS, run))[0] if event["event"] == "told")
        assert told["by"] == {"who": "ann, bob", "means": "key"}

    on(service(tmp_path, pay=asking(**{"x-needed": 2})), body)


def test_votes_count_for_the_question_as_it_was_asked_then(tmp_path: Path) -> None:
    async def body(made: RunService) -> None:
        run = (await made.start(ANN, "pay", "x", wait=30)).report.run
        await made.answer(ANN, run, "userContext1", ANSWER)
        await made.answer(BOB, run, "userContext1", {"decision": "Reject"})
        await settled(made, run, "stopped")
        await made.retry(BOSS, run, RetryOptions("step1_approve"))
        assert (await made.question(BOSS, run, "userContext1")).votes == ()
        for voter, status in ((BOB, "waiting"), (ANN, "done")):
            await made.answer(voter, run, "userContext1", ANSWER)
            await settled(made, run, status)

    on(service(tmp_path, pay=asking(**{"x-needed": 2})), body)


def test_a_question_is_seen_and_answered_by_whom_it_was_given_to(tmp_path: Path) -> None:
    async def body(made: RunService) -> None:
        run = (await made.start(ANN, "pay", "x", wait=30)).report.run
        with pytest.raises(NotFoundError):
            await made.question(CAT, run, "userContext1")
        await made.claim(BOB, run, "userContext1")
        await made.claim(BOB, run, "userContext1", to="cat")
        assert [each.run for each in (await made.questions(CAT, claimed=True)).rows] == [run]
        await made.answer(CAT, run, (await made.question(CAT, run, "userContext1")).question.id, ANSWER)
        assert (await settled(made, run, "done")).starter == "ann"

    settings = ServiceSettings(people={"pay.approve": PeopleSettings(("bob",))})
    on(service(tmp_path, settings=settings, pay=asking()), body)


def test_questions_are_listed_for_who_sees_their_program_holds_or_may_answer_them(tmp_path: Path) -> None:
    people = {"letter.approve": PeopleSettings(("group:leads",))}
    operator, viewer = person("op", "operator", program="letter"), person("vic", "viewer", program="letter")
    leads, left = person("ann", "answerer", groups=("leads",)), person("ann", "answerer")

    async def body(made: RunService) -> None:
        run = (await made.start(ANN, "letter", "write", wait=20)).report.run
        for each, mine, number in (
            (operator, False, 1),
            (viewer, False, 1),
            (operator, True, 0),
            (leads, True, 1),
            (left, False, 0),
        ):
            assert len((await made.questions(each, mine=mine)).rows) == number, each
        await made.claim(leads, run, "userContext1")
        assert [len((await made.questions(each, claimed=True)).rows) for each in (leads, left)] == [
            1,
            0,
        ]  # they have left the group
        await made.claim(operator, run, "userContext1", to="cat")
        assert [len((await made.questions(CAT, mine=True, claimed=claimed)).rows) for claimed in (False, True)] == [1, 1]

    on(service(tmp_path, settings=ServiceSettings(people=people)), body)


def test_a_link_of_a_holder_that_is_used_leaves_the_question_to_the_others(tmp_path: Path) -> None:
    async def body(made: RunService) -> None:
        run = (await made.start(BOSS, "pay", "x", wait=20)).report.run
        await made.claim(ANN, run, "userContext1")
        await made.answer(await made.linked(await made.link(ANN, run, "userContext1", "cat")), run, "userContext1", ANSWER)
        assert (await made.question(BOB, run, "userContext1")).claimed_by is None
        await made.answer(BOB, run, "userContext1", ANSWER)
        await settled(made, run, "done")

    on(service(tmp_path, pay=asking(**{"x-approvers": ["ann", "bob", "cat"], "x-needed": 2})), body)


def test_a_held_run_waits_for_its_operator(tmp_path: Path) -> None:
    chunks = {"llmContext1": chunk(step1_draft=step(TEXT, "prompt")), "llmContext2": chunk(step2_more=step(TEXT, "step1_draft"))}
    operator, other = person("op", "operator", program="two"), person("eve", "operator", program="letter")

    async def body(made: RunService) -> None:
        made.launchers["two"] = Launcher(Prepared("two", process(**chunks), Path(), Settings()), rehearse=True, requests=1)
        run = (await made.start(BOSS, "two", "x", wait=20)).report.run
        await settled(made, run, "held")
        assert [len((await made.questions(each, mine=True)).rows) for each in (operator, BOSS, other, BOB)] == [1, 1, 0, 0]
        del made.launchers["two"]
        assert [len((await made.questions(each, mine=True)).rows) for each in (BOSS, person("op", "operator"))] == [1, 1]

    on(service(tmp_path, name="durable"), body)


def test_a_question_given_to_somebody_wakes_who_follows_its_run(tmp_path: Path) -> None:
    async def body(made: RunService) -> None:
        run = (await made.start(ANN, "pay", "x", wait=30)).report.run
        following = asyncio.create_task(made.hub.wait(run, 60))
        await asyncio.sleep(0)
        await made.claim(BOB, run, "userContext1")
        assert not following.done()
        await made.claim(BOB, run, "userContext1", to="cat")
        assert await following

    on(service(tmp_path, settings=ServiceSettings(people={"pay.approve": PeopleSettings(("bob",))}), pay=asking()), body)


def test_all_who_agree_are_the_authors_of_an_answer(tmp_path: Path) -> None:
    async def body(made: RunService) -> None:
        run = (await made.start(ANN, "pay", "x", wait=30)).report.run
        await made.answer(BOB, run, "userContext1", {**ANSWER, "comment": "why not"})
        await made.answer(CAT, run, "userContext1", {"decision": "Reject"})
        await made.answer(ANN, run, "userContext1", ANSWER)
        await settled(made, run, "done")
        told = next(event for event in (await made.event_streams.trace(BOSS, run))[0] if event["event"] == "told")
        assert told["by"]["who"] == "bob, ann"

    on(service(tmp_path, pay=asking(**{"x-needed": 2, "x-veto": False})), body)


def test_a_vote_that_comes_while_its_question_closes_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def body(made: RunService) -> None:
        run = (await made.start(ANN, "pay", "x", wait=30)).report.run
        tell = made.engine.answer

        async def late(*given: Any) -> None:
            await tell(*given)
            raise AnswerError([RejectedAnswer(step="userContext1", pointer="", reason="it is not asked any more")])

        monkeypatch.setattr(made.engine, "answer", late)
        await made.answer(BOB, run, "userContext1", ANSWER)
        assert (await settled(made, run, "done")).report.status == "done"
        assert [each.who for each in made.records.votes(run)["userContext1"]] == ["bob"]

    on(service(tmp_path, pay=asking()), body)


def test_who_may_only_start_runs_follows_those(tmp_path: Path) -> None:
    async def body(made: RunService) -> None:
        for caller in (BOSS, ANN, BOB):
            await made.start(caller, "pay", "x", wait=30)
        seen = made.event_streams.events(person("ann", "starter"), None)
        kinds = [(await anext(seen)).kind for _ in range(3)]
        await seen.aclose()
        assert kinds == ["run.started", "question.opened", "run.waiting"]
        assert [each.kind for each in made.records.feed(0)].count("run.started") == 3
        assert len((await made.runs(ANN, own=True)).rows) == len((await made.runs(BOSS, own=True)).rows) == 1

    on(service(tmp_path, pay=asking()), body)


def test_starts_and_answers_are_counted_whatever_they_come_by(tmp_path: Path) -> None:
    async def body(made: RunService) -> None:
        run = (await made.start(ANN, "pay", "x", wait=30)).report.run
        with pytest.raises(RateLimitError, match="at most 1"):  # noqa: PT012  -- a minute may end between two
            for _ in range(2):
                await made.answer(ANN, run, "userContext1", ANSWER)

    on(service(tmp_path, settings=ServiceSettings(rate=1), pay=asking()), body)


def test_forks_and_retries_are_counted_too_and_an_action_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("instrc.server.access.time", lambda: 90.0)

    async def body(made: RunService) -> None:
        run = (await made.start(ANN, "pay", "x", wait=30)).report.run
        await made.fork(BOSS, run, ForkOptions())
        for again in (made.fork(BOSS, run, ForkOptions()), made.retry(BOSS, run, RetryOptions())):
            with pytest.raises(RateLimitError, match="at most 1"):
                await again
        other = person("other", "admin")
        assert (await act_on_runs(made, other, "cancel", RunFilter(), dry_run=True)).count == 2
        assert (await act_on_runs(made, other, "retry", RunFilter(), dry_run=False)).count == 0
        with pytest.raises(RateLimitError, match="at most 1"):
            await act_on_runs(made, other, "retry", RunFilter(), dry_run=False)

    on(service(tmp_path, settings=ServiceSettings(rate=1), pay=asking()), body)


def test_answers_by_a_link_do_not_count_for_the_person_that_it_names(tmp_path: Path) -> None:
    async def body(made: RunService) -> None:
        run = (await made.start(BOSS, "pay", "x", wait=30)).report.run
        bearer = await made.linked(await made.link(BOSS, run, "userContext1", "ann"))
        for _ in range(3):
            with pytest.raises(AnswerError):
                await made.answer(bearer, run, "userContext1", {})
        await made.answer(person(bearer.name, "answerer"), run, "userContext1", ANSWER)

    on(service(tmp_path, settings=ServiceSettings(rate=1), pay=asking(**{"x-links": True})), body)


def test_a_claim_holds_as_long_as_the_program_says(tmp_path: Path) -> None:
    async def body(made: RunService) -> None:
        for program, seconds in (("long", 7200.0), ("usual", made.settings.claim)):
            run = (await made.start(ANN, program, "x", wait=30)).report.run
            claimed = await made.claim(BOB, run, "userContext1")
            assert claimed.claimed_until is not None
            assert abs(claimed.claimed_until - time() - seconds) < 60

    on(service(tmp_path, long=asking(**{"x-claim": "PT2H"}), usual=asking(**{"x-claim": "soon"})), body)


@pytest.mark.parametrize("engine", ["memory", "durable"])
@pytest.mark.parametrize("command", [["delete"], ["runs", "--do", "delete", "--yes"], []], ids=["delete", "all", "python"])
def test_a_run_that_is_deleted_takes_what_people_have_written_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: list[str], engine: str
) -> None:
    monkeypatch.chdir(tmp_path)

    async def body(made: RunService) -> str:
        run = (await made.start(ANN, "letter", "write", wait=30)).report.run
        await made.answer(BOB, run, "userContext1", ANSWER, comment="a word of bob")
        await settled(made, run, "done")
        return run

    run = on(service(tmp_path / ".instrc", name=engine, records=str(tmp_path / ".instrc")), body)
    if command:
        assert main([*command, run] if command == ["delete"] else command) == 0
    else:
        find_run(run, engine=engine).delete()
    made = Records(str(tmp_path / ".instrc"))
    try:
        assert made.votes(run) == {}
        assert [change.kind for change in made.feed(0)][-1] == "run.deleted"
    finally:
        made.close()
    assert b"a word of bob" not in b"".join(file.read_bytes() for file in tmp_path.rglob("*.sqlite*"))


def test_a_question_that_its_carrier_has_not_written_is_written_by_who_asks(tmp_path: Path) -> None:
    """The carrier was killed, or stands still, between the entry of its journal and the row."""

    async def body(made: RunService) -> None:
        run = (await made.start(BOSS, "pay", "x", wait=10)).report.run
        with made.records.engine.begin() as connection:
            for table in (service_tables.QUESTIONS, service_tables.CANDIDATES):
                connection.execute(sa.delete(table))
            connection.execute(sa.update(service_tables.RUNS).values(status="running"))
        assert (await made.questions(BOSS)).rows == ()
        assert (await made.question(BOSS, run, "userContext1")).question.steps == ("step1_approve",)
        assert [each.run for each in (await made.questions(BOSS)).rows] == [run]
        assert [(each.run, each.status) for each in (await made.runs(BOSS)).rows] == [(run, "waiting")]
        await made.answer(BOB, run, "userContext1", ANSWER)
        await settled(made, run, "done")

    on(service(tmp_path, name="durable", records=str(tmp_path), pay=asking()), body)


def test_a_question_of_a_round_is_answered_by_its_id_with_its_tag_and_without(tmp_path: Path) -> None:
    """The id of a round has an `@`, too."""
    rounds = repeat(chunk(userContext1=chunk(step1_ask=step(DECISION, "prompt"))), until=is_("step1_ask.decision", "Approve"))

    async def body(made: RunService) -> None:
        run = (await made.start(BOSS, "rounds", "x", wait=20)).report.run
        for number, data in ((1, {"decision": "Reject"}), (2, ANSWER)):
            name = f"repeatContext1@{number}.userContext1"
            shown: tuple[Question, ...] = ()
            while [each.id for each in shown] != [name]:
                shown = (await made.run(BOSS, run)).report.questions
                await asyncio.sleep(0.01)
            with pytest.raises(StaleError):
                await made.answer(BOSS, run, f"{name}@{'0' * 24}", data)
            said = name if number == 1 else shown[0].shown_id
            assert (await made.question(BOSS, run, said)).question.id == name
            await made.answer(BOSS, run, said, data)
        await settled(made, run, "done")

    on(service(tmp_path, rounds=process(repeatContext1=rounds)), body)


@pytest.mark.parametrize("name", ["memory", "durable"])
def test_a_service_remembers_no_run_that_it_does_not_look_at(tmp_path: Path, name: Any) -> None:
    """Whoever carries a durable run writes its row, so nobody empties the list of what has happened."""

    async def body(made: RunService) -> None:
        for run in ("a", "b"):
            made.hub.wake(run)
        made.hub.changed([RunChange("run.done", "c", "pay")])
        touched = made.hub.touched
        await asyncio.sleep(0)
        assert touched == ({"a", "b", "c"} if name == "memory" else set())

    on(service(tmp_path, name=name, records=str(tmp_path), pay=asking()), body)
