"""Whatever the schema, the status of a response is that of its end: no envelope of a provider ever becomes the value."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hunting import examples
from hypothesis import given
from hypothesis import strategies as st

from instrc import lift, lower, targets

VALUE = {"a": "x"}
TEXT = json.dumps(VALUE)
MEMBERS = ("id", "model", "status", "object", "type", "role", "usage", "message", "output", "choices", "content", "error")
ENDS = ("whole", "cut", "refused", "filtered", "failed", "empty", "malformed")
STATUS = {"filtered": "refused", "whole": "ok"}
"""The status of each end whose word is another one."""

UNNAMED = {
    ("responses", "malformed"): "invalid",
    ("stream_of_responses", "malformed"): "invalid",
    ("responses_output", "malformed"): "empty",
}
"""Ends for which the API has no word: the status is that of the text."""

Envelope = Callable[[str], Any]


def chat(end: str) -> Any:
    """Return a response of Chat Completions (openai 3.57.0 `ChatCompletion`)."""
    call = {"id": "c", "type": "function", "function": {"name": "t", "arguments": TEXT[: -3 if end == "cut" else None]}}
    message: dict[str, Any] = {"role": "assistant", "content": None, "refusal": None}
    message |= {"tool_calls": [call]} if end in {"whole", "cut", "failed", "malformed"} else {}
    message |= {"refusal": "No."} if end == "refused" else {}
    reason = {"cut": "length", "filtered": "content_filter", "failed": "error", "malformed": "malformed_function_call"}
    choice = {"index": 0, "message": message, "finish_reason": reason.get(end, "stop")}
    about = {"id": "x", "object": "chat.completion", "created": 1, "model": "m"}
    return {**about, "choices": [choice], "usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}}


def error_beside(end: str) -> Any:
    """Return an error as OpenRouter reports it in a choice (openrouter.ai/docs/api-reference/errors, 2026-11)."""
    answer = chat(end)
    answer["choices"][0] |= {"error": {"code": 502, "message": "Oops"}} if end == "failed" else {}
    return answer


def responses(end: str) -> Any:
    """Return a response of OpenAI's Responses (openai 3.57.0 `Response`)."""
    call = {"type": "function_call", "id": "f", "call_id": "c", "name": "t", "arguments": TEXT, "status": "completed"}
    said = {"type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]}
    status = {"cut": "incomplete", "filtered": "incomplete", "failed": "failed"}.get(end, "completed")
    why = {"cut": {"reason": "max_output_tokens"}, "filtered": {"reason": "content_filter"}}.get(end)
    output = {"refused": [said], "empty": [], "filtered": [], "failed": []}.get(end, [call])
    call["arguments"] = "t(a is x)" if end == "malformed" else TEXT  # the API has no word for that
    error = {"code": "server_error", "message": "Oops"} if end == "failed" else None
    about = {"id": "x", "object": "response", "model": "m", "usage": {"input_tokens": 1, "output_tokens": 2}}
    return {**about, "status": status, "error": error, "incomplete_details": why, "output": output}


def anthropic(end: str) -> Any:
    """Return a message of Anthropic (anthropic 2.14.0 `Message`)."""
    if end == "failed":
        return {"type": "error", "error": {"type": "overloaded_error", "message": "Oops"}, "request_id": "r"}
    use = {"type": "tool_use", "id": "u", "name": "t", "input": VALUE}
    reason = {"cut": "max_tokens", "refused": "refusal", "filtered": "refusal", "malformed": "malformed_tool_use"}
    content = [use] if end in {"whole", "cut", "malformed"} else []
    about = {"id": "m", "type": "message", "role": "assistant", "model": "m", "usage": {"input_tokens": 1, "output_tokens": 2}}
    return {**about, "content": content, "stop_reason": reason.get(end, "tool_use"), "stop_sequence": None}


def gemini(end: str) -> Any:
    """Return a response of Gemini (google-genai 3.6.1 `GenerateContentResponse`)."""
    about = {"usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 2}, "modelVersion": "m", "responseId": "r"}
    if end == "failed":
        return {"error": {"code": 503, "message": "Oops", "status": "UNAVAILABLE"}}
    if end == "filtered":
        return {**about, "promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}
    reason = {"cut": "MAX_TOKENS", "refused": "SAFETY", "malformed": "MALFORMED_FUNCTION_CALL"}.get(end, "STOP")
    parts = [{"functionCall": {"name": "t", "args": VALUE}}] if end in {"whole", "cut", "malformed"} else []
    return {**about, "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": reason, "index": 0}]}


def bedrock(end: str) -> Any:
    """Return a response of Bedrock's Converse (API reference, 2026-11)."""
    if end == "failed":
        return {"Error": {"Code": "ThrottlingException", "Message": "Oops"}, "ResponseMetadata": {"HTTPStatusCode": 429}}
    use = {"toolUse": {"toolUseId": "u", "name": "t", "input": VALUE}}
    reason = {"cut": "max_tokens", "refused": "content_filtered", "filtered": "guardrail_intervened"}
    reason["malformed"] = "malformed_tool_use"
    content = [use] if end in {"whole", "cut", "malformed"} else []
    usage = {"inputTokens": 1, "outputTokens": 2, "totalTokens": 3}
    output = {"message": {"role": "assistant", "content": content}}
    return {"output": output, "stopReason": reason.get(end, "tool_use"), "usage": usage, "metrics": {"latencyMs": 1}}


def ollama(end: str) -> Any:
    """Return an answer of Ollama's `/api/chat` (docs/api.md, 2026-11); it has no word for a refusal."""
    if end == "failed":
        return {"error": {"message": "Oops", "type": "api_error"}}
    call = {"function": {"name": "t", "arguments": VALUE}}
    message: dict[str, Any] = {"role": "assistant", "content": ""}
    message |= {"tool_calls": [call]} if end in {"whole", "cut", "malformed"} else {}
    reason = {"cut": "length", "refused": "safety", "filtered": "content_filter", "malformed": "malformed_function_call"}
    return {"model": "m", "message": message, "done": True, "done_reason": reason.get(end, "stop"), "eval_count": 3}


def cohere(end: str) -> Any:
    """Return a response of Cohere's second API (docs.cohere.com/reference/chat, 2026-11)."""
    call = {"id": "c", "type": "function", "function": {"name": "t", "arguments": TEXT}}
    message: dict[str, Any] = {"role": "assistant", "content": []}
    message |= {"tool_calls": [call]} if end in {"whole", "cut", "malformed"} else {}
    reason = {"cut": "MAX_TOKENS", "refused": "ERROR_TOXIC", "filtered": "ERROR_TOXIC", "failed": "ERROR"}
    reason["malformed"] = "MALFORMED_FUNCTION_CALL"
    usage = {"tokens": {"input_tokens": 1, "output_tokens": 2}}
    return {"id": "x", "message": message, "finish_reason": reason.get(end, "COMPLETE"), "usage": usage}


def stream_of_chat(end: str) -> Any:
    """Return the pieces of a stream of Chat Completions; a cut one has no last piece."""
    answer = chat(end)
    choice = answer["choices"][0]
    delta = {key: item for key, item in choice["message"].items() if item is not None}
    delta["tool_calls"] = [{"index": 0, **call} for call in delta.get("tool_calls", [])]
    about = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    last = {**about, "choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]}
    return [{**about, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}, *([] if end == "cut" else [last])]


def stream_of_anthropic(end: str) -> Any:
    """Return the events of a stream of Anthropic."""
    message = anthropic("empty" if end == "failed" else end)
    pieces: list[Any] = [{"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}]
    for index, block in enumerate(message["content"]):
        pieces.append({"type": "content_block_start", "index": index, "content_block": {**block, "input": {}}})
        delta = {"type": "input_json_delta", "partial_json": TEXT}
        pieces.append({"type": "content_block_delta", "index": index, "delta": delta})
        pieces.append({"type": "content_block_stop", "index": index})
    if end == "failed":
        return [*pieces, anthropic("failed")]
    return [*pieces, {"type": "message_delta", "delta": {"stop_reason": message["stop_reason"]}}, {"type": "message_stop"}]


def chat_output(end: str) -> Any:
    """Return structured output of Chat Completions: the value is a text."""
    answer = chat(end)
    message = answer["choices"][0]["message"]
    if calls := message.pop("tool_calls", None):
        message["content"] = calls[0]["function"]["arguments"]
    return answer


def responses_output(end: str) -> Any:
    """Return structured output of OpenAI's Responses (openai 3.57.0 `ResponseOutputText`)."""
    answer = responses(end)
    text = {"cut": TEXT[:-3], "malformed": "a is x"}.get(end, TEXT)
    part = {"type": "output_text", "text": text, "annotations": []}
    item = {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [part]}
    return answer | {"output": [item if output["type"] == "function_call" else output for output in answer["output"]]}


def anthropic_output(end: str) -> Any:
    """Return structured output of Anthropic: a block of text (anthropic 2.14.0 `TextBlock`)."""
    answer = anthropic(end)
    if end != "failed":
        block = {"type": "text", "text": TEXT[:-3] if end == "cut" else TEXT, "citations": None}
        answer["content"] = [block for _ in answer["content"]]
        answer["stop_reason"] = "end_turn" if answer["stop_reason"] == "tool_use" else answer["stop_reason"]
    return answer


def gemini_output(end: str) -> Any:
    """Return structured output of Gemini: a part of text."""
    answer = gemini(end)
    for candidate in answer.get("candidates", ()):
        content = candidate["content"]
        content["parts"] = [{"text": TEXT[:-3] if end == "cut" else TEXT} for _ in content["parts"]]
    return answer


def bedrock_output(end: str) -> Any:
    """Return structured output of Bedrock's Converse: a block of text (botocore 1.44.8 `ContentBlock`)."""
    answer = bedrock(end)
    if end != "failed":
        message = answer["output"]["message"]
        message["content"] = [{"text": TEXT[:-3] if end == "cut" else TEXT} for _ in message["content"]]
        answer["stopReason"] = "end_turn" if answer["stopReason"] == "tool_use" else answer["stopReason"]
    return answer


def stream_of_responses(end: str) -> Any:
    """Return the events of a stream of Responses (openai 3.57.0 `ResponseStreamEvent`); a cut one ends as incomplete."""
    answer = responses(end)
    pieces: list[Any] = [{"type": "response.created", "response": {**answer, "status": "in_progress", "output": []}}]
    for index, item in enumerate(answer["output"]):
        pieces.append({"type": "response.output_item.added", "output_index": index, "item": {**item, "status": "in_progress"}})
        if item["type"] == "function_call":
            about = {"item_id": "f", "output_index": index}
            pieces.append({"type": "response.function_call_arguments.delta", **about, "delta": item["arguments"]})
            pieces.append({"type": "response.function_call_arguments.done", **about, "arguments": item["arguments"]})
        pieces.append({"type": "response.output_item.done", "output_index": index, "item": item})
    return [*pieces, {"type": f"response.{answer['status']}", "response": answer}]


def stream_of_gemini(end: str) -> Any:
    """Return the chunks of a stream of Gemini: the reason is in the last one."""
    answer = gemini(end)
    if "candidates" not in answer:
        return [answer]
    [candidate] = answer["candidates"]
    first = {**answer, "candidates": [{key: item for key, item in candidate.items() if key != "finishReason"}]}
    return [first, {**answer, "candidates": [{**candidate, "content": {"role": "model", "parts": []}}]}]


def stream_of_bedrock(end: str) -> Any:
    """Return the events of a stream of Bedrock (ConverseStream, API reference, 2026-11)."""
    pieces: list[Any] = [{"messageStart": {"role": "assistant"}}]
    if end == "failed":
        return [*pieces, {"modelStreamErrorException": {"message": "Oops", "originalStatusCode": 500}}]
    answer = bedrock(end)
    for index, block in enumerate(answer["output"]["message"]["content"]):
        use = {key: item for key, item in block["toolUse"].items() if key != "input"}
        pieces.append({"contentBlockStart": {"contentBlockIndex": index, "start": {"toolUse": use}}})
        pieces.append({"contentBlockDelta": {"contentBlockIndex": index, "delta": {"toolUse": {"input": TEXT}}}})
        pieces.append({"contentBlockStop": {"contentBlockIndex": index}})
    pieces.append({"messageStop": {"stopReason": answer["stopReason"]}})
    return [*pieces, {"metadata": {"usage": answer["usage"], "metrics": {"latencyMs": 1}}}]


def stream_of_ollama(end: str) -> Any:
    """Return the lines of a stream of Ollama: the last one has the reason."""
    answer = ollama(end)
    if end == "failed":
        return [{"model": "m", "message": {"role": "assistant", "content": ""}, "done": False}, answer]
    empty = {**answer, "message": {"role": "assistant", "content": ""}}
    return [{"model": "m", "message": answer["message"], "done": False}, empty]


ENVELOPES: dict[str, Envelope] = {
    item.__name__: item
    for item in (
        chat,
        error_beside,
        responses,
        anthropic,
        gemini,
        bedrock,
        ollama,
        cohere,
        chat_output,
        responses_output,
        anthropic_output,
        gemini_output,
        bedrock_output,
        stream_of_chat,
        stream_of_anthropic,
        stream_of_responses,
        stream_of_gemini,
        stream_of_bedrock,
        stream_of_ollama,
    )
}
DOORS: dict[str, Callable[[Any], Any]] = {
    "object": lambda answer: answer,
    "text": json.dumps,
    "events": lambda answer: "".join(
        f"data: {json.dumps(piece)}\n\n" for piece in (answer if isinstance(answer, list) else [answer])
    ),
    "list": lambda answer: answer if isinstance(answer, list) else [answer],
}
TYPES: Any = st.sampled_from(
    [{}, {"type": "string"}, {"type": "object"}, {"type": "array"}, {"type": ["object", "null", "string"]}]
)


@st.composite
def schemas(draw: st.DrawFn) -> Any:
    """Draw a schema that takes `VALUE`, or whose members are those of envelopes, open or closed, required or not."""
    names = draw(st.lists(st.sampled_from(MEMBERS), unique=True))
    properties = {name: draw(TYPES) for name in names}
    required = draw(st.lists(st.sampled_from(names), unique=True)) if names else []
    schema: Any = {"type": "object", "properties": properties, "required": required}
    return schema | draw(st.sampled_from([{}, {"additionalProperties": True}, {"additionalProperties": False}]))


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("envelope", ENVELOPES)
@examples(25)
@given(schema=schemas(), target=st.sampled_from(sorted(targets())), door=st.sampled_from([*DOORS]))
def test_an_envelope_is_told_by_its_end_whatever_the_schema(envelope: str, end: str, schema: Any, target: str, door: str) -> None:
    answer = ENVELOPES[envelope](end)
    lifted = lift(DOORS[door](answer), lower(schema, target, "t").map)
    assert all(call.value != answer for call in lifted.calls)
    if end == "whole":
        assert lifted.status in {"ok", "invalid"}
        values = [call.value for call in lifted.calls if call.valid]  # GigaChat leaves `null` out, so it may be filled in
        assert all(value.get(name) is None for value in values for name in ("choices", "candidates"))
    else:
        assert lifted.status == UNNAMED.get((envelope, end), STATUS.get(end, end))


@pytest.mark.parametrize("target", targets())
@pytest.mark.parametrize("envelope", ENVELOPES)
def test_a_whole_envelope_gives_its_value(envelope: str, target: str) -> None:
    schema: Any = {
        "type": "object",
        "properties": {"a": {"type": "string"}, "id": {}, "model": {}, "usage": {}},
        "required": ["a"],
    }
    lifted = lift(ENVELOPES[envelope]("whole"), lower(schema, target, "t").map)
    assert lifted.call.value["a"] == "x"
    assert lifted.status in {"ok", "invalid"}, "strict targets want what may be left out as null"
