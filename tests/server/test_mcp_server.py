"""Tools and processes over the Model Context Protocol, asked by the protocol's own client."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp")

from mcp.client import Client
from mcp.client.stdio import StdioServerParameters

from instrc.cli import main
from instrc.problems.errors import SettingsError
from instrc.server.exchange import answer_of  # how an answer that comes as text is read

LETTER = {
    "type": "object",
    "properties": {"_why": {"type": "string"}, "days": {"type": "integer", "minimum": 1}},
    "required": ["_why", "days"],
}
DRAFT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
CONFIRM = {"type": "object", "properties": {"decision": {"enum": ["Approve", "Reject"]}}, "required": ["decision"]}
SEND = {
    "type": "object",
    "properties": {"output": {"type": "object", "properties": {"sent": {"type": "boolean"}}}},
    "required": ["output"],
}

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "schemas").mkdir()
    for name, schema in {"letter": LETTER, "draft": DRAFT, "confirm_User": CONFIRM, "send_Activity": SEND}.items():
        (tmp_path / "schemas" / f"{name}.vibe.json").write_text(json.dumps(schema), encoding="utf-8")
    (tmp_path / "count-days.aug").write_text("tool CountDays = Letter(prompt)", encoding="utf-8")
    (tmp_path / "mail.aug").write_text(
        "const draft = Draft(prompt);\nconst answer = Confirm_User(draft);\n"
        'tool SendMail = when answer.decision is "Approve" { Send_Activity(draft) }\n',
        encoding="utf-8",
    )
    return tmp_path


def server(folder: Path, *more: str) -> StdioServerParameters:
    words = ["-m", "instrc", "mcp", "count-days.aug", "mail.aug", "--model", "sample", "--rehearse", "--engine", "memory", *more]
    return StdioServerParameters(command=sys.executable, args=words, cwd=str(folder))


def asked(address: Any, work: Callable[[Client], Awaitable[Any]]) -> Any:
    async def play() -> Any:
        async with Client(address) as client:
            return await work(client)

    return asyncio.run(asyncio.wait_for(play(), 60))


async def settled(client: Client, run: str, status: str) -> dict[str, Any]:
    for _ in range(300):
        found = (await client.call_tool("run_status", {"run": run})).structured_content
        if found["status"] == status:
            return dict(found)
        await asyncio.sleep(0.05)
    pytest.fail(f"the run did not become {status}: {found}")


async def whole(client: Client) -> dict[str, Any]:
    """Go the whole way: list, fill in a tool, start a process, answer its question."""
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    filled = await client.call_tool("CountDays", {"_why": "it says so", "days": 3})
    wrong = await client.call_tool("CountDays", {"_why": "it says so", "days": 0})
    begun = (await client.call_tool("SendMail", {"prompt": "Write to Ann."})).structured_content
    await settled(client, begun["run"], "waiting")
    questions = (await client.call_tool("open_questions", {"run": begun["run"]})).structured_content["questions"]
    refused = await client.call_tool("answer", {"run": begun["run"], "step": questions[0]["id"], "data": {"decision": "Maybe"}})
    text = '{"decision": "Approve"}'  # the inspector's command line sends text where a schema names no type
    await client.call_tool("answer", {"run": begun["run"], "step": questions[0]["id"], "data": text})
    done = await settled(client, begun["run"], "done")
    again = await client.call_tool("answer", {"run": begun["run"], "step": questions[0]["id"], "data": {"decision": "Approve"}})
    unknown = await client.call_tool("run_status", {"run": "nothing"})
    return {
        "tools": tools,
        "filled": filled,
        "wrong": wrong,
        "begun": begun,
        "questions": questions,
        "refused": refused,
        "done": done,
        "again": again,
        "unknown": unknown,
    }


def check(seen: dict[str, Any]) -> None:
    assert set(seen["tools"]) == {"CountDays", "SendMail", "run_status", "open_questions", "answer", "cancel_run"}
    assert list(seen["tools"]["CountDays"].input_schema["properties"]) == ["_why", "days"]
    assert seen["tools"]["SendMail"].input_schema["required"] == ["prompt"]
    assert seen["filled"].structured_content == {"days": 3}
    assert list(seen["tools"]["CountDays"].output_schema["properties"]) == ["days"]
    assert all(tool.output_schema is not None for tool in seen["tools"].values())  # the client holds each answer to it
    assert seen["wrong"].is_error
    assert "/days" in seen["wrong"].content[0].text
    assert seen["begun"]["status"] in {"running", "waiting"}, "it may be as far as its question already"
    assert seen["questions"][0]["schema"]["properties"]["decision"]["enum"] == ["Approve", "Reject"]
    assert seen["refused"].is_error
    assert seen["again"].is_error
    assert seen["unknown"].is_error
    assert "sent" in json.dumps(seen["done"])


def test_a_client_over_standard_input_goes_the_whole_way(folder: Path) -> None:
    check(asked(server(folder), whole))


def test_a_client_that_has_said_all_gets_its_responses(folder: Path) -> None:
    info = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "shell", "version": "1"}}
    called = {"name": "SendMail", "arguments": {"prompt": "write"}}
    said = [
        {"id": 1, "method": "initialize", "params": info},
        {"method": "notifications/initialized"},
        {"id": "two", "method": "tools/list"},
        {"id": 3, "method": "tools/call", "params": called},
    ]
    text = "".join(json.dumps({"jsonrpc": "2.0", **each}) + "\n" for each in said)
    parameters = server(folder)
    words = [parameters.command, *parameters.args]
    done = subprocess.run(words, cwd=folder, input=text, capture_output=True, text=True, check=True, timeout=60)
    assert {json.loads(line)["id"] for line in done.stdout.splitlines()} == {1, "two", 3}, done.stderr


def test_an_activity_may_print(folder: Path) -> None:
    """The standard output is the client's; what is printed goes to the standard error."""
    code = 'import os\nprint("imported")\n'
    code += 'def send(mail):\n    print(mail)\n    os.system("echo sent")\n    return {"sent": True}\n'
    (folder / "mailing.py").write_text(code)
    (folder / "pyproject.toml").write_text('[tool.instrc.activities]\n"Send_Activity" = "mailing:send"\n')
    (folder / "send.aug").write_text("tool SendAll = Send_Activity(text: prompt) | Send_Activity;", encoding="utf-8")

    async def send(client: Client) -> Any:
        begun: Any = (await client.call_tool("SendAll", {"prompt": "x"})).structured_content
        return await settled(client, begun["run"], "done")

    words = ["-m", "instrc", "mcp", "send.aug", "--model", "sample", "--engine", "memory"]
    found = asked(StdioServerParameters(command=sys.executable, args=words, cwd=str(folder)), send)
    assert found["value"] == {"sent": True}


