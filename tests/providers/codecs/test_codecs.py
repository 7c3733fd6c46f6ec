"""Codecs are a closed union: each is written as JSON, read again as the same, and told where it is damaged."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from every_case import every_case

from instrc import CompileError
from instrc.providers.codec import (  # the closed union, each case by itself
    Alternative,
    ArrayCodec,
    BoxCodec,
    ByPattern,
    Choice,
    ChoiceCodec,
    Member,
    More,
    NamesCodec,
    ObjectCodec,
    PairsCodec,
    PlanCodec,
    RefCodec,
    SomeCodec,
    Tag,
    TextCodec,
    TupleCodec,
    UnionCodec,
    ValuesCodec,
    parts,
    prune,
    to_json,
    with_codecs,
)
from instrc.providers.maps import tool_map  # the map of one tool, by itself
from instrc.text.jsontext import dumps, loads

TEXT = TextCodec()
EACH: list[SomeCodec] = [
    ObjectCodec({"a": Member("ä", absent=True, null="<null>", codec=TEXT)}, tag=Tag("option", "one")),
    ObjectCodec({"b": Member(absent="also"), "c": Member(missing=True), "d": Member(unsaid=True)}),
    ObjectCodec({"x_": Member()}, more=More("more", TEXT, ("x_",), asked=True)),
    ObjectCodec({}, other=TEXT, by=(ByPattern("^x", None),), declared=("a",)),
    ObjectCodec({}, other=TEXT),
    ArrayCodec((None, TEXT), TEXT),
    PairsCodec(TEXT, (ByPattern("^x", TEXT), ByPattern(None, None))),
    TupleCodec(("item_1", "item_2"), ObjectCodec({"item_1": Member(codec=TEXT)}), "more"),
    TextCodec(("integer", "null"), null=True),
    ValuesCodec((("1", 1), ("true", True), ("{}", {})), fold=True),
    UnionCodec((Alternative({"type": "string"}, TEXT), Alternative(when=True, codec=None))),
    ChoiceCodec({"one": Choice("one", TEXT, {"type": "string"}), "null": Choice(null=True)}),
    BoxCodec("value", TEXT, Tag("option", "two")),
    PlanCodec({"search": ("query",)}, ArrayCodec((), TEXT)),
    PlanCodec({}, None),
    RefCodec("part", null=True),
    NamesCodec({"a": "ä"}, fold=True),
]


def named(codec: SomeCodec) -> str:
    return dumps(to_json(codec), indent=False)[:60]


def test_there_is_an_example_of_each() -> None:
    assert {type(codec) for codec in EACH} == set(get_args(SomeCodec))


@every_case("codec", EACH, ids=named)
def test_a_codec_is_the_same_when_it_is_read_again(codec: SomeCodec) -> None:
    written = loads(dumps(to_json(codec)))
    assert written == to_json(codec)  # no tuples, which other readers of the map would tell from lists
    again = tool_map({"schema": True, "codec": written, "codecs": {"part": None}})
    assert (again.codec, again.codecs) == (codec, {"part": None})
    assert dumps(to_json(again.codec)) == dumps(written)


@every_case("codec", EACH, ids=named)
def test_the_parts_of_a_codec_are_those_that_can_be_replaced(codec: SomeCodec) -> None:
    assert with_codecs(codec, lambda part: part) == codec
    assert not [*parts(with_codecs(codec, lambda _: None))]


def test_what_leads_to_codecs_that_change_nothing_is_dropped() -> None:
    nothing = ObjectCodec({"next": Member(codec=RefCodec("same"))})
    assert prune(ArrayCodec((), RefCodec("same")), {"same": nothing}) == (None, {})
    something = ObjectCodec({"next": Member("nächste", codec=RefCodec("same"))})
    assert prune(RefCodec("same"), {"same": something}) == (RefCodec("same"), {"same": something})


@every_case(
    "damaged",
    [
        {"as": "strange"},
        {"as": "ref", "name": "nobody"},
        {"as": "values", "values": [[1]]},
        {"as": "box", "codec": None},
        {"as": "plan", "codec": {"as": "text"}, "raw": {"Search": "query"}},
        {"as": "names", "keys": {"a": 1}},
        {"as": "tuple", "keys": [1], "item": {"as": "text"}},
        5,
        [],
    ],
    ids=str,
)
def test_a_damaged_codec_is_told(damaged: Any) -> None:
    with pytest.raises(CompileError, match="it is damaged"):
        tool_map({"schema": True, "codec": {"as": "array", "items": damaged}})


def test_a_codec_that_holds_itself_is_told() -> None:
    endless: dict[str, Any] = {"as": "array"}
    endless["items"] = endless
    with pytest.raises(CompileError, match=r"it is damaged: .*recursion"):
        tool_map({"schema": True, "codec": endless})
