"""Slips that leave no doubt about the value are repaired and told; where there is a doubt the answer is invalid, and says why."""

from __future__ import annotations

from time import process_time
from typing import Any

from every_case import every_case
from hunting import examples
from hypothesis import given
from hypothesis import strategies as st

from instrc import Lifted, lift, lower, lower_all
from instrc.providers.lifting.reply import loose_json  # a text without a call around it
from instrc.text.jsontext import dumps, loads

TRIP: Any = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "days": {"type": "integer"},
        "rate": {"type": "number"},
        "loud": {"type": "boolean"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "counts": {"type": "array", "items": {"type": "integer"}},
        "unit": {"enum": ["C", "F"]},
        "state": {"enum": ["in_progress", "done"]},
        "grade": {"enum": ["1", "2", "-1"]},
        "options": {
            "type": "object",
            "properties": {"maxItems": {"type": "integer"}, "deep": {"type": "boolean"}},
            "required": ["deep"],
            "additionalProperties": False,
        },
        "note": {"type": ["string", "null"]},
    },
    "required": ["city", "days"],
    "additionalProperties": False,
}
KEPT = ["jsonschema", "anthropic", "mcp", "vllm", "mistral"]
"""Targets that send the schema nearly as it is."""
OSLO: Any = {"city": "Oslo", "days": 2}


