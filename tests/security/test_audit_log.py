"""The audit log has whatever was done, whether or not the one who did it waits for the end."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from serving import ANSWER, BOSS, asking, client, go, on, opened, person, service, settled

from instrc.cli import main
from instrc.cli.run_common import audited  # what commands are recorded by
from instrc.engines.operating import AuditFilter, audit_log  # what the commands read
from instrc.problems.errors import AnswerError, ConflictError, UnreachableError
from instrc.problems.runs import RejectedAnswer, UnusableStore  # what the engine says
from instrc.problems.serving import QuestionNotFree
from instrc.runtime.retry import ForkOptions, RetryOptions  # of a request
from instrc.runtime.run_report import RunFilter  # which runs are acted on
from instrc.server.a2a import a2a_routes  # what pushes
from instrc.server.operations import ENDPOINTS  # what is tried
from instrc.server.operators import OPERATOR_ENDPOINTS, act_on_runs, webhook_routes  # what is tried
from instrc.server.records import Records  # the tables of a service
from instrc.server.run_service import RunService  # the service itself
from instrc.server.webhooks import AddressRules, Webhooks  # what sends them
from instrc.text.jsontext import digest_of

FORK = ForkOptions(run="new")


@pytest.mark.parametrize("ends", ["request", "service"])
@pytest.mark.parametrize(("action", "step"), [("start", "start"), ("fork", "start"), ("cancel", "cancel"), ("delete", "delete")])
def test_what_a_caller_has_begun_is_recorded_after_the_request_or_the_service_ends(
    action: str, step: str, ends: str, tmp_path: Path
) -> None:
    """As over MCP, where a notification ends a call at any moment."""

    async def body() -> None:
        async with opened(service(tmp_path, records=str(tmp_path))) as made:
            run = (await made.start(BOSS, "letter", "x", wait=20)).report.run
            await settled(made, run, "waiting")
            if action == "delete":
                await made.cancel(BOSS, run)
            begun, real = asyncio.Event(), getattr(made.engine, step)

            async def beginning(*given: Any) -> Any:
                begun.set()
                done = await real(*given)
                if ends == "service":
                    await asyncio.Event().wait()
                return done

            setattr(made.engine, step, beginning)
            work = {
                "start": lambda: made.start(BOSS, "letter", "x", run="new"),
                "fork": lambda: made.fork(BOSS, run, FORK),
                "cancel": lambda: made.cancel(BOSS, run),
                "delete": lambda: made.delete(BOSS, run),
            }
            asked = asyncio.ensure_future(work[action]())
            await begun.wait()
            if ends == "service":
                await made.close()
            else:
                asked.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asked
            about = AuditFilter("new" if step == "start" else run, action=action)
            for _ in range(200):
                if found := audit_log(made.records, about, 5):
                    break
                await asyncio.sleep(0.01)
            assert [each.who for each in found] == ["boss"]

    go(body())


@pytest.mark.parametrize("is_refused", [False, True])
@pytest.mark.parametrize("action", ["start", "fork", "retry", "resume", "cancel", "delete", "erase"])
def test_what_a_caller_does_is_recorded_before_it_is_done(action: str, is_refused: bool, tmp_path: Path) -> None:  # noqa: FBT001
    """A service that is killed then has done nothing that is not recorded."""

    async def body(made: RunService) -> None:
        run = (await made.start(BOSS, "letter", "x", wait=20)).report.run
        await settled(made, run, "waiting")
        if action in {"delete", "erase"}:
            await made.cancel(BOSS, run)
        step, of_run = {"fork": "start", "erase": "delete"}.get(action, action), "new" if action in {"start", "fork"} else run
        before: list[str] = []

        async def noting(*_given: Any) -> None:
            before.extend(each.action for each in audit_log(made.records, AuditFilter(of_run), 9))
            if is_refused:
                raise ConflictError([QuestionNotFree(question="q", state="claimed")])
            raise OSError

        setattr(made.engine, step, noting)
        work = {
            "start": lambda: made.start(BOSS, "letter", "x", run="new"),
            "fork": lambda: made.fork(BOSS, run, FORK),
            "retry": lambda: made.retry(BOSS, run, RetryOptions()),
            "resume": lambda: made.resume(BOSS, run),
            "cancel": lambda: made.cancel(BOSS, run),
            "delete": lambda: made.delete(BOSS, run),
            "erase": lambda: made.delete(BOSS, run, action="erase"),
        }
        with pytest.raises((ConflictError, OSError)):
            await work[action]()
        assert before[0] == action
        rows = audit_log(made.records, AuditFilter(of_run), 9)
        assert [(each.who, each.action) for each in rows if each.action in {action, "take back"}] == [
            *([("boss", "take back")] if is_refused else []),
            ("boss", action),
        ]

    on(service(tmp_path, records=str(tmp_path)), body)


def test_a_start_is_recorded_before_its_caller_waits_for_the_run(tmp_path: Path) -> None:
    async def body() -> None:
        async with opened(service(tmp_path, records=str(tmp_path))) as made:
            settled_, recorded = made._settled, []

            async def waiting(*given: Any) -> Any:
                recorded.extend(audit_log(made.records, AuditFilter(action="start"), 5))
                return await settled_(*given)

            made._settled = waiting  # type: ignore[method-assign]  # the time of the wait is when the service may be killed
            assert (await made.start(BOSS, "letter", "x", wait=20)).report.status == "waiting"
            assert [each.who for each in recorded] == ["boss"]

    go(body())


def test_a_fork_by_a_command_is_recorded_with_what_it_sets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("dbos")
    monkeypatch.chdir(tmp_path)
    Path("p.aug").write_text('const draft = @{ title: "Draft", type: "object" };\n', encoding="utf-8")
    assert main(["run", "p.aug", "--rehearse", "--engine", "durable", "--id", "first", "--quiet"]) == 0
    assert main(["fork", "first", "--id", "second", "--set", "draft={}", "--quiet"]) == 0
    records = Records(str(tmp_path / ".instrc"))
    try:
        found = audit_log(records, AuditFilter("second"), 5)
    finally:
        records.close()
    assert [(each.who, each.means, each.action, each.question, each.digest is not None) for each in found] == [
        ("local", "command", "set", "draft", True),
        ("local", "command", "fork", None, True),
    ]


def test_keys_and_webhooks_that_are_added_or_removed_are_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["serve", "--new-key", "ann", "--role", "viewer", "--store", str(tmp_path)]) == 0
    assert main(["serve", "--revoke-keys", "ann", "--store", str(tmp_path)]) == 0

    async def body() -> None:
        made = service(tmp_path, records=str(tmp_path))
        hooks = Webhooks(made.records, AddressRules(), lambda _: "")
        async with client(made, BOSS, routes=webhook_routes(hooks)) as http:
            hook = (await http.post("/v1/webhooks", json={"url": "https://93.184.216.34/"})).json()["id"]
            assert (await http.delete(f"/v1/webhooks/{hook}")).status_code == 204
        rows = [(row.who, row.means, row.action, row.run, row.question) for row in audit_log(made.records, AuditFilter(), 9)]
        assert rows[::-1] == [
            ("local", "command", "new key", None, "ann"),
            ("local", "command", "revoke keys", None, "ann"),
            ("boss", "key", "add webhook", None, hook),
            ("boss", "key", "remove webhook", None, hook),
        ]
        made.records.close()

    go(body())


def test_it_tells_to_whom_a_question_was_delegated_and_which_answer_was_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def body(made: RunService) -> None:
        run = (await made.start(BOSS, "pay", "x", wait=20)).report.run
        await made.claim(BOSS, run, "userContext1", to="smith, john")

        async def refusing(*_given: Any) -> Any:
            raise AnswerError([RejectedAnswer(step="userContext1", pointer="", reason="no")])

        real = made.engine.answer
        monkeypatch.setattr(made.engine, "answer", refusing)
        smith = person("smith, john", "answerer")
        with pytest.raises(AnswerError):
            await made.answer(smith, run, "userContext1", ANSWER)
        rows = audit_log(made.records, AuditFilter(run), 9)
        assert [(row.who, row.action) for row in rows[:3]] == [
            ("smith, john", "take back"),
            ("smith, john", "answer"),
            ("boss", "delegate"),
        ]
        assert rows[2].digest == digest_of("smith, john")
        monkeypatch.setattr(made.engine, "answer", real)
        await made.answer(smith, run, "userContext1", ANSWER)
        told = next(event for event in (await made.event_streams.trace(BOSS, run))[0] if event["event"] == "told")
        assert told["by"]["who"] == '"smith, john"'

    on(service(tmp_path, pay=asking()), body)


UNRECORDED = {"beginSession", "endSession"}
"""Operations that change no run, question, key or webhook."""


def test_every_operation_that_changes_something_is_recorded(tmp_path: Path) -> None:
    """Those of the table: a new one fails here until it is tried below."""

    async def body(made: RunService) -> None:
        hooks = Webhooks(made.records, AddressRules(), lambda _: "")
        ask = {"program": "pay", "input": "x"}
        table = [*ENDPOINTS, *OPERATOR_ENDPOINTS, *webhook_routes(hooks)]
        untried = {each.name for each in table if each.method not in {"GET", "HEAD"}} - UNRECORDED
        async with client(made, BOSS, routes=[*webhook_routes(hooks), *a2a_routes(made, hooks)]) as http:

            async def tried(name: str, path: str, verb: str = "POST", status: int = 200, **sent: Any) -> Any:
                before = len(audit_log(made.records, AuditFilter(), 99))
                done = await http.request(verb, path, **({"json": sent} if sent else {}), headers={"A2A-Version": "1.0"})
                assert done.status_code == status, done.text
                added = audit_log(made.records, AuditFilter(), 99)[: -before or None]
                assert added, name
                assert {each.who for each in added} <= {"boss", "link:eve"}, name
                untried.discard(name)
                return None if status == 204 else done.json()

            run = (await tried("startRun", "/v1/runs", status=201, **ask))["run"]
            await settled(made, run, "waiting")
            question = f"/v1/questions/{run}:userContext1"
            await tried("claimQuestion", f"{question}/claim")
            await tried("releaseQuestion", f"{question}/release")
            await tried("delegateQuestion", f"{question}/delegate", to="ann")
            await tried("actOnRuns", "/v1/actions", action="release", dryRun=False)
            link = (await tried("linkQuestion", f"{question}/links", status=201, to="eve"))["link"]
            push = {"taskId": run, "id": "p", "url": "https://93.184.216.34/"}
            for method in ("CreateTaskPushNotificationConfig", "DeleteTaskPushNotificationConfig"):
                assert "result" in await tried(method, "/a2a", jsonrpc="2.0", id=1, method=method, params=push)
            other = (await tried("forkRun", f"/v1/runs/{run}/fork", status=201))["run"]
            await settled(made, other, "waiting")
            await tried("answerByLink", link, data=ANSWER)
            await tried("answerQuestion", f"/v1/questions/{other}:userContext1/answer", data=ANSWER)
            await tried("deleteRun", f"/v1/runs/{other}", "DELETE", 204)
            refused = (await http.post("/v1/runs", json=ask, headers={"Prefer": "wait=20"})).json()
            await tried("answerQuestion", f"/v1/questions/{refused['questions'][0]['id']}/answer", data={"decision": "Reject"})
            await settled(made, refused["run"], "stopped")
            await tried("retryRun", f"/v1/runs/{refused['run']}/retry", step="step1_approve")
            await tried("resumeRun", f"/v1/runs/{refused['run']}/resume")
            await tried("cancelRun", f"/v1/runs/{refused['run']}/cancel")
            for action in ("delete", "cancel", "erase"):
                if action == "cancel":
                    await http.post("/v1/runs", json=ask, headers={"Prefer": "wait=20"})
                await tried("actOnRuns", "/v1/actions", action=action, dryRun=False)
            hook = (await tried("addWebhook", "/v1/webhooks", status=201, url="https://93.184.216.34/"))["id"]
            await tried("sendAgain", f"/v1/webhooks/{hook}/deliveries", status=202, run=run)
            await tried("removeWebhook", f"/v1/webhooks/{hook}", "DELETE", 204)
        assert untried == set()

    on(service(tmp_path, records=str(tmp_path), pay=asking(**{"x-links": True})), body)


@pytest.mark.parametrize("action", ["claim", "release", "delegate", "act"])
def test_what_cannot_be_recorded_is_not_done_with_a_claim(action: str, tmp_path: Path) -> None:
    async def body(made: RunService) -> None:
        run = (await made.start(BOSS, "pay", "x", wait=20)).report.run
        await settled(made, run, "waiting")
        if action != "claim":
            await made.claim(BOSS, run, "userContext1", to="ann")
        before = (await made.question(BOSS, run, "userContext1")).claimed_by
        made.records.execute(sa.text("CREATE TRIGGER lost BEFORE INSERT ON instrc_audit BEGIN SELECT RAISE(ABORT, 'lost'); END"))
        work = {
            "claim": lambda: made.claim(BOSS, run, "userContext1"),
            "release": lambda: made.release(BOSS, run, "userContext1"),
            "delegate": lambda: made.claim(BOSS, run, "userContext1", to="cat"),
            "act": lambda: act_on_runs(made, BOSS, "release", RunFilter(), dry_run=False),
        }
        with pytest.raises(sa.exc.IntegrityError, match="lost"):
            await work[action]()
        assert (await made.question(BOSS, run, "userContext1")).claimed_by == before
        made.records.execute(sa.text("DROP TRIGGER lost"))
        await work[action]()
        assert (await made.question(BOSS, run, "userContext1")).claimed_by != before

    on(service(tmp_path, records=str(tmp_path), pay=asking()), body)


LOST = (
    UnreachableError([UnusableStore(store="s", reason="the connection is closed")]),
    sa.exc.OperationalError("SELECT", None, Exception("the connection is closed")),
)


@pytest.mark.parametrize("lost", [*LOST, None], ids=["answer", "statement", "record"])
def test_what_was_done_is_recorded_although_the_connection_was_lost(lost: Exception | None, tmp_path: Path) -> None:
    """What cannot be recorded is not done."""

    async def body(made: RunService) -> None:
        run = (await made.start(BOSS, "pay", "x", wait=20)).report.run
        await settled(made, run, "waiting")
        cancel = made.engine.cancel

        async def cancelling(asked: str) -> Any:
            await cancel(asked)
            assert lost is not None
            raise lost

        def auditing(*_given: Any, **_named: Any) -> None:
            raise LOST[1]

        if lost is None:
            made.records.audit = auditing  # type: ignore[method-assign]  # of one object
        else:
            made.engine.cancel = cancelling  # type: ignore[method-assign]  # the same
        with pytest.raises((UnreachableError, sa.exc.OperationalError)):
            await made.cancel(BOSS, run)
        rows = audit_log(made.records, AuditFilter(run, action="cancel"), 5)
        if lost is None:
            assert ((await made.run(BOSS, run)).report.status, rows) == ("waiting", [])
        else:
            assert ((await made.run(BOSS, run)).report.status, [each.who for each in rows]) == ("cancelled", ["boss"])

    on(service(tmp_path, records=str(tmp_path), pay=asking()), body)


@pytest.mark.parametrize(
    ("error", "rows"), [(asyncio.CancelledError(), 1), (AnswerError([RejectedAnswer(step="s", pointer="", reason="no")]), 0)]
)
def test_a_command_that_is_interrupted_is_recorded(error: BaseException, rows: int, tmp_path: Path) -> None:
    """The change may have been made, and its run goes on."""
    records = Records(str(tmp_path))

    class Kept:
        def table(self) -> Records:
            return records

    async def changed() -> None:
        raise error

    with pytest.raises(type(error)):
        go(audited(Kept(), changed(), "retry", "r"))
    assert [each.action for each in audit_log(records, AuditFilter("r"), 5)] == ["retry"] * rows
    records.close()
