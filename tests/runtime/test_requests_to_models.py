"""What a provider is sent beside the message and the schema, and what is done when it misbehaves."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from time import monotonic, thread_time, time
from typing import Any, cast

import pytest
from applications import run_in_app
from msgspec.structs import replace
from standins import FILLED, KEY, SCHEMA, SHAPES, VARIABLES, Standin, ask, completion

import instrc
from instrc import ModelError, Reply, Request, Tool, lower
from instrc.problems.errors import ConflictError, SettingsError, unusable
from instrc.process.request_settings import request_settings
from instrc.runtime.models.asking_again import repeats  # a loop is a property of a text
from instrc.runtime.models.catalogue import (  # makes one adapter  # their counts are looked at
    LONGEST_REST,
    Fallback,
    Limited,
    limited,
    model_of,
    provider_of,
    turn,
)
from instrc.runtime.models.provider import message_with_words
from instrc.runtime.models.settings import RequestTable, answer_bound, temperatures, with_short_thoughts  # what wins over what
from instrc.text.sentences import sentences_in

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")

SET = {"max_tokens": 321, "temperature": 0.5, "seed": 7, "reasoning": "low", "extra": {"top_p": 0.25}}
SENT: dict[str, dict[str, Any]] = {
    "openai": {"max_completion_tokens": 321, "temperature": 0.5, "seed": 7, "reasoning_effort": "low", "top_p": 0.25},
    "vllm": {"max_tokens": 321, "temperature": 0.5, "seed": 7, "reasoning_effort": "low", "top_p": 0.25},
    "llamacpp": {"max_tokens": 321, "temperature": 0.5, "seed": 7, "reasoning_effort": "low", "top_p": 0.25},
    "anthropic": {"max_tokens": 321, "output_config": {"effort": "low"}, "top_p": 0.25},
    "gigachat": {"max_tokens": 321, "temperature": 0.5, "reasoning_effort": "low", "top_p": 0.25},
    "mistral": {"max_tokens": 321, "temperature": 0.5, "random_seed": 7, "top_p": 0.25},
    "ollama": {"options": {"num_predict": 321, "temperature": 0.5, "seed": 7, "top_p": 0.25}, "think": "low"},
    "gemini": {"generationConfig": {"maxOutputTokens": 321, "temperature": 0.5, "seed": 7, "topP": 0.25}},
}
LACKS = {"anthropic": ["temperature", "seed"], "gigachat": ["seed"]}
EXTRA = {"gemini": {"top_p": 0.25}}


def within(part: Any, whole: Any) -> bool:
    """Say whether a part is in a whole, member by member."""
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(key in whole and within(value, whole[key]) for key, value in part.items())
    return bool(part == whole)


def test_a_step_says_its_own_temperature_which_the_model_is_not_shown() -> None:
    table = RequestTable({"temperature": 1.0}, {"draft": {"temperature": 0.5, "seed": 1}}, {})
    steps = {"step1_draft": {"type": "object", "x-temperature": 0.9}, "step2_sum": {"type": "object", "x-temperature": 0}}
    schema = {"type": "object", "properties": steps}
    assert temperatures(schema, ["step1_draft", "step2_sum"]) == [0.9, 0.0]
    assert temperatures({"x-temperature": 0.2, "properties": {"sum": {}}}, []) == [0.2]
    assert temperatures({"x-temperature": "hot"}, []) == []
    assert table.of_steps(["step1_draft", "step2_sum"], [0.9, 0.0]) == {"temperature": 0.9, "seed": 1}
    assert RequestTable(given={"temperature": 0.1}).of_steps(["step1_draft"], [0.9]) == {"temperature": 0.1}
    seen: list[Request] = []

    class Own:
        async def answer(self, request: Request) -> Reply:
            seen.append(request)
            return Reply({"step1_draft": {}, "step2_sum": {}})

    program = (
        '@{ title: "Draft", type: "object", "x-temperature": 0.9 } | @{ title: "Sum", type: "object", "x-temperature": 0.1 }'
    )
    run = instrc.run(program, "a", model=Own())
    assert seen[0].settings == {"temperature": 0.9}
    assert "x-temperature" not in json.dumps(instrc.lower({"name": "a", "parameters": seen[0].schema}, "openai").payload)
    [answered] = [event for event in run.trace if event["event"] == "answered"]
    assert answered["notes"] == ["its steps share a call, and have different temperatures: 0.9 is used"]


@pytest.mark.parametrize("kind", sorted(SENT), indirect=True)
def test_each_setting_has_one_name_here_and_is_sent_under_that_of_the_provider(kind: str, standin: Standin) -> None:
    standin.answers.append((200, SHAPES[kind](FILLED, "step1_read")))
    reply = ask(kind, **SET)
    [(_, _, sent)] = standin.seen
    assert within(SENT[kind], sent), sent
    assert [note.split("`")[3] for note in reply.notes] == LACKS.get(kind, [])


HARD = {
    "type": "object",
    "description": "Прочти\nписьмо «так» \u2028 & <b>",
    "properties": {
        "имя": {"type": "string", "minLength": 2, "description": 'Кто "пишет" \\ так'},
        "at": {"type": "string", "format": "date-time"},
        "inner": {"type": "object", "properties": {"b": {"type": "string"}, "a": {"enum": ["x", "y"]}}, "required": ["b"]},
        "tree": {"$ref": "#/$defs/tree"},
    },
    "required": ["имя", "inner"],
    "$defs": {
        "tree": {
            "type": "object",
            "properties": {"v": {"type": "string"}, "kids": {"type": "array", "items": {"$ref": "#/$defs/tree"}}},
            "required": ["v"],
        }
    },
}


def parts_of(value: Any) -> Iterator[str]:
    yield json.dumps(value)
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from parts_of(part)


def test_a_schema_and_a_message_arrive_as_they_are_previewed(kind: str, standin: Standin) -> None:
    model = model_of(f"{kind}:m-1", Path())
    request = Request("run/llmContext1", "step1_read", "Прочти\r\n\t«письмо» \x7f \u2028 ' \" <&> 😀\n", HARD)
    standin.answers.append((200, SHAPES[kind]({"asks": "b"}, "step1_read")))
    asyncio.run(model.answer(request))
    shown = provider_of(model)
    assert shown is not None
    asked, lowering = shown.preview(request)
    [(_, _, sent)] = standin.seen
    found = {*parts_of(sent)}
    schema = next(part for part in parts_of(asked.payload) if '"properties"' in part.partition(": {")[0])
    assert {json.dumps(asked.message), schema} <= found
    assert lowering.payload == asked.payload


@pytest.mark.parametrize("kind", ["anthropic"], indirect=True)
def test_the_limit_that_a_provider_always_wants_is_previewed(kind: str, standin: Standin) -> None:
    standin.answers.append((200, SHAPES[kind](FILLED, "step1_read")))
    ask(kind)
    [(_, _, sent)] = standin.seen
    shown = provider_of(model_of(f"{kind}:m-1", Path()))
    assert shown is not None
    assert shown.preview(Request("r/c", "a", "m", SCHEMA))[0].options == {"max_tokens": sent["max_tokens"]}


@pytest.mark.parametrize("kind", ["openai"], indirect=True)
def test_parameters_of_a_provider_are_joined_from_wherever_they_are_set(kind: str, standin: Standin) -> None:
    table = RequestTable(
        by_pattern={"openai:*": {"extra": {"top_p": 0.5, "user": "all"}}, "read": {"extra": {"user": "me"}}},
        given={"extra": {"top_k": 1}},
    )
    standin.answers.append((200, SHAPES[kind](FILLED, "step1_read")))
    request = Request("r/c", "step1_read", "Read.", SCHEMA, settings=table.of_steps(["step1_read"]))
    asyncio.run(model_of("openai:m-1", Path(), table).answer(request))
    [(_, _, sent)] = standin.seen
    assert within({"top_p": 0.5, "user": "me", "top_k": 1}, sent)


@pytest.mark.parametrize("kind", ["ollama"], indirect=True)
def test_what_ollama_does_not_know_among_its_options_stands_beside_them(kind: str, standin: Standin) -> None:
    standin.answers.append((200, SHAPES[kind](FILLED, "step1_read")))
    ask(kind, extra={"keep_alive": "5m", "top_k": 3})
    [(_, _, sent)] = standin.seen
    assert (sent["keep_alive"], sent["options"]["top_k"], "keep_alive" in sent["options"]) == ("5m", 3, False)


def test_the_limits_of_a_run_are_those_of_its_models(tmp_path: Path) -> None:
    model = model_of("openai:m-1", tmp_path, RequestTable(by_pattern={"openai:*": {"parallel": 9}}, given={"parallel": 1}))
    assert isinstance(model, Limited)
    assert model.settings["parallel"] == 1


@pytest.mark.parametrize("kind", ["llamacpp", "ollama", "openai-output", "vllm", "openai", "anthropic"], indirect=True)
def test_the_schema_is_said_in_words_where_only_a_grammar_has_it(kind: str, standin: Standin) -> None:
    standin.answers += [(200, SHAPES[kind](FILLED, "step1_read"))] * 2
    told = ask(kind).sent
    assert ask(kind, words="none").sent is None
    with_words, without = (json.dumps(sent, ensure_ascii=False) for _, _, sent in standin.seen)
    hidden = kind in {"llamacpp", "ollama", "openai-output"}
    assert ("asks: string" in with_words) is hidden
    assert (told is not None and "days" in told) is hidden
    assert "asks: string" not in without


def test_the_words_say_first_what_is_to_be_done_then_the_keys_in_the_language_of_the_project() -> None:
    schema: Any = {
        "description": "Прочти письмо.",
        "type": "object",
        "properties": {"mood": {"enum": ["a", "b"]}, "tags": {"type": "array", "items": {"type": "string"}}},
        "required": ["mood", "tags"],
    }
    said = message_with_words("Вот оно.\n", lower(Tool("read", schema), target="llamacpp"), sentences_in("ru"))
    keys = "mood: string\ntags: список: string"
    assert said == f"Прочти письмо.\n\nВ этом JSON такие ключи, в таком порядке:\n\n{keys}\n\nВот оно.\n"


def test_each_level_of_words_says_more_of_the_schema() -> None:
    mood: Any = {"enum": ["a", "b"], "description": "How it sounds."}
    schema: Any = {"description": "Read.", "type": "object", "properties": {"mood": mood}, "required": ["mood"]}
    enforced, shown = (lower(Tool("read", schema), target=target) for target in ("llamacpp", "openai"))
    unenforced = replace(enforced, dialect=replace(enforced.dialect, enforced=False))
    keys = "The JSON has these keys, in this order:\n\nmood: "
    said: dict[Any, str] = {
        "none": "It.\n",
        "task": "Read.\n\nIt.\n",
        "keys": f"Read.\n\n{keys}string. How it sounds.\n\nIt.\n",
        "all": f'Read.\n\n{keys}How it sounds. (one of "a", "b")\n\nIt.\n',
    }
    assert {level: message_with_words("It.\n", enforced, level=level) for level in said} == said
    assert message_with_words("It.\n", enforced) == said["keys"]
    assert message_with_words("It.\n", unenforced) == said["all"]
    assert {message_with_words("It.\n", shown, level=level) for level in said} == {"It.\n"}


def test_values_that_the_schema_explains_one_by_one_are_named_at_any_level() -> None:
    tone: Any = {"oneOf": [{"const": "a", "title": "Calm", "description": "No\nhaste."}, {"const": "b", "title": "Loud"}]}
    plain: Any = {"type": "array", "items": {"enum": ["u", "v"]}}
    schema: Any = {"type": "object", "properties": {"tone": tone, "marks": plain}, "required": ["tone", "marks"]}
    lowering = lower(Tool("read", schema), target="llamacpp")
    for level, marks in (("keys", "list of string"), ("all", 'list of one of "u", "v"')):
        said = message_with_words("", lowering, level=cast("Any", level)).split("\n\n")[1].splitlines()
        assert said == ["tone: string", '  "a" — Calm: No haste.', '  "b" — Loud', f"marks: {marks}"]


@pytest.mark.parametrize(
    ("given", "level"), [(True, "all"), (False, "none"), ("keys", "keys"), ("task", "task"), ("some", None), (1, None)]
)
def test_earlier_settings_of_words_mean_a_level(given: object, level: str | None) -> None:
    settings, faults = request_settings({"words": given})
    assert (settings.get("words"), len(faults)) == (level, int(level is None))


def test_the_meaning_of_a_text_does_not_stand_where_its_value_would() -> None:
    said = {"description": "The reply, ready to be sent."}
    properties: Any = {
        "text": {"type": "string", "maxLength": 90, **said},
        "mood": {"enum": ["a", "b"], "description": "How it sounds."},
    }
    schema: Any = {"type": "object", "properties": properties, "required": ["text", "mood"]}
    message = message_with_words("", lower(Tool("read", schema), target="llamacpp"), sentences_in("en"))
    lines = message.split("\n\n")[1].splitlines()
    assert lines == [
        "text: string, maxLength 90. The reply, ready to be sent.",
        "mood: string. How it sounds.",
    ]


def test_what_alternatives_have_in_common_is_said_once() -> None:
    place: Any = {"type": "object", "properties": {"city": {"type": "string", "maxLength": 30}}, "required": ["city"]}
    tools: list[Any] = [
        {
            "type": "object",
            "properties": {"tool": {"const": name}, "where": where, "max": {"const": most}},
            "required": ["tool", "where", "max"],
        }
        for name, where, most in (("a", place, 1), ("b", place, True), ("c", {"type": "string"}, 1), ("d", place, 1))
    ]
    schema: Any = {"type": "object", "properties": {"next": {"anyOf": [{"type": "null"}, *tools]}}, "required": ["next"]}
    said = message_with_words("", lower(Tool("read", schema), target="llamacpp"), sentences_in("en"))
    assert said.split("\n\n")[1].splitlines()[1:] == [
        *("  (alternative 1)", '    tool: always "a"', "    where: object", "      city: string, maxLength 30"),
        *("    max: always 1", "  (alternative 2)", '    tool: always "b"'),
        *("    where: as above", "    max: always true"),
        *("  (alternative 3)", '    tool: always "c"', "    where: string", "    max: always 1"),
        *("  (alternative 4)", '    tool: always "d"', "    where: object", "      city: as above"),
        "    max: always 1",
    ]


@pytest.mark.parametrize("kind", ["llamacpp", "ollama", "vllm", "openai", "gemini"], indirect=True)
def test_an_answer_has_a_bound_where_the_server_has_none(kind: str, standin: Standin) -> None:
    standin.answers.append((200, SHAPES[kind](FILLED, "step1_read")))
    ask(kind)
    sent = json.dumps(standin.seen[0][2])
    assert any(word in sent for word in ('"max_tokens"', '"num_predict"')) is (kind in {"llamacpp", "ollama", "vllm"})


def text(length: int | None = None, name: str = "a") -> dict[str, Any]:
    return {"type": "object", "properties": {name: {"type": "string"} | ({} if length is None else {"maxLength": length})}}


@pytest.mark.parametrize("kind", ["vllm"], indirect=True)
@pytest.mark.parametrize(
    "said",
    [
        "'max_tokens' is too large: 1024. This model's maximum context length is 900 tokens and it has 120 input tokens",
        "This model's maximum context length is 900 tokens. However, you requested 1144 tokens (120 in the messages, 1024 in …)",
    ],
)
def test_a_bound_of_ours_that_is_too_high_for_the_context_is_lowered(kind: str, standin: Standin, said: str) -> None:
    good = (200, SHAPES[kind](FILLED, "step1_read"))
    standin.answers += [(400, {"error": {"message": said, "type": "BadRequestError", "code": 400}}), good, good]
    model = model_of(f"{kind}:m-1", Path())
    request = Request("run/llmContext1", "step1_read", "Read the letter.", SCHEMA)
    assert [asyncio.run(model.answer(request)).answer for _ in range(2)] == [FILLED, FILLED]
    first, *lower = [sent["max_tokens"] for _, _, sent in standin.seen]
    assert first > 900
    assert all(256 <= bound < 900 - 64 for bound in lower)
    standin.answers.append((400, {"error": {"message": said, "type": "BadRequestError", "code": 400}}))
    with pytest.raises(ModelError) as raised:
        ask(kind, max_tokens=2_000)
    assert (raised.value.code, raised.value.retry) == ("context", False)


@pytest.mark.parametrize("kind", ["llamacpp"], indirect=True)
def test_a_bound_of_ours_keeps_within_the_context_that_is_set(kind: str, standin: Standin) -> None:
    standin.answers += [(200, SHAPES[kind](FILLED, "step1_read"))] * 2
    ask(kind, context=500)
    ask(kind, context=300, max_tokens=400)
    assert [256 <= standin.seen[0][2]["max_tokens"] < 440, standin.seen[1][2]["max_tokens"]] == [True, 400]


def test_the_bound_of_an_answer_follows_its_lengths_and_items() -> None:
    assert answer_bound(text(10)) == 256 == answer_bound({"type": "boolean"})
    assert answer_bound(text(600)) < answer_bound(text(None, "_why")) < answer_bound(text())
    items = {"type": "array", "items": text(400)}
    assert answer_bound({**items, "maxItems": 3}) < answer_bound(items) < answer_bound({**items, "maxItems": 50}) <= 16_384
    loop: dict[str, Any] = {"$defs": {"n": {"type": "array", "items": {"$ref": "#/$defs/n"}}}, "$ref": "#/$defs/n"}
    assert answer_bound(loop) <= 16_384


def test_thoughts_without_a_length_get_one_and_nothing_else_does() -> None:
    said: Any = {"_why": {"type": "string"}, "_how": {"type": "string", "maxLength": 9}, "_n": {"type": "integer"}}
    schema = {"type": "object", "properties": {"a": {"type": "object", "properties": said}, "b": {"type": "string"}}}
    inner = with_short_thoughts(schema)["properties"]["a"]["properties"]
    assert inner == said | {"_why": {"type": "string", "maxLength": 800}}
    assert with_short_thoughts(schema)["properties"]["b"] == {"type": "string"}


def test_what_is_narrower_wins() -> None:
    table = RequestTable(
        {"temperature": 1.0, "seed": 1, "max_tokens": 1, "extra": {"a": 1, "b": 1}},
        {"openai:*": {"seed": 2, "extra": {"b": 2}}, "openai:gpt-5": {"max_tokens": 3}, "judge-*": {"seed": 4}},
        {"timeout": 5.0},
    )
    assert table.of_model("openai:gpt-5") == {"temperature": 1.0, "seed": 2, "max_tokens": 3, "extra": {"a": 1, "b": 2}}
    assert table.of_steps(["step2_judge_tone"]) == {"seed": 4, "timeout": 5.0}
    assert table.of_steps(["step1_read"]) == {"timeout": 5.0}


@pytest.mark.parametrize("kind", ["openai", "vllm"], indirect=True)
def test_a_server_that_ignores_the_named_tool_is_asked_by_response_format_and_remembered(kind: str, standin: Standin) -> None:
    model = model_of(f"{kind}:m-1", Path())
    asked = Request("run/llmContext1", "step1_read", "Read the letter.", SCHEMA)
    good = (200, completion({"content": json.dumps(FILLED)}))
    standin.answers += [(200, completion({"content": "Dear me!"})), good, good]
    first, second = asyncio.run(model.answer(asked)), asyncio.run(model_of(f"{kind}:m-1", Path()).answer(asked))
    assert first.answer == FILLED
    assert "tool_choice" in first.notes[0]
    assert first.usage == {"input_tokens": 22, "output_tokens": 14}
    assert ["tools" in sent for _, _, sent in standin.seen] == [True, False, True]
    assert second.answer == FILLED  # JSON in the text is taken as it is


def failing(kind: str, standin: Standin, *answer: Any) -> ModelError:
    standin.answers.append(answer)
    with pytest.raises(ModelError) as raised:
        ask(kind)
    assert KEY not in str(raised.value)
    return raised.value


ODD: Mapping[str, tuple[Any, ...]] = {
    "a page of HTML": (200, b"<html><body>nginx</body></html>", {"content-type": "text/html"}),
    "HTML that says it is JSON": (200, b"<html>"),
    "cut JSON": (200, b'{"choices": [{"mess'),
    "nothing": (200, b""),
    "not UTF-8": (200, b'{"choices": "\xff\xfe"}'),
    "events of a stream": (200, b'data: {"choices": []}\n\ndata: [DONE]\n\n', {"content-type": "text/event-stream"}),
    "a list": (200, b"[1, 2]"),
    "null": (200, b"null"),
}


@pytest.mark.parametrize("body", ODD)
def test_a_body_that_nobody_can_read_is_one_kind_of_error_or_a_complaint(kind: str, standin: Standin, body: str) -> None:
    standin.answers.append(ODD[body])
    try:
        reply = ask(kind)
    except ModelError as error:
        assert (error.code, error.retry) == ("unreadable", True)  # noqa: PT017  -- or it is a complaint
    else:
        assert reply.complaints


@pytest.mark.parametrize(
    ("error", "code", "retry"),
    [
        ({"code": "server_error", "message": "try again"}, "500", True),
        ({"code": "insufficient_quota", "message": "no money"}, "quota", False),
        ({"message": "something"}, "provider", False),
        ({"code": 502, "message": "Upstream is down"}, "502", True),
        ({"code": "429", "message": "slow down"}, "429", True),
        ({"code": 402, "message": "pay"}, "quota", False),
        ({"code": "billing_not_active", "message": "pay"}, "quota", False),
        ({"code": "invalid_prompt", "message": "no"}, "refused", False),
        ({"code": "tool_use_failed", "message": "Failed to call a function."}, "unreadable", True),
        ({"code": 400, "status": "PROHIBITED_CONTENT", "message": "no"}, "refused", False),
    ],
)
@pytest.mark.parametrize("place", ["alone", "beside", "in the choice"])
@pytest.mark.parametrize("kind", ["openai", "openai-output", "vllm", "llamacpp"], indirect=True)
def test_an_error_inside_an_answer_that_is_fine_is_an_error(
    kind: str, standin: Standin, place: str, error: Any, code: str, *, retry: bool
) -> None:
    good = SHAPES[kind](FILLED, "step1_read")
    choice = {**good["choices"][0], "finish_reason": "error", "error": error}
    answer = {"alone": {"error": error}, "beside": {**good, "error": error}, "in the choice": {**good, "choices": [choice]}}
    found = failing(kind, standin, 200, answer[place])
    assert (found.code, found.retry) == (code, retry)
    assert error["message"] in str(found)


REPORTS: dict[str, tuple[Any, str]] = {
    "a status": ({"error": {"code": 502, "message": "Oops"}}, "502"),
    "a word": ({"error": {"message": "Oops", "type": "rate_limit_exceeded"}}, "429"),
    "a text": ({"error": "Oops: temporarily unavailable"}, "503"),
    "Anthropic's": ({"type": "error", "error": {"type": "overloaded_error", "message": "Oops"}}, "overloaded"),
    "Gemini's": ({"error": {"code": 503, "message": "Oops", "status": "UNAVAILABLE"}}, "503"),
    "Mistral's": ({"object": "error", "message": "Oops", "type": "internal_error", "code": "3000"}, "500"),
    "GigaChat's": ({"status": 500, "message": "Oops"}, "500"),
    "of a response": ({"object": "response", "status": "failed", "error": {"code": "server_error", "message": "Oops"}}, "500"),
}


def test_an_error_in_place_of_an_answer_or_beside_it_is_one_for_every_adapter(kind: str, standin: Standin) -> None:
    for report, code in REPORTS.values():
        found = failing(kind, standin, 200, report)
        assert (found.code, found.retry) == (code, True)
        assert "Oops" in str(found)
    found = failing(kind, standin, 200, SHAPES[kind](FILLED, "step1_read") | {"error": {"code": 402, "message": "Oops"}})
    assert (found.code, found.retry) == ("quota", False)


STREAMED_ERRORS = {
    "openai-responses": [{"type": "error", "code": "server_error", "message": "Oops", "param": None, "sequence_number": 1}],
    "gemini-output": [{"error": {"code": 502, "message": "Oops", "status": "UNAVAILABLE"}}],
    "mistral": [{"object": "error", "message": "Oops", "type": "internal_error", "code": "3000"}],
    "ollama": [{"error": "Oops: unavailable"}],
    "openai": [{"error": {"code": 502, "message": "Oops"}}],
    "openai-output": [
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "error", "error": {"code": 502, "message": "Oops"}}]}
    ],
    "vllm": [{"error": {"code": "502", "message": "Oops", "type": "BadGateway"}}],
    "anthropic": [{"type": "error", "error": {"type": "overloaded_error", "message": "Oops"}}],
}


@pytest.mark.parametrize("kind", STREAMED_ERRORS, indirect=True)
def test_an_error_inside_a_stream_is_tried_again_and_keeps_its_words(kind: str, standin: Standin) -> None:
    named = kind == "anthropic"
    events = "".join(
        (f"event: {piece['type']}\n" if named else "") + f"data: {json.dumps(piece)}\n\n" for piece in STREAMED_ERRORS[kind]
    )
    if kind == "ollama":
        standin.answers.append((200, json.dumps(STREAMED_ERRORS[kind][0]).encode(), {"content-type": "application/x-ndjson"}))
    else:
        standin.answers.append((200, events.encode(), {"content-type": "text/event-stream"}))
    request = Request("run/llmContext1", "step1_read", "Read.", SCHEMA, partial=lambda *_: None)
    with pytest.raises(ModelError, match="Oops") as raised:
        asyncio.run(model_of(f"{kind}:m-1", Path()).answer(request))
    assert raised.value.retry
    codes = {"anthropic": "overloaded", "openai-responses": "500", "mistral": "500", "ollama": "503"}
    assert raised.value.code == codes.get(kind, "502")


@pytest.mark.parametrize(
    ("headers", "least", "most"),
    [
        ({"retry-after": "7"}, 7, 7),
        ({"retry-after-ms": "2500", "retry-after": "9"}, 2.5, 2.5),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0, 0),
        ({"retry-after": "Wed, 21 Oct 9999 07:28:00 GMT"}, 2e11, 3e11),
        ({"retry-after": "99999999999"}, 99999999999, 99999999999),
        ({"x-ratelimit-reset-tokens": "1m30s", "x-ratelimit-remaining-tokens": "0"}, 90, 90),
    ],
)
@pytest.mark.parametrize("kind", ["openai", "anthropic", "mistral", "gemini", "llamacpp"], indirect=True)
def test_a_provider_that_asks_for_a_pause_gets_it(
    kind: str, standin: Standin, headers: dict[str, str], least: float, most: float
) -> None:
    found = failing(kind, standin, 429, {"error": {"message": "slow down", "code": 429, "status": "S"}}, headers)
    assert found.retry
    assert found.after is not None
    assert least <= found.after <= most


@pytest.mark.parametrize(
    ("status", "said", "code"),
    [
        (429, "insufficient_quota", "quota"),
        (400, "context_length_exceeded", "context"),
        (400, "exceed_context_size_error", "context"),
        (400, "content_filter", "refused"),
        (400, "invalid_prompt", "refused"),
        (402, "x", "quota"),
        (403, "billing_not_active", "quota"),
        (429, "Insufficient balance or no resource package. Please recharge.", "quota"),
        (429, "Your team has either used all available credits or reached its monthly spending limit.", "quota"),
        (400, "code: Arrearage, Access denied, please make sure your account is in good standing.", "quota"),
        (400, "The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).", "context"),
        (400, "ValidationException: Input is too long for requested model.", "context"),
        (400, "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 98304]", "context"),
        (403, "Your chosen model requires moderation and your input was flagged", "refused"),
    ],
)
@pytest.mark.parametrize("kind", ["openai", "llamacpp", "anthropic", "gemini", "mistral", "ollama"], indirect=True)
def test_what_no_waiting_mends_is_not_tried_again(kind: str, standin: Standin, status: int, said: str, code: str) -> None:
    found = failing(kind, standin, status, {"error": {"message": "no", "type": said, "code": said}})
    assert (found.code, found.retry) == (code, False)


@pytest.mark.parametrize("kind", ["openai"], indirect=True)
def test_a_call_that_groq_cannot_read_is_asked_for_again(kind: str, standin: Standin) -> None:
    about = {"message": "Failed to call a function.", "type": "invalid_request_error", "code": "tool_use_failed"}
    found = failing(kind, standin, 400, {"error": {**about, "failed_generation": "<function=step1_read{"}})
    assert (found.code, found.retry) == ("unreadable", True)


def test_a_server_that_is_loading_is_waited_for(standin: Standin, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("openai")
    monkeypatch.setenv("LLAMACPP_BASE_URL", standin.url)
    monkeypatch.setattr("instrc.runtime.models.provider._LOOK", 0.01)
    loading = (503, {"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}})
    standin.answers += [loading, loading, (200, SHAPES["llamacpp"](FILLED, ""))]
    assert ask("llamacpp").answer == FILLED


def test_an_answer_that_was_cut_is_asked_again_with_the_reason_and_more_room(
    standin: Standin, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("openai")
    monkeypatch.setenv("LLAMACPP_BASE_URL", standin.url)
    cut = completion({"content": '{"text": "' + " ".join(map(str, range(90)))})
    cut["choices"][0]["finish_reason"] = "length"
    standin.answers += [(200, cut), (200, completion({"content": '{"text": "short"}'}))]
    run = instrc.run('@{ title: "A", type: "object", properties: { text: { type: "string" } } }', "x", model="llamacpp:m")
    assert run.value == {"text": "short"}
    first, second = (sent for _, _, sent in standin.seen)
    assert second["max_tokens"] == 2 * first["max_tokens"]
    assert second["messages"] == first["messages"]
    assert ("temperature" in first, second["temperature"], second["seed"]) == (False, 0.7, 1)
    rejected, answered = (event for event in run.trace if event["event"] == "answered")
    assert rejected["text"].startswith('{"text": "0 1 2')
    assert answered["notes"] == ["asked again: temperature 0.7, seed 1, with the first message"]


def test_a_run_whose_answers_were_cut_says_what_to_set(standin: Standin, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("openai")
    monkeypatch.setenv("LLAMACPP_BASE_URL", standin.url)
    cut = completion({"content": '{"text": "' + " ".join(map(str, range(90)))})
    cut["choices"][0]["finish_reason"] = "length"
    standin.answers += [(200, cut)] * 3
    run = instrc.run('@{ title: "A", type: "object", properties: { text: { type: "string" } } }', "x", model="llamacpp:m")
    with pytest.raises(instrc.RunFailedError, match="`max_tokens` gives an answer more room"):
        _ = run.value


def test_a_fork_asks_with_other_settings(standin: Standin, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("openai")
    monkeypatch.setenv("LLAMACPP_BASE_URL", standin.url)
    standin.answers += [(200, completion({"content": '{"text": "one"}'})), (200, completion({"content": '{"text": "two"}'}))]
    program = '@{ title: "A", type: "object", properties: { text: { type: "string" } } }'
    run = run_in_app(program, "x", model="llamacpp:m", settings={"temperature": 0, "max_tokens": 50})
    other = run.fork("a", model="llamacpp:n", settings={"temperature": 0.9})
    assert (run.value, other.value) == ({"text": "one"}, {"text": "two"})
    [(_, _, first), (_, _, second)] = standin.seen
    assert [(sent["model"], sent["temperature"], sent["max_tokens"]) for sent in (first, second)] == [
        ("m", 0, 50),
        ("n", 0.9, 50),
    ]
    with pytest.raises(SettingsError, match="warmth"):
        run.fork("a", settings={"warmth": 1})
    idle: Any
    for idle in ({"model": "llamacpp:n"}, {"settings": {"temperature": 0.9}}):
        with pytest.raises(ConflictError, match="another model or setting has no effect"):
            run.fork(**idle)
    assert run.fork().value == run.value


def test_a_third_request_has_the_complaint_and_no_two_requests_are_the_same(
    standin: Standin, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("openai")
    monkeypatch.setenv("LLAMACPP_BASE_URL", standin.url)
    standin.answers += [(200, completion({"content": '{"days": 0}'}))] * 3
    program = '@{ title: "A", type: "object", properties: { days: { type: "integer", minimum: 1 } }, required: ["days"] }'
    settings: Any = {"temperature": 0, "seed": 3}
    run = run_in_app(program, "x", model="llamacpp:m", settings=settings)
    assert run.status == "failed"
    sent = [one for _, _, one in standin.seen]
    assert [(one["temperature"], one["seed"]) for one in sent] == [(0, 3), (0.7, 4), (0.7, 5)]
    texts = [one["messages"][0]["content"] for one in sent]
    assert texts[0] == texts[1]
    assert "0 is less than the minimum of 1" in texts[2]
    assert all('"days": 0' not in text for text in texts)
    assert len({json.dumps(one) for one in sent}) == len(sent)


@pytest.mark.parametrize("kind", ["openai", "anthropic"], indirect=True)
def test_a_model_whose_sampling_is_not_set_reads_the_complaint_at_once(kind: str, standin: Standin) -> None:
    standin.answers += [(200, SHAPES[kind]({"asks": 1}, "read")), (200, SHAPES[kind](FILLED, "read"))]
    program = '@{ title: "Read", type: "object", properties: { asks: { type: "string" }, days: { type: "integer" } } }'
    assert instrc.run(program, "x", model=f"{kind}:m").value == FILLED
    second = json.dumps(standin.seen[1][2])
    assert "1 is not of type" in second
    assert '"temperature"' not in second


def test_a_value_that_a_check_has_refused_leaves_the_grammar(standin: Standin, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("openai")
    monkeypatch.setenv("LLAMACPP_BASE_URL", standin.url)
    standin.answers += [(200, completion({"content": f'{{"_why": "so", "mood": "{mood}"}}'})) for mood in ("a", "b")]
    program = (
        '@{ title: "Tell_Mood", type: "object", required: ["_why", "mood"],'
        ' properties: { _why: { type: "string" }, mood: { enum: ["a", "b", "c"] } } }'
    )
    checks: Any = {"tell-mood": lambda value: "it is not" if value["mood"] == "a" else None}
    assert run_in_app(program, "x", model="llamacpp:m", checks=checks).value == {"mood": "b"}
    grammars = [one["response_format"]["json_schema"]["schema"]["properties"]["mood"]["enum"] for _, _, one in standin.seen]
    assert grammars == [["a", "b", "c"], ["b", "c"]]


@pytest.mark.parametrize(
    ("text", "loops"),
    [
        ('{"a": "' + "the same words " * 30, True),
        ('{"a": "x"' + " \n\t" * 90, True),
        ('{"a": [' + '"one", "two", ' * 40 + '"on', True),
        (" ".join(map(str, range(300))), False),
        ("ha " * 20, False),
        ("", False),
    ],
)
def test_an_answer_that_repeats_itself_is_recognised(text: str, loops: bool) -> None:  # noqa: FBT001
    assert repeats(text) is loops


def test_a_looping_answer_gets_no_more_room(standin: Standin, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("openai")
    monkeypatch.setenv("LLAMACPP_BASE_URL", standin.url)
    cut = completion({"content": '{"text": "' + "long " * 90})
    cut["choices"][0]["finish_reason"] = "length"
    standin.answers += [(200, cut), (200, cut), (200, completion({"content": '{"text": "short"}'}))]
    run = instrc.run('@{ title: "A", type: "object", properties: { text: { type: "string" } } }', "x", model="llamacpp:m")
    assert run.value == {"text": "short"}
    first, _, third = (sent for _, _, sent in standin.seen)
    assert first["max_tokens"] == third["max_tokens"]
    assert "repeated itself" in third["messages"][0]["content"]


def test_the_next_model_is_asked_where_two_answers_were_not_accepted() -> None:
    asked: list[str] = []

    class Answering:
        def __init__(self, name: str, answer: Any) -> None:
            self.name, self.said = name, answer

        async def answer(self, request: Request) -> Reply:  # noqa: ARG002  -- it says the same to everything
            asked.append(self.name)
            return Reply(self.said)

    both = Fallback({"a:1": Answering("a", {"days": 0}), "b:2": Answering("b", {"days": 1})})
    program = '@{ title: "A", type: "object", properties: { days: { type: "integer", minimum: 1 } }, required: ["days"] }'
    run = instrc.run(program, "x", model=both)
    assert (run.value, asked) == ({"days": 1}, ["a", "a", "b"])
    [notes] = [event["notes"] for event in run.trace if event["event"] == "answered" and event.get("notes")]
    assert notes == ["answers of `a:1` were not accepted: `b:2` was asked"]


@pytest.mark.parametrize("kind", ["openai"], indirect=True)
def test_connections_are_closed_when_a_loop_of_the_user_ends(
    kind: str, standin: Standin, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = pytest.importorskip("openai").AsyncOpenAI
    close, closed = client.close, []

    async def told(self: Any) -> None:
        await close(self)
        closed.append(self.is_closed())

    monkeypatch.setattr(client, "close", told)
    standin.answers += [(200, SHAPES[kind](FILLED, "step1_read"))] * 2

    async def twice() -> None:
        model = model_of(f"{kind}:m-1", Path())
        for _ in range(2):
            await model.answer(Request("run/llmContext1", "step1_read", "Read.", SCHEMA))
        assert closed == []

    asyncio.run(twice())
    assert closed == [True]


# Several models, and not too often.


class Saying:
    def __init__(self, *said: ModelError | str) -> None:
        self.said = list(said)
        self.asked = 0

    async def answer(self, request: Request) -> Reply:
        assert not request.model or "," not in request.model
        self.asked += 1
        said = self.said.pop(0) if len(self.said) > 1 else self.said[0]
        if isinstance(said, ModelError):
            raise said
        return Reply(said, model=said)


PROGRAM = '@{ title: "A", type: "object" }'
REQUEST = Request("r/c", "a", "m", SCHEMA, "a:1, b:2")


def down(code: str = "503", *, retry: bool = True, after: float | None = None) -> ModelError:
    return ModelError("no", code=code, retry=retry, after=after)


@pytest.mark.parametrize(
    "error", [down(), down("quota", retry=False), down("refused", retry=False), down("context", retry=False)]
)
def test_the_next_model_is_asked_where_one_is_down_out_of_quota_or_refuses(error: ModelError) -> None:
    first, second = Saying(error), Saying("second")
    reply = asyncio.run(Fallback({"a:1": first, "b:2": second}).answer(REQUEST))
    assert (reply.model, len(reply.notes)) == ("second", 1)


def test_what_is_wrong_for_every_model_goes_to_no_other_one() -> None:
    second = Saying("second")
    with pytest.raises(ModelError):
        asyncio.run(Fallback({"a:1": Saying(down("400", retry=False)), "b:2": second}).answer(REQUEST))
    assert second.asked == 0


def test_a_model_that_fails_often_is_left_alone_and_asked_again_when_no_other_is_left() -> None:
    first, second = Saying(down()), Saying("second")
    both = Fallback({"a:1": first, "b:2": second})
    for _ in range(5):
        asyncio.run(both.answer(REQUEST))
    assert (first.asked, second.asked) == (3, 5)
    alone = Fallback({"a:1": (only := Saying(down(after=60.0), "again"))})
    with pytest.raises(ModelError):
        asyncio.run(alone.answer(REQUEST))
    assert asyncio.run(alone.answer(REQUEST)).model == "again"
    assert only.asked == 2


def test_a_model_that_fails_now_and_then_is_not_left_alone_however_many_ask_at_once() -> None:
    first = Saying(*[down() if number % 3 == 0 else "first" for number in range(60)])
    both = Fallback({"a:1": first, "b:2": Saying("second")})

    async def ask_all() -> None:
        await asyncio.gather(*[both.answer(REQUEST) for _ in range(30)])
        await asyncio.gather(*[both.answer(REQUEST) for _ in range(30)])

    asyncio.run(ask_all())
    assert first.asked == 60


def test_a_model_is_left_alone_for_a_day_at_most_whatever_is_asked_for() -> None:
    both = Fallback({"a:1": Saying(down(after=1e12)), "b:2": Saying("second")})
    asyncio.run(both.answer(REQUEST))
    assert both._until["a:1"] <= time() + LONGEST_REST


@pytest.mark.parametrize("first", [True, False])
def test_a_model_that_cannot_be_asked_is_a_problem_unless_another_one_may_answer_later(first: bool) -> None:  # noqa: FBT001
    class Keyless:
        async def answer(self, request: Request) -> Reply:  # noqa: ARG002  -- it asks nobody
            raise unusable("model", "b", "its key is missing")

    models: dict[str, Any] = {"b:2": Keyless(), "a:1": Saying(down())}
    both = Fallback(models if first else dict(reversed(models.items())))
    with pytest.raises(SettingsError if first else ModelError, match="its key is missing") as raised:
        asyncio.run(both.answer(REQUEST))
    assert getattr(raised.value, "retry", None) is (None if first else True)


def test_a_list_of_models_is_one_model(tmp_path: Path) -> None:
    (tmp_path / "a,b.json").write_text('["x"]')
    both = model_of("scripted:a,b.json, sample", tmp_path)
    assert isinstance(both, Fallback)
    assert list(both.models) == ["scripted:a,b.json", "sample"]


@pytest.mark.parametrize(("settings", "most"), [({"parallel": 2}, 2), ({"parallel": 1}, 1)])
def test_no_more_requests_at_the_same_time_than_are_set(settings: Any, most: int, tmp_path: Path) -> None:
    running = peak = 0

    class Slow:
        async def answer(self, request: Request) -> Reply:  # noqa: ARG002  -- its answer is the same
            nonlocal running, peak
            running, peak = running + 1, max(peak, running + 1)
            await asyncio.sleep(0.01)
            running -= 1
            return Reply(None)

    async def ask_all() -> None:
        model = Limited(Slow(), "a:1", settings, tmp_path / "models.sqlite")
        await asyncio.gather(*(model.answer(REQUEST) for _ in range(6)))

    asyncio.run(ask_all())
    assert peak == most


def test_requests_of_a_minute_are_spread_over_all_who_ask(tmp_path: Path) -> None:
    times: list[float] = []

    class Model:
        async def answer(self, request: Request) -> Reply:  # noqa: ARG002  -- its answer is the same
            times.append(monotonic())
            return Reply(None)

    async def ask_all() -> None:
        file = tmp_path / "models.sqlite"
        several = [Limited(Model(), "a:1", {"rpm": 1200}, file) for _ in range(2)]  # 20 a second
        await asyncio.gather(*(model.answer(REQUEST) for model in several for _ in range(12)))

    asyncio.run(ask_all())
    assert times[-1] - times[0] > 0.15
    assert all(later >= earlier for earlier, later in pairwise(times))


def test_tokens_of_a_minute_are_counted_by_guess_and_then_by_use(tmp_path: Path) -> None:
    class Model:
        async def answer(self, request: Request) -> Reply:  # noqa: ARG002  -- its answer is the same
            return Reply(None, {"input_tokens": 5_000, "output_tokens": 4_900})

    file = tmp_path / "models.sqlite"
    asyncio.run(Limited(Model(), "a:1", {"tpm": 10_000}, file).answer(REQUEST))
    assert turn(file, "a:1 tpm", 10_000, 90, 60.0) == 0.0
    assert 0.5 < turn(file, "a:1 tpm", 10_000, 200, 60.0) < 1.5
    assert turn(file, "b:2 tpm", 10_000, 10_000, 60.0) == 0.0
    file.unlink()
    file.mkdir()
    with pytest.raises(ModelError, match="cannot be written") as raised:
        turn(file, "a:1 tpm", 10_000, 1, 60.0)
    assert raised.value.retry
    with pytest.raises(SettingsError, match="limit"):
        limited(Model(), "a:1", {"rpm": 5}, file)


def test_an_answer_uses_up_the_tokens_of_an_hour_at_most_whatever_it_says(tmp_path: Path) -> None:
    class Model:
        async def answer(self, request: Request) -> Reply:  # noqa: ARG002  -- its answer is the same
            return Reply(None, {"input_tokens": 2**53 - 1, "output_tokens": 1})

    file = tmp_path / "models.sqlite"
    asyncio.run(Limited(Model(), "a:1", {"tpm": 10_000}, file).answer(REQUEST))
    assert 3_500 < turn(file, "a:1 tpm", 10_000, 0, 0.0) < 3_601


def test_a_model_that_one_process_leaves_alone_others_leave_alone_too(tmp_path: Path) -> None:
    file = tmp_path / "models.sqlite"
    for told, asked in ((file, ["b:2"]), (tmp_path / "others.sqlite", ["a:1", "b:2"])):
        first, second = Saying(down(after=60.0), "again"), Saying("b", "b")
        asyncio.run(Fallback({"a:1": first, "b:2": second}, file).answer(REQUEST))
        seen: list[str] = []

        class Noting:
            def __init__(self, words: str, seen: list[str] = seen) -> None:
                self.words, self.seen = words, seen

            async def answer(self, request: Request) -> Reply:  # noqa: ARG002  -- its answer is the same
                self.seen.append(self.words)
                raise down()

        with pytest.raises(ModelError):
            asyncio.run(Fallback({words: Noting(words) for words in ("a:1", "b:2")}, told).answer(REQUEST))
        assert seen == asked


def test_a_pause_that_is_longer_than_anybody_waits_ends_the_attempts() -> None:
    run = instrc.run(PROGRAM, "x", model=Saying(down(after=3600.0)))
    assert run.status == "failed"
    assert "3600 s" in str(run.outcome)


def test_settings_of_a_run_are_checked_and_limit_its_attempts() -> None:
    model = Saying(down())
    assert run_in_app(PROGRAM, "x", model=model, settings={"attempts": 1}).status == "failed"
    assert model.asked == 1
    assert run_in_app(PROGRAM, "x", model=model, settings={"total_timeout": 0.5}).status == "failed"
    assert model.asked == 2
    with pytest.raises(instrc.SettingsError) as raised:
        run_in_app(PROGRAM, "x", model=model, settings={"temprature": 0, "seed": "x"})
    assert [problem.word for problem in raised.value.problems] == ["temprature", "seed"]


@pytest.mark.parametrize("kind", ["llamacpp", "ollama"])
def test_where_no_server_answers_the_error_says_where_it_was_looked_for(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip({"llamacpp": "openai"}.get(kind, kind))
    monkeypatch.setenv(VARIABLES[kind][1], "http://ann:secret@127.0.0.1:9")
    with pytest.raises(ModelError, match=r"no answer from 127\.0\.0\.1:9 \(.*onnect") as raised:
        asyncio.run(model_of(f"{kind}:m", Path()).answer(Request("run/llmContext1", "read", "Read.", SCHEMA)))
    assert raised.value.code == "unreachable"
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("kind", ["anthropic", "openai", "openai-responses"], indirect=True)
def test_a_response_of_many_parts_does_not_stop_the_loop(kind: str, standin: Standin) -> None:
    """The library would make an object of each."""
    parts = {name: [{}] * 60_000 for name in ("content", "choices", "output")}
    standin.answers = [(400, b"{}"), (200, parts)]
    with pytest.raises(ModelError):
        ask(kind)  # what is imported once is not counted
    begun = thread_time()
    assert ask(kind).answer is None
    assert thread_time() - begun < 0.7


def test_nothing_follows_a_redirect_to_another_host(kind: str, standin: Standin) -> None:
    other = standin.url.replace("127.0.0.1", "localhost")
    standin.answers = [(307, b"", {"location": f"{other}/elsewhere"}), (500, b"", {})]
    with pytest.raises(ModelError):
        ask(kind)
    assert [path for path, _, _ in standin.seen if path == "/elsewhere"] == []
