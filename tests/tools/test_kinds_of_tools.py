"""Whatever says what a tool is can be lowered; anything else is told, never sent as an empty tool."""

from __future__ import annotations

import dataclasses
import functools
import re
import typing
from typing import Annotated, Any, get_args

import pydantic
import pytest
from every_case import every_case
from hypothesis import given
from hypothesis import strategies as st
from judges import breaches

import instrc
from instrc import Artefact, CompileError, Example, Tool, check_plan, import_tools, lift, lower, lower_all, targets
from instrc.problems.errors import AnswerError, InstrcError
from instrc.providers.targets import TargetName  # the table on the page of targets
from instrc.tools.given import each_of, tool_of

CITY: dict[str, Any] = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


class Weather(pydantic.BaseModel):
    """Look at the sky."""

    city: str


@dataclasses.dataclass
class Day:
    city: str


class Ask(typing.TypedDict):
    city: typing.Required[str]
    inner: typing.NotRequired[list[Inner] | None]


class Inner(typing.TypedDict):
    deep: int


def forecast(city: Annotated[str, pydantic.Field(description="Where.")]) -> str:
    """Say what comes."""
    return city


class Chain:
    name = "chain"
    description = "As LangChain has it."
    args_schema = Weather


class Smol:
    name = "smol"
    description = "As smolagents has it."
    inputs: typing.ClassVar = {"city": {"type": "string", "description": "Where."}}


