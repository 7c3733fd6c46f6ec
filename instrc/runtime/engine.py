"""What an engine is to those who start runs and ask about them: runs, questions, answers."""

from __future__ import annotations

import asyncio
import re
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from inspect import isawaitable
from pathlib import Path
from time import monotonic, time
from types import UnionType
from typing import (
    Final,
    Literal,
    NotRequired,
    Protocol,
    TypeAlias,
    TypedDict,
    TypeVar,
    cast,
    get_args,
    overload,
    runtime_checkable,
)
from weakref import WeakSet

from instrc import problems
from instrc.problems.errors import (
    AnswerError,
    ConflictError,
    GoneError,
    InputError,
    InstrcError,
    NotFoundError,
    RunCancelledError,
    RunError,
    RunFailedError,
    RunHeldError,
    RunStoppedError,
    RunWaitingError,
    SettingsError,
    UnreachableError,
)
from instrc.problems.suggest import nearest
from instrc.runtime.activities import complaints
from instrc.runtime.boundary import ForeignError, NotJsonError, copy_of, guarded, received, said_by
from instrc.runtime.effects import Effects, Invention
from instrc.runtime.interpreter import documents, versions
from instrc.runtime.interpreter.documents import bare_instruction
from instrc.runtime.journal import Again, Journal, JournalEntry
from instrc.runtime.models.catalogue import words_from
from instrc.runtime.models.closing import closing_all
from instrc.runtime.models.partial import AnswerPart
from instrc.runtime.retry import ForkOptions, ForkOrigin, RetryOptions
from instrc.runtime.run_config import RunConfig
from instrc.runtime.secrets import redacted
from instrc.runtime.traces import Event, EventFacts, Sink, join_sinks, read_events, told_apart, trace_file, usage_in, written_to
from instrc.schema.strip import holds_meta, split
from instrc.text import arguments
from instrc.text.arguments import ProgramInput, source_or_path
from instrc.text.callers import warn_caller
from instrc.text.durations import is_span, seconds
from instrc.text.jsonvalue import Json, JsonObject, as_array, as_object
from instrc.tools.python_types import Adapter
from instrc.tools.python_values import JsonLike, as_instance


class Engine(Protocol):
    """Starts runs and keeps them."""

    async def start(self, launch: Launch) -> RunReport:
        """Begin a run and carry it on, until it ends or waits for somebody."""

    async def runs(self) -> list[RunReport]:
        """Return all runs that are kept, the latest first."""

    async def show(self, run: str) -> RunReport:
        """Return how a run stands; `NotFoundError` if there is none."""

    async def answer(self, run: str, step: str, data: Json, by: documents.Author | None = None) -> RunReport:
        """Answer a question of a run; `AnswerError` for a wrong answer, which leaves it open. `by` is recorded with it."""

    async def cancel(self, run: str) -> RunReport:
        """End a run."""

    async def resume(self, run: str) -> RunReport:
        """Go on with a run that no process carries on."""

    async def retry(self, run: str, options: RetryOptions) -> RunReport:
        """Go on with a run that has failed, or that is held; `ConflictError` where that would change nothing."""

    async def journal(self, run: str) -> tuple[Launch, Journal]:
        """Return what a run began with, and what is recorded of it."""

    async def delete(self, run: str) -> None:
        """Forget a run that has ended, and those below it."""

    def trace(self, run: str) -> list[Event]:
        """Return what has happened in a run, in order."""

    def trace_from(self, run: str, place: int = 0) -> tuple[list[Event], int]:
        """Return what has happened in a run behind a place, in order, and the place after it; the first place is 0."""

    def usage(self, run: str) -> dict[str, float] | None:
        """Return what models have used in a run; `None` if only its trace says it."""


_T = TypeVar("_T")
RunStatus: TypeAlias = Literal["running", "waiting", "held", "done", "failed", "stopped", "cancelled"]
STATUSES: Final[tuple[str, ...]] = get_args(RunStatus)
RUN_ERRORS: Final[dict[RunStatus, type[RunError]]] = {
    "running": RunWaitingError,
    "waiting": RunWaitingError,
    "held": RunHeldError,
    "failed": RunFailedError,
    "stopped": RunStoppedError,
    "cancelled": RunCancelledError,
}
"""The error that tells why a run has no result, by its status."""
Asker: TypeAlias = Literal["person", "system", "operator"]
People: TypeAlias = "Callable[[documents.UserCommand], JsonLike | Awaitable[JsonLike]]"
"""Answers a question, at once or as a coroutine; `None` leaves it open."""


