"""What costs much time, memory or many connections is refused at every door, while others are served."""

from __future__ import annotations

import asyncio
import re
import shlex
import shutil
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any, Final

import httpx
import pytest
import sqlalchemy as sa
import uvicorn
from a2a.types.a2a_pb2 import Part
from a2a.utils.errors import InvalidParamsError
from listening import at_port, knowing
from serving import ANSWER, BOB, BOSS, CAT, asking, client, go, on, service, settled
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from uvicorn.protocols.http.auto import AutoHTTPProtocol
from written_processes import DECISION, chunk, each, process, step

from instrc.engines import launch, run_table  # what checks inputs, and what is read
from instrc.engines.approvals import Opening, Vote  # of other people
from instrc.engines.run_table import questions_query, runs_query  # to find the run
from instrc.engines.service_tables import vote_in  # what is read
from instrc.problems.errors import InputError, RateLimitError, RequestError
from instrc.runtime import traces  # where lines are read
from instrc.runtime.activities import Activities, ActivityCall  # one attempt of a call
from instrc.runtime.effects import attempt_call  # one attempt of a call
from instrc.runtime.interpreter.v1 import issue  # what is shown
from instrc.runtime.questions import Question
from instrc.runtime.run_report import RunReport
from instrc.runtime.traces import read_events, trace_file  # where it is long
from instrc.schema.walk import map_schemas
from instrc.server import bounds, forms  # the table of what is tried here, and the forms of pages
from instrc.server.a2a import DATA, a2a_routes, given_in, parts_of  # the service over A2A
from instrc.server.access import Caller, peer_of  # as limits count it
from instrc.server.agui import agui_routes  # the service over AG-UI
from instrc.server.connections import BoundedProtocol, admits  # what listens in a service
from instrc.server.exchange import answer_of  # what answers over protocols are
from instrc.server.form_data import begun  # what it begins with
from instrc.server.forms import AnswerForm  # the form of a page
from instrc.server.hosting import listener_at, serve  # a service of its own process
from instrc.server.http import app_of  # the application itself
from instrc.server.identity import Identity  # callers and links
from instrc.server.inbox import Inbox  # the pages
from instrc.server.mcp_runs import RunOffers, mcp_mount, no_link  # the service over MCP
from instrc.server.run_service import RunService  # the service itself
from instrc.server.templates import linked, words_for  # the texts of the form
from instrc.server.views import RunInfo  # what an action returns
from instrc.server.webhooks import AddressRules, Webhooks  # where messages are sent
from instrc.text.jsontext import dumps, value_in
from instrc.text.jsonvalue import Json
from instrc.vibes.service_settings import ServiceSettings  # without a file

DOORS = ("/v1/runs", "/mcp", "/a2a", "/a2a/rest/message:send", "/agui/letter", "/v1/links/x")
DIGITS = b'{"program": "letter", "input": ' + b"9" * 900_000 + b"}"
DEEP = b'{"program": "letter", "input": ' + b"[" * 400_000 + b"]" * 400_000 + b"}"
WIDE = b'{"program": "letter", "input": [' + b"1," * 300_000 + b"1]}"
WIDE_16 = WIDE[:50_000].decode().encode("utf-16")
TWICE = (
    b'{"threadId": "t", "runId": "r", "tools": [], "context": [], "state": {}, "messages": [], '
    b'"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "letter", "arguments": {"prompt": "a"}}, '
    b'"program": "letter", "forwardedProps": {"input": {"prompt": "a", "prompt": "b"}}}'
)
METADATA = b'{"program": "letter", "metadata": {' + b",".join(b'"k%d":""' % each for each in range(70_000)) + b"}}"


def test_slow_handlers_leave_the_threads_of_the_loop_to_others() -> None:
    async def test() -> None:
        begun, free = threading.Semaphore(0), threading.Event()
        activities = Activities()
        activities.add("Slow", lambda _: begun.release() or free.wait(60))
        handler = activities.find("Slow")
        assert handler is not None
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))
        calls = [asyncio.create_task(attempt_call(handler, {}, ActivityCall("r/a", "Slow", 1))) for _ in range(20)]
        try:
            await asyncio.wait_for(asyncio.to_thread(lambda: [begun.acquire(timeout=20) for _ in calls]), 20)
        finally:
            free.set()
        assert await asyncio.gather(*calls) == [True] * 20

    go(test())


@pytest.mark.parametrize("path", DOORS)
@pytest.mark.parametrize("body", [DIGITS, DEEP, WIDE, METADATA, WIDE_16], ids=["digits", "deep", "wide", "metadata", "16"])
def test_a_body_that_costs_much_is_refused_soon_at_every_door(path: str, body: bytes, tmp_path: Path) -> None:
    async def test() -> None:
        made = service(tmp_path)
        mcp, running = mcp_mount(RunOffers([], made), no_link)
        async with client(made, routes=[mcp, *a2a_routes(made), *agui_routes(made)], beside=[running]) as http:
            longest = 0.0

            async def beat() -> None:
                nonlocal longest
                while True:
                    before = process_time()
                    await asyncio.sleep(0.01)
                    longest = max(longest, process_time() - before)

            beating = asyncio.create_task(beat())
            for kind in ("application/json", "multipart/form-data; boundary=x"):  # which no door but that of pages takes
                done = await http.post(path, content=body, headers={"Content-Type": kind, "A2A-Version": "1.0"})
                assert 400 <= done.status_code < 500, done.text[:200]
                assert "the body" in done.text
            beating.cancel()
            assert longest < 2.0

    go(test())


@pytest.mark.parametrize("path", ["/a2a", "/a2a/rest/message:send"])
def test_a_body_of_a2a_has_fewer_members(path: str, tmp_path: Path) -> None:
    """Its library parses them in the event loop: 99,000 of them held it for half a second."""

    async def test() -> None:
        made = service(tmp_path)
        async with client(made, routes=a2a_routes(made)) as http:
            body = {"metadata": {"a": [0] * (bounds.A2A_MEMBERS + 1)}}
            assert "more than 10,000 members" in (await http.post(path, json=body, headers={"A2A-Version": "1.0"})).text
            assert "members" not in (await http.post("/v1/runs", json=body)).text

    go(test())


def test_few_of_many_undeclared_inputs_are_named(tmp_path: Path) -> None:
    """Each names all that are declared: 49,000 of them were told in 65 MB."""

    async def test() -> None:
        async with client(service(tmp_path)) as http:
            done = await http.post("/v1/runs", json={"program": "letter", "input": {f"k{number}": 0 for number in range(40_000)}})
            assert (done.status_code, len(done.json()["errors"])) == (422, 21)  # and `prompt` is missing

    go(test())


def test_a_probe_is_answered_while_every_thread_is_busy(tmp_path: Path) -> None:
    """Many requests of one caller may wait for the database in all of them."""

    async def test() -> None:
        made, free = service(tmp_path), threading.Event()
        identity = Identity(made.records, made.settings, made.signer)
        async with client(made, identity=identity) as http:
            asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))
            busy = asyncio.get_running_loop().run_in_executor(None, free.wait, 60)
            async with asyncio.timeout(20):
                assert (await http.get("/healthz")).status_code == 200
                assert (await http.get("/v1/runs")).status_code == 401
            free.set()
            await busy

    go(test())


