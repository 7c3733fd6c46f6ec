"""The JSON of HTTP operations: schemas, bodies of responses, and cursors."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final, NoReturn, cast

import msgspec
from msgspec import structs

from instrc import problems
from instrc.engines.run_table import RunRow
from instrc.engines.schedules import Schedule
from instrc.problems.errors import RequestError
from instrc.runtime.engine_protocol import WorkerInfo
from instrc.runtime.run_report import STATUSES, RunReport
from instrc.server.bounds import NAME
from instrc.server.views import ProgramInfo, QuestionInfo, RunInfo
from instrc.text.jsontext import dumps, loads
from instrc.text.jsonvalue import Json, JsonObject, without_type

TEXT: Final[JsonObject] = {"type": "string"}
WORD: Final[JsonObject] = {"type": "string", "pattern": "^[^\\u0000]*$"}
"""Schema of path and query values: databases accept no text with the character 0."""
MOMENT: Final[JsonObject] = {"type": ["string", "null"], "format": "date-time"}
ID: Final[JsonObject] = {"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$"}
NEW_ID: Final[JsonObject] = {"type": "string", "pattern": "^[A-Za-z0-9]([A-Za-z0-9._-]{0,98}[A-Za-z0-9_-])?$"}
"""Schema of new ids, which may name files and must not end with a dot."""
SPAN: Final[JsonObject] = {"type": "string", "pattern": "^P([0-9]{1,5}W|[0-9]{1,6}D|T[0-9]{1,6}[HMS])$"}
_OPTIONAL: Final[JsonObject] = {"type": ["string", "null"]}
_NAMES: Final[JsonObject] = {"type": "array", "items": TEXT}
MOST_METADATA: Final = 20
METADATA: Final[JsonObject] = {
    "type": "object",
    "additionalProperties": {"type": "string", "maxLength": NAME},
    "propertyNames": {"maxLength": 100},
    "maxProperties": MOST_METADATA,
}
_SCHEMA: Final[JsonObject] = {"type": ["object", "boolean", "null"], "description": "A JSON Schema."}


def object_of(required: Mapping[str, Json], optional: Mapping[str, Json] | None = None, *, closed: bool = False) -> JsonObject:
    """Return the schema of an object."""
    made: JsonObject = {"type": "object", "properties": {**required, **(optional or {})}, "required": [*required]}
    return {**made, "additionalProperties": False} if closed else made


_RUN: Final[JsonObject] = {"run": ID, "program": TEXT, "status": {"enum": [*STATUSES]}, "began": MOMENT, "ended": MOMENT}
_ABOUT_RUN: Final[JsonObject] = {
    "starter": _OPTIONAL,
    "metadata": METADATA,
    "digest": {"type": ["string", "null"], "description": "The digest of its plan, which differs between versions."},
    "waitsFor": {
        "type": ["string", "null"],
        "description": "The project whose worker the run waits for, as none is alive; an empty text if any worker would do.",
    },
}
SCHEMAS: Final[dict[str, JsonObject]] = {
    "Program": object_of({"name": TEXT, "title": TEXT, "inputs": _SCHEMA, "output": _SCHEMA, "digest": TEXT}),
    "RunRow": object_of(
        _RUN,
        {
            **_ABOUT_RUN,
            "error": {
                **object_of({"kind": TEXT, "step": {"type": ["string", "null"]}, "message": TEXT}),
                "description": "Why it has failed or is held.",
            },
        },
    ),
    "Run": object_of(
        _RUN,
        {
            **_ABOUT_RUN,
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
            "tag": {**TEXT, "description": "`If-Match` of an answer to what is shown: it is refused if that has changed."},
            "opened": MOMENT,
            "due": MOMENT,
            "candidates": _NAMES,
            "claimedBy": _OPTIONAL,
            "claimedUntil": MOMENT,
            "needed": {"type": "integer", "minimum": 1},
            "votes": {
                "type": "array",
                "items": object_of({"who": TEXT, "at": MOMENT, "comment": _OPTIONAL, "sender": _OPTIONAL}),
            },
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


ENDING: Final = ("output", "value", "error", "step")
"""Members of a run that say how it has ended."""


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
    is_huge = any(isinstance(each, int) and abs(each) >= 2**63 for each in places)  # databases have no such number
    if is_huge or not all(isinstance(each, kind) for each, kind in zip(places, kinds, strict=True)):
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
    return structs.asdict(info)


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
    made |= ending_json(report)
    made["questions"] = [
        {"id": question_id(report.run, each.id), "by": each.by, "steps": list(each.steps)} for each in report.questions
    ]
    return made


def ending_json(report: RunReport) -> JsonObject:
    """Return the result of a run, or why it has none; nothing while it goes on."""
    ended = {} if report.outcome is None else without_type(report.outcome)
    return {key: value for key, value in ended.items() if key in ENDING}


def schedule_json(schedule: Schedule) -> JsonObject:
    """Return a schedule as JSON."""
    made = structs.asdict(schedule)
    clock = made.pop("clock")
    return {**made, **structs.asdict(clock), "due": moment(schedule.due)}


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
        "tag": info.question.tag,
        "opened": moment(info.opened),
        "due": moment(info.due),
        "candidates": list(info.candidates),
        "claimedBy": info.claimed_by,
        "claimedUntil": moment(info.claimed_until),
        "needed": info.approval.needed,
        "votes": [
            {"who": each.who, "at": moment(each.at), "comment": each.comment, "sender": each.sender} for each in info.votes
        ],
    }
