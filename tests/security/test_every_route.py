"""Every route of the table, asked by every role about somebody else's run: a new route is attacked as well."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest
from mcp_types.version import LATEST_MODERN_VERSION as VERSION
from serving import BOSS, asking, client, go, person, service
from starlette.applications import Starlette
from starlette.routing import BaseRoute

from instrc.server.a2a import a2a_routes  # the service over A2A
from instrc.server.access import Caller  # who asks
from instrc.server.agui import agui_routes  # the service over AG-UI
from instrc.server.http import Streams, app_of, event_endpoints  # the application itself, and its table
from instrc.server.mcp_runs import TASKS, RunOffers, mcp_mount, no_link  # the service over MCP
from instrc.server.operations import ENDPOINTS, Endpoint  # the table
from instrc.server.operators import (
    OPERATOR_ENDPOINTS,  # the table
    webhook_routes,  # the rest of the table
)
from instrc.server.run_service import RunService  # the service itself
from instrc.server.webhooks import AddressRules, Webhooks  # the rest of the table
from instrc.vibes.service_settings import PeopleSettings, Role, ServiceSettings  # without a file

MARK = "what-only-ann-and-those-who-see-may-read"
SEES: frozenset[Role] = frozenset({"viewer", "operator", "author", "admin"})
CHANGES: frozenset[Role] = frozenset({"operator", "admin"})
CALLERS: dict[str, tuple[Role, ...]] = {
    "nobody": (),
    "starter": ("starter",),
    "answerer": ("answerer",),
    "starter and answerer": ("starter", "answerer"),
    "viewer": ("viewer",),
    "author": ("author",),
    "operator": ("operator",),
    "admin": ("admin",),
}
HOSTILE: tuple[Any, ...] = (
    *(None, True, -1, 1e308, 2**70, "", "\u0000", "..", "%2e%2e/", "' OR 1=1 --", "<script>", "\ud7ff", "x" * 5000, [], {}),
    *({"decision": "Approve"}, ["a"] * 50, {"a": {"b": [{}]}}, "group:leads", "key:ann", "ann", "*", "P1D", "me", "{}"),
)


def table(made: RunService, hooks: Webhooks) -> list[Endpoint]:
    rest = [each for each in webhook_routes(hooks) if isinstance(each, Endpoint)]
    return [*ENDPOINTS, *OPERATOR_ENDPOINTS, *event_endpoints(Streams(made.settings.streams)), *rest]


def application(made: RunService, hooks: Webhooks, caller: Caller | None, mcp: BaseRoute) -> Starlette:
    async def identify(_headers: object) -> Caller | None:
        return caller

    routes = [*webhook_routes(hooks), mcp, *a2a_routes(made, hooks), *agui_routes(made)]
    return app_of(made, identify=identify, routes=routes)


async def ask(app: Starlette, method: str, path: str, body: Any = None, query: str = "") -> tuple[int, str, set[str]]:
    """Return the status, the text and the headers of a response; a stream is left after a moment."""
    content = b"" if body is None else json.dumps(body).encode("utf-8", "surrogatepass")
    headers = [(b"host", b"localhost"), (b"content-type", b"application/json"), (b"a2a-version", b"1.0")]
    if path == "/mcp":
        named = {"mcp-protocol-version": VERSION, "mcp-method": body["method"], "accept": "application/json, text/event-stream"}
        named |= {"mcp-name": name} if isinstance(name := body["params"].get("name", body["params"].get("taskId")), str) else {}
        headers += [(key.encode(), value.encode()) for key, value in named.items()]
    scope = {"type": "http", "method": method, "path": path, "raw_path": path.encode("utf-8", "surrogatepass"), "root_path": ""}
    scope |= {"query_string": query.encode(), "headers": headers, "http_version": "1.1", "scheme": "http", "app": app}
    asked, got, status, names = False, bytearray(), 0, set()
    begun = asyncio.Event()  # who leaves before the response has begun gets none

    async def receive() -> Any:
        nonlocal asked
        if asked:
            await begun.wait()
            await asyncio.sleep(0.3)
            return {"type": "http.disconnect"}
        asked = True
        return {"type": "http.request", "body": content}

    async def send(message: Any) -> None:
        nonlocal status, names
        status = message.get("status", status)
        begun.set()
        names |= {name.decode().lower() for name, _ in message.get("headers", ())}
        got.extend(message.get("body", b""))

    with suppress(TimeoutError):
        async with asyncio.timeout(20):
            await app(scope, receive, send)
    return status, got.decode("utf-8", "replace"), names


def body_of(schema: Any, random: Random, depth: int = 0) -> Any:
    """Return a value for a schema, often a wrong one."""
    if random.random() < 0.2 or not isinstance(schema, dict) or depth > 4:
        return random.choice(HOSTILE)
    if "enum" in schema:
        return random.choice(schema["enum"])
    if schema.get("type") == "object" or "properties" in schema:
        required, properties = schema.get("required", ()), schema.get("properties", {})
        kept = [name for name in properties if name in required or random.random() < 0.5]
        return {name: body_of(properties[name], random, depth + 1) for name in kept}
    if schema.get("type") == "array":
        return [body_of(schema.get("items", {}), random, depth + 1) for _ in range(random.randrange(3))]
    return random.choice(HOSTILE)


def requests_of(endpoint: Endpoint, run: str, random: Random | None) -> tuple[str, Any]:
    """Return an address about a run, and a body: as the table has it, or drawn from it."""
    names = {"run": run, "question": f"{run}:userContext1", "program": "ask", "word": "x", "hook": "x"}
    if random is not None and random.random() < 0.2:
        names |= {"run": str(random.choice(HOSTILE)), "question": str(random.choice(HOSTILE))}
    path = endpoint.path
    for name, value in names.items():
        path = path.replace(f"{{{name}}}", value)
    plain = {"program": "ask", "input": "x", "data": {"decision": "Approve"}, "to": "ann", "url": "https://example.com/"}
    plain |= {"action": "cancel", "dryRun": False}
    if endpoint.body is None:
        return path, None
    if random is None:
        return path, {name: plain.get(name) for name in endpoint.body.get("required", ())}  # type: ignore[union-attr]  # a list
    return path, body_of(endpoint.body, random)


async def state_of(made: RunService, run: str) -> str:
    info = await made.run(BOSS, run)
    question = await made.question(BOSS, run, "userContext1")
    trace, _ = await made.event_streams.trace(BOSS, run)
    return repr((info.report, question, trace, made.records.run(run)))


APPROVE = {"decision": "Approve"}


def others_of(run: str, data: Any = APPROVE) -> list[tuple[str, str, Any]]:
    """Return requests of the other protocols about a run, with an answer of its question."""
    push = {"taskId": run, "url": "https://example.com/", "id": "p"}
    message = {"messageId": "m", "role": "ROLE_USER", "taskId": run, "parts": [{"data": data}]}
    message["metadata"] = {"question": "userContext1"}
    methods: dict[str, Any] = {
        "GetTask": {"id": run},
        "ListTasks": {},
        "CancelTask": {"id": run},
        "SubscribeToTask": {"id": run},
        "SendMessage": {"message": message},
        "SendStreamingMessage": {"message": message},
        "CreateTaskPushNotificationConfig": push,
        "ListTaskPushNotificationConfigs": {"taskId": run},
        "GetExtendedAgentCard": {},
    }
    sent = [{"jsonrpc": "2.0", "id": 1, "method": name, "params": params} for name, params in methods.items()]
    resume = [{"interruptId": "userContext1", "status": "resolved", "payload": data}]
    agui = {"threadId": "t", "runId": run, "messages": [], "tools": [], "context": [], "state": {}, "forwardedProps": {}}
    return [
        *(("POST", "/a2a", each) for each in sent),
        *(("POST", "/mcp", each) for each in mcp_of(run, data)),
        ("POST", "/agui/ask", {**agui, "resume": resume}),
        ("GET", f"/a2a/rest/tasks/{run}", None),
        ("POST", f"/a2a/rest/tasks/{run}:cancel", {}),
    ]


def mcp_of(run: str, data: Any) -> list[Any]:
    """Return requests of MCP about a run: the tools about runs, and the methods of tasks."""
    answer = {"action": "accept", "content": data}
    about: dict[str, Any] = {
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": VERSION,
            "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}, "extensions": {TASKS: {}}},
            "io.modelcontextprotocol/clientInfo": {"name": "eve", "version": "1"},
        }
    }
    question = {"step": "userContext1", "data": data}
    given: dict[str, Any] = {"run_status": {}, "open_questions": {}, "answer": question, "cancel_run": {}}
    calls = [("tools/call", {"name": name, "arguments": {"run": run, **more}}) for name, more in given.items()]
    calls += [(f"tasks/{what}", {"taskId": run}) for what in ("get", "cancel")]
    calls += [("tasks/update", {"taskId": run, "inputResponses": {"userContext1": answer}})]
    calls += [("tools/call", {"name": "ask", "requestState": run, "inputResponses": {"userContext1": answer}})]
    return [{"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, **about}} for method, params in calls]


async def attacked(tmp_path: Path, name: str, roles: tuple[Role, ...], seed: int | None, rounds: int) -> None:
    settings = ServiceSettings(people={"*": PeopleSettings(("ann",))}, rate=10**6, streams=10**6)
    made = service(tmp_path / name.replace(" ", "-"), settings=settings, ask=asking())
    hooks = Webhooks(made.records, AddressRules(), lambda _: "")
    random = None if seed is None else Random(seed)  # noqa: S311  -- it draws attacks
    mcp, running = mcp_mount(RunOffers([], made), no_link)
    async with client(made, BOSS), running():  # the service begins
        run = (await made.start(person("ann", "starter"), "ask", MARK, wait=20)).report.run
        before = await state_of(made, run)
        app = application(made, hooks, person("eve", *roles), mcp)
        tried = [(each.method, *requests_of(each, run, random)) for _ in range(rounds) for each in table(made, hooks)]
        tried += others_of(run)
        for method, path, body in tried:
            if CHANGES & {*roles} and method == "DELETE":
                continue  # what is deleted cannot be attacked any more
            status, text, headers = await ask(app, method, path, body)
            case = (name, method, path, body, status, text[:300])
            assert 0 < status < 500, case
            assert "content-security-policy" in headers, case
            assert "Traceback" not in text, case
            if not SEES & {*roles}:
                assert MARK not in text, case
            if not CHANGES & {*roles}:
                assert await state_of(made, run) == before, case


@pytest.mark.parametrize("name", CALLERS)
def test_somebody_elses_run_is_neither_seen_nor_changed_without_the_role(name: str, tmp_path: Path) -> None:
    go(attacked(tmp_path, name, CALLERS[name], None, 1))


def test_who_is_unknown_is_told_nothing_but_that(tmp_path: Path) -> None:
    async def body() -> None:
        made = service(tmp_path, ask=asking())
        hooks = Webhooks(made.records, AddressRules(), lambda _: "")
        mcp, running = mcp_mount(RunOffers([], made), no_link)
        async with client(made, BOSS), running():
            run = (await made.start(person("ann", "starter"), "ask", MARK, wait=20)).report.run
            app, before = application(made, hooks, None, mcp), await state_of(made, run)
            tried = [(each.method, *requests_of(each, run, None)) for each in table(made, hooks)] + others_of(run)
            for method, path, sent in tried:
                status, text, headers = await ask(app, method, path, sent)
                assert status in {401, 404}, (method, path, status, text)
                assert MARK not in text
                assert "content-security-policy" in headers
            assert await state_of(made, run) == before

    go(body())


def answers_of(run: str, data: Any) -> list[tuple[str, str, Any]]:
    """Return the requests of the other protocols that answer the question of a run."""
    texts = [(each, json.dumps(each[2])) for each in others_of(run, data)]
    return [each for each, text in texts if json.dumps(data) in text and "SendStreaming" not in text]


@pytest.mark.parametrize("number", range(len(answers_of("", APPROVE))))
def test_disputes_and_origins_of_answers_hold_for_every_protocol(number: int, tmp_path: Path) -> None:
    """Ann does not decide the same as Cat with another amount, nor beside the link that she asked for."""

    async def body() -> None:
        fields = {"properties": {"decision": {"enum": ["Approve", "Reject"]}, "amount": {"type": "integer"}}}
        made = service(tmp_path, ask=asking(**{"x-approvers": ["ann", "bob", "cat"], "x-needed": 2, **fields}))
        ann, data = person("ann", "starter", "answerer", "operator"), {**APPROVE, "amount": 1}
        mcp, running = mcp_mount(RunOffers([], made), no_link)
        async with client(made, BOSS), running():
            app = application(made, Webhooks(made.records, AddressRules(), lambda _: ""), ann, mcp)
            for first, second, counted in (
                (None, data, ["ann"]),
                ("cat", {**data, "amount": 2}, ["cat"]),
                ("cat", data, ["cat", "ann"]),
                ("link", data, ["bob"]),
            ):
                run = (await made.start(ann, "ask", "x", wait=20, metadata={"agui.thread": "t"})).report.run
                if first is not None:
                    word = await made.link(ann, run, "userContext1", "bob")
                    voter = await made.linked(word) if first == "link" else person("cat", "answerer")
                    await made.answer(voter, run, "userContext1", data)
                status, text, _ = await ask(app, *answers_of(run, second)[number])
                assert 0 < status < 500, text
                votes = made.records.votes(run).get("userContext1", [])
                assert [each.who for each in votes] == counted, (first, text)
                assert (await made.run(BOSS, run)).report.status == ("done" if len(counted) == 2 else "waiting")

    go(body())


@pytest.mark.parametrize("number", range(len(answers_of("", APPROVE))))
def test_an_answer_to_a_question_that_has_changed_is_refused_by_every_protocol(number: int, tmp_path: Path) -> None:
    async def body() -> None:
        made = service(tmp_path, ask=asking(**{"x-approvers": ["boss", "ann"], "x-needed": 2}))
        mcp, running = mcp_mount(RunOffers([], made), no_link)
        async with client(made, BOSS), running():
            app = application(made, Webhooks(made.records, AddressRules(), lambda _: ""), BOSS, mcp)
            run = (await made.start(BOSS, "ask", "x", wait=20, metadata={"agui.thread": "t"})).report.run
            shown = (await made.question(BOSS, run, "userContext1")).question.shown_id
            for name, counted in ((f"userContext1@{24 * '0'}", 0), (shown, 1)):
                method, path, sent = answers_of(run, APPROVE)[number]
                sent = json.loads(json.dumps(sent).replace("userContext1", name))
                status, text, _ = await ask(app, method, path.replace("userContext1", name), sent)
                assert 0 < status < 500, text
                assert len(made.records.votes(run).get("userContext1", [])) == counted, text

    go(body())


@pytest.mark.long
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("name", CALLERS)
def test_drawn_requests_to_every_route(name: str, seed: int, tmp_path: Path) -> None:
    go(attacked(tmp_path, name, CALLERS[name], seed, 10))
