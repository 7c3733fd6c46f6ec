"""`instrc fmt` gives programs and vibes their one layout."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_lines import Instrc

from instrc import Report, Source
from instrc.language.formatter import format_source  # replaced by one that takes long

UNTIDY = "\"Say hello\"|Greet( tone:'warm' )   // politely\n"
TIDY = '"Say hello" | Greet(tone: "warm"); // politely\n'
UNTIDY_VIBE = '{"type":"object","properties":{"text":{"type":"string"}}}'
TIDY_VIBE = '{ "type": "object", "properties": { "text": { "type": "string" } } }'


@pytest.fixture
def files(folder: Path) -> Path:
    (folder / "a.aug").write_text(UNTIDY)
    (folder / "b.vibe.json").write_text(UNTIDY_VIBE)
    (folder / "notes.txt").write_text("(")
    (folder / "other.json").write_text(UNTIDY_VIBE)
    return folder


def test_without_a_path_the_working_folder_is_formatted(instrc: Instrc, files: Path) -> None:
    assert instrc("fmt", "--check").code == 1
    assert (files / "a.aug").read_text() == UNTIDY
    assert "formatted a.aug\n" in instrc("fmt").err
    assert (files / "a.aug").read_text() == TIDY
    assert json.loads((files / "other.json").read_text()) == json.loads(UNTIDY_VIBE)


def test_programs_and_vibes_of_a_folder_are_laid_out(instrc: Instrc, files: Path) -> None:
    done = instrc("fmt", "a.aug", "b.vibe.json")
    assert done == (0, "", "formatted a.aug\nformatted b.vibe.json\n")
    assert (files / "a.aug").read_text() == TIDY
    assert json.loads((files / "b.vibe.json").read_text()) == json.loads(UNTIDY_VIBE)
    assert instrc("fmt", "a.aug", "b.vibe.json") == (0, "", "")
    assert (files / "other.json").read_text() == UNTIDY_VIBE


def test_what_is_saved_while_other_files_are_read_stays(instrc: Instrc, files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(source: Source, report: Report) -> str | None:
        if source.name == "b.vibe.json":
            (files / "a.aug").write_text("// saved\n")
        return format_source(source, report)

    monkeypatch.setattr("instrc.language.formatter.format_source", slow)
    assert instrc("fmt", "a.aug", "b.vibe.json").code == 0
    assert (files / "a.aug").read_text() == "// saved\n"


def test_check_writes_nothing_and_tells_where_the_first_difference_is(instrc: Instrc, files: Path) -> None:
    done = instrc("fmt", "--check", "a.aug", "--format", "json")
    assert (done.code, done.out) == (1, "")
    (problem,) = json.loads(done.err)
    assert (problem["name"], problem["line"], problem["column"]) == ("unformatted", 1, 12)
    assert (files / "a.aug").read_text() == UNTIDY
    instrc("fmt", "a.aug")
    assert instrc("fmt", "--check", "a.aug") == (0, "", "")


def test_diff_writes_nothing_shows_the_change_and_exits_with_1_if_there_is_one(instrc: Instrc, files: Path) -> None:
    """As `ruff format --diff`, `clang-format-diff` and `diff` itself do."""
    done = instrc("fmt", "--diff", "a.aug")
    assert (done.code, done.err) == (1, "")
    assert done.out == f"--- a.aug\n+++ a.aug\n@@ -1 +1 @@\n-{UNTIDY}+{TIDY}"
    assert (files / "a.aug").read_text() == UNTIDY
    assert instrc("fmt", "--diff", "--check", "a.aug").code == 1
    instrc("fmt", "a.aug")
    assert instrc("fmt", "--diff", "a.aug") == (0, "", "")


def test_the_standard_input_goes_to_the_standard_output(process: Instrc) -> None:
    assert process("fmt", "-", stdin=UNTIDY.encode()) == (0, TIDY, "")
    assert process("fmt", "-", "--stdin-filename", "a.vibe.json", stdin=b'{"a":1}') == (0, '{\n  "a": 1\n}\n', "")


def test_what_is_no_program_stays_as_it_is(instrc: Instrc, folder: Path) -> None:
    (folder / "bad.aug").write_text("Greet(\n")
    (folder / "bad.vibe.json").write_text("{,}")
    (folder / "good.aug").write_text("Greet( )")
    done = instrc("fmt", "bad.aug", "bad.vibe.json", "good.aug")
    assert done.code == 1
    assert "[missing-closing-bracket]" in done.err
    assert "[invalid-json]" in done.err
    assert (folder / "bad.aug").read_text() == "Greet(\n"
    assert (folder / "good.aug").read_text() == "Greet();\n"


def test_line_ends_and_a_byte_order_mark_are_no_part_of_the_layout(instrc: Instrc, folder: Path) -> None:
    (folder / "w.aug").write_bytes(b"\xef\xbb\xbfGreet;\r\n// two\r\n")
    instrc("fmt", "w.aug")
    assert (folder / "w.aug").read_bytes() == b"Greet;\r\n// two\r\n"
    assert instrc("fmt", "--check", "w.aug").code == 0
    (folder / "w.aug").write_bytes(b"Greet;\r\n// two\n")
    instrc("fmt", "w.aug")
    assert (folder / "w.aug").read_bytes() == b"Greet;\n// two\n"
    (folder / "w.aug").write_bytes(b"\xef\xbb\xbfGreet;\n")
    assert "w.aug:1:1: error" in instrc("fmt", "--check", "w.aug").err
    assert instrc("fmt", "--diff", "w.aug").out.endswith("-\ufeffGreet;\n+Greet;\n")
    instrc("fmt", "w.aug")
    assert (folder / "w.aug").read_bytes() == b"Greet;\n"


def test_definitions_get_the_words_of_today(instrc: Instrc, folder: Path) -> None:
    (folder / "old.aug").write_text("let a = Greet(prompt); tool const b = do { c = Greet(a); let d = Greet(c); d }")
    instrc("fmt", "old.aug")
    new = "const a = Greet(prompt);\ntool b = do {\n  const c = Greet(a);\n  const d = Greet(c);\n  d\n};\n"
    assert (folder / "old.aug").read_text() == new


def test_a_difference_has_the_lines_that_a_patch_has(instrc: Instrc, folder: Path) -> None:
    (folder / "w.aug").write_text('Greet({ text: "a\u2028b\x85c" })', encoding="utf-8")
    rows = instrc("fmt", "--diff", "w.aug").out.split("\n")
    row = 'Greet({ text: "a\u2028b\x85c" })'
    assert rows[3:] == [f"-{row}", "\\ No newline at end of file", f"+{row};", ""]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('"Say "hi" to him" | Greet;\n', "nested-quotes"),
        ("Greet(prompt) Reply(prompt);\n", "missing-separator"),
        ('f"Say {word}" | Greet;\n', "prefixed-string"),
        ('"x"when prompt is "a" { Greet(prompt) }\n', "nested-quotes"),
    ],
)
def test_where_statements_do_not_end_clearly_the_file_is_left_alone_and_the_mistake_told(
    instrc: Instrc, folder: Path, text: str, name: str
) -> None:
    """A `;` after each of them would make the mistake one that nobody sees."""
    (folder / "a.aug").write_text(text)
    done = instrc("fmt", "a.aug")
    assert f"[{name}]" in done.err
    assert done.code == 1
    assert (folder / "a.aug").read_text() == text


def test_a_file_that_could_not_be_read_again_is_not_formatted(instrc: Instrc, folder: Path) -> None:
    vibe = folder / "deep.vibe.json"
    vibe.write_text(deep := "[" * 1_500 + "]" * 1_500)
    done = instrc("fmt", "deep.vibe.json")
    assert (done.code, vibe.read_text()) == (1, deep)
    assert "the formatted file has over 1,048,576 bytes [too-large]" in done.err
