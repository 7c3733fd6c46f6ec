"""An agent as a tool of another one: the team does what smolagents does, and two runs of one member keep apart."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

smolagents = pytest.importorskip("smolagents")

import agents_played as play  # noqa: E402
from agents_played import Call, Played, Plays, Round, answer  # noqa: E402
from example_agents import AGENTS, example  # noqa: E402

import instrc  # noqa: E402

FOLDER = AGENTS / "managed-agents"
agent = example("managed-agents")
PROCESS = instrc.compile(FOLDER / "managed-agents.aug", emit="process")[0]
_SAID = "Here is the final answer from your managed agent 'researcher_Activity':\n"


def research(task: str, **more: Any) -> Call:
    return Call("researcher_Activity", {"task": task, **more})


def search(query: Any) -> Call:
    return Call("search_Activity", {"query": query})


def add(*numbers: Any) -> Call:
    return Call("sum_Activity", {"numbers": list(numbers)})


def theirs(script: list[Round], member: list[Round], last: Any = None) -> tuple[Played, Plays]:
    log: play.Log = []
    tools = {tool.name: tool for tool in play.tools_of(FOLDER, agent.TOOLS, log)}
    inner = Plays(member * 3, last)
    researcher = smolagents.ToolCallingAgent(
        tools=[tools["search_Activity"]],
        model=inner,
        verbosity_level=0,
        max_steps=5,
        name="researcher_Activity",
        description="A member of the team who looks things up.",
    )
    model = Plays(script, last)
    run = smolagents.ToolCallingAgent(tools=[tools["sum_Activity"]], managed_agents=[researcher], model=model, verbosity_level=0)
    played = play.theirs(run, model, log)
    played.observed = [[line for line in each if line != _SAID.strip()] for each in played.observed]
    return played, inner


class Members(instrc.Scripted):
    """A model that plays a script for the manager, and another one for every researcher."""

    def __init__(self, script: list[Round], member: list[Round], last: Any) -> None:
        super().__init__({"act": [play.acted(each) for each in script], "provide_final_answer": {"answer": last}})
        self.member = member
        self.last = last
        self.inside: list[instrc.Request] = []

    async def answer(self, request: instrc.Request) -> instrc.Reply:
        step = next(iter(request.schema["properties"]))
        if step.endswith("report"):
            self.inside.append(request)
            return instrc.Reply({step: {"report": self.last}})
        if not step.endswith("look"):
            reply: instrc.Reply = await super().answer(request)
            return reply
        self.inside.append(request)
        await asyncio.sleep(0.01)  # members take turns
        known = json.loads(request.message.split("-----")[1])
        given = play.acted(self.member[min(len(known["rounds"]), len(self.member) - 1)])
        return instrc.Reply({step: {"calls": given["plan"], "report": given["answer"]}})


def ours(script: list[Round], member: list[Round], last: Any = None) -> tuple[Played, Members]:
    log: play.Log = []
    model = Members(script, member, last)
    tools = {name: play.logged(log, name, tool) for name, tool in agent.TOOLS.items()}
    return play.ours(PROCESS, model, {**tools, "researcher_Activity": agent.researcher()}, log), model


OSLO: list[Round] = [[search("Oslo")], [answer("Oslo has 717,710.")]]
EQUAL: dict[str, tuple[list[Round], list[Round]]] = {
    "nobody is asked": ([[add(1, 2)], [answer(3)]], OSLO),
    "a member answers at once": ([[research("Say hello.")], [answer("x")]], [[answer("hello")]]),
    "a member searches": ([[research("Oslo?")], [answer("717,710")]], OSLO),
    "a member is asked twice, one after the other": ([[research("Oslo?")], [research("Oslo?")], [answer("x")]], OSLO),
    "a member searches for two things at once": (
        [[research("Both?")], [answer("x")]],
        [[search("Oslo"), search("Paris")], [answer("Both are capitals.")]],
    ),
    "a member and a tool in parallel": ([[research("Oslo?"), add(1, 2)], [answer("x")]], OSLO),
    "a list for an argument": ([[add(1, 2.5, 3)], [answer(6.5)]], OSLO),
    "the task is not a text": (
        [[Call("researcher_Activity", {"task": "Oslo?", "additional_args": {"year": 2024}})], [answer("x")]],
        OSLO,
    ),
}


@pytest.mark.parametrize(("script", "member"), EQUAL.values(), ids=EQUAL)
def test_the_team_does_what_smolagents_does(script: list[Round], member: list[Round]) -> None:
    (we, mine), (they, inner) = ours(script, member), theirs(script, member)
    assert we == they
    assert bool(mine.inside) == bool(inner.sent)


def test_a_member_whose_rounds_are_used_up_reports_what_there_is() -> None:
    script: list[Round] = [[research("Oslo?")], [answer("x")]]
    (we, mine), (they, inner) = ours(script, [[search("Oslo")]], "enough"), theirs(script, [[search("Oslo")]], "enough")
    assert we == they
    assert we.observed == [["enough"]]
    assert len(mine.inside) == len(inner.sent) == 6


def test_a_member_shows_its_own_failing_call_to_its_own_model_only() -> None:
    script: list[Round] = [[research("Rome?")], [answer("x")]]
    member: list[Round] = [[search("Rome")], [answer("There is nothing about Rome.")]]
    (we, mine), (they, _) = ours(script, member), theirs(script, member)
    assert we == they
    assert "no article about Rome" in mine.inside[1].message
    assert not any("no article" in request.message for request in mine.sent)


def test_two_runs_of_one_member_at_the_same_time_keep_their_histories_apart() -> None:
    script: list[Round] = [[research("What of Paris?"), research("What of Oslo?")], [answer("x")]]

    class Apart(Members):
        async def answer(self, request: instrc.Request) -> instrc.Reply:
            step = next(iter(request.schema["properties"]))
            if not step.endswith("look"):
                return await super().answer(request)
            self.inside.append(request)
            await asyncio.sleep(0.01)
            known = json.loads(request.message.split("-----")[1])
            city = "Paris" if "Paris" in known["prompt"]["task"] else "Oslo"
            other = "Oslo" if city == "Paris" else "Paris"
            assert other not in request.message, "one of them sees what the other one does"
            if not known["rounds"]:
                return instrc.Reply({step: {"calls": play.acted([search(city)])["plan"], "report": None}})
            return instrc.Reply({step: {"calls": [], "report": f"{city} is done."}})

    log: play.Log = []
    model = Apart(script, [], None)
    tools = {name: play.logged(log, name, tool) for name, tool in agent.TOOLS.items()}
    played = play.ours(PROCESS, model, {**tools, "researcher_Activity": agent.researcher()}, log)
    assert played.observed == [["Paris is done.", "Oslo is done."]]
    assert len(model.inside) == 4


def test_a_faulty_call_of_a_member_is_told() -> None:
    script: list[Round] = [[Call("researcher_Activity", {"question": "Oslo?"})], [answer("x")]]
    (we, mine), (they, _) = ours(script, OSLO), theirs(script, OSLO)
    assert (we.answer, we.calls) == (they.answer, they.calls)
    assert not mine.inside
    assert "needs the argument `task`" in " ".join(we.told)
