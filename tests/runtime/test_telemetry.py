"""What others are told of a run: lines of a log, spans and metrics."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from written_processes import call, chunk, process, step

import instrc
from instrc.runtime.telemetry import Telemetry, logged

SCORED = {"type": "object", "properties": {"text": {"type": "string"}, "$score": {"type": "integer"}}}
DOCUMENT = process(
    llmContext1=chunk(step1_a=step(SCORED, "prompt")), serverContext1=chunk(step2_b=call("Work_Activity", "step1_a.text"))
)


def _run(watch: Any) -> instrc.Run:
    def work(given: Any) -> Any:
        if given == "bad":
            message = "no"
            raise instrc.ActivityError(message, code="7", retry=False)
        return {"text": given}

    model = instrc.Scripted([{"step1_a": {"text": watch[1], "$score": 7}}])
    return instrc.run(DOCUMENT, "go", model=model, activities={"Work_Activity": work}, id="r", watch=watch[0])


def test_spans_follow_the_conventions(monkeypatch: pytest.MonkeyPatch) -> None:
    spans, reader = InMemorySpanExporter(), InMemoryMetricReader()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(spans))
    monkeypatch.setattr(trace, "get_tracer", provider.get_tracer)
    meters = MeterProvider(metric_readers=[reader])
    monkeypatch.setattr(metrics, "get_meter", meters.get_meter)
    assert _run((Telemetry(), "fine")).status == "done"
    assert _run((Telemetry(), "bad")).status == "failed"
    found = spans.get_finished_spans()
    assert [span.name for span in found] == ["chat llmContext1", "execute_tool Work_Activity"] * 2
    assert dict(found[0].attributes or {})["gen_ai.operation.name"] == "chat"
    assert dict(found[1].attributes or {})["gen_ai.tool.call.id"] == "r/serverContext1.step2_b"
    assert dict(found[3].attributes or {})["error.type"] == "7"
    data = reader.get_metrics_data()
    assert data is not None
    names = {metric.name for resource in data.resource_metrics for scope in resource.scope_metrics for metric in scope.metrics}
    assert "instrc.metric" in names
    meters.shutdown()


def test_the_log_has_the_step_as_prefix(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="instrc.run"):
        _run((logged, "bad"))
    lines = [record.getMessage() for record in caplog.records]
    assert lines[0].startswith("[r/llmContext1] asked")
    assert "[r/llmContext1] metric step1_a.$score = 7" in lines
    assert any(record.levelno == logging.WARNING and "failed" in record.getMessage() for record in caplog.records)


def test_the_log_has_sizes_in_place_of_contents(caplog: pytest.LogCaptureFixture) -> None:
    """Neither what a person writes nor what a model or a service answers; an error says what has failed."""
    secrets = "17 Hidden Lane", "12345678"
    model = instrc.Scripted([{"step1_a": {"text": 7, "$score": secrets[1]}}, {"step1_a": {"text": secrets[0], "$score": 3}}])
    with caplog.at_level(logging.DEBUG, logger="instrc.run"):
        run = instrc.run(
            DOCUMENT, secrets[0], model=model, activities={"Work_Activity": lambda given: {"text": given}}, watch=logged
        )
    assert run.value == {"text": secrets[0]}
    whole = "\n".join(f"{record.getMessage()} {record.__dict__['instrc']}" for record in caplog.records)
    assert not [secret for secret in secrets if secret in whole]
    assert "'answer_size': " in whole
    assert "'complaints': ['/step1_a/text'" in whole
    assert "ended {'outcome_size': " in whole
    assert "'status': 'done'" in whole
