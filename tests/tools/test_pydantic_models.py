"""Models with everything pydantic can say are imported, lowered to every target, and come back as the model reads them."""

from __future__ import annotations

import json
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal, NamedTuple
from uuid import UUID

import pytest
from judges import breaches
from pydantic import AnyUrl, BaseModel, ConfigDict, Field, Json, RootModel, TypeAdapter
from pydantic.alias_generators import to_camel

from instrc import encode, import_tools, lift, lower, targets


class Color(Enum):
    RED = "r"
    TWO = 2


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: Annotated[int, Field(ge=1, le=9)] = 9


class Dog(BaseModel):
    """Barks."""

    kind: Literal["dog"]
    barks: bool


class Node(BaseModel):
    value: int
    children: list[Node] = []
    parent: Node | None = None


class Point(NamedTuple):
    x: float
    y: float


class Everything(BaseModel):
    """One of each."""

    model_config = ConfigDict(alias_generator=to_camel, extra="forbid")

    pet_kept: Annotated[Cat | Dog, Field(discriminator="kind")]
    either: int | str | None = None
    tree: Node
    count: Annotated[int, Field(gt=0, lt=100, multiple_of=5)]
    name: Annotated[str, Field(min_length=1, max_length=20, pattern=r"^[a-z]+$", description="Short.", examples=["a"])]
    mode: Literal["x", 1, True] | None = "x"
    when: datetime
    day: date
    at: time
    span: timedelta
    price: Decimal
    limited: Annotated[Decimal, Field(max_digits=6, decimal_places=2, ge=0)] = Decimal("1.5")
    by_name: dict[str, Cat]
    by_number: dict[int, str] = {}
    pair: tuple[int, str]
    many: tuple[int, ...] = ()
    nothing: tuple[()] = ()
    left: str | None = None
    metric: str = Field(alias="$metric", default="")
    color: Color = Color.RED
    uid: UUID
    unique: set[str] = set()
    anything: Any = None
    open: dict[str, Any] = {}
    items: list[Any] = []
    point: Point
    url: AnyUrl | None = None
    text: Json[Any] | None = None
    nested: dict[str, list[tuple[int, Node | None]]] = {}


class Cats(RootModel[list[Cat]]):
    pass


VALUE = {
    "petKept": {"kind": "cat"},
    "tree": {"value": 1, "children": [{"value": 2, "parent": {"value": 3}}]},
    "count": 5,
    "name": "a",
    "when": "2026-01-01T00:00:00Z",
    "day": "2026-01-01",
    "at": "01:02:03Z",
    "span": "P1D",
    "price": "1.5",
    "byName": {"k": {"kind": "cat", "lives": 3}},
    "byNumber": {"7": "seven"},
    "pair": [1, "a"],
    "uid": "123e4567-e89b-12d3-a456-426614174000",
    "color": 2,
    "$metric": "m",
    "unique": ["b"],
    "open": {"a": [1, None]},
    "point": [1.5, 2.5],
    "nested": {"n": [[1, {"value": 4}]]},
}


@pytest.fixture(scope="module")
def everything() -> Any:
    (vibe,) = import_tools("pydantic", Everything).vibes
    return vibe.document


@pytest.mark.parametrize("target", targets())
def test_a_value_of_a_model_goes_out_and_comes_back(target: str, everything: Any) -> None:
    model = Everything.model_validate(VALUE)
    value = json.loads(model.model_dump_json(by_alias=True, exclude_unset=True))
    result = lower(everything, target)
    told = any(problem.name == "budget-exceeded" for problem in result.problems)  # an output has no form without strictness
    assert [breach for breach in breaches(result.payload, target) if not (told and breach.rule == "budget")] == []
    lifted = lift(encode(value, result.map), result.map)
    assert lifted.ok, lifted.invalid
    assert lifted.value == value
    assert Everything.model_validate(lifted.value) == model


def test_words_of_pydantic_become_keywords(everything: Any) -> None:
    properties = everything["properties"]
    assert everything["additionalProperties"] is False
    assert properties["count"]["exclusiveMinimum"] == 0
    assert properties["pair"]["prefixItems"] == [{"type": "integer"}, {"type": "string"}]
    assert {branch["$ref"] for branch in properties["petKept"]["oneOf"]} == {"#/$defs/Cat", "#/$defs/Dog"}
    assert everything["$defs"]["Dog"]["description"] == "Barks."
    assert "$metric" in properties


def test_what_is_no_object_is_held_by_one() -> None:
    for source in (Cats, Point, TypeAdapter(list[int])):
        found = import_tools("pydantic", source)
        (vibe,) = found.vibes
        assert vibe.document["properties"]["value"]["type"] == "array"
        assert [problem.name for problem in found.problems] == ["read-otherwise"]


class Bird(BaseModel):
    kind: Literal["bird", "parrot"] = "bird"


class Aviary(BaseModel):
    inside: Annotated[Dog | Bird, Field(discriminator="kind")]


def test_a_union_that_is_told_apart_by_a_tag_requires_it_as_pydantic_does() -> None:
    imported = import_tools("pydantic", Aviary)
    assert imported.problems == ()
    dog, bird = imported.vibes[0].document["properties"]["inside"]["oneOf"]
    assert dog == {"$ref": "#/$defs/Dog"}
    assert bird == {"allOf": [{"$ref": "#/$defs/Bird"}, {"type": "object", "required": ["kind"]}]}
