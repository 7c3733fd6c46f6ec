"""Webhooks: who is told what, signed, until it is taken; and to which addresses nothing is ever sent."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from ipaddress import ip_address
from itertools import chain, repeat
from pathlib import Path
from time import time
from typing import Any
from unittest.mock import DEFAULT, Mock

import h11
import pytest
import sqlalchemy as sa
from http_server import Answer, Asked
from http_server import serving as receiving
from serving import ANN, BOSS, client, go, service
from sqlalchemy.exc import OperationalError
from standardwebhooks import Webhook

from instrc.cli import main
from instrc.engines.approvals import Opening, Vote  # the table, as another process writes it
from instrc.engines.operating import DeliveryFilter, deliveries, send_again  # what the API and the command call
from instrc.engines.run_table import RunTable, questions_query  # the table, as another process writes it
from instrc.problems.errors import InputError, RequestError, SettingsError
from instrc.runtime.questions import Question
from instrc.runtime.run_report import RunReport
from instrc.server import webhooks  # the service, in the process of the test
from instrc.server.operators import webhook_routes  # the service, in the process of the test
from instrc.server.records import Records  # the service, in the process of the test
from instrc.server.webhooks import AddressRules, Webhooks  # the service, in the process of the test

HERE = AddressRules.of(["127.0.0.0/8", "::1/128"])


class Server:
    """Webhooks over records in memory, and a receiver that answers as it is told."""

    def __init__(self, folder: Path, rules: AddressRules = HERE) -> None:
        self.records = Records(str(folder))
        self.hooks = Webhooks(self.records, rules, lambda change: f"https://desk.example/runs/{change.run}")
        self.asked: list[Asked] = []
        self.says: Callable[[Asked], Answer] = lambda _: Answer(b"")

    def answer(self, asked: Asked) -> Answer:
        self.asked.append(asked)
        return self.says(asked)

    def report(self, status: str, *questions: str, run: str = "r1", program: str = "mail", who: str = "*") -> None:
        asked = tuple(Question(each, (each,), {"secret": "of the run"}, {"type": "object"}) for each in questions)
        self.records.note(RunReport(run, program, status, None, asked, began=1.0), lambda _: Opening([who]))  # type: ignore[arg-type]

    def due_now(self) -> None:
        with self.records.engine.begin() as connection:
            connection.execute(sa.text("UPDATE instrc_webhook_deliveries SET due = 0 WHERE status = 'pending'"))


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[Server, str]]:
    made = Server(tmp_path)
    with receiving(made.answer) as address:
        yield made, address
    made.records.close()


def test_what_happens_is_told_signed_with_ids_and_a_link_and_no_data(server: tuple[Server, str]) -> None:
    made, address = server

    async def play() -> str:
        _, secret = await made.hooks.add(f"{address}/in", owner="ann")
        made.report("waiting", "approve")
        made.report("done")
        assert await made.hooks.deliver() == 2
        assert await made.hooks.deliver() == 0
        return secret

    secret = asyncio.run(play())
    assert secret.startswith("whsec_")
    bodies = [Webhook(secret).verify(each.body, each.headers) for each in made.asked]
    assert sorted(each["type"] for each in bodies) == ["question.opened", "run.done"]
    opened = next(each for each in bodies if each["type"] == "question.opened")
    assert opened["data"] == {
        "run": "r1", "program": "mail", "question": "approve", "by": "person", "link": "https://desk.example/runs/r1",
    }  # fmt: skip
    assert set(opened) == {"type", "timestamp", "data", "sequence"}
    assert b"secret" not in made.asked[0].body
    assert {each.path for each in made.asked} == {"/in"}
    with pytest.raises(Exception, match="signature"):
        Webhook(secret).verify(made.asked[0].body.replace(b"r1", b"r2"), made.asked[0].headers)


@pytest.mark.parametrize(
    ("chosen", "told"),
    [
        ({"events": ["run.done"]}, ["run.done"]),
        ({"programs": ["other"]}, []),
        ({"run": "r1"}, ["question.opened", "run.done"]),
        ({"run": "r2"}, []),
        ({"details": {"people": ["bob", "ann"]}}, ["question.opened"]),
        ({"details": {"people": ["bob"]}}, []),
    ],
)
def test_a_webhook_is_told_what_it_asks_for(server: tuple[Server, str], chosen: dict[str, Any], told: list[str]) -> None:
    made, address = server

    async def play() -> None:
        await made.hooks.add(address, owner="ann", **chosen)
        made.report("waiting", "approve", who="ann")
        await made.hooks.deliver()
        made.report("done")
        await made.hooks.deliver()

    asyncio.run(play())
    assert sorted(json.loads(each.body)["type"] for each in made.asked) == told


def test_people_are_told_that_they_have_answered(server: tuple[Server, str]) -> None:
    """The names of those who answered are a list, and the candidates are gone with the question."""
    made, address = server

    async def play() -> None:
        await made.hooks.add(address, owner="ann", details={"people": ["ann"]}, events=["question.answered"])
        made.report("waiting", "approve", who="ann")
        [row] = made.records.questions(questions_query(run="r1"), None)
        made.records.vote("r1", "approve", Vote("ann", "key", time(), {"decision": "Approve"}), row.opened, None)
        made.report("done")
        await made.hooks.deliver()

    asyncio.run(play())
    assert [json.loads(each.body)["data"]["who"] for each in made.asked] == [["ann"]]


def test_the_outbox_has_what_another_process_has_written(server: tuple[Server, str], tmp_path: Path) -> None:
    """A worker writes the feed; whichever service reads it first sends what it says, once."""
    made, address = server

    async def play() -> None:
        await made.hooks.add(address, owner="ann")
        worker = RunTable(sa.create_engine(made.records.engine.url))
        worker.note(RunReport("r1", "mail", "done", None, began=1.0), lambda _: Opening(["*"]))
        worker.engine.dispose()
        other = Webhooks(made.records, HERE, made.hooks.link)
        while sum(await asyncio.gather(made.hooks.deliver(), other.deliver())):
            pass

    asyncio.run(play())
    assert [json.loads(each.body)["type"] for each in made.asked] == ["run.done"]


def test_a_failed_delivery_is_tried_again_later_and_given_up_after_three_days(
    server: tuple[Server, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    made, address = server
    answers = iter([Answer(b"", 500), Answer(b"", 302, location=f"{address}/elsewhere"), Answer(b"", 204)])
    made.says = lambda _: next(answers)

    async def play() -> Any:
        hook, _ = await made.hooks.add(address, owner="ann")
        made.report("done")
        for _ in range(3):
            assert await made.hooks.deliver() == 1
            assert await made.hooks.deliver() == 0  # not at once
            made.due_now()
        return hook, deliveries(made.records, DeliveryFilter(hook.id), 100)

    hook, (log,) = asyncio.run(play())
    assert (log.status, log.attempts, log.code, log.due) == ("delivered", 3, 204, None)
    assert {each.path for each in made.asked} == {"/"}, "a redirect was followed"
    assert len({each.headers["webhook-id"] for each in made.asked}) == 1

    made.says = lambda _: Answer(b"", 503)
    now = webhooks.time()
    monkeypatch.setattr(webhooks, "time", lambda: now + webhooks.PATIENCE + 60)

    async def give_up() -> str:
        made.report("held")
        with made.records.engine.begin() as connection:
            connection.execute(sa.text("UPDATE instrc_webhook_messages SET at = :at"), {"at": now})
        await made.hooks.deliver()
        return next(each.status for each in deliveries(made.records, DeliveryFilter(hook.id), 100) if each.type == "run.held")

    assert asyncio.run(give_up()) == "failed"


def test_what_one_receiver_causes_stops_nothing(server: tuple[Server, str], monkeypatch: pytest.MonkeyPatch) -> None:
    made, address = server
    away = OperationalError("", None, Exception())

    async def play() -> Any:
        await made.hooks.add(address, owner="ann")
        odd, _ = await made.hooks.add(address, owner="ann", form="of an extra that is not installed")
        made.report("done")
        read = Mock(wraps=made.hooks.read_feed, side_effect=chain([away], repeat(DEFAULT)))
        monkeypatch.setattr(made.hooks, "read_feed", read)
        stop = asyncio.Event()
        serving = asyncio.create_task(made.hooks.serve(stop, 0.01))
        log: Any = []
        while not (made.asked and log and log[0].attempts):
            await asyncio.sleep(0.01)
            log = deliveries(made.records, DeliveryFilter(odd.id), 100)
        stop.set()
        await serving
        return log[0]

    assert "extra" in asyncio.run(asyncio.wait_for(play(), 60)).error


def test_pauses_grow_to_a_limit_and_differ() -> None:
    pauses = [webhooks.pause_after(attempts) for attempts in range(1, 40)]
    assert 4 <= pauses[0] <= 6
    assert max(pauses) <= webhooks.LONGEST_PAUSE * 1.2
    assert len({webhooks.pause_after(3) for _ in range(20)}) > 10


def test_a_receiver_that_is_gone_is_told_no_more(server: tuple[Server, str]) -> None:
    made, address = server
    made.says = lambda _: Answer(b"", 410)

    async def play() -> Any:
        hook, _ = await made.hooks.add(address, owner="ann")
        made.report("waiting", "a", "b")
        await made.hooks.deliver()
        made.report("done")
        return await made.hooks.deliver(), (await made.hooks.hooks())[0], deliveries(made.records, DeliveryFilter(hook.id), 100)

    sent, hook, log = asyncio.run(play())
    assert sent == 0
    assert "410" in hook.disabled
    assert {each.status for each in log} == {"failed"}


def test_what_is_overdue_is_told_once(server: tuple[Server, str], monkeypatch: pytest.MonkeyPatch) -> None:
    made, address = server
    now = webhooks.time()

    async def play() -> None:
        await made.hooks.add(address, owner="ann", events=["question.overdue"])
        made.hooks.remind()
        for run, due in (("soon", now + 60), ("later", now + 6000)):
            asked = (Question("q", ("q",), {}, {"type": "object"}),)
            made.records.note(RunReport(run, "mail", "waiting", None, asked), lambda _, due=due: Opening(["*"], due))  # type: ignore[arg-type, misc]
        made.hooks.remind()
        await made.hooks.deliver()
        assert made.asked == [], "nobody is late yet"
        monkeypatch.setattr(webhooks, "time", lambda: now + 61)
        made.hooks.remind()
        made.hooks.remind()
        await made.hooks.deliver()

    asyncio.run(play())
    [message] = [json.loads(each.body) for each in made.asked]
    assert (message["type"], message["data"]["run"]) == ("question.overdue", "soon")


def test_messages_are_numbered_by_run_and_sent_again_by_a_filter(server: tuple[Server, str]) -> None:
    made, address = server
    made.says = lambda asked: Answer(b"", 410 if asked.path == "/gone" else 204)

    def sequence() -> list[tuple[str, int]]:
        bodies = [json.loads(each.body) for each in made.asked if each.path == "/"]
        return [(each["type"], each["sequence"]) for each in bodies]

    async def play() -> None:
        few, _ = await made.hooks.add(address, owner="ann", events=["run.held", "run.done"])
        gone, _ = await made.hooks.add(f"{address}/gone", owner="ann")
        made.report("waiting", "a")
        made.report("held")
        made.report("done")
        while await made.hooks.deliver():
            pass
        assert sorted(sequence(), key=lambda each: each[1]) == [("run.held", 1), ("run.done", 2)], "without a gap for one webhook"
        log = deliveries(made.records, DeliveryFilter(few.id), 1)
        assert [(each.type, each.number) for each in log] == [("run.done", 2)]
        rest = deliveries(made.records, DeliveryFilter(few.id), 100, (log[0].at, log[0].message))
        assert [(each.type, each.number) for each in rest] == [("run.held", 1)]
        assert deliveries(made.records, DeliveryFilter(few.id, "failed"), 100) == []
        made.asked.clear()
        assert send_again(made.records, DeliveryFilter(few.id, type="run.held")) == 1
        assert send_again(made.records, DeliveryFilter(few.id, type="run.held")) == 0, "it waits to be sent already"
        await made.hooks.deliver()
        assert sequence() == [("run.held", 1)]
        assert made.asked[0].headers["webhook-id"] == rest[0].message, "who has taken it knows it"
        made.says = lambda _: Answer(b"", 204)
        failed = send_again(made.records, DeliveryFilter(gone.id, "failed"))
        assert failed == len(deliveries(made.records, DeliveryFilter(gone.id), 100)) > 1
        while await made.hooks.deliver():
            pass
        assert {each.status for each in deliveries(made.records, DeliveryFilter(gone.id), 100)} == {"delivered"}
        assert (await made.hooks.hooks())[1].disabled is None

    asyncio.run(play())


def test_the_command_lists_messages_and_sends_them_again(
    server: tuple[Server, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made, address = server
    assert main(["deliveries", "--store", str(tmp_path / "none"), "--again", "--yes"]) == 0
    assert not (tmp_path / "none").exists(), "who reads makes no store"
    assert main(["deliveries", "--store", str(tmp_path / "none"), "--yes"]) == 2
    for path in ("", "/in"):
        asyncio.run(made.hooks.add(f"{address}{path}", owner="ann", events=["run.held", "run.done"]))
    for run in ("r1", "r2"):
        made.report("held", run=run)
        made.report("done", run=run)
    asyncio.run(made.hooks.deliver())
    words = ["deliveries", "--store", str(tmp_path)]
    assert main([*words, "--run", "r1", "--event", "run.done"]) == 0
    lines = [line.split("  ")[1:6] for line in capsys.readouterr().out.splitlines()]
    assert sorted(lines) == [["delivered", "run.done", "r1 #2", f"{address}{path}", "HTTP 200"] for path in ("", "/in")]
    assert main([*words, "--json", "--limit", "1"]) == 0
    (row,) = map(json.loads, capsys.readouterr().out.splitlines())
    chosen = ["--hook", row["hook"], "--message", row["message"], "--status", "delivered"]
    assert main([*words, *chosen, "--again"]) == 0
    assert capsys.readouterr().err == "1 message would be sent again: add `--yes` to do it\n"
    assert main([*words, *chosen, "--again", "--yes"]) == 0
    assert capsys.readouterr().err == "1 message will be sent again\n"
    assert main([*words, *chosen]) == 0
    assert capsys.readouterr().err == "there are no such messages here\n"
    made.asked.clear()
    asyncio.run(made.hooks.deliver())
    assert [each.headers["webhook-id"] for each in made.asked] == [row["message"]]


def test_a_webhook_that_is_removed_is_told_nothing(server: tuple[Server, str]) -> None:
    made, address = server

    async def play() -> int:
        hook, _ = await made.hooks.add(address, owner="ann")
        made.report("done")
        assert await made.hooks.remove(hook.id)
        assert not await made.hooks.remove(hook.id)
        return await made.hooks.deliver()

    assert asyncio.run(play()) == 0


def test_two_servers_send_a_message_once(server: tuple[Server, str]) -> None:
    made, address = server
    other = Webhooks(made.records, HERE, made.hooks.link)

    async def play() -> None:
        await made.hooks.add(address, owner="ann")
        for number in range(20):
            made.report("done", run=f"r{number}")
        while sum(await asyncio.gather(made.hooks.deliver(), other.deliver())):
            pass

    asyncio.run(play())
    assert len(made.asked) == 20


@pytest.mark.parametrize("place", ["folder", "postgres_server"])
def test_of_services_that_remind_at_once_one_does(place: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    store = str(tmp_path if place == "folder" else request.getfixturevalue(place).fresh())
    services = [Records(store) for _ in range(4)]
    asked = tuple(Question(f"q{number}", ("step",), None, {}) for number in range(5))
    try:
        assert services[0].tell_due("question.due", "due", webhooks.time()) == 0
        due = webhooks.time() + 1000
        services[0].note(RunReport("r1", "mail", "waiting", None, asked, began=1.0), lambda _: Opening(["*"], due))
        with ThreadPoolExecutor(len(services)) as pool:
            told = list(pool.map(lambda each: each.tell_due("question.due", "due", due + 1), services))
        assert sorted(told) == [0, 0, 0, 5]
        assert sum(change.kind == "question.due" for change in services[0].feed(0)) == 5
    finally:
        for each in services:
            each.close()


def test_people_are_reminded_once_of_what_is_due_within_an_hour(server: tuple[Server, str]) -> None:
    made, address = server
    now = webhooks.time()

    def opening(question: Question) -> Opening:
        return Opening(["*"], now + {"soon": 1800, "later": 5400, "over": -10}[question.id])

    async def play() -> None:
        await made.hooks.add(address, owner="ann", events=["question.due"])
        asked = tuple(Question(each, (each,), None, {}) for each in ("soon", "later", "over"))
        made.records.note(RunReport("r1", "mail", "waiting", None, asked, began=1.0), opening)
        assert [made.hooks.remind(), made.hooks.remind()] == [1, 0]
        await made.hooks.deliver()

    asyncio.run(play())
    assert [json.loads(each.body)["data"]["question"] for each in made.asked] == ["soon"]


def test_the_loop_sends_soon_after_something_happened(server: tuple[Server, str]) -> None:
    made, address = server

    async def play() -> None:
        stop = asyncio.Event()
        serving = asyncio.create_task(made.hooks.serve(stop, every=30))
        await made.hooks.add(address, owner="ann")
        await asyncio.to_thread(made.report, "done")
        async with asyncio.timeout(60):
            while not made.asked:  # noqa: ASYNC110  -- the receiver is in a thread
                await asyncio.sleep(0.01)
        stop.set()
        made.hooks.wake()
        await asyncio.wait_for(serving, 60)

    asyncio.run(play())


# Addresses.


@pytest.mark.parametrize(
    "inner",
    [
        "127.0.0.1", "127.8.9.1", "0.1.2.3", "10.0.0.1", "172.16.5.5", "192.168.1.1", "169.254.169.254", "100.64.0.1",
        "100.100.100.200", "168.63.129.16", "224.0.0.1", "255.255.255.255", "192.0.0.8", "192.0.0.192",
        "198.18.0.1", "::", "::1", "fe80::1",
        "fc00::1", "fd00:ec2::254", "ff02::1", "::ffff:127.0.0.1", "::ffff:169.254.169.254", "::ffff:10.0.0.1",
        "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "2002:7f00:1::", "2002:0a00:1::", "2001:0:a00:1::f5ff:fffe",
    ],
)  # fmt: skip
def test_an_inner_address_is_inner_in_every_spelling(inner: str) -> None:
    assert webhooks.is_inner(ip_address(inner))
    assert AddressRules().refusal(ip_address(inner), encrypted=True) is not None


@pytest.mark.parametrize("outer", ["1.1.1.1", "93.184.215.14", "2606:4700::1111", "::ffff:1.1.1.1", "64:ff9b::101:101"])
def test_an_address_outside_is_sent_to_over_https_alone(outer: str) -> None:
    assert AddressRules().refusal(ip_address(outer), encrypted=True) is None
    assert AddressRules().refusal(ip_address(outer), encrypted=False) is not None


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("https://example.com:0/x", "no port"),
        ("http://127.0.0.1/x", "own networks"),
        ("https://localhost/x", "own networks"),
        ("https://2130706433/", "own networks"),
        ("https://0x7f.1/", "own networks"),
        ("https://[::ffff:127.0.0.1]/", "own networks"),
        ("https://[fe80::1]/", "own networks"),
        ("https://169.254.169.254/latest/meta-data/", "own networks"),
        ("https://10.0.0.1:8080/", "own networks"),
        ("http://1.1.1.1/", "this machine alone"),
        ("ftp://1.1.1.1/", "begins with"),
        ("https:///x", "names a host"),
        ("//1.1.1.1/", "begins with"),
        ("https://ann:secret@1.1.1.1/", "password"),
        ("https://1.1.1.1\r\nX: y/", "URL"),
        ("https://[::1", "URL"),
        ("https://xn--/", "URL"),
        ("https://" + "a" * 300 + "/", "not known"),
        ("https://nobody.invalid/", "not known"),
        ("", "begins with"),
    ],
)
def test_a_webhook_to_such_an_address_is_refused(url: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=said) as refused:
        asyncio.run(Server(tmp_path, AddressRules()).hooks.add(url, owner="ann"))
    assert [each.name for each in refused.value.problems] == ["refused-address"]


def test_events_are_those_that_there_are(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match=r"question\.opened"):
        asyncio.run(Server(tmp_path).hooks.add("http://127.0.0.1/", owner="ann", events=["run.finished"]))


def test_networks_are_allowed_by_the_settings_and_no_others() -> None:
    rules = AddressRules.of(["10.1.0.0/16"])
    assert rules.refusal(ip_address("10.1.2.3"), encrypted=True) is None
    assert rules.refusal(ip_address("::ffff:10.1.2.3"), encrypted=True) is None
    assert rules.refusal(ip_address("10.2.2.3"), encrypted=True) is not None
    assert rules.refusal(ip_address("10.1.2.3"), encrypted=False) is not None
    with pytest.raises(SettingsError, match="networks"):
        AddressRules.of(["10.1.2.3/16"])


def _named(monkeypatch: pytest.MonkeyPatch, *answers: list[str]) -> None:
    """Let names lead to other addresses each time that they are asked for."""
    left = list(answers)

    def look(_host: str, port: int, **_: Any) -> list[Any]:
        found = left.pop(0) if len(left) > 1 else left[0]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (each, port)) for each in found]

    monkeypatch.setattr(socket, "getaddrinfo", look)


def test_a_name_that_leads_inside_after_the_check_is_not_followed(
    server: tuple[Server, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    made, address = server
    port = address.rpartition(":")[2]
    _named(monkeypatch, ["1.1.1.1"], ["127.0.0.1"])
    strict = Webhooks(made.records, AddressRules(), made.hooks.link)

    async def play() -> Any:
        hook, _ = await strict.add(f"https://rebind.example:{port}/", owner="ann")
        made.report("done")
        await strict.deliver()
        return deliveries(made.records, DeliveryFilter(hook.id), 100)

    (log,) = asyncio.run(play())
    assert log.status == "pending"
    assert "own networks" in log.error
    assert made.asked == []


def test_a_name_with_one_inner_address_among_others_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    _named(monkeypatch, ["1.1.1.1", "10.0.0.1"])
    with pytest.raises(InputError, match="own networks"):
        asyncio.run(AddressRules().check("https://two.example/"))


def test_the_name_is_looked_up_once_and_its_address_is_connected_to(
    server: tuple[Server, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    made, address = server
    port = address.rpartition(":")[2]
    _named(monkeypatch, ["127.0.0.1"], ["10.0.0.1"])
    assert asyncio.run(webhooks.post(f"http://desk.example:{port}/a?b=c", "{}", {}, HERE)) == 200
    assert (made.asked[0].path, made.asked[0].headers["host"]) == ("/a?b=c", f"desk.example:{port}")


@contextmanager
def _raw(says: Callable[[socket.socket], None]) -> Iterator[str]:
    """A receiver below HTTP, for one connection."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def run() -> None:
            taken, _ = listening.accept()
            with taken:
                taken.recv(65536)
                with suppress(OSError):
                    says(taken)

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/"
        thread.join(60)


