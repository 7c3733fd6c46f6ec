"""Several chunks of one kind in one model call: elements of an `each`, items of a stream.

The properties stay flat: `step1_draft_item1`, `step1_draft_item2`, …, step by step.
The values that each item reads are under `item1`, `item2`, ….
Only fresh requests share a call; one with a rejected answer is sent alone.
"""

from __future__ import annotations

import asyncio

from msgspec.structs import replace

from instrc.runtime.activities import beyond_schema
from instrc.runtime.boundary import guarded
from instrc.runtime.interpreter.documents import ModelCommand
from instrc.runtime.models.model import Model, Reply, Request, model_message
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json, JsonObject, as_object, as_texts

LINGER = 0.02
"""Seconds that a call waits for others of its kind."""


class Batching:
    """A model that combines up to a number of chunks into one call to another model."""

    def __init__(self, model: Model, size: int, linger: float = LINGER) -> None:
        self.model = model
        self.size = size
        self.linger = linger
        self._asked: set[asyncio.Task[None]] = set()
        """Calls on their way: the loop itself keeps no hold on tasks."""
        self._waiting: dict[str, list[tuple[Request, asyncio.Future[Reply]]]] = {}

    async def answer(self, request: Request) -> Reply:
        """Answer a request, together with others of its kind."""
        kind = _kind(request) if self.size > 1 else None
        if kind is None:
            return await self.model.answer(request)
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Reply] = loop.create_future()
        group = self._waiting.setdefault(kind, [])
        group.append((request, future))
        if len(group) >= self.size:
            self._send(kind)
        elif len(group) == 1:
            loop.call_later(self.linger, self._overdue, kind, group)
        return await future

    def _overdue(self, kind: str, group: list[tuple[Request, asyncio.Future[Reply]]]) -> None:
        if self._waiting.get(kind) is group:
            self._send(kind)

    def _send(self, kind: str) -> None:
        group = [item for item in self._waiting.pop(kind) if not item[1].done()]  # who was cancelled needs no answer
        if group:
            task = asyncio.ensure_future(self._ask(group))
            self._asked.add(task)
            task.add_done_callback(self._asked.discard)

    async def _ask(self, group: list[tuple[Request, asyncio.Future[Reply]]]) -> None:
        requests = [request for request, _ in group]
        try:
            with guarded():
                if len(group) == 1:
                    replies = [await self.model.answer(requests[0])]
                else:
                    asked = combined(requests)
                    replies = divide_reply(await self.model.answer(asked), requests, asked)
        except Exception as error:  # noqa: BLE001  -- the caller decides how to handle it
            for _, future in group:
                if not future.done():
                    future.set_exception(error)
            return
        for (_, future), reply in zip(group, replies, strict=True):
            if not future.done():
                future.set_result(reply)


_PLAIN = frozenset({"$defs", "$schema", "additionalProperties", "description", "properties", "required", "title", "type"})


def _kind(request: Request) -> str | None:
    """Return the key shared by requests that may share a call, or `None` for one that may not."""
    command = request.command
    if command is None or command["complaints"] or command["previous"] is not None:
        return None
    schema = request.schema
    if not isinstance(schema, dict) or not schema.keys() <= _PLAIN or not isinstance(schema.get("properties"), dict):
        return None
    return f"{request.model}\n{command['chunk']}\n{dumps(schema, indent=False)}"


def combined(requests: list[Request]) -> Request:
    """Return the combined request."""
    first = requests[0]
    assert first.command is not None
    items = range(1, len(requests) + 1)
    whole = as_object(first.schema)
    properties = as_object(whole["properties"])
    keys = [f"{key}_item{item}" for key in properties for item in items]
    schema: JsonObject = {
        **whole,
        "properties": {f"{key}_item{item}": properties[key] for key in properties for item in items},
    }
    if "required" in schema:
        schema["required"] = [f"{key}_item{item}" for key in as_texts(schema["required"]) for item in items]
    context = {
        f"item{item}": request.command["context"] for item, request in zip(items, requests, strict=True) if request.command
    }
    command: ModelCommand = {**first.command, "steps": keys, "context": context, "schema": schema}
    message = model_message(command, first.sentences)
    return replace(first, message=message, schema=schema, command=command, name=f"{first.name}_items", partial=None)


def divide_reply(reply: Reply, requests: list[Request], asked: Request) -> list[Reply]:
    """Return the reply for each of the requests; tokens and cost are divided among them.

    Schema errors of one item are not reported for the others.
    """
    complaints = tuple(beyond_schema(reply.complaints, reply.answer, asked.schema))
    answer = reply.answer if isinstance(reply.answer, dict) else {}
    count = len(requests)
    replies = []
    for item, request in enumerate(requests, start=1):
        keys = [key for key in as_object(as_object(request.schema)["properties"]) if f"{key}_item{item}" in answer]
        own: Json = {key: answer[f"{key}_item{item}"] for key in keys}
        usage = {name: total // count + (item <= total % count) for name, total in reply.usage.items()}
        cost = None if reply.cost is None else reply.cost / count
        replies.append(replace(reply, answer=own, usage=usage, cost=cost, sent=asked.message, complaints=complaints))
    return replies
