"""Responses of the service: programs, runs, questions, and pages of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from msgspec import Struct, field

from instrc.engines.approvals import Approval, Vote
from instrc.engines.launch import Launcher
from instrc.engines.run_table import QuestionRow, RunRow
from instrc.runtime.run_config import Launch
from instrc.runtime.run_report import RunReport
from instrc.runtime.traces import TimelineSpan
from instrc.text.jsontext import digest_of
from instrc.text.jsonvalue import Json, JsonObject


class ProgramInfo(Struct, frozen=True):
    """A program that the service offers."""

    name: str
    title: str
    inputs: JsonObject
    """JSON Schema of a run's inputs, an object."""
    output: JsonObject
    """JSON Schema of a run's result: each step by key, or the answer to a tool."""
    digest: str
    """Digest of its plan, which differs between versions."""


class QuestionInfo(QuestionRow, frozen=True):
    """An open question, with the answers of people so far."""

    candidates: tuple[str, ...] = ()
    approval: Approval = field(default_factory=Approval)
    votes: tuple[Vote, ...] = ()
    starter: str | None = None
    """Name of the person who started its run."""

    @property
    def id(self) -> str:
        """Its id among all runs: `RUN:QUESTION`."""
        return f"{self.run}:{self.question.id}"


class RunInfo(Struct, frozen=True):
    """The state of a run, and who began it."""

    report: RunReport
    starter: str | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)
    is_whole: bool = True
    """Whether the run is shown completely; otherwise only its state and the caller's questions."""
    digest: str | None = None
    """Digest of its plan."""
    waits_for: str | None = None
    """Project for whose worker it waits, as none is alive; "" for any worker."""

    @property
    def tag(self) -> str:
        """A short text that changes when the run does."""
        asked = [[each.id, each.tag] for each in self.report.questions]
        return digest_of(cast("Json", [self.report.status, asked, self.report.ended, self.report.record]))[:24]


class RunStory(Struct, frozen=True):
    """A run from its beginning until now."""

    info: RunInfo
    launch: Launch | None = None
    """Launch of the run; `None` for callers who see only a part."""
    spans: Sequence[TimelineSpan] = ()
    events: int = 0
    """Number of the last event in `spans`."""
    votes: Mapping[str, Sequence[Vote]] = field(default_factory=dict)


class Page(Struct, frozen=True):
    """Some rows of a list, and the cursor after them."""

    rows: tuple[RunRow, ...] | tuple[QuestionInfo, ...]
    next: tuple[float | str, ...] | None = None


def program_info(name: str, launcher: Launcher) -> ProgramInfo:
    """Return the description of a program offered under a name."""
    inputs, output = launcher.schemas
    title = str(inputs["description"]).partition("\n")[0]
    inputs = {key: part for key, part in inputs.items() if key != "description"}
    return ProgramInfo(name, title, inputs, output, launcher.plan["digest"])


def standing_json(report: RunReport) -> JsonObject:
    """Return a short form of a run's state, for events."""
    made: JsonObject = {"run": report.run, "program": report.name, "status": report.status}
    if report.questions:
        made["questions"] = [each.id for each in report.questions]
    return made
