"""Who may do what with a question: every combination by a table, and attacks on the rule of a question over each protocol."""

from __future__ import annotations

import asyncio
import json
import shutil
from contextlib import nullcontext
from functools import partial
from itertools import product
from pathlib import Path
from time import time
from typing import Any, get_args

import pytest
import sqlalchemy as sa
from msgspec.structs import replace
from serving import ANSWER, BOSS, LETTER, asking, client, go, on, opened, person, service, settled
from written_processes import DECISION, TEXT, call, chunk, process, step

import instrc
from instrc.engines.approvals import (  # what the table asks about
    ALL,
    ERASED,
    NOBODY,
    Approval,
    NameRules,
    Opening,
    Vote,
    approval_of,
    disputed_by,
    normal_name,
)
from instrc.engines.dbos.run_rows import RunRows  # who writes them
from instrc.engines.dbos.store import close_engine  # the same
from instrc.engines.equip import LocalObjects, opening_for, opening_of  # the same
from instrc.engines.launch import Launcher, forked
from instrc.engines.operating import AuditFilter, audit_log  # what is noted of it
from instrc.engines.places import store_of  # where they are
from instrc.engines.prepare import Prepared
from instrc.engines.run_table import QuestionRow  # what is claimed
from instrc.engines.service_tables import KEYS, QUESTIONS  # where keys and questions are
from instrc.problems.errors import AccessError, AuthenticationError, ConflictError, InstrcError, NotFoundError, SettingsError
from instrc.runtime.activities import Activities, Activity  # what serves one
from instrc.runtime.questions import Question  # what the table asks about
from instrc.runtime.retry import ForkOptions
from instrc.runtime.run_config import RunConfig
from instrc.runtime.run_report import RunFilter  # which runs are erased
from instrc.server.access import (  # the function of the table
    EXCLUDED,
    LOCAL,
    Action,
    Caller,  # the same
    refusal_of,
)
from instrc.server.hosting import require_clear_names  # what a service does when it begins
from instrc.server.identity import Identity  # what callers are known by
from instrc.server.operation_json import question_id  # what addresses have
from instrc.server.operations import RequestData  # how they are read
from instrc.server.operators import act_on_runs  # what erases them
from instrc.server.records import Records
from instrc.server.run_service import RunService  # the service itself
from instrc.server.views import QuestionInfo  # what the table asks about
from instrc.text.jsonvalue import Json, JsonObject
from instrc.vibes.service_settings import OidcSettings, PeopleSettings, ServiceSettings  # without a file
from instrc.vibes.settings import Settings, read_settings

NOW = 1000.0
ISSUER = "https://id.example"
ROLES: tuple[tuple[str, ...], ...] = ((), ("viewer",), ("answerer",), ("operator",), ("operator", "answerer"), ("admin",))
LISTS: tuple[tuple[str, ...], ...] = (("*",), ("ann",), ("group:leads",), ("bob",), (NOBODY,))
CLAIMS: tuple[tuple[str, float, bool] | None, ...] = (
    None,
    ("ann", NOW + 1, True),
    ("ann", NOW + 1, False),
    ("bob", NOW + 1, True),
    ("bob", NOW - 1, True),
)
"""Who holds it, until when, and whether it was delegated to them."""
OTHERS = (
    None,
    Caller("ann", by="link"),
    Caller("bob", by="link"),
    Caller("cat", frozenset({"leads"}), by="link"),
    Caller("link:eve", by="link"),
)


def combinations() -> Any:
    """Yield each combination of a question, a caller, the means, the time of a claim, and another person."""
    rules = [
        Approval(approvers=approvers, excluded=frozenset(excluded), outsiders=outsiders)
        for approvers, excluded, outsiders in product(((), ("ann",)), ((), ("ann",), ("bob",), ("group:leads",)), (False, True))
    ]
    for by, candidates, rule, claim in product(("person", "system", "operator"), LISTS, rules, CLAIMS):
        listed = rule.approvers or candidates
        who, until, given = claim or (None, None, None)
        asked = Question("q", ("step1_q",), {}, {}, by)  # type: ignore[arg-type]  # one of them
        info = QuestionInfo("r", "p", asked, 0.0, None, who, until, given, listed, rule)
        links = (None, None), (("r", "q"), None), (("r", "q"), "bob"), (("r", "other"), None)
        for roles, groups, (link, sender) in product(ROLES, ((), ("leads",)), links):
            means = "key" if link is None else "link"
            caller = Caller("ann", frozenset(groups), {"p": frozenset(roles)}, means, link, sender=sender)  # type: ignore[arg-type]  # roles
            yield info, caller


def expected(action: Action, info: QuestionInfo, caller: Caller, to: Caller | None) -> bool:
    """Return what the page says, written as a list of conditions that must all hold."""
    held = {*caller.roles["p"]} | ({"operator", "answerer"} if "admin" in caller.roles["p"] else set())
    names = {"ann", "*", *(f"group:{each}" for each in caller.groups)}
    holder = info.claimed_by if info.claimed_by and info.claimed_until and info.claimed_until >= NOW else None
    rule, kind = info.approval, info.question.by
    barred = kind == "person" and bool(names & rule.excluded)
    if caller.only is not None:
        named = names & {*info.candidates}
        fits = bool(named - {"*"}) or (bool(named) and "answerer" in held)
        free = not barred and holder in {None, "ann", caller.sender}
        return action == "answer" and caller.only == ("r", "q") and kind == "person" and fits and free
    if kind == "operator" and "operator" not in held:
        return False
    if action == "release":
        return "operator" in held or holder == "ann"
    if barred:
        return False
    reassigned = holder == "ann" and info.given and not rule.approvers
    fits = bool(names & {*info.candidates}) or bool(reassigned)
    if action in {"answer", "claim"}:
        needed = {"person": "answerer", "system": "answerer", "operator": "operator"}[kind]
        fits = fits or kind == "operator"
        return needed in held and fits and holder in {None, "ann"}
    assert to is not None
    of_to = {to.name, *(f"group:{each}" for each in to.groups)}  # nobody of them is known to have a role
    if not ("operator" in held or (holder == "ann" and fits and "answerer" in held)) or (
        kind == "person" and of_to & rule.excluded
    ):
        return False
    if action == "delegate" and kind == "operator":
        return False
    if action == "link":
        return kind == "person" and (rule.outsiders if to.name == "link:eve" else bool(of_to & {*info.candidates}))
    return not rule.approvers or any(each == "*" or each.startswith("group:") or each == to.name for each in info.candidates)


@pytest.mark.long  # 100,000 combinations
def test_every_combination_of_question_caller_means_and_time() -> None:
    number = 0
    for info, caller in combinations():
        for action in get_args(Action):
            for to in OTHERS[1:] if action in {"delegate", "link"} else OTHERS[:1]:
                allowed = refusal_of(action, info, caller, NOW, to) is None
                assert allowed == expected(action, info, caller, to), (action, info, caller, to)
                number += 1
    assert number > 100_000


@pytest.mark.parametrize(
    ("name", "allowed"),
    [("bob", True), (f"oidc:{ISSUER}#bob", False), ("link:bob", True), (f"link:oidc:{ISSUER}#bob", False)],
)
def test_a_link_shows_no_groups_of_a_token_so_none_may_be_excluded(name: str, allowed: bool) -> None:  # noqa: FBT001
    rule = Approval((name,), excluded=frozenset({"group:staff"}), outsiders=True)
    asked = QuestionInfo("r", "p", Question("q", (), {}, {}, "person"), 0.0, None, candidates=(name,), approval=rule)
    bearer = Caller(name, by="link", only=("r", "q"))
    assert (refusal_of("answer", asked, bearer, NOW) is None) == allowed
    assert (refusal_of("link", asked, person("op", "operator"), NOW, Caller(name, by="link")) is None) == allowed


@pytest.mark.parametrize(("role", "allowed"), [("operator", True), ("admin", True), ("answerer", False)])
def test_a_held_question_is_delegated_to_who_may_answer_it(role: Any, allowed: bool) -> None:  # noqa: FBT001
    asked = QuestionInfo("r", "p", Question("q", (), {}, {}, "operator"), 0.0, None, candidates=(NOBODY,), approval=Approval())
    assert (refusal_of("delegate", asked, person("op", "operator"), NOW, person("bob", role)) is None) == allowed


def test_what_is_missing_is_refused() -> None:
    info = QuestionInfo("r", "p", Question("q", (), {}, {}, "person"), 0.0, None, None, None, ("*",), Approval())
    assert refusal_of("link", info, person("op", "admin"), NOW) is not None


async def begun(http: Any, program: str) -> str:
    sent = {"program": program, "input": "x"}
    return str((await http.post("/v1/runs", json=sent, headers={"Prefer": "wait=20"})).json()["run"])


