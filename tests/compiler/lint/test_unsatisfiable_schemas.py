"""A schema that nothing satisfies is told once, at the innermost place; one that is written as `false` is not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest
from every_case import every_case

from instrc import (
    CompileError,
    compile,  # noqa: A004  -- the name of our own command
    problems,
)
from instrc.compiler.lint.keywords import suspicious_words  # one finding without those of the others

TEXT = {"type": "string"}
TWO = {"type": "object", "properties": {"a": {}, "b": {}}, "required": ["a", "b"]}
PAIR = {"type": "array", "minItems": 3, "uniqueItems": True}


def told(schema: Any) -> list[str]:
    return [problem.name for problem in suspicious_words(schema, lambda _pointer, **_: None)]


@every_case(
    ("schema", "words"),
    [
        (TWO | {"maxProperties": 1}, {"required", "maxProperties"}),
        ({"type": "object", "properties": {"a": {}}, "additionalProperties": False, "minProperties": 2}, None),
        ({"type": "integer", "minimum": 1, "maximum": 4, "multipleOf": 5}, {"minimum", "maximum", "multipleOf"}),
        ({"type": "integer", "exclusiveMinimum": 1, "exclusiveMaximum": 2}, {"exclusiveMinimum", "exclusiveMaximum"}),
        (PAIR | {"items": {"enum": [1, 2]}}, {"minItems", "uniqueItems", "items"}),
        (PAIR | {"items": {"type": "boolean"}}, {"minItems", "uniqueItems", "items"}),
        ({"type": "array", "contains": False}, {"type", "contains"}),
        ({"type": "array", "items": TEXT, "contains": {"type": "integer"}}, {"items", "contains"}),
        ({"type": "array", "contains": {}, "minContains": 3, "maxItems": 2}, {"contains", "minContains", "maxItems"}),
        ({"type": "array", "items": False, "minItems": 1}, {"items", "minItems"}),
        ({"type": "array", "prefixItems": [False], "minItems": 1}, {"prefixItems", "minItems"}),
        (TEXT | {"not": TEXT}, {"type", "not"}),
        ({"oneOf": [TEXT, TEXT]}, {"oneOf"}),
        ({"type": "integer", "anyOf": [TEXT]}, {"type", "anyOf"}),
        ({"type": "integer", "$ref": "#/$defs/text", "$defs": {"text": TEXT}}, {"type", "$ref"}),
        ({"enum": ["b", "c"], "pattern": "^a"}, {"enum", "pattern"}),
        (TEXT | {"enum": ["aaa"], "maxLength": 2}, {"enum", "maxLength"}),
        ({"if": {}, "then": False}, {"if", "then"}),
        (TWO | {"dependentRequired": {"a": ["c"]}, "maxProperties": 2}, {"required", "dependentRequired", "maxProperties"}),
        (TWO | {"dependentSchemas": {"a": False}}, {"required", "dependentSchemas"}),
        (TWO | {"patternProperties": {"^a": False}}, {"required", "patternProperties"}),
        (TWO | {"propertyNames": {"const": "a"}}, {"required", "propertyNames"}),
        (TWO | {"required": ["c"], "unevaluatedProperties": False}, {"required", "unevaluatedProperties"}),
        (TWO | {"properties": {"a": False, "b": {}}}, {"required", "properties"}),
        (TWO | {"properties": {"a": {"not": {}}, "b": {}}}, {"required", "properties"}),
        ({"const": 1, "enum": [2, 3]}, {"const", "enum"}),
        ({"$schema": "http://json-schema.org/draft-04/schema#", "type": "integer", "maximum": 2, "minimum": 1,
          "exclusiveMinimum": True, "exclusiveMaximum": True}, None),
    ],
)  # fmt: skip
def test_what_leaves_nothing_is_told_with_its_words(schema: Any, words: set[str] | None) -> None:
    around = {"type": "object", "properties": {"p": schema}, "required": ["p"]}
    for whole in (schema, around) if "$schema" not in schema and "$ref" not in schema else (schema,):
        found = list(suspicious_words(whole, lambda _pointer, **_: None))
        (problem,) = found
        assert isinstance(problem, problems.schemas.ImpossibleSchema)
        assert words is None or set(problem.words) == words


@every_case(
    "schema",
    [
        {"properties": {"a": False}},
        {"properties": {"a": {"not": {}}}, "required": ["b"]},
        {"not": {}},
        {"required": ["a"], "properties": {"a": False}},
        {"type": ["string", "null"], "pattern": "^ab$", "minLength": 3},
        {"pattern": "^ab$", "minLength": 3},
        TWO | {"maxProperties": 2},
        PAIR | {"items": {"type": ["boolean", "null"]}},
        TEXT | {"nullable": True, "enum": [None]},
        {"anyOf": [TEXT, False]},
        {"type": "object", "properties": {"kids": {"type": "array", "items": {"$ref": "#"}}}, "required": ["kids"]},
        {"type": "object", "properties": {"next": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}}, "required": ["next"]},
        {"properties": {"next": {"$ref": "#"}}, "required": ["next"]},
        {"$ref": "#"},
    ],
)
def test_what_leaves_something_or_is_written_so_is_not(schema: Any) -> None:
    assert told(schema) == []


@every_case(
    ("schema", "names"),
    [
        ({"type": "integer", "minimum": 5, "maximum": 1}, ["empty-range"]),
        ({"enum": []}, ["empty-enum"]),
        ({"type": "integer", "const": "1"}, ["excluded-value"]),
        (TEXT | {"enum": ["aa"], "maxLength": 1, "default": "a"}, ["refused-default", "impossible-schema"]),
    ],
)
def test_one_cause_is_told_once(schema: Any, names: list[str]) -> None:
    assert told({"type": "object", "properties": {"p": schema}, "required": ["p"]}) == names


DRAFT = TWO | {"properties": {"a": TEXT, "b": {"type": "integer", "multipleOf": 5}}}
OUTER = {"type": "object", "properties": {"body": {"type": "object", "maxProperties": 1}}}


@every_case(
    ("source", "place", "inside"),
    [
        ("prompt | Draft @ { maxProperties: 1 }", "maxProperties", ""),
        ('prompt | Draft @ { title: "T" } @ { properties: { b: { minimum: 1, maximum: 3 } } }', "minimum", "/properties/b"),
        ("prompt | Outer({ body: Draft })", "body", "/properties/body"),
        ("prompt | Never", "Never", ""),
    ],
)
def test_what_a_program_makes_impossible_is_an_error_where_it_is_written(
    tmp_path: Path, source: str, place: str, inside: str
) -> None:
    (tmp_path / "schemas").mkdir()
    for name, schema in {"draft": DRAFT, "outer": OUTER, "never": TWO | {"maxProperties": 0}}.items():
        (tmp_path / "schemas" / f"{name}.vibe.json").write_bytes(orjson.dumps(schema))
    (tmp_path / "program.aug").write_text(source)
    with pytest.raises(CompileError) as error:
        compile(str(tmp_path / "program.aug"))
    (problem,) = error.value.problems
    assert isinstance(problem, problems.schemas.ImpossibleSchema)
    assert problem.at is not None
    assert (problem.at.text.split("(")[0], problem.inside, problem.severity) == (place, inside, "error")
