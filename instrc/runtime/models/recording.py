"""Recorded answers, which belong to the model, prompts and settings that they were recorded with."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from typing import Final

from msgspec import Struct

from instrc.runtime.models.model import Model, Reply, Request
from instrc.text.callers import warn_caller
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json


class Recording(Struct, frozen=True):
    """The model, prompts and settings of recorded answers."""

    model: str
    prompts: list[str]
    """Digests of messages, schemas and settings."""
    settings: dict[str, Json] = {}
    """Settings of the requests."""


RECORDED: Final = "$recorded"
"""Key in a file of answers that holds its `Recording`."""


def prompt_digest(message: str, schema: Json, settings: Json) -> str:
    """Return the digest of everything that determines an answer."""
    return sha256(dumps([message, schema, settings], indent=False).encode()).hexdigest()[:16]


class RecordedModel:
    """A model with recorded answers; its replies note if a request differs from the recorded ones."""

    def __init__(self, model: Model, recording: Recording, message: Callable[[Request], str]) -> None:
        """`message` returns what would be sent now to the model of the recording."""
        self.model, self.recording, self.message = model, recording, message
        self._warned = False

    async def answer(self, request: Request) -> Reply:
        """Answer a request, with a note, and a warning the first time, if the answers belong to other prompts."""
        reply = await self.model.answer(request)
        if prompt_digest(self.message(request), request.schema, self.recording.settings) in self.recording.prompts:
            return reply
        note = f"the answers were recorded with `{self.recording.model}` for another prompt than that of `{request.name}` now"
        if not self._warned:
            self._warned = True
            warn_caller(note)
        return Reply(reply.answer, model=reply.model, notes=(note,))
