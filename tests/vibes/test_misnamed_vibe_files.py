"""An instruction that is not found though a file for it was saved: under a wrong ending, or in a folder that is no root."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import instrc

Files = Callable[[str, dict[str, str]], Path]
SCHEMA = '{"type": "object", "properties": {"text": {"type": "string"}}}'


def hint(folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return what is told of the only problem of the program in a folder."""
    monkeypatch.chdir(folder)
    with pytest.raises(instrc.CompileError) as caught:
        instrc.artefacts(Path("a.aug"))
    (problem,) = caught.value.problems
    assert problem.name == "unknown-name"
    return problem.hint or ""


@pytest.mark.parametrize(
    ("file", "wanted"),
    [
        ("schemas/find-slot.json", "schemas/find-slot.vibe.json`"),
        ("schemas/mail/find-slot.vibe.yaml", "schemas/mail/find-slot.vibe.json`, as JSON"),
        ("schemas/find-slot.vibe.yml", "schemas/find-slot.vibe.json`, as JSON"),
        ("schemas/FindSlot.vibe.jsonc", "schemas/FindSlot.vibe.json`"),
        ("schemas/find_slot.vibe.json.txt", "schemas/find_slot.vibe.json`"),
        ("schemas/find_slot.vibe", "schemas/find_slot.vibe.json`"),
        ("find-slot.vibe.json", "schemas/find-slot.vibe.json`"),
        ("other/find-slot.vibe.json", "schemas/find-slot.vibe.json`"),
        ("other/find-slot.json", "schemas/find-slot.vibe.json`"),
    ],
)
def test_the_file_is_named_and_the_name_that_it_needs(
    files: Files, monkeypatch: pytest.MonkeyPatch, file: str, wanted: str
) -> None:
    told = hint(files("p", {"a.aug": "FindSlot", file: SCHEMA}), monkeypatch)
    assert f"there is `{file}`" in told
    assert told.endswith(f"save it as `{wanted}")


@pytest.mark.parametrize(
    "file", ["schemas/other.json", "schemas/find-slot.md", ".hidden/find-slot.vibe.json", "schemas/find-slot.cases.json"]
)
def test_other_files_are_not_named(files: Files, monkeypatch: pytest.MonkeyPatch, file: str) -> None:
    assert "there is" not in hint(files("p", {"a.aug": "FindSlot", file: SCHEMA}), monkeypatch)


def test_a_program_without_a_file_looks_nowhere(files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(files("p", {"find-slot.json": SCHEMA}))
    with pytest.raises(instrc.CompileError) as caught:
        instrc.artefacts("FindSlot")
    assert "there is" not in (caught.value.problems[0].hint or "")


def test_a_folder_of_many_files_is_read_up_to_a_bound(files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = files("p", {"a.aug": "FindSlot", "b.md": "", "c.md": "", "find-slot.json": SCHEMA})
    monkeypatch.setattr("instrc.vibes.roots.LISTED_FILES", 4)
    assert "there is `find-slot.json`" in hint(folder, monkeypatch)
    monkeypatch.setattr("instrc.vibes.roots.LISTED_FILES", 3)
    assert "there is" not in hint(folder, monkeypatch)
