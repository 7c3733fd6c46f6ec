"""The documents of a process that is kept as a vibe, written by hand or by `--emit process`."""

from __future__ import annotations

from typing import Any

import pytest

from instrc.emit.vibes import emit_vibe
from instrc.problems.problem import CompileError

TEXT = {"type": "string"}
OUTPUT = {"type": "object", "properties": {"output": TEXT}, "required": ["output"]}
INPUTS = {"type": "object", "properties": {"x": TEXT}}
GET = {
    **INPUTS,
    "activity": "Get_Activity",
    "references": ["llmContext1.a", "a.x", "mail", "mail.x", "other.x"],
    "arguments": {"x": "llmContext1.a.x", "all": ["a", "a.y"], "fixed": {"const": "a"}},
}
PROCESS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "llmContext1": {
            "type": "object",
            "properties": {"a": {"type": "object", "references": ["prompt"], "arguments": "prompt"}},
            "required": ["a"],
        },
        "serverContext1": {"type": "object", "properties": {"get": GET, "anything": True}, "required": ["get"]},
        "llmContext2": {
            "type": "object",
            "properties": {
                "get": OUTPUT,
                "last": {"type": "object", "references": ["get.output"], "arguments": ["get.output", "a"]},
            },
            "required": ["get"],
        },
    },
}


def item(number: int) -> dict[str, Any]:
    """Return the middle step as it is for one item."""
    return {
        **GET,
        "references": [f"llmContext1.a_item{number}", f"a_item{number}.x", f"mail_item{number}", "mail.x", "other.x"],
        "arguments": {
            "x": f"llmContext1.a_item{number}.x",
            "all": [f"a_item{number}", f"a_item{number}.y"],
            "fixed": {"const": "a"},
        },
    }


def test_each_step_stands_once_an_item_and_reads_what_is_of_its_item() -> None:
    process = emit_vibe(PROCESS, "kept", batch=2).documents["process"]
    assert process["properties"]["serverContext1"] == {
        "type": "object",
        "properties": {"get_item1": item(1), "get_item2": item(2), "anything_item1": True, "anything_item2": True},
        "required": ["get_item1", "get_item2"],
    }
    last = process["properties"]["llmContext2"]["properties"]
    assert list(last) == ["get_item1", "get_item2", "last_item1", "last_item2"]
    assert (last["last_item2"]["references"], last["last_item2"]["arguments"]) == (
        ["get_item2.output"],
        ["get_item2.output", "a_item2"],
    )


def test_the_result_joins_a_step_that_stands_in_two_contexts_and_the_plan_leaves_what_others_give_null() -> None:
    documents = emit_vibe(PROCESS, "kept", batch=1).documents
    joined = {"type": "object", "properties": {"x": TEXT, "output": TEXT}, "required": ["output"]}
    assert documents["result"]["properties"] == {
        "a": {"type": "object"},
        "get": joined,
        "anything": True,
        "last": {"type": "object"},
    }
    nulls = {**joined, "properties": {"x": TEXT, "output": {"type": ["string", "null"]}}}
    assert documents["flat"]["properties"]["get"] == nulls
    assert list(documents["tool"]["properties"]) == ["a"]


def test_a_process_with_blocks_is_not_repeated() -> None:
    each = {
        "type": "array",
        "items": {
            "type": "object",
            "properties": {"llmContext1": PROCESS["properties"]["llmContext1"]},
            "required": ["llmContext1"],
        },
        "each": {"item": "it", "in": "prompt", "value": "a", "key": "all"},
    }
    process = {"type": "object", "properties": {"eachContext1": each}}
    assert list(emit_vibe(process, "kept", batch=1).documents["result"]["properties"]) == ["all"]
    with pytest.raises(CompileError) as raised:
        emit_vibe(process, "kept", batch=2)
    assert [problem.name for problem in raised.value.problems] == ["invalid-option"]


@pytest.mark.parametrize("batch", [1, 3])
def test_a_vibe_that_is_no_process_is_a_tool_once_an_item(batch: int) -> None:
    documents = emit_vibe(INPUTS, "FindSlot", batch=batch).documents
    keys = [f"step1_find_slot_item{number}" for number in range(1, batch + 1)]
    many = {"type": "object", "properties": dict.fromkeys(keys, INPUTS), "required": keys}
    expected = {"$schema": "https://json-schema.org/draft/2020-12/schema", **(INPUTS if batch == 1 else many)}
    assert documents == {"tool": expected, "result": expected}
