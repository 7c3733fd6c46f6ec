"""The fixtures that `instrc` brings to pytest pass and fail as their pages say."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import instrc
from instrc.cli import pytest_plugin as plugin  # the fixtures that pytest finds by the entry point, where the tree is installed

every_branch, replay_cases, scripted_app = plugin.every_branch, plugin.replay_cases, plugin.scripted_app

DRAFT = '@{ title: "Draft", type: "object", properties: { text: { type: "string" } }, required: ["text"] }'
CASE = '## A letter\n```json answer\n{ "text": "Dear Ann" }\n```\n```json output\n{ "text": "Dear %s" }\n```\n'


def test_a_scripted_application_answers_notes_requests_and_keeps_runs(scripted_app: plugin.ScriptedApp, tmp_path: Path) -> None:
    app, model = scripted_app({"draft": {"text": "Dear Ann"}})
    run = asyncio.run(app.run(DRAFT, "a letter", id="friday"))
    assert run.value == {"text": "Dear Ann"}
    assert "a letter" in model.sent[0].message
    assert asyncio.run(app.find("friday")).value == run.value
    assert list(tmp_path.iterdir())
    with pytest.raises(TypeError, match="modle"):
        scripted_app([], modle="openai:gpt-5")


def test_cases_are_replayed_and_a_different_one_fails(
    replay_cases: plugin.ReplayCases,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "letter.aug").write_text(DRAFT)
    cases = tmp_path / "letter.cases.md"
    cases.write_text(CASE % "Ann")
    replay_cases(tmp_path)
    cases.write_text(CASE % "Bob")
    with pytest.raises(AssertionError, match="see the output"):
        replay_cases(tmp_path / "letter.aug")
    assert "Dear Bob" in capsys.readouterr().out
    cases.write_text(CASE % "Ann")
    (tmp_path / "other.aug").write_text(DRAFT)
    with pytest.raises(AssertionError, match="there is none"):
        replay_cases(tmp_path / "letter.aug", tmp_path / "other.aug")
    cases.unlink()
    with pytest.raises(AssertionError, match="there is none"):
        replay_cases(tmp_path)


def test_a_branch_that_no_run_takes_fails(every_branch: plugin.EveryBranch) -> None:
    both = f'when prompt is "a" {{ {DRAFT} }} else {{ Fail(code: "no", message: "No.") }}'
    assert len(every_branch(both).runs) == 2
    with pytest.raises(AssertionError, match="not reached"):
        every_branch(both, input="a")
    with pytest.raises(instrc.CompileError):
        every_branch("Draft(")
