"""A result that would grow far beyond its input keeps what stands in several places once."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest

from instrc.schema.flattening.flatten import flatten
from instrc.text.jsontext import dumps

CARD: dict[str, Any] = {
    "title": "Business card",
    "type": "object",
    "properties": {f"p{number}": {"type": "string", "minLength": number} for number in range(40)},
}


def cards(count: int, **more: Any) -> dict[str, Any]:
    properties = {f"c{number}": {"$ref": "#/$defs/card"} for number in range(count)}
    return {"type": "object", "properties": properties, "$defs": {"card": CARD}, **more}


def test_little_is_written_out() -> None:
    flat = flatten(cards(20))
    assert "$defs" not in flat
    assert flat["properties"]["c19"] == CARD


def test_much_is_written_once_under_its_title() -> None:
    flat = flatten(cards(400))
    assert flat["properties"]["c7"] == {"$ref": "#/$defs/Business_card"}
    assert flat["$defs"] == {"Business_card": CARD}
    assert list(flat) == ["type", "properties", "$defs"]
    assert len(dumps(flat)) < 2 * len(dumps(cards(400)))


def test_it_is_written_out_where_that_is_asked_for() -> None:
    flat = flatten(cards(400), share=False)
    assert "$defs" not in flat
    assert flat["properties"]["c399"] == CARD


def test_equal_parts_are_one_even_if_they_were_merged_apart() -> None:
    schema = cards(0)
    for number in range(400):
        schema["properties"][f"c{number}"] = {"allOf": [{"$ref": "#/$defs/card"}, {"title": "Card", "minProperties": 1}]}
    flat = flatten(schema)
    assert list(flat["$defs"]) == ["Card"]
    assert flat["properties"]["c7"] == {"$ref": "#/$defs/Card"}


def test_parts_of_another_order_are_not_the_same() -> None:
    other = {**CARD, "properties": dict(reversed(CARD["properties"].items()))}
    schema = cards(200)
    schema["properties"] |= {f"d{number}": {"$ref": "#/$defs/other"} for number in range(200)}
    schema["$defs"]["other"] = other
    flat = flatten(schema)
    assert list(flat["$defs"]) == ["Business_card", "Business_card_2"]
    assert next(iter(flat["$defs"]["Business_card_2"]["properties"])) == "p39"


def test_what_is_described_in_many_ways_is_written_once() -> None:
    schema = cards(400)
    for number in range(400):
        schema["properties"][f"c{number}"]["description"] = f"Card {number}."
    flat = flatten(schema)
    assert flat["properties"]["c7"] == {"description": "Card 7.", "$ref": "#/$defs/Business_card"}
    assert flat["$defs"] == {"Business_card": CARD}
    assert len(dumps(flat)) < 2 * len(dumps(schema))
    whole = flatten(schema, share=False)
    assert whole["properties"]["c7"] == {**CARD, "description": "Card 7."}
    values: list[Any] = [{"c7": {"p3": "xyz"}}, {"c7": {"p3": "xy"}}, {"c7": 1}, {}]
    for value in values:
        assert jsonschema_rs.is_valid(flat, value) == jsonschema_rs.is_valid(whole, value)


def test_what_is_described_in_many_ways_has_the_name_of_its_first_place() -> None:
    body = {keyword: value for keyword, value in CARD.items() if keyword != "title"}
    properties = {f"c{number}": {"$ref": "#/$defs/card", "title": f"Card {number}"} for number in range(400)}
    flat = flatten({"type": "object", "properties": properties, "$defs": {"card": body}})
    assert flat["properties"]["c7"] == {"title": "Card 7", "$ref": "#/$defs/c0"}
    assert flat["$defs"] == {"c0": body}


def test_recursive_definitions_keep_their_names() -> None:
    tree = {"type": "object", "properties": {"next": {"$ref": "#/$defs/tree"}, "card": {"$ref": "#/$defs/card"}}}
    schema = cards(400)
    schema["properties"]["tree"] = {"$ref": "#/$defs/tree"}
    schema["$defs"]["tree"] = tree
    flat = flatten(schema)
    assert list(flat["$defs"]) == ["tree", "Business_card"]
    assert flat["$defs"]["tree"]["properties"] == {"next": {"$ref": "#/$defs/tree"}, "card": {"$ref": "#/$defs/Business_card"}}
    judge = jsonschema_rs.Draft202012Validator(flat)
    assert judge.is_valid({"tree": {"next": {"card": {"p1": "a"}}}})
    assert not judge.is_valid({"tree": {"next": {"card": {"p1": ""}}}})


def test_parts_without_a_name_of_their_own_have_one() -> None:
    untitled = {key: value for key, value in CARD.items() if key != "title"}
    schema = {"prefixItems": [{"$ref": "#/$defs/card"}] * 400, "$defs": {"card": untitled}}
    assert list(flatten(schema)["$defs"]) == ["shared"]
    assert list(flatten({"properties": {"тема": schema}, "$defs": {"card": untitled}})["$defs"]) == ["shared"]
    assert list(flatten({**cards(400), "$defs": {"card": untitled}})["$defs"]) == ["c0"]


def test_what_is_merged_of_definitions_is_named_by_the_first_two() -> None:
    """Each holds itself, so what they say together has to be a definition as well."""
    definitions = {name: {"properties": {"in": {"$ref": f"#/$defs/{name}"}, name: {}}} for name in "abc"}
    all_three = {"allOf": [{"$ref": f"#/$defs/{name}"} for name in "abc"]}
    merged = flatten({"properties": {"x": all_three}, "$defs": definitions})
    assert merged["properties"]["x"] == {"$ref": "#/$defs/a_b"}
    assert list(merged["$defs"]["a_b"]["properties"]) == ["in", "a", "b", "c"]


def test_keywords_come_from_where_they_were_written() -> None:
    found = flatten(cards(400), trace=True)
    assert found.schema == flatten(cards(400))
    assert [str(origin) for origin in found.origins["/$defs/Business_card/properties"]] == ["#/$defs/card/properties"]
    assert [str(origin) for origin in found.origins["/properties"]] == ["#/properties"]
    assert set(found.origins) >= {"/$defs/Business_card/properties/p7/minLength", "/properties/c7/$ref"}


@pytest.mark.parametrize("value", [{"c1": {"p3": "abc"}}, {"c1": {"p3": "ab"}}, {"c399": 3}, {}])
def test_it_accepts_the_same(value: Any) -> None:
    judges = [jsonschema_rs.Draft202012Validator(flatten(cards(400), share=share)) for share in (True, False)]
    assert judges[0].is_valid(value) is judges[1].is_valid(value)


def test_one_object_below_itself_and_elsewhere() -> None:
    folded = {"allOf": [{"minimum": 1}]}
    documents = {"https://e.com/a": {"not": folded}, "https://e.com/b": {"contains": folded}}
    flat = flatten({"properties": {"a": {"$ref": "https://e.com/a"}, "b": {"$ref": "https://e.com/b"}}}, documents)
    assert flat == {"properties": {"a": {"not": {"minimum": 1}}, "b": {"contains": {"minimum": 1}}}}


def test_a_value_stays_as_it_is_though_a_schema_is_the_same_object() -> None:
    shared = {"allOf": [{"minimum": 1}, {"maximum": 2}]}
    flat = flatten({"properties": {"a": shared}, "default": shared, "const": shared})
    assert flat == {"properties": {"a": {"minimum": 1, "maximum": 2}}, "default": shared, "const": shared}
