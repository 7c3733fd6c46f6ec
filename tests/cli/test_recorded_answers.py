"""Answers that `instrc eval` has recorded know the prompts that they belong to."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from command_lines import Instrc
from http_server import Answer, Asked, serving

pytest.importorskip("openai")

VIBE = {"title": "Tell_Mood", "description": "Say it.", "type": "object", "properties": {"mood": {"enum": ["calm", "cross"]}}}


@pytest.fixture(autouse=True)
def _recorded(instrc: Instrc, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "schemas").mkdir(exist_ok=True)
    (folder / "schemas/tell-mood.vibe.json").write_text(json.dumps(VIBE), encoding="utf-8")
    (folder / "mood.aug").write_text("prompt | Tell_Mood", encoding="utf-8")
    cases = [{"input": f"review {at}", "expected": {"mood": "calm" if at % 2 else "cross"}} for at in range(8)]
    (folder / "mood.eval.jsonl").write_text("\n".join(map(json.dumps, cases)), encoding="utf-8")

    def answer(given: Asked) -> Answer:
        choice = {"index": 0, "message": {"role": "assistant", "content": '{"mood": "calm"}'}, "finish_reason": "stop"}
        return Answer(
            json.dumps({"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}).encode()
        )

    with serving(answer) as url:
        monkeypatch.setenv("LLAMACPP_BASE_URL", f"{url}/v1")
        words = ("--set", "temperature=0", "-o", "answers.json", "-q")
        assert instrc("eval", "mood.aug", "--model", "llamacpp:small", *words).code == 0


REPLAY = ("eval", "mood.aug", "--model", "scripted:answers.json", "-q", "--concurrency", "1")


def test_answers_are_given_again_without_a_word(instrc: Instrc, folder: Path) -> None:
    kept = json.loads((folder / "answers.json").read_text())
    assert kept["$recorded"]["model"] == "llamacpp:small"
    assert len(kept["$recorded"]["prompts"]) == len(kept["llmContext1"]) == 8
    done = instrc(*REPLAY)
    assert (done.code, done.err) == (0, "")
    assert "4/8" in done.out


def test_a_file_that_lists_its_prompts_without_their_answers_is_read_by_step(instrc: Instrc, folder: Path) -> None:
    kept = json.loads((folder / "answers.json").read_text())
    kept["$recorded"]["prompts"] = [*kept["$recorded"]["prompts"]]
    (folder / "answers.json").write_text(json.dumps(kept))
    done = instrc(*REPLAY)
    assert (done.code, done.err) == (0, "")
    assert "4/8" in done.out
    kept["$recorded"]["prompts"].pop()
    (folder / "answers.json").write_text(json.dumps(kept))
    with pytest.warns(RuntimeWarning, match="for another prompt"):
        assert "4/8" in instrc(*REPLAY).out


@pytest.mark.parametrize("change", ["vibe", "words", "settings"])
def test_a_changed_prompt_is_a_warning(instrc: Instrc, folder: Path, change: str) -> None:
    if change == "vibe":
        (folder / "schemas/tell-mood.vibe.json").write_text(json.dumps({**VIBE, "description": "Say which."}), encoding="utf-8")
    elif change == "words":
        (folder / "pyproject.toml").write_text('[tool.instrc.run]\nwords = "all"\n')
    else:
        kept = json.loads((folder / "answers.json").read_text())
        kept["$recorded"]["settings"]["temperature"] = 1
        (folder / "answers.json").write_text(json.dumps(kept))
    with pytest.warns(RuntimeWarning, match="were recorded with `llamacpp:small` for another prompt than that of `tell_mood`"):
        assert "4/8" in instrc(*REPLAY).out


def test_a_record_that_is_none_is_a_problem(instrc: Instrc, folder: Path) -> None:
    (folder / "answers.json").write_text('{"$recorded": {"model": 3}, "tell_mood": []}')
    assert "`$recorded` is not of its form" in instrc(*REPLAY).err


def test_the_command_shows_the_warning_as_its_own(folder: Path) -> None:
    vibe = folder / "schemas/tell-mood.vibe.json"
    vibe.write_text(json.dumps({**VIBE, "description": "Say which."}), encoding="utf-8")
    done = subprocess.run([sys.executable, "-m", "instrc", *REPLAY], cwd=folder, capture_output=True, text=True, check=False)
    assert "4/8" in done.stdout
    assert done.stderr.startswith("warning: the answers were recorded with `llamacpp:small` for another prompt"), done.stderr
