"""What was allowed is asked again: sessions, tokens, keys of the identity provider, and streams that are open."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from time import time
from typing import Any

import httpx
import jwt
import pytest
import sqlalchemy as sa
from cryptography.hazmat.primitives.asymmetric import rsa
from listening import at_port
from msgspec.structs import replace
from serving import ANSWER, BOSS, LETTER, client, go, person, service

from instrc.engines.service_tables import KEYS  # where keys are
from instrc.problems.errors import AuthenticationError
from instrc.server.http import app_of  # the application itself
from instrc.server.identity import (  # what callers are known by
    Identity,
    ProviderKeys,
    Signer,
    caller_later,
    kept_rights,
    known_person,
)
from instrc.server.inbox import Inbox  # the pages of the service
from instrc.server.mcp_runs import RunOffers, mcp_mount, no_link  # the service over MCP
from instrc.vibes.service_settings import OidcSettings, ServiceSettings  # without a file

RSA = rsa.generate_private_key(public_exponent=65537, key_size=2048)
SETTINGS = ServiceSettings(
    oidc=OidcSettings("https://id.example", "instrc", "keys.json"), roles={"*": {"viewer": ("group:leads",)}}
)


def publish(folder: Path, *names: str, key: rsa.RSAPrivateKey = RSA) -> None:
    public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key()))
    keys = [{**public, "kid": name, "alg": "RS256"} for name in names]
    (folder / "keys.json").write_text(json.dumps({"keys": keys}), encoding="utf-8")


def token(kid: str = "one", **claims: Any) -> str:
    said = {"iss": "https://id.example", "aud": "instrc", "sub": "ann", "exp": time() + 600, "groups": ["leads"], **claims}
    return jwt.encode(said, RSA, algorithm="RS256", headers={"kid": kid})


def bearer(word: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {word}"}


def test_a_cookie_does_nothing_after_logout(tmp_path: Path) -> None:
    async def body() -> None:
        made = service(tmp_path)
        identity = Identity(made.records, made.settings, made.signer)
        key = identity.new_key("ann", ["viewer"])
        async with client(made, identity=identity, routes=Inbox(made, identity=identity).routes) as http:
            for end in ("api", "page"):
                begun = await http.post("/v1/session", headers=bearer(key))
                cookie = {"Cookie": begun.headers["set-cookie"].partition(";")[0]}
                http.cookies.clear()
                assert (await http.get("/v1/programs", headers=cookie)).status_code == 200
                ended = http.delete("/v1/session", headers=cookie) if end == "api" else http.post("/inbox/logout", headers=cookie)
                assert (await ended).status_code in {204, 303}
                http.cookies.clear()
                assert (await http.get("/v1/programs", headers=cookie)).status_code == 401, end

    go(body())


@pytest.mark.parametrize("kind", ["folder", "postgres"])
def test_the_latest_sessions_of_a_caller_are_kept(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.setattr("instrc.server.records.PAGE_SESSIONS", 3)
    place = request.getfixturevalue("postgres_server").fresh() if kind == "postgres" else str(tmp_path)
    made = service(tmp_path, records=place)
    identity = Identity(made.records, made.settings, made.signer)
    keys = {name: identity.new_key(name) for name in ("ann", "bob")}

    async def body() -> None:
        callers = [await identity.bearer(keys[name]) for name in ("bob", "ann", "ann", "ann", "ann", "bob")]
        begun = [{"cookie": identity.session(caller)} for caller in callers]
        known = [await identity(each) for each in begun]
        assert [caller and caller.name for caller in known] == ["bob", None, "ann", "ann", "ann", "bob"]

    go(body())


@pytest.mark.parametrize(
    ("sent", "who"),
    [
        ("{ann}", "ann"),
        ("a=1; {ann};b", "ann"),
        ('{ann}; theme=dark {eve}; c="', "ann"),
        ('a="; {ann}; b="', "ann"),
        ("theme=dark {eve}", None),
        ("theme=dark\t{eve}", None),
        ("={eve}", None),
        ("{ann}; {eve}", None),  # no browser sends two
    ],
)
def test_a_cookie_of_another_site_of_the_domain_is_no_session(sent: str, who: str | None, tmp_path: Path) -> None:
    """A site beside the service sets cookies for both; a person would work in the session of another one."""
    made = service(tmp_path)
    identity = Identity(made.records, made.settings, made.signer)

    async def body() -> None:
        callers = {name: await identity.bearer(identity.new_key(name)) for name in ("ann", "eve")}
        begun = {name: identity.session(caller).partition(";")[0] for name, caller in callers.items()}
        caller = await identity({"cookie": sent.format(**begun)})
        assert (None if caller is None else caller.name) == who

    go(body())


def test_whose_role_was_withdrawn_sees_their_runs_no_more(tmp_path: Path) -> None:
    async def body() -> None:
        made = service(tmp_path, letter=LETTER, other=LETTER)
        started = (await made.start(person("ann", "starter"), "letter", "x", wait=20)).report.run
        for role, program, seen in (
            ("starter", "letter", 1),
            ("starter", "*", 1),
            ("starter", "other", 0),
            ("answerer", "other", 0),
        ):
            async with client(made, person("ann", role, program=program)) as http:
                listed = (await http.get("/v1/runs")).json()["items"]
                assert [each["run"] for each in listed] == [started] * seen
                assert (await http.get(f"/v1/runs/{started}")).status_code == (200 if seen else 404)

    go(body())


def test_a_session_ends_with_its_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def body() -> None:
        publish(tmp_path, "one")
        made = service(tmp_path, settings=SETTINGS)
        identity = Identity(made.records, SETTINGS, made.signer, ProviderKeys("keys.json", tmp_path))
        word = token(exp=time() + 60)
        cookie = {"cookie": identity.session(await identity.bearer(word))}
        caller = await identity(cookie)
        assert caller is not None
        assert (caller.name, caller.groups) == ("oidc:https://id.example#ann", {"leads"})
        monkeypatch.setattr("instrc.server.records.time", lambda: time() + 61)
        assert await identity(cookie) is None

    go(body())


@pytest.mark.parametrize("group", ["\uff4c\uff45\uff41\uff44\uff53", "leads ", "le\u200bads"])
def test_a_group_in_another_spelling_grants_nothing_and_excludes(group: str, tmp_path: Path) -> None:
    """Where anybody may create groups at the identity provider, this one is not that of the settings."""

    async def body() -> None:
        publish(tmp_path, "one")
        made = service(tmp_path, settings=SETTINGS)
        identity = Identity(made.records, SETTINGS, made.signer, ProviderKeys("keys.json", tmp_path))
        caller = await identity.bearer(token(groups=[group]))
        session = await identity({"cookie": identity.session(caller)})
        for known in (caller, session):
            assert known is not None
            assert not known.knows("letter")
            assert "group:leads" not in known.as_candidates
            assert "group:leads" in known.as_excluded

    go(body())


@pytest.mark.parametrize(
    "groups", ["leads", ["leads", 5], {"leads": True}, {}, "", False, 0, [["leads"]], 7, ["leads", "a\0"], ["leads", "\ud800"]]
)
def test_groups_of_a_token_that_cannot_be_read_are_not_passed_over(groups: object, tmp_path: Path) -> None:
    """A rule may exclude one of them."""

    async def body() -> None:
        publish(tmp_path, "one")
        made = service(tmp_path, settings=SETTINGS)
        identity = Identity(made.records, SETTINGS, made.signer, ProviderKeys("keys.json", tmp_path))
        with pytest.raises(AuthenticationError, match="`groups` of the token is not a list of texts"):
            await identity.bearer(token(groups=groups))
        assert (await identity.bearer(token(groups=None))).groups == frozenset()
        with pytest.raises(AuthenticationError, match="`groups` of the token is not a list of texts"):  # there are too many
            await identity.bearer(token(groups=None, _claim_names={"groups": "src1"}))
        with pytest.raises(AuthenticationError):
            await identity.bearer(token(kid="\ud800"))

    go(body())


@pytest.mark.parametrize("verified", [False, "false", None, True, "true", "unsaid"])
def test_nobody_is_known_by_an_address_that_is_not_verified(verified: object, tmp_path: Path) -> None:
    """Many identity providers let everybody enter any address."""

    async def body() -> None:
        publish(tmp_path, "one")
        said: dict[str, Any] = {} if verified == "unsaid" else {"email_verified": verified}
        word, oidc = token(email="boss@example.com", **said), OidcSettings("https://id.example", "instrc", "keys.json")
        for claim, who in (("sub", "ann"), ("email", "boss@example.com")):
            settings = replace(SETTINGS, oidc=replace(oidc, name=claim))
            identity = Identity(service(tmp_path).records, settings, Signer([]), ProviderKeys("keys.json", tmp_path))
            if claim == "sub" or verified in {True, "true", "unsaid"}:
                assert (await identity.bearer(word)).name == f"oidc:https://id.example#{who}"
            else:
                with pytest.raises(AuthenticationError, match="has not verified"):
                    await identity.bearer(word)

    go(body())


@pytest.mark.parametrize("kept", ["ann", "ann\ufe0f", " ann", "ann\u2800"])
def test_all_keys_of_a_person_are_revoked_however_they_are_stored(kept: str, tmp_path: Path) -> None:
    """An earlier release stored names as they were written."""
    made = service(tmp_path)
    identity = Identity(made.records, made.settings, made.signer)
    word = identity.new_key("ann", groups=["sales"])
    made.records.execute(sa.update(KEYS).values(name=kept))
    assert go(identity.bearer(word)).name == "ann"
    assert known_person(made.settings, made.records, "ann").groups == {"sales"}
    made.records.execute(sa.update(KEYS).values(expires=time() - 1))
    assert known_person(made.settings, made.records, "ann").groups == frozenset()
    with pytest.raises(AuthenticationError, match="expired"):
        go(identity.bearer(word))
    assert (made.records.revoke("an"), made.records.revoke("ann"), made.records.revoke("ann")) == (0, 1, 0)


@pytest.mark.parametrize("left", [("two",), ()])
def test_a_key_that_the_provider_has_taken_back_is_refused(
    left: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def body() -> None:
        publish(tmp_path, "one")
        made = service(tmp_path, settings=SETTINGS)
        identity = Identity(made.records, SETTINGS, made.signer, ProviderKeys("keys.json", tmp_path))
        word = token()
        assert (await identity.bearer(word)).by == "token"
        session = {"cookie": identity.session(await identity.bearer(word))}
        publish(tmp_path, *left)
        assert (await identity.bearer(word)).by == "token"  # it was fetched a moment ago
        assert await identity(session) is not None
        monkeypatch.setattr("instrc.server.identity._RENEWED", 0.0)
        with pytest.raises(AuthenticationError):
            await identity.bearer(word)
        assert await identity(session) is None
        publish(tmp_path, "one")
        assert (await identity.bearer(word)).by == "token"
        (tmp_path / "keys.json").unlink()
        assert (await identity.bearer(word)).by == "token"  # the provider is away: nothing was taken back
        monkeypatch.setattr("instrc.server.identity._REFETCH", 0.0)
        monkeypatch.setattr("instrc.server.identity._RENEWED", 300.0)
        begun, answered = asyncio.Event(), asyncio.Event()

        async def hang(_keys: ProviderKeys) -> bytes:
            begun.set()
            await answered.wait()
            return b""

        monkeypatch.setattr(ProviderKeys, "_read", hang)
        waiting = asyncio.create_task(identity.bearer(token(kid="unknown")))
        await begun.wait()
        assert (await identity.bearer(word)).by == "token"  # the provider hangs: nobody else waits for it
        assert not waiting.done()
        answered.set()
        with pytest.raises(AuthenticationError):
            await waiting

    go(body())


def test_callers_wait_together_for_the_first_keys_of_the_provider(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each would be refused after a restart of the service, and some clients then forget their token."""
    publish(tmp_path, "one")
    answered, read = asyncio.Event(), ProviderKeys._read

    async def slow(keys: ProviderKeys) -> bytes:
        await answered.wait()
        return await read(keys)

    monkeypatch.setattr(ProviderKeys, "_read", slow)

    async def body() -> None:
        identity = Identity(service(tmp_path).records, SETTINGS, Signer([]), ProviderKeys("keys.json", tmp_path))
        asked = [asyncio.create_task(identity.bearer(token())) for _ in range(3)]
        await asyncio.sleep(0)
        answered.set()
        assert [each.by for each in await asyncio.gather(*asked)] == ["token"] * 3

    go(body())


