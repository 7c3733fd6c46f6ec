"""What lies around an answer is taken off: batches, bodies, conversations, single choices, results of frameworks and clouds."""

from __future__ import annotations

import json
from typing import Any

import pytest
from every_case import every_case
from weather import AI, CALL, OSLO, TEXT, WEATHER

from instrc import lift, lower, lower_all

HALF = TEXT[:9]
USE = {"type": "tool_use", "id": "c", "name": "tool", "input": OSLO}
ITEM = {"type": "function_call", "call_id": "c", "name": "tool", "arguments": TEXT}
SAID: Any = {"role": "assistant", "content": None, "tool_calls": [CALL]}
CHOICE: Any = {"index": 0, "finish_reason": "tool_calls", "message": SAID}
CHAT = {"object": "chat.completion", "choices": [CHOICE]}
CLAUDE = {"type": "message", "role": "assistant", "content": [USE], "stop_reason": "tool_use"}
RESPONSE = {"object": "response", "status": "completed", "output": [ITEM]}
GEMINI_PART: Any = {"text": None, "thought": None, "function_call": {"name": "tool", "args": OSLO}, "new_metadata": None}
CANDIDATE: Any = {"content": {"role": "model", "parts": [GEMINI_PART]}, "finish_reason": "STOP"}


def chat(reason: Any, **message: Any) -> Any:
    return {"index": 0, "finish_reason": reason, "message": {"role": "assistant", "content": "", **message}}


def completed(**answer: Any) -> Any:
    return answer


OK: dict[str, Any] = {
    "one choice": CHOICE,
    "choices": [CHOICE, CHOICE],
    "a tool that takes a text": chat(
        "tool_calls", tool_calls=[{"type": "custom", "id": "c", "custom": {"name": "tool", "input": TEXT}}]
    ),
    "its call": {"type": "custom", "id": "c", "custom": {"name": "tool", "input": TEXT}},
    "a piece that is all of a stream": {"choices": [{"index": 0, "delta": SAID, "finish_reason": "tool_calls"}]},
    "a line of a batch of OpenAI": {"custom_id": "1", "response": {"status_code": 200, "body": CHAT}, "error": None},
    "a line of a batch of Responses": {"custom_id": "1", "response": {"status_code": 200, "body": RESPONSE}, "error": None},
    "a line of a batch of Anthropic": {"custom_id": "1", "result": {"type": "succeeded", "message": CLAUDE}},
    "a line of a batch of Gemini": {"key": "1", "response": {"candidates": [CANDIDATE]}},
    "a candidate": CANDIDATE,
    "candidates": [CANDIDATE, CANDIDATE],
    "parts of Gemini": [{"text": "hm", "thought": True}, {"text": "So."}, GEMINI_PART],
    "parts of Gemini with code": [{"executable_code": {"code": "1", "language": "PYTHON"}}, GEMINI_PART],
    "blocks of Anthropic with a search": [
        {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "x"}},
        {"type": "web_search_tool_result", "tool_use_id": "s", "content": []},
        USE,
    ],
    "a message of Anthropic without its role": {"content": [{"type": "text", "text": "So."}, USE], "usage": {}},
    "items of Responses with a search": [{"type": "web_search_call", "id": "w", "status": "completed"}, ITEM],
    "items of Responses with a server": [{"type": "mcp_list_tools", "tools": []}, {"type": "mcp_call", "name": "x"}, ITEM],
    "a conversation": [{"role": "user", "content": "hi"}, SAID],
    "a conversation with an answered call": [
        {"role": "user", "content": "hi"},
        {**SAID, "tool_calls": [{**CALL, "function": {"name": "tool", "arguments": '{"city": "Rome", "days": 1}'}}]},
        {"role": "tool", "tool_call_id": "c", "content": "42"},
        SAID,
    ],
    "the state of an agent": {"messages": [{"type": "human", "content": "hi"}, AI, {"type": "tool", "content": "42"}, AI]},
    "messages of pydantic-ai": [
        {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "hi"}]},
        {"kind": "response", "parts": [{"part_kind": "tool-call", "tool_name": "tool", "args": OSLO, "tool_call_id": "c"}]},
    ],
    "Cohere": {
        "id": "1",
        "finish_reason": "TOOL_CALL",
        "message": {"role": "assistant", "tool_plan": "So.", "tool_calls": [CALL]},
    },
    "what MCP samples": {"role": "assistant", "model": "m", "content": {"type": "text", "text": TEXT}, "stopReason": "endTurn"},
    "a call that MCP samples": {"role": "assistant", "model": "m", "content": [USE], "stopReason": "toolUse"},
    "the body of invoke_model": {"ResponseMetadata": {}, "contentType": "application/json", "body": json.dumps(CLAUDE)},
    "a call beside one of Bedrock's own": {
        "output": {
            "message": {
                "role": "assistant",
                "content": [
                    {"toolUse": {"toolUseId": "s", "name": "web", "input": {}, "type": "server_tool_use"}},
                    {"toolResult": {"toolUseId": "s", "content": [{"text": "x"}]}},
                    {"toolUse": {"toolUseId": "c", "name": "tool", "input": OSLO}},
                ],
            }
        },
        "stopReason": "tool_use",
    },
    "llama.cpp": completed(content=TEXT, stop=True, stop_type="eos", tokens_predicted=1),
    "the AI SDK": {
        "toolCalls": [{"type": "tool-call", "toolCallId": "c", "toolName": "tool", "input": OSLO}],
        "finishReason": "tool-calls",
        "text": "",
    },
    "lines of a stream in a list": [
        "data: " + json.dumps({"choices": [{"index": 0, "delta": SAID, "finish_reason": "stop"}]}),
        "",
        "data: [DONE]",
    ],
    "texts of pieces in a list": [json.dumps({"choices": [{"index": 0, "delta": SAID, "finish_reason": "stop"}]})],
    "pieces of invoke_model": [
        {"chunk": {"bytes": json.dumps(event).encode()}}
        for event in (
            {"type": "message_start", "message": {"role": "assistant", "content": []}},
            {"type": "content_block_start", "index": 0, "content_block": {**USE, "input": {}}},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": TEXT}},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
            {"type": "message_stop"},
        )
    ],
}
FORMS = {
    "as it is": lambda answer: answer,
    "as text": json.dumps,
    "as indented text": lambda answer: json.dumps(answer, indent=2),
    "as bytes": lambda answer: json.dumps(answer, ensure_ascii=False).encode(),
    "in a fence": lambda answer: f"```json\n{json.dumps(answer)}\n```",
}
TARGETS = ["openai", "anthropic", "vllm"]


