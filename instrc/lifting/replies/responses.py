"""Find calls, texts and refusals in the responses of providers: one small reader an envelope.

Shapes are those that `parts` names: whole responses, their messages.  Of several choices or candidates the first is read.
"""

from __future__ import annotations

from collections.abc import Callable

from instrc.jsonvalue import Json, JsonObject
from instrc.lifting.replies.arguments import raw_call, text_of
from instrc.lifting.replies.completions import completion
from instrc.lifting.replies.frameworks import READERS as OF_FRAMEWORKS
from instrc.lifting.replies.parts import contain_call, content, is_part, message, part
from instrc.lifting.replies.reply import RawCall, RawReply, first, join_replies, stop_reply
from instrc.lifting.replies.wrappers import unwrapped

_OF_A_RESULT = frozenset({"structuredContent", "isError", "structured_content", "is_error"})
_RESULT = _OF_A_RESULT | {"content", "_meta", "meta", "resultType", "result_type"}
"""Members of what an MCP server returns for a call."""


def response(answer: JsonObject) -> RawReply | None:
    """Return what a whole response, or its message, holds; `None` if it is neither."""
    answer = unwrapped(answer)
    return next((found for reader in _READERS if (found := reader(answer)) is not None), None)


def _error(answer: JsonObject) -> RawReply | None:
    """Read what is sent instead of an answer.

    Below `error` by most, below `Error` in the `response` of an error of boto3,
    as `object: error` by vLLM and Mistral, with a `status` by GigaChat, as `detail` where FastAPI refuses.
    """
    error = answer.get("Error" if "ResponseMetadata" in answer else "error")
    if isinstance(error, str) and not answer.keys() & {"choices", "message", "output"}:
        return RawReply(failure=error)
    if isinstance(error, dict) and not answer.keys() & {"choices", "candidates"}:
        output = answer.get("output")
        beside = join_replies(part(item) for item in (output if isinstance(output, list) else ()) if isinstance(item, dict))
        said = first(error, "message", "Message")
        return RawReply(failure=said if isinstance(said, str) and said else text_of(error)) | beside
    if answer.get("object") == "error" or (_is_refused(answer.get("status")) and isinstance(answer.get("message"), str)):
        return RawReply(failure=str(answer.get("message") or "error"))
    if isinstance(answer.get("message"), str) and answer.keys() & {"__type"}:  # AWS
        return RawReply(failure=str(answer["message"]))
    if answer.keys() == {"detail"}:
        return RawReply(failure=text_of(answer["detail"]) or "error")
    return None


def _is_refused(status: Json) -> bool:
    """Say whether a number is a status of HTTP that says that nothing was done."""
    return isinstance(status, int) and 400 <= status < 600


def is_choice(item: Json) -> bool:
    """Say whether an object is one choice of Chat Completions."""
    return isinstance(item, dict) and isinstance(item.get("message"), dict) and "finish_reason" in item


def _choices(answer: JsonObject) -> RawReply | None:
    """Read Chat Completions, of OpenAI and of all who speak as it does."""
    choices = answer.get("choices")
    if not isinstance(choices, list):
        return None
    found = [choice for choice in choices if isinstance(choice, dict)]
    if len(found) < len(choices) or (found and "delta" in found[0] and "message" not in found[0]):
        return None  # a piece of a stream is joined first
    return choice_of(found[0]) if found else RawReply()


def _choice(answer: JsonObject) -> RawReply | None:
    """Read one choice of Chat Completions alone."""
    return choice_of(answer) if is_choice(answer) else None


def choice_of(choice: JsonObject) -> RawReply:
    """Return what one choice holds."""
    found = stop_reply(choice.get("finish_reason"))
    if isinstance(said := choice.get("message"), dict):
        return found | message(said)
    text = choice.get("text")  # plain completions
    return found | RawReply(texts=(text,)) if isinstance(text, str) else found


def _candidates(answer: JsonObject) -> RawReply | None:
    """Read Gemini's answers, and its word that there is none."""
    candidates, feedback = answer.get("candidates"), first(answer, "promptFeedback", "prompt_feedback")
    if not isinstance(candidates, list) and not isinstance(feedback, dict):
        return None
    found = RawReply()
    for candidate in (candidates or ())[:1] if isinstance(candidates, list) else ():
        if isinstance(candidate, dict):
            found |= candidate_of(candidate)
    if isinstance(feedback, dict) and (reason := first(feedback, "blockReason", "block_reason")):
        found |= RawReply(refusal=str(reason).rsplit(".", 1)[-1])
    return found


def is_candidate(item: Json) -> bool:
    """Say whether an object is one candidate of Gemini."""
    return isinstance(item, dict) and isinstance(said := item.get("content"), dict) and isinstance(said.get("parts"), list)


