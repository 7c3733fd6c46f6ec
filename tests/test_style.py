"""Lint, layout and types are tests like any other, so that one command runs all."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tokenize
from io import StringIO
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize("command", [["ruff", "check", "-q"], ["ruff", "format", "--check"], ["mypy"]], ids=" ".join)
def test_nothing_to_complain_about(command: list[str]) -> None:
    done = subprocess.run([sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"


LONGEST_FUNCTION = 60
"""Lines; what is longer hides its idea."""
LONGEST_FILE = 600
"""Lines with code, without imports and docstrings; what is longer has two ideas."""
FILES = sorted((ROOT / "instrc").rglob("*.py"))


def test_no_function_is_long() -> None:
    functions = [
        (node.end_lineno - node.lineno + 1, f"{file.relative_to(ROOT)} {node.name}")
        for file in FILES
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno is not None
    ]
    assert [each for each in functions if each[0] > LONGEST_FUNCTION] == []


def _code_lines(text: str) -> int:
    """Count the lines that have code on them: no comment, no docstring, no import."""
    silent = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    lines = {
        line
        for token in tokenize.generate_tokens(StringIO(text).readline)
        if token.type not in silent
        for line in range(token.start[0], token.end[0] + 1)
    }
    for node in ast.walk(ast.parse(text)):
        told = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        if (told or isinstance(node, ast.Import | ast.ImportFrom)) and node.end_lineno is not None:
            lines -= set(range(node.lineno, node.end_lineno + 1))
    return len(lines)


def test_no_file_is_long() -> None:
    lengths = [(_code_lines(file.read_text(encoding="utf-8")), str(file.relative_to(ROOT))) for file in FILES]
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


def test_any_is_said_only_with_its_reason() -> None:
    """A value whose type can be said has it; where it is somebody else's, the line says in a comment why it has none."""
    without_reason = [
        f"{file.relative_to(ROOT)}:{node.lineno}"
        for file in FILES
        for lines in [file.read_text(encoding="utf-8").splitlines()]
        for node in ast.walk(ast.parse("\n".join(lines)))
        if isinstance(node, ast.Name) and node.id == "Any" and "  # " not in lines[node.lineno - 1]
    ]
    assert without_reason == []


def test_no_two_files_of_tests_have_one_name() -> None:
    """pytest imports a file of tests by its name alone: two of one name stop the whole run."""
    names = [file.name for file in (ROOT / "tests").rglob("test_*.py")]
    assert sorted({name for name in names if names.count(name) > 1}) == []