def test_an_operator_makes_no_approvals_that_nobody_gave(tmp_path: Path) -> None:
    async def body() -> None:
        rule = {"x-approvers": ["ann", "bob"], "x-needed": 2, "x-not": ["starter"]}
        made = service(tmp_path, pay=asking(**rule))
        operator = person("op", "operator", "starter", "answerer")
        async with client(made, operator) as http:
            run = await begun(http, "pay")
            question = f"/v1/questions/{run}:userContext1"
            names = (
                "nobody-1",
                "nobody-2",
                "op",
                "op ",
                "o\u200bp",
                "\uff4f\uff50",
                "*",
                "group:leads",
                "link:ann",
                "key:op",
                "",
            )
            for to in (*names, "ann", "bob"):  # `op` began it: who is excluded lets nobody else answer, either
                assert (await http.post(f"{question}/links", json={"to": to})).status_code in {400, 403, 422}, to
                assert (await http.post(f"{question}/delegate", json={"to": to})).status_code in {400, 403, 422}, to
            assert (await http.post(f"{question}/answer", json={"data": ANSWER})).status_code == 403
        async with client(made, person("clerk", "operator")) as http:
            for to in names:
                assert (await http.post(f"{question}/links", json={"to": to})).status_code in {400, 403, 422}, to
            words = [(await http.post(f"{question}/links", json={"to": to})).json()["word"] for to in ("ann", "ann", "bob")]
            first = await http.post(f"/v1/links/{words[0]}", json={"data": ANSWER})
            assert (first.status_code, first.json()["status"]) == (200, "waiting")  # it counts, and says so
            again = await http.post(f"/v1/links/{words[1]}", json={"data": ANSWER})
            assert again.json().get("status") == "waiting"  # the same person, once
            both = await http.post(f"/v1/links/{words[2]}", json={"data": ANSWER})
            assert both.status_code == 403  # the clerk has both links
            assert "asked for the link of" in both.text
        async with client(made, person("other", "operator")) as http:
            word = (await http.post(f"{question}/links", json={"to": "bob"})).json()["word"]
            shown = (await http.get(f"/v1/links/{word}")).json()
            assert [(vote["who"], vote["sender"]) for vote in shown["votes"]] == [("ann", "clerk")]
            assert (await http.post(f"/v1/links/{word}", json={"data": ANSWER})).json()["status"] == "done"
        votes = made.records.votes(run)["userContext1"]
        assert sorted((vote.who, vote.sender) for vote in votes) == [("ann", "clerk"), ("bob", "other")]
        links = audit_log(made.records, AuditFilter(run, action="link"), 9)
        assert [row.who for row in links] == ["other", "clerk", "clerk", "clerk"]

    go(body())


TWO = Approval(needed=2)


def vote(who: str, data: Json = None, sender: str | None = None) -> Vote:
    return Vote(who, "link" if sender else "key", NOW, data or {"decision": "Approve"}, None, sender)


@pytest.mark.parametrize(
    ("earlier", "who", "sender", "allowed"),
    [
        (vote("ann"), "bob", None, True),
        (vote("ann"), "bob", "clerk", True),
        (vote("ann"), "bob", "ann", False),
        (vote("ann", sender="clerk"), "bob", "other", True),
        (vote("ann", sender="clerk"), "bob", "clerk", False),
        (vote("ann", sender="bob"), "bob", None, False),
        (vote("ann", sender="clerk"), "bob", "ann", False),
        (vote("bob", sender="ann"), "ann", "clerk", False),
        (vote("link:guest", sender="ann"), "ann", "clerk", False),
        (vote("ann", sender="ann"), "ann", None, True),
    ],
)
def test_the_links_that_somebody_asks_for_count_once(earlier: Vote, who: str, sender: str | None, allowed: bool) -> None:  # noqa: FBT001
    roles = {"p": frozenset({"answerer"})}
    caller = Caller(who, roles=roles, by="link" if sender else "key", only=("r", "q") if sender else None, sender=sender)  # type: ignore[arg-type]  # roles
    info = QuestionInfo(
        "r", "p", Question("q", (), {}, {}, "person"), 0.0, None, candidates=("ann", "bob"), approval=TWO, votes=(earlier,)
    )
    assert (refusal_of("answer", info, caller, NOW) is None) == allowed
    assert refusal_of("answer", replace(info, approval=Approval()), caller, NOW) is None  # one answer is enough
    counted = TWO.tally((earlier, vote(who, sender=sender))) is not None
    assert counted == (allowed and who != "ann")  # also of answers that come at the same time


@pytest.mark.parametrize(
    ("first", "second", "agree", "disputed"),
    [
        ({"decision": "Approve"}, {"decision": "Approve", "comment": "fine"}, True, False),
        ({"decision": "Approve", "amount": 1}, {"amount": 1, "decision": "Approve", "comment": "fine"}, True, False),
        ({"decision": "Approve", "amount": 1}, {"decision": "Approve", "amount": 2}, False, True),
        ({"decision": "Approve", "amount": 1}, {"decision": "Approve"}, False, True),
        ({"decision": "Approve", "to": {"comment": "gift"}}, {"decision": "Approve", "to": {"comment": "other"}}, False, True),
        ({"s": {"decision": "Approve", "comment": "a"}}, {"s": {"decision": "Approve", "comment": "b"}}, True, False),
        ({"s": {"decision": "Approve"}, "t": {"x": 1}}, {"s": {"decision": "Approve"}, "t": {"x": 2}}, False, True),
        ({"decision": "Later"}, {"decision": "Approve"}, False, False),
        ({"comment": "a"}, {"comment": "b"}, False, False),  # nothing is decided: the comment is the answer
        ("a", "a", True, False),
        ({"decision": "Reject", "amount": 1}, {"decision": "Reject", "amount": 2}, True, False),
        ({"decision": "Approve", "comment": {"amount": 1}}, {"decision": "Approve", "comment": {"amount": 2}}, False, True),
    ],
)
def test_people_agree_on_what_takes_effect(first: Json, second: Json, agree: bool, disputed: bool) -> None:  # noqa: FBT001
    votes = (vote("ann", first), vote("bob", second))
    assert (replace(TWO, veto=False).tally(votes) is not None) == agree
    assert (disputed_by(votes[:1], votes[1]) is not None) == disputed


def test_refusals_decide_nothing_where_outsiders_may_still_agree() -> None:
    votes = [vote("ann", {"decision": "Reject"}), vote("link:zed", {"decision": "Reject"})]
    rule = replace(TWO, approvers=("ann", "bob", "cat"), needed=3, veto=False)
    assert rule.tally(votes) is not None
    assert replace(rule, outsiders=True).tally(votes) is None


def test_a_run_that_is_deleted_while_somebody_forks_it_excludes_everybody(tmp_path: Path) -> None:
    """The row of the fork may not be there yet, so the starter that `x-not` excludes would be forgotten."""

    async def body() -> None:
        made = service(tmp_path, pay=asking())
        run = (await made.start(BOSS, "pay", "x", wait=20)).report.run
        await made.cancel(BOSS, run)
        await made.delete(BOSS, run)
        row = made.records.run(run)
        assert row is not None
        assert row.starter == ERASED

    go(body())


@pytest.mark.parametrize(
    ("data", "decides"),
    [
        ({"decision": "Reject"}, True),
        ({"decision": "Reject", "amount": 1, "to": {"account": 2}}, True),
        ({"s": {"decision": "Reject"}, "t": {"decision": "Reject"}}, True),
        ({"decision": "Approve", "x": {"decision": "Reject"}}, False),
        ({"decision": "Reject", "x": {"decision": "Approve"}}, False),
        ({"decision": "Reject", "t": {"decision": "Approve"}}, False),
        ({"s": {"decision": "Reject"}, "t": {"decision": "Approve"}}, False),
        ({"s": {"decision": "Reject"}, "t": {"amount": 1_000}}, False),
        ({"s": {"decision": "Reject"}, "t": "pay"}, False),
        ({"decision": ["Reject"]}, False),
        ({}, False),
    ],
)
def test_one_person_decides_alone_only_that_nothing_takes_effect(data: Json, decides: bool) -> None:  # noqa: FBT001
    assert (TWO.tally([vote("ann", data)]) is not None) == decides


def test_an_approval_of_two_is_not_given_by_one_who_also_refuses(tmp_path: Path) -> None:
    async def body() -> None:
        made = service(tmp_path, pay=asking(**{"x-approvers": ["ann", "bob"], "x-needed": 2}))
        run = (await made.start(BOSS, "pay", "x", wait=20)).report.run
        async with client(made, person("ann", "answerer")) as http:
            sent = {"data": {"decision": "Approve", "more": {"decision": "Reject"}}}
            done = await http.post(f"/v1/questions/{run}:userContext1/answer", json=sent)
        assert done.json()["status"] == "waiting"

    go(body())


@pytest.mark.parametrize(("action", "allowed"), [("delete", "cat"), ("erase", None)])
def test_whoever_started_a_run_does_not_approve_its_fork(action: str, allowed: str | None, tmp_path: Path) -> None:
    """When the name of the starter was erased, nobody is known to be another person."""

    async def body() -> None:
        made = service(tmp_path, pay=asking(**{"x-approvers": ["ann", "cat"], "x-not": ["starter"]}))
        run = (await made.start(person("ann", "starter"), "pay", "x", wait=20, metadata={"customer": "4711"})).report.run
        for who in ("bob", "dan"):  # a fork of a fork, too, whose origins are gone
            async with client(made, person(who, "operator")) as http:
                origin, run = run, (await http.post(f"/v1/runs/{run}/fork", json={})).json()["run"]
                await made.cancel(BOSS, origin)
                if action == "erase":
                    chosen = RunFilter(metadata={"customer": "4711"}, program="pay").only(("cancelled",))
                    await act_on_runs(made, BOSS, "erase", chosen, dry_run=False)
                else:
                    await made.delete(BOSS, origin)
        statuses = {}
        for who in ("ann", "cat"):
            async with client(made, person(who, "answerer")) as http:
                done = await http.post(f"/v1/questions/{run}:userContext1/answer", json={"data": ANSWER})
                statuses[who] = done.status_code
        assert statuses == {who: 200 if who == allowed else 403 for who in ("ann", "cat")}

    go(body())


