"""Types and functions of Python are read in each form that they have; one that no schema can describe is told with a way out."""

from __future__ import annotations

import dataclasses
import datetime as dt
import functools
from collections.abc import Callable
from typing import Any, NewType, Required, TypedDict, TypeVar, cast

import attrs
import msgspec
import pytest
from every_case import every_case
from pydantic import BaseModel, TypeAdapter
from typing_extensions import TypeAliasType

import instrc

T = TypeVar("T")


class Letter(BaseModel):
    """A letter."""

    text: str


Number = NewType("Number", int)
Special = NewType("Special", Letter)
ByName = TypeAliasType("ByName", "dict[str, Letter]")
Nested = TypeAliasType("Nested", "list[Nested] | int")
Listed = TypeAliasType("Listed", list[T], type_params=(T,))


@pytest.mark.parametrize(
    ("given", "name", "value", "instance"),
    [
        (Number, "Number", 3, 3),
        (Special, "Special", {"text": "a"}, Letter(text="a")),
        (ByName, "ByName", {"a": {"text": "b"}}, {"a": Letter(text="b")}),
        (Nested, "Nested", [1, [2]], [1, [2]]),
        (Listed[int], "Listed", [1], [1]),
    ],
)
@pytest.mark.parametrize("target", ["openai", "gemini", "jsonschema"])
def test_a_new_type_and_an_alias_are_types(given: Any, name: str, value: Any, instance: Any, target: Any) -> None:
    lowered = instrc.lower(given, target)
    assert lowered.map["tool"]["name"] == name  # type: ignore[index, call-overload]
    assert instrc.lift(instrc.encode(value, lowered), lowered).as_model(given) == instance
    [compiled] = instrc.compile("Draft", vibes={"Draft": {"properties": {"it": instrc.flatten(given)}, "type": "object"}})
    assert compiled


class Desk:
    """A desk where letters are written."""

    def write(self, letter: Letter, copies: Number = Number(1)) -> str:
        return letter.text * copies

    def __call__(self, letter: Letter) -> str:
        return letter.text


class Bell:
    def __call__(self, times: int) -> None:
        """Ring."""


def test_annotations_of_methods_and_partials_may_be_texts() -> None:
    """All are here, by the import at the top."""
    for given in (Desk().write, functools.partial(Desk().write, copies=Number(2)), functools.partial(Desk().write)):
        schema = instrc.flatten(given)
        assert isinstance(schema, dict)
        assert schema["required"] == ["letter"]
        assert instrc.lower(given).payload["function"]["name"] == "write"
        assert instrc.compile("Write_Activity(letter: prompt)", vibes={"Write_Activity": given})


def test_an_object_that_is_called_has_its_own_words() -> None:
    assert instrc.lower(Desk()).payload["function"]["description"] == "A desk where letters are written."
    assert instrc.lower(Bell()).payload["function"]["description"] == "Ring."
    assert instrc.flatten(Bell()) == instrc.lower(Bell(), "jsonschema").schema


class Address(TypedDict, total=False):
    city: Required[str]
    street: str


def test_required_counts_where_annotations_are_texts() -> None:
    schema = instrc.flatten(Address)
    assert isinstance(schema, dict)
    assert schema["required"] == ["city"]


class Times(BaseModel):
    span: dt.timedelta
    at: dt.time


SPANS = [
    dt.timedelta(days=-1),
    dt.timedelta(microseconds=-5),
    dt.timedelta(milliseconds=500),
    dt.timedelta(days=400, hours=3, microseconds=1),
    dt.timedelta(0),
    dt.timedelta.min,
    dt.timedelta.max,
]


@every_case("target", instrc.targets())
def test_spans_and_times_of_day_are_what_their_classes_write_and_read(target: Any) -> None:
    lowered = instrc.lower(Times, target)
    for span in SPANS:
        for at in (dt.time(10), dt.time(10, 30, 5, 7), dt.time(10, tzinfo=dt.UTC)):
            given = Times(span=span, at=at)
            assert instrc.lift(instrc.encode(given, lowered), lowered).as_model(Times) == given


@every_case("span", ["P1W", "P1Y2M3DT4H5M6.5S", "PT1.5H", "-PT1M", "P", "PT", "P1DT", "PT1H2M3.5S4H", "p1d", "PT.5S"])
def test_a_span_is_taken_where_pydantic_takes_it(span: str) -> None:
    try:
        wanted = TypeAdapter(dt.timedelta).validate_json(f'"{span}"')
    except ValueError:
        wanted = None
    if span == "P1DT":
        return  # nobody means this: the `T` is followed by nothing
    lifted = instrc.lift({"span": span, "at": "10:00"}, instrc.lower(Times))
    assert (lifted.status == "ok") is (wanted is not None)
    if wanted is not None:
        assert lifted.as_model(Times).span == wanted


