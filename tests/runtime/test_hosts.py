"""Hosts that speak as OpenAI does are rows of data, and OpenAI's Responses API is an adapter of its own."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from standins import FILLED, HOSTED, KEY, SCHEMA, SHAPES, Standin, ask, completion

from instrc import ModelError, Request, SettingsError
from instrc.runtime.models import forms  # what is remembered is set
from instrc.runtime.models.catalogue import adapter_of, model_of  # makes one adapter
from instrc.runtime.models.hosts import HOSTS  # the rows
from instrc.runtime.models.settings import RequestTable

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")


def test_each_host_has_an_address_its_forms_a_source_and_a_date() -> None:
    assert set(HOSTED) == set(HOSTS)
    for name, host in HOSTS.items():
        adapter = adapter_of(name)
        assert (adapter.kind, adapter.key, adapter.usual_url, tuple(adapter.forms)) == (name, host.key, host.url, host.forms)
        assert host.url.startswith("https://") or name == "azure"
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
    assert ("tool_choice" not in sent) is (kind == "glm")


NAMED = {"forced": "tool_choice is not supported", "choice": "tools are not supported", "output": "response_format: unsupported"}
ALIKE = [pytest.param(name, marks=pytest.mark.long) for name in HOSTED if name not in {"deepseek", "qwen"}]


@pytest.mark.parametrize("kind", ["deepseek", "qwen", *ALIKE], indirect=True)
def test_a_host_that_refuses_one_form_after_another_is_asked_in_the_next_and_at_once_from_then_on(
    kind: str, standin: Standin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forms, "_learned", {})
    *refused, last = HOSTS[kind].forms
    good = (200, completion({"content": json.dumps(FILLED)}))
    standin.answers += [*((400, {"error": {"message": NAMED[form], "code": 400}}) for form in refused), good, good]
    request = Request("run/llmContext1", "step1_read", "Read the letter.", SCHEMA)
    for _ in range(2):
        assert asyncio.run(model_of(f"{kind}:m-1", tmp_path, RequestTable()).answer(request)).answer == FILLED
        forms._learned.clear()  # another process
    assert last == "words"
    assert {item.form for item in forms.refusals(tmp_path / ".instrc" / "models.sqlite")} == set(refused)
    sent = [("tool_choice" in body, "tools" in body, "response_format" in body) for _, _, body in standin.seen]
    shapes = {"forced": (True, True, False), "choice": (False, True, False), "output": (False, False, True)}
    assert sent == [*(shapes[form] for form in refused), *[(False, False, False)] * 2]


@pytest.mark.parametrize("kind", ["deepseek", "glm", "qwen", "xai"], indirect=True)
def test_thoughts_are_turned_off_in_the_words_of_the_host(kind: str, standin: Standin) -> None:
    for level in ("none", "low"):
        standin.answers.append((200, SHAPES[kind](FILLED, "step1_read")))
        ask(kind, reasoning=level)
    off, low = (
        {name: sent.get(name) for name in ("thinking", "enable_thinking", "reasoning_effort")} for _, _, sent in standin.seen
    )
    words = {"qwen": {"enable_thinking": False}, "xai": {"reasoning_effort": "none"}}.get(
        kind, {"thinking": {"type": "disabled"}}
    )
    assert {name: value for name, value in off.items() if value is not None} == words
    assert low == {"thinking": None, "enable_thinking": None, "reasoning_effort": "low"}


@pytest.mark.parametrize("kind", ["anthropic"], indirect=True)
def test_a_long_tool_of_anthropic_is_marked_for_its_cache_and_a_short_one_is_not(kind: str, standin: Standin) -> None:
    for words in (10, 10_000):
        schema = {**SCHEMA, "description": "x" * words}
        standin.answers.append((200, SHAPES[kind](FILLED, "step1_read")))
        asyncio.run(model_of(f"{kind}:m-1", Path()).answer(Request("r/c", "step1_read", "Read.", schema)))
    assert ["cache_control" in sent["tools"][0] for _, _, sent in standin.seen] == [False, True]


@pytest.mark.parametrize("kind", ["anthropic-output"], indirect=True)
def test_long_words_about_a_schema_are_marked_for_the_cache_of_anthropic(kind: str, standin: Standin) -> None:
    for words in (10, 10_000):
        schema = {**SCHEMA, "description": "x" * words}
        standin.answers.append((200, SHAPES[kind](FILLED, "step1_read")))
        asyncio.run(model_of(f"{kind}:m-1", Path()).answer(Request("r/c", "step1_read", "Read.", schema)))
    short, long = (sent["messages"][0]["content"] for _, _, sent in standin.seen)
    assert isinstance(short, str)
    assert ["cache_control" in block for block in long] == [True, False]
    assert long[1]["text"] == "Read."
    assert long[0]["text"].startswith("x" * 10_000)


@pytest.mark.parametrize("kind", ["openrouter", "qwen", "xai"], indirect=True)
@pytest.mark.parametrize("model", ["anthropic/claude-sonnet-5", "openai/gpt-5", "qwen-plus"])
def test_what_all_runs_share_is_marked_where_a_host_takes_marks(kind: str, standin: Standin, model: str) -> None:
    ask_long = Request("r/c", "step1_read", "Read.", {**SCHEMA, "description": "x" * 10_000})
    standin.answers.append((200, SHAPES[kind](FILLED, "step1_read")))
    asyncio.run(model_of(f"{kind}:{model}", Path()).answer(ask_long))
    no = ("Function tools are not supported.", "Tools are not supported here.", "response_format is not supported")
    standin.answers += [(400, {"error": {"message": text, "code": 400}}) for text in no]
    standin.answers.append((200, completion({"content": json.dumps(FILLED)})))
    try:
        assert asyncio.run(model_of(f"{kind}:{model}", Path()).answer(ask_long)).answer == FILLED
    finally:
        forms.forget(None)
    (_, _, with_tool), *_, (_, _, in_words) = standin.seen
    blocks = in_words["messages"][0]["content"]
    routed = kind == "openrouter" and model.startswith("anthropic/")
    assert ("cache_control" in with_tool["tools"][0]) is routed
    assert isinstance(with_tool["messages"][0]["content"], str)
    assert isinstance(blocks, list) is (routed or (kind == "qwen" and model == "qwen-plus"))
    if isinstance(blocks, list):
        assert ["cache_control" in block for block in blocks] == [True, False]
        assert blocks[1]["text"] == "Read."


@pytest.mark.parametrize("kind", ["bedrock"], indirect=True)
@pytest.mark.parametrize("model", ["anthropic.claude-haiku-4-5", "amazon.nova-pro-v1:0"])
def test_bedrock_is_asked_by_converse_and_a_long_tool_of_anthropic_is_marked(kind: str, standin: Standin, model: str) -> None:
    standin.answers.append((200, SHAPES[kind](FILLED, "step1_read")))
    schema = {**SCHEMA, "description": "x" * 10_000}
    settings: Any = {"max_tokens": 90, "temperature": 0.5, "extra": {"top_k": 3}}
    request = Request("r/c", "step1_read", "Read.", schema, settings=settings)
    reply = asyncio.run(model_of(f"{kind}:{model}", Path()).answer(request))
    assert (reply.answer, reply.usage) == (FILLED, {"input_tokens": 11, "output_tokens": 7})
    [(path, _, sent)] = standin.seen
    assert path.endswith("/converse")
    assert sent["toolConfig"]["toolChoice"] == {"tool": {"name": "step1_read"}}
    assert sent["inferenceConfig"] == {"maxTokens": 90, "temperature": 0.5}
    assert sent["additionalModelRequestFields"] == {"top_k": 3}
    marks = [{"cachePoint": {"type": "default"}}] if "claude" in model else []
    assert sent["toolConfig"]["tools"][1:] == marks


def test_a_deployment_needs_an_address_and_a_key_goes_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("openai")
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", KEY)
    monkeypatch.delenv("AZURE_BASE_URL", raising=False)
    with pytest.raises(SettingsError, match="AZURE_BASE_URL"):
        ask("azure")


def test_bedrock_without_a_region_is_a_problem_of_the_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("boto3")
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    with pytest.raises(SettingsError, match="region"):
        ask("bedrock")


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
@pytest.mark.parametrize("written", ["SELECT 1", "null", '{"sql": 1}', ""])
def test_a_text_with_a_grammar_is_asked_by_it_and_stays_what_was_written(kind: str, standin: Standin, written: str) -> None:
    schema = {"type": "object", "properties": {"sql": {"type": "string", "x-grammar": "start: /SELECT .+/"}}, "required": ["sql"]}
    call = {"type": "custom_tool_call", "id": "f", "call_id": "c", "name": "step1_read", "input": written}
    standin.answers.append((200, SHAPES[kind](FILLED, "step1_read") | {"output": [call]}))
    request = Request("r/c", "step1_read", "Read.", schema, partial=lambda *_: None)
    reply = asyncio.run(model_of(f"{kind}:m-1", Path()).answer(request))
    assert (reply.answer, reply.complaints) == ({"sql": written}, ())
    [(_, _, sent)] = standin.seen
    [tool] = sent["tools"]
    assert (tool["type"], tool["name"]) == ("custom", "step1_read")
    assert tool["format"] == {"type": "grammar", "syntax": "lark", "definition": "start: /SELECT .+/"}
    assert sent["tool_choice"] == {"type": "custom", "name": "step1_read"}


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
