"""What a client is told of the tools before it calls one: their goal, what they take, what they give."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from jsonschema import Draft202012Validator

from instrc.engines.equip import equip  # what makes effects, of which there are none here
from instrc.engines.folder import FolderEngine  # an engine whose runs are never begun here
from instrc.engines.prepare import prepare  # a program that is not run
from instrc.problems.errors import InstrcError
from instrc.runtime.models.model import instance_of  # as the model `sample` fills a schema in
from instrc.server.hosting import launchers_of
from instrc.server.mcp_runs import RunOffers, split_programs  # tools of a server without a client
from instrc.server.records import Records  # the service, in the process of the test
from instrc.server.run_service import RunService  # the service, in the process of the test

EXAMPLES = Path(__file__).parents[2] / "examples"
TREE = {
    "description": "Divide a task.",
    "type": "object",
    "properties": {"_why": {"type": "string"}, "name": {"type": "string"}, "parts": {"type": "array", "items": {"$ref": "#"}}},
    "required": ["_why", "name", "parts"],
}
NOTE = {"description": "Note something.", "type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
NOTHING = cast("Records", SimpleNamespace(watchers=[]))  # nothing is ever run here
DONE = {"properties": {"output": {"type": "string"}}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "schemas").mkdir()
    for name, schema in {"tree": TREE, "note": NOTE, "work_Activity": DONE}.items():
        (tmp_path / "schemas" / f"{name}.vibe.json").write_text(json.dumps(schema), encoding="utf-8")
    return tmp_path


def service(*files: Path) -> RunOffers:
    filled, run = split_programs([prepare(str(file)) for file in files])
    return RunOffers(filled, RunService(launchers_of(run, None, rehearse=True), FolderEngine(None, equip), NOTHING))


def described(folder: Path, program: str) -> dict[str, Any]:
    (folder / "p.aug").write_text(program, encoding="utf-8")
    found = service(folder / "p.aug").offers
    return dict(next(offer.described for name, offer in found.items() if name.lower() in {"p", "it"}))


def refers_to_its_root(value: Any) -> bool:
    if isinstance(value, dict):
        return value.get("$ref") == "#" or any(map(refers_to_its_root, value.values()))
    return isinstance(value, list) and any(map(refers_to_its_root, value))


def test_a_recursive_tool_refers_to_a_definition(folder: Path) -> None:
    tool = described(folder, "tool it = Tree(prompt)")
    assert not refers_to_its_root(tool)
    leaf = {"_why": "w", "name": "a", "parts": []}
    taken = Draft202012Validator(tool["inputSchema"])
    assert taken.is_valid({**leaf, "parts": [leaf]})
    assert not taken.is_valid({**leaf, "parts": [{"name": "a", "parts": []}]})
    given = Draft202012Validator(tool["outputSchema"])
    assert given.is_valid({"name": "a", "parts": [{"name": "b", "parts": []}]})
    assert not given.is_valid({"name": "a", "parts": [{"name": 5, "parts": []}]})


def test_inputs_keep_their_definitions_beside_each_other(folder: Path) -> None:
    part = '{ properties: { in: { "$ref": "#/$defs/part" }, me: { "$ref": "#" } }, "$defs": { part: { type: "%s" } } }'
    inputs = f"input a @ {part % 'string'}; input b @ {part % 'integer'};"
    taken = Draft202012Validator(described(folder, f"{inputs} tool it = Work_Activity(a, b) | Note")["inputSchema"])
    assert taken.is_valid({"a": {"in": "x", "me": {"in": "y"}}, "b": {"in": 1}})
    for wrong in ({"in": 1}, {"me": {"in": 1}}):
        assert not taken.is_valid({"a": wrong, "b": {}})
    (folder / "called.aug").write_text(f"{inputs} Note(a, b)", encoding="utf-8")
    (folder / "pyproject.toml").write_text('[tool.instrc]\nroots = [".", "schemas"]\n', encoding="utf-8")
    (folder / "schemas" / "act.vibe.json").write_text('{ "properties": { "plan": {} } }', encoding="utf-8")
    assert described(folder, "RunPlan_Activity(Act(prompt, { plan: Plan(Called) }).plan)")


@pytest.mark.parametrize(
    ("program", "properties", "required"),
    [
        ("tool it = Note(prompt) | Work_Activity(text: prompt)", ["prompt"], ["prompt"]),
        ("tool it = Note(prompt.name) | Work_Activity | Note", ["prompt"], ["prompt"]),
        ("input who; tool it = Note(who) | Work_Activity | Note", ["who"], ["who"]),
        ('input who @ { type: "string", default: "Ann" }; tool it = Note(who) | Work_Activity | Note', ["who"], []),
        ("input who; tool it = Work_Activity(text: who) | Note(prompt)", ["prompt", "who"], ["prompt", "who"]),
        ('const a = Work_Activity(text: "x"); tool it = when prompt is "x" { Note(a) }', ["prompt"], ["prompt"]),
        ('const a = Work_Activity(text: "x"); tool it = each part in prompt.parts { Note(part, a) }', ["prompt"], ["prompt"]),
    ],
)
def test_the_prompt_is_asked_for_where_something_reads_it(
    folder: Path, program: str, properties: list[str], required: list[str]
) -> None:
    schema = described(folder, program)["inputSchema"]
    assert sorted(schema["properties"]) == properties
    assert sorted(schema["required"]) == required


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("tool it = Note(prompt)", "Note something."),
        ('tool it = "Remember." | Note', "Remember."),
        ("tool it = Tree(prompt) | Note", "it"),
        ("tool it = Bare(prompt)", "it"),
    ],
)
def test_a_tool_is_described_by_its_goal_and_not_by_what_it_reads(folder: Path, program: str, said: str) -> None:
    (folder / "schemas" / "bare.vibe.json").write_text(json.dumps({"type": "object", "properties": {"text": {}}}))
    assert described(folder, program)["description"] == said


def test_a_process_is_described_by_its_goal(folder: Path) -> None:
    tool = described(folder, 'tool it = "Note what is said." | Note | Work_Activity | Note')
    assert tool["description"].startswith("Note what is said.\n")
    assert "Use prompt" not in tool["description"]
    status = service(folder / "p.aug").offers["run_status"].described["outputSchema"]
    assert list(status["properties"]) == ["run", "status", "output", "value", "error", "step"]  # type: ignore[call-overload, index]


@pytest.mark.parametrize("file", sorted(EXAMPLES.rglob("*.aug")), ids=lambda file: file.relative_to(EXAMPLES).as_posix())
def test_what_a_tool_of_the_examples_gives_is_what_it_says(file: Path) -> None:
    try:
        served = service(file)
    except InstrcError:
        pytest.skip("it has several exports, or is an example of a mistake")
    for name, offer in served.offers.items():
        assert offer.output is not None
        assert not refers_to_its_root(offer.described)
        Draft202012Validator.check_schema(offer.described["outputSchema"])  # type: ignore[arg-type]
        if offer.call.__qualname__.startswith("_offer_tool"):
            schema: Any = offer.described["inputSchema"]
            value = asyncio.run(served.call(name, instance_of(schema)))
            assert list(Draft202012Validator(offer.output).iter_errors(value)) == []
