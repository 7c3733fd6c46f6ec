"""The pages in Chromium: axe finds nothing, a telephone shows all of them, the keyboard is enough, no request goes elsewhere."""

from __future__ import annotations

import asyncio
import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import which
from typing import Any, get_args
from urllib.parse import urlsplit

import pytest
import uvicorn
from serving import BOSS, service
from written_processes import TEXT, call, chunk, each, process, step

from instrc.engines.equip import LocalObjects, equip  # a service of Python objects
from instrc.engines.hosts import engine_of  # as above
from instrc.engines.launch import Launcher  # as above
from instrc.engines.prepare import Prepared  # as above
from instrc.engines.run_table import ChangeKind  # every kind is listened for
from instrc.runtime.activities import Activities
from instrc.runtime.traces import EventKind  # every kind is listened for
from instrc.server import inbox  # its script
from instrc.server.http import app_of  # the room behind its commands
from instrc.server.identity import Identity  # the room behind its commands
from instrc.server.inbox import Inbox  # the room behind its commands
from instrc.server.records import Records  # the room behind its commands
from instrc.server.run_service import RunService  # the room behind its commands
from instrc.server.streams import Hub  # the room behind its commands
from instrc.server.studio import Studio  # the room behind its commands
from instrc.vibes.settings import Settings

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
        thread.join(60)
        studio.close()


@contextmanager
def listening_in_a_thread(app: Any, begin: Any) -> Iterator[tuple[str, asyncio.AbstractEventLoop]]:
    """Serve an app on a loop of its own, where something is done first; its address and the loop are given."""
    listening, ready, loops = socket.create_server(("127.0.0.1", 0)), threading.Event(), []
    server = uvicorn.Server(uvicorn.Config(app, log_level="error"))

    async def body() -> None:
        loops.append(asyncio.get_running_loop())
        task = asyncio.create_task(server.serve(sockets=[listening]))
        for _ in range(1000):
            await asyncio.sleep(0.01)
            if server.started:
                break
        await begin()
        ready.set()
        await task

    thread = threading.Thread(target=lambda: asyncio.run(body()))
    thread.start()
    try:
        assert ready.wait(60)
        yield f"http://127.0.0.1:{listening.getsockname()[1]}", loops[0]
    finally:
        server.should_exit = True
        thread.join(60)


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
        page.goto(f"{base}/inbox/components")
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


FIVE: dict[str, Any] = {
    "choice": {
        "title": "Возврат?",
        "type": "object",
        "properties": {"decision": {"enum": ["Да", "Нет"]}},
        "required": ["decision"],
    },
    "sum": {
        "title": "Сколько вернуть?",
        "type": "object",
        "properties": {"euros": {"title": "Сумма", "type": "number", "maximum": 5000}},
        "required": ["euros"],
    },
    "draft": {
        "title": "Письмо",
        "type": "object",
        "properties": {"prompt": {"title": "Текст", "type": "string"}, "decision": {"enum": ["Послать", "Нет"]}},
        "required": ["decision", "prompt"],
    },
    "guests": {
        "title": "Гости",
        "type": "object",
        "properties": {"names": {"title": "Имена", "type": "array", "items": {"type": "string", "maxLength": 40}, "minItems": 1}},
        "required": ["names"],
    },
    "where": {
        "title": "Где?",
        "type": "object",
        "properties": {
            "place": {
                "title": "Место",
                "oneOf": [
                    {
                        "title": "По адресу",
                        "type": "object",
                        "properties": {"street": {"type": "string"}},
                        "required": ["street"],
                    },
                    {"title": "По телефону", "type": "string", "pattern": "^[+]7", "examples": ["+7 900 000"]},
                ],
            }
        },
        "required": ["place"],
    },
}
"""A question of each kind, for somebody in an office."""


