"""Answers are seen while models write them, and are the same in the end."""

from __future__ import annotations

import asyncio
import json
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Literal
from zlib import crc32

import pytest
from applications import run_in_app
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, RootModel, model_validator
from standins import FILLED, SCHEMA, SHAPES, Standin
from written_processes import HalfTold

import instrc
from instrc import CompileError, ModelError, Reply, Request
from instrc.runtime.models.catalogue import model_of, provider_of
from instrc.runtime.models.partial import AnswerPart, TellPart, in_shape, prefix_value  # what is said below is about them alone
from instrc.runtime.stream import RunStream  # parts that no model writes
from instrc.tools.partial_instances import partial_instance  # of values that no stream ends with

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
WORDS = st.text(st.characters(codec="utf-8"), max_size=6)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=12,
)


def grows_into(part: object, whole: object) -> bool:
    """Tell whether a part says nothing that the whole does not say."""
    if isinstance(part, dict) and isinstance(whole, dict):
        return all(key in whole and grows_into(item, whole[key]) for key, item in part.items())
    if isinstance(part, list) and isinstance(whole, list):
        return len(part) <= len(whole) and all(map(grows_into, part, whole))
    if isinstance(part, str) and isinstance(whole, str):
        return whole.startswith(part)
    return type(part) is type(whole) and part == whole


@given(st.dictionaries(WORDS, VALUES, max_size=4) | st.lists(VALUES, max_size=4), st.booleans(), st.sampled_from([None, 1]))
def test_the_beginning_of_a_text_never_contradicts_the_whole(whole: Any, ascii_: bool, indent: int | None) -> None:  # noqa: FBT001
    text = json.dumps(whole, ensure_ascii=ascii_, indent=indent)
    for end in range(1, len(text)):
        value, complete = prefix_value(text[:end])
        assert grows_into(value, whole), text[:end]
        assert all(value[name] == whole[name] for name in complete)
    assert prefix_value(text) == (whole, tuple(whole) if isinstance(whole, dict) else ())
    assert prefix_value(f"{text} and so on") == prefix_value(text)


@pytest.mark.parametrize("text", ["", "Sure", "}", "{1", '{"a" "b"}', "[" * 10_000 + "}", '{"a": "\n', '{"a": tru,'])
def test_what_is_no_json_says_nothing_or_what_came_before(text: str) -> None:
    value, complete = prefix_value(text)
    assert value in (None, {}, {"a": ""}), value
    assert complete == ()


