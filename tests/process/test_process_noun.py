"""A process is read from its JSON, however it is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from every_case import every_case
from objects import an_object as chunk

from instrc import CompileError
from instrc.process.flow import Chunk, Constant, Each, Listed, Named, Read, Repeat, Try, When, reads_of, value_of
from instrc.process.process import Process
from instrc.text.jsontext import dumps, loads

EXAMPLES = Path(__file__).parents[2] / "examples"
PROCESSES = sorted(EXAMPLES.glob("*/expected/**/*.process.json"))


def body(**contexts: Any) -> Any:
    return chunk(**contexts)


@every_case("path", PROCESSES, ids=lambda path: path.parent.parent.name + "/" + path.name)
def test_every_process_of_the_examples_is_read_and_written_without_a_loss(path: Path) -> None:
    document = loads(path.read_bytes())
    process = Process.from_json(document)
    assert process.to_json() == document
    assert Process.from_json(process.to_json()) == process
    if not list(EXAMPLES.glob(f"**/{path.name.removesuffix('.process.json')}.vibe.json")):  # written by hand, in another order
        assert dumps(process.to_json()) == dumps(document)
    assert [context.name for context in process.body.contexts] == list(document["properties"])
    chunks = [context for context in process.contexts() if isinstance(context, Chunk)]
    assert chunks
    assert all(chunk.steps for chunk in chunks)


@every_case(
    ("text", "names"),
    [
        ("prompt", ["prompt"]),
        ("step4_find_user.output", ["step4_find_user", "output"]),
        ('step1_page."b c"', ["step1_page", "b c"]),
        ('step1_page."a.b".c', ["step1_page", "a.b", "c"]),
        ('"\\"q\\"".x', ['"q"', "x"]),
        ("шаг1_найти.что", ["шаг1_найти", "что"]),
        ("a..b", ["a", "", "b"]),
        ('a."b', ["a", '"b']),
        ("", [""]),
    ],
)
def test_a_path_is_names_and_json_strings_between_dots(text: str, names: list[str]) -> None:
    assert [segment.name for segment in Read.parse(text).segments] == names


def test_values_are_paths_constants_lists_and_objects_of_these() -> None:
    value = value_of({"a": "step1.x", "b": {"const": {"path": 1}}, "c": ["p", {"path": "q", "optional": True}], "path": "r"})
    assert isinstance(value, Named)
    assert value.members["b"] == Constant({"path": 1})
    assert isinstance(value.members["c"], Listed)
    assert [read.text for read in reads_of(value)] == ["step1.x", "p", "q", "r"]
    assert [read.optional for read in reads_of(value)] == [False, False, True, False]


def test_blocks_are_read_from_inside_out() -> None:
    document = {
        "type": "object",
        "properties": {"llmContext1": chunk(step1_a={"type": "object"}), "eachContext1": {"$ref": "#/$defs/EACH_1"}},
        "$defs": {
            "EACH_1": {
                "type": "array",
                "items": body(tryContext1={"$ref": "#/$defs/TRY_1"}),
                "maxItems": 7,
                "each": {"item": "person", "in": "step1_a.list", "value": "step4_try", "key": "step5_each", "within": "PT1H"},
            },
            "TRY_1": {
                "anyOf": [
                    {**body(branch={"const": 0}, serverContext1=chunk(step2_b={"activity": "B"})), "try": {"value": "step2_b"}},
                    {**body(branch={"const": 1}, whenContext1={"$ref": "#/$defs/WHEN_1"}), "try": {"value": {"const": 1}}},
                ],
                "try": {"key": "step4_try"},
            },
            "WHEN_1": {
                "anyOf": [
                    {
                        **body(branch={"const": 0}, serverContext2=chunk(step3_c={"fail": True})),
                        "when": {"path": "error.kind", "schema": {"const": "timeout"}},
                    },
                    {**body(branch={"const": 1}), "when": {"anyOf": [{"path": "a", "schema": {}}, {"path": "b", "schema": {}}]}},
                    {"type": "null"},
                ],
                "when": {},
            },
        },
    }
    process = Process.from_json(document)
    each = process.body.contexts[1]
    assert isinstance(each, Each)
    assert (each.item, each.most, each.key, each.within) == ("person", 7, "step5_each", "PT1H")
    [attempt] = each.body.contexts
    assert isinstance(attempt, Try)
    [when] = attempt.otherwise.contexts
    assert isinstance(when, When)
    assert [len(branch.condition.tests) for branch in when.branches if branch.condition] == [1, 2]
    assert [context.name for context in process.contexts()] == [
        "llmContext1",
        "eachContext1",
        "tryContext1",
        "serverContext1",
        "whenContext1",
        "serverContext2",
    ]


def test_a_repeat_knows_its_else() -> None:
    document = body(
        repeatContext1={
            "type": "array",
            "items": body(llmContext1=chunk(step1_a={})),
            "maxItems": 8,
            "repeat": {
                "until": {"path": "step1_a.ok", "schema": {"const": True}},
                "keep": 4,
                "hands": ["step1_a"],
                "value": "step1_a",
            },
        },
        elseContext1={"anyOf": [{**body(llmContext1=chunk(step2_b={})), "else": {"of": "repeatContext1"}}, {"type": "null"}]},
    )
    repeat = Process.from_json(document).body.contexts[0]
    assert isinstance(repeat, Repeat)
    assert (repeat.most, repeat.keep, repeat.hands, repeat.otherwise) == (8, 4, ("step1_a",), "elseContext1")


def test_blocks_may_be_nested_deeper_than_the_stack_of_python() -> None:
    inner: Any = body(llmContext1=chunk(step1_a={}))
    for _ in range(900):
        inner = body(doContext1={**inner, "do": {}})
    assert len(list(Process.from_json(inner).contexts())) == 901


@every_case(
    "document",
    [
        None,
        [],
        "text",
        {},
        {"properties": {}},
        {"properties": {"step1": {}}},
        {"properties": {"llmContext1": True}},
        {"properties": {"llmContext1": {"$ref": "#/$defs/none"}}},
        {"properties": {"llmContext1": {"$ref": "#/properties/llmContext1"}}},
        {"properties": {"llmContext1": {"properties": []}}},
        {"properties": {"whenContext1": {}}},
        {"properties": {"whenContext1": {"anyOf": []}}},
        {"properties": {"eachContext1": {"items": {}}}},
        {"properties": {"eachContext1": {"items": {}, "each": {"item": 1, "in": "a"}}}},
        {"properties": {"tryContext1": {"anyOf": [{}], "try": {}}}},
        {"properties": {"elseContext1": {"anyOf": [{"else": {"of": "repeatContext1"}}]}}},
        {"properties": {"doContext1": {"do": {}, "properties": {"doContext1": {"$ref": "#/properties/doContext1"}}}}},
        {"properties": {"repeatContext1": {"items": {}, "repeat": {"until": {"schema": {}}}}}},
    ],
    ids=str,
)
def test_what_is_no_process_is_one_clear_problem(document: Any) -> None:
    with pytest.raises(CompileError) as raised:
        Process.from_json(document)
    [problem] = raised.value.problems
    assert problem.name == "unreadable-process"


@every_case(
    ("word", "value", "sound"),
    [
        ("within", "P2D", True),
        ("within", "PT0.5S", True),
        ("within", "P1W", True),
        ("within", "P1Y", False),
        ("delay", "P3M", False),
        ("within", "P1W2D", False),
        ("within", "PT0,5S", False),
        ("within", "P\u09e8D", False),
        ("within", "PT0S", False),
        ("delay", "PT0S", True),
        ("delay", 30, False),
    ],
)
def test_deadlines_and_delays_are_those_that_a_program_may_write(word: str, value: Any, *, sound: bool) -> None:
    step = {"type": "object", "activity": "Send_Activity", word: value}
    of_step = {"serverContext1": chunk(step1_send=step)}
    of_block = {"doContext1": body(llmContext1=chunk(a={"type": "object"})) | {"do": {"value": "a", word: value}}}
    for contexts in (of_step, of_block):
        if sound:
            assert Process.from_json(body(**contexts)).to_json() == body(**contexts)
            continue
        with pytest.raises(CompileError, match="duration of ISO 8601") as raised:
            Process.from_json(body(**contexts))
        assert len(raised.value.problems) == 1


@every_case("properties", [None, 5, "x", [], False])
def test_a_chunk_whose_steps_are_no_object_is_told_with_its_place(properties: Any) -> None:
    document = body(llmContext1={"type": "object", "properties": properties}, serverContext1=chunk(a={"activity": "A_Activity"}))
    with pytest.raises(CompileError) as raised:
        Process.from_json(document)
    [problem] = raised.value.problems
    assert problem.name == "unreadable-process"
    assert "/properties/llmContext1/properties" in problem.message
