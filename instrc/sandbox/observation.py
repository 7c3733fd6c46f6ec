"""What a round of code is, what it may use, and what it gives back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias, get_args

from instrc.jsonvalue import Json, as_integer, as_number, as_text, as_texts

ObservationKind: TypeAlias = Literal["error", "operations", "time", "memory", "ended", "lost"]
"""What ended a round: an error of the code, a limit, the end of the process, or earlier code that cannot be run again."""
_REPEATABLE = frozenset({None, "error", "operations"})


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundLimits:
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

    def to_json(self) -> dict[str, Json]:
        """Return the limits as plain JSON."""
        names = ("seconds", "memory", "operations", "output")
        return {**{name: getattr(self, name) for name in names}, "imports": list(self.imports)}


class ToolCall(NamedTuple):
    """A tool that the code calls, and waits for."""

    name: str
    arguments: tuple[Json, ...]
    named: dict[str, Json]

    def __str__(self) -> str:
        """Return the call as Python writes it."""
        given = [*map(repr, self.arguments), *(f"{name}={value!r}" for name, value in self.named.items())]
        return f"{self.name}({', '.join(given)})"


class ToolResult(NamedTuple):
    """What a tool gave: a value, or why it failed."""

    value: Json = None
    error: str | None = None


class Recorded(NamedTuple):
    """A call of a tool with what it gave."""

    call: ToolCall
    result: ToolResult


class Round(NamedTuple):
    """Code that has run, with the calls that it made."""

    code: str
    calls: tuple[Recorded, ...] = ()
    kind: ObservationKind | None = None


def repeatable(rounds: tuple[Round, ...]) -> tuple[Round, ...]:
    """Return the rounds that make what the code knows now.

    A round that time, memory or the end of the process has ended left nothing: how far it came nobody can tell.
    What was before a round that was `lost` is lost.
    """
    last = max((number for number, each in enumerate(rounds) if each.kind == "lost"), default=-1)
    return tuple(each for each in rounds[last + 1 :] if each.kind in _REPEATABLE)


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
    kind: ObservationKind | None = None
    """What ended it; `None` if nothing did."""
    message: str | None = None

    def to_json(self) -> dict[str, Json]:
        """Return the observation as plain JSON."""
        return {name: getattr(self, name) for name in ("logs", "value", "text", "final", "kind", "message")}


def limits_of(given: dict[str, Json]) -> RoundLimits:
    """Read limits as they are written for the process."""
    return RoundLimits(
        seconds=as_number(given["seconds"]),
        memory=as_integer(given["memory"]),
        operations=as_integer(given["operations"]),
        output=as_integer(given["output"]),
        imports=tuple(as_texts(given["imports"])),
    )


def observation(told: dict[str, Json]) -> Observation:
    """Read an observation as the process writes it; a `TypeError` or `KeyError` if it has written something else."""
    message = told["message"]
    return Observation(
        logs=as_text(told["logs"]),
        value=told["value"],
        text=as_text(told["text"]),
        final=told["final"] is True,
        kind=next((kind for kind in get_args(ObservationKind) if kind == told["kind"]), None),
        message=None if message is None else as_text(message),
    )
