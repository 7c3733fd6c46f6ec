"""What counts once counts once, however many requests come at the same time."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from time import time
from typing import Any

import httpx
import pytest
import sqlalchemy as sa
from msgspec.structs import replace
from serving import BOSS, asking, client, go, launcher, person, service, settled
from test_owners import bearer, initialize

from instrc.engines.approvals import Approval, Vote  # what is recorded
from instrc.engines.service_tables import CLAIMS, FILES, QUESTIONS, REQUESTS, VOTES  # where it is asked
from instrc.problems.errors import AccessError, ConflictError, GoneError
from instrc.runtime.questions import Question  # what is answered
from instrc.server import bounds  # the table of what is tried here
from instrc.server.access import Caller, require_allowed  # who answers
from instrc.server.files import keep  # what people upload
from instrc.server.identity import Identity  # what callers are known by
from instrc.server.mcp_runs import RunOffers, mcp_mount, no_link  # the service over MCP
from instrc.server.records import Records  # the tables of a service
from instrc.server.views import QuestionInfo  # what is answered

ANN = person("ann", "starter", "answerer")


async def statuses(sent: list[Awaitable[httpx.Response]]) -> tuple[list[httpx.Response], Counter[int]]:
    done = await asyncio.gather(*sent)
    return done, Counter(int(each.status_code) for each in done)


@pytest.mark.parametrize("name", ["memory", "durable"])
@pytest.mark.parametrize("how", ["key", "run"])
def test_a_request_to_start_that_is_sent_again_begins_one_run(name: str, how: str, tmp_path: Path) -> None:
    async def body() -> None:
        made = service(tmp_path, name=name, records=str(tmp_path))
        headers = {"Idempotency-Key": "k"} if how == "key" else {}
        start: dict[str, Any] = {"program": "letter", "input": "x", **({} if how == "key" else {"run": "one"})}
        async with client(made, ANN) as http:
            done, counted = await statuses([http.post("/v1/runs", json=start, headers=headers) for _ in range(20)])
            assert counted == {201: 20}
            [run] = {each.json()["run"] for each in done}
            await settled(made, run, "waiting")
            trace, _ = await made.event_streams.trace(BOSS, run)
            assert Counter(each["event"] for each in trace)["asked"] == 1

    go(body())


@pytest.mark.parametrize("name", ["memory", "durable"])
@pytest.mark.parametrize("how", ["key", "run"])
def test_a_request_to_start_that_is_sent_again_after_a_release_is_for_the_same_run(name: str, how: str, tmp_path: Path) -> None:
    async def body() -> None:
        made = service(tmp_path, name=name, records=str(tmp_path), letter=asking())
        sent: dict[str, Any] = {how: "one"}
        async with client(made, BOSS) as http:
            begun = await made.start(ANN, "letter", "x", **sent, wait=20)
            made.launchers["letter"] = launcher("letter", asking(**{"x-needed": 2}))
            again = await made.start(ANN, "letter", "x", **sent, wait=20)
            assert (again.report.run, again.digest) == (begun.report.run, begun.digest)
            audit = (await http.get("/v1/audit")).json()["items"]
            assert [each["action"] for each in audit] == ["start"] * 2

    go(body())


@pytest.mark.parametrize("name", ["memory", "durable"])
def test_an_id_that_several_choose_at_the_same_time_is_the_run_of_one(name: str, tmp_path: Path) -> None:
    async def body() -> None:
        made = service(tmp_path, name=name, records=str(tmp_path), letter=asking(), other=asking())
        asks = [
            made.start(person(f"{program}-{text}", "starter", program=program), program, text, run="one")
            for program in ("letter", "other")
            for text in ("a", "b")
        ]
        asks += [made.start(person("letter-a", "starter", program="letter"), "letter", "c", run="one")]
        async with client(made, BOSS) as http:
            done = await asyncio.gather(*asks, return_exceptions=True)
            [begun] = [each for each in done if not isinstance(each, ConflictError)]
            assert not isinstance(begun, BaseException), begun
            audit = (await http.get("/v1/audit", params={"action": "start"})).json()["items"]
            assert [each["who"] for each in audit] == [begun.starter]

    go(body())


@pytest.mark.parametrize("name", ["memory", "durable"])
def test_the_id_of_a_run_that_another_caller_has_started_is_refused_to_who_sees_it(name: str, tmp_path: Path) -> None:
    async def body() -> None:
        made = service(tmp_path, name=name, records=str(tmp_path))
        async with client(made, BOSS) as http:
            run = (await made.start(ANN, "letter", "x", wait=20)).report.run
            refused = await http.post("/v1/runs", json={"program": "letter", "input": "x", "run": run})
            assert (refused.status_code, refused.json()["name"]) == (409, "run-exists")
            assert (await made.start(ANN, "letter", "x", run=run)).report.run == run
            for said, taken in (({"case": "7"}, True), ({"case": "8"}, False), ({"case": "7"}, True), ({}, False)):
                again = made.start(ANN, "letter", "x", run="labelled", metadata=said)
                if taken:
                    assert (await again).metadata == said
                else:
                    with pytest.raises(ConflictError, match="labelled"):
                        await again

    go(body())


@pytest.mark.parametrize("name", ["memory", "durable"])
def test_the_id_of_a_run_is_refused_to_another_start_of_its_caller(name: str, tmp_path: Path) -> None:
    """The service has given the id, or has deleted its reservation."""

    async def body() -> None:
        made = service(tmp_path, name=name, records=str(tmp_path), letter=asking(), other=asking())
        case = {"case": "7"}
        async with client(made, BOSS) as http:
            run = (await made.start(ANN, "letter", "x", metadata=case)).report.run
            for _ in range(2):
                for program, text, said in (("other", "x", case), ("letter", "y", case), ("letter", "x", {})):
                    with pytest.raises(ConflictError, match=run):
                        await made.start(ANN, program, text, run=run, metadata=said)
                assert (await made.start(ANN, "letter", "x", run=run, metadata=case)).report.run == run
                await asyncio.to_thread(made.records.execute, sa.delete(REQUESTS))
            audit = (await http.get("/v1/audit", params={"run": run})).json()["items"]
            assert [each["action"] for each in audit] == ["start"] * 3

    go(body())


def test_sessions_of_mcp_are_few_however_fast_they_begin(tmp_path: Path) -> None:
    async def body() -> None:
        made = service(tmp_path)
        identity = Identity(made.records, made.settings, made.signer)
        ann = identity.new_key("ann", ["starter"])
        route, running = mcp_mount(RunOffers([], made), no_link)
        async with client(made, identity=identity, routes=[route], beside=[running]) as http:
            for _ in range(2):
                junk = [http.post("/mcp", json={}, headers=bearer(ann)) for _ in range(bounds.SESSIONS)]
                assert (await statuses(junk))[1] == {400: bounds.SESSIONS}  # nothing has begun, and nothing is kept
            _, counted = await statuses([http.post("/mcp", json=initialize(each), headers=bearer(ann)) for each in range(40)])
            assert counted == {200: bounds.SESSIONS, 429: 40 - bounds.SESSIONS}

    go(body())


def test_whoever_has_answered_does_not_keep_others_from_answering(tmp_path: Path) -> None:
    async def body() -> None:
        made = service(tmp_path, ask=asking(**{"x-needed": 2, "x-approvers": ["ann", "eve"]}))
        identity = Identity(made.records, made.settings, made.signer)
        keys = {name: identity.new_key(name, ["starter", "answerer"]) for name in ("ann", "eve")}
        async with client(made, identity=identity) as http:
            start, data = {"program": "ask", "input": "x"}, {"data": {"decision": "Approve"}}
            run = (await http.post("/v1/runs", json=start, headers={**bearer(keys["ann"]), "Prefer": "wait=9"})).json()["run"]

            async def sent(who: str, what: str, **more: Any) -> int:
                return (
                    await http.post(f"/v1/questions/{run}:userContext1/{what}", headers=bearer(keys[who]), **more)
                ).status_code

            assert [await sent("ann", "claim"), await sent("eve", "claim"), await sent("ann", "answer", json=data)] == [
                200,
                409,
                200,
            ]
            assert await sent("ann", "claim") == 409
            assert await sent("eve", "answer", json=data) == 200
            await settled(made, run, "done")

    go(body())


def test_a_link_a_vote_and_a_claim_count_once(tmp_path: Path) -> None:
    async def body() -> None:
        rule = {"x-needed": 2, "x-approvers": ["ann", "eve"]}
        made = service(tmp_path, ask=asking(**rule))
        identity = Identity(made.records, made.settings, made.signer)
        keys = {name: identity.new_key(name, ["starter", "answerer"]) for name in ("ann", "eve")}
        operator = identity.new_key("op", ["operator"])
        async with client(made, identity=identity) as http:
            start = {"program": "ask", "input": "x"}
            run = (await http.post("/v1/runs", json=start, headers={**bearer(keys["ann"]), "Prefer": "wait=9"})).json()["run"]
            question, data = f"/v1/questions/{run}:userContext1", {"data": {"decision": "Approve"}}
            names = ("ann", "eve") * 10
            claims, _ = await statuses([http.post(f"{question}/claim", headers=bearer(keys[each])) for each in names])
            [holder] = {name for name, each in zip(names, claims, strict=True) if each.status_code == 200}
            link = (await http.post(f"{question}/links", json={"to": holder}, headers=bearer(operator))).json()["link"]
            assert (await statuses([http.post(link, json=data) for _ in range(20)]))[1][200] == 1
            votes = [http.post(f"{question}/answer", json=data, headers=bearer(keys[holder])) for _ in range(20)]
            await statuses(votes)
            found = await made.question(BOSS, run, "userContext1")
            assert [vote.who for vote in found.votes] == [holder]

    go(body())


@pytest.mark.parametrize("kind", ["folder", "postgres"])
def test_nothing_is_kept_of_a_run_that_was_deleted_while_it_was_on_its_way(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """A large answer is examined for seconds; whoever deletes or erases the run meanwhile means all of it."""
    place = request.getfixturevalue("postgres_server").fresh() if kind == "postgres" else str(tmp_path)

    async def body() -> None:
        made = service(tmp_path, records=place, ask=asking())
        run = (await made.start(BOSS, "ask", "x", wait=20)).report.run
        await settled(made, run, "waiting")
        found = await made.question(BOSS, run, "userContext1")
        await made.cancel(BOSS, run)
        await made.delete(BOSS, run)
        vote = Vote("ann", "key", time(), {"decision": "Approve"})
        for late in (
            lambda: made.records.vote(run, "userContext1", vote, found.opened, None),
            lambda: made.records.claim(found, "ann", time() + 60, "key"),
            lambda: keep(made.records, run, "a.txt", b"a"),
        ):
            with pytest.raises(GoneError):
                late()
        for table in (VOTES, CLAIMS, FILES):
            assert made.records.select(sa.select(table)) == []
        made.records.close()

    go(body())


CLERK = {"by": "link", "sender": "clerk"}


@pytest.mark.parametrize(
    ("pair", "amounts"),
    [
        ((ANN, person("bob", "answerer")), (1, 2)),
        ((ANN, replace(person("link:ann"), **CLERK)), (1, 1)),  # who may be the same person
        ((replace(ANN, **CLERK), replace(person("bob", "answerer"), **CLERK)), (1, 1)),
    ],
)
def test_of_two_answers_on_two_servers_that_do_not_count_both_one_is_kept(
    pair: tuple[Caller, Caller], amounts: tuple[int, int], tmp_path: Path
) -> None:
    servers = [Records(str(tmp_path)) for _ in range(2)]
    row = {"run": "r", "question": "q", "program": "p", "by": "person", "steps": [], "show": {}, "schema": {}, "opened": 0.0}
    with servers[0].engine.begin() as connection:
        connection.execute(sa.insert(QUESTIONS).values(row))
    together = Barrier(2)
    asked = Question("q", (), {}, {}, "person")
    seen = QuestionInfo("r", "p", asked, 0.0, None, candidates=("ann", "bob"), approval=Approval(needed=2, outsiders=True))

    def answer(number: int) -> str:
        caller, data = pair[number], {"decision": "Approve", "amount": amounts[number]}
        vote = Vote(caller.name, caller.by, time(), data, None, caller.sender)

        def check(earlier: Sequence[Vote]) -> None:
            require_allowed("answer", replace(seen, votes=tuple(earlier)), caller, vote=vote)

        together.wait(60)
        try:
            servers[number].vote("r", "q", vote, 0.0, None, check)
        except (ConflictError, AccessError):
            return "disputed"
        return "kept"

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(answer, range(2))) == ["disputed", "kept"]
    assert len(servers[0].votes("r")["q"]) == 1
