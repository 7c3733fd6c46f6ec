"""The pages for people, over HTTP: what they show, what their buttons do, and whom they refuse."""

from __future__ import annotations

import asyncio
import re
import sys
import threading
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from html import unescape
from importlib import import_module
from pathlib import Path
from time import time
from typing import Any, get_args
from unittest.mock import AsyncMock, Mock
from urllib.parse import quote

import httpx
import pytest
from listening import at_port
from msgspec.structs import replace
from serving import BOB, BOSS, CAT, LETTER, asking, client, go, person, service, settled
from sqlalchemy.exc import OperationalError
from starlette.routing import Route
from test_forms import ALLOWED, HOSTILE, Browser, table
from written_processes import DECISION, TEXT, call, chunk, process, step

from instrc.engines.launch import Launcher
from instrc.engines.prepare import Prepared
from instrc.engines.run_table import RunChange  # what a webhook is told
from instrc.problems import runs, serving  # those that pages have words for
from instrc.problems.errors import SettingsError
from instrc.problems.problem import Problem
from instrc.runtime.interpreter.documents import FailureKind  # each has words
from instrc.runtime.questions import Question  # the question of an operator
from instrc.server import hosting  # the addresses that protocols are given
from instrc.server.access import Caller  # the room behind its commands
from instrc.server.files import keep  # the room behind its commands
from instrc.server.form_data import NAMES, data_of  # what a button does
from instrc.server.forms import AnswerForm  # the room behind its commands
from instrc.server.http import app_of  # the service, in the process of the test
from instrc.server.identity import Identity  # the room behind its commands
from instrc.server.inbox import Inbox  # the room behind its commands
from instrc.server.templates import counted, languages, operator_schema, render, spoken  # the words that there are
from instrc.server.webhooks import Webhooks  # what it is given
from instrc.text.jsontext import dumps
from instrc.vibes.service_settings import LANGUAGES, PeopleSettings, ServiceSettings  # the room behind its commands
from instrc.vibes.settings import read_settings

PAGES = ALLOWED | {"body", "br", "dd", "details", "div", "dl", "dt", "blockquote", "code", "em", "h3", "head", "header", "html", "img", "link", "main", "meta", "nav", "ol", "pre", "section", "summary", "time", "title", "h4", "svg", "g", "defs", "marker", "path", "rect", "text"}  # fmt: skip  # noqa: E501
MANY = {
    "type": "object",
    "properties": {"decision": {"enum": ["Approve", "Reject"]}, "guests": {"type": "array", "items": {"type": "string"}}},
    "required": ["decision", "guests"],
}


def inbox(place: Path, test: Any, caller: Caller | None = None, settings: ServiceSettings | None = None, **programs: Any) -> Any:
    """Do something with the pages of a service, of which a run waits for an answer: its id is given too."""

    async def body() -> Any:
        made = service(place, settings=settings, **programs)
        async with client(made, caller, routes=Inbox(made).routes) as http:
            name = next(iter(made.launchers))
            started = await made.start(person("starter", "starter"), name, "Ann comes", wait=20)
            return await test(http, started.report.run)

    return go(body())


def asked(run: str) -> str:
    return f"/inbox/question/{run}:userContext1"


def test_who_is_only_asked_in_a_run_sees_how_it_stands(tmp_path: Path) -> None:
    async def test(http: httpx.AsyncClient, run: str) -> None:
        page = await http.get(f"/inbox/runs/{run}")
        assert page.status_code == 200, page.text
        assert asked(run) in page.text
        assert "Ann comes" not in page.text

    inbox(tmp_path, test, CAT)


def seen(response: httpx.Response, status: int = 200) -> Browser:
    assert response.status_code == status, response.text
    browser = Browser(response.text)
    policy, scripts = response.headers["content-security-policy"], [given for tag, given in browser.tags if tag == "script"]
    assert {tag for tag, _ in browser.tags} <= PAGES | {"script"}, response.text
    if scripts:  # lists, and a run that goes on: they are kept up to date
        assert [given["src"] for given in scripts] == ["/inbox/live.js"]
        assert policy.endswith("; script-src 'self'; connect-src 'self'")
    else:
        assert "script" not in policy
    return browser


def test_a_question_is_listed_shown_and_answered(tmp_path: Path) -> None:
    async def test(http: httpx.AsyncClient, run: str) -> None:
        assert asked(run) in (await http.get("/inbox")).text
        page = await http.get(asked(run))
        sent = {**seen(page).sent, "/comment": "Well said", "do": "answer"}
        refused = await http.post(asked(run), data=sent)
        assert seen(refused, 422).sent["/comment"] == "Well said"
        assert "fill this in" in refused.text
        done = await http.post(asked(run), data={**sent, "/data/decision": '"Approve"'})
        assert (done.status_code, done.headers["location"]) == (303, "/inbox?done=answered")
        told = (await http.get(f"/inbox/runs/{run}")).text
        assert "Well said" in told
        assert "local (on this machine)" in told
        assert seen(await http.post(asked(run), data=sent), 409)
        trace = await http.get(f"/inbox/runs/{run}/trace")
        assert trace.status_code == 200
        assert run in trace.text

    inbox(tmp_path, test)


def test_a_choice_of_few_is_buttons_that_answer(tmp_path: Path) -> None:
    async def test(http: httpx.AsyncClient, run: str) -> None:
        page = await http.get(asked(run))
        buttons = [found["value"] for tag, found in seen(page).tags if tag == "button" and found.get("name") == "do"]
        approve = 'answer:/data/decision "Approve"'
        assert [value for value in buttons if value and value.startswith("answer")] == [approve, 'answer:/data/decision "Reject"']
        done = await http.post(asked(run), data={**seen(page).sent, "do": approve})
        assert done.status_code == 303
        assert "Approve" in (await http.get("/inbox?show=done")).text

    inbox(tmp_path, test)


@pytest.mark.parametrize("language", LANGUAGES)
def test_whoever_answers_late_reads_who_was_quicker_and_keeps_what_they_wrote(tmp_path: Path, language: str) -> None:
    async def body() -> None:
        made = service(tmp_path)
        pages = Inbox(made).routes
        async with client(made, BOB, routes=pages) as bobs:
            run = (await made.start(BOSS, "letter", "Ann comes", wait=20)).report.run
            bobs.headers["accept-language"] = language
            sent = {**seen(await bobs.get(asked(run))).sent, "/comment": "A long thought", "do": "answer"}
            await made.answer(CAT, run, "userContext1", {"decision": "Approve"})
            late = await bobs.post(asked(run), data={**sent, "/data/decision": '"Reject"'})
            seen(late, 409)
            for part in ("cat", "A long thought", languages()[language]["closed_title"]):
                assert part in late.text
            assert "instrc show" not in late.text
            forged = await bobs.post(asked(run), data={**sent, "seen": "x"})
            assert "cat" not in forged.text

    go(body())


