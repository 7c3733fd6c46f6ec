"""A failed run is not a dead end, on every engine: it is held, retried, and forked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from time import time
from typing import Any

import pytest
from msgspec.structs import replace
from written_processes import DECISION, TEXT, attempt, call, chunk, each, process, step

from instrc import Activities, ActivityError, ModelError
from instrc.engines.folder import FolderEngine  # what it keeps of processes
from instrc.engines.launch import forked  # as a command does
from instrc.engines.memory import LiveRun  # a run without a store
from instrc.problems.errors import AnswerError, ConflictError, InstrcError, NotFoundError
from instrc.runtime.effects import Effects
from instrc.runtime.journal import JournalEntry, begun, rebuild_journal
from instrc.runtime.plan import plan_of
from instrc.runtime.retry import ForkOptions, fork_of
from instrc.runtime.run_config import Launch, RunConfig
from instrc.text.jsontext import digest_of

CHAIN = process(
    serverContext1=chunk(step1_a=call("A", "prompt"), step2_b=call("B", "step1_a.text")),
    serverContext2=chunk(step3_c=call("C", "step2_b.text")),
)
DONE = {"text": "C(B(A(go)))"}
DOWN = ConnectionError("the line is down")
SLIP = NameError("name 'txet' is not defined")


def go(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(work, 240))


class Broken:
    """Handlers that fail as long as they are broken, and note who was called."""

    def __init__(self, stage: Any, error: Exception, *names: str) -> None:
        self.stage, self.broken = stage, dict.fromkeys(names, error)
        stage.handlers = {name: self.handler(name) for name in "ABC"}

    def handler(self, name: str) -> Callable[[Any], Any]:
        def work(given: Any) -> Any:
            if name in self.broken:
                raise self.broken[name]
            return {"text": f"{name}({given})"}

        return work

    @property
    def calls(self) -> list[str]:
        """Who was called, and under which key if it is not the usual one; each attempt once."""
        found = [f"{name}{key.partition('~')[1]}{key.partition('~')[2]}" for name, key, _ in self.stage.calls]
        return [name for name, before in zip(found, ["", *found], strict=False) if name != before]


async def until(holds: Callable[[], bool]) -> None:
    """Wait until something holds."""
    for _ in range(6000):
        if holds():
            return
        await asyncio.sleep(0.01)


def problem_of(error: pytest.ExceptionInfo[InstrcError]) -> tuple[str, str]:
    [problem] = error.value.problems
    return problem.name, f"{problem.message}; {problem.hint}"


@pytest.mark.parametrize(
    ("answer", "status", "value"),
    [
        ({"retry": True}, "done", DONE),
        ({"result": {"text": "b"}}, "done", {"text": "C(b)"}),
        ({"fail": True}, "failed", None),
    ],
)
def test_an_error_that_passes_holds_the_run_for_its_operator(stage: Any, answer: Any, status: str, value: Any) -> None:
    async def body() -> None:
        made = Broken(stage, DOWN, "B")
        report = await stage.start(CHAIN, failed="hold")
        assert (report.status, report.outcome) == ("held", None)
        [question] = report.questions
        assert (question.by, question.id, question.steps) == ("operator", "serverContext1.step2_b", ("step2_b",))
        error = question.show.pop("error")
        assert (error["code"], error["message"]) == ("unreachable", "ConnectionError: the line is down")
        assert question.show == {"activity": "B", "input": "A(go)"}
        for wrong in ({}, {"retry": False}, {"result": {"text": 1}}, {"retry": True, "fail": True}, "retry"):
            with pytest.raises(AnswerError) as raised:
                await stage.answer("b", wrong)
            assert problem_of(raised)[0] == "rejected-answer"
            words = {"{'retry': False}": "`/retry`", "{'result': {'text': 1}}": "`/result/text`: 1 is not of type"}
            assert words.get(str(wrong), "one of the members `retry`, `result`, `fail`") in str(raised.value)
        assert (await stage.retry()).status == "held", "it is still down"
        made.broken.clear()
        report = await stage.answer("b", answer)
        assert report.status == status
        assert report.outcome.get("value") == value
        assert "A" in made.calls[:1], "what was done is done once"
        assert made.calls.count("A") == 1

    go(body())


@pytest.mark.parametrize("failed", ["hold", "fail"])
@pytest.mark.parametrize("error", [DOWN, SLIP], ids=["passing", "slip"])
def test_a_retry_goes_on_from_what_failed_under_the_same_key(stage: Any, error: Exception, failed: str) -> None:
    async def body() -> None:
        made = Broken(stage, error, "B")
        report = await stage.start(CHAIN, failed=failed)
        assert report.status == ("held" if error is DOWN and failed == "hold" else "failed")
        assert (await stage.retry()).status == report.status
        made.broken.clear()
        report = await stage.retry()
        assert (report.status, report.outcome["value"]) == ("done", DONE)
        assert made.calls == ["A", "B", "C"]
        with pytest.raises(ConflictError) as raised:
            await stage.retry()
        assert problem_of(raised) == (
            "nothing-to-retry",
            "`r1` cannot continue: it is done; begin another run with what is recorded: `instrc fork`",
        )

    go(body())


def test_a_retry_under_another_key_or_from_an_earlier_step(stage: Any) -> None:
    async def body() -> None:
        made = Broken(stage, SLIP, "C")
        await stage.start(CHAIN)
        assert (await stage.retry(new_key=True)).status == "failed"
        assert made.calls == ["A", "B", "C", "C~2"]
        made.broken.clear()
        assert (await stage.retry("b")).outcome["value"] == DONE
        assert made.calls == ["A", "B", "C", "C~2", "B~2", "C~2"]

    go(body())


def test_who_failed_beside_others_is_retried_alone(stage: Any) -> None:
    document = process(
        eachContext1=each("x", "prompt", process(serverContext1=chunk(step1_w=call("W", "x"))), value="step1_w.text", key="step2")
    )

    async def body() -> None:
        broken, finished = {2}, set()

        async def work(given: Any) -> Any:
            if given in broken:
                while len(finished) < 2:  # noqa: ASYNC110  -- the others may be called in another event loop
                    await asyncio.sleep(0.02)
                await asyncio.sleep(0.3)  # what they return is recorded by then
                raise SLIP
            finished.add(given)
            return {"text": str(given)}

        stage.handlers = {"W": work}
        assert (await stage.start(document, {"prompt": [1, 2, 3]})).status == "failed"
        broken.clear()
        assert (await stage.retry()).outcome["value"] == ["1", "2", "3"]
        assert sorted(given for _, _, given in stage.calls) == [1, 2, 2, 3]

    go(body())


def test_all_that_failed_at_the_same_time_is_begun_again_by_one_retry(stage: Any) -> None:
    document = process(
        eachContext1=each("x", "prompt", process(serverContext1=chunk(step1_b=call("B", "x"))), value="step1_b.text", key="step2")
    )

    async def body() -> None:
        made = Broken(stage, SLIP, "B")
        assert (await stage.start(document, {"prompt": [1, 2, 3]})).status == "failed"
        made.broken.clear()
        report = await stage.retry()
        assert (report.status, report.outcome.get("value")) == ("done", ["B(1)", "B(2)", "B(3)"])

    go(body())


def test_a_try_sees_failures_first_and_what_is_in_its_else_is_held(stage: Any) -> None:
    document = process(
        tryContext1=attempt(
            process(serverContext1=chunk(step1_a=call("A", "prompt"))),
            process(serverContext2=chunk(step2_b=call("B", "prompt"))),
            ("step1_a", "step2_b"),
            key="step3",
        )
    )

    async def body() -> None:
        made = Broken(stage, DOWN, "A", "B")
        report = await stage.start(document, failed="hold")
        assert (report.status, [question.steps for question in report.questions]) == ("held", [("step2_b",)])
        made.broken.clear()
        assert (await stage.retry()).outcome["value"] == {"text": "B(go)"}
        assert made.calls == ["A", "B"], "a failure that was taken up stays"

    go(body())


FAIL = process(serverContext1=chunk(step1_a=call("A", "prompt")), serverContext2=chunk(step2_fail=call("Fail", "step1_a.text")))


@pytest.mark.parametrize(
    ("document", "error", "held"),
    [
        (CHAIN, ActivityError("no", code="404", retry=False), False),
        (CHAIN, ActivityError("no", code="503"), True),
        (CHAIN, ActivityError("no", code="429", retry=False), True),
        (CHAIN, ActivityError("no", code="unavailable"), True),
        (CHAIN, ActivityError("no", code="red"), False),
        (CHAIN, ValueError("no"), False),
    ],
)
def test_only_what_passes_holds(stage: Any, document: Any, error: Exception, held: Any) -> None:
    async def body() -> None:
        Broken(stage, error, "A")
        assert (await stage.start(document, failed="hold")).status == ("held" if held else "failed")

    go(body())


def test_a_limit_holds_and_goes_on_when_it_is_raised(stage: Any) -> None:
    document = process(
        llmContext1=chunk(step1_a=step(TEXT, "prompt")),
        llmContext2=chunk(step2_b=step(TEXT, "step1_a")),
        llmContext3=chunk(step3_c=step(TEXT, "step2_b")),
    )

    async def body(failed: str, run: str) -> None:
        asked: list[str] = []

        def answer(request: Any) -> Any:
            asked.append(request.key.partition("/")[2])
            return {request.name: {"text": "t"}}

        stage.model = answer
        report = await stage.start(document, run=run, failed=failed, requests=1)
        assert report.status == ("held" if failed == "hold" else "failed")
        if failed == "hold":
            [question] = report.questions
            assert (question.id, question.by, question.steps) == ("limit", "operator", ("step2_b",))
        with pytest.raises(ConflictError) as raised:
            await stage.retry(run=run, requests=1)
        words = "the run may spend 1 request on models, and has spent 1; raise it: `--requests 2`"
        assert problem_of(raised) == ("nothing-to-retry", f"`{run}` cannot continue: {words}")
        if failed == "hold":
            assert (await stage.answer("limit", {"requests": 2}, run=run)).status == "held"
        else:
            assert (await stage.retry(run=run, requests=2)).status == "failed"
        assert (await stage.retry(run=run, requests=9)).status == "done"
        assert asked == ["llmContext1", "llmContext2", "llmContext3"]

    go(body("hold", "r1"))
    go(body("fail", "r2"))


def test_an_answer_that_was_never_accepted_is_asked_for_anew_as_often(stage: Any) -> None:
    async def body() -> None:
        asked: list[str] = []

        def answer(request: Any) -> Any:
            asked.append(request.key.partition("/")[2])
            return {"step1_a": {"text": "t" if len(asked) == 5 else 1}}

        stage.model = answer
        report = await stage.start(process(llmContext1=chunk(step1_a=step(TEXT, "prompt"))))
        assert report.outcome["error"]["kind"] == "invalid"
        assert (await stage.retry()).outcome["value"] == {"text": "t"}
        assert asked == ["llmContext1", "llmContext1#2", "llmContext1#3", "llmContext1", "llmContext1#2"]

    go(body())


PARENT = process(serverContext1=chunk(step1_do=call("Do", "prompt")))


@pytest.mark.parametrize("way", ["retry", "answer", "fail"])
def test_a_process_that_serves_an_activity_goes_on_where_it_failed(stage: Any, way: str) -> None:
    async def body() -> None:
        made = Broken(stage, DOWN, "C")
        stage.handlers["Do"] = CHAIN
        status = (await stage.start(PARENT, failed="fail" if way == "fail" else "hold")).status
        assert status == ("failed" if way == "fail" else "held")
        made.broken.clear()
        report = await (stage.answer("do", {"retry": True}) if way == "answer" else stage.retry())
        assert report.outcome["value"] == DONE
        assert made.calls == ["A", "B", "C"]

    go(body())


@pytest.mark.parametrize("failed", ["fail", "hold"])
def test_a_process_in_a_process_goes_on_where_it_failed(stage: Any, failed: str) -> None:
    async def body() -> None:
        made = Broken(stage, DOWN, "C")
        works = chunk(step2_a=call("A", "prompt", TEXT, after=["step1_ask"]), step3_c=call("C", "step2_a.text"))
        inner = process(userContext1=chunk(step1_ask=step(DECISION, "prompt")), serverContext1=works)
        stage.handlers |= {"Do": process(serverContext1=chunk(step1_in=call("In", "prompt"))), "In": inner}
        await stage.start(PARENT, failed=failed)
        assert (await stage.answer("ask", {"decision": "Approve"})).status == ("failed" if failed == "fail" else "held")
        assert (await stage.retry()).status == ("failed" if failed == "fail" else "held"), "it is still down"
        made.broken.clear()
        assert (await stage.retry()).outcome["value"] == {"text": "C(A(go))"}
        assert made.calls == ["A", "C"]

    go(body())


@pytest.mark.parametrize("below", ["", "/serverContext1.step1_in"])
def test_a_retry_is_refused_before_anything_begins_if_a_process_fails_again_with_what_is_recorded(stage: Any, below: str) -> None:
    fails = chunk(step2_f=step(TEXT, arguments="step1_c.text", fail=True))
    failing = process(serverContext1=chunk(step1_c=call("C", "prompt")), serverContext2=fails)
    outer = process(serverContext1=chunk(step1_in=call("In", "prompt")))

    async def body() -> None:
        made = Broken(stage, SLIP)
        stage.handlers |= {"Do": outer if below else failing, "In": failing}
        before = await stage.start(PARENT)
        assert before.status == "failed"
        for _ in range(2):
            with pytest.raises(ConflictError) as raised:
                await stage.retry()
            name, words = problem_of(raised)
            assert name == "nothing-to-retry"
            reason = "cannot continue: `step2_f` fails again with what is recorded;"
            assert words.startswith(f"`r1/serverContext1.step1_do{below}` {reason}")
            assert await stage.engine.show("r1") == before
        assert made.calls == ["C"]

    go(body())


def test_a_retry_from_a_process_that_has_ended_asks_in_it_again(stage: Any) -> None:
    async def body() -> None:
        made = Broken(stage, SLIP, "C")
        works = chunk(step2_b=call("B", "prompt", TEXT, after=["step1_ask"]))
        stage.handlers["Do"] = process(userContext1=chunk(step1_ask=step(DECISION, "prompt")), serverContext1=works)
        await stage.start(process(serverContext1=chunk(step1_do=call("Do", "prompt"), step2_c=call("C", "step1_do.text"))))
        assert (await stage.answer("ask", {"decision": "Approve"})).status == "failed"
        made.broken.clear()
        assert len((await stage.retry("do")).questions) == 1
        assert (await stage.answer("ask", {"decision": "Approve"})).outcome["value"] == {"text": "C(B(go))"}

    go(body())


def test_a_process_that_has_another_value_after_a_retry_has_new_keys(stage: Any) -> None:
    """A service that knows a key would answer for the value of the first time."""
    document = process(serverContext1=chunk(step1_a=call("A", "prompt"), step2_do=call("Do", "step1_a.text")))

    async def body() -> None:
        made = Broken(stage, SLIP, "C")
        offers = iter(["10", "100"])
        stage.handlers["A"] = lambda _given: {"text": next(offers)}
        stage.handlers["Do"] = process(serverContext1=chunk(step1_b=call("B", "prompt"), step2_c=call("C", "step1_b.text")))
        assert (await stage.start(document)).status == "failed"
        made.broken.clear()
        assert (await stage.retry("a")).status == "done"
        assert [key for name, key, _ in stage.calls if name == "B"] == [
            "r1/serverContext1.step2_do/serverContext1.step1_b",
            "r1/serverContext1.step2_do~2/serverContext1.step1_b",
        ]

    go(body())


def test_a_process_goes_on_as_it_began_whatever_serves_its_activity_now(stage: Any) -> None:
    """What was answered and done belongs to the version of the process that asked for it."""

    async def body() -> None:
        made = Broken(stage, SLIP, "C")
        stage.handlers["Do"] = CHAIN
        assert (await stage.start(PARENT)).status == "failed"
        made.broken.clear()
        first = CHAIN["properties"]["serverContext1"]
        stage.handlers["Do"] = process(serverContext1=first, serverContext2=chunk(step3_c=call("C", "prompt")))
        assert (await stage.retry()).outcome["value"] == DONE
        assert made.calls == ["A", "B", "C"]

    go(body())


def approved(stage: Any) -> Broken:
    """Let a person decide in a process what another step has given, which gives something else each time."""
    made = Broken(stage, SLIP, "C")
    offers = iter(["10", "100"])
    stage.handlers["A"] = lambda _given: {"text": next(offers)}
    payment = call("C", "prompt", TEXT, "step1_ask")
    stage.handlers["Do"] = process(userContext1=chunk(step1_ask=step(DECISION, "prompt")), serverContext1=chunk(step2_c=payment))
    return made


def test_a_retry_from_an_earlier_step_asks_again_in_a_process_that_has_failed(stage: Any) -> None:
    async def body() -> None:
        made = approved(stage)
        await stage.start(process(serverContext1=chunk(step1_a=call("A", "prompt"), step2_do=call("Do", "step1_a.text"))))
        assert (await stage.answer("ask", {"decision": "Approve"})).status == "failed"
        made.broken.clear()
        assert [each.show for each in (await stage.retry("a")).questions] == [{"prompt": "100"}]
        assert made.calls == ["A", "C", "A~2"]
        assert (await stage.answer("ask", {"decision": "Approve"})).outcome["value"] == {"text": "C(100)"}

    go(body())


@pytest.mark.parametrize(("step", "shown"), [(None, "10"), ("a", "100")])
def test_a_process_that_was_withdrawn_asks_for_what_its_caller_now_gives(stage: Any, step: str | None, shown: str) -> None:
    """Its caller failed elsewhere while a person was asked, and goes on by a retry."""

    async def fails(_given: Any) -> Any:
        await until(lambda: any(event["event"] == "question" for event in stage.events))
        raise SLIP

    async def body() -> None:
        approved(stage).broken.clear()
        stage.handlers["B"] = fails
        both = chunk(step1_a=call("A", "prompt"), step2_b=call("B", "prompt"), step3_do=call("Do", "step1_a.text"))
        await stage.start(process(serverContext1=both))
        await stage.shown(lambda report: report.status == "failed")
        stage.handlers["B"] = lambda _given: {"text": ""}
        await stage.retry(step)
        report = await stage.shown(lambda report: len(report.questions) == 1)
        assert [each.show for each in report.questions] == [{"prompt": shown}]
        await stage.answer("ask", {"decision": "Approve"})
        report = await stage.shown(lambda report: report.has_ended)
        assert report.outcome["value"] == {"text": f"C({shown})"}

    go(body())


def test_the_deadlines_of_a_process_that_was_withdrawn_move_by_the_time_in_which_its_caller_did_nothing(stage: Any) -> None:
    asking = chunk(step1_ask=step(DECISION, "prompt", within="PT1H"))
    place = "serverContext1.step1_do"

    recorded: list[float] = []

    async def fails(_given: Any) -> Any:
        await until(lambda: bool(recorded) or isinstance(stage.engine, FolderEngine))
        await until(lambda: any(event["event"] == "question" for event in stage.events))
        raise SLIP

    async def due() -> float:
        while True:
            with suppress(KeyError, NotFoundError):  # it is not recorded yet
                if isinstance(stage.engine, FolderEngine):
                    return stage.engine._load("r1")["children"][place]["due"]["userContext1!within"]
                return (await stage.engine.journal(f"r1/{place}"))[1].due["userContext1!within"]
            await asyncio.sleep(0.01)

    async def body() -> None:
        stage.handlers = {"B": fails, "Do": process(userContext1=asking)}
        document = process(serverContext1=chunk(step1_do=call("Do", "prompt"), step2_b=call("B", "prompt")))
        begun = asyncio.create_task(stage.start(document))
        recorded.append(await due())
        await begun
        await stage.shown(lambda report: report.status == "failed")
        stage.handlers["B"] = lambda _given: {"text": ""}
        await stage.retry()
        await stage.shown(lambda report: len(report.questions) == 1)
        async with asyncio.timeout(20):
            while await due() <= recorded[0]:  # noqa: ASYNC110  -- another process records it
                await asyncio.sleep(0.01)

    go(body())


def test_a_process_in_which_a_person_has_refused_is_begun_anew_by_a_retry(stage: Any) -> None:
    properties = {**DECISION["properties"], **TEXT["properties"]}
    asking = process(userContext1=chunk(step1_ask=step({**TEXT, "properties": properties}, "prompt")))

    async def body() -> None:
        stage.handlers = {"Do": asking}
        await stage.start(PARENT)
        assert (await stage.answer("ask", {"text": "", "decision": "Reject"})).outcome["error"]["code"] == "stopped"
        await stage.retry()
        assert (await stage.answer("ask", {"text": "yes", "decision": "Approve"})).status == "done"

    go(body())


def test_a_repeated_process_has_new_keys_also_after_people_were_asked_in_it(stage: Any) -> None:
    asking = process(
        userContext1=chunk(step1_ask=step(DECISION, "prompt")),
        serverContext1=chunk(step2_b=call("B", "prompt", TEXT, after=["step1_ask"])),
    )
    document = process(
        serverContext1=chunk(step1_a=call("A", "prompt"), step2_do=call("Do", "step1_a.text"), step3_c=call("C", "step2_do.text"))
    )

    async def body() -> None:
        made = Broken(stage, SLIP, "C")
        stage.handlers["Do"] = asking
        await stage.start(document)
        assert (await stage.answer("ask", {"decision": "Approve"})).status == "failed"
        made.broken.clear()
        await stage.retry("a")
        assert (await stage.answer("ask", {"decision": "Approve"})).status == "done"
        assert [key for name, key, _ in stage.calls if name == "B"] == [
            "r1/serverContext1.step2_do/serverContext1.step2_b",
            "r1/serverContext1.step2_do~2/serverContext1.step2_b",
        ]

    go(body())


def test_a_repeated_step_has_a_new_deadline(stage: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    document = process(
        serverContext1=chunk(step1_a=call("A", "prompt", within="PT5M"), step2_b=call("B", "prompt")),
        serverContext2=chunk(step3_c=call("C", ["step1_a.text", "step2_b.text"])),
    )

    async def body() -> None:
        now = [time()]
        monkeypatch.setattr("instrc.engines.memory_port.time", lambda: now[0])
        made = Broken(stage, SLIP, "C")
        quick = stage.handlers["A"]

        async def slow(given: Any) -> Any:
            await asyncio.sleep(0.02 if "A" in made.calls[:-1] else 0)
            return quick(given)

        stage.handlers["A"] = slow
        assert (await stage.start(document)).status == "failed"
        now[0] += 3600
        made.broken.clear()
        assert (await stage.retry("a")).status == "done"

    go(body())


@pytest.mark.parametrize("below", [False, True])
def test_a_handle_moves_open_deadlines_by_the_time_since_it_failed(monkeypatch: pytest.MonkeyPatch, *, below: bool) -> None:
    now, broken = [time()], [SLIP]
    for module in ("memory", "memory_port"):
        monkeypatch.setattr(f"instrc.engines.{module}.time", lambda: now[0])

    async def pay(_given: Any) -> Any:
        await asyncio.sleep(0)
        if broken:
            raise broken[0]
        return {"text": "paid"}

    async def body() -> None:
        paying = process(serverContext1=chunk(step1_c=call("C", "prompt", within="PT5M")))
        activities = Activities({"C": pay, **({"Do": paying} if below else {})})
        document = process(serverContext1=chunk(step1_do=call("Do", "prompt"))) if below else paying
        plan = plan_of(document, activities=activities.names())
        run = LiveRun(plan, begun(plan, {"prompt": "go"}), Effects("r1", None, activities))
        assert (await run.resume_async()).status == "failed"
        now[0] += 3600
        broken.clear()
        assert (await run.retry_async()).status == "done"

    go(body())


def test_an_open_deadline_of_a_failed_run_moves_by_the_time_in_which_it_did_nothing() -> None:
    document = process(
        serverContext1=chunk(step1_a=call("A", "prompt"), step2_c=call("C", "step1_a.text")),
        userContext1=chunk(step3_ask=step(TEXT, "step1_a", within="PT1H")),
    )
    entries: list[JournalEntry] = [
        {"results": [("serverContext1.step1_a", {"ok": {"text": "a"}})]},
        {"due": {"userContext1!within": 100}},
        {"results": [("serverContext1.step2_c", {"error": {"kind": "failed", "message": "down"}})]},
        {"again": {"drop": ["serverContext1.step2_c"], "shift": 50}},
    ]
    assert rebuild_journal(plan_of(document), {"prompt": "go"}, entries).due == {"userContext1!within": 150}


def test_a_fork_reuses_what_is_done_before_a_step_and_takes_edits(stage: Any) -> None:
    async def body() -> None:
        made = Broken(stage, SLIP, "C")
        before = (await stage.start(CHAIN)).outcome
        made.broken.clear()
        for options, calls, value in (
            (ForkOptions(run="f1"), ["C"], DONE),
            (ForkOptions("b", run="f2"), ["B", "C"], DONE),
            (ForkOptions(edits={"a": {"text": "x"}}, run="f3"), ["B", "C"], {"text": "C(B(x))"}),
            (ForkOptions(edits={"c": {"text": "z"}}, run="f4"), [], {"text": "z"}),
        ):
            stage.calls.clear()
            launch = await forked(stage.engine, "r1", options)
            await stage.engine.start(launch)
            report = await stage.settled(launch.run)
            assert report.outcome["value"] == value
            assert made.calls == calls
            digests = {step: digest_of(value) for step, value in (options.edits or {}).items()}
            assert report.forked == {"run": "r1", "at": options.step, **({"edits": digests} if digests else {})}
            assert {key.partition("/")[0] for _, key, _ in stage.calls} <= {options.run}
        other = await forked(stage.engine, "r1", ForkOptions(edits={"a": {"text": "other"}}, run="f6"))
        same = replace(other, run="f3")  # as of somebody who looked at the same moment, and found no run `f3`
        with pytest.raises(ConflictError):
            await stage.engine.start(same)
        assert (await stage.engine.show("r1")).outcome == before
        for options, name in (
            (ForkOptions("nope"), "no-such-step"),
            (ForkOptions(edits={"a": {"text": 1}}), "rejected-answer"),
            (ForkOptions(run="../f5"), "unusable-setting"),
            (ForkOptions(run="r1"), "run-exists"),
            (ForkOptions(edits={"a": {"text": "y"}}, run="f3"), "run-exists"),
        ):
            with pytest.raises(InstrcError) as raised:
                await forked(stage.engine, "r1", options)
            assert problem_of(raised)[0] == name

    go(body())


def test_what_is_wrong_with_an_edit_of_an_activity_is_said_of_what_its_handler_gives() -> None:
    sent = {"type": "object", "properties": {"output": {"type": "string"}}, "required": ["output"]}
    document = process(serverContext1=chunk(step1_send={**sent, "references": ["prompt"], "activity": "Send"}))
    plan, inputs = plan_of(document, activities=["Send"]), {"prompt": "go"}
    journal = rebuild_journal(plan, inputs, [{"results": [("serverContext1.step1_send", {"ok": {"output": "sent"}})]}])
    for value in (5, {"output": 5}):
        with pytest.raises(AnswerError, match="at `/output`: 5 is not of type"):
            fork_of("r1", journal, ForkOptions(edits={"send": value}), plan, inputs)


def test_a_fork_of_another_version_takes_what_still_fits(stage: Any) -> None:
    shifted = process(
        llmContext1=chunk(step1_new=step(TEXT, "prompt")),
        serverContext2=chunk(step2_a=call("A", "prompt"), step3_b=call("B", "step2_a.text")),
        serverContext3=chunk(step4_c=call("C", "step1_new.text")),
    )
    other = process(serverContext1=chunk(step1_a=call("A", {"const": 7}), step2_b=call("B", "step1_a.text")))

    async def body() -> None:
        made = Broken(stage, SLIP, "C")
        await stage.start(CHAIN)
        made.broken.clear()
        stage.calls.clear()
        launch, journal = await stage.engine.journal("r1")
        plan = plan_of(shifted)
        found = fork_of("r1", journal, ForkOptions(), plan, launch.inputs)
        stage.model = lambda _request: {"step1_new": {"text": "n"}}
        await stage.engine.start(Launch("f1", "test", plan, launch.inputs, RunConfig(), found.entries))
        assert (await stage.settled("f1")).outcome["value"] == {"text": "C(n)"}
        assert made.calls == ["C"]
        with pytest.raises(ConflictError) as raised:
            fork_of("r1", journal, ForkOptions(), plan_of(other), launch.inputs)
        assert problem_of(raised) == (
            "cannot-fork",
            (
                "the program does not repeat the requests that `r1` has completed: `step1_a`, `step2_b`; "
                "`step1_a`: it has another `input`; restore it, or run it again: `--at step1_a,step2_b`"
            ),
        )
        assert fork_of("r1", journal, ForkOptions("step1_a, b"), plan_of(other), launch.inputs).entries == []
        renamed = process(serverContext1=chunk(step1_a=call("A", "prompt"), step2_d=call("C", "step1_a.text")))
        with pytest.raises(ConflictError, match="`step2_b`: the program has no step `b`"):
            fork_of("r1", journal, ForkOptions(), plan_of(renamed), launch.inputs)

    go(body())


@pytest.mark.parametrize(
    ("before", "now"),
    [("step1_a", "step2_a"), ("payContext1", "payContext2"), ("step1", "step2"), ({"step1_a": "x"}, {"step2_a": "x"})],
)
def test_a_fork_of_another_version_reuses_nothing_that_was_for_another_value(before: Any, now: Any) -> None:
    """Only names of steps lose their numbers: neither an approval nor a payment is for a text or a member that looks like one."""

    def approving(target: Any, shift: int = 0) -> Any:
        asks = {**DECISION, "references": [], "arguments": {"target": {"const": target}}}
        pays = {**call("A", {"const": target}, TEXT, f"step{1 + shift}_approve.decision")}
        steps = chunk(**{f"step{1 + shift}_approve": asks}), chunk(**{f"step{2 + shift}_pay": pays})
        return process(**{f"userContext{1 + shift}": steps[0], f"serverContext{2 + shift}": steps[1]})

    plan, inputs = plan_of(approving(before)), {"prompt": "go"}
    results: Any = [("userContext1", {"ok": {"decision": "Approve"}}), ("serverContext2.step2_pay", {"ok": {"text": "paid"}})]
    journal = rebuild_journal(plan, inputs, [{"results": [each]} for each in results])
    assert len(fork_of("r1", journal, ForkOptions(), plan_of(approving(before, 3)), inputs).entries) == 2
    with pytest.raises(ConflictError, match="`step1_approve`: it has another `show`"):
        fork_of("r1", journal, ForkOptions(), plan_of(approving(now)), inputs)


async def _gone(stage: Any) -> None:
    """Wait until a run is not there: a server of Temporal deletes in rounds of half a minute."""
    while "r1" in {report.run for report in await stage.engine.runs()}:  # noqa: ASYNC110  -- nothing says when
        await asyncio.sleep(0.1)


def test_a_run_that_has_ended_is_deleted_with_those_below_it(stage: Any) -> None:
    async def body() -> None:
        made = Broken(stage, DOWN, "C")
        stage.handlers["Do"] = CHAIN
        await stage.start(process(serverContext1=chunk(step1_do=call("Do", "prompt"))), failed="hold")
        with pytest.raises(ConflictError) as raised:
            await stage.engine.delete("r1")
        assert problem_of(raised)[0] == "run-goes-on"
        made.broken.clear()
        assert (await stage.retry()).status == "done"
        assert [report.run for report in await stage.engine.runs()].count("r1") == 1
        await stage.engine.delete("r1")
        await asyncio.wait_for(_gone(stage), 120)

    go(body())


def test_a_model_that_is_down_holds_too(stage: Any) -> None:
    async def body() -> None:
        down = [ModelError("overloaded", code="529", retry=True)]
        stage.model = lambda _request: down[0] if down else {"step1_a": {"text": "t"}}
        report = await stage.start(process(llmContext1=chunk(step1_a=step(TEXT, "prompt"))), failed="hold")
        assert [question.show["error"]["code"] for question in report.questions] == ["529"]
        down.clear()
        assert (await stage.retry()).status == "done"

    go(body())


def test_the_operator_answers_for_the_only_step_of_a_tool_by_its_name(stage: Any) -> None:
    async def body() -> None:
        stage.model = lambda _request: ModelError("overloaded", code="529", retry=True)
        tool = {"type": "object", "properties": {"text": {"type": "string"}}}
        for run, limit, answer in (("r1", 9, {"result": {"text": "t"}}), ("r2", 0, {"fail": True})):
            report = await stage.start(tool, run=run, failed="hold", step="draft", requests=limit)
            assert [question.steps for question in report.questions] == [("draft",)]
            assert (await stage.answer("Draft", answer, run=run)).status == ("done" if limit else "failed")

    go(body())


@pytest.mark.parametrize("failed", ["hold", "fail"])
def test_a_retry_asks_another_model_from_then_on(stage: Any, failed: str) -> None:
    two = process(llmContext1=chunk(step1_a=step(TEXT, "prompt")), llmContext2=chunk(step2_b=step(TEXT, "step1_a")))
    parent = process(serverContext1=chunk(step1_do=call("Do", "prompt"), step2_again=call("Do", "step1_do.text")))

    async def body(document: Any, run: str) -> None:
        asked: list[str | None] = []

        def answer(request: Any) -> Any:
            asked.append(request.model)
            good = request.model == "other" or len(asked) == 1
            return {request.name: {"text": "t"}} if good else ModelError("no such model", code="404")

        stage.model = answer
        report = await stage.start(document, run=run, failed=failed)
        assert report.status == "failed", "a wrong name is no passing error"
        report = await stage.retry(run=run, model="other")
        assert asked == [None, None] + ["other"] * (1 if document is two else 3)
        assert (report.outcome["status"], report.outcome.get("value")) == ("done", {"text": "t"}), report.outcome

    stage.handlers["Do"] = two
    go(body(two, "r1"))
    go(body(parent, "r2"))
