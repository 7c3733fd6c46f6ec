"""What every engine does with the same plans: the same outcomes."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from written_processes import (
    ASK,
    DECISION,
    LOOP,
    TEXT,
    attempt,
    call,
    chunk,
    each,
    is_,
    otherwise,
    process,
    race,
    repeat,
    step,
    when,
)

from instrc import PENDING, ActivityError, ModelError, Request
from instrc.problems.errors import AnswerError, ConflictError, NotFoundError


def go(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(work, 240))


def keyed(request: Request) -> str:
    return request.key.split("/", 1)[1]


def failing(error: Exception) -> Any:
    def work(_given: Any) -> Any:
        raise error

    return work


ONE_CALL = process(serverContext1=chunk(step1_a=call("Work", {"n": {"const": 1}})))


def test_an_activity_is_tried_again_under_the_same_key(stage: Any) -> None:
    async def body() -> None:
        fails = iter([ActivityError("busy"), RuntimeError("odd")])

        def work(_given: Any) -> Any:
            error = next(fails, None)
            if error is not None:
                raise error
            return {"text": "done"}

        stage.handlers = {"Work": work}
        report = await stage.start(ONE_CALL)
        assert report.outcome == {"status": "done", "value": {"text": "done"}, "output": {"step1_a": {"text": "done"}}}
        assert len(stage.calls) == 3
        assert {key for _, key, _ in stage.calls} == {"r1/serverContext1.step1_a"}

    go(body())


def test_an_activity_that_must_not_be_tried_again_fails_with_its_code(stage: Any) -> None:
    async def body() -> None:
        stage.handlers = {"Work": failing(ActivityError("no such thing", code="404", retry=False))}
        report = await stage.start(ONE_CALL)
        error = report.outcome["error"]
        assert error == {"step": "step1_a", "kind": "failed", "code": "404", "message": "no such thing", "place": error["place"]}
        assert len(stage.calls) == 1

    go(body())


def test_an_error_of_the_code_itself_is_tried_once_and_leads_to_its_line(stage: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAY_TOKEN", "s3cret-word")

    def work(given: Any) -> Any:
        return {"text": given["s3cret-word"]}

    async def body() -> None:
        stage.handlers = {"Work": work}
        report = await stage.start(ONE_CALL)
        place = f"{Path(__file__)}:{work.__code__.co_firstlineno + 1}"
        message = "KeyError: '***'"
        assert report.outcome["error"] == {
            "step": "step1_a",
            "kind": "failed",
            "code": None,
            "message": message,
            "place": place.removeprefix(f"{Path.cwd()}/"),
        }
        assert len(stage.calls) == 1
        [failed] = [event for event in stage.events if event["event"] == "failed"]
        assert failed["traceback"].endswith(f"{message}\n")
        assert "s3cret-word" not in str(stage.events)

    go(body())


def test_elements_run_at_the_same_time_and_keep_their_order(stage: Any) -> None:
    document = process(
        eachContext1=each(
            "x", "prompt", process(serverContext1=chunk(step1_a=call("Work", "x"))), value="step1_a.text", key="step2"
        )
    )

    async def body() -> None:
        running: list[int] = []
        most = 0

        async def work(given: Any) -> Any:
            nonlocal most
            running.append(given)
            most = max(most, len(running))
            await asyncio.sleep(0.05 - given / 100)
            running.remove(given)
            return {"text": str(given)}

        stage.handlers = {"Work": work}
        report = await stage.start(document, {"prompt": [1, 2, 3, 4]})
        assert report.outcome["value"] == ["1", "2", "3", "4"]
        assert most > 1
        Draft202012Validator(document).validate(report.record)

    go(body())


@pytest.mark.parametrize(("said", "expected"), [("Approve", "sent"), ("Reject", "sorry")])
def test_a_branch_follows_what_a_person_decides(stage: Any, said: str, expected: str) -> None:
    document = process(
        userContext1=chunk(step1_confirm=step(DECISION, "prompt")),
        whenContext1=when(
            (
                is_("step1_confirm.decision", "Approve"),
                process(serverContext1=chunk(step2_send=call("Send", "prompt"))),
                "step2_send",
            ),
            (None, process(llmContext1=chunk(step3_sorry=step(TEXT, "prompt"))), "step3_sorry"),
            key="step4_when",
        ),
    )

    async def body() -> None:
        stage.model = lambda _request: {"step3_sorry": {"text": "sorry"}}
        stage.handlers = {"Send": {"text": "sent"}}
        stage.handlers = {"Send": lambda _given: {"text": "sent"}}
        report = await stage.start(document)
        assert report.status == "waiting"
        assert [question.id for question in report.questions] == ["userContext1"]
        report = await stage.answer("confirm", {"decision": said})
        assert report.outcome["value"] == {"text": expected}
        Draft202012Validator(document).validate(report.record)

    go(body())


def test_a_refusal_that_nobody_reads_stops_the_run_before_its_effects(stage: Any) -> None:
    async def body() -> None:
        stage.handlers = {"Send": lambda _given: {"text": "sent"}}
        await stage.start(ASK)
        report = await stage.answer("step1_confirm", {"decision": "Reject"})
        assert (report.status, report.outcome["step"]) == ("stopped", "step1_confirm")
        assert stage.calls == []

    go(body())


def test_a_wrong_answer_is_refused_and_the_question_stays_open(stage: Any) -> None:
    async def body() -> None:
        stage.handlers = {"Send": lambda _given: {"text": "sent"}}
        await stage.start(ASK)
        for wrong in ({"decision": "Perhaps"}, None, "yes", {}):
            with pytest.raises(AnswerError) as raised:
                await stage.answer("confirm", wrong)
            assert raised.value.problems[0].name == "rejected-answer"
        assert (await stage.engine.show("r1")).status == "waiting"
        assert (await stage.answer("confirm", {"decision": "Approve"})).status == "done"
        with pytest.raises(ConflictError) as raised:
            await stage.answer("confirm", {"decision": "Approve"})
        assert raised.value.problems[0].name == "no-such-question"
        assert len(stage.calls) == 1

    go(body())


def test_rounds_go_on_until_the_condition_holds(stage: Any) -> None:
    document = process(
        repeatContext1=repeat(
            process(llmContext1=chunk(step1_a=step(TEXT, "round", "previous"))),
            until=is_("step1_a.text", "3"),
            most=5,
            hands=["step1_a"],
            value="step1_a",
            key="step2_repeat",
        )
    )

    async def body() -> None:
        stage.model = lambda request: {"step1_a": {"text": keyed(request).partition("@")[2][0]}}
        report = await stage.start(document)
        assert report.outcome["value"] == {"text": "3"}
        assert len(report.record["repeatContext1"]) == 3

    go(body())


def test_a_deadline_that_passes_takes_the_question_back(stage: Any) -> None:
    document = process(
        tryContext1=attempt(
            process(userContext1=chunk(step1_ask=step(DECISION, "prompt", within="PT0.05S"))),
            process(serverContext1=chunk(step2_late=call("Late", "error"))),
            ("step1_ask", "step2_late"),
            key="step3_try",
        )
    )

    async def body() -> None:
        stage.handlers = {"Late": lambda given: {"text": given["kind"]}}
        await stage.start(document)
        await asyncio.sleep(0.2)
        report = await stage.engine.resume("r1")
        report = await stage.settled("r1")
        assert report.outcome["value"] == {"text": "timeout"}

    go(body())


def test_what_a_deadline_has_taken_back_is_not_answered_any_more_whatever_else_is_asked(stage: Any) -> None:
    document = process(
        userContext1=chunk(step1_ok=step(DECISION, "prompt")),
        tryContext1=attempt(
            process(userContext2=chunk(step2_late=step(DECISION, "prompt", within="PT0.3S"))),
            process(serverContext1=chunk(step3_note=call("Note", "error"))),
            ("step2_late", "step3_note"),
            key="step4_try",
        ),
    )

    async def body() -> None:
        stage.handlers = {"Note": lambda given: {"text": given["kind"]}}
        assert {question.steps for question in (await stage.start(document)).questions} <= {("step1_ok",), ("step2_late",)}
        await asyncio.sleep(1)
        with pytest.raises(NotFoundError) as raised:
            await stage.engine.answer("r1", "step2_late", {"decision": "Approve"})
        assert raised.value.problems[0].name == "no-such-question"
        report = await stage.answer("step1_ok", {"decision": "Approve"})
        assert report.outcome["value"] == {"text": "timeout"}

    go(body())


def test_a_delay_comes_before_the_call(stage: Any) -> None:
    document = process(serverContext1=chunk(step1_a=call("Work", "prompt", delay="PT0.1S")))

    async def body() -> None:
        stage.handlers = {"Work": lambda _given: {"text": "x"}}
        began = asyncio.get_running_loop().time()
        assert (await stage.start(document)).status == "done"
        assert asyncio.get_running_loop().time() - began >= 0.1

    go(body())


def test_a_failure_cancels_its_siblings_and_is_caught_by_the_innermost_try(stage: Any) -> None:
    document = process(
        tryContext1=attempt(
            process(serverContext1=chunk(step1_slow=call("Slow", "prompt"), step2_bad=call("Bad", "prompt"))),
            process(serverContext2=chunk(step3_note=call("Note", "error"))),
            (None, "step3_note"),
            key="step4_try",
        )
    )

    async def body() -> None:
        finished: list[str] = []

        async def slow(_given: Any) -> Any:
            await asyncio.sleep(50)  # longer than a busy machine takes for the other
            finished.append("slow")

        bad = failing(ActivityError("bad", code="7", retry=False))
        stage.handlers = {"Slow": slow, "Bad": bad, "Note": lambda given: {"text": given["code"]}}
        report = await stage.start(document)
        assert report.outcome["value"] == {"text": "7"}
        assert finished == []
        Draft202012Validator(document).validate(report.record)

    go(body())


def test_what_is_done_first_counts_and_questions_of_the_rest_are_withdrawn(stage: Any) -> None:
    elements = process(serverContext2=chunk(step3_work=call("Work", "n")))
    document = process(
        raceContext1=race(
            (process(userContext1=chunk(step1_ask=step(DECISION, "prompt"))), "step1_ask"),
            (process(userContext2=chunk(step2_ask=step(TEXT, "prompt"))), "step2_ask"),
            (process(serverContext1=chunk(step5_bad=call("Bad", "prompt"))), "step5_bad"),
            key="step6_race",
        ),
        eachContext1=each("n", 3, elements, value="step3_work.text", key="step4_each", until=is_("step3_work.text", "2")),
    )
    document["properties"]["eachContext1"]["items"]["type"] = ["object", "null"]

    async def body() -> None:
        finished: list[Any] = []

        async def work(given: Any) -> Any:
            await asyncio.sleep(0.01 if given == 2 else 50)
            finished.append(given)
            return {"text": str(given)}

        stage.handlers = {"Work": work, "Bad": failing(ActivityError("bad", retry=False))}
        report = await stage.start(document)
        assert {question.id for question in report.questions} == {"raceContext1[1].userContext1", "raceContext1[2].userContext2"}
        report = await stage.answer("step2_ask", {"text": "second"})
        assert report.outcome["output"] == {"step6_race": {"text": "second"}, "step4_each": [None, "2", None]}
        assert (report.record["raceContext1"]["branch"], finished) == (1, [2])
        with pytest.raises(ConflictError):
            await stage.engine.answer("r1", "step1_ask", {"decision": "Approve"})
        Draft202012Validator(document).validate(report.record)

    go(body())


def test_a_delay_passes_after_a_question_was_withdrawn(stage: Any) -> None:
    asking = process(userContext1=chunk(step1_ask=step(DECISION, "prompt")))
    working = process(serverContext1=chunk(step2_work=call("Work", "prompt")))
    document = process(
        raceContext1=race((asking, "step1_ask"), (working, "step2_work"), key="step3_race"),
        serverContext2=chunk(step4_send=call("Send", "step3_race", delay="PT0.01S")),
    )

    async def body() -> None:
        stage.handlers = {"Work": lambda _given: {"text": "worked"}, "Send": lambda given: given}
        assert (await stage.start(document)).outcome["value"] == {"text": "worked"}

    go(body())


def test_an_answer_that_does_not_fit_is_asked_for_again(stage: Any) -> None:
    document = process(llmContext1=chunk(step1_a=step(TEXT, "prompt")))

    async def body() -> None:
        asked: list[Request] = []

        def model(request: Request) -> Any:
            asked.append(request)
            return {"step1_a": {"text": "right"} if len(asked) == 2 else {}}

        stage.model = model
        report = await stage.start(document)
        assert report.outcome["value"] == {"text": "right"}
        assert "not accepted" in asked[1].message
        asked.clear()
        stage.model = lambda request: (asked.append(request), {"step1_a": 5})[1]
        report = await stage.start(document, run="r2")
        assert report.outcome["error"]["kind"] == "invalid"
        assert len(asked) == 3

    go(body())


def test_a_provider_that_fails_for_a_moment_is_asked_again_and_one_that_refuses_is_not(stage: Any) -> None:
    document = process(llmContext1=chunk(step1_a=step(TEXT, "prompt")))

    async def body() -> None:
        given = iter([ModelError("overloaded", retry=True), {"step1_a": {"text": "x"}}])
        stage.model = lambda _request: next(given)
        assert (await stage.start(document)).status == "done"
        stage.model = lambda _request: ModelError("no", code="refused")
        report = await stage.start(document, run="r2")
        assert report.outcome["error"]["code"] == "refused"

    go(body())


TOOLS = {
    "Search": {"activity": "Search", "arguments": {"properties": {"q": {}}}, "output": {}},
    "Trip": {"activity": "Trip", "arguments": {"properties": {"to": {"type": "string"}}}, "output": TEXT},
}


def test_a_plan_is_carried_out_and_a_failed_task_skips_only_what_waits_for_it(stage: Any) -> None:
    document = process(
        serverContext1=chunk(step1_run_plan=call("RunPlan_Activity", "prompt", {"type": "array"}, plan={"tools": TOOLS}))
    )
    plan = [
        {"tool": "Search", "id": "a", "arguments": {"q": {"from": "b.x"}}},
        {"tool": "Search", "id": "b", "arguments": {"q": 1}},
        {"tool": "Search", "id": "c", "arguments": {"q": "fail"}},
        {"tool": "Search", "id": "d", "arguments": {}, "after": ["c"]},
    ]

    async def body() -> None:
        down = failing(ActivityError("down", retry=False))

        def search(given: Any) -> Any:
            return down(given) if given.get("q") == "fail" else {"x": given["q"]}

        stage.handlers = {"Search": search, "Trip": lambda _given: None}
        report = await stage.start(document, {"prompt": plan})
        tasks = {task["id"]: task for task in report.outcome["value"]}
        assert {name: task["status"] for name, task in tasks.items()} == {"a": "ok", "b": "ok", "c": "failed", "d": "skipped"}
        assert tasks["a"]["output"] == {"x": 1}
        assert "c" in tasks["d"]["error"]["message"]

    go(body())


def test_an_activity_may_be_served_by_a_process(stage: Any) -> None:
    trip = {
        **process(llmContext1=chunk(step1_book=step(TEXT, "to", "called"))),
        "inputs": {"to": {"type": "string"}, "called": {}},
    }
    document = process(serverContext1=chunk(step1_trip=call("Trip", {"to": {"const": "Rome"}})))

    async def body() -> None:
        stage.model = lambda request: {"step1_book": {"text": "Rome" if '"Rome"' in request.message else "nowhere"}}
        stage.handlers = {"Trip": trip}
        report = await stage.start(document)
        assert report.outcome["value"] == {"text": "Rome"}
        assert any(event["run"] == "r1/serverContext1.step1_trip" for event in stage.events)

    go(body())


def test_an_activity_may_be_answered_later(stage: Any) -> None:
    async def body() -> None:
        stage.handlers = {"Work": lambda _given: PENDING}
        report = await stage.start(ONE_CALL)
        assert report.status == "waiting"
        assert [(question.id, question.by) for question in report.questions] == [("serverContext1.step1_a", "system")]
        with pytest.raises(AnswerError):
            await stage.answer("a", {"text": 1})
        report = await stage.answer("a", {"text": "late"})
        assert report.outcome["value"] == {"text": "late"}
        assert len(stage.calls) == 1

    go(body())


def test_fire_and_forget_is_sent_and_cannot_fail_the_run(stage: Any) -> None:
    document = process(llmContext1=chunk(step1_log_event=step(TEXT, "prompt")))

    async def body() -> None:
        stage.model = lambda _request: {"step1_log_event": {"text": "x"}}
        stage.handlers = {"LogEvent": failing(ActivityError("no log", retry=False))}
        assert (await stage.start(document)).status == "done"
        for _ in range(200):
            if stage.calls:
                break
            await asyncio.sleep(0.01)
        assert [(name, given) for name, _, given in stage.calls] == [("LogEvent", {"text": "x"})]

    go(body())


@pytest.mark.parametrize("failed", ["fail", "hold"])
def test_a_failed_direct_call_fails_or_holds_the_run_and_can_be_retried(stage: Any, failed: str) -> None:
    document = {"tool": chunk(step1_a=TEXT), "activity": "Send", "arguments": "step1_a"}

    async def body() -> None:
        stage.model = lambda _request: {"step1_a": {"text": "x"}}
        down = [ActivityError("down", code="unavailable", retry=False)]
        stage.handlers = {"Send": lambda given: failing(down[0])(given) if down else None}
        report = await stage.start(document, failed=failed)
        assert report.status == ("held" if failed == "hold" else "failed")
        if failed == "fail":
            assert (report.outcome["error"]["step"], report.outcome["error"]["code"]) == ("send", "unavailable")
        down.clear()
        report = await stage.retry()
        assert report.outcome == {"status": "done", "output": {"step1_a": {"text": "x"}}, "value": {"text": "x"}}
        assert [given for _, _, given in stage.calls] == [{"text": "x"}] * 2

    go(body())


def test_a_budget_ends_the_run(stage: Any) -> None:
    document = process(
        eachContext1=each("x", 5, process(llmContext1=chunk(step1_a=step(TEXT, "x"))), value="step1_a", key="step2")
    )

    async def body() -> None:
        stage.model = lambda _request: {"step1_a": {"text": "x"}}
        report = await stage.start(document, failed="fail", requests=3)
        assert report.outcome["error"]["kind"] == "limit"
        report = await stage.start(document, run="r2", failed="fail", tokens=7, elements=1)
        assert report.outcome["error"]["code"] == "tokens"

    go(body())


def test_a_run_can_be_ended_while_it_waits(stage: Any) -> None:
    async def body() -> None:
        stage.handlers = {"Send": lambda _given: {"text": "sent"}}
        await stage.start(ASK)
        await stage.engine.cancel("r1")
        report = await stage.settled("r1")
        assert report.status == "cancelled"
        with pytest.raises(ConflictError):
            await stage.answer("confirm", {"decision": "Approve"})
        assert stage.calls == []

    go(body())


def test_runs_are_listed_and_one_that_is_not_there_is_a_problem(stage: Any) -> None:
    async def body() -> None:
        stage.handlers = {"Work": lambda _given: {"text": "x"}}
        await stage.start(ONE_CALL)
        await stage.start(ONE_CALL, run="r2")
        assert {report.run for report in await stage.engine.runs()} == {"r1", "r2"}
        assert any(event["event"] == "returned" for event in stage.engine.trace_from("r1")[0])
        for what in (stage.engine.show("nobody"), stage.engine.answer("nobody", "x", 1), stage.engine.cancel("../r1")):
            with pytest.raises(NotFoundError) as raised:
                await what
            assert raised.value.problems[0].name == "no-such-run"

    go(body())


def test_what_goes_wrong_never_shows_a_secret(stage: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setenv("PROVIDER_API_KEY", "sk-very-secret-1234")

    async def body() -> None:
        stage.handlers = {"Work": failing(RuntimeError("401 for key sk-very-secret-1234"))}
        stage.model = lambda _request: ModelError("401 for key sk-very-secret-1234")
        await stage.start(ONE_CALL)
        report = await stage.start(process(llmContext1=chunk(step1_a=step(TEXT, "prompt"))), run="r2")
        assert "***" in report.outcome["error"]["message"]
        for file in tmp_path.rglob("*"):
            assert not file.is_file() or b"sk-very-secret" not in file.read_bytes()

    go(body())


def test_a_secret_is_masked_in_all_that_comes_from_outside(stage: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a handler, a model, a person, and whoever begins the run: what follows is the same on every engine."""
    monkeypatch.setenv("PAY_TOKEN", "s3cret-word")
    document = process(
        llmContext1=chunk(step1_draft=step(TEXT, "prompt")),
        userContext1=chunk(step2_ask=step(TEXT, "step1_draft")),
        serverContext1=chunk(step3_a=call("Work", "step2_ask.text"), step4_b=call("Work", "step3_a.text")),
    )

    async def body() -> None:
        stage.model = lambda request: {"step1_draft": {"text": f"{request.message.partition('prompt')[2][:99]} s3cret-word"}}
        stage.handlers = {"Work": lambda given: {"text": f"s3cret-word of {given}"}}
        await stage.start(document, {"prompt": "my s3cret-word"})
        report = await stage.answer("ask", {"text": "I say s3cret-word"})
        assert report.outcome["value"] == {"text": "*** of *** of I say ***"}
        assert [given for _, _, given in stage.calls] == ["I say ***", "*** of I say ***"]
        assert "s3cret-word" not in repr([report, stage.events, await stage.engine.journal("r1")])

    go(body())


