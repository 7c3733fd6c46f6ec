"""A stream is read as it comes over the wire: divided anywhere, with the fields of its events, and never past a damaged chunk.

Sources, 2026-11: html.spec.whatwg.org, server-sent events; Anthropic's guide to streaming (new types of events, `ping`);
openai/openai-node#1964 (`keepalive`); deeplethe/utopia#764 (bytes of a character in two chunks); SamSaffron/term-llm#448 (a
damaged chunk taken for success); API reference of Bedrock, `InvokeModelWithResponseStream`; of OpenAI, custom tools.
"""

from __future__ import annotations

import json
from typing import Any

from every_case import every_case

from instrc import lift, lower

SCHEMA: Any = {
    "type": "object",
    "properties": {"place": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["place", "days"],
    "additionalProperties": False,
}
VALUE = {"place": "Zürich 😀", "days": 3}
TEXT = json.dumps(VALUE, ensure_ascii=False)


def chunk(delta: Any, reason: str | None = None, **more: Any) -> Any:
    return {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": reason}], **more}


def event(fragment: str) -> Any:
    return {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": fragment}}


def item(fragment: str) -> Any:
    return {"type": "response.output_text.delta", "item_id": "m", "output_index": 0, "content_index": 0, "delta": fragment}


def line(fragment: str, *, done: bool = False) -> Any:
    return {"message": {"role": "assistant", "content": fragment}, "done": done}


FRAGMENTS = (TEXT[:12], TEXT[12:16], TEXT[16:])
MESSAGE: Any = {"type": "message_start", "message": {"role": "assistant", "content": []}}
BLOCK: Any = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
ENDED: Any = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 9}}
STREAMS: dict[str, list[Any]] = {
    "openai-output": [*(chunk({"content": text}) for text in FRAGMENTS), chunk({}, "stop")],
    "anthropic-output": [MESSAGE, BLOCK, *map(event, FRAGMENTS), ENDED, {"type": "message_stop"}],
    "openai-responses-output": [
        {"type": "response.created", "response": {"object": "response", "status": "in_progress", "output": []}},
        *map(item, FRAGMENTS),
        {"type": "response.completed", "response": {"object": "response", "status": "completed", "output": []}},
    ],
    "ollama-output": [*map(line, FRAGMENTS), line("", done=True)],
}
LOWERED = {target: lower(SCHEMA, target, "t") for target in STREAMS}


def wire(pieces: list[Any], *, end: str = "\n", data: str = "data: ") -> str:
    """Return server-sent events."""
    return "".join(f"{data}{json.dumps(piece, ensure_ascii=False)}{end}{end}" for piece in pieces)


def read(answer: Any, target: str) -> tuple[str, Any]:
    lifted = lift(answer, LOWERED[target])
    return lifted.status, lifted.calls[0].value if lifted.calls else None


@every_case("target", STREAMS)
def test_a_stream_may_be_divided_anywhere_also_within_a_character(target: str) -> None:
    text = wire(STREAMS[target]) if target != "ollama-output" else "\n".join(json.dumps(piece) for piece in STREAMS[target])
    sent = text.encode()
    for size in (1, 7, 64, 1000):
        assert read(iter([sent[at : at + size] for at in range(0, len(sent), size)]), target) == ("ok", VALUE), size
        for of in (iter, list):
            assert read(of([text[at : at + size] for at in range(0, len(text), size)]), target) == ("ok", VALUE), size
    for lines in (text.split("\n"), [part.encode() for part in text.split("\n")], text.splitlines(keepends=True)):
        assert read(iter(lines), target) == ("ok", VALUE)


def test_a_body_may_be_divided_within_a_character() -> None:
    body = json.dumps({"choices": [{"message": {"content": TEXT}, "finish_reason": "stop"}]}, ensure_ascii=False).encode()
    assert read(iter([body[at : at + 5] for at in range(0, len(body), 5)]), "openai-output") == ("ok", VALUE)


FIELDS = {
    "lines end in CRLF": lambda sent: wire(sent, end="\r\n"),
    "lines end in CR": lambda sent: wire(sent, end="\r"),
    "no space": lambda sent: wire(sent, data="data:"),
    "byte order mark": lambda sent: "\ufeff" + wire(sent),
    "fields first": lambda sent: "retry: 3000\nid: 1\nevent: message\n" + wire(sent),
    "comments and empty events first": lambda sent: ": connected\n\nretry: 3000\n\nevent: ping\nid: 3\n\n" + wire(sent),
    "comments between": lambda sent: ": PROCESSING\n\n" + wire(sent[:2]) + ": PROCESSING\n\n" + wire(sent[2:]),
    "the end is marked": lambda sent: wire(sent) + "data: [DONE]\n\n",
    "ping": lambda sent: 'event: ping\ndata: {"type": "ping"}\n\n' + wire(sent),
    "keepalive": lambda sent: (
        wire(sent[:2]) + 'event: keepalive\ndata: {"type":"keepalive","sequence_number":3}\n\n' + wire(sent[2:])
    ),
    "usage alone": lambda sent: wire(
        [*sent, {"object": "chat.completion.chunk", "choices": None, "usage": {"prompt_tokens": 1}}]
    ),
}


@every_case("target", [target for target in STREAMS if target != "ollama-output"])
@every_case("form", FIELDS)
def test_an_event_may_have_any_fields_of_server_sent_events(form: str, target: str) -> None:
    assert read(FIELDS[form](STREAMS[target]), target) == ("ok", VALUE)


def test_events_of_new_types_are_passed_over_in_a_stream_of_anthropic() -> None:
    sent = STREAMS["anthropic-output"]
    assert read(wire([*sent[:3], {"type": "safety_note", "level": 1}, *sent[3:]]), "anthropic-output") == ("ok", VALUE)


DAMAGED = {
    "half a chunk": lambda piece: piece[: len(piece) // 2],
    "two chunks in one line": lambda piece: piece * 2,
    "half a surrogate pair": lambda piece: piece.replace(json.dumps(FRAGMENTS[1])[1:-1], "\\\\ud83d").replace("\\\\", "\\"),
}


@every_case("target", STREAMS)
@every_case("damage", DAMAGED)
def test_nothing_is_read_past_a_damaged_chunk(damage: str, target: str) -> None:
    lines = [json.dumps(piece) for piece in STREAMS[target]]
    place = next(at for at, sent in enumerate(lines) if json.dumps(FRAGMENTS[1]) in sent)
    lines[place] = DAMAGED[damage](lines[place])
    text = "\n".join(lines) if target == "ollama-output" else "".join(f"data: {sent}\n\n" for sent in lines)
    assert read(text, target)[0] == "cut"


@every_case("schema", [{}, {"type": "string"}, {"type": "array"}, {"type": ["object", "array", "null", "string"]}], ids=str)
def test_a_stream_that_is_damaged_in_its_first_chunk_is_no_text(schema: Any) -> None:
    text = wire(STREAMS["openai-output"])
    for end in (len("data: {"), 40, text.index("\n") - 1):
        lifted = lift(text[:end], lower(schema, "openai-output", "t"))
        assert (lifted.status, lifted.calls) == ("cut", ()), end


INPUT: Any = {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"], "additionalProperties": False}


@every_case("text", ["", " ", "null", "[1]", '{"a": 1}', '"q"', "<tool_call>", "```json\n{}\n```", "</think>x"])
def test_the_text_of_a_custom_tool_is_joined_as_it_is(text: str) -> None:
    calls = [{"id": "c", "type": "custom", "custom": {"name": "t", "input": ""}}]
    calls += [{"custom": {"input": part}} for part in (text[:2], text[2:])]
    pieces = [chunk({"tool_calls": [{"index": 0, **call}]}) for call in calls]
    lowered = lower(INPUT, "openai", "t")
    assert lift([*pieces, chunk({}, "tool_calls")], lowered).value == {"input": text}
    assert lift(pieces, lowered).status == "cut"


def test_an_exception_in_a_stream_of_bedrock_is_a_failure() -> None:
    begun = {"chunk": {"bytes": json.dumps(MESSAGE).encode()}}
    for first in (begun, {"messageStart": {"role": "assistant"}}):
        for name in ("modelStreamErrorException", "modelTimeoutException", "throttlingException"):
            lifted = lift([first, {name: {"message": "Oops"}}], LOWERED["anthropic-output"])
            assert (lifted.status, lifted.failure) == ("failed", "Oops")
