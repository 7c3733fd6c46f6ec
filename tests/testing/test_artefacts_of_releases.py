"""What a release has compiled runs on every later one: `tests/data/releases` keeps the examples of each, as it compiled them.

A release adds a folder of its own; what is there is never written anew.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import instrc

FOLDER = Path(__file__).parents[1] / "data" / "releases"
KEPT = sorted(FOLDER.glob("*/*.json"))


@pytest.mark.parametrize(
    "file",
    [
        pytest.param(file, id=f"{file.parent.name}/{file.name}", marks=[pytest.mark.long] if number % 5 or takes_long else [])
        for number, file in enumerate(KEPT)
        for takes_long in ["console-agent" in file.name]
    ],
)
def test_an_artefact_of_a_release_runs_through_all_its_branches(file: Path) -> None:
    rehearsal = instrc.rehearse(file)
    ends = {None if run.outcome is None else run.outcome["status"] for run in rehearsal.runs}
    assert "done" in ends
    assert None not in ends
    assert not rehearsal.missed


def test_there_are_artefacts_of_each_release_in_each_form() -> None:
    assert {folder.name for folder in FOLDER.iterdir()} >= {"0.1.0", "0.2.0"}
    for folder in FOLDER.iterdir():
        assert {file.name.rsplit(".", 2)[1] for file in folder.glob("*.json")} == {"process", "tool", "call"}