def test_a_comment_that_is_too_long_is_refused_and_not_cut(tmp_path: Path) -> None:
    async def test(http: httpx.AsyncClient, run: str) -> None:
        sent = {**seen(await http.get(asked(run))).sent, "/data/decision": '"Approve"', "/comment": "x" * 10_001, "do": "answer"}
        page = await http.post(asked(run), data=sent)
        assert seen(page, 400).sent["/comment"] == sent["/comment"]
        assert "a comment has at most 10,000 characters" in page.text

    inbox(tmp_path, test)


def test_back_after_an_answer_says_who_gave_it(tmp_path: Path) -> None:
    async def test(http: httpx.AsyncClient, run: str) -> None:
        sent = {**seen(await http.get(asked(run))).sent, "/data/decision": '"Approve"', "/comment": "Fine", "do": "answer"}
        await http.post(asked(run), data=sent)
        back = await http.get(asked(run))
        seen(back, 409)
        assert "You answered this on" in back.text
        assert "Fine" in back.text

    inbox(tmp_path, test)


def test_a_session_that_has_ended_loses_nothing(tmp_path: Path) -> None:
    async def body() -> None:
        made = service(tmp_path)
        identity = Identity(made.records, made.settings, made.signer)
        key = identity.new_key("boss", ["admin"])
        async with client(made, identity=identity, routes=Inbox(made, identity=identity).routes) as http:
            run = (await made.start(BOSS, "letter", "Ann comes", wait=20)).report.run
            typed = {"/data/decision": '"Reject"', "/comment": "<b>A long thought</b>", "do": "answer"}
            page = seen(await http.post(asked(run), data=typed), 401)
            assert page.sent["kept /comment"] == "<b>A long thought</b>"
            wrong = seen(await http.post(f"/inbox/login?next={quote(asked(run))}", data={**page.sent, "key": "ik_1_2"}), 401)
            assert wrong.sent["kept /comment"] == "<b>A long thought</b>"
            entered = await http.post(f"/inbox/login?next={quote(asked(run))}", data={**wrong.sent, "key": key})
            cookie = {"cookie": entered.headers["set-cookie"].partition(";")[0]}
            back = seen(await http.post(asked(run), data=seen(entered).sent, headers=cookie))
            assert (back.sent["/comment"], back.sent["/data/decision"]) == ("<b>A long thought</b>", '"Reject"')
            done = await http.post(asked(run), data={**back.sent, "do": "answer"}, headers=cookie)
            assert done.status_code == 303

    go(body())


FAILING = {"anyOf": [
    {"type": "object", "properties": {"retry": {"const": True}}, "required": ["retry"]},
    {"type": "object", "properties": {"result": {"type": "string"}}, "required": ["result"]},
    {"type": "object", "properties": {"fail": {"const": True}}, "required": ["fail"]},
]}  # fmt: skip


@pytest.mark.parametrize(
    ("language", "labels"),
    [
        ("en", ["Try it again", "Give the result by hand", "Let it fail"]),
        ("ru", ["Попробовать ещё раз", "Дать результат вручную", "Пусть будет ошибка"]),
    ],
)
def test_an_operator_chooses_by_words(language: str, labels: list[str]) -> None:
    words = languages()[language]
    asked_of = operator_schema(Question("a", ("step1_a",), {}, FAILING, "operator"), words)
    form = AnswerForm(asked_of, {}, words, decides=True)
    assert [label for _, label in form.root.options] == labels
    assert [choice for choice, _ in form.decisions] == ["kind:/data 0", "kind:/data 2"]
    assert AnswerForm(asked_of, {"kind:/data": "1", "/data/result": "x"}, words).value == {"result": "x"}


def test_cards_say_what_is_decided_and_those_that_are_late_come_first(tmp_path: Path) -> None:
    async def body() -> None:
        titled = {"title": "May it go out?", **DECISION}
        late = {**titled, "title": "Urgent"}
        made = service(
            tmp_path,
            settings=ServiceSettings(people={"late.approve": PeopleSettings(("*",), due=-3 * 86_400.0)}),
            letter=process(userContext1=chunk(step1_approve=step(titled, "prompt"))),
            late=process(userContext1=chunk(step1_approve=step(late, "prompt"))),
        )
        async with client(made, routes=Inbox(made).routes) as http:
            for index in range(7):
                await made.start(BOSS, "letter", f"Letter {index}\nmore", wait=20)
            await made.start(BOSS, "late", "Hurry", wait=20)
            page = (await http.get("/inbox")).text
            assert "<title>(8) Inbox</title>" in page
            assert page.index("Urgent") < page.index("Letter 0") < page.index("Letter 1")
            assert re.search(r'Overdue <time [^>]*title="[^"]+UTC">3 days ago</time>', page)
            assert "from boss" in page
            assert "more" not in page.partition("<main")[2].partition("</ul>")[0]
            found = (await http.get("/inbox?q=letter+3")).text
            assert "<title>(1) Inbox</title>" in found
            assert "<title>(1) Inbox</title>" in (await http.get("/inbox?program=late")).text
            assert "Nothing that waits for you matches" in (await http.get("/inbox?q=nowhere")).text

    go(body())


@pytest.mark.parametrize("language", LANGUAGES)
def test_far_moments_are_counted_in_words(language: str) -> None:
    words = languages()[language]
    told = {"en": ["1 minute", "2 minutes", "5 minutes", "21 minutes"], "ru": ["1 минуту", "2 минуты", "5 минут", "21 минуту"]}
    assert [counted(words, "minute", count) for count in (1, 2, 5, 21)] == told[language]


def test_times_are_those_of_the_project(tmp_path: Path) -> None:
    async def test(http: httpx.AsyncClient, run: str) -> None:
        page = (await http.get(asked(run))).text
        found = re.search(r'<time datetime="([^"]+)Z">([-0-9]+ [:0-9]+) JST</time>', page)
        assert found is not None
        told, local = (datetime.fromisoformat(text) for text in found.groups())
        assert local - told == timedelta(hours=9)

    inbox(tmp_path, test, settings=ServiceSettings(zone="Asia/Tokyo"))


