"""`instrc verify` checks tools against the rules of a target."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_lines import Instrc


@pytest.fixture(autouse=True)
def program(folder: Path) -> None:
    (folder / "a.aug").write_text('"Say hello" | Greet | Answer\n')


def test_a_tool_that_fits_is_accepted(instrc: Instrc) -> None:
    done = instrc("verify", "a.aug", "--target", "openai")
    assert (done.code, done.err) == (0, "")
    found = json.loads(done.out)
    assert (found["name"], found["target"], found["accepted"]) == ("say_hello", "openai", True)
    assert found["breaches"] == []


def test_several_targets_are_an_array(instrc: Instrc) -> None:
    found = json.loads(instrc("verify", "a.aug", "--target", "openai", "--target", "gemini").out)
    assert [each["target"] for each in found] == ["openai", "gemini"]


def test_what_is_refused_is_a_problem(instrc: Instrc, monkeypatch: pytest.MonkeyPatch) -> None:
    from instrc.providers.lowering import verify  # counted or replaced here
    from instrc.providers.lowering.verify import Breach, Verification  # refusals are played here

    refusal = Verification("vllm", (Breach("pattern", "", "too clever"),))
    monkeypatch.setattr(verify, "verify", lambda *_: refusal)
    done = instrc("verify", "a.aug", "--target", "vllm", "--format", "json")
    assert done.code == 1
    (problem,) = json.loads(done.err)
    assert problem["name"] == "payload-refused"
    assert problem["message"].endswith("/: too clever [pattern]")


def test_a_program_with_mistakes_is_not_verified(instrc: Instrc, folder: Path) -> None:
    (folder / "bad.aug").write_text("Gret")
    done = instrc("verify", "bad.aug", "--target", "openai")
    assert (done.code, done.out) == (1, "")
    assert "[unknown-name]" in done.err


def test_an_imported_tool_is_called_as_its_server_calls_it(instrc: Instrc, folder: Path) -> None:
    vibe = '{"title": "read_text_file", "type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}'
    (folder / "read-text-file.vibe.json").write_text(vibe)
    (folder / "title.vibe.json").write_text(vibe.replace("read_text_file", "Read a text"))
    done = [instrc("compile", f"{file}.vibe.json", "--target", "mcp") for file in ("read-text-file", "title")]
    assert [json.loads(each.out)["name"] for each in done] == ["read_text_file", "title"]
