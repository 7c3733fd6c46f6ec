"""Take off what clouds put around a response, or say in words of their own.

Shapes are those of the REST APIs of Cloudflare Workers AI, DashScope, Yandex' foundation models, Oracle's Generative AI, Naver's
CLOVA Studio, Tencent's Hunyuan, Baidu's Qianfan, Snowflake's Cortex and Reka, as their documentation is known to show them.
None was compared with a live answer.
"""

from __future__ import annotations

from collections.abc import Callable

from instrc.jsonvalue import Json, JsonArray, JsonObject, listing, mapping


def _of_cloudflare(answer: JsonObject) -> JsonObject | None:
    if not isinstance(answer.get("success"), bool) or not isinstance(errors := answer.get("errors"), list):
        return None
    if isinstance(result := answer.get("result"), dict):
        return result
    return {"error": mapping(errors[0])} if errors else None


def _of_dashscope(answer: JsonObject) -> JsonObject | None:
    output = answer.get("output")
    if not isinstance(output, dict) or "request_id" not in answer:
        return None
    return output if isinstance(output.get("choices"), list) else {"choices": [output]}


def _of_yandex(answer: JsonObject) -> JsonObject | None:
    result = answer.get("result", answer)
    first = next(iter(listing(mapping(result).get("alternatives"))), None)
    if not isinstance(first, dict) or not isinstance(said := first.get("message"), dict):
        return None
    calls = mapping(said.get("toolCallList")).get("toolCalls")
    status = str(first.get("status")).removeprefix("ALTERNATIVE_STATUS_").removesuffix("_FINAL")
    message: JsonObject = {"role": "assistant", "content": said.get("text"), "tool_calls": calls}
    return {"choices": [{"message": message, "finish_reason": status}]}


def _of_oracle(answer: JsonObject) -> JsonObject | None:
    """Return Oracle's `chatResponse`: its words are those of Chat Completions in camel case, or those of Cohere."""
    held = answer.get("chatResponse")
    if not isinstance(held, dict) or "apiFormat" not in held:
        return None
    choice = mapping(next(iter(listing(held.get("choices"))), None)) or {"message": held}
    said = mapping(choice.get("message"))
    message: JsonObject = {"role": "assistant", "content": said.get("content", said.get("text"))}
    calls: JsonArray = [
        {**call, "type": "function_call", "arguments": call.get("arguments", call.get("parameters"))}
        for call in map(mapping, listing(said.get("toolCalls")))
    ]
    parts = listing(message["content"])
    message["content"] = [{**mapping(part), "type": "text"} for part in parts] if parts else message["content"]
    message["tool_calls"] = calls
    return {"choices": [{"message": message, "finish_reason": choice.get("finishReason") or held.get("finishReason")}]}


def _of_naver(answer: JsonObject) -> JsonObject | None:
    """Return the result of CLOVA Studio, or what it says instead of one."""
    status, result = answer.get("status"), answer.get("result")
    if not isinstance(status, dict) or not isinstance(status.get("code"), str) or not answer.keys() <= {"status", "result"}:
        return None
    if not isinstance(result, dict):
        return {"error": {"message": status.get("message") or status["code"]}}
    return {
        "choices": [{"message": result.get("message"), "finish_reason": result.get("finishReason", result.get("stopReason"))}]
    }


def _of_tencent(answer: JsonObject) -> JsonObject | None:
    """Return the `Response` of Tencent, whose words begin with capitals."""
    held = answer.get("Response")
    if not isinstance(held, dict) or not held.keys() & {"Choices", "Error"}:
        return None
    if isinstance(error := held.get("Error"), dict):
        return {"error": {"message": error.get("Message") or error.get("Code") or "error"}}
    choice = mapping(next(iter(listing(held.get("Choices"))), None))
    said = mapping(choice.get("Message"))
    calls: JsonArray = [
        {"id": call.get("Id"), "name": function.get("Name"), "arguments": function.get("Arguments"), "type": "function_call"}
        for call in map(mapping, listing(said.get("ToolCalls")))
        if (function := mapping(call.get("Function")))
    ]
    message: JsonObject = {"role": "assistant", "content": said.get("Content"), "tool_calls": calls}
    return {"choices": [{"message": message, "finish_reason": choice.get("FinishReason")}]}


def _of_baidu(answer: JsonObject) -> JsonObject | None:
    """Return what Qianfan's first API says: its text is the `result`."""
    text = answer.get("result")
    if isinstance(code := answer.get("error_code"), int) and isinstance(why := answer.get("error_msg"), str):
        return {"error": {"message": f"{why} ({code})"}}
    if not isinstance(text, str) or "is_truncated" not in answer:
        return None
    message: JsonObject = {"role": "assistant", "content": text, "function_call": answer.get("function_call")}
    reason: Json = "length" if answer["is_truncated"] is True else answer.get("finish_reason")
    return {"choices": [{"message": message, "finish_reason": reason}]}


def _of_snowflake(answer: JsonObject) -> JsonObject | None:
    """Return what Cortex says: a text as `messages`, an object as `raw_message`, or parts as a `content_list`."""
    choices = listing(answer.get("choices"))
    choice = mapping(choices[0]) if len(choices) == 1 else {}
    said = choice.get("message")
    if isinstance(text := choice.get("messages"), str):
        return {"choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": None}]}
    if choice.get("type") == "json" and isinstance(value := choice.get("raw_message"), dict):
        return {"jsonrpc": "2.0", "result": {"structuredContent": value}}
    if not isinstance(said, dict) or not isinstance(parts := said.get("content_list"), list):
        return None
    blocks: JsonArray = [{**part, **mapping(part.get("tool_use"))} for part in map(mapping, parts)]
    return {"choices": [{"message": {"role": "assistant", "content": blocks}, "finish_reason": choice.get("finish_reason")}]}


def _of_reka(answer: JsonObject) -> JsonObject | None:
    responses = answer.get("responses")
    return {"choices": responses} if isinstance(responses, list) and answer.keys() >= {"id", "usage"} else None


CLOUDS: tuple[Callable[[JsonObject], JsonObject | None], ...] = (
    _of_cloudflare,
    _of_dashscope,
    _of_yandex,
    _of_oracle,
    _of_naver,
    _of_tencent,
    _of_baidu,
    _of_snowflake,
    _of_reka,
)
