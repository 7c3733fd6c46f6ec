"""Execute commands: call models and activities, with the engine's policy."""

from __future__ import annotations

import asyncio
import inspect
import os
import traceback
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import partial
from pathlib import Path
from random import uniform
from sysconfig import get_path
from time import monotonic
from typing import Final, Literal, NamedTuple, TypeAlias, TypeVar, Unpack, cast

from msgspec import Struct, field, structs

from instrc.problems.errors import InstrcError
from instrc.process.request_settings import RequestSettings
from instrc.runtime.activities import (
    INVALID_OUTPUT,
    PROGRAMMING_ERRORS,
    Activities,
    Activity,
    ActivityCall,
    ActivityError,
    Handler,
    HandlerResult,
    Pending,
    Retry,
    beyond_schema,
    calling,
    complaints,
    connection_code,
)
from instrc.runtime.boundary import ForeignError, NotJsonError, copy_of, guarded, received, said_by, words_of, writable
from instrc.runtime.interpreter.documents import (
    ActivityCommand,
    Complaint,
    FailureKind,
    FireCommand,
    ModelCommand,
    Result,
    bare_name,
    placed,
    use_of,
)
from instrc.runtime.models.budget import CountedBudget, Prices, cost_of, estimate_of
from instrc.runtime.models.cache import AnswerCache
from instrc.runtime.models.model import Model, ModelError, Reply, Request, model_message, tool_name
from instrc.runtime.models.partial import AnswerPart, TellPart
from instrc.runtime.models.settings import RequestTable, answer_bound, temperatures
from instrc.runtime.secrets import redacted
from instrc.runtime.simultaneous import calls_of, in_thread
from instrc.runtime.telemetry import Telemetry
from instrc.runtime.traces import EventFacts, EventKind, Sink, event_of, tell_sink
from instrc.schema.strip import split
from instrc.text.callers import warn_caller
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json, JsonObject
from instrc.text.sentences import EN, Sentences
from instrc.tools.class_checks import ClassCheck
from instrc.tools.plan_check import with_unique_ids
from instrc.tools.python_values import WrongArgumentsError, WrongParametersError

Check: TypeAlias = Callable[[Json], str | None]
"""Validates the answer of a step; a returned text says what is wrong, and the model is asked again."""
RunChild: TypeAlias = Callable[[str, Json, ActivityCommand], Awaitable[Result | None]]
"""Runs a process as a child: its run id, its JSON, and the command that it serves; `None` if it waits for an answer."""
Invention: TypeAlias = Literal["answers", "results"]
_ESTIMATED: Final = "the answer does not say how many tokens it used: the budget counts an estimate"
_NOT_COUNTED: Final = "the cost of this answer is unknown: the budget does not count it"
_T = TypeVar("_T")
NO_JSON = "no-json"
"""Error code of a value that is not JSON."""
_KINDS_BY_CODE: dict[str | None, FailureKind] = {
    "timeout": "timeout",
    NO_JSON: "invalid",
    INVALID_OUTPUT: "invalid",
    "budget": "limit",
}


