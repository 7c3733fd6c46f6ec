"""The service over HTTP: what the OpenAPI document says, problems with their names, conditions, pages and events."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from base64 import urlsafe_b64encode
from contextlib import aclosing
from datetime import UTC, datetime
from pathlib import Path
from time import sleep
from typing import Any
from unittest.mock import Mock

import pytest
from listening import knowing
from msgspec.structs import replace
from serving import ANN, ANSWER, BOB, BOSS, CAT, LETTER, RunService, asking, client, go, on, opened, person, service, settled
from sqlalchemy.exc import OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from instrc import Reply, Request, Sample
from instrc.engines.launch import Launcher
from instrc.engines.schedules import Clock, Schedule
from instrc.runtime.models.partial import AnswerPart
from instrc.runtime.run_config import Launch
from instrc.server import streams  # whose reads are counted
from instrc.server.http import Streams, event_endpoints  # an endless stream, read in the process of the test
from instrc.server.operations import RequestData  # what such a stream is asked with
from instrc.server.streams import NumberedEvent  # the service, in the process of the test
from instrc.vibes.service_settings import PeopleSettings, ServiceSettings  # without a file

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")


async def begun(http: Any, **more: Any) -> tuple[str, str]:
    """Begin a run that waits, and return its id and that of its question."""
    done = await http.post("/v1/runs", json={"program": "letter", "input": "write", **more}, headers={"Prefer": "wait=20"})
    assert done.status_code == 201, done.text
    return done.json()["run"], done.json()["questions"][0]["id"]


def test_a_run_is_started_looked_at_and_answered(tmp_path: Path) -> None:
    async def body() -> None:
        async with client(service(tmp_path)) as http:
            run, question = await begun(http, metadata={"case": "7"})
            shown = await http.get(f"/v1/questions/{question}")
            assert shown.json()["schema"]["properties"]["decision"] == {"enum": ["Approve", "Reject"]}
            again = await http.get(f"/v1/runs/{run}")
            assert (await http.get(f"/v1/runs/{run}", headers={"If-None-Match": again.headers["etag"]})).status_code == 304
            stale = {"If-Match": '"another"'}
            refused = await http.post(f"/v1/questions/{question}/answer", json={"data": ANSWER}, headers=stale)
            assert refused.status_code == 412
            fresh = {"If-Match": shown.headers["etag"]}
            done = await http.post(f"/v1/questions/{question}/answer", json={"data": ANSWER}, headers=fresh)
            assert (done.status_code, done.json()["status"]) == (200, "done")
            once_more = await http.post(f"/v1/questions/{question}/answer", json={"data": ANSWER})
            assert once_more.status_code == 200  # the same person, the same answer
            other = await http.post(f"/v1/questions/{question}/answer", json={"data": {"decision": "Reject"}})
            assert (other.status_code, other.json()["name"]) == (409, "no-such-question")
            assert "was answered already" in other.json()["hint"]
            assert "was answered already" in (await http.get(f"/v1/questions/{question}")).json()["hint"]
            assert [row["run"] for row in (await http.get("/v1/runs?metadata.case=7&status=done")).json()["items"]] == [run]
            assert (await http.get("/v1/runs?metadata.case=8")).json()["items"] == []
            assert (await http.post(f"/v1/runs/{run}/cancel")).json()["status"] == "done"  # an ended run stays as it is
            assert (await http.delete(f"/v1/runs/{run}")).status_code == 204
            assert (await http.get(f"/v1/runs/{run}")).status_code == 410

    go(body())


HUGE = urlsafe_b64encode(f'[1{"0" * 400},"x"]'.encode()).decode()
"""The place after a number that no database has."""


@pytest.mark.parametrize(
    ("method", "path", "sent", "status", "name"),
    [
        ("POST", "/v1/runs", {"program": "leter"}, 404, "no-such-program"),
        ("POST", "/v1/runs", {"program": "letter", "input": {"promt": "x"}}, 422, "invalid-input"),
        ("POST", "/v1/runs", {"program": "letter", "input": "x", "run": "../x"}, 400, "invalid-request"),
        ("POST", "/v1/runs", {"program": "letter", "input": "x", "run": "daily-20261130T060000Z"}, 422, "unusable-setting"),
        ("POST", "/v1/runs", {"input": "x"}, 400, "invalid-request"),
        ("POST", "/v1/runs", {"program": "letter", "input": "x", "more": 1}, 400, "invalid-request"),
        ("POST", "/v1/runs", b'{"program": ', 400, "invalid-request"),
        ("GET", "/v1/runs?status=lost", None, 400, "invalid-request"),
        ("GET", "/v1/runs?since=yesterday", None, 400, "invalid-request"),
        ("GET", "/v1/runs?limit=0", None, 400, "invalid-request"),
        ("GET", f"/v1/runs?limit=000000001{'0' * 5000}", None, 400, "invalid-request"),
        ("GET", "/v1/audit?limit=0000000011", None, 400, "invalid-request"),
        ("GET", "/v1/audit?cursor=WzkyMjMzNzIwMzY4NTQ3NzU4MDhd", None, 400, "invalid-request"),
        ("GET", "/v1/runs?cursor=x", None, 400, "invalid-request"),
        ("GET", "/v1/runs?colour=red", None, 400, "invalid-request"),
        ("GET", "/v1/runs/nobody", None, 404, "no-such-run"),
        ("GET", "/v1/runs/..%2f..%2fetc%2fpasswd", None, 404, "not-found"),
        ("GET", "/v1/runs/" + "x" * 5000, None, 404, "no-such-run"),
        ("GET", "/v1/runs/a%00b", None, 400, "invalid-request"),
        ("GET", "/v1/questions/nobody:userContext1", None, 404, "no-such-run"),
        ("GET", "/v1/questions?due_before=soon", None, 400, "invalid-request"),
        ("POST", "/v1/runs/nobody/retry", {"step": 1}, 400, "invalid-request"),
        ("GET", f"/v1/runs?cursor={HUGE}", None, 400, "invalid-request"),
        ("GET", f"/v1/questions?cursor={HUGE}", None, 400, "invalid-request"),
        ("GET", "/v1/runs?" + "&".join(f"metadata.a{number}=x" for number in range(1500)), None, 400, "invalid-request"),
        ("GET", "/v1/nowhere", None, 404, "not-found"),
        ("PATCH", "/v1/runs", {}, 405, "method-not-allowed"),
    ],
)
def test_what_is_wrong_is_a_problem_with_its_name(
    method: str, path: str, sent: Any, status: int, name: str, tmp_path: Path
) -> None:
    async def body() -> None:
        async with client(service(tmp_path)) as http:
            more = {"content": sent} if isinstance(sent, bytes) else {} if sent is None else {"json": sent}
            done = await http.request(method, path, headers={"Content-Type": "application/json"}, **more)
            assert done.status_code == status, done.text
            assert done.headers["content-type"] == "application/problem+json"
            told = done.json()
            named = name not in {"not-found", "method-not-allowed"}
            assert (told["name"], told["type"]) == (name, f"/problems/{name}" if named else "about:blank")
            assert not named or (await http.get(told["type"])).status_code == 200

    go(body())


def test_a_member_that_no_body_has_is_named_with_those_that_it_has(tmp_path: Path) -> None:
    async def body() -> None:
        async with client(service(tmp_path)) as http:
            done = await http.post("/v1/runs", json={"program": "letter", "inputs": {"prompt": "x"}})
            assert "no member `inputs`: it has `program`, `input`, `run`, `metadata`" in done.json()["detail"]

    go(body())


def test_all_that_is_wrong_with_an_answer_is_told_with_its_places(tmp_path: Path) -> None:
    async def body() -> None:
        async with client(service(tmp_path)) as http:
            _, question = await begun(http)
            done = await http.post(f"/v1/questions/{question}/answer", json={"data": {"decision": "Maybe"}})
            assert (done.status_code, done.json()["errors"][0]["pointer"]) == (422, "/decision")
            assert (await http.get(f"/v1/questions/{question}")).json()["votes"] == []

    go(body())


@pytest.mark.parametrize(
    ("sent", "pointers"), [({}, ["/input"]), ({"prompt": 5}, ["/input/prompt"]), ({"prompt": "x", "more": 1}, ["/input/more"])]
)
def test_what_is_wrong_with_inputs_is_told_with_its_place(sent: Any, pointers: list[str], tmp_path: Path) -> None:
    async def body() -> None:
        async with client(service(tmp_path)) as http:
            done = await http.post("/v1/runs", json={"program": "letter", "input": sent})
            assert [each["pointer"] for each in done.json()["errors"]] == pointers

    go(body())


def test_tags_of_states_come_in_lists(tmp_path: Path) -> None:
    async def body() -> None:
        async with client(service(tmp_path)) as http:
            _, question = await begun(http)
            address = f"/v1/questions/{question}"
            tag = (await http.get(address)).headers["etag"]
            for listed in (tag, f"W/{tag}", f'"other", {tag}', "*"):
                assert (await http.get(address, headers={"If-None-Match": listed})).status_code == 304
            data = {"data": {"decision": "Approve"}}
            assert (await http.post(f"{address}/answer", json=data, headers={"If-Match": '"other"'})).status_code == 412
            assert (await http.post(f"{address}/answer", json=data, headers={"If-Match": '""'})).status_code == 412
            assert (await http.post(f"{address}/answer", json=data, headers={"If-Match": f'"other", {tag}'})).status_code == 200

    go(body())


AWAY = (OperationalError("SELECT", {}, Exception("the connection is refused")), PoolTimeoutError("all connections are in use"))


@pytest.mark.parametrize("error", AWAY)
def test_a_store_that_is_away_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    async def body() -> None:
        made = service(tmp_path)
        async with client(made) as http:
            run, _ = await begun(http)
            away = Mock(side_effect=error)
            with monkeypatch.context() as patched:
                patched.setattr(made.records, "runs", away)
                refused = await http.get("/v1/runs")
                assert (refused.status_code, refused.json()["name"]) == (503, "unusable-store")
                away.reset_mock()
                patched.setattr(made.records, "open_runs", away)
                while not away.called:  # noqa: ASYNC110  -- in a thread
                    await asyncio.sleep(0.02)
            await made.engine.cancel(run)
            while made.records.run(run).status != "cancelled":  # type: ignore[union-attr]  # noqa: ASYNC110  -- it is noted by a look
                await asyncio.sleep(0.02)

    go(body())


def test_a_claim_for_longer_than_there_are_dates_is_one_of_the_settings(tmp_path: Path) -> None:
    async def body() -> None:
        made = service(tmp_path, letter=asking(**{"x-claim": "P99999999D"}))
        async with client(made, BOSS) as http:
            question = (await made.start(BOSS, "letter", "x", wait=20)).report.questions[0].id
            [asked] = (await http.get("/v1/questions")).json()["items"]
            claimed = await http.post(f"/v1/questions/{asked['id']}/claim")
            assert (claimed.status_code, claimed.json()["question"]) == (200, question)
            assert (await http.get("/v1/questions")).json()["items"][0]["claimedBy"] == "boss"

    go(body())


def test_an_id_stands_for_one_run_for_ever(tmp_path: Path) -> None:
    async def body() -> None:
        async with client(service(tmp_path), identify=knowing({"boss": BOSS, "ann": ANN})) as http:

            async def sent(who: str, path: str, body: Any, **headers: str) -> int:
                headers = {"Authorization": f"Bearer {who}", "Prefer": "wait=20", **headers}
                return (await http.post(f"/v1/runs{path}", json=body, headers=headers)).status_code

            start, key = {"program": "letter", "input": "x"}, {"Idempotency-Key": "k"}
            one = {**start, "run": "one"}
            assert [await sent(who, "", one) for who in ("boss", "boss", "ann")] == [201, 201, 409], "Ann would see how it stands"
            fork = {"set": {"step1_draft": {"text": "mine"}}}
            assert [await sent("boss", "/one/fork", {**fork, "run": name}) for name in ("one", "two", "two")] == [409, 201, 409]
            assert await sent("boss", "", start, **key) == 201
            http.headers["Authorization"] = "Bearer boss"
            for run in [each["run"] for each in (await http.get("/v1/runs")).json()["items"]]:
                await sent("boss", f"/{run}/cancel", None)
                assert (await http.delete(f"/v1/runs/{run}")).status_code == 204
            assert [await sent("boss", "", one), await sent("boss", "", start, **key)] == [410, 410]
            assert await sent("boss", "", start, **{"Idempotency-Key": " "}) == 400

    go(body())


def test_a_key_begins_one_run_however_often_it_is_sent(tmp_path: Path) -> None:
    async def body() -> None:
        async with client(service(tmp_path)) as http:
            sent = {"program": "letter", "input": "write"}
            runs = [
                (await http.post("/v1/runs", json=sent, headers={"Idempotency-Key": "k", "Prefer": "wait=9"})).json()["run"]
                for _ in range(2)
            ]
            assert runs[0] == runs[1]
            other = await http.post("/v1/runs", json={**sent, "input": "other"}, headers={"Idempotency-Key": "k"})
            assert (other.status_code, other.json()["name"]) == (409, "key-reused")

    go(body())


def test_a_key_begins_one_run_across_a_release_that_adds_an_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def launch(*given: Any, **more: Any) -> Launch:
        launched = before(*given, **more)
        return replace(launched, inputs={**launched.inputs, "tone": "kind"})

    async def body() -> None:
        async with client(service(tmp_path)) as http:

            async def sent() -> str:
                answer = await http.post("/v1/runs", json={"program": "letter", "input": "x"}, headers={"Idempotency-Key": "k"})
                return str(answer.json().get("run", answer.text))

            first = await sent()
            monkeypatch.setattr(Launcher, "launch", launch)
            assert await sent() == first

    before = Launcher.launch
    go(body())


def test_pages_hold_every_run_once(tmp_path: Path) -> None:
    async def body() -> None:
        async with client(service(tmp_path)) as http:
            made = [(await begun(http))[0] for _ in range(5)]
            found: list[str] = []
            place = "/v1/runs?limit=2"
            while True:
                page = (await http.get(place)).json()
                found += [row["run"] for row in page["items"]]
                if page["next"] is None:
                    break
                place = f"/v1/runs?limit=2&cursor={page['next']}"
            assert found == made[::-1]
            asked = (await http.get("/v1/questions?limit=3")).json()
            rest = (await http.get(f"/v1/questions?limit=3&cursor={asked['next']}")).json()
            assert [each["run"] for each in asked["items"] + rest["items"]] == made

    go(body())


async def kept_schedules() -> list[Schedule]:
    """Return schedules as a server keeps them."""
    clock = Clock("0 6 * * *", "Europe/Berlin")
    due = datetime(2026, 11, 28, 5, tzinfo=UTC).timestamp()
    first = Schedule("daily", clock, "letter", due, "daily-20261127T050000Z", None, "queue")
    return [first, Schedule("other", clock, "pay", None), Schedule("weekly", clock, "letter", None, trouble="no")]


def test_schedules_are_listed_in_pages_for_whoever_sees_runs_of_their_programs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def made() -> RunService:
        served = service(tmp_path, letter=LETTER, pay=LETTER, name="durable")
        monkeypatch.setattr(type(served.engine), "keeps_schedules", True)
        monkeypatch.setattr(served.engine, "schedules", kept_schedules)
        return served

    async def names(http: Any) -> list[str]:
        return [each["name"] for each in (await http.get("/v1/schedules")).json()["items"]]

    async def body() -> None:
        async with client(made(), BOSS) as http:
            page = (await http.get("/v1/schedules?limit=1")).json()
            assert page["items"] == [
                {
                    "name": "daily",
                    "program": "letter",
                    "cron": "0 6 * * *",
                    "zone": "Europe/Berlin",
                    "overlap": "queue",
                    "due": "2026-11-28T05:00:00.000Z",
                    "last": "daily-20261127T050000Z",
                    "trouble": None,
                }
            ]
            rest = (await http.get(f"/v1/schedules?limit=2&cursor={page['next']}")).json()
            assert ([each["name"] for each in rest["items"]], rest["next"]) == (["other", "weekly"], None)
            assert (await http.get("/v1/schedules?cursor=x")).status_code == 400
            document = (await http.get("/openapi.json")).json()
            assert {*page["items"][0]} == {*document["components"]["schemas"]["Schedule"]["properties"]}
        async with client(made(), person("vera", "viewer", program="pay")) as http:
            assert await names(http) == ["other"]
        async with client(made(), person("sam", "starter", "answerer")) as http:
            assert await names(http) == []
        async with client(service(tmp_path), BOSS) as http:
            assert await names(http) == [], "memory keeps none"
        monkeypatch.undo()
        async with client(service(tmp_path, name="durable"), BOSS) as http:
            assert await names(http) == [], "a folder keeps none"

    go(body())


def test_the_events_of_all_begin_now_or_behind_one(tmp_path: Path) -> None:
    async def body() -> None:
        made = service(tmp_path)
        stream = next(each for each in event_endpoints(Streams(9)) if each.path == "/v1/events").call
        async with client(made) as http:

            async def first(**headers: str) -> str:
                begin = (await stream(made, BOSS, RequestData({}, {}, {}, headers))).stream  # type: ignore[arg-type]
                assert begin is not None
                async with aclosing(await begin()) as source:  # type: ignore[type-var]
                    await begun(http)
                    return await anext(source)

            before, _ = await begun(http)
            assert before not in await first()
            assert before in await first(**{"last-event-id": "0"})

    go(body())


def test_few_streams_of_a_caller_read_stored_events_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each may have a value of many megabytes. None waits for a client that reads slowly."""
    reading, most, pages_of = 0, 0, streams.pages_of

    def noted(*given: Any) -> Any:
        nonlocal reading, most
        for page in pages_of(*given):
            reading += 1
            most = max(most, reading)
            sleep(0.1)
            reading -= 1
            yield page

    async def body() -> None:
        made = service(tmp_path)
        async with client(made) as http:
            run, _ = await begun(http)
            monkeypatch.setattr(streams, "pages_of", noted)
            followed = [made.event_streams.events(BOSS, run) for _ in range(6)]
            for kind in ("snapshot", "asked"):  # none is read further
                assert {(await each).kind for each in [asyncio.ensure_future(anext(stream)) for stream in followed]} == {kind}
            for stream in followed:
                await stream.aclose()
            assert most == 2

    go(body())


