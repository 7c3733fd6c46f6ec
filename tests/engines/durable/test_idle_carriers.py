"""The process that carries runs: one store gives way to another, it ends in order, and it rests while all runs wait."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from secrets import token_hex
from typing import Any

import pytest
from dbos._sys_db import SystemDatabase  # it is away for a moment
from sqlalchemy.exc import OperationalError
from written_processes import ASK, DECISION, attempt, call, chunk, process, step

from instrc import Activities, Sample
from instrc.engines.dbos import runner, store  # processes are stopped between two steps of it
from instrc.engines.dbos.durable_engine import DurableEngine  # the engine itself, with effects of the test
from instrc.engines.dbos.runner import EventLoopThread, LoopEndedError, Runner  # moments of a carrier that no run can choose
from instrc.problems.errors import UnavailableError
from instrc.runtime.effects import Effects
from instrc.runtime.plan import plan_of
from instrc.runtime.run_config import Launch
from instrc.runtime.run_report import RunReport

LATE = process(
    tryContext1=attempt(
        process(userContext1=chunk(step1_confirm=step(DECISION, "prompt", within="PT3S"))),
        process(serverContext1=chunk(step2_send=call("Send", "error"))),
        ("step1_confirm", "step2_send"),
        key="step3_try",
    )
)
ABOVE = process(serverContext1=chunk(step1_trip=call("Trip", "prompt")))
LATE_CHILD = process(
    tryContext1=attempt(
        process(serverContext1=chunk(step1_trip=call("Trip", "prompt", within="PT2S"))),
        process(userContext1=chunk(step2_confirm=step(DECISION, "error"))),
        ("step1_trip", "step2_confirm"),
        key="step3_try",
    )
)
YES = {"decision": "Approve"}


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Callable[[str], DurableEngine]]:
    engines: list[DurableEngine] = []

    def equip(run: str, _plan: Any, _how: Any, sink: Any) -> Effects:
        return Effects(run, Sample(), Activities({"Send": lambda given: {"text": str(given)}, "Trip": ASK}), sink)

    def make(name: str = "store") -> DurableEngine:
        engines.append(DurableEngine(tmp_path / name, equip))
        return engines[-1]

    yield make
    for engine in engines:
        engine.close()


def go(work: Any) -> Any:
    return asyncio.run(asyncio.wait_for(work, 240))


def begin(engine: DurableEngine, document: Any = ASK, run: str = "r1") -> RunReport:
    report: RunReport = go(engine.start(Launch(run, "test", plan_of(document), {"prompt": "go"})))
    return report


def asleep(engine: DurableEngine) -> Runner:
    runner = engine._runner
    assert runner is not None
    deadline = time.monotonic() + 60
    while not runner.rest.asleep:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return runner


def test_a_store_that_gives_way_to_another_is_opened_again_by_who_was_about_to_use_it(
    made: Callable[[str], DurableEngine], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = made("one"), made("two")
    assert begin(one).status == "waiting"
    real, between = one._open, [lambda: begin(two)]

    def opened() -> Runner | None:
        runner = real()
        while between:
            between.pop()()
        return runner

    monkeypatch.setattr(one, "_open", opened)
    assert go(one.answer("r1", "confirm", YES)).status == "done"
    assert go(two.answer("r1", "confirm", YES)).status == "done"


def test_a_store_that_is_used_does_not_give_way(made: Callable[[str], DurableEngine]) -> None:
    one, two = made("one"), made("two")

    async def body() -> None:
        async with one._carrier():
            with pytest.raises(UnavailableError) as raised:
                await two.start(Launch("r1", "test", plan_of(ASK), {"prompt": "go"}))
            assert raised.value.problems[0].name == "store-in-use"

    go(body())
    assert begin(two).status == "waiting"


def test_a_loop_ends_what_is_still_carried_out(made: Callable[[str], DurableEngine]) -> None:
    loop, begun, ended = EventLoopThread("test"), threading.Event(), []

    async def long() -> None:
        begun.set()
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.01)
            ended.append("in order")

    async def body() -> None:
        loop.start()
        waiting = asyncio.ensure_future(loop.away(long()))
        await asyncio.to_thread(begun.wait)
        await asyncio.to_thread(loop.end)
        with pytest.raises(LoopEndedError):
            await waiting
        with pytest.raises(LoopEndedError):
            await loop.away(long())

    go(body())
    assert ended == ["in order"]


def test_a_store_that_its_program_closes_while_it_is_used_is_a_problem(made: Callable[[str], DurableEngine]) -> None:
    engine = made("store")

    async def body() -> None:
        async with engine._carrier() as runner:
            assert runner is not None
            engine.close()
            with pytest.raises(UnavailableError) as raised:
                await runner.away(runner.resume("r1"))
            assert raised.value.problems[0].name == "unusable-store"

    go(body())


class TestRest:
    """What happens while nothing is done but to wait for people."""

    @pytest.fixture(autouse=True)
    def at_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(runner, "LINGER", 0.0)

    def test_it_wakes_for_an_answer_of_this_process_or_another(self, made: Callable[[str], DurableEngine]) -> None:
        engine = made("store")
        begin(engine), begin(engine, run="r2")
        runner = asleep(engine)
        assert runner.live == {}
        assert runner.rest.parked == {"r1": None, "r2": None}
        assert go(engine.answer("r1", "confirm", YES)).status == "done"
        asleep(engine)
        letter = store.Letter(token_hex(16), "r2", {"answer": "userContext1", "data": YES})
        store.send(engine.asker.db(), letter)
        while store.verdict_of(engine.asker.db(), letter.id) == "open":
            time.sleep(0.02)
        assert go(engine.resume("r2")).status == "done"

    def test_an_answer_of_this_process_wakes_it_without_a_look_in_between(
        self, made: Callable[[str], DurableEngine], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        engine = made("store")
        begin(engine)
        asleep(engine)
        monkeypatch.setattr(runner, "POLL", 300.0)
        time.sleep(0.5)  # it looks for the last time
        assert go(engine.answer("r1", "confirm", YES)).status == "done"

    def test_it_wakes_after_a_database_that_was_away_for_a_moment(
        self, made: Callable[[str], DurableEngine], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        engine = made("store")
        begin(engine)
        asleep(engine)
        real, faults = SystemDatabase.create_application_version, [OperationalError("", {}, Exception("disk I/O error"))]

        def away(self: Any, name: str) -> Any:
            if faults:
                raise faults.pop()
            return real(self, name)

        monkeypatch.setattr(SystemDatabase, "create_application_version", away)
        with pytest.raises(UnavailableError):
            go(engine.answer("r1", "confirm", YES))
        assert go(engine.answer("r1", "confirm", YES)).status == "done"

    def test_it_wakes_for_a_run_that_another_process_begins(self, made: Callable[[str], DurableEngine]) -> None:
        engine = made("store")
        begin(engine)
        asleep(engine)
        launch = {"run": "r2", "name": "test", "plan": plan_of(ASK), "inputs": {"prompt": "go"}, "how": {}}
        with engine.asker.db().begin() as connection:
            store.enqueue(engine.asker.client(), connection, launch)  # type: ignore[arg-type]  # a launch of a test
        while go(engine.show("r2")).status != "waiting":
            time.sleep(0.05)

    @pytest.mark.long
    def test_deadlines_pass_also_while_other_runs_wake_it(self, made: Callable[[str], DurableEngine]) -> None:
        engine = made("store")
        begin(engine, LATE, "late"), begin(engine)
        assert asleep(engine).rest.parked["late"] is not None
        assert go(engine.answer("r1", "confirm", YES)).status == "done"
        while go(engine.show("late")).status == "waiting":
            time.sleep(0.05)
        assert "timeout" in go(engine.resume("late")).outcome["value"]["text"]

    def test_a_child_is_answered_after_a_rest(self, made: Callable[[str], DurableEngine]) -> None:
        engine = made("store")
        [question] = begin(engine, ABOVE).questions
        asleep(engine)
        assert go(engine.answer("r1", question.id, YES)).status == "done"

    @pytest.mark.long
    def test_a_run_rests_again_when_the_deadline_of_a_child_has_passed(self, made: Callable[[str], DurableEngine]) -> None:
        """The child rested, which its parent no longer counts as work; when it is cancelled, that is not taken off twice."""
        engine = made("store")
        begin(engine, LATE_CHILD)
        while ("step2_confirm",) not in [asked.steps for asked in go(engine.show("r1")).questions]:
            time.sleep(0.05)
        asleep(engine)
        assert go(engine.answer("r1", "step2_confirm", YES)).status == "done"

    def test_a_run_rests_when_the_deadline_of_a_child_passes_while_it_is_started(
        self, made: Callable[[str], DurableEngine]
    ) -> None:
        """The child is cancelled once it is there; only then has the run nothing more to do than to wait."""
        engine = made("store")
        early = json.loads(json.dumps(LATE_CHILD).replace("PT2S", "PT0.01S"))
        assert begin(engine, early).status == "waiting"
        asleep(engine)
        assert [asked.steps for asked in go(engine.show("r1")).questions] == [("step2_confirm",)]

    def test_a_run_is_cancelled_at_rest_and_the_store_closed(self, made: Callable[[str], DurableEngine]) -> None:
        engine = made("store")
        begin(engine)
        asleep(engine)
        assert go(engine.cancel("r1")).status == "cancelled"
        engine.close()
        assert go(engine.show("r1")).status == "cancelled"


@pytest.mark.parametrize("way", ["answered here", "answered elsewhere", "cancelled", "late"])
def test_a_run_that_only_waits_is_left_while_the_process_is_busy(way: str, made: Callable[[str], DurableEngine]) -> None:
    """A thousand waiting runs need the memory of none; each goes on as if it had stayed."""
    engine = made("store")
    begin(engine, LATE if way == "late" else ASK)
    runner = engine._runner
    assert runner is not None
    runner.enter()  # so that it does not rest as a whole
    deadline = time.monotonic() + 60
    while runner.live:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert "r1" in runner.rest.parked
    assert not runner.rest.asleep
    if way == "answered here":
        assert go(engine.answer("r1", "confirm", YES)).status == "done"
    elif way == "answered elsewhere":
        letter = store.Letter(token_hex(16), "r1", {"answer": "userContext1", "data": YES})
        store.send(engine.asker.db(), letter)
        while store.verdict_of(engine.asker.db(), letter.id) == "open":
            assert time.monotonic() < deadline
            time.sleep(0.02)
        assert go(engine.resume("r1")).status == "done"
    elif way == "cancelled":
        assert go(engine.cancel("r1")).status == "cancelled"
    else:
        while go(engine.show("r1")).status != "done":
            assert time.monotonic() < deadline
            time.sleep(0.05)
    assert "r1" not in runner.rest.parked or way == "cancelled"
    runner.leave()


def test_a_run_that_is_answered_while_another_is_left_goes_on(
    made: Callable[[str], DurableEngine], monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = made("store")
    monkeypatch.setattr(runner, "PARK_AFTER", 600.0)
    begin(engine), begin(engine, run="r2")
    carrier = engine._runner
    assert carrier is not None
    carrier.enter()  # so that it does not rest as a whole
    park, left = carrier.park, list[str]()
    leaving, answered = threading.Event(), threading.Event()

    async def slow(run: str, due: float | None) -> None:
        left.append(run)
        leaving.set()
        await asyncio.to_thread(answered.wait, 60)
        await park(run, due)

    monkeypatch.setattr(carrier, "park", slow)
    deadline = time.monotonic() + 60
    while carrier.rest._idle.keys() != {"r1", "r2"}:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    monkeypatch.setattr(runner, "PARK_AFTER", 0.0)
    assert leaving.wait(60)
    [first] = left
    other = "r2" if first == "r1" else "r1"
    assert go(engine.answer(other, "confirm", YES)).status == "done"
    answered.set()
    carrier.loop.wait(asyncio.sleep(0.5))
    assert (left, set(carrier.rest.parked)) == ([first], {first})
    carrier.leave()
