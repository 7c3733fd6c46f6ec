"""Each agent has a page: commands, a picture of its process, and its lines counted beside the original's."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import pytest
from example_agents import AGENTS, example

PAGES = sorted(AGENTS.glob("*/README.md"))
_ROW = re.compile(r"^\| (.+) \| ([\d, +]+|about [\d,]+)[^|]*\|$", re.MULTILINE)


def rows(page: Path) -> list[tuple[str, str]]:
    _, _, table = page.read_text("utf-8").partition("| | lines |")
    return _ROW.findall(table)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.parent.name)
def test_its_lines_are_counted_beside_those_of_the_original(page: Path) -> None:
    found = rows(page)
    assert any("original" in what or "smolagents" in what or "document" in what for what, _ in found)
    for what, count in found:
        files = [page.parent / name for name in re.findall(r"`(\S+\.py)`", what)]
        if files and all(file.exists() for file in files):
            assert int(count) == sum(len(file.read_text("utf-8").splitlines()) for file in files), what
        if "`.aug`" in what:
            lines = [len(file.read_text("utf-8").splitlines()) for file in page.parent.rglob("*.aug")]
            assert sum(map(int, count.split("+"))) == sum(lines)
    told = {name for what, _ in found for name in re.findall(r"`(\S+\.py)`", what)}
    assert {str(file.relative_to(page.parent)) for file in page.parent.rglob("*.py")} <= told


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.parent.name)
def test_it_shows_a_picture_of_each_process(page: Path) -> None:
    text = page.read_text("utf-8")
    pictures = list(page.parent.glob("expected/*.svg"))
    assert pictures
    assert all(f"(expected/{picture.name})" in text for picture in pictures)


@pytest.mark.parametrize("name", ["code-agent", "hugging-gpt", "managed-agents", "planning-agent", "tool-calling-agent"])
def test_an_agent_whose_run_has_failed_says_so_without_a_traceback(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if name == "code-agent":
        pytest.importorskip("pydantic_monty")
    monkeypatch.setitem(sys.modules, "anthropic", None)
    monkeypatch.setattr(sys, "argv", ["agent.py", "--model", "anthropic:claude-sonnet-4-5", "How far is it?"])
    with pytest.raises(SystemExit) as ended:
        sys.exit(example(name).main())
    told = f"{ended.value.code} {capsys.readouterr().out}"
    assert ended.value.code not in {0, None}
    assert "instrc[anthropic]" in told


def test_every_document_has_its_systems() -> None:
    names = {page.parent.name for page in PAGES}
    smolagents = {"tool-calling-agent", "code-agent", "planning-agent", "managed-agents"}
    assert names == {"hugging-gpt", "console-agent", *smolagents}


SHARING = {"save", "to_dict", "from_dict", "from_hub", "from_folder", "push_to_hub"}
_CLASS = re.compile(r"`(\w+)` \((\d+)\)")


def test_lines_of_smolagents_are_those_of_its_classes() -> None:
    smolagents = pytest.importorskip("smolagents")
    source = Path(smolagents.agents.__file__).read_text("utf-8")
    lines: dict[str, int] = {}
    for kind in (node for node in ast.parse(source).body if isinstance(node, ast.ClassDef)):
        apart = (each for each in kind.body if isinstance(each, ast.FunctionDef) and each.name in SHARING)
        lines[kind.name] = _length(kind) - sum(map(_length, apart))
    for name in ("tool-calling-agent", "code-agent", "planning-agent", "managed-agents"):
        ((what, count),) = [row for row in rows(AGENTS / name / "README.md") if "of smolagents" in row[0]]
        told = {kind: int(number) for kind, number in _CLASS.findall(what)}
        assert len(told) == 2
        assert told == {kind: lines[kind] for kind in told}
        assert int(count) == sum(told.values())


def _length(node: ast.ClassDef | ast.FunctionDef) -> int:
    """Return the lines of a class or a function, decorators with it."""
    assert node.end_lineno is not None
    return node.end_lineno + 1 - min([node.lineno, *(each.lineno for each in node.decorator_list)])