SOURCES: dict[str, tuple[Any, str, str | None]] = {
    "schema": (CITY, "tool", None),
    "model": (Weather, "Weather", "Look at the sky."),
    "dataclass": (Day, "Day", None),
    "typed dict": (Ask, "Ask", None),
    "function": (forecast, "forecast", "Say what comes."),
    "type adapter": (pydantic.TypeAdapter(Day), "tool", None),
    "openai": ({"type": "function", "function": {"name": "w", "description": "d", "parameters": CITY}}, "w", "d"),
    "responses": ({"type": "function", "name": "w", "description": "d", "parameters": CITY, "strict": True}, "w", "d"),
    "openai output": ({"type": "json_schema", "json_schema": {"name": "w", "schema": CITY}}, "w", None),
    "responses output": ({"type": "json_schema", "name": "w", "schema": CITY}, "w", None),
    "nameless output": ({"type": "json_schema", "schema": CITY}, "tool", None),
    "anthropic": ({"name": "w", "description": "d", "input_schema": CITY}, "w", "d"),
    "mcp": ({"name": "w", "description": "d", "inputSchema": CITY, "annotations": {}}, "w", "d"),
    "gemini": ({"name": "w", "description": "d", "parametersJsonSchema": CITY}, "w", "d"),
    "gemini schema": (
        {"name": "w", "parameters": {"type": "OBJECT", "properties": {"city": {"type": "STRING"}}, "required": ["city"]}},
        "w",
        None,
    ),
    "gigachat": ({"name": "w", "description": "d", "parameters": CITY}, "w", "d"),
    "bedrock": ({"toolSpec": {"name": "w", "description": "d", "inputSchema": {"json": CITY}}}, "w", "d"),
    "smolagents": ({"name": "w", "description": "d", "inputs": {"city": {"type": "string"}}, "output_type": "any"}, "w", "d"),
    "langchain object": (Chain(), "chain", "As LangChain has it."),
    "smolagents object": (Smol(), "smol", "As smolagents has it."),
    "artefact": (Artefact("w", "d", {"tool": CITY}), "w", "d"),
    "list of one": ({"tools": [{"name": "w", "inputSchema": CITY}]}, "w", None),
    "two lists": ({"name": "w", "required_parameters": [{"name": "city", "type": "string"}]}, "w", None),
    "required beside": (
        {"name": "w", "parameters": {"type": "object", "properties": CITY["properties"]}, "required": ["city"]},
        "w",
        None,
    ),
    "a request of Responses": (
        {"text": {"format": {"type": "json_schema", "name": "w", "schema": CITY}}},
        "w",
        None,
    ),
    "a request of Bedrock": ({"toolConfig": {"tools": [{"toolSpec": {"name": "w", "inputSchema": {"json": CITY}}}]}}, "w", None),
    "nameless": ({"description": "d", "parameters": CITY}, "tool", "d"),
    "response": ({"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"name": "w", "inputSchema": CITY}]}}, "w", None),
}


@every_case("source", SOURCES)
def test_a_tool_is_read_from_whatever_says_what_it_is(source: str) -> None:
    value, name, description = SOURCES[source]
    tool = tool_of(value)
    assert (tool.name, tool.description) == (name, description)
    result = lower(value, "anthropic")
    assert result.payload["name"] == name
    assert result.payload["input_schema"]["properties"]["city"]["type"] == "string"
    assert lower(value, "openai", "other").payload["function"]["name"] == "other"


@every_case("source", [key for key, (value, *_) in SOURCES.items() if isinstance(value, dict) and value != CITY])
def test_an_import_and_a_plan_read_the_same_of_it(source: str) -> None:
    value, name, description = SOURCES[source]
    read = tool_of(value).schema
    vibe = import_tools("openai", value).vibes[0].document
    assert {name: kind["type"].lower() for name, kind in vibe["properties"].items()} == {"city": "string"}
    assert (vibe.get("required"), vibe.get("description")) == (read.get("required"), description)
    if isinstance(value.get("name"), str) and str(read.get("type")).islower():
        wrong = [{"id": "t1", "tool": name, "arguments": {"city": 5}}]
        assert [each.name for each in check_plan(wrong, [value])] == ["wrong-argument"]


def test_a_type_inside_a_typed_dict_is_read() -> None:
    inner = tool_of(Ask).schema["properties"]["inner"]
    assert inner["anyOf"][0]["items"] == {"$ref": "#/$defs/Inner"}


@every_case("value", [None, "{}", b"{}", 5, 1.5, [], [CITY], (CITY,), {1}, object(), {"a": {1}}, {1: 2}, {"a": float("nan")}])
def test_what_is_no_schema_is_a_type_error(value: Any) -> None:
    with pytest.raises(TypeError):
        lower(value)


class Person(pydantic.BaseModel):
    name: str
    type: str = "guest"


MISTAKES: dict[str, tuple[Any, str]] = {
    "an instance": (Weather(city="Rome"), "give the class, `Weather`"),
    "an instance with a name": (Person(name="Ann"), "give the class, `Person`"),
    "a misspelt member": ({"name": "w", "description": "d", "paramters": CITY}, "did you mean `parameters`"),
    "another word for it": ({"name": "w", "arguments_of_mine": CITY}, '`arguments_of_mine` of the tool "w" is not a schema'),
    "a schema as text": ({"name": "w", "input_schema": "{}"}, '`input_schema` of the tool "w" is not a schema'),
    "a tool of the provider": ({"type": "web_search_20250305", "name": "web_search"}, "carried out by its provider"),
    "the state of a run": ({"run": "lunch", "name": "meeting", "status": "done", "output": {}}, '`output` of the tool "meeting"'),
    "inputs in a list": ({"name": "w", "inputs": [CITY]}, '`inputs` of the tool "w" is not a schema'),
    "a call": ({"name": "w", "arguments": {"city": "Rome"}}, '`arguments` of the tool "w" is not a schema'),
    "a broken list": ({"name": "w", "required_parameters": ["city"]}, '`required_parameters` of the tool "w" is not a schema'),
    "an object": (object(), "is not a schema, tool, type or function"),
    "a number": (5, "5 is not a schema, tool, type or function"),
    "a text": ('{"type": "object"}', "a text is not a schema, tool, type or function: read it first"),
    "a number for a key": ({"type": "object", "properties": {1: {"type": "string"}}}, "1 is not a key of JSON"),
    "a grammar": ({"type": "custom", "name": "w", "format": {"type": "grammar"}}, "is neither a text nor a grammar"),
}


@every_case("mistake", MISTAKES)
def test_a_tool_that_would_lose_its_schema_is_a_type_error(mistake: str) -> None:
    value, words = MISTAKES[mistake]
    for function in (lower, lambda value: lower_all([value])):
        with pytest.raises(TypeError, match=words):
            function(value)


@every_case("tool", [{"name": "w"}, {"name": "w", "parameters": None}, {"name": "w", "annotations": {"title": "W"}}])
def test_a_tool_may_have_no_parameters(tool: Any) -> None:
    assert lower(tool, "anthropic").payload["input_schema"]["properties"] == {}


def test_tools_below_very_many_wrappings_are_refused() -> None:
    deep: Any = {"name": "w", "parameters": CITY}
    for _ in range(200):
        deep = {"tools": [deep]}
    with pytest.raises(TypeError, match="over 100 levels deep"):
        lower(deep)


def test_what_holds_itself_is_a_type_error() -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {}}
    schema["properties"]["a"] = schema
    with pytest.raises(TypeError):
        lower(schema)


INVALID = [
    {"type": "strng"},
    {"type": ["object", "strng"]},
    {"properties": ["a"]},
    {"properties": {"a": 5}},
    {"dependentRequired": True},
    {"items": {"required": 2}},
    {"dependentRequired": {"a": [{}]}},
    {"$ref": 5},
    {"name": "w", "inputSchema": {"type": "objct"}},
]


@every_case("schema", INVALID, ids=str)
def test_a_schema_that_is_none_is_told_and_not_sent(schema: Any) -> None:
    with pytest.raises(CompileError) as caught:
        lower(schema)
    assert {problem.name for problem in caught.value.problems} == {"invalid-schema"}


def test_a_wrong_word_in_a_list_of_types_is_shown_where_it_stands() -> None:
    with pytest.raises(CompileError) as caught:
        lower({"properties": {"a": {"type": ["string", "nul"]}}})
    (problem,) = caught.value.problems
    assert problem.message == '`/properties/a/type/1` is not valid: "nul" is not a type'
    assert problem.hint == "did you mean `null`?"


def test_a_set_takes_tools_of_every_kind() -> None:
    result = lower_all([Weather, SOURCES["mcp"][0], ("day", Day), ("ask", Ask, "Ask."), Tool("t", CITY, "T.")], "anthropic")
    assert list(result.map["tools"]) == ["Weather", "w", "day", "ask", "t"]
    assert [tool.get("description") for tool in result.payload] == ["Look at the sky.", "d", "Day", "Ask.", "T."]
    assert [tool.name for tool in each_of({"tools": [SOURCES["openai"][0], SOURCES["anthropic"][0]]})] == ["w", "w"]
    for wrong in (None, "text", 5, [None], [("name",)], [(1, CITY)], Tool("t", CITY)):
        with pytest.raises(TypeError):
            lower_all(wrong, "anthropic")  # type: ignore[arg-type]


def test_one_tool_where_several_are_expected_is_told_what_to_write() -> None:
    for one in (Weather, forecast, Tool("letter", {})):
        with pytest.raises(TypeError, match=r"give a list, `\[(Weather|forecast|letter)\]`, or use `lower`"):
            lower_all(one)  # type: ignore[arg-type]


def test_the_answer_of_an_mcp_server_is_several_tools_as_its_library_gives_it() -> None:
    class Listed(pydantic.BaseModel):
        tools: list[dict[str, Any]]

    made = lower_all(Listed(tools=[{"name": "a", "inputSchema": CITY}, {"name": "b", "inputSchema": CITY}]), "anthropic")
    assert [tool["name"] for tool in made.payload] == ["a", "b"]


def test_a_mapping_from_names_to_types_is_several_tools() -> None:
    made = lower_all({"first": Weather, "second": forecast}, "anthropic")
    assert [tool["name"] for tool in made.payload] == ["first", "second"]


def test_several_tools_are_not_one() -> None:
    with pytest.raises(TypeError, match="lower_all"):
        lower({"tools": [SOURCES["mcp"][0], SOURCES["openai"][0]]})


def test_of_a_process_the_entry_is_lowered() -> None:
    process = {
        "type": "object",
        "title": "Ask and tell",
        "properties": {"llmContext1": CITY, "serverContext1": {"type": "object", "properties": {}}},
    }
    assert lower(process, "jsonschema").payload == CITY


def test_rules_of_one_provider_go_into_the_envelope_of_another() -> None:
    result = lower(Weather, "anthropic-strict", envelope="openai", examples=[{"city": "Rome"}])
    assert result.payload["function"]["strict"] is True
    assert [loss.keyword for loss in result.losses if loss.keyword == "examples"] == ["examples"]
    assert lower(
        {**CITY, "properties": {"город": {"type": "string"}}, "required": []}, "anthropic", envelope="openai"
    ).payload == {
        "type": "function",
        "function": {
            "name": "tool",
            "parameters": {"type": "object", "properties": {"gorod": {"type": "string"}}, "required": []},
            "strict": False,
        },
    }
    said = lower({**CITY, "required": []}, "gemini-schema", envelope="openai").payload["function"]["parameters"]
    assert said["properties"]["city"]["type"] == ["string", "null"]
    lifted = lift({"name": "Weather", "arguments": '{"city": "Rome"}'}, result.map)
    assert lifted.value == {"city": "Rome"}


def test_examples_are_shown_in_the_words_of_the_target() -> None:
    schema = {**CITY, "properties": {"город": {"type": "string"}}, "required": ["город"]}
    value = {"город": "Рим"}
    assert lower(schema, "anthropic", examples=[value]).payload["input_examples"] == [{"gorod": "Рим"}]
    shown = lower(schema, "gigachat", examples=[Example(value, "Погода в Риме?")]).payload["few_shot_examples"]
    assert shown == [{"request": "Погода в Риме?", "params": {"gorod": "Рим"}}]
    assert lower(SOURCES["anthropic"][0] | {"input_examples": [{"city": "Oslo"}]}, "gigachat").payload["few_shot_examples"]
    told = SOURCES["gigachat"][0] | {"few_shot_examples": [{"request": "Rain in Oslo?", "params": {"city": "Oslo"}}]}
    assert lower(told, "gigachat").payload["few_shot_examples"] == told["few_shot_examples"]
    assert lower(told, "anthropic").payload["input_examples"] == [{"city": "Oslo"}]
    for target in targets():
        with pytest.raises(AnswerError) as caught:
            lower(schema, target, examples=[{"город": 5}])  # type: ignore[arg-type]
        assert caught.value.problems[0].name == "invalid-answer"


def test_one_example_without_a_list_around_it_is_refused_as_that() -> None:
    example = Example({"город": "Рим"}, "Погода в Риме?")
    with pytest.raises(TypeError, match="`examples` takes a list: put the `Example` in one"):
        lower(CITY, "gigachat", examples=example)


def test_a_value_that_breaks_its_schema_is_not_encoded() -> None:
    record = lower(CITY, "openai").map
    with pytest.raises(AnswerError, match="invalid-answer"):
        instrc.encode({"city": 5}, record)
    assert instrc.encode({"city": 5}, record, check=False) == {"city": 5}


def test_one_tool_of_a_set_may_be_lax_and_another_of_greater_weight() -> None:
    tools = [Tool(f"t{number}", CITY, priority=number) for number in range(21)]
    result = lower_all([*tools, Tool("lax", CITY, strict=False)], "anthropic-strict")
    strict = [tool["name"] for tool in result.payload if tool.get("strict")]
    assert strict == [f"t{number}" for number in range(1, 21)]
    assert [problem.offender for problem in result.problems if problem.name == "budget-exceeded"] == ["t0"]
    assert [tool["name"] for tool in result.payload] == [*(tool.name for tool in tools), "lax"]


def test_the_literal_of_the_names_lists_all_targets() -> None:
    assert get_args(TargetName) == tuple(instrc.targets())


@every_case("target", sorted(targets()))
@every_case("envelope", ["openai", "bedrock", "anthropic", "gemini"])
def test_every_rule_fits_into_every_envelope(target: Any, envelope: Any) -> None:
    if target == "smolagents":
        return  # its rules are those of its own objects
    result = lower(Weather, target, envelope=envelope)
    from instrc.providers.dialect import in_envelope  # a dialect is made here
    from instrc.providers.targets import dialect

    assert not breaches(result.payload, in_envelope(dialect(target), dialect(envelope)))


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.binary(max_size=2),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.sets(st.integers(), max_size=2)
        | st.dictionaries(
            st.sampled_from(
                ["type", "properties", "items", "enum", "required", "$ref", "anyOf", "name", "parameters", "inputSchema", "a"]
            )
            | st.integers(),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(ANY, st.sampled_from(["openai", "anthropic", "gigachat", "vllm", "mcp"]))
def test_arbitrary_values_are_lowered_or_told(value: Any, target: Any) -> None:
    for function in (lower, lower_all):
        try:
            result = function(value, target)  # type: ignore[operator]
        except (TypeError, InstrcError):
            continue
        assert result.map["target"] == target


# Functions of all kinds


def trip(city: str, days: int = 1, *, loud: bool = False) -> str:
    """Plan a trip.

    Args:
        city: Where to go.
    """
    return f"{city} {days} {loud}"


@functools.cache
def cached(city: str) -> str:
    """Find a city."""
    return city


class Guide:
    """Somebody who knows the way."""

    def find(self, city: str) -> str:
        """Find a way."""
        return city

    def __call__(self, city: str, days: int) -> str:
        """Guide somebody."""
        return f"{city} {days}"


def keys_of(given: object) -> tuple[str, str | None, list[str]]:
    tool = tool_of(given)
    schema: Any = tool.schema
    return tool.name, tool.description, list(schema["properties"])


def test_a_function_is_a_tool_however_it_is_kept() -> None:
    assert keys_of(trip) == ("trip", "Plan a trip.", ["city", "days", "loud"])
    assert keys_of(functools.partial(trip, days=2)) == ("trip", "Plan a trip.", ["city", "days", "loud"])
    assert keys_of(functools.partial(trip, "Oslo"))[2] == ["days", "loud"]
    assert keys_of(cached) == ("cached", "Find a city.", ["city"])
    assert keys_of(Guide().find) == ("find", "Find a way.", ["city"])
    assert keys_of(Guide()) == ("Guide", "Guide somebody.", ["city", "days"])
    assert set(lower_all({"a": functools.partial(trip, "Oslo"), "b": cached}, "openai").map["tools"]) == {"a", "b"}


def test_what_is_given_by_its_place_only_is_refused_with_its_name() -> None:
    def several(first: int, *rest: int) -> None: ...

    def placed(first: int, /) -> None: ...

    for function, word in ((several, r"`\*rest`"), (placed, "`first` by its place"), (Guide.find, "method without its object")):
        with pytest.raises(TypeError, match=word):
            lower(function, "openai")
    assert keys_of(lambda city: city)[2] == ["city"]


@every_case(
    ("wrong", "told"),
    [
        ({"strict": "no"}, '`Tool.strict` takes `True` or `False`, not "no"'),
        ({"priority": "high"}, '`Tool.priority` takes a whole number, not "high"'),
        ({"hints": 7}, "`Tool.hints` takes the hints of an artefact, not 7"),
        ({"description": 5}, "`Tool.description` takes a text, not 5"),
        ({"name": 5}, "`Tool.name` takes a text, not 5"),
    ],
)
def test_a_member_of_a_tool_of_another_type_is_told(wrong: Any, told: str) -> None:
    """The text `"no"` would be true."""
    with pytest.raises(TypeError, match=re.escape(told)):
        lower_all([Tool(**{"name": "find", "schema": CITY, **wrong})], "openai")


@every_case("more", [{"error": {"code": -32601, "message": "no such method"}}, {"method": "tools/list"}])
def test_a_message_of_json_rpc_without_a_result_is_refused(more: dict[str, Any]) -> None:
    for lowering in (lower, lower_all):
        with pytest.raises(TypeError, match="this is not a tool"):
            lowering({"jsonrpc": "2.0", "id": 1, **more}, "gemini")


@every_case(
    ("value", "told"),
    [
        (
            {"method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 9}},
            "`messages`, `maxTokens`: this is not a",
        ),
        ({"method": "tools/list"}, "`method`: this is not a tool"),
        ({"city": {"type": "string"}}, "`city`: this is not a tool, and has no keyword of JSON Schema"),
    ],
)
def test_what_is_neither_a_tool_nor_a_schema_is_refused_and_not_any_value(value: Any, told: str) -> None:
    for lowering in (lower, lower_all):
        with pytest.raises(TypeError, match=re.escape(told)):
            lowering(value, "openai")


def test_tools_of_a_request_to_sample_are_read() -> None:
    request = {"method": "sampling/createMessage", "params": {"messages": [], "tools": [{"name": "w", "inputSchema": CITY}]}}
    assert tool_of(request).schema == CITY
