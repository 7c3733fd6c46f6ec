"""The pages in Chromium: axe finds nothing, a telephone shows all of them, the keyboard is enough, no request goes elsewhere."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import which
from typing import Any
from urllib.parse import urlsplit

import pytest
import uvicorn
from serving import service
from written_processes import chunk, process, step

from instrc.server.http import app_of  # the room behind its commands
from instrc.server.inbox import Inbox  # the room behind its commands
from instrc.server.studio import Studio  # the room behind its commands

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
CHROMIUM = which("chromium") or which("chromium-browser")
pytestmark = [pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium"), pytest.mark.long]

GUEST = {"type": "object", "properties": {"name": {"type": "string", "maxLength": 60}, "day": {"type": "string", "format": "date"}}, "required": ["name"]}  # fmt: skip  # noqa: E501  # one row
SCHEMA = {
    "title": "Approve the letter",
    "type": "object",
    "properties": {
        "decision": {"enum": ["Approve", "Reject"]},
        "guests": {"type": "array", "items": GUEST},
        "note": {"type": ["string", "null"], "description": "What to change."},
        "place": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        "more": {},
    },
    "required": ["decision", "note"],
}
LETTER = process(userContext1=chunk(step1_approve=step(SCHEMA, "prompt")))

APPROVE = 'answer:/data/decision "Approve"'
"""The button that approves."""


@contextmanager
def served(place: Path) -> Iterator[str]:
    """Serve the pages of a project, and return the address that opens them."""
    made = service(place / ".instrc", letter=LETTER)
    studio = Studio(place, made)
    listening = socket.create_server(("127.0.0.1", 0))
    app = app_of(made, identify=studio.identify, routes=[*studio.routes, *Inbox(made).routes])
    server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
    thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listening])))
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/studio/open/{studio.token}"
    finally:
        server.should_exit = True
        thread.join(30)
        studio.close()


@contextmanager
def browser(width: int, scheme: str = "light") -> Iterator[tuple[Any, set[str]]]:
    """Open a page of a width; the hosts that it asks are noted."""
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = chromium.new_context(viewport={"width": width, "height": 850}, color_scheme=scheme).new_page()
        hosts: set[str] = set()
        page.on("request", lambda request: hosts.add(urlsplit(request.url).netloc))
        yield page, hosts
        chromium.close()


@pytest.mark.parametrize(("width", "scheme"), [(400, "light"), (400, "dark"), (1400, "light"), (1400, "dark")])
def test_axe_finds_nothing_and_nothing_is_cut_off(tmp_path: Path, width: int, scheme: str) -> None:
    (tmp_path / "letter.aug").write_text("Drafft(prompt);\n")

    def looked_at(page: Any) -> None:
        found = [(each["id"], [node["html"] for node in each["nodes"]]) for each in axe.Axe().run(page).response["violations"]]
        assert (page.url, found) == (page.url, [])
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), page.url

    with served(tmp_path) as address, browser(width, scheme) as (page, hosts):
        base = address.partition("/studio")[0]
        page.goto(address)
        page.wait_for_selector("#problems li")
        page.wait_for_selector("#view:not([aria-busy])")
        looked_at(page)
        page.goto(f"{base}/inbox/start/letter")
        looked_at(page)
        page.fill("textarea", "Ann comes")
        page.click("button.primary")
        page.wait_for_selector(".picture svg")
        looked_at(page)
        page.click("button[value='edit']")
        page.wait_for_selector("#edit")
        looked_at(page)
        page.goto(f"{base}/inbox")
        looked_at(page)
        page.click(".cards a")
        looked_at(page)
        page.click(f"button[value='{APPROVE}']")
        page.wait_for_function("document.activeElement.name == '/data/note'")
        looked_at(page)
        page.click("button[value='add:/data/guests']")
        page.wait_for_function("document.activeElement.name == '/data/guests/0/name'")
        looked_at(page)
        page.goto(f"{base}/inbox/question/none:none")
        looked_at(page)
        page.goto(f"{base}/inbox/runs")
        looked_at(page)
        assert hosts == {urlsplit(base).netloc}


@pytest.mark.parametrize(
    ("language", "width", "said"),
    [
        ("en", 1400, ["fill this in", "write a number, such as 12 or 2.5"]),
        ("ru", 360, ["это нужно заполнить", "напишите число, например 12 или 2,5"]),
    ],
)
def test_what_is_wrong_is_said_where_the_keyboard_begins(tmp_path: Path, language: str, width: int, said: list[str]) -> None:
    here = """[document.activeElement].map(a => [a.name, a.getAttribute('aria-invalid'),
        ...(a.getAttribute('aria-describedby') || '').split(' ').map(id => document.getElementById(id)?.innerText)])[0]"""
    with served(tmp_path) as address, browser(width) as (page, _):
        page.context.set_extra_http_headers({"Accept-Language": language})
        page.goto(address)
        page.goto(f"{address.partition('/studio')[0]}/inbox/start/letter")
        page.fill("textarea", "Ann comes")
        page.click("button.primary")
        page.goto(f"{address.partition('/studio')[0]}/inbox")
        page.click(".cards a")

        def sent(button: str) -> tuple[Any, list[str]]:
            with page.expect_navigation():
                page.click(f"button[value='{button}']:visible")
            assert [each["id"] for each in axe.Axe().run(page).response["violations"]] == []
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            return page.evaluate(here), [each.inner_text() for each in page.query_selector_all(".summary li")]

        found, listed = sent("check")
        assert (found[0], found[-1]) == ("/data/note", said[0])
        assert [each.rpartition(": ")[2] for each in listed] == [said[0], said[0]]
        page.check("input[name='null:/data/note']")
        assert sent("pick:kind:/data/place 1")[0][0] == "/data/place", "the fields of what is chosen are there"
        page.keyboard.type("many")
        found, listed = sent(APPROVE)
        assert found == ["/data/place", "true", said[1]]
        assert len(listed) == 1


def test_the_keyboard_is_enough(tmp_path: Path) -> None:
    with served(tmp_path) as address, browser(400) as (page, _):
        base = address.partition("/studio")[0]

        here = "(([a]) => a.tagName == 'BUTTON' ? a.value : a.name || a.innerText)([document.activeElement])"

        def press(name: str, *keys: str) -> None:
            """Go by Tab to a field, a button of a value, or a link, and press keys there."""
            for _ in range(60):
                if page.evaluate(here) == name:
                    break
                page.keyboard.press("Tab")
            else:
                raise AssertionError((name, page.url))
            for key in keys:
                page.keyboard.press(key)

        page.goto(address)
        page.goto(f"{base}/inbox/start/letter")
        press("/data/prompt", "A")
        with page.expect_navigation():
            press("answer", "Enter")
        page.goto(f"{base}/inbox")
        with page.expect_navigation():
            press("Approve the letter", "Enter")
        with page.expect_navigation():
            press("add:/data/guests", "Enter")
        page.keyboard.type("Ann")
        with page.expect_navigation():
            page.keyboard.press("Enter")  # in a field it only checks
        assert page.url.endswith(":userContext1")
        press("null:/data/note", "Space")
        press("/comment", "x")
        with page.expect_navigation():
            press(APPROVE, "Enter")
        assert page.url == f"{base}/inbox?done=answered"
