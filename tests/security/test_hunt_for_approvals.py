"""Random people do random things with questions of random rules; what takes effect is judged by an oracle of a few lines.

The oracle is written from the page of the service, and knows nothing of how answers are counted.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import httpx
import pytest
from msgspec import Struct, field
from serving import BOSS, go, launcher, person, service
from test_rights_of_questions import calling
from written_processes import DECISION, attempt, call, chunk, is_, process, race, repeat, step

from instrc.engines.launch import Launcher  # of what is asked
from instrc.engines.operating import AuditFilter, audit_log  # what is noted of it
from instrc.problems.errors import InstrcError
from instrc.server.a2a import a2a_routes  # a door
from instrc.server.access import Caller  # who does it
from instrc.server.http import app_of  # the room behind its commands
from instrc.server.identity import Identity  # what callers are known by
from instrc.server.mcp_runs import RunOffers  # a door
from instrc.server.offers import RefusedError  # what it says
from instrc.server.run_service import RunService  # the room behind its commands
from instrc.vibes.service_settings import OidcSettings, ServiceSettings  # without a file

ISSUER = "https://id.example.com"
NAMES = ("ann", "bob", "cat", "dan", "eve", "fay")
TOKENS = {name: f"oidc:{ISSUER}#{name}" for name in ("dan", "eve", "fay")}
"""Subjects of an identity provider, who are written so where there is one."""
GROUPS = ("leads", "staff")
SPELLED = {"ann": ("ann", " ann", "key:ann", "a\u200bnn", "\uff41nn")}
SECRET = "what is decided"
ANSWERS = ({"decision": "Approve"}, {"decision": "Approve"}, {"decision": "Approve", "amount": 2}, {"decision": "Reject"})
DOORS = ("http", "http", "python", "mcp", "a2a")
THINGS = ("answer",) * 6 + ("by link",) * 3 + ("link", "link", "claim", "release", "delegate", "see", "fork", "set", "bulk")


class Rule(Struct):
    """A rule as it is meant: everybody, people and groups; those who are excluded; how many must agree."""

    approvers: list[str] | None
    needed: int
    excluded: list[str]
    links: bool
    veto: bool

    def written(self, chance: Random) -> dict[str, Any]:
        """Return a schema that says so, in one of many ways."""
        said: dict[str, Any] = {"x-needed": self.needed, "x-not": spelled(self.excluded, chance)}
        said |= {} if self.approvers is None else {"x-approvers": spelled(self.approvers, chance)}
        said |= {} if self.veto else {"x-veto": False}
        apart, kept = {}, {"x-links": True} if self.links else {}
        for word, value in said.items():
            (apart if chance.random() < 0.4 and word != "x-veto" else kept)[word] = value
        place = chance.choice(["allOf", "anyOf", "oneOf", "then", "member"])
        if not apart:
            return kept
        if place == "then":
            return {**kept, "if": {}, "then": apart}
        if place == "member":
            return {**kept, "properties": {**DECISION["properties"], "amount": {"type": "integer", **apart}}}
        return {**kept, place: [apart, False] if place != "allOf" else [apart, {"x-needed": 1}]}


def spelled(names: list[str], chance: Random) -> list[str]:
    return [chance.choice(SPELLED.get(name, (name,))) for name in names]


def clear(names: list[str]) -> list[str]:
    """Return names as they are written beside an identity provider, where a bare one is ambiguous."""
    return [f"key:{name}" if name in NAMES else name for name in names]


class Person(Struct):
    """Somebody with roles and groups, as the oracle knows them."""

    name: str
    roles: set[str]
    groups: set[str]

    def is_one_of(self, listed: list[str] | None) -> bool:
        return listed is None or bool({self.name, "*", *(f"group:{each}" for each in self.groups)} & {*listed})


class Hunt(Struct):
    """One question, its forks, the people, and what they were told."""

    rule: Rule
    people: dict[str, Person]
    starters: dict[str, list[str]] = field(default_factory=dict)
    """The starters by run, its own first, and then those that it was forked from."""
    given: dict[str, dict[str, tuple[str, Any]]] = field(default_factory=dict)
    """The accepted answers by run and name: who had the means, and the data."""
    words: list[tuple[str, str, str, str]] = field(default_factory=list)
    """Links: the word, its run, the name in it, and who asked for it."""
    question: str = "userContext1"
    steps: tuple[str, ...] = ()
    """The steps of the question, if there are several: each is answered alike."""
    callers: dict[str, Caller] = field(default_factory=dict)
    delegated: set[tuple[str, str]] = field(default_factory=set)
    done: list[str] = field(default_factory=list)

    def written(self, data: Any) -> Any:
        """Return an answer in the form of the question."""
        return dict.fromkeys(self.steps, data) or data

    def may_answer(self, run: str, name: str, *, link: bool) -> bool:
        """Return what the page says of a person."""
        who = self.people.get(name.removeprefix("link:"), Person(name, set(), set()))
        out = [*self.rule.excluded, *self.starters[run]] if "starter" in self.rule.excluded else self.rule.excluded
        if out and who.is_one_of(out):
            return False
        if name.startswith("link:"):
            return link and self.rule.links
        named = who.is_one_of(self.rule.approvers) or (self.rule.approvers is None and (run, name) in self.delegated)
        return named and (
            "answerer" in who.roles or (link and self.rule.approvers is not None and "*" not in self.rule.approvers)
        )

    def is_approved(self, run: str, data: Any) -> bool:
        """Return whether enough people who may, each with means of their own, agreed on what takes effect."""
        same = [{name.removeprefix("link:"), by} for name, (by, each) in self.given.get(run, {}).items() if each == data]
        chosen = combinations(same, self.rule.needed)
        return any(all(one.isdisjoint(other) for one, other in combinations(some, 2)) for some in chosen)


def made_up(chance: Random) -> Hunt:
    persons = [TOKENS.get(name, name) for name in NAMES] if chance.random() < 0.3 else NAMES
    names = [*persons, *(f"group:{each}" for each in GROUPS)]
    approvers = chance.choice([None, ["*"], chance.sample(names, 3), chance.sample(names, 3), chance.sample(persons, 2)])
    excluded = chance.choice([[], ["starter"], ["starter"], ["starter", chance.choice(names)], [chance.choice(names)]])
    rule = Rule(approvers, chance.choice([1, 1, 2, 2, 3]), excluded, chance.random() < 0.3, chance.random() < 0.7)
    people = {
        name: Person(
            name,
            {each for each, odds in (("answerer", 0.8), ("operator", 0.4), ("starter", 0.5)) if chance.random() < odds},
            {each for each in GROUPS if chance.random() < 0.3},
        )
        for name in persons
    }
    return Hunt(rule, people)


async def one_thing(hunt: Hunt, http: httpx.AsyncClient, made: RunService, chance: Random) -> None:
    """Let somebody do something, and check what comes of it."""
    run, who = chance.choice([*hunt.starters]), chance.choice([*hunt.people])
    to = chance.choice([*clear([*hunt.people]), "ann", "guest", "link:guest", "key:ann"])
    head, place = {"x-who": who}, f"/v1/questions/{run}:{hunt.question.replace('/', '~')}"
    data = chance.choice(ANSWERS)
    sent = {"data": hunt.written({**data, "comment": who} if chance.random() < 0.2 else data)}
    match chance.choice(THINGS):
        case "answer":
            accepted = await answered(chance.choice(DOORS), http, made, hunt, run, who, sent)
            took(hunt, run, who, who, data, accepted, await standing(made, run), link=False)
        case "by link" if hunt.words:
            word, run, name, sender = chance.choice(hunt.words)
            done = await http.post(f"/v1/links/{word}", json=sent)
            assert done.status_code < 500, done.text
            took(hunt, run, name, sender, data, done.status_code == 200, await standing(made, run), link=True)
        case "link":
            done = await http.post(f"{place}/links", json={"to": to}, headers=head)
            if done.status_code == 201:
                assert "operator" in hunt.people[who].roles or await holder(made, run, hunt.question) == who
                named = audit_log(made.records, AuditFilter(run, action="link"), 1)[0]
                assert named.who == who
                bearer = await made.linked(done.json()["word"])
                hunt.words.append((done.json()["word"], run, bearer.name, who))
                assert hunt.may_answer(run, bearer.name, link=True), bearer.name
        case "claim":
            done = await http.post(f"{place}/claim", headers=head)
            assert done.status_code != 200 or hunt.may_answer(run, who, link=False)
        case "release":
            await http.post(f"{place}/release", headers=head)
        case "delegate":
            done = await http.post(f"{place}/delegate", json={"to": to}, headers=head)
            if done.status_code == 200:
                hunt.delegated.add((run, done.json()["claimedBy"]))
        case "see":
            seen = await http.get(place, headers=head)
            mine = hunt.people[who]
            sees = "operator" in mine.roles or ("starter" in mine.roles and hunt.starters[run][0] == who)
            assert SECRET not in seen.text or sees or mine.is_one_of(hunt.rule.approvers) or (run, who) in hunt.delegated
        case "fork" | "set" as how:
            asked = {} if how == "fork" else {"set": {"consent" if "consent" in hunt.question else "ask": data}}
            done = await http.post(f"/v1/runs/{run}/fork", json=asked, headers=head)
            assert how == "fork" or done.status_code != 201, "an answer of a person was set"
            if done.status_code == 201:
                assert "operator" in hunt.people[who].roles
                forked = done.json()["run"]
                hunt.starters[forked] = [who, *hunt.starters[run]]
                if done.json()["status"] == "done":
                    hunt.given[forked] = dict(hunt.given[run])
                    own = "starter" in hunt.rule.excluded and any(who in {name, by} for name, (by, _) in hunt.given[run].items())
                    assert not own, "who forked has approved it, and the starter may not"
        case "bulk":
            await http.post("/v1/actions", json={"action": "release", "filter": {}, "dryRun": False}, headers=head)


async def holder(made: RunService, run: str, question: str) -> str | None:
    return (await made.question(BOSS, run, question)).claimed_by


async def standing(made: RunService, run: str) -> str:
    return (await made.run(BOSS, run)).report.status


async def answered(
    door: str, http: httpx.AsyncClient, made: RunService, hunt: Hunt, run: str, who: str, sent: dict[str, Any]
) -> bool:
    """Answer by a protocol; return whether that was accepted."""
    caller = hunt.callers[who]
    if door in {"python", "mcp"}:
        given = {"run": run, "step": hunt.question, "data": sent["data"]}
        with suppress(InstrcError, RefusedError):
            tools = RunOffers([], made)
            await (
                tools.call("answer", given, caller) if door == "mcp" else made.answer(caller, run, hunt.question, sent["data"])
            )
            return True
        return False
    if door == "http":
        place = f"/v1/questions/{run}:{hunt.question.replace('/', '~')}/answer"
        done = await http.post(place, json=sent, headers={"x-who": who})
    else:
        part = {"text": json.dumps(sent["data"]), "mediaType": "application/json", "metadata": {"question": hunt.question}}
        message = {"messageId": "m", "role": "ROLE_USER", "taskId": run, "parts": [part]}
        asked = {"message": message, "configuration": {"returnImmediately": True}}
        done = await http.post("/a2a/rest/message:send", json=asked, headers={"x-who": who, "A2A-Version": "1.0"})
    assert done.status_code < 500, done.text
    return done.status_code == 200


def took(hunt: Hunt, run: str, name: str, origin: str, data: Any, accepted: bool, status: str, *, link: bool) -> None:  # noqa: FBT001
    """Note an answer that was accepted, and check that it could be, and what it led to."""
    if not accepted:
        return
    before = hunt.given.setdefault(run, {}).get(name)
    if run not in hunt.done:
        assert hunt.may_answer(run, name, link=link), (run, name, link)
        hunt.given[run][name] = before or (origin, data)
    if status == "done" and run not in hunt.done:
        hunt.done.append(run)


def asking_by(rule: Rule, people: Iterable[str], steps: tuple[str, ...], chance: Random, folder: Path) -> Launcher:
    """Return a program that asks by a rule, in one or several steps, itself or in a process behind an activity."""
    schema = {**DECISION, "properties": {**DECISION["properties"], "amount": {"type": "integer"}}}
    written = Rule(rule.approvers and clear(rule.approvers), rule.needed, clear(rule.excluded), rule.links, rule.veto)
    meant = written if any(each.startswith("oidc:") for each in people) else rule
    asked = {each: step({**schema, **meant.written(chance)}, "prompt") for each in steps or ("step1_ask",)}
    asks, other = process(userContext1=chunk(**asked)), process(serverContext1=chunk(step8_other=call("Other", "prompt")))
    ways = {
        "tryContext1": attempt(asks, other),
        "repeatContext1": repeat(asks, until=is_("step1_ask.decision", "Approve"), most=2),
        "raceContext1": race(
            (asks, "step1_ask"), (process(userContext2=chunk(step8_wait=step(DECISION, "prompt"))), "step8_wait")
        ),
    }
    if not steps and chance.random() < 0.3:
        way = chance.choice([*ways])
        asks = process(**{way: ways[way]})
    folder.mkdir(exist_ok=True)
    return launcher("pay", asks) if steps or chance.random() < 0.6 else calling(folder, asks)


async def hunted(seed: int, folder: Path) -> None:
    chance = Random(seed)  # noqa: S311  -- not for secrets
    hunt = made_up(chance)
    hunt.steps = ("step1_ask", "step2_also") if chance.random() < 0.3 else ()
    has_tokens = any(each.startswith("oidc:") for each in hunt.people)
    made = service(folder, settings=ServiceSettings(oidc=OidcSettings(ISSUER, "instrc", "keys.json") if has_tokens else None))
    hunt.callers = {
        each.name: person(each.name, *each.roles, groups=tuple(each.groups))  # type: ignore[arg-type]  # roles
        for each in hunt.people.values()
    }
    identity = Identity(made.records, made.settings, made.signer)
    for each in [each for each in hunt.people.values() if each.name in NAMES]:
        identity.new_key(each.name, [*each.roles], [*each.groups])
    made.launchers["pay"] = asking_by(hunt.rule, hunt.people, hunt.steps, chance, folder)

    async def identify(headers: Any) -> Caller | None:
        return hunt.callers.get(headers.get("x-who"))

    app = app_of(made, identify=identify, routes=a2a_routes(made))
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as http,
    ):
        started = next((each for each in hunt.people.values() if "starter" in each.roles), None)
        if started is None:
            return
        begun = await http.post(
            "/v1/runs", json={"program": "pay", "input": SECRET}, headers={"x-who": started.name, "Prefer": "wait=9"}
        )
        hunt.starters[begun.json()["run"]] = [started.name]
        asked = (await made.run(BOSS, begun.json()["run"])).report.questions
        hunt.question = next(each.id for each in asked if "step8_wait" not in each.steps)
        for _ in range(25):
            await one_thing(hunt, http, made, chance)
    for run in hunt.starters:
        report = (await made.run(BOSS, run)).report
        votes = made.records.votes(run).get(hunt.question, [])
        noted = audit_log(made.records, AuditFilter(run, action="answer"), 99)
        assert sorted(each.who for each in noted) == sorted(each.who for each in votes), "each answer is noted once"
        assert {each.who: each.sender or each.who for each in votes} == {
            name: origin for name, (origin, _) in hunt.given.get(run, {}).items()
        } or not votes
        if report.status == "done":
            for value in decisions(report.record):
                said = {key: each for key, each in value.items() if key != "comment"}
                assert said == {"decision": "Reject"} or hunt.is_approved(run, said), (value, hunt.given.get(run))


def decisions(value: Any) -> Iterator[dict[str, Any]]:
    """Yield the decisions in a record, at any depth."""
    if isinstance(value, dict) and "decision" in value:
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from decisions(each)


@pytest.mark.parametrize("seed", range(6))
def test_nothing_takes_effect_that_those_who_may_did_not_agree_on(seed: int, tmp_path: Path) -> None:
    go(hunted(seed, tmp_path))


@pytest.mark.slow  # hundreds of rules
@pytest.mark.timeout(3600)
def test_nothing_takes_effect_whatever_people_try(tmp_path: Path) -> None:
    async def body() -> None:
        for seed in range(100, 500):
            await hunted(seed, tmp_path / str(seed))
            await asyncio.sleep(0)

    go(body(), 3600)
