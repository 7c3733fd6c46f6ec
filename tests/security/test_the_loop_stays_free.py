"""Every route of the table, asked about runs that show much: none holds up the event loop, so a new route is measured as well."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from serving import BOSS, client, go, service, settled
from starlette.routing import Route
from test_every_route import APPROVE, application, ask, others_of, requests_of, table
from written_processes import DECISION, chunk, each, process, step

from instrc.server.inbox import Inbox  # the service as pages
from instrc.server.mcp_runs import RunOffers, mcp_mount, no_link  # the service over MCP
from instrc.server.webhooks import AddressRules, Webhooks  # the rest of the table
from instrc.vibes.service_settings import ServiceSettings  # without a file

HELD = 0.5
"""Seconds of processor time of one turn of the loop that other callers notice."""
_ROW = {"properties": {"kind": {"anyOf": [{"required": ["iban"]}, {"required": ["card"]}]}}}
_ANSWER = {**DECISION, "properties": {**DECISION["properties"], "rows": {"type": "array", "items": _ROW}}}
LONG = {"decision": "Approve", "rows": [{"name": "a", "kind": {"card": "1"}}] * 13_000}
"""An answer of half a megabyte."""
MANY = {
    **process(eachContext1=each("item", "items", chunk(userContext1=chunk(step1_approve=step(_ANSWER, "item", "event"))))),
    "inputs": {"items": {}, "event": {}},
}
"""Asks people about each of some items, and shows something long beside each."""


@contextmanager
def turns() -> Iterator[list[float]]:
    """Note the turns of the event loop that take much processor time."""
    kept: list[float] = []
    run = asyncio.Handle._run

    def measured(self: asyncio.Handle) -> None:
        began = time.thread_time()
        run(self)
        taken = time.thread_time() - began
        if taken > 0.1:
            kept.append(taken)

    asyncio.Handle._run = measured  # type: ignore[method-assign]
    try:
        yield kept
    finally:
        asyncio.Handle._run = run  # type: ignore[method-assign]


SHOWN: dict[str, Any] = {
    "one that is long": {"items": ["a"], "event": ["x"] * 180_000},
    "many that are long": {"items": ["a"] * 60, "event": ["x"] * 20_000},
    "a deep one": {"items": ["a"], "event": [[[[{"a": [["x"] * 20] * 20}] * 20] * 5]]},
}


@pytest.mark.long
@pytest.mark.parametrize("shown", SHOWN)
def test_no_route_holds_up_the_loop(shown: str, tmp_path: Path) -> None:
    async def body() -> None:
        settings = ServiceSettings(rate=10**6, streams=10**6)
        made = service(tmp_path, name="durable", settings=settings, ask=MANY)
        hooks = Webhooks(made.records, AddressRules(), lambda _: "")
        mcp, running = mcp_mount(RunOffers([], made), no_link)
        pages = [each for each in Inbox(made).routes if isinstance(each, Route)]
        long: list[tuple[float, str, str, str, str | None]] = []
        async with client(made, BOSS), running():
            app = application(made, hooks, BOSS, mcp)
            app.router.routes[:0] = pages

            report = (await settled(made, (await made.start(BOSS, "ask", SHOWN[shown])).report.run, "waiting")).report
            run, asked = report.run, report.questions[0].id
            known = [(each.method, *requests_of(each, run, None)) for each in table(made, hooks)] + others_of(run)
            known += [(method, path, LONG) for method, path, sent in known if sent is not None and path.startswith("/v1")]
            named = json.dumps(known).replace("userContext1", asked)
            tried = json.loads(named.replace(json.dumps(APPROVE), json.dumps(LONG)))
            for page in pages:
                place = page.path.replace("{run}", run).replace("{question}", f"{run}:{asked}").replace("{program}", "ask")
                tried += [(method, place, None) for method in sorted({*(page.methods or {"GET"})} - {"HEAD"})]
            for method, path, sent in sorted(tried, key=lambda one: one[0] == "DELETE" or "ancel" in str(one)):
                with turns() as kept:
                    status, text, _ = await ask(app, method, path, sent)
                assert status < 500, (method, path, text[:300])
                if kept:
                    about = sent.get("params", {}) if isinstance(sent, dict) else {}
                    long.append((max(kept), method, path, str(sent)[:60], about.get("name")))
        assert [each for each in long if each[0] > HELD] == []

    go(body())
