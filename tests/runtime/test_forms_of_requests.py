"""A form of asking that a provider refuses is left for another one, and that is remembered."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from standins import FILLED, SCHEMA, SHAPES, Standin, candidate, completion, conversed, responded, said, told, written

from instrc import ModelError, Reply, Request
from instrc.runtime.models import forms  # what is remembered is looked at
from instrc.runtime.models.catalogue import model_of, provider_of  # makes one adapter
from instrc.runtime.models.settings import RequestTable

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")

REFUSALS: dict[str, list[str]] = {
    "openai": [
        "Function tools are not supported with this model.",
        "Tools are not supported here.",
        "response_format is not supported",
    ],
    "anthropic": [
        "Thinking may not be enabled when tool_choice forces tool use.",
        "tools are not supported",
        "output_config.format is not supported",
    ],
    "gemini": ["Function calling with mode ANY is not supported", "Tools are not supported", "response_schema is not supported"],
    "mistral": [
        "The tool_choice parameter does not support being an object: only auto",
        "tools: unsupported",
        "response_format: unsupported",
    ],
}
REFUSALS["bedrock"] = [
    "This model doesn't support the toolConfig.toolChoice.tool field. Remove toolConfig.toolChoice.tool and try again.",
    "This model doesn't support tool use.",
    "outputConfig.textFormat json_schema is not supported",
]
REFUSALS["openai-responses"] = [
    "tool_choice is not supported",
    "Tools are not supported.",
    "text.format json_schema is not supported",
]


def answered_in_text(value: Any, name: str) -> dict[str, Any]:
    part = {"type": "output_text", "text": json.dumps(value), "annotations": []}
    item = {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [part]}
    return responded(value, name) | {"output": [item]}


def conversed_in_text(value: Any, name: str) -> dict[str, Any]:
    said = {"role": "assistant", "content": [{"text": json.dumps(value)}]}
    return conversed(value, name) | {"output": {"message": said}, "stopReason": "end_turn"}


IN_OUTPUT = {
    "bedrock": conversed_in_text,
    "openai-responses": answered_in_text,
    "openai": said,
    "anthropic": told,
    "gemini": written,
    "mistral": said,
}
SENT: dict[str, Any] = {
    "openai": lambda sent: ("tools" in sent, isinstance(sent.get("tool_choice"), dict), "response_format" in sent),
    "openai-responses": lambda sent: (
        "tools" in sent,
        isinstance(sent.get("tool_choice"), dict),
        "format" in sent.get("text", {}),
    ),
    "mistral": lambda sent: ("tools" in sent, isinstance(sent.get("tool_choice"), dict), "response_format" in sent),
    "anthropic": lambda sent: (
        "tools" in sent,
        sent.get("tool_choice", {}).get("type") == "tool",
        "format" in sent.get("output_config", {}),
    ),
    "bedrock": lambda sent: (
        "toolConfig" in sent,
        "tool" in sent.get("toolConfig", {}).get("toolChoice", {}),
        "outputConfig" in sent,
    ),
    "gemini": lambda sent: (
        "tools" in sent,
        sent.get("toolConfig", {}).get("functionCallingConfig", {}).get("mode") == "ANY",
        "responseJsonSchema" in sent.get("generationConfig", {}),
    ),
}
FORCED, CHOICE, OUTPUT, WORDS = (True, True, False), (True, False, False), (False, False, True), (False, False, False)


@pytest.fixture(autouse=True)
def _nothing_is_remembered() -> Any:
    forms.forget(None)
    yield
    forms.forget(None)


def refusal(text: str) -> tuple[int, Any]:
    return 400, {
        "message": text,
        "error": {"message": text, "type": "invalid_request_error", "code": 400, "status": "INVALID_ARGUMENT"},
    }


def answered(kind: str, folder: Path, model: str = "m-1", **settings: Any) -> Reply:
    request = Request("run/llmContext1", "step1_read", "Read the letter.", SCHEMA, settings=settings)
    return asyncio.run(model_of(f"{kind}:{model}", folder, RequestTable()).answer(request))


@pytest.mark.parametrize("kind", REFUSALS, indirect=True)
def test_a_model_that_refuses_one_form_after_another_is_asked_in_the_next_and_at_once_from_then_on(
    kind: str, standin: Standin, tmp_path: Path
) -> None:
    good = (200, IN_OUTPUT[kind](FILLED, "step1_read"))
    standin.answers += [*map(refusal, REFUSALS[kind][:2]), good, good]
    reply = answered(kind, tmp_path)
    assert reply.answer == FILLED
    assert ["`forced`" in reply.notes[0], "`choice`" in reply.notes[1]] == [True, True]
    forms._learned.clear()  # another process
    again = answered(kind, tmp_path)
    assert (again.answer, again.notes) == (FILLED, ())
    assert [SENT[kind](sent) for _, _, sent in standin.seen] == [FORCED, CHOICE, OUTPUT, OUTPUT]
    assert {item.form for item in forms.refusals(tmp_path / ".instrc" / "models.sqlite")} == {"forced", "choice"}


@pytest.mark.parametrize("kind", ["ollama", "llamacpp", "lmstudio", "llamafile"], indirect=True)
def test_a_local_server_that_refuses_a_schema_is_asked_with_it_in_the_prompt(kind: str, standin: Standin, tmp_path: Path) -> None:
    good = (200, SHAPES[kind](FILLED, "step1_read"))
    standin.answers += [refusal("this model does not support structured outputs (response_format)"), good, good]
    reply, again = answered(kind, tmp_path), answered(kind, tmp_path)
    assert (reply.answer, again.answer, "`output`" in reply.notes[0], again.notes) == (FILLED, FILLED, True, ())
    first, *others = [sent for _, _, sent in standin.seen]
    shape = "format" if kind == "ollama" else "response_format"
    assert [bool(sent.get(shape)) for sent in (first, *others)] == [True, False, False]
    assert all("days: integer" in other["messages"][0]["content"] for other in others)


@pytest.mark.parametrize("kind", ["gigachat"], indirect=True)
def test_a_function_that_gigachat_may_not_be_forced_to_call_is_one_it_may_call(
    kind: str, standin: Standin, tmp_path: Path
) -> None:
    standin.answers += [refusal("function_call by name is not supported"), (200, SHAPES[kind](FILLED, "step1_read"))]
    reply = answered(kind, tmp_path)
    assert (reply.answer, "`forced`" in reply.notes[0]) == (FILLED, True)
    sent = [item["function_call"] for _, _, item in standin.seen if "function_call" in item]
    assert sent == [{"name": "step1_read"}, "auto"]


LEARN = """
import sys
from pathlib import Path
from instrc.runtime.models.forms import learn, refused_forms
file, own = Path(sys.argv[1]), sys.argv[2]
for number in range(40):
    learn(file, f"openai:m-{number}", own, "no")
    assert own in refused_forms(file, "openai", f"m-{number}", f"openai:m-{number}", None)
