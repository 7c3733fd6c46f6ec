"""Answers of servers, gateways and clouds are read in the words of each, whole and in pieces; what breaks off is told."""

from __future__ import annotations

import json
from typing import Any

from every_case import every_case
from weather import CALL, OSLO, TEXT, WEATHER

from instrc import lift, lower, lower_all

BEGUN, REST = TEXT[:9], TEXT[9:]
TOOLS = lower_all([("tool", WEATHER), ("other", {"type": "object", "properties": {}})], "vllm").map
ONE = lower(WEATHER, "vllm", "tool").map


def delta(reason: Any = None, /, **said: Any) -> Any:
    return {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": said, "finish_reason": reason}]}


def fragment(arguments: str, name: str | None = None, **more: Any) -> Any:
    return [{"index": 0, "function": {"arguments": arguments, **({"name": name} if name else {})}, **more}]


CALLS: dict[str, Any] = {
    "Cerebras": {
        "choices": [{"finish_reason": "tool_calls", "message": {"role": "assistant", "tool_calls": [CALL]}}],
        "time_info": {},
    },
    "vLLM with thoughts": {
        "choices": [
            {
                "message": {"reasoning_content": "hm", "content": None, "tool_calls": [CALL]},
                "finish_reason": "tool_calls",
                "stop_reason": None,
            }
        ],
        "kv_transfer_params": None,
    },
    "OpenRouter": {
        "provider": "x",
        "choices": [
            {
                "native_finish_reason": "STOP",
                "finish_reason": "tool_calls",
                "message": {
                    "content": "",
                    "reasoning_details": [{"type": "reasoning.text"}],
                    "tool_calls": [{"index": 0, **CALL}],
                },
            }
        ],
    },
    "TGI": {
        "choices": [
            {
                "finish_reason": "stop",
                "message": {
                    "role": "assistant",
                    "tool_calls": [
                        {"id": "0", "type": "function", "function": {"description": None, "name": "tool", "arguments": OSLO}}
                    ],
                },
            }
        ]
    },
    "Qwen-Agent": [
        {"role": "assistant", "content": "", "reasoning_content": "hm"},
        {"role": "assistant", "content": "", "name": "bot", "function_call": {"name": "tool", "arguments": TEXT}},
    ],
}
TEXTS: dict[str, Any] = {
    "LM Studio over HTTP": {
        "output": [{"type": "reasoning", "content": "hm"}, {"type": "message", "content": TEXT}],
        "stats": {},
    },
    "Perplexity": {
        "citations": [],
        "choices": [{"finish_reason": "stop", "message": {"content": TEXT}, "delta": {"content": ""}}],
    },
}
STREAMS: dict[str, list[Any]] = {
    "vLLM with thoughts": [
        delta(role="assistant", content=""),
        delta(reasoning_content="hm"),
        delta(tool_calls=fragment("", "tool", id="c", type="function")),
        delta(tool_calls=fragment(BEGUN)),
        delta(tool_calls=fragment(REST)),
        delta("tool_calls", content=""),
    ],
    "Azure": [
        {"choices": [], "prompt_filter_results": [{"prompt_index": 0, "content_filter_results": {}}]},
        delta(role="assistant", tool_calls=fragment(TEXT, "tool", id="c")),
        {"choices": [{"content_filter_offsets": {}, "content_filter_results": {}, "finish_reason": None, "index": 0}]},
        delta("tool_calls"),
    ],
    "chat of TGI": [
        delta(tool_calls={"index": 0, "id": "", "type": "function", "function": {"name": "tool", "arguments": BEGUN}}),
        delta("stop", tool_calls={"index": 0, "id": "", "type": "function", "function": {"name": None, "arguments": REST}}),
    ],
    "llama.cpp": [
        {"index": 0, "content": BEGUN, "stop": False, "tokens_predicted": 1},
        {"index": 0, "content": REST, "stop": False, "tokens_predicted": 2},
        {"index": 0, "content": "", "stop": True, "tokens_predicted": 2, "stop_type": "eos"},
    ],
    "a conversation of Mistral": [
        {"type": "conversation.response.started", "conversation_id": "1"},
        {"type": "function.call.delta", "name": "tool", "tool_call_id": "c", "arguments": BEGUN},
        {"type": "function.call.delta", "name": "tool", "tool_call_id": "c", "arguments": REST},
        {"type": "conversation.response.done", "usage": {}},
    ],
    "words of a conversation of Mistral": [
        {"type": "message.output.delta", "content": BEGUN},
        {"type": "message.output.delta", "content": {"type": "text", "text": REST}},
        {"type": "conversation.response.done", "usage": {}},
    ],
}


def events(pieces: list[Any], before: str = "") -> str:
    return before + "".join(f"data: {json.dumps(piece)}\n\n" for piece in pieces)


@every_case("name", CALLS)
def test_a_call_of_a_server_is_read(name: str) -> None:
    for answer in (CALLS[name], json.dumps(CALLS[name])):
        lifted = lift(answer, TOOLS)
        assert (lifted.status, lifted.call.name, lifted.value) == ("ok", "tool", OSLO), lifted


@every_case("name", TEXTS)
def test_a_text_of_a_server_is_read(name: str) -> None:
    for answer in (TEXTS[name], json.dumps(TEXTS[name])):
        lifted = lift(answer, ONE)
        assert (lifted.status, lifted.value) == ("ok", OSLO), lifted


@every_case("name", STREAMS)
def test_the_pieces_of_a_server_are_put_together(name: str) -> None:
    pieces = STREAMS[name]
    waiting = ": OPENROUTER PROCESSING\n\n" * 5
    for answer in (pieces, events(pieces), events(pieces, waiting), events(pieces) + "data: [DONE]\n\n", iter(pieces)):
        lifted = lift(answer, ONE)
        assert (lifted.status, lifted.value) == ("ok", OSLO), lifted


@every_case("name", STREAMS)
def test_pieces_without_the_last_are_an_answer_that_was_cut_off(name: str) -> None:
    for record in (ONE, TOOLS):
        assert lift(STREAMS[name][:-1], record).status == "cut"
        assert lift(events(STREAMS[name][:-1]), record).status == "cut"


OTHERS: dict[str, list[Any]] = {
    "cut": [
        {"index": 0, "content": BEGUN, "stop": True, "tokens_predicted": 2, "stop_type": "limit"},
    ],
    "failed": [
        {"error": {"code": "tool_use_failed", "message": "no", "failed_generation": f"<function=tool>{TEXT}</function>"}},
        {"choices": [{"error": {"code": 502, "message": "no"}, "finish_reason": "error", "message": {"content": ""}}]},
        [delta(role="assistant", content="x"), delta("error", content="") | {"error": {"code": 502, "message": "no"}}],
        [{"type": "conversation.response.started"}, {"type": "conversation.response.error", "message": "no", "code": 1}],
    ],
    "refused": [
        {
            "choices": [
                {
                    "finish_reason": "content_filter",
                    "content_filter_results": {"hate": {"filtered": True}},
                    "message": {"content": ""},
                }
            ]
        },
    ],
}


@every_case(("status", "answer"), [(status, answer) for status, answers in OTHERS.items() for answer in answers])
def test_the_end_of_a_server_is_told_in_its_word(status: str, answer: Any) -> None:
    anything = lower({"type": "object"}, "vllm", "anything").map  # takes every envelope for a value
    for record in (ONE, anything):
        lifted = lift(answer, record)
        assert lifted.status == status, lifted
        assert lifted.problems
