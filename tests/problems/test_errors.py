"""The classes of errors, and their one table of statuses and exit codes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import instrc
from instrc.problems import errors  # all of its classes are tested
from instrc.problems.errors import CODES, InstrcError, codes_of  # the table itself is tested
from instrc.runtime.run_report import RUN_ERRORS, STATUSES

CLASSES = [value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, InstrcError)]
EXPECTED = {
    "InstrcError": (422, 1), "CompileError": (422, 1), "InputError": (422, 1), "AnswerError": (422, 1), "SettingsError": (422, 1),
    "RequestError": (400, 1), "AuthenticationError": (401, 1), "AccessError": (403, 1), "NotFoundError": (404, 1),
    "ConflictError": (409, 1), "GoneError": (410, 1), "StaleError": (412, 1), "LimitError": (413, 1), "RateLimitError": (429, 1),
    "UnavailableError": (503, 1), "UnreachableError": (503, 1), "RunError": (422, 1), "RunFailedError": (422, 1),
    "RunStoppedError": (422, 5), "RunWaitingError": (409, 3), "RunHeldError": (409, 4), "RunCancelledError": (409, 6),
}  # fmt: skip


@pytest.mark.parametrize("error", CLASSES)
def test_each_error_has_a_status_and_an_exit_code(error: type[InstrcError]) -> None:
    assert codes_of(error) == EXPECTED[error.__name__]


def test_every_row_of_the_table_is_a_class_of_errors() -> None:
    assert set(CODES) <= set(CLASSES)
    assert set(EXPECTED) == {error.__name__ for error in CLASSES}


def test_the_errors_that_a_caller_can_handle_are_public() -> None:
    public = {name for name in instrc.__all__ if name.endswith("Error")} - {"ActivityError", "ModelError"}
    assert {getattr(instrc, name) for name in public} <= set(CLASSES)
    assert {
        f"{name}Error" for name in ("Instrc", "Compile", "Answer", "Settings", "Unavailable", "NotFound", "Conflict")
    } <= public


def test_the_guide_has_the_codes_of_the_table() -> None:
    page = (Path(__file__).parents[2] / "examples" / "guides" / "python.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+Error)` \|.*\| (\d+) \| (\d+) \|$", page, re.MULTILINE)
    assert len(rows) == 10
    assert all(EXPECTED[name] == (int(http), int(code)) for name, http, code in rows)


def test_every_status_without_a_result_has_an_error() -> None:
    assert set(RUN_ERRORS) == set(STATUSES) - {"done"}


def test_a_mistake_in_a_program_is_no_mistake_in_the_settings() -> None:
    with pytest.raises(instrc.CompileError):
        instrc.compile("unknown_name")
    with pytest.raises(instrc.SettingsError):
        instrc.compile('@{ title: "Draft", type: "object" }', batch=0)


def test_the_input_of_a_run_and_an_answer_have_errors_of_their_own() -> None:
    program = '@{ title: "Ask_User", type: "object", properties: { text: { type: "string" } } }'
    with pytest.raises(instrc.InputError):
        instrc.run(program, {"other": 1})
    run = instrc.run(program, "?")
    with pytest.raises(instrc.AnswerError):
        run.answer("ask", {"text": 1})
    with pytest.raises(instrc.NotFoundError):
        run.answer("other", {})
    with pytest.raises(instrc.RunWaitingError, match="has not ended"):
        _ = run.value
    run.cancel()
    with pytest.raises(instrc.RunCancelledError):
        _ = run.value
