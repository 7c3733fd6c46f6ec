"""Let runs be killed, and hold what they did against what they recorded."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import instrc
from instrc.runtime.traces import read_trace


def held(program: Sequence[str | Path], tmp_path: Path, kills: int, environment: dict[str, str] | None = None) -> None:
    """Let runs of a program be killed so often, and look at what was done and recorded."""
    done = subprocess.run(
        [sys.executable, *map(str, program), str(tmp_path), str(kills)],
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
            for event in (
                instrc.find_run(run, engine="durable", store=environment["DYING_STORE"]).trace
                if environment
                else read_trace(tmp_path / "store", run)
            )
            if event["event"] == "repeated"
        }
        assert {key for key in mine if effects[key] > 1} <= repeated, "what was perhaps done twice is reported"
