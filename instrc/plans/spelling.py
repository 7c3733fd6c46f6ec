"""The two spellings of a plan: typed arguments, and the uniform list that fits every target's budget.

Typed: `{"query": "boats", "limit": {"from": "t1.count"}}`.
Uniform: `[{"name": "query", "is": "value", "text": "boats"}, {"name": "limit", "is": "from", "text": "t1.count"}]`.
The text of a value is the value itself for an argument that is a text, else JSON, else a text after all.
"""

from __future__ import annotations

from instrc.jsontext import JsonSyntaxError
from instrc.jsonvalue import Json, dumps, loads
from instrc.plans.tools import Tool


def value_of(text: str, name: str, tool: Tool | None) -> Json:
    """Return the value that a text of the uniform spelling stands for."""
    if tool is not None and tool.takes_text(name):
        return text
    try:
        return loads(text)
    except (JsonSyntaxError, ValueError):
        return text


def text_of(value: Json, name: str, tool: Tool | None) -> str:
    """Return the text that stands for a value in the uniform spelling."""
    if value.__class__ is str and value_of(value, name, tool) == value:
        return str(value)
    return dumps(value, indent=False)
