"""What operators do with many runs, over HTTP and from the command line: a count first, then all that a filter names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from postgres_server import Database
from serving import ANN, ANSWER, BOSS, asking, client, go, on, person, service, settled

from instrc.cli import main
from instrc.engines.approvals import ERASED  # in place of a name
from instrc.engines.operating import AuditFilter, audit_log, costs  # the tables, as they are written
from instrc.engines.run_table import runs_query
from instrc.engines.service_tables import FEED, HOOKS, METADATA, REQUESTS, RUNS, VOTES  # the tables, as they are written
from instrc.problems.errors import AccessError, ConflictError, RateLimitError
from instrc.runtime.run_report import RunFilter
from instrc.server.operators import act_on_runs  # the service itself
from instrc.server.records import Records  # the tables, as they are written
from instrc.server.run_service import RunService  # the service itself
from instrc.server.webhooks import AddressRules, Webhooks  # the service itself
from instrc.vibes.service_settings import ServiceSettings  # without a file

LETTERS = "letter-1", "letter-2", "letter-3"


async def letters(made: RunService) -> None:
    """Begin three runs that ask, of two customers."""
    for number, run in enumerate(LETTERS):
        await made.start(ANN, "ask", "x", run=run, metadata={"customer": "ann" if number < 2 else "bob"}, wait=20)


async def another(made: RunService) -> None:
    """Begin one more run that asks."""
    await made.start(ANN, "ask", "x", run="letter-4", wait=20)


def acted(http_body: Any) -> tuple[int, list[str]]:
    return http_body["count"], [each["run"] for each in http_body["items"]]


def test_an_action_counts_first_and_changes_only_what_the_filter_names(store: tuple[str, Path | str]) -> None:
    name, place = store

    async def body() -> None:
        made = service(place, name=name, ask=asking())
        async with client(made, BOSS) as http:
            await letters(made)
            sent: dict[str, Any] = {"action": "cancel", "filter": {"metadata": {"customer": "ann"}}}
            first = (await http.post("/v1/actions", json=sent)).json()
            assert (first["count"], {each["status"] for each in first["items"]}) == (2, {"waiting"})
            assert [(await made.run(BOSS, run)).report.status for run in LETTERS] == ["waiting"] * 3
            page = (await http.post("/v1/actions", json={**sent, "dryRun": False, "limit": 1})).json()
            assert acted(page) == (2, ["letter-2"])
            assert page["items"][0]["status"] == "cancelled"
            rest = (await http.post("/v1/actions", json={**sent, "dryRun": False, "cursor": page["next"]})).json()
            assert (acted(rest)[1], rest["next"]) == (["letter-1"], None)
            for run, status in zip(LETTERS, ("cancelled", "cancelled", "waiting"), strict=True):
                await settled(made, run, status)
            for row in (await http.get("/v1/runs")).json()["items"]:
                shown = (await http.get(f"/v1/runs/{row['run']}")).json()
                assert {**shown, **row} == shown, "the list says what each run says of itself"
            entries = audit_log(made.records, AuditFilter(action="cancel"), 9)
            assert {(entry.who, entry.run) for entry in entries} == {("boss", "letter-1"), ("boss", "letter-2")}
            gone = (await http.post("/v1/actions", json={"action": "delete", "dryRun": False})).json()
            assert {*acted(gone)[1]} == {"letter-1", "letter-2"}, "what waits is not deleted"
            assert [each["run"] for each in (await http.get("/v1/runs")).json()["items"]] == ["letter-3"]

    go(body())


@pytest.mark.parametrize("name", ["memory", "durable"])
def test_a_state_that_was_read_before_a_run_was_deleted_does_not_bring_it_back(name: str, tmp_path: Path) -> None:
    async def body(made: RunService) -> None:
        await letters(made)
        await made.cancel(BOSS, "letter-1")
        read = (await settled(made, "letter-1", "cancelled")).report
        await made.delete(BOSS, "letter-1")
        made.records.note(read, made.visibility.opening_in(read))
        assert "letter-1" not in {row.run for row in (await made.runs(BOSS)).rows}

    on(service(tmp_path, name=name, ask=asking()), body)


def test_each_action_needs_the_role_for_the_programs_of_its_runs(tmp_path: Path) -> None:
    async def body(made: RunService) -> None:
        await letters(made)
        for caller in (ANN, person("v", "viewer"), person("o", "operator", program="other")):
            with pytest.raises(AccessError):
                await act_on_runs(made, caller, "cancel", RunFilter(program="ask"), dry_run=True)
        for caller in (person("o", "operator"), person("a", "admin", program="ask")):  # the audit log is that of all programs
            with pytest.raises(AccessError):
                await act_on_runs(made, caller, "erase", RunFilter(), dry_run=True)
        others = await act_on_runs(made, person("o", "operator", program="other"), "cancel", RunFilter(), dry_run=False)
        assert (others.count, others.rows) == (0, ()), "an operator of one program acts on its runs alone"
        own = await act_on_runs(made, person("o", "operator", program="ask"), "cancel", RunFilter(), dry_run=True)
        assert own.count == 3

    on(service(tmp_path, ask=asking(), other=asking()), body)


def test_claims_of_many_runs_are_released(tmp_path: Path) -> None:
    async def body(made: RunService) -> None:
        await letters(made)
        await made.claim(ANN, "letter-1", "userContext1")
        acted = await act_on_runs(made, BOSS, "release", RunFilter(), dry_run=False)
        assert [row.run for row in acted.rows] == ["letter-1"]
        assert (await made.question(BOSS, "letter-1", "userContext1")).claimed_by is None
        entry = audit_log(made.records, AuditFilter(), 1)[0]
        assert (entry.who, entry.action, entry.run, entry.question) == ("boss", "release", "letter-1", "userContext1")

    on(service(tmp_path, ask=asking()), body)


def test_failed_runs_are_found_by_their_error_and_retried_by_a_filter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p.aug").write_text('"Write" | @{ title: "Draft", type: "object", properties: { text: { type: "string" } } }')
    wrong, right = {"text": 42}, {"text": "a"}
    for run, answers in (("one", [wrong, wrong, wrong, right]), ("two", [wrong] * 9), ("three", [right])):
        Path(f"{run}.json").write_text(json.dumps({"draft": answers}))
        main(["run", "p.aug", "--input", "x", "--id", run, "--model", f"scripted:{run}.json"])
    capsys.readouterr()

    def listed(*words: str) -> list[str]:
        assert main(["runs", *words, "--json"]) == 0
        return [json.loads(line)["run"] for line in capsys.readouterr().out.splitlines()]

    records = Records(".instrc")
    try:
        fault = records.runs(runs_query(RunFilter("failed")), 1)[0].fault
    finally:
        records.close()
    assert fault is not None
    for text in (fault.kind, fault.step or "", fault.message[5:15].upper()):
        assert listed("--error", text) == ["two", "one"], text
    assert listed("--error", "%") == [], "what is looked for is no pattern"
    assert listed("--before", "P1D") == []
    assert main(["runs", "--error", fault.kind]) == 0
    assert fault.message[:20] in capsys.readouterr().out
    assert main(["runs", "--error", fault.kind, "--do", "retry", "--yes"]) == 0
    assert capsys.readouterr().err.endswith("retried 2 of 2 runs: 1 done, 1 failed\n")
    assert listed("--status", "done") == ["three", "one"]
    assert listed("--error", fault.kind) == ["two"], "what has gone on has failed no more"
    assert main(["retry", "two", "--model", "scripted:three.json"]) == 0
    capsys.readouterr()
    assert main(["audit", "--run", "two", "--json"]) == 0
    entries = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(each["action"], each["who"], each["means"]) for each in entries] == [("retry", "local", "command")] * 2


def test_names_of_erased_runs_are_nowhere_and_the_audit_log_keeps_pseudonyms(tmp_path: Path) -> None:
    async def body() -> None:
        made = service(tmp_path, ask=asking())
        async with client(made, BOSS) as http:
            await letters(made)
            await made.start(ANN, "ask", "x", key="k", metadata={"customer": "ann"}, wait=20)
            pushed = Webhooks(made.records, AddressRules.of(["127.0.0.0/8"]), lambda _: "")
            await pushed.add("http://127.0.0.1:1/", owner="ann", run="letter-1", form="a2a", details={"token": "hers"})
            for run in LETTERS[:2]:
                await made.answer(ANN, run, "userContext1", ANSWER, comment="by ann")
                await settled(made, run, "done")
            sent: dict[str, Any] = {"action": "erase", "filter": {"metadata": {"customer": "ann"}}, "dryRun": False}
            assert acted((await http.post("/v1/actions", json=sent)).json())[0] == 2
            entries = audit_log(made.records, AuditFilter(run="letter-1"), 9)
            names = {entry.who for entry in entries if entry.action in {"start", "answer"}}
            assert len(names) == 1, "one person has one pseudonym"
            assert names.pop().startswith("erased:")
            assert [entry.who for entry in entries if entry.action == "erase"] == ["boss"]
            with made.records.engine.connect() as connection:
                for table in (VOTES, METADATA, REQUESTS, HOOKS):
                    assert "letter-1" not in str(connection.execute(sa.select(table)).all())
                told = connection.execute(sa.select(FEED.c.body).where(FEED.c.run == "letter-1")).scalars().all()
                assert "ann" not in str(told)
                assert connection.execute(sa.select(RUNS.c.starter).where(RUNS.c.run == "letter-1")).scalar() == ERASED
                assert connection.execute(sa.select(RUNS.c.starter).where(RUNS.c.run == "letter-3")).scalar() == "ann"

    go(body())


def test_the_key_of_an_erased_run_starts_no_other_run(tmp_path: Path) -> None:
    async def body() -> None:
        made = service(tmp_path, ask=asking())
        run = (await made.start(ANN, "ask", "x", key="k", wait=20)).report.run
        await made.answer(ANN, run, "userContext1", ANSWER)
        await settled(made, run, "done")
        await made.delete(BOSS, run, action="erase")
        with pytest.raises(ConflictError, match="`k`"):
            await made.start(ANN, "ask", "x", key="k", wait=20)
        assert len((await made.runs(BOSS)).rows) == 0
        with made.records.engine.connect() as connection:
            kept = str(connection.execute(sa.select(REQUESTS)).all())
        assert not [word for word in (run, "ann") if word in kept]

    go(body())


def test_nothing_of_an_erased_run_lies_on_the_disk_while_the_service_goes_on(tmp_path: Path) -> None:
    words = [b"customer-4711", b"a letter of zoe", b"a comment of zoe", b"zoe-herself"]
    zoe = person("zoe-herself", "starter", "answerer")

    def found() -> list[bytes]:
        data = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
        return [word for word in words if word in data]

    async def body() -> None:
        made = service(tmp_path, name="durable", records=str(tmp_path), ask=asking())
        async with client(made, BOSS) as http:
            await made.start(zoe, "ask", "a letter of zoe", run="one", metadata={"is": "customer-4711"}, wait=20)
            await made.answer(zoe, "one", "userContext1", ANSWER, comment="a comment of zoe")
            await settled(made, "one", "done")
            assert found() == words
            sent: dict[str, Any] = {"action": "erase", "filter": {"metadata": {"is": "customer-4711"}}, "dryRun": False}
            assert acted((await http.post("/v1/actions", json=sent)).json()) == (1, ["one"])
            assert found() == []

    go(body())


def test_the_audit_log_is_read_by_run_person_action_and_time(tmp_path: Path) -> None:
    async def body() -> None:
        made = service(tmp_path, ask=asking())
        async with client(made, BOSS) as http:
            await letters(made)
            await made.answer(ANN, "letter-1", "userContext1", ANSWER)

            async def read(query: str) -> Any:
                return (await http.get(f"/v1/audit{query}")).json()

            assert [(each["action"], each["run"]) for each in (await read("?run=letter-1"))["items"]] == [
                ("answer", "letter-1"),
                ("start", "letter-1"),
            ]
            assert len((await read("?action=start&who=ann"))["items"]) == 3
            assert (await read("?before=P1D"))["items"] == []
            assert len((await read("?since=P1D"))["items"]) == 4
            seen, query = [], "?limit=3"
            while query:
                page = await read(query)
                seen += [each["number"] for each in page["items"]]
                query = f"?limit=3&cursor={page['next']}" if page["next"] else ""
            assert seen == sorted(seen, reverse=True)
            assert len(seen) == 4
        async with client(made, person("o", "operator")) as http:
            assert (await http.get("/v1/audit")).status_code == 403

    go(body())


def spent(records: Records) -> None:
    """Write runs of two days and two people, with what they have used."""
    day = 1_700_006_400.0  # midnight in UTC
    rows = [
        *(("a", "mail", "key:ann", day + 1, 100, 0.5), ("b", "mail", "key:bob", day + 86_399.9, 10, 0.25)),
        *(("c", "pay", "key:ann", day + 86_400, 1, 0.125), ("d", "pay", None, day - 0.1, None, None)),
    ]
    with records.engine.begin() as connection:
        for run, program, starter, began, tokens, cost in rows:
            values = {"run": run, "program": program, "status": "done", "began": began, "starter": starter, "seen": 0.0}
            connection.execute(sa.insert(RUNS).values(**values, tokens=tokens, cost=cost))


@pytest.mark.parametrize("kind", ["folder", "postgres"])
def test_costs_are_summed_by_program_day_and_person(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    place = request.getfixturevalue("postgres_server").fresh() if kind == "postgres" else str(tmp_path / "store")
    records = Records(place)
    try:
        spent(records)
        assert {row.program: (row.runs, row.tokens, row.cost) for row in costs(records, ["program"], RunFilter())} == {
            "mail": (2, 110, 0.75),
            "pay": (2, 1, 0.125),
        }
        assert [row.to_json(["day"]) for row in costs(records, ["day"], RunFilter())] == [
            {"day": "2023-11-14", "runs": 1, "tokens": 0, "cost": 0.0},
            {"day": "2023-11-15", "runs": 2, "tokens": 110, "cost": 0.75},
            {"day": "2023-11-16", "runs": 1, "tokens": 1, "cost": 0.125},
        ]
        both = costs(records, ["program", "person"], RunFilter(program="mail"))
        assert [(row.person, row.cost) for row in both] == [("key:ann", 0.5), ("key:bob", 0.25)]
        assert [row.program for row in costs(records, ["program"], RunFilter(), ["pay"])] == ["pay"]
    finally:
        records.close()


def test_costs_over_http_are_of_programs_that_the_caller_sees(tmp_path: Path) -> None:
    async def body() -> None:
        made = service(tmp_path, mail=asking(), pay=asking())
        spent(made.records)
        async with client(made, person("v", "viewer", program="pay")) as http:
            items = sorted((await http.get("/v1/costs?by=program,person")).json()["items"], key=lambda each: each["person"] or "")
            assert [(each["program"], each["person"]) for each in items] == [("pay", None), ("pay", "key:ann")]
            assert {each["program"] for each in items} == {"pay"}
            assert (await http.get("/v1/costs?by=sex")).status_code == 400
        async with client(made, ANN) as http:
            assert (await http.get("/v1/costs")).status_code == 403

    go(body())


def test_a_run_of_the_default_engine_is_acted_on_once_where_that_is_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pyproject.toml").write_text('[tool.instrc.run]\nengine = "memory"\n')
    Path("p.aug").write_text('prompt | @{ title: "Draft", type: "object", properties: { text: { type: "string" } } }')
    assert [main(["run", "p.aug", "-i", "x", "--model", "sample", "--id", run]) for run in ("one", "two")] == [0, 0]
    capsys.readouterr()
    assert main(["runs", "--do", "delete"]) == 0
    assert sorted(capsys.readouterr().out.split()) == ["one", "two"]
    assert main(["runs", "--do", "delete", "--yes"]) == 0
    assert capsys.readouterr().err == "deleted 2 of 2 runs\n"
    assert main(["audit"]) == 0
    assert [line.split()[-2:] for line in sorted(capsys.readouterr().out.splitlines())] == [["delete", "one"], ["delete", "two"]]


def test_a_run_that_is_gone_does_not_hide_that_others_are_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def listed(*_: object) -> list[str]:
        return ["one", "gone"]

    monkeypatch.chdir(tmp_path)
    Path("p.aug").write_text('prompt | @{ title: "Draft", type: "object", properties: { text: { type: "string" } } }')
    assert main(["run", "p.aug", "-i", "x", "--model", "sample", "--id", "one", "--engine", "memory"]) == 0
    monkeypatch.setattr("instrc.engines.folder.FolderEngine.run_ids", listed)
    capsys.readouterr()
    assert main(["runs", "--engine", "memory", "--do", "delete", "--yes"]) == 1
    assert capsys.readouterr().err == "gone: there is no run `gone` in `.instrc`\ndeleted 1 of 2 runs\n"
    assert main(["audit"]) == 0
    assert capsys.readouterr().out.split()[-2:] == ["delete", "one"]


def test_the_command_line_counts_first_and_then_acts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert [main([command]) for command in ("audit", "costs")] == [0, 0]
    assert not list(tmp_path.iterdir()), "who reads makes no store"
    capsys.readouterr()
    on(service(tmp_path / ".instrc", name="durable", records=str(tmp_path / ".instrc"), ask=asking()), letters)
    named = ["runs", "--metadata", "customer=ann", "--do"]
    assert main([*named, "cancel"]) == 0
    said = capsys.readouterr()
    assert said.out.split() == ["letter-2", "letter-1"]
    assert said.err == "2 runs would be cancelled: add `--yes` to do it\n"
    assert main([*named, "cancel", "--yes"]) == 0
    assert capsys.readouterr().err == "cancelled 2 of 2 runs\n"
    assert main([*named, "retry", "--yes"]) == 0
    assert capsys.readouterr().err == "there are no such runs here\n"
    assert main([*named, "erase", "--yes"]) == 0
    assert main(["audit", "--json", "--run", "letter-1"]) == 0
    entries = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(each["action"], each["who"][:7]) for each in entries] == [
        ("erase", "local"),
        ("cancel", "erased:"),
        ("start", "erased:"),
    ]
    assert main(["runs", "--do", "cancel"]) == 0
    assert capsys.readouterr().out == "letter-3\n"
    assert main(["costs", "--by", "program,person", "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {(each["person"], each["runs"]) for each in rows} == {(None, 2), ("ann", 1)}
    assert [main(words) for words in (["cancel", "letter-3"], ["cancel", "letter-3"], ["delete", "letter-3"])] == [0, 0, 0]
    on(service(tmp_path / ".instrc", name="durable", records=str(tmp_path / ".instrc"), ask=asking()), another)
    assert main(["answer", "letter-4", "approve", "--data", '{"decision": "Approve"}']) == 0
    capsys.readouterr()
    for run, actions in (("letter-3", ["delete", "cancel", "start"]), ("letter-4", ["answer", "start"])):
        assert main(["audit", "--json", "--run", run]) == 0
        entries = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert [entry["action"] for entry in entries] == actions
        assert [(entry["who"], entry["means"]) for entry in entries[:-1]] == [("local", "command")] * (len(actions) - 1)
    assert (entries[0]["question"], entries[0]["digest"] is None) == ("userContext1", False)
    assert main(["runs", "--yes"]) == 2
    assert main(["runs", "--metadata", "customer"]) == 2
    assert main(["costs", "--by", "moon"]) == 2


def test_services_of_a_database_count_the_starts_of_a_caller_together(
    postgres_server: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("instrc.server.run_service.time", lambda: 90.0)  # on a busy machine the starts take more than a minute
    place = str(postgres_server.fresh())
    settings = ServiceSettings(rate=3)

    async def body() -> None:
        made = [service(place, name="durable", records=place, settings=settings, ask=asking()) for _ in range(2)]
        for started in range(3):
            await made[started % 2].start(ANN, "ask", "x")
        for each in made:
            with pytest.raises(RateLimitError):
                await each.start(ANN, "ask", "x")
        await made[1].start(BOSS, "ask", "x")
        for each in made:
            each.engine.close()  # type: ignore[attr-defined]  # of a store
            each.records.close()

    go(body(), 240)
