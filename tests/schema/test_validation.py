"""Validation of values: what hostile schemas and values cannot do."""

from __future__ import annotations

import builtins
import re
import socket
import time
from typing import Any

import pytest
from every_case import every_case

from instrc.schema import validation  # whether it is asked again
from instrc.schema.validation import SchemaValidator, Violation, is_valid, validate
from instrc.text.jsonvalue import Json


def keywords(value: Any, schema: Any, **options: Any) -> list[str]:
    return [violation.keyword for violation in validate(value, schema, **options)]


def test_a_violation_says_where_and_what() -> None:
    schema = {"type": "object", "properties": {"a/b": {"items": {"type": "integer"}}}}
    assert validate({"a/b": [1, "x"]}, schema) == (
        Violation("/a~1b/1", "type", "/properties/a~1b/items/type", '"x" is not of type "integer"'),
    )
    assert validate({"a/b": [1, 2]}, schema) == ()


def test_no_more_violations_are_told_than_asked_for() -> None:
    schema = {"items": {"type": "integer"}}
    assert len(validate(["x"] * 100, schema)) == 50
    assert len(validate(["x"] * 100, schema, most=3)) == 3


@every_case("schema", [True, {}])
def test_a_schema_that_asks_for_nothing_takes_all_json(schema: Any) -> None:
    assert validate({"a": [None, 1.5, "x"]}, schema) == ()


def test_false_takes_nothing() -> None:
    assert keywords(1, {"properties": {}, "not": {}}) == ["not"]
    assert keywords({"a": 1}, {"properties": {"a": False}}) == ["false"]
    assert not is_valid(1, schema=False)


def test_multiples_are_those_of_the_decimals_that_are_written() -> None:
    assert all(is_valid(cents / 100, {"multipleOf": 0.01}) for cents in range(1, 2001))  # not so in `jsonschema`, by floats
    assert [v.message for v in validate(19.995, {"multipleOf": 0.01})] == ["19.995 is not a multiple of 0.01"]
    assert is_valid(10**400, {"multipleOf": 0.5}, unsure=False)
    assert is_valid("x", {"multipleOf": 0.01})
    assert is_valid(1, {"not": {"multipleOf": 0.3}})


