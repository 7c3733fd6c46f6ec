"""What type checkers see of a small project that uses the package: literals, and no `Any` where a type can be said."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

RIGHT = """
from typing import assert_type

import instrc
from instrc.lifting.lift import Lifted
from pydantic import BaseModel


class Reply(BaseModel):
    text: str


documents = instrc.compile("Reply", vibes={"Reply": Reply}, emit="tool")
fitted = [instrc.lower(document, "openai", document_name) for document, document_name in zip(documents, ("reply",), strict=True)]
fitted += [instrc.lower(Reply, dialect) for dialect in instrc.targets().values()]
lowered = instrc.lower(Reply, target="anthropic-strict", envelope="openai")
sent = instrc.encode(Reply(text="Yes."), lowered)
assert_type(instrc.verify(lowered).accepted, bool | None)
assert_type(lowered, instrc.Lowering)
several = instrc.lower_all([("one", Reply)], target="gemini")
assert_type(several, instrc.LoweredTools)
lifted = instrc.lift({"text": "Yes."}, lowered)
assert_type(lifted, Lifted)
assert_type(lifted.as_model(Reply), Reply)
assert_type(lifted.call.as_model(Reply), Reply)
assert_type(lifted.ok, bool)
assert_type(lifted.text, str | None)
assert_type(instrc.types("reply.aug"), str)
assert_type(instrc.check("."), tuple[instrc.Problem, ...])
assert_type(instrc.artefacts("reply.aug"), tuple[instrc.Artefact, ...])
assert_type([problem.message for problem in instrc.check(".")], list[str])
"""

WRONG = [
    ('instrc.lower({}, target="opnai")', "opnai"),
    ('instrc.lower({}, envelope="opnai")', "opnai"),
    ('instrc.lower_all([], target="opnai")', "opnai"),
    ('instrc.compile("A", emit="schema")', "schema"),
    ('instrc.compile("A", naming="snake")', "snake"),
    ("instrc.compile(3)", "int"),
]


def mypy(folder: Path, text: str) -> tuple[int, str]:
    (folder / "user.py").write_text(f"import instrc\n{text}\n", encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "--follow-imports", "silent", "user.py"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


def test_a_right_project_passes_and_its_types_are_exact(tmp_path: Path) -> None:
    assert mypy(tmp_path, RIGHT) == (0, "Success: no issues found in 1 source file\n")


def test_names_of_targets_and_documents_are_known_to_the_type_checker(tmp_path: Path) -> None:
    code, told = mypy(tmp_path, "\n".join(line for line, _ in WRONG))
    assert code == 1
    for number, (line, word) in enumerate(WRONG):
        assert f"user.py:{number + 2}: error:" in told, line
        assert word in told


@pytest.mark.slow
def test_pyright_agrees(tmp_path: Path) -> None:
    """Pyright is a program of Node; `pip install pyright` brings it where a network is."""
    pytest.importorskip("pyright")
    (tmp_path / "user.py").write_text(RIGHT, encoding="utf-8")
    done = subprocess.run([sys.executable, "-m", "pyright", "user.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
