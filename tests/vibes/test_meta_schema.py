"""The meta-schema for editors says of a vibe's form what `instrc check` says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import referencing
from every_case import every_case
from jsonschema import Draft202012Validator

import instrc
from instrc import CompileError, Report
from instrc.compiler.lint.review import review  # one vibe by itself, without a folder
from instrc.providers.codec import SomeCodec  # the schema is to have each codec
from instrc.text import files  # JSON text in and out, as the package writes it
from instrc.vibes.registry import Registry

META = json.loads(files.read("schemas", "meta/vibe.schema.json"))
PROCESS = Draft202012Validator(
    json.loads(files.read("schemas", "meta/process.schema.json")),
    registry=referencing.Registry().with_resource("vibe.schema.json", referencing.Resource.from_contents(META)),
)
MAP = json.loads(files.read("schemas", "meta/map.schema.json"))
PROCESSES = sorted((Path(__file__).parents[2] / "examples").glob("**/expected/**/*.process.json"))
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


@every_case("path", BUILT_IN, ids=lambda path: path.name)
def test_every_built_in_vibe_is_without_fault(path: Path) -> None:
    assert Draft202012Validator(META).is_valid(json.loads(path.read_text(encoding="utf-8")))
    assert complaints(path) == set()


@every_case(
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


@every_case("path", PROCESSES, ids=lambda path: path.name)
def test_every_process_of_the_examples_follows_the_schema_of_processes(path: Path) -> None:
    process = json.loads(path.read_text(encoding="utf-8"))
    assert [error.message for error in PROCESS.iter_errors(process)] == []
    for wrong in (
        {**process, "type": "array"},
        {**process, "properties": {}},
        {**process, "properties": {**process["properties"], "answer": {"type": "string"}}},
        {**process, "inputs": {"prompt": "text"}},
        {**process, "value": 7},
    ):
        assert not PROCESS.is_valid(wrong)


def test_the_vectors_for_engines_follow_the_schema_of_processes() -> None:
    vectors = [json.loads(path.read_text(encoding="utf-8"))["process"] for path in files.folder("schemas").glob("vectors/*.json")]
    processes = [each for each in vectors if any("Context" in name for name in each.get("properties", ()))]
    assert len(processes) > 25
    assert all(map(PROCESS.is_valid, processes))


def test_the_schema_of_maps_has_every_codec_with_its_members() -> None:
    """What is lowered for every target is held to it where the examples are lowered."""
    Draft202012Validator.check_schema(MAP)
    defs = {name.removesuffix("Codec"): schema for name, schema in MAP["$defs"].items() if name.endswith("Codec")}
    assert {name: set(schema["properties"]) - {"as"} for name, schema in defs.items()} == {
        codec.__struct_config__.tag: set(codec.__struct_encode_fields__) for codec in get_args(SomeCodec)
    }
    map_ = instrc.lower({"type": "object", "properties": {"a": {}}}, "openai", "it").map
    wrong = (
        map_ | {"instrc": 2},
        map_ | {"codec": {"as": "x"}},
        {key: map_[key] for key in map_ if key != "schema"},
        {"tools": {}},
    )
    assert Draft202012Validator(MAP).is_valid(map_)
    assert Draft202012Validator(MAP).is_valid({"instrc": 1, "target": "openai", "tools": {"it": map_}})
    assert not any(map(Draft202012Validator(MAP).is_valid, wrong))
