"""The service over A2A 1.0: programs are the skills of an agent, runs its tasks, a person's step required input."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from logging import getLogger
from typing import Final
from uuid import uuid4

from a2a.server.context import ServerCallContext
from a2a.server.events.event_queue import Event
from a2a.server.request_handlers.request_handler import RequestHandler
from a2a.server.routes.common import DefaultServerCallContextBuilder
from a2a.server.routes.jsonrpc_routes import create_jsonrpc_routes
from a2a.server.routes.rest_routes import create_rest_routes
from a2a.types import a2a_pb2 as pb
from a2a.utils import errors
from google.protobuf import struct_pb2
from google.protobuf.json_format import MessageToDict, MessageToJson, ParseDict, ParseError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route, Router

from instrc import problems
from instrc.problems.errors import InstrcError, LimitError, NotFoundError
from instrc.runtime.answers import find_question
from instrc.runtime.questions import read_shown_id
from instrc.runtime.run_report import RunFilter
from instrc.server import exchange
from instrc.server.access import Caller
from instrc.server.bounds import LISTED, PARTS, SETTING, loads_bounded
from instrc.server.door import caller_of
from instrc.server.identity import caller_later, kept_rights
from instrc.server.operation_json import place_of_run, token_of
from instrc.server.run_service import RunService
from instrc.server.views import ProgramInfo, RunInfo
from instrc.server.webhooks import Hook, Webhooks
from instrc.text.jsontext import digest_of, dumps
from instrc.text.jsonvalue import Json, JsonObject, as_object, mapping
from instrc.version import __version__

CARD: Final = "/.well-known/agent-card.json"
CONTEXT: Final = "a2a.context"
"""Key of a run's metadata that holds the context of its task."""
MOST_PUSHED: Final = 20
"""Maximum push addresses of one caller for a task."""
DATA: Final = 16 * 1024
"""Maximum characters of the values of a message that are also sent as data: protobuf's library takes long in the event loop."""
_STATES: Final[dict[str, pb.TaskState]] = {
    "running": pb.TASK_STATE_WORKING,
    "waiting": pb.TASK_STATE_INPUT_REQUIRED,
    "held": pb.TASK_STATE_WORKING,
    "done": pb.TASK_STATE_COMPLETED,
    "failed": pb.TASK_STATE_FAILED,
    "stopped": pb.TASK_STATE_REJECTED,
    "cancelled": pb.TASK_STATE_CANCELED,
}

for _name in ("a2a.server.routes.jsonrpc_dispatcher", "a2a.server.routes.rest_dispatcher", "a2a.utils.error_handlers"):
    getLogger(_name).addFilter(lambda record: str(record.msg).startswith(("Unhandled", "Unknown")))  # others repeat what was sent


def parts_of(values: Iterable[tuple[Json, str | None]]) -> list[pb.Part]:
    """Return values, each with the question that it is about, as parts: the exact JSON of each as text.

    Data is next to the first ones, if they are small and protobuf can represent them.
    """
    made, left = list[pb.Part](), DATA
    for value, question in values:
        metadata = None if question is None else struct_pb2.Struct(fields={"question": struct_pb2.Value(string_value=question)})
        made.append(pb.Part(text=dumps(value, indent=False), media_type=exchange.EXACT, metadata=metadata))
        left -= len(made[-1].text)
        with suppress(ParseError, ValueError, RecursionError, OverflowError):
            if left >= 0:
                data = ParseDict(value, struct_pb2.Value())  # type: ignore[arg-type]  # accepts any JSON
                made.append(pb.Part(data=data, media_type=exchange.EXACT, metadata=metadata))
    return made


