"""An agent that writes code. `python agent.py` plays a prepared conversation; `--model` names a real model."""

from __future__ import annotations

import argparse
import ast
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import instrc
from instrc.sandbox.sandbox import Sandbox

HERE = Path(__file__).parent
_BLOCKS = (r"<code>(.*?)(?:</code>|\Z)", r"```(?:python|py)(.*?)\n```")
PLAYED = [
    {"thought": "First the product.", "code": "<code>\nx = multiply(6, 7)\nprint(x)\n</code>"},
    {"thought": "That is it.", "code": "final_answer(x)"},
]


def multiply(a: int, b: int) -> int:
    """Multiply two numbers."""
    return a * b


TOOLS = {"multiply": multiply}


def code_of(text: str) -> str:
    """Return the code of an answer: between tags, else in fenced blocks, else all of it if it parses."""
    for pattern in _BLOCKS:
        if found := re.findall(pattern, text, re.DOTALL):
            return "\n\n".join(each.strip() for each in found)
    ast.parse(text)
    return text


def runner(sandbox: Sandbox, tools: Mapping[str, Any]) -> Any:
    """Return the activity that runs a round of code."""

    def run(given: Mapping[str, Any]) -> dict[str, Any]:
        try:
            code = code_of(given["code"])
        except (SyntaxError, ValueError):
            return {"final": False, "answer": None, "logs": "", "text": "None", "error": "no code was found in the answer"}
        seen = sandbox.run_with(code, tools)
        answer = seen.value if seen.final else None
        return {"final": seen.final, "answer": answer, "logs": seen.logs, "text": seen.text, "error": seen.message}

    return run


def main() -> None:
    """Answer one question."""
    parser = argparse.ArgumentParser(description="An agent that writes code.")
    parser.add_argument("question", nargs="?", default="What is 6 times 7?")
    parser.add_argument("--model", help="a model such as `gigachat:GigaChat-2-Max`; without it a conversation is played")
    given = parser.parse_args()
    model = given.model or instrc.Scripted({"write_code": PLAYED})
    with Sandbox(list(TOOLS)) as sandbox:
        activities = {"run-code_Activity": runner(sandbox, TOOLS)}
        run = instrc.run(HERE / "code-agent.aug", given.question, model=model, activities=activities)
    print(run.value["answer"] if run.status == "done" else run.outcome)


if __name__ == "__main__":
    main()