@every_case("form", FORMS)
@every_case("name", OK)
def test_an_answer_is_found_in_what_lies_around_it(name: str, form: str) -> None:
    if form != "as it is" and name == "pieces of invoke_model":
        return  # bytes are no JSON
    for target in TARGETS:
        lifted = lift(FORMS[form](OK[name]), lower(WEATHER, target).map)
        assert (lifted.status, [call.value for call in lifted.calls]) == ("ok", [OSLO]), lifted


@every_case("name", OK)
def test_of_several_tools_the_called_one_is_found(name: str) -> None:
    record = lower_all([("other", {"type": "object", "properties": {}}), ("tool", WEATHER)], "openai").map
    lifted = lift(OK[name], record)
    if lifted.calls:  # a text does not say which tool is called
        assert (lifted.call.name, lifted.value) == ("tool", OSLO)


OTHERS: dict[str, list[Any]] = {
    "cut": [
        chat("length"),
        [chat("MAX_TOKENS", content=HALF)],
        {"custom_id": "1", "response": {"status_code": 200, "body": {"choices": [chat("length", content=HALF)]}}},
        {"custom_id": "1", "result": {"type": "succeeded", "message": {**CLAUDE, "stop_reason": "max_tokens"}}},
        {"content": {"parts": [{"text": HALF}]}, "finishReason": "MAX_TOKENS"},
        {"id": "1", "finish_reason": "MAX_TOKENS", "message": {"role": "assistant", "content": [{"type": "text", "text": HALF}]}},
        {"role": "assistant", "model": "m", "content": {"type": "text", "text": HALF}, "stopReason": "maxTokens"},
        completed(content=HALF, stop=True, stop_type="limit"),
    ],
    "refused": [
        chat("content_filter"),
        chat("content-filter"),
        chat("sensitive"),
        {"id": "1", "finish_reason": "ERROR_TOXIC", "message": {"role": "assistant", "content": []}},
        {"content": {"parts": []}, "finishReason": "SAFETY"},
        {"custom_id": "1", "result": {"type": "succeeded", "message": {**CLAUDE, "content": [], "stop_reason": "refusal"}}},
    ],
    "failed": [
        chat("error"),
        chat("insufficient_system_resource"),
        chat("network_error"),
        {"id": "1", "finish_reason": "ERROR", "message": {"role": "assistant", "content": []}},
        {"id": "1", "finish_reason": "TIMEOUT", "message": {"role": "assistant", "content": []}},
        {"custom_id": "1", "response": {"status_code": 400, "body": {"error": {"message": "no"}}}, "error": None},
        {"custom_id": "1", "response": None, "error": {"code": "batch_expired", "message": "late"}},
        {"custom_id": "1", "result": {"type": "errored", "error": {"type": "error", "error": {"message": "no"}}}},
        {"custom_id": "1", "result": {"type": "expired"}},
        {"custom_id": "1", "result": {"type": "canceled"}},
        {"key": "1", "response": {"error": {"code": 400, "message": "no"}}},
        {"message": "Too many requests", "__type": "ThrottlingException"},
        [{"choices": [{"index": 0, "delta": {"content": "x"}}]}, {"error": {"message": "overloaded"}}],
        [{"candidates": [{"content": {"parts": [{"text": "x"}]}}]}, {"error": {"code": 503, "message": "overloaded"}}],
    ],
    "malformed": [{"content": {"parts": []}, "finishReason": "MALFORMED_FUNCTION_CALL", "finishMessage": "tool(x"}],
    "empty": [
        chat("stop"),
        [SAID, {"role": "tool", "tool_call_id": "c", "content": "42"}],
        {"messages": [{"type": "human", "content": TEXT}]},
    ],
}


