"""What the port of a workflow does with commands, one rule a test: the workflow around it is played here, without a server."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Coroutine
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("temporalio")

from temporalio.exceptions import ActivityError, ApplicationError, CancelledError, ChildWorkflowError
from written_processes import ASK, TEXT, chunk, process, step

from instrc.engines.temporal import workflow as carrier  # the wire, and a workflow without a server
from instrc.engines.temporal.workflow import RunWorkflow, TemporalPort  # a workflow without a server
from instrc.runtime.interpreter import versions
from instrc.runtime.plan import plan_of
from instrc.runtime.run_config import Launch, RunConfig
from instrc.text.jsontext import dumps

LAUNCH: Any = {"run": "r1", "digest": "d", "heartbeat": 5, "events": 10, "how": {}, "carried": "what the parent took along"}
NOTHING: Any = {"state": {}, "due": {}, "later": [], "unread": {}}


class Workflow:
    """Stands for `temporalio.workflow`: activities last until they are told to end."""

    def __init__(self) -> None:
        self.begun: dict[str, asyncio.Future[Any]] = {}
        self.children: list[tuple[str, Any]] = []
        self.sent: Counter[int] = Counter()
        self.length = 0
        self.size = 0
        self.suggested = False
        self.cancelled: str | None = None
        self.ends: asyncio.Event | None = None
        self.outcome: Any = {"status": "done", "value": {"text": "served"}, "output": None}

    def info(self) -> Any:
        return SimpleNamespace(
            workflow_id="w1",
            is_continue_as_new_suggested=lambda: self.suggested,
            get_current_history_length=lambda: self.length,
            get_current_history_size=lambda: self.size,
        )

    def patched(self, _name: str) -> bool:
        return True

    def time(self) -> float:
        return 100.0

    def cancellation_reason(self) -> str | None:
        return self.cancelled

    async def execute_activity(self, _name: str, given: Any, *, activity_id: str, **_how: Any) -> Any:
        self.sent[self.length] += len(dumps(given))
        return await self.begun.setdefault(activity_id, asyncio.get_running_loop().create_future())

    async def execute_child_workflow(self, _name: str, launch: Any, *, id: str, **_how: Any) -> Any:  # noqa: A002  -- its name there
        self.sent[self.length] += len(dumps(launch))
        self.children.append((id, launch))
        if isinstance(self.outcome, Exception):
            raise self.outcome
        if self.ends is not None:
            await self.ends.wait()
        return {"outcome": self.outcome, "record": {}}


@pytest.fixture
def workflow(monkeypatch: pytest.MonkeyPatch) -> Workflow:
    made = Workflow()
    monkeypatch.setattr(carrier, "workflow", made)
    monkeypatch.setattr(carrier, "COMMANDS_IN_FLIGHT", 2)
    return made


def go(work: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(asyncio.wait_for(work, 240))


def activity(name: str) -> Any:
    return {
        "kind": "activity",
        "id": name,
        "step": name,
        "activity": "Send",
        "process": None,
        "called": "Send",
        "input": {},
        "schema": True,
    }


async def turn() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


def test_no_more_fly_than_may_and_each_that_lands_lets_the_next_begin(workflow: Workflow) -> None:
    async def body() -> None:
        made = TemporalPort(LAUNCH, {**NOTHING, "due": {}, "unread": {}})
        works = {name: made.start(activity(name)) for name in "abcd"}
        await turn()
        assert sorted(workflow.begun) == ["a", "b"]
        workflow.begun["b"].set_result({"ok": 1})
        assert await made.wait_first(works) == [("b", {"ok": 1})]
        await turn()
        assert sorted(workflow.begun) == ["a", "b", "c"]
        workflow.begun["a"].set_exception(asyncio.CancelledError())
        assert await made.wait_first(works) == []
        await turn()
        assert sorted(workflow.begun) == ["a", "b", "c", "d"], "one that was taken back leaves its room too"
        assert made.flying == 2

    go(body())


def test_one_that_was_held_back_and_is_not_waited_for_any_more_never_begins(workflow: Workflow) -> None:
    async def body() -> None:
        made = TemporalPort(LAUNCH, {**NOTHING, "due": {}, "unread": {}})
        works = {name: made.start(activity(name)) for name in "abcd"}
        works["c"].cancel()
        await turn()
        workflow.begun["a"].set_result({"ok": 1})
        await turn()
        assert sorted(workflow.begun) == ["a", "b", "d"]

    go(body())


@pytest.mark.parametrize("reason", ["the server says so", "it is long"])
def test_nothing_begins_while_the_history_is_about_to_be_begun_anew(workflow: Workflow, reason: str) -> None:
    async def body() -> None:
        made = TemporalPort(LAUNCH, {**NOTHING, "due": {}, "unread": {}})
        works = {name: made.start(activity(name)) for name in "ab"}
        await turn()
        workflow.length = 10
        assert not made.ending, "as long as it may be"
        workflow.suggested, workflow.length = (True, 10) if reason == "the server says so" else (False, 11)
        works["c"] = made.start(activity("c"))
        assert not made.want_handoff(), "two are in flight"
        workflow.begun["a"].set_result({"ok": 1})
        workflow.begun["b"].set_result({"ok": 2})
        await turn()
        assert sorted(workflow.begun) == ["a", "b"]
        assert not made.want_handoff(), "two have come that nobody has read"
        assert not made.idle
        assert await made.wait_first(works) == [("a", {"ok": 1}), ("b", {"ok": 2})]
        assert made.want_handoff()
        works["c"].cancel()
        assert len(made._kept_back) == 1, "it goes along into the new history"

    go(body())


def test_a_result_is_what_the_activity_gives_and_none_if_somebody_gives_it_later(workflow: Workflow) -> None:
    async def body() -> None:
        made = TemporalPort(LAUNCH, {**NOTHING, "due": {}, "unread": {}})
        asked = [asyncio.create_task(made.result_of(activity(name))) for name in "ab"]
        await turn()
        workflow.begun["a"].set_result({"ok": None})
        workflow.begun["b"].set_result({"pending": True})
        assert await asyncio.gather(*asked) == [{"ok": None}, None]

    go(body())


def test_a_process_that_serves_an_activity_is_a_workflow_below_with_its_own_beginning(workflow: Workflow) -> None:
    async def body() -> None:
        made = TemporalPort(LAUNCH, {**NOTHING, "due": {}, "unread": {}})
        asked = asyncio.create_task(made.result_of(activity("a")))
        await turn()
        workflow.begun["a"].set_result({"launch": {"name": "served", "plan": {}, "inputs": {}, "digest": "e"}})
        assert await asked == {"ok": {"text": "served"}}
        [(name, launch)] = workflow.children
        assert name == "w1/a"
        its_own = {
            "run": "r1/a",
            "digest": "e",
            "name": "served",
            "plan": {},
            "inputs": {},
            "how": RunConfig(failed="fail").to_json(),
        }
        assert launch == {"heartbeat": 5, "events": 10, **its_own}
        assert made.children == {}, "it has ended"

    go(body())


def test_a_process_that_waits_for_a_person_does_not_hold_up_what_runs_beside_it(workflow: Workflow) -> None:
    async def body() -> None:
        made = TemporalPort(LAUNCH, {**NOTHING, "due": {}, "unread": {}})
        works = {"a": made.start(activity("a"))}
        await turn()
        workflow.ends, workflow.suggested, workflow.length = asyncio.Event(), True, 39_000
        works["b"] = made.start(activity("b"))
        assert len(made._kept_back) == 1, "the server has suggested a new history"
        workflow.begun["a"].set_result({"launch": {"name": "served", "plan": {}, "inputs": {}, "digest": "e"}})
        await turn()
        assert sorted(workflow.begun) == ["a", "b"], "the process cannot go along into it"
        workflow.size = 21_000_000
        works["c"] = made.start(activity("c"))
        await turn()
        assert sorted(workflow.begun) == ["a", "b"], "the server would soon refuse more"
        workflow.ends.set()
        workflow.begun["b"].set_result({"ok": 1})
        await turn()
        assert sorted(name for name, _ in await made.wait_first(works)) == ["a", "b"]
        assert made.want_handoff()

    go(body())


def failed(cause: BaseException | None) -> ActivityError:
    error = ActivityError(
        "the activity",
        scheduled_event_id=1,
        started_event_id=2,
        identity="",
        activity_type="Send",
        activity_id="a",
        retry_state=None,
    )
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("cause", "message"),
    [(ApplicationError("no such town"), "no such town"), (None, "the activity"), (CancelledError("gone"), "gone")],
)
def test_an_activity_that_fails_is_a_failure_with_the_innermost_message(
    workflow: Workflow, cause: BaseException | None, message: str
) -> None:
    async def body() -> None:
        made = TemporalPort(LAUNCH, {**NOTHING, "due": {}, "unread": {}})
        asked = asyncio.create_task(made.result_of(activity("a")))
        await turn()
        workflow.begun["a"].set_exception(failed(cause))
        assert await asked == {"error": {"kind": "failed", "code": None, "message": message}}

    go(body())


def test_a_process_that_fails_is_a_failure_of_the_activity_it_serves(workflow: Workflow) -> None:
    async def body() -> None:
        made = TemporalPort(LAUNCH, {**NOTHING, "due": {}, "unread": {}})
        workflow.outcome = ChildWorkflowError(
            "the process",
            namespace="n",
            workflow_id="w1/a",
            run_id="",
            workflow_type="",
            initiated_event_id=1,
            started_event_id=2,
            retry_state=None,
        )
        asked = asyncio.create_task(made.result_of(activity("a")))
        await turn()
        workflow.begun["a"].set_result({"launch": {"name": "served", "plan": {}, "inputs": {}, "digest": "e"}})
        assert await asked == {"error": {"kind": "failed", "code": None, "message": "the process"}}
        assert made.children == {}

    go(body())


def test_a_process_that_fails_again_with_what_is_recorded_fails_its_activity_and_is_kept(workflow: Workflow) -> None:
    """An error in a workflow task would be tried again for ever."""
    plan = plan_of(process(serverContext1=chunk(step1_f=step(TEXT, "prompt", fail=True))))
    kept: Any = {"name": "served", "plan": plan, "inputs": {"prompt": "no"}, "digest": "e", "entries": []}

    async def body() -> None:
        made = TemporalPort(LAUNCH, {**NOTHING, "due": {}, "unread": {}, "failed": {"a": kept}})
        asked = asyncio.create_task(made.result_of(activity("a")))
        await turn()
        workflow.begun["a"].set_result({"launch": {"name": "served", "plan": {}, "inputs": {}, "digest": "e"}})
        error = (await asked)["error"]
        assert error["message"].startswith("`r1/a` cannot continue: `step1_f` fails again with what is recorded")
        assert (workflow.children, made.children, made.failed) == ([], {}, {"a": kept})

    go(body())


@pytest.mark.parametrize("cause", [CancelledError("gone"), ApplicationError("no such town")])
def test_in_a_run_that_is_ended_what_was_taken_back_ends_with_it(workflow: Workflow, cause: BaseException) -> None:
    async def body() -> None:
        made = TemporalPort(LAUNCH, {**NOTHING, "due": {}, "unread": {}})
        workflow.cancelled = "somebody ends the run"
        asked = asyncio.create_task(made.result_of(activity("a")))
        await turn()
        workflow.begun["a"].set_exception(failed(cause))
        if isinstance(cause, CancelledError):
            with pytest.raises(ActivityError):
                await asked
        else:
            assert (await asked)["error"]["message"] == "no such town"

    go(body())


def test_an_answer_before_the_activity_says_that_it_comes_later_is_its_result(workflow: Workflow) -> None:
    async def body() -> None:
        made = TemporalPort(LAUNCH, {**NOTHING, "due": {}, "unread": {}})
        works = {"a": made.start(activity("a"))}
        await turn()
        made.give("a", {"ok": "quick"})
        workflow.begun["a"].set_result({"pending": True})
        assert await made.wait_first(works) == [("a", {"ok": "quick"})]
        assert not made.unread
        assert not made.later

    go(body())


def test_a_run_is_idle_when_all_that_is_open_waits_for_people(workflow: Workflow) -> None:
    async def body() -> None:
        made = TemporalPort(LAUNCH, {**NOTHING, "due": {}, "unread": {}})
        assert not made.idle, "nothing is open"
        works = {"a": made.start(activity("a"))}
        await turn()
        assert not made.idle
        workflow.begun["a"].set_result({"pending": True})
        assert await made.wait_first(works) == []
        assert made.idle
        made.give("a", {"ok": 1})
        assert not made.idle
        assert await made.wait_first(works) == [("a", {"ok": 1})]

    go(body())


MESSAGE = 4 * 1024 * 1024
"""Bytes of a message that the server refuses."""


@pytest.mark.parametrize("served", [False, True])
def test_a_workflow_task_sends_no_more_than_the_server_takes(
    workflow: Workflow,
    monkeypatch: pytest.MonkeyPatch,
    served: bool,  # noqa: FBT001  -- a row
) -> None:
    """What has no room is sent by the next one, in the order of the commands."""
    monkeypatch.setattr(carrier, "COMMANDS_IN_FLIGHT", 500)
    wait = asyncio.sleep

    async def sleep(seconds: float) -> None:
        workflow.length += 1 if seconds else 0
        await wait(0)

    monkeypatch.setattr(asyncio, "sleep", sleep)

    async def body() -> None:
        made = TemporalPort({**LAUNCH, "events": 1000}, {**NOTHING, "due": {}, "unread": {}})
        names = [f"a{number}" for number in range(100)]
        for name in names:
            made.start({**activity(name), "input": {} if served else {"text": "x" * 100_000}})
        while len(workflow.begun) < len(names):
            await wait(0)
        assert [*workflow.begun] == names
        begun = {"name": "served", "plan": {"process": "x" * 100_000}, "inputs": {}, "digest": "e"}
        for name in names if served else ():
            workflow.begun[name].set_result({"launch": begun})
        while served and len(workflow.children) < len(names):
            await wait(0)
        assert 3 <= len(workflow.sent) <= 5
        assert max(workflow.sent.values()) < MESSAGE

    go(body())


def test_values_that_lie_beside_the_history_are_sent_at_once(workflow: Workflow, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(carrier, "COMMANDS_IN_FLIGHT", 500)

    async def body() -> None:
        made = TemporalPort(LAUNCH, {**NOTHING, "due": {}, "unread": {}})
        for number in range(50):
            made.start({**activity(f"a{number}"), "input": {"text": "x" * 200_000}})
        await turn()
        assert len(workflow.begun) == 50

    go(body())


def test_workers_tell_a_process_with_another_model_from_the_one_before(workflow: Workflow) -> None:
    """They keep launches by their digests."""

    async def digest(model: str | None) -> Any:
        made = TemporalPort(LAUNCH, {**NOTHING, "due": {}, "unread": {}, "model": model})
        workflow.begun.clear()
        asked = asyncio.create_task(made.result_of(activity("a")))
        await turn()
        workflow.begun["a"].set_result({"launch": {"name": "served", "plan": {}, "inputs": {}, "digest": "e"}})
        await asked
        return workflow.children[-1][1]["digest"]

    async def body() -> None:
        assert len({await digest(None), await digest("openai:a"), await digest("openai:b")}) == 3

    go(body())


def test_of_two_answers_in_one_workflow_task_the_first_is_taken_and_the_second_is_refused(
    workflow: Workflow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("instrc.engines.temporal.documents.tell", lambda *_told, **_facts: None)

    async def body() -> None:
        launch: Any = {**LAUNCH, **Launch("r1", "test", plan_of(ASK), {"prompt": "x"}).to_json()}
        launch.pop("carried")
        flow = RunWorkflow(launch)
        works = {each["id"]: flow.port.start(each) for each in versions.issue(flow.launch["plan"], flow.state)}
        [asked] = flow.questions()
        letters: list[Any] = [{"answer": asked.id, "data": {"decision": each}} for each in ("Approve", "Reject")]
        flow.refuse(letters[0])
        flow.answer(letters[0])
        assert flow.questions() == []
        with pytest.raises(ApplicationError, match=asked.id):
            flow.refuse(letters[1])
        flow.told(letters[1])
        assert await flow.port.wait_first(works) == [(asked.id, {"ok": {"decision": "Approve"}})]
        assert flow.port.unread == {}

    go(body())
