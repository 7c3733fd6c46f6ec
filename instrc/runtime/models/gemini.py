"""Gemini: by a function that must be called."""

from __future__ import annotations

from types import ModuleType
from typing import ClassVar

from instrc.jsonvalue import Json, JsonObject
from instrc.runtime.models.provider import Client, Provider, base_url_from, token_counts


class Gemini(Provider):
    """`gemini:MODEL`; another server is named by `GEMINI_BASE_URL`."""

    kind: ClassVar[str] = "gemini"
    target: ClassVar[str] = "gemini"
    package: ClassVar[str] = "google.genai"
    key: ClassVar[str | None] = "GEMINI_API_KEY"

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

    def usage(self, answer: JsonObject) -> dict[str, int]:
        """Return the tokens that an answer says it took."""
        return token_counts(answer.get("usageMetadata"), "promptTokenCount", "candidatesTokenCount")
