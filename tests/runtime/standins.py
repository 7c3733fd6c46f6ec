"""A local server that answers in the shape of each provider, for the provider's own library."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from http_server import Answer, Asked

from instrc import Reply, Request
from instrc.runtime.models.catalogue import adapter_of, model_of  # makes one adapter

KEY = "key-that-nobody-may-see"
SCHEMA = {
    "type": "object",
    "properties": {"asks": {"type": "string"}, "days": {"type": "integer", "minimum": 1}},
    "required": ["asks"],
}
FILLED = {"asks": "a date", "days": 3}
LIBRARIES = {
    "gemini": "google.genai",
    "gemini-output": "google.genai",
    "openai-output": "openai",
    "vllm": "openai",
    "llamacpp": "openai",
    "lmstudio": "openai",
    "llamafile": "openai",
    "anthropic-strict": "anthropic",
    "anthropic-output": "anthropic",
    "mistral": "mistralai",
    "bedrock": "boto3",
}
VARIABLES = {
    "openai": ("OPENAI_API_KEY", "OPENAI_BASE_URL"),
    "openai-output": ("OPENAI_API_KEY", "OPENAI_BASE_URL"),
    "vllm": ("VLLM_API_KEY", "VLLM_BASE_URL"),
    "anthropic": ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
    "anthropic-strict": ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
    "anthropic-output": ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
    "gemini": ("GEMINI_API_KEY", "GEMINI_BASE_URL"),
    "gemini-output": ("GEMINI_API_KEY", "GEMINI_BASE_URL"),
    "mistral": ("MISTRAL_API_KEY", "MISTRAL_BASE_URL"),
    "gigachat": ("GIGACHAT_CREDENTIALS", "GIGACHAT_BASE_URL"),
    "bedrock": ("AWS_SECRET_ACCESS_KEY", "BEDROCK_BASE_URL"),
    "ollama": ("OLLAMA_KEY_IS_NOT_NEEDED", "OLLAMA_HOST"),
    "llamacpp": ("LLAMACPP_KEY_IS_NOT_NEEDED", "LLAMACPP_BASE_URL"),
    "lmstudio": ("LMSTUDIO_KEY_IS_NOT_NEEDED", "LMSTUDIO_BASE_URL"),
    "llamafile": ("LLAMAFILE_KEY_IS_NOT_NEEDED", "LLAMAFILE_BASE_URL"),
}

HOSTED = ("azure", "deepseek", "qwen", "glm", "xai", "groq", "openrouter")
VARIABLES |= {"openai-responses": VARIABLES["openai"]}
VARIABLES |= {name: (str(adapter_of(name).key), adapter_of(name).url) for name in HOSTED}
LIBRARIES |= dict.fromkeys(("openai-responses", *HOSTED), "openai")


def completion(message: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "message": {"role": "assistant", **message}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
    }


def called(value: Any, name: str) -> dict[str, Any]:
    call = {"id": "t1", "type": "function", "function": {"name": name, "arguments": json.dumps(value)}}
    return completion({"content": None, "tool_calls": [call]})


def message(value: Any, name: str) -> dict[str, Any]:
    return {
        "id": "m1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [{"type": "tool_use", "id": "t1", "name": name, "input": value}],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 11, "output_tokens": 7},
    }


def told(value: Any, name: str) -> dict[str, Any]:
    return message(value, name) | {"content": [{"type": "text", "text": json.dumps(value)}], "stop_reason": "end_turn"}


def responded(value: Any, name: str) -> dict[str, Any]:
    call = {
        "type": "function_call",
        "id": "f",
        "call_id": "c",
        "name": name,
        "arguments": json.dumps(value),
        "status": "completed",
    }
    about = {"id": "r", "object": "response", "created_at": 1, "model": "m", "status": "completed", "error": None}
    return {**about, "output": [call], "usage": {"input_tokens": 11, "output_tokens": 7, "total_tokens": 18}}


def candidates(value: Any, name: str) -> dict[str, Any]:
    return candidate({"functionCall": {"name": name, "args": value}})


def written(value: Any, name: str) -> dict[str, Any]:
    return candidate({"text": json.dumps(value)})


def candidate(part: dict[str, Any]) -> dict[str, Any]:
    return {
        "candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": 11, "candidatesTokenCount": 7},
    }


def conversed(value: Any, name: str) -> dict[str, Any]:
    call = {"toolUse": {"toolUseId": "t1", "name": name, "input": value}}
    return {
        "output": {"message": {"role": "assistant", "content": [call]}},
        "stopReason": "tool_use",
        "usage": {"inputTokens": 11, "outputTokens": 7, "totalTokens": 18},
        "metrics": {"latencyMs": 1},
    }


def giga(value: Any, name: str) -> dict[str, Any]:
    answer = completion({"content": "", "function_call": {"name": name, "arguments": value}})
    answer["choices"][0]["finish_reason"] = "function_call"
    return answer


def chat(value: Any, name: str) -> dict[str, Any]:
    told = {"role": "assistant", "content": json.dumps(value)}
    return {
        "model": "m",
        "created_at": "2026-01-01T00:00:00Z",
        "done": True,
        "message": told,
        "prompt_eval_count": 11,
        "eval_count": 7,
    }


def said(value: Any, name: str) -> dict[str, Any]:
    return completion({"content": json.dumps(value)})


SHAPES = {
    "openai": called,
    "openai-output": said,
    "llamacpp": said,
    "lmstudio": said,
    "llamafile": said,
    "vllm": called,
    "openai-responses": responded,
    **dict.fromkeys(HOSTED, called),
    "anthropic": message,
    "anthropic-strict": message,
    "anthropic-output": told,
    "gemini": candidates,
    "gemini-output": written,
    "mistral": called,
    "gigachat": giga,
    "bedrock": conversed,
    "ollama": chat,
}


class Standin:
    """Gives the next answer to whatever it is asked, and keeps the requests."""

    def __init__(self) -> None:
        self.url = ""
        self.answers: list[tuple[Any, ...]] = []
        """Status, body (bytes, or what is sent as JSON), and headers."""
        self.seen: list[tuple[str, dict[str, str], Any]] = []

    def answer(self, asked: Asked) -> Answer:
        if asked.path.endswith("/oauth"):
            return Answer(json.dumps({"access_token": "token-of-the-session", "expires_at": 4102444800000}).encode())
        self.seen.append((asked.path, asked.headers, json.loads(asked.body)))
        status, body, *headers = self.answers.pop(0)
        sent = body if isinstance(body, bytes) else json.dumps(body).encode()
        given = dict(headers[0]) if headers else {}
        return Answer(sent, status, given.pop("content-type", "application/json"), None, tuple(given.items()))


def ask(kind: str, **settings: Any) -> Reply:
    model = model_of(f"{kind}:m-1", Path())
    request = Request("run/llmContext1", "step1_read", "Read the letter.", SCHEMA, settings=settings)
    return asyncio.run(model.answer(request))
