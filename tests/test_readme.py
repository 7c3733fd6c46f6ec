"""The first page is true: every block on it is run, and what it shows is what comes out."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from instrc import jsonvalue
from instrc.cli import main

ROOT = Path(__file__).parent.parent


class Block(NamedTuple):
    language: str
    text: str


PAGE = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = [Block(*found) for found in re.findall(r"^```(\w*)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)]
RUN_BELOW = {"aug", "console", "json", "python", "yaml", "sh", ""}


def only(language: str) -> list[str]:
    return [block.text for block in BLOCKS if block.language == language]


def test_no_block_is_left_out() -> None:
    assert {block.language for block in BLOCKS} <= RUN_BELOW


def test_the_program_is_the_one_that_is_compiled() -> None:
    [program] = only("aug")
    assert (ROOT / "examples" / "reply" / "reply.aug").read_text(encoding="utf-8") == program
    assert len(program.splitlines()) <= 8


def test_the_command_prints_what_is_shown(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(ROOT)
    [command], [shown] = only("console"), only("json")
    assert main(command.removeprefix("$ instrc ").split()) == 0
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == (shown, "")
    assert jsonvalue.dumps(jsonvalue.loads(shown)) + "\n" == shown


def test_the_python_runs(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples" / "reply", tmp_path / "examples" / "reply")
    for code in only("python"):
        subprocess.run([sys.executable, "-W", "error", "-c", code], cwd=tmp_path, check=True)


def test_the_two_commands_are_those_of_ci_and_of_the_hook() -> None:
    job, tests = only("sh")
    run = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert "'.[dev]'" in tests
    assert "'.[dev]'" in run
    assert tests.strip().endswith("python -m pytest")
    assert re.search(r"^(?:if ! )?python -m pytest(?: >.*)?$", run, re.MULTILINE), "the one test command, without arguments"
    path = job.split()[-1]
    assert main(["compile", str(ROOT / path)]) == 0
    [hook] = only("yaml")
    name = re.findall(r"- id: (\S+)", hook)[0]
    assert f"id: {name}" in (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")


def test_the_picture_shows_every_stage_of_the_driver() -> None:
    [picture] = only("")
    driver = (ROOT / "instrc" / "compiler.py").read_text(encoding="utf-8")
    for stage in ("parse", "bind", "compose", "partition", "emit"):
        assert f" {stage} " in picture
        assert f"{stage}(" in driver


def test_the_table_of_targets_is_the_one_computed_from_the_dialects() -> None:
    from instrc.dialects.table import table

    assert PAGE.split("<!-- targets -->")[1].strip() == table().strip()


def test_every_command_on_the_page_exists(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    known = capsys.readouterr().out
    for command in re.findall(r"^\| `instrc (\w+)", PAGE, re.MULTILINE):
        assert re.search(rf"\b{command}\b", known), command
