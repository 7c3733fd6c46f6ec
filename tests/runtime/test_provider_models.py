"""Every provider's own library is asked over HTTP, against a local server that answers in the provider's shape."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from http_server import Answer, Asked, serving

import instrc
from instrc import CompileError, ModelError, Reply, Request
from instrc.runtime.models.catalogue import ADAPTERS, model_of  # the list of all adapters

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")

KEY = "key-that-nobody-may-see"
SCHEMA = {
    "type": "object",
    "properties": {"asks": {"type": "string"}, "days": {"type": "integer", "minimum": 1}},
    "required": ["asks"],
}
FILLED = {"asks": "a date", "days": 3}
LIBRARIES = {
    "gemini": "google.genai",
    "openai-output": "openai",
    "vllm": "openai",
    "anthropic-strict": "anthropic",
    "mistral": "mistralai",
}
VARIABLES = {
    "openai": ("OPENAI_API_KEY", "OPENAI_BASE_URL"),
    "openai-output": ("OPENAI_API_KEY", "OPENAI_BASE_URL"),
    "vllm": ("VLLM_API_KEY", "VLLM_BASE_URL"),
    "anthropic": ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
    "anthropic-strict": ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
    "gemini": ("GEMINI_API_KEY", "GEMINI_BASE_URL"),
    "mistral": ("MISTRAL_API_KEY", "MISTRAL_BASE_URL"),
    "gigachat": ("GIGACHAT_CREDENTIALS", "GIGACHAT_BASE_URL"),
    "ollama": ("OLLAMA_KEY_IS_NOT_NEEDED", "OLLAMA_HOST"),
}


def completion(message: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "message": {"role": "assistant", **message}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
    }


def called(value: Any, name: str) -> dict[str, Any]:
    call = {"id": "t1", "type": "function", "function": {"name": name, "arguments": json.dumps(value)}}
    return completion({"content": None, "tool_calls": [call]})


def message(value: Any, name: str) -> dict[str, Any]:
    return {
        "id": "m1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [{"type": "tool_use", "id": "t1", "name": name, "input": value}],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 11, "output_tokens": 7},
    }


def candidates(value: Any, name: str) -> dict[str, Any]:
    part = {"functionCall": {"name": name, "args": value}}
    return {
        "candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": 11, "candidatesTokenCount": 7},
    }


def giga(value: Any, name: str) -> dict[str, Any]:
    answer = completion({"content": "", "function_call": {"name": name, "arguments": value}})
    answer["choices"][0]["finish_reason"] = "function_call"
    return answer


def chat(value: Any, name: str) -> dict[str, Any]:
    told = {"role": "assistant", "content": json.dumps(value)}
    return {
        "model": "m",
        "created_at": "2026-01-01T00:00:00Z",
        "done": True,
        "message": told,
        "prompt_eval_count": 11,
        "eval_count": 7,
    }


SHAPES = {
    "openai": called,
    "openai-output": lambda value, name: completion({"content": json.dumps(value)}),  # noqa: ARG005
    "vllm": called,
    "anthropic": message,
    "anthropic-strict": message,
    "gemini": candidates,
    "mistral": called,
    "gigachat": giga,
    "ollama": chat,
}


class Standin:
    """Gives the next answer to whatever it is asked, and keeps the requests."""

    def __init__(self) -> None:
        self.url = ""
        self.answers: list[tuple[int, Any]] = []
        self.seen: list[tuple[str, dict[str, str], Any]] = []

    def answer(self, asked: Asked) -> Answer:
        if asked.path.endswith("/oauth"):
            return Answer(json.dumps({"access_token": "token-of-the-session", "expires_at": 4102444800000}).encode())
        self.seen.append((asked.path, asked.headers, json.loads(asked.body)))
        status, body = self.answers.pop(0)
        return Answer(json.dumps(body).encode(), status)


@pytest.fixture
def standin() -> Iterator[Standin]:
    made = Standin()
    with serving(made.answer) as made.url:
        yield made


@pytest.fixture(params=sorted(ADAPTERS))
def kind(request: pytest.FixtureRequest, standin: Standin, monkeypatch: pytest.MonkeyPatch) -> str:
    name = str(request.param)
    package = LIBRARIES.get(name, name)
    if find_spec(package.partition(".")[0]) is None or find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    key, url = VARIABLES[name]
    monkeypatch.setenv(key, KEY)
    monkeypatch.setenv(url, standin.url)
    if name == "gigachat":
        monkeypatch.setenv("GIGACHAT_AUTH_URL", f"{standin.url}/oauth")
    if package in {"openai", "anthropic"}:  # they give up after five seconds: a busy machine takes longer to load them
        monkeypatch.setattr(f"{package}._base_client.DEFAULT_TIMEOUT", 120.0)
    return name


def ask(kind: str) -> Reply:
    model = model_of(f"{kind}:m-1", Path())
    return asyncio.run(model.answer(Request("run/llmContext1", "step1_read", "Read the letter.", SCHEMA)))


def test_an_answer_comes_back_in_our_shape_with_its_tokens(kind: str, standin: Standin) -> None:
    standin.answers.append((200, SHAPES[kind](FILLED, "step1_read")))
    reply = ask(kind)
    assert reply.answer == FILLED
    assert reply.complaints == ()
    assert reply.usage == {"input_tokens": 11, "output_tokens": 7}
    [(_, _, sent)] = standin.seen
    assert "Read the letter." in json.dumps(sent)
    assert '"asks"' in json.dumps(sent)


@pytest.mark.parametrize(
    ("kind", "where", "only"),
    [
        ("openai", ("parallel_tool_calls",), False),
        ("mistral", ("parallel_tool_calls",), False),
        ("anthropic", ("tool_choice", "disable_parallel_tool_use"), True),
    ],
    indirect=["kind"],
)
def test_a_provider_that_can_call_several_tools_at_once_is_asked_for_one(
    kind: str,
    where: tuple[str, ...],
    only: bool,  # noqa: FBT001
    standin: Standin,
) -> None:
    standin.answers.append((200, SHAPES[kind](FILLED, "step1_read")))
    ask(kind)
    [(_, _, said)] = standin.seen
    for name in where:
        said = said[name]
    assert said is only


def test_a_value_that_breaks_the_schema_is_a_complaint(kind: str, standin: Standin) -> None:
    standin.answers.append((200, SHAPES[kind]({"asks": "a date", "days": 0}, "step1_read")))
    reply = ask(kind)
    assert [each["pointer"] for each in reply.complaints] == ["/days"]


@pytest.mark.parametrize(("status", "again"), [(500, True), (429, True), (400, False), (401, False)])
def test_an_error_says_whether_to_try_again_and_the_libraries_do_not(
    kind: str, standin: Standin, status: int, *, again: bool
) -> None:
    standin.answers += [(status, {"error": {"message": "no", "type": "t", "code": status, "status": "S"}})] * 5
    with pytest.raises(ModelError) as raised:
        ask(kind)
    assert raised.value.retry is again
    assert raised.value.code == str(status)
    assert len(standin.seen) == 1
    assert KEY not in str(raised.value)


def test_a_server_that_is_not_there_is_worth_another_try(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLES[kind][1], "http://127.0.0.1:9")
    if kind == "gigachat":
        monkeypatch.setenv("GIGACHAT_AUTH_URL", "http://127.0.0.1:9/oauth")
    with pytest.raises(ModelError) as raised:
        ask(kind)
    assert raised.value.retry


def test_a_missing_key_names_its_variable(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if kind == "ollama":
        pytest.skip("Ollama needs none")
    monkeypatch.delenv(VARIABLES[kind][0])
    with pytest.raises(CompileError) as raised:
        ask(kind)
    assert VARIABLES[kind][0] in raised.value.problems[0].message


def test_a_model_without_a_name_is_a_problem(kind: str) -> None:
    with pytest.raises(CompileError) as raised:
        asyncio.run(model_of(kind, Path()).answer(Request("r/c", "a", "m", SCHEMA)))
    assert f"{kind}:MODEL" in raised.value.problems[0].message


def test_a_refusal_is_told_and_not_asked_again(standin: Standin, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("openai")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", standin.url)
    standin.answers.append((200, completion({"content": None, "refusal": "I would rather not."})))
    with pytest.raises(ModelError, match="rather not") as raised:
        ask("openai")
    assert (raised.value.code, raised.value.retry) == ("refused", False)


def test_without_its_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "openai", None)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with pytest.raises(CompileError) as raised:
        ask("openai")
    assert raised.value.problems[0].name == "missing-extra"
    assert "instrc[openai]" in (raised.value.problems[0].hint or "")


def test_a_run_that_fails_without_a_library_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "openai", None)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    run = instrc.run('prompt | @{ title: "Answer", properties: { text: { type: "string" } } }', "hello", model="openai:gpt-5")
    with pytest.raises(instrc.RunFailedError, match=r'which is not installed; install it: `pip install "instrc\[openai\]"`'):
        _ = run.value


def test_a_model_that_nobody_knows_is_told_with_those_that_there_are() -> None:
    with pytest.raises(CompileError) as raised:
        model_of("opnai:gpt-5", Path())
    said = str(raised.value.problems[0].message)
    assert "models are `sample`, `scripted:FILE`, `openai:MODEL`" in said
    assert all(f"`{name}:MODEL`" in said for name in ADAPTERS)
    assert "openai:gpt-5" in (raised.value.problems[0].hint or "")
