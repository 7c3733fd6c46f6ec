"""The tree of a run in a terminal: what is open is always on it, each command below its blocks, in words."""

from __future__ import annotations

import io
from pathlib import Path
from time import sleep, time
from typing import Any

import pytest
from rich.console import Console
from rich.live import Live

from instrc.cli import run_common, run_display  # a terminal overwrites each frame of a tree
from instrc.cli.options import EngineGroup  # a terminal overwrites each frame of a tree
from instrc.cli.output import write_rows  # lines of lists
from instrc.cli.run_display import Watcher, blocks_of  # a terminal overwrites each frame of a tree
from instrc.runtime.models.partial import AnswerPart


def shown(events: list[dict[str, Any]], *, height: int = 20) -> list[str]:
    watcher = Watcher(quiet=True)
    for event in events:
        watcher.saw({"at": time(), "run": "lunch", **event})
    console = Console(file=io.StringIO(), width=80, height=height, color_system=None)
    watcher._live = Live(console=console)
    with console.capture() as captured:
        console.print(watcher.tree())
    return captured.get().rstrip("\n").split("\n")


def called(id_: str, activity: str = "Send") -> dict[str, Any]:
    return {"event": "called", "id": id_, "activity": activity}


def returned(id_: str) -> dict[str, Any]:
    return {"event": "returned", "id": id_, "seconds": 1.5}


def test_the_answer_of_a_model_grows_below_its_command_until_it_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_display, "is_terminal", lambda _stream: True)
    watcher = Watcher()
    assert watcher.part is None
    with watcher, Console(file=io.StringIO(), width=40, color_system=None).capture():
        assert watcher.part is not None
        watcher.part(AnswerPart("lunch/llmContext1", (), "of a command that nobody has begun", ()))
        watcher.saw({"event": "asked", "at": time(), "run": "lunch", "id": "llmContext1", "steps": ["step1_draft"]})  # type: ignore[typeddict-item]
        watcher.part(AnswerPart("lunch/llmContext1~2", ("step1_draft",), {"text": "Dear Ann\x1b[1m"}, ()))
        assert '{"text":"Dear Ann' in drawn_by(watcher)
        assert "\x1b" not in drawn_by(watcher)
        watcher.saw(answered_now("llmContext1"))
        assert "Dear" not in drawn_by(watcher)


def answered_now(id_: str) -> Any:
    return {"event": "answered", "at": time(), "run": "lunch", "id": id_, "seconds": 0.1, "usage": {}, "complaints": []}


def drawn_by(watcher: Watcher) -> str:
    console = Console(file=io.StringIO(), width=80, color_system=None)
    with console.capture() as captured:
        console.print(watcher.tree())
    return captured.get()


