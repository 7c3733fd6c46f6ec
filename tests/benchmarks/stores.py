"""What a store costs: `python tests/benchmarks/stores.py dbos|http|service|size`.

`dbos` compares runs with bare DBOS in SQLite and PostgreSQL, 20 at once and one at a time, by wall clock and processor time.
`http` compares requests to a service with the same requests to a bare Starlette application with DBOS.
`service` shares processor time between a service and workers while 200 runs are started over HTTP.
`size` writes 100,000 finished and 5,000 waiting runs, and measures the lists of a service and the deletion of 1,000 runs.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from signal import SIGCONT, SIGSTOP
from statistics import median
from time import perf_counter, process_time, time
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "server"))

import httpx
import psycopg
from engines import chain, equip, work
from postgres_server import postgres
from temporal_server import free_port
from test_killed_under_load import Processes, project, until

from instrc.engines.dbos.durable_engine import DurableEngine  # the engine itself, with effects of the test
from instrc.engines.places import store_of  # the database without the engine
from instrc.runtime.plan import plan_of
from instrc.runtime.run_config import Launch

STEPS, RUNS, ROUNDS = 5, 20, 3
STARTED = 200
SHARES = ((1, 2), (3, 2), (3, 6))
"""Workers, and activities of the program, of which each takes 0.4 s."""
FINISHED, WAITING, DELETED = 100_000, 5_000, 1_000
SAMPLES = 40
STREAMS = 10
TICKS = os.sysconf("SC_CLK_TCK")


async def timed(once: Callable[[str], Awaitable[object]]) -> None:
    """Print wall and processor seconds of runs at once, and one after the other: the best of several rounds."""
    for number in range(3):
        await once(f"warm{number}")
    for kind in ("together", "apart"):
        best = (float("inf"), float("inf"))
        for turn in range(ROUNDS):
            names, began, cpu = [f"{kind}{turn}-{number}" for number in range(RUNS)], perf_counter(), process_time()
            if kind == "together":
                await asyncio.gather(*map(once, names))
            else:
                for name in names:
                    await once(name)
            best = min(best[0], perf_counter() - began), min(best[1], process_time() - cpu)
        print(*best)


async def ours(place: str) -> None:
    engine, plan = DurableEngine(place, equip), plan_of(chain(STEPS))

    async def once(name: str) -> None:
        assert (await engine.start(Launch(name, "bench", plan, {"prompt": "go"}))).status == "done"

    await timed(once)
    await asyncio.to_thread(engine.close)


def settings_of(place: str) -> Any:
    """Return the settings of bare DBOS for a store, with the engine and the serializer of ours."""
    from dbos import DBOSPortableJSONSerializer

    location = store_of(place)
    settings = {"name": "bare", "system_database_url": location.address, "system_database_engine": location.open()}
    return {**settings, "serializer": DBOSPortableJSONSerializer(), "log_level": "CRITICAL"}


async def bare(place: str) -> None:
    from dbos import DBOS, SetWorkflowID

    @DBOS.workflow(name="bare")
    async def flow(count: int) -> int:
        for _ in range(count):
            await DBOS.run_step_async({"name": "work"}, work, None)
        return count

    DBOS(config=settings_of(place))
    DBOS.launch()

    async def once(name: str) -> None:
        with SetWorkflowID(name):
            await (await DBOS.start_workflow_async(flow, STEPS)).get_result()

    await timed(once)
    DBOS.destroy()


def dbos(folder: Path, url: Callable[[], str]) -> None:
    """Compare both, each in a process and a store of its own."""
    for kind in ("SQLite", "PostgreSQL"):
        figures = []
        for side in ("ours", "bare"):
            line = [sys.executable, __file__, side, str(folder / side) if kind == "SQLite" else url()]
            lines = subprocess.run(line, check=True, capture_output=True, text=True).stdout.splitlines()
            figures.append([[float(part) for part in line.split()] for line in lines])
        for turn, own, other in zip((f"{RUNS} at once", "one at a time"), *figures, strict=True):
            for name, mine, theirs in zip(("wall", "CPU"), own, other, strict=True):
                print(f"{kind:<11} {turn:<14} {name:<5} {mine:6.2f} s  DBOS {theirs:6.2f} s  {mine / theirs:5.2f} times")


def seconds_of(process: subprocess.Popen[bytes]) -> float:
    """Return the processor seconds of a process."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def memory(process: subprocess.Popen[bytes]) -> int:
    """Return the resident megabytes of a process."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS"))) // 1024


@asynccontextmanager
async def served(folder: Path, url: str, *names: str) -> AsyncIterator[tuple[Processes, httpx.AsyncClient]]:
    """Start a service and workers, and yield them with a client that keeps its connection."""
    every = Processes(folder, url)
    key = every.key("ann", "admin")
    try:
        for name in names:
            await every.begin(name)
        async with httpx.AsyncClient(base_url=every.address, headers={"Authorization": f"Bearer {key}"}, timeout=60) as client:
            yield every, client
    finally:
        every.end()


async def requests(kind: str, ask: Callable[[], Awaitable[httpx.Response]]) -> None:
    """Print the median time of a request."""
    times = []
    for _ in range(SAMPLES):
        began = perf_counter()
        response = await ask()
        times.append(perf_counter() - began)
        assert response.is_success, response.text
    print(f"{kind:<42} p50 {median(times) * 1e3:6.1f} ms")


async def streams(kind: str, client: httpx.AsyncClient, paths: list[str], process: subprocess.Popen[bytes]) -> None:
    """Print the processor time of a server while clients read streams in which nothing happens."""

    async def read(path: str) -> None:
        async with client.stream("GET", path) as response:
            assert response.is_success
            async for _ in response.aiter_raw():
                pass

    reading = [asyncio.create_task(read(path)) for path in paths]
    await asyncio.sleep(2)
    before = seconds_of(process)
    await asyncio.sleep(10)
    assert not any(task.done() for task in reading)
    print(f"{kind:<42} {(seconds_of(process) - before) / 10:.1%} of a core")
    for task in reading:
        task.cancel()
    await asyncio.gather(*reading, return_exceptions=True)


def machine() -> float:
    """Return the processor seconds that all processes of this machine have used."""
    user, nice, system = Path("/proc/stat").read_text().split()[1:4]
    return (int(user) + int(nice) + int(system)) / TICKS


async def service(folder: Path, url: str) -> None:
    """Start runs over HTTP, let one worker carry them out, and then three, and print the processor time of each process."""
    for workers, steps in SHARES:
        chain = [f"const a{number} = Take_Activity({{ number: a{number - 1}.text }});" for number in range(2, steps)]
        lines = ["const a1 = Take_Activity({ number: prompt });", *chain, f"Take_Activity({{ number: a{steps - 1}.text }})\n"]
        (folder / "send.aug").write_text("\n".join(lines))
        names = ["server", *(f"worker{number}" for number in range(workers))]
        async with served(folder, url, *names) as (every, client):
            before = {name: seconds_of(each) for name, each in every.living.items()}
            idle, began = machine(), perf_counter()
            for name in names[1:]:
                every.living[name].send_signal(SIGSTOP)
            for number in range(STARTED):
                body = {"program": "send", "input": {"prompt": str(number)}}
                assert (await client.post("/v1/runs", json=body)).is_success
            started = perf_counter() - began
            for name in names[1:]:
                every.living[name].send_signal(SIGCONT)

            async def ended() -> bool:
                with psycopg.connect(url) as connection:
                    row = connection.execute("SELECT count(*) FROM instrc_index WHERE status = 'running'").fetchone()
                return row == (0,)

            await until(ended, 300)
            carried = perf_counter() - began - started
            spent = {name: seconds_of(each) - before[name] for name, each in every.living.items()}
            spent["the rest: database and this script"] = machine() - idle - sum(spent.values())
        print(f"{workers} workers, {steps} steps: {STARTED} runs started in {started:.1f} s, carried out in {carried:.1f} s")
        for name, seconds in spent.items():
            print(f"  {name:<34} {seconds:6.2f} s  {seconds / sum(spent.values()):4.0%}")


def multiply(url: str, run: str, name: str, count: int) -> None:
    """Copy all rows of a run under other ids, older ones under higher numbers."""
    with psycopg.connect(url) as connection:
        columns = connection.execute(
            "SELECT table_schema, table_name, array_agg(column_name::text) FROM information_schema.columns"
            " WHERE table_schema IN ('public', 'dbos') AND is_identity = 'NO'"
            " AND COALESCE(column_default, '') NOT LIKE 'nextval%' GROUP BY 1, 2"
        ).fetchall()
        for schema, table, every in columns:
            key = next((column for column in ("workflow_uuid", "run") if column in every), None)
            if key is None or table in {"instrc_feed", "instrc_audit", "instrc_mail", "instrc_events"}:
                continue
            listed = ", ".join(f'"{column}"' for column in every)
            other = {key: f"'{name}-' || n", "began": '"began" - n * 0.001', "owner_xid": "NULL"}
            values = ", ".join(other.get(column, f'"{column}"') for column in every)
            place = f'{schema}."{table}"'
            query = f"SELECT {values} FROM {place}, generate_series(1, {count}) n WHERE \"{key}\" = '{run}'"  # noqa: S608
            connection.execute(f"INSERT INTO {place} ({listed}) {query}".encode())
        connection.execute(b"ANALYZE")


async def size(folder: Path, url: str) -> None:
    """Write many runs, and measure what people and operators ask of a service."""
    (folder / "send.aug").write_text("Take_Activity({ number: prompt })\n")
    every = Processes(folder, url)
    run = ("--input", "1", "--id")
    for words in (("run", "send.aug", *run, "done"), ("run", "order.aug", *run, "open"), ("runs",)):  # which fills the table once
        line = every.command(*words)
        subprocess.run(line, cwd=folder, check=False, capture_output=True)  # noqa: ASYNC221  -- nothing else happens here
    multiply(url, "done", "done", FINISHED)
    multiply(url, "open", "open", WAITING)
    async with served(folder, url, "server") as (every, client):
        for path in ("/v1/runs?limit=50", "/v1/questions?limit=50", "/v1/runs?status=failed&limit=50", "/v1/runs/open"):
            await requests(path, lambda path=path: client.get(path))  # type: ignore[misc]  # a default is not inferred
        began = time()
        run = (await client.post("/v1/runs", json={"program": "order", "input": {"prompt": "x"}})).json()["run"]

        async def listed() -> bool:
            return run in [each["run"] for each in (await client.get("/v1/runs?limit=50")).json()["items"]]

        await until(listed, 60)
        print(f"a new run is listed after {time() - began:.2f} s")
        server = every.living["server"]
        before = seconds_of(server)
        await asyncio.sleep(10)
        print(f"the service at rest: {memory(server)} MB, {(seconds_of(server) - before) / 10:.1%} of a core")
    with psycopg.connect(url) as connection:
        query = "UPDATE instrc_index SET began = 1 WHERE run IN (SELECT 'done-' || n FROM generate_series(1, %s) n)"
        connection.execute(query, (DELETED,))
    began = perf_counter()
    line = every.command("runs", "--do", "delete", "--before", "P3650D", "--yes")
    deleted = subprocess.run(line, cwd=folder, check=True, capture_output=True, text=True)  # noqa: ASYNC221  -- as above
    print(f"{deleted.stdout.strip() or deleted.stderr.strip()}: {perf_counter() - began:.1f} s, with the start of the command")


async def http(folder: Path, url: Callable[[], str]) -> None:
    """Compare requests with those to a bare application, which knows no callers, rights, limits or audit log."""
    store = url()
    async with served(folder, store, "server", "worker0") as (every, client):
        body = {"program": "order", "input": {"prompt": "x"}}
        await requests("start", lambda: client.post("/v1/runs", json=body))

        async def waiting() -> bool:
            return len((await client.get("/v1/questions?limit=100")).json()["items"]) == SAMPLES

        await until(waiting, 120)
        questions = (await client.get("/v1/questions?limit=100")).json()["items"]
        await requests("status", lambda: client.get(f"/v1/runs/{questions[0]['run']}"))
        await requests("list of 50", lambda: client.get("/v1/runs?limit=50"))
        followed = [f"/v1/runs/{each['run']}/events" for each in questions[:STREAMS]]
        await streams(f"{STREAMS} streams", client, followed, every.living["server"])
        ids = iter([each["id"] for each in questions])
        answer = {"data": {"decision": "Approve", "note": "x"}}
        await requests("answer", lambda: client.post(f"/v1/questions/{next(ids)}/answer", json=answer))
        before = seconds_of(every.living["server"])
        await asyncio.sleep(10)
        print(f"at rest: {(seconds_of(every.living['server']) - before) / 10:.1%} of a core")
    port = free_port()
    process = subprocess.Popen([sys.executable, __file__, "application", url(), str(port)])  # noqa: ASYNC220  -- it starts at once
    try:
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:

            async def answers() -> bool:
                try:
                    return (await client.get("/runs")).is_success
                except httpx.TransportError:
                    return False

            await until(answers, 60)
            runs: list[str] = []

            async def start() -> httpx.Response:
                response = await client.post("/runs")
                runs.append(response.json()["run"])
                return response

            await requests("start, bare", start)
            await requests("status, bare", lambda: client.get(f"/runs/{runs[0]}"))
            await requests("list of 50, bare", lambda: client.get("/runs"))
            await streams(f"{STREAMS} streams, bare", client, [f"/runs/{run}/events" for run in runs[:STREAMS]], process)
            await requests("answer, bare", lambda: client.post(f"/runs/{runs.pop()}/answer"))
            before = seconds_of(process)
            await asyncio.sleep(10)
            print(f"at rest, bare: {(seconds_of(process) - before) / 10:.1%} of a core")
    finally:
        process.kill()
        process.wait()


def application(url: str, port: str) -> None:
    """Serve runs of bare DBOS that do a step, wait for an answer, and do another."""
    import uvicorn
    from dbos import DBOS
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import JSONResponse, Response, StreamingResponse
    from starlette.routing import Route

    @DBOS.workflow(name="bare")
    async def flow() -> None:
        await DBOS.run_step_async({"name": "work"}, work, None)
        await DBOS.recv_async("answer", timeout_seconds=600)
        await DBOS.run_step_async({"name": "work"}, work, None)

    async def start(_request: Request) -> Response:
        return JSONResponse({"run": (await DBOS.start_workflow_async(flow)).workflow_id})

    async def status(request: Request) -> Response:
        found = await DBOS.get_workflow_status_async(request.path_params["run"])
        return JSONResponse({"status": found and found.status})

    async def events(request: Request) -> Response:
        async def changes() -> AsyncIterator[str]:
            status = None
            while True:
                found = await DBOS.get_workflow_status_async(request.path_params["run"])
                if found is not None and found.status != status:
                    status = found.status
                    yield f"data: {status}\n\n"
                await asyncio.sleep(0.2)

        return StreamingResponse(changes(), media_type="text/event-stream")

    async def listed(_request: Request) -> Response:
        rows = await DBOS.list_workflows_async(limit=50, sort_desc=True)
        return JSONResponse([{"run": row.workflow_id, "status": row.status} for row in rows])

    async def answer(request: Request) -> Response:
        await DBOS.send_async(request.path_params["run"], {"decision": "Approve"}, topic="answer")
        return JSONResponse({})

    routes = [Route("/runs", start, methods=["POST"]), Route("/runs", listed), Route("/runs/{run}", status)]
    routes.append(Route("/runs/{run}/events", events))
    DBOS(config=settings_of(url))
    DBOS.launch()
    application = Starlette(routes=[*routes, Route("/runs/{run}/answer", answer, methods=["POST"])])
    uvicorn.run(application, port=int(port), log_level="error")


def main(kind: str, *given: str) -> None:
    if kind in {"ours", "bare"}:
        asyncio.run({"ours": ours, "bare": bare}[kind](*given))
    elif kind == "application":
        application(*given)
    else:
        with postgres() as server, tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            project(folder)
            if kind == "dbos":
                dbos(folder, server.fresh)
            elif kind == "http":
                asyncio.run(http(folder, server.fresh))
            else:
                asyncio.run({"service": service, "size": size}[kind](folder, server.fresh()))


if __name__ == "__main__":
    main(*sys.argv[1:])