CHILD = process(
    userContext1=chunk(step1_ask=step(DECISION, "prompt")), serverContext1=chunk(step2_send=call("Send", "step1_ask.decision"))
)


def test_a_loop_in_a_chunk_goes_round_and_sees_its_last_answer(stage: Any) -> None:
    seen: list[str] = []

    def answer(request: Request) -> Any:
        seen.append(request.message)
        return {"step1_think": {"_iteration": len(seen), "text": f"t{len(seen)}", "_continue": len(seen) < 2}}

    async def body() -> None:
        stage.model = answer
        report = await stage.start(process(llmContext1=chunk(step1_think=step(LOOP, "prompt"))))
        assert report.outcome["value"]["text"] == "t2"
        assert ["t1" in message for message in seen] == [False, True]

    go(body())


def test_a_process_that_serves_an_activity_may_ask_a_person(stage: Any) -> None:
    document = process(
        serverContext1=chunk(step1_trip=call("Trip", "prompt"), step2_other=call("Send", "prompt")),
        serverContext2=chunk(step3_end=call("Send", "step1_trip.text")),
    )

    async def body() -> None:
        stage.handlers = {"Trip": CHILD, "Send": lambda given: {"text": f"sent {given}"}}
        report = await stage.start(document)
        assert report.status == "waiting"
        [question] = report.questions
        assert question.id == "serverContext1.step1_trip/userContext1"
        with pytest.raises(AnswerError) as raised:
            await stage.answer("ask", {"decision": "Perhaps"})
        assert raised.value.problems[0].name == "rejected-answer"
        report = await stage.answer("ask", {"decision": "Approve"})
        assert report.outcome["value"] == {"text": "sent sent Approve"}
        assert sorted(given for _, _, given in stage.calls) == ["Approve", "go", "sent Approve"]

    go(body())


