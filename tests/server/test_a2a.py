"""The service as an agent of A2A 1.0, asked by the protocol's own client."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from a2a.client.card_resolver import A2ACardResolver
from a2a.client.client import Client, ClientConfig
from a2a.client.client_factory import ClientFactory
from a2a.client.errors import A2AClientError
from a2a.types import a2a_pb2 as pb
from a2a.utils.errors import A2AError
from google.protobuf.json_format import MessageToDict, ParseDict
from google.protobuf.struct_pb2 import Struct, Value
from http_server import Answer, Asked, serving
from listening import listening
from serving import ANN, ANSWER, BOB, CAT, LETTER, asking, go, person, service, settled
from written_processes import TEXT, chunk, process, step

from instrc.server import a2a  # the service, in the process of the test
from instrc.server.a2a import a2a_routes  # the service, in the process of the test
from instrc.server.webhooks import AddressRules, Webhooks  # the service, in the process of the test
from instrc.vibes.service_settings import ServiceSettings  # the service, in the process of the test

NUMBERS = {"type": "object", "properties": {"z": {"type": "integer"}, "a": {"type": "array"}}, "required": ["z"]}
NUMBER = process(userContext1=chunk(step1_number=step(NUMBERS, "prompt")))


@asynccontextmanager
async def agent(
    made: Any, caller: str | None = None, *people: Any, way: str = "JSONRPC", tenant: str = "", **more: Any
) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {caller}"} if caller else {}
    async with (
        listening(made, *people, routes=a2a_routes(made, **more)) as address,
        httpx.AsyncClient(headers=headers, timeout=60) as http,
    ):
        base = f"{address}/a2a/{tenant}" if tenant else address
        card = await A2ACardResolver(http, base).get_agent_card()
        config = ClientConfig(httpx_client=http, supported_protocol_bindings=[way])
        yield ClientFactory(config).create(card)


def message(*parts: pb.Part, name: str = "m1", task: str = "", **metadata: Any) -> pb.SendMessageRequest:
    meta = ParseDict(metadata, Struct())
    return pb.SendMessageRequest(message=pb.Message(message_id=name, role=pb.ROLE_USER, parts=parts, task_id=task, metadata=meta))


def text(words: str) -> pb.Part:
    return pb.Part(text=words)


def exact(value: Any) -> pb.Part:
    return pb.Part(text=json.dumps(value), media_type="application/json")


def data(value: Any) -> pb.Part:
    return pb.Part(data=ParseDict(value, Value()))


async def sent(client: Client, request: pb.SendMessageRequest) -> list[Any]:
    return [each async for each in client.send_message(request)]


def final(events: list[Any]) -> str:
    status = [
        each.status_update.status if each.HasField("status_update") else each.task.status
        for each in events
        if not each.HasField("artifact_update")
    ]
    return pb.TaskState.Name(status[-1].state)


@pytest.mark.parametrize("way", ["JSONRPC", "HTTP+JSON"])
def test_a_process_with_a_person_is_a_task_that_requires_input(tmp_path: Path, way: str) -> None:
    async def body() -> None:
        async with agent(service(tmp_path), way=way) as client:
            events = await sent(client, message(text("Write to Ann.")))
            assert final(events) == "TASK_STATE_INPUT_REQUIRED"
            task = next(each.task for each in events if each.HasField("task"))
            asked = await client.get_task(pb.GetTaskRequest(id=task.id))
            part, beside = asked.status.message.parts
            question = json.loads(part.text)
            assert part.media_type == "application/json"
            assert question["schema"]["properties"]["decision"]["enum"] == ["Approve", "Reject"]
            assert MessageToDict(part.metadata) == {"question": question["question"]}
            assert MessageToDict(beside.data)["question"] == question["question"]
            events = await sent(client, message(data(ANSWER), name="m2", task=task.id))
            assert final(events) == "TASK_STATE_COMPLETED"
            done = await client.get_task(pb.GetTaskRequest(id=task.id))
            (artifact,) = done.artifacts
            assert json.loads(artifact.parts[0].text) == MessageToDict(artifact.parts[1].data)
            listed = await client.list_tasks(pb.ListTasksRequest(status=pb.TASK_STATE_COMPLETED))
            assert [each.id for each in listed.tasks] == [task.id]

    go(body())


@pytest.mark.parametrize(("decision", "state"), [("Approve", "TASK_STATE_COMPLETED"), ("Reject", "TASK_STATE_REJECTED")])
def test_a_refusal_is_no_failure(tmp_path: Path, decision: str, state: str) -> None:
    async def body() -> None:
        async with agent(service(tmp_path)) as client:
            [*_, event] = await sent(client, message(text("x")))
            run = event.task.id or event.status_update.task_id
            assert final(await sent(client, message(text(f'{{"decision": "{decision}"}}'), name="m2", task=run))) == state

    go(body())


def test_exact_numbers_and_the_order_of_keys_are_kept_as_text(tmp_path: Path) -> None:
    value = {"z": 9007199254740993, "a": [1, 1.5, None]}

    async def body() -> None:
        async with agent(service(tmp_path, number=NUMBER)) as client:
            events = await sent(client, message(text("x")))
            run = next(each.task.id for each in events if each.HasField("task"))
            await sent(client, message(exact(value), data({"z": 1}), name="m2", task=run))
            (artifact,) = (await client.get_task(pb.GetTaskRequest(id=run))).artifacts
            assert json.dumps(value, separators=(",", ":")) in artifact.parts[0].text.replace(" ", "")

    go(body())


def test_a_data_part_with_whole_numbers_gives_integers(tmp_path: Path) -> None:
    async def body() -> None:
        async with agent(service(tmp_path, number=NUMBER)) as client:
            events = await sent(client, message(text("x")))
            run = next(each.task.id for each in events if each.HasField("task"))
            assert final(await sent(client, message(data({"z": 3}), name="m2", task=run))) == "TASK_STATE_COMPLETED"

    go(body())


def deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize("value", [deep(300), "\0", {"": 1}, 10**400, 1.5, None, [], {"a": {"b": [True]}}])
def test_what_protobuf_cannot_hold_is_told_as_text_alone(value: Any) -> None:
    parts = a2a.parts_of([(value, None)])
    assert json.loads(parts[0].text) == value
    assert len(parts) <= 2
    for each in parts:
        each.SerializeToString()


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        (message(text("x"), task="nothing"), "no run"),
        (message(text("x"), program="nothing"), "no program `nothing`"),
        (message(pb.Part(url="https://a.example/x")), "no files"),
        (message(pb.Part(raw=b"x")), "no files"),
        (message(pb.Part(text="{", media_type="application/json")), "not JSON"),
        (message(exact({}), exact({})), "one JSON value"),
        (message(text("x"), name=""), "has a `messageId`"),
    ],
)
def test_a_message_that_cannot_be_taken_is_refused_in_words(tmp_path: Path, request_: Any, said: str) -> None:
    async def body() -> None:
        async with agent(service(tmp_path)) as client:
            with pytest.raises((A2AError, A2AClientError), match=said):
                await sent(client, request_)

    go(body())


def test_a_wrong_answer_leaves_the_question_open(tmp_path: Path) -> None:
    async def body() -> None:
        async with agent(service(tmp_path)) as client:
            events = await sent(client, message(text("x")))
            run = next(each.task.id for each in events if each.HasField("task"))
            with pytest.raises((A2AError, A2AClientError), match="Maybe"):
                await sent(client, message(data({"decision": "Maybe"}), name="m2", task=run))
            assert (await client.get_task(pb.GetTaskRequest(id=run))).status.state == pb.TASK_STATE_INPUT_REQUIRED
            await sent(client, message(data(ANSWER), name="m3", task=run))
            with pytest.raises((A2AError, A2AClientError), match="has ended: it is done"):
                await sent(client, message(data(ANSWER), name="m4", task=run))

    go(body())


def test_a_message_sent_twice_begins_one_run(tmp_path: Path) -> None:
    async def body() -> None:
        async with agent(service(tmp_path)) as client:
            first, second = [await sent(client, message(text("x"))) for _ in range(2)]
            assert {each.task.id for each in (*first, *second) if each.HasField("task")} == {first[0].task.id}

    go(body())


def test_several_programs_are_skills_and_each_is_an_agent_too(tmp_path: Path) -> None:
    async def body() -> None:
        made = service(tmp_path, letter=LETTER, number=NUMBER)
        async with agent(made) as client:
            card = await client.get_extended_agent_card(pb.GetExtendedAgentCardRequest())
            assert [each.id for each in card.skills] == ["letter", "number"]
            assert '"prompt"' in card.skills[0].description
            with pytest.raises((A2AError, A2AClientError), match=r"which program.*`letter`, `number`"):
                await sent(client, message(text("x")))
            await sent(client, message(text("x"), program="number"))
            await sent(client, message(text("x"), name="m2", program="letter"))
        other = service(tmp_path / "other", letter=LETTER, number=NUMBER)
        async with agent(other, tenant="number") as client:
            events = await sent(client, message(text("x")))
            run = next(each.task.id for each in events if each.HasField("task"))
            assert run.startswith("number")
            assert [each.id for each in (await client.list_tasks(pb.ListTasksRequest())).tasks] == [run]

    go(body())


def test_contexts_group_tasks_and_pages_follow_each_other(tmp_path: Path) -> None:
    async def body() -> None:
        async with agent(service(tmp_path)) as client:
            for number in range(5):
                request = message(text("x"), name=f"m{number}")
                request.message.context_id = f"c{number % 2}"
                request.configuration.return_immediately = True
                await sent(client, request)
            of_one = await client.list_tasks(pb.ListTasksRequest(context_id="c0"))
            assert [each.context_id for each in of_one.tasks] == ["c0"] * 3
            seen: list[str] = []
            token = ""
            while True:
                page = await client.list_tasks(pb.ListTasksRequest(page_size=2, page_token=token))
                seen += [each.id for each in page.tasks]
                token = page.next_page_token
                if not token:
                    break
            assert len(set(seen)) == len(seen) == 5
            with pytest.raises((A2AError, A2AClientError), match="cursor"):
                await client.list_tasks(pb.ListTasksRequest(page_token="!!"))  # noqa: S106  -- no secret

    go(body())


def test_a_task_is_cancelled_once(tmp_path: Path) -> None:
    async def body() -> None:
        async with agent(service(tmp_path)) as client:
            events = await sent(client, message(text("x")))
            run = next(each.task.id for each in events if each.HasField("task"))
            assert (await client.cancel_task(pb.CancelTaskRequest(id=run))).status.state == pb.TASK_STATE_CANCELED
            with pytest.raises((A2AError, A2AClientError), match=r"cancel|ended"):
                await client.cancel_task(pb.CancelTaskRequest(id=run))
            with pytest.raises((A2AError, A2AClientError), match=f"the task `{run}` has ended: it is cancelled"):
                await sent(client, message(text("y"), name="m2", task=run))

    go(body())


def test_a_subscription_follows_a_task_through_its_questions(tmp_path: Path) -> None:
    async def body() -> None:
        async with agent(service(tmp_path)) as client:
            events = await sent(client, message(text("x")))
            run = next(each.task.id for each in events if each.HasField("task"))
            seen = []
            async for event in client.subscribe(pb.SubscribeToTaskRequest(id=run)):
                seen.append(event)
                if len(seen) == 1:
                    await sent(client, message(data(ANSWER), name="m2", task=run))
            assert final(seen) == "TASK_STATE_COMPLETED"
            assert any(each.HasField("artifact_update") for each in seen)

    go(body())


def test_people_see_and_answer_what_is_theirs(tmp_path: Path) -> None:
    stranger = person("eve", "starter", program="other")

    async def body() -> None:
        made = service(tmp_path)
        people = (ANN, BOB, stranger)
        async with listening(made, *people, routes=a2a_routes(made)) as address, httpx.AsyncClient(timeout=60) as http:
            for path in ("/a2a", "/a2a/rest/message:send"):
                assert (await http.post(address + path, json={}, headers={"A2A-Version": "1.0"})).status_code == 401
            anonymous = (await http.get(f"{address}{a2a.CARD}")).json()
            assert anonymous.get("skills", []) == []
            assert anonymous["capabilities"]["extendedAgentCard"]
            assert (await http.get(f"{address}/a2a/letter{a2a.CARD}")).status_code == 404

            async def call(who: str, method: str, **params: Any) -> Any:
                headers = {"Authorization": f"Bearer {who}", "A2A-Version": "1.0"}
                asked = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
                return (await http.post(f"{address}/a2a", json=asked, headers=headers)).json()

            said = MessageToDict(message(text("x")))
            run = (await call("ann", "SendMessage", **said))["result"]["task"]["id"]
            assert (await call("ann", "GetTask", id=run))["result"]["id"] == run
            assert (await call("eve", "GetTask", id=run))["error"]["code"] == -32001
            assert (await call("eve", "ListTasks"))["result"]["tasks"] == []
            assert (await call("eve", "CancelTask", id=run))["error"]["code"] == -32001
            assert (await call("bob", "CancelTask", id=run))["error"]["message"]
            assert "which program" in (await call("eve", "SendMessage", **said))["error"]["message"]
            named = MessageToDict(message(text("x"), program="letter"))
            assert "no program" in (await call("eve", "SendMessage", **named))["error"]["message"]
            unversioned = {"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": {"id": run}}
            old = await http.post(f"{address}/a2a", json=unversioned, headers={"Authorization": "Bearer ann"})
            assert old.json()["error"]["code"] == -32009
            foreign = await http.post(f"{address}/a2a", json=unversioned, headers={"Host": "evil.example"})
            assert foreign.status_code == 400

    go(body())


@pytest.mark.parametrize(("decision", "said"), [("Approve", ""), ("Reject", "the run is stopped")])
def test_who_is_only_asked_in_a_run_gets_no_result_and_hears_that_it_has_ended(decision: str, said: str, tmp_path: Path) -> None:
    async def body() -> None:
        made = service(tmp_path, ask=asking(**{"x-approvers": ["cat"]}))
        run = (await made.start(ANN, "ask", "x", wait=20)).report.run
        await made.answer(CAT, run, "userContext1", {"decision": decision})
        await settled(made, run, "stopped" if said else "done")
        task = a2a.task_of(await made.run(CAT, run))
        assert not task.artifacts
        assert [each.text for each in task.status.message.parts] == ([said] if said else [])
        assert len(a2a.task_of(await made.run(ANN, run)).artifacts) == (not said)

    go(body())


def test_a_task_is_pushed_to_an_address_that_passes_the_check(tmp_path: Path) -> None:
    taken: list[Asked] = []

    def receive(asked: Asked) -> Answer:
        taken.append(asked)
        return Answer(b"")

    async def body(receiver: str) -> None:
        made = service(tmp_path, records=str(tmp_path))
        hooks = Webhooks(made.records, AddressRules.of(["127.0.0.0/8"]), lambda _: "")
        async with agent(made, webhooks=hooks) as client:
            request = message(text("x"))
            config = pb.TaskPushNotificationConfig(id="p", url=f"{receiver}/push", token="t0ken")  # noqa: S106  -- no secret
            request.configuration.task_push_notification_config.CopyFrom(config)
            events = await sent(client, request)
            run = next(each.task.id for each in events if each.HasField("task"))
            await sent(client, message(data(ANSWER), name="m2", task=run))
            await hooks.deliver()
            states = [json.loads(each.body)["task"]["status"]["state"] for each in taken]
            assert states
            assert set(states) == {"TASK_STATE_COMPLETED"}  # how it stands when it is told
            assert {each.headers["x-a2a-notification-token"] for each in taken} == {"t0ken"}
            wanted = pb.GetTaskPushNotificationConfigRequest(task_id=run, id="p")
            assert (await client.get_task_push_notification_config(wanted)).url == f"{receiver}/push"
            await client.delete_task_push_notification_config(pb.DeleteTaskPushNotificationConfigRequest(task_id=run, id="p"))
            listed = await client.list_task_push_notification_configs(pb.ListTaskPushNotificationConfigsRequest(task_id=run))
            assert list(listed.configs) == []
            for number in range(a2a.MOST_PUSHED):
                more = pb.TaskPushNotificationConfig(task_id=run, id=f"p{number}", url=f"{receiver}/push")
                await client.create_task_push_notification_config(more)
            with pytest.raises((A2AError, A2AClientError), match="at most 20"):
                await client.create_task_push_notification_config(pb.TaskPushNotificationConfig(task_id=run, url=receiver))
            await client.delete_task_push_notification_config(pb.DeleteTaskPushNotificationConfigRequest(task_id=run, id="p1"))
            hooks.rules = AddressRules()
            inner = pb.TaskPushNotificationConfig(task_id=run, url="https://169.254.169.254/")
            with pytest.raises((A2AError, A2AClientError), match="own networks"):
                await client.create_task_push_notification_config(inner)

    with serving(receive) as receiver:
        go(body(receiver))


def test_a_program_of_several_people_asks_them_together(tmp_path: Path) -> None:
    two = process(userContext1=chunk(step1_a=step(TEXT, "prompt")), userContext2=chunk(step2_b=step(TEXT, "prompt")))

    async def body() -> None:
        async with agent(service(tmp_path, two=two)) as client:
            events = await sent(client, message(text("x")))
            run = next(each.task.id for each in events if each.HasField("task"))
            asked = (await client.get_task(pb.GetTaskRequest(id=run))).status.message.parts
            names = list(dict.fromkeys(MessageToDict(each.metadata)["question"] for each in asked))
            assert len(names) == 2
            parts = [exact(json.loads('{"text": "t"}')) for _ in names]
            for part, name in zip(parts, names, strict=True):
                part.metadata.update({"question": name})
            assert final(await sent(client, message(*parts, name="m2", task=run))) == "TASK_STATE_COMPLETED"

    go(body())


def test_open_streams_of_a_caller_are_bounded(tmp_path: Path) -> None:
    async def body() -> None:
        made = service(tmp_path, settings=ServiceSettings(streams=2))
        async with agent(made) as client:
            events = await sent(client, message(text("x")))
            run = next(each.task.id for each in events if each.HasField("task"))
            open_ = [client.subscribe(pb.SubscribeToTaskRequest(id=run)) for _ in range(2)]
            for each in open_:
                await anext(each)
            with pytest.raises((A2AError, A2AClientError), match="streams"):
                await anext(client.subscribe(pb.SubscribeToTaskRequest(id=run)))
            for each in open_:
                await each.aclose()

    go(body())
