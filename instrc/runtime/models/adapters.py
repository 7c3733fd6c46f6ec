"""The models of providers, each sent by its provider's own library."""

from __future__ import annotations

from types import ModuleType
from typing import ClassVar, Final

from instrc.runtime.models.provider import Client, Provider, TokenNames, base_url_from
from instrc.text.jsonvalue import Json, as_object

ANTHROPIC_TOKENS: Final = 8192
"""Tokens of an answer; Anthropic wants a limit in every request."""


class Anthropic(Provider):
    """`anthropic:MODEL`; another server is named by `ANTHROPIC_BASE_URL`."""

    kind: ClassVar[str] = "anthropic"
    target: ClassVar[str] = "anthropic"
    package: ClassVar[str] = "anthropic"
    key: ClassVar[str | None] = "ANTHROPIC_API_KEY"
    tokens: ClassVar[TokenNames] = ("usage", "input_tokens", "output_tokens")

    def connect(self, library: ModuleType, key: str | None) -> Client:
        """Return an asynchronous client."""
        return library.AsyncAnthropic(api_key=key, base_url=base_url_from("ANTHROPIC_BASE_URL"), max_retries=0)

    async def send(self, client: Client, model: str, name: str, message: str, payload: Json) -> Json:
        """Ask for a message."""
        answer = await client.messages.create(
            model=model,
            max_tokens=ANTHROPIC_TOKENS,
            messages=[{"role": "user", "content": message}],
            tools=[payload],
            tool_choice={"type": "tool", "name": name, "disable_parallel_tool_use": True},
        )
        answered: Json = answer.model_dump(mode="json", exclude_unset=True)
        return answered


class AnthropicStrict(Anthropic):
    """`anthropic-strict:MODEL`: the same with a schema that the provider enforces."""

    kind: ClassVar[str] = "anthropic-strict"
    target: ClassVar[str] = "anthropic-strict"


class Gemini(Provider):
    """`gemini:MODEL`; another server is named by `GEMINI_BASE_URL`."""

    kind: ClassVar[str] = "gemini"
    target: ClassVar[str] = "gemini"
    package: ClassVar[str] = "google.genai"
    key: ClassVar[str | None] = "GEMINI_API_KEY"
    tokens: ClassVar[TokenNames] = ("usageMetadata", "promptTokenCount", "candidatesTokenCount")

    def connect(self, library: ModuleType, key: str | None) -> Client:
        """Return a client; its asynchronous half is used."""
        url = base_url_from("GEMINI_BASE_URL")
        return library.Client(api_key=key, http_options={"base_url": url} if url else None)

    async def send(self, client: Client, model: str, name: str, message: str, payload: Json) -> Json:
        """Ask for content."""
        config = {
            "tools": [{"function_declarations": [payload]}],
            "tool_config": {"function_calling_config": {"mode": "ANY", "allowed_function_names": [name]}},
            "automatic_function_calling": {"disable": True},
        }
        answer = await client.aio.models.generate_content(model=model, contents=message, config=config)
        answered: Json = answer.model_dump(mode="json", by_alias=True, exclude_none=True, exclude={"sdk_http_response", "parsed"})
        return answered


class GigaChat(Provider):
    """`gigachat:MODEL`; other servers are named by `GIGACHAT_BASE_URL` and `GIGACHAT_AUTH_URL`."""

    kind: ClassVar[str] = "gigachat"
    target: ClassVar[str] = "gigachat"
    package: ClassVar[str] = "gigachat"
    key: ClassVar[str | None] = "GIGACHAT_CREDENTIALS"

    def connect(self, library: ModuleType, key: str | None) -> Client:
        """Return a client; its asynchronous methods are used."""
        urls = {"base_url": base_url_from("GIGACHAT_BASE_URL"), "auth_url": base_url_from("GIGACHAT_AUTH_URL")}
        return library.GigaChat(credentials=key, max_retries=0, **{name: url for name, url in urls.items() if url})

    async def send(self, client: Client, model: str, name: str, message: str, payload: Json) -> Json:
        """Ask for a chat completion."""
        told = {
            "model": model,
            "messages": [{"role": "user", "content": message}],
            "functions": [payload],
            "function_call": {"name": name},
        }
        answer = await client.achat(told)
        answered: Json = answer.model_dump(mode="json", by_alias=True, exclude_none=True)
        return answered


class Mistral(Provider):
    """`mistral:MODEL`; another server is named by `MISTRAL_BASE_URL`."""

    kind: ClassVar[str] = "mistral"
    target: ClassVar[str] = "mistral"
    package: ClassVar[str] = "mistralai.client"
    key: ClassVar[str | None] = "MISTRAL_API_KEY"

    def connect(self, library: ModuleType, key: str | None) -> Client:
        """Return a client; its asynchronous methods are used."""
        return library.Mistral(api_key=key, server_url=base_url_from("MISTRAL_BASE_URL"))

    async def send(self, client: Client, model: str, name: str, message: str, payload: Json) -> Json:
        """Ask for a chat completion."""
        answer = await client.chat.complete_async(
            model=model,
            messages=[{"role": "user", "content": message}],
            tools=[payload],
            tool_choice={"type": "function", "function": {"name": name}},
            parallel_tool_calls=False,
        )
        answered: Json = answer.model_dump(mode="json", exclude_unset=True)
        return answered


# Ollama: by structured output, since its library drops what is nested in a tool.


class Ollama(Provider):
    """`ollama:MODEL`; the server is at `OLLAMA_HOST`, else on this machine. No key."""

    kind: ClassVar[str] = "ollama"
    target: ClassVar[str] = "ollama"
    package: ClassVar[str] = "ollama"
    tokens: ClassVar[TokenNames] = (None, "prompt_eval_count", "eval_count")

    def connect(self, library: ModuleType, key: str | None) -> Client:  # noqa: ARG002  -- there is none
        """Return an asynchronous client."""
        return library.AsyncClient(host=base_url_from("OLLAMA_HOST"))

    async def send(self, client: Client, model: str, name: str, message: str, payload: Json) -> Json:  # noqa: ARG002  -- no tool
        """Ask for a chat answer in the shape of the tool's parameters."""
        told = [{"role": "user", "content": message}]
        answer = await client.chat(model=model, messages=told, format=as_object(as_object(payload)["function"])["parameters"])
        answered: Json = answer.model_dump(mode="json", exclude_none=True)
        return answered


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