class OfMcp(BaseModel):
    name: str
    inputSchema: dict[str, Any]  # noqa: N815  -- its name


def test_tools_of_libraries_are_those_of_a_plan() -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
    for tool in (
        OfMcp(name="send", inputSchema=schema),
        instrc.lower(schema, "gemini", "send").payload,
        {"name": "send", "parameters_json_schema": schema},
    ):
        assert not instrc.check_plan([{"tool": "send", "id": "a", "arguments": {"text": "a"}}], [tool])
        [wrong] = instrc.check_plan([{"tool": "send", "id": "a", "arguments": {"text": 1}}], [tool])
        assert wrong.name == "wrong-argument"


@dataclasses.dataclass
class OfAgents:
    """As the OpenAI Agents SDK has them."""

    name: str
    description: str
    params_json_schema: dict[str, Any]


class OfAnthropic:
    """As `anthropic.beta_tool` makes them."""

    name, description, input_schema = "wx", "Weather.", {"type": "object", "properties": {"city": {"type": "string"}}}

    def __call__(self, *_: Any) -> None: ...


class OfPydanticAi:
    """As `pydantic_ai.Tool` has them."""

    def __init__(self) -> None:
        self.tool_def = OfAgents("wx", "Weather.", OfAnthropic.input_schema)


def test_objects_of_agent_libraries_are_tools() -> None:
    for tool in (OfAgents("wx", "Weather.", OfAnthropic.input_schema), OfAnthropic(), OfPydanticAi()):
        sent = instrc.lower(cast("Any", tool), "anthropic").payload
        assert sent == {"name": "wx", "description": "Weather.", "input_schema": OfAnthropic.input_schema}


def post(letter: Letter) -> str:
    """Post a letter."""
    return letter.text


def test_the_schema_of_a_tool_may_be_a_type_or_a_function() -> None:
    example = instrc.Example(Letter(text="Dear Ann"), request="Write to Ann")
    tools = [
        instrc.Tool("send", Letter, strict=False),
        instrc.Tool("post", post, priority=1),
        instrc.Tool("write", Letter, "Write.", examples=(example,)),
    ]
    send, posted, write = instrc.lower_all(tools, "openai").payload
    assert (send["function"]["strict"], send["function"]["description"]) == (False, "A letter.")
    assert posted["function"]["description"] == "Post a letter."
    assert write["function"]["description"] == "Write."
    assert instrc.lower(tools[2], "gigachat").payload["few_shot_examples"][0]["params"] == {"text": "Dear Ann"}
    assert not instrc.check_plan([{"tool": "send", "id": "a", "arguments": {"text": "a"}}], tools)
    [wrong] = instrc.check_plan([{"tool": "post", "id": "a", "arguments": {"letter": 1}}], tools)
    assert wrong.name == "wrong-argument"
    [compiled] = instrc.compile("Letter", vibes={"Letter": tools[2]})
    assert list(compiled["properties"]) == ["text"]


@every_case("schema", [None, "x", 3, [Letter], object(), Letter(text="a")])
def test_the_schema_of_a_tool_is_nothing_else(schema: Any) -> None:
    with pytest.raises(TypeError, match=r"`Tool\.schema` takes a JSON Schema, a type or a function, not "):
        instrc.lower(instrc.Tool("send", schema))


class Struct(msgspec.Struct):
    text: str


@attrs.define
class Attrs:
    text: str


class Bare:
    text: str


def takes_bare(bare: Bare) -> None: ...


def takes_function(function: Callable[[int], int]) -> None: ...


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (Struct, r"does not know what `Struct` holds: make it a model, .*; `msgspec.json.schema` gives its JSON Schema"),
        (Attrs, r"does not know what `Attrs` holds: make it a model, .*, or give its JSON Schema"),
        (takes_bare, r"cannot describe `takes_bare`: it does not know what `Bare` holds"),
        (functools.partial(takes_bare), r"cannot describe `takes_bare`: it does not know what `Bare` holds"),
        (takes_function, "JSON has no functions, and it takes one"),
        (len, "it knows nothing of <built-in function len>"),
    ],
)
def test_what_pydantic_cannot_describe_is_told_with_a_way_out(given: Any, told: str) -> None:
    with pytest.raises(TypeError, match=told):
        instrc.lower(given)
    assert instrc.lower(msgspec.json.schema(Struct)).schema
