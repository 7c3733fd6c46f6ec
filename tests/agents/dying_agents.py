"""Agents that are killed (SIGKILL) between any two things they do: `dying_agents.py NAME FOLDER KILLS`."""

from __future__ import annotations

import subprocess
import sys
from inspect import isawaitable
from pathlib import Path
from typing import Any

from msgspec import structs

sys.path.insert(0, str(Path(__file__).parents[1] / "engines" / "durable"))

from dying import Life, main
from example_agents import AGENTS, example

from instrc import Activities, Reply, Request, current_call
from instrc.runtime.activities import ONCE, Activity
from instrc.runtime.effects import Effects


class AgentLife(Life):
    """What an agent does until it dies."""

    fires = ()
    pace = (20, 90)
    handlers: dict[str, Any]

    def equip(self, run: str, _plan: Any, _how: Any, sink: Any) -> Effects:
        activities = Activities()
        for name, value in self.handlers.items():
            activities.add(name, self.watched(value), retry=ONCE)
        return Effects(run, self, activities, sink)

    def watched(self, value: Any) -> Any:
        """Return a handler that may die before and after it has its effect."""
        if isinstance(value, dict):
            return value  # a process: its own effects are watched
        if isinstance(value, Activity):
            return structs.replace(value, handler=self.watched(value.handler), retry=ONCE)

        async def call(given: Any) -> Any:
            self.moment()
            self.note("effect", current_call().key)
            found = value(given)
            found = await found if isawaitable(found) else found
            self.moment()
            return found

        return call

    async def answer(self, request: Request) -> Reply:
        self.moment()
        self.note("effect", request.key)
        step = next(iter(request.schema["properties"]))
        reply = Reply({step: self.said(step.partition("_")[2], request)})
        self.moment()
        return reply

    def said(self, name: str, request: Request) -> Any:
        """Return what the model answers for a step."""
        raise NotImplementedError


class HuggingGpt(AgentLife):
    def said(self, name: str, request: Request) -> Any:
        if name == "plan_tasks":
            return {
                "tasks": [
                    {"tool": "text-to-image_Activity", "id": "t0", "arguments": {"text": "a cat"}},
                    {"tool": "image-to-text_Activity", "id": "t1", "arguments": {"image": {"from": "t0.image"}}},
                ]
            }
        if name == "choose_model":
            (schema,) = request.schema["properties"].values()
            return {"id": schema["properties"]["id"]["enum"][1], "reason": "The second."}
        return {"answer": "Here it is.", "how": "By models.", "files": []}


class CodeAgent(AgentLife):
    pace = (10, 60)
    played = (
        "<code>\nn = look_up('Oslo')\nprint(n)\n</code>",
        "<code>\nimport random\ntotal = sum(multiply(n, i) for i in range(3))\nx = random.random()\n1 / 0\n</code>",
        "<code>\nfinal_answer([n, total, multiply(total, 2), x])\n</code>",
    )

    def said(self, name: str, request: Request) -> Any:
        assert name == "write_code"
        number = 1 + request.message.count('"printed"')
        return {"thought": "", "code": self.played[number - 1]}


class Team(AgentLife):
    pace = (10, 60)

    def said(self, name: str, request: Request) -> Any:
        city = "Paris" if "Paris?" in request.message else "Oslo"
        if name == "look":
            calls = [{"tool": "search_Activity", "id": "a", "arguments": {"query": city}}]
            done = "inhabitants" in request.message
            return {"calls": [] if done else calls, "report": f"{city} is found." if done else None}
        tasks = [{"tool": "researcher_Activity", "id": each, "arguments": {"task": f"{each}?"}} for each in ("Paris", "Oslo")]
        done = "Oslo is found." in request.message
        return {"_thought": "", "plan": [] if done else tasks, "answer": "x" if done else None}


def play(name: str, folder: Path, kills: int) -> None:
    """Let runs of an agent be killed."""
    agent = example(name)
    if name == "hugging-gpt":
        serve = [sys.executable, str(AGENTS / name / "inference.py"), "--port", "0", "--files", str(folder)]
        with subprocess.Popen(serve, stdout=subprocess.PIPE, text=True) as service:
            assert service.stdout is not None
            HuggingGpt.document, HuggingGpt.inputs = agent.compiled(agent.PROGRAM), {"prompt": "Draw a cat"}
            HuggingGpt.handlers = agent.activities(service.stdout.readline().strip())
            try:
                main(folder, kills, HuggingGpt)
            finally:
                service.terminate()
        return
    import instrc

    kind: type[AgentLife] = {"code-agent": CodeAgent, "managed-agents": Team}[name]
    kind.document = instrc.compile(AGENTS / name / f"{name}.aug", emit="process")[0]
    kind.inputs = {"prompt": "q"}
    if kind is CodeAgent:
        kind.handlers = agent.activities(agent.code_runs())
    else:
        kind.handlers = {**agent.TOOLS, "researcher_Activity": agent.researcher()}
    main(folder, kills, kind)


if __name__ == "__main__":
    play(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