@pytest.mark.long
def test_a_client_over_http_goes_the_whole_way(folder: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    words = [sys.executable, *server(folder, "--http", str(port)).args]
    with subprocess.Popen(words, cwd=folder, stderr=subprocess.PIPE, text=True) as process:
        try:
            until = time.monotonic() + 60
            while time.monotonic() < until:
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.05)
            check(asked(f"http://127.0.0.1:{port}/mcp", whole))
        finally:
            process.terminate()
            process.communicate(timeout=60)


def test_two_programs_of_one_name_are_a_problem(folder: Path) -> None:
    from instrc.engines.prepare import prepare
    from instrc.server.mcp_runs import RunOffers

    program = prepare(str(folder / "count-days.aug"))
    with pytest.raises(SettingsError, match="CountDays"):
        RunOffers([program, program], runs_of(folder))


def runs_of(folder: Path, *files: str, name: str = "memory") -> Any:
    """Return the service of runs of some programs."""
    from instrc.engines.hosts import engine_of
    from instrc.engines.prepare import prepare
    from instrc.server.hosting import launchers_of, service_at
    from instrc.server.streams import Hub

    hub = Hub()
    engine = engine_of(name, folder / "store", watch=hub.saw)
    return service_at(launchers_of([prepare(str(folder / file)) for file in files], "sample", rehearse=True), engine, None, hub)


def test_a_program_with_problems_is_told_and_not_served(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    (folder / "broken.aug").write_text("Nobody", encoding="utf-8")
    assert main(["mcp", "broken.aug"]) == 1
    said = capfd.readouterr()
    assert "[unknown-name]" in said.err
    assert said.out == ""


def test_the_id_of_a_run_is_given_when_the_run_is_recorded(folder: Path) -> None:
    """A client may leave as soon as it has the id, and ask another server for the run."""
    from instrc.server.mcp_runs import RunOffers
    from instrc.server.offers import RefusedError  # the service, in the process of the test

    async def body() -> str:
        service = runs_of(folder, "mail.aug", name="durable")
        await service.begin()
        offers = RunOffers([], service)
        begun: Any = await offers.call("SendMail", {"prompt": "go"})
        report = await service.engine.show(begun["run"])
        while not (await service.engine.show(begun["run"])).questions:  # noqa: ASYNC110  -- the run has no event for it
            await asyncio.sleep(0.02)
        wrong = {"run": report.run, "step": "confirm", "data": '{"decision": "Maybe"}'}
        with pytest.raises(RefusedError, match='"Maybe" is not one of'):  # JSON as text is read, also where it does not fit
            await offers.call("answer", wrong)
        await service.close()
        await asyncio.to_thread(service.engine.close)
        service.records.close()
        return report.run

    assert asyncio.run(body()).startswith("SendMail")


@pytest.mark.parametrize(
    ("schema", "sent", "taken"),
    [
        (CONFIRM, {"decision": "Approve"}, {"decision": "Approve"}),
        (CONFIRM, '{"decision": "Approve"}', {"decision": "Approve"}),
        (CONFIRM, '{"decision": "Never"}', {"decision": "Never"}),
        (CONFIRM, '{"decision": ', '{"decision": '),
        ({"type": "integer"}, "3", 3),
        ({"type": "integer"}, "true", "true"),
        ({"type": "string"}, "3", "3"),
    ],
)
def test_an_answer_that_comes_as_text_is_read_as_the_question_asks(schema: Any, sent: Any, taken: Any) -> None:
    assert answer_of(sent, schema) == taken