@every_case(("status", "answer"), [(status, answer) for status, answers in OTHERS.items() for answer in answers])
def test_the_outcome_is_told_in_its_word(status: str, answer: Any) -> None:
    for form in (answer, json.dumps(answer)):
        lifted = lift(form, lower(WEATHER, "openai").map)
        assert lifted.status == status, lifted
        assert lifted.problems


def test_what_a_user_and_tools_say_is_no_word_of_the_model() -> None:
    told = [{"role": "user", "content": "secret"}, SAID, {"role": "tool", "content": "42"}, {**SAID, "content": "So."}]
    lifted = lift(told, lower(WEATHER, "openai").map)
    assert lifted.text == "So."
    assert len(lifted.calls) == 1


LOOKALIKES: list[Any] = [
    {"action": "accept"},
    {"results": [{"generated_text": "x"}]},
    {"generated_text": "x"},
    {"content": "x", "stop_type": "y"},
    {"messages": [{"role": "user", "content": "x"}]},
    {"success": True, "errors": [], "result": {"error": "x"}},
    {"tool": "x", "tool_input": {}},
    {"key": "x", "response": {"choices": []}},
    {"custom_id": "x", "result": {"type": "errored"}},
    {"replies": [{"role": "assistant", "content": "x"}]},
    {"completion": "x", "stop_reason": "length"},
    {"message": {"role": "assistant"}, "finish_reason": "length"},
    {"content": {"parts": []}},
]


@every_case("value", LOOKALIKES, ids=json.dumps)
def test_arguments_that_look_like_it_are_arguments(value: Any) -> None:
    schema: Any = {
        "type": "object",
        "properties": {key: {} for key in value},
        "required": list(value),
        "additionalProperties": False,
    }
    for target in ("openai", "mcp", "ollama", "vllm"):
        record = lower(schema, target).map
        if record["codec"] is None:
            assert lift(value, record).value == value
        call = {"type": "tool_use", "id": "c", "name": "tool", "input": value}
        if record["codec"] is None:
            assert lift({"role": "assistant", "content": [call], "stop_reason": "tool_use"}, record).value == value


# Objects of libraries


class Http:
    """A response of httpx or requests."""

    def __init__(self, status_code: int, content: bytes) -> None:
        self.status_code = status_code
        self.content = content

    def __iter__(self) -> Any:
        return iter([self.content])


def test_a_response_of_http_is_read_by_its_body() -> None:
    record = lower(WEATHER, "openai").map
    assert lift(Http(200, json.dumps(CHAT).encode()), record).value == OSLO
    assert lift(Http(429, b'{"error": {"message": "slow down"}}'), record).status == "failed"
    httpx = pytest.importorskip("httpx")
    assert lift(httpx.Response(200, json=CHAT), record).value == OSLO


def test_a_model_that_holds_more_than_its_class_declares_is_read_as_what_it_holds() -> None:
    pydantic = pytest.importorskip("pydantic")

    class Said(pydantic.BaseModel):  # type: ignore[name-defined,misc]
        content: str
        type: str = "ai"

    class Called(Said):
        tool_calls: Any = None

    class Generation(pydantic.BaseModel):  # type: ignore[name-defined,misc]
        text: str = ""
        generation_info: Any = None
        message: Said

    answer = Generation(message=Called(content="", tool_calls=AI["tool_calls"]))
    assert lift(answer, lower(WEATHER, "openai").map).value == OSLO


def test_content_that_a_tool_takes_is_no_message() -> None:
    part = {"type": "object", "properties": {"type": {}, "name": {}, "input": {}}}
    schema = {"type": "object", "properties": {"content": {"type": "array", "items": part}}, "required": ["content"]}
    answer = {"content": [{"type": "tool_use", "name": "find", "input": {}}]}
    assert lift(answer, lower(schema, "anthropic")).output == answer
