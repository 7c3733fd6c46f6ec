"""The handle of a run: its state as of the last call, and its operations."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, TypeVar, cast, overload

from msgspec import structs

from instrc import problems
from instrc.problems.errors import InputError, RunError
from instrc.runtime.answers import copy_answer
from instrc.runtime.boundary import copy_of
from instrc.runtime.effects import Invention
from instrc.runtime.interpreter import documents
from instrc.runtime.interpreter.documents import bare_instruction
from instrc.runtime.models.catalogue import words_from
from instrc.runtime.models.clients import closing_all
from instrc.runtime.models.model import instance_of
from instrc.runtime.questions import Question
from instrc.runtime.retry import ForkOptions, ForkOrigin, RetryOptions
from instrc.runtime.run_report import RUN_ERRORS, RunReport, RunStatus, describe_outcome, describe_waiting, step_values
from instrc.runtime.traces import Event, usage_of
from instrc.schema.strip import split
from instrc.text import arguments, notebook
from instrc.text.arguments import ProgramInput, source_or_path
from instrc.text.jsonvalue import Json, JsonObject, without_type
from instrc.tools.python_types import Adapter
from instrc.tools.python_values import JsonLike, as_instance

if TYPE_CHECKING:
    from typing_extensions import TypeVar as TypeVarWithDefault

    Value = TypeVarWithDefault("Value", default=Json)
else:
    Value = TypeVar("Value")
_T = TypeVar("_T")
_P = ParamSpec("_P")
_AnyRun = TypeVar("_AnyRun", bound="Run[Any]")  # the actions are the same whatever the class of the value is


def _blocking(
    method: Callable[Concatenate[_AnyRun, _P], Coroutine[object, object, _T]],
) -> Callable[Concatenate[_AnyRun, _P], _T]:
    """Return the synchronous form of a coroutine method of `Run`, which calls the override of the subclass."""
    name = method.__name__

    @wraps(method, updated=())
    def call(run: _AnyRun, /, *args: _P.args, **options: _P.kwargs) -> _T:
        work: Coroutine[object, object, _T] = getattr(run, name)(*args, **options)
        return run_to_end(work)

    call.__name__ = name.removesuffix("_async")
    call.__qualname__ = f"Run.{call.__name__}"
    return call


class Run(ABC, Generic[Value]):
    """A handle of one run, with its state as of the last call.

    Each action has two forms: `answer` for synchronous code, `answer_async` for code in an event loop.
    A `Run[Draft]`, started with `as_=Draft`, has a `Draft` as its value.
    """

    _value_type: type[Value] | Adapter[Value] | None = None

    def typed(self, as_: type[_T] | Adapter[_T] | None) -> Run[_T]:
        """Return this handle with `value` typed as an instance of a class; `None` keeps the JSON value."""
        result = cast("Run[_T]", self)
        result._value_type = as_  # noqa: SLF001  -- of its own class
        return result

    @property
    @abstractmethod
    def report(self) -> RunReport:
        """The state of the run, as of the last call."""

    @property
    def id(self) -> str:
        """The id of the run."""
        return self.report.run

    @property
    def status(self) -> RunStatus:
        """The status of the run."""
        return self.report.status

    @property
    def outcome(self) -> documents.Outcome | None:
        """The final outcome; `None` until the run has ended."""
        return self.report.outcome

    @property
    def record(self) -> JsonObject | None:
        """The results so far, in the shape of the process."""
        return self.report.record

    @property
    def steps(self) -> tuple[str, ...]:
        """The keys of all steps of the program, in order; empty if the engine does not report them (Temporal)."""
        return self.report.steps

    @property
    def questions(self) -> Sequence[Question]:
        """The open questions."""
        return [structs.replace(each, show=copy_of(each.show), schema=copy_of(each.schema)) for each in self.report.questions]

    @property
    def invented(self) -> tuple[Invention, ...]:
        """The values generated from schemas: `answers` of models, `results` of activities; empty unless that was requested."""
        return self.report.invented

    @property
    def only_step(self) -> str | None:
        """The name of the only step of a program whose record has no step keys; `None` for all other programs."""
        return self.report.config.step

    @property
    def forked(self) -> ForkOrigin | None:
        """The run it was forked from, as `{"run", "at"}`; `None` if it was not."""
        return self.report.forked

    @property
    @abstractmethod
    def trace(self) -> list[Event]:
        """The events so far, in order."""

    @abstractmethod
    async def answer_async(self, step: str, data: JsonLike) -> Run[Value]:
        """Answer a question, selected by its id, step or chunk, and continue the run. A rejected answer leaves it open.

        The answer is JSON, or a model, a dataclass or the like, `run.answer("approve", Approve(decision="Reject"))`.
        """

    @abstractmethod
    async def resume_async(self) -> Run[Value]:
        """Continue until the run ends or only waits for answers, and update the state of this handle."""

    @abstractmethod
    async def cancel_async(self) -> Run[Value]:
        """Cancel the run; effects that have started are not undone."""

    @abstractmethod
    async def _retry_async(self, options: RetryOptions) -> Run[Value]:
        """Continue a failed or held run."""

    @abstractmethod
    async def _fork_async(self, options: ForkOptions) -> Run[Value]:
        """Start another run from the journal of this one."""

    @abstractmethod
    async def delete_async(self) -> None:
        """Delete the run, its trace and its child runs; raise `ConflictError` unless it has ended."""

    async def fork_async(
        self,
        step: str | None = None,
        *,
        set: Mapping[str, Json] | None = None,  # noqa: A002  -- its name
        program: ProgramInput | JsonObject | None = None,
        model: str | None = None,
        settings: Mapping[str, object] | None = None,
        id: str | None = None,  # noqa: A002  -- its name
    ) -> Run[Value]:
        """Start another run from the recorded results of this one, and return it; this one does not change.

            other = run.fork("send")  # repeats `send`, and all steps that depend on it
            other = run.fork(set={"draft": {"text": "Dear Ann"}})  # replaces the result of `draft`

        Repeated steps have new keys, so services carry them out again.
        `step` is a key, a bare name, or the id of a command; separate several with commas.
        `program` is another version of the program, as for `run`: it reuses each result that it asks for in the same way.
        `forked["left"]` names the steps whose results it does not reuse, with the reasons.
        `model` answers every chunk from now on, with these `settings` of requests (`{"temperature": 0}`).
        `id` is the id of the new run.
        Raises `InstrcError` if a result does not fit, or if an effect of an activity or a person would happen twice.
        """
        given = {} if set is None else dict(arguments.mapping("set", set))
        edits = {arguments.text("set", key): copy_answer(key, value) for key, value in arguments.as_plain(given).items()}
        version = program if program is None or isinstance(program, dict) else source_or_path(program)
        options = ForkOptions(
            _plain_text("step", step),
            edits,
            _plain_text("id", id),
            version,
            _model_spec(model),
            settings={} if settings is None else dict(arguments.mapping("settings", settings)),
        )
        return (await self._fork_async(options)).typed(self._value_type)

    async def retry_async(
        self,
        step: str | None = None,
        *,
        new_key: bool = False,
        requests: int | None = None,
        tokens: int | None = None,
        budget: str | None = None,
        model: str | None = None,
    ) -> Run[Value]:
        """Continue a failed or held run from its journal.

            run.retry()  # repeats the failed steps
            run.retry("draft")  # repeats `draft`, and all steps that depend on it

        `step` is a key, a bare name, or the id of a command. Repeated steps keep their keys, so services do nothing twice;
        with `new_key`, and for steps that had a result already, they get new ones.
        `requests`, `tokens` and `budget` (`"5 USD"`) are new limits. `model` (`"openai:gpt-5"`) answers every chunk from now
        on. Raises `ConflictError` if the run would only fail again.
        """
        limits = arguments.natural_or_none("requests", requests), arguments.natural_or_none("tokens", tokens)
        money = _plain_text("budget", budget)
        budgets = () if money is None else tuple(money.split(","))
        return await self._retry_async(
            RetryOptions(_plain_text("step", step), arguments.truth("new_key", new_key), *limits, budgets, _model_spec(model))
        )

    answer = _blocking(answer_async)
    resume = _blocking(resume_async)
    cancel = _blocking(cancel_async)
    retry = _blocking(retry_async)
    fork = _blocking(fork_async)
    delete = _blocking(delete_async)

    def __repr__(self) -> str:
        asked = ", ".join(step for question in self.questions for step in question.steps)
        fault = self.report.fault
        why = f": {fault.message}" if fault is not None else ""
        return f"<run {self.id}: {self.status}{f' for {asked}' if asked else ''}{why}>"

    def _repr_html_(self) -> str:
        """Return the state as HTML: the steps with their outputs, and how to answer the open questions."""
        values = self._values()
        rows = [(key, split(value)["output"]) for key, value in values.items()]
        waiting: list[str] = []
        for question in self.questions:
            name = question.steps[0] if question.steps else question.id
            answer = f'await run.answer_async("{name}", {instance_of(question.schema)!r})'
            waiting += [notebook.table(["question", "shown"], [(name, question.show)]), notebook.code(answer)]
        missing = [(key, "not reached") for key in self.steps if key not in values]
        return notebook.block(repr(self)[1:-1], notebook.table(["step", "output"], [*rows, *missing]), *waiting)

    def _values(self) -> JsonObject:
        """Return the outputs of the steps so far, by key."""
        return step_values(self.record, self.only_step)

    @property
    def output(self) -> Json:
        """The outputs of all steps by key; raises `RunError` unless the run is done."""
        return self._done()["output"]

    @property
    def value(self) -> Value:
        """The output of the last step, an instance of the class of `as_` if there is one.

        Raises `RunError` unless the run is done, and `AnswerError` if the value does not fit the class.
        """
        value = self._done()["value"]
        return cast("Value", value if self._value_type is None else as_instance(value, value, (), self._value_type))

    @overload
    def output_as(self, model: type[_T] | Adapter[_T]) -> _T: ...

    @overload
    def output_as(self, model: UnionType) -> object: ...

    def output_as(self, model: type[_T] | Adapter[_T] | UnionType) -> object:
        """Return `output` as an instance of a model, a dataclass or a `TypedDict`; raise `AnswerError` if it does not fit.

        `instrc types` writes a class for it.  Pass a `TypeAdapter` for other types: `TypeAdapter(dict[str, Draft])`.
        """
        return as_instance(self.output, self.output, (), model)

    @overload
    def step(self, name: str) -> Json: ...

    @overload
    def step(self, name: str, *, as_: type[_T] | Adapter[_T]) -> _T: ...

    @overload
    def step(self, name: str, *, as_: UnionType) -> object: ...

    def step(self, name: str, *, as_: type[_T] | Adapter[_T] | UnionType | None = None) -> object:
        """Return the output of a step so far, without thoughts and metrics, by its name in the program or its key.

            run = instrc.run('@{ title: "Draft", type: "object" }', "x", model=instrc.Scripted([{}]), id="letter-2")
            assert run.step("draft") == {}

        For a step in an `each` or a `repeat` this is a list with one value per element or round.
        `as_` is the class of the value, as for `output_as`.
        Raises `RunWaitingError` if the run has not reached the step yet, `RunError` if it has ended without it, and
        `InputError` if no step has the name, or several have it.
        """
        name = arguments.as_plain(arguments.text("name", name))
        values = self._values()
        result = _named(name, values)
        if not result and (expected := _named(name, self.steps)):
            raise self._not_reached(expected[0])
        if len(result) != 1:
            steps = ", ".join(f"`{key}`" for key in result or self.steps or values)
            wanted = f"one of {steps or 'the steps that the run has come to, none yet'}"
            raise InputError([problems.settings.InvalidOption(option="step", given=f"`{name}`", wanted=wanted)])
        whole = values[result[0]]
        value = split(whole)["output"]
        return value if as_ is None else as_instance(whole, value, (), as_)

    def _not_reached(self, step: str) -> RunError:
        """Return the error for a step without output: the run has not reached it, or has ended without it."""
        if self.outcome is not None:
            return RunError(f"the run `{self.id}` has ended without the step `{step}`", cast("JsonObject", self.outcome))
        reason = describe_waiting(self.report)
        return RUN_ERRORS[self.status](f"the step `{step}` has no output yet: {reason}")

    def _done(self) -> documents.Done:
        outcome = self.outcome
        if outcome is None:
            raise RUN_ERRORS[self.status](describe_waiting(self.report))
        if outcome["status"] != "done":
            error = RUN_ERRORS[self.status](describe_outcome(outcome), cast("JsonObject", outcome))
            raise error from _raised(self.trace, outcome)
        return outcome

    @property
    def usage(self) -> dict[str, float]:
        """Usage of models, also for refused answers: `requests`, `input_tokens`, `output_tokens`, `cost` in US dollars.

        `cost` is present if the model reports it or the settings have its price; `cached` counts requests answered from a cache.
        """
        return usage_of(self.trace)

    @property
    def metrics(self) -> JsonObject:
        """The metrics of all accepted answers, by command and path; those of a process behind an activity below its command."""
        result: JsonObject = {}
        trace = self.trace
        rejected = {(event["run"], event["id"]) for event in trace if event["event"] == "rejected"}
        for event in trace:
            if event["event"] == "answered" and (event["run"], event["id"]) not in rejected:
                command = "/".join([*event["run"].split("/")[1:], event["id"]])
                result |= {f"{command}.{path}": value for path, value in event["metrics"].items()}
        return result


def state_as_json(run: Run[Any] | RunReport) -> JsonObject:  # whatever the class of its value
    """Return the state of a run as the command line prints it: `status`, and `output`, `error` or `questions`."""
    document: JsonObject = {"status": run.status}
    if run.invented:
        document["invented"] = [*run.invented]
    if run.forked is not None:
        document["forked"] = cast("Json", run.forked)
    if run.outcome is not None:
        document |= {key: value for key, value in without_type(run.outcome).items() if key not in {"status", "value"}}
    if run.questions:
        document["questions"] = [
            {"id": item.id, "steps": [*item.steps], "by": item.by, "show": item.show, "schema": item.schema}
            for item in run.questions
        ]
    return document


class RaisedError(Exception):
    """The traceback of an activity as text, without secrets; it may come from another process."""


def _named(name: str, keys: Iterable[str]) -> list[str]:
    """Return the key that equals a name, or else all keys of the instruction with that name."""
    keys = list(keys)
    return [name] if name in keys else [key for key in keys if bare_instruction(key) == bare_instruction(name)]


def _plain_text(name: str, value: str | None) -> str | None:
    """Return an optional argument as a plain `str`; raise `TypeError` for any other type."""
    return arguments.as_plain(arguments.text_or_none(name, value))


def _model_spec(model: str | None) -> str | None:
    """Return a model spec from the caller, with file paths resolved against the current folder."""
    spec = _plain_text("model", model)
    return None if spec is None else words_from(spec, Path())


def _raised(trace: Sequence[Event], outcome: documents.Outcome | None) -> RaisedError | None:
    """Return the exception that failed a run, if its trace has the traceback."""
    if outcome is None or outcome["status"] != "failed":
        return None
    message = outcome["error"]["message"]
    for event in reversed(trace):
        if event["event"] == "failed" and "traceback" in event and event["error"] == message:
            return RaisedError(f"\n{event['traceback'].rstrip()}")
    return None


def run_to_end(work: Coroutine[object, object, _T]) -> _T:
    """Run a coroutine in a new event loop; raise `RuntimeError` if one is running."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        pass
    else:
        work.close()
        asynchronous = getattr(work, "__name__", "")
        message = (
            f"an event loop is running (this is asynchronous code, or a notebook): use `await` with `{asynchronous}` instead"
        )
        raise RuntimeError(message)
    return asyncio.run(closing_all(work))