@dataclass(frozen=True, slots=True)
class Question:
    """What a run waits for: the answer of a person, or the result of an activity that is given later."""

    id: str
    """Distinct in the run; that of a run below it is `RUN/…`."""
    steps: tuple[str, ...]
    """The keys of the steps whose results the answer gives."""
    show: Json
    """What the person is shown, or what the activity was given."""
    schema: Json
    """The JSON Schema that the answer has to satisfy."""
    by: Asker = "person"

    def apart(self) -> Question:
        """Return it with copies of what it shows: changes in them are nobody else's."""
        return replace(self, show=copy_of(self.show), schema=copy_of(self.schema))

    def below(self, run: str) -> Question:
        """Return it as a question of the run above, of which `run` is a child."""
        return replace(self, id=f"{run}/{self.id}")


def question_of(command: documents.Command) -> Question:
    """Return an open command as what is asked."""
    if command["kind"] == "user":
        return Question(command["id"], tuple(command["steps"]), command["show"], command["schema"])
    assert command["kind"] == "activity"
    return Question(command["id"], (command["step"],), command["input"], command["schema"], "system")


def answer_given(data: Json, by: documents.Author | None) -> documents.Result:
    """Return an answer as it is recorded, with who gave it."""
    return {"ok": data} if by is None else {"ok": data, "by": by}


def facts_of_answer(data: Json, by: documents.Author | None, steps: Sequence[str] | None = None) -> EventFacts:
    """Return what an event says of an answer, and of who gave it."""
    said: EventFacts = {"answer": data}
    if steps is not None:
        said["steps"] = [*steps]
    if by is not None:
        said["by"] = by
    return said


LIMIT: Final = "limit"
"""The id of the question to the operator of a run that a limit holds."""
_FAIL: Final[JsonObject] = {
    "type": "object",
    "properties": {"fail": {"const": True}},
    "required": ["fail"],
    "additionalProperties": False,
}


def questions_in(
    plan: documents.PinnedPlan, state: documents.State, later: Collection[str], held: Mapping[str, Json]
) -> list[Question]:
    """Return what a run waits for: people, systems that answer later, and its operator for what holds it."""
    only = _named(plan["options"].get("step"))
    found = [
        _held_question(command, held[command["id"]], only) if command["id"] in held else question_of(command)
        for command in versions.pending(plan, state)
        if command["kind"] == "user" or command["id"] in later or command["id"] in held
    ]
    if (stalled := versions.stalled(plan, state)) is not None:
        steps, message = stalled
        amount: JsonObject = {"type": "integer", "minimum": 1}
        raised: JsonObject = {
            "type": "object",
            "properties": {"requests": amount, "tokens": amount},
            "minProperties": 1,
            "additionalProperties": False,
        }
        found.append(
            Question(LIMIT, only or tuple(steps), {"error": {"message": message}}, {"anyOf": [raised, _FAIL]}, "operator")
        )
    return found


def _named(only: Json) -> tuple[str, ...]:
    """Return the name of the only step of a program, which has no key, where there is one."""
    return (only,) if isinstance(only, str) else ()


_RETRY: Final[JsonObject] = {**_FAIL, "properties": {"retry": {"const": True}}, "required": ["retry"]}


def _held_question(command: documents.Command, error: Json, only: tuple[str, ...]) -> Question:
    """Return what the operator decides of a command that holds a run: to begin it again, to give its result, to let it fail."""
    assert command["kind"] == "model" or command["kind"] == "activity"
    steps = (only or tuple(command["steps"])) if command["kind"] == "model" else (command["step"],)
    schema = command["schema"]
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if command["kind"] == "activity" and isinstance(properties, dict) and properties.keys() == {"output"}:
        schema = {"anyOf": [schema, properties["output"]]}  # as its handler gives it: the value, or an object with it
    given: JsonObject = {**_FAIL, "properties": {"result": schema}, "required": ["result"]}
    show: JsonObject = {"error": error}
    if command["kind"] == "activity":
        show |= {"activity": command["activity"], "input": command["input"]}
    return Question(command["id"], steps, show, {"anyOf": [_RETRY, given, _FAIL]}, "operator")


def faults_of_operator(question: Question, data: Json) -> list[documents.Complaint]:
    """Return what is wrong with an answer of the operator: with what it decides, or that it decides nothing."""
    ways = [as_object(way) for way in as_array(as_object(question.schema)["anyOf"])]
    members = [as_object(way["properties"]) for way in ways]
    if isinstance(data, dict):
        ways = [way for way, known in zip(ways, members, strict=True) if data.keys() & known.keys()]
    if len(ways) == 1:
        return complaints(data, ways[0])
    known = ", ".join(f"`{name}`" for each in members for name in each)
    return [{"pointer": "", "message": f"it is an object with one of the members {known}"}]


