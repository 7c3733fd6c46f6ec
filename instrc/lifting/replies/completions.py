"""Read answers that are a text and the reason for its end: of servers that complete texts, and of clouds around them.

Shapes are those of Hugging Face's TGI, llama.cpp's `/completion`, SGLang, KoboldCpp, LM Studio, Aleph Alpha, Llama, Titan, Claude
and Mistral on Bedrock, watsonx, Vertex' `predict`, Cohere's first API, Cloudflare, Replicate and the results of CrewAI, as their
documentation is known to show them; TGI's and watsonx' were looked up 2026-11-22.
"""

from __future__ import annotations

from typing import NamedTuple

from instrc.jsonvalue import Json, JsonObject, listing, mapping
from instrc.lifting.replies.parts import content
from instrc.lifting.replies.reply import RawReply, first, stop_reply


class _Shape(NamedTuple):
    """An object with a text."""

    text: str
    beside: frozenset[str]
    """Members of which it has one; it has any if there are none."""
    reason: str = ""


_SHAPES = (
    _Shape("generated_text", frozenset(), "stop_reason"),
    _Shape("generation", frozenset({"stop_reason", "prompt_token_count"}), "stop_reason"),
    _Shape("outputText", frozenset({"completionReason", "tokenCount"}), "completionReason"),
    _Shape("completion", frozenset({"stop_reason"}), "stop_reason"),
    _Shape("content", frozenset({"stop_type", "tokens_predicted"}), "stop_type"),
    _Shape("text", frozenset({"generation_id"}), "finish_reason"),
    _Shape("text", frozenset({"meta_info"})),
    _Shape("content", frozenset({"stats"})),
    _Shape("raw", frozenset({"tasks_output", "json_dict"})),
    _Shape("response", frozenset({"usage", "tool_calls"})),
)
_ONE_OF_MANY = ("results", "predictions", "outputs", "completions")
"""Members with a list of such objects, or of texts."""
_OF_ONE = frozenset({"text", "content", "completion", "stop_reason", "finish_reason"})
"""Members of such an object, where there is nothing else in it."""


def completion(answer: JsonObject) -> RawReply | None:
    """Return what an object with a text holds; `None` if it is not one."""
    for key in _ONE_OF_MANY:
        first = next(iter(listing(answer.get(key))), None)
        if isinstance(first, str) and key == "predictions":
            return content(first)
        if isinstance(first, dict) and (found := _of_shape(first, several=True)) is not None:
            return found
    if answer.get("status") == "succeeded" and (pieces := _texts(answer.get("output"))):
        return content("".join(pieces))
    return _of_shape(answer, several=False)


def _of_shape(answer: JsonObject, *, several: bool) -> RawReply | None:
    if several and answer.keys() <= _OF_ONE:
        text = first(answer, "text", "content", "completion")
        return stop_reply(first(answer, "stop_reason", "finish_reason")) | content(text) if isinstance(text, str) else None
    for shape in _SHAPES:
        text = answer.get(shape.text)
        if isinstance(text, str) and (not shape.beside or shape.beside & answer.keys()) and not listing(answer.get("tool_calls")):
            reason = answer.get(shape.reason) or _reason_beside(answer)
            return stop_reply(reason) | content(text)
    return None


def _reason_beside(answer: JsonObject) -> Json:
    """Return the reason for the end from what TGI, SGLang or LM Studio tell about an answer."""
    kind = mapping(answer.get("meta_info")).get("finish_reason")
    return (
        mapping(answer.get("details")).get("finish_reason")
        or mapping(kind).get("type")
        or mapping(answer.get("stats")).get("stopReason")
    )


def _texts(items: Json) -> list[str]:
    found = [item for item in listing(items) if isinstance(item, str)]
    return found if len(found) == len(listing(items)) else []