@pytest.mark.parametrize("path", DOORS)
def test_a_body_of_an_unknown_caller_is_not_read(path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also beside a link, unless the link is valid."""

    async def test() -> None:
        made = service(tmp_path, letter=asking(**{"x-links": True}))
        mcp, running = mcp_mount(RunOffers([], made), no_link)
        identity = Identity(made.records, made.settings, made.signer)
        async with client(made, identity=identity, routes=[mcp, *a2a_routes(made), *agui_routes(made)], beside=[running]) as http:
            run = (await made.start(BOSS, "letter", "hello", wait=20)).report.run
            word = await made.link(BOSS, run, "userContext1", "cat")
            monkeypatch.setattr(bounds, "excess_in", lambda body, _path: f"the body has {len(body)} bytes")
            for address in (path, f"{path}?a=1"):
                done = await http.post(address, content=b"[1]", headers={"A2A-Version": "1.0"})
                assert done.status_code == 401, done.text
            linked = await http.post(f"/v1/links/{word}", content=b"[1]")
            assert (linked.status_code, linked.json()["detail"]) == (400, "the request cannot be read: the body has 3 bytes")

    go(test())


@pytest.mark.parametrize("path", DOORS)
def test_a_member_that_is_written_twice_is_refused_at_every_door(path: str, tmp_path: Path) -> None:
    async def test() -> None:
        made = service(tmp_path)
        mcp, running = mcp_mount(RunOffers([], made), no_link)
        async with client(made, routes=[mcp, *a2a_routes(made), *agui_routes(made)], beside=[running]) as http:
            headers = {"Content-Type": "application/json", "A2A-Version": "1.0", "Accept": "application/json, text/event-stream"}
            done = await http.post(path, content=TWICE, headers=headers)
            assert (done.status_code, "`prompt` is written twice" in done.text) == (400, True), done.text

    go(test())
    with pytest.raises(InvalidParamsError, match="twice"):
        given_in([Part(text='{"prompt": "a", "prompt": "b"}', media_type="application/json")])


def test_names_that_are_looked_up_slowly_hold_up_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everybody's own name server can take long, and every task may have addresses that are told of it."""
    begun, answered = threading.Semaphore(0), threading.Event()

    def look(*_given: Any, **_named: Any) -> list[Any]:
        begun.release()
        answered.wait(60)
        return []

    monkeypatch.setattr("socket.getaddrinfo", look)

    async def body() -> None:
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(2))
        checks = [asyncio.create_task(AddressRules().check(f"https://n{number}.example/")) for number in range(20)]
        await asyncio.sleep(0)
        try:
            assert await asyncio.wait_for(asyncio.to_thread(lambda: [begun.acquire() for _ in checks]), 60)
        finally:
            answered.set()
        await asyncio.gather(*checks)

    go(body())


def test_a_name_that_takes_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    answered = threading.Event()
    monkeypatch.setattr("instrc.server.webhooks.SECONDS", 0.05)
    monkeypatch.setattr("socket.getaddrinfo", lambda *_given, **_named: answered.wait(60))
    try:
        with pytest.raises(InputError, match="its address is not known"):
            go(AddressRules().check("https://slow.example/"))
    finally:
        answered.set()


def test_many_mistakes_of_a_request_are_told_in_few_words(tmp_path: Path) -> None:
    said = {"threadId": "t", "runId": "r", "messages": [], "tools": [{}] * 90_000, "context": [], "state": {}}

    async def test() -> None:
        made = service(tmp_path)
        async with client(made, routes=agui_routes(made)) as http:
            done = await http.post("/agui/letter", json={**said, "forwardedProps": {}})
            assert (done.status_code, len(done.content) < 10_000) == (400, True)

    go(test())


def test_what_takes_time_by_the_length_of_a_value_runs_beside_the_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer with 100,000 members: it is copied, checked, compared, recorded and returned."""
    begun: dict[str, set[bool]] = {}

    def watched(place: str) -> None:
        original = getattr(sys.modules[place.rpartition(".")[0]], place.rpartition(".")[2])

        def call(*given: Any) -> Any:
            begun.setdefault(place, set()).add(asyncio._get_running_loop() is not None)
            return original(*given)

        monkeypatch.setattr(place, call)

    async def test() -> None:
        made = service(tmp_path, name="durable", letter=asking())
        async with client(made) as http:
            for place in ("engines.approvals.complaints", "engines.approvals.digest_of", "runtime.answers.received"):
                watched(f"instrc.{place}")
            for place in ("engines.launch.complaints", "server.views.digest_of", "runtime.interpreter.versions.faults"):
                watched(f"instrc.{place}")
            sent = {"program": "letter", "input": {"prompt": "a"}}
            run = (await http.post("/v1/runs", json=sent, headers={"Prefer": "wait=20"})).json()
            [question] = (await http.get("/v1/questions")).json()["items"]
            done = await http.post(f"/v1/questions/{question['id']}/answer", json={"data": {"decision": "Approve"}})
            assert (done.status_code, run["status"]) == (200, "waiting")

    go(test())
    assert [{False}] * 6 == [*begun.values()]


def test_a_list_of_tasks_of_a2a_does_not_convert_large_results(tmp_path: Path) -> None:
    large = [1] * 50_000
    assert [part.WhichOneof("content") for part in parts_of([(large, None)])] == ["text"]
    kinds = [part.WhichOneof("content") for part in parts_of([(large[:100], None)] * 200)]
    assert (kinds[:2], kinds.count("text"), kinds.count("data")) == (["text", "data"], 200, DATA // 201)

    async def test() -> None:
        made = service(tmp_path, name="durable", letter=asking())
        async with client(made, routes=a2a_routes(made)) as http:
            for number in range(11):
                await made.start(BOSS, "letter", str(number))
            sizes = []
            for more in ({}, {"includeArtifacts": True}):
                sent = {"jsonrpc": "2.0", "id": 1, "method": "ListTasks", "params": {"pageSize": 50, **more}}
                done = await http.post("/a2a", json=sent, headers={"A2A-Version": "1.0"})
                sizes.append(len(done.json()["result"]["tasks"]))
            assert sizes == [11, 10]

    go(test())


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b'{"a": {"b": 1, "\\u0062": 2}}', "twice"),
        (b"9" * 1000, None),
        (b"9" * 1001, "digits"),
        (b"[" + b",".join([b"9" * 1000] * 1000) + b"]", None),
        (b'"' + b"9" * 5000 + b'"', None),
        (b'"\\"' + b"[" * 5000 + b'"', None),
        (b"[" * 200 + b"]" * 200, None),
        (b"[" * 201 + b"]" * 201, "deeper"),
        (b"[[]," * 150 + b"[]" + b"]" * 150, None),
        (b'{"a":' * 201, "deeper"),
        (b"[" + b"1," * 100_001, "members"),
        (b"[" + b",".join([b"[" * 190 + b"]" * 190] * 530) + b"]", "members"),
        (b'"' + b"\\" * 900_001, None),
        ('{"a": "я"}'.encode("utf-16-le"), "UTF-8"),
        (('{"a": ' + "9" * 2000 + "}").encode("utf-16-le"), "UTF-8"),
        ("[]".encode("utf-32"), "UTF-8"),
        (b'"\xff"', "UTF-8"),
    ],
)
def test_what_is_over_a_bound_is_found_outside_of_texts(body: bytes, said: str | None) -> None:
    before = process_time()
    excess = bounds.excess_in(body)
    assert (excess is None) == (said is None)
    assert said is None or said in str(excess)
    assert process_time() - before < 0.5


KINDS = [
    {"type": "object", "properties": {f"f{number}": {}}, "required": [f"f{number}"], "additionalProperties": False}
    for number in range(8)
]


@pytest.mark.parametrize("word", ["anyOf", "oneOf"])
@pytest.mark.parametrize("branches", [KINDS, [{"$ref": f"#/$defs/k{number}"} for number in range(8)]], ids=["here", "references"])
@pytest.mark.parametrize("around", ["items", "contains"])
def test_the_inputs_of_a_start_are_checked_once_and_by_the_branch_that_may_fit(
    around: str, branches: Json, word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of very many items may be one of several kinds."""
    kinds = {f"k{number}": kind for number, kind in enumerate(KINDS)}
    listed = {"type": "array", around: {word: branches}, "$defs": kinds}
    checked: list[Json] = []
    check = launch.complaints
    monkeypatch.setattr(launch, "complaints", lambda value, schema: checked.append(schema) or check(value, schema))

    async def test(made: RunService) -> None:
        items: list[Json] = [{"f7": "x"} for _ in range(3_000)]
        begun = process_time()
        await made.start(BOSS, "letter", {"listed": items, "prompt": "a"})
        assert process_time() - begun < 1.5
        assert checked.count(listed) == 1
        wrong: Json = [{"f1": 1}, {"g": 1}] if around == "items" else [{"g": 1}]
        with pytest.raises(InputError, match="the input `listed` does not fit") as refused:
            await made.start(BOSS, "letter", {"listed": wrong, "prompt": "a"})
        places = [getattr(each, "pointer", "") for each in refused.value.problems]
        assert places == ["/listed/1" if around == "items" else "/listed"]
        with pytest.raises(InputError, match="the input `listed` is missing"):
            await made.start(BOSS, "letter", "a")
        with pytest.raises(InputError, match="the input `other` is not declared; there are `listed`, `prompt`"):
            await made.start(BOSS, "letter", {"listed": items[:1], "other": 1, "prompt": "a"})

    document = asking()
    on(service(tmp_path, letter={**document, "inputs": {"listed": listed, "prompt": {}}}), test)


