"""Whether a schema is one: the quick gate is never kinder than the meta-schema, and what is wrong is said with its place."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from every_case import every_case
from hunting import examples
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft201909Validator, Draft202012Validator

from instrc.schema import wellformed  # the library behind the gate
from instrc.schema.walk import walk
from instrc.schema.wellformed import (  # the quick checks alone, beside the library
    doubtful,
    has_sound_keywords,
    is_sound,
    problems_of,
)  # the gate alone, without the meta-schema

KEYWORDS = sorted(
    {
        keyword
        for vocabulary in ("core", "applicator", "validation", "meta-data", "content", "unevaluated", "format-annotation")
        for keyword in __import__("jsonschema_specifications").REGISTRY.contents(
            f"https://json-schema.org/draft/2020-12/meta/{vocabulary}"
        )["properties"]
    }
    | {"definitions", "dependencies", "$recursiveAnchor", "$recursiveRef", "nullable", "references", "unknown"} - {"$schema"},
)
VALUES: list[Any] = [
    *(
        None,
        True,
        False,
        0,
        1,
        -1,
        1.0,
        1.5,
        0.0,
        -0.0,
        10**30,
        "",
        "string",
        "text",
        "#",
        "#a",
        "a b",
        "x#",
        "(",
        "\\p{L}",
        "-a",
        "a\n",
    ),
    *([], ["a"], ["a", "a"], [1, 1], ["string", "null"], [{}], [True, {}], [[]], [None], [1, True], ["a", 1]),
    *({}, {"a": {}}, {"a": True}, {"a": 1}, {"a": []}, {"a": ["b"]}, {"a": ["b", "b"]}, {"a": None}, {"(": {}}, {"a": "b"}),
    *({"type": "text"}, {"type": "string"}, {"minLength": -1}, {"a": {"type": "text"}}, [{"type": "text"}]),
]
BASE = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "t",
    "type": "object",
    "properties": {"a": {"type": ["string", "null"], "minLength": 1}, "b": {"items": {"enum": [1]}}},
    "required": ["a"],
    "allOf": [{"if": {"not": {}}, "then": True}, {"$ref": "#/$defs/x"}],
    "$defs": {"x": {"$anchor": "x", "patternProperties": {"^a": {}}, "dependentRequired": {"a": ["b"]}}},
    "default": {"type": 1},
}
JUDGE = Draft202012Validator(Draft202012Validator.META_SCHEMA)


def sound(schema: Any) -> bool:
    return next(doubtful(schema), None) is None


def agrees(schema: Any) -> None:
    if not isinstance(schema, dict | bool):
        assert problems_of(schema)
        return
    accepted = JUDGE.is_valid(schema)
    if sound(schema):
        assert accepted
    if not accepted:
        found = problems_of(schema)
        assert found
        assert all(problem.reason for problem in found)


@pytest.mark.long
@every_case("keyword", KEYWORDS)
def test_the_gate_is_never_kinder_than_the_meta_schema(keyword: str) -> None:
    for value in VALUES:
        for schema in ({keyword: value}, {"properties": {"x": {keyword: value}}}, {"allOf": [{keyword: value}, {"title": "t"}]}):
            agrees(schema)


@pytest.mark.long
@every_case("keyword", [*KEYWORDS, "additionalItems"])
def test_the_gate_of_2019_is_never_kinder_than_its_meta_schema(keyword: str) -> None:
    for value in VALUES:
        for schema in ({keyword: value}, {"additionalItems": {keyword: value}}, {"items": [{keyword: value}]}):
            named = {"$schema": Draft201909Validator.META_SCHEMA["$id"], **schema}
            if is_sound(named, wellformed._SOUND_2019):
                assert Draft201909Validator(Draft201909Validator.META_SCHEMA).is_valid(named), named


def test_what_is_certainly_well_formed_in_2019_costs_no_look_at_its_meta_schema(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wellformed, "_errors", lambda *_: pytest.fail("the library is asked"))
    parts = {"a": {"$recursiveRef": "#"}, "b": {"$anchor": "b", "additionalItems": False}}
    draft = "https://json-schema.org/draft/2019-09/schema"
    assert not problems_of({"$schema": draft, "$recursiveAnchor": True, "properties": parts})


json_values = st.recursive(
    st.sampled_from(VALUES),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*KEYWORDS, "a", "b"]), inner, max_size=4),
    max_leaves=12,
)


@examples(600)
@given(json_values)
def test_no_value_passes_the_gate_that_the_meta_schema_refuses(value: Any) -> None:
    agrees(value)


@examples(600)
@given(st.data())
def test_one_change_in_a_sound_schema_never_slips_through(data: st.DataObject) -> None:
    schema = copy.deepcopy(BASE)
    nodes = [node for _, node in walk(schema) if isinstance(node, dict)]
    node = data.draw(st.sampled_from(range(len(nodes))))
    keyword = data.draw(st.sampled_from([*KEYWORDS, *nodes[node]]))
    nodes[node][keyword] = copy.deepcopy(data.draw(st.sampled_from(VALUES)))
    if keyword != "$schema":
        agrees(schema)


def test_an_ordinary_schema_needs_no_judge(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("instrc.schema.wellformed._judged", None)
    assert problems_of(BASE) == ()
    assert problems_of({"type": "string", "pattern": "^a", "nullable": True, "example": 1, "references": 3}) == ()


@every_case(
    ("schema", "pointer", "reason"),
    [
        ({"type": "text"}, "/type", '"text" is not a type'),
        ({"type": 20 * "ab"}, "/type", f'"{20 * "ab"}" is not a type'),
        ({"type": 20 * "ab" + "a"}, "/type", f'"{19 * "ab"}a…" is not a type'),
        ({"type": ["string", "nul"]}, "/type/1", '"nul" is not a type'),
        ({"type": 'a"b\\'}, "/type", '"a\\"b\\\\" is not a type'),
        ({"type": "\ud800"}, "/type", '"\ud800" is not a type'),
        ({"type": []}, "/type", "it is empty"),
        ({"properties": {"a/b": 1}}, "/properties/a~1b", "1 is not an object or a boolean"),
        ({"required": "a"}, "/required", '"a" is not an array'),
        ({"required": ["a", "a"]}, "/required", "it says something twice"),
        ({"items": {"minLength": -1}}, "/items/minLength", "-1 is too small"),
        ({"minimum": "1"}, "/minimum", '"1" is not a number'),
        ({"title": 10**5000}, "/title", "it is not what this keyword holds"),
        ({"allOf": []}, "/allOf", "it is empty"),
        ({"pattern": "(a"}, "/pattern", "it is not a regular expression (missing ), unterminated subpattern)"),
        ({"patternProperties": {"*": {}}}, "/patternProperties/*", "it is not a regular expression (nothing to repeat)"),
        ({"items": [{}]}, "/items", "an array is not an object or a boolean"),
        ([], "", "an array is not an object or a boolean"),
        (None, "", "null is not an object or a boolean"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(schema: Any, pointer: str, reason: str) -> None:
    (problem,) = problems_of(schema)
    assert (problem.pointer, problem.reason) == (pointer, reason)


@every_case(
    ("schema", "sound"),
    [
        ({"title": "t", "minLength": 3, "type": "string"}, True),
        ({"minLength": 3.0}, True),  # a whole number, as JSON Schema counts
        ({"minLength": 3.5}, False),
        ({"minLength": -3.0}, False),
        ({"uniqueItems": 3.0}, False),
        (False, True),
        (3, False),
    ],
)
def test_what_holds_what_it_should_is_seen_at_once(schema: Any, sound: bool) -> None:  # noqa: FBT001
    assert not isinstance(schema, dict) or has_sound_keywords(schema) is sound
    assert (not problems_of(schema)) is sound


def test_several_mistakes_come_in_the_order_in_which_they_are_written() -> None:
    schema = {"title": 1, "properties": {"a": {"type": "strng"}, "b": {"minLength": "x"}}, "description": 2}
    found = problems_of(schema)
    assert [problem.pointer for problem in found] == ["/title", "/properties/a/type", "/properties/b/minLength", "/description"]
    assert found[1].nearest[0] == "string"


@every_case(("wrong", "meant"), [("itn", "integer"), ("int", "integer"), ("intt", "integer"), ("boool", "boolean")])
def test_a_short_name_of_a_type_may_be_misspelt_as_well(wrong: str, meant: str) -> None:
    (problem,) = problems_of({"type": wrong})
    assert problem.nearest[0] == meant


@every_case(
    "schema",
    [
        {"$schema": "http://json-schema.org/draft-04/schema#", "minimum": 1, "exclusiveMinimum": True, "id": "x"},
        {"$schema": "http://json-schema.org/draft-07/schema", "items": [{}], "additionalItems": False},
        {"$schema": "https://json-schema.org/draft-07/schema#", "items": [{}]},
        {"$schema": "https://json-schema.org/draft/2019-09/schema", "items": [{}], "$recursiveRef": "#"},
        {"$schema": "https://json-schema.org/draft/2020-12/schema#", "prefixItems": [{}]},
        {"$schema": "https://example.org/our-dialect", "type": "string"},
        {"$schema": "https://spec.openapis.org/oas/3.0/schema/2021-09-28", "minimum": 1, "exclusiveMinimum": True},
        {"type": "string", "nullable": True},
        {"pattern": "^\\p{Lu}(?<rest>.*)[^]$"},
        {"minLength": 1.0},
        True,
        {},
    ],
)
def test_other_dialects_are_understood(schema: Any) -> None:
    assert problems_of(schema) == ()


@every_case(
    "schema",
    [
        {"$schema": "http://json-schema.org/draft-04/schema#", "exclusiveMinimum": 1, "minimum": 0},
        {"$schema": "http://json-schema.org/draft-07/schema#", "items": 1},
        {"$schema": 7},
    ],
)
def test_other_dialects_have_mistakes_too(schema: Any) -> None:
    assert len(problems_of(schema)) == 1


def test_depth_is_no_obstacle_to_either_verdict() -> None:
    good: dict[str, Any] = {"type": "string"}
    bad: dict[str, Any] = {"type": "text"}
    for _ in range(3000):
        good, bad = {"not": good}, {"not": bad}
    assert problems_of(good) == ()
    (problem,) = problems_of(bad)
    assert problem.pointer.endswith("/not/type")
    assert len(problem.message) < 200


def test_a_hopeless_schema_gets_a_bounded_number_of_problems() -> None:
    found = problems_of({"properties": {f"p{n}": 1 for n in range(5000)}})
    assert [problem.pointer for problem in found] == [f"/properties/p{n}" for n in range(20)]


def test_a_part_that_names_its_own_draft_is_judged_by_that_draft() -> None:
    old = {"$schema": "http://json-schema.org/draft-04/schema#", "minimum": 3, "exclusiveMinimum": True, "items": [{}]}
    today = {"$schema": "https://json-schema.org/draft/2020-12/schema", "exclusiveMinimum": 3}
    assert problems_of({"properties": {"a": old}, "items": {"$defs": {"b": old}}}) == ()
    assert problems_of({"$schema": old["$schema"], "definitions": {"a": today}, "exclusiveMinimum": True, "minimum": 1}) == ()
    wrong = {
        "properties": {"a": {**old, "exclusiveMinimum": 3, "not": today}, "b": {"exclusiveMinimum": True}},
        "not": {**today, "items": [{}]},
    }
    assert [each.pointer for each in problems_of(wrong)] == [
        "/properties/a/exclusiveMinimum",
        "/properties/b/exclusiveMinimum",
        "/not/items",
    ]


@every_case("keyword", ["items", "additionalItems", "properties", "anyOf", "dependencies", "then"])
def test_a_mistake_below_any_keyword_that_holds_schemas_is_seen_at_once(keyword: str) -> None:
    def holding(schema: Any) -> Any:
        return {"properties": {"a": schema}, "dependencies": {"a": schema}, "anyOf": [schema]}.get(keyword, schema)

    assert is_sound({keyword: holding({"type": "string"})})
    assert not is_sound({keyword: holding({"type": "strng"})})