"""


def test_processes_that_share_a_store_lose_no_refusal(tmp_path: Path) -> None:
    file = tmp_path / ".instrc" / "models.sqlite"
    file.parent.mkdir()
    names = ["forced", "choice", "output"]
    processes = [subprocess.Popen([sys.executable, "-c", LEARN, str(file), name]) for name in names]
    assert [process.wait(120) for process in processes] == [0, 0, 0]
    kept = {(item.model, item.form) for item in forms.refusals(file)}
    assert kept == {(f"openai:m-{number}", name) for number in range(40) for name in names}


@pytest.mark.parametrize("kind", REFUSALS, indirect=True)
def test_the_last_form_has_the_schema_in_the_prompt_alone(kind: str, standin: Standin, tmp_path: Path) -> None:
    good = (200, IN_OUTPUT[kind](FILLED, "step1_read"))
    standin.answers += [*map(refusal, REFUSALS[kind]), good]
    reply = answered(kind, tmp_path)
    assert reply.answer == FILLED
    assert reply.sent is not None
    assert "days" in reply.sent
    assert SENT[kind](standin.seen[-1][2]) == WORDS


@pytest.mark.parametrize("kind", ["openai"], indirect=True)
def test_without_a_store_a_process_remembers_and_forgets_after_thirty_days(
    kind: str, standin: Standin, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = (200, SHAPES[kind](FILLED, "step1_read"))
    request = Request("run/llmContext1", "step1_read", "Read the letter.", SCHEMA)
    standin.answers += [refusal(REFUSALS[kind][0]), good, good, good]
    for _ in range(2):
        asyncio.run(model_of("openai:m-1", Path()).answer(request))
    now = forms.time()
    monkeypatch.setattr(forms, "time", lambda: now + forms.REMEMBERED + 1)
    asyncio.run(model_of("openai:m-1", Path()).answer(request))
    assert [SENT[kind](sent) for _, _, sent in standin.seen] == [FORCED, CHOICE, CHOICE, FORCED]


@pytest.mark.parametrize(
    "text",
    [
        "Invalid schema for function 'step1_read': 'format' is not supported",
        "Invalid schema for response_format 'step1_read': only strings",
        "temperature is not supported",
        "no",
    ],
)
@pytest.mark.parametrize("kind", ["openai"], indirect=True)
def test_other_errors_are_no_refusals_of_a_form(kind: str, standin: Standin, tmp_path: Path, text: str) -> None:
    standin.answers.append(refusal(text))
    with pytest.raises(ModelError):
        answered(kind, tmp_path)
    assert forms.refusals(tmp_path / ".instrc" / "models.sqlite") == []


@pytest.mark.parametrize("kind", ["anthropic"], indirect=True)
def test_thinking_that_cannot_be_turned_off_is_asked_with_little_effort(kind: str, standin: Standin, tmp_path: Path) -> None:
    good = (200, SHAPES[kind](FILLED, "step1_read"))
    standin.answers += [refusal('"thinking.type.disabled" is not supported for this model'), good, good]
    first, second = (answered(kind, tmp_path, reasoning="none") for _ in range(2))
    assert [len(reply.notes) for reply in (first, second)] == [1, 0]
    sent = [item for _, _, item in standin.seen]
    assert [item.get("thinking") for item in sent] == [{"type": "disabled"}, None, None]
    assert [item.get("output_config") for item in sent] == [None, {"effort": "low"}, {"effort": "low"}]


@pytest.mark.parametrize(
    ("words", "settings", "form"),
    [
        ("anthropic:claude-opus-5-5", {}, "choice"),
        ("anthropic:claude-opus-5-5", {"reasoning": "none"}, "forced"),
        ("anthropic:claude-haiku-4-5", {}, "forced"),
        ("anthropic:claude-opus-4-7", {}, "forced"),
        ("anthropic:claude-opus-4-7", {"reasoning": "high"}, "choice"),
        ("anthropic:claude-opus-4-7", {"reasoning": "none"}, "forced"),
        ("anthropic:claude-opus-4-5", {"reasoning": "high"}, "forced"),
        ("bedrock:eu.anthropic.claude-opus-5-v1:0", {}, "choice"),
        ("openai:deepseek-v4-flash", {}, "choice"),
        ("deepseek:deepseek-flash", {}, "choice"),
        ("deepseek:deepseek-flash", {"reasoning": "none"}, "forced"),
        ("openai:qwen/qwen3.5-plus", {}, "choice"),
        ("openai:gpt-5", {}, "forced"),
        ("openai:gpt-5.6-terra", {}, "output"),
        ("openai:gpt-5.6-terra", {"reasoning": "none"}, "forced"),
        ("openai-responses:gpt-5.6-terra", {}, "forced"),
        ("openrouter:moonshotai/kimi-k2.6", {}, "choice"),
        ("anthropic-output:claude-opus-5-5", {}, "output"),
    ],
)
def test_what_is_known_of_a_model_counts_before_it_is_asked(words: str, settings: Any, form: str) -> None:
    provider = provider_of(model_of(words, Path()))
    assert provider is not None
    assert provider.preview(Request("r/c", "step1_read", "Read.", SCHEMA, settings=settings))[0].form == form


@pytest.mark.parametrize("kind", ["anthropic", "bedrock"], indirect=True)
@pytest.mark.parametrize(
    ("model", "reasoning", "thinking"),
    [
        ("claude-opus-5-5", "xhigh", {"type": "adaptive"}),
        ("claude-sonnet-4-6-20260115", "low", {"type": "adaptive"}),
        ("claude-opus-4-5-20251101", "high", None),
        ("claude-opus-4-20250514", "high", None),
        ("claude-3-7-sonnet-20250219", "high", None),
        ("claude-opus-4-7", None, None),
        ("claude-opus-4-7", "none", {"type": "disabled"}),
    ],
)
def test_models_that_choose_how_much_they_think_are_let_to(
    kind: str, standin: Standin, tmp_path: Path, model: str, reasoning: str | None, thinking: Any
) -> None:
    standin.answers.append((200, SHAPES[kind](FILLED, "step1_read")))
    name = model if kind == "anthropic" else f"eu.anthropic.{model}-v1:0"
    answered(kind, tmp_path, name, **({} if reasoning is None else {"reasoning": reasoning}))
    [(_, _, sent)] = standin.seen
    told = sent if kind == "anthropic" else sent.get("additionalModelRequestFields", {})
    effort = sent.get("output_config", sent.get("outputConfig", {})).get("effort")
    assert (told.get("thinking"), effort) == (thinking, None if reasoning == "none" else reasoning)


@pytest.mark.parametrize(
    "said",
    [
        "Function tools with reasoning_effort are not supported for gpt-5.4 in /v1/chat/completions.",
        "tool_choice 'specified' is incompatible with thinking enabled",
        "Thinking mode does not support this tool_choice",
        "The tool_choice parameter does not support being set to required or object in thinking mode",
        "Thinking may not be enabled when tool_choice forces tool use.",
        "No endpoints found that support the provided 'tool_choice' value.",
        "This model doesn't support the toolConfig.toolChoice.tool field. Remove toolConfig.toolChoice.tool and try again.",
    ],
)
def test_refusals_as_providers_word_them_are_recognised(said: str) -> None:
    assert forms.is_refused("forced", ModelError(said, code="400"))
    assert not forms.is_refused("output", ModelError(said, code="400"))


@pytest.mark.parametrize(
    "said",
    [
        "This response_format type is unavailable now",
        "This model doesn't support the outputConfig.textFormat field. Remove outputConfig.textFormat and try again.",
        "This model does not support response format `json_schema`",
        "'response_format' of type 'json_schema' is not supported with this model.",
    ],
)
def test_refusals_of_a_schema_as_providers_word_them_are_recognised(said: str) -> None:
    assert forms.is_refused("output", ModelError(said, code="400"))
    assert not forms.is_refused("forced", ModelError(said, code="400"))


def test_each_known_model_has_its_source_and_date() -> None:
    for row in forms.KNOWN_MODELS:
        assert row.source
        assert row.date >= "2026"
        assert row.refuses <= {*forms.FORMS}


@pytest.mark.parametrize("kind", ["openai"], indirect=True)
def test_a_model_that_may_call_and_does_not_is_a_complaint(kind: str, standin: Standin, tmp_path: Path) -> None:
    standin.answers += [refusal(REFUSALS[kind][0]), (200, completion({"content": "Dear me!"}))]
    reply = answered(kind, tmp_path)
    assert reply.answer is None
    assert reply.complaints


@pytest.mark.parametrize("kind", ["ollama"], indirect=True)
def test_ollama_is_not_told_about_thinking_unless_that_is_set(kind: str, standin: Standin, tmp_path: Path) -> None:
    standin.answers += [(200, SHAPES[kind](FILLED, ""))] * 3
    for settings in ({}, {"reasoning": "none"}, {"reasoning": "high"}):
        answered(kind, tmp_path, **settings)
    assert [sent.get("think") for _, _, sent in standin.seen] == [None, False, "high"]


def test_a_refusal_of_gemini_names_its_own_parts() -> None:
    assert candidate({"text": "x"})["candidates"]
    error = ModelError("400 INVALID_ARGUMENT: function calling config is not supported", code="400")
    assert forms.is_refused("forced", error)
    assert not forms.is_refused("forced", ModelError("tool_choice is not supported", code="500"))