def events_of(kind: str, whole: dict[str, Any], cuts: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield a whole answer of a provider in pieces: the name of each event, and its data."""
    if kind.startswith("anthropic"):
        is_text = whole["content"][0]["type"] == "text"
        block = {"type": "text", "text": ""} if is_text else {**whole["content"][0], "input": {}}
        begun = {**whole, "content": [], "stop_reason": None, "usage": {"input_tokens": 11, "output_tokens": 1}}
        yield "message_start", {"message": begun}
        yield "content_block_start", {"index": 0, "content_block": block}
        for cut in cuts:
            delta = {"type": "text_delta", "text": cut} if is_text else {"type": "input_json_delta", "partial_json": cut}
            yield "content_block_delta", {"index": 0, "delta": delta}
        yield "content_block_stop", {"index": 0}
        yield "message_delta", {"delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 7}}
        yield "message_stop", {}
    elif kind == "openai-responses":
        yield "response.created", {"response": {**whole, "status": "in_progress", "output": [], "usage": None}}
        yield "response.output_item.added", {"output_index": 0, "item": {**whole["output"][0], "arguments": ""}}
        for cut in cuts:
            yield "response.function_call_arguments.delta", {"item_id": "f", "output_index": 0, "delta": cut}
        yield "response.completed", {"response": whole}
    elif kind == "ollama":
        for cut in cuts:
            yield "", {"model": "m", "done": False, "message": {"role": "assistant", "content": cut}}
        yield "", {**whole, "done_reason": "stop", "message": {"role": "assistant", "content": ""}}
    elif kind == "bedrock":
        use = {"toolUseId": "t1", "name": whole["output"]["message"]["content"][0]["toolUse"]["name"]}
        yield "messageStart", {"role": "assistant"}
        yield "contentBlockStart", {"contentBlockIndex": 0, "start": {"toolUse": use}}
        for cut in cuts:
            yield "contentBlockDelta", {"contentBlockIndex": 0, "delta": {"toolUse": {"input": cut}}}
        yield "contentBlockStop", {"contentBlockIndex": 0}
        yield "messageStop", {"stopReason": "tool_use"}
        yield "metadata", {"usage": whole["usage"], "metrics": whole["metrics"]}
    elif kind == "gemini-output":
        for cut in cuts:
            yield "", {"candidates": [{"content": {"role": "model", "parts": [{"text": cut}]}}]}
        yield "", {**whole, "candidates": [{"content": {"role": "model", "parts": [{"text": ""}]}, "finishReason": "STOP"}]}
    else:
        about = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        calls = whole["choices"][0]["message"].get("tool_calls")
        for place, cut in enumerate(cuts):
            name = {"name": calls[0]["function"]["name"]} if calls and (place == 0 or kind == "mistral") else {}
            call = {
                "index": 0,
                "function": {**name, "arguments": cut},
                **({"id": "t1", "type": "function"} if place == 0 else {}),
            }
            delta = {"tool_calls": [call]} if calls else {"content": cut}
            yield "", {**about, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        yield "", {**about, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
        yield "", {**about, "choices": [], "usage": whole["usage"]}


def streamed(kind: str, value: Any, only: int | None = None, name: str = "step1_read") -> tuple[int, bytes, dict[str, str]]:
    """Return the answer of a server that streams; of one that breaks off only so many events."""
    text = json.dumps(value)
    events = [*events_of(kind, SHAPES[kind](value, name), [text[at : at + 4] for at in range(0, len(text), 4)])][:only]
    if kind == "ollama":
        return 200, "".join(f"{json.dumps(each)}\n" for _, each in events).encode(), {"content-type": "application/x-ndjson"}
    if kind == "bedrock":
        body = b"".join(amazon_event(name, data) for name, data in events)
        return 200, body, {"content-type": "application/vnd.amazon.eventstream"}
    lines = [
        f"event: {name}\ndata: {json.dumps({'type': name, **each})}\n\n" if name else f"data: {json.dumps(each)}\n\n"
        for name, each in events
    ]
    return 200, "".join(lines).encode(), {"content-type": "text/event-stream"}


def amazon_event(name: str, data: Any, kind: str = "event") -> bytes:
    """Return a message of Amazon's event stream (smithy.io, `amazon-eventstream`, 2026-11)."""
    headers = b""
    for key, value in ((f":{kind}-type", name), (":content-type", "application/json"), (":message-type", kind)):
        headers += struct.pack(">B", len(key)) + key.encode() + b"\x07" + struct.pack(">H", len(value)) + value.encode()
    payload = json.dumps(data).encode()
    prelude = struct.pack(">II", 16 + len(headers) + len(payload), len(headers))
    message = prelude + struct.pack(">I", crc32(prelude)) + headers + payload
    return message + struct.pack(">I", crc32(message))


def ask(kind: str, told: list[tuple[Any, tuple[str, ...]]] | None) -> Reply:
    tell = None if told is None else lambda value, complete: told.append((value, tuple(complete)))
    request = Request("run/llmContext1", "step1_read", "Read the letter.", SCHEMA, partial=tell)
    return asyncio.run(model_of(f"{kind}:m-1", Path()).answer(request))


WHOLE = {"gemini", "gigachat"}
"""They give the arguments of a function only as a whole."""
STREAMING = SHAPES.keys() - WHOLE


@pytest.fixture(autouse=True)
def every_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("instrc.runtime.models.provider.PART_PAUSE", 0.0)
    monkeypatch.setattr("instrc.runtime.models.provider.PART_SHARE", 1e9)


def test_an_answer_in_pieces_is_the_answer_as_a_whole(kind: str, standin: Standin) -> None:
    told: list[tuple[Any, tuple[str, ...]]] = []
    standin.answers += [streamed(kind, FILLED)] if kind in STREAMING else [(200, SHAPES[kind](FILLED, "step1_read"))]
    standin.answers.append((200, SHAPES[kind](FILLED, "step1_read")))
    reply, whole = ask(kind, told), ask(kind, None)
    assert (reply.answer, reply.usage, reply.complaints, reply.text) == (whole.answer, whole.usage, (), whole.text)
    asked = [
        bool(sent.get("stream")) or "streamGenerateContent" in path or path.endswith("/converse-stream")
        for path, _, sent in standin.seen
    ]
    assert asked == [kind in STREAMING, False]
    if kind in STREAMING:
        assert all(grows_into(value, FILLED) for value, _ in told)
        assert ({"asks": "a "}, ()) in told
        assert told[-1][1] == ("asks", "days")


@pytest.mark.parametrize("kind", ["openai"], indirect=True)
def test_parts_of_an_answer_are_those_of_its_first_call(kind: str, standin: Standin) -> None:
    told: list[tuple[Any, tuple[str, ...]]] = []
    pieces = [data for _, data in events_of(kind, SHAPES[kind](FILLED, "step1_read"), ["", *json.dumps(FILLED)])]
    for piece in [*pieces]:
        for call in [call for choice in piece["choices"] for call in choice["delta"].get("tool_calls", ())]:
            function = {**call["function"], "arguments": call["function"]["arguments"].upper()}
            choice = {"index": 0, "delta": {"tool_calls": [{**call, "index": 1, "id": "t2", "function": function}]}}
            pieces.insert(pieces.index(piece) + 1, {**piece, "choices": [choice]})
    body = "".join(f"data: {json.dumps(piece)}\n\n" for piece in pieces).encode()
    standin.answers.append((200, body, {"content-type": "text/event-stream"}))
    assert ask(kind, told).complaints, "there are two calls"
    assert ({"asks": "a "}, ()) in told
    assert told[-1] == (FILLED, ("asks", "days"))
    assert all(grows_into(value, FILLED) for value, _ in told)


SHAPED = {
    "type": "object",
    "properties": {
        "tags": {"anyOf": [{"type": "null"}, {"type": "object", "additionalProperties": {"type": "string"}}]},
        "tone": {"enum": ["short", "long"]},
        "inner": {"type": "array", "items": {"type": "object", "properties": {"m": {"$ref": "#/$defs/map"}}, "required": ["m"]}},
    },
    "required": ["tags", "tone", "inner"],
    "$defs": {"map": {"type": "object", "additionalProperties": {"type": "integer"}}},
}


def test_a_part_has_the_shape_of_the_program_however_its_value_is_sent(kind: str, standin: Standin) -> None:
    if kind not in STREAMING:
        pytest.skip("it answers as a whole")
    whole = {"tags": {"a": "b", "c": "d"}, "tone": "short", "inner": [{"m": {"x": 1, "y": 2}}, {"m": {}}]}
    adapter = provider_of(model_of(f"{kind}:m-1", Path()))
    assert adapter is not None
    request = Request("run/llmContext1", "step1_read", "Read.", SHAPED, partial=lambda value, _: told.append(value))
    told: list[Any] = []
    standin.answers.append(streamed(kind, instrc.encode(whole, adapter.preview(request)[1])))
    assert asyncio.run(adapter.answer(request)).answer == whole
    assert len(told) > 3
    assert [part for part in told if not grows_into(part, whole)] == []
    assert not any(part.get("tone", "short") != "short" for part in told)


@pytest.mark.parametrize("schema", [{"type": "array", "items": {"$ref": "#"}}, {"anyOf": [{"$ref": "#"}]}])
def test_a_part_may_be_deep_and_its_schema_may_lead_to_itself(schema: Any) -> None:
    deep: Any = []
    for _ in range(2000):
        deep = [deep]
    assert in_shape(deep, schema, schema) is not None


@pytest.mark.parametrize("only", [0, 3])
def test_a_stream_that_breaks_off_is_worth_another_try(kind: str, standin: Standin, only: int) -> None:
    if kind not in STREAMING:
        pytest.skip("it answers as a whole")
    standin.answers.append(streamed(kind, FILLED, only))
    with pytest.raises(ModelError) as raised:
        ask(kind, [])
    assert (raised.value.retry, raised.value.code) == (True, "unreadable")


def test_an_error_instead_of_a_stream_is_that_of_a_whole_answer(kind: str, standin: Standin) -> None:
    standin.answers += [(429, {"error": {"message": "no", "type": "t", "code": 429, "status": "S"}})] * 2
    errors = []
    for told in ([], None):
        with pytest.raises(ModelError) as raised:
            ask(kind, told)
        errors.append((raised.value.code, raised.value.retry))
    assert errors[0] == errors[1] == ("429", True)


@pytest.mark.parametrize("kind", ["bedrock"], indirect=True)
@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("throttlingException", "429"),
        ("modelStreamErrorException", "500"),
        ("serviceUnavailableException", "503"),
        ("validationException", "400"),
    ],
)
def test_an_error_within_a_stream_of_bedrock_has_its_status(kind: str, standin: Standin, name: str, code: str) -> None:
    status, begun, headers = streamed(kind, FILLED, 4)
    standin.answers.append((status, begun + amazon_event(name, {"message": "Too busy"}, "exception"), headers))
    with pytest.raises(ModelError, match="Too busy") as raised:
        ask(kind, [])
    assert (raised.value.code, raised.value.retry) == (code, code != "400")