def test_a_page_of_questions_or_tasks_that_show_much_is_short(tmp_path: Path) -> None:
    """Other pages have the rest: nothing is left out."""

    async def test() -> None:
        made = service(tmp_path, letter=asking())
        async with client(made, BOSS, routes=a2a_routes(made)) as http:
            for number in range(7):
                await made.start(BOSS, "letter", f"{number}" * 1_000_000, wait=20)
            seen: list[str] = []
            query: dict[str, str] = {"limit": "200"}
            while True:
                page = (await http.get("/v1/questions", params=query)).json()
                assert 1 <= len(page["items"]) <= 4
                seen += [text[0] for each in page["items"] for text in each["show"].values()]
                if page["next"] is None:
                    break
                query["cursor"] = page["next"]
            assert seen == [*"0123456"]
            listed: list[str] = []
            token = ""
            while True:
                asked = {"jsonrpc": "2.0", "id": 1, "method": "ListTasks", "params": {"pageToken": token}}
                tasks = (await http.post("/a2a", json=asked, headers={"A2A-Version": "1.0"})).json()["result"]
                assert 1 <= len(tasks["tasks"]) <= 5
                listed += [each["id"] for each in tasks["tasks"]]
                token = tasks.get("nextPageToken", "")
                if not token:
                    break
            assert len(set(listed)) == len(listed) == 7

    go(test())


def test_questions_of_a_run_that_show_much_are_read_a_page_at_a_time_over_mcp(tmp_path: Path) -> None:
    asked = chunk(userContext1=chunk(step1_approve=step(DECISION, "item", "event")))
    many = {**process(eachContext1=each("item", "items", asked)), "inputs": {"items": {}, "event": {}}}

    async def test() -> None:
        made = service(tmp_path, many=many)
        async with client(made, BOSS):
            offers = RunOffers([], made)
            run = (await made.start(BOSS, "many", {"items": [*range(12)], "event": "x" * 190_000}, wait=20)).report.run
            seen: list[Any] = []
            given = {"run": run}
            while True:
                page: Any = await offers.call("open_questions", given, BOSS)
                assert 1 <= len(page["questions"]) <= 5
                seen += [each["show"]["item"] for each in page["questions"]]
                if "next" not in page:
                    break
                given["after"] = page["next"]
            assert sorted(seen) == [*range(12)]

    go(test())


CHUNKS: Final = {f"userContext{at}": chunk(**{f"step{at}_approve": step(DECISION, "prompt")}) for at in (1, 2, 3)}
THREE: Final = process(**CHUNKS)
"""Three questions at once, each of which shows all of the input."""


def test_questions_of_a_run_that_show_much_are_listed_a_few_at_a_time(tmp_path: Path) -> None:
    """The others follow when these are answered."""

    async def test() -> None:
        made = service(tmp_path, letter=THREE)
        async with client(made, BOSS, routes=[*a2a_routes(made), *agui_routes(made)]) as http:
            run = (await made.start(BOSS, "letter", "x" * 600_000, wait=20)).report.run
            for name in ("userContext1", "userContext2", "userContext3"):
                asked = {"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": {"id": run}}
                task = (await http.post("/a2a", json=asked, headers={"A2A-Version": "1.0"})).json()["result"]
                [part] = task["status"]["message"]["parts"]
                listed = await RunOffers([], made).call("open_questions", {"run": run}, BOSS)
                assert [each["id"] for each in listed["questions"]] == [part["metadata"]["question"]]  # type: ignore[index, call-overload]  # as JSON is
                assert part["metadata"]["question"].startswith(f"{name}@")
                await made.answer(BOSS, run, name, ANSWER)
            said = {"threadId": "t", "runId": "r", "messages": [{"id": "1", "role": "user", "content": "x" * 600_000}]}
            told = await http.post("/agui/letter", json={**said, "tools": [], "context": [], "state": {}, "forwardedProps": {}})
            assert told.text.count('"reason":"question"') == 1

    go(test())


def test_an_answer_reads_what_its_own_question_shows_and_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    question_row = run_table._question_row

    def noting(row: Any) -> Any:
        read.append(row.question)
        return question_row(row)

    async def test(made: RunService) -> None:
        run = (await made.start(BOSS, "letter", "x", wait=20)).report.run
        assert len((await made.questions(CAT)).rows) == 3
        monkeypatch.setattr(run_table, "_question_row", noting)
        assert [each.id for each in (await made.run(CAT, run)).report.questions] == [
            "userContext1",
            "userContext2",
            "userContext3",
        ]
        await made.answer(CAT, run, "userContext2", ANSWER)
        assert {*read} == {"userContext2"}

    on(service(tmp_path, name="durable", letter=THREE), test)