def test_who_is_only_asked_follows_their_questions(tmp_path: Path) -> None:
    async def body() -> None:
        made = service(tmp_path, settings=ServiceSettings(people={"letter.approve": PeopleSettings(("cat",))}))
        kinds: dict[str, list[str]] = {"cat": [], "eve": []}

        async def follow(who: str) -> None:
            async for event in made.event_streams.events(person(who, "answerer"), None, 0):
                kinds[who].append(event.kind)

        async with client(made) as http:
            following = [asyncio.create_task(follow(who)) for who in kinds]
            await begun(http)
            async with asyncio.timeout(20):
                while not kinds["cat"]:  # noqa: ASYNC110  -- the stream has no event for it
                    await asyncio.sleep(0.02)
            for each in following:
                each.cancel()
        assert kinds == {"cat": ["question.opened"], "eve": []}

    go(body())


def test_a_doubled_key_of_a_body_is_refused_and_all_methods_are_named(tmp_path: Path) -> None:
    async def body() -> None:
        async with client(service(tmp_path)) as http:
            text = '{"program": "letter", "input": "a", "in\\u0070ut": "b"}'
            for twice in (text, text.replace("\\u0070", "p")):
                refused = await http.post("/v1/runs", content=twice, headers={"Content-Type": "application/json"})
                assert (refused.status_code, "twice" in refused.json()["detail"]) == (400, True), refused.text
            document = (await http.get("/openapi.json")).json()
            for path, methods in document["paths"].items():
                allowed = (await http.request("PROPFIND", path.replace("{", "").replace("}", ""))).headers["allow"].split(", ")
                assert {*allowed} - {"HEAD"} == {method.upper() for method in methods}, path

    go(body())