def test_a_slow_answer_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhooks, "SECONDS", 0.3)
    over = threading.Event()

    def drip(taken: socket.socket) -> None:
        for letter in b"HTTP/1.1 200 OK\r\nX: " + b"a" * 10_000:
            taken.send(bytes([letter]))
            if over.wait(0.05):
                return

    with _raw(drip) as address:
        with pytest.raises(OSError, match="no answer in"):
            asyncio.run(webhooks.post(address, "{}", {}, HERE))
        over.set()


def test_an_endless_answer_is_read_to_a_limit() -> None:
    sent = 0

    def pour(taken: socket.socket) -> None:
        nonlocal sent
        taken.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n")
        for _ in range(1000):
            sent += taken.send(b"a" * 100_000)

    with _raw(pour) as address:
        assert asyncio.run(webhooks.post(address, "{}", {}, HERE)) == 200
    assert sent < 20_000_000


def test_an_answer_of_many_small_parts_takes_little_time(monkeypatch: pytest.MonkeyPatch) -> None:
    events, take = 0, h11.Connection.next_event

    def count(connection: Any) -> Any:
        nonlocal events
        events += 1
        return take(connection)

    monkeypatch.setattr(h11.Connection, "next_event", count)
    bodies = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1\r\na\r\n" * 50_000
    with _raw(lambda taken: taken.sendall(bodies)) as address:
        assert asyncio.run(webhooks.post(address, "{}", {}, HERE)) == 200
    told = b"HTTP/1.1 100 \r\n\r\n" * 50_000
    with _raw(lambda taken: taken.sendall(told)) as address, pytest.raises(OSError, match="the answer is longer than"):
        asyncio.run(webhooks.post(address, "{}", {}, HERE))
    assert events < 2_000


