"""Lint, layout and types are tests like any other, so that one command runs all."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize("command", [["ruff", "check", "-q"], ["ruff", "format", "--check"], ["mypy"]], ids=" ".join)
def test_nothing_to_complain_about(command: list[str]) -> None:
    done = subprocess.run([sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"


LONGEST_FUNCTION = 60
"""Lines; what is longer hides its idea."""
LONGEST_FILE = 300
"""Lines; what is longer has two ideas."""
FILES = sorted((ROOT / "instrc").rglob("*.py"))


def test_no_function_is_long() -> None:
    functions = [
        (node.end_lineno - node.lineno + 1, f"{file.relative_to(ROOT)} {node.name}")
        for file in FILES
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno is not None
    ]
    assert [each for each in functions if each[0] > LONGEST_FUNCTION] == []


def test_no_file_is_long() -> None:
    lengths = [(len(file.read_text(encoding="utf-8").splitlines()), str(file.relative_to(ROOT))) for file in FILES]
    assert [each for each in lengths if each[0] > LONGEST_FILE] == []


def test_each_check_that_is_switched_off_says_why() -> None:
    silent = [
        f"{file.relative_to(ROOT)}:{number}"
        for file in FILES
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        for found in re.finditer(r"# (?:noqa: [A-Z]+\d+(?:, [A-Z]+\d+)*|type: ignore\[[\w, -]+\])(?P<reason>\s.*|$)", line)
        if not re.match(r"\s+(?:--|#)\s*\S", found["reason"])
    ]
    assert silent == []


ANY_IN_PARTS = json.loads((ROOT / "tests" / "data" / "any.json").read_text(encoding="utf-8"))
"""How often each part says `Any`, and in how many of its files JSON is not narrowed (`AnyJson`)."""


def test_any_is_not_said_more_often() -> None:
    """Every part may only have fewer; then lower its number in `tests/data/any.json`."""
    said: dict[str, int] = {}
    for file in FILES:
        names = [node.id for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))) if isinstance(node, ast.Name)]
        aliases = file.read_text(encoding="utf-8").count("AnyJson as Json")
        part = file.relative_to(ROOT / "instrc").parts[0].removesuffix(".py")
        said[part] = said.get(part, 0) + names.count("Any") + aliases
    assert {part: count for part, count in said.items() if count > ANY_IN_PARTS.get(part, 0)} == {}


def test_no_two_files_of_tests_have_one_name() -> None:
    """pytest imports a file of tests by its name alone: two of one name stop the whole run."""
    names = [file.name for file in (ROOT / "tests").rglob("test_*.py")]
    assert sorted({name for name in names if names.count(name) > 1}) == []
