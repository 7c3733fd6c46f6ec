"""What others are told of a run: lines of a log, spans and metrics."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from applications import run_in_app
from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind
from standins import FILLED, SHAPES, Standin
from written_processes import call, chunk, process, step

import instrc
from instrc.runtime.telemetry import Telemetry, logged
from instrc.runtime.traces import event_of  # what it is told

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
    return run_in_app(DOCUMENT, "go", model=model, activities={"Work_Activity": work}, id="r", watch=watch[0])


@pytest.fixture
def collected(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[InMemorySpanExporter, InMemoryMetricReader]]:
    """Collect the spans and metrics of the runs of a test."""
    spans, reader = InMemorySpanExporter(), InMemoryMetricReader()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(spans))
    monkeypatch.setattr(trace, "get_tracer", provider.get_tracer)
    meters = MeterProvider(metric_readers=[reader])
    monkeypatch.setattr(metrics, "get_meter", meters.get_meter)
    monkeypatch.setenv("INSTRC_TELEMETRY", "1")
    yield spans, reader
    meters.shutdown()


def _named(spans: InMemorySpanExporter) -> dict[str, ReadableSpan]:
    return {span.name: span for span in spans.get_finished_spans()}


def _facts(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


def test_spans_follow_the_conventions(collected: tuple[InMemorySpanExporter, InMemoryMetricReader]) -> None:
    spans, reader = collected
    assert _run((None, "fine")).status == "done"
    assert _run((None, "bad")).status == "failed"
    chat, tool, whole, _, failed, stopped = spans.get_finished_spans()
    assert [span.name for span in (chat, tool, whole)] == [
        "chat llmContext1",
        "execute_tool Work_Activity",
        "invoke_workflow run",
    ]
    assert _facts(chat)["gen_ai.operation.name"] == "chat"
    assert _facts(tool)["gen_ai.tool.call.id"] == "r/serverContext1.step2_b"
    assert {_facts(span)["gen_ai.conversation.id"] for span in (chat, tool, whole)} == {"r"}
    assert _facts(whole)["instrc.status"] == "done"
    assert _facts(failed)["error.type"] == _facts(stopped)["error.type"] == "7"
    assert stopped.status.description == "no"
    data = reader.get_metrics_data()
    assert data is not None
    found = {
        metric.name: metric for resource in data.resource_metrics for scope in resource.scope_metrics for metric in scope.metrics
    }
    assert found.keys() == {"instrc.metric", "gen_ai.client.operation.duration"}
    point = found["gen_ai.client.operation.duration"].data.data_points[0]
    assert [*point.explicit_bounds][:3] == [0.01, 0.02, 0.04]  # type: ignore[union-attr]  # a histogram
    assert [span.kind for span in (chat, tool)] == [SpanKind.CLIENT, SpanKind.INTERNAL]


def test_a_run_is_one_span_and_its_commands_are_current_while_they_work(
    collected: tuple[InMemorySpanExporter, InMemoryMetricReader],
) -> None:
    """What an activity or a model opens is below the span of its command, all in the trace of the request."""
    spans, _ = collected
    tracer = trace.get_tracer("own")

    class Own:
        async def answer(self, _: instrc.Request) -> instrc.Reply:
            with tracer.start_as_current_span("own model"):
                await asyncio.sleep(0.01)
                return instrc.Reply({"step1_a": {"text": "a", "$score": 1}})

    def work(given: Any) -> Any:
        with tracer.start_as_current_span("own work"):  # in a thread
            return {"text": given}

    async def request() -> None:
        app = instrc.App(model=Own(), activities={"Work_Activity": work})
        with tracer.start_as_current_span("request"):
            runs = await asyncio.gather(*(app.run(DOCUMENT, "go") for _ in range(3)))
            assert [run.status for run in runs] == ["done"] * 3
            assert trace.get_current_span().name == "request"  # type: ignore[attr-defined]  # nothing stays current

    asyncio.run(request())
    finished = spans.get_finished_spans()
    by_id = {span.context.span_id: span for span in finished if span.context is not None}
    assert len({span.context.trace_id for span in finished if span.context is not None}) == 1

    def path(span: ReadableSpan) -> list[str]:
        return [span.name, *(path(by_id[span.parent.span_id]) if span.parent else [])]

    paths = [path(span)[:-2] for span in finished if span.name.startswith("own")]
    assert sorted(paths) == [["own model", "chat llmContext1"]] * 3 + [["own work", "execute_tool Work_Activity"]] * 3
    assert sorted(path(span)[-1] for span in finished) == ["request"] * 16
    assert [path(span)[1] for span in finished if span.name.startswith("invoke_workflow")] == ["request"] * 3


@pytest.mark.parametrize("kind", ["openai", "gemini"], indirect=True)
@pytest.mark.parametrize("content", [True, False])
def test_a_model_is_named_and_contents_are_kept_out(
    kind: str,
    content: bool,  # noqa: FBT001  -- a parameter
    standin: Standin,
    monkeypatch: pytest.MonkeyPatch,
    collected: tuple[InMemorySpanExporter, InMemoryMetricReader],
) -> None:
    spans, reader = collected
    standin.answers.append((200, SHAPES[kind](FILLED, "Read")))
    if content:
        monkeypatch.setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true")
    program = '@{ title: "Read", type: "object", properties: { asks: { type: "string" } } }'
    assert instrc.run(program, "Hidden Lane", model=f"{kind}:m-1").status == "done"
    facts = _facts(_named(spans)["chat m-1"])
    assert facts["gen_ai.provider.name"] == {"openai": "openai", "gemini": "gcp.gemini"}[kind]
    assert (facts["gen_ai.request.model"], facts["gen_ai.response.model"]) == ("m-1", "m-1")
    assert (facts["gen_ai.usage.input_tokens"], facts["gen_ai.usage.output_tokens"]) == (11, 7)
    whole = str([_facts(span) for span in spans.get_finished_spans()])
    assert ("Hidden Lane" in whole, "a date" in whole) == (content, content)
    if content:
        assert json.loads(facts["gen_ai.output.messages"])[0]["role"] == "assistant"
    data = reader.get_metrics_data()
    assert data is not None
    points = [
        point
        for resource in data.resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
        for point in metric.data.data_points
    ]
    assert {dict(point.attributes or {}).get("gen_ai.token.type") for point in points} == {"input", "output", None}
    assert {dict(point.attributes or {}).get("gen_ai.request.model") for point in points} == {"m-1"}


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
        run = run_in_app(
            DOCUMENT, secrets[0], model=model, activities={"Work_Activity": lambda given: {"text": given}}, watch=logged
        )
    assert run.value == {"text": secrets[0]}
    whole = "\n".join(f"{record.getMessage()} {record.__dict__['instrc']}" for record in caplog.records)
    assert not [secret for secret in secrets if secret in whole]
    assert "'answer_size': " in whole
    assert "'complaints': ['/step1_a/text'" in whole
    assert "ended {'outcome_size': " in whole
    assert "'status': 'done'" in whole


def test_labels_of_metrics_have_a_limited_number_of_values(
    collected: tuple[InMemorySpanExporter, InMemoryMetricReader], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Models choose names of metrics, services the codes of their errors: each value is a time series."""
    _, reader = collected
    monkeypatch.setattr("instrc.runtime.telemetry._MOST_VALUES", 3)
    told = Telemetry()
    for number in range(9):
        told(event_of("r", "asked", f"c{number}", {"chunk": "c"}))
        usage: Any = {"usage": {}, "cost": None, "answer": {}, "complaints": [], "metrics": {f"a.$m{number}": 1}}
        told(event_of("r", "answered", f"c{number}", usage))
    data = reader.get_metrics_data()
    assert data is not None
    [metric] = [each for resource in data.resource_metrics for scope in resource.scope_metrics for each in scope.metrics]
    assert {dict(point.attributes or {})["instrc.metric"] for point in metric.data.data_points} == {"$m0", "$m1", "$m2", "_OTHER"}


@pytest.mark.parametrize("content", [False, True])
def test_spans_of_an_evaluation_have_contents_only_when_asked(
    collected: tuple[InMemorySpanExporter, InMemoryMetricReader], monkeypatch: pytest.MonkeyPatch, *, content: bool
) -> None:
    spans, _ = collected
    if content:
        monkeypatch.setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true")
    program = '@{ title: "Read", type: "object", properties: { asks: { type: "string" } } }'
    model = instrc.Scripted([{"asks": "17 Hidden Lane"}])
    found = instrc.evaluate(program, [{"id": "1", "input": "x", "expected": {"asks": "no"}}], model=model)
    assert "17 Hidden Lane" in found.results[0].checks[0].reason
    [span] = [each for name, each in _named(spans).items() if name.startswith("evaluate ")]
    assert ("Hidden Lane" in str([dict(each.attributes or {}) for each in span.events])) is content
