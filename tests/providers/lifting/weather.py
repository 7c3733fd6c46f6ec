"""A tool that tells the weather, and a call of it as several providers write it."""

from __future__ import annotations

import json
from typing import Any

WEATHER: Any = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city", "days"],
    "additionalProperties": False,
}
OSLO: Any = {"city": "Oslo", "days": 2}
TEXT = json.dumps(OSLO)
CALL: Any = {"id": "c", "type": "function", "function": {"name": "tool", "arguments": TEXT}}
AI: Any = {"type": "ai", "content": "", "tool_calls": [{"name": "tool", "args": OSLO, "id": "c", "type": "tool_call"}]}
"""Of LangChain."""
