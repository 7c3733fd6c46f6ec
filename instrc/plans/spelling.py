"""The two spellings of a plan: typed arguments, and the uniform list that fits every target's budget.

Typed: `{"query": "boats", "limit": {"from": "t1.count"}}`.
Uniform: `[{"name": "query", "is": "value", "text": "boats"}, {"name": "limit", "is": "from", "text": "t1.count"}]`.
The text of a value is the value itself for an argument that is a text, else JSON, else a text after all.
"""

from __future__ import annotations

from instrc.ir.tasks import argument_text, argument_value
from instrc.jsonvalue import Json
from instrc.plans.tools import PlanTool


def uniform_value(text: str, name: str, tool: PlanTool | None) -> Json:
    """Return the value that a text of the uniform spelling stands for."""
    return argument_value(text, raw=tool is not None and tool.takes_text(name))


def uniform_text(value: Json, name: str, tool: PlanTool | None) -> str:
    """Return the text that stands for a value in the uniform spelling."""
    return argument_text(value, raw=tool is not None and tool.takes_text(name))
