"""Schedules that a Temporal server keeps: the same commands as for a database, and the same ids of runs."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from secrets import token_hex
from typing import Any

import pytest
from google.protobuf.timestamp_pb2 import Timestamp
from temporalio.api.workflowservice.v1 import ListScheduleMatchingTimesRequest
from temporalio.client import ScheduleOverlapPolicy
from written_processes import DECISION, chunk, process, step

from instrc import Activities, InstrcError, Scripted
from instrc.engines.schedules import Clock
from instrc.engines.temporal.temporal_engine import TemporalEngine  # the engine itself, with effects of the test
from instrc.runtime.effects import Effects
from instrc.runtime.plan import plan_of
from instrc.runtime.run_config import Launch

DOCUMENT = process(userContext1=chunk(step1_confirm=step(DECISION, "prompt")))
ASKS = """
const answer = prompt | @{ title: "Approve_User", type: "object", properties: { decision: { enum: ["Approve", "Reject"] } },
  required: ["decision"] };
"""
HOURLY = Clock("0 * * * *")


def engine_of(folder: Path) -> TemporalEngine:
    def equip(run: str, _plan: Any, _how: Any, sink: Any) -> Effects:
        return Effects(run, Scripted({}), Activities(), sink)

    name = token_hex(4)
    return TemporalEngine(folder, equip, queue=f"ticks-{name}", prefix=f"{name}.")


@pytest.fixture
def engine(tmp_path: Path, temporal_server: Any, monkeypatch: pytest.MonkeyPatch) -> TemporalEngine:
    monkeypatch.setenv("TEMPORAL_ADDRESS", temporal_server.address)
    return engine_of(tmp_path)


LAUNCH = Launch("none", "ask", plan_of(DOCUMENT), {"prompt": "go"})


def test_a_tick_begins_a_run_and_none_beside_one_that_goes_on(engine: TemporalEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    async def waiting(count: int) -> list[str]:
        for _ in range(600):
            found = [report.run for report in await engine.runs() if report.status == "waiting"]
            if len(found) == count:
                return found
            await asyncio.sleep(0.05)
        pytest.fail(f"there are never {count} runs that wait")

    async def body() -> None:
        assert await engine.schedules() == []
        added = await engine.schedule("daily", HOURLY, LAUNCH)
        assert (added.name, added.program, added.clock, added.last) == ("daily", "ask", HOURLY, None)
        assert added.due is not None
        assert added.due % 3600 == 0
        with pytest.raises(InstrcError, match="there is one with this name"):
            await engine.schedule("daily", HOURLY, LAUNCH)
        client = await engine._client()
        handle = client.get_schedule_handle(f"{engine.prefix}daily")
        async with engine._served(carry=True):
            await handle.trigger(overlap=ScheduleOverlapPolicy.SKIP)
            [run] = await waiting(1)
            assert run.startswith("daily-20")
            assert len(run) == len("daily-20261130T060000Z")
            await handle.trigger(overlap=ScheduleOverlapPolicy.SKIP)
            while not (await handle.describe()).info.num_actions_skipped_overlap:  # noqa: ASYNC110  -- nothing says when
                await asyncio.sleep(0.05)
            assert await waiting(1) == [run], "the last run goes on"
            assert [each.last for each in await engine.schedules()] == [run]
            other = await engine.trigger("daily")
            if other != run:  # not in the same second
                assert set(await waiting(2)) == {run, other}
            assert (await engine.answer(run, "confirm", {"decision": "Approve"})).status == "done"
            assert (await engine.journal(run))[0].inputs == {"prompt": "go"}
            [tick] = [each.action.workflow_id for each in (await handle.describe()).info.recent_actions]
            deleted: list[str] = []

            async def delete(asked: Any) -> None:
                deleted.append(asked.workflow_execution.workflow_id)

            monkeypatch.setattr(client.workflow_service, "delete_workflow_execution", delete)
            await engine.delete(run)
            assert sorted(deleted) == sorted([f"{engine.prefix}{run}", tick]), "the tick has its result"
        assert (await engine.pause("daily", paused=True)).due is None
        assert (await engine.pause("daily", paused=False)).due == added.due
        await engine.unschedule("daily")
        for gone in (engine.trigger("daily"), engine.unschedule("daily"), engine.pause("daily", paused=True)):
            with pytest.raises(InstrcError, match="there is none with this name"):
                await gone

    asyncio.run(asyncio.wait_for(body(), 90))


@pytest.mark.parametrize(("overlap", "count", "after_its_end"), [("skip", 1, 1), ("queue", 1, 2), ("both", 2, 2)])
def test_a_tick_while_the_last_run_goes_on_is_skipped_or_queued_or_begins_beside_it(
    engine: TemporalEngine, overlap: Any, count: int, after_its_end: int
) -> None:
    async def body() -> None:
        assert (await engine.schedule("daily", HOURLY, LAUNCH, overlap)).overlap == overlap
        [listed] = await engine.schedules()
        assert listed.overlap == overlap
        handle = (await engine._client()).get_schedule_handle(f"{engine.prefix}daily")

        async def runs_with(fewest: int) -> list[str]:
            for _ in range(600):
                runs = [report.run for report in await engine.runs() if report.status in {"waiting", "done"}]
                if len(runs) >= fewest:
                    return runs
                await asyncio.sleep(0.05)
            pytest.fail(f"there are never {fewest} runs")

        async with engine._served(carry=True):
            await handle.trigger()
            [first] = await runs_with(1)
            await asyncio.sleep(1.1)  # the ids of ticks have seconds
            await handle.trigger()
            await asyncio.sleep(2)
            assert len(await runs_with(count)) == count
            await engine.answer(first, "confirm", {"decision": "Approve"})
            assert len(await runs_with(after_its_end)) == after_its_end
            await asyncio.sleep(1)
            assert len(await runs_with(after_its_end)) == after_its_end

    asyncio.run(asyncio.wait_for(body(), 90))


@pytest.mark.parametrize(
    "cron", ["*/20 6 * * 1-5", "0 6 13 * 5", "30 2 1,15 */2 *", "0 0 * * 7", "0 9 * jan-mar mon,wed", "15 10 29 2 *"]
)
def test_a_server_reads_times_as_they_are_meant(engine: TemporalEngine, cron: str) -> None:
    clock = Clock(cron, "Europe/Berlin")
    assert asyncio.run(engine.schedule("daily", clock, LAUNCH)).due is not None


def test_times_that_a_server_reads_in_another_way_are_refused(engine: TemporalEngine) -> None:
    for cron in ("0 0 l * *", "0 0 * * 5#3"):
        with pytest.raises(InstrcError, match="the server interprets them differently"):
            asyncio.run(engine.schedule("daily", Clock(cron), LAUNCH))
    assert asyncio.run(engine.schedules()) == []


BACK, FORWARD = datetime(2026, 10, 24, 22, tzinfo=UTC), datetime(2027, 3, 27, 22, tzinfo=UTC)
"""Six hours in which the clocks of Berlin change, at 1:00 in UTC both times."""


@pytest.mark.parametrize(
    ("cron", "back", "forward"),
    [
        ("0 3 * * *", ["02:00"], ["01:00"]),
        ("30 2 * * *", ["01:30"], []),
        ("30 1 * * *", ["23:30", "00:30"], ["00:30"]),
        ("0 * * * *", ["23:00", "00:00", "02:00", "03:00"], ["23:00", "00:00", "01:00", "02:00", "03:00"]),
    ],
    ids=["behind the change", "in the hour that changes", "in the hour before", "each hour"],
)
def test_where_clocks_change_a_server_begins_what_the_page_says(
    cron: str, back: list[str], forward: list[str], engine: TemporalEngine
) -> None:
    """A database begins a daily run once and an hourly one each hour; a server of Temporal reads the clock itself."""

    async def times(first: datetime) -> list[str]:
        client = await engine._client()
        start, end = Timestamp(), Timestamp()
        start.FromDatetime(first)
        end.FromDatetime(first + timedelta(hours=5, minutes=30))
        asked = ListScheduleMatchingTimesRequest(
            namespace=client.namespace, schedule_id=f"{engine.prefix}daily", start_time=start, end_time=end
        )
        answer = await client.workflow_service.list_schedule_matching_times(asked)
        return [each.ToDatetime().strftime("%H:%M") for each in answer.start_time]

    async def body() -> None:
        await engine.schedule("daily", Clock(cron, "Europe/Berlin"), LAUNCH)
        assert (await times(BACK), await times(FORWARD)) == (back, forward)

    asyncio.run(body())
