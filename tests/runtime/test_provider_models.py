"""Every provider's own library is asked over HTTP, against a local server that answers in the provider's shape."""

from __future__ import annotations

import asyncio
import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from standins import FILLED, KEY, SCHEMA, SHAPES, VARIABLES, Standin, ask, completion

import instrc
from instrc import ModelError, Request
from instrc.cli import main
from instrc.problems.errors import SettingsError
from instrc.runtime.interpreter.documents import tokens_of  # as limits count them
from instrc.runtime.models.budget import cost_of  # prices are counted here
from instrc.runtime.models.catalogue import ADAPTERS, adapter_of, model_of  # the list of all adapters
from instrc.runtime.models.clients import closing_all  # as a run closes them
from instrc.runtime.models.partial import whole_answer  # as a stream ends
from instrc.runtime.models.provider import token_counts  # of one answer

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")


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


TOKENS: dict[str, tuple[str, dict[str, Any], dict[str, int]]] = {
    "openai": (
        "usage",
        {"prompt_tokens_details": {"cached_tokens": 5}, "completion_tokens_details": {"reasoning_tokens": 3}},
        {"input_tokens": 11, "output_tokens": 7, "cache_read_tokens": 5},
    ),
    "xai": (
        "usage",
        {"completion_tokens_details": {"reasoning_tokens": 94}, "total_tokens": 112},
        {"input_tokens": 11, "output_tokens": 101},
    ),
    "deepseek": (
        "usage",
        {"prompt_cache_hit_tokens": 6, "prompt_cache_miss_tokens": 5, "completion_tokens_details": {"reasoning_tokens": 3}},
        {"input_tokens": 11, "output_tokens": 7, "cache_read_tokens": 6},
    ),
    "anthropic": (
        "usage",
        {"cache_read_input_tokens": 100, "cache_creation_input_tokens": 20},
        {"input_tokens": 131, "output_tokens": 7, "cache_read_tokens": 100, "cache_write_tokens": 20},
    ),
    "gemini": (
        "usageMetadata",
        {"thoughtsTokenCount": 50, "cachedContentTokenCount": 4},
        {"input_tokens": 11, "output_tokens": 57, "cache_read_tokens": 4},
    ),
}


@pytest.mark.parametrize("kind", TOKENS, indirect=True)
def test_thoughts_and_what_a_cache_has_are_counted_and_priced(kind: str, standin: Standin) -> None:
    member, more, expected = TOKENS[kind]
    good = SHAPES[kind](FILLED, "step1_read")
    standin.answers.append((200, good | {member: good[member] | more}))
    usage = ask(kind).usage
    assert usage == expected
    prices = {"m": {"input": 10.0, "output": 100.0, "cache_read": 1.0}}
    read = usage.get("cache_read_tokens", 0)
    cost = 10 * (usage["input_tokens"] - read) + read + 100 * usage["output_tokens"]
    assert cost_of(prices, "m", usage) == pytest.approx(cost / 1_000_000)
    assert tokens_of(usage) == usage["input_tokens"] + usage["output_tokens"]


def test_the_tokens_of_a_stream_of_anthropic_hold_its_cache() -> None:
    use = {"type": "tool_use", "id": "t", "name": "t", "input": {}}
    pieces: list[Any] = [
        {"type": "message_start", "message": {"usage": {"input_tokens": 3, "cache_read_input_tokens": 9, "output_tokens": 1}}},
        {"type": "content_block_start", "index": 0, "content_block": use},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 7}},
    ]
    names = ("usage", "input_tokens", "output_tokens")
    answer = whole_answer(pieces, names)
    assert token_counts(answer, names) == {"input_tokens": 12, "output_tokens": 7, "cache_read_tokens": 9}


def test_a_response_without_an_answer_is_never_the_value(kind: str, standin: Standin) -> None:
    good = SHAPES[kind]({}, "step1_read")
    said: Any = {"role": "assistant", "content": ""}
    empty: dict[str, Any] = {
        "choices": [{"index": 0, "message": said, "finish_reason": "stop"}],
        "content": [],
        "output": {"message": said | {"content": []}} if kind == "bedrock" else [],
        "candidates": [{"content": {"role": "model", "parts": []}, "finishReason": "STOP"}],
        "message": said,
    }
    standin.answers.append((200, good | {key: item for key, item in empty.items() if key in good}))
    schema = {"type": "object", "properties": {"model": {}, "usage": {}, "message": {}, "choices": {}}}
    reply = asyncio.run(model_of(f"{kind}:m-1", Path()).answer(Request("r/c", "step1_read", "Read.", schema)))
    assert reply.answer is None
    assert reply.complaints


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
    if adapter_of(kind).key is None:
        pytest.skip("it needs none, or its library finds one")
    monkeypatch.delenv(VARIABLES[kind][0])
    with pytest.raises(SettingsError) as raised:
        ask(kind)
    assert VARIABLES[kind][0] in raised.value.problems[0].message


