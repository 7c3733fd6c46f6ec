"""The documents of a process that is kept as a vibe, written by hand or by `--emit process`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import instrc
from instrc.compiler.emit.vibes import emit_vibe  # the process as a vibe, before it is a file
from instrc.problems.errors import SettingsError

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
        "references": [
            f"llmContext1.a_item{number}",
            f"a_item{number}.x",
            f"mail_item{number}",
            f"mail_item{number}.x",
            f"other_item{number}.x",
        ],
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


LIST = {"$defs": {"list": {"type": "object", "properties": {"next": {"$ref": "#/$defs/list"}}, "among": "get.output"}}}
TOOLS = {"tools": {"send": {"activity": "Send_Activity", "arguments": INPUTS, "output": TEXT, "bound": {"x": "get.output"}}}}


def test_what_is_read_inside_a_step_and_the_inputs_follow_their_item() -> None:
    inside = {
        "type": "object",
        "properties": {
            "part": {**INPUTS, "references": ["llmContext1.a", "get.output"], "arguments": {"x": "get.output"}},
            "pick": {**TEXT, "among": "get.output"},
            "todo": {"type": "array", "plan": TOOLS},
        },
    }
    properties = {**PROCESS["properties"], "llmContext2": {"type": "object", "properties": {"whole": inside}}}
    process = emit_vibe({**PROCESS, "properties": properties, "inputs": {"mail": TEXT}}, "kept", batch=2).documents["process"]
    assert process["inputs"] == {"mail_item1": TEXT, "mail_item2": TEXT}
    second = process["properties"]["llmContext2"]["properties"]["whole_item2"]["properties"]
    assert second["part"] == {
        **INPUTS,
        "references": ["llmContext1.a_item2", "get_item2.output"],
        "arguments": {"x": "get_item2.output"},
    }
    assert second["pick"] == {**TEXT, "among": "get_item2.output"}
    assert second["todo"]["plan"]["tools"]["send"]["bound"] == {"x": "get_item2.output"}


def test_the_longest_key_of_a_path_follows_its_item_and_a_whole_context_stays() -> None:
    last = {"type": "object", "references": ["a.b.x", "a.c", "llmContext1", '"a b".x']}
    steps = {"a": INPUTS, "a.b": INPUTS, "a b": INPUTS}
    properties = {
        "llmContext1": {"type": "object", "properties": steps},
        "userContext1": {"type": "object", "properties": {"last": last}},
    }
    process = emit_vibe({"type": "object", "properties": properties}, "kept", batch=2).documents["process"]
    made = process["properties"]["userContext1"]["properties"]["last_item2"]
    assert made["references"] == ["a.b_item2.x", "a_item2.c", "llmContext1", '"a b_item2".x']


def test_a_process_gives_in_a_batch_what_its_last_steps_give() -> None:
    process = emit_vibe({**PROCESS, "value": {"all": "last.x"}}, "kept", batch=2).documents["process"]
    assert "value" not in process


def test_a_step_that_is_a_definition_stands_once_an_item() -> None:
    properties = {
        **PROCESS["properties"],
        "llmContext2": {"type": "object", "properties": {"again": {"$ref": "#/$defs/list"}}, "required": ["again"]},
    }
    process = emit_vibe({**PROCESS, **LIST, "properties": properties}, "kept", batch=2).documents["process"]
    again = process["properties"]["llmContext2"]["properties"]
    assert list(again) == ["again_item1", "again_item2"]
    assert again["again_item2"]["among"] == "get_item2.output"
    assert list(process["$defs"]) == ["list"]


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
    with pytest.raises(SettingsError) as raised:
        emit_vibe(process, "kept", batch=2)
    assert [problem.name for problem in raised.value.problems] == ["invalid-option"]


@pytest.mark.parametrize("batch", [1, 3])
def test_a_vibe_that_is_no_process_is_a_tool_once_an_item(batch: int) -> None:
    documents = emit_vibe(INPUTS, "FindSlot", batch=batch).documents
    keys = [f"step1_find_slot_item{number}" for number in range(1, batch + 1)]
    many = {"type": "object", "properties": dict.fromkeys(keys, INPUTS), "required": keys}
    expected = {"$schema": "https://json-schema.org/draft/2020-12/schema", **(INPUTS if batch == 1 else many)}
    assert documents == {"tool": expected, "result": expected}


def test_a_plan_may_leave_out_an_input_that_has_a_default(tmp_path: Path) -> None:
    """A run fills it in, so it is no required argument of the process."""
    (tmp_path / "trip.aug").write_text("input city\ninput days @ { default: 3 }\nAsk_User(prompt, city, days)", "utf-8")
    open_object = {"type": "object"}
    vibes = {"Act": {"type": "object", "properties": {"plan": {}}}, "Ask_User": open_object}
    program = "RunPlan_Activity(Act(prompt, { plan: Plan(Trip) }).plan)"
    [document] = instrc.compile(program, emit="process", vibes=vibes, roots=[tmp_path])
    tools = document["$defs"]["SERVER_1"]["properties"]["step2_run_plan"]["plan"]["tools"]
    assert tools["Trip"]["arguments"]["required"] == ["prompt", "city"]


def test_a_path_with_a_name_in_quotes_is_followed(tmp_path: Path) -> None:
    step = {"type": "object", "properties": {"text": {"type": "string"}}, "references": ["prompt"]}
    asked = {**step, "references": ['"a b".text'], "arguments": '"a b".text'}
    chunks = {"llmContext1": {"a b": step}, "userContext1": {"ask": asked}}
    contexts = {name: {"type": "object", "properties": steps} for name, steps in chunks.items()}
    file = tmp_path / "process.vibe.json"
    file.write_text(json.dumps({"type": "object", "properties": contexts}))
    assert list(instrc.check(file)) == []


def test_a_vibe_that_refers_to_itself_is_a_tool_as_it_is_written() -> None:
    tree = {"type": "object", "properties": {"name": {"type": "string"}, "child": {"$ref": "#"}}}
    assert emit_vibe(tree, "tree", batch=1).documents["tool"]["properties"] == tree["properties"]
