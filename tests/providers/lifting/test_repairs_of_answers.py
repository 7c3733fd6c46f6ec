"""Slips that models are known for are read as they were meant; everything else stays as it is, and is told."""

from __future__ import annotations

from typing import Any

from every_case import every_case

from instrc import encode, lift, lower, targets
from instrc.providers.lifting.repair import listed_word  # the list of repairs, or one of them
from instrc.text.jsontext import dumps

LETTER: Any = {
    "type": "object",
    "properties": {
        "to": {"type": "string"},
        "cc": {"type": "array", "items": {"type": "string"}},
        "$note": {"type": "string"},
        "nothing": {"type": ["string", "null"]},
        "options": {"type": "object", "properties": {"копия": {"type": "boolean"}, "limit": {"type": "integer"}}},
        "by": {"anyOf": [{"type": "object", "properties": {"mail": {"type": "string"}}}, {"type": "integer"}]},
    },
    "required": ["to"],
    "additionalProperties": False,
}
KEPT = ["jsonschema", "anthropic", "mcp"]
LEFT_OUT = ["jsonschema", "anthropic", "mcp", "mistral", "vllm", "gigachat", "smolagents"]


@every_case("target", targets())
def test_null_for_what_may_be_left_out_and_may_not_be_null_is_left_out(target: str) -> None:
    record = lower(LETTER, target).map
    sent = {**encode({"to": "a"}, record), **dict.fromkeys(record["keys"], None)}
    sent["to"] = "a"
    lifted = lift(sent, record)
    assert lifted.ok, lifted
    assert lifted.value in ({"to": "a"}, {"to": "a", "nothing": None})
    if target in KEPT:
        assert [repair.what for repair in lifted.call.repairs] == ["null-left-out"] * 4
        assert {repair.instance for repair in lifted.call.repairs} == {"/cc", "/$note", "/options", "/by"}
        assert lifted.value["nothing"] is None, "null may stand here"


@every_case("target", KEPT)
def test_null_is_left_out_at_every_depth_and_inside_of_unions(target: str) -> None:
    record = lower(LETTER, target).map
    sent = encode({"to": "a", "options": {"копия": True, "limit": 1}, "by": {"mail": "x"}}, record)
    sent["options"] = dict.fromkeys(sent["options"])
    sent["by"] = {"mail": None}
    lifted = lift(sent, record)
    assert lifted.value == {"to": "a", "options": {}, "by": {}}
    assert lifted.ok
    assert len(lifted.call.repairs) == 3


@every_case("target", LEFT_OUT)
def test_null_for_what_is_required_stays_and_is_told(target: str) -> None:
    record = lower({"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]}, target).map
    lifted = lift({"to": None}, record)
    assert lifted.status == "invalid"
    assert lifted.value == {"to": None}
    assert not lifted.call.repairs


def test_null_stays_where_leaving_it_out_would_break_something_else() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}, "minProperties": 1}
    lifted = lift({"a": None}, lower(schema, "jsonschema").map)
    assert lifted.value == {"a": None}
    assert lifted.status == "invalid"


def test_null_in_a_list_is_no_property() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "string"}}}}
    assert lift({"a": [None]}, lower(schema, "jsonschema").map).status == "invalid"


def test_what_is_valid_is_not_touched() -> None:
    schema = {"type": "object", "properties": {"a": {}, "b": {"type": "string"}, "c": {"type": ["string", "integer"]}}}
    value = {"a": None, "b": "[1]", "c": "5"}
    lifted = lift(value, lower(schema, "jsonschema").map)
    assert lifted.value == value
    assert not lifted.call.repairs


def test_the_alternative_with_the_fewest_slips_is_meant() -> None:
    schema = {
        "anyOf": [
            {"type": "object", "properties": {"kind": {"const": "a"}, "x": {"type": "integer"}}, "required": ["kind", "x"]},
            {"type": "object", "properties": {"kind": {"const": "b"}, "y": {"type": "integer"}}, "required": ["kind"]},
        ]
    }
    record = lower(schema, "jsonschema").map
    assert lift({"kind": "b", "y": None}, record).value == {"kind": "b"}
    assert lift({"kind": "a", "x": "7"}, record).value == {"kind": "a", "x": 7}
    assert lift({"kind": "a", "x": None}, record).status == "invalid"


@every_case("target", targets())
def test_a_value_that_was_written_as_json_twice_is_read(target: str) -> None:
    schema = {
        "type": "object",
        "properties": {
            "rows": {"type": "array", "items": {"type": "integer"}},
            "m": {"type": "object", "additionalProperties": {"type": "integer"}},
        },
        "required": ["rows", "m"],
        "additionalProperties": False,
    }
    record = lower(schema, target).map
    value = {"rows": [1, 2], "m": {"a": 1}}
    sent = encode(value, record)
    inner = {**sent, "rows": dumps(sent["rows"]), "m": dumps(sent["m"], indent=False)}
    for answer in (
        inner,
        {"name": record["tool"]["sent"], "arguments": inner},
        {"name": "tool", "arguments": dumps(dumps(sent))},
    ):
        lifted = lift(answer, record)
        assert lifted.value == value, lifted
        assert {repair.what for repair in lifted.call.repairs} == {"text-read"}
    whole = lift(dumps(dumps(sent)), record)
    assert whole.value == value


