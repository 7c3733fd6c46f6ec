"""An agent that writes code. `python agent.py` plays a prepared conversation; `--model` names a real model.

The program is in `code-agent.aug`. Here is what it cannot say: how code is read out of an answer, what runs it, and two tools.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import instrc
from instrc.runtime.activities import current_call
from instrc.runtime.sandbox.rounds import AnsweredCall, Round, RoundLimits, ToolCall, ToolResult
from instrc.runtime.sandbox.sandbox import CodeRuns

HERE = Path(__file__).parent
_BLOCKS = (r"<code>(.*?)(?:</code>|\Z)", r"```(?:python|py)((?:(?!```(?:python|py)).)*?)\n```")
_INHABITANTS = {"Paris": 2_048_472, "Oslo": 717_710}
PLAYED = [
    {"thought": "First the number.", "code": "<code>\nn = look_up('Oslo')\nprint(n)\n</code>"},
    {"thought": "Twice that.", "code": "final_answer(multiply(n, 2))"},
]


def multiply(given: Mapping[str, Any]) -> int:
    """Multiply two whole numbers."""
    return int(given["a"]) * int(given["b"])


def look_up(given: Mapping[str, Any]) -> int:
    """Look up how many people live in a city that we know."""
    if given["city"] not in _INHABITANTS:
        message = f"no such city: {given['city']}"
        raise instrc.ActivityError(message, code="unknown-city", retry=False)
    return _INHABITANTS[given["city"]]


TOOLS = {"multiply": multiply, "look_up": look_up}


def code_of(text: str) -> str:
    """Return the code of an answer: between tags, else in fenced blocks, else all of it if it parses."""
    for pattern in _BLOCKS:
        if found := "\n\n".join(each.strip() for each in re.findall(pattern, text, re.DOTALL)):
            return found
    ast.parse(text)
    return text


def part(values: Mapping[str, Any], name: str) -> Any:
    """Return what a step of a round gave, by the end of its key."""
    return next(value for key, value in values.items() if key.endswith(name))


def observe(rounds: list[dict[str, Any]] | None) -> list[dict[str, Any]]:
    """Return what the model is shown of the earlier rounds."""
    shown = []
    for each in rounds or []:
        act, seen = part(each, "write_code"), part(each, "_do")
        error = seen["error"] if seen["ended"] else "the code called tools more than 1,000 times"
        shown.append({**act, "printed": seen["logs"], "value": seen["text"], "error": error})
    return shown


def read_code(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the code of an answer, and what the sandbox has to know of the earlier rounds."""
    earlier = [part(each, "_do")["round"] for each in given["rounds"] or []]
    try:
        code = code_of(given["act"]["code"])
    except (SyntaxError, ValueError, MemoryError, RecursionError):  # the last two for very deep expressions
        code = None
    return {"code": code, "earlier": [each for each in earlier if each is not None]}


def run_code(runs: CodeRuns, given: Mapping[str, Any]) -> dict[str, Any]:
    """Run code up to its next call of a tool, or to its end."""
    code = given["code"]["code"]
    found: dict[str, Any] = {"ended": True, "call": None, "final": False, "answer": None}
    found |= {"logs": "", "text": "None", "error": None, "round": None}
    if code is None:
        return {**found, "error": "no code was found in the answer: write it between <code> and </code>"}
    calls = [recorded(each) for each in given["done"] or []]
    run = re.sub(r"@\d+", "", current_call().key)
    step = runs.step(run, [round_of(each) for each in given["code"]["earlier"]], code, calls)
    if isinstance(step, ToolCall):
        return {**found, "ended": False, "call": {"name": step.name, "arguments": step.named}}
    written = [{"name": call.name, "arguments": call.named, **result._asdict()} for call, result in calls]
    found |= {"logs": step.logs, "text": step.text, "error": step.message, "final": step.final}
    found |= {"answer": step.value if step.final else None}
    return {**found, "round": {"code": code, "kind": step.kind, "calls": written}}


def recorded(done: Mapping[str, Any]) -> AnsweredCall:
    """Return a call of this round with what it gave."""
    call, told = part(done, "run_code")["output"]["call"], part(done, "try")
    error = told["error"]["message"] if "error" in told else None
    return AnsweredCall(ToolCall(call["name"], (), call["arguments"]), ToolResult(told.get("value"), error))


def round_of(written: Mapping[str, Any]) -> Round:
    """Return an earlier round."""
    calls = [AnsweredCall(ToolCall(c["name"], (), c["arguments"]), ToolResult(c["value"], c["error"])) for c in written["calls"]]
    return Round(written["code"], tuple(calls), written["kind"])


def arguments_of(tool: str) -> dict[str, Any]:
    """Return the schema of what a tool takes: its vibe without the output."""
    vibe = json.loads((HERE / "schemas" / f"{tool.replace('_', '-')}_Activity.vibe.json").read_text("utf-8"))
    names = [name for name in vibe["properties"] if name != "output"]
    return {
        "type": "object",
        "properties": {name: vibe["properties"][name] for name in names},
        "required": [name for name in vibe["required"] if name != "output"],
    }


def code_runs(limits: RoundLimits | None = None) -> CodeRuns:
    """Return what runs code, with its tools."""
    return CodeRuns({name: arguments_of(name) for name in TOOLS}, limits)


def activities(runs: CodeRuns) -> dict[str, Any]:
    """Return the activities of the program."""
    return {
        "observe_Activity": observe,
        "read-code_Activity": read_code,
        "run-code_Activity": lambda given: run_code(runs, given),
        **{f"{name.replace('_', '-')}_Activity": tool for name, tool in TOOLS.items()},
    }


def main() -> None:
    """Answer one question."""
    parser = argparse.ArgumentParser(description="An agent that writes code.")
    parser.add_argument("question", nargs="?", default="What is twice the number of people in Oslo?")
    parser.add_argument("--model", help="a model such as `gigachat:GigaChat-2-Max`; without it a conversation is played")
    given = parser.parse_args()
    model = given.model or instrc.Scripted({"write_code": PLAYED})
    run = instrc.run(HERE / "code-agent.aug", given.question, model=model, activities=activities(code_runs()))
    try:
        print(run.value["answer"])
    except instrc.RunFailedError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