PROGRAM = 'prompt | @{ title: "Draft", properties: { _why: { type: "string" }, text: { type: "string" } }, required: ["text"] }'


def parts_of(stream: Any) -> list[Any]:
    async def collected() -> list[Any]:
        return [part async for part in stream]

    return asyncio.run(collected())


@pytest.mark.parametrize("kind", ["openai"], indirect=True)
def test_a_run_gives_the_parts_of_its_answers_without_thoughts(kind: str, standin: Standin) -> None:
    standin.answers.append(streamed(kind, {"_why": "short", "text": "Dear Ann"}, name="draft"))
    events: list[Any] = []
    stream = instrc.App(model="openai:m-1", watch=events.append).stream(PROGRAM, "a letter")
    with pytest.raises(RuntimeError, match="has not ended"):
        _ = stream.run
    parts = parts_of(stream)
    assert stream.run.value == parts[-1].value == {"text": "Dear Ann"}
    assert (parts[-1].steps, parts[-1].complete) == (("draft",), ("text",))
    assert len(parts) > 3
    assert all(grows_into(part.value, {"text": "Dear Ann"}) for part in parts)
    assert len({part.key for part in parts}) == 1
    assert [event["event"] for event in events] == ["asked", "answered", "ended"]


def test_a_model_that_does_not_stream_gives_the_whole_each_time_that_it_is_asked() -> None:
    stream = instrc.stream(PROGRAM, "a letter", model=instrc.Scripted([{"text": 5}, {"text": "Dear"}]))
    assert [part.value for part in parts_of(stream)] == [{"text": 5}, {"text": "Dear"}]
    assert stream.run.status == "done"