def called(arguments: Any, name: str = "tool") -> Any:
    """Return a response of Chat Completions with one call."""
    call = {"id": "c", "type": "function", "function": {"name": name, "arguments": arguments}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    return {"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}


def told(lifted: Lifted) -> list[tuple[str, ...]]:
    return [tuple(part for part in repair if part is not None) for repair in lifted.call.repairs]


# Text that is nearly JSON

LOOSE: dict[str, tuple[str, Any]] = {
    "a comma before a bracket": ('{"city": "Oslo", "days": 2,}', OSLO),
    "commas before brackets": ('{"city": "Oslo", "days": 2, "tags": ["a", "b", ], }', {**OSLO, "tags": ["a", "b"]}),
    "single quotes": ("{'city': 'Oslo', 'days': 2}", OSLO),
    "single quotes around double ones": ("{'city': 'the \"Oslo\"', 'days': 2}", {**OSLO, "city": 'the "Oslo"'}),
    "an apostrophe that is escaped": ("{'city': 'L\\'Aquila', 'days': 2}", {**OSLO, "city": "L'Aquila"}),
    "an apostrophe that needs no escape": ('{"city": "L\\\'Aquila", "days": 2}', {**OSLO, "city": "L'Aquila"}),
    "a dictionary of Python": (
        "{'city': 'Oslo', 'days': 2, 'loud': True, 'note': None}",
        {**OSLO, "loud": True, "note": None},
    ),
    "words of Python": ('{"city": "Oslo", "days": 2, "loud": False}', {**OSLO, "loud": False}),
    "an object of JavaScript": ("{city: 'Oslo', days: 2}", OSLO),
    "a comment behind": ('{"city": "Oslo", // the capital\n "days": 2}', OSLO),
    "a comment between": ('{"city": "Oslo", /* { */ "days": 2}', OSLO),
    "a comment of Python": ('{"city": "Oslo",  # }\n "days": 2}', OSLO),
    "an address is no comment": ("{'city': 'http://oslo.no/#x', 'days': 2,}", {**OSLO, "city": "http://oslo.no/#x"}),
    "a line break in a text": ('{"city": "Os\nlo", "days": 2}', {**OSLO, "city": "Os\nlo"}),
    "a tab in a text": ('{"city": "Os\tlo", "days": 2}', {**OSLO, "city": "Os\tlo"}),
    "a pattern whose backslash is single": ('{"city": "\\d+", "days": 2}', {**OSLO, "city": "\\d+"}),
    "an escape of Python": ('{"city": "\\x4fslo", "days": 2}', OSLO),
    "letters of other scripts": ("{'city': 'Осло 🌧', 'days': 2}", {**OSLO, "city": "Осло 🌧"}),
    "a sign before a number": ('{"city": "Oslo", "days": +2}', OSLO),
    "numbers without a digit": ('{"city": "Oslo", "days": 2, "rate": -.5}', {**OSLO, "rate": -0.5}),
    "a number with its point at the end": ('{"city": "Oslo", "days": 2, "rate": 1.}', {**OSLO, "rate": 1.0}),
    "quotes escaped throughout": ('{\\"city\\": \\"Oslo\\", \\"days\\": 2}', OSLO),
    "brackets of a template": ('{{"city": "Oslo", "days": 2}}', OSLO),
    "a bracket too many": ('{"city": "Oslo", "days": 2}}', OSLO),
    "the end of a turn": ('{"city": "Oslo", "days": 2}<|im_end|>', OSLO),
    "the end of a text": ('{"city": "Oslo", "days": 2}</s>', OSLO),
    "the end of a call": ('{"city": "Oslo", "days": 2}\n</tool_call>', OSLO),
    "the end of a statement": ('{"city": "Oslo", "days": 2};', OSLO),
    "a fence and a comma": ('```json\n{"city": "Oslo", "days": 2,}\n```', OSLO),
    "thoughts and single quotes": ("<think>hm</think>{'city': 'Oslo', 'days': 2}", OSLO),
}


@every_case("target", KEPT)
@every_case("case", LOOSE)
def test_text_that_is_nearly_json_is_read_in_a_call_and_alone_and_told(case: str, target: str) -> None:
    text, value = LOOSE[case]
    record = lower(TRIP, target).map
    for answer in (called(text), text):
        lifted = lift(answer, record)
        assert (lifted.status, lifted.value) == ("ok", value)
        assert ("", "loose-json") in told(lifted)


DOUBTFUL: dict[str, tuple[str, str]] = {
    "no number": ('{"city": "Oslo", "days": NaN}', "invalid"),
    "no end of numbers": ('{"city": "Oslo", "days": -Infinity}', "invalid"),
    "a word of nobody": ('{"city": Oslo, "days": 2}', "invalid"),
    "a missing comma": ('{"city": "Oslo" "days": 2}', "invalid"),
    "a comma too many": ('{"city": "Oslo",, "days": 2}', "invalid"),
    "quotes within quotes": ('{"city": "the "Oslo" there", "days": 2}', "invalid"),
    "apostrophes within them": ("{'city': 'L'Aquila', 'days': 2}", "invalid"),
    "an octal number, or none": ('{"city": "Oslo", "days": 02}', "invalid"),
    "a hexadecimal number": ('{"city": "Oslo", "days": 0x2}', "invalid"),
    "words behind": ('{"city": "Oslo", "days": 2} as you wished', "invalid"),
    "another value behind": ('{"city": "Oslo", "days": 2}{"city": "Rome", "days": 3}', "invalid"),
    "half of a letter": ("{'city': '\\ud83d', 'days': 2}", "invalid"),
    "a comment without an end": ('{"city": "Oslo" /* , "days": 2}', "invalid"),
    "a text without an end": ("{'city': 'Oslo, 'days': 2", "cut"),
    "no bracket at the end": ("{'city': 'Oslo', 'days': 2,", "cut"),
    "a list within without an end": ("{'city': 'Oslo', 'days': 2, 'tags': ['a',", "cut"),
}


@every_case("case", DOUBTFUL)
def test_text_that_leaves_a_doubt_is_not_read(case: str) -> None:
    text, status = DOUBTFUL[case]
    record = lower(TRIP, "anthropic").map
    for answer in (called(text), text):
        lifted = lift(answer, record)
        assert lifted.status == status, lifted
        assert lifted.problems


def test_a_text_is_a_text_where_one_is_asked_for() -> None:
    for text in ("{'a': 1}", "[1, 2,]", "// x"):
        record = lower({"type": "string"}, "ollama-output").map
        assert lift(text, record).value == text
        assert not lift(text, record).call.repairs


@every_case(
    "text", ["[1 2 3]", '{"a": 1 .5}', '{"a": 1 // one\n 2}', '{"a": 1 500}', "[- 1]", "[true false]", '["a" "b"]', "[1 /**/ 2]"]
)
def test_values_beside_each_other_are_not_one(text: str) -> None:
    assert loose_json(text) is None


values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)


@examples(200)
@given(value=st.lists(values) | st.dictionaries(st.text(), values))
def test_what_python_prints_is_read_as_what_it_was(value: Any) -> None:
    text = loose_json(repr(value))
    if text is not None:  # a text may hold half of a surrogate pair
        assert loads(text) == value


@examples(200)
@given(value=st.lists(values) | st.dictionaries(st.text(), values))
def test_json_is_loose_json(value: Any) -> None:
    for text in (dumps(value), dumps(value, indent=False)):
        assert loads(loose_json(text) or "0") == value


@examples(300)
@given(text=st.text(alphabet="{}[]:,\"'\\ax1.+-/*#\n tTnN<|>"))
def test_any_text_is_json_or_nothing(text: str) -> None:
    found = loose_json(f"{{{text}")
    assert found is None or isinstance(loads(found), dict)


@every_case(
    "text",
    [
        *("{" * 300_000, '{"a":"' + '\\"' * 300_000, "{" + "/*" * 300_000, '{"a":1}' + " }" * 300_000 + "x", "{" + "#" * 600_000),
        *("{" + "'" * 300_001, "{{" * 300_000 + "}}", "[" + "1," * 200_000 + "]", "{" + " " * 600_000, "{a" + " " * 600_000),
    ],
    ids=lambda text: text[:10],
)
def test_a_long_text_takes_no_longer_than_its_length(text: str) -> None:
    begun = process_time()
    loose_json(text)
    assert process_time() - begun < 5


# Values

SLIPS: dict[str, tuple[Any, Any, list[tuple[str, ...]]]] = {
    "one text for a list": ({"tags": "north"}, {"tags": ["north"]}, [("/tags", "listed")]),
    "one number for a list": ({"counts": 5}, {"counts": [5]}, [("/counts", "listed")]),
    "a list for one": ({"note": ["x"]}, {"note": "x"}, [("/note", "unlisted")]),
    "an object in a list": ({"options": [{"deep": True}]}, {"options": {"deep": True}}, [("/options", "unlisted")]),
    "a list as Python prints it": ({"tags": "['a', 'b']"}, {"tags": ["a", "b"]}, [("/tags", "text-read")]),
    "an object as Python prints it": ({"options": "{'deep': True}"}, {"options": {"deep": True}}, [("/options", "text-read")]),
    "a word of a table": ({"loud": "TRUE"}, {"loud": True}, [("/loud", "text-read")]),
    "the name of nothing": ({"tags": "None"}, {}, [("/tags", "null-left-out")]),
    "null in a text": ({"rate": "null"}, {}, [("/rate", "null-left-out")]),
    "a word in another case": ({"unit": "c"}, {"unit": "C"}, [("/unit", "case")]),
    "a word between spaces": ({"unit": " C "}, {"unit": "C"}, [("/unit", "spelling")]),
    "a word with a dash": ({"state": "In-Progress"}, {"state": "in_progress"}, [("/state", "spelling")]),
    "two words for one": ({"state": "in progress"}, {"state": "in_progress"}, [("/state", "spelling")]),
    "a number for a listed text": ({"grade": 2}, {"grade": "2"}, [("/grade", "as-text")]),
    "a key in snake case": (
        {"options": {"max_items": 1, "deep": True}},
        {"options": {"maxItems": 1, "deep": True}},
        [("/options/maxItems", "key", "max_items")],
    ),
    "a key in another case": ({"Loud": True}, {"loud": True}, [("/loud", "key", "Loud")]),
    "a key with a space": ({" loud ": True}, {"loud": True}, [("/loud", "key", " loud ")]),
}


@every_case("target", KEPT)
@every_case("case", SLIPS)
def test_a_known_slip_is_repaired_and_told_with_its_place(case: str, target: str) -> None:
    wrong, right, repairs = SLIPS[case]
    lifted = lift(called({**OSLO, **wrong}), lower(TRIP, target).map)
    assert (lifted.status, lifted.value) == ("ok", {**OSLO, **right})
    assert sorted(told(lifted)) == sorted(repairs)


LEFT: dict[str, Any] = {
    "a number for a text": {"city": 5},  # a code of a place may have begun with a nought
    "a truth for a text": {"city": True},
    "several texts in one": {"tags": "a, b"},
    "lines": {"tags": "a\nb"},
    "an empty text for a list": {"tags": ""},
    "a list of two for one": {"note": ["x", "y"]},
    "an empty list for one": {"note": []},
    "yes": {"loud": "yes"},
    "one for true": {"loud": 1},
    "a number with a comma": {"rate": "2,5"},
    "half a day": {"days": 2.5},
    "a word nobody listed": {"state": "finished"},
    "another sign": {"grade": "- 1"},
    "a key of nobody": {"colour": "red"},
    "a key twice, in two spellings": {"Loud": True, "LOUD": False},
    "null for what is needed": {"city": None},
    "nothing for what is needed": {"days": "None"},
}


@every_case("case", LEFT)
def test_what_leaves_a_doubt_stays_as_it_was_written_and_is_told(case: str) -> None:
    lifted = lift(called({**OSLO, **LEFT[case]}), lower(TRIP, "anthropic").map)
    assert lifted.status == "invalid"
    assert lifted.value == {**OSLO, **LEFT[case]}
    assert not lifted.call.repairs
    assert lifted.problems


def test_a_key_that_stands_there_already_is_not_overwritten() -> None:
    lifted = lift(called({**OSLO, "loud": True, "Loud": False}), lower(TRIP, "anthropic").map)
    assert lifted.status == "invalid"


def test_other_keys_of_an_open_object_are_kept() -> None:
    schema = {"type": "object", "properties": {"maxItems": {"type": "integer"}}}
    lifted = lift(called({"max_items": 1}), lower(schema, "anthropic").map)
    assert (lifted.value, lifted.call.repairs) == ({"max_items": 1}, ())


@every_case("entry", [{"name": "a", "value": "b"}, {}])
def test_an_entry_of_an_open_object_is_not_the_object(entry: Any) -> None:
    schema = {"type": "object", "properties": {"labels": {"type": "object"}}}
    lifted = lift(called({"labels": [entry]}), lower(schema, "anthropic").map)
    assert (lifted.status, lifted.value, lifted.call.repairs) == ("invalid", {"labels": [entry]}, ())


def test_slips_in_an_alternative_are_repaired() -> None:
    either = {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]}
    schema = {"type": "object", "properties": {"a": either, "b": {"type": "array", "items": TRIP}}, "required": ["a"]}
    lifted = lift(called({"a": "x", "b": [{"City": "Oslo", "days": "2"}]}), lower(schema, "anthropic").map)
    assert lifted.value == {"a": ["x"], "b": [{"city": "Oslo", "days": 2}]}
    assert lifted.ok


