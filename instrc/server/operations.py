"""The operations of the HTTP API: one table, from which its routes and its OpenAPI document are generated."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from datetime import datetime
from typing import Final, TypeAlias, cast

from msgspec import Struct, field

from instrc.engines.run_table import RunRow
from instrc.problems.errors import InstrcError
from instrc.runtime.retry import ForkOptions, RetryOptions
from instrc.runtime.run_report import STATUSES, RunFilter
from instrc.server.access import Caller
from instrc.server.bounds import COMMENT, NAME
from instrc.server.operation_json import (
    ID,
    METADATA,
    MOST_METADATA,
    NEW_ID,
    SPAN,
    TEXT,
    WORD,
    object_of,
    place_of,
    place_of_question,
    place_of_run,
    program_json,
    question_json,
    refuse,
    row_json,
    run_json,
    schedule_json,
    token_of,
    worker_json,
)
from instrc.server.run_service import RunService
from instrc.server.views import Page, QuestionInfo, RunInfo
from instrc.text.jsonvalue import Json, JsonObject, as_number, as_text, mapping, optional_text


class RequestData(Struct, frozen=True):
    """A request, parsed and validated."""

    path: Mapping[str, str]
    query: Mapping[str, str]
    body: JsonObject
    headers: Mapping[str, str]

    @property
    def run(self) -> str:
        """The run that the path names."""
        return self.path["run"]

    @property
    def question(self) -> tuple[str, str]:
        """The run and the question that the path names."""
        run, _, question = self.path["question"].partition(":")
        return run, re.sub(r"~(?![0-9]+(~|$))", "/", question)  # `~2` is part of a name: a step restarted under another key

    @property
    def limit(self) -> int:
        """The number of rows of a page."""
        given = self.query.get("limit", "50")
        if not given.isascii() or not given.isdigit() or len(given) > 9 or not 1 <= int(given) <= 200:
            refuse("`limit` is a whole number from 1 to 200")
        return int(given)

    @property
    def wait(self) -> float:
        """The seconds that the caller is willing to wait (`Prefer: wait=20`), at most a minute."""
        for part in self.headers.get("prefer", "").split(","):
            name, _, value = part.strip().partition("=")
            if name.lower() == "wait" and value.isascii() and value.isdigit():
                return min(float(value[:6]), 60.0)
        return 0.0

    def number(self, name: str) -> float | None:
        """Return a time from the query, in seconds since 1970."""
        given = self.query.get(name)
        if given is None:
            return None
        try:
            return datetime.fromisoformat(given.upper()).timestamp()
        except (ValueError, OverflowError):
            refuse(f"`{name}` is a moment as `2026-11-26T12:00:00Z`")


class ResponseData(Struct, frozen=True):
    """The response to a request."""

    body: Json
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    stream: Callable[[], Awaitable[AsyncIterator[str]]] | None = None
    """Starts a stream that is sent instead of the body."""


Call: TypeAlias = Callable[[RunService, Caller, RequestData], Awaitable[ResponseData]]


class Endpoint(Struct, frozen=True):
    """One operation of the API."""

    method: str
    path: str
    name: str
    summary: str
    call: Call
    answer: JsonObject | None
    """Schema of the response body; `None` for none."""
    query: Mapping[str, JsonObject] = field(default_factory=dict)
    body: JsonObject | None = None
    status: int = 200
    errors: tuple[int, ...] = ()
    """Error statuses in addition to 400, 401, 403, 429 and 503, which all may have."""
    headers: Mapping[str, JsonObject] = field(default_factory=dict)
    """Request headers that it reads, with their schemas."""
    by_link: bool = False
    """Whether the signed link in the path identifies the caller and the question."""
    is_stream: bool = False
    """Whether the response is an event stream."""


def tags_of(header: str | None) -> frozenset[str]:
    """Return the state tags in `If-Match` or `If-None-Match`; `*` is any."""
    return frozenset() if header is None else frozenset(each.strip().removeprefix("W/").strip('"') for each in header.split(","))


PAGE: Final[dict[str, JsonObject]] = {"limit": {"type": "integer", "minimum": 1, "maximum": 200}, "cursor": WORD}
RUNS_CHOSEN: Final[dict[str, JsonObject]] = {
    "status": {"enum": [*STATUSES]},
    "program": WORD,
    "since": {**SPAN, "description": "Only runs that began in this span of time up to now, for example `P7D`."},
    "before": {**SPAN, "description": "Only runs that began before this span of time."},
    "error": {**WORD, "description": "Only runs that failed or are held by an error of this kind or step, or with this text."},
}


def _ref(name: str) -> JsonObject:
    return {"$ref": f"#/components/schemas/{name}"}


_RUN: Final = _ref("Run")
_QUESTION: Final = _ref("Question")
_COUNT: Final[JsonObject] = {"type": "integer", "minimum": 1}
_RETRIED: Final = object_of({}, {"step": TEXT, "newKey": {"type": "boolean"}, "requests": _COUNT, "tokens": _COUNT}, closed=True)
_FORKED: Final = object_of({}, {"step": TEXT, "set": {"type": "object", "maxProperties": 100}, "run": NEW_ID}, closed=True)
_TO: Final = object_of({"to": {"type": "string", "minLength": 1, "maxLength": 200}}, closed=True)
_GIVEN: Final = object_of({"data": {}}, {"comment": {"type": "string", "maxLength": COMMENT}}, closed=True)


async def _programs(service: RunService, caller: Caller, _asked: RequestData) -> ResponseData:
    return ResponseData({"items": [program_json(each) for each in await service.programs(caller)], "next": None})


def _page(name: str) -> JsonObject:
    return object_of({"items": {"type": "array", "items": _ref(name)}, "next": {"type": ["string", "null"]}})


async def _program(service: RunService, caller: Caller, asked: RequestData) -> ResponseData:
    return ResponseData(program_json(await service.program(caller, asked.path["program"])))


async def _start(service: RunService, caller: Caller, asked: RequestData) -> ResponseData:
    info = await service.start(
        caller,
        as_text(asked.body["program"]),
        asked.body.get("input"),
        key=asked.headers.get("idempotency-key"),
        run=optional_text(asked.body.get("run")),
        metadata=cast("Mapping[str, str]", mapping(asked.body.get("metadata"))),
        wait=asked.wait,
    )
    return await _run_answer(info, 201)


async def _runs(service: RunService, caller: Caller, asked: RequestData) -> ResponseData:
    metadata = {key.removeprefix("metadata."): value for key, value in asked.query.items() if key.startswith("metadata.")}
    if len(metadata) > MOST_METADATA:
        refuse(f"at most {MOST_METADATA} metadata filters are allowed")
    chosen = filter_of({**asked.query, "metadata": {**metadata}})
    page = await service.runs(caller, chosen, limit=asked.limit, cursor=place_of_run(asked.query.get("cursor")))
    return ResponseData(_page_json(page))


def filter_of(given: Mapping[str, Json]) -> RunFilter:
    """Return the run filter in a query or body."""
    texts = {name: optional_text(given.get(name)) for name in ("status", "program", "since", "before", "error")}
    try:
        return RunFilter.of(**texts, metadata=cast("dict[str, str]", mapping(given.get("metadata"))))
    except InstrcError as error:
        refuse(error.problems[0].message)


def _of_run(act: Callable[[RunService, Caller, str], Awaitable[RunInfo]]) -> Call:
    """Return an operation on the run in the path."""

    async def call(service: RunService, caller: Caller, asked: RequestData) -> ResponseData:
        return await _run_answer(await act(service, caller, asked.run))

    return call


async def _trace(service: RunService, caller: Caller, asked: RequestData) -> ResponseData:
    place = place_of(asked.query.get("cursor"), int)
    events, following = await service.event_streams.trace(caller, asked.run, 0 if place is None else int(place[0]))
    return ResponseData({"items": cast("Json", events), "next": token_of(None if following is None else (following,))})


def _on(
    noun: str,
    action: str,
    summary: str,
    call: Call,
    answer: JsonObject,
    more: tuple[int, ...] = (),
    *,
    body: JsonObject | None = None,
    status: int = 200,
) -> Endpoint:
    """Return an operation on a run or question, including the errors for missing, forbidden and deleted ones."""
    name, path = f"{action}{noun.title()}", f"/v1/{noun}s/{{{noun}}}/{action}"
    return Endpoint("POST", path, name, summary, call, answer, body=body, status=status, errors=(404, 409, 410, *more))


async def _retry(service: RunService, caller: Caller, asked: RequestData) -> ResponseData:
    body = asked.body
    requests, tokens = (None if body.get(name) is None else int(as_number(body[name])) for name in ("requests", "tokens"))
    options = RetryOptions(optional_text(body.get("step")), body.get("newKey") is True, requests, tokens)
    return await _run_answer(await service.retry(caller, asked.run, options))


async def _fork(service: RunService, caller: Caller, asked: RequestData) -> ResponseData:
    body = asked.body
    options = ForkOptions(optional_text(body.get("step")), mapping(body.get("set")), optional_text(body.get("run")))
    return await _run_answer(await service.fork(caller, asked.run, options), 201)


async def _delete(service: RunService, caller: Caller, asked: RequestData) -> ResponseData:
    await service.delete(caller, asked.run)
    return ResponseData(None, 204)


async def _schedules(service: RunService, caller: Caller, asked: RequestData) -> ResponseData:
    place = place_of(asked.query.get("cursor"), str)
    seen = [each for each in await service.schedules(caller) if place is None or each.name > str(place[0])]
    items = [schedule_json(each) for each in seen[: asked.limit]]
    place = (seen[asked.limit - 1].name,) if len(seen) > asked.limit else None
    return ResponseData({"items": cast("Json", items), "next": token_of(place)})


async def _workers(service: RunService, caller: Caller, _asked: RequestData) -> ResponseData:
    return ResponseData({"items": cast("Json", [worker_json(each) for each in await service.workers(caller)]), "next": None})


async def _questions(service: RunService, caller: Caller, asked: RequestData) -> ResponseData:
    query = asked.query
    page = await service.questions(
        caller,
        run=query.get("run"),
        program=query.get("program"),
        mine=query.get("candidate") == "me",
        claimed=query.get("assignee") == "me",
        due_before=asked.number("due_before"),
        limit=asked.limit,
        cursor=place_of_question(query.get("cursor")),
    )
    return ResponseData(_page_json(page))


def _of_question(act: Callable[[RunService, Caller, str, str], Awaitable[QuestionInfo]]) -> Call:
    """Return an operation on the question in the path."""

    async def call(service: RunService, caller: Caller, asked: RequestData) -> ResponseData:
        return _question_answer(await act(service, caller, *asked.question))

    return call


async def _delegate(service: RunService, caller: Caller, asked: RequestData) -> ResponseData:
    return _question_answer(await service.claim(caller, *asked.question, to=as_text(asked.body["to"])))


async def _link(service: RunService, caller: Caller, asked: RequestData) -> ResponseData:
    word = await service.link(caller, *asked.question, as_text(asked.body["to"]))
    page = f"{(service.settings.url or '').rstrip('/')}/inbox/link/{word}"
    return ResponseData({"link": f"/v1/links/{word}", "page": page, "word": word}, 201)


async def _answer(service: RunService, caller: Caller, asked: RequestData) -> ResponseData:
    comment = optional_text(asked.body.get("comment"))
    info = await service.answer(
        caller, *asked.question, asked.body["data"], comment=comment, tags=tags_of(asked.headers.get("if-match")) - {"*"}
    )
    if caller.only is not None:  # holders of a link to a question see nothing else of its run
        return ResponseData({"run": info.report.run, "status": info.report.status})
    return await _run_answer(info)


ENDPOINTS: Final[tuple[Endpoint, ...]] = (
    Endpoint("GET", "/v1/programs", "listPrograms", "List the programs that you may see or start.", _programs, _page("Program")),
    Endpoint("GET", "/v1/programs/{program}", "getProgram", "Get a program.", _program, _ref("Program"), errors=(404,)),
    Endpoint(
        "POST",
        "/v1/runs",
        "startRun",
        "Start a run. With `Idempotency-Key` it starts once; `Prefer: wait=20` waits for it.",
        _start,
        _RUN,
        body=object_of({"program": TEXT}, {"input": {}, "run": NEW_ID, "metadata": METADATA}, closed=True),
        status=201,
        errors=(404, 409, 410, 422),
        headers={"Idempotency-Key": {"type": "string", "pattern": f"^[!-~][ -~]{{0,{NAME - 1}}}$"}, "Prefer": TEXT},
    ),
    Endpoint(
        "GET",
        "/v1/runs",
        "listRuns",
        "List the runs that you may see, the latest first; `metadata.NAME=VALUE` filters by metadata.",
        _runs,
        _page("RunRow"),
        query={**PAGE, **RUNS_CHOSEN},
    ),
    Endpoint("GET", "/v1/runs/{run}", "getRun", "Get the state of a run.", _of_run(RunService.run), _RUN, errors=(404, 410)),
    Endpoint(
        "GET",
        "/v1/runs/{run}/trace",
        "getTrace",
        "Get the trace of a run; a long one in several parts.",
        _trace,
        object_of({"items": {"type": "array", "items": {"type": "object"}}, "next": {"type": ["string", "null"]}}),
        query={"cursor": WORD},
        errors=(404, 410),
    ),
    _on("run", "cancel", "Cancel a run.", _of_run(RunService.cancel), _RUN),
    _on("run", "resume", "Resume a run that no process carries out.", _of_run(RunService.resume), _RUN),
    _on("run", "retry", "Retry a run that has failed or is held.", _retry, _RUN, (422,), body=_RETRIED),
    _on("run", "fork", "Start another run from the recorded results of this one.", _fork, _RUN, (422,), body=_FORKED, status=201),
    Endpoint(
        "DELETE", "/v1/runs/{run}", "deleteRun", "Delete a run that has ended.", _delete, None, status=204, errors=(404, 409, 410)
    ),
    Endpoint(
        "GET",
        "/v1/schedules",
        "listSchedules",
        "List the schedules of programs whose runs you may see, by name.",
        _schedules,
        _page("Schedule"),
        query=PAGE,
    ),
    Endpoint("GET", "/v1/workers", "listWorkers", "List the workers that carry runs; for operators.", _workers, _page("Worker")),
    Endpoint(
        "GET",
        "/v1/questions",
        "listQuestions",
        "List open questions, the oldest first; `candidate=me`: those you may answer; `assignee=me`: those you have claimed.",
        _questions,
        _page("Question"),
        query={
            **PAGE,
            "run": WORD,
            "program": WORD,
            "candidate": {"const": "me"},
            "assignee": {"const": "me"},
            "due_before": {"type": "string", "format": "date-time"},
        },
    ),
    Endpoint(
        "GET",
        "/v1/questions/{question}",
        "getQuestion",
        "Get an open question.",
        _of_question(RunService.question),
        _QUESTION,
        errors=(404, 409, 410),
    ),
    _on("question", "claim", "Claim a question: then only its holder can answer it.", _of_question(RunService.claim), _QUESTION),
    _on("question", "release", "Release a question.", _of_question(RunService.release), _QUESTION),
    _on(
        "question",
        "delegate",
        "Delegate a question that you have claimed to another person.",
        _delegate,
        _QUESTION,
        (422,),
        body=_TO,
    ),
    Endpoint(
        "POST",
        "/v1/questions/{question}/links",
        "linkQuestion",
        "Create a signed link by which a person may see this question, and answer it once, within seven days.",
        _link,
        object_of({"link": TEXT, "page": TEXT, "word": TEXT}),
        body=_TO,
        status=201,
        errors=(404, 409, 410, 422),
    ),
    Endpoint(
        "POST",
        "/v1/questions/{question}/answer",
        "answerQuestion",
        "Answer a question; `If-Match` with its `ETag` refuses the answer where the question has changed.",
        _answer,
        _RUN,
        body=_GIVEN,
        errors=(404, 409, 410, 412, 422),
        headers={"If-Match": TEXT},
    ),
    Endpoint(
        "GET",
        "/v1/links/{word}",
        "getLinkedQuestion",
        "Get the question of a signed link; this does not use it up.",
        _of_question(RunService.question),
        _QUESTION,
        errors=(404, 409, 410),
        by_link=True,
    ),
    Endpoint(
        "POST",
        "/v1/links/{word}",
        "answerByLink",
        "Answer the question of a signed link, once.",
        _answer,
        object_of({"run": ID, "status": {"enum": [*STATUSES]}}),
        body=_GIVEN,
        errors=(404, 409, 410, 412, 422),
        headers={"If-Match": TEXT},
        by_link=True,
    ),
)  # fmt: skip  -- a line each where it fits


async def _run_answer(info: RunInfo, status: int = 200) -> ResponseData:
    body, tag = await asyncio.to_thread(lambda: (run_json(info), info.tag))
    return ResponseData(body, status, {"ETag": f'"{tag}"', "Location": f"/v1/runs/{info.report.run}"})


def _page_json(page: Page) -> JsonObject:
    rows = [row_json(each) if isinstance(each, RunRow) else question_json(each) for each in page.rows]
    return {"items": cast("Json", rows), "next": token_of(page.next)}


def _question_answer(info: QuestionInfo) -> ResponseData:
    return ResponseData(question_json(info), 200, {"ETag": f'"{info.question.tag}"'})


def in_path(operation: Endpoint) -> list[str]:
    """Return the names in the path of an operation."""
    return [part[1:-1] for part in operation.path.split("/") if part.startswith("{")]
