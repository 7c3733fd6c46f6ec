"""Which schemas of a document nothing satisfies: the innermost, with the words and the required names that leave nothing."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
from every_case import every_case
from hunting import examples
from hypothesis import given
from hypothesis import strategies as st

from instrc.schema.impossible import (  # the limits that are tried here
    WEIGHED_NAMES,
    Impossible,
    impossible_parts,
    may_be_impossible,
    may_hold_impossible,
)
from instrc.schema.kinds import own_kinds
from instrc.schema.relations import disjoint
from instrc.schema.walk import walk

TEXT = {"type": "string"}
OBJECT = {"type": "object"}
NEVER = {"type": "integer", "exclusiveMinimum": 1, "exclusiveMaximum": 2}
NEVER_WORDS = ("exclusiveMinimum", "exclusiveMaximum")


def parts_of(schema: Any, *told: tuple[str, ...]) -> list[Impossible]:
    return list(impossible_parts(schema, list(walk(schema)), frozenset(told)))


@every_case(
    ("schemas", "may"),
    [
        ([{"type": "string"}, True, {"minLength": 1}], False),
        ([True, {"$ref": "#/$defs/a"}], True),
        ([{}, NEVER], True),
        ([], False),
    ],
)
def test_a_closer_look_is_worth_it_where_schemas_say_enough(schemas: list[Any], may: bool) -> None:  # noqa: FBT001
    assert may_hold_impossible(schemas) is may


@every_case(
    ("schema", "found"),
    [
        (NEVER, Impossible((), NEVER_WORDS, ())),
        ({"properties": {"a": NEVER}}, Impossible(("properties", "a"), NEVER_WORDS, ())),
        (
            {**OBJECT, "properties": {"a": NEVER}, "required": ["a"]},  # impossible too, by the one inside only
            Impossible(("properties", "a"), NEVER_WORDS, ()),
        ),
        (
            {**OBJECT, "properties": {"a": False}, "required": ["a", "b"]},  # `false` is meant; that it is required is not
            Impossible((), ("properties", "required"), ("a",)),
        ),
        (
            {**OBJECT, "required": ["a", "b"], "maxProperties": 1},  # no one name is too many
            Impossible((), ("required", "maxProperties"), ()),
        ),
        (
            {**OBJECT, "properties": {"a": {}}, "required": ["b"], "unevaluatedProperties": False},
            Impossible((), ("required", "unevaluatedProperties"), ("b",)),
        ),
        ({"$ref": "#/$defs/a", "type": "null", "$defs": {"a": TEXT}}, Impossible((), ("$ref", "type"), ())),
        ({"$ref": "#/$defs/a", "$defs": {"a": NEVER}}, Impossible(("$defs", "a"), NEVER_WORDS, ())),
        ({**TEXT, "pattern": "^a", "allOf": [{"pattern": "^b"}]}, Impossible((), ("pattern", "allOf"), ())),
        ({**TEXT, "pattern": "^abc", "maxLength": 2}, Impossible((), ("pattern", "maxLength"), ())),
    ],
)
def test_the_innermost_schema_is_found_with_what_leaves_nothing(schema: Any, found: Impossible) -> None:
    (one,) = parts_of(schema)
    assert (one.path, set(one.words), one.names) == (found.path, set(found.words), found.names)


@every_case(
    "schema",
    [
        True,
        {},
        {"properties": {"a": False}},
        {"not": {}},
        {**OBJECT, "properties": {"a": {}}, "required": ["a"], "unevaluatedProperties": False},
        # what an alternative allows is evaluated as well, so `unevaluatedProperties` closes less than it seems
        {**OBJECT, "anyOf": [{"properties": {"a": {}}}], "required": ["a"], "unevaluatedProperties": False},
        # where these references lead is not looked up: to a name, out of the document, nowhere, into a document of its own
        {"$ref": "#a", "type": "null", "$defs": {"a": {"$anchor": "a", **TEXT}}},
        {"$ref": "https://example.org/a", "type": "null"},
        {"$ref": "#/$defs/b", "type": "null", "$defs": {"a": TEXT}},
        {"$ref": "#/$defs/a", "type": "null", "$defs": {"a": {"$id": "https://example.org/a", **TEXT}}},
        {"pattern": "^abc", "maxLength": 2},  # numbers satisfy it
    ],
)
def test_what_is_meant_or_not_known_is_not_found(schema: Any) -> None:
    assert parts_of(schema) == []


def test_what_is_told_already_is_not_told_again_nor_what_it_causes() -> None:
    schema = {**OBJECT, "properties": {"a": NEVER, "b": {**TEXT, "pattern": "/^a"}}, "required": ["a"]}
    assert [each.path for each in parts_of(schema)] == [("properties", "a"), ("properties", "b")]
    assert [each.path for each in parts_of(schema, ("properties", "a"))] == [("properties", "b")]
    assert parts_of(schema, ("properties", "a"), ("properties", "b")) == []


def test_of_very_many_required_names_all_are_named() -> None:
    for count in (WEIGHED_NAMES, WEIGHED_NAMES + 1):
        names = [f"a{number}" for number in range(count)]
        (found,) = parts_of({**OBJECT, "required": names, "properties": {"a0": False}})
        assert found.names == (("a0",) if count == WEIGHED_NAMES else tuple(names))


WORDS: dict[str, list[Any]] = {
    "type": ["object", "array", "integer", "string", "number"],
    "properties": [{"a": False}, {"a": TEXT, "b": {"const": 1}}],
    "required": [["a"], ["a", "b"]],
    "additionalProperties": [False],
    "maxProperties": [1],
    "dependentRequired": [{"a": ["b"]}, {"b": ["c"]}],
    "dependentSchemas": [{"a": {"maxProperties": 0}}, {"a": {"required": ["b"]}}],
    "patternProperties": [{"^a": {"type": "integer"}}],
    "propertyNames": [{"maxLength": 0}, {"enum": ["a", "c"]}],
    "items": [False, {"enum": [1, 2]}, {"type": "boolean"}],
    "prefixItems": [[{"const": 1}], [False]],
    "minItems": [1, 3],
    "maxItems": [0, 2],
    "uniqueItems": [True],
    "contains": [{"const": 1}, {"type": "null"}],
    "minContains": [0, 2],
    "maxContains": [0, 1],
    "minimum": [1, 1.25],
    "exclusiveMaximum": [2, 1.5],
    "multipleOf": [2, 0.5, 5],
    "if": [{"minimum": 1}, {"required": ["a"]}, True],
    "then": [False, {"maximum": 1}, {"maxProperties": 1}],
    "else": [False, {"minItems": 1}],
    "oneOf": [[TEXT, TEXT], [{"minimum": 1}, {"minimum": 1}, TEXT], [{}, TEXT]],
    "not": [{"type": "integer"}, {"minItems": 1}, {"required": ["a"]}],
    "enum": [["a", 1, [1]], [{"a": "x"}, 1.5]],
    "pattern": ["^b"],
}
PARTS = [None, True, 0, 1, 1.5, 1.25, 2, 10, "", "a", "b", "x"]
LISTS = [[], [1], [1, 1], [1, 2], [1, 2, 2], [True, False], [None], [None, 1, 2], [True, False, 1]]
OBJECTS = [{}, {"a": "x"}, {"a": 1}, {"a": "x", "b": 1}, {"b": 1}, {"c": 1}, {"a": 1, "b": 1, "c": 1}, {"a": "x", "b": 1, "c": 0}]
VALUES = [*PARTS, *LISTS, *OBJECTS]
SCHEMAS = st.lists(st.sampled_from(sorted(WORDS)), min_size=2, max_size=6, unique=True).flatmap(
    lambda words: st.fixed_dictionaries({word: st.sampled_from(WORDS[word]) for word in words})
)


@examples(300)
@given(SCHEMAS)
def test_no_value_satisfies_what_is_called_impossible(schema: dict[str, Any]) -> None:
    refused = disjoint(schema, schema)
    if refused:
        judge = jsonschema_rs.Draft202012Validator(schema)
        assert not any(judge.is_valid(value) for value in VALUES)
    whole = {"type": "object", "properties": {"p": schema}, "required": ["p"]}
    found = list(impossible_parts(whole, list(walk(whole))))
    assert not found or disjoint(whole, whole)
    assert not refused or may_be_impossible(schema) or not own_kinds(schema)
