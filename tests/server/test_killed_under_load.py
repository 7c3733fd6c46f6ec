"""A service that begins runs, and three workers that carry them: whatever is killed or stands still, nothing is lost."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import httpx
import pytest
from postgres_server import Database, postgres
from temporal_server import free_port

AT_ONCE = 6
FROZEN = 6.0
"""Seconds for which a worker stands still."""
DOWN = 2.0
"""Seconds for which the database is away."""
READY = 60.0
"""Seconds for a process to begin on a busy machine."""
PATIENCE = 120.0
"""Seconds for anything else."""
PEOPLE = ("ann", "bob", "cat")
PROGRAMS = {
    "order": """
const order = Take_Activity({ number: prompt });
const approval = Approve_User(order);
Ship_Activity({ order, approval })
""",
    "count": """
repeat {
  const tick = Tick_Activity({ number: round });
  tick
} until tick.last max 1000
""",
}
SETTINGS = """
[tool.instrc.run]
engine = "durable"

[tool.instrc.activities]
Take_Activity = "shop:take"
Ship_Activity = "shop:ship"
Tick_Activity = "shop:tick"

[tool.instrc.serve]
rate = 1000000
"""
HANDLERS = """
import json, os, time
from instrc import current_call

LOG = os.open("effects.jsonl", os.O_WRONLY | os.O_CREAT | os.O_APPEND)


def done(seconds, result):
    time.sleep(seconds / 2)
    os.write(LOG, (json.dumps([current_call().key, result]) + "\\n").encode())
    time.sleep(seconds / 2)
    return result


def take(given):
    return done(0.4, {"text": f"order {given['number']}"})


def ship(given):
    return done(0.4, {"text": f"shipped {given['order']['text']}: {given['approval']['note']}"})


def tick(given):
    return done(0.6, {"number": given["number"], "last": os.path.exists("enough")})
"""


def project(folder: Path) -> None:
    """Write the programs, their vibes and their handlers."""
    text = {"type": "string"}
    vibes = {
        "take_Activity": {"text": text},
        "ship_Activity": {"text": text},
        "tick_Activity": {"number": {"type": "integer"}, "last": {"type": "boolean"}},
        "approve_User": {"decision": {"enum": ["Approve", "Reject"]}, "note": text},
    }
    (folder / "schemas").mkdir()
    for name, properties in vibes.items():
        schema = {"type": "object", "properties": properties, "required": [*properties]}
        (folder / "schemas" / f"{name}.vibe.json").write_text(json.dumps(schema))
    for name, program in PROGRAMS.items():
        (folder / f"{name}.aug").write_text(program)
    (folder / "pyproject.toml").write_text(SETTINGS)
    (folder / "shop.py").write_text(HANDLERS)


class Processes:
    """A service and three workers, of which one is killed now and then."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder, self.url, self.port = folder, url, free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self.lines = {
            "server": ["serve", ".", "--port", str(self.port)],
            **{f"worker{number}": ["worker"] for number in range(3)},
        }
        self.living: dict[str, subprocess.Popen[bytes]] = {}
        self.begun = Counter[str]()

    def command(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "instrc", *words, "--store", self.url]

    def key(self, name: str, *roles: str) -> str:
        """Make an API key for somebody."""
        words = ["serve", "--new-key", name, *(word for role in roles for word in ("--role", role))]
        made = subprocess.run(self.command(*words), cwd=self.folder, check=True, capture_output=True, text=True)
        return made.stdout.strip()

    async def begin(self, name: str) -> None:
        """Start a process, and wait until it is ready."""
        self.begun[name] += 1
        log = self.folder / f"{name}-{self.begun[name]}.log"
        with log.open("wb") as file:
            words = self.command(*self.lines[name])
            self.living[name] = subprocess.Popen(words, cwd=self.folder, stdout=file, stderr=file)  # noqa: ASYNC220  -- it begins at once

        async def ready() -> bool:
            assert self.living[name].poll() is None, log.read_text()
            return await self._answers() if name == "server" else "ready" in log.read_text()

        await until(ready, READY)

    async def _answers(self) -> bool:
        async with httpx.AsyncClient() as client:
            try:
                return (await client.get(f"{self.address}/readyz")).status_code == 200
            except httpx.TransportError:
                return False

    async def kill(self, name: str) -> None:
        """Kill a process, and start another in its place."""
        self.living[name].kill()
        self.living[name].wait()
        await self.begin(name)

    async def freeze(self, name: str) -> None:
        """Let a process stand still for a while."""
        self.living[name].send_signal(signal.SIGSTOP)
        await asyncio.sleep(FROZEN)
        self.living[name].send_signal(signal.SIGCONT)

    def end(self) -> None:
        """Kill all."""
        for each in self.living.values():
            each.kill()
            each.wait()


async def until(fits: Callable[[], Awaitable[bool]], seconds: float) -> None:
    end = time.monotonic() + seconds
    while not await fits():
        assert time.monotonic() < end, "it takes too long"
        await asyncio.sleep(0.1)