def test_what_goes_wrong_is_raised_by_the_loop() -> None:
    with pytest.raises(CompileError):
        parts_of(instrc.stream("no program !", model=instrc.Sample()))
    with pytest.raises(TypeError, match="partz"):
        instrc.stream(PROGRAM, "a", partz=print)


@dataclass
class Place:
    town: str
    since: date | None


class Letter(BaseModel):
    to: str = Field(alias="recipient")
    kind: Literal["note", "card"]
    places: list[Place]
    by_day: dict[str, Place] = Field(default_factory=dict)
    more: Letter | None = None

    @model_validator(mode="after")
    def never(self) -> Letter:
        message = "no part is validated"
        raise ValueError(message)


def test_an_unfinished_value_is_an_instance_whose_missing_members_are_none() -> None:
    read = partial_instance(Letter, {"recipient": "An", "kind": "no", "places": [{"town": "Rome", "since": "2026-1"}, {}]})
    assert isinstance(read, Letter)
    assert (read.to, read.kind, read.by_day, read.more) == ("An", None, None, None)
    assert read.places == [Place("Rome", None), Place(*(None, None))]
    more = partial_instance(Letter, {"more": {"kind": "card", "by_day": {"mon": {"since": "2026-01-02"}}}})
    assert isinstance(more, Letter)
    assert isinstance(more.more, Letter)
    assert more.more.kind == "card"
    assert more.more.by_day["mon"].since == date(2026, 1, 2)
    assert more.model_fields_set == {"more"}
    assert partial_instance(dict[str, int], {"a": 1}) == {"a": 1}
    assert partial_instance(int | str, "a") == "a"