@pytest.mark.parametrize("scripts", [True, False])
def test_an_office_worker_answers_on_a_telephone(tmp_path: Path, scripts: bool) -> None:  # noqa: FBT001  -- a column
    """Five kinds of questions in Russian, a mistake in each that can have one, a conflict, and a session that ends."""
    programs = {name: process(userContext1=chunk(step1_ask=step(schema, "prompt"))) for name, schema in FIVE.items()}
    made = service(tmp_path / ".instrc", **programs)
    identity = Identity(made.records, made.settings, made.signer)
    key = identity.new_key("ann", ["admin"])
    runs = {}

    async def begin() -> None:
        for name in FIVE:
            runs[name] = (await made.start(BOSS, name, "Торт приехал разбитым.", wait=20)).report.run

    pages = Inbox(made, identity=identity).routes
    with listening_in_a_thread(app_of(made, identity=identity, routes=pages), begin) as (base, loop), browser(360) as (first, _):
        context = first.context.browser.new_context(
            viewport={"width": 360, "height": 780}, java_script_enabled=scripts, extra_http_headers={"Accept-Language": "ru"}
        )
        page = context.new_page()

        def answer(title: str, fill: Any, button: str, *, refused: str | None = None) -> None:
            page.goto(f"{base}/inbox")
            page.click(f"text={title}")
            fill()
            page.click(f"button[value^='{button}']:visible")
            if refused is None:
                assert "Ваш ответ записан" in page.inner_text("main"), page.inner_text("main")
            else:
                assert refused in page.inner_text("main"), page.inner_text("main")

        page.goto(f"{base}/inbox")
        page.fill("[name=key]", key)
        page.click("button.primary")
        assert page.inner_text("h1") == "Входящие"
        answer("Сколько вернуть?", lambda: page.fill("[name='/data/euros']", "9 000"), "answer", refused="не больше 5000")
        answer("Сколько вернуть?", lambda: page.fill("[name='/data/euros']", "1 250,50"), "answer")
        answer("Письмо", lambda: page.fill("[name='/data/prompt']", ""), "answer", refused="это нужно заполнить")
        answer("Письмо", lambda: page.fill("[name='/data/prompt']", "Простите!"), 'answer:/data/decision "Послать"')
        answer("Гости", lambda: None, "answer", refused="эта строка пуста")
        answer("Гости", lambda: page.fill("[name='/data/names/0']", "Аня"), "answer")

        def phone(text: str) -> None:
            page.click("button:has-text('По телефону')")
            page.fill("[name='/data/place']", text)

        answer("Где?", lambda: phone("8900"), "answer", refused="не в том виде")
        context.clear_cookies()  # the session ends while a form is open
        page.fill("[name='/data/place']", "+7 900 000")
        page.fill("[name='/comment']", "Звонить утром")
        page.click("button[value^='answer']:visible")
        assert "Вход закончился" in page.inner_text("main")
        page.fill("[name=key]", key)
        page.click("button.primary")
        page.click("button.primary")
        assert page.input_value("[name='/comment']") == "Звонить утром"
        page.click("button[value^='answer']:visible")
        assert "Ваш ответ записан" in page.inner_text("main")
        page.click("text=Возврат?")
        page.fill("[name='/comment']", "Согласна")
        asyncio.run_coroutine_threadsafe(made.answer(BOSS, runs["choice"], "userContext1", {"decision": "Нет"}), loop).result(20)
        page.click("button:has-text('Да')")
        assert "На это ответил(а) boss" in page.inner_text("main")
        assert "Согласна" in page.inner_text("main")
        page.goto(f"{base}/inbox")
        assert "Вас ничего не ждёт" in page.inner_text("main")
        page.click("text=Мои ответы")
        assert len(page.query_selector_all(".cards > li")) == 4


@pytest.mark.parametrize("scripts", [True, False])
def test_a_developer_mends_the_failed_one_of_500(tmp_path: Path, scripts: bool) -> None:  # noqa: FBT001  -- a column
    """They find the run by its error and the failed element, see why, retry, fork with another value, and compare the two."""
    mended = threading.Event()

    def look(number: int) -> dict[str, str]:
        if number == 301 and not mended.is_set():
            raise ValueError("no such order: 301")
        return {"text": f"order {number}"}

    def total(orders: list[Any]) -> dict[str, str]:
        return {"text": f"{len(orders)} orders, the last is {orders[-1]['text']}"}

    body = chunk(serverContext1=chunk(step1_look=call("Look_Activity", {"number": "item"}, {**TEXT, "title": "An order"})))
    review = {"title": "The review", "type": "object", "properties": {"text": {"title": "What to say", "type": "string"}}}
    document = process(
        eachContext1=each("item", 500, body, key="step2_each", value="step1_look"),
        serverContext2=chunk(step3_total=call("Total_Activity", {"orders": "step2_each"}, review)),
        serverContext3=chunk(step4_note=call("Note_Activity", {"of": "step3_total"}, {**TEXT, "title": "The note"})),
    )
    activities = Activities({"Look_Activity": look, "Total_Activity": total, "Note_Activity": lambda of: {"text": of["text"]}})
    local, hub = LocalObjects(activities=activities), Hub()
    launchers = {"many": Launcher(Prepared("many", document, tmp_path, Settings()), local=local)}
    engine = engine_of("memory", tmp_path, equip=lambda *given: equip(*given, local), watch=hub.saw)
    made = RunService(launchers, engine, Records(None), hub=hub)
    runs: list[str] = []

    async def begin() -> None:
        runs.append((await made.start(BOSS, "many", {}, wait=60)).report.run)

    with listening_in_a_thread(app_of(made, routes=Inbox(made).routes), begin) as (base, _), browser(1280) as (first, _):
        page = first.context.browser.new_context(java_script_enabled=scripts).new_page()

        def seen() -> str:
            if scripts:
                assert [each["id"] for each in axe.Axe().run(page).response["violations"]] == []
            return str(page.inner_text("main"))

        page.goto(f"{base}/inbox/runs?status=failed")
        page.fill("[name=q]", "no such order")
        page.click(".search button")
        page.click(f"text={runs[0]}")
        assert "no such order: 301" in seen()
        assert "1 failed" in seen()
        frame = page.query_selector(".picture .step.failed > .frame")
        assert frame.evaluate("it => getComputedStyle(it).strokeWidth") == "3px", "the failed step stands out"
        page.click("a:has-text('failed (1)')")
        assert [each.inner_text().split("failed")[0].strip() for each in page.query_selector_all("#step ~ .span summary")] == [
            "Element 301"
        ]
        mended.set()
        page.click("button[value=retry].primary")
        for _ in range(120):
            if page.inner_text("h1 .status") == "done":
                break
            page.wait_for_timeout(500)
            page.goto(f"{base}/inbox/runs/{runs[0]}")
        assert page.inner_text("h1 .status") == "done"
        assert "500 done" in seen()
        assert "500 orders, the last is order 500" in page.inner_text("#result ~ *")
        page.click("li:has-text('The review') button[value=edit]")
        seen()
        page.fill("[name='/data/text']", "Nothing was late.")
        page.click("button.primary:has-text('Begin')")
        page.click("text=Compare with it")
        assert page.inner_text("h1 .status") == "done"
        assert page.inner_text("#compared ~ .card h3") == "The review"
        differs = page.inner_text("section[aria-labelledby=compared]")
        assert "The note" in differs
        assert "Nothing was late." in differs
        assert "500 orders" in differs
        assert "An order" not in differs
        seen()
        page.click(f"#compared ~ .card a:has-text('{runs[0]}')")
        assert page.inner_text(".facts dd") == runs[0]


