"""What the OpenAPI document of the service says holds: schemathesis calls all of it with what it may and may not be sent."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
import schemathesis
import schemathesis.specs.openapi.schemas  # before any thread: pytest rewrites it, and Python before 3.11.9 parses in one thread
import uvicorn
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from serving import service
from temporal_server import free_port

from instrc.server.http import app_of  # the application itself
from instrc.server.operators import webhook_routes  # its routes are in the document
from instrc.server.webhooks import AddressRules, Webhooks  # its routes are in the document
from instrc.vibes.service_settings import ServiceSettings  # without a file

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def served(tmp_path: Path) -> Iterator[str]:
    """Return the address of a service that a thread serves."""
    made = service(tmp_path, settings=ServiceSettings(rate=10**9))
    hooks = Webhooks(made.records, AddressRules(), lambda _: "")
    config = uvicorn.Config(app_of(made, routes=webhook_routes(hooks)), port=free_port(), log_level="error")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve()))
    thread.start()
    until = monotonic() + 60
    while not server.started and monotonic() < until:
        threading.Event().wait(0.02)
    yield f"http://127.0.0.1:{config.port}"
    server.should_exit = True
    thread.join(60)


def tried(address: str, examples: int, seconds: float, rounds: int = 1) -> int:
    """Call every operation with so many examples a round, for at most so long; return how many calls there were."""
    operations = [*schemathesis.openapi.from_url(f"{address}/openapi.json").get_all_operations()]
    until, calls = monotonic() + seconds, 0

    def call(operation: Any, mode: Any) -> None:
        @given(operation.as_strategy(generation_mode=mode))
        @settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck), phases=[Phase.generate])
        def body(case: Any) -> None:
            nonlocal calls
            if isinstance(case.query, dict):
                case.query.pop("cursor", None)  # only the service makes one
            if mode == schemathesis.GenerationMode.POSITIVE and isinstance(case.body, dict):
                case.body.pop("cursor", None)  # likewise
            if mode == schemathesis.GenerationMode.POSITIVE and case.path == "/v1/webhooks" and case.method == "POST":
                case.body["url"] = "https://1.1.1.1/"  # whether an address is allowed, no schema says
            if monotonic() < until:
                case.call_and_validate(base_url=address, timeout=60)
                calls += 1

        body()

    for operation in operations * rounds:
        if operation.ok().path.endswith("/events") or monotonic() > until:
            continue  # a stream has no end
        for mode in (schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE):
            with suppress(Unsatisfiable):  # nothing can be wrong with what takes nothing
                call(operation.ok(), mode)
    return calls


@pytest.mark.long
def test_the_document_holds(served: str) -> None:
    assert tried(served, 5, 40) > 20, "how many calls there are depends on the machine: that it called at all does not"


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_document_holds_for_ten_minutes(served: str) -> None:
    assert tried(served, 10, 600, rounds=1000) > 1000
