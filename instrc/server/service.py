"""The tools that a server offers, independent of its protocol; arguments are checked before they are called."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from instrc import problems
from instrc.engines.launch import Launcher, RehearseMode
from instrc.engines.prepare import Prepared
from instrc.problems.problem import CompileError
from instrc.process.process import Process
from instrc.providers.lifting.lift import lift
from instrc.providers.lowering.lower import Lowering, lower
from instrc.runtime.engine import Engine, RunReport, chosen
from instrc.schema.strip import split, strip
from instrc.schema.validation import is_valid
from instrc.schema.walk import nodes, redirected
from instrc.text.jsontext import loads
from instrc.text.jsonvalue import Json, JsonObject, as_object, as_text, without_type
from instrc.text.names import free_name
from instrc.text.streams import SPEAKER
from instrc.tools.given import ToolLike
from instrc.tools.tool import Tool

TARGET: Final = "mcp"

AnyCall: TypeAlias = Callable[[dict[str, Json]], Awaitable[Json]]


class RefusedError(Exception):
    """A call cannot be carried out; the text says why, in words for whoever has called."""


@dataclass(frozen=True, slots=True)
class ServerTool:
    """One tool of the server."""

    lowering: Lowering
    call: AnyCall
    output: JsonObject | None = None
    """The schema of what a call gives; `None` if that is not known."""

    @property
    def name(self) -> str:
        """Its name in the protocol."""
        return as_text(as_object(self.lowering.payload)["name"])

    @property
    def described(self) -> JsonObject:
        """It as the protocol lists it."""
        payload = as_object(self.lowering.payload)
        made: JsonObject = {key: value for key, value in payload.items() if key != "_meta"}
        made["inputSchema"] = _without_root_references(as_object(payload["inputSchema"]))
        if self.output is not None:
            made["outputSchema"] = _without_root_references(self.output)
        return made


def _without_root_references(schema: JsonObject) -> JsonObject:
    """Return a schema that refers to itself by a definition: clients put it into another schema, where `#` is another root."""
    if not any(isinstance(node, dict) and node.get("$ref") == "#" for node in nodes(schema)):
        return schema
    definitions = as_object(schema.get("$defs") or {})
    name = free_name("root", definitions.__contains__)
    moved = as_object(redirected(schema, {"#": f"#/$defs/{name}"}))
    root: JsonObject = {key: value for key, value in moved.items() if key not in {"$defs", "$schema", "title"}}
    return {**moved, "$defs": {**as_object(moved.get("$defs") or {}), name: root}}


@dataclass(slots=True)
class Offers:
    """All tools of one server, by their names in the protocol."""

    offers: dict[str, ServerTool] = field(default_factory=dict)

    def offer(self, name: str | None, schema: ToolLike, call: AnyCall, output: Json = None) -> None:
        """Add a tool, with the schema of the objects that it gives, if that is known; one of the same name is a problem."""
        gives = None if output is None else lower(Tool("output", output), target=TARGET).payload
        made = ServerTool(
            lower(schema, target=TARGET, name=name), call, None if gives is None else as_object(as_object(gives)["inputSchema"])
        )
        if made.name in self.offers:
            reason = "two would be one tool: give one another name"
            raise CompileError([problems.runs.UnusableSetting(what="tool", word=made.name, reason=reason)])
        self.offers[made.name] = made

    async def call(self, name: str, arguments: Json) -> Json:
        """Call a tool by its name in the protocol; `RefusedError` says why it cannot be."""
        offer = self.offers.get(name)
        if offer is None:
            known = ", ".join(f"`{each}`" for each in self.offers)
            message = f"no tool is called `{name}`; there {'is' if len(self.offers) == 1 else 'are'} {known}"
            raise RefusedError(message)
        lifted = lift({"name": name, "arguments": arguments}, offer.lowering.map)
        if not lifted.ok:
            told = [f"{violation.instance or '/'}: {violation.message}" for violation in lifted.invalid]
            raise RefusedError("; ".join(told) or f"the arguments are {lifted.status}")
        speaker = SPEAKER.set(name)
        try:
            return await offer.call(as_object(lifted.value))
        except CompileError as error:
            raise RefusedError("; ".join(problem.message for problem in error.problems)) from None
        finally:
            SPEAKER.reset(speaker)

    async def close(self) -> None:
        """End what is under way; tools that are only called leave nothing behind."""


# Compiled tools, processes that can be started, and four tools about runs.


PATIENCE = 20.0
"""Seconds for a run to be recorded when it begins; the store may have to be made."""
GRACE = 2.0
"""Seconds in which a wrong answer is refused; a run that goes on longer is told to be running."""

_RUN: JsonObject = {"run": {"type": "string", "description": "The id that starting the process gave."}}
_OWN: dict[str, JsonObject] = {
    "run_status": {
        "description": "Tell how a run stands: its status, its result when it is done, and why it failed if it did.",
        "type": "object",
        "properties": _RUN,
        "required": ["run"],
        "additionalProperties": False,
    },
    "open_questions": {
        "description": "Tell what a run waits for: what is shown, and the schema of the answer.",
        "type": "object",
        "properties": _RUN,
        "required": ["run"],
        "additionalProperties": False,
    },
    "answer": {
        "description": "Answer a question of a run. A wrong answer is refused and leaves the question open.",
        "type": "object",
        "properties": {
            **_RUN,
            "step": {"type": "string", "description": "The id of the question, or a step of it."},
            "data": {"description": "The answer; it satisfies the schema of the question."},
        },
        "required": ["run", "step", "data"],
        "additionalProperties": False,
    },
    "cancel_run": {
        "description": "End a run; what it has begun is not undone.",
        "type": "object",
        "properties": _RUN,
        "required": ["run"],
        "additionalProperties": False,
    },
}
"""The tools about runs, offered where there is a process."""
_STATUS: JsonObject = {"type": "string", "description": "running, waiting, done, failed and so on, in one word."}
STANDING: JsonObject = {
    "type": "object",
    "properties": {**_RUN, "status": _STATUS},
    "required": ["run", "status"],
}
"""The schema of how a run stands."""
_OWN_OUTPUT: dict[str, JsonObject] = {
    "run_status": {
        "type": "object",
        "properties": {
            **_RUN,
            "status": _STATUS,
            "output": {"description": "What each step has brought, when the run is done."},
            "value": {"description": "The result, when the run is done."},
            "error": {
                "type": "object",
                "description": "Why it has failed.",
                "properties": {"step": {"type": ["string", "null"]}, "kind": {"type": "string"}, "message": {"type": "string"}},
            },
            "step": {"type": "string", "description": "What a person has refused."},
        },
        "required": ["run", "status"],
    },
    "open_questions": {
        "type": "object",
        "properties": {
            **_RUN,
            "questions": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "id": {"type": "string"},
                        "steps": {"type": "array", "items": {"type": "string"}},
                        "show": {"description": "What the person is shown."},
                        "schema": {"description": "The JSON Schema of the answer."},
                    },
                    "required": ["id", "steps", "show", "schema"],
                },
            },
        },
        "required": ["run", "questions"],
    },
}
"""What the tools about runs give, where it is more than how the run stands."""


@dataclass(slots=True)
class Service(Offers):
    """All tools of one server, and the runs that it has started."""

    engine: Engine = field(kw_only=True)
    _under_way: dict[str, asyncio.Task[RunReport]] = field(default_factory=dict)

    async def close(self) -> None:
        """Leave what runs: its engine keeps it."""
        for task in self._under_way.values():
            task.cancel()
        await asyncio.gather(*self._under_way.values(), return_exceptions=True)

    # --- runs ---------------------------------------------------------------------------------------------------------------

    async def start(self, launcher: Launcher, inputs: JsonObject) -> Json:
        """Begin a run; return its id as soon as it is recorded: a client that leaves then loses nothing."""
        launch = launcher.launch(inputs)
        task = self._carry(launch.run, self.engine.start(launch))
        deadline = asyncio.get_running_loop().time() + PATIENCE
        while asyncio.get_running_loop().time() < deadline:
            done, _ = await asyncio.wait({task}, timeout=0.02)
            if done or await self._report(launch.run) is not None:
                break
        return {"run": launch.run, "status": "running"}

    async def status(self, given: JsonObject) -> Json:
        """Return how a run stands."""
        run = as_text(given["run"])
        report = await self._report(run)
        if report is None:
            return {"run": run, "status": "running"}
        shown: JsonObject = {"run": report.run, "status": report.status}
        if report.outcome is not None:
            ended = without_type(report.outcome)
            shown |= {key: value for key, value in ended.items() if key in {"output", "value", "error", "step"}}
        return shown

    async def questions(self, given: JsonObject) -> Json:
        """Return what a run waits for."""
        run = as_text(given["run"])
        report = await self._report(run)
        found = () if report is None else report.questions
        asked: list[Json] = [
            {"id": each.id, "steps": list(each.steps), "show": each.show, "schema": each.schema} for each in found
        ]
        return {"run": run, "questions": asked}

    async def answer(self, given: JsonObject) -> Json:
        """Answer a question; the run goes on by itself."""
        run, step = as_text(given["run"]), as_text(given["step"])
        before = self._under_way.get(run)
        if before is not None and not before.done():
            await asyncio.wait({before}, timeout=GRACE)
        data = await self._read(run, step, given["data"])
        task = self._carry(run, self.engine.answer(run, step, data))
        await asyncio.wait({task}, timeout=GRACE)
        return {"run": run, "status": task.result().status if task.done() else "running"}

    async def _read(self, run: str, step: str, data: Json) -> Json:
        """Return an answer as JSON: clients that know no type for it send its text."""
        if not isinstance(data, str):
            return data
        report = await self._report(run)
        if (
            report is None
            or (schema := chosen(list(report.questions), step, run, report).schema) is None
            or is_valid(data, schema)
        ):
            return data
        try:
            read = loads(data)
        except ValueError:
            return data
        return read if isinstance(read, dict | list) or is_valid(read, schema) else data

    async def cancel(self, given: JsonObject) -> Json:
        """End a run."""
        report = await self.engine.cancel(as_text(given["run"]))
        return {"run": report.run, "status": report.status}

    def _carry(self, run: str, work: Coroutine[object, object, RunReport]) -> asyncio.Task[RunReport]:
        task = asyncio.create_task(work)
        self._under_way[run] = task
        task.add_done_callback(lambda done: done.cancelled() or done.exception())  # asked for, so that asyncio does not complain
        return task

    async def _report(self, run: str) -> RunReport | None:
        task = self._under_way.get(run)
        if task is not None and task.done() and not task.cancelled() and task.exception() is None:
            self._under_way.pop(run)
        try:
            return await self.engine.show(run)
        except CompileError:
            if task is not None and not task.done():
                return None  # begun, and not noted yet
            if task is not None and (failed := task.exception()) is not None:
                message = f"the run could not begin: {failed}"
                raise RefusedError(message) from None
            raise


def service_of(
    programs: Iterable[Prepared],
    engine: Engine,
    *,
    model: str | None = None,
    rehearse: RehearseMode = False,
) -> Service:
    """Return the service of some programs: a tool is filled in by who calls it, anything else is started."""
    service = Service(engine=engine)
    processes = False
    for prepared in programs:
        document = prepared.document
        if Process.describes(document) or (isinstance(document, dict) and "activity" in document):
            processes = True
            _offer_process(service, prepared, Launcher(prepared, model=model, rehearse=rehearse))
        else:
            _offer_tool(service, prepared)
    if processes:
        calls: dict[str, AnyCall] = {
            "run_status": service.status,
            "open_questions": service.questions,
            "answer": service.answer,
            "cancel_run": service.cancel,
        }
        for name, schema in _OWN.items():
            service.offer(name, schema, calls[name], _OWN_OUTPUT.get(name, STANDING))
    return service


def _offer_tool(service: Service, prepared: Prepared) -> None:
    async def call(value: JsonObject) -> Json:
        return split(value, prepared.document)["output"]

    tool = Tool(prepared.name, prepared.document, prepared.purpose, hints=prepared.hints)
    service.offer(prepared.name, tool, call, strip(prepared.document, {"all"}))


def _offer_process(service: Service, prepared: Prepared, launcher: Launcher) -> None:
    async def call(inputs: JsonObject) -> Json:
        return await service.start(launcher, inputs)

    service.offer(prepared.name, inputs_schema(prepared), call, STANDING)


def inputs_schema(prepared: Prepared) -> JsonObject:
    """Return what starting a process takes: `prompt`, if anything reads it, and its declared inputs."""
    document = as_object(prepared.document)
    inputs = dict(prepared.inputs or {"prompt": {}})
    if Process.describes(document) and not any(read.first == "prompt" for read in Process.from_json(document).reads()):
        inputs.pop("prompt", None)
    elif inputs.get("prompt") == {}:
        inputs["prompt"] = {"type": "string", "description": "The request, in words."}
    said = (prepared.purpose, as_object(document.get("tool") or {}).get("description"), document.get("title"))
    goal = next((text for text in said if isinstance(text, str) and text), prepared.name).rstrip().removesuffix(".")
    return {
        "description": f"{goal}.\nStarts a run, which goes on by itself, and gives its id: `run_status` tells how it stands.",
        "type": "object",
        "properties": inputs,
        "required": [name for name, schema in inputs.items() if not (isinstance(schema, dict) and "default" in schema)],
        "additionalProperties": False,
    }