def test_what_a_question_shows_is_evaluated_once_where_a_run_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer reads a run several times, and a run may ask thousands."""
    shown: list[str] = []
    original = issue._shown_to_person

    def noting(machine: Any, scope: str, unit: Any) -> Json:
        shown.append(unit.context)
        return original(machine, scope, unit)

    async def test(made: RunService) -> None:
        run = (await made.start(BOSS, "letter", "x", wait=20)).report.run
        monkeypatch.setattr(issue, "_shown_to_person", noting)
        counts = set[int]()
        for _ in range(5):  # its carrier may look at the questions meanwhile
            shown.clear()
            assert len((await made.engine.show(run)).questions) == 3
            counts.add(len(shown))
        assert min(counts) == 3

    on(service(tmp_path, name="durable", letter=THREE), test)


def test_questions_open_together_and_the_people_of_one_are_read_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run may ask thousands."""
    records = service(tmp_path).records
    asked = tuple(Question(f"eachContext1[{each}].userContext1", ("ask",), each, {}) for each in range(50))
    statements: list[str] = []
    sa.event.listen(records.engine, "before_cursor_execute", lambda *given: statements.append(given[2]))
    records.note(RunReport("r", "letter", "waiting", None, asked), lambda _: Opening(("bob", "cat")))
    assert sum("instrc_votes" in each for each in statements) <= 1
    assert sum("INTO instrc_candidates" in each for each in statements) == 1
    read: list[Any] = []
    original = records.select
    monkeypatch.setattr(records, "select", lambda *given: read.extend(rows := original(*given)) or rows)
    [people] = records.people_of(records.questions(questions_query(run="r"), 1))
    assert people.candidates == ("bob", "cat")
    assert len(read) < 10


@pytest.mark.parametrize(("rule", "mapped"), [({}, False), ({"x-approvers": ["item"]}, False), ({"x-approvers": "item"}, True)])
def test_only_a_rule_that_may_name_an_argument_is_looked_for_in_each_question(
    rule: dict[str, Json],
    mapped: bool,  # noqa: FBT001
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A run may ask ten thousand, each of which has the schema of its step."""
    looked: list[Json] = []

    def noting(schema: Json, **more: Any) -> Json:
        looked.append(schema)
        return map_schemas(schema, **more)

    monkeypatch.setattr("instrc.runtime.interpreter.v1.issue.map_schemas", noting)

    async def test(made: RunService) -> None:
        run = (await made.start(BOSS, "letter", "x", wait=20)).report.run
        assert len((await made.run(BOSS, run)).report.questions) == 1

    asked = step({**DECISION, **rule}, "prompt", arguments={"item": "prompt"})
    on(service(tmp_path, letter=process(userContext1=chunk(step1_approve=asked))), test)
    assert bool(looked) == mapped


def test_what_a_question_shows_is_digested_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Json] = []
    monkeypatch.setattr("instrc.runtime.questions.digest_of", lambda value: made.append(value) or "0" * 64)
    question = Question("userContext1", ("approve",), "x", {})
    assert question.shown_id == question.shown_id == f"userContext1@{question.tag}"
    assert made == [["x", {}]]


def test_the_form_of_a_page_is_read_and_checked_beside_the_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[bool] = []

    def watched(name: str) -> None:
        original = getattr(forms, name)

        def call(*given: Any) -> Any:
            begun.append(asyncio._get_running_loop() is not None)
            return original(*given)

        monkeypatch.setattr(forms, name, call)

    async def test() -> None:
        made = service(tmp_path, letter=asking())
        async with client(made, BOSS, routes=Inbox(made).routes) as http:
            run = (await made.start(BOSS, "letter", "x", wait=20)).report.run
            watched("shape_of")
            watched("complaints")
            question = f"/inbox/question/{run}:userContext1"
            done = [await http.get(question), await http.post(question, data={"do": "check", "json:/data": "{}"})]
            done += [await http.post(question, data={"do": button}) for button in ("add:/data/x", "claim")]
            done += [await http.get("/inbox/start/letter"), await http.post("/inbox/start/letter", data={"do": "answer"})]
            sent = {"do": "answer", "step": "step1_approve"}
            done += [await http.post(f"/inbox/runs/{run}", data={**sent, "do": button}) for button in ("edit", "answer")]
            assert [each.status_code for each in done] == [200, 422, 200, 200, 200, 422, 200, 422]

    go(test())
    assert {*begun} == {False}


def test_answers_to_closed_questions_are_not_read_for_a_list_or_a_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A loop may have asked thousands, each of whose answers is long."""
    read: list[str] = []

    def noting(row: Any) -> Any:
        read.append(row.question)
        return vote_in(row)

    async def test(made: RunService) -> None:
        run = (await made.start(BOSS, "letter", "x", wait=20)).report.run
        opened = (await made.question(BOSS, run, "userContext1")).opened
        for number in range(60):
            made.records.vote(run, f"c{number:02}", Vote("cat", "key", opened, {"text": "x"}), 0.0, None)
        made.records.vote(run, "userContext1", Vote("ann", "key", opened, {"text": "x"}), opened, None)
        for module in ("instrc.engines.service_tables", "instrc.server.records"):
            monkeypatch.setattr(f"{module}.vote_in", noting)
        await made.questions(BOSS)
        assert read == ["userContext1"]
        await made.run(CAT, run)
        assert read == ["userContext1"]

    on(service(tmp_path, letter=asking(**{"x-approvers": ["ann", "bob"], "x-needed": 2})), test)


@pytest.mark.parametrize("asked", [{"description": "x" * 400_000}, {}])
def test_a_page_of_questions_counts_what_they_show_and_what_may_be_answered(asked: dict[str, str], tmp_path: Path) -> None:
    async def test(made: RunService) -> None:
        for _ in range(6):
            await made.start(BOSS, "letter", "x" * (400_000 - len(asked.get("description", ""))), wait=20)
        assert len((await made.questions(BOSS)).rows) == 2

    on(service(tmp_path, letter=asking(**asked)), test)


def test_a_long_trace_is_read_a_page_at_a_time_by_all_that_show_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the list of its events, the stream of a run, the pages of a run, and AG-UI: nothing is left out."""

    async def test() -> None:
        made = service(tmp_path, name="durable", letter=asking())
        async with client(made, BOSS, routes=[*Inbox(made).routes, *agui_routes(made)]) as http:
            sent = {"threadId": "t", "tools": [], "context": [], "state": {}, "forwardedProps": {}}
            said = {"id": "1", "role": "user", "content": "x"}
            begun = await http.post("/agui/letter", json={**sent, "runId": "1", "messages": [said]})
            [run] = made.records.names(runs_query())
            with trace_file(tmp_path, run).open("a") as file:
                for number in range(40):
                    event = {"event": "asked", "at": 1.0, "run": run, "id": f"c{number}", "steps": [], "sent": "x" * 200_000}
                    file.write(f"{dumps(event, indent=False)}\n")
            read, sizes = made.engine.trace_from, list[int]()

            def reading(*given: Any) -> Any:
                events, place = read(*given)
                sizes.append(len(events))
                return events, place

            monkeypatch.setattr(made.engine, "trace_from", reading)
            items: list[Any] = []
            query: dict[str, str] = {}
            while not items or query["cursor"]:
                part = (await http.get(f"/v1/runs/{run}/trace", params=query)).json()
                items, query = [*items, *part["items"]], {"cursor": part["next"]}
            ids = [each["id"] for each in items if each["event"] == "asked"]
            assert ids == [f"c{number}" for number in range(40)]
            page = (await http.get(f"/inbox/runs/{run}/trace")).text
            assert (page.count("x" * 200_000), page.count("x…"), len(page) < 4_500_000) == (20, 20, True)
            assert len((await http.get(f"/inbox/runs/{run}")).text) < 100_000
            answers = [{"interruptId": "userContext1", "status": "resolved", "payload": {"decision": "Approve"}}]
            done = await http.post("/agui/letter", json={**sent, "runId": "2", "messages": [], "resume": answers})
            assert ("RUN_FINISHED" in begun.text, "step1_approve" in done.text) == (True, True)
            told = [event async for event in made.event_streams.events(BOSS, run)]
            assert [event.body["id"] for event in told if event.kind == "asked"] == ids
            numbers = [event.number for event in told if event.kind not in {"snapshot", "status"}]
            assert numbers == [*range(1, len(numbers) + 1)]
            assert 1 < max(sizes) < 10

    go(test())


@pytest.mark.parametrize("most", [190, 199, 200, 201, 250])
def test_a_line_of_a_trace_is_read_when_all_of_it_is_there(most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is not JSON is read slowly, and a page of a trace mostly ends in a line."""
    lines = [dumps({"event": "asked", "run": "a", "at": 0.0, "show": "x" * 50}, indent=False).ljust(99) for _ in range(3)]
    (tmp_path / "a").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    read: list[bytes] = []
    monkeypatch.setattr(traces, "value_in", lambda line: read.append(line) or value_in(line))
    events, place = read_events(tmp_path / "a", 0, most)
    assert (len(read), len(events), place) == (most // 100, most // 100, most // 100 * 100)


def test_a_form_looks_for_the_names_of_its_fields_in_what_is_shown_once() -> None:
    fields: Json = {"type": "object", "properties": {f"field{number}": {"type": "number"} for number in range(200)}}
    show: Json = {"order": {**{f"k{number}": number for number in range(20_000)}, "field7": 7}}
    began = process_time()
    form = AnswerForm(fields, begun(fields, show), words_for("en"), show=show)
    assert process_time() - began < 2
    assert form.value == {"field7": 7}


def test_a_text_of_many_addresses_is_shown_in_time_by_its_length() -> None:
    before = process_time()
    shown = linked("http://a/?b&c <" * 150_000)
    assert shown.count('<a href="http://a/?b&amp;c" rel="noreferrer">http://a/?b&amp;c</a> &lt;') == 150_000
    assert process_time() - before < 0.9


@pytest.mark.parametrize("text", [DEEP[31:-1], WIDE[31:-1]], ids=["deep", "wide"])
def test_json_in_a_text_is_bounded_like_a_body(text: bytes) -> None:
    """Bounds of a body do not look into its texts, but forms, answers and parts may hold JSON there."""
    before = process_time()
    form = AnswerForm({"not": False}, {"json:/data": text.decode()}, words_for("en"))
    assert not form.check()
    assert "the text" in form.errors[0][1]
    assert answer_of(text.decode(), {"type": "array"}) == text.decode()
    with pytest.raises(InvalidParamsError, match="the text"):
        given_in([Part(text=text.decode(), media_type="application/json")])
    assert process_time() - before < 2.0


def test_many_parts_headers_and_messages_are_refused(tmp_path: Path) -> None:
    async def test() -> None:
        made = service(tmp_path)
        async with client(made, routes=[*a2a_routes(made), *agui_routes(made)]) as http:
            parts = [{"text": "x"}] * (bounds.PARTS + 1)
            message = {"messageId": "m", "role": "ROLE_USER", "parts": parts, "metadata": {"program": "letter"}}
            sent: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message}}
            done = await http.post("/a2a", json=sent, headers={"A2A-Version": "1.0"})
            assert "at most 1,000 parts" in done.text
            messages = [{"id": str(each), "role": "user", "content": "x"} for each in range(bounds.PARTS + 1)]
            said = {"threadId": "t", "runId": "r", "messages": messages, "tools": [], "context": [], "state": {}}
            done = await http.post("/agui/letter", json={**said, "forwardedProps": {}})
            assert (done.status_code, "more than 1,000" in done.text) == (400, True)
            many = [(f"X-{each}", "x") for each in range(bounds.HEADERS)]
            done = await http.get("/healthz", headers=many)
            assert done.status_code == 413
            assert "content-security-policy" in done.headers

    go(test())