class Effects(Struct, frozen=True):
    """Executes the commands of one run."""

    run: str
    model: Model
    activities: Activities
    sink: Sink | None = None
    checks: Mapping[str, Check] = field(default_factory=dict)
    """Checks by bare name of a step."""
    processes: Mapping[str, Json] = field(default_factory=dict)
    """JSON of the processes that plans name, by address."""
    child: RunChild | None = None
    model_retry: Retry = field(default_factory=lambda: Retry(jitter=0.25))
    table: RequestTable = field(default_factory=RequestTable)
    """Settings for requests to models."""
    sentences: Sentences = EN
    """Texts sent to models."""
    words: str = ""
    """Spec of the model, by which its settings are looked up."""
    others: Callable[[str], Model] | None = None
    """Returns the model for a spec: one that the project set for a vibe, or that a retry chose."""
    chosen: str | None = None
    """Spec of the model that a retry chose for every chunk."""
    prices: Prices = field(default_factory=dict)
    """Model prices set by the project."""
    cache: AnswerCache | None = None
    """Cache of paid answers."""
    budget: CountedBudget | None = None
    """Cost limit for the models of the run."""
    takes: Mapping[str, Json] = field(default_factory=dict)
    """Input schemas of activities, from their vibes, by the digest of a process and the use in it."""
    of: str = ""
    """Digest of the run's process."""
    parts: TellPart | None = None
    """Receiver of partial answers; without one, answers are requested as a whole."""
    step: str | None = None
    """Name of the only step of a tool, whose answer has no step key."""
    invented: tuple[Invention, ...] = ()
    """What this run generates from schemas instead of requesting or executing it."""
    classes: Mapping[str, ClassCheck] = field(default_factory=dict)
    """Classes of steps by bare name, whose validators check answers too."""
    telemetry: Telemetry | None = None
    """Creates spans from the events that the sink receives."""
    program: str = ""
    """Name of the program, for its span."""
    keys: Mapping[str, int] = field(default_factory=dict)
    """Index of a command's key, if not the first, after a deliberate restart."""
    first: int = 1
    """Number of the first attempt; an engine that retries itself continues the count."""
    pause: Callable[[float], Awaitable[None]] = asyncio.sleep
    """Waits before the next attempt; an engine that retries itself aborts here."""

    def key(self, command: str) -> str:
        """Return the idempotency key of a command's effect: `run/command`, or `run/command~2` after a restart."""
        number = self.keys.get(command, 1)
        return f"{self.run}/{command}" + (f"~{number}" if number > 1 else "")

    def tell(self, event: EventKind, command: str | None = None, **facts: Unpack[EventFacts]) -> None:
        """Send an event."""
        if self.sink is not None:
            tell_sink(self.sink, event_of(self.run, event, command, facts))

    def carried(self) -> AbstractContextManager[None]:
        """Open the context that lasts while this process carries out the run: its span."""
        if self.telemetry is None or "/" in self.run:
            return nullcontext()
        return self.telemetry.carried(self.run, self.program)

    async def ask(self, command: ModelCommand) -> Result:
        """Call the model for a chunk; a failed request is retried according to its policy."""
        steps = command["steps"]
        if command["complaints"]:
            command = {**command, "complaints": _said_once(command)}
            self.tell("rejected", _before(command["id"]), complaints=command["complaints"])
        first = self.request(command)
        policy = self._policy({**self.table.of_model(first.model or self.words), **first.settings})
        self.tell("asked", command["id"], chunk=command["chunk"], steps=list(steps), sent=first.message, schema=command["schema"])
        if self.telemetry is not None:
            self.telemetry.name_model(self.run, command["id"], first.model or self.words)
        began = monotonic()
        tell_part = self._teller(first.key, steps)
        refused: list[ModelError] = []
        used: EventFacts = {}

        async def answer(attempt: int) -> Reply:
            request = first if attempt == self.first else self.request(command)  # a model may have changed the one before
            try:
                async with asyncio.timeout(policy.timeout):
                    reply = await self._paid(request if tell_part is None else structs.replace(request, partial=tell_part))
            except ModelError as error:
                refused.extend((error, *error.failures))
                used.update(self._used(refused))
                raise
            refused.extend(reply.failures)
            notes = _several(command)
            return structs.replace(reply, notes=(*notes, *reply.notes)) if notes else reply

        matches = await self._retried(command["id"], policy, answer, _model_fault, began, used)
        if not isinstance(matches, tuple):
            return matches
        try:
            used.update(self._used(refused, matches[0]))
            result = redacted(self._accepted(command, *matches, began, used))
        except _CheckError as error:
            said = str(error)
            fault = _told(error.error, lambda own: AttemptFault(said, "check", retry=False, place=place_of(own)))
            return self._failed(command["id"], fault.message, fault.code, matches[1], began, {**fault.place, **used})
        if tell_part is not None and "complaints" not in result:
            whole = result["ok"]
            tell_part(whole, [*whole] if isinstance(whole, dict) else [])
        return result

    def request(self, command: ModelCommand) -> Request:
        """Return the request to the model for a chunk."""
        own, steps = copy_of(command), command["steps"]
        key, name = self.key(command["id"]), tool_name(command["chunk"], steps, self.step)
        set_ = self.table.of_steps(steps or ([] if self.step is None else [self.step]), temperatures(command["schema"], steps))
        cache = None if self.cache is None else self.cache.again(self.keys.get(command["id"], 1))
        text = model_message(command, self.sentences)
        return Request(key, name, text, own["schema"], self.chosen or own["model"], own, set_, self.sentences, cache)

    def estimate(self, request: Request) -> float:
        """Return the maximum cost of a request in US dollars; 0 for a model without a price."""
        words = request.model or self.words
        most = request.settings.get("max_tokens") or self.table.of_model(words).get("max_tokens") or answer_bound(request.schema)
        sent = len(request.message.encode()) + len(dumps(request.schema, indent=False).encode())
        return estimate_of(self.prices, words, sent, most)

    def _teller(self, key: str, steps: Sequence[str]) -> Callable[[Json, Sequence[str]], None] | None:
        """Return the callback for partial answers, if there are listeners; an error of a listener does not end the run."""
        tell, names = self.parts, tuple(steps or ([] if self.step is None else [self.step]))
        if tell is None:
            return None

        def told(value: Json, complete: Sequence[str]) -> None:
            output = split(copy_of(value))["output"]
            kept = tuple(item for item in complete if isinstance(output, dict) and item in output)
            try:
                with guarded():
                    tell(AnswerPart(key, names, output, kept))
            except Exception as error:  # noqa: BLE001  -- user code may raise anything
                warn_caller(f"a part of an answer could not be told: {words_of(error)}")

        return told

    async def _paid(self, request: Request) -> Reply:
        """Return the reply of a model if the budget has room for it; the estimate counts for one that may continue elsewhere."""
        model = self.others(request.model) if request.model and self.others is not None else self.model
        budget = self.budget
        if budget is None:
            with guarded():
                return _copied_reply(await model.answer(request))
        entry = await asyncio.to_thread(budget.reserve, self.run, estimate := self.estimate(request))
        try:
            with guarded():
                reply = _copied_reply(await model.answer(request))
        except ModelError as error:
            await asyncio.to_thread(budget.settle, entry, self._lost((error, *error.failures), estimate))
            raise
        cost, note = self._counted(reply, estimate)
        await asyncio.to_thread(budget.settle, entry, cost + self._lost(reply.failures, estimate))
        return reply if note is None else structs.replace(reply, notes=(*reply.notes, note))

    def _counted(self, reply: Reply, estimate: float) -> tuple[float, str | None]:
        """Return the cost of a reply, which is the estimate if it does not say its tokens, and a note if it is not known."""
        cost = self._cost(reply)
        is_told = reply.cached or reply.invented or {"input_tokens", "output_tokens"} <= reply.usage.keys()
        if cost is not None and reply.cost is None and not is_told:
            return estimate, _ESTIMATED
        return cost or 0.0, _NOT_COUNTED if cost is None and not reply.invented else None

    def _lost(self, failures: Iterable[ModelError], estimate: float) -> float:
        """Return what requests without an answer cost; one that may go on elsewhere costs the estimate."""
        known = [(each.reply, estimate if each.code in {"timeout", "unreachable", "unreadable"} else 0.0) for each in failures]
        return sum(cost if reply is None else self._counted(reply, estimate)[0] for reply, cost in known)

    def _used(self, refused: Iterable[ModelError], *answers: Reply) -> EventFacts:
        """Return the tokens and the known cost of answers, and of what was sent in place of one."""
        replies, usage = [*answers, *(each.reply for each in refused if each.reply is not None)], Counter[str]()
        for reply in replies:
            usage.update(_usage_of(reply))
        costs = [cost for cost in map(self._cost, replies) if cost is not None]
        return {"usage": dict(usage), "cost": sum(costs) if costs else None} if replies else {}

    def _cost(self, reply: Reply) -> float | None:
        return reply.cost if reply.cost is not None else cost_of(self.prices, reply.model, reply.usage)

    def _policy(self, settings: RequestSettings) -> Retry:
        """Return the retry policy of a request."""
        usual = self.model_retry
        return structs.replace(
            usual, attempts=settings.get("attempts", usual.attempts), total=settings.get("total_timeout", usual.total)
        )

    def _accepted(self, command: ModelCommand, reply: Reply, attempt: int, began: float, used: EventFacts) -> Result:
        answer, numbered = with_unique_ids(reply.answer, command["schema"])
        wrong = [*beyond_schema(reply.complaints, answer, command["schema"]), *self._checked(command, answer)]  # not said twice
        parts = split(answer, command["schema"])
        facts: EventFacts = {
            **used,
            "answer": answer,
            "thoughts": parts["thoughts"],
            "metrics": parts["metrics"],
            "model": reply.model,
            "repairs": [*reply.repairs, *numbered],
            "complaints": [*reply.complaints, *(item for item in wrong if item not in reply.complaints)],
            "seconds": monotonic() - began,
            "attempt": attempt,
        }
        text = reply.text if reply.complaints and answer is None else None
        also = {"sent": reply.sent, "text": text, "invented": reply.invented, "cached": reply.cached, "notes": [*reply.notes]}
        facts |= cast("EventFacts", {name: fact for name, fact in also.items() if fact})
        self.tell("answered", command["id"], **facts)
        result: Result = {"ok": answer, **_recorded(used)}
        if reply.cached:
            result["cached"] = True
        if wrong:
            result["complaints"] = wrong
        return result

    def _checked(self, command: ModelCommand, answer: Json) -> list[Complaint]:
        """Return the complaints of the project's own checks about the steps in an answer."""
        result: list[Complaint] = []
        parts: list[tuple[str, str, Json]] = []
        if command["steps"] and isinstance(answer, dict):
            parts = [(key, f"/{key}", answer[key]) for key in command["steps"] if key in answer]
        elif not command["steps"] and self.step is not None:
            parts = [(self.step, "", answer)]
        for key, place, part in parts:
            check, of_class = self.checks.get(bare_name(key)), self.classes.get(bare_name(key))
            output = None if check is None and of_class is None else copy_of(split(part)["output"])
            if of_class is not None and (refused := _checked_by(partial(of_class, output), key)):
                by_schema = {item["pointer"] for item in complaints(answer, command["schema"])}
                places = [(f"{place}{item.pointer}", item) for item in refused]
                result += [
                    {"pointer": at, "message": writable(item.message)} for at, item in places if item.own or at not in by_schema
                ]
            said = None if check is None else _checked_by(partial(_text_of, check, output), key)
            if said is not None:
                result.append({"pointer": place, "message": said})
        return result

    async def call(self, command: ActivityCommand | FireCommand) -> Result | None:
        """Call an activity, retrying according to its policy, or return `None` if its result comes later."""
        began = monotonic()
        if command["kind"] == "activity" and command["process"] is not None:
            return self._misfit(command, began) or await self._child(self.processes.get(command["process"]), command)
        result = self.activities.find(command["activity"])
        self.tell("called", command["id"], activity=command["activity"], step=command["step"], input=command["input"])
        if result is None:
            return self._failed(
                command["id"], f"no activity is registered as `{command['activity']}`", "unknown-activity", 1, began
            )
        if (wrong := self._misfit(command, began, own=result.input)) is not None:
            return wrong
        if result.process is not None and command["kind"] == "activity":
            return await self._child(result.process, command)

        def call(attempt: int) -> Awaitable[HandlerResult]:
            made = ActivityCall(self.key(command["id"]), result.name, attempt)
            return attempt_call(result, command["input"], made, whole=bool(command.get("whole")))

        came = await self._retried(command["id"], result.retry, call, partial(_activity_fault, result), began)
        if not isinstance(came, tuple):
            return came
        value, attempt = came
        if isinstance(value, Pending):
            self.tell("pending", command["id"], activity=result.name)
            return None
        facts: EventFacts = {"output": value, "seconds": monotonic() - began, "attempt": attempt}
        if "results" in self.invented:
            facts["invented"] = True
        self.tell("returned", command["id"], **facts)
        return {"ok": redacted(value)}

    def _misfit(self, command: ActivityCommand | FireCommand, began: float, *, own: Json = True) -> Result | None:
        """Return the error of a call whose input does not fit the activity's `own` schema or its vibe, or `None`."""
        vibe = self.takes.get(f"{self.of} {use_of(command['step'], command['activity'])}", True)
        wrong = [item for schema in (own, vibe) if schema is not True for item in complaints(command["input"], schema)]
        if not wrong:
            return None
        text = f"`{command['activity']}` is given what does not fit, {placed(wrong[0])}"
        return self._failed(command["id"], text, "invalid-input", 1, began)

    async def _retried(
        self,
        command: str,
        policy: Retry,
        once: Callable[[int], Awaitable[_T]],
        fault_of: Callable[[BaseException], AttemptFault],
        began: float,
        used: EventFacts | None = None,
    ) -> tuple[_T, int] | Result:
        """Make attempts with the pauses of a policy.

        Return the result of an attempt and its number, or the last error as the result of the command.
        """
        attempt = self.first
        while True:
            try:
                return await once(attempt), attempt
            except Exception as error:  # noqa: BLE001  -- handlers and model adapters may be user code
                fault = _told(error, fault_of)
            chance = uniform(1 - policy.jitter, 1 + policy.jitter)  # noqa: S311  -- no secret
            pause, why = max(policy.wait(attempt) * chance, fault.after or 0.0), None
            if not fault.retry or not policy.again(attempt, fault.code):
                why = ""
            elif fault.after is not None and fault.after > policy.longest:
                why = f" (it wants to be left alone for {fault.after:g} s, which is longer than we wait)"
            elif policy.total is not None and monotonic() - began + pause > policy.total:
                why = f" (no time for another attempt: all have {policy.total:g} s)"
            if why is not None:
                more: EventFacts = {**fault.place, **(used or {})}
                return self._failed(command, fault.message + why, fault.code or fault.recorded, attempt, began, more)
            tried: EventFacts = {"error": fault.message, "attempt": attempt, **fault.place}
            self.tell("retried", command, **tried)
            await self.pause(pause)
            attempt += 1

    async def _child(self, process: Json, command: ActivityCommand) -> Result | None:
        began = monotonic()
        if self.child is None or process is None:
            return self._failed(command["id"], f"the process `{command['process']}` is not known", "unknown-process", 1, began)
        run = self.key(command["id"])
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

    def _failed(
        self, command: str, error: str, code: str | None, attempt: int, began: float, more: EventFacts | None = None
    ) -> Result:
        text, seconds = writable(error), monotonic() - began
        facts: EventFacts = {"error": text, "code": code, "attempt": attempt, "seconds": seconds, **(more or {})}
        self.tell("failed", command, **facts)
        said: JsonObject = {"kind": _KINDS_BY_CODE.get(code, "failed"), "code": code, "message": text}
        place = facts.get("place")
        return {"error": redacted(said if place is None else {**said, "place": place}), **_recorded(facts)}


