"""Pages for people: open questions, one question with its form, runs and the decisions in them."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from time import time
from typing import Final
from urllib.parse import quote, unquote
from zoneinfo import ZoneInfo

from msgspec import structs
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from instrc.engines.operating import AuditFilter, audit_log
from instrc.problems import runs, serving
from instrc.problems.errors import (
    AuthenticationError,
    ConflictError,
    GoneError,
    InstrcError,
    LimitError,
    NotFoundError,
    RequestError,
    SettingsError,
    StaleError,
    codes_of,
)
from instrc.problems.problem import Problem
from instrc.problems.settings import InvalidSettings
from instrc.process.picture import name_of_step, schemas_of, titles_of
from instrc.process.process import Process
from instrc.process.svg import style
from instrc.runtime.interpreter.documents import Complaint
from instrc.runtime.questions import Question
from instrc.runtime.retry import ForkOptions, RetryOptions
from instrc.runtime.run_report import RunFilter, RunReport, step_values
from instrc.runtime.trace_page import page_of
from instrc.server.access import Caller, RateLimiter, page_refusal
from instrc.server.door import AWAY, CONTENT_POLICY, caller_of, peer_in
from instrc.server.files import files_in, is_reference, keep, reference_of, stems_of, stored_file
from instrc.server.form_data import NAMES, ROOT, begun, changed, data_of, pairs
from instrc.server.forms import AnswerForm, Words, fitted
from instrc.server.http import used_link
from instrc.server.identity import Identity
from instrc.server.operation_json import place_of_question, place_of_run, question_id, token_of
from instrc.server.operations import RequestData
from instrc.server.run_page import (
    labelled,
    labels_of,
    question_title,
    run_facts,
    sample_picture,
    searched_text,
    steps_title,
    summary_of,
)
from instrc.server.run_service import RunService
from instrc.server.templates import PageWords, counted, languages, operator_schema, render, spoken, words_for
from instrc.server.views import QuestionInfo, RunStory
from instrc.text.jsontext import loads
from instrc.text.jsonvalue import Json, mapping, optional_text, pointer, tokens
from instrc.text.page_style import page_style

_log: Final = logging.getLogger(__name__)
_PAGES: Final = Path(__file__).parent / "pages"
_PAGE: Final = 50
"""Maximum rows of a list."""
_COMMANDS: Final = 200
"""Maximum commands on a page of a trace."""
_SEARCHED: Final = 200
"""Maximum open questions searched for a text."""
_SEEN: Final = 30 * 24 * 3_600
"""Seconds for which a question's page proves that its reader was asked."""
_OF_ANYBODY: Final = 1000
"""Maximum fields that a caller who is not known submits: reading many takes time from others."""
_LIVE: Final = {"Content-Security-Policy": f"{CONTENT_POLICY}; script-src 'self'; connect-src 'self'"}
"""Header of the pages that a script keeps up to date."""
_TRACE_POLICY: Final = CONTENT_POLICY.replace("style-src 'self'", "style-src 'unsafe-inline'")
"""Policy for the page of a trace, a single file with its styles; foreign content is escaped there too."""


