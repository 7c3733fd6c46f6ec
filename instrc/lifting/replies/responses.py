"""Find calls, texts and refusals in the responses of providers: one small reader an envelope.

Shapes are those of openai 3.52, anthropic 2.11, google-genai 3.4, mistralai 3.7, gigachat 0.2.3, ollama 0.6, mcp 2.3 and
smolagents 1.26, as their libraries declare them (looked up 2026-11-21): whole responses, their messages, single parts.
Of several choices or candidates the first is read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from instrc.jsonvalue import Json, dumps
from instrc.lifting.replies.arguments import parsed
from instrc.lifting.replies.reply import Found, Reply

_THINKING = frozenset({"reasoning", "thinking", "redacted_thinking"})
_CALLS = frozenset({"tool_use", "function_call", "function.call", "custom_tool_call"})
"""Types of parts that ask us to run something; `server_tool_use`, `mcp_call` and the like are run by the provider."""
_TEXTS = frozenset({"text", "output_text"})
_MESSAGES = frozenset({"message", "message.output"})
_PARTS = _THINKING | _CALLS | {"refusal", "output_text", "server_tool_use", "mcp_tool_use", "mcp_call"}
_ARGUMENTS = ("arguments", "input", "args", "parameters")
_OF_A_RESULT = frozenset({"structuredContent", "isError", "structured_content", "is_error"})
_RESULT = _OF_A_RESULT | {"content", "_meta", "meta", "resultType", "result_type"}
"""Members of what an MCP server returns for a call."""


def response(answer: dict[str, Any], reply: Reply) -> bool:
    """Take a whole response, or its message, in; `False` if it is neither."""
    return any(reader(answer, reply) for reader in _READERS)


def is_part(item: Json) -> bool:
    """Say whether an object is one part of a message: a call, a text, a refusal."""
    if not isinstance(item, dict):
        return False
    kind = item.get("type")
    if isinstance(kind, str) and kind in _PARTS:
        return True
    if isinstance(kind, str) and kind in _MESSAGES and isinstance(item.get("content"), list | str):
        return True
    if kind == "text" and isinstance(item.get("text"), str):
        return True
    inner = item.get("function")
    if isinstance(inner, dict) and "name" in inner and "arguments" in inner:
        return True
    return any(isinstance(item.get(key), dict) and "name" in item[key] for key in ("functionCall", "function_call"))


def part(item: dict[str, Any], reply: Reply) -> None:
    """Take one part of a message in."""
    kind = item.get("type") if isinstance(item.get("type"), str) else None
    call = item.get("functionCall") or item.get("function_call")
    inner = item.get("function")
    if isinstance(call, dict):
        reply.calls.append(parsed(call.get("name"), call.get("args", call.get("arguments")), call.get("id")))
    elif isinstance(inner, dict):
        reply.calls.append(parsed(inner.get("name"), inner.get("arguments"), item.get("id")))
    elif kind in _CALLS:
        arguments = item.get("input") if "input" in item else item.get("arguments")
        reply.calls.append(parsed(item.get("name"), arguments, item.get("call_id") or item.get("tool_call_id") or item.get("id")))
    elif kind == "refusal":
        reply.refusal = str(item.get("refusal") or "")
    elif kind in _MESSAGES:
        _content(item.get("content"), reply)
    elif kind in _THINKING or item.get("thought") is True:
        return
    elif isinstance(item.get("text"), str) and (kind is None or kind in _TEXTS):
        reply.texts.append(item["text"])
    elif "name" in item and kind in (None, "function") and (key := next((key for key in _ARGUMENTS if key in item), None)):
        reply.calls.append(parsed(item["name"], item[key], item.get("id")))


def message(said: Json, reply: Reply) -> None:
    """Take a message in: calls, parts, text, refusal."""
    if not isinstance(said, dict):
        return
    if isinstance(said.get("refusal"), str) and said["refusal"]:
        reply.refusal = said["refusal"]
    for call in said.get("tool_calls") or ():
        if isinstance(call, dict):
            part(call, reply)
    if isinstance(call := said.get("function_call"), dict):
        reply.calls.append(parsed(call.get("name"), call.get("arguments")))
    _content(said.get("content", said.get("parts")), reply)


def _content(content: Json, reply: Reply) -> None:
    if isinstance(content, str) and content.strip():
        reply.texts.append(content)
    elif isinstance(content, list):
        for item in content:
            if isinstance(item, dict):
                part(item, reply)


def _error(answer: dict[str, Any], reply: Reply) -> bool:
    """Read what is sent instead of an answer.

    Below `error` by most, as `object: error` by vLLM and Mistral, with a `status` by GigaChat, as `detail` where FastAPI refuses.
    """
    error = answer.get("error")
    if isinstance(error, str) and not answer.keys() & {"choices", "message", "output"}:
        reply.failure = error
    elif isinstance(error, dict) and not answer.keys() & {"choices", "candidates"}:
        said = error.get("message")
        reply.failure = said if isinstance(said, str) and said else dumps(error, indent=False)
        for item in answer.get("output") or ():
            if isinstance(item, dict):
                part(item, reply)
    elif answer.get("object") == "error" or (_is_refused(answer.get("status")) and isinstance(answer.get("message"), str)):
        reply.failure = str(answer.get("message") or "error")
    elif answer.keys() == {"detail"}:
        reply.failure = answer["detail"] if isinstance(answer["detail"], str) else dumps(answer["detail"], indent=False)
    else:
        return False
    return True


def _is_refused(status: Json) -> bool:
    """Say whether a number is a status of HTTP that says that nothing was done."""
    return isinstance(status, int) and 400 <= status < 600


def _choices(answer: dict[str, Any], reply: Reply) -> bool:
    """Read Chat Completions, of OpenAI and of all who speak as it does."""
    choices = answer.get("choices")
    if not isinstance(choices, list) or not all(isinstance(choice, dict) for choice in choices):
        return False
    for choice in choices[:1]:
        reply.stop(choice.get("finish_reason"))
        if isinstance(said := choice.get("message"), dict):
            message(said, reply)
        elif isinstance(text := choice.get("text"), str):  # plain completions
            reply.texts.append(text)
    return True


def _candidates(answer: dict[str, Any], reply: Reply) -> bool:
    """Read Gemini's answers, and its word that there is none."""
    candidates, feedback = answer.get("candidates"), answer.get("promptFeedback", answer.get("prompt_feedback"))
    if not isinstance(candidates, list) and not isinstance(feedback, dict):
        return False
    for candidate in (candidates or ())[:1] if isinstance(candidates, list) else ():
        if isinstance(candidate, dict):
            reply.stop(candidate.get("finishReason", candidate.get("finish_reason")))
            message(candidate.get("content") or {}, reply)
            if reply.malformed and isinstance(why := candidate.get("finishMessage", candidate.get("finish_message")), str):
                reply.malformed = f"{reply.malformed}: {why}"
    if isinstance(feedback, dict) and (reason := feedback.get("blockReason", feedback.get("block_reason"))):
        reply.refusal = reply.refusal or str(reason).rsplit(".", 1)[-1]
    return True


