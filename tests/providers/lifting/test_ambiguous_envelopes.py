"""Where a tool's own properties look like an envelope, the reading that holds wins."""

from __future__ import annotations

import builtins
import socket
from types import MappingProxyType
from typing import Any

import pytest
from every_case import every_case
from objects import closed

from instrc import CompileError, encode, lift, lower, lower_all, targets
from instrc.problems.targets import AmbiguousAnswer
from instrc.text.jsontext import dumps

TEXT = {"type": "string"}
MESSAGE = closed(role=TEXT, content=TEXT)
LOOKALIKES = [
    (MESSAGE, {"role": "assistant", "content": "hello"}),
    (closed(error=TEXT), {"error": "disk full"}),
    (closed(choices={"type": "array", "items": closed(finish_reason=TEXT)}), {"choices": [{"finish_reason": "length"}]}),
    (closed(candidates={"type": "array"}), {"candidates": []}),
    (closed(output={"type": "array"}, status=TEXT), {"output": [], "status": "incomplete"}),
    (closed(message=closed(role=TEXT), done_reason=TEXT), {"message": {"role": "x"}, "done_reason": "length"}),
    (closed(detail=TEXT), {"detail": "all of it"}),
    (closed(code=TEXT, message=TEXT, request_id=TEXT), {"code": "A1", "message": "hello", "request_id": "7"}),
    (closed(name=TEXT, arguments=TEXT), {"name": "ls", "arguments": "-l"}),
    (closed(tool_calls={"type": "array"}), {"tool_calls": []}),
    (closed(type=TEXT, text=TEXT), {"type": "text", "text": "hello"}),
    (closed(parts={"type": "array"}, kind=TEXT), {"parts": [], "kind": "response"}),
    (closed(stop_reason=TEXT), {"stop_reason": "refusal"}),
    (closed(toolCall=closed(functionCalls={"type": "array"})), {"toolCall": {"functionCalls": []}}),
]


@every_case(("schema", "value"), LOOKALIKES)
def test_arguments_that_look_like_an_envelope_are_arguments(schema: Any, value: Any) -> None:
    for target in ("openai", "mcp", "ollama"):
        lifted = lift(value, lower(schema, target).map)
        assert (lifted.status, lifted.value if lifted.calls else None) == ("ok", value)


@every_case(("schema", "value"), LOOKALIKES)
def test_the_same_arguments_in_an_envelope_are_found_there(schema: Any, value: Any) -> None:
    call = {"type": "tool_use", "id": "c", "name": "tool", "input": value}
    lifted = lift({"role": "assistant", "content": [call], "stop_reason": "tool_use"}, lower(schema, "anthropic").map)
    assert (lifted.status, lifted.value) == ("ok", value)


def test_an_envelope_whose_keys_are_properties_is_read_by_what_holds() -> None:
    call = {"type": "tool_use", "id": "c", "name": "tool", "input": {"role": "user", "content": "hi"}}
    assert lift({"role": "assistant", "content": [call]}, lower(MESSAGE, "anthropic").map).value == {
        "role": "user",
        "content": "hi",
    }


def test_what_neither_reading_decides_is_ambiguous() -> None:
    record = lower(closed(error=TEXT, code={"type": "integer"}), "openai").map
    lifted = lift({"error": "disk full"}, record)
    assert lifted.status == "ambiguous"
    assert not lifted.ok
    assert lifted.calls == ()
    assert [reading.status for reading in lifted.readings] == ["invalid", "failed"]
    [problem] = lifted.problems
    assert isinstance(problem, AmbiguousAnswer)
    assert problem.readings == ("invalid", "failed")
    document: Any = lifted.to_json()
    assert [reading["status"] for reading in document["readings"]] == ["invalid", "failed"]
    assert "readings" not in lift({"error": {"message": "no"}, "id": 1}, record).to_json()


def test_an_error_of_the_provider_is_no_value_of_an_open_tool() -> None:
    assert lift({"error": {"message": "overloaded"}}, lower({"type": "object"}, "openai").map).status == "failed"


# Repairs


