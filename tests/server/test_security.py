"""What others may try with a service over HTTP: each is refused or bounded."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from socket import IPPROTO_TCP, TCP_NODELAY
from time import time
from typing import Any
from unittest.mock import AsyncMock

import httpx
import jwt
import pytest
import sqlalchemy as sa
from cryptography.hazmat.primitives.asymmetric import rsa
from http_server import Answer, Asked, serving
from serving import ANN, ANSWER, BOB, BOSS, CAT, asking, client, go, person, service
from starlette.requests import ClientDisconnect
from written_processes import DECISION, chunk, process, step

from instrc.cli import main
from instrc.engines.approvals import Vote  # an answer
from instrc.engines.operating import AuditFilter, audit_log  # what is noted of it
from instrc.engines.service_tables import KEYS  # of an earlier release
from instrc.problems.errors import AuthenticationError, ConflictError, SettingsError
from instrc.runtime.questions import Question  # what is claimed
from instrc.server import hosting  # how a service begins
from instrc.server.a2a import a2a_routes  # the service over A2A
from instrc.server.hosting import idle_settings, listener_at  # what a service says when it begins
from instrc.server.http import app_of  # the application itself
from instrc.server.identity import Identity, ProviderKeys, Signer, caller_later  # what it finds callers by
from instrc.server.records import Records  # the tables, as they are written
from instrc.server.views import QuestionInfo, RunInfo  # what is claimed, and what is started
from instrc.vibes.service_settings import OidcSettings, PeopleSettings, ServiceSettings  # without a file

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")
START = {"program": "letter", "input": "write"}


@pytest.mark.parametrize("kind", ["folder", "postgres"])
def test_one_claim_and_one_answer_of_a_person_count_in_each_database(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    records = Records(request.getfixturevalue("postgres_server").fresh() if kind == "postgres" else str(tmp_path))
    asked = QuestionInfo("r", "p", Question("q", (), {}, {}), 0.0, None, None, None)
    assert [records.claim(asked, who, time() + 60, "key") for who in ("ann", "bob", "ann")] == [True, False, True]
    votes = [Vote("ann", "key", time(), {"decision": each}) for each in ("Approve", "Reject")]
    assert [records.vote("r", "q", vote, 0.0, None) for vote in votes] == [None, votes[0]]
    assert len(audit_log(records, AuditFilter("r"), 9)) == 1
    assert [change.body["who"] for change in records.feed(0)] == ["ann", "ann"]
    records.close()


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 400),
        ({"Host": "localhost.evil.example"}, 400),
        ({"Host": "localhost:9999"}, 201),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://localhost"}, 201),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Site": "same-origin"}, 201),
        ({"Content-Type": "text/plain"}, 400),
        ({"Content-Type": "application/x-www-form-urlencoded"}, 400),
    ],
)
def test_another_site_or_host_begins_nothing(headers: dict[str, str], status: int, tmp_path: Path) -> None:
    async def body() -> None:
        async with client(service(tmp_path)) as http:
            sent = {"Content-Type": "application/json", **headers}
            done = await http.post("/v1/runs", content=json.dumps(START), headers=sent)
            assert done.status_code == status, done.text
            assert "access-control-allow-origin" not in done.headers
            assert (await http.options("/v1/runs", headers={"Origin": "https://evil.example"})).status_code in {400, 405}

    go(body())


def test_large_bodies_and_slow_ones_are_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("instrc.server.bounds.BODY_SECONDS", 0.1)

    async def forever() -> AsyncIterator[bytes]:
        for _ in range(3000):
            yield b"x" * 1024

    async def slow(_scope: Any = None) -> None:
        made = service(tmp_path / "slow")
        app = app_of(made)
        sent: list[Any] = []
        scope = {"type": "http", "method": "POST", "path": "/v1/runs", "raw_path": b"/v1/runs", "query_string": b""}
        scope |= {"headers": [(b"host", b"localhost")], "app": app, "http_version": "1.1", "scheme": "http"}

        async def never() -> Any:
            await asyncio.sleep(60)

        async def send(message: Any) -> None:
            sent.append(message)

        with suppress(ClientDisconnect):  # the client is taken for gone
            await asyncio.wait_for(app(scope, never, send), 60)
        assert not any(each.get("status", 500) < 400 for each in sent)

    async def body() -> None:
        async with client(service(tmp_path)) as http:
            large = {"Content-Length": str(100 * 1024 * 1024), "Content-Type": "application/json"}
            assert (await http.post("/v1/runs", content=b"{}", headers=large)).status_code == 413
            assert (await http.post("/v1/runs", content=forever())).status_code == 413  # without a length
            nested = b'{"program":' + b"[" * 100_000
            assert (await http.post("/v1/runs", content=nested)).status_code == 400
        await slow()

    go(body())


def test_pages_are_protected_by_their_headers(tmp_path: Path) -> None:
    async def body() -> None:
        async with client(service(tmp_path)) as http:
            for path in ("/healthz", "/v1/runs/<script>", "/nowhere"):
                done = await http.get(path)
                assert done.headers["content-security-policy"].startswith("default-src 'none'")
                assert done.headers["x-content-type-options"] == "nosniff"
                assert done.headers["cache-control"] == "no-store"
                assert "html" not in done.headers["content-type"]

    go(body())


async def _started_at_once(start: Callable[..., Awaitable[RunInfo]], *which: Any, wait: float = 0.0, **rest: Any) -> RunInfo:
    assert wait == 0.0
    return await start(*which, **rest)


def test_streams_and_starts_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = ServiceSettings(streams=3, rate=5)

    async def body() -> None:
        made = service(tmp_path, settings=settings)
        async with client(made, routes=a2a_routes(made)) as http:
            streams = http._transport.app.state.streams  # type: ignore[attr-defined]  # the transport of a test
            with ExitStack() as open_:
                for _ in range(3):
                    open_.enter_context(streams.entered("local"))
                sent: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage"}
                sent["params"] = {"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "x"}]}}
                refused = await http.get("/v1/events")
                assert (refused.status_code, refused.json()["name"]) == (429, "too-much")
                assert int(refused.headers["retry-after"]) > 0
                with monkeypatch.context() as patch:
                    patch.setattr("instrc.server.exchange.settled", None)
                    patch.setattr(made, "start", partial(_started_at_once, made.start))
                    assert (await http.post("/v1/runs", json=START, headers={"Prefer": "wait=20"})).status_code == 201
                    assert "TASK_STATE" in (await http.post("/a2a", json=sent, headers={"A2A-Version": "1.0"})).text
            found = [(await http.post("/v1/runs", json=START)).status_code for _ in range(12)]
            assert found.count(429) >= 2  # the minute may have ended once meanwhile

    go(body())


def test_a_client_that_leaves_before_its_stream_begins_takes_no_place(tmp_path: Path) -> None:
    async def body() -> None:
        async with client(service(tmp_path, settings=ServiceSettings(streams=1))) as http:
            app = http._transport.app  # type: ignore[attr-defined]  # the transport of a test
            scope = {"type": "http", "method": "GET", "path": "/v1/events", "raw_path": b"/v1/events", "query_string": b""}
            scope |= {"headers": [(b"host", b"localhost")], "app": app, "http_version": "1.1", "scheme": "http"}
            for _ in range(5):
                received = [{"type": "http.request"}, *({"type": "http.disconnect"} for _ in range(3))]
                await app(scope, AsyncMock(side_effect=received), AsyncMock())
            assert not app.state.streams.open

    go(body())


# --- who asks -----------------------------------------------------------------------------------------------------------------


def test_a_service_that_began_without_keys_asks_for_the_first_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def built(_: Any, **given: Any) -> Any:
        raise LookupError(given)  # nothing is served

    monkeypatch.setattr(hosting, "app_of", built)

    async def body() -> None:
        made = service(tmp_path, records=str(tmp_path / "keys"))
        with pytest.raises(LookupError) as begun, listener_at("127.0.0.1", 0) as listener:
            await hosting.serve(made, "127.0.0.1", listener, str, greeting="")
        async with client(made, identify=begun.value.args[0]["identify"]) as http:
            assert (await http.get("/v1/programs")).status_code == 200
            key = Identity(made.records, made.settings, made.signer).new_key("ann", ["starter"])
            assert (await http.get("/v1/programs")).status_code == 401
            assert (await http.get("/v1/programs", headers={"Authorization": f"Bearer {key}"})).status_code == 200

    go(body())


def test_a_key_is_known_by_its_digest_and_can_be_taken_back(tmp_path: Path) -> None:
    async def body() -> None:
        made = service(tmp_path, records=str(tmp_path / "keys"))
        identity = Identity(made.records, made.settings, made.signer)
        key = identity.new_key("ann", ["starter", "other:viewer"], ["sales"])
        old = identity.new_key("old", ["admin"], expires=time() - 1)
        stored = b"".join(file.read_bytes() for file in (tmp_path / "keys").glob("server.sqlite*"))
        assert key.encode() not in stored
        assert key.split("_", 2)[2].encode() not in stored
        async with client(made, identify=identity) as http:
            for word, status in ((key, 200), (f"{key}x", 401), (old, 401), ("ik_", 401), ("ik_a_b", 401), ("nonsense", 401)):
                done = await http.get("/v1/programs", headers={"Authorization": f"Bearer {word}"})
                assert done.status_code == status, word
            assert (await http.get("/v1/programs")).status_code == 401
            assert (await http.get("/v1/programs", headers={"Authorization": f"Basic {key}"})).status_code == 401
            assert (await http.get(f"/v1/programs?key={key}", headers={})).status_code == 401
            caller = await identity.bearer(key)
            assert (caller.may("starter", "any"), caller.may("viewer", "letter"), caller.may("viewer", "other")) == (
                True,
                False,
                True,
            )
            assert caller.groups == {"sales"}
            made.records.revoke("ann")
            with pytest.raises(AuthenticationError):
                await identity.bearer(key)

    go(body())


def test_a_claim_ends_when_the_keys_of_its_holder_are_revoked(tmp_path: Path) -> None:
    async def body() -> None:
        made = service(tmp_path, letter=asking())
        Identity(made.records, made.settings, made.signer).new_key("cat", ["answerer"])
        run = (await made.start(BOSS, "letter", "a", wait=20)).report.run
        await made.claim(CAT, run, "userContext1")
        with pytest.raises(ConflictError):
            await made.claim(BOB, run, "userContext1")
        made.records.revoke("cat")
        assert (await made.claim(BOB, run, "userContext1")).claimed_by == "bob"

    go(body())


def test_so_does_one_whose_key_an_earlier_release_has_spelled_otherwise(tmp_path: Path) -> None:
    async def body() -> None:
        made = service(tmp_path, letter=asking())
        Identity(made.records, made.settings, made.signer).new_key("cat", ["answerer"])
        made.records.execute(sa.update(KEYS).values(name="c\u00adat"))
        run = (await made.start(BOSS, "letter", "a", wait=20)).report.run
        await made.claim(CAT, run, "userContext1")
        made.records.revoke("cat")
        assert (await made.claim(BOB, run, "userContext1")).claimed_by == "bob"

    go(body())


@pytest.mark.parametrize("span", ["P0D", "PT0S"])
def test_a_key_that_is_never_valid_is_not_made(
    span: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["serve", "--new-key", "ann", "--expires", span]) == 2
    assert "is not a span of time of 1 s or more" in " ".join(capsys.readouterr().err.split())


def test_keys_of_a_name_that_has_none_cannot_be_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["serve", "--new-key", "margaret", "--role", "viewer"]) == 0
    assert main(["serve", "--revoke-keys", "margret"]) == 1
    assert "no API key has this name" in (told := capsys.readouterr().err)
    assert "did you mean `margaret`?" in told
    assert main(["serve", "--revoke-keys", "margaret"]) == 0
    assert "taken back: 1" in capsys.readouterr().err


def test_no_key_is_made_that_takes_the_roles_of_subjects_of_the_identity_provider(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Bare names are theirs as long as there are no keys."""
    monkeypatch.chdir(tmp_path)
    oidc = '[tool.instrc.serve.oidc]\nissuer = "https://id.example"\naudience = "instrc"\njwks = "keys.json"\n'
    roles = '[tool.instrc.serve.roles."*"]\nviewer = ["{}"]\n'
    for name, code in (("ann", 1), ("oidc:https://id.example#ann", 0)):
        (tmp_path / "pyproject.toml").write_text(oidc + roles.format(name))
        assert main(["serve", "--new-key", "robot", "--role", "starter"]) == code
    assert "write `key:ann` or `oidc:ISSUER#ann`" in capsys.readouterr().err
    (tmp_path / "schemas").mkdir()
    (tmp_path / "schemas" / "pay_User.vibe.json").write_text('{"type": "object", "x-approvers": ["bob"]}')
    (tmp_path / "pay.aug").write_text("do { Pay_User(prompt) }")
    assert main(["serve", "--revoke-keys", "robot", "--new-key", "robot"]) == 1
    assert "in `pay` it is a key" in capsys.readouterr().err
    assert main(["serve", "--revoke-keys", "robot"]) == 0  # it is still there