def _output(answer: dict[str, Any], reply: Reply) -> bool:
    """Read OpenAI's Responses, and the conversations of Mistral and interactions of Gemini, which say `outputs`."""
    output = answer.get("output", answer.get("outputs"))
    if not isinstance(output, list):
        return False
    typed = "outputs" in answer and output != [] and all(isinstance(item, dict) and "type" in item for item in output)
    if answer.get("object") != "response" and not typed and not all(map(is_part, output)):
        return False
    for item in output:
        if isinstance(item, dict):
            part(item, reply)
    details = answer.get("incomplete_details")
    reply.stop(details.get("reason") if isinstance(details, dict) else None)
    reply.stop(answer.get("status"))
    reply.cut = reply.cut or (answer.get("status") == "incomplete" and reply.refusal is None)
    return True


def _mcp(answer: dict[str, Any], reply: Reply) -> bool:
    """Read a request to call a tool, and what a server returns for one; Python's library writes its members with `_`."""
    if answer.get("method") == "tools/call" and isinstance(params := answer.get("params"), dict):
        reply.calls.append(parsed(params.get("name"), params.get("arguments"), answer.get("id")))
        return True
    result = answer.get("result") if "jsonrpc" in answer else answer
    if not isinstance(result, dict) or not (
        (result.keys() & _OF_A_RESULT and result.keys() <= _RESULT)
        or "structuredContent" in result
        or (result is not answer and isinstance(result.get("content"), list))
    ):
        return False
    structured = result.get("structuredContent", result.get("structured_content"))
    if result.get("isError", result.get("is_error")) is True:
        beside = Reply()
        _content(result.get("content"), beside)
        reply.failure = "\n".join(beside.texts) or "isError"
    elif structured is not None or "structuredContent" in result:
        reply.calls.append(Found(None, structured))
    else:
        _content(result.get("content"), reply)
    return True


def _ollama(answer: dict[str, Any], reply: Reply) -> bool:
    """Read `/api/chat` and `/api/generate`."""
    if isinstance(said := answer.get("message"), dict) and ("role" in said or "tool_calls" in said):
        message(said, reply)
    elif isinstance(text := answer.get("response"), str) and "done" in answer:
        if text.strip():
            reply.texts.append(text)
    else:
        return False
    reply.stop(answer.get("done_reason"))
    return True


def _messages(answer: dict[str, Any], reply: Reply) -> bool:
    """Read several messages in a list, as GigaChat's second contract has them."""
    listed = answer.get("messages")
    if not isinstance(listed, list) or not listed or not all(isinstance(item, dict) for item in listed):
        return False
    reply.stop(answer.get("finish_reason"))
    for item in listed:
        reply.stop(item.get("finish_reason"))
        message(item, reply)
    return True


def _message(answer: dict[str, Any], reply: Reply) -> bool:
    """Read one message: Anthropic's response is one, so is what a smolagents model returns."""
    if isinstance(answer.get("tool_calls"), list) or "stop_reason" in answer or answer.get("role") in ("assistant", "model"):
        reply.stop(answer.get("stop_reason"))
        message(answer, reply)
        return True
    if isinstance(parts := answer.get("parts"), list) and all(isinstance(item, dict) for item in parts):
        message(answer, reply)
        return True
    return False


_READERS: tuple[Callable[[dict[str, Any], Reply], bool], ...] = (
    _error,
    _choices,
    _candidates,
    _output,
    _mcp,
    _ollama,
    _messages,
    _message,
)
