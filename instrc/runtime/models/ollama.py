"""Ollama: by structured output, since its library drops what is nested in a tool."""

from __future__ import annotations

from types import ModuleType
from typing import ClassVar

from instrc.jsonvalue import Json, JsonObject, as_object
from instrc.runtime.models.provider import Client, Provider, base_url_from, token_counts


class Ollama(Provider):
    """`ollama:MODEL`; the server is at `OLLAMA_HOST`, else on this machine. No key."""

    kind: ClassVar[str] = "ollama"
    target: ClassVar[str] = "ollama"
    package: ClassVar[str] = "ollama"

    def connect(self, library: ModuleType, key: str | None) -> Client:  # noqa: ARG002  -- there is none
        """Return an asynchronous client."""
        return library.AsyncClient(host=base_url_from("OLLAMA_HOST"))

    async def send(self, client: Client, model: str, name: str, message: str, payload: Json) -> Json:  # noqa: ARG002  -- no tool
        """Ask for a chat answer in the shape of the tool's parameters."""
        told = [{"role": "user", "content": message}]
        answer = await client.chat(model=model, messages=told, format=as_object(as_object(payload)["function"])["parameters"])
        answered: Json = answer.model_dump(mode="json", exclude_none=True)
        return answered

    def usage(self, answer: JsonObject) -> dict[str, int]:
        """Return the tokens that an answer says it took."""
        return token_counts(answer, "prompt_eval_count", "eval_count")