@pytest.mark.parametrize("name", ["one", ""])
def test_a_session_ends_when_another_key_gets_the_id_of_that_of_its_token(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A provider with one key may give it no id."""
    monkeypatch.setattr("instrc.server.identity._RENEWED", 0.0)

    async def body() -> None:
        publish(tmp_path, name)
        made = service(tmp_path, settings=SETTINGS)
        identity = Identity(made.records, SETTINGS, made.signer, ProviderKeys("keys.json", tmp_path))
        word = token(kid=name)
        session = {"cookie": identity.session(await identity.bearer(word))}
        assert await identity(session) is not None
        publish(tmp_path, name, key=rsa.generate_private_key(public_exponent=65537, key_size=2048))
        with pytest.raises(AuthenticationError):
            await identity.bearer(word)
        assert await identity(session) is None

    go(body())


@pytest.mark.parametrize("answer", ["slow", "huge", "redirect", "error", "no json", "odd keys"])
def test_an_odd_answer_of_an_identity_provider_is_no_error_and_takes_bounded_time(
    answer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("instrc.server.identity._FETCH_SECONDS", 0.3 if answer == "slow" else 60.0)
    publish(tmp_path, "one")
    listed = json.loads((tmp_path / "keys.json").read_text(encoding="utf-8"))
    odd = [{"kty": "oct"}, {"kty": "EC", "alg": "none"}, {"kty": []}, {"kty": "RSA", "n": 5, "e": {}}, None, 7]

    async def provide(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        path = (await reader.readline()).split()[1]
        await reader.readuntil(b"\r\n\r\n")
        moved = b"302 Found\r\nLocation: /good" if answer == "redirect" and path != b"/good" else b"200 OK"
        status = b"500 Error" if answer == "error" else moved
        writer.write(b"HTTP/1.1 " + status + b"\r\nConnection: close\r\n\r\n")
        with suppress(ConnectionError, asyncio.CancelledError):
            if answer == "huge":
                writer.write(b" " * 2**20)
            while answer == "slow":  # each byte comes in time
                writer.write(b" ")
                await writer.drain()
                await asyncio.sleep(0.02)
            writer.write(b"[" * 99_999 if answer == "no json" else json.dumps({"keys": [*odd, *listed["keys"]]}).encode())
            await writer.drain()
        writer.close()

    async def body() -> None:
        async with await asyncio.start_server(provide, "127.0.0.1", 0) as provider:
            place = f"http://127.0.0.1:{provider.sockets[0].getsockname()[1]}/keys"
            identity = Identity(service(tmp_path).records, SETTINGS, Signer([]), ProviderKeys(place, tmp_path))
            if answer == "odd keys":
                assert (await identity.bearer(token())).by == "token"
                return
            with pytest.raises(AuthenticationError, match="does not name"):
                await identity.bearer(token())

    go(body())


def test_a_group_of_the_settings_ends_with_them_in_sessions_and_for_later_work(tmp_path: Path) -> None:
    async def body() -> None:
        publish(tmp_path, "one")
        keys = ProviderKeys("keys.json", tmp_path)
        grouped = replace(SETTINGS, groups={"leads": ("ann",), "staff": ("ann",)})
        made = service(tmp_path, settings=grouped)
        identity = Identity(made.records, grouped, made.signer, keys)
        for stated, kept in (([], set()), (["sales"], {"sales"}), (["leads"], {"leads"})):
            caller = await identity.bearer(token(groups=stated))
            assert caller.groups == {"leads", "staff", *stated}
            session = {"cookie": identity.session(caller)}
            assert await identity(session) == replace(caller, by="cookie")
            now = await Identity(made.records, SETTINGS, made.signer, keys)(session)
            for known in (now, caller_later(SETTINGS, made.records, caller.name, kept_rights(caller))):
                assert known is not None
                assert (known.groups, known.knows("letter")) == (kept, kept == {"leads"})

    go(body())


def test_what_a_token_stated_is_not_kept_for_longer_than_a_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever had the key of the provider for a while signs tokens for years."""

    async def body() -> None:
        publish(tmp_path, "one")
        made = service(tmp_path, settings=SETTINGS)
        identity = Identity(made.records, SETTINGS, made.signer, ProviderKeys("keys.json", tmp_path))
        caller = await identity.bearer(token(exp=time() + 9e8))
        rights = kept_rights(caller)
        for hours, knows in ((11, True), (13, False)):
            monkeypatch.setattr("instrc.server.identity.time", lambda hours=hours: time() + 3600 * hours)
            known = caller_later(SETTINGS, made.records, caller.name, rights)
            assert known is not None
            assert known.knows("letter") is knows

    go(body())


def test_nothing_is_left_of_an_identity_provider_that_the_settings_name_no_more(tmp_path: Path) -> None:
    async def body() -> None:
        publish(tmp_path, "one")
        made = service(tmp_path, settings=SETTINGS)
        keys = ProviderKeys("keys.json", tmp_path)
        identity = Identity(made.records, SETTINGS, made.signer, keys)
        caller = await identity.bearer(token())
        session, rights = {"cookie": identity.session(caller)}, kept_rights(caller)
        assert await identity(session) == replace(caller, by="cookie")
        assert caller_later(SETTINGS, made.records, caller.name, rights) is not None
        for oidc in (OidcSettings("https://id.example.org", "instrc", "keys.json"), None):
            settings = replace(SETTINGS, oidc=oidc)
            assert await Identity(made.records, settings, made.signer, oidc and keys)(session) is None
            assert caller_later(settings, made.records, caller.name, rights) is None

    go(body())


@pytest.mark.parametrize("means", ["key", "cookie"])
def test_a_stream_ends_when_its_key_is_revoked(means: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("instrc.server.door._ASKED_AGAIN", 0.1)

    async def body() -> None:
        made = service(tmp_path)
        identity = Identity(made.records, made.settings, made.signer)
        key, other = identity.new_key("ann", ["viewer"]), identity.new_key("bob", ["viewer"])
        cookie = identity.session(await identity.bearer(key)).partition(";")[0]
        async with at_port(app_of(made, identity=identity)) as address, httpx.AsyncClient(base_url=address, timeout=60) as http:
            run = (await made.start(BOSS, "letter", "x")).report.run
            headers = bearer(key) if means == "key" else {"Cookie": cookie}

            opened = asyncio.Barrier(4)

            async def follow(path: str, sent: dict[str, str]) -> str:
                async with http.stream("GET", path, headers=sent) as response:
                    await opened.wait()
                    return (await response.aread()).decode()

            ended = [asyncio.create_task(follow(path, headers)) for path in ("/v1/events", f"/v1/runs/{run}/events")]
            lasting = asyncio.create_task(follow("/v1/events", bearer(other)))
            await asyncio.wait_for(opened.wait(), 60)
            assert not any(each.done() for each in (*ended, lasting))
            made.records.revoke("ann")
            texts = await asyncio.wait_for(asyncio.gather(*ended), 60)
            assert "event: snapshot" in texts[1]
            assert not lasting.done()  # nobody else is cut off
            lasting.cancel()
            assert (await http.get("/v1/programs", headers=headers)).status_code == 401

    go(body())


@pytest.mark.parametrize("how", ["answer", "cancel"])
def test_what_a_key_has_begun_over_mcp_is_not_continued_by_a_weaker_key_of_the_same_name(how: str, tmp_path: Path) -> None:
    content = {"result": {"action": "accept", "content": ANSWER}}
    cancelled = {"method": "notifications/cancelled", "params": {"requestId": 2}}

    async def body() -> None:
        made = service(tmp_path)
        identity = Identity(made.records, made.settings, made.signer)
        strong, weak = identity.new_key("ann", ["starter", "answerer", "operator"]), identity.new_key("ann", ["viewer"])
        route, running = mcp_mount(RunOffers([], made), no_link)
        app = app_of(made, identity=identity, routes=[route], beside=[running])
        async with at_port(app) as address, httpx.AsyncClient(base_url=address, timeout=60) as http:
            known = {"Accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-06-18"}

            async def send(key: str, **message: Any) -> httpx.Response:
                return await http.post("/mcp", json={"jsonrpc": "2.0", **message}, headers={**bearer(key), **known})

            info = {
                "protocolVersion": "2025-06-18",
                "capabilities": {"elicitation": {}},
                "clientInfo": {"name": "", "version": ""},
            }
            known["mcp-session-id"] = (await send(strong, id=1, method="initialize", params=info)).headers["mcp-session-id"]
            call = {"name": "letter", "arguments": {"prompt": "x"}, "_meta": {"progressToken": "p"}}
            sent = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}
            async with http.stream("POST", "/mcp", json=sent, headers={**bearer(strong), **known}) as response:
                lines = response.aiter_lines()
                asking = [line async for line in _until(lines, "elicitation/create")][-1]
                made.records.execute(sa.delete(KEYS).where(KEYS.c.id == strong.split("_")[1]))
                said = {"id": json.loads(asking[5:])["id"], **content} if how == "answer" else cancelled
                assert (await send(weak, **said)).status_code == 202
                ended = [each async for each in lines]
            [run] = (await made.runs(BOSS)).rows
            assert run.status == "waiting"
            assert how == "cancel" or "has ended" in "".join(ended)

    go(body())


async def _until(lines: AsyncIterator[str], word: str) -> AsyncIterator[str]:
    async for line in lines:
        yield line
        if word in line:
            return