@every_case("target", targets())
def test_a_listed_word_in_another_case_is_repaired_on_every_target_with_its_place(target: str) -> None:
    schema = closed(mode={"enum": ["Fast", "Slow"]}, rows={"type": "array", "items": {"type": "string", "enum": ["A/b", "C"]}})
    record = lower(schema, target).map
    lifted = lift({"mode": "FAST", "rows": ["a/B", "C", "c"]}, record)
    assert lifted.ok, lifted
    assert lifted.value == {"mode": "Fast", "rows": ["A/b", "C", "C"]}
    assert {(repair.instance, repair.what) for repair in lifted.call.repairs} == {
        (place, "case") for place in ("/mode", "/rows/0", "/rows/2")
    }


def test_a_word_that_two_listed_ones_are_like_is_not_repaired() -> None:
    lifted = lift({"mode": "FAST"}, lower(closed(mode={"enum": ["Fast", "fast"]}), "openai").map)
    assert lifted.status == "invalid"
    assert lifted.call.repairs == ()


def test_keys_that_are_written_twice_are_told() -> None:
    record = lower(closed(a=TEXT), "openai").map
    for answer in ('{"a": "x", "a": "y"}', {"function": {"name": "tool", "arguments": '{"a": "x", "a": "y"}'}}):
        lifted = lift(answer, record)
        assert lifted.value == {"a": "y"}
        assert [repair.to_json() for repair in lifted.call.repairs] == [{"instance": "", "what": "repeated-key", "key": "a"}]
    assert lift('{"a": "x"}', record).call.repairs == ()


def test_formats_are_checked_when_an_answer_is_lifted() -> None:
    record = lower(closed(day={"type": "string", "format": "date"}), "openai").map
    assert lift({"day": "2026-02-28"}, record).ok
    assert [violation.keyword for violation in lift({"day": "2026-02-30"}, record).invalid] == ["format"]


# Values of Python that are no answers


class Nothing:
    """An object of somebody's."""


class Liar:
    """What looks like a model and is none."""

    def model_dump(self, **_: Any) -> Any:
        raise ZeroDivisionError


CIRCLE: dict[str, Any] = {}
CIRCLE["a"] = CIRCLE
SHARED: list[Any] = ["x"]
for _ in range(80):
    SHARED = [SHARED, SHARED]


@pytest.mark.long
@every_case(
    "answer",
    [
        Nothing(),
        Nothing,
        Liar(),
        {1: 2},
        {None: 1},
        {"a": float("inf")},
        {"a": float("nan")},
        CIRCLE,
        SHARED,
        {"a": Nothing()},
        iter([1]),
        {"a": b"x"},
        {"a": {1, 2}},
        lambda: 1,
        10**5000,
        '{"a": "\\ud800"}',
        {"a": "\ud800"},
        '{"a": 1e999}',
        memoryview(b"{}"),
    ],
    ids=lambda answer: type(answer).__name__,
)
def test_what_is_no_json_is_an_invalid_value_and_never_a_traceback(answer: Any) -> None:
    lifted = lift(answer, lower(closed(a=TEXT), "openai").map)
    assert lifted.status == "invalid"
    assert lifted.invalid
    lifted.to_json()


def test_any_mapping_is_an_object() -> None:
    assert lift(MappingProxyType({"a": "x"}), lower(closed(a=TEXT), "openai").map).ok


# Maps


def test_the_map_may_be_whatever_carries_one() -> None:
    lowering = lower(closed(a=TEXT), "mcp", "f")
    tools = lower_all([("f", closed(a=TEXT)), ("g", closed(b=TEXT))], "mcp")
    for map_ in (
        lowering,
        lowering.map,
        lowering.payload,
        [lowering.payload],
        {"tools": [lowering.payload]},
        MappingProxyType(lowering.map),
    ):
        assert lift({"name": "f", "arguments": {"a": "x"}}, map_).value == {"a": "x"}
    for map_ in (
        tools,
        tools.map,
        tools.payload,
        {"tools": tools.payload},
        {"jsonrpc": "2.0", "id": 1, "result": {"tools": tools.payload}},
    ):
        assert lift({"name": "g", "arguments": {"b": "x"}}, map_).value == {"b": "x"}


def test_the_map_may_be_text_or_kept_by_names() -> None:
    lowering = lower(closed(a=TEXT), "openai", "f")
    other = lower(closed(b=TEXT), "openai", "g")
    answer = {"name": "f", "arguments": {"a": "x"}}
    for map_ in (
        dumps(lowering.map),
        dumps(lowering.map).encode(),
        dumps({"tools": [lower(closed(a=TEXT), "mcp", "f").payload]}),
        {"f": lowering, "g": other},
        {"f": lowering.map, "g": other.map},
        (lowering, other),
    ):
        assert lift(answer, map_).value == {"a": "x"}
        assert encode({"a": "x"}, map_, "f") == {"a": "x"}