@pytest.mark.parametrize("deep", [False, True])
def test_whoever_started_a_run_is_excluded_by_a_service_that_has_not_seen_it(deep: bool, tmp_path: Path) -> None:  # noqa: FBT001
    """Its records are not with the runs, as on Temporal, and are new."""

    async def body() -> None:
        made = service(tmp_path, pay=asking(**{"x-approvers": ["ann", "cat"], "x-not": ["starter"]}))
        ann, bob = person("ann", "starter", "answerer"), person("bob", "operator")
        run = (await made.start(ann, "pay", "x", wait=20)).report.run
        if deep:
            run = (await made.fork(bob, run, ForkOptions())).report.run
        other = RunService(made.launchers, made.engine, Records(None))
        run = (await other.fork(bob, run, ForkOptions())).report.run
        why = "cannot tell whom the rule excludes" if deep else "who took part in this run may not approve it"
        with pytest.raises(AccessError, match=why):
            await other.answer(ann, run, "userContext1", ANSWER)
        if not deep:
            assert (await other.answer(person("cat", "answerer"), run, "userContext1", ANSWER)).report.status == "done"

    go(body())


def test_who_decides_the_same_with_other_data_is_refused_and_the_question_stays_open(tmp_path: Path) -> None:
    async def body() -> None:
        amount = {"properties": {"decision": {"enum": ["Approve", "Reject"]}, "amount": {"type": "integer"}}}
        made = service(tmp_path, pay=asking(**{"x-approvers": ["ann", "bob", "cat"], "x-needed": 2, **amount}))
        run = (await made.start(BOSS, "pay", "x", wait=20)).report.run
        statuses = []
        for who, number in (("ann", 1), ("bob", 1_000), ("cat", 1)):
            async with client(made, person(who, "answerer")) as http:
                given = {"data": {"decision": "Approve", "amount": number}, "comment": who}
                done = await http.post(f"/v1/questions/{run}:userContext1/answer", json=given)
                statuses.append((done.status_code, done.json().get("status"), "`ann` has made the same decision" in done.text))
        assert statuses == [(200, "waiting", False), (409, 409, True), (200, "done", False)]
        assert (await made.run(BOSS, run)).report.outcome["value"] == {"decision": "Approve", "amount": 1}  # type: ignore[index]  # it is done
        assert [each.who for each in made.records.votes(run)["userContext1"]] == ["ann", "cat"]

    go(body())