class Inbox:
    """The pages of a service."""

    def __init__(self, service: RunService, *, identity: Identity | None = None) -> None:
        """Use the language of the settings, or else of `Accept-Language`; with `identity`, people log in."""
        self.service = service
        self.identity = identity
        self.language = service.settings.language
        if self.language is not None and self.language not in languages(service.settings.words):
            raise SettingsError([InvalidSettings(key="serve.language", reason=f"`{service.settings.words}` has no such table")])
        self._rate = RateLimiter(service.settings.rate)

    @property
    def routes(self) -> list[BaseRoute]:
        """The routes of the pages."""
        listed: list[tuple[str, Callable[[Request], Awaitable[Response]], str]] = [
            ("/", self._home, "GET"),
            ("/inbox", self._list, "GET"),
            ("/inbox/question/{question}", self._question, "GET"),
            ("/inbox/question/{question}", self._act, "POST"),
            ("/inbox/link/{word}", self._question, "GET"),
            ("/inbox/link/{word}", self._act, "POST"),
            ("/inbox/link/{word}/files/{file}", self._file, "GET"),
            ("/inbox/login", self._login, "GET POST"),
            ("/inbox/logout", self._logout, "POST"),
            ("/inbox/start", self._programs, "GET"),
            ("/inbox/start/{program}", self._start, "GET POST"),
            ("/inbox/runs", self._runs, "GET"),
            ("/inbox/runs/{run}", self._run, "GET"),
            ("/inbox/runs/{run}", self._operate, "POST"),
            ("/inbox/runs/{run}/trace", self._trace, "GET"),
            ("/inbox/runs/{run}/files/{file}", self._file, "GET"),
            ("/inbox/components", self._components, "GET"),
            ("/inbox/{other:path}", self._no_page, "GET"),
        ]
        return [
            Route("/inbox/style.css", _style),
            Route("/inbox/live.js", FileResponse(_PAGES / "live.js", 200, {"Cache-Control": "public, max-age=3600"})),
            Route("/favicon.ico", Response(None, 204)),
            *(Route(path, self._guarded(endpoint), methods=methods.split()) for path, endpoint, methods in listed),
        ]

    def words(self, request: Request) -> PageWords:
        """Return the texts in the reader's language."""
        return words_for(request.headers.get("accept-language"), self.language, self.service.settings.words)

    async def page(self, request: Request, template: str, facts: Mapping[str, object], status: int = 200) -> Response:
        """Return a page."""
        words = self.words(request)
        caller = request.scope.get("instrc.caller")
        who = caller.name if isinstance(caller, Caller) and caller.by != "local" else None
        alone = "word" in request.path_params or request.url.path == "/inbox/login"
        common: dict[str, object] = {"who": who, "path": request.url.path, "linked": alone}
        common["at"] = lambda run, question: f"/inbox/question/{quote(question_id(run, question), safe=':~')}"
        common["past"] = lambda seconds: seconds is not None and seconds < time()
        common |= {"name_of": name_of_step, "files": (), "when": self._when, "iso": _iso}
        common |= {"ago": partial(_ago, words=words), "tell": partial(spoken, words=words), **facts}
        headers = {"Vary": "Accept-Language", "Content-Language": words["language"]}
        made = await asyncio.to_thread(render, template, words, **common)  # values may be long
        return HTMLResponse(made, status, headers | (_LIVE if facts.get("events") else {}))

    def _when(self, seconds: float | None) -> str:
        """Return a time formatted for people, in the time zone of the settings."""
        local = ZoneInfo(self.service.settings.zone)
        return "" if seconds is None else datetime.fromtimestamp(seconds, local).strftime("%Y-%m-%d %H:%M %Z")

    def _offset(self) -> str:
        """Return the current offset of the settings' time zone in JSON Schema format."""
        return datetime.now(ZoneInfo(self.service.settings.zone)).isoformat()[-6:].replace("+00:00", "Z")

    def _guarded(self, endpoint: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
        async def guarded(request: Request) -> Response:
            try:
                return await endpoint(request)
            except AuthenticationError as error:
                if self.identity is None or "word" in request.path_params:
                    return await self._told(request, error)
                if request.method == "GET":
                    return RedirectResponse(f"/inbox/login?next={quote(request.url.path)}", 303)
                try:
                    kept = await self._sent(request, _OF_ANYBODY)
                    facts = {"wrong": False, "next": request.url.path, "kept": kept, "problems": error.problems}
                except InstrcError as other:  # there is too much of it
                    return await self._told(request, other)
                return await self.page(request, "login.html", facts, 401)
            except InstrcError as error:
                return await self._told(request, error)
            except ClientDisconnect:
                raise
            except HTTPException as error:  # an unreadable form
                status = error.status_code
            except AWAY:
                status = 503
            except Exception:  # noqa: BLE001  -- logged, and explained to the reader in words
                _log.exception("a page cannot be shown")
                status = 500
            finally:
                await request.close()  # uploaded files
            return await self.page(request, "message.html", {"problems": (), "note": "broken"}, status)

        return guarded

    async def _told(self, request: Request, error: InstrcError) -> Response:
        return await self.page(request, "message.html", {"problems": error.problems, "note": None}, codes_of(type(error)).http)

    async def _caller(self, request: Request) -> Caller:
        """Return the caller: on its pages, the bearer of a signed link."""
        word = request.path_params.get("word")
        if word is None:
            return caller_of(request)
        return await used_link(self.service, self._rate, request, word)

    async def _sent(self, request: Request, most: int = NAMES + 1) -> dict[str, str]:
        """Return the submitted data of a form without files; a method that may come from another site submits none."""
        limits = {"max_fields": most, "max_part_size": self.service.settings.body}
        form = await request.form(**limits) if request.method == "POST" else FormData()
        return pairs((key, value) for key, value in form.multi_items() if isinstance(value, str))

    async def _login(self, request: Request) -> Response:
        """Start a session for the owner of an API key."""
        following = request.query_params.get("next", "")
        sent = await self._sent(request, _OF_ANYBODY)
        kept = {name.removeprefix("kept "): text for name, text in sent.items() if name.startswith("kept ")}
        following = following if following.startswith("/inbox") else "/inbox"
        facts: dict[str, object] = {"wrong": False, "next": following, "kept": kept, "problems": ()}
        if request.method == "GET" or self.identity is None:
            return await self.page(request, "login.html", facts)
        word = sent.get("key", "").strip()
        try:
            caller = await self.identity.bearer(word)
        except InstrcError:  # only wrong ones count, and nobody else is locked out
            self._rate.enter(f"login {peer_in(request)}", "attempts to log in in a minute")
            return await self.page(request, "login.html", {**facts, "wrong": True}, 401)
        cookie = await asyncio.to_thread(self.identity.session, caller)
        resumed = {"next": following, "kept": {**kept, "do": "check"}}
        answer = await self.page(request, "resume.html", resumed) if kept else RedirectResponse(following, 303)
        answer.headers["Set-Cookie"] = cookie
        return answer

    async def _logout(self, request: Request) -> Response:
        headers: dict[str, str] = {}
        if self.identity is not None:
            headers["Set-Cookie"] = await asyncio.to_thread(self.identity.end_session, request.headers.get("cookie", ""))
        return RedirectResponse("/inbox/login", 303, headers)

    async def _home(self, _request: Request) -> Response:
        return RedirectResponse("/inbox", 303)

    async def _no_page(self, request: Request) -> Response:
        return await self.page(request, "message.html", {"problems": (), "note": "no_page"}, 404)

    async def _list(self, request: Request) -> Response:
        caller, query = caller_of(request), request.query_params
        which, program, text = query.get("show", "mine"), query.get("program") or None, query.get("q", "").strip()
        facts: dict[str, object] = {"which": which, "done": query.get("done") == "answered", "program": program, "text": text}
        facts["programs"] = [info.name for info in await self.service.programs(caller)]
        if which == "done":
            answers = await asyncio.to_thread(self.service.records.answered_by, caller.name, _PAGE)
            past = [(row, steps_title((row[2].rpartition(".")[2],), row[2])) for row in answers]
            return await self.page(request, "inbox.html", {**facts, "rows": (), "history": past, "following": None})
        page = await self.service.questions(
            caller,
            mine=which != "all",
            claimed=which == "claimed",
            program=program,
            limit=_SEARCHED if text else _PAGE,
            cursor=place_of_question(query.get("after")),
            by_due=True,
        )
        asked = [row for row in page.rows if isinstance(row, QuestionInfo)]
        cards = [(row, question_title(row.question), summary_of(row.question.show)) for row in asked]
        facts["rows"] = [card for card in cards if text.casefold() in searched_text(card).casefold()]
        facts |= {"history": (), "following": token_of(page.next), "events": "/v1/events"}
        return await self.page(request, "inbox.html", facts)

    async def _question(self, request: Request) -> Response:
        try:
            found = await self._found(request)
        except InstrcError as error:
            return await self._closed(request, error, {})
        schema, show, limit = self._asked(request, found), found.question.show, self.service.settings.body
        filled = partial(AnswerForm, schema, words=self.words(request), show=show, decides=True, zone=self._offset(), files=limit)
        form = await asyncio.to_thread(fitted, lambda most: filled(begun(schema, show, most)))
        return await self._shown(request, found, form, {})

    def _asked(self, request: Request, found: QuestionInfo) -> Json:
        """Return the schema of a question; operator questions have titles in the reader's language."""
        return operator_schema(found.question, self.words(request)) if found.question.by == "operator" else found.question.schema

    async def _closed(self, request: Request, error: InstrcError, sent: Mapping[str, str]) -> Response:
        """Show who answered a closed question, and the values submitted for it."""
        caller, (run, question) = await self._caller(request), await self._named(request)
        proof = self.service.signer.read("seen", sent.get("seen", ""), _SEEN) or {}
        was_asked = proof == {"run": run, "question": question, "who": caller.name}
        votes = await self.service.visibility.answered(caller, run, question, was_asked=was_asked)
        if not votes and not was_asked:
            raise error
        typed = [(tokens(name)[-1], text) for name, text in sent.items() if re.match(r"(json:|rest:)?/", name) and text.strip()]
        facts = {"votes": votes, "typed": typed, "caller": caller.name, "problems": () if votes else error.problems}
        return await self.page(request, "closed.html", facts, 409 if votes else codes_of(type(error)).http)

    async def _named(self, request: Request) -> tuple[str, str]:
        caller = await self._caller(request)
        return caller.only or RequestData(request.path_params, {}, {}, {}).question

    async def _found(self, request: Request) -> QuestionInfo:
        return await self.service.question(await self._caller(request), *await self._named(request))

    async def _shown(
        self, request: Request, found: QuestionInfo, form: AnswerForm, facts: Mapping[str, object], status: int | None = None
    ) -> Response:
        caller = await self._caller(request)
        launch = await self.service.engine.launch(found.run)
        of_links = AuditFilter(found.run, action="link", question=found.question.id)
        asked: dict[str, object] = {
            "links": await asyncio.to_thread(audit_log, self.service.records, of_links, _PAGE),
            "refusal": page_refusal(found, caller),
            "title": question_title(found.question),
            "description": optional_text(mapping(found.question.schema).get("description")),
            "show": labelled(found.question.show, labels_of(Process.from_json(launch.plan["process"]))),
            "files": files_in(found.question.show),
            "comment": "",
            "to": "",
            "problems": (),
            "note": None,
            "mine": found.claimed_by == caller.name,
            "gives": caller.may("operator", found.program),
            "tag": found.question.tag,
            "seen": self.service.signer.sign("seen", {"run": found.run, "question": found.question.id, "who": caller.name}),
        }
        return await self.page(
            request, "question.html", {"found": found, "form": form, **asked, **facts}, status or (422 if form.errors else 200)
        )

    async def _act(self, request: Request) -> Response:
        """Handle a button on a question's page; the submitted values are kept."""
        await self._caller(request)  # the form of an unknown one is not read
        sent = await self._sent(request)
        try:
            found = await self._found(request)
        except (ConflictError, GoneError, NotFoundError) as error:
            return await self._closed(request, error, sent)
        await self.service.require_unused(await self._caller(request))
        button, tag, to = sent.pop("do", "answer"), sent.pop("tag", ""), sent.pop("to", "").strip()
        comment = sent.pop("/comment", "").replace("\r\n", "\n")
        if button.startswith("answer:"):  # a button of a choice chooses, and sends
            place, _, code = button.removeprefix("answer:").partition(" ")
            sent, button = {**sent, unquote(place): code}, "answer"
        schema, show = self._asked(request, found), found.question.show
        limit = self.service.settings.body
        filled = partial(AnswerForm, schema, words=self.words(request), show=show, decides=True, files=limit)
        kept: dict[str, object] = {"comment": comment, "to": to, "tag": tag or found.question.tag}
        try:
            sent |= await self._uploaded(request, found, await asyncio.to_thread(filled, sent))
        except LimitError as error:
            kept["problems"] = error.problems
            return await self._shown(request, found, await asyncio.to_thread(filled, sent), kept, codes_of(type(error)).http)
        if button in {"claim", "release", "delegate"}:
            form, status = await asyncio.to_thread(filled, sent), 200
            try:
                found = await self._moved(await self._caller(request), found, button, to)
                kept["note"] = f"done_{button}"
            except InstrcError as error:
                kept["problems"], status = error.problems, codes_of(type(error)).http
            return await self._shown(request, found, form, kept, status)
        if button not in {"answer", "check"}:
            form = await asyncio.to_thread(fitted, lambda most: filled(changed(schema, sent, button, show, most)[0]))
            form.focus(changed(schema, sent, button, show, 0)[1])
            return await self._shown(request, found, form, kept, 200)
        form = await asyncio.to_thread(filled, sent)
        if form.unseen and button == "answer":
            form.focus(form.unseen[0].name)
            return await self._shown(request, found, form, {**kept, "note": "unseen"}, 200)
        if not await asyncio.to_thread(form.check) or button == "check":
            return await self._shown(request, found, form, {**kept, "note": None if form.errors else "fits"})
        try:
            caller, given, tags = await self._caller(request), comment.strip() or None, [tag] if tag else []
            await self.service.answer(caller, found.run, found.question.id, form.value, comment=given, tags=tags)
        except InstrcError as error:
            if isinstance(error, ConflictError | GoneError | NotFoundError) and _ends(error):
                return await self._closed(request, error, {**sent, "/comment": comment})
            kept["problems"] = await asyncio.to_thread(_at_fields, error, form)
            if isinstance(error, StaleError):
                kept["tag"] = found.question.tag  # now shown on the page
            return await self._shown(request, found, form, kept, codes_of(type(error)).http)
        if "word" in request.path_params:
            return await self.page(request, "message.html", {"problems": (), "note": "recorded_link"})
        return RedirectResponse("/inbox?done=answered", 303)

    async def _uploaded(self, request: Request, found: QuestionInfo, form: AnswerForm) -> dict[str, str]:
        """Store the files of a form, and return their references by the names of their fields; or note which is too large."""
        caller, references = await self._caller(request), dict[str, str]()
        fields = {f"file:{each.name}" for each in form.root.walk() if each.kind == "file"}
        files = [(name, part) for name, part in (await request.form()).multi_items() if isinstance(part, UploadFile)]
        if files and request.scope.get("instrc.cut"):
            name, _ = max(files, key=lambda item: item[1].size or 0)
            return {f"large:{name.removeprefix('file:')}": "1"}
        for name, part in files:
            if part.size and page_refusal(found, caller) is None:
                if name not in fields:
                    raise RequestError([serving.InvalidRequest(reason="the form has no such field for a file")])
                self._rate.enter(f"file {caller.nonce or caller.name}", "files in a minute")
                data = await part.read()
                key = await asyncio.to_thread(keep, self.service.records, found.run, part.filename or "", data, caller.nonce)
                references[name.removeprefix("file:")] = key
        return references

    async def _moved(self, caller: Caller, found: QuestionInfo, button: str, to: str) -> QuestionInfo:
        """Claim a question, release it, or delegate it to another person."""
        run, name = found.run, found.question.id
        if button == "claim":
            return await self.service.claim(caller, run, name)
        if button == "release":
            return await self.service.release(caller, run, name)
        if not to:
            raise RequestError([serving.InvalidRequest(reason="it is not said to whom", pointer="/to")])
        return await self.service.claim(caller, run, name, to=to)

    async def _programs(self, request: Request) -> Response:
        return await self.page(request, "programs.html", {"rows": await self.service.programs(caller_of(request))})

    async def _start(self, request: Request) -> Response:
        """Show the form of a run's inputs, and start a run."""
        caller, words = caller_of(request), self.words(request)
        info = await self.service.program(caller, request.path_params["program"])
        sent = await self._sent(request)
        button, key = sent.pop("do", "check"), sent.pop("key", "")
        facts: dict[str, object] = {"info": info, "key": key or f"{time():.6f}", "problems": ()}
        filled = partial(AnswerForm, info.inputs, words=words, label=words["inputs"])
        if request.method == "GET" or button != "answer":
            data, at = (None, ROOT) if request.method == "GET" else changed(info.inputs, sent, button, None)
            first, zone = partial(begun, info.inputs, None), self._offset()
            form = await asyncio.to_thread(fitted, lambda most: filled(first(most) if data is None else data, zone=zone))
            form.focus(at)
            return await self.page(request, "start.html", {"form": form, **facts})
        form = await asyncio.to_thread(filled, sent)
        if form.unseen or not await asyncio.to_thread(form.check):
            return await self.page(request, "start.html", {"form": form, **facts}, 422)
        try:
            made = await self.service.start(caller, info.name, form.value, key=f"page {key}" if key else None)
        except InstrcError as error:
            facts["problems"] = await asyncio.to_thread(_at_fields, error, form)
            return await self.page(request, "start.html", {"form": form, **facts}, codes_of(type(error)).http)
        return RedirectResponse(f"/inbox/runs/{quote(made.report.run)}", 303)

    async def _runs(self, request: Request) -> Response:
        caller, query = caller_of(request), request.query_params
        status, program, since = (query.get(name) or None for name in ("status", "program", "since"))
        text, who = query.get("q", "").strip(), query.get("starter", "").strip()
        chosen = structs.replace(RunFilter.of(status, program, since), text=text or None, starter=who or None)
        page = await self.service.runs(caller, chosen, limit=_PAGE, cursor=place_of_run(query.get("after")))
        facts: dict[str, object] = {"rows": page.rows, "status_chosen": status, "following": token_of(page.next)}
        facts |= {"text": text, "starter": who, "program": program, "since": since}
        facts["programs"] = [info.name for info in await self.service.programs(caller)]
        return await self.page(request, "runs.html", facts)

    async def _run(self, request: Request) -> Response:
        return await self._run_page(request, await self.service.story(caller_of(request), request.path_params["run"]), {})

    async def _run_page(self, request: Request, story: RunStory, facts: Mapping[str, object], status: int = 200) -> Response:
        caller, info, report, query = caller_of(request), story.info, story.info.report, request.query_params
        asked = [report.run, query["with"]] if query.get("with") else []
        records = [(await self.service.run(caller, run)).report.record for run in asked]
        about: dict[str, object] = {**await asyncio.to_thread(run_facts, story, query, records, self.words(request))}
        about |= {
            "info": info,
            "report": report,
            "asked": await self._waiting(caller, report, whole=info.is_whole),
            "operates": caller.may("operator", report.name),
            "events": None if report.has_ended else f"/v1/runs/{quote(report.run)}/events",
            "seen": story.events,
            "problems": (),
            "form": None,
        }
        return await self.page(request, "run.html", {**about, **facts}, status)

    async def _waiting(
        self, caller: Caller, report: RunReport, *, whole: bool
    ) -> list[tuple[Question, str, QuestionInfo | None]]:
        """Return the open questions of a run with their titles, and who holds them."""
        rows = (await self.service.questions(caller, run=report.run)).rows if whole and report.questions else ()
        infos = {row.question.id: row for row in rows if isinstance(row, QuestionInfo)}
        return [(question, question_title(question), infos.get(question.id)) for question in report.questions]

    async def _operate(self, request: Request) -> Response:
        """Handle a button on a run's page: cancel, retry, or fork with another value of a step."""
        caller, run, sent = caller_of(request), request.path_params["run"], await self._sent(request)
        button, step = sent.pop("do", ""), sent.pop("step", "") or None
        story = await self.service.story(caller, run)
        try:
            if button == "cancel":
                await self.service.cancel(caller, run)
            elif button == "resume":
                await self.service.resume(caller, run)
            elif button == "retry":
                await self.service.retry(caller, run, RetryOptions(step))
            elif button == "fork":
                forked = await self.service.fork(caller, run, ForkOptions(step))
                run = forked.report.run
            elif step is not None:
                return await self._edited(request, story, button, step, sent)
        except InstrcError as error:
            return await self._run_page(request, story, {"problems": error.problems}, codes_of(type(error)).http)
        return RedirectResponse(f"/inbox/runs/{quote(run)}", 303)

    async def _edited(self, request: Request, story: RunStory, button: str, step: str, sent: dict[str, str]) -> Response:
        """Show the form for another value of a step, and start a fork with it."""
        caller, words, report = caller_of(request), self.words(request), story.info.report
        caller.require("operator", report.name, f"fork runs of `{report.name}`")
        steps = {} if story.launch is None else schemas_of(Process.from_json(story.launch.plan["process"]))
        schema: Json = steps.get(step, {})
        recorded = step_values((await self.service.run(caller, report.run)).report.record).get(step)

        def filled(most: int) -> AnswerForm:
            data = data_of(schema, recorded, most=most) if button == "edit" and recorded is not None else sent
            return AnswerForm(schema, changed(schema, data, button, None)[0], words, label=name_of_step(step))

        form = await asyncio.to_thread(fitted, filled)
        if button != "answer" or not await asyncio.to_thread(form.check):
            return await self._run_page(request, story, {"form": form, "step": step}, 422 if form.errors else 200)
        made = await self.service.fork(caller, report.run, ForkOptions(edits={step: form.value}))
        return RedirectResponse(f"/inbox/runs/{quote(made.report.run)}", 303)

    async def _trace(self, request: Request) -> Response:
        caller, run = caller_of(request), request.path_params["run"]
        await self.service.visibility.require_whole(caller, run)
        story, first = await self.service.story(caller, run), request.query_params.get("first", "0")
        place = int(first) if re.fullmatch(r"[0-9]{1,7}", first) else 0
        titles = {} if story.launch is None else titles_of(Process.from_json(story.launch.plan["process"]))
        words, report = self.words(request), story.info.report
        origin = "" if report.forked is None else f" · {words['forked']} {report.forked['run']}"
        state = f"{words[f'status_{report.status}']}{origin}"
        made = await asyncio.to_thread(page_of, run, state, story.spans, titles, place, _COMMANDS, words)
        return HTMLResponse(made, 200, {"Content-Security-Policy": _TRACE_POLICY})

    async def _file(self, request: Request) -> Response:
        """Send a file to those who see its run or a question of it, or have a link to a question that shows it."""
        run, file = request.path_params.get("run"), request.path_params["file"]
        if run is None:
            found = await self._found(request)
            stems = await asyncio.to_thread(stems_of, self.service.records, found.run)
            run = next((each for each in stems if reference_of(each, file) in files_in(found.question.show)), None)
            if run is None:
                return await self._no_page(request)
        else:
            await self._require_shown(caller_of(request), run, reference_of(run, file))
        stored = await asyncio.to_thread(stored_file, self.service.records, run, file)
        if stored is None:
            return await self._no_page(request)
        headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(stored.name, safe='')}"}
        return Response(stored.data, 200, headers, stored.type)

    async def _require_shown(self, caller: Caller, run: str, file: str) -> None:
        """Raise unless the caller sees the run of a file, or may answer a question of a fork that shows it."""
        try:
            await self.service.visibility.seen(caller, run)
        except NotFoundError:
            shown = self.service.records.showing
            for row in await asyncio.to_thread(shown, file, caller.as_candidates) if is_reference(file) else ():
                if run in await asyncio.to_thread(stems_of, self.service.records, row.run):  # others show what was typed
                    with suppress(InstrcError):
                        if file in files_in((await self.service.question(caller, row.run, row.question.id)).question.show):
                            return
            raise

    async def _components(self, request: Request) -> Response:
        """Show every component of the pages, for developers of the style sheet."""
        caller_of(request)
        words, sample = self.words(request), mapping(loads((_PAGES / "components.json").read_bytes()))
        form = AnswerForm(sample["form"], {"/data/number": "many"}, words, show={"line": "Ann"}, decides=True, files=1024)
        form.check()
        value: Json = {"text": "Two lines,\nand https://example.com.", "list": [1, 2, 3], "nothing": None}
        picture = sample_picture(Process.from_json(sample["process"]), words)
        return await self.page(request, "components.html", {"form": form, "value": value, "picture": picture})