@every_case("target", targets())
def test_names_inside_of_what_was_written_twice_are_ours_again(target: str) -> None:
    schema = {
        "type": "object",
        "properties": {
            "данные": {
                "type": "object",
                "properties": {"$n": {"type": "integer"}, "список": {"type": "array", "items": {"type": "string"}}},
                "required": ["$n"],
                "additionalProperties": False,
            },
            "text": {"type": "string"},
        },
        "required": ["данные", "text"],
        "additionalProperties": False,
    }
    record = lower(schema, target).map
    value = {"данные": {"$n": 1, "список": ["а"]}, "text": '{"n": 1}'}
    sent = encode(value, record)
    first = next(iter(sent))
    lifted = lift({**sent, first: dumps(sent[first])}, record)
    assert lifted.ok, lifted
    assert lifted.value == value
    assert [repair.what for repair in lifted.call.repairs] == ["text-read"]


def test_numbers_and_booleans_in_texts_are_read_where_no_text_may_stand() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}, "b": {"type": "boolean"}, "e": {"enum": [1, 2]}}}
    record = lower(schema, "anthropic").map
    assert lift({"n": "5", "b": "false", "e": "2"}, record).value == {"n": 5, "b": False, "e": 2}
    assert lift({"n": "five"}, record).status == "invalid"
    assert lift({"n": "5.5"}, record).value == {"n": "5.5"}


@every_case("target", ["anthropic", "openai", "ollama-output"])
def test_null_in_a_text_of_a_wrong_format_is_read_and_told(target: str) -> None:
    record = lower({"anyOf": [{"type": "null"}, {"type": "string", "format": "uri"}]}, target).map
    lifted = lift(encode("null", record, check=False), record)
    assert lifted.ok, lifted
    assert lifted.value is None
    assert [repair.what for repair in lifted.call.repairs] == ["text-read"]
    assert lift(encode("about:null", record), record).value == "about:null"


@every_case("target", ["openai", "anthropic", "ollama", "mcp"])
def test_an_argument_is_not_taken_for_the_arguments(target: str) -> None:
    texts: Any = {"name": {"type": "string"}, "type": {"type": "string"}}
    inner: Any = {"type": "object", "properties": texts, "required": ["name", "type"], "additionalProperties": False}
    properties = {"name": {"type": "string"}, "note": {"type": "string"}, "parameters": inner}
    record = lower({**inner, "properties": properties, "required": ["name"]}, target, "define").map
    lifted = lift(encode({"name": "f", "parameters": {"name": "x"}}, record, check=False), record)
    assert (lifted.status, [item.instance for item in lifted.invalid]) == ("invalid", ["/parameters"])
    wrapped = lift({"name": "define", "arguments": {"name": "define", "arguments": encode({"name": "f"}, record)}}, record)
    assert (wrapped.value, [repair.what for repair in wrapped.call.repairs]) == ({"name": "f"}, ["unwrapped"])


def test_arguments_in_arguments_without_end_are_opened_three_times() -> None:
    record = lower({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}, "anthropic").map
    value: Any = {"a": "x"}
    for depth in range(1, 5):
        value = {"arguments": value}
        assert lift({"type": "tool_use", "id": "1", "name": "tool", "input": value}, record).ok is (depth <= 3)


MORE: Any = {
    "type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": {"type": "integer"},
}  # fmt: skip
PAIR = {"key": "x", "value": 1}


@every_case(
    ("sent", "value", "repairs"),
    [
        ([PAIR], {"a": "b", "x": 1}, []),
        (dumps([PAIR]), {"a": "b", "x": 1}, ["key"]),
        ([PAIR, {"key": "a", "value": 2}], {"a": "b", "x": 1}, ["repeated-key"]),
        ([PAIR, {"key": "y"}], None, []),
        ([["x", 1]], None, []),
        ([{"x": 1}], None, []),
    ],
)
@every_case("target", ["openai", "ollama", "anthropic-strict", "gemini"])
def test_undeclared_properties_that_are_no_list_of_pairs_are_not_dropped(
    target: str, sent: Any, value: Any, repairs: list[str]
) -> None:
    lifted = lift({"a": "b", "additional_properties": sent}, lower(MORE, target).map)
    if value is None:
        assert (lifted.status, lifted.value) == ("invalid", {"a": "b", "additional_properties": sent})
    else:
        assert (lifted.status, lifted.value, [repair.what for repair in lifted.call.repairs]) == ("ok", value, repairs)


