"""The configuration of a run, and its launch with a plan and inputs: all that another process needs to continue it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, NotRequired, TypedDict, cast

import msgspec
from msgspec import Struct, field, structs
from msgspec.structs import replace

from instrc.problems.errors import unusable
from instrc.runtime.effects import Invention
from instrc.runtime.interpreter import documents
from instrc.runtime.journal import JournalEntry
from instrc.runtime.models.budget import MoneyBudget
from instrc.runtime.retry import ForkOrigin
from instrc.runtime.secrets import redacted
from instrc.text.jsonvalue import Json, JsonObject

OnFailure = Literal["hold", "fail"]
"""What happens to a run after a possibly transient failure, such as a provider outage."""


class CacheConfig(msgspec.Struct, frozen=True):
    """The file of an answer cache, and the number of the run's sample in it."""

    file: str
    sample: int = 0


class RunConfig(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Everything except plan and inputs that a process needs to continue a run; it contains no secrets.

    Stores keep `to_json()`. Every member has a default, so that documents of earlier releases remain readable.
    """

    folder: str = "."
    """Project folder in which the run began."""
    project: str | None = None
    """Name of the project: a process that has the project in another folder carries the run out there."""
    model: str | None = None
    """Spec of the run's model; `None` for the one in the settings."""
    rehearse: bool = False
    processes: dict[str, Json] = {}
    """Processes that plans name, by address."""
    takes: dict[str, Json] = {}
    """Input schemas of activities, by the digest of a process and the use in it."""
    invented: list[Invention] | None = None
    """What is generated from schemas; `None` for nothing, and in rehearsals of earlier releases."""
    failed: OnFailure | None = None
    """`None` leaves it to the engine."""
    settings: JsonObject = msgspec.field(name="set", default_factory=dict)
    """Request settings of this run, which override those of the project."""
    step: str | None = None
    """Name of the only step of a program whose record has no step keys."""
    local: list[str] = msgspec.field(name="own", default_factory=list)
    """Kinds of Python objects that exist only in the starting process: `model`, `activities`, `checks`."""
    cache: CacheConfig | None = None
    budget: MoneyBudget | None = None
    chosen: str | None = None
    """Spec of the model that a retry or fork chose for every chunk."""
    forked: ForkOrigin | None = None
    starter: str | None = None
    """Name of the person who started the run; `None` if unknown."""
    metadata: dict[str, str] = {}
    """Labels set by the caller, by which runs can be filtered."""

    @classmethod
    def from_json(cls, document: Json) -> RunConfig:
        """Read a stored configuration; raise `SettingsError` if it is malformed."""
        try:
            return msgspec.convert(document, cls)
        except msgspec.ValidationError as error:
            raise unusable("stored configuration", "how", str(error)) from None

    def to_json(self) -> JsonObject:
        """Return the stored document; members with their default value are left out, except the first four."""
        first: JsonObject = {name: getattr(self, name) for name in _ALWAYS_STORED}
        return first | cast("JsonObject", msgspec.to_builtins(self))

    @property
    def holds(self) -> bool:
        """Whether the run is held instead of failing for a transient reason; runs of earlier releases fail."""
        return self.failed == "hold"

    def for_child(self, model: str | None) -> RunConfig:
        """Return the configuration of a child run: it fails rather than being held, and its parent is held instead."""
        return replace(self, failed="fail", chosen=model if model is not None else self.chosen)

    def invents(self, kind: Invention) -> bool:
        """Return whether answers or results are generated from their schemas."""
        return kind in (self.invented or ())


_ALWAYS_STORED: Final[Sequence[str]] = ("folder", "model", "rehearse", "processes")


class Launch(Struct, frozen=True):
    """A run to start."""

    run: str
    name: str
    """Name of the program."""
    plan: documents.PinnedPlan
    inputs: JsonObject
    config: RunConfig = field(default_factory=RunConfig)
    entries: Sequence[JournalEntry] = ()
    """Initial journal entries: those of the run from which it was forked."""

    def __post_init__(self) -> None:
        structs.force_setattr(self, "inputs", redacted(self.inputs))  # validated like all external data

    def to_json(self) -> LaunchDocument:
        """Return the stored form, for an engine that holds a run by default instead of failing it."""
        how = replace(self.config, failed=self.config.failed or "hold").to_json()
        made: LaunchDocument = {"run": self.run, "name": self.name, "plan": self.plan, "inputs": self.inputs, "how": how}
        return {**made, "entries": [*self.entries]} if self.entries else made


class LaunchDocument(TypedDict):
    """A run to start, as plain JSON."""

    run: str
    name: str
    plan: documents.PinnedPlan
    inputs: JsonObject
    how: JsonObject
    """The `RunConfig` as JSON."""
    entries: NotRequired[list[JournalEntry]]


def holds(document: LaunchDocument) -> bool:
    """Return whether the run is held instead of failing for a transient reason."""
    return RunConfig.from_json(document["how"]).holds


def read_launch(document: LaunchDocument, run: str) -> Launch:
    """Return a stored launch under the id of the run."""
    config = RunConfig.from_json(document["how"])
    return Launch(run, document["name"], document["plan"], document["inputs"], config)
