"""The conformance suite of the Model Context Protocol against the service: what it tests passes, each exception is named.

It comes from npm, and so does the version of Node that it needs: `npm install --prefix tests/server`.
"""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest
from listening import listening
from serving import go
from written_processes import call, chunk, process, step

from instrc import Activities
from instrc.engines.equip import LocalObjects, equip  # with activities of the test
from instrc.engines.hosts import engine_of  # with activities of the test
from instrc.engines.launch import Launcher  # with activities of the test
from instrc.engines.prepare import Prepared
from instrc.server.mcp_runs import RunOffers, mcp_mount  # the service, in the process of the test
from instrc.server.records import Records  # the service, in the process of the test
from instrc.server.run_service import RunService  # the service, in the process of the test
from instrc.server.streams import Hub  # the service, in the process of the test
from instrc.vibes.settings import Settings

TOOLS = Path(__file__).parent / "node_modules" / ".bin"
OUT: Any = {"type": "object", "properties": {"output": {}}, "required": ["output"]}
CONFIRM: Any = {
    "type": "object",
    "properties": {"confirm": {"type": "boolean"}, "name": {"type": "string"}},
    "required": ["confirm"],
}
PROGRAMS: dict[str, Any] = {
    "slow_compute": process(serverContext1=chunk(step1_wait=call("Wait", {"seconds": "seconds", "label": "label"}, OUT))),
    "failing_job": process(serverContext1=chunk(step1_fail=call("Break", {}, OUT))),
    "confirm_delete": process(userContext1=chunk(step1_confirm=step(CONFIRM, "filename"))),
    "multi_input": process(userContext1=chunk(step1_one=step(CONFIRM)), userContext2=chunk(step2_two=step(CONFIRM))),
}
INPUTS: dict[str, Any] = {
    "slow_compute": {"seconds": {"type": "number"}, "label": {"type": "string"}},
    "confirm_delete": {"filename": {"type": "string"}},
}
EXCEPTIONS = {
    "has no prompts, resources, completion or log levels": """
        caching completion-complete logging-set-level prompts-list prompts-get-simple prompts-get-with-args
        prompts-get-embedded-resource prompts-get-with-image resources-list resources-read-text resources-read-binary
        resources-templates-read resources-subscribe resources-unsubscribe input-required-result-non-tool-request
    """,
    "gives JSON and text, and no pictures, sounds, files or logs": """
        tools-call-image tools-call-audio tools-call-embedded-resource tools-call-mixed-content tools-call-with-logging
    """,
    "asks people, and no model or folder of the client": """
        server-stateless tools-call-sampling input-required-result-basic-sampling input-required-result-basic-list-roots
        input-required-result-capability-check input-required-result-multiple-input-requests
    """,
    "follows a call that asks for progress or takes a task; any other one gives the id of its run at once": """
        tools-call-elicitation tools-call-with-progress elicitation-sep1034-defaults elicitation-sep1330-enums
        server-sse-polling input-required-result-basic-elicitation input-required-result-request-state
        input-required-result-multi-round input-required-result-result-type input-required-result-tampered-state
        tasks-required-task-error tasks-mrtr-composition
    """,
    "has no schema or header of the suite's own, and no task that ends as an error of the protocol": """
        json-schema-2020-12 http-custom-header-server-validation tasks-lifecycle
    """,
}
"""What the service does otherwise, and the scenarios in which a check fails for that."""


GREET: Any = {
    "description": "Greet somebody.",
    "type": "object",
    "properties": {"name": {"type": "string"}},
    "required": ["name"],
}


async def greet(_caller: Any, given: Any) -> Any:
    return f"Hello, {given['name']}!"


async def wait(given: Any) -> Any:
    await asyncio.sleep(given["seconds"])
    return given["label"]


async def fail(_given: Any) -> Any:
    message = "it never works"
    raise ValueError(message)


def fixture(place: Path) -> RunService:
    """Return a service with the programs whose names the suite knows."""
    activities = Activities({"Wait": wait, "Break": fail})
    own, hub = LocalObjects(activities=activities), Hub()

    def effects_of(*given: Any) -> Any:
        return equip(*given, own)

    launchers = {
        name: Launcher(Prepared(name, document, place, Settings(), declared=INPUTS.get(name, {})), local=own)
        for name, document in PROGRAMS.items()
    }
    return RunService(launchers, engine_of("memory", place, equip=effects_of, watch=hub.saw), Records(None), hub=hub)


def results(text: str) -> dict[str, tuple[int, int]]:
    """Return how many checks of each scenario have passed and failed."""
    return {name: (int(good), int(bad)) for name, good, bad in re.findall(r"[✓✗] (\S+): (\d+) passed, (\d+) failed", text)}


@pytest.mark.long
@pytest.mark.skipif(not (TOOLS / "node").exists(), reason="needs `npm install --prefix tests/server`")
@pytest.mark.timeout(180)
def test_the_conformance_suite_passes(tmp_path: Path) -> None:
    async def body() -> str:
        made = fixture(tmp_path)
        offers = RunOffers([], made)
        offers.offer("greet", GREET, greet)
        route, beside = mcp_mount(offers, lambda *_: None)
        async with listening(made, routes=[route], beside=[beside]) as address:
            words = ["server", "--url", f"{address}/mcp", "--suite", "all", "-o", str(tmp_path / "out")]
            running = await asyncio.create_subprocess_exec(TOOLS / "node", TOOLS / "conformance", *words, stdout=-1, stderr=-2)
            text, _ = await running.communicate()
            return text.decode()

    found = results(go(body()))
    assert len(found) > 50
    assert {name for name, (_, bad) in found.items() if bad} == {name for names in EXCEPTIONS.values() for name in names.split()}
    assert found["tasks-lifecycle"][1] == 1
