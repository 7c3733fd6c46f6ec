"""Read what frameworks, and the rarer envelopes of providers, make of an answer: one small reader each."""

from __future__ import annotations

from collections.abc import Callable

from instrc.jsonvalue import Json, JsonObject, mapping
from instrc.lifting.replies.arguments import raw_call, text_of
from instrc.lifting.replies.parts import content, message, part
from instrc.lifting.replies.reply import RawCall, RawReply, first, join_replies, stop_reply


def _langchain(answer: JsonObject) -> RawReply | None:
    """Read an `AIMessage` of LangChain, as its model, as it is serialised or stored, or beside what was parsed of it."""
    if answer.keys() == {"raw", "parsed", "parsing_error"} and isinstance(raw := answer["raw"], dict):
        answer = raw  # `with_structured_output(…, include_raw=True)`
    if answer.keys() == {"type", "data"} and isinstance(data := answer["data"], dict):
        answer = {**data, "type": answer["type"]}  # `message_to_dict`
    if answer.get("lc") == 1 and isinstance(kwargs := answer.get("kwargs"), dict):
        answer = {"type": "ai", **kwargs}
    if all(answer.get("type") != kind for kind in ("ai", "AIMessageChunk")) or "content" not in answer:
        return None
    beside = answer.get("additional_kwargs")
    if not answer.get("tool_calls") and not answer.get("invalid_tool_calls") and isinstance(beside, dict):
        answer = {**answer, "tool_calls": beside.get("tool_calls"), "function_call": beside.get("function_call")}
    found = message(answer)
    if found.refusal is None and isinstance(beside, dict) and isinstance(refusal := beside.get("refusal"), str) and refusal:
        found |= RawReply(refusal=refusal)
    unread = answer.get("invalid_tool_calls")
    for call in unread if isinstance(unread, list) else ():
        if isinstance(call, dict):
            known = raw_call(call.get("name"), call.get("args"), call.get("id"))
            if known.unreadable is None and not isinstance(known.arguments, dict):
                known = RawCall(known.name, call.get("args"), known.id, str(call.get("error") or "it is not JSON"))
            found |= RawReply((known,))
    return found | _end_of_langchain(mapping(answer.get("response_metadata")))


def _end_of_langchain(about: JsonObject) -> RawReply:
    """Return why an answer ended, from what LangChain keeps of the response: in the words of most, of Responses, of Gemini."""
    found = join_replies(stop_reply(about.get(key)) for key in ("finish_reason", "stop_reason", "stopReason", "done_reason"))
    found |= stop_reply(mapping(about.get("incomplete_details")).get("reason"))
    if isinstance(blocked := mapping(about.get("prompt_feedback")).get("block_reason"), str):
        found |= RawReply(refusal=blocked)
    if about.get("status") == "failed":
        found |= RawReply(failure=text_of(mapping(about.get("error")).get("message")) or "failed")
    return found


def _pydantic_ai(answer: JsonObject) -> RawReply | None:
    """Read a `ModelResponse` of pydantic-ai."""
    if answer.get("kind") != "response" or not isinstance(parts := answer.get("parts"), list):
        return None
    return content(parts) | stop_reply(answer.get("finish_reason"))


def _deferred(answer: JsonObject) -> RawReply | None:
    """Read `DeferredToolRequests` of pydantic-ai: calls that are carried out elsewhere, or that somebody has to approve."""
    calls, approvals = answer.get("calls"), answer.get("approvals")
    if "metadata" not in answer or not isinstance(calls, list) or not isinstance(approvals, list):
        return None
    parts = [*calls, *approvals]
    requested = all(isinstance(each, dict) and each.get("part_kind") == "tool-call" for each in parts)
    return content(parts) if parts and requested else None


def _llama_index(answer: JsonObject) -> RawReply | None:
    """Read a `ChatResponse` of LlamaIndex, or its `ChatMessage`: calls are blocks, or in `additional_kwargs` (older versions)."""
    said = answer.get("message", answer)
    if not isinstance(said, dict) or not isinstance(said.get("blocks"), list):
        return None
    found = content(said["blocks"])
    beside = said.get("additional_kwargs")
    if not found.calls and isinstance(beside, dict):
        found |= message({"tool_calls": beside.get("tool_calls")})
    return found | _end_of_raw(answer.get("raw"))