def decision(question: str, data: JsonObject) -> Again | None:
    """Return what the operator of a held run has decided, as a retry; `None` if a result is given, or the error stays."""
    if question == LIMIT:
        return {"limits": None if "fail" in data else cast("documents.SpendingLimits", data)}
    return {"drop": [question]} if "retry" in data else None


def status_of(questions: Iterable[Question]) -> RunStatus:
    """Return how a run stands that has not ended."""
    asked = {question.by for question in questions}
    return "held" if "operator" in asked else "waiting" if asked else "running"


def question_command(question: Question) -> documents.UserCommand:
    """Return a question as the command by which a person is asked."""
    chunk = question.id.rpartition("/")[2].rpartition(".")[2]
    return {
        "kind": "user",
        "id": question.id,
        "chunk": chunk,
        "steps": list(question.steps),
        "show": question.show,
        "schema": question.schema,
    }


@dataclass(frozen=True, slots=True)
class RunReport:
    """How a run stands."""

    run: str
    name: str
    status: RunStatus
    outcome: documents.Outcome | None
    questions: tuple[Question, ...] = ()
    began: float | None = None
    """Seconds since 1970."""
    ended: float | None = None
    config: RunConfig = field(default_factory=RunConfig)
    record: JsonObject | None = None

    @property
    def has_ended(self) -> bool:
        """Whether nobody continues it any more, unless it is retried."""
        return self.status not in {"running", "waiting", "held"}

    @property
    def forked(self) -> ForkOrigin | None:
        """What it was forked from."""
        return self.config.forked

    @property
    def origin(self) -> str:
        """What it was forked from, in words; nothing if it was not forked."""
        if self.forked is None:
            return ""
        return f"forked from {self.forked['run']}" + (f" at {self.forked['at']}" if self.forked["at"] else "")

    @property
    def standing(self) -> str:
        """How it stands, and what it was forked from, in words."""
        return f"{self.status} · {self.origin}" if self.origin else self.status

    def is_older(self, span: str) -> bool:
        """Tell whether it has ended longer ago than a span of time."""
        return self.ended is not None and self.has_ended and self.ended < time() - seconds(span)

    @property
    def invented(self) -> tuple[Invention, ...]:
        """What was made from its schema, instead of being asked for or done."""
        return tuple(self.config.invented or ())


def chosen(questions: list[Question], step: str, run: str, report: RunReport | None = None) -> Question:
    """Return the question of a name: its id, a step, the bare name of a step, or its chunk.

    If there is none, the problem says what has become of it, as far as the report of the run shows that.
    """
    step = arguments.as_plain(arguments.text("step", step))
    ways = (
        lambda question: question.id == step,
        lambda question: step in question.steps,
        lambda question: not documents.is_numbered(step) and bare_instruction(step) in map(bare_instruction, question.steps),
        lambda question: question.id.rpartition(".")[2] == step,
    )
    for way in ways:
        found = [question for question in questions if way(question)]
        if len(found) == 1:
            return found[0]
        if found:
            break
    open_ = tuple(
        question.steps[0] if len(question.steps) == 1 and len(questions) == 1 else question.id for question in questions
    )
    closed = "not asked" if report is None else _end_of_question(report, step)
    raise question_closed(run, step, open_, closed)


def question_closed(run: str, step: str, open_: tuple[str, ...], closed: problems.runs.QuestionEnd) -> InstrcError:
    """Return the error for a question that is not open, by what has become of it."""
    error = {"not asked": NotFoundError, "overdue": GoneError}.get(closed, ConflictError)
    return error([problems.runs.NoSuchQuestion(run=run, step=step, open=open_, closed=closed)])


def _end_of_question(report: RunReport, step: str) -> problems.runs.QuestionEnd:
    """Tell what has become of a question that is not open."""
    name = step.rpartition(".")[2]
    brought = [*values_of_steps(report.record), *(_named(report.config.step) if report.record else ())]
    if name in brought or (not documents.is_numbered(name) and bare_instruction(name) in map(bare_instruction, brought)):
        return "answered"
    error = report.outcome["error"] if report.outcome is not None and report.outcome["status"] == "failed" else None
    if error is not None and error["kind"] == "timeout":
        return "overdue"
    if report.status == "cancelled":
        return "cancelled"
    return "not asked" if report.outcome is None else "ended"


def require_fit(wrong: Sequence[documents.Complaint] | None, step: str) -> None:
    """Refuse an answer by what is wrong with it; `None` if nobody asks for it any more."""
    if wrong is None or wrong:
        at = wrong[0]["pointer"] if wrong else ""
        reason = wrong[0]["message"] if wrong else "it is not asked any more"
        raise AnswerError([problems.runs.RejectedAnswer(step=step, pointer=at, reason=reason)])


