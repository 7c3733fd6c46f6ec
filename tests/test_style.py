"""Lint, layout and types are tests like any other, so that one command runs all."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tokenize
from io import StringIO

import pytest
from sources import FILES, ROOT, facts


@pytest.mark.parametrize("command", [["ruff", "check", "-q"], ["ruff", "format", "--check"], ["mypy"]], ids=" ".join)
def test_nothing_to_complain_about(command: list[str]) -> None:
    done = subprocess.run([sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"


LONGEST_FUNCTION = 60
"""Lines; what is longer hides its idea."""
LONGEST_FILE = 450
"""Lines with code, without imports and docstrings; what is longer has two ideas."""


def test_no_function_is_long() -> None:
    functions = [(lines, f"{file.relative_to(ROOT)} {name}") for file in FILES for lines, name in facts(file).functions]
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
    texts = {file: facts(file).text for file in FILES}
    long = {file: text for file, text in texts.items() if text.count("\n") > LONGEST_FILE}  # only these can have so many of code
    lengths = [(_code_lines(text), str(file.relative_to(ROOT))) for file, text in long.items()]
    assert [each for each in lengths if each[0] > LONGEST_FILE] == []


def test_each_check_that_is_switched_off_says_why() -> None:
    silent = [
        f"{file.relative_to(ROOT)}:{number}"
        for file in FILES
        for number, line in enumerate(facts(file).text.splitlines(), 1)
        for found in re.finditer(r"# (?:noqa: [A-Z]+\d+(?:, [A-Z]+\d+)*|type: ignore\[[\w, -]+\])(?P<reason>\s.*|$)", line)
        if not re.match(r"\s+(?:--|#)\s*\S", found["reason"])
    ]
    assert silent == []


def test_no_module_has_section_comments() -> None:
    """A module that needs headings is two modules."""
    headings = [
        f"{file.relative_to(ROOT)}:{number}"
        for file in FILES
        for number, line in enumerate(facts(file).text.splitlines(), 1)
        if re.match(r"\s*# ?[-=*#]{3,}", line)
    ]
    assert headings == []


def test_any_is_said_only_with_its_reason() -> None:
    """A value whose type can be said has it; where it is somebody else's, the line says in a comment why it has none."""
    without_reason = [
        f"{file.relative_to(ROOT)}:{line}"
        for file in FILES
        for lines in [facts(file).text.splitlines()]
        for line in facts(file).any_lines
        if "  # " not in lines[line - 1]
    ]
    assert without_reason == []


def test_no_two_files_of_tests_have_one_name() -> None:
    """pytest imports a file of tests by its name alone: two of one name stop the whole run."""
    names = [file.name for file in (ROOT / "tests").rglob("test_*.py")]
    assert sorted({name for name in names if names.count(name) > 1}) == []
