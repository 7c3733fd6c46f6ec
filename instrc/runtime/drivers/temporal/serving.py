"""Workers: they carry out what the server has for a task queue."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from temporalio.client import Client
from temporalio.worker import Worker, WorkflowRunner
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions

from instrc.runtime.drivers.temporal.activities import Carrying
from instrc.runtime.drivers.temporal.telling import sinks
from instrc.runtime.drivers.temporal.workflow import RunWorkflow
from instrc.runtime.engine import Equip
from instrc.runtime.events import Sink
from instrc.runtime.interpreter import versions

_PASSED = ("instrc", "jsonschema", "jsonschema_specifications", "referencing", "rpds", "attr", "orjson", "re2", "regex", "idna")
"""Modules that a workflow does not load anew: the interpreter is pure, and so is what it reads schemas with."""


def runner() -> WorkflowRunner:
    """Return what runs workflows, in workers and in replays."""
    return SandboxedWorkflowRunner(restrictions=SandboxRestrictions.default.with_passthrough_modules(*_PASSED))


@asynccontextmanager
async def serving(client: Client, queue: str, sink: Sink, equip: Equip | None) -> AsyncIterator[Worker]:
    """Serve a task queue; without `equip` only workflows, so that a run can be asked about."""
    versions.load_all()  # a workflow that does not yield for two seconds is taken for dead, and a busy machine loads slowly
    activities = [] if equip is None else Carrying(client, equip, sink).all
    worker = Worker(
        client,
        task_queue=queue,
        workflows=[RunWorkflow],
        activities=activities,
        workflow_runner=runner(),
        max_concurrent_activities=200,
    )
    sinks.append(sink)
    try:
        async with worker:
            yield worker
    finally:
        sinks.remove(sink)