def _recorded(used: EventFacts) -> Result:
    """Return the usage in the facts of an event in the form in which a result records it."""
    return cast("Result", {name: fact for name in ("usage", "cost") if (fact := used.get(name)) is not None})


def _said_once(command: ModelCommand) -> list[Complaint]:
    """Return the errors of an answer without duplicates; if it had no value, without the schema's complaints about `null`."""
    result = [item for number, item in enumerate(command["complaints"]) if item not in command["complaints"][:number]]
    return (beyond_schema(result, None, command["schema"]) if command["rejected"] is None else []) or result


def _before(command: str) -> str:
    """Return the command whose answer was rejected: `llmContext1` for `llmContext1#2`."""
    base, _, number = command.rpartition("#")
    return f"{base}#{int(number) - 1}" if int(number) > 2 else base


def _several(command: ModelCommand) -> list[str]:
    """Return a note about steps of one call that set different temperatures."""
    first, *others = temperatures(command["schema"], command["steps"]) or [0.0]
    return [f"its steps share a call, and have different temperatures: {first:g} is used"] if others else []


class AttemptFault(NamedTuple):
    """Why an attempt failed, and whether another one may succeed."""

    message: str
    code: str | None
    retry: bool
    place: EventFacts = {}  # noqa: RUF012  -- it is read only
    """Where foreign code failed: `place`, `traceback`."""
    after: float | None = None
    """Seconds that a provider asks to wait."""
    recorded: str | None = None
    """Code that is recorded if the error has none."""


