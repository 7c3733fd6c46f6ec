"""Names are legal, readable, unique, and come back."""

from __future__ import annotations

from pathlib import Path
from time import process_time
from typing import Any

import pytest
from every_case import every_case
from hunting import examples
from hypothesis import given
from hypothesis import strategies as st
from objects import closed

import instrc
from instrc import Tool, encode, lift, lower, targets
from instrc.providers.lowering.context import legal  # one step of a lowering
from instrc.providers.lowering.lower import Mentions  # one step of a lowering
from instrc.tools.tool import Hint  # what the compiler hands to lowering

ANTHROPIC = targets()["anthropic"].key
GEMINI = targets()["gemini"].key


@every_case(
    ("name", "sent"),
    [
        ("_thought", "_thought"),
        ("$metric", "metric"),
        ("$qualityScore", "qualityScore"),
        ("тема", "tema"),
        ("Имя клиента", "Imya_klienta"),
        ("Прочитать объявление", "Prochitat_obyavlenie"),
        ("two words", "two_words"),
        ("naïve", "naive"),
        ("1st", "_1st"),
        ("", "field"),
        ("\n", "field"),
        ("user.name", "user_name"),
        ("x-header", "x_header"),
    ],
)
def test_a_name_becomes_readable_ascii(name: str, sent: str) -> None:
    assert legal(name, GEMINI) == sent


def test_what_is_legal_stays() -> None:
    assert [legal(name, ANTHROPIC) for name in ("a.b", "a-b", "1st", "_x", "x" * 64)] == ["a.b", "a-b", "1st", "_x", "x" * 64]


@pytest.mark.parametrize("target", ["anthropic", "anthropic-strict", "gemini", "gemini-schema", "gigachat", "ollama"])
@examples(60)
@given(
    names=st.lists(
        st.one_of(st.text(max_size=80), st.sampled_from(["$a", "a", "A", "á", "а", "a_2", "x" * 70, "x" * 71])),
        min_size=1,
        max_size=8,
        unique=True,
    )
)
def test_keys_are_legal_and_unique_and_come_back(target: str, names: list[str]) -> None:
    schema = {
        "type": "object",
        "properties": {name: {"type": "integer"} for name in names},
        "required": names,
        "additionalProperties": False,
    }
    result = lower(schema, target)
    sent = list(result.schema["properties"])
    assert len(sent) == len(names)
    rule = targets()[target].key
    assert all(rule.allows(name) for name in sent)
    assert all(name in sent for name in names if rule.allows(name))
    value = {name: number for number, name in enumerate(names)}
    assert lift(encode(value, result.map), result.map).value == value


@every_case("target", targets())
def test_properties_named_like_keywords_are_properties(target: str) -> None:
    names = [
        "$ref",
        "enum",
        "title",
        "type",
        "properties",
        "required",
        "$defs",
        "anyOf",
        "const",
        "description",
        "items",
        "$id",
        "default",
    ]
    schema = {
        "type": "object",
        "properties": {name: {"type": "string"} for name in names},
        "required": names,
        "additionalProperties": False,
    }
    result = lower(schema, target)
    value = dict.fromkeys(names, "x")
    lifted = lift(encode(value, result.map), result.map)
    assert lifted.value == value
    assert not lifted.invalid


@every_case("target", targets())
def test_keys_inside_of_undeclared_properties_come_back_too(target: str) -> None:
    inner = {"type": "object", "properties": {'q"': {"type": "integer"}}, "required": ['q"']}
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": inner}
    value = {"a": 1, "k": {'q"': 2}}
    result = lower(schema, target)
    sent = encode(value, result.map)
    assert lift(sent, result.map).value == value
    if target in {"mistral", "vllm"}:  # no map becomes a list here
        assert sent == {"a": 1, "k": {"q": 2}}


def test_a_key_of_a_map_is_data_and_not_a_name() -> None:
    schema = {
        "type": "object",
        "properties": {"$metric": {"type": "integer"}, "counts": {"type": "object", "additionalProperties": {"type": "integer"}}},
        "required": ["$metric", "counts"],
        "additionalProperties": False,
    }
    value = {"$metric": 1, "counts": {"metric": 2, "$metric": 3}}
    for target in ("anthropic", "anthropic-strict", "gigachat", "gemini"):
        result = lower(schema, target)
        assert lift(encode(value, result.map), result.map).value == value


@every_case(("target", "sent"), [("openai", "get_weather_v2"), ("mcp", "get.weather-v2"), ("smolagents", "get_weather_v2")])
def test_tool_names_become_legal(target: str, sent: str) -> None:
    result = lower({"type": "object"}, target, "get.weather-v2" if target != "openai" else "get weather/v2")
    assert result.map["tool"]["sent"] == sent


