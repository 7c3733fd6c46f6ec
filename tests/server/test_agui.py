"""The service over AG-UI: every event is one of the protocol's models, a question interrupts, the next request resumes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from ag_ui.core import Event, RunAgentInput
from listening import listening
from pydantic import TypeAdapter
from serving import ANN, ANSWER, BOSS, client, go, person, service

from instrc.server.agui import agui_routes  # the service, in the process of the test
from instrc.vibes.service_settings import ServiceSettings  # without a file

EVENT: TypeAdapter[Any] = TypeAdapter(Event)


def request(run: str = "r1", thread: str = "t1", **more: Any) -> dict[str, Any]:
    made = {"threadId": thread, "runId": run, "messages": [{"id": "m", "role": "user", "content": "Write to Ann."}], **more}
    return RunAgentInput.model_validate(made).model_dump(by_alias=True, mode="json")


async def told(http: httpx.AsyncClient, asked: Any, program: str = "letter") -> list[Any]:
    found = []
    async with http.stream("POST", f"/agui/{program}", json=asked) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream"), await answer.aread()
        async for line in answer.aiter_lines():
            if line.startswith("data: "):
                data = json.loads(line[6:])
                event = EVENT.validate_python(data)
                assert type(event).model_validate(data).model_dump(by_alias=True, mode="json") == data
                assert not event.model_extra, event
                found.append(event)
    assert found[0].type == "RUN_STARTED"
    assert found[-1].type in {"RUN_FINISHED", "RUN_ERROR"}
    return found


def resume(question: str, payload: Any, status: str = "resolved") -> list[Any]:
    return [{"interruptId": question, "status": status, "payload": payload}]


@pytest.mark.parametrize(("decision", "outcome"), [("Approve", "success"), ("Reject", "cancelled")])
def test_a_question_interrupts_and_its_answer_resumes(tmp_path: Path, decision: str, outcome: str) -> None:
    async def body() -> None:
        made = service(tmp_path)
        async with listening(made, routes=agui_routes(made)) as address, httpx.AsyncClient(base_url=address, timeout=60) as http:
            first = await told(http, request())
            assert [each.type for each in first[1:-1]] == ["STEP_STARTED", "STEP_FINISHED"]
            (interrupt,) = first[-1].outcome.interrupts
            assert interrupt.response_schema["properties"]["decision"]["enum"] == ["Approve", "Reject"]
            left = await told(http, request("r2", resume=resume(interrupt.id, None, "cancelled")))
            assert left[-1].outcome.type == "interrupt"
            last = await told(http, request("r3", resume=resume(interrupt.id, {"decision": decision})))
            assert (last[-1].outcome.type, last[-1].run_id) == (outcome, "r3")
            assert "TEXT_MESSAGE_CONTENT" in [each.type for each in last]

    go(body())


def test_a_stream_too_many_is_refused_before_it_and_its_run_begin(tmp_path: Path) -> None:
    async def body() -> None:
        made = service(tmp_path, settings=ServiceSettings(streams=0))
        async with client(made, routes=agui_routes(made)) as http:
            refused = await http.post("/agui/letter", json=request())
            assert (refused.status_code, refused.json()["name"]) == (429, "too-much")
            assert (await http.get("/v1/runs")).json()["items"] == []

    go(body())


def test_what_cannot_be_taken_is_a_problem_before_the_stream(tmp_path: Path) -> None:
    async def body() -> None:
        made = service(tmp_path)
        stranger = person("eve", "starter", program="other")
        async with (
            listening(made, ANN, stranger, routes=agui_routes(made)) as address,
            httpx.AsyncClient(base_url=address) as http,
        ):

            async def post(who: str, asked: Any, program: str = "letter") -> tuple[int, str]:
                answer = await http.post(f"/agui/{program}", json=asked, headers={"Authorization": f"Bearer {who}"})
                return answer.status_code, answer.json()["name"]

            assert await post("nobody", request()) == (401, "not-authenticated")
            assert await post("ann", request(), "nothing") == (404, "no-such-program")
            assert await post("eve", request()) == (404, "no-such-program")
            assert await post("ann", {"threadId": "t"}) == (400, "invalid-request")
            assert await post("ann", request(run="")) == (400, "invalid-request")
            assert await post("ann", request(resume=resume("q", ANSWER))) == (400, "invalid-request")
            http.headers["Authorization"] = "Bearer ann"
            (interrupt,) = (await told(http, request()))[-1].outcome.interrupts
            assert (await post("ann", request(resume=resume(interrupt.id, {"decision": "Maybe"}))))[0] == 422

    go(body())


def test_a_thread_is_that_of_its_caller(tmp_path: Path) -> None:
    async def body() -> None:
        made = service(tmp_path)
        async with client(made, BOSS, routes=agui_routes(made)) as http:
            (interrupt,) = (await told(http, request()))[-1].outcome.interrupts
            await made.start(ANN, "letter", "a trap", metadata={"agui.thread": "t1"}, wait=20)
            await told(http, request("r2", resume=resume(interrupt.id, ANSWER)))
            runs = (await made.runs(BOSS)).rows
            assert {each.starter: each.status for each in runs} == {"ann": "waiting", "boss": "done"}  # type: ignore[union-attr]  # they are runs

    go(body())


def test_the_last_words_of_the_user_and_forwarded_inputs_begin_the_run(tmp_path: Path) -> None:
    async def body() -> None:
        made = service(tmp_path)
        async with listening(made, routes=agui_routes(made)) as address, httpx.AsyncClient(base_url=address, timeout=60) as http:
            parts = [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]
            messages = [{"id": "a", "role": "user", "content": "old"}, {"id": "b", "role": "user", "content": parts}]
            await told(http, request(messages=messages))
            await told(http, request(thread="t2", messages=[], forwardedProps={"input": {"prompt": "three"}}))
            inputs = [(await made.engine.journal(each.run))[0].inputs for each in (await made.runs(person("x", "admin"))).rows]  # type: ignore[union-attr]
            assert inputs == [{"prompt": "three"}, {"prompt": "one\ntwo"}]

    go(body())
