"""Types of Python go to every provider and back: an instance, its words for the provider, the instance again."""

from __future__ import annotations

import dataclasses
import datetime as dt
import decimal
import enum
import uuid
from contextlib import nullcontext
from typing import Annotated, Any, Generic, Literal, NamedTuple, Optional, TypeVar, Union

import pytest
from every_case import every_case
from pydantic import BaseModel, ConfigDict, Field, Json, NaiveDatetime, RootModel, computed_field
from typing_extensions import NotRequired, TypedDict  # noqa: UP035  -- pydantic reads those of `typing` from Python 3.12 on only

import instrc
from instrc import Inexpressible

T = TypeVar("T")


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Size(enum.IntEnum):
    S = 1
    L = 2


class Place(TypedDict):
    city: str
    zip: NotRequired[str]


@dataclasses.dataclass
class Person:
    name: str
    place: Place
    tags: list[str] = dataclasses.field(default_factory=list)
    age: int | None = None


class Box(BaseModel, Generic[T]):
    item: T
    more: list[T] = []


class Node(BaseModel):
    value: int
    left: Optional[Node] = None  # noqa: UP045  -- both spellings
    right: Node | None = None


class Cat(BaseModel):
    kind: Literal["cat"] = "cat"
    lives: int = Field(ge=1, le=9)


class Dog(BaseModel):
    kind: Literal["dog"] = "dog"
    name: Annotated[str, Field(min_length=1, max_length=20, pattern=r"^[A-Z]")]


class Pet(BaseModel):
    pet: Annotated[Union[Cat, Dog], Field(discriminator="kind")]  # noqa: UP007  -- both spellings
    other: Cat | Dog | None = None


class Alias(BaseModel):
    source: str = Field(alias="from")
    aims: list[str] = Field(alias="to-list", default_factory=list)


class Times(BaseModel):
    when: dt.datetime
    day: dt.date
    id: uuid.UUID
    price: decimal.Decimal
    span: dt.timedelta


class Local(BaseModel):
    """Pydantic refuses a zone here."""

    at: NaiveDatetime
    until: NaiveDatetime | None = None


class Rectangle(BaseModel):
    model_config = ConfigDict(extra="forbid")
    width: int
    steps: Json[list[int]] = []

    @computed_field
    def area(self) -> int:
        return self.width * self.width


class Maps(BaseModel):
    by_name: dict[str, int]
    deep: dict[str, list[Place]] = {}
    any: Any = None


class Point(NamedTuple):
    x: int
    y: float


class Tuples(BaseModel):
    pair: tuple[int, str]
    point: Point
    rest: tuple[int, ...] = ()
    unique: set[str] = set()


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")
    colour: Colour
    size: Size = Size.S
    both: Literal[1, "a"] | None


class Cats(RootModel[list[Cat]]):
    pass


class Deep(BaseModel):
    """Much in one."""

    persons: list[Person]
    boxes: Box[Box[int]]
    choice: int | str | list[Box[str]]


class Empty(BaseModel):
    pass


ANN = Person("Ann", {"city": "Rome"}, ["a"], 3)
INSTANCES: list[tuple[Any, Any]] = [
    (Person, ANN),
    (Person, Person("Ann", {"city": "Rome", "zip": "1"})),
    (Box[int], Box[int](item=3, more=[1])),
    (Node, Node(value=1, left=Node(value=2, right=Node(value=3)))),
    (Pet, Pet(pet=Cat(lives=3))),
    (Pet, Pet(pet=Dog(name="Rex"), other=Cat(lives=9))),
    (Alias, Alias.model_validate({"from": "a", "to-list": ["b"]})),
    (
        Times,
        Times(
            when=dt.datetime(2024, 1, 2, 3, 4, 5, tzinfo=dt.UTC),
            day=dt.date(2024, 1, 2),
            id=uuid.UUID(int=5),
            price=decimal.Decimal("1.50"),
            span=dt.timedelta(hours=1),
        ),
    ),
    (Rectangle, Rectangle(width=2, steps="[1]")),  # type: ignore[arg-type]  # it reads JSON text
    (Local, Local(at=dt.datetime(2024, 1, 2, 3, 4, 5), until=dt.datetime(2024, 1, 2, 3, 4, 5, 60))),  # noqa: DTZ001
    (Maps, Maps(by_name={"a": 1, "б": 2}, deep={"x": [{"city": "Rome"}]}, any={"k": [1, None]})),
    (Tuples, Tuples(pair=(1, "a"), point=Point(1, 2.5), rest=(1, 2), unique={"q"})),
    (Strict, Strict(colour=Colour.BLUE, both=None)),
    (Strict, Strict(colour=Colour.RED, size=Size.L, both="a")),
    (Cats, Cats([Cat(lives=1)])),
    (Deep, Deep(persons=[ANN], boxes=Box[Box[int]](item=Box[int](item=1)), choice=[Box[str](item="q")])),
    (Empty, Empty()),
    (list[Person], [ANN]),
    (Place, {"city": "Rome"}),
    (Point, Point(1, 2.0)),
    (Colour, Colour.RED),
    (dict[str, Colour], {"a": Colour.RED}),
]


