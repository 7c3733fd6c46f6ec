"""Activities that tables of the settings describe: HTTP services and tools of MCP servers."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from http_server import Answer, Asked, serving

from instrc import Activities, ActivityError, Retry, Sample, check
from instrc.problems.errors import SettingsError
from instrc.runtime.activities import Activity, ActivityCall  # one decision about a call
from instrc.runtime.effects import Effects, attempt_call  # calls without a run
from instrc.runtime.http_activities import fill_template  # one template
from instrc.runtime.secrets import MASK, redacted  # what stands for a secret
from instrc.runtime.served_activities import served  # an activity without a program
from instrc.text.jsonvalue import Json

GIVEN: dict[str, Json] = {"query": "тёплые шапки", "limit": 2, "person": {"mail": "a/b@c"}}


class Service:
    """An HTTP service that answers what it is told to, and keeps what it is asked."""

    def __init__(self) -> None:
        self.url = ""
        self.said: tuple[int, str, bytes] = (200, "application/json", b'{"data": {"items": [1, 2]}}')
        self.seen: list[Asked] = []

    def answer(self, asked: Asked) -> Answer:
        self.seen.append(asked)
        status, kind, body = self.said
        return Answer(body, status, kind, "http://127.0.0.1:9/elsewhere" if 300 <= status < 400 else None)


@pytest.fixture
def service() -> Iterator[Service]:
    made = Service()
    with serving(made.answer) as made.url:
        yield made


def made(table: dict[str, Any]) -> Activity:
    return served("Search_Activity", table, Path())


def call(activity: Activity, given: Json = GIVEN) -> Json:
    return asyncio.run(attempt_call(activity, given, ActivityCall("run 1/step2_search", activity.name, 1)))


def reason(table: dict[str, Any]) -> str:
    with pytest.raises(SettingsError) as raised:
        made(table)
    return raised.value.problems[0].message


def test_what_is_given_is_posted_as_json_with_its_key(service: Service) -> None:
    assert call(made({"url": f"{service.url}/search"})) == {"data": {"items": [1, 2]}}
    [(method, path, headers, body)] = service.seen
    assert (method, path) == ("POST", "/search")
    assert json.loads(body) == GIVEN
    assert headers["idempotency-key"] == "run%201/step2_search"


def test_a_get_sends_as_query_what_the_url_does_not_name(service: Service) -> None:
    activity = made({"url": f"{service.url}/of/{{person.mail}}", "method": "get", "result": "/data/items/1"})
    assert call(activity) == 2
    [(method, path, headers, body)] = service.seen
    assert (method, body) == ("GET", b"")
    assert path.startswith("/of/a%2Fb%40c?query=")
    assert path.endswith("&limit=2")
    assert "idempotency-key" not in headers


def test_a_template_says_what_is_sent(service: Service) -> None:
    table = {
        "url": f"{service.url}/v1",
        "body": {"q": "{query}", "top": "{limit}", "note": "for {person.mail}", "all": "{}"},
        "headers": {"X-Top": "{limit}"},
        "query": {"lang": "ru", "q": ["{query}", "{limit}"]},
    }
    call(made(table))
    [(_, path, headers, body)] = service.seen
    assert json.loads(body) == {"q": "тёплые шапки", "top": 2, "note": "for a/b@c", "all": GIVEN}
    assert headers["x-top"] == "2"
    assert path.count("q=") == 2


def test_a_header_of_the_table_replaces_ours_in_any_case(service: Service) -> None:
    own = {"content-type": "application/vnd.api+json", "idempotency-key": "k1"}
    call(made({"url": f"{service.url}/", "headers": own}))
    assert own.items() <= service.seen[0].headers.items()


def test_secrets_come_from_the_environment_and_are_masked(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEARCH_PASS", "open sesame 7")
    call(made({"url": f"{service.url}/", "headers": {"Authorization": "Bearer ${SEARCH_PASS}"}}))
    assert service.seen[0][2]["authorization"] == "Bearer open sesame 7"
    assert redacted("it was open sesame 7") == f"it was {MASK}"


@pytest.mark.parametrize(("status", "retry"), [(500, True), (503, True), (429, True), (404, False), (302, False)])
def test_an_error_has_its_status_as_code(service: Service, status: int, *, retry: bool) -> None:
    service.said = (status, "application/json", b'{"error": "no"}')
    with pytest.raises(ActivityError) as raised:
        call(made({"url": f"{service.url}/"}))
    assert (raised.value.code, raised.value.retry) == (str(status), retry)
    assert len(service.seen) == 1  # a redirect is not followed


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ((200, "application/json", b"{"), "no-json"),
        ((200, "application/json", b'{"data": 1}'), "no-result"),
        ((200, "text/html", b"<html>"), "no-json"),
        ((200, "application/json", b" " * (10 * 1024 * 1024 + 1)), "too-large"),
    ],
)
def test_an_answer_that_cannot_be_used_is_no_result(service: Service, answer: tuple[int, str, bytes], code: str) -> None:
    service.said = answer
    with pytest.raises(ActivityError) as raised:
        call(made({"url": f"{service.url}/", "result": "/data/items"}))
    assert raised.value.code == code


def test_a_text_is_a_text_and_nothing_is_null(service: Service) -> None:
    service.said = (200, "text/plain; charset=utf-8", "да".encode())
    assert call(made({"url": f"{service.url}/"})) == "да"
    service.said = (200, "text/plain", b'\xef\xbb\xbf{"data": 1}')
    assert call(made({"url": f"{service.url}/", "result": "/data"})) == 1
    service.said = (204, "application/json", b"")
    assert call(made({"url": f"{service.url}/"})) is None


def test_a_missing_member_and_a_broken_header_are_told(service: Service) -> None:
    with pytest.raises(ActivityError, match=r"person\.phone"):
        call(made({"url": f"{service.url}/{{person.phone}}"}))
    with pytest.raises(ActivityError, match="one line"):
        call(made({"url": f"{service.url}/", "headers": {"X": "{query}"}}), {"query": "a\r\nX-Evil: 1"})
    assert service.seen == []


def test_a_service_that_is_not_there_is_worth_another_try() -> None:
    with pytest.raises(ActivityError, match=r"^no answer from 127\.0\.0\.1:9 \(ConnectError: ") as raised:
        call(made({"url": "http://me:geheim@127.0.0.1:9/"}))
    assert (raised.value.code, raised.value.retry) == ("unreachable", True)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({}, "`url` and `mcp`"),
        ({"url": "http://a", "mcp": "b"}, "`url` and `mcp`"),
        ({"url": "file:///etc/passwd"}, "`http://`"),
        ({"url": "http://{person.mail}/"}, "host"),
        ({"url": "http://a/", "method": "TRACE"}, "`method`"),
        ({"url": "http://a/", "methd": "GET"}, "`methd`"),
        ({"url": 5}, "`url`"),
        ({"url": "http://a/", "result": "data"}, "`result`"),
        ({"url": "http://a/", "headers": {"A": "${NOT_THERE_AT_ALL}"}}, "`NOT_THERE_AT_ALL`"),
        ({"url": "http://a/", "retry": {"tries": 3}}, "`retry`"),
        ({"url": "http://a/", "retry": {"attempts": -1}}, "`retry.attempts`"),
        ({"url": "http://a/", "retry": {"attempts": 1.5}}, "`retry.attempts`"),
        ({"url": "http://a/", "retry": {"pause": float("nan")}}, "`retry.pause`"),
        ({"url": "http://a/", "retry": {"codes": "no"}}, "`retry.codes`"),
        ({"url": "http://a/", "input": 5}, "`input`"),
        ({"mcp": "server 'unclosed"}, "`mcp`"),
        ({"mcp": ""}, "`mcp`"),
    ],
)
def test_a_table_that_cannot_be_read_says_what_is_wrong(
    table: dict[str, Any], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`check` says so with its place; variables of the environment may be set elsewhere."""
    assert said in reason(table)
    monkeypatch.chdir(tmp_path)
    written = json.dumps(table).replace('": ', '" = ').replace("NaN", "nan")
    Path("pyproject.toml").write_text(f"[tool.instrc.activities]\nSearch_Activity = {written}\n")
    Path("a.aug").write_text('@{ title: "A", type: "object" }')
    found = [problem for problem in check(".") if problem.name == "unusable-setting"]
    assert [said in problem.message for problem in found] == ([True] if "NOT_THERE" not in said and table else [])
    assert [problem.at.source.locate(problem.at.start) for problem in found if problem.at] == [(2, 1) for _ in found]


