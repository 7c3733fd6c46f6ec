"""Tools of smolagents are activities, and compiled tools are tools of its agents."""

from __future__ import annotations

from typing import Any

import smolagents

import instrc
from instrc.runtime.sandbox.smolagents import activity_of, smolagents_tool  # the name that a project of smolagents imports

SCHEMA = {
    "description": "Find something.",
    "type": "object",
    "properties": {"word": {"type": "string", "minLength": 1}, "limit": {"type": "integer"}, "deep": {"anyOf": [{}, {}]}},
    "required": ["word"],
}


class Twice(smolagents.Tool):
    name = "twice"
    description = "Say it twice."
    inputs = {"word": {"type": "string", "description": "what to say"}}  # noqa: RUF012  -- smolagents has it so
    output_type = "string"

    def forward(self, word: str) -> str:
        return word + word


def test_a_tool_of_smolagents_is_called_with_an_object() -> None:
    call = activity_of(Twice())
    assert call({"word": "ho"}) == "hoho"
    assert call.__name__ == "twice"


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