@pytest.mark.parametrize("said", [b"", b"nonsense\r\n\r\n", b"HTTP/1.1 999999 x\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Le"])
def test_an_answer_that_is_no_http_is_an_error_in_words(said: bytes) -> None:
    with _raw(lambda taken: taken.sendall(said)) as address, pytest.raises(OSError, match=r".+"):
        asyncio.run(webhooks.post(address, "{}", {}, HERE))


def test_an_admin_manages_webhooks_over_http(tmp_path: Path) -> None:
    async def body() -> None:
        made = service(tmp_path)
        hooks = Webhooks(made.records, AddressRules(), lambda _: "")
        async with client(made, BOSS, routes=webhook_routes(hooks)) as http:
            for wrong, status in (({}, 400), ({"url": 1}, 400), ({"url": "https://10.0.0.1/"}, 422), ({"url": "x", "y": 1}, 400)):
                assert (await http.post("/v1/webhooks", json=wrong)).status_code == status
            added = await http.post(
                "/v1/webhooks", json={"url": "https://1.1.1.1/", "events": ["run.done"], "people": ["key:ann"]}
            )
            assert (added.status_code, added.json()["secret"][:6]) == (201, "whsec_")
            (listed,) = (await http.get("/v1/webhooks")).json()["items"]
            assert "secret" not in listed
            assert listed["people"] == ["ann"]
            assert (await http.get(f"{added.headers['location']}/deliveries")).json() == {"items": [], "next": None}
            log = f"{added.headers['location']}/deliveries"
            assert (await http.post(log, json={"status": "failed"})).json() == {"count": 0}
            assert (await http.post(log, json={"status": "pending"})).status_code == 400
            assert (await http.get(f"{log}?status=lost")).status_code == 400
            assert (await http.get("/v1/webhooks/none/deliveries")).status_code == 404
            assert [(await http.delete(added.headers["location"])).status_code for _ in range(2)] == [204, 404]
        async with client(service(tmp_path / "b"), ANN, routes=webhook_routes(hooks)) as http:
            assert (await http.get("/v1/webhooks")).status_code == 403
            assert (await http.post("/v1/webhooks", json={"url": "https://1.1.1.1/"})).status_code == 403

    go(body())


