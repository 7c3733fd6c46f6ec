"""Run command lines: in this process where that shows all there is to see, as processes of their own where it does not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from command_lines import TEXT, Instrc, Run

from instrc.cli import main


@pytest.fixture
def instrc(capfdbinary: pytest.CaptureFixture[bytes], folder: Path) -> Instrc:
    """Run a command line in this process, in a fresh folder."""

    def run(*arguments: str | Path) -> Run:
        capfdbinary.readouterr()
        code = main([str(argument) for argument in arguments])
        out, err = capfdbinary.readouterr()
        return Run(code, out.decode(), err.decode())

    return run


@pytest.fixture
def process(folder: Path) -> Instrc:
    """Run a command line as a process, in a fresh folder."""

    def run(*arguments: str | Path, stdin: bytes = b"", **environment: str) -> Run:
        done = subprocess.run(
            [sys.executable, "-m", "instrc", *arguments],
            cwd=folder,
            input=stdin,
            capture_output=True,
            check=False,
            env=os.environ | environment,
        )
        return Run(done.returncode, done.stdout.decode(), done.stderr.decode())

    return run


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a fresh working folder with two small vibes and no settings from outside."""
    (tmp_path / "schemas").mkdir()
    for name in ("greet", "answer", "send_Activity", "Приветствие"):
        (tmp_path / "schemas" / f"{name}.vibe.json").write_text(TEXT, encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text("")
    for name in ("NO_COLOR", "FORCE_COLOR", "INSTRC_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path
