"""What a model is to the runtime: one asynchronous method."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from instrc.jsonvalue import Json
from instrc.runtime.interpreter.commands import Complaint, ModelCommand


@dataclass(frozen=True, slots=True)
class Request:
    """What a model is asked."""

    key: str
    """`run/command`: equal for every attempt at the same command."""
    name: str
    """A name for the tool; see `instrc.runtime.message.tool_name`."""
    message: str
    """All it is told; see `instrc.runtime.message`."""
    schema: Json
    """What it fills in. An adapter lowers it to its provider and lifts the answer."""
    model: str | None = None
    """The model that the project has set for this vibe, else the adapter's own."""
    command: ModelCommand | None = field(default=None, repr=False)
    """What the request was made from."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model has answered."""

    answer: Json
    """The value in the names and shapes of the request's schema; it need not satisfy it."""
    usage: dict[str, int] = field(default_factory=dict)
    """`input_tokens`, `output_tokens`."""
    cost: float | None = None
    """In US dollars, if it is known."""
    model: str | None = None
    """Who has answered."""
    repairs: tuple[str, ...] = ()
    """What was read otherwise than it was written."""
    complaints: tuple[Complaint, ...] = ()
    """Why the answer cannot be used, where it is no value at all: the model is asked again."""
    sent: str | None = None
    """The message, where it was another than that of the request: several chunks shared a call."""


class ModelError(Exception):
    """A provider gave no answer. `retry` tells whether to try again; `code` is a word for programs, such as `refused`."""

    def __init__(self, message: str, *, code: str | None = None, retry: bool = False) -> None:
        super().__init__(message)
        self.code = code
        self.retry = retry


class Model(Protocol):
    """Fill in a schema."""

    async def answer(self, request: Request) -> Reply:
        """Answer a request, or raise `ModelError`."""
