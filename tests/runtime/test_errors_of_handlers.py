"""What is known of an error in the code of a user: its line, its traceback, and whether it is tried again."""

from __future__ import annotations

import json
import logging
import traceback
from pathlib import Path
from typing import Any

import pytest
from written_processes import attempt, call, chunk, process

import instrc
from instrc.runtime.effects import ERROR_CHARACTERS, TRACEBACK_CHARACTERS  # the limits, to go beyond them

ONE_CALL = process(serverContext1=chunk(step1_a=call("Work", "prompt")))
QUICK = instrc.Retry(pause=0)


def run_with(handler: Any, document: Any = ONE_CALL, retry: instrc.Retry = QUICK, **options: Any) -> instrc.Run:
    activities = instrc.Activities()
    activities.add("Work", handler, retry=retry)
    return instrc.run(document, "x", activities=activities, model=instrc.Scripted({}), id="r", **options)


def attempts_of(run: instrc.Run) -> int:
    return next(event["attempt"] for event in run.trace if event["event"] == "failed")


def slip(_given: Any) -> Any:
    return {"text": "a" + 1}  # type: ignore[operator]


@pytest.mark.parametrize(
    ("error", "attempts"),
    [
        (TypeError("x"), 1),
        (KeyError("x"), 1),
        (IndexError("x"), 1),
        (NameError("x"), 1),
        (AttributeError("x"), 1),
        (NotImplementedError("x"), 1),
        (AssertionError("x"), 1),
        (ImportError("x"), 1),
        (RuntimeError("x"), 3),
        (ValueError("x"), 3),
        (OSError("x"), 3),
        (instrc.ActivityError("x"), 3),
    ],
    ids=lambda value: type(value).__name__,
)
def test_an_error_that_the_next_attempt_would_meet_too_is_tried_once(error: Exception, attempts: int) -> None:
    def work(_given: Any) -> Any:
        raise error

    assert attempts_of(run_with(work)) == attempts
    assert attempts_of(run_with(work, retry=instrc.Retry(pause=0, programming_errors=True))) == 3


@pytest.mark.parametrize("engine", ["memory", "durable"])
def test_the_traceback_is_the_cause_of_what_is_raised(engine: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORK_TOKEN", "secret-of-mine")

    def work(given: Any) -> Any:
        try:
            return slip(given)
        except TypeError as error:
            message = "secret-of-mine"
            raise instrc.ActivityError(message, code="slip") from error

    run = run_with(work, engine=engine, store=tmp_path / "kept")
    with pytest.raises(
        instrc.RunFailedError, match=r"`step1_a` failed \(failed\): \*\*\* \(.*test_errors_of_handlers.py:\d+\)"
    ) as caught:
        _ = run.value
    shown = "".join(traceback.format_exception(caught.value))
    assert 'in slip\n    return {"text": "a" + 1}' in shown
    assert "TypeError: can only concatenate str" in shown
    assert "secret-of-mine" not in shown
    assert "instrc/runtime" not in str(caught.value.__cause__)
    instrc.close_stores()
    with pytest.raises(instrc.RunFailedError) as later:
        _ = instrc.find_run("r", engine=engine, store=tmp_path / "kept").value
    assert str(later.value.__cause__) == str(caught.value.__cause__)


def test_the_log_and_the_page_have_the_traceback(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="instrc.run"):
        run = run_with(slip)
    assert "in slip\n" in caplog.text
    outcome: Any = run.outcome
    assert outcome["error"]["place"].endswith(f"test_errors_of_handlers.py:{slip.__code__.co_firstlineno + 1}")


def test_what_a_library_raises_leads_to_the_line_that_called_it() -> None:
    def work(given: Any) -> Any:
        return json.loads(given)

    outcome: Any = run_with(work, retry=instrc.Retry(attempts=1)).outcome
    assert outcome["error"]["place"].endswith(f"test_errors_of_handlers.py:{work.__code__.co_firstlineno + 1}")


def test_a_handler_that_takes_something_else_is_shown_where_it_is_written() -> None:
    def work(text: str, other: int) -> Any:
        return {"text": text * other}

    outcome: Any = run_with(work, process(serverContext1=chunk(step1_a=call("Work", {"text": "prompt"})))).outcome
    assert outcome["error"]["code"] == "wrong-parameters"
    assert outcome["error"]["place"].endswith(f"test_errors_of_handlers.py:{work.__code__.co_firstlineno}")


def test_a_handler_that_takes_no_names_is_not_called_with_one_value() -> None:
    def work(text: str, other: str, /) -> Any:
        return {"text": text + other}

    given = process(serverContext1=chunk(step1_a=call("Work", {"text": "prompt", "other": "prompt"})))
    outcome: Any = run_with(work, given).outcome
    assert (outcome["error"]["code"], "without names" in outcome["error"]["message"]) == ("wrong-parameters", True)


def test_a_program_does_not_read_the_line() -> None:
    first = process(serverContext1=chunk(step1_a=call("Work", "prompt")))
    other = process(serverContext1=chunk(step2_note=call("Note", "error")))
    document = process(tryContext1=attempt(first, other, ("step1_a", "step2_note")))
    seen: list[Any] = []

    def note(given: Any) -> Any:
        seen.append(given)
        return {"text": "noted"}

    run = instrc.run(document, "x", activities={"Work": slip, "Note": note}, model=instrc.Scripted({}), id="r")
    assert run.status == "done"
    assert [sorted(each) for each in seen] == [["code", "kind", "message", "step"]]


def test_a_long_traceback_keeps_its_end() -> None:
    def work(_given: Any) -> Any:
        message = "x" * TRACEBACK_CHARACTERS + "end"
        raise RuntimeError(message)

    [failed] = [event for event in run_with(work).trace if event["event"] == "failed"]
    assert len(failed["traceback"]) == TRACEBACK_CHARACTERS
    assert failed["traceback"].endswith("end\n")


class Unreadable(instrc.ActivityError):
    def __getattribute__(self, name: str) -> Any:
        if name in {"code", "retry", "__notes__"}:
            raise SystemExit(3)
        return super().__getattribute__(name)


@pytest.mark.parametrize("error", [Unreadable("x"), SyntaxError("x", ("f", object(), object(), object()))])
def test_an_error_whose_members_cannot_be_read_fails_its_step(error: Exception) -> None:
    def work(_: Any) -> None:
        raise error

    outcome: Any = run_with(work).outcome
    assert (outcome["status"], outcome["error"]["message"]) == ("failed", "its error cannot be read: a member of it raises")


def test_the_code_of_an_error_is_cut() -> None:
    def work(_: Any) -> None:
        raise instrc.ActivityError("x", code="y" * 1_000_000, retry=False)

    outcome: Any = run_with(work).outcome
    assert outcome["error"]["code"] == "y" * ERROR_CHARACTERS