@every_case("target", instrc.targets())
def test_an_instance_is_written_for_a_provider_and_read_again(target: Any) -> None:
    for described, instance in INSTANCES:
        lowered = instrc.lower(described, target, name="it")
        answer = instrc.lift(instrc.encode(instance, lowered), lowered)
        assert (answer.status, answer.problems) == ("ok", ()), described
        assert answer.as_model(described) == instance


def test_instances_stand_for_examples() -> None:
    [example] = instrc.lower(Person, "anthropic", name="it", examples=[ANN]).payload["input_examples"]
    assert example["name"] == "Ann"


def test_a_time_without_a_zone_is_told_what_it_lacks() -> None:
    lowered = instrc.lower(Times, "openai", name="it")
    now = dt.datetime(2024, 1, 2, 3, 4, 5)  # noqa: DTZ001
    times = Times(when=now, day=now.date(), id=uuid.UUID(int=5), price=decimal.Decimal(1), span=dt.timedelta(hours=1))
    with pytest.raises(instrc.AnswerError, match=r"/when.* it has no zone"):
        instrc.encode(times, lowered)


def test_null_that_is_no_default_stays() -> None:
    lowered = instrc.lower(Strict, "jsonschema", name="it")
    assert instrc.encode(Strict(colour=Colour.RED, both=None), lowered) == {"colour": "red", "size": 1, "both": None}
    assert "left" not in instrc.encode(Node(value=1), instrc.lower(Node, "jsonschema", name="it"))


@every_case("odd", [object(), Person, {"a": {1, 2}.__iter__()}, [[object()]], lambda: None])
def test_what_is_no_value_is_one_problem(odd: Any) -> None:
    lowered = instrc.lower(Person, "openai", name="it")
    with pytest.raises((instrc.AnswerError, Inexpressible)):
        instrc.encode(odd, lowered)


def test_a_list_in_itself_is_one_problem() -> None:
    circle: list[Any] = [ANN]
    circle.append(circle)
    with pytest.raises((instrc.AnswerError, Inexpressible)):
        instrc.encode(circle, instrc.lower(Person, "openai", name="it"))


class Purr(BaseModel):
    kind: Literal["purr"] = "purr"


class Bark(BaseModel):
    kind: Literal["bark"] = "bark"
    volume: int


class Sound(BaseModel):
    made: Annotated[Purr | Bark, Field(discriminator="kind")]


@every_case("target", ["openai", "gemini", "anthropic-strict"])
def test_a_discriminator_is_said_by_the_alternatives_and_not_lost(target: str) -> None:
    (compiled,) = instrc.compile("Sound(prompt)", vibes={"Sound": Sound})
    for given in (Sound, compiled):
        lowering = instrc.lower(given, target)  # type: ignore[arg-type]
        assert [loss.keyword for loss in lowering.losses if loss.keyword == "discriminator"] == []
        assert instrc.lift({"made": {"kind": "bark", "volume": 2}}, lowering.map).status == "ok"
        assert instrc.lift({"made": {"volume": 2}}, lowering.map).status == "invalid"


@every_case("name", ["Dog", "Zoo.Dog", "dog.json"])
def test_the_mapping_of_a_discriminator_names_definitions_as_a_whole(name: str) -> None:
    kind = {"type": "object", "properties": {"kind": {"type": "string"}}}
    said = {"propertyName": "kind", "mapping": {"d": f"#/$defs/{name}", "c": "#/$defs/Cat"}}
    pet = {"oneOf": [{"$ref": f"#/$defs/{name}"}, {"$ref": "#/$defs/Cat"}], "discriminator": said}
    lowering = instrc.lower({"type": "object", "properties": {"pet": pet}, "$defs": {name: kind, "Cat": kind}})
    assert instrc.lift({"pet": {"kind": "d"}}, lowering.map).status == "ok"
    assert instrc.lift({"pet": {"kind": name}}, lowering.map).status == "invalid"


def test_a_discriminator_that_no_keyword_can_say_is_told_as_lost() -> None:
    schema = {"type": "object", "properties": {"kind": {"type": "string"}}, "discriminator": {"propertyName": "kind"}}
    assert "discriminator" in [loss.keyword for loss in instrc.lower(schema).losses]


class Guest(BaseModel):
    name: str
    host: Optional[Guest] = None  # noqa: UP045  -- both spellings
    age: int | None = None
    nick: str | None = "none"


@every_case("target", instrc.targets())
def test_what_a_model_dumps_is_expressed_where_null_is_the_default(target: str) -> None:
    lowered = instrc.lower(Guest, target, examples=[Guest(name="Ann").model_dump(), {"name": "Bob", "nick": None}])
    guest = Guest(name="Bob", host=Guest(name="Ann", age=3))
    told = pytest.warns(instrc.CompileWarning, match="left out") if target.startswith("gigachat") else nullcontext()
    with told:
        sent = instrc.encode(guest.model_dump(), lowered)
    instrc.encode(guest, lowered)  # an instance has nulls that nobody gave, so nothing is told
    lifted = instrc.lift(sent, lowered)
    assert lifted.ok
    assert lifted.as_model(Guest) == guest


def test_null_that_is_no_default_is_not_left_out() -> None:
    either = {"anyOf": [{"type": "object", "properties": {"a": {"type": "integer"}}}, {"type": "null"}]}
    lowered = instrc.lower({"type": "object", "properties": {"host": either}}, "gigachat")
    with pytest.raises(Inexpressible, match="host"):
        instrc.encode({"host": None}, lowered)