def given_in(parts: Iterable[pb.Part]) -> tuple[bool, Json, str]:
    """Return whether parts contain JSON, that JSON, and the plain text next to it; exact JSON takes precedence over data.

    Raise `ContentTypeNotSupportedError` for files, `InvalidParamsError` for a part that is not JSON.
    """
    parts = list(parts)
    if len(parts) > PARTS:
        raise errors.InvalidParamsError(message=f"a message has at most {PARTS:,} parts")
    exact: list[Json] = []
    data: list[Json] = []
    words: list[str] = []
    for part in parts:
        match part.WhichOneof("content"):
            case "text" if part.media_type.partition(";")[0].strip() == exchange.EXACT:
                try:
                    exact.append(loads_bounded(part.text))
                except ValueError as error:
                    raise errors.InvalidParamsError(message=f"a part is not JSON: {error}") from None
            case "text":
                words.append(part.text)
            case "data":
                data.append(_whole(MessageToDict(part.data)))
            case _:
                raise errors.ContentTypeNotSupportedError(message="a program takes JSON and text, no files")
    found = exact or data
    if len(found) > 1:
        raise errors.InvalidParamsError(message="a message gives one JSON value; several would need an order")
    return bool(found), found[0] if found else None, "\n".join(words)


def _whole(value: Json) -> Json:
    """Return a value with integral floats converted to integers."""
    if isinstance(value, float) and value.is_integer() and abs(value) <= 2**53:
        return int(value)
    if isinstance(value, dict):
        return {key: _whole(each) for key, each in value.items()}
    return [_whole(each) for each in value] if isinstance(value, list) else value


def task_of(info: RunInfo) -> pb.Task:
    """Return a run as a task: its questions as the message of its status, its result as an artifact."""
    report = info.report
    asked = exchange.listed(exchange.asked_of_people(report))
    state = pb.TASK_STATE_INPUT_REQUIRED if asked else _STATES[report.status]
    if not asked and report.status == "waiting":
        state = pb.TASK_STATE_WORKING  # a system will answer later
    context = info.metadata.get(CONTEXT, report.run)
    status = pb.TaskStatus(state=state)
    status.timestamp.FromDatetime(datetime.fromtimestamp(report.ended or report.began or 0.0, UTC))
    parts = parts_of((exchange.question_json(each), each.shown_id) for each in asked)
    if not parts and report.status not in {"running", "waiting", "done"}:
        parts = [pb.Part(text=exchange.ended_words(report), media_type="text/plain")]
    if parts:
        name = f"{report.run}-{'-'.join(each.id for each in asked) or report.status}"
        status.message.CopyFrom(
            pb.Message(message_id=name, context_id=context, task_id=report.run, role=pb.ROLE_AGENT, parts=parts)
        )
    task = pb.Task(id=report.run, context_id=context, status=status)
    task.metadata.update({"program": report.name})
    if report.status == "done" and report.outcome is not None:  # who is only asked in it sees no result
        result = parts_of([(exchange.result_of(report), None)])
        task.artifacts.append(pb.Artifact(artifact_id="result", name="result", parts=result))
    return task


