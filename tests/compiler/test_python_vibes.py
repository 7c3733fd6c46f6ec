"""Classes and functions of a project's own modules are vibes, without copies: `python = ["app.vibes"]` in its settings."""

from __future__ import annotations

from pathlib import Path

import pytest

import instrc
from instrc.compiler.workspace import Workspace  # an editor has texts that are not saved

MODULE = """
from typing import Literal
import instrc
from dataclasses import dataclass
from pydantic import BaseModel
from app.other import Other, LONGEST

print("noise")

class Draft(BaseModel):
    text: str

@dataclass
class Order:
    item: str
    other: Other

@instrc.instruction(name="Approve_User")
class Approve(BaseModel):
    decision: Literal["Approve", "Reject"]

@instrc.instruction(name="Send_Activity")
def send(text: str) -> list[str]:
    return [text]

def helper(text: str) -> str:
    return text
"""
PROGRAM = """const mail = Draft(prompt);
const answer = Approve_User(mail);
when answer.decision is "Approve" { Send_Activity(text: mail.text) }
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "__init__.py").touch()
    (tmp_path / "app" / "vibes.py").write_text(MODULE)
    (tmp_path / "app" / "other.py").write_text(
        "from dataclasses import dataclass\nLONGEST = 9\n@dataclass\nclass Other:\n    a: int\n"
    )
    (tmp_path / "pyproject.toml").write_text('[tool.instrc]\npython = ["app.vibes"]\n')
    (tmp_path / "mail.aug").write_text(PROGRAM)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def names() -> list[str]:
    return [problem.name for problem in instrc.check(".")]


def test_a_program_is_checked_against_the_classes(project: Path) -> None:
    assert names() == []
    assert {file.name for file in (project / ".instrc" / "python").glob("*.vibe.json")} == {
        "Draft.vibe.json",
        "Order.vibe.json",
        "Approve_User.vibe.json",
        "Send_Activity.vibe.json",
    }
    [process] = instrc.compile("mail.aug", emit="process")
    assert "Approve" in str(process)
    run = instrc.run("mail.aug", "x", rehearse=True)
    assert run.status == "waiting"


def test_what_changes_in_a_module_is_seen(project: Path) -> None:
    assert names() == []
    written = (project / ".instrc" / "python" / "Draft.vibe.json").stat()
    assert names() == []
    assert (project / ".instrc" / "python" / "Draft.vibe.json").stat().st_mtime_ns == written.st_mtime_ns
    file = project / "app" / "vibes.py"
    file.write_text(MODULE.replace('["Approve", "Reject"]', '["Yes", "No"]').replace("class Order", "class Bill"))
    assert names() == ["never-true"]
    assert not (project / ".instrc" / "python" / "Order.vibe.json").exists()
    (project / "app" / "other.py").write_text("raise KeyError('lost')\n")  # which that module imports
    with pytest.raises(instrc.CompileError, match=r"KeyError: 'lost' \(`app.other.py`, line 1\)"):
        instrc.compile("mail.aug")


def test_a_file_of_the_project_comes_first(project: Path) -> None:
    (project / "schemas").mkdir()
    (project / "schemas" / "draft.vibe.json").write_text('{"title": "Ours", "properties": {"text": {}}}')
    [process] = instrc.compile("mail.aug", emit="process")
    assert "Ours" in str(process)


def test_an_editor_runs_nothing_that_it_opens(project: Path) -> None:
    (project / "app" / "vibes.py").write_text("open('ran', 'w').close()\n")
    assert Workspace(unsaved={}).registry("mail.aug").lookup("Draft") == ()
    assert not (project / "ran").exists()
    (project / "app" / "vibes.py").write_text(MODULE)
    assert names() == []
    assert Workspace(unsaved={}).registry("mail.aug").lookup("Draft") == ("aug:Draft",)


@pytest.mark.parametrize("value", ['"app.vibes"', '["app/vibes"]', '["-c"]', "[3]"])
def test_only_names_of_modules_are_taken(project: Path, value: str) -> None:
    (project / "pyproject.toml").write_text(f"[tool.instrc]\npython = {value}\n")
    with pytest.raises(instrc.CompileError, match="it must be a list of modules"):
        instrc.compile("mail.aug")


def test_two_classes_of_one_name_are_refused(project: Path) -> None:
    (project / "app" / "more.py").write_text("from dataclasses import dataclass\n@dataclass\nclass Draft:\n    shapes: int\n")
    (project / "pyproject.toml").write_text('[tool.instrc]\npython = ["app.vibes", "app.more"]\n')
    with pytest.raises(instrc.CompileError, match=r"`app\.vibes` and `app\.more` both have `Draft`"):
        instrc.compile("mail.aug")


def test_a_module_that_exits_or_describes_nothing_is_no_crash(project: Path) -> None:
    (project / "app" / "vibes.py").write_text("import os\nos._exit(3)\n")
    with pytest.raises(instrc.CompileError, match="the modules cannot be imported"):
        instrc.compile("mail.aug")
    (project / "app" / "vibes.py").write_text("")
    with pytest.raises(instrc.CompileError, match="unknown"):
        instrc.compile("mail.aug")