def test_the_stream_of_a_run_that_has_ended_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    async def body() -> None:
        made = service(tmp_path / "store", name="durable")
        async with client(made) as http:
            run = (await made.start(BOSS, "letter", "x", wait=20)).report.run
            await made.cancel(BOSS, run)
            await settled(made, run, "cancelled")
            async with asyncio.timeout(20):  # and not when it is looked at anyway
                told = (await http.get(f"/v1/runs/{run}/events")).text
            assert events(told)[-1][1] == "status"

    go(body())


def events(text: str) -> list[tuple[int, str, Any]]:
    """Return the events of a stream: number, kind, data."""
    found = []
    for block in text.split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if lines:
            found.append((int(lines["id"]), lines["event"], json.loads(lines["data"])))
    return found


def test_events_are_numbered_and_go_on_behind_the_last_one(tmp_path: Path) -> None:
    async def body() -> None:
        made = service(tmp_path)
        async with client(made) as http:
            run, question = await begun(http)
            await http.post(f"/v1/questions/{question}/answer", json={"data": ANSWER})
            whole = events((await http.get(f"/v1/runs/{run}/events")).text)
            assert whole[0][1] == "snapshot"
            assert [number for number, *_ in whole[1:-1]] == list(range(1, len(whole) - 1))
            assert [kind for _, kind, _ in whole[1:]] == ["asked", "answered", "question", "told", "ended", "status"]
            rest = events((await http.get(f"/v1/runs/{run}/events", headers={"Last-Event-ID": "3"})).text)
            assert [kind for _, kind, _ in rest] == ["snapshot", "told", "ended", "status"]
            lost = events((await http.get(f"/v1/runs/{run}/events", headers={"Last-Event-ID": "99"})).text)
            assert [kind for _, kind, _ in lost] == ["snapshot", "gap", "status"]
            last = {"Last-Event-ID": str(whole[-1][0])}
            assert (await http.get(f"/v1/runs/{run}/events", headers=last)).status_code == 204  # an `EventSource` stops by it
            assert (await http.get(f"/v1/runs/{run}/events", headers={"Last-Event-ID": "x"})).status_code == 400
            assert (await http.get("/v1/runs/nobody/events")).status_code == 404
            author = next(event for _, kind, event in whole if kind == "told")
            assert author["by"] == {"who": "local", "means": "local"}

    go(body())