class ServiceHandler(RequestHandler):
    """Handles A2A requests with the service; it is stateless."""

    def __init__(self, service: RunService, webhooks: Webhooks | None = None) -> None:
        self.service = service
        self.webhooks = webhooks
        if webhooks is not None:
            webhooks.forms["a2a"] = self._pushed

    async def _info(self, context: ServerCallContext, run: str) -> RunInfo:
        info = await self.service.run(_caller(context), run)
        if context.tenant and context.tenant != info.report.name:
            raise errors.TaskNotFoundError
        return info

    async def on_message_send(self, params: pb.SendMessageRequest, context: ServerCallContext) -> pb.Task:
        """Start a run, or answer a question of one; return the task once it has ended or waits."""
        with _in_their_words():
            info = await self._taken(params, context)
            caller, open_ = _caller(context), context.state["streams"]
            if not params.configuration.return_immediately and not open_.is_full(caller.name):
                with open_.entered(caller.name):
                    info = await exchange.settled(self.service, caller, info.report.run)
            return task_of(info)

    async def on_message_send_stream(self, params: pb.SendMessageRequest, context: ServerCallContext) -> AsyncGenerator[Event]:
        """Do the same, and report the state of the task until it has ended or waits for a person."""
        with _in_their_words(), context.state["streams"].entered(_caller(context).name):
            task = task_of(await self._taken(params, context))
            async for event in self._followed(context, task, through_questions=False):
                yield event

    async def on_subscribe_to_task(self, params: pb.SubscribeToTaskRequest, context: ServerCallContext) -> AsyncGenerator[Event]:
        """Report the state of a task until it has ended."""
        with _in_their_words(), context.state["streams"].entered(_caller(context).name):
            info = await self._info(context, params.id)
            if info.report.has_ended:
                raise errors.UnsupportedOperationError(message=_ended(info))
            task = task_of(info)
            del info  # it may be large, and the stream may last for hours
            async for event in self._followed(context, task, through_questions=True):
                yield event

    async def _followed(self, context: ServerCallContext, before: pb.Task, *, through_questions: bool) -> AsyncGenerator[Event]:
        yield before
        async for now in exchange.standings(self.service, _caller(context), before.id):
            task = task_of(now)
            del now
            for event in _updates(before, task):
                yield event
            before = task
            if task.status.state == pb.TASK_STATE_INPUT_REQUIRED and not through_questions:
                return

    async def _taken(self, params: pb.SendMessageRequest, context: ServerCallContext) -> RunInfo:
        """Process a message: an answer if it names a task, or else the inputs of a run."""
        message = params.message
        if message.task_id:
            info = await self._answered(message, context)
        else:
            info = await self._started(params, context)
        if params.configuration.HasField("task_push_notification_config"):
            config = pb.TaskPushNotificationConfig()
            config.CopyFrom(params.configuration.task_push_notification_config)
            config.task_id = info.report.run
            await self.on_create_task_push_notification_config(config, context)
        return info

    async def _started(self, params: pb.SendMessageRequest, context: ServerCallContext) -> RunInfo:
        caller, message = _caller(context), params.message
        if not message.message_id:  # which the library does not require
            raise errors.InvalidParamsError(message="a message that starts a task has a `messageId`, so that it starts it once")
        name = _member(message.metadata, "program") or context.tenant
        offered = await self.service.programs(caller)
        if not name and len(offered) == 1:
            name = offered[0].name
        if not name:
            known = ", ".join(f"`{each.name}`" for each in offered)
            raise errors.InvalidParamsError(message=f"say which program to run, as `program` in the message's metadata: {known}")
        program = await self.service.program(caller, name)
        is_json, value, words = given_in(message.parts)
        if words and (not is_json or isinstance(value, dict)) and "prompt" in as_object(program.inputs["properties"]):
            value = {"prompt": words, **(value if isinstance(value, dict) else {})}
        elif words:
            raise errors.InvalidParamsError(message=f"`{name}` takes no text; send its inputs as JSON")
        return await self.service.start(
            caller,
            name,
            {} if value is None and not is_json else value,
            key=f"a2a:{message.message_id}",
            metadata={CONTEXT: message.context_id} if message.context_id else None,
        )

    async def _answered(self, message: pb.Message, context: ServerCallContext) -> RunInfo:
        caller, run = _caller(context), message.task_id
        info = await self._info(context, run)
        if message.context_id and message.context_id != info.metadata.get(CONTEXT, run):
            raise errors.InvalidParamsError(message="the task is of another context")
        if info.report.has_ended:
            raise errors.UnsupportedOperationError(message=_ended(info))
        named: dict[str, list[pb.Part]] = {}
        for part in message.parts:
            named.setdefault(_member(part.metadata, "question"), []).append(part)
        general = _member(message.metadata, "question")
        for name, parts in named.items():
            asked = exchange.asked_of_people(info.report)
            wanted = name or general or (asked[0].id if len(asked) == 1 else "")
            question = find_question(asked, read_shown_id(wanted)[0], run, info.report)
            is_json, value, words = given_in(parts)
            data = value if is_json else exchange.answer_of(words, question.schema)
            comment = words if is_json and words else None
            info = await self.service.answer(caller, run, wanted or question.id, data, comment=comment)
        return info

    async def on_get_task(self, params: pb.GetTaskRequest, context: ServerCallContext) -> pb.Task:
        """Return a run as a task."""
        with _in_their_words():
            return task_of(await self._info(context, params.id))

    async def on_list_tasks(self, params: pb.ListTasksRequest, context: ServerCallContext) -> pb.ListTasksResponse:
        """Return a page of runs as tasks, latest first; `total_size` counts those of the page."""
        caller = _caller(context)
        size = min(params.page_size or 50, 10 if params.include_artifacts else 100)
        if params.page_size < 0:
            raise errors.InvalidParamsError(message="a page has from 1 to 100 tasks")
        wanted = {pb.TASK_STATE_UNSPECIFIED: None} | {state: status for status, state in _STATES.items() if status != "held"}
        if params.status not in wanted:
            return pb.ListTasksResponse(page_size=size)
        since = params.status_timestamp_after.ToDatetime(UTC).timestamp() if params.HasField("status_timestamp_after") else None
        context_of = {CONTEXT: params.context_id} if params.context_id else {}
        with _in_their_words():
            page = await self.service.runs(
                caller,
                RunFilter(wanted[params.status], context.tenant or None, since, metadata=context_of),
                limit=size,
                cursor=place_of_run(params.page_token or None),
            )
            tasks: list[pb.Task] = []
            left, following = LISTED, page.next
            for row in page.rows:
                info = await self.service.run(caller, row.run, whole=False)
                tasks.append(task_of(info))
                left -= tasks[-1].ByteSize()
                if left < 0 and row is not page.rows[-1]:
                    following = (info.report.began or 0.0, row.run)
                    break
        return pb.ListTasksResponse(tasks=tasks, next_page_token=token_of(following) or "", page_size=size, total_size=len(tasks))

    async def on_cancel_task(self, params: pb.CancelTaskRequest, context: ServerCallContext) -> pb.Task:
        """Cancel a run; one that has ended cannot be cancelled."""
        with _in_their_words():
            info = await self._info(context, params.id)
            if info.report.has_ended:
                raise errors.TaskNotCancelableError(message=_ended(info))
            return task_of(await self.service.cancel(_caller(context), params.id))

    def _hooks(self) -> Webhooks:
        if self.webhooks is None:
            raise errors.UnsupportedOperationError(message="the service sends nothing by itself")
        return self.webhooks

    async def on_create_task_push_notification_config(
        self, params: pb.TaskPushNotificationConfig, context: ServerCallContext
    ) -> pb.TaskPushNotificationConfig:
        """Add an address that receives the changes of a task; an internal address is refused."""
        with _in_their_words():
            caller, said, run = _caller(context), params.authentication, params.task_id
            await self.service.enter(caller)
            await self._info(context, run)
            params.id = params.id or uuid4().hex
            if sum(hook.owner == caller.name for hook in await self._hooks().hooks(run=params.task_id)) >= MOST_PUSHED:
                raise LimitError([problems.serving.TooMuch(what="addresses that are told of a task", limit=MOST_PUSHED)])
            if params.ByteSize() > SETTING:
                raise LimitError([problems.serving.TooMuch(what="bytes of a push setting", limit=SETTING)])
            if not re.fullmatch(r"[ -~]*", params.token + said.scheme + said.credentials):
                raise errors.InvalidParamsError(message="a token or credentials are sent in a header: one line of ASCII")
            ident = _hook_id(params.task_id, params.id, caller.name)
            about: JsonObject = {"config": MessageToDict(params), "rights": kept_rights(caller)}
            await self._hooks().add(params.url, owner=caller.name, means=caller.by, run=run, form="a2a", id=ident, details=about)
        return params

    async def on_get_task_push_notification_config(
        self, params: pb.GetTaskPushNotificationConfigRequest, context: ServerCallContext
    ) -> pb.TaskPushNotificationConfig:
        """Return a setting."""
        for each in await self._configs(params.task_id, context):
            if each.id == params.id:
                return each
        raise errors.TaskNotFoundError(message="the task has no such push configuration")

    async def on_list_task_push_notification_configs(
        self, params: pb.ListTaskPushNotificationConfigsRequest, context: ServerCallContext
    ) -> pb.ListTaskPushNotificationConfigsResponse:
        """Return all settings of a task."""
        return pb.ListTaskPushNotificationConfigsResponse(configs=await self._configs(params.task_id, context))

    async def on_delete_task_push_notification_config(
        self, params: pb.DeleteTaskPushNotificationConfigRequest, context: ServerCallContext
    ) -> None:
        """Remove an address."""
        with _in_their_words():
            await self._info(context, params.task_id)
            caller, run = _caller(context), params.task_id
            ident, noted = _hook_id(run, params.id, caller.name), self.service.records.audit
            if any(each.id == ident for each in await self._hooks().hooks(run=run)):
                await asyncio.to_thread(noted, caller.name, caller.by, "remove webhook", run, question=ident)
                await self._hooks().remove(ident)

    async def _configs(self, run: str, context: ServerCallContext) -> list[pb.TaskPushNotificationConfig]:
        with _in_their_words():
            await self._info(context, run)
            found = await self._hooks().hooks(run=run)
        own = [each for each in found if each.form == "a2a" and each.owner == _caller(context).name]
        return [ParseDict(_config_of(each), pb.TaskPushNotificationConfig()) for each in own]

    async def _pushed(self, hook: Hook, run: str) -> tuple[str, dict[str, str]] | None:
        """Return the message with the state of a task for an address, limited to what the owner of the setting may see now."""
        settings, records, rights = self.service.settings, self.service.records, mapping(hook.details.get("rights"))
        owner = await asyncio.to_thread(caller_later, settings, records, hook.owner, rights)
        try:
            info = None if owner is None else await self.service.run(owner, run)
        except InstrcError:
            info = None
        if info is None:
            return None
        config = ParseDict(_config_of(hook), pb.TaskPushNotificationConfig())
        headers = {"X-A2A-Notification-Token": config.token} if config.token else {}
        if config.authentication.credentials:
            headers["Authorization"] = f"{config.authentication.scheme} {config.authentication.credentials}"
        return MessageToJson(pb.StreamResponse(task=task_of(info)), indent=None), headers

    async def on_get_extended_agent_card(
        self, params: pb.GetExtendedAgentCardRequest, context: ServerCallContext
    ) -> pb.AgentCard:
        """Return the card with everything that the caller may use."""
        offered = await self.service.programs(_caller(context))
        base, wanted = str(context.state["base"]), params.tenant or context.tenant
        return card_of(
            [each for each in offered if wanted in {"", each.name}], base, tenant=wanted, push=self.webhooks is not None
        )


