"""Functions of Python as tools of an MCP server, asked by the protocol's own client."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

pytest.importorskip("mcp")

from mcp.client import Client
from mcp.client.stdio import StdioServerParameters

from instrc.problems.errors import SettingsError
from instrc.server.mcp import offers_of  # tools of a server without a client
from instrc.server.offers import RefusedError  # tools of a server without a client

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")

PAGE = '''
import os

from pydantic import BaseModel

from instrc.server.mcp import serve


class Reply(BaseModel):
    """Answer a letter."""

    text: str
    days: int = 1


def look_up(word: str) -> list[str]:
    """Find words that are near."""
    print("looking for", word)
    os.system("echo found")
    return [word, word.upper()]


async def send(reply: Reply) -> str:
    return f"{type(reply).__name__}: {reply.text} in {reply.days}"


serve(look_up, (Reply, send))
'''


def test_three_lines_serve_functions_and_models(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(PAGE)

    async def play() -> Any:
        parameters = StdioServerParameters(command=sys.executable, args=["server.py"], cwd=str(tmp_path))
        async with Client(parameters) as client:
            listed = (await client.list_tools()).tools
            near = await client.call_tool("look_up", {"word": "a"})
            sent = await client.call_tool("Reply", {"text": "Yes."})
            wrong = await client.call_tool("Reply", {"text": 1})
            return listed, near, sent, wrong

    listed, near, sent, wrong = asyncio.run(play())
    assert [(tool.name, tool.description) for tool in listed] == [
        ("look_up", "Find words that are near."),
        ("Reply", "Answer a letter."),
    ]
    assert near.structured_content == {"result": ["a", "A"]}
    assert sent.structured_content == {"result": "Reply: Yes. in 1"}
    assert wrong.is_error
    assert "/text" in wrong.content[0].text


def test_a_schema_is_served_under_the_name_of_its_function() -> None:
    def double(value: dict[str, int]) -> int:
        return value["n"] * 2

    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    offers = offers_of((schema, double))
    assert asyncio.run(offers.call("double", {"n": 4})) == 8
    with pytest.raises(RefusedError, match="/n"):
        asyncio.run(offers.call("double", {"n": "four"}))
    with pytest.raises(RefusedError, match=r"no tool is called `dubble`; there is `double`$"):
        asyncio.run(offers.call("dubble", {"n": 4}))


def test_two_tools_of_one_name_are_a_problem() -> None:
    class Note(BaseModel):
        text: str

    with pytest.raises(SettingsError, match="another name"):
        offers_of((Note, str), (Note, repr))


def test_what_is_no_function_is_told() -> None:
    with pytest.raises(TypeError):
        offers_of(3)  # type: ignore[arg-type]
