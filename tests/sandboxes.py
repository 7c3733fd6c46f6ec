"""Code of one agent in a sandbox, with functions of Python as its tools."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from instrc.runtime.sandbox.rounds import (  # no agent
    AnsweredCall,
    Observation,
    Round,
    RoundLimits,
    ToolCall,
    ToolResult,
    repeatable,
)
from instrc.runtime.sandbox.sandbox import CodeRuns  # no agent


class Sandbox:
    """Runs rounds of code one after the other."""

    def __init__(
        self, tools: Sequence[str] | Mapping[str, Any] = (), limits: RoundLimits | None = None, earlier: Sequence[Round] = ()
    ) -> None:
        self.rounds = repeatable(tuple(earlier))
        self.runs = CodeRuns(tools, limits)

    def run(self, code: str, **tools: Callable[..., Any]) -> Observation:
        """Run one round; a tool that fails is recorded with its error."""
        calls: list[AnsweredCall] = []
        while isinstance(step := self.runs.step("", self.rounds, code, calls), ToolCall):
            calls.append(AnsweredCall(step, result_of(tools[step.name], step)))
        self.rounds = repeatable((*self.rounds, Round(code, tuple(calls), step.kind)))
        return step


def result_of(tool: Callable[..., Any], call: ToolCall) -> ToolResult:
    """Call a tool."""
    try:
        return ToolResult(value=tool(*call.arguments, **call.named))
    except Exception as error:  # noqa: BLE001  -- whatever it raises
        return ToolResult(error=f"{type(error).__name__}: {error}")
