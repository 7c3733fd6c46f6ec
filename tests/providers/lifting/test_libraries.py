"""The objects of the official libraries are lifted as they are; a library that is not installed is skipped."""

from __future__ import annotations

from typing import Any

import pytest

from instrc import lift, lower
from instrc.providers.lifting.answers import json_of  # the shape that an object of a library is read as

SCHEMA: Any = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}
TEXT = '{"a": "x"}'
FUNCTION = {"id": "c", "type": "function", "function": {"name": "tool", "arguments": TEXT}}
CHOICE = {"index": 0, "finish_reason": "tool_calls", "message": {"role": "assistant", "content": "", "tool_calls": [FUNCTION]}}
CHAT = {"id": "r", "object": "chat.completion", "created": 0, "model": "m", "choices": [CHOICE]}


def openai() -> object:
    return pytest.importorskip("openai.types.chat").ChatCompletion.model_validate(CHAT)


def openai_responses() -> object:
    item = {"type": "function_call", "call_id": "c", "name": "tool", "arguments": TEXT}
    response = {"id": "r", "object": "response", "created_at": 0, "model": "m", "output": [item], "status": "completed"}
    return pytest.importorskip("openai.types.responses").Response.model_construct(**response)


def anthropic() -> object:
    types = pytest.importorskip("anthropic.types")
    block = types.ToolUseBlock.model_construct(type="tool_use", id="c", name="tool", input={"a": "x"})
    return types.Message.model_construct(
        id="r", type="message", role="assistant", content=[block], model="m", stop_reason="tool_use"
    )


def gemini() -> object:
    part = {"function_call": {"id": "c", "name": "tool", "args": {"a": "x"}}}
    candidate = {"content": {"role": "model", "parts": [part]}, "finish_reason": "STOP"}
    return pytest.importorskip("google.genai.types").GenerateContentResponse.model_validate({"candidates": [candidate]})


def gemini_stream() -> object:
    types = pytest.importorskip("google.genai.types")
    part = {"function_call": {"id": "c", "name": "tool", "args": {"a": "x"}}}
    pieces = [
        {"candidates": [{"content": {"parts": [part]}}]},
        {"candidates": [{"content": {"parts": []}, "finish_reason": "STOP"}]},
    ]
    return [types.GenerateContentResponse.model_validate(piece) for piece in pieces]


def ollama() -> object:
    call = {"function": {"name": "tool", "arguments": {"a": "x"}}}
    message = {"role": "assistant", "content": "", "tool_calls": [call]}
    return pytest.importorskip("ollama").ChatResponse(model="m", message=message, done=True, done_reason="stop")


def gigachat() -> object:
    message = {"role": "assistant", "content": "", "function_call": {"name": "tool", "arguments": {"a": "x"}}}
    choice = {"index": 0, "message": message, "finish_reason": "function_call"}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    answer = {"choices": [choice], "created": 0, "model": "m", "object": "chat.completion", "usage": usage}
    return pytest.importorskip("gigachat.models").ChatCompletion.model_validate(answer)


def mcp() -> object:
    types = pytest.importorskip("mcp.types")
    return types.CallToolRequest(method="tools/call", params=types.CallToolRequestParams(name="tool", arguments={"a": "x"}))


def smolagents() -> object:
    models = pytest.importorskip("smolagents.models")
    function = models.ChatMessageToolCallFunction(name="tool", arguments={"a": "x"})
    call = models.ChatMessageToolCall(function=function, id="c", type="function")
    return models.ChatMessage(role=models.MessageRole.ASSISTANT, content=None, tool_calls=[call])


def langchain() -> object:
    messages = pytest.importorskip("langchain_core.messages")
    return messages.AIMessage(content="", tool_calls=[{"name": "tool", "args": {"a": "x"}, "id": "c", "type": "tool_call"}])


def pydantic_ai() -> object:
    messages = pytest.importorskip("pydantic_ai.messages")
    return messages.ModelResponse(parts=[messages.ToolCallPart(tool_name="tool", args=TEXT, tool_call_id="c")])


def pydantic_ai_deferred() -> object:
    pytest.importorskip("pydantic_ai")
    from pydantic_ai import DeferredToolRequests
    from pydantic_ai.messages import ToolCallPart

    return DeferredToolRequests(approvals=[ToolCallPart(tool_name="tool", args=TEXT, tool_call_id="c")])


LIBRARIES = [
    openai,
    openai_responses,
    anthropic,
    gemini,
    gemini_stream,
    ollama,
    gigachat,
    mcp,
    smolagents,
    langchain,
    pydantic_ai,
    pydantic_ai_deferred,
]


@pytest.mark.long
@pytest.mark.parametrize("answer", LIBRARIES, ids=lambda make: make.__name__)
def test_an_object_of_a_library_is_lifted_as_it_is(answer: Any) -> None:
    lifted = lift(answer(), lower(SCHEMA, "openai").map)
    assert (lifted.status, lifted.call.name, lifted.value) == ("ok", "tool", {"a": "x"})


def test_calls_that_an_agent_of_pydantic_ai_defers_are_read_and_others_of_that_shape_are_not() -> None:
    call = {"tool_name": "tool", "args": TEXT, "tool_call_id": "c", "part_kind": "tool-call"}
    reverse = lower(SCHEMA, target="openai", name="tool").map
    deferred: dict[str, Any] = {"calls": [call], "approvals": [{**call, "tool_call_id": "d"}], "metadata": {}}
    assert [(each.id, each.value) for each in lift(deferred, reverse).calls] == [("c", {"a": "x"}), ("d", {"a": "x"})]
    assert lift({**deferred, "calls": ["tool"]}, reverse).status == "invalid"


def test_the_id_of_a_tool_of_openai_that_takes_a_text_stands_beside_it() -> None:
    call = {"id": "c", "type": "custom", "custom": {"name": "tool", "input": TEXT}}
    for answer in ({"role": "assistant", "tool_calls": [call]}, [call], call):
        lifted = lift(answer, lower(SCHEMA, target="openai", name="tool").map)
        assert (lifted.status, lifted.call.id, lifted.value) == ("ok", "c", {"a": "x"})


def test_the_content_of_a_message_of_bedrock_is_read_alone() -> None:
    call = {"toolUse": {"toolUseId": "c", "name": "tool", "input": {"a": "x"}}}
    lifted = lift([{"text": "Sure."}, call], lower(SCHEMA, target="bedrock", name="tool").map)
    assert (lifted.status, lifted.value, lifted.text) == ("ok", {"a": "x"}, "Sure.")


def test_one_call_of_bedrock_is_read_alone_even_by_a_name_that_is_spelt_otherwise() -> None:
    call = {"toolUseId": "c", "name": "Tool", "input": {"a": "x"}}
    lifted = lift(call, lower(SCHEMA, target="bedrock", name="tool").map)
    assert (lifted.status, lifted.call.id, lifted.value) == ("ok", "c", {"a": "x"})
    assert [repair.what for repair in lifted.call.repairs] == ["tool-name"]


def test_an_object_that_cannot_be_written_is_left_as_it_is() -> None:
    class Broken:
        def model_dump(self, **_: Any) -> Any:
            raise ValueError

    broken = Broken()
    assert json_of([broken, Broken, 1]) == [broken, Broken, 1]
