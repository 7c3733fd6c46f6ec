"""A check of many files leaves out those that are known to be sound, and finds what uses a changed file."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from threading import Thread

import pytest
from command_lines import Instrc

from instrc import Report
from instrc.compiler import checking  # its cache of sound files is damaged here
from instrc.compiler.checking import FOLDER, SoundDigests, check_files  # its cache of sound files is damaged here
from instrc.compiler.workspace import Workspace
from instrc.vibes.find_files import find_files

VIBE = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


@pytest.fixture
def many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a tree that is worth a cache: 60 vibes and 20 programs."""
    monkeypatch.chdir(tmp_path)
    shutil.rmtree(tmp_path / "schemas", ignore_errors=True)
    (tmp_path / "schemas").mkdir()
    for number in range(60):
        vibe = VIBE if number % 5 else {"$ref": "aug:v1"}
        (tmp_path / "schemas" / f"v{number}.vibe.json").write_text(json.dumps(vibe))
    for number in range(20):
        (tmp_path / f"p{number}.aug").write_text(f"tool p{number} = V{number} | V{number + 30}")
    return tmp_path


def names(*, cached: bool = True) -> list[str]:
    found = check_files(find_files(["."], Report()), cached=cached)
    return sorted(f"{problem.name} {problem.at.source.name if problem.at else ''}" for problem in found)


@pytest.fixture
def looked_at(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Note which files are really checked."""
    seen: list[str] = []
    check: Callable[..., None] = Workspace.check

    def noted(self: Workspace, path: str, report: Report) -> None:
        seen.append(path)
        check(self, path, report)

    monkeypatch.setattr(Workspace, "check", noted)
    return seen


def test_what_is_known_to_be_sound_is_not_checked_again(many: Path, looked_at: list[str]) -> None:
    assert names() == []
    assert len(looked_at) == 80
    looked_at.clear()
    assert names() == []
    assert looked_at == []
    assert names(cached=False) == []
    assert len(looked_at) == 80


def test_nothing_is_known_any_more_when_any_file_of_the_package_has_changed(
    many: Path, looked_at: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    assert {file.parent.name for file in Path(checking.PACKAGE).rglob("*.py")} > {"lint", "compiler"}
    package = tmp_path_factory.mktemp("package")
    (package / "lint").mkdir()
    (package / "lint" / "words.py").write_text("old")
    monkeypatch.setattr(checking, "PACKAGE", str(package))
    names()
    looked_at.clear()
    (package / "lint" / "words.py").write_text("new words")
    names()
    assert len(looked_at) == 80


def test_a_program_is_checked_again_alone_and_a_vibe_with_all_that_may_see_it(many: Path, looked_at: list[str]) -> None:
    names()
    looked_at.clear()
    (many / "p3.aug").write_text("tool p3 = V3")
    assert names() == []
    assert looked_at == ["p3.aug"]
    looked_at.clear()
    (many / "schemas" / "v1.vibe.json").write_text(json.dumps({**VIBE, "title": "Changed"}))
    assert names() == []
    assert "p1.aug" in looked_at
    assert "schemas/v0.vibe.json" in looked_at  # it refers to `aug:v1`
    assert "schemas/v2.vibe.json" not in looked_at


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda root: (root / "schemas" / "v7.vibe.json").unlink(), "unknown-name p7.aug"),
        (lambda root: (root / "schemas" / "v1.vibe.json").write_text('{"type": "text"}'), "invalid-schema schemas/v1.vibe.json"),
        (
            lambda root: (root / "schemas" / "v7@2.vibe.json").write_text(json.dumps(VIBE)),
            "hidden-version schemas/v7@2.vibe.json",
        ),
        (
            lambda root: (root / "schemas" / "sub").mkdir() or (root / "schemas/sub/V7.vibe.json").write_text("{}"),
            "ambiguous-name p7.aug",
        ),
        (lambda root: (root / "pyproject.toml").write_text("[tool.instrc]\nroots = 5"), "invalid-settings pyproject.toml"),
        (
            lambda root: (root / "schemas" / "v2.vibe.json").write_text('{"$ref": "\\u0061ug:gone"}'),
            "unresolved-reference schemas/v2.vibe.json",
        ),
    ],
)
def test_a_change_anywhere_is_seen(many: Path, change: Callable[[Path], object], problem: str) -> None:
    names()
    change(many)
    assert problem in names()
    assert names() == names(cached=False)


def test_problems_are_told_each_time(many: Path) -> None:
    (many / "bad.aug").write_text("Nothing")
    assert names() == names() == ["unknown-name bad.aug"]


@pytest.mark.parametrize("data", [b"", b"x", b"\0" * 1000003])
def test_a_damaged_store_is_nothing_known(many: Path, data: bytes, looked_at: list[str]) -> None:
    (many / FOLDER).mkdir(parents=True)
    (many / FOLDER / "checked").write_bytes(data)
    assert names() == []
    assert len(looked_at) == 80


@pytest.mark.parametrize("data", [b"", b"x", b"\x81\xa1a\x93\x95\x00\x00\x00\x00\x00\xc4\x00\x05", b"\xc1" * 100])
def test_damaged_contents_are_read_anew(many: Path, data: bytes) -> None:
    (many / FOLDER).mkdir(parents=True)
    (many / FOLDER / "contents").write_bytes(data)
    assert names() == []


def test_a_file_that_lies_as_it_lay_is_not_read_again(many: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking, "SETTLED", 0)
    read: list[str] = []
    real = checking.read_regular
    monkeypatch.setattr(checking, "read_regular", lambda path, most: read.append(Path(path).name) or real(path, most))
    assert names() == []
    assert {"v1.vibe.json", "p1.aug"} <= set(read)
    read.clear()
    assert names() == []
    assert read == ["checked", "contents"]
    vibe = many / "schemas" / "v1.vibe.json"
    times = vibe.stat()
    vibe.write_text(vibe.read_text().replace('"string"', '"strong"'))  # as long as before, and as old
    os.utime(vibe, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert "invalid-schema schemas/v1.vibe.json" in names()


def test_what_has_just_changed_is_not_remembered(many: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking, "SETTLED", 10**18)
    assert names() == []
    assert not (many / FOLDER / "contents").exists()


def test_a_store_that_cannot_be_written_is_done_without(many: Path) -> None:
    (many / ".instrc").write_text("in the way")
    assert names() == []


def test_the_store_is_bounded_and_several_may_write_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking, "KNOWN_FILES", 1000)
    place = tmp_path / "store" / "checked"
    written = [number.to_bytes(20, "big") for number in range(4000)]
    writers = [Thread(target=lambda part=part: SoundDigests(place).add(written[part::4])) for part in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert place.stat().st_size <= 1000 * 20
    assert SoundDigests(place).digests <= set(written)
    assert [path.name for path in place.parent.iterdir() if path.name.endswith(".tmp")] == []


def test_runs_side_by_side_remember_a_file_once(tmp_path: Path) -> None:
    place = tmp_path / "store" / "checked"
    runs = [SoundDigests(place) for _ in range(3)]  # none knows yet what the others find out
    for run in runs:
        run.add([b"a" * 20, b"b" * 20])
    assert place.read_bytes() == b"a" * 20 + b"b" * 20


def test_few_files_leave_no_store(instrc: Instrc, folder: Path) -> None:
    instrc("check", ".")
    assert not (folder / ".instrc").exists()


# Dependents


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
