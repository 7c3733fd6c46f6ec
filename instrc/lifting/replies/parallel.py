"""Divide the call of a tool that nobody offered: `multi_tool_use.parallel`, below which models of OpenAI list several calls.

Each of them has the name of a tool as `recipient_name`, and its arguments as `parameters`
(community.openai.com, "model tries to call unknown function multi_tool_use.parallel", looked up 2026-11-22).
"""

from __future__ import annotations

from instrc.jsonvalue import Json
from instrc.lifting.replies.arguments import raw_call
from instrc.lifting.replies.reply import RawCall

PARALLEL = "multi_tool_use.parallel"
_NAMES = frozenset(
    {PARALLEL, f"functions.{PARALLEL}", "multi_tool_use_parallel", "functions.multi_tool_use_parallel", "parallel"}
)


def separated(call: RawCall) -> tuple[RawCall, ...]:
    """Return the calls below one of `multi_tool_use.parallel`, or below its arguments alone; the call itself if it is another."""
    if call.name is not None and call.name not in _NAMES:
        return (call,)
    found = separate_calls(call.arguments, call.id)
    return tuple(found) if found else (call,)


def separate_calls(value: Json, call_id: str | None = None) -> list[RawCall]:
    """Return the calls in arguments of `multi_tool_use.parallel`; none if the value is anything else."""
    uses = value.get("tool_uses") if isinstance(value, dict) and len(value) == 1 else None
    if not isinstance(uses, list):
        return []
    found: list[RawCall] = []
    for use in uses:
        name = use.get("recipient_name") if isinstance(use, dict) else None
        if not isinstance(use, dict) or not isinstance(name, str):
            return []
        found.append(raw_call(name, use.get("parameters"), call_id))
    return found