def test_no_key_is_kept_in_a_folder_that_is_named_like_an_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["serve", "--new-key", "ann", "--store", "mysql://host/runs"]) == 1
    assert "with a URL such as `postgresql://HOST/NAME`" in capsys.readouterr().err
    assert not [*tmp_path.iterdir()]


def test_a_service_whose_last_key_is_revoked_does_not_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["serve", "--new-key", "group:leads"]) == 1
    assert "on from the next start" not in capsys.readouterr().err
    for first in (True, False):
        assert main(["serve", "--new-key", "ann", "--role", "viewer"]) == 0
        assert ("on from the next start" in capsys.readouterr().err) is first
        assert main(["serve", "--revoke-keys", "ann"]) == 0
    made = service(tmp_path, records=str(tmp_path / ".instrc"))
    identity = Identity(made.records, made.settings, made.signer)
    assert identity.is_on
    assert caller_later(made.settings, made.records, "local", {"by": "local"}) is None


@pytest.mark.parametrize("words", [["--role", "admin"], ["--group", "leads"], ["--expires", "P90D"]])
def test_what_a_new_key_is_for_is_said_with_a_new_key(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--revoke-keys", "ann", *words]) == 2
    assert "--new-key NAME" in capsys.readouterr().err


def test_a_role_for_a_program_without_a_name_is_not_one_for_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["serve", "--new-key", "ann", "--role", ":operator"]) == 2
    assert "`:operator` is not a role" in capsys.readouterr().err


