"""Runs that began with version 1 of the interpreter go on with it for ever: its journals are kept as files and replayed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from journals import documents, played

from instrc.runtime.interpreter import versions  # the pure interpreter, without an engine
from instrc.runtime.interpreter.v1 import issue as issuing  # replaced or watched here
from instrc.runtime.interpreter.v1 import progress  # replaced or watched here
from instrc.runtime.plan import plan_digest  # what pins a plan
from instrc.text.jsontext import dumps, loads

FOLDER = Path(__file__).parent / "golden" / "v1"
FILES = sorted(FOLDER.glob("*.json"))


class ChangedError(AssertionError):
    """The interpreter asks for something else than it did."""


def replayed(journal: Any) -> None:
    """Play a journal again, and look at every command, withdrawal and outcome."""
    plan = journal["plan"]
    state = versions.begin(plan, loads(dumps(journal["inputs"])))
    for number, move in enumerate(journal["moves"]):
        if dumps(versions.issue(plan, state)) != dumps(move["issued"]):
            message = f"move {number}"
            raise ChangedError(message)
        if "answered" in move and sorted(versions.apply(plan, state, move["answered"], move["result"])) != move["withdrawn"]:
            message = f"what is withdrawn by move {number}"
            raise ChangedError(message)
        state = loads(dumps(state))  # as an engine that goes on in another process has it
    if dumps([versions.outcome(plan, state), versions.record(plan, state)]) != dumps([journal["outcome"], journal["record"]]):
        message = "the end"
        raise ChangedError(message)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_journal_of_version_1_is_replayed(file: Path) -> None:
    journal = loads(file.read_bytes())
    assert journal["plan"]["interpreter"] == "1"
    assert plan_digest(journal["plan"]) == journal["plan"]["digest"], "the digest that pins a plan is counted as it was"
    replayed(journal)


def test_there_is_a_journal_for_every_kind_of_command_and_block() -> None:
    assert {file.stem for file in FILES} >= {"every-effect", "every-block"}
    text = "".join(file.read_text(encoding="utf-8") for file in FILES)
    for word in (*("model", "activity", "fire", "user", "timer"),):
        assert f'"kind":"{word}"' in text
    for context in ("when", "each", "repeat", "else", "try", "do"):
        assert f"{context}Context1" in text
    assert '"status":"failed"' in text or '"code":"7"' in text


def _other_ids(real: Any) -> Any:
    return lambda machine: [{**command, "id": f"{command['id']}x"} for command in real(machine)]


def _other_order(real: Any) -> Any:
    return lambda machine: list(reversed(real(machine)))


def _other_words(real: Any) -> Any:
    return lambda machine: [
        {**command, "context": {**command["context"], "more": 1}} if command["kind"] == "model" else command
        for command in real(machine)
    ]


@pytest.mark.parametrize("change", [_other_ids, _other_order, _other_words])
def test_a_changed_interpreter_is_noticed(change: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(issuing, "issue", change(issuing.issue))
    noticed = []
    for file in FILES:
        try:
            replayed(loads(file.read_bytes()))
        except (ChangedError, KeyError):
            noticed.append(file.stem)
    assert noticed


def test_a_lost_record_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    real = progress._note

    def forgetful(machine: Any, scope: str, unit: Any, record: Any, value: Any) -> None:
        real(machine, scope, unit, record, None)

    monkeypatch.setattr(progress, "_note", forgetful)
    with pytest.raises(ChangedError):
        replayed(loads((FOLDER / "every-block.json").read_bytes()))


def test_the_journals_are_what_a_run_is_today() -> None:
    document, inputs = documents()["every-block"]
    journal = loads((FOLDER / "every-block.json").read_bytes())
    assert document == journal["plan"]["process"], "write a new journal beside it instead of changing the process"
    assert played(journal["plan"], inputs)["outcome"] == journal["outcome"]
