"""Find calls, texts and refusals in the envelopes of providers and frameworks."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from instrc.providers.lifting.parts import (
    candidate_of,
    choice_of,
    contain_call,
    content,
    is_candidate,
    is_choice,
    is_part,
    message,
    part,
)
from instrc.providers.lifting.reply import RawCall, RawReply, first, join_replies, raw_call, stop_reply, text_of
from instrc.text.jsontext import loads
from instrc.text.jsonvalue import Json, JsonObject, listing, mapping


def is_ended(answer: Json) -> bool:
    """Return whether an event carries a complete item."""
    return isinstance(answer, dict) and isinstance(answer.get("type"), str) and _event(answer) is not None


def _event(answer: JsonObject) -> RawReply | None:
    """Read one event of OpenAI's Responses or Realtime that ends a call, an item or a response."""
    match answer.get("type"):
        case "response.function_call_arguments.done":
            return RawReply((raw_call(answer.get("name"), answer.get("arguments"), first(answer, "call_id", "item_id")),))
        case "response.output_item.done" | "conversation.item.created" | "conversation.item.done":
            return part(item) if isinstance(item := answer.get("item"), dict) else None
        case _:
            return None


def _langchain(answer: JsonObject) -> RawReply | None:
    """Read an `AIMessage` of LangChain, alone or beside its parsed value."""
    if answer.keys() == {"raw", "parsed", "parsing_error"} and isinstance(raw := answer["raw"], dict):
        answer = raw  # `with_structured_output(…, include_raw=True)`
    if all(answer.get("type") != kind for kind in ("ai", "AIMessageChunk")) or "content" not in answer:
        return None
    beside = answer.get("additional_kwargs")
    if not answer.get("tool_calls") and not answer.get("invalid_tool_calls") and isinstance(beside, dict):
        answer = {**answer, "tool_calls": beside.get("tool_calls"), "function_call": beside.get("function_call")}
    result = message(answer)
    if result.refusal is None and isinstance(beside, dict) and isinstance(refusal := beside.get("refusal"), str) and refusal:
        result |= RawReply(refusal=refusal)
    unread = answer.get("invalid_tool_calls")
    for call in unread if isinstance(unread, list) else ():
        if isinstance(call, dict):
            known = raw_call(call.get("name"), call.get("args"), call.get("id"))
            if known.unreadable is None and not isinstance(known.arguments, dict):
                known = RawCall(known.name, call.get("args"), known.id, str(call.get("error") or "it is not JSON"))
            result |= RawReply((known,))
    return result | _end_of_langchain(mapping(answer.get("response_metadata")))


def _pydantic_ai(answer: JsonObject) -> RawReply | None:
    """Read a `ModelResponse` of pydantic-ai."""
    if answer.get("kind") != "response" or not isinstance(parts := answer.get("parts"), list):
        return None
    return content(parts) | stop_reply(answer.get("finish_reason"))


def _deferred(answer: JsonObject) -> RawReply | None:
    """Read `DeferredToolRequests` of pydantic-ai: calls that run elsewhere, or that a person has to approve."""
    calls, approvals = answer.get("calls"), answer.get("approvals")
    if "metadata" not in answer or not isinstance(calls, list) or not isinstance(approvals, list):
        return None
    parts = [*calls, *approvals]
    requested = all(isinstance(item, dict) and item.get("part_kind") == "tool-call" for item in parts)
    return content(parts) if parts and requested else None


def _bedrock(answer: JsonObject) -> RawReply | None:
    """Read an answer of Bedrock Converse."""
    output = answer.get("output")
    if not isinstance(output, dict) or not isinstance(said := output.get("message"), dict):
        return None
    return stop_reply(answer.get("stopReason")) | message(said)


def _live(answer: JsonObject) -> RawReply | None:
    """Read a message of Gemini's Live API: calls, or the model's turn."""
    calls = first(answer, "toolCall", "tool_call")
    if isinstance(calls, dict) and isinstance(listed := first(calls, "functionCalls", "function_calls"), list):
        return join_replies(part({"functionCall": call}) for call in listed if isinstance(call, dict))
    said = first(answer, "serverContent", "server_content")
    if not isinstance(said, dict):
        return None
    return message(first(said, "modelTurn", "model_turn"))


def _end_of_langchain(about: JsonObject) -> RawReply:
    """Return the stop reason from LangChain's metadata of the response: in the words of most, of Responses, of Gemini."""
    result = join_replies(stop_reply(about.get(key)) for key in ("finish_reason", "stop_reason", "stopReason", "done_reason"))
    result |= stop_reply(mapping(about.get("incomplete_details")).get("reason"))
    if isinstance(blocked := mapping(about.get("prompt_feedback")).get("block_reason"), str):
        result |= RawReply(refusal=blocked)
    if about.get("status") == "failed":
        result |= RawReply(failure=text_of(mapping(about.get("error")).get("message")) or "failed")
    return result


_LEVELS = 2
"""The body of `invoke_model` in a line of a batch."""


