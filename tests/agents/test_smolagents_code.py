"""The code agent answers and prints what the one of smolagents does with one scripted model."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

import instrc
from instrc.sandbox.sandbox import Sandbox
from instrc.sandbox.tools import smolagents_tool

smolagents = pytest.importorskip("smolagents")

FOLDER = Path(__file__).parents[2] / "examples" / "agents" / "code-agent"
_spec = spec_from_file_location("code_agent", FOLDER / "agent.py")
assert _spec is not None
assert _spec.loader is not None
agent = module_from_spec(_spec)
sys.modules[_spec.name] = agent
_spec.loader.exec_module(agent)


def theirs(script: list[str]) -> tuple[Any, list[str], int]:
    asked = 0

    class Model(smolagents.Model):  # type: ignore[misc]
        def generate(self, _messages: Any, **_how: Any) -> Any:
            nonlocal asked
            asked += 1
            return smolagents.ChatMessage(role="assistant", content=script[asked - 1])

    number = {"type": "integer"}
    schema = {"properties": {"a": number, "b": number}, "required": ["a", "b"], "description": "Multiply two numbers."}
    multiply = smolagents_tool(schema, lambda given: agent.multiply(**given), name="multiply")
    run = smolagents.CodeAgent(tools=[multiply], model=Model(), verbosity_level=0)
    answer = run.run("q")
    steps = [step for step in run.memory.steps if isinstance(step, smolagents.ActionStep)]
    logs = [(step.observations or "").removeprefix("Execution logs:\n").partition("Last output")[0].strip() for step in steps]
    return answer, logs, asked


def ours(script: list[str]) -> tuple[Any, list[str], int]:
    model = instrc.Scripted({"write_code": [{"thought": "", "code": text} for text in script]})
    with Sandbox(list(agent.TOOLS)) as sandbox:
        activities = {"run-code_Activity": agent.runner(sandbox, agent.TOOLS)}
        run = instrc.run(FOLDER / "code-agent.aug", "q", model=model, activities=activities)
    assert run.status == "done", run.outcome
    rounds = [each["serverContext1"]["step2_run_code"] for each in run.record["repeatContext1"]]
    return run.value["answer"], [each["logs"].strip() for each in rounds], len(model.sent)


SCRIPTS = {
    "an answer at once": ["<code>\nfinal_answer(3)\n</code>"],
    "a tool and a print, variables stay": ["<code>\nx = multiply(6, 7)\nprint(x)\n</code>", "<code>\nfinal_answer(x)\n</code>"],
    "a fenced block": ["Thought\n```python\nfinal_answer('b')\n```"],
    "several blocks": ["<code>\na = 1\n</code> and <code>\nfinal_answer(a + 1)\n</code>"],
    "a missing end tag": ["Thought <code>\nfinal_answer(5)\n"],
    "an allowed import": ["<code>\nimport math\nprint(math.floor(2.5))\nfinal_answer(math.ceil(2.5))\n</code>"],
    "an import that is not allowed": ["<code>\nimport os\n</code>", "<code>\nfinal_answer('no')\n</code>"],
    "an error after a print": ["<code>\nprint('before')\n1 / 0\n</code>", "<code>\nfinal_answer('ok')\n</code>"],
    "no code": ["I do not know how.", "<code>\nfinal_answer('now')\n</code>"],
    "code after the answer": ["<code>\nfinal_answer(1)\nprint('after')\n</code>"],
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
def test_it_answers_and_prints_what_smolagents_does(script: list[str]) -> None:
    assert ours(script) == theirs(script)