def _told(error: BaseException, fault_of: Callable[[BaseException], AttemptFault]) -> AttemptFault:
    """Return why an attempt failed, without secrets and not too long, even if members of the error raise when they are read."""
    try:
        with guarded():
            fault = fault_of(error)
            message, code = (text and text[:ERROR_CHARACTERS] for text in redacted([writable(fault.message), fault.code]))
            return fault._replace(message=message or "", code=code, retry=bool(fault.retry))
    except Exception:  # noqa: BLE001  -- their code may raise anything
        return AttemptFault("its error cannot be read: a member of it raises", None, retry=False)


def _model_fault(error: BaseException) -> AttemptFault:
    match error:
        case TimeoutError():
            return AttemptFault("the model took too long", "timeout", retry=True)
        case ModelError():
            return AttemptFault(words_of(error), _code_of(error), retry=error.retry, after=_after_of(error))
        case NotJsonError():
            return AttemptFault(f"the reply of the model is not JSON, {error}", NO_JSON, retry=False)
        case InstrcError():  # a setting is missing, as the key of a provider
            return AttemptFault(error.problems[0].with_hint, error.problems[0].name, retry=False)
        case _:
            own = _own(error)
            return AttemptFault(said_by(own), None, retry=False, place=place_of(own), recorded=connection_code(own))