def test_what_is_shown_has_the_titles_of_its_steps(tmp_path: Path) -> None:
    plan = chunk(step1_plan=step({**TEXT, "title": "The plan"}, "prompt"), step2_cost=step(TEXT, "prompt"))
    program = process(llmContext1=plan, userContext1=chunk(step3_approve=step(DECISION, "step1_plan", "step2_cost")))

    async def test(http: httpx.AsyncClient, run: str) -> None:
        names = re.findall(r'<dt dir="auto">(.*?)</dt>', (await http.get(asked(run))).text)
        assert names == ["The plan", "Text", "Cost", "Text"]

    inbox(tmp_path, test, program=program)


def test_who_asked_for_a_link_reads_no_answer_that_the_person_gave_without_it(tmp_path: Path) -> None:
    async def body() -> None:
        made = service(tmp_path)
        identity = Identity(made.records, made.settings, made.signer)
        identity.new_key("boss", ["admin"])
        identity.new_key("cat", ["answerer"])
        async with client(made, identity=identity, routes=Inbox(made, identity=identity).routes) as http:
            for word_used in (False, True):
                run = (await made.start(BOSS, "letter", "Ann comes", wait=20)).report.run
                words = [await made.link(BOSS, run, "userContext1", "cat") for _ in range(2)]
                given = await made.linked(words[0]) if word_used else CAT
                await made.answer(given, run, "userContext1", {"decision": "Approve"}, comment="a secret")
                page = await http.get(f"/inbox/link/{words[1]}")
                assert ("You answered this on" in page.text, "a secret" in page.text) == (True, word_used)
                again = await http.post(f"/v1/links/{words[1]}", json={"data": {"decision": "Approve"}})
                assert (again.status_code == 200) is word_used, again.text

    go(body())


def test_a_link_shows_no_menus_that_lead_nowhere(tmp_path: Path) -> None:
    async def body() -> None:
        made = service(tmp_path)
        identity = Identity(made.records, made.settings, made.signer)
        identity.new_key("boss", ["admin"])
        identity.new_key("eve", ["answerer"])
        async with client(made, identity=identity, routes=Inbox(made, identity=identity).routes) as http:
            run = (await made.start(BOSS, "letter", "Ann comes", wait=20)).report.run
            word = await made.link(BOSS, run, "userContext1", "eve")
            sent = {**seen(await http.get(f"/inbox/link/{word}")).sent, "/data/decision": '"Approve"', "do": "answer"}
            pages = [await http.get(f"/inbox/link/{word}"), await http.get(f"/inbox/link/{word}x")]
            pages += [await http.post(f"/inbox/link/{word}", data=sent), await http.get(f"/inbox/link/{word}")]
            for page in (*pages, await http.get("/inbox/login")):
                assert not [found for tag, found in Browser(page.text).tags if tag == "a" and found.get("href") != "#content"]

    go(body())


def test_buttons_keep_what_was_filled_in(tmp_path: Path) -> None:
    several = process(userContext1=chunk(step1_approve=step(MANY, "prompt")))

    async def test(http: httpx.AsyncClient, run: str) -> None:
        sent = {**seen(await http.get(asked(run))).sent, "/data/decision": '"Reject"', "/comment": "no"}
        for button in ("add:/data/guests", "add:/data/guests", "claim", "remove:/data/guests/0", "check", "release"):
            made = await http.post(asked(run), data={**sent, "do": button})
            sent = seen(made, 422 if button == "check" else 200).sent
            assert (sent["/data/decision"], sent["/comment"]) == ('"Reject"', "no")
        assert sent["rows:/data/guests"] == "1"
        assert (await http.post(asked(run), data={**sent, "do": "delegate", "to": ""})).status_code == 400
        assert "Taken by" in (await http.post(asked(run), data={**sent, "do": "delegate", "to": "bob"})).text

    inbox(tmp_path, test, several=several)


@pytest.mark.parametrize("language", ["en", "ru"])
def test_the_words_are_those_of_the_reader(tmp_path: Path, language: str) -> None:
    async def test(http: httpx.AsyncClient, run: str) -> None:
        http.headers["accept-language"] = f"de, {language}-XX;q=0.7, fr;q=0.9"
        page = await http.get(asked(run))
        assert f'<html lang="{language}">' in page.text
        assert {"en": "I take this", "ru": "Беру на себя"}[language] in page.text
        refused = await http.post(asked(run), data={**seen(page).sent, "do": "answer"})
        wrong = {"en": "fill this in", "ru": "это нужно заполнить"}[language]
        assert f'<p class="wrong" id="f2-e1">{wrong}</p>' in refused.text

    inbox(tmp_path, test)


MET = (
    *(serving.NotAuthenticated(reason=each) for each in ("the link was used already", "nothing was sent that says so", "other")),
    serving.NotAllowed(who="eve", action="start runs of `p`", reason="this needs the role `starter`", role="starter"),
    *(
        serving.NotAllowed(who="eve", action="answer `a` of `b`", reason=each)
        for each in (
            "a person who took part in this run may not approve it",
            "this service cannot tell whom the rule excludes",
            "the same person has given, or asked for the link of, another answer to it",
            "the link is for another",
            "this is for `ann`, `bob`",
            "the link is for no candidate, and the question allows no outsiders (`x-links`)",
            "only the person who claimed it and the role `operator` may do this",
        )
    ),
    serving.NoSuchProgram(program="p", nearest=("q", "r")),
    runs.NoSuchRun(run="r1", store=""),
    *(runs.NoSuchQuestion(run="r1", step="a", open=(), closed=each) for each in get_args(runs.QuestionEnd)),
    *(runs.NoSuchQuestion(run="r1", step="a", open=("b", "c"), closed=each) for each in ("answered", "not asked")),
    *(serving.QuestionNotFree(question="a", state=each, by="ann") for each in get_args(serving.QuestionState)),
    serving.InvalidRequest(reason="it is not said to whom", pointer="/to"),
    serving.KeyReused(key="page 1"),
    *(
        serving.TooMuch(what=each, limit=2000, retry_after=7)
        for each in (
            "bytes of a request",
            "fields of a form",
            "rows of a list",
            "uses of links in a minute",
            "attempts to log in in a minute",
        )
    ),
)
"""Problems that people meet on pages."""


@pytest.mark.parametrize("problem", MET, ids=lambda each: each.message)
def test_people_read_in_their_language_what_is_not_possible(problem: Problem) -> None:
    said = spoken(problem, languages()["ru"])
    assert not any(english for _, english in said)
    kept = {word for each in said for word in re.findall(r"[A-Za-z][a-z]{2,}", re.sub(r"`[^`]*`", "", each[0]))}
    assert not kept, said
    assert not any(english for _, english in spoken(problem, languages()["en"]))


