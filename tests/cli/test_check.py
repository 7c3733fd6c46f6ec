"""`instrc check` finds what there is to check and tells all that is wrong with it."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path

import pytest
from command_lines import TEXT, Instrc


def test_what_is_right_is_passed_over_in_silence(instrc: Instrc, folder: Path) -> None:
    (folder / "a.aug").write_text('"Say hello" | Greet | Answer\n')
    assert instrc("check", ".") == (0, "", "")
    assert instrc("check", "a.aug", "schemas/greet.vibe.json", "schemas") == (0, "", "")


def test_without_a_path_the_working_folder_is_checked(instrc: Instrc, folder: Path) -> None:
    assert instrc("check", "--dependents") == (0, "", "")  # a hook gives no file if one was only deleted
    (folder / "a.aug").write_text("Gret\n")
    assert instrc("check").err == instrc("check", ".").err
    assert instrc("check").code == 1


def test_a_problem_has_path_line_and_column(instrc: Instrc, folder: Path) -> None:
    (folder / "a.aug").write_text('"Say hello"\n  | Gret\n  | Answer\n')
    done = instrc("check", "a.aug")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("a.aug:2:5: error: ")
    assert "[unknown-name]\n  2 |   | Gret\n    |     ^^^^\n" in done.err
    assert "`greet`" in done.err.casefold()
    assert done.err.endswith("\n1 error\n")


def test_a_program_below_schemas_sees_its_neighbours(instrc: Instrc, folder: Path) -> None:
    (folder / "schemas" / "both.aug").write_text("Greet | Answer\n")
    assert instrc("check", "schemas/both.aug") == (0, "", "")


def test_a_folder_is_searched_for_programs_and_vibes(instrc: Instrc, folder: Path) -> None:
    for place in ("b/deep", "a", ".hidden", "b/.git"):
        (folder / place).mkdir(parents=True)
        (folder / place / "bad.aug").write_text("Gret\n")
        (folder / place / "bad.vibe.json").write_text("[]")
        (folder / place / "other.json").write_text("[]")
        (folder / place / "notes.txt").write_text("(")
    (folder / "b" / "around").symlink_to(folder / "b", target_is_directory=True)
    done = instrc("check", ".", "--format", "json")
    assert done.code == 1
    assert done.err == ""
    assert [problem["path"] for problem in json.loads(done.out)] == [
        "a/bad.aug",
        "a/bad.vibe.json",
        "b/deep/bad.aug",
        "b/deep/bad.vibe.json",
    ]


def test_a_folder_with_nothing_in_it_is_a_warning(instrc: Instrc, folder: Path) -> None:
    (folder / "empty").mkdir()
    done = instrc("check", "empty")
    assert done.code == 0
    assert "[nothing-to-check]" in done.err
    assert instrc("check", "empty", "--strict").code == 1


def test_the_problem_of_a_vibe_is_told_once_though_several_programs_use_it(instrc: Instrc, folder: Path) -> None:
    (folder / "schemas" / "broken.vibe.json").write_text('{ "type": "objekt" }')
    for name in ("a", "b"):
        (folder / f"{name}.aug").write_text("Broken | Greet\n")
    done = instrc("check", ".", "--format", "json")
    assert done.code == 1
    problems = json.loads(done.out)
    assert len({json.dumps(problem) for problem in problems}) == len(problems)
    assert {problem["path"] for problem in problems} >= {"schemas/broken.vibe.json"}


@pytest.mark.parametrize("shape", ["json", "github"])
def test_machine_formats_are_the_output(instrc: Instrc, folder: Path, shape: str) -> None:
    (folder / "a.aug").write_text("Gret\n")
    done = instrc("check", "a.aug", "--format", shape)
    assert (done.code, done.err) == (1, "")
    if shape == "github":
        assert done.out.startswith("::error file=a.aug,line=1,endLine=1,col=1,endColumn=5,title=instrc unknown-name::")
    else:
        assert "unknown-name" in json.dumps(json.loads(done.out))
    clean = instrc("check", "schemas", "--format", shape)
    assert clean.code == 0
    assert clean.out == "" if shape == "github" else json.loads(clean.out) in ([], json.loads(clean.out))


BAD = {
    "empty.aug": b"",
    "latin.aug": "«Привет» | Greet".encode("cp1251"),
    "zeros.aug": b"\0" * 1000,
    "brackets.aug": b"Greet" + b"(" * 100_000,
    "closed.aug": b"Greet(" * 50_000 + b"prompt" + b")" * 50_000,
    "braces.aug": b"{a:" * 100_000,
    "long.aug": b'"' + b"x" * 10_000_000 + b'" | Greet',
    "line.aug": b"Greet | " * 1_300_000,
    "empty.vibe.json": b"",
    "array.vibe.json": b"[1, 2]",
    "latin.vibe.json": b'{ "title": "\xff" }',
    "deep.vibe.json": b"[" * 100_000,
    "cut.vibe.json": b'{ "type": ',
    "circle.vibe.json": b'{ "$ref": "#/$defs/a", "$defs": { "a": { "$ref": "#/$defs/b" }, "b": { "$ref": "#/$defs/a" } } }',
}


@pytest.mark.long
@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("command", ["check", "compile"])
def test_bad_input_is_a_problem_and_no_crash(instrc: Instrc, folder: Path, name: str, command: str) -> None:
    (folder / name).write_bytes(BAD[name])
    done = instrc(command, name, "--format", "json")
    assert done.code == 1, done.err
    problems = json.loads(done.out if command == "check" else done.err)
    assert 0 < len(problems) < 60
    assert {problem["path"] for problem in problems} == {name}
    text = instrc(command, name)
    assert text.code == 1
    assert len(text.err) < 20_000
    assert "Traceback" not in text.err


def test_all_of_them_at_once(instrc: Instrc, folder: Path) -> None:
    for name, data in BAD.items():
        (folder / name).write_bytes(data)
    done = instrc("check", ".", "--format", "json")
    assert done.code == 1
    assert {problem["path"] for problem in json.loads(done.out)} == set(BAD)


@pytest.mark.parametrize("path", ["missing.aug", "missing/deep.vibe.json", "a.aug/b.aug"])
def test_what_is_not_there_is_a_problem(instrc: Instrc, folder: Path, path: str) -> None:
    (folder / "a.aug").write_text("Greet\n")
    done = instrc("check", path)
    assert done.code == 1
    assert "[unreadable-file]" in done.err


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes of Unix")
def test_broken_links_and_sockets_are_no_reason_to_stop(instrc: Instrc, folder: Path) -> None:
    (folder / "gone.aug").symlink_to("nowhere.aug")
    (folder / "loop.aug").symlink_to("loop.aug")
    (folder / "a.vibe.json").write_text(TEXT)
    done = instrc("check", ".", "--format", "json")
    assert done.code == 1
    assert [problem["path"] for problem in json.loads(done.out)] == ["gone.aug", "loop.aug"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes of Unix")
def test_pipes_sockets_and_devices_are_told_and_never_opened(instrc: Instrc, folder: Path) -> None:
    os.mkfifo(folder / "pipe.aug")
    os.mkfifo(folder / "schemas" / "pipe.vibe.json")
    (folder / "device.aug").symlink_to("/dev/zero")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket.aug")
        done = instrc("check", ".", "--format", "json")
    assert done.code == 1
    assert {problem["path"]: problem["message"].rpartition(": ")[2] for problem in json.loads(done.out)} == {
        "device.aug": "it is a link that leads out of the folder",
        "pipe.aug": "it is a pipe",
        "socket.aug": "it is a socket",
        "schemas/pipe.vibe.json": "it is a pipe",
    }
    for name in ("pipe.aug", "schemas/pipe.vibe.json"):
        assert "it is a pipe" in instrc("compile", name).err
    assert "it is a device" in instrc("check", "device.aug").err


def test_a_link_out_of_the_folder_shows_nothing_of_what_it_leads_to(instrc: Instrc, folder: Path) -> None:
    (folder / "secret").write_text("password: hunter2\n")
    (folder / "in").mkdir()
    (folder / "in" / "a.aug").symlink_to(folder / "secret")
    (folder / "in" / "b.vibe.json").symlink_to("../secret")
    (folder / "in" / "real.aug").write_text("oops(")
    (folder / "in" / "c.aug").symlink_to("real.aug")
    done = instrc("check", "in")
    assert done.code == 1
    assert "hunter2" not in done.out + done.err
    assert done.err.count("a link that leads out of the folder") == 2
    assert "in/c.aug" in done.err


def test_a_link_to_itself_hides_nothing_of_its_folder(instrc: Instrc, folder: Path) -> None:
    (folder / "schemas" / "self").symlink_to("self")
    (folder / "schemas" / "more").mkdir()
    (folder / "schemas" / "more" / "loop").symlink_to("loop")
    (folder / "schemas" / "more" / "find-me.vibe.json").write_text(TEXT)
    (folder / "a.aug").write_text("FindMe(prompt)\n")
    assert instrc("check", "a.aug") == (0, "", "")


def test_a_stream_of_the_shell_is_read(process: Instrc, folder: Path) -> None:
    done = process("flatten", "/dev/stdin", stdin=b'{"allOf": [{"type": "string"}]}')
    assert (done.code, json.loads(done.out)) == (0, {"type": "string"})


def test_a_thousand_vibes_share_one_registry(instrc: Instrc, folder: Path) -> None:
    (folder / "schemas" / "many").mkdir()
    for number in range(300):
        (folder / "schemas" / "many" / f"v{number}.vibe.json").write_text(TEXT)
    assert instrc("check", "schemas") == (0, "", "")


def test_a_mistake_of_ours_is_one_plain_message(instrc: Instrc, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise KeyError("sk-not-for-everyone")

    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-for-everyone")
    monkeypatch.setattr("instrc.compiler.driver.check_source", broken)
    (folder / "a.aug").write_text("Greet\n")
    done = instrc("check", "a.aug")
    assert (done.code, done.out) == (70, "")
    assert done.err.startswith("instrc: internal error: KeyError")
    assert "(in a.aug)" in done.err
    assert "report" in done.err
    assert "Traceback" not in done.err
    monkeypatch.setenv("INSTRC_DEBUG", "1")
    shown = instrc("check", "a.aug").err
    assert "Traceback" in shown
    assert "not-for-everyone" not in done.err + shown