def _code_of(error: ActivityError | ModelError) -> str | None:
    """Return the code of an error as text, whatever type its handler used."""
    code: object = error.code
    return writable(str(code)) if isinstance(code, str | int) else None


def _after_of(error: ModelError) -> float | None:
    """Return the seconds that a provider asks to wait, whatever type an adapter used."""
    after: object = getattr(error, "after", None)
    return float(after) if isinstance(after, int | float) and after >= 0 else None


def _own(error: BaseException) -> BaseException:
    """Return the original error raised by foreign code."""
    return error.error if isinstance(error, ForeignError) else error


class _CheckError(Exception):
    """The check of a step raised an error."""

    def __init__(self, step: str, error: BaseException) -> None:
        super().__init__(f"the check of `{step}` raised {said_by(error)}")
        self.error = error


def _copied_reply(reply: Reply) -> Reply:
    """Return a reply as a copy; raise `NotJsonError` if anything but its answer is not JSON."""
    lists = [*reply.repairs], [*reply.complaints], [*reply.notes]  # tuples take the slow path
    rest = received([reply.cost, reply.model, *lists, reply.text, reply.sent])
    cost, model, repairs, complaints, notes, text, sent = cast("_ReplyParts", rest)
    try:
        answer = received(reply.answer)
    except NotJsonError as error:
        answer, complaints = None, [*complaints, {"pointer": "", "message": f"the answer is not JSON, {error}"}]
    kept = reply.invented, tuple(notes), reply.cached, reply.failures
    return Reply(answer, _usage_of(reply), cost, model, tuple(repairs), tuple(complaints), text, sent, *kept)


