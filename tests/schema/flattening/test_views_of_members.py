"""What a flat schema says of one member and of the elements of a list; null and annotations beside it."""

from __future__ import annotations

from typing import Any

from every_case import every_case
from jsonschema import Draft202012Validator

from instrc.schema.annotate import nullable, write_beside
from instrc.schema.flattening.flatten import flatten
from instrc.schema.flattening.parts import either, elements, member

TEXT, NUMBER, NULL = {"type": "string"}, {"type": "number"}, {"type": "null"}


def an_object(*required: str, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, **({"required": list(required)} if required else {})}


NODE = an_object("next", next={"$ref": "#/$defs/node"})
DEFINED = {"$defs": {"node": NODE, "alias": {"$ref": "#/$defs/node"}, "x": an_object("x", x=TEXT)}}


def nested_unions(levels: int) -> Any:
    return {"anyOf": [{}], "oneOf": [nested_unions(levels - 1)]} if levels else an_object("x", x=TEXT)


@every_case(
    ("schema", "found", "optional"),
    [
        *((nested_unions(levels), TEXT, False) for levels in range(1, 9)),
        (True, {}, False),
        ({}, {}, False),
        ({"type": "object"}, {}, False),
        (an_object("x", x=TEXT), TEXT, False),
        (an_object(x=TEXT), TEXT, True),
        (an_object("x", x=True), {}, False),
        ({"patternProperties": {"^x": TEXT}}, TEXT, True),
        ({"patternProperties": {"^y": TEXT}, "additionalProperties": NUMBER}, NUMBER, True),
        ({**an_object(y=TEXT), "additionalProperties": True}, {}, False),
        ({"type": ["object", "null"], "properties": {"x": TEXT}, "required": ["x"]}, TEXT, True),
        ({"anyOf": [an_object("x", x=TEXT), an_object("x", x=NUMBER)]}, {"anyOf": [TEXT, NUMBER]}, False),
        ({"anyOf": [an_object("x", x=TEXT), an_object("x", x=TEXT)]}, TEXT, False),
        ({"oneOf": [an_object("x", x=TEXT), an_object(y=TEXT)]}, TEXT, True),
        ({"anyOf": [an_object("x", x=TEXT), NULL]}, TEXT, True),
        ({"anyOf": [an_object("x", x=TEXT), True]}, {}, False),
        ({**an_object("x", x=TEXT), "anyOf": [{"required": ["y"]}, False]}, TEXT, False),
        ({"properties": {"x": {"maxLength": 3}}, "allOf": [an_object("x", x=TEXT)]}, {"maxLength": 3, **TEXT}, False),
        ({"anyOf": [an_object("x", x=TEXT), {}], "oneOf": [an_object(x=NUMBER)]}, NUMBER, True),
        ({"required": ["x"], "$ref": "#/$defs/open", "$defs": {"open": an_object(x=TEXT)}}, TEXT, False),
        ({**an_object("x", x=TEXT), "anyOf": [{"$ref": "#"}, {"type": "object"}]}, TEXT, False),
        ({"allOf": [an_object("x", x=TEXT), {"minProperties": 1}]}, TEXT, False),
        ({"$ref": "#/$defs/x", **DEFINED}, TEXT, False),
        ({"anyOf": [{"$ref": "#/$defs/x"}], **DEFINED}, TEXT, False),
        ({"$ref": "#/$defs/node", **DEFINED}, {}, None),
        ({"$ref": "https://elsewhere.example"}, {}, False),
        ({"anyOf": [{"$ref": "#"}]}, {}, False),
        ({**an_object("x", x={"$ref": "#"}), **DEFINED}, {}, False),
    ],
)
def test_a_member_is_what_the_branches_that_have_it_say(schema: Any, found: Any, optional: Any) -> None:
    answer = member(schema, "next" if optional is None else "x")
    if optional is None:  # a part that refers to definitions goes with them
        assert answer.schema == {"$ref": "#/$defs/node", "$defs": DEFINED["$defs"]}
    else:
        assert (answer.schema, answer.optional) == (found, optional)


@every_case(
    ("schema", "known", "is_list"),
    [
        (an_object(y=TEXT, z=TEXT), ("y", "z"), False),
        (an_object(x=False, y=TEXT), ("x", "y"), False),
        ({"type": "object", "additionalProperties": False}, (), False),
        ({"type": "array", "items": TEXT}, (), True),
        ({"type": ["array", "null"]}, (), True),
        ({"anyOf": [{"type": "array"}, an_object(y=TEXT)]}, ("y",), False),
        (TEXT, (), False),
        ({"const": [1]}, (), True),
        ({"enum": ["a", 1]}, (), False),
        (False, (), False),
        ({**an_object(y=TEXT), "additionalProperties": False, "anyOf": [an_object(x=TEXT)]}, ("y",), False),
    ],
)
def test_where_no_member_is_its_neighbours_are_told(schema: Any, known: tuple[str, ...], is_list: bool) -> None:  # noqa: FBT001
    answer = member(schema, "x")
    assert (answer.schema, answer.known, answer.is_list) == (None, known, is_list)


