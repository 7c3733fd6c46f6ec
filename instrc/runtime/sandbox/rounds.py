"""The names available to an agent's code, its tool calls, and the result of a round."""

from __future__ import annotations

from functools import partial
from typing import Final, Literal, NamedTuple, TypeAlias

from msgspec import Struct

from instrc.runtime.sandbox.values import Printed, show
from instrc.text.jsonvalue import Json

ObservationKind: TypeAlias = Literal["error", "operations", "time", "memory", "ended", "lost"]
"""What ended a round: an error of the code, a limit, the end of the worker, or earlier code that cannot be repeated."""
_CALL_CHARACTERS: Final = 2_000
"""Maximum characters of a call in a message."""
_REPEATABLE = frozenset({None, "error", "operations"})  # `operations` occurs in old records; it kept the variables


class RoundLimits(Struct, frozen=True, kw_only=True):
    """The limits of one round's code."""

    seconds: float = 30.0
    """Maximum computing time of the code in seconds, without waiting for tools."""
    memory: int = 256 * 1024 * 1024
    """Maximum memory for its variables, in bytes."""
    recursion: int = 1000
    """Maximum depth of function calls."""
    output: int = 50_000
    """Maximum characters kept of its output and of an error."""


class ToolCall(NamedTuple):
    """A pending tool call of the code."""

    name: str
    arguments: tuple[Json, ...]
    named: dict[str, Json]

    def __str__(self) -> str:
        """Return the call in Python syntax; of a long one, the beginning and the end."""
        text = Printed(_CALL_CHARACTERS)
        given = [*(("", value) for value in self.arguments), *((f"{name}=", value) for name, value in self.named.items())]
        for number, (name, value) in enumerate(given):
            text("", f"{', ' * bool(number)}{name}")
            show(value, partial(text, ""), repr)
        return f"{self.name}({text})"


class ToolResult(NamedTuple):
    """The result of a tool: a value, or the reason why it failed."""

    value: Json = None
    error: str | None = None


class AnsweredCall(NamedTuple):
    """A tool call with its result."""

    call: ToolCall
    result: ToolResult


class Round(NamedTuple):
    """Code that has run, with its tool calls."""

    code: str
    calls: tuple[AnsweredCall, ...] = ()
    kind: ObservationKind | None = None


class Observation(Struct, frozen=True, kw_only=True):
    """The output of a round that the model sees."""

    logs: str
    """Printed output."""
    value: Json = None
    """Last value, as far as it can be expressed in JSON."""
    text: str = "None"
    """Last value as a Python `repr`."""
    final: bool = False
    """Whether `final_answer` was called, so that the value is the answer."""
    kind: ObservationKind | None = None
    """What ended the round; `None` if it completed."""
    message: str | None = None

    def to_json(self) -> dict[str, Json]:
        """Return the observation as plain JSON."""
        return {name: getattr(self, name) for name in ("logs", "value", "text", "final", "kind", "message")}


RoundStep: TypeAlias = ToolCall | Observation


def repeatable(rounds: tuple[Round, ...]) -> tuple[Round, ...]:
    """Return the rounds that rebuild the current state of the code.

    A round ended by a limit or by its worker's end has no result: its progress is unknown.
    The state before a `lost` round is lost.
    """
    last = max((number for number, item in enumerate(rounds) if item.kind == "lost"), default=-1)
    return tuple(item for item in rounds[last + 1 :] if item.kind in _REPEATABLE)