@pytest.mark.parametrize(
    ("given", "word"),
    [
        (lower(closed(a=TEXT), "openai").payload, "give what `lower`"),
        (lower(closed(a=TEXT), "gemini").payload, "give what `lower`"),
        (closed(a=TEXT), "give what `lower`"),
        ("draft.map.json", "a text, and no JSON"),
        ("5", "of the type int"),
    ],
    ids=["a tool of OpenAI", "a tool of Gemini", "a schema", "the name of a file", "a number"],
)
def test_what_is_easily_taken_for_a_map_is_refused_with_what_to_give(given: Any, word: str) -> None:
    with pytest.raises(CompileError, match=word):
        lift({"a": "x"}, given)


GOOD_MAP = lower(closed(a={"enum": ["x"]}, b={"type": "object"}), "openai").map


@every_case(
    "damaged",
    [None, 5, "x", [], {}, object(), {"tools": []}, {"instrc": 1}, {"instrc": True, "schema": {}}, {"instrc": 2, "schema": {}}]
    + [{"instrc": 1, "tools": 5}, {"instrc": 1, "tools": {1: {"schema": {}}}}, {"_meta": {"dev.instrc/map": 5}}, Liar()]
    + [
        {**GOOD_MAP, member: wrong}
        for member in ("codec", "codecs", "keys", "tool", "definitions", "schema")
        for wrong in (5, "x", [[]])
    ]
    + [{**GOOD_MAP, "codec": wrong} for wrong in ({}, {"as": "x"}, {"as": ["x"]}, {"as": "union"}, {"as": "ref", "name": "gone"})]
    + [{**GOOD_MAP, "codec": {"as": "object", "keys": {"a": wrong}}} for wrong in (5, {"key": 5}, {"codec": 5}, {"codec": {}})]
    + [{**GOOD_MAP, "codec": {"as": "values", "values": [wrong]}} for wrong in (5, [1], [1, 2, 3])]
    + [{**GOOD_MAP, "schema": {"type": "strng"}}, {**GOOD_MAP, "target": ["x"]}],
    ids=lambda damaged: str(damaged)[:60].partition(" at 0x")[0],  # an address would give the test a new name in each run
)
def test_a_damaged_map_is_one_problem(damaged: Any) -> None:
    with pytest.raises(CompileError) as caught:
        lift({"a": "x"}, damaged)
    assert [problem.name for problem in caught.value.problems] == ["unreadable-map"]


# Bounds


def test_a_pattern_in_a_map_cannot_make_an_answer_take_long() -> None:
    record = lower(closed(a={"type": "string", "pattern": "^(a+)+$"}), "openai").map
    assert lift({"a": "a" * 60 + "!"}, record).status == "invalid"


@every_case("carried", [False, True], ids=["a map", "a map in _meta"])
@every_case(
    "schema",
    [
        {"$ref": "file:///etc/passwd"},
        {"$ref": "http://127.0.0.1:1/schema.json"},
        {"$dynamicRef": "http://127.0.0.1:1/schema.json"},
        {"$id": "file:///etc/", "properties": {"a": {"$ref": "passwd"}}},
    ],
    ids=lambda schema: next(iter(schema)),
)
def test_a_reference_in_a_map_is_not_followed_out_of_it(schema: Any, *, carried: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    record = {**lower(closed(a=TEXT), "openai").map, "schema": schema}
    lift({"a": "x"}, record)  # what is imported at the first time is read by `open`
    opened: list[Any] = []

    def refuse(*arguments: Any, **_: Any) -> None:
        opened.append(arguments)
        raise OSError

    for name in ("socket", "create_connection", "getaddrinfo"):
        monkeypatch.setattr(socket, name, refuse)
    monkeypatch.setattr(builtins, "open", refuse)
    lifted = lift({"a": "x"}, {"name": "tool", "_meta": {"dev.instrc/map": record}} if carried else record)
    assert opened == []
    assert [violation.keyword for violation in lifted.invalid] == ["schema"]
    assert "nothing is fetched" in lifted.invalid[0].message