def test_the_studio_draws_as_you_type_and_runs_with_a_form(tmp_path: Path) -> None:
    """A graph follows the text, a run begins with its form and shows its page, and one click keeps it as a case."""
    text = '@{ title: "Write it", type: "object", properties: { text: { type: "string" } } }\n'
    (tmp_path / "letter.aug").write_text(text)
    with served(tmp_path) as address, browser(1400) as (page, hosts):
        page.goto(address)
        graph, frame = page.frame_locator("#graph"), page.frame_locator("#page")
        playwright.expect(graph.locator(".step")).to_contain_text("Write it", timeout=60_000)
        page.fill("#text", text.replace("Write", "Say"))
        playwright.expect(graph.locator(".step")).to_contain_text("Say it", timeout=60_000)
        page.fill("#text", "@{ title: ")
        playwright.expect(page.locator("#problems li.error")).not_to_have_count(0, timeout=60_000)
        playwright.expect(graph.locator(".step")).to_contain_text("Say it")
        page.fill("#text", text.replace("Write", "Say"))
        playwright.expect(page.locator("#problems li.error")).to_have_count(0, timeout=60_000)
        page.click("#tab-runs")
        frame.locator("textarea").fill("Ann comes")
        frame.locator("button.primary").click()
        playwright.expect(frame.locator("h1 .status")).to_have_text("done", timeout=60_000)
        assert [each["id"] for each in axe.Axe().run(page).response["violations"]] == []
        page.click("#case")
        playwright.expect(page.locator("#standing")).to_have_text("kept in letter.cases.md", timeout=60_000)
        assert "Ann comes" in (tmp_path / "letter.cases.md").read_text()
        assert hosts == {urlsplit(address).netloc}


def test_the_inbox_and_the_page_of_a_run_go_on_by_themselves(tmp_path: Path) -> None:
    """Nothing is replaced while a person types; the script listens for every kind of event."""
    made = service(tmp_path / ".instrc", letter=LETTER)
    runs: list[str] = []

    async def begin() -> None:
        runs.append((await made.start(BOSS, "letter", "Ann comes", wait=20)).report.run)

    app = app_of(made, routes=Inbox(made).routes)
    with listening_in_a_thread(app, begin) as (base, loop), browser(1280) as (page, hosts):

        def there(work: Any) -> Any:
            return asyncio.run_coroutine_threadsafe(work, loop).result(60)

        wrong: list[str] = []
        page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
        page.goto(f"{base}/inbox")
        assert page.title().startswith("(1) ")
        there(begin())
        playwright.expect(page).to_have_title(re.compile(r"^\(2\) "), timeout=60_000)
        assert len(page.query_selector_all(".cards > li")) == 2
        page.goto(f"{base}/inbox/runs/{runs[0]}")
        assert page.inner_text("h1 .status") == "waiting"
        page.focus("button[value=cancel]")
        there(made.answer(BOSS, runs[0], "userContext1", {"decision": "Approve", "note": "Gladly"}))
        page.wait_for_timeout(1500)
        assert page.inner_text("h1 .status") == "waiting", "a focused button stays"
        page.focus("nav a")
        playwright.expect(page.locator("h1 .status")).to_have_text("done", timeout=60_000)
        assert "Gladly" in page.inner_text("#result ~ *")
        assert page.inner_text("p[role=status]") == "done"
        assert wrong == []
        assert hosts == {urlsplit(base).netloc}
    script = (Path(inbox.__file__).parent / "pages" / "live.js").read_text(encoding="utf-8")
    kinds = set(get_args(EventKind)) | {kind.partition(".")[2] for kind in get_args(ChangeKind)}
    assert kinds <= set(re.findall(r'"([a-z]+)"', script))
