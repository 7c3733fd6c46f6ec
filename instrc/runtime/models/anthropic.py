"""Anthropic: by a tool that must be used."""

from __future__ import annotations

from types import ModuleType
from typing import ClassVar

from instrc.jsonvalue import Json, JsonObject
from instrc.limits.runs import ANTHROPIC_TOKENS
from instrc.runtime.models.provider import Client, Provider, base_url_from, token_counts


class Anthropic(Provider):
    """`anthropic:MODEL`; another server is named by `ANTHROPIC_BASE_URL`."""

    kind: ClassVar[str] = "anthropic"
    target: ClassVar[str] = "anthropic"
    package: ClassVar[str] = "anthropic"
    key: ClassVar[str | None] = "ANTHROPIC_API_KEY"

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

    def usage(self, answer: JsonObject) -> dict[str, int]:
        """Return the tokens that an answer says it took."""
        return token_counts(answer.get("usage"), "input_tokens", "output_tokens")


class AnthropicStrict(Anthropic):
    """`anthropic-strict:MODEL`: the same with a schema that the provider enforces."""

    kind: ClassVar[str] = "anthropic-strict"
    target: ClassVar[str] = "anthropic-strict"
