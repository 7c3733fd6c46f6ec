"""Answers in the shape of the wire, as the documentation of each provider shows them, are read in all adapters' forms.

Sources, 2026-11: API references of OpenAI (Chat Completions, Responses), Azure, Anthropic (Messages), Gemini (`generateContent`),
Bedrock (Converse), Mistral, Ollama (`/api/chat`), GigaChat; error pages of OpenRouter, Groq, DeepSeek, GLM and Qwen.
"""

from __future__ import annotations

import json
from typing import Any

from every_case import every_case

from instrc import lift, lower

SCHEMA: Any = {
    "type": "object",
    "properties": {"location": {"type": "string"}, "unit": {"enum": ["celsius", "fahrenheit"]}},
    "required": ["location", "unit"],
    "additionalProperties": False,
}
V = {"location": "Boston, MA", "unit": "celsius"}
T = json.dumps(V)
CASES: dict[str, tuple[str, str, Any]] = {}
"""By name: the target, the status, and what the provider sends."""
USAGE = {
    "prompt_tokens": 82,
    "completion_tokens": 17,
    "total_tokens": 99,
    "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
    "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0},
}


def add(name: str, target: str, status: str, answer: Any) -> None:
    """Add a case."""
    CASES[name] = target, status, answer


def cc(message: Any, reason: str, **more: Any) -> Any:
    """Return a response of Chat Completions."""
    choice = {"index": 0, "message": {"role": "assistant", **message}, "logprobs": None, "finish_reason": reason}
    about = {"id": "chatcmpl-abc123", "object": "chat.completion", "created": 1699896916, "model": "gpt-5"}
    return {**about, "choices": [choice], "usage": USAGE, "service_tier": "default", "system_fingerprint": None, **more}


def rs(output: Any, status: str = "completed", **more: Any) -> Any:
    """Return a response of Responses."""
    about = {"id": "resp_67ccd2bed1ec8190", "object": "response", "created_at": 1741476542, "status": status, "error": None}
    about |= {"incomplete_details": None, "instructions": None, "max_output_tokens": None, "model": "gpt-5", "output": output}
    about |= {
        "parallel_tool_calls": True,
        "text": {"format": {"type": "text"}},
        "tool_choice": "auto",
        "tools": [],
        "metadata": {},
    }
    usage = {"input_tokens": 36, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 87, "total_tokens": 123}
    return {**about, "usage": usage, **more}


def an(content: Any, reason: str, **more: Any) -> Any:
    """Return a message of Anthropic."""
    about = {"id": "msg_01Aq9w938a90dw8q", "model": "claude-opus-5-5", "type": "message", "role": "assistant"}
    usage = {"input_tokens": 2095, "cache_read_input_tokens": 0, "output_tokens": 503, "service_tier": "standard"}
    return {**about, "content": content, "stop_reason": reason, "stop_sequence": None, "usage": usage, **more}


def ge(parts: Any, reason: str, **more: Any) -> Any:
    """Return a response of Gemini."""
    candidate = {"content": {"parts": parts, "role": "model"}, "finishReason": reason, "index": 0, "avgLogprobs": -0.1}
    usage = {"promptTokenCount": 40, "candidatesTokenCount": 15, "totalTokenCount": 55, "thoughtsTokenCount": 30}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "gemini-3-pro", "responseId": "abc", **more}


def be(content: Any, reason: str) -> Any:
    """Return a response of Converse."""
    usage = {"inputTokens": 30, "outputTokens": 628, "totalTokens": 658}
    return {
        "output": {"message": {"role": "assistant", "content": content}},
        "stopReason": reason,
        "usage": usage,
        "metrics": {"latencyMs": 1275},
    }