def unwrapped(answer: JsonObject) -> JsonObject:
    """Return the response that an object is wrapped around; the object itself if it is no wrapper."""
    for _ in range(_LEVELS):
        inner = next((result for take in _WRAPPERS if (result := take(answer)) is not None), None)
        if inner is None:
            break
        answer = inner
    return answer


def _of_batch(answer: JsonObject) -> JsonObject | None:
    """Return the content of a line of a batch: of OpenAI and Mistral, of Anthropic, of Gemini."""
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
    """Return the body that Bedrock's `invoke_model` returns as a text."""
    body = answer.get("body")
    if not isinstance(body, str) or not answer.keys() & {"ResponseMetadata", "contentType"}:
        return None
    try:
        held = loads(body)
    except (ValueError, RecursionError):
        return None
    return held if isinstance(held, dict) else None


_WRAPPERS: tuple[Callable[[JsonObject], JsonObject | None], ...] = (
    _of_batch,
    _of_body,
)
_OF_A_RESULT = frozenset({"structuredContent", "isError", "structured_content", "is_error"})
_RESULT = _OF_A_RESULT | {"content", "_meta", "meta", "resultType", "result_type"}
"""Members of an MCP tool result."""
_PARTS_OF_MCP = frozenset({"text", "image", "audio", "resource", "resource_link"})


def response(answer: JsonObject) -> RawReply | None:
    """Return the content of a whole response, or of its message, or `None` if it is neither."""
    answer = unwrapped(answer)
    return next((result for reader in _READERS if (result := reader(answer)) is not None), None)


def reported_error(answer: JsonObject) -> RawReply | None:
    """Return the error that stands in place of an answer or beside it; `None` if there is none.

    Below `error` by most, below `Error` in the `response` of an error of boto3,
    as `object: error` by vLLM and Mistral, with a `status` by GigaChat, as `detail` where FastAPI refuses.
    """
    error = answer.get("Error" if "ResponseMetadata" in answer else "error")
    if isinstance(error, str) and not answer.keys() & {"choices", "message", "output"}:
        return RawReply(failure=error)
    choices = listing(answer.get("choices"))
    if not error and choices:
        error = mapping(choices[0]).get("error")  # OpenRouter reports there what failed while the answer was written
    if isinstance(error, dict) and (error or not (choices or answer.get("candidates"))):
        beside = join_replies(part(item) for item in listing(answer.get("output")) if isinstance(item, dict))
        said = first(error, "message", "Message")
        return RawReply(failure=said if isinstance(said, str) and said else text_of(error)) | beside
    if answer.get("object") == "error" or (_is_refused(answer.get("status")) and isinstance(answer.get("message"), str)):
        return RawReply(failure=str(answer.get("message") or "error"))
    if isinstance(answer.get("message"), str) and answer.keys() & {"__type"}:  # AWS
        return RawReply(failure=str(answer["message"]))
    if answer.keys() == {"detail"}:
        return RawReply(failure=text_of(answer["detail"]) or "error")
    return None


def _choices(answer: JsonObject) -> RawReply | None:
    """Read Chat Completions, of OpenAI and of all who speak as it does."""
    choices = answer.get("choices")
    if not isinstance(choices, list):
        return None
    result = [choice for choice in choices if isinstance(choice, dict)]
    if len(result) < len(choices) or (result and "delta" in result[0] and "message" not in result[0]):
        return None  # a piece of a stream is joined first
    return choice_of(result[0]) if result else RawReply()


def _choice(answer: JsonObject) -> RawReply | None:
    """Read one choice of Chat Completions alone."""
    return choice_of(answer) if is_choice(answer) else None


def _candidates(answer: JsonObject) -> RawReply | None:
    """Read Gemini's candidates, and the reason where there are none."""
    candidates, feedback = answer.get("candidates"), first(answer, "promptFeedback", "prompt_feedback")
    if not isinstance(candidates, list) and not isinstance(feedback, dict):
        return None
    result = RawReply()
    for candidate in (candidates or ())[:1] if isinstance(candidates, list) else ():
        if isinstance(candidate, dict):
            result |= candidate_of(candidate)
    if isinstance(feedback, dict) and (reason := first(feedback, "blockReason", "block_reason")):
        result |= RawReply(refusal=str(reason).rsplit(".", 1)[-1])
    return result


def _candidate(answer: JsonObject) -> RawReply | None:
    """Read one candidate of Gemini alone."""
    return candidate_of(answer) if is_candidate(answer) else None


def _output(answer: JsonObject) -> RawReply | None:
    """Read OpenAI's Responses, and the conversations of Mistral and interactions of Gemini, which have `outputs`."""
    output = answer.get("output", answer.get("outputs"))
    if not isinstance(output, list):
        return None
    typed = "outputs" in answer and output != [] and all(isinstance(item, dict) and "type" in item for item in output)
    is_response = any(answer.get("object") == kind for kind in ("response", "realtime.response"))
    if not is_response and not typed and not all(map(is_part, output)):
        return None
    result = join_replies(part(item) for item in output if isinstance(item, dict))
    details = first(answer, "incomplete_details", "status_details")
    result |= stop_reply(details.get("reason") if isinstance(details, dict) else None) | stop_reply(answer.get("status"))
    unfinished = any(answer.get("status") == status for status in ("incomplete", "in_progress", "queued"))
    return result | RawReply(cut=unfinished and result.refusal is None)


