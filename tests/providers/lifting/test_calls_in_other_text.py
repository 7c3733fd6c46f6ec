"""Calls behind names, as elements, in printed quotes or below another call are found in a text, and what is odd is told."""

from __future__ import annotations

from time import process_time
from typing import Any

from every_case import every_case
from weather import WEATHER

from instrc import lift, lower, lower_all

TIME: Any = {"type": "object", "properties": {"zone": {"type": "string"}}, "required": ["zone"]}
HERE = '{"city": "Oslo", "days": 2}'
CALL = f'{{"name": "weather", "arguments": {HERE}}}'
PRINTED = "{“name”: “weather”, “arguments”: {“city”: “Oslo”, “days”: 2}}"

TEXTS: dict[str, str] = {
    "quotes of print": PRINTED,
    "quotes of print between tags": f"<tool_call>{PRINTED}</tool_call>",
    "single quotes of print": PRINTED.replace("“", "‘").replace("”", "’"),
    "quotes of print as German has them": PRINTED.replace("“", "„").replace("”", "“"),
    "guillemets": PRINTED.replace("“", "«").replace("”", "»"),
    "an object in a fence with the name": f"```weather\n{HERE}\n```",
    "a namespace in Python": 'functions.weather(city="Oslo", days=2)',
    "a tool of Llama 3": '<|python_tag|>weather.call(city="Oslo", days=2)',
    "Llama 4 between marks": '<|python_start|>[weather(city="Oslo", days=2)]<|python_end|>',
    "Solar": f"<|tool_call:begin|>a1<|tool_call:name|>weather<|tool_call:args|>{HERE}<|tool_call:end|>",
    "Hunyuan": f"<tool_calls><tool_call>function<tool_sep>weather\n```json\n{HERE}\n```\n</tool_call></tool_calls>",
    "MiniCPM": '<function name="weather"><param name="city">Oslo</param><param name="days">2</param></function>',
}


def chat(text: str) -> Any:
    return {"choices": [{"message": {"role": "assistant", "content": text, "tool_calls": []}, "finish_reason": "stop"}]}


@every_case("form", TEXTS)
def test_a_call_is_found_however_a_model_writes_it(form: str) -> None:
    for tools in (lower_all([("weather", WEATHER), ("time", TIME)], "vllm").map, lower(WEATHER, "vllm", "weather").map):
        for answer in (TEXTS[form], chat(TEXTS[form])):
            lifted = lift(answer, tools)
            assert (lifted.status, lifted.call.name, lifted.value) == ("ok", "weather", {"city": "Oslo", "days": 2}), lifted


@every_case(
    "text",
    [
        f"other{HERE}",
        f"Write weather{HERE} to call it.",
        f"weather {HERE} and so on",
        f"weather({HERE}).then(x)",
        "weather{city}",
        "<weather>sunny</weather>",
        "<weather><city>Oslo</city> and <days>2</days></weather>",
        "<weather><city>Oslo</weather>",
        "<weather city=Oslo>",
        "<tool><name>other</name></tool>",
        "<tool>weather</tool><tool_input>Oslo, 2 days</tool_input>",
        "weather.run(city='Oslo', days=2)",
        "os.weather(city='Oslo', days=2)",
        "“weather”: “Oslo”",
    ],
)
def test_what_only_resembles_such_a_call_is_none(text: str) -> None:
    lifted = lift(chat(text), lower_all([("weather", WEATHER), ("time", TIME)], "vllm").map)
    assert lifted.status == "empty", lifted


@every_case("text", ["{“city”: “the “old” Oslo”, “days”: 2}", "{‘city’: ‘Ann’s’, ‘days’: 2}", "{“city”: “Oslo”, “days”: 2"])
def test_quotes_of_print_that_may_be_read_in_two_ways_are_not_read(text: str) -> None:
    assert not lift(text, lower(WEATHER, "vllm", "weather").map).ok


@every_case("text", [PRINTED, f"```json\n{PRINTED}\n```", f"So:\n```\n{PRINTED}\n```\nDone."])
def test_text_that_is_no_json_is_told(text: str) -> None:
    lifted = lift(chat(text), lower(WEATHER, "vllm", "weather").map)
    assert lifted.ok
    assert "loose-json" in {repair.what for repair in lifted.call.repairs}


@every_case(
    "text", ["So:\n```json\n{'city': 'Oslo', 'days': 2}\n```", 'So:\n```json\n{"city": "Rome", "city": "Oslo", "days": 2}\n```']
)
def test_slips_of_a_value_in_a_fence_are_told(text: str) -> None:
    lifted = lift(chat(text), lower(WEATHER, "vllm", "weather").map)
    assert lifted.value == {"city": "Oslo", "days": 2}
    assert lifted.call.repairs


@every_case(
    "text",
    [
        "<function=weather><parameter=city>Rome</parameter><parameter=city>Oslo</parameter><parameter=days>2</parameter></function>",
        "<tool_call>weather<arg_key>city</arg_key><arg_value>R</arg_value><arg_key>city</arg_key><arg_value>Oslo</arg_value></tool_call>",
    ],
)
def test_an_argument_that_is_given_twice_is_told(text: str) -> None:
    lifted = lift(chat(text), lower(WEATHER, "vllm", "weather").map)
    assert lifted.value["city"] == "Oslo"
    assert ("repeated-key", "city") in {(repair.what, repair.key) for repair in lifted.call.repairs}


def test_names_without_end_cost_no_more_than_their_length() -> None:
    began = process_time()
    for hostile in ("<weather>" * 10_000, "weather{" * 12_000, "weather\n" * 12_000 + "{", "<tool><name>weather</name>" * 3_000):
        lift(chat(hostile), lower(WEATHER, "vllm", "weather").map)
    assert process_time() - began < 5


def test_the_only_object_of_a_text_is_the_value_of_the_only_tool() -> None:
    record = lower(WEATHER, "vllm", "weather").map
    text = f"Sure! Here it is:\n\n{HERE}\n\nAnything else?"
    for answer in (text, chat(text)):
        lifted = lift(answer, record)
        assert (lifted.value, lifted.text) == ({"city": "Oslo", "days": 2}, "Sure! Here it is:\n\n\n\nAnything else?")


@every_case(
    "text",
    [
        f"First:\n{HERE}\nor rather:\n{HERE}",
        f"I think of {HERE}\nas well",
        f"The weather:\n{HERE} is best",
        'It says:\n{"town": "Oslo"}\nso far',
        "Nothing:\n{}\nat all",
    ],
)
def test_an_object_that_may_be_something_else_is_not_read(text: str) -> None:
    assert lift(chat(text), lower(WEATHER, "vllm", "weather").map).status == "empty"