class Refund(BaseModel):
    kind: Literal["refund"]
    amount: int


class Answered(BaseModel):
    kind: Literal["reply"]
    text: str = Field(validation_alias="Text")


class Days(RootModel[dict[str, date]]):
    pass


class Names(RootModel[list[str]]):
    pass


def test_an_unfinished_alternative_is_the_one_that_its_literals_and_members_name() -> None:
    for kind in (Refund | Answered, Answered | Refund, str | Refund | Answered | None):
        assert partial_instance(kind, {"kind": "reply", "Text": "hel"}) == Answered.model_construct(kind="reply", text="hel")
        assert partial_instance(kind, {"amount": 5}) == Refund.model_construct(kind=None, amount=5)
    assert partial_instance(Refund | dict[str, int], {"kind": 1}) == {"kind": 1}


def test_unfinished_roots_and_tuples_keep_what_each_item_is() -> None:
    assert partial_instance(Days, {"mon": "2026-01-02", "tue": "2026-"}) == Days.model_construct(
        {"mon": date(2026, 1, 2), "tue": None}
    )
    assert partial_instance(Names, ["a"]) == Names(["a"])
    place = {"town": "Rome", "since": "2026-01-02"}
    assert partial_instance(tuple[Place, date], [place, "2026-01-02"]) == (Place("Rome", date(2026, 1, 2)), date(2026, 1, 2))
    assert partial_instance(tuple[Place, date], [place]) == (Place("Rome", date(2026, 1, 2)),)
    assert partial_instance(tuple[date, ...], ["2026-01-02", "2026"]) == (date(2026, 1, 2), None)


def test_a_step_of_several_has_no_value_until_it_begins() -> None:
    steps = ("text", "body")
    told = [AnswerPart("r/llmContext1", steps, value, ()) for value in ({"text": {"text": "a"}}, {"body": {"text": "b"}})]

    async def begin(tell: TellPart) -> Any:
        for part in told:
            tell(part)

    async def work() -> list[Any]:
        return [value async for value in RunStream(begin).values(dict, "body")]

    assert asyncio.run(work()) == [{"text": "b"}]


