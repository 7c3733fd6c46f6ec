"""The page about a thousand letters: every one gets its line, in order."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

from instrc.text.jsontext import loads

PAGE = Path(__file__).parents[2] / "examples" / "thousand-letters" / "README.md"


def test_each_letter_gets_its_line_in_order(tmp_path: Path) -> None:
    place = shutil.copytree(PAGE.parent, tmp_path / "letters")
    first, second = re.findall(r"^\$ (.+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    done = subprocess.run(_here(first), cwd=place, capture_output=True, text=True, check=True)
    assert done.stdout == ""
    lines = [loads(line) for line in (place / "answers.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [line["item"] for line in lines] == list(range(1000))
    assert {line["status"] for line in lines} == {"done"}
    head, piped = second.split(" | ")
    assert head == "head -3 letters.jsonl"
    letters = "".join((place / "letters.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)[:3])
    done = subprocess.run(_here(piped), cwd=place, input=letters, capture_output=True, text=True, check=True)
    assert [loads(line)["item"] for line in done.stdout.splitlines()] == [0, 1, 2]


def _here(command: str) -> list[str]:
    """Return a command as this Python runs it."""
    assert command.startswith("instrc ")
    return [sys.executable, "-m", *command.split()]
