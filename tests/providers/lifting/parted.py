"""One answer, divided into parts, in every envelope: as an object, as an object of a library, and as a stream.

An envelope takes the texts of the parts in their order; `None` is a part without a text.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import pytest

Texts: TypeAlias = list[str | None]
Envelope: TypeAlias = Callable[[Texts], Any]


def _typed(texts: Texts, kind: str = "text") -> list[Any]:
    return [{"type": kind} if text is None else {"type": kind, "text": text} for text in texts]


def _bare(texts: Texts, sign: str) -> list[Any]:
    return [{sign: "c2ln"} if text is None else {"text": text} for text in texts]


def _ai(content: Any) -> Any:
    return {"type": "ai", "content": content, "tool_calls": [], "additional_kwargs": {}, "response_metadata": {}}


def _message(content: Any, **more: Any) -> Any:
    return {"role": "assistant", "content": content, **more}


def _response(output: Any, **more: Any) -> Any:
    return {"id": "r", "object": "response", "created_at": 0, "model": "m", "status": "completed", "output": output, **more}


def _item(parts: Any, **more: Any) -> Any:
    return {"id": "m1", "type": "message", "role": "assistant", "status": "completed", "content": parts, **more}


def _candidates(parts: Any) -> Any:
    return {"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}]}


OBJECTS: dict[str, Envelope] = {
    "chat": lambda texts: {"choices": [{"index": 0, "message": _message(_typed(texts)), "finish_reason": "stop"}]},
    "responses": lambda texts: _response([_item(_typed(texts, "output_text"))]),
    "responses, an item a part": lambda texts: _response(
        [{"id": "r1", "type": "reasoning", "summary": []}, *(_item(_typed([text], "output_text")) for text in texts)]
    ),
    "anthropic": lambda texts: _message(_typed(texts), type="message", stop_reason="end_turn"),
    "gemini": lambda texts: _candidates(_bare(texts, "thoughtSignature")),
    "interactions": lambda texts: {"status": "completed", "outputs": _typed(texts)},
    "mistral": lambda texts: {"choices": [{"message": _message(_typed(texts)), "finish_reason": "stop"}]},
    "bedrock": lambda texts: {
        "output": {"message": _message([{} if text is None else {"text": text} for text in texts])},
        "stopReason": "end_turn",
    },
    "cohere": lambda texts: {"message": _message(_typed(texts)), "finish_reason": "COMPLETE"},
    "gigachat": lambda texts: {
        "messages": [_message([{} if text is None else {"text": text} for text in texts])],
        "finish_reason": "stop",
    },
    "mcp": lambda texts: {"content": _typed(texts), "isError": False},
    "langchain": lambda texts: _ai(_typed(texts)),
    "langchain, bare texts": lambda texts: _ai(list(texts)),
    "pydantic-ai": lambda texts: {
        "kind": "response",
        "parts": [{"part_kind": "text", **({} if text is None else {"content": text})} for text in texts],
    },
    "a list of parts": _typed,
    "parts of gemini": lambda texts: {"role": "model", "parts": _bare(texts, "thought_signature")},
}


def _anthropic_events(texts: Texts) -> Iterable[Any]:
    yield {"type": "message_start", "message": _message([], type="message")}
    for index, text in enumerate(texts):
        yield {"type": "content_block_start", "index": index, "content_block": {"type": "text", "text": ""}}
        if text is not None:
            yield {"type": "content_block_delta", "index": index, "delta": {"type": "text_delta", "text": text}}
        yield {"type": "content_block_stop", "index": index}
    yield {"type": "message_delta", "delta": {"stop_reason": "end_turn"}}
    yield {"type": "message_stop"}


def _response_events(texts: Texts, *, items: bool, last: Any) -> Iterable[Any]:
    """Yield the events of Responses: with the items, or the deltas of texts alone; `last` is the response at the end."""
    yield {"type": "response.created", "response": _response([], status="in_progress")}
    if items:
        yield {"type": "response.output_item.added", "output_index": 0, "item": _item([], status="in_progress")}
    for index, text in enumerate(texts):
        where = {"item_id": "m1", "output_index": 0, "content_index": index}
        part = {"type": "output_text", "text": ""}
        if items:
            yield {"type": "response.content_part.added", **where, "part": part}
        if text is not None:
            yield {"type": "response.output_text.delta", **where, "delta": text}
            yield {"type": "response.output_text.done", **where, "text": text}
        if items:
            yield {"type": "response.content_part.done", **where, "part": {**part, "text": text or ""}}
    if items:
        yield {"type": "response.output_item.done", "output_index": 0, "item": _item(_typed(texts, "output_text"))}
    yield {"type": "response.completed", "response": last}


def _without_output(**more: Any) -> Any:
    return {key: item for key, item in {**_response([]), **more}.items() if item is not ...}


def _converse_events(texts: Texts) -> Iterable[Any]:
    yield {"messageStart": {"role": "assistant"}}
    for index, text in enumerate(texts):
        delta = {} if text is None else {"text": text}
        yield {"contentBlockDelta": {"contentBlockIndex": index, "delta": delta}}
        yield {"contentBlockStop": {"contentBlockIndex": index}}
    yield {"messageStop": {"stopReason": "end_turn"}}
    yield {"metadata": {"usage": {}}}


def _pydantic_ai_events(texts: Texts) -> Iterable[Any]:
    for index, text in enumerate(texts):
        yield {"event_kind": "part_start", "index": index, "part": {"part_kind": "text", "content": ""}}
        if text is not None:
            delta = {"part_delta_kind": "text", "content_delta": text}
            yield {"event_kind": "part_delta", "index": index, "delta": delta}


def _deltas(texts: Texts) -> list[Any]:
    said = [{} if text is None else {"content": text} for text in texts]
    return [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in [{"role": "assistant"}, *said]]


_END: Any = {"index": 0, "delta": {}, "finish_reason": "stop"}


STREAMS: dict[str, Envelope] = {
    "chat": lambda texts: [*_deltas(texts), {"choices": [_END]}],
    "chat, then what was used": lambda texts: [*_deltas(texts), {"choices": [_END]}, {"choices": [], "usage": {}}],
    "chat, a piece without choices": lambda texts: [*_deltas(texts), {"choices": [_END]}, {"object": "chunk", "usage": {}}],
    "chat, choices that are null": lambda texts: [*_deltas(texts), {"choices": [_END]}, {"choices": None, "usage": {}}],
    "chat, an end without a delta": lambda texts: [*_deltas(texts), {"choices": [{"index": 0, "finish_reason": "stop"}]}],
    "chat, a delta that is null": lambda texts: [*_deltas(texts), {"choices": [{**_END, "delta": None}]}],
    "mistral": lambda texts: [
        *({"choices": [{"index": 0, "delta": {"content": _typed([text])}}]} for text in texts),
        {"choices": [_END]},
    ],
    "anthropic": lambda texts: list(_anthropic_events(texts)),
    "responses": lambda texts: list(_response_events(texts, items=True, last=_response([_item(_typed(texts, "output_text"))]))),
    "responses, empty at the end": lambda texts: list(_response_events(texts, items=True, last=_response([]))),
    "responses, null at the end": lambda texts: list(_response_events(texts, items=True, last=_response(None))),
    "responses, no output at the end": lambda texts: list(_response_events(texts, items=True, last=_without_output(output=...))),
    "responses, empty items at the end": lambda texts: list(_response_events(texts, items=True, last=_response([_item([])]))),
    "responses, deltas alone": lambda texts: list(_response_events(texts, items=False, last=_response([]))),
    "gemini": lambda texts: [
        *({"candidates": [{"content": {"role": "model", "parts": _bare([text], "thoughtSignature")}}]} for text in texts),
        {"candidates": [{"finishReason": "STOP"}]},
    ],
    "gemini, the reason with an empty text": lambda texts: [
        *({"candidates": [{"content": {"parts": _bare([text], "thought_signature")}}]} for text in texts),
        {"candidates": [{"content": {"parts": [{"text": ""}], "role": "model"}, "finish_reason": "STOP"}]},
        {"usageMetadata": {}},
    ],
    "gemini, candidates that are null": lambda texts: [
        *({"candidates": [{"content": {"parts": _bare([text], "thought_signature")}}]} for text in texts),
        {"candidates": [{"content": {"parts": None, "role": "model"}, "finish_reason": "STOP"}]},
        {"candidates": None, "usage_metadata": {}},
    ],
    "live": lambda texts: [
        *({"serverContent": {"modelTurn": {"parts": _bare([text], "thoughtSignature")}}} for text in texts),
        {"serverContent": {"turnComplete": True}},
        {"usageMetadata": {}},
    ],
    "bedrock": lambda texts: list(_converse_events(texts)),
    "ollama": lambda texts: [
        *({"message": _message("" if text is None else text), "done": False} for text in texts),
        {"message": _message(""), "done": True, "done_reason": "stop"},
    ],
    "ollama, text": lambda texts: [
        *({"response": text, "done": False} for text in texts),
        {"response": "", "done": True, "done_reason": "stop"},
    ],
    "llama.cpp": lambda texts: [
        *({"content": text or "", "stop": False} for text in texts),
        {"content": "", "stop": True, "stop_type": "eos", "tokens_predicted": 1},
    ],
    "langchain": lambda texts: [
        {"type": "AIMessageChunk", "content": "" if text is None else text, "tool_call_chunks": []} for text in texts
    ],
    "langchain, in parts": lambda texts: [
        {"type": "AIMessageChunk", "content": _typed([text]), "tool_call_chunks": []} for text in texts
    ],
    "pydantic-ai": lambda texts: list(_pydantic_ai_events(texts)),
    "smolagents": lambda texts: [{"content": text, "tool_calls": None, "token_usage": None} for text in texts],
    "conversation": lambda texts: [
        {"type": "conversation.response.started"},
        *({"type": "message.output.delta", "content": text} for text in texts),
        {"type": "conversation.response.done"},
    ],
    "fragments": lambda texts: iter([text for text in texts if text is not None]),
    "fragments in a list": lambda texts: [text for text in texts if text is not None],
}


def _openai(texts: Texts) -> Any:
    types = pytest.importorskip("openai.types.responses")
    parts = [{"type": "output_text", "text": text or "", "annotations": []} for text in texts]
    return types.Response.model_construct(**_response([types.ResponseOutputMessage.model_validate(_item(parts))]))


def _openai_stream(texts: Texts) -> Any:
    types = pytest.importorskip("openai.types.chat")
    about = {"id": "r", "object": "chat.completion.chunk", "created": 0, "model": "m"}
    return iter([types.ChatCompletionChunk.model_construct(**about, **piece) for piece in [*_deltas(texts), {"choices": [_END]}]])


def _anthropic(texts: Texts) -> Any:
    types = pytest.importorskip("anthropic.types")
    blocks = [types.TextBlock.model_construct(type="text", text=text or "") for text in texts]
    about = {"id": "r", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn"}
    return types.Message.model_construct(content=blocks, **about)


def _genai(texts: Texts) -> Any:
    return pytest.importorskip("google.genai.types").GenerateContentResponse.model_validate(
        _candidates(_bare(texts, "thought_signature"))
    )


def _genai_stream(texts: Texts) -> Any:
    types = pytest.importorskip("google.genai.types")
    return iter([types.GenerateContentResponse.model_validate(piece) for piece in STREAMS["gemini"](texts)])


def _ollama_stream(texts: Texts) -> Any:
    types = pytest.importorskip("ollama")
    return iter([types.ChatResponse.model_validate({"model": "m", **piece}) for piece in STREAMS["ollama"](texts)])


LIBRARIES: dict[str, Envelope] = {
    "openai": _openai,
    "openai, stream": _openai_stream,
    "anthropic": _anthropic,
    "genai": _genai,
    "genai, stream": _genai_stream,
    "ollama, stream": _ollama_stream,
}


def lines(envelope: Envelope) -> Envelope:
    """Return the envelope of a stream as server-sent events in one text."""
    return lambda texts: "".join(f"data: {json.dumps(piece)}\n\n" for piece in envelope(texts)) + "data: [DONE]\n\n"


ENVELOPES: dict[str, Envelope] = {
    **{f"object: {name}": envelope for name, envelope in OBJECTS.items()},
    **{f"stream: {name}": envelope for name, envelope in STREAMS.items()},
    **{f"events: {name}": lines(envelope) for name, envelope in STREAMS.items() if not name.startswith("fragments")},
    **{f"library: {name}": envelope for name, envelope in LIBRARIES.items()},
}
