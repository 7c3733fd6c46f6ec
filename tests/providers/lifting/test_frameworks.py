"""What frameworks and the rarer envelopes of providers hand on is read, in the shapes that their libraries declare."""

from __future__ import annotations

import json
from typing import Any

from every_case import every_case

from instrc import lift, lower

SCHEMA: Any = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}
GOOD = {"a": "x"}
TEXT = '{"a": "x"}'
CALL = {"name": "tool", "args": GOOD, "id": "c", "type": "tool_call"}
OPENAI = {"id": "c", "type": "function", "function": {"name": "tool", "arguments": TEXT}}
CHOICE = {"index": 0, "message": {"role": "assistant", "content": None, "tool_calls": [OPENAI]}, "finish_reason": "tool_calls"}
ITEM = {"type": "function_call", "call_id": "c", "name": "tool", "arguments": TEXT}
REALTIME = {"object": "realtime.response", "status": "completed", "output": [ITEM]}
FORMS: dict[str, Any] = {
    "langchain": {"type": "ai", "content": "", "response_metadata": {"finish_reason": "tool_calls"}, "tool_calls": [CALL]},
    "langchain over anthropic": {
        "type": "ai",
        "content": [{"type": "text", "text": "hm"}, {"type": "tool_use", "id": "c", "name": "tool", "input": GOOD}],
        "tool_calls": [CALL],
    },
    "langchain with what was parsed": {
        "raw": {"type": "ai", "content": "", "tool_calls": [CALL]},
        "parsed": None,
        "parsing_error": None,
    },
    "langchain raw": {"type": "ai", "content": "", "tool_calls": [], "additional_kwargs": {"tool_calls": [OPENAI]}},
    "list of langchain's calls": [CALL],
    "one of langchain's calls": CALL,
    "pydantic-ai": {
        "parts": [{"tool_name": "tool", "args": TEXT, "tool_call_id": "c", "id": None, "part_kind": "tool-call"}],
        "kind": "response",
        "finish_reason": "tool_call",
    },
    "a part of pydantic-ai": {"tool_name": "tool", "args": GOOD, "tool_call_id": "c", "part_kind": "tool-call"},
    "bedrock": {
        "output": {
            "message": {
                "role": "assistant",
                "content": [
                    {"text": "hm"},
                    {"reasoningContent": {"reasoningText": {"text": "so"}}},
                    {"toolUse": {"toolUseId": "c", "name": "tool", "input": GOOD}},
                ],
            }
        },
        "stopReason": "tool_use",
    },
    "a stream of bedrock": [
        {"messageStart": {"role": "assistant"}},
        {"contentBlockStart": {"start": {"toolUse": {"toolUseId": "c", "name": "tool"}}, "contentBlockIndex": 0}},
        {"contentBlockDelta": {"delta": {"toolUse": {"input": '{"a":'}}, "contentBlockIndex": 0}},
        {"contentBlockDelta": {"delta": {"toolUse": {"input": ' "x"}'}}, "contentBlockIndex": 0}},
        {"contentBlockStop": {"contentBlockIndex": 0}},
        {"messageStop": {"stopReason": "tool_use"}},
        {"metadata": {"usage": {}}},
    ],
    "choices": [CHOICE],
    "parts as lines": f'{{"type": "text", "text": "hm"}}\n{{"type": "tool_use", "id": "c", "name": "tool", "input": {TEXT}}}\n',
    "realtime": {"type": "response.done", "event_id": "e", "response": REALTIME},
    "realtime, the end of a call": {
        "type": "response.function_call_arguments.done",
        "call_id": "c",
        "name": "tool",
        "arguments": TEXT,
    },
    "realtime, the end of an item": {"type": "response.output_item.done", "item": ITEM},
    "a stream of realtime": [
        {"type": "session.created"},
        {"type": "response.created", "response": {}},
        {"type": "response.function_call_arguments.delta", "delta": "{"},
        {"type": "response.done", "response": REALTIME},
        {"type": "rate_limits.updated"},
    ],
    "live": {"toolCall": {"functionCalls": [{"id": "c", "name": "tool", "args": GOOD}]}},
    "live in python": {"tool_call": {"function_calls": [{"id": "c", "name": "tool", "args": GOOD}]}, "server_content": None},
    "a stream of live": [
        {"setupComplete": {}},
        {"serverContent": {"modelTurn": {"parts": [{"text": "hm"}]}}},
        {"toolCall": {"functionCalls": [{"id": "c", "name": "tool", "args": GOOD}]}},
    ],
    "a stream of gemini's library": [
        {
            "candidates": [
                {"content": {"parts": [{"function_call": {"id": "c", "name": "tool", "args": GOOD}}]}, "finish_reason": None}
            ],
            "prompt_feedback": None,
        },
        {"candidates": [{"content": {"parts": [], "role": "model"}, "finish_reason": "STOP"}]},
    ],
}


@every_case("form", FORMS)
def test_a_call_is_found_once_with_its_id(form: str) -> None:
    for answer in (FORMS[form], FORMS[form] if isinstance(FORMS[form], str) else json.dumps(FORMS[form])):
        lifted = lift(answer, lower(SCHEMA, "openai").map)
        assert lifted.status == "ok", lifted
        assert (lifted.call.name, lifted.value, lifted.call.id) == ("tool", GOOD, "c")


OTHERS: list[tuple[str, Any]] = [
    ("ok", {"parts": [{"content": "so", "part_kind": "thinking"}, {"content": TEXT, "part_kind": "text"}], "kind": "response"}),
    ("ok", {"serverContent": {"modelTurn": {"parts": [{"text": TEXT}]}, "turnComplete": True}}),
    ("ok", {"output": {"message": {"role": "assistant", "content": [{"text": TEXT}]}}, "stopReason": "end_turn"}),
    ("cut", {"type": "ai", "content": TEXT[:5], "response_metadata": {"finish_reason": "length"}, "tool_calls": []}),
    ("cut", {"kind": "response", "parts": [], "finish_reason": "length"}),
    ("cut", {"output": {"message": {"role": "assistant", "content": []}}, "stopReason": "max_tokens"}),
    ("cut", [{"messageStart": {"role": "assistant"}}, {"contentBlockDelta": {"delta": {"text": "{"}, "contentBlockIndex": 0}}]),
    ("cut", [{"serverContent": {"modelTurn": {"parts": [{"text": "{"}]}}}, {"setupComplete": {}}]),
    ("cut", [{"candidates": [{"content": {"parts": []}, "finish_reason": "MAX_TOKENS"}], "prompt_feedback": None}]),
    ("refused", {"output": {"message": {"role": "assistant", "content": []}}, "stopReason": "guardrail_intervened"}),
    ("refused", {"kind": "response", "parts": [], "finish_reason": "content_filter"}),
    ("refused", [{"candidates": None, "prompt_feedback": {"block_reason": "SAFETY"}}]),
    ("malformed", {"output": {"message": {"role": "assistant", "content": []}}, "stopReason": "malformed_tool_use"}),
    ("failed", {"kind": "response", "parts": [], "finish_reason": "error"}),
    (
        "invalid",
        {"type": "ai", "content": "", "invalid_tool_calls": [{"name": "tool", "args": "{oops", "id": "c", "error": "bad"}]},
    ),
    ("empty", {"type": "ai", "content": "", "tool_calls": [], "invalid_tool_calls": []}),
]


@every_case(("status", "answer"), OTHERS)
def test_what_else_came_of_it_is_told(status: str, answer: Any) -> None:
    assert lift(answer, lower(SCHEMA, "openai").map).status in {status, "cut" if status == "invalid" else status}