def _usage_of(reply: Reply) -> dict[str, int]:
    """Return the tokens of a reply; a model may not know some of them, or any."""
    return {str(name): int(count) for name, count in (reply.usage or {}).items() if count is not None}


def _text_of(check: Check, value: Json) -> str | None:
    said = check(value)
    return None if said is None else writable(str(said))


def _checked_by(check: Callable[[], _T], step: str) -> _T:
    """Return the complaint of a check about the value of a step."""
    try:
        with guarded():
            return check()
    except Exception as error:
        raise _CheckError(step, _own(error)) from error


def _activity_fault(activity: Activity, error: BaseException) -> AttemptFault:
    match error:
        case TimeoutError():
            return AttemptFault(f"`{activity.name}` took too long", "timeout", retry=True, place=place_of(error))
        case ActivityError():
            return AttemptFault(words_of(error), _code_of(error), retry=error.retry, place=place_of(error))
        case WrongArgumentsError():
            code = "wrong-parameters" if isinstance(error, WrongParametersError) else "invalid-input"
            return AttemptFault(f"`{activity.name}` {words_of(error)}", code, retry=False, place=_definition(activity.handler))
        case NotJsonError():
            return AttemptFault(
                f"`{activity.name}` gave what is not JSON, {error}", NO_JSON, retry=False, place=_definition(activity.handler)
            )
        case ForeignError(error=own):
            return AttemptFault(f"`{activity.name}` raised {said_by(own)}", None, retry=False, place=place_of(own))
        case _:
            retry = activity.retry.programming_errors or not isinstance(error, PROGRAMMING_ERRORS)
            return AttemptFault(said_by(error), None, retry=retry, place=place_of(error), recorded=connection_code(error))


