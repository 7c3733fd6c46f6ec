"""Where a workflow tells what happens: like a log, never twice for what is replayed, and never read by the workflow."""

from __future__ import annotations

import warnings
from typing import Unpack

from temporalio import workflow

from instrc.runtime.events import EventFacts, EventKind, Sink, event_of

sinks: list[Sink] = []
"""Of the workers in this process."""


def tell(run: str, event: EventKind, command: str | None = None, **facts: Unpack[EventFacts]) -> None:
    """Tell what happens."""
    if not workflow.unsafe.is_replaying():
        told = event_of(run, event, command, facts)
        for sink in sinks[-1:]:
            try:
                sink(told)
            except Exception as error:  # noqa: BLE001  -- whoever watches a run does not end it
                warnings.warn(f"an event of `{run}` could not be told: {error}", RuntimeWarning, stacklevel=2)
