"""`check --dependents` finds what uses a changed file."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from command_lines import Instrc

VIBE = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


@pytest.fixture
def many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a tree of 60 vibes and 20 programs."""
    monkeypatch.chdir(tmp_path)
    shutil.rmtree(tmp_path / "schemas", ignore_errors=True)
    (tmp_path / "schemas").mkdir()
    for number in range(60):
        vibe = VIBE if number % 5 else {"$ref": "aug:v1"}
        (tmp_path / "schemas" / f"v{number}.vibe.json").write_text(json.dumps(vibe))
    for number in range(20):
        (tmp_path / f"p{number}.aug").write_text(f"tool p{number} = V{number} | V{number + 30}")
    return tmp_path


def test_programs_that_use_a_changed_vibe_are_checked(instrc: Instrc, many: Path) -> None:
    (many / "schemas" / "v1.vibe.json").write_text('{"type": "text"}')
    done = instrc("check", "--dependents", "schemas/v2.vibe.json")
    assert done == (0, "", "")
    done = instrc("check", "--dependents", "schemas/v1.vibe.json")
    assert done.code == 1
    (many / "schemas" / "v1.vibe.json").unlink()
    done = instrc("check", "--dependents", "schemas/v1.vibe.json")
    assert "p1.aug:1:11: error: nothing is called `V1`" in done.err
    assert "schemas/v5.vibe.json" in done.err  # it refers to `aug:v1`
    assert "p2.aug" not in done.err


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_programs_that_use_a_deleted_vibe_are_checked(instrc: Instrc, many: Path) -> None:
    git = ["git", "-c", "user.name=A", "-c", "user.email=a@example.org"]
    for command in (["init", "-q"], ["add", "--all"], ["commit", "-qm", "All"], ["rm", "-q", "schemas/v7.vibe.json"]):
        subprocess.run([*git, *command], cwd=many, check=True, capture_output=True)
    done = instrc("check", "--dependents")
    assert done.code == 1
    assert "p7.aug:1:11: error: nothing is called `V7`" in done.err
    assert "p2.aug" not in done.err