def test_guessing_keys_is_slowed_down(tmp_path: Path) -> None:
    async def body() -> None:
        made = service(tmp_path)
        async with client(made, identify=Identity(made.records, made.settings, made.signer)) as http:
            found = [
                (await http.get("/v1/programs", headers={"Authorization": f"Bearer ik_{n}_x"})).status_code for n in range(70)
            ]
            assert found.count(429) >= 5

    go(body())


RSA = rsa.generate_private_key(public_exponent=65537, key_size=2048)
OTHER = rsa.generate_private_key(public_exponent=65537, key_size=2048)
WEAK = rsa.generate_private_key(public_exponent=65537, key_size=1024)  # noqa: S505  -- refused
OIDC = OidcSettings("https://id.example", "instrc", "keys.json")
CLAIMS = {"iss": "https://id.example", "aud": "instrc", "sub": "ann", "exp": 4_000_000_000, "groups": ["leads"]}


@pytest.mark.parametrize(
    ("key", "algorithm", "claims", "name"),
    [
        (RSA, "RS256", {}, "one"),
        (RSA, "RS256", {"aud": ["other", "instrc"]}, "one"),
        (RSA, "RS256", {"aud": "other"}, None),
        (RSA, "RS256", {"iss": "https://evil.example"}, None),
        (RSA, "RS256", {"exp": 1}, None),
        (RSA, "RS256", {"exp": None}, None),
        (RSA, "RS256", {"exp": float("inf")}, None),
        (RSA, "RS256", {"exp": 10**400}, None),
        (RSA, "RS256", {"exp": "soon"}, None),
        (RSA, "RS256", {"sub": "a" * 501}, None),
        (RSA, "RS256", {"sub": ["ann"]}, None),
        (RSA, "RS256", {"sub": None}, None),
        (RSA, "RS384", {}, None),
        (OTHER, "RS256", {}, None),
        (None, "none", {}, None),
        ("a shared secret of thirty-two bytes or more", "HS256", {}, None),
    ],
)
@pytest.mark.filterwarnings("ignore:The RSA key")
def test_a_token_counts_only_if_all_of_it_holds(key: Any, algorithm: str, claims: Any, name: str | None, tmp_path: Path) -> None:
    listed: list[dict[str, Any]] = []
    for each, kind in ((RSA, {}), (OTHER, {"kid": "other", "use": "enc"}), (WEAK, {"kid": "weak"})):
        listed.append({**json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(each.public_key())), "kid": "one", "alg": "RS256", **kind})
    (tmp_path / "keys.json").write_text(json.dumps({"keys": listed}), encoding="utf-8")
    said = {name: value for name, value in {**CLAIMS, **claims}.items() if value is not None}
    word = jwt.encode(said, key, algorithm=algorithm, headers={"kid": name or "one"})
    settings = ServiceSettings(oidc=OIDC, roles={"letter": {"answerer": ("group:leads",)}})

    async def body() -> None:
        made = service(tmp_path, settings=settings)
        identity = Identity(made.records, settings, made.signer, ProviderKeys("keys.json", tmp_path))
        if name is None:
            with pytest.raises(AuthenticationError):
                await identity.bearer(word)
            return
        caller = await identity.bearer(word)
        assert (caller.name, caller.groups, caller.by) == ("oidc:https://id.example#ann", {"leads"}, "token")
        assert (caller.may("answerer", "letter"), caller.may("starter", "letter")) == (True, False)
        for signer, kid in ((RSA, "two"), (OTHER, "other"), (WEAK, "weak")):  # unknown, for encryption, and too short
            with pytest.raises(AuthenticationError):
                await identity.bearer(jwt.encode(said, signer, algorithm="RS256", headers={"kid": kid}))

    go(body())