def candidate_of(candidate: JsonObject) -> RawReply:
    """Return what one candidate holds."""
    why = first(candidate, "finishMessage", "finish_message")
    end = stop_reply(first(candidate, "finishReason", "finish_reason"))
    if end.malformed and isinstance(why, str):
        end = RawReply(malformed=f"{end.malformed}: {why}")
    return end | message(candidate.get("content") or {})


def _candidate(answer: JsonObject) -> RawReply | None:
    """Read one candidate of Gemini alone."""
    return candidate_of(answer) if is_candidate(answer) else None


def _output(answer: JsonObject) -> RawReply | None:
    """Read OpenAI's Responses, and the conversations of Mistral and interactions of Gemini, which say `outputs`."""
    output = answer.get("output", answer.get("outputs"))
    if not isinstance(output, list):
        return None
    typed = "outputs" in answer and output != [] and all(isinstance(item, dict) and "type" in item for item in output)
    is_response = any(answer.get("object") == kind for kind in ("response", "realtime.response"))
    if not is_response and not typed and not all(map(is_part, output)):
        return None
    found = join_replies(part(item) for item in output if isinstance(item, dict))
    details = first(answer, "incomplete_details", "status_details")
    found |= stop_reply(details.get("reason") if isinstance(details, dict) else None) | stop_reply(answer.get("status"))
    return found | RawReply(cut=answer.get("status") == "incomplete" and found.refusal is None)


def _elicited(answer: JsonObject) -> RawReply | None:
    """Read what a user answers where a server of MCP asks."""
    action = answer.get("action")
    if not isinstance(action, str) or not answer.keys() <= {"action", "content", "_meta", "meta", "resultType", "result_type"}:
        return None
    if action == "accept" and isinstance(answer.get("content"), dict):
        return RawReply((RawCall(None, answer["content"]),))
    return RawReply(refusal=action) if action in {"decline", "cancel"} else None


def _mcp(answer: JsonObject) -> RawReply | None:
    """Read a request to call a tool, and what a server returns for one; Python's library writes its members with `_`."""
    if answer.get("method") == "tools/call" and isinstance(params := answer.get("params"), dict):
        return RawReply((raw_call(params.get("name"), params.get("arguments"), answer.get("id")),))
    result = answer.get("result") if "jsonrpc" in answer else answer
    if not isinstance(result, dict) or not (
        (result.keys() & _OF_A_RESULT and result.keys() <= _RESULT)
        or "structuredContent" in result
        or (result is not answer and isinstance(result.get("content"), list))
    ):
        return None
    structured = result.get("structuredContent", result.get("structured_content"))
    if result.get("isError", result.get("is_error")) is True:
        return RawReply(failure="\n".join(content(result.get("content")).texts) or "isError")
    if structured is not None or "structuredContent" in result:
        return RawReply((RawCall(None, structured),))
    return content(result.get("content"))


def _ollama(answer: JsonObject) -> RawReply | None:
    """Read `/api/chat` and `/api/generate`."""
    end = stop_reply(answer.get("done_reason"))
    if isinstance(said := answer.get("message"), dict) and ("role" in said or "tool_calls" in said):
        return end | message(said)
    if isinstance(text := answer.get("response"), str) and "done" in answer:
        return end | content(text)
    return None


def _messages(answer: JsonObject) -> RawReply | None:
    """Read several messages in a list, as GigaChat's second contract and the states of agents have them."""
    listed = answer.get("messages")
    said = [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []
    if not isinstance(listed, list) or not listed or len(said) < len(listed):
        return None
    return stop_reply(answer.get("finish_reason")) | last_words(said)


_OF_OTHERS = frozenset({"user", "system", "developer", "tool", "function", "human", "remove", "request"})


def is_message(item: Json) -> bool:
    """Say whether an object is one message of a conversation, whoever says it."""
    if not isinstance(item, dict) or not item.keys() & {"content", "parts", "tool_calls"}:
        return False
    return any(isinstance(item.get(key), str) for key in ("role", "kind")) or item.get("type") in _SPEAKERS


_SPEAKERS = ("human", "ai", "tool", "system", "AIMessageChunk")


def last_words(messages: list[JsonObject]) -> RawReply:
    """Return what the model says at the end of a conversation; what it said before was answered already."""
    last: list[JsonObject] = []
    for item in messages:
        speaker = item.get("role") or item.get("kind") or item.get("type")
        last = [] if isinstance(speaker, str) and speaker in _OF_OTHERS else [*last, item]
    return join_replies(stop_reply(item.get("finish_reason")) | (response(item) or message(item)) for item in last)


def _message(answer: JsonObject) -> RawReply | None:
    """Read one message: Anthropic's response is one, so is what a smolagents model returns."""
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
    _error,
    _choices,
    _choice,
    _candidates,
    _candidate,
    *OF_FRAMEWORKS,
    _output,
    _mcp,
    _elicited,
    _ollama,
    _messages,
    completion,
    _message,
)