def _mcp(answer: JsonObject) -> RawReply | None:
    """Read a request to call a tool, and the response of a server; Python's library writes its members with `_`."""
    if answer.get("method") == "tools/call" and isinstance(params := answer.get("params"), dict):
        return RawReply((raw_call(params.get("name"), params.get("arguments"), answer.get("id")),))
    result = answer.get("result") if "jsonrpc" in answer else answer
    if not isinstance(result, dict) or not (
        (result.keys() & _OF_A_RESULT and result.keys() <= _RESULT)
        or "structuredContent" in result
        or (result is not answer and isinstance(result.get("content"), list))
        or (result.keys() <= _RESULT and _are_of_mcp(result.get("content")))
    ):
        return None
    structured = result.get("structuredContent", result.get("structured_content"))
    if result.get("isError", result.get("is_error")) is True:
        return RawReply(failure="\n".join(content(result.get("content")).texts) or "isError")
    if structured is not None or "structuredContent" in result:
        return RawReply((RawCall(None, structured),), result=True)
    return replace(content(result.get("content")), result=True)


def _elicited(answer: JsonObject) -> RawReply | None:
    """Read a user's answer to a question of an MCP server."""
    action = answer.get("action")
    if not isinstance(action, str) or not answer.keys() <= {"action", "content", "_meta", "meta", "resultType", "result_type"}:
        return None
    if action == "accept" and isinstance(answer.get("content"), dict):
        return RawReply((RawCall(None, answer["content"]),))
    return RawReply(refusal=action) if action in {"decline", "cancel"} else None


def _ollama(answer: JsonObject) -> RawReply | None:
    """Read `/api/chat` and `/api/generate`."""
    end = stop_reply(answer.get("done_reason")) | RawReply(cut=answer.get("done") is False)
    if isinstance(said := answer.get("message"), dict) and ("role" in said or "tool_calls" in said):
        return end | message(said)
    if isinstance(text := answer.get("response"), str) and "done" in answer:
        return end | content(text)
    return None


def _llama_cpp(answer: JsonObject) -> RawReply | None:
    """Read `/completion` of llama.cpp."""
    text = answer.get("content")
    if not isinstance(text, str) or answer.keys().isdisjoint({"stop_type", "tokens_predicted"}):
        return None
    return stop_reply(answer.get("stop_type")) | content(text)


def _messages(answer: JsonObject) -> RawReply | None:
    """Read several messages in a list, as GigaChat's second contract and the states of agents have them."""
    listed = answer.get("messages")
    said = [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []
    if not isinstance(listed, list) or not listed or len(said) < len(listed):
        return None
    return stop_reply(answer.get("finish_reason")) | last_words(said)


def _message(answer: JsonObject) -> RawReply | None:
    """Read one message: Anthropic's response is one, so is the return value of a smolagents model."""
    if (
        isinstance(first(answer, "tool_calls", "toolCalls"), list)
        or "stop_reason" in answer
        or answer.get("role") in ("assistant", "model")
    ):
        end = stop_reply(first(answer, "stop_reason", "stopReason", "finishReason"))
        return end | message(answer)
    if isinstance(parts := answer.get("parts"), list) and all(isinstance(item, dict) for item in parts):
        return message(answer)
    return message(answer) if contain_call(answer.get("content")) else None  # its role was left out


_READERS: tuple[Callable[[JsonObject], RawReply | None], ...] = (
    reported_error,
    _choices,
    _choice,
    _candidates,
    _candidate,
    _langchain,
    _pydantic_ai,
    _deferred,
    _bedrock,
    _live,
    _event,
    _output,
    _mcp,
    _elicited,
    _ollama,
    _messages,
    _llama_cpp,
    _message,
)


def _is_refused(status: Json) -> bool:
    """Return whether a number is an HTTP status of a refusal."""
    return isinstance(status, int) and 400 <= status < 600


def _are_of_mcp(parts: Json) -> bool:
    """Return whether a value is a list of parts as a server of MCP returns them."""
    return isinstance(parts, list) and bool(parts) and all(mapping(part).get("type") in _PARTS_OF_MCP for part in parts)


_OF_OTHERS = frozenset({"user", "system", "developer", "tool", "function", "human", "remove", "request"})


def last_words(messages: list[JsonObject]) -> RawReply:
    """Return the last turn of the model in a conversation."""
    last: list[JsonObject] = []
    for item in messages:
        speaker = item.get("role") or item.get("kind") or item.get("type")
        last = [] if isinstance(speaker, str) and speaker in _OF_OTHERS else [*last, item]
    return join_replies(stop_reply(item.get("finish_reason")) | (response(item) or message(item)) for item in last)
