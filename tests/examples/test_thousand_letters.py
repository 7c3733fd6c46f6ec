"""The page about a thousand letters: every one gets its line, in order."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

from instrc.jsontext import loads

PAGE = Path(__file__).parents[2] / "examples" / "thousand-letters" / "README.md"


def test_each_letter_gets_its_line_in_order(tmp_path: Path) -> None:
    place = shutil.copytree(PAGE.parent, tmp_path / "letters")
    first, second = re.findall(r"^\$ (.+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    as_here = f"{sys.executable} -m instrc "
    done = subprocess.run(first.replace("instrc ", as_here, 1), shell=True, cwd=place, capture_output=True, text=True, check=True)
    assert done.stdout == ""
    lines = [loads(line) for line in (place / "answers.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [line["item"] for line in lines] == list(range(1000))
    assert {line["status"] for line in lines} == {"done"}
    piped = second.replace("| instrc ", f"| {as_here}", 1)
    done = subprocess.run(piped, shell=True, cwd=place, capture_output=True, text=True, check=True)
    assert [loads(line)["item"] for line in done.stdout.splitlines()] == [0, 1, 2]