def test_a_table_says_when_the_activity_is_tried_again() -> None:
    assert made({"url": "http://a/"}).retry == Retry(timeout=3600)
    policy = {"attempts": 5, "pause": 0.5, "factor": 1, "timeout": 2.5, "codes": ["busy"]}
    assert made({"url": "http://a/", "retry": policy}).retry == Retry(5, 0.5, 1, timeout=2.5, codes=frozenset({"busy"}))


SERVER = """
import sys
from mcp.server.mcpserver import MCPServer

server = MCPServer("small")

@server.tool()
def search(query: str, limit: int) -> dict[str, object]:
    "Search."
    return {"found": [query] * limit}

@server.tool()
def shout(text: str) -> str:
    "Shout."
    if not text:
        raise ValueError("nothing to shout")
    return text.upper()

@server.tool()
def shout_item2(text: str) -> str:
    "Shout another text."
    return "no"

server.run()
"""


@pytest.fixture
def command(tmp_path: Path) -> str:
    pytest.importorskip("mcp")
    (tmp_path / "server.py").write_text(SERVER, encoding="utf-8")
    return f"{sys.executable} {tmp_path / 'server.py'}"


def test_what_a_server_writes_beside_messages_is_told_in_a_line(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    pytest.importorskip("mcp")
    (tmp_path / "loud.py").write_text(f"print('Welcome!', flush=True)\n{SERVER}", encoding="utf-8")
    shout = served("shout_Activity", {"mcp": f"{sys.executable} {tmp_path / 'loud.py'}"}, Path())
    assert asyncio.run(attempt_call(shout, {"text": "a"}, ActivityCall("r/b", "shout", 1))) == {"result": "A"}
    assert [(record.name, record.exc_info) for record in caplog.records if "mcp" in record.name] == [("mcp.client.stdio", None)]


def test_a_tool_of_a_server_is_an_activity(command: str) -> None:
    async def calls() -> list[Json]:
        search = served("Search_Activity", {"mcp": command, "tool": "search"}, Path())
        shout = served("shout_Activity", {"mcp": command}, Path())
        asked = [
            attempt_call(search, {"query": "a", "limit": 2}, ActivityCall("r/a", "Search", 1)),
            attempt_call(shout, {"text": "да"}, ActivityCall("r/b", "Shout", 1)),
        ]
        return list(await asyncio.gather(*asked))

    found, shouted = asyncio.run(calls())
    assert found == {"found": ["a", "a"]}
    assert shouted in ("ДА", {"result": "ДА"})


def test_an_error_of_a_tool_is_one_of_the_activity(command: str) -> None:
    async def codes() -> list[tuple[str | None, bool]]:
        found = []
        for tool, given in (("shout", {"text": ""}), ("nothing", {}), (None, {}), ("search", "text")):
            table = {"mcp": command} | ({"tool": tool} if tool else {})
            with pytest.raises(ActivityError) as raised:
                await attempt_call(served("Elsewhere_Activity", table, Path()), given, ActivityCall("r/a", "Elsewhere", 1))
            found.append((raised.value.code, raised.value.retry))
        return found

    first, second, *others = asyncio.run(codes())
    assert first == ("tool", False)
    assert second[1] is False
    assert others == [("unknown-tool", False), ("invalid-input", False)]


MISFIT = """
import json, os, sys
from pathlib import Path

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
NAMES = ("text", "nothing", "die", "fits")


def call(name):
    with Path(__file__).with_name("calls").open("a") as file:
        file.write(f"{name}\\n")
    if name == "die":
        os._exit(3)
    given = {"text": {"n": "text"}, "fits": {"n": os.getpid()}}.get(name)
    return {"content": []} | ({"structuredContent": given} if given else {})


def answer(method, params):
    if method == "initialize":
        about = {"name": "odd", "version": "1"}
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": about}
    if method == "tools/list":
        return {"tools": [{"name": name, "inputSchema": {"type": "object"}, "outputSchema": SCHEMA} for name in NAMES]}
    return call(params["name"]) if method == "tools/call" else None


for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked:
        result = answer(asked["method"], asked.get("params"))
        said = {"result": result} if result is not None else {"error": {"code": -32601, "message": "Method not found"}}
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **said}), flush=True)
"""
"""Written by hand: the library would not send what does not fit, and takes most of a second to load."""


@pytest.fixture
def odd(tmp_path: Path) -> Any:
    pytest.importorskip("mcp")
    (tmp_path / "odd.py").write_text(MISFIT, encoding="utf-8")

    def run(*tools: str, between: Any = None) -> tuple[Any, list[str]]:
        async def calls() -> Any:
            registry = Activities()
            for tool in tools:
                table = {"mcp": f"{sys.executable} {tmp_path / 'odd.py'}", "tool": tool, "retry": {"pause": 0}}
                registry.add(tool, served(tool, table, Path()))
            effects = Effects("r", Sample(), registry)
            made: list[Any] = []
            for tool in tools:
                command: Any = {"kind": "fire", "id": f"c{len(made)}", "activity": tool, "step": tool, "input": {}}
                made.append(await effects.call(command))
                if between is not None:
                    between(made[-1])
                    await asyncio.sleep(0.3)
            return made

        found = asyncio.run(calls())
        return found, (tmp_path / "calls").read_text().split()

    return run


def test_what_a_server_writes_beside_messages_is_short_seldom_and_holds_no_secret(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("mcp")
    monkeypatch.setenv("SHOP_TOKEN", "s3cr3t-of-the-shop")
    monkeypatch.setattr("instrc.runtime.mcp_activities.PAUSE", 3_600)
    monkeypatch.setattr("instrc.runtime.mcp_activities._logged", {})
    bad = json.dumps({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"s3cr3t-of-the-shop": "\x1b]0;x\x07"}})
    beside = f"print('\\x1b[2J s3cr3t-of-the-shop', flush=True)\nprint({bad!r}, flush=True)\n" * 9
    (tmp_path / "loud.py").write_text(beside + MISFIT, encoding="utf-8")
    fits = served("fits", {"mcp": f"{sys.executable} {tmp_path / 'loud.py'}"}, Path())
    result: Any = asyncio.run(attempt_call(fits, {}, ActivityCall("r/b", "fits", 1)))
    assert list(result) == ["n"]
    told = [record for record in caplog.records if "mcp" in record.pathname]
    assert len(told) == len({record.name for record in told}) == 2
    assert all(record.exc_info is None and record.getMessage().isprintable() for record in told)
    assert not any("s3cr3t" in record.getMessage() for record in told)


def test_an_answer_that_breaks_the_schema_of_its_tool_is_one_call(odd: Any) -> None:
    results, calls = odd("text", "nothing")
    assert [(result["error"]["kind"], result["error"]["code"]) for result in results] == [("invalid", "invalid-output")] * 2
    assert calls == ["text", "nothing"]


def test_a_call_that_never_reached_its_server_is_tried_again_in_another_session(odd: Any) -> None:
    results, calls = odd("fits", "fits", between=lambda result: os.kill(result["ok"]["n"], signal.SIGKILL))
    first, second = (result["ok"]["n"] for result in results)
    assert first != second
    assert calls == ["fits", "fits"]


def test_a_server_that_always_ends_is_unreachable(odd: Any) -> None:
    [result, after], calls = odd("die", "fits")
    assert result["error"]["code"] == "unreachable"
    assert "the MCP server is gone" in result["error"]["message"]
    assert "ok" in after
    assert calls == ["die", "die", "die", "fits"]


def test_a_server_that_does_not_start_is_unreachable(tmp_path: Path) -> None:
    pytest.importorskip("mcp")
    with pytest.raises(ActivityError) as raised:
        call(served("A", {"mcp": f"{tmp_path}/not-there"}, tmp_path), {})
    assert raised.value.code == "unreachable"
    assert "not-there" in str(raised.value)


def test_a_call_of_a_session_that_ends_before_it_answers_is_unreachable() -> None:
    pytest.importorskip("mcp")
    from instrc.runtime.mcp_activities import _Session  # a session of a server

    async def ended() -> None:
        session = _Session.__new__(_Session)
        session.calls, session.used = set(), asyncio.Event()
        session.opened = asyncio.get_running_loop().create_future()
        session.task = asyncio.ensure_future(asyncio.sleep(0))
        await asyncio.wait_for(session.call("search", "Search_Activity", {}), 60)

    with pytest.raises(ActivityError) as raised:
        asyncio.run(ended())
    assert raised.value.code == "unreachable"


def test_a_template_of_a_request_is_filled_however_deep_its_places_are() -> None:
    template = {"to": ["{who}", {"text": "Dear {who}"}], "tries": 3}
    assert fill_template(template, {"who": "Ann"}) == {"to": ["Ann", {"text": "Dear Ann"}], "tries": 3}


def test_each_kind_needs_only_its_own_library_and_a_run_without_tables_needs_none() -> None:
    program = (
        "import sys; sys.modules |= dict.fromkeys(('httpx', 'mcp', 'mcp_types'))\n"
        "from pathlib import Path; import instrc; from instrc.runtime.served_activities import served\n"
        "assert instrc.run('@{ title: \"Draft\", type: \"object\" }', 'x', model='sample').status == 'done'\n"
        "for table in ({'url': 'http://localhost/x'}, {'mcp': 'server'}):\n"
        "    try: served('A_Activity', table, Path())\n"
        "    except instrc.InstrcError as error: print(error.problems[0].name, error.problems[0].extra)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["missing-extra", "http", "missing-extra", "mcp"], done.stderr