class Person:
    """Somebody with a key, whose client sends a request again when the server is not there."""

    def __init__(self, name: str, key: str, address: str) -> None:
        self.name = name
        self.http = httpx.AsyncClient(base_url=address, headers={"Authorization": f"Bearer {key}"}, timeout=60)
        self.again = 0

    async def ask(self, method: str, path: str, **more: Any) -> Any:
        """Send a request until there is a response of the service."""
        end = time.monotonic() + PATIENCE
        while True:
            try:
                response = await self.http.request(method, path, **more)
            except httpx.TransportError:
                response = None
            if response is not None and response.status_code != 503:
                assert response.is_success, (method, path, response.text)
                return response.json()
            self.again += 1
            assert time.monotonic() < end, "the service does not answer"
            await asyncio.sleep(0.2)

    async def start(self, program: str, prompt: Any, key: str) -> str:
        """Begin a run; the same one for the same key."""
        sent = {"program": program, "input": {"prompt": prompt} if program == "order" else {}}
        return str((await self.ask("POST", "/v1/runs", json=sent, headers={"Idempotency-Key": key}))["run"])

    async def settled(self, run: str, *statuses: str) -> Any:
        """Return a run as soon as it has a status."""
        end = time.monotonic() + PATIENCE
        while True:
            found = await self.ask("GET", f"/v1/runs/{run}")
            if found["status"] in statuses:
                return found
            assert found["status"] in {"running", "waiting"}, found
            assert time.monotonic() < end, found
            await asyncio.sleep(0.2)

    async def follow(self, path: str) -> AsyncIterator[tuple[int, str, Any]]:
        """Yield the events of a stream; where it breaks off, it goes on behind the last number."""
        last, end = 0, time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                async with self.http.stream("GET", path, headers={"Last-Event-ID": str(last)}) as response:
                    if response.status_code == 204:  # nothing more to tell
                        return
                    assert response.status_code in {200, 503}, response.status_code
                    event: dict[str, str] = {}
                    async for line in response.aiter_lines():
                        end = time.monotonic() + PATIENCE
                        if line:
                            event |= [line.partition(": ")[::2]]
                        elif "id" in event:
                            yield int(event["id"]), event["event"], json.loads(event["data"])
                            last, event = int(event["id"]), {}
            except httpx.TransportError:
                await asyncio.sleep(0.2)
        raise AssertionError(path)


async def served(person: Person, number: int, random: Random) -> dict[str, Any]:
    """Begin a run, answer its question, and return how it has ended; some requests are sent twice."""
    run = await person.start("order", str(number), f"order-{number}")
    if random.random() < 0.3:
        assert await person.start("order", str(number), f"order-{number}") == run
    (question,) = (await person.settled(run, "waiting"))["questions"]
    answer = {"data": {"decision": "Approve", "note": f"{person.name} on {number}"}}
    for _ in range(1 + (random.random() < 0.3)):
        await person.ask("POST", f"/v1/questions/{question['id']}/answer", json=answer)
    return {"number": number, "by": person.name, **await person.settled(run, "done")}


async def followed(person: Person, run: str) -> list[tuple[int, str, Any]]:
    """Return all events of a run, from before its beginning to its end."""
    found: list[tuple[int, str, Any]] = []
    async for number, kind, body in person.follow(f"/v1/runs/{run}/events"):
        assert kind != "gap", body
        if kind == "status" and body["status"] == "done":
            return found
        if kind not in {"snapshot", "status", "partial"}:
            found.append((number, kind, body))
    assert found[-1][1] == "ended"
    return found


async def all_happens(person: Person, runs: int) -> list[tuple[int, str, Any]]:
    """Return what happens to all runs, until so many have ended."""
    found: list[tuple[int, str, Any]] = []
    ended: set[str] = set()
    async for number, kind, body in person.follow("/v1/events"):
        found.append((number, kind, body))
        ended |= {body["run"]} if kind == "run.done" else set()
        if len(ended) == runs:
            return found
    raise AssertionError


@dataclass(frozen=True)
class Plan:
    """How many runs there are, and what happens meanwhile."""

    runs: int
    kills: int
    restarts: int
    freezes: int