def _definition(handler: object) -> EventFacts:
    """Return the source location of a handler, if it is a Python function."""
    code = getattr(inspect.unwrap(handler) if callable(handler) else None, "__code__", None)
    return {} if code is None else {"place": _shown_line(code.co_filename, code.co_firstlineno)}


def _shown_line(file: str, line: int) -> str:
    with suppress(OSError):  # the folder may be gone
        file = file.removeprefix(f"{Path.cwd()}{os.sep}")
    return f"{file}:{line}"


async def attempt_call(activity: Activity, given: Json, call: ActivityCall, *, whole: bool = False) -> HandlerResult:
    """Call a handler once, with a copy of its argument: a coroutine in the loop, a function in a thread.

    With `whole` the argument is an object without labels.  The timeout of the activity applies.
    Return a copy of its result, as JSON; raise `NotJsonError` if it is not JSON.
    """
    handler = activity.whole if whole and activity.whole is not None else activity.handler
    assert handler is not None
    value: HandlerResult | Awaitable[HandlerResult]
    async with calls_of(activity.service) if activity.service else nullcontext(), asyncio.timeout(activity.retry.timeout):
        copied = copy_of(given)
        with calling(call), guarded():
            is_coroutine = asyncio.iscoroutinefunction(handler)
            value = handler(copied) if is_coroutine else await in_thread(_called_here, handler, copied)
            if isinstance(value, Awaitable):  # also of a function that returns a coroutine
                value = await value
            return value if isinstance(value, Pending) else await asyncio.to_thread(received, value)


def _called_here(handler: Handler, given: Json) -> HandlerResult | Awaitable[HandlerResult]:
    with guarded():  # futures do not accept every exception that a thread may raise
        return handler(given)


_ReplyParts: TypeAlias = "tuple[float | None, str | None, list[str], list[Complaint], list[str], str | None, str | None]"
ERROR_CHARACTERS: Final = 20_000
"""Maximum characters kept of an error and of its code, with their secrets masked: part of a secret would not be found."""
TRACEBACK_CHARACTERS: Final = 20_000
"""Maximum characters kept of a traceback, from its end."""
_OURS = f"{Path(__file__).parents[1]}{os.sep}"
_LIBRARY = f"{get_path('stdlib')}{os.sep}"
_PYDANTIC = f"-packages{os.sep}pydantic{os.sep}"
"""Path of pydantic, which calls the validators of classes."""


def place_of(error: BaseException) -> EventFacts:
    """Return the traceback of an error without this package's frames, and the innermost line in the folder of the called code.

    Both are left out if the error comes only from this package's code.
    """
    trace = error.__traceback__
    while trace is not None and _is_passed_over(trace.tb_frame.f_code.co_filename):
        trace = trace.tb_next
    if trace is None:
        return {}
    first = trace.tb_frame.f_code.co_filename
    folder = f"{os.path.dirname(first)}{os.sep}"  # noqa: PTH120  -- `<stdin>` is not a path

    def is_own(file: str) -> bool:
        return file == first or (file.startswith(folder) and "site-packages" not in file.removeprefix(folder))

    lines = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(trace)]
    own = [item for item in lines if is_own(item[0])]
    written = "".join(traceback.format_exception(type(error), error, trace))
    return {"place": _shown_line(*own[-1]), "traceback": redacted(writable(written))[-TRACEBACK_CHARACTERS:]}


def _is_passed_over(file: str) -> bool:
    """Return whether a file belongs to this package, to pydantic, or to the Python modules that run handlers in threads."""
    return file.startswith((_OURS, "<frozen ")) or _PYDANTIC in file or (file.startswith(_LIBRARY) and "-packages" not in file)