@pytest.mark.parametrize("language", LANGUAGES)
def test_pages_that_refuse_are_in_the_language_of_the_reader(tmp_path: Path, language: str) -> None:
    async def body() -> None:
        made = service(tmp_path, settings=ServiceSettings(body=20_000))
        identity = Identity(made.records, made.settings, made.signer)
        keys = identity.new_key("boss", ["admin"]), identity.new_key("cat", ["viewer"])
        identity.new_key("eve", ["answerer"])
        boss, cat = [identity.session(await identity.bearer(key)) for key in keys]
        async with client(made, identity=identity, routes=Inbox(made, identity=identity).routes) as http:
            http.headers["accept-language"] = language
            run = (await made.start(BOSS, "letter", "Ann comes", wait=20)).report.run
            word = await made.link(BOSS, run, "userContext1", "eve")
            as_boss, as_cat = ({"cookie": each.partition(";")[0]} for each in (boss, cat))
            sent = {**seen(await http.get(f"/inbox/link/{word}")).sent, "/data/decision": '"Approve"', "do": "answer"}
            refused = {
                "expired": (await http.post(asked(run), data=sent), 401),
                "not for her": (await http.post(asked(run), data=sent, headers=as_cat), 403),
                "no page": (await http.get("/inbox/nothing/here"), 404),
                "no run": (await http.get("/inbox/runs/r1", headers=as_boss), 404),
                "no program": (await http.get("/inbox/start/lettre", headers=as_boss), 404),
                "to nobody": (await http.post(asked(run), data={**sent, "do": "delegate"}, headers=as_boss), 400),
                "too large": (await http.post(asked(run), data={**sent, "/comment": "x" * 30_000}, headers=as_boss), 413),
                "no link": (await http.get(f"/inbox/link/{word}x"), 401),
                "shown anew": (await http.post(asked(run), data={**sent, "tag": "old"}, headers=as_boss), 412),
                "used": (await http.post(f"/inbox/link/{word}", data=sent), 200),
                "used again": (await http.get(f"/inbox/link/{word}"), 409),
                "answered": (await http.post(asked(run), data={**sent, "/data/decision": '"Reject"'}, headers=as_boss), 409),
            }
            for name, (page, status) in refused.items():
                seen(page, status)
                assert f'<html lang="{language}">' in page.text, name
                assert 'lang="en"' not in page.text.partition("<body>")[2], (name, page.text)
                assert language == "en" or re.search("[а-я]", page.text.partition("<main")[2]), name

    go(body())


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_language_of_the_settings_is_stronger_than_that_of_the_browser(tmp_path: Path, language: str) -> None:
    async def test(http: httpx.AsyncClient, _run: str) -> None:
        for asked_for in ("en", "ru", "de"):
            page = await http.get("/inbox", headers={"accept-language": asked_for})
            assert page.headers["content-language"] == language
            assert f'<html lang="{language}">' in page.text

    assert set(LANGUAGES) == languages().keys()
    inbox(tmp_path, test, settings=ServiceSettings(language=language))


@pytest.mark.parametrize(
    ("caller", "listed", "status"),
    [
        (BOB, True, 303),
        (CAT, False, 404),
        (person("eve", "viewer"), False, 403),
        (person("eve"), False, 404),
    ],
)
def test_only_those_answer_whom_a_question_is_for(tmp_path: Path, caller: Caller, listed: bool, status: int) -> None:  # noqa: FBT001  -- a column
    async def test(http: httpx.AsyncClient, run: str) -> None:
        assert (run in (await http.get("/inbox", headers={"accept": "text/html"})).text) == listed
        answer = {"do": "answer", "/data/decision": '"Approve"'}
        assert (await http.post(asked(run), data=answer)).status_code == status

    inbox(tmp_path, test, caller, ServiceSettings(people={"*": PeopleSettings(("bob",))}))


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Sec-Fetch-Site": "same-origin"}, 303),
        ({"Origin": "http://localhost"}, 303),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Host": "evil.example"}, 400),
    ],
)
def test_no_other_site_sends_a_form(tmp_path: Path, headers: dict[str, str], status: int) -> None:
    async def test(http: httpx.AsyncClient, run: str) -> None:
        answer = {"do": "answer", "/data/decision": '"Approve"'}
        assert (await http.post(asked(run), data=answer, headers=headers)).status_code == status

    inbox(tmp_path, test)


@pytest.mark.parametrize("text", HOSTILE)
def test_what_is_shown_and_answered_is_text(tmp_path: Path, text: str) -> None:
    schema = {"title": text, "description": text, "type": "object", "properties": {text: {"type": "string", "description": text}}}
    hostile = process(userContext1=chunk(step1_ask=step(schema, "prompt")), llmContext2=chunk(step2_say=step(TEXT, "step1_ask")))

    async def test(http: httpx.AsyncClient, run: str) -> None:
        page = await http.get(asked(run))
        form = seen(page).sent
        name = next(each for each in form if each.startswith("/data/"))
        await http.post(asked(run), data={**form, name: text, "/comment": text, "do": "answer"})
        for path in (
            "/inbox",
            "/inbox/runs",
            f"/inbox/runs/{run}",
            f"/inbox/runs/{quote(text, safe='')}",
            f"/inbox?after={quote(text)}",
        ):
            made = await http.get(path)
            tags = [(tag, found) for tag, found in Browser(made.text).tags if found.get("src") != "/inbox/live.js"]
            assert {tag for tag, _ in tags} <= PAGES
            assert not [key for _, found in tags for key in found if key.startswith("on") or key in {"src", "style"}]
        trace = (await http.get(f"/inbox/runs/{run}/trace")).text
        assert not [found for tag, found in Browser(trace).tags if tag in {"script", "img"} or "onerror" in found]

    inbox(tmp_path, test, hostile=hostile)


def test_a_text_is_shown_in_the_order_in_which_programs_read_it(tmp_path: Path) -> None:
    async def test(http: httpx.AsyncClient, _run: str) -> None:
        run = (
            await http.post("/v1/runs", json={"program": "ask", "input": "pay \u202e0001"}, headers={"Prefer": "wait=20"})
        ).json()["run"]
        page = (await http.get(f"/inbox/question/{run}:userContext1")).text
        assert "pay [U+202E]0001" in page
        assert "\u202e" not in page

    inbox(tmp_path, test, ask=asking())


