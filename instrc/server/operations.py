"""The operations of the HTTP API: one table, from which its routes and its OpenAPI document are generated."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from datetime import UTC, datetime
from typing import Final, NoReturn, TypeAlias, cast

import msgspec
from msgspec import Struct, field, structs

from instrc import problems
from instrc.engines.run_table import RunRow
from instrc.engines.schedules import Schedule
from instrc.problems.errors import InstrcError, RequestError
from instrc.runtime.engine_protocol import WorkerInfo
from instrc.runtime.retry import ForkOptions, RetryOptions
from instrc.runtime.run_report import STATUSES, RunFilter
from instrc.server.access import Caller
from instrc.server.bounds import NAME
from instrc.server.run_service import RunService
from instrc.server.views import Page, ProgramInfo, QuestionInfo, RunInfo
from instrc.text.jsontext import dumps, loads
from instrc.text.jsonvalue import Json, JsonObject, as_number, as_text, mapping, optional_text, without_type

TEXT: Final[JsonObject] = {"type": "string"}
WORD: Final[JsonObject] = {"type": "string", "pattern": "^[^\\u0000]*$"}
"""Schema of path and query values: databases accept no text with the character 0."""
MOMENT: Final[JsonObject] = {"type": ["string", "null"], "format": "date-time"}
ID: Final[JsonObject] = {"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$"}
_NEW_ID: Final[JsonObject] = {"type": "string", "pattern": "^[A-Za-z0-9]([A-Za-z0-9._-]{0,98}[A-Za-z0-9_-])?$"}
"""Schema of new ids, which may name files and must not end with a dot."""
SPAN: Final[JsonObject] = {"type": "string", "pattern": "^P([0-9]{1,6}[WD]|T[0-9]{1,6}[HMS])$"}
_NAMES: Final[JsonObject] = {"type": "array", "items": TEXT}
_MOST_METADATA: Final = 20
METADATA: Final[JsonObject] = {
    "type": "object",
    "additionalProperties": {"type": "string", "maxLength": NAME},
    "propertyNames": {"maxLength": 100},
    "maxProperties": _MOST_METADATA,
}
_SCHEMA: Final[JsonObject] = {"type": ["object", "boolean", "null"], "description": "A JSON Schema."}


def object_of(required: Mapping[str, Json], optional: Mapping[str, Json] | None = None, *, closed: bool = False) -> JsonObject:
    """Return the schema of an object."""
    made: JsonObject = {"type": "object", "properties": {**required, **(optional or {})}, "required": [*required]}
    return {**made, "additionalProperties": False} if closed else made


_WAITS_FOR: Final[JsonObject] = {
    "type": ["string", "null"],
    "description": "The project for whose worker the run waits, since none is alive; an empty text if any worker would do.",
}
_DIGEST: Final[JsonObject] = {"type": ["string", "null"], "description": "That of its plan: another one is another version."}
SCHEMAS: Final[dict[str, JsonObject]] = {
    "Program": object_of({"name": TEXT, "title": TEXT, "inputs": _SCHEMA, "output": _SCHEMA, "digest": TEXT}),
    "RunRow": object_of(
        {"run": ID, "program": TEXT, "status": {"enum": [*STATUSES]}, "began": MOMENT, "ended": MOMENT},
        {
            "starter": {"type": ["string", "null"]},
            "metadata": METADATA,
            "digest": _DIGEST,
            "waitsFor": _WAITS_FOR,
            "error": {
                **object_of({"kind": TEXT, "step": {"type": ["string", "null"]}, "message": TEXT}),
                "description": "Why it has failed or is held.",
            },
        },
    ),
    "Run": object_of(
        {"run": ID, "program": TEXT, "status": {"enum": [*STATUSES]}, "began": MOMENT, "ended": MOMENT},
        {
            "starter": {"type": ["string", "null"]},
            "metadata": METADATA,
            "digest": _DIGEST,
            "waitsFor": _WAITS_FOR,
            "output": {"description": "The result of each step, when the run is done."},
            "value": {"description": "The result, when the run is done."},
            "error": object_of({"kind": TEXT, "message": TEXT}),
            "step": {"type": "string", "description": "The step that a person has refused."},
            "forked": {**object_of({"run": ID, "at": {"type": ["string", "null"]}}), "description": "What it was forked from."},
            "questions": {"type": "array", "items": object_of({"id": TEXT, "by": TEXT, "steps": _NAMES})},
        },
    ),
    "Question": object_of(
        {
            "id": TEXT,
            "run": ID,
            "program": TEXT,
            "question": TEXT,
            "by": {"enum": ["person", "system", "operator"]},
            "steps": _NAMES,
            "show": {"description": "What the person is shown."},
            "schema": _SCHEMA,
            "opened": MOMENT,
            "due": MOMENT,
            "candidates": _NAMES,
            "claimedBy": {"type": ["string", "null"]},
            "claimedUntil": MOMENT,
            "needed": {"type": "integer", "minimum": 1},
            "votes": {"type": "array", "items": object_of({"who": TEXT, "at": MOMENT, "comment": {"type": ["string", "null"]}})},
        }
    ),
    "Schedule": object_of(
        {
            "name": TEXT,
            "program": TEXT,
            "cron": TEXT,
            "zone": TEXT,
            "overlap": {"enum": ["skip", "queue", "both"]},
            "due": {**MOMENT, "description": "When the next run begins; `null` while it is paused."},
            "last": {"type": ["string", "null"], "description": "The latest run."},
            "trouble": {"type": ["string", "null"], "description": "Why the latest tick began no run."},
        }
    ),
    "Worker": object_of(
        {
            "name": TEXT,
            "host": TEXT,
            "process": {"type": "integer"},
            "projects": _NAMES,
            "slots": {"type": ["integer", "null"], "description": "Runs that it carries at once; `null` for any number."},
            "busy": {"type": "integer", "description": "Runs that it carries now; those that only wait are not counted."},
            "began": MOMENT,
            "seen": MOMENT,
        }
    ),
    "Problem": object_of(
        {"type": TEXT, "title": TEXT, "status": {"type": "integer"}, "detail": TEXT, "name": TEXT},
        {
            "hint": TEXT,
            "errors": {"type": "array", "items": object_of({"pointer": TEXT, "message": TEXT})},
        },
    ),
}


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
        return run, question.replace("~", "/")

    @property
    def limit(self) -> int:
        """The number of rows of a page."""
        given = self.query.get("limit", "50")
        if not given.isascii() or not given.isdigit() or not 1 <= int(given[:9]) <= 200:
            refuse("`limit` is a whole number from 1 to 200")
        return int(given)

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
    return frozenset(each.strip().removeprefix("W/").strip('"') for each in (header or "").split(",")) - {""}


def refuse(reason: str, pointer: str = "") -> NoReturn:
    """Raise for a request that does not conform to the OpenAPI document."""
    raise RequestError([problems.serving.InvalidRequest(reason=reason, pointer=pointer)]) from None


def moment(seconds: float | None) -> str | None:
    """Format a time as ISO 8601 in UTC."""
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def question_id(run: str, question: str) -> str:
    """Return the id of a question among all runs, as used in addresses."""
    return f"{run}:{question.replace('/', '~')}"


def place_of(token: str | None, *kinds: type) -> tuple[float | str, ...] | None:
    """Return the cursor encoded in a page token."""
    if token is None:
        return None
    try:
        found = loads(urlsafe_b64decode(token.encode("ascii") + b"=="))
    except ValueError:
        found = None
    places = found if isinstance(found, list) and len(found) == len(kinds) else [None] * len(kinds)
    if not all(isinstance(each, kind) for each, kind in zip(places, kinds, strict=True)):
        refuse("`cursor` was not issued by this service")
    return tuple(cast("list[float | str]", places))


def place_of_run(token: str | None) -> tuple[float, str] | None:
    """Return the cursor of a list of runs."""
    return cast("tuple[float, str] | None", place_of(token, float, str))


def place_of_question(token: str | None) -> tuple[float, str, str] | None:
    """Return the cursor of a list of questions."""
    return cast("tuple[float, str, str] | None", place_of(token, float, str, str))


def token_of(place: tuple[float | str, ...] | None) -> str | None:
    """Return the token of the cursor after a page."""
    return None if place is None else urlsafe_b64encode(dumps(list(place), indent=False).encode()).decode().rstrip("=")


def program_json(info: ProgramInfo) -> JsonObject:
    """Return a program as JSON."""
    return {"name": info.name, "title": info.title, "inputs": info.inputs, "output": info.output, "digest": info.digest}


def row_json(row: RunRow) -> JsonObject:
    """Return a run of a list as JSON."""
    return {
        "run": row.run,
        "program": row.program,
        "status": row.status,
        "began": moment(row.began),
        "ended": moment(row.ended),
        "starter": row.starter,
        "metadata": dict(row.metadata),
        "digest": row.digest,
        "waitsFor": row.waits_for,
        **({} if row.fault is None else {"error": structs.asdict(row.fault)}),
    }


def run_json(info: RunInfo) -> JsonObject:
    """Return the state of a run as JSON."""
    report = info.report
    row = RunRow(
        report.run, report.name, report.status, 0.0, report.ended, info.starter, info.metadata, info.digest, info.waits_for
    )
    made: JsonObject = {**row_json(row), "began": moment(report.began)}
    if report.forked is not None:
        made["forked"] = cast("Json", report.forked)
    if report.outcome is not None:
        ended = without_type(report.outcome)
        made |= {key: value for key, value in ended.items() if key in {"output", "value", "error", "step"}}
    made["questions"] = [
        {"id": question_id(report.run, each.id), "by": each.by, "steps": list(each.steps)} for each in report.questions
    ]
    return made


def schedule_json(schedule: Schedule) -> JsonObject:
    """Return a schedule as JSON."""
    return {
        "name": schedule.name,
        "program": schedule.program,
        "cron": schedule.clock.cron,
        "zone": schedule.clock.zone,
        "overlap": schedule.overlap,
        "due": moment(schedule.due),
        "last": schedule.last,
        "trouble": schedule.trouble,
    }


def worker_json(worker: WorkerInfo) -> JsonObject:
    """Return a worker as JSON."""
    made = cast("JsonObject", msgspec.to_builtins(worker))
    return {**made, "began": moment(worker.began), "seen": moment(worker.seen)}


def question_json(info: QuestionInfo) -> JsonObject:
    """Return a question as JSON."""
    return {
        "id": question_id(info.run, info.question.id),
        "run": info.run,
        "program": info.program,
        "question": info.question.id,
        "by": info.question.by,
        "steps": list(info.question.steps),
        "show": info.question.show,
        "schema": info.question.schema,
        "opened": moment(info.opened),
        "due": moment(info.due),
        "candidates": list(info.candidates),
        "claimedBy": info.claimed_by,
        "claimedUntil": moment(info.claimed_until),
        "needed": info.approval.needed,
        "votes": [{"who": each.who, "at": moment(each.at), "comment": each.comment} for each in info.votes],
    }


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
_FORKED: Final = object_of({}, {"step": TEXT, "set": {"type": "object"}, "run": _NEW_ID}, closed=True)
_TO: Final = object_of({"to": {"type": "string", "minLength": 1, "maxLength": 200}}, closed=True)
_GIVEN: Final = object_of({"data": {}}, {"comment": {"type": "string", "maxLength": 10000}}, closed=True)


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
        wait=_wait(asked),
    )
    return _run_answer(info, 201)


async def _runs(service: RunService, caller: Caller, asked: RequestData) -> ResponseData:
    metadata = {key.removeprefix("metadata."): value for key, value in asked.query.items() if key.startswith("metadata.")}
    if len(metadata) > _MOST_METADATA:
        refuse(f"at most {_MOST_METADATA} metadata filters are allowed")
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
        return _run_answer(await act(service, caller, asked.run))

    return call


async def _trace(service: RunService, caller: Caller, asked: RequestData) -> ResponseData:
    return ResponseData({"items": cast("Json", await service.trace(caller, asked.run))})


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
    return _run_answer(await service.retry(caller, asked.run, options))


async def _fork(service: RunService, caller: Caller, asked: RequestData) -> ResponseData:
    body = asked.body
    options = ForkOptions(optional_text(body.get("step")), mapping(body.get("set")), optional_text(body.get("run")))
    return _run_answer(await service.fork(caller, asked.run, options), 201)


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
    items = [worker_json(each) for each in await service.workers(caller)]
    return ResponseData({"items": cast("Json", items), "next": None})


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
    if caller.only is not None:  # who has a link to a question sees nothing else of its run
        return ResponseData({"run": info.report.run, "status": info.report.status})
    return _run_answer(info)


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
        body=object_of({"program": TEXT}, {"input": {}, "run": _NEW_ID, "metadata": METADATA}, closed=True),
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
        "Get the trace of a run.",
        _trace,
        object_of({"items": {"type": "array", "items": {"type": "object"}}}),
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
    _on(
        "question", "claim", "Claim a question: nobody else can answer it for a while.", _of_question(RunService.claim), _QUESTION
    ),
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


def _wait(asked: RequestData) -> float:
    """Return the seconds that the caller is willing to wait (`Prefer: wait=20`), at most a minute."""
    for part in asked.headers.get("prefer", "").split(","):
        name, _, value = part.strip().partition("=")
        if name.lower() == "wait" and value.isascii() and value.isdigit():
            return min(float(value[:6]), 60.0)
    return 0.0


def _run_answer(info: RunInfo, status: int = 200) -> ResponseData:
    return ResponseData(run_json(info), status, {"ETag": f'"{info.tag}"', "Location": f"/v1/runs/{info.report.run}"})


def _page_json(page: Page) -> JsonObject:
    rows = [row_json(each) if isinstance(each, RunRow) else question_json(each) for each in page.rows]
    return {"items": cast("Json", rows), "next": token_of(page.next)}


def _question_answer(info: QuestionInfo) -> ResponseData:
    return ResponseData(question_json(info), 200, {"ETag": f'"{info.tag}"'})


def in_path(operation: Endpoint) -> list[str]:
    """Return the names in the path of an operation."""
    return [part[1:-1] for part in operation.path.split("/") if part.startswith("{")]
