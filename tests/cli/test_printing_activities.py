"""What an activity prints never comes between the lines of a protocol."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_lines import Instrc

HANDLERS = """
import os, subprocess, sys
print("imported")

def work(given):
    print("first", given["text"])
    os.system("echo a shell")
    subprocess.run(["echo", "a program"], stdout=sys.stdout)
    sys.stdout.buffer.write(b"bytes\\n")
    sys.stdout.flush()
    print("\\x1b[31mred", end="")
    return "done"

async def later(given):
    print("second")
    return given
"""
SETTINGS = """
[tool.instrc.activities]
"Work_Activity" = "handlers:work"
"Later_Activity" = "handlers:later"
"""
SHOWN = ["imported", "[Work_Activity] first hi", "a shell", "a program", "bytes"]
SHOWN += ["[Work_Activity] \u241b[31mred", "[Later_Activity] second"]


@pytest.fixture
def project(folder: Path) -> Path:
    (folder / "handlers.py").write_text(HANDLERS)
    (folder / "pyproject.toml").write_text(SETTINGS)
    for name in ("Work_Activity", "Later_Activity"):
        vibe = {"properties": {"output": {"type": "string"}}}
        (folder / "schemas" / f"{name}.vibe.json").write_text(json.dumps(vibe))
    (folder / "p.aug").write_text("const a = Work_Activity(text: prompt); tool P = Later_Activity(a);")
    return folder


@pytest.mark.parametrize("options", [[], ["--json"], ["-q"], ["--items", "-"]], ids=" ".join)
def test_what_it_prints_goes_to_the_standard_error(project: Path, process: Instrc, options: list[str]) -> None:
    given = [] if "--items" in options else ["-i", "hi"]
    code, out, err = process("run", "p.aug", "--model", "sample", "--engine", "memory", *given, *options, stdin=b'"hi"\n')
    assert code == 0
    lines = out.splitlines() if options in (["--json"], ["--items", "-"]) else [out]
    assert all(isinstance(json.loads(line), dict) for line in lines)
    assert [line for line in SHOWN if line not in err.splitlines()] == []