async def _style(_request: Request) -> Response:
    text = page_style(_PAGES / "style.css") + style()
    return Response(text, 200, {"Cache-Control": "public, max-age=3600"}, "text/css")


def _iso(seconds: float | None) -> str:
    """Return a time in ISO 8601."""
    return "" if seconds is None else datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%MZ")


def _ago(seconds: float, words: Words) -> str:
    """Return the distance of a time in words: "in 2 hours", "3 days ago"."""
    away = seconds - time()
    unit, size = next(((unit, size) for unit, size in _UNITS if abs(away) >= size), ("minute", 60))
    count = max(1, round(abs(away) / size))
    return words["time_in" if away > 0 else "time_ago"].format(time=counted(words, unit, count))


_UNITS: Final = (("day", 86_400), ("hour", 3_600))


def _ends(error: InstrcError) -> bool:
    """Return whether an error means that a question is closed."""
    return any(isinstance(problem, runs.NoSuchQuestion | runs.NoSuchRun) for problem in error.problems)


def _at_fields(error: InstrcError, form: AnswerForm) -> list[Problem]:
    """Assign problems with parts of a value to their fields, and return the others."""
    others: list[Problem] = []
    found: list[Complaint] = []
    for each in error.problems:
        if isinstance(each, runs.RejectedAnswer):
            found.append({"pointer": each.pointer, "message": each.reason})
        elif isinstance(each, runs.InvalidInput) and each.word:
            found.append({"pointer": each.pointer or pointer([each.word]), "message": each.message})
        else:
            others.append(each)
    form.refuse(found)
    return others
