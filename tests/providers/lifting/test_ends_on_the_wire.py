"""Answers in the shape of the wire with open schemas, marks inside values, half-marked calls, and ends that few providers have.

Sources, 2026-11: API references of OpenAI, Anthropic, Gemini, Bedrock, Ollama; errors of OpenRouter, DeepSeek and GLM; templates
of Qwen, GLM, MiniMax, Kimi, DeepSeek and gpt-oss.
"""

# ruff: noqa: E501  -- texts stand as they come over the wire

from __future__ import annotations

import json
from typing import Any

from every_case import every_case

from instrc import lift, lower

S: Any = {
    "type": "object",
    "properties": {"location": {"type": "string"}, "unit": {"enum": ["celsius", "fahrenheit"]}},
    "required": ["location", "unit"],
    "additionalProperties": False,
}
OPEN: Any = {"type": "object", "properties": {"status": {"type": "string"}, "id": {"type": "string"}}, "required": ["id"]}
OPT: Any = {"type": "object", "properties": {"content": {}, "role": {"type": "string"}, "usage": {}}}
LST: Any = {"type": "array", "items": {"type": "object"}}
V = {"location": "Boston, MA", "unit": "celsius"}
T = json.dumps(V)


def cc(m: Any, r: str = "stop", **k: Any) -> Any:
    return {
        "id": "c",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "message": {"role": "assistant", **m}, "finish_reason": r}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        **k,
    }


def tc(a: str) -> Any:
    return {"id": "c1", "type": "function", "function": {"name": "t", "arguments": a}}


def rs(o: Any, s: str = "completed", **k: Any) -> Any:
    return {
        "id": "resp_1",
        "object": "response",
        "status": s,
        "error": None,
        "incomplete_details": None,
        "model": "gpt-5",
        "output": o,
        **k,
    }


def an(c: Any, r: str = "end_turn", **k: Any) -> Any:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude",
        "content": c,
        "stop_reason": r,
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
        **k,
    }


def ge(p: Any, r: str = "STOP", **k: Any) -> Any:
    return {
        "candidates": [{"content": {"parts": p, "role": "model"}, "finishReason": r, "index": 0}],
        "usageMetadata": {"promptTokenCount": 1},
        "modelVersion": "g",
        "responseId": "x",
        **k,
    }


def be(c: Any, r: str = "end_turn") -> Any:
    return {
        "output": {"message": {"role": "assistant", "content": c}},
        "stopReason": r,
        "usage": {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2},
        "metrics": {"latencyMs": 1},
    }


def ev(*p: Any, done: bool = True) -> str:
    return "".join(f"data: {json.dumps(x)}\n\n" for x in p) + ("data: [DONE]\n\n" if done else "")


def nev(*p: Any) -> str:
    return "".join(f"event: {x.get('type', 'm')}\ndata: {json.dumps(x)}\n\n" for x in p)


