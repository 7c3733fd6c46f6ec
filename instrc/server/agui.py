"""The service over AG-UI: each program is an agent, a question interrupts its run, and the next request resumes it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from functools import partial
from typing import Final

from ag_ui.core import events, types
from ag_ui.encoder import EventEncoder
from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from instrc import problems
from instrc.problems.errors import InstrcError, RequestError
from instrc.runtime.run_report import RunFilter
from instrc.server.access import Caller
from instrc.server.bounds import PARTS
from instrc.server.door import caller_of
from instrc.server.exchange import answer_of, asked_of_people, ended_words, listed, result_of, standings, steps_done
from instrc.server.http import EventResponse
from instrc.server.run_service import RunService
from instrc.server.views import QuestionInfo
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json, as_object

THREAD: Final = "agui.thread"
"""Key of a run's metadata that holds its thread: a protocol run is a request, and a protocol thread is one of our runs."""
REASON: Final = "question"
"""Reason of an interrupt that asks a person."""


def agui_routes(service: RunService) -> list[BaseRoute]:
    """Return the route of the protocol: `/agui/PROGRAM` takes the inputs or the answers of a thread, and streams its events."""

    async def endpoint(request: Request) -> Response:
        caller = caller_of(request)
        try:
            asked = types.RunAgentInput.model_validate_json(await request.body())
        except ValidationError as error:
            few = error.errors() if error.error_count() <= PARTS else []  # to tell many takes long
            reason = "; ".join(f"{'/'.join(map(str, each['loc']))}: {each['msg']}" for each in few) or "too much in it is wrong"
            raise RequestError([problems.serving.InvalidRequest(reason=reason)]) from None
        if len(asked.messages) > PARTS:
            raise RequestError([problems.serving.InvalidRequest(reason=f"there are more than {PARTS:,}", pointer="/messages")])

        async def begin() -> AsyncIterator[str]:
            run, after = await _taken(service, caller, request.path_params["program"], asked)
            return _told(service, caller, asked, run, after)

        return EventResponse(request, caller, begin)

    return [Route("/agui/{program}", endpoint, methods=["POST"])]


async def _taken(service: RunService, caller: Caller, program: str, asked: types.RunAgentInput) -> tuple[str, int]:
    """Start the run of a thread, or answer its questions; return the run, and how many of its events the client has seen."""
    await service.program(caller, program)
    found = (await service.runs(caller, RunFilter(metadata={THREAD: asked.thread_id}), limit=1, own=True)).rows
    if not asked.resume and not asked.run_id:  # two requests would be one
        raise RequestError([problems.serving.InvalidRequest(reason="the request has no id", pointer="/runId")])
    if not asked.resume:
        inputs = _inputs_of(asked, "prompt" in as_object((await service.program(caller, program)).inputs["properties"]))
        key = f"agui:{asked.thread_id}:{asked.run_id}"
        info = await service.start(caller, program, inputs, key=key, metadata={THREAD: asked.thread_id})
        return info.report.run, 0
    if not found:
        raise RequestError([problems.serving.InvalidRequest(reason="the thread has no run to resume", pointer="/threadId")])
    run = found[0].run
    after = (await service.story(caller, run)).events
    for entry in asked.resume:
        if entry.status == "resolved":
            question = (await service.question(caller, run, entry.interrupt_id)).question
            await service.answer(caller, run, entry.interrupt_id, answer_of(entry.payload, question.schema))
    return run, after


def _inputs_of(asked: types.RunAgentInput, takes_words: bool) -> Json:  # noqa: FBT001  -- identified by its name
    """Return the inputs of a run: `forwardedProps.input`, and the user's last message as its prompt."""
    given = asked.forwarded_props.get("input") if isinstance(asked.forwarded_props, dict) else None
    said = [each.content for each in asked.messages if isinstance(each, types.UserMessage)]
    words = said[-1] if said else None
    if isinstance(words, list):
        words = "\n".join(part.text for part in words if isinstance(part, types.TextPart))
    if isinstance(words, str) and takes_words and (given is None or (isinstance(given, dict) and "prompt" not in given)):
        return {"prompt": words, **(given or {})}
    result: Json = {} if given is None else given
    return result


async def _told(service: RunService, caller: Caller, asked: types.RunAgentInput, run: str, after: int) -> AsyncIterator[str]:
    """Yield the events of a run until it has ended or waits for a person, in the format of the protocol's library."""
    encoder = EventEncoder()
    yield encoder.encode(events.RunStartedEvent(thread_id=asked.thread_id, run_id=asked.run_id, protocol_version="1.0"))
    try:
        async for event in _events(service, caller, asked, run, after):
            yield encoder.encode(event)
    except InstrcError as error:
        first = error.problems[0]
        yield encoder.encode(events.RunErrorEvent(message=first.message, code=first.name))


async def _events(
    service: RunService, caller: Caller, asked: types.RunAgentInput, run: str, seen: int
) -> AsyncIterator[events.BaseEvent]:
    steps = steps_done(service, caller, run, seen)
    async for info in standings(service, caller, run):
        for step in await anext(steps):
            yield events.StepStartedEvent(step_name=step)
            yield events.StepFinishedEvent(step_name=step)
        if asked_of_people(info.report) or info.report.status not in {"running", "waiting"}:
            break
    report = info.report
    finished = partial(events.RunFinishedEvent, thread_id=asked.thread_id, run_id=asked.run_id)
    if waits := asked_of_people(report):
        interrupts = [_interrupt(await service.question(caller, run, each.id)) for each in listed(waits)]
        outcome = events.RunFinishedInterruptOutcome(interrupts=interrupts)
        yield finished(outcome=outcome)
    elif report.status in {"failed", "held"}:
        yield events.RunErrorEvent(message=ended_words(report), code=report.status)
    else:
        is_done, value = report.status == "done", result_of(report)
        words = ended_words(report) if not is_done else value if isinstance(value, str) else dumps(value)
        for each in _message(run, words):
            yield each
        kind = events.RunFinishedSuccessOutcome if is_done else events.RunFinishedCancelledOutcome
        yield finished(result=value, outcome=kind())


def _interrupt(info: QuestionInfo) -> types.Interrupt:
    """Return a question as an interrupt."""
    question = info.question
    shown = question.show if isinstance(question.show, str) else dumps(question.show)
    return types.Interrupt(
        id=question.shown_id,
        reason=REASON,
        message=shown,
        response_schema=question.schema if isinstance(question.schema, dict) else {"not": {}} if question.schema is False else {},
        expires_at=None if info.due is None else datetime.fromtimestamp(info.due, UTC).isoformat(),
        metadata={"steps": list(question.steps), "show": question.show},
    )


def _message(run: str, words: str) -> list[events.BaseEvent]:
    """Return the events of a message of the agent."""
    name = f"{run}-result"
    return [
        events.TextMessageStartEvent(message_id=name, role="assistant"),
        *([events.TextMessageContentEvent(message_id=name, delta=words)] if words else []),
        events.TextMessageEndEvent(message_id=name),
    ]