@pytest.mark.parametrize("long", ["a2a context", "a2a message", "agui thread", "agui run", "key", "metadata"])
def test_names_that_clients_choose_are_bounded_at_every_door(long: str, tmp_path: Path) -> None:
    name = "x" * (bounds.NAME + 1)

    async def test() -> None:
        made = service(tmp_path)
        async with client(made, routes=[*a2a_routes(made), *agui_routes(made)]) as http:
            headers = {"A2A-Version": "1.0"}
            if long.startswith("a2a"):
                given = {"contextId": name} if long == "a2a context" else {"messageId": name}
                message = {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "x"}], "metadata": {"program": "letter"}}
                sent: dict[str, Any] = {
                    "jsonrpc": "2.0",
                    "id": 1,
                    "method": "SendMessage",
                    "params": {"message": {**message, **given}},
                }
                done = await http.post("/a2a", json=sent, headers=headers)
            elif long.startswith("agui"):
                said = {"threadId": "t", "runId": "r", "messages": [{"id": "1", "role": "user", "content": "x"}], "tools": []}
                given = {"threadId": name} if long == "agui thread" else {"runId": name}
                done = await http.post("/agui/letter", json={**said, "context": [], "state": {}, "forwardedProps": {}, **given})
            else:
                start: dict[str, Any] = {"program": "letter", "input": "x"}
                start |= {"metadata": {"k": name}} if long == "metadata" else {}
                done = await http.post("/v1/runs", json=start, headers={"Idempotency-Key": name} if long == "key" else {})
            assert "error" in done.text or "RUN_ERROR" in done.text
            assert (await http.get("/v1/runs")).json()["items"] == []

    go(test())


def test_a_push_setting_is_bounded(tmp_path: Path) -> None:
    """Each of its messages has its token and credentials."""

    async def test() -> None:
        made = service(tmp_path, letter=asking())
        hooks = Webhooks(made.records, AddressRules.of(["127.0.0.0/8"]), lambda _: "")
        async with client(made, BOSS, routes=a2a_routes(made, hooks)) as http:
            run = (await made.start(BOSS, "letter", "x", wait=20)).report.run
            for length, is_taken in ((bounds.SETTING, False), (1000, True)):
                setting = {"taskId": run, "id": "one", "url": "http://127.0.0.1:9/", "token": "x" * length}
                sent = {"jsonrpc": "2.0", "id": 1, "method": "CreateTaskPushNotificationConfig", "params": setting}
                done = (await http.post("/a2a", json=sent, headers={"A2A-Version": "1.0"})).json()
                assert ("result" in done, "a push setting" in str(done)) == (is_taken, not is_taken)

    go(test())


