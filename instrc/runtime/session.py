"""Many items through one program, and a session: a model with compiled tools."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Awaitable, Callable
from typing import Final, TypeAlias, TypeVar

from msgspec import Struct, field

from instrc.runtime.activities import Activities, Retry, complaints
from instrc.runtime.effects import Effects
from instrc.runtime.interpreter.documents import Complaint, ModelCommand
from instrc.runtime.models.model import Model, ModelError, Reply, Request
from instrc.runtime.traces import Sink
from instrc.schema.document_definitions import DocumentDefinitions
from instrc.schema.strip import split
from instrc.text.jsonvalue import Json, JsonObject, as_object, as_text
from instrc.text.sentences import EN, Sentences, filled, translated

Begin: TypeAlias = Callable[[str, Json, str], Awaitable[Json]]
"""Starts what is behind a tool with what the model has filled in, and what was said; returns what the model is told of it."""


class SessionTool(Struct, frozen=True):
    """A tool of a session."""

    name: str
    schema: Json
    begin: Begin | None = None
    """`None` for a plain tool, whose answer is its result."""


TOOLS_OF_A_TURN: Final = 8
"""Tools that a model may use before it has to say something."""
ASKED_AGAIN: Final = 2
"""How often a model is asked again for a turn that cannot be used."""
SHOWN_TURNS: Final = 40
"""Turns of a conversation that a model is shown."""


class Session(Struct):
    """One conversation; `turns` is plain JSON, to be kept.

    `from` is whose turn it is: `person` and `model` with `text`, a model with `use` and `arguments`, a tool with `result`,
    or `session` with a `note` for both.
    """

    id: str
    model: Model
    offers: tuple[SessionTool, ...]
    turns: list[Json] = field(default_factory=list)
    watch: Sink | None = None
    retry: Retry = field(default_factory=Retry)
    sentences: Sentences = EN
    """What is said to the model beside the conversation."""

    async def say(self, text: str) -> AsyncIterator[JsonObject]:
        """Send the model a message; yield each turn that follows, as soon as it is there: text, tools, results, notes.

        Raise `ModelError` if the model gives no answer, after as many attempts as in a run.
        """
        self.turns.append({"from": "person", "text": text})
        for _ in range(TOOLS_OF_A_TURN):
            answer, wrong = await self._ask_model()
            if answer is None:
                reason = translated(wrong[0]["message"], self.sentences.faults)
                yield self._note(filled(self.sentences.unfit, place=wrong[0]["pointer"] or "/", reason=reason))
                return
            said: JsonObject = {"text": answer["say"]} if answer["say"] else {}
            used = answer["use"]
            if not isinstance(used, dict):
                yield self._take({"from": "model", **said})
                return
            offer = next(offer for offer in self.offers if offer.name == used["tool"])
            given = used["arguments"]
            yield self._take({"from": "model", **said, "use": offer.name, "arguments": given})
            result = split(given, offer.schema)["output"] if offer.begin is None else await offer.begin(offer.name, given, text)
            yield self._take({"from": offer.name, "result": result})
        yield self._note(filled(self.sentences.many_tools, number=str(TOOLS_OF_A_TURN)))

    def _take(self, turn: JsonObject) -> JsonObject:
        self.turns.append(turn)
        return turn

    def _note(self, note: str) -> JsonObject:
        return self._take({"from": "session", "note": note})

    async def _ask_model(self) -> tuple[JsonObject | None, list[Complaint]]:
        """Ask the model for text or a tool; ask again where the answer does not fit. Text alone is its turn."""
        schema = turn_schema(self.offers, self.sentences)
        wrong: list[Complaint] = []
        rejected: Json = None
        heard = _Hearing(self.model)
        effects = Effects(self.id, heard, Activities(), self.watch, model_retry=self.retry, sentences=self.sentences)
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
            result = await effects.ask(command)
            if "error" in result:
                error = as_object(result["error"])
                code = error.get("code")
                raise ModelError(as_text(error["message"]), code=code if isinstance(code, str) else None)
            rejected, text = result["ok"], heard.reply.text
            if rejected is None and text:
                return {"say": text, "use": None}, []
            wrong = [*result.get("complaints", ()), *complaints(rejected, schema)]
            if not wrong:
                answer = as_object(rejected)
                answer["say"] = answer["say"] or text
                if answer["say"] or answer["use"]:
                    return answer, []
                wrong = [{"pointer": "", "message": "nothing is said and no tool is used: do one of the two"}]
        return None, wrong


class _Hearing:
    """A model whose last reply is kept: text beside a value is not part of a result."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.reply = Reply(None)

    async def answer(self, request: Request) -> Reply:
        self.reply = await self.model.answer(request)
        return self.reply


def turn_schema(offers: tuple[SessionTool, ...], sentences: Sentences = EN) -> Json:
    """Return the schema of a model's turn: a text, or one of the tools."""
    definitions = DocumentDefinitions(frozenset(offer.name for offer in offers))
    tools: list[Json] = []
    for offer in offers:
        schema = offer.schema if isinstance(offer.schema, dict) else {}
        arguments = definitions.hoist({key: value for key, value in schema.items() if key != "$schema"}, offer.name)
        properties: dict[str, Json] = {"tool": {"const": offer.name}, "arguments": arguments}
        tools.append(
            {"type": "object", "properties": properties, "required": ["tool", "arguments"], "additionalProperties": False}
        )
    result: dict[str, Json] = {
        "description": sentences.turn,
        "type": "object",
        "properties": {
            "say": {"type": ["string", "null"], "description": sentences.say},
            "use": {"anyOf": [{"type": "null"}, *tools], "description": sentences.use},
        },
        "required": ["say", "use"],
        "additionalProperties": False,
    }
    return {**result, "$defs": definitions.schemas} if definitions.schemas else result


_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


async def streamed(
    items: AsyncIterable[_Item], work: Callable[[int, _Item], Awaitable[_Result]], *, window: int, ordered: bool = True
) -> AsyncGenerator[_Result]:
    """Yield the result for each item as soon as it is done: in order, unless `ordered` is false.

    At most `window` items are begun and not yet yielded.
    So the slowest of the items, the model and the reader holds the others back; only the wait for an item holds nothing.
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
                if ordered:
                    begun.put_nowait(task)
                else:
                    task.add_done_callback(begun.put_nowait)
                number += 1
        except StopAsyncIteration:
            if running and not ordered:
                await asyncio.wait(running)
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
        for item in running:
            item.cancel()
