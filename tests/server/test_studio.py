"""The studio over HTTP: what the editor is told, which files it changes, what it refuses."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from socket import socket
from typing import Any

import httpx
import pytest
from msgspec.structs import asdict
from serving import go, service, settled
from temporal_server import free_port

from instrc.cli import main
from instrc.problems.report import Report
from instrc.server import hosting  # the room behind its commands
from instrc.server.http import app_of  # the room behind its commands
from instrc.server.inbox import Inbox  # the room behind its commands
from instrc.server.studio import COOKIE, Studio  # the room behind its commands
from instrc.testing.evaluation.dataset import read_data_set

PROGRAM = "const draft = Draft(prompt);\nApprove_User(draft);\n"
DRAFT = '{"title": "Draft", "type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}\n'
APPROVE = '{"title": "Approve", "type": "object", "properties": {"decision": {"enum": ["Approve", "Reject"]}}, "required": ["decision"]}\n'  # fmt: skip  # noqa: E501  # one vibe

Test = Callable[[httpx.AsyncClient, Studio], Awaitable[None]]


def studio(place: Path, test: Test, *, cookie: bool = True) -> None:
    """Do something with the studio of a small project."""
    (place / "schemas").mkdir()
    (place / "letter.aug").write_text(PROGRAM)
    (place / "schemas" / "draft.vibe.json").write_text(DRAFT)
    (place / "schemas" / "approve_User.vibe.json").write_text(APPROVE)

    async def body() -> None:
        made = service(place / ".instrc")
        page = Studio(place, made)
        app = app_of(made, identify=page.identify, routes=[*page.routes, *Inbox(made).routes])
        cookies = {COOKIE: page.token} if cookie else {}
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(
                transport=httpx.ASGITransport(app), base_url="http://localhost", timeout=60, cookies=cookies
            ) as http,
        ):
            await test(http, page)
        page.close()

    go(body())


async def post(http: httpx.AsyncClient, name: str, **body: Any) -> Any:
    made = await http.post(f"/studio/{name}", json=body)
    assert made.status_code == 200, made.text
    return made.json()


def test_the_store_of_the_command_is_where_the_user_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    places: list[str] = []

    def service_at(_tools: object, _engine: object, place: str, _hub: object) -> None:
        places.append(place)

    async def served(_service: object, _host: str, listener: socket, *_: object, **__: object) -> None:
        listener.close()

    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(hosting, "service_at", service_at)
    monkeypatch.setattr(hosting, "serve", served)
    monkeypatch.setattr(Studio, "close", lambda _: None)
    assert main(["studio", "project", "--store", "runs", "--engine", "memory", "--port", str(free_port())]) == 0
    assert places == [str(tmp_path / "runs")]


def test_problems_fixes_and_completions_are_those_of_the_language_server(tmp_path: Path) -> None:
    async def test(http: httpx.AsyncClient, _page: Studio) -> None:
        text = "// \U0001f600\n" + PROGRAM.replace("Draft(", "Drafft(")
        found = await post(http, "check", path="letter.aug", text=text)
        first = next(each for each in found if each["fixes"])
        assert text[first["from"] : first["to"]] == "Drafft"
        edit = first["fixes"][0]["edits"][0]
        assert (text[: edit["from"]] + edit["text"] + text[edit["to"] :]).splitlines()[1] == "const draft = Draft(prompt);"
        offered = await post(http, "complete", path="letter.aug", text="const draft = D", offset=15)
        assert "Draft" in [each["text"] for each in offered]

    studio(tmp_path, test)


def test_it_writes_only_what_it_has_read(tmp_path: Path) -> None:
    async def test(http: httpx.AsyncClient, _page: Studio) -> None:
        assert (await http.get("/studio/files")).json() == [
            "letter.aug",
            "schemas/approve_User.vibe.json",
            "schemas/draft.vibe.json",
        ]
        read = (await http.get("/studio/file?path=letter.aug")).json()
        await post(http, "write", path="letter.aug", text="Draft(prompt);\n", digest=read["digest"])
        assert (tmp_path / "letter.aug").read_text() == "Draft(prompt);\n"
        late = await http.post("/studio/write", json={"path": "letter.aug", "text": "", "digest": read["digest"]})
        assert (late.status_code, late.json()["name"]) == (412, "state-changed")
        await post(http, "write", path="new/other.aug", text="", digest=None)
        assert (tmp_path / "new" / "other.aug").exists()

    studio(tmp_path, test)


@pytest.mark.parametrize(
    "path",
    [
        "../x.aug",
        "/etc/x.aug",
        "a/../../x.aug",
        "schemas/../../x.aug",
        "x.py",
        "",
        ".git/x.aug",
        "a\0.aug",
        "link.aug",
        "out/x.aug",
        "..",
        7,
    ],
)
@pytest.mark.parametrize("verb", ["write", "check", "complete", "show", "prepare", "case"])
def test_no_other_file_is_reached(tmp_path: Path, path: Any, verb: str) -> None:
    inside, outside = tmp_path / "project", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    (outside / "x.aug").write_text("secret")
    (inside / "link.aug").symlink_to(outside / "x.aug")
    (inside / "out").symlink_to(outside)
    (inside / "gone.aug").symlink_to(outside / "gone.aug")

    async def test(http: httpx.AsyncClient, _page: Studio) -> None:
        body = {"path": path, "text": "changed", "digest": None, "offset": 0, "view": "schema"}
        made = await http.post(f"/studio/{verb}", json=body)
        assert (made.status_code, made.json()["name"]) == (400, "invalid-request")
        assert (outside / "x.aug").read_text() == "secret"
        assert not (tmp_path / "x.aug").exists()
        assert "link.aug" not in (await http.get("/studio/files")).json()

    studio(inside, test)


@pytest.mark.parametrize(
    "path", ["/studio", "/studio/files", "/studio/file?path=letter.aug", "/studio/graph?path=letter.aug", "/inbox", "/v1/runs"]
)
def test_only_who_opened_the_printed_address_is_let_in(tmp_path: Path, path: str) -> None:
    async def test(http: httpx.AsyncClient, page: Studio) -> None:
        assert (await http.get(path)).status_code == 401
        assert (await http.post("/studio/write", json={"path": "letter.aug", "text": ""})).status_code == 401
        assert (await http.get("/studio/open/wrong")).status_code == 401
        opened = await http.get(f"/studio/open/{page.token}")
        assert (opened.status_code, opened.headers["location"]) == (303, "/studio")
        assert {"HttpOnly", "SameSite=strict"} <= {part.strip() for part in opened.headers["set-cookie"].split(";")}

    studio(tmp_path, test, cookie=False)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 400),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Content-Type": "text/plain"}, 400),
        ({"Sec-Fetch-Site": "same-origin"}, 200),
    ],
)
def test_no_other_page_uses_it(tmp_path: Path, headers: dict[str, str], status: int) -> None:
    async def test(http: httpx.AsyncClient, _page: Studio) -> None:
        made = await http.post("/studio/check", json={"path": "letter.aug", "text": ""}, headers=headers)
        assert made.status_code == status

    studio(tmp_path, test)


def test_views_show_what_the_commands_show(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[tuple[str, ...]] = []
    execute = asyncio.create_subprocess_exec

    async def noted(*words: str, **more: Any) -> asyncio.subprocess.Process:
        given.append(words)
        return await execute(*words, **more)

    monkeypatch.setattr("asyncio.create_subprocess_exec", noted)

    async def test(http: httpx.AsyncClient, page: Studio) -> None:
        schema = await post(http, "show", path="letter.aug", view="schema", target="")
        assert schema == asdict(await page.command("compile", "letter.aug"))
        assert '"userContext1"' in schema["output"]
        preview = await post(http, "show", path="letter.aug", view="preview", target="openai")
        assert "tokens" in preview["output"]
        typed = await post(http, "show", path="letter.aug", view="preview", target="", input="--full Ann comes")
        assert "--full Ann comes" in typed["output"]
        assert not [word for words in given for word in words if "Ann" in word], "other users read the words of a command"
        for wrong in ("\0", "x" * 200_000):  # what no command can be given
            sent = {"path": "letter.aug", "view": "preview", "target": {}, "input": wrong}
            assert (await http.post("/studio/show", json=sent)).status_code == 400
        graph = await http.get("/studio/graph?path=letter.aug")
        assert "<svg" in graph.text
        assert graph.headers["content-security-policy"].startswith("sandbox allow-scripts;")
        (tmp_path / "letter.aug").write_text("Drafft(")
        assert (await http.get("/studio/graph?path=letter.aug")).status_code == 204, "the frame keeps its graph"
        assert "see the list of problems" in (await http.get("/studio/graph?path=letter.aug&first=yes")).text
        (tmp_path / "letter.aug").write_text("Draft(prompt);\n")
        compared = await post(http, "show", path="letter.aug", view="compare", target="")
        assert "it was a process and is a tool" in compared["output"]
        await post(http, "keep")
        assert "nothing has changed" in (await post(http, "show", path="letter.aug", view="compare", target=""))["output"]

    studio(tmp_path, test)


def test_a_run_begins_with_the_form_of_the_program_on_disk_and_is_kept_as_a_case(tmp_path: Path) -> None:
    async def test(http: httpx.AsyncClient, page: Studio) -> None:
        assert await post(http, "prepare", path="letter.aug", rehearse=True) == {"program": "letter"}
        form = await http.get("/inbox/start/letter")
        assert 'name="/data/prompt"' in form.text
        assert "frame-ancestors 'self'" in form.headers["content-security-policy"]
        begun = await http.post("/inbox/start/letter", data={"/data/prompt": "Ann comes", "do": "answer"})
        first = begun.headers["location"].rpartition("/")[2]
        await settled(page.service, first, "waiting")
        refused = await http.post("/studio/case", json={"path": "letter.aug", "run": first, "kind": "test"})
        assert refused.status_code == 400, "it has not ended"
        (tmp_path / "letter.aug").write_text("Draft(prompt);\n")
        await post(http, "prepare", path="letter.aug", rehearse=True)
        begun = await http.post("/inbox/start/letter", data={"/data/prompt": "Ann comes", "do": "answer"})
        second = begun.headers["location"].rpartition("/")[2]
        await settled(page.service, second, "done")
        for kind, file in (("test", "letter.cases.md"), ("eval", "letter.eval.jsonl"), ("test", "letter.cases.md")):
            assert await post(http, "case", path="letter.aug", run=second, kind=kind) == {"file": file}
        assert (tmp_path / "letter.cases.md").read_text().count(f"## {second}") == 1, "once"
        assert (await page.command("test", "letter.cases.md")).told == "1 passed\n"
        [line] = (tmp_path / "letter.eval.jsonl").read_text().splitlines()
        case = json.loads(line)
        assert (case["id"], case["input"], case["answers"]) == (second, {"prompt": "Ann comes"}, {})
        report = Report()
        data = read_data_set(str(tmp_path / "letter.eval.jsonl"), report)
        assert data is not None
        assert not report.failed
        assert [each.expected for each in data.cases] == [case["expected"]]

    studio(tmp_path, test)
