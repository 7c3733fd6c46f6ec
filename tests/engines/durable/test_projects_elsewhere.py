"""A run names its project: a process that has the project elsewhere carries the run there."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest
from written_processes import DECISION, call, chunk, process, step

from instrc.engines import projects  # what a process carries
from instrc.engines.dbos.durable_engine import DurableEngine  # two of them, on one store
from instrc.engines.equip import equip  # what it is made with
from instrc.engines.launch import Launcher
from instrc.engines.prepare import Prepared
from instrc.runtime.run_report import RunReport
from instrc.vibes.settings import read_settings

PAYING = process(
    userContext1=chunk(step1_approve=step(DECISION, "prompt")),
    serverContext1=chunk(step2_send=call("Send_Activity", "step1_approve.decision")),
)


@pytest.mark.parametrize("name", ["", '[project]\nname = "shop"\n'])
def test_a_project_that_was_moved_carries_the_runs_that_wait(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From `/rel/1` to `/rel/2`, as a deploy does: by its name, or as the one project that there is."""
    monkeypatch.setattr(projects, "_folders", {})
    monkeypatch.setattr(projects, "_unnamed", [])
    module = f"handlers_{'of_shop' if name else 'unnamed'}"
    old, new = tmp_path / "rel" / "1", tmp_path / "rel" / "2"
    old.mkdir(parents=True)
    (old / "pyproject.toml").write_text(f'{name}[tool.instrc.activities]\nSend_Activity = "{module}:send"\n', encoding="utf-8")
    (old / f"{module}.py").write_text("def send(text):\n    return {'text': __file__}\n", encoding="utf-8")

    async def carried(run: str, *, answer: bool) -> RunReport:
        engine = DurableEngine(tmp_path / "store", equip)
        try:
            if answer:
                return await engine.answer(run, "userContext1", {"decision": "Approve"})
            return await engine.start(Launcher(Prepared("pay", PAYING, old, read_settings(old))).launch("x", run))
        finally:
            await asyncio.to_thread(engine.close)

    assert asyncio.run(carried("r1", answer=False)).status == "waiting"
    old.rename(new)
    sys.modules.pop(module)  # as in another process
    projects.serve_project(new)
    done = asyncio.run(carried("r1", answer=True))
    assert done.status == "done", done
    assert (new / f"{module}.py").as_posix() in str(done.record)
