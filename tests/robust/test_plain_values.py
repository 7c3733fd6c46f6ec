"""Values of classes derived from those of JSON: read as what they say, or refused, by every public function."""

from __future__ import annotations

import asyncio
import inspect
import pickle
from collections import OrderedDict, UserString, defaultdict
from collections.abc import Iterator
from enum import IntEnum, StrEnum
from pathlib import Path
from typing import Any

import pytest
from functions import SOUND, call, ends_well, parameters, public, required

import instrc
from instrc.text.arguments import as_plain

_KEPT = {"__new__", "__init__", "__init_subclass__", "__class__", "__getattribute__", "__setattr__", "__delattr__", "__doc__"}


def raising(kind: type) -> type[Any]:
    """Return a class of which every method raises."""

    def refuse(*_: object, **__: object) -> object:
        message = "not mine"
        raise ArithmeticError(message)

    return type(f"Own{kind.__name__}", (kind,), dict.fromkeys(set(dir(kind)) - _KEPT, refuse))


KINDS = {kind: raising(kind) for kind in (dict, list, str, int, float)}
ODD: list[Any] = [
    KINDS[dict]({"type": "object"}),
    KINDS[list]([{"a": "x"}]),
    str.__new__(KINDS[str], "string"),
    int.__new__(KINDS[int], 3),
    float.__new__(KINDS[float], 1.5),
]


def places(value: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Return the paths of a value and of its parts."""
    yield path
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(item, (*path, key))


def replaced(value: Any, path: tuple[str | int, ...], other: object) -> Any:
    if not path:
        return other
    key, *rest = path
    if isinstance(value, dict):
        return {**value, key: replaced(value[key], tuple(rest), other)}
    return [replaced(item, tuple(rest), other) if index == key else item for index, item in enumerate(value)]


@pytest.mark.parametrize("name", public())
def test_classes_whose_methods_raise_leave_no_error_of_their_own(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # a text may be taken for a store
    for each in parameters(public()[name]):
        sound = SOUND.get(each.name, (each.default,))[0]
        for path in list(places(sound))[:5]:
            for odd in ODD:
                given = {other.name: SOUND[other.name][0] for other in required(public()[name])}
                given[each.name] = replaced(sound, path, odd)
                ends_well(lambda given=given: call(public()[name], given))  # type: ignore[misc]  -- bound for this turn


class Colour(StrEnum):
    RED = "red"


class Size(IntEnum):
    LARGE = 3


def test_what_can_be_read_is_read_as_what_it_says() -> None:
    moved = OrderedDict([("b", 1), ("a", 2)])
    moved.move_to_end("b")
    read: Any = as_plain({Colour.RED: [Size.LARGE, (moved, Colour.RED)], "more": defaultdict(list, {"a": []})})
    assert read == {"red": [3, ({"a": 2, "b": 1}, "red")], "more": {"a": []}}
    assert list(read["red"][1][0]) == ["a", "b"]
    assert {type(each) for each in (*read, *read["red"], read["more"], *read["red"][1])} == {str, int, tuple, dict}


def test_what_is_ordinary_is_not_copied() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    for value in ({"a": [1, None, "x", (2.5,)]}, deep, [object()], {"a": UserString("x")}):
        assert as_plain(value) is value


def test_what_is_shared_stays_shared_and_circles_stay_circles() -> None:
    shared = OrderedDict(a=1)
    circle: Any = [shared, shared]
    circle.append(circle)
    read: Any = as_plain(circle)
    assert read[0] is read[1]
    assert read[2] is read
    assert type(read[0]) is dict


def test_a_schema_in_classes_of_a_library_is_compiled_as_in_those_of_json() -> None:
    schema = OrderedDict(type="object", properties=OrderedDict(a={"enum": [Colour.RED]}))
    plain = {"type": "object", "properties": {"a": {"enum": ["red"]}}}
    assert instrc.flatten(schema) == instrc.flatten(plain)
    assert instrc.compile("A", vibes={"A": schema}) == instrc.compile("A", vibes={"A": plain})
    assert instrc.lower(schema, "openai") == instrc.lower(plain, "openai")


class OnDemand(dict[str, object]):
    """Documents that are made when they are asked for."""

    def __missing__(self, uri: str) -> object:
        return OrderedDict(title=Colour.RED, description=uri)


def test_documents_are_read_when_they_are_asked_for() -> None:
    flat: Any = instrc.flatten({"$ref": "https://e.com/a"}, OnDemand())
    assert flat == {"title": "red", "description": "https://e.com/a"}
    assert {type(each) for each in (flat, *flat.values())} == {dict, str}


def test_functions_stay_what_they_are() -> None:
    assert pickle.loads(pickle.dumps(instrc.flatten)) is instrc.flatten  # noqa: S301  -- our own
    assert [*inspect.signature(instrc.split).parameters] == ["answer", "schema"]
    assert inspect.iscoroutinefunction(instrc.run_async)
    ran = asyncio.run(instrc.run_async('@{ title: "A", type: "object" }', OrderedDict(prompt="x"), model=instrc.Scripted([{}])))
    assert ran.status == "done"
