"""Mistral: by a tool that must be called."""

from __future__ import annotations

from types import ModuleType
from typing import ClassVar

from instrc.jsonvalue import Json
from instrc.runtime.models.provider import Client, Provider, base_url_from


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
