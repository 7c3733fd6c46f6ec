"""Clients in JavaScript, by the libraries of the protocols, carry out a process with a person."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from listening import listening
from serving import ANSWER, go, service

from instrc.server.a2a import a2a_routes  # the service, in the process of the test
from instrc.server.mcp_runs import RunOffers, mcp_mount, no_link  # the service, in the process of the test

HERE = Path(__file__).parent
NODE = HERE / "node_modules" / ".bin" / "node"
pytestmark = pytest.mark.skipif(not NODE.exists(), reason="needs `npm install --prefix tests/server`")


def carried_out(place: Path, script: str) -> Any:
    """Return what a script prints, which is given the address of a service of the process `letter`."""

    async def body() -> Any:
        made = service(place)
        route, beside = mcp_mount(RunOffers([], made), no_link)
        async with listening(made, routes=[route, *a2a_routes(made)], beside=[beside]) as address:
            running = await asyncio.create_subprocess_exec(NODE, HERE / script, address, stdout=-1)
            said, _ = await running.communicate()
            assert running.returncode == 0
            return json.loads(said)

    return go(body())


def test_a_client_of_a2a_is_told_of_the_question_and_answers_it(tmp_path: Path) -> None:
    told = carried_out(tmp_path, "a2a_client.js")
    (question,) = [value for _, state, value in told if state == "TASK_STATE_INPUT_REQUIRED"]
    assert question["steps"] == ["step2_approve"]
    assert question["schema"]["properties"]["decision"]["enum"] == ["Approve", "Reject"]
    assert "TASK_STATE_COMPLETED" in [state for _, state, _ in told]
    assert ANSWER in [value for _, _, value in told]


def test_a_client_of_mcp_is_asked_by_a_form_until_the_answer_fits(tmp_path: Path) -> None:
    told = carried_out(tmp_path, "mcp_client.js")
    first, second = told["forms"]
    assert first["requestedSchema"]["properties"]["decision"]["enum"] == ["Approve", "Reject"]
    assert second["message"].startswith("the answer to `userContext1` is not accepted, at `/decision`")
    assert told["progress"][-1]["message"] == told["result"]["structuredContent"]["status"] == "done"
    assert told["result"]["structuredContent"]["value"] == ANSWER
