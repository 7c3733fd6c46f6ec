"""Answers of more hosts, batches and open models in the shape of the wire, also where an open schema could take the envelope.

Sources, 2026-11: api-docs.deepseek.com (JSON output), Anthropic (stop reasons, batches, server tools), OpenAI (responses,
batches), ai.google.dev (`FinishReason`), Bedrock (Converse), Ollama, Cohere, Cloudflare's API envelope, DashScope, GLM, Mistral,
Replicate, TGI; chat templates of the open models.
"""

from __future__ import annotations

import json
from typing import Any

from instrc import lift, lower

SCHEMA: Any = {
    "type": "object",
    "properties": {"location": {"type": "string"}, "unit": {"enum": ["celsius", "fahrenheit"]}},
    "required": ["location", "unit"],
    "additionalProperties": False,
}
OPEN: Any = {
    "type": "object",
    "properties": {
        name: {}
        for name in (
            *("status", "message", "output", "result", "id", "choices", "error", "content", "response"),
            *("detail", "error_type", "model", "version", "input", "urls", "logs", "created_at"),
        )
    },
}
"""A schema that an envelope could satisfy."""
VALUE = {"location": "Boston, MA", "unit": "celsius"}
TEXT = json.dumps(VALUE)
CASES: list[tuple[str, str, str, Any, Any]] = []
"""Name, target, the status (`!ok` for any other than that, `!wrong` also for the right value), the answer, and the schema."""


def add(name: str, target: str, status: str, answer: Any, schema: Any = SCHEMA) -> None:
    """Add a case."""
    CASES.append((name, target, status, answer, schema))


def add_twice(name: str, target: str, status: str, answer: Any) -> None:
    """Add a case with each schema."""
    add(name, target, status, answer)
    add(f"{name}, open", target, status, answer, OPEN)


