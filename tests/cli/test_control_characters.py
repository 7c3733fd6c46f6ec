"""Texts of others are shown by visible characters only: they can control no terminal, and be read in no other order."""

from __future__ import annotations

import json
import logging
import re
from pathlib import Path

import pytest
from command_lines import Instrc

from instrc.__main__ import _show_warning  # called by the interpreter
from instrc.cli import terminal  # replaced while a command runs

EVIL = "\x1b[31mred\x9b2J\u202eBA\u2066\x07"
UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
VIBE = {
    "title": f"T{EVIL}",
    "description": f"D{EVIL}",
    "type": "object",
    "properties": {f"k{EVIL}": {"type": "string", "description": EVIL}},
    "required": [f"k{EVIL}"],
}
PROGRAM = '"goal \\u001b[31m\\u202eX" | Bad;\n'


@pytest.fixture(autouse=True)
def of_others(folder: Path) -> None:
    (folder / "schemas" / "bad.vibe.json").write_text(json.dumps(VIBE))
    (folder / "schemas" / "changed.vibe.json").write_text(json.dumps({**VIBE, "required": []}))
    (folder / "p.aug").write_text(PROGRAM)


@pytest.mark.parametrize(
    "words",
    [
        ["preview", "p.aug"],
        ["preview", "p.aug", "--full"],
        ["graph", "p.aug"],
        ["graph", "p.aug", "--format", "svg"],
        ["diff", "schemas/bad.vibe.json", "schemas/changed.vibe.json"],
        ["types", "p.aug"],
        ["doctor", "--root", f"none{EVIL}"],
        ["check", f"none{EVIL}.aug"],
        ["check", f"none{EVIL}.aug", "--format", "github"],
        ["explain", EVIL],
        ["test", "-k", EVIL],
        ["import", "mcp", f"none{EVIL}"],
        ["new", EVIL],
        ["show", EVIL],
    ],
    ids=lambda words: " ".join(words[:1] + words[2:3]),
)
def test_what_a_person_reads_is_visible(instrc: Instrc, words: list[str]) -> None:
    done = instrc(*words)
    assert done.out + done.err
    assert not UNSEEN.search(done.out)
    assert not UNSEEN.search(done.err)


def test_a_warning_is_visible(capsys: pytest.CaptureFixture[str]) -> None:
    _show_warning(f"the answers were recorded with {EVIL}")
    assert not UNSEEN.search(said := capsys.readouterr().err)
    assert said.startswith("warning: the answers were recorded with ")


def test_a_log_that_nobody_writes_is_visible_and_has_no_secret(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_TOKEN", "s3cr3t-of-the-shop")
    with terminal.claimed_results():
        log = logging.Logger("library")  # noqa: LOG001  -- nothing above it writes
        log.warning("redirect to %s", f"https://shop.example/s3cr3t-of-the-shop{EVIL}")
    _show_warning("it was s3cr3t-of-the-shop")
    first, second = capsys.readouterr().err.splitlines()
    assert not UNSEEN.search(first)
    assert first.startswith("redirect to https://shop.example/***")
    assert second == "warning: it was ***"


def test_the_title_of_a_case_and_what_came_are_visible(instrc: Instrc, folder: Path) -> None:
    case = (
        f"## Title {EVIL}\n\n```json answer\n{{}}\n```\n\n```json output\n{{ {json.dumps(EVIL, ensure_ascii=False)}: 1 }}\n```\n"
    )
    (folder / "p.cases.md").write_text(case)
    done = instrc("test")
    assert (done.code, "Title ␛[31mred" in done.out) == (1, True)
    assert not UNSEEN.search(done.out + done.err)


def test_a_run_and_its_trace_are_visible(instrc: Instrc, folder: Path) -> None:
    (folder / "answers.json").write_text(json.dumps({"llmContext1": {f"k{EVIL}": EVIL}}))
    ran = instrc("run", "p.aug", "--model", "scripted:answers.json", "--id", "r1", "--input", "x")
    trace = instrc("trace", "r1")
    assert (ran.code, trace.code) == (0, 0)
    assert "\ufffdBA" in trace.out
    assert not UNSEEN.search(ran.err + trace.out + trace.err)


def test_a_document_is_exact_but_on_a_terminal(instrc: Instrc, monkeypatch: pytest.MonkeyPatch) -> None:
    assert json.loads(instrc("flatten", "schemas/bad.vibe.json").out)["title"] == f"T{EVIL}"
    monkeypatch.setattr(terminal, "is_terminal", lambda _stream: True)
    assert not UNSEEN.search(instrc("flatten", "schemas/bad.vibe.json").out)


def test_a_goal_of_144_letters_names_a_file(instrc: Instrc, folder: Path) -> None:
    goal = f"{'цель ' * 28}цель"
    assert len(goal) == 144
    (folder / "long.aug").write_text(f'"{goal}" | Greet;\n', encoding="utf-8")
    assert instrc("compile", "long.aug", "-o", "out").code == 0
    written = sorted(path.name for path in (folder / "out").iterdir())
    assert [name.rpartition(".tool")[1] or name.rpartition(".result")[1] for name in written] == [".result", ".tool"]
    assert all(len(name.encode()) < 256 for name in written)


def test_the_name_of_a_file_is_one_line(instrc: Instrc, folder: Path) -> None:
    """Otherwise it could tell of other files."""
    name = "a\nwrote b"
    (folder / f"{name}.aug").write_text('@{title: "A", type: "object"}')
    for words in (["fmt", f"{name}.aug"], ["compile", f"{name}.aug", "--output", f"{name}.json"]):
        told = instrc(*words)
        assert told.code == 0
        assert "a\u240awrote b." in told.err
        assert "\nwrote b." not in told.err
