"""Hosts that speak as OpenAI does are rows of data, and OpenAI's Responses API is an adapter of its own."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from standins import FILLED, HOSTED, KEY, SCHEMA, SHAPES, Standin, ask

from instrc import ModelError, Request
from instrc.runtime.models.catalogue import adapter_of, model_of  # makes one adapter
from instrc.runtime.models.hosts import HOSTS  # the rows

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")


def test_each_host_has_an_address_its_forms_a_source_and_a_date() -> None:
    assert set(HOSTED) == set(HOSTS)
    for name, host in HOSTS.items():
        adapter = adapter_of(name)
        assert (adapter.kind, adapter.key, adapter.usual_url, tuple(adapter.forms)) == (name, host.key, host.url, host.forms)
        assert host.url.startswith("https://")
        assert host.source
        assert host.date >= "2026"


@pytest.mark.parametrize("kind", ["deepseek", "glm"], indirect=True)
def test_a_host_is_asked_in_its_first_form_with_its_key(kind: str, standin: Standin) -> None:
    standin.answers.append((200, SHAPES[kind](FILLED, "step1_read")))
    assert ask(kind, max_tokens=9).answer == FILLED
    [(path, headers, sent)] = standin.seen
    assert path.endswith("/chat/completions")
    assert headers["authorization"] == f"Bearer {KEY}"
    assert sent["max_tokens"] == 9
    assert (sent["tool_choice"] == "auto") is (kind == "glm")


@pytest.mark.parametrize("kind", ["anthropic"], indirect=True)
def test_a_long_tool_of_anthropic_is_marked_for_its_cache_and_a_short_one_is_not(kind: str, standin: Standin) -> None:
    for words in (10, 10_000):
        schema = {**SCHEMA, "description": "x" * words}
        standin.answers.append((200, SHAPES[kind](FILLED, "step1_read")))
        asyncio.run(model_of(f"{kind}:m-1", Path()).answer(Request("r/c", "step1_read", "Read.", schema)))
    assert ["cache_control" in sent["tools"][0] for _, _, sent in standin.seen] == [False, True]


@pytest.mark.parametrize("kind", ["openai-responses"], indirect=True)
def test_responses_are_asked_with_a_flat_tool_and_read_with_their_tokens(kind: str, standin: Standin) -> None:
    answer = SHAPES[kind](FILLED, "step1_read")
    answer["usage"] |= {"input_tokens_details": {"cached_tokens": 4}}
    standin.answers.append((200, answer))
    reply = ask(kind, max_tokens=90, reasoning="low")
    assert reply.answer == FILLED
    assert reply.usage == {"input_tokens": 11, "output_tokens": 7, "cache_read_tokens": 4}
    [(path, _, sent)] = standin.seen
    assert path.endswith("/responses")
    assert sent["tools"][0]["name"] == "step1_read"
    assert sent["tool_choice"] == {"type": "function", "name": "step1_read"}
    assert (sent["max_output_tokens"], sent["reasoning"], sent["store"]) == (90, {"effort": "low"}, False)


@pytest.mark.parametrize("kind", ["openai-responses"], indirect=True)
def test_a_response_that_failed_or_was_filtered_is_an_error(kind: str, standin: Standin) -> None:
    good = SHAPES[kind](FILLED, "step1_read")
    failed = {**good, "status": "failed", "error": {"code": "server_error", "message": "Oops"}, "output": []}
    filtered = {**good, "status": "incomplete", "incomplete_details": {"reason": "content_filter"}}
    for answer, code, retry in ((failed, "500", True), (filtered, "refused", False)):
        standin.answers.append((200, answer))
        with pytest.raises(ModelError) as raised:
            ask(kind)
        assert (raised.value.code, raised.value.retry) == (code, retry)


@pytest.mark.parametrize("kind", ["openai-responses"], indirect=True)
def test_a_response_comes_in_parts(kind: str, standin: Standin) -> None:
    whole = SHAPES[kind](FILLED, "step1_read")
    text, item = json.dumps(FILLED), whole["output"][0]
    delta = {"type": "response.function_call_arguments.delta", "item_id": "f", "output_index": 0}
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": {**whole, "status": "in_progress", "output": [], "usage": None}},
        {"type": "response.output_item.added", "output_index": 0, "item": {**item, "arguments": ""}},
        *({**delta, "delta": part} for part in (text[:12], text[12:])),
        {"type": "response.completed", "response": whole},
    ]
    body = "".join(f"event: {event['type']}\ndata: {json.dumps(event | {'sequence_number': 1})}\n\n" for event in events)
    standin.answers.append((200, body.encode(), {"content-type": "text/event-stream"}))
    parts: list[Any] = []
    request = Request("run/llmContext1", "step1_read", "Read.", SCHEMA, partial=lambda value, _: parts.append(value))
    reply = asyncio.run(model_of(f"{kind}:m-1", Path()).answer(request))
    assert (reply.answer, reply.usage) == (FILLED, {"input_tokens": 11, "output_tokens": 7})
    assert parts