def test_a_run_without_a_terminal_gives_a_sign_of_life(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(run_display, "is_terminal", lambda _stream: False)
    monkeypatch.setattr(run_display, "SILENCE", 0.0)
    monkeypatch.setattr(run_display, "BEAT", 0.01)
    with Watcher() as saw:
        saw({"event": "asked", "at": time(), "run": "lunch", "id": "llmContext1", "steps": ["step1_draft"]})  # type: ignore[typeddict-item]
        sleep(0.1)
    assert "still waits for step1_draft" in capsys.readouterr().err


def test_an_error_of_a_service_makes_no_line_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    text = "no\nlunch is done\r\x1b[2K"
    failed: Any = {"event": "failed", "at": time(), "run": "lunch", "id": "c", "error": text, "seconds": 0.1, "attempt": 1}
    answered = {**answered_now("c"), "notes": [text]}
    watcher = Watcher()
    for event in (failed, answered):
        watcher.saw(event)
    run_common.tell_line(f"lunch is held by c: {text}")
    write_rows([text], lambda _: {}, lambda row: row, "none", as_json=False)
    lines = [*capsys.readouterr()]
    assert ["".join(lines).count("\n"), "".join(lines).count("no\u240alunch is done\u240d\u241b[2K")] == [5, 4]


def test_an_interrupted_run_says_how_it_goes_on(capsys: pytest.CaptureFixture[str]) -> None:
    watcher = Watcher(quiet=True)
    for began in (False, True):
        if began:
            watcher.saw({"event": "asked", "at": time(), "run": "lunch", "id": "llmContext1", "steps": ["step1_draft"]})  # type: ignore[typeddict-item]
        with pytest.raises(KeyboardInterrupt), run_common.shown(watcher, "lunch", EngineGroup(Path("my runs"))):
            raise KeyboardInterrupt
        said = "interrupted; lunch is kept, and continues with: instrc resume lunch --store 'my runs'\n"
        assert capsys.readouterr().err == (said if began else "")


@pytest.mark.parametrize(("quiet", "drawn"), [(False, True), (True, False)])
def test_only_a_run_that_is_to_be_shown_is_drawn_on_a_terminal(
    *, quiet: bool, drawn: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_display, "is_terminal", lambda _stream: True)
    watcher = Watcher(quiet=quiet)
    with watcher:
        assert (watcher._live is not None) == drawn


def test_the_blocks_of_a_command_are_said_in_words() -> None:
    assert blocks_of("whenContext1.eachContext1[2].tryContext1.else.serverContext2.step5_note") == (
        "when",
        "each 2",
        "try",
        "else",
    )
    assert blocks_of("repeatContext1@3.llmContext1#2") == ("repeat, round 3",)
    assert blocks_of("serverContext1.step2_run_plan[b]/llmContext1") == ("step2_run_plan[b]",)


def test_a_command_stands_below_its_blocks_with_time_and_tokens() -> None:
    asked = {"event": "asked", "id": "llmContext1", "steps": ["step1_draft"]}
    answered = {"event": "answered", "id": "llmContext1", "seconds": 0.25, "usage": {"input_tokens": 7}, "complaints": []}
    where = "eachContext1[1].serverContext1.step2_send"
    lines = shown(
        [asked, answered, called(where), {"event": "retried", "id": where, "attempt": 1, "error": "x"}, returned(where)]
    )
    assert lines[0].startswith("lunch  0.0 s  7 tokens")
    assert lines[1] == "├── ✓  step1_draft  model  0.25 s  7 tokens"
    assert lines[2] == "└── each 1"
    assert lines[3] == "    └── ✓  step2_send  Send  1.50 s  1 retries"


def test_a_large_run_fits_on_the_screen_and_shows_what_is_open() -> None:
    ids = [f"eachContext1[{number}].serverContext1.step1_send" for number in range(1, 400)]
    events = [each for id_ in ids for each in (called(id_), returned(id_))]
    events.insert(0, called("serverContext1.step0_slow", "Slow"))
    lines = shown(events, height=20)
    assert len(lines) <= 18
    assert any("step0_slow" in line and "…" in line for line in lines), "what began first and is open is not pushed away"
    assert any("each 399" in line for line in lines)
    assert "more above" in lines[0]


def test_a_command_shows_its_own_run_although_its_process_carries_others(capsys: pytest.CaptureFixture[str]) -> None:
    with run_common.shown(Watcher(), "mine", EngineGroup()) as sink:
        for run in ("another", "mine", "mine/serverContext1", "another/x"):
            sink({"at": 1.0, "run": run, "event": "called", "id": "serverContext1", "activity": "Send_Activity"})
    assert [line.split()[1] for line in capsys.readouterr().err.splitlines()] == [
        "serverContext1",
        "serverContext1/serverContext1",
    ]


def test_rows_that_go_while_a_tree_is_made_are_in_it_once_more() -> None:
    class Rows(dict[str, Any]):
        def values(self) -> Any:
            found = [*super().values()]
            self.clear()
            return found

    watcher = Watcher(quiet=True)
    watcher.saw({"at": time(), "run": "lunch", **called("serverContext1")})
    watcher.rows = Rows(watcher.rows)
    assert len(watcher.tree().children) == 1
