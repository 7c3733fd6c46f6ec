"""GigaChat: by a function that must be called."""

from __future__ import annotations

from types import ModuleType
from typing import ClassVar

from instrc.jsonvalue import Json
from instrc.runtime.models.provider import Client, Provider, base_url_from


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
