"""The compatibility kit of A2A against the service, by hand: what it asks is kept, each exception is named.

The kit is in no registry: it is the branch `1.0-dev` of `a2aproject/a2a-tck` (357c4a8), installed beside, and
INSTRC_A2A_KIT="PYTHON FOLDER" pytest -m slow tests/server/test_a2a_kit.py
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from listening import listening
from written_processes import DECISION, call, chunk, process, step

from instrc import Activities
from instrc.engines.equip import LocalObjects, equip  # with activities of the test
from instrc.engines.hosts import engine_of  # with activities of the test
from instrc.engines.launch import Launcher  # with activities of the test
from instrc.engines.prepare import Prepared
from instrc.server import a2a  # the service, in the process of the test
from instrc.server.records import Records  # the service, in the process of the test
from instrc.server.run_service import RunService  # the service, in the process of the test
from instrc.server.streams import Hub  # the service, in the process of the test
from instrc.server.views import RunInfo  # the service, in the process of the test
from instrc.server.webhooks import AddressRules, Webhooks  # the service, in the process of the test
from instrc.vibes.settings import Settings

KIT = os.environ.get("INSTRC_A2A_KIT", "")
PROGRAMS: dict[str, Any] = {
    "work": process(serverContext1=chunk(step1_do=call("Do", {"what": "prompt"}))),
    "ask": process(userContext1=chunk(step1_approve=step(DECISION, "prompt"))),
}
EXCEPTIONS = {
    "brings JSON, as exact text with data beside it: no plain text, file or message": """
        test_task_has_text_artifact[jsonrpc] test_task_has_text_artifact[http_json]
        test_task_has_file_artifact[jsonrpc] test_task_has_file_artifact[http_json]
        test_task_has_file_url_artifact[jsonrpc] test_task_has_file_url_artifact[http_json]
        test_task_has_data_artifact[jsonrpc] test_task_has_data_artifact[http_json]
        test_returns_message_with_text_part[jsonrpc] test_returns_message_with_text_part[http_json]
    """,
    "takes the id of a message as its key: the kit sends other messages with the same one": """
        test_must_requirement[CORE-EXECUTION-MODE-001-jsonrpc] test_must_requirement[CORE-EXECUTION-MODE-001-http_json]
        test_must_requirement[CORE-EXECUTION-MODE-002-jsonrpc] test_must_requirement[CORE-EXECUTION-MODE-002-http_json]
        test_must_requirement[CORE-MULTI-001a-jsonrpc] test_must_requirement[CORE-MULTI-001a-http_json]
        test_must_requirement[CORE-MULTI-002a-jsonrpc] test_must_requirement[CORE-MULTI-002a-http_json]
        test_must_requirement[CORE-MULTI-003-jsonrpc] test_must_requirement[CORE-MULTI-003-http_json]
    """,
    "sends nothing to an address that no name server knows, which `example.com` is without a network": """
        test_create_push_config[jsonrpc] test_create_push_config[http_json]
    """,
    "has what the library says of types of content, and of the extended card where authentication is off": """
        test_must_requirement[CORE-SEND-003-jsonrpc] test_must_requirement[CORE-SEND-003-http_json]
        test_response_content_type test_content_type_not_supported_error test_extended_card_not_supported_jsonrpc
    """,
    "makes its card anew for who asks": "test_last_modified_present",
}
"""What the service does otherwise, and the tests of the kit that fail for that."""


async def do(given: Any) -> Any:
    return {"text": given["what"]}


class Agent(a2a.ServiceHandler):
    """The agent of the kit's scenarios, which says by the id of a message what shall come of it."""

    async def _started(self, params: Any, context: Any) -> RunInfo:
        asks = params.message.message_id.startswith(("tck-input-required", "test-resubscribe"))
        params.message.metadata.update({"program": "ask" if asks else "work"})
        return await super()._started(params, context)


def agent(place: Path) -> RunService:
    own, hub = LocalObjects(activities=Activities({"Do": do})), Hub()

    def effects_of(*given: Any) -> Any:
        return equip(*given, own)

    made = {name: Launcher(Prepared(name, document, place, Settings()), local=own) for name, document in PROGRAMS.items()}
    return RunService(made, engine_of("memory", place, equip=effects_of, watch=hub.saw), Records(None), hub=hub)


@pytest.mark.slow
@pytest.mark.skipif(not KIT, reason="INSTRC_A2A_KIT names no kit")
@pytest.mark.timeout(900)
def test_the_kit_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(a2a, "ServiceHandler", Agent)
    python, folder = KIT.split()
    report = tmp_path / "report.xml"

    async def body() -> None:
        made = agent(tmp_path)
        hooks = Webhooks(made.records, AddressRules.of(["127.0.0.0/8"]), lambda _: "")
        async with listening(made, routes=a2a.a2a_routes(made, hooks), beside=[hooks.beside]) as address:
            words = ["tests/compatibility/", f"--sut-host={address}", "--transport=jsonrpc,http_json", f"--junitxml={report}"]
            running = await asyncio.create_subprocess_exec(python, "-m", "pytest", "-q", *words, cwd=folder, stdout=-1, stderr=-2)
            text, _ = await running.communicate()
            (tmp_path / "said.txt").write_bytes(text)

    asyncio.run(body())
    cases = [*ET.parse(report).iter("testcase")]  # noqa: S314  -- the kit has just written it
    failed = {case.attrib["name"] for case in cases if case.find("failure") is not None or case.find("error") is not None}
    assert len(cases) > 200
    assert failed == {name for names in EXCEPTIONS.values() for name in names.split()}
