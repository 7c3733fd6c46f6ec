"""Each piece of code of `examples/frameworks` runs with the real library, against a server on this machine."""

from __future__ import annotations

import asyncio
import json
import re
import sys
import warnings
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from http_server import Answer, Asked, serving

from instrc import targets

PAGE = Path(__file__).parents[2] / "examples" / "frameworks" / "README.md"
VALUE = {"asks": "a date", "text": "On Monday.", "days": 3}
WIRE = json.dumps(VALUE)
VARIABLES = {
    "OPENAI_API_KEY": "none",
    "OPENAI_BASE_URL": "{url}/v1",
    "OPENAI_API_BASE": "{url}/v1",
    "ANTHROPIC_API_KEY": "none",
    "ANTHROPIC_BASE_URL": "{url}",
    "GEMINI_API_KEY": "none",
    "GOOGLE_GEMINI_BASE_URL": "{url}",
    "MISTRAL_API_KEY": "none",
    "OLLAMA_HOST": "{url}",
    "GIGACHAT_CREDENTIALS": "none",
    "GIGACHAT_BASE_URL": "{url}",
    "GIGACHAT_AUTH_URL": "{url}/oauth",
    "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": "{url}",
    "AWS_ACCESS_KEY_ID": "none",
    "AWS_SECRET_ACCESS_KEY": "none",
    "AWS_DEFAULT_REGION": "eu-west-1",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LANGSMITH_TRACING": "false",
}


class Block(NamedTuple):
    heading: str
    library: str
    text: str

    @property
    def name(self) -> str:
        asked = re.search(r'lower(?:_all)?\(\w+, "([\w-]+)"', self.text)
        return f"{self.heading} {asked[1] if asked else ''}".strip()