def _llama_index_completion(answer: dict[str, Json]) -> RawReply | None:
    """Read a `CompletionResponse` of LlamaIndex."""
    text = answer.get("text")
    whole = {"additional_kwargs", "raw", "delta"} <= answer.keys() or answer.keys() == {"text", "additional_kwargs"}
    if not isinstance(text, str) or not whole:
        return None
    return RawReply(texts=(text,)) | _end_of_raw(answer.get("raw"))


def _end_of_raw(raw: Json) -> RawReply:
    """Return why an answer ended, from the provider's own form of it, which LlamaIndex keeps."""
    if not isinstance(raw, dict):
        return RawReply()
    choices = raw.get("choices")
    holder = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else raw
    said = holder.get("message")
    refusal = said.get("refusal") if isinstance(said, dict) else None
    end = join_replies(stop_reply(holder.get(key)) for key in ("finish_reason", "stop_reason", "done_reason"))
    return RawReply(refusal=refusal) | end if isinstance(refusal, str) and refusal else end


def _agent_action(answer: JsonObject) -> RawReply | None:
    """Read an `AgentAction` of LangChain."""
    if not isinstance(answer.get("tool"), str) or "tool_input" not in answer:
        return None
    return RawReply((raw_call(answer["tool"], answer["tool_input"]),))


def _haystack(answer: JsonObject) -> RawReply | None:
    """Read a `ChatMessage` of Haystack, as an object or as it is stored."""
    parts, about = answer.get("_content", answer.get("content")), answer.get("_meta", answer.get("meta"))
    if first(answer, "_role", "role") != "assistant" or not isinstance(parts, list) or not isinstance(about, dict):
        return None
    return content(parts) | stop_reply(about.get("finish_reason"))


def _autogen(answer: JsonObject) -> RawReply | None:
    """Read a `CreateResult` or an `AssistantMessage` of AutoGen."""
    if not {"content", "finish_reason", "cached"} <= answer.keys() and answer.get("type") != "AssistantMessage":
        return None
    return stop_reply(answer.get("finish_reason")) | content(answer.get("content"))


def _bedrock(answer: JsonObject) -> RawReply | None:
    """Read an answer of Bedrock Converse."""
    output = answer.get("output")
    if not isinstance(output, dict) or not isinstance(said := output.get("message"), dict):
        return None
    return stop_reply(answer.get("stopReason")) | message(said)


def _assistants(answer: JsonObject) -> RawReply | None:
    """Read a run of OpenAI's Assistants: the calls it waits for, or why it ended."""
    action = answer.get("required_action", answer if "submit_tool_outputs" in answer else None)
    if answer.get("object") == "thread.run" and not isinstance(action, dict):
        error, details = answer.get("last_error"), answer.get("incomplete_details")
        failure = str(error.get("message") or error.get("code") or "error") if isinstance(error, dict) else None
        end = stop_reply(details.get("reason") if isinstance(details, dict) else None) | stop_reply(answer.get("status"))
        return RawReply(failure=failure) | end
    outputs = action.get("submit_tool_outputs") if isinstance(action, dict) else None
    return message({"tool_calls": outputs.get("tool_calls")}) if isinstance(outputs, dict) else None


def _live(answer: JsonObject) -> RawReply | None:
    """Read a message of Gemini's Live API: calls, or what the model says."""
    calls = first(answer, "toolCall", "tool_call")
    if isinstance(calls, dict) and isinstance(listed := first(calls, "functionCalls", "function_calls"), list):
        return join_replies(part({"functionCall": call}) for call in listed if isinstance(call, dict))
    said = first(answer, "serverContent", "server_content")
    if not isinstance(said, dict):
        return None
    return message(first(said, "modelTurn", "model_turn"))


def _event(answer: JsonObject) -> RawReply | None:
    """Read one event of OpenAI's Responses or Realtime that ends a call, an item or a response."""
    match answer.get("type"):
        case "response.function_call_arguments.done":
            return RawReply((raw_call(answer.get("name"), answer.get("arguments"), first(answer, "call_id", "item_id")),))
        case "response.output_item.done" | "conversation.item.created" | "conversation.item.done":
            return part(item) if isinstance(item := answer.get("item"), dict) else None
        case _:
            return None


def is_ended(answer: Json) -> bool:
    """Say whether an event carries something whole."""
    return isinstance(answer, dict) and isinstance(answer.get("type"), str) and _event(answer) is not None


READERS: tuple[Callable[[JsonObject], RawReply | None], ...] = (
    _langchain,
    _pydantic_ai,
    _deferred,
    _llama_index,
    _llama_index_completion,
    _agent_action,
    _haystack,
    _autogen,
    _bedrock,
    _assistants,
    _live,
    _event,
)
