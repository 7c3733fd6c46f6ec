"""Carry out commands: ask models, call activities, with the policy of the engine."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from time import monotonic
from typing import TypeAlias, Unpack, cast

from instrc.problems.problem import CompileError
from instrc.runtime.activities import (
    Activities,
    Activity,
    ActivityCall,
    ActivityError,
    Handler,
    HandlerResult,
    Pending,
    Retry,
    calling,
    complaints,
)
from instrc.runtime.interpreter.documents import ActivityCommand, Complaint, FireCommand, ModelCommand, Result, bare_name
from instrc.runtime.models.model import Model, ModelError, Reply, Request
from instrc.runtime.secrets import redacted
from instrc.runtime.traces import EventFacts, EventKind, Sink, event_of
from instrc.schema.strip import Split, holds_meta, split
from instrc.text.arguments import TOO_MANY_VALUES, WRITTEN_VALUES, writes_over
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json
from instrc.tools.plan_check import with_unique_ids
from instrc.tools.python_values import WrongArgumentsError, json_of

# One call of the handler of an activity: in the loop or in a thread, with its timeout and its heartbeat.


def time_limit(span: float | None) -> AbstractAsyncContextManager[object]:
    """Return what ends what is inside after so many seconds."""
    return nullcontext() if span is None else asyncio.timeout(span)


async def attempt_call(activity: Activity, given: Json, call: ActivityCall) -> HandlerResult:
    """Call a handler once: a coroutine in the loop, a function in a thread; with its timeout and its heartbeat.

    What it returns as a typed instance (a model, a dataclass, a date) is JSON then.
    """
    handler = activity.handler
    assert handler is not None
    value: HandlerResult | Awaitable[HandlerResult]
    async with time_limit(activity.retry.timeout):
        with calling(call):
            if activity.retry.heartbeat is not None:
                value = await _beating(handler, given, call, activity.retry.heartbeat)
            elif asyncio.iscoroutinefunction(handler):
                value = await handler(given)
            else:
                value = await asyncio.to_thread(handler, given)
            if isinstance(value, Awaitable):  # a function that returns a coroutine
                value = await value
    if writes_over(value, WRITTEN_VALUES):
        raise ActivityError(TOO_MANY_VALUES, retry=False)
    return cast("HandlerResult", json_of(value))


async def _beating(handler: Handler, given: Json, call: ActivityCall, span: float) -> HandlerResult | Awaitable[HandlerResult]:
    """Call a handler that has to show that it is alive."""
    alive = asyncio.Event()
    call.beat = _beater(alive)
    if asyncio.iscoroutinefunction(handler):
        work: asyncio.Future[HandlerResult | Awaitable[HandlerResult]] = asyncio.ensure_future(handler(given))
    else:
        work = asyncio.ensure_future(asyncio.to_thread(handler, given))
    try:
        await _watch_heartbeat(work, alive, span)
        return await work
    finally:
        work.cancel()


def _beater(alive: asyncio.Event) -> Callable[[], None]:
    loop = asyncio.get_running_loop()

    def beat() -> None:
        loop.call_soon_threadsafe(alive.set)

    return beat


async def _watch_heartbeat(
    work: asyncio.Future[HandlerResult | Awaitable[HandlerResult]], alive: asyncio.Event, span: float
) -> None:
    """Wait as long as a handler shows that it is alive."""
    while not work.done():
        beat: asyncio.Future[bool] = asyncio.ensure_future(alive.wait())
        either: set[asyncio.Future[HandlerResult | Awaitable[HandlerResult]] | asyncio.Future[bool]] = {work, beat}
        done, _ = await asyncio.wait(either, timeout=span, return_when=asyncio.FIRST_COMPLETED)
        beat.cancel()
        alive.clear()
        if not done:
            raise TimeoutError


# The message that a model is sent for a chunk: always one shape. The schema travels beside it, as the provider takes it.


RULER = "-----"


def model_message(command: ModelCommand) -> str:
    """Return the message: what the chunk reads, between two rulers, and one sentence that asks for it."""
    parts: list[str] = []
    if command["context"]:
        parts.append(_ruled("What is known so far:", command["context"]))
    if command["previous"] is not None:
        parts.append(_ruled("Your answer of the round before:", command["previous"]))
    if command["complaints"]:
        parts.append(_ruled("Your last answer, which was not accepted:", command["rejected"]))
        wrong = "\n".join(f"* at {complaint['pointer'] or '/'}: {complaint['message']}" for complaint in command["complaints"])
        parts.append(f"What is wrong with it:\n{wrong}")
    parts.append(_request(command))
    return "\n\n".join(parts) + "\n"


def tool_name(chunk: str, steps: Sequence[str], only: str | None) -> str:
    """Return the name of the tool that a model fills in for a chunk: the step, or the chunk where there are several.

    `only` is the name of the only step of a program, whose answer has no key for it.
    """
    return steps[0] if len(steps) == 1 else only if only and not steps else chunk


def _ruled(heading: str, value: Json) -> str:
    return f"{heading}\n{RULER}\n{dumps(value)}\n{RULER}"


def _request(command: ModelCommand) -> str:
    steps = command["steps"]
    what = (
        " and ".join(filter(None, [", ".join(f"`{step}`" for step in steps[:-1]), f"`{steps[-1]}`"])) if steps else "the answer"
    )
    if command["complaints"]:
        return f"Write {what} again, as JSON that satisfies the schema."
    if command["previous"] is not None:
        return f"Write the next round of {what}, as JSON that satisfies the schema."
    return f"Write {what}, as JSON that satisfies the schema."


# What models cost: the table of prices that a project has set.


_MILLION = 1_000_000
Prices = Mapping[str, Mapping[str, float]]
"""By name or pattern of a model: `input` and `output`, in US dollars for a million tokens."""


def cost_of(prices: Prices, model: str | None, usage: Mapping[str, int]) -> float | None:
    """Return what an answer has cost, by the first price whose pattern fits its model; `None` if there is none."""
    for pattern, price in prices.items():
        if model is not None and fnmatchcase(model, pattern):
            return sum(price.get(kind, 0.0) * usage.get(f"{kind}_tokens", 0) for kind in ("input", "output")) / _MILLION
    return None


# Carry out commands: ask models, call activities, with the policy of the engine. Every driver uses this.


Check: TypeAlias = Callable[[Json], str | None]
"""Looks at what a step has filled in; a text says what is wrong with it, and the model is asked again."""
RunChild: TypeAlias = Callable[[str, Json, ActivityCommand], Awaitable[Result | None]]
"""Runs a process as a child: its run id, its JSON, and the command that it serves; `None` if it waits for somebody."""


@dataclass(frozen=True, slots=True)
class Effects:
    """How the commands of one run are carried out."""

    run: str
    model: Model
    activities: Activities
    sink: Sink | None = None
    checks: Mapping[str, Check] = field(default_factory=dict)
    """By bare name of a step."""
    processes: Mapping[str, Json] = field(default_factory=dict)
    """The JSON of the processes that plans name, by their addresses."""
    child: RunChild | None = None
    model_retry: Retry = field(default_factory=Retry)
    others: Mapping[str, Model] = field(default_factory=dict)
    """Models that the project has set for some vibes, by their words."""
    prices: Prices = field(default_factory=dict)
    """What the project has set that models cost."""
    step: str | None = None
    """The name of the only step of a tool, whose answer has no key for it."""
    first: int = 1
    """The number of the first attempt; an engine that tries again itself counts on."""
    pause: Callable[[float], Awaitable[None]] = asyncio.sleep
    """Waits before the next attempt; an engine that tries again itself leaves here."""

    def tell(self, event: EventKind, command: str | None = None, **facts: Unpack[EventFacts]) -> None:
        """Tell what happens."""
        if self.sink is not None:
            told = event_of(self.run, event, command, facts)
            try:
                self.sink(told)
            except Exception as error:  # noqa: BLE001  -- whoever watches a run does not end it
                warnings.warn(f"an event of `{self.run}` could not be told: {error}", RuntimeWarning, stacklevel=2)

    async def ask(self, command: ModelCommand) -> Result:
        """Ask the model for a chunk; a provider that fails is asked again as its policy says."""
        steps = command["steps"]
        text = model_message(command)
        name = tool_name(command["chunk"], steps, self.step)
        request = Request(f"{self.run}/{command['id']}", name, text, command["schema"], command["model"], command)
        if command["complaints"]:
            self.tell("rejected", _before(command["id"]), complaints=command["complaints"])
        self.tell("asked", command["id"], chunk=command["chunk"], steps=list(steps), sent=text, schema=command["schema"])
        began = monotonic()
        attempt = self.first
        code: str | None
        while True:
            try:
                async with time_limit(self.model_retry.timeout):
                    reply = await self.others.get(command["model"] or "", self.model).answer(request)
                break
            except TimeoutError:
                error, code, retry = "the model took too long", "timeout", True
            except ModelError as failed:
                error, code, retry = str(failed), failed.code, failed.retry
            except CompileError as failed:  # a setting is missing, as the key of a provider
                error, code, retry = failed.problems[0].with_hint, failed.problems[0].name, False
            except Exception as failed:  # noqa: BLE001  -- an adapter of somebody else
                error, code, retry = f"{type(failed).__name__}: {failed}", None, False
            if not retry or not self.model_retry.again(attempt, None):
                return self._failed(command["id"], error, code, attempt, began)
            self.tell("retried", command["id"], error=error, attempt=attempt)
            await self.pause(self.model_retry.wait(attempt))
            attempt += 1
        return self._accepted(command, reply, began, attempt)

    def _accepted(self, command: ModelCommand, reply: Reply, began: float, attempt: int) -> Result:
        answer, numbered = with_unique_ids(reply.answer, command["schema"])
        wrong = [*reply.complaints, *self._checked(command, answer)]
        parts: Split = {"output": None, "thoughts": {}, "metrics": {}}
        if holds_meta(answer):
            try:
                parts = split(answer, command["schema"])
            except TypeError as error:  # an adapter of somebody else
                wrong.append({"pointer": "", "message": f"the answer is not JSON: {error}"})
        facts: EventFacts = {
            "answer": answer,
            "thoughts": parts["thoughts"],
            "metrics": parts["metrics"],
            "usage": reply.usage,
            "cost": reply.cost if reply.cost is not None else cost_of(self.prices, reply.model, reply.usage),
            "model": reply.model,
            "repairs": [*reply.repairs, *numbered],
            "complaints": wrong,
            "seconds": monotonic() - began,
            "attempt": attempt,
        }
        if reply.sent is not None:
            facts["sent"] = reply.sent
        self.tell("answered", command["id"], **facts)
        return {"ok": answer, "usage": reply.usage, **({"complaints": wrong} if wrong else {})}

    def _checked(self, command: ModelCommand, answer: Json) -> list[Complaint]:
        """Return what the project's own checks say of the steps in an answer."""
        found: list[Complaint] = []
        if not self.checks:
            return found
        parts: list[tuple[str, str, Json]] = []
        if command["steps"] and isinstance(answer, dict):
            parts = [(key, f"/{key}", answer[key]) for key in command["steps"] if key in answer]
        elif not command["steps"] and self.step is not None:
            parts = [(self.step, "", answer)]
        for key, place, part in parts:
            check = self.checks.get(bare_name(key))
            said = check(split(part)["output"]) if check is not None else None
            if said is not None:
                found.append({"pointer": place, "message": str(said)})
        return found

    async def call(self, command: ActivityCommand | FireCommand) -> Result | None:
        """Call an activity, as often as its policy says; `None` if somebody answers later."""
        if command["kind"] == "activity" and command["process"] is not None:
            return await self._child(self.processes.get(command["process"]), command)
        found = self.activities.find(command["activity"])
        self.tell("called", command["id"], activity=command["activity"], step=command["step"], input=command["input"])
        began = monotonic()
        if found is None:
            return self._failed(
                command["id"], f"no activity is registered as `{command['activity']}`", "unknown-activity", 1, began
            )
        if found.process is not None and command["kind"] == "activity":
            return await self._child(found.process, command)
        wrong = complaints(command["input"], found.input) if found.input is not True else []
        if wrong:
            text = f"`{found.name}` is given what does not fit, at `{wrong[0]['pointer'] or '/'}`: {wrong[0]['message']}"
            return self._failed(command["id"], text, "invalid-input", 1, began)
        attempt = self.first
        code: str | None
        while True:
            try:
                value = await attempt_call(
                    found, command["input"], ActivityCall(f"{self.run}/{command['id']}", found.name, attempt)
                )
                break
            except TimeoutError:
                error, code, retry = f"`{found.name}` took too long", "timeout", True
            except ActivityError as failed:
                error, code, retry = str(failed), failed.code, failed.retry
            except WrongArgumentsError as failed:
                error, code, retry = f"`{found.name}` {failed}", "invalid-input", False
            except Exception as failed:  # noqa: BLE001  -- whatever a handler raises
                error, code, retry = f"{type(failed).__name__}: {failed}", None, True
            if not retry or not found.retry.again(attempt, code):
                return self._failed(command["id"], error, code, attempt, began)
            self.tell("retried", command["id"], error=error, attempt=attempt)
            await self.pause(found.retry.wait(attempt))
            attempt += 1
        if isinstance(value, Pending):
            self.tell("pending", command["id"], activity=found.name)
            return None
        self.tell("returned", command["id"], output=value, seconds=monotonic() - began, attempt=attempt)
        return {"ok": value}

    async def _child(self, process: Json, command: ActivityCommand) -> Result | None:
        began = monotonic()
        if self.child is None or process is None:
            return self._failed(command["id"], f"the process `{command['process']}` is not known", "unknown-process", 1, began)
        run = f"{self.run}/{command['id']}"
        self.tell("launched", command["id"], child=run, input=command["input"])
        result = await self.child(run, process, command)
        if result is None:
            self.tell("pending", command["id"], child=run)
            return None
        facts: EventFacts = {"child": run, "seconds": monotonic() - began}
        if "error" in result:
            facts["error"] = result["error"]
        else:
            facts["output"] = result.get("ok")
        self.tell("returned", command["id"], **facts)
        return result

    def _failed(self, command: str, error: str, code: str | None, attempt: int, began: float) -> Result:
        text = redacted(error)
        kind = "timeout" if code == "timeout" else "failed"
        self.tell("failed", command, error=text, code=code, attempt=attempt, seconds=monotonic() - began)
        return {"error": {"kind": kind, "code": code, "message": text}}


def _before(command: str) -> str:
    """Return the command whose answer was not accepted: `llmContext1` for `llmContext1#2`."""
    base, _, number = command.rpartition("#")
    return f"{base}#{int(number) - 1}" if int(number) > 2 else base