def test_a_key_that_is_set_anew_is_used_from_then_on(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """So a wrong key is mended in a notebook without a new kernel: its event loop stays, and so does the model."""
    if adapter_of(kind).key is None:
        pytest.skip("it needs none, or its library finds one")
    made: Any = model_of(f"{kind}:m", Path())

    async def body() -> None:
        before = made.client()
        assert made.client() is before
        monkeypatch.setenv(VARIABLES[kind][0], "another-key")
        after = made.client()
        assert after is not before
        assert made.client() is after

    asyncio.run(closing_all(body()))


def test_connections_of_mistral_are_closed_by_us_and_not_by_a_collection_of_garbage(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which may come in an event loop that refuses it, such as that of a Temporal workflow."""
    pytest.importorskip("mistralai.client")
    monkeypatch.setenv("MISTRAL_API_KEY", KEY)
    made: Any = model_of("mistral:m", Path())

    async def body() -> tuple[Any, bool]:
        web = made.client().sdk_configuration
        assert not web.async_client.is_closed
        return web.async_client, web.async_client_supplied

    web, is_ours = asyncio.run(closing_all(body()))
    assert is_ours
    assert web.is_closed


@pytest.mark.parametrize("form", ["{}", "{}:", "{}: ", "{}:, sample"])
def test_a_provider_without_a_model_is_refused_before_it_is_asked(kind: str, form: str) -> None:
    with pytest.raises(SettingsError) as raised:
        model_of(form.format(kind), Path())
    assert f"`{kind}:MODEL`" in raised.value.problems[0].message


def test_an_adapter_without_a_model_wants_one_in_each_request(kind: str) -> None:
    made = getattr(import_module(ADAPTERS[kind].partition(":")[0]), ADAPTERS[kind].partition(":")[2])("")
    with pytest.raises(SettingsError) as raised:
        asyncio.run(made.answer(Request("r/c", "a", "m", SCHEMA)))
    assert f"`{kind}:MODEL`" in raised.value.problems[0].message


STEP = '@{ title: "Answer", properties: { text: { type: "string" } } }'


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ("", ["--model", "openai:"]),
        ('[tool.instrc.run]\nmodel = "openai:"\n', []),
        ('[tool.instrc.models]\nAnswer = "openai:"\n', ["--model", "sample"]),
    ],
)
def test_a_run_does_not_begin_with_a_provider_without_a_model(
    settings: str, named: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "p.aug").write_text(f"prompt | {STEP}")
    (tmp_path / "pyproject.toml").write_text(settings)
    assert main(["run", str(tmp_path / "p.aug"), "--input", "hello", "--store", str(tmp_path / "runs"), *named]) == 1
    assert "`openai:MODEL`" in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()


def test_python_refuses_a_provider_without_a_model_before_a_run_begins() -> None:
    with pytest.raises(SettingsError, match="openai:MODEL"):
        instrc.run(f"prompt | {STEP}", "hello", model="openai:")


@pytest.mark.parametrize("door", ["retry", "fork"])
def test_a_run_does_not_go_on_with_a_provider_without_a_model(
    door: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("dbos")
    (tmp_path / "p.aug").write_text(f"prompt | {STEP}")
    (tmp_path / "answers.json").write_text('[{"text": 5}, {"text": 5}, {"text": 5}]')
    store = ["--store", str(tmp_path / "runs")]
    scripted = ["--model", f"scripted:{tmp_path / 'answers.json'}"]
    assert main(["run", str(tmp_path / "p.aug"), "--input", "hello", "--id", "r1", *store, *scripted]) != 0
    capsys.readouterr()
    assert main([door, "r1", *store, "--model", "openai:"]) == 1
    assert "`openai:MODEL`" in capsys.readouterr().err


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
    with pytest.raises(SettingsError) as raised:
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
    with pytest.raises(SettingsError) as raised:
        model_of("opnai:gpt-5", Path())
    said = str(raised.value.problems[0].message)
    assert "models are `sample`, `scripted:FILE`, `openai:MODEL`" in said
    assert all(f"`{name}:MODEL`" in said for name in ADAPTERS)
    assert "openai:gpt-5" in (raised.value.problems[0].hint or "")