@every_case("rest", [False, {"type": "integer"}])
@every_case("target", ["openai", "ollama", "anthropic-strict", "gemini-schema", "gigachat"])
def test_a_tuple_without_an_item_before_others_is_none(target: str, rest: Any) -> None:
    places = [{"type": "integer"}, {"type": "string"}, {"type": "boolean"}]
    schema: Any = {"type": "array", "prefixItems": places, "items": rest}
    lowered = lower({"type": "object", "properties": {"t": schema}, "required": ["t"]}, target)
    assert ("type", "part") in {(loss.keyword, loss.kind) for loss in lowered.losses}
    absent = {} if target == "gigachat" else {"item_2": None}
    for last in ({"item_3": True}, {"more": [1]})[: 2 if rest else 1]:
        lifted = lift({"t": {"item_1": 1, **absent, **last}}, lowered)
        assert (lifted.status, [item.instance for item in lifted.invalid]) == ("invalid", ["/t"])
    for whole in ([], [1], [1, "x"], [1, "x", True]):
        assert lift(encode({"t": whole}, lowered.map), lowered).value == {"t": whole}


def test_a_mended_case_is_told() -> None:
    record = lower({"type": "object", "properties": {"m": {"enum": ["Yes", "No"]}}}, "anthropic").map
    lifted = lift({"m": "yes"}, record)
    assert lifted.value == {"m": "Yes"}
    assert [repair.what for repair in lifted.call.repairs] == ["case"]


@every_case("target", ["anthropic", "bedrock", "anthropic-strict", "openai"])
def test_a_mended_case_changes_no_other_place(target: str) -> None:
    texts: Any = {"tag": {"anyOf": [{"enum": ["Yes", "No"]}, {"type": "string"}]}, "mode": {"enum": ["fast", "slow"]}}
    record = lower({"type": "object", "properties": texts, "required": ["tag", "mode"]}, target).map
    lifted = lift({"tag": "yes", "mode": "FAST"}, record)
    assert lifted.value == {"tag": "yes", "mode": "fast"}
    assert [(repair.instance, repair.what) for repair in lifted.call.repairs] == [("/mode", "case")]


@every_case("target", ["openai", "ollama", "gemini"])
def test_one_pair_in_place_of_a_list_of_pairs_is_an_entry(target: str) -> None:
    texts: Any = {"type": "object", "additionalProperties": {"type": "string"}}
    record = lower({"type": "object", "properties": {"m": texts}, "required": ["m"]}, target).map
    assert lift({"m": {"key": "color", "value": "red"}}, record).value == {"m": {"color": "red"}}
    for value in ({"key": "a", "value": "b"}, {"key": "a"}, {}):
        assert lift(encode({"m": value}, record), record).value == {"m": value}


def test_a_choice_without_what_it_names_names_an_empty_object() -> None:
    person: Any = {"type": "object", "title": "person", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    company: Any = {"type": "object", "title": "company", "properties": {"firm": {"type": "string"}}}
    union: Any = {"anyOf": [person, company]}
    record = lower({"type": "object", "properties": {"who": union}, "required": ["who"]}, "gigachat").map
    assert lift({"who": {"choice": "company"}}, record).value == {"who": {}}


@every_case("key", ["input", "arguments", "parameters"])
def test_an_argument_with_the_name_of_its_wrapper_is_unwrapped(key: str) -> None:
    record = lower({"type": "object", "properties": {key: {"type": "string"}}, "required": [key]}, "openai").map
    lifted = lift({key: {key: "x"}}, record)
    assert (lifted.value, [(repair.what, repair.key) for repair in lifted.call.repairs]) == ({key: "x"}, [("unwrapped", key)])
    assert lift({key: {"other": "x"}}, record).status == "invalid"


def test_members_beside_a_choice_are_those_of_the_object_that_it_names() -> None:
    card: Any = {"type": "object", "title": "card", "properties": {"number": {"type": "string"}, "cvc": {"type": "integer"}}}
    union: Any = {"anyOf": [card, {"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
    record = lower({"type": "object", "properties": {"pay": union}, "required": ["pay"]}, "gigachat").map
    assert lift({"pay": {"choice": "card", "number": "4111", "cvc": 1}}, record).value == {"pay": {"number": "4111", "cvc": 1}}
    assert lift({"pay": {"choice": "card", "number": 4111}}, record).status == "invalid"
    for said in ({"choice": "list", "items": ["a"]}, {"choice": "list"}):  # its object may have further keys
        assert lift({"pay": said}, record).value == {"pay": said}


def test_a_hostile_answer_is_mended_in_bounds() -> None:
    schema = {"type": "object", "additionalProperties": {"type": "integer"}, "required": [f"k{n}" for n in range(300)]}
    lifted = lift({f"k{n}": None for n in range(2000)}, lower(schema, "jsonschema").map)
    assert lifted.status == "invalid"
    deep: Any = "x"
    for _ in range(150):
        deep = {"a": deep}
    assert not lift({"to": deep}, lower(LETTER, "jsonschema").map).ok


@every_case(
    ("word", "listed", "other"),
    [("HIGH", ("low", "high"), "high"), ("high", ("low", "high"), None), ("high", ("High", "HIGH"), None), (1, ("1",), None)],
    ids=["another case", "listed itself", "two that differ in case", "no text"],
)
def test_a_word_is_another_only_if_no_other_fits(word: Any, listed: tuple[str, ...], other: str | None) -> None:
    assert listed_word(word, listed) == other
