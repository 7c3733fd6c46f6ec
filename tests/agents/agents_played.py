"""Play one script of a model through an agent of smolagents and through ours, and keep what can be compared."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import smolagents
from smolagents_tools import smolagents_tool

import instrc

_FINAL = "final_answer"


@dataclass(frozen=True)
class Call:
    """A call of a tool, as the model writes it."""

    tool: str
    arguments: dict[str, Any]


def answer(value: Any) -> Call:
    return Call(_FINAL, {"answer": value})


Round: TypeAlias = list[Call] | str
"""The calls of one answer of the model, or a text that is none."""
Log: TypeAlias = list[tuple[str, str]]
Tool: TypeAlias = Callable[[Any], Any]


@dataclass
class Played:
    answer: Any = None
    calls: Log = field(default_factory=list)
    """What was really called; in order of their text, because a round's calls run at the same time."""
    observed: list[list[str]] = field(default_factory=list)
    """A list a round."""
    asked: int = 0
    plans: list[str] = field(default_factory=list)
    exhausted: bool = False
    """Whether the rounds were used up."""
    told: list[str] = field(default_factory=list, compare=False)
    """The errors that the model was shown."""


def logged(log: Log, name: str, tool: Tool) -> Tool:
    def call(given: Any) -> Any:
        log.append((name, json.dumps(given, sort_keys=True)))
        return tool(given)

    return call


def arguments_of(folder: Path, name: str) -> dict[str, Any]:
    """Return the schema of what a tool takes: its vibe without the output."""
    schema = json.loads((folder / "schemas" / f"{name}.vibe.json").read_text(encoding="utf-8"))
    return {
        **schema,
        "properties": {key: value for key, value in schema["properties"].items() if key != "output"},
        "required": [key for key in schema["required"] if key != "output"],
    }


def tools_of(folder: Path, tools: Mapping[str, Tool], log: Log) -> list[Any]:
    """Return the tools of an example as tools of smolagents."""
    return [smolagents_tool(arguments_of(folder, name), logged(log, name, tool), name=name) for name, tool in tools.items()]


class Plays(smolagents.Model):  # type: ignore[misc]
    """A model of smolagents that plays a script, and plans beside it."""

    def __init__(self, script: Iterable[Round], last: Any, plans: Iterable[str] = ()) -> None:
        super().__init__()
        self.script = list(script)
        self.plans = list(plans)
        self.last = last
        self.asked = 0
        self.planned = 0
        self.sent: list[Any] = []

    def generate(self, messages: Any, stop_sequences: Any = None, **how: Any) -> Any:
        self.sent.append(messages)
        if stop_sequences == ["<end_plan>"]:
            self.planned += 1
            return smolagents.ChatMessage(role="assistant", content=self.plans[self.planned - 1])
        at, self.asked = self.asked, self.asked + 1
        if not how.get("tools_to_call_from"):
            return smolagents.ChatMessage(role="assistant", content=str(self.last))
        now = self.script[min(at, len(self.script) - 1)]
        if isinstance(now, str):
            return smolagents.ChatMessage(role="assistant", content=now)
        return smolagents.ChatMessage(role="assistant", content="", tool_calls=calls_of(now))


def calls_of(now: Iterable[Call], first: int = 0, ids: tuple[str, ...] = ()) -> list[Any]:
    made = smolagents.models.ChatMessageToolCallFunction
    return [
        smolagents.models.ChatMessageToolCall(
            id=ids[index] if ids else f"call_{index + first}",
            type="function",
            function=made(name=call.tool, arguments=call.arguments),
        )
        for index, call in enumerate(now)
    ]


def theirs(run: Any, model: Plays, log: Log, task: str = "q", stored: dict[str, Any] | None = None) -> Played:
    """Run an agent of smolagents and return what it did."""
    result = run.run(task, return_full_result=True, additional_args=stored)
    played = Played(answer=result.output, asked=model.asked, exhausted=result.state == "max_steps_error")
    for step in run.memory.steps:
        if isinstance(step, smolagents.PlanningStep):
            played.plans.append(step.plan.split("```")[-2].strip())
        elif isinstance(step, smolagents.ActionStep):
            if not step.is_final_answer and step.observations is not None:
                played.observed.append(step.observations.splitlines())
            if step.error is not None:
                played.told.append(step.error.message)
    played.calls = sorted(log)
    return played


def acted(now: Round, ids: tuple[str, ...] = ()) -> Any:
    """Return what our model answers for a round."""
    if isinstance(now, str):
        return now
    plan = [
        {"tool": call.tool, "id": ids[index] if ids else f"call_{index}", "arguments": call.arguments}
        for index, call in enumerate(now)
        if call.tool != _FINAL
    ]
    final = next((call.arguments["answer"] for call in now if call.tool == _FINAL), None)
    return {"_thought": "", "plan": plan, "answer": final}


def ours(program: Any, model: instrc.Scripted, activities: Mapping[str, Any], log: Log, task: Any = "q") -> Played:
    """Run a program of ours and return what it did."""
    run = instrc.run(program, task, model=model, activities=activities)
    assert run.status == "done", run.outcome
    played = Played(answer=run.value["answer"], calls=sorted(log), asked=len(model.sent))
    for each in run.record["repeatContext1"]:
        if seen := results(each):
            played.observed.append([str(task["output"] if task["status"] == "ok" else task["error"]["message"]) for task in seen])
        played.plans += [plan["steps"] for plan in steps_of(each, "make_plan")]
    played.exhausted = bool(run.record.get("elseContext1"))
    played.told = [line for request in model.sent for line in told(request.message)]
    played.asked -= len(played.plans)
    return played


def told(message: str) -> list[str]:
    """Return what a model was told of a faulty answer."""
    _, _, rest = message.partition("What is wrong with it:\n")
    return [line.removeprefix("* ") for line in rest.splitlines() if line.startswith("* ")]


def results(record: Mapping[str, Any]) -> list[Any]:
    """Return what the calls of a round gave."""
    return [each for seen in steps_of(record, "run_plan") for each in seen]


def steps_of(record: Mapping[str, Any], name: str) -> list[Any]:
    """Return what the steps of a name gave in a round, in its branches as well."""
    inner = [value for key, value in record.items() if isinstance(value, dict) and "Context" in key]
    found = [value for part in inner for key, value in part.items() if key.endswith(name)]
    return found + [value for part in inner for value in steps_of(part, name)]
