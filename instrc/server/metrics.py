"""Metrics of a service in Prometheus text format: its requests, and the runs, questions and workers of its store."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from time import time
from typing import Final

from instrc.engines.run_table import questions_query
from instrc.engines.service_tables import RUNS
from instrc.runtime.engine_protocol import WorkerListing
from instrc.server.run_service import RunService

BUCKETS: Final = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
"""Upper bounds of request durations, in seconds."""


class RequestMeter:
    """Counts the requests of a process by operation and status, with the time until the response begins."""

    def __init__(self) -> None:
        self._statuses: Counter[tuple[str, int]] = Counter()
        self._times: Counter[tuple[str, float]] = Counter()
        self._seconds: dict[str, float] = {}

    def note(self, operation: str, status: int, seconds: float) -> None:
        """Count a response."""
        self._statuses[operation, status] += 1
        self._seconds[operation] = self._seconds.get(operation, 0.0) + seconds
        for bound in (*BUCKETS, float("inf")):
            if seconds <= bound:
                self._times[operation, bound] += 1

    def lines(self) -> Iterator[str]:
        """Yield the lines of the metrics."""
        statuses = sorted(self._statuses.items())
        requests = (({"operation": name, "status": status}, number) for (name, status), number in statuses)
        yield from _metric("instrc_requests_total", "counter", requests)
        yield "# TYPE instrc_request_seconds histogram"
        for name in sorted(self._seconds):
            for bound in (*BUCKETS, float("inf")):
                shown = "+Inf" if bound == float("inf") else f"{bound:g}"
                yield f'instrc_request_seconds_bucket{{operation="{name}",le="{shown}"}} {self._times[name, bound]}'
            yield f'instrc_request_seconds_sum{{operation="{name}"}} {self._seconds[name]:.6f}'
            yield f'instrc_request_seconds_count{{operation="{name}"}} {self._times[name, float("inf")]}'


async def store_metrics(service: RunService) -> list[str]:
    """Return the metrics of a store, equal from each of its services."""
    records, now = service.records, time()
    statuses = await asyncio.to_thread(records.count_by, RUNS.c.status)
    open_ = await asyncio.to_thread(records.count, questions_query())
    overdue = await asyncio.to_thread(records.count, questions_query(due_before=now))
    lines = [
        *_metric("instrc_runs", "gauge", (({"status": status}, number) for status, number in sorted(statuses.items()))),
        *_metric("instrc_questions", "gauge", [({}, open_)]),
        *_metric("instrc_questions_overdue", "gauge", [({}, overdue)]),
    ]
    if not isinstance(service.engine, WorkerListing):
        return lines
    queue, workers = await service.engine.queue(), await service.engine.workers()
    slots = [worker.slots for worker in workers if worker.slots is not None]
    return [
        *lines,
        *_metric("instrc_queue_runs", "gauge", (({"project": project}, number) for project, number, _ in queue)),
        *_metric("instrc_queue_age_seconds", "gauge", [({}, round(max((now - since for *_, since in queue), default=0.0), 3))]),
        *_metric("instrc_workers", "gauge", [({}, len(workers))]),
        *_metric("instrc_worker_slots", "gauge", [({}, sum(slots))]),
        *_metric("instrc_worker_slots_busy", "gauge", [({}, sum(worker.busy for worker in workers))]),
    ]


def _metric(name: str, kind: str, values: Iterable[tuple[Mapping[str, object], float]]) -> Iterator[str]:
    yield f"# TYPE {name} {kind}"
    for labels, value in values:
        shown = ",".join(f'{label}="{_quoted(str(text))}"' for label, text in labels.items())
        yield f"{name}{{{shown}}} {value}" if shown else f"{name} {value}"


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