def ch(d: Any, f: str | None = None, **k: Any) -> Any:
    return {"id": "c", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": d, "finish_reason": f}], **k}


def msg(t: str, **k: Any) -> Any:
    return {
        "type": "message",
        "id": "m",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": t, "annotations": []}],
        **k,
    }


CASES: dict[str, tuple[str, str, Any, Any, Any]] = {}
"""By name: the target, the status (`!ok` for any but that), what a provider sends, the schema, the value."""


def add(name: str, target: str, status: str, answer: Any, schema: Any = None, value: Any = ...) -> None:
    CASES[name] = target, status, answer, schema or S, value


add("openopen refusal", "openai-output", "refused", cc({"content": None, "refusal": "no"}), OPEN)
add(
    "open cut resp",
    "openai-responses-output",
    "cut",
    rs([msg(T[:9])], "incomplete", incomplete_details={"reason": "max_output_tokens"}),
    OPEN,
)
add(
    "open resp failed",
    "openai-responses-output",
    "failed",
    rs([], "failed", error={"code": "server_error", "message": "Oops"}),
    OPEN,
)
add(
    "open resp filter",
    "openai-responses-output",
    "refused",
    rs([msg("x")], "incomplete", incomplete_details={"reason": "content_filter"}),
    OPEN,
)
add("open resp cancelled", "openai-responses", "!ok", rs([], "cancelled"), OPEN)
add("open resp queued", "openai-responses", "!ok", rs([], "queued"), OPEN)
add("open resp in_progress", "openai-responses", "!ok", rs([], "in_progress"), OPEN)
add("opt anth empty", "anthropic-output", "!ok", an([]), OPT)
add("opt anth refusal", "anthropic-output", "refused", an([], "refusal"), OPT)
add(
    "opt anth refusal details",
    "anthropic-output",
    "refused",
    an([], "refusal", stop_details={"type": "refusal", "category": "cyber", "explanation": "x"}),
    OPT,
)
add("opt anth context", "anthropic-output", "cut", an([{"type": "text", "text": T[:8]}], "model_context_window_exceeded"), OPT)
add(
    "opt anth pause",
    "anthropic",
    "!ok",
    an([{"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}], "pause_turn"),
    OPT,
)
add("opt bedrock guardrail", "bedrock-output", "refused", be([{"text": "Sorry"}], "guardrail_intervened"), OPT)
add("opt bedrock filtered", "bedrock-output", "refused", be([{"text": ""}], "content_filtered"), OPT)
add("bedrock ctx", "bedrock-output", "cut", be([{"text": T[:5]}], "model_context_window_exceeded"), OPT)
add("bedrock malformed out", "bedrock-output", "!ok", be([{"text": T}], "malformed_model_output"), S)
add("gemini spii", "gemini-output", "refused", {"candidates": [{"finishReason": "SPII", "index": 0}], "modelVersion": "g"}, OPT)
add(
    "gemini blocklist prompt",
    "gemini-output",
    "refused",
    {"promptFeedback": {"blockReason": "BLOCKLIST"}, "usageMetadata": {}},
    OPT,
)
add("gemini no candidates", "gemini-output", "!ok", {"usageMetadata": {"promptTokenCount": 1}, "modelVersion": "g"}, OPT)
add("gemini recitation", "gemini-output", "refused", ge([{"text": T[:9]}], "RECITATION"), OPT)
add(
    "gemini unexpected tool",
    "gemini",
    "!ok",
    {"candidates": [{"content": {}, "finishReason": "UNEXPECTED_TOOL_CALL", "index": 0}]},
    OPT,
)
add("gemini too many", "gemini", "!ok", {"candidates": [{"content": {}, "finishReason": "TOO_MANY_TOOL_CALLS", "index": 0}]}, OPT)
add(
    "gemini image safety",
    "gemini-output",
    "refused",
    {"candidates": [{"content": {}, "finishReason": "PROHIBITED_CONTENT", "index": 0}]},
    OPT,
)
add("gemini language", "gemini-output", "!ok", {"candidates": [{"content": {}, "finishReason": "LANGUAGE", "index": 0}]}, OPT)
add(
    "gemini missing thought sig",
    "gemini",
    "!ok",
    {"candidates": [{"content": {}, "finishReason": "MISSING_THOUGHT_SIGNATURE", "index": 0}]},
    OPT,
)
add(
    "ollama load",
    "ollama-output",
    "!ok",
    {"model": "m", "created_at": "x", "message": {"role": "assistant", "content": ""}, "done_reason": "load", "done": True},
    OPT,
)
add(
    "ollama length",
    "ollama-output",
    "cut",
    {"model": "m", "message": {"role": "assistant", "content": T[:9]}, "done_reason": "length", "done": True},
    OPT,
)
add("ollama undone", "ollama-output", "!ok", {"model": "m", "message": {"role": "assistant", "content": T}, "done": False}, OPT)
add(
    "list root cut stream", "openai-output", "cut", ev(ch({"role": "assistant", "content": '{"value":[{"a":1}'}), done=False), LST
)
add("list root cut stream2", "llamacpp", "cut", ev(ch({"content": '[{"a":1}'}, "length")), LST)
add("list root of events dict", "openai-output", "!ok", [ch({"role": "assistant", "content": ""})], LST)

add(
    "or mid-stream",
    "openai-output",
    "failed",
    ev(
        ch({"content": T[:9]}),
        {
            "id": "c",
            "error": {"code": "server_error", "message": "Provider disconnected"},
            "choices": [{"index": 0, "delta": {"content": ""}, "finish_reason": "error"}],
        },
    ),
)
add(
    "or choice error",
    "openai",
    "failed",
    {
        "id": "g",
        "choices": [
            {
                "error": {"code": 502, "message": "Upstream"},
                "finish_reason": "error",
                "message": {"role": "assistant", "content": ""},
            }
        ],
    },
)
add(
    "anth overloaded sse",
    "anthropic",
    "failed",
    nev(
        {"type": "message_start", "message": {"role": "assistant", "content": []}},
        {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
    ),
)
add(
    "groq failed",
    "openai",
    "!ok",
    {
        "error": {
            "message": "Failed to call a function.",
            "type": "invalid_request_error",
            "code": "tool_use_failed",
            "failed_generation": "<function=t>" + T + "</function>",
        }
    },
)
add("glm sensitive", "openai", "refused", cc({"content": ""}, "sensitive"))
add("glm network_error", "openai", "failed", cc({"content": ""}, "network_error"))
add("deepseek insuff", "openai", "!ok", cc({"content": T[:9]}, "insufficient_system_resource"))
add("glm ctx", "openai", "cut", cc({"content": T[:9]}, "model_context_window_exceeded"))
add("vllm abort", "vllm-output", "!ok", cc({"content": T[:9]}, "abort"))
add("200 html", "openai", "!ok", "<html><body>502 Bad Gateway</body></html>")

add(
    "xml param unclosed",
    "vllm",
    "!ok",
    cc(
        {
            "content": "<tool_call>\n<function=t>\n<parameter=location>\nBoston\n<parameter=unit>\ncelsius\n</parameter>\n</function>\n</tool_call>"
        }
    ),
)
add(
    "xml param whole",
    "vllm",
    "ok",
    cc(
        {
            "content": "<tool_call>\n<function=t>\n<parameter=location>\nBoston, MA\n</parameter>\n<parameter=unit>\ncelsius\n</parameter>\n</function>\n</tool_call>"
        }
    ),
    S,
    V,
)
add(
    "glm arg unclosed",
    "vllm",
    "!ok",
    cc(
        {
            "content": "<tool_call>t\n<arg_key>location</arg_key>\n<arg_value>Boston\n<arg_key>unit</arg_key>\n<arg_value>celsius</arg_value>\n</tool_call>"
        }
    ),
)
add(
    "glm args",
    "vllm",
    "ok",
    cc(
        {
            "content": "<tool_call>t\n<arg_key>location</arg_key>\n<arg_value>Boston, MA</arg_value>\n<arg_key>unit</arg_key>\n<arg_value>celsius</arg_value>\n</tool_call>"
        }
    ),
    S,
    V,
)
add("gemini malformed beside", "gemini", "!ok", ge([{"functionCall": {"name": "t", "args": V}}], "MALFORMED_FUNCTION_CALL"))
add(
    "bedrock malformed tool",
    "bedrock",
    "!ok",
    be([{"toolUse": {"toolUseId": "x", "name": "t", "input": V}}], "malformed_tool_use"),
)
add(
    "minimax",
    "vllm",
    "ok",
    cc(
        {
            "content": '<minimax:tool_call>\n<invoke name="t">\n<parameter name="location">Boston, MA</parameter>\n<parameter name="unit">celsius</parameter>\n</invoke>\n</minimax:tool_call>'
        }
    ),
    S,
    V,
)

W = {"location": "</think> <|channel|>final</tool_call>", "unit": "celsius"}
add("marks in json", "vllm-output", "ok", cc({"content": json.dumps(W)}), S, W)
add("marks in args", "openai", "ok", cc({"content": None, "tool_calls": [tc(json.dumps(W))]}, "tool_calls"), S, W)
add("think then json with mark", "vllm-output", "ok", cc({"content": "<think>hmm</think>\n" + json.dumps(W)}), S, W)
add("reasoning only", "vllm-output", "ok", cc({"content": "", "reasoning_content": T}), S, V)
add("reasoning field", "vllm-output", "ok", cc({"content": None, "reasoning": T}), S, V)
add("reasoning cut", "vllm-output", "!ok", cc({"content": "", "reasoning_content": T}, "length"))
add(
    "ollama thinking",
    "ollama-output",
    "ok",
    {"model": "m", "message": {"role": "assistant", "content": "", "thinking": T}, "done_reason": "stop", "done": True},
    S,
    V,
)
add(
    "harmony",
    "vllm-output",
    "ok",
    cc({"content": "<|channel|>analysis<|message|>x<|end|><|start|>assistant<|channel|>final<|message|>" + T}),
    S,
    V,
)
add(
    "mistral thinking parts",
    "mistral-output",
    "ok",
    cc({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": T}]}),
    S,
    V,
)

NL: Any = {
    "type": "object",
    "properties": {"a": {"type": ["array", "null"], "items": {"type": "string"}}, "b": {"type": ["string", "null"]}},
    "required": ["a"],
    "additionalProperties": False,
}
add(
    "null legal",
    "anthropic",
    "ok",
    an([{"type": "tool_use", "id": "x", "name": "t", "input": {"a": None, "b": None}}], "tool_use"),
    NL,
    {"a": None, "b": None},
)

add(
    "id per chunk",
    "openai",
    "ok",
    [
        ch({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "t", "arguments": T[:9]}}]}),
        ch({"tool_calls": [{"index": 0, "id": "b", "function": {"arguments": T[9:]}}]}, "tool_calls"),
    ],
    S,
    V,
)
add(
    "kimi id",
    "vllm",
    "ok",
    cc(
        {
            "content": "<|tool_calls_section_begin|><|tool_call_begin|>functions.t:0<|tool_call_argument_begin|>"
            + T
            + "<|tool_call_end|><|tool_calls_section_end|>"
        }
    ),
    S,
    V,
)
add("leading json", "vllm-output", "ok", cc({"content": "json\n" + T}), S, V)
add("glm box", "vllm-output", "ok", cc({"content": "<|begin_of_box|>" + T + "<|end_of_box|>"}), S, V)
add(
    "ds31",
    "vllm",
    "ok",
    cc(
        {
            "content": "<\uff5ctool\u2581calls\u2581begin\uff5c><\uff5ctool\u2581call\u2581begin\uff5c>t<\uff5ctool\u2581sep\uff5c>"
            + T
            + "<\uff5ctool\u2581call\u2581end\uff5c><\uff5ctool\u2581calls\u2581end\uff5c>"
        }
    ),
    S,
    V,
)
add(
    "dsml",
    "vllm",
    "ok",
    cc(
        {
            "content": '<\uff5cDSML\uff5cfunction_calls>\n<\uff5cDSML\uff5cinvoke name="t">\n<\uff5cDSML\uff5cparameter name="location" string="true">Boston, MA</\uff5cDSML\uff5cparameter>\n<\uff5cDSML\uff5cparameter name="unit" string="true">celsius</\uff5cDSML\uff5cparameter>\n</\uff5cDSML\uff5cinvoke>\n</\uff5cDSML\uff5cfunction_calls>'
        }
    ),
    S,
    V,
)
add(
    "sse multi-line data",
    "openai-output",
    "ok",
    "data: " + json.dumps(ch({"content": T}, "stop"), indent=1).replace("\n", "\ndata: ") + "\n\ndata: [DONE]\n\n",
    S,
    V,
)
add("sse comments", "openai-output", "ok", ": OPENROUTER PROCESSING\n\n" + ev(ch({"content": T}, "stop")), S, V)
add("sse crlf", "openai-output", "ok", ev(ch({"content": T}, "stop")).replace("\n", "\r\n"), S, V)
add("resp reasoning+msg", "openai-responses-output", "ok", rs([{"type": "reasoning", "id": "r", "summary": []}, msg(T)]), S, V)
add(
    "resp commentary phase",
    "openai-responses-output",
    "ok",
    rs([msg("Let me look.", phase="commentary"), msg(T, phase="final_answer")]),
    S,
    V,
)
add(
    "resp call",
    "openai-responses",
    "ok",
    rs([{"type": "function_call", "id": "f", "call_id": "c", "name": "t", "arguments": T, "status": "completed"}]),
    S,
    V,
)
add(
    "resp call incomplete",
    "openai-responses",
    "!ok",
    rs(
        [{"type": "function_call", "id": "f", "call_id": "c", "name": "t", "arguments": T, "status": "incomplete"}],
        "incomplete",
        incomplete_details={"reason": "max_output_tokens"},
    ),
)
add(
    "resp refusal part",
    "openai-responses-output",
    "refused",
    rs([{"type": "message", "role": "assistant", "status": "completed", "content": [{"type": "refusal", "refusal": "no"}]}]),
    OPEN,
)
add(
    "anth thinking+tool",
    "anthropic",
    "ok",
    an(
        [
            {"type": "thinking", "thinking": "", "signature": "s"},
            {"type": "redacted_thinking", "data": "x"},
            {"type": "tool_use", "id": "x", "name": "t", "input": V, "caller": {"type": "direct"}},
        ],
        "tool_use",
    ),
    S,
    V,
)
add(
    "anth tool cut",
    "anthropic",
    "cut",
    an([{"type": "tool_use", "id": "x", "name": "t", "input": {"location": "Bos"}}], "max_tokens"),
)
add(
    "anth fallback block",
    "anthropic-output",
    "ok",
    an([{"type": "text", "text": "", "citations": None}, {"type": "text", "text": T}]),
    S,
    V,
)
add(
    "bedrock reasoning",
    "bedrock-output",
    "ok",
    be([{"reasoningContent": {"reasoningText": {"text": "x", "signature": "s"}}}, {"text": T}]),
    S,
    V,
)
add(
    "bedrock cut tool",
    "bedrock",
    "cut",
    be([{"toolUse": {"toolUseId": "x", "name": "t", "input": {"location": "B"}}}], "max_tokens"),
)
add(
    "gem thought part",
    "gemini-output",
    "ok",
    ge([{"text": "thinking", "thought": True}, {"text": T, "thoughtSignature": "x"}]),
    S,
    V,
)
FC = {"type": "function_call", "id": "f", "call_id": "c", "name": "t", "arguments": T, "status": "incomplete"}
add("resp item incomplete alone", "openai-responses", "cut", FC)  # API reference of OpenAI: the status of an item
add("resp item incomplete, completed", "openai-responses", "cut", rs([FC]))
add("resp message incomplete", "openai-responses-output", "cut", [msg(T, status="incomplete")])
add("vllm repetition", "vllm-output", "cut", cc({"content": T}, "repetition"))  # vllm-project/vllm, v1/engine: FinishReason
add("gem stream cut behind its first event", "gemini-output", "cut", ev(ge([{"text": T}], None), done=False), OPT)
add("gem image other", "gemini-output", "failed", ge([{"text": T}], "IMAGE_OTHER"))  # API reference of Gemini: FinishReason
add("gem no image", "gemini-output", "failed", ge([{"text": T}], "NO_IMAGE"))
CHANNEL = {"location": "a <|channel|>final<|message|> b", "unit": "celsius"}
for kind, text in {
    "hermes": f'<tool_call>\n{{"name": "t", "arguments": {json.dumps(CHANNEL)}}}\n</tool_call>',
    "kimi": f"<|tool_call_begin|>functions.t:0<|tool_call_argument_begin|>{json.dumps(CHANNEL)}<|tool_call_end|>",
    "gemma": '<|tool_call>call:t{location:<|"|>a <|channel|>final<|message|> b<|"|>,unit:<|"|>celsius<|"|>}<tool_call|>',
}.items():
    add(f"{kind} quotes a channel", "vllm", "ok", cc({"content": text}), S, CHANNEL)
add(
    "command response",
    "vllm-output",
    "ok",
    cc({"content": f"<|START_THINKING|>hm<|END_THINKING|><|START_RESPONSE|>{T}<|END_RESPONSE|>"}),
    S,
    V,
)
add("gem call id", "gemini", "ok", ge([{"functionCall": {"id": "1", "name": "t", "args": V}, "thoughtSignature": "x"}]), S, V)


@every_case("name", CASES)
def test_an_answer_on_the_wire_has_its_status_and_its_value(name: str) -> None:
    target, status, answer, schema, value = CASES[name]
    whole = (answer, json.dumps(answer).encode()) if isinstance(answer, dict) else (answer,)
    for given in whole:
        lifted = lift(given, lower(schema, target, "t"))
        assert lifted.status == status or (status == "!ok" and lifted.status != "ok")
        if value is not ...:
            assert [call.value for call in lifted.calls] == [value]


def test_an_error_with_a_request_id_is_no_value_of_an_open_schema() -> None:
    schema = {"type": "object", "properties": {"code": {"type": "string"}, "text": {"type": "string"}}}
    for target in ("openai", "anthropic", "ollama", "gemini", "mcp"):
        assert (
            lift({"code": "Throttling", "message": "Too many", "request_id": "5f0d"}, lower(schema, target).map).status
            == "failed"
        )