@pytest.mark.parametrize("hidden", ["\u200f", "\u202b", "\u2067", "\u061c", "\u200b", "\u2060", "\ufeff", "\u00ad", "\U000e0041"])
def test_what_is_hidden_in_a_value_is_shown(hidden: str, tmp_path: Path) -> None:
    """A mark of direction reverses groups of digits: after it, `12 34` is read as `34 12`."""

    async def test(http: httpx.AsyncClient, _run: str) -> None:
        sent = {"program": "ask", "input": f"to {hidden}12 34"}
        run = (await http.post("/v1/runs", json=sent, headers={"Prefer": "wait=20"})).json()["run"]
        place = f"{run}:userContext1"
        given = {"data": {"decision": "Approve"}, "comment": f"as {hidden}12 34"}
        assert (await http.post(f"/v1/questions/{place}/answer", json=given)).json()["status"] == "waiting"
        page = (await http.get(f"/inbox/question/{place}")).text + (await http.get("/inbox?show=all")).text
        assert page.count(f"to [U+{ord(hidden):04X}]12 34") == 2
        assert f"as [U+{ord(hidden):04X}]12 34" in page
        assert hidden not in page

    inbox(tmp_path, test, ask=asking(**{"x-needed": 2}))


def test_whoever_operates_gives_a_question_on_that_is_for_others(tmp_path: Path) -> None:
    async def test(http: httpx.AsyncClient, run: str) -> None:
        page = await http.get(asked(run))
        assert "You may not answer this" in page.text
        done = await http.post(asked(run), data={**seen(page).sent, "to": "cat", "do": "delegate"})
        assert "You have handed this over" in done.text
        assert "cat (until" in done.text
        done = await http.post(asked(run), data={**seen(done).sent, "do": "release"})
        assert "You have given this back" in done.text

    people = {"letter.approve": PeopleSettings(("bob",))}
    inbox(tmp_path, test, caller=BOSS, settings=ServiceSettings(people=people))


def test_buttons_choose_fields_whose_names_have_spaces(tmp_path: Path) -> None:
    schema = {
        "type": "object",
        "properties": {"a 100% choice": {"enum": ["Yes", "No"]}},
        "required": ["a 100% choice"],
    }

    async def test(http: httpx.AsyncClient, run: str) -> None:
        page = await http.get(asked(run))
        [button] = [each for each in re.findall(r'value="(answer:[^"]*)"', page.text) if "Yes" in each]
        await http.post(asked(run), data={**seen(page).sent, "do": unescape(button)})
        assert (await http.get(f"/v1/runs/{run}", headers={"prefer": "wait=5"})).json()["status"] == "done"

    inbox(tmp_path, test, ask=process(userContext1=chunk(step1_ask=step(schema, "prompt"))))


def test_whoever_a_question_is_delegated_to_gets_its_form(tmp_path: Path) -> None:
    async def body() -> None:
        made = service(tmp_path, settings=ServiceSettings(people={"letter.approve": PeopleSettings(("bob",))}))
        async with (
            client(made, BOSS, routes=Inbox(made).routes) as boss,
            client(made, CAT, routes=Inbox(made).routes) as cat,
        ):
            run = (await made.start(person("starter", "starter"), "letter", "Ann comes", wait=20)).report.run
            assert (await cat.get(asked(run))).status_code == 404
            await boss.post(f"/v1/questions/{run}:userContext1/delegate", json={"to": "cat"})
            page = await cat.get(asked(run))
            assert "You may not answer this" not in page.text
            await cat.post(asked(run), data={**seen(page).sent, "/data/decision": '"Approve"'})
            assert (await boss.get(f"/v1/runs/{run}", headers={"prefer": "wait=5"})).json()["status"] == "done"

    go(body())


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("kind", get_args(FailureKind))
def test_a_failed_run_says_so_in_the_language_of_the_reader_and_quotes_the_rest(tmp_path: Path, kind: Any, language: str) -> None:
    async def body() -> None:
        made = service(tmp_path)
        async with client(made, routes=Inbox(made).routes) as http:
            run = (await made.start(BOSS, "letter", "Ann comes", wait=20)).report.run
            story, message = await made.story(BOSS, run), "503 <b>Server Error</b>"
            ended: Any = {"status": "failed", "error": {"step": "step1_draft", "kind": kind, "code": None, "message": message}}
            report = replace(story.info.report, status="failed", outcome=ended)
            made.story = AsyncMock(return_value=replace(story, info=replace(story.info, report=report)))  # type: ignore[method-assign]  # as it would be
            page = (await http.get(f"/inbox/runs/{run}", headers={"accept-language": language})).text
            words = languages()[language]
            assert f"{words['error']}: draft</h2>" in page
            assert words[f"failed_{kind}"] in page
            assert '<blockquote class="lines" lang="">503 &lt;b&gt;Server Error&lt;/b&gt;</blockquote>' in page

    go(body())


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_page_that_breaks_says_so_in_the_language_of_the_reader(
    tmp_path: Path, language: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def body() -> None:
        made = service(tmp_path)
        async with client(made, routes=Inbox(made).routes) as http:
            http.headers["accept-language"] = language
            made.runs = AsyncMock(side_effect=ZeroDivisionError("a secret"))  # type: ignore[method-assign]  # a mistake of ours
            broken = await http.get("/inbox/runs")
            form = {"content-type": "multipart/form-data"}
            unread = await http.post("/inbox/start/letter", content=b"--x", headers=form)
            made.runs = AsyncMock(side_effect=OperationalError("", None, Exception("a secret")))  # type: ignore[method-assign]
            away = await http.get("/inbox/runs")
            for page, status in ((broken, 500), (unread, 400), (away, 503)):
                seen(page, status)
                assert languages()[language]["broken"] in page.text
                assert "a secret" not in page.text

    go(body())
    assert "ZeroDivisionError: a secret" in caplog.text
    assert "OperationalError" not in caplog.text


def test_a_fork_says_its_origin(tmp_path: Path) -> None:
    async def test(http: httpx.AsyncClient, run: str) -> None:
        made = await http.post(f"/v1/runs/{run}/fork", json={"run": "other"}, headers={"Origin": "http://localhost"})
        assert made.json()["forked"] == {"run": run, "at": None}, made.text
        assert f'<a href="/inbox/runs/{run}">{run}</a>' in (await http.get("/inbox/runs/other")).text
        assert f" · Forked from {run}" in (await http.get("/inbox/runs/other/trace")).text
        assert "orked from" not in (await http.get(f"/inbox/runs/{run}")).text

    inbox(tmp_path, test)


def test_a_run_is_started_from_a_page(tmp_path: Path) -> None:
    async def test(http: httpx.AsyncClient, _run: str) -> None:
        assert "/inbox/start/letter" in (await http.get("/inbox/start")).text
        sent = {**seen(await http.get("/inbox/start/letter")).sent, "do": "answer"}
        seen(await http.post("/inbox/start/letter", data=sent), 422)
        sent["/data/prompt"] = "Ann comes"
        first = await http.post("/inbox/start/letter", data=sent)
        again = await http.post("/inbox/start/letter", data=sent)
        assert first.status_code == again.status_code == 303
        assert first.headers["location"] == again.headers["location"]

    inbox(tmp_path, test, letter=LETTER)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[de]\nsent = 'Senden'\n", "`sent` under `de`.*did you mean.*`send`"),
        ("[de]\nvotes = '{count} Antworten'\n", "does not say `{needed}`"),
        ("[de]\nsend = 1\n", "must be a text"),
        ("['problems de']\n'no such sentence' = 'Nein'\n", "no such sentence"),
        ("send = 'Senden'\n", "after a language"),
        ("[de\n", "cannot be read"),
    ],
)
def test_a_file_of_words_says_what_is_wrong_with_it(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "words.toml").write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError) as raised:
        languages(str(tmp_path / "words.toml"))
    problem = raised.value.problems[0]
    assert re.search(said, f"{problem.message} {problem.hint}")


