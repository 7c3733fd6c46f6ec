"""The meta-schema for editors says of a vibe's form what `instrc check` says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from instrc import CompileError, Report
from instrc.compiler.lint.review import review  # one vibe by itself, without a folder
from instrc.text import files  # JSON text in and out, as the package writes it
from instrc.vibes.registry import Registry

META = json.loads(files.read("schemas", "meta/vibe.schema.json"))
FORM = {"invalid-vibe", "invalid-schema", "forbidden-reference", "malformed-reference"}
BUILT_IN = sorted(files.folder("schemas").rglob("*.vibe.json"))


def complaints(path: Path) -> set[str]:
    registry, report = Registry(), Report()
    try:
        review(registry.open(path), registry, report)
    except CompileError as error:
        report.problems.extend(error.problems)
    return {problem.name for problem in report.problems}


def test_the_meta_schema_is_a_schema() -> None:
    Draft202012Validator.check_schema(META)


@pytest.mark.parametrize("path", BUILT_IN, ids=lambda path: path.name)
def test_every_built_in_vibe_is_without_fault(path: Path) -> None:
    assert Draft202012Validator(META).is_valid(json.loads(path.read_text(encoding="utf-8")))
    assert complaints(path) == set()


@pytest.mark.parametrize(
    "document",
    [
        *([], "x", 1, True, None, {}, {"schema": {}}, {"schema": 1}, {"schema": True}, {"schema": None}),
        *({"schema": {"type": "text"}}, {"type": "text"}, {"schema": {}, "type": "object"}, {"schema": {}, "$defs": {}}),
        *({"schema": {}, "title": "t", "input": 1, "solution": 2}, {"schema": "v1", "type": "object"}),
        *({"properties": {"schema": {"type": "object"}}}, {"properties": {"a": {"schema": {"x": 1}}}}),
        *({"properties": {"a": {"$ref": "http://x/y"}}}, {"properties": {"a": {"$ref": "#/$defs/b"}}, "$defs": {"b": True}}),
        *({"properties": {"a": {"$ref": "aug:/vibes/macros/Loop_Mixin"}}}, {"default": {"$ref": "http://x/y"}}),
        *({"properties": {"a": {"references": ["prompt"]}}}, {"properties": {"a": {"references": "prompt"}}}),
        *({"properties": {"a": {"references": [1]}}}, {"properties": {"a": {"references": [""]}}}),
        *({"properties": {"a": {"arguments": "prompt"}}}, {"properties": {"a": {"arguments": {"const": [1]}}}}),
        *({"properties": {"a": {"arguments": {"x": "prompt", "0": {"const": 1}}}}}, {"properties": {"a": {"arguments": 1}}}),
        *({"properties": {"a": {"arguments": ["prompt", {"const": None}]}}}, {"properties": {"a": {"arguments": {"x": 1}}}}),
        *(
            {"properties": {"a": {"activity": "go"}}},
            {"properties": {"a": {"activity": ""}}},
            {"properties": {"a": {"activity": {}}}},
        ),
    ],
    ids=json.dumps,
)
def test_both_agree_on_the_form_of_a_vibe(document: Any, tmp_path: Path) -> None:
    (tmp_path / "it.vibe.json").write_text(json.dumps(document), encoding="utf-8")
    assert Draft202012Validator(META).is_valid(document) == (not complaints(tmp_path / "it.vibe.json") & FORM)
