"""`instrc.run` on every engine: one call, one handle, whoever carries the run."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from secrets import token_hex
from typing import Any

import pytest
from applications import run_in_app

import instrc
from instrc.cli import main
from instrc.engines.dbos.store_client import StoreClient  # an answer is checked in it
from instrc.runtime.run_report import describe_outcome  # the words for each end of a run

PROGRAM = """
const mail = prompt | @{ title: "Draft", type: "object", properties: { text: { type: "string" }, "$score": { type: "number" } },
  required: ["text"] };
const answer = mail | @{ title: "Approve_User", type: "object", properties: { decision: { enum: ["Approve", "Reject"] } },
  required: ["decision"] };
when answer.decision is "Approve" { mail | @{ title: "Send_Activity", properties: { output: { type: "string" } } } }
"""
ENGINES = ["memory", "durable", "temporal"]


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    if request.param == "temporal":
        server = request.getfixturevalue("temporal_server")
        monkeypatch.setenv("TEMPORAL_ADDRESS", server.address)
        monkeypatch.setenv("INSTRC_TASK_QUEUE", f"run-{token_hex(4)}")
    monkeypatch.chdir(tmp_path)
    yield request.param
    instrc.close_stores()


def answers() -> instrc.Scripted:
    return instrc.Scripted({"draft": {"text": "Thank you!", "$score": 0.5}})


def begin(engine: str, sent: list[Any], run: str, **more: Any) -> instrc.Run:
    def send(mail: Any) -> str:
        sent.append(mail["text"])
        return f"sent: {mail['text']}"

    return run_in_app(
        PROGRAM, "Ann", model=answers(), activities={"Send_Activity": send}, engine=engine, store="kept", id=run, **more
    )


def test_a_run_waits_is_answered_and_ends(engine: str) -> None:
    sent: list[Any] = []
    seen: list[str] = []
    run = begin(engine, sent, f"one-{token_hex(3)}", watch=lambda event: seen.append(event["event"]))
    assert run.status == "waiting"
    assert run.outcome is None
    [question] = run.questions
    assert question.show["text"] == "Thank you!"
    with pytest.raises(instrc.RunWaitingError):
        _ = run.value
    with pytest.raises(instrc.AnswerError) as wrong:
        run.answer("approve", {"decision": "Perhaps"})
    assert wrong.value.problems[0].name == "rejected-answer"
    assert run.answer("approve", {"decision": "Approve"}) is run
    assert (run.status, run.value, sent) == ("done", "sent: Thank you!", ["Thank you!"])
    assert run.metrics == {"llmContext1.step1_draft.$score": 0.5}
    assert [event["event"] for event in run.trace][-1] == seen[-1] == "ended"
    assert run.record["llmContext1"]["step1_draft"]["text"] == "Thank you!"
    with pytest.raises(instrc.ConflictError) as closed:
        run.answer("approve", {"decision": "Approve"})
    assert closed.value.problems[0].name == "no-such-question"
    assert run.resume().status == run.cancel().status == "done"


def test_the_same_call_goes_on_with_the_same_run_and_another_is_refused(engine: str) -> None:
    sent: list[Any] = []
    name = f"two-{token_hex(3)}"
    begin(engine, sent, name)
    instrc.close_stores()
    again = begin(engine, sent, name)
    assert [question.steps for question in again.questions] == [("step2_approve",)]
    assert again.answer("approve", {"decision": "Approve"}).status == "done"
    assert begin(engine, sent, name).status == "done"
    assert sent == ["Thank you!"]
    with pytest.raises(instrc.ConflictError) as raised:
        instrc.run(PROGRAM, "Bob", model="sample", rehearse=True, engine=engine, store="kept", id=name)
    assert raised.value.problems[0].name == "run-exists"


def test_a_run_is_found_by_its_id(engine: str) -> None:
    sent: list[Any] = []
    name = f"three-{token_hex(3)}"
    begin(engine, sent, name)
    instrc.close_stores()
    found = instrc.find_run(
        name, engine=engine, store="kept", model=answers(), activities={"Send_Activity": lambda mail: mail["text"]}
    )
    assert found.status == "waiting"
    assert found.answer("approve", {"decision": "Approve"}).value == "Thank you!"
    with pytest.raises(instrc.NotFoundError) as raised:
        instrc.find_run("nobody", engine=engine, store="kept")
    assert raised.value.problems[0].name == "no-such-run"


def test_many_runs_at_the_same_time_share_an_engine(engine: str) -> None:
    async def one(number: int) -> instrc.Run:
        def send(mail: Any, number: int = number) -> str:
            return f"{mail['text']} {number}"

        run = await instrc.run_async(
            PROGRAM,
            str(number),
            model=answers(),
            activities={"Send_Activity": send},
            engine=engine,
            store="kept",
            id=f"five-{token_hex(3)}",
        )
        return await run.answer_async("approve", {"decision": "Approve"})

    async def all_() -> list[instrc.Run]:
        return await asyncio.gather(*(one(number) for number in range(8)))

    assert [run.value for run in asyncio.run(asyncio.wait_for(all_(), 60))] == [f"Thank you! {number}" for number in range(8)]


@pytest.mark.parametrize("engine", ["memory", "durable"], indirect=True)
def test_of_two_answers_at_the_same_time_the_second_hears_that_there_is_one(engine: str) -> None:
    run = begin(engine, [], "r")

    async def both() -> list[Any]:
        answers = [run.answer_async("approve", {"decision": "Approve"}) for _ in range(2)]
        return await asyncio.gather(*answers, return_exceptions=True)

    [error] = [each for each in asyncio.run(both()) if isinstance(each, Exception)]
    assert "`approve` was answered already" in str(error) or "the run has ended" in str(error)


def test_a_question_that_closes_while_an_answer_is_checked_was_answered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run, check = begin("durable", [], "r"), StoreClient.is_open

    async def late(client: StoreClient, *given: Any) -> bool:
        monkeypatch.setattr(StoreClient, "is_open", check)
        await run.answer_async("approve", {"decision": "Approve"})
        return await check(client, *given)

    monkeypatch.setattr(StoreClient, "is_open", late)
    with pytest.raises(instrc.ConflictError, match=r"answered already|has ended"):
        run.answer("approve", {"decision": "Approve"})
    instrc.close_stores()


def test_a_run_that_is_done_says_so_when_it_is_retried_in_its_program(engine: str) -> None:
    run = begin(engine, [], "r").answer("approve", {"decision": "Approve"})
    with pytest.raises(instrc.ConflictError, match="it is done"):
        run.retry()


def test_a_run_is_cancelled(engine: str) -> None:
    run = begin(engine, [], f"six-{token_hex(3)}")
    assert run.cancel().status == "cancelled"
    assert not run.questions


@pytest.mark.long
@pytest.mark.parametrize("engine", ["memory", "durable"], indirect=True)
def test_a_cancelled_run_is_not_resumed(engine: str, capsys: pytest.CaptureFixture[str]) -> None:
    begin(engine, [], "r").cancel()
    instrc.close_stores()
    assert main(["resume", "r", "--engine", engine, "--store", "kept"]) == 1
    assert "`r` cannot continue: it was cancelled" in capsys.readouterr().err


def test_what_only_the_program_has_is_not_made_up_by_another_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    sent: list[Any] = []
    assert begin("durable", sent, "own").status == "waiting"
    instrc.close_stores()
    assert main(["answer", "own", "approve", "--data", '{"decision": "Approve"}', "--store", "kept"]) == 1
    assert "[needs-its-program]" in capsys.readouterr().err
    assert main(["show", "own", "--store", "kept"]) == 0
    assert '"waiting"' in capsys.readouterr().out
    instrc.close_stores()
    assert begin("durable", sent, "own").answer("approve", {"decision": "Approve"}).value == "sent: Thank you!"
    instrc.close_stores()


def test_an_engine_that_nobody_knows_is_a_problem() -> None:
    with pytest.raises(instrc.CompileError) as raised:
        run_in_app("Draft()\n", engine="steam", model="sample", rehearse=True, roots=["none"])
    assert raised.value.problems
    with pytest.raises(instrc.SettingsError) as raised:
        instrc.find_run("x", engine="steam")
    assert raised.value.problems[0].name == "unusable-setting"


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        (None, "the run has not ended"),
        ({"status": "stopped", "step": "step1_ask"}, "`step1_ask` was refused, so the run has stopped"),
        ({"status": "done", "output": {}, "value": None}, "done"),
    ],
)
def test_the_end_of_a_run_is_said_in_words(outcome: Any, words: str) -> None:
    assert describe_outcome(outcome) == words


def test_another_process_that_cannot_carry_a_held_run_leaves_it_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    options: Any = {"activities": {"Send_Activity": lambda mail: f"sent: {mail['text']}"}, "engine": "durable"}
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    held = instrc.run(PROGRAM, "Ann", model="openai:gpt-5", id="own", **options)
    assert repr(held).startswith("<run own: held for step1_draft: the model `openai` cannot be used: its key is expected in ")
    instrc.close_stores()
    assert main(["retry", "own"]) == 1
    assert "[needs-its-program]" in capsys.readouterr().err
    assert main(["show", "own"]) == 0
    assert '"held"' in capsys.readouterr().out
    found = instrc.find_run("own", model=answers(), **options)
    assert found.retry().status == "waiting"
    assert found.answer("approve", {"decision": "Approve"}).value == "sent: Thank you!"
    instrc.close_stores()


def test_a_run_that_is_asked_for_while_it_goes_on_does_nothing_twice(engine: str) -> None:
    sent: list[Any] = []
    begun, released = threading.Event(), threading.Event()

    def send(mail: Any) -> str:
        sent.append(mail["text"])
        begun.set()
        assert released.wait(60)
        return "sent"

    run = run_in_app(
        PROGRAM,
        "Ann",
        model=answers(),
        activities={"Send_Activity": send},
        engine=engine,
        store="kept",
        id=f"again-{token_hex(3)}",
    )

    async def both() -> list[Any]:
        answered = asyncio.ensure_future(run.answer_async(run.questions[0].id, {"decision": "Approve"}))
        assert await asyncio.to_thread(begun.wait, 60)
        asked = asyncio.ensure_future(run.resume_async())
        await asyncio.sleep(0.5)
        released.set()
        return await asyncio.gather(answered, asked)

    assert [each.status for each in asyncio.run(both())] == ["done", "done"]
    assert sent == ["Thank you!"]