def test_a_slow_receiver_delays_no_other(server: tuple[Server, str], monkeypatch: pytest.MonkeyPatch) -> None:
    made, address = server
    monkeypatch.setattr(webhooks, "_ROUND", 0.05)
    free = threading.Event()

    def answer(asked: Asked) -> Answer:
        if asked.path == "/slow":
            free.wait(30)
        return Answer(b"")

    def told(path: str) -> int:
        return [each.path for each in made.asked].count(path)

    async def play() -> None:
        made.says = answer
        for path in ("slow", "fast"):
            await made.hooks.add(f"{address}/{path}", owner="ann")
        for number in range(6):
            made.report("done", run=f"r{number}")
        while told("/fast") < 6 or told("/slow") < 4:
            await made.hooks.deliver()
        await made.hooks.deliver()
        assert told("/slow") == 4  # as many as one receiver gets at once
        free.set()
        while told("/slow") < 6:
            await made.hooks.deliver()

    asyncio.run(play())


def test_many_owners_take_no_more_connections_together(server: tuple[Server, str], monkeypatch: pytest.MonkeyPatch) -> None:
    made, address = server
    monkeypatch.setattr(webhooks, "_ROUND", 0.05)
    monkeypatch.setattr(webhooks, "_IN_ALL", 5)
    free = threading.Event()

    def answer(asked: Asked) -> Answer:
        if asked.path == "/slow":
            free.wait(30)
        return Answer(b"")

    def told(path: str) -> int:
        return [each.path for each in made.asked].count(path)

    async def play() -> None:
        made.says = answer
        for owner in ("ann", "bob", "cat"):
            await made.hooks.add(f"{address}/slow", owner=owner)
        for number in range(4):
            made.report("done", run=f"r{number}")
        while told("/slow") < 5:
            await made.hooks.deliver()
        assert len(made.hooks._sending) == 5
        await made.hooks.add(f"{address}/fast", owner="dan")
        made.report("done", run="last")
        await made.hooks.deliver()
        assert (told("/slow"), told("/fast"), len(made.hooks._sending)) == (5, 0, 5)
        free.set()
        while told("/fast") < 1 or told("/slow") < 15:
            await made.hooks.deliver()

    asyncio.run(play())


@pytest.mark.long
def test_many_slow_receivers_of_one_owner_take_no_more_connections(
    server: tuple[Server, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    made, address = server
    monkeypatch.setattr(webhooks, "_ROUND", 0.05)
    free = threading.Event()

    def answer(asked: Asked) -> Answer:
        if asked.path == "/slow":
            free.wait(30)
        return Answer(b"")

    def told(path: str) -> int:
        return [each.path for each in made.asked].count(path)

    async def play() -> None:
        made.says = answer
        for _ in range(12):
            await made.hooks.add(f"{address}/slow", owner="ann")
        await made.hooks.add(f"{address}/fast", owner="bob")
        for number in range(4):
            made.report("done", run=f"r{number}")
        while told("/fast") < 4 or told("/slow") < 40:
            await made.hooks.deliver()
        for _ in range(3):
            await made.hooks.deliver()
        assert told("/slow") == 40
        free.set()
        while told("/slow") < 48:
            await made.hooks.deliver()

    asyncio.run(play())
