"""Keywords that do nothing, and values that their own schema refuses, are told; what has an effect is not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from every_case import every_case

from instrc import (
    CompileWarning,
    Problem,
    compile,  # noqa: A004  -- the name of our own command
    problems,
)
from instrc.compiler.lint.keywords import suspicious_words  # one finding without those of the others
from instrc.compiler.workspace import check_files

TEXT = {"type": "string"}
DRAFT_4 = "http://json-schema.org/draft-04/schema#"
DRAFT_7 = "http://json-schema.org/draft-07/schema#"
LATEST = "https://json-schema.org/draft/2020-12/schema"


def found(schema: Any, *allowed: str) -> list[Problem]:
    return list(suspicious_words(schema, lambda _pointer, **_: None, frozenset(allowed)))


def facts(schema: Any) -> list[tuple[str, str]]:
    return [(each.word, each.cause) for each in found(schema) if isinstance(each, problems.schemas.IdleKeyword)]


@every_case(
    ("schema", "word", "cause"),
    [
        ({"type": "string", "maxItems": 3}, "maxItems", "type"),
        ({"type": "integer", "minLength": 3}, "minLength", "type"),
        ({"type": ["string", "null"], "properties": {}}, "properties", "type"),
        ({"enum": ["a", "b"], "maximum": 3}, "maximum", "type"),
        ({"type": "integer", "format": "date"}, "format", "type"),
        ({"type": "string", "anyOf": [{"maxItems": 3}, {}]}, "maxItems", "type"),
        ({"allOf": [{"type": "string"}, {"maxItems": 3}]}, "maxItems", "type"),
        ({"then": TEXT}, "then", "alone"),
        ({"else": TEXT}, "else", "alone"),
        ({"if": TEXT}, "if", "alone"),
        ({"minContains": 2}, "minContains", "alone"),
        ({"maxContains": 2}, "maxContains", "alone"),
        ({"additionalItems": False}, "additionalItems", "dialect"),
        ({"dependencies": {"a": ["b"]}}, "dependencies", "dialect"),
        ({"divisibleBy": 2}, "divisibleBy", "dialect"),
        ({"nullable": "yes", **TEXT}, "nullable", "value"),
        ({"$schema": LATEST, "nullable": True, **TEXT}, "nullable", "dialect"),
        ({"$schema": DRAFT_7, "prefixItems": [TEXT]}, "prefixItems", "dialect"),
        ({"$schema": DRAFT_4, "const": 1}, "const", "dialect"),
        ({"$schema": DRAFT_7, "items": TEXT, "additionalItems": False}, "additionalItems", "items"),
        ({"$schema": DRAFT_7, "$ref": "#/definitions/n", "maximum": 1, "definitions": {"n": {}}}, "maximum", "reference"),
    ],
)
def test_a_keyword_that_does_nothing_is_told(schema: Any, word: str, cause: str) -> None:
    assert facts({"properties": {"p": TEXT, **({} if "$schema" in schema else {"q": schema})}} | schema)[-1:] == [(word, cause)]


@every_case(
    ("schema", "dialect"),
    [
        ({"$schema": DRAFT_7, "prefixItems": [TEXT]}, "JSON Schema draft-07"),
        ({"$schema": "https://spec.openapis.org/oas/3.0/schema/2021-09-28", "const": 1}, "OpenAPI 3.0"),
        ({"divisibleBy": 2}, "JSON Schema 2020-12"),
    ],
)
def test_the_dialect_that_does_not_have_a_word_is_called_by_its_name(schema: Any, dialect: str) -> None:
    assert [each.dialect for each in found(schema) if isinstance(each, problems.schemas.IdleKeyword)] == [dialect]


def test_values_that_are_told_take_one_line_and_thirty_characters() -> None:
    [problem] = found({"type": "integer", "enum": ["x" * 28, "x" * 29, {"a": [1]}]})
    assert isinstance(problem, problems.schemas.ExcludedValue)
    assert problem.values == (f'"{"x" * 28}"', f'"{"x" * 28}…', '{"a":[1]}')


@every_case(
    "schema",
    [
        {"maxItems": 3},
        {"type": ["string", "array"], "maxItems": 3},
        {"type": "number", "minimum": 1},
        {"type": "integer", "minimum": 1, "format": "int64"},
        {"anyOf": [{"type": "string"}, {"type": "array"}], "maxItems": 3},
        {"type": "object", "anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
        {"if": TEXT, "then": TEXT},
        {"if": TEXT, "else": TEXT},
        {"if": {"properties": {"a": {}}}, "unevaluatedProperties": False},
        {"contains": TEXT, "minContains": 2},
        {"nullable": True, **TEXT},
        {"$schema": LATEST, "nullable": False, **TEXT},
        {"$schema": DRAFT_7, "dependencies": {"a": ["b"]}, "definitions": {"n": {}}},
        {"$schema": DRAFT_7, "items": [TEXT], "additionalItems": False},
        {"$schema": DRAFT_7, "$ref": "#/definitions/n", "description": "It.", "definitions": {"n": {}}},
        {"properties": {"then": TEXT, "maxItems": TEXT}, "type": "object"},
    ],
)
def test_a_keyword_that_has_an_effect_is_not_told(schema: Any) -> None:
    assert facts(schema) == []


def test_the_hint_names_the_word_that_was_intended() -> None:
    (problem,) = found({"type": "string", "maxItems": 3})
    assert problem.message == "`maxItems` has no effect: it applies to an array, and only a string is allowed here"
    assert problem.hint == "write `maxLength`, or correct the `type`"


def test_a_word_listed_in_the_settings_is_not_told() -> None:
    assert found({"type": "string", "maxItems": 3}, "maxItems") == []


@every_case(
    ("schema", "word"),
    [
        ({"type": "integer", "default": "one"}, "default"),
        ({"type": "integer", "examples": [1, "two"]}, "examples"),
        ({"type": "integer", "example": "one"}, "example"),
        ({"type": "string", "default": None}, "default"),
        ({"$ref": "#/$defs/n", "default": 3, "$defs": {"n": TEXT}}, "default"),
        ({"type": "string", "format": "date", "default": "tomorrow"}, "default"),
        ({"$schema": DRAFT_4, "minimum": 1, "exclusiveMinimum": True, "default": 1}, "default"),
        ({"type": "object", "required": ["a"], "default": {}}, "default"),
    ],
)
def test_a_default_and_an_example_that_the_schema_refuses_are_told(schema: Any, word: str) -> None:
    assert [each.word for each in found(schema) if isinstance(each, problems.schemas.RefusedDefault)] == [word]


@every_case(
    "schema",
    [
        {"type": "integer", "default": 1},
        {"type": "string", "nullable": True, "default": None},
        {"type": ["string", "null"], "default": None},
        {"$ref": "aug:somewhere/else", "default": 3},
        {"$ref": "#/$defs/n", "default": "x", "$defs": {"n": TEXT}},
        {"$schema": DRAFT_4, "const": 2, "default": 1},
        {"$schema": DRAFT_7, "items": [TEXT], "default": ["x"]},
        {"default": {"type": "integer", "default": "no schema but data"}},
    ],
)
def test_a_default_that_may_be_is_not_told(schema: Any) -> None:
    assert found(schema) in ([], [each for each in found(schema) if isinstance(each, problems.schemas.IdleKeyword)])


def test_values_that_the_type_excludes_are_told() -> None:
    (member,) = found({"type": "integer", "enum": [1, "2", "3"]})
    assert member.message == '`type` excludes `"2"`, `"3"` of this `enum`'
    (constant,) = found({"type": "integer", "const": "2", "default": "2"})
    assert isinstance(constant, problems.schemas.ExcludedValue)
    assert constant.every
    (items,) = found({"type": "array", "items": TEXT, "enum": ["a", "b"]})
    assert items.hint == "to list the values of the items, write the `enum` under `items`"
    assert found({"type": ["integer", "null"], "enum": [1, 2.0, None]}) == []
    assert found({"type": "integer", "nullable": True, "enum": [1, None]}) == []


def test_an_empty_enum_is_told() -> None:
    assert [each.name for each in found({"type": "string", "enum": []})] == ["empty-enum"]


def test_annotations_of_programs_are_looked_at_too(tmp_path: Path) -> None:
    (tmp_path / "schemas").mkdir()
    (tmp_path / "schemas/greet.vibe.json").write_text(json.dumps({"type": "object", "properties": {"text": TEXT}}))
    file = tmp_path / "hello.aug"
    file.write_text('"Hello" | Greet @ { properties: { text: { type: "string", maxItems: 3 } } }\n', encoding="utf-8")
    with pytest.warns(CompileWarning, match="idle-keyword: `maxItems` has no effect"):
        compile(str(file))


def test_settings_for_vibes_that_do_not_exist_are_told(tmp_path: Path) -> None:
    (tmp_path / "schemas/judges").mkdir(parents=True)
    for name in ("greet", "judges/taste"):
        (tmp_path / f"schemas/{name}.vibe.json").write_text('{"type": "object", "properties": {}}')
    (tmp_path / "pyproject.toml").write_text(
        "[tool.instrc.models]\n"
        + "".join(f'"{entry}" = "sample"\n' for entry in ("Greet", "ta*", "judges/*", "aug:judges/taste", "gret", "jugdes/*"))
        + '[tool.instrc.checks]\n"greet" = "a:b"\n"grete" = "a:b"\n"a_key_by_hand" = "a:b"\n'
    )
    found = check_files([str(tmp_path / "schemas/greet.vibe.json")])
    assert [(each.entry, each.nearest[:1]) for each in found if isinstance(each, problems.settings.IdleSetting)] == [
        ("gret", ("greet",)),
        ("jugdes/*", ()),
        ("grete", ("greet",)),
    ]


@every_case(
    ("text", "told"),
    [
        ("Say hello to {{name}}.", ["{{name}}"]),
        ("Say hello to ${user.name} and <%= x %>.", ["${user.name}", "<%= x %>"]),
        ("Write '{{name}}' where the name goes, or `${x}`.", []),
        ("A set {a} of JSON {}.", []),
    ],
)
def test_places_of_templates_in_a_vibe_are_told(tmp_path: Path, text: str, told: list[str]) -> None:
    file = tmp_path / "greet.vibe.json"
    file.write_text(json.dumps({"type": "object", "description": text, "properties": {"a": TEXT}}))
    assert [each.at.text for each in check_files([str(file)]) if each.name == "placeholder" and each.at] == told
    (tmp_path / "pyproject.toml").write_text("[tool.instrc]\ntemplates = true\n")
    assert check_files([str(file)]) == []


def test_a_default_in_an_empty_range_is_no_second_mistake() -> None:
    assert [each.name for each in found({"type": "integer", "minimum": 5, "maximum": 1, "default": 3})] == ["empty-range"]


def test_what_the_default_of_a_mixin_says_is_told_to_have_no_effect(tmp_path: Path) -> None:
    slot = {"type": "object", "description": "The task goes here.", "properties": {"text": {"maxLength": 3}}}
    schema = {"type": "object", "properties": {"default": slot, "_why": {"type": "string"}}}
    for name, expected in (("Low_Mixin", [("properties", "slot")]), ("low", [])):
        path = tmp_path / f"{name}.vibe.json"
        path.write_text(json.dumps(schema))
        told = check_files([str(path)])
        assert [(each.word, each.cause) for each in told if isinstance(each, problems.schemas.IdleKeyword)] == expected
