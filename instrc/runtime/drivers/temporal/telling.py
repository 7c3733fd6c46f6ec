"""Where a workflow tells what happens: like a log, never twice for what is replayed, and never read by the workflow."""

from __future__ import annotations

import warnings
from time import time

from temporalio import workflow

from instrc.jsonvalue import Json
from instrc.runtime.effects import Sink
from instrc.runtime.secrets import redacted

sinks: list[Sink] = []
"""Of the workers in this process."""


def tell(run: str, event: str, command: str | None = None, **facts: Json) -> None:
    """Tell what happens."""
    if not workflow.unsafe.is_replaying():
        about = {"event": event, "at": time(), "run": run, **({} if command is None else {"id": command})}
        for sink in sinks[-1:]:
            try:
                sink(redacted({**about, **facts}))
            except Exception as error:  # noqa: BLE001  -- whoever watches a run does not end it
                warnings.warn(f"an event of `{run}` could not be told: {error}", RuntimeWarning, stacklevel=2)