def require_ended(report: RunReport) -> None:
    """Refuse to forget a run that somebody may still continue."""
    if not report.has_ended:
        raise ConflictError([problems.runs.RunGoesOn(run=report.run, status=report.status)])


@dataclass(frozen=True, slots=True)
class Launch:
    """A run that is to begin."""

    run: str
    name: str
    """What the program is called."""
    plan: documents.PinnedPlan
    inputs: JsonObject
    config: RunConfig = field(default_factory=RunConfig)
    entries: Sequence[JournalEntry] = ()
    """What is recorded of it from the beginning: that of the run from which it was forked."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "inputs", redacted(self.inputs))  # as all that comes from outside


class LaunchDocument(TypedDict):
    """A run that is to begin, as plain JSON."""

    run: str
    name: str
    plan: documents.PinnedPlan
    inputs: JsonObject
    how: JsonObject
    """The `RunConfig`."""
    entries: NotRequired[list[JournalEntry]]


def holds(document: LaunchDocument) -> bool:
    """Return whether the run is held instead of failing for a reason that may pass."""
    return RunConfig.from_json(document["how"]).holds


def read_launch(document: LaunchDocument, run: str) -> Launch:
    """Return the launch that a store has kept, under the id of the run."""
    config = RunConfig.from_json(document["how"])
    return Launch(run, document["name"], document["plan"], document["inputs"], config)


@dataclass(frozen=True, slots=True)
class RunFilter:
    """Which of the runs of a store are meant."""

    status: str | None = None
    program: str | None = None
    began: float | None = None
    """Only those that began later, in seconds since 1970."""

    @classmethod
    def of(cls, status: str | None, program: str | None, since: str | None) -> RunFilter:
        """Return what chooses runs; `since` is a span of time up to now, as `P7D`; `SettingsError` for an invalid one."""
        status, program, since = (
            arguments.as_plain(arguments.text_or_none(name, value))
            for name, value in (("status", status), ("program", program), ("since", since))
        )
        if status is not None and status not in STATUSES:
            reason = f"a run is {', '.join(f'`{each}`' for each in STATUSES)}"
            found = problems.runs.UnusableSetting(what="status", word=status, reason=reason, nearest=nearest(status, STATUSES))
            raise SettingsError([found])
        if since is not None and not is_span(since):
            raise SettingsError(
                [problems.runs.UnusableSetting(what="span of time", word=since, reason="write it as `P7D` or `PT2H`")]
            )
        return cls(status, program, None if since is None else time() - seconds(since))

    def takes(self, report: RunReport) -> bool:
        """Tell whether a run is among them."""
        return (
            (self.status is None or report.status == self.status)
            and (self.program is None or report.name == self.program)
            and (self.began is None or (report.began or 0.0) >= self.began)
        )


Equip: TypeAlias = "Callable[[str, documents.PinnedPlan, RunConfig, Sink], Effects]"
"""Creates the effects of a run from its id, plan and configuration; the sink receives its events."""
Keep: TypeAlias = Literal["all", "open"]
"""Which runs are kept: of a stream of many, only those that wait for somebody, and no traces."""


class EngineOptions(TypedDict, total=False):
    """What every engine is made with, beside its store and what makes effects."""

    people: People | None
    """Who can be asked at once."""
    watch: Sink | None
    parts: Callable[[AnswerPart], object] | None
    """Who is told of answers while models write them."""
    keep: Keep
    traces: str | None
    """The URL of a database for traces, where the store of an engine is none."""


class TracedEngine:
    """What the engines share: traces in a folder, and what they were made with."""

    def __init__(self, folder: Path | None, equip: Equip, options: EngineOptions) -> None:
        self.folder = folder
        parts = options.get("parts")
        self.equip: Equip = equip if parts is None else lambda *given: replace(equip(*given), parts=parts)
        self.people: People | None = options.get("people")
        self.watch: Sink | None = told_apart(options.get("watch"))
        self.keep: Keep = options.get("keep", "all")

    def trace(self, run: str) -> list[Event]:
        """Return what has happened in a run, in order."""
        return self.trace_from(run)[0]

    def trace_from(self, run: str, place: int = 0) -> tuple[list[Event], int]:
        """Return what has happened behind a place, as far as it is noted on this machine, and the place after it."""
        return ([], 0) if self.folder is None else read_events(trace_file(self.folder, run), place)

    def parts_of(self, runs: Collection[str]) -> list[AnswerPart]:  # noqa: ARG002  -- other processes carry none of its runs
        """Return what other processes have written since the last time of answers in some runs, in all where one is ""."""
        return []

    def usage(self, run: str) -> dict[str, float] | None:  # noqa: ARG002  -- others know it
        """Return what models have used in a run; `None` if only its trace says it."""
        return None

    def sink(self) -> Sink:
        """Return what takes the events of runs: the traces, if they are kept, then whoever watches."""
        traces = self.folder if self.keep == "all" else None
        return join_sinks(None if traces is None else written_to(traces), self.watch)


class ForkingEngine(Engine, Protocol):
    """An engine of this program, which also begins forks of its runs."""

    async def fork(self, run: str, options: ForkOptions) -> RunReport:
        """Begin another run with what is recorded of one."""


@runtime_checkable
class Serving(Protocol):
    """An engine whose runs another process can carry: a worker."""

    async def reach(self) -> None:
        """Make sure that the server of the engine, if it has one, answers; an `UnreachableError` if it does not."""

    async def claim(self) -> bool:
        """Take what only one process may have at a time; `False` if another has it, and this one may stand by."""

    async def serve(self, stop: asyncio.Event) -> int:
        """Carry runs until it is told to stop; return how many went on at once."""


RECONNECT: Final = 300
"""Seconds for which a run waits for a server that was lost, unless the settings say otherwise."""
FIRST_PAUSE: Final = 1.0
LAST_PAUSE: Final = 30.0
"""Seconds between two attempts to reach a server, at first and at most."""
_reached: WeakSet[Serving] = WeakSet()
"""Engines whose servers have answered this program."""
Told: TypeAlias = Callable[[str], object]
"""Takes a line for a person."""


async def wait_for_server(engine: Serving, tell: Told, *, limit: float | None = None, stop: asyncio.Event | None = None) -> None:
    """Return as soon as the server of an engine answers, or soon after `stop`; an `UnreachableError` after `limit` seconds."""
    stop = stop or asyncio.Event()
    pause, began = FIRST_PAUSE, monotonic()
    while not stop.is_set():
        try:
            return await engine.reach()
        except UnreachableError as error:
            if limit is not None and monotonic() + pause > began + limit:
                raise
            if not stop.is_set():
                tell(f"{error.problems[0].message}; trying again in {pause:g} s")
        with suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), pause)
        pause = min(pause * 2, LAST_PAUSE)
    return None


async def through_losses(engine: Engine, work: Callable[[bool], Awaitable[_T]], limit: float, tell: Told) -> _T:
    """Do something with an engine, again each time that its server was lost and is back: `work` is told whether it is again.

    It is an `UnreachableError` at once if the server has never answered this program: its address may be wrong.
    """
    again = False
    if isinstance(engine, Serving) and engine not in _reached:
        await engine.reach()
        _reached.add(engine)
    while True:
        try:
            return await work(again)
        except UnreachableError as error:
            if not isinstance(engine, Serving) or not limit:
                raise
            tell(f"{error.problems[0].message}; its runs stay as they are, and go on when it answers")
            await wait_for_server(engine, tell, limit=limit)
            again = True


async def answer_or_resume(engine: Engine, run: str, step: str, data: Json, *, again: bool) -> RunReport:
    """Answer a question of a run; if it is tried `again` and nobody asks any more, it was taken before the server was lost."""
    try:
        return await engine.answer(run, step, data)
    except InstrcError as error:
        if not again or not any(isinstance(each, problems.runs.NoSuchQuestion) for each in error.problems):
            raise
    return await engine.resume(run)


async def ask_people(engine: Engine, report: RunReport, people: People | None) -> RunReport:
    """Ask for what a run waits for, until nobody answers any more; `AnswerError` for a wrong answer, which leaves it open."""
    while people is not None and report.status == "waiting":
        for question in report.questions:
            answer = await answer_of(people, question_command(question)) if question.by == "person" else None
            if answer is not None:
                report = await engine.answer(report.run, question.id, answer)
                break
        else:
            return report
    return report


async def answer_of(people: People, command: documents.UserCommand) -> Json:
    """Return what people answer to a copy of a question; `None`, with a warning, if they raise or give what is not JSON."""
    try:
        with guarded():
            answer = people(copy_of(command))
            return redacted(received(await answer if isawaitable(answer) else answer))
    except NotJsonError as error:
        reason = f"the answer is not JSON, {error}"
    except Exception as error:  # noqa: BLE001  -- it may be anybody's
        reason = f"`people` raised {said_by(error.error if isinstance(error, ForeignError) else error)}"
    warn_caller(f"the question `{command['id']}` stays open: {reason}")
    return None


def answer_copied(step: str, data: object) -> Json:
    """Return an answer that somebody gives as a copy without secrets; an `AnswerError` if it is not JSON."""
    try:
        return redacted(received(data))
    except NotJsonError as error:
        problem = problems.runs.RejectedAnswer(step=step, pointer=error.pointer, reason=error.reason)
        raise AnswerError([problem]) from None


class RaisedError(Exception):
    """What the code of an activity has raised: its traceback as a text, without secrets.

    It may have been raised in another process, or before a restart.
    """


class Run(ABC):
    """One run: how it stands since the last call, what it waits for, and what can be done about it."""

    @property
    @abstractmethod
    def id(self) -> str:
        """The id of the run."""

    @property
    @abstractmethod
    def status(self) -> RunStatus:
        """In one word how it stands."""

    @property
    @abstractmethod
    def outcome(self) -> documents.Outcome | None:
        """How it has ended; `None` while it has not."""

    @property
    @abstractmethod
    def record(self) -> JsonObject | None:
        """What is recorded so far, in the shape of the process."""

    @property
    @abstractmethod
    def questions(self) -> Sequence[Question]:
        """What the run waits for."""

    @property
    @abstractmethod
    def invented(self) -> tuple[Invention, ...]:
        """What was made from its schema: `answers` of models, `results` of activities; nothing, unless that was asked for."""

    @property
    @abstractmethod
    def only_step(self) -> str | None:
        """The name of the only step of a program, which has no key in its record; `None` where steps have keys."""

    @property
    @abstractmethod
    def forked(self) -> ForkOrigin | None:
        """What it was forked from, `{"run", "at"}`; `None` if it was not."""

    @property
    @abstractmethod
    def trace(self) -> list[Event]:
        """What has happened, in order."""

    @abstractmethod
    async def answer_async(self, step: str, data: JsonLike) -> Run:
        """Do what `answer` does, from code that is asynchronous."""

    @abstractmethod
    async def resume_async(self) -> Run:
        """Do what `resume` does, from code that is asynchronous."""

    @abstractmethod
    async def cancel_async(self) -> Run:
        """Do what `cancel` does, from code that is asynchronous."""

    @abstractmethod
    async def _retry_async(self, options: RetryOptions) -> Run:
        """Go on with a run that has failed, or that is held."""

    @abstractmethod
    async def _fork_async(self, options: ForkOptions) -> Run:
        """Begin another run with what is recorded of this one."""

    @abstractmethod
    async def delete_async(self) -> None:
        """Do what `delete` does, from code that is asynchronous."""

    def delete(self) -> None:
        """Forget the run, with its trace and the runs below it; `ConflictError` if it has not ended."""
        run_to_end(self.delete_async())

    async def fork_async(
        self,
        step: str | None = None,
        *,
        set: Mapping[str, Json] | None = None,  # noqa: A002  -- its name
        program: ProgramInput | JsonObject | None = None,
        model: str | None = None,
        id: str | None = None,  # noqa: A002  -- its name
    ) -> Run:
        """Do what `fork` does, from code that is asynchronous."""
        given = {} if set is None else dict(arguments.mapping("set", set))
        edits = {arguments.text("set", key): answer_copied(key, value) for key, value in arguments.as_plain(given).items()}
        version = program if program is None or isinstance(program, dict) else source_or_path(program)
        return await self._fork_async(
            ForkOptions(_plain_text("step", step), edits, _plain_text("id", id), version, _model_words(model))
        )

    def fork(
        self,
        step: str | None = None,
        *,
        set: Mapping[str, Json] | None = None,  # noqa: A002  -- its name
        program: ProgramInput | JsonObject | None = None,
        model: str | None = None,
        id: str | None = None,  # noqa: A002  -- its name
    ) -> Run:
        """Begin another run with what is recorded of this one, and return it; this one stays as it is.

            other = run.fork("send")  # `send`, and all that needs it, is done anew
            other = run.fork(set={"draft": {"text": "Dear Ann"}})  # with another result of `draft`

        What is begun anew has other keys than in this run, so a service does it again.
        `step` is a key, a bare name, or the id of a command; several have commas between them.
        `program` is another version of the program, as for `run`: it takes each result for which it asks in the same way.
        `forked["left"]` says which steps it does not take, and why.
        `model` is asked for every chunk, instead of the models of before. `id` is the id of the new run.
        `InstrcError` where a result does not fit, or where what an activity or a person has done would be done twice.
        """
        return run_to_end(self.fork_async(step, set=set, program=program, model=model, id=id))

    async def retry_async(
        self,
        step: str | None = None,
        *,
        new_key: bool = False,
        requests: int | None = None,
        tokens: int | None = None,
        budget: str | None = None,
        model: str | None = None,
    ) -> Run:
        """Do what `retry` does, from code that is asynchronous."""
        limits = arguments.whole_or_none("requests", requests), arguments.whole_or_none("tokens", tokens)
        money = _plain_text("budget", budget)
        said = () if money is None else tuple(money.split(","))
        return await self._retry_async(
            RetryOptions(_plain_text("step", step), arguments.truth("new_key", new_key), *limits, said, _model_words(model))
        )

    def retry(
        self,
        step: str | None = None,
        *,
        new_key: bool = False,
        requests: int | None = None,
        tokens: int | None = None,
        budget: str | None = None,
        model: str | None = None,
    ) -> Run:
        """Go on with a run that has failed or is held, with what is recorded of it.

            run.retry()  # what has failed is begun again
            run.retry("draft")  # and all that needs it; the rest is kept

        `step` is a key, a bare name, or the id of a command. What is begun again has the same key as before, so that a service
        does nothing twice; with `new_key`, and where a result was there already, it has another one.
        `requests`, `tokens` and `budget` (`"5 USD"`) are new limits. `model` (`"openai:gpt-5"`) is asked from now on, for every
        chunk, instead of the models of before. `ConflictError` where the run would only fail again.
        """
        return run_to_end(self.retry_async(step, new_key=new_key, requests=requests, tokens=tokens, budget=budget, model=model))

    def __repr__(self) -> str:
        asked = ", ".join(step for question in self.questions for step in question.steps)
        match self.outcome:
            case {"error": {"message": message}}:
                return f"<run {self.id}: {self.status}: {message}>"
        why = ""
        match next((each.show for each in self.questions if each.by == "operator"), None):
            case {"error": {"message": message}}:
                why = f": {message}"
        return f"<run {self.id}: {self.status}{f' for {asked}' if asked else ''}{why}>"

    def answer(self, step: str, data: JsonLike) -> Run:
        """Answer a question, by its id, a step or a chunk of it, and carry the run on. A wrong answer leaves it open.

        The answer is JSON, or a model, a dataclass or the like, `run.answer("approve", Approve(decision="Reject"))`.
        """
        return run_to_end(self.answer_async(step, data))

    def resume(self) -> Run:
        """Go on until the run ends or only waits for somebody; see then how it stands."""
        return run_to_end(self.resume_async())

    def cancel(self) -> Run:
        """End the run; what it has begun is not undone."""
        return run_to_end(self.cancel_async())

    @property
    def output(self) -> Json:
        """What all steps have brought, by their keys; `RunError` if there is none."""
        return self._done()["output"]

    @property
    def value(self) -> Json:
        """What the last step has brought; `RunError` if there is none."""
        return self._done()["value"]

    @overload
    def value_as(self, model: type[_T] | Adapter[_T]) -> _T: ...

    @overload
    def value_as(self, model: UnionType) -> object: ...

    def value_as(self, model: type[_T] | Adapter[_T] | UnionType) -> object:
        """Return `value` as an instance of a model, a dataclass, a `TypedDict`; an `AnswerError` says why it is none.

        A `TypeAdapter` is for all other types: `run.value_as(TypeAdapter(list[Draft]))`.
        """
        return as_instance(self.value, self.value, (), model)

    @overload
    def output_as(self, model: type[_T] | Adapter[_T]) -> _T: ...

    @overload
    def output_as(self, model: UnionType) -> object: ...

    def output_as(self, model: type[_T] | Adapter[_T] | UnionType) -> object:
        """Return `output` as an instance, as `value_as` does; `instrc types` writes a class for it."""
        return as_instance(self.output, self.output, (), model)

    @overload
    def step(self, name: str) -> Json: ...

    @overload
    def step(self, name: str, *, as_: type[_T] | Adapter[_T]) -> _T: ...

    @overload
    def step(self, name: str, *, as_: UnionType) -> object: ...

    def step(self, name: str, *, as_: type[_T] | Adapter[_T] | UnionType | None = None) -> object:
        """Return what a step has brought so far, without thoughts and metrics, by its name in the program or its key.

            run = instrc.run('@{ title: "Draft", type: "object" }', "x", model=instrc.Scripted([{}]), id="letter-2")
            assert run.step("draft") == {}

        Of a step in an `each` or a `repeat` it is the list of its values, one for each element or round.
        `as_` is the class of the value, as for `value_as`.
        `InputError` if the run has not come to the step, or several have the name.
        """
        name = arguments.as_plain(arguments.text("name", name))
        record = self.record or {}
        only = self.only_step
        values = values_of_steps(record) if only is None else dict(zip([only], record.values(), strict=False))
        found = [name] if name in values else [key for key in values if bare_instruction(key) == bare_instruction(name)]
        if len(found) != 1:
            wanted = (
                f"one of {', '.join(f'`{key}`' for key in found or values) or 'the steps that the run has come to, none yet'}"
            )
            raise InputError([problems.settings.InvalidOption(option="step", given=f"`{name}`", wanted=wanted)])
        whole = values[found[0]]
        value = split(whole)["output"] if holds_meta(whole) else whole
        return value if as_ is None else as_instance(whole, value, (), as_)

    def _done(self) -> documents.Done:
        outcome = self.outcome
        if outcome is None or outcome["status"] != "done":
            error = RUN_ERRORS[self.status](words_of(outcome), cast("JsonObject | None", outcome))
            raise error from _raised(self.trace, outcome)
        return outcome

    @property
    def usage(self) -> dict[str, float]:
        """What models have used, all asking again included: `requests`, `input_tokens`, `output_tokens`, `cost` in US dollars.

        `cost` is there where a model says it, or the settings have its price; `cached` are the requests that a cache answered.
        """
        return usage_in(self.trace)

    @property
    def metrics(self) -> JsonObject:
        """The metrics of all answers, by command and path; those of an answer that was not accepted are not among them."""
        found: JsonObject = {}
        trace = self.trace
        rejected = {(event["run"], event["id"]) for event in trace if event["event"] == "rejected"}
        for event in trace:
            if event["event"] == "answered" and (event["run"], event["id"]) not in rejected:
                found |= {f"{event['id']}.{path}": value for path, value in event["metrics"].items()}
        return found


def _plain_text(name: str, value: str | None) -> str | None:
    """Return a text, or nothing, that a caller gives, in Python's own class; a `TypeError` for anything else."""
    return arguments.as_plain(arguments.text_or_none(name, value))


