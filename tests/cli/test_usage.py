"""Wrong use is told apart from wrong input: exit code 2, one plain message, no output."""

from __future__ import annotations

import errno
import re
from pathlib import Path

import pytest
from command_lines import Instrc
from every_case import every_case

from instrc import CompileError
from instrc.cli.app import COMMANDS  # the list of all commands
from instrc.problems.files import TooLarge
from instrc.text.arguments import is_on

WRONG = [
    [],
    ["compose"],
    ["compile"],
    ["compile", "a.aug", "--emit", "picture"],
    ["compile", "a.aug", "--batch", "0"],
    ["compile", "a.aug", "--batch", "three"],
    ["compile", "-", "-"],
    ["compile", "a.aug", "--target", "openai", "--emit", "process"],
    ["compile", "a.aug", "--target", "openai", "--target", "gemini"],
    ["compile", "a.aug", "--map", "m.json"],
    ["compile", "a.aug", "--target", "openai", "--map", "m.json", "-o", "out"],
    ["compile", "a.aug", "--recursion", "unroll"],
    ["compile", "schemas/greet.vibe.json", "--sketch"],
    ["fmt", "schemas", "--stdin-filename", "a.aug"],
    ["graph"],
    ["check", "a.aug", "--format", "xml"],
    ["check", "--no-such-option", "a.aug"],
    ["flatten"],
    ["split", "a.json"],
    ["split", "-", "-"],
    ["explain", "one", "two"],
    ["--no-such-option"],
]


@pytest.mark.parametrize("arguments", WRONG, ids=" ".join)
def test_wrong_use_ends_with_two(instrc: Instrc, arguments: list[str]) -> None:
    done = instrc(*arguments)
    assert done.code == 2
    assert "Traceback" not in done.err
    assert "instrc" in done.err + done.out


@pytest.mark.parametrize("group", [(), ("plan",)])
def test_the_list_of_commands_has_a_whole_sentence_for_each(instrc: Instrc, group: tuple[str, ...]) -> None:
    listed = instrc(*group, "--help").out.split("Commands:\n")[1].splitlines()
    assert len(listed) >= 5
    assert [line for line in listed if not re.fullmatch(r"  \w+ +[A-Z].*[\w)]\.", line)] == []


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--items", "-", "-i", "one"], "--input has no effect beside --items"),
        (["--items", "-", "--json"], "--json has no effect beside --items"),
        (["--concurrency", "2"], "--concurrency belongs to --items"),
        (["--rate", "2"], "--rate belongs to --items"),
    ],
)
def test_a_run_refuses_options_that_would_have_no_effect(instrc: Instrc, folder: Path, arguments: list[str], told: str) -> None:
    (folder / "a.aug").write_text("greet(prompt)\n")
    done = instrc("run", "a.aug", "--model", "sample", *arguments)
    assert (done.code, done.out) == (2, "")
    assert told in " ".join(done.err.split())


@every_case("word", ["0", "no", "false", "off", ""])
def test_a_variable_that_says_no_turns_nothing_on(monkeypatch: pytest.MonkeyPatch, word: str) -> None:
    monkeypatch.setenv("INSTRC_DEBUG", word)
    assert not is_on("INSTRC_DEBUG")
    monkeypatch.setenv("INSTRC_DEBUG", "1")
    assert is_on("INSTRC_DEBUG")


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_explains_itself_in_plain_text(instrc: Instrc, command: str) -> None:
    done = instrc(command, "--help")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"Usage: instrc {command} ")
    assert done.out.isascii()


def test_the_program_lists_its_commands(instrc: Instrc) -> None:
    done = instrc("--help")
    assert done.code == 0
    assert all(f"\n  {command} " in done.out for command in COMMANDS)


def test_a_missing_root_is_a_problem(instrc: Instrc) -> None:
    for command in ("compile", "check"):
        done = instrc(command, "-", "--root", "nowhere")
        assert done.code == 1
        assert "[unreadable-file]" in done.err


@pytest.mark.parametrize("line", [(), ("check",), ("fmt",), ("compile",), ("plan",), ("plan", "check"), ("explain",)])
def test_help_has_a_short_name_everywhere(instrc: Instrc, line: tuple[str, ...]) -> None:
    done = instrc(*line, "-h")
    assert (done.code, done.err) == (0, "")
    assert done.out == instrc(*line, "--help").out != ""


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["compile", "a.aug", "--emit", "proces"], "'--emit': Value error, 'proces' is not one of 'tool', 'result', 'flat',"),
        (["compile", "a.aug", "--batch", "three"], "'--batch': Input should be a valid integer"),
        (["compile", "a.aug", "--batch", "0"], "'--batch': Input should be greater than or equal to 1"),
        (["run", "a.aug", "--input", "one", "--input", "two"], "--input is given twice"),
        (["check", "-d.aug"], "for a file of this name write `-- -d.aug`"),
        (["run", "a.aug", "Write to Ann"], "inputs are given with `--input`, for instance `-i 'a text'`"),
    ],
)
def test_a_wrong_command_line_is_told(instrc: Instrc, arguments: list[str], told: str) -> None:
    done = instrc(*arguments)
    assert (done.code, done.out) == (2, "")
    assert told in " ".join(done.err.split())


@pytest.mark.parametrize(
    "error", [MemoryError(), OSError(errno.EMFILE, "Too many open files"), OSError(errno.ENOSPC, "No space")]
)
def test_what_the_system_has_no_more_of_is_no_mistake_of_ours(
    error: Exception, instrc: Instrc, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: object) -> int:
        raise error

    monkeypatch.setattr("instrc.cli.run_plain", refuse)
    done = instrc("check", "a.aug")
    assert done.code == 1
    assert done.err.startswith("error: the system refuses what this needs: ")


def test_settings_that_break_while_they_are_used_are_a_problem(instrc: Instrc, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: object) -> int:
        raise CompileError([TooLarge(what="the file", limit=1, unit="bytes")])

    monkeypatch.setattr("instrc.cli.run_plain", refuse)
    done = instrc("check", "a.aug")
    assert (done.code, "[too-large]" in done.err, "internal" in done.err) == (1, True, False)


@pytest.mark.parametrize(
    ("written", "offered"), [("letter.agu", None), ("leter.aug", "`letter.aug`"), ("letter", "`letter.aug`")]
)
def test_a_missing_file_is_told_with_those_of_its_kind_that_are_like_it(
    written: str, offered: str | None, instrc: Instrc, folder: Path
) -> None:
    for name in ("letter.aug", "notes.aug", "leter.txt"):
        (folder / name).write_text("greet(prompt)\n")
    done = instrc("check", written)
    assert done.code == 1
    assert "did you mean" not in done.err if offered is None else f"did you mean {offered}" in done.err
