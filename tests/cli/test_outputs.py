"""Files are written whole or not at all."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from every_case import every_case

from instrc.cli.output import write_files  # a disk and a terminal are played here


def tree(folder: Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in folder.rglob("*") if path.is_file()}


def test_files_are_written_with_the_folders_they_need(tmp_path: Path) -> None:
    write_files({tmp_path / "a" / "b" / "x.json": "1\n", tmp_path / "a" / "план.json": "Ж\n"})
    assert tree(tmp_path) == {"a/b/x.json": "1\n", "a/план.json": "Ж\n"}


def test_new_files_have_the_rights_that_the_user_gives_new_files(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_files({tmp_path / "x.json": "1\n"})
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "x.json").stat().st_mode) == 0o640


def test_replaced_files_keep_their_rights(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("old")
    (tmp_path / "x.json").chmod(0o600)
    write_files({tmp_path / "x.json": "new"})
    assert tree(tmp_path) == {"x.json": "new"}
    assert stat.S_IMODE((tmp_path / "x.json").stat().st_mode) == 0o600


def test_a_link_is_not_written_through(tmp_path: Path) -> None:
    (tmp_path / "real.json").write_text("old")
    (tmp_path / "link.json").symlink_to("real.json")
    (tmp_path / "dangling.json").symlink_to("new.json")
    for name in ("link.json", "dangling.json"):
        with pytest.raises(OSError, match="it is a link"):
            write_files({tmp_path / name: "new"})
        assert (tmp_path / name).is_symlink()
    assert tree(tmp_path) == {"real.json": "old", "link.json": "old"}


def test_a_pipe_and_a_socket_are_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket.json"))
        for name, kind in (("pipe", "a pipe"), ("socket", "a socket")):
            with pytest.raises(OSError, match=f"it is {kind}"):
                write_files({tmp_path / "other.json": "x", tmp_path / f"{name}.json": "x"})
    assert not (tmp_path / "other.json").exists()


def test_a_source_of_the_run_is_not_overwritten(tmp_path: Path) -> None:
    source = tmp_path / "a.json"
    source.write_text("mine")
    (tmp_path / "b.json").hardlink_to(source)
    for name in ("a.json", "b.json"):
        with pytest.raises(OSError, match="a source of this run"):
            write_files({tmp_path / name: "x"}, ["-", "no\0file", str(source)])
    assert source.read_text() == "mine"


def test_a_device_is_written_to_and_not_replaced() -> None:
    write_files({Path(os.devnull): "x"})
    assert not Path(os.devnull).is_file()


@every_case("at", [1, 2, 3])
@every_case("error", [OSError(28, "No space left on device"), KeyboardInterrupt()], ids=["full", "stopped"])
def test_whatever_breaks_nothing_has_happened(
    at: int, error: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "a.json").write_text("old a")
    (folder / "c.json").write_text("old c")
    before = tree(tmp_path)
    calls = 0

    def breaking(original: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: object, **kwargs: object) -> object:
            nonlocal calls
            calls += 1
            if calls == at:
                raise error
            return original(*args, **kwargs)

        return call

    with monkeypatch.context() as patch:
        patch.setattr("builtins.open", breaking(open))
        with pytest.raises(type(error)):
            write_files({folder / "a.json": "new", folder / "b.json": "new", folder / "sub" / "c.json": "new"})
    assert calls >= at
    assert tree(tmp_path) == before


def test_a_folder_in_the_way_undoes_the_rest(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("old")
    (tmp_path / "b.json").mkdir()
    with pytest.raises(OSError, match="it is a folder"):
        write_files({tmp_path / "a.json": "new", tmp_path / "b.json": "new"})
    assert tree(tmp_path) == {"a.json": "old"}


def test_a_file_in_the_place_of_the_folder_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("I am a file")
    with pytest.raises(OSError, match="directory"):
        write_files({tmp_path / "out" / "a.json": "new"})
    assert tree(tmp_path) == {"out": "I am a file"}


@every_case("kind", ["link", "pipe"])
def test_the_result_of_a_run_replaces_regular_files_only(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from instrc.cli import main

    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.aug").write_text('@{ title: "Draft", type: "object" }')
    (tmp_path / "kept").write_text("before")
    if kind == "link":
        (tmp_path / "out").symlink_to("kept")
    else:
        os.mkfifo(tmp_path / "out")
    assert main(["run", "t.aug", "-i", "a", "--model", "sample", "--engine", "memory", "-q", "-o", "out"]) != 0
    assert (tmp_path / "kept").read_text() == "before"
    assert (tmp_path / "out").is_symlink() or (tmp_path / "out").is_fifo()


@every_case("source", ["t.aug", "schemas/draft.vibe.json", "items.jsonl", "prompt.json"])
def test_the_result_of_a_run_replaces_no_source_of_it(source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from instrc.cli import main

    monkeypatch.chdir(tmp_path)
    (tmp_path / "schemas").mkdir()
    (tmp_path / "schemas" / "draft.vibe.json").write_text('{"type": "object"}')
    (tmp_path / "t.aug").write_text("prompt | Draft")
    for name in ("items.jsonl", "prompt.json"):
        (tmp_path / name).write_text('"a"\n')
    before = tree(tmp_path)
    given = ["--items", "items.jsonl"] if source == "items.jsonl" else ["-i", "@prompt.json"]
    assert main(["run", "t.aug", *given, "--model", "sample", "--engine", "memory", "-q", "-o", source]) == 1
    assert tree(tmp_path) == before


@pytest.mark.skipif(not Path("/dev/stdout").exists(), reason="a stream of Unix")
@pytest.mark.parametrize(
    "command",
    [
        "types p.aug -o /dev/stdout >> log",
        "types p.aug -o /dev/stderr 2>> log",
        "run p.aug -i x --model sample --engine memory -q -o /dev/stdout 2> err >> log",
        "run p.aug --items items --model sample --engine memory -q -o /dev/fd/1 2> err >> log",
        "run p.aug --items items --model sample --engine memory -q -o /dev/stderr 2>> log",
    ],
)
def test_a_stream_of_the_shell_gets_the_output_behind_what_is_there(command: str, tmp_path: Path) -> None:
    if command.startswith("types"):
        pytest.importorskip("datamodel_code_generator")
    for name, text in {"p.aug": '@{ title: "Draft", type: "object" }', "items": '"a"\n', "log": "precious\n"}.items():
        (tmp_path / name).write_text(text)
    subprocess.run(f"{sys.executable} -m instrc {command}", shell=True, capture_output=True, check=True, cwd=tmp_path)  # noqa: S602
    kept, found = (tmp_path / "log").read_text().split("\n", 1)
    assert (kept, bool(found)) == ("precious", True)


@pytest.mark.skipif(os.name == "nt", reason="a limit of Unix")
def test_a_result_that_finds_no_room_is_a_problem_and_not_ours(tmp_path: Path) -> None:
    (tmp_path / "t.aug").write_text('@{ title: "Draft", type: "object" }')
    (tmp_path / "items.jsonl").write_text('"a"\n')
    command = f"{sys.executable} -m instrc run t.aug --items items.jsonl --model sample --engine memory -q -o out.jsonl"
    done = subprocess.run(f"ulimit -f 0; {command}", shell=True, capture_output=True, check=False, cwd=tmp_path)  # noqa: S602
    assert done.returncode == 1
    assert b"`out.jsonl` cannot be written: file too large [unwritable-output]" in done.stderr