# Arguments one level too deep

DEEPER: list[tuple[Any, tuple[str, ...]]] = [
    *(({word: OSLO}, ("", "unwrapped", word)) for word in ("arguments", "parameters", "params", "args", "kwargs", "input")),
    ({"properties": OSLO}, ("", "unwrapped", "properties")),
    ({"type": "object", "properties": OSLO}, ("", "unwrapped", "properties")),
    ({"name": "tool", "arguments": OSLO}, ("", "unwrapped", "arguments")),
    ({"tool": OSLO}, ("", "unwrapped", "tool")),
    ({"arguments": dumps(OSLO)}, ("", "unwrapped", "arguments")),
    ([OSLO], ("", "unlisted")),
]


@every_case("target", ["openai", "anthropic", "gemini", "mistral", "ollama", "gigachat"])
@every_case(("arguments", "repair"), DEEPER, ids=lambda case: dumps(case, indent=False)[:40])
def test_arguments_one_level_too_deep_are_found(arguments: Any, repair: tuple[str, ...], target: str) -> None:
    schema = {**TRIP, "properties": {key: TRIP["properties"][key] for key in ("city", "days")}}
    lifted = lift(called(dumps(arguments)), lower(schema, target, "tool").map)
    assert (lifted.status, lifted.value, told(lifted)) == ("ok", OSLO, [repair])