def test_names_of_people_and_comments_are_bounded_whatever_the_protocol(tmp_path: Path) -> None:
    async def test(made: RunService) -> None:
        run = (await made.start(BOSS, "letter", "x", wait=20)).report.run
        with pytest.raises(RequestError, match="name of one person"):
            await made.claim(BOSS, run, "approve", to="x" * (bounds.NAME + 1))
        with pytest.raises(RequestError, match="at most 10,000 characters"):
            await made.answer(BOSS, run, "approve", {"decision": "Approve"}, comment="x" * (bounds.COMMENT + 1))

    on(service(tmp_path, letter=asking()), test)


def test_connections_are_bounded_by_address_and_in_all() -> None:
    assert not admits(bounds.FROM_ONE_ADDRESS, bounds.FROM_ONE_ADDRESS)
    assert admits(0, bounds.FROM_ONE_ADDRESS)
    assert admits(bounds.FROM_ONE_ADDRESS, bounds.FROM_ONE_ADDRESS, is_proxy=True)
    nearly = bounds.CONNECTIONS - bounds.RESERVED
    assert not admits(1, nearly, is_proxy=True)
    assert admits(0, nearly)  # a probe that has none yet
    assert not admits(0, bounds.CONNECTIONS)


@pytest.mark.parametrize(
    ("address", "peer"),
    [
        ("198.51.100.7", "198.51.100.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::9", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::ffff:198.51.100.7", "198.51.100.7"),
        ("", ""),
        ("a socket", "a socket"),
    ],
)
def test_the_network_of_an_address_is_counted_where_somebody_has_all_of_it(address: str, peer: str) -> None:
    assert peer_of(address) == peer


@pytest.mark.parametrize("trusted", ["127.0.0.1", "10.0.0.1, 127.0.0.0/8", ["127.0.0.0/8"], "*", ["127.0.0.2"], []])
def test_a_proxy_is_limited_in_total_only(trusted: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("instrc.server.connections.FROM_ONE_ADDRESS", 0)

    async def test() -> None:
        app = app_of(service(tmp_path))
        listening = at_port(app, http=BoundedProtocol, forwarded_allow_ips=trusted)
        async with listening as address, httpx.AsyncClient(base_url=address) as http:
            if trusted in (["127.0.0.2"], []):
                with pytest.raises(httpx.TransportError):
                    await http.get("/healthz")
            else:
                assert (await http.get("/healthz")).status_code == 200

    go(test())


def test_a_client_that_does_not_read_is_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A response is sent as it is read, and held for a limited time."""
    monkeypatch.setattr("instrc.server.connections.UNREAD_SECONDS", 0.2)
    sent: list[int] = []

    async def large(_request: Request) -> Response:
        return Response(b"x" * 50_000_000)

    class Noting(BoundedProtocol):  # type: ignore[misc]  # as above
        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            monkeypatch.setattr(transport, "write", lambda data, write=transport.write: (sent.append(len(data)), write(data)))

        def connection_lost(self, exc: Exception | None) -> None:
            super().connection_lost(exc)
            ended.set()

    ended = asyncio.Event()

    async def test() -> None:
        app = app_of(service(tmp_path), routes=[Route("/large", large)])
        async with at_port(app, http=Noting) as address, asyncio.timeout(20):
            _, writer = await asyncio.open_connection("127.0.0.1", int(address.rpartition(":")[2]))
            writer.write(b"GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n")
            await ended.wait()
            writer.close()

    go(test())
    assert max(sent) <= bounds.PIECE
    assert sum(sent) < 50_000_000


@pytest.mark.parametrize("known", [True, False])
def test_requests_of_a_caller_or_by_a_link_that_are_too_many_at_once_are_queued(known: bool, tmp_path: Path) -> None:  # noqa: FBT001
    """Others are served meanwhile; neither an event stream takes a turn, nor a request that only waits."""
    made, people = service(tmp_path), {"a": BOSS, "b": CAT}
    under_way, free = [0], asyncio.Event()

    async def slow(request: Request) -> Response:
        under_way[0] += 1
        if request.method == "POST":
            await made.hub.wait("none", 60)
        else:
            await free.wait()
        return Response()

    async def test() -> None:
        app = app_of(made, identify=knowing(people), routes=[Route("/inbox/link/one", slow, methods=["GET", "POST"])])
        async with at_port(app) as address, httpx.AsyncClient(base_url=address, timeout=60) as http, asyncio.timeout(60):
            headers = {"Authorization": "Bearer a"} if known else {}

            async def begun(method: str, more: int) -> list[asyncio.Task[httpx.Response]]:
                asked = [asyncio.create_task(http.request(method, "/inbox/link/one", headers=headers)) for _ in range(more)]
                before = under_way[0]
                while under_way[0] < before + more:  # noqa: ASYNC110  -- a request has no event for its beginning
                    await asyncio.sleep(0.01)
                return asked

            async with http.stream("GET", "/v1/events", headers={"Authorization": "Bearer a"}) as stream:
                assert stream.status_code == 200
                waiting = await begun("POST", bounds.AT_ONCE + 1)
                asked = await begun("GET", bounds.AT_ONCE)
                late = asyncio.create_task(http.get("/inbox/link/one", headers=headers))
                assert (await http.get("/v1/runs", headers={"Authorization": "Bearer b"})).status_code == 200
                assert (under_way[0], late.done()) == (2 * bounds.AT_ONCE + 1, False)
            made.hub.wake("none")
            free.set()
            assert {(await each).status_code for each in [*waiting, *asked, late]} == {200}

    go(test())


def test_claims_and_releases_are_counted(tmp_path: Path) -> None:
    """Each wakes those who follow all runs."""

    async def test(made: RunService) -> None:
        run = (await made.start(BOSS, "letter", "a", wait=20)).report.run
        await made.claim(CAT, run, "userContext1")
        await made.release(CAT, run, "userContext1")
        with pytest.raises(RateLimitError):
            await made.claim(CAT, run, "userContext1")

    on(service(tmp_path, settings=ServiceSettings(rate=2), letter=asking()), test)


def test_a_claim_has_its_run_read_and_no_others(tmp_path: Path) -> None:
    """Where runs are not kept in a table, all are listed if something has happened, and it is not known where."""

    async def test() -> None:
        made = service(tmp_path, letter=asking())
        run = (await made.start(BOSS, "letter", "a", wait=20)).report.run
        made.hub.bind()
        made.hub.touched.clear()
        followed = asyncio.ensure_future(made.hub.wait(run, 60))
        await made.claim(CAT, run, "userContext1")
        await asyncio.sleep(0)
        assert (made.hub.touched, followed.done()) == ({run}, False)
        followed.cancel()

    go(test())


def test_a_used_link_is_refused_before_its_answer_is_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def test() -> None:
        made = service(tmp_path, letter=asking(**{"x-links": True, "x-needed": 2}))
        async with client(made, BOSS) as http:
            run = (await made.start(BOSS, "letter", "a", wait=20)).report.run
            word = await made.link(BOSS, run, "userContext1", "guest")
            assert (await http.post(f"/v1/links/{word}", json={"data": ANSWER})).status_code == 200
            monkeypatch.setattr(made, "question", lambda *_: pytest.fail("the question is read"))
            for data in (ANSWER, ["a"] * 1000):
                done = await http.post(f"/v1/links/{word}", json={"data": data})
                assert (done.status_code, "used already" in done.text) == (401, True)

    go(test())


def test_a_link_has_one_spelling(tmp_path: Path) -> None:
    """Another one would have turns of its own: foreign characters, and spare bits of the last one, are decoded alike."""

    async def test() -> None:
        made = service(tmp_path, letter=asking(**{"x-links": True}))
        async with client(made, BOSS) as http:
            run = (await made.start(BOSS, "letter", "a", wait=20)).report.run
            word = await made.link(BOSS, run, "userContext1", "guest")
            letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
            last = letters[letters.index(word[-1]) ^ 1]
            for other in (f"{word}!", f"{word}=", f"{word[:-3]}${word[-3:]}", f"{word[:-1]}{last}"):
                assert (await http.get(f"/v1/links/{other}")).status_code == 401, other
            assert (await http.get(f"/v1/links/{word}")).status_code == 200

    go(test())


def test_an_idle_stream_of_somebody_who_is_only_asked_reads_no_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("instrc.server.streams.LOOK", 0.001)
    looks = [0]

    async def test() -> None:
        made = service(tmp_path, name="durable", letter=asking(**{"x-approvers": ["cat", "bob"], "x-needed": 2}))
        async with client(made, BOSS):
            run = (await made.start(BOSS, "letter", "a", wait=20)).report.run
            still, seen = made.event_streams._is_still, made.visibility.seen

            async def looked(*given: Any) -> Any:
                looks[0] += 1
                return await seen(*given)

            turns = asyncio.Semaphore(0)

            async def asked(*given: Any) -> Any:
                turns.release()
                return await still(*given)

            events = made.event_streams.events(CAT, run, 0)
            assert (await anext(events)).kind == "snapshot"
            monkeypatch.setattr(made.visibility, "seen", looked)
            monkeypatch.setattr(made.event_streams, "_is_still", asked)
            following = asyncio.create_task(anext(events))
            for _ in range(20):
                await asyncio.wait_for(turns.acquire(), 60)
            assert looks == [0]
            await made.claim(CAT, run, "userContext1")
            await made.release(CAT, run, "userContext1")
            for _ in range(20):
                await asyncio.wait_for(turns.acquire(), 60)
            assert looks == [4]  # of the two requests
            for who in (CAT, BOB):
                await made.answer(who, run, "userContext1", {"decision": "Approve"})
            assert (await asyncio.wait_for(following, 60)).kind == "status"
            await events.aclose()

    go(test())


def test_an_answer_takes_no_turn_while_a_worker_is_to_read_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = service(tmp_path, letter=asking())
    answer, begun, free = made.engine.answer, asyncio.Semaphore(0), asyncio.Event()

    async def slow(*given: Any) -> Any:
        begun.release()
        await free.wait()
        return await answer(*given)

    async def test() -> None:
        monkeypatch.setattr(made.engine, "answer", slow)
        async with client(made, BOSS) as http, asyncio.timeout(60):
            runs = [(await made.start(BOSS, "letter", "a", wait=20)).report.run for _ in range(bounds.AT_ONCE + 1)]
            places = [f"/v1/questions/{run}:userContext1/answer" for run in runs]
            asked = [asyncio.create_task(http.post(each, json={"data": {"decision": "Approve"}})) for each in places]
            for _ in asked:
                await begun.acquire()
            free.set()
            assert [(await each).status_code for each in asked] == [200] * len(runs)

    go(test())


def test_a_caller_who_is_not_known_any_more_when_their_turn_comes_is_refused(tmp_path: Path) -> None:
    made, people, free, begun = service(tmp_path), {"a": BOSS}, asyncio.Event(), asyncio.Semaphore(0)

    async def slow(_request: Request) -> Response:
        begun.release()
        await free.wait()
        return Response()

    async def test() -> None:
        app = app_of(made, identify=knowing(people), routes=[Route("/slow", slow)])
        headers = {"Authorization": "Bearer a"}
        async with at_port(app) as address, httpx.AsyncClient(base_url=address, timeout=60) as http, asyncio.timeout(60):
            asked = [asyncio.create_task(http.get("/slow", headers=headers)) for _ in range(bounds.AT_ONCE)]
            for _ in asked:
                await begun.acquire()
            late = asyncio.create_task(http.get("/v1/runs", headers=headers))
            await http.get("/healthz")
            assert not late.done()
            del people["a"]
            free.set()
            assert {(await each).status_code for each in asked} <= {200, 401}
            assert (await late).status_code == 401

    go(test())


def test_an_action_on_many_runs_keeps_its_turn_while_it_waits_for_one(tmp_path: Path) -> None:
    made, free, begun = service(tmp_path), asyncio.Event(), asyncio.Semaphore(0)

    async def cancel(_caller: Caller, run: str) -> RunInfo:
        await made.hub.wait("none", 0.01)
        begun.release()
        await free.wait()
        return await made.run(BOSS, run)

    async def test() -> None:
        made.cancel = cancel  # type: ignore[method-assign]  # waits for the test
        app = app_of(made, identify=knowing({"a": BOSS, "b": CAT}))
        headers, action = {"Authorization": "Bearer a"}, {"action": "cancel", "dryRun": False}
        async with at_port(app) as address, httpx.AsyncClient(base_url=address, timeout=60) as http, asyncio.timeout(60):
            await settled(made, (await made.start(BOSS, "letter", "x")).report.run, "waiting")
            acting = partial(http.post, "/v1/actions", json=action, headers=headers)
            asked = [asyncio.create_task(acting()) for _ in range(bounds.AT_ONCE)]
            for _ in asked:
                await begun.acquire()
            late = asyncio.create_task(http.get("/v1/programs", headers=headers))
            for _ in range(3):
                assert (await http.get("/v1/runs", headers={"Authorization": "Bearer b"})).status_code == 200
            assert not late.done()
            free.set()
            assert {(await each).status_code for each in [*asked, late]} == {200}

    go(test())


def test_a_body_of_many_small_parts_is_parsed_a_little_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The HTTP library parses what it is given at once, before anybody asks who sends it."""
    pieces: list[int] = []
    received = AutoHTTPProtocol.data_received

    def note(protocol: Any, data: bytes) -> None:
        pieces.append(len(data))
        received(protocol, data)

    monkeypatch.setattr(AutoHTTPProtocol, "data_received", note)

    async def test() -> None:
        app = app_of(service(tmp_path), identify=knowing({}))
        sent = b"POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1\r\na\r\n" * 50_000
        async with at_port(app, http=BoundedProtocol) as address:
            reader, writer = await asyncio.open_connection("127.0.0.1", int(address.rpartition(":")[2]))
            writer.write(sent)
            assert b" 401 " in await reader.readline()
            writer.close()

    go(test())
    assert 0 < max(pieces) <= bounds.READ_BYTES


def test_whoever_sends_a_byte_at_a_time_is_cut_off_and_others_are_served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("instrc.server.connections.HEAD_SECONDS", 0.6)
    monkeypatch.setattr("instrc.server.connections.FROM_ONE_ADDRESS", 40)
    monkeypatch.setattr("instrc.server.bounds.BODY_SECONDS", 0.6)

    async def drip(port: int, text: bytes) -> int:
        """Send a text a byte at a time until the service ends it; return how much was sent."""
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        sent = 0
        try:
            for byte in text:
                writer.write(bytes([byte]))
                await writer.drain()
                sent += 1
                await asyncio.sleep(0.1)
                if reader.at_eof() or writer.is_closing():
                    break
        except OSError:
            pass
        finally:
            writer.close()
        return sent

    async def test() -> None:
        made = service(tmp_path, settings=ServiceSettings())
        config = uvicorn.Config(
            app_of(made),
            host="127.0.0.1",
            port=0,
            log_level="error",
            http=f"{BoundedProtocol.__module__}:BoundedProtocol",  # as on the command line of uvicorn
            forwarded_allow_ips=[],
        )
        server = uvicorn.Server(config)
        running = asyncio.create_task(server.serve())
        while not server.started:  # noqa: ASYNC110  -- the library has no event for it
            await asyncio.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        try:
            head = b"POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 400\r\n\r\n"
            slow = [asyncio.create_task(drip(port, head)) for _ in range(20)]
            begun = head[:-4] + b"\r\n\r\n"

            async def slow_body() -> int:
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.write(begun)
                received = b""
                for number in range(60):
                    writer.write(b" ")
                    await asyncio.sleep(0.1)
                    if writer.is_closing() or (received and reader.at_eof()):
                        writer.close()
                        return number
                    with suppress(TimeoutError):
                        async with asyncio.timeout(0.01):
                            received += await reader.read(10_000)
                return 60

            bodies = [asyncio.create_task(slow_body()) for _ in range(5)]
            idle = [await asyncio.open_connection("127.0.0.1", port) for _ in range(30)]  # more than one address may have
            await asyncio.sleep(1.5)
            assert len(server.server_state.connections) <= 40
            async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=60) as http:
                assert (await http.get("/healthz")).status_code == 200
            assert max(await asyncio.gather(*slow)) < len(head)
            assert max(await asyncio.gather(*bodies)) < 60
            for _, writer in idle:
                writer.close()
        finally:
            server.should_exit = True
            await running
        assert not server.server_state.connections

    go(test())


def test_a_request_for_a_web_socket_is_counted_until_its_connection_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # whose settings are those of the service
    monkeypatch.setattr("instrc.server.connections.FROM_ONE_ADDRESS", 3)

    async def upgraded(port: int) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        words = ("GET /healthz HTTP/1.1", "Host: localhost", "Connection: Upgrade", "Upgrade: websocket")
        key = ("Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==")
        writer.write("\r\n".join([*words, *key, "", ""]).encode())
        answered = await reader.read(1000)
        writer.close()
        await writer.wait_closed()
        return answered

    async def test() -> None:
        made, listener = service(tmp_path), listener_at("127.0.0.1", 0)
        told: list[str] = []
        running = asyncio.create_task(serve(made, "127.0.0.1", listener, told.append, greeting="ready"))
        port = listener.getsockname()[1]  # the socket listens already
        try:
            for _ in range(5):
                assert (await upgraded(port)).startswith(b"HTTP/1.1 200"), told
        finally:
            running.cancel()
            await asyncio.wait({running})
            listener.close()

    go(test())


@pytest.mark.slow  # 1,500 connections starve the tests beside it, and those starve it
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has all addresses that begin with 127")
def test_hundreds_of_slow_clients_and_idle_connections_leave_a_service_of_1024_descriptors_reachable(tmp_path: Path) -> None:
    shutil.copytree(Path(__file__).parents[2] / "examples" / "tutorial" / "1-one-prompt", tmp_path, dirs_exist_ok=True)
    line = [sys.executable, "-m", "instrc", "serve", "--engine", "memory", "--rehearse", "--port", "0"]
    limited = f"ulimit -n 1024; exec {shlex.join(line)}"
    service = subprocess.Popen(["bash", "-c", limited], cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert service.stderr is not None
    try:
        port = next(int(found[1]) for line in service.stderr if (found := re.search(r"http://127\.0\.0\.1:(\d+)", line)))

        async def connected(number: int) -> asyncio.StreamWriter:
            local = (f"127.0.{1 + number // 100}.1", 0)
            return (await asyncio.open_connection("127.0.0.1", port, local_addr=local))[1]

        async def drip(number: int) -> bool:
            """Send the head of a request a byte at a time; return whether the service ends that."""
            writer = None
            try:
                reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(f"127.1.{number // 100}.1", 0))
                for byte in b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 30:
                    writer.write(bytes([byte]))
                    await writer.drain()
                    await asyncio.sleep(0.5)
                    if reader.at_eof():
                        return True
            except OSError:
                return True
            finally:
                if writer is not None:
                    writer.close()
            return False

        async def probed(address: str) -> int:
            transport = httpx.AsyncHTTPTransport(local_address=address)
            async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=60, transport=transport) as http:
                return (await http.get("/healthz")).status_code

        async def attacked() -> None:
            slow = [asyncio.create_task(drip(number)) for number in range(400)]
            await asyncio.sleep(1)
            idle = await asyncio.gather(*(connected(number) for number in range(1100)), return_exceptions=True)
            try:
                assert await probed("127.9.9.9") == 200
                assert all(await asyncio.gather(*slow))
                assert await probed("127.9.9.10") == 200
            finally:
                for writer in idle:
                    if isinstance(writer, asyncio.StreamWriter):
                        writer.close()
            assert await probed("127.9.9.11") == 200

        go(attacked(), 240)  # 1,500 connections, beside other tests
        assert service.poll() is None
    finally:
        service.terminate()
        service.communicate(timeout=60)


def test_a_fork_looks_for_a_bounded_number_of_steps(tmp_path: Path) -> None:
    """Each is looked for among all commands of the run."""

    async def body() -> None:
        made = service(tmp_path)
        run = (await made.start(BOSS, "letter", "x", wait=20)).report.run
        async with client(made, BOSS) as http:
            for asked, status in (
                ({"step": ",".join(["step1_draft"] * 100)}, 201),
                ({"step": ",".join(["step1_draft"] * 101)}, 422),
                ({"set": {f"draft{'_' * number}": {"text": "x"} for number in range(101)}}, 400),
            ):
                sent = await http.post(f"/v1/runs/{run}/fork", json=asked)
                assert sent.status_code == status, sent.text
                assert status != 422 or "at most 100" in sent.text

    go(body())