def test_a_task_of_a_plan_may_be_a_process_that_asks_a_person(stage: Any) -> None:
    tools = {"Trip": {"activity": "Trip", "arguments": {}, "output": {}}}
    document = process(
        serverContext1=chunk(step1_run_plan=call("RunPlan_Activity", "prompt", {"type": "array"}, plan={"tools": tools}))
    )
    plan = [{"tool": "Trip", "id": name, "arguments": {}} for name in ("a", "b")]

    async def body() -> None:
        stage.handlers = {"Trip": CHILD, "Send": lambda given: {"text": f"sent {given}"}}
        report = await stage.start(document, {"prompt": plan})
        for question in report.questions:
            report = await stage.answer(question.id, {"decision": "Approve"})
        assert [task["output"] for task in report.outcome["value"]] == [{"text": "sent Approve"}] * 2

    go(body())


def test_a_refusal_in_a_process_that_serves_an_activity_fails_that_activity(stage: Any) -> None:
    document = process(
        tryContext1=attempt(
            process(serverContext1=chunk(step1_trip=call("Trip", "prompt"))),
            process(serverContext2=chunk(step2_note=call("Send", "error.code"))),
            ("step1_trip", "step2_note"),
            key="step3_try",
        )
    )
    ask = process(userContext1=chunk(step1_ask=step(DECISION, "prompt")), serverContext1=chunk(step2_send=call("Send", "prompt")))

    async def body() -> None:
        stage.handlers = {"Trip": ask, "Send": lambda given: {"text": f"sent {given}"}}
        await stage.start(document)
        report = await stage.answer("ask", {"decision": "Reject"})
        assert report.outcome["value"] == {"text": "sent stopped"}

    go(body())


