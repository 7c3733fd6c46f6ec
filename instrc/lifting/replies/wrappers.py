"""Take off what lies around a response: lines of batches, bodies of HTTP, the results and items of frameworks.

Shapes are those of openai 3.54, anthropic 2.12 and google-genai 3.4 (lines of batches), boto3 1.44 (`invoke_model`),
langchain-core 1.7, langgraph 1.2, openai-agents 0.20, haystack-ai 3.4 and dspy 3.4, as their libraries declare them, and of
LangServe, as its documentation is known to show it; those of clouds are in `clouds`.
"""

from __future__ import annotations

from collections.abc import Callable

from instrc.jsontext import loads
from instrc.jsonvalue import Json, JsonObject, listing, mapping
from instrc.lifting.replies.clouds import CLOUDS

_LEVELS = 6
"""A message in a generation in a list of lists in a result, and some to spare."""


def unwrapped(answer: JsonObject) -> JsonObject:
    """Return the response that an object is wrapped around; the object itself if it is no wrapper."""
    for _ in range(_LEVELS):
        inner = next((found for take in _WRAPPERS if (found := take(answer)) is not None), None)
        if inner is None:
            break
        answer = inner
    return answer


def _of_batch(answer: JsonObject) -> JsonObject | None:
    """Return what a line of a batch holds: of OpenAI and Mistral, of Anthropic, of Gemini."""
    if not answer.keys() & {"custom_id", "key"}:
        return None
    response, result = answer.get("response"), answer.get("result")
    if isinstance(response, dict):
        return body if isinstance(body := response.get("body"), dict) else response
    if not isinstance(result, dict) or not isinstance(kind := result.get("type"), str):
        return None
    if isinstance(said := result.get("message"), dict):
        return said
    error = mapping(result.get("error"))
    return {"error": mapping(error.get("error")) or error or {"message": kind}}


def _of_body(answer: JsonObject) -> JsonObject | None:
    """Return the body that Bedrock's `invoke_model` gives as a text."""
    body = answer.get("body")
    if not isinstance(body, str) or not answer.keys() & {"ResponseMetadata", "contentType"}:
        return None
    try:
        held = loads(body)
    except (ValueError, RecursionError):
        return None
    return held if isinstance(held, dict) else None


def _of_generations(answer: JsonObject) -> JsonObject | None:
    """Return the first message of a `ChatResult` or `LLMResult` of LangChain."""
    first: Json = answer.get("generations")
    for _ in range(2):  # of each prompt, of each answer to it
        first = first[0] if isinstance(first, list) and first else first
    return first if isinstance(first, dict) else None


def _of_generation(answer: JsonObject) -> JsonObject | None:
    said = answer.get("message")
    return said if isinstance(said, dict) and "text" in answer and "generation_info" in answer else None


def _of_item(answer: JsonObject) -> JsonObject | None:
    """Return what an item of a run of the OpenAI Agents SDK is made of."""
    kind, raw = answer.get("type"), answer.get("raw_item")
    return raw if isinstance(raw, dict) and isinstance(kind, str) and kind.endswith("_item") else None


def _of_replies(answer: JsonObject) -> JsonObject | None:
    """Return the first reply of a generator of Haystack."""
    first = next(iter(listing(answer.get("replies"))), None)
    return first if isinstance(first, dict) and answer.keys() <= {"replies", "meta"} else None


def _of_prediction(answer: JsonObject) -> JsonObject | None:
    """Return the calls that are the only output of a prediction of DSPy."""
    held = next(iter(answer.values())) if len(answer) == 1 else None
    return held if isinstance(held, dict) and held.keys() == {"tool_calls"} and "tool_calls" not in answer else None


def _of_served_chain(answer: JsonObject) -> JsonObject | None:
    """Return what LangServe sends of a chain."""
    output = answer.get("output")
    return (
        output if isinstance(output, dict) and answer.keys() in ({"output", "metadata"}, {"output", "callback_events"}) else None
    )


def _of_node(answer: JsonObject) -> JsonObject | None:
    """Return what the only node of an update of a graph of LangGraph brings."""
    held = next(iter(answer.values())) if len(answer) == 1 else None
    told = isinstance(held, dict) and held.keys() == {"messages"} and isinstance(held["messages"], list)
    return held if isinstance(held, dict) and told else None


_WRAPPERS: tuple[Callable[[JsonObject], JsonObject | None], ...] = (
    _of_batch,
    _of_body,
    *CLOUDS,
    _of_generations,
    _of_generation,
    _of_item,
    _of_replies,
    _of_prediction,
    _of_served_chain,
    _of_node,
)
