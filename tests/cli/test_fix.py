"""`instrc check --fix` mends what is surely meant otherwise, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_lines import Instrc

import instrc as library
from instrc import Problem
from instrc.cli.review_files import fix_files  # files change between check and repair here


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("Gret | Answer\n", "Greet | Answer\n"),
        ('"a" | Greet({ text: "x" } Answer)\n', '"a" | Greet({ text: "x" }, Answer)\n'),
        ('"a" | Greet(prompt,, Answer)\n', '"a" | Greet(prompt, Answer)\n'),
        ('const a := Greet; a | "x" => Answer\n', None),
        ("Greet;; Answer\n", "Greet; Answer\n"),
        ("“Say” | Greet\n", '"Say" | Greet\n'),
        ("`Say` | Greet\n", '"Say" | Greet\n'),
        ("# one\n# two\nGreet\n", "// one\n// two\nGreet\n"),
        ('"C:\\greet" | Greet\n', '"C:\\\\greet" | Greet\n'),
        ('"a" -> Greet -> Answer\n', '"a" | Greet | Answer\n'),
        ("const a := Greet(prompt)\nAnswer(a)\n", "const a = Greet(prompt)\nAnswer(a)\n"),
        ("Greet（prompt）\n", "Greet(prompt)\n"),
        ("const a ＝ Greet（\n  prompt，\n）；\nAnswer（a。text）\n", "const a = Greet(\n  prompt,\n);\nAnswer(a.text)\n"),
        ("Greet({ text = 'a' }) @ 'x'\n", "Greet({ text: 'a' }) @ 'x'\n"),
        ("const persn = Greet(prompt); Answer(person)\n", "const persn = Greet(prompt); Answer(persn)\n"),
        (
            "const person = Greet(prompt); Answer(person, { persn })\n",
            "const person = Greet(prompt); Answer(person, { person })\n",
        ),
        ("Greet({ text 'a' })\n", "Greet({ text: 'a' })\n"),
        ("Greet(prompt); const a = prompt; Answer({ $a })\n", "Greet(prompt); const a = prompt; Answer({ a })\n"),
        ("Greet({ txt: 'a' })\n", "Greet({ text: 'a' })\n"),
        ("Greet @ { minProperites: 1 }\n", "Greet @ { minProperties: 1 }\n"),
    ],
)
def test_a_safe_fix_is_applied(instrc: Instrc, folder: Path, wrong: str, right: str | None) -> None:
    (folder / "a.aug").write_text(wrong, encoding="utf-8")
    done = instrc("check", "--fix", "a.aug")
    text = (folder / "a.aug").read_text(encoding="utf-8")
    if right is not None:
        assert (text, done.code) == (right, 0), done.err
        assert done.err.startswith("fixed a.aug: ")


def test_required_of_a_vibe_is_fixed_in_its_quotes(instrc: Instrc, folder: Path) -> None:
    vibe = folder / "schemas" / "note.vibe.json"
    vibe.write_text('{ "type": "object", "properties": { "text": { "type": "sting" } }, "required": ["txet"] }')
    done = instrc("check", "--fix", "schemas/note.vibe.json")
    assert vibe.read_text() == '{ "type": "object", "properties": { "text": { "type": "string" } }, "required": ["text"] }'
    assert done == (0, "", "fixed schemas/note.vibe.json: 2 mistakes\n")


def test_what_is_not_sure_is_left_alone(instrc: Instrc, folder: Path) -> None:
    unsure = (
        *("Greet(\n", "Nothing | Like | This\n", "Greet | \n"),
        *("input text; Greet({ text prompt })\n", "Greet(text prompt)\n", '"a", Greet\n', "Greet, Answer\n", "(Greet, Answer)\n"),
        "do { Greet(prompt), Answer(prompt) }\n",
        *("input histoy; Greet({ history })\n", "input histoy; Greet(history)\n", "const persn = Greet; Answer({ person })\n"),
    )
    for text in unsure:
        (folder / "a.aug").write_text(text)
        assert instrc("check", "--fix", "a.aug").code == 1
        assert (folder / "a.aug").read_text() == text


def test_of_two_spellings_of_a_key_neither_is_sure(instrc: Instrc, folder: Path) -> None:
    (folder / "a.aug").write_text("input histoy; Greet({ history })\n")
    told = instrc("check", "a.aug").err
    assert "hint: write `histoy` here, or `history` there" in told
    assert "a.aug:1:7: nothing reads this name" in told
    [problem] = library.check(folder / "a.aug")
    assert [(fix.title, fix.safe) for fix in problem.fixes] == [
        ("replace by `histoy`", False),
        ("rename `histoy` to `history`", False),
    ]


def test_a_file_that_was_not_given_is_not_changed(instrc: Instrc, folder: Path) -> None:
    vibe = folder / "schemas" / "note.vibe.json"
    vibe.write_text('{ "type": "object", "properties": { "text": { "type": "sting" } } }')
    (folder / "a.aug").write_text("Note\n")
    instrc("check", "--fix", "a.aug")
    assert "sting" in vibe.read_text()


def test_a_file_that_was_saved_since_it_was_checked_is_left_alone(folder: Path) -> None:
    program = folder / "a.aug"
    program.write_text("Gret\n")

    def check_and_save() -> tuple[Problem, ...]:
        found = library.check(program)
        program.write_text("Gret | Answer\n")
        return found

    assert fix_files([str(program)], check_and_save) == {}
    assert program.read_text() == "Gret | Answer\n"


def test_line_ends_stay(instrc: Instrc, folder: Path) -> None:
    (folder / "a.aug").write_bytes(b"Gret\r\n// x\r\n")
    instrc("check", "--fix", "a.aug")
    assert (folder / "a.aug").read_bytes() == b"Greet\r\n// x\r\n"