def test_values_of_a_stream_are_instances_of_the_class() -> None:
    class Draft(BaseModel):
        text: str
        days: int

    async def work() -> None:
        app = instrc.App(model=instrc.Scripted({"draft": {"text": "Dear", "days": 2}}), vibes=[Draft])
        stream = app.stream("Draft(prompt)", "a letter", as_=Draft)
        assert [draft async for draft in stream.values(Draft)] == [Draft(text="Dear", days=2)]
        assert stream.run.value.days == 2
        with pytest.raises(instrc.InputError, match=r"`step` must be one of `draft`, not `other`"):
            _ = [draft async for draft in app.stream("Draft", "x").values(Draft, "other")]
        with pytest.raises(instrc.InputError, match=r"not `Letter`"):
            _ = [draft async for draft in app.stream("Draft", "x").values(Letter)]
        with pytest.raises(instrc.InputError, match=r"not `draught`"):
            _ = [text async for text in app.stream("Draft", "x").text("draught.text")]

    asyncio.run(work())


def test_a_function_is_told_of_the_parts_beside_the_loop() -> None:
    reported: list[instrc.AnswerPart] = []
    stream = instrc.App(model=instrc.Scripted([{"text": "Dear"}]), parts=reported.append).stream(PROGRAM, "a")
    assert parts_of(stream) == reported != []


@pytest.mark.parametrize("engine", ["memory", "durable"])
def test_a_run_tells_the_parts_of_its_answers_on_each_engine(engine: Any, tmp_path: Path) -> None:
    if engine == "durable":
        pytest.importorskip("dbos")
    told: list[Any] = []

    def tell(part: Any) -> None:
        told.append((part.value, part.complete))
        raise OSError

    with pytest.warns(RuntimeWarning, match="could not be told"):
        run = run_in_app(PROGRAM, "a", model=HalfTold(), engine=engine, store=tmp_path / "runs", parts=tell)
    instrc.close_stores()
    assert (run.status, told) == ("done", [({"text": "De"}, ()), ({"text": "Dear"}, ("text",))])


def test_a_loop_that_is_left_early_cancels_the_run() -> None:
    ended: list[str] = []

    class Slow:
        async def answer(self, request: Request) -> Reply:
            assert request.partial is not None
            try:
                request.partial({"text": "De"}, [])
                await asyncio.sleep(60)
            finally:
                ended.append("cancelled")
            raise AssertionError

    async def first() -> Any:
        parts = aiter(instrc.stream(PROGRAM, "a", model=Slow()))
        part = await anext(parts)
        await parts.aclose()
        await asyncio.sleep(0.05)
        return part.value

    assert asyncio.run(first()) == {"text": "De"}
    assert ended == ["cancelled"]


def pieces_of(stream: Any, path: str) -> list[str]:
    async def body() -> list[str]:
        return [piece async for piece in stream.text(path)]

    return asyncio.run(body())


@pytest.mark.parametrize("kind", ["openai"], indirect=True)
@pytest.mark.parametrize("path", ["draft.text", "step1_draft.text", "Draft.text"])
def test_one_text_is_given_piece_by_piece(kind: str, standin: Standin, path: str) -> None:
    standin.answers.append(streamed(kind, {"_why": "short", "text": "Dear Ann"}, name="draft"))
    pieces = pieces_of(instrc.stream(PROGRAM, "a letter", model="openai:m-1"), path)
    assert len(pieces) > 1
    assert "".join(pieces) == "Dear Ann"


def test_one_text_of_several_steps_is_given_anew_if_the_model_is_asked_again() -> None:
    draft = '@{ title: "Draft", type: "object", properties: { text: { type: "string" } }, required: ["text"] }'
    program = f'{draft} | @{{ title: "Sum", type: "object", properties: {{ n: {{ type: "integer" }} }}, required: ["n"] }}'
    answers = [
        {"step1_draft": {"text": "Dear"}, "step2_sum": {"n": "no"}},
        {"step1_draft": {"text": "Dear Ann"}, "step2_sum": {"n": 1}},
    ]
    assert pieces_of(instrc.stream(program, "a", model=instrc.Scripted(answers)), "draft.text") == ["Dear", "Dear Ann"]
    assert pieces_of(instrc.stream(program, "a", model=instrc.Scripted(answers)), "draft.txt") == []
