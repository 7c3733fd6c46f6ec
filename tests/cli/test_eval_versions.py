"""`instrc eval` compares two versions on the same cases, and leaves parts of a program out in turn."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_lines import Instrc

CLASSIFY = {
    "title": "Classify",
    "description": "Say which mood a review has.",
    "type": "object",
    "properties": {"_why": {"type": "string"}, "mood": {"enum": ["good", "bad"]}},
    "required": ["_why", "mood"],
}


@pytest.fixture(autouse=True)
def _files(folder: Path) -> None:
    (folder / "schemas").mkdir(exist_ok=True)
    (folder / "mood.aug").write_text("Classify;\n", encoding="utf-8")
    for name, vibe in (("Classify", CLASSIFY), ("Other", CLASSIFY | {"description": "Say it."})):
        (folder / f"schemas/{name}.vibe.json").write_text(json.dumps(vibe), encoding="utf-8")
    cases = [{"input": f"review {at}", "expected": {"mood": "good" if at % 2 else "bad"}} for at in range(50)]
    (folder / "mood.eval.jsonl").write_text("\n".join(map(json.dumps, cases)), encoding="utf-8")


def test_what_cases_can_show_is_said_first_and_then_what_they_have_shown(instrc: Instrc, folder: Path) -> None:
    files = [word for name in ("a.html", "a.json", "a.md", "a.xml") for word in ("-o", name)]
    done = instrc("eval", "mood.aug", "--model", "sample", "--vibe", "Classify=Other", "--fail-on-drop", "2%", *files)
    assert done.code == 0
    assert done.err.index("50 cases, 100 runs.") < done.err.index("False alarms of a harmless change")
    assert "No difference shown: +0.0 points" in done.out
    [made] = json.loads((folder / "a.json").read_text())["comparisons"]
    assert (made["verdict"], made["overall"]["shown"], len(made["versions"])) == ("undecided", False, 2)
    assert all("No difference shown" in (folder / file).read_text() for file in ("a.html", "a.md"))
    assert (folder / "a.xml").read_text().count("<testsuite ") == 2


def test_a_version_that_is_worse_fails_the_gate(instrc: Instrc, folder: Path) -> None:
    (folder / "good.aug").write_text('@{ title: "Classify", type: "object", properties: { mood: { enum: ["bad", "good"] } } };')
    lines = (folder / "mood.eval.jsonl").read_text().replace('"good"', '"bad"')
    (folder / "mood.eval.jsonl").write_text(lines)
    done = instrc("eval", "mood.aug", "--model", "sample", "--against", "good.aug", "--fail-on-drop", "2%")
    assert done.code == 1
    assert "The later version is worse by 100.0 points" in done.out
    assert "Gate: failed." in done.out


def test_without_a_case_by_which_it_may_go_the_gate_is_not_decided(instrc: Instrc, folder: Path) -> None:
    judge = {"reason": {"type": "string"}, "pass": {"type": "boolean"}}
    vibe = {"title": "Polite", "type": "object", "properties": judge, "required": ["reason", "pass"]}
    (folder / "polite.vibe.json").write_text(json.dumps(vibe), encoding="utf-8")
    lines = [{"checks": {"polite": {"check": "judge", "judge": "polite.vibe.json"}}}, *({"input": str(at)} for at in range(40))]
    (folder / "mood.eval.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    done = instrc("eval", "mood.aug", "--model", "sample", "--vibe", "Classify=Other", "--fail-on-drop", "2%")
    assert done.code == 3
    assert "Gate: not decided, as there is no case by which it may go." in done.out


def test_a_judge_says_which_version_answers_better(instrc: Instrc, folder: Path) -> None:
    judge = {"reason": {"type": "string"}, "better": {"enum": ["first", "second"]}}
    vibe = {"title": "Better", "type": "object", "properties": judge, "required": ["reason", "better"]}
    (folder / "better.vibe.json").write_text(json.dumps(vibe), encoding="utf-8")
    good = '@{ title: "Classify", type: "object", properties: { mood: { enum: ["bad", "good"] } } };'
    (folder / "good.aug").write_text(good, encoding="utf-8")
    words = ["mood.aug", "--model", "sample", "--against", "good.aug", "--judge", "better.vibe.json", "-o", "a.json"]
    done = instrc("eval", *words, "--judge-model", "sample")
    assert done.code == 0
    assert "The judge prefers the later version in 0 cases, the earlier one in 0, neither in 50" in done.out
    assert "preferred by better.vibe.json" in done.out
    assert "not calibrated (0 labels by people" in done.out
    [made] = json.loads((folder / "a.json").read_text())["comparisons"]
    assert made["preferred"]["paired"]["cases"] == 50
    assert instrc("eval", "mood.aug", "--model", "sample", "--vibe", "Classify=Other", "--judge", "none.json").code == 1


def test_parts_are_left_out_in_turn(instrc: Instrc) -> None:
    done = instrc("eval", "mood.aug", "--model", "sample", "--ablate")
    assert done.code == 0
    assert "4 parts.\n50 cases, 250 runs." in done.err
    rows = [line.split("  ")[1] for line in done.out.splitlines() if "difference shown" in line]
    assert rows == ["description", "order reversed", "thought", "values reversed"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--fail-on-drop 2%", "needs another version"),
        ("--judge x.vibe.json", "--judge needs another version"),
        ("--vibe Classify=Other --judge-model sample", "--judge-model needs --judge"),
        ("--ablate --against HEAD", "--ablate makes its own versions"),
        ("--vibe A", "--vibe takes A=B"),
        ("--mixin A=on", "--mixin takes NAME=off"),
        ("--vibe Classify=Other --fail-on-drop x", "--fail-on-drop takes a share"),
        ("--vibe Classify=Other --fail-on-drop nan%", "--fail-on-drop takes a share"),
        ("--vibe Classify=Other --record", "--record belongs to one version"),
        ("--ablate --min 0.5", "--min belongs to one version"),
        ("--ablate --format answers", "a file of answers belongs to one version"),
        ("--against-set words=none -o answers.json", "a file of answers belongs to one version"),
        ("--against-set words", "--set takes NAME=VALUE"),
    ],
)
def test_wrong_use_is_told_before_anything_is_asked(instrc: Instrc, words: str, said: str) -> None:
    done = instrc("eval", "mood.aug", "--model", "sample", *words.split())
    assert (done.code, done.out) == (2, "")
    assert said in " ".join(done.err.replace("│", " ").split())
