"""Slips on the command line: each is one message with a way out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_lines import Instrc

import instrc.cli
from instrc.__main__ import main  # the entry point itself

TOOL = {"name": "find_slot", "input_schema": {"type": "object", "properties": {"day": {"type": "string"}}}}


@pytest.mark.parametrize(
    ("target", "hint"),
    [
        ("claude", "did you mean `anthropic`?"),
        ("gpt-5", "did you mean `openai`?"),
        ("google", "did you mean `gemini`?"),
        ("qwen3", "did you mean `ollama`?"),
        ("openai,anthropic", "name one target"),
        ("opnai", "did you mean `openai`?"),
    ],
)
def test_the_name_of_a_model_leads_to_its_target(instrc: Instrc, folder: Path, target: str, hint: str) -> None:
    (folder / "a.aug").write_text('@{ type: "object", properties: { text: { type: "string" } } }')
    assert hint in instrc("compile", "a.aug", "--target", target).err


def test_help_and_version_are_understood_without_dashes(instrc: Instrc) -> None:
    assert instrc("help").out == instrc("--help").out != ""
    assert instrc("help", "compile").out == instrc("compile", "--help").out != ""
    assert instrc("version").out == instrc("--version").out != ""


@pytest.mark.parametrize("file", ["letter.aug", "schemas/letter.vibe.json"])
def test_a_file_in_the_place_of_a_command_is_told(instrc: Instrc, file: str) -> None:
    done = instrc(file)
    assert (done.code, done.err) == (2, f"error: a command is missing before the file: for instance `instrc compile {file}`\n")


@pytest.mark.parametrize("document", [TOOL, [TOOL]])
def test_a_source_without_its_kind_is_told_which_it_is(instrc: Instrc, folder: Path, document: object) -> None:
    (folder / "tools.json").write_text(json.dumps(document))
    done = instrc("import", "tools.json")
    assert done.code == 2
    assert "`instrc import anthropic tools.json`" in done.err


@pytest.mark.parametrize(
    ("argument", "told"), [("nothing.yaml", "KIND is one of openai"), ("openapi", "`instrc import openapi FILE`")]
)
def test_what_is_missing_of_an_import_is_told(instrc: Instrc, argument: str, told: str) -> None:
    done = instrc("import", argument)
    assert done.code == 2
    assert told in done.err


def test_a_second_init_says_how_to_go_on(instrc: Instrc) -> None:
    assert instrc("init", "fresh").code == 0
    assert "`instrc new instruction NAME`" in instrc("init", "fresh").err


def test_a_folder_to_compile_is_told_to_be_one(instrc: Instrc, folder: Path) -> None:
    (folder / "schemas").mkdir(exist_ok=True)
    assert "`instrc check` takes folders" in instrc("compile", "schemas").err


def test_doctor_shows_settings_without_effect(instrc: Instrc, folder: Path) -> None:
    (folder / "pyproject.toml").write_text('[tool.instrc.models]\nleter = "openai:x"\n')
    assert "[idle-setting]" in instrc("doctor").err


def test_an_interruption_while_modules_are_loaded_is_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted() -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(instrc.cli, "main", interrupted)
    assert main() == 130


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--model", "opnai:gpt-5"), "did you mean `openai:gpt-5`?"),
        (("--model", "smaple"), "did you mean `sample`?"),
        (("--engine", "durabel"), "did you mean `durable`?"),
        (("--input", "@nothing.json"), "`nothing.json` cannot be read: no such file or directory"),
    ],
)
def test_a_misspelt_value_of_run_is_told_with_what_was_meant(
    instrc: Instrc, folder: Path, words: tuple[str, ...], said: str
) -> None:
    (folder / "greet.aug").write_text('"Greet" | @{ title: "Greet", type: "object", properties: { text: { type: "string" } } }')
    given = () if words[0] == "--input" else ("--input", "hello")
    done = instrc("run", "greet.aug", *given, *words, "--rehearse")
    assert done.code != 0
    assert said in done.err
