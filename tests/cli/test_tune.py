"""`instrc tune` writes a form beside a program, and compile and run use it for its model."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from command_lines import Instrc
from http_server import Answer, Asked, serving

pytest.importorskip("openai")

MOODS = ("calm", "cross")
VIBE = {
    "title": "Tell_Mood",
    "description": "Say it.",
    "type": "object",
    "properties": {"mood": {"enum": [*MOODS], "description": "The mood.", "x-wordings": ["The feeling."]}},
    "required": ["mood"],
}


@pytest.fixture
def when_asked() -> list[Callable[[], object]]:
    """Functions that the server calls after it got a request, and before it answers."""
    return []


@pytest.fixture(autouse=True)
def asked(folder: Path, monkeypatch: pytest.MonkeyPatch, when_asked: list[Callable[[], object]]) -> Iterator[list[str]]:
    """Messages that a server got, which is right in 4 of 5 cases if it is asked for the feeling, else in half of them."""
    (folder / "schemas").mkdir(exist_ok=True)
    (folder / "schemas/tell-mood.vibe.json").write_text(json.dumps(VIBE), encoding="utf-8")
    (folder / "mood.aug").write_text("prompt | Tell_Mood", encoding="utf-8")
    cases = [{"input": f"review {at}", "expected": {"mood": MOODS[at % 2]}} for at in range(CASES)]
    (folder / "mood.eval.jsonl").write_text("\n".join(map(json.dumps, cases)), encoding="utf-8")
    messages: list[str] = []

    def answer(given: Asked) -> Answer:
        messages.append(json.loads(given.body)["messages"][0]["content"])
        for call in when_asked:
            call()
        number = int(re.findall(r"review (\d+)", messages[-1])[-1])
        right = number % 5 > 0 if "The feeling." in messages[-1] else number % 4 > 1
        said = json.dumps({"mood": MOODS[number % 2 if right else 1 - number % 2]})
        choice = {"index": 0, "message": {"role": "assistant", "content": said}, "finish_reason": "stop"}
        return Answer(
            json.dumps({"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}).encode()
        )

    with serving(answer) as url:
        monkeypatch.setenv("LLAMACPP_BASE_URL", f"{url}/v1")
        yield messages


CASES = 114
"""100 are held back for the test, 2 are examples, and forms are compared on the 12 of one rung: each run is a request."""
TUNE = ("tune", "mood.aug", "--model", "llamacpp:small")


def test_the_budget_is_told_and_asked_for_first(instrc: Instrc, asked: list[str]) -> None:
    done = instrc(*TUNE, "--requests", "90")
    assert done.code == 2
    assert "the search takes 90 requests at most, the test of the winner 200 runs on 100 cases" in done.err
    assert "write --yes" in done.err
    assert asked == []


def test_what_is_found_is_written_and_used_for_this_model_alone(instrc: Instrc, folder: Path, asked: list[str]) -> None:
    before = instrc("compile", "mood.aug").out
    done = instrc(*TUNE, "--yes")
    assert (done.code, "is better by" in done.out) == (0, True), done.err
    text = (folder / "mood.tuned.toml").read_text()
    assert '"tell_mood.mood" = "The feeling."' in text
    assert len(asked) <= 400 + 200
    compiled = instrc("compile", "mood.aug")
    assert (compiled.out, compiled.err) == (before.replace('"description": "The mood."', '"description": "The feeling."'), "")
    assert instrc("run", "mood.aug", "--model", "llamacpp:small", "--input", "review 1", "--engine", "memory").code == 0
    assert "The feeling." in asked[-1]
    other = instrc("run", "mood.aug", "--model", "llamacpp:large", "--input", "review 1", "--engine", "memory")
    assert "it is for `llamacpp:small`, and `llamacpp:large` is asked" in other.err
    assert "The mood." in asked[-1]
    (folder / "mood.aug").write_text("prompt|Tell_Mood", encoding="utf-8")
    assert instrc("compile", "mood.aug").err == ""  # the layout does not count
    assert instrc("fmt", "mood.aug").code == 0
    assert instrc("compile", "mood.aug").err == ""
    (folder / "mood.aug").write_text("prompt | Tell_Mood | Tell_Mood", encoding="utf-8")
    assert "the program has changed" in instrc("compile", "mood.aug").err
    (folder / "mood.aug").write_text("prompt | Tell_Mood", encoding="utf-8")
    assert_a_lock_holds_the_form_too(instrc, folder)


def assert_a_lock_holds_the_form_too(instrc: Instrc, folder: Path) -> None:
    assert instrc("lock").code == 0
    assert instrc("compile", "mood.aug", "--locked").code == 0
    form = folder / "mood.tuned.toml"
    form.write_text(form.read_text().replace("The feeling.", "Another feeling."))
    changed = instrc("compile", "mood.aug", "--locked")
    assert (changed.code, "`mood.tuned.toml` is not what the lock records" in changed.err) == (1, True)
    assert instrc("lock", "--check").code == 1
    form.unlink()
    instrc("lock")
    assert instrc("compile", "mood.aug", "--locked").code == 0


@pytest.mark.long
def test_a_search_that_was_interrupted_asks_nothing_twice(instrc: Instrc, folder: Path, asked: list[str]) -> None:
    ended = instrc(*TUNE, "--yes", "--requests", "20", "--concurrency", "1")
    assert (ended.code, len(asked)) == (4, 20)
    assert not (folder / "mood.tuned.toml").exists()
    assert instrc(*TUNE, "--yes", "--requests", "20").code == 4  # those that it has asked before count
    assert len(asked) == 20
    assert instrc(*TUNE, "--yes", "--requests", "23", "--concurrency", "1").code == 4
    assert len(asked) == 23
    instrc(*TUNE, "--yes")
    assert len(asked) == len(set(asked))
    whole = len(asked)
    again = instrc(*TUNE, "--yes")
    assert (again.code, len(asked)) == (0, whole)


@pytest.mark.long
def test_a_search_that_is_killed_goes_on_where_it_was(
    instrc: Instrc, folder: Path, asked: list[str], when_asked: list[Callable[[], object]]
) -> None:
    assert instrc(*TUNE, "--yes", "--store", "whole").code == 0
    form, requests = (folder / "mood.tuned.toml").read_text(), len(asked)
    (folder / "mood.tuned.toml").unlink()
    asked.clear()
    command = [sys.executable, "-m", "instrc", *TUNE, "--yes", "-q", "--concurrency", "2"]
    kills = 0
    for point in (1, 14, requests // 3, requests - 60):
        with subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE) as process:

            def kill(process: subprocess.Popen[bytes] = process, point: int = point) -> None:
                if len(asked) >= point:
                    process.kill()

            when_asked[:] = [kill]
            process.communicate(timeout=300)
            kills += process.returncode == -signal.SIGKILL
            assert not (folder / "mood.tuned.toml").exists()
    when_asked.clear()
    assert kills == 4
    done = instrc(*TUNE, "--yes")
    assert (done.code, "gave no answer" in done.out) == (0, False), done.out + done.err
    assert (folder / "mood.tuned.toml").read_text() == form
    assert len(set(asked)) == requests
    assert len(asked) <= requests + 2 * kills  # only what was under way is asked again


def test_without_a_difference_nothing_is_written(instrc: Instrc, folder: Path) -> None:
    lines = [json.loads(line) for line in (folder / "mood.eval.jsonl").read_text().splitlines()]
    for at, line in enumerate(lines):
        line["expected"]["mood"] = MOODS[at // 3 % 2]
    (folder / "mood.eval.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    done = instrc(*TUNE, "--yes", "-q")
    assert (done.code, (folder / "mood.tuned.toml").exists()) == (0, False)
    assert "the program stays as it is" in done.out


@pytest.mark.long
def test_a_writer_proposes_texts_from_wrong_cases(instrc: Instrc, folder: Path, asked: list[str]) -> None:
    vibe = {**VIBE, "properties": {"mood": {"enum": [*MOODS]}}}
    (folder / "schemas/tell-mood.vibe.json").write_text(json.dumps(vibe), encoding="utf-8")
    answers = {"propose_wordings": {"wordings": ["Say which. The feeling.", "Say it now."]}}
    (folder / "writer.json").write_text(json.dumps(answers), encoding="utf-8")
    done = instrc(*TUNE, "--yes", "--writer", "scripted:writer.json")
    assert done.code == 0, done.err
    assert '"tell_mood" = "Say which. The feeling."' in (folder / "mood.tuned.toml").read_text()


@pytest.mark.parametrize("words", [("--time", "soon"), ("--max-cost", "x"), ("--data", "none.jsonl")])
def test_wrong_use_is_told(instrc: Instrc, words: tuple[str, str], asked: list[str]) -> None:
    assert instrc(*TUNE, "--yes", *words).code in {1, 2}
    assert asked == []