CALLS = [{"id": "call_abc123", "type": "function", "function": {"name": "get_weather", "arguments": T}}]
add("openai tool", "openai", "ok", cc({"content": None, "tool_calls": CALLS, "refusal": None, "annotations": []}, "tool_calls"))
add("openai output", "openai-output", "ok", cc({"content": T, "refusal": None, "annotations": []}, "stop"))
add(
    "openai refusal",
    "openai-output",
    "refused",
    cc({"content": None, "refusal": "I'm sorry, I cannot assist with that request."}, "stop"),
)
add("openai filter", "openai", "refused", cc({"content": "", "refusal": None}, "content_filter"))
add("openai length", "openai-output", "cut", cc({"content": T[:20], "refusal": None}, "length"))
add(
    "openai length tool",
    "openai",
    "cut",
    cc(
        {
            "content": None,
            "tool_calls": [{"id": "c", "type": "function", "function": {"name": "get_weather", "arguments": T[:15]}}],
        },
        "length",
    ),
)
AZURE = cc({"content": T}, "stop")
AZURE["prompt_filter_results"] = [
    {"prompt_index": 0, "content_filter_results": {"hate": {"filtered": False, "severity": "safe"}}}
]
AZURE["choices"][0]["content_filter_results"] = {
    "hate": {"filtered": False, "severity": "safe"},
    "self_harm": {"filtered": False, "severity": "safe"},
}
add("azure annotated ok", "openai-output", "ok", AZURE)
add(
    "azure error",
    "openai-output",
    "failed",
    {
        "error": {
            "message": "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
            "type": None,
            "param": "prompt",
            "code": "content_filter",
            "status": 400,
            "innererror": {
                "code": "ResponsibleAIPolicyViolation",
                "content_filter_result": {"jailbreak": {"filtered": True, "detected": True}},
            },
        }
    },
)
add(
    "responses call",
    "openai-responses",
    "ok",
    rs(
        [
            {"type": "reasoning", "id": "rs_1", "summary": []},
            {
                "type": "function_call",
                "id": "fc_67ca09c6",
                "call_id": "call_unLAR8",
                "name": "get_weather",
                "arguments": T,
                "status": "completed",
            },
        ]
    ),
)
add(
    "responses text",
    "openai-responses-output",
    "ok",
    rs(
        [
            {
                "type": "message",
                "id": "msg_67",
                "status": "completed",
                "role": "assistant",
                "content": [{"type": "output_text", "text": T, "annotations": [], "logprobs": []}],
            }
        ]
    ),
)
add(
    "responses refusal",
    "openai-responses-output",
    "refused",
    rs(
        [
            {
                "type": "message",
                "id": "msg_67",
                "status": "completed",
                "role": "assistant",
                "content": [{"type": "refusal", "refusal": "I'm sorry, I cannot assist with that request."}],
            }
        ]
    ),
)
add(
    "responses incomplete",
    "openai-responses-output",
    "cut",
    rs(
        [
            {
                "type": "message",
                "id": "m",
                "status": "incomplete",
                "role": "assistant",
                "content": [{"type": "output_text", "text": T[:9], "annotations": []}],
            }
        ],
        "incomplete",
        incomplete_details={"reason": "max_output_tokens"},
    ),
)
add(
    "responses reasoning only cut",
    "openai-responses",
    "cut",
    rs([{"type": "reasoning", "id": "rs_1", "summary": []}], "incomplete", incomplete_details={"reason": "max_output_tokens"}),
)
add("responses filter", "openai-responses", "refused", rs([], "incomplete", incomplete_details={"reason": "content_filter"}))
add(
    "responses failed",
    "openai-responses",
    "failed",
    rs([], "failed", error={"code": "server_error", "message": "The model failed to generate a response."}),
)
add("responses cancelled", "openai-responses", "failed", rs([], "cancelled"))
add(
    "anthropic tool",
    "anthropic",
    "ok",
    an(
        [
            {"type": "thinking", "thinking": "Let me see", "signature": "EqQB"},
            {"type": "text", "text": "I'll check that.", "citations": None},
            {
                "type": "tool_use",
                "id": "toolu_01A09q90qw90lq917835lq9",
                "name": "get_weather",
                "input": V,
                "caller": {"type": "direct"},
            },
        ],
        "tool_use",
    ),
)
add("anthropic output", "anthropic-output", "ok", an([{"type": "text", "text": T}], "end_turn"))
add(
    "anthropic redacted thinking",
    "anthropic-output",
    "ok",
    an([{"type": "redacted_thinking", "data": "EmwKAhgBEgy3va3p"}, {"type": "text", "text": T}], "end_turn"),
)
add("anthropic refusal", "anthropic", "refused", an([], "refusal"))
add(
    "anthropic refusal after text",
    "anthropic-output",
    "refused",
    an([{"type": "text", "text": "I can"}], "refusal", stop_details={"type": "refusal", "category": "cyber", "explanation": "x"}),
)
add(
    "anthropic max",
    "anthropic",
    "cut",
    an([{"type": "tool_use", "id": "t", "name": "get_weather", "input": {"location": "Bos"}}], "max_tokens"),
)
add("anthropic context", "anthropic", "cut", an([{"type": "text", "text": "The"}], "model_context_window_exceeded"))
add(
    "anthropic pause",
    "anthropic",
    "empty",
    an([{"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "x"}}], "pause_turn"),
)
add(
    "anthropic overloaded",
    "anthropic",
    "failed",
    {
        "type": "error",
        "error": {"type": "overloaded_error", "message": "Overloaded"},
        "request_id": "req_011CSHoEeqs5C35K2UUqR7Fy",
    },
)
add(
    "gemini call",
    "gemini",
    "ok",
    ge([{"functionCall": {"name": "get_weather", "args": V, "id": "x"}, "thoughtSignature": "Cs=="}], "STOP"),
)
add(
    "gemini output",
    "gemini-output",
    "ok",
    ge([{"text": "Thinking", "thought": True}, {"text": T, "thoughtSignature": "Cs=="}], "STOP"),
)
add("gemini two parts", "gemini-output", "ok", ge([{"text": T[:12]}, {"text": T[12:]}], "STOP"))
add("gemini max", "gemini-output", "cut", ge([{"text": T[:12]}], "MAX_TOKENS"))
add(
    "gemini max no parts",
    "gemini",
    "cut",
    {
        "candidates": [{"content": {"role": "model"}, "finishReason": "MAX_TOKENS", "index": 0}],
        "usageMetadata": {"promptTokenCount": 4, "totalTokenCount": 68, "thoughtsTokenCount": 64},
        "modelVersion": "gemini-2.5-flash",
    },
)
add(
    "gemini safety",
    "gemini",
    "refused",
    {
        "candidates": [
            {
                "finishReason": "SAFETY",
                "index": 0,
                "safetyRatings": [{"category": "HARM_CATEGORY_DANGEROUS_CONTENT", "probability": "HIGH", "blocked": True}],
            }
        ],
        "usageMetadata": {"promptTokenCount": 4, "totalTokenCount": 4},
    },
)
add(
    "gemini blocked",
    "gemini",
    "refused",
    {
        "promptFeedback": {"blockReason": "SAFETY", "safetyRatings": []},
        "usageMetadata": {"promptTokenCount": 4, "totalTokenCount": 4},
        "modelVersion": "gemini-2.5-flash",
    },
)
add(
    "gemini malformed",
    "gemini",
    "malformed",
    {
        "candidates": [
            {
                "content": {},
                "finishReason": "MALFORMED_FUNCTION_CALL",
                "finishMessage": "Malformed function call: call:default_api:get_weather{",
                "index": 0,
            }
        ]
    },
)
add("gemini recitation", "gemini-output", "refused", ge([], "RECITATION"))
add(
    "gemini unexpected",
    "gemini",
    "malformed",
    {"candidates": [{"content": {}, "finishReason": "UNEXPECTED_TOOL_CALL", "index": 0}]},
)
add("gemini language", "gemini-output", "refused", ge([], "LANGUAGE"))
add("gemini other", "gemini-output", "failed", ge([], "OTHER"))
add(
    "bedrock tool",
    "bedrock",
    "ok",
    be(
        [
            {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "s"}}},
            {"text": "Ok"},
            {"toolUse": {"toolUseId": "tooluse_hbTgdi0CSLq_hM4P8csZJA", "name": "get_weather", "input": V}},
        ],
        "tool_use",
    ),
)
add("bedrock output", "bedrock-output", "ok", be([{"text": T}], "end_turn"))
add(
    "bedrock guardrail",
    "bedrock",
    "refused",
    be([{"text": "Sorry, the model cannot answer this question."}], "guardrail_intervened"),
)
add("bedrock filtered", "bedrock", "refused", be([{"text": ""}], "content_filtered"))
add(
    "bedrock max",
    "bedrock",
    "cut",
    be([{"toolUse": {"toolUseId": "t", "name": "get_weather", "input": {"location": "B"}}}], "max_tokens"),
)
add("bedrock context", "bedrock", "cut", be([], "model_context_window_exceeded"))
add("bedrock malformed out", "bedrock-output", "malformed", be([{"text": '{"loc'}], "malformed_model_output"))
add("bedrock malformed tool", "bedrock", "malformed", be([], "malformed_tool_use"))
add("bedrock stop seq", "bedrock-output", "ok", be([{"text": T}], "stop_sequence"))
add(
    "mistral tool",
    "mistral",
    "ok",
    {
        "id": "cmpl-e5cc70bb28c444948073e77776eb30ef",
        "object": "chat.completion",
        "model": "mistral-large-latest",
        "usage": {"prompt_tokens": 16, "completion_tokens": 34, "total_tokens": 50},
        "created": 1702256327,
        "choices": [
            {
                "index": 0,
                "message": {
                    "content": "",
                    "tool_calls": [{"function": {"name": "get_weather", "arguments": T}, "id": "D681PevKs", "index": 0}],
                    "prefix": False,
                    "role": "assistant",
                },
                "finish_reason": "tool_calls",
            }
        ],
    },
)
add(
    "mistral error end",
    "mistral",
    "failed",
    {
        "id": "c",
        "object": "chat.completion",
        "model": "m",
        "choices": [{"index": 0, "message": {"content": "", "role": "assistant"}, "finish_reason": "error"}],
    },
)
add(
    "mistral model_length",
    "mistral",
    "cut",
    {
        "id": "c",
        "object": "chat.completion",
        "model": "m",
        "choices": [{"index": 0, "message": {"content": T[:4], "role": "assistant"}, "finish_reason": "model_length"}],
    },
)
add(
    "ollama",
    "ollama-output",
    "ok",
    {
        "model": "llama3.2",
        "created_at": "2023-12-12T14:13:43.416799Z",
        "message": {"role": "assistant", "content": T, "thinking": "hm"},
        "done": True,
        "done_reason": "stop",
        "total_duration": 5191566416,
        "load_duration": 2154458,
        "prompt_eval_count": 26,
        "prompt_eval_duration": 383809000,
        "eval_count": 298,
        "eval_duration": 4799921000,
    },
)
add(
    "ollama length",
    "ollama-output",
    "cut",
    {"model": "llama3.2", "message": {"role": "assistant", "content": T[:10]}, "done": True, "done_reason": "length"},
)
add(
    "ollama load",
    "ollama-output",
    "empty",
    {
        "model": "llama3.2",
        "created_at": "2024",
        "message": {"role": "assistant", "content": ""},
        "done_reason": "load",
        "done": True,
    },
)
add(
    "groq failed_generation",
    "openai",
    "failed",
    {
        "error": {
            "message": "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.",
            "type": "invalid_request_error",
            "code": "tool_use_failed",
            "failed_generation": '<function=get_weather{"location": "Boston"}',
        }
    },
)
add(
    "openrouter error",
    "openai",
    "failed",
    {
        "id": "gen-1",
        "choices": [],
        "error": {"code": 502, "message": "Provider returned error", "metadata": {"raw": "x", "provider_name": "DeepInfra"}},
        "user_id": "u",
    },
)
add(
    "openrouter moderated",
    "openai",
    "failed",
    {
        "error": {
            "code": 403,
            "message": "Your chosen model requires moderation and your input was flagged",
            "metadata": {"reasons": ["violence"], "flagged_input": "x", "provider_name": "OpenAI", "model_slug": "y"},
        }
    },
)
add(
    "openrouter ok",
    "openai",
    "ok",
    cc(
        {
            "content": "",
            "refusal": None,
            "reasoning": "hm",
            "reasoning_details": [{"type": "reasoning.text", "text": "hm", "format": "unknown", "index": 0}],
            "tool_calls": [{"index": 0, "id": "c", "type": "function", "function": {"name": "get_weather", "arguments": T}}],
        },
        "tool_calls",
        provider="Novita",
    ),
)
add(
    "deepseek",
    "openai",
    "ok",
    cc(
        {
            "content": "",
            "reasoning_content": "hm",
            "tool_calls": [
                {"index": 0, "id": "call_0_x", "type": "function", "function": {"name": "get_weather", "arguments": T}}
            ],
        },
        "tool_calls",
    ),
)
add("deepseek resource", "openai", "failed", cc({"content": ""}, "insufficient_system_resource"))
add(
    "xai",
    "openai",
    "ok",
    cc({"content": "", "reasoning_content": "x", "tool_calls": CALLS, "refusal": None}, "tool_calls", citations=None),
)
add("glm sensitive", "openai", "refused", cc({"content": ""}, "sensitive"))
add("glm network", "openai", "failed", cc({"content": ""}, "network_error"))
add(
    "qwen error",
    "openai",
    "failed",
    {
        "error": {
            "message": "Input data may contain inappropriate content.",
            "type": "data_inspection_failed",
            "param": None,
            "code": "data_inspection_failed",
        },
        "request_id": "x",
    },
)
add(
    "gigachat",
    "gigachat",
    "ok",
    {
        "choices": [
            {
                "message": {
                    "role": "assistant",
                    "content": "",
                    "function_call": {"name": "get_weather", "arguments": V},
                    "functions_state_id": "77d3fb14",
                },
                "index": 0,
                "finish_reason": "function_call",
            }
        ],
        "created": 1700,
        "model": "GigaChat-2-Max:1.0.26.20",
        "object": "chat.completion",
        "usage": {"prompt_tokens": 1, "completion_tokens": 4, "total_tokens": 5, "precached_prompt_tokens": 37},
    },
)
add(
    "gigachat blacklist",
    "gigachat",
    "refused",
    {
        "choices": [
            {
                "message": {"role": "assistant", "content": "Не люблю менять тему разговора, но вот сейчас тот самый случай."},
                "index": 0,
                "finish_reason": "blacklist",
            }
        ],
        "created": 1,
        "model": "GigaChat",
        "object": "chat.completion",
    },
)
add(
    "gigachat error",
    "gigachat",
    "failed",
    {
        "choices": [{"message": {"role": "assistant", "content": ""}, "index": 0, "finish_reason": "error"}],
        "created": 1,
        "model": "GigaChat",
        "object": "chat.completion",
    },
)
add(
    "llamacpp",
    "llamacpp",
    "ok",
    {
        "choices": [{"finish_reason": "stop", "index": 0, "message": {"role": "assistant", "content": T}}],
        "created": 1757141666,
        "model": "gpt-3.5-turbo",
        "system_fingerprint": "b11434",
        "object": "chat.completion",
        "usage": {"completion_tokens": 5, "prompt_tokens": 6, "total_tokens": 11},
        "id": "chatcmpl-x",
        "timings": {"cache_n": 0, "prompt_n": 1, "predicted_n": 5},
    },
)


@every_case("name", CASES)
def test_an_answer_of_the_documentation_has_its_status(name: str) -> None:
    target, status, answer = CASES[name]
    for given in (answer, json.dumps(answer), json.dumps(answer, indent=2).encode()):
        lifted = lift(given, lower(SCHEMA, target, "get_weather").map)
        assert lifted.status == status
        if status == "ok":
            assert [call.value for call in lifted.calls] == [V]
