"""What came of a request is told in one word, in the shapes that providers document."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from every_case import every_case

from instrc import lift, lower

SCHEMA: Any = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}
GOOD = {"a": "x"}
TEXT = '{"a": "x"}'
USE = {"type": "tool_use", "id": "t", "name": "tool", "input": GOOD}


def chat(reason: str, **message: Any) -> dict[str, Any]:
    """Return a response of Chat Completions."""
    return {
        "object": "chat.completion",
        "choices": [{"index": 0, "message": {"role": "assistant", **message}, "finish_reason": reason}],
    }


def called(arguments: Any = TEXT) -> list[dict[str, Any]]:
    """Return one call of Chat Completions."""
    return [{"id": "c", "type": "function", "function": {"name": "tool", "arguments": arguments}}]


def responses(status: str, *output: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return a response of OpenAI's Responses."""
    return {"object": "response", "status": status, "error": None, "incomplete_details": None, "output": list(output), **more}


def gemini(reason: str, *parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return a response of Gemini."""
    return {"candidates": [{"content": {"role": "model", "parts": list(parts)}, "finishReason": reason, **more}]}


def claude(reason: str, *content: dict[str, Any]) -> dict[str, Any]:
    """Return a message of Anthropic."""
    return {"type": "message", "role": "assistant", "content": list(content), "stop_reason": reason}


ITEM = {"type": "function_call", "id": "fc", "call_id": "c", "name": "tool", "arguments": TEXT}
SAID = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": TEXT, "annotations": []}]}
CASES: dict[str, list[Any]] = {
    "ok": [
        chat("tool_calls", content=None, refusal=None, tool_calls=called()),
        chat("stop", content="", tool_calls=called(GOOD)),
        chat(
            "stop", content=[{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": TEXT}]
        ),
        chat("function_call", content="", function_call={"name": "tool", "arguments": GOOD}, functions_state_id="s"),
        chat("stop", content=None, reasoning_content="hm", tool_calls=called()),
        responses("completed", {"type": "reasoning", "summary": []}, ITEM),
        responses("completed", SAID),
        claude("tool_use", {"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "text", "text": "So."}, USE),
        claude("end_turn", {"type": "text", "text": TEXT}),
        gemini("STOP", {"text": "hm", "thought": True}, {"functionCall": {"id": "1", "name": "tool", "args": GOOD}}),
        gemini("STOP", {"text": TEXT}),
        {
            "object": "conversation.response",
            "outputs": [{"type": "function.call", "tool_call_id": "x", "name": "tool", "arguments": TEXT}],
        },
        {
            "outputs": [
                {"type": "tool.execution", "name": "web_search", "arguments": "{}"},
                {"type": "message.output", "content": TEXT},
            ]
        },
        {
            "outputs": [
                {"type": "thought", "summary": []},
                {"type": "function_call", "id": "1", "name": "tool", "arguments": GOOD},
            ]
        },
        {
            "messages": [{"role": "assistant", "content": [{"function_call": {"name": "tool", "arguments": GOOD}}]}],
            "finish_reason": "stop",
        },
        {"messages": [{"role": "assistant", "content": [{"text": TEXT}], "finish_reason": "stop"}]},
        {
            "model": "m",
            "message": {
                "role": "assistant",
                "content": "",
                "thinking": "hm",
                "tool_calls": [{"function": {"index": 0, "name": "tool", "arguments": GOOD}}],
            },
            "done": True,
            "done_reason": "stop",
        },
        {"method": "tools/call", "params": {"name": "tool", "arguments": GOOD}},
        {"jsonrpc": "2.0", "id": 3, "result": {"content": [{"type": "text", "text": TEXT}], "structuredContent": GOOD}},
        {"jsonrpc": "2.0", "id": 3, "result": {"content": [{"type": "text", "text": TEXT}]}},
        {"content": [{"type": "text", "text": TEXT}], "structuredContent": GOOD, "isError": False, "_meta": {}},
        {"role": "assistant", "content": "Thought", "tool_calls": called(GOOD), "raw": None},
        {"id": "call_1", "type": "function", "function": {"name": "tool", "arguments": GOOD}},
    ],
    "cut": [
        chat("length", content='{"a": "'),
        chat("length", content=None, tool_calls=called('{"a": "')),
        chat("model_length", content="", tool_calls=None),
        chat("tool_calls", content=None, tool_calls=called('{"a": "x\\"}')),
        responses("incomplete", {**ITEM, "arguments": '{"a'}, incomplete_details={"reason": "max_output_tokens"}),
        responses("incomplete", {**ITEM, "status": "incomplete", "arguments": ""}),
        claude("max_tokens", USE),
        claude("model_context_window_exceeded", {"type": "text", "text": '{"a'}),
        gemini("MAX_TOKENS", {"text": '{"a'}),
        {"message": {"role": "assistant", "content": '{"a'}, "done": True, "done_reason": "length"},
        {"response": '{"a', "done": True, "done_reason": "length"},
    ],
    "refused": [
        chat("stop", content=None, refusal="I won't."),
        chat("content_filter", content='{"a": "'),
        chat("blacklist", content="Не люблю менять тему"),
        responses("completed", {"type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]}),
        responses("incomplete", incomplete_details={"reason": "content_filter"}),
        claude("refusal"),
        gemini("SAFETY"),
        gemini("PROHIBITED_CONTENT", {"text": '{"a'}),
        {"promptFeedback": {"blockReason": "OTHER"}, "candidates": []},
        {"prompt_feedback": {"block_reason": "BlockedReason.SAFETY"}, "candidates": None},
    ],
    "failed": [
        {"error": {"message": "Rate limit", "type": "rate_limit_error", "code": None}},
        {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
        {"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "Unknown name"}},
        {"error": "model 'x' not found"},
        {"object": "error", "message": "no grammar", "code": 400},
        {"jsonrpc": "2.0", "id": 3, "error": {"code": -32602, "message": "Unknown tool"}},
        {"content": [{"type": "text", "text": "disk full"}], "isError": True},
        responses("failed", error={"code": "server_error", "message": "Sorry"}),
        responses("cancelled"),
        chat("error", content=""),
        {"status": 422, "message": "Invalid params: object without properties"},
        {"detail": [{"loc": ["body", "tools"], "msg": "field required", "type": "value_error.missing"}]},
        {"code": "Throttling", "message": "Requests rate limit exceeded", "request_id": "5f0d"},
        [{"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "Quota"}}],
    ],
    "malformed": [
        gemini("MALFORMED_FUNCTION_CALL", finishMessage="Malformed function call: print(tool("),
        gemini("TOO_MANY_TOOL_CALLS"),
    ],
    "empty": [
        chat("stop", content=""),
        chat("stop", content="Gladly! What about?"),
        responses("completed"),
        claude("end_turn"),
        claude("pause_turn", {"type": "server_tool_use", "id": "s", "name": "tool", "input": GOOD}),
        responses("completed", {"type": "mcp_call", "name": "tool", "arguments": TEXT, "output": "1"}),
        gemini("STOP"),
        {"message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop"},
        "",
        " \n",
        b"",
        {"candidates": []},
        {"choices": []},
    ],
    "invalid": [
        chat("tool_calls", tool_calls=called("{'a': x}")),
        chat("tool_calls", tool_calls=called('{"b": 1}')),
        chat("tool_calls", tool_calls=[*called(), *called('{"a": 1}')]),
        claude("tool_use", USE, {**USE, "name": "another"}),
        GOOD | {"b": 1},
        "tell me more",
        [GOOD, GOOD],
    ],
}


PROBLEMS = {
    "ok": set(),
    "cut": {"cut-answer"},
    "refused": {"refused-answer"},
    "failed": {"failed-answer"},
    "malformed": {"no-answer"},
    "empty": {"no-answer"},
    "invalid": {"invalid-answer"},
}
"""What the compiler says of each."""


@every_case(("status", "answer"), [(status, answer) for status, answers in CASES.items() for answer in answers])
def test_each_outcome_has_its_word(status: str, answer: Any) -> None:
    lifted = lift(answer, lower(SCHEMA, "openai").map)
    assert lifted.status == status, lifted
    assert lifted.ok is (status == "ok")
    assert lifted.to_json()["status"] == status
    if status == "ok":
        assert lifted.value == GOOD
    assert {problem.name for problem in lifted.problems} == PROBLEMS[status]


def test_the_words_of_a_failure_and_of_a_refusal_are_kept() -> None:
    record = lower(SCHEMA, "openai").map
    assert lift(CASES["failed"][6], record).failure == "disk full"
    assert lift(CASES["failed"][3], record).failure == "model 'x' not found"
    assert lift(CASES["refused"][0], record).refusal == "I won't."
    assert lift(CASES["refused"][-1], record).refusal == "SAFETY"
    assert lift(CASES["malformed"][0], record).malformed == "MALFORMED_FUNCTION_CALL: Malformed function call: print(tool("


def test_a_tool_with_a_parameter_called_error_is_answered_all_the_same() -> None:
    record = lower({"type": "object", "properties": {"error": {"type": "string"}}, "required": ["error"]}, "anthropic").map
    assert lift({"error": "none"}, record).value == {"error": "none"}


@dataclass
class Function:
    name: str
    arguments: Any


class Role(StrEnum):
    ASSISTANT = "assistant"


@dataclass
class Message:
    """As the libraries that use dataclasses have them."""

    role: Role
    content: str
    tool_calls: list[Any]


class Model:
    """As the libraries that use pydantic have them."""

    def __init__(self, **members: Any) -> None:
        self.members = members

    def model_dump(self, *, mode: str, by_alias: bool) -> Any:
        assert (mode, by_alias) == ("json", False)
        return self.members


@every_case(
    "answer",
    [
        Model(**chat("tool_calls", content=None, tool_calls=called())),
        [Model(**USE)],
        (USE,),
        Message(Role.ASSISTANT, "", [{"id": "1", "function": Function("tool", GOOD)}]),
        Function("tool", GOOD),
        [Model(choices=[{"index": 0, "delta": part}]) for part in ({"content": '{"a"'}, {"content": ': "x"}'})]
        + [Model(choices=[{"index": 0, "delta": {}, "finish_reason": "stop"}])],
        Model(
            content=[{"type": "text", "text": TEXT}], structured_content=GOOD, is_error=False, meta=None, result_type="complete"
        ),
        Model(content=[{"type": "text", "text": TEXT}], structured_content=None, is_error=False, meta=None),
    ],
)
def test_objects_of_libraries_are_read_as_what_they_say(answer: Any) -> None:
    lifted = lift(answer, lower(SCHEMA, "openai").map)
    assert lifted.ok, lifted
    assert lifted.value == GOOD
