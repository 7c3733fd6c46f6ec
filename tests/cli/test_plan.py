"""`instrc plan`: plans are checked, taken from the form of TaskBench and back, scored and made up."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_lines import Instrc

TOOLS = {
    "nodes": [
        {"id": "Say It", "desc": "", "input-type": ["text"], "output-type": ["text"]},
        {"id": "Draw-It", "desc": "", "input-type": ["text"], "output-type": ["image"]},
    ]
}
SOUND = {
    "id": "1",
    "task_steps": ["one", "two"],
    "task_nodes": [{"task": "Say It", "arguments": ["hello"]}, {"task": "Draw-It", "arguments": ["<node-0>"]}],
    "task_links": [{"source": "Say It", "target": "Draw-It"}],
}
FAULTY = {"id": "2", "task_nodes": [{"task": "say_it", "arguments": ["hello"]}]}


@pytest.fixture
def files(folder: Path) -> Path:
    (folder / "tools.json").write_text(json.dumps(TOOLS))
    (folder / "one.json").write_text(json.dumps(SOUND))
    (folder / "two.jsonl").write_text(f"{json.dumps(SOUND)}\n{json.dumps(FAULTY)}\n")
    return folder


def test_one_record_becomes_one_plan_and_comes_back(instrc: Instrc, files: Path) -> None:
    done = instrc("plan", "import", "one.json", "--tools", "tools.json", "-o", "plan.json")
    assert (done.code, done.err) == (0, "")
    plan = json.loads((files / "plan.json").read_text())
    assert [task["tool"] for task in plan] == ["SayIt", "DrawIt"]
    assert instrc("plan", "check", "plan.json", "--tools", "tools.json").code == 0
    back = json.loads(instrc("plan", "export", "plan.json", "--tools", "tools.json").out)
    assert {key: back[key] for key in ("task_nodes", "task_links")} == {key: SOUND[key] for key in ("task_nodes", "task_links")}


def test_several_records_become_a_line_each_and_mistakes_have_places(instrc: Instrc, files: Path) -> None:
    done = instrc("plan", "import", "two.jsonl", "--tools", "tools.json")
    lines = [json.loads(line) for line in done.out.splitlines()]
    assert done.code == 1
    assert [line["id"] for line in lines] == ["1", "2"]
    assert lines[1]["plan"] is None
    assert "two.jsonl:2:" in done.err
    assert "[unknown-tool]" in done.err
    repaired = instrc("plan", "import", "two.jsonl", "--tools", "tools.json", "--repair")
    assert repaired.code == 0
    assert "[repaired-plan]" in repaired.err
    (files / "plans.jsonl").write_text(repaired.out)
    back = instrc("plan", "export", "plans.jsonl", "--tools", "tools.json")
    assert [json.loads(line)["id"] for line in back.out.splitlines()] == ["1", "2"]


@pytest.mark.parametrize("command", ["import", "check", "score"])
def test_a_broken_line_is_told_with_its_place_and_the_others_are_read(instrc: Instrc, files: Path, command: str) -> None:
    text = (files / "two.jsonl").read_text()
    (files / "broken.jsonl").write_text(text + '{"id": "3", "task_nodes": [\n')
    given = ["broken.jsonl"] * (2 if command == "score" else 1)
    done = instrc("plan", command, *given, "--tools", "tools.json")
    assert done.code == 1
    assert "broken.jsonl:3:" in done.err
    assert "[invalid-json]" in done.err
    assert "[unknown-tool]" in done.err or command == "score"
    assert command == "check" or done.out


def test_scores_are_shown_as_json(instrc: Instrc, files: Path) -> None:
    done = instrc("plan", "score", "two.jsonl", "two.jsonl", "--tools", "tools.json")
    assert (done.code, done.err) == (0, "")
    scores = json.loads(done.out)
    assert scores.keys() == {"overall", "by_shape", "by_size"}
    assert scores["overall"]["scores"].keys() == {"n-F1", "e-F1", "t-F1", "v-F1", "NED"}


def test_samples_are_sound(instrc: Instrc, files: Path) -> None:
    done = instrc("plan", "sample", "--tools", "tools.json", "-n", "3", "--seed", "1")
    assert len(done.out.splitlines()) == 3
    assert done.out == instrc("plan", "sample", "--tools", "tools.json", "-n", "3", "--seed", "1").out
    for line in done.out.splitlines():
        (files / "plan.json").write_text(line)
        assert instrc("plan", "check", "plan.json", "--tools", "tools.json").code == 0


@pytest.mark.parametrize("tools", ["5", '["x"]', "null"])
def test_what_is_no_tool_is_shown_in_the_file_of_tools(instrc: Instrc, files: Path, tools: str) -> None:
    (files / "odd.json").write_text(tools)
    (files / "plan.json").write_text("[]")
    done = instrc("plan", "check", "plan.json", "--tools", "odd.json")
    assert done.code == 1
    assert "odd.json:1:1: error: this is neither an object nor a list of tools [invalid-tools]" in done.err + done.out


@pytest.mark.parametrize("command", [["check"], ["import"], ["export"], ["score", "one.json"]])
@pytest.mark.parametrize("text", ["", "{", "3", "[1]", '[[{"tool": 1}]]', '{"nodes": 3}', "null"])
def test_what_is_no_plan_or_no_tools_is_a_problem(instrc: Instrc, files: Path, command: list[str], text: str) -> None:
    (files / "odd.json").write_text(text)
    for arguments in (
        ["odd.json", "--tools", "tools.json"],
        ["one.json", "--tools", "odd.json"],
        ["odd.json", "--tools", "none"],
    ):
        done = instrc("plan", *command, *arguments)
        assert done.code in {0, 1}
        assert "internal error" not in done.err


@pytest.mark.parametrize(
    "command",
    [["import", "one.json"], ["export", "plan.json"], ["score", "one.json", "two.jsonl"], ["sample"]],
    ids=lambda command: command[0],
)
def test_what_was_read_is_not_overwritten(instrc: Instrc, files: Path, command: list[str]) -> None:
    instrc("plan", "import", "one.json", "--tools", "tools.json", "-o", "plan.json")
    for source in (*command[1:], "tools.json"):
        before = (files / source).read_text()
        done = instrc("plan", *command, "--tools", "tools.json", "-o", source)
        assert done.code == 1
        assert "it is a source of this run" in done.err
        assert (files / source).read_text() == before


@pytest.mark.parametrize("command", ["import", "check", "export"])
def test_a_byte_that_is_no_text_is_told_at_its_place(instrc: Instrc, files: Path, command: str) -> None:
    (files / "bytes.json").write_bytes(json.dumps(SOUND).encode().replace(b"hello", b"h\xffllo"))
    done = instrc("plan", command, "bytes.json", "--tools", "tools.json")
    assert done.code == 1
    assert "bytes.json:1:" in done.out + done.err
    assert "[invalid-json]" in done.out + done.err