def test_a_stream_shows_what_a_model_has_written_so_far(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, seen = Sample.answer, asyncio.Event()

    async def slowly(model: Sample, request: Request) -> Reply:
        assert request.partial is not None
        await asyncio.wait_for(seen.wait(), 60)
        return await whole(model, request)

    monkeypatch.setattr(Sample, "answer", slowly)
    made = service(tmp_path)

    async def body() -> None:
        async with opened(made):
            run = (await made.start(BOSS, "letter", "write")).report.run
            found = []
            async for event in made.event_streams.events(BOSS, run):
                found.append(event)
                if event.kind == "asked":
                    made.hub.heard(
                        AnswerPart(f"{run}/{event.body['id']}", ("step1_draft",), {"step1_draft": {"text": "Dea"}}, ())
                    )
                if event.kind == "partial":
                    seen.set()
                if event.kind == "question":
                    break
            part = next(event for event in found if event.kind == "partial")  # one with the whole answer may follow
            kinds = [event.kind for event in found if event is part or event.kind not in {"status", "partial"}]
            assert kinds == ["snapshot", "asked", "partial", "answered", "question"]
            assert (part.number, part.body["value"]) == (1, {"step1_draft": {"text": "Dea"}})
            assert part.body["run"] == run
            assert part.body["complete"] == []

    go(body())
    assert not made.hub.boxes  # nobody follows any more


@pytest.mark.parametrize("store", ["durable", "postgres"], indirect=True)
def test_a_stream_shows_what_a_model_of_another_process_has_written(store: tuple[str, Any], tmp_path: Path) -> None:
    (name, place), enough = store, tmp_path / "enough"
    made = service(place, name=name, records=str(place))

    async def parts(run: str | None, caller: Any = BOSS) -> list[NumberedEvent]:
        found: list[NumberedEvent] = []
        async with aclosing(made.event_streams.events(caller, run)) as events:
            async for event in events:
                found += [event] if event.kind == "partial" else []
                if len(found) == 3:
                    break
        return found

    async def body() -> None:
        async with opened(made):
            everything = asyncio.create_task(parts(None))
            nothing = asyncio.create_task(parts(None, CAT))  # who may see no run
            run = (await made.start(BOSS, "letter", "write")).report.run
            first, *_, last = [*await parts(run), *await everything]
            assert (first.body["run"], first.body["steps"], first.body["complete"]) == (run, ["step1_draft"], [])
            assert (last.body["run"], last.body["program"]) == (run, "letter")
            assert re.fullmatch(r"\{'step1_draft': \{'text': 'x+'\}\}", str(last.body["value"]))
            assert not nothing.done()
            nothing.cancel()
            enough.touch()
            await settled(made, run, "waiting")
            await asyncio.gather(nothing, return_exceptions=True)
            assert not made.hub.boxes

    command = [sys.executable, str(Path(__file__).with_name("writing_slowly.py")), str(place), str(enough)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as worker:
        try:
            assert worker.stderr is not None
            assert "ready" in worker.stderr.readline()
            go(body())
        finally:
            worker.kill()


def test_a_stream_reads_only_what_is_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made, places = service(tmp_path), []
    read = made.engine.trace_from
    monkeypatch.setattr(made.engine, "trace_from", lambda run, place=0, most=None: places.append(place) or read(run, place, most))

    async def body() -> None:
        async with opened(made):
            run, number = (await made.start(BOSS, "letter", "write", wait=20)).report.run, 0
            async for event in made.event_streams.events(BOSS, run):
                number = event.number
                if event.kind == "question":
                    await made.answer(BOSS, run, "userContext1", ANSWER)
            read_places = [*places]
            assert number == len((await made.event_streams.trace(BOSS, run))[0])
            assert read_places == sorted(read_places)
            assert read_places.count(0) == 1 < len(read_places)

    go(body())


def test_a_stream_reads_no_journal_while_the_state_of_its_run_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A journal of a thousand entries took seconds, so that a stream of its run was silent."""
    made, shown = service(tmp_path, name="durable"), []

    async def body() -> None:
        async with opened(made):
            run = (await made.start(BOSS, "letter", "write", wait=20)).report.run
            stream, show = made.event_streams.events(BOSS, run), made.engine.show
            assert [(await anext(stream)).kind for _ in range(4)] == ["snapshot", "asked", "answered", "question"]
            monkeypatch.setattr(made.engine, "show", lambda *given, **more: shown.append(given) or show(*given, **more))
            rest = asyncio.create_task(anext(stream))
            for _ in range(5):
                made.hub.wake(run)
                await asyncio.sleep(0.02)
            assert not await made.event_streams.has_told(BOSS, run, 3)
            assert not shown
            await made.answer(BOSS, run, "userContext1", ANSWER)
            last = [(await rest).kind, *[event.kind async for event in stream if event.kind != "status"]]
            assert [kind for kind in last if kind != "status"] == ["told", "ended"]

    go(body())


def test_health_metrics_and_the_document_are_there(tmp_path: Path) -> None:
    async def body() -> None:
        async with client(service(tmp_path)) as http:
            await begun(http)
            assert (await http.get("/healthz")).json() == {"status": "ok"}
            assert (await http.get("/readyz")).status_code == 200
            counted = (await http.get("/metrics")).text
            assert 'instrc_requests_total{operation="startRun",status="201"} 1' in counted
            assert 'instrc_runs{status="waiting"} 1' in counted
            assert "instrc_questions 1" in counted
            assert "instrc_questions_overdue 0" in counted
            times = re.findall(r'instrc_request_seconds_bucket\{operation="startRun",le="([^"]+)"\} (\d+)', counted)
            assert [bound for bound, _ in times] == ["0.01", "0.03", "0.1", "0.3", "1", "3", "10", "+Inf"]
            assert [int(number) for _, number in times] == sorted(int(number) for _, number in times)
            assert 'instrc_request_seconds_count{operation="startRun"} 1' in counted
            document = (await http.get("/openapi.json")).json()
            assert document["openapi"] == "3.1.0"
            assert document["components"]["schemas"]["Input1"]["properties"].keys() == {"prompt"}
            [start] = document["paths"]["/v1/runs"]["post"]["requestBody"]["content"]["application/json"]["schema"]["anyOf"]
            by_name, text = start["properties"]["input"]["anyOf"]
            assert by_name == {"$ref": "#/components/schemas/Input1"}
            assert text["type"] == "string"  # as this client begins its runs
            assert {"/v1/events", "/v1/runs/{run}/events", "/v1/links/{word}"} <= document["paths"].keys()
            assert (await http.get("/v1/programs/letter")).json()["output"]["properties"].keys() == {
                "step1_draft",
                "step2_approve",
            }

    go(body())


def test_runs_are_seen_by_who_may_see_them(tmp_path: Path) -> None:
    """Ann began it, Bob may answer it, Cat answers another program only: to her it does not exist."""
    made = service(tmp_path)
    other = person("cat", "answerer", program="other")

    async def body() -> None:
        async with client(made) as http:
            run, _ = await begun(http)
            mine = (await made.start(ANN, "letter", "write", wait=20)).report.run
            for caller, seen in ((ANN, [mine]), (BOSS, [mine, run]), (other, [])):
                assert [row.run for row in (await made.runs(caller)).rows] == seen, caller  # type: ignore[union-attr]
        assert CAT.may("answerer", "letter")
        assert BOB.may("starter", "letter")

    go(body())
    assert settled is not None


@pytest.mark.parametrize("error", AWAY)
def test_a_database_that_is_away_while_callers_are_looked_up_is_unavailable(tmp_path: Path, error: Exception) -> None:
    """Not an internal error, and not a caller whom nobody knows: the client sends the request again."""

    async def identify(_headers: object) -> None:
        raise error

    async def body(made: RunService) -> None:
        async with client(made, identify=identify) as http:
            response = await http.get("/v1/runs")
            assert (response.status_code, response.headers["Retry-After"]) == (503, "5")
            assert response.json()["name"] == "unusable-store"

    on(service(tmp_path), body)