@every_case(
    ("schema", "found"),
    [
        (True, {}),
        ({}, {}),
        ({"type": "array"}, {}),
        ({"type": "array", "items": TEXT}, TEXT),
        ({"type": ["array", "null"], "items": TEXT}, TEXT),
        ({"type": "array", "prefixItems": [NUMBER], "items": TEXT}, {"anyOf": [NUMBER, TEXT]}),
        ({"type": "array", "prefixItems": [NUMBER], "items": False}, NUMBER),
        ({"type": "array", "items": False}, False),
        ({"anyOf": [{"type": "array", "items": TEXT}, NULL, {"type": "array", "items": NUMBER}]}, {"anyOf": [TEXT, NUMBER]}),
        (TEXT, None),
        (an_object(x=TEXT), None),
        ({"properties": {"x": TEXT}}, None),
        (False, None),
    ],
)
def test_the_elements_of_a_list_are_those_of_all_that_may_be_one(schema: Any, found: Any) -> None:
    assert elements(schema) == found


@every_case(
    ("schemas", "made"),
    [
        ([], False),
        ([TEXT], TEXT),
        ([TEXT, TEXT], TEXT),
        ([TEXT, NUMBER], {"anyOf": [TEXT, NUMBER]}),
        ([{"anyOf": [TEXT, NUMBER]}, NUMBER, NULL], {"anyOf": [TEXT, NUMBER, NULL]}),
        ([{"const": 1}, {"const": True}], {"anyOf": [{"const": 1}, {"const": True}]}),
        ([TEXT, {}], {}),
        ([True, TEXT], {}),
    ],
)
def test_one_of_some_schemas_says_each_once(schemas: list[Any], made: Any) -> None:
    assert either(schemas) == made


VALUES: list[Any] = [None, True, 0, 1, "", "a", [], [None], {}, {"x": 1}, {"x": None}]


@every_case(
    "schema",
    [
        True,
        False,
        TEXT,
        {"type": ["string", "null"]},
        {"type": "object", "properties": {"x": NUMBER}, "required": ["x"]},
        {"const": 1},
        {"const": None},
        {"enum": [1, "a"]},
        {"enum": [None]},
        {"type": "string", "enum": ["a"], "title": "A letter"},
        {"anyOf": [TEXT, NUMBER], "description": "Either."},
        {"not": NULL},
        {"minLength": 1},
    ],
)
def test_null_beside_a_schema_admits_null_and_nothing_else_new(schema: Any) -> None:
    made, before = Draft202012Validator(nullable(schema)), Draft202012Validator(schema)
    for value in VALUES:
        assert made.is_valid(value) is (value is None or before.is_valid(value)), value
    if isinstance(schema, dict):
        assert {key: nullable(schema).get(key) for key in ("title", "description")} == {
            key: schema.get(key) for key in ("title", "description")
        }


def intersect(left: Any, right: Any) -> Any:
    return flatten({"allOf": [left, right]})


@every_case(
    ("schema", "annotation", "made"),
    [
        (an_object(x=TEXT), {"minProperties": 1}, {**an_object(x=TEXT), "minProperties": 1}),
        (an_object(x=TEXT), an_object(y=TEXT), an_object(x=TEXT, y=TEXT)),
        (
            {**an_object(x=TEXT), "additionalProperties": False},
            an_object(y=TEXT),
            {**an_object(x=TEXT, y=TEXT), "additionalProperties": False},
        ),
        (an_object(x=TEXT), {"additionalProperties": False}, {**an_object(x=TEXT), "additionalProperties": False}),
        (
            {**an_object(x=TEXT), "additionalProperties": NUMBER},
            {**an_object(y=TEXT), "additionalProperties": {"minimum": 1}},
            {**an_object(x=TEXT, y=TEXT), "additionalProperties": {"type": "number", "minimum": 1}},
        ),
        (
            an_object(x=TEXT),  # what the one keyword speaks of is not left for the other
            {"additionalProperties": NUMBER, "unevaluatedProperties": False},
            {**an_object(x=TEXT), "additionalProperties": NUMBER},
        ),
        (True, {"minProperties": 1}, {"minProperties": 1}),
        ({"type": "string", "additionalProperties": NUMBER}, {"type": "null", "additionalProperties": TEXT}, False),
    ],
)
def test_what_an_annotation_closes_is_the_whole(schema: Any, annotation: Any, made: Any) -> None:
    assert write_beside(schema, annotation, intersect) == made
