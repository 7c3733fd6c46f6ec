"""Runs as tasks of MCP (SEP-2663), people asked through the client, and calls that are followed and cancelled."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import mcp_types
import pytest
from listening import at_port, knowing, listening
from mcp.client import Client
from serving import ANSWER, BOSS, LETTER, go, person, service, settled
from written_processes import chunk, process, step

from instrc.runtime.questions import Question  # what is asked
from instrc.server.http import app_of  # the service, in the process of the test
from instrc.server.mcp_runs import SHOWN, RunOffers, elicitation_of, form_of, mcp_mount  # the service, in the process of the test
from instrc.server.run_service import RunService  # the same

NESTED = {"type": "object", "properties": {"list": {"type": "array", "items": {"type": "integer"}}}, "required": ["list"]}
ASKING = process(userContext1=chunk(step1_plan=step(NESTED, "prompt")))
TASKS = {"io.modelcontextprotocol/tasks": {}}
VERSION = "2026-07-28"
ANN = person("ann", "starter", "answerer", "operator")
EVE = person("eve", "starter", program="other")


@asynccontextmanager
async def served(place: Path, *people: Any, link: str | None = None, **programs: Any) -> AsyncIterator[tuple[Any, str]]:
    made = service(place, **programs)
    route, beside = mcp_mount(RunOffers([], made), lambda run, asked: link and f"{link}{run}:{asked}")
    async with listening(made, *people, routes=[route], beside=[beside]) as address:
        yield made, f"{address}/mcp"


async def call(address: str, method: str, who: str = "", *, tasks: bool = True, progress: bool = False, **params: Any) -> Any:
    """Send a request of the stateless protocol; return its result, else the code of its error."""
    name = params.get("name") or params.get("taskId")
    able = {"elicitation": {"form": {}, "url": {}}, **({"extensions": TASKS} if tasks else {})}
    meta = {
        f"io.modelcontextprotocol/{key}": value for key, value in (("protocolVersion", VERSION), ("clientCapabilities", able))
    }
    meta |= {"io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"}, **({"progressToken": 1} if progress else {})}
    headers = {"MCP-Protocol-Version": VERSION, "Mcp-Method": method, "Accept": "application/json, text/event-stream"}
    headers |= {"Mcp-Name": name} if name else {}
    headers |= {"Authorization": f"Bearer {who}"} if who else {}
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
    async with httpx.AsyncClient(timeout=60) as http:
        answer = await http.post(address, json=body, headers=headers)
    if answer.status_code == 401:
        return 401
    lines = [line.removeprefix("data: ") for line in answer.text.splitlines() if line.startswith(("{", "data: {"))]
    found = json.loads(lines[-1])
    return found["result"] if "result" in found else found["error"]["code"]


async def until(address: str, task: str, status: str, **more: Any) -> Any:
    for _ in range(300):
        found = await call(address, "tasks/get", taskId=task, **more)
        if found["status"] == status:
            return found
        await asyncio.sleep(0.02)
    pytest.fail(f"the task is {found}")


def test_a_call_gives_a_task_that_a_person_is_asked_in(tmp_path: Path) -> None:
    async def body() -> None:
        async with served(tmp_path) as (_, address):
            begun = await call(address, "tools/call", name="letter", arguments={"prompt": "x"})
            assert (begun["resultType"], begun["ttlMs"]) == ("task", None)
            asked = await until(address, begun["taskId"], "input_required")
            ((name, request),) = asked["inputRequests"].items()
            assert request["params"]["requestedSchema"]["properties"]["decision"]["enum"] == ["Approve", "Reject"]
            wrong = {name: {"action": "accept", "content": {"decision": "Maybe"}}}
            assert await call(address, "tasks/update", taskId=begun["taskId"], inputResponses=wrong) == -32602
            left = {name: {"action": "decline"}, "other": {"action": "accept"}}
            assert (await call(address, "tasks/update", taskId=begun["taskId"], inputResponses=left))["resultType"] == "complete"
            await until(address, begun["taskId"], "input_required")
            right = {name: {"action": "accept", "content": ANSWER}}
            await call(address, "tasks/update", taskId=begun["taskId"], inputResponses=right)
            done = await until(address, begun["taskId"], "completed")
            assert done["result"]["structuredContent"]["status"] == "done"
            assert "inputRequests" not in done
            assert (await call(address, "tasks/cancel", taskId=begun["taskId"]))["resultType"] == "complete"

    go(body())


def test_tasks_are_for_clients_that_know_them_and_for_people_who_may_see_them(tmp_path: Path) -> None:
    async def body() -> None:
        async with served(tmp_path, ANN, EVE) as (_, address):
            assert await call(address, "tools/list", who="nobody") == 401
            begun = await call(address, "tools/call", who="ann", name="letter", arguments={"prompt": "x"})
            assert await call(address, "tasks/get", who="ann", tasks=False, taskId=begun["taskId"]) == -32021
            for method in ("tasks/get", "tasks/update", "tasks/cancel"):
                assert await call(address, method, who="eve", taskId=begun["taskId"]) == -32602
            refused = await call(address, "tools/call", who="eve", name="letter", arguments={"prompt": "x"})
            assert refused["isError"]
            for tool, more in (("run_status", {}), ("cancel_run", {}), ("answer", {"step": "approve", "data": ANSWER})):
                given = {"run": begun["taskId"], **more}
                assert (await call(address, "tools/call", who="eve", name=tool, arguments=given))["isError"], tool
            await call(address, "tasks/cancel", who="ann", taskId=begun["taskId"])
            assert (await until(address, begun["taskId"], "cancelled", who="ann"))["statusMessage"] == "the run was cancelled"

    go(body())


def test_tools_are_those_of_programs_that_the_caller_knows(tmp_path: Path) -> None:
    async def body() -> None:
        async with served(tmp_path, ANN, EVE, letter=LETTER, other=ASKING) as (_, address):
            seen = {who: [each["name"] for each in (await call(address, "tools/list", who))["tools"]] for who in ("ann", "eve")}
            assert [name for name in seen["ann"] if name not in seen["eve"]] == ["letter"]
            hidden, missing = [
                (await call(address, "tools/call", "eve", name=name, arguments={})) for name in ("letter", "lettre")
            ]
            assert hidden["content"][0]["text"].replace("letter", "lettre") == missing["content"][0]["text"]

    go(body())


def test_a_call_without_tasks_is_followed_and_asked_again_with_the_answer(tmp_path: Path) -> None:
    async def body() -> None:
        async with served(tmp_path) as (_, address):
            given: Any = {"name": "letter", "arguments": {"prompt": "x"}, "tasks": False, "progress": True}
            asked = await call(address, "tools/call", **given)
            ((name, _),) = asked["inputRequests"].items()
            answers = {name: {"action": "accept", "content": ANSWER}}
            done = await call(address, "tools/call", **given, requestState=asked["requestState"], inputResponses=answers)
            assert done["structuredContent"]["status"] == "done"
            at_once = await call(address, "tools/call", **{**given, "progress": False})
            assert at_once["structuredContent"]["status"] in {"running", "waiting"}

    go(body())


@pytest.mark.parametrize(("link", "mode"), [("https://desk.example/q/", "url"), (None, "form")])
def test_a_nested_question_is_a_link_or_a_text_of_json(tmp_path: Path, link: str | None, mode: str) -> None:
    async def body() -> None:
        async with served(tmp_path, link=link, plan=ASKING) as (_, address):
            begun = await call(address, "tools/call", name="plan", arguments={"prompt": "x"})
            asked = await until(address, begun["taskId"], "input_required")
            ((name, request),) = asked["inputRequests"].items()
            assert request["params"]["mode"] == mode
            if link is not None:
                assert request["params"]["url"] == f"{link}{begun['taskId']}:{name.partition('@')[0]}"
                return
            answers = {name: {"action": "accept", "content": {"answer": '{"list": [1]}'}}}
            await call(address, "tasks/update", taskId=begun["taskId"], inputResponses=answers)
            assert (await until(address, begun["taskId"], "completed"))["result"]["structuredContent"]["value"] == {"list": [1]}

    go(body())


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_client_is_asked_until_the_answer_fits_and_told_of_progress(tmp_path: Path, mode: Any) -> None:
    said: list[str] = []
    answers = iter([{"decision": "Maybe"}, ANSWER])

    async def asked(_context: Any, params: Any) -> mcp_types.ElicitResult:
        said.append(params.message)
        return mcp_types.ElicitResult(action="accept", content=next(answers))  # type: ignore[arg-type]

    async def progress(value: float, _total: float | None, message: str | None) -> None:
        said.append(f"{value:g} {message}")

    async def body() -> None:
        async with served(tmp_path) as (_, address), Client(address, elicitation_callback=asked, mode=mode) as client:
            done = await client.call_tool("letter", {"prompt": "x"}, progress_callback=progress)
            assert done.structured_content["status"] == "done"

    go(body())
    assert any("is not accepted" in each for each in said)
    assert any(each.endswith(" done") for each in said)


def test_a_call_that_is_cancelled_cancels_its_run(tmp_path: Path) -> None:
    async def body() -> None:
        waiting = asyncio.Event()

        async def asked(_context: Any, _params: Any) -> Any:
            waiting.set()
            await asyncio.sleep(60)

        async def progress(*_: Any) -> None:
            pass

        async with served(tmp_path) as (made, address), Client(address, elicitation_callback=asked, mode="legacy") as client:
            calling = asyncio.create_task(client.call_tool("letter", {"prompt": "x"}, progress_callback=progress))
            await asyncio.wait_for(waiting.wait(), 60)
            calling.cancel()
            await asyncio.gather(calling, return_exceptions=True)
            (row,) = (await made.runs(BOSS)).rows
            await settled(made, row.run, "cancelled")

    go(body())


@pytest.mark.long  # the library waits for the client
def test_a_service_that_stops_cancels_no_run_that_a_call_follows(tmp_path: Path) -> None:
    async def body() -> None:
        made = service(tmp_path)
        route, beside = mcp_mount(RunOffers([], made), lambda *_: None)
        headers = {"Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": "2025-06-18"}
        info = {"protocolVersion": "2025-06-18", "capabilities": {"elicitation": {}}, "clientInfo": {"name": "c", "version": "1"}}
        asked = {"name": "letter", "arguments": {"prompt": "x"}, "_meta": {"progressToken": "p"}}
        app = app_of(made, routes=[route], beside=[beside])
        async with at_port(app) as address:
            async with httpx.AsyncClient(base_url=address, headers=headers) as http:
                sent: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": info}
                session = {"Mcp-Session-Id": (await http.post("/mcp", json=sent)).headers["Mcp-Session-Id"]}
                sent |= {"method": "tools/call", "params": asked}
                async with http.stream("POST", "/mcp", json=sent, headers=session) as answer:
                    async for line in answer.aiter_lines():
                        if "elicitation/create" in line:
                            break
            (row,) = (await made.runs(BOSS)).rows
            app.state.streams.closing.set()  # as a signal does
        assert (await made.engine.show(row.run)).status == "waiting"

    go(body())


def test_a_call_of_a_revoked_caller_cancels_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("instrc.server.door._ASKED_AGAIN", 0.05)
    monkeypatch.setattr("instrc.server.mcp_runs.asked_of_people", lambda _report: [])  # as if a system were asked

    async def body() -> None:
        made, known = service(tmp_path), {"ann": ANN}
        route, beside = mcp_mount(RunOffers([], made), lambda *_: None)
        async with at_port(app_of(made, identify=knowing(known), routes=[route], beside=[beside])) as address:
            given = {"name": "letter", "arguments": {"prompt": "x"}, "who": "ann", "tasks": False, "progress": True}
            calling = asyncio.create_task(call(f"{address}/mcp", "tools/call", **given))
            run = await followed(made)
            known.clear()
            await asyncio.wait({calling})
            assert (await settled(made, run, "waiting")).report.run == run

    go(body())


async def followed(made: RunService) -> str:
    """Return the run that waits for a person, once a call follows it."""
    while True:
        for row in (await made.runs(BOSS)).rows:
            if row.status == "waiting" and row.run in made.hub.boxes:
                return row.run
        await asyncio.sleep(0.01)


@pytest.mark.parametrize(
    ("schema", "flat"),
    [
        ({"type": "string", "enum": ["a"]}, {"type": "string", "enum": ["a"]}),
        ({"enum": ["a", "b"]}, {"type": "string", "enum": ["a", "b"]}),
        ({"const": "a"}, {"type": "string", "enum": ["a"]}),
        ({"type": "boolean", "default": True}, {"type": "boolean"}),
        ({"type": "integer", "minimum": 1, "x-needed": 2}, {"type": "integer", "minimum": 1}),
        ({"type": "array", "items": {"enum": ["a"]}}, {"type": "array", "items": {"type": "string", "enum": ["a"]}}),
        ({"type": "string", "format": "date", "title": "T"}, {"type": "string", "format": "date", "title": "T"}),
        ({"enum": ["a", 1]}, None),
        ({"type": ["string", "null"]}, None),
        ({"type": "array", "items": {"type": "string"}}, None),
        ({"type": "object"}, None),
        ({"$ref": "#/$defs/a"}, None),
        (True, None),
    ],
)
def test_a_form_is_flat_and_has_nothing_chosen(schema: Any, flat: Any) -> None:
    form = form_of({"type": "object", "properties": {"a": schema}, "required": ["a"]})
    assert form == (None if flat is None else {"type": "object", "properties": {"a": flat}, "required": ["a"]})


def test_a_long_value_says_that_it_is_cut() -> None:
    """Who sees only its beginning may not take that for all that is approved."""
    schema: Any = {"properties": {"decision": {"enum": ["Approve", "Reject"]}}}
    for length, is_cut in ((SHOWN, False), (SHOWN + 1, True)):
        asked = elicitation_of(Question("q", ("pay",), "x" * length, schema, "person"), None)
        assert ("1 more characters" in asked.params.message) == is_cut
