"""OpenAI, and every server that speaks its protocol: by a tool that must be called, or by structured output."""

from __future__ import annotations

from types import ModuleType
from typing import ClassVar

from instrc.jsonvalue import Json
from instrc.runtime.models.provider import Client, Provider, base_url_from


class OpenAI(Provider):
    """`openai:MODEL`; another server is named by `OPENAI_BASE_URL`."""

    kind: ClassVar[str] = "openai"
    target: ClassVar[str] = "openai"
    package: ClassVar[str] = "openai"
    key: ClassVar[str | None] = "OPENAI_API_KEY"
    url: ClassVar[str] = "OPENAI_BASE_URL"

    def connect(self, library: ModuleType, key: str | None) -> Client:
        """Return an asynchronous client."""
        return library.AsyncOpenAI(api_key=key, base_url=base_url_from(self.url), max_retries=0)

    async def send(self, client: Client, model: str, name: str, message: str, payload: Json) -> Json:
        """Ask for a chat completion."""
        told = [{"role": "user", "content": message}]
        answer = await client.chat.completions.create(model=model, messages=told, **self.asked(name, payload))
        answered: Json = answer.model_dump(mode="json", exclude_unset=True)
        return answered

    def asked(self, name: str, payload: Json) -> dict[str, Json]:
        """Return the part of a request that carries the schema."""
        choice: Json = {"type": "function", "function": {"name": name}}
        return {"tools": [payload], "tool_choice": choice, "parallel_tool_calls": False}


class OpenAIOutput(OpenAI):
    """`openai-output:MODEL`: the same by structured output instead of a tool."""

    kind: ClassVar[str] = "openai-output"
    target: ClassVar[str] = "openai-output"

    def asked(self, name: str, payload: Json) -> dict[str, Json]:  # noqa: ARG002  -- the payload has the name
        """Return the part of a request that carries the schema."""
        return {"response_format": payload}


class VLLM(OpenAI):
    """`vllm:MODEL`: a server of vLLM, at `VLLM_BASE_URL`; `VLLM_API_KEY` is any word if the server asks for none."""

    kind: ClassVar[str] = "vllm"
    target: ClassVar[str] = "vllm"
    key: ClassVar[str | None] = "VLLM_API_KEY"
    url: ClassVar[str] = "VLLM_BASE_URL"

    def asked(self, name: str, payload: Json) -> dict[str, Json]:
        """Return the part of a request that carries the schema."""
        return {"tools": [payload], "tool_choice": {"type": "function", "function": {"name": name}}}