def _ended(info: RunInfo) -> str:
    return f"the task `{info.report.run}` has ended: it is {info.report.status}"


def _caller(context: ServerCallContext) -> Caller:
    caller = context.state["caller"]
    assert isinstance(caller, Caller)
    return caller


@contextmanager
def _in_their_words() -> Iterator[None]:
    try:
        yield
    except InstrcError as error:
        raise _as_a2a(error) from None


def _as_a2a(error: InstrcError) -> errors.A2AError:
    first = error.problems[0]
    told = {"problem": first.name} | ({"hint": first.hint} if first.hint else {})
    message = "; ".join(each.message for each in error.problems)
    match first:
        case problems.runs.NoSuchRun():
            return errors.TaskNotFoundError(message=message)
        case problems.runs.NoSuchQuestion():
            return errors.UnsupportedOperationError(message=message, data=told)
        case problems.serving.NotAllowed():
            return errors.InvalidRequestError(message=message, data=told)
    return errors.InvalidParamsError(message=message, data=told)


def _updates(before: pb.Task, task: pb.Task) -> Iterator[Event]:
    """Yield the changes since the last report of a task."""
    for artifact in task.artifacts[len(before.artifacts) :]:
        yield pb.TaskArtifactUpdateEvent(task_id=task.id, context_id=task.context_id, artifact=artifact, last_chunk=True)
    if task.status != before.status:
        yield pb.TaskStatusUpdateEvent(task_id=task.id, context_id=task.context_id, status=task.status)


