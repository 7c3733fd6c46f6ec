"""What a round of code gives back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

from instrc.jsonvalue import Json

Kind: TypeAlias = Literal["error", "time", "memory", "ended"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What the code of one round may use."""

    seconds: float = 30.0
    memory: int = 1024 * 1024 * 1024
    """Bytes of the whole process."""
    operations: int = 10_000_000
    """Steps of the interpreter."""
    output: int = 50_000
    """Characters of what it prints that are kept."""
    imports: tuple[str, ...] = ()
    """Modules it may import beside the harmless ones that smolagents allows."""


class ToolCall(NamedTuple):
    """A tool that the code calls, and waits for."""

    name: str
    arguments: tuple[Json, ...]
    named: dict[str, Json]


class ToolResult(NamedTuple):
    """What a tool gave: a value, or why it failed."""

    value: Json = None
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What the model is shown of its code."""

    logs: str
    """What it printed."""
    value: Json = None
    """Its last value, as JSON as far as it is that."""
    text: str = "None"
    """Its last value, as Python writes it."""
    final: bool = False
    """Whether `final_answer` was called; the value is the answer."""
    kind: Kind | None = None
    """What ended it: an error of the code, a limit, or the end of the process; `None` if nothing did."""
    message: str | None = None

    def to_json(self) -> Json:
        """Return the observation as plain JSON."""
        return {name: getattr(self, name) for name in ("logs", "value", "text", "final", "kind", "message")}


def observation(told: dict[str, Any]) -> Observation:
    """Read an observation as the process writes it."""
    return Observation(**{name: told[name] for name in ("logs", "value", "text", "final", "kind", "message")})