async def under_load(
    processes: Processes, people: list[Person], database: Database, plan: Plan
) -> tuple[list[Any], list[Any], list[Any]]:
    """Serve people while processes are harmed; return how the runs have ended, the events of one, and what was told of all."""
    random = Random(plan.kills)  # noqa: S311  -- the same choices each time
    observer = people[-1]
    long = await observer.start("count", None, "count")
    streams = asyncio.create_task(followed(observer, long)), asyncio.create_task(all_happens(observer, plan.runs + 1))
    done: list[dict[str, Any]] = []
    pause = asyncio.Semaphore(AT_ONCE)
    calm = asyncio.Event()

    async def one(number: int) -> None:
        async with pause:
            done.append(await served(people[number % len(PEOPLE)], number, Random(number)))  # noqa: S311  -- as above

    async def harm() -> None:
        harms = ["kill"] * plan.kills + ["restart"] * plan.restarts + ["freeze"] * plan.freezes
        random.shuffle(harms)
        for what in harms:
            await asyncio.sleep(random.uniform(2, 4))
            if what == "kill":
                await processes.kill(random.choice([*processes.lines]))
            elif what == "freeze":
                await processes.freeze(random.choice([name for name in processes.lines if name != "server"]))
            else:
                await asyncio.to_thread(database.kill)
                await asyncio.sleep(DOWN)
                await asyncio.to_thread(database.begin)
        calm.set()

    async def load() -> None:
        async with asyncio.TaskGroup() as group:
            for number in range(plan.runs):
                group.create_task(one(number))
                await asyncio.wait([asyncio.ensure_future(calm.wait())], timeout=plan.kills * 6 / plan.runs)

    async with asyncio.TaskGroup() as group:
        group.create_task(harm())
        group.create_task(load())
    (processes.folder / "enough").touch()
    ended = await observer.settled(long, "done")
    events, feed = await asyncio.wait_for(asyncio.gather(*streams), PATIENCE)
    return [*done, {"number": None, **ended}], events, feed


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("plan", [Plan(24, 8, 1, 1), Plan(80, 60, 2, 3)], ids=["few", "many"])
def test_nothing_is_lost_when_workers_and_server_are_killed(tmp_path: Path, plan: Plan) -> None:
    project(tmp_path)
    with postgres() as server:  # one of its own, which is restarted
        harmed(tmp_path, server, plan)


def harmed(tmp_path: Path, postgres_server: Database, plan: Plan) -> None:
    """Let processes be harmed, and compare what has come of all runs."""
    processes = Processes(tmp_path, postgres_server.fresh())

    async def body() -> list[str]:
        async with AsyncExitStack() as stack:
            people = [Person(name, processes.key(name, "admin"), processes.address) for name in (*PEOPLE, "olga")]
            for person in people:
                await stack.enter_async_context(person.http)
            for name in processes.lines:
                await processes.begin(name)
            done, events, feed = await under_load(processes, people, postgres_server, plan)
            observer = people[-1]
            traces = {each["run"]: (await observer.ask("GET", f"/v1/runs/{each['run']}/trace"))["items"] for each in done}
            listed = [each["run"] async for each in paged(observer)]
            (tmp_path / "seen.json").write_text(json.dumps([done, traces, events, feed, listed]))
            effects = Counter(json.loads(line)[0] for line in (tmp_path / "effects.jsonl").read_text().splitlines())
            return [*lost(done, traces, listed, effects, plan.runs), *lost_events(done, traces, events, feed)]

    try:
        assert asyncio.run(body()) == []
        assert processes.begun.total() == plan.kills + 4
    finally:
        processes.end()


def lost(done: list[Any], traces: dict[str, list[Any]], listed: list[str], effects: Counter[str], runs: int) -> list[str]:
    """Return what is wrong with how runs have ended, in words."""
    found: list[str] = []
    if len(traces) != runs + 1 or sorted(listed) != sorted(traces):
        found.append(f"{runs + 1} keys have begun {len(traces)} runs, and {len(listed)} are listed")
    for each in done:
        run, trace = each["run"], traces[each["run"]]
        mine = {key for key in effects if key.startswith(f"{run}/")}
        repeated = {event["key"] for event in trace if event["event"] == "repeated"}
        found += [f"{key} was done {effects[key]} times, which is not said" for key in mine - repeated if effects[key] > 1]
        if each["number"] is not None:
            value = {"text": f"shipped order {each['number']}: {each['by']} on {each['number']}"}
            answers = [event["by"] for event in trace if event["event"] == "told"]
            found += [] if each["value"] == value else [f"{run} has brought {each['value']}"]
            found += [] if len(mine) == 2 else [f"{run} has done {mine}"]
            found += [] if [who["who"] for who in answers] == [each["by"]] else [f"{run} was answered by {answers}"]
    return found


def lost_events(done: list[Any], traces: dict[str, list[Any]], events: list[Any], feed: list[Any]) -> list[str]:
    """Return what is wrong with what was streamed, in words."""
    found: list[str] = []
    trace = traces[next(each["run"] for each in done if each["number"] is None)]
    numbers = [number for number, *_ in events]
    if numbers != [*range(1, len(trace) + 1)]:
        found.append(f"the {len(trace)} events of a run have the numbers {numbers}")
    found += [f"event {number} was {body}" for (number, _, body), now in zip(events, trace, strict=False) if body != now]
    numbers = [number for number, *_ in feed]
    found += [] if numbers == sorted(set(numbers)) else ["a change has been told twice"]
    kinds = Counter((kind, body["run"]) for _, kind, body in feed)
    for each in done:
        for kind in (
            "run.started",
            "run.done",
            *(["question.opened", "question.answered"] if each["number"] is not None else []),
        ):
            if kinds[kind, each["run"]] != 1:
                found.append(f"`{kind}` of {each['run']} was told {kinds[kind, each['run']]} times")
    return found


async def paged(person: Person) -> AsyncIterator[Any]:
    """Yield all runs."""
    more = ""
    while True:
        page = await person.ask("GET", f"/v1/runs?limit=50{more}")
        for each in page["items"]:
            yield each
        if not page.get("next"):
            return
        more = f"&cursor={page['next']}"