def _member(struct: struct_pb2.Struct, name: str) -> str:
    value = struct.fields[name] if name in struct.fields else struct_pb2.Value(string_value="")
    return value.string_value if value.HasField("string_value") else str(value)  # what is no text names nothing


def _hook_id(run: str, name: str, owner: str) -> str:
    return f"a2a:{run}:{digest_of([owner, name])}"


def _config_of(hook: Hook) -> JsonObject:
    return mapping(hook.details.get("config", hook.details))


def card_of(
    programs: Sequence[ProgramInfo], base: str, *, tenant: str = "", push: bool = True, protected: bool = False
) -> pb.AgentCard:
    """Return the card of an agent whose skills are programs; `base` is the address of the service, with a trailing `/`."""
    text = [exchange.EXACT, "text/plain"]
    skills = [
        pb.AgentSkill(
            id=each.name,
            name=each.name,
            description=f"{each.title}.\nIt takes JSON of this schema: {dumps(each.inputs, indent=False)}",
            tags=["program"],
            input_modes=text,
            output_modes=[exchange.EXACT],
        )
        for each in programs
    ]
    ways = (("JSONRPC", "a2a"), ("HTTP+JSON", "a2a/rest"))
    card = pb.AgentCard(
        name=tenant or "instrc",
        description=skills[0].description.partition("\n")[0]
        if tenant and skills
        else "Processes that are run, and people who answer.",
        supported_interfaces=[
            pb.AgentInterface(url=base + path, protocol_binding=way, protocol_version="1.0", tenant=tenant) for way, path in ways
        ],
        version=__version__,
        capabilities=pb.AgentCapabilities(streaming=True, push_notifications=push, extended_agent_card=protected),
        default_input_modes=text,
        default_output_modes=[exchange.EXACT],
        skills=skills,
    )
    if protected:
        card.security_schemes["bearer"].http_auth_security_scheme.scheme = "bearer"
        card.security_requirements.append(pb.SecurityRequirement(schemes={"bearer": pb.StringList()}))
    return card


