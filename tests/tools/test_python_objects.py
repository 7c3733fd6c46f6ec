"""Models and tools of Python programs, run only when they are asked for."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Union

import pytest
from every_case import every_case

from instrc import import_tools, lower

Tree = Union[int, "list[Tree]"]
TOOLS = """
print("hello")


class Search:
    name = "web_search"
    description = "Search the web."
    inputs = {
        "query": {"type": "string", "description": "What."},
        "most": {"type": "integer", "description": "How many.", "nullable": True},
        "filter": {"type": "any", "description": "Anything."},
    }
    output_type = "string"


search = Search()
both = [search, search]
secret = 3
"""
MODELS = '''
from typing import Optional
from pydantic import BaseModel, Field


class Slot(BaseModel):
    day: str
    next: Optional["Slot"] = None


class Draft(BaseModel):
    """A draft of a letter."""

    model_config = {"title": "The draft"}
    text: str = Field(description="What it says.", max_length=100)
    slot: Slot


Many = list[Draft]
'''
SEARCH = {
    "title": "web_search",
    "description": "Search the web.",
    "type": "object",
    "properties": {
        "query": {"type": "string", "description": "What."},
        "most": {"type": ["integer", "null"], "description": "How many."},
        "filter": {"description": "Anything."},
    },
    "required": ["query", "filter"],
    "additionalProperties": False,
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "my_tools.py").write_text(TOOLS)
    (tmp_path / "my_models.py").write_text(MODELS)
    (tmp_path / "broken.py").write_text("1 / 0\n")
    (tmp_path / "leaves.py").write_text("raise SystemExit(3)\n")
    (tmp_path / "needs.py").write_text("import no_such_library_anywhere\n")
    (tmp_path / "neighbour.py").write_text("from my_tools import search\n")
    monkeypatch.chdir(tmp_path)
    for name in ("my_tools", "my_models"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return tmp_path


@pytest.mark.parametrize(
    "source",
    ["my_tools.py:search", "my_tools.py:Search", "my_tools.py:both", "my_tools.py", "my_tools:search", "neighbour.py:search"],
)
def test_smolagents_tools_are_read_from_where_they_are(folder: Path, source: str, capsys: pytest.CaptureFixture[str]) -> None:
    imported = import_tools("smolagents", source)
    assert [problem.name for problem in imported.problems] == ["results-left-out"]
    assert [vibe.document for vibe in imported.vibes] == [SEARCH]
    assert capsys.readouterr().out == ""


def test_smolagents_tools_are_read_from_objects_and_from_json() -> None:
    space: dict[str, Any] = {}
    exec(TOOLS, space)  # noqa: S102  -- our own text
    members = ("name", "description", "inputs", "output_type")
    written = {name: getattr(space["search"], name) for name in members}
    for source in (space["search"], space["Search"], [space["search"]], written, [written], {"tools": [written]}):
        assert [vibe.document for vibe in import_tools("smolagents", source).vibes] == [SEARCH]


def test_an_object_that_says_what_is_no_json_is_told_and_the_others_are_read() -> None:
    space: dict[str, Any] = {}
    exec(TOOLS, space)  # noqa: S102  -- our own text
    odd = SimpleNamespace(name="odd", description="Odd.", inputs={"a": {"type": "string", "default": float("nan")}})
    imported = import_tools("smolagents", [odd, space["search"]])
    assert [vibe.document for vibe in imported.vibes] == [SEARCH]
    assert [problem.name for problem in imported.problems] == ["invalid-json", "results-left-out"]


def test_the_result_of_a_smolagents_tool_becomes_an_activity(folder: Path) -> None:
    imported = import_tools("smolagents", "my_tools.py:search", results="activity")
    assert imported.vibes[1].document["properties"] == {"output": {"type": "string"}}


def test_pydantic_models_are_read(folder: Path) -> None:
    pytest.importorskip("pydantic")
    imported = import_tools("pydantic", "my_models.py:Draft")
    assert imported.problems == ()
    (vibe,) = imported.vibes
    assert vibe.name == "draft"
    document = vibe.document
    assert (document["title"], document["x-title"], document["description"]) == ("Draft", "The draft", "A draft of a letter.")
    assert document["properties"]["text"] == {"description": "What it says.", "maxLength": 100, "title": "Text", "type": "string"}
    assert document["properties"]["slot"] == {"$ref": "#/$defs/Slot"}
    assert document["required"] == ["text", "slot"]


def test_a_module_gives_all_its_models(folder: Path) -> None:
    pytest.importorskip("pydantic")
    assert [vibe.name for vibe in import_tools("pydantic", "my_models.py").vibes] == ["slot", "draft"]


def test_what_is_no_object_becomes_a_property_of_one(folder: Path) -> None:
    pytest.importorskip("pydantic")
    imported = import_tools("pydantic", "my_models.py:Many")
    assert [problem.name for problem in imported.problems] == ["read-otherwise"]
    document = imported.vibes[0].document
    assert document["required"] == ["value"]
    assert document["properties"]["value"] == {"items": {"$ref": "#/$defs/Draft"}, "type": "array"}
    assert set(document["$defs"]) == {"Draft", "Slot"}


def test_what_pydantic_cannot_describe_is_told() -> None:
    pytest.importorskip("pydantic")
    from collections.abc import Callable

    from pydantic import create_model

    model = create_model("Odd", call=(Callable[[int], int], ...))
    assert [problem.name for problem in import_tools("pydantic", model).problems] == ["unusable-tool", "no-tools"]


def test_a_type_that_names_itself_is_told_as_that() -> None:
    pytest.importorskip("pydantic")

    def keep(tree: Tree) -> None: ...

    with pytest.raises(TypeError, match="`keep`: a type in it names itself, which pydantic reads in a model"):
        lower(keep, "openai")


def test_schemas_as_json_are_models_too() -> None:
    (vibe,) = import_tools("pydantic", {"title": "Draft", "type": "object", "properties": {"a": {"type": "string"}}}).vibes
    assert (vibe.name, vibe.document["title"]) == ("draft", "Draft")


@pytest.mark.parametrize(
    ("source", "name", "words"),
    [
        ("my_tools.py:serch", "unloadable-object", "there is no `serch` in it"),
        ("nowhere.py:x", "unloadable-object", "there is no such file"),
        ("no_such_module_here:x", "unloadable-object", "there is no such module"),
        ("broken.py:x", "unloadable-object", "ZeroDivisionError"),
        ("leaves.py:x", "unloadable-object", "SystemExit"),
        ("needs.py:x", "missing-library", "`no_such_library_anywhere`"),
        ("my_tools.py:secret", "no-tools", "smolagents"),
        ("", "unloadable-object", ""),
        (":", "unloadable-object", ""),
        ("..:x", "unloadable-object", ""),
        ("a\0b:x", "unloadable-object", ""),
    ],
)
def test_what_cannot_be_loaded_is_told(folder: Path, source: str, name: str, words: str) -> None:
    imported = import_tools("smolagents", source)
    assert imported.vibes == ()
    assert imported.problems[0].name == name
    assert words in imported.problems[0].message


def test_nothing_of_the_search_path_is_left_behind(folder: Path) -> None:
    before = list(sys.path)
    import_tools("smolagents", "my_tools.py:search")
    import_tools("smolagents", "broken.py:x")
    assert sys.path == before


def test_other_kinds_run_nothing(folder: Path) -> None:
    (folder / "touch.py").write_text("open('touched', 'w').close()\n")
    for kind in ("openai", "mcp", "bfcl", "openapi", "anthropic"):
        assert [problem.name for problem in import_tools(kind, "touch.py").problems] == ["invalid-json"]
        import_tools(kind, "touch.py:x")
    assert not (folder / "touched").exists()


@every_case(
    "text",
    [
        "raise BaseException('stop')",
        "raise SystemExit(3)",
        "raise GeneratorExit",
        "class E(BaseException):\n    def __str__(self):\n        raise ValueError\nraise E",
        "class E(Exception):\n    def __str__(self):\n        raise BaseException('in its words')\nraise E",
        "def __getattr__(name):\n    raise BaseException('no')",
    ],
)
def test_whatever_a_file_raises_is_one_problem(text: str, tmp_path: Path) -> None:
    (tmp_path / "models.py").write_text(text)
    imported = import_tools("pydantic", f"{tmp_path / 'models.py'}:Draft")
    assert [problem.name for problem in imported.problems] == ["unloadable-object"]


def test_pydantic_that_is_not_installed_is_named_with_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "models.py").write_text("from pydantic import BaseModel\n")
    monkeypatch.setitem(sys.modules, "pydantic", None)
    (problem,) = import_tools("pydantic", str(tmp_path / "models.py")).problems
    assert (problem.name, problem.hint) == ("missing-extra", 'install it: `pip install "instrc[import]"`')
