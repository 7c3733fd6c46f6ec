"""What somebody has begun over another protocol is theirs, and acts with the rights that they have then."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from http_server import Answer, Asked, serving
from serving import ANSWER, BOSS, asking, client, go, person, service, settled

from instrc.problems.errors import AuthenticationError
from instrc.server import bounds  # the table of what is tried here
from instrc.server.a2a import a2a_routes  # the service over A2A
from instrc.server.identity import Identity  # what callers are known by
from instrc.server.mcp_runs import RunOffers, mcp_mount, no_link  # the service over MCP
from instrc.server.webhooks import AddressRules, Webhooks  # what pushes

PUSH = "TaskPushNotificationConfig"


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}", "A2A-Version": "1.0", "Accept": "application/json, text/event-stream"}


async def call(http: httpx.AsyncClient, key: str, method: str, **params: Any) -> Any:
    sent = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return (await http.post("/a2a", json=sent, headers=bearer(key))).json()


@pytest.mark.parametrize("how", ["revoked", "kept"])
def test_push_settings_are_their_owners_and_end_with_their_key(how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[Asked] = []

    def receive(asked: Asked) -> Answer:
        taken.append(asked)
        return Answer(b"")

    async def body(receiver: str) -> None:
        made = service(tmp_path, records=str(tmp_path))
        hooks = Webhooks(made.records, AddressRules.of(["127.0.0.0/8"]), lambda _: "")
        identity = Identity(made.records, made.settings, made.signer)
        ann, eve = identity.new_key("ann", ["viewer"]), identity.new_key("eve", ["viewer"])
        async with client(made, identity=identity, routes=a2a_routes(made, hooks)) as http:
            run = (await made.start(BOSS, "letter", "x", wait=20)).report.run
            await settled(made, run, "waiting")
            config = {"taskId": run, "id": "p", "url": f"{receiver}/ann", "token": "secret-of-ann"}
            assert "result" in await call(http, ann, f"Create{PUSH}", **config)
            assert "secret-of-ann" not in json.dumps(await call(http, eve, f"List{PUSH}s", taskId=run))
            assert "error" in await call(http, eve, f"Get{PUSH}", taskId=run, id="p")
            await call(http, eve, f"Delete{PUSH}", taskId=run, id="p")
            await call(http, eve, f"Create{PUSH}", **{**config, "url": f"{receiver}/eve", "token": "t"})  # it replaces nothing
            kept = await call(http, ann, f"Get{PUSH}", taskId=run, id="p")
            assert (kept["result"]["url"], kept["result"]["token"]) == (f"{receiver}/ann", "secret-of-ann")
            with monkeypatch.context() as patched:
                patched.setattr("instrc.server.a2a.MOST_PUSHED", 1)  # one caller cannot use up the addresses of another
                assert "at most 1" in json.dumps(await call(http, eve, f"Create{PUSH}", **{**config, "id": "r"}))
            again = [call(http, ann, f"Create{PUSH}", **config) for _ in range(10)]
            assert all("result" in each for each in await asyncio.gather(*again))
            assert "error" in await call(http, ann, f"Create{PUSH}", **{**config, "url": "https://10.0.0.1/"})
            assert await call(http, ann, f"Get{PUSH}", taskId=run, id="p") == kept
            for wrong in ("é", "a\r\nb: c"):
                assert "ASCII" in json.dumps(await call(http, ann, f"Create{PUSH}", **{**config, "id": "q", "token": wrong}))
            if how == "revoked":
                made.records.revoke("ann")
            await made.answer(BOSS, run, "userContext1", ANSWER)
            await settled(made, run, "done")
            await hooks.deliver()
            assert {each.path for each in taken} == ({"/eve"} if how == "revoked" else {"/ann", "/eve"})

    with serving(receive) as receiver:
        go(body(receiver))


def test_a_link_is_of_no_use_to_another_service_with_the_same_secrets(tmp_path: Path) -> None:
    """Who operates the one chooses the id of a run, and with it which question of the other the link would answer."""

    async def body() -> None:
        made = {
            name: service(tmp_path / name, records=str(tmp_path / name), secrets=["s" * 32], letter=asking(**{"x-links": True}))
            for name in ("one", "two")
        }
        for each in made.values():
            await settled(each, (await each.start(BOSS, "letter", "x", run="same", wait=20)).report.run, "waiting")
        word = await made["one"].link(BOSS, "same", "userContext1", "ann")
        assert (await made["one"].linked(word)).name == "link:ann"
        with pytest.raises(AuthenticationError, match="not one of this service"):
            await made["two"].linked(word)
        again = service(tmp_path / "one", records=str(tmp_path / "one"), secrets=["s" * 32])
        assert (await again.linked(word)).name == "link:ann"

    go(body())


def initialize(number: int) -> dict[str, Any]:
    info = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
    return {"jsonrpc": "2.0", "id": number, "method": "initialize", "params": info}


def test_a_session_of_mcp_is_unknown_to_anybody_else_and_there_are_few(tmp_path: Path) -> None:
    async def body() -> None:
        made = service(tmp_path)
        identity = Identity(made.records, made.settings, made.signer)
        ann, eve = identity.new_key("ann", ["starter"]), identity.new_key("eve", ["starter"])
        route, running = mcp_mount(RunOffers([], made), no_link)
        async with client(made, identity=identity, routes=[route], beside=[running]) as http:
            begun = await http.post("/mcp", json=initialize(1), headers=bearer(ann))
            session = {"mcp-session-id": begun.headers["mcp-session-id"], "mcp-protocol-version": "2025-06-18"}
            listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}}
            assert (await http.post("/mcp", json=listing, headers={**bearer(ann), **session})).status_code == 200
            for key in (eve, identity.new_key("boss", ["admin"])):
                for sent in (listing, {"jsonrpc": "2.0", "id": 7, "result": {"action": "accept", "content": ANSWER}}):
                    assert (await http.post("/mcp", json=sent, headers={**bearer(key), **session})).status_code == 404
                assert (await http.get("/mcp", headers={**bearer(key), **session})).status_code == 404
                assert (await http.delete("/mcp", headers={**bearer(key), **session})).status_code == 404
            assert (await http.post("/mcp", json=listing, headers={**bearer(ann), **session})).status_code == 200
            statuses = [
                (await http.post("/mcp", json=initialize(number), headers=bearer(ann))).status_code
                for number in range(bounds.SESSIONS + 5)
            ]
            assert statuses.count(200) == bounds.SESSIONS - 1
            assert statuses[-1] == 429
            odd = {**session, "mcp-protocol-version": "2099-01-01"}  # the library ends no session of a version that has none
            for end, ended, begins in ((odd, 405, 429), (session, 200, 200)):
                assert (await http.delete("/mcp", headers={**bearer(ann), **end})).status_code == ended
                begun = await http.post("/mcp", json=initialize(1), headers=bearer(ann))
                assert begun.status_code == begins
            session["mcp-session-id"] = begun.headers["mcp-session-id"]
            assert (await http.post("/mcp", json=initialize(1), headers=bearer(eve))).status_code == 200
            made.records.revoke("ann")
            assert (await http.post("/mcp", json=listing, headers={**bearer(ann), **session})).status_code == 401

    go(body())


def test_two_callers_share_no_idempotency_key_whatever_their_names_are(tmp_path: Path) -> None:
    async def body() -> None:
        made = service(tmp_path)
        begun = [(await made.start(person(who, "starter"), "letter", "x", key=key)).report.run for who, key in KEYS]
        assert len(set(begun)) == len(KEYS)
        assert begun == [(await made.start(person(who, "starter"), "letter", "x", key=key)).report.run for who, key in KEYS]

    go(body())


KEYS = (("ann", "b|k"), ("ann|b", "k"), ("ann", "|b|k"), ("ann||b", "k"), ("ann", "k"), ("bob", "k"))