@pytest.mark.parametrize("ahead", [-3600.0, 3600.0])
def test_answers_are_of_the_question_as_it_was_asked_last_whatever_clocks_say(
    ahead: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process that asks may have another clock than the one that takes the answers."""

    async def body() -> None:
        made = service(tmp_path, pay=asking(**{"x-approvers": ["ann", "bob"], "x-needed": 2}))
        ann, bob = person("ann", "answerer"), person("bob", "answerer")
        run = (await made.start(BOSS, "pay", "x", wait=20)).report.run
        asked = (await made.run(BOSS, run)).report
        monkeypatch.setattr("instrc.engines.run_table.time", lambda: time() + ahead)
        for last in (False, True):  # it closes, and the same question is asked anew
            made.records.note(replace(asked, questions=()), partial(made.visibility.opening, "pay"))
            made.records.note(asked, partial(made.visibility.opening, "pay"))
            assert [each.who for each in (await made.question(BOSS, run, "userContext1")).votes] == []
            assert (await made.answer(ann, run, "userContext1", ANSWER)).report.status == "waiting"
            assert [each.who for each in (await made.question(BOSS, run, "userContext1")).votes] == ["ann"]
            if last:
                assert (await made.answer(bob, run, "userContext1", ANSWER)).report.status == "done"

    go(body())


def test_an_outsider_has_a_link_where_the_question_allows_it_and_is_nobody_else(tmp_path: Path) -> None:
    async def body() -> None:
        made = service(tmp_path, ask=asking(**{"x-approvers": ["ann"], "x-links": True, "x-not": ["starter"]}))
        run = (await made.start(person("eve", "starter"), "ask", "x", wait=20)).report.run
        async with client(made, person("clerk", "operator")) as http:
            word = (await http.post(f"/v1/questions/{run}:userContext1/links", json={"to": "guest"})).json()["word"]
            shown = (await http.get(f"/v1/links/{word}")).json()
            assert shown["run"] == run
            assert (await http.post(f"/v1/links/{word}", json={"data": ANSWER})).json() == {"run": run, "status": "done"}
        assert [vote.who for vote in made.records.votes(run)["userContext1"]] == ["link:guest"]

    go(body())


@pytest.mark.parametrize("to", ["eve", "key:eve", "e\u200bve", "dan", "fay", "link:key:eve", "link:link:eve", "key:key:dan"])
def test_nobody_who_is_excluded_has_a_link_as_an_outsider(to: str, tmp_path: Path) -> None:
    async def body() -> None:
        settings = ServiceSettings(groups={"staff": ("dan",)})
        rule = {"x-approvers": ["ann"], "x-links": True, "x-not": ["starter", "group:staff"]}
        made = service(tmp_path, settings=settings, ask=asking(**rule))
        Identity(made.records, made.settings, made.signer).new_key("fay", groups=["staff"])
        run = (await made.start(person("eve", "starter"), "ask", "x", wait=20)).report.run
        async with client(made, person("clerk", "operator")) as http:
            refused = await http.post(f"/v1/questions/{run}:userContext1/links", json={"to": to})
            assert (refused.status_code, EXCLUDED in refused.text) == (403, True)

    go(body())


def test_whoever_is_excluded_by_a_group_of_one_key_is_excluded_with_each_of_their_keys(tmp_path: Path) -> None:
    """What grants is that of the key alone: one may be made for little."""

    async def body() -> None:
        made = service(tmp_path, ask=asking(**{"x-approvers": ["group:staff"], "x-not": ["group:finance"]}))
        identity = Identity(made.records, made.settings, made.signer)
        words = [identity.new_key("fay", ["answerer"], groups) for groups in (["staff", "finance"], ["staff"], [])]
        words.append(identity.new_key("dan", ["answerer"], ["staff"]))
        done = []
        async with client(made, identity=identity) as http:
            run = (await made.start(BOSS, "ask", "x", wait=20)).report.run
            place = f"/v1/questions/{run}:userContext1/answer"
            for word in words:
                sent = await http.post(place, json={"data": ANSWER}, headers={"Authorization": f"Bearer {word}"})
                done.append((sent.status_code, EXCLUDED in sent.text))
        assert done == [(403, True), (403, True), (404, False), (200, False)]

    go(body())


def test_whoever_answers_as_a_candidate_and_as_an_outsider_counts_once(tmp_path: Path) -> None:
    """Their groups are those of a token, so no link knows that they are a candidate."""

    async def body() -> None:
        made = service(tmp_path, ask=asking(**{"x-approvers": ["group:leads"], "x-links": True, "x-needed": 2}))
        run = (await made.start(BOSS, "ask", "x", wait=20)).report.run
        async with client(made, person("ann", "answerer", groups=("leads",))) as http:
            done = await http.post(f"/v1/questions/{run}:userContext1/answer", json={"data": ANSWER})
            assert done.json()["status"] == "waiting"
        async with client(made, person("clerk", "operator")) as http:
            word, other = [
                (await http.post(f"/v1/questions/{run}:userContext1/links", json={"to": to})).json()["word"]
                for to in ("ann", "bob")
            ]
            assert (await http.post(f"/v1/links/{word}", json={"data": ANSWER})).status_code == 403
            assert (await http.post(f"/v1/links/{other}", json={"data": ANSWER})).json()["status"] == "done"
        assert [each.who for each in made.records.votes(run)["userContext1"]] == ["ann", "link:bob"]

    go(body())


def test_a_link_has_the_rights_of_its_person_of_now(tmp_path: Path) -> None:
    async def body() -> None:
        settings = ServiceSettings(people={"*": PeopleSettings(("group:leads",))})
        made = service(tmp_path, settings=settings)
        identity = Identity(made.records, made.settings, made.signer)
        identity.new_key("ann", groups=["leads"])
        identity.new_key("boss")
        run = (await made.start(BOSS, "letter", "x", wait=20)).report.run
        word = await made.link(BOSS, run, "userContext1", "ann")
        made.records.revoke("ann")  # she is in no group any more
        async with client(made) as http:
            assert (await http.post(f"/v1/links/{word}", json={"data": ANSWER})).status_code == 403

    go(body())


@pytest.mark.parametrize("lost", ["revoked", "expired", "issuer"])
def test_a_link_ends_with_the_last_key_or_the_issuer_of_who_asked_for_it(lost: str, tmp_path: Path) -> None:
    """An operator keeps the links of candidates; with these, they could answer for seven days."""
    oidc = OidcSettings(ISSUER, "instrc", "keys.json")
    sender = replace(BOSS, name=f"oidc:{ISSUER}#boss", by="token") if lost == "issuer" else BOSS

    async def body() -> None:
        made = service(tmp_path, settings=ServiceSettings(oidc=oidc if lost == "issuer" else None))
        identity = Identity(made.records, made.settings, made.signer)
        identity.new_key("ann", ["answerer"])
        for _ in range(2):
            identity.new_key("boss", ["operator"])
        run = (await made.start(BOSS, "letter", "x", wait=20)).report.run
        word = await made.link(sender, run, "userContext1", "key:ann")
        newest = sa.select(KEYS.c.id).where(KEYS.c.name == "boss").limit(1)
        made.records.execute(sa.delete(KEYS).where(KEYS.c.id.in_(newest)))  # they changed their key
        bearer = await made.linked(word)
        assert (bearer.name, bearer.sender) == ("ann", sender.name)
        made.settings = ServiceSettings(oidc=oidc)
        made.records.revoke("ann")
        assert (await made.linked(word)).name == "ann"  # not the subject of that name
        if lost == "revoked":
            made.records.revoke("boss")
        elif lost == "expired":
            made.records.execute(sa.update(KEYS).where(KEYS.c.name == "boss").values(expires=time() - 1))
        else:
            made.settings = ServiceSettings(oidc=replace(oidc, issuer=f"{ISSUER}/other"))
        async with client(made) as http:
            assert (await http.get(f"/v1/links/{word}")).status_code == 401
            assert (await http.post(f"/v1/links/{word}", json={"data": ANSWER})).status_code == 401

    go(body())


def test_a_link_ends_with_the_key_that_asked_for_it_though_its_owner_has_another(tmp_path: Path) -> None:
    """Who was operator would decide as the candidate, without a role."""

    async def body() -> None:
        made = service(tmp_path, pay=asking(**{"x-approvers": ["ann"]}))
        identity = Identity(made.records, made.settings, made.signer)
        first = await identity.bearer(identity.new_key("mal", ["operator"]))
        run = (await made.start(BOSS, "pay", "x", wait=20)).report.run
        word = await made.link(first, run, "userContext1", "ann")
        assert (await made.linked(word)).name == "ann"
        made.records.revoke("mal")
        identity.new_key("mal", ["viewer"])
        with pytest.raises(AuthenticationError, match="no longer has access"):
            await made.linked(word)

    go(body())


@pytest.mark.parametrize("turned_on", ["keys", "oidc"])
def test_a_link_that_was_asked_for_without_authentication_ends_when_it_is_on(turned_on: str, tmp_path: Path) -> None:
    """Whoever reached the port could ask for links, which would answer as the candidates for seven days."""

    async def body() -> None:
        made = service(tmp_path, pay=asking(**{"x-approvers": ["ann"]}))
        run = (await made.start(LOCAL, "pay", "x", wait=20)).report.run
        word = await made.link(LOCAL, run, "userContext1", "ann")
        assert (await made.linked(word)).name == "ann"
        if turned_on == "keys":
            Identity(made.records, made.settings, made.signer).new_key("boss", ["admin"])
        else:
            made.settings = ServiceSettings(oidc=OidcSettings(ISSUER, "instrc", "keys.json"))
        with pytest.raises(AuthenticationError, match="no longer has access"):
            await made.linked(word)

    go(body())


@pytest.mark.parametrize("program", ["pay", "outer", "deep"])
def test_nobody_starts_a_fork_with_their_own_approval_where_the_starter_may_not_approve(program: str, tmp_path: Path) -> None:
    """In the question of a run, and in a process behind an activity; by an answer, a link, and a copy of a deleted run's."""
    rule = {"x-approvers": ["ann", "cat"], "x-not": ["starter"]}
    people = {who: person(who, "operator", "answerer") for who in ("ann", "bob", "cat", "dan")}

    async def body() -> None:
        made = service(tmp_path, pay=asking(**rule))
        made.launchers[program] = calling(tmp_path, asking(**rule), program) if program != "pay" else made.launchers["pay"]
        for linked in (False, True):
            run = (await made.start(BOSS, program, "x", wait=20)).report.run
            [question] = (await made.run(BOSS, run)).report.questions
            word = await made.link(people["dan"], run, question.id, "ann") if linked else ""
            await made.answer(await made.linked(word) if linked else people["ann"], run, question.id, ANSWER)
            for who, caller in people.items():
                if who in ({"ann", "dan"} if linked else {"ann"}):
                    with pytest.raises(AccessError, match="their own approval"):
                        await made.fork(caller, run, ForkOptions())
                else:
                    copy = await made.fork(caller, run, ForkOptions())
                    await settled(made, copy.report.run, "done")
            for who in ("ann", "dan") if linked else ("ann",):
                with pytest.raises(AccessError, match="their own approval"):
                    await made.fork(people[who], copy.report.run, ForkOptions())
            anew = await made.fork(people["ann"], run, ForkOptions("approve" if program == "pay" else "consent"))
            await settled(made, anew.report.run, "waiting")
        if program == "pay":
            copy = (await made.fork(people["bob"], run, ForkOptions())).report.run
            await made.delete(BOSS, run)
            for who in ("ann", "dan"):  # who asked for the link, if anybody did, is not known any more
                with pytest.raises(AccessError, match="their own approval"):
                    await made.fork(people[who], copy, ForkOptions())

    go(body())


@pytest.mark.parametrize("behind", [False, True])
def test_an_own_approval_stays_one_in_a_version_where_its_step_has_another_number(behind: bool, tmp_path: Path) -> None:  # noqa: FBT001
    """Whoever approved, behind an activity or by a link, forks what somebody has forked with another version of the program."""
    rule = {"x-approvers": ["ann", "cat"], "x-not": ["starter"]}
    ann = person("ann", "operator", "answerer")

    def version(number: int) -> Any:
        asked = step({**DECISION, **rule}, "prompt")
        consent = call("Consent", "prompt", DECISION, "prompt")
        more = {"llmContext1": chunk(step1_draft=step(TEXT, "prompt"))} if number > 1 else {}
        if behind:
            return process(**more, serverContext1=chunk(**{f"step{number}_consent": consent}))
        return process(**more, **{f"userContext{number}": chunk(**{f"step{number}_approve": asked})})

    async def body() -> None:
        made = service(tmp_path, name="durable", records=str(tmp_path))
        launcher = calling(tmp_path, asking(**rule), "pay")
        first, second = (
            Launcher(replace(launcher.prepared, document=version(number)), rehearse="with-activities", model="sample")
            for number in (1, 2)
        )
        async with opened(made):
            made.launchers["pay"] = first
            run = (await made.start(BOSS, "pay", "x", wait=20)).report.run
            [question] = (await made.run(BOSS, run)).report.questions
            giver = ann if behind else await made.linked(await made.link(ann, run, question.id, "cat"))
            await made.answer(giver, run, question.id, ANSWER)
            await settled(made, run, "done")
            made.launchers["pay"] = second
            launch = await forked(made.engine, run, ForkOptions(run="copy"), lambda _: second)
            await made.engine.start(launch)
            await settled(made, "copy", "done")
            with pytest.raises(AccessError, match="their own approval"):
                await made.fork(ann, "copy", ForkOptions())
            again = await made.fork(person("bob", "operator"), "copy", ForkOptions())
            await settled(made, again.report.run, "done")

    go(body())


@pytest.mark.parametrize("served", ["Look", "Consent"])
def test_an_approval_of_an_activity_stays_one_when_something_else_or_nothing_serves_it(served: str, tmp_path: Path) -> None:
    """A release has renamed the activity, or a function serves it now; runs from before are forked."""
    ann = person("ann", "operator", "answerer")

    async def body() -> None:
        made = service(tmp_path, records=str(tmp_path))
        made.launchers["outer"] = calling(tmp_path, asking(**{"x-approvers": ["ann"], "x-not": ["starter"]}), "outer")
        run = (await made.start(BOSS, "outer", "x", wait=20)).report.run
        [question] = (await made.run(BOSS, run)).report.questions
        await made.answer(ann, run, question.id, ANSWER)
        await settled(made, run, "done")
        (tmp_path / "pyproject.toml").write_text(f'[tool.instrc.activities]\n"{served}" = "breaking:look"\n')
        now = process(serverContext1=chunk(step1_look=call(served, "prompt", TEXT, "prompt")))
        prepared = Prepared("outer", now, tmp_path, read_settings(tmp_path))
        made.launchers["outer"] = Launcher(prepared, rehearse="with-activities")
        with pytest.raises(AccessError, match="is the answer of a person"):
            await made.fork(person("bob", "operator"), run, ForkOptions(edits={"consent": ANSWER}))
        with pytest.raises(AccessError, match="their own approval"):
            await made.fork(ann, run, ForkOptions())

    go(body())


@pytest.mark.parametrize("excludes", [True, False])
def test_an_approval_keeps_the_rule_under_which_it_was_given(excludes: bool, tmp_path: Path) -> None:  # noqa: FBT001  -- a row
    """A release has changed the rule of the process that asked, or the service that is asked for a fork does not have it yet."""
    strict, ann = asking(**{"x-approvers": ["ann"], "x-not": ["starter"]}), person("ann", "operator", "answerer")
    before, after = (strict, asking()) if excludes else (asking(), strict)

    async def body() -> None:
        made = service(tmp_path, records=str(tmp_path))
        made.launchers["outer"] = calling(tmp_path, before)
        run = (await made.start(BOSS, "outer", "x", wait=20)).report.run
        [question] = (await made.run(BOSS, run)).report.questions
        await made.answer(ann, run, question.id, ANSWER)
        await settled(made, run, "done")
        shutil.rmtree(tmp_path / "schemas")
        made.launchers["outer"] = calling(tmp_path, after)
        with pytest.raises(AccessError, match="their own approval") if excludes else nullcontext():
            await made.fork(ann, run, ForkOptions())

    go(body())


def test_nobody_gives_the_answer_that_a_person_is_asked_for_by_a_process_of_another_version(tmp_path: Path) -> None:
    async def body() -> None:
        made = service(tmp_path, records=str(tmp_path))
        made.launchers["outer"] = calling(tmp_path, asking())
        run = (await made.start(BOSS, "outer", "x", wait=20)).report.run
        await settled(made, run, "waiting")
        (tmp_path / "pyproject.toml").write_text('[tool.instrc.activities]\n"Consent" = "breaking:look"\n')
        prepared = replace(made.launchers["outer"].prepared, settings=read_settings(tmp_path))
        made.launchers["outer"] = Launcher(prepared, rehearse="with-activities")
        with pytest.raises(AccessError, match="is the answer of a person"):
            await made.fork(person("bob", "operator"), run, ForkOptions(edits={"consent": ANSWER}))
        report = (await made.run(BOSS, run)).report
        place, _, below = report.questions[0].id.partition("/")
        again = replace(report, questions=(replace(report.questions[0], id=f"{place}~2/{below}"),))  # begun anew by a retry
        limited = made.visibility.limited(ForkOptions(), again, BOSS, {})
        assert limited.protects({"kind": "activity", "activity": "Consent", "id": place})

    go(body())


def test_a_fork_looks_at_each_answer_once_however_many_results_it_reuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[Vote] = []
    may_be_of = Vote.may_be_of

    def counted(self: Vote, other: Vote) -> bool:
        looked.append(self)
        return may_be_of(self, other)

    async def body() -> None:
        made = service(tmp_path, records=str(tmp_path))
        made.launchers["outer"] = calling(tmp_path, asking(**{"x-not": ["starter"]}), "outer")
        report = (await made.start(BOSS, "outer", "x", wait=20)).report
        places = [f"serverContext1.step1_consent@{number}" for number in range(50)]
        votes = {f"{place}/userContext1": [Vote("cat", "key", 1.0, ANSWER)] for place in places}
        votes[f"{places[7]}/userContext1"] = [Vote("ann", "key", 1.0, ANSWER)]
        monkeypatch.setattr(Vote, "may_be_of", counted)
        limited = made.visibility.limited(ForkOptions(), report, person("ann", "operator"), votes)
        asked: Any = {"kind": "activity", "activity": "Consent"}
        assert [place for place in places if limited.excludes({**asked, "id": place}, {"ok": 1})] == [places[7]]
        assert len(looked) == len(places)

    go(body())


def test_a_fork_does_not_reuse_an_own_approval_that_arrives_meanwhile(tmp_path: Path) -> None:
    """Behind an activity, no result says who gave it: only the votes do, which are read beside the journal."""
    rule = {"x-approvers": ["ann", "cat"], "x-not": ["starter"]}
    ann = person("ann", "operator", "answerer")

    async def body() -> None:
        made = service(tmp_path, pay=asking(**rule))
        made.launchers["outer"] = calling(tmp_path, asking(**rule), "outer")
        run = (await made.start(BOSS, "outer", "x", wait=20)).report.run
        [question] = (await made.run(BOSS, run)).report.questions
        journal = made.engine.journal

        async def late(of: str) -> Any:
            made.engine.journal = journal  # type: ignore[method-assign]  # once
            await made.answer(ann, run, question.id, ANSWER)
            return await journal(of)

        made.engine.journal = late  # type: ignore[method-assign]  # the answer comes after the fork was allowed
        with pytest.raises(AccessError, match="their own approval"):
            await made.fork(ann, run, ForkOptions())

    go(body())


def test_a_fork_of_a_run_of_another_project_is_protected_whatever_the_settings_here_say(tmp_path: Path) -> None:
    """Two projects share a store, and have programs of one name."""

    async def body() -> None:
        made = service(tmp_path, settings=ServiceSettings(allow_fork_person_steps=True), pay=asking())
        pay = made.launchers["pay"]
        pay.config = replace(pay.config, project="another")
        run = (await made.start(BOSS, "pay", "x", wait=20)).report.run
        with pytest.raises(AccessError, match="is the answer of a person"):
            await made.fork(BOSS, run, ForkOptions(edits={"approve": ANSWER}))

    go(body())


@pytest.mark.parametrize("project", ["another", None])
def test_a_group_excludes_its_members_in_the_services_of_all_projects(project: str | None, tmp_path: Path) -> None:
    """The settings of the project of the run say who is in it, and a service of another project has none or others."""
    rule = {"x-approvers": ["ann", "bob"], "x-not": ["group:auditors"]}
    ann = person("ann", "answerer")

    async def body() -> None:
        made = service(tmp_path, settings=ServiceSettings(groups={"auditors": ("bob",)}), pay=asking(**rule))
        pay = made.launchers["pay"]
        pay.config = replace(pay.config, project=project)
        run = (await made.start(BOSS, "pay", "x", wait=20)).report.run
        if project is None:
            del made.launchers["pay"]
        for work in (made.answer(ann, run, "userContext1", ANSWER), made.claim(ann, run, "userContext1")):
            with pytest.raises(AccessError, match="cannot tell whom the rule excludes"):
                await work
        made.launchers["pay"] = pay
        if project is None:
            await made.answer(ann, run, "userContext1", ANSWER)

    go(body())


@pytest.mark.parametrize("allowed", [False, True])
@pytest.mark.parametrize(("program", "step"), [("letter", "approve"), ("outer", "consent")])
def test_a_fork_sets_no_answer_of_a_person_unless_the_settings_allow_it(
    program: str,
    step: str,
    allowed: bool,  # noqa: FBT001
    tmp_path: Path,
) -> None:
    """Also not that of a person in a process that serves an activity."""

    async def body() -> None:
        made = service(tmp_path, settings=ServiceSettings(allow_fork_person_steps=allowed), letter=LETTER)
        made.launchers["outer"] = calling(tmp_path, asking())
        async with client(made, person("op", "operator", "starter")) as http:
            run = await begun(http, program)
            sent = await http.post(f"/v1/runs/{run}/fork", json={"set": {step: ANSWER}})
            assert sent.status_code == (201 if allowed else 403), sent.text
            other = await http.post(f"/v1/runs/{run}/fork", json={"set": {}})
            assert other.status_code == 201  # other forks are as they were
            if not allowed:
                return
            forked = sent.json()["forked"]
            assert forked["by"] == {"who": "op", "means": "key"}
            [digest] = forked["edits"].values()
            audited = audit_log(made.records, AuditFilter(sent.json()["run"], action="set"), 9)
            assert [(row.who, row.question, row.digest) for row in audited] == [("op", step, digest)]

    go(body())


BREAKING = """import instrc

@instrc.activity("Look", retry=instrc.Retry(attempts=1))
def look(_given):
    raise instrc.ActivityError("down", code="503")
"""


def calling(folder: Path, inner: Any, name: str = "outer") -> Launcher:
    """Return the launcher of a program with one activity, which a process serves; if it is `deep`, by another one."""
    (folder / "schemas").mkdir()
    (folder / "schemas/inner.vibe.json").write_text(json.dumps({"title": "Consent", **inner}))
    (folder / "breaking.py").write_text(BREAKING)
    outer = process(serverContext1=chunk(step1_consent=call("Consent", "prompt", DECISION, "prompt")))
    (folder / "schemas/middle.vibe.json").write_text(json.dumps({"title": "Middle", **outer}))
    activities = '"Consent" = "aug:inner"\n"Look" = "breaking:look"\n"Middle" = "aug:middle"\n'
    if name == "deep":
        outer = process(serverContext1=chunk(step1_consent=call("Middle", "prompt", DECISION, "prompt")))
    (folder / "pyproject.toml").write_text(f'[tool.instrc.run]\nfailed = "hold"\n[tool.instrc.activities]\n{activities}')
    return Launcher(Prepared(name, outer, folder, read_settings(folder)), rehearse="with-activities")


@pytest.mark.parametrize("project", ["another", None])
def test_settings_of_the_project_of_a_run_name_its_candidates(project: str | None, tmp_path: Path) -> None:
    """A service carries runs of other projects, too; one without a name is another where other settings apply."""
    (tmp_path / "pyproject.toml").write_text('[tool.instrc.people."pay.approve"]\ncandidates = ["cat"]\n')
    config, asked = RunConfig(folder=str(tmp_path), project=project), Question("u", ("step1_approve",), {}, DECISION)
    own = service(tmp_path, letter=LETTER).visibility.opening
    assert opening_for(config, own, lambda: True, "pay", asked).candidates == ["cat"]


@pytest.mark.parametrize("project", ["", '[project]\nname = "desk"\n'])
def test_a_service_names_no_candidates_for_programs_of_unnamed_projects_of_others(
    project: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder of their project is on another machine."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text(project)
    asked = Question("u", ("step1_approve",), {}, DECISION)
    own = service(tmp_path, letter=LETTER).visibility.opening
    for program, candidates in (("letter", ["*"]), ("pay", [NOBODY])):
        assert opening_for(RunConfig(folder="/elsewhere"), own, lambda: True, program, asked).candidates == candidates


def test_questions_of_processes_that_an_earlier_release_recorded_are_asked_anew(tmp_path: Path) -> None:
    """They were those of a program named after the activity, for everybody."""

    async def body() -> None:
        made = service(tmp_path, pay=asking())
        run = (await made.start(BOSS, "pay", "x", wait=20)).report.run
        report = (await made.run(BOSS, run)).report
        made.records.execute(sa.update(QUESTIONS).where(QUESTIONS.c.run == run).values(program="Consent"))
        assert made.records.question(run, "userContext1").program == "Consent"  # type: ignore[union-attr]
        made.records.note(report, made.visibility.opening_in(report))
        assert made.records.question(run, "userContext1").program == "pay"  # type: ignore[union-attr]

    go(body())


@pytest.mark.parametrize("engine", ["memory", "durable"])
def test_a_question_of_a_process_is_for_the_people_of_its_program(
    engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where a run of its own asks it, which is named after the activity."""

    async def body() -> None:
        people = {"outer.approve": PeopleSettings(("cat",))}
        made = service(tmp_path, name=engine, records=str(tmp_path / "kept"), settings=ServiceSettings(people=people))
        made.launchers["outer"] = calling(tmp_path, asking())
        cat, eve = person("cat", "answerer", program="outer"), person("eve", "answerer")
        async with opened(made):
            run = (await made.start(BOSS, "outer", "x", wait=10)).report.run
            [asked] = (await settled(made, run, "waiting")).report.questions
            assert {change.program for change in made.records.feed(0)} == {"outer"}
            assert [len((await made.questions(each, mine=True)).rows) for each in (cat, eve)] == [1, 0]
            with pytest.raises(NotFoundError):
                await made.answer(eve, run, asked.id, ANSWER)
            await made.answer(cat, run, asked.id, ANSWER)
            await settled(made, run, "done")

    monkeypatch.chdir(tmp_path)  # whose settings apply
    go(body())


@pytest.mark.parametrize("allowed", [False, True])
def test_an_operator_gives_no_result_that_people_give_in_a_process(allowed: bool, tmp_path: Path) -> None:  # noqa: FBT001
    """A process that fails before it asks holds its run; its result is an approval all the same."""

    async def body() -> None:
        made = service(tmp_path, settings=ServiceSettings(allow_fork_person_steps=allowed), letter=LETTER)
        look = chunk(step1_look=call("Look", "prompt", TEXT, "prompt"))
        inner = process(serverContext1=look, userContext1=chunk(step2_approve=step(DECISION, "step1_look")))
        made.launchers["outer"] = calling(tmp_path, inner)
        async with client(made, person("op", "operator", "starter")) as http:
            run = await begun(http, "outer")
            place = f"/v1/questions/{run}:serverContext1.step1_consent"
            seen = (await http.get(f"/v1/runs/{run}")).json()
            assert seen["status"] == "held", seen
            sent = await http.post(f"{place}/answer", json={"data": {"result": ANSWER}})
            assert sent.status_code == (200 if allowed else 403), sent.text
            if not allowed:
                assert (await http.post(f"{place}/answer", json={"data": {"fail": True}})).status_code == 200

    go(body())


def test_an_operator_gives_no_result_behind_which_people_have_answered_in_another_version(tmp_path: Path) -> None:
    """A release lets a function do what a process did, which failed after somebody had answered in it."""

    async def body() -> None:
        made = service(tmp_path, letter=LETTER)
        look = chunk(step2_look=call("Look", "step1_approve", TEXT, "prompt"))
        inner = process(userContext1=chunk(step1_approve=step(DECISION, "prompt")), serverContext1=look)
        made.launchers["outer"] = calling(tmp_path, inner)
        op = person("op", "operator", "starter", "answerer")
        run = (await made.start(op, "outer", "x", wait=20)).report.run
        [question] = (await made.run(op, run)).report.questions
        await made.answer(op, run, question.id, ANSWER)
        held = (await settled(made, run, "held")).report.questions[0].id
        (tmp_path / "pyproject.toml").write_text('[tool.instrc.activities]\n"Consent" = "breaking:look"\n')
        prepared = replace(made.launchers["outer"].prepared, settings=read_settings(tmp_path))
        made.launchers["outer"] = Launcher(prepared, rehearse="with-activities")
        with pytest.raises(AccessError, match="people decide in the process"):
            await made.answer(op, run, held, {"result": ANSWER})

    go(body())


def test_what_holds_a_run_is_shown_to_nobody_whom_the_settings_ask_in_its_place(tmp_path: Path) -> None:
    """It shows what a service was given and said; candidates of the settings are people who are asked by the program."""

    async def body() -> None:
        people = {"*": PeopleSettings(("cat", "op"))}
        made, op, cat = (
            service(tmp_path, settings=ServiceSettings(people=people)),
            person("op", "operator"),
            person("cat", "answerer"),
        )
        look = process(serverContext1=chunk(step1_look=call("Look", "prompt", TEXT, "prompt")))
        calling(tmp_path, asking())  # writes the settings
        made.launchers["looking"] = Launcher(
            Prepared("looking", look, tmp_path, read_settings(tmp_path)), rehearse="with-activities"
        )
        run = (await settled(made, (await made.start(BOSS, "looking", "secret")).report.run, "held")).report.run
        assert len((await made.questions(op)).rows) == 1
        assert (await made.questions(cat)).rows == ()
        with pytest.raises(NotFoundError):
            await made.run(cat, run)

    go(body())


@pytest.mark.parametrize("given", [{"result": {"text": "seen"}}, {"fail": True}])
def test_a_decision_of_an_operator_that_is_sent_twice_is_not_taken_back(given: Any, tmp_path: Path) -> None:
    async def body() -> None:
        made, op = service(tmp_path), person("op", "operator", "starter")
        look = process(serverContext1=chunk(step1_look=call("Look", "prompt", TEXT, "prompt")))
        calling(tmp_path, asking())  # writes the settings
        made.launchers["looking"] = Launcher(
            Prepared("looking", look, tmp_path, read_settings(tmp_path)), rehearse="with-activities"
        )
        run = (await settled(made, (await made.start(op, "looking", "x")).report.run, "held")).report.run
        [question] = (await made.run(op, run)).report.questions
        await asyncio.gather(*(made.answer(op, run, question.id, given) for _ in range(3)), return_exceptions=True)
        await settled(made, run, "failed" if "fail" in given else "done")
        assert [each.action for each in audit_log(made.records, AuditFilter(run, "op"), 9)] == ["answer", "start"]
        assert [vote.data for vote in made.records.votes(run)[question.id]] == [given]

    go(body())


def test_the_question_of_a_process_that_was_restarted_has_an_address() -> None:
    for place in ("userContext1", "serverContext1.step1_ask/userContext1", "serverContext1.step1_ask~2/each~12/userContext1"):
        asked = RequestData({"question": question_id("r-1", place)}, {}, {}, {})
        assert asked.question == ("r-1", place)


def test_a_process_that_a_plan_names_in_a_served_process_asks_people() -> None:
    """The plan is that of the process that serves an activity, so the program itself does not know what it names."""
    plan = {"tools": {"Consent": {"process": "aug:ask", "input": {}, "output": DECISION}}}
    inner = process(serverContext1=chunk(step1_run=call("RunPlan_Activity", "prompt", {"type": "array"}, plan=plan)))
    served = Activities({"Pay": Activity("Pay", None, inner, processes={"aug:ask": asking()})})
    outer = process(serverContext1=chunk(step1_pay=call("Pay", "prompt")))
    made = Launcher(Prepared("outer", outer, Path(), Settings()), local=LocalObjects(activities=served))
    assert made.asks_people("Consent")
    assert made.asks_people("Pay")


@pytest.mark.long  # a run in a database
def test_a_child_is_no_run_of_its_own(tmp_path: Path) -> None:
    """Its rules are those of the run that it is a part of, so no protocol reaches it by its id."""

    async def body() -> None:
        made = service(tmp_path, name="durable")
        made.launchers["outer"] = calling(tmp_path, asking())
        async with opened(made):
            info = await made.start(BOSS, "outer", "x", wait=20)
            [question] = info.report.questions
            child, _, asked = question.id.rpartition("/")
            run = f"{info.report.run}/{child}"
            assert (await made.engine.show(run)).status == "waiting"
            for work in (made.run(BOSS, run), made.cancel(BOSS, run), made.answer(BOSS, run, asked, ANSWER)):
                with pytest.raises(NotFoundError):
                    await work

    go(body())


def test_whoever_is_asked_sees_what_is_shown_and_no_more(tmp_path: Path) -> None:
    """Not the trace, not the result, not the questions of others, over any stream; a viewer and the starter see all."""

    async def body() -> None:
        made = service(tmp_path)
        async with client(made, BOSS) as http:
            run = await begun(http, "letter")
        async with client(made, person("cat", "answerer")) as http:
            place = f"/v1/runs/{run}"
            seen = (await http.get(place)).json()
            assert [each["id"] for each in seen["questions"]] == [f"{run}:userContext1"]
            assert (await http.get(f"{place}/trace")).status_code == 403
            done = await http.post(f"/v1/questions/{run}:userContext1/answer", json={"data": ANSWER})
            assert done.json()["status"] == "done"
            for answer in (done, await http.get(place)):
                assert not {"output", "value", "error"} & answer.json().keys()
            told = (await http.get(f"{place}/events")).text
            assert "event: snapshot" in told
            assert "event: answered" not in told
            assert (await http.get(f"{place}/trace")).status_code == 403
        async with client(made, person("eve", "viewer")) as http:
            assert "value" in (await http.get(place)).json()
            assert (await http.get(f"{place}/trace")).json()["items"]

    go(body())


# --- names of several issuers -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "rule",
    [
        {"x-approvers": []},
        {"x-approvers": 5},
        {"x-approvers": ["x" * 501]},  # no index of a database holds it
        {"x-approvers": ["ann"] * 1001},  # each is compared, and stored for each question
        {"x-approvers": ["ann"], "x-not": ["eve"] * 1001},
        {"x-approvers": {"ann": True}},
        {"x-approvers": ["ann"], "x-needed": "2"},
        {"x-needed": True},
        {"x-approvers": ["ann"], "x-not": 5},
        {"x-approvers": ["ann"], "x-not": None},  # the value of an argument that is missing
        {"x-approvers": ["ann"], "x-not": [{"name": "eve"}]},
        {"properties": {"s": {"x-approvers": ["ann"]}, "t": {"x-approvers": ["bob"]}}},  # nobody fits both steps
    ],
)
def test_a_rule_that_names_nobody_or_cannot_be_read_lets_nobody_answer(rule: dict[str, Json]) -> None:
    assert approval_of(Question("q", (), {}, rule, "person"), ["bob"]).approvers == (NOBODY,)


@pytest.mark.parametrize(
    "schema",
    [
        {"oneOf": [{"x-approvers": ["ann", "bob"]}, {"x-approvers": ["ann", "cat"]}], "x-needed": 2, "x-not": ["starter"]},
        {"anyOf": [{"x-approvers": ["ann"], "x-not": ["starter"]}, {"x-needed": 2}]},
        {"allOf": [{"x-approvers": ["bob", "ann"], "x-needed": 2}, {"x-approvers": ["ann"], "x-needed": 1, "x-not": "starter"}]},
        {"if": {}, "then": {"x-approvers": ["ann"], "x-needed": 2, "x-not": ["starter"]}},
        {"$ref": "#/$defs/a", "$defs": {"a": {"x-approvers": ["ann"], "x-needed": 2, "x-not": ["starter"]}}},
        {"properties": {"to": {"properties": {"it": {"x-approvers": ["ann"], "x-needed": 2, "x-not": ["starter"]}}}}},
        {"x-approvers": ["ann"], "x-not": ["starter"], "x-needed": 2, "const": {"x-approvers": ["eve"], "x-needed": 3}},
    ],
)
def test_a_rule_in_any_part_of_a_schema_counts(schema: dict[str, Json]) -> None:
    """Also where several parts have one, and after the compiler has made one schema of them."""
    flat = instrc.flatten({**schema, "x-veto": False, "x-links": True})
    for part in ({**schema, "x-veto": False, "x-links": True}, flat):
        rule = approval_of(Question("q", ("s",), {}, part, "person"), ["zed"])
        assert rule == Approval(("ann",), 2, veto=False, excluded=frozenset({"starter", "zed"}), outsiders=True), part


def test_one_question_of_several_steps_keeps_the_rule_of_each() -> None:
    first: Json = {"x-approvers": ["ann", "bob"], "x-needed": 2, "x-not": ["eve"], "x-claim": "PT1H"}
    second: Json = {"x-approvers": ["*"], "x-needed": 1, "x-veto": False, "x-not": "starter", "x-links": True, "x-claim": "PT2H"}
    for steps in ({"s": first, "t": second}, {"s": second, "t": first}):
        asked = Question("q", ("s", "t"), {}, {"properties": steps}, "person")
        rule = approval_of(asked, ["zed"])
        assert rule == Approval(("ann", "bob"), 2, veto=False, claim=3600.0, excluded=frozenset({"eve", "starter", "zed"}))
        settings = ServiceSettings(people={"s": PeopleSettings(("ann", "bob"), 60.0), "t": PeopleSettings(("bob", "cat"))})
        opening = opening_of(settings, lambda: True, "p", replace(asked, schema={}))
        assert (opening.candidates, opening.due is None) == (["bob"], False)


MODEL = {"type": "object", "properties": {"ann": {"const": ["eve"]}, "text": TEXT}, "required": ["ann"]}
"""An answer of a model with a member whose name is that of an approver."""


@pytest.mark.parametrize(
    ("arguments", "rule", "approvers", "excluded"),
    [
        (None, {"x-approvers": "ann", "x-not": "ann"}, ("ann",), {"ann"}),
        ("step1_draft", {"x-approvers": "ann", "x-not": "ann"}, ("ann",), {"ann"}),
        ({"draft": "step1_draft"}, {"x-approvers": "ann", "x-not": "ann"}, ("ann",), {"ann"}),
        ({"ann": "step1_draft.ann"}, {"x-approvers": "ann", "x-not": "ann"}, ("eve",), {"eve"}),
        ({"starter": "step1_draft.ann"}, {"x-approvers": "starter", "x-not": "starter"}, ("eve",), {"boss", "starter"}),
        ({"ann": "step1_draft.ann"}, {"allOf": [{"x-approvers": "ann"}, {"x-not": "ann"}]}, ("eve",), {"eve"}),
        ({"who": "step1_draft.missing"}, {"x-approvers": ["ann"], "x-not": "who"}, (NOBODY,), set()),
    ],
)
@pytest.mark.parametrize("steps", [1, 2])
def test_only_an_argument_names_who_approves(
    arguments: Json, rule: Any, approvers: tuple[str, ...], excluded: set[str], steps: int, tmp_path: Path
) -> None:
    """Not a member of what is shown: whoever starts a run may give it, and a model may answer so."""

    async def body() -> None:
        asked = step({**DECISION, **rule}, "step1_draft", arguments=arguments)
        form = {"step2_approve": asked, "step3_read": step(TEXT, "step1_draft", arguments="step1_draft")}
        shown = chunk(**dict([*form.items()][:steps]))
        made = service(tmp_path, pay=process(llmContext1=chunk(step1_draft=step(MODEL, "prompt")), userContext1=shown))
        run = (await made.start(BOSS, "pay", "x", wait=20)).report.run
        found = await made.question(BOSS, run, "userContext1")
        assert (found.approval.approvers, tuple(found.candidates), found.approval.excluded) == (approvers, approvers, excluded)

    go(body())


INVISIBLE = [f"o{each}p" for each in "\u00ad\u034f\u115f\u17b4\u180b\u2065\u2800\u3164\ufe0f\uffa0\U000e0061\U000e0100\ud800"]


@pytest.mark.parametrize("text", ["op ", " op", "o\u200bp", "\uff4f\uff50", "op\u00a0", "o\0p", "\x1bop\n", *INVISIBLE])
def test_names_are_compared_in_one_form(text: str) -> None:
    assert normal_name(text) == "op"
    rule = approval_of(Question("q", (), {}, {"x-not": [text]}, "person"), ())
    assert rule.excluded == {"op"}


@pytest.mark.parametrize("text", ["starter", "starter ", " Starter", "st\u200barter", "\uff53tarter"])
def test_the_starter_is_excluded_however_the_word_is_written(text: str) -> None:
    rule = approval_of(Question("q", (), {}, {"x-not": ["ann", text]}, "person"), ["stan", None, ERASED])
    assert rule.excluded >= {"ann", "stan", ALL}


def test_a_name_in_its_form_stays_as_it_is() -> None:
    for text in ("Rene\u200d\u0301", "a\u2800\u0301", "\u1112\ufe0f\u1161", "a \u200b b"):
        assert normal_name(normal_name(text)) == normal_name(text)
    assert normal_name("Rene\u200d\u0301") == "Ren\u00e9"


@pytest.mark.parametrize(
    ("names", "word", "read"),
    [
        (NameRules(), "ann", ("ann",)),
        (NameRules(), "key:ann", ("ann",)),
        (NameRules(ISSUER, has_keys=False), "ann", (f"oidc:{ISSUER}#ann",)),
        (NameRules(ISSUER, has_keys=True), "ann", ("ann", f"oidc:{ISSUER}#ann")),
        (NameRules(ISSUER, has_keys=True), "key:ann", ("ann",)),
        (NameRules(ISSUER, has_keys=True), "group:leads", ("group:leads",)),
        (NameRules(ISSUER, has_keys=True), "*", ("*",)),
        (NameRules(ISSUER, has_keys=True), "Group: leads", ("group:leads",)),
        (NameRules(ISSUER, has_keys=True), "\uff4b\uff45\uff59 : ann", ("ann",)),
    ],
)
def test_a_bare_name_is_of_the_only_issuer(names: NameRules, word: str, read: tuple[str, ...]) -> None:
    assert names.read(word) == read
    asked = Question("q", (), {}, {"x-approvers": [word], "x-not": [word]}, "person")
    rule = approval_of(asked, (), names)
    assert rule.excluded == {*read}
    assert rule.approvers == (read if len(read) == 1 else (NOBODY,))


def test_a_key_has_no_name_of_another_issuer(tmp_path: Path) -> None:
    made = service(tmp_path)
    identity = Identity(made.records, made.settings, made.signer)
    reserved = ("group:staff", "oidc:https://id.example#ann", "key:ann", "link:ann", "erased:", "*", "local")
    for name in (*reserved, " ", "\u200b", " group:staff", "Group:staff", "KEY : ann"):
        with pytest.raises(SettingsError):
            identity.new_key(name)


def test_ambiguous_names_are_refused_when_the_service_starts(tmp_path: Path) -> None:
    oidc = OidcSettings(ISSUER, "instrc", "keys.json")
    for settings, document, word in (
        (ServiceSettings(oidc=oidc, roles={"*": {"viewer": ("ann", "group:staff")}}), LETTER, "ann"),
        (ServiceSettings(oidc=oidc, groups={"leads": ("key:ann", "bob")}), LETTER, "bob"),
        (ServiceSettings(oidc=oidc, people={"*": PeopleSettings(("*", "cat"))}), LETTER, "cat"),
        (ServiceSettings(oidc=oidc), asking(**{"x-approvers": ["dan"]}), "dan"),
        (ServiceSettings(oidc=oidc), asking(**{"x-not": ["starter", "eve"]}), "eve"),
    ):
        made = service(tmp_path, settings=settings, letter=document)
        require_clear_names(made.settings, made.visibility.names, made.launchers)  # the identity provider is the only issuer
        Identity(made.records, settings, made.signer).new_key("robot")
        with pytest.raises(SettingsError, match=word):
            require_clear_names(made.settings, made.visibility.names, made.launchers)
        made.records.revoke("robot")
    clear = ServiceSettings(oidc=oidc, roles={"*": {"viewer": ("key:ann", "group:staff", f"oidc:{ISSUER}#bob", "*")}})
    made = service(tmp_path, settings=clear)
    Identity(made.records, clear, made.signer).new_key("robot")
    require_clear_names(made.settings, made.visibility.names, made.launchers)


@pytest.mark.parametrize("other", [f"oidc:{ISSUER}/#ann", "oidc:https://id.example.org#ann", f"oidc:{ISSUER}"])
def test_names_of_another_identity_provider_are_refused_when_the_service_starts(other: str, tmp_path: Path) -> None:
    """A rule would exclude nobody by them."""
    oidc = OidcSettings(ISSUER, "instrc", "keys.json")
    for groups, document in (({"leads": (other,)}, LETTER), ({}, asking(**{"x-not": [other]}))):
        made = service(tmp_path, settings=ServiceSettings(oidc=oidc, groups=groups), letter=document)
        with pytest.raises(SettingsError, match=f"of another identity provider than `{ISSUER}`"):
            require_clear_names(made.settings, made.visibility.names, made.launchers)


def test_subjects_of_an_older_store_get_their_issuer_once(tmp_path: Path) -> None:
    async def body() -> None:
        made = service(tmp_path)
        callers = {"ann": "token", "bob": "key", "cat": "token"}
        runs = {}
        for name, means in callers.items():
            caller = replace(person(name, "starter"), by=means)  # type: ignore[arg-type]  # one of them
            runs[name] = (await made.start(caller, "letter", "x", wait=20)).report.run
            await settled(made, runs[name], "waiting")
            await made.claim(replace(BOSS, name=name, by=means), runs[name], "userContext1")  # type: ignore[arg-type]  # as above
        Identity(made.records, made.settings, made.signer).new_key("cat")  # who also has a key may be either
        made.records.name_subjects(ISSUER)
        starters = {name: (await made.run(BOSS, run)).starter for name, run in runs.items()}
        assert starters == {"ann": f"oidc:{ISSUER}#ann", "bob": "bob", "cat": "cat"}
        assert (await made.question(BOSS, runs["ann"], "userContext1")).claimed_by == f"oidc:{ISSUER}#ann"
        made.records.name_subjects("https://other.example")
        assert (await made.run(BOSS, runs["ann"])).starter == f"oidc:{ISSUER}#ann"

    go(body())


def test_the_same_name_of_two_issuers_is_two_people(tmp_path: Path) -> None:
    async def body() -> None:
        made = service(tmp_path)
        run = (await made.start(replace(person("op", "starter"), name="op"), "letter", "x")).report.run
        token = replace(person("op", "starter"), name=f"oidc:{ISSUER}#op", by="token")
        with pytest.raises(InstrcError):
            await made.run(token, run)
        with pytest.raises(AccessError):
            (await made.run(person("op", "starter"), run)) and token.require("viewer", "letter", "see")
        assert f"oidc:{ISSUER}#group:staff" not in replace(token, groups=frozenset({"staff"})).as_candidates

    go(body())


def test_who_was_asked_in_a_run_sees_no_question_to_others(tmp_path: Path) -> None:
    ann, bob = person("ann", "answerer"), person("bob", "answerer")
    letter = process(
        userContext1=chunk(step1_approve=step({**DECISION, "x-approvers": ["ann"]}, "prompt")),
        userContext2=chunk(step2_check=step({**DECISION, "x-approvers": ["bob"]}, "prompt", "step1_approve")),
    )

    async def body(made: RunService) -> None:
        run = (await made.start(BOSS, "letter", "a secret of bob", wait=20)).report.run
        await made.answer(ann, run, "userContext1", {"decision": "Approve"})
        await settled(made, run, "waiting")
        assert (await made.question(bob, run, "step2_check")).question.show is not None
        for name in ("userContext2", "step2_check", "no such question"):
            for ask in (made.question(ann, run, name), made.answer(ann, run, name, ANSWER), made.claim(ann, run, name)):
                with pytest.raises(NotFoundError) as refused:
                    await ask
                assert "step2" not in f"{refused.value.problems[0].hint}"

    on(service(tmp_path, letter=letter), body)


def test_a_claim_gives_no_right_that_its_holder_has_lost_unless_it_was_delegated(tmp_path: Path) -> None:
    settings = ServiceSettings(people={"approve": PeopleSettings(("group:leads",))})
    boss, ann = person("boss", "operator", "starter"), person("ann", "answerer", groups=("leads",))
    left, eve = replace(ann, groups=frozenset()), person("eve", "answerer")

    async def body(made: RunService) -> None:
        run = (await made.start(boss, "pay", "x", wait=20)).report.run
        for _ in range(2):  # also if it is prolonged
            assert (await made.claim(ann, run, "userContext1")).claimed_by == "ann"
        for ask in (made.question(left, run, "userContext1"), made.claim(left, run, "userContext1", to="eve")):
            with pytest.raises(NotFoundError):
                await ask
        assert refusal_of("answer", await made.question(boss, run, "userContext1"), left, time()) is not None
        assert refusal_of("delegate", await made.question(boss, run, "userContext1"), left, time(), eve) is not None
        for holder, to in ((boss, "eve"), (eve, "eve")):
            assert (await made.claim(holder, run, "userContext1", to=to)).given
        await made.answer(eve, run, "userContext1", ANSWER)
        await settled(made, run, "done")

    on(service(tmp_path, settings=settings, pay=asking()), body)


@pytest.mark.parametrize("to", ["ann", None])
@pytest.mark.parametrize("action", ["claim", "delegate", "release"])
def test_a_hold_that_is_taken_back_meanwhile_gives_no_right(
    action: str, to: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = ServiceSettings(people={"approve": PeopleSettings(("ann",))})
    boss, eve = person("boss", "operator", "starter"), person("eve", "answerer")

    async def body(made: RunService) -> None:
        run = (await made.start(boss, "pay", "x", wait=20)).report.run
        assert (await made.claim(boss, run, "userContext1", to="eve")).given
        change = made.records.claim

        def late(row: QuestionRow, *asked: Any) -> object:
            monkeypatch.undo()
            change(row, to or "eve", to and time() + 60, "admin")  # what an operator does just before
            return change(row, *asked)

        monkeypatch.setattr(made.records, "claim", late)
        with pytest.raises((NotFoundError, AccessError, ConflictError)):
            await {
                "claim": lambda: made.claim(eve, run, "userContext1"),
                "delegate": lambda: made.claim(eve, run, "userContext1", to="cat"),
                "release": lambda: made.release(eve, run, "userContext1"),
            }[action]()
        assert (await made.question(boss, run, "userContext1")).claimed_by == to

    on(service(tmp_path, settings=settings, pay=asking()), body)


def test_a_result_that_a_system_gives_later_is_given_by_its_candidates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # the folder of the service
    settings = ServiceSettings(people={"send": PeopleSettings(("bank",))})
    sends = process(serverContext1=chunk(step1_send=call("Send", "prompt", TEXT)))

    async def body(made: RunService) -> None:
        (tmp_path / "sending.py").write_text("import instrc\n\ndef send(_given):\n    return instrc.PENDING\n")
        (tmp_path / "pyproject.toml").write_text('[tool.instrc.activities]\n"Send" = "sending:send"\n')
        made.launchers["pay"] = Launcher(Prepared("pay", sends, tmp_path, read_settings(tmp_path)))
        run = (await made.start(BOSS, "pay", "x", wait=20)).report.run
        [question] = (await made.run(BOSS, run)).report.questions
        assert question.by == "system"
        with pytest.raises(NotFoundError):
            await made.answer(person("eve", "answerer"), run, question.id, {"text": "paid"})
        with pytest.raises(AccessError, match="this is for `bank`"):
            await made.answer(person("eve", "answerer", "viewer"), run, question.id, {"text": "paid"})
        await made.answer(person("bank", "answerer"), run, question.id, {"text": "paid"})
        await settled(made, run, "done")

    on(service(tmp_path, settings=settings), body)


def test_another_service_of_the_store_shows_a_question_to_its_candidates_alone(tmp_path: Path) -> None:
    """Its settings name no candidates for a program of this name, which would be everybody."""
    settings = ServiceSettings(people={"approve": PeopleSettings(("ann",))})
    ann, eve = person("ann", "answerer"), person("eve", "answerer")

    async def body(made: RunService) -> None:
        run = (await made.start(BOSS, "pay", "a secret", wait=20)).report.run
        other = RunService(made.launchers, made.engine, made.records)
        assert [each.id for each in (await other.run(ann, run)).report.questions] == ["userContext1"]
        with pytest.raises(NotFoundError):
            await other.run(eve, run)

    on(service(tmp_path, settings=settings, pay=asking()), body)


@pytest.mark.parametrize(("rule", "candidates"), [({}, (NOBODY,)), ({"x-approvers": ["ann"]}, ("ann",))])
@pytest.mark.parametrize("serves", [False, True])
def test_nobody_is_a_candidate_of_settings_that_cannot_be_read(
    serves: bool,  # noqa: FBT001
    rule: JsonObject,
    candidates: tuple[str, ...],
    tmp_path: Path,
) -> None:
    """The folder of the project is on another machine."""
    how = {**Launcher(Prepared("pay", asking(), Path(), Settings())).launch("x").config.to_json()}
    how |= {"folder": str(tmp_path / "elsewhere"), "project": "pay"}
    rows = RunRows(tmp_path, store_of(str(tmp_path)))
    if serves:
        rows.use(rows.table(), lambda _program, _question: Opening(("*",)))
    opening = rows.opening_of({"run": "r", "name": "pay", "plan": {}, "inputs": {}, "how": how})  # type: ignore[typeddict-item]
    assert tuple(opening("pay", Question("q", ("step1_approve",), {}, {**DECISION, **rule})).candidates) == candidates
    close_engine(rows.table().engine)


def test_a_service_that_writes_a_question_of_another_project_names_no_candidates_of_its_own(tmp_path: Path) -> None:
    """As services of two projects on one Temporal do: each refreshes the runs of all."""

    async def body(made: RunService) -> None:
        run = (await made.start(BOSS, "pay", "a secret", wait=20)).report.run
        report = (await made.run(BOSS, run)).report
        [question] = report.questions
        config = replace(report.config, project="other", folder=str(tmp_path / "elsewhere"))
        for written, candidates in ((report, ["*"]), (replace(report, config=config), [NOBODY])):
            assert made.visibility.opening_in(written)(question).candidates == candidates

    on(service(tmp_path, pay=asking()), body)