def test_a_property_of_that_name_is_no_wrapping() -> None:
    schema = {"type": "object", "properties": {"input": {"type": "object"}}, "required": ["input"]}
    lifted = lift(called({"input": {"input": {}}}), lower(schema, "anthropic").map)
    assert (lifted.value, lifted.call.repairs) == ({"input": {"input": {}}}, ())


# Names of tools

WEATHER: Any = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
NAMES = [
    *(
        "Get_Weather",
        "GET_WEATHER",
        "getWeather",
        "get-weather",
        "get weather",
        " get_weather ",
        "get_weather\n",
        '"get_weather"',
    ),
    *("functions.get_weather", "functions.get_weather:0", "get_weather:1", "tools.get_weather", "functions/get_weather"),
    *("default_api.get_weather", "default_api:get_weather", "weather::get_weather", "mcp__server__get_weather"),
    *("mcp__my_server__GetWeather", "get_weather()", "get_weather/", "$get_weather", "<|constrain|>get_weather"),
    *("get_weather<|channel|>commentary", "`get_weather`"),
]


@every_case("target", ["openai", "anthropic", "gemini", "mcp", "vllm"])
@every_case("name", NAMES)
def test_a_tool_is_found_by_another_spelling_of_its_name_and_told(name: str, target: str) -> None:
    record = lower_all([("get_weather", WEATHER), ("now", {"type": "object"})], target).map
    lifted = lift(called('{"city": "Oslo"}', name), record)
    assert (lifted.status, lifted.call.name, lifted.value) == ("ok", "get_weather", {"city": "Oslo"})
    assert ("", "tool-name", name) in told(lifted)


