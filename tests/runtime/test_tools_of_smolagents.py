"""Compiled tools are tools of smolagents' agents, and come back as the same vibes."""

from __future__ import annotations

from typing import Any

from smolagents_tools import smolagents_tool

import instrc

SCHEMA = {
    "description": "Find something.",
    "type": "object",
    "properties": {"word": {"type": "string", "minLength": 1}, "limit": {"type": "integer"}, "deep": {"anyOf": [{}, {}]}},
    "required": ["word"],
}


def test_a_compiled_tool_is_a_tool_of_smolagents() -> None:
    seen: list[Any] = []
    tool = smolagents_tool(SCHEMA, lambda arguments: seen.append(arguments) or len(arguments), name="find")
    assert tool(word="x", limit=3) == 2
    assert tool(word="x") == 1
    assert seen == [{"word": "x", "limit": 3}, {"word": "x"}]
    assert tool.inputs["limit"] == {"type": "integer", "description": "", "nullable": True}
    assert tool.inputs["word"]["minLength"] == 1
    assert "find" in tool.to_code_prompt()


def test_it_comes_back_as_the_same_vibe() -> None:
    tool = smolagents_tool(SCHEMA, lambda arguments: arguments, name="find")
    [vibe] = instrc.import_tools("smolagents", [tool]).vibes
    assert vibe.document["required"] == ["word"]
    assert vibe.document["properties"]["word"]["minLength"] == 1