def a2a_routes(service: RunService, webhooks: Webhooks | None = None) -> list[BaseRoute]:
    """Return the routes of the protocol: `/a2a` (JSON-RPC), `/a2a/rest`, and the cards of the agent and of each program."""
    handler, context = ServiceHandler(service, webhooks), _Context()

    async def card(request: Request) -> Response:
        known = request.scope.get("instrc.caller")
        offered = await service.programs(known) if isinstance(known, Caller) else []
        tenant = request.path_params.get("program", "")
        made = [each for each in offered if tenant in {"", each.name}]
        if tenant and not made:
            raise NotFoundError([problems.serving.NoSuchProgram(program=tenant)])
        protected = known is None or known.by != "local"
        card = card_of(made, str(request.base_url), tenant=tenant, push=webhooks is not None, protected=protected)
        made_json = MessageToDict(card)
        about = {"Cache-Control": "private, max-age=60", "Vary": "Authorization, Cookie"}
        return JSONResponse(made_json, headers={**about, "ETag": f'"{digest_of(made_json)[:24]}"'})

    ways = ("/a2a", "/a2a/")  # clients join the address of the card and `/`
    rpc = exchange.Identified(Router([route for way in ways for route in create_jsonrpc_routes(handler, way, context)]))
    return [
        Route(CARD, card),
        Route(f"/a2a/{{program}}{CARD}", card),
        *(Route(way, rpc, methods=["POST"]) for way in ways),
        Mount("/a2a/rest", app=exchange.Identified(Router(create_rest_routes(handler, context)))),
    ]


class _Context(DefaultServerCallContextBuilder):
    """Passes the authenticated caller to the handler."""

    def build(self, request: Request) -> ServerCallContext:
        context = super().build(request)
        context.state["caller"] = caller_of(request)
        context.state["streams"] = request.app.state.streams
        context.state["base"] = str(request.base_url).removesuffix("a2a/rest/")
        return context