@every_case("name", ["weather", "get_weatherr", "", "__", "get_weather.x", "multi_tool_use.parallel", "get" * 400])
def test_a_name_of_no_tool_is_invalid_and_the_tools_are_named(name: str) -> None:
    lifted = lift(
        called('{"city": "Oslo"}', name), lower_all([("get_weather", WEATHER), ("now", {"type": "object"})], "openai").map
    )
    assert lifted.status == "invalid"
    assert "there are `get_weather`, `now`" in lifted.problems[0].message


def test_of_two_tools_that_a_name_may_stand_for_neither_is_taken() -> None:
    record = lower_all([("get_weather", WEATHER), ("getWeather", WEATHER)], "openai").map
    assert lift(called('{"city": "Oslo"}', "getWeather"), record).ok
    assert lift(called('{"city": "Oslo"}', "GET-WEATHER"), record).status == "invalid"


def test_a_namespace_that_is_part_of_a_name_decides() -> None:
    record = lower_all([("a__search", WEATHER), ("b__search", WEATHER)], "openai").map
    assert lift(called('{"city": "Oslo"}', "mcp__b__search"), record).call.name == "b__search"
    assert lift(called('{"city": "Oslo"}', "search"), record).status == "invalid"


def test_a_call_without_arguments_may_say_so_in_any_way() -> None:
    record = lower({"type": "object", "properties": {}}, "openai").map
    for nothing in (None, "", "null", "{}", '""', {}, " \n"):
        assert lift(called(nothing), record).value == {}


@every_case(
    ("schema", "text", "value"),
    [
        ({"type": "null"}, "null", None),
        ({"type": ["object", "null"], "required": ["a"]}, "null", None),
        ({"type": ["object", "null"]}, "null", None),
        ({"type": "string"}, '""', ""),
    ],
)
def test_nothing_is_read_as_written_where_the_tool_takes_it(schema: Any, text: str, value: Any) -> None:
    lifted = lift(called(text), lower(schema, "jsonschema").map)
    assert (lifted.status, lifted.value, lifted.call.repairs) == ("ok", value, ())
