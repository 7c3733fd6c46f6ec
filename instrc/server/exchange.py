"""Common part of the agent protocols: the state of a run after each change, and the answer in a message."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from itertools import accumulate, takewhile
from typing import Final

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from instrc.runtime.questions import Question
from instrc.runtime.run_report import RunReport, describe_outcome
from instrc.schema.validation import is_valid
from instrc.server.access import Caller
from instrc.server.bounds import LISTED, loads_bounded
from instrc.server.door import caller_of
from instrc.server.run_service import RunService
from instrc.server.streams import TraceReading
from instrc.server.views import RunInfo
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json, JsonObject, as_texts

EXACT: Final = "application/json"
"""Media type of JSON as text, with numbers and key order as written."""
_ALL: Final = 10**15
"""A number greater than that of any event."""
_TURNS: Final = frozenset({"snapshot", "status", "question", "told", "held", "ended"})
"""Events after which a run may wait for another person."""


async def standings(service: RunService, caller: Caller, run: str) -> AsyncIterator[RunInfo]:
    """Yield the current state of a run, and each change of its status or questions, until it has ended."""
    before: tuple[str, list[str]] | None = None
    async for event in service.event_streams.events(caller, run, _ALL):
        kind = event.kind
        del event  # like the report below, it may be large, and the next event may take hours
        if kind in _TURNS:
            info = await service.run(caller, run)
            now = (
                info.report.status,
                await asyncio.to_thread(lambda asked: [each.shown_id for each in asked], info.report.questions),
            )
            if now != before:
                before = now
                yield info
            del info


async def settled(service: RunService, caller: Caller, run: str) -> RunInfo:
    """Wait until a run has ended or waits for a person."""
    async for info in standings(service, caller, run):
        if info.report.status != "running":
            return info
    return await service.run(caller, run)


def asked_of_people(report: RunReport) -> list[Question]:
    """Return the questions that people answer."""
    return [each for each in report.questions if each.by == "person"]


def listed(questions: Sequence[Question]) -> Sequence[Question]:
    """Return the first questions, as many as a page shows, and at least one: the others follow when these are answered."""
    lengths = accumulate(len(dumps([each.show, each.schema], indent=False)) for each in questions)
    return questions[: max(1, len([*takewhile(LISTED.__ge__, lengths)]))]


def question_json(question: Question) -> JsonObject:
    """Return a question in the form for clients."""
    return {"question": question.shown_id, "steps": list(question.steps), "show": question.show, "schema": question.schema}


def answer_of(data: Json, schema: Json) -> Json:
    """Return an answer as JSON: clients without type information send texts."""
    if not isinstance(data, str) or is_valid(data, schema):
        return data
    try:
        read = loads_bounded(data)
    except ValueError:
        return data
    return read if isinstance(read, dict | list) or is_valid(read, schema) else data


def ended_words(report: RunReport) -> str:
    """Return as text how a run ended, or what holds it."""
    if report.status == "held":
        shown = [each.show for each in report.questions if each.by == "operator"]
        return f"the run is held until its operator decides: {_message(shown[0]) if shown else ''}"
    if report.outcome is None:  # who is only asked in it does not see why
        return "the run was cancelled" if report.status == "cancelled" else f"the run is {report.status}"
    return describe_outcome(report.outcome)


def _message(show: Json) -> str:
    error = show.get("error") if isinstance(show, dict) else None
    return str(error.get("message", "")) if isinstance(error, dict) else ""


def result_of(report: RunReport) -> Json:
    """Return the result of a completed run, or `None`."""
    return report.outcome["value"] if report.outcome is not None and report.outcome["status"] == "done" else None


class Identified:
    """Passes authenticated requests to an application, as libraries report others like internal errors."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Admit a request, or refuse it."""
        caller_of(Request(scope))
        await self.app(scope, receive, send)


async def steps_done(service: RunService, caller: Caller, run: str, seen: int) -> AsyncGenerator[list[str]]:
    """Yield the steps that a trace reports as done after a number of its events, each time those since the last one."""
    reading, named = TraceReading(service.engine, run, 0), dict[Json, Json]()
    while True:
        await service.visibility.require_whole(caller, run)
        done: list[str] = []
        async for event in reading.events({}):
            steps = event.body.get("steps", event.body.get("step"))
            if isinstance(steps, list | str):
                named[event.body.get("id")] = [steps] if isinstance(steps, str) else steps
            if event.number > seen and event.kind in {"answered", "returned", "told"}:
                done += as_texts(named.get(event.body.get("id"), []))
        yield done
