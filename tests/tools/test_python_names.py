"""The names of Python's types and members in a tool: those that somebody gave, and those that a class is made from."""

from __future__ import annotations

import dataclasses
import json
from typing import Annotated, Generic, TypeVar

import pytest
from pydantic import AliasChoices, BaseModel, ConfigDict, Field, RootModel

import instrc

T = TypeVar("T")


class Item(BaseModel):
    name: str = Field(validation_alias="n", serialization_alias="label")
    size: int = Field(default=3, serialization_alias="inches")


class Order(BaseModel):
    first: Item
    more: list[Item] = []
    by_name: dict[str, Item] = {}
    count: int = Field(validation_alias=AliasChoices("c", "count"), serialization_alias="number")


class Items(RootModel[list[Item]]):
    """A list of items."""


@dataclasses.dataclass
class Box:
    inside: Item


class Page(BaseModel, Generic[T]):
    found: T


class Odd(BaseModel):
    model_config = ConfigDict(arbitrary_types_allowed=True)
    held: object = None


def test_an_instance_is_written_with_the_names_that_its_class_is_made_from() -> None:
    lowered = instrc.lower(Order, target="openai")
    item = Item.model_validate({"n": "tent"})
    order = Order.model_validate({"first": item, "more": [item], "by_name": {"a": item}, "c": 2})
    written = instrc.encode(order, lowered.map)
    assert isinstance(written, dict)
    assert written["first"] == {"n": "tent", "size": 3}
    assert written["c"] == 2
    assert instrc.lift(json.dumps(written), lowered.map).as_model(Order) == order


@pytest.mark.parametrize(
    "value", [Items.model_validate([{"n": "tent"}]), Box(Item.model_validate({"n": "tent"}))], ids=["root", "dataclass"]
)
def test_so_are_those_in_a_model_of_one_value_and_in_a_dataclass(value: Items | Box) -> None:
    lowered = instrc.lower(type(value), target="openai")
    written = instrc.encode(value, lowered.map)
    assert instrc.lift(json.dumps(written), lowered.map).as_model(type(value)) == value


@pytest.mark.parametrize(
    ("given", "name"),
    [
        (Item, "Item"),
        (Annotated[Item, "one"], "Item"),
        (Page[int], "Page_int"),
        (Item | Order, "tool"),
        (Annotated[Item | Order, "either"], "tool"),
        (list[Item], "tool"),
    ],
    ids=str,
)
def test_a_tool_has_the_name_that_somebody_gave_its_type(given: object, name: str) -> None:
    assert instrc.lower(given, target="openai").payload["function"]["name"] == name


def test_an_instance_that_cannot_be_written_is_refused_with_the_reason_of_pydantic() -> None:
    with pytest.raises(instrc.AnswerError, match="Unable to serialize unknown type"):
        instrc.encode(Odd(held=object()), instrc.lower(Odd, target="openai").map)
