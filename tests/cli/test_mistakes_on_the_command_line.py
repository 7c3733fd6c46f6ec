"""Slips on the command line: each is one message with a way out."""

from __future__ import annotations

import json
from io import StringIO
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


def test_a_file_whose_name_looks_like_options_is_told_how_it_is_given(instrc: Instrc, folder: Path) -> None:
    (folder / "-d.aug").write_text('@{ type: "object", properties: { text: { type: "string" } } }')
    for command in ("check", "compile", "run", "fmt"):
        assert "`-- -d.aug`" in instrc(command, "-d.aug").err
    assert instrc("check", "--", "-d.aug").code == 0
    assert "No such option: -q" in instrc("check", "-q").err


INPUTS = """
input topic @ { type: "string" };
input n @ { type: "integer", default: 1 };
{ a: topic, b: n } | @{ title: "Draft", type: "object", properties: { text: { type: "string" } }, required: ["text"] }
"""


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        (["topic=two words"], {"topic": "two words", "n": 1}),
        (["topic=1", "n=3"], {"topic": "1", "n": 3}),
        (["n=3", "topic=a=b"], {"topic": "a=b", "n": 3}),
        (["topic=@file.txt"], {"topic": "from a file", "n": 1}),
        (['{"topic": "x"}'], {"topic": "x", "n": 1}),
        (["topic=[1] see below"], {"topic": "[1] see below", "n": 1}),
        (["topic=[1]"], {"topic": "[1]", "n": 1}),
        (["topic=@letter.md"], {"topic": "[link](x) {{ name }}", "n": 1}),
    ],
)
def test_inputs_are_given_by_name(instrc: Instrc, folder: Path, given: list[str], sent: object) -> None:
    (folder / "a.aug").write_text(INPUTS)
    (folder / "file.txt").write_text("from a file\n")
    (folder / "letter.md").write_bytes(b"[link](x) {{ name }}\r\n")
    options = [word for text in given for word in ("--input", text)]
    run = instrc("run", "a.aug", *options, "--model", "sample", "--json")
    assert run.code == 0, run.err
    asked = next(event for line in run.out.splitlines() if (event := json.loads(line)).get("event") == "asked")
    assert json.loads(asked["sent"].split("-----")[1]) == sent


def test_a_value_in_several_words_is_that_of_its_name(instrc: Instrc, folder: Path) -> None:
    (folder / "a.aug").write_text(INPUTS.replace("topic @ { type", 'topic @ { default: "kind", type'))
    assert '"topic": "very formal"' in instrc(
        "run", "a.aug", "-i", "topic=very formal", "--model", "sample", "--json"
    ).out.replace("\\", "")


@pytest.mark.parametrize(
    ("words", "given"),
    [
        (("run", "-", "-i", "-"), INPUTS),
        (("run", "-", "-i", "topic=@-"), INPUTS),
        (("run", "a.aug", "-i", "topic=-", "-i", "n=-"), "x"),
        (("run", "-", "--items", "-"), INPUTS),
        (("fork", "one", "--set", "a=-", "--set", "b=-"), "x"),
    ],
)
def test_standard_input_is_read_once(
    instrc: Instrc, folder: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], given: str
) -> None:
    (folder / "a.aug").write_text(INPUTS)
    monkeypatch.setattr("sys.stdin", StringIO(given))
    refused = instrc(*words, *(("--model", "sample") if words[0] == "run" else ()))
    assert (refused.code, refused.out, "can be read once only" in " ".join(refused.err.split())) == (2, "", True), refused.err


def test_an_answer_from_a_file_has_no_line_end(instrc: Instrc, folder: Path) -> None:
    (folder / "a.aug").write_text('prompt | @{ title: "Pick_User", type: "string", enum: ["Yes", "No"] }')
    (folder / "yes.txt").write_text("Yes\n")
    assert instrc("run", "a.aug", "-i", "x", "--id", "one", "--engine", "memory").code == 3
    done = instrc("answer", "one", "pick", "-d", "@yes.txt")
    assert (done.code, json.loads(done.out)["output"]) == (0, {"step1_pick": "Yes"}), done.err


@pytest.mark.parametrize("given", [["n=1", "text"], ["n=1", "n=2"], ["topic=x", "other=1"]])
def test_several_inputs_are_named_once_each(instrc: Instrc, folder: Path, given: list[str]) -> None:
    (folder / "a.aug").write_text(INPUTS)
    refused = instrc("run", "a.aug", *(word for text in given for word in ("-i", text)), "--model", "sample")
    assert (refused.code, "by name" in " ".join(refused.err.split())) == (2, True), refused.err


def test_a_schedule_beside_a_folder_hints_at_no_resume(instrc: Instrc, folder: Path) -> None:
    pytest.importorskip("dbos")
    refused = instrc("schedule", "list", "--store", str(folder))
    assert "postgresql://" in refused.err
    assert "resume" not in refused.err


def test_marks_of_a_conflict_in_a_vibe_are_named_by_fmt(instrc: Instrc, folder: Path) -> None:
    (folder / "a.vibe.json").write_text('{\n<<<<<<< HEAD\n"a": 1\n=======\n"a": 2\n>>>>>>> other\n}')
    refused = instrc("fmt", "a.vibe.json")
    assert (refused.code, "a.vibe.json:2:1" in refused.err, "merge-conflict" in refused.err) == (1, True, True)