def chat(message: Any, reason: str = "stop", **more: Any) -> Any:
    """Return a response of Chat Completions."""
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": reason}
    return {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": {}, **more}


def call(arguments: Any = TEXT, name: str = "get_weather") -> Any:
    """Return a message with a call."""
    called = {"id": "c1", "type": "function", "function": {"name": name, "arguments": arguments}}
    return {"content": None, "tool_calls": [called]}


add_twice("deepseek blank json", "openai-output", "!ok", chat({"content": "        "}))
add_twice(
    "deepseek blank + thoughts",
    "openai-output",
    "!ok",
    chat({"content": "   ", "reasoning_content": "I think about the weather."}),
)
add_twice(
    "anthropic pause_turn",
    "anthropic",
    "!ok",
    {"id": "m", "type": "message", "role": "assistant", "content": [], "stop_reason": "pause_turn", "usage": {}},
)
add_twice(
    "anthropic window",
    "anthropic-output",
    "cut",
    {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "content": [{"type": "text", "text": TEXT[:15]}],
        "stop_reason": "model_context_window_exceeded",
    },
)
add_twice(
    "responses queued",
    "openai-responses",
    "!ok",
    {"id": "r", "object": "response", "status": "queued", "output": [], "error": None},
)
add_twice(
    "responses in_progress",
    "openai-responses-output",
    "!ok",
    {"id": "r", "object": "response", "status": "in_progress", "output": [], "error": None},
)
add_twice(
    "responses cancelled",
    "openai-responses-output",
    "!ok",
    {"id": "r", "object": "response", "status": "cancelled", "output": [], "error": None},
)
add_twice(
    "responses only reasoning",
    "openai-responses",
    "!ok",
    {
        "id": "r",
        "object": "response",
        "status": "completed",
        "output": [{"type": "reasoning", "id": "rs", "summary": []}],
        "error": None,
    },
)
add_twice(
    "gemini blocked prompt",
    "gemini",
    "refused",
    {
        "promptFeedback": {"blockReason": "PROHIBITED_CONTENT"},
        "usageMetadata": {"promptTokenCount": 3},
        "modelVersion": "gemini-3",
    },
)
for reason in ("LANGUAGE", "IMAGE_SAFETY", "RECITATION", "SPII", "BLOCKLIST"):
    add_twice(
        f"gemini {reason}", "gemini", "refused", {"candidates": [{"finishReason": reason, "index": 0}], "usageMetadata": {}}
    )
for reason in ("TOO_MANY_TOOL_CALLS", "MISSING_THOUGHT_SIGNATURE", "MALFORMED_RESPONSE"):
    add_twice(
        f"gemini {reason}",
        "gemini",
        "!ok",
        {
            "candidates": [
                {
                    "finishReason": reason,
                    "index": 0,
                    "content": {"parts": [{"functionCall": {"name": "get_weather", "args": VALUE}}]},
                }
            ]
        },
    )
add_twice(
    "bedrock guardrail",
    "bedrock",
    "refused",
    {
        "output": {"message": {"role": "assistant", "content": [{"text": "Sorry, blocked."}]}},
        "stopReason": "guardrail_intervened",
        "usage": {},
    },
)
add_twice(
    "bedrock window",
    "bedrock-output",
    "cut",
    {
        "output": {"message": {"role": "assistant", "content": [{"text": TEXT[:12]}]}},
        "stopReason": "model_context_window_exceeded",
        "usage": {},
    },
)
add_twice(
    "ollama load",
    "ollama-output",
    "!ok",
    {"model": "q", "created_at": "t", "message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "load"},
)
add_twice(
    "ollama generate unload",
    "ollama-output",
    "!ok",
    {"model": "q", "created_at": "t", "response": "", "done": True, "done_reason": "unload"},
)
add_twice(
    "cohere timeout",
    "openai-output",
    "!ok",
    {
        "id": "x",
        "message": {"role": "assistant", "content": [{"type": "text", "text": TEXT[:9]}]},
        "finish_reason": "TIMEOUT",
        "usage": {},
    },
)
add_twice(
    "cohere error",
    "openai-output",
    "!ok",
    {"id": "x", "message": {"role": "assistant", "content": []}, "finish_reason": "ERROR", "usage": {}},
)
add(
    "openai batch ok",
    "openai",
    "ok",
    {
        "id": "batch_req_1",
        "custom_id": "a",
        "response": {"status_code": 200, "request_id": "r", "body": chat(call(), "tool_calls")},
        "error": None,
    },
)
add_twice(
    "openai batch 400",
    "openai",
    "failed",
    {
        "id": "batch_req_1",
        "custom_id": "a",
        "response": {
            "status_code": 400,
            "request_id": "r",
            "body": {"error": {"message": "bad", "type": "invalid_request_error"}},
        },
        "error": None,
    },
)
add_twice(
    "openai batch expired",
    "openai",
    "failed",
    {
        "id": "batch_req_1",
        "custom_id": "a",
        "response": None,
        "error": {"code": "batch_expired", "message": "This request could not be executed before the completion window expired."},
    },
)
add(
    "anthropic batch ok",
    "anthropic",
    "ok",
    {
        "custom_id": "x",
        "result": {
            "type": "succeeded",
            "message": {
                "id": "m",
                "type": "message",
                "role": "assistant",
                "content": [{"type": "tool_use", "id": "t", "name": "get_weather", "input": VALUE}],
                "stop_reason": "tool_use",
            },
        },
    },
)
add_twice(
    "anthropic batch errored",
    "anthropic",
    "failed",
    {
        "custom_id": "x",
        "result": {"type": "errored", "error": {"type": "error", "error": {"type": "invalid_request_error", "message": "m"}}},
    },
)
add_twice("anthropic batch expired", "anthropic", "!ok", {"custom_id": "x", "result": {"type": "expired"}})
add_twice("anthropic batch canceled", "anthropic", "!ok", {"custom_id": "x", "result": {"type": "canceled"}})
add_twice("tgi overloaded", "openai", "failed", {"error": "Model is overloaded", "error_type": "overloaded"})
add(
    "cloudflare ok",
    "openai-output",
    "!ok",
    {"result": {"response": VALUE, "usage": {"prompt_tokens": 1}}, "success": True, "errors": [], "messages": []},
)
add(
    "cloudflare ok text",
    "openai-output",
    "!ok",
    {"result": {"response": TEXT, "usage": {"prompt_tokens": 1}}, "success": True, "errors": [], "messages": []},
)
add_twice(
    "cloudflare failed",
    "openai-output",
    "failed",
    {"result": None, "success": False, "errors": [{"code": 5007, "message": "No such model"}], "messages": []},
)
add_twice(
    "groq failed_generation",
    "openai",
    "failed",
    {
        "error": {
            "message": "Failed to call a function. Please adjust your prompt.",
            "type": "invalid_request_error",
            "code": "tool_use_failed",
            "failed_generation": "<function=get_weather>" + TEXT + "</function>",
        }
    },
)
add_twice("azure filter beside call", "openai", "refused", chat(call(TEXT[:20]), "content_filter"))
add(
    "dashscope native call",
    "openai",
    "ok",
    {
        "output": {
            "choices": [
                {
                    "finish_reason": "tool_calls",
                    "message": {
                        "role": "assistant",
                        "content": "",
                        "tool_calls": [
                            {"index": 0, "id": "c", "type": "function", "function": {"name": "get_weather", "arguments": TEXT}}
                        ],
                    },
                }
            ]
        },
        "usage": {"input_tokens": 1, "output_tokens": 2},
        "request_id": "r",
    },
)
add(
    "dashscope native text",
    "openai-output",
    "ok",
    {"output": {"text": TEXT, "finish_reason": "stop"}, "usage": {"input_tokens": 1, "output_tokens": 2}, "request_id": "r"},
)
add_twice(
    "dashscope native cut",
    "openai-output",
    "cut",
    {"output": {"text": TEXT[:14], "finish_reason": "length"}, "usage": {}, "request_id": "r"},
)
add_twice(
    "dashscope inspection",
    "openai-output",
    "!ok",
    {"code": "DataInspectionFailed", "message": "Input data may contain inappropriate content.", "request_id": "r"},
)
add_twice("glm sensitive", "openai", "refused", chat({"content": ""}, "sensitive"))
add_twice("glm network_error", "openai", "!ok", chat({"content": TEXT[:9]}, "network_error"))
add_twice("mistral model_length", "mistral", "cut", chat({"content": TEXT[:9]}, "model_length"))
add_twice("mistral error", "mistral", "!ok", chat({"content": ""}, "error"))
add("sagemaker tgi", "openai-output", "!ok", [{"generated_text": TEXT}])
for state, text, error, status in (
    ("starting", None, None, "cut"),
    ("processing", [TEXT[:9]], None, "cut"),
    ("processing", [TEXT], None, "cut"),
    ("succeeded", [TEXT[:9], TEXT[9:]], None, "ok"),
    ("succeeded", TEXT, None, "ok"),
    ("failed", None, "CUDA out of memory", "failed"),
    ("canceled", [TEXT], None, "failed"),
    ("aborted", None, None, "failed"),
):
    prediction = {"id": "p", "model": "m", "status": state, "output": text, "error": error, "logs": ""}
    whole = {**prediction, "version": "v", "input": {}, "urls": {"get": "u", "cancel": "u"}, "created_at": "2026-11-28T10:00:00Z"}
    for answer in (prediction, whole):
        (add if status == "ok" else add_twice)(f"replicate {state}", "openai-output", status, answer)
for body in (
    {"detail": "Not Found"},
    {"detail": "Method Not Allowed"},
    {"detail": "Not authenticated"},
    {"detail": [{"type": "missing", "loc": ["body", "messages"], "msg": "Field required", "input": {}}]},
    {"detail": {"error": "Invalid model name passed in model=m. Call `/v1/models`."}},
    {"error": "Unauthorized"},
    {"error": "Model is overloaded", "error_type": "overloaded"},
):
    add_twice(f"body of an HTTP error {body}", "openai-output", "failed", body)
add(
    "vertex stream list",
    "gemini",
    "ok",
    [
        {"candidates": [{"content": {"role": "model", "parts": [{"text": "hm", "thought": True}]}}]},
        {
            "candidates": [
                {
                    "content": {"role": "model", "parts": [{"functionCall": {"name": "get_weather", "args": VALUE}}]},
                    "finishReason": "STOP",
                }
            ]
        },
    ],
)
add(
    "anthropic server tools",
    "anthropic",
    "ok",
    {
        "type": "message",
        "role": "assistant",
        "content": [
            {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "w"}},
            {
                "type": "web_search_tool_result",
                "tool_use_id": "s",
                "content": [{"type": "web_search_result", "url": "u", "title": "t"}],
            },
            {"type": "tool_use", "id": "t", "name": "get_weather", "input": VALUE},
        ],
        "stop_reason": "tool_use",
    },
)
add(
    "anthropic mcp blocks",
    "anthropic",
    "ok",
    {
        "type": "message",
        "role": "assistant",
        "content": [
            {"type": "mcp_tool_use", "id": "s", "name": "x", "server_name": "y", "input": {"q": 1}},
            {"type": "mcp_tool_result", "tool_use_id": "s", "is_error": False, "content": [{"type": "text", "text": '{"a": 1}'}]},
            {"type": "tool_use", "id": "t", "name": "get_weather", "input": VALUE},
        ],
        "stop_reason": "tool_use",
    },
)
add(
    "anthropic thinking + text",
    "anthropic-output",
    "ok",
    {
        "type": "message",
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": '{"location": "no"}', "signature": "x"},
            {"type": "redacted_thinking", "data": "zz"},
            {"type": "text", "text": TEXT},
        ],
        "stop_reason": "end_turn",
    },
)
add_twice(
    "anthropic refusal",
    "anthropic",
    "refused",
    {"type": "message", "role": "assistant", "content": [], "stop_reason": "refusal", "stop_details": {"category": "cyber"}},
)
add_twice(
    "responses refusal",
    "openai-responses-output",
    "refused",
    {
        "object": "response",
        "status": "completed",
        "output": [
            {"type": "message", "role": "assistant", "status": "completed", "content": [{"type": "refusal", "refusal": "No."}]}
        ],
    },
)
add_twice(
    "responses filter",
    "openai-responses-output",
    "refused",
    {"object": "response", "status": "incomplete", "incomplete_details": {"reason": "content_filter"}, "output": []},
)
add_twice(
    "responses max",
    "openai-responses-output",
    "cut",
    {
        "object": "response",
        "status": "incomplete",
        "incomplete_details": {"reason": "max_output_tokens"},
        "output": [{"type": "reasoning", "id": "r", "summary": []}],
    },
)
add_twice(
    "responses rate",
    "openai-responses",
    "failed",
    {"object": "response", "status": "failed", "error": {"code": "rate_limit_exceeded", "message": "slow"}, "output": []},
)
add_twice("no choices", "openai", "!ok", chat({}, usage={}) | {"choices": []})
add_twice(
    "message null",
    "openai",
    "!ok",
    {"id": "c", "object": "chat.completion", "choices": [{"index": 0, "message": None, "finish_reason": "stop"}]},
)
add("args double encoded", "openai", "ok", chat(call(json.dumps(TEXT)), "tool_calls"))
add("args im_end", "openai", "ok", chat(call(TEXT + "<|im_end|>"), "tool_calls"))
add("args fence", "openai", "ok", chat(call("```json\n" + TEXT + "\n```"), "tool_calls"))
add("args empty", "openai", "invalid", chat(call(""), "tool_calls"))
add("args null", "openai", "invalid", chat(call(None), "tool_calls"))
add("args list", "openai", "invalid", chat(call("[]"), "tool_calls"))
add(
    "hermes",
    "vllm",
    "ok",
    chat({"content": f"<tool_call>\n{json.dumps({'name': 'get_weather', 'arguments': VALUE})}\n</tool_call>"}),
)
add(
    "hermes unclosed",
    "vllm",
    "!wrong",
    chat({"content": f"<tool_call>\n{json.dumps({'name': 'get_weather', 'arguments': VALUE})}"}),
)
add(
    "hermes cut", "vllm", "!ok", chat({"content": f"<tool_call>\n{json.dumps({'name': 'get_weather', 'arguments': VALUE})[:-8]}"})
)
add(
    "llama python_tag",
    "vllm",
    "ok",
    chat({"content": "<|python_tag|>" + json.dumps({"name": "get_weather", "parameters": VALUE})}),
)
add("mistral args", "vllm", "ok", chat({"content": "[TOOL_CALLS]get_weather[ARGS]" + TEXT}))
CODER = (
    "<tool_call>\n<function=get_weather>\n<parameter=location>\nBoston, MA\n</parameter>\n"
    "<parameter=unit>\ncelsius\n</parameter>\n</function>\n</tool_call>"
)
add("qwen coder", "vllm", "ok", chat({"content": CODER}))
add(
    "qwen coder no end param",
    "vllm",
    "!wrong",
    chat({"content": CODER.replace("\n</parameter>\n<parameter=unit", "\n<parameter=unit")}),
)
add("qwen coder cut", "vllm", "!ok", chat({"content": CODER[: CODER.index("celsius") + 3]}, "length"))
add(
    "gpt-oss",
    "vllm",
    "ok",
    chat(
        {
            "content": (
                "<|channel|>analysis<|message|>We need weather.<|end|><|start|>"
                "assistant<|channel|>commentary to=functions.get_weather <|constrain|>"
                "json<|message|>"
            )
            + TEXT
            + "<|call|>"
        }
    ),
)
add(
    "deepseek v3.1",
    "vllm",
    "ok",
    chat(
        {
            "content": "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>"
            + TEXT
            + "<｜tool▁call▁end｜><｜tool▁calls▁end｜>"
        }
    ),
)
add("granite", "vllm", "ok", chat({"content": "<|tool_call|>" + json.dumps([{"name": "get_weather", "arguments": VALUE}])}))
add(
    "phi4",
    "vllm",
    "ok",
    chat({"content": "<|tool_call|>" + json.dumps([{"name": "get_weather", "arguments": VALUE}]) + "<|/tool_call|>"}),
)
add(
    "minimax",
    "vllm",
    "ok",
    chat(
        {
            "content": (
                '<minimax:tool_call>\n<invoke name="get_weather">\n<parameter name="location">'
                'Boston, MA</parameter>\n<parameter name="unit">celsius</parameter>\n</invoke>\n'
                "</minimax:tool_call>"
            )
        }
    ),
)
add(
    "command-a",
    "vllm",
    "ok",
    chat(
        {
            "content": "<|START_THINKING|>plan<|END_THINKING|><|START_ACTION|>"
            + json.dumps([{"tool_call_id": "0", "tool_name": "get_weather", "parameters": VALUE}])
            + "<|END_ACTION|>"
        }
    ),
)
add(
    "seed",
    "vllm",
    "ok",
    chat(
        {
            "content": (
                "<seed:think>hm</seed:think><seed:tool_call>\n<function=get_weather>\n"
                "<parameter=location>Boston, MA</parameter>\n<parameter=unit>celsius</parameter>\n"
                "</function>\n</seed:tool_call>"
            )
        }
    ),
)
add(
    "functiongemma",
    "vllm",
    "!wrong",
    chat(
        {
            "content": (
                "<start_function_call>call:get_weather{location:<escape>Boston, MA<escape>"
                ",unit:<escape>celsius<escape>}<end_function_call>"
            )
        }
    ),
)
add(
    "lfm2",
    "vllm",
    "!wrong",
    chat({"content": '<|tool_call_start|>[get_weather(location="Boston, MA", unit="celsius")]<|tool_call_end|>'}),
)
add("pythonic", "vllm", "!wrong", chat({"content": '[get_weather(location="Boston, MA", unit="celsius")]'}))
add(
    "glm 4.5",
    "vllm",
    "ok",
    chat(
        {
            "content": (
                "<tool_call>get_weather\n<arg_key>location</arg_key>\n<arg_value>Boston, "
                "MA</arg_value>\n<arg_key>unit</arg_key>\n<arg_value>celsius</arg_value>\n"
                "</tool_call>"
            )
        }
    ),
)
add("call of another tool", "openai", "invalid", chat(call(TEXT, "other"), "tool_calls"))
add("think in content", "openai-output", "ok", chat({"content": '<think>\n{"location": "x"}\n</think>\n\n' + TEXT}))
add("think unopened", "openai-output", "ok", chat({"content": 'I think {"a": 1}.\n</think>\n\n' + TEXT}))
add("answer in reasoning_content", "openai-output", "ok", chat({"content": "", "reasoning_content": TEXT}))
add(
    "answer in thinking",
    "ollama-output",
    "ok",
    {"message": {"role": "assistant", "content": "", "thinking": TEXT}, "done": True, "done_reason": "stop"},
)
add("not whole in reasoning", "openai-output", "!ok", chat({"content": "", "reasoning_content": TEXT[:-5]}))


