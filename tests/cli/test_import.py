"""`instrc import` writes vibes into a registry, or prints them."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

TOOLS = [
    {
        "type": "function",
        "function": {"name": "get.weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}},
    },
    {
        "type": "function",
        "function": {"name": "fetchPage", "parameters": {"type": "object", "properties": {"url": {"type": "str"}}}},
    },
]
Instrc = Callable[..., Any]


@pytest.fixture
def tools(folder: Path) -> Path:
    path = folder / "tools.json"
    path.write_text(json.dumps(TOOLS))
    return path


def test_the_vibes_are_files_that_a_program_finds(instrc: Instrc, tools: Path, folder: Path) -> None:
    run = instrc("import", "openai", "tools.json", "-o", "schemas/tools")
    assert (run.code, run.out) == (0, "")
    assert "read-otherwise" in run.err
    assert sorted(path.name for path in (folder / "schemas/tools").iterdir()) == ["fetch-page.vibe.json", "get-weather.vibe.json"]
    assert instrc("check", "schemas").code == 0
    (folder / "plan.aug").write_text('"Pack" | GetWeather | FetchPage')
    run = instrc("compile", "plan.aug")
    assert list(orjson.loads(run.out)["properties"]) == ["step1_get_weather", "step2_fetch_page"]


def test_one_vibe_is_printed_as_it_is_and_several_by_file(instrc: Instrc, process: Instrc, tools: Path) -> None:
    assert list(orjson.loads(instrc("import", "openai", "tools.json").out)) == ["get-weather.vibe.json", "fetch-page.vibe.json"]
    run = process("import", "openai", "-", stdin=json.dumps(TOOLS[:1]).encode())
    assert orjson.loads(run.out)["title"] == "get.weather"


def test_importing_again_changes_nothing(instrc: Instrc, tools: Path, folder: Path) -> None:
    assert instrc("import", "openai", "tools.json", "-o", "out").code == 0
    assert instrc("import", "openai", "tools.json", "-o", "out").code == 0


def test_what_says_something_else_is_in_the_way_of_all(instrc: Instrc, tools: Path, folder: Path) -> None:
    (folder / "out").mkdir()
    theirs = folder / "out/fetch-page.vibe.json"
    theirs.write_text("{}")
    run = instrc("import", "openai", "tools.json", "-o", "out", "--format", "json")
    assert run.code == 1
    assert [problem["name"] for problem in orjson.loads(run.err) if problem["severity"] == "error"] == ["vibe-exists"]
    assert (theirs.read_text(), len(list((folder / "out").iterdir()))) == ("{}", 1)
    assert instrc("import", "openai", "tools.json", "-o", "out", "--force").code == 0
    assert theirs.read_text() != "{}"


def test_another_spelling_of_a_name_is_in_the_way_even_of_force(instrc: Instrc, tools: Path, folder: Path) -> None:
    (folder / "out").mkdir()
    (folder / "out/FetchPage.vibe.json").write_text("{}")
    for options in ([], ["--force"]):
        run = instrc("import", "openai", "tools.json", "-o", "out", *options)
        assert run.code == 1
        assert "spelled differently" in run.err
        assert len(list((folder / "out").iterdir())) == 1


def test_a_compiled_vibe_calls_the_tool_by_the_name_it_has_at_its_server(instrc: Instrc, tools: Path, folder: Path) -> None:
    instrc("import", "openai", "tools.json", "-o", "schemas/tools")
    for name, file in (("get.weather", "get-weather"), ("fetchPage", "fetch-page")):
        run = instrc("compile", f"schemas/tools/{file}.vibe.json", "--target", "mcp")
        assert orjson.loads(run.out)["name"] == name
        instrc("compile", f"schemas/tools/{file}.vibe.json", "--target", "anthropic", "--map", "map.json")
        assert json.loads((folder / "map.json").read_text())["tool"]["name"] == name


def test_strict_takes_what_could_not_be_said_for_errors(instrc: Instrc, tools: Path, folder: Path) -> None:
    assert instrc("import", "openai", "tools.json", "-o", "out", "--strict").code == 1
    assert not (folder / "out").exists()


def test_a_folder_that_is_a_file_is_told(instrc: Instrc, tools: Path, folder: Path) -> None:
    run = instrc("import", "openai", "tools.json", "-o", "tools.json")
    assert run.code == 1
    assert "unwritable-output" in run.err


@pytest.mark.parametrize("text", ["", "{", "[1,]", "\ufeff[]", "nul", '"x"'])
def test_texts_that_hold_no_tools_are_told(instrc: Instrc, folder: Path, text: str) -> None:
    (folder / "tools.json").write_text(text, encoding="utf-8")
    run = instrc("import", "openai", "tools.json")
    assert (run.code, run.out) == (1, "")
    assert "invalid-json" in run.err or "no-tools" in run.err


def test_bytes_that_are_no_text_are_told(instrc: Instrc, folder: Path) -> None:
    (folder / "tools.json").write_bytes(b'[{"name": "\xff"}]')
    assert "not UTF-8" in instrc("import", "openai", "tools.json").err


def _some_tool(number: int, chance: random.Random) -> Any:
    """Return a tool with the habits, good and bad, of those found in public lists."""

    def schema(depth: int) -> Any:
        kind = chance.choice(
            ["string", "str", "integer", "float", "any", "dict", "array", "tuple", "boolean", "", "List[int]", ["string", "null"]]
        )
        made: dict[str, Any] = {"type": kind, "description": "Of it."}
        if kind == "dict" and depth < 4:
            names = chance.sample(["a", "b-c", "d.e", "f g", "output", "_x"], 2)
            made |= {"properties": {name: schema(depth + 1) for name in names}, "required": names[:1]}
        if kind in ("array", "tuple"):
            made["items"] = schema(depth + 1) if depth < 4 and chance.random() < 0.8 else [{"type": "int"}]
        if chance.random() < 0.2:
            made["enum"] = chance.choice([["a", 1, None], [1, 2], ["x", "x"], [], "a"])
        if chance.random() < 0.2:
            made["default"] = chance.choice([None, 1, "a", []])
        return made

    names = ["math.area", "get-user", "Get User", "findSlot", "a/b", "", "名前", "process"]
    tool: dict[str, Any] = {
        "name": f"{chance.choice(names)}_{number}" if chance.random() < 0.9 else None,
        "description": "Does it.",
    }
    if chance.random() < 0.95:
        tool["parameters"] = {"type": "dict", "properties": {name: schema(0) for name in ("x", "y")}, "required": ["x", "gone"]}
    return chance.choice([tool, tool, tool, {"type": "function", "function": tool}, {"function": [tool]}, None, 3])


def test_a_thousand_tools_of_all_sorts_pass_the_check(instrc: Instrc, folder: Path) -> None:
    chance = random.Random(1)  # noqa: S311  -- not a secret
    many = [_some_tool(number, chance) for number in range(1000)]
    (folder / "tools.json").write_text(json.dumps(many))
    run = instrc("import", "bfcl", "tools.json", "-o", "schemas/many", "--format", "json")
    assert run.code == 0
    told = [problem["name"] for problem in orjson.loads(run.err)]
    assert "unusable-tool" not in told
    written = sorted((folder / "schemas/many").iterdir())
    assert len(written) + told.count("not-a-tool") == len(many)
    assert instrc("check", "schemas").code == 0
    for path in written[::25]:
        assert instrc("compile", path).code == 0
