"""A run to start: its plan, inputs and configuration, and its stored document."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NotRequired, TypedDict

from msgspec import Struct, field, structs

from instrc.runtime.interpreter import documents
from instrc.runtime.journal import JournalEntry
from instrc.runtime.run_config import RunConfig
from instrc.runtime.secrets import redacted
from instrc.text.jsonvalue import JsonObject


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
        structs.force_setattr(self, "inputs", redacted(self.inputs))  # as all that comes from outside


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
