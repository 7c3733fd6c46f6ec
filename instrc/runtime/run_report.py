"""The state of a run as an engine reports it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from time import time
from typing import Final, Literal, TypeAlias, get_args

from msgspec import Struct, field, structs

from instrc import problems
from instrc.problems.errors import (
    ConflictError,
    RunCancelledError,
    RunError,
    RunFailedError,
    RunHeldError,
    RunStoppedError,
    RunWaitingError,
    SettingsError,
    unusable,
)
from instrc.problems.suggest import nearest
from instrc.runtime.effects import Invention
from instrc.runtime.interpreter import documents
from instrc.runtime.questions import Question
from instrc.runtime.retry import ForkOrigin
from instrc.runtime.run_config import RunConfig
from instrc.text import arguments
from instrc.text.durations import is_duration, seconds
from instrc.text.jsonvalue import Json, JsonObject, mapping
from instrc.text.sentences import LANGUAGES, sentences_in


class RunReport(Struct, frozen=True):
    """The state of a run."""

    run: str
    name: str
    status: RunStatus
    outcome: documents.Outcome | None
    questions: tuple[Question, ...] = ()
    began: float | None = None
    """Start time, in seconds since 1970."""
    ended: float | None = None
    config: RunConfig = field(default_factory=RunConfig)
    record: JsonObject | None = None
    steps: tuple[str, ...] = ()
    """Keys of all steps of its program, in a full report; empty if an engine does not report them."""
    unknown: tuple[str, ...] = ()
    """Prefixes of the ids of questions that no worker can report, so that those known before count as open."""

    @property
    def has_ended(self) -> bool:
        """Whether it has ended, so that only a retry continues it."""
        return self.status not in OPEN

    @property
    def forked(self) -> ForkOrigin | None:
        """The run that it was forked from, or `None`."""
        return self.config.forked

    @property
    def origin(self) -> str:
        """The run that it was forked from, as text, or the empty string."""
        if self.forked is None:
            return ""
        return f"forked from {self.forked['run']}" + (f" at {self.forked['at']}" if self.forked["at"] else "")

    @property
    def fault(self) -> RunFault | None:
        """Why it failed or is held."""
        if self.outcome is not None and self.outcome["status"] == "failed":
            error = self.outcome["error"]
            return RunFault(error["kind"], error["step"], error["message"])
        held = next((question for question in self.questions if question.by == "operator"), None)
        if held is None or not isinstance(held.show, dict) or not isinstance(shown := held.show.get("error"), dict):
            return None
        kind = str(shown.get("code") or shown.get("kind") or "limit")
        return RunFault(kind, ", ".join(held.steps) or None, str(shown.get("message", "")))

    @property
    def invented(self) -> tuple[Invention, ...]:
        """The results generated from schemas."""
        return tuple(self.config.invented or ())


class RunFault(Struct, frozen=True):
    """Why a run failed or is held."""

    kind: str
    step: str | None
    message: str

    def has(self, text: str) -> bool:
        """Return whether the error has this kind or step, or a text in its message."""
        return text in {self.kind, self.step} or text.lower() in self.message.lower()


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
"""Error for a run without a result, by its status."""


def status_of(questions: Iterable[Question]) -> RunStatus:
    """Return the status of a run that has not ended."""
    asked = {question.by for question in questions}
    return "held" if "operator" in asked else "waiting" if asked else "running"


OPEN: Final = ("running", "waiting", "held")
"""Statuses of runs that have not ended."""


class RunFilter(Struct, frozen=True):
    """A filter of the runs of a store."""

    status: str | None = None
    program: str | None = None
    began: float | None = None
    """Minimum start time, in seconds since 1970."""
    ended: float | None = None
    """Maximum end time, exclusive."""
    before: float | None = None
    """Maximum start time, exclusive."""
    error: str | None = None
    """Kind or step of the error that failed or holds the run, or text in its message."""
    metadata: Mapping[str, str] = field(default_factory=dict)
    among: tuple[str, ...] = ()
    """Allowed statuses."""
    project: str | None = None
    """Project, or "" for runs of projects without a name."""
    text: str | None = None
    """Text in the id or the error, for a run table only."""
    starter: str | None = None
    """Text in the name of the person who started the run, for a run table only."""

    @classmethod
    def of(
        cls,
        status: str | None = None,
        program: str | None = None,
        since: str | None = None,
        before: str | None = None,
        error: str | None = None,
        metadata: Mapping[str, str] | None = None,
    ) -> RunFilter:
        """Return a filter of runs; `since` and `before` are durations before now, such as `P7D`.

        Raise `SettingsError` for an invalid one.
        """
        given = {"status": status, "program": program, "since": since, "before": before, "error": error}
        status, program, since, before, error = (
            arguments.as_plain(arguments.text_or_none(name, value)) for name, value in given.items()
        )
        if status is not None and status not in STATUSES:
            reason = f"a run is {', '.join(f'`{item}`' for item in STATUSES)}"
            result = problems.runs.UnusableSetting(what="status", word=status, reason=reason, nearest=nearest(status, STATUSES))
            raise SettingsError([result])
        return cls(status, program, moment_ago(since), None, moment_ago(before), error, dict(metadata or {}))

    def only(self, statuses: tuple[str, ...]) -> RunFilter:
        """Return a filter restricted to some statuses."""
        return structs.replace(self, among=statuses)

    def takes(self, report: RunReport) -> bool:
        """Return whether a run matches."""
        return (
            (self.status is None or report.status == self.status)
            and (not self.among or report.status in self.among)
            and (self.program is None or report.name == self.program)
            and (self.began is None or (report.began or 0.0) >= self.began)
            and (self.before is None or (report.began or 0.0) < self.before)
            and (self.ended is None or (report.has_ended and (report.ended or time()) < self.ended))
            and (self.error is None or (report.fault is not None and report.fault.has(self.error)))
            and (self.project is None or (report.config.project or "") == self.project)
            and self.metadata.items() <= report.config.metadata.items()
        )


def moment_ago(span: str | None) -> float | None:
    """Return the time a duration ago, in seconds since 1970; raise `SettingsError` for an invalid duration."""
    if span is None:
        return None
    if not is_duration(span):
        raise unusable("span of time", span, "write it as `P7D` or `PT2H`")
    return time() - seconds(span)


def require_ended(report: RunReport) -> None:
    """Raise for the deletion of a run that can still continue."""
    if not report.has_ended:
        raise ConflictError([problems.runs.RunGoesOn(run=report.run, status=report.status)])


def step_values(record: Json, only: str | None = None) -> JsonObject:
    """Return the values of steps by key: for a repeated block, all values of its steps; `only` is that of a single step."""
    if only is not None:
        return dict(zip([only], mapping(record).values(), strict=False))
    result: JsonObject = {}
    outputs: set[str] = set()
    for name, part in mapping(record).items():
        if isinstance(part, list):
            several: dict[str, list[Json]] = {}
            for item in part:
                for key, value in step_values(item).items():
                    several.setdefault(key, []).append(value)
            inner: JsonObject = {**several}
        elif re.fullmatch(r"(llm|user|server)Context\d+", name) and isinstance(part, dict):
            inner = part
            outputs |= part.keys() if name.startswith("server") else set()
        else:
            inner = step_values(part)
        for key, value in inner.items():
            before = result.get(key)
            result[key] = {**before, **value} if isinstance(before, dict) and isinstance(value, dict) else value
    for key in outputs:  # the server's values, unless a model has filled in the inputs
        value = result[key]
        if isinstance(value, dict) and value.keys() == {"output"}:
            result[key] = value["output"]
    return result


def describe_waiting(report: RunReport) -> str:
    """Describe what a run without an outcome waits for."""
    run = report.run
    if report.status == "cancelled":
        return f"the run `{run}` was cancelled"
    if report.status == "held":
        reason = f" ({report.fault.message})" if report.fault is not None else ""
        return f"the run `{run}` is held{reason}: `run.retry()` continues it"
    asked = [question.steps[0] if question.steps else question.id for question in report.questions]
    if not asked:
        return f"the run `{run}` has not ended: `run.resume()` continues it"
    names = " and ".join(f"`{name}`" for name in asked)
    return f'the run `{run}` has not ended: it waits for {names}; `run.answer("{asked[0]}", …)` answers'


def describe_outcome(outcome: documents.Outcome | None) -> str:
    """Describe how a run ended."""
    if outcome is None:
        return "the run has not ended"
    if outcome["status"] == "failed":
        error = outcome["error"]
        place = f" ({error['place']})" if "place" in error else ""
        last = error.get("attempts", [])[-1:]
        cut = {sentences_in(language).cut for language in LANGUAGES} if last else set()
        way_out = ""  # comes first, as a table on a terminal shows only the beginning
        if any(item["message"] in cut for attempt in last for item in attempt["complaints"]):
            way_out = "the answer was cut off (`max_tokens` gives an answer more room, `maxLength` keeps a text short); "
        return f"`{error['step']}` failed ({error['kind']}): {way_out}{error['message']}{place}"
    return f"`{outcome['step']}` was refused, so the run has stopped" if outcome["status"] == "stopped" else outcome["status"]