def test_a_deadline_ends_a_process_that_serves_an_activity(stage: Any) -> None:
    asked: list[str] = []

    async def slow(_given: Any) -> Any:
        asked.append("slow")
        await asyncio.sleep(30)

    child = process(serverContext1=chunk(step1_slow=call("Slow", "prompt")))

    async def body() -> None:
        stage.handlers = {"Trip": child, "Slow": slow, "Send": lambda given: {"text": f"sent {given}"}}
        for seconds in (0.3, 2, 20):  # on a busy machine a deadline may pass before the child has begun
            document = process(
                tryContext1=attempt(
                    process(serverContext1=chunk(step1_trip=call("Trip", "prompt"))),
                    process(serverContext2=chunk(step2_note=call("Send", "error.kind"))),
                    ("step1_trip", "step2_note"),
                    key="step3_try",
                    within=f"PT{seconds}S",
                )
            )
            report = await stage.start(document, run=f"r{seconds}")
            assert report.outcome["value"] == {"text": "sent timeout"}
            if asked:
                break
        assert asked == ["slow"]

    go(body())


def test_the_else_of_a_repeat_runs_when_it_has_ended_in_vain(stage: Any) -> None:
    document = process(
        repeatContext1=repeat(
            process(serverContext1=chunk(step1_turn=call("Turn", "round"))),
            until=is_("step1_turn.text", "never"),
            most=2,
            hands=["step1_turn"],
            value="step1_turn",
            key="step2_repeat",
        ),
        elseContext1=otherwise(process(serverContext2=chunk(step3_sum=call("Sum", "rounds"))), value="step3_sum"),
    )

    async def body() -> None:
        stage.handlers = {
            "Turn": lambda given: {"text": str(given)},
            "Sum": lambda given: {"text": "+".join(round_["step1_turn"]["text"] for round_ in given)},
        }
        report = await stage.start(document)
        assert report.outcome["output"]["step2_repeat"] == {"text": "1+2"}
        Draft202012Validator(document).validate(report.record)

    go(body())
