"""What is read and written in odd places: the standard input, links, names that no file has."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from instrc.cli import main

PROGRAM = '@{ title: "A", type: "object", properties: { a: { type: "string" } } }'
ON = ("--engine", "memory", "--model", "sample")


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.aug").write_text(PROGRAM, encoding="utf-8")


def is_fed(data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data), encoding="utf-8"))


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("run", "x.aug", *ON, "--input", "-"), 2),
        (("run", "x.aug", *ON, "--items", "-"), 2),
        (("answer", "r", "a", "--engine", "memory", "--data", "-"), 2),
        (("compile", "-"), 1),
    ],
)
def test_a_standard_input_that_is_not_utf_8_is_told(
    words: tuple[str, ...], code: int, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    is_fed(b"\xff\xfe\n", monkeypatch)
    assert main(words) == code
    assert "internal error" not in capfd.readouterr().err


@pytest.mark.parametrize("words", [("compile",), ("graph",), ("types",), ("run", *ON, "--input", "x")])
def test_a_name_that_no_file_can_have_is_told(words: tuple[str, ...], capfd: pytest.CaptureFixture[str]) -> None:
    assert main([words[0], "x.aug", *words[1:], "-o", "a\0b"]) == 2
    assert "embedded null byte" in capfd.readouterr().err


def test_cases_that_cannot_be_updated_are_told(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "real.md").write_text("# A\n\n## B\n\n```json answer\n{}\n```\n```json output\n```\n", encoding="utf-8")
    (tmp_path / "x.cases.md").symlink_to("real.md")
    assert main(["test", "--update"]) == 1
    assert "x.cases.md` cannot be written: it is a link, and links are not written through" in capfd.readouterr().err


def test_a_file_of_cases_without_a_heading_is_told(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "x.cases.md").write_text("```json answer\n{}\n```\n", encoding="utf-8")
    assert main(["test"]) == 1
    assert "x.cases.md:1: before the first case: this block belongs to no case" in capfd.readouterr().out


def test_a_working_folder_that_is_gone_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    for words in (["check", "."], ["compile", "../x.aug"], ["doctor"], ["runs"]):
        assert main(words) == 1
        assert "[Errno 2] No such file or directory" in capfd.readouterr().err