def test_a_project_adds_a_language_in_one_file(tmp_path: Path) -> None:
    """What its file leaves out is in English; a text of ours can be replaced."""
    (tmp_path / "words.toml").write_text("[de]\nsend = 'Absenden'\ninbox = 'Eingang'\n[en]\ninbox = 'Desk'\n", encoding="utf-8")
    settings = ServiceSettings(words=str(tmp_path / "words.toml"))

    async def play(http: httpx.AsyncClient, run: str) -> None:
        answer = await http.get(asked(run), headers={"accept-language": "de-AT"})
        seen(answer)
        german = answer.text
        assert 'lang="de"' in german
        assert "Eingang" in german
        assert languages()["en"]["your_answer"] in german
        assert "Desk" in (await http.get("/inbox", headers={"accept-language": "en"})).text

    inbox(tmp_path / "store", play, settings=settings)
    with pytest.raises(SettingsError, match="no such table"):
        inbox(tmp_path / "other", play, settings=replace(settings, language="fr"))


def test_markdown_is_shown_as_text_with_links_and_never_as_html(tmp_path: Path) -> None:
    text = "# Hi\n[our page](https://a.example/b). <img src=x onerror=alert(1)> [x](javascript:alert(1))"

    async def body() -> None:
        made = service(tmp_path, look=process(userContext1=chunk(step1_look=step(DECISION, "prompt"))))
        run = (await made.start(BOSS, "look", text, wait=20)).report.run
        async with client(made, routes=Inbox(made).routes) as http:
            page = (await http.get(asked(run))).text
        shown = page.partition('<div class="lines"')[2].partition("</div>")[0]
        assert re.findall(r"<(\w+ [^>]*)>", shown) == ['a href="https://a.example/b" rel="noreferrer"']

    go(body())


PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)


def test_a_file_is_uploaded_kept_and_sent_to_those_who_see_the_run(tmp_path: Path) -> None:
    photo = {"type": "string", "contentMediaType": "image/*"}
    schema = {"type": "object", "properties": {"photo": photo, "count": {"type": "integer"}}, "required": ["photo", "count"]}
    program = process(userContext1=chunk(step1_look=step(schema, "prompt")))

    async def body() -> None:
        made = service(tmp_path, look=program)
        pages = Inbox(made).routes
        run = (await made.start(person("starter", "starter"), "look", "Ann", wait=20)).report.run
        async with client(made, BOB, routes=pages) as http:
            empty = seen(await http.get(asked(run)))
            assert [given["accept"] for tag, given in empty.tags if given.get("type") == "file"] == ["image/*"]
            assert [given["enctype"] for tag, given in empty.tags if tag == "form" and "enctype" in given] == [
                "multipart/form-data"
            ]
            page = f"{PNG!r} <script>"
            for name, data, said in (
                ("a.png", page.encode(), "choose a file of the type image/*"),
                ("<b>.png", PNG, "write a number"),
            ):
                sent = {"/data/count": "many", "do": "answer"}
                answer = await http.post(asked(run), data=sent, files={"file:/data/photo": (name, data, "image/png")})
                kept = seen(answer, 422).sent
                assert said in answer.text
            place = kept["/data/photo"]
            assert (await http.post(asked(run), data={**kept, "/data/count": "3", "do": "answer"})).status_code == 303
            assert (await settled(made, run, "done")).report.outcome["output"]["step1_look"] == {"photo": place, "count": 3}
        async with client(made, BOSS, routes=pages) as http:
            assert f'<img class="thumb" src="{place}"' in (await http.get(f"/inbox/runs/{run}")).text
            file = await http.get(place)
            assert (file.content, file.headers["content-type"]) == (PNG, "image/png")
            assert file.headers["content-disposition"] == "attachment; filename*=UTF-8''%3Cb%3E.png"
            assert file.headers["x-content-type-options"] == "nosniff"
            assert (await http.get(place.replace(".png", ".gif"))).status_code == 404
        async with client(made, person("eve", program="other"), routes=pages) as http:
            assert (await http.get(place)).status_code == 404
        await made.delete(BOSS, run)
        async with client(made, BOSS, routes=pages) as http:
            assert (await http.get(place)).status_code == 410

    go(body())


