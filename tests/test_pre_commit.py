"""The hook for our users, run by the real `pre-commit` in a repository of theirs."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SHIPPED = ("instrc", "grammar", "schemas", "pyproject.toml", "README.md", "LICENSE", ".gitignore", ".pre-commit-hooks.yaml")
VIBE = '{ "type": "object", "properties": { "text": { "type": "string" } } }\n'

pytestmark = [
    pytest.mark.slow,  # it makes an environment and installs the package, with what that needs, into it
    pytest.mark.skipif(shutil.which("pre-commit") is None, reason="pre-commit is not installed"),
]


def git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=Someone", "-c", "user.email=someone@example.org", "-c", "init.defaultBranch=main")
    done = subprocess.run(["git", *identity, *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def commit(folder: Path) -> str:
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "All of it")
    return git(folder, "rev-parse", "HEAD")


def test_the_hook_checks_programs_and_vibes_and_nothing_else(tmp_path: Path) -> None:
    ours, theirs = tmp_path / "instrc", tmp_path / "theirs"
    for name in SHIPPED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, ours / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, ours / name)
    revision = commit(ours)
    (theirs / "schemas").mkdir(parents=True)
    (theirs / "schemas" / "greet.vibe.json").write_text(VIBE)
    (theirs / "good.aug").write_text('"Say hello" | Greet\n')
    (theirs / "notes.txt").write_text("no program\n")
    (theirs / "data.json").write_text("[no vibe]\n")
    (theirs / ".pre-commit-config.yaml").write_text(
        f"repos:\n  - repo: {ours}\n    rev: {revision}\n    hooks:\n"
        "      - id: instrc-check\n      - id: instrc-fmt\n      - id: instrc-lock\n"
    )
    (theirs / ".gitignore").write_text(".instrc/\n")
    commit(theirs)
    environment = os.environ | {"PRE_COMMIT_HOME": str(tmp_path / "cache")}

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["pre-commit", "run", *(arguments or ["--all-files"])],
            cwd=theirs,
            capture_output=True,
            text=True,
            check=False,
            env=environment,
        )

    laid_out = run()  # it has no layout and no lock yet
    assert laid_out.returncode == 1
    assert "files were modified by this hook" in laid_out.stdout
    assert "aug.lock" in laid_out.stdout
    python = next((tmp_path / "cache").glob("*/py_env*/bin/instrc"))
    subprocess.run([python, "lock"], cwd=theirs, check=True, capture_output=True)
    git(theirs, "add", "--all")
    passed = run()
    assert passed.returncode == 0, passed.stdout + passed.stderr
    assert "Passed" in passed.stdout
    (theirs / "bad.aug").write_text('"Say hello" | Gret\n')
    (theirs / "schemas" / "bad.vibe.json").write_text('{ "type": "text" }\n')
    git(theirs, "add", "--all")
    failed = run()
    assert failed.returncode == 1
    assert "bad.aug:1:15: error:" in failed.stdout
    assert "[unknown-name]" in failed.stdout
    assert "bad.vibe.json:1:" in failed.stdout
    assert "notes.txt" not in failed.stdout
    assert "data.json" not in failed.stdout
    git(theirs, "rm", "--quiet", "--force", "bad.aug", "schemas/bad.vibe.json")
    git(theirs, "commit", "--quiet", "--message", "Good again", "--no-verify")
    git(theirs, "rm", "--quiet", "schemas/greet.vibe.json")
    gone = run("instrc-check")
    assert gone.returncode == 1
    assert "good.aug:1:" in gone.stdout
