"""Many items through one program, and a session: a model with compiled tools."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final, TypeAlias, TypeVar

from instrc.compiler.emit.definitions import DocumentDefinitions
from instrc.runtime.activities import complaints
from instrc.runtime.interpreter.documents import Complaint, ModelCommand
from instrc.runtime.models.model import Model, Request, model_message
from instrc.schema.strip import split
from instrc.text.jsonvalue import Json, JsonObject, as_object

# A session: a model with compiled tools. It fills one, and what follows depends on what was compiled.
#
# A tool's answer comes back to it as a result, a direct call is fired.
# A process is started with the entry that the model has filled, and goes on alone.


SHOWN_TURNS: Final = 40
"""Turns of a conversation that a model is shown."""
TOOLS_OF_A_TURN: Final = 8
"""Tools that a model may use before it has to say something."""
ASKED_AGAIN: Final = 2
"""How often a model is asked again for a turn that cannot be used."""

Begin: TypeAlias = Callable[[str, Json, str], Awaitable[Json]]
"""Starts what is behind a tool with what the model has filled in, and what was said; returns what the model is told of it."""


@dataclass(frozen=True, slots=True)
class SessionTool:
    """A tool of a session."""

    name: str
    schema: Json
    begin: Begin | None = None
    """`None` for a plain tool, whose answer is its result."""


@dataclass(slots=True)
class Session:
    """One conversation; `turns` is plain JSON, to be kept."""

    id: str
    model: Model
    offers: tuple[SessionTool, ...]
    turns: list[Json] = field(default_factory=list)

    async def say(self, text: str) -> str:
        """Tell the model something; return what it answers, after the tools it has used."""
        self.turns.append({"from": "person", "text": text})
        for _ in range(TOOLS_OF_A_TURN):
            answer = await self._ask_model()
            used = answer.get("use")
            if not isinstance(used, dict):
                said = str(answer.get("say") or "")
                self.turns.append({"from": "model", "text": said})
                return said
            offer = next(offer for offer in self.offers if offer.name == used["tool"])
            filled = used["arguments"]
            self.turns.append({"from": "model", "use": offer.name, "arguments": filled})
            output = split(filled, offer.schema)["output"]
            result = output if offer.begin is None else await offer.begin(offer.name, filled, text)
            self.turns.append({"from": offer.name, "result": result})
        return "…"

    async def _ask_model(self) -> JsonObject:
        """Ask the model what to say or to use; ask again where the answer does not fit."""
        schema = turn_schema(self.offers)
        wrong: list[Complaint] = []
        rejected: Json = None
        for attempt in range(ASKED_AGAIN + 1):
            command: ModelCommand = {
                "kind": "model",
                "id": f"turn{len(self.turns)}" + (f"#{attempt + 1}" if attempt else ""),
                "chunk": "turn",
                "steps": [],
                "schema": schema,
                "context": {"conversation": self.turns[-SHOWN_TURNS:]},
                "previous": None,
                "rejected": rejected,
                "complaints": wrong,
                "model": None,
            }
            request = Request(f"{self.id}/{command['id']}", "turn", model_message(command), schema, None, command)
            reply = await self.model.answer(request)
            rejected, wrong = reply.answer, [*reply.complaints, *complaints(reply.answer, schema)]
            if not wrong:
                return as_object(reply.answer)
        return {"say": f"(The model gave no answer that fits: {wrong[0]['message']})", "use": None}


def turn_schema(offers: tuple[SessionTool, ...]) -> Json:
    """Return what a model fills in at its turn: words, or one of the tools."""
    definitions = DocumentDefinitions(frozenset(offer.name for offer in offers))
    tools: list[Json] = []
    for offer in offers:
        schema = offer.schema if isinstance(offer.schema, dict) else {}
        arguments = definitions.hoist({key: value for key, value in schema.items() if key != "$schema"}, offer.name)
        properties: dict[str, Json] = {"tool": {"const": offer.name}, "arguments": arguments}
        tools.append(
            {"type": "object", "properties": properties, "required": ["tool", "arguments"], "additionalProperties": False}
        )
    made: dict[str, Json] = {
        "description": "Say something to the person, or use a tool and see what it gives.",
        "type": "object",
        "properties": {
            "say": {"type": ["string", "null"], "description": "Your words to the person; null where you use a tool."},
            "use": {"anyOf": [{"type": "null"}, *tools], "description": "The tool to use, or null."},
        },
        "required": ["say", "use"],
        "additionalProperties": False,
    }
    return {**made, "$defs": definitions.schemas} if definitions.schemas else made


# Many items through one program: so many at a time, results in the order of the items, memory that does not grow.


_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


async def streamed(
    items: AsyncIterable[_Item], work: Callable[[int, _Item], Awaitable[_Result]], *, window: int
) -> AsyncIterator[_Result]:
    """Yield what each item becomes, in their order, as soon as it and all before it are done.

    At most `window` items are begun and not yet yielded.
    So whoever is slowest, an item, the model or the reader, holds the others back; only the wait for an item holds nobody.
    `work` must not raise.
    """
    room = asyncio.Semaphore(window)
    begun: asyncio.Queue[asyncio.Future[_Result] | None] = asyncio.Queue()
    running: set[asyncio.Future[_Result]] = set()

    async def begin_each() -> None:
        number = 0
        following = aiter(items)
        try:
            while await room.acquire():
                task = asyncio.ensure_future(work(number, await anext(following)))
                running.add(task)
                task.add_done_callback(running.discard)
                begun.put_nowait(task)
                number += 1
        except StopAsyncIteration:
            return
        finally:
            begun.put_nowait(None)

    beginning = asyncio.ensure_future(begin_each())
    try:
        while (task := await begun.get()) is not None:
            yield await task
            room.release()
        await beginning  # raises what reading the items has raised
    finally:
        beginning.cancel()
        for each in running:
            each.cancel()