def blocks() -> list[Block]:
    """Return the pieces of code of the page, each with its heading and the library that it needs."""
    found = []
    for section in PAGE.read_text(encoding="utf-8").split("\n## ")[1:]:
        heading = section.partition("\n")[0]
        found += [
            Block(heading, *each) for each in re.findall(r"^```python ?([\w.]*)\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
        ]
    return found


BLOCKS = blocks()
[PRELUDE] = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8").partition("\n## ")[0], re.MULTILINE | re.DOTALL)


def completion(message: dict[str, Any], reason: str) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", "content": None, **message}, "finish_reason": reason}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    return {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}


def chat(sent: dict[str, Any]) -> Any:
    if not sent.get("tools"):
        return completion({"content": WIRE}, "stop")
    call = {"id": "t1", "type": "function", "function": {"name": last_name(sent["tools"]), "arguments": WIRE}}
    return completion({"tool_calls": [call]}, "tool_calls")


def last_name(tools: list[dict[str, Any]]) -> str:
    last = tools[-1]
    return str((last.get("function") or last)["name"])


def responses(sent: dict[str, Any]) -> Any:
    if sent.get("tools"):
        item: Any = {"type": "function_call", "id": "f", "call_id": "c", "name": sent["tools"][0]["name"], "arguments": WIRE}
    else:
        part = {"type": "output_text", "text": WIRE, "annotations": []}
        item = {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [part]}
    rest = {"parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
    return {"id": "r", "object": "response", "created_at": 1, "model": "m", "status": "completed", "output": [item], **rest}


def messages(sent: dict[str, Any]) -> Any:
    part: Any = {"type": "text", "text": WIRE}
    if sent.get("tools"):
        part = {"type": "tool_use", "id": "t1", "name": sent["tools"][0]["name"], "input": VALUE}
    usage = {"input_tokens": 1, "output_tokens": 1}
    return {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [part],
        "stop_reason": "end_turn",
        "usage": usage,
    }


def gemini(sent: dict[str, Any]) -> Any:
    part: Any = {"text": WIRE}
    if sent.get("tools"):
        part = {"functionCall": {"name": sent["tools"][0]["functionDeclarations"][0]["name"], "args": VALUE}}
    return {"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}]}


def ollama(sent: dict[str, Any]) -> Any:
    message: Any = {"role": "assistant", "content": WIRE}
    if sent.get("tools"):
        call = {"function": {"name": sent["tools"][0]["function"]["name"], "arguments": VALUE}}
        message = {"role": "assistant", "content": "", "tool_calls": [call]}
    return {"model": "m", "created_at": "2026-01-01T00:00:00Z", "done": True, "message": message}


def giga(sent: dict[str, Any]) -> Any:
    return completion(
        {"content": "", "function_call": {"name": sent["functions"][0]["name"], "arguments": VALUE}}, "function_call"
    )


def converse(sent: dict[str, Any]) -> Any:
    part: Any = {"text": WIRE}
    if sent.get("toolConfig"):
        part = {"toolUse": {"toolUseId": "t1", "name": sent["toolConfig"]["tools"][0]["toolSpec"]["name"], "input": VALUE}}
    usage = {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2}
    message = {"role": "assistant", "content": [part]}
    return {"output": {"message": message}, "stopReason": "end_turn", "usage": usage, "metrics": {"latencyMs": 1}}


def answer(path: str, sent: dict[str, Any]) -> Any:
    """Answer as the provider does whose address it is."""
    if path.endswith("/oauth"):
        return {"access_token": "token", "expires_at": 4102444800000}
    if "functions" in sent:
        return giga(sent)
    for ending, made in {
        "/chat/completions": chat,
        "/responses": responses,
        "/messages": messages,
        ":generateContent": gemini,
        "/api/chat": ollama,
        "/converse": converse,
    }.items():
        if path.partition("?")[0].endswith(ending):
            return made(sent)
    message = f"nobody answers at {path}"
    raise LookupError(message)


class StandIn:
    """Answers as providers do, and keeps what it was asked."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def answer(self, asked: Asked) -> Answer:
        given = asked.body.decode()
        self.seen.append(given)
        return Answer(json.dumps(answer(asked.path, json.loads(given) if given.startswith("{") else {})).encode())


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    made = StandIn()
    with serving(made.answer) as url:
        for name, value in VARIABLES.items():
            monkeypatch.setenv(name, value.format(url=url))
        yield made


def installed(library: str) -> bool:
    try:
        return find_spec(library) is not None
    except ModuleNotFoundError:
        return False


@pytest.mark.filterwarnings("ignore")  # libraries warn of their own matters
@pytest.mark.parametrize("block", [each for each in BLOCKS if each.library], ids=lambda block: block.name)
def test_the_library_sends_it_and_the_answer_becomes_an_instance(
    block: Block, stand_in: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not installed(block.library):
        pytest.skip(f"{block.library} is not installed: see requirements.txt")
    code = block.text
    if block.library == "mistralai":  # its address is an argument only
        code = code.replace('"])', '"], server_url=os.environ["OLLAMA_HOST"])')
    names: dict[str, Any] = {"__name__": "page"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(f"{PRELUDE}\n{code}", str(PAGE), "exec"), names)  # noqa: S102  -- the page is what is tested
    assert names["reply"].model_dump() == VALUE
    if stand_in.seen:
        [sent] = [each for each in stand_in.seen if "When is the fair?" in each]
        assert '"asks"' in sent.replace('\\"', '"')


def test_the_three_lines_of_mcp_serve_a_client(tmp_path: Path) -> None:
    pytest.importorskip("mcp")
    from mcp.client import Client
    from mcp.client.stdio import StdioServerParameters

    [block] = [each for each in BLOCKS if "MCP" in each.heading]
    assert len(block.text.split("\n")) <= 4
    (tmp_path / "server.py").write_text(f"{PRELUDE}\n{block.text}", encoding="utf-8")

    async def play() -> Any:
        async with Client(StdioServerParameters(command=sys.executable, args=["server.py"], cwd=str(tmp_path))) as client:
            [tool] = (await client.list_tools()).tools
            return tool.name, (await client.call_tool(tool.name, VALUE)).structured_content

    assert asyncio.run(play()) == ("Reply", {"result": "On Monday. (3 days)"})


def test_every_provider_of_the_catalogue_is_on_the_page() -> None:
    text = PAGE.read_text(encoding="utf-8")
    spoken = {
        "jsonschema",
        "anthropic",
        "gemini-schema",
        "gigachat-output",
        "bedrock",
        "vllm",
        "vllm-output",
        "llamacpp",
        "mcp",
        "smolagents",
    }
    assert {name for name in targets() if f'"{name}"' not in text} <= spoken