@pytest.mark.parametrize("size", [700, 3_000])
def test_a_file_that_is_too_large_is_refused_at_its_field_and_the_rest_is_kept(tmp_path: Path, size: int) -> None:
    """The fields behind it are read on, whatever pieces the form comes in; nothing of the file is stored."""
    line = {"type": "string"}
    photo = {"type": "string", "contentMediaType": "image/*"}
    schema = {"type": "object", "properties": {"before": line, "photo": photo, "behind": line}, "required": ["before"]}
    program = process(userContext1=chunk(step1_look=step(schema, "prompt")))
    large = ("file:/data/photo", "a.png", PNG + bytes(size * 1024))
    rows = [("/data/before", None, b"One"), large, ("/data/behind", None, b"Two")]
    sent = b"".join(
        f'--line\r\nContent-Disposition: form-data; name="{name}"{f"; filename={file}" if file else ""}\r\n\r\n'.encode()
        + data
        + b"\r\n"
        for name, file, data in [*rows, ("do", None, b"answer")]
    )

    async def pieces(length: int) -> AsyncIterator[bytes]:
        whole = sent + b"--line--\r\n"
        for place in range(0, len(whole), length):
            yield whole[place : place + length]

    async def body() -> None:
        made = service(tmp_path, settings=ServiceSettings(body=100 * 1024), look=program)
        run = (await made.start(person("starter", "starter"), "look", "Ann", wait=20)).report.run
        async with client(made, BOB, routes=Inbox(made).routes) as http:
            for length in (1_009, 65_536):
                kind = {"Content-Type": "multipart/form-data; boundary=line"}
                page = await http.post(asked(run), content=pieces(length), headers=kind)
                found = seen(page, 422).sent
                assert "this file is too large: all files of an answer may have 100 kB together" in page.text
                assert (found["/data/before"], found["/data/behind"], found.get("/data/photo")) == ("One", "Two", None)
            assert (await http.post(asked(run), data={**found, "do": "answer"})).status_code == 303
            huge = {"Content-Type": "multipart/form-data; boundary=other"}  # no field ends, and no file begins
            assert (await http.post(asked(run), content=pieces(65_536), headers=huge)).status_code >= 400

    go(body())


def test_the_bearer_of_a_link_is_sent_the_files_that_the_question_shows(tmp_path: Path) -> None:
    program = process(userContext1=chunk(step1_look=step(DECISION, "prompt")))

    async def body() -> None:
        made = service(tmp_path, look=program)
        identity = Identity(made.records, made.settings, made.signer)
        identity.new_key("boss", ["admin"])
        identity.new_key("eve", ["answerer"])
        shown, other = (keep(made.records, "letter-1", "a.png", PNG + end) for end in (b"1", b"2"))
        async with client(made, identity=identity, routes=Inbox(made, identity=identity).routes) as http:
            await made.start(BOSS, "look", shown, run="letter-1", wait=20)
            link = f"/inbox/link/{await made.link(BOSS, 'letter-1', 'userContext1', 'eve')}"
            places = [f"{link}/files/{reference.rpartition('/')[2]}" for reference in (shown, other)]
            page = await http.get(link)
            assert f'<img class="thumb" src="{places[0]}"' in page.text
            assert (await http.get(places[0])).content == PNG + b"1"
            refused = [places[1], places[0].replace("/files/", "x/files/"), f"{link}/files/nothing"]
            assert [(await http.get(place)).status_code for place in refused] == [404, 401, 404]
            assert (await http.get(shown)).status_code == 303, "to log in"
            await http.post(link, data={**seen(page).sent, "/data/decision": '"Approve"', "do": "answer"})
            closed = await http.get(places[0])
            assert closed.status_code >= 400
            assert PNG not in closed.content

    go(body())


def test_the_languages_have_the_same_words() -> None:
    from instrc.server.templates import languages  # the table itself

    assert {name: sorted(set(languages()["en"]) ^ set(words)) for name, words in languages().items()} == {"en": [], "ru": []}


def test_people_log_in_with_a_key(tmp_path: Path) -> None:
    async def body() -> None:
        made = service(tmp_path)
        identity = Identity(made.records, made.settings, made.signer)
        key = identity.new_key("bob", ["answerer", "starter"])
        pages = Inbox(made, identity=identity).routes
        async with client(made, identity=identity, routes=pages) as http:
            first = await http.get("/inbox/runs")
            assert (first.status_code, first.headers["location"]) == (303, "/inbox/login?next=/inbox/runs")
            seen(await http.post("/inbox/login", data={"key": "ik_1_2"}), 401)
            assert "set-cookie" not in (await http.request("HEAD", "/inbox/login", data={"key": key})).headers
            for following, place in (("/inbox/runs", "/inbox/runs"), ("//evil.example", "/inbox"), ("/inbox/../\\evil", None)):
                done = await http.post(f"/inbox/login?next={quote(following)}", data={"key": key})
                assert done.status_code == 303
                assert done.headers["location"].startswith(place or "/inbox")
            cookie = done.headers["set-cookie"].partition(";")[0]
            assert "bob" in (await http.get("/inbox", headers={"cookie": cookie})).text
            for place in ("/inbox/login", "/inbox/start/letter"):  # the form of an unknown caller is short
                much = await http.post(place, data={"key": "&" * 30_000})
                assert (much.status_code, "65,536" in much.text, much.headers["content-type"][:9]) == (413, True, "text/html")
            gone = await http.post("/inbox/logout", headers={"cookie": cookie})
            assert "Max-Age=0" in gone.headers["set-cookie"]

    go(body())


def nested(folder: Path) -> Launcher:
    """Return a program whose activity a process serves, which asks: the id of its question has a `/`."""
    outer = process(serverContext1=chunk(step1_consent=call("Consent", "prompt", DECISION, "prompt")))
    (folder / "schemas").mkdir()
    (folder / "schemas/inner.vibe.json").write_text(dumps({"title": "Consent", **asking()}))
    (folder / "pyproject.toml").write_text('[tool.instrc.activities]\n"Consent" = "aug:inner"\n')
    return Launcher(Prepared("nested", outer, folder, read_settings(folder)), rehearse="with-activities")


@pytest.mark.parametrize("program", ["letter", "nested"])
def test_the_example_of_messages_links_to_the_page(program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "examples" / "notify"))
    receiver = import_module("receiver")

    async def body() -> None:
        made = service(tmp_path)
        made.launchers["nested"] = nested(tmp_path)
        identity = Identity(made.records, made.settings, made.signer)
        identity.new_key("eve", ["answerer"])
        monkeypatch.setattr(receiver, "KEY", identity.new_key("desk", ["operator"]))
        app = app_of(made, identity=identity, routes=Inbox(made, identity=identity).routes)
        async with at_port(app) as address:
            report = (await made.start(BOSS, program, "Ann comes", wait=20)).report
            monkeypatch.setattr(receiver, "SERVICE", address)
            told = {"run": report.run, "question": report.questions[0].id}
            question = await asyncio.to_thread(receiver.question_of, told)
            page = await asyncio.to_thread(receiver.signed_link, question, "eve")
            async with httpx.AsyncClient() as http:
                assert "<form" in (await http.get(page)).text

    go(body())


