"""Programs over the Model Context Protocol: tools that start runs, and runs as tasks that ask people."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from secrets import token_hex
from time import monotonic
from typing import Final, TypeVar, cast

import anyio
import mcp_types
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from mcp.server.streamable_http_manager import DEFAULT_SESSION_IDLE_TIMEOUT, StreamableHTTPASGIApp
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from pydantic import Field
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from instrc import problems
from instrc.engines.launch import Launcher
from instrc.engines.prepare import Prepared
from instrc.problems.errors import InstrcError, RateLimitError
from instrc.process.process import Process
from instrc.runtime.questions import Question, read_shown_id
from instrc.schema.strip import split, strip
from instrc.server.access import Caller
from instrc.server.bounds import SESSIONS
from instrc.server.door import caller_of
from instrc.server.exchange import Identified, answer_of, asked_of_people, ended_words, listed, question_json, standings
from instrc.server.http import Beside
from instrc.server.mcp import Answered, Context, McpServer, caller_in, is_still, result_of_call, server_of
from instrc.server.offers import Offers, RefusedError, ServerTool
from instrc.server.operation_json import ENDING, SCHEMAS, TEXT, ending_json, object_of
from instrc.server.run_service import RunService
from instrc.server.views import RunInfo
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json, JsonObject, as_object, as_text, listing, mapping, optional_text
from instrc.tools.tool import Tool

T = TypeVar("T")
TASKS: Final = "io.modelcontextprotocol/tasks"
"""Extension by which a call returns a task (SEP-2663)."""
MISSING_CAPABILITY: Final = -32021
OTHER_HEADER: Final = -32020
POLL: Final = 1000
"""Milliseconds after which a client should poll a task again."""
SHOWN: Final = 4000
"""Maximum characters of the shown value in the message of a form."""
_RUN: JsonObject = {"run": {"type": "string", "description": "The id that starting the process gave."}}
_STATUS: JsonObject = {"type": "string", "description": "running, waiting, done, failed and so on, in one word."}
STANDING: JsonObject = object_of(
    {**_RUN, "status": _STATUS}, {name: as_object(SCHEMAS["Run"]["properties"])[name] for name in ENDING}
)
"""Schema of a run's state."""
_QUESTION: JsonObject = object_of(
    {
        "id": TEXT,
        "steps": {"type": "array", "items": TEXT},
        "show": {"description": "What the person is shown."},
        "schema": {"description": "The JSON Schema of the answer."},
    }
)
_NEXT: JsonObject = {"next": {"type": "string", "description": "`after` for the next questions, if there are more."}}
_QUESTIONS: JsonObject = object_of({**_RUN, "questions": {"type": "array", "items": _QUESTION}}, _NEXT)
_READS: Final = {"readOnlyHint": True, "openWorldHint": False}
_BEGINS: Final = {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": False, "openWorldHint": True}
_ANSWERS: Final = {"readOnlyHint": False, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}
_ENDS: Final = {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": True, "openWorldHint": False}


class RunOffers(Offers):
    """The tools of programs: one is completed by its caller, the others start a run; and four tools for runs."""

    def __init__(self, tools: Iterable[Prepared], service: RunService) -> None:
        """`tools` are the programs that are not processes."""
        super().__init__()
        self.service = service
        for prepared in tools:
            self._offer_tool(prepared)
        for name, launcher in service.launchers.items():
            self._offer_program(name, launcher)
        if not service.launchers:
            return
        data: JsonObject = {
            "step": {"type": "string", "description": "The id of the question, or a step of it."},
            "data": {"description": "The answer; it satisfies the schema of the question."},
        }
        status = "Tell how a run stands: its status, its result when it is done, and why it failed if it did."
        asked = "Tell what a run waits for: what is shown, and the schema of the answer."
        answered = "Answer a question of a run. A wrong answer is refused and leaves the question open."
        self.offer("run_status", _of_run(status), self._status, STANDING, hints=_READS)
        after: JsonObject = {"after": {"type": "string", "description": "The `next` of the previous answer."}}
        self.offer("open_questions", _of_run(asked, optional=after), self._questions, _QUESTIONS, hints=_READS)
        self.offer("answer", _of_run(answered, data), self._answer, STANDING, hints=_ANSWERS)
        ended = "End a run; what it has begun is not undone."
        self.offer("cancel_run", _of_run(ended), self._cancel, STANDING, hints=_ENDS)

    def _offer_tool(self, prepared: Prepared) -> None:
        async def call(_caller: Caller, value: JsonObject) -> Json:
            return split(value, prepared.document)["output"]

        tool = Tool(prepared.name, prepared.document, prepared.purpose, hints=prepared.hints)
        self.offer(prepared.name, tool, call, strip(prepared.document, {"all"}), hints=_READS)

    def _offer_program(self, name: str, launcher: Launcher) -> None:
        async def call(caller: Caller, inputs: JsonObject) -> Json:
            return standing_of(await self.service.start(caller, name, inputs))

        schema = launcher.schemas[0]
        goes_on = "Starts a run, which goes on by itself, and gives its id: `run_status` tells how it stands."
        title = as_text(schema["description"]).partition("\n")[0]
        described: JsonObject = {**schema, "title": title, "description": f"{schema['description']}.\n{goes_on}"}
        self.offer(name, described, call, STANDING, hints=_BEGINS, program=name)

    async def _status(self, caller: Caller, given: JsonObject) -> Json:
        return standing_of(await self.service.run(caller, as_text(given["run"])))

    async def _questions(self, caller: Caller, given: JsonObject) -> Json:
        info = await self.service.run(caller, as_text(given["run"]))
        return await asyncio.to_thread(_page_of, info, optional_text(given.get("after")))

    async def _answer(self, caller: Caller, given: JsonObject) -> Json:
        run, step = as_text(given["run"]), as_text(given["step"])
        found = (await self.service.question(caller, run, step)).question
        return standing_of(await self.service.answer(caller, run, step, answer_of(given["data"], found.schema)))

    async def _cancel(self, caller: Caller, given: JsonObject) -> Json:
        return standing_of(await self.service.cancel(caller, as_text(given["run"])))


def _of_run(description: str, more: JsonObject | None = None, optional: JsonObject | None = None) -> JsonObject:
    return {"description": description, **object_of({**_RUN, **(more or {})}, optional, closed=True)}


def _page_of(info: RunInfo, after: str | None) -> JsonObject:
    """Return a page of the open questions of a run, and `next` if there are more."""
    rest = sorted((each for each in info.report.questions if after is None or each.id > after), key=lambda each: each.id)
    shown = listed(rest)
    asked: list[Json] = [
        {"id": each.shown_id, **{key: value for key, value in question_json(each).items() if key != "question"}} for each in shown
    ]
    return {"run": info.report.run, "questions": asked, **({"next": shown[-1].id} if len(shown) < len(rest) else {})}


def standing_of(info: RunInfo) -> JsonObject:
    """Return the state of a run for a client of the protocol."""
    return {"run": info.report.run, "status": info.report.status, **ending_json(info.report)}


_OF_TEXT: Final = frozenset({"minLength", "maxLength", "enum", "const"})
_KEPT: Final = {
    "string": _OF_TEXT,
    "number": frozenset({"minimum", "maximum"}),
    "integer": frozenset({"minimum", "maximum"}),
    "boolean": frozenset[str](),
    "array": frozenset({"minItems", "maxItems"}),
}
_FORMATS: Final = frozenset({"email", "uri", "date", "date-time"})


def form_of(schema: Json) -> JsonObject | None:
    """Return an answer's schema as that of a form, without preselected values, or `None` if it is nested.

    A form may accept more than the schema: the answer is validated again.
    """
    if not isinstance(schema, dict) or not isinstance(schema.get("properties"), dict) or schema.get("type", "object") != "object":
        return None
    fields: JsonObject = {}
    for name, given in as_object(schema["properties"]).items():
        made = _field_of(given)
        if made is None:
            return None
        fields[name] = made
    return {
        "type": "object",
        "properties": fields,
        "required": [each for each in listing(schema.get("required")) if each in fields],
    }


def _field_of(given: Json) -> JsonObject | None:
    if not isinstance(given, dict):
        return None
    choices = given.get("enum", [given["const"]] if "const" in given else None)
    kind = given.get("type", "string" if choices else None)
    if not isinstance(kind, str) or kind not in _KEPT:
        return None
    if choices is not None and (kind != "string" or not all(isinstance(each, str) for each in listing(choices))):
        return None
    made: JsonObject = {"type": kind}
    made |= {key: given[key] for key in ("title", "description") if isinstance(given.get(key), str)}
    made |= {key: given[key] for key in _KEPT[kind] - {"const", "enum"} if key in given}
    if choices is not None:
        made["enum"] = choices
    if given.get("format") in _FORMATS:
        made["format"] = given["format"]
    if kind == "array":
        named = listing(mapping(given.get("items")).get("enum"))
        if not named or not all(isinstance(each, str) for each in named):
            return None
        made["items"] = {"type": "string", "enum": named}
    return made


_TEXT_FORM: Final = object_of({"answer": {"type": "string", "title": "The answer as JSON"}})
"""Form for a nested question without a page to link to."""


def elicitation_of(question: Question, link: str | None) -> mcp_types.ElicitRequest:
    """Return a question as a request to a person: a form, or a link if a form cannot represent the answer."""
    shown = question.show if isinstance(question.show, str) else dumps(question.show)
    more = f"\u2026\nThis is not all: `open_questions` shows {len(shown) - SHOWN:,} more characters" if len(shown) > SHOWN else ""
    message = f"{', '.join(question.steps)}:\n{shown[:SHOWN]}{more}"
    form = form_of(question.schema)
    if form is None and link is not None:
        return mcp_types.ElicitRequest(params=mcp_types.ElicitRequestURLParams(message=message, url=link))
    if form is None:
        message = f"{message}\nAnswer with JSON of this schema: {dumps(question.schema, indent=False)[:SHOWN]}"
    return mcp_types.ElicitRequest(params=mcp_types.ElicitRequestFormParams(message=message, requested_schema=form or _TEXT_FORM))


def answer_in(question: Question, result: mcp_types.ElicitResult) -> tuple[bool, Json]:
    """Return whether a person submitted a form, and its content; declining, or opening a page, leaves the question open."""
    if result.action != "accept" or result.content is None:
        return False, None
    if form_of(question.schema) is None:
        return True, answer_of(cast("Json", result.content.get("answer")), question.schema)
    return True, cast("Json", {key: value for key, value in result.content.items() if value is not None})


def task_json(info: RunInfo) -> JsonObject:
    """Return a run as a task. A failed run was executed, so it is a completed task with an error as its result."""
    report = info.report
    asked = bool(asked_of_people(report))
    status = {"running": "working", "waiting": "working", "held": "working", "cancelled": "cancelled"}.get(
        report.status, "completed"
    )
    began, last = report.began or 0.0, report.ended or report.began or 0.0
    made: JsonObject = {
        "taskId": report.run,
        "status": "input_required" if asked else status,
        "createdAt": datetime.fromtimestamp(began, UTC).isoformat(),
        "lastUpdatedAt": datetime.fromtimestamp(last, UTC).isoformat(),
        "ttlMs": None,
        "pollIntervalMs": POLL,
    }
    if report.status in {"held", "failed", "stopped", "cancelled"}:
        made["statusMessage"] = ended_words(report)
    return made


Link = Callable[[str, str], str | None]
"""Returns the address of the page for a question of a run, or `None` if there is none."""


class RunTasks:
    """Handles calls of programs, as tasks for clients that support them."""

    def __init__(self, offers: RunOffers, link: Link) -> None:
        self.offers = offers
        self.service = offers.service
        self.link = link

    def server(self) -> McpServer:
        """Return a server for the tools and tasks."""
        server = server_of(self.offers, begin=self.call)
        server.extensions[TASKS] = {}
        server.add_request_handler("tasks/get", _TaskParams, self._get)
        server.add_request_handler("tasks/update", _UpdateParams, self._update)
        server.add_request_handler("tasks/cancel", _TaskParams, self._cancel)
        return server

    async def call(self, context: Context, offer: ServerTool, params: mcp_types.CallToolRequestParams) -> Answered:
        """Start a run: a task if the client supports tasks; otherwise follow it to its end if progress was requested."""
        caller = caller_in(context)
        if params.request_state is not None:
            run = params.request_state
            wrong = await self._take(caller, run, cast("dict[str, object]", params.input_responses or {}))
            return await self._followed(context, caller, run, wrong)
        _, inputs = await asyncio.to_thread(self.offers.read, params.name, cast("Json", params.arguments or {}), caller)
        assert offer.program is not None
        info = await self.service.start(caller, offer.program, inputs)
        if TASKS in (_able(context).extensions or {}):
            return cast(
                "Answered", {"resultType": "task", **task_json(info)}
            )  # the library sends the result of an extension unchanged
        if context.meta is None or context.meta.get("progress_token") is None:
            return result_of_call(standing_of(info))
        return await self._followed(context, caller, info.report.run)

    async def _followed(self, context: Context, caller: Caller, run: str, wrong: Mapping[str, str] | None = None) -> Answered:
        """Report progress, ask people, and return the outcome of the run; cancelling the call cancels it."""
        done = 0
        try:
            async for info in standings(self.service, caller, run):
                done += 1
                await context.session.report_progress(done, None, info.report.status)
                asked = asked_of_people(info.report)
                if asked and _able(context).elicitation is None:
                    break
                if asked and not context.session.can_send_request:
                    requests: mcp_types.InputRequests = {
                        each.shown_id: _again(elicitation_of(each, self.link(run, each.id)), (wrong or {}).get(each.shown_id))
                        for each in listed(asked)
                    }
                    return mcp_types.InputRequiredResult(input_requests=requests, request_state=run)
                if asked and not await self._elicit(context, caller, run, asked):
                    break
                if info.report.status not in {"running", "waiting"}:
                    break
        except asyncio.CancelledError:
            with anyio.CancelScope(shield=True), suppress(InstrcError):  # it has ended, or the caller may not end it
                stops = context.request is not None and context.request.app.state.streams.closing.is_set()
                if not stops and await is_still(context):
                    await self.service.cancel(caller, run)
            raise
        return result_of_run(await self.service.run(caller, run))

    async def _elicit(self, context: Context, caller: Caller, run: str, asked: list[Question]) -> bool:
        """Ask the person at the client; return whether everything was answered."""
        for question in asked:
            request = elicitation_of(question, self.link(run, question.id))
            related = context.request_id
            if isinstance(request.params, mcp_types.ElicitRequestURLParams):
                await context.session.elicit_url(request.params.message, request.params.url, f"{run}:{question.id}", related)
                return False
            while True:
                params = request.params
                result = await context.session.elicit_form(params.message, params.requested_schema, related)
                is_answer, data = answer_in(question, result)
                if not is_answer:
                    return False
                if not await is_still(context):  # another key of the same name may send the answer
                    raise RefusedError("the key or the session of the request has ended")
                try:
                    await self.service.answer(caller, run, question.shown_id, data)
                    break
                except InstrcError as error:
                    if not isinstance(error.problems[0], problems.runs.RejectedAnswer):
                        raise RefusedError(_said(error)) from None
                    request = _again(request, _said(error))
        return True

    async def _take(self, caller: Caller, run: str, responses: dict[str, object]) -> dict[str, str]:
        """Accept the answers of people; return their errors. Answers to closed questions are ignored."""
        wrong: dict[str, str] = {}
        info = await self.service.run(caller, run)
        asked = {each.id: each for each in asked_of_people(info.report)}
        for name, response in responses.items():
            question = asked.get(read_shown_id(name)[0])
            if question is None:
                continue
            result = response if isinstance(response, mcp_types.ElicitResult) else mcp_types.ElicitResult.model_validate(response)
            is_answer, data = answer_in(question, result)
            if is_answer:
                try:
                    await self.service.answer(caller, run, name, data)
                except InstrcError as error:
                    if not isinstance(error.problems[0], problems.runs.RejectedAnswer):
                        raise
                    wrong[name] = _said(error)
        return wrong

    async def _task(self, context: Context, run: str) -> tuple[Caller, RunInfo]:
        if TASKS not in (_able(context).extensions or {}):
            data: JsonObject = {"requiredCapabilities": {"extensions": {TASKS: {}}}}
            raise MCPError(code=MISSING_CAPABILITY, message="tasks are for clients that declare their extension", data=data)
        named = None if context.request is None else context.request.headers.get("mcp-name")
        if named is not None and named != run:
            raise MCPError(code=OTHER_HEADER, message="the header `Mcp-Name` names another task than the request")
        caller = caller_in(context)
        return caller, await _known(self.service.run(caller, run))

    async def _get(self, context: Context, params: _TaskParams) -> JsonObject:
        _, info = await self._task(context, params.task_id)
        made: JsonObject = task_json(info)
        if made["status"] == "completed":
            result = result_of_run(info).model_dump(mode="json", by_alias=True, exclude_none=True)
            made["result"] = {**result, "resultType": "complete"}
        if asked := listed(asked_of_people(info.report)):
            requests = {each.shown_id: elicitation_of(each, self.link(params.task_id, each.id)) for each in asked}
            made["inputRequests"] = {
                name: each.model_dump(mode="json", by_alias=True, exclude_none=True) for name, each in requests.items()
            }
        return {"resultType": "complete", **made}

    async def _update(self, context: Context, params: _UpdateParams) -> JsonObject:
        caller, _ = await self._task(context, params.task_id)
        try:
            wrong = await _known(self._take(caller, params.task_id, params.input_responses))
        except ValueError as error:
            message = str(error).partition("\n")[0]
            raise MCPError(code=mcp_types.INVALID_PARAMS, message=f"a response cannot be read: {message}") from None
        if wrong:
            raise MCPError(code=mcp_types.INVALID_PARAMS, message="; ".join(wrong.values()))
        return {"resultType": "complete"}

    async def _cancel(self, context: Context, params: _TaskParams) -> JsonObject:
        caller, _ = await self._task(context, params.task_id)
        await _known(self.service.cancel(caller, params.task_id))
        return {"resultType": "complete"}


class _TaskParams(mcp_types.RequestParams):
    task_id: str = Field(alias="taskId")


class _UpdateParams(_TaskParams):
    input_responses: dict[str, object] = Field(alias="inputResponses", default_factory=dict)  # each one is checked


def _able(context: Context) -> mcp_types.ClientCapabilities:
    return context.session.client_capabilities or mcp_types.ClientCapabilities()


def _again(request: mcp_types.ElicitRequest, said: str | None) -> mcp_types.ElicitRequest:
    if said is None:
        return request
    params = request.params.model_copy(update={"message": f"{said}\n{request.params.message}"})
    return mcp_types.ElicitRequest(params=params)


def _said(error: InstrcError) -> str:
    return "; ".join(each.message for each in error.problems)


async def _known(work: Awaitable[T]) -> T:
    try:
        return await work
    except InstrcError as error:
        raise MCPError(code=mcp_types.INVALID_PARAMS, message=_said(error)) from None


def result_of_run(info: RunInfo) -> mcp_types.CallToolResult:
    """Return the state of a run as the result of a call: a failed, stopped or cancelled run is an error."""
    if info.report.status in {"failed", "stopped", "cancelled"}:
        return result_of_call(None, error=ended_words(info.report))
    return result_of_call(standing_of(info))


def no_link(_run: str, _question: str) -> None:
    """Return `None`: questions have no page."""


def mcp_mount(offers: RunOffers, link: Link) -> tuple[BaseRoute, Beside]:
    """Return the route `/mcp` of a service over HTTP, and its background task, behind the service's middleware."""
    server = RunTasks(offers, link).server()
    unguarded = TransportSecuritySettings(enable_dns_rebinding_protection=False)  # the door knows the hosts
    server.streamable_http_app(transport_security=unguarded, max_request_body_size=offers.service.settings.body)
    serve = _OfCaller(StreamableHTTPASGIApp(server.session_manager))

    return Route("/mcp", serve), server.session_manager.run


class _OfCaller(Identified):
    """Binds each session to the caller who started it; for others it does not exist. Sessions and requests are limited."""

    def __init__(self, app: ASGIApp) -> None:
        super().__init__(app)
        self._sessions: dict[str, dict[str, float]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Admit a request, or refuse it."""
        request = Request(scope)
        caller, session = caller_of(request), request.headers.get(MCP_SESSION_ID_HEADER)
        mine, now = self._sessions.setdefault(caller.name, {}), monotonic()
        for ended in [each for each, used in mine.items() if used < now - DEFAULT_SESSION_IDLE_TIMEOUT]:
            del mine[ended]
        version = request.headers.get(MCP_PROTOCOL_VERSION_HEADER)
        begins = session is None and request.method == "POST" and (version is None or version in HANDSHAKE_PROTOCOL_VERSIONS)
        if begins and len(mine) >= SESSIONS:
            raise RateLimitError([problems.serving.TooMuch(what="open sessions", limit=SESSIONS, retry_after=60)])
        if session is not None and session in mine:
            mine[session] = now
        begun_here = token_hex(8)
        if begins:
            mine[begun_here] = now  # counted before it has a name, as several may start at the same time

        async def noting(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] < 400:
                begun = Headers(raw=message["headers"]).get(MCP_SESSION_ID_HEADER)
                if session is None and begun is not None:
                    mine.pop(begun_here, None)
                    mine[begun] = now
                elif session is not None and request.method == "DELETE":  # one that is refused leaves the session open
                    mine.pop(session, None)
            await send(message)

        scope["user"] = AuthenticatedUser(AccessToken(token="", client_id=caller.name, scopes=[]))
        try:
            with request.app.state.streams.entered(caller.name):
                await super().__call__(scope, receive, noting)
        finally:
            mine.pop(begun_here, None)


def split_programs(programs: Iterable[Prepared]) -> tuple[list[Prepared], list[Prepared]]:
    """Return the programs that their callers complete, and those that start runs."""
    filled: list[Prepared] = []
    run: list[Prepared] = []
    for each in programs:
        document = each.document
        is_run = Process.describes(document) or (isinstance(document, dict) and "activity" in document)
        (run if is_run else filled).append(each)
    return filled, run