# Nothing is fetched


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Fail whatever opens a file or an address, after everything that validation needs is loaded."""
    validate({"a": "2026-01-01"}, {"properties": {"a": {"format": "date", "pattern": "(?=a)"}}, "unevaluatedProperties": False})
    tried: list[Any] = []

    def refuse(*arguments: Any, **_: Any) -> None:
        tried.append(arguments)
        raise OSError

    for name in ("socket", "create_connection", "getaddrinfo"):
        monkeypatch.setattr(socket, name, refuse)
    monkeypatch.setattr(builtins, "open", refuse)
    return tried


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "file:///etc/passwd"},
        {"$ref": "http://127.0.0.1:1/schema.json"},
        {"$ref": "https://example.com/schema.json#/a"},
        {"$dynamicRef": "http://127.0.0.1:1/schema.json"},
        {"$id": "http://127.0.0.1:1/folder/", "$ref": "other.json"},
        {"$id": "file:///etc/", "properties": {"a": {"$ref": "passwd"}}},
        {"$schema": "http://127.0.0.1:1/meta", "$ref": "http://127.0.0.1:1/meta"},
        {"$ref": "aug:instructions/draft-answer"},
        {"allOf": [{"$ref": "urn:uuid:0"}]},
        {"unevaluatedProperties": False, "anyOf": [{"$ref": "http://127.0.0.1:1/schema.json"}]},
    ],
)
def test_a_reference_out_of_the_schema_is_told_and_never_followed(schema: Any, watched: list[Any]) -> None:
    (violation,) = validate({"a": 1}, schema)
    assert violation.keyword == "schema"
    assert "nothing is fetched" in violation.message
    assert is_valid({"a": 1}, schema)
    assert not is_valid({"a": 1}, schema, unsure=False)
    assert watched == []


def test_the_schema_of_schemas_is_known_without_fetching(watched: list[Any]) -> None:
    schema = {"$ref": "https://json-schema.org/draft/2020-12/schema"}
    assert validate({"type": "string"}, schema) == ()
    assert keywords({"type": "strng"}, schema) == ["anyOf"]
    assert watched == []


# Regular expressions


@every_case(
    ("schema", "value"),
    [
        ({"pattern": "^(a+)+$"}, "a" * 5000 + "!"),
        ({"patternProperties": {"^(a+)+$": False}, "additionalProperties": {"type": "integer"}}, {"a" * 5000 + "!": 1.5}),
        ({"patternProperties": {"^(a+)+$": False}, "additionalProperties": False}, {"a" * 5000 + "!": 1}),
        ({"patternProperties": {"^(a+)+$": True}, "unevaluatedProperties": False}, {"a" * 5000 + "!": 1}),
        ({"propertyNames": {"pattern": "^(a+)+$"}}, {"a" * 5000 + "!": 1}),
        ({"$schema": "http://json-schema.org/draft-07/schema#", "pattern": "^(a+)+$"}, "a" * 5000 + "!"),
        ({"items": {"$schema": "http://json-schema.org/draft-04/schema#", "pattern": "^(a+)+$"}}, ["a" * 5000 + "!"]),
    ],
)
def test_a_pattern_cannot_take_long(schema: Any, value: Any) -> None:
    start = time.process_time()
    assert len(validate(value, schema)) == 1
    assert time.process_time() - start < 2


def test_what_needs_backtracking_is_stopped_and_told() -> None:
    start = time.process_time()
    violations = validate(["a" * 50 + "!"] * 1000, {"items": {"pattern": r"^(?:(a|a)*)*\1$"}}, most=2000)
    assert time.process_time() - start < 5
    assert len(violations) == 1000
    assert {violation.keyword for violation in violations} == {"pattern"}
    assert "takes too long" in violations[0].message


def test_a_pattern_that_is_none_is_told() -> None:
    assert "cannot be read" in validate("a", {"pattern": "("})[0].message
    assert "cannot be read" in validate({"a": 1}, {"patternProperties": {"(": True}})[0].message


def test_a_part_that_must_hold_reports_its_violation_alone() -> None:
    text = {"properties": {"a": {"type": "string"}}}
    for part in ({"allOf": [text]}, {"if": True, "then": text}, {"dependentSchemas": {"a": text}}):
        found = validate({"a": 1}, {**part, "unevaluatedProperties": False})
        assert [(each.instance, each.keyword) for each in found] == [("/a", "type")]
    assert len(validate({"a": "b", "c": 1}, {"allOf": [text], "unevaluatedProperties": False})) == 1
    assert len(validate({"a": 1}, {"anyOf": [text, True], "unevaluatedProperties": False})) == 1


def test_an_item_that_nothing_satisfies_is_named_by_its_place() -> None:
    assert [each.instance for each in validate([1], {"items": {"prefixItems": []}, "prefixItems": [False]})] == ["/0"]


def test_names_that_patterns_take_are_not_additional_and_not_unevaluated() -> None:
    patterns = {"patternProperties": {"^x-": {"type": "string"}}}
    assert validate({"x-a": "b", "c": 1}, {**patterns, "properties": {"c": {}}, "additionalProperties": False}) == ()
    assert keywords({"x-a": "b", "d": 1}, {**patterns, "additionalProperties": False}) == ["additionalProperties"]
    assert keywords({"x-a": 1}, {**patterns, "additionalProperties": False}) == ["type"]
    assert keywords({"x-a": "b", "d": 1}, {**patterns, "unevaluatedProperties": {"type": "string"}}) == ["type"]


@every_case(
    ("schema", "left"),
    [
        ({"$ref": "#/$defs/a", "$defs": {"a": {"properties": {"a": {}}}}}, ["b", "c"]),
        ({"anyOf": [{"properties": {"a": {"const": 1}}}, {"properties": {"b": {"const": 0}}}]}, ["b", "c"]),
        ({"if": {"properties": {"a": {"const": 1}}}, "then": {"properties": {"b": {}}}}, ["c"]),
        (
            {"if": {"properties": {"a": {"const": 0}}}, "then": {"properties": {"b": {}}}, "else": {"properties": {"c": {}}}},
            ["a", "b"],
        ),
        ({"patternProperties": {"^[ab]$": {}}}, ["c"]),
        ({"allOf": [{"patternProperties": {"^[ab]$": {}}}]}, ["c"]),
        ({"dependentSchemas": {"a": {"properties": {"b": {}}}, "z": {"properties": {"c": {}}}}}, ["a", "c"]),
        ({"allOf": [{"additionalProperties": {"type": "integer"}}]}, []),
        ({"allOf": [True, {"unevaluatedProperties": True}]}, []),
    ],
)
def test_unevaluated_properties_are_those_that_no_schema_that_holds_has_seen(schema: Any, left: list[str]) -> None:
    violations = validate({"a": 1, "b": 2, "c": 3}, {**schema, "unevaluatedProperties": False})
    told = [re.findall(r'"(\w)"', violation.message) for violation in violations]
    assert told == ([left] if left else [])


# Formats


def test_formats_are_asserted_where_that_is_asked_for() -> None:
    schema = {"properties": {"a": {"format": "date"}}, "$schema": "https://json-schema.org/draft/2020-12/schema"}
    assert keywords({"a": "2026-13-01"}, schema) == ["format"]
    assert validate({"a": "2026-13-01"}, schema, formats=False) == ()
    assert validate({"a": "2026-12-01"}, schema) == ()
    assert is_valid({"a": "2026-13-01"}, schema)
    assert not is_valid({"a": "2026-13-01"}, schema, formats=True)


def test_a_format_of_a_definition_is_asserted_too() -> None:
    assert keywords(["x"], {"items": {"$ref": "#/$defs/u"}, "$defs": {"u": {"format": "uuid"}}}) == ["format"]


# Values and schemas that are none


@every_case(
    ("value", "place"),
    [
        (float("inf"), ""),
        ({"a": [1, float("nan")]}, "/a/1"),
        ({1: 2}, ""),
        ({"a": {2: 3}}, "/a"),
        ({"a": (1, 2)}, "/a"),
        ([object()], "/0"),
        ({"a": b"x"}, "/a"),
    ],
)
def test_what_is_not_json_is_a_violation(value: Any, place: str) -> None:
    for schema in (True, {"type": "object"}):
        (violation,) = validate(value, schema)
        assert (violation.instance, violation.keyword) == (place, "json")


def test_a_value_that_holds_itself_is_a_violation() -> None:
    circle: list[Any] = []
    circle.append(circle)
    assert keywords(circle, schema=True) == ["json"]


def test_a_deep_value_and_a_deep_schema_end_in_a_verdict() -> None:
    value: Any = 1
    schema: Any = {"type": "integer"}
    for _ in range(1500):
        value, schema = [value], {"items": schema}
    assert keywords(value, {"items": {"$ref": "#"}}) in ([], ["schema"])
    assert keywords(value, schema) in ([], ["schema"])


@every_case(
    "schema",
    [
        {"$ref": "#"},
        {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}},
        {"type": "strng"},
        {"items": 5},
        {"properties": ["a"]},
        {"required": 2},
        {"minimum": "a"},
        {"$ref": 5},
        {"patternProperties": 5},
        {"pattern": 5},
        {"dependentRequired": {"a": 1}},
        {"$id": "http://[", "$ref": "a"},
        {"enum": 5},
        5,
        "x",
        None,
        [],
    ],
)
@every_case("value", [{"a": 1}, ["a"], 5, "a"])
def test_a_schema_that_is_none_never_raises(schema: Any, value: Any) -> None:
    assert all(isinstance(violation, Violation) for violation in validate(value, schema))
    assert isinstance(is_valid(value, schema), bool)


@every_case("value", ["\ud800", ["a", "\udfff"], {"\ud800": 1}])
def test_half_of_a_surrogate_pair_is_no_json(value: Any) -> None:
    assert keywords(value, {}) == ["json"]


def test_long_numbers_are_values() -> None:
    assert validate(10**5000, {"type": "integer"}) == ()
    assert len(validate(10**5000, {"type": "string"})) == 1


def test_unique_items_are_compared_in_linear_time() -> None:
    items = [{"a": index, "b": [index, {"c": True}]} for index in range(20_000)]
    schema = {"uniqueItems": True}
    start = time.process_time()
    assert validate(items, schema) == ()
    assert keywords([*items, {"b": [7, {"c": True}], "a": 7.0}], schema) == ["uniqueItems"]
    assert time.process_time() - start < 5
    assert validate([1, True, "1", [1], [True], {"a": 1}, {"a": True}], schema) == ()
    assert keywords([1, 1.0], schema) == ["uniqueItems"]
    assert validate([1, 1], {"uniqueItems": False}) == ()


@pytest.mark.parametrize(
    ("schema", "value", "said"),
    [
        ({"type": ["string", "null"]}, True, 'true is not of type "string", "null"'),
        ({"enum": ["a", 1]}, None, 'null is not one of ["a",1]'),
        ({"const": None}, "None", "null was expected"),
        ({"required": ["a"]}, {}, '"a" is a required property'),
        ({"dependentRequired": {"a": ["b"]}}, {"a": None}, '"b" is required beside "a"'),
        ({"not": {"const": None}}, None, 'null should not be valid under {"const":null}'),
        ({"minLength": 9}, "it's", '"it\'s" is too short'),
        ({"format": "date"}, "now", '"now" is not a "date"'),
        ({"format": "time"}, "09:30:00", '"09:30:00" is not a "time": it has no zone, such as "Z" or "+02:00"'),
        ({"format": "time"}, "9:30", '"9:30" is not a "time"'),
        (
            {"format": "date-time"},
            "2026-01-02T09:30:00",
            '"2026-01-02T09:30:00" is not a "date-time": it has no zone, such as "Z" or "+02:00"',
        ),
        ({"format": "date-time"}, "2026-01-02", '"2026-01-02" is not a "date-time"'),
        ({"pattern": "^a$"}, "b", '"b" does not match "^a$"'),
        ({"uniqueItems": True}, [None, None], "[null,null] has non-unique elements"),
        ({"prefixItems": [{}], "items": False}, [1, None], "[1,null] has more items than are described"),
        ({"unevaluatedItems": False}, [None], "[null] has more items than are described"),
        ({"additionalProperties": False}, {"x": 1}, 'Additional properties are not allowed ("x" was unexpected)'),
        ({"oneOf": [True, {}]}, [False], "[false] is valid under more than one of the given schemas"),
        (False, None, "null is not allowed here"),
        ({"anyOf": [{"type": "string"}, {"const": 1}]}, [None], "[null] is not valid under any of the given schemas"),
    ],
)
def test_values_stand_in_words_as_json(schema: Json, value: Json, said: str) -> None:
    assert [each.message for each in validate(value, schema)] == [said]


@every_case("union", ["anyOf", "oneOf"])
def test_of_alternatives_the_one_that_was_meant_is_told(union: str) -> None:
    def task(tool: str, **arguments: Json) -> Json:
        return {"type": "object", "properties": {"tool": {"const": tool}, **arguments}, "required": ["tool", *arguments]}

    schema: Json = {union: [task("find", city={"type": "string"}), task("book", seats={"type": "integer"}), {"type": "null"}]}
    assert validate({"tool": "book", "seats": None}, schema) == (
        Violation("/seats", "type", f"/{union}/1/properties/seats/type", 'null is not of type "integer"'),
    )
    assert validate({"tool": "find"}, schema)[0].message == '"city" is a required property'
    assert validate({"tool": "fly"}, schema)[0].keyword == union  # which was meant is not known
    assert validate({"city": 1}, schema)[0].keyword == union


def test_a_large_value_that_is_valid_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run validates each of its answers whenever it is read; an invalid one is described each time."""
    schema: Any = {"type": "array", "items": {"anyOf": [{"type": "string", "format": "date"}, {"type": "integer"}]}}
    large: Any = [7] * 20_000
    assert validate(large, schema) == ()
    with monkeypatch.context() as patched:
        patched.setattr(validation, "errors_of", lambda *_: pytest.fail("it is looked at again"))
        assert validate([*large], schema) == ()
        assert SchemaValidator(schema).validate(large) == ()
    assert validate([*large, None], schema)
    assert validate([*large, None], schema)
    assert validate(large, {**schema, "maxItems": 3})
    dated = [*large, "tomorrow"]
    assert validate(dated, schema, formats=False) == ()
    assert validate(dated, schema)
