"""Lint, layout and types are tests like any other, so that one command runs all."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize("command", [["ruff", "check", "-q"], ["ruff", "format", "--check"], ["mypy"]], ids=" ".join)
def test_nothing_to_complain_about(command: list[str]) -> None:
    done = subprocess.run([sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
