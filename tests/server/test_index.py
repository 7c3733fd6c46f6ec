"""Ten thousand runs that wait: lists come by an index, and what the service adds to a store is little."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from pathlib import Path
from statistics import median
from time import process_time

import pytest
import sqlalchemy as sa
from postgres_server import Database
from serving import ANSWER, BOB, BOSS, asking, go, launcher, opened, service

from instrc.engines import run_table, service_tables  # queries, whose plans are looked at
from instrc.problems.errors import UnreachableError
from instrc.runtime.engine_protocol import Engine
from instrc.runtime.run_report import RunFilter
from instrc.server import records  # as the service opens it

RUNS = 10_000


def filled(place: Path) -> records.Records:
    """Return records with ten thousand runs that wait, as the service writes them."""
    made = records.Records(str(place))
    rows = [{"run": f"r{n}", "program": f"p{n % 5}", "status": "waiting", "began": float(n), "seen": 0.0} for n in range(RUNS)]
    asked = [
        {"run": f"r{n}", "question": "q", "program": f"p{n % 5}", "by": "person", "steps": [], "show": {}, "schema": {}}
        | {"opened": float(n)}
        for n in range(RUNS)
    ]
    people = [
        {"who": "ann" if n % 2 else "group:leads", "opened": float(n), "run": f"r{n}", "question": "q"} for n in range(RUNS)
    ]
    with made.engine.begin() as connection:
        connection.execute(sa.insert(service_tables.RUNS), rows)
        connection.execute(sa.insert(service_tables.QUESTIONS), asked)
        connection.execute(sa.insert(service_tables.CANDIDATES), people)
    return made


def plan(made: records.Records, query: sa.Select[*tuple[object, ...]]) -> str:
    """Return how SQLite carries a query out."""
    text = query.compile(made.engine, compile_kwargs={"literal_binds": True})
    with made.engine.connect() as connection:
        return "\n".join(str(row[-1]) for row in connection.execute(sa.text(f"EXPLAIN QUERY PLAN {text}")))


def test_lists_read_an_index_and_sort_nothing(tmp_path: Path) -> None:
    made = filled(tmp_path)
    try:
        queries = {
            "all": run_table.runs_query(),
            "a page later": run_table.runs_query(before=(5000.0, "r5000")),
            "of a status": run_table.runs_query(RunFilter("waiting"), before=(5000.0, "r5000")),
            "of a program": run_table.runs_query(RunFilter(program="p1")),
            "questions": run_table.questions_query(),
            "questions of ann": run_table.questions_query(who=["ann", "*", "group:leads"]),
            "of one run": run_table.questions_query(run="r7"),
        }
        for name, query in queries.items():
            said = plan(made, query.limit(50))
            assert "USING" in said, name
            assert "SCAN instrc_index\n" not in f"{said}\n", (name, said)
            assert name == "of one run" or "TEMP B-TREE" not in said, (name, said)
        began = process_time()
        assert len(made.runs(run_table.runs_query(RunFilter("waiting"), before=(5000.0, "r5000")))) == 50
        assert len(made.questions(run_table.questions_query(who=["ann"], after=(5000.0, "r5000", "q")))) == 50
        assert process_time() - began < 2
    finally:
        made.close()


def test_a_reader_of_the_feed_misses_nothing_of_a_slower_writer(postgres_server: Database) -> None:
    made = records.Records(postgres_server.fresh())
    slow_one, go_on = threading.Event(), threading.Event()

    @sa.event.listens_for(made.engine, "commit")
    def wait(_connection: sa.Connection) -> None:
        if not slow_one.is_set():
            slow_one.set()
            assert go_on.wait(60)

    try:
        with ThreadPoolExecutor() as pool:
            slow = pool.submit(made.tell, run_table.RunChange("run.started", "slow", "p"))
            assert slow_one.wait(60)
            quick = pool.submit(made.tell, run_table.RunChange("run.started", "quick", "p"))
            wait_for([quick], timeout=0.5)
            seen = made.feed(0)
            go_on.set()
            slow.result()
            quick.result()
        seen += made.feed(max((each.number for each in seen), default=0))
        assert [each.run for each in seen] == ["slow", "quick"]
    finally:
        made.close()


@pytest.mark.long
def test_starts_and_answers_cost_at_most_three_times_the_store(tmp_path: Path) -> None:
    """The same program on the same kind of store, with the service and without, in turns; CPU is counted, whatever else runs."""

    async def bare(engine: Engine, number: int) -> tuple[float, float]:
        launch = launcher("pay", asking()).launch("x", f"bare-{number}")
        began = process_time()
        await engine.start(launch)
        started = process_time()
        await engine.answer(launch.run, "userContext1", ANSWER)
        return started - began, process_time() - started

    async def body() -> None:
        async with opened(service(tmp_path, name="durable", records=str(tmp_path), pay=asking())) as made:
            times: dict[str, list[tuple[float, float]]] = {"bare": [], "service": []}
            for number in range(30):  # the median of twelve was once a fifth off
                times["bare"].append(await bare(made.engine, number))
                began = process_time()
                info = await made.start(BOSS, "pay", "x", wait=10)
                started = process_time()
                await made.answer(BOB, info.report.run, "userContext1", ANSWER)
                times["service"].append((started - began, process_time() - started))
                await asyncio.sleep(0)
            for index, what in enumerate(("start", "answer")):
                ours, theirs = (median(each[index] for each in times[name]) for name in ("service", "bare"))
                assert ours < 3 * theirs, (what, ours, theirs)

    go(body())


def test_a_database_that_does_not_answer_is_a_problem() -> None:
    with pytest.raises(UnreachableError) as raised:
        records.Records("postgresql://instrc:secret@127.0.0.1:1/runs")
    [problem] = raised.value.problems
    assert problem.name == "unusable-store"
    assert "secret" not in problem.message
