"""The commands that work on JSON: `flatten`, `split`, `lift`, `targets`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_lines import Instrc

from instrc import lower

SCHEMA = {"allOf": [{"type": "object"}, {"properties": {"_note": {"type": "string"}, "text": {"$ref": "#/$defs/t"}}}]}
SCHEMA |= {"$defs": {"t": {"type": "string"}}}
FLAT = {"type": "object", "properties": {"_note": {"type": "string"}, "text": {"type": "string"}}}


@pytest.fixture(autouse=True)
def schema(folder: Path) -> None:
    (folder / "schema.json").write_text(json.dumps(SCHEMA))


def test_a_schema_is_flattened(instrc: Instrc) -> None:
    done = instrc("flatten", "schema.json")
    assert (done.code, done.err) == (0, "")
    assert json.loads(done.out) == FLAT


def test_the_standard_input_is_flattened(process: Instrc) -> None:
    assert json.loads(process("flatten", "-", stdin=json.dumps(SCHEMA).encode()).out) == FLAT
    assert process("flatten", "-", stdin=b"true").out == "true\n"
    assert process("flatten", "-", stdin=b"\xef\xbb\xbf{}").out == "{}\n"


def test_vibes_of_both_shapes_are_schemas_with_their_registry(instrc: Instrc, folder: Path) -> None:
    (folder / "schemas" / "polite.vibe.json").write_text('{ "schema": { "$ref": "aug:greet", "title": "Polite" }, "input": 1 }')
    flat = json.loads(instrc("flatten", "schemas/polite.vibe.json").out)
    assert (flat["title"], flat["type"]) == ("Polite", "object")


def test_references_out_of_reach_are_problems(instrc: Instrc, folder: Path) -> None:
    for reference, name in {
        "https://example.org/a.json": "forbidden-reference",
        "file:///etc/passwd": "forbidden-reference",
        "aug:no/such": "unresolved-reference",
        "#/$defs/none": "unresolved-reference",
    }.items():
        (folder / "bad.json").write_text(json.dumps({"properties": {"a": {"$ref": reference}}}))
        done = instrc("flatten", "bad.json", "--format", "json")
        assert (done.code, done.out) == (1, "")
        (problem,) = json.loads(done.err)
        assert (problem["name"], problem["path"], problem["line"]) == (name, "bad.json", 1)


@pytest.mark.parametrize("data", [b"", b"{", b"[1, 2]", b"nul", b"\xff", b'{"a": 1,}', b'"text"', b"[" * 100_000])
@pytest.mark.parametrize("command", [["flatten", "bad.json"], ["split", "bad.json", "schema.json"]])
def test_what_is_no_schema_is_a_problem(instrc: Instrc, folder: Path, data: bytes, command: list[str]) -> None:
    (folder / "bad.json").write_bytes(data)
    done = instrc(*command, "--format", "json")
    assert (done.code, done.out) == (1, "")
    assert next(problem["name"] for problem in json.loads(done.err)) in {"invalid-json", "invalid-schema"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"type": "strng"}', '`/type` is not valid: "strng" is not a type'),
        ('{"properties": {"a": {"type": ["object", "strng"]}}}', '`/properties/a/type/1` is not valid: "strng" is not a type'),
        ('{"type": "object", "type": "string"}', "this is not JSON: the key `type` is written twice in one object"),
    ],
)
@pytest.mark.parametrize("command", [["flatten", "bad.json"], ["split", "bad.json", "schema.json"]])
def test_what_is_wrong_inside_a_schema_is_a_problem(
    instrc: Instrc, folder: Path, command: list[str], text: str, message: str
) -> None:
    (folder / "bad.json").write_text(text)
    done = instrc(*command, "--format", "json")
    assert (done.code, done.out) == (1, "")
    assert {problem["message"] for problem in json.loads(done.err)} == {message}
    done = instrc("diff", "bad.json", "schema.json")
    assert (done.code, done.out) == (1, "")
    assert message in done.err


def test_an_answer_is_divided_by_its_schema(instrc: Instrc, folder: Path) -> None:
    (folder / "answer.json").write_text('{ "_note": "hm", "text": "hi", "_free": { "_x": 1 } }')
    assert json.loads(instrc("split", "schema.json", "answer.json").out) == {
        "output": {"text": "hi", "_free": {"_x": 1}},
        "thoughts": {"_note": "hm"},
        "metrics": {},
    }


def test_an_answer_may_come_by_the_standard_input(process: Instrc) -> None:
    assert json.loads(process("split", "schema.json", "-", stdin=b'{"text": 1}').out)["output"] == {"text": 1}


def test_what_was_lowered_is_lifted_again(instrc: Instrc, process: Instrc, folder: Path) -> None:
    (folder / "a.aug").write_text(
        'tool draft = @{ type: "object", properties: { _why: { type: "string" }, "план": { type: "string" } } };'
    )
    assert instrc("compile", "a.aug", "--target", "anthropic-strict", "--map", "map.json").code == 0
    keys = json.loads((folder / "map.json").read_text())["keys"]
    message = {"type": "tool_use", "id": "1", "name": "draft", "input": dict(zip(keys, ["because", "go"], strict=True))}
    (folder / "answer.json").write_text(json.dumps({"content": [message], "stop_reason": "tool_use"}))
    done = instrc("lift", "--map", "map.json", "answer.json")
    assert (done.code, done.err) == (0, "")
    (call,) = json.loads(done.out)["calls"]
    assert call["value"] == {"_why": "because", "план": "go"}
    assert (call["output"], call["thoughts"]) == ({"план": "go"}, {"_why": "because"})
    piped = process("lift", "--map", "map.json", "-", stdin=(folder / "answer.json").read_bytes())
    assert piped == done


def test_targets_are_listed_for_people_and_programs(instrc: Instrc) -> None:
    listed = json.loads(instrc("targets", "--format", "json").out)
    names = [target["name"] for target in listed]
    assert {"openai", "anthropic-strict", "gemini", "mcp"} <= set(names)
    text = instrc("targets").out
    assert all(f"\n{name} " in f"\n{text}" for name in names)
    openai = next(target for target in listed if target["name"] == "openai")
    assert openai["limits"]["properties"] == 5000
    assert all(fact["source"] and fact["date"] for fact in openai["facts"])
    assert "fine-tuned models do not enforce minLength and maxLength" in text
    assert text.count("the limit of the compiled grammar may be reached below 20, 24 and 16") == 4  # Anthropic's and Bedrock's


def test_a_mistake_says_which_of_two_files_it_is_in(instrc: Instrc, folder: Path) -> None:
    (folder / "answer.json").write_text("{}")
    (folder / "notes.json").write_text('{ "remember": "the milk" }')
    assert "notes.json:1:1: error: this is not a reverse map" in instrc("lift", "--map", "notes.json", "answer.json").err


def test_a_program_where_json_is_expected_is_told_as_one(instrc: Instrc, folder: Path) -> None:
    (folder / "it.aug").write_text("Draft")
    assert "`it.aug` is a program: `instrc compile it.aug` writes its schema as JSON" in instrc("flatten", "it.aug").err


def test_an_answer_with_a_byte_that_is_no_text_is_told_at_its_place(instrc: Instrc, folder: Path) -> None:
    (folder / "map.json").write_text(json.dumps(lower(FLAT, "openai").map))
    (folder / "answer.json").write_bytes(b'{"text": "\xff", "_note": null}')
    done = instrc("lift", "answer.json", "--map", "map.json", "--format", "json")
    assert (done.code, done.out, done.problem_names()) == (1, "", ["invalid-json"])