def test_an_answer_of_the_wire_has_the_status_of_its_end_and_never_a_wrong_value() -> None:
    used = {target for _, target, *_ in CASES}
    known = {id(schema): {target: lower(schema, target, "get_weather").map for target in used} for schema in (SCHEMA, OPEN)}
    wrong = []
    for name, target, status, answer, schema in CASES:
        found = lift(answer, known[id(schema)][target])
        values = [each.value for each in found.calls]
        fits = {"!ok": found.status != "ok", "!wrong": found.status != "ok" or values == [VALUE]}.get(
            status, found.status == status
        )
        if not fits or (status == "ok" and values != [VALUE]):
            wrong.append((name, status, found.status, values))
    assert wrong == []


def test_marks_of_templates_inside_a_value_stay_there() -> None:
    for text in ("</think><|channel|>final", "<|im_end|> </tool_call>", "[TOOL_CALLS]", "<|START_ACTION|>"):
        value = {**VALUE, "location": text}
        for target, message in (("openai-output", {"content": json.dumps(value)}), ("openai", call(json.dumps(value)))):
            assert lift(chat(message), lower(SCHEMA, target, "get_weather").map).value == value


def test_two_calls_are_two() -> None:
    message = call()
    message["tool_calls"] += call(json.dumps({**VALUE, "unit": "fahrenheit"}))["tool_calls"]
    found = lift(chat(message, "tool_calls"), lower(SCHEMA, "openai", "get_weather").map)
    assert [each.value["unit"] for each in found.calls] == ["celsius", "fahrenheit"]
