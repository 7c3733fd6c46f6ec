"""The kinds of sources that tools come from."""

from __future__ import annotations

KINDS: dict[str, str] = {
    "openai": "openai",
    "anthropic": "anthropic",
    "mcp": "mcp",
    "openapi": "openapi",
    "pydantic": "pydantic_models",
    "smolagents": "smolagents_tools",
    "bfcl": "bfcl",
    "taskbench": "taskbench",
}
"""By kind: the module of this folder that reads it."""
OF_PYTHON = frozenset({"pydantic", "smolagents"})
"""Kinds whose tools are objects of a program."""
OF_ACTIVITIES = frozenset({"taskbench"})
"""Kinds whose tools are calls of a server by their nature."""