@pytest.mark.parametrize("program", ["letter", "nested"])
def test_links_of_webhooks_and_mcp_lead_to_the_page_of_a_question(
    program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hooks, mount = Mock(wraps=Webhooks), Mock(return_value=(Route("/mcp", lambda _: None), None))
    monkeypatch.setattr("instrc.server.hosting.Webhooks", hooks)
    monkeypatch.setitem(sys.modules, "instrc.server.mcp_runs", Mock(mcp_mount=mount))
    for other in ("a2a", "agui"):  # they have no links, and import for seconds
        monkeypatch.setitem(sys.modules, f"instrc.server.{other}", None)

    async def body() -> None:
        made = service(tmp_path)
        made.launchers["nested"] = nested(tmp_path)
        hosting.protocols_of(made, [], "http://localhost")
        async with client(made, routes=Inbox(made).routes) as http:
            report = (await made.start(BOSS, program, "Ann comes", wait=20)).report
            question = report.questions[0].id
            assert ("/" in question) == (program == "nested")
            told = RunChange("question.opened", report.run, program, {"question": question})
            for address in (hooks.call_args[0][2](told), mount.call_args[0][1](report.run, question)):
                seen(await http.get(address))

    go(body())


def correcting(rows: int) -> tuple[Any, Any]:
    """Return a process in which a person corrects a table, and the table."""
    schema, show = table(rows)
    draft = chunk(step1_draft=step({"type": "object", "const": show}, "prompt"))
    return process(llmContext1=draft, userContext1=chunk(step2_correct=step(schema, "step1_draft"))), show


@pytest.mark.parametrize("rows", [90, 180])
def test_a_question_that_shows_a_large_table_is_answered_on_its_page_and_edited_in_a_fork(rows: int, tmp_path: Path) -> None:
    """Of 90 rows the page sends more than 1,000 fields; 180 would be more fields than a form may have."""
    program, show = correcting(rows)

    async def test(http: httpx.AsyncClient, run: str) -> None:
        page = seen(await http.get(asked(run)))
        done = await http.post(asked(run), data={**page.sent, "do": 'answer:/data/decision "Approve"'})
        assert done.status_code == 303, done.text
        assert (await http.get(f"/v1/runs/{run}")).json()["value"] == {"decision": "Approve", **show}
        fork = seen(await http.post(f"/inbox/runs/{run}", data={"do": "edit", "step": "step2_correct"}))
        assert {"rows:/data/rows", "json:/data/rows"} & fork.sent.keys()

    inbox(tmp_path, test, program=program)


def test_a_value_is_taken_over_beside_the_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[tuple[bool, int]] = []

    def note(*given: Any) -> Any:
        taken.append((threading.current_thread() is threading.main_thread(), given[-1]))
        return data_of(*given)

    monkeypatch.setattr("instrc.server.form_data.data_of", note)

    async def test(http: httpx.AsyncClient, run: str) -> None:
        page = seen(await http.get(asked(run)))
        filled = await http.post(asked(run), data={**page.sent, "do": "take:/data/rows /step1_draft/rows"})
        assert seen(filled).sent["/data/rows/1/c11"] == "x"

    inbox(tmp_path, test, program=correcting(2)[0])
    assert [most for in_loop, most in taken if in_loop] == [0], "there it is one text"
    assert NAMES in [most for in_loop, most in taken if not in_loop]


def test_a_link_answers_one_question_once(tmp_path: Path) -> None:
    async def body() -> None:
        made = service(tmp_path)
        identity = Identity(made.records, made.settings, made.signer)
        identity.new_key("boss", ["admin"])
        identity.new_key("eve", ["answerer"])
        async with client(made, identity=identity, routes=Inbox(made, identity=identity).routes) as http:
            run = (await made.start(BOSS, "letter", "Ann comes", wait=20)).report.run
            await settled(made, run, "waiting")
            word = await made.link(BOSS, run, "userContext1", "eve")
            for _ in range(3):  # a scanner of mail opens links: that uses nothing up
                sent = seen(await http.get(f"/inbox/link/{word}")).sent
            answer = {**sent, "/data/decision": '"Approve"', "do": "answer"}
            assert (await http.post(f"/inbox/link/{word}", data={**sent, "do": "answer"})).status_code == 422
            assert "Your answer is recorded" in (await http.post(f"/inbox/link/{word}", data=answer)).text
            assert (await http.post(f"/inbox/link/{word}", data={**answer, "/data/decision": '"Reject"'})).status_code >= 400
            assert (await http.get(f"/inbox/link/{word}x")).status_code == 401
            assert (await http.get(f"/inbox/runs/{run}")).status_code == 303

    go(body())


def test_a_link_is_used_once_for_each_page_and_each_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = time()
    monkeypatch.setattr("instrc.server.access.time", lambda: now)  # no other minute begins

    async def body() -> None:
        made = service(tmp_path, settings=ServiceSettings(rate=2), letter=asking(**{"x-links": True}))
        async with client(made, routes=Inbox(made).routes) as http:
            run = (await made.start(BOSS, "letter", "Ann comes", wait=20)).report.run
            page = f"/inbox/link/{await made.link(BOSS, run, 'userContext1', 'eve')}"
            sent = {**seen(await http.get(page)).sent, "/data/decision": '"Approve"', "do": "answer"}
            assert "Your answer is recorded" in (await http.post(page, data=sent)).text
            assert (await http.get(page)).status_code == 429
            assert [(await http.get("/inbox/link/x")).status_code for _ in range(3)] == [401, 401, 429]

    go(body())


def test_a_question_lists_who_asked_for_its_links_however_many_the_run_has(tmp_path: Path) -> None:
    async def body() -> None:
        made = service(tmp_path)
        async with client(made, routes=Inbox(made).routes) as http:
            run = (await made.start(BOSS, "letter", "Ann comes", wait=20)).report.run
            for who, question, times in (("zoe", "userContext1", 1), ("yan", "userContext2", 60)):
                for _ in range(times):
                    made.records.audit(who, "key", "link", run, question=question)
            page = (await http.get(asked(run))).text
            assert "zoe" in page
            assert "yan" not in page

    go(body())


def test_a_page_of_many_values_is_rendered_beside_the_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rendered: list[bool] = []

    def note(*given: Any, **facts: Any) -> str:
        rendered.append(threading.current_thread() is threading.main_thread())
        return render(*given, **facts)

    monkeypatch.setattr("instrc.server.inbox.render", note)

    async def body() -> None:
        made = service(tmp_path)
        async with client(made, routes=Inbox(made).routes) as http:
            run = (await made.start(BOSS, "letter", "x", wait=20)).report.run
            for place in ("/inbox", "/inbox/runs", f"/inbox/runs/{run}", asked(run)):
                seen(await http.get(place))

    go(body())
    assert rendered == [False] * 4