def test_an_identity_provider_is_asked_for_its_keys_and_again_for_new_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The provider listens on this machine; it changes its keys, and later it is gone."""
    asked, names = [], ["one"]

    def provider(_asked: Asked) -> Answer:
        asked.append(names[-1])
        public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(RSA.public_key()))
        return Answer(json.dumps({"keys": [{**public, "kid": name, "alg": "RS256"} for name in names]}).encode())

    def token(name: str, **claims: Any) -> dict[str, str]:
        word = jwt.encode({**CLAIMS, **claims}, RSA, algorithm="RS256", headers={"kid": name})
        return {"Authorization": f"Bearer {word}"}

    settings = ServiceSettings(oidc=OIDC, roles={"letter": {"starter": ("group:leads",)}})
    made = service(tmp_path, settings=settings)

    async def body(address: str) -> None:
        identity = Identity(made.records, settings, made.signer, ProviderKeys(f"{address}/keys", tmp_path))
        async with client(made, identity=identity) as http:
            assert (await http.post("/v1/runs", json=START, headers=token("one"))).json()[
                "starter"
            ] == "oidc:https://id.example#ann"
            assert (await http.post("/v1/runs", json=START, headers=token("one", groups=[]))).status_code == 404
            names.append("two")
            assert (await http.get("/v1/programs", headers=token("two"))).status_code == 401  # it was asked a moment ago
            monkeypatch.setattr("instrc.server.identity._REFETCH", 0.0)
            assert (await http.get("/v1/programs", headers=token("two"))).status_code == 200
            assert asked == ["one", "two"]
            page = (await http.post("/v1/session", headers=token("two"))).headers["set-cookie"].partition(";")[0]
            assert (await http.get("/v1/programs", headers={"Cookie": page})).status_code == 200

    async def alone(address: str) -> None:
        identity = Identity(made.records, settings, made.signer, ProviderKeys(f"{address}/keys", tmp_path))
        with pytest.raises(AuthenticationError):
            await identity.bearer(token("one")["Authorization"].partition(" ")[2])

    with serving(provider) as address:
        go(body(address))
    go(alone(address))


def test_a_run_that_is_hidden_is_told_as_one_that_is_not_there(tmp_path: Path) -> None:
    async def body() -> None:
        made = service(tmp_path)
        async with client(made, person("cat", "viewer", program="other")) as http:
            run = (await made.start(BOSS, "letter", "x")).report.run
            for path in ("/v1/runs/{}", "/v1/runs/{}/trace", "/v1/runs/{}/events", "/v1/questions/{}:userContext1"):
                hidden, missing = [(await http.get(path.format(each))) for each in (run, "x" * len(run))]
                assert hidden.status_code == missing.status_code == 404
                assert hidden.text.replace(run, "x" * len(run)) == missing.text

    go(body())


def test_a_session_is_a_signed_cookie_that_ends_with_its_key(tmp_path: Path) -> None:
    async def body() -> None:
        made = service(tmp_path)
        identity = Identity(made.records, made.settings, made.signer)
        key = identity.new_key("ann", ["viewer"])
        async with client(made, identity=identity) as http:
            done = await http.post("/v1/session", headers={"Authorization": f"Bearer {key}"})
            cookie = done.headers["set-cookie"]
            assert {"HttpOnly", "Secure", "SameSite=Lax", "Path=/"} <= {part.strip() for part in cookie.split(";")}
            word = cookie.partition(";")[0]
            assert (await http.get("/v1/programs", headers={"Cookie": word})).status_code == 200
            for forged in (f"{word}x", f"__Host-instrc={Signer(['other']).sign('session', {'name': 'boss'})}", "__Host-instrc="):
                assert (await http.get("/v1/programs", headers={"Cookie": forged})).status_code == 401
            made.records.revoke("ann")
            assert (await http.get("/v1/programs", headers={"Cookie": word})).status_code == 401

    go(body())


def test_a_link_shows_one_question_and_answers_it_once(tmp_path: Path) -> None:
    async def body() -> None:
        made = service(tmp_path)
        for name, role in (("guest", "answerer"), ("boss", "admin")):
            Identity(made.records, made.settings, made.signer).new_key(name, [role])
        async with client(made, BOSS) as http:
            runs = [(await http.post("/v1/runs", json=START, headers={"Prefer": "wait=20"})).json() for _ in range(2)]
            question = runs[0]["questions"][0]["id"]
            link = (await http.post(f"/v1/questions/{question}/links", json={"to": "guest"})).json()["link"]
        app = app_of(made, identify=Identity(made.records, made.settings, made.signer))
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as http:
            for _ in range(2):  # to look changes nothing: programs that read mail open links
                assert (await http.get(link)).json()["id"] == question
            assert (await http.get("/v1/runs")).status_code == 401
            wrong = await http.post(link, json={"data": {"decision": "Maybe"}})
            assert wrong.status_code == 422
            assert (await http.post(link, json={"data": ANSWER})).json()["status"] == "done"
            for again in (ANSWER, {"decision": "Reject"}):
                assert (await http.post(link, json={"data": again})).status_code in {200, 401, 409}
            assert (await http.get(f"{link}x")).status_code == 401
            other = made.signer.sign("session", {"run": runs[1]["run"], "question": "userContext1", "for": "guest", "nonce": "n"})
            assert (await http.get(f"/v1/links/{other}")).status_code == 401  # signed, for another purpose
        [vote] = made.records.votes(runs[0]["run"])["userContext1"]
        assert (vote.who, vote.means) == ("guest", "link")
        answers = audit_log(made.records, AuditFilter(runs[0]["run"], action="answer"), 9)
        audited = next(entry for entry in answers if entry.means == "link")
        assert audited.who == "guest"
        assert ANSWER["decision"] not in str(audited)

    go(body())


# --- who may do what ----------------------------------------------------------------------------------------------------------


def test_each_verb_needs_its_role(tmp_path: Path) -> None:
    """Of every pair of a role and a verb, what is not allowed is refused; of what one may not see nothing is said."""
    allowed = {
        "viewer": {"see"},
        "starter": {"start"},
        "answerer": {"see", "answer"},
        "operator": {"see", "cancel", "delete"},
        "author": {"see"},
        "admin": {"see", "start", "answer", "cancel", "delete"},
        "nobody": set(),
    }

    async def body() -> None:
        made = service(tmp_path)
        for role, verbs in allowed.items():
            caller = person("eve") if role == "nobody" else person("eve", role)  # type: ignore[arg-type]  # one of them
            async with client(made, BOSS) as http:
                run = (await http.post("/v1/runs", json=START, headers={"Prefer": "wait=20"})).json()["run"]
            async with client(made, caller) as http:
                tried = {
                    "start": await http.post("/v1/runs", json=START),
                    "see": await http.get(f"/v1/runs/{run}"),
                    "answer": await http.post(f"/v1/questions/{run}:userContext1/answer", json={"data": ANSWER}),
                    "cancel": await http.post(f"/v1/runs/{run}/cancel"),
                    "delete": await http.delete(f"/v1/runs/{run}"),
                }
                done = {verb for verb, answer in tried.items() if answer.status_code < 300}
                assert done - {"answer"} == verbs - {"answer"}, role
                assert ("answer" in done) == ("answer" in verbs), role
                refused = {answer.status_code for verb, answer in tried.items() if verb not in done}
                assert refused <= {403, 404}, role
            assert audit_log(made.records, AuditFilter(run), 99)[-1].who == "boss"

    go(body())


@pytest.mark.parametrize(
    ("rule", "votes", "status"),
    [
        ({}, [("ann", "Approve")], "done"),
        ({"x-needed": 2}, [("ann", "Approve")], "waiting"),
        ({"x-needed": 2}, [("ann", "Approve"), ("ann", "Approve")], "waiting"),
        ({"x-needed": 2}, [("ann", "Approve"), ("bob", "Approve")], "done"),
        ({"x-needed": 2}, [("ann", "Approve"), ("bob", "Reject")], "stopped"),
        ({"x-needed": 2, "x-veto": False}, [("ann", "Approve"), ("bob", "Reject")], "waiting"),
        ({"x-needed": 2, "x-veto": False}, [("ann", "Approve"), ("bob", "Reject"), ("cat", "Approve")], "done"),
        ({"x-needed": 2, "x-veto": False, "x-approvers": ["ann", "bob"]}, [("ann", "Reject")], "stopped"),
        ({"x-not": ["starter"]}, [("boss", "Approve")], "waiting"),
        ({"x-not": ["ann"]}, [("ann", "Approve")], "waiting"),
        ({"x-approvers": ["bob"]}, [("ann", "Approve")], "waiting"),
        ({"x-approvers": ["bob"]}, [("bob", "Approve")], "done"),
    ],
)
def test_the_rule_of_the_program_says_who_approves(rule: Any, votes: list[tuple[str, str]], status: str, tmp_path: Path) -> None:
    async def body() -> None:
        made = service(tmp_path, pay=asking(**rule))
        async with client(made, BOSS) as http:
            run = (await http.post("/v1/runs", json={"program": "pay", "input": "x"}, headers={"Prefer": "wait=20"})).json()[
                "run"
            ]
        for who, decision in votes:
            async with client(made, BOSS if who == "boss" else person(who, "answerer")) as http:
                await http.post(f"/v1/questions/{run}:userContext1/answer", json={"data": {"decision": decision}})
        assert (await made.run(BOSS, run)).report.status == status

    go(body())


def test_a_claim_keeps_others_away_and_is_given_on(tmp_path: Path) -> None:
    async def body() -> None:
        settings = ServiceSettings(people={"letter.approve": PeopleSettings(("ann", "bob"), 3600.0)})
        made = service(tmp_path, settings=settings)
        async with client(made, BOSS) as boss, client(made, ANN) as ann, client(made, BOB) as bob:
            run = (await boss.post("/v1/runs", json=START, headers={"Prefer": "wait=20"})).json()["run"]
            place = f"/v1/questions/{run}:userContext1"
            assert (await ann.get(place)).json()["candidates"] == ["ann", "bob"]
            assert (await ann.get(place)).json()["due"] is not None
            assert (await ann.post(f"{place}/claim")).json()["claimedBy"] == "ann"
            assert (await ann.post(f"{place}/claim")).status_code == 200  # the same person again
            taken = await bob.post(f"{place}/claim")
            assert (taken.status_code, taken.json()["name"]) == (409, "question-not-free")
            assert (await bob.post(f"{place}/answer", json={"data": ANSWER})).status_code == 409
            assert (await bob.post(f"{place}/release")).status_code == 409
            assert (await ann.post(f"{place}/delegate", json={"to": "bob"})).json()["claimedBy"] == "bob"
            assert [each["run"] for each in (await bob.get("/v1/questions?assignee=me")).json()["items"]] == [run]
            assert (await bob.post(f"{place}/answer", json={"data": ANSWER})).json()["status"] == "done"
        async with client(made, person("eve", "answerer")) as http:
            assert (await http.get("/v1/questions")).json()["items"] == []
            assert (await http.get(place)).status_code in {404, 409}

    go(body())


def test_an_entry_that_binds_nobody_is_told(tmp_path: Path) -> None:
    everybody = PeopleSettings()
    people = {"letter.aprove": everybody, "lettr.*": everybody}
    sound = {"letter.approve": everybody, "approve": everybody, "letter.*": everybody, "*": everybody}
    roles = {"letter": {}, "*": {}, "leter": {"answerer": ("ann",)}}
    told = idle_settings(service(tmp_path, settings=ServiceSettings(roles=roles, people=people | sound)))
    assert [line.partition(" in ")[0] for line in told] == ["`leter`", "`letter.aprove`", "`lettr.*`"]
    assert [line.rpartition(" ")[2] for line in told] == ["`letter`?", "`letter.approve`?", "`letter.*`?"]


@pytest.mark.parametrize("name", ["letter.step1_check_it", "letter.check_it", "check_it"])
def test_a_step_of_two_words_is_found_in_the_settings(tmp_path: Path, name: str) -> None:
    async def body() -> None:
        document = process(userContext1=chunk(step1_check_it=step(DECISION, "prompt")))
        made = service(tmp_path, settings=ServiceSettings(people={name: PeopleSettings(("bob",))}), letter=document)
        assert idle_settings(made) == []
        async with client(made, BOSS) as boss:
            run = (await boss.post("/v1/runs", json=START, headers={"Prefer": "wait=20"})).json()["run"]
            assert (await boss.get(f"/v1/questions/{run}:userContext1")).json()["candidates"] == ["bob"]

    go(body())


def test_connections_send_at_once() -> None:
    """Without `TCP_NODELAY` each answer on a kept connection waits 40 ms for the receipt of the one before."""

    async def body() -> int:
        taken: asyncio.Queue[int] = asyncio.Queue()

        def take(_reader: object, writer: asyncio.StreamWriter) -> None:
            taken.put_nowait(writer.get_extra_info("socket").getsockopt(IPPROTO_TCP, TCP_NODELAY))
            writer.close()

        with listener_at("127.0.0.1", 0) as listener:
            async with await asyncio.start_server(take, sock=listener):
                _, writer = await asyncio.open_connection(*listener.getsockname())
                writer.close()
                return await taken.get()

    assert go(body()) == 1


def test_an_address_that_is_in_use_is_a_problem() -> None:
    with listener_at("127.0.0.1", 0) as first, pytest.raises(SettingsError, match="Address already in use"):
        listener_at("127.0.0.1", first.getsockname()[1])
    with pytest.raises(SettingsError, match="unusable-setting"):
        listener_at("no such host", 0)
