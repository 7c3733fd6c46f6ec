"""Events for other systems: as structured log lines, and as OpenTelemetry spans and metrics. No other module uses either.

Names follow the conventions of OpenTelemetry for generative AI, version 1.41 of 2026, such as `gen_ai.usage.input_tokens`.
Neither contains messages or answers: they belong to the trace of the run, which stays in its store.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple, cast

from instrc.runtime.traces import Event, steps_of
from instrc.text.arguments import is_on
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import JsonObject

if TYPE_CHECKING:
    from contextvars import Token

    from opentelemetry.context import Context
    from opentelemetry.trace import Span

LOGGER = logging.getLogger("instrc.run")
LOGGER.addHandler(logging.NullHandler())  # a library logs nothing by default
_BEGINS = {"asked": "chat", "called": "execute_tool", "launched": "invoke_agent"}
_ENDS = frozenset({"answered", "returned", "failed"})
_LOUD = frozenset({"failed", "rejected", "retried"})
_CONTENTS = ("sent", "schema", "show", "input", "answer", "output", "thoughts", "text", "outcome")
"""Event facts that contain data of people, models and services: the log has only their sizes."""
_NAMES = ("steps", "chunk", "activity", "step", "child", "key", "by", "usage", "cost", "model", "code", "place")
_STATES = ("error", "attempt", "seconds", "invented", "cached", "notes")


def logged(event: Event) -> None:
    """Write an event to the log, prefixed by its step: ids, names, sizes and errors, but no contents.

    The same facts are the record's `instrc`, for structured handlers.
    """
    level = logging.WARNING if event["event"] in _LOUD else logging.INFO
    if not LOGGER.isEnabledFor(level):
        return
    known = cast("JsonObject", event)
    facts: JsonObject = {name: known[name] for name in (*_NAMES, *_STATES) if name in known}
    facts |= {f"{name}_size": len(dumps(known[name], indent=False)) for name in _CONTENTS if known.get(name) is not None}
    if complaints := event.get("complaints"):
        facts["complaints"] = [complaint["pointer"] for complaint in complaints]
    if outcome := event.get("outcome"):
        facts["status"] = outcome["status"]
    raised = f"\n{event['traceback'].rstrip()}" if "traceback" in event else ""
    about: JsonObject = {name: known[name] for name in ("event", "at", "run", "id") if name in known}
    words = (event["run"], event.get("id", ""), event["event"], facts, raised)
    LOGGER.log(level, "[%s/%s] %s %s%s", *words, extra={"instrc": {**about, **facts}})
    for path, value in event.get("metrics", {}).items():
        if isinstance(value, int | float):
            metric = {"metric": path, "value": value}
            LOGGER.info("[%s/%s] metric %s = %s", event["run"], event["id"], path, value, extra={"instrc": metric})


def listened() -> bool:
    """Return whether the log has a handler besides that of this module."""
    above = LOGGER.parent if LOGGER.propagate else None
    return len(LOGGER.handlers) > 1 or (above is not None and above.hasHandlers())


CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
"""Environment variable that adds messages and answers to the spans."""
_PROVIDERS = {
    "azure": "azure.ai.openai",
    "bedrock": "aws.bedrock",
    "gemini": "gcp.gemini",
    "mistral": "mistral_ai",
    "xai": "x_ai",
}
"""Provider names that differ in the conventions."""


_MOST_VALUES = 200
"""Maximum different values of a label of metrics: models and services choose some of them."""


class _OpenSpan(NamedTuple):
    span: Span
    token: Token[Context]
    about: dict[str, str]
    """Attributes shared by its metrics."""


class Telemetry:
    """A sink that creates spans and metrics. It needs the extra `telemetry`, and an SDK to export them.

    A run is one span per process that carries it out; those of its commands are children, and current during execution.
    """

    def __init__(self) -> None:
        from opentelemetry import metrics, trace  # the extra is loaded only on request

        self._tracer = trace.get_tracer("instrc")
        meter = metrics.get_meter("instrc")
        self._values = meter.create_histogram("instrc.metric", description="What models note under names with `$`.")
        tokens = [4.0**power for power in range(14)]  # both as in the conventions
        seconds = [0.01 * 2**power for power in range(14)]
        self._tokens = meter.create_histogram(
            "gen_ai.client.token.usage", unit="{token}", explicit_bucket_boundaries_advisory=tokens
        )
        self._took = meter.create_histogram(
            "gen_ai.client.operation.duration", unit="s", explicit_bucket_boundaries_advisory=seconds
        )
        self._open: dict[tuple[str, str], _OpenSpan] = {}
        self._values_of: dict[str, set[str]] = {}

    @contextmanager
    def carried(self, run: str, program: str) -> Iterator[None]:
        """Open the span of a run, while this process carries it out."""
        about = {"gen_ai.operation.name": "invoke_workflow", "gen_ai.workflow.name": program, "gen_ai.conversation.id": run}
        with self._tracer.start_as_current_span(f"invoke_workflow {program}", attributes={**about, "instrc.run": run}):
            yield

    def __call__(self, event: Event) -> None:
        """Process an event."""
        kind = event["event"]
        key = (event["run"], event.get("id", ""))
        nanoseconds = int(event["at"] * 1e9)
        if kind in _BEGINS:
            self._begin(key, _BEGINS[kind], event, nanoseconds)
        elif kind in _ENDS:
            self._end(key, event, nanoseconds)
        elif kind == "retried" and key in self._open:
            attempt: dict[str, str | int] = {"error.message": str(event["error"]), "attempt": event["attempt"]}
            self._open[key].span.add_event("retry", attempt, nanoseconds)
        elif kind == "ended" and (outcome := event.get("outcome")) is not None and "/" not in event["run"]:
            from opentelemetry import trace  # as above

            span = trace.get_current_span()
            span.set_attribute("instrc.status", outcome["status"])
            if outcome["status"] == "failed":
                _fail(span, outcome["error"]["message"], outcome["error"]["code"] or outcome["error"]["kind"])

    def name_model(self, run: str, command: str, spec: str) -> None:
        """Record the first model used for a command, `openai:gpt-5`, in its span and metrics."""
        kind, _, model = spec.partition(",")[0].partition(":")
        if model and (run, command) in self._open:
            opened = self._open[run, command]
            family = kind.partition("-")[0]
            opened.about.update({"gen_ai.provider.name": _PROVIDERS.get(family, family), "gen_ai.request.model": model})
            opened.span.update_name(f"chat {model}")
            opened.span.set_attributes(opened.about)

    def _begin(self, key: tuple[str, str], operation: str, event: Event, at: int) -> None:
        from opentelemetry import context, trace  # as above

        what = event.get("activity") or event.get("child") or event.get("chunk")
        kind = trace.SpanKind.CLIENT if operation == "chat" else trace.SpanKind.INTERNAL
        about = {"gen_ai.operation.name": operation}
        ids = {"gen_ai.conversation.id": key[0].partition("/")[0], "instrc.run": key[0], "instrc.command": key[1]}
        span = self._tracer.start_span(f"{operation} {what}", kind=kind, attributes={**about, **ids}, start_time=at)
        if operation == "execute_tool":
            span.set_attributes({"gen_ai.tool.name": str(what), "gen_ai.tool.call.id": "/".join(key)})
        if event.get("steps"):
            span.set_attribute("instrc.steps", steps_of(event))
        if "sent" in event and is_on(CAPTURE):
            span.set_attribute("gen_ai.input.messages", _messages("user", event["sent"]))
        self._open[key] = _OpenSpan(span, context.attach(trace.set_span_in_context(span)), about)

    def _end(self, key: tuple[str, str], event: Event, at: int) -> None:
        from opentelemetry import context, trace  # as above

        opened = self._open.pop(key, None)
        if opened is None:
            return
        span, about = opened.span, opened.about
        if trace.get_current_span() is span:
            context.detach(opened.token)
        if model := event.get("model"):
            about["gen_ai.response.model"] = model
        for name, count in (event.get("usage") or {}).items():
            span.set_attribute(f"gen_ai.usage.{_USAGE.get(name, name)}", count)
            if name in {"input_tokens", "output_tokens"}:
                self._tokens.record(count, self._labels({**about, "gen_ai.token.type": name.removesuffix("_tokens")}))
        for path, value in (event.get("metrics") or {}).items():
            if isinstance(value, int | float):
                step, _, metric = path.rpartition(".")
                self._values.record(value, self._labels({"instrc.metric": metric, "instrc.step": step}))
        if "answer" in event and is_on(CAPTURE):
            span.set_attribute("gen_ai.output.messages", _messages("assistant", dumps(event["answer"], indent=False)))
        span.set_attributes(about)
        if event["event"] == "failed" or "error" in event:
            about["error.type"] = str(event.get("code") or "failed")
            _fail(span, str(event["error"]), about["error.type"])
        if "seconds" in event:
            self._took.record(event["seconds"], self._labels(about))
        span.end(at)

    def _labels(self, about: dict[str, str]) -> dict[str, str]:
        """Return labels of a metric, with a limited number of different values each."""
        for name, value in about.items():
            if len(known := self._values_of.setdefault(name, set())) < _MOST_VALUES:
                known.add(value)
        return {name: value if value in self._values_of[name] else "_OTHER" for name, value in about.items()}


_USAGE = {"cache_read_tokens": "cache_read.input_tokens", "cache_write_tokens": "cache_creation.input_tokens"}
"""Counts with other names in the conventions."""


def _messages(role: str, text: str) -> str:
    return dumps([{"role": role, "parts": [{"type": "text", "content": text}]}], indent=False)


def _fail(span: Span, message: str, kind: str) -> None:
    from opentelemetry.trace import Status, StatusCode  # as above

    span.set_status(Status(StatusCode.ERROR, message))
    span.set_attribute("error.type", kind)