def _model_words(model: str | None) -> str | None:
    """Return the words of a model that a caller gives, with the files in them as they are found from here."""
    words = _plain_text("model", model)
    return None if words is None else words_from(words, Path())


def _raised(trace: Sequence[Event], outcome: documents.Outcome | None) -> RaisedError | None:
    """Return what has ended a run, as far as its trace has it."""
    if outcome is None or outcome["status"] != "failed":
        return None
    message = outcome["error"]["message"]
    for event in reversed(trace):
        if event["event"] == "failed" and "traceback" in event and event["error"] == message:
            return RaisedError(f"\n{event['traceback'].rstrip()}")
    return None


def values_of_steps(record: Json) -> JsonObject:
    """Return what steps have brought, by their keys: of those of a block that is carried out again, all their values."""
    found: JsonObject = {}
    outputs: set[str] = set()
    for name, part in record.items() if isinstance(record, dict) else ():
        if isinstance(part, list):
            several: dict[str, list[Json]] = {}
            for each in part:
                for key, value in values_of_steps(each).items():
                    several.setdefault(key, []).append(value)
            inner: JsonObject = {**several}
        elif re.fullmatch(r"(llm|user|server)Context\d+", name) and isinstance(part, dict):
            inner = part
            outputs |= part.keys() if name.startswith("server") else set()
        else:
            inner = values_of_steps(part)
        for key, value in inner.items():
            before = found.get(key)
            found[key] = {**before, **value} if isinstance(before, dict) and isinstance(value, dict) else value
    for key in outputs:  # what the server gives, unless a model has filled in the inputs beside it
        value = found[key]
        if isinstance(value, dict) and value.keys() == {"output"}:
            found[key] = value["output"]
    return found


def words_of(outcome: documents.Outcome | None) -> str:
    """Say how a run has ended."""
    if outcome is None:
        return "the run has not ended"
    if outcome["status"] == "failed":
        error = outcome["error"]
        place = f" ({error['place']})" if "place" in error else ""
        return f"`{error['step']}` failed ({error['kind']}): {error['message']}{place}"
    return f"`{outcome['step']}` was refused, so the run has stopped" if outcome["status"] == "stopped" else outcome["status"]


def run_to_end(work: Coroutine[object, object, _T]) -> _T:
    """Run a coroutine to its end, from code that is not asynchronous; a `RuntimeError` inside of code that is."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        inside = False
    else:
        inside = True
    if not inside:
        return asyncio.run(closing_all(work))
    work.close()
    asynchronous = getattr(work, "__name__", "")
    message = f"an event loop is running (this is asynchronous code, or a notebook): use `await` with `{asynchronous}` instead"
    raise RuntimeError(message)
