"""The audit log has whatever was done, whether or not the one who did it waits for the end."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from serving import BOSS, go, opened, service, settled

from instrc.cli import main
from instrc.engines.operating import AuditFilter, audit_log  # what the commands read
from instrc.runtime.retry import ForkOptions  # of a request
from instrc.server.records import Records  # the tables of a service

FORK = ForkOptions(run="new")


@pytest.mark.parametrize(("action", "step"), [("start", "start"), ("fork", "start"), ("cancel", "cancel"), ("delete", "delete")])
def test_what_a_caller_has_begun_is_recorded_after_they_cancel_the_request(action: str, step: str, tmp_path: Path) -> None:
    """As over MCP, where a notification ends a call at any moment."""

    async def body() -> None:
        async with opened(service(tmp_path, records=str(tmp_path))) as made:
            run = (await made.start(BOSS, "letter", "x", wait=20)).report.run
            await settled(made, run, "waiting")
            if action == "delete":
                await made.cancel(BOSS, run)
            begun, real = asyncio.Event(), getattr(made.engine, step)

            async def beginning(*given: Any) -> Any:
                begun.set()
                return await real(*given)

            setattr(made.engine, step, beginning)
            work = {
                "start": lambda: made.start(BOSS, "letter", "x", run="new"),
                "fork": lambda: made.fork(BOSS, run, FORK),
                "cancel": lambda: made.cancel(BOSS, run),
                "delete": lambda: made.delete(BOSS, run),
            }
            asked = asyncio.ensure_future(work[action]())
            await begun.wait()
            asked.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asked
            about = AuditFilter("new" if step == "start" else run, action=action)
            for _ in range(200):
                if found := audit_log(made.records, about, 5):
                    break
                await asyncio.sleep(0.01)
            assert [each.who for each in found] == ["boss"]

    go(body())


def test_a_fork_by_a_command_is_recorded_with_what_it_sets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("dbos")
    monkeypatch.chdir(tmp_path)
    Path("p.aug").write_text('const draft = @{ title: "Draft", type: "object" };\n', encoding="utf-8")
    assert main(["run", "p.aug", "--rehearse", "--engine", "durable", "--id", "first", "--quiet"]) == 0
    assert main(["fork", "first", "--id", "second", "--set", "draft={}", "--quiet"]) == 0
    records = Records(str(tmp_path / ".instrc"))
    try:
        found = audit_log(records, AuditFilter("second"), 5)
    finally:
        records.close()
    assert [(each.who, each.means, each.action, each.question, each.digest is not None) for each in found] == [
        ("local", "command", "set", "draft", True),
        ("local", "command", "fork", None, True),
    ]