@every_case(("rules", "outer"), [("mcp", "anthropic"), ("gemini", "openai"), ("jsonschema", "openai")])
def test_the_name_and_the_description_are_those_of_the_envelope(rules: str, outer: str) -> None:
    lowered = lower({"type": "object"}, rules, "files.read: now", description="x" * 3000, envelope=outer)
    own = lower({"type": "object"}, outer, "files.read: now", description="x" * 3000)
    assert lowered.map["tool"] == own.map["tool"]
    sent, as_own = (made.payload.get("function", made.payload) for made in (lowered, own))
    assert len(sent["description"]) == len(as_own["description"])


@every_case("target", ["openai", "anthropic", "gemini"])
def test_a_tool_name_has_at_most_64_letters(target: str) -> None:
    assert lower({"type": "object"}, target, "a" * 64).map["tool"]["sent"] == "a" * 64
    assert len(lower({"type": "object"}, target, "a" * 65).map["tool"]["sent"]) <= 64


def test_a_name_of_a_built_in_tool_is_not_taken() -> None:
    assert lower({"type": "object"}, "gigachat", "web_search").payload["name"] != "web_search"


def test_keys_stay_the_same_under_combinators() -> None:
    schema: Any = {
        "type": "object",
        "properties": {"$a": {"type": "integer"}},
        "anyOf": [{"required": ["$a"]}, {"properties": {"$b": {"const": {"$a": 1}}}, "required": ["$b"]}],
        "dependentRequired": {"$a": ["c d"]},
    }
    result = lower(schema, "anthropic")
    inner = result.schema["properties"]["value"]
    assert inner["dependentRequired"] == {"a": ["c_d"]}
    assert inner["anyOf"][0] == {"required": ["a"]}


@every_case("target", ["anthropic", "anthropic-strict", "gemini", "gemini-schema", "gigachat", "ollama"])
def test_a_key_that_ends_like_an_escape_is_itself(target: str) -> None:
    schema: Any = {"type": "object", "properties": {"$metric": {}, "metric_": {}}, "required": ["$metric", "metric_"]}
    value = {"$metric": 1, "metric_": 2}
    result = lower({**schema, "additionalProperties": False}, target)
    assert lift(encode(value, result.map), result.map).value == value


@every_case("text", ["Use {}.", "Read {} first.", "Read `{}` and write it."])
def test_of_two_names_that_begin_alike_a_text_means_the_longer_one(text: str) -> None:
    assert Mentions({"a.b": "a_b", "a.b.c": "a_b_c"}).in_text(text.format("a.b.c")) == text.format("a_b_c")


HINTS = ["See {paths}.", "Use {paths}.", "Тема: {paths}; имя: {paths}"]


@every_case("hint", HINTS)
@every_case("naming", ["step", "camel"])
def test_hints_of_a_program_name_keys_as_they_are_sent(tmp_path: Path, hint: str, naming: str) -> None:
    (tmp_path / "pyproject.toml").write_text(f'[tool.instrc]\nhint = "{hint}"\nnaming = "{naming}"\n')
    (tmp_path / "p.aug").write_text("const found = Найти(); Писать(found)")
    vibes = {"Найти": closed(тема={"type": "string"}, имя={"type": "string"}), "Писать": closed(текст={"type": "string"})}
    [tool] = instrc.artefacts(tmp_path / "p.aug", vibes=vibes)
    for source in (tool, *([tool.documents["tool"]] if naming == "step" else [])):
        for target in ("anthropic", "gemini-schema", "ollama"):
            lowered = lower(source, target)
            properties = lowered.schema["properties"]
            found, written = properties
            assert found.isascii()
            assert properties[written]["description"] == hint.replace("{paths}", found), target


def test_a_hint_is_known_by_where_its_paths_stand_and_not_by_its_words() -> None:
    text = "Тема важна. Смотри тема, имя."
    schema = closed(тема={"type": "string"}, имя={"type": "string", "description": text})
    told = (Hint("Смотри тема, имя.", ((7, 11), (13, 16))), Hint("Смотри тема.", ((7, 11),)))
    assert mentioned(Tool("t", schema)) == text
    assert mentioned(Tool("t", schema, hints=told)) == "Тема важна. Смотри tema, imya."


def mentioned(tool: Tool) -> str:
    return str(lower(tool, "anthropic").payload["input_schema"]["properties"]["imya"]["description"])


def test_names_in_a_path_are_those_that_are_sent() -> None:
    sent = Mentions({"тема": "tema", "имя": "imya"})
    assert sent.in_text("Тема find.тема и тема.имя.") == "Тема find.tema и tema.imya."
    assert sent.in_text("Это тема. Имя и имя.") == "Это тема. Имя и имя."


def test_many_renamed_keys_take_time_that_grows_with_them() -> None:
    begun = process_time()
    properties: Any = {f"k {number}": {"type": "string"} for number in range(2000)}
    lower({"type": "object", "properties": properties, "default": {f"x{number}": "1" for number in range(5000)}}, "anthropic")
    assert process_time() - begun < 2
