"""A process that is killed between any two things it does: nothing recorded is done again, and each run has one outcome."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from postgres_server import Database

from instrc.runtime.traces import read_trace

PROGRAM = Path(__file__).with_name("dying.py")


SLOW = (pytest.mark.slow, pytest.mark.timeout(3600))


@pytest.mark.parametrize("kills", [8, pytest.param(220, marks=SLOW)])
def test_a_run_survives_kills_between_any_two_effects(kills: int, tmp_path: Path) -> None:
    held(tmp_path, kills)


def test_a_run_in_postgresql_survives_kills(tmp_path: Path, postgres_server: Database, prepared_database: str) -> None:
    held(tmp_path, 8, {"DYING_STORE": postgres_server.fresh(prepared_database)})


def held(tmp_path: Path, kills: int, environment: dict[str, str] | None = None) -> None:
    """Let runs be killed so often, and look at what was done and recorded."""
    done = subprocess.run(
        [sys.executable, str(PROGRAM), str(tmp_path), str(kills)],
        capture_output=True,
        text=True,
        timeout=3000,
        check=False,
        cwd=tmp_path,
        env={**os.environ, **(environment or {})},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    said = json.loads(done.stdout.splitlines()[-1])
    assert said["kills"] >= kills
    noted = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert sum(what == "killed" for what, _ in noted) == said["kills"]

    recorded: set[str] = set()
    effects: Counter[str] = Counter()
    for what, key in noted:
        if what == "effect":
            assert key not in recorded, "a recorded step was carried out again"
            effects[key] += 1
        elif what == "recorded":
            recorded.add(key)

    calm = json.loads((tmp_path / "calm.json").read_text())
    if kills > calm["moments"]:
        assert said["visited"] > calm["moments"] / 2, "the moments at which runs die first are spread over all there are"
    del calm["moments"]
    expected = {key.removeprefix("calm") for key in effects if key.startswith("calm/")}
    for number in range(said["runs"]):
        run = f"r{number}"
        ended = json.loads((tmp_path / f"{run}.json").read_text())
        assert ended == calm, "the outcome does not depend on the kills"
        mine = {key for key in effects if key.startswith(f"{run}/")}
        assert {key.removeprefix(run) for key in mine} == expected, "the same effects, under the same keys"
        repeated = {
            event["key"]
            for event in read_trace(tmp_path / (".instrc" if environment else "store"), run)
            if event["event"] == "repeated"
        }
        assert {key for key in mine if effects[key] > 1} <= repeated, "what was perhaps done twice is reported"
